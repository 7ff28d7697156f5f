//! Mip chains, filtered where light adds up: in linear values for colours, as stored for data.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::photometry::color::{srgb_eotf, srgb_oetf};

/// All levels of a picture down to 1x1, as bytes of red, green, blue, alpha.
///
/// Each texel is the mean over the area that it covers. `srgb` says that red, green and blue are sRGB-encoded.
#[must_use]
pub fn chain(rgba8: &[u8], width: u32, height: u32, srgb: bool) -> Vec<Vec<u8>> {
    let mut levels = vec![rgba8.to_vec()];
    let (mut w, mut h) = (width as usize, height as usize);
    while w > 1 || h > 1 {
        let (nw, nh) = ((w / 2).max(1), (h / 2).max(1));
        let next = match levels.last() {
            Some(last) => halve(last, w, h, nw, nh, srgb),
            None => break,
        };
        levels.push(next);
        (w, h) = (nw, nh);
    }
    levels
}

fn halve(from: &[u8], w: usize, h: usize, nw: usize, nh: usize, srgb: bool) -> Vec<u8> {
    let (decode, encode) = tables();
    let columns: Vec<Vec<(usize, f32)>> = (0..nw).map(|x| cover(x, nw, w)).collect();
    let mut to = vec![0u8; nw * nh * 4];
    let rows = to.par_chunks_mut(nw * 4).enumerate();
    // Small levels are not worth the threads.
    rows.with_min_len((1 << 14) / nw.max(1) + 1).for_each(|(y, row)| {
        let lines = cover(y, nh, h);
        for (x, out) in row.chunks_exact_mut(4).enumerate() {
            let mut sum = [0f32; 4];
            for &(sy, wy) in &lines {
                for &(sx, wx) in &columns[x] {
                    let texel = &from[(sy * w + sx) * 4..][..4];
                    for (channel, (sum, &byte)) in sum.iter_mut().zip(texel).enumerate() {
                        let value = if srgb && channel < 3 { decode[byte as usize] } else { f32::from(byte) / 255.0 };
                        *sum += wx * wy * value;
                    }
                }
            }
            for (channel, (out, sum)) in out.iter_mut().zip(sum).enumerate() {
                *out = if srgb && channel < 3 {
                    encode[(sum.clamp(0.0, 1.0) * 65535.0 + 0.5) as usize]
                } else {
                    (sum * 255.0 + 0.5) as u8
                };
            }
        }
    });
    to
}

/// Which texels of `from` the texel `index` of `to` covers, with weights that sum to 1.
fn cover(index: usize, to: usize, from: usize) -> Vec<(usize, f32)> {
    let scale = from as f64 / to as f64;
    let (start, end) = (index as f64 * scale, (index + 1) as f64 * scale);
    (start as usize..from.min(end.ceil() as usize))
        .map(|texel| {
            let overlap = (end.min(texel as f64 + 1.0) - start.max(texel as f64)).max(0.0);
            (texel, (overlap / scale) as f32)
        })
        .collect()
}

/// sRGB bytes to linear values, and linear values in 65536 steps to sRGB bytes (IEC 61966-2-1).
fn tables() -> &'static (Vec<f32>, Vec<u8>) {
    static TABLES: OnceLock<(Vec<f32>, Vec<u8>)> = OnceLock::new();
    TABLES.get_or_init(|| {
        (
            (0..256).map(|byte| srgb_eotf(f64::from(byte) / 255.0) as f32).collect(),
            (0..65536).map(|step| (srgb_oetf(f64::from(step) / 65535.0) * 255.0 + 0.5) as u8).collect(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_and_white_average_to_half_the_light() {
        let checker: Vec<u8> = [0u8, 255, 255, 0].iter().flat_map(|&v| [v, v, v, 255]).collect();
        let levels = chain(&checker, 2, 2, true);
        assert_eq!(levels[1], [188, 188, 188, 255], "sRGB 188 is half the light of 255");
        assert_eq!(chain(&checker, 2, 2, false)[1], [128, 128, 128, 255]);
    }

    #[test]
    fn odd_sizes_weigh_every_texel_the_same() {
        let row: Vec<u8> = [0u8, 0, 255].iter().flat_map(|&v| [v, v, v, v]).collect();
        let levels = chain(&row, 3, 1, false);
        assert_eq!(levels.len(), 2);
        assert_eq!(levels[1], [85, 85, 85, 85]);
    }

    #[test]
    fn a_plain_picture_stays_as_it_is() {
        for byte in 0..=255u8 {
            let plain = [byte; 4 * 5 * 7];
            for level in chain(&plain, 5, 7, true) {
                assert!(level.iter().all(|&b| b == byte));
            }
        }
    }
}
