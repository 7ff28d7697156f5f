#version 460
// Ambient occlusion from the depth buffer: the occluded share of each pixel's cosine-weighted
// hemisphere, and the sum of its occluded directions. Pass `ao_filter` turns them into visibility
// and bent normal.
//
// Jimenez, Wu, Pesce, Jarabo 2016, "Practical Realtime Strategies for Accurate Indirect Occlusion":
// each slice (a plane through the view ray) searches the horizons on both sides; the integral
// between them has a closed form.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ao.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 31, scalar) readonly buffer probe_block { Probe probes[]; };
#include "lib/probes.glsl"

layout(push_constant, scalar) uniform ao_block { AoConstants ao; };
// Occluded part: the sum of its directions, and its share (0 to 1).
layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_hidden_image;
vec4 out_hidden;

// Integral from the view direction to an angle h of |sin| times the cosine to the normal, which is
// at the angle n: the paper's inner integral.
float arc(float h, float n) {
    return 0.25 * (cos(n) - cos(2.0 * h - n) + 2.0 * h * sin(n));
}

// As above for the direction (across and along the view direction), by integrating sin^2 t cos(t -
// n) = cos(t - n) / 2 - (cos(3t - n) + cos(t + n)) / 4 and sin t cos t cos(t - n) = (sin(3t - n) +
// sin(t + n)) / 4.
vec2 arc_direction(float h, float n) {
    return vec2(6.0 * sin(h - n) - sin(3.0 * h - n) - 3.0 * sin(h + n) + 8.0 * sin(n),
                4.0 * cos(n) - cos(3.0 * h - n) - 3.0 * cos(h + n)) / 12.0;
}

// Whether `place` is on a wall of the probe's box: the probe includes light from there.
bool lit_by(uint probe, vec3 place) {
    return probe < frame.probe_count && probe_wall(probes[probe], place);
}

// A plane through the view ray.
struct Slice {
    vec3 view;       // unit, toward the camera
    vec3 across;     // unit, perpendicular to the view direction
    vec3 axis;       // unit, perpendicular to both
    float tilt;      // descent of the surface along the view direction per step along the axis
};

// Cosine of the horizon on one side of a slice; `low` is that of the tangent plane.
//
// Samples are pixel centers beside the slice. They are moved into it along the tangent plane: any
// other way would raise near samples of a level surface above it.
float horizon(vec3 position, Slice slice, vec2 center, vec2 to_end, float low, float start,
    uint probe) {
    float cosine = low;
    float reach = length(to_end);
    for (uint i = 0u; i < ao.steps; ++i) {
        // Denser near the pixel, where occluders hide most.
        float t = (float(i) + start) / float(ao.steps);
        vec2 place = center + to_end * (max(t * t * reach, 1.0) / reach);
        if (any(lessThan(place, vec2(0.0))) || any(greaterThanEqual(place, vec2(frame.size)))) {
            break;
        }
        ivec2 pixel = ivec2(place);
        float depth = texelFetch(depth_image, pixel, 0).x;
        float seen = low;
        if (depth > 0.0) {
            vec3 hiding = position_at(pixel, depth);
            vec3 to = hiding - position;
            float away = length(to);
            float rise = dot(to, slice.view) + slice.tilt * dot(to, slice.axis);
            float aside = dot(to, slice.across);
            float flat_length = sqrt(rise * rise + aside * aside);
            // Fades out occluders near the radius, which prevents a visible cutoff.
            float weight = clamp((ao.radius - away) / max(ao.radius * ao.falloff, 1e-6), 0.0, 1.0);
            seen = flat_length > 0.0 && !lit_by(probe, hiding)
                ? mix(low, rise / flat_length, weight) : low;
        }
        // Behind an occluder the horizon decays: its thickness is assumed equal to its width on the
        // screen.
        cosine = seen > cosine ? seen : max(mix(cosine, seen, ao.thickness), low);
    }
    return cosine;
}

void search_horizons(ivec2 texel) {
    ivec2 pixel = min(texel * int(ao.scale), ivec2(frame.size) - 1);
    float depth = texelFetch(depth_image, pixel, 0).x;
    out_hidden = vec4(0.0);
    if (depth <= 0.0) {
        return;
    }
    vec3 position = position_at(pixel, depth);
    vec3 view = view_at(position);
    vec3 normal = unpack_normal(texelFetch(normal_image, pixel, 0).x);
    uint probe = 0u;
    while (probe < frame.probe_count && probe_weight(probes[probe], position) <= 0.0) {
        ++probe;
    }
    // Two directions perpendicular to the view direction.
    vec3 beside = position_at(pixel + ivec2(1, 0), depth) - position;
    vec3 right = normalize(beside - dot(beside, view) * view);
    vec3 up = cross(view, right);
    vec4 clip = frame.view_projection * vec4(position, 1.0);
    // Each of 16 pixels has its own slice rotation and one of four sample offsets, as in the paper.
    // The filter averages them.
    float turn = float(((texel.x + texel.y) & 3) << 2 | (texel.x & 3)) / 16.0;
    // Accumulated frames use different rotations.
    turn = fract(turn + frame.noise_shift);
    float start = float((texel.y - texel.x) & 3) * 0.25 + 0.125;
    float hidden = 0.0;
    vec3 hidden_direction = vec3(0.0);
    for (uint i = 0u; i < ao.slices; ++i) {
        float angle = (float(i) + turn) / float(ao.slices) * PI;
        vec3 across = cos(angle) * right + sin(angle) * up;
        // Pixels per meter in that direction.
        vec4 step = frame.view_projection * vec4(across, 0.0);
        vec2 slope = (step.xy * clip.w - clip.xy * step.w) / (clip.w * clip.w) * 0.5
            * vec2(frame.size);
        vec2 to_end = slope * ao.radius;
        if (!(dot(to_end, to_end) >= 1.0)) {
            continue;
        }
        // The normal within the slice.
        vec3 axis = cross(across, view);
        vec3 flat_normal = normal - axis * dot(normal, axis);
        float share = length(flat_normal);
        if (share < 1e-4) {
            continue;
        }
        float n = acos(clamp(dot(flat_normal, view) / share, -1.0, 1.0))
            * sign_not_zero(dot(flat_normal, across));
        vec2 center = vec2(pixel) + 0.5;
        Slice slice = Slice(view, across, axis, dot(normal, axis) / max(dot(normal, view), 1e-3));
        float ahead = horizon(position, slice, center, to_end, -sin(n), start, probe);
        float behind = horizon(position, slice, center, -to_end, sin(n), start, probe);
        float h1 = max(-acos(clamp(behind, -1.0, 1.0)), n - 0.5 * PI);
        float h2 = min(acos(clamp(ahead, -1.0, 1.0)), n + 0.5 * PI);
        // Occluded part of this slice: an unoccluded pixel keeps all its light, however few slices
        // it has.
        float low1 = n - 0.5 * PI;
        float low2 = n + 0.5 * PI;
        hidden += share * (arc(low1, n) + arc(low2, n) - arc(h1, n) - arc(h2, n));
        vec2 direction = arc_direction(low1, n) + arc_direction(low2, n) - arc_direction(h1, n)
            - arc_direction(h2, n);
        hidden_direction += share * (direction.x * across + direction.y * view);
    }
    out_hidden = vec4(hidden_direction, hidden) / float(ao.slices);
}

void main() {
    ivec2 texel = ivec2(group_pixel());
    if (is_outside(texel, uvec2(imageSize(out_hidden_image)))) {
        return;
    }
    search_horizons(texel);
    imageStore(out_hidden_image, texel, out_hidden);
}
