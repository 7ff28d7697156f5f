// Image-based lighting from the sky or environment map and from local probes: irradiance (lx),
// prefiltered luminance (nits) and split-sum reflectance. The including shader declares `frame`;
// `brdf.glsl` comes before it.
#ifndef LIB_ENVIRONMENT
#define LIB_ENVIRONMENT
#include "lib/features.glsl"

// Layout of src/photometry/environment: the map, its irradiance, its prefiltered levels, the DFG
// table; then for each probe the same parts without the table.
layout(set = 0, binding = 30, scalar) readonly buffer environment_block {
    EnvironmentConstants environment;
    vec3 environment_texels[];
};

layout(set = 0, binding = 31, scalar) readonly buffer probe_block { Probe probes[]; };
#include "lib/probes.glsl"
#include "lib/occlusion.glsl"

// Match IRRADIANCE_SIZE, SPECULAR_SIZES and DFG_SIZE of the host.
const uint IRRADIANCE_SIZE = 64u;
const uint SPECULAR_LEVELS = 7u;
const uint SPECULAR_SIZES[7] = uint[](256u, 128u, 64u, 64u, 32u, 32u, 32u);
const uint DFG_SIZE = 32u;

// World to environment direction: a rotation about the vertical axis.
vec3 environment_direction(vec3 d) {
    return vec3(d.x * environment.turn_cos + d.z * environment.turn_sin, d.y,
                d.z * environment.turn_cos - d.x * environment.turn_sin);
}

vec3 environment_fetch(uint offset, uint width, uint x, uint y) {
    return environment_texels[offset + y * width + x];
}

// Offsets of the parts of a map (environment or probe) in texels.
struct LightMap {
    uint texels;
    uint width;
    uint height;
    uint square_rows;
    uint irradiance;
    uint specular;
};

LightMap environment_map() {
    return LightMap(0u, environment.width, environment.height, environment.square_rows,
        environment.irradiance_offset,
                    environment.specular_offset);
}

// Texels of a bilinear lookup and its weights. Interpolated in full precision: the 8-bit filter
// weights of samplers would cause banding.
struct Bilinear {
    uint offset;
    uint width;
    uvec2 x;
    uint top;
    vec2 part;
};

vec3 environment_bilinear(Bilinear at) {
    vec3 upper = mix(environment_fetch(at.offset, at.width, at.x.x, at.top),
        environment_fetch(at.offset, at.width, at.x.y, at.top), at.part.x);
    vec3 lower = mix(environment_fetch(at.offset, at.width, at.x.x, at.top + 1u),
        environment_fetch(at.offset, at.width, at.x.y, at.top + 1u), at.part.x);
    return mix(upper, lower, at.part.y);
}

// Lookup of the map from a unit direction.
Bilinear map_lookup(LightMap map, vec3 d) {
    float s = asin(clamp(d.y, -1.0, 1.0)) / (PI * 0.5);
    s = map.square_rows != 0u ? sign(s) * sqrt(abs(s)) : s;
    float turn = abs(d.x) + abs(d.z) > 0.0 ? atan(d.x, -d.z) : 0.0;
    float x = (turn / (2.0 * PI) + 0.5) * float(map.width) - 0.5;
    float y = clamp((0.5 - 0.5 * s) * float(map.height) - 0.5, 0.0, float(map.height - 1u));
    float x0 = floor(x);
    float y0 = min(floor(y), float(map.height - 2u));
    uint left = uint(x0 < 0.0 ? x0 + float(map.width) : x0) % map.width;
    uint right = (left + 1u) % map.width;
    return Bilinear(map.texels, map.width, uvec2(left, right), uint(y0), vec2(x - x0, y - y0));
}

// Luminance (nits by channel) of the map from a unit direction.
vec3 map_luminance(LightMap map, vec3 d) {
    return environment_bilinear(map_lookup(map, d));
}

// Luminance (nits by channel) of the environment from a unit direction.
vec3 environment_luminance(vec3 world) {
    return map_luminance(environment_map(), environment_direction(world));
}

Bilinear table_lookup(uint offset, uint size, vec2 at) {
    vec2 p = clamp(at, 0.0, 1.0) * float(size - 1u);
    vec2 low = min(floor(p), vec2(float(size - 2u)));
    uint x = uint(low.x);
    return Bilinear(offset, size, uvec2(x, x + 1u), uint(low.y), p - low);
}

vec3 environment_table(uint offset, uint size, vec2 at) {
    return environment_bilinear(table_lookup(offset, size, at));
}

