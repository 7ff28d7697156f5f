#version 460
// features: RAY_TRACED_SHADOWS RAY_TRACED_SHADOWS:USE_RAY_QUERY
// Indirect light by virtual point lights (VPLs; instant radiosity: Keller 1997), one shadow ray per
// chosen VPL: diffuse luminance of a white surface, and specular highlights of rough surfaces.
//
// Near VPLs are clamped, and rays up to the clamp distance recover the lost energy: Kollig and
// Keller 2004, equation 5. With an environment that ray continues as its visibility ray, and a
// second one traces the specular reflection of the environment and, on smooth surfaces, of other
// surfaces. Ray hits on metals and other narrow lobes continue as specular paths.
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#define BVH_IN_FRAGMENT_SHADER
#endif
#include "shared/frame.glsl"
#include "shared/gi.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 35, scalar) uniform gi_block { GiConstants gi; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4) uniform texture2D emission_image;
layout(set = 0, binding = 5, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 6, scalar)
    readonly buffer hit_material_block { HitMaterial hit_materials[]; };

#include "lib/lights.glsl"
#include "lib/ies_profiles.glsl"
#include "lib/sun_disk.glsl"
#include "lib/area.glsl"
#include "lib/ray_traced_shadows.glsl"
#include "lib/environment.glsl"
#include "lib/noise.glsl"
#include "lib/ycocg.glsl"
#include "lib/vpls.glsl"

// Pre-exposed luminance of a white diffuse surface; alpha: luminance lost to VPL clamping.
layout(location = 0) out vec4 out_diffuse;
// Pre-exposed specular luminance.
layout(location = 1) out vec4 out_specular;

// Maximum lights evaluated at a hit; with more, one is sampled.
const uint MAX_HIT_LIGHTS = 4u;
// Shadow rays from a hit to an area light.
const uint HIT_SAMPLES = 4u;
// Maximum clear panes that a ray passes.
const uint PANES = 4u;

// Illuminance (lx by channel) of one light at a ray hit, with shadows, and the luminance of its
// specular highlight.
vec3 hit_light_illuminance(Light emitter, Surface s, vec2 u, out vec3 highlight) {
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
        integrate_area(emitter, s, area);
        e = emitter.intensity * area.irradiance;
        highlight = emitter.intensity
            * (s.base_color * (area.shine.x - area.shine.y) + area.shine.y);
    } else {
        e = vec3(0.0);
    }
    // Surfaces without a specular lobe have no grazing highlight either.
    highlight = s.base_color == vec3(0.0) ? vec3(0.0) : highlight;
    if (e == vec3(0.0) || (emitter.kind & LIGHT_SHADOW) == 0u
        || frame.shadow_method == SHADOWS_OFF) {
        return e;
    }
    // Visible fraction, as in lib/ray_traced_shadows.glsl.
    uint count = kind == LIGHT_POINT || kind == LIGHT_DIRECTIONAL ? 1u : HIT_SAMPLES;
    float all = 0.0;
    float free = 0.0;
    for (uint i = 0u; i < count; ++i) {
        vec4 to = sample_light(emitter, s.normal, light_sample(i, count, u));
        all += max(to.w, 0.0);
        if (to.w > 0.0 && trace_ray(ray_origin, to.xyz, ray_normal, 1.0 - LIGHT_RAY_MARGIN,
            true).instance == NONE) {
            free += to.w;
        }
    }
    float share = all > 0.0 ? free / all : 0.0;
    highlight *= share;
    return e * share;
}

// Cosine-weighted direction: uniform disk points projected to the hemisphere (Malley's method).
vec3 sample_cosine_hemisphere(vec3 normal, vec2 u) {
    vec2 disk = concentric(u);
    mat3 axes = orthonormal_basis(normal);
    return normalize(axes[0] * disk.x + axes[1] * disk.y
        + normal * sqrt(max(1.0 - dot(disk, disk), 0.0)));
}

// First hit that blocks light.
BvhHit trace_first_hit(vec3 origin, vec3 d, vec3 away, float reach) {
    float gone = 0.0;
    BvhHit hit = trace_ray(origin, d, away, reach, false);
    for (uint i = 0u; i < PANES && hit.instance != NONE
        && (bvh_instances[hit.instance].surface & BVH_NO_SHADOW) != 0u; ++i) {
        gone += hit.t;
        hit = trace_ray(origin + d * gone, d, d, reach - gone, false);
    }
    hit.t += gone;
    return hit;
}

