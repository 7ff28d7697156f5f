#version 460
// Probes each ghost of each source, one work group per ghost: entrance window (mm), flux (mm^2),
// maximum exposed luminance and mesh resolution. Mirrors `narrowed` in tests/common/ghost_meshes/mesh.rs.
// variants: PARAXIAL
#extension GL_GOOGLE_include_directive : require
#define GHOST_TRACING
#include "shared/ghosts.glsl"
#include "shared/flare_sources.glsl"
#include "lib/luminance.glsl"

layout(local_size_x = 64) in;

layout(set = 0, binding = 0, scalar) uniform ghost_block { GhostConstants ghosts; };
layout(set = 0, binding = 1, scalar) readonly buffer surface_block { GhostSurface surfaces[]; };
layout(set = 0, binding = 2, scalar) readonly buffer path_block { GhostPath paths[]; };
layout(set = 0, binding = 3, scalar) readonly buffer crossing_block { vec4 crossings[]; };
layout(set = 0, binding = 4, scalar) readonly buffer flare_source_block {
    uint count; uint candidate_count; uint dropped; float dropped_light; FlareSource sources[];
} bright;
layout(set = 0, binding = 5, scalar) writeonly buffer found_block { GhostProbe found[]; };

#include "lib/ghosts.glsl"

// Cells per side, nodes per side, node count, rounds, passing nodes at which the search ends,
// search margin before that, threads per group.
const uint PROBE = 16u;
const uint SIDE = PROBE + 1u;
const uint NODES = SIDE * SIDE;
const uint ROUNDS = 4u;
const uint ENOUGH = 40u;
const float REACH = 1.0;
const uint GROUP = 64u;
// Illuminance ratios above which the next finer mesh is used.
const vec2 UNEVEN = vec2(1.5, 4.0);

shared float worst[NODES];
shared float hard[NODES];
shared vec2 sensor_position[NODES];
shared float weight[NODES];
shared uint nearest_bits, open_count, step_bits;
shared uvec2 kept_least, kept_most;
shared uint least_bits, most_bits, turned;
shared ivec2 bound_least, bound_most;
shared vec4 sums[GROUP];
shared float light_sums[GROUP];

const float FAR = 1e9;

float twice_area(vec2 a, vec2 b, vec2 c) {
    vec2 p = b - a, q = c - a;
    return p.x * q.y - p.y * q.x;
}

