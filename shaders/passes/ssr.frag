#version 460
// Rays from reflecting surfaces through the depth buffer: one a texel, in a direction that the surface reflects to the
// camera as its visible normals have it.
//
// A straight line stays one after projection, depth included, so rays are walked in pixels and depth through the pyramid
// of pass `ssr_depth`: over cells that they pass before or behind, down into others. Both directions of depth are alike: a
// ray towards the camera crosses surfaces from in front as others do, and what it would meet from behind is not seen.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ssr.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 20, scalar) uniform ssr_block { SsrConstants ssr; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 5) uniform texture2D pyramid_image;
layout(set = 0, binding = 6) uniform sampler2D picture_image;
layout(set = 0, binding = 7) uniform utexture2D seen_image;
#include "lib/facets.glsl"
#include "lib/pattern.glsl"
#include "lib/ssr.glsl"
#include "lib/ssr_plane.glsl"
#include "lib/ssr_pyramid.glsl"

// Where the ray ended (relative to the camera), and its density (1/sr) over its length squared: that of its end, seen from
// anywhere. 0: no ray.
layout(location = 0) out vec4 out_end;
// Light that it found, by how sure that is and how near to the picture's edge; and that share, or what it is that it found.
layout(location = 1) out vec4 out_light;
// Where in the picture it met a surface.
layout(location = 2) out uint out_place;

float distance_of(float depth) {
    vec2 part = far_of(depth);
    return part.x / part.y;
}

// A depth lies farther than another by more than the thickness of what is seen there.
bool beyond(float depth, float front) {
    vec2 a = far_of(depth), b = far_of(front);
    return a.x * b.y > b.x * a.y * (1.0 + ssr.thickness);
}

// The ray in pixels and depth: where it begins and where it ends, at an edge of what the camera sees or infinitely far.
bool project_ray(vec3 from, vec3 direction, out vec3 first, out vec3 last, out bool to_infinity) {
    vec4 a = frame.view_projection * vec4(from, 1.0);
    vec4 d = frame.view_projection * vec4(direction, 0.0);
    // One over the distance at which it leaves through each of the sides and the near plane.
    float sides = 0.0;
    vec2 low = -(d.w + d.xy) / max(a.w + a.xy, 1e-12);
    vec2 high = -(d.w - d.xy) / max(a.w - a.xy, 1e-12);
    sides = max(max(max(low.x, low.y), max(high.x, high.y)), -(d.w - d.z) / max(a.w - a.z, 1e-12));
    float beyond = -d.z / max(a.z, 1e-12);
    float inverse = max(max(sides, beyond), 0.0);
    to_infinity = sides <= max(beyond, 0.0);
    vec4 end = a * inverse + d;
    vec2 half_size = 0.5 * vec2(ssr.size);
    first = vec3((a.xy / a.w + 1.0) * half_size, a.z / a.w);
    last = vec3((end.xy / end.w + 1.0) * half_size, end.z / end.w);
    return a.w > 0.0 && end.w > 1e-9 * a.w && distance(first.xy, last.xy) > 1e-2;
}

// A place of a pixel with this plane and this normal from which pixels around are blended, moved to where all of these show the
// same surface.
vec2 blend_place(vec2 at, vec3 plane, vec3 normal) {
    ivec2 pixel = clamp(ivec2(at), ivec2(0), ivec2(ssr.size) - 1);
    vec2 off = clamp(at - (vec2(pixel) + 0.5), -0.5, 0.5);
    ivec2 side = ivec2(off.x < 0.0 ? -1 : 1, off.y < 0.0 ? -1 : 1);
    for (int axis = 0; axis < 2; ++axis) {
        ivec2 step = axis == 0 ? ivec2(side.x, 0) : ivec2(0, side.y);
        ivec2 other = clamp(pixel + step, ivec2(0), ivec2(ssr.size) - 1);
        uvec2 seen = texelFetch(seen_image, other, 0).xy;
        bool same = abs(uintBitsToFloat(seen.x) - plane.x - dot(plane.yz, vec2(step))) < 0.01 * plane.x
            && dot(unpack_normal(seen.y), normal) > 0.9;
        off[axis] = same ? off[axis] : 0.0;
    }
    return vec2(pixel) + 0.5 + off;
}

// How sure it is what a ray finds that has been behind something.
const float BEHIND = 0.5;

