#version 460
// variants: DEBUG REPROJECTION_MODES STATIC_VIEW CAMERA_MOTION_ONLY
// Temporal accumulation of reflections (pre-exposed), reprojected by the motion of the mirror
// image.
//
// A virtual image is fixed while the camera moves: behind the surface by the ray length, nearer for
// convex surfaces. The history lookup projects that position into the last frame (Stachowiak and
// Uludag 2015). If the reflected object or the mirror moves, the image is computed from their
// previous positions. The wider the lobe, the more a reflection follows its surface.
//
// REPROJECTION_MODES uses the selected method instead. STATIC_VIEW: nothing has moved, the history
// needs no reprojection. CAMERA_MOTION_ONLY: no object has moved. DEBUG supports all of these, and
// writes ray shares and the choice too.
#extension GL_GOOGLE_include_directive : require
#ifdef DEBUG
#define REPROJECTION_MODES
#endif
#include "shared/frame.glsl"
#include "shared/ssr.glsl"
#include "lib/brdf.glsl"
#ifndef STATIC_VIEW
#include "lib/limit_counters.glsl"
#endif
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/ssr_constants.glsl"
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 5, rgba16f) uniform readonly image2D reflection_image;
layout(set = 0, binding = 6, rg32ui) uniform readonly uimage2D hit_image;
#if !defined(STATIC_VIEW) && !defined(CAMERA_MOTION_ONLY)
layout(set = 0, binding = 7) uniform texture2D velocity_image;
#endif
layout(set = 0, binding = 8, rgba32f) uniform readonly image2D history_image;
layout(set = 0, binding = 9, rg32ui) uniform readonly uimage2D history_data_image;
#if defined(DEBUG) || defined(STATIC_VIEW)
layout(set = 0, binding = 10, rgba16f) uniform readonly image2D displayed_image;
#endif
#ifndef STATIC_VIEW
// Depths and normals of the last frame's pixels.
layout(set = 0, binding = 11, rg32ui) uniform readonly uimage2D surface_history_image;
#endif
#ifdef DEBUG
layout(set = 0, binding = 12) uniform texture2D shares_image;
#endif
// Depths and normals of this frame's pixels.
layout(set = 0, binding = 13, rg32ui) uniform readonly uimage2D surface_history_now_image;
layout(set = 0, binding = 21, r8) uniform readonly image2D ray_mask_image;
#include "lib/ssr.glsl"
#include "lib/virtual_image.glsl"
#include "lib/ycocg.glsl"
#include "lib/temporal_stabilization.glsl"
#include "lib/reprojection.glsl"

// Constant where the variant determines it; else a uniform.
#if defined(DEBUG)
#define IS_STILL (ssr.history.still != 0u)
#elif defined(STATIC_VIEW)
const bool IS_STILL = true;
#else
const bool IS_STILL = false;
#endif
#ifdef REPROJECTION_MODES
#define REPROJECTION ssr.reprojection
#else
const uint REPROJECTION = SSR_VIRTUAL;
#endif

layout(set = 0, binding = 74, rgba32f) uniform writeonly image2D out_history_image;
vec4 out_history;
// Distance (m) of the virtual image from the camera; history length in frames, and own motion
// (pixels) of the reflected object.
layout(set = 0, binding = 75, rg32ui) uniform writeonly uimage2D out_past_image;
uvec2 out_past;
// Motion of the reflection since the last frame (pixels).
layout(set = 0, binding = 76, rg16f) uniform writeonly image2D out_motion_image;
vec2 out_motion;
// Displayed value, stabilized.
layout(set = 0, binding = 77, rgba16f) uniform writeonly image2D out_displayed_image;
vec4 out_displayed;
#ifdef DEBUG
// Shares of rays that hit a surface and that hit the sky, their length (m), and the rejection
// reason of the history.
layout(set = 0, binding = 78, rgba32f) uniform writeonly image2D out_found_image;
vec4 out_found;
// Motion of the reflection (pixels), history length in frames, and the chosen motion: 0 none, 1 the
// surface's, 2 the image's.
layout(set = 0, binding = 79, rgba32f) uniform writeonly image2D out_chosen_image;
vec4 out_chosen;
#endif

