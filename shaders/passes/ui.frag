#version 460
// User interface: premultiplied sRGB codes, without conversion.

layout(set = 0, binding = 0) uniform sampler2D texture_image;
layout(location = 0) in vec2 uv;
layout(location = 1) in vec4 color;
layout(location = 0) out vec4 out_color;

void main() {
    out_color = color * texture(texture_image, uv);
}
