// The surface of water: where it is carried, how it ripples, what foam lies on it (docs/water.md); the twin in single precision of
// src/scene/water. The including shader has `layered` and the textures of set 2.
#ifndef LIB_WATER_SURFACE
#define LIB_WATER_SURFACE

layout(set = 2, binding = 14) uniform sampler2D water_flow_texture;
layout(set = 2, binding = 15) uniform sampler2D water_ripple_texture;
layout(set = 2, binding = 16) uniform sampler2D water_foam_texture;

// As in src/scene/water/flow.rs.
const vec2 WATER_LAYER_SHIFT = vec2(0.5);
// What foam reflects (src/scene/water/mod.rs).
const float FOAM_REFLECTANCE = 0.55;

// The water that is being drawn, or NONE; how deep (m) it is there; what of the first four suns reaches it.
uint water_here = NONE;
float water_depth = 0.0;
vec4 water_suns = vec4(1.0);

struct WaterLayer {
    float weight;    // both weights sum to 1
    vec2 back;       // metres that the pattern is looked up away from its place
    vec2 shift;      // tiles
};

WaterLayer water_layer(float turn, float layer, vec2 velocity, float period) {
    turn += 0.5 * layer;
    float cycle = floor(turn);
    float phase = turn - cycle;
    return WaterLayer(1.0 - abs(2.0 * phase - 1.0), velocity * ((phase - 0.5) * period),
                      WATER_LAYER_SHIFT * layer + 0.5 * vec2(greaterThan(fract(vec2(cycle + 1.0, cycle) * 0.25), vec2(0.4, 0.4))));
}

struct WaterSurface {
    vec2 slope;       // dh/dx, dh/dz
    float variance;   // what slopes too fine for the pixel add to the square of alpha
    float foam;       // how much of it is foam, 0 to 1
};

// Of the fragment; dx and dy are its place's changes to the next pixels. What jumps with a layer's cycle is in none of them.
WaterSurface water_surface(uint water, vec3 p, vec3 dx, vec3 dy) {
    vec4 to_map = frame.water_flow[water];
    vec4 texel = textureGrad(water_flow_texture, p.xz * to_map.zw + to_map.xy, dx.xz * to_map.zw, dy.xz * to_map.zw);
    vec4 motion = frame.water_motion[water];
    // Eight bits are 0 at 128.
    vec2 part = clamp((texel.rg * 255.0 - 128.0) / 127.0, vec2(-1.0), vec2(1.0));
    vec2 velocity = part * motion.x;
    float turn = frame.water_ripple[water].w + texel.a;
    WaterLayer a = water_layer(turn, 0.0, velocity, motion.y);
    WaterLayer b = water_layer(turn, 1.0, velocity, motion.y);
    vec3 ripple = frame.water_ripple[water].xyz;
    vec2 gx = dx.xz * ripple.z;
    vec2 gy = dy.xz * ripple.z;
    vec4 ra = textureGrad(water_ripple_texture, (p.xz - a.back) * ripple.z + ripple.xy + a.shift, gx, gy);
    vec4 rb = textureGrad(water_ripple_texture, (p.xz - b.back) * ripple.z + ripple.xy + b.shift, gx, gy);
    vec3 na = ra.xyz * 2.0 - 1.0;
    vec3 nb = rb.xyz * 2.0 - 1.0;
    // Slopes are blended so that their variance stays, normals would lose up to half of it.
    float squares = a.weight * a.weight + b.weight * b.weight;
    float strength = mix(motion.z, motion.w, min(length(part), 1.0));
    WaterSurface w;
    w.slope = -(a.weight * na.xy / max(na.z, 0.1) + b.weight * nb.xy / max(nb.z, 0.1)) * (strength * inversesqrt(squares));
    w.variance = (a.weight * a.weight * ra.a * ra.a + b.weight * b.weight * rb.a * rb.a) / squares * strength * strength;
    w.foam = 0.0;
    vec4 foam = frame.water_foam[water];
    float shore = foam.y > 0.0 ? clamp(1.0 - water_depth / foam.y, 0.0, 1.0) * (0.3 + 0.7 * min(length(part), 1.0)) : 0.0;
    float amount = min(foam.x + shore, 1.0);
    if (amount > 0.0) {
        vec3 tile = frame.water_foam_place[water].xyz;
        gx = dx.xz * tile.z;
        gy = dy.xz * tile.z;
        float fa = textureGrad(water_foam_texture, (p.xz - a.back) * tile.z + tile.xy + a.shift, gx, gy).a;
        float fb = textureGrad(water_foam_texture, (p.xz - b.back) * tile.z + tile.xy + b.shift, gx, gy).a;
        w.foam = amount * (a.weight * fa + b.weight * fb);
    }
    return w;
}

// How deep (m) the water is below the fragment, straight on: by what the picture shows behind it.
float water_depth_here(vec3 p) {
    float there = behind_distance(gl_FragCoord.xy / vec2(frame.size));
    if (there <= 0.0) {
        return 1e4;
    }
    float along = dot(p, frame.forward.xyz);
    vec3 floor_point = frame.forward.w != 0.0 ? p + frame.forward.xyz * (there - along) : p * (there / max(along, 1e-6));
    return max(p.y - floor_point.y, 0.0);
}

// What the water that is drawn scatters along a path in it from a place (luminance, pre-exposed).
vec3 water_glow(vec3 from, vec3 direction, float t) {
    if (has_surroundings() || frame.directional_count > 0u) {
        vec3 sky = has_surroundings() ? irradiance_around(from, vec3(0.0, 1.0, 0.0)) : vec3(0.0);
        float depth = max(frame.water_medium[water_here].w - from.y, 0.0);
        return water_scatters(water_here, depth, direction, t, sky, water_suns, frame.directional_count) * frame.pre_exposure;
    }
    return vec3(0.0);
}

#endif
