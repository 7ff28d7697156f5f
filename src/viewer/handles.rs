//! Handles in the picture that move, turn and size a light: where they lie, and what a drag of one
//! makes of the light's numbers.
//!
//! All is worked out from the place of the pointer when the drag began and where it is now, through
//! the view of that moment: what is dragged neither drifts nor depends on how many events came on
//! the way.

use egui::{Pos2, Rect};
use glam::{DMat3, DMat4, DVec2, DVec3, DVec4};

use crate::{passes::View, photometry::lights::Emitter};

/// A view of the scene in a rectangle of the window (points, y down).
#[derive(Clone, Copy, Debug)]
pub struct ScreenProjection {
    /// World axes relative to the eye to clip space.
    matrix: DMat4,
    eye: DVec3,
    right: DVec3,
    forward: DVec3,
    parallel: bool,
    middle: DVec2,
    half: DVec2,
}

impl ScreenProjection {
    /// A camera's view that fills a rectangle.
    #[must_use]
    pub fn new(view: &View, rect: Rect) -> Self {
        let point = |p: Pos2| DVec2::new(f64::from(p.x), f64::from(p.y));
        Self {
            matrix: view.view_projection.as_dmat4(),
            eye: view.position,
            right: view.rotation.x_axis,
            forward: view.forward.as_dvec3(),
            parallel: view.parallel,
            middle: point(rect.center()),
            half: point(rect.max) / 2.0 - point(rect.min) / 2.0,
        }
    }

    fn clip(&self, place: DVec3) -> DVec4 {
        self.matrix * (place - self.eye).extend(1.0)
    }

    /// Where a place of the world (m) is seen (points of the window); none behind the eye.
    #[must_use]
    pub fn project(&self, place: DVec3) -> Option<DVec2> {
        let clip = self.clip(place);
        (clip.w > 1e-6).then(|| self.middle + self.half * (clip.truncate().truncate() / clip.w))
    }

    /// The line of screen through a point of the window: where it begins and where it goes (length
    /// 1).
    #[must_use]
    pub fn ray(&self, at: DVec2) -> Option<(DVec3, DVec3)> {
        let [x, y] = ((at - self.middle) / self.half).to_array();
        let inverse = self.matrix.inverse();
        // Depth is reversed, and 0 may be at infinity: the near plane, and what lies at twice its
        // depth.
        let place = |depth: f64| {
            let p = inverse * DVec4::new(x, y, depth, 1.0);
            p.truncate() / p.w
        };
        let (near, beyond) = (place(1.0), place(0.5));
        let way = (beyond - near).try_normalize()?;
        let way = if way.dot(self.forward) < 0.0 { -way } else { way };
        (way.is_finite() && near.is_finite())
            .then(|| (self.eye + if self.parallel { near } else { DVec3::ZERO }, way))
    }

    /// Metres that a point of the window is across at a place; none behind the eye.
    #[must_use]
    pub fn meters_per_point(&self, place: DVec3) -> Option<f64> {
        let step = 1e-4 * self.clip(place).w.abs().max(1e-3);
        let across = (self.project(place + self.right * step)? - self.project(place)?).length();
        (across > 0.0).then(|| step / across)
    }

    /// How far (m) along a line the place is whose picture is nearest to the pointer. None where
    /// the line points at the eye, or there is no such place before it.
    ///
    /// In clip space the line is a + t b; what is seen of it, (a.xy + t b.xy) / (a.w + t b.w),
    /// moves on a straight line along b.xy a.w - a.xy b.w, so that the t whose picture lies at the
    /// pointer's foot on it is that of a linear equation.
    #[must_use]
    pub fn closest_on_line(&self, origin: DVec3, axis: DVec3, pointer: DVec2) -> Option<f64> {
        let (a, b) = (self.clip(origin), self.matrix * axis.extend(0.0));
        let flat = |v: DVec4| v.truncate().truncate() * self.half;
        let way = flat(b) * a.w - flat(a) * b.w;
        // Points of the window a metre, here and across the line of screen.
        let seen = way.length() / (a.w * a.w);
        if a.w <= 1e-6 || seen * self.meters_per_point(origin)? < 0.03 {
            return None;
        }
        let way = way.try_normalize()?;
        let foot = way.dot(pointer - self.middle);
        let t = (foot * a.w - way.dot(flat(a))) / (way.dot(flat(b)) - foot * b.w);
        (t.is_finite() && a.w + t * b.w > 1e-6).then_some(t)
    }

