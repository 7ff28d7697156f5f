//! Alpha coverage of mip levels of alpha-tested textures. Averaged opacity crosses the cutoff less
//! often at each level, so foliage would thin out with distance. Castano, "Computing Alpha Mipmaps"
//! (2010): each level's opacity is scaled until its coverage beyond the cutoff equals that of level
//! 0.

/// Scales the alpha bytes of all levels but the first to the coverage of level 0. `cutoff`: minimum
/// opacity that passes the alpha test, 0 to 1. Levels with coverage 0 or 1 are unchanged, as are
/// all levels if the cutoff passes every texel or none.
pub fn keep(levels: &mut [Vec<u8>], cutoff: f32) {
    if !(cutoff > 0.0 && cutoff <= 1.0) {
        return;
    }
    let Some((first, rest)) = levels.split_first_mut() else { return };
    let wanted = coverage(&histogram(first), cutoff, 1.0);
    if wanted <= 0.0 || wanted >= 1.0 {
        return;
    }
    for level in rest {
        let histogram = histogram(level);
        // Coverage is monotonic in the scale, so bisection finds the nearest one.
        let (mut low, mut high) = (0.0f32, 255.0f32);
        for _ in 0..24 {
            let middle = 0.5 * (low + high);
            if coverage(&histogram, cutoff, middle) < wanted {
                low = middle;
            } else {
                high = middle;
            }
        }
        let error = |scale: f32| (coverage(&histogram, cutoff, scale) - wanted).abs();
        let scale = if error(low) <= error(high) { low } else { high };
        for texel in level.as_chunks_mut::<4>().0 {
            texel[3] = scaled(texel[3], scale);
        }
    }
}

fn scaled(byte: u8, scale: f32) -> u8 {
    (f32::from(byte) * scale + 0.5).min(255.0) as u8
}

fn histogram(level: &[u8]) -> [u32; 256] {
    let mut counts = [0; 256];
    for texel in level.as_chunks::<4>().0 {
        if let Some(count) = counts.get_mut(usize::from(texel[3])) {
            *count += 1;
        }
    }
    counts
}

/// Fraction of texels that pass the alpha test after scaling.
fn coverage(histogram: &[u32; 256], cutoff: f32, scale: f32) -> f64 {
    let mut all = 0u64;
    let mut covered = 0u64;
    for (byte, &count) in (0..=255u8).zip(histogram) {
        all += u64::from(count);
        if f32::from(scaled(byte, scale)) / 255.0 >= cutoff {
            covered += u64::from(count);
        }
    }
    covered as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu_scene::mips::{TextureSemantic, chain};

    /// Disks of many sizes, one per 16x16 cell.
    fn leaves(size: usize) -> Vec<u8> {
        let dot = |x: usize, y: usize| {
            let mix = (x / 16) * 7919 + (y / 16) * 104_729;
            let (cx, cy) = ((mix % 7) as f32 + 4.5, (mix / 7 % 7) as f32 + 4.5);
            let radius = 1.5 + (mix / 49 % 8) as f32 * 0.4;
            let (dx, dy) = ((x % 16) as f32 - cx, (y % 16) as f32 - cy);
            ((radius - dx.hypot(dy)) * 0.5 + 0.5).clamp(0.0, 1.0) * 255.0
        };
        (0..size * size).flat_map(|i| [40, 160, 30, dot(i % size, i / size) as u8]).collect()
    }

    fn covered(level: &[u8]) -> f64 {
        coverage(&histogram(level), 0.5, 1.0)
    }

    #[test]
    fn smaller_levels_cover_as_much() {
        let mut levels = chain(&leaves(256), 256, 256, TextureSemantic::Cutout);
        let plain: Vec<f64> = levels.iter().map(|level| covered(level)).collect();
        keep(&mut levels, 0.5);
        let kept: Vec<f64> = levels.iter().map(|level| covered(level)).collect();
        println!("coverage before {plain:.3?}, after {kept:.3?}");
        assert!(plain[3] < 0.5 * plain[0], "coverage must decrease without scaling");
        for after in &kept[1..5] {
            assert!((after - kept[0]).abs() < 0.02, "{after} {}", kept[0]);
        }
    }

    #[test]
    fn what_is_whole_or_nothing_stays() {
        for alpha in [0, 255] {
            let mut levels = chain(&[9, 9, 9, alpha].repeat(64), 8, 8, TextureSemantic::Cutout);
            let before = levels.clone();
            keep(&mut levels, 0.5);
            assert_eq!(levels, before);
        }
    }
}
