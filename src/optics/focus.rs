//! The circle of confusion of a thin lens.
//!
//! Lengths are meters; distances are measured from the lens along its axis and may be infinite.

use super::thin_lens::{LensError, ThinLens};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::near;

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
    fn impossible_points_are_refused() {
        for bad in [0.0, -1.0, f64::NAN] {
            assert!(circle_of_confusion(lens(50.0, 2.0), 2.0, bad).is_err());
        }
        assert!(circle_of_confusion(lens(50.0, 2.0), 0.04, 2.0).is_err());
    }
}
