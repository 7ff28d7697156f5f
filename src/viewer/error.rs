//! Errors of the window and its render thread.

use super::worker::Crashed;
use crate::{gpu::GpuError, session::SessionError};

/// An error that ends the window or its rendering.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// No window can be created.
    #[error("cannot open a window: {detail}; `sunny16 render` works without one")]
    Window {
        /// Reason.
        detail: String,
    },
    /// A device error.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// An error of the scene or its look.
    #[error(transparent)]
    Session(SessionError),
    /// A worker thread panicked.
    #[error(transparent)]
    Crashed(#[from] Crashed),
    /// An error of the operating system.
    #[error("{0}")]
    System(#[from] std::io::Error),
}

impl ViewError {
    /// True if rendering cannot continue after it.
    pub(super) const fn is_fatal(&self) -> bool {
        matches!(self, Self::Gpu(GpuError::DeviceLost { .. }) | Self::Crashed(_))
    }

    /// True if the device lacks a resource or rejects a call.
    pub(super) const fn of_device(&self) -> bool {
        matches!(self, Self::Gpu(_))
    }
}

impl From<SessionError> for ViewError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Gpu(error) => Self::Gpu(error),
            error => Self::Session(error),
        }
    }
}
