#version 460
// Background pixels: the environment, and the disks of suns and moons. Output: pre-exposed
// luminance, which is added to that of lamps that cover a part of the pixel.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/limit_counters.glsl"
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/environment.glsl"
layout(set = 0, binding = 1) uniform texture2D depth_image;
layout(set = 0, binding = 5, scalar) readonly buffer light_block { Light lights[]; };

layout(location = 0) out vec4 out_light;

// Unit vector from the camera through an image position (pixels).
vec3 ray_at(vec2 place) {
    if (frame.forward.w != 0.0) {
        return frame.forward.xyz;
    }
    vec4 p = frame.inverse_projection * vec4(place / vec2(frame.size) * 2.0 - 1.0, 1.0, 1.0);
    return normalize(p.xyz / p.w);
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    if (texelFetch(depth_image, pixel, 0).x > 0.0) {
        discard;
    }
    vec2 place = vec2(pixel) + 0.5;
    vec3 d = ray_at(place);
    vec3 nits = environment.enabled != 0u ? environment_luminance(d) : vec3(0.0);
    // Angle (rad) of a pixel, for edges one pixel wide.
    float footprint = max(length(ray_at(place + vec2(1.0, 0.0)) - d), 1e-6);
    uint disks = (frame.bits & FRAME_PROBE_CAPTURE) != 0u ? 0u : frame.directional_count;
    for (uint i = 0u; i < disks; ++i) {
        float radius = lights[i].half_height;
        if (radius > 0.0) {
            // By the chord, which stays precise where the cosine is near 1.
            float angle = 2.0 * asin(min(length(d - lights[i].position) * 0.5, 1.0));
            // A soft edge adds area: a soft disk of radius q has the area pi (q^2 + f^2/12), so q
            // is chosen to conserve the area. Disks smaller than a pixel fade instead.
            float f2 = footprint * footprint;
            float soft = sqrt(max(radius * radius - f2 / 12.0, f2 / 4.0));
            float coverage = clamp((soft - angle) / footprint + 0.5, 0.0, 1.0)
                * min(3.0 * radius * radius / f2, 1.0);
            float kept = lights[i].half_width;
            if (kept < radius) {
                // The horizon cuts the disk with a soft edge; a fading disk scales by its visible
                // area.
                coverage *= 3.0 * radius * radius < f2 ? kept * kept / (radius * radius)
                    : clamp(d.y / footprint + 0.5, 0.0, 1.0);
            }
            // A disk of uniform luminance L has the illuminance L pi sin^2(radius) on a plane that
            // faces it.
            float sine = sin(min(kept, PI * 0.5));
            nits += lights[i].intensity / (PI * sine * sine) * coverage;
        }
    }
    count_clamped_light(nits * frame.pre_exposure);
    out_light = vec4(to_half_range(nits * frame.pre_exposure), 0.0);
}
