//! Camera effects; `None` is off. They apply in the order of the light path: depth of field, motion
//! blur, starburst (diffraction), bloom (scatter), chromatic aberration, vignetting, grain.

use glam::{DMat4, DQuat, DVec3};

use super::{
    body::Shutter,
    effect_models::{Grain, pupil_overlap},
    rig::CameraRig,
};
use crate::optics::{Iris, LensError, Rim, ThinLens, thin_lens::positive};

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
    /// sensor, and meters squared. Below 0 in front of the focus. Half of
    /// `optics::focus::circle_of_confusion`.
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
            pupil_overlap(
                rim.radius / self.pupil_radius,
                tangent * rim.distance / self.pupil_radius,
            )
        });
        natural * cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optics::focus::circle_of_confusion;

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
