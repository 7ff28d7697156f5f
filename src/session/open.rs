//! A session: an open scene on a device, with the renderer that draws it.

use super::{error::SessionError, open_scene::OpenScene};
use crate::{
    frame::{RenderSettings, RenderedImage, Renderer},
    gi::VplStats,
    gpu::{Gpu, GpuOptions, GpuResult},
    gpu_scene::{GpuScene, irradiance_volume::IrradianceVolume},
    graph::Prepared,
};

/// An open scene on a device, with the renderer that draws it.
pub struct Session {
    /// The scene on the host.
    pub opened: OpenScene,
    // Dropped before the renderer.
    pub(super) gpu_scene: GpuScene,
    pub(super) renderer: Renderer,
}

/// Opens a device, and creates a renderer with its pipelines.
///
/// # Errors
/// [`SessionError::Gpu`] without a suitable device.
pub fn open_device(options: &GpuOptions) -> Result<Renderer, SessionError> {
    Ok(Renderer::new(&Gpu::open(options)?)?)
}

/// Traces photons, and prepares flare sources outside of the picture, if the look needs them.
fn update_gi(gpu: &Gpu, opened: &OpenScene, gpu_scene: &mut GpuScene) -> GpuResult<()> {
    let gi = opened.gi();
    if gi.enabled {
        gpu_scene.update_gi(gpu, &opened.scene, &gi)?;
    }
    if opened.look.effects.needs_flare_sources() {
        gpu_scene.enable_offscreen_flares(gpu, &opened.scene)?;
    }
    Ok(())
}

/// Uploads a scene, with the resources that the passes of its look need.
pub(super) fn upload(renderer: &mut Renderer, opened: &OpenScene) -> GpuResult<GpuScene> {
    let mut gpu_scene =
        renderer.upload_with(&opened.scene, &opened.passes().shadows, opened.levels())?;
    update_gi(renderer.gpu(), opened, &mut gpu_scene)?;
    Ok(gpu_scene)
}

impl Session {
    /// Uploads a scene, with the resources that the passes of its look need.
    ///
    /// # Errors
    /// [`SessionError::Gpu`], e.g. out of memory or device lost.
    pub fn open(mut renderer: Renderer, opened: OpenScene) -> Result<Self, SessionError> {
        let gpu_scene = upload(&mut renderer, &opened)?;
        Ok(Self { opened, gpu_scene, renderer })
    }

    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        self.renderer.gpu()
    }

    /// The renderer and the scene on its device.
    pub fn device(&mut self) -> (&mut Renderer, &GpuScene) {
        (&mut self.renderer, &self.gpu_scene)
    }

    /// The scene on the host, the scene on the device, and the renderer.
    #[must_use]
    pub fn into_parts(self) -> (OpenScene, GpuScene, Renderer) {
        (self.opened, self.gpu_scene, self.renderer)
    }

    /// Releases the scene; the renderer can open another.
    #[must_use]
    pub fn into_renderer(self) -> Renderer {
        self.renderer
    }

    /// Runs `work` with another scene in place of this one, which stays on the device.
    ///
    /// # Errors
    /// [`SessionError::Gpu`] if the upload fails, and the error of `work`.
    pub fn with_scene<R>(
        &mut self,
        opened: OpenScene,
        work: impl FnOnce(&mut Self) -> Result<R, SessionError>,
    ) -> Result<R, SessionError> {
        let gpu_scene = upload(&mut self.renderer, &opened)?;
        let own = (
            std::mem::replace(&mut self.opened, opened),
            std::mem::replace(&mut self.gpu_scene, gpu_scene),
        );
        let done = work(self);
        (self.opened, self.gpu_scene) = own;
        done
    }

    /// Updates the scene on the device to the host's pose.
    ///
    /// # Errors
    /// [`SessionError::Gpu`], e.g. out of memory or device lost.
    pub fn update_pose(&mut self) -> Result<(), SessionError> {
        let gpu = self.renderer.gpu();
        self.gpu_scene.follow(gpu, &self.opened.scene)?;
        Ok(update_gi(gpu, &self.opened, &mut self.gpu_scene)?)
    }

    /// Updates the lights on the device ([`GpuScene::relight`]).
    pub(super) fn relight(&mut self) -> GpuResult<()> {
        let gpu = self.renderer.gpu();
        self.gpu_scene.relight(gpu, &self.opened.scene)?;
        update_gi(gpu, &self.opened, &mut self.gpu_scene)
    }

    /// Adds animated motion during the exposure to `settings`.
    pub fn set_motion(&mut self, settings: &mut RenderSettings) {
        self.opened.set_motion(settings, &self.gpu_scene);
    }

    /// Resets the temporal histories, for a cut to an unrelated view.
    pub fn reset_history(&mut self) {
        self.renderer.reset_history();
    }

    /// Renders one picture of the session's view, without accumulation.
    ///
    /// # Errors
    /// [`SessionError::Gpu`], e.g. out of memory or device lost.
    pub fn render(&mut self, settings: &RenderSettings) -> Result<RenderedImage, SessionError> {
        Ok(self.renderer.render(&self.gpu_scene, &self.opened.view(), settings)?)
    }

    /// Checks that the device supports pictures of the session's size.
    ///
    /// # Errors
    /// [`SessionError::InvalidRequest`] if it does not.
    pub fn check_size(&self) -> Result<(), SessionError> {
        let supported = self.renderer.check_size(&self.opened.view());
        supported.map_err(|error| SessionError::InvalidRequest(error.to_string()))
    }

    /// Plans a frame without running it.
    ///
    /// # Errors
    /// [`SessionError::Gpu`] if memory is exhausted.
    pub fn plan(&mut self, settings: &RenderSettings) -> Result<Prepared, SessionError> {
        Ok(self.renderer.plan(&self.gpu_scene, &self.opened.view(), settings)?)
    }

    /// Statistics of the VPLs; `None` without VPLs.
    #[must_use]
    pub fn vpl_stats(&self) -> Option<&VplStats> {
        let vpls = self.gpu_scene.gi.as_ref().filter(|indirect| indirect.volume.is_none());
        vpls.map(|indirect| &indirect.set.stats)
    }

    /// The irradiance volume, with `gi.method=probes`.
    #[must_use]
    pub fn irradiance_volume(&self) -> Option<&IrradianceVolume> {
        self.gpu_scene.gi.as_ref()?.volume.as_deref()
    }

    /// Message about a limit of the shadow atlas in the last frame
    /// ([`Renderer::shadow_map_limit`]).
    #[must_use]
    pub fn shadow_map_limit(&self) -> Option<String> {
        self.renderer.shadow_map_limit(&self.opened.passes().shadows)
    }
}
