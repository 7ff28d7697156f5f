// Lights in volumes: selection along a view ray, equiangular sampling and visibility. The including
// shader declares `frame` and `lights`.
#ifndef LIB_VOLUMES_LIGHTS
#define LIB_VOLUMES_LIGHTS

// Maximum lights evaluated per view ray; more lights are sampled randomly.
const uint MAX_VOLUME_LIGHTS = 8u;

uint light_indices[MAX_VOLUME_LIGHTS];
float light_weights[MAX_VOLUME_LIGHTS];
uint selected_light_count;

// Bounding radius of the emitter.
float light_radius(Light emitter) {
    uint kind = emitter.kind & LIGHT_KIND_BITS;
    if (kind == LIGHT_POINT) {
        return 0.0;
    }
    if (kind == LIGHT_RECTANGLE) {
        return length(vec2(emitter.half_width, emitter.half_height));
    }
    if (kind == LIGHT_TUBE) {
        return emitter.half_width + emitter.half_height;
    }
    return kind == LIGHT_TRIANGLE ? max(emitter.half_width, emitter.half_height)
        : emitter.half_width;
}

float emitter_area(Light emitter) {
    uint kind = emitter.kind & LIGHT_KIND_BITS;
    float r = emitter.half_width;
    return kind == LIGHT_SPHERE || kind == LIGHT_DISK ? PI * r * r
        : kind == LIGHT_RECTANGLE ? 4.0 * r * emitter.half_height
        : kind == LIGHT_TUBE ? r * (4.0 * emitter.half_height + PI * r)
        : kind == LIGHT_TRIANGLE ? 0.5 * r * emitter.half_height : 1.0;
}

// Position of the closest approach of a view ray to a light, and its distance, at least the light's
// radius.
vec2 closest_approach(Light emitter, vec3 origin, vec3 d) {
    vec3 to = emitter.position - origin;
    float along = dot(to, d);
    vec3 off = to - d * along;
    float radius = light_radius(emitter);
    return vec2(along, sqrt(max(dot(off, off) + radius * radius, 1e-12)));
}

// Angle that a segment of a view ray subtends at a light, without cancellation.
float subtended_angle(vec2 passed, float a, float b) {
    return atan(passed.y * (b - a), passed.y * passed.y + (a - passed.x) * (b - passed.x));
}

// Selects the lights of a view ray: all if they are few, else samples by their maximum
// contribution, with unbiased weights.
void sample_volume_lights(vec3 origin, vec3 d, float begin, float end, uvec2 seed, uint number) {
    uint all = frame.light_count - frame.directional_count;
    selected_light_count = min(all, MAX_VOLUME_LIGHTS);
    for (uint k = 0u; k < selected_light_count; ++k) {
        light_indices[k] = frame.directional_count + k;
        light_weights[k] = 1.0;
    }
    if (all <= MAX_VOLUME_LIGHTS) {
        return;
    }
    float sum = 0.0;
    uint dice[MAX_VOLUME_LIGHTS];
    float chosen[MAX_VOLUME_LIGHTS];
    for (uint k = 0u; k < MAX_VOLUME_LIGHTS; ++k) {
        dice[k] = random(random(random(seed.x) + seed.y) + number * MAX_VOLUME_LIGHTS + k);
        chosen[k] = 0.0;
    }
    for (uint i = 0u; i < all; ++i) {
        Light emitter = lights[frame.directional_count + i];
        vec2 passed = closest_approach(emitter, origin, d);
        float strength = max(emitter.intensity.r, max(emitter.intensity.g, emitter.intensity.b))
            * emitter_area(emitter);
        float weight = strength * subtended_angle(passed, begin, end) / passed.y;
        sum += weight;
        // Chao 1982, "A general purpose unequal probability sampling plan": independent reservoirs
        // of size one.
        for (uint k = 0u; k < MAX_VOLUME_LIGHTS; ++k) {
            dice[k] = random(dice[k]);
            if (float(dice[k] >> 8u) * (1.0 / 16777216.0) * sum < weight) {
                light_indices[k] = frame.directional_count + i;
                chosen[k] = weight;
            }
        }
    }
    for (uint k = 0u; k < MAX_VOLUME_LIGHTS; ++k) {
        light_weights[k] = chosen[k] > 0.0 ? sum / (float(MAX_VOLUME_LIGHTS) * chosen[k]) : 0.0;
    }
}

