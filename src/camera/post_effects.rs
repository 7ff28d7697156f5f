//! Camera effects; `None` is off. They apply in the order of the light path: depth of field, motion
//! blur, starburst (diffraction), bloom (scatter), chromatic aberration, vignetting, grain.

use glam::{DMat4, DQuat, DVec3};

use super::{
    body::{SensorSize, Shutter},
    effects::Grain,
    lens::{Iris, LensError, ThinLens, positive},
};

/// The effects of a camera; disabled ones have no cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CameraEffects {
    /// Blur by distance from the focus.
    pub depth_of_field: Option<DepthOfField>,
    /// Blur by motion while the shutter is open.
    pub motion_blur: Option<MotionBlur>,
    /// Diffraction at the iris.
    pub starburst: Option<Starburst>,
    /// Light scattered in the lens.
    pub bloom: Option<Bloom>,
    /// Lateral chromatic aberration.
    pub chromatic_aberration: Option<ChromaticAberration>,
    /// Darkening towards the corners.
    pub vignetting: Option<Vignetting>,
    /// Noise of the sensor.
    pub grain: Option<Grain>,
}

impl CameraEffects {
    /// True if all effects are off.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The front rim of a lens barrel, which cuts the pupil for points off the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rim {
    /// Radius (m), at least that of the pupil.
    pub radius: f64,
    /// Distance (m) in front of the pupil; below 0 behind it.
    pub distance: f64,
}

/// A focused lens before a sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthOfField {
    /// The lens.
    pub lens: ThinLens,
    /// Focus distance (m) from the lens along its axis; may be infinite.
    pub focus: f64,
    /// The sensor's width (m) that the picture's width shows.
    pub gate_width: f64,
    /// The iris.
    pub iris: Iris,
    /// The barrel's rim; `None` for no mechanical vignetting.
    pub rim: Option<Rim>,
}

impl DepthOfField {
    /// Signed radius of the circle of confusion as `at_infinity - slope / distance`: meters on the
    /// sensor, and meters squared. Below 0 in front of the focus. `focus::circle_of_confusion` over
    /// 2.
    ///
    /// # Errors
    /// A focus that is not beyond the focal length.
    pub fn radius(&self) -> Result<[f64; 2], LensError> {
        let magnification = self.lens.magnification(self.focus)?;
        let half = self.lens.aperture_diameter() / 2.0;
        Ok([half * magnification, half * self.lens.focal_length() * (1.0 + magnification)])
    }

    /// Validates these settings.
    ///
    /// # Errors
    /// A focus that is not beyond the focal length; a width or rim that is not finite and above 0.
    pub fn checked(self) -> Result<Self, LensError> {
        self.radius()?;
        positive("the width of the sensor's gate", self.gate_width)?;
        if let Some(rim) = self.rim {
            rim.checked(self.lens.aperture_diameter() / 2.0)?;
        }
        Ok(self)
    }
}

impl Rim {
    /// Validates this rim for a pupil radius (m).
    ///
    /// # Errors
    /// A rim that is smaller than the pupil; a distance that is not finite.
    pub fn checked(self, pupil_radius: f64) -> Result<Self, LensError> {
        // Tolerance for rounding if both radii are equal.
        if !(self.radius >= pupil_radius * (1.0 - 1e-9) && self.radius.is_finite()) {
            let what = "the radius of the lens's rim in m";
            return Err(LensError::Value {
                what,
                value: self.radius,
                allowed: "at least that of the aperture",
            });
        }
        if self.distance.is_finite() {
            Ok(self)
        } else {
            let what = "the distance of the lens's rim in m";
            Err(LensError::Value { what, value: self.distance, allowed: "finite" })
        }
    }
}

/// Camera motion while the shutter is open. The picture's time is the middle of the exposure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotionBlur {
    /// Exposure time (s), above 0.
    pub exposure: f64,
    /// Shutter type.
    pub shutter: Shutter,
    /// Velocity (m/s) along the camera's right, up and back.
    pub velocity: DVec3,
    /// Angular velocity (rad/s) around the camera's right, up and back.
    pub rotation: DVec3,
}

impl MotionBlur {
    /// Camera transform at a time (s) from the middle of the exposure, in the camera's axes at that
    /// middle.
    #[must_use]
    pub fn pose(&self, time: f64) -> DMat4 {
        DMat4::from_rotation_translation(
            DQuat::from_scaled_axis(self.rotation * time),
            self.velocity * time,
        )
    }

