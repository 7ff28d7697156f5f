//! A rendered image on the host, with the statistics of its frame.

use super::{aov::Aov, limits::FrameLimits};
use crate::{
    camera::Exposure,
    gpu::PassTime,
    passes::{exposure_histogram::LuminanceHistogram, lens_ghosts::GhostReport},
};

/// Statistics of clustered lights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClusteredLightStats {
    /// Clusters that have a light list.
    pub clusters: u32,
    /// Lights, without directional lights.
    pub lights: u32,
    /// Sum of list lengths over all clusters. Lists with groups of lights also count the lights that
    /// a pixel samples from them.
    pub evaluated: u64,
    /// Greatest of these lengths.
    pub max_per_cluster: u32,
    /// Clusters whose list did not fit, so that they evaluate all lights.
    pub overflowed: u32,
    /// Capacity that all lists together need, in entries.
    pub required_capacity: u64,
    /// Greatest bound on the contribution of culled lights in any cluster, as a fraction of display
    /// white.
    pub max_culled_contribution: f32,
}

/// Statistics of the drawn geometry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawStats {
    /// Draw calls.
    pub draws: usize,
    /// Mesh instances drawn.
    pub instances: usize,
    /// Instances culled outside of the view frustum.
    pub frustum_culled: usize,
    /// Instances culled behind others. The set of known occluders depends on the previous frames.
    pub occlusion_culled: usize,
}

/// A rendered image on the host.
#[derive(Clone, Debug)]
pub struct RenderedImage {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Display-encoded RGBA bytes, top row first.
    pub display: Vec<u8>,
    /// Scene-linear Rec.709 in nits, top row first.
    pub nits: Vec<[f32; 3]>,
    /// AOVs in the requested order; alpha is 1 where there is a surface.
    pub aovs: Vec<(Aov, Vec<[f32; 4]>)>,
    /// GPU time of each pass.
    pub times: Vec<PassTime>,
    /// Statistics of clustered lights.
    pub clustered_light_stats: ClusteredLightStats,
    /// Luminance histogram, if `RenderSettings::histogram` is set.
    pub histogram: Option<LuminanceHistogram>,
    /// Statistics of the drawn geometry.
    pub draw_stats: DrawStats,
    /// Report of the lens flare ghosts, if `RenderSettings::ghosts` is set.
    pub ghosts: Option<GhostReport>,
    /// Limits that took effect.
    pub limits: FrameLimits,
    /// The exposure of the frame.
    pub exposure: Exposure,
}
