//! Moments of a ghost on the sensor.

use glam::DVec2;

/// Moments of a ghost on the sensor. Lengths in m from the sensor's center.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GhostSpot {
    /// Flux: lumens per lux (m2).
    pub flux: f64,
    /// Centroid, weighted by light.
    pub center: DVec2,
    /// Root-mean-square distance from the centroid along x and y, including the source's disk.
    pub extent: DVec2,
    /// Maximum illuminance relative to that across the beam, including the source's disk. Without a
    /// disk, it is infinite where the mesh degenerates.
    pub peak: f64,
}

impl GhostSpot {
    /// Moments from sums of light, light * position and light * position squared, blurred by a disk
    /// (semi-axes in m).
    pub(super) fn of(flux: f64, first: DVec2, second: DVec2, peak: f64, blur: DVec2) -> Self {
        if flux.is_nan() || flux <= 0.0 {
            return Self::default();
        }
        let center = first / flux;
        let variance = (second / flux - center * center).max(DVec2::ZERO);
        // A disk of radius r has a variance of r^2 / 4 along each axis, and spreads the light over
        // at least pi r^2.
        let extent = (variance + blur * blur / 4.0).map(f64::sqrt);
        let spread = std::f64::consts::PI * blur.x * blur.y;
        Self {
            flux,
            center,
            extent,
            peak: if spread > 0.0 { peak.min(flux / spread) } else { peak },
        }
    }
}
