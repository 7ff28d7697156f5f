//! Readback of a frame's images and reports to the host.

use glam::Vec4;

use super::aov::Aov;
use crate::{
    gpu::vk,
    gpu_scene::View,
    passes::{formats::LIGHT, gbuffer_channel::GbufferChannel},
};

/// Parts of an image that are read back to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readback {
    /// Read back the display bytes.
    pub display: bool,
    /// Read back the nits image.
    pub nits: bool,
}

impl Readback {
    /// Reads back both.
    pub const ALL: Self = Self { display: true, nits: true };
}

pub(super) fn decode_u32(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

/// RGBA half-float pixels; color is multiplied by `scale`.
pub(super) fn decode_half4(bytes: &[u8], scale: f64) -> impl Iterator<Item = [f32; 4]> + '_ {
    debug_assert_eq!(LIGHT, vk::Format::R16G16B16A16_SFLOAT);
    bytes.chunks_exact(8).map(move |pixel| {
        let mut out = [0f32; 4];
        for (index, (out, half)) in out.iter_mut().zip(pixel.chunks_exact(2)).enumerate() {
            // Additive blending may overflow to infinity, which is clamped to the greatest half
            // float.
            let value = half::f16::from_le_bytes(half.try_into().unwrap_or_default()).to_f64();
            let value = value.clamp(half::f16::MIN.to_f64(), half::f16::MAX.to_f64());
            // The alpha of emission also encodes `FORWARD_MARK`, which is above 1.
            *out = if index < 3 { (value * scale) as f32 } else { value.min(1.0) as f32 };
        }
        out
    })
}

/// The alpha channel of half-float pixels, multiplied by `scale`, as gray.
pub(super) fn decode_half4_alpha(bytes: &[u8], scale: f64) -> Vec<[f32; 4]> {
    let alpha = |pixel: &[u8]| half::f16::from_le_bytes([pixel[6], pixel[7]]).to_f64();
    bytes
        .chunks_exact(8)
        .map(|pixel| [(alpha(pixel) * scale) as f32; 3])
        .map(|[r, g, b]| [r, g, b, 1.0])
        .collect()
}

/// Pairs of half floats as red and green.
pub(super) fn decode_half2(bytes: &[u8]) -> impl Iterator<Item = [f32; 4]> + '_ {
    let value =
        |bytes: &[u8]| half::f16::from_le_bytes(bytes.try_into().unwrap_or_default()).to_f32();
    bytes.chunks_exact(4).map(move |pixel| [value(&pixel[..2]), value(&pixel[2..]), 0.0, 1.0])
}

pub(super) fn decode_float4(bytes: &[u8], aov: Aov, view: &View) -> Vec<[f32; 4]> {
    let mut pixels: Vec<[f32; 4]> = vec![[0.0; 4]; bytes.len() / 16];
    bytemuck::cast_slice_mut::<_, u8>(&mut pixels).copy_from_slice(&bytes[..bytes.len() / 16 * 16]);
    if aov == Aov::Channel(GbufferChannel::Position) {
        // The device works in camera-relative coordinates; outputs are in world space.
        let camera = view.position.as_vec3().extend(0.0);
        for pixel in pixels.iter_mut().filter(|pixel| pixel[3] > 0.0) {
            *pixel = (Vec4::from_array(*pixel) + camera).to_array();
        }
    }
    pixels
}
