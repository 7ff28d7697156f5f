// Light from all around: sky or environment map. The including shader declares nothing; `brdf.glsl` comes before it.
#ifndef LIB_ENVIRONMENT
#define LIB_ENVIRONMENT

// src/photometry/environment: the map, then its irradiance, its blurred levels, and the table of reflectances.
layout(set = 0, binding = 30, scalar) readonly buffer environment_block {
    EnvironmentConstants environment;
    vec3 environment_texels[];
};

// As IRRADIANCE_SIZE, SPECULAR_SIZES and DFG_SIZE of the host.
const uint IRRADIANCE_SIZE = 64u;
const uint SPECULAR_LEVELS = 7u;
const uint SPECULAR_SIZES[7] = uint[](256u, 128u, 64u, 64u, 32u, 32u, 32u);
const uint DFG_SIZE = 32u;

// From the world to the map: a turn about the vertical.
vec3 environment_direction(vec3 d) {
    return vec3(d.x * environment.turn_cos + d.z * environment.turn_sin, d.y,
                d.z * environment.turn_cos - d.x * environment.turn_sin);
}

vec3 environment_fetch(uint offset, uint width, uint x, uint y) {
    return environment_texels[offset + y * width + x];
}

// Luminance (nits by channel) that comes from a direction (unit). Interpolated in full precision: the eight bits of
// weight that samplers have would show as bands.
vec3 environment_luminance(vec3 world) {
    vec3 d = environment_direction(world);
    float s = asin(clamp(d.y, -1.0, 1.0)) / (PI * 0.5);
    s = environment.square_rows != 0u ? sign(s) * sqrt(abs(s)) : s;
    float turn = abs(d.x) + abs(d.z) > 0.0 ? atan(d.x, -d.z) : 0.0;
    float x = (turn / (2.0 * PI) + 0.5) * float(environment.width) - 0.5;
    float y = clamp((0.5 - 0.5 * s) * float(environment.height) - 0.5, 0.0, float(environment.height - 1u));
    float x0 = floor(x);
    float y0 = min(floor(y), float(environment.height - 2u));
    uint left = uint(x0 < 0.0 ? x0 + float(environment.width) : x0) % environment.width;
    uint right = (left + 1u) % environment.width;
    uint top = uint(y0);
    vec3 upper = mix(environment_fetch(0u, environment.width, left, top),
                     environment_fetch(0u, environment.width, right, top), x - x0);
    vec3 lower = mix(environment_fetch(0u, environment.width, left, top + 1u),
                     environment_fetch(0u, environment.width, right, top + 1u), x - x0);
    return mix(upper, lower, y - y0);
}

vec3 environment_table(uint offset, uint size, vec2 at) {
    vec2 p = clamp(at, 0.0, 1.0) * float(size - 1u);
    vec2 low = min(floor(p), vec2(float(size - 2u)));
    vec2 f = p - low;
    uint x = uint(low.x);
    uint y = uint(low.y);
    return mix(mix(environment_fetch(offset, size, x, y), environment_fetch(offset, size, x + 1u, y), f.x),
               mix(environment_fetch(offset, size, x, y + 1u), environment_fetch(offset, size, x + 1u, y + 1u), f.x),
               f.y);
}

// An octahedral map about +Y whose outer texels lie on its edges (Cigolle et al. 2014, section 3.2).
vec3 environment_octahedral(uint offset, uint size, vec3 d) {
    d /= abs(d.x) + abs(d.y) + abs(d.z);
    vec2 e = d.y >= 0.0 ? d.xz : (1.0 - abs(d.zx)) * vec2(d.x >= 0.0 ? 1.0 : -1.0, d.z >= 0.0 ? 1.0 : -1.0);
    return environment_table(offset, size, e * 0.5 + 0.5);
}

// Luminance around a direction as a surface of that roughness sees it.
vec3 environment_blurred(vec3 world, float roughness) {
    float level = clamp(roughness, 0.0, 1.0) * float(SPECULAR_LEVELS);
    uint low = min(uint(level), SPECULAR_LEVELS - 1u);
    vec3 d = environment_direction(world);
    uint offset = environment.specular_offset;
    for (uint i = 0u; i + 1u < low; ++i) {
        offset += SPECULAR_SIZES[i] * SPECULAR_SIZES[i];
    }
    vec3 sharp = low == 0u ? environment_luminance(world) : environment_octahedral(offset, SPECULAR_SIZES[low - 1u], d);
    uint next = low == 0u ? offset : offset + SPECULAR_SIZES[low - 1u] * SPECULAR_SIZES[low - 1u];
    return mix(sharp, environment_octahedral(next, SPECULAR_SIZES[low], d), level - float(low));
}

// Luminance of a surface towards the camera under the environment: diffuse and specular parts. Nothing hides the
// environment but the material's own occlusion (0 to 1), which multiplies the diffuse part.
//
// Split sum: Karis 2013, equation 7. The diffuse part takes the irradiance of the normal as though it came evenly, which
// is exact for even light.
void environment_light(Surface s, float occlusion, out vec3 diffuse, out vec3 specular) {
    diffuse = vec3(0.0);
    specular = vec3(0.0);
    if (environment.enabled == 0u) {
        return;
    }
    float nv = clamp(dot(s.normal, s.view), 0.0, 1.0);
    float roughness = sqrt(s.alpha);
    // Scale and bias of F0, and the diffuse reflectance of a white base colour.
    vec3 dfg = environment_table(environment.dfg_offset, DFG_SIZE, vec2(nv, roughness));
    vec3 irradiance = environment_octahedral(environment.irradiance_offset, IRRADIANCE_SIZE, environment_direction(s.normal));
    diffuse = (1.0 - s.metallic) * s.base_color * dfg.z / PI * irradiance * occlusion;
    // The middle of the lobe leans from the mirror direction to the normal: Lagarde and de Rousiers 2014, listing 21.
    vec3 mirrored = reflect(-s.view, s.normal);
    float smoothness = 1.0 - s.alpha;
    vec3 towards = normalize(mix(s.normal, mirrored, smoothness * (sqrt(smoothness) + s.alpha)));
    vec3 f0 = mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic);
    specular = (f0 * dfg.x + dfg.y) * environment_blurred(towards, roughness);
}

#endif
