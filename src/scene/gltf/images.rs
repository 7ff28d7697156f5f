//! Images (glTF 2.0 section 3.8.3): PNG, JPEG, WebP and KTX2 from buffer views, data URIs and
//! files. A missing or broken image becomes a conspicuous error pattern.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use rayon::prelude::*;
use serde_json::Value;

use super::{
    MAX_FILE_BYTES, MAX_IMAGE_ALLOCATION, MAX_IMAGE_SIZE, MAX_PIXEL_BYTES,
    accessor::{Bytes as Encoded, ReadError, Store},
    files::Files,
    json::{extension, index, items, text},
    ktx2::{self, Decoded},
    report::{At, ImportReport, one_line},
    uri,
};
use crate::{
    image_io::coded_image::{CodeReader, Codec},
    scene::Image,
};

/// The error pattern: magenta and black, 8 x 8 texels.
fn error_pattern(name: String) -> Image {
    let pixels: Vec<u8> = (0..64u32)
        .flat_map(|i| if (i % 8 + i / 8) % 2 == 0 { [255, 0, 255, 255] } else { [0, 0, 0, 255] })
        .collect();
    Image {
        name,
        width: 8,
        height: 8,
        rgba8: Arc::from(pixels),
        is_error_pattern: true,
        compressed: None,
    }
}

/// A placeholder for an image that nothing shown uses.
fn placeholder(name: String) -> Image {
    Image {
        name,
        width: 1,
        height: 1,
        rgba8: Arc::from([255u8; 4]),
        is_error_pattern: false,
        compressed: None,
    }
}

/// MIME type by the first bytes.
fn recognize(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(&[0xff, 0xd8]) {
        Some("image/jpeg")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else if bytes.starts_with(&ktx2::MAGIC) {
        Some("image/ktx2")
    } else {
        None
    }
}

/// Uses of an image by the shown materials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Use {
    /// As colors, which are sRGB-encoded.
    pub(super) color: bool,
    /// As linear data.
    pub(super) data: bool,
}

impl Use {
    const fn any(self) -> bool {
        self.color || self.data
    }
}

/// Checks the structure of a file without decoding, such as a truncated end. Decoders accept some
/// of these errors, so the image may still be shown.
fn structure(bytes: &[u8], kind: &str) -> Result<(), String> {
    let be = |at: usize, size: usize| -> Option<usize> {
        let part = bytes.get(at..at.checked_add(size)?)?;
        Some(part.iter().fold(0usize, |sum, &byte| sum << 8 | usize::from(byte)))
    };
    let cut = || "the file is truncated".to_owned();
    if kind == "image/png" {
        return png_end(bytes).map_err(|_| cut());
    }
    if kind == "image/webp" {
        // RIFF: bytes 4 to 7 hold the length of everything after them.
        let stated =
            bytes.get(4..8).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes);
        return if stated as usize > bytes.len().saturating_sub(8) { Err(cut()) } else { Ok(()) };
    }
    if kind == "image/jpeg" {
        let mut at = 2usize;
        loop {
            if be(at, 1).ok_or_else(cut)? != 0xff {
                return Err(format!("expected a JPEG marker at byte {at}"));
            }
            let marker = be(at + 1, 1).ok_or_else(cut)?;
            match marker {
                // Fill bytes.
                0xff => {
                    at += 1;
                    continue;
                }
                // Compressed data or the end: left to the decoder.
                0xd9 | 0xda => return Ok(()),
                _ => {}
            }
            let length = be(at + 2, 2).ok_or_else(cut)?;
            if length < 2 {
                return Err(format!("invalid JPEG segment length {length} at byte {at}"));
            }
            at += 2 + length;
        }
    }
    Ok(())
}

