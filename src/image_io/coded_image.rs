//! Codes of PNG, JPEG and WebP files, and the encoder of PNG.

use std::io::{Cursor, Write};

use image_webp::WebPDecoder;
use png::{BitDepth, ColorType};
use zune_jpeg::{
    JpegDecoder,
    zune_core::{bytestream::ZCursor, colorspace::ColorSpace, options::DecoderOptions},
};

/// A file format of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codec {
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
    /// WebP, lossy or lossless.
    WebP,
}

/// A file whose header has been read.
pub enum CodeReader<'a> {
    /// A PNG.
    Png(Box<png::Reader<Cursor<&'a [u8]>>>),
    /// A JPEG: its bytes, size and color space.
    Jpeg(&'a [u8], [u32; 2], ColorSpace),
    /// A WebP.
    WebP(Box<WebPDecoder<Cursor<&'a [u8]>>>),
}

/// Codes of an image, top row first.
pub struct CodedImage {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Channels a pixel: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.
    pub channels: usize,
    /// Codes of 16 bits, big endian; else of 8.
    pub is_wide: bool,
    codes: Vec<u8>,
}

/// Text of an error of the PNG decoder.
fn png_error(error: png::DecodingError) -> String {
    match error {
        png::DecodingError::IoError(error) => error.to_string(),
        png::DecodingError::LimitsExceeded => "Memory limit exceeded".into(),
        error => format!("Format error decoding Png: {error}"),
    }
}

fn webp_error(error: image_webp::DecodingError) -> String {
    match error {
        image_webp::DecodingError::IoError(error) => error.to_string(),
        error => format!("Format error decoding WebP: {error}"),
    }
}

fn jpeg_error(error: impl std::fmt::Debug) -> String {
    format!("Format error decoding Jpeg: {error:?}")
}

fn jpeg(bytes: &[u8], options: DecoderOptions) -> JpegDecoder<ZCursor<&[u8]>> {
    let options =
        options.set_strict_mode(false).set_max_width(usize::MAX).set_max_height(usize::MAX);
    JpegDecoder::new_with_options(ZCursor::new(bytes), options)
}

impl<'a> CodeReader<'a> {
    /// Reads the header of a file; `max_bytes` limits the memory of the PNG decoder.
    ///
    /// # Errors
    /// The message of the decoder.
    pub fn new(bytes: &'a [u8], codec: Codec, max_bytes: u64) -> Result<Self, String> {
        Ok(match codec {
            Codec::Png => {
                let limits =
                    png::Limits { bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX) };
                let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), limits);
                decoder.set_transformations(png::Transformations::EXPAND);
                Self::Png(Box::new(decoder.read_info().map_err(png_error)?))
            }
            Codec::Jpeg => {
                let mut decoder = jpeg(bytes, DecoderOptions::default());
                decoder.decode_headers().map_err(jpeg_error)?;
                let (Some((width, height)), Some(space)) =
                    (decoder.dimensions(), decoder.input_colorspace())
                else {
                    return Err(jpeg_error("no header"));
                };
                Self::Jpeg(bytes, [width as u32, height as u32], space)
            }
            Codec::WebP => {
                let decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(webp_error)?;
                Self::WebP(Box::new(decoder))
            }
        })
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        match self {
            Self::Png(reader) => reader.info().size().into(),
            Self::Jpeg(_, size, _) => *size,
            Self::WebP(decoder) => decoder.dimensions().into(),
        }
    }

    /// Decodes the pixels.
    ///
    /// # Errors
    /// The message of the decoder.
    pub fn decode(self) -> Result<CodedImage, String> {
        let size = self.size();
        let (channels, is_wide, codes) = match self {
            Self::Png(mut reader) => {
                let (color, depth) = reader.output_color_type();
                let channels = match (color, depth) {
                    (ColorType::Indexed, _)
                    | (_, BitDepth::One | BitDepth::Two | BitDepth::Four) => {
                        return Err(format!("Format error decoding Png: {color:?} {depth:?}"));
                    }
                    (color, _) => color.samples(),
                };
                let length = reader.output_buffer_size().ok_or("Memory limit exceeded")?;
                let mut codes = vec![0; length];
                reader.next_frame(&mut codes).map_err(png_error)?;
                (channels, depth == BitDepth::Sixteen, codes)
            }
            Self::Jpeg(bytes, _, space) => {
                let (space, channels) = match space {
                    ColorSpace::RGBA => (space, 4),
                    ColorSpace::Luma => (space, 1),
                    ColorSpace::LumaA => (space, 2),
                    _ => (ColorSpace::RGB, 3),
                };
                let options = DecoderOptions::default().jpeg_set_out_colorspace(space);
                (channels, false, jpeg(bytes, options).decode().map_err(jpeg_error)?)
            }
            Self::WebP(mut decoder) => {
                let length = decoder.output_buffer_size().ok_or("Memory limit exceeded")?;
                let mut codes = vec![0; length];
                decoder.read_image(&mut codes).map_err(webp_error)?;
                (if decoder.has_alpha() { 4 } else { 3 }, false, codes)
            }
        };
        Ok(CodedImage { size, channels, is_wide, codes })
    }
}

