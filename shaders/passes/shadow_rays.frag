#version 460
// Fixed ray budget: fraction of the unshadowed light that a pixel's occluded rays estimate as lost,
// by channel: diffuse and specular. Single estimates may exceed 1.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/rays.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 72, scalar) readonly buffer loss_block { uvec3 shadow_ray_losses[]; };
layout(set = 0, binding = 73, scalar) readonly buffer hit_block { uint hits[]; };
layout(push_constant, scalar) uniform band_block { ShadowRayBandConstants band; };

layout(location = 0) out vec4 out_diffuse;
layout(location = 1) out vec4 out_specular;

void main() {
    uvec2 pixel = uvec2(gl_FragCoord.xy);
    uint row = (pixel.y - band.first_row) * frame.size.x + pixel.x;
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    for (uint k = 0u; k < band.rays; ++k) {
        uint index = k * band.rows * frame.size.x + row;
        uvec3 loss = shadow_ray_losses[index];
        if (hits[index] != NONE || (loss.x & 0x8000u) != 0u) {
            vec2 middle = unpackHalf2x16(loss.y);
            diffuse += vec3(abs(unpackHalf2x16(loss.x)), middle.x);
            specular += vec3(middle.y, unpackHalf2x16(loss.z));
        }
    }
    diffuse /= float(band.rays);
    specular /= float(band.rays);
    if (band.sampled != 0u) {
        uvec3 excess = shadow_ray_losses[band.rays * band.rows * frame.size.x + row];
        vec2 middle = unpackHalf2x16(excess.y);
        diffuse += vec3(unpackHalf2x16(excess.x), middle.x);
        specular += vec3(middle.y, unpackHalf2x16(excess.z));
        // Denoised fractions are not negative: samples above the headroom are fireflies.
        if (band.headroom > 1.0) {
            diffuse = max(diffuse, vec3(0.0));
            specular = max(specular, vec3(0.0));
        }
    }
    out_diffuse = vec4(clamp(diffuse, -65504.0, 65504.0), 1.0);
    out_specular = vec4(clamp(specular, -65504.0, 65504.0), 1.0);
}
