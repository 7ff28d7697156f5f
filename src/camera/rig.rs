//! A lens on a body, focused, for a picture of an aspect.

use super::body::SensorSize;
use crate::optics::{LensError, ThinLens, thin_lens::focal_length_from_fov};

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
        let image_distance = focal_length_from_fov(fov, gate.height)?;
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
mod tests {
    use super::*;

    const FULL_FRAME: SensorSize = SensorSize { width: 0.036, height: 0.024 };

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
}
