#version 460
// Luminance histogram of the exposed image: bin 0 is black, the other 255 bins are an eighth of a
// stop each, from 2^-16 to 2^15.875; values beyond go to the end bins. Every pixel is in one bin.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_scalar_block_layout : require
#include "lib/packing.glsl"

layout(local_size_x = 16, local_size_y = 16) in;

layout(set = 0, binding = 0) uniform texture2D light_image;
layout(set = 0, binding = 1, scalar) buffer histogram_block { uint histogram[256]; };
layout(push_constant, scalar) uniform size_block { uvec2 size; };

// A work group counts TILES x TILES times its own size.
const uint TILES = 4u;

shared uint counts[256];

// Significand bits of 2^(k/8), k = 1 to 7, rounded up: integers, so that every device bins alike.
const uint EDGES[7] = uint[7](0xb95c2u, 0x1837f1u, 0x25fed7u, 0x3504f4u, 0x45672bu, 0x5744fdu,
    0x6ac0c7u);

uint bin_of(float exposed) {
    // NaN fails the comparison too.
    if (!(exposed > 0.0)) {
        return 0u;
    }
    uint bits = floatBitsToUint(exposed);
    uint significand = bits & 0x7fffffu;
    int eighth = 0;
    for (int k = 0; k < 7; ++k) {
        eighth += significand >= EDGES[k] ? 1 : 0;
    }
    // The exponents of denormals and infinity put them into the end bins.
    int bin = (int(bits >> 23) - 127 + 16) * 8 + eighth + 1;
    return uint(clamp(bin, 1, 255));
}

void main() {
    uint own = gl_LocalInvocationIndex;
    counts[own] = 0u;
    barrier();
    uvec2 corner = gl_WorkGroupID.xy * 16u * TILES + gl_LocalInvocationID.xy;
    for (uint tile = 0u; tile < TILES * TILES; ++tile) {
        uvec2 pixel = corner + 16u * uvec2(tile % TILES, tile / TILES);
        if (all(lessThan(pixel, size))) {
            vec3 c = to_half_range(texelFetch(light_image, ivec2(pixel), 0).rgb);
            precise float luminance = 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
            atomicAdd(counts[bin_of(luminance)], 1u);
        }
    }
    barrier();
    if (counts[own] != 0u) {
        atomicAdd(histogram[own], counts[own]);
    }
}
