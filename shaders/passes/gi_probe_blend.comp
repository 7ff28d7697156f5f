#version 460
// Blends the light and the distances of the probes' rays into their octahedral maps, with the
// borders that repeat the texels across each map's edges, and updates the probes' states. A work
// group updates one probe.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/rays.glsl"
#include "shared/gi_probes.glsl"
#include "lib/constants.glsl"
#include "lib/noise.glsl"

layout(local_size_x = 256) in;
layout(push_constant, scalar) uniform update_block { ProbeUpdateConstants update; };
#define PROBE_MAPS_WRITTEN
#include "lib/gi_probes.glsl"
#include "lib/gi_probe_rays.glsl"
layout(set = 0, binding = 1, scalar) readonly buffer ray_block { TraceRay rays[]; };
layout(set = 0, binding = 2, scalar) readonly buffer probe_ray_block { ProbeRay probe_rays[]; };
layout(set = 0, binding = 3, scalar) readonly buffer shadow_hit_block { uint shadow_hits[]; };
layout(set = 0, binding = 61, rgba32f) uniform image2D probe_irradiance_image;
layout(set = 0, binding = 62, rgba16f) uniform image2D probe_visibility_image;
layout(set = 0, binding = 63, rgba32f) uniform image2D probe_state_image;

// Equal to MAX_RAYS of the host.
const uint MAX_RAYS = 256u;
shared vec3 directions[MAX_RAYS];
shared vec3 luminances[MAX_RAYS];
shared float distances[MAX_RAYS];
shared uint traced;

// Smaller weights of rays count nothing.
const float MIN_WEIGHT = 1e-6;
// Part of the distance to a back face that counts: a probe in geometry sees little.
const float BACK_DISTANCE = 0.2;
// Maximum offset of a probe, and its minimum distance to surfaces, in cells.
const float MAX_OFFSET = 0.45;
const float MIN_DISTANCE = 0.25;

// Texel `at` of a map with `texels` along a side that the texels of its border repeat.
ivec2 border_copies(int i, ivec2 at, int texels) {
    int last = texels - 1;
    ivec2 copy = ivec2(-2);
    if (i == 0 && at.x == 0) {
        copy = ivec2(-1, last - at.y);
    } else if (i == 1 && at.x == last) {
        copy = ivec2(texels, last - at.y);
    } else if (i == 2 && at.y == 0) {
        copy = ivec2(last - at.x, -1);
    } else if (i == 3 && at.y == last) {
        copy = ivec2(last - at.x, texels);
    } else if (i == 4 && (at.x == 0 || at.x == last) && (at.y == 0 || at.y == last)) {
        copy = ivec2(at.x == 0 ? texels : -1, at.y == 0 ? texels : -1);
    }
    return copy;
}

vec3 texel_direction(ivec2 at, int texels) {
    return octahedral_direction((vec2(at) + 0.5) / float(texels) * 2.0 - 1.0);
}

void blend_irradiance(ivec2 at, ivec2 tile) {
    vec3 normal = texel_direction(at, PROBE_IRRADIANCE_TEXELS);
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (uint i = 0u; i < update.rays; ++i) {
        float weight = distances[i] >= 0.0 ? max(dot(normal, directions[i]), 0.0) : 0.0;
        sum += weight * luminances[i];
        weights += weight;
    }
    vec3 now = weights > MIN_WEIGHT ? sum * (PI / weights) : vec3(0.0);
    ivec2 corner = tile * (PROBE_IRRADIANCE_TEXELS + 2) + 1;
    if (update.blend < 1.0) {
        now = mix(imageLoad(probe_irradiance_image, corner + at).rgb, now, update.blend);
    }
    imageStore(probe_irradiance_image, corner + at, vec4(now, 1.0));
    for (int i = 0; i < 5; ++i) {
        ivec2 copy = border_copies(i, at, PROBE_IRRADIANCE_TEXELS);
        if (copy.x > -2) {
            imageStore(probe_irradiance_image, corner + copy, vec4(now, 1.0));
        }
    }
}

// Lobe of a visibility texel: the 50th power of the cosine.
float lobe(float cosine) {
    float x2 = cosine * cosine;
    float x4 = x2 * x2;
    float x16 = x4 * x4 * x4 * x4;
    return x16 * x16 * x16 * x2;
}

