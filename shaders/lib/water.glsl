// Light below a level water surface (docs/water.md): illuminance (lx) by lights and sky, and single
// scattering (nits). src/photometry/water.rs has the constants. The including shader declares
// `frame`; lights.glsl comes before it.
#ifndef LIB_WATER
#define LIB_WATER
#include "lib/features.glsl"
#include "lib/water_optics.glsl"

// Transmittance of a level surface for uniform light from above, and its reflectance for uniform
// light from below (both tested against src/photometry/water.rs).
const float WATER_LETS_IN = 0.9337;
const float WATER_REFLECTS_WITHIN = 0.4745;
// Mean of 1 / cosine over the transmitted light of a uniform sky, and over uniform light.
const float WATER_SKY_PATH = 1.19;
const float WATER_EVEN_PATH = 1.66;

// Water around the shaded position, or NONE.
uint in_water = NONE;

bool is_underwater() {
    return has_feature(FEATURE_WATER) && in_water != NONE;
}

// Caustics: irradiance of the strongest sun through the rippled surface over that through a level
// surface, by entry position (pass `caustics`). Not read where there is none.
layout(set = 0, binding = 58, scalar) readonly buffer caustic_block { float caustics[]; };

float caustic_texel(ivec2 at, ivec2 size, uint first) {
    ivec2 within = clamp(at, ivec2(0), size - 1);
    return caustics[first + uint(within.y * size.x + within.x)];
}

// Caustics at a surface position, by x and z.
float water_caustics(vec2 entry) {
    vec4 map = frame.water_caustics[in_water];
    if (map.x == 0.0) {
        return 1.0;
    }
    vec4 place = frame.water_extent[in_water];
    vec2 at = (entry - place.xy) / (place.zw - place.xy) * map.xy - 0.5;
    ivec2 corner = ivec2(floor(at));
    vec2 part = at - vec2(corner);
    ivec2 size = ivec2(map.xy);
    uint first = uint(map.z) * 4096u + uint(map.w);
    float above = mix(caustic_texel(corner, size, first),
        caustic_texel(corner + ivec2(1, 0), size, first), part.x);
    float below = mix(caustic_texel(corner + ivec2(0, 1), size, first),
        caustic_texel(corner + 1, size, first), part.x);
    return mix(above, below, part.y);
}

// Index of the water around a position (relative to the camera), or NONE. As in all loops here, no
// condition depends on uniform values alone: lavapipe would compile the shader again for each draw
// (docs/denoiser.md, "Passes").
uint water_at(vec3 p) {
    uint found = NONE;
    for (uint i = 0u; has_feature(FEATURE_WATER) && found == NONE && i < frame.water_count; ++i) {
        vec4 place = frame.water_extent[i];
        float skin = 1e-4 + 2e-6 * (abs(p.x) + abs(p.z));
        bool inside = frame.water_medium[i].w - p.y > skin && all(greaterThan(p.xz, place.xy))
            && all(lessThan(p.xz, place.zw));
        found = inside ? i : NONE;
    }
    return found;
}

// Illuminance by a light without a surface: as light_illuminance, or through the water. `from`:
// unit direction to the light above the water; `entry`: where the light enters the water.
vec3 arriving_light(Light light, vec3 position, out vec3 to_light, out vec3 from, out vec3 entry) {
    bool directional = (light.kind & LIGHT_KIND_BITS) == LIGHT_DIRECTIONAL;
    entry = position;
    vec3 straight = light_illuminance(light, directional, position, to_light);
    from = to_light;
    if (!is_underwater()) {
        return straight;
    }
    vec3 extinction = frame.water_medium[in_water].rgb;
    float depth = frame.water_medium[in_water].w - position.y;
    if (directional) {
        float c = from.y;
        if (c <= 0.0) {
            return vec3(0.0);
        }
        float t = water_cosine(c);
        to_light = vec3(from.x / WATER_IOR, t, from.z / WATER_IOR);
        entry = position + to_light * (depth / t);
        // The flux through a level plane is conserved.
        float gathered = (light.kind & LIGHT_CAUSTICS) != 0u ? water_caustics(entry.xz) : 1.0;
        return straight * (gathered * (1.0 - water_fresnel(c)) * c / t)
            * exp(-extinction * (depth / t));
    }
    vec3 d = light.position - position;
    float above = light.position.y - frame.water_medium[in_water].w;
    if (above <= 0.0) {
        return straight * exp(-extinction * length(d));
    }
    // Refraction point by Fermat's principle: n sin t = sin i, by Newton iterations from the
    // deep-water estimate.
    float r = length(d.xz);
    float x = r * depth / (depth + above * WATER_IOR);
    for (int i = 0; i < 4; ++i) {
        float y = r - x;
        float in_length = sqrt(x * x + depth * depth);
        float out_length = sqrt(y * y + above * above);
        float f = WATER_IOR * x / in_length - y / out_length;
        float slope = WATER_IOR * depth * depth / (in_length * in_length * in_length)
            + above * above / (out_length * out_length * out_length);
        x = clamp(x - f / slope, 0.0, r);
    }
    vec2 way = r > 1e-9 ? d.xz / r : vec2(0.0);
    entry = position + vec3(way.x * x, depth, way.y * x);
    from = normalize(light.position - entry);
    to_light = normalize(entry - position);
    float c = max(from.y, 1e-4);
    float t = max(to_light.y, 1e-4);
    // Flux of a thin cone over its area on a level plane: r = above tan i + depth tan t,
    // differentiated.
    float spread = (above / c + depth / (WATER_IOR * t))
        * (above / (c * c) + depth * c / (WATER_IOR * t * t * t));
    float cone = clamp(dot(light.direction, -from) * light.spot_scale + light.spot_offset, 0.0,
        1.0);
    float r2 = dot(d, d) * light.inverse_range2;
    float window = clamp(1.0 - r2 * r2, 0.0, 1.0);
    return light.intensity * (cone * cone * window * (1.0 - water_fresnel(c)) / (spread * t))
        * exp(-extinction * (depth / t));
}

