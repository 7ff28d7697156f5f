//! Rays and hits in single precision.

use glam::{Vec2, Vec3};

/// A ray, relative to the eye of the TLAS.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Origin (m).
    pub origin: Vec3,
    /// Direction of any nonzero length; its length is the unit of `t`.
    pub direction: Vec3,
    /// Minimum `t`, exclusive; 0 or more.
    pub t_min: f32,
    /// Maximum `t`, exclusive.
    pub t_max: f32,
    /// Unit normal of the surface that the ray leaves, on the side to which it leaves; zero in free
    /// space. Each instance offsets the origin along it by its bound on rounding: no
    /// self-intersection, and no gap at contacts (the purpose of Wächter and Binder 2019, "A Fast
    /// and Robust Method for Avoiding Self-Intersection", Ray Tracing Gems, chapter 6; theirs knows
    /// world coordinates only).
    pub offset_normal: Vec3,
}

/// A ray hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance in units of the ray's direction.
    pub t: f32,
    /// Barycentric weights of the second and third vertex.
    pub barycentric: Vec2,
    /// Index into `SceneTlas::instances`.
    pub instance: u32,
    /// Index into `SceneBvh::triangles`.
    pub triangle: u32,
}

impl Hit {
    /// True if this hit precedes `found`: nearer, or at equal distance with the lower indices, so
    /// that the result does not depend on the traversal order.
    pub(super) fn comes_before(&self, found: Option<&Self>, t_max: f32) -> bool {
        let number = |hit: &Self| (hit.instance, hit.triangle);
        match found {
            None => self.t < t_max,
            Some(found) => self.t < found.t || (self.t == found.t && number(self) < number(found)),
        }
    }
}
