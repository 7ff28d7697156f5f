//! Frames: the passes of one image in execution order, and the renderer that runs them.

mod aov;
mod declare;
mod frame_inputs;
mod history;
pub mod incident;
mod jitter;
pub mod limits;
mod pipelines;
mod probe_convergence;
mod probes;
mod readback;
mod rendered_image;
mod renderer;
mod sampling;
mod settings;
mod still;

pub use self::{
    aov::{Aov, SsrAov},
    readback::Readback,
    rendered_image::{ClusteredLightStats, DrawStats, RenderedImage},
    renderer::{PendingFrame, Renderer},
    settings::{FrameSample, RenderSettings},
};

pub use crate::settings::{
    AntiAliasing, AoSettings, ClusteredLightSettings, GiSettings, ShadowSettings, SsrReprojection,
    SsrSettings, TemporalSettings, VolumeSettings,
};
