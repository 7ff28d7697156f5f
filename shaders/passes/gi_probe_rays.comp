#version 460
// Rays of an irradiance volume's probes, for the closest-hit kernel (rays.comp).
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/rays.glsl"
#include "shared/gi_probes.glsl"
#include "lib/constants.glsl"
#include "lib/noise.glsl"

layout(local_size_x = 64) in;
layout(push_constant, scalar) uniform update_block { ProbeUpdateConstants update; };
#define PROBE_MAPS_WRITTEN
#include "lib/gi_probes.glsl"
#include "lib/gi_probe_rays.glsl"
layout(set = 0, binding = 1, scalar) writeonly buffer ray_block { TraceRay rays[]; };
layout(set = 0, binding = 63) uniform texture2D probe_state_image;

const float UNBOUNDED = 1e9;

void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i >= update.count * update.rays) {
        return;
    }
    uint probe = update.first + i / update.rays;
    vec4 state = (update.flags & PROBES_FIRST) != 0u ? vec4(0.0)
        : texelFetch(probe_state_image, probe_texel(probe), 0);
    bool traced = is_probe_off(state) ? (update.flags & PROBES_CLASSIFY) != 0u
        : state.w < PROBE_FAR || (update.flags & PROBES_TRACE_ALL) != 0u;
    vec3 origin = probe_grid_position(probe_cell(probe)) + state.xyz * volume.spacing;
    rays[i] = TraceRay(origin, traced ? UNBOUNDED : 0.0,
        probe_ray_direction(probe, i % update.rays), vec3(0.0));
}
