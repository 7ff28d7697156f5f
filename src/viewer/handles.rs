//! Light handles in the picture: where they lie, and how a drag changes the light's position, aim,
//! size or cone.
//!
//! A drag depends only on its first and current pointer positions, in the view of its start. It
//! therefore neither drifts nor depends on the number of events.

use egui::{Pos2, Rect};
use glam::{DMat3, DMat4, DVec2, DVec3, DVec4};

use super::number_text::place_text;
use crate::{gpu_scene::View, photometry::lights::Emitter};

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
    /// The projection of a camera's view that fills a rectangle.
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

    /// Position of the eye (m).
    #[must_use]
    pub const fn eye(&self) -> DVec3 {
        self.eye
    }

    /// Viewing direction (unit length).
    #[must_use]
    pub const fn forward(&self) -> DVec3 {
        self.forward
    }

    fn clip(&self, place: DVec3) -> DVec4 {
        self.matrix * (place - self.eye).extend(1.0)
    }

    /// Projects a world position (m) to the window (points); none behind the eye.
    #[must_use]
    pub fn project(&self, place: DVec3) -> Option<DVec2> {
        let clip = self.clip(place);
        (clip.w > 1e-6).then(|| self.middle + self.half * (clip.truncate().truncate() / clip.w))
    }

    /// The view ray through a point of the window: origin and direction (length 1).
    #[must_use]
    pub fn ray(&self, at: DVec2) -> Option<(DVec3, DVec3)> {
        let [x, y] = ((at - self.middle) / self.half).to_array();
        let inverse = self.matrix.inverse();
        // Depth is reversed, and 0 may be at infinity: use the near plane and twice its depth.
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

    /// Size (m) of a window point at a world position; none behind the eye.
    #[must_use]
    pub fn meters_per_point(&self, place: DVec3) -> Option<f64> {
        let step = 1e-4 * self.clip(place).w.abs().max(1e-3);
        let across = (self.project(place + self.right * step)? - self.project(place)?).length();
        (across > 0.0).then(|| step / across)
    }

    /// Parameter (m) of the point on a line whose projection is nearest to the pointer. None if the
    /// line points at the eye, or if that point is behind it.
    ///
    /// In clip space the line is a + t b. Its projection, (a.xy + t b.xy) / (a.w + t b.w), moves on
    /// a straight line along b.xy a.w - a.xy b.w. The t whose projection is the pointer's foot on
    /// that line solves a linear equation.
    #[must_use]
    fn closest_on_line(&self, origin: DVec3, axis: DVec3, pointer: DVec2) -> Option<f64> {
        let (a, b) = (self.clip(origin), self.matrix * axis.extend(0.0));
        let flat = |v: DVec4| v.truncate().truncate() * self.half;
        let way = flat(b) * a.w - flat(a) * b.w;
        // Window points per meter, at the origin and across the view ray.
        let seen = way.length() / (a.w * a.w);
        if a.w <= 1e-6 || seen * self.meters_per_point(origin)? < 0.03 {
            return None;
        }
        let way = way.try_normalize()?;
        let foot = way.dot(pointer - self.middle);
        let t = (foot * a.w - way.dot(flat(a))) / (way.dot(flat(b)) - foot * b.w);
        (t.is_finite() && a.w + t * b.w > 1e-6).then_some(t)
    }

    /// Angle (rad) of the point on a circle whose projection is nearest to the pointer, at most
    /// `reach` from `near`.
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
        // Ternary search between the neighbors of the best sample.
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
    /// Center (m).
    pub center: DVec3,
    /// Directions from the center (m) to the points at 0 and at a quarter turn: equally long,
    /// perpendicular.
    pub axes: [DVec3; 2],
}

impl Circle {
    /// The point at an angle (rad).
    #[must_use]
    pub fn at(&self, angle: f64) -> DVec3 {
        self.center + self.axes[0] * angle.cos() + self.axes[1] * angle.sin()
    }
}

/// Effect of handles on the selected light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DragMode {
    /// Move it along the world axes.
    Move,
    /// Rotate its aim about the world axes.
    Turn,
    /// Change the size of its shape, or its cone.
    Size,
}