impl CodedImage {
    /// The largest code: 255 or 65535.
    #[must_use]
    pub const fn max_code(&self) -> u16 {
        if self.is_wide { u16::MAX } else { 255 }
    }

    /// Red, green, blue and alpha of each pixel; gray is repeated, absent alpha is opaque.
    pub fn rgba(&self) -> impl Iterator<Item = [u16; 4]> {
        let (channels, is_wide, opaque) = (self.channels, self.is_wide, self.max_code());
        self.codes.chunks_exact(channels * (1 + usize::from(is_wide))).map(move |pixel| {
            let code = |i: usize| match is_wide {
                true => u16::from_be_bytes([pixel[2 * i], pixel[2 * i + 1]]),
                false => u16::from(pixel[i]),
            };
            match channels {
                1 => [code(0), code(0), code(0), opaque],
                2 => [code(0), code(0), code(0), code(1)],
                3 => [code(0), code(1), code(2), opaque],
                _ => [code(0), code(1), code(2), code(3)],
            }
        })
    }

    /// The pixels as RGBA of 8 bits; codes of 16 bits are rounded.
    #[must_use]
    pub fn into_rgba8(self) -> Vec<u8> {
        match (self.is_wide, self.channels) {
            (false, 4) => self.codes,
            (false, _) => {
                let pixels = self.rgba().map(|pixel| pixel.map(|code| code as u8));
                pixels.collect::<Vec<_>>().into_flattened()
            }
            (true, _) => {
                let round = |code: u16| ((u32::from(code) + 128) / 257) as u8;
                self.rgba().map(|pixel| pixel.map(round)).collect::<Vec<_>>().into_flattened()
            }
        }
    }
}

/// How a PNG is encoded.
#[derive(Clone, Copy, Debug)]
pub struct PngOptions {
    /// Effort of the compression.
    pub compression: png::Compression,
    /// Filter of the rows.
    pub filter: png::Filter,
    /// True to declare the codes as sRGB (the sRGB chunk).
    pub is_srgb: bool,
    /// True to leave alpha out.
    pub is_opaque: bool,
}

/// A text chunk of a PNG: keyword and text, both Latin-1.
pub type PngText<'a> = (&'a str, &'a str);

/// Encodes RGBA codes of 8 bits, top row first, as PNG.
///
/// # Errors
/// An invalid size, or an error of the writer.
pub fn write_png(
    writer: impl Write,
    [width, height]: [u32; 2],
    rgba: &[u8],
    options: PngOptions,
) -> std::io::Result<()> {
    write_png_with_text(writer, [width, height], rgba, options, None)
}

/// As [`write_png`], with a text chunk.
///
/// # Errors
/// As [`write_png`], or a text that is not Latin-1.
pub fn write_png_with_text(
    writer: impl Write,
    [width, height]: [u32; 2],
    rgba: &[u8],
    options: PngOptions,
    text: Option<PngText<'_>>,
) -> std::io::Result<()> {
    let mut encoder = png::Encoder::new(writer, width, height);
    encoder.set_color(if options.is_opaque { ColorType::Rgb } else { ColorType::Rgba });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(options.compression);
    encoder.set_filter(options.filter);
    if options.is_srgb {
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    }
    if let Some((keyword, text)) = text {
        encoder.add_text_chunk(keyword.into(), text.into())?;
    }
    let mut out = encoder.write_header()?;
    if options.is_opaque {
        let pixels = rgba.as_chunks::<4>().0;
        let rgb: Vec<u8> = pixels.iter().flat_map(|[r, g, b, _]| [*r, *g, *b]).collect();
        out.write_image_data(&rgb)?;
    } else {
        out.write_image_data(rgba)?;
    }
    Ok(out.finish()?)
}

#[cfg(test)]
mod tests {
    use image::{DynamicImage, ImageFormat};

    use super::*;

    /// Codes as those of the crate `image`, which reads the same file.
    fn agrees(file: &[u8], codec: Codec, what: &str) {
        let reader = CodeReader::new(file, codec, 1 << 20).unwrap();
        let want = image::load_from_memory(file).unwrap();
        assert_eq!(reader.size(), [want.width(), want.height()], "{what}");
        let found = reader.decode().unwrap();
        assert_eq!(found.channels, usize::from(want.color().channel_count()), "{what}");
        let scale = u16::MAX / found.max_code();
        let wide: Vec<u16> = found.rgba().flatten().map(|code| code * scale).collect();
        assert_eq!(wide, want.to_rgba16().into_raw(), "{what}");
        assert_eq!(found.into_rgba8(), want.to_rgba8().into_raw(), "{what}");
    }

