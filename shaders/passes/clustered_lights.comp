#version 460
// Light lists per cluster: 16x16 pixels and one eighth of an octave of depth. A cluster drops
// lights whose total contribution to any of its pixels is below a bound; docs/clustered-lights.md
// derives it.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/clusters.glsl"

layout(local_size_x = 32) in;

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 5, scalar) readonly buffer node_block { LightNode nodes[]; };
layout(set = 0, binding = 6, scalar) readonly buffer loss_block { float losses[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer tile_block { uint tile_slices[]; };
layout(set = 0, binding = 8, scalar) writeonly buffer cluster_block { uvec2 clusters[]; };
layout(set = 0, binding = 9, scalar) writeonly buffer entry_block { uint entries[]; };
layout(set = 0, binding = 10, scalar) buffer report_block { uint report[]; };
layout(set = 0, binding = 11) uniform texture2D emission_image;

// Tile start of a tile whose lists found no space.
const uint NO_ROOM = 0xffffffffu;

// Entries of the loss table: half octaves of lux from 2^-30 (src/gpu_scene/light_tree.rs).
const uint STEPS = 128u;

shared uint nearest_slice;
shared uint pixel_counts[SLICES];
shared uint lowest[SLICES * 3u];
shared uint highest[SLICES * 3u];
shared uint min_alphas[SLICES];
shared uint max_base_colors[SLICES];
shared uint min_view_cosines[SLICES];
shared uint max_f0s[SLICES];
// List lengths of the slices; then their starts within the tile.
shared uint list_starts[SLICES];
shared uint tile_start;

// Maps floats of both signs to ordered unsigned integers.
uint ordered(float x) {
    uint u = floatBitsToUint(x);
    return (u & 0x80000000u) != 0u ? ~u : u | 0x80000000u;
}

float unordered(uint u) {
    return uintBitsToFloat((u & 0x80000000u) != 0u ? u & 0x7fffffffu : ~u);
}

// Bounds of a cluster's pixels.
struct Cluster {
    vec3 low;
    vec3 high;
    float least;        // illuminance (lx) below which a light is dropped
};

// Upper bound of the specular BRDF times cosine (1/sr), for roughness at least `alpha`, n.v at
// least `nv` and F0 at most `f0`. V n.l <= 1 / (2 sqrt((n.v)^2 (1 - alpha^2) + alpha^2)) <= 1 / (2
// max(n.v, alpha)). The angle between normal and half vector is at least the view-half angle minus
// the view-normal angle. D falls with the former, F rises with the view-half angle. Each interval
// of the view-half angle therefore takes D at its start and F at its end. The maximum D at an angle
// is that of the alpha nearest to the angle's tangent.
float max_specular(float alpha, float nv, float f0) {
    const uint PIECES = 12u;
    float view_angle = acos(clamp(nv, 0.0, 1.0));
    float greatest = 0.0;
    for (uint i = 0u; i < PIECES; ++i) {
        // Some devices have arc cosines of only three digits.
        float from = max(float(i) / float(PIECES) * 0.5 * PI - view_angle - 2e-3, 0.0);
        float nh = cos(from);
        float a = clamp(tan(from), alpha, 1.0);
        float sine = sin(from);
        float t = sine * sine + nh * nh * a * a;
        float vh = cos(float(i + 1u) / float(PIECES) * 0.5 * PI);
        greatest = max(greatest, a * a / (PI * t * t) * mix(f0, 1.0, schlick_weight(vh)));
    }
    return greatest * 0.5 / max(nv, alpha);
}

// Whether a light's cone and range miss the cluster.
bool misses(Light light, Cluster c, float gap2) {
    if (gap2 * light.inverse_range2 >= 1.0) {
        return true;
    }
    if (light.spot_scale <= 0.0) {
        return false;
    }
    // A cone wider than a hemisphere is not culled.
    if (light.spot_offset > 0.0) {
        return false;
    }
    // Cone against the cluster's bounding sphere.
    vec3 d = 0.5 * (c.low + c.high) - light.position;
    float radius = 0.5 * length(c.high - c.low);
    float cos_outer = clamp(-light.spot_offset / light.spot_scale, 0.0, 1.0);
    float along = dot(d, light.direction);
    float across = sqrt(max(dot(d, d) - along * along, 0.0));
    return cos_outer * across - sqrt(1.0 - cos_outer * cos_outer) * along > radius
        || along < -radius;
}

// Traverses the light tree; writes the first `room` lights from `offset` and returns their number.
uint list(Cluster c, uint offset, uint room) {
    uint count = 0u;
    uint i = 0u;
    while (i < frame.node_count) {
        LightNode node = nodes[i];
        vec3 gap = node.center - clamp(node.center, c.low, c.high);
        float least = max(length(gap) - node.radius, 0.0);
        if (node.strongest < c.least * least * least) {
            i = node.skip;
            continue;
        }
        if (node.light != 0xffffffffu && !misses(lights[node.light], c, dot(gap, gap))) {
            if (count < room) {
                entries[offset + count] = node.light;
            }
            ++count;
        }
        ++i;
    }
    return count;
}

// Adds to a 64-bit counter in two words.
void count_up(uint low, uint high, uint more) {
    uint before = atomicAdd(report[low], more);
    if (before + more < before) {
        atomicAdd(report[high], 1u);
    }
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint tile = gl_WorkGroupID.y * frame.tiles.x + gl_WorkGroupID.x;
    pixel_counts[thread] = 0u;
    for (uint axis = 0u; axis < 3u; ++axis) {
        lowest[thread * 3u + axis] = 0xffffffffu;
        highest[thread * 3u + axis] = 0u;
    }
    min_alphas[thread] = ordered(1.0);
    max_base_colors[thread] = ordered(0.0);
    min_view_cosines[thread] = ordered(1.0);
    max_f0s[thread] = ordered(DIELECTRIC_F0);
    if (thread == 0u) {
        nearest_slice = 0u;
    }
    barrier();

    // Each thread reads half a column.
    ivec2 first = ivec2(gl_WorkGroupID.xy) * 16 + ivec2(int(thread & 15u), int(thread >> 4) * 8);
    uint nearest = 0u;
    for (int row = 0; row < 8; ++row) {
        ivec2 pixel = first + ivec2(0, row);
        if (pixel.x < int(frame.size.x) && pixel.y < int(frame.size.y)) {
            nearest = max(nearest, depth_slice(texelFetch(depth_image, pixel, 0).x));
        }
    }
    atomicMax(nearest_slice, nearest);
    barrier();
    if (thread == 0u) {
        tile_slices[tile] = nearest_slice;
    }

    // Merges neighboring pixels of one slice before the shared atomics.
    uint slice = SLICES;
    vec3 low, high;
    float alpha, base, facing, f0;
    uint count = 0u;
    for (int row = 0; row <= 8; ++row) {
        ivec2 pixel = first + ivec2(0, row);
        Surface s;
        bool lit = false;
        uint own = SLICES;
        if (row < 8 && pixel.x < int(frame.size.x) && pixel.y < int(frame.size.y)) {
            float depth = texelFetch(depth_image, pixel, 0).x;
            lit = depth > 0.0 && load_surface(pixel, depth, s);
            own = lit ? min(nearest_slice - depth_slice(depth), SLICES - 1u) : SLICES;
        }
        if (count > 0u && own != slice) {
            for (uint axis = 0u; axis < 3u; ++axis) {
                atomicMin(lowest[slice * 3u + axis], ordered(low[axis]));
                atomicMax(highest[slice * 3u + axis], ordered(high[axis]));
            }
            atomicMin(min_alphas[slice], ordered(alpha));
            atomicMax(max_base_colors[slice], ordered(base));
            atomicMin(min_view_cosines[slice], ordered(facing));
            atomicMax(max_f0s[slice], ordered(f0));
            atomicAdd(pixel_counts[slice], count);
            count = 0u;
        }
        slice = own;
        if (lit) {
            float brightest = max(s.base_color.r, max(s.base_color.g, s.base_color.b));
            low = count == 0u ? s.position : min(low, s.position);
            high = count == 0u ? s.position : max(high, s.position);
            alpha = count == 0u ? s.alpha : min(alpha, s.alpha);
            base = count == 0u ? brightest : max(base, brightest);
            float nv = max(dot(s.normal, s.view), 0.0);
            float own_f0 = mix(DIELECTRIC_F0, brightest, s.metallic);
            if ((frame.bits & FRAME_FORWARD) != 0u) {
                // Extended lobes have a reflectance of at most 1, and the roughness of their mark
                // at least.
                float mark = texelFetch(emission_image, pixel, 0).a;
                if (mark >= FORWARD_MARK) {
                    nv = mark >= 2.0 * FORWARD_MARK ? 0.0 : nv;
                    float roughness = fract(mark);
                    alpha = min(alpha, max(roughness * roughness, MIN_ALPHA));
                    base = 1.0;
                    own_f0 = 1.0;
                }
            }
            facing = count == 0u ? nv : min(facing, nv);
            f0 = count == 0u ? own_f0 : max(f0, own_f0);
            ++count;
        }
    }
    barrier();

    // One thread per slice.
    uint index = tile * SLICES + thread;
    uint lamps = frame.light_count - frame.directional_count;
    bool lit = pixel_counts[thread] > 0u && lamps > 0u;
    bool listed = lit && frame.cull_threshold > 0.0;
    Cluster c;
    uint below = 0u;
    float to_white = 0.0;
    uint found = 0u;
    if (listed) {
        uint at = thread * 3u;
        c.low = vec3(unordered(lowest[at]), unordered(lowest[at + 1u]), unordered(lowest[at + 2u]));
        c.high = vec3(unordered(highest[at]), unordered(highest[at + 1u]),
            unordered(highest[at + 2u]));
        float most = unordered(max_base_colors[thread]) / PI
            + max_specular(unordered(min_alphas[thread]), unordered(min_view_cosines[thread]),
                unordered(max_f0s[thread]));
        to_white = most * frame.pre_exposure;
        // Bisection for the maximum threshold whose loss is within the bound; losses increase with
        // the threshold.
        uint above = STEPS;
        while (above > below) {
            uint middle = (below + above) / 2u;
            if (losses[middle] * to_white <= frame.cull_threshold) {
                below = middle + 1u;
            } else {
                above = middle;
            }
        }
        c.least = below == 0u ? 0.0 : exp2(float(below - 1u) * 0.5 - 30.0);
        found = list(c, 0u, 0u);
    }
    list_starts[thread] = found;
    barrier();

    // One atomic addition reserves the entries of the whole tile: compare-and-swap loops of
    // thousands of threads serialize on one word. Each tile adds at most `most` entries, so the
    // counter cannot wrap; rare larger tiles use compare-and-swap.
    if (thread == 0u) {
        uint whole = 0u;
        for (uint i = 0u; i < SLICES; ++i) {
            uint next = whole + list_starts[i];
            list_starts[i] = whole;
            whole = next;
        }
        count_up(7u, 8u, whole);
        uint capacity = frame.list_capacity;
        uint most = (0xffffffffu - capacity) / (frame.tiles.x * frame.tiles.y);
        tile_start = whole == 0u ? 0u : NO_ROOM;
        if (whole > 0u && whole <= min(most, capacity)) {
            uint start = atomicAdd(report[3], whole);
            tile_start = start <= capacity - whole ? start : NO_ROOM;
        } else if (whole > 0u && whole <= capacity) {
            uint start = atomicOr(report[3], 0u);
            while (tile_start == NO_ROOM && start <= capacity - whole) {
                uint before = atomicCompSwap(report[3], start, start + whole);
                tile_start = before == start ? start : NO_ROOM;
                start = before;
            }
        }
    }
    barrier();
    if (!lit) {
        clusters[index] = uvec2(0u);
        return;
    }
    uint evaluated = lamps;
    clusters[index] = uvec2(0u, ALL_LIGHTS);
    if (listed) {
        bool fits = tile_start != NO_ROOM;
        if (fits) {
            // The compiler may round this traversal differently from the first: its own count is
            // used, and if it exceeds the reserved space, the cluster evaluates all lights.
            uint offset = tile_start + list_starts[thread];
            evaluated = list(c, offset, found);
            fits = evaluated <= found;
            clusters[index] = fits ? uvec2(offset, evaluated) : uvec2(0u, ALL_LIGHTS);
        }
        evaluated = fits ? evaluated : lamps;
        atomicAdd(report[2], fits ? 0u : 1u);
        atomicMax(report[5], floatBitsToUint(below == 0u ? 0.0 : losses[below - 1u] * to_white));
    }
    count_up(0u, 6u, evaluated);
    atomicMax(report[1], evaluated);
    atomicAdd(report[4], 1u);
}
