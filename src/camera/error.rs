//! Errors of the assembled camera.

use super::exposure::ExposureError;
use crate::{optics::LensError, photometry::color::ColorError};

/// Settings of a camera that contradict each other, its lens or its picture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CameraError {
    /// The dials give no exposure.
    #[error("camera: {0}")]
    Exposure(#[from] ExposureError),
    /// Sensor, lens and focus form no image.
    #[error("camera.lens: {0}")]
    Lens(#[from] LensError),
    /// A setting is out of range of the others.
    #[error("{property} = {value}: {expected}")]
    Setting {
        /// The property of looks that sets it.
        property: &'static str,
        /// Its value.
        value: String,
        /// Expected values and remedy.
        expected: String,
    },
    /// The lens prescription cannot be read or mounted.
    #[error("camera.lens.prescription: {name}: {detail}")]
    Prescription {
        /// The builtin name or the file.
        name: String,
        /// Cause.
        detail: String,
    },
    /// A white balance that cannot be computed.
    #[error(
        "{property}: {error}{}",
        if *property == "camera.white_balance" {
            "; choose another white, or set camera.white_balance.tint nearer to 0"
        } else {
            ""
        }
    )]
    WhiteBalance {
        /// The property of looks that sets it.
        property: &'static str,
        /// Cause.
        error: ColorError,
    },
}

impl CameraError {
    /// The property or section that the error is about.
    #[must_use]
    pub const fn property(&self) -> &'static str {
        match self {
            Self::Exposure(_) => "camera.exposure",
            Self::Lens(_) => "camera.lens",
            Self::Setting { property, .. } | Self::WhiteBalance { property, .. } => property,
            Self::Prescription { .. } => "camera.lens.prescription",
        }
    }

    /// A T-number below the f-number.
    pub(super) fn t_stop(t_stop: f64, f_stop: f64) -> Self {
        Self::Setting {
            property: "camera.lens.t_stop",
            value: t_stop.to_string(),
            expected: format!(
                "expected at least the f-number, {f_stop}: a lens transmits no more light than enters it"
            ),
        }
    }
}
