#version 460
// Flare source list: merges flare tiles into clusters and sorts the brightest clusters and lights
// (pre-exposed lux). One work group.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/flare_sources.glsl"

const uint THREADS = 256u;
layout(local_size_x = 256) in;
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1, scalar) coherent buffer candidate_block { FlareSource candidates[]; };
layout(set = 0, binding = 2, scalar) coherent buffer flare_tile_block { FlareTile tiles[]; };
layout(set = 0, binding = 3, scalar) coherent buffer flare_source_block {
    uint bright_count;
    uint bright_candidates;
    uint bright_dropped;
    float bright_dropped_light;
    FlareSource bright_sources[];
};
layout(push_constant, scalar) uniform flare_constant_block { FlareConstants constants; };

// Maximum distance (tiles) of a cluster's tiles from its brightest.
const int REACH = 8;

shared float best_rank[THREADS];
shared uint best[THREADS];
shared uint first_root[THREADS];

void all_see() {
    memoryBarrierBuffer();
    barrier();
}

ivec2 place_of(uint tile) {
    return ivec2(tile % constants.tiles.x, tile / constants.tiles.x);
}

// The brightest tile of the 3 x 3 neighborhood; the first of equals.
uint uphill(uint tile) {
    ivec2 at = place_of(tile);
    uint found = tile;
    float most = tiles[tile].weight;
    for (int y = max(at.y - 1, 0); y <= min(at.y + 1, int(constants.tiles.y) - 1); ++y) {
        for (int x = max(at.x - 1, 0); x <= min(at.x + 1, int(constants.tiles.x) - 1); ++x) {
            uint other = uint(y) * constants.tiles.x + uint(x);
            float weight = tiles[other].weight;
            if (weight > most || (weight == most && other < found)) {
                most = weight;
                found = other;
            }
        }
    }
    return found;
}

