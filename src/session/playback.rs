//! Playback of a scene's animations.

use std::sync::Arc;

use crate::scene::{Scene, animation::AnimationSelection};

/// Animation playback state.
#[derive(Clone)]
pub struct Playback {
    /// The scene at rest, with the look applied.
    pub(super) rest: Arc<Scene>,
    pub(super) play: AnimationSelection,
    /// Time in s.
    pub time: f64,
    /// Node of the active camera; `None` for a framed camera.
    pub(super) camera: Option<usize>,
}
