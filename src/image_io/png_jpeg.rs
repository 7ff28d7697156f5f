//! PNG and JPEG: display light, decoded by the sRGB curve.

use std::io::Cursor;

use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits};

use super::{
    decoded_image::{DecodedImage, Encoding, Texels},
    error_text::{ImageError, caught, damaged},
    format::Format,
    limits::{MAX_PIXELS, SizeCheck},
};
use crate::photometry::color;

/// Reads a PNG or JPEG.
pub(super) fn read(
    bytes: &[u8],
    format: Format,
    check: SizeCheck<'_>,
) -> Result<DecodedImage, ImageError> {
    let picture = picture(bytes, format, check)?;
    let wide = matches!(
        picture,
        DynamicImage::ImageLuma16(_)
            | DynamicImage::ImageLumaA16(_)
            | DynamicImage::ImageRgb16(_)
            | DynamicImage::ImageRgba16(_)
    );
    let size = [picture.width() as usize, picture.height() as usize];
    let curve = |codes: u32| -> Vec<f32> {
        (0..=codes)
            .map(|code| color::srgb_eotf(f64::from(code) / f64::from(codes)) as f32)
            .collect()
    };
    let pixels = if wide {
        let curve = curve(65535);
        picture
            .into_rgb16()
            .pixels()
            .map(|pixel| pixel.0.map(|code| curve[usize::from(code)]))
            .collect()
    } else {
        let curve = curve(255);
        picture
            .into_rgb8()
            .pixels()
            .map(|pixel| pixel.0.map(|code| curve[usize::from(code)]))
            .collect()
    };
    let mut image = DecodedImage::plain(size, pixels, Encoding::Display);
    if format == Format::Jpeg && has_gain_map(bytes) {
        image.warnings.push(
            "the JPEG's HDR gain map is not supported: highlights are clipped at white".into(),
        );
    }
    if format == Format::Png && color_space(bytes) == Some(VIDEO) {
        image.warnings.push(format!(
            "the PNG's colors are {VIDEO}, which is not supported: they are read as sRGB"
        ));
    }
    Ok(image)
}

/// Reads a PNG as 16-bit codes of red, green, blue and alpha, with its size and whether it has
/// alpha. 8-bit codes are multiplied by 257.
///
/// # Errors
/// The PNG is damaged or gray, or its size is rejected.
pub fn read_rgba16(bytes: &[u8], check: SizeCheck<'_>) -> Result<Texels<[u16; 4]>, ImageError> {
    let picture = caught(|| picture(bytes, Format::Png, check))?;
    let kind = picture.color();
    if !kind.has_color() {
        return Err(ImageError::Gray);
    }
    let size = [picture.width() as usize, picture.height() as usize];
    Ok((size, kind.has_alpha(), picture.into_rgba16().pixels().map(|pixel| pixel.0).collect()))
}

fn picture(bytes: &[u8], format: Format, check: SizeCheck<'_>) -> Result<DynamicImage, ImageError> {
    let format = if format == Format::Png { ImageFormat::Png } else { ImageFormat::Jpeg };
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    // At most eight bytes per pixel (16 bits, four channels), twice for conversion.
    limits.max_alloc = Some(MAX_PIXELS * 16);
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    check(u64::from(width), u64::from(height)).map_err(ImageError::Size)?;
    DynamicImage::from_decoder(decoder).map_err(damaged)
}

/// True if a JPEG has an HDR gain map, by its segments before the scan: Ultra HDR, ISO 21496-1,
/// Ward's JPEG-HDR.
fn has_gain_map(bytes: &[u8]) -> bool {
    const NAMES: [&[u8]; 4] = [b"hdrgm:", b"ns.adobe.com/hdr-gain-map", b"iso:ts:21496", b"HDR_RI"];
    let start = bytes.get(..1 << 16).unwrap_or(bytes);
    NAMES.iter().any(|name| start.windows(name.len()).any(|window| window == *name))
}

const VIDEO: &str = "those of a video standard (cICP)";

/// The color space that a PNG declares (PNG 1.2 section 4.2.2, PNG 3 section 11.3.2); `None` if it
/// declares none, or linear values.
#[must_use]
pub fn color_space(bytes: &[u8]) -> Option<&'static str> {
    let mut rest = bytes.get(8..)?;
    loop {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (kind, data) = after.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        match kind {
            b"sRGB" => return Some("sRGB"),
            b"iCCP" => return Some("those of a profile (iCCP)"),
            b"cICP" => return Some(VIDEO),
            b"gAMA" if data.get(..4) != Some(&100_000u32.to_be_bytes()) => {
                return Some("gamma-encoded (gAMA)");
            }
            b"IDAT" | b"IEND" => return None,
            _ => {}
        }
        rest = data.get(length.checked_add(4)?..)?;
    }
}
