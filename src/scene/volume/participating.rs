//! Regions that participating media fill.

use glam::{DMat4, DVec3};

use super::{DensityGrid, MediumCoefficients};

/// Region that a volume fills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VolumeShape {
    /// A box: the matrix maps the cube of side 1 around the origin to node space, or to world space
    /// without a node.
    Box(DMat4),
    /// The interior of a closed mesh (index into `Scene::meshes`) under the node's transform.
    Mesh(usize),
}

/// A region of a scene filled with a participating medium.
#[derive(Clone, Debug, PartialEq)]
pub struct ParticipatingVolume {
    /// Name in the look or the file.
    pub name: String,
    /// Region it fills.
    pub shape: VolumeShape,
    /// Node that carries the volume (index into `Scene::nodes`).
    pub node: Option<usize>,
    /// Coefficients at density 1.
    pub medium: MediumCoefficients,
    /// Spatial factor of absorption, scattering and emission over the bounding box; `None` is 1
    /// everywhere.
    pub density: Option<DensityGrid>,
}

impl ParticipatingVolume {
    /// Maximum factor of the coefficients.
    #[must_use]
    pub fn max_density(&self) -> f64 {
        self.density.as_ref().map_or(1.0, |grid| f64::from(grid.max()))
    }

    /// True if the volume has no effect on light.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let MediumCoefficients { emission, .. } = self.medium;
        self.max_density() <= 0.0 || self.medium.extinction() + emission == DVec3::ZERO
    }
}
