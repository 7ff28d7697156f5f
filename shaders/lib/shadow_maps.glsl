// Looking up the shadow maps' atlas. The including shader declares `frame`.
#ifndef LIB_SHADOW_MAPS
#define LIB_SHADOW_MAPS
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 40, scalar) readonly buffer shadow_map_block { ShadowMap shadow_maps[]; };
layout(set = 0, binding = 41) uniform texture2D shadow_atlas;

// Texels that a lookup may touch beyond its place (src/passes/shadow_maps.rs).
const float SHADOW_BORDER = 3.0;

// The fraction of two by two texels around a place that light reaches: percentage-closer filtering (Reeves, Salesin and Cook,
// "Rendering Antialiased Shadows with Depth Maps", 1987). Depth is reversed: what is nearer to the lamp has more.
float filtered_depth_test(ShadowMap map, vec2 place, float depth) {
    vec2 size = vec2(textureSize(shadow_atlas, 0));
    vec2 texel = (map.rect.xy + (place * 0.5 + 0.5) * map.rect.zw) * size - 1.0;
    ivec2 low = ivec2(map.rect.xy * size + 0.5);
    ivec2 high = low + ivec2(int(map.size) - 1);
    ivec2 base = ivec2(floor(texel));
    vec2 f = texel - vec2(base);
    vec3 across = vec3(1.0 - f.x, 1.0, f.x);
    vec3 down = vec3(1.0 - f.y, 1.0, f.y);
    float lit = 0.0;
    for (int y = 0; y < 3; ++y) {
        for (int x = 0; x < 3; ++x) {
            ivec2 at = clamp(base + ivec2(x, y), low, high);
            lit += texelFetch(shadow_atlas, at, 0).x <= depth ? across[x] * down[y] : 0.0;
        }
    }
    return lit / 4.0;
}

// Whether a light reaches a point, by its maps: 0 to 1. Beyond what they cover it does.
float shadow_map_visibility(Light light, vec3 position) {
    uint first = light.shadow;
    ShadowMap map = shadow_maps[first];
    if (map.count == 6u) {
        vec3 d = position - light.position;
        vec3 size = abs(d);
        uint axis = size.x >= size.y && size.x >= size.z ? 0u : (size.y >= size.z ? 1u : 2u);
        map = shadow_maps[first + 2u * axis + (d[axis] < 0.0 ? 1u : 0u)];
    } else if (map.count > 1u) {
        // The first cascade that has the point, with room for the filter.
        for (uint i = 0u; i < map.count; ++i) {
            ShadowMap cascade = shadow_maps[first + i];
            vec4 clip = cascade.to_clip * vec4(position, 1.0);
            float room = 1.0 - 2.0 * SHADOW_BORDER / cascade.size;
            if (max(abs(clip.x), abs(clip.y)) < room) {
                // Positions come from the depth buffer, right to some units in the last place of a float.
                vec3 along = vec3(cascade.to_clip[0].z, cascade.to_clip[1].z, cascade.to_clip[2].z);
                float slack = length(along) * length(position) * 4e-6 + 4e-7;
                return filtered_depth_test(cascade, clip.xy, clip.z + slack);
            }
        }
        return 1.0;
    }
    vec4 clip = map.to_clip * vec4(position, 1.0);
    if (clip.w <= 0.0) {
        return 1.0;
    }
    // A fraction of the distance: what positions from the depth buffer are uncertain by, with room.
    float slack = 1.0 + 1e-4 + 4e-6 * length(position) / clip.w;
    return filtered_depth_test(map, clip.xy / clip.w, clip.z / clip.w * slack);
}

#endif
