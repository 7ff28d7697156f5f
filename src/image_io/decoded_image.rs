//! Decoded images, and their conversion to linear Rec.709.

use glam::{DMat3, DVec3};

use super::{
    chromaticity::{Conversion, Primaries},
    error_text::one_line,
    render_metadata::{self, RenderMetadata},
};
use crate::photometry::environment::MAX_NITS;

/// The greatest finite half float, the minimum of what an infinite half float represents.
const MAX_HALF: f32 = 65504.0;

/// Meaning of pixel values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Scene light: nits or another linear unit, without an upper limit. From EXR and HDR files.
    Scene,
    /// Display light, 0 to 1, where 1 is white. From PNG and JPEG files, decoded by the sRGB curve;
    /// color profiles and gamma chunks are ignored.
    Display,
}

/// A vector map as stored: size (width and height in pixels), whether it has alpha, and texels, top
/// row first.
pub type Texels<T> = ([usize; 2], bool, Vec<T>);

/// An image as stored, with its conversion to linear Rec.709. Top row first.
#[derive(Clone, Debug)]
pub struct DecodedImage {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Meaning of the pixel values.
    pub encoding: Encoding,
    /// Applied conversions that the format specifies, one line each.
    pub notes: Vec<String>,
    /// Warnings about ambiguous or invalid content and its interpretation, one line each.
    pub warnings: Vec<String>,
    /// How the picture was rendered; `None` if the file does not say.
    pub metadata: Option<RenderMetadata>,
    /// Pixels as stored.
    pub(super) pixels: Vec<[f32; 3]>,
    /// Scale factors of the stored channels.
    pub(super) scale: DVec3,
    /// Matrix from scaled channels to Rec.709; `None` if they are Rec.709.
    pub(super) matrix: Option<DMat3>,
    /// True if all channels are half floats.
    pub(super) half: bool,
}

impl DecodedImage {
    /// An image in linear Rec.709 without scaling.
    pub(super) fn plain(size: [usize; 2], pixels: Vec<[f32; 3]>, encoding: Encoding) -> Self {
        Self {
            width: size[0],
            height: size[1],
            encoding,
            notes: Vec::new(),
            warnings: Vec::new(),
            metadata: None,
            pixels,
            scale: DVec3::ONE,
            matrix: None,
            half: false,
        }
    }

    /// Converts to linear Rec.709. Pixels with a NaN or infinite channel stay as stored.
    #[must_use]
    pub fn into_linear_rgb(mut self) -> Vec<[f32; 3]> {
        let convert = self.conversion();
        for pixel in &mut self.pixels {
            if pixel.iter().all(|channel| channel.is_finite()) {
                *pixel = convert(*pixel);
            }
        }
        self.pixels
    }

    /// Converts to linear Rec.709 that is valid light, 0 to `MAX_NITS` per channel, with one
    /// warning about clamped values.
    ///
    /// Infinity becomes the greatest half float (65504) if the channels are half floats, where it
    /// is an overflow; otherwise the greatest finite value of the image. NaN and negative values
    /// become 0.
    #[must_use]
    pub fn into_bounded_rgb(mut self) -> (Vec<[f32; 3]>, Option<String>) {
        let channels = || self.pixels.iter().flatten();
        let greatest = channels().copied().filter(|value| value.is_finite()).fold(0.0, f32::max);
        let bound = match (self.half, greatest) {
            (true, _) => greatest.max(MAX_HALF),
            (false, 0.0) => MAX_HALF,
            (false, greatest) => greatest,
        };
        let convert = self.conversion();
        let (mut infinite, mut nan, mut negative, mut outside, mut above) = (0, 0, 0, 0, 0);
        for pixel in &mut self.pixels {
            let has = |kind: fn(&f32) -> bool| usize::from(pixel.iter().any(kind));
            infinite += has(|value| *value == f32::INFINITY);
            nan += has(|value| value.is_nan());
            negative += has(|value| *value < 0.0);
            // `max` drops NaN.
            let light = convert(pixel.map(|value| value.max(0.0).min(bound)));
            let greatest = light.iter().copied().fold(0.0, f32::max);
            // The threshold exceeds the rounding error of colors on the gamut boundary.
            outside += usize::from(light.iter().any(|value| *value < -1e-3 * greatest));
            above += usize::from(greatest > MAX_NITS);
            *pixel = light.map(|value| value.clamp(0.0, MAX_NITS));
        }
        let unit = |value: f32| {
            let [r, g, b] = convert([value; 3]);
            if (r - b).abs() <= 1e-3 * g.abs() {
                format!("{g} nits")
            } else {
                format!("{value} in the file")
            }
        };
        let why = if self.half { "the greatest half float" } else { "the greatest finite value" };
        let parts = [
            (infinite, format!("infinite, counted as {} ({why})", unit(bound))),
            (nan, "NaN, counted as 0".to_owned()),
            (negative, "negative, counted as 0".to_owned()),
            (
                outside,
                "outside of the Rec.709 gamut, their negative channels counted as 0".to_owned(),
            ),
            (above, format!("above {MAX_NITS:e} nits, clamped")),
        ];
        let told: Vec<String> = (parts.into_iter().filter(|(count, _)| *count > 0))
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let all = self.pixels.len();
        let warning = (!told.is_empty()).then(|| format!("of {all} pixels, {}", told.join("; ")));
        (self.pixels, warning)
    }

    /// Applies the conversion from other primaries, which `place` declares.
    pub(super) fn convert(&mut self, primaries: Primaries, place: &str) {
        match primaries.conversion() {
            Conversion::Same => {}
            Conversion::Matrix(matrix) => {
                self.matrix = Some(matrix);
                self.notes
                    .push(format!("converted from {} to Rec.709 ({place})", primaries.name()));
            }
            Conversion::Impossible => {
                self.warnings
                    .push(format!("{place} has invalid primaries: colors are read as Rec.709"));
            }
        }
    }

    /// Takes the text of a file about its rendering; an invalid one gives a warning.
    pub(super) fn read_metadata(&mut self, text: &[u8]) {
        match RenderMetadata::from_text(text) {
            Ok(metadata) => self.metadata = Some(metadata),
            Err(error) => self.warnings.push(format!(
                "invalid metadata '{}', which is ignored: {}",
                render_metadata::NAME,
                one_line(&error)
            )),
        }
    }

    /// Conversion of stored pixels to linear Rec.709.
    fn conversion(&self) -> impl Fn([f32; 3]) -> [f32; 3] + use<> {
        let (scale, matrix) = (self.scale, self.matrix);
        let plain = scale == DVec3::ONE && matrix.is_none();
        move |pixel| {
            if plain {
                return pixel;
            }
            let scaled = DVec3::from_array(pixel.map(f64::from)) * scale;
            matrix.map_or(scaled, |matrix| matrix * scaled).as_vec3().to_array()
        }
    }
}