    /// The angle (rad) of the place on a circle whose picture is nearest to the pointer, at most
    /// `reach` from another.
    #[must_use]
    pub fn closest_on_circle(
        &self,
        circle: &Circle,
        pointer: DVec2,
        near: f64,
        reach: f64,
    ) -> Option<f64> {
        const STEPS: i32 = 64;
        let off = |angle: f64| {
            self.project(circle.at(angle)).map_or(f64::INFINITY, |at| at.distance_squared(pointer))
        };
        let angle = |step: i32| near + reach * f64::from(step) / f64::from(STEPS);
        let best = (-STEPS..=STEPS).min_by(|a, b| off(angle(*a)).total_cmp(&off(angle(*b))))?;
        if off(angle(best)).is_infinite() {
            return None;
        }
        // Thirds between the neighbours of the best of these.
        let (mut low, mut high) = (angle((best - 1).max(-STEPS)), angle((best + 1).min(STEPS)));
        for _ in 0..60 {
            let third = (high - low) / 3.0;
            if off(low + third) < off(high - third) { high -= third } else { low += third }
        }
        Some((low + high) / 2.0)
    }
}

/// A circle in the world.
#[derive(Clone, Copy, Debug)]
pub struct Circle {
    /// Its middle (m).
    pub center: DVec3,
    /// Where it begins and where it is a quarter later, seen from its middle (m): as long as each
    /// other, at right angles.
    pub axes: [DVec3; 2],
}

impl Circle {
    /// The place at an angle (rad).
    #[must_use]
    pub fn at(&self, angle: f64) -> DVec3 {
        self.center + self.axes[0] * angle.cos() + self.axes[1] * angle.sin()
    }
}

/// What handles do to the selected light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Move it along the world's axes.
    Move,
    /// Turn what it shines at around the world's axes.
    Turn,
    /// Change its shape's size, or its cone.
    Size,
}

/// A length of a light's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// `width`, on both sides of the middle.
    Width,
    /// `height`, likewise.
    Height,
    /// `length` of a tube, likewise.
    Tube,
    /// `radius`.
    Radius,
}

impl Length {
    /// The property's name.
    #[must_use]
    pub const fn property(self) -> &'static str {
        match self {
            Self::Width => "width",
            Self::Height => "height",
            Self::Tube => "length",
            Self::Radius => "radius",
        }
    }
}

/// A handle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Handle {
    /// An arrow along an axis of the world: 0 to 2.
    Arrow(usize),
    /// A ring about an axis of the world.
    Ring(usize),
    /// A length, along a direction of the world (length 1).
    Length(Length, DVec3),
    /// The outer half angle of a spot.
    Cone,
}

/// A light that handles are for.
#[derive(Clone, Copy, Debug)]
pub struct HandleTarget {
    /// Its place and axes; it shines along -Z.
    pub world: DMat4,
    /// Its kind and sizes.
    pub emitter: Emitter,
    /// Whether it gives other light to other directions, as a photometric file says.
    pub directed: bool,
    /// The least outer half angle (rad): the inner one, where the look sets that.
    pub inner: f64,
    /// What it shines at (m), where the look says so.
    pub aim: Option<DVec3>,
}

/// How long handles are (points of the window).
pub(super) const HANDLE_LENGTH: f64 = 80.0;
/// The pointer is at a handle at most so far (points) from it.
pub(super) const NEAR: f64 = 7.0;
/// Between what a light gives least and most of a length (m): as its properties take them, and no
/// smaller than one can see.
const SIZES: [f64; 2] = [1e-3, 1e4];

const AXES: [DVec3; 3] = [DVec3::X, DVec3::Y, DVec3::Z];

impl HandleTarget {
    fn place(&self) -> DVec3 {
        self.world.w_axis.truncate()
    }

    fn axis(&self, index: usize) -> DVec3 {
        self.world.col(index).truncate().normalize_or(AXES[index.min(2)])
    }

    fn forward(&self) -> DVec3 {
        -self.axis(2)
    }

