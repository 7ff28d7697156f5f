#version 460
// variants: USE_RAY_QUERY
// Indirect light by virtual point lights (VPLs; instant radiosity: Keller 1997), one shadow ray per
// chosen VPL: diffuse luminance of a white surface, and specular highlights of rough surfaces.
//
// Near VPLs are clamped, and rays up to the clamp distance recover the lost energy: Kollig and
// Keller 2004, equation 5. With an environment that ray continues as its visibility ray, and a
// second one traces the specular reflection of the environment and, on smooth surfaces, of other
// surfaces. Ray hits on metals and other narrow lobes continue as specular paths.
//
// Each invocation runs a loop over the vertices that its rays reach, and for each vertex a loop
// over its rays: shadow rays, then the ray to the next vertex. Traversal and light evaluation have
// one call site each, which keeps the module small, since functions are inlined, and lets the
// invocations of a SIMD group trace together, whatever each traces for.
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#endif
#include "shared/frame.glsl"
#include "shared/gi.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 35, scalar) uniform gi_block { GiConstants gi; };
#include "lib/gbuffer.glsl"
#include "lib/gi_pixels.glsl"
layout(set = 0, binding = 4) uniform texture2D emission_image;
layout(set = 0, binding = 5, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 6, scalar)
    readonly buffer hit_material_block { HitMaterial hit_materials[]; };
// Pre-exposed luminance of a white diffuse surface; alpha: luminance lost to VPL clamping.
layout(set = 0, binding = 7, rgba16f) uniform writeonly image2D diffuse_image;
// Pre-exposed specular luminance over the lobe's approximate albedo.
layout(set = 0, binding = 8, rgba32f) uniform writeonly image2D specular_image;

// Light tree of the local lights.
layout(set = 0, binding = 9, scalar) readonly buffer node_block { LightNode nodes[]; };

#include "lib/lights.glsl"
#include "lib/ies_profiles.glsl"
#include "lib/sun_disk.glsl"
#include "lib/area.glsl"
#include "lib/light_sampling.glsl"
#include "lib/bvh.glsl"
#include "lib/environment.glsl"
#include "lib/noise.glsl"
#include "lib/ycocg.glsl"
#include "lib/vpls.glsl"
#define DIFFUSE_LIGHT_TREE
#include "lib/light_tree.glsl"
#include "lib/hit_lights.glsl"
#include "lib/limit_counters.glsl"

// Maximum lights evaluated at a hit; with more, one is chosen.
const uint MAX_HIT_LIGHTS = 4u;
// The upper bits of a random number choose a light, the lower ones a point of it.
const float CHOICE_BITS = 4096.0;
// Shadow rays from a hit to an area light.
const uint HIT_SAMPLES = 4u;
// Maximum clear panes that a ray passes.
const uint PANES = 4u;
// Candidates per chosen VPL.
const uint CANDIDATES = 4u;
// Maximum surfaces along a path of the hemisphere ray, and of the reflection ray.
const uint MAX_DIFFUSE_BOUNCES = 3u;
const uint MAX_SPECULAR_BOUNCES = 4u;
// Pixel offset between the noise of successive path segments.
const uint NEXT_TURN = 8192u;
// Minimum F0 of rough surfaces with compensated VPL highlights: rough dielectrics reflect too
// little for a ray of their own.
const float MIN_COMPENSATED_F0 = 0.2;
// Length of unbounded rays (m).
const float UNBOUNDED = 1e9;

// Environment blur for diffuse light: about a degree, so that rays find the smallest lights of a
// map. A wider blur would leak light from occluded parts of the sky.
const float DIFFUSE_BLUR = 0.15;
// For specular lobes, relative to the roughness, where a ray stands for a sixteenth: a lobe's solid
// angle is proportional to roughness^4 (Krivanek and Colbert 2008, "Real-time Shading with Filtered
// Importance Sampling").
const float LOBE_BLUR = 0.5;
// Perceptual roughness from which the environment light of a reflection ray that hits nothing
// begins to be that of the whole lobe, and from which it is: split sum (Karis 2013) times the ray's
// visibility, so that there is no noise where nothing occludes the lobe.
const vec2 LOBE_SKY = vec2(0.15, 0.35);
// The ray adds no environment light.
const float NO_SKY = -1.0;

