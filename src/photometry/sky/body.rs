//! The body that lights the sky: Sun or Moon.

use super::spectrum::SkySource;
use crate::photometry::{Lux, astronomy::HorizontalCoordinates};

/// The body that lights the sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkyBody {
    /// Sun or Moon.
    pub source: SkySource,
    /// Apparent position. Azimuth counts from north over east (`HorizontalCoordinates::direction`).
    pub position: HorizontalCoordinates,
    /// Illuminance outside of the atmosphere, on a plane that faces it.
    pub illuminance: Lux,
    /// Angular radius in rad, above 0.
    pub angular_radius: f64,
}
