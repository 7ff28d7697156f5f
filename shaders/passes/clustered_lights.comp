#version 460
// Light lists per cluster: 16x16 pixels and one eighth of an octave of depth. A cluster drops
// lights whose total contribution to any of its pixels is below a bound; docs/clustered-lights.md
// derives it. With a maximum number of lights, longer lists become cuts of the light tree.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/clusters.glsl"
#include "lib/luminance.glsl"

// Specialization: drivers that run both sides of a branch pay for the absent one as well.
// Few lights: threads test the nodes of the light tree side by side. Otherwise they traverse it.
layout(constant_id = 0) const bool FEW_LIGHTS = false;
// The forward pass lights some pixels.
layout(constant_id = 1) const bool HAS_FORWARD = true;
// Lists have at most `max_lights` lights.
layout(constant_id = 2) const bool HAS_CUTS = false;

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
// Lights and nodes of a cut, at most MAX_CUT, and the lights that a pixel samples from its nodes.
layout(push_constant, scalar) uniform cut_block { uint max_lights; uint light_samples; };

// Tile start of a tile whose lists found no space.
const uint NO_ROOM = 0xffffffffu;

// Entries of the loss table: half octaves of lux from 2^-30 (src/gpu_scene/light_tree.rs).
const uint STEPS = 128u;

// Words per slice of one bit per light tree node, with few lights; `MAX_TESTED_NODES` of
// src/passes/clustered_lights.rs is the number of bits.
const uint MASK_WORDS = 4u;

// First lights of a traversal that are kept, so that shorter lists need no second traversal.
const uint KEPT_LIGHTS = 16u;

