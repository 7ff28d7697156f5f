//! Mip chains ([textures.md](../../docs/textures.md)). Each texel is the mean over its footprint of
//! a quantity that averages linearly: light for colors, vectors for normals, the stored value for
//! data. Sums stay in floats from level to level.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::photometry::color::{srgb_eotf, srgb_oetf};

/// Meaning of a texture's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextureSemantic {
    /// Red, green and blue are sRGB-encoded; alpha is linear and does not weight them.
    Color,
    /// As `Color`, but each texel's color is weighted by its opacity, so that invisible colors do
    /// not bleed into visible ones.
    Cutout,
    /// Four independent values.
    Data,
    /// Normal in red, green and blue, each from -1 to 1. Alpha is not read. In the chain, alpha is
    /// the square root of the variance of the normals under the texel ([`variance`]); 0 in level 0.
    Normals,
}

/// Weight of a fully transparent texel in [`TextureSemantic::Cutout`]; keeps the color of regions
/// without any opacity.
const UNSEEN: f32 = 1.0 / 65536.0;

/// All levels down to 1x1, as RGBA bytes.
#[must_use]
pub fn chain(rgba8: &[u8], width: u32, height: u32, meaning: TextureSemantic) -> Vec<Vec<u8>> {
    let (mut w, mut h) = (width as usize, height as usize);
    let mut levels = vec![first(rgba8, meaning)];
    let mut sums: Option<Vec<[f32; 4]>> = None;
    while w > 1 || h > 1 {
        let (nw, nh) = ((w / 2).max(1), (h / 2).max(1));
        let next = match &sums {
            None => {
                let texels = rgba8.as_chunks::<4>().0;
                halve((w, h), (nw, nh), |index| {
                    texels.get(index).map_or([0.0; 4], |texel| decode(*texel, meaning))
                })
            }
            Some(sums) => {
                halve((w, h), (nw, nh), |index| sums.get(index).copied().unwrap_or_default())
            }
        };
        levels.push(next.iter().flat_map(|&sum| encode(sum, meaning)).collect());
        sums = Some(next);
        (w, h) = (nw, nh);
    }
    levels
}

/// Level 0 as uploaded.
fn first(rgba8: &[u8], meaning: TextureSemantic) -> Vec<u8> {
    let mut out = rgba8.to_vec();
    if meaning == TextureSemantic::Normals {
        for texel in out.as_chunks_mut::<4>().0 {
            texel[3] = 0;
        }
    }
    out
}

/// Decodes a texel to values that average linearly.
fn decode(texel: [u8; 4], meaning: TextureSemantic) -> [f32; 4] {
    let (linear, _) = tables();
    let [r, g, b, a] = texel.map(|byte| f32::from(byte) / 255.0);
    let light = || texel.map(|byte| linear[usize::from(byte)]);
    match meaning {
        TextureSemantic::Data => [r, g, b, a],
        TextureSemantic::Color => {
            let [r, g, b, _] = light();
            [r, g, b, a]
        }
        TextureSemantic::Cutout => {
            let [r, g, b, _] = light();
            let weight = a + UNSEEN;
            [r * weight, g * weight, b * weight, weight]
        }
        TextureSemantic::Normals => {
            let [x, y, z] = [r, g, b].map(|x| x * 2.0 - 1.0);
            let length = (x * x + y * y + z * z).sqrt();
            // A texel without a direction stands for the unperturbed normal.
            if length > 1e-3 {
                [x / length, y / length, z / length, 0.0]
            } else {
                [0.0, 0.0, 1.0, 0.0]
            }
        }
    }
}

fn encode(mean: [f32; 4], meaning: TextureSemantic) -> [u8; 4] {
    let (_, encoded) = tables();
    let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
    let light = |x: f32| encoded[(x.clamp(0.0, 1.0) * 65535.0 + 0.5) as usize];
    let [x, y, z, w] = mean;
    match meaning {
        TextureSemantic::Data => mean.map(byte),
        TextureSemantic::Color => [light(x), light(y), light(z), byte(w)],
        TextureSemantic::Cutout => [light(x / w), light(y / w), light(z / w), byte(w - UNSEEN)],
        TextureSemantic::Normals => {
            let length = (x * x + y * y + z * z).sqrt();
            if length < 1e-3 {
                return [128, 128, 255, 255];
            }
            let [x, y, z] = [x, y, z].map(|x| byte(x / length * 0.5 + 0.5));
            [x, y, z, byte(variance(length).sqrt())]
        }
    }
}

