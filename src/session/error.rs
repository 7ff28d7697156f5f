//! Errors of sessions.

use crate::{
    camera::CameraError,
    gpu::GpuError,
    scene::{
        gltf::ImportError,
        look::{LookError, Origins},
    },
};

/// Error of opening, exposing or rendering a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The request contradicts the scene or the look, or names something that does not exist.
    #[error("{0}")]
    InvalidRequest(String),
    /// The scene file cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The look cannot be read or applied.
    #[error(transparent)]
    Look(#[from] LookError),
    /// A Vulkan error.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// The user canceled the work.
    #[error("stopped")]
    Canceled,
    /// Messages of the validation layer (`--validation`).
    #[error("the validation layer reported {} messages; the first: {}", .0.len(), .0.first().map_or("", String::as_str))]
    Validation(Vec<String>),
    /// Names of the objects on the device that outlived the session: a bug in this program.
    #[error("leaked Vulkan objects: {}", .0.join(", "))]
    Leaked(Vec<String>),
    /// A bug in this program.
    #[error("{0}")]
    Internal(String),
}

impl SessionError {
    /// The error with the place at which its property is set, if that is known.
    pub(super) fn located(self, origins: &Origins) -> Self {
        match self {
            Self::Look(error) => Self::Look(error.located(origins)),
            error => error,
        }
    }
}

impl From<CameraError> for SessionError {
    fn from(error: CameraError) -> Self {
        Self::Look(error.into())
    }
}
