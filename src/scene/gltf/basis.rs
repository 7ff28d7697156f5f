//! Basis Universal within KTX 2 (KHR_texture_basisu): ETC1S with BasisLZ, and UASTC.
//!
//! The transcoder reads `.basis` files, which hold the same streams as KTX 2 in another order. Each
//! stream is checked to be inside the file, then written to a generated `.basis` file. Its header
//! is therefore always valid; only the streams are untrusted.

use std::sync::Once;

use basis_universal::{
    DecodeFlags, TranscodeParameters, Transcoder, TranscoderTextureFormat, transcoder_init,
};

use crate::scene::{BlockFormat, CompressedImage};

/// Bytes of a `.basis` header, and of a slice description (basis_universal,
/// "basisu_file_headers.h").
const HEADER: usize = 77;
const SLICE: usize = 23;

/// Maximum texels of a level for any stream, and for each further byte of it. Uniform images
/// compress to almost nothing, but 4 gigabytes in a kilobyte are not an image.
const FREE_TEXELS: u64 = 1 << 24;
const TEXELS_A_BYTE: u64 = 1 << 16;

/// The codebooks of BasisLZ, from the supercompression global data (KTX 2.0 section 5.2.2).
pub(super) struct Codebooks<'a> {
    endpoint_count: u16,
    selector_count: u16,
    endpoints: &'a [u8],
    selectors: &'a [u8],
    tables: &'a [u8],
    /// By level: (offset, length) of the color slice and of the alpha slice, the latter 0 if
    /// absent.
    slices: Vec<[(usize, usize); 2]>,
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(four.try_into().ok()?)).ok()
}

/// Reads the supercompression global data of an image of one layer and one face.
pub(super) fn codebooks(global: &[u8], levels: usize) -> Result<Codebooks<'_>, String> {
    let broken = || "the BasisLZ global data is malformed".to_owned();
    let half = |at: usize| Some(u16::from_le_bytes(global.get(at..at + 2)?.try_into().ok()?));
    let (endpoint_count, selector_count) =
        (half(0).ok_or_else(broken)?, half(2).ok_or_else(broken)?);
    let length = |at: usize| word(global, at).ok_or_else(broken);
    let lengths = [length(4)?, length(8)?, length(12)?];
    if endpoint_count == 0 || selector_count == 0 || lengths.contains(&0) {
        return Err(broken());
    }
    let mut slices = Vec::with_capacity(levels);
    for level in 0..levels {
        let at = 20 + level * 20;
        slices.push([(length(at + 4)?, length(at + 8)?), (length(at + 12)?, length(at + 16)?)]);
    }
    let mut at = 20 + levels * 20;
    let mut parts = [&global[..0]; 3];
    for (part, length) in parts.iter_mut().zip(lengths) {
        let end = at.checked_add(length).ok_or_else(broken)?;
        *part = global.get(at..end).ok_or_else(broken)?;
        at = end;
    }
    let [endpoints, selectors, tables] = parts;
    // The `.basis` header counts these lengths in three bytes.
    if endpoints.len() >= 1 << 24 || selectors.len() >= 1 << 24 {
        return Err("the codebooks exceed 16 megabytes".into());
    }
    Ok(Codebooks { endpoint_count, selector_count, endpoints, selectors, tables, slices })
}

/// A Basis Universal image.
pub(super) struct Basis<'a> {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Bytes by level, UASTC's without supercompression.
    pub(super) levels: Vec<&'a [u8]>,
    /// Codebooks of ETC1S; `None` for UASTC.
    pub(super) codebooks: Option<Codebooks<'a>>,
    pub(super) has_alpha: bool,
}

/// The transcoded image.
pub(super) struct Transcoded {
    pub(super) rgba8: Vec<u8>,
    pub(super) blocks: CompressedImage,
}

