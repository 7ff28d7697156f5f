#version 460
// variants: SINGLE_FRAME
// Screen-space reflection rays: one per texel through the depth buffer, in a direction sampled by
// visible GGX normals. Output: packed ray with pre-exposed light.
//
// Projection preserves straight lines, including depth, so rays march in pixels and depth through
// the depth pyramid of pass `ssr_hiz`: over cells that they pass in front of or behind, down into
// others. Both directions of depth are alike: a ray toward the camera crosses surfaces from in
// front too, and back sides are invisible. SINGLE_FRAME uses neither neighbor rays nor a history:
// the hit is composited at once.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ssr.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/ssr_constants.glsl"
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 5, rg32f) uniform readonly image2D pyramid_image;
layout(set = 0, binding = 6) uniform sampler2D source_light_image;
layout(set = 0, binding = 7, rg32ui) uniform readonly uimage2D surface_history_image;
layout(set = 0, binding = 21, r8) uniform readonly image2D ray_mask_image;
#include "lib/ggx_sampling.glsl"
#include "lib/noise.glsl"
#include "lib/ssr.glsl"
#include "lib/ssr_ray_packing.glsl"
#include "lib/ssr_depth_plane.glsl"
#include "lib/ssr_hiz.glsl"

#ifdef SINGLE_FRAME
layout(set = 0, binding = 9) uniform texture2D reflected_environment_image;
layout(set = 0, binding = 11) uniform texture2D light_image;
layout(set = 0, binding = 12) uniform texture2D reflectance_image;
#include "lib/ssr_shading.glsl"

layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_light_image;
#else
// The ray and its hit: light times confidence and edge fade, and that share, or the kind of miss.
layout(set = 0, binding = 74, rgba32ui) uniform writeonly uimage2D out_ray_image;
#endif

// Depth at a pixel center, clamped to the image border.
float clamped_depth(ivec2 pixel) {
    return uintBitsToFloat(imageLoad(surface_history_image,
        clamp(pixel, ivec2(0), ivec2(ssr.size) - 1)).x);
}

// Depth plane of a pixel, its normal, and its thickness as a fraction of its distance.
vec3 surface_plane(ivec2 pixel, out vec3 normal, out float thickness) {
    uvec2 seen = imageLoad(surface_history_image, pixel).xy;
    normal = unpack_normal(seen.y);
    float z = uintBitsToFloat(seen.x);
    return depth_plane(pixel, z,
        vec2(z - clamped_depth(pixel - ivec2(1, 0)), clamped_depth(pixel + ivec2(1, 0)) - z),
                       vec2(z - clamped_depth(pixel - ivec2(0, 1)),
                           clamped_depth(pixel + ivec2(0, 1)) - z),
        thickness);
}

// Projects the ray to pixels and depth: its start, and its end at a border of the view frustum or
// at infinity.
bool project_ray(vec3 from, vec3 direction, out vec3 first, out vec3 last, out bool to_infinity) {
    vec4 a = ssr.position_to_pixel * vec4(from, 1.0);
    vec4 d = ssr.position_to_pixel * vec4(direction, 0.0);
    // Inverse of the exit distance at each side and at the near plane.
    vec2 size = vec2(ssr.size);
    vec2 low = -d.xy / max(a.xy, 1e-12);
    vec2 high = -(d.w * size - d.xy) / max(a.w * size - a.xy, 1e-12);
    float sides = max(max(max(low.x, low.y), max(high.x, high.y)),
        -(d.w - d.z) / max(a.w - a.z, 1e-12));
    float beyond = -d.z / max(a.z, 1e-12);
    float inverse = max(max(sides, beyond), 0.0);
    to_infinity = sides <= max(beyond, 0.0);
    vec4 end = a * inverse + d;
    first = a.xyz / a.w;
    last = end.xyz / end.w;
    return a.w > 0.0 && end.w > 1e-9 * a.w && distance(first.xy, last.xy) > 1e-2;
}

