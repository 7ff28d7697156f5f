//! Participating media: boxes and closed meshes whose interior absorbs, scatters and emits light
//! (docs/volumes.md).
//!
//! Coefficients of overlapping volumes add up.

mod density;
mod medium;
mod participating;
mod placed;
mod voxelize;

pub use density::{DensityError, DensityFormat, DensityGrid, MAX_DIMENSION, MAX_VOXELS};
pub use medium::{MAX_ANISOTROPY, MAX_COEFFICIENT, MAX_EMISSION, MediumCoefficients};
pub use participating::{ParticipatingVolume, VolumeShape};
pub use placed::{MAX_OPTICAL_DEPTH, MAX_VOLUMES, PlacedVolume};
pub use voxelize::{VOXELS_ACROSS, encloses, voxelize_mesh};
