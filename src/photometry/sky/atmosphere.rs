//! The atmosphere as spherical shells: density, optical depth, and transmittance of sunlight.

use std::f64::consts::FRAC_PI_2;

use glam::DVec3;

use super::spectrum::{
    BANDS, Bands, Spectrum, aerosol_albedo, aerosol_depth, ozone_depth, rayleigh_depth,
};
use crate::photometry::{astronomy::air_mass, lights::SunDisk};

/// Earth's mean radius in kilometers (IUGG).
pub const GROUND: f64 = 6371.0;
/// Height (km) of the top of the atmosphere: 4e-6 of the air is above it.
pub const TOP: f64 = 100.0;
/// Scale height (km) of air: the column's mean, 8.4 km, less in the warm lower part; Bruneton and
/// Neyret, "Precomputed Atmospheric Scattering" (2008), section 2: 8.0.
const AIR_SCALE: f64 = 8.0;
/// Scale height (km) of aerosol: Bruneton and Neyret 2008, section 2.
const AEROSOL_SCALE: f64 = 1.2;
/// Ozone lies around this height (km), with a density that falls linearly to 0 at this distance
/// from it: Hillaire, "A Scalable and Production Ready Sky and Atmosphere Rendering Technique"
/// (2020), section 4.
const OZONE_HEIGHT: f64 = 25.0;
const OZONE_SPREAD: f64 = 15.0;
/// Asymmetry of the aerosol's scattering: Bird and Riordan (SERI/TR-215-2436), section 3.
pub const AEROSOL_ASYMMETRY: f64 = 0.65;
/// Valid turbidities: 1 is pure air, 2 very clear, 3 clear, 6 warm and moist, 10 hazy.
const TURBIDITIES: [f64; 2] = [1.0, 10.0];
/// Valid ozone columns in Dobson units; 300 is usual.
const OZONE: [f64; 2] = [0.0, 600.0];
/// Valid heights of the ground in m.
const ALTITUDES: [f64; 2] = [-500.0, 9000.0];

/// Invalid sky parameter.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the sky's {what} is {value}; it must lie between {low} and {high}")]
pub struct SkyError {
    /// Name of the parameter.
    pub what: &'static str,
    /// The invalid value.
    pub value: f64,
    /// Minimum.
    pub low: f64,
    /// Maximum.
    pub high: f64,
}

/// Parameters of the sky, apart from the body that lights it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtmosphereParams {
    /// Haze on Preetham's scale (`spectrum::aerosol_depth`), within `TURBIDITIES`.
    pub turbidity: f64,
    /// Albedo of the ground, 0 to 1.
    pub ground_albedo: f64,
    /// Ozone column in Dobson units, within `OZONE`.
    pub ozone: f64,
    /// Height of the ground above sea level in meters, within `ALTITUDES`.
    pub altitude: f64,
}

impl Default for AtmosphereParams {
    /// A clear day: turbidity 2 (the clear sky of IES RP-21), ground like grass and soil (0.2), 300
    /// Dobson units, at the sea.
    fn default() -> Self {
        Self { turbidity: 2.0, ground_albedo: 0.2, ozone: 300.0, altitude: 0.0 }
    }
}

impl AtmosphereParams {
    /// Validates the parameters.
    ///
    /// # Errors
    /// The first parameter out of range, NaN included.
    pub fn checked(self) -> Result<Self, SkyError> {
        for (what, value, [low, high]) in [
            ("turbidity", self.turbidity, TURBIDITIES),
            ("ground albedo", self.ground_albedo, [0.0, 1.0]),
            ("ozone", self.ozone, OZONE),
            ("altitude", self.altitude, ALTITUDES),
        ] {
            if !(low..=high).contains(&value) {
                return Err(SkyError { what, value, low, high });
            }
        }
        Ok(self)
    }
}

/// Columns of air, aerosol and ozone along a ray, each in kilometers of that at sea level (ozone:
/// of its densest).
pub type Columns = [f64; 3];

/// The optical properties in bands, and tables of columns.
pub struct Atmosphere {
    /// The parameters.
    pub air: AtmosphereParams,
    /// Scattering of air at sea level (1/km).
    pub rayleigh: Spectrum,
    /// Scattering of aerosol at sea level (1/km).
    pub mie: Spectrum,
    /// Extinction of aerosol at sea level (1/km).
    pub mie_extinction: Spectrum,
    /// Absorption of ozone where it is densest (1/km).
    pub ozone: Spectrum,
    columns: Vec<Columns>,
}

