//! Reference for illuminance by counting rays, for tests.

use glam::DVec2;

use crate::optics::{
    lens::Lens,
    trace::{Losses, Ray, TracedRay},
};

/// Point i of a Vogel spiral over the unit disk: Vogel, "A Better Way to Construct the Sunflower
/// Head", Mathematical Biosciences 44 (1979).
#[must_use]
pub fn even_disc(i: u32, of: u32) -> DVec2 {
    // The golden angle.
    const TURN: f64 = 2.399_963_229_728_653;
    DVec2::from_angle(f64::from(i) * TURN) * ((f64::from(i) + 0.5) / f64::from(of)).sqrt()
}

impl Lens {
    /// Reference illuminance (sr) at an image position (m from the center) and a wavelength (m) by
    /// a scene of luminance 1, from rays over the whole rear element. Validates `illuminance`.
    /// Kolb, Mitchell and Hanrahan 1995, equation 2.
    #[must_use]
    pub fn reference_illuminance(
        &self,
        place: DVec2,
        wavelength: f64,
        losses: Losses,
        rays: u32,
    ) -> f64 {
        let rear = self.surfaces().last().map_or(0.0, |surface| surface.semi_aperture);
        let (origin, distance) = ((-place).extend(self.sensor()), self.sensor() - self.last());
        let counted = |i: u32| {
            let toward = (even_disc(i, rays) * rear).extend(self.last());
            let ray = Ray { origin, direction: (toward - origin).normalize() };
            let traced =
                self.trace_backward(ray, wavelength, losses).and_then(TracedRay::unblocked);
            traced.map_or(0.0, |traced| traced.weight * ray.direction.z.powi(4))
        };
        let part = (0..rays).map(counted).sum::<f64>() / f64::from(rays.max(1));
        part * std::f64::consts::PI * rear * rear / (distance * distance)
    }
}
