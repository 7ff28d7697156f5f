//! Camera effects of a look. They follow from camera body and lens; a value of `effects.*`
//! overrides that, and `enabled` switches an effect on or off.

use std::sync::Arc;

use glam::DVec3;

use super::{Look, LookError, read_prescription, rig::DEFAULT_SHUTTER};
use crate::{
    camera::{
        CameraEffects, DialRanges, ThinLens,
        effects::Grain,
        post_effects::{
            Bloom, CameraRig, ChromaticAberration, DepthOfField, MotionBlur, Rim, Starburst,
            Vignetting,
        },
    },
    optics::{
        Lens, LensAberrations, LensSettings, MountedLens,
        ghosts::{DEFAULT_CULL_THRESHOLD, LensGhosts},
    },
};

/// Lateral chromatic aberration in percent if it is enabled without an amount: half a pixel in the
/// corner of an image 4000 pixels wide.
const ABERRATION: f64 = 0.02;

impl Look {
    /// True if the look sets a lens, or one of its effects.
    #[must_use]
    pub fn needs_lens(&self) -> bool {
        let set = &self.effects;
        let switched = [
            set.depth_of_field,
            set.starburst,
            set.bloom,
            set.aberration,
            set.vignetting,
            set.mechanical,
        ];
        let values = [
            set.depth_f_stop,
            set.depth_focus,
            set.bloom_fraction,
            set.aberration_amount,
            set.vignetting_falloff_exponent,
        ];
        self.camera.rig.names_lens()
            || self.effects.sets_starburst()
            || switched.contains(&Some(true))
            || values.iter().any(Option::is_some)
    }

    /// True if an effect needs bright sources outside of the image.
    #[must_use]
    pub fn needs_flare_sources(&self) -> bool {
        self.has_starbursts() || self.has_ghosts()
    }

    fn has_starbursts(&self) -> bool {
        self.effects.starburst.unwrap_or_else(|| self.effects.sets_starburst())
    }

    /// True if lens flare ghosts are enabled.
    #[must_use]
    pub fn has_ghosts(&self) -> bool {
        let set = &self.effects;
        let by_value = set.ghost_method.is_some()
            || set.ghost_cull_threshold.is_some()
            || set.coatings.is_some();
        set.ghosts.unwrap_or(by_value)
    }

