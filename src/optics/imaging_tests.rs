//! Image geometry and brightness against closed forms and ray bundles.
use glam::{DVec2, DVec3, dvec2};

use super::{
    glass::LINE_D,
    imaging::{LensImaging, NODES, cone, fields_of_view, spot, tangents},
    lens::{Axis, Lens},
    lens_settings::LensSettings,
    library::NAMES,
    mounted_lens::{LensAberrations, MountedLens},
    prescription::Prescription,
    thin_lens::{Iris, ThinLens},
    trace::{Losses, Ray},
};
use crate::testing::near;

fn lens(name: &str, dials: &LensSettings) -> Lens {
    Lens::new(&Prescription::builtin(name).unwrap().unwrap(), dials).unwrap()
}

/// A thin lens of 50 mm with its stop inside, curved so weakly that its aberrations are small.
fn thin(dials: &LensSettings) -> Lens {
    let text = r#"{"schema": "lens-prescription/1", "elements": [
        {"is_stop": true, "thickness_mm": 0, "semi_aperture_mm": 5},
        {"radius_mm": 300, "thickness_mm": 0, "ior": 4.0, "semi_aperture_mm": 60},
        {"radius_mm": -300, "thickness_mm": 50, "ior": 1.0, "semi_aperture_mm": 60}]}"#;
    Lens::new(&Prescription::parse(text).unwrap(), dials).unwrap()
}

#[test]
fn a_thin_lens_is_a_pinhole_with_the_cosine_to_the_fourth() {
    let f_stop = Some(32.0);
    for focus in [f64::INFINITY, 2.0, 0.5] {
        let lens = thin(&LensSettings { focus, f_stop, ..LensSettings::default() });
        let ideal = ThinLens::new(0.05, 32.0).unwrap();
        let equivalent = lens.equivalent_thin_lens(focus).unwrap();
        near(equivalent.focal_length(), 0.05, 1e-9);
        near(equivalent.f_stop(), 32.0, 1e-9 * 32.0);
        let v = ideal.image_distance(focus).unwrap();
        for place in [dvec2(0.0, 0.001), dvec2(0.003, -0.004), dvec2(-0.01, 0.005)] {
            let seen = tangents(&lens.chief_ray(place, LINE_D).unwrap()).unwrap();
            near((seen - place / v).length(), 0.0, 1e-9);
            let ratio = lens.illuminance(place, LINE_D, Losses::Ignored)
                / lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
            near(ratio, (1.0 + (place / v).length_squared()).powi(-2), 3e-3);
        }
        near(lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored) / cone(&lens), 1.0, 3e-3);
        let [level, upright, diagonal] = fields_of_view(&lens, [0.036, 0.024]).map(Option::unwrap);
        near(level, ideal.field_of_view(0.036, focus).unwrap(), 1e-6);
        near(upright, ideal.field_of_view(0.024, focus).unwrap(), 1e-6);
        near(diagonal, ideal.field_of_view(0.036_f64.hypot(0.024), focus).unwrap(), 1e-6);
    }
}

/// Real lenses: the f-number predicts the center's brightness, and the pupil shrinks with the stop.
#[test]
fn the_middle_is_as_bright_as_the_f_number_says() {
    for name in NAMES {
        for f_stop in [None, Some(8.0), Some(32.0)] {
            let lens = lens(name, &LensSettings { f_stop, ..LensSettings::default() });
            let got = lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
            let anamorphic = *name == "schneider-anamorphic-31";
            // Fully open, rims of some lenses cut the stop's cone, and aberrations of others widen
            // it.
            let tolerance = f_stop.map_or(0.12, |n| if n < 20.0 { 0.03 } else { 0.02 });
            println!("{name} {f_stop:?}: {:.4}", got / cone(&lens));
            if !anamorphic {
                near(got / cone(&lens), 1.0, tolerance);
            }
            let kept = lens.illuminance(DVec2::ZERO, LINE_D, Losses::Counted) / got;
            assert!(kept > 0.2 && kept < 0.96, "{name}: {kept}");
        }
    }
}

