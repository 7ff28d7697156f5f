// Extension parameters of a fragment, beyond lib/surface.glsl: factors times textures.
#ifndef LIB_EXTENDED_SURFACE
#define LIB_EXTENDED_SURFACE
#include "lib/ggx_sampling.glsl"

layout(set = 0, binding = 22, scalar)
    readonly buffer extended_material_block { ExtendedMaterial layered[]; };
layout(set = 2, binding = 0) uniform sampler2D transmission_texture;
layout(set = 2, binding = 1) uniform sampler2D thickness_texture;
layout(set = 2, binding = 2) uniform sampler2D specular_texture;
layout(set = 2, binding = 3) uniform sampler2D specular_color_texture;
layout(set = 2, binding = 4) uniform sampler2D coat_texture;
layout(set = 2, binding = 5) uniform sampler2D coat_roughness_texture;
layout(set = 2, binding = 6) uniform sampler2D coat_normal_texture;
layout(set = 2, binding = 7) uniform sampler2D sheen_color_texture;
layout(set = 2, binding = 8) uniform sampler2D sheen_roughness_texture;
layout(set = 2, binding = 9) uniform sampler2D anisotropy_texture;
layout(set = 2, binding = 10) uniform sampler2D iridescence_texture;
layout(set = 2, binding = 11) uniform sampler2D film_thickness_texture;
layout(set = 2, binding = 12) uniform sampler2D diffuse_transmission_texture;
layout(set = 2, binding = 13) uniform sampler2D diffuse_transmission_color_texture;

// Texture coordinates of all slots, computed in a loop: functions are inlined at each call site.
const uint LAYER_SLOTS = 14u;
TextureCoordinates layer_coordinates[LAYER_SLOTS];

void set_layer_coordinates() {
    uint index = materials[material_index].layers;
    for (uint slot = 0u; slot < LAYER_SLOTS; ++slot) {
        layer_coordinates[slot] = texture_coordinates(layered[index].uv_rows[slot * 2u],
            layered[index].uv_rows[slot * 2u + 1u]);
    }
}

// As sample_slot; white, without sampling, where there is no texture.
vec4 sample_layer(sampler2D picture, uint slot) {
    if ((layered[materials[material_index].layers].textures >> slot & 1u) == 0u) {
        return vec4(1.0);
    }
    return sample_coordinates(picture, layer_coordinates[slot]);
}

// Tangent and bitangent of the mesh, orthogonal to a normal and on the viewer's side.
void mesh_axes(vec3 n, out vec3 t, out vec3 b) {
    vec3 along = in_tangent.xyz - n * dot(n, in_tangent.xyz);
    float l2 = dot(along, along);
    if (l2 > 1e-12) {
        t = along * inversesqrt(l2);
    } else {
        // Without mesh tangents any tangent is valid.
        t = orthonormal_basis(n)[0];
    }
    b = cross(n, t) * (in_tangent.w < 0.0 ? -1.0 : 1.0);
}

