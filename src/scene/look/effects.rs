//! `effects.*`: overrides of camera effects.

use super::{LookError, reader::Reader};
use crate::optics::ghosts::{GhostMethod, LensCoatings};

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

/// Overrides of camera effects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EffectsLook {
    /// `depth_of_field.enabled`.
    pub depth_of_field: Option<bool>,
    /// `depth_of_field.f_stop`.
    pub depth_f_stop: Option<f64>,
    /// `depth_of_field.focus` (m).
    pub depth_focus: Option<f64>,
    /// `motion_blur.enabled`.
    pub motion_blur: Option<bool>,
    /// `motion_blur.shutter` (s).
    pub motion_shutter: Option<f64>,
    /// `starburst.enabled`.
    pub starburst: Option<bool>,
    /// `starburst.f_stop`.
    pub starburst_f_stop: Option<f64>,
    /// `starburst.dust`, 0 to 1.
    pub dust: Option<f64>,
    /// `starburst.scratches`, 0 to 1.
    pub scratches: Option<f64>,
    /// `starburst.seed`.
    pub seed: Option<u32>,
    /// `starburst.anamorphic`.
    pub anamorphic: Option<f64>,
    /// `starburst.punctual_lights`.
    pub starburst_punctual_lights: Option<bool>,
    /// `ghosts.enabled`.
    pub ghosts: Option<bool>,
    /// `ghosts.method`.
    pub ghost_method: Option<GhostMethod>,
    /// `ghosts.cull_threshold`, a fraction of white.
    pub ghost_cull_threshold: Option<f64>,
    /// `ghosts.coatings`.
    pub coatings: Option<LensCoatings>,
    /// `bloom.enabled`.
    pub bloom: Option<bool>,
    /// `bloom.fraction` of the light, 0 to 1.
    pub bloom_fraction: Option<f64>,
    /// `vignetting.enabled`.
    pub vignetting: Option<bool>,
    /// `vignetting.falloff_exponent`.
    pub vignetting_falloff_exponent: Option<f64>,
    /// `vignetting.mechanical`.
    pub mechanical: Option<bool>,
    /// `chromatic_aberration.enabled`.
    pub aberration: Option<bool>,
    /// `chromatic_aberration.amount` (percent).
    pub aberration_amount: Option<f64>,
    /// `distortion.enabled`.
    pub distortion: Option<bool>,
    /// `grain.enabled`.
    pub grain: Option<bool>,
    /// `grain.iso`.
    pub grain_iso: Option<f64>,
    /// `grain.pixel_pitch` (m).
    pub grain_pitch: Option<f64>,
}

impl EffectsLook {
    /// Sets one property; false if this section has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        match read.path {
            "effects.depth_of_field.enabled" => self.depth_of_field = Some(read.boolean()?),
            "effects.depth_of_field.f_stop" => {
                self.depth_f_stop = Some(read.in_range(0.5, 1024.0)?)
            }
            "effects.depth_of_field.focus" => self.depth_focus = Some(read.distance()?),
            "effects.motion_blur.enabled" => self.motion_blur = Some(read.boolean()?),
            "effects.motion_blur.shutter" => self.motion_shutter = Some(read.seconds()?),
            "effects.starburst.enabled" => self.starburst = Some(read.boolean()?),
            "effects.starburst.f_stop" => self.starburst_f_stop = Some(read.in_range(0.5, 1024.0)?),
            "effects.starburst.dust" => self.dust = Some(read.fraction()?),
            "effects.starburst.scratches" => self.scratches = Some(read.fraction()?),
            "effects.starburst.seed" => self.seed = Some(read.integer(0, u32::MAX)?),
            "effects.starburst.anamorphic" => self.anamorphic = Some(read.in_range(0.25, 1.0)?),
            "effects.starburst.punctual_lights" => {
                self.starburst_punctual_lights = Some(read.boolean()?)
            }
            "effects.ghosts.enabled" => self.ghosts = Some(read.boolean()?),
            "effects.ghosts.method" => self.ghost_method = Some(tier(read)?),
            "effects.ghosts.cull_threshold" => self.ghost_cull_threshold = Some(read.fraction()?),
            "effects.ghosts.coatings" => self.coatings = Some(films(read)?),
            "effects.bloom.enabled" => self.bloom = Some(read.boolean()?),
            "effects.bloom.fraction" => self.bloom_fraction = Some(read.fraction()?),
            "effects.vignetting.enabled" => self.vignetting = Some(read.boolean()?),
            "effects.vignetting.falloff_exponent" => {
                self.vignetting_falloff_exponent = Some(read.in_range(0.0, 8.0)?)
            }
            "effects.vignetting.mechanical" => self.mechanical = Some(read.boolean()?),
            "effects.chromatic_aberration.enabled" => self.aberration = Some(read.boolean()?),
            "effects.chromatic_aberration.amount" => {
                self.aberration_amount = Some(read.in_range(-5.0, 5.0)?)
            }
            "effects.distortion.enabled" => self.distortion = Some(read.boolean()?),
            "effects.grain.enabled" => self.grain = Some(read.boolean()?),
            "effects.grain.iso" => self.grain_iso = Some(read.in_range(1.0, 1e7)?),
            "effects.grain.pixel_pitch" => {
                self.grain_pitch = Some(read.in_range(0.1, 1000.0)? * 1e-6)
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl EffectsLook {
    /// True if a starburst value is set.
    pub(super) fn sets_starburst(&self) -> bool {
        let values = [self.starburst_f_stop, self.dust, self.scratches, self.anamorphic];
        values.iter().any(Option::is_some)
            || self.seed.is_some()
            || self.starburst_punctual_lights.is_some()
    }
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
