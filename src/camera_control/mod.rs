//! Interactive cameras: fly, orbit and walk, as pure functions from input to pose.
//!
//! A viewer calls only [`Controller::update`], with the input and the time since the last frame; it
//! returns the eye pose. The module does not depend on windows or devices. The same input over the
//! same time gives the same pose at any frame rate: walking advances in fixed steps of 1/240 s.
//! Flying uses the closed form of its exponential approach to the target velocity.
mod collision;
mod orbit;
mod pose;
mod walker;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use glam::{DQuat, DVec2, DVec3};

pub use collision::{CollisionError, CollisionMesh, MAX_COLLISION_TRIANGLES, is_solid};
pub use pose::CameraPose;
pub use walker::{EYE_HEIGHT, HEIGHT, MAX_STEP_HEIGHT, RADIUS, Walker};

use walker::TICK;

/// Maximum time (s) of one update: after a longer stall the camera has not moved in the rest.
pub const MAX_UPDATE_SECONDS: f64 = 2.0;

/// Time constant (s) of a flying camera's velocity.
const RESPONSE: f64 = 0.1;

/// Duration (s) of the transition to a framed object.
const TRAVEL: f64 = 0.35;

/// Default speed (m/s) of a flying camera.
pub const FLYING_SPEED: f64 = 3.0;

/// Speed (m/s) of a walker: an unhurried pace.
pub const WALKING_SPEED: f64 = 1.4;

/// Navigation mode of the camera.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NavigationMode {
    /// Free flight, through walls.
    #[default]
    Fly,
    /// Orbit around a target point.
    Orbit,
    /// Walking: see [`Walker`].
    Walk,
}

/// Input since the last update. Non-finite numbers count as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// Keys held: right, up, forward, each -1 to 1. Walking ignores up.
    pub movement: DVec3,
    /// Rotation since the last update (rad): right, up. In orbit mode the scene follows the
    /// pointer.
    pub turn: DVec2,
    /// Drag since the last update, in picture heights, right and up. The point under the pointer
    /// stays under it: at the target's distance, in orbit and in flight.
    pub pan: DVec2,
    /// Wheel notches, positive towards the target. Orbit: each reduces the distance by a tenth.
    /// Fly: each raises the speed by a tenth.
    pub dolly: f64,
    /// Factor of the speed, such as for a run key; 0 to 100.
    pub speed_factor: f64,
}

impl Default for Input {
    fn default() -> Self {
        Self {
            movement: DVec3::ZERO,
            turn: DVec2::ZERO,
            pan: DVec2::ZERO,
            dolly: 0.0,
            speed_factor: 1.0,
        }
    }
}

impl Input {
    fn sound(self) -> Self {
        let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
        let two = |v: DVec2| {
            DVec2::new(finite(v.x), finite(v.y)).clamp(DVec2::splat(-100.0), DVec2::splat(100.0))
        };
        let go =
            DVec3::new(finite(self.movement.x), finite(self.movement.y), finite(self.movement.z));
        Self {
            // Two keys together are no faster than one.
            movement: go.clamp_length_max(1.0),
            turn: two(self.turn),
            pan: two(self.pan),
            dolly: finite(self.dolly).clamp(-100.0, 100.0),
            speed_factor: finite(self.speed_factor).clamp(0.0, 100.0),
        }
    }

    fn is_idle(&self) -> bool {
        self.movement == DVec3::ZERO
            && self.turn == DVec2::ZERO
            && self.pan == DVec2::ZERO
            && self.dolly == 0.0
    }
}

/// Transition to a framed object.
#[derive(Clone, Copy, Debug)]
struct Travel {
    from: CameraPose,
    to: CameraPose,
    gone: f64,
}

/// An interactive camera.
#[derive(Clone, Debug)]
pub struct Controller {
    mode: NavigationMode,
    pose: CameraPose,
    /// Orbit target (m).
    target: DVec3,
    /// Vertical field of view (rad), which scales panning.
    vertical_fov: f64,
    /// Speed of flight (m/s).
    speed: f64,
    velocity: DVec3,
    travel: Option<Travel>,
    walls: Option<Arc<CollisionMesh>>,
    walker: Option<Walker>,
}

impl Controller {
    /// A camera in fly mode, with a vertical field of view (rad) in (0, pi); other values become a
    /// right angle.
    #[must_use]
    pub fn new(pose: CameraPose, vertical_fov: f64) -> Self {
        let fov = if vertical_fov > 0.0 && vertical_fov < std::f64::consts::PI {
            vertical_fov
        } else {
            1.57
        };
        let target = pose.position + pose.forward() * 3.0;
        Self {
            mode: NavigationMode::Fly,
            pose,
            target,
            vertical_fov: fov,
            speed: FLYING_SPEED,
            velocity: DVec3::ZERO,
            travel: None,
            walls: None,
            walker: None,
        }
    }

    /// Pose of the eye.
    #[must_use]
    pub const fn pose(&self) -> CameraPose {
        self.pose
    }

    /// Navigation mode.
    #[must_use]
    pub const fn mode(&self) -> NavigationMode {
        self.mode
    }

    /// Orbit target, in the world (m).
    #[must_use]
    pub const fn target(&self) -> DVec3 {
        self.target
    }

    /// Speed of flight (m/s).
    #[must_use]
    pub const fn speed(&self) -> f64 {
        self.speed
    }

