//! `effects.*`: overrides of camera effects.

use super::{LookError, reader::Reader};
use crate::{
    camera::EffectSettings,
    optics::ghosts::{GhostMethod, LensCoatings},
};

/// Every property of this section with its description.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    ("effects.depth_of_field.enabled", "true or false"),
    ("effects.depth_of_field.f_stop", "f-number of the blur alone, 0.5 to 1024"),
    (
        "effects.depth_of_field.focus",
        "focus distance of the blur alone in meters from the lens, or infinity",
    ),
    ("effects.motion_blur.enabled", "true or false"),
    (
        "effects.motion_blur.shutter",
        "shutter time of the blur alone in seconds, above 0, e.g. \"1/30\"",
    ),
    (
        "effects.starburst.enabled",
        "true or false: diffraction by the iris gives bright sources spikes",
    ),
    ("effects.starburst.f_stop", "f-number of the starburst alone, 0.5 to 1024"),
    ("effects.starburst.dust", "dust on the lens, 0 to 1, e.g. 0.2"),
    ("effects.starburst.scratches", "scratches on the lens, 0 to 1, e.g. 0.2"),
    ("effects.starburst.seed", "random seed of dust and scratches, 0 to 4294967295"),
    (
        "effects.starburst.anamorphic",
        "anamorphic aperture: width over height, 0.25 to 1, e.g. 0.5; 1 for spherical lenses",
    ),
    (
        "effects.starburst.punctual_lights",
        "true or false: punctual lights, which have no visible surface, show as points",
    ),
    (
        "effects.ghosts.enabled",
        "true or false: lens flare ghosts of bright sources, by camera.lens.prescription",
    ),
    (
        "effects.ghosts.method",
        "traced (exact rays) or paraxial (ray transfer matrices: faster, accurate near the axis)",
    ),
    (
        "effects.ghosts.cull_threshold",
        "fraction of white below which a ghost is culled, 0 to 1, e.g. 0.002; 0 draws all",
    ),
    (
        "effects.ghosts.coatings",
        "coatings: prescription, bare (none), or single (adds a quarter wave of magnesium fluoride to uncoated glass)",
    ),
    ("effects.bloom.enabled", "true or false"),
    ("effects.bloom.fraction", "fraction of light scattered by the lens, 0 to 1, e.g. 0.02"),
    ("effects.vignetting.enabled", "true or false"),
    (
        "effects.vignetting.falloff_exponent",
        "exponent of the cosine falloff, 0 to 8 (4 by geometry)",
    ),
    (
        "effects.vignetting.mechanical",
        "true or false: mechanical vignetting, the barrel clips the pupil",
    ),
    ("effects.chromatic_aberration.enabled", "true or false"),
    (
        "effects.chromatic_aberration.amount",
        "lateral chromatic aberration in percent by which red is imaged larger than blue, -5 to 5, e.g. 0.1",
    ),
    ("effects.distortion.enabled", "true or false: distortion of the prescription"),
    ("effects.grain.enabled", "true or false"),
    ("effects.grain.iso", "ISO speed of the grain alone, 1 to 10000000"),
    (
        "effects.grain.pixel_pitch",
        "pixel pitch in micrometers, 0.1 to 1000, e.g. 6 [default: sensor width in use over the picture's width]",
    ),
];

/// Sets one property; false if this section has none of this path.
pub(super) fn set(effects: &mut EffectSettings, read: &Reader<'_>) -> Result<bool, LookError> {
    match read.path {
        "effects.depth_of_field.enabled" => effects.depth_of_field = Some(read.boolean()?),
        "effects.depth_of_field.f_stop" => effects.depth_f_stop = Some(read.in_range(0.5, 1024.0)?),
        "effects.depth_of_field.focus" => effects.depth_focus = Some(read.distance()?),
        "effects.motion_blur.enabled" => effects.motion_blur = Some(read.boolean()?),
        "effects.motion_blur.shutter" => effects.motion_shutter = Some(read.seconds()?),
        "effects.starburst.enabled" => effects.starburst = Some(read.boolean()?),
        "effects.starburst.f_stop" => effects.starburst_f_stop = Some(read.in_range(0.5, 1024.0)?),
        "effects.starburst.dust" => effects.dust = Some(read.fraction()?),
        "effects.starburst.scratches" => effects.scratches = Some(read.fraction()?),
        "effects.starburst.seed" => effects.seed = Some(read.integer(0, u32::MAX)?),
        "effects.starburst.anamorphic" => effects.anamorphic = Some(read.in_range(0.25, 1.0)?),
        "effects.starburst.punctual_lights" => {
            effects.starburst_punctual_lights = Some(read.boolean()?)
        }
        "effects.ghosts.enabled" => effects.ghosts = Some(read.boolean()?),
        "effects.ghosts.method" => effects.ghost_method = Some(tier(read)?),
        "effects.ghosts.cull_threshold" => effects.ghost_cull_threshold = Some(read.fraction()?),
        "effects.ghosts.coatings" => effects.coatings = Some(films(read)?),
        "effects.bloom.enabled" => effects.bloom = Some(read.boolean()?),
        "effects.bloom.fraction" => effects.bloom_fraction = Some(read.fraction()?),
        "effects.vignetting.enabled" => effects.vignetting = Some(read.boolean()?),
        "effects.vignetting.falloff_exponent" => {
            effects.vignetting_falloff_exponent = Some(read.in_range(0.0, 8.0)?)
        }
        "effects.vignetting.mechanical" => effects.mechanical = Some(read.boolean()?),
        "effects.chromatic_aberration.enabled" => effects.aberration = Some(read.boolean()?),
        "effects.chromatic_aberration.amount" => {
            effects.aberration_amount = Some(read.in_range(-5.0, 5.0)?)
        }
        "effects.distortion.enabled" => effects.distortion = Some(read.boolean()?),
        "effects.grain.enabled" => effects.grain = Some(read.boolean()?),
        "effects.grain.iso" => effects.grain_iso = Some(read.in_range(1.0, 1e7)?),
        "effects.grain.pixel_pitch" => {
            effects.grain_pitch = Some(read.in_range(0.1, 1000.0)? * 1e-6)
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn films(read: &Reader<'_>) -> Result<LensCoatings, LookError> {
    match read.value {
        "prescription" => Ok(LensCoatings::Prescribed),
        "bare" => Ok(LensCoatings::Bare),
        "single" => Ok(LensCoatings::Single),
        _ => Err(read.bad_value()),
    }
}

fn tier(read: &Reader<'_>) -> Result<GhostMethod, LookError> {
    match read.value {
        "traced" => Ok(GhostMethod::Traced),
        "paraxial" => Ok(GhostMethod::Paraxial),
        _ => Err(read.bad_value()),
    }
}
