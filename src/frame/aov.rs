//! Arbitrary output variables (AOVs): extra outputs of a frame.

use crate::passes::gbuffer_channel::GbufferChannel;

/// An arbitrary output variable (AOV), an extra output selected with `--aov`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aov {
    /// A G-buffer channel.
    Channel(GbufferChannel),
    /// Emitted luminance in nits.
    Emission,
    /// Direct diffuse light from lights and the environment, in nits per channel.
    DirectDiffuse,
    /// Direct specular light from lights and the environment, in nits per channel.
    DirectSpecular,
    /// Indirect diffuse light (`gi.enabled`), in nits per channel.
    IndirectDiffuse,
    /// Indirect specular light (`gi.enabled`), in nits per channel.
    IndirectSpecular,
    /// Luminance in nits that the clamp on near VPLs removes at a white surface, before short rays
    /// restore it.
    VplClampLoss,
    /// Screen-space motion since the previous frame of the same scene and size, in pixels (right,
    /// down). 0 in the first frame.
    Velocity,
    /// A debug output of screen-space reflections (docs/reflections.md); 0 where they are off.
    Ssr(SsrAov),
}

/// A debug output of screen-space reflections (SSR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsrAov {
    /// Fractions of a pixel's rays that hit a surface, that reached the environment, and that found
    /// nothing.
    Hit,
    /// Ray length in meters, at most 10^6, which is beyond all surfaces; 0 where the rays found
    /// nothing.
    Distance,
    /// Motion of the reflection since the previous frame in pixels (right, down), and its source: 1
    /// surface motion, 2 motion of the mirror image.
    Motion,
    /// History length in frames, including this one.
    History,
    /// Reason for rejecting the history: 0 accepted, 1 no reflection here, 2 no history, 3 outside
    /// of the image, 4 another surface, 5 another normal, 6 another reflection distance, 7 another
    /// motion of the reflected surface.
    Rejection,
}

impl SsrAov {
    /// Index of the image in `SsrOutput::debug` that holds this output.
    pub(super) const fn debug_image_index(self) -> usize {
        match self {
            Self::Hit | Self::Distance | Self::Rejection => 0,
            Self::Motion | Self::History => 1,
        }
    }

    /// Extracts this output from a pixel of that image.
    pub(super) fn decode(self, [a, b, c, d]: [f32; 4]) -> [f32; 4] {
        match self {
            Self::Hit => [a, b, if d == 1.0 { 0.0 } else { (1.0 - a - b).clamp(0.0, 1.0) }, 1.0],
            Self::Distance | Self::History => [c, c, c, 1.0],
            Self::Rejection => [d, d, d, 1.0],
            Self::Motion => [a, b, d, 1.0],
        }
    }
}

impl Aov {
    /// All AOVs with their names on the command line and as EXR layers.
    pub const ALL: [(&'static str, Self); 21] = [
        ("base_color", Self::Channel(GbufferChannel::BaseColor)),
        ("metallic", Self::Channel(GbufferChannel::Metallic)),
        ("roughness", Self::Channel(GbufferChannel::Roughness)),
        ("normal", Self::Channel(GbufferChannel::Normal)),
        ("depth", Self::Channel(GbufferChannel::Depth)),
        ("occlusion", Self::Channel(GbufferChannel::Occlusion)),
        ("position", Self::Channel(GbufferChannel::Position)),
        ("ambient_occlusion", Self::Channel(GbufferChannel::AmbientOcclusion)),
        ("bent_normal", Self::Channel(GbufferChannel::BentNormal)),
        ("emission", Self::Emission),
        ("direct_diffuse", Self::DirectDiffuse),
        ("direct_specular", Self::DirectSpecular),
        ("indirect_diffuse", Self::IndirectDiffuse),
        ("indirect_specular", Self::IndirectSpecular),
        ("vpl_clamp_loss", Self::VplClampLoss),
        ("velocity", Self::Velocity),
        ("ssr_hit", Self::Ssr(SsrAov::Hit)),
        ("ssr_distance", Self::Ssr(SsrAov::Distance)),
        ("ssr_motion", Self::Ssr(SsrAov::Motion)),
        ("ssr_history", Self::Ssr(SsrAov::History)),
        ("ssr_rejection", Self::Ssr(SsrAov::Rejection)),
    ];

    /// Name on the command line and as an EXR layer.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, aov)| *aov == self).map_or("", |(name, _)| name)
    }
}
