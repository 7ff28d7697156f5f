#version 460
// How much of each pixel belongs to the neighbour across an edge, from the shape of the edge.
//
// Reshetov 2009, "Morphological Antialiasing", section 2: a run of edges between two pixel rows,
// with the steps at its ends, stands for straight lines from half a pixel off at an end to the
// run's middle; what they cut off a pixel is known exactly. A run whose ends step to the same side
// is left alone: it is the end of something thin or a spot, and what is cut off it here is given to
// nobody. A step that goes on beyond the run is a corner, and keeps most of its shape: Jimenez,
// Echevarria, Sousa and Gutierrez 2012, "SMAA: Enhanced Subpixel Morphological Antialiasing", on
// sharp geometric features. Red: of this pixel to the one above; green: of the one above to this
// one; blue and alpha: the same to the left.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0) uniform texture2D edge_image;
layout(location = 0) out vec4 out_weights;

// The longest run to either side that is looked at (pixels).
const int REACH = 32;

// What is left of the height at a corner.
const float ROUNDING = 0.25;

bool edge(ivec2 pixel, bool across) {
    vec2 e = texelFetch(edge_image, clamp(pixel, ivec2(0), textureSize(edge_image, 0) - 1), 0).xy;
    return (across ? e.x : e.y) > 0.5;
}

// The line's height over the run at its end, by the steps there: half a pixel to one side or none.
float height(bool before, bool after) {
    return before == after ? 0.0 : (before ? 0.5 : -0.5);
}

// The integral of a half's line from its end of height 1 at 0 to 0 at half the length.
float fall(float t, float l) { return t - t * t / l; }

// The parts of the pixels on either side of a run, before it (above or left) in x. `along` is the
// run's direction and `side` points from it to the pixels before it; `across` says which of the two
// directions its edges have.
vec2 parts(ivec2 pixel, ivec2 along, ivec2 side, bool across) {
    int back = 0;
    int forth = 0;
    // Steps end a run, and so does its own end.
    while (back < REACH && edge(pixel - along * (back + 1), across)
           && !edge(pixel - along * back, !across) && !edge(pixel - along * back + side, !across)) {
        ++back;
    }
    while (forth < REACH && edge(pixel + along * (forth + 1), across)
           && !edge(pixel + along * (forth + 1), !across) && !edge(pixel + along * (forth + 1) + side, !across)) {
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
    // The other half, counted from its end.
    float right = to > half_way ? high * (fall(min(l - from, half_way), l) - fall(l - to, l)) : 0.0;
    // Above the run lies what belongs to the pixels below it, and the other way round.
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
