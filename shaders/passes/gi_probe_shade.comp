#version 460
// Light along the rays of an irradiance volume's probes: one light chosen by the light tree with a
// shadow ray for the any-hit kernel (rays.comp), and the light of the volume itself, which adds one
// bounce a sweep; the environment where a ray hits nothing. Emission lights diffuse surfaces as a
// light only.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/gi.glsl"
#include "shared/rays.glsl"
#include "shared/gi_probes.glsl"
#include "lib/brdf.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(push_constant, scalar) uniform update_block { ProbeUpdateConstants update; };
layout(set = 0, binding = 1, scalar) readonly buffer ray_block { TraceRay rays[]; };
layout(set = 0, binding = 2, scalar) readonly buffer hit_block { TraceHit hits[]; };
layout(set = 0, binding = 3, scalar) writeonly buffer shadow_ray_block { TraceRay shadow_rays[]; };
layout(set = 0, binding = 4, scalar) writeonly buffer probe_ray_block { ProbeRay probe_rays[]; };
layout(set = 0, binding = 5, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 6, scalar)
    readonly buffer hit_material_block { HitMaterial hit_materials[]; };
// Light tree of the local lights.
layout(set = 0, binding = 9, scalar) readonly buffer node_block { LightNode nodes[]; };

#include "lib/lights.glsl"
#include "lib/ies_profiles.glsl"
#include "lib/sun_disk.glsl"
#include "lib/area.glsl"
#include "lib/light_sampling.glsl"
#include "lib/environment.glsl"
#include "lib/noise.glsl"
#define DIFFUSE_LIGHT_TREE
#include "lib/light_tree.glsl"
#include "lib/hit_lights.glsl"
#include "lib/gi_probes.glsl"

// Blur of the environment along a ray, by its perceptual roughness: bright texels of a map would be
// noise. The mean over the sweeps' rays is that of the map.
const float SKY_BLUR = 0.25;
// Points of an area light of which one gets the shadow ray.
const uint LIGHT_CANDIDATES = 4u;
// Maximum luminance along a ray, within the range of the maps.
const float MAX_LUMINANCE = 1e15;

// NaN fails every comparison, so it selects 0.
vec3 finite(vec3 light) {
    return min(mix(vec3(0.0), light, greaterThan(light, vec3(0.0))), MAX_LUMINANCE);
}

// Shadow ray to one of some points of a light, chosen by their contribution (resampling: Talbot,
// Cline and Egbert 2005). w: 0 where no point shines on the surface.
vec4 sample_light_point(Light light, vec3 normal, vec2 u, float choice) {
    uint kind = light.kind & LIGHT_KIND_BITS;
    uint count = kind == LIGHT_POINT || kind == LIGHT_DIRECTIONAL ? 1u : LIGHT_CANDIDATES;
    vec4 chosen = vec4(0.0);
    float sum = 0.0;
    for (uint i = 0u; i < count; ++i) {
        vec4 candidate = sample_light(light, normal, light_sample(i, count, u));
        if (candidate.w > 0.0) {
            sum += candidate.w;
            bool taken = choice * sum < candidate.w;
            choice = taken ? choice * sum / candidate.w
                : (choice * sum - candidate.w) / max(sum - candidate.w, 1e-30);
            choice = clamp(choice, 0.0, 0.99999994);
            chosen = taken ? candidate : chosen;
        }
    }
    return chosen;
}

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= update.count * update.rays) {
        return;
    }
    TraceRay ray = rays[i];
    TraceHit found = hits[i];
    BvhHit hit = BvhHit(found.t, found.barycentric, found.instance, found.triangle);
    ProbeRay result = ProbeRay(vec3(0.0), volume.max_distance, vec3(0.0), 0u);
    TraceRay shadow = TraceRay(vec3(0.0), 0.0, vec3(0.0, 0.0, 1.0), vec3(0.0));
    if (hit.instance == NONE) {
        if ((volume.flags & PROBES_SKY) != 0u && has_environment_map()) {
            vec3 d = environment_direction(ray.direction);
            result.luminance = finite(map_blurred(environment_map(), d, SKY_BLUR));
        }
    } else {
        HitMaterial m = hit_materials[bvh_instances[hit.instance].surface & ~BVH_NO_SHADOW];
        ray_origin = hit_position(hit);
        ray_normal = triangle_normal(bvh_instances[hit.instance], bvh_triangles[hit.triangle]);
        bool back = dot(ray_normal, ray.direction) > 0.0;
        bool inside = back && m.double_sided == 0u;
        ray_normal = back ? -ray_normal : ray_normal;
        result.distance = inside ? -hit.t : hit.t;
        if (!inside) {
            // Narrow lobes count as diffuse: right energy, wrong direction.
            vec3 albedo = min(m.diffuse + m.specular, vec3(1.0));
            Surface s = Surface(ray_origin, ray_normal, -ray.direction, vec3(1.0), 0.0, 1.0);
            if ((update.flags & PROBES_FIRST) == 0u) {
                vec3 facing;
                result.luminance = albedo / PI * volume_irradiance(ray_origin, ray_normal,
                    -ray.direction, ray_normal, facing);
            }
            uvec2 seed = uvec2(update.first * update.rays + i, 0u);
            vec2 u = random_2d(seed, update.number);
            vec2 v = random_2d(seed + uvec2(0u, 1u), update.number);
            float probability;
            uint light = choose_hit_light(s, u.x, probability);
            if (light != NONE) {
                vec3 highlight;
                vec3 e = hit_light_illuminance(lights[light], s, false, highlight);
                vec3 lit = finite(albedo / PI * e / max(probability, 1e-30));
                if ((lights[light].kind & LIGHT_SHADOW) == 0u
                    || frame.shadow_method == SHADOWS_OFF) {
                    result.luminance += lit;
                } else if (lit != vec3(0.0)) {
                    vec4 to = sample_light_point(lights[light], ray_normal, v, u.y);
                    if (to.w > 0.0) {
                        result.shadowed = lit;
                        shadow = TraceRay(ray_origin, 1.0 - LIGHT_RAY_MARGIN, to.xyz, ray_normal);
                    }
                }
            }
        }
    }
    probe_rays[i] = result;
    shadow_rays[i] = shadow;
}