    /// Changes the navigation mode. A walker starts to fall to the ground below the eye. Without
    /// collision geometry ([`Controller::set_walls`]) the camera keeps flying.
    pub fn set_mode(&mut self, mode: NavigationMode) {
        self.velocity = DVec3::ZERO;
        self.walker = match (&self.walls, mode) {
            (Some(walls), NavigationMode::Walk) => {
                Some(Walker::new(walls.clone(), self.pose.position))
            }
            _ => None,
        };
        self.mode = if mode == NavigationMode::Walk && self.walker.is_none() {
            NavigationMode::Fly
        } else {
            mode
        };
    }

    /// Sets the collision geometry of walking.
    pub fn set_walls(&mut self, walls: Arc<CollisionMesh>) {
        self.walls = Some(walls);
        if self.mode == NavigationMode::Walk {
            self.set_mode(NavigationMode::Walk);
        }
    }

    /// Sets the pose at once; a walker stands there.
    pub fn place(&mut self, pose: CameraPose) {
        let distance = self.target.distance(self.pose.position).max(orbit::NEAREST);
        self.travel = None;
        self.pose = pose;
        self.target = pose.position + pose.forward() * distance;
        self.set_mode(self.mode);
    }

    /// Sets the orbit target, in the world (m), such as a clicked point.
    pub fn set_target(&mut self, target: DVec3) {
        if target.is_finite() {
            self.target = target;
        }
    }

    /// Sets the vertical field of view (rad), after a lens change.
    pub fn set_fov(&mut self, vertical_fov: f64) {
        if vertical_fov > 0.0 && vertical_fov < std::f64::consts::PI {
            self.vertical_fov = vertical_fov;
        }
    }

    /// Sets the speed of flight (m/s), 1 mm/s to 10 km/s.
    fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() {
            self.speed = speed.clamp(1e-3, 1e4);
        }
    }

    /// Frames a box (minimum and maximum corner): moves, without rotating, to where it just fits a
    /// picture of this aspect (width over height), then orbits it. Walk mode changes to orbit.
    pub fn frame(&mut self, bounds: (DVec3, DVec3), aspect: f64) {
        let Some((target, to)) = orbit::framed(self.pose, bounds, self.vertical_fov, aspect) else {
            return;
        };
        self.set_mode(NavigationMode::Orbit);
        self.target = target;
        self.travel = Some(Travel { from: self.pose, to, gone: 0.0 });
    }

    /// Advances by `dt` seconds, at most [`MAX_UPDATE_SECONDS`]; a negative or non-finite time
    /// counts as 0.
    pub fn update(&mut self, input: &Input, dt: f64) -> CameraPose {
        let input = input.sound();
        let dt = if dt.is_finite() { dt.clamp(0.0, MAX_UPDATE_SECONDS) } else { 0.0 };
        // Any input ends a transition.
        if let Some(mut travel) = self.travel.take()
            && input.is_idle()
        {
            travel.gone += dt / TRAVEL;
            self.pose = travel.from.towards(travel.to, travel.gone);
            self.travel = (travel.gone < 1.0).then_some(travel);
            return self.pose;
        }
        match (self.mode, &mut self.walker) {
            (NavigationMode::Walk, Some(walker)) => {
                let before = self.pose;
                self.pose = self.pose.turned(input.turn);
                let wish = DVec2::new(input.movement.x, input.movement.z)
                    * WALKING_SPEED
                    * input.speed_factor;
                self.pose.position = walker.update(wish, before.yaw, input.turn.x, dt);
            }
            (NavigationMode::Orbit, _) => {
                if input.turn != DVec2::ZERO {
                    self.pose = orbit::turned(self.pose, self.target, -input.turn);
                }
                let pan = orbit::pan(self.pose, self.target, self.vertical_fov, input.pan);
                self.pose.position += pan;
                self.target += pan;
                self.pose.position = orbit::dollied(self.pose.position, self.target, input.dolly);
                // Keys move the target together with the eye.
                let go = self.fly(&input, dt, DVec2::ZERO);
                self.target += go;
            }
            _ => {
                self.set_speed(self.speed * 1.1_f64.powf(input.dolly));
                let pan = orbit::pan(self.pose, self.target, self.vertical_fov, input.pan);
                self.pose.position += pan;
                let distance = self.target.distance(self.pose.position).max(orbit::NEAREST);
                self.fly(&input, dt, input.turn);
                self.target = self.pose.position + self.pose.forward() * distance;
            }
        }
        self.pose
    }

    /// Flies for `dt` seconds while turning, and returns the displacement.
    ///
    /// The velocity v follows the target velocity w by dv/dt = (w - v) / RESPONSE. Within a step of
    /// constant w, v = w + (v0 - w) exp(-t / RESPONSE), and the displacement is its integral. Steps
    /// are needed only because w turns.
    fn fly(&mut self, input: &Input, dt: f64, turn: DVec2) -> DVec3 {
        let from = self.pose.position;
        let steps = (dt / TICK).ceil().max(1.0);
        let (step, part) = (dt / steps, turn / steps);
        let fade = (-step / RESPONSE).exp();
        let speed = self.speed * input.speed_factor;
        for _ in 0..steps as usize {
            // The middle of the turn within the step.
            let pose = self.pose.turned(part * 0.5);
            let turn = DQuat::from_rotation_y(-pose.yaw);
            let wish = (turn * DVec3::X * input.movement.x
                + DVec3::Y * input.movement.y
                + pose.forward() * input.movement.z)
                * speed;
            self.pose.position += wish * step + (self.velocity - wish) * RESPONSE * (1.0 - fade);
            self.velocity = wish + (self.velocity - wish) * fade;
            self.pose = CameraPose { position: self.pose.position, ..self.pose.turned(part) };
        }
        if input.movement == DVec3::ZERO && self.velocity.length() < 1e-4 * self.speed {
            self.velocity = DVec3::ZERO;
        }
        self.pose.position - from
    }
}
