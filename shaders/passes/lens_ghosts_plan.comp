#version 460
// Selects the ghosts to draw and allocates their memory. One work group, so that the order is
// deterministic.
#extension GL_GOOGLE_include_directive : require
#include "shared/ghosts.glsl"
#include "shared/flare_sources.glsl"
#include "lib/luminance.glsl"

layout(local_size_x = 256) in;

layout(set = 0, binding = 0, scalar) uniform ghost_block { GhostConstants ghosts; };
layout(set = 0, binding = 1, scalar) readonly buffer flare_source_block {
    uint count; uint candidate_count; uint dropped; float dropped_light; FlareSource sources[];
} bright;
layout(set = 0, binding = 2, scalar) readonly buffer found_block { GhostProbe found[]; };
// Flags and indices of the sources, then whether each of their ghosts was drawn: of the last frame
// and of this one.
layout(set = 0, binding = 3, scalar) readonly buffer last_block { uint last[]; };
layout(set = 0, binding = 4, scalar) writeonly buffer kept_block { uint kept[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer item_block { GhostItem items[]; };
// Indirect dispatch of the trace pass, then the indirect draw.
layout(set = 0, binding = 6, scalar) writeonly buffer command_block { uint commands[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer report_block { uint report[]; };

const uint GROUP = 256u;
const uint KEYS = 2u * GHOST_SOURCES;

shared uvec3 sums[GROUP];
shared vec2 lights[GROUP];
shared uint slots[GHOST_SOURCES];
shared uint counts[4];
shared uint last_chunk;

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint count = min(bright.count, GHOST_SOURCES);
    if (thread < 4u) {
        counts[thread] = 0u;
    }
    if (thread == 0u) {
        last_chunk = 0u;
    }
    if (thread < GHOST_SOURCES) {
        uint slot = GHOST_SOURCES;
        bool there = thread < count;
        // Key 0 is an empty slot.
        uvec2 key = there ? uvec2(bright.sources[thread].flags + 1u, bright.sources[thread].light)
            : uvec2(0u);
        for (uint i = 0u; i < GHOST_SOURCES; ++i) {
            if (there && slot == GHOST_SOURCES && last[2u * i] == key.x
                && last[2u * i + 1u] == key.y) {
                slot = i;
            }
        }
        slots[thread] = slot;
        kept[2u * thread] = key.x;
        kept[2u * thread + 1u] = key.y;
    }
    barrier();
    uint all = GHOST_SOURCES * ghosts.ghosts;
    uvec3 carried = uvec3(0u);
    vec2 light = vec2(0.0);
    for (uint from = 0u; from < all; from += GROUP) {
        uint at = from + thread;
        GhostProbe own = GhostProbe(vec4(0.0), 0.0, 0.0, 0u, GHOST_NONE);
        uint slot = 0u;
        if (at < all) {
            slot = at / ghosts.ghosts;
            if (slot < count) {
                own = found[at];
            }
        }
        bool seen = own.state == GHOST_MESH || own.state == GHOST_DISC;
        bool wanted = false;
        if (seen) {
            bool was = slots[slot] < GHOST_SOURCES
                && last[KEYS + slots[slot] * ghosts.ghosts + at % ghosts.ghosts] != 0u;
            wanted = own.peak >= ghosts.min_luminance * (was ? ghosts.hysteresis : 1.0);
        }
        uint chunks = own.state == GHOST_DISC ? 1u : (own.cells / CHUNK) * (own.cells / CHUNK);
        uvec3 need = wanted ? uvec3(1u, 3u * (own.cells + 1u) * (own.cells + 1u), 3u * chunks)
            : uvec3(0u);
        sums[thread] = need;
        barrier();
        for (uint step = 1u; step < GROUP; step *= 2u) {
            uvec3 before = thread >= step ? sums[thread - step] : uvec3(0u);
            barrier();
            sums[thread] += before;
            barrier();
        }
        uvec3 end = carried + sums[thread];
        uvec3 start = end - need;
        bool fits = end.x <= ghosts.item_capacity && end.y <= ghosts.node_capacity
            && end.z <= ghosts.chunk_capacity;
        bool is_drawn = wanted && fits;
        if (is_drawn) {
            items[start.x] = GhostItem(own.window, slot, at % ghosts.ghosts, own.cells, own.state,
                start.y, start.z, 0u, 0u);
        }
        if (at < all) {
            kept[KEYS + at] = is_drawn ? 1u : 0u;
        }
        float flux = slot < count && seen
            ? own.flux * luminance(bright.sources[slot].illuminance)
                * bright.sources[slot].visibility : 0.0;
        light += is_drawn ? vec2(flux, 0.0) : vec2(0.0, flux);
        if (is_drawn) {
            atomicAdd(counts[0], 1u);
            atomicMax(last_chunk, end.z);
        } else if (wanted) {
            atomicAdd(counts[3], 1u);
        } else if (seen) {
            atomicAdd(counts[1], 1u);
        } else if (own.state == GHOST_OFFSCREEN) {
            atomicAdd(counts[2], 1u);
        }
        // Dropped ghosts still advance the offsets, so all drawn items are at the start.
        carried += sums[GROUP - 1u];
        barrier();
    }
    lights[thread] = light;
    barrier();
    if (thread == 0u) {
        vec2 total = vec2(0.0);
        for (uint i = 0u; i < GROUP; ++i) {
            total += lights[i];
        }
        commands[0] = counts[0];
        commands[1] = 3u;
        commands[2] = 1u;
        report[0] = counts[0];
        report[1] = counts[1];
        report[2] = counts[2];
        report[3] = counts[3];
        report[4] = floatBitsToUint(total.x);
        report[5] = floatBitsToUint(total.y);
        report[6] = count;
        report[7] = bright.candidate_count;
        commands[3] = CHUNK * CHUNK * 6u;
            commands[4] = last_chunk;
        commands[5] = 0u;
        commands[6] = 0u;
    }
}
