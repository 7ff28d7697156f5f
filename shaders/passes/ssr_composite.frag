#version 460
// variants: MOTION
// Reflections into the picture: what was found in it by the surface's reflectance, and of the surroundings the share that
// was not found. Together they have the weight that the surroundings alone had. With MOTION, velocities for passes that follow
// the picture: where most light is reflected, it moves as the reflection does.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ssr.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4) uniform texture2D light_image;
layout(set = 0, binding = 5) uniform texture2D reflection_image;
layout(set = 0, binding = 6) uniform texture2D surroundings_image;
// The table of reflectances (src/photometry/environment): by cosine to the view and roughness scale and bias of F0.
layout(set = 0, binding = 7, scalar) readonly buffer reflectance_block { vec3 reflectances[]; };

layout(location = 0) out vec4 out_light;
#ifdef MOTION
layout(set = 0, binding = 8) uniform texture2D velocity_image;
layout(set = 0, binding = 9) uniform texture2D motion_image;
layout(location = 1) out vec2 out_velocity;
#endif

// As DFG_SIZE of the host.
const uint SIZE = 32u;

vec3 specular_albedo(Surface s) {
    vec2 p = vec2(clamp(dot(s.normal, s.view), 0.0, 1.0), sqrt(s.alpha)) * float(SIZE - 1u);
    uvec2 low = uvec2(min(p, float(SIZE - 2u)));
    vec2 f = p - vec2(low);
    uint at = low.y * SIZE + low.x;
    vec3 dfg = mix(mix(reflectances[at], reflectances[at + 1u], f.x),
                   mix(reflectances[at + SIZE], reflectances[at + SIZE + 1u], f.x), f.y);
    return mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic) * dfg.x + dfg.y;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 light = texelFetch(light_image, pixel, 0).rgb;
    float depth = texelFetch(depth_image, pixel, 0).x;
    out_light = vec4(light, 1.0);
#ifdef MOTION
    out_velocity = texelFetch(velocity_image, pixel, 0).xy;
#endif
    Surface s;
    if (depth <= 0.0 || !load_surface(pixel, depth, s)) {
        return;
    }
    vec4 reflection = texelFetch(reflection_image, pixel, 0);
    vec3 surroundings = texelFetch(surroundings_image, pixel, 0).rgb;
    vec3 found = reflection.rgb != vec3(0.0) ? specular_albedo(s) * reflection.rgb : vec3(0.0);
    light += surroundings * reflection.a + found;
    out_light = vec4(to_half_range(light), 1.0);
#ifdef MOTION
    if (dot(found, vec3(1.0)) > 0.5 * dot(light, vec3(1.0))) {
        out_velocity = texelFetch(motion_image, pixel, 0).xy;
    }
#endif
}
