// Patches that bounced light made (src/gi), and the tree by which one of them is chosen. The including shader declares `gi`
// and includes lib/traced.glsl.
#ifndef LIB_PATCHES
#define LIB_PATCHES

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

// Illuminance that a node gives a plane, up to a factor, never 0 where any of its patches gives any: Conty Estevez and Kulla
// 2018, "Importance Sampling of Many Lights With Adaptive Tree Splitting", section 4. Exact for a leaf in the open.
float node_weight(VplNode node, vec3 place, vec3 normal) {
    vec3 half_size = 0.5 * (node.high - node.low);
    vec3 to = 0.5 * (node.low + node.high) - place;
    float r2 = dot(half_size, half_size);
    float d2 = dot(to, to);
    float least = max(gi.shortest * gi.shortest, r2);
    if (d2 <= r2) {
        return node.flux / max(least, 1e-12);
    }
    vec3 l = to * inversesqrt(d2);
    vec2 around = with_sine(sqrt(1.0 - r2 / d2));
    float received = less_angle(with_sine(dot(normal, l)), around).x;
    vec2 sent = less_angle(with_sine(-dot(unpack_vertex_normal(node.axis), l)), with_sine(node.cos_spread));
    float left = less_angle(sent, around).x;
    return received > 0.0 && left > 0.0 ? node.flux * received * left / max(d2, least) : 0.0;
}

// One patch for a place (relative to the anchor), by `u` from 0 to 1, and how probable it was; NONE where none lights it.
uint choose_patch(vec3 place, vec3 normal, float u, out float probability) {
    uint at = 0u;
    probability = 1.0;
    while (vpl_nodes[at].leaf == 0u) {
        uint first = vpl_nodes[at].first;
        float a = node_weight(vpl_nodes[first], place, normal);
        float b = node_weight(vpl_nodes[first + 1u], place, normal);
        float sum = a + b;
        if (sum <= 0.0) {
            return NONE;
        }
        float share = a / sum;
        bool left = u < share && a > 0.0 || b <= 0.0;
        u = clamp(left ? u / share : (u - share) / (1.0 - share), 0.0, 0.99999994);
        probability *= left ? share : b / sum;
        at = left ? first : first + 1u;
    }
    return vpl_nodes[at].first;
}

// Light of a patch at a place in the open.
struct PatchLight {
    vec3 to;               // to the patch (m)
    vec3 l;                // unit
    vec3 illuminance;      // lx by channel on a plane that faces it
    float kept;            // of it, the part below the bound
};

// `normal`: of the surface there. min(G, b) with b = 1 / shortest^2: Kollig and Keller 2004, "Illumination in the Presence
// of Weak Singularities", section 3. Radiant intensity is flux / pi times the cosine.
PatchLight patch_light(Vpl vpl, vec3 place, vec3 normal) {
    PatchLight light;
    light.to = vpl.position - place;
    float d2 = max(dot(light.to, light.to), 1e-12);
    light.l = light.to * inversesqrt(d2);
    float sent = max(-dot(unpack_vertex_normal(vpl.normal), light.l), 0.0);
    light.illuminance = vpl.flux * (sent / (PI * d2));
    float geometry = sent * max(dot(normal, light.l), 0.0) / d2;
    light.kept = min(1.0, 1.0 / max(geometry * gi.shortest * gi.shortest, 1e-20));
    return light;
}

// Whether nothing is between a surface, left to the side of `away`, and a patch.
bool patch_is_seen(vec3 origin, vec3 away, PatchLight light) {
    return (gi.flags & GI_VISIBILITY) == 0u
        || trace_ray(origin, light.to, away, 1.0 - BEFORE_LAMP, true).instance == NONE;
}

#endif