// Extension layers of the fragment, whose normal and alpha are known.
Layers fragment_layers(Surface s) {
    ExtendedMaterial m = layered[materials[material_index].layers];
    set_layer_coordinates();
    Layers y;
    float side = gl_FrontFacing ? 1.0 : -1.0;
    // KHR_materials_specular: F0 = min(((n-1)/(n+1))^2 color, 1), times the strength.
    float ratio = m.ior > 0.0 ? (m.ior - 1.0) / (m.ior + 1.0) : 1.0;
    y.specular = m.specular * sample_layer(specular_texture, 2u).a;
    y.f0 = clamp(ratio * ratio * m.specular_color * sample_layer(specular_color_texture, 3u).rgb,
        0.0, 1.0);
    // An index of 1 has no interface.
    y.specular = m.ior == 1.0 ? 0.0 : y.specular;
    mesh_axes(s.normal, y.tangent, y.bitangent);
    y.alphas = vec2(s.alpha);
    vec4 anisotropy = sample_layer(anisotropy_texture, 9u);
    float strength = clamp(m.anisotropy * anisotropy.b, 0.0, 1.0);
    if (has_feature(FEATURE_ANISOTROPY) && strength > 0.0) {
        vec2 turned = vec2(cos(m.rotation), sin(m.rotation));
        vec2 direction = (m.textures >> 9u & 1u) != 0u ? anisotropy.rg * 2.0 - 1.0 : vec2(1.0, 0.0);
        direction = vec2(direction.x * turned.x - direction.y * turned.y,
            direction.x * turned.y + direction.y * turned.x);
        float l2 = dot(direction, direction);
        direction = l2 > 1e-8 ? direction * inversesqrt(l2) : vec2(1.0, 0.0);
        vec3 t = y.tangent * direction.x + y.bitangent * direction.y;
        y.bitangent = cross(s.normal, t);
        y.tangent = t;
        y.alphas.x = mix(s.alpha, 1.0, strength * strength);
    }
    y.coat = clamp(m.coat * sample_layer(coat_texture, 4u).r, 0.0, 1.0);
    float coat_roughness = clamp(m.coat_roughness * sample_layer(coat_roughness_texture, 5u).g, 0.0,
        1.0);
    y.coat_alpha = max(coat_roughness * coat_roughness, MIN_ALPHA);
    float l2 = dot(in_normal, in_normal);
    vec3 n = l2 > 0.0 ? in_normal * inversesqrt(l2) : vec3(0.0, 1.0, 0.0);
    y.coat_normal = n;
    if ((m.textures >> 6u & 1u) != 0u && dot(in_tangent.xyz, in_tangent.xyz) > 0.0) {
        vec3 t, b;
        mesh_axes(n, t, b);
        vec4 texel = sample_layer(coat_normal_texture, 6u);
        vec3 bump = texel.xyz * 2.0 - 1.0;
        float deviation = texel.a * m.coat_normal_scale;
        y.coat_alpha = min(sqrt(y.coat_alpha * y.coat_alpha + deviation * deviation), 1.0);
        bump.xy *= m.coat_normal_scale;
        vec3 mapped = bump.x * t + bump.y * b + bump.z * n;
        float k = dot(mapped, mapped);
        y.coat_normal = k > 1e-12 ? mapped * inversesqrt(k) : n;
    }
    y.coat_normal *= side;
    y.sheen_color = clamp(m.sheen_color * sample_layer(sheen_color_texture, 7u).rgb, 0.0, 1.0);
    y.sheen_roughness = clamp(m.sheen_roughness * sample_layer(sheen_roughness_texture, 8u).a,
        MIN_SHEEN_ROUGHNESS, 1.0);
    y.iridescence = clamp(m.iridescence * sample_layer(iridescence_texture, 10u).r, 0.0, 1.0);
    y.film_ior = m.film_ior;
    y.film_thickness = mix(m.film_minimum, m.film_maximum,
        sample_layer(film_thickness_texture, 11u).g);
    y.diffuse_transmission =
        clamp(m.diffuse_transmission * sample_layer(diffuse_transmission_texture, 12u).a, 0.0, 1.0);
    y.diffuse_transmission_color =
        clamp(m.diffuse_transmission_color * sample_layer(diffuse_transmission_color_texture,
        13u).rgb, 0.0, 1.0);
    // The driver removes the code of lobes that no material has.
    y.coat = has_feature(FEATURE_CLEARCOAT) ? y.coat : 0.0;
    y.sheen_color = has_feature(FEATURE_SHEEN) ? y.sheen_color : vec3(0.0);
    y.iridescence = has_feature(FEATURE_IRIDESCENCE) ? y.iridescence : 0.0;
    y.diffuse_transmission =
        has_feature(FEATURE_DIFFUSE_TRANSMISSION) ? y.diffuse_transmission : 0.0;
    y.transmission = clamp(m.transmission * sample_layer(transmission_texture, 0u).r, 0.0, 1.0);
    y.thin = (m.flags & EXTENDED_VOLUME) == 0u;
    // As in the path tracer, an index of 0 means total reflection.
    y.ior = m.ior > 0.0 ? max(m.ior, 1.0) : 1e6;
    return y;
}

// Thickness (m) of the volume behind the fragment, with the node's scale. After fragment_layers.
float fragment_thickness(float scale) {
    return layered[materials[material_index].layers].thickness * scale
        * sample_layer(thickness_texture, 1u).g;
}

#endif