impl Basis<'_> {
    fn size(&self, level: usize) -> (u32, u32) {
        ((self.width >> level).max(1), (self.height >> level).max(1))
    }

    /// Streams of a level: one, or two if ETC1S has alpha.
    fn streams(&self, level: usize) -> Result<Vec<&[u8]>, String> {
        let data = self.levels.get(level).copied().unwrap_or_default();
        let (width, height) = self.size(level);
        let Some(codebooks) = &self.codebooks else {
            let expected = super::blocks::level_bytes(width, height, 16);
            if data.len() as u64 != expected {
                return Err(format!(
                    "level {level} has {} bytes of UASTC, expected {expected}",
                    data.len()
                ));
            }
            return Ok(vec![data]);
        };
        let mut streams = Vec::new();
        for (offset, length) in
            codebooks.slices.get(level).into_iter().flatten().take(1 + usize::from(self.has_alpha))
        {
            let stream = offset
                .checked_add(*length)
                .and_then(|end| data.get(*offset..end))
                .unwrap_or_default();
            if stream.is_empty() {
                return Err(format!("level {level}: a slice is out of the level's range"));
            }
            let texels = u64::from(width) * u64::from(height);
            if texels > FREE_TEXELS.saturating_add(stream.len() as u64 * TEXELS_A_BYTE) {
                return Err(format!("level {level}: {texels} texels in {} bytes", stream.len()));
            }
            streams.push(stream);
        }
        Ok(streams)
    }

    /// The image as a `.basis` file.
    fn file(&self) -> Result<Vec<u8>, String> {
        let mut streams: Vec<(usize, usize, &[u8])> = Vec::new();
        for level in 0..self.levels.len() {
            streams.extend(
                self.streams(level)?.into_iter().enumerate().map(|(nth, data)| (level, nth, data)),
            );
        }
        let (endpoints, selectors, tables) = match &self.codebooks {
            Some(books) => (books.endpoints, books.selectors, books.tables),
            None => Default::default(),
        };
        let descriptions = streams.len() * SLICE;
        let endpoints_at = HEADER + descriptions;
        let selectors_at = endpoints_at + endpoints.len();
        let tables_at = selectors_at + selectors.len();
        let first = tables_at + tables.len();
        let total = streams.iter().try_fold(first, |sum, (.., data)| sum.checked_add(data.len()));
        let total = total
            .filter(|total| u32::try_from(*total).is_ok())
            .ok_or("the file exceeds 4 gigabytes")?;
        let mut out = Vec::with_capacity(total);
        let put = |out: &mut Vec<u8>, value: usize, bytes: usize| {
            out.extend_from_slice(&(value as u64).to_le_bytes()[..bytes]);
        };
        let etc1s = usize::from(self.codebooks.is_some());
        // Signature "sB", version 0x13, this header's size, no checksums.
        for (value, bytes) in
            [(0x4273, 2), (0x13, 2), (HEADER, 2), (0, 2), (total - HEADER, 4), (0, 2)]
        {
            put(&mut out, value, bytes);
        }
        // Slices, images, format, flags (ETC1S, alpha), type (2D), no video, three zero words.
        let flags = etc1s | usize::from(self.has_alpha) << 2;
        for (value, bytes) in
            [(streams.len(), 3), (1, 3), (1 - etc1s, 1), (flags, 2), (0, 1), (0, 3)]
        {
            put(&mut out, value, bytes);
        }
        out.extend_from_slice(&[0; 12]);
        let (endpoint_count, selector_count) = self
            .codebooks
            .as_ref()
            .map_or((0, 0), |books| (books.endpoint_count, books.selector_count));
        for (value, bytes) in [
            (usize::from(endpoint_count), 2),
            (endpoints_at, 4),
            (endpoints.len(), 3),
            (usize::from(selector_count), 2),
            (selectors_at, 4),
            (selectors.len(), 3),
            (tables_at, 4),
            (tables.len(), 4),
            (HEADER, 4),
            (0, 4),
            (0, 4),
        ] {
            put(&mut out, value, bytes);
        }
        let mut at = first;
        for &(level, nth, data) in &streams {
            let (width, height) = self.size(level);
            let (width, height) = (width as usize, height as usize);
            let across = (width.div_ceil(4), height.div_ceil(4));
            // Image, level, flags (alpha), size in texels and in blocks, offset, length, no
            // checksum.
            let values = [
                (0, 3),
                (level, 1),
                (nth, 1),
                (width, 2),
                (height, 2),
                (across.0, 2),
                (across.1, 2),
            ];
            for (value, bytes) in values.into_iter().chain([(at, 4), (data.len(), 4), (0, 2)]) {
                put(&mut out, value, bytes);
            }
            at += data.len();
        }
        for part in
            [endpoints, selectors, tables].into_iter().chain(streams.iter().map(|&(.., data)| data))
        {
            out.extend_from_slice(part);
        }
        Ok(out)
    }

    /// Transcodes to texels for the host and blocks for the device.
    pub(super) fn transcode(&self) -> Result<Transcoded, String> {
        let file = self.file()?;
        // The transcoder fills its tables without a lock, and images are decoded on many threads.
        static INIT: Once = Once::new();
        INIT.call_once(transcoder_init);
        let mut transcoder = Transcoder::new();
        if !transcoder.validate_header(&file) {
            return Err("the transcoder rejects the data".into());
        }
        transcoder
            .prepare_transcoding(&file)
            .map_err(|()| "the Basis Universal codebooks are malformed".to_owned())?;
        let level = |level: usize, format: TranscoderTextureFormat| {
            let parameters = TranscodeParameters {
                image_index: 0,
                level_index: u32::try_from(level).unwrap_or(0),
                decode_flags: Some(DecodeFlags::HIGH_QUALITY),
                ..Default::default()
            };
            transcoder
                .transcode_image_level(&file, format, parameters)
                .map_err(|_| format!("level {level} of Basis Universal is malformed"))
        };
        let rgba8 = level(0, TranscoderTextureFormat::RGBA32)?;
        if rgba8.len() as u64 != u64::from(self.width) * u64::from(self.height) * 4 {
            return Err("the transcoder returned an image of another size".into());
        }
        let mut levels = Vec::new();
        for number in 0..self.levels.len() {
            levels.push(level(number, TranscoderTextureFormat::BC7_RGBA)?);
        }
        Ok(Transcoded { rgba8, blocks: CompressedImage { format: BlockFormat::Bc7, levels } })
    }
}
