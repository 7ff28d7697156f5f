#version 460
// Traces the meshes of the drawn ghosts, one work group per ghost and channel. Flux per triangle is
// conserved: the illuminance at a node is the flux entering its triangles over their area on the
// sensor (mm).
// variants: PARAXIAL
#extension GL_GOOGLE_include_directive : require
#define GHOST_TRACING
#include "shared/ghosts.glsl"
#include "shared/flare_sources.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, scalar) uniform ghost_block { GhostConstants ghosts; };
layout(set = 0, binding = 1, scalar) readonly buffer surface_block { GhostSurface surfaces[]; };
layout(set = 0, binding = 2, scalar) readonly buffer path_block { GhostPath paths[]; };
layout(set = 0, binding = 3, scalar) readonly buffer crossing_block { vec4 crossings[]; };
layout(set = 0, binding = 4, scalar) readonly buffer flare_source_block {
    uint count; uint candidate_count; uint dropped; float dropped_light; FlareSource sources[];
} bright;
layout(set = 0, binding = 5, scalar) readonly buffer item_block { GhostItem items[]; };
layout(set = 0, binding = 6, scalar) coherent buffer node_block { GhostNode nodes[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer layer_block { GhostLayer layers[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer chunk_block { uint chunks[]; };

#include "lib/ghosts.glsl"

const uint GROUP = 64u;
// Test points per side of a triangle that an edge cuts.
const uint POINTS = 4u;

shared vec4 sums[GROUP];
shared vec2 light_sums[GROUP];
shared vec3 iris_soft;
shared uint iris_crossings;
shared float total;

float doubled(vec2 a, vec2 b, vec2 c) {
    vec2 p = b - a, q = c - a;
    return abs(p.x * q.y - p.y * q.x);
}

// Position of a node relative to the iris edges: distance from the nearest in half widths, and 1 at
// the edge.
vec2 at_blades(vec2 q[3], uint count, vec3 soft) {
    vec2 at = vec2(1e6, 0.0);
    for (uint i = 0u; i < count; ++i) {
        float far = length(q[i]) / edge_of(q[i]);
        at = vec2(min(at.x, (1.0 - far) / soft[i]), max(at.y, far));
    }
    return at;
}

// Flux through a triangle: with hard edges, and as drawn.
vec2 through(uvec3 t, uint first, float cell, uint count, vec3 soft, float cap,
    inout vec4 moments) {
    GhostNode a = nodes[first + t.x], b = nodes[first + t.y], c = nodes[first + t.z];
    if (min(min(a.light, b.light), c.light) < 0.0) {
        return vec2(0.0);
    }
    vec3 weight = vec3(a.light, b.light, c.light);
    float area = 0.5 * doubled(a.sensor_position, b.sensor_position, c.sensor_position);
    vec2 sum = vec2(0.0);
    for (uint i = 0u; i < POINTS; ++i) {
        for (uint j = 0u; j < 2u * (POINTS - i) - 1u; ++j) {
            vec2 shift = j % 2u == 0u ? vec2(1.0 / 3.0) : vec2(-1.0, 2.0) / 3.0;
            vec2 at = (vec2(float((j + 1u) / 2u), float(i)) + shift) / float(POINTS);
            vec3 part = vec3(1.0 - at.x - at.y, at.x, at.y);
            vec2 q[3];
            q[0] = unpackHalf2x16(a.iris.x) * part.x + unpackHalf2x16(b.iris.x) * part.y
                + unpackHalf2x16(c.iris.x) * part.z;
            q[1] = unpackHalf2x16(a.iris.y) * part.x + unpackHalf2x16(b.iris.y) * part.y
                + unpackHalf2x16(c.iris.y) * part.z;
            q[2] = unpackHalf2x16(a.iris.z) * part.x + unpackHalf2x16(b.iris.z) * part.y
                + unpackHalf2x16(c.iris.z) * part.z;
            vec2 blades = at_blades(q, count, soft);
            float far = max(blades.y, dot(vec3(a.hard, b.hard, c.hard), part));
            float near = min(blades.x, dot(vec3(a.soft, b.soft, c.soft), part));
            float e = dot(weight, part);
            float share = area / float(POINTS * POINTS);
            if (far <= 1.0) {
                sum.x += e * share;
                vec2 p = a.sensor_position * part.x + b.sensor_position * part.y
                    + c.sensor_position * part.z;
                moments += e * share * vec4(p, p * p);
            }
            sum.y += min(e, cap) * disc_part(near) * share;
        }
    }
    return sum;
}

void main() {
    uint item_index = gl_WorkGroupID.x, channel = gl_WorkGroupID.y,
        thread = gl_LocalInvocationIndex;
    GhostItem item = items[item_index];
    GhostPath path = paths[item.ghost];
    FlareSource source = bright.sources[item.source];
    vec3 d = travels(source);
    vec4 matrix = matrix_of(path, channel);
    vec2 alpha = vec2(tan(clamp(source.angular_radius, 0.0, 0.5)));
    find_edges(path, matrix, alpha, thread, GROUP);
    barrier();
    uint cells = item.cells, side = cells + 1u, count = side * side;
    uint first = item.node + channel * count;
    vec2 sides = (item.window.zw - item.window.xy) / float(cells);
    float cell = sides.x * sides.y;
#ifdef PARAXIAL
    cell *= d.z;
#endif
    for (uint i = thread; i < count; i += GROUP) {
        vec2 part = vec2(i % side, i / side) / float(cells);
        GhostRay f = follow(path, matrix, path.part[channel],
            mix(item.window.xy, item.window.zw, part), d, channel);
        GhostNode node;
        node.sensor_position = f.arrives ? f.sensor_position : vec2(0.0);
        node.soft = clamp(f.soft, -1e6, 1e6);
        node.hard = clamp(f.hard, 0.0, 1e6);
        node.iris = uvec3(packHalf2x16(clamp(f.iris[0], -1e3, 1e3)),
            packHalf2x16(clamp(f.iris[1], -1e3, 1e3)),
                          packHalf2x16(clamp(f.iris[2], -1e3, 1e3)));
        node.light = f.arrives ? f.weight : -1.0;
        nodes[first + i] = node;
        if (i == 0u) {
            iris_soft = vec3(f.iris_soft[0], f.iris_soft[1], f.iris_soft[2]);
            iris_crossings = f.crossings;
        }
    }
    memoryBarrierBuffer();
    barrier();
    // Other threads only read the sign, which does not change.
    for (uint i = thread; i < count; i += GROUP) {
        int x = int(i % side), y = int(i / side);
        GhostNode node = nodes[first + i];
        float entering = 0.0, area = 0.0;
        // The six triangles around a node, from its four cells.
        const ivec2 ring[7] = ivec2[7](ivec2(1, 0), ivec2(0, 1), ivec2(-1, 1), ivec2(-1, 0),
            ivec2(0, -1), ivec2(1, -1), ivec2(1, 0));
        for (int k = 0; k < 6; ++k) {
            ivec2 p = ivec2(x, y) + ring[k], q = ivec2(x, y) + ring[k + 1];
            if (any(lessThan(min(p, q), ivec2(0)))
                || any(greaterThanEqual(max(p, q), ivec2(side)))) {
                continue;
            }
            GhostNode b = nodes[first + uint(p.y) * side + uint(p.x)];
            GhostNode c = nodes[first + uint(q.y) * side + uint(q.x)];
            if (b.light >= 0.0 && c.light >= 0.0) {
                entering += 0.5 * cell;
                area += 0.5 * doubled(node.sensor_position, b.sensor_position, c.sensor_position);
            }
        }
        float light = area > 1e-20 ? min(node.light * entering / area, 1e12) : 0.0;
        nodes[first + i].light = node.light < 0.0 ? -1.0 : light;
    }
    memoryBarrierBuffer();
    barrier();
    vec2 disc = disc_radius(matrix, alpha.x);
    float cap = 1e12;
    for (uint round = 0u; round < 2u; ++round) {
        vec4 moments = vec4(0.0);
        vec2 light = vec2(0.0);
        for (uint i = thread; i < cells * cells; i += GROUP) {
            uint at = i / cells * side + i % cells;
            light += through(uvec3(at, at + 1u, at + side), first, cell, iris_crossings, iris_soft,
                cap, moments);
            light += through(uvec3(at + side + 1u, at + side, at + 1u), first, cell, iris_crossings,
                iris_soft, cap, moments);
        }
        sums[thread] = moments;
        light_sums[thread] = light;
        barrier();
        if (thread == 0u) {
            for (uint i = 1u; i < GROUP; ++i) {
                moments += sums[i];
                light += light_sums[i];
            }
            GhostLayer layer;
            layer.iris_soft = iris_soft;
            layer.crossings = iris_crossings;
            layer.center = light.x > 0.0 ? moments.xy / light.x : vec2(0.0);
            layer.radius = disc;
            layer.pad0 = 0.0;
            layer.cap = cap;
            layer.soft = 1.0;
            if (item.state == GHOST_DISC) {
                vec2 size = 2.0
                    * sqrt(max(moments.zw / max(light.x, 1e-30) - layer.center * layer.center,
                    vec2(0.0)));
                layer.soft = clamp(max(size.x / disc.x, size.y / disc.y), 0.0, 1.0);
                // A disk with this edge has (1 + soft^2 / 4) of its area.
                layer.scale = light.x
                    / (PI * disc.x * disc.y * (1.0 + 0.25 * layer.soft * layer.soft));
            } else {
                layer.scale = light.y > 0.0 ? min(light.x / light.y, 1e6) : 0.0;
            }
            layers[item_index * 3u + channel] = layer;
            total = light.x;
        }
        barrier();
        // Upper bound: all the light spread over the source's disk.
        cap = total / (PI * disc.x * disc.y);
        barrier();
    }
    uint of_channel = item.state == GHOST_DISC ? 1u : (cells / CHUNK) * (cells / CHUNK);
    for (uint i = thread; i < of_channel; i += GROUP) {
        chunks[item.chunk + channel * of_channel + i] = (item_index * 3u + channel) << 6 | i;
    }
}
