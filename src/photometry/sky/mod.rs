//! A physical clear sky in nits, together with the sunlight that comes through the same air.
//!
//! Air, aerosol and ozone in spherical shells (`atmosphere`), in twelve bands of wavelength
//! (`spectrum`). Light that is scattered once is integrated along each line of sight; light that is
//! scattered more often is isotropic from the second time on and summed as a series: Hillaire, "A
//! Scalable and Production Ready Sky and Atmosphere Rendering Technique" (EGSR 2020), section 5.
//! Valid for bodies from 12 degrees below the horizon to the zenith; there are no clouds, no stars
//! and no airglow.

pub mod atmosphere;
pub mod spectrum;

mod scattering;

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec3, dvec3};
use rayon::prelude::*;

pub use atmosphere::{Atmosphere, AtmosphereParams, SkyError};
pub use scattering::{mie_phase, rayleigh_phase};
pub use spectrum::{SkySource, solar_illuminance};

use crate::photometry::{Lux, astronomy::HorizontalCoordinates, color::luminance, lights::SunDisk};
use scattering::{MultipleScattering, ViewPath};
use spectrum::{BANDS, Bands};

/// What lights the sky.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkyBody {
    /// Sun or Moon.
    pub source: SkySource,
    /// Where it is seen. Azimuth counts from north over east (`Horizontal::direction`).
    pub place: HorizontalCoordinates,
    /// Outside of the air, on a plane that faces it.
    pub illuminance: Lux,
    /// Radians, above 0.
    pub angular_radius: f64,
}

/// Half the rows of the table and its columns of azimuth away from the body.
const ROWS: usize = 56;
const COLUMNS: usize = 65;

/// The luminance of every direction.
pub struct Sky {
    body: SkyBody,
    direction: DVec3,
    /// Rows from the zenith's to the nadir's, columns of azimuth: all but what aerosol scatters
    /// once.
    smooth: Vec<DVec3>,
    /// What aerosol scatters once, without its phase function, which is applied to each direction
    /// exactly.
    aureole: Vec<DVec3>,
    /// Of the whole disk.
    whole: DVec3,
    disk: SunDisk,
    sky_illuminance: Lux,
    ground: DVec3,
}

impl Sky {
    /// The sky under one body. Deterministic. Costs about half a second on one core.
    #[must_use]
    pub fn new(atmosphere: &Atmosphere, body: SkyBody) -> Self {
        let bands = Bands::get();
        let outside = luminance(bands.to_rgb(&[1.0; BANDS], body.source));
        // From fractions of the light outside, band by band, to linear Rec.709 in lux or nits.
        let scale = body.illuminance.0 / outside;
        let rgb = |fractions: &[f64; BANDS]| bands.to_rgb(fractions, body.source) * scale;
        let mu = body.place.elevation.sin();
        let multiple = MultipleScattering::new(atmosphere, body.angular_radius);
        let disk = SunDisk::over_horizon(body.place.direction(), body.angular_radius);
        let arriving = atmosphere.direct_sunlight(body.place.elevation);
        let upper = |row: usize, column: usize| {
            let elevation = FRAC_PI_2 * (1.0 - row as f64 / ROWS as f64).powi(2);
            let azimuth = PI * column as f64 / (COLUMNS - 1) as f64;
            ViewPath::new(atmosphere, &multiple, body, elevation, azimuth).integrate()
        };
        let above: Vec<_> = (0..(ROWS + 1) * COLUMNS)
            .into_par_iter()
            .map(|i| upper(i / COLUMNS, i % COLUMNS))
            .collect();
        // What the sky gives the ground, band by band, from the same table: trapezoids over both
        // angles.
        let mut diffuse = [0.0; BANDS];
        let phase = |row: usize, column: usize| {
            let elevation = FRAC_PI_2 * (1.0 - row as f64 / ROWS as f64).powi(2);
            let azimuth = PI * column as f64 / (COLUMNS - 1) as f64;
            mie_phase(
                elevation.cos() * azimuth.cos() * body.place.elevation.cos() + elevation.sin() * mu,
            )
        };
        for row in 0..=ROWS {
            // d(elevation) by the row: pi/2 * 2 (1 - x) dx.
            let x = row as f64 / ROWS as f64;
            let elevation = FRAC_PI_2 * (1.0 - x).powi(2);
            let end = if row == 0 || row == ROWS { 0.5 } else { 1.0 };
            let step = PI * (1.0 - x) / ROWS as f64 * end;
            for column in 0..COLUMNS {
                let end = if column == 0 || column == COLUMNS - 1 { 0.5 } else { 1.0 };
                let width = TAU / (COLUMNS - 1) as f64 * end;
                let weight = elevation.sin() * elevation.cos() * step * width;
                if let Some(part) = above.get(row * COLUMNS + column) {
                    let p = phase(row, column);
                    for (sum, (smooth, aureole)) in
                        diffuse.iter_mut().zip(part.smooth.iter().zip(&part.aureole))
                    {
                        *sum += weight * (smooth + aureole * p);
                    }
                }
            }
        }
        let ground: [f64; BANDS] = std::array::from_fn(|i| {
            atmosphere.air.ground_albedo / PI * (arriving[i] * disk.on_level_ground() + diffuse[i])
        });
        let below: Vec<_> = (0..ROWS * COLUMNS)
            .into_par_iter()
            .map(|i| {
                let elevation = -FRAC_PI_2 * ((i / COLUMNS + 1) as f64 / ROWS as f64).powi(2);
                let azimuth = PI * (i % COLUMNS) as f64 / (COLUMNS - 1) as f64;
                let path = ViewPath::new(atmosphere, &multiple, body, elevation, azimuth);
                // The observer stands on the ground: what lies between is shorter than a step.
                path.integrate_to_ground(&ground)
            })
            .collect();
        let parts = above.iter().chain(&below);
        Self {
            body,
            direction: body.place.direction(),
            smooth: parts.clone().map(|part| rgb(&part.smooth)).collect(),
            aureole: parts.map(|part| rgb(&part.aureole)).collect(),
            whole: rgb(&arriving),
            disk,
            sky_illuminance: Lux(luminance(rgb(&diffuse))),
            ground: rgb(&ground),
        }
    }

