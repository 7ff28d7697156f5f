#version 460
// features: RAY_TRACED_SHADOWS RAY_TRACED_SHADOWS:USE_RAY_QUERY
// Flare source candidates of the scene lights: illuminance at the lens (pre-exposed lux) and
// visible fraction, by the depth buffer within the image, by rays beyond its border.
#extension GL_GOOGLE_include_directive : require
#ifdef USE_RAY_QUERY
#extension GL_EXT_ray_query : require
#endif
#extension GL_EXT_samplerless_texture_functions : require
#include "shared/frame.glsl"
#include "shared/flare_sources.glsl"

layout(local_size_x = 64) in;
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 1) uniform texture2D depth_image;
layout(set = 0, binding = 2, scalar) readonly buffer light_block { Light lights[]; };
layout(set = 0, binding = 3, scalar) writeonly buffer candidate_block { FlareSource candidates[]; };

#include "lib/constants.glsl"
#include "lib/flare_sources.glsl"
#include "lib/lights.glsl"
#include "lib/ies_profiles.glsl"
#ifdef RAY_TRACED_SHADOWS
#include "lib/bvh.glsl"
#endif

layout(push_constant, scalar) uniform flare_constant_block { FlareConstants constants; };

// Visibility samples per light.
const uint SAMPLES = 32u;
// Point lights are sampled over a disk of this radius (pixels), so that an edge occludes them
// gradually.
const float POINT_RADIUS = 2.0;
// Relative depth margin of occluders. Flat lights have a larger one, since a pixel may show their
// own surface elsewhere.
const float BEFORE = 1e-3;
const float BEFORE_FLAT = 3e-3;

// Uniform points of the unit disk. Vogel 1979, "A better way to construct the sunflower head".
vec2 sunflower(uint i) {
    float radius = sqrt((float(i) + 0.5) / float(SAMPLES));
    float angle = float(i) * 2.39996323;
    return radius * vec2(cos(angle), sin(angle));
}

// x: visible; y: beyond the image border. `d`: sample position relative to the camera, or the
// direction to an infinite light; `nearer`: fraction of its distance below which geometry occludes
// it; `shift`: offset in pixels.
vec2 seen(vec3 d, bool far, float nearer, vec2 shift) {
    vec4 clip = frame.view_projection * vec4(d, far ? 0.0 : 1.0);
    vec2 place = (clip.xy / max(clip.w, 1e-30) * 0.5 + 0.5) * vec2(frame.size) + shift;
    if (clip.w > 0.0 && all(greaterThanEqual(place, vec2(0.0)))
        && all(lessThan(place, vec2(frame.size)))) {
        float depth = texelFetch(depth_image, ivec2(place), 0).x;
        vec4 there = frame.view_projection * vec4(d * nearer, 1.0);
        float own = far ? 0.0 : there.z / max(there.w, 1e-30);
        return vec2(depth > own ? 0.0 : 1.0, 0.0);
    }
#ifdef RAY_TRACED_SHADOWS
    vec3 across = (constants.right.xyz * shift.x - constants.up.xyz * shift.y) * constants.pitch;
    vec3 along = (d + across * dot(d, frame.forward.xyz)) * (far ? 1e9 : 1.0);
    bool open = trace_ray(vec3(0.0), along, vec3(0.0), far ? 1.0 : nearer, true).instance == NONE;
    return vec2(open ? 1.0 : 0.0, 1.0);
#else
    // Without rays, visibility beyond the border is unknown.
    return vec2(0.0, 1.0);
#endif
}

