// Origin of a fragment's shadow rays. `ray_traced_shadows.glsl` comes before it.
#ifndef LIB_FRAGMENT_SHADOW_RAY_ORIGIN
#define LIB_FRAGMENT_SHADOW_RAY_ORIGIN

// Finds the fragment's surface in the BVH, as the lighting pass does for the depth buffer's. Rays
// hit a blended surface there whatever its opacity, so that the surface does not shadow itself.
void set_fragment_shadow_ray_origin(Surface s) {
    vec2 ndc = gl_FragCoord.xy / vec2(frame.size) * 2.0 - 1.0;
    vec4 nearer = frame.inverse_projection * vec4(ndc, gl_FragCoord.z * (1.0 - 6e-5) - 2.4e-7, 1.0);
    bvh_all_blended = true;
    set_shadow_ray_origin(s, distance(s.position, nearer.xyz / nearer.w));
    bvh_all_blended = false;
}

#endif
