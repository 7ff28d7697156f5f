//! Single scattering along a line of sight, and multiple scattering.

use std::f64::consts::PI;

use rayon::prelude::*;

use super::{
    atmosphere::{
        AEROSOL_ASYMMETRY, Atmosphere, Columns, GROUND, TOP, distance_to_ground, distance_to_top,
        radius_at,
    },
    body::SkyBody,
    spectrum::{BANDS, Spectrum},
};

/// Rayleigh's phase function (1/sr) of the cosine of the scattering angle: `3 / (16 pi) (1 + c^2)`.
#[must_use]
pub fn rayleigh_phase(cosine: f64) -> f64 {
    3.0 / (16.0 * PI) * (1.0 + cosine * cosine)
}

/// The aerosol's phase function (1/sr): Cornette and Shanks, "Physically reasonable analytic
/// expression for the single-scattering phase function", Applied Optics 31 (1992), equation 8.
#[must_use]
pub fn mie_phase(cosine: f64) -> f64 {
    let g = AEROSOL_ASYMMETRY;
    3.0 / (8.0 * PI) * (1.0 - g * g) / (2.0 + g * g) * (1.0 + cosine * cosine)
        / (1.0 + g * g - 2.0 * g * cosine).powf(1.5)
}

/// A step (km) through the atmosphere in one band.
struct BandStep {
    /// Scattering coefficients of air and of haze (1/km).
    scatter_air: f64,
    scatter_haze: f64,
    /// Transmittance of the step.
    left: f64,
    /// Its integral over the step (km): with constant in-scattering, what arrives (Hillaire 2015).
    attenuated: f64,
}

impl BandStep {
    fn new(atmosphere: &Atmosphere, i: usize, [air, aerosol, ozone]: Columns, dt: f64) -> Self {
        let (scatter_air, scatter_haze) =
            (atmosphere.rayleigh[i] * air, atmosphere.mie[i] * aerosol);
        let extinction =
            scatter_air + atmosphere.mie_extinction[i] * aerosol + atmosphere.ozone[i] * ozone;
        let left = (-extinction * dt).exp();
        let attenuated = if extinction > 1e-12 { (1.0 - left) / extinction } else { dt };
        Self { scatter_air, scatter_haze, left, attenuated }
    }
}

/// Heights and cosines of the body's zenith angle in the table of multiple scattering.
const HEIGHTS: usize = 24;
const COSINES: usize = 40;
/// Directions over the sphere, and steps along each.
const RINGS: usize = 12;
const SPOKES: usize = 6;
const STEPS: u32 = 24;

/// Multiple scattering table: isotropic radiance from the second order on, over the irradiance of
/// the body outside of the atmosphere.
pub(super) struct MultipleScattering {
    size: f64,
    table: Vec<Spectrum>,
}

fn height_at(v: f64) -> f64 {
    TOP * v * v
}

/// Elevations of the body are dense around the horizon.
fn elevation_at(u: f64) -> f64 {
    let s = 2.0 * u - 1.0;
    s.abs().powf(1.5).copysign(s) * PI / 2.0
}

impl MultipleScattering {
    pub(super) fn new(atmosphere: &Atmosphere, size: f64) -> Self {
        let mut out = Self { size, table: Vec::new() };
        out.table = (0..HEIGHTS * COSINES)
            .into_par_iter()
            .map(|i| {
                let height = height_at((i / COSINES) as f64 / (HEIGHTS - 1) as f64);
                let elevation = elevation_at((i % COSINES) as f64 / (COSINES - 1) as f64);
                out.gather(atmosphere, GROUND + height.clamp(1e-3, TOP - 1e-3), elevation)
            })
            .collect();
        out
    }

