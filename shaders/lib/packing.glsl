// G-buffer packing of a surface: 12 bytes including depth and normal, and 8 bytes of emission.
//
// word x: base color red 12, green 12, blue's upper 8 bits; word y: blue's lower 4, metallic 8,
// roughness 12, occlusion 7, unlit 1. Base color is stored as its square root: at a reflectance of
// 0.18 half a step is 0.06 %, eight bits of sRGB would be 0.7 %.
#ifndef LIB_PACKING
#define LIB_PACKING

uvec2 pack_surface(vec3 base_color, float metallic, float roughness, float occlusion, bool unlit) {
    uvec3 base = uvec3(sqrt(clamp(base_color, 0.0, 1.0)) * 4095.0 + 0.5);
    uint m = uint(clamp(metallic, 0.0, 1.0) * 255.0 + 0.5);
    uint r = uint(clamp(roughness, 0.0, 1.0) * 4095.0 + 0.5);
    uint o = uint(clamp(occlusion, 0.0, 1.0) * 127.0 + 0.5);
    return uvec2(base.r | base.g << 12 | (base.b >> 4) << 24,
                 (base.b & 15u) | m << 4 | r << 12 | o << 24 | (unlit ? 1u << 31 : 0u));
}

void unpack_surface(uvec2 p, out vec3 base_color, out float metallic, out float roughness,
    out float occlusion, out bool unlit) {
    uvec3 base = uvec3(p.x & 4095u, p.x >> 12 & 4095u, (p.x >> 24) << 4 | (p.y & 15u));
    vec3 root = vec3(base) / 4095.0;
    base_color = root * root;
    metallic = float(p.y >> 4 & 255u) / 255.0;
    roughness = float(p.y >> 12 & 4095u) / 4095.0;
    occlusion = float(p.y >> 24 & 127u) / 127.0;
    unlit = (p.y >> 31) != 0u;
}

float sign_not_zero(float x) { return x >= 0.0 ? 1.0 : -1.0; }

// Unit vector in two 16-bit numbers. Cigolle et al. 2014, "A Survey of Efficient Representations
// for Independent Unit Vectors", section 3.2 (oct32).
uint pack_normal(vec3 n) {
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    vec2 e = n.z >= 0.0 ? n.xy : (1.0 - abs(n.yx)) * vec2(sign_not_zero(n.x), sign_not_zero(n.y));
    ivec2 q = ivec2(round(clamp(e, -1.0, 1.0) * 32767.0));
    return uint(q.x & 0xffff) | uint(q.y & 0xffff) << 16;
}

// The same direction, of any length.
vec3 unpack_direction(uint p) {
    vec2 e = vec2(ivec2(int(p << 16) >> 16, int(p) >> 16)) / 32767.0;
    vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
    if (n.z < 0.0) {
        n.xy = (1.0 - abs(n.yx)) * vec2(sign_not_zero(n.x), sign_not_zero(n.y));
    }
    return n;
}

vec3 unpack_normal(uint p) { return normalize(unpack_direction(p)); }

// Clamps to the half float range, 0 to 65504; NaN and negative values become 0. Infinity would
// spread through later passes. Readers of an image that passes add to clamp as well: the sum of two
// clamped values may be infinite.
vec3 to_half_range(vec3 v) {
    return clamp(mix(vec3(0.0), v, greaterThan(v, vec3(0.0))), 0.0, 65504.0);
}

// As above, but negative values stay: estimates whose mean is light.
vec3 to_signed_half_range(vec3 v) {
    return clamp(mix(v, vec3(0.0), isnan(v)), -65504.0, 65504.0);
}

#endif
