//! What moves: animations of nodes, shapes and values, and the pose of a scene at a time
//! (docs/animation.md).
//!
//! `Scene::pose` is a pure function of scene, choice and time. `Scene::apply` puts a pose into the
//! scene's nodes, materials, lights and cameras; `Scene::bake` then moves the vertices of skinned
//! and morphed meshes; `Scene::at` does all three. The raster renderer moves the vertices on the
//! device instead (`passes::skin`).

mod deform;
mod keyframes;
mod pose;
mod value;

use std::{fmt::Debug, sync::Arc};

use glam::{DMat3, DMat4, DQuat, DVec3};

pub use self::{
    deform::{Deform, DeformedVertices, Influences, MorphTarget},
    keyframes::{Interpolation, Keyframes},
    pose::{AnimationSelection, ScenePose},
    value::{CameraValue, LightValue, MaterialValue, TextureSlot, ValueTarget},
};

/// A place, turn and size: the matrix is translation * rotation * scale (glTF 2.0 section 3.5.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// In the parent's space (m).
    pub translation: DVec3,
    /// Of unit length.
    pub rotation: DQuat,
    /// Along the node's own axes.
    pub scale: DVec3,
}

impl Default for Trs {
    /// Nothing moved.
    fn default() -> Self {
        Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE }
    }
}

impl Trs {
    /// The matrix.
    #[must_use]
    pub fn matrix(&self) -> DMat4 {
        DMat4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Of a matrix, which may shear: shear is lost. A mirrored matrix has a negative scale along X.
    #[must_use]
    pub fn of_matrix(matrix: &DMat4) -> Self {
        let linear = DMat3::from_mat4(*matrix);
        let mut scale =
            DVec3::new(linear.x_axis.length(), linear.y_axis.length(), linear.z_axis.length());
        if linear.determinant() < 0.0 {
            scale.x = -scale.x;
        }
        // Gram and Schmidt, beginning with Z and Y; a flattened axis takes the direction that is
        // left.
        let z = linear.z_axis.normalize_or(DVec3::Z);
        let y = (linear.y_axis - z * z.dot(linear.y_axis)).normalize_or(z.any_orthonormal_vector());
        let rotation = DQuat::from_mat3(&DMat3::from_cols(y.cross(z), y, z)).normalize();
        Self { translation: matrix.w_axis.truncate(), rotation, scale }
    }
}

/// A skeleton that moves a mesh (glTF 2.0 section 3.7.3).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// The author's name, possibly empty.
    pub name: String,
    /// Nodes; vertices name them by their place in this list.
    pub joints: Vec<usize>,
    /// From the mesh's space to each joint's when the mesh was bound; as many as joints.
    pub inverse_bind: Vec<DMat4>,
}

/// An animation: channels with keys, or motion by formula, or both.
#[derive(Clone, Debug, Default)]
pub struct Animation {
    /// The author's name, possibly empty.
    pub name: String,
    /// When it ends (s): the last key; infinite for motion by formula.
    pub duration: f64,
    /// What moves by keys.
    pub channels: Vec<AnimationChannel>,
    /// What moves by formula.
    pub motion: Option<Arc<dyn ProceduralMotion>>,
}

/// What one row of keys moves.
#[derive(Clone, Debug)]
pub struct AnimationChannel {
    /// What it moves.
    pub target: AnimationTarget,
    /// How; channels may share keys.
    pub keys: Arc<Keyframes>,
}

/// What a channel moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnimationTarget {
    /// A node's translation.
    Translation(usize),
    /// A node's rotation.
    Rotation(usize),
    /// A node's scale.
    Scale(usize),
    /// All morph weights of a node.
    Weights(usize),
    /// One morph weight of a node: node and number.
    Weight(usize, usize),
    /// A number of a material, light or camera (KHR_animation_pointer).
    Value(ValueTarget),
}

impl AnimationTarget {
    /// The node that it moves.
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

/// Motion by formula: a pure function of time.
pub trait ProceduralMotion: Debug + Send + Sync {
    /// Adds where things are at a time (s, finite, may be negative).
    fn pose(&self, time: f64, pose: &mut ScenePose);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;