    /// Lens flare ghosts of the mounted lens; `None` if the look does not enable them.
    ///
    /// # Errors
    /// Ghosts are enabled without a lens prescription.
    pub fn ghosts(&self, mounted: Option<&MountedLens>) -> Result<Option<LensGhosts>, LookError> {
        if !self.has_ghosts() {
            return Ok(None);
        }
        let Some(mounted) = mounted else {
            return Err(LookError::BadValue {
                path: "effects.ghosts.enabled".into(),
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
    /// aberration and starbursts are off unless enabled. An effect with a value set is on. A look
    /// that sets only the exposure therefore gives the image of a pinhole.
    ///
    /// # Errors
    /// An invalid lens, or one that forms no image; a lens effect that is enabled without a lens.
    pub fn effects(
        &self,
        rig: Option<&CameraRig>,
        size: [u32; 2],
    ) -> Result<CameraEffects, LookError> {
        let (camera, set) = (&self.camera.rig, &self.effects);
        let lens = camera.names_lens();
        let on = |enabled: Option<bool>, by_camera: bool| enabled.unwrap_or(by_camera);
        let depth_set = set.depth_f_stop.or(set.depth_focus).is_some();
        let vignetting_set = set.vignetting_falloff_exponent.is_some() || set.mechanical.is_some();
        let starburst = self.has_starbursts();
        let wanted = [
            (starburst, set.starburst, "starburst"),
            (
                on(set.depth_of_field, camera.focus.is_some() || depth_set),
                set.depth_of_field,
                "depth_of_field",
            ),
            (on(set.bloom, lens || set.bloom_fraction.is_some()), set.bloom, "bloom"),
            (
                on(set.aberration, set.aberration_amount.is_some()),
                set.aberration,
                "chromatic_aberration",
            ),
            (on(set.vignetting, lens || vignetting_set), set.vignetting, "vignetting"),
        ];
        let grain = self.grain(rig, size)?;
        let mut effects =
            CameraEffects { motion_blur: self.motion_blur(), grain, ..CameraEffects::default() };
        let Some(rig) = rig else {
            return match wanted.iter().find(|(_, requested, _)| *requested == Some(true)) {
                Some((_, _, name)) => Err(LookError::BadValue {
                    path: format!("effects.{name}.enabled"),
                    value: "true".into(),
                    expected:
                        "the camera is orthographic and has no lens; choose a perspective camera"
                            .into(),
                }),
                None => Ok(effects),
            };
        };
        let [_, depth_of_field, bloom, aberration, vignetting] = wanted.map(|(on, ..)| on);
        if depth_of_field {
            effects.depth_of_field = Some(self.depth_of_field(rig)?);
        }
        if starburst {
            effects.starburst = Some(self.starburst(rig)?);
        }
        if bloom {
            // Ghosts are the light of reflections between pairs of surfaces: drawn as ghosts, it is
            // not scattered as bloom too.
            let by_lens =
                || if self.has_ghosts() { Bloom::CLEAN_LENS } else { Bloom::fraction_of(rig.lens) };
            let fraction = set.bloom_fraction.unwrap_or_else(by_lens);
            effects.bloom = Some(Bloom { fraction, width: rig.width() });
        }
        if aberration {
            let percent = set.aberration_amount.unwrap_or(ABERRATION);
            effects.chromatic_aberration =
                Some(ChromaticAberration { red_over_blue: percent / 100.0 });
        }
        if vignetting {
            effects.vignetting = Some(Vignetting {
                exponent: set.vignetting_falloff_exponent.unwrap_or(4.0),
                width: rig.width(),
                pupil_radius: rig.lens.aperture_diameter() / 2.0,
                rim: set.mechanical.unwrap_or(true).then(|| camera.rim(rig.lens)),
            });
        }
        Ok(effects)
    }

    /// The prescription's lens mounted for an image aspect (width over height), with the
    /// aberrations that the look leaves on; `None` without a prescription.
    ///
    /// Distortion, lateral chromatic aberration and vignetting are on unless they are disabled, or,
    /// the latter two, set to a value.
    ///
    /// # Errors
    /// A prescription that cannot be read; lens settings that it does not support.
    pub fn mounted_lens(&self, aspect: f64) -> Result<Option<MountedLens>, LookError> {
        let set = &self.effects;
        let by_value = set.vignetting_falloff_exponent.is_some() || set.mechanical.is_some();
        let aberrations = LensAberrations {
            distortion: set.distortion.unwrap_or(true),
            colors: set.aberration.unwrap_or(true) && set.aberration_amount.is_none(),
            vignetting: set.vignetting.unwrap_or(true) && !by_value,
        };
        self.camera.rig.mounted_lens(self.camera.f_stop, aspect, aberrations)
    }

    /// Ranges of aperture, shutter time and ISO: the look's or the defaults, with the f-numbers
    /// (T-numbers if the look sets one) of the prescription's lens.
    ///
    /// # Errors
    /// A prescription that cannot be read.
    pub fn dial_ranges(&self) -> Result<DialRanges, LookError> {
        let mut ranges = self.metering.ranges();
        let Some(name) = &self.camera.rig.prescription else { return Ok(ranges) };
        let prescription = read_prescription("camera.lens.prescription", name)?;
        let dials =
            LensSettings { focal_length: self.camera.rig.focal_length, ..LensSettings::default() };
        let Ok(open) = Lens::new(&prescription, &dials) else { return Ok(ranges) };
        let losses = match (self.camera.rig.t_stop, self.camera.f_stop) {
            (Some(t_stop), Some(f_stop)) => t_stop / f_stop,
            _ => 1.0,
        };
        let [min, max] = &mut ranges.f_stop;
        *min = min.max(open.f_number() * losses);
        *max = max.max(*min);
        Ok(ranges)
    }

    /// The camera effects of a mounted lens, from those of its rig.
    ///
    /// # Errors
    /// An invalid lens.
    pub fn effects_with_mounted_lens(
        &self,
        mounted: &MountedLens,
        effects: CameraEffects,
    ) -> Result<CameraEffects, LookError> {
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

    fn depth_of_field(&self, rig: &CameraRig) -> Result<DepthOfField, LookError> {
        let set = &self.effects;
        let f_stop = set.depth_f_stop.unwrap_or_else(|| rig.lens.f_stop());
        let lens = ThinLens::new(rig.lens.focal_length(), f_stop)?;
        let rim = set.mechanical.unwrap_or(true).then(|| self.camera.rig.rim(lens));
        let focus = set.depth_focus.unwrap_or(rig.focus);
        let field = DepthOfField {
            lens,
            focus,
            gate_width: rig.gate.width,
            iris: self.camera.rig.iris(),
            rim,
        };
        Ok(field.checked()?)
    }

    fn starburst(&self, rig: &CameraRig) -> Result<Starburst, LookError> {
        let set = &self.effects;
        let f_stop = set.starburst_f_stop.unwrap_or_else(|| rig.lens.f_stop());
        let lens = ThinLens::new(rig.lens.focal_length(), f_stop)?;
        let clean = Starburst::of_rig(&CameraRig { lens, ..*rig }, self.camera.rig.iris())?;
        Ok(Starburst {
            squeeze: set.anamorphic.unwrap_or(clean.squeeze),
            dust: set.dust.unwrap_or(clean.dust),
            scratches: set.scratches.unwrap_or(clean.scratches),
            seed: set.seed.unwrap_or(clean.seed),
            points: set.starburst_punctual_lights.unwrap_or(clean.points),
            ..clean
        })
    }

    /// Motion blur of moving objects with a static camera: if the look sets a shutter time or
    /// enables motion blur.
    #[must_use]
    pub fn object_motion_blur(&self) -> Option<MotionBlur> {
        let named = self.effects.motion_shutter.is_some() || self.camera.shutter.is_some();
        self.effects.motion_blur.unwrap_or(named).then(|| self.open_shutter())
    }

    fn open_shutter(&self) -> MotionBlur {
        let camera = &self.camera.rig;
        let exposure =
            self.effects.motion_shutter.or(self.camera.shutter).unwrap_or(DEFAULT_SHUTTER);
        let (velocity, rotation) = (
            camera.velocity.unwrap_or(DVec3::ZERO),
            camera.angular_velocity.unwrap_or(DVec3::ZERO),
        );
        MotionBlur { exposure, shutter: camera.shutter(), velocity, rotation }
    }

    fn motion_blur(&self) -> Option<MotionBlur> {
        let camera = &self.camera.rig;
        let velocity = camera.velocity.unwrap_or(DVec3::ZERO);
        let rotation = camera.angular_velocity.unwrap_or(DVec3::ZERO);
        let moves = velocity != DVec3::ZERO || rotation != DVec3::ZERO;
        (moves && self.effects.motion_blur.unwrap_or(true)).then(|| self.open_shutter())
    }

    fn grain(&self, rig: Option<&CameraRig>, size: [u32; 2]) -> Result<Option<Grain>, LookError> {
        let (camera, set) = (&self.camera, &self.effects);
        let by_camera = camera.rig.sensor.is_some() && camera.iso.is_some();
        let by_section = set.grain_iso.is_some() || set.grain_pitch.is_some();
        if !set.grain.unwrap_or(by_camera || by_section) {
            return Ok(None);
        }
        let [width, height] = size.map(|side| f64::from(side.max(1)));
        let pitch = match (set.grain_pitch, rig) {
            (Some(pitch), _) => pitch,
            (None, Some(rig)) => rig.gate.width / width,
            (None, None) => camera.rig.gate(width / height)?.width / width,
        };
        let iso = set.grain_iso.or(camera.iso).unwrap_or(100.0);
        Ok(Some(Grain::of_sensor(pitch, iso)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::optics::ghosts::GhostMethod;

    fn effects(assignments: &[&str]) -> CameraEffects {
        let mut look = Look::default();
        for assignment in assignments {
            look.assign(assignment).unwrap();
        }
        let rig = look.camera.rig.rig(look.camera.f_stop, 0.7, 1.5).unwrap();
        look.effects(Some(&rig), [1280, 853]).unwrap()
    }

    #[test]
    fn exposure_alone_leaves_a_pinhole() {
        assert!(effects(&[]).is_empty());
        let dials = ["camera.lens.f_stop=2.8", "camera.body.iso=400", "camera.body.shutter=1/60"];
        assert!(effects(&dials).is_empty());
        assert!(!Look::default().needs_lens());
    }

    #[test]
    fn the_camera_says_which_effects_there_are() {
        let all = effects(&[
            "camera.lens.focal_length=50",
            "camera.lens.focus=1",
            "camera.lens.f_stop=2",
            "camera.body.sensor=full-frame",
            "camera.body.iso=1600",
            "camera.body.shutter=1/50",
            "camera.motion.angular_velocity=0 10 0",
        ]);
        let field = all.depth_of_field.unwrap();
        assert_eq!((field.lens.f_stop(), field.focus), (2.0, 1.0));
        assert!((field.gate_width - 0.036).abs() < 1e-12);
        assert_eq!(all.motion_blur.unwrap().exposure, 0.02);
        assert_eq!(all.bloom.unwrap().fraction, 0.01);
        assert_eq!(all.vignetting.unwrap().exponent, 4.0);
        assert_eq!(all.grain.unwrap(), Grain::of_sensor(0.036 / 1280.0, 1600.0));
        assert_eq!(all.chromatic_aberration, None);
    }

    #[test]
    fn grain_follows_the_millimeters_that_the_picture_shows() {
        // An image of 4:3 shows 32 x 24 of 36 x 24 mm, one of 9:16 13.5 x 24; overscan shows more
        // than the sensor.
        for (size, fit, wide) in [
            ([1200, 800], "fill", 0.036),
            ([1600, 1200], "fill", 0.032),
            ([900, 1600], "fill", 0.0135),
            ([1920, 1080], "fill", 0.036),
            ([900, 1600], "overscan", 0.036),
            ([1920, 1080], "overscan", 0.024 * 16.0 / 9.0),
        ] {
            let mut look = Look::default();
            let fit = format!("camera.body.gate_fit={fit}");
            for assignment in ["camera.body.sensor=36x24", "camera.body.iso=1600", &fit] {
                look.assign(assignment).unwrap();
            }
            let aspect = f64::from(size[0]) / f64::from(size[1]);
            let rig = look.camera.rig.rig(None, 0.7, aspect).unwrap();
            let want = Grain::of_sensor(wide / f64::from(size[0]), 1600.0);
            for rig in [None, Some(&rig)] {
                let got = look.effects(rig, size).unwrap().grain.unwrap();
                assert!(
                    (got.shot / want.shot - 1.0).abs() < 1e-9,
                    "{size:?} {fit}: {got:?} is not {want:?}"
                );
            }
        }
    }

    #[test]
    fn a_section_overrides_one_value_and_opts_out() {
        let lens = ["camera.lens.focal_length=50", "camera.lens.focus=1", "camera.lens.f_stop=2"];
        let with = |more: &str| effects(&[&lens[..], &[more]].concat());
        assert_eq!(
            with("effects.depth_of_field.f_stop=1.4").depth_of_field.unwrap().lens.f_stop(),
            1.4
        );
        assert_eq!(
            with("effects.depth_of_field.f_stop=1.4").vignetting,
            with("effects.bloom.enabled=true").vignetting
        );
        assert_eq!(with("effects.depth_of_field.enabled=false").depth_of_field, None);
        assert_eq!(with("effects.bloom.enabled=false").bloom, None);
        assert_eq!(with("effects.bloom.enabled=true").starburst, None);
        let starburst = with("effects.starburst.dust=0.3").starburst.unwrap();
        // f/2 at a magnification of 0.05 / 0.95.
        assert!((starburst.f_number - 2.0 * (1.0 + 0.05 / 0.95)).abs() < 1e-12);
        assert_eq!((starburst.dust, starburst.squeeze, starburst.points), (0.3, 1.0, true));
        assert_eq!(with("effects.starburst.enabled=false").starburst, None);
        assert_eq!(with("effects.vignetting.mechanical=false").vignetting.unwrap().rim, None);
        assert_eq!(
            with("effects.chromatic_aberration.amount=0.1")
                .chromatic_aberration
                .unwrap()
                .red_over_blue,
            0.001
        );
        // A T-number states transmission losses, which scatter.
        let t = with("camera.lens.t_stop=2.5").bloom.unwrap().fraction;
        assert!((t - 0.01 - 0.36_f64.powi(2) / 2.0).abs() < 1e-12, "{t}");
    }

    #[test]
    fn a_parallel_projection_has_no_lens() {
        let mut look = Look::default();
        look.assign("camera.lens.focus=1").unwrap();
        assert!(look.effects(None, [100, 100]).unwrap().is_empty());
        look.assign("effects.depth_of_field.enabled=true").unwrap();
        assert!(look.effects(None, [100, 100]).unwrap_err().to_string().contains("orthographic"));
    }

    #[test]
    fn ghosts_need_a_prescription() {
        let look = |assignments: &[&str]| {
            let mut look = Look::default();
            for assignment in assignments {
                look.assign(assignment).unwrap();
            }
            look
        };
        assert_eq!(look(&[]).ghosts(None).unwrap(), None);
        let error = look(&["effects.ghosts.enabled=true"]).ghosts(None).unwrap_err().to_string();
        assert!(
            error.contains("effects.ghosts.enabled") && error.contains("camera.lens.prescription"),
            "{error}"
        );
        let named = "camera.lens.prescription=builtin:cooke-triplet-50-f5";
        let plain = look(&[named]);
        let mounted = plain.mounted_lens(1.5).unwrap().unwrap();
        assert_eq!(plain.ghosts(Some(&mounted)).unwrap(), None);
        assert!(!plain.needs_flare_sources());
        let bare = look(&[
            named,
            "effects.ghosts.coatings=bare",
            "effects.ghosts.method=paraxial",
            "effects.ghosts.cull_threshold=0",
        ]);
        assert!(bare.needs_flare_sources());
        let ghosts = bare.ghosts(Some(&mounted)).unwrap().unwrap();
        assert_eq!((ghosts.method, ghosts.cull_threshold), (GhostMethod::Paraxial, 0.0));
        assert!(ghosts.lens.surfaces().iter().all(|surface| surface.coating.is_none()));
        let single = look(&[named, "effects.ghosts.coatings=single"])
            .ghosts(Some(&mounted))
            .unwrap()
            .unwrap();
        // Three single lenses: six surfaces to air; the stop has none.
        assert_eq!(
            single.lens.surfaces().iter().filter(|surface| surface.coating.is_some()).count(),
            6
        );
        let off =
            look(&[named, "effects.ghosts.cull_threshold=0.1", "effects.ghosts.enabled=false"]);
        assert_eq!(off.ghosts(Some(&mounted)).unwrap(), None);
        for bad in [
            "effects.ghosts.method=fast",
            "effects.ghosts.cull_threshold=2",
            "effects.ghosts.cull_threshold=nan",
            "effects.ghosts.coatings=1",
        ] {
            assert!(Look::default().assign(bad).is_err(), "{bad}");
        }
    }
}
