#version 460
// Indirect light at full resolution from one gathered pixel of each block: from the pixel itself
// where it was gathered, else from gathered pixels around it on the same surface (joint bilateral
// upsampling: Kopf et al. 2007). The weight of each pixel's sample tells the denoiser how much of a
// sample it is; the block's other pixels are gathered in the next frames.
#extension GL_GOOGLE_include_directive : require
#include "shared/frame.glsl"
#include "shared/gi.glsl"
#include "lib/brdf.glsl"
#include "lib/packing.glsl"
#include "lib/pixel_groups.glsl"
#include "lib/reflection_likeness.glsl"

layout(set = 0, binding = 0, scalar) uniform frame_block { FrameConstants frame; };
layout(set = 0, binding = 35, scalar) uniform gi_block { GiConstants gi; };
#include "lib/gbuffer.glsl"
#include "lib/gi_pixels.glsl"
layout(set = 0, binding = 4) uniform texture2D emission_image;
layout(set = 0, binding = 5) uniform texture2D gathered_diffuse_image;
layout(set = 0, binding = 6) uniform texture2D gathered_specular_image;

// Pre-exposed luminance of a white diffuse surface; alpha: luminance lost to VPL clamping.
layout(set = 0, binding = 74, rgba16f) uniform writeonly image2D out_diffuse_image;
vec4 out_diffuse;
// Pre-exposed specular luminance over the lobe's approximate albedo.
layout(set = 0, binding = 75, rgba32f) uniform writeonly image2D out_specular_image;
vec4 out_specular;
// Weights of the diffuse and of the specular sample, 0 (none) to 1 (this pixel was gathered).
layout(set = 0, binding = 76, rg16f) uniform writeonly image2D out_weights_image;
vec2 out_weights;

// Weight of samples that all come from other pixels, and its minimum, for pixels unlike all that
// were gathered around them.
const float OTHERS = 0.25;
const float MIN_WEIGHT = 0.02;
// Maximum distance from the surface's plane, relative to the view distance.
const float PLANE_STEP = 0.01;
// Weight that unlike samples keep, for pixels without a similar one.
const float UNLIKE = 1e-4;

// A pixel's surface as far as it decides which samples it can use.
struct Site {
    vec3 position;
    vec3 normal;
    bool lit;
    bool layered;
};

Site site_at(ivec2 pixel) {
    float depth = texelFetch(depth_image, pixel, 0).x;
    uint bits = texelFetch(surface_image, pixel, 0).y;
    return Site(position_at(pixel, depth), unpack_normal(texelFetch(normal_image, pixel, 0).x),
        depth > 0.0 && bits >> 31 == 0u,
        texelFetch(emission_image, pixel, 0).a >= FORWARD_MARK);
}

void upsample(ivec2 pixel) {
    out_diffuse = vec4(0.0);
    out_specular = vec4(0.0);
    out_weights = vec2(0.0);
    Site here = site_at(pixel);
    if (!here.lit) {
        return;
    }
    ivec2 texel = pixel / int(gi.stride);
    if (pixel == ivec2(gathered_pixel(uvec2(texel)))) {
        out_diffuse = texelFetch(gathered_diffuse_image, texel, 0);
        out_specular = texelFetch(gathered_specular_image, texel, 0);
        out_weights = vec2(1.0);
        return;
    }
    // The four gathered pixels around this one.
    vec2 place = (vec2(pixel) - vec2(gi.phase)) / float(gi.stride);
    ivec2 corner = ivec2(floor(place));
    vec2 part = place - vec2(corner);
    vec3 mirrored = reflect(-view_at(here.position), here.normal);
    float roughness = surface_roughness(pixel);
    vec2 sums = vec2(0.0);
    vec2 likeness = vec2(0.0);
    for (int i = 0; i < 4; ++i) {
        ivec2 off = ivec2(i & 1, i >> 1);
        ivec2 other_texel = clamp(corner + off, ivec2(0), ivec2(gi.gathered_size) - 1);
        ivec2 at = ivec2(gathered_pixel(uvec2(other_texel)));
        Site other = site_at(at);
        if (!other.lit || other.layered != here.layered) {
            continue;
        }
        float area = (off.x == 1 ? part.x : 1.0 - part.x) * (off.y == 1 ? part.y : 1.0 - part.y);
        float turned = clamp(dot(here.normal, other.normal), 0.0, 1.0);
        float t4 = turned * turned * turned * turned;
        float distance_ = abs(dot(other.position - here.position, here.normal))
            / (PLANE_STEP * length(here.position));
        float same = t4 * t4 * max(1.0 - distance_, 0.0);
        float same_mirror = same * reflection_likeness(mirrored,
            reflect(-view_at(other.position), other.normal), roughness, surface_roughness(at));
        vec2 weights = max(area, 1e-3) * max(vec2(same, same_mirror), UNLIKE);
        out_diffuse += weights.x * texelFetch(gathered_diffuse_image, other_texel, 0);
        out_specular += weights.y * texelFetch(gathered_specular_image, other_texel, 0);
        sums += weights;
        likeness += area * vec2(same, same_mirror);
    }
    out_diffuse /= max(sums.x, 1e-20);
    out_specular /= max(sums.y, 1e-20);
    // Without any sample the pixel waits for its own.
    out_weights = sums.x > 0.0 ? max(OTHERS * likeness, MIN_WEIGHT) : vec2(0.0);
}

void main() {
    ivec2 pixel = ivec2(group_pixel());
    if (is_outside(pixel, frame.size)) {
        return;
    }
    upsample(pixel);
    imageStore(out_diffuse_image, pixel, out_diffuse);
    imageStore(out_specular_image, pixel, out_specular);
    imageStore(out_weights_image, pixel, vec4(out_weights, 0.0, 0.0));
}
