#version 460
// For each 16x16 tile: which lamps its pixels must evaluate one by one, which far lamps may be merged, and which can
// be left out, by what each can add under the current exposure. See docs/light-lists.md for the bounds.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(local_size_x = 16, local_size_y = 16) in;

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 4, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 5, scalar) writeonly buffer count_block { uvec2 list_counts[]; };
layout(set = 0, binding = 6, scalar) writeonly buffer index_block { uint list_indices[]; };
layout(set = 0, binding = 7, scalar) writeonly buffer merged_block { vec4 merged[]; };
layout(set = 0, binding = 8, scalar) buffer report_block { uint report[]; };

const uint THREADS = 256u;
const uint ALL_LIGHTS = 0xffffffffu;
const uint GRID = 8u;                 // directions are binned on an 8x8 octahedral map
const uint BINS = GRID * GRID;
const uint STEPS = 64u;               // half octaves of the histograms
const float SUM_ONE = 67108864.0;     // fixed point of the histograms: 2^26 is white
// Half the angle that a direction bin spans (rad), for the error of merged highlights.
const float BIN_ANGLE = 0.2;

const uint DROP = 0u;
const uint MERGE = 1u;
const uint KEEP = 2u;

shared uint lowest[3];
shared uint highest[3];
shared int normal_sum[3];
shared uint least_normal_cos;
shared uint least_alpha;
shared uint greatest_alpha;
shared uint greatest_base;
shared uint greatest_f0;
shared uint pixels;
shared uint drop_sums[STEPS];
shared uint merge_sums[STEPS];
shared uint thresholds[2];
shared uint ranks[THREADS];
shared int bin_sums[BINS * 7u];
shared uint bin_flags[BINS];
shared uint merge_total;

// Orders floats of both signs as unsigned integers.
uint ordered(float x) {
    uint u = floatBitsToUint(x);
    return (u & 0x80000000u) != 0u ? ~u : u | 0x80000000u;
}

float unordered(uint u) {
    return uintBitsToFloat((u & 0x80000000u) != 0u ? u & 0x7fffffffu : ~u);
}

// What the tile's pixels have in common.
struct Tile {
    vec3 low;
    vec3 high;
    vec3 center;
    float radius;
    vec3 normal;        // axis of the cone that holds all normals
    float normal_cos;   // its half angle
    float normal_sin;
    vec3 view;          // axis of the cone that holds all directions to the camera
    float view_sin;
    float alpha_low;
    float alpha_high;
    float base;
    float f0;
};

// Cosine of (a - b), or 1 if a < b: the angle that is left after a spread.
float cos_less(float cos_a, float cos_b, float sin_b) {
    if (cos_a >= cos_b) {
        return 1.0;
    }
    return cos_a * cos_b + sqrt(max(1.0 - cos_a * cos_a, 0.0)) * sin_b;
}

