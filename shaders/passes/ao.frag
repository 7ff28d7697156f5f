#version 460
// How much of its surroundings each pixel sees, as far as the depth buffer knows: the share of its
// hemisphere, weighed with the cosine, that is open, and the mean direction of what is (the bent
// normal).
//
// Jimenez, Wu, Pesce, Jarabo 2016, "Practical Realtime Strategies for Accurate Indirect Occlusion":
// in planes through the line of sight (slices) the horizons to both sides are searched for; between
// them the integral is known in closed form.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ao.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 31, scalar) readonly buffer probe_block { Probe probes[]; };
#include "lib/probes.glsl"

layout(push_constant, scalar) uniform ao_block { AoConstants ao; };
// What is hidden: the sum of its directions, and its share.
layout(location = 0) out vec4 out_hidden;

// Integral from the line of sight to an angle h of |sin| times the cosine to the normal, which
// stands at the angle n: in the paper the inner integral.
float arc(float h, float n) {
    return 0.25 * (cos(n) - cos(2.0 * h - n) + 2.0 * h * sin(n));
}

// The same of the direction (across and along the line of sight), by integrating
// sin^2 t cos(t - n) = cos(t - n) / 2 - (cos(3t - n) + cos(t + n)) / 4 and
// sin t cos t cos(t - n) = (sin(3t - n) + sin(t + n)) / 4.
vec2 arc_direction(float h, float n) {
    return vec2(6.0 * sin(h - n) - sin(3.0 * h - n) - 3.0 * sin(h + n) + 8.0 * sin(n),
                4.0 * cos(n) - cos(3.0 * h - n) - 3.0 * cos(h + n)) / 12.0;
}

// Whether something is the wall of the box whose probe lights a place: its light comes from there.
bool lit_by(uint probe, vec3 place) {
    return probe < frame.probe_count && probe_wall(probes[probe], place);
}

// A plane through the line of sight.
struct Slice {
    vec3 view;       // unit, towards the camera
    vec3 across;     // unit, across the line of sight
    vec3 axis;       // unit, at right angles to both
    float tilt;      // by how much the surface sinks along the line of sight a step along the axis
};

// Cosine of the horizon to one side of a slice; `low` is that of the surface's own.
//
// Samples are centres of pixels, which lie beside the slice. They are brought into it along the
// surface's plane: brought in any other way, near ones of a level surface would rise above it.
float horizon(vec3 position, Slice slice, vec2 center, vec2 to_end, float low, float start, uint probe) {
    float cosine = low;
    float reach = length(to_end);
    for (uint i = 0u; i < ao.steps; ++i) {
        // Denser where what is near hides most.
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
            // What is near the radius counts less, so that no edge shows where it ends.
            float weight = clamp((ao.radius - away) / max(ao.radius * ao.falloff, 1e-6), 0.0, 1.0);
            seen = flat_length > 0.0 && !lit_by(probe, hiding) ? mix(low, rise / flat_length, weight) : low;
        }
        // Behind what sticks up the horizon sinks again: it is taken to be as thick as it is wide
        // on the screen.
        cosine = seen > cosine ? seen : max(mix(cosine, seen, ao.thickness), low);
    }
    return cosine;
}

void main() {
    ivec2 texel = ivec2(gl_FragCoord.xy);
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
    // Two directions across the line of sight.
    vec3 beside = position_at(pixel + ivec2(1, 0), depth) - position;
    vec3 right = normalize(beside - dot(beside, view) * view);
    vec3 up = cross(view, right);
    vec4 clip = frame.view_projection * vec4(position, 1.0);
    // Of 16 pixels each has another turn of the slices and one of four offsets of the samples, as
    // in the paper. The filter takes their mean.
    float turn = float(((texel.x + texel.y) & 3) << 2 | (texel.x & 3)) / 16.0;
    // Where several frames make a picture, other turns each.
    turn = fract(turn + frame.noise_shift);
    float start = float((texel.y - texel.x) & 3) * 0.25 + 0.125;
    float hidden = 0.0;
    vec3 hidden_direction = vec3(0.0);
    for (uint i = 0u; i < ao.slices; ++i) {
        float angle = (float(i) + turn) / float(ao.slices) * PI;
        vec3 across = cos(angle) * right + sin(angle) * up;
        // Pixels a metre that way.
        vec4 step = frame.view_projection * vec4(across, 0.0);
        vec2 slope = (step.xy * clip.w - clip.xy * step.w) / (clip.w * clip.w) * 0.5 * vec2(frame.size);
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
        float n = acos(clamp(dot(flat_normal, view) / share, -1.0, 1.0)) * sign_not_zero(dot(flat_normal, across));
        vec2 center = vec2(pixel) + 0.5;
        Slice slice = Slice(view, across, axis, dot(normal, axis) / max(dot(normal, view), 1e-3));
        float ahead = horizon(position, slice, center, to_end, -sin(n), start, probe);
        float behind = horizon(position, slice, center, -to_end, sin(n), start, probe);
        float h1 = max(-acos(clamp(behind, -1.0, 1.0)), n - 0.5 * PI);
        float h2 = min(acos(clamp(ahead, -1.0, 1.0)), n + 0.5 * PI);
        // What is hidden of this slice: an open pixel keeps all its light, however few slices it
        // has.
        float low1 = n - 0.5 * PI;
        float low2 = n + 0.5 * PI;
        hidden += share * (arc(low1, n) + arc(low2, n) - arc(h1, n) - arc(h2, n));
        vec2 direction = arc_direction(low1, n) + arc_direction(low2, n) - arc_direction(h1, n) - arc_direction(h2, n);
        hidden_direction += share * (direction.x * across + direction.y * view);
    }
    out_hidden = vec4(hidden_direction, hidden) / float(ao.slices);
}