/// Directions and heights of the table of columns.
const TABLE_MU: usize = 256;
const TABLE_R: usize = 96;

impl Atmosphere {
    /// The atmosphere of these parameters, which are not validated (`AtmosphereParams::checked`).
    #[must_use]
    pub fn new(air: AtmosphereParams) -> Self {
        let bands = Bands::get();
        let rayleigh = bands.map(|nm| rayleigh_depth(nm) / AIR_SCALE);
        let mie_extinction = bands.map(|nm| aerosol_depth(nm, air.turbidity) / AEROSOL_SCALE);
        let mie =
            bands.map(|nm| aerosol_depth(nm, air.turbidity) / AEROSOL_SCALE * aerosol_albedo(nm));
        let ozone = bands.map(|nm| ozone_depth(nm) * air.ozone / 1000.0 / OZONE_SPREAD);
        Self::with(air, rayleigh, mie, mie_extinction, ozone)
    }

    /// A vacuum.
    #[must_use]
    pub fn vacuum(ground_albedo: f64) -> Self {
        let none = [0.0; BANDS];
        Self::with(
            AtmosphereParams { ground_albedo, ..AtmosphereParams::default() },
            none,
            none,
            none,
            none,
        )
    }

    fn with(
        air: AtmosphereParams,
        rayleigh: Spectrum,
        mie: Spectrum,
        mie_extinction: Spectrum,
        ozone: Spectrum,
    ) -> Self {
        let mut out = Self { air, rayleigh, mie, mie_extinction, ozone, columns: Vec::new() };
        let mut columns = Vec::with_capacity(TABLE_MU * TABLE_R);
        for row in 0..TABLE_R {
            for column in 0..TABLE_MU {
                let (r, mu) = from_table(
                    column as f64 / (TABLE_MU - 1) as f64,
                    row as f64 / (TABLE_R - 1) as f64,
                );
                columns.push(out.integrate_columns(r, mu, 96));
            }
        }
        out.columns = columns;
        out
    }

    /// Densities of air, aerosol and ozone at a height (km) above the ground, over those at sea
    /// level (the densest).
    #[must_use]
    pub fn density(&self, height: f64) -> Columns {
        let h = height.max(0.0) + self.air.altitude * 1e-3;
        [
            (-h / AIR_SCALE).exp(),
            (-h / AEROSOL_SCALE).exp(),
            (1.0 - (h - OZONE_HEIGHT).abs() / OZONE_SPREAD).max(0.0),
        ]
    }

    /// Columns from the radius `r` (km) along a direction with the cosine `mu` to the zenith, up to
    /// the top. Steps are shorter at low heights.
    #[must_use]
    pub fn integrate_columns(&self, r: f64, mu: f64, steps: u32) -> Columns {
        let length = distance_to_top(r, mu);
        let mut sum = [0.0; 3];
        for i in 0..steps {
            let (a, b) = (f64::from(i) / f64::from(steps), f64::from(i + 1) / f64::from(steps));
            let (a, b) = (length * a * a, length * b * b);
            // Simpson's rule.
            for (t, weight) in [(a, 1.0), (f64::midpoint(a, b), 4.0), (b, 1.0)] {
                let density = self.density(radius_at(r, mu, t) - GROUND);
                for (sum, density) in sum.iter_mut().zip(density) {
                    *sum += density * weight * (b - a) / 6.0;
                }
            }
        }
        sum
    }

    /// Columns from the table, of a ray that does not hit the ground.
    fn columns(&self, r: f64, mu: f64) -> Columns {
        let (u, v) = to_table(r, mu);
        let (x, y) = (u * (TABLE_MU - 1) as f64, v * (TABLE_R - 1) as f64);
        let (x0, y0) = ((x as usize).min(TABLE_MU - 2), (y as usize).min(TABLE_R - 2));
        let (fx, fy) = (x - x0 as f64, y - y0 as f64);
        let at =
            |x: usize, y: usize| self.columns.get(y * TABLE_MU + x).copied().unwrap_or_default();
        let (a, b, c, d) = (at(x0, y0), at(x0 + 1, y0), at(x0, y0 + 1), at(x0 + 1, y0 + 1));
        std::array::from_fn(|i| {
            let (low, high) = (a[i] + (b[i] - a[i]) * fx, c[i] + (d[i] - c[i]) * fx);
            low + (high - low) * fy
        })
    }

