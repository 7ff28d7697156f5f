#version 460
// Film grain: shot and read noise of the sensor on exposed light, independent per channel; the mean
// is unchanged.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/effects.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(push_constant, scalar) uniform grain_block { GrainConstants grain; };
layout(location = 0) out vec4 out_light;

// Jarzynski and Olano 2020, "Hash Functions for GPU Rendering", pcg3d.
uvec3 hash(uvec3 v) {
    v = v * 1664525u + 1013904223u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    v ^= v >> 16u;
    v.x += v.y * v.z;
    v.y += v.z * v.x;
    v.z += v.x * v.y;
    return v;
}

// Normally distributed, mean 0, deviation 1: Box and Muller 1958.
vec3 normal_noise(uvec2 pixel, uint frame) {
    // 24 bits plus one half, so that neither 0 nor 1 occurs.
    vec3 a = (vec3(hash(uvec3(pixel, 2u * frame)) >> 8u) + 0.5) / 16777216.0;
    vec3 b = (vec3(hash(uvec3(pixel, 2u * frame + 1u)) >> 8u) + 0.5) / 16777216.0;
    return sqrt(-2.0 * log(a)) * cos(6.28318531 * b);
}

void main() {
    vec3 light = to_half_range(texelFetch(light_image, ivec2(gl_FragCoord.xy), 0).rgb);
    vec3 deviation = sqrt(grain.shot * light + grain.read * grain.read);
    // Values below black are kept, as a sensor's black level allows; the mean of black stays 0.
    vec3 noisy = light + deviation * normal_noise(uvec2(gl_FragCoord.xy), grain.frame);
    out_light = vec4(clamp(noisy, vec3(-65504.0), vec3(65504.0)), 1.0);
}