    /// The handles that this light has for a action; none where nothing of it can be changed so.
    #[must_use]
    pub fn handles(&self, action: Action, screen: &ScreenProjection) -> Vec<Handle> {
        let both = |length, axis: usize| {
            [1.0, -1.0].map(|sign| Handle::Length(length, self.axis(axis) * sign)).to_vec()
        };
        match (action, self.emitter) {
            (Action::Move, _) => (0..3).map(Handle::Arrow).collect(),
            (Action::Turn, Emitter::Point) if !self.directed => Vec::new(),
            (Action::Turn, Emitter::Sphere { .. }) => Vec::new(),
            (Action::Turn, _) => (0..3).map(Handle::Ring).collect(),
            (Action::Size, Emitter::Point | Emitter::Sun { .. }) => Vec::new(),
            (Action::Size, Emitter::Spot { .. }) => vec![Handle::Cone],
            (Action::Size, Emitter::Sphere { .. }) => {
                vec![Handle::Length(Length::Radius, screen.right)]
            }
            (Action::Size, Emitter::Disk { .. }) => both(Length::Radius, 0),
            (Action::Size, Emitter::Rectangle { .. }) => {
                [both(Length::Width, 0), both(Length::Height, 1)].concat()
            }
            (Action::Size, Emitter::Tube { .. }) => {
                [both(Length::Tube, 0), both(Length::Radius, 1)].concat()
            }
        }
    }

    /// A length as it is now (m), and how much of it lies on the handle's side.
    fn length(&self, length: Length) -> (f64, f64) {
        let value = match (length, self.emitter) {
            (Length::Width, Emitter::Rectangle { width, .. }) => width,
            (Length::Height, Emitter::Rectangle { height, .. }) => height,
            (Length::Tube, Emitter::Tube { length, .. }) => length,
            (
                Length::Radius,
                Emitter::Sphere { radius }
                | Emitter::Disk { radius, .. }
                | Emitter::Tube { radius, .. },
            ) => radius,
            _ => 0.0,
        };
        (value, if length == Length::Radius { 1.0 } else { 0.5 })
    }

    fn outer(&self) -> f64 {
        if let Emitter::Spot { cone, .. } = self.emitter { cone.outer() } else { 0.0 }
    }

    fn ring(&self, axis: usize, reach: f64) -> Circle {
        let [x, y] = [1, 2].map(|next| AXES[(axis + next) % 3] * reach);
        Circle { center: self.place(), axes: [x, y] }
    }

    /// The circle through the axis of a spot and one side of its cone, so many radians about the
    /// axis: the rim is at the outer half angle.
    fn side(&self, turned: f64, reach: f64) -> Circle {
        let way = self.axis(0) * turned.cos() + self.axis(1) * turned.sin();
        Circle { center: self.place(), axes: [self.forward() * reach, way * reach] }
    }

    /// The same through the side whose rim is seen nearest to the pointer.
    fn side_at(&self, screen: &ScreenProjection, reach: f64, pointer: DVec2) -> Circle {
        let sides =
            (0..32).map(|step| self.side(std::f64::consts::TAU * f64::from(step) / 32.0, reach));
        let off = |side: &Circle| {
            screen
                .project(side.at(self.outer()))
                .map_or(f64::INFINITY, |at| at.distance_squared(pointer))
        };
        sides.min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or_else(|| self.side(0.0, reach))
    }

    /// What is drawn of a handle, and where it can be taken hold of: a line through the world.
    #[must_use]
    pub fn line(&self, handle: Handle, screen: &ScreenProjection) -> Option<Vec<DVec3>> {
        let reach = HANDLE_LENGTH * screen.meters_per_point(self.place())?;
        let turn = |step: i32, of: i32| std::f64::consts::TAU * f64::from(step) / f64::from(of);
        Some(match handle {
            Handle::Arrow(axis) => (1..=8)
                .map(|step| self.place() + AXES[axis.min(2)] * (reach * f64::from(step) / 8.0))
                .collect(),
            Handle::Ring(axis) => {
                let ring = self.ring(axis, reach);
                (0..=64).map(|step| ring.at(turn(step, 64))).collect()
            }
            Handle::Length(length, way) => {
                let (value, part) = self.length(length);
                // Small lamps have handles that can be taken hold of.
                let (near, far) = (value * part, (value * part).max(reach * 0.35));
                vec![self.place() + way * near.min(far * 0.5), self.place() + way * far]
            }
            Handle::Cone => {
                let rim = |step: i32| self.side(turn(step, 48), reach).at(self.outer());
                [self.place()].into_iter().chain((0..=48).map(rim)).collect()
            }
        })
    }

