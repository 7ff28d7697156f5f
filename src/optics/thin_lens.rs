//! The lens as a thin lens: imaging equation, field of view with focus breathing, effective
//! f-number, iris, rim.
//!
//! Lengths are meters, angles radians. A focus distance is measured from the lens (its front
//! principal plane) and may be infinite.

use std::f64::consts::{PI, TAU};

/// Valid focal lengths in m: 0.1 mm to 10 m.
pub const FOCAL_LIMITS: [f64; 2] = [1e-4, 10.0];

/// Valid f-numbers. No lens in air is below 0.5: the sine of its cone would exceed 1.
pub const F_STOP_LIMITS: [f64; 2] = [0.5, 1024.0];

/// Invalid lens or lens setting. Each message states the value and its valid range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LensError {
    /// The focal length is not within `FOCAL_LIMITS`.
    #[error("the focal length is {} mm; it must lie between 0.1 and 10000 mm", .0 * 1e3)]
    FocalLength(f64),
    /// The f-number is not within `F_STOP_LIMITS`.
    #[error("the f-number is {0}; it must lie between {min} and {max}", min = F_STOP_LIMITS[0], max = F_STOP_LIMITS[1])]
    FStop(f64),
    /// The transmission is not above 0 and at most 1.
    #[error("the lens transmits {0} of the light; it must be above 0 and at most 1")]
    Transmission(f64),
    /// The focus distance is not beyond the focal length.
    #[error("focused at {focus} m, a lens of {} mm forms no image; focus beyond its focal length", .focal_length * 1e3)]
    FocusInside {
        /// The focus distance (m) from the lens.
        focus: f64,
        /// The focal length (m).
        focal_length: f64,
    },
    /// An extent of the sensor or a field of view is impossible.
    #[error("{what} is {value}; it must be {allowed}")]
    Value {
        /// Name of the value.
        what: &'static str,
        /// The invalid value.
        value: f64,
        /// The valid range.
        allowed: &'static str,
    },
}

/// A thin lens with its aperture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThinLens {
    focal_length: f64,
    f_stop: f64,
    transmission: f64,
}

impl ThinLens {
    /// A lens of a focal length (m) at an f-number, loss-free.
    ///
    /// # Errors
    /// A focal length or f-number out of range.
    pub fn new(focal_length: f64, f_stop: f64) -> Result<Self, LensError> {
        if !(FOCAL_LIMITS[0]..=FOCAL_LIMITS[1]).contains(&focal_length) {
            return Err(LensError::FocalLength(focal_length));
        }
        if !(F_STOP_LIMITS[0]..=F_STOP_LIMITS[1]).contains(&f_stop) {
            return Err(LensError::FStop(f_stop));
        }
        Ok(Self { focal_length, f_stop, transmission: 1.0 })
    }

    /// The same lens with a transmission, above 0 and at most 1.
    ///
    /// # Errors
    /// A transmission out of range.
    pub fn with_transmission(self, transmission: f64) -> Result<Self, LensError> {
        if transmission > 0.0 && transmission <= 1.0 {
            Ok(Self { transmission, ..self })
        } else {
            Err(LensError::Transmission(transmission))
        }
    }

    /// Focal length (m).
    #[must_use]
    pub const fn focal_length(self) -> f64 {
        self.focal_length
    }

    /// The f-number on the dial.
    #[must_use]
    pub const fn f_stop(self) -> f64 {
        self.f_stop
    }

    /// Transmission of the glass, above 0 and at most 1.
    #[must_use]
    pub const fn transmission(self) -> f64 {
        self.transmission
    }

    /// Diameter (m) of the entrance pupil: `f / N`. ISO 517:2008 (relative aperture).
    #[must_use]
    pub fn aperture_diameter(self) -> f64 {
        self.focal_length / self.f_stop
    }

    fn checked(self, focus: f64) -> Result<f64, LensError> {
        if focus > self.focal_length {
            Ok(focus)
        } else {
            Err(LensError::FocusInside { focus, focal_length: self.focal_length })
        }
    }

