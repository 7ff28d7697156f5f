//! Where an eye is and where it looks.

use std::f64::consts::{PI, TAU};

use glam::{DMat4, DQuat, DVec2, DVec3};

/// The steepest look (rad), up or down: short of the vertical, where turning loses its meaning.
const MAX_PITCH: f64 = 89.5 * PI / 180.0;

/// Where an eye is and where it looks: level horizons only.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CameraPose {
    /// Of the eye (m).
    pub position: DVec3,
    /// Turned about the vertical (rad), clockwise seen from above: 0 looks along -Z, a right angle
    /// along +X.
    pub yaw: f64,
    /// Above the horizon (rad), at most 89.5 degrees either way.
    pub pitch: f64,
}

impl CameraPose {
    /// From a camera's node: it looks along its -Z. A roll is lost.
    #[must_use]
    pub fn from_world(world: DMat4) -> Self {
        let forward = world.transform_vector3(DVec3::NEG_Z).normalize_or(DVec3::NEG_Z);
        let level = DVec2::new(forward.x, forward.z);
        // Straight up or down the picture's upper border says which way is forward.
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

    /// The camera's node in the world.
    #[must_use]
    pub fn world(self) -> DMat4 {
        DMat4::from_rotation_translation(self.rotation(), self.position)
    }

    /// From the camera's axes to the world's.
    #[must_use]
    pub fn rotation(self) -> DQuat {
        DQuat::from_rotation_y(-self.yaw) * DQuat::from_rotation_x(self.pitch)
    }

    /// The direction of the look.
    #[must_use]
    pub fn forward(self) -> DVec3 {
        self.rotation() * DVec3::NEG_Z
    }

    /// To the right of the picture.
    #[must_use]
    pub fn right(self) -> DVec3 {
        self.rotation() * DVec3::X
    }

    /// To the upper border of the picture.
    #[must_use]
    pub fn up(self) -> DVec3 {
        self.rotation() * DVec3::Y
    }

    /// Turned by (right, up) rad.
    #[must_use]
    pub fn turned(self, by: DVec2) -> Self {
        let yaw = (self.yaw + by.x + PI).rem_euclid(TAU) - PI;
        Self { yaw, pitch: (self.pitch + by.y).clamp(-MAX_PITCH, MAX_PITCH), ..self }
    }

    /// A part of the way to another, 0 to 1, starting and ending gently; the shorter way around.
    #[must_use]
    pub fn towards(self, other: Self, part: f64) -> Self {
        let t = part.clamp(0.0, 1.0);
        let t = t * t * (3.0 - 2.0 * t);
        let around = (other.yaw - self.yaw + PI).rem_euclid(TAU) - PI;
        Self { position: self.position.lerp(other.position, t), ..self }
            .turned(DVec2::new(around, other.pitch - self.pitch) * t)
    }
}
