// Ray-traced refraction (pre-exposed): rays cross refractive bodies face by face, with reflection
// and transmission at each face (docs/extended-materials.md). An opaque hit takes its light from
// the image where it is visible there; other hits are shaded.
#ifndef LIB_REFRACTION_TRACED
#define LIB_REFRACTION_TRACED
#include "lib/ggx_sampling.glsl"
#ifndef RAY_TRACED_SHADOWS
#include "lib/ray_traced_shadows.glsl"
#endif

// Facets per rough surface for transmission and for reflection; maximum rays per facet, and per
// smooth surface.
const uint FACETS = 16u;
const uint MIRRORED_FACETS = 8u;
const uint FACET_RAYS = 10u;
const uint SMOOTH_RAYS = 32u;
// Paths below this fraction of white, or of the light along them, end.
const float MIN_SHARE = 1.0 / 512.0;
const uint WAITING = 8u;

struct Path {
    vec3 origin;
    vec3 direction;
    vec3 away;           // unit, away from the surface at its origin
    vec3 share;          // throughput to the camera
    uint body;           // extended material of the volume around it, or NONE
    float width;         // footprint (m) of the lookup at its origin
    bool skip_lights;  // light emitters at its end are in the mirroring surface's integral
    bool skip_suns;   // likewise suns
    float reach;         // shadow rays: length, with all the light in `share`; else 0
};

Path path_waiting[WAITING];
uint path_count;
// Index offset for dispersion: -1 red, 0 green and undispersed, 1 blue.
float path_color;
// The facet's sample of the unit square at each further face.
vec2 path_facet;
// A limit has cut paths of the pixel.
bool paths_cut;

// A full stack drops the path of least share.
void path_add(Path path) {
    if (max3(path.share) < MIN_SHARE) {
        return;
    }
    if (path_count < WAITING) {
        path_waiting[path_count++] = path;
        return;
    }
    uint least = 0u;
    for (uint i = 1u; i < WAITING; ++i) {
        least = max3(path_waiting[i].share) < max3(path_waiting[least].share) ? i : least;
    }
    if (max3(path_waiting[least].share) < max3(path.share)) {
        path_waiting[least] = path;
    }
    paths_cut = true;
}

struct HitPoint {
    vec3 position;
    vec3 normal;         // unit shading normal, on the outer side
    vec3 away;           // unit triangle normal, likewise
    uint material;
};

HitPoint make_surface_hit(BvhHit hit, vec3 d) {
    BvhInstance instance = bvh_instances[hit.instance];
    BvhTriangle triangle = bvh_triangles[hit.triangle];
    mat3 rows = mat3(instance.rows[0].xyz, instance.rows[1].xyz, instance.rows[2].xyz);
    vec3 away = triangle_normal(instance, triangle);
    vec3 w = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    vec3 n = w.x * unpack_vertex_normal(triangle.normal_a)
        + w.y * unpack_vertex_normal(triangle.normal_b)
        + w.z * unpack_vertex_normal(triangle.normal_c);
    n = rows * n;
    float l2 = dot(n, n);
    n = l2 > 1e-30 ? n * inversesqrt(l2) : away;
    // The vertex normals define the outer side of both.
    away = dot(away, n) < 0.0 ? -away : away;
    // A shading normal beyond the ray's side of the triangle would leak light.
    n = dot(n, d) * dot(away, d) > 0.0 ? n : away;
    return HitPoint(hit_position(hit), n, away, instance.surface & ~BVH_NO_SHADOW);
}

// Mean base color of a material.
vec3 mean_base_color(Material m) {
    vec3 root = vec3((uvec3(m.mean_color) >> uvec3(0u, 10u, 20u)) & 1023u) / 1023.0;
    return clamp(m.base_color.rgb * root * root, 0.0, 1.0);
}

// Sky rays per off-screen underwater hit.
const uint SKY_RAYS = 4u;