// Upper bounds of what a lamp adds to any pixel of the tile, of white: diffuse in x, specular in y.
// to_center and distance2 describe the lamp as seen from the tile's centre.
vec2 bound(Light light, Tile tile, out vec3 to_center, out float distance2) {
    vec3 nearest = clamp(light.position, tile.low, tile.high);
    vec3 gap = light.position - nearest;
    float least2 = max(dot(gap, gap), 1e-12);
    vec3 d = light.position - tile.center;
    distance2 = max(dot(d, d), 1e-12);
    to_center = d * inversesqrt(distance2);
    if (least2 * light.inverse_range2 >= 1.0) {
        return vec2(0.0);
    }
    // A cone that misses the tile's sphere gives nothing.
    if (light.spot_scale > 0.0) {
        float cos_outer = clamp(-light.spot_offset / light.spot_scale, 0.0, 1.0);
        float sin_outer = sqrt(1.0 - cos_outer * cos_outer);
        float along = dot(-d, light.direction);
        float across = sqrt(max(distance2 - along * along, 0.0));
        if (cos_outer * across - sin_outer * along > tile.radius || along < -tile.radius) {
            return vec2(0.0);
        }
    }
    float e = max(light.intensity.r, max(light.intensity.g, light.intensity.b)) * frame.pre_exposure / least2;

    // How far directions to the lamp spread over the tile.
    float light_sin = sqrt(min(tile.radius * tile.radius / distance2, 1.0));
    bool inside = distance2 <= tile.radius * tile.radius;
    float light_cos = sqrt(1.0 - light_sin * light_sin);
    float spread_cos = tile.normal_cos * light_cos - tile.normal_sin * light_sin;
    float spread_sin = tile.normal_sin * light_cos + tile.normal_cos * light_sin;
    bool wide = inside || tile.normal_cos <= 0.0 || spread_cos <= 0.0;
    float nl = wide ? 1.0 : cos_less(dot(tile.normal, to_center), spread_cos, spread_sin);
    if (nl <= 0.0) {
        return vec2(0.0);
    }
    float diffuse = e * nl * tile.base / PI;

    // The highlight: the half vector's least angle to any normal is half of what is left between the lamp's direction
    // and the mirror's cone. D is greatest there for the alpha of the tile that is nearest to the angle's tangent.
    float nh = 1.0;
    float nv_low = 0.0;
    if (!wide) {
        vec3 mirror = reflect(-tile.view, tile.normal);
        // Spread of the mirror direction: twice the normals', once the view's, once the lamp's.
        float spread = 2.0 * asin(min(tile.normal_sin, 1.0)) + asin(min(tile.view_sin, 1.0)) + asin(min(light_sin, 1.0));
        float angle = max(acos(clamp(dot(mirror, to_center), -1.0, 1.0)) - spread, 0.0);
        nh = cos(0.5 * angle);
        float nv_spread = asin(min(tile.normal_sin, 1.0)) + asin(min(tile.view_sin, 1.0));
        nv_low = cos(min(acos(clamp(dot(tile.normal, tile.view), -1.0, 1.0)) + nv_spread, 1.5707));
    }
    float tangent = sqrt(max(1.0 - nh * nh, 0.0)) / max(nh, 1e-6);
    float alpha = clamp(tangent, tile.alpha_low, tile.alpha_high);
    float a2 = alpha * alpha;
    float t = nh * nh * (a2 - 1.0) + 1.0;
    float distribution = a2 / (PI * t * t);
    // V n.l <= 1/2 / max(n.v, alpha) (from the height-correlated Smith term), and F from the least half-vector angle.
    float visibility = 0.5 / max(nv_low, tile.alpha_low);
    float lv = inside ? -1.0 : dot(to_center, tile.view);
    float lv_spread = asin(min(light_sin, 1.0)) + asin(min(tile.view_sin, 1.0));
    float vh = inside ? 0.0 : cos(min(0.5 * (acos(clamp(lv, -1.0, 1.0)) + lv_spread), 1.5707));
    float fresnel = mix(tile.f0, 1.0, schlick_weight(vh));
    return vec2(diffuse, e * distribution * visibility * fresnel);
}

// How wrong the tile's pixels can get, of white, if this lamp is merged with others of nearly the same direction: the
// merged lamp is exact at the tile's centre and follows to first order, so that the second order remains; and a
// highlight is smeared over the bin.
float merge_error(vec2 bounds, Tile tile, float distance2) {
    float near = tile.radius * tile.radius / distance2;
    float smear = BIN_ANGLE / (2.0 * tile.alpha_low);
    return bounds.x * 0.25 * near + bounds.y * min(1.0, 0.25 * smear * smear);
}

uint step_of(float x) {
    return uint(clamp(2.0 * (log2(max(x, 1e-30)) + 30.0), 0.0, float(STEPS - 1u)));
}

uint classify(vec2 bounds, float error) {
    float b = bounds.x + bounds.y;
    if (b <= 0.0 || step_of(b) < thresholds[0]) {
        return DROP;
    }
    return step_of(error) < thresholds[1] ? MERGE : KEEP;
}

uint direction_bin(vec3 n) {
    n /= abs(n.x) + abs(n.y) + abs(n.z);
    vec2 e = n.z >= 0.0 ? n.xy : (1.0 - abs(n.yx)) * vec2(sign_not_zero(n.x), sign_not_zero(n.y));
    uvec2 q = uvec2(clamp((e * 0.5 + 0.5) * float(GRID), vec2(0.0), vec2(float(GRID) - 1.0)));
    return q.y * GRID + q.x;
}

