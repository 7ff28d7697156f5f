#version 460
// Blurs the caustics by the sun's disk and by unresolved slopes: a mean over an ellipse that grows
// with the depth (docs/water.md). Output: irradiance relative to level water.
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

// Maximum steps along a half axis: larger ellipses are sampled more coarsely.
const int MAX_STEPS = 24;

// Mean depth (m) of hits around a texel; 0 without hits.
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
    vec2 meters = (place.zw - place.xy) / vec2(size);
    Light sun = lights[caustics.light];
    vec3 to_sun = -sun.direction;
    float c = to_sun.y;
    float t = water_cosine(c);
    // Shift per depth for a change of light direction or of slope, in the plane of incidence and
    // across it: the derivative of Snell's law. A uniform ellipse of half axis r has the standard
    // deviation r / 2.
    float fine = 2.0 * frame.water_bed[caustics.water].w;
    float along = length(vec2(sun.half_width * c / (WATER_IOR * t * t * t),
        fine * (1.0 - c / (WATER_IOR * t)) / (t * t)));
    float across = length(vec2(sun.half_width / (WATER_IOR * t), fine * (t - c / WATER_IOR) / t));
    float depth = depth_about(texel);
    float coarse = max(meters.x, meters.y);
    // Bilinear deposit and bilinear lookup each add the variance of a tent, a sixth of a texel
    // squared.
    vec2 axes = depth * vec2(along, across);
    axes = sqrt(max(axes * axes - 4.0 / 3.0 * coarse * coarse, vec2(0.5 * coarse * coarse)));
    float level = length(to_sun.xz);
    vec2 way = level > 1e-6 ? to_sun.xz / level : vec2(1.0, 0.0);
    // The ellipse's edge falls from 1 to 0 over one texel.
    float rim = min(axes.x, axes.y) / coarse;
    float reach = max(axes.x, axes.y) * (1.0 + 0.5 / rim);
    ivec2 steps = ivec2(ceil(reach / meters));
    ivec2 stride = (steps + MAX_STEPS - 1) / MAX_STEPS;
    steps = (steps + stride - 1) / stride;
    float sum = 0.0;
    float weights = 0.0;
    for (int y = -steps.y; y <= steps.y; ++y) {
        for (int x = -steps.x; x <= steps.x; ++x) {
            ivec2 at = texel + ivec2(x, y) * stride;
            vec2 off = vec2(ivec2(x, y) * stride) * meters;
            float q = length(vec2(dot(off, way), dot(off, vec2(-way.y, way.x))) / axes);
            float weight = clamp((1.0 - q) * rim + 0.5, 0.0, 1.0);
            if (weight > 0.0 && all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, size))) {
                sum += weight * float(deposits[caustics.first + uint(at.y * size.x + at.x)]);
                weights += weight;
            }
        }
    }
    out_caustics[caustics.first + uint(texel.y * size.x + texel.x)] =
        sum / (weights * CAUSTIC_UNIT);
}