/// A length of a light's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// `width`, symmetric about the center.
    Width,
    /// `height`, symmetric about the center.
    Height,
    /// `length` of a tube, symmetric about the center.
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
    /// An arrow along a world axis: 0 to 2.
    Arrow(usize),
    /// A ring about a world axis: 0 to 2.
    Ring(usize),
    /// A length, along a world direction (length 1).
    Length(Length, DVec3),
    /// The outer half angle of a spot.
    Cone,
}

/// A light that handles act on.
#[derive(Clone, Copy, Debug)]
pub struct HandleTarget {
    /// Light to world; it emits along -Z.
    pub world: DMat4,
    /// Its kind and sizes.
    pub emitter: Emitter,
    /// True if its intensity depends on the direction, as with a photometric profile.
    pub directed: bool,
    /// Minimum of the outer half angle (rad): the inner one, if the look sets it.
    pub inner: f64,
    /// The point it aims at (m, world space), if the look sets it.
    pub aim: Option<DVec3>,
    /// Space of position and aim in the look, to world space.
    pub space: DMat4,
}

/// Length of handles (points of the window).
pub(super) const HANDLE_LENGTH: f64 = 80.0;
/// Maximum distance (points) at which the pointer hits a handle.
pub(super) const NEAR: f64 = 7.0;
/// Minimum and maximum of a length (m): the range of its properties, above what is too small to
/// see.
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

    /// The handles of this light in a mode; none if the mode does not apply to it.
    #[must_use]
    pub fn handles(&self, mode: DragMode, screen: &ScreenProjection) -> Vec<Handle> {
        let both = |length, axis: usize| {
            [1.0, -1.0].map(|sign| Handle::Length(length, self.axis(axis) * sign)).to_vec()
        };
        match (mode, self.emitter) {
            (DragMode::Move, _) => (0..3).map(Handle::Arrow).collect(),
            (DragMode::Turn, Emitter::Point) if !self.directed => Vec::new(),
            (DragMode::Turn, Emitter::Sphere { .. }) => Vec::new(),
            (DragMode::Turn, _) => (0..3).map(Handle::Ring).collect(),
            (DragMode::Size, Emitter::Point | Emitter::Sun { .. }) => Vec::new(),
            (DragMode::Size, Emitter::Spot { .. }) => vec![Handle::Cone],
            (DragMode::Size, Emitter::Sphere { .. }) => {
                vec![Handle::Length(Length::Radius, screen.right)]
            }
            (DragMode::Size, Emitter::Disk { .. }) => both(Length::Radius, 0),
            (DragMode::Size, Emitter::Rectangle { .. }) => {
                [both(Length::Width, 0), both(Length::Height, 1)].concat()
            }
            (DragMode::Size, Emitter::Tube { .. }) => {
                [both(Length::Tube, 0), both(Length::Radius, 1)].concat()
            }
        }
    }

    /// A length (m), and the fraction of it on the handle's side.
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

    /// The circle through a spot's axis and one side of its cone, at an angle (rad) about the axis.
    /// The rim is at the outer half angle.
    fn side(&self, turned: f64, reach: f64) -> Circle {
        let way = self.axis(0) * turned.cos() + self.axis(1) * turned.sin();
        Circle { center: self.place(), axes: [self.forward() * reach, way * reach] }
    }

    /// The same, through the side whose rim projects nearest to the pointer.
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

    /// A handle's polyline in the world, for drawing and hit testing.
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
                // A minimum length keeps the handles of small lights usable.
                let (near, far) = (value * part, (value * part).max(reach * 0.35));
                vec![self.place() + way * near.min(far * 0.5), self.place() + way * far]
            }
            Handle::Cone => {
                let rim = |step: i32| self.side(turn(step, 48), reach).at(self.outer());
                [self.place()].into_iter().chain((0..=48).map(rim)).collect()
            }
        })
    }

    /// The handle at the pointer, if any.
    #[must_use]
    pub fn hit_test(
        &self,
        mode: DragMode,
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
        let handles = self.handles(mode, screen).into_iter().map(|handle| (off(&handle), handle));
        let nearest = handles.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.filter(|(off, _)| *off <= NEAR).map(|(_, handle)| handle)
    }
}

/// Distance of a point from a line segment.
pub(super) fn distance(point: DVec2, from: DVec2, to: DVec2) -> f64 {
    let way = to - from;
    let part = ((point - from).dot(way) / way.length_squared().max(1e-12)).clamp(0.0, 1.0);
    point.distance(from + way * part)
}