/// Walks the chunks of a PNG (PNG 1.2 section 3.2) to the last one. If that is missing, the error
/// is the end of the last complete chunk.
fn png_end(bytes: &[u8]) -> Result<(), usize> {
    let mut at = 8usize;
    loop {
        let length =
            bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes);
        let next = length
            .and_then(|length| at.checked_add(usize::try_from(length).ok()?)?.checked_add(12));
        let Some(next) = next.filter(|next| *next <= bytes.len()) else { return Err(at) };
        if bytes.get(at + 4..at + 8) == Some(b"IEND") {
            return Ok(());
        }
        at = next;
    }
}

/// Appends the missing end chunk to a PNG that has all of its pixels, so that the decoder accepts
/// it.
fn with_end(bytes: &[u8]) -> Cow<'_, [u8]> {
    const END: &[u8] = b"\0\0\0\0IEND\xae\x42\x60\x82";
    match png_end(bytes) {
        Err(at)
            if recognize(bytes) == Some("image/png")
                && bytes.get(at + 4..at + 8) != Some(b"IDAT") =>
        {
            Cow::Owned([bytes.get(..at).unwrap_or_default(), END].concat())
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// Decodes to eight bits a channel; wider channels lose their low bits, with a note.
fn decode(bytes: &[u8], color: bool) -> Result<Decoded, String> {
    let run = || -> Result<Decoded, String> {
        if recognize(bytes) == Some("image/ktx2") {
            return ktx2::decode(bytes, color);
        }
        let whole = with_end(bytes);
        let image = reader(&whole)?.decode()?;
        let notes = if image.is_wide {
            vec!["16 bits a channel are converted to eight".to_owned()]
        } else {
            Vec::new()
        };
        let [width, height] = image.size;
        let rgba8 = image.into_rgba8();
        Ok(Decoded { width, height, rgba8, blocks: None, srgb: None, notes })
    };
    // Such decoders have panicked on malformed files.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(decoded)) if decoded.width > 0 && decoded.height > 0 => Ok(decoded),
        Ok(Ok(_)) => Err("it has no pixels".into()),
        Ok(Err(error)) => Err(error),
        Err(_) => Err("the decoder failed".into()),
    }
}

fn reader(bytes: &[u8]) -> Result<CodeReader<'_>, String> {
    let codec = match recognize(bytes) {
        Some("image/png") => Codec::Png,
        Some("image/jpeg") => Codec::Jpeg,
        Some("image/webp") => Codec::WebP,
        _ => return Err("The image format could not be determined".into()),
    };
    let reader = CodeReader::new(bytes, codec, MAX_IMAGE_ALLOCATION)?;
    if reader.size().iter().any(|side| *side > MAX_IMAGE_SIZE) {
        return Err("Image size exceeds limit".into());
    }
    Ok(reader)
}

/// Bytes of the decoded pixels.
fn pixel_bytes(bytes: &[u8]) -> Result<u64, String> {
    if recognize(bytes) == Some("image/ktx2") {
        let run = AssertUnwindSafe(|| ktx2::decoded_bytes(bytes));
        return catch_unwind(run).unwrap_or_else(|_| Err("the decoder failed".into()));
    }
    let size = catch_unwind(AssertUnwindSafe(|| reader(bytes).map(|reader| reader.size())));
    let [width, height] = size.unwrap_or_else(|_| Err("the decoder failed".into()))?;
    Ok(u64::from(width) * u64::from(height) * 4)
}

/// An image's name, its encoded bytes if it must be decoded, its uses, and its structural error.
type Job<'a> = (String, Option<Encoded<'a>>, Use, Option<String>);

