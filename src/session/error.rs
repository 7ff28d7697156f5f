//! Errors of sessions.

use crate::{
    gpu::GpuError,
    scene::{gltf::ImportError, look::LookError},
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
    /// A bug in this program.
    #[error("{0}")]
    Internal(String),
}
