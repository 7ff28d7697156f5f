//! Texture lookup of photons, at full resolution.

use glam::{DVec4, Vec2};

use crate::scene::{Scene, TextureRef, texture_lookup};

/// Encoding of a texture's red, green and blue: sRGB is linearized before filtering.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Srgb,
    Linear,
}

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
    let srgb = coding == Coding::Srgb;
    Some(texture_lookup::texel(image, texture.sampler, place[0], place[1], srgb))
}
