//! The end of work on a device: everything is released, and leaks and validation messages are
//! errors.

use super::{error::SessionError, open::Session};
use crate::{frame::Renderer, gpu::Gpu};

impl Session {
    /// Releases the scene and the renderer, as [`close`] does.
    ///
    /// # Errors
    /// [`SessionError::Leaked`] and [`SessionError::Validation`].
    pub fn close(self) -> Result<(), SessionError> {
        close(self.into_renderer())
    }
}

/// Waits for the device and releases the renderer, the last object on it.
///
/// # Errors
/// [`SessionError::Leaked`] if other objects are alive, [`SessionError::Validation`] if the
/// validation layer has reported messages.
pub fn close(renderer: Renderer) -> Result<(), SessionError> {
    let gpu = renderer.gpu().clone();
    gpu.wait_idle();
    drop(renderer);
    let leaked = gpu.live_objects();
    if !leaked.is_empty() {
        return Err(SessionError::Leaked(leaked));
    }
    check_validation([&gpu])
}

/// Checks that the validation layer has reported nothing on these devices.
///
/// # Errors
/// [`SessionError::Validation`].
pub fn check_validation<'a>(gpus: impl IntoIterator<Item = &'a Gpu>) -> Result<(), SessionError> {
    let messages: Vec<String> =
        gpus.into_iter().flat_map(|gpu| gpu.validation_messages()).collect();
    if messages.is_empty() { Ok(()) } else { Err(SessionError::Validation(messages)) }
}
