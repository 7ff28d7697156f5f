//! KTX 2.0 textures (Khronos, "KTX File Format Specification" 2.0): Basis Universal, block
//! compression and uncompressed texels, with optional Zstandard or ZLIB supercompression. Every
//! size in the header is checked against the file before memory is allocated.

use std::io::Read;

use half::f16;
use ktx2::{ColorModel, Header, Reader, SupercompressionScheme, TransferFunction};

use super::{
    MAX_IMAGE_ALLOCATION, MAX_IMAGE_SIZE,
    basis::{self, Basis},
    blocks::{self, Coding},
};
use crate::{
    photometry::color::srgb_oetf,
    scene::{BlockFormat, CompressedImage},
};

/// A decoded image.
pub(super) struct Decoded {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) rgba8: Vec<u8>,
    pub(super) blocks: Option<CompressedImage>,
    /// Declared sRGB encoding of the colors; `None` if the file does not say, or holds floats.
    pub(super) srgb: Option<bool>,
    /// Notes on approximations.
    pub(super) notes: Vec<String>,
}

/// Encoding of the texels of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Etc1s,
    Uastc,
    Blocks(Coding),
    Plain(Plain),
}

/// Uncompressed texels: number of channels, channel type, and whether red and blue are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plain {
    channels: usize,
    number: Number,
    swapped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    U8,
    U16,
    F16,
    F32,
    /// 11, 11 and 10 bits; and 9 bits with a common exponent.
    Packed11,
    Shared9,
}

impl Plain {
    const fn bytes(self) -> usize {
        match self.number {
            Number::U8 => self.channels,
            Number::U16 | Number::F16 => self.channels * 2,
            Number::F32 => self.channels * 4,
            Number::Packed11 | Number::Shared9 => 4,
        }
    }
}

/// The layout of a `VkFormat` number (Vulkan 1.3).
fn layout_of(format: u32) -> Option<Layout> {
    let plain =
        |channels, number, swapped| Some(Layout::Plain(Plain { channels, number, swapped }));
    let kept = |format| Some(Layout::Blocks(Coding::Kept(format)));
    match format {
        9 | 15 => plain(1, Number::U8, false),
        16 | 22 => plain(2, Number::U8, false),
        23 | 29 => plain(3, Number::U8, false),
        30 | 36 => plain(3, Number::U8, true),
        37 | 43 => plain(4, Number::U8, false),
        44 | 50 => plain(4, Number::U8, true),
        70 => plain(1, Number::U16, false),
        77 => plain(2, Number::U16, false),
        84 => plain(3, Number::U16, false),
        91 => plain(4, Number::U16, false),
        76 => plain(1, Number::F16, false),
        83 => plain(2, Number::F16, false),
        90 => plain(3, Number::F16, false),
        97 => plain(4, Number::F16, false),
        100 => plain(1, Number::F32, false),
        103 => plain(2, Number::F32, false),
        106 => plain(3, Number::F32, false),
        109 => plain(4, Number::F32, false),
        122 => plain(3, Number::Packed11, false),
        123 => plain(3, Number::Shared9, false),
        131..=134 => kept(BlockFormat::Bc1),
        135 | 136 => kept(BlockFormat::Bc2),
        137 | 138 => kept(BlockFormat::Bc3),
        139 => kept(BlockFormat::Bc4),
        140 => Some(Layout::Blocks(Coding::SignedRed)),
        141 => kept(BlockFormat::Bc5),
        142 => Some(Layout::Blocks(Coding::SignedRedGreen)),
        143 => Some(Layout::Blocks(Coding::Float(false))),
        144 => Some(Layout::Blocks(Coding::Float(true))),
        145 | 146 => kept(BlockFormat::Bc7),
        _ => None,
    }
}

