//! A frame that is measured.

use std::time::Instant;

use super::{units::elapsed_ms, warm_up::WarmUp};
use crate::{
    frame::{Readback, RenderSettings, RenderedImage, Renderer},
    gpu::GpuResult,
    gpu_scene::{GpuScene, View},
};

/// Nothing is read back but the statistics.
pub const NOTHING: Readback = Readback { display: false, nits: false };

/// A frame without its pixels, and its times on the host clock.
pub struct TimedFrame {
    /// Statistics and the times of the passes.
    pub picture: RenderedImage,
    /// Time to record and submit it in ms.
    pub submitted_ms: f64,
    /// Time until the device has finished it in ms.
    pub ms: f64,
}

/// Keeps the passes at work that freeze in a still view: the more expensive, moving case.
pub fn keep_moving(settings: &mut RenderSettings) {
    settings.taa.still = false;
    settings.gi.freeze_after = u32::MAX;
    settings.ssr.still = false;
}

/// Draws frames until their times are stable.
pub fn warm_up(
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
    settings: &RenderSettings,
) -> GpuResult<()> {
    let mut warm_up = WarmUp::default();
    while !warm_up.is_complete_after(timed_frame(renderer, scene, view, settings)?.ms * 1e-3) {}
    Ok(())
}

/// Draws a frame, waits for it and measures it.
pub fn timed_frame(
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
    settings: &RenderSettings,
) -> GpuResult<TimedFrame> {
    let start = Instant::now();
    let pending = renderer.submit(scene, view, settings, NOTHING)?;
    let submitted_ms = elapsed_ms(start);
    let picture = renderer.collect(pending)?;
    Ok(TimedFrame { picture, submitted_ms, ms: elapsed_ms(start) })
}
