//! Tests of lights in all units.
use super::*;

/// Flux over axial intensity of a rotationally symmetric distribution: `2 pi * integral of f(theta)
/// sin(theta)`, in sr.
///
/// `relative` takes the angle to the axis in radians, 0 to pi. Midpoint rule in `steps` (at least
/// 1) equal steps.
fn flux_per_candela_of(relative: impl Fn(f64) -> f64, steps: u32) -> Steradian {
    let steps = steps.max(1);
    let width = PI / f64::from(steps);
    let sum: f64 = (0..steps)
        .map(|i| {
            let theta = (f64::from(i) + 0.5) * width;
            relative(theta) * theta.sin()
        })
        .sum();
    Steradian(TAU * sum * width)
}

fn near(got: f64, want: f64, relative: f64) {
    assert!(
        (got - want).abs() <= relative * want.abs(),
        "{got} is not {want} within {relative} of it"
    );
}

fn lumens(emitter: Emitter) -> PhysicalLight {
    PhysicalLight::new(emitter, LightStrength::Lumens(Lumen(1000.0))).unwrap()
}

fn spot(apex_degrees: f64, flux: SpotFlux) -> Emitter {
    let half = apex_degrees.to_radians() / 2.0;
    Emitter::Spot { cone: Cone::new(half, half).unwrap(), flux }
}

fn soft(inner_degrees: f64, outer_degrees: f64) -> Emitter {
    let cone = Cone::new(inner_degrees.to_radians(), outer_degrees.to_radians()).unwrap();
    Emitter::Spot { cone, flux: SpotFlux::Exact }
}

#[test]
fn thousand_lumens() {
    near(lumens(Emitter::Point).candela().unwrap().0, 79.5775, 1e-6);
    for (apex, candela) in [
        (10.0, 41_824.5),
        (40.0, 2639.0625),
        (60.0, 1187.949),
        (90.0, 543.389),
        (180.0, 159.1549),
        (360.0, 79.5775),
    ] {
        near(lumens(spot(apex, SpotFlux::ApexCone)).candela().unwrap().0, candela, 1e-6);
        near(lumens(spot(apex, SpotFlux::Exact)).candela().unwrap().0, candela, 1e-6);
        near(lumens(spot(apex, SpotFlux::PhiOverPi)).candela().unwrap().0, 318.3099, 1e-6);
    }
    // The apex at which both forms agree.
    near(lumens(spot(120.0, SpotFlux::ApexCone)).candela().unwrap().0, 318.3099, 1e-6);
    let square = Emitter::Rectangle { width: 1.0, height: 1.0, sides: Sides::One };
    near(lumens(square).nits().unwrap().0, 318.31, 1e-5);
    near(lumens(Emitter::Sphere { radius: 0.1 }).nits().unwrap().0, 2533.03, 1e-5);
    near(lumens(Emitter::Sphere { radius: 0.1 }).candela().unwrap().0, 79.5775, 1e-6);
    near(
        lumens(Emitter::Disk { radius: 0.1, sides: Sides::One }).nits().unwrap().0,
        10_132.1,
        1e-5,
    );
    near(
        lumens(Emitter::Disk { radius: 0.1, sides: Sides::Two }).nits().unwrap().0,
        10_132.1 / 2.0,
        1e-5,
    );
    let tube = Emitter::Tube { radius: 0.02, length: 1.2 };
    near(
        lumens(tube).nits().unwrap().0,
        1000.0 / (PI * (TAU * 0.02 * 1.2 + 4.0 * PI * 0.0004)),
        1e-12,
    );
}

