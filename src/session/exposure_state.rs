//! Exposure of a picture, with the readings and dials that it comes from.

use crate::camera::{Exposure, ExposureControl, SolvedExposure};

/// Exposure of a picture and its source.
#[derive(Clone, Copy, Debug)]
pub struct ExposureState {
    /// Exposure of the picture.
    pub exposure: Exposure,
    /// Metered exposure; `None` if not metered or nothing is lit.
    pub metered: Option<Exposure>,
    /// Adapted exposure, which automatic modes expose for. Over a sequence it approaches `metered`
    /// (`Session::adapt`); initially it equals it.
    pub adapted: Option<Exposure>,
    /// Exposure mode.
    pub control: ExposureControl,
    /// Solved dials of a priority mode.
    pub solved: Option<SolvedExposure>,
}
