#version 460
// Starburst sprite of a flare source, added to the image (pre-exposed): the point spread function
// convolved with the source disk. For visible emitters, the light that stays in their own pixels is
// excluded.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/flare_sources.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 2, scalar) readonly buffer burst_block { uint burst_texels[]; };
layout(push_constant, scalar) uniform starburst_constant_block { StarburstConstants burst; };

#include "lib/starburst.glsl"

layout(location = 0) flat in vec4 in_place;
layout(location = 1) flat in vec4 in_light;
layout(location = 0) out vec4 out_light;

// Maximum points of the source disk in the convolution.
const uint TAPS = 24u;

void main() {
    // Image y runs down, the table's up.
    vec2 offset = (gl_FragCoord.xy - in_place.xy) * vec2(1.0, -1.0);
    float disk = in_place.z;
    bool point = in_light.w <= 0.0;
    uint taps = disk < 0.5 ? 1u : min(uint(6.0 + 6.0 * disk), TAPS);
    float side = burst.steps * burst_side(disk);
    float own = point ? 0.0 : 0.5 * side;
    vec3 sum = vec3(0.0);
    for (uint i = 0u; i < taps; ++i) {
        // Vogel 1979, "A better way to construct the sunflower head".
        float radius = taps == 1u ? 0.0 : disk * sqrt((float(i) + 0.5) / float(taps));
        float angle = float(i) * 2.39996323;
        vec2 at = (offset - radius * vec2(cos(angle), sin(angle))) * burst.steps;
        sum += burst_square(at, side, own);
    }
    float share = burst.steps / side;
    vec3 light = in_light.rgb * max(sum, vec3(0.0)) * (share * share / float(taps));
    out_light = vec4(to_half_range(light), 0.0);
}
