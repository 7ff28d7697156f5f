#version 460
// HDR display encoding: the user interface and image (sRGB curve, extended beyond 1) to scRGB or PQ
// codes. Mirrors `Encoding::codes` in src/camera/display.rs; a test compares both.
#extension GL_EXT_samplerless_texture_functions : require
#extension GL_EXT_scalar_block_layout : require

layout(set = 0, binding = 0) uniform texture2D interface_image;
layout(push_constant, scalar) uniform hdr_display_block { uint encoding; float paper_white; };
layout(location = 0) out vec4 out_color;

// IEC 61966-2-1, section 5.2, extended beyond 1.
vec3 srgb_decode(vec3 code) {
    code = max(code, vec3(0.0));
    return mix(code / 12.92, pow((code + 0.055) / 1.055, vec3(2.4)),
        greaterThan(code, vec3(0.04045)));
}

// SMPTE ST 2084:2014, equation 5.2; luminances in nits.
vec3 pq_encode(vec3 nits) {
    const float m1 = 2610.0 / 16384.0;
    const float m2 = 2523.0 / 32.0;
    const float c1 = 3424.0 / 4096.0;
    const float c2 = 2413.0 / 128.0;
    const float c3 = 2392.0 / 128.0;
    vec3 y = pow(clamp(nits / 10000.0, 1e-12, 1.0), vec3(m1));
    return pow((c1 + c2 * y) / (1.0 + c3 * y), vec3(m2));
}

void main() {
    const mat3 to_2020 = mat3(0.6274039, 0.06909729, 0.01639144, 0.32928304, 0.9195404, 0.08801331,
        0.043313067, 0.011362316, 0.89559525);
    vec3 nits = srgb_decode(texelFetch(interface_image, ivec2(gl_FragCoord.xy), 0).rgb)
        * paper_white;
    // IEC 61966-2-2: 1 is 80 nits.
    out_color = vec4(encoding == 1u ? nits / 80.0 : pq_encode(to_2020 * nits), 1.0);
}