// Transmittance of the water along a straight path, for area lights and environment light.
vec3 water_on_the_way(vec3 position, vec3 to_light) {
    if (!is_underwater()) {
        return vec3(1.0);
    }
    float depth = frame.water_medium[in_water].w - position.y;
    float c = clamp(to_light.y, 0.05, 1.0);
    return (1.0 - water_fresnel(c))
        * exp(-frame.water_medium[in_water].rgb * (depth / water_cosine(c)));
}

// Illuminance by a uniform sky of an underwater plane, over that of a level plane in air.
// Underwater the sky is a cone of half angle asin(1/n), which a plane faces fully, partly or not at
// all.
vec3 water_sky(vec3 position, vec3 normal) {
    float depth = frame.water_medium[in_water].w - position.y;
    // Half angle of 48.6 degrees, cosine 0.661, sine 0.75: exact above 0.75 and below -0.75; 0.187
    // instead of 0.199 for vertical planes.
    float c = normal.y;
    float seen = c > 0.75 ? c : max(c + 0.75, 0.0) * max(c + 0.75, 0.0) / 3.0;
    return WATER_LETS_IN * seen * exp(-WATER_SKY_PATH * depth * frame.water_medium[in_water].rgb);
}

// Gain of diffuse light by internal reflection at the surface, which returns light of the
// surrounding bed 2.3 depths away and farther. Assumes that the bed is lit like this position.
vec3 water_returns(vec3 position) {
    if (!is_underwater()) {
        return vec3(1.0);
    }
    float depth = frame.water_medium[in_water].w - position.y;
    vec3 through = exp(-2.0 * WATER_EVEN_PATH * depth * frame.water_medium[in_water].rgb);
    return 1.0 / (1.0 - WATER_REFLECTS_WITHIN * frame.water_bed[in_water].rgb * through);
}

// Single-scattered luminance (nits by channel) along a path of length t in water, isotropic: the
// integral over depth of sun and sky light times the transmittance back, in closed form. `sky`:
// illuminance of the surface by the environment (lx); `lit`: visible fraction (by channel) of the
// first suns at the surface.
vec3 water_scatters(uint water, float depth, vec3 direction, float t, vec3 sky,
    vec3 lit[MAX_WATER_SUNS], uint suns) {
    vec3 extinction = max(frame.water_medium[water].rgb, vec3(1e-7));
    vec3 scattering = frame.water_scatter[water].rgb;
    // Depth gained per meter of the path.
    float down = -direction.y;
    t = min(t, 1e4);
    vec3 sum = vec3(0.0);
    suns = t > 0.0 ? min(suns, MAX_WATER_SUNS) : 0u;
    for (uint i = 0u; i <= suns; ++i) {
        bool is_sky = i == suns;
        float slant = WATER_SKY_PATH;
        vec3 fluence = sky * (WATER_LETS_IN * WATER_SKY_PATH);
        if (!is_sky) {
            float c = -lights[i].direction.y;
            if (c <= 0.0) {
                continue;
            }
            slant = 1.0 / water_cosine(c);
            fluence = lights[i].intensity * ((1.0 - water_fresnel(c)) * c * slant * lit[i]);
        }
        vec3 rate = extinction * (1.0 + down * slant);
        // Toward the surface the light increases along the path: the rate may be zero or negative.
        vec3 x = rate * t;
        vec3 filled = mix((1.0 - exp(-x)) / rate, vec3(t), lessThan(abs(x), vec3(1e-4)));
        sum += fluence * exp(-extinction * (slant * depth)) * filled;
    }
    return scattering * sum / (4.0 * PI);
}

#endif
