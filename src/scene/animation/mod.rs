//! Animation of nodes, meshes and properties, and the pose of a scene at a time
//! (docs/animation.md).
//!
//! `Scene::pose` is a pure function of scene, animation selection and time. `Scene::apply` writes a
//! pose to nodes, materials, lights and cameras. `Scene::bake` then deforms the vertices of skinned
//! and morphed meshes; `Scene::at` does all three. The rasterizer deforms vertices on the device
//! instead (`passes::skin`).

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

/// Translation, rotation and scale: the matrix is translation * rotation * scale (glTF 2.0 section
/// 3.5.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trs {
    /// Translation in the parent's space (m).
    pub translation: DVec3,
    /// Rotation, a unit quaternion.
    pub rotation: DQuat,
    /// Scale factors along the node's local axes.
    pub scale: DVec3,
}

impl Default for Trs {
    /// The identity transform.
    fn default() -> Self {
        Self { translation: DVec3::ZERO, rotation: DQuat::IDENTITY, scale: DVec3::ONE }
    }
}

impl Trs {
    /// Local-to-parent matrix: translation * rotation * scale.
    #[must_use]
    pub fn matrix(&self) -> DMat4 {
        DMat4::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Decomposes a matrix. Shear is lost; a mirrored matrix has a negative scale along X.
    #[must_use]
    pub fn of_matrix(matrix: &DMat4) -> Self {
        let linear = DMat3::from_mat4(*matrix);
        let mut scale =
            DVec3::new(linear.x_axis.length(), linear.y_axis.length(), linear.z_axis.length());
        if linear.determinant() < 0.0 {
            scale.x = -scale.x;
        }
        // Gram-Schmidt, starting with Z and Y; a flattened axis takes the remaining direction.
        let z = linear.z_axis.normalize_or(DVec3::Z);
        let y = (linear.y_axis - z * z.dot(linear.y_axis)).normalize_or(z.any_orthonormal_vector());
        let rotation = DQuat::from_mat3(&DMat3::from_cols(y.cross(z), y, z)).normalize();
        Self { translation: matrix.w_axis.truncate(), rotation, scale }
    }
}

/// A skin: joints that deform a mesh (glTF 2.0 section 3.7.3).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// The author's name, possibly empty.
    pub name: String,
    /// Node index of each joint; vertices refer to joints by index in this list.
    pub joints: Vec<usize>,
    /// Inverse bind matrices, mesh space to joint space; one per joint.
    pub inverse_bind: Vec<DMat4>,
}

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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests;
