#version 460
// variants: SPLIT
// Direct light of every listed lamp on every pixel; with SPLIT, its diffuse and specular parts apart too.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/lights.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4) uniform texture2D emission_image;
layout(set = 0, binding = 5, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 6, scalar) readonly buffer count_block { uvec2 list_counts[]; };
layout(set = 0, binding = 7, scalar) readonly buffer index_block { uint list_indices[]; };
layout(set = 0, binding = 8, scalar) readonly buffer merged_block { vec4 merged[]; };

layout(location = 0) out vec4 out_light;
#ifdef SPLIT
layout(location = 1) out vec4 out_diffuse;
layout(location = 2) out vec4 out_specular;
#endif

const uint ALL_LIGHTS = 0xffffffffu;
const uint MERGED_PER_TILE = 64u;

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    float depth = texelFetch(depth_image, pixel, 0).x;
    vec3 emission = texelFetch(emission_image, pixel, 0).rgb;
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    Surface s;
    if (depth > 0.0 && load_surface(pixel, depth, s)) {
        vec3 d, r, l;
        for (uint i = 0u; i < frame.directional_count; ++i) {
            vec3 e = light_illuminance(lights[i], true, s.position, l);
            evaluate_brdf(s, l, d, r);
            diffuse += e * d;
            specular += e * r;
        }
        uint tile = uint(pixel.y) / 16u * frame.tiles.x + uint(pixel.x) / 16u;
        uvec2 counts = list_counts[tile];
        bool all = counts.x == ALL_LIGHTS;
        uint count = all ? frame.light_count - frame.directional_count : counts.x;
        for (uint i = 0u; i < count; ++i) {
            uint index = all ? frame.directional_count + i : list_indices[tile * frame.list_capacity + i];
            vec3 e = light_illuminance(lights[index], false, s.position, l);
            if (e.r + e.g + e.b > 0.0) {
                evaluate_brdf(s, l, d, r);
                diffuse += e * d;
                specular += e * r;
            }
        }
        // Far lamps that the tile's list merged by direction: each behaves like one lamp at a mean place.
        for (uint i = 0u; i < counts.y; ++i) {
            vec4 place = merged[(tile * MERGED_PER_TILE + i) * 2u];
            vec4 strength = merged[(tile * MERGED_PER_TILE + i) * 2u + 1u];
            vec3 to = place.xyz - s.position;
            float d2 = max(dot(to, to), 1e-12);
            evaluate_brdf(s, to * inversesqrt(d2), d, r);
            diffuse += strength.rgb / d2 * d;
            specular += strength.rgb / d2 * r;
        }
    }
    diffuse *= frame.pre_exposure;
    specular *= frame.pre_exposure;
    out_light = vec4(to_half_range(diffuse + specular + emission), 1.0);
#ifdef SPLIT
    out_diffuse = vec4(to_half_range(diffuse), 1.0);
    out_specular = vec4(to_half_range(specular), 1.0);
#endif
}