/// The integral over the pupil against random rays over the whole glass.
#[test]
fn the_pupil_is_measured_as_by_random_rays() {
    for (name, place) in [
        ("dgauss-50-f2", dvec2(0.012, 0.005)),
        ("nikon-28-75-f2.8-wide", dvec2(0.016, 0.010)),
        ("canon-70-200-f2.8", dvec2(-0.015, 0.011)),
        ("schneider-anamorphic-31", dvec2(0.006, 0.004)),
        ("fisheye-10", dvec2(0.008, 0.006)),
    ] {
        let lens = lens(name, &LensSettings::default());
        let want = lens.reference_illuminance(place, LINE_D, Losses::Ignored, 60_000);
        let got = lens.illuminance(place, LINE_D, Losses::Ignored);
        near(got / want, 1.0, 0.015);
    }
}

/// Chief rays pass the stop's center, and light along them from the scene arrives where they
/// started.
#[test]
fn chief_rays_come_back() {
    for name in NAMES {
        let lens = lens(name, &LensSettings::default());
        let mut found = 0;
        for place in
            [dvec2(0.001, 0.0), dvec2(0.005, 0.003), dvec2(-0.002, -0.009), dvec2(0.012, 0.008)]
        {
            let Some(ray) = lens.chief_ray(place, LINE_D) else { continue };
            let start =
                Ray { origin: ray.origin + ray.direction * 0.05, direction: -ray.direction };
            let traced = lens.trace_forward(start, LINE_D, Losses::Ignored).unwrap();
            near((traced.ray.at_plane(lens.sensor()) + place).length(), 0.0, 1e-10);
            near(traced.iris[0].length(), 0.0, 1e-8);
            found += 1;
        }
        assert!(found >= 3, "{name}: {found}");
    }
}

/// Circles of confusion of the equivalent thin lens, against rays from points in front of and
/// behind the focus.
#[test]
fn the_equivalent_lens_blurs_as_the_real_one() {
    for name in [
        "dgauss-50-f2",
        "nikon-28-75-f2.8-wide",
        "canon-70-200-f2.8",
        "kreitzer-tele-400-f2.8",
        "wide-22",
    ] {
        // Stopped down until aberrations are negligible.
        let focus = 12.0;
        let lens =
            lens(name, &LensSettings { focus, f_stop: Some(64.0), ..LensSettings::default() });
        let thin = lens.equivalent_thin_lens(focus).unwrap();
        let pupil = lens.entrance_pupil(Axis::Y, LINE_D);
        for distance in [5.0, 8.0, 30.0, 1000.0] {
            let point = DVec3::Z * (pupil.z - distance);
            let rim = DVec3::new(0.0, pupil.radius * 1e-2, pupil.z) - point;
            let ray = Ray { origin: point + rim * 0.5, direction: rim.normalize() };
            let at = lens
                .trace_forward(ray, LINE_D, Losses::Ignored)
                .unwrap()
                .ray
                .at_plane(lens.sensor());
            let want =
                super::focus::circle_of_confusion(thin, focus, distance).unwrap() / 2.0 * 1e-2;
            near(at.y.abs() / want.abs(), 1.0, 1e-4);
        }
    }
}

#[test]
fn the_grid_is_what_rays_say() {
    for (name, focus) in [
        ("nikon-28-75-f2.8-wide", f64::INFINITY),
        ("schneider-anamorphic-31", 5.0),
        ("wide-22", 1.0),
    ] {
        let lens = lens(name, &LensSettings { focus, ..LensSettings::default() });
        let v = lens.equivalent_thin_lens(focus).unwrap().image_distance(focus).unwrap();
        let size = [0.020, 0.0125];
        let imaging = LensImaging::new(&lens, size, v);
        assert_eq!(imaging.nodes().len(), NODES * NODES);
        for place in [
            dvec2(0.0031, 0.0017),
            dvec2(-0.0093, 0.0044),
            dvec2(0.0049, -0.0061),
            dvec2(-0.0001, 0.0002),
        ] {
            for (channel, wavelength) in super::imaging::CHANNELS.into_iter().enumerate() {
                let seen = tangents(&lens.chief_ray(place, wavelength).unwrap()).unwrap();
                let got = imaging.direction(place, channel);
                // A tenth of a pixel at an image width of 2000 pixels.
                near((got - seen).length() * v / size[0] * 2000.0, 0.0, 0.1);
            }
            let light = lens.illuminance(place, LINE_D, Losses::Ignored)
                / lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
            near(imaging.at(place).relative_illumination, light, 0.02);
        }
        near((imaging.at(DVec2::ZERO).relative_illumination - 1.0).abs(), 0.0, 1e-9);
        let corner = DVec2::from(size) / 2.0;
        assert!(imaging.direction(corner, 1).cmple(imaging.reach() + 1e-12).all());
    }
}

