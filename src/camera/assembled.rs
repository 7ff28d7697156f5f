//! The assembled camera: body, lens and dials resolved to exposure, field of view and lens.

use std::sync::Arc;

use glam::DVec3;

use super::{
    body::{Body, SensorSize},
    dials::Dials,
    effect_settings::EffectSettings,
    error::CameraError,
    exposure::Exposure,
    exposure_mode::{DialRanges, ExposureDials, ExposureMode, SolvedExposure},
    lens::CameraLens,
    rig::CameraRig,
};
use crate::optics::{
    Lens, LensAberrations, LensSettings, LensSettingsError, MountedLens, Prescription, ThinLens,
    mounted_lens::{MountError, reachable_f_stop},
};

/// Motion of the camera while the shutter is open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CameraMotion {
    /// Velocity (m/s) along the camera's right, up and back.
    pub velocity: DVec3,
    /// Angular velocity (rad/s) around the camera's right, up and back.
    pub rotation: DVec3,
}

/// A physical camera.
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// The body.
    pub body: Body,
    /// The lens.
    pub lens: CameraLens,
    /// The prescription of the lens, or why it cannot be read; `None` for a thin lens.
    pub prescription: Option<Result<Arc<Prescription>, String>>,
    /// The dials.
    pub dials: Dials,
    /// Motion while the shutter is open.
    pub motion: CameraMotion,
    /// Effects that are set apart from body, lens and dials.
    pub effects: EffectSettings,
}

impl Camera {
    /// The same camera with dials that a metering mode solved.
    #[must_use]
    pub fn with_dials(&self, solved: ExposureDials) -> Self {
        Self { dials: self.dials.with(solved), ..self.clone() }
    }

    /// Solves the dials of a mode for an exposure, within the ranges of body and lens.
    ///
    /// # Errors
    /// Contradictory dials or ranges; a prescription that cannot be read.
    pub fn solve(
        &self,
        mode: ExposureMode,
        requested: Exposure,
    ) -> Result<SolvedExposure, CameraError> {
        let ranges = self.dial_ranges()?;
        Ok(mode.solve(self.dials.exposing(), requested, ranges, self.dials.auto_iso)?)
    }

    /// Ranges of aperture, shutter time and ISO. The aperture's are f-numbers (T-numbers if one is
    /// set) that the prescription's lens reaches.
    ///
    /// # Errors
    /// A prescription that cannot be read.
    pub fn dial_ranges(&self) -> Result<DialRanges, CameraError> {
        let mut ranges = DialRanges::of(&self.body, &self.lens);
        let Some(prescription) = self.prescription()? else { return Ok(ranges) };
        let settings =
            LensSettings { focal_length: self.lens.focal_length, ..LensSettings::default() };
        let Ok(open) = Lens::new(prescription, &settings) else { return Ok(ranges) };
        let [min, max] = &mut ranges.f_stop;
        *min = min.max(open.f_number() * self.dials.stop_losses());
        *max = max.max(*min);
        Ok(ranges)
    }

    /// The camera with the stops at which its lens works: the f-number is at least the maximum
    /// aperture of the prescription if it is nearly that ([`reachable_f_stop`]).
    #[must_use]
    pub fn with_reachable_stop(mut self) -> Self {
        let Some(Ok(prescription)) = &self.prescription else { return self };
        let settings =
            LensSettings { focal_length: self.lens.focal_length, ..LensSettings::default() };
        let Ok(open) = Lens::new(prescription, &settings) else { return self };
        if let Some(set) = self.dials.f_stop.or(self.dials.t_stop)
            && let Some(used) = reachable_f_stop(set, open.f_number()).filter(|used| *used > set)
        {
            self.dials.f_stop = self.dials.f_stop.map(|_| used);
            // The losses of the glass stay.
            self.dials.t_stop = self.dials.t_stop.map(|t_stop| t_stop * used / set);
        }
        self
    }

    /// Numbers of the prescription that are replaced, one note each.
    #[must_use]
    pub fn lens_notes(&self) -> Vec<String> {
        let (Some(name), Some(Ok(prescription))) = (&self.lens.prescription, &self.prescription)
        else {
            return Vec::new();
        };
        prescription.notes().iter().map(|note| format!("{name}: {note}")).collect()
    }

    fn prescription(&self) -> Result<Option<&Prescription>, CameraError> {
        match &self.prescription {
            Some(Err(detail)) => Err(self.prescription_error(detail.clone())),
            Some(Ok(prescription)) => Ok(Some(prescription)),
            None => Ok(None),
        }
    }

    fn prescription_error(&self, detail: String) -> CameraError {
        CameraError::Prescription {
            name: self.lens.prescription.clone().unwrap_or_default(),
            detail,
        }
    }

