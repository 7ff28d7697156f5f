//! Errors of looks.

use crate::{
    camera::{CameraError, ExposureError},
    photometry::lights::LightError,
};

/// A property that cannot be set, or a look file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// The file cannot be read.
    #[error("look file {file}: {detail}")]
    File {
        /// The file.
        file: String,
        /// Cause and remedy.
        detail: String,
    },
    /// No property of this name.
    #[error("no property '{path}'; did you mean {nearest}?")]
    UnknownPath {
        /// Path as written.
        path: String,
        /// The nearest valid paths.
        nearest: String,
    },
    /// The value does not fit the property.
    #[error("{path}{}: {expected}", if value.is_empty() { String::new() } else { format!(" = {value}") })]
    BadValue {
        /// The property.
        path: String,
        /// Value as written.
        value: String,
        /// Expected values.
        expected: String,
    },
    /// Properties that contradict each other.
    #[error("{0}")]
    Contradiction(String),
    /// Invalid light settings.
    #[error("lights.{name}: {error}")]
    Light {
        /// Name of the light.
        name: String,
        /// Cause.
        error: LightError,
    },
    /// A file that a property names cannot be used.
    #[error("{property}: {file}: {detail}")]
    Input {
        /// The property.
        property: String,
        /// The file.
        file: String,
        /// Cause, with the line number if there is one.
        detail: String,
    },
    /// Contradictory camera settings.
    #[error(transparent)]
    Camera(#[from] CameraError),
}

impl From<ExposureError> for LookError {
    fn from(error: ExposureError) -> Self {
        Self::Camera(error.into())
    }
}