// Moves a bilinear lookup position so that all blended pixels show the same surface as this plane
// and normal.
vec2 blend_place(vec2 at, vec3 plane, vec3 normal) {
    ivec2 pixel = clamp(ivec2(at), ivec2(0), ivec2(ssr.size) - 1);
    vec2 off = clamp(at - (vec2(pixel) + 0.5), -0.5, 0.5);
    ivec2 side = ivec2(off.x < 0.0 ? -1 : 1, off.y < 0.0 ? -1 : 1);
    for (int axis = 0; axis < 2; ++axis) {
        ivec2 step = axis == 0 ? ivec2(side.x, 0) : ivec2(0, side.y);
        ivec2 other = clamp(pixel + step, ivec2(0), ivec2(ssr.size) - 1);
        uvec2 seen = imageLoad(surface_history_image, other).xy;
        bool same = abs(uintBitsToFloat(seen.x) - plane.x - dot(plane.yz, vec2(step)))
            < 0.01 * plane.x
            && dot(unpack_normal(seen.y), normal) > 0.9;
        off[axis] = same ? off[axis] : 0.0;
    }
    return vec2(pixel) + 0.5 + off;
}

// Confidence of a ray that has passed behind a surface.
const float BEHIND = 0.5;

// March result: pixel position, depth and confidence, or SKY or LOST as the last. For a surface hit
// also its plane and normal, and the ray's own position in the same pixel.
const float LOST = 0.0;
const float SKY = -1.0;
// Hit distance of the sky (m).
const float SKY_FAR = 1e7;
// Level of a ray at a pixel whose surface it may hit.
const int ARRIVED = -1;
// Forward offset (pixels) of the ray for pixel selection at pixel edges; distance (pixels) from the
// image border at which the ray is outside.
const float NUDGE = 4e-3;
const float OUTSIDE = 2e-3;
vec4 walk(vec3 first, vec3 last, bool to_infinity, vec3 direction, out vec3 own, out vec3 plane,
    out vec3 normal) {
    own = last;
    plane = normal = vec3(0.0);
    vec4 hit_data = vec4(-1.0, -1.0, -1.0, LOST);
    // Behind a passed surface there may be unseen geometry.
    float sure = 1.0;
    vec3 d = last - first;
    vec2 inverse = 1.0 / mix(d.xy, vec2(1e-12), equal(d.xy, vec2(0.0)));
    vec2 offset = first.xy * inverse;
    // A ray along one axis never leaves a cell along the other; its exit is set ahead.
    ivec2 ahead = ivec2(d.x >= 0.0 ? 1 : 0, d.y >= 0.0 ? 1 : 0);
    vec2 nudged = first.xy + sign(d.xy) * NUDGE;
    // Part of the ray within the image, so that steps need no test.
    vec2 edge = mix(vec2(OUTSIDE), vec2(ssr.size) - OUTSIDE, equal(ahead, ivec2(1)));
    vec2 sides = (edge - nudged) * inverse;
    float end = min(min(sides.x, sides.y), 1.0);
    // Leaves the own pixel: it cannot occlude itself.
    vec2 leave = (floor(first.xy) + vec2(ahead)) * inverse - offset;
    float s = min(leave.x, leave.y);
    ivec2 pixel = ivec2(nudged + d.xy * s);
    int level = 0;
    int top = int(ssr.level_count) - 1;
    // Hoisted out of the loop.
    int row = int(ssr.level_row), height = int(ssr.size.y);
    uint steps = ssr.steps;
    while (s < end && steps > 0u) {
        // Advances to the next pixel whose surface it may hit. The exact test is separate, so that
        // neighboring rays take it together.
        while (s < end && steps > 0u && level != ARRIVED) {
            ivec2 cell = pixel >> level;
            vec2 leaves = vec2(cell + ahead << level) * inverse - offset;
            float next = max(min(leaves.x, leaves.y), s);
            float enter_z = first.z + d.z * s;
            float leave_z = first.z + d.z * min(next, 1.0);
            vec2 held = imageLoad(pyramid_image, level_corner(level, row, height) + cell).xy;
            bool before = min(enter_z, leave_z) > held.x;
            bool passes = before || max(enter_z, leave_z) < held.y;
            sure = passes && !before ? BEHIND : sure;
            s = passes ? next : s;
            ivec2 after = ivec2(nudged + d.xy * s);
            // Ascends only when leaving the coarser cell, which blocked the ray at its entry.
            ivec2 changed = (after ^ pixel) >> level;
            level = !passes ? level - 1 : (changed.x | changed.y) > 1 ? min(level + 1, top) : level;
            pixel = after;
            --steps;
        }
        if (level == ARRIVED) {
            level = 0;
            vec2 leaves = vec2(pixel + ahead) * inverse - offset;
            float next = min(max(min(leaves.x, leaves.y), s), 1.0);
            float enter_z = first.z + d.z * s;
            float leave_z = first.z + d.z * next;
            float thickness;
            plane = surface_plane(pixel, normal, thickness);
            vec2 middle = vec2(pixel) + 0.5;
            float surface_in = plane.x + dot(plane.yz, first.xy + d.xy * s - middle);
            float surface_out = plane.x + dot(plane.yz, first.xy + d.xy * next - middle);
            float gap_in = enter_z - surface_in;
            float gap_out = leave_z - surface_out;
            bool crosses = gap_in >= 0.0 && gap_out < 0.0;
            // The ray entered beside the surface, within its thickness.
            vec2 far = far_of(enter_z), front = far_of(max(surface_in, 1e-12));
            float depth_in = far.x * front.y / (far.y * front.x) - 1.0;
            bool inside = gap_in < 0.0 && depth_in <= thickness;
            // Surfaces that face away are hit from behind, on their invisible side.
            if (plane.x > 0.0 && (crosses || inside) && dot(normal, direction) < 0.0) {
                // Side hits lose confidence with depth.
                sure *= crosses ? 1.0 : clamp(1.0 - depth_in / thickness, 0.1, 1.0);
                own = first + d * mix(s, next, crosses ? gap_in / (gap_in - gap_out) : 0.5);
                // Clamped to the pixel that it hits.
                own.xy = clamp(own.xy, vec2(pixel) + 0.01, vec2(pixel) + 0.99);
                hit_data = vec4(crosses ? own.xy : middle, own.z, sure);
                break;
            }
            sure = plane.x > 0.0 && gap_out < 0.0 ? BEHIND : sure;
            s = next;
            pixel = ivec2(nudged + d.xy * s);
        }
    }
    if (hit_data.w == LOST && to_infinity && end == 1.0 && s >= end) {
        ivec2 there = clamp(ivec2(last.xy), ivec2(0), ivec2(ssr.size) - 1);
        if (imageLoad(surface_history_image, there).x == 0u) {
            hit_data = vec4(last, sure < 1.0 ? LOST : SKY);
        }
    }
    return hit_data;
}

