// Features that the pipeline is specialized for. The driver removes the code of the others, which
// then costs neither registers nor, on llvmpipe, which runs both sides of a branch, time. Without
// specialization all code stays, and buffers and lights determine what runs.
#ifndef LIB_FEATURES
#define LIB_FEATURES
#include "shared/features.glsl"

layout(constant_id = 0) const uint FEATURES = 0xffffffffu;

bool has_feature(uint feature) {
    return (FEATURES & feature) != 0u;
}

#endif