/// True if the texels are floats, which have no transfer function.
fn is_float(layout: Layout) -> bool {
    match layout {
        Layout::Blocks(coding) => matches!(coding, Coding::Float(_)),
        Layout::Plain(plain) => !matches!(plain.number, Number::U8 | Number::U16),
        Layout::Etc1s | Layout::Uastc => false,
    }
}

/// The file identifier (section 3.1).
pub(super) const MAGIC: [u8; 12] =
    [0xab, b'K', b'T', b'X', b' ', b'2', b'0', 0xbb, b'\r', b'\n', 0x1a, b'\n'];

/// True if the data format descriptor is well formed (Khronos Data Format Specification 1.3,
/// chapter 5). The reader uses its block sizes and texel dimensions unchecked, and adds 1 to the
/// latter.
fn descriptor_is_sound(bytes: &[u8]) -> bool {
    let word = |at: usize| {
        let four = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(four)).ok()
    };
    let range = || -> Option<&[u8]> {
        let (offset, length) = (word(48)?, word(52)?);
        bytes.get(offset.checked_add(4)?..offset.checked_add(length)?)
    };
    let Some(mut rest) = range() else { return false };
    while !rest.is_empty() {
        let Some([vendor @ .., _, _, low, high]) = rest.first_chunk::<8>() else { return false };
        let size = usize::from(u16::from_le_bytes([*low, *high]));
        let Some(block) = rest.get(..size).filter(|block| block.len() >= 24) else { return false };
        // A basic descriptor block: 16 bytes, of which the second four are dimensions less 1, and
        // 16 a sample.
        let basic = *vendor == [0; 4];
        if basic
            && ((size - 24) % 16 != 0 || block.get(12..16).is_none_or(|dims| dims.contains(&255)))
        {
            return false;
        }
        rest = rest.get(size..).unwrap_or_default();
    }
    true
}

fn open(bytes: &[u8]) -> Result<(Reader<&[u8]>, Layout), String> {
    if !descriptor_is_sound(bytes) {
        return Err("KTX2: the data format descriptor is truncated or malformed".into());
    }
    let reader = Reader::new(bytes).map_err(|error| format!("KTX2: {error}"))?;
    let Header { pixel_width: width, pixel_height: height, .. } = reader.header();
    let header = reader.header();
    if height == 0 || header.pixel_depth > 0 {
        return Err("KTX2: a texture of one or three dimensions; expected two".into());
    }
    if header.layer_count > 1 || header.face_count > 1 {
        let (layers, faces) = (header.layer_count, header.face_count);
        return Err(format!(
            "KTX2: an array or a cube ({layers} layers, {faces} faces); expected a single 2D texture"
        ));
    }
    if width > MAX_IMAGE_SIZE || height > MAX_IMAGE_SIZE {
        return Err(format!(
            "KTX2: {width} x {height} texels; expected at most {MAX_IMAGE_SIZE} on each side"
        ));
    }
    let levels = header.level_count.max(1);
    if levels > width.max(height).ilog2() + 1 {
        return Err(format!("KTX2: {levels} levels are too many for {width} x {height} texels"));
    }
    let scheme = header.supercompression_scheme;
    let layout = match header.format {
        Some(format) => layout_of(format.value()).ok_or_else(|| {
            format!(
                "KTX2: the Vulkan format {} is not supported; use Basis Universal, BC1 to BC7 or RGBA",
                format.value()
            )
        })?,
        None => match reader.color_model() {
            Some(ColorModel::ETC1S) if scheme == Some(SupercompressionScheme::BasisLZ) => Layout::Etc1s,
            Some(ColorModel::UASTC) if scheme != Some(SupercompressionScheme::BasisLZ) => Layout::Uastc,
            _ => return Err("KTX2: neither a Vulkan format nor Basis Universal".into()),
        },
    };
    if !matches!(
        scheme,
        None | Some(
            SupercompressionScheme::BasisLZ
                | SupercompressionScheme::Zstandard
                | SupercompressionScheme::ZLIB
        )
    ) || (scheme == Some(SupercompressionScheme::BasisLZ)) != (layout == Layout::Etc1s)
    {
        return Err("KTX2: the supercompression is unknown or not allowed for the format".into());
    }
    let decoded = u64::from(width) * u64::from(height) * 4;
    let stored = expected_bytes(layout, width, height).unwrap_or(decoded);
    if decoded.max(stored) > MAX_IMAGE_ALLOCATION {
        return Err(format!(
            "KTX2: {} bytes of texels; expected at most {MAX_IMAGE_ALLOCATION}",
            decoded.max(stored)
        ));
    }
    Ok((reader, layout))
}

