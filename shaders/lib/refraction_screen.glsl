// Refracted light in screen space (pre-exposed): the lit opaque image where the refracted ray hits
// it, with the depth of back faces (docs/extended-materials.md).
#ifndef LIB_REFRACTION_SCREEN
#define LIB_REFRACTION_SCREEN

// Back faces of refractive volumes: depth bits and packed normal.
layout(set = 0, binding = 18) uniform utexture2D back_face_image;

// A rough pane's lobe already includes transmitted sunlight (evaluate_extended_brdf); the sun disks
// in the image would count twice.
bool skip_suns = false;

// Pre-exposed light along a ray (unit direction): from the image where the ray hits a visible
// surface, else from the environment. `spread`: tangent of half the angle of the lookup's cone.
// `only_environment`: not from the image, and without the pre-exposure.
vec3 light_along(Surface s, vec3 from, vec3 d, float spread, bool only_environment) {
    float per_meter = dot(d, frame.forward.xyz);
    float start = dot(from, frame.forward.xyz);
    vec2 place;
    bool seen = place_of(from, place) && !only_environment;
    vec3 p = from;
    float t = 0.0;
    bool sky = false;
    // Fixed-point iteration: advances the ray to the image depth at its projected position.
    for (int i = 0; i < 6 && seen; ++i) {
        float there = background_distance(place);
        sky = there <= 0.0;
        // Rays toward the viewer hit no visible surface.
        if (per_meter < 0.02) {
            seen = false;
            break;
        }
        float next = sky ? 1e5 : max((there - start) / per_meter, 0.0);
        // Later steps are halved, which prevents oscillation at an edge.
        t = i > 2 ? 0.5 * (t + min(next, 1e5)) : min(next, 1e5);
        p = from + d * t;
        seen = place_of(p, place);
    }
    float level = 0.0;
    float share = 1.0;
    if (!seen || sky && skip_suns) {
        if (has_environment()) {
            vec3 luminance = prefiltered_environment(from, d, clamp(sqrt(spread), 0.0, 1.0));
            return only_environment ? luminance : luminance * frame.pre_exposure;
        }
        if (sky && skip_suns) {
            return vec3(0.0);
        }
        place = clamp(place, vec2(0.0), vec2(0.999999));
        share = per_meter < 0.02 ? 0.0 : 1.0;
    } else if (spread > 0.0) {
        // Pixels covered by the spread there.
        float pixel_size = pixel_size_at(dot(p, frame.forward.xyz),
            dot(s.position, frame.forward.xyz));
        level = log2(clamp(spread * t / max(pixel_size, 1e-9), 1.0, 1e4));
    }
    return background_at(place, level) * share;
}

// Back face of the volume behind an image position; false where there is none.
bool back_at(vec2 place, out vec3 position, out vec3 normal) {
    ivec2 pixel = ivec2(place * vec2(frame.size));
    uvec2 texel = texelFetch(back_face_image, pixel, 0).xy;
    vec2 ndc = (vec2(pixel) + 0.5) / vec2(frame.size) * 2.0 - 1.0;
    vec4 p = frame.inverse_projection * vec4(ndc, uintBitsToFloat(texel.x), 1.0);
    position = p.xyz / p.w;
    // Outward.
    normal = unpack_normal(texel.y);
    return texel.x != 0u;
}

// Back face of the image behind a surface.
bool has_back(Surface s, out vec2 place, out vec3 position, out vec3 normal) {
    position = s.position;
    normal = -s.normal;
    bool on = place_of(s.position, place);
    // Back faces in front of the surface do not count.
    return on && back_at(place, position, normal) && dot(position - s.position, s.view) < 0.0;
}

