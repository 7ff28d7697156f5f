// Samples of the lights in the nodes of a light cut (docs/clustered-lights.md, "Light cuts"). The
// including shader has lib/light_reservoirs.glsl.
#ifndef LIB_LIGHT_CUTS
#define LIB_LIGHT_CUTS
#include "lib/light_tree.glsl"

// Sampled lights of a pixel; 0 where no cluster of the frame can have a cut.
layout(constant_id = 2) const uint LIGHT_SAMPLES = 4u;
const uint SAMPLE_ROOM = LIGHT_SAMPLES > 0u ? LIGHT_SAMPLES : 1u;

// Sampled lights, and the inverse of their number times their probability.
uint cut_light[SAMPLE_ROOM];
float cut_scale[SAMPLE_ROOM];
// Weights of the cut's nodes.
float cut_weights[MAX_CUT];

uint sampled_light(uint number) {
    return cut_light[number];
}

// Random number of a pixel, 0 to 1, independent of the others: the first dimension of the sequence
// of Roberts 2018 over frames (lib/noise.glsl).
float cut_noise(uvec2 pixel) {
    return fract(blue_noise_2d(pixel.yx + uvec2(40u, 16u), 0u).y
        + fract(float(noise_number() & 1023u) * 0.8566748839));
}

// Samples the lights of `count` nodes from `start` in the list, and estimates the light of all.
// Systematic samples: stratified over the leaves of the tree. Lights of different nodes share the
// samples in proportion to the nodes' estimated light (Lin and Yuksel 2020, "Real-Time Stochastic
// Lightcuts", section 3).
void sample_light_cut(uint start, uint count, uvec2 pixel, Surface s) {
    Reflector reflector = reflector_of(s, is_underwater());
    float total = 0.0;
    for (uint i = 0u; i < count; ++i) {
        uint index = entries[start + i];
        LightNode node = nodes[index];
        vec3 light = node_light(node, index, s, reflector.any_direction);
        vec3 d = node.intensity * reflector.diffuse * light.x;
        vec3 r = node.intensity * reflector.specular * light.y;
        estimated_diffuse += d;
        estimated_specular += r;
        cut_weights[i] = luminance(d + r) * light.z;
        total += cut_weights[i];
    }
    float first = cut_noise(pixel);
    float before = 0.0;
    uint at = 0u;
    for (uint k = 0u; k < LIGHT_SAMPLES; ++k) {
        cut_light[k] = NONE;
        cut_scale[k] = 0.0;
        float target = (first + float(k)) / float(LIGHT_SAMPLES) * total;
        while (at + 1u < count && before + cut_weights[at] <= target) {
            before += cut_weights[at];
            ++at;
        }
        float weight = cut_weights[at];
        if (weight > 0.0 && total < 1e37) {
            float probability = weight / total;
            cut_light[k] = sample_node(entries[start + at],
                clamp((target - before) / weight, 0.0, 0.99999994), s, reflector, probability);
            cut_scale[k] = 1.0 / (float(LIGHT_SAMPLES) * max(probability, 1e-30));
        }
    }
}

// Adds a sampled light to the sums, and offers it to the shadow rays if it needs one.
void add_sampled_light(uint number, uint light_index, uvec2 pixel, vec3 diffuse, vec3 specular) {
    diffuse *= cut_scale[number];
    specular *= cut_scale[number];
    float weight = luminance(diffuse + specular);
    // Not NaN.
    if (!(weight > 0.0 && weight < 1e37)) {
        return;
    }
    sampled_diffuse += diffuse;
    sampled_specular += specular;
    if (needs_shadow_ray(lights[light_index])) {
        offer_light(light_index, SAMPLED_SLOT, pixel, diffuse, specular);
        sampled_weight += weight;
    }
}

#endif