/// A handle being dragged, with the light and the view at the start of the drag.
#[derive(Clone, Debug)]
pub struct DragHandle {
    /// The light's name.
    pub name: String,
    /// The handle.
    pub handle: Handle,
    drag_target: HandleTarget,
    screen: ScreenProjection,
    /// The circle of a rotation.
    circle: Circle,
    /// Parameter at the start: meters along the handle, or radians around it.
    began: f64,
    /// Angle of the last drag step (rad): rings continue from it, also behind the light.
    last: f64,
}

impl DragHandle {
    /// Starts a drag; none if the handle cannot be dragged from there, e.g. an arrow towards the
    /// eye.
    #[must_use]
    pub fn new(
        name: &str,
        drag_target: HandleTarget,
        handle: Handle,
        screen: ScreenProjection,
        pointer: DVec2,
    ) -> Option<Self> {
        let reach = HANDLE_LENGTH * screen.meters_per_point(drag_target.place())?;
        let circle = match handle {
            Handle::Ring(axis) => drag_target.ring(axis, reach),
            _ => drag_target.side_at(&screen, reach, pointer),
        };
        let mut drag_handle =
            Self { name: name.into(), handle, drag_target, screen, circle, began: 0.0, last: 0.0 };
        drag_handle.began = drag_handle.parameter(pointer, std::f64::consts::PI)?;
        drag_handle.last = drag_handle.began;
        Some(drag_handle)
    }

