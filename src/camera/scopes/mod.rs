//! Scopes: false color in stops, waveforms and histograms in exposure values, and Adams zones.
//! Input is luminance in nits, output is data or a picture with its legend. Deterministic: the same
//! picture gives the same bytes.
//!
//! The exposure value of a luminance is the reading of a reflected-light meter with K = 12.5,
//! `EV100 = log2(8 L)` (ISO 2720:1974). "Gray" is the luminance that the camera's exposure is set
//! for.

#[cfg(test)]
pub(crate) mod color_vision;
pub mod false_color;
pub mod font;
pub mod waveform;
pub mod zones;

pub use false_color::FalseColor;
pub use waveform::{EvRange, Waveform};
pub use zones::ZoneMap;

use super::metering::MeterError;
use crate::photometry::{Ev100, Nit};

/// sRGB red, green, blue.
pub type Rgb = [u8; 3];

/// A picture's luminances in nits, top row first; negative or non-finite ones count as black.
#[derive(Clone, Copy, Debug)]
pub struct Luminances<'a> {
    width: usize,
    height: usize,
    nits: &'a [f32],
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
fn ev_of(nits: f64) -> Option<f64> {
    (nits > 0.0 && nits.is_finite()).then(|| (nits * 8.0).log2())
}

/// The luminance of an exposure value: `2^EV / 8` nit (ISO 2720:1974, K = 12.5).
#[must_use]
pub fn luminance_of(ev: Ev100) -> Nit {
    Nit(ev.0.exp2() / 8.0)
}

/// Formats three significant digits with K, M, G for thousands, millions and billions, and powers
/// of ten below 0.01.
#[must_use]
pub fn short(value: f64) -> String {
    let digits = |v: f64| {
        let places = if v >= 99.95 {
            0
        } else if v >= 9.995 {
            1
        } else {
            2
        };
        format!("{v:.places$}")
    };
    if value == 0.0 {
        return "0".into();
    }
    match value.abs() {
        v if v < 0.01 => format!("{value:.1E}"),
        v if v < 999.5 => digits(value),
        v if v < 999.5e3 => digits(value / 1e3) + "K",
        v if v < 999.5e6 => digits(value / 1e6) + "M",
        _ => digits(value / 1e9) + "G",
    }
}

/// A picture of sRGB bytes: red, green, blue, alpha (always 255); top row first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    width: usize,
    height: usize,
    rgba: Vec<u8>,
}

impl Raster {
    /// A picture of one color.
    #[must_use]
    pub fn new(width: usize, height: usize, color: Rgb) -> Self {
        let [r, g, b] = color;
        Self { width, height, rgba: [r, g, b, 255].repeat(width * height) }
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

    /// The bytes, four a pixel.
    #[must_use]
    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }

    /// The color of a pixel; `None` outside the picture.
    #[must_use]
    pub fn get(&self, x: usize, y: usize) -> Option<Rgb> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y * self.width + x) * 4;
        Some([*self.rgba.get(at)?, *self.rgba.get(at + 1)?, *self.rgba.get(at + 2)?])
    }

    /// Sets a pixel; no effect outside the picture.
    pub fn set(&mut self, x: usize, y: usize, [r, g, b]: Rgb) {
        if x < self.width
            && y < self.height
            && let Some(pixel) = self.rgba.get_mut((y * self.width + x) * 4..)
        {
            for (to, from) in pixel.iter_mut().zip([r, g, b]) {
                *to = from;
            }
        }
    }

    /// Fills the part of a rectangle that lies inside of the picture.
    pub fn fill(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], color: Rgb) {
        for row in y..(y + height).min(self.height) {
            for column in x..(x + width).min(self.width) {
                self.set(column, row, color);
            }
        }
    }

    /// Copies another picture onto this one, its upper left corner at a position.
    pub fn paste(&mut self, [x, y]: [usize; 2], other: &Self) {
        for row in 0..other.height {
            for column in 0..other.width {
                if let Some(color) = other.get(column, row) {
                    self.set(x + column, y + row, color);
                }
            }
        }
    }

    /// Draws a line of text, its upper left corner at a position; each dot is `scale` x `scale`
    /// pixels.
    pub fn text(&mut self, [x, y]: [usize; 2], scale: usize, text: &str, color: Rgb) {
        for (index, character) in text.chars().enumerate() {
            for (row, bits) in font::glyph(character).into_iter().enumerate() {
                for column in
                    (0..font::WIDTH).filter(|column| bits >> (font::WIDTH - 1 - column) & 1 == 1)
                {
                    let at = [x + (index * font::ADVANCE + column) * scale, y + row * scale];
                    self.fill(at, [scale, scale], color);
                }
            }
        }
    }
}

/// Size of a font dot in pixels for a picture height.
fn text_scale(height: usize) -> usize {
    (height / 400).clamp(0, 7) + 1
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, want) in [
            (0.0, "0"),
            (0.00123, "1.2E-3"),
            (0.125, "0.12"),
            (9.999, "10.0"),
            (12.34, "12.3"),
            (999.4, "999"),
            (999.7, "1.00K"),
            (4096.0, "4.10K"),
            (1.4702e9, "1.47G"),
        ] {
            assert_eq!(short(value), want);
        }
    }

    #[test]
    fn a_raster_keeps_what_is_drawn_inside_of_it() {
        let mut raster = Raster::new(8, 8, [1, 2, 3]);
        raster.fill([6, 6], [9, 9], [9, 9, 9]);
        raster.set(100, 0, [5, 5, 5]);
        raster.text([0, 0], 1, "1", [255, 0, 0]);
        assert_eq!(raster.get(7, 7), Some([9, 9, 9]));
        assert_eq!(raster.get(5, 5), Some([1, 2, 3]));
        assert_eq!((raster.get(2, 0), raster.get(8, 0)), (Some([255, 0, 0]), None));
        assert_eq!(raster.rgba().len(), 8 * 8 * 4);
        assert!(raster.rgba().chunks_exact(4).all(|pixel| pixel[3] == 255));
        let mut onto = Raster::new(3, 3, [0; 3]);
        onto.paste([1, 1], &raster);
        assert_eq!(onto.get(1, 1), raster.get(0, 0));
    }

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