// Queues rays that test sky visibility, through the water surface, of an underwater hit.
void queue_sky_rays(vec3 position, vec3 light) {
    float depth = frame.water_medium[in_water].w - position.y;
    vec2 pixel = gl_FragCoord.xy + frame.noise_shift;
    float across = gradient_noise(pixel);
    float about = gradient_noise(pixel.yx + vec2(53.0, 29.0));
    for (uint i = 0u; i < SKY_RAYS; ++i) {
        // Cosine-weighted in air, as a uniform sky illuminates a level surface.
        float r2 = (float(i) + across) / float(SKY_RAYS);
        float angle = 2.0 * PI * fract(about + float(i) * 0.618034);
        vec2 level = sqrt(r2) * vec2(cos(angle), sin(angle));
        float up = sqrt(1.0 - r2);
        vec2 step = level * (depth / (WATER_IOR * water_cosine(up)));
        vec3 entry = position + vec3(step.x, depth, step.y);
        vec3 share = light * (frame.pre_exposure / float(SKY_RAYS));
        path_add(Path(entry, vec3(level.x, up, level.y), vec3(0.0, 1.0, 0.0), share, NONE, 0.0,
            true, true, 1e9));
    }
}

// Shades an opaque off-screen hit (pre-exposed luminance): emission and environment light on a
// diffuse surface of its mean color. Textured emission stays dark. Lights without a surface queue
// one shadow ray each.
vec3 shade_hit(HitPoint surface_hit, vec3 d, vec3 share) {
    Material m = materials[surface_hit.material];
    float side = dot(surface_hit.away, d) > 0.0 ? -1.0 : 1.0;
    bool glows = (m.flags & MATERIAL_EMISSION_MAP) == 0u
        && (side > 0.0 || (m.flags & MATERIAL_DOUBLE_SIDED) != 0u);
    vec3 light = glows ? m.emission.rgb : vec3(0.0);
    vec3 n = surface_hit.normal * side;
    // Not of uniform values alone, as in lib/water.glsl.
    uint count = (m.flags & MATERIAL_UNLIT) == 0u ? min(frame.light_count, REFRACTION_LIGHTS) : 0u;
    if ((m.flags & MATERIAL_UNLIT) == 0u) {
        vec3 matte = mean_base_color(m) / PI;
        in_water = water_at(surface_hit.position);
        if (has_environment()) {
            bool under = is_underwater();
            vec3 around = matte * environment_irradiance(surface_hit.position,
                under ? vec3(0.0, 1.0, 0.0) : n);
            if (!under) {
                light += around;
            } else if (has_feature(FEATURE_PROBES) && frame.probe_count != 0u) {
                light += around * water_sky(surface_hit.position, n)
                    * water_returns(surface_hit.position);
            } else {
                queue_sky_rays(surface_hit.position,
                    share * around * water_sky(surface_hit.position, n)
                    * water_returns(surface_hit.position));
            }
        }
        vec3 returned = water_returns(surface_hit.position);
        for (uint i = 0u; i < count; ++i) {
            Light emitter = lights[i];
            if ((emitter.kind & LIGHT_KIND_BITS) > LIGHT_DIRECTIONAL) {
                continue;
            }
            bool sun = (emitter.kind & LIGHT_KIND_BITS) == LIGHT_DIRECTIONAL;
            vec3 l, from, entry;
            vec3 e = arriving_light(emitter, surface_hit.position, l, from, entry);
            e *= returned * profile_factor(emitter, -from) * max(dot(n, l), 0.0)
                * frame.pre_exposure;
            float reach = sun ? 1e9 : distance(emitter.position, entry) * (1.0 - LIGHT_RAY_MARGIN);
            reach = (emitter.kind & LIGHT_SHADOW) != 0u && frame.shadow_method != SHADOWS_OFF
                ? reach : 1e-9;
            vec3 away = entry == surface_hit.position ? surface_hit.away * side
                : vec3(0.0, 1.0, 0.0);
            path_add(Path(entry, from, away, share * matte * e, NONE, 0.0, true, true, reach));
        }
    }
    in_water = NONE;
    return share * light * frame.pre_exposure;
}

