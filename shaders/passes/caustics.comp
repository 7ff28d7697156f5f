#version 460
// variants: USE_RAY_QUERY
// Water caustics: traces uniform bundles of sunlight through the rippled surface, refracts them by
// its slopes, and deposits each hit at the point where a level surface would refract to it
// (docs/water.md). Output: flux relative to level water (CAUSTIC_UNIT) and depths (mm). Integer
// sums are independent of order.
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#endif
#include "shared/frame.glsl"
#include "shared/caustics.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 2, scalar) buffer deposit_block { uint deposits[]; };
layout(push_constant, scalar) uniform caustics_block { CausticsConstants caustics; };
#define WATER_SET 0
#include "lib/water_ripples.glsl"
#include "lib/water_optics.glsl"
#include "lib/bvh.glsl"

void deposit(ivec2 at, float amount) {
    if (all(greaterThanEqual(at, ivec2(0))) && all(lessThan(at, ivec2(caustics.texels)))) {
        atomicAdd(deposits[caustics.first + uint(at.y) * caustics.texels.x + uint(at.x)],
            uint(amount * CAUSTIC_UNIT + 0.5));
    }
}

void main() {
    uvec2 bundles = caustics.texels * CAUSTIC_BUNDLES;
    if (any(greaterThanEqual(gl_GlobalInvocationID.xy, bundles))) {
        return;
    }
    vec4 place = frame.water_extent[caustics.water];
    vec2 size = place.zw - place.xy;
    vec2 span = size / vec2(bundles);
    vec2 at = place.xy + (vec2(gl_GlobalInvocationID.xy) + 0.5) * span;
    vec3 to_sun = -lights[caustics.light].direction;
    vec2 slope = water_ripples(caustics.water, at, vec2(span.x, 0.0), vec2(0.0, span.y)).slope;
    vec3 normal = normalize(vec3(-slope.x, 1.0, -slope.y));
    float c = dot(normal, to_sun);
    vec3 bent = refract(-to_sun, normal, 1.0 / WATER_IOR);
    if (c <= 0.0 || bent.y > -1e-3) {
        return;
    }
    vec3 from = vec3(at.x, frame.water_medium[caustics.water].w, at.y);
    BvhHit hit = trace_ray(from, bent, vec3(0.0, -1.0, 0.0), 1e9, false);
    if (hit.instance == NONE) {
        return;
    }
    float depth = -bent.y * hit.t;
    // Entry point at which level water would refract to the same position.
    vec2 entry = at + hit.t * bent.xz + to_sun.xz * (depth / (WATER_IOR * water_cosine(to_sun.y)));
    vec2 texel = (entry - place.xy) / size * vec2(caustics.texels);
    // Projected area and transmittance of the facet over those of a level surface.
    float lets_in = (1.0 - water_fresnel(c)) / (1.0 - water_fresnel(to_sun.y));
    // Under a sun near the horizon the ratio is unbounded; clamped, thousands of such bundles fit
    // into the counter.
    float share = min(c / (normal.y * to_sun.y) * lets_in, 64.0)
        / float(CAUSTIC_BUNDLES * CAUSTIC_BUNDLES);
    ivec2 corner = ivec2(floor(texel - 0.5));
    vec2 part = texel - 0.5 - vec2(corner);
    deposit(corner, share * (1.0 - part.x) * (1.0 - part.y));
    deposit(corner + ivec2(1, 0), share * part.x * (1.0 - part.y));
    deposit(corner + ivec2(0, 1), share * (1.0 - part.x) * part.y);
    deposit(corner + ivec2(1, 1), share * part.x * part.y);
    if (all(greaterThanEqual(texel, vec2(0.0))) && all(lessThan(texel, vec2(caustics.texels)))) {
        uvec2 block = uvec2(texel) / CAUSTIC_BLOCK;
        uint blocks_across = (caustics.texels.x + CAUSTIC_BLOCK - 1u) / CAUSTIC_BLOCK;
        uint word = caustics.all_texels
            + 2u * (caustics.first_block + block.y * blocks_across + block.x);
        atomicAdd(deposits[word], uint(min(depth * 1000.0, CAUSTIC_DEEPEST)));
        atomicAdd(deposits[word + 1u], 1u);
    }
}
