//! Settings of camera effects: they override what follows from body, lens and dials.

use crate::optics::ghosts::{GhostMethod, LensCoatings};

/// Settings of camera effects that override the camera's; `None` is not set. `enabled` switches an
/// effect on or off.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EffectSettings {
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

impl EffectSettings {
    /// True if starbursts are on: switched on, or turned on by a value.
    #[must_use]
    pub fn has_starbursts(&self) -> bool {
        self.starburst.unwrap_or_else(|| self.sets_starburst())
    }

    /// True if a value that turns starbursts on is set; `punctual_lights = false` does not.
    pub(super) fn sets_starburst(&self) -> bool {
        let values = [self.starburst_f_stop, self.dust, self.scratches, self.anamorphic];
        values.iter().any(Option::is_some)
            || self.seed.is_some()
            || self.starburst_punctual_lights == Some(true)
    }

    /// True if lens flare ghosts are on.
    #[must_use]
    pub fn has_ghosts(&self) -> bool {
        self.ghosts.unwrap_or(
            self.ghost_method.is_some()
                || self.ghost_cull_threshold.is_some()
                || self.coatings.is_some(),
        )
    }

    /// True if an effect needs bright sources outside of the picture.
    #[must_use]
    pub fn needs_flare_sources(&self) -> bool {
        self.has_starbursts() || self.has_ghosts()
    }

    /// True if a value of the depth of field is set.
    #[must_use]
    pub fn sets_depth_of_field(&self) -> bool {
        self.depth_f_stop.or(self.depth_focus).is_some()
    }

    /// True if a lens effect is switched on, or a value of one is set.
    pub(super) fn needs_lens(&self) -> bool {
        let switched = [
            self.depth_of_field,
            self.starburst,
            self.bloom,
            self.aberration,
            self.vignetting,
            self.mechanical,
        ];
        let values =
            [self.bloom_fraction, self.aberration_amount, self.vignetting_falloff_exponent];
        self.sets_depth_of_field()
            || self.sets_starburst()
            || switched.contains(&Some(true))
            || values.iter().any(Option::is_some)
    }
}
