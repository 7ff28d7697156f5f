//! Composition guides over the picture: frames of other aspect ratios, safe areas, thirds, center
//! and horizon. They are drawn by the window only; no file that the program writes has them.

use egui::{Pos2, Rect, vec2};
use glam::{DVec2, DVec3};

use super::handles::ScreenProjection;

/// Fraction of width and height inside of which action is safe on every display: SMPTE ST 2046-1
/// and EBU R 95, 3.5 % off each edge.
pub const SAFE_ACTION: f32 = 0.93;

/// Fraction of width and height inside of which titles are safe: 5 % off each edge.
pub const SAFE_TITLE: f32 = 0.9;

/// Frames within the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameGuide {
    /// None.
    #[default]
    None,
    /// Anamorphic widescreen.
    Scope,
    /// Flat widescreen.
    Flat,
    /// HDTV.
    Wide,
    /// Photograph on 35 mm film.
    Film,
    /// Television before HDTV.
    Classic,
    /// Square.
    Square,
    /// Portrait.
    Portrait,
    /// Upright phone.
    Upright,
}

impl FrameGuide {
    /// All frames: name, and width over height.
    pub const ALL: [(Self, &'static str, Option<f32>); 9] = [
        (Self::None, "none", None),
        (Self::Scope, "2.39:1", Some(2.39)),
        (Self::Flat, "1.85:1", Some(1.85)),
        (Self::Wide, "16:9", Some(16.0 / 9.0)),
        (Self::Film, "3:2", Some(1.5)),
        (Self::Classic, "4:3", Some(4.0 / 3.0)),
        (Self::Square, "1:1", Some(1.0)),
        (Self::Portrait, "4:5", Some(0.8)),
        (Self::Upright, "9:16", Some(9.0 / 16.0)),
    ];

    /// The frame of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(frame, ..)| *frame)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(frame, ..)| *frame == self).map_or("none", |(_, name, _)| name)
    }

    /// Width over height; none without a frame.
    #[must_use]
    pub fn aspect(self) -> Option<f32> {
        Self::ALL.iter().find(|(frame, ..)| *frame == self).and_then(|(.., aspect)| *aspect)
    }
}

/// The guides that are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guides {
    /// True if the picture has the aspect ratio of `render`'s default size; false fills the panel.
    pub gate: bool,
    /// A frame within the picture.
    pub frame: FrameGuide,
    /// Opacity of the mask outside of the frame, 0 to 1.
    pub mask: f32,
    /// Lines at thirds of the frame.
    pub thirds: bool,
    /// Safe areas of the frame.
    pub safe: bool,
    /// A cross at the center.
    pub center: bool,
    /// The horizon.
    pub horizon: bool,
}

impl Default for Guides {
    fn default() -> Self {
        Self {
            gate: true,
            frame: FrameGuide::None,
            mask: 0.6,
            thirds: false,
            safe: false,
            center: false,
            horizon: false,
        }
    }
}

/// The largest centered rectangle of an aspect ratio within another.
#[must_use]
pub fn fitted(within: Rect, aspect: f32) -> Rect {
    let size = within.size();
    let wide = size.x / size.y.max(1.0) > aspect;
    let fit = if wide { vec2(size.y * aspect, size.y) } else { vec2(size.x, size.x / aspect) };
    Rect::from_center_size(within.center(), fit)
}

/// A part of a rectangle about its center.
#[must_use]
pub fn part(of: Rect, fraction: f32) -> Rect {
    Rect::from_center_size(of.center(), of.size() * fraction)
}

/// The four parts of `picture` around `frame`: above, below, left and right.
#[must_use]
pub fn around(picture: Rect, frame: Rect) -> [Rect; 4] {
    let corners = |min_x: f32, min_y: f32, max_x: f32, max_y: f32| {
        Rect::from_min_max(Pos2::new(min_x, min_y), Pos2::new(max_x, max_y))
    };
    [
        corners(picture.min.x, picture.min.y, picture.max.x, frame.min.y),
        corners(picture.min.x, frame.max.y, picture.max.x, picture.max.y),
        corners(picture.min.x, frame.min.y, frame.min.x, frame.max.y),
        corners(frame.max.x, frame.min.y, picture.max.x, frame.max.y),
    ]
}

/// Two points (points of the window) of the horizon: directions level with the eye. None if the
/// camera looks straight up or down.
#[must_use]
pub fn horizon(screen: &ScreenProjection) -> Option<[DVec2; 2]> {
    /// Distance (m) of a point whose height does not matter.
    const FAR: f64 = 1e7;
    let (eye, forward) = (screen.eye(), screen.forward());
    let ahead = DVec3::new(forward.x, 0.0, forward.z).try_normalize()?;
    let side = DVec3::Y.cross(ahead) * 0.3;
    let at = |direction: DVec3| screen.project(eye + direction * FAR);
    Some([at(ahead - side)?, at(ahead + side)?])
}

#[cfg(test)]
mod tests {
    use glam::DMat4;

    use super::*;
    use crate::{gpu_scene::View, scene::Projection};

    #[test]
    fn frames_are_the_largest_that_fit() {
        let picture = Rect::from_min_size(Pos2::new(10.0, 20.0), vec2(1600.0, 900.0));
        let scope = fitted(picture, FrameGuide::Scope.aspect().unwrap());
        assert!((scope.width() - 1600.0).abs() < 1e-3);
        assert!((scope.height() - 1600.0 / 2.39).abs() < 1e-3);
        let square = fitted(picture, FrameGuide::Square.aspect().unwrap());
        assert_eq!((square.size(), square.center()), (vec2(900.0, 900.0), picture.center()));
        // The frame and the bars around it make up the picture.
        for frame in [scope, square, part(picture, SAFE_TITLE)] {
            let area: f32 = around(picture, frame).iter().map(Rect::area).sum();
            assert!((area + frame.area() - picture.area()).abs() < 1.0);
        }
        for (frame, name, aspect) in FrameGuide::ALL {
            assert_eq!((FrameGuide::from_name(name), frame.name()), (Some(frame), name));
            assert_eq!(frame.aspect(), aspect);
        }
    }

    #[test]
    fn the_horizon_is_where_the_camera_looks_level() {
        let rect = Rect::from_min_size(Pos2::ZERO, vec2(200.0, 100.0));
        let fov = 1.0_f32;
        let projection =
            Projection::Perspective { vertical_fov: fov, aspect: None, near: 0.1, far: None };
        let horizon_of = |pitch: f64, roll: f64| {
            let pose = DMat4::from_translation(DVec3::new(3.0, 7.0, -2.0))
                * DMat4::from_rotation_y(0.4)
                * DMat4::from_rotation_x(pitch)
                * DMat4::from_rotation_z(roll);
            horizon(&ScreenProjection::new(&View::new(pose, &projection, 200, 100), rect))
        };
        for pitch in [0.0, 0.2, -0.3] {
            let [a, b] = horizon_of(pitch, 0.0).unwrap();
            // A camera that looks up has the horizon below the center.
            let y = 50.0 + 50.0 * f64::tan(pitch) / f64::tan(f64::from(fov) / 2.0);
            assert!((a.y - y).abs() < 1e-2 && (b.y - y).abs() < 1e-2, "{pitch}: {a} {b} {y}");
        }
        let [a, b] = horizon_of(0.0, 0.25).unwrap();
        let slope = (b.y - a.y).atan2(b.x - a.x).abs();
        assert!((slope.min(std::f64::consts::PI - slope) - 0.25).abs() < 1e-3, "{slope}");
        assert!(horizon_of(std::f64::consts::FRAC_PI_2, 0.0).is_none());
    }
}
