//! Uploads a session's scene, and updates it on the device.

use super::open_scene::OpenScene;
use crate::{
    frame::Renderer,
    gpu::{Gpu, GpuResult},
    gpu_scene::GpuScene,
};

impl OpenScene {
    /// Uploads the scene, with the resources that the look's passes need.
    ///
    /// # Errors
    ///
    /// [`GpuError`](crate::gpu::GpuError), e.g. out of memory or device lost.
    pub fn upload(&self, renderer: &mut Renderer) -> GpuResult<GpuScene> {
        let mut on_device = renderer.upload_with(&self.scene, &self.shadows(), self.levels())?;
        self.update_gi(renderer.gpu(), &mut on_device)?;
        Ok(on_device)
    }

    /// Updates the uploaded scene to the session's pose.
    ///
    /// # Errors
    ///
    /// [`GpuError`](crate::gpu::GpuError), e.g. out of memory or device lost.
    pub fn update_pose(&self, gpu: &Gpu, on_device: &mut GpuScene) -> GpuResult<()> {
        on_device.follow(gpu, &self.scene)?;
        self.update_gi(gpu, on_device)
    }

    /// Updates the lights of the uploaded scene ([`GpuScene::relight`]).
    ///
    /// # Errors
    ///
    /// [`GpuError`](crate::gpu::GpuError), e.g. out of memory or device lost.
    pub fn relight(&self, gpu: &Gpu, on_device: &mut GpuScene) -> GpuResult<()> {
        on_device.relight(gpu, &self.scene)?;
        self.update_gi(gpu, on_device)
    }

    fn update_gi(&self, gpu: &Gpu, on_device: &mut GpuScene) -> GpuResult<()> {
        let gi = self.gi();
        if gi.enabled {
            on_device.update_gi(gpu, &self.scene, &gi)?;
        }
        if self.look.needs_flare_sources() {
            on_device.enable_offscreen_flares(gpu, &self.scene)
        } else {
            Ok(())
        }
    }
}
