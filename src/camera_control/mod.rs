//! Cameras that people steer: flying, orbiting and walking, as maths from input to pose.
//!
//! [`Controller::update`] is all that a viewer calls: what the hands did and how long ago the last
//! picture was, in; where the eye is and where it looks, out. Nothing here knows of windows or
//! devices, and the same input for the same time ends in the same place whatever the rate of
//! pictures: walking advances in fixed steps of 1/240 s, flying by the closed form of its approach
//! to the wanted speed.
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

/// One advance of what moves by itself (s).
const TICK: f64 = 1.0 / 240.0;

/// The longest time (s) that one update makes up for: after a longer stall the camera has not moved
/// meanwhile.
pub const MAX_UPDATE_SECONDS: f64 = 2.0;

/// Time (s) in which a flying camera comes within 1/e of the wanted speed.
const RESPONSE: f64 = 0.1;

/// How long (s) the way to a framed object takes.
const TRAVEL: f64 = 0.35;

/// The speed (m/s) of a flying camera, until it is told otherwise.
pub const FLYING_SPEED: f64 = 3.0;

/// The speed (m/s) of a walker: a person's, unhurried.
pub const WALKING_SPEED: f64 = 1.4;

/// How the camera is steered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NavigationMode {
    /// Freely, through walls.
    #[default]
    Fly,
    /// Around a point.
    Orbit,
    /// On foot: see [`Walker`].
    Walk,
}

/// What the hands did since the last update. Numbers that are not finite count as 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// Keys held: to the right, up, forward, each -1 to 1. Walking knows no up.
    pub movement: DVec3,
    /// Turned since the last update (rad): to the right, up. In orbit the scene goes with the
    /// pointer.
    pub turn: DVec2,
    /// Dragged since the last update, in heights of the picture, to the right and up: what lies
    /// under the pointer in orbit, and at the same distance in flight, stays under it.
    pub pan: DVec2,
    /// Notches of the wheel, above 0 towards what is looked at: in orbit nearer by a tenth each, in
    /// flight a tenth faster.
    pub dolly: f64,
    /// A factor of the speed, as of a key for running; 0 to 100.
    pub speed_factor: f64,
}

impl Default for Input {
    /// Hands off.
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
            // Two keys at once are no faster than one.
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

/// On the way to what is framed.
#[derive(Clone, Copy, Debug)]
struct Travel {
    from: CameraPose,
    to: CameraPose,
    gone: f64,
}

/// A camera that is steered.
#[derive(Clone, Debug)]
pub struct Controller {
    mode: NavigationMode,
    pose: CameraPose,
    /// What orbit goes around (m).
    target: DVec3,
    /// Vertical field of view (rad): how far a drag pans.
    vertical_fov: f64,
    /// Of flight (m/s).
    speed: f64,
    velocity: DVec3,
    travel: Option<Travel>,
    walls: Option<Arc<CollisionMesh>>,
    walker: Option<Walker>,
}

impl Controller {
    /// A camera in flight, with a vertical field of view (rad) in (0, pi); others are taken as a
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

    /// Where the eye is and where it looks.
    #[must_use]
    pub const fn pose(&self) -> CameraPose {
        self.pose
    }

    /// How it is steered.
    #[must_use]
    pub const fn mode(&self) -> NavigationMode {
        self.mode
    }

    /// What orbit goes around.
    #[must_use]
    pub const fn target(&self) -> DVec3 {
        self.target
    }

    /// The speed (m/s) of flight.
    #[must_use]
    pub const fn speed(&self) -> f64 {
        self.speed
    }

    /// Changes how it is steered. Whoever begins to walk falls to the ground below the eye; without
    /// walls ([`Controller::set_walls`]) there is nothing to walk on, and the camera flies on.
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

    /// What walkers collide with.
    pub fn set_walls(&mut self, walls: Arc<CollisionMesh>) {
        self.walls = Some(walls);
        if self.mode == NavigationMode::Walk {
            self.set_mode(NavigationMode::Walk);
        }
    }

    /// Places the camera at once; a walker stands there.
    pub fn place(&mut self, pose: CameraPose) {
        let distance = self.target.distance(self.pose.position).max(orbit::NEAREST);
        self.travel = None;
        self.pose = pose;
        self.target = pose.position + pose.forward() * distance;
        self.set_mode(self.mode);
    }

    /// What orbit goes around from now on: what was clicked on.
    pub fn set_target(&mut self, target: DVec3) {
        if target.is_finite() {
            self.target = target;
        }
    }

    /// The vertical field of view (rad), after a change of lens.
    pub fn set_fov(&mut self, vertical_fov: f64) {
        if vertical_fov > 0.0 && vertical_fov < std::f64::consts::PI {
            self.vertical_fov = vertical_fov;
        }
    }

    /// The speed (m/s) of flight: 1 mm/s to 10 km/s.
    pub fn set_speed(&mut self, speed: f64) {
        if speed.is_finite() {
            self.speed = speed.clamp(1e-3, 1e4);
        }
    }

    /// Travels to where a box (least and greatest corner) just fits the picture of an aspect (width
    /// over height), without turning, and orbits it from then on. A walker becomes an orbiter.
    pub fn frame(&mut self, bounds: (DVec3, DVec3), aspect: f64) {
        let Some((target, to)) = orbit::framed(self.pose, bounds, self.vertical_fov, aspect) else {
            return;
        };
        self.set_mode(NavigationMode::Orbit);
        self.target = target;
        self.travel = Some(Travel { from: self.pose, to, gone: 0.0 });
    }

    /// Advances by `dt` seconds, at most [`MAX_UPDATE_SECONDS`]; a time that is not finite or below
    /// 0 counts as none.
    pub fn update(&mut self, input: &Input, dt: f64) -> CameraPose {
        let input = input.sound();
        let dt = if dt.is_finite() { dt.clamp(0.0, MAX_UPDATE_SECONDS) } else { 0.0 };
        // Whoever takes the helm ends the journey.
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
                // Keys go along: the target comes with the eye.
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

    /// Flies for a time while turning, and says how far it went.
    ///
    /// The velocity v follows the wanted one w by dv/dt = (w - v) / RESPONSE: within a step in
    /// which w stays, v = w + (v0 - w) exp(-t / RESPONSE), and the way is its integral. Steps are
    /// needed only because w turns.
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