/// Reads all images; decodes those that are used.
pub(super) fn load(
    root: &Value,
    store: &Store<'_>,
    files: &Files<'_>,
    uses: &[Use],
    report: &mut ImportReport,
) -> Vec<Image> {
    let at = At::ROOT;
    let place = at.key("images");
    let mut pixels = 0u64;
    let mut jobs: Vec<Job<'_>> = Vec::new();
    let mut looked_at = 0u64;
    let listed = |wanted: &str| items(root, "extensionsUsed").iter().any(|name| name == wanted);
    let known = Extensions { webp: listed("EXT_texture_webp"), ktx2: listed("KHR_texture_basisu") };
    for (i, image) in items(root, "images").iter().enumerate() {
        let at = place.index(i);
        let used = uses.get(i).copied().unwrap_or_default();
        let needed = used.any();
        let name = name(image, i);
        let mut odd = None;
        let mut bytes = fetch(image, store, files, &at, report);
        // Any number of images may name the same bytes, so the total work is bounded.
        looked_at =
            looked_at.saturating_add(bytes.as_ref().map_or(0, |bytes| bytes.get().len() as u64));
        if looked_at > MAX_FILE_BYTES {
            bytes = Err(format!("all images together exceed {MAX_FILE_BYTES} bytes"));
        }
        if let Ok(found) = &bytes {
            let found = found.get();
            match check(image, found, known, needed, &at, report) {
                Ok(()) => {
                    odd = recognize(found).and_then(|kind| structure(found, kind).err());
                    let size = if needed { pixel_bytes(found) } else { Ok(0) };
                    match size {
                        Ok(size) if pixels + size <= MAX_PIXEL_BYTES => pixels += size,
                        Ok(_) => {
                            bytes = Err(format!(
                                "all images together exceed {MAX_PIXEL_BYTES} bytes of pixels"
                            ))
                        }
                        Err(problem) => bytes = Err(problem),
                    }
                }
                Err(problem) => bytes = Err(problem),
            }
        }
        let bytes = match bytes {
            Ok(bytes) => Some(bytes),
            Err(problem) => {
                let shown =
                    if needed { "; an error pattern is shown" } else { "; it is not shown" };
                report.repair(at, format!("image '{name}': {problem}{shown}"));
                None
            }
        };
        if let Some(odd) = odd.as_ref().filter(|_| !needed) {
            report.repair(at, format!("image '{name}': {odd}; it is not shown"));
        }
        // Bytes of images that are not decoded are not kept.
        jobs.push((name, bytes.filter(|_| needed), used, odd));
    }
    type Outcome = (Image, Option<String>, Vec<String>);
    let decoded: Vec<Outcome> = jobs
        .into_par_iter()
        .map(|(name, bytes, used, odd)| match bytes {
            Some(bytes) => match decode(bytes.get(), used.color) {
                Ok(Decoded { width, height, rgba8, blocks, srgb, mut notes }) => {
                    notes.extend(transfer_note(srgb, used));
                    let blocks = blocks.map(Arc::new);
                    let rgba8 = Arc::from(rgba8);
                    let repair = odd.map(|odd| format!("{odd}; shown as far as it can be decoded"));
                    (
                        Image {
                            name,
                            width,
                            height,
                            rgba8,
                            is_error_pattern: false,
                            compressed: blocks,
                        },
                        repair,
                        notes,
                    )
                }
                Err(problem) => (
                    error_pattern(name),
                    Some(format!("{problem}; an error pattern is shown")),
                    Vec::new(),
                ),
            },
            None if used.any() => (error_pattern(name), None, Vec::new()),
            None => (placeholder(name), None, Vec::new()),
        })
        .collect();
    let mut images = Vec::with_capacity(decoded.len());
    for (i, (image, problem, notes)) in decoded.into_iter().enumerate() {
        if let Some(problem) = problem {
            report.repair(place.index(i), format!("image '{}': {problem}", image.name));
        }
        for note in notes {
            report.unsupported(place.index(i), format!("image '{}': {note}", image.name));
        }
        images.push(image);
    }
    images
}

/// Note on the transfer function. KHR_texture_basisu: colors are sRGB-encoded, all else is linear;
/// the material decides which a texel is.
fn transfer_note(srgb: Option<bool>, used: Use) -> Option<String> {
    match srgb {
        Some(false) if used.color => Some("declared linear but used as color; read as sRGB".into()),
        Some(true) if used.data => Some("declared sRGB but used as data; read as linear".into()),
        _ => None,
    }
}