/// Increase of the squared alpha of a microfacet distribution for a mean of unit normals of this
/// length, at most 1.
///
/// The normals are modeled as a von Mises-Fisher distribution about their mean. Its concentration
/// is about (3 r - r^3) / (1 - r^2) (Banerjee et al., "Clustering on the Unit Hypersphere using von
/// Mises-Fisher Distributions", JMLR 6, 2005, equation 4.4), as in Han et al., "Frequency Domain
/// Normal Map Filtering", SIGGRAPH 2007, section 5.2. Near its axis it is exp(-concentration
/// theta^2 / 2), a Beckmann distribution exp(-tan^2 theta / alpha^2) with alpha^2 = 2 /
/// concentration. Slope variances add under convolution (Olano and Baker, "LEAN Mapping", I3D 2010,
/// section 3), so this value adds to alpha^2 of the microfacets. GGX takes the alpha of the
/// Beckmann distribution, as in Tokuyoshi and Kaplanyan, "Improved Geometric Specular
/// Antialiasing", I3D 2019, section 3.
#[must_use]
pub fn variance(length: f32) -> f32 {
    let r = length.clamp(0.0, 1.0);
    let concentration = (3.0 * r - r * r * r) / (1.0 - r * r).max(1e-9);
    if concentration > 2.0 { 2.0 / concentration } else { 1.0 }
}

fn halve(
    (w, h): (usize, usize),
    (nw, nh): (usize, usize),
    texel: impl Fn(usize) -> [f32; 4] + Sync,
) -> Vec<[f32; 4]> {
    let columns: Vec<Vec<(usize, f32)>> = (0..nw).map(|x| cover(x, nw, w)).collect();
    let mut to = vec![[0f32; 4]; nw * nh];
    let rows = to.par_chunks_mut(nw).enumerate();
    // Small levels are not split over threads.
    rows.with_min_len((1 << 14) / nw.max(1) + 1).for_each(|(y, row)| {
        let lines = cover(y, nh, h);
        for (out, columns) in row.iter_mut().zip(&columns) {
            for &(sy, wy) in &lines {
                for &(sx, wx) in columns {
                    for (sum, value) in out.iter_mut().zip(texel(sy * w + sx)) {
                        *sum += wx * wy * value;
                    }
                }
            }
        }
    });
    to
}

