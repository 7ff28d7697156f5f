#version 460
// variants: SPLIT
// Bounced light on the surfaces of the picture; with SPLIT, its diffuse and specular parts apart too.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
#include "lib/gbuffer.glsl"
layout(set = 0, binding = 5) uniform texture2D matte_image;
layout(set = 0, binding = 6) uniform texture2D glossy_image;

// Added to what is there: alpha 0 keeps it.
layout(location = 0) out vec4 out_light;
#ifdef SPLIT
layout(location = 1) out vec4 out_diffuse;
layout(location = 2) out vec4 out_specular;
#endif

void main() {
    ivec2 pixel = ivec2(gl_FragCoord.xy);
    vec3 diffuse = vec3(0.0);
    vec3 specular = vec3(0.0);
    float depth = texelFetch(depth_image, pixel, 0).x;
    Surface s;
    if (depth > 0.0 && load_surface(pixel, depth, s)) {
        diffuse = (1.0 - s.metallic) * s.base_color * texelFetch(matte_image, pixel, 0).rgb;
        specular = texelFetch(glossy_image, pixel, 0).rgb;
    }
    // Reflections in the picture take what these found no light for.
    const uint LATER = AMBIENT_REFLECTED_APART | AMBIENT_REFLECTED_BY_RAYS;
    out_light = vec4(to_half_range(diffuse + ((frame.ambient & LATER) == LATER ? vec3(0.0) : specular)), 0.0);
#ifdef SPLIT
    out_diffuse = vec4(to_half_range(diffuse), depth > 0.0 ? 1.0 : 0.0);
    out_specular = vec4(to_half_range(specular), depth > 0.0 ? 1.0 : 0.0);
#endif
}
