//! Grid of the probes of an irradiance volume, and its maps (docs/irradiance-volumes.md).

use glam::{DVec3, UVec3};

/// Probes that fill the scene's bounds at most, unless the spacing is set.
pub const DEFAULT_PROBES: u32 = 2048;
/// Maximum number of probes.
pub const MAX_PROBES: u32 = 65_535;
/// Texels along a side of a probe's irradiance map, without its border.
pub const IRRADIANCE_TEXELS: u32 = 8;
/// Texels along a side of a probe's visibility map, without its border.
pub const VISIBILITY_TEXELS: u32 = 16;
/// Step between the spacings that are tried.
const SPACING_STEP: f64 = 1.01;

/// Probes at the points of a cubic grid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProbeGrid {
    /// Position of the first probe (m).
    pub origin: DVec3,
    /// Distance between neighbors along an axis (m).
    pub spacing: f64,
    /// Probes along each axis, at least 2.
    pub counts: UVec3,
}

/// A spacing at which more than `MAX_PROBES` probes fill the bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooManyProbes {
    /// Number of probes.
    pub probes: u64,
    /// Smallest spacing (m) at which the bounds take at most `MAX_PROBES`, to a percent.
    pub fits_at: f64,
}

impl ProbeGrid {
    /// The grid over a box. Without `spacing` (m), the smallest one, to a percent, at which at most
    /// `DEFAULT_PROBES` fill the box. The probes are centered on the box and reach its faces.
    ///
    /// # Errors
    /// `TooManyProbes` if a given spacing is too small for the box.
    pub fn new((low, high): (DVec3, DVec3), spacing: Option<f64>) -> Result<Self, TooManyProbes> {
        let size = (high - low).max(DVec3::ZERO);
        let spacing = spacing.unwrap_or_else(|| smallest_spacing(size, DEFAULT_PROBES));
        let probes = probes_at(size, spacing);
        if probes > f64::from(MAX_PROBES) {
            let fits_at = smallest_spacing(size, MAX_PROBES);
            return Err(TooManyProbes { probes: probes as u64, fits_at });
        }
        let counts = counts_at(size, spacing);
        let reached = (counts - 1.0) * spacing;
        Ok(Self { origin: 0.5 * (low + high - reached), spacing, counts: counts.as_uvec3() })
    }

    /// Number of probes.
    #[must_use]
    pub const fn probes(&self) -> u32 {
        self.counts.x * self.counts.y * self.counts.z
    }

    /// Probes in a row of the maps: their number is nearly that of the rows.
    #[must_use]
    pub fn columns(&self) -> u32 {
        f64::from(self.probes()).sqrt().ceil() as u32
    }

    /// Rows of probes in the maps.
    #[must_use]
    pub fn rows(&self) -> u32 {
        self.probes().div_ceil(self.columns())
    }

    /// Distance (m) at which visibility is clipped: 1.5 diagonals of a cell, beyond any distance
    /// from a surface to the probes of its cell.
    #[must_use]
    pub fn max_distance(&self) -> f64 {
        1.5 * 3f64.sqrt() * self.spacing
    }
}

/// Probes along each axis, as floats: any spacing gives finite ones.
fn counts_at(size: DVec3, spacing: f64) -> DVec3 {
    (size / spacing - 1e-6).ceil().max(DVec3::ONE) + 1.0
}

fn probes_at(size: DVec3, spacing: f64) -> f64 {
    counts_at(size, spacing).element_product()
}

/// Smallest spacing, to a percent, at which at most `probes` fill a box of this size.
fn smallest_spacing(size: DVec3, probes: u32) -> f64 {
    // A lower bound: no cell is smaller than its share of the volume or of the longest side.
    let longest = size.max_element().max(1e-6);
    let mut spacing = (longest / f64::from(probes)).max(1e-6);
    spacing = spacing.max((size.element_product() / f64::from(probes)).cbrt());
    while probes_at(size, spacing) > f64::from(probes) {
        spacing *= SPACING_STEP;
    }
    spacing
}
