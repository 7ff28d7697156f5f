//! Pictures to compare, from files or from memory: linear Rec.709, whatever they came in.
//!
//! The bytes of a file are not trusted: sizes are checked before memory is taken, and what cannot be used is an error
//! of one line. Pixels that are not finite are counted and made black, so that no number computed later is spoiled.

use std::{
    fs::File,
    io::{Cursor, Read as _},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};

use super::exr_layers;
use crate::{
    camera::{Exposure, tonemap::ToneMapper},
    photometry::color,
};

/// The largest file that is read (bytes).
pub const MAX_FILE: u64 = 1 << 30;
/// The most pixels that a picture may have: 8192x4096.
pub const MAX_PIXELS: u64 = 1 << 25;
/// Pixels along a side of a picture, at most.
pub const MAX_SIDE: u64 = 1 << 15;

/// What the numbers of a picture stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Light of the scene: nits, or any other linear unit, without an upper end. From EXR and HDR files.
    Scene,
    /// Light of a display, 0 to 1, where 1 is its white. From PNG and JPEG files, decoded by the sRGB curve; profiles
    /// and gamma chunks are not looked at.
    Display,
}

/// A picture that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {detail}")]
pub struct PictureError {
    /// The file.
    pub file: String,
    /// What is wrong, and the remedy.
    pub detail: String,
}

/// A picture in linear Rec.709, top row first. All pixels are finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<[f32; 3]>,
    encoding: Encoding,
    not_finite: usize,
    notes: Vec<String>,
}

impl Picture {
    /// A picture in memory.
    ///
    /// # Errors
    /// The number of pixels is not width times height, or there are none.
    pub fn new(
        width: usize,
        height: usize,
        mut pixels: Vec<[f32; 3]>,
        encoding: Encoding,
    ) -> Result<Self, PictureError> {
        if width.checked_mul(height) != Some(pixels.len()) || pixels.is_empty() {
            return Err(PictureError {
                file: "picture".into(),
                detail: format!(
                    "{} pixels are not {width}x{height}; give as many as the size says, at least one",
                    pixels.len()
                ),
            });
        }
        let mut not_finite = 0;
        for pixel in &mut pixels {
            if pixel.iter().any(|channel| !channel.is_finite()) {
                not_finite += 1;
                *pixel = [0.0; 3];
            }
        }
        Ok(Self { width, height, pixels, encoding, not_finite, notes: Vec::new() })
    }

    /// A picture of luminances in nits, as `Picture::new` with `Encoding::Scene`.
    ///
    /// # Errors
    /// As `Picture::new`.
    pub fn from_nits(width: usize, height: usize, pixels: Vec<[f32; 3]>) -> Result<Self, PictureError> {
        Self::new(width, height, pixels, Encoding::Scene)
    }

    /// Reads a file: EXR, Radiance HDR, PNG or JPEG, told apart by their first bytes.
    ///
    /// `name` is a path; an EXR's layer may follow it after a colon (`picture.exr:direct_diffuse`). Without one it is
    /// the picture without a name, or the only one there is. A layer of one channel is a grey picture; alpha is
    /// ignored; where data and display window differ, the data are placed in the display window.
    ///
    /// # Errors
    /// A file that cannot be read, is none of these, is damaged, too large, or has no such layer.
    pub fn load(name: &str) -> Result<Self, PictureError> {
        let (path, layer) = split_layer(name);
        let oops = |detail: String| PictureError { file: one_line(name), detail };
        let mut file = File::open(path).map_err(|error| oops(format!("{error}; check the path")))?;
        let metadata = file.metadata().map_err(|error| oops(error.to_string()))?;
        if !metadata.is_file() {
            return Err(oops("it is no file; name a picture".into()));
        }
        let mut bytes = Vec::new();
        // One byte more than allowed shows that there are more; the file may grow while it is read.
        file.by_ref()
            .take(MAX_FILE + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| oops(format!("{error}; check the file")))?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(oops(format!("more than {MAX_FILE} bytes; make it smaller")));
        }
        Self::from_bytes(&bytes, layer).map_err(oops)
    }

    /// Reads the bytes of a file, as `load`.
    ///
    /// # Errors
    /// What is wrong, without the file's name.
    pub fn from_bytes(bytes: &[u8], layer: Option<&str>) -> Result<Self, String> {
        // Decoders of such formats have panicked on broken files before.
        let read = catch_unwind(AssertUnwindSafe(|| Self::decode(bytes, layer)));
        read.unwrap_or_else(|_| Err(damaged("the decoder failed")))
    }

    fn decode(bytes: &[u8], layer: Option<&str>) -> Result<Self, String> {
        let exr = bytes.starts_with(&[0x76, 0x2f, 0x31, 0x01]);
        if let (Some(layer), false) = (layer, exr) {
            return Err(format!("only an EXR has layers; leave out ':{}'", one_line(layer)));
        }
        let (size, pixels, encoding, notes) = if exr {
            let read = exr_layers::read(bytes, layer)?;
            ([read.width, read.height], read.pixels, Encoding::Scene, read.notes)
        } else if bytes.starts_with(b"#?") {
            let (size, pixels) = read_hdr(bytes)?;
            (size, pixels, Encoding::Scene, Vec::new())
        } else if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            let (size, pixels) = read_display(bytes, ImageFormat::Png)?;
            (size, pixels, Encoding::Display, Vec::new())
        } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
            let (size, pixels) = read_display(bytes, ImageFormat::Jpeg)?;
            (size, pixels, Encoding::Display, Vec::new())
        } else {
            return Err("neither EXR, HDR, PNG nor JPEG by its first bytes; convert it to one of these".into());
        };
        let mut picture = Self::new(size[0], size[1], pixels, encoding).map_err(|error| error.detail)?;
        picture.notes = notes;
        Ok(picture)
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

    /// The pixels in linear Rec.709, top row first, all finite; negative ones are possible in a scene's light.
    #[must_use]
    pub fn pixels(&self) -> &[[f32; 3]] {
        &self.pixels
    }

    /// What the numbers stand for.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How many pixels had a channel that was infinite or no number; they are black here.
    #[must_use]
    pub const fn not_finite(&self) -> usize {
        self.not_finite
    }

    /// What was done while reading that a person should know, one line each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The luminance of each pixel, in the unit of the channels.
    #[must_use]
    pub fn luminance(&self) -> Vec<f32> {
        self.pixels.iter().map(|pixel| luminance(*pixel)).collect()
    }

    /// The picture as a display would show it: a scene's light exposed and tone mapped, a display's light as it is.
    #[must_use]
    pub fn displayed(&self, exposure: Exposure, mapper: ToneMapper) -> Self {
        if self.encoding == Encoding::Display {
            return self.clone();
        }
        let multiplier = exposure.multiplier();
        let pixels = self
            .pixels
            .iter()
            .map(|pixel| {
                let exposed = pixel.map(|channel| (f64::from(channel) * multiplier) as f32);
                mapper.apply(exposed.into()).to_array()
            })
            .collect();
        Self { pixels, encoding: Encoding::Display, notes: Vec::new(), ..*self }
    }
}

