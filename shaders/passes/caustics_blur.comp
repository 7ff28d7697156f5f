#version 460
// What each texel of the caustics gets, as the sun's disk and slopes too fine for the ripples
// spread it: a mean over an ellipse that grows with the depth there (docs/water.md).
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/caustics.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 2, scalar) readonly buffer deposit_block { uint deposits[]; };
layout(set = 0, binding = 58, scalar) writeonly buffer caustic_block { float out_caustics[]; };
layout(push_constant, scalar) uniform caustics_block { CausticsConstants caustics; };
#include "lib/water_optics.glsl"

// Steps from the middle of an ellipse to its end at most: larger ones are sampled more coarsely.
const int MAX_STEPS = 24;

// Mean depth (m) of what was met about a texel; 0 where nothing was.
float depth_about(ivec2 texel) {
    ivec2 blocks = ivec2((caustics.texels + CAUSTIC_BLOCK - 1u) / CAUSTIC_BLOCK);
    ivec2 middle = texel / int(CAUSTIC_BLOCK);
    float sum = 0.0;
    float count = 0.0;
    for (int y = max(middle.y - 1, 0); y <= min(middle.y + 1, blocks.y - 1); ++y) {
        for (int x = max(middle.x - 1, 0); x <= min(middle.x + 1, blocks.x - 1); ++x) {
            uint word = caustics.all_texels + 2u * (caustics.first_block + uint(y * blocks.x + x));
            sum += float(deposits[word]);
            count += float(deposits[word + 1u]);
        }
    }
    return count > 0.0 ? sum / count * 1e-3 : 0.0;
}

void main() {
    ivec2 size = ivec2(caustics.texels);
    ivec2 texel = ivec2(gl_GlobalInvocationID.xy);
    if (any(greaterThanEqual(texel, size))) {
        return;
    }
    vec4 place = frame.water_extent[caustics.water];
    vec2 metres = (place.zw - place.xy) / vec2(size);
    Light sun = lights[caustics.light];
    vec3 to_sun = -sun.direction;
    float c = to_sun.y;
    float t = water_cosine(c);
    // How far light that comes a little otherwise, or meets a little slope, is shifted at a depth
    // of 1: in the plane of incidence and across it, from Snell's law differentiated. An even
    // ellipse of half axis r deviates by r / 2.
    float fine = 2.0 * frame.water_bed[caustics.water].w;
    float along = length(vec2(sun.half_width * c / (WATER_IOR * t * t * t), fine * (1.0 - c / (WATER_IOR * t)) / (t * t)));
    float across = length(vec2(sun.half_width / (WATER_IOR * t), fine * (t - c / WATER_IOR) / t));
    float depth = depth_about(texel);
    float coarse = max(metres.x, metres.y);
    // Counting by four texels and looking up by four have each the variance of a tent, a sixth of a
    // texel's square.
    vec2 axes = depth * vec2(along, across);
    axes = sqrt(max(axes * axes - 4.0 / 3.0 * coarse * coarse, vec2(0.5 * coarse * coarse)));
    float level = length(to_sun.xz);
    vec2 way = level > 1e-6 ? to_sun.xz / level : vec2(1.0, 0.0);
    // The rim goes from 1 to 0 over a texel.
    float rim = min(axes.x, axes.y) / coarse;
    float reach = max(axes.x, axes.y) * (1.0 + 0.5 / rim);
    ivec2 steps = ivec2(ceil(reach / metres));
    ivec2 stride = (steps + MAX_STEPS - 1) / MAX_STEPS;
    steps = (steps + stride - 1) / stride;
    float sum = 0.0;
    float weights = 0.0;
    for (int y = -steps.y; y <= steps.y; ++y) {
        for (int x = -steps.x; x <= steps.x; ++x) {
            ivec2 at = texel + ivec2(x, y) * stride;
            vec2 off = vec2(ivec2(x, y) * stride) * metres;
            float q = length(vec2(dot(off, way), dot(off, vec2(-way.y, way.x))) / axes);
            float weight = clamp((1.0 - q) * rim + 0.5, 0.0, 1.0);
            if (weight > 0.0 && all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, size))) {
                sum += weight * float(deposits[caustics.first + uint(at.y * size.x + at.x)]);
                weights += weight;
            }
        }
    }
    out_caustics[caustics.first + uint(texel.y * size.x + texel.x)] = sum / (weights * CAUSTIC_UNIT);
}