// Environment luminance (nits), blurred by about the solid angle of a ray, which prevents fireflies
// from single texels.
vec3 sky_luminance(vec3 d, float blur) {
    return map_blurred(environment_map(), environment_direction(d), blur);
}

// For diffuse light: about a degree, so that rays find the smallest lights of a map. A wider blur
// would leak light from occluded parts of the sky.
const float DIFFUSE_BLUR = 0.15;
// For specular lobes, relative to the roughness, where a ray stands for a sixteenth: a lobe's solid
// angle is proportional to roughness^4 (Krivanek and Colbert 2008, "Real-time Shading with Filtered
// Importance Sampling").
const float LOBE_BLUR = 0.5;

// Minimum lobe alpha at ray hits: few rays sample a narrower lobe, which causes fireflies.
const float MIN_HIT_ALPHA = 0.05;

// Position of a ray hit; its normal is the triangle's, on the side of the ray.
struct HitPoint {
    vec3 place;
    vec3 away;
};

// Makes the hit the origin of further shadow rays.
HitPoint hit_point(BvhHit hit, vec3 d) {
    HitPoint surface_hit;
    surface_hit.place = hit_position(hit);
    surface_hit.away = triangle_normal(bvh_instances[hit.instance], bvh_triangles[hit.triangle]);
    surface_hit.away = dot(surface_hit.away, d) > 0.0 ? -surface_hit.away : surface_hit.away;
    ray_origin = surface_hit.place;
    ray_normal = surface_hit.away;
    return surface_hit;
}

// Unit interpolated normal, on the side of `away`; `away` itself where the ray would see its back.
vec3 smooth_normal(BvhHit hit, vec3 d, vec3 away) {
    BvhInstance instance = bvh_instances[hit.instance];
    BvhTriangle triangle = bvh_triangles[hit.triangle];
    mat3 rows = mat3(instance.rows[0].xyz, instance.rows[1].xyz, instance.rows[2].xyz);
    vec3 w = vec3(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric);
    vec3 n = rows * (w.x * unpack_vertex_normal(triangle.normal_a)
        + w.y * unpack_vertex_normal(triangle.normal_b)
        + w.z * unpack_vertex_normal(triangle.normal_c));
    n *= dot(n, away) < 0.0 ? -1.0 : 1.0;
    return dot(n, d) < 0.0 ? normalize(n) : away;
}

// Whether environment visibility rays are enabled.
bool traces_environment() {
    return (gi.flags & GI_SKY) != 0u && has_environment_map();
}

// Illuminance (lx by channel) of the lights at a position from `hit_point`, and the luminance of
// their highlights.
vec3 direct_illuminance(Surface s, vec2 u, out vec3 highlights) {
    vec3 sum = vec3(0.0);
    highlights = vec3(0.0);
    bool all = frame.light_count <= MAX_HIT_LIGHTS;
    uint count = all ? frame.light_count : 1u;
    for (uint i = 0u; i < count; ++i) {
        uint emitter = all ? i : min(uint(u.x * float(frame.light_count)), frame.light_count - 1u);
        vec2 v = all ? u : fract(u * vec2(float(frame.light_count), 1.0));
        float times = all ? 1.0 : float(frame.light_count);
        vec3 highlight;
        sum += hit_light_illuminance(lights[emitter], s, v, highlight) * times;
        highlights += highlight * times;
    }
    return sum;
}

// Resampled importance sampling of VPLs by their unoccluded contribution (Talbot, Cline and Egbert
// 2005), with a reservoir.
struct Reservoir {
    float sum;       // of weights so far
    float choice;    // random number, uniform again after each choice
};

// Whether a candidate of this weight replaces the previous one. Zero weights leave the reservoir
// unchanged, since a zero sum would break the random number.
bool takes(inout Reservoir r, float weight) {
    if (!(weight > 0.0)) {
        return false;
    }
    r.sum += weight;
    if (r.choice * r.sum < weight) {
        r.choice = clamp(r.choice * r.sum / weight, 0.0, 0.99999994);
        return true;
    }
    r.choice = clamp((r.choice * r.sum - weight) / max(r.sum - weight, 1e-30), 0.0, 0.99999994);
    return false;
}

