//! Bilinear texture lookup at full resolution.

use std::sync::LazyLock;

use glam::{DVec4, Vec2};

use crate::{
    photometry::color::srgb_eotf,
    scene::{Image, Scene, TextureRef, Wrap},
};

/// Encoding of a texture's red, green and blue: sRGB is linearized before filtering.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Srgb,
    Linear,
}

static LINEAR_OF_CODE: LazyLock<[f64; 256]> =
    LazyLock::new(|| std::array::from_fn(|code| srgb_eotf(code as f64 / 255.0)));

/// Texel at texture coordinates of set 0 or 1; `None` without a texture.
pub(super) fn texel(
    scene: &Scene,
    map: Option<TextureRef>,
    uv: [Vec2; 2],
    coding: Coding,
) -> Option<DVec4> {
    let map = map?;
    let texture = scene.textures.get(map.texture)?;
    let image = scene.images.get(texture.image)?;
    let set = uv[usize::from(map.uv_set.min(1))].extend(1.0);
    let place = map.transform.map(|row| set.dot(row.into()));
    let (x, y) = (
        f64::from(place[0]) * f64::from(image.width),
        f64::from(place[1]) * f64::from(image.height),
    );
    let sampler = texture.sampler;
    let read = |x: f64, y: f64| {
        let column = wrapped(x as i64, i64::from(image.width), sampler.wrap_u);
        let row = wrapped(y as i64, i64::from(image.height), sampler.wrap_v);
        decoded(image, (row * i64::from(image.width) + column) as usize, coding)
    };
    if !sampler.mag_linear {
        return Some(read(x.floor(), y.floor()));
    }
    let (left, top) = ((x - 0.5).floor(), (y - 0.5).floor());
    let (across, down) = (x - 0.5 - left, y - 0.5 - top);
    let above = read(left, top).lerp(read(left + 1.0, top), across);
    let below = read(left, top + 1.0).lerp(read(left + 1.0, top + 1.0), across);
    Some(above.lerp(below, down))
}

fn decoded(image: &Image, pixel: usize, coding: Coding) -> DVec4 {
    let Some(&[r, g, b, a]) =
        image.rgba8.get(pixel * 4..pixel * 4 + 4).and_then(|bytes| bytes.first_chunk())
    else {
        return DVec4::ONE;
    };
    let part = |code: u8| f64::from(code) / 255.0;
    let color = |code: u8| {
        if coding == Coding::Srgb { LINEAR_OF_CODE[usize::from(code)] } else { part(code) }
    };
    DVec4::new(color(r), color(g), color(b), part(a))
}

fn wrapped(index: i64, size: i64, wrap: Wrap) -> i64 {
    let size = size.max(1);
    match wrap {
        Wrap::Repeat => index.rem_euclid(size),
        Wrap::Clamp => index.clamp(0, size - 1),
        Wrap::Mirror => {
            let there_and_back = index.rem_euclid(2 * size);
            there_and_back.min(2 * size - 1 - there_and_back)
        }
    }
}
