// Material of a fragment: factors times textures. Included by the passes that draw geometry.
// Emission is in nits.
#ifndef LIB_SURFACE
#define LIB_SURFACE

layout(set = 0, binding = 2, scalar) readonly buffer material_block { Material materials[]; };

// UNTEXTURED compiles without textures: on software drivers each sample of a white texture is
// expensive.
#ifndef UNTEXTURED
layout(set = 1, binding = 0) uniform sampler2D base_color_texture;
layout(set = 1, binding = 1) uniform sampler2D metallic_roughness_texture;
layout(set = 1, binding = 2) uniform sampler2D normal_texture;
layout(set = 1, binding = 3) uniform sampler2D occlusion_texture;
layout(set = 1, binding = 4) uniform sampler2D emissive_texture;
#endif

layout(push_constant, scalar) uniform draw_block { uint material_index; };

layout(location = 0) in vec3 in_position;
layout(location = 1) in vec3 in_normal;
layout(location = 2) in vec4 in_tangent;
layout(location = 3) in vec4 in_uv;
layout(location = 4) in vec4 in_color;

#ifndef UNTEXTURED
// Texture coordinate derivatives; global, so that they are computed before any discard. Passes that
// accumulate several frames per pixel set TEXTURE_SCALE, the sample spacing in pixels.
#ifndef TEXTURE_SCALE
#define TEXTURE_SCALE 1.0
#endif
vec4 uv_dx = dFdx(in_uv) * TEXTURE_SCALE;
vec4 uv_dy = dFdy(in_uv) * TEXTURE_SCALE;

// Texture coordinates and their derivatives.
struct TextureCoordinates {
    vec2 place;
    vec2 dx;
    vec2 dy;
};

// Coordinates of a texture by its set and transform, with explicit derivatives of the interpolated
// coordinates. Implicit derivatives would use the material buffer reads of helper
// invocations, which llvmpipe of Mesa 22.3 returns as zeros: pixels at triangle edges would use far
// too small mips.
TextureCoordinates texture_coordinates(vec4 row0, vec4 row1) {
    bool first = row0.w == 0.0;
    vec3 uv = vec3(first ? in_uv.xy : in_uv.zw, 1.0);
    vec2 along_x = first ? uv_dx.xy : uv_dx.zw;
    vec2 along_y = first ? uv_dy.xy : uv_dy.zw;
    return TextureCoordinates(vec2(dot(row0.xyz, uv), dot(row1.xyz, uv)),
        vec2(dot(row0.xy, along_x), dot(row1.xy, along_x)),
        vec2(dot(row0.xy, along_y), dot(row1.xy, along_y)));
}

vec4 sample_coordinates(sampler2D picture, TextureCoordinates at) {
    return textureGrad(picture, at.place, at.dx, at.dy);
}

TextureCoordinates compute_slot_coordinates(uint slot) {
    return texture_coordinates(materials[material_index].uv_rows[slot * 2u],
        materials[material_index].uv_rows[slot * 2u + 1u]);
}

// LOOPED_COORDINATES computes the coordinates of all slots in a loop, once per fragment: less code
// in shaders that have much else, since functions are inlined at each call site.
#ifdef LOOPED_COORDINATES
const uint CORE_SLOTS = 5u;
TextureCoordinates slot_coordinates[CORE_SLOTS];

void set_slot_coordinates() {
    for (uint slot = 0u; slot < CORE_SLOTS; ++slot) {
        slot_coordinates[slot] = compute_slot_coordinates(slot);
    }
}

vec4 sample_slot(sampler2D picture, uint slot) {
    return sample_coordinates(picture, slot_coordinates[slot]);
}
#else
vec4 sample_slot(sampler2D picture, uint slot) {
    return sample_coordinates(picture, compute_slot_coordinates(slot));
}
#endif
#endif

vec4 fragment_base_color() {
    vec4 color = materials[material_index].base_color * in_color;
#ifndef UNTEXTURED
    color *= sample_slot(base_color_texture, 0);
#endif
    return color;
}

// Perceptual roughness widened by the normal variance within the pixel. The alpha of a normal map
// (`variance` in src/gpu_scene/mips.rs, with the papers) is added to the square of the
// distribution's alpha, which is roughness^4.
float widened_roughness(float roughness, float variance) {
    float square = roughness * roughness;
    return sqrt(sqrt(min(square * square + variance, 1.0)));
}

// Metallic in x, roughness in y.
vec2 fragment_metallic_roughness() {
    vec2 factors = vec2(materials[material_index].metallic, materials[material_index].roughness);
#ifndef UNTEXTURED
    factors *= sample_slot(metallic_roughness_texture, 1).bg;
    if ((materials[material_index].flags & MATERIAL_NORMAL_MAP) != 0u) {
        float deviation = sample_slot(normal_texture, 2).a * materials[material_index].normal_scale;
        factors.y = widened_roughness(factors.y, deviation * deviation);
    }
#endif
    return factors;
}

float fragment_occlusion() {
#ifdef UNTEXTURED
    return 1.0;
#else
    return 1.0 + materials[material_index].occlusion_strength
        * (sample_slot(occlusion_texture, 3).r - 1.0);
#endif
}

// Emitted luminance (nits).
vec3 fragment_emission() {
    vec3 emission = materials[material_index].emission.rgb;
#ifndef UNTEXTURED
    emission *= sample_slot(emissive_texture, 4).rgb;
#endif
    return emission;
}

// Shading normal: glTF 2.0 section 3.9.3, with scaled texture xy; flipped on back faces.
vec3 fragment_normal(uint flags) {
    float side = gl_FrontFacing ? 1.0 : -1.0;
    float l2 = dot(in_normal, in_normal);
    vec3 n = l2 > 0.0 ? in_normal * inversesqrt(l2) : vec3(0.0, 1.0, 0.0);
#ifndef UNTEXTURED
    if ((flags & MATERIAL_NORMAL_MAP) != 0u && dot(in_tangent.xyz, in_tangent.xyz) > 0.0) {
        vec3 t = normalize(in_tangent.xyz - n * dot(n, in_tangent.xyz));
        vec3 b = cross(n, t) * in_tangent.w;
        vec3 m = sample_slot(normal_texture, 2).xyz * 2.0 - 1.0;
        m.xy *= materials[material_index].normal_scale;
        vec3 mapped = m.x * t + m.y * b + m.z * n;
        float k = dot(mapped, mapped);
        n = k > 1e-12 ? mapped * inversesqrt(k) : n;
    }
#endif
    return n * side;
}

#endif
