#version 460
// User interface: points to clip space.
#extension GL_EXT_scalar_block_layout : require

layout(location = 0) in vec2 position;
layout(location = 1) in vec2 uv;
layout(location = 2) in vec4 color;
layout(push_constant, scalar) uniform ui_block { vec2 scale; };
layout(location = 0) out vec2 out_uv;
layout(location = 1) out vec4 out_color;

void main() {
    out_uv = uv;
    out_color = color;
    gl_Position = vec4(position * scale - 1.0, 0.0, 1.0);
}
