//! Effects of the assembled camera. They follow from body, lens and dials; a value of its
//! [`EffectSettings`](super::EffectSettings) overrides that and turns the effect on. `enabled`
//! turns it on or off.

use std::sync::Arc;

use super::{
    assembled::{Camera, CameraMotion},
    effect_models::Grain,
    effects::{
        Bloom, CameraEffects, ChromaticAberration, DepthOfField, MotionBlur, Starburst, Vignetting,
    },
    error::CameraError,
    rig::CameraRig,
};
use crate::optics::{
    MountedLens, Rim, ThinLens,
    ghosts::{DEFAULT_CULL_THRESHOLD, LensGhosts},
};

/// Lateral chromatic aberration in percent if it is enabled without an amount: half a pixel in the
/// corner of a picture 4000 pixels wide.
const ABERRATION: f64 = 0.02;

/// A camera set up for a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct MountedCamera {
    /// Vertical field of view (rad) of the lens; `None`: that of the scene's camera.
    pub vertical_fov: Option<f64>,
    /// Camera effects.
    pub effects: CameraEffects,
    /// The lens of the prescription.
    pub lens: Option<Arc<MountedLens>>,
}

impl Camera {
    /// True if a lens or one of its effects is set.
    #[must_use]
    pub fn needs_lens(&self) -> bool {
        self.lens.is_set() || self.effects.needs_lens()
    }

    /// Sets the camera up for a picture of `size` (pixels). `fov` (rad) is the vertical field of
    /// view of the scene's camera, `None` for an orthographic one. `mounted` is the prescription's
    /// lens if it is already set for this camera and size.
    ///
    /// # Errors
    /// A lens that cannot be read or set; a lens effect that is enabled without a lens.
    pub fn mount(
        &self,
        fov: Option<f64>,
        size: [u32; 2],
        mounted: Option<Arc<MountedLens>>,
    ) -> Result<MountedCamera, CameraError> {
        let Some(fov) = fov.filter(|_| self.needs_lens()) else {
            let effects = self.camera_effects(None, size)?;
            return Ok(MountedCamera { vertical_fov: None, effects, lens: None });
        };
        let aspect = f64::from(size[0]) / f64::from(size[1]);
        let lens = match mounted {
            None => self.mounted_lens(aspect)?.map(Arc::new),
            mounted => mounted,
        };
        let rig = match &lens {
            Some(lens) => self.mounted_rig(lens)?,
            None => self.rig(fov, aspect)?,
        };
        let mut effects = self.camera_effects(Some(&rig), size)?;
        if let Some(lens) = &lens {
            effects = self.effects_with_mounted_lens(lens, effects)?;
        }
        let sets_fov = lens.is_some() || self.lens.focal_length.is_some();
        Ok(MountedCamera { vertical_fov: sets_fov.then(|| rig.vertical_fov()), effects, lens })
    }

    /// Front rim of the barrel in front of a thin lens; `None` without mechanical vignetting.
    fn mechanical_rim(&self, thin: ThinLens) -> Option<Rim> {
        let diagonal = self.body.sensor().diagonal();
        self.effects.mechanical.unwrap_or(true).then(|| self.lens.rim(thin, diagonal))
    }

    /// Lens flare ghosts of the mounted lens; `None` if they are off.
    ///
    /// # Errors
    /// Ghosts are enabled without a lens prescription.
    pub fn ghosts(&self, mounted: Option<&MountedLens>) -> Result<Option<LensGhosts>, CameraError> {
        if !self.effects.has_ghosts() {
            return Ok(None);
        }
        let Some(mounted) = mounted else {
            return Err(CameraError::Setting {
                property: "effects.ghosts.enabled",
                value: "true".into(),
                expected: "ghosts need a lens prescription: set camera.lens.prescription, e.g. builtin:nikon-28-75-f2.8-wide, for a perspective camera".into(),
            });
        };
        let lens = mounted.lens().clone();
        Ok(Some(LensGhosts {
            lens: Arc::new(self.effects.coatings.unwrap_or_default().on(lens)),
            gate: mounted.gate().to_array(),
            method: self.effects.ghost_method.unwrap_or_default(),
            cull_threshold: self.effects.ghost_cull_threshold.unwrap_or(DEFAULT_CULL_THRESHOLD),
        }))
    }

