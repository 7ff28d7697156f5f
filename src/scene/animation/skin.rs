//! Skins.

use glam::DMat4;

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
