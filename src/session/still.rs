//! Still pictures: their settings, and the mean of their samples.

use std::sync::Arc;

use glam::Mat3;

use super::{error::SessionError, exposure_state::ExposureState, open::Session};
use crate::{
    frame::{Aov, Readback, RenderSettings, RenderedImage},
    gpu::Interrupt,
};

impl Session {
    /// Settings of a picture: the look's, with animated motion during the exposure.
    ///
    /// # Errors
    /// [`SessionError::Look`] if the lens cannot be set to the solved dials.
    pub fn picture_settings(
        &mut self,
        exposed: &ExposureState,
        white_balance: Mat3,
        aovs: Vec<Aov>,
    ) -> Result<RenderSettings, SessionError> {
        let mut settings =
            RenderSettings { white_balance, ..self.opened.final_settings(exposed, aovs)? };
        self.set_motion(&mut settings);
        Ok(settings)
    }

    /// Renders a still picture as the mean of `samples` frames ([`Renderer::render_still`]).
    /// `progress` is called with the number of samples before each further one.
    ///
    /// # Errors
    /// [`SessionError::Gpu`], e.g. out of memory or device lost, and the error of `progress`, which
    /// cancels the picture.
    ///
    /// [`Renderer::render_still`]: crate::frame::Renderer::render_still
    pub fn still(
        &mut self,
        settings: &RenderSettings,
        samples: u32,
        progress: &mut dyn FnMut(u32) -> Result<(), SessionError>,
    ) -> Result<RenderedImage, SessionError> {
        let view = self.opened.view();
        self.renderer.render_still_with(&self.gpu_scene, &view, settings, samples, progress)
    }

    /// Renders frame `number` of the `count` frames of a still picture. The first one resets the
    /// histories, since a still picture does not depend on earlier views.
    ///
    /// # Errors
    /// [`SessionError::Gpu`], e.g. out of memory or device lost.
    pub fn still_frame(
        &mut self,
        settings: &RenderSettings,
        number: u32,
        count: u32,
    ) -> Result<RenderedImage, SessionError> {
        if number == 0 {
            self.reset_history();
            let view = self.opened.view();
            self.renderer.converge_probes(&self.gpu_scene, &view, settings)?;
        }
        self.frame(&settings.still_frame(number, count))
    }

    /// Sets the interrupt of the next frames ([`Renderer::set_interrupt`]).
    ///
    /// [`Renderer::set_interrupt`]: crate::frame::Renderer::set_interrupt
    pub fn set_interrupt(&mut self, interrupt: Option<Arc<Interrupt>>) {
        self.renderer.set_interrupt(interrupt);
    }

    /// Renders a frame of a moving view, which continues the temporal histories.
    ///
    /// # Errors
    /// [`SessionError::Gpu`], e.g. out of memory or device lost.
    pub fn frame(&mut self, settings: &RenderSettings) -> Result<RenderedImage, SessionError> {
        let view = self.opened.view();
        let pending = self.renderer.submit(&self.gpu_scene, &view, settings, Readback::ALL)?;
        Ok(self.renderer.collect(pending)?)
    }
}
