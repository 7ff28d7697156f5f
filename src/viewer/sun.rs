//! Handles of the sky's sun: a horizontal ring for the azimuth, a vertical one for the elevation.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec2, DVec3};

use super::handles::{Circle, HANDLE_LENGTH, NEAR, ScreenProjection, distance};
use crate::photometry::astronomy::HorizontalCoordinates;

/// Length of these handles relative to those of lights.
const LONGER: f64 = 1.5;

/// The sun's state.
#[derive(Clone, Copy, Debug)]
pub struct Sun {
    /// Center of the handles (m, world); the sun itself is at infinity.
    pub center: DVec3,
    /// Its position in the look.
    pub position: HorizontalCoordinates,
    /// Rotation of the sky by the look (rad).
    pub rotation: f64,
}

/// The coordinate that a handle changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SunAxis {
    /// Around the vertical.
    Azimuth,
    /// Up and down.
    Elevation,
}

impl SunAxis {
    /// Both coordinates.
    pub const ALL: [Self; 2] = [Self::Azimuth, Self::Elevation];
}

impl Sun {
    /// The circle of a handle: its angle is the sun's in the world.
    fn circle(&self, axis: SunAxis, screen: &ScreenProjection) -> Option<Circle> {
        let reach = HANDLE_LENGTH * LONGER * screen.meters_per_point(self.center)?;
        let level = HorizontalCoordinates {
            azimuth: self.position.azimuth + self.rotation,
            elevation: 0.0,
        }
        .direction();
        let axes = match axis {
            // From north over east.
            SunAxis::Azimuth => [DVec3::NEG_Z, DVec3::X],
            SunAxis::Elevation => [level, DVec3::Y],
        };
        Some(Circle { center: self.center, axes: axes.map(|axis| axis * reach) })
    }

    /// A handle's polyline in the world.
    #[must_use]
    pub fn line(&self, axis: SunAxis, screen: &ScreenProjection) -> Option<Vec<DVec3>> {
        let circle = self.circle(axis, screen)?;
        let (from, all) = if axis == SunAxis::Azimuth { (0.0, TAU) } else { (-FRAC_PI_2, PI) };
        Some((0..=64).map(|step| circle.at(from + all * f64::from(step) / 64.0)).collect())
    }

    /// Position of the sun's mark, on its vertical ring.
    #[must_use]
    pub fn mark(&self, screen: &ScreenProjection) -> Option<DVec3> {
        Some(self.circle(SunAxis::Elevation, screen)?.at(self.position.elevation))
    }

    /// The handle at the pointer, if any.
    #[must_use]
    pub fn hit_test(&self, screen: &ScreenProjection, pointer: DVec2) -> Option<SunAxis> {
        let off = |axis: &SunAxis| {
            let line = self.line(*axis, screen).unwrap_or_default();
            let points: Vec<DVec2> =
                line.into_iter().filter_map(|place| screen.project(place)).collect();
            points
                .windows(2)
                .map(|ends| distance(pointer, ends[0], ends[1]))
                .fold(f64::INFINITY, f64::min)
        };
        let nearest = SunAxis::ALL
            .into_iter()
            .map(|axis| (off(&axis), axis))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.filter(|(off, _)| *off <= NEAR).map(|(_, axis)| axis)
    }
}

/// A handle being dragged, with the sun and the view at its start.
#[derive(Clone, Copy, Debug)]
pub struct SunDragHandle {
    /// The handle.
    pub axis: SunAxis,
    sun: Sun,
    screen: ScreenProjection,
    circle: Circle,
    began: f64,
    last: f64,
}

impl SunDragHandle {
    /// Starts a drag.
    #[must_use]
    pub fn new(sun: Sun, axis: SunAxis, screen: ScreenProjection, pointer: DVec2) -> Option<Self> {
        let circle = sun.circle(axis, &screen)?;
        let began = screen.closest_on_circle(&circle, pointer, 0.0, PI)?;
        Some(Self { axis, sun, screen, circle, began, last: began })
    }

    /// The sun's elevation and azimuth at a pointer position, in the look's coordinates.
    pub fn drag_to(&mut self, pointer: DVec2) -> Option<HorizontalCoordinates> {
        self.last = self.screen.closest_on_circle(&self.circle, pointer, self.last, FRAC_PI_2)?;
        let by = self.last - self.began;
        let HorizontalCoordinates { elevation, azimuth } = self.sun.position;
        Some(match self.axis {
            SunAxis::Azimuth => {
                HorizontalCoordinates { elevation, azimuth: (azimuth + by).rem_euclid(TAU) }
            }
            SunAxis::Elevation => HorizontalCoordinates {
                elevation: (elevation + by).clamp(-FRAC_PI_2, FRAC_PI_2),
                azimuth,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        gpu_scene::View,
        scene::{Projection, build::look_at_transform},
    };

    #[test]
    fn the_sun_follows_the_pointer_around_and_up() {
        let rect = egui::Rect::from_min_size(egui::pos2(210.0, 30.0), egui::vec2(640.0, 360.0));
        let world = look_at_transform(DVec3::new(3.0, 2.5, 4.0), DVec3::ZERO);
        let projection =
            Projection::Perspective { vertical_fov: 0.7, aspect: None, near: 0.1, far: None };
        let screen = ScreenProjection::new(&View::new(world, &projection, 640, 360), rect);
        let place = HorizontalCoordinates { elevation: 0.5, azimuth: 2.2 };
        let sun = Sun { center: DVec3::new(0.1, 0.2, 0.0), position: place, rotation: 0.3 };
        // The mark lies in the direction that the light comes from.
        let axis = HorizontalCoordinates { elevation: 0.5, azimuth: 2.5 }.direction();
        assert!((sun.mark(&screen).unwrap() - sun.center).normalize().distance(axis) < 1e-9);
        for (axis, began) in [(SunAxis::Azimuth, 0.4), (SunAxis::Elevation, 0.5)] {
            let circle = sun.circle(axis, &screen).unwrap();
            let at = |angle: f64| screen.project(circle.at(angle)).unwrap();
            assert_eq!(sun.hit_test(&screen, at(began)), Some(axis));
            let mut drag_handle = SunDragHandle::new(sun, axis, screen, at(began)).unwrap();
            let found = drag_handle.drag_to(at(began + 0.3)).unwrap();
            let by = [found.azimuth - place.azimuth, found.elevation - place.elevation];
            let want = if axis == SunAxis::Azimuth { [0.3, 0.0] } else { [0.0, 0.3] };
            assert!(
                (by[0] - want[0]).abs() < 1e-3 && (by[1] - want[1]).abs() < 1e-3,
                "{axis:?}: {by:?}"
            );
        }
        let circle = sun.circle(SunAxis::Elevation, &screen).unwrap();
        let at = |angle: f64| screen.project(circle.at(angle)).unwrap();
        let mut drag_handle = SunDragHandle::new(sun, SunAxis::Elevation, screen, at(0.5)).unwrap();
        drag_handle.drag_to(at(1.2)).unwrap();
        assert_eq!(
            drag_handle.drag_to(at(2.2)).unwrap().elevation,
            FRAC_PI_2,
            "no higher than the zenith"
        );
    }
}
