//! Converged light of the irradiance volume for stills (docs/irradiance-volumes.md, "Updates").

use super::{
    declare::declare_probe_updates, frame_inputs::FrameInputs, pipelines, renderer::Renderer,
    sampling::FrameSampling, settings::RenderSettings,
};
use crate::{
    gpu::{GpuError, GpuResult},
    gpu_scene::{GpuScene, View},
    graph::Graph,
};

/// Maximum updates of a submission: a device times at most 128 passes, of which an update has five.
const BATCH: usize = 16;
/// Maximum rays of a submission of more than one update: longer ones can meet a driver's time
/// limit.
const BATCH_RAYS: u32 = 4_194_304;

impl Renderer {
    /// Updates the irradiance volume until it has the converged light of a still, if the settings
    /// use it. The light depends on the scene and the settings, not on earlier frames. A meter's
    /// picture takes the light that the volume has, if it has any.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost, and
    /// [`GpuError::Interrupted`].
    pub fn converge_probes(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
    ) -> GpuResult<()> {
        let Some((volume, seen)) = scene.irradiance_volume(&settings.gi) else { return Ok(()) };
        if settings.metered && !volume.is_new() {
            return Ok(());
        }
        let batch = BATCH.min((BATCH_RAYS / settings.gi.probe_rays.max(1)).max(1) as usize);
        loop {
            let updates = volume.still_updates(seen, settings.gi.probe_rays, batch);
            if updates.is_empty() {
                return Ok(());
            }
            pipelines::prepare(&self.passes, &self.gpu, (scene, view), settings)?;
            let mut sampling = FrameSampling::new(&self.history, scene, view, settings);
            sampling.probe_updates = updates;
            sampling.restart_noise();
            let kept = (self.list_capacity, None);
            let inputs = FrameInputs::new(&self.gpu, scene, (view, &sampling), settings, kept)?;
            pipelines::create_variants(&self.passes, &self.gpu, scene, &inputs, settings)?;
            let mut graph = Graph::new(self.history.number);
            let moved = self.skinned_scene.take() == Some(scene.revision);
            declare_probe_updates(&mut graph, &self.passes, scene, &inputs, moved);
            let mut rec = self.frames.begin()?;
            if let Some(interrupt) = &self.interrupt {
                rec.interrupt_by(interrupt);
            }
            graph.execute(&mut rec, &mut self.cache)?;
            let ticket = rec.submit()?;
            self.skinned_scene = Some(scene.revision);
            self.frames.wait(ticket)?;
            if self.interrupt.as_ref().is_some_and(|interrupt| interrupt.is_raised()) {
                self.skinned_scene = None;
                volume.reset();
                return Err(GpuError::Interrupted);
            }
        }
    }
}