/// Bytes of a level without supercompression; `None` if the level itself states it (ETC1S).
fn expected_bytes(layout: Layout, width: u32, height: u32) -> Option<u64> {
    match layout {
        Layout::Etc1s => None,
        Layout::Uastc => Some(blocks::level_bytes(width, height, 16)),
        Layout::Blocks(coding) => Some(blocks::level_bytes(width, height, coding.bytes())),
        Layout::Plain(plain) => Some(u64::from(width) * u64::from(height) * plain.bytes() as u64),
    }
}

/// Host memory of the decoded image in bytes, from the header alone.
pub(super) fn decoded_bytes(bytes: &[u8]) -> Result<u64, String> {
    let (reader, layout) = open(bytes)?;
    let header = reader.header();
    let texels = u64::from(header.pixel_width) * u64::from(header.pixel_height);
    // The texels, plus a third more than the blocks of the first level for all levels.
    let blocks = if matches!(layout, Layout::Plain(_)) { 0 } else { texels * 4 / 3 + 64 };
    Ok(texels * 4 + blocks)
}

/// A level's bytes without supercompression. The maximum expansion is known: 1032 bytes a byte in
/// ZLIB (RFC 1951: 258 bytes in two bits), a block of 128 KiB in four bytes in Zstandard (RFC 8878
/// section 3.1.1.2).
fn inflate(
    data: &[u8],
    scheme: Option<SupercompressionScheme>,
    expected: u64,
) -> Result<Vec<u8>, String> {
    let most = match scheme {
        Some(SupercompressionScheme::Zstandard) => {
            (data.len() as u64 / 4 + 1).saturating_mul(128 << 10)
        }
        Some(SupercompressionScheme::ZLIB) => (data.len() as u64).saturating_mul(1032),
        _ => data.len() as u64,
    };
    if expected > most {
        return Err(format!(
            "{} bytes cannot hold the {expected} that the header claims",
            data.len()
        ));
    }
    let mut out = Vec::new();
    let read = match scheme {
        Some(SupercompressionScheme::Zstandard) => {
            let frame = ruzstd::decoding::StreamingDecoder::new(data)
                .map_err(|error| format!("Zstandard: {error}"))?;
            frame
                .take(expected + 1)
                .read_to_end(&mut out)
                .map_err(|error| format!("Zstandard: {error}"))
        }
        Some(SupercompressionScheme::ZLIB) => flate2::read::ZlibDecoder::new(data)
            .take(expected + 1)
            .read_to_end(&mut out)
            .map_err(|error| format!("ZLIB: {error}")),
        _ => {
            out.extend_from_slice(data);
            Ok(out.len())
        }
    }?;
    if read as u64 != expected {
        return Err(format!("{read} bytes, expected {expected}"));
    }
    Ok(out)
}