/// Image extensions that the document lists.
#[derive(Clone, Copy)]
struct Extensions {
    webp: bool,
    ktx2: bool,
}

fn name(image: &Value, number: usize) -> String {
    let (name, uri) = (text(image, "name"), text(image, "uri"));
    if !name.is_empty() {
        one_line(name)
    } else if !uri.is_empty() && !uri::is_data(uri) {
        one_line(uri)
    } else {
        format!("image {number}")
    }
}

/// An image's encoded bytes.
fn fetch<'a>(
    image: &'a Value,
    store: &'a Store<'_>,
    files: &Files<'_>,
    at: &At<'_>,
    report: &mut ImportReport,
) -> Result<Encoded<'a>, String> {
    let (view, uri) = (index(image, "bufferView"), image.get("uri").and_then(Value::as_str));
    if view.is_some() && uri.is_some() {
        report.repair(at, "both a bufferView and a uri; the bufferView is used");
    }
    if let Some(view) = view {
        if image.get("mimeType").is_none() {
            report.repair(
                at.key("bufferView"),
                "no mimeType; the format is recognized by its first bytes",
            );
        }
        if store.views.get(view).copied().flatten().is_some_and(|view| view.stride.is_some()) {
            report.repair(
                at.key("bufferView"),
                "a view with a stride holds an image; the stride is ignored",
            );
        }
        return store.view(view).map(Encoded::Borrowed).map_err(ReadError::text);
    }
    let Some(uri) = uri else { return Err("neither a bufferView nor a uri".into()) };
    let fetched = files.fetch(uri)?;
    fetched.warn(at.key("uri"), report);
    if let Some(mime) = fetched.mime.as_deref() {
        if !matches!(mime, "image/png" | "image/jpeg" | "image/webp" | "image/ktx2") {
            report.repair(at.key("uri"), format!("a data URI of the type '{}'", one_line(mime)));
        } else if recognize(&fetched.bytes).is_some_and(|found| found != mime) {
            report.repair(
                at.key("uri"),
                format!("a data URI of type '{mime}' that holds another format"),
            );
        }
    }
    Ok(Encoded::Shared(fetched.bytes))
}

/// Checks the format against the declared one.
fn check(
    image: &Value,
    bytes: &[u8],
    known: Extensions,
    needed: bool,
    at: &At<'_>,
    report: &mut ImportReport,
) -> Result<(), String> {
    let found = recognize(bytes);
    let stated = text(image, "mimeType");
    if !stated.is_empty() && found.is_some_and(|found| found != stated) {
        report.repair(
            at.key("mimeType"),
            format!("'{stated}' is declared but the data has another format"),
        );
    }
    match found {
        Some("image/webp") if !known.webp => {
            report.repair(at, "a WebP image without EXT_texture_webp; read anyway");
            Ok(())
        }
        Some("image/ktx2") if !known.ktx2 => {
            report.repair(at, "a KTX2 image without KHR_texture_basisu; read anyway");
            Ok(())
        }
        Some(_) => Ok(()),
        None if needed => Err("neither PNG, JPEG, WebP nor KTX2; convert it".into()),
        None => Ok(()),
    }
}

