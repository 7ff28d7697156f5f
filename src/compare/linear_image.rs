//! Pictures to compare, from files or from memory: linear Rec.709, whatever they came in.
//!
//! The bytes of a file are not trusted: sizes are checked before memory is taken, and what cannot
//! be used is an error of one line. Pixels that are not finite are counted and made black, so that
//! no number computed later is spoiled.

use std::path::Path;

use crate::{
    camera::{Exposure, tonemap::ToneMapper},
    image_io::{self, DecodedImage},
    photometry::color,
};

pub use crate::image_io::{Encoding, MAX_FILE, MAX_PIXELS, MAX_SIDE};

/// A picture that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {detail}")]
pub struct LinearImageError {
    /// The file.
    pub file: String,
    /// What is wrong, and the remedy.
    pub detail: String,
}

/// A picture in linear Rec.709, top row first. All pixels are finite.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearImage {
    width: usize,
    height: usize,
    pixels: Vec<[f32; 3]>,
    encoding: Encoding,
    /// Places of pixels that were not finite, and what they were, as bits.
    not_finite: Vec<(u32, [u32; 3])>,
    notes: Vec<String>,
}

impl LinearImage {
    /// A picture in memory.
    ///
    /// # Errors
    /// The number of pixels is not width times height, or there are none.
    pub fn new(
        width: usize,
        height: usize,
        mut pixels: Vec<[f32; 3]>,
        encoding: Encoding,
    ) -> Result<Self, LinearImageError> {
        if width.checked_mul(height) != Some(pixels.len()) || pixels.is_empty() {
            return Err(LinearImageError {
                file: "picture".into(),
                detail: format!(
                    "{} pixels are not {width}x{height}; give as many as the size says, at least one",
                    pixels.len()
                ),
            });
        }
        let mut not_finite = Vec::new();
        for (index, pixel) in pixels.iter_mut().enumerate() {
            if pixel.iter().any(|channel| !channel.is_finite()) {
                not_finite.push((index as u32, pixel.map(bits)));
                *pixel = [0.0; 3];
            }
        }
        Ok(Self { width, height, pixels, encoding, not_finite, notes: Vec::new() })
    }

    /// A picture of luminances in nits, as `Picture::new` with `Encoding::Scene`.
    ///
    /// # Errors
    /// As `Picture::new`.
    pub fn from_nits(
        width: usize,
        height: usize,
        pixels: Vec<[f32; 3]>,
    ) -> Result<Self, LinearImageError> {
        Self::new(width, height, pixels, Encoding::Scene)
    }

    /// Reads a file: EXR, Radiance HDR, PNG or JPEG, told apart by their first bytes.
    ///
    /// `name` is a path; an EXR's layer may follow it after a colon (`picture.exr:direct_diffuse`).
    /// Without one it is the picture without a name, or what programs call their picture
    /// (`ViewLayer.Combined`), or the only one there is. A layer of one channel is a grey picture;
    /// alpha is ignored; where data and display window differ, the data are placed in the display
    /// window. `image_io` has the details.
    ///
    /// # Errors
    /// A file that cannot be read, is none of these, is damaged, too large, or has no such layer.
    pub fn load(name: &str) -> Result<Self, LinearImageError> {
        let invalid = |detail: String| LinearImageError { file: image_io::one_line(name), detail };
        let (path, layer) = image_io::split_layer(Path::new(name));
        let bytes = image_io::read_file(&path, MAX_FILE).map_err(invalid)?;
        Self::from_bytes(&bytes, layer.as_deref()).map_err(invalid)
    }

    /// Reads the bytes of a file, as `load`.
    ///
    /// # Errors
    /// What is wrong, without the file's name.
    pub fn from_bytes(bytes: &[u8], layer: Option<&str>) -> Result<Self, String> {
        let mut image = DecodedImage::decode(bytes, layer, &image_io::check_size)?;
        let notes = image.remarks.drain(..).chain(image.notes.drain(..)).collect();
        let (width, height, encoding) = (image.width, image.height, image.encoding);
        let picture = Self::new(width, height, image.into_linear_rgb(), encoding)
            .map_err(|error| error.detail)?;
        Ok(Self { notes, ..picture })
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

    /// The pixels in linear Rec.709, top row first, all finite; negative ones are possible in a
    /// scene's light.
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
        self.not_finite.len()
    }

    /// Whether the same pixels as in another picture were not finite, and the same in them: any NaN
    /// is like any other.
    #[must_use]
    pub fn same_not_finite(&self, other: &Self) -> bool {
        self.not_finite == other.not_finite
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

    /// The picture as a display would show it: a scene's light exposed and tone mapped, a display's
    /// light as it is.
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
        let not_finite = self.not_finite.clone();
        Self { pixels, encoding: Encoding::Display, not_finite, notes: Vec::new(), ..*self }
    }
}

/// The bits of a channel, those of one NaN for all.
const fn bits(channel: f32) -> u32 {
    if channel.is_nan() { f32::NAN.to_bits() } else { channel.to_bits() }
}

/// Luminance of a linear Rec.709 colour, in the unit of the channels.
#[must_use]
pub fn luminance(pixel: [f32; 3]) -> f32 {
    color::luminance(glam::Vec3::from_array(pixel).as_dvec3()) as f32
}