/// Decodes a file. `color`: the texels are colors, so that floats become sRGB bytes.
pub(super) fn decode(bytes: &[u8], color: bool) -> Result<Decoded, String> {
    let (reader, layout) = open(bytes)?;
    let header = reader.header();
    let (width, height) = (header.pixel_width, header.pixel_height);
    let mut notes = metadata(&reader);
    let srgb = match reader.transfer_function() {
        _ if is_float(layout) => None,
        Some(TransferFunction::SRGB) => Some(true),
        Some(TransferFunction::Linear) => Some(false),
        _ => None,
    };
    let scheme = header.supercompression_scheme;
    let mut levels: Vec<Vec<u8>> = Vec::new();
    let full = width.max(height).ilog2() + 1;
    for (number, level) in (0u32..).zip(reader.levels()) {
        let (w, h) = ((width >> number).max(1), (height >> number).max(1));
        levels.push(match expected_bytes(layout, w, h) {
            Some(expected) => inflate(level.data, scheme, expected)
                .map_err(|problem| format!("KTX2: level {number}: {problem}"))?,
            None => level.data.to_vec(),
        });
        // Uncompressed texels get generated mip levels, filtered in linear light.
        if matches!(layout, Layout::Plain(_)) {
            break;
        }
    }
    let to_byte = move |x: f32| {
        if color { (srgb_oetf(f64::from(within(x))) * 255.0 + 0.5) as u8 } else { linear_byte(x) }
    };
    if is_float(layout) {
        notes.push("floats are converted to eight bits from 0 to 1".into());
    }
    if matches!(layout, Layout::Plain(plain) if plain.number == Number::U16) {
        notes.push("16 bits a channel are converted to eight".into());
    }
    let first = levels.first().map(Vec::as_slice).unwrap_or_default();
    let (rgba8, blocks) = match layout {
        Layout::Etc1s | Layout::Uastc => {
            let refs: Vec<&[u8]> = levels.iter().map(Vec::as_slice).collect();
            let samples =
                reader.basic_dfd().map(|dfd| dfd.sample_information.as_slice()).unwrap_or_default();
            let channel = |sample: usize| samples.get(sample).map(|sample| sample.channel_type);
            let codebooks = match layout {
                Layout::Etc1s => Some(
                    basis::codebooks(reader.supercompression_global_data(), refs.len())
                        .map_err(|problem| format!("KTX2: {problem}"))?,
                ),
                _ => None,
            };
            // Khronos Data Format Specification 1.3, channel tables of ETC1S and UASTC: ETC1S has a
            // second slice for alpha (15) or green (4). UASTC's texels are RGBA (3), or red in r, g
            // and b with green as alpha (5).
            let second = if layout == Layout::Etc1s {
                channel(1)
            } else {
                channel(0).filter(|id| matches!(id, 3 | 5))
            };
            let has_alpha = second.is_some();
            let green = second == Some(if layout == Layout::Etc1s { 4 } else { 5 });
            let made = Basis { width, height, levels: refs, codebooks, has_alpha }
                .transcode()
                .map_err(|problem| format!("KTX2: {problem}"))?;
            let mut rgba8 = made.rgba8;
            if green {
                for texel in rgba8.as_chunks_mut::<4>().0 {
                    *texel = [texel[0], texel[3], 0, 255];
                }
            }
            (rgba8, (!green).then_some(made.blocks))
        }
        Layout::Blocks(coding) => {
            let rgba8 = blocks::decode(first, width, height, coding, &to_byte);
            let blocks = match coding {
                Coding::Kept(format) => Some(CompressedImage { format, levels }),
                _ => None,
            };
            (rgba8, blocks)
        }
        Layout::Plain(plain) => (texels(first, plain, color, &to_byte), None),
    };
    // The device needs all levels; the last ones, smaller than a block, may be missing.
    let blocks = blocks.filter(|blocks| blocks.levels.len() as u32 + 2 >= full);
    Ok(Decoded { width, height, rgba8, blocks, srgb, notes })
}

/// Clamped to 0 to 1; 0 for NaN.
fn within(x: f32) -> f32 {
    if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) }
}

fn linear_byte(x: f32) -> u8 {
    (within(x) * 255.0 + 0.5) as u8
}

