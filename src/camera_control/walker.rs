//! A person on foot.

use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::{TICK, collision::CollisionMesh};

/// How wide a person is to either side (m).
pub const RADIUS: f64 = 0.3;
/// How tall (m).
pub const HEIGHT: f64 = 1.75;
/// How high the eyes are above the ground (m).
pub const EYE_HEIGHT: f64 = 1.62;
/// The highest step that is climbed (m).
pub const MAX_STEP_HEIGHT: f64 = 0.3;
/// Of the ball that feels for the ground (m).
pub(super) const FOOT: f64 = 0.1;
/// Of the ball that feels for the world's end (m): gaps twice as wide are walked over.
const TOE: f64 = 0.03;

/// The body begins so far above the feet (m): what is lower is no wall but a step.
const LIFT: f64 = MAX_STEP_HEIGHT + 0.005;
/// The farthest move (m) between two looks at the walls. Less than a radius by so much that, with
/// the push out of what was met, the body's axis cannot come from one side of a surface to the
/// other: see `Walker::free`.
const MOVE: f64 = 0.08;
/// The farthest from where it was that a move may end (m), pushes included.
const MAX_DISPLACEMENT: f64 = 0.2;
/// How deep a body may be in a surface (m).
const SKIN: f64 = 1e-4;
/// Time (s) in which a walker comes within 1/e of the wanted speed, on the ground and in the air.
const RESPONSE: [f64; 2] = [0.06, 0.8];
/// Time (s) in which the eye follows a step by all but 1/e.
const KNEES: f64 = 0.07;
/// Acceleration of a fall (m/s2), and its greatest speed (m/s).
const GRAVITY: f64 = 9.81;
const TERMINAL: f64 = 50.0;
/// The greatest speed (m/s) on what is too steep to stand on.
const SLIDING: f64 = 4.0;

/// A person of [`HEIGHT`] and [`RADIUS`] with the eyes at [`EYE`], who collides with [`Walls`].
///
/// The body is a capsule that begins [`STEP`] above the feet; a ball under it finds the ground. So
/// steps of up to 0.3 m are climbed and gone down, slopes of up to 45 degrees are ground, steeper
/// ones are not: there one slides down. Walls are slid along. Below the lowest surface there is
/// nothing to fall into: where no ground is below, nobody goes.
#[derive(Clone, Debug)]
pub struct Walker {
    walls: Arc<CollisionMesh>,
    /// The lowest point, now and a tick ago.
    feet: DVec3,
    before: DVec3,
    /// Level (m/s).
    velocity: DVec2,
    /// Downwards (m/s).
    falling: f64,
    on_ground: bool,
    /// How far the eye is behind the feet after a step (m), now and a tick ago.
    lag: f64,
    lag_before: f64,
    /// Time that no tick has used yet (s).
    left: f64,
}

/// What came of a move.
enum Settled {
    At { feet: DVec3, on_ground: bool },
    No,
}

impl Walker {
    /// A walker whose eyes are at `eye`, or as near above as a body has room. It falls from there
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
        // Ground within a step of the feet is stood on at once.
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

    /// Where the eyes are.
    #[must_use]
    pub fn eye(&self) -> DVec3 {
        let part = self.left / TICK;
        let feet = self.before + (self.feet - self.before) * part;
        feet + DVec3::Y * (EYE_HEIGHT + self.lag_before + (self.lag - self.lag_before) * part)
    }

    /// Whether the feet are on the ground.
    #[must_use]
    pub const fn on_ground(&self) -> bool {
        self.on_ground
    }

    /// Walks for `dt` seconds at the wanted velocity (m/s; to the right, forward) of somebody who
    /// turns evenly from `yaw` by `turn` (rad), and says where the eyes are.
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
            // What walls took is lost; they give nothing.
            let gone = self.feet - self.before;
            let gone = DVec2::new(gone.x, gone.z) / TICK;
            self.velocity = gone.clamp_length_max(self.velocity.length());
        }
        if !self.on_ground {
            self.fall();
        }
    }

    /// One move of at most `MOVE`; where it is not possible, what is possible of it along an axis.
    fn go(&mut self, way: DVec2) {
        let (x, z) = (DVec3::new(way.x, 0.0, 0.0), DVec3::new(0.0, 0.0, way.y));
        let (more, less) = if way.x.abs() > way.y.abs() { (x, z) } else { (z, x) };
        for way in [x + z, more, less] {
            if way == DVec3::ZERO {
                continue;
            }
            if let Settled::At { feet, on_ground } = self.settled(self.feet + way) {
                let rise = feet.y - self.feet.y;
                // The eye goes along with slopes, and follows steps.
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

    /// Where feet that were moved come to be: out of walls, on the ground.
    fn settled(&self, wanted: DVec3) -> Settled {
        let Some(pushed) = self.resolve_penetration(wanted) else { return Settled::No };
        let reach = if self.on_ground { LIFT + MAX_STEP_HEIGHT } else { LIFT };
        let top = pushed + DVec3::Y * LIFT;
        if !self.ends(top) {
            return Settled::No;
        }
        // What is farther below is fallen down to.
        let ground = self.walls.ground(top, FOOT, reach);
        let feet = DVec3 { y: ground.unwrap_or(pushed.y), ..pushed };
        let on_ground = ground.is_some();
        if self.free(feet) { Settled::At { feet, on_ground } } else { Settled::No }
    }

    /// Whether somebody who falls from here comes to rest; where nothing at all is below anywhere,
    /// nobody falls.
    fn ends(&self, from: DVec3) -> bool {
        self.walls.ground(from, TOE, from.y - self.walls.lowest() + 1.0).is_some()
    }

    /// Falls for a tick, as far as there is something to fall on.
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
                // On a point or an edge that cannot be stood on, and that lets nobody by: stand on
                // it.
                None => return self.land(),
            }
        }
    }

    fn land(&mut self) {
        self.falling = 0.0;
        self.on_ground = true;
    }

    /// The axis of the body above these feet.
    fn axis(feet: DVec3) -> (DVec3, DVec3) {
        (feet + DVec3::Y * (LIFT + RADIUS), feet + DVec3::Y * (HEIGHT - RADIUS))
    }

    /// Whether a body has room above these feet.
    ///
    /// A body that had room keeps its axis on its side of every surface: it is `RADIUS - SKIN` away
    /// from all, one move takes it at most `FARTHEST` aside and `LIFT` up or down, and up or down
    /// it ends in a surface if it meets one (the axis is longer than that); in a surface it has no
    /// room.
    fn free(&self, feet: DVec3) -> bool {
        let (low, high) = Self::axis(feet);
        self.walls.deepest(low, high).is_none_or(|touch| touch.depth <= SKIN)
    }

    /// Pushes a body level out of what it is in; none where that is not possible within `FARTHEST`.
    fn resolve_penetration(&self, wanted: DVec3) -> Option<DVec3> {
        let mut feet = wanted;
        for _ in 0..24 {
            let (low, high) = Self::axis(feet);
            let Some(touch) = self.walls.deepest(low, high).filter(|touch| touch.depth > SKIN)
            else {
                let aside = DVec2::new(feet.x - self.feet.x, feet.z - self.feet.z).length();
                return (aside <= MAX_DISPLACEMENT).then_some(feet);
            };
            let level = DVec3 { y: 0.0, ..touch.away };
            let part = level.length();
            if part < 0.15 {
                return None;
            }
            // Half a skin of air, so that the next look finds none.
            feet += level / part * ((touch.depth - 0.5 * SKIN) / part).min(0.1);
        }
        None
    }

    /// The nearest feet with room: here, else above, else around.
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
