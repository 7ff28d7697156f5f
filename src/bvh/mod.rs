//! A two-level hierarchy of bounding volumes over a scene's triangles, for rays on the host and on
//! the device.
//!
//! Below, one tree a mesh primitive, in the mesh's space and built once; above, one tree over the
//! places where primitives stand. A ray that enters a place is carried into its object space
//! *without* normalising its direction, so that `t` means the same everywhere.
//!
//! Precision: the upper level is made for an eye (`SceneBvh::seen_from`) and rays are relative to
//! it, with the transforms subtracted in double precision. What is near the eye is exact however
//! far both are from the origin. `PreciseRay` decides its hits in double precision besides: no
//! light leaks past large triangles.
//!
//! All arrays are flat and lie in memory as the device reads them (`shaders/lib/bvh.glsl`).

mod build;
mod mask;
mod node;
mod precise;
mod refit;
mod scene;
mod trace;
mod triangle;
mod wide;
mod wide_traversal;

pub use build::{BuildItem, MAX_DEPTH, build};
pub use mask::MaskVertex;
pub use node::{Aabb, BvhNode, refit, sah_cost};
pub use precise::{PreciseHit, PreciseRay};
pub use refit::RefitLinks;
pub use scene::{Blas, BvhInstance, NO_SHADOW, SLACK, SceneBvh, SceneTlas, casts_shadow};
pub use trace::{Hit, Ray, TraversalStats};
pub use triangle::{BvhTriangle, pack_normal, unpack_normal};

/// Stands for "none" where an index is expected.
pub const NONE: u32 = u32::MAX;

#[cfg(test)]
mod precise_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wide_tests;