/// Texels of `from` under the texel `index` of `to`, with weights that sum to 1: two at even sizes,
/// three at odd ones.
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
            (0..65536)
                .map(|step| (srgb_oetf(f64::from(step) / 65535.0) * 255.0 + 0.5) as u8)
                .collect(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_and_white_average_to_half_the_light() {
        let checker: Vec<u8> = [0u8, 255, 255, 0].iter().flat_map(|&v| [v, v, v, 255]).collect();
        let levels = chain(&checker, 2, 2, TextureSemantic::Color);
        assert_eq!(levels[1], [188, 188, 188, 255], "sRGB 188 is half the light of 255");
        assert_eq!(chain(&checker, 2, 2, TextureSemantic::Data)[1], [128, 128, 128, 255]);
    }

    #[test]
    fn odd_sizes_weigh_every_texel_the_same() {
        let row: Vec<u8> = [0u8, 0, 255].iter().flat_map(|&v| [v, v, v, v]).collect();
        let levels = chain(&row, 3, 1, TextureSemantic::Data);
        assert_eq!(levels.len(), 2);
        assert_eq!(levels[1], [85, 85, 85, 85]);
    }

    #[test]
    fn the_last_level_is_the_mean_of_all_texels() {
        // 7 x 11 is odd on every level but the last; rounding to bytes at each level would drift.
        let texels: Vec<u8> = (0..7 * 11 * 4u32).map(|i| (i * 37 % 251) as u8).collect();
        let mut mean = [0f64; 4];
        for texel in texels.as_chunks::<4>().0 {
            for (mean, byte) in mean.iter_mut().zip(texel) {
                *mean += f64::from(*byte) / 77.0;
            }
        }
        let levels = chain(&texels, 7, 11, TextureSemantic::Data);
        for (byte, mean) in levels[levels.len() - 1].iter().zip(mean) {
            assert!((f64::from(*byte) - mean).abs() <= 0.501, "{byte} {mean}");
        }
    }

    #[test]
    fn a_plain_picture_stays_as_it_is() {
        for byte in 0..=255u8 {
            let plain = [byte; 4 * 5 * 7];
            for meaning in [TextureSemantic::Color, TextureSemantic::Cutout, TextureSemantic::Data]
            {
                for level in chain(&plain, 5, 7, meaning) {
                    assert!(level.iter().all(|&b| b == byte), "{meaning:?} {byte}");
                }
            }
        }
    }

    #[test]
    fn transparent_texels_do_not_bleed() {
        // A red leaf beside transparent green, and a fully transparent corner.
        let texels = [255u8, 0, 0, 255, 0, 255, 0, 0];
        assert_eq!(chain(&texels, 2, 1, TextureSemantic::Cutout)[1], [255, 0, 0, 128]);
        assert_eq!(chain(&texels, 2, 1, TextureSemantic::Color)[1], [188, 188, 0, 128]);
        assert_eq!(chain(&[9, 9, 9, 0].repeat(4), 2, 2, TextureSemantic::Cutout)[1], [9, 9, 9, 0]);
    }

    #[test]
    fn normals_average_as_vectors_and_leave_their_variance() {
        // Two opposite slopes of 45 degrees: the mean is upright, 0.707 long.
        let slope = |x: f32| {
            [x * 0.5 + 0.5, 0.5, 0.5f32.sqrt() * 0.5 + 0.5, 1.0].map(|v| (v * 255.0).round() as u8)
        };
        let texels: Vec<u8> = [slope(0.5f32.sqrt()), slope(-0.5f32.sqrt())].concat();
        let levels = chain(&texels, 2, 1, TextureSemantic::Normals);
        assert_eq!(levels[0][3], 0, "a texel alone has no variance");
        assert_eq!(levels[0][..3], texels[..3]);
        assert!(
            levels[1][0].abs_diff(128) <= 1
                && levels[1][1].abs_diff(128) <= 1
                && levels[1][2] == 255
        );
        let r = 0.5f32.sqrt();
        let expected = 2.0 * (1.0 - r * r) / (3.0 * r - r * r * r);
        let stored = (f32::from(levels[1][3]) / 255.0).powi(2);
        assert!((stored - expected).abs() < 0.01, "{stored} {expected}");
        let flat = [128u8, 128, 255, 255].repeat(16);
        for level in chain(&flat, 4, 4, TextureSemantic::Normals) {
            for texel in level.as_chunks::<4>().0 {
                assert_eq!(*texel, [128, 128, 255, 0]);
            }
        }
    }

    #[test]
    fn small_slopes_add_the_sum_of_their_variances() {
        // Slopes of a standard deviation of 0.05 on each axis: LEAN mapping adds 2 * 0.05^2.
        let (mut mean, mut count) = ([0f64; 3], 0.0);
        for i in 0..400 {
            // Samples of equal probability of a 2D Gaussian.
            let radius = 0.05 * (-2.0 * ((f64::from(i) + 0.5) / 400.0).ln()).sqrt();
            for j in 0..16 {
                let (sin, cos) = (f64::from(j) * std::f64::consts::TAU / 16.0).sin_cos();
                let (x, y) = (radius * cos, radius * sin);
                let length = (x * x + y * y + 1.0).sqrt();
                for (mean, v) in mean.iter_mut().zip([x, y, 1.0]) {
                    *mean += v / length;
                }
                count += 1.0;
            }
        }
        let length = mean.map(|x| x / count).iter().map(|x| x * x).sum::<f64>().sqrt();
        let found = f64::from(variance(length as f32));
        assert!((found / (2.0 * 0.05 * 0.05) - 1.0).abs() < 0.02, "{found}");
    }
}