    /// Lens, focus and sensor for a picture of an aspect (width over height), as a thin lens.
    ///
    /// `fov` (rad) is the vertical field of view of the scene's camera, which applies without a
    /// focal length.
    ///
    /// # Errors
    /// An invalid lens, or one that forms no image at this focus.
    pub fn rig(&self, fov: f64, aspect: f64) -> Result<CameraRig, CameraError> {
        let gate = self.body.gate(aspect)?;
        let (f_stop, focus) = (self.dials.iris_stop(), self.lens.focus()?);
        let rig = match self.lens.focal_length {
            Some(focal_length) => {
                let lens = ThinLens::new(focal_length, f_stop)?;
                CameraRig::with_lens(lens, focus, gate, self.lens.breathing)?
            }
            None => CameraRig::with_field_of_view(fov, f_stop, focus, gate)?,
        };
        self.with_losses(rig)
    }

    /// The rig of a mounted lens: the equivalent thin lens, and the pinhole with its field of view.
    ///
    /// # Errors
    /// A T-number below the f-number.
    pub fn mounted_rig(&self, mounted: &MountedLens) -> Result<CameraRig, CameraError> {
        self.with_losses(CameraRig {
            lens: mounted.thin(),
            focus: mounted.focus(),
            gate: SensorSize { width: mounted.gate().x, height: mounted.gate().y },
            image_distance: mounted.pinhole_distance(),
        })
    }

    /// The same rig with the transmission losses of the T-number, which are those of the glass.
    fn with_losses(&self, rig: CameraRig) -> Result<CameraRig, CameraError> {
        let (f_stop, t_stop) = (self.dials.iris_stop(), self.dials.t_stop);
        let transmission = t_stop.map_or(1.0, |t_stop| (f_stop / t_stop).powi(2));
        if transmission > 1.0 {
            return Err(CameraError::t_stop(t_stop.unwrap_or_default(), f_stop));
        }
        Ok(CameraRig { lens: rig.lens.with_transmission(transmission)?, ..rig })
    }

    /// The prescription's lens mounted in front of the sensor area that a picture of an aspect
    /// (width over height) shows, with the aberrations that the effects leave on; `None` without a
    /// prescription.
    ///
    /// Distortion, lateral chromatic aberration and vignetting are on unless they are disabled, or
    /// replaced: by an amount of chromatic aberration, by a falloff exponent, or by the cosine
    /// falloff alone if mechanical vignetting is off.
    ///
    /// # Errors
    /// A prescription that cannot be read; lens settings that it does not support.
    pub fn mounted_lens(&self, aspect: f64) -> Result<Option<MountedLens>, CameraError> {
        let Some(prescription) = self.prescription()? else { return Ok(None) };
        let gate = self.body.gate(aspect)?;
        let focal_length = self.lens.focal_length;
        let settings = LensSettings {
            focal_length,
            focus: self.lens.focus()?,
            f_stop: Some(self.dials.iris_stop()),
            iris: self.lens.iris,
        };
        let setting = |property, value: String, expected: String| CameraError::Setting {
            property,
            value,
            expected,
        };
        if let Some((wanted, [min, max])) = focal_length.zip(prescription.zoom_range())
            && !(min * 0.95..=max * 1.05).contains(&wanted)
        {
            let expected = if min == max {
                format!("this prescription is a prime lens of {} mm; remove it", min * 1e3)
            } else {
                format!(
                    "expected {} to {} mm, the range of this prescription; change or remove it",
                    min * 1e3,
                    max * 1e3
                )
            };
            let wanted = format!("{} mm", wanted * 1e3);
            return Err(setting("camera.lens.focal_length", wanted, expected));
        }
        let set = &self.effects;
        let replaced = set.vignetting_falloff_exponent.is_some() || set.mechanical == Some(false);
        let aberrations = LensAberrations {
            distortion: set.distortion.unwrap_or(true),
            colors: set.aberration.unwrap_or(true) && set.aberration_amount.is_none(),
            vignetting: set.vignetting.unwrap_or(true) && !replaced,
        };
        let sides = [gate.width, gate.height];
        MountedLens::new(prescription, &settings, sides, aberrations, self.lens.breathing)
            .map(Some)
            .map_err(|error| match error {
                MountError::TooOpen { requested, .. } => {
                    setting("camera.lens.f_stop", requested.to_string(), error.to_string())
                }
                MountError::Dial(LensSettingsError::Focus { focus, .. }) => {
                    setting("camera.lens.focus", focus.to_string(), error.to_string())
                }
                _ => self.prescription_error(error.to_string()),
            })
    }
}
