//! Procedural textures: wood, leaf, screen. Wood repeats seamlessly.

use glam::{Vec2, Vec3};

use super::random::fractal_noise;
use crate::photometry::color::{srgb_eotf_f32, srgb_oetf_f32};

/// An 8-bit RGBA image, top row first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextureImage {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// `width * height` pixels.
    pub rgba8: Vec<u8>,
}

/// A linear color from sRGB code values.
#[must_use]
pub fn from_srgb8(code: [u8; 3]) -> Vec3 {
    Vec3::from(code.map(|value| srgb_eotf_f32(f32::from(value) / 255.0)))
}

fn byte(value: f32) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

/// An image whose pixel with center (u, v) is `pixel(u, v)`: code values 0 to 1, stored unchanged.
#[must_use]
pub fn picture(width: u32, height: u32, pixel: impl Fn(f32, f32) -> [f32; 4]) -> TextureImage {
    let (width, height) = (width.max(1), height.max(1));
    let mut rgba8 = Vec::with_capacity(width as usize * height as usize * 4);
    for y in 0..height {
        for x in 0..width {
            let (u, v) = ((x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / height as f32);
            rgba8.extend(pixel(u, v).map(byte));
        }
    }
    TextureImage { width, height, rgba8 }
}

/// An sRGB image from linear colors.
#[must_use]
pub fn color_image(width: u32, height: u32, pixel: impl Fn(f32, f32) -> Vec3) -> TextureImage {
    picture(width, height, |u, v| {
        let [r, g, b] = pixel(u, v).to_array().map(srgb_oetf_f32);
        [r, g, b, 1.0]
    })
}

/// A tangent-space normal map from a height (m) over a repeating tile of `size` m.
#[must_use]
pub fn normal_map_image(
    width: u32,
    height: u32,
    size: Vec2,
    relief: impl Fn(f32, f32) -> f32,
) -> TextureImage {
    let (step_u, step_v) = (1.0 / width.max(1) as f32, 1.0 / height.max(1) as f32);
    picture(width, height, |u, v| {
        let along_u = (relief(u + step_u, v) - relief(u - step_u, v)) / (2.0 * step_u * size.x);
        let along_v = (relief(u, v + step_v) - relief(u, v - step_v)) / (2.0 * step_v * size.y);
        // +Y of a normal map is up in the image, opposite to v.
        let normal = Vec3::new(-along_u, along_v, 1.0).normalize_or(Vec3::Z) * 0.5 + 0.5;
        [normal.x, normal.y, normal.z, 1.0]
    })
}

/// Properties of a plank's wood at a point.
#[derive(Clone, Copy, Debug)]
struct Grain {
    /// Growth ring, 0 (pale early wood) to 1 (dark late wood).
    ring: f32,
    /// Pore, 0 (none) to 1 (center).
    pore: f32,
    /// Tone of the plank, 0 to 1.
    tone: f32,
    /// Gap between planks, 0 (plank) to 1 (gap).
    gap: f32,
}

/// Planks across a repeating square texture.
const PLANKS: u32 = 4;

fn grain(u: f32, v: f32) -> Grain {
    let across = v * PLANKS as f32;
    let plank = (across.floor() as i64).rem_euclid(i64::from(PLANKS)) as u64;
    let within = across - across.floor();
    // Growth rings cut at a slant: lines along the plank, bent by low-frequency noise, denser to
    // one side.
    let bend = fractal_noise(u, v, [2, 8], 3, 100 + plank * 17);
    let phase = (within + 0.9 * bend) * 9.0 + plank as f32 * 2.7;
    let saw = phase - phase.floor();
    let ring = if saw < 0.75 { (saw / 0.75).powi(3) } else { ((1.0 - saw) / 0.25).powi(2) };
    let fiber = fractal_noise(u, v, [12, 256], 1, 200 + plank);
    let pore = ((fiber - 0.72) / 0.2).clamp(0.0, 1.0);
    let tone = fractal_noise(u, v, [3, 32], 3, 300 + plank) * 0.6
        + [0.1, 0.34, 0.0, 0.25][plank as usize % 4];
    let edge = within.min(1.0 - within);
    Grain { ring, pore, tone, gap: 1.0 - (edge / 0.006).clamp(0.0, 1.0) }
}

/// Linear base color of oiled oak, planks along `u`.
#[must_use]
pub fn wood_color(u: f32, v: f32) -> Vec3 {
    let grain = grain(u, v);
    let pale = Vec3::new(0.34, 0.195, 0.092);
    let dark = Vec3::new(0.165, 0.078, 0.031);
    let wood = pale.lerp(dark, (grain.ring * 0.55 + grain.tone * 0.5).min(1.0));
    wood * (1.0 - 0.45 * grain.pore) * (1.0 - 0.8 * grain.gap)
}

/// Height of the wood's surface (m).
#[must_use]
pub fn wood_relief(u: f32, v: f32) -> f32 {
    let grain = grain(u, v);
    1e-4 * (0.5 * grain.ring - 1.4 * grain.pore) - 8e-4 * grain.gap
}

/// Perceptual roughness of the wood.
#[must_use]
pub fn wood_roughness(u: f32, v: f32) -> f32 {
    let grain = grain(u, v);
    (0.42 + 0.12 * grain.ring + 0.3 * grain.pore + 0.3 * grain.gap).min(0.95)
}

/// A pointed leaf with its tip up and a serrated outline: linear color and opacity.
#[must_use]
pub fn leaf(u: f32, v: f32) -> (Vec3, f32) {
    let up = 1.0 - v;
    let x = (u - 0.5).abs();
    let teeth = 0.012 * (up * 60.0).sin().abs();
    let stalk = up < 0.1 && x < 0.012;
    let width = if up < 0.06 {
        0.0
    } else {
        0.36 * (((up - 0.06) / 0.94).powf(0.75) * std::f32::consts::PI).sin().max(0.0)
    };
    let inside = x < (width - teeth).max(0.0) || stalk;
    let vein_phase = (up - x * 0.9) * 11.0;
    let vein = ((vein_phase - vein_phase.round()).abs() / 0.07).min(1.0).min(x / 0.012);
    let mottle = fractal_noise(u, v, [8, 8], 4, 900);
    let green = Vec3::new(0.045, 0.135, 0.022).lerp(Vec3::new(0.095, 0.215, 0.035), mottle);
    (
        green.lerp(Vec3::new(0.22, 0.32, 0.10), 1.0 - vein.clamp(0.0, 1.0)),
        if inside { 1.0 } else { 0.0 },
    )
}

/// Image of a small camera monitor: a sunset with a histogram, linear, 0 to 1.
#[must_use]
pub fn screen(u: f32, v: f32) -> Vec3 {
    let sky =
        Vec3::new(0.10, 0.20, 0.55).lerp(Vec3::new(1.0, 0.42, 0.12), (v / 0.62).clamp(0.0, 1.0));
    let sun = Vec2::new((u - 0.64) * 1.6, v - 0.47).length();
    let ridge = 0.55 + 0.10 * (fractal_noise(u, 0.3, [5, 1], 4, 41) - 0.5) * 2.0;
    let near = 0.74 + 0.08 * (fractal_noise(u, 0.7, [4, 1], 4, 43) - 0.5) * 2.0;
    let scene = if v > near {
        Vec3::new(0.012, 0.016, 0.03)
    } else if v > ridge {
        Vec3::new(0.07, 0.05, 0.11)
    } else if sun < 0.07 {
        Vec3::new(1.0, 0.92, 0.65)
    } else {
        sky + Vec3::new(0.5, 0.28, 0.1) * (-sun * 6.0).exp()
    };
    // The histogram in the lower left corner.
    let (bar, level) = ((u - 0.05) / 0.3, (0.94 - v) / 0.2);
    if (0.0..1.0).contains(&bar) && (0.0..1.0).contains(&level) {
        let bin = (bar * 24.0).floor() / 24.0;
        let height =
            0.15 + 0.8 * fractal_noise(bin, 0.1, [6, 1], 3, 51) * (1.0 - (bin - 0.5).powi(2) * 2.0);
        return if level < height { Vec3::splat(0.75) } else { scene * 0.35 };
    }
    scene.min(Vec3::ONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transfer_curve_turns_back() {
        for code in 0..=255_u8 {
            let value = f32::from(code) / 255.0;
            assert!((srgb_oetf_f32(srgb_eotf_f32(value)) - value).abs() < 1e-4);
        }
        assert!((srgb_eotf_f32(0.5) - 0.214_041).abs() < 1e-5);
    }

    #[test]
    fn a_flat_relief_gives_the_neutral_normal() {
        let map = normal_map_image(4, 4, Vec2::ONE, |_, _| 0.3);
        assert!(map.rgba8.chunks_exact(4).all(|pixel| pixel == [128, 128, 255, 255]));
    }

    #[test]
    fn a_slope_tilts_the_normal_against_it() {
        // Height rises toward larger v, downward in the image: the normal leans up in the image,
        // +Y.
        let map = normal_map_image(4, 4, Vec2::ONE, |_, v| v);
        let pixel = &map.rgba8[..4];
        assert!(pixel[0] == 128 && pixel[1] > 200 && pixel[2] > 200, "{pixel:?}");
    }

    #[test]
    fn the_leaf_has_a_hole_around_it_and_a_body() {
        assert_eq!(leaf(0.02, 0.02).1, 0.0);
        assert_eq!(leaf(0.5, 0.5).1, 1.0);
    }
}