// Relative distance tolerances: beyond them it is another surface, or another reflection.
const float SURFACE_STEP = 0.01;
const float DEPTH_STEP = 0.1;
// Below this alpha the pixel's own ray gives the length.
const float SHARP_ALPHA = 0.01;
// Minimum cosine between normals of one surface.
const float NORMAL_STEP = 0.9;

#ifndef STATIC_VIEW
bool is_inside_image(vec2 at) {
    return all(greaterThanEqual(at, vec2(0.0))) && all(lessThan(at, vec2(ssr.size)));
}

// Object motion of a pixel: previous position and normal of its surface.
struct Motion {
    bool moves;
    float own;       // pixels, beyond the camera's motion
    bool known;      // visible in the last frame
    vec3 before;     // relative to this frame's camera
    vec3 normal;
};

#ifndef CAMERA_MOTION_ONLY
Motion motion_of(ivec2 pixel, vec3 place, vec3 normal) {
    vec2 velocity = texelFetch(velocity_image, pixel, 0).xy;
    vec3 now = current_pixel(vec4(place, 1.0));
    vec3 then = previous_pixel(vec4(place, 1.0));
    vec2 camera = now.z > 0.0 && then.z > 0.0 ? to_pixels(now) - to_pixels(then) : velocity;
    float own = distance(velocity, camera);
    Motion motion = Motion(is_object_motion(own, velocity), own, true, place, normal);
    if (!motion.moves) {
        motion.own = 0.0;
        return motion;
    }
    // On the plane of the surface that was visible there.
    vec2 at = to_pixels(now) - velocity;
    vec2 texel = at - ssr.motion.previous_jitter;
    motion.known = is_inside_image(texel) && now.z > 0.0;
    if (motion.known) {
        uvec2 seen = imageLoad(surface_history_image, ivec2(texel)).xy;
        float depth = uintBitsToFloat(seen.x);
        motion.known = depth > 0.0;
        motion.normal = unpack_normal(seen.y);
        vec3 middle = reprojected_position(floor(texel) + 0.5 + ssr.motion.previous_jitter, depth);
        vec3 near = reprojected_position(at, 1.0);
        vec3 ray = reprojected_position(at, 0.5) - near;
        float slope = dot(ray, motion.normal);
        float t = dot(middle - near, motion.normal) / slope;
        motion.before = near + ray * t;
        motion.known = motion.known && abs(slope) > 1e-6 * length(ray)
            && distance(motion.before, middle) < 0.1 * length(middle - ssr.motion.previous_eye);
    }
    return motion;
}
#endif

// Mean curvature (1/m) from neighboring normals: the smaller of both sides along each image axis.
float curvature_at(ivec2 pixel, vec3 place, vec3 normal, uint normal_bits) {
    float sum = 0.0;
    for (int axis = 0; axis < 2; ++axis) {
        float least = 1e30;
        for (int side = -1; side <= 1; side += 2) {
            ivec2 other = pixel + side * 2 * ivec2(1 - axis, axis);
            if (any(lessThan(other, ivec2(0))) || any(greaterThanEqual(other, ivec2(ssr.size)))) {
                continue;
            }
            // Flat surfaces are the common case.
            uvec2 seen = imageLoad(surface_history_now_image, other).xy;
            if (seen.y == normal_bits) {
                least = 0.0;
                continue;
            }
            float depth = uintBitsToFloat(seen.x);
            if (depth <= 0.0) {
                continue;
            }
            vec3 turned = unpack_normal(seen.y) - normal;
            vec3 step = position_at(other, depth) - place;
            float curvature = dot(turned, step) / max(dot(step, step), 1e-12);
            // Normals have 16 bits per component: smaller changes count as 0.
            curvature = dot(turned, turned) > 4e-8 ? curvature : 0.0;
            least = abs(curvature) < abs(least) ? curvature : least;
        }
        sum += least < 1e30 ? least : 0.0;
    }
    return 0.5 * sum;
}

// Ray length (m); for rough surfaces averaged with the neighbors, since single rays vary.
float filtered_ray_length(ivec2 pixel, float own, float alpha) {
    if (alpha < SHARP_ALPHA) {
        return own;
    }
    float inverse_depth = 0.0, count = 0.0;
    for (int i = 0; i < 9; i += 2) {
        ivec2 other = clamp(pixel + 2 * (ivec2(i % 3, i / 3) - 1), ivec2(0), ivec2(ssr.size) - 1);
        float t = uintBitsToFloat(imageLoad(hit_image, other).x);
        if (t > 0.0) {
            inverse_depth += 1.0 / t;
            count += 1.0;
        }
    }
    return count > 0.0 ? count / inverse_depth : 0.0;
}

