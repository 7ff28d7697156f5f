//! The sky against limits, published values and a separate path tracer.

use super::{atmosphere::GROUND, *};
use crate::photometry::{
    astronomy::HorizontalCoordinates,
    color::{Chromaticity, REC709_TO_XYZ, correlated_temperature},
};
use atmosphere::{distance_to_ground, distance_to_top};

fn sun(degrees: f64) -> SkyBody {
    SkyBody {
        source: SkySource::Sun,
        position: HorizontalCoordinates { elevation: degrees.to_radians(), azimuth: PI },
        illuminance: solar_illuminance(),
        angular_radius: 0.2666_f64.to_radians(),
    }
}

fn kelvin(rgb: DVec3) -> f64 {
    let xy = Chromaticity::from_xyz(REC709_TO_XYZ * rgb);
    xy.and_then(|xy| correlated_temperature(xy).ok()).map_or(f64::NAN, |(kelvin, _)| kelvin.0)
}

#[test]
fn without_air_it_is_black_and_the_sun_has_all_its_light() {
    let sky = Sky::new(&Atmosphere::vacuum(0.3), sun(50.0));
    assert_eq!(sky.luminance(DVec3::Y), DVec3::ZERO);
    assert_eq!(sky.sky_illuminance(), Lux(0.0));
    assert!((luminance(sky.direct()) / solar_illuminance().0 - 1.0).abs() < 1e-9);
    let ground = solar_illuminance().0 * 50_f64.to_radians().sin() * 0.3 / PI;
    assert!((luminance(sky.luminance(DVec3::NEG_Y)) / ground - 1.0).abs() < 1e-6);
}

/// Numbers from 0 to 1: Steele, Lea and Flood's splitmix64 (2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn on_sphere(random: &mut Random) -> DVec3 {
    let (z, angle) = (2.0 * random.next() - 1.0, TAU * random.next());
    let flat = (1.0 - z * z).sqrt();
    dvec3(flat * angle.cos(), z, flat * angle.sin())
}

/// Radiance over the irradiance outside of the air in one band along a ray from the ground: a path
/// tracer with delta tracking that follows every order of scattering with its real phase function.
fn traced(
    atmosphere: &Atmosphere,
    band: usize,
    body: SkyBody,
    direction: DVec3,
    random: &mut Random,
) -> f64 {
    let sun = body.position.direction();
    let most = atmosphere.rayleigh[band] + atmosphere.mie_extinction[band] + atmosphere.ozone[band];
    let (mut p, mut d) = (dvec3(0.0, GROUND + 1e-6, 0.0), direction);
    let (mut weight, mut sum) = (1.0, 0.0);
    for _ in 0..200 {
        let (r, mu) = (p.length(), p.normalize().dot(d));
        let ground = distance_to_ground(r, mu);
        let end = ground.unwrap_or_else(|| distance_to_top(r, mu));
        let mut t = 0.0;
        let hit = loop {
            t -= (1.0 - random.next()).ln() / most;
            if t >= end {
                break None;
            }
            let [air, aerosol, ozone] = atmosphere.density((p + d * t).length() - GROUND);
            let (a, h) = (atmosphere.rayleigh[band] * air, atmosphere.mie[band] * aerosol);
            let all =
                a + atmosphere.mie_extinction[band] * aerosol + atmosphere.ozone[band] * ozone;
            if random.next() * most < all {
                break Some((a, h, all));
            }
        };
        let light = |p: DVec3| {
            atmosphere.sunlight(p.length().max(GROUND), p.normalize().dot(sun), body.angular_radius)
                [band]
        };
        match (hit, ground) {
            (Some((a, h, all)), _) => {
                p += d * t;
                let phase = |c: f64| (a * rayleigh_phase(c) + h * mie_phase(c)) / (a + h);
                weight *= (a + h) / all;
                sum += weight * phase(d.dot(sun)) * light(p);
                let next = on_sphere(random);
                weight *= phase(d.dot(next)) * 4.0 * PI;
                d = next;
            }
            (None, Some(end)) => {
                p = (p + d * end).normalize() * (GROUND + 1e-6);
                let up = p.normalize();
                weight *= atmosphere.air.ground_albedo;
                sum += weight / PI * up.dot(sun).max(0.0) * light(p);
                d = (up + on_sphere(random)).normalize();
            }
            (None, None) => return sum,
        }
        // Roulette.
        if weight < 0.2 {
            if random.next() < 0.5 {
                return sum;
            }
            weight *= 2.0;
        }
    }
    sum
}