// Candidates per chosen VPL.
const uint CANDIDATES = 4u;

// Illuminance (lx by channel) by one of `candidates` VPLs, and by the environment.
vec3 vpl_illuminance(vec3 p, vec3 away, vec2 u, uint candidates) {
    vec3 sum = vec3(0.0);
    Reservoir reservoir = Reservoir(0.0, u.x);
    uint chosen = NONE;
    vec3 chosen_illuminance = vec3(0.0);
    for (uint i = 0u; i < candidates && gi.vpl_count > 0u; ++i) {
        float probability;
        uint index = sample_vpl(p - gi.anchor, away, (float(i) + u.y) / float(candidates),
            probability);
        if (index == NONE) {
            continue;
        }
        VplLight light = vpl_light(vpls[index], p - gi.anchor, away);
        vec3 gives = light.illuminance * (light.kept * max(dot(away, light.l), 0.0));
        if (takes(reservoir, luminance(gives) / probability)) {
            chosen = index;
            chosen_illuminance = gives;
        }
    }
    float target = luminance(chosen_illuminance);
    if (target > 0.0 && vpl_visible(p, away, vpls[chosen])) {
        sum += chosen_illuminance * (reservoir.sum / (target * float(candidates)));
    }
    if (traces_environment()) {
        vec3 l = sample_cosine_hemisphere(away, fract(u.yx + vec2(0.21, 0.43)));
        if (trace_ray(p, l, away, 1e9, true).instance == NONE) {
            sum += PI * sky_luminance(l, DIFFUSE_BLUR);
        }
    }
    return sum;
}

// Maximum surfaces along a specular path.
const uint MAX_SPECULAR_BOUNCES = 4u;
// Pixel offset between the noise of successive path segments.
const uint NEXT_TURN = 8192u;

// Luminance reflected at a hit: by lights, VPLs (one of `candidates`) and the environment.
// `diffuse` scales the diffuse part. Narrow lobes count fully, since VPLs exclude them: highlights
// of lights, and one more ray, sampled by `pixel`, to surfaces or to the environment, blurred by
// `blur` times the lobe's roughness. With more than two `steps` a diffuse surface also traces a
// ray, for caustics of narrow lobes.
vec3 reflected_at(BvhHit hit, vec3 d, vec2 u, uvec2 pixel, float diffuse, float blur,
    uint candidates, uint steps) {
    vec3 light = vec3(0.0);
    vec3 throughput = vec3(1.0);
    for (uint step = 1u; ; ++step) {
        HitMaterial m = hit_materials[bvh_instances[hit.instance].surface & ~BVH_NO_SHADOW];
        bool specular_part = m.specular != vec3(0.0);
        bool diffuse_part = diffuse > 0.0 && m.diffuse != vec3(0.0);
        if (!diffuse_part && !specular_part) {
            break;
        }
        HitPoint surface_hit = hit_point(hit, d);
        vec3 normal = specular_part ? smooth_normal(hit, d, surface_hit.away) : surface_hit.away;
        // A metal with the lobe's F0: its highlight is the lobe's.
        Surface s = Surface(surface_hit.place, normal, -d, m.specular, 1.0,
            max(m.alpha, MIN_HIT_ALPHA));
        vec3 highlight_luminance;
        vec3 sum = direct_illuminance(s, u, highlight_luminance);
        if (diffuse_part) {
            sum += vpl_illuminance(surface_hit.place, surface_hit.away, u, candidates);
            light += throughput * m.diffuse * (diffuse / PI) * sum;
        }
        light += throughput * highlight_luminance;
        if (step >= steps || !specular_part && (steps <= 2u || (gi.flags & GI_CAUSTICS) == 0u)) {
            break;
        }
        vec2 turn = random_2d(pixel + NEXT_TURN * step, gi.history.number);
        vec3 l;
        if (specular_part) {
            l = sample_reflection(s, turn);
            float weight = vndf_weight(s, l);
            if (weight <= 0.0) {
                break;
            }
            float w = schlick_weight(clamp(dot(s.view, normalize(l + s.view)), 0.0, 1.0));
            throughput *= weight * mix(m.specular, vec3(1.0), w * max_of(m.specular));
        } else {
            l = sample_cosine_hemisphere(surface_hit.away, turn);
            throughput *= m.diffuse;
        }
        if (dot(l, surface_hit.away) <= 0.0) {
            break;
        }
        hit = trace_first_hit(surface_hit.place, l, surface_hit.away, 1e9);
        if (hit.instance == NONE) {
            // Diffuse environment light is already included.
            if (specular_part && traces_environment()) {
                light += throughput * sky_luminance(l, max(blur * sqrt(s.alpha), DIFFUSE_BLUR));
            }
            break;
        }
        d = l;
        diffuse = specular_part ? 1.0 : 0.0;
    }
    return light;
}

