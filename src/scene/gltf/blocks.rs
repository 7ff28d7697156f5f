//! Decoding of block-compressed images (blocks of 4x4 texels) to RGBA bytes (Khronos Data Format
//! Specification 1.3, chapters 18 to 20).

use rayon::prelude::*;

use crate::scene::BlockFormat;

/// Block coding: formats that devices sample directly, and formats that only the host decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Kept(BlockFormat),
    /// Red, or red and green, from -1 to 1; negative values are clamped to 0.
    SignedRed,
    SignedRedGreen,
    /// Half floats; `true` if signed.
    Float(bool),
}

impl Coding {
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::Kept(format) => format.bytes(),
            Self::SignedRed => 8,
            Self::SignedRedGreen | Self::Float(_) => 16,
        }
    }
}

/// Bytes of a level.
pub(super) fn level_bytes(width: u32, height: u32, block: usize) -> u64 {
    u64::from(width.div_ceil(4)) * u64::from(height.div_ceil(4)) * block as u64
}

/// Decodes a level; `to_byte` converts floats. `data` holds all blocks.
pub(super) fn decode(
    data: &[u8],
    width: u32,
    height: u32,
    coding: Coding,
    to_byte: &(dyn Fn(f32) -> u8 + Sync),
) -> Vec<u8> {
    let (width, height) = (width as usize, height as usize);
    let across = width.div_ceil(4);
    let mut out = vec![0u8; width * height * 4];
    out.par_chunks_mut(width * 16).zip(data.par_chunks(across * coding.bytes())).for_each(
        |(rows, line)| {
            for (x, block) in line.chunks_exact(coding.bytes()).enumerate() {
                let texels = texels(block, coding, to_byte);
                for (row, from) in rows.chunks_mut(width * 4).zip(texels.as_chunks::<16>().0) {
                    let start = x * 16;
                    let end = row.len().min(start + 16);
                    if let Some(to) = row.get_mut(start..end) {
                        to.copy_from_slice(&from[..to.len()]);
                    }
                }
            }
        },
    );
    out
}

