//! `effects.*`: overrides of camera effects.

use super::photographic::{DISTANCE, SECONDS, distance, micrometers, seconds};
use crate::{
    camera::EffectSettings,
    optics::ghosts::{GhostMethod, LensCoatings},
    settings::define::fields,
};

fields! {
    impl EffectSettings {
        depth_of_field at "effects.depth_of_field.enabled": bool, "true or false", affects Frame;
        depth_f_stop at "effects.depth_of_field.f_stop": f64, in 0.5..=1024.0, unit "f/",
            "f-number of the blur alone, 0.5 to 1024", affects Frame;
        depth_focus at "effects.depth_of_field.focus": f64, accepts DISTANCE, by distance, unit "m",
            "focus distance of the blur alone in meters from the lens, or infinity", affects Frame;
        motion_blur at "effects.motion_blur.enabled": bool, "true or false", affects Frame;
        motion_shutter at "effects.motion_blur.shutter": f64, accepts SECONDS, by seconds, unit "s",
            "shutter time of the blur alone in seconds, above 0, e.g. \"1/30\"", affects Frame;
        starburst at "effects.starburst.enabled": bool,
            "true or false: diffraction by the iris gives bright sources spikes", affects FlareSources;
        starburst_f_stop at "effects.starburst.f_stop": f64, in 0.5..=1024.0, unit "f/",
            "f-number of the starburst alone, 0.5 to 1024", affects Frame;
        dust at "effects.starburst.dust": f64, in 0.0..=1.0,
            "dust on the lens, 0 to 1, e.g. 0.2", affects Frame;
        scratches at "effects.starburst.scratches": f64, in 0.0..=1.0,
            "scratches on the lens, 0 to 1, e.g. 0.2", affects Frame;
        seed at "effects.starburst.seed": u32, in 0..=4_294_967_295_u32,
            "random seed of dust and scratches, 0 to 4294967295", affects Frame;
        anamorphic at "effects.starburst.anamorphic": f64, in 0.25..=1.0,
            "anamorphic aperture: width over height, 0.25 to 1, e.g. 0.5; 1 for spherical lenses", affects Frame;
        starburst_punctual_lights at "effects.starburst.punctual_lights": bool,
            "true or false: punctual lights, which have no visible surface, show as points", affects Frame;
        ghosts at "effects.ghosts.enabled": bool,
            "true or false: lens flare ghosts of bright sources, by camera.lens.prescription", affects FlareSources;
        ghost_method at "effects.ghosts.method": GhostMethod,
            "traced (exact rays) or paraxial (ray transfer matrices: faster, accurate near the axis)", affects Frame;
        ghost_cull_threshold at "effects.ghosts.cull_threshold": f64, in 0.0..=1.0,
            "fraction of white below which a ghost is culled, 0 to 1, e.g. 0.002; 0 draws all", affects Frame;
        coatings at "effects.ghosts.coatings": LensCoatings,
            "coatings: prescription, bare (none), or single (adds a quarter wave of magnesium fluoride to uncoated glass)", affects Frame;
        bloom at "effects.bloom.enabled": bool, "true or false", affects Frame;
        bloom_fraction at "effects.bloom.fraction": f64, in 0.0..=1.0,
            "fraction of light scattered by the lens, 0 to 1, e.g. 0.02", affects Frame;
        vignetting at "effects.vignetting.enabled": bool, "true or false", affects Frame;
        vignetting_falloff_exponent at "effects.vignetting.falloff_exponent": f64, in 0.0..=8.0,
            "exponent of the cosine falloff, 0 to 8 (4 by geometry)", affects Frame;
        mechanical at "effects.vignetting.mechanical": bool,
            "true or false: mechanical vignetting, the barrel clips the pupil", affects Frame;
        aberration at "effects.chromatic_aberration.enabled": bool, "true or false", affects Frame;
        aberration_amount at "effects.chromatic_aberration.amount": f64, in -5.0..=5.0, unit "%",
            "lateral chromatic aberration in percent by which red is imaged larger than blue, -5 to 5, e.g. 0.1", affects Frame;
        distortion at "effects.distortion.enabled": bool,
            "true or false: distortion of the prescription", affects Frame;
        grain at "effects.grain.enabled": bool, "true or false", affects Frame;
        grain_iso at "effects.grain.iso": f64, in 1.0..=1e7,
            "ISO speed of the grain alone, 1 to 10000000", affects Frame;
        grain_pitch at "effects.grain.pixel_pitch": f64, in 0.1..=1000.0, by micrometers, unit "um",
            "pixel pitch in micrometers, 0.1 to 1000, e.g. 6 [default: sensor width in use over the picture's width]", affects Frame;
    }
}