    /// The handle at the pointer, if there is one.
    #[must_use]
    pub fn hit_test(
        &self,
        action: Action,
        screen: &ScreenProjection,
        pointer: DVec2,
    ) -> Option<Handle> {
        let off = |handle: &Handle| {
            let line = self.line(*handle, screen).unwrap_or_default();
            let points: Vec<DVec2> =
                line.into_iter().filter_map(|place| screen.project(place)).collect();
            points
                .windows(2)
                .map(|ends| distance(pointer, ends[0], ends[1]))
                .fold(f64::INFINITY, f64::min)
        };
        let handles = self.handles(action, screen).into_iter().map(|handle| (off(&handle), handle));
        let nearest = handles.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.filter(|(off, _)| *off <= NEAR).map(|(_, handle)| handle)
    }
}

/// How far a point is from a stretch of a line.
pub(super) fn distance(point: DVec2, from: DVec2, to: DVec2) -> f64 {
    let way = to - from;
    let part = ((point - from).dot(way) / way.length_squared().max(1e-12)).clamp(0.0, 1.0);
    point.distance(from + way * part)
}

/// A handle that is held, as the light and the view were when it was taken hold of.
#[derive(Clone, Debug)]
pub struct DragHandle {
    /// The light's name.
    pub name: String,
    /// The handle.
    pub handle: Handle,
    held: HandleTarget,
    screen: ScreenProjection,
    /// What it goes around, where it does.
    circle: Circle,
    /// Where on the handle the pointer took hold: metres along it, or radians around it.
    began: f64,
    /// The angle at the last pull (rad): rings go on from there, also behind the light.
    last: f64,
}

impl DragHandle {
    /// Takes hold of a handle; none where it cannot be dragged from there, as an arrow towards the
    /// eye.
    #[must_use]
    pub fn new(
        name: &str,
        held: HandleTarget,
        handle: Handle,
        screen: ScreenProjection,
        pointer: DVec2,
    ) -> Option<Self> {
        let reach = HANDLE_LENGTH * screen.meters_per_point(held.place())?;
        let circle = match handle {
            Handle::Ring(axis) => held.ring(axis, reach),
            _ => held.side_at(&screen, reach, pointer),
        };
        let mut drag_handle =
            Self { name: name.into(), handle, held, screen, circle, began: 0.0, last: 0.0 };
        drag_handle.began = drag_handle.parameter(pointer, std::f64::consts::PI)?;
        drag_handle.last = drag_handle.began;
        Some(drag_handle)
    }

    /// Where on the handle's line the pointer is.
    fn parameter(&self, pointer: DVec2, reach: f64) -> Option<f64> {
        let place = self.held.place();
        match self.handle {
            Handle::Arrow(axis) => self.screen.closest_on_line(place, AXES[axis.min(2)], pointer),
            Handle::Length(_, way) => self.screen.closest_on_line(place, way, pointer),
            Handle::Ring(_) => {
                self.screen.closest_on_circle(&self.circle, pointer, self.last, reach)
            }
            Handle::Cone => {
                let half = std::f64::consts::FRAC_PI_2;
                self.screen.closest_on_circle(&self.circle, pointer, half, half)
            }
        }
    }

