//! Errors of looks.

use super::{Origin, Origins, timeline_error::TimelineError};
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
    /// An error of a property, with the place at which it is set.
    #[error("{origin}: {}", after_origin(.origin, .error))]
    At {
        /// The place.
        origin: Origin,
        /// The error.
        error: Box<LookError>,
    },
    /// No property of this name.
    #[error("no property '{path}'; did you mean {nearest}?")]
    UnknownPath {
        /// Path as written.
        path: String,
        /// The nearest valid paths.
        nearest: String,
    },
    /// No light of this address, which the look does not add either.
    #[error("{}{path}.add = true adds a light of this name", no_light(.path, .nearest.as_deref()))]
    UnknownLight {
        /// Path of the light as written.
        path: String,
        /// The nearest valid paths; `None` in a scene without lights.
        nearest: Option<String>,
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
    /// A timeline that cannot be used.
    #[error(transparent)]
    Timeline(#[from] TimelineError),
    /// Contradictory camera settings.
    #[error(transparent)]
    Camera(#[from] CameraError),
}

/// The first sentence on an unknown light.
fn no_light(path: &str, nearest: Option<&str>) -> String {
    match nearest {
        Some(nearest) => format!("no property '{path}'; did you mean {nearest}? "),
        None => format!("{path}: the scene has no lights; "),
    }
}

/// The error after its place: an argument states property and value already.
fn after_origin(origin: &Origin, error: &LookError) -> String {
    match (origin, error) {
        (Origin::Argument(text), LookError::BadValue { path, value, expected })
            if text.split_once('=') == Some((path.as_str(), value.as_str())) =>
        {
            expected.clone()
        }
        _ => error.to_string(),
    }
}

impl LookError {
    /// A value that does not fit the property of a path.
    pub(super) fn bad_value(path: String, value: &str, expected: impl Into<String>) -> Self {
        Self::BadValue { path, value: value.into(), expected: expected.into() }
    }

    /// The error with the place at which its property is set, if that is known.
    #[must_use]
    pub fn located(self, origins: &Origins) -> Self {
        match self.property().and_then(|path| origins.of(&path)) {
            Some(origin) => Self::At { origin: origin.clone(), error: Box::new(self) },
            None => self,
        }
    }

    /// The property, address or section that the error is about, unless its place is known.
    fn property(&self) -> Option<String> {
        match self {
            Self::UnknownPath { path, .. }
            | Self::UnknownLight { path, .. }
            | Self::BadValue { path, .. } => Some(path.clone()),
            Self::Light { name, .. } => Some(format!("lights.{name}")),
            Self::Input { property, .. } => Some(property.clone()),
            Self::Camera(error) => Some(error.property().into()),
            Self::Timeline(
                TimelineError::UnknownNode { segment: path, .. }
                | TimelineError::KeyOrder { path, .. },
            ) => Some(path.clone()),
            Self::Timeline(_) => None,
            Self::At { .. } | Self::File { .. } | Self::Contradiction(_) => None,
        }
    }
}

impl From<ExposureError> for LookError {
    fn from(error: ExposureError) -> Self {
        Self::Camera(error.into())
    }
}
