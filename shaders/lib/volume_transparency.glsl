// Volumes in front of a transparent surface (pre-exposed). The including shader has
// lib/volumes.glsl.
#ifndef LIB_VOLUMES_OVER
#define LIB_VOLUMES_OVER
#extension GL_EXT_samplerless_texture_functions : require

layout(set = 0, binding = 62) uniform texture2D volume_light_image;
layout(set = 0, binding = 63) uniform texture2D volume_transmittance_image;

// Attenuates the light of a surface, premultiplied by its opacity, by the volumes in front of it
// and adds their in-scattering. The in-scattered light is scaled from the whole view ray by the
// absorbed fraction.
vec3 apply_volumes(vec3 light, float opacity, vec3 position) {
    if (!has_feature(FEATURE_VOLUMES) || volume_head.count == 0u) {
        return light;
    }
    bool parallel = frame.forward.w != 0.0;
    float along = parallel ? dot(position, frame.forward.xyz) : length(position);
    vec3 direction = parallel ? frame.forward.xyz : position / max(along, 1e-20);
    vec3 origin = parallel ? position - direction * along : vec3(0.0);
    vec3 transmittance = exp(-volume_depth(origin, direction, along, 0.5));
    ivec2 texel = ivec2(gl_FragCoord.xy) / int(volume_head.scale);
    vec3 all = texelFetch(volume_transmittance_image, texel, 0).rgb;
    vec3 share = clamp((1.0 - transmittance) / max(1.0 - all, vec3(1e-4)), 0.0, 1.0);
    return light * transmittance + texelFetch(volume_light_image, texel, 0).rgb * share * opacity;
}

#endif
