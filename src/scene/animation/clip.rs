//! Animation clips: what moves, and by which keyframes or motion.

use std::{fmt::Debug, sync::Arc};

use super::{Keyframes, ScenePose, ValueTarget};

/// An animation: keyframe channels, procedural motion, or both.
#[derive(Clone, Debug, Default)]
pub struct Animation {
    /// The author's name, possibly empty.
    pub name: String,
    /// Duration (s): time of the last key; infinite for procedural motion.
    pub duration: f64,
    /// Keyframe channels.
    pub channels: Vec<AnimationChannel>,
    /// Procedural motion; `None` without.
    pub motion: Option<Arc<dyn ProceduralMotion>>,
}

impl Animation {
    /// Time (s) within the animation: times after the end wrap; the end itself does not.
    #[must_use]
    pub fn loop_time(&self, time: f64) -> f64 {
        if self.duration.is_finite() && self.duration > 0.0 && time > self.duration {
            time.rem_euclid(self.duration)
        } else {
            time
        }
    }

    /// Targets of the channels: kind, node and property.
    pub(super) fn moves(&self) -> impl Iterator<Item = (u8, usize, String)> + '_ {
        self.channels.iter().map(|channel| match channel.target {
            AnimationTarget::Translation(node) => (0, node, String::new()),
            AnimationTarget::Rotation(node) => (1, node, String::new()),
            AnimationTarget::Scale(node) => (2, node, String::new()),
            AnimationTarget::Weights(node) | AnimationTarget::Weight(node, _) => {
                (3, node, String::new())
            }
            AnimationTarget::Value(value) => (4, 0, format!("{value:?}")),
        })
    }
}

/// A channel: keyframes applied to one target.
#[derive(Clone, Debug)]
pub struct AnimationChannel {
    /// The animated property.
    pub target: AnimationTarget,
    /// Keyframes; channels may share them.
    pub keys: Arc<Keyframes>,
}

/// The property that a channel animates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnimationTarget {
    /// Translation of a node.
    Translation(usize),
    /// Rotation of a node.
    Rotation(usize),
    /// Scale of a node.
    Scale(usize),
    /// All morph weights of a node.
    Weights(usize),
    /// One morph weight of a node: node index and target index.
    Weight(usize, usize),
    /// A property of a material, light or camera (KHR_animation_pointer).
    Value(ValueTarget),
}

impl AnimationTarget {
    /// Index of the animated node; `None` for properties.
    #[must_use]
    pub const fn node(&self) -> Option<usize> {
        match *self {
            Self::Translation(node)
            | Self::Rotation(node)
            | Self::Scale(node)
            | Self::Weights(node)
            | Self::Weight(node, _) => Some(node),
            Self::Value(_) => None,
        }
    }
}

/// Procedural motion: a pure function of time.
pub trait ProceduralMotion: Debug + Send + Sync {
    /// Adds the transforms at a time (s, finite, may be negative) to a pose.
    fn pose(&self, time: f64, pose: &mut ScenePose);
}
