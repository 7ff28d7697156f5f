#version 460
// Indirect light of each pixel from the eight probes of the irradiance volume around it: of a white
// diffuse surface, and specular light over the lobe's approximate albedo, for gi_composite.comp.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/gi_probes.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4) uniform texture2D emission_image;
layout(set = 0, binding = 9) uniform texture2D ao_image;
#include "lib/environment.glsl"
#include "lib/gi_probes.glsl"

// Pre-exposed luminance of a white diffuse surface.
layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_diffuse_image;
vec4 out_diffuse;
// Pre-exposed specular luminance over the lobe's approximate albedo.
layout(set = 0, binding = 75, rgba16f) uniform writeonly image2D out_specular_image;
vec4 out_specular;

// Perceptual roughness of surfaces that reflect the environment alone, and from which on they
// reflect the volume's light alone.
const vec2 ROUGHNESS = vec2(0.3, 0.6);

// Diffuse reflectance of a white dielectric under even light: 1 - F over the half vectors, a fit to
// 0.002 of the mean of `evaluate_brdf`.
float white_albedo(Surface s) {
    float grazing = 1.0 - clamp(dot(s.normal, s.view), 0.0, 1.0);
    return (1.0 - DIELECTRIC_F0) * (1.0 - 0.0274 * grazing * grazing);
}

// Luminance (nits) toward a surface in the lobe's dominant direction: `rough`, the volume's, on
// rough surfaces; the environment's on smooth ones, with the occlusion of pass `ao`, where there is
// an environment.
vec3 specular_light(ivec2 pixel, Surface s, vec3 toward, vec3 rough) {
    float roughness = sqrt(s.alpha);
    float share = smoothstep(ROUGHNESS.x, ROUGHNESS.y, roughness);
    if (!has_environment() || share >= 1.0) {
        return rough;
    }
    vec4 measured = (frame.bits & FRAME_AO) != 0u ? texelFetch(ao_image, pixel, 0)
        : vec4(s.normal, 1.0);
    vec3 reflected = prefiltered_environment(s.position, toward, roughness)
        * lobe_visibility(s, measured_visibility(measured, surface_occlusion(pixel)));
    return mix(reflected, rough, share);
}

void gather(ivec2 pixel) {
    out_diffuse = vec4(0.0);
    out_specular = vec4(0.0);
    float depth = texelFetch(depth_image, pixel, 0).x;
    Surface s;
    if (depth <= 0.0 || !load_surface(pixel, depth, s)) {
        return;
    }
    // The forward pass adds the environment's light, which the volume has too.
    bool forward = texelFetch(emission_image, pixel, 0).a >= FORWARD_MARK;
    vec3 toward = lobe_middle(s.normal, s.view, s.alpha);
    vec3 facing;
    vec3 irradiance = volume_irradiance(s.position, s.normal, s.view, toward, facing);
    if (!forward || (volume.flags & PROBES_SKY) == 0u) {
        // Occlusion within a cell. Pass `gi composite` takes it as part of this light.
        float ao = (frame.bits & FRAME_AO) != 0u ? texelFetch(ao_image, pixel, 0).w : 1.0;
        out_diffuse.rgb = to_half_range(irradiance
            * (ao * white_albedo(s) / PI * frame.pre_exposure));
    }
    if (!forward && (volume.flags & PROBES_SPECULAR) != 0u) {
        vec3 light = specular_light(pixel, s, toward, facing / PI);
        out_specular.rgb = to_half_range(light * frame.pre_exposure);
    }
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, frame.size)) {
        return;
    }
    gather(pixel);
    imageStore(out_diffuse_image, pixel, out_diffuse);
    imageStore(out_specular_image, pixel, out_specular);
}
