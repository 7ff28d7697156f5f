// Shadow map lookup: percentage-closer filtering of the shadow atlas, 0 in shadow to 1. The
// including shader declares `frame`.
#ifndef LIB_SHADOW_MAPS
#define LIB_SHADOW_MAPS
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 40, scalar) readonly buffer shadow_map_block { ShadowMap shadow_maps[]; };
layout(set = 0, binding = 41) uniform texture2D shadow_atlas;

// Texels that the filter reads beyond its position (src/passes/shadow_maps/projections.rs).
const float SHADOW_BORDER = 3.0;

// Unit normal of the receiver plane, set once per pixel by set_shadow_plane.
vec3 shadow_plane;
// Uncertainty of that normal (tangent of an angle).
float shadow_plane_doubt;

// Sets the receiver plane to the triangle's unit normal, of either side, unless it contradicts the
// shading normal.
void set_shadow_plane(vec3 face, float doubt, vec3 shading) {
    bool believed = doubt < 0.25 && abs(dot(face, shading)) > 0.5;
    shadow_plane = believed ? face : shading;
    shadow_plane_doubt = believed ? doubt : 0.25;
}

// As above, from the position's screen-space derivatives.
void set_shadow_plane_across(vec3 dx, vec3 dy, float doubt, vec3 shading) {
    vec3 face = cross(dx, dy);
    float square = dot(face, face);
    bool flat_pixel = !(square > 1e-30 * dot(dx, dx) * dot(dy, dy)) || isinf(square);
    set_shadow_plane(flat_pixel ? shading : face * inversesqrt(square), flat_pixel ? 1.0 : doubt,
        shading);
}

// Depth slope of a plane across the map, in clip coordinates: the plane's derivative, inverted
// (Isidoro, "Shadow Mapping: GPU-Based Tips and Techniques", GDC 2006, receiver plane depth bias).
vec2 plane_slope(mat4 to_clip, vec3 ndc, vec3 normal) {
    vec3 a = normalize(cross(normal, abs(normal.x) < 0.7 ? vec3(1.0, 0.0, 0.0)
        : vec3(0.0, 1.0, 0.0)));
    vec4 along = to_clip * vec4(a, 0.0);
    vec4 across = to_clip * vec4(cross(normal, a), 0.0);
    vec3 u = along.xyz - ndc * along.w;
    vec3 v = across.xyz - ndc * across.w;
    float turned = u.x * v.y - u.y * v.x;
    // A plane parallel to the light has no slope; it is hardly lit either.
    float least = 1e-4 * length(u.xy) * length(v.xy) + 1e-30;
    turned = abs(turned) < least ? (turned < 0.0 ? -least : least) : turned;
    return vec2(u.z * v.y - u.y * v.z, u.x * v.z - u.z * v.x) / turned;
}

// Lit fraction of 2 x 2 texels: percentage-closer filtering (Reeves, Salesin and Cook, "Rendering
// Antialiased Shadows with Depth Maps", 1987). Depth is reversed: greater is nearer to the light.
// Each texel is compared with the receiver's depth there, by the slope nearer to the light: that of
// its plane, or that of its shading normal.
float filtered_depth_test(ShadowMap map, vec2 place, float depth, vec2 slope, vec2 smooth_slope) {
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
            // From the position to the texel center, in clip coordinates.
            vec2 way = (vec2(x, y) - 0.5 - f) * (2.0 / map.size);
            // Empty texels store 0 and are always lit, however far the extrapolated plane is.
            float there = max(depth + max(dot(way, slope), dot(way, smooth_slope)), 0.0);
            lit += texelFetch(shadow_atlas, at, 0).x <= there ? across[x] * down[y] : 0.0;
        }
    }
    return lit / 4.0;
}

// Normal offset (texels): deviation of concave surfaces from their plane within the filter's
// radius.
const float SHADOW_HOLLOW = 0.35;
// Filter radius (texels), along a diagonal.
const float SHADOW_REACH = 2.1;