// History position (pixels), and the previous distance of the image from the camera (m).
struct Lookup {
    vec2 there;
    float distance_then;
    float method;       // 1 the surface's motion, 2 the image's
    bool seen;
};

// Homogeneous pixel positions in this frame and in the last one: of the surface, and their change
// per meter behind it along the view ray.
struct Sight {
    vec3 now, now_on;
    vec3 then, then_on;
};

Sight sight_of(Surface s) {
    vec4 at = vec4(s.position, 1.0), on = vec4(-s.view, 0.0);
    return Sight(current_pixel(at), current_pixel(on), previous_pixel(at), previous_pixel(on));
}

// Previous position of the virtual image. `went`: motion (m) of the reflected object; `nearer`:
// scales the image toward the surface.
Lookup image_lookup(vec2 here, Surface s, Sight sight, Motion own, vec3 went, float t,
    float nearer) {
    vec3 image_then = s.position - s.view * (t * nearer);
    vec3 now = sight.now + sight.now_on * (t * nearer);
    vec3 then = sight.then + sight.then_on * (t * nearer);
    if (own.moves || went != vec3(0.0)) {
        vec3 thing_then = s.position + reflect(-s.view, s.normal) * t - went;
        image_then = virtual_image(own.before, own.normal, thing_then, nearer);
        then = previous_pixel(vec4(image_then, 1.0));
    }
    bool seen = now.z > 0.0 && then.z > 0.0;
    vec2 there = seen ? here - (to_pixels(now) - to_pixels(then)) : here;
    return Lookup(there, distance(image_then, ssr.motion.previous_eye), 2.0, seen);
}

// Lookup by the selected reprojection method.
Lookup lookup(ivec2 pixel, Surface s, Motion own, Motion thing, vec3 went, float t, vec2 nearer) {
    vec2 here = vec2(pixel) + 0.5;
    Sight sight = sight_of(s);
    // Velocities are half floats: for static surfaces the camera matrices are more precise.
    vec2 velocity = sight.then.z > 0.0 ? to_pixels(sight.now) - to_pixels(sight.then) : vec2(0.0);
#ifndef CAMERA_MOTION_ONLY
    velocity = own.moves || sight.then.z <= 0.0 ? texelFetch(velocity_image, pixel, 0).xy
        : velocity;
#endif
    Lookup by_surface = Lookup(here - velocity, 0.0, 1.0, true);
    if (REPROJECTION == SSR_SURFACE || t <= 0.0) {
        return by_surface;
    }
    Motion stands = Motion(false, 0.0, true, s.position, s.normal);
    Lookup plain = image_lookup(here, s, sight, stands, vec3(0.0), t, 1.0);
    if (REPROJECTION == SSR_HIT_PARALLAX) {
        return plain;
    }
    if (REPROJECTION == SSR_SMALLEST) {
        // Surface motion, surface motion by the camera alone, image motion by the camera alone,
        // motion of the reflected object.
        vec2 by_camera = sight.then.z > 0.0 ? to_pixels(sight.now) - to_pixels(sight.then)
            : velocity;
        vec2 motions[4] = vec2[](velocity, by_camera,
                                 plain.seen ? here - plain.there : velocity, thing.before.xy);
        vec2 least = motions[0];
        for (int i = 1; i < 4; ++i) {
            least = dot(motions[i], motions[i]) < dot(least, least) ? motions[i] : least;
        }
        return Lookup(here - least, 0.0, 1.0, true);
    }
    if (min(nearer.x, nearer.y) <= 0.0 || own.moves && !own.known) {
        return by_surface;
    }
    Lookup image = image_lookup(here, s, sight, own, went, t, nearer.x);
    // A curved mirror has different image distances in the plane of incidence and across it: each
    // applies to its motion component.
    vec3 across = s.normal - dot(s.normal, s.view) * s.view;
    vec3 beside = current_pixel(vec4(s.position + across * (0.01 * length(s.position)), 1.0));
    vec2 along = to_pixels(beside) - to_pixels(sight.now);
    if (nearer.x != nearer.y && beside.z > 0.0 && dot(along, along) > 1e-8) {
        along = normalize(along);
        vec2 there = image_lookup(here, s, sight, own, went, t, nearer.y).there;
        image.there = there + along * dot(along, image.there - there);
    }
    image.there = mix(by_surface.there, image.there, mirror_share(s.alpha));
    return image;
}

