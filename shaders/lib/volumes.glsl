// Transmittance and density of participating media (docs/volumes.md). The including shader has
// shared/frame.glsl.
#ifndef LIB_VOLUMES
#define LIB_VOLUMES
#include "shared/volumes.glsl"
#include "lib/features.glsl"

layout(set = 0, binding = 60, scalar) readonly buffer volume_block {
    VolumeConstants volume_head;
    Volume volumes[];
};
// Density of each voxel and of the next one along x, as half floats.
layout(set = 0, binding = 61, scalar)
    readonly buffer volume_density_block { uint volume_densities[]; };

vec3 to_volume(uint i, vec4 p) {
    return vec3(dot(volumes[i].rows[0], p), dot(volumes[i].rows[1], p), dot(volumes[i].rows[2], p));
}

// Interpolates between two voxels along x.
float volume_row(uint voxel, float part) {
    vec2 pair = unpackHalf2x16(volume_densities[voxel]);
    return mix(pair.x, pair.y, part);
}

// Density at a position of the box: trilinear between voxel centers.
float volume_density(uint i, vec3 place) {
    uint first = volumes[i].first;
    if (first == NONE) {
        return 1.0;
    }
    uvec3 size = volumes[i].size;
    vec3 x = clamp(place * vec3(size) - 0.5, vec3(0.0), vec3(size - 1u));
    uvec3 low = min(uvec3(x), size - 1u);
    uvec3 high = min(low + 1u, size - 1u);
    vec3 f = x - vec3(low);
    uint z0 = first + low.z * size.y * size.x + low.x;
    uint z1 = first + high.z * size.y * size.x + low.x;
    float near = mix(volume_row(z0 + low.y * size.x, f.x), volume_row(z0 + high.y * size.x, f.x),
        f.y);
    float far = mix(volume_row(z1 + low.y * size.x, f.x), volume_row(z1 + high.y * size.x, f.x),
        f.y);
    return mix(near, far, f.z);
}

// Ray interval inside a volume, from x to y in units of the direction; empty where y is not
// greater.
vec2 volume_span(uint i, vec3 origin, vec3 direction, float limit) {
    vec3 o = to_volume(i, vec4(origin, 1.0));
    vec3 d = to_volume(i, vec4(direction, 0.0));
    // Avoids division by zero for rays parallel to a face.
    d = mix(d, mix(vec3(1e-20), vec3(-1e-20), lessThan(d, vec3(0.0))),
        lessThan(abs(d), vec3(1e-20)));
    vec3 a = -o / d;
    vec3 b = (1.0 - o) / d;
    vec3 near = min(a, b);
    vec3 far = max(a, b);
    return vec2(max(max(max(near.x, near.y), near.z), 0.0),
        min(min(min(far.x, far.y), far.z), limit));
}

// Optical depth (by channel) along a ray; `shift` (0 to 1) is the sample position within each step.
vec3 volume_depth(vec3 origin, vec3 direction, float limit, float shift) {
    vec3 depth = vec3(0.0);
    for (uint i = 0u; i < volume_head.count; ++i) {
        vec2 span = volume_span(i, origin, direction, limit);
        float way = span.y - span.x;
        if (way > 0.0) {
            float mean = 1.0;
            if (volumes[i].first != NONE) {
                // Samples advance by a constant step in grid space.
                vec3 from = to_volume(i, vec4(origin + direction * span.x, 1.0));
                vec3 step = to_volume(i, vec4(direction * way, 0.0))
                    / float(volume_head.shadow_steps);
                mean = 0.0;
                for (uint k = 0u; k < volume_head.shadow_steps; ++k) {
                    mean += volume_density(i, from + step * (float(k) + shift));
                }
                mean /= float(volume_head.shadow_steps);
            }
            depth += volumes[i].extinction * (mean * way * length(direction));
        }
    }
    return depth;
}

// Transmittance of the volumes toward a light, taken at its center.
vec3 volume_transmittance_to_light(Light light, vec3 position, float shift) {
    if (!has_feature(FEATURE_VOLUMES) || volume_head.count == 0u) {
        return vec3(1.0);
    }
    bool directional = (light.kind & LIGHT_KIND_BITS) == LIGHT_DIRECTIONAL;
    vec3 way = directional ? -light.direction : light.position - position;
    float distance = directional ? 1e9 : length(way);
    return exp(-volume_depth(position, directional ? way : way / max(distance, 1e-20), distance,
        shift));
}

#endif