/// The sixteen texels of a block, RGBA.
fn texels(block: &[u8], coding: Coding, to_byte: &dyn Fn(f32) -> u8) -> [u8; 64] {
    let mut out = [0u8; 64];
    let spread = |out: &mut [u8; 64], values: &[u8], channels: usize| {
        for (texel, values) in
            out.as_chunks_mut::<4>().0.iter_mut().zip(values.chunks_exact(channels))
        {
            *texel = [values[0], values.get(1).copied().unwrap_or(0), 0, 255];
        }
    };
    match coding {
        Coding::Kept(BlockFormat::Bc1) => bcdec_rs::bc1(block, &mut out, 16),
        Coding::Kept(BlockFormat::Bc2) => bcdec_rs::bc2(block, &mut out, 16),
        Coding::Kept(BlockFormat::Bc3) => bcdec_rs::bc3(block, &mut out, 16),
        Coding::Kept(BlockFormat::Bc7) => bcdec_rs::bc7(block, &mut out, 16),
        Coding::Kept(BlockFormat::Bc4) => {
            let mut red = [0u8; 16];
            bcdec_rs::bc4(block, &mut red, 4, false);
            spread(&mut out, &red, 1);
        }
        Coding::Kept(BlockFormat::Bc5) => {
            let mut both = [0u8; 32];
            bcdec_rs::bc5(block, &mut both, 8, false);
            spread(&mut out, &both, 2);
        }
        Coding::SignedRed => {
            let mut red = [0f32; 16];
            bcdec_rs::bc4_float(block, &mut red, 4, true);
            spread(&mut out, &red.map(to_byte), 1);
        }
        Coding::SignedRedGreen => {
            let mut both = [0f32; 32];
            bcdec_rs::bc5_float(block, &mut both, 8, true);
            spread(&mut out, &both.map(to_byte), 2);
        }
        Coding::Float(signed) => {
            let mut colors = [0f32; 48];
            bcdec_rs::bc6h_float(block, &mut colors, 12, signed);
            for (texel, color) in
                out.as_chunks_mut::<4>().0.iter_mut().zip(colors.as_chunks::<3>().0)
            {
                *texel = [to_byte(color[0]), to_byte(color[1]), to_byte(color[2]), 255];
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(x: f32) -> u8 {
        (x.clamp(0.0, 1.0) * 255.0).round() as u8
    }

    /// The example of the specification: two colors and their thirds, selected by two bits a texel.
    #[test]
    fn bc1_interpolates_between_two_colors() {
        // Red (5:6:5) is the greater, which selects four colors; indices 0, 1, 2, 3 in the first
        // row.
        let mut block = [0u8; 8];
        block[..2].copy_from_slice(&0xf800u16.to_le_bytes());
        block[2..4].copy_from_slice(&0x001fu16.to_le_bytes());
        block[4] = 0b11_10_01_00;
        let out = decode(&block, 4, 4, Coding::Kept(BlockFormat::Bc1), &byte);
        assert_eq!(out[..16], [255, 0, 0, 255, 0, 0, 255, 255, 170, 0, 85, 255, 85, 0, 170, 255]);
        assert_eq!(out[16..20], [255, 0, 0, 255]);
    }

    #[test]
    fn pictures_that_are_no_multiple_of_four_lose_the_rest_of_their_blocks() {
        let block = |red: u16| {
            let mut block = [0u8; 8];
            block[..2].copy_from_slice(&red.to_le_bytes());
            block
        };
        let data: Vec<u8> =
            [0xf800u16, 0x07e0, 0x001f, 0xffff].into_iter().flat_map(block).collect();
        assert_eq!(level_bytes(5, 6, 8), data.len() as u64);
        let out = decode(&data, 5, 6, Coding::Kept(BlockFormat::Bc1), &byte);
        assert_eq!(out.len(), 5 * 6 * 4);
        let texel = |x: usize, y: usize| &out[(y * 5 + x) * 4..][..3];
        assert_eq!(texel(3, 3), [255, 0, 0]);
        assert_eq!(texel(4, 0), [0, 255, 0]);
        assert_eq!(texel(0, 5), [0, 0, 255]);
        assert_eq!(texel(4, 5), [255, 255, 255]);
    }

    #[test]
    fn one_and_two_channels_leave_the_others_empty() {
        // Both endpoints are 200, so that every texel is.
        let one = [200u8, 200, 0, 0, 0, 0, 0, 0];
        let out = decode(&one, 4, 4, Coding::Kept(BlockFormat::Bc4), &byte);
        assert_eq!(out[60..], [200, 0, 0, 255]);
        let two: Vec<u8> = one.iter().copied().chain([100, 100, 0, 0, 0, 0, 0, 0]).collect();
        assert_eq!(
            decode(&two, 4, 4, Coding::Kept(BlockFormat::Bc5), &byte)[..4],
            [200, 100, 0, 255]
        );
        // 127 is 1, and -127 is -1, which is clamped to 0.
        let signed = [127u8, 127, 0, 0, 0, 0, 0, 0];
        assert_eq!(decode(&signed, 4, 4, Coding::SignedRed, &byte)[..4], [255, 0, 0, 255]);
        let negative = [129u8, 129, 0, 0, 0, 0, 0, 0];
        assert_eq!(decode(&negative, 4, 4, Coding::SignedRed, &byte)[..4], [0, 0, 0, 255]);
    }

    #[test]
    fn any_bytes_are_a_block() {
        let mut state = 7u32;
        let noise: Vec<u8> = (0..16 * 400)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            })
            .collect();
        use BlockFormat::{Bc1, Bc2, Bc3, Bc4, Bc5, Bc7};
        for coding in [Bc1, Bc2, Bc3, Bc4, Bc5, Bc7].map(Coding::Kept).into_iter().chain([
            Coding::SignedRed,
            Coding::SignedRedGreen,
            Coding::Float(false),
            Coding::Float(true),
        ]) {
            let blocks = noise.len() / coding.bytes();
            let out = decode(&noise, blocks as u32 * 4, 4, coding, &byte);
            assert_eq!(out.len(), blocks * 64);
        }
    }
}
