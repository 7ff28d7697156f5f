//! Shapes of area lights.

use glam::DVec3;

/// An emitter in the surface's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AreaShape {
    /// A flat polygon of three or four corners, counter-clockwise as seen from the point; of three
    /// corners the last is repeated.
    Polygon([DVec3; 4]),
    /// A flat disk.
    Disk {
        /// Center.
        center: DVec3,
        /// Unit normal; the sign does not matter.
        axis: DVec3,
        /// Its radius.
        radius: f64,
    },
    /// A sphere.
    Sphere {
        /// Center.
        center: DVec3,
        /// Its radius.
        radius: f64,
    },
    /// A tube with round ends: all points within the radius of a line.
    Tube {
        /// One end of the line.
        start: DVec3,
        /// The other.
        end: DVec3,
        /// The radius.
        radius: f64,
    },
}

impl AreaShape {
    /// A rectangle from its middle and the two half axes.
    #[must_use]
    pub fn rectangle(center: DVec3, right: DVec3, up: DVec3) -> Self {
        let corners =
            [center - right - up, center + right - up, center + right + up, center - right + up];
        // Seen from the back, the corner order is reversed.
        if right.cross(up).dot(center) > 0.0 {
            Self::Polygon([corners[0], corners[3], corners[2], corners[1]])
        } else {
            Self::Polygon(corners)
        }
    }
}
