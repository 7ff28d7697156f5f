// Water surface shading inputs: ripples, foam, depth and scattered light (docs/water.md). The
// including shader has `layered` and the textures of set 2.
#ifndef LIB_WATER_SURFACE
#define LIB_WATER_SURFACE
#define WATER_SET 2
#include "lib/water_ripples.glsl"

layout(set = 2, binding = 16) uniform sampler2D water_foam_texture;

// Foam reflectance (src/scene/water/mod.rs).
const float FOAM_REFLECTANCE = 0.55;

// Water of the fragment, or NONE; its depth there (m); visible fraction (by channel) of the first
// suns.
uint water_here = NONE;
float water_depth = 0.0;
vec3 water_suns[MAX_WATER_SUNS] = vec3[](vec3(1.0), vec3(1.0), vec3(1.0), vec3(1.0));

struct WaterSurface {
    vec2 slope;       // dh/dx, dh/dz
    float variance;   // squared alpha of slopes finer than the pixel
    float foam;       // foam coverage, 0 to 1
};

// Water surface of the fragment; dx and dy are the position's derivatives. The layers' cycle jumps
// are not in the derivatives.
WaterSurface water_surface(uint water, vec3 p, vec3 dx, vec3 dy) {
    WaterRipples r = water_ripples(water, p.xz, dx.xz, dy.xz);
    WaterSurface w;
    w.slope = r.slope;
    w.variance = r.variance;
    w.foam = 0.0;
    vec4 foam = frame.water_foam[water];
    float shore = foam.y > 0.0 ? clamp(1.0 - water_depth / foam.y, 0.0, 1.0) * (0.3 + 0.7 * r.flow)
        : 0.0;
    float amount = min(foam.x + shore, 1.0);
    if (amount > 0.0) {
        vec3 tile = frame.water_foam_offset[water].xyz;
        vec2 gx = dx.xz * tile.z;
        vec2 gy = dy.xz * tile.z;
        float fa = textureGrad(water_foam_texture, (p.xz - r.a.back) * tile.z + tile.xy + r.a.shift,
            gx, gy).a;
        float fb = textureGrad(water_foam_texture, (p.xz - r.b.back) * tile.z + tile.xy + r.b.shift,
            gx, gy).a;
        w.foam = amount * (r.a.weight * fa + r.b.weight * fb);
    }
    return w;
}

// Water depth (m) below the fragment along the view ray, from the background image.
float water_depth_here(vec3 p) {
    float there = background_distance(gl_FragCoord.xy / vec2(frame.size));
    if (there <= 0.0) {
        return 1e4;
    }
    float along = dot(p, frame.forward.xyz);
    vec3 floor_point = frame.forward.w != 0.0 ? p + frame.forward.xyz * (there - along)
        : p * (there / max(along, 1e-6));
    return max(p.y - floor_point.y, 0.0);
}

// Light scattered by the drawn water along a path (pre-exposed luminance).
vec3 water_glow(vec3 from, vec3 direction, float t) {
    if (has_environment() || frame.directional_count > 0u) {
        vec3 sky = has_environment() ? environment_irradiance(from, vec3(0.0, 1.0, 0.0))
            : vec3(0.0);
        float depth = max(frame.water_medium[water_here].w - from.y, 0.0);
        return water_scatters(water_here, depth, direction, t, sky, water_suns,
            frame.directional_count) * frame.pre_exposure;
    }
    return vec3(0.0);
}

#endif