// Sample of a step for one light.
struct LightStep {
    vec3 position;
    float distance;            // along the view ray (m)
    float way;                 // sample weight (m)
};

// Equiangular sample: uniform in the angle that the step subtends at the light. A factor 1/(d^2 +
// r^2) over the step is integrated exactly, all else in the mean.
LightStep sample_equiangular(Light emitter, vec3 origin, vec3 d, vec2 ends, float shift) {
    vec2 passed = closest_approach(emitter, origin, d);
    float angle = subtended_angle(passed, ends.x, ends.y);
    // From the nearer end, by the tangent of a difference.
    float tangent = tan(angle * shift);
    float x = ends.x - passed.x;
    float t = ends.x + tangent * (passed.y * passed.y + x * x) / max(passed.y - x * tangent, 1e-20);
    t = clamp(t, ends.x, ends.y);
    float at = t - passed.x;
    return LightStep(origin + d * t, t, angle / passed.y * (at * at + passed.y * passed.y));
}

// Solid angle of a triangle of unit vectors. Van Oosterom and Strackee 1983, equation 8.
float triangle_angle(vec3 a, vec3 b, vec3 c) {
    return abs(2.0 * atan(dot(a, cross(b, c)), 1.0 + dot(a, b) + dot(b, c) + dot(c, a)));
}

// Solid angle (sr) of the emitting side of an area light at distance vector `d`.
float light_solid_angle(Light emitter, vec3 d) {
    uint kind = emitter.kind & LIGHT_KIND_BITS;
    if (kind == LIGHT_SPHERE) {
        float sine2 = emitter.half_width * emitter.half_width / max(dot(d, d), 1e-12);
        return sine2 < 1.0 ? 2.0 * PI * sine2 / (1.0 + sqrt(1.0 - sine2)) : 4.0 * PI;
    }
    vec3 right = emitter.right;
    vec3 up = cross(emitter.direction, emitter.right);
    bool two = (emitter.kind & LIGHT_TWO_SIDED) != 0u || kind == LIGHT_TUBE;
    if (!two && dot(d, emitter.direction) >= 0.0) {
        return 0.0;
    }
    if (kind == LIGHT_TRIANGLE) {
        vec3 a = d - (right * (emitter.half_width + emitter.spot_offset) + up * emitter.half_height)
            / 3.0;
        vec3 b = a + right * emitter.half_width;
        vec3 c = a + right * emitter.spot_offset + up * emitter.half_height;
        return triangle_angle(normalize(a), normalize(b), normalize(c));
    }
    vec2 size = vec2(emitter.half_width, emitter.half_height);
    if (kind == LIGHT_TUBE) {
        // Outline: a strip through the axis; each round end counts by its area.
        vec3 facing = d - right * dot(d, right);
        up = normalize(cross(facing, right) + right * 1e-12);
        size = vec2(emitter.half_height + PI / 4.0 * emitter.half_width, emitter.half_width);
    }
    if (kind == LIGHT_DISK) {
        // Twelve triangles with the disk's area.
        const float steps = 12.0;
        float grown = emitter.half_width * sqrt(2.0 * PI / steps / sin(2.0 * PI / steps));
        vec3 middle = normalize(d);
        vec3 last = normalize(d + right * grown);
        float sum = 0.0;
        for (float i = 1.0; i <= steps; i += 1.0) {
            float angle = 2.0 * PI * i / steps;
            vec3 here = normalize(d + (right * cos(angle) + up * sin(angle)) * grown);
            sum += triangle_angle(middle, last, here);
            last = here;
        }
        return sum;
    }
    vec3 a = normalize(d - right * size.x - up * size.y);
    vec3 b = normalize(d + right * size.x - up * size.y);
    vec3 c = normalize(d + right * size.x + up * size.y);
    vec3 e = normalize(d - right * size.x + up * size.y);
    return triangle_angle(a, b, c) + triangle_angle(a, c, e);
}

