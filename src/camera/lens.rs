//! The lens of a camera: its prescription or a thin lens, its focus, iris and barrel.

use super::error::CameraError;
use crate::optics::{Iris, Rim, ThinLens};

/// Rim of a lens whose barrel is unknown: 1.2 times as wide as the pupil of the open lens (see
/// [`CameraLens::max_aperture`]). Its distance makes the sensor's corner lose one stop then: half
/// of the pupil is left where the rim has moved by 1.0479 pupil radii. A fast lens thus loses a
/// stop beside the cosine falloff when open, 0.6 stops two stops down, and almost nothing at f/8,
/// as makers state of such lenses.
const RIM: f64 = 1.2;
const CORNER_SHIFT: f64 = 1.0479;

/// A lens; `None` is not set.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraLens {
    /// Prescription, by a builtin name or a file; `None`: a thin lens.
    pub prescription: Option<String>,
    /// Focal length (m), or the zoom of the prescription; `None`: by the field of view of the
    /// scene's camera.
    pub focal_length: Option<f64>,
    /// Focus distance (m) from the lens along its axis; may be infinite, as by default.
    pub focus: Option<f64>,
    /// Nearest focus distance (m) from the lens.
    pub min_focus_distance: Option<f64>,
    /// Maximum aperture, an f-number.
    pub max_aperture: f64,
    /// Minimum and maximum f-number.
    pub f_stop_range: [f64; 2],
    /// Distance (m) from the front rim to the pupil, at least 0.
    pub barrel_length: Option<f64>,
    /// The iris.
    pub iris: Iris,
    /// True if nearer focus narrows the field of view.
    pub breathing: bool,
}

impl Default for CameraLens {
    /// A thin lens, f/1.4 to f/22, focused at infinity, with a round iris.
    fn default() -> Self {
        Self {
            prescription: None,
            focal_length: None,
            focus: None,
            min_focus_distance: None,
            max_aperture: 1.4,
            f_stop_range: [1.4, 22.0],
            barrel_length: None,
            iris: Iris::default(),
            breathing: true,
        }
    }
}

impl CameraLens {
    /// True if a lens is set, by prescription, focal length or focus.
    #[must_use]
    pub const fn is_set(&self) -> bool {
        self.prescription.is_some() || self.focal_length.is_some() || self.focus.is_some()
    }

    /// Focus distance (m from the lens); infinity by default.
    ///
    /// # Errors
    /// Nearer than `min_focus_distance`.
    pub fn focus(&self) -> Result<f64, CameraError> {
        let focus = self.focus.unwrap_or(f64::INFINITY);
        match self.min_focus_distance.filter(|nearest| focus < *nearest) {
            Some(nearest) => Err(CameraError::Setting {
                property: "camera.lens.focus",
                value: format!("{focus} m"),
                expected: format!(
                    "the lens focuses from {nearest} m on; focus there or farther, or set camera.lens.min_focus_distance"
                ),
            }),
            None => Ok(focus),
        }
    }

    /// Front rim of the barrel in front of a thin lens, for a sensor of a diagonal (m).
    #[must_use]
    pub fn rim(&self, thin: ThinLens, diagonal: f64) -> Rim {
        let open = thin.focal_length() / self.max_aperture.min(thin.f_stop()) / 2.0;
        // Of the field angle in the sensor's corner, focused at infinity.
        let tangent = diagonal / 2.0 / thin.focal_length();
        Rim {
            radius: RIM * open,
            distance: self.barrel_length.unwrap_or(CORNER_SHIFT * open / tangent),
        }
    }
}