    /// Magnification at a focus distance: `m = f / (S - f)`; 0 at infinity. Gauss's thin-lens
    /// equation (Hecht, "Optics", 5th ed., section 5.2.3).
    ///
    /// # Errors
    /// A focus distance that is not beyond the focal length.
    pub fn magnification(self, focus: f64) -> Result<f64, LensError> {
        Ok(self.focal_length / (self.checked(focus)? - self.focal_length))
    }

    /// Distance (m) from the lens to the image: `v = f S / (S - f) = f (1 + m)`. Gauss: `1/f = 1/S
    /// + 1/v` (Hecht, "Optics", 5th ed., equation 5.17).
    ///
    /// # Errors
    /// A focus distance that is not beyond the focal length.
    pub fn image_distance(self, focus: f64) -> Result<f64, LensError> {
        Ok(self.focal_length * (1.0 + self.magnification(focus)?))
    }

    /// The effective f-number at the sensor: `N (1 + m)`. Ray, "Applied Photographic Optics", 3rd
    /// ed. (close-up exposure; pupil magnification 1).
    ///
    /// # Errors
    /// A focus distance that is not beyond the focal length.
    pub fn effective_f_number(self, focus: f64) -> Result<f64, LensError> {
        Ok(self.f_stop * (1.0 + self.magnification(focus)?))
    }

    /// Field of view (rad) over an extent (m) of the sensor, focused at a distance: `2 atan(h /
    /// 2v)`.
    ///
    /// The breathing is that of unit focusing: nearer focus moves the lens away from the sensor and
    /// narrows the view.
    ///
    /// # Errors
    /// A focus distance that is not beyond the focal length; an extent that is not finite and above
    /// 0.
    pub fn field_of_view(self, extent: f64, focus: f64) -> Result<f64, LensError> {
        let extent = positive("the sensor's extent", extent)?;
        Ok(2.0 * (extent / 2.0 / self.image_distance(focus)?).atan())
    }
}

/// The focal length (m) that gives a field of view (rad, above 0 and below pi) over an extent (m),
/// focused at infinity.
///
/// # Errors
/// A field of view or extent out of range.
pub fn focal_length_from_fov(fov: f64, extent: f64) -> Result<f64, LensError> {
    let extent = positive("the sensor's extent", extent)?;
    if fov > 0.0 && fov < PI {
        Ok(extent / 2.0 / (fov / 2.0).tan())
    } else {
        let what = "the field of view in rad";
        Err(LensError::Value { what, value: fov, allowed: "above 0 and below pi" })
    }
}

pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, LensError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(LensError::Value { what, value, allowed: "finite and above 0" })
    }
}

/// The iris: the shape of the aperture.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Iris {
    /// Number of blades; fewer than 3 is a circle.
    pub blades: u32,
    /// Curvature of the edges, 0 (straight) to 1 (circular); clamped.
    pub curvature: f64,
    /// Angle (rad) of a corner from +X, counter-clockwise.
    pub rotation: f64,
}

impl Default for Iris {
    /// A circle.
    fn default() -> Self {
        Self { blades: 0, curvature: 0.0, rotation: 0.0 }
    }
}

impl Iris {
    /// Distance of the edge from the center at an angle (rad), relative to a corner; 0 to 1.
    ///
    /// A regular polygon, `cos(pi/n) / cos(a)` with `a` the angle to the middle of the side,
    /// interpolated linearly towards the circle through its corners by the curvature.
    #[must_use]
    pub fn edge(self, angle: f64) -> f64 {
        if self.blades < 3 {
            return 1.0;
        }
        let side = TAU / f64::from(self.blades);
        let to_middle = (angle - self.rotation).rem_euclid(side) - side / 2.0;
        let straight = (side / 2.0).cos() / to_middle.cos();
        straight + (1.0 - straight) * self.curvature.clamp(0.0, 1.0)
    }