void main() {
    uint ghost = gl_WorkGroupID.x, slot = gl_WorkGroupID.y, thread = gl_LocalInvocationIndex;
    uint out_index = slot * ghosts.ghosts + ghost;
    GhostProbe result = GhostProbe(vec4(0.0), 0.0, 0.0, 0u, GHOST_NONE);
    bool there = slot < min(bright.count, GHOST_SOURCES);
    FlareSource source = bright.sources[there ? slot : 0u];
    vec3 lux = source.illuminance * source.visibility;
    vec3 d = travels(source);
    // NaN and infinity fail here too.
    there = there && d.z > 1e-3 && abs(dot(d, d) - 1.0) < 1e-3 && luminance(lux) > 0.0
        && luminance(lux) < 1e30 && all(greaterThanEqual(lux, vec3(0.0)));
    if (!there) {
        if (thread == 0u) {
            found[out_index] = result;
        }
        return;
    }
    GhostPath path = paths[ghost];
    vec4 matrix = path.green;
    vec2 alpha = vec2(tan(clamp(source.angular_radius, 0.0, 0.5)));
    find_edges(path, matrix, alpha, thread, GROUP);
    barrier();

    vec4 whole = vec4(-vec2(ghosts.front_radius), vec2(ghosts.front_radius));
    float facing = 1.0;
#ifdef PARAXIAL
    // Rays that pass every rim lie within a rectangle per rim.
    vec2 u = d.xy / d.z;
    whole = vec4(-FAR, -FAR, FAR, FAR);
    for (uint i = 0u; i < path.crossings; ++i) {
        vec4 c = crossings[path.crossing + i];
        vec2 half_size = 1.0 + edges[min(i, 383u)];
        vec2 height = mix(min(c.xz, vec2(-1e-9)), max(c.xz, vec2(1e-9)),
            greaterThanEqual(c.xz, vec2(0.0)));
        vec2 middle = -c.yw * u / height;
        vec2 size = half_size / abs(height);
        whole = vec4(max(whole.xy, middle - size), min(whole.zw, middle + size));
    }
    facing = d.z;
    if (whole.x >= whole.z || whole.y >= whole.w) {
        if (thread == 0u) {
            found[out_index] = result;
        }
        return;
    }
    const uint rounds = 1u;
#else
    const uint rounds = ROUNDS;
#endif
    vec4 window = whole, next = whole;
    bool any_open = false;
    for (uint pass = 0u; pass < rounds; ++pass) {
        window = next;
        if (thread == 0u) {
            nearest_bits = floatBitsToUint(FAR);
            open_count = 0u;
            step_bits = 0u;
            kept_least = uvec2(PROBE);
            kept_most = uvec2(0u);
        }
        barrier();
        for (uint i = thread; i < NODES; i += GROUP) {
            vec2 part = vec2(i % SIDE, i / SIDE) / float(PROBE);
            GhostRay f = follow(path, matrix, path.part.g, mix(window.xy, window.zw, part), d, 1u);
            sensor_position[i] = f.sensor_position;
            weight[i] = f.arrives ? f.weight : 0.0;
            hard[i] = f.arrives ? max_hard_distance(f) : FAR;
            float own = f.arrives ? clamp(max_soft_distance(f), 0.0, FAR) : FAR;
            worst[i] = own;
            atomicMin(nearest_bits, floatBitsToUint(own));
            if (own <= 1.0) {
                atomicAdd(open_count, 1u);
            }
        }
        barrier();
        float nearest = uintBitsToFloat(nearest_bits);
        uint open = open_count;
        if (nearest >= FAR) {
            break;
        }
        any_open = open > 0u;
#ifndef PARAXIAL
        for (uint i = thread; i < NODES; i += GROUP) {
            if (worst[i] != nearest) {
                continue;
            }
            uint x = i % SIDE, y = i / SIDE;
            float step = 0.0;
            float around[4] = float[4](x > 0u ? worst[i - 1u] : FAR,
                x < PROBE ? worst[i + 1u] : FAR,
                                       y > 0u ? worst[i - SIDE] : FAR, y < PROBE ? worst[i + SIDE]
                                           : FAR);
            for (int k = 0; k < 4; ++k) {
                step = around[k] < FAR ? max(step, around[k] - nearest) : step;
            }
            atomicMax(step_bits, floatBitsToUint(step));
        }
        barrier();
        float level = max(nearest, 1.0);
        float bound = open >= ENOUGH ? 1.0 : level + min(uintBitsToFloat(step_bits), REACH * level);
        for (uint i = thread; i < NODES; i += GROUP) {
            if (worst[i] <= bound) {
                atomicMin(kept_least.x, i % SIDE);
                atomicMax(kept_most.x, i % SIDE);
                atomicMin(kept_least.y, i / SIDE);
                atomicMax(kept_most.y, i / SIDE);
            }
        }
        barrier();
        vec2 least = (vec2(kept_least) - 1.0) / float(PROBE),
            most = (vec2(kept_most) + 1.0) / float(PROBE);
        next = vec4(max(mix(window.xy, window.zw, least), whole.xy),
            min(mix(window.xy, window.zw, most), whole.zw));
        barrier();
        if (open >= ENOUGH) {
            break;
        }
#endif
    }
    if (!any_open) {
        if (thread == 0u) {
            found[out_index] = result;
        }
        return;
    }
    // From the last round: flux, its moments, the brightest and the darkest triangle.
    vec2 sides = (window.zw - window.xy) / float(PROBE);
    float cell = sides.x * sides.y * facing;
    if (thread == 0u) {
        least_bits = floatBitsToUint(FAR);
        most_bits = 0u;
        turned = 0u;
        bound_least = ivec2(1 << 30);
        bound_most = ivec2(-(1 << 30));
    }
    barrier();
    vec4 moments = vec4(0.0);
    float light = 0.0;
    for (uint i = thread; i < NODES; i += GROUP) {
        if (worst[i] <= 1.0) {
            // Micrometers, within the integer range.
            ivec2 at = ivec2(clamp(sensor_position[i], vec2(-1e5), vec2(1e5)) * 1e3);
            atomicMin(bound_least.x, at.x);
            atomicMin(bound_least.y, at.y);
            atomicMax(bound_most.x, at.x);
            atomicMax(bound_most.y, at.y);
        }
        if (hard[i] <= 1.0) {
            float own = weight[i] * cell;
            light += own;
            moments += own * vec4(sensor_position[i], sensor_position[i] * sensor_position[i]);
        }
        uint x = i % SIDE, y = i / SIDE;
        if (x == PROBE || y == PROBE) {
            continue;
        }
        for (uint half_cell = 0u; half_cell < 2u; ++half_cell) {
            uvec3 t = half_cell == 0u ? uvec3(i, i + 1u, i + SIDE)
                : uvec3(i + SIDE + 1u, i + SIDE, i + 1u);
            bool whole_triangle = max(max(worst[t.x], worst[t.y]), worst[t.z]) < FAR;
            if (whole_triangle && min(min(hard[t.x], hard[t.y]), hard[t.z]) <= 1.0) {
                float area = twice_area(sensor_position[t.x], sensor_position[t.y],
                    sensor_position[t.z]);
                vec3 e = vec3(weight[t.x], weight[t.y], weight[t.z]) * cell / max(abs(area), 1e-20);
                atomicMin(least_bits, floatBitsToUint(min(min(e.x, e.y), e.z)));
                atomicMax(most_bits, floatBitsToUint(max(max(e.x, e.y), e.z)));
                atomicOr(turned, area > 0.0 ? 1u : 2u);
            }
        }
    }
    sums[thread] = moments;
    light_sums[thread] = light;
    barrier();
    if (thread != 0u) {
        return;
    }
    for (uint i = 1u; i < GROUP; ++i) {
        moments += sums[i];
        light += light_sums[i];
    }
    if (!(light > 0.0)) {
        // All passing rays lie between nodes: negligible, and visible only through the source's
        // disk.
        found[out_index] = result;
        return;
    }
    vec2 middle = moments.xy / light;
    vec2 size = 2.0 * sqrt(max(moments.zw / light - middle * middle, vec2(0.0)));
    vec2 disc = disc_radius(matrix, alpha.x);
    float least = uintBitsToFloat(least_bits), most = uintBitsToFloat(most_bits);
    float peak = min(most > 0.0 ? most : FAR, light / (PI * disc.x * disc.y));
    vec3 colored = peak * path.part / max(path.part.g, 1e-20) * lux * ghosts.luminance;
    result.flux = light;
    result.peak = max(max(colored.r, colored.g), colored.b);
    float uneven = turned == 3u ? FAR : most / max(least, 1e-30);
    result.cells = uneven < UNEVEN.x ? 16u : uneven < UNEVEN.y ? 32u : 64u;
    result.window = next;
    result.state = GHOST_MESH;
    // Edges may lie one cell beyond the nodes.
    vec2 margin = vec2(bound_most - bound_least) * 1e-3 / 8.0 + ghosts.pixel;
    vec2 low = vec2(bound_least) * 1e-3 - margin, high = vec2(bound_most) * 1e-3 + margin;
    if (all(greaterThan(disc, size))) {
        result.state = GHOST_DISC;
        result.cells = 16u;
        low = middle - disc - size;
        high = middle + disc + size;
    }
    if (any(greaterThan(low, ghosts.gate_half)) || any(lessThan(high, -ghosts.gate_half))) {
        result.state = GHOST_OFFSCREEN;
    }
    found[out_index] = result;
}