    /// The light's property that the pointer gives it now, and its value as the look has it.
    pub fn drag_to(&mut self, pointer: DVec2) -> Option<(&'static str, String)> {
        // A ring is followed a quarter at a time, so that it does not jump from its front to its
        // back.
        self.last = self.parameter(pointer, std::f64::consts::FRAC_PI_2)?;
        let by = self.last - self.began;
        let text = |v: DVec3| format!("{:.5} {:.5} {:.5}", v.x, v.y, v.z);
        let place = self.held.place();
        Some(match self.handle {
            Handle::Arrow(axis) => ("position", text(place + AXES[axis.min(2)] * by)),
            Handle::Ring(axis) => {
                let target = self
                    .held
                    .aim
                    .unwrap_or_else(|| super::light_placement::target_of(self.held.world, 1.0));
                let turned = DMat3::from_axis_angle(AXES[axis.min(2)], by) * (target - place);
                ("aim", text(place + turned))
            }
            Handle::Length(length, _) => {
                let (value, part) = self.held.length(length);
                let value = (value + by / part).clamp(SIZES[0], SIZES[1]);
                (length.property(), format!("{value:.5}"))
            }
            Handle::Cone => {
                let outer = (self.held.outer() + by).to_degrees();
                let least = self.held.inner.to_degrees().max(0.1);
                ("outer_half_angle", format!("{:.4}", outer.clamp(least.min(179.9), 179.9)))
            }
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{
        photometry::lights::{Cone, Sides, SpotFlux},
        scene::{Projection, build::look_at_transform},
    };

    fn sights() -> Vec<ScreenProjection> {
        let rect = Rect::from_min_size(egui::pos2(210.0, 30.0), egui::vec2(640.0, 360.0));
        let world = look_at_transform(DVec3::new(3.0, 2.0, 4.0), DVec3::new(0.1, 0.4, -0.2));
        [
            Projection::Perspective { vertical_fov: 0.7, aspect: None, near: 0.1, far: None },
            Projection::Orthographic { half_width: 3.2, half_height: 1.8, near: 0.1, far: 50.0 },
        ]
        .map(|projection| ScreenProjection::new(&View::new(world, &projection, 640, 360), rect))
        .to_vec()
    }

    fn lamp(emitter: Emitter) -> HandleTarget {
        let world = look_at_transform(DVec3::new(0.3, 0.8, 0.1), DVec3::new(0.0, 0.0, 0.4));
        HandleTarget { world, emitter, directed: false, inner: 0.0, aim: None }
    }

    fn numbers(text: &str) -> Vec<f64> {
        text.split(' ').map(|part| part.parse().unwrap()).collect()
    }

    #[test]
    fn a_place_is_found_again_through_the_window() {
        for screen in sights() {
            let place = DVec3::new(-0.4, 0.2, 0.9);
            let (from, way) = screen.ray(screen.project(place).unwrap()).unwrap();
            let off = (place - from).reject_from(way).length();
            assert!(off < 1e-5 && (place - from).dot(way) > 0.0, "{off}");
        }
    }

    #[test]
    fn an_arrow_goes_as_far_as_its_picture() {
        for screen in sights() {
            let held = lamp(Emitter::Point);
            for (axis, arrow) in AXES.into_iter().enumerate() {
                for far in [0.5, -1.25, 0.01] {
                    let at = |t: f64| screen.project(held.place() + arrow * t).unwrap();
                    // Beside the arrow: only what is along it counts.
                    let way = (at(0.1) - at(0.0)).normalize();
                    let beside = DVec2::new(-way.y, way.x) * 5.0;
                    let mut drag_handle =
                        DragHandle::new("a", held, Handle::Arrow(axis), screen, at(0.2) + beside)
                            .unwrap();
                    let (property, value) = drag_handle.drag_to(at(0.2 + far) - beside).unwrap();
                    let moved = DVec3::from_slice(&numbers(&value)) - held.place();
                    assert_eq!(property, "position");
                    assert!((moved - arrow * far).length() < 2e-5, "{axis} {far}: {moved}");
                }
            }
        }
    }

    #[test]
    fn an_arrow_towards_the_eye_is_not_dragged() {
        let world = look_at_transform(DVec3::new(0.0, 0.0, 5.0), DVec3::ZERO);
        let projection =
            Projection::Perspective { vertical_fov: 0.7, aspect: None, near: 0.1, far: None };
        let rect = Rect::from_min_size(Pos2::ZERO, egui::vec2(640.0, 360.0));
        let screen = ScreenProjection::new(&View::new(world, &projection, 640, 360), rect);
        let held = HandleTarget { world: DMat4::IDENTITY, ..lamp(Emitter::Point) };
        assert!(
            DragHandle::new("a", held, Handle::Arrow(2), screen, DVec2::new(330.0, 180.0))
                .is_none()
        );
        assert!(
            DragHandle::new("a", held, Handle::Arrow(0), screen, DVec2::new(330.0, 180.0))
                .is_some()
        );
    }

    #[test]
    fn a_ring_turns_what_the_light_shines_at() {
        let cone = Cone::new(0.1, 0.5).unwrap();
        for screen in sights() {
            let held = lamp(Emitter::Spot { cone, flux: SpotFlux::Exact });
            for (axis, about) in AXES.into_iter().enumerate() {
                let reach = HANDLE_LENGTH * screen.meters_per_point(held.place()).unwrap();
                let ring = held.ring(axis, reach);
                let at = |angle: f64| screen.project(ring.at(angle)).unwrap();
                let mut drag_handle =
                    DragHandle::new("a", held, Handle::Ring(axis), screen, at(0.4)).unwrap();
                // Around nearly twice, a step at a time.
                let mut value = String::new();
                for step in 1..=30 {
                    value = drag_handle.drag_to(at(0.4 + 0.4 * f64::from(step))).unwrap().1;
                }
                let target =
                    crate::viewer::light_placement::target_of(held.world, 1.0) - held.place();
                let want = DMat3::from_axis_angle(about, 12.0) * target;
                let found = DVec3::from_slice(&numbers(&value)) - held.place();
                assert!((found - want).length() < 1e-3, "{axis}: {found}, {want}");
            }
        }
    }

    #[test]
    fn sizes_follow_the_pointer_on_both_sides() {
        for screen in sights() {
            let held = lamp(Emitter::Rectangle { width: 0.6, height: 0.4, sides: Sides::One });
            let handles = held.handles(Action::Size, &screen);
            assert_eq!(handles.len(), 4);
            for handle in handles {
                let Handle::Length(length, way) = handle else { panic!("{handle:?}") };
                let at = |t: f64| screen.project(held.place() + way * t).unwrap();
                let mut drag_handle = DragHandle::new("a", held, handle, screen, at(0.2)).unwrap();
                let (property, value) = drag_handle.drag_to(at(0.35)).unwrap();
                assert_eq!(property, length.property());
                assert!(
                    (numbers(&value)[0] - (held.length(length).0 + 0.3)).abs() < 1e-4,
                    "{property} {value}"
                );
                // Pulled through its middle it stays a lamp.
                let (_, value) = drag_handle.drag_to(at(-3.0)).unwrap();
                assert_eq!(numbers(&value)[0], SIZES[0]);
            }
        }
    }

    #[test]
    fn a_cone_opens_by_the_angle_that_its_rim_is_dragged() {
        let cone = Cone::new(0.2, 0.5).unwrap();
        for screen in sights() {
            let held =
                HandleTarget { inner: 0.2, ..lamp(Emitter::Spot { cone, flux: SpotFlux::Exact }) };
            let reach = HANDLE_LENGTH * screen.meters_per_point(held.place()).unwrap();
            for quarter in 0..4 {
                let side = held.side(f64::from(quarter) * std::f64::consts::FRAC_PI_2, reach);
                let at = |angle: f64| screen.project(side.at(angle)).unwrap();
                let mut drag_handle =
                    DragHandle::new("a", held, Handle::Cone, screen, at(0.5)).unwrap();
                let (property, value) = drag_handle.drag_to(at(0.8)).unwrap();
                assert_eq!(property, "outer_half_angle");
                assert!((numbers(&value)[0].to_radians() - 0.8).abs() < 1e-3, "{quarter}: {value}");
                let (_, value) = drag_handle.drag_to(at(0.05)).unwrap();
                assert!(
                    (numbers(&value)[0].to_radians() - 0.2).abs() < 1e-5,
                    "no narrower than the inner cone: {value}"
                );
            }
        }
    }

    #[test]
    fn the_pointer_finds_the_handle_under_it() {
        for screen in sights() {
            let held = lamp(Emitter::Point);
            let tip = |axis: usize| {
                let reach = HANDLE_LENGTH * screen.meters_per_point(held.place()).unwrap();
                screen.project(held.place() + AXES[axis] * (reach * 0.8)).unwrap()
            };
            for axis in 0..3 {
                let beside = DVec2::new(3.0, -3.0);
                assert_eq!(
                    held.hit_test(Action::Move, &screen, tip(axis) + beside),
                    Some(Handle::Arrow(axis))
                );
            }
            assert_eq!(held.hit_test(Action::Move, &screen, tip(0) + DVec2::splat(300.0)), None);
            assert!(
                held.handles(Action::Turn, &screen).is_empty(),
                "a point shines alike whichever way"
            );
        }
    }
}