    /// Delay between the exposures of the first and the last line, in exposure times; 0 for a
    /// global shutter.
    #[must_use]
    pub fn curtain(&self) -> f64 {
        self.shutter.duration(self.exposure) / self.exposure - 1.0
    }
}

/// Starburst: diffraction at the iris, which gives bright sources spikes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Starburst {
    /// The iris.
    pub iris: Iris,
    /// The f-number that the sensor sees (`ThinLens::effective_f_number`), above 0.
    pub f_number: f64,
    /// The sensor's width (m) that the picture's width shows.
    pub gate_width: f64,
    /// Anamorphic aperture width over that of a spherical lens, 0.25 to 1.
    pub squeeze: f64,
    /// Dust on the lens, 0 to 1.
    pub dust: f64,
    /// Scratches, 0 to 1.
    pub scratches: f64,
    /// Seed of the positions of dust and scratches.
    pub seed: u32,
    /// True if zero-size lights, which are invisible in the picture, are imaged as points.
    pub points: bool,
}

impl Starburst {
    /// Starburst of a clean lens.
    ///
    /// # Errors
    /// A focus that is not beyond the focal length.
    pub fn of_rig(rig: &CameraRig, iris: Iris) -> Result<Self, LensError> {
        let f_number = rig.lens.effective_f_number(rig.focus)?;
        let gate_width = rig.gate.width;
        Ok(Self {
            iris,
            f_number,
            gate_width,
            squeeze: 1.0,
            dust: 0.0,
            scratches: 0.0,
            seed: 0,
            points: true,
        })
    }
}

/// Light scattered by the lens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bloom {
    /// The part of each pixel's light that is scattered, 0 to 1.
    pub fraction: f64,
    /// The picture's width over the image distance: the tangent of the angle that a picture's width
    /// would fill on the axis, above 0.
    pub width: f64,
}

impl Bloom {
    /// Scattered fraction of a clean, coated lens: veiling glare of a good lens is of the order of
    /// 1 % (ISO 9358:1994, "Veiling glare of image forming systems", covers about 0.5 to 5 %).
    pub const CLEAN_LENS: f64 = 0.01;

    /// Scattered fraction from a lens's transmission `T`. Each pair of surface reflections sends
    /// light towards the sensor: for n surfaces of reflectance R, `n (n - 1) / 2 R^2`, about
    /// `(1 - T)^2 / 2`.
    #[must_use]
    pub fn fraction_of(lens: ThinLens) -> f64 {
        let lost = 1.0 - lens.transmission();
        (Self::CLEAN_LENS + lost * lost / 2.0).min(1.0)
    }
}

/// Lateral chromatic aberration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChromaticAberration {
    /// Size difference of the red and the blue image, relative to the green one; may be negative.
    pub red_over_blue: f64,
}

/// Darkening towards the corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vignetting {
    /// Exponent of the cosine of the field angle: 4 by nature, 0 for none.
    pub exponent: f64,
    /// The picture's width over the image distance.
    pub width: f64,
    /// Radius (m) of the entrance pupil.
    pub pupil_radius: f64,
    /// The barrel's rim; `None` for no mechanical vignetting.
    pub rim: Option<Rim>,
}

impl Vignetting {
    /// Illuminance relative to the axis at the tangent of a field angle, 0 to 1.
    #[must_use]
    pub fn at(&self, tangent: f64) -> f64 {
        let natural = (1.0 + tangent * tangent).powf(-0.5 * self.exponent);
        let cut = self.rim.map_or(1.0, |rim| {
            super::effects::pupil_overlap(
                rim.radius / self.pupil_radius,
                tangent * rim.distance / self.pupil_radius,
            )
        });
        natural * cut
    }
}

/// A lens on a body, focused, for a picture of an aspect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraRig {
    /// The lens.
    pub lens: ThinLens,
    /// Focus distance (m) from the lens; may be infinite.
    pub focus: f64,
    /// The sensor's area that the picture shows.
    pub gate: SensorSize,
    /// Distance from the lens to the image (m), which sets the field of view.
    pub image_distance: f64,
}

impl CameraRig {
    /// Rig of a lens with a known focal length. Without `breathing` the field of view is that of
    /// focus at infinity, as with a corrected cinema lens.
    ///
    /// # Errors
    /// A focus that is not beyond the focal length.
    pub fn with_lens(
        lens: ThinLens,
        focus: f64,
        gate: SensorSize,
        breathing: bool,
    ) -> Result<Self, LensError> {
        let image_distance = lens.image_distance(focus)?;
        let image_distance = if breathing { image_distance } else { lens.focal_length() };
        Ok(Self { lens, focus, gate, image_distance })
    }