// Shadow map test of a point in a volume, by its nearest texel.
bool lit_by_map(ShadowMap map, vec4 clip) {
    vec3 ndc = clip.xyz / clip.w;
    vec2 size = vec2(textureSize(shadow_atlas, 0));
    ivec2 low = ivec2(map.rect.xy * size + 0.5);
    ivec2 at = ivec2(floor((map.rect.xy + (ndc.xy * 0.5 + 0.5) * map.rect.zw) * size));
    at = clamp(at, low, low + ivec2(int(map.size) - 1));
    return texelFetch(shadow_atlas, at, 0).x <= max(ndc.z * (1.0 + 1e-4) + 4e-7, 0.0);
}

// Shadow map visibility of a point in a volume (lib/shadow_maps.glsl handles surfaces).
bool lit_by_maps(Light light, vec3 position) {
    uint first = light.shadow;
    ShadowMap map = shadow_maps[first];
    bool cascades = map.count > 1u && map.count != 6u;
    uint count = cascades ? map.count : 1u;
    if (map.count == 6u) {
        vec3 d = position - light.position;
        vec3 size = abs(d);
        uint axis = size.x >= size.y && size.x >= size.z ? 0u : (size.y >= size.z ? 1u : 2u);
        first += 2u * axis + (d[axis] < 0.0 ? 1u : 0u);
    }
    for (uint i = 0u; i < count; ++i) {
        map = shadow_maps[first + i];
        vec4 clip = map.to_clip * vec4(position, 1.0);
        float side = max(abs(clip.x), abs(clip.y));
        if (cascades ? side < 1.0 - 2.0 / map.size : clip.w > 0.0 && side < clip.w) {
            return lit_by_map(map, clip);
        }
    }
    return true;
}

// Illuminance (lx by channel) of a light at a point, on a plane perpendicular to each ray, and the
// direction to the light (unit). Visibility by one ray or texel.
vec3 volume_light(Light emitter, vec3 position, vec2 u, out vec3 to_emitter) {
    uint kind = emitter.kind & LIGHT_KIND_BITS;
    bool has_area = has_feature(FEATURE_AREA_LIGHTS) && kind >= LIGHT_SPHERE;
    bool shadow = frame.shadow_method != SHADOWS_OFF && (emitter.kind & LIGHT_SHADOW) != 0u;
    vec3 lux;
    if (has_area) {
        vec3 d = emitter.position - position;
        to_emitter = normalize(d);
        lux = emitter.intensity * light_solid_angle(emitter, d);
    } else {
        lux = light_illuminance(emitter, kind == LIGHT_DIRECTIONAL, position, to_emitter);
        lux *= profile_factor(emitter, -to_emitter);
        if (shadow && has_feature(FEATURE_SHADOW_MAPS) && emitter.shadow != NONE) {
            return lux != vec3(0.0) && lit_by_maps(emitter, position) ? lux : vec3(0.0);
        }
    }
#ifdef RAY_TRACED_SHADOWS
    if (lux != vec3(0.0) && (has_area || shadow)) {
        ray_origin = position;
        vec4 to = sample_light(emitter, to_emitter, u);
        if (to.w <= 0.0) {
            return vec3(0.0);
        }
        to_emitter = has_area ? normalize(to.xyz) : to_emitter;
        set_bvh_ray_key(position, to.xyz);
        if (shadow && trace_ray(position, to.xyz, vec3(0.0), 1.0 - LIGHT_RAY_MARGIN,
            true).instance != NONE) {
            return vec3(0.0);
        }
    }
#endif
    return lux;
}

#endif