    /// Camera effects for an image of `width` and `height` pixels by a rig; without a rig
    /// (orthographic projection) there are no lens effects.
    ///
    /// On by default: depth of field with a focus; bloom and vignetting with a lens (focal length
    /// or focus); grain with a sensor and an ISO speed; motion blur with a motion. Chromatic
    /// aberration and starbursts are off unless enabled. A value of an effect turns it on, except
    /// `punctual_lights = false` of starbursts. A camera with only its exposure set therefore gives
    /// the image of a pinhole.
    ///
    /// # Errors
    /// An invalid lens, or one that forms no image; a lens effect that is enabled without a lens.
    pub fn camera_effects(
        &self,
        rig: Option<&CameraRig>,
        size: [u32; 2],
    ) -> Result<CameraEffects, CameraError> {
        let (set, lens) = (&self.effects, self.lens.is_set());
        let vignetting = set.vignetting_falloff_exponent.is_some() || set.mechanical.is_some();
        // Switch of each lens effect, its default, and its property.
        let switches = [
            (set.starburst, set.sets_starburst(), "effects.starburst.enabled"),
            (
                set.depth_of_field,
                self.lens.focus.is_some() || set.sets_depth_of_field(),
                "effects.depth_of_field.enabled",
            ),
            (set.bloom, lens || set.bloom_fraction.is_some(), "effects.bloom.enabled"),
            (
                set.aberration,
                set.aberration_amount.is_some(),
                "effects.chromatic_aberration.enabled",
            ),
            (set.vignetting, lens || vignetting, "effects.vignetting.enabled"),
        ];
        let grain = self.grain(rig, size)?;
        let without_lens =
            CameraEffects { motion_blur: self.motion_blur(), grain, ..CameraEffects::default() };
        let Some(rig) = rig else {
            return match switches.iter().find(|(switch, ..)| *switch == Some(true)) {
                Some(&(_, _, property)) => Err(CameraError::Setting {
                    property,
                    value: "true".into(),
                    expected:
                        "the camera is orthographic and has no lens; choose a perspective camera"
                            .into(),
                }),
                None => Ok(without_lens),
            };
        };
        let [starburst, depth_of_field, bloom, aberration, vignetting] =
            switches.map(|(switch, default, _)| switch.unwrap_or(default));
        Ok(CameraEffects {
            depth_of_field: depth_of_field.then(|| self.depth_of_field(rig)).transpose()?,
            starburst: starburst.then(|| self.starburst(rig)).transpose()?,
            bloom: bloom.then(|| self.bloom(rig)),
            chromatic_aberration: aberration.then(|| ChromaticAberration {
                red_over_blue: set.aberration_amount.unwrap_or(ABERRATION) / 100.0,
            }),
            vignetting: vignetting.then(|| Vignetting {
                exponent: set.vignetting_falloff_exponent.unwrap_or(4.0),
                width: rig.width(),
                pupil_radius: rig.lens.aperture_diameter() / 2.0,
                rim: self.mechanical_rim(rig.lens),
            }),
            ..without_lens
        })
    }

    /// The camera effects of a mounted lens, from those of its rig.
    ///
    /// # Errors
    /// An invalid lens.
    pub fn effects_with_mounted_lens(
        &self,
        mounted: &MountedLens,
        effects: CameraEffects,
    ) -> Result<CameraEffects, CameraError> {
        let mut effects = effects;
        let own = self.effects.mechanical.unwrap_or(true).then(|| mounted.rim()).flatten();
        let iris = mounted.lens().apparent_iris();
        if let Some(field) = &mut effects.depth_of_field {
            field.iris = iris;
            field.rim = own.map(|rim| Rim {
                radius: rim.radius.max(field.lens.aperture_diameter() / 2.0),
                ..rim
            });
            // The pinhole's image is wider than the sensor if distortion of the lens widens the
            // field of view.
            field.gate_width *=
                field.lens.image_distance(field.focus)? / mounted.pinhole_distance();
        }
        if let Some(starburst) = &mut effects.starburst {
            starburst.iris = iris;
            starburst.gate_width *=
                mounted.thin().image_distance(mounted.focus())? / mounted.pinhole_distance();
        }
        if mounted.aberrations().vignetting {
            effects.vignetting = None;
        } else if let Some(vignetting) = &mut effects.vignetting {
            vignetting.rim =
                own.map(|rim| Rim { radius: rim.radius.max(vignetting.pupil_radius), ..rim });
        }
        if mounted.aberrations().colors {
            effects.chromatic_aberration = None;
        }
        Ok(effects)
    }

