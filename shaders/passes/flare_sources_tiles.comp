#version 460
// Bright pixels per tile that no scene light accounts for: emissive surfaces, highlights,
// reflections. Pre-exposed light.
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "lib/flare_sources.glsl"
#include "lib/packing.glsl"

layout(local_size_x = 16, local_size_y = 16) in;
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1) uniform texture2D depth_image;
layout(set = 0, binding = 2) uniform texture2D light_image;
layout(set = 0, binding = 3, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 4, scalar) readonly buffer candidate_block { FlareSource candidates[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer flare_tile_block { FlareTile tiles[]; };
layout(push_constant, scalar) uniform flare_constant_block { FlareConstants constants; };

// Maximum lights whose emitters a tile may show; with more, pixels test all lights.
const uint LIGHTS_PER_TILE = 32u;

shared uint any_bright;
shared uint selected_light_count;
shared uint lamps[LIGHTS_PER_TILE];
shared vec4 lights_sum[256];
shared vec4 places_sum[256];

void main() {
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    uint thread = gl_LocalInvocationIndex;
    if (thread == 0u) {
        any_bright = 0u;
        selected_light_count = 0u;
    }
    barrier();
    vec3 excess = vec3(0.0);
    if (all(lessThan(pixel, ivec2(frame.size)))) {
        excess = bright_excess(to_half_range(texelFetch(light_image, pixel, 0).rgb));
    }
    bool bright = luminance(excess) > 0.0;
    if (bright) {
        atomicOr(any_bright, 1u);
    }
    barrier();
    uint tile = gl_WorkGroupID.y * constants.tiles.x + gl_WorkGroupID.x;
    if (any_bright == 0u) {
        if (thread == 0u) {
            tiles[tile] = FlareTile(vec3(0.0), 0.0, vec2(0.0), 0.0, NONE, NONE);
        }
        return;
    }
    vec2 middle = (vec2(gl_WorkGroupID.xy) + 0.5) * float(BRIGHT_TILE);
    vec3 to_tile = bright_ray(middle, frame.inverse_projection, vec2(frame.size));
    vec3 in_camera = to_camera(to_tile, constants.right.xyz, constants.up.xyz, frame.forward.xyz);
    float tile_radius = 0.75 * float(BRIGHT_TILE) * constants.pitch;
    for (uint i = thread; i < constants.light_count; i += 256u) {
        FlareSource lamp = candidates[i];
        // Chords are no longer than arcs.
        float reach = lamp.angular_radius * 1.05 + tile_radius + 4.0 * constants.pitch + 2e-3;
        if (lamp.rank > 0.0 && (lamp.flags & SOURCE_VISIBLE_EMITTER) != 0u
            && length(lamp.direction - in_camera) < reach) {
            uint at = atomicAdd(selected_light_count, 1u);
            if (at < LIGHTS_PER_TILE) {
                lamps[at] = i;
            }
        }
    }
    barrier();
    if (bright) {
        float depth = texelFetch(depth_image, pixel, 0).x;
        vec2 place = vec2(pixel) + 0.5;
        vec3 ray = bright_ray(place, frame.inverse_projection, vec2(frame.size));
        vec4 p = frame.inverse_projection * vec4(place / vec2(frame.size) * 2.0 - 1.0,
            max(depth, 1e-30), 1.0);
        vec3 at = p.xyz / p.w;
        bool all_lights = selected_light_count > LIGHTS_PER_TILE;
        uint count = all_lights ? constants.light_count : selected_light_count;
        for (uint i = 0u; i < count && bright; ++i) {
            uint lamp = all_lights ? i : lamps[i];
            bool shows = candidates[lamp].rank > 0.0
                && (candidates[lamp].flags & SOURCE_VISIBLE_EMITTER) != 0u
                && shows_light(lights[lamp], depth > 0.0, at, ray, constants.pitch);
            // Emissive triangles count as bright pixels.
            bright = !(shows && (lights[lamp].kind & LIGHT_KIND_BITS) != LIGHT_TRIANGLE);
        }
    }
    excess = bright ? excess : vec3(0.0);
    float weight = luminance(excess);
    vec2 from_middle = vec2(pixel) + 0.5 - middle;
    lights_sum[thread] = vec4(excess, weight);
    places_sum[thread] = weight * vec4(from_middle, dot(from_middle, from_middle), 0.0);
    barrier();
    // Pairwise sums: deterministic order.
    for (uint step = 128u; step > 0u; step /= 2u) {
        if (thread < step) {
            lights_sum[thread] += lights_sum[thread + step];
            places_sum[thread] += places_sum[thread + step];
        }
        barrier();
    }
    if (thread == 0u) {
        FlareTile out_tile = FlareTile(lights_sum[0].rgb, lights_sum[0].a, middle, 0.0, NONE, NONE);
        if (out_tile.weight > 0.0) {
            vec3 mean = places_sum[0].xyz / out_tile.weight;
            out_tile.center = middle + mean.xy;
            out_tile.spread = max(mean.z - dot(mean.xy, mean.xy), 0.0);
        }
        tiles[tile] = out_tile;
    }
}
