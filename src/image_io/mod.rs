//! Image files as linear Rec.709 light: OpenEXR, Radiance HDR, PNG and JPEG.
//!
//! The reader of environment maps, compared images, reference images and flow maps. The first bytes
//! decide the format, not the file name. Files are untrusted: sizes are checked before memory is
//! allocated, and errors are one line that names the cause.

mod chromaticity;
pub mod exr;
mod format;
mod png_jpeg;
mod radiance_hdr;

#[cfg(test)]
mod tests;

use std::{
    fs::File,
    io::Read as _,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use glam::{DMat3, DVec3};

use crate::photometry::environment::MAX_NITS;

pub use format::Format;
pub use png_jpeg::{color_space, read_rgba16};

/// Maximum size of a file in bytes.
pub const MAX_FILE: u64 = 1 << 30;
/// Maximum number of pixels of an image: 8192x4096.
pub const MAX_PIXELS: u64 = 1 << 25;
/// Maximum side length of an image in pixels.
pub const MAX_SIDE: u64 = 1 << 15;

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

/// Checks whether an image of this size (width and height in pixels) is accepted, before memory is
/// allocated.
pub type SizeCheck<'a> = &'a dyn Fn(u64, u64) -> Result<(), String>;

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
    /// Pixels as stored.
    pixels: Vec<[f32; 3]>,
    /// Scale factors of the stored channels.
    scale: DVec3,
    /// Matrix from scaled channels to Rec.709; `None` if they are Rec.709.
    matrix: Option<DMat3>,
    /// True if all channels are half floats.
    half: bool,
}

impl DecodedImage {
    /// An image in linear Rec.709 without scaling.
    fn plain(size: [usize; 2], pixels: Vec<[f32; 3]>, encoding: Encoding) -> Self {
        Self {
            width: size[0],
            height: size[1],
            encoding,
            notes: Vec::new(),
            warnings: Vec::new(),
            pixels,
            scale: DVec3::ONE,
            matrix: None,
            half: false,
        }
    }

    /// Decodes the bytes of a file; `layer` names a layer or part of an EXR.
    ///
    /// # Errors
    /// One line: why the bytes are not an acceptable image.
    pub fn decode(bytes: &[u8], layer: Option<&str>, check: SizeCheck<'_>) -> Result<Self, String> {
        caught(|| {
            let format = Format::of(bytes)?;
            if let (Some(layer), true) = (layer, format != Format::Exr) {
                return Err(format!("only an EXR has layers; leave out ':{}'", one_line(layer)));
            }
            match format {
                Format::Exr => exr::read(bytes, layer, check),
                Format::Radiance => radiance_hdr::read(bytes, check),
                Format::Png | Format::Jpeg => png_jpeg::read(bytes, format, check),
            }
        })
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

/// Runs a decoder and converts a panic to an error: decoders of these formats have panicked on
/// damaged files.
fn caught<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| Err(damaged("the decoder failed")))
}

/// Checks the size of an image in pixels.
///
/// # Errors
/// One line: the size and its limits.
pub fn check_size(width: u64, height: u64) -> Result<(), String> {
    // Metrics process whole rows with their neighbors, so sides are limited too.
    let fits = width.checked_mul(height).is_some_and(|pixels| (1..=MAX_PIXELS).contains(&pixels));
    if !fits || width.max(height) > MAX_SIDE {
        return Err(format!(
            "{width}x{height} pixels; expected 1 to {MAX_PIXELS} in total, such as 8192x4096, and \
             at most {MAX_SIDE} per side"
        ));
    }
    Ok(())
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// One line: what is wrong with the file, and the remedy.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let mut file = File::open(path).map_err(|error| format!("{error}; check the path"))?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file; give an image file".into());
    }
    let too_large =
        |length: u64| format!("{length} bytes exceed the limit of {limit}; reduce the image");
    if metadata.len() > limit {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::new();
    // Reads one byte more than allowed to detect excess, since the file may grow while it is read.
    file.by_ref()
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("{error}; check the file"))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// Splits a name into a path and the layer after the last colon, if any (`image.exr:diffuse`). An
/// existing file whose name has a colon takes precedence.
#[must_use]
pub fn split_layer(name: &Path) -> (PathBuf, Option<String>) {
    let parts = name.to_str().filter(|_| !name.exists()).and_then(|name| name.rsplit_once(':'));
    match parts {
        Some((path, layer)) if path.to_ascii_lowercase().ends_with(".exr") => {
            (path.into(), Some(layer.to_owned()).filter(|layer| !layer.is_empty()))
        }
        _ => (name.into(), None),
    }
}

/// Text from a file, made safe for one line: no control characters, limited length.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line: String =
        text.chars().take(200).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(200).is_some() {
        line.push_str("...");
    }
    line
}

/// A decoder's error as one line with a remedy.
fn damaged(error: impl ToString) -> String {
    let text = error.to_string();
    format!(
        "{}; it is damaged or uses an unsupported feature; save it again",
        one_line(text.lines().next().unwrap_or_default())
    )
}