// Minimum lobe alpha at ray hits: few rays sample a narrower lobe, which causes fireflies.
const float MIN_HIT_ALPHA = 0.05;

// Rays of a pixel, in order: none yet, to its surface in the BVH, of the hemisphere's path, of the
// reflection's path.
const uint RAY_NONE = 0u;
const uint RAY_TO_SURFACE = 1u;
const uint RAY_DIFFUSE = 2u;
const uint RAY_SPECULAR = 3u;
const uint RAYS_DONE = 4u;

// Purpose of a ray from a vertex: the shadow of a light, by its index at the hit, or one of these.
const uint TO_VPL = MAX_HIT_LIGHTS;
const uint TO_SKY = MAX_HIT_LIGHTS + 1u;
const uint TO_NEXT_VERTEX = MAX_HIT_LIGHTS + 2u;
const uint TO_NOTHING = MAX_HIT_LIGHTS + 3u;

// Lights at a hit: unshadowed illuminance (lx by channel) and luminance of the highlight (nits by
// channel), and the summed weights of shadow rays, all and unoccluded ones.
vec3 hit_illuminance[MAX_HIT_LIGHTS];
vec3 hit_highlight[MAX_HIT_LIGHTS];
vec2 hit_visibility[MAX_HIT_LIGHTS];

// Cosine-weighted direction: uniform disk points projected to the hemisphere (Malley's method).
vec3 sample_cosine_hemisphere(vec3 normal, vec2 u) {
    vec2 disk = concentric(u);
    mat3 axes = orthonormal_basis(normal);
    return normalize(axes[0] * disk.x + axes[1] * disk.y
        + normal * sqrt(max(1.0 - dot(disk, disk), 0.0)));
}

