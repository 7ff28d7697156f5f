// Opacity of a blended surface as the weight of its random choice (blended_gbuffer.frag).
#ifndef LIB_LAYER_OPACITY
#define LIB_LAYER_OPACITY

// Steps of an opacity: sums of 65,536 surfaces fit 32 bits.
const float LAYER_OPACITY_STEPS = 65535.0;

// Opacity in these steps; 0 only where the surface is absent.
uint layer_opacity(float alpha) {
    float opacity = clamp(alpha, 0.0, 1.0) * LAYER_OPACITY_STEPS;
    return opacity > 0.0 ? max(uint(opacity + 0.5), 1u) : 0u;
}

#endif
