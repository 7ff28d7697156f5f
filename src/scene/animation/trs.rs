//! Transforms as the parts that animations change.

use glam::{DMat3, DMat4, DQuat, DVec3};

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