/// Illuminance of the sky in single bands against the path tracer, whose own error is a per cent or
/// so.
#[test]
fn every_order_of_scattering_is_there() {
    let bands = Bands::get();
    for (turbidity, degrees, bound) in [
        (2.0, 60.0, 0.05),
        (2.0, 10.0, 0.08),
        (4.0, 30.0, 0.08),
        (2.0, 0.0, 0.12),
        (2.0, -6.0, 0.3),
    ] {
        let atmosphere =
            Atmosphere::new(AtmosphereParams { turbidity, ..AtmosphereParams::default() });
        let body = sun(degrees);
        let multiple = MultipleScattering::new(&atmosphere, body.angular_radius);
        for band in [2, 5, 8] {
            let paths = 30_000;
            let mut random = Random(7);
            let (mut reference, mut squares, mut ours) = (0.0, 0.0, 0.0);
            for i in 0..paths {
                let up = (DVec3::Y + on_sphere(&mut random)).normalize();
                let one = traced(&atmosphere, band, body, up, &mut random) * PI;
                reference += one;
                squares += one * one;
                if i < 1500 {
                    let azimuth = up.x.atan2(up.z);
                    let part = ViewPath::new(&atmosphere, &multiple, body, up.y.asin(), azimuth)
                        .integrate();
                    let phase = mie_phase(
                        up.y * body.position.elevation.sin()
                            + (1.0 - up.y * up.y).sqrt()
                                * azimuth.cos()
                                * body.position.elevation.cos(),
                    );
                    ours += (part.smooth[band] + part.aureole[band] * phase) * PI / 1500.0;
                }
            }
            let n = f64::from(paths);
            let mean = reference / n;
            let noise = ((squares / n - mean * mean) / n).sqrt() / mean;
            let error = ours / mean - 1.0;
            println!(
                "T {turbidity} sun {degrees} at {:.0} nm: {ours:.5}, traced {mean:.5} +- {:.1} %: {:+.1} %",
                bands.wavelength[band],
                noise * 100.0,
                error * 100.0
            );
            assert!(error.abs() < bound + 2.0 * noise, "{error}");
        }
    }
}

/// Published values of clear skies.
#[test]
fn figures() {
    // Turbidity 2 is a clear sky. The formulas are IES RP-21-84, "Recommended practice for the
    // calculation of daylight availability": sky alone 0.8 + 15.5 sqrt(sin a) klx, direct 127.5
    // exp(-0.21 m) klx; and Krochmann and Seidl, "Quantitative data on daylight for illuminating
    // engineering" (1974), for the zenith.
    let atmosphere = Atmosphere::new(AtmosphereParams::default());
    for degrees in [70.0, 60.0, 40.0, 20.0, 10.0, 5.0] {
        let sky = Sky::new(&atmosphere, sun(degrees));
        let zenith = luminance(sky.luminance(DVec3::Y));
        let a: f64 = f64::to_radians(degrees);
        let mass = crate::photometry::astronomy::air_mass(a).unwrap_or(f64::NAN);
        let ies = (800.0 + 15_500.0 * a.sin().sqrt(), 127_500.0 * (-0.21 * mass).exp());
        let krochmann =
            100.0 + 63.0 * degrees + degrees * (degrees - 30.0) * (0.0346 * (degrees - 68.0)).exp();
        let direct = luminance(sky.direct());
        println!(
            "sun {degrees:>4}: direct {direct:.0} lx {:.0} K (IES {:.0}), sky {:.0} lx (IES {:.0}), zenith {zenith:.0} nit              {:.0} K (Krochmann {krochmann:.0})",
            kelvin(sky.direct()),
            ies.1,
            sky.sky_illuminance().0,
            ies.0,
            kelvin(sky.luminance(DVec3::Y)),
        );
        assert!((sky.sky_illuminance().0 / ies.0 - 1.0).abs() < 0.35, "{degrees}");
        if degrees >= 20.0 {
            assert!((direct / ies.1 - 1.0).abs() < 0.2, "{degrees}");
            assert!((zenith / krochmann - 1.0).abs() < 0.35, "{degrees}");
            assert!((7_000.0..30_000.0).contains(&kelvin(sky.luminance(DVec3::Y))), "{degrees}");
        }
    }
    // Twilight, lx on level ground under a clear sky: Seidelmann, Explanatory Supplement to the
    // Astronomical Almanac (1992), table 9.1: 3.5 at -6 degrees, 0.008 at -12 (0.002 of it from
    // stars and airglow); skies differ by a factor of two and more.
    let mut last = f64::MAX;
    for (degrees, want) in [(-6.0, 3.5), (-12.0, 0.008)] {
        let sky = Sky::new(&atmosphere, sun(degrees));
        let lux = sky.sky_illuminance().0;
        println!("sun {degrees}: {lux:.4} lx (Seidelmann {want})");
        assert!((want / 4.0..want * 4.0).contains(&lux) && lux < last, "{degrees}: {lux}");
        assert_eq!(sky.direct(), DVec3::ZERO);
        last = lux;
    }
}

#[test]
fn every_direction_is_finite_whatever_the_sun() {
    for (turbidity, degrees) in [(1.0, 90.0), (10.0, 0.1), (2.0, -0.3), (3.0, -18.0), (3.0, -90.0)]
    {
        let sky = Sky::new(
            &Atmosphere::new(AtmosphereParams { turbidity, ..AtmosphereParams::default() }),
            sun(degrees),
        );
        let mut random = Random(1);
        for direction in (0..2000).map(|_| on_sphere(&mut random)).chain([
            DVec3::Y,
            DVec3::NEG_Y,
            DVec3::X,
            DVec3::Z,
        ]) {
            let light = sky.luminance(direction);
            assert!(
                light.is_finite() && light.min_element() >= 0.0,
                "{turbidity} {degrees} {direction}: {light}"
            );
        }
    }
}

/// The integral of the table equals its stated illuminance.
#[test]
fn luminance_integrates_to_the_illuminance() {
    let sky = Sky::new(&Atmosphere::new(AtmosphereParams::default()), sun(35.0));
    let mut random = Random(3);
    let n = 200_000;
    let sum: f64 = (0..n)
        .map(|_| {
            luminance(sky.luminance((DVec3::Y + on_sphere(&mut random) * 0.999_999).normalize()))
                * PI
        })
        .sum();
    let got = sum / f64::from(n);
    assert!(
        (got / sky.sky_illuminance().0 - 1.0).abs() < 0.01,
        "{got}, not {}",
        sky.sky_illuminance().0
    );
}