    /// Hillaire 2020, equations 5 to 10; the first order has its real phase functions here.
    fn gather(&self, atmosphere: &Atmosphere, r: f64, elevation: f64) -> Spectrum {
        let (sun_up, sun_flat) = elevation.sin_cos();
        let (mut second, mut again) = ([0.0; BANDS], [0.0; BANDS]);
        let count = (RINGS * SPOKES) as f64;
        for ring in 0..RINGS {
            // Equal areas.
            let mu = 1.0 - 2.0 * (ring as f64 + 0.5) / RINGS as f64;
            let flat = (1.0 - mu * mu).sqrt();
            for spoke in 0..SPOKES {
                // Half a circle: the other half mirrors it.
                let azimuth = PI * (spoke as f64 + 0.5) / SPOKES as f64;
                let cosine = mu * sun_up + flat * sun_flat * azimuth.cos();
                let (light, part) =
                    self.march(atmosphere, r, mu, azimuth, (sun_up, sun_flat), cosine);
                for i in 0..BANDS {
                    second[i] += light[i] / count;
                    again[i] += part[i] / count;
                }
            }
        }
        std::array::from_fn(|i| second[i] / (1.0 - again[i]).max(1e-3))
    }

    /// Radiance of single scattering and ground reflection along a ray, and the fraction of
    /// isotropic uniform light that is scattered towards its start.
    fn march(
        &self,
        atmosphere: &Atmosphere,
        r: f64,
        mu: f64,
        azimuth: f64,
        (sun_up, sun_flat): (f64, f64),
        cosine: f64,
    ) -> (Spectrum, Spectrum) {
        let ground = distance_to_ground(r, mu);
        let length = ground.unwrap_or_else(|| distance_to_top(r, mu));
        let flat = (1.0 - mu * mu).max(0.0).sqrt() * azimuth.cos();
        let (ray, haze) = (rayleigh_phase(cosine), mie_phase(cosine));
        let mut through = [1.0; BANDS];
        let (mut light, mut part) = ([0.0; BANDS], [0.0; BANDS]);
        // The cosine at a point to the zenith there: position times direction over radius.
        let sun_at =
            |t: f64, radius: f64| (r * sun_up + t * (mu * sun_up + flat * sun_flat)) / radius;
        let mut before = 0.0;
        for step in 0..STEPS {
            let after = length * (f64::from(step + 1) / f64::from(STEPS)).powi(2);
            let (t, dt) = (f64::midpoint(before, after), after - before);
            before = after;
            let radius = radius_at(r, mu, t);
            let densities = atmosphere.density(radius - GROUND);
            let sun = atmosphere.sunlight(radius, sun_at(t, radius), self.size);
            for i in 0..BANDS {
                let BandStep { scatter_air, scatter_haze, left, attenuated } =
                    BandStep::new(atmosphere, i, densities, dt);
                let weight = through[i] * attenuated;
                light[i] += weight * sun[i] * (scatter_air * ray + scatter_haze * haze);
                part[i] += weight * (scatter_air + scatter_haze);
                through[i] *= left;
            }
        }
        if ground.is_some() {
            let up = sun_at(length, GROUND);
            let sun = atmosphere.sunlight(GROUND, up, self.size);
            for i in 0..BANDS {
                light[i] += through[i] * atmosphere.air.ground_albedo / PI * sun[i] * up.max(0.0);
            }
        }
        (light, part)
    }

    /// Lookup at a radius (km) and the sine of the body's elevation.
    fn at(&self, radius: f64, sine: f64) -> Spectrum {
        let elevation = sine.clamp(-1.0, 1.0).asin() / (PI / 2.0);
        let u = f64::midpoint(1.0, elevation.abs().powf(2.0 / 3.0).copysign(elevation));
        let v = ((radius - GROUND).max(0.0) / TOP).sqrt().min(1.0);
        let (x, y) = (u * (COSINES - 1) as f64, v * (HEIGHTS - 1) as f64);
        let (x0, y0) = ((x as usize).min(COSINES - 2), (y as usize).min(HEIGHTS - 2));
        let (fx, fy) = (x - x0 as f64, y - y0 as f64);
        let at =
            |x: usize, y: usize| self.table.get(y * COSINES + x).copied().unwrap_or([0.0; BANDS]);
        let (a, b, c, d) = (at(x0, y0), at(x0 + 1, y0), at(x0, y0 + 1), at(x0 + 1, y0 + 1));
        std::array::from_fn(|i| {
            let (low, high) = (a[i] + (b[i] - a[i]) * fx, c[i] + (d[i] - c[i]) * fx);
            low + (high - low) * fy
        })
    }
}