// What a ray meets: pixels, depth, and how sure that is; or as the last SKY or LOST. Of a surface its pixel's plane and normal too.
const float LOST = 0.0;
const float SKY = -1.0;
// Out of the picture, as a part of the ray.
const float LEFT = 2.0;
// As far as the sky is (m).
const float SKY_FAR = 1e7;
vec4 walk(vec3 first, vec3 last, bool to_infinity, vec3 direction, out vec3 plane, out vec3 normal) {
    plane = normal = vec3(0.0);
    // Behind what it has passed there may be anything.
    float sure = 1.0;
    vec3 d = last - first;
    vec2 inverse = 1.0 / mix(d.xy, vec2(1e-12), equal(d.xy, vec2(0.0)));
    // Along an axis the other one is left nowhere, which lies ahead.
    ivec2 ahead = ivec2(d.x >= 0.0 ? 1 : 0, d.y >= 0.0 ? 1 : 0);
    vec2 nudged = first.xy + sign(d.xy) * 0.004;
    // Out of the own pixel: it cannot hide the surface from itself.
    vec2 leave = (floor(first.xy) + vec2(ahead) - first.xy) * inverse;
    float s = min(leave.x, leave.y);
    ivec2 pixel = ivec2(floor(nudged + d.xy * s));
    uvec2 size = ssr.size;
    // Out of the picture: as far as LEFT.
    s = any(greaterThanEqual(uvec2(pixel), size)) ? LEFT : s;
    int level = 0;
    int top = int(ssr.level_count) - 1;
    uint steps = 0u;
    while (steps < ssr.steps && s < 1.0) {
        // To the next pixel whose surface it may meet. The test of that is apart, so that rays side by side take it together.
        float next = s, enter_z = 0.0, leave_z = 0.0;
        bool arrived = false;
        for (; steps < ssr.steps && s < 1.0 && !arrived; ++steps) {
            ivec2 cell = pixel >> level;
            vec2 leaves = (vec2(cell + ahead << level) - first.xy) * inverse;
            next = min(max(min(leaves.x, leaves.y), s), 1.0);
            enter_z = first.z + d.z * s;
            leave_z = first.z + d.z * next;
            vec2 held = texelFetch(pyramid_image, level_corner(level) + cell, 0).xy;
            bool before = min(enter_z, leave_z) > held.x;
            bool behind = max(enter_z, leave_z) < held.y;
            if (before || behind) {
                sure = before ? sure : BEHIND;
                s = next;
                ivec2 after = ivec2(floor(nudged + d.xy * s));
                s = any(greaterThanEqual(uvec2(after), size)) ? LEFT : s;
                // Up only out of the coarser cell, which did not let the ray pass when it came in.
                level = (after ^ pixel) >> level + 1 != ivec2(0) ? min(level + 1, top) : level;
                pixel = after;
            } else {
                arrived = level == 0;
                level = max(level - 1, 0);
            }
        }
        if (!arrived) {
            break;
        }
        plane = depth_plane(pixel);
        if (plane.x > 0.0) {
            vec2 middle = vec2(pixel) + 0.5;
            float surface_in = plane.x + dot(plane.yz, first.xy + d.xy * s - middle);
            float surface_out = plane.x + dot(plane.yz, first.xy + d.xy * next - middle);
            float gap_in = enter_z - surface_in;
            float gap_out = leave_z - surface_out;
            bool crosses = gap_in >= 0.0 && gap_out < 0.0;
            // It came in beside the surface, within its thickness.
            bool inside = gap_in < 0.0 && !beyond(enter_z, max(surface_in, 1e-12));
            normal = unpack_normal(texelFetch(normal_image, pixel, 0).x);
            // What faces away from the ray is met from behind, and that side is not seen.
            if ((crosses || inside) && dot(normal, direction) < 0.0) {
                // From the side the less sure the deeper.
                float depth_in = distance_of(enter_z) / distance_of(max(surface_in, 1e-12)) - 1.0;
                sure *= crosses ? 1.0 : clamp(1.0 - depth_in / ssr.thickness, 0.1, 1.0);
                vec3 there = first + d * (crosses ? mix(s, next, gap_in / (gap_in - gap_out)) : s);
                // Never out of the pixel that it is in, whose surface it is.
                there.xy = crosses ? clamp(there.xy, vec2(pixel) + 0.01, vec2(pixel) + 0.99) : middle;
                return vec4(there, sure);
            }
            sure = gap_out < 0.0 ? BEHIND : sure;
        }
        s = next;
        pixel = ivec2(floor(nudged + d.xy * s));
        s = any(greaterThanEqual(uvec2(pixel), size)) ? LEFT : s;
    }
    if (s >= 1.0 && s < LEFT && to_infinity) {
        ivec2 end = clamp(ivec2(last.xy), ivec2(0), ivec2(size) - 1);
        if (texelFetch(depth_image, end, 0).x <= 0.0) {
            return vec4(last, sure < 1.0 ? LOST : SKY);
        }
    }
    return vec4(-1.0, -1.0, -1.0, LOST);
}

void main() {
    uvec2 texel = uvec2(gl_FragCoord.xy);
    ivec2 pixel = min(ivec2(texel * ssr.scale), ivec2(ssr.size) - 1);
    float depth = texelFetch(depth_image, pixel, 0).x;
    out_light = vec4(0.0);
    out_place = 0u;
    // The depth test has left surfaces that reflect.
    Surface s;
    load_surface(pixel, depth, s);
    vec3 direction = seen_reflection(s, sample_for(texel, ssr.number));
    float density = visible_density(s, direction);
    vec3 first, last;
    bool to_infinity;
    vec4 met = vec4(0.0, 0.0, -1.0, LOST);
    float far = FAR_AWAY;
    // Below the surface: facets send it on to others, of which nothing is known.
    if (dot(direction, s.normal) > 0.0 && project_ray(s.position, direction, first, last, to_infinity)) {
        vec3 plane, normal;
        met = walk(first, last, to_infinity, direction, plane, normal);
        met.xyz = met.w > 0.0 ? vec3(blend_place(met.xy, plane, normal), met.z) : last;
        vec4 p = frame.inverse_projection * vec4(met.xy / vec2(ssr.size) * 2.0 - 1.0, max(met.z, 1e-12), 1.0);
        far = clamp(distance(p.xyz / p.w, s.position), 1e-6, FAR_AWAY);
    }
    far = met.w == SKY ? SKY_FAR : far;
    out_end = vec4(s.position + direction * far, density / (far * far));
    out_light.a = met.w == SKY ? SEES_SKY : 0.0;
    if (met.w > 0.0) {
        float share = max(edge_share(met.xy) * met.w, LEAST_SHARE);
        out_light = vec4(to_half_range(textureLod(picture_image, met.xy / vec2(ssr.size), 0.0).rgb * share), share);
        out_place = packUnorm2x16(met.xy / vec2(ssr.size));
    }
}