/// The image of a texture: that of an extension, which is smaller or better, else the core one.
pub(super) fn source(texture: &Value) -> Option<usize> {
    ["KHR_texture_basisu", "EXT_texture_webp"]
        .into_iter()
        .find_map(|name| extension(texture, name).and_then(|found| index(found, "source")))
        .or_else(|| index(texture, "source"))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use image::ImageFormat;

    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut out = Vec::new();
        let image = image::RgbaImage::from_fn(width, height, |x, y| {
            image::Rgba([x as u8, y as u8, 7, 255])
        });
        image.write_to(&mut Cursor::new(&mut out), ImageFormat::Png).unwrap();
        out
    }

    #[test]
    fn pixels_come_back_top_row_first() {
        let image = decode(&png(2, 2), true).unwrap();
        assert_eq!((image.width, image.height), (2, 2));
        assert_eq!(image.rgba8, [0, 0, 7, 255, 1, 0, 7, 255, 0, 1, 7, 255, 1, 1, 7, 255]);
    }

    #[test]
    fn sixteen_bits_become_eight() {
        let mut out = Vec::new();
        let image: image::ImageBuffer<image::Rgb<u16>, _> =
            image::ImageBuffer::from_pixel(1, 1, image::Rgb([65535u16, 0x8080, 0]));
        image.write_to(&mut Cursor::new(&mut out), ImageFormat::Png).unwrap();
        let decoded = decode(&out, true).unwrap();
        assert_eq!(decoded.rgba8, [255, 128, 0, 255]);
        assert_eq!(decoded.notes.len(), 1);
        assert!(decode(&png(1, 1), true).unwrap().notes.is_empty());
    }

    #[test]
    fn cut_files_are_found_without_decoding() {
        let bytes = png(4, 4);
        assert!(structure(&bytes, "image/png").is_ok());
        for length in 8..bytes.len() {
            assert!(structure(&bytes[..length], "image/png").is_err(), "{length}");
        }
    }

    #[test]
    fn odd_bytes_are_taken_as_the_decoders_take_them() {
        let mut jpeg = Vec::new();
        let even = image::RgbImage::from_pixel(64, 64, image::Rgb([200, 100, 50]));
        even.write_to(&mut Cursor::new(&mut jpeg), ImageFormat::Jpeg).unwrap();
        let table = jpeg.windows(2).position(|two| two == [0xff, 0xdb]).unwrap();
        let with = |at: usize, more: &[u8]| [&jpeg[..at], more, &jpeg[at..]].concat();
        let png = png(4, 4);
        let ends = jpeg.len();
        let mut webp = Vec::new();
        even.write_to(&mut Cursor::new(&mut webp), ImageFormat::WebP).unwrap();
        for (what, bytes) in [
            ("stray zeros", with(table, &[0, 0, 0])),
            ("a stray byte", with(table, &[0])),
            ("a stray byte after the first marker", with(2, &[7])),
            ("fill bytes", with(table, &[0xff; 3])),
            ("a tail", with(ends, b"tail")),
            ("no end marker", jpeg[..ends - 2].to_vec()),
            ("WebP", webp.clone()),
            ("WebP with a tail", [&webp[..], b"tail!"].concat()),
        ] {
            let found = decode(&bytes, true).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!((found.width, found.height), (64, 64), "{what}");
            let near = found.rgba8[..3]
                .iter()
                .zip([200i32, 100, 50])
                .all(|(a, b)| (i32::from(*a) - b).abs() < 5);
            assert!(near, "{what}: {:?}", &found.rgba8[..3]);
        }
        let right = decode(&png, true).unwrap().rgba8;
        for (what, bytes) in [
            ("no IEND", png[..png.len() - 12].to_vec()),
            ("half of IEND", png[..png.len() - 6].to_vec()),
            ("a tail", [&png[..], b"<!-- -->"].concat()),
        ] {
            let found = decode(&bytes, true).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(found.rgba8, right, "{what}");
        }
    }

    #[test]
    fn too_large_a_picture_is_refused_before_it_is_decoded() {
        let mut bytes = png(1, 1);
        // The width in IHDR; the checksum is then wrong too, which is rejected as well.
        bytes[16..20].copy_from_slice(&100_000u32.to_be_bytes());
        assert!(decode(&bytes, true).is_err());
    }

    #[test]
    fn the_error_pattern_is_a_checker_of_magenta() {
        let image = error_pattern("x".into());
        assert_eq!(image.rgba8.len(), 256);
        assert!(image.is_error_pattern);
        assert_eq!(image.rgba8[..8], [255, 0, 255, 255, 0, 0, 0, 255]);
        assert_eq!(image.rgba8[32..36], [0, 0, 0, 255]);
    }
}