/// Luminance of a linear Rec.709 colour, in the unit of the channels.
#[must_use]
pub fn luminance(pixel: [f32; 3]) -> f32 {
    color::luminance(glam::Vec3::from_array(pixel).as_dvec3()) as f32
}

/// A path, and the layer behind its last colon if there is one. A file whose own name has a colon goes first.
fn split_layer(name: &str) -> (&Path, Option<&str>) {
    let whole = Path::new(name);
    if whole.exists() {
        return (whole, None);
    }
    match name.rsplit_once(':') {
        Some((path, layer)) if path.to_ascii_lowercase().ends_with(".exr") => {
            (Path::new(path), Some(layer).filter(|layer| !layer.is_empty()))
        }
        _ => (whole, None),
    }
}

/// Text from a file, fit for one line: without control characters, and not long.
pub(super) fn one_line(text: &str) -> String {
    let mut line: String = text.chars().take(200).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(200).is_some() {
        line.push_str("...");
    }
    line
}

/// What a decoder says, as one line with a remedy.
pub(super) fn damaged(error: impl ToString) -> String {
    let text = error.to_string();
    format!(
        "{}; it is damaged or uses what is not supported; save it again",
        one_line(text.lines().next().unwrap_or_default())
    )
}

/// The size of a picture, if it may be read.
pub(super) fn check_size(width: u64, height: u64) -> Result<[usize; 2], String> {
    // Metrics look at whole rows with their neighbours: a side is bounded too.
    let fits = width.checked_mul(height).is_some_and(|pixels| (1..=MAX_PIXELS).contains(&pixels));
    if !fits || width.max(height) > MAX_SIDE {
        return Err(format!(
            "{width}x{height} pixels; a picture may have 1 to {MAX_PIXELS}, such as 8192x4096, and {MAX_SIDE} to a side"
        ));
    }
    Ok([width as usize, height as usize])
}

type Read = ([usize; 2], Vec<[f32; 3]>);

fn read_hdr(bytes: &[u8]) -> Result<Read, String> {
    let decoder = image::codecs::hdr::HdrDecoder::new(Cursor::new(bytes)).map_err(damaged)?;
    let metadata = decoder.metadata();
    let size = check_size(u64::from(metadata.width), u64::from(metadata.height))?;
    // A run of equal pixels takes two bytes a channel and at most 127 pixels; fewer bytes cannot be a whole picture.
    if (size[0] as u64 * size[1] as u64) / 32 > bytes.len() as u64 {
        return Err(damaged("fewer bytes than the size needs"));
    }
    // Radiance's EXPOSURE has been multiplied into the pixels (Ward, "Real Pixels", Graphics Gems II, 1991).
    let exposure = metadata.exposure.filter(|exposure| exposure.is_normal() && *exposure > 0.0).unwrap_or(1.0);
    let mut raw = vec![0; size[0] * size[1] * 12];
    decoder.read_image(&mut raw).map_err(damaged)?;
    let float = |four: &[u8]| four.try_into().map_or(0.0, f32::from_ne_bytes) / exposure;
    let pixels = raw.chunks_exact(12).map(|p| [float(&p[0..4]), float(&p[4..8]), float(&p[8..12])]).collect();
    Ok((size, pixels))
}

fn read_display(bytes: &[u8], format: ImageFormat) -> Result<Read, String> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    // Eight bytes a pixel at most (16 bits, four channels), twice for conversion.
    limits.max_alloc = Some(MAX_PIXELS * 16);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    let size = check_size(u64::from(width), u64::from(height))?;
    let picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    let wide = matches!(
        picture,
        DynamicImage::ImageLuma16(_)
            | DynamicImage::ImageLumaA16(_)
            | DynamicImage::ImageRgb16(_)
            | DynamicImage::ImageRgba16(_)
    );
    let curve = |codes: u32| -> Vec<f32> {
        (0..=codes).map(|code| color::srgb_eotf(f64::from(code) / f64::from(codes)) as f32).collect()
    };
    let pixels = if wide {
        let curve = curve(65535);
        picture.into_rgb16().pixels().map(|pixel| pixel.0.map(|code| curve[usize::from(code)])).collect()
    } else {
        let curve = curve(255);
        picture.into_rgb8().pixels().map(|pixel| pixel.0.map(|code| curve[usize::from(code)])).collect()
    };
    Ok((size, pixels))
}