// Luminance (nits by channel) of the nearest light surface hit before `t`, which becomes its
// distance; w: 1 for a hit. The BVH contains no light surfaces.
vec4 intersect_lights(vec3 from, vec3 d, inout float t) {
    vec4 surface_hit = vec4(0.0);
    // Not of uniform values alone, as in lib/water.glsl.
    bool has_lights = t > 0.0 && has_feature(FEATURE_AREA_LIGHTS)
        && (frame.bits & FRAME_PROBE_CAPTURE) == 0u;
    uint count = has_lights ? min(frame.light_count, REFRACTION_LIGHTS) : 0u;
    for (uint i = 0u; i < count; ++i) {
        Light emitter = lights[i];
        uint kind = (emitter.kind & LIGHT_MESH) != 0u ? LIGHT_TRIANGLE
            : emitter.kind & LIGHT_KIND_BITS;
        vec3 to = emitter.position - from;
        float at = -1.0;
        if (kind == LIGHT_SPHERE || kind == LIGHT_TUBE) {
            // A tube is a sphere swept along its axis.
            float along = kind == LIGHT_TUBE ? dot(d, emitter.right) : 0.0;
            vec3 across = d - along * emitter.right;
            vec3 off = kind == LIGHT_TUBE ? to - dot(to, emitter.right) * emitter.right : to;
            float a = max(dot(across, across), 1e-12);
            float b = dot(across, off);
            float inside = b * b - a * (dot(off, off) - emitter.half_width * emitter.half_width);
            at = inside >= 0.0 ? (b - sqrt(inside)) / a : -1.0;
            float place = at * along - dot(to, emitter.right);
            if (kind == LIGHT_TUBE && abs(place) > emitter.half_height) {
                // Past the straight part: the round end.
                vec3 end = to + emitter.right * (sign(place) * emitter.half_height);
                b = dot(d, end);
                inside = b * b - (dot(end, end) - emitter.half_width * emitter.half_width);
                at = inside >= 0.0 ? b - sqrt(inside) : -1.0;
            }
        } else if (kind == LIGHT_RECTANGLE || kind == LIGHT_DISK) {
            float steep = dot(d, emitter.direction);
            bool shines = steep < 0.0 || (emitter.kind & LIGHT_TWO_SIDED) != 0u;
            at = abs(steep) > 1e-9 ? dot(to, emitter.direction) / steep : -1.0;
            vec3 p = d * at - to;
            vec2 place = vec2(dot(p, emitter.right),
                dot(p, cross(emitter.direction, emitter.right)));
            bool inside = kind == LIGHT_DISK ? dot(place, place)
                <= emitter.half_width * emitter.half_width
                                             : all(lessThanEqual(abs(place),
                                                 vec2(emitter.half_width, emitter.half_height)));
            at = inside && shines ? at : -1.0;
        }
        if (at > 0.0 && at < t) {
            t = at;
            surface_hit = vec4(emitter.intensity, 1.0);
        }
    }
    return surface_hit;
}

// Whether a path is in water.
bool is_water(uint body) {
    return body != NONE && layered[body].water != NONE;
}

// Transmittance of a volume over a distance (m); 1 outside volumes.
vec3 left_of(uint body, float t) {
    return body != NONE ? exp(-layered[body].absorption * t) : vec3(1.0);
}

// Smith's auxiliary function of GGX: Heitz 2014, equation 72.
float smith_lambda(float cosine, float alpha) {
    float c2 = cosine * cosine;
    return 0.5 * (sqrt(1.0 + alpha * alpha * (1.0 - c2) / max(c2, 1e-12)) - 1.0);
}

// Height-correlated shadowing of the light direction l, for facets sampled as visible from v (Heitz
// 2014, equation 99).
float unmasked(float v, float l, float alpha) {
    float seen = 1.0 + smith_lambda(v, alpha);
    return seen / (seen + smith_lambda(l, alpha));
}

// Quasirandom points in four dimensions: powers of the root of x^5 = x + 1 (Roberts 2018, "The
// Unreasonable Effectiveness of Quasirandom Sequences").
const vec4 EVEN = vec4(0.8566748838545029, 0.733891856627126, 0.6287067210378087,
    0.5385972572236101);

