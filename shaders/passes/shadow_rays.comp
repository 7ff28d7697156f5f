#version 460
// Fixed ray budget: view rays through the uncertain range of depth, which find the exact surface at
// which the shadow rays of a pixel start.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/rays.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(local_size_x = 8, local_size_y = 8) in;
layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
#include "lib/depth_span.glsl"
layout(set = 0, binding = 71, scalar) writeonly buffer ray_block { TraceRay rays[]; };
layout(push_constant, scalar) uniform band_block { ShadowRayBandConstants band; };

void main() {
    uvec2 at = gl_GlobalInvocationID.xy;
    if (at.x >= frame.size.x || at.y >= band.rows) {
        return;
    }
    ivec2 pixel = ivec2(at) + ivec2(0, int(band.first_row));
    float depth = texelFetch(depth_image, pixel, 0).x;
    TraceRay ray = TraceRay(vec3(0.0), 0.0, vec3(0.0), vec3(0.0));
    if (depth > 0.0) {
        vec3 position = position_at(pixel, depth);
        vec3 view = view_at(position);
        float span = depth_span(pixel, depth, position);
        ray = TraceRay(position + view * span, 2.0 * span, -view, vec3(0.0));
    }
    rays[at.y * frame.size.x + at.x] = ray;
}
