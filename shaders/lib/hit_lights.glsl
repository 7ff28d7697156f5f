// Lights at ray hits. The including shader declares `frame`, `lights` and `nodes`, and includes
// lib/light_tree.glsl, lib/area.glsl, lib/lights.glsl, lib/sun_disk.glsl and lib/ies_profiles.glsl.
#ifndef LIB_HIT_LIGHTS
#define LIB_HIT_LIGHTS

// Unshadowed illuminance (lx by channel) of one light at a ray hit, and the luminance of its
// specular highlight; black for surfaces without a specular lobe.
vec3 hit_light_illuminance(Light emitter, Surface s, bool specular_part, out vec3 highlight) {
    uint kind = emitter.kind & LIGHT_KIND_BITS;
    vec3 e, diffuse;
    highlight = vec3(0.0);
    if (kind == LIGHT_POINT || kind == LIGHT_DIRECTIONAL) {
        vec3 l;
        e = light_illuminance(emitter, kind == LIGHT_DIRECTIONAL, s.position, l);
        e *= profile_factor(emitter, -l);
        // half_width is 0 for point lights.
        evaluate_brdf_sun_disk(s, l, emitter.half_width, diffuse, highlight);
        highlight *= e;
        e *= emitter.half_width > 0.0 ? disk_cosine(dot(s.normal, l), sin(emitter.half_width))
            : max(dot(s.normal, l), 0.0);
    } else if (has_feature(FEATURE_AREA_LIGHTS)) {
        AreaIntegrals area;
        integrate_area(emitter, s, specular_part, area);
        e = emitter.intensity * area.irradiance;
        highlight = emitter.intensity
            * (s.base_color * (area.shine.x - area.shine.y) + area.shine.y);
    } else {
        e = vec3(0.0);
    }
    highlight = specular_part ? highlight : vec3(0.0);
    return e;
}

// Chooses a light of a ray hit by `u` in 0 to 1, with its probability: a sun, or a local light by
// the light tree. NONE where no light reaches it.
//
// A choice at random among many lights would be noise that no filter removes: most of the light is
// that of the few lights nearby.
uint choose_hit_light(Surface s, float u, out float probability) {
    probability = 1.0;
    float suns = 0.0;
    for (uint i = 0u; i < frame.directional_count; ++i) {
        suns += luminance(lights[i].intensity);
    }
    float local = 0.0;
    if (frame.node_count > 0u) {
        vec3 to = nodes[0].center - s.position;
        local = luminance(nodes[0].intensity)
            / max(max(dot(to, to), nodes[0].radius * nodes[0].radius), 1e-12);
    }
    // The estimate of the sum of many lights is rough.
    float share = local > 0.0 ? clamp(suns / (suns + local), suns > 0.0 ? 0.25 : 0.0, 0.75)
        : suns > 0.0 ? 1.0 : 0.0;
    if (u < share) {
        u *= suns / share;
        for (uint i = 0u; i < frame.directional_count; ++i) {
            float own = luminance(lights[i].intensity);
            if (u < own || i + 1u == frame.directional_count) {
                probability = share * own / suns;
                return own > 0.0 ? i : NONE;
            }
            u -= own;
        }
    }
    if (!(local > 0.0)) {
        return NONE;
    }
    probability = 1.0 - share;
    return sample_node(0u, clamp((u - share) / (1.0 - share), 0.0, 0.99999994), s,
        Reflector(vec3(1.0), vec3(0.0), false), probability);
}

#endif
