//! Position and orientation of an eye.

use std::f64::consts::{PI, TAU};

use glam::{DMat4, DQuat, DVec2, DVec3};

/// Maximum pitch (rad), short of the vertical, where yaw is undefined.
const MAX_PITCH: f64 = 89.5 * PI / 180.0;

/// Position and orientation of an eye, without roll.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CameraPose {
    /// Position of the eye, in the world (m).
    pub position: DVec3,
    /// Rotation about the vertical (rad), clockwise seen from above: 0 looks along -Z, a right
    /// angle along +X.
    pub yaw: f64,
    /// Angle above the horizon (rad), -89.5 to 89.5 degrees.
    pub pitch: f64,
}

impl CameraPose {
    /// From the world transform of a camera node, which looks along -Z. Roll is dropped.
    #[must_use]
    pub fn from_world(world: DMat4) -> Self {
        let forward = world.transform_vector3(DVec3::NEG_Z).normalize_or(DVec3::NEG_Z);
        let level = DVec2::new(forward.x, forward.z);
        // Straight up or down, the upper border of the picture gives the forward direction.
        let level = if level.length() > 1e-6 {
            level
        } else {
            let up = world.transform_vector3(DVec3::Y) * -forward.y.signum();
            DVec2::new(up.x, up.z)
        };
        let yaw = level.x.atan2(-level.y);
        Self { position: world.w_axis.truncate(), yaw, pitch: forward.y.clamp(-1.0, 1.0).asin() }
            .turned(DVec2::ZERO)
    }

    /// World transform of the camera node.
    #[must_use]
    pub fn world(self) -> DMat4 {
        DMat4::from_rotation_translation(self.rotation(), self.position)
    }

    /// Rotation from camera space to world space.
    #[must_use]
    pub fn rotation(self) -> DQuat {
        DQuat::from_rotation_y(-self.yaw) * DQuat::from_rotation_x(self.pitch)
    }

    /// View direction in the world (unit vector).
    #[must_use]
    pub fn forward(self) -> DVec3 {
        self.rotation() * DVec3::NEG_Z
    }

    /// Right direction of the picture in the world (unit vector).
    #[must_use]
    pub fn right(self) -> DVec3 {
        self.rotation() * DVec3::X
    }

    /// Up direction of the picture in the world (unit vector).
    #[must_use]
    pub fn up(self) -> DVec3 {
        self.rotation() * DVec3::Y
    }

    /// Rotated by (right, up) rad.
    #[must_use]
    pub fn turned(self, by: DVec2) -> Self {
        let yaw = (self.yaw + by.x + PI).rem_euclid(TAU) - PI;
        Self { yaw, pitch: (self.pitch + by.y).clamp(-MAX_PITCH, MAX_PITCH), ..self }
    }

    /// Interpolates to another pose by `part`, 0 to 1, with ease-in and ease-out; takes the shorter
    /// rotation.
    #[must_use]
    pub fn towards(self, other: Self, part: f64) -> Self {
        let t = part.clamp(0.0, 1.0);
        let t = t * t * (3.0 - 2.0 * t);
        let around = (other.yaw - self.yaw + PI).rem_euclid(TAU) - PI;
        Self { position: self.position.lerp(other.position, t), ..self }
            .turned(DVec2::new(around, other.pitch - self.pitch) * t)
    }
}
