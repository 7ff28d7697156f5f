//! Image files as linear Rec.709 light: OpenEXR, Radiance HDR, PNG and JPEG.
//!
//! The one reader of environment maps, compared images, reference images and flow maps. The first
//! bytes decide the format, whatever the file is called. Bytes are untrusted: sizes are checked
//! before memory is taken, and what cannot be used is an error of one line that names its cause.

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

/// The largest file that is read (bytes).
pub const MAX_FILE: u64 = 1 << 30;
/// The most pixels that an image may have: 8192x4096.
pub const MAX_PIXELS: u64 = 1 << 25;
/// Pixels along a side of an image, at most.
pub const MAX_SIDE: u64 = 1 << 15;

/// The greatest finite half float: what an infinity among half floats stands for at least.
const MAX_HALF: f32 = 65504.0;

/// What the numbers of an image stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Light of the scene: nits, or any other linear unit, without an upper end. From EXR and HDR
    /// files.
    Scene,
    /// Light of a display, 0 to 1, where 1 is its white. From PNG and JPEG files, decoded by the
    /// sRGB curve; profiles and gamma chunks are not looked at.
    Display,
}

/// Whether a size (pixels across and down) may be read; called before memory is taken.
pub type SizeCheck<'a> = &'a dyn Fn(u64, u64) -> Result<(), String>;

/// A map of vectors as its file stores it: size (pixels across and down), whether it has alpha,
/// texels with the top row first.
pub type Texels<T> = ([usize; 2], bool, Vec<T>);

/// An image as its file stores it, with what makes linear Rec.709 of it. Top row first.
#[derive(Clone, Debug)]
pub struct DecodedImage {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// What the numbers stand for.
    pub encoding: Encoding,
    /// What was done as the format demands, one line each.
    pub notes: Vec<String>,
    /// What the file leaves open or has against its format, and how it was read; one line each.
    pub remarks: Vec<String>,
    /// As stored.
    pixels: Vec<[f32; 3]>,
    /// Factors of the stored channels.
    scale: DVec3,
    /// The scaled channels to Rec.709; none where they are that.
    matrix: Option<DMat3>,
    /// Whether all channels are half floats.
    half: bool,
}

impl DecodedImage {
    /// An image in linear Rec.709, without any factor.
    fn plain(size: [usize; 2], pixels: Vec<[f32; 3]>, encoding: Encoding) -> Self {
        Self {
            width: size[0],
            height: size[1],
            encoding,
            notes: Vec::new(),
            remarks: Vec::new(),
            pixels,
            scale: DVec3::ONE,
            matrix: None,
            half: false,
        }
    }

    /// Reads the bytes of a file; `layer` names an EXR's layer or part.
    ///
    /// # Errors
    /// Why they are no image, or none that may be used, in one line.
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

    /// Linear Rec.709. Pixels with a channel that is infinite or no number are as they are stored.
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

    /// Linear Rec.709 that can be light, 0 to `MAX_NITS` in every channel, and one remark on what
    /// was not.
    ///
    /// An infinity stands for the greatest half float (65504) where the channels are half floats,
    /// for in them it is an overflow; else for the greatest finite value of the image. NaN and
    /// negative values count as 0.
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
            // Beyond what rounding leaves of a color on the border.
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
            (nan, "not numbers, counted as 0".to_owned()),
            (negative, "negative, counted as 0".to_owned()),
            (
                outside,
                "outside of the Rec.709 gamut, their negative channels counted as 0".to_owned(),
            ),
            (above, format!("above {MAX_NITS:e} nits, counted as that")),
        ];
        let told: Vec<String> = (parts.into_iter().filter(|(count, _)| *count > 0))
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let all = self.pixels.len();
        let remark = (!told.is_empty()).then(|| format!("of {all} pixels, {}", told.join("; ")));
        (self.pixels, remark)
    }

    /// From what is stored to linear Rec.709.
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

/// What a decoder answers, or an error where it panics: decoders of such formats have panicked on
/// damaged files before.
fn caught<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| Err(damaged("the decoder failed")))
}

/// Whether an image of that size may be read.
///
/// # Errors
/// The size, and what it may be.
pub fn check_size(width: u64, height: u64) -> Result<(), String> {
    // Metrics look at whole rows with their neighbors: a side is bounded too.
    let fits = width.checked_mul(height).is_some_and(|pixels| (1..=MAX_PIXELS).contains(&pixels));
    if !fits || width.max(height) > MAX_SIDE {
        return Err(format!(
            "{width}x{height} pixels; an image may have 1 to {MAX_PIXELS}, such as 8192x4096, and {MAX_SIDE} to a side"
        ));
    }
    Ok(())
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// What is wrong with the file, and what helps.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let mut file = File::open(path).map_err(|error| format!("{error}; check the path"))?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no file; name an image".into());
    }
    let too_large = |length: u64| {
        format!("{length} bytes are more than may be read ({limit}); make it smaller")
    };
    if metadata.len() > limit {
        return Err(too_large(metadata.len()));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed shows that there are more; the file may grow while it is read.
    file.by_ref()
        .take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("{error}; check the file"))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// A path, and the layer behind its last colon if there is one (`image.exr:diffuse`). A file whose
/// own name has a colon goes first.
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

/// Text from a file, fit for one line: without control characters, and not long.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line: String =
        text.chars().take(200).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(200).is_some() {
        line.push_str("...");
    }
    line
}

/// What a decoder says, as one line with a remedy.
fn damaged(error: impl ToString) -> String {
    let text = error.to_string();
    format!(
        "{}; it is damaged or uses what is not supported; save it again",
        one_line(text.lines().next().unwrap_or_default())
    )
}
