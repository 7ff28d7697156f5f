//! Reference for ghosts by counting rays: no mesh, areas or interpolation.

use glam::{DVec2, DVec3};
use sunny16::optics::{
    Lens, ReflectionPair,
    trace::{Ray, TracedRay},
};

use super::{Beam, Ghost, GhostMeshes, GhostSpot};

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

/// Ghosts by counted rays.
pub trait ReferenceGhosts: GhostMeshes {
    /// Reference for a ghost at a wavelength (m). Rays are uniform over the disk that covers the
    /// front element and over the source's disk; a film optionally counts them.
    ///
    /// Positions from Roberts' four-dimensional sequence ("The Unreasonable Effectiveness of
    /// Quasirandom Sequences", 2018).
    fn reference_ghost(
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
                self.lens().trace_ghost(bounces, ray, wavelength).and_then(TracedRay::unblocked)
            else {
                continue;
            };
            let place = traced.ray.at_plane(self.lens().sensor());
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

impl ReferenceGhosts for Lens {}