    /// Transmittance of these columns by band.
    #[must_use]
    pub fn transmittance(&self, columns: Columns) -> Spectrum {
        let [air, aerosol, ozone] = columns;
        std::array::from_fn(|i| {
            (-(self.rayleigh[i] * air + self.mie_extinction[i] * aerosol + self.ozone[i] * ozone))
                .exp()
        })
    }

    /// Transmittance of the air by band, 0 to 1, from a body at an apparent elevation (rad) to the
    /// ground, ignoring occlusion of its disk by the horizon.
    ///
    /// Air and aerosol have the relative air mass of Kasten and Young 1989, whose rays refraction
    /// bends, as Bird and Riordan (SERI/TR-215-2436, section 2) take one mass for both: straight
    /// rays through shells are 7 % off at the horizon for air, and of aerosol, which lies lower,
    /// they cross 2.4 times as much. Ozone lies high, where rays are straight. A partly hidden disk
    /// has the transmittance of one whose center is on the horizon.
    #[must_use]
    pub fn direct_sunlight(&self, elevation: f64) -> Spectrum {
        let elevation = elevation.clamp(0.0, FRAC_PI_2);
        let mass = air_mass(elevation).unwrap_or(1.0);
        let [air, aerosol, _] = self.columns(GROUND, 1.0);
        let [.., ozone] = self.columns(GROUND, elevation.sin());
        self.transmittance([air * mass, aerosol * mass, ozone])
    }

    /// Transmittance to the radius `r` (km) from a body with the cosine `mu` of its center to the
    /// zenith and the angular radius `size` (rad); 0 where the ground hides it.
    #[must_use]
    pub fn sunlight(&self, r: f64, mu: f64, size: f64) -> Spectrum {
        let horizon = horizon(r);
        let above = mu.clamp(-1.0, 1.0).asin() - horizon.asin();
        let visible =
            SunDisk::over_horizon(DVec3::new(above.cos(), above.sin(), 0.0), size).visible_fraction;
        if visible <= 0.0 {
            return [0.0; BANDS];
        }
        // A partly hidden disk: use the direction of its visible part.
        let mu = mu.max(horizon);
        self.transmittance(self.columns(r, mu)).map(|t| t * visible)
    }
}

/// The sine of the elevation of the ground's edge from the radius `r` (km).
#[must_use]
pub fn horizon(r: f64) -> f64 {
    -(1.0 - (GROUND / r.max(GROUND)).powi(2)).max(0.0).sqrt()
}

/// Kilometers to the top of the air.
#[must_use]
pub fn distance_to_top(r: f64, mu: f64) -> f64 {
    let top = GROUND + TOP;
    (-r * mu + (r * r * (mu * mu - 1.0) + top * top).max(0.0).sqrt()).max(0.0)
}

/// Kilometers to the ground; `None` if the ray misses it.
#[must_use]
pub fn distance_to_ground(r: f64, mu: f64) -> Option<f64> {
    let discriminant = r * r * (mu * mu - 1.0) + GROUND * GROUND;
    (mu < 0.0 && discriminant >= 0.0).then(|| (-r * mu - discriminant.sqrt()).max(0.0))
}

/// The radius after `t` kilometers.
#[must_use]
pub fn radius_at(r: f64, mu: f64, t: f64) -> f64 {
    (r * r + t * t + 2.0 * r * mu * t).max(0.0).sqrt()
}

/// Table coordinates of a ray: its distance to the top, between the minimum and the horizon's.
///
/// Bruneton and Neyret 2008, section 4; the mapping of Bruneton's 2017 text on the method.
fn to_table(r: f64, mu: f64) -> (f64, f64) {
    let top = GROUND + TOP;
    let edge = (top * top - GROUND * GROUND).sqrt();
    let rho = (r * r - GROUND * GROUND).max(0.0).sqrt();
    let (min, max) = (top - r, rho + edge);
    let u = (distance_to_top(r, mu) - min) / (max - min).max(1e-9);
    (u.clamp(0.0, 1.0), (rho / edge).clamp(0.0, 1.0))
}

