#version 460
// VPL debug view: a shaded ball in the color of the VPL's flux.
layout(location = 0) flat in vec3 in_color;
layout(location = 1) in vec2 in_place;
layout(location = 0) out vec4 out_light;

void main() {
    float r2 = dot(in_place, in_place);
    if (r2 > 1.0) {
        discard;
    }
    out_light = vec4(in_color * (0.25 + 0.6 * sqrt(1.0 - r2)), 1.0);
}
