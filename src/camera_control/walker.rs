//! Walking with collision and gravity.

use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::collision::CollisionMesh;

/// Fixed time step (s).
pub(super) const TICK: f64 = 1.0 / 240.0;

/// Radius of the body (m).
pub const RADIUS: f64 = 0.3;
/// Height of the body (m).
pub const HEIGHT: f64 = 1.75;
/// Height of the eyes above the ground (m).
pub const EYE_HEIGHT: f64 = 1.62;
/// Maximum step height (m).
pub const MAX_STEP_HEIGHT: f64 = 0.3;
/// Radius of the ball that probes the ground (m).
pub(super) const FOOT: f64 = 0.1;
/// Radius of the ball that probes the end of the floor (m): the walker crosses gaps twice as wide.
const TOE: f64 = 0.03;

/// Height of the body's lower end above the feet (m): lower obstacles are steps, not walls.
const LIFT: f64 = MAX_STEP_HEIGHT + 0.005;
/// Maximum move (m) between two collision tests. It is below the radius with enough margin that,
/// with the push-out, the body's axis cannot cross a surface: see `Walker::free`.
const MOVE: f64 = 0.08;
/// Maximum displacement (m) of a move, push-out included.
const MAX_DISPLACEMENT: f64 = 0.2;
/// Allowed penetration of the body (m).
const SKIN: f64 = 1e-4;
/// Time constants (s) of a walker's velocity, on the ground and in the air.
const RESPONSE: [f64; 2] = [0.06, 0.8];
/// Time constant (s) with which the eye follows a step.
const KNEES: f64 = 0.07;
/// Gravitational acceleration (m/s2), and terminal speed (m/s).
const GRAVITY: f64 = 9.81;
const TERMINAL: f64 = 50.0;
/// Maximum speed (m/s) of sliding on slopes too steep to stand on.
const SLIDING: f64 = 4.0;

/// A person of [`HEIGHT`] and [`RADIUS`] with the eyes at [`EYE_HEIGHT`], who collides with a
/// [`CollisionMesh`].
///
/// The body is a capsule that begins [`MAX_STEP_HEIGHT`] above the feet; a ball under it finds the
/// ground. The walker climbs and descends steps of up to 0.3 m and walks on slopes of up to 45
/// degrees; it slides down steeper ones, and along walls. Positions without any ground below are
/// blocked: there is nothing to fall onto.
#[derive(Clone, Debug)]
pub struct Walker {
    walls: Arc<CollisionMesh>,
    /// Lowest point, now and one tick ago.
    feet: DVec3,
    before: DVec3,
    /// Horizontal velocity (m/s).
    velocity: DVec2,
    /// Downward speed (m/s).
    falling: f64,
    on_ground: bool,
    /// Lag of the eye behind the feet after a step (m), now and one tick ago.
    lag: f64,
    lag_before: f64,
    /// Time not yet consumed by a tick (s).
    left: f64,
}

/// Result of a move.
enum Settled {
    At { feet: DVec3, on_ground: bool },
    No,
}

impl Walker {
    /// A walker with the eyes at `eye`, or at the nearest free position above. It falls from there
    /// to the ground.
    #[must_use]
    pub fn new(walls: Arc<CollisionMesh>, eye: DVec3) -> Self {
        let mut walker = Self {
            walls,
            feet: eye - DVec3::Y * EYE_HEIGHT,
            before: DVec3::ZERO,
            velocity: DVec2::ZERO,
            falling: 0.0,
            on_ground: false,
            lag: 0.0,
            lag_before: 0.0,
            left: 0.0,
        };
        walker.feet = walker.room(walker.feet);
        // Snaps to ground within a step of the feet.
        if let Some(ground) =
            walker.walls.ground(walker.feet + DVec3::Y * LIFT, FOOT, LIFT + MAX_STEP_HEIGHT)
        {
            let feet = DVec3 { y: ground, ..walker.feet };
            if walker.free(feet) {
                walker.feet = feet;
                walker.on_ground = true;
            }
        }
        walker.before = walker.feet;
        walker
    }

