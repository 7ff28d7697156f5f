// Structs of temporal passes: the motion since the last frame, and the state of a history.
#ifndef SHARED_TEMPORAL
#define SHARED_TEMPORAL
#extension GL_EXT_scalar_block_layout : require

// Cameras of the last frame and of this one. Positions are relative to this frame's camera, in
// world axes.
struct MotionConstants {
    // Camera-relative positions to the last frame's unjittered clip space.
    mat4 previous_to_clip;
    // Camera-relative positions to this frame's unjittered clip space.
    mat4 to_clip;
    // The last frame's unjittered clip space to positions relative to this frame's camera.
    mat4 previous_from_clip;
    // Position of the last frame's camera relative to this frame's.
    vec3 previous_eye;
    // Padding.
    uint pad0;
    // Subpixel offset of the last frame's samples from the pixel centers (pixels).
    vec2 previous_jitter;
    // Padding.
    uint pad1[2];
};

// State of a history.
struct HistoryConstants {
    // Maximum history length (frames); 0 discards the history.
    float max_frames;
    // 1: static view; nothing has moved since the last frame.
    uint still;
    // Frame index since the history began, for noise.
    uint number;
    // Frames before this one in the mean that the picture shows; 0: it shows this frame alone, or
    // this is the mean's first one.
    float averaged_frames;
};

#endif