// Octahedral map about +Y whose outer texels lie on its edges (Cigolle et al. 2014, section 3.2).
Bilinear octahedral_lookup(uint offset, uint size, vec3 d) {
    d /= abs(d.x) + abs(d.y) + abs(d.z);
    vec2 e = d.y >= 0.0 ? d.xz
        : (1.0 - abs(d.zx)) * vec2(d.x >= 0.0 ? 1.0 : -1.0, d.z >= 0.0 ? 1.0 : -1.0);
    return table_lookup(offset, size, e * 0.5 + 0.5);
}

vec3 environment_octahedral(uint offset, uint size, vec3 d) {
    return environment_bilinear(octahedral_lookup(offset, size, d));
}

// Prefiltered luminance (nits) around a direction of the map for a perceptual roughness.
vec3 map_blurred(LightMap map, vec3 d, float roughness) {
    float level = clamp(roughness, 0.0, 1.0) * float(SPECULAR_LEVELS);
    uint low = min(uint(level), SPECULAR_LEVELS - 1u);
    // Interpolates levels by lobe width, which is proportional to roughness squared.
    float part = (level * level - float(low * low)) / float(2u * low + 1u);
    uint offset = map.specular;
    for (uint i = 0u; i + 1u < low; ++i) {
        offset += SPECULAR_SIZES[i] * SPECULAR_SIZES[i];
    }
    // Level 0 is the map itself. One call site for all levels: functions are inlined.
    Bilinear whole = map_lookup(map, d);
    vec3 sharp = vec3(0.0);
    vec3 blurred = vec3(0.0);
    for (uint i = 0u; i < 2u; ++i) {
        Bilinear at = whole;
        if (low + i > 0u) {
            uint size = SPECULAR_SIZES[low + i - 1u];
            at = octahedral_lookup(offset, size, d);
            offset += size * size;
        }
        blurred = environment_bilinear(at);
        sharp = i == 0u ? blurred : sharp;
    }
    return mix(sharp, blurred, part);
}

// Parallax correction: the exit point of a ray from the probe's box, as a direction from the
// capture position. Lagarde and Zanuttini 2012, "Local Image-based Lighting With Parallax-corrected
// Cubemap".
vec3 probe_direction(Probe probe, vec3 position, vec3 d) {
    if ((probe.flags & PROBE_PARALLAX) == 0u) {
        return d;
    }
    vec3 local = clamp(position - probe.center, -probe.half_size, probe.half_size);
    vec3 faces = vec3(d.x < 0.0 ? -probe.half_size.x : probe.half_size.x,
                      d.y < 0.0 ? -probe.half_size.y : probe.half_size.y,
                      d.z < 0.0 ? -probe.half_size.z : probe.half_size.z);
    // A ray parallel to a face never hits it.
    vec3 t = vec3(abs(d.x) > 1e-6 ? (faces.x - local.x) / d.x : 1e30,
        abs(d.y) > 1e-6 ? (faces.y - local.y) / d.y : 1e30,
                  abs(d.z) > 1e-6 ? (faces.z - local.z) / d.z : 1e30);
    vec3 to = local + d * min(t.x, min(t.y, t.z)) + probe.center - probe.position;
    float size = length(to);
    return size > 0.0 ? to / size : d;
}

// Offsets of the parts of a probe's map.
LightMap probe_map(Probe probe) {
    uint irradiance = probe.first + probe.width * probe.width / 2u;
    return LightMap(probe.first, probe.width, probe.width / 2u, 0u, irradiance,
                    irradiance + IRRADIANCE_SIZE * IRRADIANCE_SIZE);
}

// False: a later pass adds the specular environment light.
bool add_environment_specular = true;

// True if the scene has an environment.
bool has_environment_map() {
    return has_feature(FEATURE_ENVIRONMENT) && environment.enabled != 0u;
}

// True if there is any environment light.
bool has_environment() {
    return has_environment_map() || has_feature(FEATURE_PROBES) && frame.probe_count != 0u;
}

uint probe_count() {
    return has_feature(FEATURE_PROBES) ? frame.probe_count : 0u;
}

// One of the maps that light a position, by its weight (0 to 1), and the lookup's direction.
struct MapShare {
    LightMap map;
    vec3 direction;
    float weight;
};

// Probe i, or after the last one the environment, which fills the remaining weight. `parallax`:
// corrects the direction by the probe's box.
MapShare map_share(uint i, uint count, vec3 position, vec3 d, bool parallax, inout float rest) {
    if (i == count) {
        return MapShare(environment_map(), environment_direction(d),
            has_environment_map() ? rest : 0.0);
    }
    MapShare share = MapShare(probe_map(probes[i]),
        parallax ? probe_direction(probes[i], position, d) : d,
        rest * probe_weight(probes[i], position));
    rest -= max(share.weight, 0.0);
    share.weight = (probes[i].flags & PROBE_CAPTURED) != 0u ? share.weight : 0.0;
    return share;
}

