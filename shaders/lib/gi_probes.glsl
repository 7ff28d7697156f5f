// Irradiance volume: positions and states of its probes, their octahedral maps, and the irradiance
// of a surface from the eight probes around it (docs/irradiance-volumes.md). Majercik et al. 2019,
// "Dynamic Diffuse Global Illumination with Ray-Traced Irradiance Fields", JCGT 8(2); Majercik et
// al. 2021, "Scaling Probe-Based Real-Time Dynamic Global Illumination for Production", JCGT 10(2).
// `constants.glsl` comes before it.
#ifndef LIB_GI_PROBES
#define LIB_GI_PROBES
#extension GL_EXT_samplerless_texture_functions : require
#include "lib/octahedral.glsl"

layout(set = 0, binding = 60, scalar) uniform probe_volume_block { ProbeVolumeConstants volume; };
#ifndef PROBE_MAPS_WRITTEN
// Irradiance (lx by channel); visibility: sums of distance, squared distance (over their maximum)
// and weight; states: offset in cells, and the state.
layout(set = 0, binding = 61) uniform texture2D probe_irradiance_image;
layout(set = 0, binding = 62) uniform texture2D probe_visibility_image;
layout(set = 0, binding = 63) uniform texture2D probe_state_image;
#endif

// Match IRRADIANCE_TEXELS and VISIBILITY_TEXELS of the host.
const int PROBE_IRRADIANCE_TEXELS = 8;
const int PROBE_VISIBILITY_TEXELS = 16;
// State of a probe: the fraction of its rays that hit back faces, plus this while no ray has hit a
// surface within a cell.
const float PROBE_FAR = 2.0;
// Above this fraction a probe is inside of geometry, and off.
const float PROBE_BACK_FACES = 0.25;
// Scale of the bias along normal and view direction, in cells.
const float PROBE_BIAS = 0.75 * 0.3;

uvec3 probe_cell(uint probe) {
    return uvec3(probe % volume.counts.x, probe / volume.counts.x % volume.counts.y,
        probe / (volume.counts.x * volume.counts.y));
}

uint probe_index(uvec3 cell) {
    return (cell.z * volume.counts.y + cell.y) * volume.counts.x + cell.x;
}

// Column and row of a probe in the maps.
ivec2 probe_texel(uint probe) {
    return ivec2(probe % volume.columns, probe / volume.columns);
}

vec3 probe_grid_position(uvec3 cell) {
    return volume.origin + vec3(cell) * volume.spacing;
}

bool is_probe_off(vec4 state) {
    float back = state.w >= PROBE_FAR ? state.w - PROBE_FAR : state.w;
    return back > PROBE_BACK_FACES;
}

#ifndef PROBE_MAPS_WRITTEN
// Texels around a direction in a probe's map of this size: the first of four, and the part of the
// others. Borders repeat the texels across the map's edges.
ivec2 probe_lookup(uint probe, int texels, vec3 d, out vec2 part) {
    vec2 at = (octahedral_of(d) * 0.5 + 0.5) * float(texels) + 0.5;
    vec2 low = clamp(floor(at), vec2(0.0), vec2(float(texels)));
    part = at - low;
    return probe_texel(probe) * (texels + 2) + ivec2(low);
}

// Bilinear value of a probe's map with this many texels along a side.
vec3 probe_map(texture2D maps, uint probe, int texels, vec3 d) {
    vec2 part;
    ivec2 at = probe_lookup(probe, texels, d, part);
    vec3 low = mix(texelFetch(maps, at, 0).rgb, texelFetch(maps, at + ivec2(1, 0), 0).rgb, part.x);
    vec3 high = mix(texelFetch(maps, at + ivec2(0, 1), 0).rgb,
        texelFetch(maps, at + ivec2(1, 1), 0).rgb, part.x);
    return mix(low, high, part.y);
}

vec3 probe_irradiance(uint probe, vec3 normal) {
    return probe_map(probe_irradiance_image, probe, PROBE_IRRADIANCE_TEXELS, normal);
}

// Mean distance and mean squared distance to surfaces around a direction, over their maximum.
vec2 probe_visibility(uint probe, vec3 d) {
    vec3 sums = probe_map(probe_visibility_image, probe, PROBE_VISIBILITY_TEXELS, d);
    return sums.z > 0.0 ? sums.xy / sums.z : vec2(1.0);
}

// Upper bound on the fraction of surfaces around a direction that are farther than `distance_`, by
// their mean distance and mean squared distance (Chebyshev's inequality), cubed against leaks.
float chebyshev_visibility(vec2 moments, float distance_) {
    if (distance_ <= moments.x) {
        return 1.0;
    }
    float variance = abs(moments.x * moments.x - moments.y);
    float beyond = distance_ - moments.x;
    float visible = variance / max(variance + beyond * beyond, 1e-12);
    return visible * visible * visible;
}

// Irradiance (lx by channel) of a surface from the volume, and of a plane there that faces
// `toward`. `view`: unit, toward the observer.
vec3 volume_irradiance(vec3 position, vec3 normal, vec3 view, vec3 toward, out vec3 facing) {
    vec3 biased = position + (0.2 * normal + 0.8 * view) * (PROBE_BIAS * volume.spacing);
    vec3 place = clamp((biased - volume.origin) / volume.spacing, vec3(0.0),
        vec3(volume.counts - 1u));
    uvec3 base = min(uvec3(place), volume.counts - 2u);
    vec3 part = place - vec3(base);
    vec3 sum = vec3(0.0);
    facing = vec3(0.0);
    float weights = 0.0;
    for (uint i = 0u; i < 8u; ++i) {
        uvec3 off = uvec3(i, i >> 1u, i >> 2u) & 1u;
        uint probe = probe_index(base + off);
        vec4 state = texelFetch(probe_state_image, probe_texel(probe), 0);
        if (is_probe_off(state)) {
            continue;
        }
        vec3 trilinear = mix(1.0 - part, part, vec3(off));
        float share = trilinear.x * trilinear.y * trilinear.z;
        vec3 at = probe_grid_position(base + off) + state.xyz * volume.spacing;
        // Off-center probes have the weight of their grid point, so that weights are continuous.
        vec3 to_probe = at - position;
        float front = dot(to_probe, normal) * inversesqrt(max(dot(to_probe, to_probe), 1e-12));
        float wrapped = 0.5 * (front + 1.0);
        float weight = wrapped * wrapped + 0.2;
        vec3 from_probe = biased - at;
        float distance_ = length(from_probe);
        vec3 d = distance_ > 0.0 ? from_probe / distance_ : normal;
        weight *= chebyshev_visibility(probe_visibility(probe, d),
            distance_ / volume.max_distance);
        weight = max(weight, 1e-6);
        // Light below the threshold of perception, from probes that hardly see the surface.
        weight *= weight < 0.2 ? weight * weight / 0.04 : 1.0;
        weight *= max(share, 1e-3);
        sum += weight * probe_irradiance(probe, normal);
        facing += weight * probe_irradiance(probe, toward);
        weights += weight;
    }
    float scale = weights > 0.0 ? 1.0 / weights : 0.0;
    facing *= scale;
    return sum * scale;
}
#endif

#endif
