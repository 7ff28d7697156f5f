#version 460
// Starburst sprites of the flare sources: position and size (pixels), and distributed light
// (pre-exposed).
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/flare_sources.glsl"
#include "lib/limit_counters.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1, scalar) readonly buffer flare_source_block {
    uint bright_count;
    uint bright_candidates;
    uint bright_dropped;
    float bright_dropped_light;
    FlareSource bright_sources[];
};
layout(set = 0, binding = 2, scalar) readonly buffer burst_block { uint burst_texels[]; };
layout(set = 0, binding = 3, scalar) writeonly buffer sprite_block { StarburstSprite sprites[]; };
layout(push_constant, scalar) uniform starburst_constant_block { StarburstConstants burst; };

#include "lib/starburst.glsl"

// Visibility threshold of exposed light: a quarter of an 8-bit step.
const float MIN_LIGHT = 1.0 / 1024.0;

// Maximum box of a source disk in table steps: 16 texels of the last level.
const float LARGEST_BOX = 16.0 * float(1 << BURST_LAST);

void main() {
    uint number = gl_GlobalInvocationID.x;
    StarburstSprite sprite = StarburstSprite(vec2(0.0), 0.0, 0.0, vec3(0.0), 0.0);
    if (number < bright_count) {
        FlareSource source = bright_sources[number];
        vec3 d = from_camera(source.direction, burst.right.xyz, burst.up.xyz, frame.forward.xyz);
        vec4 clip = frame.view_projection * vec4(d, 0.0);
        vec2 size = vec2(frame.size);
        sprite.center = (clip.xy / max(clip.w, 1e-30) * 0.5 + 0.5) * size;
        float cosine = max(-source.direction.z, 0.01);
        sprite.light = source.illuminance
            * (source.visibility / pixel_solid_angle(burst.pitch, cosine));
        sprite.disk = tan(min(source.angular_radius, 1.0)) / (burst.pitch * cosine * cosine);
        bool point = (source.flags & SOURCE_LIGHT) != 0u && (source.flags & SOURCE_VISIBLE_EMITTER)
            == 0u;
        // A spike falls with the square of the distance, and is as wide as the source disk or a
        // pixel; the smooth pattern of a round iris falls with the cube.
        float strongest = luminance(sprite.light) * burst.spike * burst.steps / MIN_LIGHT;
        float along = sqrt(strongest / max(2.0 * sprite.disk, 1.0));
        float reach = 1024.0 / burst.steps * max(along,
            pow(strongest * burst.steps * 0.25, 1.0 / 3.0));
        bool beyond_disk = reach > sprite.disk;
        reach = clamp(max(reach, 256.0 / burst.steps), 4.0, 4.0 * max(size.x, size.y))
            + sprite.disk;
        // The sprite misses the image.
        bool missed = any(lessThan(sprite.center, vec2(-reach)))
            || any(greaterThan(sprite.center, size + reach));
        sprite.reach = missed || (point && burst.points == 0u) || isnan(reach) ? 0.0 : reach;
        // Most diffraction of a source with so large a disk stays within it, and its box would need
        // too many texels per frame.
        if (burst.steps * burst_side(sprite.disk) > LARGEST_BOX) {
            if (sprite.reach > 0.0 && beyond_disk) {
                atomicAdd(limit_counters.large_flare_sources, 1u);
            }
            sprite.reach = 0.0;
        } else if (!point) {
            float own = luminance(burst_square(vec2(0.0),
                burst.steps * burst_side(sprite.disk), 0.0));
            sprite.moved = clamp(1.0 - burst_beyond((reach - sprite.disk) * burst.steps,
                burst.beyond) - own, 0.0, 1.0);
            // A sprite that is not drawn removes no light.
            sprite.moved = sprite.reach > 0.0 ? sprite.moved : 0.0;
            sprite.reach = sprite.moved > 0.0 ? sprite.reach : 0.0;
        }
    }
    if (number < MAX_SOURCES) {
        sprites[number] = sprite;
    }
}