// Illuminance (lx by channel) of a plane from the environment. Probes whose box contains the
// position (relative to the camera) come first, small ones first; the environment fills the
// remaining weight.
vec3 environment_irradiance(vec3 position, vec3 normal) {
    vec3 sum = vec3(0.0);
    float rest = 1.0;
    uint count = probe_count();
    for (uint i = 0u; i <= count; ++i) {
        MapShare share = map_share(i, count, position, normal, false, rest);
        if (share.weight > 0.0) {
            sum += share.weight * environment_octahedral(share.map.irradiance, IRRADIANCE_SIZE,
                share.direction);
        }
    }
    return sum;
}

// Prefiltered luminance (nits by channel) around a direction for a perceptual roughness, with the
// same weights.
vec3 prefiltered_environment(vec3 position, vec3 towards, float roughness) {
    vec3 sum = vec3(0.0);
    float rest = 1.0;
    uint count = probe_count();
    for (uint i = 0u; i <= count; ++i) {
        MapShare share = map_share(i, count, position, towards, true, rest);
        if (share.weight > 0.0) {
            sum += share.weight * map_blurred(share.map, share.direction, roughness);
        }
    }
    return sum;
}

// Multi-bounce ambient occlusion: interreflection among occluders with this surface's reflectance.
// Jimenez et al. 2016, polynomial fit of the near-field global illumination.
vec3 multi_bounce_ao(float visible, vec3 reflectance) {
    vec3 a = 2.0404 * reflectance - 0.3324;
    vec3 b = -4.7951 * reflectance + 0.6417;
    vec3 c = 2.7552 * reflectance + 0.6903;
    return max(vec3(visible), ((visible * a + b) * visible + c) * visible);
}

// DFG table: scale and bias of F0, and the diffuse reflectance of a white base color.
vec3 environment_reflectances(Surface s) {
    return environment_table(environment.dfg_offset, DFG_SIZE,
        vec2(clamp(dot(s.normal, s.view), 0.0, 1.0), sqrt(s.alpha)));
}

// Dominant direction of a lobe, between the mirror direction and the normal: Lagarde and de
// Rousiers 2014, listing 21.
vec3 lobe_middle(vec3 n, vec3 v, float alpha) {
    float smoothness = 1.0 - alpha;
    return normalize(mix(n, reflect(-v, n), smoothness * (sqrt(smoothness) + alpha)));
}

// Specular environment reflection (nits) toward the camera, without occlusion. Split sum: Karis
// 2013, equation 7.
vec3 environment_reflection(Surface s) {
    vec3 dfg = environment_reflectances(s);
    vec3 reflected =
        prefiltered_environment(s.position, lobe_middle(s.normal, s.view, s.alpha), sqrt(s.alpha));
    vec3 f0 = mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic);
    return (f0 * dfg.x + dfg.y) * reflected;
}

// Diffuse and specular luminance (nits) of a surface toward the camera under the environment.
//
// The diffuse part uses the irradiance about the bent normal as uniform light, which is exact for a
// uniform environment.
void environment_light(Surface s, AmbientVisibility v, out vec3 diffuse, out vec3 specular) {
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    if (!has_environment()) {
        return;
    }
    vec3 dfg = environment_reflectances(s);
#ifdef LIB_WATER
    bool under = is_underwater();
    vec3 irradiance = environment_irradiance(s.position,
        under ? vec3(0.0, 1.0, 0.0) : v.bent_normal);
    irradiance *= under ? water_sky(s.position, v.bent_normal) : vec3(1.0);
#else
    vec3 irradiance = environment_irradiance(s.position, v.bent_normal);
#endif
    vec3 reflectance = (1.0 - s.metallic) * s.base_color * dfg.z;
    vec3 visible =
        (frame.bits & FRAME_MULTI_BOUNCE_AO) != 0u ? multi_bounce_ao(v.ambient, reflectance)
            : vec3(v.ambient);
    diffuse = reflectance / PI * irradiance * visible;
    if (add_environment_specular) {
        specular = environment_reflection(s) * specular_visibility(s, v);
#ifdef LIB_WATER
        // Underwater, a surface mirrors the sky cone and the bed: approximated by its irradiance.
        if (under) {
            specular = (mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic) * dfg.x + dfg.y)
                * irradiance / PI * v.map;
        }
#endif
    }
}

#endif
