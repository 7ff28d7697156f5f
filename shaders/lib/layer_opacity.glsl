// Opacity of a blended surface in its random choice (blended_gbuffer.frag).
#ifndef LIB_LAYER_OPACITY
#define LIB_LAYER_OPACITY

// Steps of an opacity: sums of 65,536 surfaces fit 32 bits.
const float LAYER_OPACITY_STEPS = 65535.0;

// Opacity in these steps; 0 only where the surface is absent.
uint layer_opacity(float alpha) {
    float opacity = clamp(alpha, 0.0, 1.0) * LAYER_OPACITY_STEPS;
    return opacity > 0.0 ? max(uint(opacity + 0.5), 1u) : 0u;
}

// That opacity, 0 to 1.
float layer_alpha(uint opacity) {
    return float(opacity) / LAYER_OPACITY_STEPS;
}

// True for surfaces that take part: those of a material with these flags that are lit.
bool is_layer(uint flags) {
    return (flags & (MATERIAL_UNLIT | MATERIAL_LIGHT_SURFACE)) == 0u;
}

#endif