/// Stopped down, a lens is diffraction limited; the spot shrinks with the aperture.
#[test]
fn spots_fall_with_the_aperture() {
    for name in ["dgauss-50-f2", "canon-70-200-f2.8", "tele-250-f5.6"] {
        let at = |f_stop: f64| {
            let lens =
                lens(name, &LensSettings { f_stop: Some(f_stop), ..LensSettings::default() });
            spot(&lens, DVec2::ZERO, f64::INFINITY, LINE_D).unwrap()
        };
        assert!(
            at(16.0) < 0.1 * at(1.0) && at(16.0) < 1.22 * 550e-9 * 16.0,
            "{name}: {} {}",
            at(1.0),
            at(16.0)
        );
    }
    // A position that the barrel blocks has no spot.
    assert_eq!(
        spot(
            &lens("fisheye-10", &LensSettings::default()),
            dvec2(0.018, 0.012),
            f64::INFINITY,
            LINE_D
        ),
        None
    );
    assert_eq!(
        lens("fisheye-10", &LensSettings::default()).illuminance(
            dvec2(0.018, 0.012),
            LINE_D,
            Losses::Ignored
        ),
        0.0
    );
}

/// Rays through the pupil of a mounted lens: their mean direction is that of the chief ray, also
/// without breathing. Their light is that of the pupil with blades in any orientation.
#[test]
fn mounted_rays_see_what_the_chief_ray_sees() {
    let prescription = Prescription::builtin("dgauss-50-f2").unwrap().unwrap();
    let aberrations = LensAberrations { distortion: true, colors: false, vignetting: true };
    for (breathing, blades) in [(true, 0), (false, 0), (true, 3)] {
        let iris = Iris { blades, ..Iris::default() };
        let dials = LensSettings { focus: 1.0, f_stop: Some(8.0), iris, ..LensSettings::default() };
        let mounted =
            MountedLens::new(&prescription, &dials, [0.036, 0.024], aberrations, breathing)
                .unwrap();
        for place in
            [dvec2(-0.008, 0.0), dvec2(0.0, 0.006), dvec2(0.0, -0.006), dvec2(0.006, 0.004)]
        {
            let (mut sum, mut light, n) = (DVec2::ZERO, 0.0, 120);
            for i in 0..n * n {
                let u = (dvec2(f64::from(i % n), f64::from(i / n)) + 0.5) / f64::from(n);
                let ray = mounted.ray(place, u, None);
                if ray.weight.y > 0.0 {
                    // Intersection with the plane in focus.
                    let at = ray.origin + ray.direction * (-(1.0 + ray.origin.z) / ray.direction.z);
                    sum += at.truncate() * ray.weight.y;
                    light += ray.weight.y;
                }
            }
            let chief = mounted.chief_ray(place, None);
            let want = chief.direction.truncate() / -chief.direction.z;
            // One of 2000 pixels is 0.0004.
            near((sum / light - want).length(), 0.0, if blades == 3 { 1.5e-3 } else { 6e-4 });
            let lens = mounted.lens();
            let open = lens.illuminance(
                place * (if breathing { 1.0 } else { 0.9532 }),
                LINE_D,
                Losses::Ignored,
            );
            let middle = lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
            near(light / f64::from(n * n) / (open / middle), 1.0, 0.015);
        }
    }
}
