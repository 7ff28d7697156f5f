//! Where things are at one moment.

use std::sync::Arc;

use glam::{DMat4, Vec3};

/// Where a primitive is.
#[derive(Clone, Debug)]
pub(in crate::passes) struct PosedGroup {
    /// Of a sphere around it, in its own space.
    pub center: Vec3,
    /// Of the sphere.
    pub radius: f32,
    /// Half the edges of a box around it with the same centre, in its own space.
    pub half_size: Vec3,
    /// All places where it stands.
    pub places: Arc<[DMat4]>,
}

/// Where everything is at one moment: of a frame, when a shutter opens or closes, or of the frame before.
#[derive(Clone, Debug, Default)]
pub struct Posed {
    /// In the order of the scene's groups; surfaces of lamps follow.
    pub(in crate::passes) groups: Vec<PosedGroup>,
}