    /// Position of the eyes, in the world (m).
    #[must_use]
    pub fn eye(&self) -> DVec3 {
        let part = self.left / TICK;
        let feet = self.before + (self.feet - self.before) * part;
        feet + DVec3::Y * (EYE_HEIGHT + self.lag_before + (self.lag - self.lag_before) * part)
    }

    /// Walks for `dt` seconds at the target velocity (m/s; right, forward) while turning evenly
    /// from `yaw` by `turn` (rad), and returns the position of the eyes.
    pub(super) fn update(&mut self, wish: DVec2, yaw: f64, turn: f64, dt: f64) -> DVec3 {
        let started = self.left;
        self.left += dt;
        let mut done = 0.0;
        while self.left >= TICK {
            self.left -= TICK;
            done += TICK;
            let part =
                if dt > 0.0 { ((done - started - 0.5 * TICK) / dt).clamp(0.0, 1.0) } else { 1.0 };
            let (sin, cos) = (yaw + turn * part).sin_cos();
            // Right is (cos, sin) and forward (sin, -cos) in x and z.
            self.tick(DVec2::new(cos, sin) * wish.x + DVec2::new(sin, -cos) * wish.y);
        }
        self.eye()
    }

    fn tick(&mut self, wish: DVec2) {
        (self.before, self.lag_before) = (self.feet, self.lag);
        let response = RESPONSE[usize::from(!self.on_ground)];
        self.velocity += (wish - self.velocity) * (1.0 - (-TICK / response).exp());
        if wish == DVec2::ZERO && self.velocity.length() < 1e-3 {
            self.velocity = DVec2::ZERO;
        }
        self.lag *= (-TICK / KNEES).exp();
        if self.lag.abs() < 1e-6 {
            self.lag = 0.0;
        }
        let way = self.velocity * TICK;
        if way != DVec2::ZERO {
            let parts = (way.length() / MOVE).ceil().max(1.0);
            for _ in 0..parts as usize {
                self.go(way / parts);
            }
            // Collisions reduce the speed and never increase it.
            let gone = self.feet - self.before;
            let gone = DVec2::new(gone.x, gone.z) / TICK;
            self.velocity = gone.clamp_length_max(self.velocity.length());
        }
        if !self.on_ground {
            self.fall();
        }
    }

    /// One move of at most `MOVE`; if it is blocked, its component along an axis.
    fn go(&mut self, way: DVec2) {
        let (x, z) = (DVec3::new(way.x, 0.0, 0.0), DVec3::new(0.0, 0.0, way.y));
        let (more, less) = if way.x.abs() > way.y.abs() { (x, z) } else { (z, x) };
        for way in [x + z, more, less] {
            if way == DVec3::ZERO {
                continue;
            }
            if let Settled::At { feet, on_ground } = self.settled(self.feet + way) {
                let rise = feet.y - self.feet.y;
                // The eye follows slopes directly and steps with a lag.
                let slope =
                    1.2 * DVec2::new(feet.x - self.feet.x, feet.z - self.feet.z).length() + 1e-3;
                if rise.abs() > slope {
                    self.lag = (self.lag - rise + slope * rise.signum()).clamp(-0.4, 0.4);
                }
                self.feet = feet;
                self.on_ground = on_ground;
                if on_ground {
                    self.falling = 0.0;
                }
                return;
            }
        }
    }

    /// Resolves a moved position: out of walls, onto the ground.
    fn settled(&self, wanted: DVec3) -> Settled {
        let Some(pushed) = self.resolve_penetration(wanted) else { return Settled::No };
        let reach = if self.on_ground { LIFT + MAX_STEP_HEIGHT } else { LIFT };
        let top = pushed + DVec3::Y * LIFT;
        if !self.ends(top) {
            return Settled::No;
        }
        // The walker falls to ground that is farther below.
        let ground = self.walls.ground(top, FOOT, reach);
        let feet = DVec3 { y: ground.unwrap_or(pushed.y), ..pushed };
        let on_ground = ground.is_some();
        if self.free(feet) { Settled::At { feet, on_ground } } else { Settled::No }
    }