#[test]
fn the_sun() {
    near(cone_solid_angle(SUN_ANGULAR_RADIUS).0, 6.8018e-5, 1e-5);
    let sun = PhysicalLight::new(Emitter::SUN, LightStrength::Lux(Lux(100_000.0))).unwrap();
    near(sun.nits().unwrap().0, 1.4702e9, 2e-5);
    assert_eq!(sun.lux(1.0), Lux(100_000.0));
    assert_eq!((sun.lumens(), sun.candela()), (None, None));
    let by_nits =
        PhysicalLight::new(Emitter::SUN, LightStrength::Nits(sun.nits().unwrap())).unwrap();
    near(by_nits.lux(123.0).0, 100_000.0, 1e-12);
    // Projected solid angle by quadrature: a big sun, where the plain one is off by 0.8 %.
    let big = Emitter::Sun { angular_radius: 10.0_f64.to_radians() };
    let disk = |t: f64| if t < 10.0_f64.to_radians() { t.cos() } else { 0.0 };
    near(big.projected_solid_angle().unwrap().0, flux_per_candela_of(disk, 180_000).0, 1e-4);
}

#[test]
fn flux_integrals() {
    let emitters = [
        Emitter::Point,
        spot(10.0, SpotFlux::Exact),
        spot(90.0, SpotFlux::ApexCone),
        soft(0.0, 45.0),
        soft(20.0, 30.0),
        soft(44.9, 45.0),
        soft(60.0, 120.0),
        Emitter::Sphere { radius: 0.3 },
        Emitter::Disk { radius: 0.2, sides: Sides::One },
        Emitter::Disk { radius: 0.2, sides: Sides::Two },
        Emitter::Rectangle { width: 2.0, height: 0.5, sides: Sides::One },
        Emitter::Rectangle { width: 2.0, height: 0.5, sides: Sides::Two },
        Emitter::Tube { radius: 0.02, length: 1.2 },
        Emitter::Tube { radius: 0.5, length: 0.1 },
    ];
    for emitter in emitters {
        let light = lumens(emitter);
        let peak = light.candela().unwrap().0;
        let integral =
            flux_per_candela_of(|theta| emitter.relative_intensity(theta.cos()).unwrap(), 20_000);
        near(peak * integral.0, 1000.0, 0.005);
    }
    // And one with a smooth edge by the closed form to many digits.
    let cone = Cone::new(0.3, 0.7).unwrap();
    near(
        cone.flux_per_candela().0,
        flux_per_candela_of(|t| cone.falloff(t.cos()), 400_000).0,
        1e-8,
    );
}

#[test]
fn units_agree_with_each_other() {
    for emitter in [
        Emitter::Sphere { radius: 0.05 },
        Emitter::Disk { radius: 0.3, sides: Sides::Two },
        Emitter::Rectangle { width: 1.2, height: 0.3, sides: Sides::One },
        Emitter::Tube { radius: 0.02, length: 1.2 },
    ] {
        let light = lumens(emitter);
        for strength in [
            LightStrength::Candela(light.candela().unwrap()),
            LightStrength::Nits(light.nits().unwrap()),
            LightStrength::Ev(light.ev100().unwrap()),
        ] {
            let same = PhysicalLight::new(emitter, strength).unwrap();
            near(same.lumens().unwrap().0, 1000.0, 1e-12);
            near(same.nits().unwrap().0, light.nits().unwrap().0, 1e-12);
            near(same.ev100().unwrap().0, light.ev100().unwrap().0, 1e-12);
        }
    }
    near(ev100_to_luminance(Ev100(15.0)).0, 4096.0, 1e-12);
    assert_eq!(luminance_to_ev100(Nit(0.0)), None);
}

#[test]
fn falloff() {
    near(inverse_square(0.0, 0.0), 1e4, 1e-12);
    near(inverse_square(0.05, 0.1), 100.0, 1e-12);
    near(inverse_square(2.0, 0.1), 0.25, 1e-12);
}

/// Illuminance of a sphere by integrating its luminance over the directions under which it is
/// seen.
#[test]
fn a_sphere_lights_as_its_center() {
    let light = lumens(Emitter::Sphere { radius: 0.5 });
    for distance in [0.51, 1.0, 3.0] {
        let half = (0.5_f64 / distance).asin();
        let seen = flux_per_candela_of(|t| if t < half { t.cos() } else { 0.0 }, 200_000);
        near(light.nits().unwrap().0 * seen.0, light.lux(distance).0, 1e-4);
    }
}