// Reflection of a white diffuse surface for a light direction, with the cosine (1/sr).
float diffuse_brdf_at(Surface s, vec3 l) {
    vec3 diffuse, specular;
    evaluate_brdf(Surface(s.position, s.normal, s.view, vec3(1.0), 0.0, s.alpha), l, diffuse,
        specular);
    return diffuse.x;
}

// A VPL and its unoccluded contribution.
struct VplSample {
    uint vpl;
    vec3 diffuse_part;
    vec3 specular_part;
    float taken;     // luminance lost to clamping
    float target;    // luminance of diffuse and specular parts
};

VplSample evaluate_vpl(uint index, Surface s, vec3 place, vec3 away, bool shines) {
    VplSample chosen = VplSample(index, vec3(0.0), vec3(0.0), 0.0, 0.0);
    VplLight light = vpl_light(vpls[index], place, s.normal);
    float reflected = diffuse_brdf_at(s, light.l);
    if (reflected <= 0.0 || dot(away, light.l) <= 0.0) {
        return chosen;
    }
    chosen.diffuse_part = light.illuminance * (light.kept * reflected);
    chosen.taken = luminance(light.illuminance) * ((1.0 - light.kept) * reflected);
    if (shines) {
        // Widens the lobe by the VPL's angular size.
        float wide = vpls[index].size * inversesqrt(max(dot(light.to, light.to), 1e-12));
        Surface wider = s;
        wider.alpha = min(sqrt(s.alpha * s.alpha + 0.25 * wide * wide), 1.0);
        vec3 diffuse;
        evaluate_brdf(wider, light.l, diffuse, chosen.specular_part);
        chosen.specular_part *= light.illuminance * light.kept;
    }
    chosen.target = luminance(chosen.diffuse_part + chosen.specular_part);
    return chosen;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    out_diffuse = vec4(0.0);
    out_specular = vec4(0.0);
    float depth = texelFetch(depth_image, pixel, 0).x;
    Surface s;
    if (depth <= 0.0 || (gi.flags & GI_FROZEN) != 0u || !load_surface(pixel, depth, s)) {
        return;
    }
    bool layered = texelFetch(emission_image, pixel, 0).a >= FORWARD_MARK;
    set_shadow_ray_origin(s,
        distance(s.position, position_at(pixel, depth * (1.0 - 6e-5) - 2.4e-7)));
    vec3 origin = ray_origin;
    vec3 away = ray_normal;
    vec3 place = s.position - gi.anchor;
    bool shines = (gi.flags & GI_SPECULAR_VPLS) != 0u && sqrt(s.alpha) >= gi.min_specular_roughness
        && !layered;
    vec2 u = blue_noise_2d(uvec2(pixel), gi.history.number);
    vec3 diffuse_part = vec3(0.0);
    vec3 specular_part = vec3(0.0);
    float taken = 0.0;
    bool all = (gi.flags & GI_ALL_VPLS) != 0u;
    uint count = all || gi.vpl_count == 0u ? gi.vpl_count : gi.vpl_samples;
    uint candidates = all ? 1u : CANDIDATES;
    for (uint i = 0u; i < count; ++i) {
        VplSample chosen = VplSample(NONE, vec3(0.0), vec3(0.0), 0.0, 0.0);
        Reservoir reservoir = Reservoir(0.0, fract(u.y + 0.61803399 * float(i)));
        for (uint j = 0u; j < candidates; ++j) {
            float probability = 1.0;
            uint index = i;
            if (!all) {
                float at = (float(i * candidates + j) + u.x) / float(count * candidates);
                index = sample_vpl(place, s.normal, at, probability);
            }
            if (index == NONE) {
                continue;
            }
            VplSample candidate = evaluate_vpl(index, s, place, away, shines);
            if (takes(reservoir, candidate.target / probability)) {
                chosen = candidate;
            }
        }
        if (chosen.vpl == NONE || !(chosen.target > 0.0)
            || !vpl_visible(origin, away, vpls[chosen.vpl])) {
            continue;
        }
        float weight = reservoir.sum
            / (chosen.target * float(candidates) * (all ? 1.0 : float(count)));
        diffuse_part += chosen.diffuse_part * weight;
        specular_part += chosen.specular_part * weight;
        taken += chosen.taken * weight;
    }
    bool sky = (gi.flags & GI_SKY) != 0u && !layered;
    bool compensated = (gi.flags & GI_COMPENSATION) != 0u && gi.vpl_count > 0u;
    bool caustics = (gi.flags & GI_CAUSTICS) != 0u;
    if (sky || compensated || caustics) {
        vec2 v = fract(blue_noise_2d(uvec2(pixel.yx), gi.history.number) + vec2(0.5, 0.25));
        vec3 l = sample_cosine_hemisphere(s.normal, v);
        float cosine = dot(s.normal, l);
        float reflected = diffuse_brdf_at(s, l);
        if (cosine > 1e-4 && reflected > 0.0 && dot(away, l) > 0.0) {
            BvhHit hit = trace_first_hit(origin, l, away, sky || caustics ? 1e9
                : gi.clamp_distance);
            float weight = reflected * PI / cosine;
            if (hit.instance == NONE) {
                if (sky && has_environment_map()) {
                    diffuse_part += sky_luminance(l, DIFFUSE_BLUR) * weight;
                }
            } else {
                float lacks = 0.0;
                if (compensated && hit.t < gi.clamp_distance) {
                    vec3 facing = triangle_normal(bvh_instances[hit.instance],
                        bvh_triangles[hit.triangle]);
                    float geometry = cosine * abs(dot(facing, l)) / max(hit.t * hit.t, 1e-12);
                    lacks = 1.0 - 1.0 / max(geometry * gi.clamp_distance * gi.clamp_distance, 1.0);
                }
                diffuse_part += reflected_at(hit, l, next_sample(uvec2(pixel), gi.history.number),
                    uvec2(pixel), lacks, 1.0, 1u, 2u) * weight;
            }
        }
    }
    bool mirrors = (gi.flags & GI_SPECULAR_RAYS) != 0u && sqrt(s.alpha) < gi.min_specular_roughness;
    if ((sky || mirrors) && !layered) {
        vec2 v = fract(blue_noise_2d(uvec2(pixel) + uvec2(3u, 5u), gi.history.number)
            + vec2(0.75, 0.5));
        vec3 l = sample_reflection(s, v);
        float weight = vndf_weight(s, l);
        if (weight > 0.0 && dot(away, l) > 0.0) {
            float w = schlick_weight(clamp(dot(s.view, normalize(l + s.view)), 0.0, 1.0));
            vec3 reflected = weight * mix(mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic),
                vec3(1.0), w);
            BvhHit hit = trace_first_hit(origin, l, away, 1e9);
            if (hit.instance == NONE) {
                if (sky && has_environment_map()) {
                    specular_part += sky_luminance(l, LOBE_BLUR * sqrt(s.alpha)) * reflected;
                }
            } else if (mirrors) {
                uvec2 other = uvec2(pixel.yx);
                specular_part += reflected_at(hit, l, next_sample(other, gi.history.number), other,
                    1.0, LOBE_BLUR, CANDIDATES, MAX_SPECULAR_BOUNCES) * reflected;
            }
        }
    }
    out_diffuse = vec4(to_half_range(diffuse_part * frame.pre_exposure),
        min(taken * frame.pre_exposure, 60000.0));
    specular_part *= frame.pre_exposure;
    out_specular =
        vec4(min(mix(vec3(0.0), specular_part, greaterThan(specular_part, vec3(0.0))), 1e9), 0.0);
}
