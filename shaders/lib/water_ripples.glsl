// Water ripples: surface slopes from a flow map (docs/water.md); the single-precision version of
// src/scene/water. The including shader declares `frame`, and defines WATER_SET as the descriptor
// set of the textures.
#ifndef LIB_WATER_RIPPLES
#define LIB_WATER_RIPPLES

layout(set = WATER_SET, binding = 14) uniform sampler2D water_flow_texture;
layout(set = WATER_SET, binding = 15) uniform sampler2D water_ripple_texture;

// Matches src/scene/water/flow.rs.
const vec2 WATER_LAYER_SHIFT = vec2(0.5);

struct WaterLayer {
    float weight;    // the weights of both layers sum to 1
    vec2 back;       // lookup offset from the position (m)
    vec2 shift;      // tiles
};

WaterLayer water_layer(float turn, float layer, vec2 velocity, float period) {
    turn += 0.5 * layer;
    float cycle = floor(turn);
    float phase = turn - cycle;
    return WaterLayer(1.0 - abs(2.0 * phase - 1.0), velocity * ((phase - 0.5) * period),
                      WATER_LAYER_SHIFT * layer
                          + 0.5 * vec2(greaterThan(fract(vec2(cycle + 1.0, cycle) * 0.25),
                          vec2(0.4, 0.4))));
}

struct WaterRipples {
    vec2 slope;       // dh/dx, dh/dz
    float variance;   // squared alpha of slopes finer than the sampled texels
    float flow;       // flow speed as a fraction of the full speed, 0 to 1
    WaterLayer a;     // both layers
    WaterLayer b;
};

// Ripples at x and z; dx and dy are the position's derivatives. The layers' cycle jumps are not in
// the derivatives.
WaterRipples water_ripples(uint water, vec2 p, vec2 dx, vec2 dy) {
    vec4 to_map = frame.water_flow[water];
    vec4 texel = textureGrad(water_flow_texture, p * to_map.zw + to_map.xy, dx * to_map.zw,
        dy * to_map.zw);
    vec4 motion = frame.water_motion[water];
    // 8-bit value 128 means 0.
    vec2 part = clamp((texel.rg * 255.0 - 128.0) / 127.0, vec2(-1.0), vec2(1.0));
    vec2 velocity = part * motion.x;
    float turn = frame.water_ripple[water].w + texel.a;
    WaterRipples r;
    r.a = water_layer(turn, 0.0, velocity, motion.y);
    r.b = water_layer(turn, 1.0, velocity, motion.y);
    vec3 ripple = frame.water_ripple[water].xyz;
    vec2 gx = dx * ripple.z;
    vec2 gy = dy * ripple.z;
    vec4 ra = textureGrad(water_ripple_texture, (p - r.a.back) * ripple.z + ripple.xy + r.a.shift,
        gx, gy);
    vec4 rb = textureGrad(water_ripple_texture, (p - r.b.back) * ripple.z + ripple.xy + r.b.shift,
        gx, gy);
    vec3 na = ra.xyz * 2.0 - 1.0;
    vec3 nb = rb.xyz * 2.0 - 1.0;
    // Blending slopes with this norm preserves their variance, of which blended normals lose up to
    // half.
    float squares = r.a.weight * r.a.weight + r.b.weight * r.b.weight;
    r.flow = min(length(part), 1.0);
    float strength = mix(motion.z, motion.w, r.flow);
    r.slope = -(r.a.weight * na.xy / max(na.z, 0.1) + r.b.weight * nb.xy / max(nb.z, 0.1))
        * (strength * inversesqrt(squares));
    r.variance = (r.a.weight * r.a.weight * ra.a * ra.a + r.b.weight * r.b.weight * rb.a * rb.a)
        / squares * strength * strength;
    return r;
}

#endif
