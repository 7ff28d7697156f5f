//! Texture lookup on the host, at full resolution.

use std::sync::LazyLock;

use glam::{DVec4, Vec2, Vec3};

use super::{Image, Sampler, Scene, TextureRef, Wrap};
use crate::photometry::color::srgb_eotf;

/// Linear light of each sRGB code.
static LINEAR_OF_SRGB: LazyLock<[f64; 256]> =
    LazyLock::new(|| std::array::from_fn(|code| srgb_eotf(code as f64 / 255.0)));

/// Encoding of a texture's red, green and blue: sRGB is linearized before filtering.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// sRGB codes.
    Srgb,
    /// Linear codes.
    Linear,
}

/// Texel of a reference at texture coordinates of sets 0 and 1; `None` without a texture.
#[must_use]
pub fn texel(
    scene: &Scene,
    reference: Option<TextureRef>,
    uv: [Vec2; 2],
    coding: Coding,
) -> Option<DVec4> {
    let reference = reference?;
    let texture = scene.textures.get(reference.texture)?;
    let image = scene.images.get(texture.image)?;
    let set = uv[usize::from(reference.uv_set.min(1))].extend(1.0);
    let [u, v] = reference.transform.map(|row| Vec3::from(row).dot(set));
    Some(image_texel(image, texture.sampler, u, v, coding == Coding::Srgb))
}

/// Texel at texture coordinates by the sampler's magnification filter, each channel 0 to 1; 1 where
/// the image lacks pixels. `srgb`: red, green and blue are linearized before filtering.
fn image_texel(image: &Image, sampler: Sampler, u: f32, v: f32, srgb: bool) -> DVec4 {
    let (width, height) = (i64::from(image.width), i64::from(image.height));
    let table = &*LINEAR_OF_SRGB;
    let read = |x: i64, y: i64| {
        let x = wrapped(x, width, sampler.wrap_u);
        let y = wrapped(y, height, sampler.wrap_v);
        let at = ((y * width + x) * 4) as usize;
        let code = |i: usize| image.rgba8.get(at + i).copied().unwrap_or(255);
        let byte = |i: usize| f64::from(code(i)) / 255.0;
        let color = |i: usize| if srgb { table[usize::from(code(i))] } else { byte(i) };
        DVec4::new(color(0), color(1), color(2), byte(3))
    };
    let (x, y) = (f64::from(u) * width as f64, f64::from(v) * height as f64);
    if !sampler.mag_linear {
        return read(x.floor() as i64, y.floor() as i64);
    }
    let (x, y) = (x - 0.5, y - 0.5);
    let (x0, y0) = (x.floor(), y.floor());
    let (fx, fy) = (x - x0, y - y0);
    let (x0, y0) = (x0 as i64, y0 as i64);
    // Huge coordinates saturate.
    let row = |y: i64| read(x0, y).lerp(read(x0.saturating_add(1), y), fx);
    row(y0).lerp(row(y0.saturating_add(1)), fy)
}

fn wrapped(index: i64, size: i64, wrap: Wrap) -> i64 {
    let size = size.max(1);
    match wrap {
        Wrap::Repeat => index.rem_euclid(size),
        Wrap::Clamp => index.clamp(0, size - 1),
        Wrap::Mirror => {
            let folded = index.rem_euclid(2 * size);
            folded.min(2 * size - 1 - folded)
        }
    }
}