void blend_visibility(ivec2 at, ivec2 tile) {
    vec3 d = texel_direction(at, PROBE_VISIBILITY_TEXELS);
    vec3 now = vec3(0.0);
    for (uint i = 0u; i < update.rays; ++i) {
        float weight = lobe(max(dot(d, directions[i]), 0.0));
        float reach = distances[i] < 0.0 ? -BACK_DISTANCE * distances[i] : distances[i];
        float x = min(reach / volume.max_distance, 1.0);
        now += weight > MIN_WEIGHT ? weight * vec3(x, x * x, 1.0) : vec3(0.0);
    }
    now /= float(update.rays);
    ivec2 corner = tile * (PROBE_VISIBILITY_TEXELS + 2) + 1;
    if (update.visibility_blend < 1.0) {
        now = mix(imageLoad(probe_visibility_image, corner + at).rgb, now,
            update.visibility_blend);
    }
    imageStore(probe_visibility_image, corner + at, vec4(now, 1.0));
    for (int i = 0; i < 5; ++i) {
        ivec2 copy = border_copies(i, at, PROBE_VISIBILITY_TEXELS);
        if (copy.x > -2) {
            imageStore(probe_visibility_image, corner + copy, vec4(now, 1.0));
        }
    }
}

// The offset, in cells, after a step out of geometry and away from near surfaces: Majercik et al.
// 2021, section 5.
vec3 relocated(vec3 offset, bool inside, vec3 nearest_back, vec3 nearest, vec3 farthest) {
    vec3 moved = offset;
    if (inside) {
        // Through the nearest back face.
        float reach = length(nearest_back);
        moved += nearest_back * ((reach + 0.5 * MIN_DISTANCE) / max(reach, 1e-6));
    } else if (length(nearest) < MIN_DISTANCE) {
        // Away from the nearest surface, toward the farthest one on the other side.
        bool opposite = dot(nearest, farthest) <= 0.0;
        float reach = max(length(farthest), 1e-6);
        moved += opposite ? farthest * (min(reach, MIN_DISTANCE - length(nearest)) / reach)
            : vec3(0.0);
    }
    return all(lessThanEqual(abs(moved), vec3(MAX_OFFSET))) ? moved : offset;
}

void update_state(uint probe, ivec2 tile) {
    vec4 state = (update.flags & PROBES_FIRST) != 0u ? vec4(0.0, 0.0, 0.0, PROBE_FAR)
        : imageLoad(probe_state_image, tile);
    bool is_far = state.w >= PROBE_FAR;
    float back = is_far ? state.w - PROBE_FAR : state.w;
    float count = 0.0;
    float reach = volume.spacing;
    vec3 nearest_back = vec3(1e6);
    vec3 nearest = vec3(1e6);
    vec3 farthest = vec3(0.0);
    for (uint i = 0u; i < update.rays; ++i) {
        vec3 to = directions[i] * (abs(distances[i]) / reach);
        float size = abs(distances[i]);
        if (distances[i] < 0.0) {
            count += 1.0;
            nearest_back = size < length(nearest_back) * reach ? to : nearest_back;
        } else {
            nearest = size < length(nearest) * reach ? to : nearest;
            farthest = size > length(farthest) * reach ? to : farthest;
        }
        // Surfaces of the eight cells around the grid point, and where the gathering's bias
        // reaches.
        is_far = is_far && any(greaterThan(abs(state.xyz + to), vec3(1.0 + PROBE_BIAS)));
    }
    float fraction = count / float(update.rays);
    if ((update.flags & PROBES_RELOCATE) != 0u) {
        state.xyz = relocated(state.xyz, fraction > PROBE_BACK_FACES, nearest_back, nearest,
            farthest);
    }
    back = mix(back, fraction, update.visibility_blend);
    imageStore(probe_state_image, tile, vec4(state.xyz, is_far ? back + PROBE_FAR : back));
}

void main() {
    uint local = gl_LocalInvocationIndex;
    uint place = gl_WorkGroupID.x;
    uint probe = update.first + place;
    if (local == 0u) {
        traced = rays[place * update.rays].reach > 0.0 ? 1u : 0u;
    }
    if (local < update.rays) {
        uint i = place * update.rays + local;
        ProbeRay ray = probe_rays[i];
        directions[local] = rays[i].direction;
        luminances[local] = ray.luminance + (shadow_hits[i] == NONE ? ray.shadowed : vec3(0.0));
        distances[local] = ray.distance;
    }
    barrier();
    if (traced == 0u) {
        return;
    }
    ivec2 tile = probe_texel(probe);
    if (local < uint(PROBE_IRRADIANCE_TEXELS * PROBE_IRRADIANCE_TEXELS)) {
        blend_irradiance(ivec2(local % uint(PROBE_IRRADIANCE_TEXELS),
            local / uint(PROBE_IRRADIANCE_TEXELS)), tile);
    }
    if (update.visibility_blend > 0.0) {
        blend_visibility(ivec2(local % uint(PROBE_VISIBILITY_TEXELS),
            local / uint(PROBE_VISIBILITY_TEXELS)), tile);
    }
    if (local == 0u) {
        update_state(probe, tile);
    }
}