#[test]
fn serde_round_trips_and_refuses() {
    let emitter = soft(10.0, 20.0);
    let text = serde_json::to_string(&emitter).unwrap();
    assert_eq!(serde_json::from_str::<Emitter>(&text).unwrap(), emitter);
    assert!(serde_json::from_str::<Cone>(r#"{"inner":0.5,"outer":0.4}"#).is_err());
    let strength = LightStrength::Lumens(Lumen(800.0));
    assert_eq!(serde_json::to_string(&strength).unwrap(), r#"{"lumens":800.0}"#);
    assert_eq!(strength.to_string(), "800 lm");
}

#[test]
fn impossible_lights_are_refused() {
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            PhysicalLight::new(Emitter::Point, LightStrength::Lumens(Lumen(bad))),
            Err(LightError::Strength { .. })
        ));
        let sphere = Emitter::Sphere { radius: bad };
        assert!(matches!(
            PhysicalLight::new(sphere, LightStrength::Lumens(Lumen(1.0))),
            Err(LightError::Length { what: "radius", .. })
        ));
    }
    let nan_ev = LightStrength::Ev(Ev100(f64::NAN));
    assert!(matches!(PhysicalLight::new(Emitter::SUN, nan_ev), Err(LightError::Ev(_))));
    for (inner, outer) in
        [(0.5, 0.4), (-0.1, 0.4), (0.0, 0.0), (0.1, 4.0), (f64::NAN, 1.0), (0.1, f64::NAN)]
    {
        assert!(matches!(Cone::new(inner, outer), Err(LightError::Cone { .. })));
    }
    let message =
        PhysicalLight::new(Emitter::Point, LightStrength::Nits(Nit(1.0))).unwrap_err().to_string();
    assert!(message.contains("point light") && message.contains("lumens or candela"), "{message}");
    assert!(PhysicalLight::new(Emitter::SUN, LightStrength::Lumens(Lumen(1.0))).is_err());
    assert!(
        PhysicalLight::new(Emitter::Sphere { radius: 0.1 }, LightStrength::Lux(Lux(1.0))).is_err()
    );
    let off =
        PhysicalLight::new(Emitter::Sphere { radius: 0.1 }, LightStrength::Nits(Nit(0.0))).unwrap();
    assert_eq!((off.lumens(), off.ev100()), (Some(Lumen(0.0)), None));
}

#[test]
fn the_horizon_leaves_a_segment_of_a_disk() {
    let radius = SUN_ANGULAR_RADIUS;
    let at = |radii: f64| {
        let (sin, cos) = (radii * radius).sin_cos();
        SunDisk::over_horizon(DVec3::new(0.0, sin, -cos), radius)
    };
    assert_eq!(at(1.5).visible_fraction, 1.0);
    assert_eq!(at(-1.0).visible_fraction, 0.0);
    // Half a disk: its centroid lies 4 / (3 pi) radii above the line.
    near(at(0.0).visible_fraction, 0.5, 1e-12);
    near(at(0.0).towards.y, 4.0 / (3.0 * PI) * radius, 1e-4);
    near(at(0.0).equal_radius(), radius * 0.5_f64.sqrt(), 1e-4);
    for radii in [-0.98, -0.7, -0.2, 0.3, 0.9] {
        // By strips.
        let (mut area, mut moment) = (0.0, 0.0);
        for i in 0..20_000 {
            let y = -1.0 + 2.0 * (f64::from(i) + 0.5) / 20_000.0;
            if y > -radii {
                let strip = 2.0 * (1.0 - y * y).sqrt() * 1e-4;
                area += strip;
                moment += strip * (y + radii);
            }
        }
        let disk = at(radii);
        // Strips are coarse for the thinnest segment.
        let bound = if radii < -0.9 { 2e-2 } else { 1e-3 };
        near(disk.visible_fraction, area / PI, bound);
        near(disk.towards.y.asin() / radius, moment / area, bound);
    }
}