// Visibility of a surface point in one map; `texel` is the texel size (m) there, `slack` the depth
// uncertainty as a factor and an offset.
float mapped_visibility(ShadowMap map, vec3 position, vec3 shading, vec3 to_light, float texel,
    vec2 slack) {
    float cosine = dot(shadow_plane, to_light);
    // Where the light is on different sides of the plane and of the smooth surface, the plane
    // shadows itself.
    bool plane = cosine * dot(shading, to_light) * dot(shading, shadow_plane) > 0.0;
    cosine = clamp(abs(plane ? cosine : dot(shading, to_light)), 0.1, 1.0);
    float lift = texel * (SHADOW_HOLLOW + SHADOW_REACH * shadow_plane_doubt / cosine) / cosine;
    vec4 clip = map.to_clip * vec4(position, 1.0);
    vec4 lifted = map.to_clip * vec4(position + to_light * lift, 1.0);
    vec3 ndc = clip.xyz / clip.w;
    float depth = lifted.w > 0.0 ? lifted.z / lifted.w : ndc.z;
    vec2 smooth_slope, slope;
    for (uint i = 0u; i < (plane ? 2u : 1u); ++i) {
        slope = plane_slope(map.to_clip, ndc, i == 0u ? shading : shadow_plane);
        smooth_slope = i == 0u ? slope : smooth_slope;
    }
    return filtered_depth_test(map, ndc.xy, depth * slack.x + slack.y, slope, smooth_slope);
}

// Greater side (m) of a map's texel at a point with this clip-space w. Only the components of the
// map's rows perpendicular to the view direction count.
float shadow_texel(ShadowMap map, float w) {
    mat3 rows = transpose(mat3(map.to_clip));
    vec3 forward = vec3(map.to_clip[0].w, map.to_clip[1].w, map.to_clip[2].w);
    vec3 right = rows[0] - forward * dot(rows[0], forward);
    vec3 up = rows[1] - forward * dot(rows[1], forward);
    return 2.0 * w / (map.size * min(length(right), length(up)));
}

// Outer fraction of a cascade that blends into the next.
const float CASCADE_BLEND = 0.1;

// Visibility of a light from a surface point with this unit shading normal, 0 to 1. Points outside
// the maps are lit.
//
// Of cascades, the first one that contains the point and the filter radius counts; its outer part
// blends into the next one, which hides the change of resolution (Engel, "Cascaded Shadow Maps",
// ShaderX5, 2006). A short loop finds each: drivers that run both sides of a branch would filter
// all cascades otherwise.
float shadow_map_visibility(Light light, vec3 position, vec3 shading) {
    uint number = light.shadow;
    uint end = number + shadow_maps[number].count;
    bool cascades = end - number > 1u && end - number != 6u;
    if (end - number == 6u) {
        vec3 d = position - light.position;
        vec3 size = abs(d);
        uint axis = size.x >= size.y && size.x >= size.z ? 0u : (size.y >= size.z ? 1u : 2u);
        number += 2u * axis + (d[axis] < 0.0 ? 1u : 0u);
    }
    float visible = 1.0;
    // Weight of the nearer cascade, if it blends.
    float counts = -1.0;
    bool found;
    do {
        float nearness = 1.0;
        found = !cascades;
        while (!found && number < end) {
            vec4 clip = shadow_maps[number].to_clip * vec4(position, 1.0);
            float room = 1.0 - 2.0 * SHADOW_BORDER / shadow_maps[number].size;
            float inside = room - max(abs(clip.x), abs(clip.y));
            found = inside > 0.0;
            nearness = min(inside / (CASCADE_BLEND * room), 1.0);
            number += found ? 0u : 1u;
        }
        if (found) {
            ShadowMap map = shadow_maps[number];
            // Of parallel light, 1.
            float w = dot(vec4(map.to_clip[0].w, map.to_clip[1].w, map.to_clip[2].w,
                map.to_clip[3].w), vec4(position, 1.0));
            vec3 to_light = -light.direction;
            vec2 slack;
            if (cascades) {
                // Depth buffer positions have an error of a few ulp.
                vec3 along = vec3(map.to_clip[0].z, map.to_clip[1].z, map.to_clip[2].z);
                slack = vec2(1.0, length(along) * length(position) * 4e-6 + 4e-7);
                w = 1.0;
            } else {
                // Relative uncertainty of positions from the depth buffer, with a margin.
                slack = vec2(1.0 + 1e-4 + 4e-6 * length(position) / w, 0.0);
                to_light = normalize(light.position - position);
            }
            float lit = mapped_visibility(map, position, shading, to_light, shadow_texel(map, w),
                slack);
            lit = w > 0.0 ? lit : 1.0;
            visible = counts >= 0.0 ? mix(lit, visible, counts) : lit;
            // At most two cascades blend.
            found = counts < 0.0 && nearness < 1.0;
            counts = nearness;
            ++number;
        }
    } while (found);
    return visible;
}

#endif
