// Virtual point lights (src/gi) and their light tree, with importance sampling. The including
// shader declares `gi` and includes lib/shadow_ray_origin.glsl.
#ifndef LIB_VPLS
#define LIB_VPLS
#include "lib/cone_angles.glsl"

layout(set = 0, binding = 40, scalar) readonly buffer vpl_block { Vpl vpls[]; };
layout(set = 0, binding = 41, scalar) readonly buffer vpl_node_block { VplNode vpl_nodes[]; };

// Maximum and estimated illuminance of a plane by a node, up to a factor: Conty Estevez and Kulla
// 2018, "Importance Sampling of Many Lights With Adaptive Tree Splitting", section 4, with maximum
// cosines, and with mean cosines about the node's center. The maximum is positive where any VPL
// contributes; both are exact for an unoccluded leaf.
//
// The inverse squared distance is replaced by its mean over a disk of the node's radius r at the
// distance d of the box: ln(1 + r^2 / d^2) / r^2. In a node around the position few VPLs contribute
// most.
vec2 node_weights(VplNode node, vec3 place, vec3 normal) {
    vec3 half_size = 0.5 * (node.high - node.low);
    vec3 to = 0.5 * (node.low + node.high) - place;
    float r2 = dot(half_size, half_size);
    float d2 = max(dot(to, to), 1e-12);
    vec3 outside = max(abs(to) - half_size, vec3(0.0));
    float near2 = max(max(dot(outside, outside), gi.clamp_distance * gi.clamp_distance), 1e-12);
    float x = r2 / near2;
    float most = node.flux * (x < 1e-3 ? (1.0 - 0.5 * x) / near2 : log(1.0 + x) / r2);
    vec3 l = to * inversesqrt(d2);
    vec2 received = with_sine(dot(normal, l));
    vec2 sent = with_sine(-dot(unpack_vertex_normal(node.axis), l));
    float wide = min(sqrt(r2 / d2), 1.0);
    // Around the position directions cancel, and so do normals in a wide cone.
    float middle = min(sqrt(d2 / max(r2, 1e-12)), 1.0);
    float turned = with_sine(node.cos_spread).y;
    turned = node.cos_spread > 0.0 ? turned : 1.0;
    float about = most * mean_cosine(received.x * middle, wide)
        * mean_cosine(sent.x * middle * (0.5 + 0.5 * node.cos_spread), min(wide + turned, 1.0));
    if (d2 > r2) {
        vec2 around = with_sine(sqrt(1.0 - r2 / d2));
        received = less_angle(received, around);
        sent = less_angle(less_angle(sent, with_sine(node.cos_spread)), around);
        most *= max(received.x, 0.0) * max(sent.x, 0.0);
    }
    return vec2(most, most > 0.0 ? about : 0.0);
}

// Weight of the maximum in the choice probabilities. Bright nodes chosen too rarely cause
// fireflies; dim nodes chosen too often make all others noisy.
const float CAUTION = 0.25;

// Samples one VPL for a position (relative to the anchor) by `u` in 0 to 1, with its probability;
// NONE where none contributes.
uint sample_vpl(vec3 place, vec3 normal, float u, out float probability) {
    uint at = 0u;
    probability = 1.0;
    while (vpl_nodes[at].leaf == 0u) {
        uint first = vpl_nodes[at].first;
        // One call site, since functions are inlined.
        vec2 a = vec2(0.0);
        vec2 b = vec2(0.0);
        for (uint i = 0u; i < 2u; ++i) {
            a = b;
            b = node_weights(vpl_nodes[first + i], place, normal);
        }
        vec2 sum = a + b;
        if (sum.x <= 0.0) {
            return NONE;
        }
        float share = a.x / sum.x;
        share = sum.y > 0.0 ? mix(a.y / sum.y, share, CAUTION) : share;
        bool left = u < share && a.x > 0.0 || b.x <= 0.0;
        u = clamp(left ? u / share : (u - share) / (1.0 - share), 0.0, 0.99999994);
        probability *= left ? share : 1.0 - share;
        at = left ? first : first + 1u;
    }
    return vpl_nodes[at].first;
}

// Unoccluded light of a VPL at a position.
struct VplLight {
    vec3 to;               // to the VPL (m)
    vec3 l;                // unit
    vec3 illuminance;      // lx by channel on a plane that faces it
    float kept;            // fraction that remains after clamping
};

// `normal`: of the receiver. min(G, b) with b = 1 / clamp_distance^2: Kollig and Keller 2004,
// "Illumination in the Presence of Weak Singularities", section 3. Radiant intensity is flux / pi
// times the cosine.
VplLight vpl_light(Vpl vpl, vec3 place, vec3 normal) {
    VplLight light;
    light.to = vpl.position - place;
    float d2 = max(dot(light.to, light.to), 1e-12);
    light.l = light.to * inversesqrt(d2);
    float sent = max(-dot(unpack_vertex_normal(vpl.normal), light.l), 0.0);
    light.illuminance = vpl.flux * (sent / (PI * d2));
    float geometry = sent * max(dot(normal, light.l), 0.0) / d2;
    light.kept = min(1.0, 1.0 / max(geometry * gi.clamp_distance * gi.clamp_distance, 1e-20));
    return light;
}

// Shadow rays end this fraction of the VPL's radius in front of it. Their origins are lifted by the
// rounding error (lib/bvh.glsl), which also lifts their ends: into the surface of the VPL where
// both face each other.
const float VPL_RAY_MARGIN = 0.01;

// Shadow ray from `origin` to a VPL; its length is the distance to the VPL.
vec3 vpl_shadow_ray(vec3 origin, Vpl vpl) {
    float off = max(VPL_RAY_MARGIN * vpl.size, 4.0 * BVH_SLACK * max_of(abs(origin)));
    return vpl.position + gi.anchor + unpack_vertex_normal(vpl.normal) * off - origin;
}

#endif
