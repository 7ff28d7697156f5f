//! Frames: the passes of one image in execution order, and the renderer that runs them.

pub mod anti_aliasing;
mod aov;
mod declare;
mod frame_inputs;
mod history;
pub mod incident;
mod jitter;
pub mod limits;
mod pipelines;
mod probes;
mod readback;
mod rendered_image;
mod renderer;
mod sampling;
mod settings;
mod still;

pub use self::{
    anti_aliasing::{AntiAliasing, FrameSample, TemporalSettings},
    aov::{Aov, SsrAov},
    readback::Readback,
    rendered_image::{ClusteredLightStats, DrawStats, RenderedImage},
    renderer::{PendingFrame, Renderer},
    settings::{ClusteredLightSettings, RenderSettings, ShadowSettings},
};

pub use crate::gpu_scene::gi::GiSettings;
pub use crate::gpu_scene::volumes::VolumeSettings;
pub use crate::passes::ao::AoSettings;
pub use crate::passes::ssr::{Reprojection, SsrSettings};
