//! Image files as linear Rec.709 light: OpenEXR, Radiance HDR, PNG and JPEG.
//!
//! The reader of environment maps, compared images, reference images and flow maps. The first bytes
//! decide the format, not the file name. Files are untrusted: sizes are checked before memory is
//! allocated, and errors are one line that names the cause.

mod chromaticity;
pub mod coded_image;
mod decoded_image;
pub mod double_exr;
mod error_text;
pub mod exr;
mod format;
mod limits;
mod png_jpeg;
mod radiance_hdr;
pub mod render_metadata;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use decoded_image::{DecodedImage, Encoding, Texels};
pub use error_text::{ImageError, one_line};
pub use format::Format;
pub use limits::{MAX_FILE, MAX_PIXELS, MAX_SIDE, SizeCheck, check_size};
pub use png_jpeg::{color_space, read_rgba16};
pub use render_metadata::{LightPasses, RenderMetadata, RendererName};

use crate::message;
use error_text::caught;

impl DecodedImage {
    /// Decodes the bytes of a file; `layer` names a layer or part of an EXR.
    ///
    /// # Errors
    /// Why the bytes are not an acceptable image.
    pub fn decode(
        bytes: &[u8],
        layer: Option<&str>,
        check: SizeCheck<'_>,
    ) -> Result<Self, ImageError> {
        caught(|| {
            let format = Format::of(bytes)?;
            if let (Some(layer), true) = (layer, format != Format::Exr) {
                let text = format!("only an EXR has layers; leave out ':{}'", one_line(layer));
                return Err(ImageError::Layer(text));
            }
            match format {
                Format::Exr => exr::read(bytes, layer, check),
                Format::Radiance => radiance_hdr::read(bytes, check),
                Format::Png | Format::Jpeg => png_jpeg::read(bytes, format, check),
            }
        })
    }
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// One line: what is wrong with the file, and the remedy.
pub fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    message::read_file(path, limit, "an image file")
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
