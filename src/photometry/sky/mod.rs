//! A physical clear sky in nits, with the sunlight through the same atmosphere.
//!
//! Air, aerosol and ozone in spherical shells (`atmosphere`), in twelve wavelength bands
//! (`spectrum`). Single scattering is integrated along each line of sight. Multiple scattering is
//! isotropic from the second order on and summed as a series: Hillaire, "A Scalable and Production
//! Ready Sky and Atmosphere Rendering Technique" (EGSR 2020), section 5. Valid for bodies from 12
//! degrees below the horizon to the zenith; no clouds, stars or airglow.

pub mod atmosphere;
pub mod spectrum;

mod body;
mod scattering;

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec3, dvec3};
use rayon::prelude::*;

pub use atmosphere::{Atmosphere, AtmosphereParams, SkyError};
pub use body::SkyBody;
pub use scattering::{mie_phase, rayleigh_phase};
pub use spectrum::{SkySource, solar_illuminance};

use crate::photometry::{Lux, color::luminance, lights::SunDisk};
use scattering::{MultipleScattering, ViewPath};
use spectrum::{BANDS, Bands};

/// Half of the table's rows, and its columns of azimuth relative to the body.
const ROWS: usize = 56;
const COLUMNS: usize = 65;

/// A sky: luminance by direction.
pub struct Sky {
    body: SkyBody,
    direction: DVec3,
    /// Luminance without single scattering by aerosol; rows from zenith to nadir, columns of
    /// azimuth.
    smooth: Vec<DVec3>,
    /// Single scattering by aerosol without its phase function, which is applied exactly by
    /// direction.
    aureole: Vec<DVec3>,
    /// Direct light of the whole disk.
    whole: DVec3,
    disk: SunDisk,
    sky_illuminance: Lux,
    ground: DVec3,
}

impl Sky {
    /// Computes the sky under one body. Deterministic; about half a second on one core.
    #[must_use]
    pub fn new(atmosphere: &Atmosphere, body: SkyBody) -> Self {
        let bands = Bands::get();
        let outside = luminance(bands.to_rgb(&[1.0; BANDS], body.source));
        // Fractions of the light outside of the atmosphere by band to linear Rec.709, lux or nits.
        let scale = body.illuminance.0 / outside;
        let rgb = |fractions: &[f64; BANDS]| bands.to_rgb(fractions, body.source) * scale;
        let mu = body.position.elevation.sin();
        let multiple = MultipleScattering::new(atmosphere, body.angular_radius);
        let disk = SunDisk::over_horizon(body.position.direction(), body.angular_radius);
        let arriving = atmosphere.direct_sunlight(body.position.elevation);
        let upper = |row: usize, column: usize| {
            let elevation = FRAC_PI_2 * (1.0 - row as f64 / ROWS as f64).powi(2);
            let azimuth = PI * column as f64 / (COLUMNS - 1) as f64;
            ViewPath::new(atmosphere, &multiple, body, elevation, azimuth).integrate()
        };
        let above: Vec<_> = (0..(ROWS + 1) * COLUMNS)
            .into_par_iter()
            .map(|i| upper(i / COLUMNS, i % COLUMNS))
            .collect();
        // Illuminance of the ground by the sky by band, from the same table: trapezoids over both
        // angles.
        let mut diffuse = [0.0; BANDS];
        let phase = |row: usize, column: usize| {
            let elevation = FRAC_PI_2 * (1.0 - row as f64 / ROWS as f64).powi(2);
            let azimuth = PI * column as f64 / (COLUMNS - 1) as f64;
            mie_phase(
                elevation.cos() * azimuth.cos() * body.position.elevation.cos()
                    + elevation.sin() * mu,
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
                // The observer is at ground level: the path to the ground is shorter than a step.
                path.integrate_to_ground(&ground)
            })
            .collect();
        let parts = above.iter().chain(&below);
        Self {
            body,
            direction: body.position.direction(),
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
    /// it, ignoring occlusion of its disk by the horizon.
    #[must_use]
    pub const fn whole_disk(&self) -> DVec3 {
        self.whole
    }

    /// The part of the body's disk above the horizon.
    #[must_use]
    pub const fn disk(&self) -> SunDisk {
        self.disk
    }

    /// Illuminance (lx by channel, linear Rec.709) of the disk's part above the horizon, on a plane
    /// that faces it.
    #[must_use]
    pub fn direct(&self) -> DVec3 {
        self.whole * self.disk.visible_fraction
    }

    /// Direct illuminance (lx) of the body on level ground.
    #[must_use]
    pub fn level_illuminance(&self) -> Lux {
        Lux(luminance(self.whole) * self.disk.on_level_ground())
    }

    /// Illuminance of the sky alone on level ground.
    #[must_use]
    pub const fn sky_illuminance(&self) -> Lux {
        self.sky_illuminance
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
