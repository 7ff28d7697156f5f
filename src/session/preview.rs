//! 8-bit previews of path traced pictures and AOVs.

use glam::{DVec3, Mat3};

use crate::{
    camera::{Exposure, ToneMapper, tonemap::dithered},
    frame::{Aov, SsrAov},
    passes::gbuffer_channel::GbufferChannel,
    photometry::color,
};

/// Exposure, white balance, tone mapping and dithering on the host, as in the tone mapping pass.
#[derive(Clone, Copy, Debug)]
pub struct ViewTransform {
    /// Camera exposure.
    pub exposure: Exposure,
    /// White balance matrix, applied to exposed linear Rec.709 before tone mapping.
    pub white_balance: Mat3,
    /// Tone mapper.
    pub mapper: ToneMapper,
    /// Dither by one code to avoid banding.
    pub dither: bool,
}

impl ViewTransform {
    /// sRGB-encoded RGBA8 of linear Rec.709 in nits, in rows of `width` pixels.
    #[must_use]
    pub fn display(&self, nits: impl ExactSizeIterator<Item = DVec3>, width: usize) -> Vec<u8> {
        let multiplier = self.exposure.multiplier();
        let mut bytes = Vec::with_capacity(nits.len() * 4);
        for (index, c) in nits.enumerate() {
            let exposed = self.white_balance * (c * multiplier).as_vec3();
            for v in self.mapper.apply(exposed).to_array() {
                let code = (color::srgb_oetf(f64::from(v.clamp(0.0, 1.0))) * 255.0) as f32;
                let (x, y) = ((index % width) as u32, (index / width) as u32);
                bytes.push(if self.dither { dithered(code, x, y) } else { (code + 0.5) as u8 });
            }
            bytes.push(255);
        }
        bytes
    }
}

/// Colors of the reasons for rejecting the history of a reflection.
const REJECTION_COLORS: [[f32; 3]; 8] = [
    [0.0, 0.5, 0.0],
    [0.0, 0.0, 0.0],
    [1.0, 1.0, 1.0],
    [0.5, 0.5, 0.5],
    [1.0, 0.0, 0.0],
    [1.0, 0.5, 0.0],
    [0.0, 0.3, 1.0],
    [1.0, 0.0, 1.0],
];

/// RGBA8 preview of an AOV: light is multiplied by `multiplier` (1/nits) and sRGB-encoded; depth
/// and position are scaled to their range.
#[must_use]
pub fn aov_preview(aov: Aov, pixels: &[[f32; 4]], multiplier: f32) -> Vec<u8> {
    let there = || pixels.iter().filter(|pixel| pixel[3] > 0.0);
    let low = (0..3).map(|c| there().map(|p| p[c]).fold(f32::MAX, f32::min)).collect::<Vec<_>>();
    let high = (0..3).map(|c| there().map(|p| p[c]).fold(f32::MIN, f32::max)).collect::<Vec<_>>();
    pixels
        .iter()
        .flat_map(|pixel| {
            let mut bytes = [0, 0, 0, 255];
            for channel in 0..3 {
                let v = pixel[channel];
                let shown = match aov {
                    _ if pixel[3] <= 0.0 && matches!(aov, Aov::Channel(_)) => 0.0,
                    Aov::Channel(GbufferChannel::Normal | GbufferChannel::BentNormal) => {
                        v * 0.5 + 0.5
                    }
                    Aov::Channel(GbufferChannel::Depth | GbufferChannel::Position) => {
                        (v - low[channel]) / (high[channel] - low[channel]).max(1e-9)
                    }
                    Aov::Channel(GbufferChannel::BaseColor) => color::srgb_oetf_f32(v),
                    Aov::Channel(_) => v,
                    // Gray is zero motion; 32 pixels reach black or full color.
                    Aov::Velocity if channel < 2 => 0.5 + v / 64.0,
                    Aov::Velocity => 0.0,
                    Aov::Ssr(SsrAov::Hit) => v,
                    Aov::Ssr(SsrAov::Distance) => v / (v + 10.0),
                    Aov::Ssr(SsrAov::Motion) if channel < 2 => 0.5 + v / 64.0,
                    Aov::Ssr(SsrAov::Motion) => v / 2.0,
                    Aov::Ssr(SsrAov::History) => v / 16.0,
                    Aov::Ssr(SsrAov::Rejection) => REJECTION_COLORS[(v as usize).min(7)][channel],
                    Aov::Emission
                    | Aov::DirectDiffuse
                    | Aov::DirectSpecular
                    | Aov::IndirectDiffuse
                    | Aov::IndirectSpecular
                    | Aov::VplClampLoss => color::srgb_oetf_f32(v * multiplier),
                };
                bytes[channel] = (shown.clamp(0.0, 1.0) * 255.0 + 0.5) as u8;
            }
            bytes
        })
        .collect()
}