    /// Area of the aperture over that of the circle through its corners; above 0, at most 1.
    ///
    /// Integrates [`Iris::edge`] over one side by the midpoint rule.
    #[must_use]
    pub fn relative_area(self) -> f64 {
        if self.blades < 3 {
            return 1.0;
        }
        let side = TAU / f64::from(self.blades);
        let steps = 256;
        let at = |i: u32| {
            self.edge(self.rotation + side * (f64::from(i) + 0.5) / f64::from(steps)).powi(2)
        };
        (0..steps).map(at).sum::<f64>() / f64::from(steps)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::near;

    #[test]
    fn field_of_view_breathes_the_right_way() {
        for (focal, focus, degrees) in [
            (0.024, 0.38, 70.186),
            (0.024, f64::INFINITY, 73.740),
            (0.024, 5.0, 73.475),
            (0.070, 0.38, 23.695),
            (0.070, f64::INFINITY, 28.842),
            (0.070, 5.0, 28.454),
            (0.050, 0.45, 35.489),
        ] {
            let fov = ThinLens::new(focal, 2.8).unwrap().field_of_view(0.036, focus).unwrap();
            near(fov.to_degrees(), degrees, 6e-4);
        }
        let lens = ThinLens::new(0.05, 2.0).unwrap();
        near(lens.image_distance(2.0).unwrap(), 0.05 * 2.0 / 1.95, 1e-15);
        near(1.0 / 0.05, 1.0 / 2.0 + 1.0 / lens.image_distance(2.0).unwrap(), 1e-12);
        near(
            focal_length_from_fov(lens.field_of_view(0.036, f64::INFINITY).unwrap(), 0.036)
                .unwrap(),
            0.05,
            1e-12,
        );
    }

    #[test]
    fn stops() {
        let macro_lens = ThinLens::new(0.1, 2.8).unwrap();
        // At 1:1 the lens is two stops slower.
        near(macro_lens.effective_f_number(0.2).unwrap(), 5.6, 1e-12);
        near(macro_lens.effective_f_number(f64::INFINITY).unwrap(), 2.8, 1e-12);
        near(ThinLens::new(0.05, 2.0).unwrap().aperture_diameter(), 0.025, 1e-15);
    }

    #[test]
    fn iris() {
        let hexagon = Iris { blades: 6, curvature: 0.0, rotation: 0.3 };
        near(hexagon.edge(0.3), 1.0, 1e-12);
        near(hexagon.edge(0.3 + PI / 6.0), 3.0_f64.sqrt() / 2.0, 1e-12);
        near(hexagon.relative_area(), 3.0 * 3.0_f64.sqrt() / (2.0 * PI), 1e-4);
        near(Iris { curvature: 1.0, ..hexagon }.relative_area(), 1.0, 1e-12);
        near(Iris::default().edge(1.0), 1.0, 0.0);
    }

    #[test]
    fn impossible_lenses_are_refused() {
        for bad in [0.0, -0.05, f64::NAN, f64::INFINITY] {
            assert!(matches!(ThinLens::new(bad, 2.0), Err(LensError::FocalLength(_))));
            assert!(matches!(ThinLens::new(0.05, bad), Err(LensError::FStop(_))));
            assert!(matches!(
                ThinLens::new(0.05, 2.0).unwrap().with_transmission(bad),
                Err(LensError::Transmission(_))
            ));
            assert!(ThinLens::new(0.05, 2.0).unwrap().field_of_view(bad, 1.0).is_err());
            assert!(
                focal_length_from_fov(1.0, bad).is_err()
                    && focal_length_from_fov(4.0, 0.036).is_err()
            );
        }
        for inside in [0.05, 0.01, 0.0, -1.0, f64::NAN] {
            let e = ThinLens::new(0.05, 2.0).unwrap().image_distance(inside).unwrap_err();
            assert!(
                matches!(e, LensError::FocusInside { .. }) && e.to_string().contains("50 mm"),
                "{e}"
            );
        }
    }
}