fn from_table(u: f64, v: f64) -> (f64, f64) {
    let top = GROUND + TOP;
    let edge = (top * top - GROUND * GROUND).sqrt();
    let rho = edge * v;
    let r = (rho * rho + GROUND * GROUND).sqrt();
    let (min, max) = (top - r, rho + edge);
    let d = min + u * (max - min);
    let mu = if d <= 0.0 { 1.0 } else { (edge * edge - rho * rho - d * d) / (2.0 * r * d) };
    (r, mu.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_agree_with_the_air_mass_of_kasten_and_young() {
        let atmosphere = Atmosphere::new(AtmosphereParams::default());
        let zenith = atmosphere.integrate_columns(GROUND, 1.0, 400)[0];
        assert!((zenith / AIR_SCALE - 1.0).abs() < 1e-4, "{zenith}");
        for degrees in [90.0_f64, 60.0, 30.0, 15.0, 10.0, 5.0] {
            let mass =
                atmosphere.integrate_columns(GROUND, degrees.to_radians().sin(), 400)[0] / zenith;
            let known = air_mass(degrees.to_radians()).unwrap_or(0.0);
            println!("{degrees} degrees: air mass {mass:.3}, Kasten and Young {known:.3}");
            // Their air is bent by refraction and colder above; a single exponential is not.
            let bound = if degrees < 10.0 { 0.02 } else { 0.01 };
            assert!((mass / known - 1.0).abs() < bound, "{degrees}: {mass}, not {known}");
        }
        // At the horizon shells without refraction and an exponential of one scale height are a
        // little off.
        let mass = atmosphere.integrate_columns(GROUND, 0.0, 400)[0] / zenith;
        assert!((mass / 37.92 - 1.0).abs() < 0.1, "{mass}");
    }

    #[test]
    fn the_table_is_the_integral() {
        let atmosphere = Atmosphere::new(AtmosphereParams::default());
        for (height, mu) in [
            (0.0, 0.0),
            (0.0, 0.02),
            (0.3, 0.1),
            (2.0, 0.5),
            (20.0, -0.05),
            (50.0, 0.9),
            (90.0, 0.0),
        ] {
            let exact =
                atmosphere.transmittance(atmosphere.integrate_columns(GROUND + height, mu, 800));
            let table = atmosphere.transmittance(atmosphere.columns(GROUND + height, mu));
            for (a, b) in table.iter().zip(exact) {
                assert!((a - b).abs() < 2e-3, "height {height}, mu {mu}: {a}, not {b}");
            }
        }
    }

    /// Direct light by the air mass of the paper, down to the horizon: Kasten and Young 1989, table
    /// II and equation 3.
    #[test]
    fn direct_sunlight_has_the_air_mass_of_kasten_and_young() {
        let atmosphere =
            Atmosphere::new(AtmosphereParams { ozone: 0.0, ..AtmosphereParams::default() });
        let depth = |elevation: f64| {
            atmosphere.direct_sunlight(elevation.to_radians()).map(|left| -left.ln())
        };
        for (degrees, mass) in [(0.0, 37.92), (0.5, 31.35), (1.0, 26.31), (5.0, 10.306)] {
            for (low, high) in depth(degrees).iter().zip(depth(90.0)) {
                assert!(
                    (low / high / mass - 1.0).abs() < 5e-3,
                    "{degrees}: {}, not {mass}",
                    low / high
                );
            }
        }
        // A disk that is half hidden is as bright as one whose middle is on the horizon.
        assert_eq!(depth(-0.2), depth(0.0));
    }

    #[test]
    fn the_disk_sets_bit_by_bit() {
        let atmosphere = Atmosphere::new(AtmosphereParams::default());
        let size = 0.0047;
        let mut last = 1.0;
        for step in 0..=200 {
            let elevation = 0.01 - 0.0001 * f64::from(step);
            let part = atmosphere.sunlight(GROUND, elevation.sin(), size)[9];
            assert!(part.is_finite() && part <= last + 1e-12, "{elevation}: {part} after {last}");
            last = part;
        }
        assert_eq!(last, 0.0);
    }
}