// Catmull-Rom weights of four pixels in a row.
vec4 cubic_weights(float f) {
    return vec4(f * (-0.5 + f * (1.0 - 0.5 * f)), 1.0 + f * f * (-2.5 + 1.5 * f),
        f * (0.5 + f * (2.0 - 1.5 * f)),
                f * f * (-0.5 + 0.5 * f));
}

vec4 history_at(ivec2 texel) {
    return imageLoad(history_image, clamp(texel, ivec2(0), ivec2(ssr.size) - 1));
}

// The outer eight of the twelve pixels of 4x4 without corners, which have the least weight (Jimenez
// 2016, "Filmic SMAA").
vec4 cubic_outside(ivec2 corner, vec4 wx, vec4 wy) {
    vec4 sum = wy.x * (wx.y * history_at(corner + ivec2(0, -1))
        + wx.z * history_at(corner + ivec2(1, -1)));
    sum += wy.w * (wx.y * history_at(corner + ivec2(0, 2))
        + wx.z * history_at(corner + ivec2(1, 2)));
    sum += wx.x * (wy.y * history_at(corner + ivec2(-1, 0))
        + wy.z * history_at(corner + ivec2(-1, 1)));
    sum += wx.w * (wy.y * history_at(corner + ivec2(2, 0))
        + wy.z * history_at(corner + ivec2(2, 1)));
    return sum;
}
#endif