// Environment luminance (nits), blurred by about the solid angle of a ray, which prevents fireflies
// from single texels.
vec3 sky_luminance(vec3 d, float blur) {
    return map_blurred(environment_map(), environment_direction(d), blur);
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

// Reflection of a white diffuse surface for a light direction, with the cosine (1/sr).
float diffuse_brdf_at(Surface s, vec3 l) {
    vec3 diffuse, specular;
    evaluate_brdf(Surface(s.position, s.normal, s.view, vec3(1.0), 0.0, s.alpha), l, diffuse,
        specular);
    return diffuse.x;
}

struct Ray {
    vec3 origin;
    vec3 direction;
    vec3 away;             // unit normal at the origin, or zero
    float reach;
};

// Surface that a ray reached: the pixel's, or one at a ray hit. Its other rays start at
// `ray_origin`.
struct Vertex {
    Surface s;             // at hits a metal with the lobe's F0: its highlight is the lobe's
    vec3 diffuse;          // reflectance; at hits only
    vec3 emission;         // nits; at hits only
    bool diffuse_part;     // reflects diffuse light toward the pixel; at hits only
    bool specular_part;    // has a narrow lobe; at hits only
};

// Path of rays from the pixel's surface, and the light that it gathers.
struct Path {
    uint kind;             // one of the RAY_ constants
    uint step;             // number of the vertex, 1 for the first hit
    uint steps;            // maximum number of vertices
    vec3 light;            // luminance reflected toward the pixel's surface so far
    vec3 throughput;       // of the vertices so far
    vec3 weight;           // of the path's luminance at the pixel
    float diffuse;         // scale of the diffuse reflection at the vertex
    float emission;        // fraction of emission at the vertex that the lobes so far show
};

// The next ray to a vertex.
struct NextRay {
    uint kind;
    bool continues;        // the present path; else it starts a path
    uint steps;
    vec3 reflected;        // throughput of the surface where it starts
    float cosine;          // to the normal there if the hit restores clamped light, else 0
    float sky_blur;        // of the environment where the ray hits nothing, or NO_SKY
    vec3 sky_direction;    // of that environment light
};

// A VPL and its unoccluded contribution.
struct VplSample {
    vec3 diffuse_part;     // pixel: luminance of a white surface; hit: illuminance
    vec3 specular_part;
    float taken;           // luminance lost to clamping
    float target;          // luminance of diffuse and specular parts
};

// State of the invocation: its texel of the gathered light, and the pixel.
uvec2 texel;
uvec2 pixel;
float pixel_depth;
// True if the forward pass lights the pixel.
bool layered;
// Origin and normal of rays from the pixel's surface.
vec3 pixel_origin;
vec3 pixel_away;
// Approximate albedo of the pixel's specular lobe.
vec3 pixel_albedo;
Path path;
Vertex vertex;
NextRay next_ray;
Ray ray;
BvhHit hit;                // of the ray to the vertex
// Light of the pixel so far: of a white diffuse surface, specular, and lost to clamping.
vec3 diffuse_sum;
vec3 specular_sum;
float taken_sum;

// Lights and VPLs of the vertex.
struct VertexLights {
    bool seen;             // the vertex is the pixel's surface
    vec2 u;                // random numbers
    uint first;            // first light
    uint count;            // lights: all, or one chosen by its estimated light
    float scale;           // of their light: the inverse of the choice's probability
    uint shadowed;         // bit i: light `first + i` needs shadow rays
    uint vpls;             // samples of VPLs
    bool all_vpls;         // sample i is VPL i
    vec3 vpl_illuminance;  // lx by channel, at hits only
    bool sky;              // lit by the environment
    bool sky_visible;
    vec3 sky_direction;    // of the ray to the environment
};
VertexLights lit_by;

bool traces_sky() {
    return (gi.flags & GI_SKY) != 0u && !layered;
}

bool traces_caustics() {
    return (gi.flags & GI_CAUSTICS) != 0u;
}

bool is_compensated() {
    return (gi.flags & GI_COMPENSATION) != 0u && gi.vpl_count > 0u;
}

// Pixel coordinates for the random numbers of the path.
uvec2 path_pixel() {
    return path.kind == RAY_DIFFUSE ? pixel : pixel.yx;
}

// Blue noise by a texel's coordinates. The pixels of a block, gathered in successive frames, are a
// quarter apart in both dimensions.
vec2 texel_noise(uvec2 coordinates) {
    vec2 part = vec2(gi.phase.x * 2u + gi.phase.y, gi.phase.x + gi.phase.y * 2u) * 0.25;
    return fract(blue_noise_2d(coordinates, gi.round) + part);
}

VplSample evaluate_vpl(uint index, bool seen, bool shines) {
    VplSample chosen = VplSample(vec3(0.0), vec3(0.0), 0.0, 0.0);
    vec3 normal = seen ? vertex.s.normal : ray_normal;
    VplLight light = vpl_light(vpls[index], vertex.s.position - gi.anchor, normal);
    float cosine = dot(ray_normal, light.l);
    float reflected = seen ? diffuse_brdf_at(vertex.s, light.l) : max(cosine, 0.0);
    if (reflected <= 0.0 || cosine <= 0.0) {
        return chosen;
    }
    chosen.diffuse_part = light.illuminance * (light.kept * reflected);
    chosen.taken = luminance(light.illuminance) * ((1.0 - light.kept) * reflected);
    if (shines) {
        // Widens the lobe by the VPL's angular size.
        float wide = vpls[index].size * inversesqrt(max(dot(light.to, light.to), 1e-12));
        Surface wider = vertex.s;
        wider.alpha = min(sqrt(wider.alpha * wider.alpha + 0.25 * wide * wide), 1.0);
        vec3 diffuse;
        evaluate_brdf(wider, light.l, diffuse, chosen.specular_part);
        chosen.specular_part *= light.illuminance * light.kept;
    }
    chosen.target = luminance(chosen.diffuse_part + chosen.specular_part);
    return chosen;
}

// Contribution of sample `i` of `count` VPLs, chosen by `u` from `candidates`, if unoccluded; its
// index, NONE where no VPL contributes. `all`: VPL i.
uint sample_vpls(uint i, uint count, uint candidates, vec2 u, bool all, bool seen,
    out VplSample chosen) {
    chosen = VplSample(vec3(0.0), vec3(0.0), 0.0, 0.0);
    uint vpl = NONE;
    bool shines = seen && (gi.flags & GI_SPECULAR_VPLS) != 0u
        && sqrt(vertex.s.alpha) >= gi.min_specular_roughness && !layered;
    Reservoir reservoir = Reservoir(0.0, fract(u.y + 0.61803399 * float(i)));
    for (uint j = 0u; j < candidates; ++j) {
        float probability = 1.0;
        uint index = i;
        if (!all) {
            float at = (float(i * candidates + j) + u.x) / float(count * candidates);
            index = sample_vpl(vertex.s.position - gi.anchor, seen ? vertex.s.normal : ray_normal,
                at, probability);
        }
        if (index != NONE) {
            VplSample candidate = evaluate_vpl(index, seen, shines);
            if (takes(reservoir, candidate.target / probability)) {
                chosen = candidate;
                vpl = index;
            }
        }
    }
    if (vpl == NONE || !(chosen.target > 0.0)) {
        return NONE;
    }
    float weight = reservoir.sum
        / (chosen.target * float(candidates) * (all ? 1.0 : float(count)));
    chosen.diffuse_part *= weight;
    chosen.specular_part *= weight;
    chosen.taken *= weight;
    return vpl;
}

// Fraction of a lobe's light in which emission that lights nothing is visible, as by the path
// tracer (src/reference/bsdf/emission_visibility.rs).
float emission_visibility(Surface s) {
    return roughness_fade(sqrt(s.alpha), 0.6);
}

// Makes the surface that the ray hit the vertex.
void set_hit_vertex() {
    HitMaterial m = hit_materials[bvh_instances[hit.instance].surface & ~BVH_NO_SHADOW];
    ray_origin = hit_position(hit);
    ray_normal = triangle_normal(bvh_instances[hit.instance], bvh_triangles[hit.triangle]);
    bool back = dot(ray_normal, ray.direction) > 0.0;
    ray_normal = back ? -ray_normal : ray_normal;
    if (next_ray.cosine > 0.0) {
        // The part that the clamp takes from VPLs about the hit.
        float geometry = next_ray.cosine * abs(dot(ray_normal, ray.direction))
            / max(hit.t * hit.t, 1e-12);
        path.diffuse = is_compensated() && hit.t < gi.clamp_distance
            ? 1.0 - 1.0 / max(geometry * gi.clamp_distance * gi.clamp_distance, 1.0) : 0.0;
    }
    vertex.diffuse = m.diffuse;
    vertex.emission = back && m.double_sided == 0u ? vec3(0.0) : m.emission;
    vertex.diffuse_part = path.diffuse > 0.0 && m.diffuse != vec3(0.0);
    vertex.specular_part = m.specular != vec3(0.0);
    vec3 normal = vertex.specular_part ? smooth_normal(hit, ray.direction, ray_normal)
        : ray_normal;
    vertex.s = Surface(ray_origin, normal, -ray.direction, m.specular, 1.0,
        max(m.alpha, MIN_HIT_ALPHA));
}

// Samples the next ray: the path's if it `continues`, else the first one of the next path. False
// if that path has none; the path after it may.
bool sample_next_ray(bool continues) {
    next_ray.continues = continues;
    bool specular = vertex.specular_part;
    bool wanted = true;
    // The ray restores the light that the clamp takes from the VPL highlights of a rough metal.
    bool compensates = false;
    vec2 turn;
    if (continues) {
        next_ray.kind = path.kind;
        turn = random_2d(path_pixel() + NEXT_TURN * path.step, gi.history.number);
    } else {
        ++next_ray.kind;
        if (next_ray.kind == RAYS_DONE) {
            return false;
        }
        // Read for each path: a surface kept over all rays would take many registers.
        wanted = load_surface(ivec2(pixel), pixel_depth, vertex.s);
        ray_origin = pixel_origin;
        ray_normal = pixel_away;
        specular = next_ray.kind == RAY_SPECULAR;
        bool mirrors = (gi.flags & GI_SPECULAR_RAYS) != 0u
            && sqrt(vertex.s.alpha) < gi.min_specular_roughness;
        compensates = specular && is_compensated() && (gi.flags & GI_SPECULAR_VPLS) != 0u
            && sqrt(vertex.s.alpha) >= gi.min_specular_roughness
            && vertex.s.metallic * max_of(vertex.s.base_color) > MIN_COMPENSATED_F0;
        next_ray.steps = !specular ? MAX_DIFFUSE_BOUNCES
            : mirrors || compensates ? MAX_SPECULAR_BOUNCES : 0u;
        if (next_ray.kind == RAY_TO_SURFACE) {
            pixel_albedo = approximate_specular_albedo(vertex.s);
            float span = distance(vertex.s.position,
                position_at(ivec2(pixel), pixel_depth * (1.0 - 6e-5) - 2.4e-7));
            ray = Ray(vertex.s.position + vertex.s.view * span, -vertex.s.view, vec3(0.0),
                2.0 * span);
            return wanted;
        }
        wanted = specular ? (traces_sky() || mirrors || compensates) && !layered
            : traces_sky() || is_compensated() || traces_caustics();
        turn = fract(texel_noise(specular ? texel + uvec2(3u, 5u) : texel.yx)
            + (specular ? vec2(0.75, 0.5) : vec2(0.5, 0.25)));
    }
    ray = Ray(ray_origin, vec3(0.0), ray_normal, UNBOUNDED);
    if (specular) {
        ray.direction = sample_reflection(vertex.s, turn);
        float weight = vndf_weight(vertex.s, ray.direction);
        float w = schlick_weight(clamp(dot(vertex.s.view,
            normalize(ray.direction + vertex.s.view)), 0.0, 1.0));
        vec3 f0 = continues ? vertex.s.base_color
            : mix(vec3(DIELECTRIC_F0), vertex.s.base_color, vertex.s.metallic);
        w *= continues ? max_of(vertex.s.base_color) : 1.0;
        next_ray.cosine = compensates ? dot(vertex.s.normal, ray.direction) : 0.0;
        next_ray.reflected = weight * mix(f0, vec3(1.0), w);
        wanted = wanted && weight > 0.0;
        float blur = sqrt(vertex.s.alpha);
        blur = next_ray.kind == RAY_SPECULAR ? LOBE_BLUR * blur : blur;
        next_ray.sky_blur = continues ? max(blur, DIFFUSE_BLUR) : blur;
        next_ray.sky_direction = ray.direction;
        if ((gi.flags & GI_LOBE_SKY) != 0u && !continues) {
            vec2 scale_bias = environment_reflectances(vertex.s).xy;
            float whole = smoothstep(LOBE_SKY.x, LOBE_SKY.y, sqrt(vertex.s.alpha));
            next_ray.reflected =
                mix(next_ray.reflected, f0 * scale_bias.x + scale_bias.y, whole);
            vec3 middle = lobe_middle(vertex.s.normal, vertex.s.view, vertex.s.alpha);
            next_ray.sky_direction = normalize(mix(ray.direction, middle, whole));
            next_ray.sky_blur = mix(blur, sqrt(vertex.s.alpha), whole);
        }
    } else {
        ray.direction = sample_cosine_hemisphere(vertex.s.normal, turn);
        next_ray.sky_direction = ray.direction;
        next_ray.cosine = dot(vertex.s.normal, ray.direction);
        float brdf = diffuse_brdf_at(vertex.s, ray.direction);
        next_ray.reflected = continues ? vertex.diffuse : vec3(brdf * PI / next_ray.cosine);
        wanted = wanted && (continues || next_ray.cosine > 1e-4 && brdf > 0.0);
        // Diffuse environment light of a hit is included in its direct light.
        next_ray.sky_blur = continues ? NO_SKY : DIFFUSE_BLUR;
        ray.reach = traces_caustics() || traces_sky() && !continues ? UNBOUNDED
            : gi.clamp_distance;
    }
    next_ray.sky_blur = traces_sky() && has_environment_map() ? next_ray.sky_blur : NO_SKY;
    return wanted && dot(ray.direction, ray_normal) > 0.0;
}

bool all_lights() {
    return frame.light_count <= MAX_HIT_LIGHTS;
}

// Evaluates the lights at the vertex, without shadows.
void evaluate_lights() {
    bool seen = path.kind == RAY_TO_SURFACE;
    vec2 u = next_sample(path_pixel(), gi.round);
    bool lit = vertex.diffuse_part || vertex.specular_part;
    lit_by.seen = seen;
    lit_by.u = u;
    lit_by.first = 0u;
    lit_by.count = lit ? frame.light_count : 0u;
    lit_by.scale = 1.0;
    if (lit && !all_lights()) {
        float probability;
        uint chosen = choose_hit_light(vertex.s, u.x, probability);
        lit_by.first = chosen == NONE ? 0u : chosen;
        lit_by.count = chosen == NONE ? 0u : 1u;
        lit_by.scale = 1.0 / max(probability, 1e-30);
    }
    lit_by.shadowed = 0u;
    lit_by.all_vpls = seen && (gi.flags & GI_ALL_VPLS) != 0u;
    lit_by.vpls = gi.vpl_count == 0u ? 0u : lit_by.all_vpls ? gi.vpl_count
        : seen ? gi.vpl_samples : vertex.diffuse_part ? 1u : 0u;
    lit_by.vpl_illuminance = vec3(0.0);
    lit_by.sky = vertex.diffuse_part && traces_environment();
    lit_by.sky_visible = false;
    lit_by.sky_direction = vec3(0.0);
    for (uint i = 0u; i < lit_by.count; ++i) {
        vec3 highlight;
        vec3 e = hit_light_illuminance(lights[lit_by.first + i], vertex.s, vertex.specular_part,
            highlight);
        hit_illuminance[i] = e;
        hit_highlight[i] = highlight;
        hit_visibility[i] = vec2(0.0);
        bool visible = e != vec3(0.0) && (vertex.diffuse_part || highlight != vec3(0.0));
        if (visible && (lights[lit_by.first + i].kind & LIGHT_SHADOW) != 0u
            && frame.shadow_method != SHADOWS_OFF) {
            lit_by.shadowed |= 1u << i;
        }
    }
}

void add_vpl(VplSample chosen) {
    if (lit_by.seen) {
        diffuse_sum += chosen.diffuse_part;
        specular_sum += chosen.specular_part;
        taken_sum += chosen.taken;
    } else {
        lit_by.vpl_illuminance = chosen.diffuse_part;
    }
}

// Traces all rays of the vertex. The last one, which may continue the path, finds the next vertex.
void trace_rays(bool continues) {
    uint light_rays = lit_by.count * HIT_SAMPLES;
    uint vpl_rays = light_rays + lit_by.vpls;
    uint shadow_rays = vpl_rays + (lit_by.sky ? 1u : 0u);
    uint candidates = lit_by.all_vpls || path.kind == RAY_DIFFUSE ? 1u : CANDIDATES;
    vec2 light_u = all_lights() ? lit_by.u
        : fract(lit_by.u * vec2(CHOICE_BITS, 1.0));
    vec2 vpl_u = lit_by.seen ? texel_noise(texel) : lit_by.u.yx;
    uint number = 0u;
    uint panes = 0u;
    float gone = 0.0;
    hit.instance = NONE;
    while (true) {
        uint purpose = panes > 0u ? TO_NEXT_VERTEX : TO_NOTHING;
        VplSample chosen = VplSample(vec3(0.0), vec3(0.0), 0.0, 0.0);
        float light_weight = 0.0;
        // Lights below the horizon and VPLs without contribution need no ray.
        while (purpose == TO_NOTHING && number <= shadow_rays) {
            uint current = number++;
            ray.origin = ray_origin;
            ray.away = ray_normal;
            ray.reach = 1.0 - LIGHT_RAY_MARGIN;
            if (current < light_rays) {
                uint i = current / HIT_SAMPLES;
                uint sample_number = current % HIT_SAMPLES;
                uint light = lit_by.first + i;
                uint kind = lights[light].kind & LIGHT_KIND_BITS;
                uint count = kind == LIGHT_POINT || kind == LIGHT_DIRECTIONAL ? 1u : HIT_SAMPLES;
                bool needed = (lit_by.shadowed >> i & 1u) != 0u;
                number = !needed || sample_number + 1u >= count ? (i + 1u) * HIT_SAMPLES : number;
                if (needed) {
                    vec4 to = sample_light(lights[light], vertex.s.normal,
                        light_sample(sample_number, count, light_u));
                    ray.direction = to.xyz;
                    light_weight = to.w;
                    hit_visibility[i].x += max(light_weight, 0.0);
                    purpose = light_weight > 0.0 ? i : TO_NOTHING;
                }
            } else if (current < vpl_rays) {
                uint vpl = sample_vpls(current - light_rays, lit_by.vpls, candidates, vpl_u,
                    lit_by.all_vpls, lit_by.seen, chosen);
                if (vpl != NONE && (gi.flags & GI_VISIBILITY) != 0u) {
                    ray.direction = vpl_shadow_ray(ray_origin, vpls[vpl]);
                    // Its end already lies before the VPL: a margin along the ray would let it
                    // pass a wall that meets the VPL's.
                    ray.reach = 1.0;
                    if (lit_by.seen) {
                        ray.origin = ray_start(ray.direction);
                        ray.direction += ray_origin - ray.origin;
                    }
                    purpose = TO_VPL;
                } else if (vpl != NONE) {
                    add_vpl(chosen);
                }
            } else if (current < shadow_rays) {
                ray.direction = sample_cosine_hemisphere(ray_normal,
                    fract(lit_by.u.yx + vec2(0.21, 0.43)));
                ray.reach = UNBOUNDED;
                lit_by.sky_direction = ray.direction;
                purpose = TO_SKY;
            } else if (sample_next_ray(continues)) {
                purpose = TO_NEXT_VERTEX;
            } else {
                // The path ends. After that of the hemisphere, the one of the reflection follows.
                bool more = next_ray.kind == RAY_DIFFUSE;
                number = more ? current : number;
                next_ray.kind = more ? next_ray.kind : RAYS_DONE;
                next_ray.continues = false;
                continues = false;
            }
        }
        if (purpose == TO_NOTHING) {
            break;
        }
        bool to_next = purpose == TO_NEXT_VERTEX;
        BvhHit found = trace_ray(ray.origin + ray.direction * gone, ray.direction,
            panes > 0u ? ray.direction : ray.away, ray.reach - gone, !to_next);
        bool free = found.instance == NONE;
        if (to_next) {
            hit = found;
            hit.t += gone;
            // Clear panes, which cast no shadow, let the ray through.
            if (free || next_ray.kind == RAY_TO_SURFACE || panes == PANES
                || (bvh_instances[hit.instance].surface & BVH_NO_SHADOW) == 0u) {
                break;
            }
            // From the hit itself: `t` is measured from the lifted origin, and the ray would hit
            // the pane again.
            gone = dot(hit_position(hit) - ray.origin, ray.direction);
            ++panes;
        } else if (free && purpose == TO_VPL) {
            add_vpl(chosen);
        } else if (free && purpose == TO_SKY) {
            lit_by.sky_visible = true;
        } else if (free) {
            hit_visibility[purpose].y += light_weight;
        }
    }
}

// Adds the light of the vertex to the path; `sky_light` (nits): of the environment.
void add_vertex_light(vec3 sky_light) {
    vec3 sum = vec3(0.0);
    vec3 highlights = vec3(0.0);
    for (uint i = 0u; i < lit_by.count; ++i) {
        vec2 visibility = hit_visibility[i];
        float share = (lit_by.shadowed >> i & 1u) == 0u ? 1.0
            : visibility.x > 0.0 ? visibility.y / visibility.x : 0.0;
        sum += hit_illuminance[i] * share * lit_by.scale;
        highlights += hit_highlight[i] * share * lit_by.scale;
    }
    if (vertex.diffuse_part) {
        sum += lit_by.vpl_illuminance + PI * sky_light;
        path.light += path.throughput * vertex.diffuse * (path.diffuse / PI) * sum;
    }
    path.light += path.throughput * (highlights + path.emission * vertex.emission);
}

// Counts the limits that cut the path at its vertex: of surfaces, if more than 1/512 of the
// vertex's light reaches the pixel's surface, and of the clear panes that the last ray passes.
void count_limits() {
    if (path.kind == RAY_SPECULAR && path.step == path.steps && vertex.specular_part
        && max_of(path.throughput) > 1.0 / 512.0) {
        atomicAdd(limit_counters.mirror_paths, 1u);
    }
    if (hit.instance != NONE && next_ray.kind != RAY_TO_SURFACE
        && (bvh_instances[hit.instance].surface & BVH_NO_SHADOW) != 0u) {
        atomicAdd(limit_counters.pane_rays, 1u);
    }
}

void main() {
    texel = group_pixel();
    if (any(greaterThanEqual(texel, gi.gathered_size))) {
        return;
    }
    pixel = gathered_pixel(texel);
    pixel_depth = texelFetch(depth_image, ivec2(pixel), 0).x;
    layered = texelFetch(emission_image, ivec2(pixel), 0).a >= FORWARD_MARK;
    pixel_origin = vec3(0.0);
    pixel_away = vec3(0.0);
    pixel_albedo = vec3(1.0);
    diffuse_sum = vec3(0.0);
    specular_sum = vec3(0.0);
    taken_sum = 0.0;
    bool lit = pixel_depth > 0.0 && (gi.flags & GI_FROZEN) == 0u;
    path = Path(lit ? RAY_NONE : RAYS_DONE, 0u, 0u, vec3(0.0), vec3(1.0), vec3(0.0), 0.0,
        0.0);
    next_ray = NextRay(RAY_NONE, false, 0u, vec3(0.0), 0.0, NO_SKY, vec3(0.0));
    ray = Ray(vec3(0.0), vec3(0.0), vec3(0.0), 0.0);
    hit = BvhHit(0.0, vec2(0.0), NONE, 0u);
    // The first iteration has no vertex, only the ray to the pixel's surface.
    while (path.kind != RAYS_DONE) {
        bool missed = path.kind != RAY_TO_SURFACE && hit.instance == NONE;
        vec3 missed_direction = next_ray.sky_direction;
        float sky_blur = missed ? next_ray.sky_blur : NO_SKY;
        vertex.diffuse_part = false;
        vertex.specular_part = false;
        vertex.emission = vec3(0.0);
        if (path.kind == RAY_TO_SURFACE) {
            set_shadow_ray_origin_at(hit, vertex.s, 0.5 * ray.reach);
            pixel_origin = ray_origin;
            pixel_away = ray_normal;
        } else if (!missed && path.step <= path.steps) {
            set_hit_vertex();
        }
        evaluate_lights();
        // A diffuse surface continues the path for the light that the clamp takes from its VPLs,
        // and for caustics of narrow lobes.
        trace_rays(path.step < path.steps && (vertex.specular_part || vertex.diffuse_part
            && (is_compensated() || traces_caustics())));

        vec3 sky_light = vec3(0.0);
        sky_blur = lit_by.sky_visible ? DIFFUSE_BLUR : sky_blur;
        if (has_environment_map() && sky_blur >= 0.0) {
            sky_light = sky_luminance(missed ? missed_direction : lit_by.sky_direction, sky_blur);
        }
        if (missed) {
            path.light += path.throughput * sky_light;
        } else {
            add_vertex_light(sky_light);
        }
        count_limits();
        if (next_ray.continues) {
            path.throughput *= next_ray.reflected * (vertex.specular_part ? 1.0 : path.diffuse);
            path.diffuse = 1.0;
            path.emission *= vertex.specular_part ? emission_visibility(vertex.s) : 0.0;
            ++path.step;
        } else {
            diffuse_sum += path.kind == RAY_DIFFUSE ? path.light * path.weight : vec3(0.0);
            specular_sum += path.kind == RAY_SPECULAR ? path.light * path.weight : vec3(0.0);
            path = Path(next_ray.kind, 1u, next_ray.steps, vec3(0.0), vec3(1.0),
                next_ray.reflected, 1.0,
                next_ray.kind == RAY_SPECULAR ? emission_visibility(vertex.s) : 0.0);
        }
    }
    count_clamped_light(diffuse_sum * frame.pre_exposure);
    imageStore(diffuse_image, ivec2(texel), vec4(to_half_range(diffuse_sum * frame.pre_exposure),
        min(taken_sum * frame.pre_exposure, 60000.0)));
    vec3 specular = specular_sum * frame.pre_exposure / pixel_albedo;
    specular = mix(vec3(0.0), specular, greaterThan(specular, vec3(0.0)));
    imageStore(specular_image, ivec2(texel), vec4(min(specular, 1e9), 0.0));
}
