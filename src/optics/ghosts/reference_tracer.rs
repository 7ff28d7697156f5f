//! Reference for ghosts by counting rays, for tests: no mesh, areas or interpolation.

use glam::{DVec2, DVec3};

use super::{Beam, Ghost, GhostSpot};
use crate::optics::{
    lens::Lens,
    paraxial::ReflectionPair,
    trace::{Losses, Ray, TracedRay},
};

/// Pixel grid that accumulates light around the sensor's center.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorFilm {
    /// Width and height (m).
    pub size: DVec2,
    /// Pixels along x and y.
    pub pixels: [usize; 2],
    /// Light (lm per lx) per pixel, rows from -y to +y.
    pub light: Vec<f64>,
}

impl SensorFilm {
    /// A black film; at least one pixel.
    #[must_use]
    pub fn new(size: DVec2, [width, height]: [usize; 2]) -> Self {
        let pixels = [width.max(1), height.max(1)];
        Self { size, pixels, light: vec![0.0; pixels[0] * pixels[1]] }
    }

    /// Adds light at a position (m); ignores positions outside of the film.
    pub fn add(&mut self, place: DVec2, light: f64) {
        let part = place / self.size + 0.5;
        if part.cmpge(DVec2::ZERO).all() && part.cmplt(DVec2::ONE).all() {
            let [width, height] = self.pixels;
            let (x, y) = ((part.x * width as f64) as usize, (part.y * height as f64) as usize);
            self.light[y.min(height - 1) * width + x.min(width - 1)] += light;
        }
    }

    /// Total flux (lm per lx).
    #[must_use]
    pub fn flux(&self) -> f64 {
        self.light.iter().sum()
    }
}

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
    /// a scene of luminance 1, from rays over the whole rear element. Validates `illuminance` and
    /// ghosts. Kolb, Mitchell and Hanrahan 1995, equation 2.
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

    /// Reference for a ghost at a wavelength (m). Rays are uniform over the disk that covers the
    /// front element and over the source's disk; a film optionally counts them.
    ///
    /// Positions from Roberts' four-dimensional sequence ("The Unreasonable Effectiveness of
    /// Quasirandom Sequences", 2018).
    pub fn reference_ghost(
        &self,
        bounces: ReflectionPair,
        beam: &Beam,
        wavelength: f64,
        rays: u32,
        mut film: Option<&mut SensorFilm>,
    ) -> Ghost {
        // The root of x^5 = x + 1.
        const G: f64 = 1.167_303_978_261_418_7;
        let radius = self.front_radius();
        let light = std::f64::consts::PI * radius * radius / f64::from(rays.max(1));
        let [first_across, second_across] = beam.across(false);
        let (mut flux, mut first, mut second) = (0.0, DVec2::ZERO, DVec2::ZERO);
        for i in 0..rays {
            let number = |power: i32| (0.5 + f64::from(i) * G.powi(-power)).fract();
            let disc =
                |r: f64, turn: f64| DVec2::from_angle(turn * std::f64::consts::TAU) * r.sqrt();
            let tilt = disc(number(3), number(4)) * beam.radius().tan();
            let tilted: DVec3 = beam.direction() + first_across * tilt.x + second_across * tilt.y;
            let Some(tilted) = Beam::new(tilted, 0.0) else { continue };
            let ray = self.entering(&tilted, disc(number(1), number(2)) * radius);
            let Ok(traced) =
                self.trace_ghost(bounces, ray, wavelength).and_then(TracedRay::unblocked)
            else {
                continue;
            };
            let place = traced.ray.at_plane(self.sensor());
            if traced.ray.direction.z > 0.0 && place.is_finite() {
                let light = light * traced.weight;
                flux += light;
                first += place * light;
                second += place * place * light;
                if let Some(film) = film.as_deref_mut() {
                    film.add(place, light);
                }
            }
        }
        Ghost { bounces, spot: GhostSpot::of(flux, first, second, 0.0, DVec2::ZERO) }
    }
}
