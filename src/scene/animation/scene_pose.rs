//! Selection of animations, and the animated state that they give.

use glam::{DMat4, DVec4};

use super::ValueTarget;

/// Animations to play. Each starts at time 0 and loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AnimationSelection {
    /// All animations if no two have a common target, else the first.
    #[default]
    Auto,
    /// All animations; for a common target the later one wins.
    All,
    /// One animation, by index.
    Index(usize),
}

/// Animated state at a time; everything else keeps the scene's values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScenePose {
    /// Node index and local-to-parent transform.
    pub locals: Vec<(usize, DMat4)>,
    /// Node index and all morph weights of the node.
    pub weights: Vec<(usize, Vec<f32>)>,
    /// Values of properties of materials, lights and cameras.
    pub values: Vec<(ValueTarget, DVec4)>,
}
