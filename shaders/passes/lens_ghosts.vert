#version 460
// Lens ghost meshes: an instance is a chunk of 8 x 8 cells, or a disk.
#extension GL_GOOGLE_include_directive : require
#include "shared/ghosts.glsl"
#include "shared/flare_sources.glsl"

layout(set = 0, binding = 0, scalar) uniform ghost_block { GhostConstants ghosts; };
layout(set = 0, binding = 1, scalar) readonly buffer flare_source_block {
    uint count; uint candidate_count; uint dropped; float dropped_light; FlareSource sources[];
} bright;
layout(set = 0, binding = 2, scalar) readonly buffer item_block { GhostItem items[]; };
layout(set = 0, binding = 3, scalar) readonly buffer node_block { GhostNode nodes[]; };
layout(set = 0, binding = 4, scalar) readonly buffer layer_block { GhostLayer layers[]; };
layout(set = 0, binding = 5, scalar) readonly buffer chunk_block { uint chunks[]; };

layout(location = 0) out vec4 out_iris;
layout(location = 1) out vec4 out_edge;
layout(location = 2) flat out vec3 out_color;
layout(location = 3) flat out vec4 out_soft;
layout(location = 4) flat out vec3 out_iris_shape;
layout(location = 5) flat out float out_cap;

const vec4 NOWHERE = vec4(2.0, 2.0, 0.0, 1.0);

void main() {
    uint entry = chunks[gl_InstanceIndex];
    uint layer_index = entry >> 6, chunk = entry & 63u;
    GhostItem item = items[layer_index / 3u];
    GhostLayer layer = layers[layer_index];
    uint channel = layer_index % 3u;
    FlareSource source = bright.sources[item.source];
    out_color = vec3(0.0);
    out_color[channel] = source.illuminance[channel] * source.visibility * ghosts.luminance[channel]
        * layer.scale;
    out_soft = vec4(layer.iris_soft, item.state == GHOST_DISC ? -1.0 : float(layer.crossings));
    out_iris_shape = vec3(ghosts.blades, ghosts.curvature, ghosts.rotation);
    out_cap = layer.cap;
    out_iris = vec4(0.0);
    out_edge = vec4(0.0);
    gl_Position = NOWHERE;
    uint vertex = uint(gl_VertexIndex) % 6u, cell = uint(gl_VertexIndex) / 6u;
    vec2 sensor_position;
    if (item.state == GHOST_DISC) {
        if (cell > 0u) {
            return;
        }
        vec2 corner = vec2(vertex == 1u || vertex == 3u || vertex == 5u,
            vertex == 2u || vertex == 3u || vertex == 4u) * 2.0 - 1.0;
        corner *= 1.0 + layer.soft;
        sensor_position = layer.center + corner * layer.radius;
        out_iris = vec4(corner, layer.soft, 0.0);
        out_edge = vec4(0.0, 0.0, 0.0, 1.0);
    } else {
        uint across = item.cells / CHUNK, side = item.cells + 1u;
        uvec2 at = uvec2(chunk % across, chunk / across) * CHUNK
            + uvec2(cell % CHUNK, cell / CHUNK);
        uint first = item.node + channel * side * side + at.y * side + at.x;
        uint lower[3] = uint[3](0u, 1u, side), upper[3] = uint[3](side + 1u, side, 1u);
        bool whole = true;
        float near = -1e9;
        for (uint i = 0u; i < 3u; ++i) {
            GhostNode node = nodes[first + (vertex < 3u ? lower[i] : upper[i])];
            whole = whole && node.light >= 0.0;
            near = max(near, node.soft);
        }
        // Skips cells without a ray, or fully beyond a rim's edge: edges are linear between nodes.
        if (!whole || near < -1.0) {
            return;
        }
        GhostNode node = nodes[first + (vertex < 3u ? lower[vertex] : upper[vertex - 3u])];
        sensor_position = node.sensor_position;
        out_iris = vec4(unpackHalf2x16(node.iris.x), unpackHalf2x16(node.iris.y));
        out_edge = vec4(unpackHalf2x16(node.iris.z), node.soft, node.light);
    }
    // The sensor image is upside down: sensor right is image left, sensor up is image down.
    gl_Position = vec4(-sensor_position.x / ghosts.gate_half.x,
        sensor_position.y / ghosts.gate_half.y, 0.0, 1.0);
}