void main() {
    uvec2 texel = group_pixel();
    if (is_outside(ivec2(texel), ssr.rays)) {
        return;
    }
    ivec2 pixel = min(ivec2(texel * ssr.scale), ivec2(ssr.size) - 1);
    if (imageLoad(ray_mask_image, pixel).x <= 0.0) {
#ifndef SINGLE_FRAME
        // No ray.
        imageStore(out_ray_image, ivec2(texel), uvec4(0u));
#endif
        return;
    }
    Surface s;
    load_surface(pixel, imageLoad(surface_history_image, pixel).xy, s);
    vec3 direction = sample_reflection(s, blue_noise_2d(texel, ssr.history.number));
    vec3 first, last;
    bool to_infinity;
    float far = FAR_AWAY;
    vec4 hit_data = vec4(0.0, 0.0, -1.0, LOST);
    // Directions below the surface interreflect between facets, which is unknown.
    if (dot(direction, s.normal) > 0.0
        && project_ray(s.position, direction, first, last, to_infinity)) {
        vec3 own, plane, normal;
        hit_data = walk(first, last, to_infinity, direction, own, plane, normal);
        hit_data.xy = blend_place(hit_data.xy, plane, normal);
        vec4 p = ssr.pixel_to_position * vec4(own.xy - 0.5, max(own.z, 1e-12), 1.0);
        far = clamp(distance(p.xyz / p.w, s.position), 1e-6, FAR_AWAY);
    }
    Ray ray = Ray(direction * (hit_data.w == SKY ? SKY_FAR : far), visible_density(s, direction),
        vec3(0.0),
                  hit_data.w == SKY ? RAY_MISS : 0.0);
    if (hit_data.w > 0.0) {
        ray.share = max(edge_share(hit_data.xy) * hit_data.w, MIN_SHARE);
        ray.light = textureLod(source_light_image, hit_data.xy / vec2(ssr.size), 0.0).rgb
            * ray.share;
    }
#ifdef SINGLE_FRAME
    vec4 around = texelFetch(reflected_environment_image, pixel, 0);
    float open = ssr.hits_only == 0u ? around.a : 1.0;
    vec4 reflection = reflection_of(s, ray.light, max(ray.share, 0.0),
        ray.share == RAY_MISS ? 1.0 : 0.0, open);
    vec3 found = found_light(s, pixel, reflection.rgb);
    vec3 light = with_reflections(to_signed_half_range(texelFetch(light_image, pixel, 0).rgb), around.rgb,
        reflection.a, found);
    imageStore(out_light_image, pixel, vec4(light, 1.0));
#else
    imageStore(out_ray_image, ivec2(texel), pack_ray(ray));
#endif
}
