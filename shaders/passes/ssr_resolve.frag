#version 460
// What each pixel reflects of the picture: the rays of its neighbours, each by what it counts for this pixel's surface.
//
// Stachowiak and Uludag 2015, "Stochastic Screen-Space Reflections" (SIGGRAPH course "Advances in Real-Time Rendering"):
// the sum of light times BRDF over density is divided by the sum of BRDF over density, and the surface's whole reflectance
// comes in by its split sum afterwards. Fresnel's term is in that, not in the weights.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/ssr.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 20, scalar) uniform ssr_block { SsrConstants ssr; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4) uniform texture2D emission_image;
layout(set = 0, binding = 5) uniform texture2D ray_image;
layout(set = 0, binding = 6) uniform utexture2D direction_image;
layout(set = 0, binding = 7) uniform texture2D surroundings_image;
layout(set = 0, binding = 8) uniform sampler2D picture_image;
#include "lib/ssr.glsl"

// Light that rays found, by its share of all rays; and the share that the surroundings keep, with what hides them.
layout(location = 0) out vec4 out_reflection;
// Length of the rays (m), where in the picture the one that counts most ended, shares of rays that found a surface and that
// found none.
layout(location = 1) out uvec4 out_met;

// Part of the picture's shorter side over which what rays find at an edge fades.
const float EDGE = 0.04;
// Below this alpha a full image of rays has the pixel's own ray only: a neighbour's counts nothing.
const float MIRROR = 0.0026;
// A neighbour's ray is used where the mirror turns by less than this part of the lobe between both pixels: farther off few of
// a neighbour's rays are likely here, and those count so much that the sum is of them alone. The tails of a lobe change
// slowly: their rays, which are few and make grain, are used from far (docs/reflections.md).
const float LOBE_PART = 0.35;
// Pixels that neighbours are off at most, and more by roughness.
const float REACH = 1.5;
const float REACH_ROUGH = 16.0;
// Half an image of rays has one for four pixels: lobes narrower than this alpha are told apart by no ray.
const float SPARSE = 0.02;

float edge_share(vec2 at) {
    vec2 inside = min(at, vec2(ssr.size) - at);
    float width = EDGE * float(min(ssr.size.x, ssr.size.y));
    return smoothstep(0.0, 1.0, clamp(min(inside.x, inside.y) / width, 0.0, 1.0));
}

// Where a mirror's own ray meets the plane that a neighbour's ray found (pixels); below 0 where it does not.
vec2 own_place(Surface s, vec3 mirrored, vec2 found, vec3 place) {
    vec3 normal = unpack_normal(texelFetch(normal_image, ivec2(found), 0).x);
    float towards = dot(mirrored, normal);
    float t = dot(place - s.position, normal) / min(towards, -1e-3);
    vec4 clip = frame.view_projection * vec4(s.position + mirrored * t, 1.0);
    vec2 own = (clip.xy / clip.w + 1.0) * 0.5 * vec2(ssr.size);
    return towards < -1e-3 && clip.w > 0.0 && distance(own, found) < 4.0 * float(ssr.scale) ? own : vec2(-1.0);
}

// Neighbours whose rays a pixel uses: in an ellipse, for lobes are as wide across the plane of incidence as the cosine to the
// view makes them.
struct Neighbourhood {
    mat2 half_axes;     // in the picture (texels of the image of rays), the first across
    float lobe;         // the part of it where mirrors turn by LOBE_PART of a lobe of a facet's slope of 1
    uint taps;
};

