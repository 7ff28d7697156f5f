// Packing of a reflection ray and its hit into 16 bytes; a pixel reads those of many neighbors. The
// including shader includes lib/ssr.glsl before.
#ifndef LIB_SSR_RAYS
#define LIB_SSR_RAYS

// A reflection ray from its pixel's surface.
struct Ray {
    vec3 to;          // end point relative to its origin (m)
    float density;    // 1/sr; 0: no ray was traced
    vec3 light;       // pre-exposed light at the hit, times the share
    float share;      // confidence, see lib/ssr.glsl
};

float power_of_two(int exponent) { return uintBitsToFloat(uint(exponent + 127) << 23); }

// Upper half of a float, rounded: 8 significant bits, enough for weights.
uint pack_short(float v) { return floatBitsToUint(v) + 0x8000u >> 16; }
float unpack_short(uint bits) { return uintBitsToFloat(bits << 16); }

// Three numbers from 0 to 65472 with a shared exponent: ten bits each and a six-bit exponent, whose
// lower two bits are in the first word. Like VK_FORMAT_E5B9G9R9_UFLOAT_PACK32 (Vulkan 1.3, "Shared
// Exponent to RGB"), whose five exponent bits lose precision in images eight stops darker.
uvec2 pack_light(vec3 v) {
    // NaN and negative values become 0.
    v = min(mix(vec3(0.0), v, greaterThan(v, vec3(0.0))), 65472.0);
    float most = max(max(v.r, v.g), max(v.b, 3.552713678800501e-15));
    // Exponent e + 48 for a number in [2^e, 2^(e+1)), one more where rounding would need an
    // eleventh digit.
    uint exponent = (floatBitsToUint(most) >> 23) - 79u;
    exponent += most * power_of_two(57 - int(exponent)) >= 1023.5 ? 1u : 0u;
    uvec3 digits = uvec3(v * power_of_two(57 - int(exponent)) + 0.5);
    return uvec2(digits.r | digits.g << 10 | digits.b << 20 | exponent << 30, exponent >> 2);
}

vec3 unpack_light(uvec2 bits) {
    uint exponent = bits.x >> 30 | (bits.y & 15u) << 2;
    return vec3(uvec3(bits.x, bits.x >> 10, bits.x >> 20) & 1023u)
        * power_of_two(int(exponent) - 57);
}

// A share in twelve bits: RAY_MISS is the last code, and MIN_SHARE is not 0.
const uint SKY_BITS = 4095u;
uint pack_share(float share) { return share < 0.0 ? SKY_BITS
    : uint(share * float(SKY_BITS - 1u) + 0.5); }
float unpack_share(uint bits) { return bits == SKY_BITS ? RAY_MISS
    : float(bits) / float(SKY_BITS - 1u); }

// A vector of length 1e-7 to 1e15: 18 digits and a sign per component, and one exponent.
uvec2 pack_end(vec3 to) {
    vec3 size = abs(to);
    float most = max(max(size.x, size.y), size.z);
    // most < 2^exponent
    int exponent = int(floatBitsToUint(most) >> 23) - 126;
    uvec3 digits = uvec3(ivec3(clamp(round(to * power_of_two(18 - exponent)), -262143.0, 262143.0)))
        & 0x7ffffu;
    return uvec2(digits.x | digits.y << 19,
        digits.y >> 13 | digits.z << 6 | uint(exponent + 64) << 25);
}

vec3 unpack_end(uvec2 bits) {
    ivec3 digits =
        ivec3(uvec3(bits.x << 13, (bits.x >> 19 | bits.y << 13) << 13, bits.y << 7)) >> 13;
    return vec3(digits) * power_of_two(int(bits.y >> 25) - 82);
}

uvec4 pack_ray(Ray ray) {
    uvec2 found = pack_light(ray.light)
        | uvec2(0u, pack_short(ray.density) << 16 | pack_share(ray.share) << 4);
    return uvec4(pack_end(ray.to), found);
}

Ray unpack_ray(uvec4 bits) {
    return Ray(unpack_end(bits.xy), unpack_short(bits.w >> 16), unpack_light(bits.zw),
        unpack_share(bits.w >> 4 & 4095u));
}

#endif
