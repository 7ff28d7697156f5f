//! PNG and JPEG: display light, decoded by the sRGB curve.

use super::{
    coded_image::{CodeReader, Codec, CodedImage},
    decoded_image::{DecodedImage, Encoding, Texels},
    error_text::{ImageError, caught, damaged},
    format::Format,
    limits::{MAX_PIXELS, SizeCheck},
    render_metadata,
};
use crate::photometry::color;

/// Reads a PNG or JPEG.
pub(super) fn read(
    bytes: &[u8],
    format: Format,
    check: SizeCheck<'_>,
) -> Result<DecodedImage, ImageError> {
    let codec = if format == Format::Png { Codec::Png } else { Codec::Jpeg };
    let picture = picture(bytes, codec, check)?;
    let max = picture.max_code();
    let curve: Vec<f32> =
        (0..=max).map(|code| color::srgb_eotf(f64::from(code) / f64::from(max)) as f32).collect();
    let pixels =
        picture.rgba().map(|[r, g, b, _]| [r, g, b].map(|code| curve[usize::from(code)])).collect();
    let size = picture.size.map(|side| side as usize);
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
    if format == Format::Png
        && let Some(text) = text_chunk(bytes, render_metadata::NAME)
    {
        image.read_metadata(text);
    }
    Ok(image)
}

/// Reads a PNG as 16-bit codes of red, green, blue and alpha, with its size and whether it has
/// alpha. 8-bit codes are multiplied by 257.
///
/// # Errors
/// The PNG is damaged or gray, or its size is rejected.
pub fn read_rgba16(bytes: &[u8], check: SizeCheck<'_>) -> Result<Texels<[u16; 4]>, ImageError> {
    let picture = caught(|| picture(bytes, Codec::Png, check))?;
    if picture.channels < 3 {
        return Err(ImageError::Gray);
    }
    let scale = u16::MAX / picture.max_code();
    let texels = picture.rgba().map(|texel| texel.map(|code| code * scale)).collect();
    Ok((picture.size.map(|side| side as usize), picture.channels == 4, texels))
}

fn picture(bytes: &[u8], codec: Codec, check: SizeCheck<'_>) -> Result<CodedImage, ImageError> {
    // At most eight bytes per pixel (16 bits, four channels), twice for conversion.
    let reader = CodeReader::new(bytes, codec, MAX_PIXELS * 16).map_err(damaged)?;
    let [width, height] = reader.size();
    check(u64::from(width), u64::from(height)).map_err(ImageError::Size)?;
    reader.decode().map_err(damaged)
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
    chunks(bytes).find_map(|(kind, data)| match kind {
        b"sRGB" => Some("sRGB"),
        b"iCCP" => Some("those of a profile (iCCP)"),
        b"cICP" => Some(VIDEO),
        b"gAMA" if data.get(..4) != Some(&100_000u32.to_be_bytes()) => Some("gamma-encoded (gAMA)"),
        _ => None,
    })
}

/// Text of the first uncompressed text chunk with a keyword (PNG 1.2, section 4.2.3).
fn text_chunk<'a>(bytes: &'a [u8], keyword: &str) -> Option<&'a [u8]> {
    chunks(bytes)
        .filter(|(kind, _)| *kind == b"tEXt")
        .find_map(|(_, data)| data.strip_prefix(keyword.as_bytes())?.strip_prefix(b"\0"))
}

/// Type and data of the chunks of a PNG before its pixels; the last one may be cut.
fn chunks(bytes: &[u8]) -> impl Iterator<Item = (&[u8; 4], &[u8])> {
    let mut rest = bytes.get(8..);
    std::iter::from_fn(move || {
        let (length, after) = rest?.split_first_chunk::<4>()?;
        let (kind, data) = after.split_first_chunk::<4>()?;
        let length = u32::from_be_bytes(*length) as usize;
        // A checksum of four bytes follows the data.
        rest = length.checked_add(4).and_then(|end| data.get(end..));
        let is_header = !matches!(kind, b"IDAT" | b"IEND");
        is_header.then(|| (kind, data.get(..length).unwrap_or(data)))
    })
}
