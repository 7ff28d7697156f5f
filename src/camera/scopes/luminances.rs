//! Luminances of a picture, and their exposure values.

use crate::{
    camera::metering::MeterError,
    photometry::{Ev100, Nit},
};

/// A picture's luminances in nits, top row first; negative or non-finite ones count as black.
#[derive(Clone, Copy, Debug)]
pub struct Luminances<'a> {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) nits: &'a [f32],
}

impl<'a> Luminances<'a> {
    /// Luminances of a picture of this size, at least 1 x 1.
    ///
    /// # Errors
    /// [`MeterError::Extents`] if width times height is not their number.
    pub fn new(nits: &'a [f32], width: usize, height: usize) -> Result<Self, MeterError> {
        if nits.is_empty() || width.checked_mul(height) != Some(nits.len()) {
            return Err(MeterError::Extents { width, height, pixels: nits.len() });
        }
        Ok(Self { width, height, nits })
    }

    /// Pixels across.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }
}

/// The exposure value of a luminance in nits; `None` for black and non-finite values.
pub(super) fn ev_of(nits: f64) -> Option<f64> {
    (nits > 0.0 && nits.is_finite()).then(|| (nits * 8.0).log2())
}

/// The luminance of an exposure value: `2^EV / 8` nit (ISO 2720:1974, K = 12.5).
#[must_use]
pub fn luminance_of(ev: Ev100) -> Nit {
    Nit(ev.0.exp2() / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_as_many_pixels_as_its_size_says() {
        assert!(Luminances::new(&[], 0, 0).is_err());
        assert!(Luminances::new(&[1.0; 5], 2, 3).is_err());
        assert!(Luminances::new(&[1.0; 4], usize::MAX, 2).is_err());
        assert!(Luminances::new(&[512.0; 6], 2, 3).is_ok());
        assert_eq!((ev_of(512.0), ev_of(0.0), ev_of(f64::NAN)), (Some(12.0), None, None));
        assert_eq!(luminance_of(Ev100(15.0)), Nit(4096.0));
    }
}
