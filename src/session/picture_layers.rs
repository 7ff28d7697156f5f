//! Layers of pictures: light in nits and AOVs, with the names and channels of EXR files.

use glam::{Mat3, Vec3};

use super::error::SessionError;
use crate::{
    frame::{Aov, RenderedImage},
    output::ExrLayer,
    passes::gbuffer_channel::GbufferChannel,
};

/// A layer of a picture, as an EXR holds it.
pub struct PictureLayer {
    /// Name of the AOV; empty for the picture itself.
    pub name: &'static str,
    /// Names of the channels; one to three.
    pub channels: &'static [&'static str],
    /// Pixels, by rows from the top; of each, the first values are those of the channels. Light is
    /// in nits.
    pub pixels: Vec<[f32; 4]>,
}

/// Channels of light.
pub(super) const RGB: &[&str] = &["R", "G", "B"];

impl PictureLayer {
    /// The layer for an EXR.
    #[must_use]
    pub fn for_exr(&self) -> ExrLayer<'_> {
        ExrLayer { name: self.name, channels: self.channels, pixels: &self.pixels }
    }
}

/// Light after a transform of its colors; the fourth value stays.
pub(super) fn transformed(light: &[[f32; 4]], to_file: Mat3) -> Vec<[f32; 4]> {
    let of = |p: &[f32; 4]| (to_file * Vec3::new(p[0], p[1], p[2])).extend(p[3]).to_array();
    light.iter().map(of).collect()
}

/// The layers of a picture of the rasterizer: the picture, and its AOVs. `to_file` transforms
/// colors of light from nits; the identity keeps nits.
#[must_use]
pub fn raster_layers(picture: &RenderedImage, to_file: Mat3) -> Vec<PictureLayer> {
    let nits = picture.nits.iter().map(|c| (to_file * Vec3::from_array(*c)).extend(1.0).to_array());
    let light = PictureLayer { name: "", channels: RGB, pixels: nits.collect() };
    let aovs = picture.aovs.iter().map(|(aov, pixels)| PictureLayer {
        name: aov.name(),
        channels: channels(*aov),
        pixels: match aov {
            Aov::Channel(_) | Aov::Velocity => pixels.clone(),
            _ => transformed(pixels, to_file),
        },
    });
    std::iter::once(light).chain(aovs).collect()
}

/// The AOVs of the rasterizer with these names, each once; `all` stands for all.
///
/// # Errors
/// [`SessionError::InvalidRequest`] for an unknown name.
pub fn raster_aovs(names: &[String]) -> Result<Vec<Aov>, SessionError> {
    let mut aovs = Vec::new();
    for name in names {
        if name == "all" {
            aovs.extend(Aov::ALL.map(|(_, aov)| aov));
            continue;
        }
        let found = Aov::ALL.iter().find(|(known, _)| known == name).ok_or_else(|| {
            let known = Aov::ALL.map(|(name, _)| name).join(", ");
            SessionError::InvalidRequest(format!(
                "invalid --aov '{name}': expected all or one of {known}"
            ))
        })?;
        aovs.push(found.1);
    }
    let mut once = Vec::new();
    for aov in aovs {
        if !once.contains(&aov) {
            once.push(aov);
        }
    }
    Ok(once)
}

fn channels(aov: Aov) -> &'static [&'static str] {
    match aov {
        Aov::Channel(
            GbufferChannel::Metallic
            | GbufferChannel::Roughness
            | GbufferChannel::Occlusion
            | GbufferChannel::AmbientOcclusion,
        ) => &["V"],
        Aov::Channel(GbufferChannel::Depth) => &["Z"],
        Aov::Velocity => &["X", "Y"],
        Aov::Channel(
            GbufferChannel::Normal | GbufferChannel::Position | GbufferChannel::BentNormal,
        ) => &["X", "Y", "Z"],
        _ => RGB,
    }
}
