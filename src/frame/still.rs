//! Still images as the mean of several frames.

use super::{
    readback::Readback,
    rendered_image::RenderedImage,
    renderer::Renderer,
    settings::{FrameSample, RenderSettings},
};
use crate::{
    gpu::GpuResult,
    gpu_scene::{GpuScene, View},
    settings::{AntiAliasing, ClusteredLightSettings},
};

impl Renderer {
    /// Renders a still image as the mean of `samples` frames with different subpixel offsets. TAA
    /// at `render_scale` below 1 renders as many frames through its history. AOVs are sampled at pixel
    /// centers. One sample is equal to `render`.
    ///
    /// # Errors
    /// [`GpuError`](crate::gpu::GpuError) if memory is exhausted or the device is lost.
    pub fn render_still(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
        samples: u32,
    ) -> GpuResult<RenderedImage> {
        let scaled = settings.is_upscaled();
        if samples <= 1 && !scaled {
            return self.render(scene, view, settings);
        }
        // AOVs are sampled at pixel centers.
        let single = RenderSettings { anti_aliasing: AntiAliasing::None, ..settings.clone() };
        let wants_center = !settings.aovs.is_empty() || settings.histogram;
        // The GI history accumulates over the samples, so they are rendered first.
        let joined = settings.gi.has_history() && !scaled;
        let mut center =
            (wants_center && !joined).then(|| self.render(scene, view, &single)).transpose()?;
        self.history.reset();
        let mut light_lists = settings.clustered_lights;
        let one = |number: u32, light_lists: ClusteredLightSettings| {
            let plain = RenderSettings {
                aovs: Vec::new(),
                histogram: false,
                clustered_lights: light_lists,
                ..settings.clone()
            };
            if scaled {
                return plain;
            }
            let sample = Some(FrameSample { number, count: samples });
            RenderSettings {
                anti_aliasing: AntiAliasing::None,
                accumulated_frames: Some(number),
                sample,
                ..plain
            }
        };
        // The first frame finds the needed capacity of the light lists.
        let mut picture = self.render(scene, view, &one(0, light_lists))?;
        light_lists.enabled &= picture.clustered_light_stats.overflowed == 0;
        let nothing = Readback { display: false, nits: false };
        let mut ahead = None;
        for number in 1..samples {
            let wanted = if number + 1 == samples { Readback::ALL } else { nothing };
            let next = self.submit(scene, view, &one(number, light_lists), wanted)?;
            if let Some(pending) = ahead.replace(next) {
                self.collect(pending)?;
            }
        }
        if let Some(pending) = ahead {
            picture = self.collect(pending)?;
        }
        if wants_center && joined {
            center = Some(self.render(scene, view, &single)?);
        }
        Ok(match center {
            Some(center) => {
                RenderedImage { aovs: center.aovs, histogram: center.histogram, ..picture }
            }
            None => picture,
        })
    }
}
