// Inverse view distance from reversed depth. The including shader declares `frame`.
#ifndef LIB_INVERSE_DEPTH
#define LIB_INVERSE_DEPTH

// Inverse distance (1/m) along the camera axis of a depth, for every projection; 0 for the
// background. Depth itself is proportional to it only in perspective without a far plane.
float inverse_depth(float depth) {
    vec4 p = frame.inverse_projection[2] * depth + frame.inverse_projection[3];
    return depth > 0.0 ? p.w / max(dot(p.xyz, frame.forward.xyz), 1e-30) : 0.0;
}

#endif
