// Patches that bounced light made (src/gi), and the tree by which one of them is chosen. The
// including shader declares `gi` and includes lib/ray_traced_shadows.glsl.
#ifndef LIB_VPLS
#define LIB_VPLS

layout(set = 0, binding = 40, scalar) readonly buffer vpl_block { Vpl vpls[]; };
layout(set = 0, binding = 41, scalar) readonly buffer vpl_node_block { VplNode vpl_nodes[]; };

// The cosine of an angle less another one, at least of 0. Both are given by cosine and sine.
vec2 less_angle(vec2 angle, vec2 other) {
    return angle.x >= other.x ? vec2(1.0, 0.0)
                              : vec2(angle.x * other.x + angle.y * other.y, angle.y * other.x - angle.x * other.y);
}

vec2 with_sine(float cosine) {
    cosine = clamp(cosine, -1.0, 1.0);
    return vec2(cosine, sqrt(1.0 - cosine * cosine));
}

// Mean of a cosine, 0 where it is below, that is spread evenly by `spread` to both sides of its
// middle.
float mean_cosine(float middle, float spread) {
    float above = max(middle + spread, 0.0);
    return middle >= spread ? middle : above * above / max(4.0 * spread, 1e-6);
}

// What a node may give a plane at most and what it gives about, as illuminance up to a factor:
// Conty Estevez and Kulla 2018, "Importance Sampling of Many Lights With Adaptive Tree Splitting",
// section 4, with cosines at their greatest, and at the mean about the node's middle. The first is
// never 0 where any of its patches gives any; both are exact for a leaf in the open.
//
// In place of one over the square of the distance to the middle stands its mean over a disk of the
// node's radius r, that lies as far as the box is near: ln(1 + r^2 / d^2) / r^2. Of a node around
// the place few patches give most.
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
    // Around the place directions cancel, and so do normals in a wide cone.
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

// Of choices, the part by what nodes give at most: light that is rarely chosen though it gives much
// is a firefly, and so is all else where a node that gives little is chosen often.
const float CAUTION = 0.25;

// One patch for a place (relative to the anchor), by `u` from 0 to 1, and how probable it was; NONE
// where none lights it.
uint sample_vpl(vec3 place, vec3 normal, float u, out float probability) {
    uint at = 0u;
    probability = 1.0;
    while (vpl_nodes[at].leaf == 0u) {
        uint first = vpl_nodes[at].first;
        vec2 a = node_weights(vpl_nodes[first], place, normal);
        vec2 b = node_weights(vpl_nodes[first + 1u], place, normal);
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

// Light of a patch at a place in the open.
struct VplLight {
    vec3 to;               // to the patch (m)
    vec3 l;                // unit
    vec3 illuminance;      // lx by channel on a plane that faces it
    float kept;            // of it, the part below the bound
};

// `normal`: of the surface there. min(G, b) with b = 1 / shortest^2: Kollig and Keller 2004,
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

// Rays to a patch end by such a part of its radius before its surface. They leave theirs lifted by
// what rounding may move them (lib/bvh.glsl), so that their ends are lifted too: into the surface
// that the patch lies on, where both face each other.
const float VPL_RAY_MARGIN = 0.01;

// Whether nothing is between a surface, left to the side of `away`, and a patch.
bool vpl_visible(vec3 origin, vec3 away, Vpl vpl) {
    if ((gi.flags & GI_VISIBILITY) == 0u) {
        return true;
    }
    float off = max(VPL_RAY_MARGIN * vpl.size, 4.0 * BVH_SLACK * max_of(abs(origin)));
    vec3 to = vpl.position + gi.anchor + unpack_vertex_normal(vpl.normal) * off - origin;
    return trace_ray(origin, to, away, 1.0 - LIGHT_RAY_MARGIN, true).instance == NONE;
}

#endif