void main() {
    uint number = gl_GlobalInvocationID.x;
    if (number >= constants.light_count) {
        return;
    }
    Light light = lights[number];
    uint kind = light.kind & LIGHT_KIND_BITS;
    bool far = kind == LIGHT_DIRECTIONAL;
    vec3 d = far ? -light.direction : light.position;
    float distance2 = max(dot(d, d), 1e-12);
    vec3 to = d * inversesqrt(distance2);
    float bound = far ? 0.0 : light_bounding_radius(light);
    float angular = far ? light.half_width : kind == LIGHT_POINT ? 0.0
        : atan(bound, sqrt(distance2));
    bool body = far ? light.half_width > 0.0 : kind != LIGHT_POINT;
    vec3 up = cross(light.direction, light.right);
    float cosine = -dot(light.direction, to);
    cosine = (light.kind & LIGHT_TWO_SIDED) != 0u ? abs(cosine) : max(cosine, 0.0);
    // Illuminance (lx) on a plane that faces the light's center, and luminance (nits).
    vec3 lux;
    vec3 nits = light.intensity;
    float r2 = light.half_width * light.half_width;
    if (far) {
        lux = light.intensity;
        float sine = sin(min(light.half_width, PI * 0.5));
        nits = lux / max(PI * sine * sine, 1e-12);
    } else if (kind == LIGHT_POINT) {
        vec3 unused;
        lux = light_illuminance(light, false, vec3(0.0), unused) * profile_factor(light, -to);
    } else if (kind == LIGHT_SPHERE) {
        lux = nits * (PI * min(r2 / distance2, 1.0));
    } else {
        float area = kind == LIGHT_DISK ? PI * r2
            : kind == LIGHT_RECTANGLE ? 4.0 * light.half_width * light.half_height
            : kind == LIGHT_TRIANGLE ? 0.5 * abs(light.half_width * light.half_height)
            : 4.0 * light.half_width * light.half_height;
        float facing = cosine;
        if (kind == LIGHT_TUBE) {
            // Projected outline of the cylinder, and the round ends.
            float along = dot(light.right, to);
            facing = 1.0;
            area = area * sqrt(max(1.0 - along * along, 0.0)) + PI * r2;
        }
        // Approximated by a disk of the same area on its axis.
        lux = nits * (area * facing / (distance2 + area / PI));
    }
    FlareSource source;
    source.direction = to_camera(to, constants.right.xyz, constants.up.xyz, frame.forward.xyz);
    source.angular_radius = angular;
    source.illuminance = lux * frame.pre_exposure;
    source.flags = SOURCE_LIGHT | (body ? SOURCE_VISIBLE_EMITTER : 0u)
        | (far ? SOURCE_INFINITE : 0u);
    source.light = number;
    vec2 sum = vec2(0.0);
    float front = -source.direction.z;
    float strength = luminance(source.illuminance);
    bool bright = !body || luminance(nits) * frame.pre_exposure > BRIGHT;
    // Light from behind does not enter the lens.
    bool wanted = front > 0.01 && bright && (light.kind & LIGHT_HIDDEN) == 0u
        && strength > MIN_SOURCE * pixel_solid_angle(constants.pitch, 1.0) && !isinf(strength);
    for (uint i = 0u; wanted && i < SAMPLES; ++i) {
        vec2 p = sunflower(i);
        vec3 at = d;
        vec2 shift = vec2(0.0);
        bool flat_shape = kind == LIGHT_DISK || kind == LIGHT_RECTANGLE || kind == LIGHT_TRIANGLE;
        float nearer = 1.0 - (flat_shape ? BEFORE_FLAT : BEFORE);
        if (far) {
            vec3 side = normalize(cross(to, abs(to.y) < 0.9 ? vec3(0.0, 1.0, 0.0)
                : vec3(1.0, 0.0, 0.0)));
            at = normalize(to + tan(angular) * (side * p.x + cross(to, side) * p.y));
            shift = body ? vec2(0.0) : p * POINT_RADIUS;
        } else if (kind == LIGHT_POINT) {
            shift = p * POINT_RADIUS;
        } else if (kind == LIGHT_SPHERE || kind == LIGHT_TUBE) {
            vec3 side = normalize(cross(to, abs(to.y) < 0.9 ? vec3(0.0, 1.0, 0.0)
                : vec3(1.0, 0.0, 0.0)));
            vec3 wide = kind == LIGHT_TUBE ? light.right * (light.half_height + light.half_width)
                : side * light.half_width;
            vec3 high = kind == LIGHT_TUBE ? cross(to, light.right) * light.half_width
                : cross(to, side) * light.half_width;
            at = d + 0.98 * (wide * p.x + high * p.y);
            nearer -= 1.05 * light.half_width * inversesqrt(distance2);
        } else if (kind == LIGHT_RECTANGLE) {
            vec2 u = vec2((float(i) + 0.5) / float(SAMPLES),
                float(bitfieldReverse(i)) * (1.0 / 4294967296.0)) * 2.0 - 1.0;
            at = d + light.right * (u.x * light.half_width) + up * (u.y * light.half_height);
        } else if (kind == LIGHT_DISK) {
            at = d + (light.right * p.x + up * p.y) * light.half_width;
        } else if (kind == LIGHT_TRIANGLE) {
            // Turk 1990, "Generating Random Points in Triangles".
            float root = sqrt((float(i) + 0.5) / float(SAMPLES));
            float part = float(bitfieldReverse(i)) * (1.0 / 4294967296.0);
            vec2 weights = vec2(1.0 - root, root * part) - 1.0 / 3.0;
            at = d + light.right * (light.half_width * weights.x + light.spot_offset * weights.y)
                + up * (light.half_height * weights.y);
        }
        vec2 found = seen(at, far, max(nearer, 0.0), shift);
        // Emissive meshes inside the image are found as bright pixels.
        found.x *= kind == LIGHT_TRIANGLE ? found.y : 1.0;
        sum += vec2(found.x, found.x * found.y);
    }
    source.visibility = sum.x / float(SAMPLES);
    source.outside = sum.y / float(SAMPLES);
    source.rank = strength * source.visibility;
    // NaN fails the comparison too.
    source.rank = source.rank > MIN_SOURCE * pixel_solid_angle(constants.pitch, max(front, 0.01))
        ? source.rank : 0.0;
    candidates[number] = source;
}
