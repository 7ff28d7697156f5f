//! Shading frames.

use glam::DVec3;

/// An orthonormal frame about a shading normal.
pub(super) struct ShadingFrame {
    x: DVec3,
    y: DVec3,
    z: DVec3,
}

impl ShadingFrame {
    /// Builds a frame about a unit normal.
    pub(super) fn new(z: DVec3) -> Self {
        let (x, y) = z.any_orthonormal_pair();
        Self { x, y, z }
    }

    /// Builds a frame about a unit normal, with x along a tangent; arbitrary x without one.
    pub(super) fn with_tangent(z: DVec3, tangent: Option<DVec3>) -> Self {
        let x = tangent.and_then(|tangent| (tangent - z * z.dot(tangent)).try_normalize());
        x.map_or_else(|| Self::new(z), |x| Self { x, y: z.cross(x), z })
    }

    /// World space to shading frame.
    pub(super) fn to_local(&self, v: DVec3) -> DVec3 {
        DVec3::new(v.dot(self.x), v.dot(self.y), v.dot(self.z))
    }

    /// Shading frame to world space.
    pub(super) fn to_world(&self, v: DVec3) -> DVec3 {
        self.x * v.x + self.y * v.y + self.z * v.z
    }
}

/// View direction in the shading frame. Where a bent normal faces away from the eye, the view is
/// clamped to grazing incidence, as in the raster renderer (`shaders/lib/brdf.glsl`).
pub(super) fn view_in(frame: &ShadingFrame, view: DVec3) -> DVec3 {
    let v = frame.to_local(view);
    if v.z >= 1e-4 { v } else { DVec3::new(v.x, v.y, 1e-4).normalize() }
}
