//! The smooth surface that vertex normals describe, from which rays leave a triangle.

use glam::DVec3;

/// Smallest offset, as a fraction of the triangle's size: below it, vertex normals differ from the
/// triangle's by the rounding of single precision.
const SMALLEST: f64 = 1e-6;

/// Half of the way to the mean of the tangent planes is on the surface. The tangents at the ends of
/// a chord of length L meet it at an angle f. At the part t of the chord they are t L sin f and
/// (1 - t) L sin f away; weights of 1 - t and t give 2 t (1 - t) L sin f. The circle is
/// t (1 - t) L tan f away, but for higher orders.
const ON_THE_SURFACE: f64 = 0.5;

/// Offset from a point of a triangle to the smooth surface of its vertex normals, on the side of
/// the viewer; `None` where the triangle is flat, or where the smooth surface lies behind it.
///
/// Rays from the triangle itself would hit its neighbors wherever the smooth surface is lit at
/// grazing angles (the shadow terminator). Source: Hanika 2021, "Hacking the Shadow Terminator",
/// Ray Tracing Gems II, chapter 4; here with half of his offset (`ON_THE_SURFACE`).
/// `lib/shadow_ray_origin.glsl` is its counterpart of the rasterizer.
///
/// `corners` (m), `normals` (unit length, or zero if absent), `weights` (barycentric, sum 1) and
/// the result (m) are in the space of the object. `back`: the viewer is on the side away from the
/// normals.
pub(super) fn smooth_offset(
    corners: [DVec3; 3],
    normals: [DVec3; 3],
    weights: DVec3,
    back: bool,
) -> Option<DVec3> {
    let [a, b, c] = corners;
    let point = a * weights.x + b * weights.y + c * weights.z;
    let mut offset = DVec3::ZERO;
    for ((corner, normal), weight) in corners.iter().zip(&normals).zip(weights.to_array()) {
        // Height over the tangent plane of the corner.
        let height = (point - corner).dot(*normal);
        let below = if back { height.max(0.0) } else { height.min(0.0) };
        offset -= ON_THE_SURFACE * weight * below * *normal;
    }
    let size = (b - a).length_squared().max((c - a).length_squared());
    (offset.length_squared() > SMALLEST * SMALLEST * size).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The middle of a triangle inscribed in the unit sphere.
    fn middle(back: bool) -> (DVec3, Option<DVec3>) {
        let corners = [0.3f64, 2.4, 4.5]
            .map(|angle| DVec3::new(0.4 * angle.cos(), 0.4 * angle.sin(), (1.0f64 - 0.16).sqrt()));
        let weights = DVec3::splat(1.0 / 3.0);
        let point = corners.iter().sum::<DVec3>() / 3.0;
        (point, smooth_offset(corners, corners, weights, back))
    }

    #[test]
    fn points_move_to_the_sphere_of_the_normals() {
        let (point, offset) = middle(false);
        let moved = point + offset.unwrap();
        let sagitta = 1.0 - point.length();
        assert!((1.0 - moved.length()).abs() < 0.15 * sagitta, "{sagitta} {}", moved.length());
        // From inside, the sphere is behind the triangle.
        assert_eq!(middle(true).1, None);
    }

    #[test]
    fn points_of_flat_triangles_and_without_normals_stay() {
        let corners = [DVec3::ZERO, DVec3::new(2e3, 0.0, 0.0), DVec3::new(0.0, 0.0, 2e3)];
        let weights = DVec3::new(0.2, 0.3, 0.5);
        let up = DVec3::new(3e-8, 1.0, -2e-8);
        assert_eq!(smooth_offset(corners, [up; 3], weights, false), None);
        assert_eq!(smooth_offset(corners, [DVec3::ZERO; 3], weights, false), None);
    }
}
