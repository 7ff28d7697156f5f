//! Virtual image of a mirror, as in `shaders/lib/virtual_image.glsl`, on the host.

use glam::DVec3;

/// Distance of the virtual image behind a mirror over the object's distance in front of it.
/// Coddington's equations for a mirror: 1/t' = 1/t + 2 κ lean (Born and Wolf, "Principles of
/// Optics", section 4.6).
///
/// `curvature`: that of the mirror (1/m, positive for convex). `t`: distance of the object (m).
/// `lean`: one over the cosine of incidence for rays in the plane of incidence, and that cosine for
/// rays across it. Returns 0 if a concave mirror forms a real image in front of it.
#[must_use]
pub fn image_distance(curvature: f64, t: f64, lean: f64) -> f64 {
    let divisor = 1.0 + 2.0 * curvature * t * lean;
    if divisor > 0.0 { 1.0 / divisor } else { 0.0 }
}

/// Mirror image of `thing` in the plane through `x` with unit normal `n`, scaled toward `x` by the
/// factor `nearer` (m).
#[must_use]
pub fn virtual_image(x: DVec3, n: DVec3, thing: DVec3, nearer: f64) -> DVec3 {
    let to = thing - x;
    x + nearer * (to - 2.0 * to.dot(n) * n)
}

/// Weight of the virtual image's motion relative to the surface's, 0 to 1, for the GGX `alpha`. It
/// is the weight of the mirror direction over the normal in the lobe's dominant direction (Lagarde
/// and de Rousiers 2014, listing 21).
#[must_use]
pub fn mirror_share(alpha: f64) -> f64 {
    let smoothness = 1.0 - alpha;
    (smoothness * (smoothness.sqrt() + alpha)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_where_mirrors_show_them() {
        // Plane y = 0, eye at (0, 1, 0): the object at (4, 3, 0) reflects at (1, 0, 0) and appears
        // at (4, -3, 0).
        let (eye, thing, met) = (DVec3::Y, DVec3::new(4.0, 3.0, 0.0), DVec3::X);
        assert_eq!(virtual_image(met, DVec3::Y, thing, 1.0), DVec3::new(4.0, -3.0, 0.0));
        // Same result from the ray length behind the surface, along the view direction.
        let by_length = met + (met - eye).normalize() * met.distance(thing);
        assert!(by_length.distance(DVec3::new(4.0, -3.0, 0.0)) < 1e-12, "{by_length}");
        // The result does not depend on the point of the plane.
        let image = virtual_image(DVec3::new(-7.0, 0.0, 2.0), DVec3::Y, thing, 1.0);
        assert!(image.distance(DVec3::new(4.0, -3.0, 0.0)) < 1e-12, "{image}");
    }

    #[test]
    fn curved_mirrors_bring_images_nearer() {
        assert_eq!(image_distance(0.0, 5.0, 3.0), 1.0);
        assert!((image_distance(1.0, 1.0, 1.0) - 1.0 / 3.0).abs() < 1e-15);
        // A spherical mirror has its focus at half the radius.
        let (radius, far) = (0.5, 1e9);
        assert!((image_distance(1.0 / radius, far, 1.0) * far - radius / 2.0).abs() < 1e-6);
        // Inside the focus of a concave mirror, the image is behind it and farther; outside, it is
        // real.
        assert!(image_distance(-1.0, 0.25, 1.0) > 1.0);
        assert_eq!(image_distance(-1.0, 1.0, 1.0), 0.0);
    }

    /// Comparison with traced rays: two rays from a point that reflect close together on a ball
    /// diverge from the computed image.
    #[test]
    fn rays_off_a_ball_meet_at_the_image() {
        let (radius, t) = (2.0, 3.0);
        for angle in [0.0f64, 0.3, 0.8] {
            let normal_at = |turn: f64| DVec3::new(turn.sin(), turn.cos(), 0.0);
            let n = normal_at(0.0);
            let x = radius * n;
            let thing = x + t * DVec3::new(angle.sin(), angle.cos(), 0.0);
            let reflected = |turn: f64| {
                let (n, x) = (normal_at(turn), radius * normal_at(turn));
                let to = (x - thing).normalize();
                (x, to - 2.0 * to.dot(n) * n)
            };
            let ((a, d), (b, e)) = (reflected(-1e-4), reflected(1e-4));
            // a + s d = b + u e in the plane.
            let across = d.perp_dot_z(e);
            let s = (b - a).perp_dot_z(e) / across;
            let behind = (a + s * d).distance(x) / t;
            let want = image_distance(1.0 / radius, t, 1.0 / angle.cos());
            assert!((behind - want).abs() < 1e-4, "{angle}: {behind} {want}");
            // Rays across the plane of incidence intersect at that plane: the point on the ball is
            // rotated slightly out of it.
            let m = DVec3::new(0.0, 1.0, 1e-4).normalize();
            let (c, to) = (radius * m, (radius * m - thing).normalize());
            let out = to - 2.0 * to.dot(m) * m;
            let crossing = c - out * (c.z / out.z);
            let (behind, want) =
                (crossing.distance(x) / t, image_distance(1.0 / radius, t, angle.cos()));
            assert!((behind - want).abs() < 1e-4, "{angle}: {behind} {want} across");
        }
    }

    trait Cross {
        fn perp_dot_z(self, other: Self) -> f64;
    }

    impl Cross for DVec3 {
        fn perp_dot_z(self, other: Self) -> f64 {
            self.x * other.y - self.y * other.x
        }
    }

    #[test]
    fn smooth_surfaces_move_as_their_images_and_rough_ones_do_not() {
        assert_eq!(mirror_share(0.0), 1.0);
        assert_eq!(mirror_share(1.0), 0.0);
        assert!((mirror_share(0.25) - 0.75 * (0.75f64.sqrt() + 0.25)).abs() < 1e-15);
    }
}
