#version 460
// Morphological anti-aliasing, blending weights: the coverage of each pixel by the neighbor across
// an edge.
//
// Reshetov 2009, "Morphological Antialiasing", section 2: a run of edges between two pixel rows,
// with steps at its ends, is replaced by lines from half a pixel at an end to the run's middle. The
// area that they cut off a pixel is exact. A run whose ends step to the same side is skipped: it
// ends a thin feature or a spot, whose area would be lost. A step that continues beyond the run is
// a corner, and keeps most of its shape: Jimenez, Echevarria, Sousa and Gutierrez 2012, "SMAA:
// Enhanced Subpixel Morphological Antialiasing", on sharp geometric features. Red: share of this
// pixel for the one above; green: of the one above for this one; blue and alpha: the same to the
// left.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0) uniform texture2D edge_image;
layout(location = 0) out vec4 out_weights;

// Maximum run length on either side (pixels).
const int REACH = 32;

// Remaining line height at a corner.
const float ROUNDING = 0.25;

bool edge(ivec2 pixel, bool across) {
    vec2 e = texelFetch(edge_image, clamp(pixel, ivec2(0), textureSize(edge_image, 0) - 1), 0).xy;
    return (across ? e.x : e.y) > 0.5;
}

// Height of the line at a run's end, by the steps there: half a pixel to one side or 0.
float height(bool before, bool after) {
    return before == after ? 0.0 : (before ? 0.5 : -0.5);
}

// Integral of the line from height 1 at 0 to height 0 at half the length.
float fall(float t, float l) { return t - t * t / l; }

// Coverages on both sides of a run; x: before it (above or left). `along` is the run's direction
// and `side` points from it to the pixels before it; `across` selects the edge channel.
vec2 parts(ivec2 pixel, ivec2 along, ivec2 side, bool across) {
    int back = 0;
    int forth = 0;
    // Steps and the end of the edge terminate a run.
    while (back < REACH && edge(pixel - along * (back + 1), across)
           && !edge(pixel - along * back, !across) && !edge(pixel - along * back + side, !across)) {
        ++back;
    }
    while (forth < REACH && edge(pixel + along * (forth + 1), across)
           && !edge(pixel + along * (forth + 1), !across)
               && !edge(pixel + along * (forth + 1) + side, !across)) {
        ++forth;
    }
    ivec2 first = pixel - along * back;
    ivec2 past = pixel + along * (forth + 1);
    float low = height(edge(first + side, !across), edge(first, !across));
    float high = height(edge(past + side, !across), edge(past, !across));
    if (low * high > 0.0) {
        return vec2(0.0);
    }
    low *= edge(low > 0.0 ? first + side * 2 : first - side, !across) ? ROUNDING : 1.0;
    high *= edge(high > 0.0 ? past + side * 2 : past - side, !across) ? ROUNDING : 1.0;
    float l = float(back + forth + 1);
    float from = float(back);
    float to = from + 1.0;
    float half_way = 0.5 * l;
    float left = from < half_way ? low * (fall(min(to, half_way), l) - fall(from, l)) : 0.0;
    // The other half, from its end.
    float right = to > half_way ? high * (fall(min(l - from, half_way), l) - fall(l - to, l)) : 0.0;
    // Area above the run belongs to the pixels below it, and vice versa.
    return vec2(max(left, 0.0) + max(right, 0.0), max(-left, 0.0) + max(-right, 0.0));
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    out_weights = vec4(0.0);
    if (edge(pixel, false)) {
        out_weights.yx = parts(pixel, ivec2(1, 0), ivec2(0, -1), false);
    }
    if (edge(pixel, true)) {
        out_weights.wz = parts(pixel, ivec2(0, 1), ivec2(-1, 0), true);
    }
}
