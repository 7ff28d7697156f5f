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

// Likewise for horizontal angles, folded by the file's symmetry; `after` may wrap to the first.
bool profile_locate_horizontal(uint symmetry, uint first, uint count, float x, out uint before,
    out uint after, out float part) {
    float turn = x < 0.0 ? x + 360.0 : x;
    float signed = turn > 180.0 ? turn - 360.0 : turn;
    bool found = true;
    before = 0u;
    part = 0.0;
    if (symmetry == PROFILE_AXIAL) {
        after = 0u;
        return true;
    }
    float folded = turn;
    if (symmetry == PROFILE_QUADRANT) {
        folded = 90.0 - abs(90.0 - abs(signed));
    } else if (symmetry == PROFILE_BILATERAL || symmetry == PROFILE_MIRRORED) {
        folded = abs(signed);
    } else if (symmetry == PROFILE_BILATERAL_90) {
        folded = turn < 90.0 ? 180.0 - turn : turn > 270.0 ? 540.0 - turn : turn;
    } else if (symmetry == PROFILE_LISTED) {
        folded = signed;
    }
    float last = profile_float(first + count - 1u);
    if (symmetry == PROFILE_FULL && turn > last) {
        // Between the last plane and the first, one turn later.
        before = count - 1u;
        after = 0u;
        float gap = profile_float(first) + 360.0 - last;
        part = gap > 0.0 ? clamp((turn - last) / gap, 0.0, 1.0) : 0.0;
        return true;
    }
    found = profile_locate(first, count, folded, before, part);
    after = min(before + 1u, count - 1u);
    return found;
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
    uint row, column, next;
    float down_part, across_part;
    bool inside = profile_locate(profile_words[head + 4u], rows, degrees(v), row, down_part);
    inside = profile_locate_horizontal(profile_words[head + 1u], profile_words[head + 5u],
        profile_words[head + 3u],
                                       degrees(h), column, next, across_part) && inside;
    if (!inside) {
        return 0.0;
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