    /// True if a fall from here ends on ground.
    fn ends(&self, from: DVec3) -> bool {
        self.walls.ground(from, TOE, from.y - self.walls.lowest() + 1.0).is_some()
    }

    /// Falls for a tick, while there is ground below.
    fn fall(&mut self) {
        if !self.ends(self.feet + DVec3::Y * LIFT) {
            self.falling = 0.0;
            return;
        }
        self.falling = (self.falling + GRAVITY * TICK).min(TERMINAL);
        let parts = (self.falling * TICK / MOVE).ceil().max(1.0);
        let drop = self.falling * TICK / parts;
        for _ in 0..parts as usize {
            let top = self.feet + DVec3::Y * LIFT;
            if let Some(ground) = self.walls.ground(top, FOOT, LIFT + drop) {
                let feet = DVec3 { y: ground, ..self.feet };
                if self.free(feet) {
                    self.feet = feet;
                    self.land();
                    return;
                }
            }
            match self.resolve_penetration(self.feet - DVec3::Y * drop) {
                Some(feet) => {
                    let aside = DVec2::new(feet.x - self.feet.x, feet.z - self.feet.z);
                    if aside != DVec2::ZERO {
                        self.falling = self.falling.min(SLIDING);
                    }
                    if !self.ends(feet + DVec3::Y * LIFT) {
                        return self.land();
                    }
                    self.feet = feet;
                }
                // On a point or an edge that is not walkable and blocks the way down: stand on it.
                None => return self.land(),
            }
        }
    }

    fn land(&mut self) {
        self.falling = 0.0;
        self.on_ground = true;
    }

    /// Axis of the body above these feet.
    fn axis(feet: DVec3) -> (DVec3, DVec3) {
        (feet + DVec3::Y * (LIFT + RADIUS), feet + DVec3::Y * (HEIGHT - RADIUS))
    }

    /// True if the body has room above these feet.
    ///
    /// A free body keeps its axis on its side of every surface. It is `RADIUS - SKIN` away from
    /// all, and one move takes it at most `MAX_DISPLACEMENT` sideways and `LIFT` up or down. A
    /// vertical move against a surface ends inside it, as the axis is longer than that, and there
    /// the body is not free.
    fn free(&self, feet: DVec3) -> bool {
        let (low, high) = Self::axis(feet);
        self.walls.deepest(low, high, RADIUS).is_none_or(|touch| touch.depth <= SKIN)
    }

    /// Pushes a body horizontally out of penetration; `None` where this takes more than
    /// `MAX_DISPLACEMENT`.
    fn resolve_penetration(&self, wanted: DVec3) -> Option<DVec3> {
        let mut feet = wanted;
        for _ in 0..24 {
            let (low, high) = Self::axis(feet);
            let Some(touch) =
                self.walls.deepest(low, high, RADIUS).filter(|touch| touch.depth > SKIN)
            else {
                let aside = DVec2::new(feet.x - self.feet.x, feet.z - self.feet.z).length();
                return (aside <= MAX_DISPLACEMENT).then_some(feet);
            };
            let level = DVec3 { y: 0.0, ..touch.away };
            let part = level.length();
            if part < 0.15 {
                return None;
            }
            // Half a skin of clearance, so that the next test finds no penetration.
            feet += level / part * ((touch.depth - 0.5 * SKIN) / part).min(0.1);
        }
        None
    }

    /// The nearest free position of the feet: here, else above, else around.
    fn room(&self, wanted: DVec3) -> DVec3 {
        let around =
            (0..8).map(|eighth| DVec2::from_angle(f64::from(eighth) * std::f64::consts::FRAC_PI_4));
        let around: Vec<DVec2> = std::iter::once(DVec2::ZERO).chain(around).collect();
        for ring in 0..8 {
            for rise in 0..20 {
                for way in around.iter().skip(usize::from(ring > 0)) {
                    let aside = *way * 0.15 * f64::from(ring);
                    let feet = wanted + DVec3::new(aside.x, f64::from(rise) * 0.1, aside.y);
                    if self.free(feet) {
                        return feet;
                    }
                    if ring == 0 {
                        break;
                    }
                }
            }
        }
        wanted
    }
}
