#version 460
// Upscales velocities (pixels): nearest sample, scaled to output pixels.
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 0) uniform texture2D velocity_image;
layout(push_constant) uniform size_block { vec2 size; };
layout(location = 0) out vec2 out_velocity;

void main() {
    vec2 ratio = vec2(textureSize(velocity_image, 0)) / size;
    out_velocity = texelFetch(velocity_image, ivec2(gl_FragCoord.xy * ratio), 0).xy / ratio;
}