// Bits of the greatest depth of the tile; 0 without geometry.
shared uint nearest;
// One bit per slice with lit pixels.
shared uint occupied;
shared uint lowest[SLICES * 3u];
shared uint highest[SLICES * 3u];
shared uint min_alphas[SLICES];
shared uint max_base_colors[SLICES];
shared uint min_view_cosines[SLICES];
shared uint max_f0s[SLICES];
// Illuminance (lx) below which a slice drops a light.
shared float thresholds[SLICES];
// Node bits of each slice, or the first lights of its traversal.
shared uint found_lights[SLICES * KEPT_LIGHTS];
// List lengths of the slices; then their starts within the tile.
shared uint list_starts[SLICES];
shared uint tile_start;
// Nodes of each slice's cut, and the errors of sampling them; negative for lights.
const uint CUT_ROOM = HAS_CUTS ? MAX_CUT : 1u;
shared uint cut_nodes[SLICES * CUT_ROOM];
shared float cut_errors[SLICES * CUT_ROOM];

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
    // Cosine and sine of the view-normal angle, widened by an angle that covers their rounding.
    const vec2 WIDENING = vec2(cos(2e-3), sin(2e-3));
    vec2 view = vec2(nv, sqrt(max(1.0 - nv * nv, 0.0)));
    view = vec2(view.x * WIDENING.x - view.y * WIDENING.y,
        view.y * WIDENING.x + view.x * WIDENING.y);
    // Cosine and sine of an interval, and of the view-half angle at its start.
    const vec2 INTERVAL = vec2(cos(0.5 * PI / float(PIECES)), sin(0.5 * PI / float(PIECES)));
    vec2 view_half = vec2(1.0, 0.0);
    float greatest = 0.0;
    for (uint i = 0u; i < PIECES; ++i) {
        // Angle of the half vector to the normal, by the addition theorems; 0 where the widened
        // view-normal angle is the larger one.
        bool apart = view_half.x < view.x;
        float nh = apart ? view_half.x * view.x + view_half.y * view.y : 1.0;
        float sine = apart ? max(view_half.y * view.x - view_half.x * view.y, 0.0) : 0.0;
        float a = clamp(sine / nh, alpha, 1.0);
        float t = sine * sine + nh * nh * a * a;
        view_half = vec2(view_half.x * INTERVAL.x - view_half.y * INTERVAL.y,
            view_half.y * INTERVAL.x + view_half.x * INTERVAL.y);
        float vh = max(view_half.x, 0.0);
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

// Whether the cluster drops all lights of a node. `gap`: from the cluster to the node's center.
bool is_faint(LightNode node, Cluster c, vec3 gap) {
    float distance_to_lights = max(length(gap) - node.radius, 0.0);
    return node.strongest < c.least * distance_to_lights * distance_to_lights;
}

vec3 gap_to(LightNode node, Cluster c) {
    return node.center - clamp(node.center, c.low, c.high);
}

// Traverses the light tree and returns the number of the cluster's lights. Writes the first `room`
// of them from `offset`, and keeps the first ones at `kept`.
uint list(Cluster c, uint offset, uint room, uint kept) {
    uint count = 0u;
    uint i = 0u;
    // A cut replaces a longer list.
    uint enough = HAS_CUTS ? max_lights : 0xfffffffeu;
    while (i < frame.node_count && count <= enough) {
        LightNode node = nodes[i];
        vec3 gap = gap_to(node, c);
        if (is_faint(node, c, gap)) {
            i = node.skip;
            continue;
        }
        if (node.light != 0xffffffffu && !misses(lights[node.light], c, dot(gap, gap))) {
            if (count < room) {
                entries[offset + count] = node.light;
            }
            if (count < KEPT_LIGHTS) {
                found_lights[kept + count] = node.light;
            }
            ++count;
        }
        ++i;
    }
    return count;
}

// Adds a node to the cut of a slice, unless the cluster drops its lights. True if it is added.
bool add_to_cut(Cluster c, uint index, uint first, inout uint size, uint place) {
    LightNode node = nodes[index];
    vec3 gap = gap_to(node, c);
    bool leaf = node.light != NONE;
    if (is_faint(node, c, gap) || leaf && misses(lights[node.light], c, dot(gap, gap))) {
        return false;
    }
    // Estimated illuminance, as in lib/light_tree.glsl, times the spread of its values: distances
    // differ by the radius, intensities and visibility in any node.
    float r2 = node.radius * node.radius;
    float d2 = dot(gap, gap);
    float near2 = max(max(d2 - r2, r2 * 2.0 / float(node.skip - index + 1u)), 1e-12);
    float x = r2 / near2;
    float falloff = x < 1e-3 ? 1.0 / near2 : log(1.0 + x) / r2;
    float spread = 0.25 + min(node.radius * inversesqrt(max(d2, 1e-12)), 1.0);
    cut_nodes[first + place] = index;
    cut_errors[first + place] = leaf ? -1.0 : luminance(node.intensity) * falloff * spread;
    size += place == size ? 1u : 0u;
    return true;
}

// Refines a cut of the light tree for a cluster: always the node with the greatest error (Walter et
// al. 2005, "Lightcuts", section 4). Writes its nodes from `first`, and returns their number.
uint refine_cut(Cluster c, uint first) {
    uint size = 0u;
    add_to_cut(c, 0u, first, size, 0u);
    while (true) {
        uint worst = 0u;
        float error = -1.0;
        for (uint i = 0u; i < size; ++i) {
            float other = cut_errors[first + i];
            worst = other > error ? i : worst;
            error = max(error, other);
        }
        if (error < 0.0 || size >= max_lights) {
            return size;
        }
        uint child = cut_nodes[first + worst] + 1u;
        uint sibling = nodes[child].skip;
        uint place = worst;
        for (uint i = 0u; i < 2u; ++i) {
            if (add_to_cut(c, i == 0u ? child : sibling, first, size, place)) {
                place = size;
            }
        }
        if (place == worst) {
            // The cluster drops all lights of the node.
            --size;
            cut_nodes[first + worst] = cut_nodes[first + size];
            cut_errors[first + worst] = cut_errors[first + size];
        }
    }
}

// Sorts a cut: lights first, both parts in the order of the tree, so that sums are the same in
// every frame.
void sort_cut(uint first, uint size) {
    for (uint i = 1u; i < size; ++i) {
        uint node = cut_nodes[first + i];
        float error = cut_errors[first + i];
        uint at = i;
        while (at > 0u) {
            float other = cut_errors[first + at - 1u];
            bool light = error < 0.0;
            bool before = light == (other < 0.0) ? node < cut_nodes[first + at - 1u] : light;
            if (!before) {
                break;
            }
            cut_nodes[first + at] = cut_nodes[first + at - 1u];
            cut_errors[first + at] = other;
            --at;
        }
        cut_nodes[first + at] = node;
        cut_errors[first + at] = error;
    }
}

Cluster cluster_of(uint slice) {
    uint at = slice * 3u;
    Cluster c;
    c.low = vec3(unordered(lowest[at]), unordered(lowest[at + 1u]), unordered(lowest[at + 2u]));
    c.high =
        vec3(unordered(highest[at]), unordered(highest[at + 1u]), unordered(highest[at + 2u]));
    c.least = thresholds[slice];
    return c;
}

// Adds to a 64-bit counter in two words.
void count_up(uint low, uint high, uint more) {
    uint before = atomicAdd(report[low], more);
    if (before + more < before) {
        atomicAdd(report[high], 1u);
    }
}

// Depth of a pixel; 0 outside of the image.
float depth_at(ivec2 pixel) {
    return pixel.x < int(frame.size.x) && pixel.y < int(frame.size.y)
        ? texelFetch(depth_image, pixel, 0).x : 0.0;
}

// Slice of a pixel of the tile; `SLICES` without geometry.
uint slice_at(float depth) {
    return depth > 0.0 ? min((nearest >> 20) - depth_slice(depth), SLICES - 1u) : SLICES;
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint tile = gl_WorkGroupID.y * frame.tiles.x + gl_WorkGroupID.x;
    for (uint axis = 0u; axis < 3u; ++axis) {
        lowest[thread * 3u + axis] = 0xffffffffu;
        highest[thread * 3u + axis] = 0u;
    }
    min_alphas[thread] = ordered(1.0);
    max_base_colors[thread] = ordered(0.0);
    min_view_cosines[thread] = ordered(1.0);
    max_f0s[thread] = ordered(DIELECTRIC_F0);
    for (uint word = 0u; word < MASK_WORDS; ++word) {
        found_lights[thread * KEPT_LIGHTS + word] = 0u;
    }
    if (thread == 0u) {
        nearest = 0u;
        occupied = 0u;
    }
    barrier();

    // Each thread reads half a row: neighbors in a row are more often at one depth than neighbors
    // in a column, because floors are seen at grazing angles.
    ivec2 first = ivec2(gl_WorkGroupID.xy) * 16 + ivec2(int(thread & 1u) * 8, int(thread >> 1));
    float greatest = 0.0;
    for (int i = 0; i < 8; ++i) {
        greatest = max(greatest, depth_at(first + ivec2(i, 0)));
    }
    atomicMax(nearest, floatBitsToUint(greatest));
    barrier();
    if (thread == 0u) {
        tile_slices[tile] = nearest >> 20;
    }

    // Each iteration merges a run of neighbors in one slice, so that shared atomics are few, also
    // on drivers that run the atomics of both sides of a branch.
    int next = nearest > 0u ? 0 : 8;
    float depth = next < 8 ? depth_at(first) : 0.0;
    while (next < 8) {
        uint slice = slice_at(depth);
        bool lit = false;
        vec3 low = vec3(3.4e38);
        vec3 high = -low;
        float alpha = 1.0;
        float base = 0.0;
        float facing = 1.0;
        float f0 = DIELECTRIC_F0;
        uint own = slice;
        while (next < 8 && own == slice) {
            ivec2 pixel = first + ivec2(next, 0);
            Surface s;
            if (slice < SLICES && load_surface(pixel, depth, s)) {
                lit = true;
                low = min(low, s.position);
                high = max(high, s.position);
                float brightest = max(s.base_color.r, max(s.base_color.g, s.base_color.b));
                float nv = max(dot(s.normal, s.view), 0.0);
                float own_alpha = s.alpha;
                float own_f0 = mix(DIELECTRIC_F0, brightest, s.metallic);
                if (HAS_FORWARD) {
                    // Extended lobes have a reflectance of at most 1, and the roughness of their
                    // mark at least.
                    float mark = texelFetch(emission_image, pixel, 0).a;
                    if (mark >= FORWARD_MARK) {
                        nv = mark >= 2.0 * FORWARD_MARK ? 0.0 : nv;
                        float roughness = fract(mark);
                        own_alpha = min(own_alpha, max(roughness * roughness, MIN_ALPHA));
                        brightest = 1.0;
                        own_f0 = 1.0;
                    }
                }
                alpha = min(alpha, own_alpha);
                base = max(base, brightest);
                facing = min(facing, nv);
                f0 = max(f0, own_f0);
            }
            ++next;
            depth = next < 8 ? depth_at(first + ivec2(next, 0)) : 0.0;
            own = slice_at(depth);
        }
        if (lit) {
            for (uint axis = 0u; axis < 3u; ++axis) {
                atomicMin(lowest[slice * 3u + axis], ordered(low[axis]));
                atomicMax(highest[slice * 3u + axis], ordered(high[axis]));
            }
            atomicMin(min_alphas[slice], ordered(alpha));
            atomicMax(max_base_colors[slice], ordered(base));
            atomicMin(min_view_cosines[slice], ordered(facing));
            atomicMax(max_f0s[slice], ordered(f0));
            atomicOr(occupied, 1u << slice);
        }
    }
    barrier();

    // One thread per slice.
    uint index = tile * SLICES + thread;
    uint lamps = frame.light_count - frame.directional_count;
    bool lit = (occupied >> thread & 1u) != 0u;
    bool listed = lit && (HAS_CUTS || frame.cull_threshold > 0.0);
    uint below = 0u;
    float to_white = 0.0;
    if (listed) {
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
        thresholds[thread] = below == 0u ? 0.0 : exp2(float(below - 1u) * 0.5 - 30.0);
    }
    barrier();

    uint to_list = HAS_CUTS || frame.cull_threshold > 0.0 ? occupied : 0u;
    if (FEW_LIGHTS) {
        // One thread per node. The bits of a slice are in the order of the tree.
        for (uint start = 0u; start < frame.node_count; start += 32u) {
            LightNode node;
            node.light = NONE;
            if (start + thread < frame.node_count) {
                node = nodes[start + thread];
            }
            bool leaf = node.light != NONE;
            Light light = lights[leaf ? node.light : 0u];
            uint rest = to_list;
            while (rest != 0u) {
                uint slice = uint(findLSB(rest));
                rest &= rest - 1u;
                Cluster c = cluster_of(slice);
                vec3 gap = gap_to(node, c);
                if (leaf && !is_faint(node, c, gap) && !misses(light, c, dot(gap, gap))) {
                    atomicOr(found_lights[slice * KEPT_LIGHTS + start / 32u], 1u << thread);
                }
            }
        }
        barrier();
    }
    uint kept = thread * KEPT_LIGHTS;
    uint found = 0u;
    if (FEW_LIGHTS) {
        for (uint word = 0u; word < MASK_WORDS; ++word) {
            found += uint(bitCount(found_lights[kept + word]));
        }
    } else if (listed) {
        found = list(cluster_of(thread), 0u, 0u, kept);
    }
    bool has_cut = HAS_CUTS && listed && found > max_lights;
    if (has_cut) {
        found = refine_cut(cluster_of(thread), thread * CUT_ROOM);
        sort_cut(thread * CUT_ROOM, found);
    }
    list_starts[thread] = found;
    barrier();

    // One atomic addition reserves the entries of the whole tile: compare-and-swap loops of
    // thousands of threads serialize on one word. Each tile adds at most `most` entries, so the
    // counter cannot wrap; rare larger tiles use compare-and-swap.
    if (thread == 0u) {
        uint whole = 0u;
        uint rest = to_list;
        while (rest != 0u) {
            uint slice = uint(findLSB(rest));
            rest &= rest - 1u;
            uint length = list_starts[slice];
            list_starts[slice] = whole;
            whole += length;
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
            uint offset = tile_start + list_starts[thread];
            evaluated = found;
            uint count = found;
            if (has_cut) {
                uint leaves = 0u;
                for (uint i = 0u; i < found; ++i) {
                    uint node = cut_nodes[thread * CUT_ROOM + i];
                    bool leaf = cut_errors[thread * CUT_ROOM + i] < 0.0;
                    entries[offset + i] = leaf ? nodes[node].light : node;
                    leaves += leaf ? 1u : 0u;
                }
                bool all_leaves = leaves == found;
                count = all_leaves ? found : LIGHT_CUT | (found - leaves) << 16 | leaves;
                evaluated += all_leaves ? 0u : light_samples;
            } else if (FEW_LIGHTS) {
                uint end = offset;
                for (uint start = 0u; start < frame.node_count; start += 32u) {
                    uint bits = found_lights[kept + start / 32u];
                    while (bits != 0u) {
                        entries[end] = nodes[start + uint(findLSB(bits))].light;
                        bits &= bits - 1u;
                        ++end;
                    }
                }
            } else if (found <= KEPT_LIGHTS) {
                for (uint i = 0u; i < found; ++i) {
                    entries[offset + i] = found_lights[kept + i];
                }
            } else {
                // The compiler may round this traversal differently from the first: its own count
                // is used, and if it exceeds the reserved space, the cluster evaluates all lights.
                evaluated = list(cluster_of(thread), offset, found, kept);
                fits = evaluated <= found;
                count = evaluated;
            }
            clusters[index] = fits ? uvec2(offset, count) : uvec2(0u, ALL_LIGHTS);
        }
        evaluated = fits ? evaluated : lamps;
        atomicAdd(report[2], fits ? 0u : 1u);
        atomicMax(report[5], floatBitsToUint(below == 0u ? 0.0 : losses[below - 1u] * to_white));
    }
    count_up(0u, 6u, evaluated);
    atomicMax(report[1], evaluated);
    atomicAdd(report[4], 1u);
}
