//! Images to compare, from files or memory, as linear Rec.709.
//!
//! File contents are not trusted: sizes are checked before memory is allocated, and errors are one
//! line. Pixels that are not finite are counted and set to black, so that they do not spoil later
//! computations.

use std::path::Path;

use glam::{Mat3, Vec3};

use crate::{
    camera::{Exposure, tonemap::ToneMapper},
    image_io::{self, DecodedImage, ImageError, RenderMetadata},
    photometry::color,
};

pub use crate::image_io::{Encoding, MAX_FILE, MAX_PIXELS, MAX_SIDE};

/// An invalid image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {detail}")]
pub struct LinearImageError {
    /// Path of the file.
    pub file: String,
    /// The defect and its remedy.
    pub detail: String,
}

/// An image in linear Rec.709, top row first. All pixels are finite.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearImage {
    width: usize,
    height: usize,
    pixels: Vec<[f32; 3]>,
    encoding: Encoding,
    /// Indices of pixels that were not finite, with the bits of their channels.
    not_finite: Vec<(u32, [u32; 3])>,
    notes: Vec<String>,
    metadata: Option<RenderMetadata>,
}

impl LinearImage {
    /// Creates an image from pixels in memory.
    ///
    /// # Errors
    /// The number of pixels is 0, or not width times height.
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
                    "expected {width}x{height} pixels, at least one; got {}",
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
        Ok(Self { width, height, pixels, encoding, not_finite, notes: Vec::new(), metadata: None })
    }

    /// Creates an image from luminances in nits, as `LinearImage::new` with `Encoding::Scene`.
    ///
    /// # Errors
    /// As `LinearImage::new`.
    pub fn from_nits(
        width: usize,
        height: usize,
        pixels: Vec<[f32; 3]>,
    ) -> Result<Self, LinearImageError> {
        Self::new(width, height, pixels, Encoding::Scene)
    }

    /// Reads a file: EXR, Radiance HDR, PNG or JPEG, detected by the first bytes.
    ///
    /// `name` is a path; a layer of an EXR may follow after a colon (`picture.exr:direct_diffuse`).
    /// The default layer is the unnamed one, a conventional main layer (`ViewLayer.Combined`), or
    /// the only one. A layer of one channel is a gray image; alpha is ignored. The data window is
    /// placed in the display window. `image_io` has the details.
    ///
    /// # Errors
    /// [`LinearImageError`]: a file that cannot be read, has another format, is damaged or too
    /// large, or does not have the layer.
    pub fn load(name: &str) -> Result<Self, LinearImageError> {
        let invalid = |detail: String| LinearImageError { file: image_io::one_line(name), detail };
        let (path, layer) = image_io::split_layer(Path::new(name));
        let bytes = image_io::read_file(&path, MAX_FILE).map_err(invalid)?;
        Self::from_bytes(&bytes, layer.as_deref()).map_err(|error| invalid(error.to_string()))
    }

    /// Decodes the bytes of a file, as `load`.
    ///
    /// # Errors
    /// The defect and its remedy, without the file's name.
    pub fn from_bytes(bytes: &[u8], layer: Option<&str>) -> Result<Self, ImageError> {
        let mut image = DecodedImage::decode(bytes, layer, &image_io::check_size)?;
        let notes = image.warnings.drain(..).chain(image.notes.drain(..)).collect();
        let metadata = image.metadata.take();
        let (width, height, encoding) = (image.width, image.height, image.encoding);
        let picture = Self::new(width, height, image.into_linear_rgb(), encoding)
            .map_err(|error| ImageError::Damaged(error.detail))?;
        Ok(Self { notes, metadata, ..picture })
    }

    /// Width in pixels.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// The pixels in linear Rec.709, top row first, all finite. Scene light may be negative.
    #[must_use]
    pub fn pixels(&self) -> &[[f32; 3]] {
        &self.pixels
    }

    /// Encoding of the values: scene light or display light.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Number of pixels with a channel that was NaN or infinite; they are black here.
    #[must_use]
    pub const fn not_finite(&self) -> usize {
        self.not_finite.len()
    }

    /// True if both images had the same non-finite values in the same pixels; all NaNs are equal.
    #[must_use]
    pub fn same_not_finite(&self, other: &Self) -> bool {
        self.not_finite == other.not_finite
    }

    /// Warnings of the decoder, one line each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Adds a note.
    #[must_use]
    pub fn with_note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }

    /// How the picture was rendered; `None` if the file does not say.
    #[must_use]
    pub const fn metadata(&self) -> Option<&RenderMetadata> {
        self.metadata.as_ref()
    }

    /// The picture with other pixels, all else equal.
    #[must_use]
    pub fn map(&self, pixel: impl Fn(usize, [f32; 3]) -> [f32; 3]) -> Self {
        let pixels =
            self.pixels.iter().enumerate().map(|(index, value)| pixel(index, *value)).collect();
        let (not_finite, notes, metadata) =
            (self.not_finite.clone(), self.notes.clone(), self.metadata.clone());
        Self { pixels, not_finite, notes, metadata, ..*self }
    }

    /// Luminance of each pixel, in the unit of the channels.
    #[must_use]
    pub fn luminance(&self) -> Vec<f32> {
        self.pixels.iter().map(|pixel| luminance(*pixel) as f32).collect()
    }

    /// The image as displayed: scene light is exposed, white balanced and tone mapped, display
    /// light is unchanged. `white_balance` applies to exposed linear Rec.709.
    #[must_use]
    pub fn displayed(&self, exposure: Exposure, white_balance: Mat3, mapper: ToneMapper) -> Self {
        if self.encoding == Encoding::Display {
            return self.clone();
        }
        let multiplier = exposure.multiplier();
        let balanced = |exposed: Vec3| {
            // The product would make NaN of infinity.
            if white_balance == Mat3::IDENTITY { exposed } else { white_balance * exposed }
        };
        let shown = self.map(|_, pixel| {
            let exposed = pixel.map(|channel| (f64::from(channel) * multiplier) as f32);
            mapper.apply(balanced(exposed.into())).to_array()
        });
        Self { encoding: Encoding::Display, notes: Vec::new(), ..shown }
    }
}

/// The bits of a channel, with one representation for all NaNs.
const fn bits(channel: f32) -> u32 {
    if channel.is_nan() { f32::NAN.to_bits() } else { channel.to_bits() }
}

/// Luminance of a linear Rec.709 color, in the unit of the channels.
#[must_use]
pub fn luminance(pixel: [f32; 3]) -> f64 {
    color::luminance(Vec3::from_array(pixel).as_dvec3())
}