    /// The body that lights it.
    #[must_use]
    pub const fn body(&self) -> SkyBody {
        self.body
    }

    /// Illuminance (lx by channel, linear Rec.709) of the body's direct light on a plane that faces
    /// it, as though the horizon hid nothing of its disk.
    #[must_use]
    pub const fn whole_disk(&self) -> DVec3 {
        self.whole
    }

    /// What of the body's disk is above the horizon.
    #[must_use]
    pub const fn disk(&self) -> SunDisk {
        self.disk
    }

    /// Illuminance (lx by channel, linear Rec.709) of what of the body's disk is above the horizon,
    /// on a plane that faces it.
    #[must_use]
    pub fn direct(&self) -> DVec3 {
        self.whole * self.disk.visible_fraction
    }

    /// Illuminance (lx) that comes straight from the body to level ground.
    #[must_use]
    pub fn level_illuminance(&self) -> Lux {
        Lux(luminance(self.whole) * self.disk.on_level_ground())
    }

    /// Illuminance of the sky alone on level ground.
    #[must_use]
    pub const fn sky_illuminance(&self) -> Lux {
        self.sky_illuminance
    }

    /// Illuminance of body and sky together on level ground.
    #[must_use]
    pub fn global_illuminance(&self) -> Lux {
        self.level_illuminance() + self.sky_illuminance
    }

    /// Luminance (nits by channel, linear Rec.709) of the level ground.
    #[must_use]
    pub const fn ground(&self) -> DVec3 {
        self.ground
    }

    /// Luminance (nits by channel, linear Rec.709) of a direction (unit; +X east, +Y up, -Z north),
    /// without the body's disk. Finite and at least 0.
    #[must_use]
    pub fn luminance(&self, direction: DVec3) -> DVec3 {
        let elevation = direction.y.clamp(-1.0, 1.0).asin();
        let v = (elevation.abs() / FRAC_PI_2).sqrt() * ROWS as f64;
        let y = if elevation >= 0.0 { ROWS as f64 - v } else { ROWS as f64 + v };
        // The angle between the vertical planes of direction and body.
        let (a, b) =
            (dvec3(direction.x, 0.0, direction.z), dvec3(self.direction.x, 0.0, self.direction.z));
        let azimuth = a.cross(b).length().atan2(a.dot(b));
        let x = azimuth / PI * (COLUMNS - 1) as f64;
        let (x0, y0) = ((x as usize).min(COLUMNS - 2), (y as usize).min(2 * ROWS - 1));
        let (fx, fy) = (x - x0 as f64, y - y0 as f64);
        let read = |table: &[DVec3]| {
            let at = |x: usize, y: usize| table.get(y * COLUMNS + x).copied().unwrap_or_default();
            at(x0, y0)
                .lerp(at(x0 + 1, y0), fx)
                .lerp(at(x0, y0 + 1).lerp(at(x0 + 1, y0 + 1), fx), fy)
        };
        read(&self.smooth) + read(&self.aureole) * mie_phase(direction.dot(self.direction))
    }
}

#[cfg(test)]
mod tests;