    fn depth_of_field(&self, rig: &CameraRig) -> Result<DepthOfField, CameraError> {
        let set = &self.effects;
        let f_stop = set.depth_f_stop.unwrap_or_else(|| rig.lens.f_stop());
        let lens = ThinLens::new(rig.lens.focal_length(), f_stop)?;
        let field = DepthOfField {
            lens,
            focus: set.depth_focus.unwrap_or(rig.focus),
            gate_width: rig.gate.width,
            iris: self.lens.iris,
            rim: self.mechanical_rim(lens),
        };
        Ok(field.checked()?)
    }

    fn bloom(&self, rig: &CameraRig) -> Bloom {
        // Ghosts are the light of reflections between pairs of surfaces: drawn as ghosts, it is not
        // scattered as bloom too.
        let fraction = match self.effects.bloom_fraction {
            Some(fraction) => fraction,
            None if self.effects.has_ghosts() => Bloom::CLEAN_LENS,
            None => Bloom::fraction_of(rig.lens),
        };
        Bloom { fraction, width: rig.width() }
    }

    fn starburst(&self, rig: &CameraRig) -> Result<Starburst, CameraError> {
        let set = &self.effects;
        let f_stop = set.starburst_f_stop.unwrap_or_else(|| rig.lens.f_stop());
        let lens = ThinLens::new(rig.lens.focal_length(), f_stop)?;
        let clean = Starburst::of_rig(&CameraRig { lens, ..*rig }, self.lens.iris)?;
        Ok(Starburst {
            squeeze: set.anamorphic.unwrap_or(clean.squeeze),
            dust: set.dust.unwrap_or(clean.dust),
            scratches: set.scratches.unwrap_or(clean.scratches),
            seed: set.seed.unwrap_or(clean.seed),
            points: set.starburst_punctual_lights.unwrap_or(clean.points),
            ..clean
        })
    }

    /// Motion blur of moving objects with a static camera: if a shutter time is set or motion
    /// blur is enabled.
    #[must_use]
    pub fn object_motion_blur(&self) -> Option<MotionBlur> {
        let named = self.effects.motion_shutter.is_some() || self.dials.shutter_s.is_some();
        self.effects.motion_blur.unwrap_or(named).then(|| self.open_shutter())
    }

    fn open_shutter(&self) -> MotionBlur {
        let CameraMotion { velocity, rotation } = self.motion;
        MotionBlur {
            exposure: self.effects.motion_shutter.unwrap_or(self.dials.exposing().shutter_s),
            shutter: self.body.shutter(),
            velocity,
            rotation,
        }
    }

    fn motion_blur(&self) -> Option<MotionBlur> {
        let moves = self.motion != CameraMotion::default();
        (moves && self.effects.motion_blur.unwrap_or(true)).then(|| self.open_shutter())
    }

    fn grain(&self, rig: Option<&CameraRig>, size: [u32; 2]) -> Result<Option<Grain>, CameraError> {
        let set = &self.effects;
        let by_camera = self.body.sensor.is_some() && self.dials.iso.is_some();
        let by_section = set.grain_iso.is_some() || set.grain_pitch.is_some();
        if !set.grain.unwrap_or(by_camera || by_section) {
            return Ok(None);
        }
        let [width, height] = size.map(|side| f64::from(side.max(1)));
        let pitch = match (set.grain_pitch, rig) {
            (Some(pitch), _) => pitch,
            (None, Some(rig)) => rig.gate.width / width,
            (None, None) => self.body.gate(width / height)?.width / width,
        };
        let iso = set.grain_iso.unwrap_or(self.dials.exposing().iso);
        Ok(Some(Grain::of_sensor(pitch, iso)))
    }
}