// Continues a path at a face of a refractive body or of a thin wall; `glass` is the refracted
// fraction.
void cross_face(Path path, HitPoint surface_hit, uint layer, float glass, float width) {
    Material m = materials[surface_hit.material];
    ExtendedMaterial l = layered[layer];
    vec3 d = path.direction;
    float side = dot(surface_hit.normal, d) < 0.0 ? 1.0 : -1.0;
    vec3 n = surface_hit.normal * side;
    vec3 away = surface_hit.away * side;
    float roughness = clamp(m.roughness, 0.0, 1.0);
    float alpha = roughness * roughness;
    bool is_rough = alpha > MIN_ALPHA;
    vec3 h = n;
    if (is_rough) {
        mat3 axes = orthonormal_basis(n);
        vec3 v = -d * axes;
        h = axes * sample_ggx_vndf(vec3(v.xy, max(v.z, 1e-4)), vec2(alpha), path_facet);
        path_facet = fract(path_facet + EVEN.xy);
    }
    float cosine = clamp(-dot(h, d), 0.0, 1.0);
    float index = l.ior > 0.0 ? max(l.ior, 1.0) : 1e6;
    index = max(index + path_color * (index - 1.0) * 0.025 * l.dispersion, 1.0);
    vec3 tint = clamp(m.base_color.rgb, 0.0, 1.0);
    bool thin = (l.flags & EXTENDED_VOLUME) == 0u;
    float eta = thin || side > 0.0 ? index : 1.0 / index;
    float reflects = fresnel_exact(cosine, eta);
    reflects = reflects < 1.0 && index == 1.0 ? 0.0 : reflects < 1.0
        ? reflects * clamp(l.specular, 0.0, 1.0) : 1.0;
    vec3 share = path.share * glass;
    vec3 back = reflect(d, h);
    float back_cosine = dot(back, n);
    float kept = back_cosine <= 0.0 ? 0.0 : is_rough ? unmasked(-dot(n, d), back_cosine, alpha)
        : 1.0;
    Path mirrored = Path(surface_hit.position, back, away, share * (reflects * kept), path.body,
        width, false, false, 0.0);
    Path through = mirrored;
    through.share = vec3(0.0);
    if (reflects < 1.0) {
        // Through a thin wall: the reflection, mirrored to the other side.
        vec3 on = thin ? back - 2.0 * back_cosine * n : refract(d, h, 1.0 / eta);
        float on_cosine = -dot(on, n);
        kept = on_cosine <= 0.0 ? 0.0 : is_rough ? unmasked(-dot(n, d), on_cosine, alpha) : 1.0;
        uint body = thin ? path.body : side > 0.0 ? layer : NONE;
        // A clear pane transmits straight on; shadow rays pass it too.
        bool straight = thin && !is_rough;
        through = Path(surface_hit.position, on, -away, share * ((1.0 - reflects) * kept) * tint,
            body, width,
                       straight && path.skip_lights, straight && path.skip_suns, 0.0);
    }
    // The path added last is traced first.
    bool mirror_first = max3(mirrored.share) > max3(through.share);
    for (int i = 0; i < 2; ++i) {
        if ((i == 0) == mirror_first) {
            path_add(through);
        } else {
            path_add(mirrored);
        }
    }
}

