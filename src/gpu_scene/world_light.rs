//! Light in world space, as the lighting passes evaluate it.

use glam::{DMat4, DVec3, Vec3};

use crate::gpu::shader_structs::frame;

/// Maximum light strength in shaders (cd or lx).
pub(super) const STRONGEST: f32 = 1e30;

/// Light in world space.
#[derive(Clone, Copy, Debug)]
pub struct WorldLight {
    /// World position (m).
    pub position: DVec3,
    /// Emission direction (unit).
    pub direction: Vec3,
    /// Shader data, except for the position.
    pub shader: frame::Light,
    /// True if the light is infinitely far away.
    pub directional: bool,
    /// Radius of the light around its position (m).
    pub radius: f64,
    /// Intensity in the strongest direction (cd by channel).
    pub candela: Vec3,
}

/// World axes of a light's node: along its width, and the emission direction.
pub(super) fn light_axes(world: &DMat4) -> (DVec3, DVec3) {
    let direction = (-world.z_axis.truncate()).normalize_or(DVec3::NEG_Z);
    // A node's scale does not affect a light (KHR_lights_punctual); under shear the axes must stay
    // orthogonal.
    let across = world.x_axis.truncate();
    let right = (across - direction * across.dot(direction))
        .normalize_or(direction.any_orthonormal_vector());
    (right, direction)
}