void accumulate(ivec2 pixel) {
    vec2 here = vec2(pixel) + 0.5;
    uvec2 seen = imageLoad(surface_history_now_image, pixel).xy;
    vec4 now = imageLoad(reflection_image, pixel);
    Surface s;
    load_surface(pixel, seen, s);
    uvec2 hit_data = imageLoad(hit_image, pixel).xy;
    vec4 past = vec4(0.0);
    float count = 0.0;
    uint reason = SSR_KEPT;
#ifdef STATIC_VIEW
    // Static view: the image data of the last frame is valid.
    uvec2 known = imageLoad(history_data_image, pixel).xy;
    past = imageLoad(history_image, pixel);
    count = unpackHalf2x16(known.y).x;
    float distance_now = count > 0.0 ? uintBitsToFloat(known.x)
        : length(s.position) + uintBitsToFloat(hit_data.x);
    float thing_own = 0.0;
    out_motion = vec2(0.0);
#else
    float t = filtered_ray_length(pixel, uintBitsToFloat(hit_data.x), s.alpha);
    // The reflected surface at the ray hit.
    Motion thing = Motion(false, 0.0, true, vec3(1e9), s.normal);
    vec3 went = vec3(0.0);
#ifdef CAMERA_MOTION_ONLY
    Motion own = Motion(false, 0.0, true, s.position, s.normal);
#else
    Motion own = motion_of(pixel, s.position, s.normal);
    if (t > 0.0 && t < FAR_AWAY) {
        ivec2 at = clamp(ivec2(unpackUnorm2x16(hit_data.y) * vec2(ssr.size)), ivec2(0),
            ivec2(ssr.size) - 1);
        vec3 place = position_at(at, uintBitsToFloat(imageLoad(surface_history_now_image, at).x));
        thing = motion_of(at, place, s.normal);
        went = thing.moves && thing.known ? place - thing.before : vec3(0.0);
        thing.before = vec3(texelFetch(velocity_image, at, 0).xy, 0.0);
    }
#endif
    float thing_own = thing.own;
    float cosine = clamp(dot(s.normal, s.view), 0.0, 1.0);
    float curvature = REPROJECTION == SSR_VIRTUAL
        ? curvature_at(pixel, s.position, s.normal, seen.y) : 0.0;
    // In the plane of incidence, and across it.
    vec2 nearer = vec2(image_distance(curvature, t, 1.0 / max(cosine, 1e-3)),
        image_distance(curvature, t, cosine));
    Lookup at = lookup(pixel, s, own, thing, went, t, nearer);
    float distance_now = t > 0.0 ? length(s.position - s.view * (t * max(nearer.x, 0.0))) : 0.0;
    out_motion = clamp(here - at.there, -32000.0, 32000.0);
    // Combined with a per-pixel condition, since a branch on a uniform alone recompiles the shader
    // (lib/gbuffer.glsl, `view_at`).
    bool has_history = ssr.history.max_frames > 0.0;
    if (!has_history || !IS_STILL && !(at.seen && is_inside_image(at.there))) {
        reason = has_history ? SSR_OUTSIDE : SSR_NO_HISTORY;
#ifdef DEBUG
    } else if (IS_STILL) {
        past = imageLoad(history_image, pixel);
        count = unpackHalf2x16(imageLoad(history_data_image, pixel).y).x;
        reason = count > 0.0 ? SSR_KEPT : SSR_NO_HISTORY;
#endif
    } else {
        ivec2 corner = ivec2(floor(at.there - 0.5));
        vec2 f = at.there - 0.5 - vec2(corner);
        vec4 wx = cubic_weights(f.x), wy = cubic_weights(f.y);
        vec4 inner = vec4(0.0);
        float weights = 0.0;
        uint kept = 0u;
        for (int i = 0; i < 4; ++i) {
            ivec2 off = ivec2(i & 1, i >> 1);
            ivec2 texel = clamp(corner + off, ivec2(0), ivec2(ssr.size) - 1);
            uvec2 was = imageLoad(history_data_image, texel).xy;
            uvec2 seen_then = imageLoad(surface_history_image, texel).xy;
            vec4 history_texel = imageLoad(history_image, texel);
            vec2 kind = unpackHalf2x16(was.y);
            float distance_was = uintBitsToFloat(was.x);
            vec3 place = reprojected_position(vec2(texel) + 0.5 + ssr.motion.previous_jitter,
                uintBitsToFloat(seen_then.x));
            vec3 aside = place - own.before;
            float bend = 0.5 * abs(curvature) * dot(aside, aside);
            float off_plane = abs(dot(aside, own.normal)) - bend;
            float turned = dot(unpack_normal(seen_then.y), own.normal)
                + abs(curvature) * length(aside);
            bool images = at.distance_then > 0.0 && at.method == 2.0;
            float step = DEPTH_STEP + 8.0 * s.alpha;
            uint why = kind.x <= 0.0 ? SSR_NO_HISTORY
                : off_plane > SURFACE_STEP * length(place - ssr.motion.previous_eye)
                    ? SSR_SURFACE_CHANGED
                : turned < NORMAL_STEP ? SSR_NORMAL_CHANGED
                : images && (s.alpha < SHARP_ALPHA || distance_was > 0.0
                    && max(distance_was, at.distance_then) < 0.5 * FAR_AWAY)
                    && !(abs(distance_was - at.distance_then)
                    <= step * min(distance_was, at.distance_then)) ? SSR_DEPTH_CHANGED
                : images && REPROJECTION == SSR_VIRTUAL && abs(kind.y - thing.own)
                    > 0.25 + 0.25 * max(kind.y, thing.own) ? SSR_MOTION_CHANGED
                : SSR_KEPT;
            float weight = (off.x == 1 ? f.x : 1.0 - f.x) * (off.y == 1 ? f.y : 1.0 - f.y);
            inner += (off.x == 1 ? wx.z : wx.y) * (off.y == 1 ? wy.z : wy.y) * history_texel;
            if (why == SSR_KEPT) {
                ++kept;
                weights += weight;
                past += weight * history_texel;
                count += weight * kind.x;
            } else if (reason == SSR_KEPT || weight > 0.5) {
                reason = why;
            }
        }
        if (weights > 0.05) {
            // Renormalized for the missing corners.
            float corners = (wx.x + wx.w) * (wy.x + wy.w);
            past = kept == 4u ? (inner + cubic_outside(corner, wx, wy)) / (1.0 - corners)
                : past / weights;
            count /= weights;
            reason = SSR_KEPT;
        } else {
            count = 0.0;
        }
    }
#endif
    // NaN fails every comparison, so it discards the history.
    bool sound = count > 0.0 && all(greaterThanEqual(past, vec4(-MAX_HALF)))
        && all(lessThanEqual(past, vec4(MAX_HALF)));
    count = sound ? min(count, ssr.history.max_frames) : 0.0;
    past = sound ? vec4(clamp(past.rgb * frame.history_scale, 0.0, MAX_HALF),
        clamp(past.a, 0.0, 1.0)) : vec4(0.0);
    vec4 accumulated = now;
#if defined(DEBUG) || defined(STATIC_VIEW)
    if (count > 0.0 && IS_STILL) {
        accumulated = (past * count + now) / (count + 1.0);
    }
#endif
#ifndef STATIC_VIEW
    if (count > 0.0 && !IS_STILL) {
        // Variance clipping to mean and deviation of this frame's neighborhood. Wide lobes have few
        // rays per neighborhood: it is larger, with a greater tolerance.
        int spread = s.alpha < SHARP_ALPHA ? 1 : 2;
        float room = ssr.gamma * (1.0 + min(40.0 * s.alpha, 1.5));
        vec4 mean = vec4(0.0);
        vec4 square = vec4(0.0);
        for (int i = 0; i < 9; ++i) {
            ivec2 other = clamp(pixel + spread * (ivec2(i % 3, i / 3) - 1), ivec2(0),
                ivec2(ssr.size) - 1);
            vec4 c = imageLoad(reflection_image, other);
            c.rgb = to_ycocg(compress_luminance(c.rgb, frame.smoothed_exposure_scale));
            mean += c / 9.0;
            square += c * c / 9.0;
        }
        vec4 deviation = sqrt(max(square - mean * mean, 0.0)) * room;
        vec4 c = vec4(to_ycocg(compress_luminance(past.rgb, frame.smoothed_exposure_scale)), past.a)
            - mean;
        c = mean + vec4(clip_to_deviation(c.rgb, deviation.rgb),
            clamp(c.a, -deviation.a, deviation.a));
        vec3 clipped = max(from_ycocg(c.rgb), 0.0);
        // As in taa.comp: this limit is below half floats while the exposure of the comparison lags
        // by more than three stops.
        if (1.0 - luminance(clipped) < MIN_FROM_ONE) {
            atomicAdd(limit_counters.clamped_values, 1u);
        }
        // The mean is of linear light: a mean of compressed light would be too dark where few rays
        // find bright hits.
        accumulated = (vec4(stretch(clipped, frame.smoothed_exposure_scale), clamp(c.a, 0.0, 1.0))
            * count + now) / (count + 1.0);
    }
#endif
    out_history = vec4(clamp(accumulated.rgb, 0.0, MAX_HALF), accumulated.a);
    out_displayed = out_history;
#if defined(DEBUG) || defined(STATIC_VIEW)
    if (IS_STILL && count > 0.0 && ssr.history.averaged_frames > 0.0) {
        // The mean of these increments over frames is the history (denoiser_temporal.comp).
        vec4 increment = ssr.history.averaged_frames * (accumulated - past);
        out_displayed = clamp(accumulated + increment, -MAX_HALF, MAX_HALF);
    } else if (IS_STILL && count > 0.0 && exposure_is_stable()) {
        vec4 displayed = imageLoad(displayed_image, pixel);
        displayed.rgb *= frame.history_scale;
        out_displayed = stabilize(out_history, displayed,
            stabilization_step(vec4(displayed.rgb, 1.0), vec4(out_history.rgb, 1.0), count));
    }
#endif
    out_past.x = floatBitsToUint(distance_now);
    out_past.y = packHalf2x16(vec2(min(count + 1.0, 2048.0), min(thing_own, 1e4)));
#ifdef DEBUG
    out_found = vec4(texelFetch(shares_image, pixel, 0).xy, t, float(reason));
    out_chosen = vec4(here - at.there, count + 1.0, at.method);
#endif
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, ssr.size)) {
        return;
    }
    if (imageLoad(ray_mask_image, pixel).x > 0.0) {
        accumulate(pixel);
    } else {
        out_history = out_displayed = vec4(vec3(0.0), float(SSR_NO_REFLECTION));
        out_past = uvec2(0u);
        out_motion = vec2(0.0);
#ifdef DEBUG
        out_found = out_history;
        out_chosen = vec4(0.0);
#endif
    }
    imageStore(out_history_image, pixel, out_history);
    imageStore(out_past_image, pixel, uvec4(out_past, 0u, 0u));
    imageStore(out_motion_image, pixel, vec4(out_motion, 0.0, 0.0));
    imageStore(out_displayed_image, pixel, out_displayed);
#ifdef DEBUG
    imageStore(out_found_image, pixel, out_found);
    imageStore(out_chosen_image, pixel, out_chosen);
#endif
}
