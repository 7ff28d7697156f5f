//! Still images as the mean of several frames.

use super::{
    readback::Readback,
    rendered_image::RenderedImage,
    renderer::Renderer,
    settings::{FrameSample, RenderSettings},
};
use crate::{
    gpu::{GpuError, GpuResult},
    gpu_scene::{GpuScene, View},
    settings::{AntiAliasing, ClusteredLightSettings},
};

impl RenderSettings {
    /// Settings of frame `number`, from 0, of the `count` frames whose mean is a still image. With
    /// one frame, and for TAA at a scale below 1, they are the image's own.
    #[must_use]
    pub fn still_frame(&self, number: u32, count: u32) -> Self {
        if count <= 1 || self.is_upscaled() {
            return self.clone();
        }
        Self {
            anti_aliasing: AntiAliasing::None,
            accumulated_frames: Some(number),
            sample: Some(FrameSample { number, count }),
            ..self.clone()
        }
    }
}

impl Renderer {
    /// Renders a still image as the mean of `samples` frames with different subpixel offsets. TAA
    /// at `render_scale` below 1 renders as many frames through its history. AOVs are sampled at
    /// pixel centers. One sample is equal to `render`.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn render_still(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
        samples: u32,
    ) -> GpuResult<RenderedImage> {
        self.render_still_with(scene, view, settings, samples, &mut |_| Ok(()))
    }

    /// As [`Renderer::render_still`]. `progress` is called with the number of samples before each
    /// further one; an error from it cancels the image.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost, and the error of `progress`.
    pub fn render_still_with<E: From<GpuError>>(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
        samples: u32,
        progress: &mut dyn FnMut(u32) -> Result<(), E>,
    ) -> Result<RenderedImage, E> {
        let scaled = settings.is_upscaled();
        if samples <= 1 && !scaled {
            return Ok(self.render(scene, view, settings)?);
        }
        self.converge_probes(scene, view, settings)?;
        // AOVs are sampled at pixel centers.
        let single = RenderSettings { anti_aliasing: AntiAliasing::None, ..settings.clone() };
        let wants_center = !settings.aovs.is_empty() || settings.histogram;
        // The GI history accumulates over the samples, so they are rendered first.
        let joined = settings.gi.has_history() && !scaled;
        let mut center =
            (wants_center && !joined).then(|| self.render(scene, view, &single)).transpose()?;
        self.history.reset();
        let mut light_lists = settings.clustered_lights;
        let plain = RenderSettings { aovs: Vec::new(), histogram: false, ..settings.clone() };
        let one = |number: u32, light_lists: ClusteredLightSettings| RenderSettings {
            clustered_lights: light_lists,
            ..plain.still_frame(number, samples)
        };
        // The first frame finds the needed capacity of the light lists.
        let mut picture = self.render(scene, view, &one(0, light_lists))?;
        let mut limits = picture.limits;
        light_lists.enabled &= picture.clustered_light_stats.overflowed == 0;
        let nothing = Readback { display: false, nits: false };
        let mut ahead = None;
        for number in 1..samples {
            if let Err(canceled) = progress(number) {
                // The device may still draw it.
                if let Some(pending) = ahead {
                    self.collect(pending)?;
                }
                return Err(canceled);
            }
            let wanted = if number + 1 == samples { Readback::ALL } else { nothing };
            let next = self.submit(scene, view, &one(number, light_lists), wanted)?;
            if let Some(pending) = ahead.replace(next) {
                limits = self.collect(pending)?.limits.with_counts_of(&limits);
            }
        }
        if let Some(pending) = ahead {
            picture = self.collect(pending)?;
            picture.limits = picture.limits.with_counts_of(&limits);
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
