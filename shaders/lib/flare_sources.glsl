// Flare sources: constants, projection and light bounds (docs/starburst.md). Readers declare the
// list of pass `flare_sources` as
//     layout(set = 0, binding = N, scalar) readonly buffer flare_source_block {
//         uint bright_count;           // entries, the brightest first
//         uint bright_candidates;      // candidates in total
//         uint bright_dropped;         // candidates without an entry
//         float bright_dropped_light;  // sum of their ranks
//     };
#ifndef LIB_FLARE_SOURCES
#define LIB_FLARE_SOURCES
#include "lib/luminance.glsl"
#include "shared/flare_sources.glsl"

// Pixels along a tile's edge.
const int BRIGHT_TILE = 16;
// Threshold of bright pixels (exposed luminance): one stop above white.
const float BRIGHT = 2.0;
// Visibility threshold: minimum light of a source, summed into one pixel.
const float MIN_SOURCE = 1.0 / 16.0;

// Light of a pixel above the threshold; 0 for NaN and negative light.
vec3 bright_excess(vec3 light) {
    float y = luminance(light);
    return y > BRIGHT ? light * (1.0 - BRIGHT / y) : vec3(0.0);
}

// Unit vector in world axes from the camera through an image position (pixels).
vec3 bright_ray(vec2 place, mat4 inverse_projection, vec2 size) {
    vec4 p = inverse_projection * vec4(place / size * 2.0 - 1.0, 1.0, 1.0);
    return normalize(p.xyz / p.w);
}

// World to camera axes: right, up, back.
vec3 to_camera(vec3 d, vec3 right, vec3 up, vec3 forward) {
    return vec3(dot(d, right), dot(d, up), -dot(d, forward));
}

vec3 from_camera(vec3 d, vec3 right, vec3 up, vec3 forward) {
    return right * d.x + up * d.y - forward * d.z;
}

// Solid angle (sr) of a pixel at a field angle.
float pixel_solid_angle(float pitch, float cosine) {
    return pitch * pitch * cosine * cosine * cosine;
}

// Radius (m) around a light's position that bounds its emitter.
float light_bounding_radius(Light light) {
    uint kind = light.kind & LIGHT_KIND_BITS;
    if (kind == LIGHT_RECTANGLE) {
        return length(vec2(light.half_width, light.half_height));
    }
    if (kind == LIGHT_TUBE) {
        return light.half_width + light.half_height;
    }
    if (kind == LIGHT_TRIANGLE) {
        return light.half_width + length(vec2(light.spot_offset, light.half_height));
    }
    return light.half_width;
}

// Whether a pixel shows a light's emitter. `at`: camera-relative position of the visible surface,
// if there is one.
bool shows_light(Light light, bool is_surface, vec3 at, vec3 ray, float pitch) {
    if ((light.kind & LIGHT_KIND_BITS) == LIGHT_DIRECTIONAL) {
        return !is_surface && length(ray + light.direction) < light.half_width + 1.5 * pitch;
    }
    return is_surface && distance(at, light.position)
        < light_bounding_radius(light) * 1.02 + 2e-3 * length(light.position);
}

#endif
