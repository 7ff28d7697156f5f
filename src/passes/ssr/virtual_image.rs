//! Where a mirror image seems to be: what `shaders/lib/virtual_image.glsl` does, on the host.

use glam::DVec3;

/// How far behind a mirror the image of a thing is, over the thing's distance from it: Coddington's
/// equations for a mirror, 1/t' = 1/t + 2 κ lean (Born and Wolf, "Principles of Optics", section
/// 4.6). `curvature` is the mirror's (1/m, above 0 convex), `t` the distance of what is reflected
/// (m), `lean` one over the cosine of incidence for rays in the plane of incidence, and that cosine
/// for rays across it. 0 where a concave mirror makes a real image, before it.
#[must_use]
pub fn image_distance(curvature: f64, t: f64, lean: f64) -> f64 {
    let divisor = 1.0 + 2.0 * curvature * t * lean;
    if divisor > 0.0 { 1.0 / divisor } else { 0.0 }
}

/// The image of a thing in the plane through `x` with the unit normal `n`, brought nearer to `x` by
/// the factor `nearer` (m).
#[must_use]
pub fn virtual_image(x: DVec3, n: DVec3, thing: DVec3, nearer: f64) -> DVec3 {
    let to = thing - x;
    x + nearer * (to - 2.0 * to.dot(n) * n)
}

/// How much a reflection moves as its image does, not as its surface, 0 to 1, by the GGX `alpha`:
/// the weight that the lobe's dominant direction gives the mirror direction over the normal
/// (Lagarde and de Rousiers 2014, listing 21).
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
        // Plane y = 0, eye at (0, 1, 0): what stands at (4, 3, 0) is met at (1, 0, 0), and seen
        // through it at (4, -3, 0).
        let (eye, thing, met) = (DVec3::Y, DVec3::new(4.0, 3.0, 0.0), DVec3::X);
        assert_eq!(virtual_image(met, DVec3::Y, thing, 1.0), DVec3::new(4.0, -3.0, 0.0));
        // The same by the length of the ray behind the surface, on the line of sight.
        let by_length = met + (met - eye).normalize() * met.distance(thing);
        assert!(by_length.distance(DVec3::new(4.0, -3.0, 0.0)) < 1e-12, "{by_length}");
        // Wherever on the plane the mirror is said to be.
        let image = virtual_image(DVec3::new(-7.0, 0.0, 2.0), DVec3::Y, thing, 1.0);
        assert!(image.distance(DVec3::new(4.0, -3.0, 0.0)) < 1e-12, "{image}");
    }

    #[test]
    fn curved_mirrors_bring_images_nearer() {
        assert_eq!(image_distance(0.0, 5.0, 3.0), 1.0);
        assert!((image_distance(1.0, 1.0, 1.0) - 1.0 / 3.0).abs() < 1e-15);
        // A ball's mirror has its focus at half the radius.
        let (radius, far) = (0.5, 1e9);
        assert!((image_distance(1.0 / radius, far, 1.0) * far - radius / 2.0).abs() < 1e-6);
        // Within the focus of a concave mirror the image is behind it and farther; beyond there is
        // a real one.
        assert!(image_distance(-1.0, 0.25, 1.0) > 1.0);
        assert_eq!(image_distance(-1.0, 1.0, 1.0), 0.0);
    }

    /// The same against rays: two that leave a point and meet a ball near each other seem to come
    /// from where the formula has the image.
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
            // Across the plane of incidence rays meet where they cross it: turn the ball's point a
            // little out of it.
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
