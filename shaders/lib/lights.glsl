// Punctual and directional lights: illuminance (lx by channel) at a point, without exposure.
#ifndef LIB_LIGHTS
#define LIB_LIGHTS

// Direction to the light and the illuminance (lx by channel) on a plane that faces it.
vec3 light_illuminance(Light light, bool directional, vec3 position, out vec3 to_light) {
    if (directional) {
        to_light = -light.direction;
        return light.intensity;
    }
    vec3 d = light.position - position;
    // Inverse-square law. The minimum only keeps a point on the light finite, since a punctual
    // light has no radius.
    float d2 = max(dot(d, d), 1e-12);
    to_light = d * inversesqrt(d2);
    // KHR_lights_punctual, "inner and outer cone angles"; (0, 1) for point lights.
    float cone = clamp(dot(light.direction, -to_light) * light.spot_scale + light.spot_offset, 0.0,
        1.0);
    // KHR_lights_punctual, "range property": 1 - (d/range)^4, not squared; only where the file sets
    // a range.
    float r2 = d2 * light.inverse_range2;
    float window = clamp(1.0 - r2 * r2, 0.0, 1.0);
    return light.intensity * (cone * cone * window / d2);
}

#endif