Neighbourhood neighbourhood(Surface s, float depth) {
    float most = REACH + REACH_ROUGH * sqrt(s.alpha);
    vec3 right = normalize(frame.inverse_projection[0].xyz);
    vec3 down = normalize(frame.inverse_projection[1].xyz);
    // Angle of a pixel (rad).
    float w = frame.inverse_projection[2].w * depth + frame.inverse_projection[3].w;
    float angle = 2.0 * length(frame.inverse_projection[1].xyz) / (float(ssr.size.y) * w * length(s.position));
    float cosine = clamp(dot(s.normal, s.view), 0.1, 1.0);
    vec3 side = cross(s.normal, s.view);
    vec2 across = vec2(dot(side, right), dot(side, down));
    across = dot(across, across) > 1e-6 ? normalize(across) : vec2(1.0, 0.0);
    vec2 half_axes = vec2(most * cosine, most) / float(ssr.scale);
    Neighbourhood n;
    n.half_axes = mat2(across * half_axes.x, vec2(-across.y, across.x) * half_axes.y);
    // Turning a facet turns what it reflects by twice that.
    n.lobe = LOBE_PART * 2.0 / (angle * most);
    // No more than there are texels.
    n.taps = min(ssr.taps, uint(max(4.0 * half_axes.x * half_axes.y, 2.0 * half_axes.y)) + 1u);
    return n;
}

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_image, pixel, 0).x;
    float open = texelFetch(surroundings_image, pixel, 0).a;
    out_reflection = vec4(0.0, 0.0, 0.0, open);
    out_met = uvec4(0u);
    Surface s;
    if (!reflecting_surface(pixel, depth, texelFetch(emission_image, pixel, 0).a, s)) {
        return;
    }
    float roughness = sqrt(s.alpha);
    bool sharp = s.alpha < MIRROR;
    Surface wide = s;
    wide.alpha = ssr.scale > 1u ? max(s.alpha, SPARSE) : s.alpha;
    vec3 mirrored = reflect(-s.view, s.normal);
    ivec2 own = pixel / int(ssr.scale);
    Neighbourhood around = neighbourhood(wide, depth);
    uint taps = sharp && ssr.scale == 1u ? 1u : around.taps;
    // Jimenez 2014: interleaved gradient noise turns the spiral.
    vec2 noise_at = gl_FragCoord.xy + 5.588238 * float(ssr.number & 63u);
    float turn = fract(52.9829189 * fract(dot(noise_at, vec2(0.06711056, 0.00583715))));
    vec3 light = vec3(0.0);
    float all = 0.0, met = 0.0, shown = 0.0, sky = 0.0, nearness = 0.0, most = -1.0;
    vec2 place = vec2(0.0);
    for (uint i = 0u; i < taps; ++i) {
        float away = float(i) / float(taps);
        float angle = 2.0 * PI * (turn + 0.61803399 * float(i));
        ivec2 texel = clamp(own + ivec2(round(around.half_axes * (away * vec2(cos(angle), sin(angle))))), ivec2(0), ivec2(ssr.rays) - 1);
        vec4 ray = texelFetch(ray_image, texel, 0);
        if (ray.w <= 0.0) {
            continue;
        }
        vec3 direction = unpack_normal(texelFetch(direction_image, texel, 0).x);
        float density = ray.w;
        if (texel * int(ssr.scale) != pixel) {
            ivec2 other = min(texel * int(ssr.scale), ivec2(ssr.size) - 1);
            vec3 beside = position_at(other, texelFetch(depth_image, other, 0).x);
            vec3 normal = unpack_normal(texelFetch(normal_image, other, 0).x);
            float off = abs(dot(beside - s.position, s.normal));
            if (off > 0.01 * length(s.position) || dot(normal, s.normal) < 0.8) {
                continue;
            }
            // Another place sees the end of a ray in another direction, and smaller or greater.
            vec3 to = beside + direction * abs(ray.z) - s.position;
            direction = normalize(to);
            density *= dot(to, to) / (ray.z * ray.z);
        }
        // A facet's slope there, with the lobe's own: from D of GGX, which falls by its square.
        vec3 h = normalize(direction + s.view);
        float nh = clamp(dot(s.normal, h), 0.01, 1.0);
        float slope = sqrt(wide.alpha / (nh * nh * sqrt(PI * d_ggx(s.normal, h, nh, wide.alpha))));
        float reach = around.lobe * slope;
        if (away > reach) {
            continue;
        }
        // As many taps lie within that reach: together they count as one.
        float weight = ray_weight(wide, direction, density) / (1.0 + floor(min(reach, 0.999) * float(taps)));
        if (!(weight > 0.0)) {
            continue;
        }
        float sure = 1.0;
        vec2 at = ray.z > 0.0 ? without_doubt(ray.xy, sure) : vec2(0.0);
        if (ray.z > 0.0 && sharp && ssr.scale > 1u) {
            at = own_place(s, mirrored, at, position_at(ivec2(at), texelFetch(depth_image, ivec2(at), 0).x));
            if (at.x < 0.0) {
                continue;
            }
        }
        all += weight;
        if (ray.z > 0.0) {
            float share = weight * edge_share(at) * sure;
            light += share * max(textureLod(picture_image, at / vec2(ssr.size), 0.0).rgb, 0.0);
            shown += share;
            met += weight;
            nearness += weight / ray.z;
            if (weight > most) {
                most = weight;
                place = at;
            }
        } else if (ray.z <= RAY_SKY) {
            sky += weight;
        }
    }
    if (!(all > 0.0)) {
        return;
    }
    float share = traced_share(roughness);
    float surroundings = (sky + max(all - shown - sky, 0.0) * open) / all;
    out_reflection = vec4(to_half_range(light / all * share), mix(open, surroundings, share));
    // What a wide lobe sees of surfaces moves, what it sees of the sky hardly has features.
    float t = met > (sharp ? sky : 0.1 * all) ? met / nearness : sky > 0.0 ? FAR_AWAY : 0.0;
    out_met = uvec4(floatBitsToUint(clamp(t, 0.0, FAR_AWAY)), packUnorm2x16(place / vec2(ssr.size)),
                    packUnorm2x16(vec2(shown, sky) / all), 0u);
}