// Light at the end of a path, times a share: from the image where the end is visible, else from the
// environment, else by shading the hit. `surface_hit` is valid where `hit` is true.
vec3 light_at_end(Surface s, Path path, vec3 share, bool hit, HitPoint surface_hit, float width,
    float spread) {
    vec3 end = hit ? surface_hit.position : path.origin + path.direction * 1e5;
    float along = dot(end, frame.forward.xyz);
    float pixel = pixel_size_at(along, dot(s.position, frame.forward.xyz));
    vec3 to = frame.forward.w != 0.0 ? frame.forward.xyz : normalize(end);
    float steep = dot(surface_hit.away, to);
    vec2 place;
    bool shown = place_of(end, place);
    if (shown) {
        float there = background_distance(place);
        // The camera and the ray must see the same side; the tolerance covers half precision and
        // the pixel's depth range. A sun's reflection is in the surface's highlight, so its disk in
        // the image would count twice.
        shown = !hit ? there <= 0.0 && !path.skip_suns
                     : steep * dot(surface_hit.away, path.direction) > 0.0
                && abs(there - along) < 0.002 * along + 1.5 * pixel / max(abs(steep), 0.03);
    }
    if (shown && hit && water_here != NONE) {
        // A lookup beside an edge would include foreground light: underwater floors are near the
        // walls around them.
        vec2 step = 0.75 / vec2(textureSize(background_0, 0));
        for (int i = 0; i < 4; ++i) {
            float beside =
                background_distance(clamp(place + step * vec2(i < 2 ? -1.0 : 1.0,
                (i & 1) == 0 ? -1.0 : 1.0), vec2(0.0), vec2(0.999999)));
            shown = shown && beside > along - 0.002 * along - 3.0 * pixel / max(abs(steep), 0.03);
        }
    }
    if (shown) {
        return share * background_at(place, hit ? log2(clamp(width / max(pixel, 1e-9), 1.0, 1e4))
            : 0.0);
    }
    if (hit) {
        return shade_hit(surface_hit, path.direction, share);
    }
    if (!has_environment()) {
        return vec3(0.0);
    }
    return share * prefiltered_environment(path.origin, path.direction,
        clamp(sqrt(spread), 0.0, 1.0)) * frame.pre_exposure;
}