    #[test]
    fn files_are_read_as_by_another_decoder() {
        let noise = image::ImageBuffer::<image::Rgba<u16>, Vec<u16>>::from_fn(7, 5, |x, y| {
            let code = |i: u32| {
                ((x * 7919 + y * 104_729 + i * 1_299_709).wrapping_mul(40_503) % 65_521) as u16
            };
            image::Rgba([code(0), code(1), code(2), code(3)])
        });
        let noise = DynamicImage::from(noise);
        let kinds = [
            DynamicImage::from(noise.to_luma8()),
            DynamicImage::from(noise.to_luma_alpha8()),
            DynamicImage::from(noise.to_rgb8()),
            DynamicImage::from(noise.to_rgba8()),
            DynamicImage::from(noise.to_luma16()),
            DynamicImage::from(noise.to_luma_alpha16()),
            DynamicImage::from(noise.to_rgb16()),
            noise,
        ];
        for (index, kind) in kinds.iter().enumerate() {
            for (codec, format, kinds) in [
                (Codec::Png, ImageFormat::Png, 0..8),
                (Codec::Jpeg, ImageFormat::Jpeg, 2..3),
                (Codec::Jpeg, ImageFormat::Jpeg, 0..1),
                (Codec::WebP, ImageFormat::WebP, 2..4),
            ] {
                if kinds.contains(&index) {
                    let mut file = Vec::new();
                    kind.write_to(&mut Cursor::new(&mut file), format).unwrap();
                    agrees(&file, codec, &format!("{codec:?} {:?}", kind.color()));
                }
            }
        }
        // Two bits a pixel by a palette, with one transparent entry.
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 4, 2);
        encoder.set_color(ColorType::Indexed);
        encoder.set_depth(BitDepth::Two);
        encoder.set_palette(vec![0, 0, 0, 255, 0, 0, 0, 255, 0, 9, 8, 7]);
        encoder.set_trns(vec![255, 0]);
        encoder.write_header().unwrap().write_image_data(&[0b0001_1011, 0b1110_0100]).unwrap();
        agrees(&file, Codec::Png, "palette");
    }

    /// Entropy-coded bits of a JPEG scan (ITU-T T.81, annex F).
    #[derive(Default)]
    struct Bits(Vec<bool>);

    impl Bits {
        fn put(&mut self, value: u32, count: u32) {
            self.0.extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
        }

        /// A coefficient by a Huffman code and the bits of its value (tables F.1 and F.2).
        fn coefficient(&mut self, value: i32, code: impl Fn(u32) -> (u32, u32)) {
            let size = i32::BITS - value.unsigned_abs().leading_zeros();
            let (bits, length) = code(size);
            self.put(bits, length);
            let low = if value < 0 { value + (1 << size) - 1 } else { value };
            self.put(low as u32, size);
        }

        /// Padded by ones; a zero follows each byte of 255.
        fn bytes(&self) -> Vec<u8> {
            let byte = |bits: &[bool]| {
                (0..8).fold(0u8, |byte, i| byte << 1 | u8::from(bits.get(i).is_none_or(|bit| *bit)))
            };
            let bytes = self.0.chunks(8).map(byte);
            bytes
                .flat_map(|byte| [byte, 0].into_iter().take(1 + usize::from(byte == 255)))
                .collect()
        }
    }

    /// Code of a DC size: four bits, the size itself.
    fn dc_code(size: u32) -> (u32, u32) {
        (size, 4)
    }

    /// A JPEG of 8x8 pixels without subsampling. Quantization steps are 1. AC codes: 0 ends a
    /// block, 10 is a value of seven bits without a run of zeros. A scan has components, first and
    /// last coefficient, bits of successive approximation, and its codes.
    fn jpeg_file(
        frame: u8,
        components: u8,
        extra: &[u8],
        scans: &[(u8, [u8; 3], Bits)],
    ) -> Vec<u8> {
        fn segment(file: &mut Vec<u8>, marker: u8, parts: &[&[u8]]) {
            let data = parts.concat();
            file.extend([0xff, marker]);
            file.extend((data.len() as u16 + 2).to_be_bytes());
            file.extend(data);
        }
        let lengths = |used: &[(usize, u8)]| {
            let mut lengths = [0; 16];
            used.iter().for_each(|&(length, count)| lengths[length - 1] = count);
            lengths
        };
        let mut file = vec![0xff, 0xd8];
        if !extra.is_empty() {
            segment(&mut file, 0xee, &[extra]);
        }
        segment(&mut file, 0xdb, &[&[0], &[1; 64]]);
        let parts: Vec<u8> = (1..=components).flat_map(|id| [id, 0x11, 0]).collect();
        segment(&mut file, frame, &[&[8, 0, 8, 0, 8, components], &parts]);
        let sizes: Vec<u8> = (0..12).collect();
        segment(&mut file, 0xc4, &[&[0x00], &lengths(&[(4, 12)]), &sizes]);
        segment(&mut file, 0xc4, &[&[0x10], &lengths(&[(1, 1), (2, 1)]), &[0x00, 0x07]]);
        for (components, band, bits) in scans {
            let parts: Vec<u8> = (1..=*components).flat_map(|id| [id, 0]).collect();
            segment(&mut file, 0xda, &[&[*components], &parts, band]);
            file.extend(bits.bytes());
        }
        file.extend([0xff, 0xd9]);
        file
    }

    #[test]
    fn progressive_jpegs_are_read_to_their_last_scan() {
        // DC 577 without its last bit, one coefficient along x, then the last bit of DC.
        let (mut first, mut along, mut last) = (Bits::default(), Bits::default(), Bits::default());
        first.coefficient(577 >> 1, dc_code);
        along.coefficient(80, |_| (0b10, 2));
        along.put(0, 1);
        last.put(577 & 1, 1);
        let scans = [(1, [0, 0, 0x01], first), (1, [1, 63, 0], along), (1, [0, 0, 0x10], last)];
        let file = jpeg_file(0xc2, 1, &[], &scans);
        let found = CodeReader::new(&file, Codec::Jpeg, 1 << 20).unwrap().decode().unwrap();
        assert_eq!((found.size, found.channels), ([8, 8], 1));
        let pixels = found.into_rgba8();
        // ITU-T T.81, A.3.3.
        for (x, pixel) in pixels.as_chunks::<4>().0.iter().take(8).enumerate() {
            let angle = (2.0 * x as f64 + 1.0) * std::f64::consts::PI / 16.0;
            let want = 128.0 + 577.0 / 8.0 + 80.0 / 4.0 * 0.5f64.sqrt() * angle.cos();
            assert!((f64::from(pixel[0]) - want).abs() <= 1.5, "{x}: {pixel:?} for {want}");
        }
    }

    #[test]
    fn jpegs_of_four_inks_become_rgb() {
        // Adobe writes inks inverted: 255 is no ink.
        let adobe = [b"Adobe".as_slice(), &[0, 100, 0, 0, 0, 0, 0]].concat();
        for inks in [[200, 150, 100, 255], [200, 150, 100, 128], [255, 0, 255, 255]] {
            let mut bits = Bits::default();
            for ink in inks {
                bits.coefficient(8 * (ink - 128), dc_code);
                bits.put(0, 1);
            }
            let file = jpeg_file(0xc0, 4, &adobe, &[(4, [0, 63, 0], bits)]);
            let found = CodeReader::new(&file, Codec::Jpeg, 1 << 20).unwrap().decode().unwrap();
            assert_eq!((found.size, found.channels), ([8, 8], 3));
            let pixels = found.into_rgba8();
            for pixel in pixels.as_chunks::<4>().0 {
                for (code, ink) in pixel.iter().zip(&inks[..3]) {
                    let want = f64::from(ink * inks[3]) / 255.0;
                    assert!((f64::from(*code) - want).abs() <= 1.5, "{pixel:?} of {inks:?}");
                }
            }
        }
    }

    #[test]
    fn a_png_is_read_as_it_was_written() {
        let rgba: Vec<u8> = (0..5 * 3 * 4).map(|i| (i * 37 % 251) as u8).collect();
        for (is_srgb, is_opaque) in [(true, true), (false, false), (false, true)] {
            let options = PngOptions {
                compression: png::Compression::Fast,
                filter: png::Filter::Up,
                is_srgb,
                is_opaque,
            };
            let mut file = Vec::new();
            write_png(&mut file, [5, 3], &rgba, options).unwrap();
            assert_eq!(file.windows(4).any(|window| window == b"sRGB"), is_srgb);
            let found = CodeReader::new(&file, Codec::Png, 1 << 20).unwrap().decode().unwrap();
            let alpha = |i: usize, code: u8| if is_opaque && i % 4 == 3 { 255 } else { code };
            let want: Vec<u8> = rgba.iter().enumerate().map(|(i, code)| alpha(i, *code)).collect();
            assert_eq!(found.into_rgba8(), want);
        }
        let broken = CodeReader::new(b"\x89PNG\r\n\x1a\nrest", Codec::Png, 1 << 20);
        assert!(broken.is_err_and(|error| !error.contains('\n')));
    }
}