void main() {
    uint thread = gl_LocalInvocationIndex;
    uint tile_index = gl_WorkGroupID.y * frame.tiles.x + gl_WorkGroupID.x;
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy);
    if (thread < 3u) {
        lowest[thread] = 0xffffffffu;
        highest[thread] = 0u;
        normal_sum[thread] = 0;
    }
    if (thread < STEPS) {
        drop_sums[thread] = 0u;
        merge_sums[thread] = 0u;
    }
    if (thread < BINS) {
        bin_flags[thread] = 0u;
    }
    for (uint i = thread; i < BINS * 7u; i += THREADS) {
        bin_sums[i] = 0;
    }
    if (thread == 0u) {
        least_normal_cos = ordered(1.0);
        least_alpha = ordered(1.0);
        greatest_alpha = ordered(0.0);
        greatest_base = ordered(0.0);
        greatest_f0 = ordered(DIELECTRIC_F0);
        pixels = 0u;
        merge_total = 0u;
    }
    barrier();

    // What do the tile's pixels have in common?
    Surface s;
    bool lit = false;
    if (pixel.x < int(frame.size.x) && pixel.y < int(frame.size.y)) {
        float depth = texelFetch(depth_image, pixel, 0).x;
        lit = depth > 0.0 && load_surface(pixel, depth, s);
    }
    if (lit) {
        for (int axis = 0; axis < 3; ++axis) {
            atomicMin(lowest[axis], ordered(s.position[axis]));
            atomicMax(highest[axis], ordered(s.position[axis]));
            atomicAdd(normal_sum[axis], int(round(s.normal[axis] * 65536.0)));
        }
        float base = max(s.base_color.r, max(s.base_color.g, s.base_color.b));
        atomicMin(least_alpha, ordered(s.alpha));
        atomicMax(greatest_alpha, ordered(s.alpha));
        atomicMax(greatest_base, ordered(base));
        atomicMax(greatest_f0, ordered(mix(DIELECTRIC_F0, base, s.metallic)));
        atomicAdd(pixels, 1u);
    }
    barrier();
    uint lamps = frame.light_count - frame.directional_count;
    if (pixels == 0u || lamps == 0u || frame.cull_bound <= 0.0) {
        if (thread == 0u) {
            bool none = pixels == 0u || lamps == 0u;
            list_counts[tile_index] = uvec2(none ? 0u : ALL_LIGHTS, 0u);
            atomicAdd(report[0], none ? 0u : lamps);
        }
        return;
    }
    Tile tile;
    tile.low = vec3(unordered(lowest[0]), unordered(lowest[1]), unordered(lowest[2]));
    tile.high = vec3(unordered(highest[0]), unordered(highest[1]), unordered(highest[2]));
    tile.center = 0.5 * (tile.low + tile.high);
    tile.radius = 0.5 * length(tile.high - tile.low) + 1e-6;
    vec3 sum = vec3(float(normal_sum[0]), float(normal_sum[1]), float(normal_sum[2]));
    tile.normal = dot(sum, sum) > 0.0 ? normalize(sum) : vec3(0.0, 1.0, 0.0);
    if (lit) {
        atomicMin(least_normal_cos, ordered(dot(s.normal, tile.normal)));
    }
    barrier();
    tile.normal_cos = clamp(unordered(least_normal_cos), -1.0, 1.0);
    tile.normal_sin = tile.normal_cos <= 0.0 ? 1.0 : sqrt(1.0 - tile.normal_cos * tile.normal_cos);
    tile.view = view_at(tile.center);
    tile.view_sin = frame.forward.w != 0.0 ? 0.0 : min(tile.radius / max(length(tile.center), 1e-6), 1.0);
    tile.alpha_low = unordered(least_alpha);
    tile.alpha_high = unordered(greatest_alpha);
    tile.base = unordered(greatest_base);
    tile.f0 = unordered(greatest_f0);

    // How much could be dropped, how much merged?
    vec3 to_center;
    float distance2;
    uint share = (lamps + THREADS - 1u) / THREADS;
    uint begin = min(thread * share, lamps);
    uint end = min(begin + share, lamps);
    for (uint i = begin; i < end; ++i) {
        vec2 b = bound(lights[frame.directional_count + i], tile, to_center, distance2);
        float all = b.x + b.y;
        if (all > 0.0) {
            // Rounded up, so that the sum stays a bound.
            atomicAdd(drop_sums[step_of(all)], uint(min(all, 16.0 / float(THREADS)) * SUM_ONE) + 1u);
            float error = merge_error(b, tile, distance2);
            atomicAdd(merge_sums[step_of(error)], uint(min(error, 16.0 / float(THREADS)) * SUM_ONE) + 1u);
        }
    }
    barrier();
    if (thread == 0u) {
        float sum = 0.0;
        uint step = 0u;
        for (; step < STEPS; ++step) {
            sum += float(drop_sums[step]) / SUM_ONE;
            if (sum > frame.cull_bound) {
                break;
            }
        }
        thresholds[0] = step;
        sum = 0.0;
        step = 0u;
        if (frame.merge_bound > 0.0) {
            for (; step < STEPS; ++step) {
                sum += float(merge_sums[step]) / SUM_ONE;
                if (sum > frame.merge_bound) {
                    break;
                }
            }
        }
        thresholds[1] = step;
    }
    barrier();

    // How many does each thread keep? Threads own neighbouring lamps, so that the list keeps the lamps' order and the
    // same input gives the same sums, bit for bit.
    uint own = 0u;
    for (uint i = begin; i < end; ++i) {
        Light light = lights[frame.directional_count + i];
        vec2 b = bound(light, tile, to_center, distance2);
        uint kind = classify(b, merge_error(b, tile, distance2));
        own += kind == KEEP ? 1u : 0u;
        if (kind == MERGE) {
            vec3 c = light.intensity;
            float w = max(c.r, max(c.g, c.b)) / distance2 * frame.pre_exposure;
            // In 2^-16 of white.
            atomicAdd(merge_total, uint(clamp(w * 65536.0, 0.0, 65536.0)) + 1u);
        }
    }
    // An inclusive prefix sum over the work group (Hillis and Steele 1986).
    ranks[thread] = own;
    barrier();
    for (uint offset = 1u; offset < THREADS; offset *= 2u) {
        uint value = ranks[thread] + (thread >= offset ? ranks[thread - offset] : 0u);
        barrier();
        ranks[thread] = value;
        barrier();
    }
    uint slot = ranks[thread] - own;
    uint total = ranks[THREADS - 1u];
    // Merged sums use the whole of their fixed-point range.
    float scale = 536870912.0 / max(float(merge_total) / 65536.0, 1e-6);
    uint first = frame.directional_count;
    uint base_index = tile_index * frame.list_capacity;
    for (uint i = begin; i < end; ++i) {
        Light light = lights[first + i];
        vec2 b = bound(light, tile, to_center, distance2);
        uint kind = classify(b, merge_error(b, tile, distance2));
        if (kind == KEEP) {
            if (slot < frame.list_capacity) {
                list_indices[base_index + slot] = first + i;
            }
            ++slot;
        }
        if (kind == MERGE) {
            // The vector sum of illuminances keeps n.E exact at the centre for every normal that sees all of the bin.
            float cone = clamp(dot(light.direction, -to_center) * light.spot_scale + light.spot_offset, 0.0, 1.0);
            float r2 = distance2 * light.inverse_range2;
            float window = clamp(1.0 - r2 * r2, 0.0, 1.0);
            vec3 e = light.intensity * (cone * cone * window / distance2 * frame.pre_exposure);
            float w = (e.r + e.g + e.b) / 3.0;
            uint bin = direction_bin(to_center);
            bin_flags[bin] = 1u;
            ivec3 direction = ivec3(round(to_center * w * scale));
            ivec3 color = ivec3(round(e * scale));
            for (int axis = 0; axis < 3; ++axis) {
                atomicAdd(bin_sums[bin * 7u + uint(axis)], direction[axis]);
                atomicAdd(bin_sums[bin * 7u + 3u + uint(axis)], color[axis]);
            }
            // Mean of 1/d by illuminance, in units of 1/radius (merged lamps are farther away than that).
            atomicAdd(bin_sums[bin * 7u + 6u], int(round(w * min(tile.radius * inversesqrt(distance2), 1.0) * scale)));
        }
    }
    barrier();
    if (thread == 0u) {
        uint count = 0u;
        for (uint bin = 0u; bin < BINS; ++bin) {
            if (bin_flags[bin] == 0u) {
                continue;
            }
            vec3 direction = vec3(float(bin_sums[bin * 7u]), float(bin_sums[bin * 7u + 1u]), float(bin_sums[bin * 7u + 2u]));
            vec3 color = vec3(float(bin_sums[bin * 7u + 3u]), float(bin_sums[bin * 7u + 4u]), float(bin_sums[bin * 7u + 5u]));
            float w = (color.r + color.g + color.b) / 3.0;
            float l = length(direction);
            if (w <= 0.0 || l <= 0.0) {
                continue;
            }
            float d = tile.radius * w / max(float(bin_sums[bin * 7u + 6u]), 1e-3);
            vec3 strength = color * (l / w) / scale / frame.pre_exposure * d * d;
            merged[(tile_index * BINS + count) * 2u] = vec4(tile.center + direction / l * d, 0.0);
            merged[(tile_index * BINS + count) * 2u + 1u] = vec4(strength, 0.0);
            ++count;
        }
        bool overflow = total > frame.list_capacity;
        list_counts[tile_index] = overflow ? uvec2(ALL_LIGHTS, 0u) : uvec2(total, count);
        atomicAdd(report[0], overflow ? lamps : total + count);
        atomicMax(report[1], overflow ? lamps : total + count);
        if (overflow) {
            atomicAdd(report[2], 1u);
        }
    }
}