    /// The pointer's parameter on the handle's line.
    fn parameter(&self, pointer: DVec2, reach: f64) -> Option<f64> {
        let place = self.drag_target.place();
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

    /// The light's property at a pointer position, and its value in the look's syntax.
    pub fn drag_to(&mut self, pointer: DVec2) -> Option<(&'static str, String)> {
        // A ring follows at most a quarter turn per step, so that it does not jump from front to
        // back.
        self.last = self.parameter(pointer, std::f64::consts::FRAC_PI_2)?;
        let by = self.last - self.began;
        let to_look = self.drag_target.space.inverse();
        let text = |v: DVec3| place_text(to_look.transform_point3(v));
        let place = self.drag_target.place();
        Some(match self.handle {
            Handle::Arrow(axis) => ("position", text(place + AXES[axis.min(2)] * by)),
            Handle::Ring(axis) => {
                let target = self.drag_target.aim.unwrap_or_else(|| {
                    super::light_placement::target_of(self.drag_target.world, 1.0)
                });
                let turned = DMat3::from_axis_angle(AXES[axis.min(2)], by) * (target - place);
                ("aim", text(place + turned))
            }
            Handle::Length(length, _) => {
                let (value, part) = self.drag_target.length(length);
                let value = (value + by / part).clamp(SIZES[0], SIZES[1]);
                (length.property(), format!("{value:.5}"))
            }
            Handle::Cone => {
                let outer = (self.drag_target.outer() + by).to_degrees();
                let min = self.drag_target.inner.to_degrees().max(0.1);
                ("outer_half_angle", format!("{:.4}", outer.clamp(min.min(179.9), 179.9)))
            }
        })
    }
}

#[cfg(test)]
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
        HandleTarget {
            world,
            emitter,
            directed: false,
            inner: 0.0,
            aim: None,
            space: DMat4::IDENTITY,
        }
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
            let drag_target = lamp(Emitter::Point);
            for (axis, arrow) in AXES.into_iter().enumerate() {
                for far in [0.5, -1.25, 0.01] {
                    let at = |t: f64| screen.project(drag_target.place() + arrow * t).unwrap();
                    // Offset from the arrow: only the component along it counts.
                    let way = (at(0.1) - at(0.0)).normalize();
                    let beside = DVec2::new(-way.y, way.x) * 5.0;
                    let mut drag_handle = DragHandle::new(
                        "a",
                        drag_target,
                        Handle::Arrow(axis),
                        screen,
                        at(0.2) + beside,
                    )
                    .unwrap();
                    let (property, value) = drag_handle.drag_to(at(0.2 + far) - beside).unwrap();
                    let moved = DVec3::from_slice(&numbers(&value)) - drag_target.place();
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
        let drag_target = HandleTarget { world: DMat4::IDENTITY, ..lamp(Emitter::Point) };
        assert!(
            DragHandle::new("a", drag_target, Handle::Arrow(2), screen, DVec2::new(330.0, 180.0))
                .is_none()
        );
        assert!(
            DragHandle::new("a", drag_target, Handle::Arrow(0), screen, DVec2::new(330.0, 180.0))
                .is_some()
        );
    }

    #[test]
    fn a_ring_turns_what_the_light_shines_at() {
        let cone = Cone::new(0.1, 0.5).unwrap();
        for screen in sights() {
            let drag_target = lamp(Emitter::Spot { cone, flux: SpotFlux::Exact });
            for (axis, about) in AXES.into_iter().enumerate() {
                let reach = HANDLE_LENGTH * screen.meters_per_point(drag_target.place()).unwrap();
                let ring = drag_target.ring(axis, reach);
                let at = |angle: f64| screen.project(ring.at(angle)).unwrap();
                let mut drag_handle =
                    DragHandle::new("a", drag_target, Handle::Ring(axis), screen, at(0.4)).unwrap();
                // Nearly two turns, in steps.
                let mut value = String::new();
                for step in 1..=30 {
                    value = drag_handle.drag_to(at(0.4 + 0.4 * f64::from(step))).unwrap().1;
                }
                let target = crate::viewer::light_placement::target_of(drag_target.world, 1.0)
                    - drag_target.place();
                let want = DMat3::from_axis_angle(about, 12.0) * target;
                let found = DVec3::from_slice(&numbers(&value)) - drag_target.place();
                assert!((found - want).length() < 1e-3, "{axis}: {found}, {want}");
            }
        }
    }

    #[test]
    fn sizes_follow_the_pointer_on_both_sides() {
        for screen in sights() {
            let drag_target =
                lamp(Emitter::Rectangle { width: 0.6, height: 0.4, sides: Sides::One });
            let handles = drag_target.handles(DragMode::Size, &screen);
            assert_eq!(handles.len(), 4);
            for handle in handles {
                let Handle::Length(length, way) = handle else { panic!("{handle:?}") };
                let at = |t: f64| screen.project(drag_target.place() + way * t).unwrap();
                let mut drag_handle =
                    DragHandle::new("a", drag_target, handle, screen, at(0.2)).unwrap();
                let (property, value) = drag_handle.drag_to(at(0.35)).unwrap();
                assert_eq!(property, length.property());
                assert!(
                    (numbers(&value)[0] - (drag_target.length(length).0 + 0.3)).abs() < 1e-4,
                    "{property} {value}"
                );
                // Dragged through its center it keeps a minimum size.
                let (_, value) = drag_handle.drag_to(at(-3.0)).unwrap();
                assert_eq!(numbers(&value)[0], SIZES[0]);
            }
        }
    }

    #[test]
    fn a_cone_opens_by_the_angle_that_its_rim_is_dragged() {
        let cone = Cone::new(0.2, 0.5).unwrap();
        for screen in sights() {
            let drag_target =
                HandleTarget { inner: 0.2, ..lamp(Emitter::Spot { cone, flux: SpotFlux::Exact }) };
            let reach = HANDLE_LENGTH * screen.meters_per_point(drag_target.place()).unwrap();
            for quarter in 0..4 {
                let side =
                    drag_target.side(f64::from(quarter) * std::f64::consts::FRAC_PI_2, reach);
                let at = |angle: f64| screen.project(side.at(angle)).unwrap();
                let mut drag_handle =
                    DragHandle::new("a", drag_target, Handle::Cone, screen, at(0.5)).unwrap();
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
            let drag_target = lamp(Emitter::Point);
            let tip = |axis: usize| {
                let reach = HANDLE_LENGTH * screen.meters_per_point(drag_target.place()).unwrap();
                screen.project(drag_target.place() + AXES[axis] * (reach * 0.8)).unwrap()
            };
            for axis in 0..3 {
                let beside = DVec2::new(3.0, -3.0);
                assert_eq!(
                    drag_target.hit_test(DragMode::Move, &screen, tip(axis) + beside),
                    Some(Handle::Arrow(axis))
                );
            }
            assert_eq!(
                drag_target.hit_test(DragMode::Move, &screen, tip(0) + DVec2::splat(300.0)),
                None
            );
            assert!(
                drag_target.handles(DragMode::Turn, &screen).is_empty(),
                "a point light has no direction"
            );
        }
    }
}