// Light through the surface along one refraction: `h` is the microfacet normal at the entry.
vec3 through_facet(Surface s, Layers y, vec3 h, float eta, float thickness, float spread,
    vec3 absorption) {
    float vh = dot(s.view, h);
    vh = clamp(vh, 0.0, 1.0);
    float into = 1.0 - max3(layer_fresnel(s, y, vh, schlick_weight(vh)).glass);
    vec2 place;
    vec3 back, normal;
    bool known = has_back(s, place, back, normal);
    vec3 exit = s.position;
    vec3 leaves;
    vec3 share;
    // Light reflected at the back face.
    vec3 back_share = vec3(0.0);
    bool has_back_reflection = false;
    vec3 inside = refract(-s.view, h, 1.0 / eta);
    if (y.thin) {
        // Reflection, mirrored to the other side.
        leaves = reflect(-s.view, h);
        leaves -= 2.0 * dot(leaves, s.normal) * s.normal;
        share = into * s.base_color;
        if (known) {
            // Back wall of a hollow body.
            share *= s.base_color * (1.0 - fresnel_exact(min(abs(dot(normal, leaves)), 1.0), eta));
        }
    } else if (dot(inside, s.normal) >= 0.0) {
        return vec3(0.0);
    } else {
        // Exit point: on the tangent plane of the back face at the ray's projected position,
        // iterated (after Wyman 2005, "An Approximate Image-Space Approach for Interactive
        // Refraction"). Without a back face the surface is a slab of the material's thickness.
        float path = thickness / max(-dot(inside, s.normal), 0.05);
        vec3 out_normal = -s.normal;
        if (known) {
            float t = distance(back, s.position);
            for (int i = 0; i < 5; ++i) {
                if (place_of(s.position + inside * t, place) && back_at(place, back, normal)) {
                    float steep = dot(inside, normal);
                    float next = steep > 0.05 ? dot(back - s.position, normal) / steep : t;
                    t = clamp(next, 0.0, 8.0 * distance(back, s.position) + 1e-6);
                    out_normal = normal;
                } else {
                    // Beyond the silhouette: step back toward the volume.
                    t *= 0.7;
                }
            }
            path = t;
        }
        vec3 tint = s.base_color * s.base_color * exp(-absorption * path);
        leaves = refract(inside, -out_normal, eta);
        float out_of = 0.0;
        if (dot(leaves, leaves) > 0.0) {
            float stays = fresnel_exact(clamp(dot(inside, out_normal), 0.0, 1.0), 1.0 / eta);
            out_of = 1.0 - stays;
            has_back_reflection = has_environment();
            back_share = into * into * stays * tint * exp(-absorption * path) * frame.pre_exposure;
        } else {
            // Total internal reflection: the light leaves through a face parallel to the first, if
            // it can.
            vec3 within = reflect(inside, out_normal);
            leaves = dot(within, s.normal) < 0.0 ? refract(within, s.normal, eta) : vec3(0.0);
            leaves = dot(leaves, leaves) > 0.0 ? leaves : within;
            out_of = 1.0;
        }
        share = into * out_of * tint;
        exit = s.position + inside * path;
    }
    // Light reflected at the back face leaves as from a slab: along the surface's own reflection.
    vec3 sum = vec3(0.0);
    for (int i = has_back_reflection ? 0 : 1; i < 2; ++i) {
        bool is_back = i == 0;
        sum += (is_back ? back_share : share) * light_along(s, is_back ? s.position : exit,
            is_back ? reflect(-s.view, h) : leaves, spread, is_back);
    }
    return sum;
}