    /// Rig with a known vertical field of view (rad): the focal length follows from it and the
    /// focus.
    ///
    /// # Errors
    /// A field of view or f-number out of range; a focus too near for this field of view.
    pub fn with_field_of_view(
        fov: f64,
        f_stop: f64,
        focus: f64,
        gate: SensorSize,
    ) -> Result<Self, LensError> {
        let image_distance = super::lens::focal_length_from_fov(fov, gate.height)?;
        // 1/f = 1/S + 1/v, written so that an infinite S needs no case of its own.
        let focal_length = 1.0 / (1.0 / focus + 1.0 / image_distance);
        let lens = ThinLens::new(focal_length, f_stop)?;
        lens.image_distance(focus)?;
        Ok(Self { lens, focus, gate, image_distance })
    }

    /// Field of view (rad) over the picture's height.
    #[must_use]
    pub fn vertical_fov(&self) -> f64 {
        2.0 * (self.gate.height / 2.0 / self.image_distance).atan()
    }

    /// The picture's width over the image distance.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.gate.width / self.image_distance
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;
    use crate::camera::focus::circle_of_confusion;

    const FULL_FRAME: SensorSize = SensorSize { width: 0.036, height: 0.024 };

    #[test]
    fn radii_are_those_of_the_thin_lens() {
        for (f, n, s) in [(0.05, 2.0, 2.0), (0.05, 2.8, 1.0), (0.1, 4.0, f64::INFINITY)] {
            let lens = ThinLens::new(f, n).unwrap();
            let field = DepthOfField {
                lens,
                focus: s,
                gate_width: 0.036,
                iris: Iris::default(),
                rim: None,
            };
            let [far, slope] = field.radius().unwrap();
            for z in [0.3, 1.0, 4.0, 1e9] {
                let want = circle_of_confusion(lens, s, z).unwrap() / 2.0;
                assert!((far - slope / z - want).abs() < 1e-12, "{f} {n} {s} {z}");
            }
        }
        let lens = ThinLens::new(0.05, 2.0).unwrap();
        let inside =
            DepthOfField { lens, focus: 0.04, gate_width: 0.036, iris: Iris::default(), rim: None };
        assert!(inside.checked().unwrap_err().to_string().contains("50 mm"));
        let small =
            DepthOfField { focus: 2.0, rim: Some(Rim { radius: 0.001, distance: 0.0 }), ..inside };
        assert!(small.checked().unwrap_err().to_string().contains("rim"));
    }

    #[test]
    fn rigs_by_lens_and_by_field_of_view_agree() {
        let lens = ThinLens::new(0.024, 2.8).unwrap();
        let rig = CameraRig::with_lens(lens, 0.38, FULL_FRAME, true).unwrap();
        assert!((2.0 * (rig.width() / 2.0).atan().to_degrees() - 70.186).abs() < 6e-4);
        let again =
            CameraRig::with_field_of_view(rig.vertical_fov(), 2.8, 0.38, FULL_FRAME).unwrap();
        assert!((again.lens.focal_length() - 0.024).abs() < 1e-12);
        let steady = CameraRig::with_lens(lens, 0.38, FULL_FRAME, false).unwrap();
        assert!((2.0 * (steady.width() / 2.0).atan().to_degrees() - 73.740).abs() < 6e-4);
        assert!(CameraRig::with_field_of_view(1.0, 0.0, 1.0, FULL_FRAME).is_err());
        assert!(CameraRig::with_lens(lens, 0.01, FULL_FRAME, true).is_err());
    }

    #[test]
    fn motion() {
        let blur = MotionBlur {
            exposure: 0.02,
            shutter: Shutter::Rolling { readout: 0.01 },
            velocity: DVec3::new(1.0, 0.0, 0.0),
            rotation: DVec3::new(0.0, 1.0, 0.0),
        };
        assert!((blur.curtain() - 0.5).abs() < 1e-12);
        assert_eq!(MotionBlur { shutter: Shutter::Global, ..blur }.curtain(), 0.0);
        let ahead = blur.pose(0.01).transform_vector3(DVec3::NEG_Z);
        assert!((ahead.x + 0.01_f64.sin()).abs() < 1e-12, "turned to the left: {ahead}");
        assert!((blur.pose(0.01).w_axis.x - 0.01).abs() < 1e-15);
    }
}
