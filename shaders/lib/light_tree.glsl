// Sampling of the local lights by their light tree (docs/clustered-lights.md, "Light cuts"). The
// including shader declares `frame` and `nodes`, and has the BRDF. DIFFUSE_LIGHT_TREE estimates
// diffuse light alone, with less code.
#ifndef LIB_LIGHT_TREE
#define LIB_LIGHT_TREE
#include "lib/cone_angles.glsl"
#include "lib/luminance.glsl"

// True if a position is outside of the cones of all lights of a node. `l`: to the node's center;
// `wide`: sine of the node's angular radius, 1 inside.
bool is_outside_cone(LightNode node, vec3 l, float wide) {
    vec2 turned = less_angle(with_sine(-dot(node.axis, l)), with_sine(node.cos_spread));
    return node.cos_spread > -1.0 && wide < 1.0
        && less_angle(turned, vec2(sqrt(1.0 - wide * wide), wide)).x < 0.99999;
}

// Minimum of the estimated cosine: lights of a node that faces the surface less may do so fully.
const float MIN_NODE_COSINE = 0.05;

// What a surface reflects, without its colors.
struct Reflector {
    vec3 diffuse;          // 1/sr by channel
    vec3 specular;         // F0 by channel
    bool any_direction;    // water refracts the light of the nodes
};

Reflector reflector_of(Surface s, bool any_direction) {
    float nv = max(dot(s.normal, s.view), 0.0);
    vec3 f0 = mix(vec3(DIELECTRIC_F0), s.base_color, s.metallic);
    // Half of the Fresnel reflectance of the mirror direction, as a mean over directions.
    return Reflector(s.base_color * ((1.0 - s.metallic) * (1.0 - DIELECTRIC_F0) / PI),
        mix(f0, vec3(1.0), 0.5 * schlick_weight(nv)), any_direction);
}

// Estimated light of a node: factors of the reflector's diffuse and specular colors per intensity
// (1/m^2 and 1/(m^2 sr)). z: 0 if no light of the node reaches the surface, else 1.
//
// After Conty Estevez and Kulla 2018, "Importance Sampling of Many Lights With Adaptive Tree
// Splitting", section 4, with two means. The inverse squared distance is the mean over a disk of
// the node's radius r in whose plane the point is: -ln(1 - r^2 / d^2) / r^2 outside, and inside up
// to the mean distance of the lights. The cosine is the mean over the directions to the node. The
// GGX lobe is widened by the node's angular radius: Karis 2013, "Real Shading in Unreal Engine 4".
vec3 node_light(LightNode node, uint index, Surface s, bool any_direction) {
    vec3 to = node.center - s.position;
    float r2 = node.radius * node.radius;
    float d2 = max(dot(to, to), 1e-12);
    float inverse_d = inversesqrt(d2);
    vec3 l = to * inverse_d;
    float lights = float((node.skip - index + 1u) / 2u);
    float near2 = max(max(d2 - r2, r2 / lights), 1e-12);
    float x = r2 / near2;
    float falloff = x < 1e-3 ? (1.0 - 0.5 * x) / near2 : log(1.0 + x) / r2;
    float wide = min(node.radius * inverse_d, 1.0);
    // Around the position directions cancel.
    float middle = dot(s.normal, l) * min(1.0 / max(node.radius * inverse_d, 1e-6), 1.0);
    float cosine = mean_cosine(middle, wide);
    bool reaches = any_direction || cosine > 0.0 && !is_outside_cone(node, l, wide);
    cosine = max(cosine, MIN_NODE_COSINE);
#ifdef DIFFUSE_LIGHT_TREE
    float shine = 0.0;
#else
    vec3 h = l + s.view;
    h *= inversesqrt(max(dot(h, h), 1e-12));
    float alpha = min(s.alpha + 0.5 * wide, 1.0);
    float nh = clamp(dot(s.normal, h), 0.0, 1.0);
    float nv = max(dot(s.normal, s.view), 1e-2);
    float shine = d_ggx(s.normal, h, nh, alpha) * v_smith(cosine, nv, alpha);
#endif
    return vec3(falloff * cosine * vec2(1.0, shine), reaches ? 1.0 : 0.0);
}

// Samples a light below a node by `u` in 0 to 1, and multiplies `probability` by its probability;
// NONE where none contributes.
uint sample_node(uint at, float u, Surface s, Reflector reflector, inout float probability) {
    LightNode node = nodes[at];
    // Nodes differ little in color.
    vec2 colors = vec2(luminance(reflector.diffuse), luminance(reflector.specular));
    while (node.light == NONE) {
        uint first = at + 1u;
        uint second = nodes[first].skip;
        float weights[2];
        LightNode children[2];
        for (uint i = 0u; i < 2u; ++i) {
            uint child = i == 0u ? first : second;
            children[i] = nodes[child];
            vec3 light = node_light(children[i], child, s, reflector.any_direction);
            weights[i] = luminance(children[i].intensity) * dot(light.xy, colors) * light.z;
        }
        float sum = weights[0] + weights[1];
        if (!(sum > 0.0)) {
            return NONE;
        }
        float share = weights[0] / sum;
        bool left = u < share;
        u = clamp(left ? u / share : (u - share) / (1.0 - share), 0.0, 0.99999994);
        probability *= left ? share : 1.0 - share;
        at = left ? first : second;
        node = left ? children[0] : children[1];
    }
    return node.light;
}

#endif