/// Notes on metadata that is ignored.
fn metadata(reader: &Reader<&[u8]>) -> Vec<String> {
    let mut notes = Vec::new();
    let value = |wanted: &str| {
        reader
            .key_value_data()
            .find(|(key, _)| *key == wanted)
            .map(|(_, value)| String::from_utf8_lossy(value).trim_end_matches('\0').to_owned())
    };
    if let Some(swizzle) = value("KTXswizzle").filter(|swizzle| swizzle != "rgba") {
        notes.push(format!(
            "KTX2: the swizzle '{swizzle}' is ignored, as KHR_texture_basisu allows only rgba"
        ));
    }
    if let Some(orientation) = value("KTXorientation").filter(|orientation| orientation != "rd") {
        notes.push(format!(
            "KTX2: the orientation '{orientation}' is ignored, as KHR_texture_basisu allows only rd"
        ));
    }
    if reader.is_alpha_premultiplied() == Some(true) {
        notes.push(
            "KTX2: colors are premultiplied by alpha, which glTF forbids; shown as they are".into(),
        );
    }
    notes
}

/// Uncompressed texels as RGBA bytes; absent channels are 0, absent alpha is 1.
fn texels(data: &[u8], plain: Plain, color: bool, to_byte: &dyn Fn(f32) -> u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() / plain.bytes().max(1) * 4);
    for texel in data.chunks_exact(plain.bytes()) {
        let mut rgba = [0, 0, 0, 255];
        match plain.number {
            Number::U8 => rgba[..plain.channels].copy_from_slice(texel),
            Number::U16 => {
                for (out, two) in rgba.iter_mut().zip(texel.as_chunks::<2>().0) {
                    // Rounded to nearest, as `image` narrows 16 bits.
                    *out = ((u32::from(u16::from_le_bytes(*two)) * 255 + 32767) / 65535) as u8;
                }
            }
            Number::F16 => {
                for (out, two) in rgba.iter_mut().zip(texel.as_chunks::<2>().0) {
                    *out = to_byte(f16::from_le_bytes(*two).to_f32());
                }
            }
            Number::F32 => {
                for (out, four) in rgba.iter_mut().zip(texel.as_chunks::<4>().0) {
                    *out = to_byte(f32::from_le_bytes(*four));
                }
            }
            Number::Packed11 | Number::Shared9 => {
                let bits = texel.first_chunk::<4>().map_or(0, |four| u32::from_le_bytes(*four));
                let color =
                    if plain.number == Number::Packed11 { packed11(bits) } else { shared9(bits) };
                for (out, x) in rgba.iter_mut().zip(color) {
                    *out = to_byte(x);
                }
            }
        }
        if plain.channels == 4 && color {
            // Alpha is linear even if the colors are sRGB.
            match plain.number {
                Number::F16 => {
                    rgba[3] = linear_byte(
                        texel.last_chunk::<2>().map_or(0.0, |x| f16::from_le_bytes(*x).to_f32()),
                    )
                }
                Number::F32 => {
                    rgba[3] =
                        linear_byte(texel.last_chunk::<4>().map_or(0.0, |x| f32::from_le_bytes(*x)))
                }
                _ => {}
            }
        }
        if plain.swapped {
            rgba.swap(0, 2);
        }
        out.extend_from_slice(&rgba);
    }
    out
}

/// Unsigned floats of 11, 11 and 10 bits: half floats without sign and with a shorter mantissa.
fn packed11(bits: u32) -> [f32; 3] {
    let part = |value: u32, shift: u32| f16::from_bits((value << shift) as u16).to_f32();
    [part(bits & 0x7ff, 4), part(bits >> 11 & 0x7ff, 4), part(bits >> 22, 5)]
}

/// Three numbers of nine bits with one exponent (Vulkan 1.3, `VK_FORMAT_E5B9G9R9_UFLOAT_PACK32`).
fn shared9(bits: u32) -> [f32; 3] {
    let scale = f32::exp2((bits >> 27) as f32 - 24.0);
    [bits & 0x1ff, bits >> 9 & 0x1ff, bits >> 18 & 0x1ff].map(|x| x as f32 * scale)
}
