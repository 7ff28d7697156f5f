#version 460
// Lens ghost shading (pre-exposed): clips a ghost by rims and iris blades, with edges softened by
// the source disk.
#extension GL_GOOGLE_include_directive : require
#include "lib/ghosts.glsl"

layout(location = 0) in vec4 in_iris;
layout(location = 1) in vec4 in_edge;
layout(location = 2) flat in vec3 in_color;
layout(location = 3) flat in vec4 in_soft;
layout(location = 4) flat in vec3 in_iris_shape;
layout(location = 5) flat in float in_cap;
layout(location = 0) out vec4 out_light;

void main() {
    float near;
    float light = in_edge.w;
    if (in_soft.w < 0.0) {
        near = (1.0 - length(in_iris.xy)) / max(in_iris.z, 1e-3);
    } else {
        near = in_edge.z;
        light = min(light, in_cap);
        vec2 q[3] = vec2[3](in_iris.xy, in_iris.zw, in_edge.xy);
        for (uint i = 0u; i < min(uint(in_soft.w), 3u); ++i) {
            float far = length(q[i]) / iris_edge(q[i], in_iris_shape.x, in_iris_shape.y,
                in_iris_shape.z);
            near = min(near, (1.0 - far) / in_soft[i]);
        }
    }
    out_light = vec4(in_color * light * disc_part(near), 0.0);
}
