//! Objects that float on water.

use glam::{DMat4, DVec2};

/// An object that floats.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatingObject {
    /// Index into `Scene::nodes`.
    pub(super) node: usize,
    /// World to parent space.
    pub(super) into_parent: DMat4,
    /// Authored transform to world space.
    pub(super) rest: DMat4,
    /// Position (m) and rotation (rad, about +Y) after each step.
    pub(super) line: Vec<(DVec2, f64)>,
    /// Step at which the object has its authored position.
    pub(super) laid: usize,
}

impl FloatingObject {
    /// Authored height (m).
    pub(super) fn height(&self) -> f64 {
        self.rest.w_axis.y
    }
}