// Pre-exposed light from below a water surface: the image where the refracted ray hits it, else
// straight behind.
vec3 water_light(Surface s, Layers y, float share) {
    ExtendedMaterial m = layered[materials[material_index].layers];
    float into = 1.0 - fresnel_exact(clamp(dot(s.view, s.normal), 0.0, 1.0), y.ior);
    vec3 d = refract(-s.view, s.normal, 1.0 / y.ior);
    float per_meter = dot(d, frame.forward.xyz);
    float start = dot(s.position, frame.forward.xyz);
    vec2 own = gl_FragCoord.xy / vec2(frame.size);
    vec2 place = own;
    float t = 0.0;
    bool deep = false;
    for (int i = 0; i < 6; ++i) {
        float there = background_distance(place);
        deep = there <= 0.0;
        float next = deep || per_meter < 0.02 ? 1e3 : max((there - start) / per_meter, 0.0);
        t = i > 2 ? 0.5 * (t + next) : next;
        vec2 at;
        // Off-screen hits use the image straight behind the surface.
        if (!place_of(s.position + d * t, at) || background_distance(at) > 0.0
            && background_distance(at) < start) {
            place = own;
            t = water_depth / max(-d.y, 0.05);
            break;
        }
        place = at;
    }
    float pixel_size = pixel_size_at(start + per_meter * t, start);
    float spread = s.alpha > MIN_ALPHA ? 1.5 * (y.ior - 1.0) * s.alpha : 0.0;
    vec3 seen = deep ? vec3(0.0)
        : background_at(place, log2(clamp(spread * t / max(pixel_size, 1e-9), 1.0, 1e4)));
    vec3 through = exp(-m.absorption * t) * seen + water_glow(s.position, d, t);
    return share * into / (WATER_IOR * WATER_IOR) * through;
}

// Pre-exposed light through the surface. Rough surfaces use a few visible GGX normals.
vec3 refracted_light(Surface s, Layers y) {
    float thickness = fragment_thickness(in_scale);
    ExtendedMaterial m = layered[materials[material_index].layers];
    float eta = y.ior;
    float coat = 1.0 - coat_fresnel(s, y);
    float nv = max(dot(s.normal, s.view), 1e-4);
    float share = (1.0 - s.metallic) * y.transmission * coat * below_sheen(y, nv, nv);
    bool smooth_glass = s.alpha <= MIN_ALPHA;
    skip_suns = y.thin && !smooth_glass;
    pixel_at_surface = pixel_size_here();
    if (water_here != NONE) {
        return water_light(s, y, share);
    }
    // Both faces of a volume are rough, and both walls of a hollow body.
    vec2 place;
    vec3 back, normal;
    bool once = y.thin && !has_back(s, place, back, normal);
    float alpha = once ? s.alpha : s.alpha * 1.4142;
    uint facets = smooth_glass ? 1u : 16u;
    // KHR_materials_dispersion: the indices of red and blue differ from green's by half of (ior -
    // 1) 0.025 dispersion.
    float half_spread = (eta - 1.0) * 0.025 * m.dispersion;
    bool disperses = half_spread > 0.0 && !y.thin;
    uint colors = disperses ? 3u : 1u;
    vec3 sum = vec3(0.0);
    vec3 weights = vec3(0.0);
    vec3 t = y.tangent;
    vec3 b = cross(s.normal, t);
    // A single call site: each further one costs shader compilation time.
    for (uint job = 0u; job < facets * colors; ++job) {
        vec3 h = s.normal;
        float weight = 1.0;
        float spread = 0.0;
        if (!smooth_glass) {
            // Slopes in a Vogel spiral (Vogel 1979), at equal shares of the GGX distribution.
            float i = float(job / colors);
            float u = (i + 0.5) / float(facets);
            float slope = alpha * sqrt(u / (1.0 - u));
            float turn = i * 2.39996323;
            h = normalize(s.normal + slope * (cos(turn) * t + sin(turn) * b));
            weight = max(dot(s.view, h), 0.0) / max(dot(s.normal, h), 1e-3);
            // Lookup width of a facet: its share of the lobe's width in directions.
            float bends = y.thin ? 2.0 : eta - 1.0;
            spread = bends * alpha * (1.0 + slope / alpha) * inversesqrt(float(facets)) * 0.5;
        }
        if (weight <= 0.0) {
            continue;
        }
        vec3 color = disperses ? vec3(equal(uvec3(0u, 1u, 2u), uvec3(job % 3u))) : vec3(1.0);
        float index = disperses ? max(eta + (float(job % 3u) - 1.0) * half_spread, 1.0) : eta;
        sum += weight * color * through_facet(s, y, h, index, thickness, spread, m.absorption);
        weights += weight * color;
    }
    return share * sum / max(weights, vec3(1e-12));
}

#endif
