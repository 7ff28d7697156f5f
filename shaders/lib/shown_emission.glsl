// Emission of an opaque surface as the picture shows it. The including shader declares `frame` and
// has lib/surface.glsl and lib/packing.glsl.
#ifndef LIB_SHOWN_EMISSION
#define LIB_SHOWN_EMISSION

// Pre-exposed luminance; alpha: the material's mark (`Material::forward_mark`). `base`: base color.
//
// An unlit surface shows its base color at any exposure, as if it emitted that fraction of the
// luminance of white. Light meters ignore it.
vec4 shown_emission(vec3 base, uint flags) {
    vec3 emission = fragment_emission() * frame.pre_exposure;
    if ((flags & MATERIAL_UNLIT) != 0u) {
        emission = (frame.bits & FRAME_METERING) != 0u ? vec3(0.0) : base;
    }
    return vec4(to_half_range(emission), materials[material_index].forward_mark);
}

#endif