/// Radiance over the irradiance outside of the atmosphere.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// All except single scattering by aerosol.
    pub smooth: Spectrum,
    /// Single scattering by aerosol, without the phase function.
    pub aureole: Spectrum,
}

/// A line of sight from an observer on the ground.
pub(super) struct ViewPath<'a> {
    atmosphere: &'a Atmosphere,
    multiple: &'a MultipleScattering,
    mu: f64,
    cosine: f64,
    sun_up: f64,
}

impl<'a> ViewPath<'a> {
    /// Towards an elevation and an azimuth relative to the body's, in rad.
    pub(super) fn new(
        atmosphere: &'a Atmosphere,
        multiple: &'a MultipleScattering,
        body: SkyBody,
        elevation: f64,
        azimuth: f64,
    ) -> Self {
        let (sun_up, sun_flat) = body.position.elevation.sin_cos();
        let (mu, flat) = elevation.sin_cos();
        Self {
            atmosphere,
            multiple,
            mu,
            cosine: mu * sun_up + flat * sun_flat * azimuth.cos(),
            sun_up,
        }
    }

    /// Radiance up to the top of the atmosphere.
    pub(super) fn integrate(&self) -> Part {
        self.march(GROUND, distance_to_top(GROUND, self.mu), 64).0
    }

    /// Radiance down to the ground, which has the radiance `ground`.
    pub(super) fn integrate_to_ground(&self, ground: &Spectrum) -> Part {
        // The eye is 2 m above it.
        let r = GROUND + 0.002;
        let length = distance_to_ground(r, self.mu).unwrap_or_else(|| distance_to_top(r, self.mu));
        let (mut part, through) = self.march(r, length, 16);
        for i in 0..BANDS {
            part.smooth[i] += through[i] * ground[i];
        }
        part
    }

    fn march(&self, r: f64, length: f64, steps: u32) -> (Part, Spectrum) {
        let atmosphere = self.atmosphere;
        let phase = rayleigh_phase(self.cosine);
        let mut through = [1.0; BANDS];
        let mut out = Part { smooth: [0.0; BANDS], aureole: [0.0; BANDS] };
        let mut before = 0.0;
        for step in 0..steps {
            let after = length * (f64::from(step + 1) / f64::from(steps)).powi(2);
            let (t, dt) = (f64::midpoint(before, after), after - before);
            before = after;
            let radius = radius_at(r, self.mu, t);
            let sine = (r * self.sun_up + t * self.cosine) / radius;
            let densities = atmosphere.density(radius - GROUND);
            let sun = atmosphere.sunlight(radius, sine, self.multiple.size);
            let around = self.multiple.at(radius, sine);
            for i in 0..BANDS {
                let BandStep { scatter_air, scatter_haze, left, attenuated } =
                    BandStep::new(atmosphere, i, densities, dt);
                let weight = through[i] * attenuated;
                out.smooth[i] += weight
                    * (sun[i] * scatter_air * phase + (scatter_air + scatter_haze) * around[i]);
                out.aureole[i] += weight * sun[i] * scatter_haze;
                through[i] *= left;
            }
        }
        (out, through)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_functions_have_unit_integral() {
        for phase in [rayleigh_phase, mie_phase] {
            let steps = 20_000;
            let sum: f64 = (0..steps)
                .map(|i| {
                    phase(-1.0 + 2.0 * (f64::from(i) + 0.5) / f64::from(steps)) * 2.0
                        / f64::from(steps)
                })
                .sum();
            assert!((sum * 2.0 * PI - 1.0).abs() < 1e-6, "{sum}");
        }
    }
}