// Refracted and mirrored light of the surface, pre-exposed. One loop for all rays: each further
// trace call site costs shader compilation time.
vec3 refracted_light(Surface s, Layers y) {
    uint layer = materials[material_index].layers;
    float coat = 1.0 - coat_fresnel(s, y);
    float nv = max(dot(s.normal, s.view), 1e-4);
    float share = (1.0 - s.metallic) * y.transmission * coat * below_sheen(y, nv, nv);
    pixel_at_surface = pixel_size_here();
    bool is_rough = s.alpha > MIN_ALPHA;
    // KHR_materials_dispersion: the indices of red and blue differ from green's by half of (ior -
    // 1) 0.025 dispersion.
    uint colors = layered[layer].dispersion > 0.0 && !y.thin ? 3u : 1u;
    // Rough water refracts through its mean face; the lookup is blurred by the spread.
    bool spreads = is_rough && water_here == NONE;
    uint through = (spreads ? FACETS : 1u) * colors;
    uint mirrored = is_rough ? MIRRORED_FACETS : 1u;
    float bends = y.thin ? 2.0 : y.ior - 1.0;
    vec2 pixel = gl_FragCoord.xy + frame.noise_shift;
    vec4 shift = vec4(gradient_noise(pixel), gradient_noise(pixel.yx + vec2(37.0, 17.0)),
                      gradient_noise(pixel + vec2(71.0, 5.0)),
                          gradient_noise(pixel.yx + vec2(13.0, 59.0)));
    mat3 axes = orthonormal_basis(s.normal);
    vec3 v = s.view * axes;
    // The occlusion map dims the mirrored indirect light, not the transmitted light.
    float map = fragment_occlusion();
    vec3 sum = vec3(0.0);
    paths_cut = false;
    for (uint job = 0u; job < through + mirrored; ++job) {
        bool mirrors = job >= through;
        vec4 u = fract(shift + float(mirrors ? job - through : job / colors) * EVEN);
        path_facet = u.zw;
        vec3 h = (mirrors ? is_rough : spreads)
            ? axes * sample_ggx_vndf(vec3(v.xy, max(v.z, 1e-4)), vec2(s.alpha), u.xy) : s.normal;
        float vh = clamp(dot(s.view, h), 0.0, 1.0);
        vec3 reflects = layer_fresnel(s, y, vh, schlick_weight(vh)).glass;
        vec3 color = vec3(1.0);
        path_color = 0.0;
        if (colors == 3u && !mirrors) {
            color = vec3(equal(uvec3(0u, 1u, 2u), uvec3(job % 3u)));
            path_color = float(job % 3u) - 1.0;
        }
        vec3 on = mirrors ? reflects * (map / float(mirrored))
                          : (1.0 - max3(reflects)) * float(colors) / float(through) * s.base_color
                              * color;
        vec3 d = reflect(-s.view, h);
        if (!mirrors) {
            float index = max(y.ior + path_color * (y.ior - 1.0) * 0.025
                * layered[layer].dispersion, 1.0);
            d = y.thin ? d - 2.0 * dot(d, s.normal) * s.normal : refract(-s.view, h, 1.0 / index);
        }
        float side = mirrors ? 1.0 : -1.0;
        float cosine = side * dot(d, s.normal);
        if (water_here != NONE && mirrors && cosine <= 0.0) {
            // Waves that reflect downward would hit another wave, which reflects upward again.
            d -= 2.0 * cosine * s.normal;
            cosine = -cosine;
        }
        float kept = cosine <= 0.0 ? 0.0 : is_rough ? unmasked(nv, cosine, s.alpha) : 1.0;
        // Lookup width of a facet, in directions.
        float spread = is_rough ? 1.5 * (mirrors ? 2.0 : bends) * s.alpha
            * inversesqrt(float(mirrors ? mirrored : through)) : 0.0;
        if (water_here != NONE && !mirrors) {
            // Surfaces in water are shaded with their brightness in water; outside, radiance scales
            // by the inverse square of the index.
            on /= WATER_IOR * WATER_IOR;
        }
        path_count = 0u;
        // A rough pane has a lobe for transmitted sunlight (evaluate_extended_brdf).
        bool skip_suns = mirrors || y.thin && is_rough;
        uint body = mirrors || y.thin ? NONE : layer;
        path_add(Path(s.position, d, side * s.normal, share * kept * on, body, 0.0, mirrors,
            skip_suns, 0.0));
        uint most = is_rough ? FACET_RAYS : SMOOTH_RAYS;
        for (uint i = 0u; i < most + WAITING && path_count > 0u; ++i) {
            Path path = path_waiting[--path_count];
            bool to_emitter = path.reach > 0.0;
            float reach = to_emitter ? path.reach : 1e30;
            BvhHit hit = BvhHit(reach, vec2(0.0), NONE, 0u);
            // The last paths take the light of their direction without tracing.
            paths_cut = paths_cut || i >= most;
            if (i < most) {
                set_bvh_ray_key(path.origin, path.direction);
                hit = trace_ray(path.origin, path.direction, path.away, reach, to_emitter);
            }
            if (to_emitter) {
                sum += hit.instance == NONE && i < most ? path.share : vec3(0.0);
                continue;
            }
            // The surface's own reflections of light surfaces are integrated as for other surfaces.
            vec4 emitter = intersect_lights(path.origin, path.direction, hit.t);
            if (emitter.w > 0.0) {
                sum += path.skip_lights ? vec3(0.0)
                    : path.share * left_of(path.body, hit.t) * emitter.rgb * frame.pre_exposure;
                continue;
            }
            bool is_hit = hit.instance != NONE;
            if (is_water(path.body)) {
                sum += path.share * water_glow(path.origin, path.direction, hit.t);
                path.share *= is_hit ? 1.0 : 0.0;
            }
            HitPoint surface_hit = HitPoint(vec3(0.0), vec3(0.0), vec3(0.0), 0u);
            float glass = 0.0;
            float width = path.width + spread * hit.t;
            uint met_layer = NONE;
            if (is_hit) {
                surface_hit = make_surface_hit(hit, path.direction);
                path.share *= left_of(path.body, hit.t);
                met_layer = materials[surface_hit.material].layers;
                if (met_layer != NONE) {
                    glass = (1.0 - clamp(materials[surface_hit.material].metallic, 0.0, 1.0))
                        * layered[met_layer].transmission;
                }
            }
            if (glass < 1.0) {
                sum += light_at_end(s, path, path.share * (1.0 - glass), is_hit, surface_hit, width,
                    spread);
            }
            if (glass > 0.0) {
                cross_face(path, surface_hit, met_layer, glass, width);
            }
        }
    }
    if (paths_cut) {
        atomicAdd(limit_counters.refraction_points, 1u);
    }
    return sum;
}

#endif
