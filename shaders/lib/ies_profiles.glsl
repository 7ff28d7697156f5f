// Photometric distributions of luminaires (IES LM-63), relative to the maximum intensity.
// src/gpu_scene/ies_profiles.rs writes the layout; photometry::ies documents its meaning.
#ifndef LIB_PROFILES
#define LIB_PROFILES
#include "lib/features.glsl"

// Header of eight words per profile: coordinates, symmetry, counts of vertical and horizontal
// angles, their offset, the offset of the values, unused. Then follow angles in degrees and
// intensities over the maximum, as floats.
layout(set = 0, binding = 25, scalar) readonly buffer profile_block { uint profile_words[]; };

const uint PROFILE_TYPE_B = 1u;
const uint PROFILE_TYPE_A = 2u;
const uint PROFILE_AXIAL = 0u;
const uint PROFILE_QUADRANT = 1u;
const uint PROFILE_BILATERAL = 2u;
const uint PROFILE_BILATERAL_90 = 3u;
const uint PROFILE_FULL = 4u;
const uint PROFILE_MIRRORED = 5u;
const uint PROFILE_LISTED = 6u;

float profile_float(uint at) { return uintBitsToFloat(profile_words[at]); }

// Index of the angle before `x` (degrees) in an ascending list, and the interpolation weight of the
// next; false outside the list.
bool profile_locate(uint first, uint count, float x, out uint before, out float part) {
    // Rounding of angles in single precision and in the device's arc tangent.
    const float SLACK = 0.01;
    before = 0u;
    part = 0.0;
    float low = profile_float(first);
    float high = profile_float(first + count - 1u);
    if (!(x >= low - SLACK && x <= high + SLACK)) {
        return false;
    }
    if (count == 1u) {
        return true;
    }
    // Most lists are uniform: guess the index first, else use bisection.
    before = min(uint(max((x - low) / (high - low), 0.0) * float(count - 1u)), count - 2u);
    if (!(profile_float(first + before) <= x && x <= profile_float(first + before + 1u))) {
        uint end = count - 1u;
        before = 0u;
        while (end - before > 1u) {
            uint middle = (before + end) / 2u;
            if (profile_float(first + middle) <= x) {
                before = middle;
            } else {
                end = middle;
            }
        }
    }
    float a = profile_float(first + before);
    float b = profile_float(first + before + 1u);
    part = clamp((x - a) / (b - a), 0.0, 1.0);
    return true;
}

// Horizontal angle (degrees, -180 to 180) folded by the file's symmetry.
float profile_folded(uint symmetry, float x) {
    float turn = x < 0.0 ? x + 360.0 : x;
    float signed = turn > 180.0 ? turn - 360.0 : turn;
    if (symmetry == PROFILE_QUADRANT) {
        return 90.0 - abs(90.0 - abs(signed));
    }
    if (symmetry == PROFILE_BILATERAL || symmetry == PROFILE_MIRRORED) {
        return abs(signed);
    }
    if (symmetry == PROFILE_BILATERAL_90) {
        return turn < 90.0 ? 180.0 - turn : turn > 270.0 ? 540.0 - turn : turn;
    }
    return symmetry == PROFILE_LISTED ? signed : turn;
}

// Intensity in a direction (unit, away from the light) over the maximum; 0 outside the listed
// angles.
//
// LM-75-01, as photometry::ies: the light emits along its -Z; horizontal angle 0 is its +X, 90 its
// +Y.
float profile_factor(Light light, vec3 away) {
    if (!has_feature(FEATURE_IES_PROFILES) || light.profile == NONE) {
        return 1.0;
    }
    uint head = light.profile * 8u;
    uint kind = profile_words[head];
    float x = dot(away, light.right);
    float y = dot(away, cross(light.right, light.direction));
    float down = dot(away, light.direction);
    float v, h;
    if (kind == PROFILE_TYPE_B) {
        v = atan(y, down);
        h = atan(x, length(vec2(y, down)));
    } else if (kind == PROFILE_TYPE_A) {
        v = atan(y, length(vec2(x, down)));
        h = atan(x, down);
    } else {
        v = atan(length(vec2(x, y)), down);
        h = abs(x) + abs(y) > 0.0 ? atan(y, x) : 0.0;
    }
    uint rows = profile_words[head + 2u];
    uint columns = profile_words[head + 3u];
    uint symmetry = profile_words[head + 1u];
    uint row = 0u;
    float down_part = 0.0;
    uint column = 0u;
    uint next = 0u;
    float across_part = 0.0;
    // Vertical, then horizontal angles; an axial profile has none of these.
    for (uint axis = 0u; axis < (symmetry == PROFILE_AXIAL ? 1u : 2u); ++axis) {
        bool is_vertical = axis == 0u;
        uint first = profile_words[head + (is_vertical ? 4u : 5u)];
        uint count = is_vertical ? rows : columns;
        float angle = is_vertical ? degrees(v) : profile_folded(symmetry, degrees(h));
        uint before;
        float part;
        bool inside;
        if (!is_vertical && symmetry == PROFILE_FULL
            && angle > profile_float(first + count - 1u)) {
            // Between the last plane and the first, one turn later.
            float last = profile_float(first + count - 1u);
            float gap = profile_float(first) + 360.0 - last;
            before = count - 1u;
            part = gap > 0.0 ? clamp((angle - last) / gap, 0.0, 1.0) : 0.0;
            inside = true;
            next = 0u;
        } else {
            inside = profile_locate(first, count, angle, before, part);
            next = min(before + 1u, count - 1u);
        }
        if (!inside) {
            return 0.0;
        }
        row = is_vertical ? before : row;
        down_part = is_vertical ? part : down_part;
        column = is_vertical ? 0u : before;
        across_part = is_vertical ? 0.0 : part;
        next = is_vertical ? 0u : next;
    }
    uint below = min(row + 1u, rows - 1u);
    uint values = profile_words[head + 6u];
    float a = mix(profile_float(values + column * rows + row),
        profile_float(values + column * rows + below), down_part);
    float b = mix(profile_float(values + next * rows + row),
        profile_float(values + next * rows + below), down_part);
    return mix(a, b, across_part);
}

#endif
