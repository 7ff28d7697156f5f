//! Focus: the circle of confusion, depth of field, hyperfocal distance.
//!
//! Lengths are meters; distances are measured from the lens along its axis and may be infinite.

use super::lens::{LensError, ThinLens, positive};

/// Signed diameter (m) on the sensor of the blur of a point: negative in front of the focus,
/// positive behind it.
///
/// `f^2 / (N (S - f)) * (Z - S) / Z` for focus `S` and point `Z`: similar triangles through the
/// entrance pupil (Potmesil and Chakravarty, "A lens and aperture camera model for synthetic image
/// generation", SIGGRAPH 1981).
///
/// # Errors
/// A focus that is not beyond the focal length, or a point that is not in front of the lens (`Z`
/// above 0).
pub fn circle_of_confusion(lens: ThinLens, focus: f64, distance: f64) -> Result<f64, LensError> {
    if distance.is_nan() || distance <= 0.0 {
        let what = "the distance of the point in m";
        return Err(LensError::Value { what, value: distance, allowed: "above 0" });
    }
    let magnification = lens.magnification(focus)?;
    // m (Z - S) / Z written with S m = f (1 + m), so that an infinite S or Z leaves no infinity
    // over infinity.
    let image = lens.focal_length() * (1.0 + magnification);
    Ok(lens.aperture_diameter() * (magnification - image / distance))
}

/// A diameter on the sensor in pixels, from the extents of the sensor (m) and the picture (pixels)
/// in one direction.
#[must_use]
pub fn to_pixels(diameter: f64, sensor_extent: f64, pixels: u32) -> f64 {
    diameter * f64::from(pixels) / sensor_extent
}

/// Acceptable circle of confusion in m: the sensor's diagonal over 1500 (0.029 mm for 36 x 24 mm).
///
/// Ray, "Applied Photographic Optics", 3rd ed. (depth of field): customary criteria are d/1000 to
/// d/1500.
#[must_use]
pub fn acceptable_blur(sensor_width: f64, sensor_height: f64) -> f64 {
    sensor_width.hypot(sensor_height) / 1500.0
}

/// The nearest focus (m) at which infinity is still sharp: `f^2 / (N c) + f` for an acceptable blur
/// `c` (m).
///
/// Ray, "Applied Photographic Optics", 3rd ed. (depth of field).
///
/// # Errors
/// A blur that is not finite and above 0.
pub fn hyperfocal(lens: ThinLens, blur: f64) -> Result<f64, LensError> {
    let f = lens.focal_length();
    Ok(f * f / (lens.f_stop() * positive("the acceptable blur", blur)?) + f)
}

/// Range of sharp distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FocusRange {
    /// The nearest sharp distance (m).
    pub near: f64,
    /// The farthest sharp distance (m); infinite from the hyperfocal distance on.
    pub far: f64,
}

/// Depth of field: the distances at which `circle_of_confusion` equals `blur` (m).
///
/// `near = S f^2 / (f^2 + N c (S - f))`, `far = S f^2 / (f^2 - N c (S - f))`: Ray, "Applied
/// Photographic Optics", 3rd ed. (depth of field), here in terms of aperture and magnification.
///
/// # Errors
/// A focus that is not beyond the focal length, or a blur that is not finite and above 0.
pub fn depth_of_field(lens: ThinLens, focus: f64, blur: f64) -> Result<FocusRange, LensError> {
    let blur = positive("the acceptable blur", blur)?;
    let magnification = lens.magnification(focus)?;
    let image = lens.focal_length() * (1.0 + magnification);
    let at = |signed: f64| image / (magnification + signed / lens.aperture_diameter());
    let far = at(-blur);
    Ok(FocusRange { near: at(blur), far: if far > 0.0 { far } else { f64::INFINITY } })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} is not {want} within {tolerance}");
    }

    fn lens(millimeters: f64, f_stop: f64) -> ThinLens {
        ThinLens::new(millimeters * 1e-3, f_stop).unwrap()
    }

    #[test]
    fn blur() {
        let mm = |lens, s, z| circle_of_confusion(lens, s, z).unwrap() * 1e3;
        near(mm(lens(50.0, 2.0), 2.0, f64::INFINITY), 0.641_026, 5e-7);
        near(mm(lens(50.0, 2.0), 2.0, 4.0), 0.320_513, 5e-7);
        near(mm(lens(50.0, 2.8), 1.0, 2.0), 0.469_925, 5e-7);
        near(mm(lens(50.0, 2.0), 2.0, 2.0), 0.0, 1e-12);
        near(mm(lens(50.0, 2.0), 2.0, 1.0), -0.641_026, 5e-7);
        // Focused at infinity the blur is the pupil seen from the point.
        near(mm(lens(50.0, 2.0), f64::INFINITY, 10.0), -25.0 * 0.05 / 10.0, 1e-12);
        near(mm(lens(50.0, 2.0), f64::INFINITY, f64::INFINITY), 0.0, 0.0);
        near(to_pixels(0.000_360, 0.036, 1920), 19.2, 1e-9);
    }

    #[test]
    fn hyperfocal_and_depth() {
        let l = lens(50.0, 8.0);
        let h = hyperfocal(l, 0.03e-3).unwrap();
        near(h * 1e3, 10_466.7, 0.05);
        let at_h = depth_of_field(l, h * (1.0 + 1e-9), 0.03e-3).unwrap();
        assert!(at_h.far > 1e6);
        near(at_h.near, h / 2.0, 1e-6);
        for s in [0.5, 2.0, 8.0] {
            let d = depth_of_field(l, s, 0.03e-3).unwrap();
            assert!(d.near < s && s < d.far);
            near(circle_of_confusion(l, s, d.near).unwrap(), -0.03e-3, 1e-12);
            near(circle_of_confusion(l, s, d.far).unwrap(), 0.03e-3, 1e-12);
            // The textbook's form.
            let (f, k) = (0.05_f64, 8.0 * 0.03e-3 * (s - 0.05));
            near(d.near, s * f * f / (f * f + k), 1e-12);
            near(d.far, s * f * f / (f * f - k), 1e-9);
        }
        let infinite = depth_of_field(l, f64::INFINITY, 0.03e-3).unwrap();
        assert_eq!(infinite.far, f64::INFINITY);
        near(infinite.near, h - 0.05, 1e-9);
        near(acceptable_blur(0.036, 0.024) * 1e3, 0.02884, 1e-5);
    }

    #[test]
    fn impossible_points_are_refused() {
        for bad in [0.0, -1.0, f64::NAN] {
            assert!(circle_of_confusion(lens(50.0, 2.0), 2.0, bad).is_err());
            assert!(hyperfocal(lens(50.0, 2.0), bad).is_err());
            assert!(depth_of_field(lens(50.0, 2.0), 2.0, bad).is_err());
        }
        assert!(circle_of_confusion(lens(50.0, 2.0), 0.04, 2.0).is_err());
    }
}