// Merges all tiles of a root into one source.
FlareSource gather(uint root) {
    ivec2 at = place_of(root);
    ivec2 low = max(at - REACH, ivec2(0));
    ivec2 high = min(at + REACH, ivec2(constants.tiles) - 1);
    vec3 light = vec3(0.0);
    float weight = 0.0;
    // About the root's center, which preserves precision.
    vec2 from = tiles[root].center;
    vec3 moments = vec3(0.0);
    for (int y = low.y; y <= high.y; ++y) {
        for (int x = low.x; x <= high.x; ++x) {
            FlareTile tile = tiles[uint(y) * constants.tiles.x + uint(x)];
            if (tile.root == root) {
                vec2 d = tile.center - from;
                light += tile.light;
                weight += tile.weight;
                moments += tile.weight * vec3(d, dot(d, d) + tile.spread);
            }
        }
    }
    moments /= max(weight, 1e-30);
    vec2 center = from + moments.xy;
    float spread = max(moments.z - dot(moments.xy, moments.xy), 0.0);
    vec3 ray = bright_ray(center, frame.inverse_projection, vec2(frame.size));
    float cosine = max(dot(ray, frame.forward.xyz), 0.01);
    FlareSource source;
    source.direction = to_camera(ray, constants.right.xyz, constants.up.xyz, frame.forward.xyz);
    // The mean squared distance of a disk's points from its center is half the squared radius.
    source.angular_radius = sqrt(2.0 * spread) * constants.pitch * cosine * cosine;
    source.illuminance = light * pixel_solid_angle(constants.pitch, cosine);
    source.visibility = 1.0;
    source.outside = 0.0;
    source.rank = luminance(light) > MIN_SOURCE ? luminance(source.illuminance) : 0.0;
    source.flags = 0u;
    source.light = root;
    return source;
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint tile_count = constants.tiles.x * constants.tiles.y;
    for (uint tile = thread; tile < tile_count; tile += THREADS) {
        tiles[tile].root = tiles[tile].weight > 0.0 ? uphill(tile) : NONE;
    }
    all_see();
    // Pointer jumping to the local maximum: each step doubles the distance.
    for (uint i = 0u; i < 8u; ++i) {
        for (uint tile = thread; tile < tile_count; tile += THREADS) {
            uint root = tiles[tile].root;
            if (root != NONE) {
                tiles[tile].root = tiles[root].root;
            }
        }
        all_see();
    }
    // Tiles far from the local maximum form their own clusters.
    for (uint tile = thread; tile < tile_count; tile += THREADS) {
        uint root = tiles[tile].root;
        ivec2 d = root == NONE ? ivec2(0) : abs(place_of(root) - place_of(tile));
        if (max(d.x, d.y) > REACH) {
            tiles[tile].root = tile;
        }
    }
    for (uint i = thread; i < MAX_CLUSTERS; i += THREADS) {
        candidates[constants.light_count + i].rank = 0.0;
    }
    all_see();
    // Roots in tile order.
    uint share = (tile_count + THREADS - 1u) / THREADS;
    uint from = min(thread * share, tile_count);
    uint to = min(from + share, tile_count);
    uint own = 0u;
    for (uint tile = from; tile < to; ++tile) {
        own += tiles[tile].root == tile ? 1u : 0u;
    }
    first_root[thread] = own;
    barrier();
    uint at = 0u;
    uint roots = 0u;
    for (uint i = 0u; i < THREADS; ++i) {
        at += i < thread ? first_root[i] : 0u;
        roots += first_root[i];
    }
    float lost = 0.0;
    uint lost_count = 0u;
    for (uint tile = from; tile < to; ++tile) {
        if (tiles[tile].root != tile) {
            continue;
        }
        FlareSource source = gather(tile);
        if (at < MAX_CLUSTERS) {
            candidates[constants.light_count + at] = source;
        } else if (source.rank > 0.0) {
            lost += source.rank;
            lost_count += 1u;
        }
        at += 1u;
    }
    all_see();
    // Selection sort, brightest first.
    uint candidate_count = constants.light_count + min(roots, MAX_CLUSTERS);
    uint kept = 0u;
    for (uint slot = 0u; slot < MAX_SOURCES; ++slot) {
        float most = 0.0;
        uint found = NONE;
        for (uint i = thread; i < candidate_count; i += THREADS) {
            float rank = candidates[i].rank;
            if (rank > most) {
                most = rank;
                found = i;
            }
        }
        best_rank[thread] = most;
        best[thread] = found;
        barrier();
        for (uint step = THREADS / 2u; step > 0u; step /= 2u) {
            if (thread < step) {
                float other = best_rank[thread + step];
                bool better = other > best_rank[thread]
                    || (other == best_rank[thread] && best[thread + step] < best[thread]);
                if (better) {
                    best_rank[thread] = other;
                    best[thread] = best[thread + step];
                }
            }
            barrier();
        }
        uint winner = best[0];
        barrier();
        if (winner == NONE) {
            break;
        }
        if (thread == 0u) {
            FlareSource source = candidates[winner];
            bright_sources[slot] = source;
            if ((source.flags & SOURCE_LIGHT) == 0u) {
                tiles[source.light].source = slot;
            }
            candidates[winner].rank = -source.rank;
        }
        kept = slot + 1u;
        all_see();
    }
    uint left = 0u;
    for (uint i = thread; i < candidate_count; i += THREADS) {
        float rank = candidates[i].rank;
        lost += max(rank, 0.0);
        lost_count += rank > 0.0 ? 1u : 0u;
    }
    best_rank[thread] = lost;
    best[thread] = lost_count;
    barrier();
    if (thread == 0u) {
        float sum = 0.0;
        for (uint i = 0u; i < THREADS; ++i) {
            sum += best_rank[i];
            left += best[i];
        }
        bright_count = kept;
        bright_candidates = kept + left;
        bright_dropped = left;
        bright_dropped_light = sum;
    }
}
