//! Two-level BVH over a scene's triangles, for rays on the host and on the device.
//!
//! The lower level has one BLAS per mesh primitive, in mesh space and built once. The upper level
//! is one TLAS over the instances. A ray that enters an instance is transformed to object space
//! *without* normalizing its direction, so that `t` means the same everywhere.
//!
//! Precision: the TLAS is relative to an eye (`SceneBvh::tlas_from`), and so are rays; transforms
//! are subtracted in double precision. Positions near the eye are exact at any distance from the
//! origin. `PreciseRay` also decides its hits in double precision: no light leaks past large
//! triangles.
//!
//! All arrays are flat and have the device's memory layout (`shaders/lib/bvh.glsl`).

mod build;
mod hit_filter;
mod mask;
mod node;
mod precise;
mod ray;
mod refit;
mod scene;
mod trace;
mod traversal_stats;
mod triangle;
mod wide;
mod wide_traversal;

pub use build::{BuildItem, MAX_DEPTH, build};
pub use mask::MaskVertex;
pub use node::{Aabb, BvhNode, NONE, refit, sah_cost};
pub use precise::{PreciseHit, PreciseRay};
pub use ray::{Hit, Ray};
pub use refit::RefitLinks;
pub use scene::{
    Blas, BvhInstance, NO_SHADOW, SLACK, SceneBvh, SceneTlas, ShadowProperties, casts_shadow,
};
pub use traversal_stats::TraversalStats;
pub use triangle::{BvhTriangle, pack_normal, unpack_normal};

#[cfg(test)]
mod precise_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod wide_tests;
