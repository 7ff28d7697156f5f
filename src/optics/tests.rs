//! Built-in lenses against their patents' numbers, and exact rays against matrices.
use glam::DVec3;

use super::{
    ghosts::reference_tracer::even_disc,
    glass::LINE_D,
    lens::{Axis, Lens},
    lens_settings::{LensSettings, LensSettingsError},
    library::NAMES,
    paraxial::{RayTransferMatrix, ReflectionPair},
    prescription::{ElementKind, Focusing, Prescription, PrescriptionError},
    thin_lens::{Iris, ThinLens},
    trace::{Blocked, Losses, Ray},
};
use crate::testing::near;

fn prescription(name: &str) -> Prescription {
    Prescription::builtin(name).unwrap().unwrap()
}

fn lens(name: &str, dials: &LensSettings) -> Lens {
    Lens::new(&prescription(name), dials).unwrap()
}

fn open(name: &str) -> Lens {
    lens(name, &LensSettings::default())
}

type Known = (&'static str, Option<f64>, f64, f64, f64, usize);

/// Focal length, back focus (mm), f-number of the open stop, and number of reflection pairs:
/// computed independently of this program from the same tables.
const KNOWN: &[Known] = &[
    ("angenieux-100-f1.1", None, 99.9397, 55.9771, 1.139, 91),
    ("biotar-100-f1.4", None, 99.9135, 65.3287, 1.437, 45),
    ("canon-35-f1.8", None, 35.028, 24.2585, 1.863, 55),
    ("cooke-opic-25.4-f2", None, 25.9588, 19.6578, 2.039, 45),
    ("cooke-triplet-50-f5", None, 50.0213, 42.4364, 5.143, 15),
    ("dgauss-50-f2", None, 50.3582, 36.1059, 2.03, 45),
    ("fisheye-10", None, 9.9914, 23.1605, 3.947, 55),
    ("flektagon-100", None, 100.2003, 99.9216, 2.701, 66),
    ("kodak-petzval-100-f2.2", None, 99.9712, 56.4963, 2.142, 21),
    ("nikon-28-75-f2.8-wide", None, 28.8999, 39.682, 2.8, 351),
    ("nikon-51.6-f1.25", None, 53.3487, 40.0842, 1.16, 120),
    ("nikon-retrofocus-100-f2.8", None, 100.0591, 130.8485, 2.636, 91),
    ("canon-70-200-f2.8", Some(0.2), 193.9097, 52.4209, 2.403, 528),
    ("canon-70-200-f2.8", Some(0.07), 72.1183, 52.4461, 2.403, 528),
    ("heliar-100-f3.5", None, 99.2358, 81.3151, 3.43, 28),
    ("itoh-zoom-100-f2.8", None, 99.918, 149.4577, 3.454, 153),
    ("kreitzer-tele-400-f2.8", None, 400.9275, 76.1486, 3.112, 66),
    ("primoplan-100-f1.5", None, 99.9123, 51.6217, 1.272, 36),
    ("schneider-anamorphic-31", None, 60.5546, 43.3545, 1.829, 153),
    ("takumar-100-f1.25", None, 100.0053, 63.4361, 1.231, 78),
    ("tele-250-f5.6", None, 249.5666, 105.0704, 5.423, 15),
    ("wide-22", None, 22.0235, 14.3183, 2.684, 66),
];

#[test]
fn lenses_are_what_their_patents_say() {
    for name in NAMES {
        assert!(KNOWN.iter().any(|known| known.0 == *name), "{name} has no known numbers");
    }
    for &(name, focal_length, efl, bfd, f_number, ghosts) in KNOWN {
        let lens = lens(name, &LensSettings { focal_length, ..LensSettings::default() });
        let cardinal = lens.cardinal(Axis::Y, LINE_D);
        println!(
            "{name}: {:.4} {:.4} f/{:.3}",
            cardinal.focal_length * 1e3,
            cardinal.back_focus * 1e3,
            lens.f_number()
        );
        // One was computed for a focal length of 1 mm and rounded there.
        let rounded = if name == "canon-35-f1.8" { 35.0 * 6e-5 } else { 6e-5 };
        near(cardinal.focal_length * 1e3, efl, rounded);
        near(cardinal.back_focus * 1e3, bfd, rounded);
        let stop_only = cardinal.focal_length / (2.0 * cardinal.entrance.radius);
        near(stop_only, f_number, 1e-3);
        near(lens.f_number() * lens.pupil_fill(), stop_only, 1e-9);
        assert!(lens.pupil_fill() <= 1.0, "{name}");
        assert_eq!(lens.reflection_pairs().count(), ghosts, "{name}");
        near(lens.sensor() - lens.last(), cardinal.back_focus, 1e-12);
        // Two ways to the same number: the focal length, and the cone at the sensor.
        near(lens.working_f_number(Axis::Y, LINE_D), lens.f_number(), 1e-6 * f_number);
    }
    let level = open("schneider-anamorphic-31").cardinal(Axis::X, LINE_D);
    near(level.focal_length * 1e3, 31.4876, 1e-4);
}

/// Ghost matrices computed independently of this program: from the first vertex to the sensor, with
/// the d-line index, in mm. Also the fraction of light at normal incidence, with that index and the
/// coatings at 550 nm.
#[test]
fn ghosts_have_known_matrices() {
    for (name, first, second, a, b, part) in [
        ("dgauss-50-f2", 10, 9, -2.497_31, -56.2434, None),
        ("cooke-triplet-50-f5", 2, 1, -4.335_60, 29.3631, None),
        ("nikon-28-75-f2.8-wide", 13, 8, -2.351_107, -55.377_753, Some(0.000_523)),
        ("nikon-28-75-f2.8-wide", 2, 0, -0.734_849, 8.2129, Some(0.000_037)),
        ("nikon-28-75-f2.8-wide", 4, 3, -0.560_118, 17.427_026, Some(0.000_253)),
    ] {
        let lens = open(name);
        let bounces = ReflectionPair { first, second };
        // Coatings that have at the d line the effect of the table's at 550 nm.
        let mut scaled = prescription(name);
        for element in &mut scaled.elements {
            if let ElementKind::Refracting { coating: Some(film), .. } = &mut element.kind {
                film.wavelength *= LINE_D / 550e-9;
            }
        }
        let scaled = Lens::new(&scaled, &LensSettings::default()).unwrap();
        // There the sensor is at the table's position, here at the image.
        let stated = prescription(name).gaps(None).last().unwrap() - (lens.sensor() - lens.last());
        let m = lens.ghost_matrix(bounces, Axis::Y, LINE_D).then(RayTransferMatrix::step(stated));
        near(m.a, a, 2e-5 * a.abs());
        near(m.b * 1e3, b, 2e-5 * b.abs());
        if let Some(part) = part {
            near(scaled.ghost_transmittance(bounces, LINE_D), part, 6e-7);
        }
    }
}

/// Rays close to the axis follow the matrices on all paths, and axial rays stay on the axis.
#[test]
fn rays_near_the_axis_follow_the_matrices() {
    for name in
        ["cooke-triplet-50-f5", "dgauss-50-f2", "nikon-28-75-f2.8-wide", "schneider-anamorphic-31"]
    {
        let lens = open(name);
        for (axis, unit) in [(Axis::X, DVec3::X), (Axis::Y, DVec3::Y)] {
            let (y, u) = (1e-7, 1e-7);
            let ray = Ray { origin: unit * y, direction: (DVec3::Z + unit * u).normalize() };
            let check = |traced: Ray, matrix: RayTransferMatrix, what: &str| {
                let (height, slope) = matrix.apply(y, u);
                let at = traced.at_plane(lens.sensor());
                let got = DVec3::new(at.x, at.y, 0.0).dot(unit);
                let tolerance = 1e-6 * (matrix.a.abs() * y + matrix.b.abs() * u) + 1e-12;
                assert!((got - height).abs() <= tolerance, "{name} {what}: {got} is not {height}");
                let got = traced.direction.dot(unit) / traced.direction.z;
                let tolerance = 1e-6 * (matrix.c.abs() * y + matrix.d.abs() * u) + 1e-12;
                assert!((got - slope).abs() <= tolerance, "{name} {what}: {got} is not {slope}");
            };
            let direct = lens.trace_forward(ray, 550e-9, Losses::Counted).unwrap();
            let to_sensor = lens
                .matrix(axis, 550e-9)
                .then(RayTransferMatrix::step(lens.sensor() - lens.last()));
            check(direct.ray, to_sensor, "direct");
            assert!(direct.weight > 0.2 && direct.weight < 0.99, "{}", direct.weight);
            for bounces in lens.reflection_pairs() {
                let traced = lens.trace_ghost(bounces, ray, 550e-9).unwrap();
                check(
                    traced.ray,
                    lens.ghost_matrix(bounces, axis, 550e-9),
                    &format!("{bounces:?}"),
                );
                near(
                    traced.weight,
                    lens.ghost_transmittance(bounces, 550e-9),
                    1e-6 * traced.weight,
                );
            }
        }
    }
}

/// Light paths are reversible.
#[test]
fn rays_are_reversible() {
    for name in NAMES {
        let lens = open(name);
        let mut through = 0;
        for i in 0..200 {
            let t = f64::from(i) / 200.0;
            let (angle, radius) = (t * 40.0, 0.2 * lens.focal_length() / lens.f_number() * t);
            let slope = 0.1 * (t * 17.0).sin();
            let origin = DVec3::new(radius * angle.cos(), radius * angle.sin(), 0.0);
            let direction = DVec3::new(slope, 0.03, 1.0).normalize();
            let start = Ray { origin: origin - direction * 0.01, direction };
            let Ok(onward) = lens.trace_forward(start, 500e-9, Losses::Counted) else { continue };
            let turned = Ray {
                origin: onward.ray.origin + onward.ray.direction * 1e-3,
                direction: -onward.ray.direction,
            };
            let back = lens.trace_backward(turned, 500e-9, Losses::Counted).unwrap();
            near(back.ray.direction.dot(direction), -1.0, 1e-12);
            near((back.ray.at_plane(0.0) - start.at_plane(0.0)).length(), 0.0, 1e-12);
            near(back.weight, onward.weight, 1e-9);
            near(back.rim, onward.rim, 1e-9);
            through += 1;
        }
        assert!(through > 150, "{name}: {through}");
    }
}

type Skew = (&'static str, [f64; 4], Option<[f64; 4]>);

/// Skew rays far from the axis, as Optiland 0.6.3 (an independent optical design program) traces
/// them through the same tables at the d line. Lens; x and y (mm) in the first vertex' plane and
/// the first two direction cosines; the same on the table's sensor, or `None` if the ray misses a
/// surface or is totally reflected.
const RAYS: &[Skew] = &[
    (
        "dgauss-50-f2",
        [3.0, 2.0, 0.05, -0.03],
        Some([2.519003777587, -1.514348312972, -0.032543704569, -0.055862360009]),
    ),
    (
        "dgauss-50-f2",
        [-4.0, 5.0, -0.1, 0.08],
        Some([-5.087646497912, 4.07161953235, 0.023342335921, -0.054060578104]),
    ),
    (
        "dgauss-50-f2",
        [8.0, -6.0, 0.0, 0.15],
        Some([-0.001278744954, 7.62118990997, -0.157488638522, 0.196147668286]),
    ),
    (
        "dgauss-50-f2",
        [1.0, 0.0, 0.2, 0.1],
        Some([10.296280516786, 5.148677309428, 0.087872095018, 0.053652875992]),
    ),
    (
        "dgauss-50-f2",
        [0.5, -0.4, -0.15, 0.05],
        Some([-7.634870449156, 2.545267629669, -0.090000025921, 0.034587902231]),
    ),
    (
        "dgauss-50-f2",
        [2.0, 7.0, 0.02, -0.12],
        Some([1.010239310071, -6.084278537179, -0.029078539985, -0.201019759629]),
    ),
    (
        "nikon-28-75-f2.8-wide",
        [3.0, 2.0, 0.05, -0.03],
        Some([1.906784795533, -0.800191542512, -0.157608395856, -0.033503043845]),
    ),
    ("nikon-28-75-f2.8-wide", [-4.0, 5.0, -0.1, 0.08], None),
    (
        "nikon-28-75-f2.8-wide",
        [8.0, -6.0, 0.0, 0.15],
        Some([3.111838844584, 4.512051583748, -0.241582547258, 0.035338296914]),
    ),
    ("nikon-28-75-f2.8-wide", [1.0, 0.0, 0.2, 0.1], None),
    (
        "nikon-28-75-f2.8-wide",
        [0.5, -0.4, -0.15, 0.05],
        Some([-5.268407510822, 1.721633098339, 0.144710581069, -0.04064577875]),
    ),
    (
        "nikon-28-75-f2.8-wide",
        [2.0, 7.0, 0.02, -0.12],
        Some([0.687741403306, -3.385493921465, -0.092040405033, -0.099452741836]),
    ),
    (
        "wide-22",
        [3.0, 2.0, 0.05, -0.03],
        Some([1.107590299159, -0.659928275154, -0.120219371755, -0.099914054359]),
    ),
    ("wide-22", [-4.0, 5.0, -0.1, 0.08], None),
    ("wide-22", [8.0, -6.0, 0.0, 0.15], None),
    (
        "wide-22",
        [1.0, 0.0, 0.2, 0.1],
        Some([4.51748840568, 2.258099462087, 0.024496828776, 0.034381112232]),
    ),
    (
        "wide-22",
        [0.5, -0.4, -0.15, 0.05],
        Some([-3.336419026861, 1.112999573163, -0.069551065674, 0.033691903056]),
    ),
    ("wide-22", [2.0, 7.0, 0.02, -0.12], None),
    (
        "kreitzer-tele-400-f2.8",
        [3.0, 2.0, 0.05, -0.03],
        Some([20.503482944123, -12.294374149814, 0.124317642023, -0.083810521809]),
    ),
    (
        "kreitzer-tele-400-f2.8",
        [-4.0, 5.0, -0.1, 0.08],
        Some([-46.133845004433, 36.936194499408, -0.282879738392, 0.222580646295]),
    ),
    (
        "kreitzer-tele-400-f2.8",
        [8.0, -6.0, 0.0, 0.15],
        Some([0.214124781451, 73.763554111541, -0.014933405136, 0.459820491129]),
    ),
    ("kreitzer-tele-400-f2.8", [1.0, 0.0, 0.2, 0.1], None),
    (
        "kreitzer-tele-400-f2.8",
        [0.5, -0.4, -0.15, 0.05],
        Some([-76.81294532922, 25.595182940032, -0.465115536826, 0.155438867787]),
    ),
    (
        "kreitzer-tele-400-f2.8",
        [2.0, 7.0, 0.02, -0.12],
        Some([9.052540554874, -54.107277637986, 0.051959361782, -0.352539664916]),
    ),
    ("fisheye-10", [3.0, 2.0, 0.05, -0.03], None),
    ("fisheye-10", [-4.0, 5.0, -0.1, 0.08], None),
    ("fisheye-10", [8.0, -6.0, 0.0, 0.15], None),
    ("fisheye-10", [1.0, 0.0, 0.2, 0.1], None),
    (
        "fisheye-10",
        [0.5, -0.4, -0.15, 0.05],
        Some([-1.507851038311, 0.502052694663, 0.069409500261, 0.000101318602]),
    ),
    ("fisheye-10", [2.0, 7.0, 0.02, -0.12], None),
];

#[test]
fn skew_rays_are_those_of_another_program() {
    for &(name, [x, y, l, m], want) in RAYS {
        let lens = open(name);
        let direction = DVec3::new(l, m, (1.0 - l * l - m * m).sqrt());
        let ray = Ray { origin: DVec3::new(x, y, 0.0) * 1e-3, direction };
        let traced = lens.trace_forward(ray, LINE_D, Losses::Ignored);
        let Some([x, y, l, m]) = want else {
            assert!(traced.is_err(), "{name} {ray:?}: {traced:?}");
            continue;
        };
        let traced = traced.unwrap().ray;
        let sensor = lens.last() + prescription(name).gaps(None).last().unwrap();
        let at = traced.at_plane(sensor) * 1e3;
        // To a picometer on the sensor.
        near(at.x, x, 1e-9);
        near(at.y, y, 1e-9);
        near(traced.direction.x, l, 1e-10);
        near(traced.direction.y, m, 1e-10);
    }
}

/// Refraction by a sphere against its closed form: a ray that hits it at height h, parallel to the
/// axis, crosses the axis at the distance from Snell's law.
#[test]
fn one_surface_in_closed_form() {
    let text = r#"{"schema": "lens-prescription/1", "elements": [
        {"radius_mm": 20, "thickness_mm": 0, "ior": 1.5, "semi_aperture_mm": 19},
        {"radius_mm": 0, "thickness_mm": 1, "ior": 1.0, "semi_aperture_mm": 19},
        {"is_stop": true, "thickness_mm": 39, "semi_aperture_mm": 5}]}"#;
    let lens = Lens::new(&Prescription::parse(text).unwrap(), &LensSettings::default()).unwrap();
    near(lens.focal_length(), 0.04, 1e-12);
    let (r, h) = (0.02, 0.012_f64);
    let ray = Ray { origin: DVec3::new(0.0, h, -0.1), direction: DVec3::Z };
    let traced = lens.trace_forward(ray, LINE_D, Losses::Ignored).unwrap();
    let incidence = (h / r).asin();
    let within = incidence - (h / r / 1.5).asin();
    let slope = -(1.5 * within.sin()).asin().tan();
    near(traced.ray.direction.y / traced.ray.direction.z, slope, 1e-12);
    near(traced.weight, 1.0, 0.0);
    assert_eq!(traced.unblocked(), Err(Blocked::Iris));
    let beside = Ray { origin: DVec3::new(0.0, 0.021, -0.1), direction: DVec3::Z };
    assert_eq!(lens.trace_forward(beside, LINE_D, Losses::Ignored), Err(Blocked::Missed(0)));
}

/// Pupils: rays toward the center of the entrance pupil cross that of the stop, and leave from that
/// of the exit pupil.
#[test]
fn pupils_are_images_of_the_stop() {
    for name in NAMES {
        let lens = open(name);
        for (axis, unit) in [(Axis::X, DVec3::X), (Axis::Y, DVec3::Y)] {
            let cardinal = lens.cardinal(axis, LINE_D);
            let direction = (DVec3::Z + unit * 1e-6).normalize();
            let origin = DVec3::Z * cardinal.entrance.z - direction * 0.5;
            let traced =
                lens.trace_forward(Ray { origin, direction }, LINE_D, Losses::Ignored).unwrap();
            let along = DVec3::new(traced.iris[0].x, traced.iris[0].y, 0.0).dot(unit);
            near(along, 0.0, 1e-9);
            let leaves = traced.ray.at_plane(cardinal.exit.z);
            near(leaves.length(), 0.0, 1e-12 + 1e-13 * cardinal.exit.z.abs().min(1e4));
            // The rim of the entrance pupil is that of the stop.
            let origin = unit * (1e-4 * cardinal.entrance.radius) - DVec3::Z * 0.1;
            let traced = lens
                .trace_forward(Ray { origin, direction: DVec3::Z }, LINE_D, Losses::Ignored)
                .unwrap();
            near(traced.iris[0].length(), 1e-4, 1e-9);
        }
    }
}

#[test]
fn focus_moves_the_lens_or_its_group() {
    for name in NAMES {
        let at = |focus: f64| lens(name, &LensSettings { focus, ..LensSettings::default() });
        let far = at(f64::INFINITY);
        near((at(1e9).sensor() - far.sensor()) / far.focal_length(), 0.0, 1e-6);
        let distance = 20.0 * far.focal_length();
        let close = at(distance);
        // Two rays from the point in focus converge on the sensor.
        let pupil = close.entrance_pupil(Axis::Y, LINE_D);
        let point = DVec3::Z * (pupil.z - distance);
        let aimed = DVec3::new(0.0, 1e-4 * pupil.radius, pupil.z) - point;
        let ray = Ray { origin: point, direction: aimed.normalize() };
        let traced = close.trace_forward(ray, LINE_D, Losses::Ignored).unwrap();
        near(traced.ray.at_plane(close.sensor()).length() / (1e-4 * pupil.radius), 0.0, 1e-5);
        let moved = close.sensor() - close.last() > far.sensor() - far.last() + 1e-9;
        assert_eq!(moved, prescription(name).focusing() == Focusing::Unit, "{name}");
    }
    // A symmetric lens acts as a thin one: its image distance from the principal plane is Gauss's.
    let text = r#"{"schema": "lens-prescription/1", "elements": [
        {"is_stop": true, "thickness_mm": 0, "semi_aperture_mm": 5},
        {"radius_mm": 50, "thickness_mm": 0, "ior": 1.5, "semi_aperture_mm": 10},
        {"radius_mm": -50, "thickness_mm": 50, "ior": 1.0, "semi_aperture_mm": 10}]}"#;
    let thin = Prescription::parse(text).unwrap();
    for focus in [0.15, 0.5, 2.0, 30.0] {
        let lens =
            Lens::new(&thin, &LensSettings { focus, f_stop: Some(8.0), ..LensSettings::default() })
                .unwrap();
        let gauss = ThinLens::new(0.05, 8.0).unwrap();
        near(lens.sensor(), gauss.image_distance(focus).unwrap(), 1e-12);
        near(
            lens.working_f_number(Axis::Y, LINE_D),
            gauss.effective_f_number(focus).unwrap(),
            1e-9,
        );
    }
    for focus in [0.05, 0.0, -1.0, f64::NAN] {
        let error =
            Lens::new(&thin, &LensSettings { focus, ..LensSettings::default() }).unwrap_err();
        let LensSettingsError::Focus { nearest, .. } = error else { panic!("{error}") };
        // It moves by twice its focal length: from 75 mm away the image is 150 mm behind it.
        near(nearest, 0.075, 1e-4);
    }
}

#[test]
fn zooms_and_stops_are_set_within_their_range() {
    let zoom = prescription("canon-70-200-f2.8");
    assert_eq!(zoom.zoom_range(), Some([0.07, 0.2]));
    let at = |f: f64| {
        Lens::new(&zoom, &LensSettings { focal_length: Some(f), ..LensSettings::default() })
            .unwrap()
            .focal_length()
    };
    assert_eq!(at(0.01), at(0.07));
    assert_eq!(at(9.0), at(0.2));
    // Between two marks the focal length is the wanted one, as closely as at the marks.
    let marks: Vec<f64> = zoom.zooms().iter().map(|zoom| zoom.focal_length).collect();
    for pair in marks.windows(2) {
        for part in [0.1, 0.27, 0.5, 0.9] {
            let between = |a: f64, b: f64| a + part * (b - a);
            near(at(between(pair[0], pair[1])), between(at(pair[0]), at(pair[1])), 1e-7);
        }
    }
    let middle = at(0.135);
    assert!(middle > at(0.1) && middle < at(0.17), "{middle}");
    let stopped =
        lens("dgauss-50-f2", &LensSettings { f_stop: Some(8.0), ..LensSettings::default() });
    near(stopped.f_number(), 8.0, 0.0);
    let cardinal = stopped.cardinal(Axis::Y, LINE_D);
    near(cardinal.focal_length / (2.0 * cardinal.entrance.radius), 8.0, 1e-9);
    let wide = lens("dgauss-50-f2", &LensSettings { f_stop: Some(1.0), ..LensSettings::default() });
    near(wide.f_number(), 2.03, 1e-3);
    // The barrel is narrower than the open stop.
    near(Lens::new(&zoom, &LensSettings::default()).unwrap().f_number(), 2.8, 0.06);
    for bad in [0.0, -2.0, f64::NAN] {
        let dials = LensSettings { f_stop: Some(bad), ..LensSettings::default() };
        assert!(matches!(Lens::new(&zoom, &dials), Err(LensSettingsError::FStop(_))));
    }
    // Transmission by the shape of the blades.
    let iris = Iris { blades: 5, curvature: 0.0, rotation: 0.1 };
    let lens =
        lens("dgauss-50-f2", &LensSettings { f_stop: Some(8.0), iris, ..LensSettings::default() });
    let radius = lens.entrance_pupil(Axis::Y, LINE_D).radius;
    let n = 20_000;
    let open = (0..n).filter(|i| {
        let origin = (even_disc(*i, n) * radius).extend(-0.01);
        lens.trace_forward(Ray { origin, direction: DVec3::Z }, LINE_D, Losses::Ignored)
            .unwrap()
            .unblocked()
            .is_ok()
    });
    near(open.count() as f64 / f64::from(n), iris.relative_area(), 5e-3);
}

/// Blades hidden by a rim are invisible; if it hides their corners, the open area is that of random
/// rays.
#[test]
fn rims_hide_blades_of_open_lenses() {
    let seen = |name: &str, f_stop: Option<f64>, iris: Iris| {
        let lens = lens(name, &LensSettings { f_stop, iris, ..LensSettings::default() });
        (lens.apparent_iris(), lens)
    };
    let five = Iris { blades: 5, curvature: 0.0, rotation: 0.4 };
    assert_eq!(seen("kreitzer-tele-400-f2.8", None, five).0, Iris::default());
    assert_eq!(seen("kreitzer-tele-400-f2.8", Some(11.0), five).0, five);
    assert_eq!(seen("angenieux-100-f1.1", None, five).0, five);
    let (found, lens) = seen("canon-70-200-f2.8", None, five);
    assert_eq!((found.blades, found.rotation), (5, 0.4));
    assert!(found.curvature > 0.1 && found.curvature < 0.9, "{found:?}");
    // Axial rays, relative to those within the rim's circle.
    let radius = 0.5 * lens.focal_length() / lens.f_number();
    let open = (0..20_000).filter(|i| {
        let ray =
            Ray { origin: (even_disc(*i, 20_000) * radius).extend(-1.0), direction: DVec3::Z };
        lens.trace_forward(ray, LINE_D, Losses::Ignored)
            .is_ok_and(|traced| traced.unblocked().is_ok())
    });
    near(open.count() as f64 / 2e4, found.relative_area(), 0.01);
}

#[test]
fn numbers_rounded_in_their_last_digit_count_as_what_they_round() {
    let good = include_str!("../../assets/lenses/cooke-triplet-50-f5.json");
    let plain = Prescription::parse(good).unwrap();
    assert!(plain.notes().is_empty());
    // A ball of radius 0.8146 with a half of rim 0.82.
    let ball = |rim: &str| {
        format!(
            "{{\"schema\": \"lens-prescription/1\", \"elements\": [
              {{\"is_stop\": true, \"thickness_mm\": 0, \"semi_aperture_mm\": 0.1}},
              {{\"radius_mm\": 0.8146, \"thickness_mm\": 1.6292, \"ior\": 1.5, \"semi_aperture_mm\": {rim}}},
              {{\"radius_mm\": -0.8146, \"thickness_mm\": 0.4073, \"ior\": 1, \"semi_aperture_mm\": 0.8}}]}}"
        )
    };
    let rounded = Prescription::parse(&ball("0.82")).unwrap();
    let rim = rounded.elements()[1].semi_aperture;
    assert!((rim - 0.8146e-3).abs() < 1e-11 && rim < 0.8146e-3, "{rim}");
    assert!(
        rounded.notes()[0].contains("element 1: semi_aperture_mm 0.82 counts as 0.8146"),
        "{:?}",
        rounded.notes()
    );
    assert!(Prescription::parse(&ball("0.8146")).unwrap().notes().is_empty());
    assert_eq!(Prescription::parse(&ball("0.8308")).unwrap().notes().len(), 1, "1.99 %");
    assert!(element(&refused(&ball("0.8310")), 1, "semi_aperture_mm", "0.831"), "2.01 %");
    // Focal length of a ball: R n / (2 (n - 1)).
    let lens = Lens::new(&rounded, &LensSettings::default()).unwrap();
    assert!(
        (lens.focal_length() / (0.8146e-3 * 1.5) - 1.0).abs() < 1e-9,
        "{}",
        lens.focal_length()
    );
    for (from, to, says) in [
        ("\"ior\": 1.0, ", "\"ior\": 0.99971, ", "counts as 1"),
        (
            "\"is_stop\": true,",
            "\"is_stop\": true, \"ior\": 1.0003,",
            "the stop's ior 1.0003 counts as 1",
        ),
    ] {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        let lens = Prescription::parse(&text).unwrap();
        assert!(lens.notes()[0].contains(says), "{:?}", lens.notes());
        assert_eq!(lens.elements(), plain.elements());
    }
    let (head, tail) = good.rsplit_once("\"ior\": 1.0").unwrap();
    let aired = Prescription::parse(&format!("{head}\"ior\": 1.00028{tail}")).unwrap();
    assert_eq!((aired.elements(), aired.notes().len()), (plain.elements(), 1));
}

fn refused(text: &str) -> PrescriptionError {
    Prescription::parse(text).expect_err(text)
}

/// True if this element's value, which begins so, is refused.
fn element(error: &PrescriptionError, index: usize, name: &str, begins: &str) -> bool {
    matches!(error, PrescriptionError::Element { element, what, value, .. }
        if *element == index && *what == name && value.starts_with(begins))
}

#[test]
fn bad_prescriptions_are_refused_with_the_element() {
    let good = include_str!("../../assets/lenses/cooke-triplet-50-f5.json");
    assert!(Prescription::parse(good).is_ok());
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        refused(&good.replacen(from, to, 1))
    };
    let stop = r#"{"is_stop": true"#;
    let gap = r#""thickness_mm": 6.00755"#;
    for (from, to, index, name, begins) in [
        (gap, r#""thickness_mm": -6.00755"#, 1, "thickness_mm", "-6.00755"),
        (gap, r#""thickness_mm": 1e300"#, 1, "thickness_mm", "1e+300"),
        (r#""radius_mm": -22.21328"#, r#""radius_mm": "NaN""#, 2, "radius_mm", ""),
        (r#""radius_mm": -22.21328"#, r#""radius_mm": 1e300"#, 2, "radius_mm", ""),
        (r#""ior": 1.62004"#, r#""ior": 0.5"#, 2, "ior", "0.5"),
        (r#""ior": 1.62004, "#, "", 2, "ior", "missing"),
        (r#"42.20778, "ior": 1.0"#, r#"42.20778, "ior": 1.5"#, 6, "ior", "1.5"),
        (r#""abbe": 36.37"#, r#""abbe": 0"#, 2, "abbe", "0"),
        (r#""semi_aperture_mm": 4.2"#, r#""semi_aperture_mm": 0"#, 2, "semi_aperture_mm", "0"),
        (r#""semi_aperture_mm": 4.2"#, r#""semi_aperture_mm": 30"#, 2, "semi_aperture_mm", "30"),
        (r#""is_stop": true"#, r#""is_stop": 1"#, 4, "is_stop", "1"),
        // Values without effect.
        (stop, r#"{"is_stop": true, "radius_mm": 10"#, 4, "radius_mm", "10"),
        (stop, r#"{"is_stop": true, "surface": "sphere""#, 4, "surface", "\"sphere\""),
        (stop, r#"{"is_stop": true, "coating_nm": 550"#, 4, "coating_nm", "550"),
        // A film of negative thickness; implausible openings.
        (
            gap,
            r#""thickness_mm": 6.00755, "coating_nm": 400, "coating_offset_nm": -80"#,
            1,
            "coating_offset_nm",
            "-80",
        ),
        (
            r#""semi_aperture_mm": 3.7"#,
            r#""semi_aperture_mm": 1e-3"#,
            4,
            "semi_aperture_mm",
            "so small",
        ),
        (
            r#""semi_aperture_mm": 5.2"#,
            r#""semi_aperture_mm": 1e-3"#,
            1,
            "semi_aperture_mm",
            "so small",
        ),
    ] {
        let error = changed(from, to);
        assert!(element(&error, index, name, begins), "{to}: {error}");
    }
    for (from, to, name) in [
        (r#""units": "mm""#, r#""units": "inch""#, "units"),
        ("lens-prescription/1", "lens-prescription/9", "schema"),
        (r#""f_number": 5.0"#, r#""f_number": 0"#, "f_number"),
        (r#""f_number": 5.0"#, r#""focus_group": [5, 2]"#, "focus_group"),
        (r#""f_number": 5.0"#, r#""focus_group": [2, 99]"#, "focus_group"),
        (r#""f_number": 5.0"#, r#""zoom": []"#, "zoom"),
        (
            r#""f_number": 5.0"#,
            r#""zoom": [{"focal_length_mm": 50, "thickness_mm": {"77": 1}}]"#,
            "zoom",
        ),
    ] {
        let error = changed(from, to);
        let named = matches!(&error, PrescriptionError::Value { what, .. } if what.contains(name));
        assert!(named, "{to}: {error}");
    }
    // Unknown and repeated keys.
    for (from, to, name) in [
        (r#""semi_aperture_mm": 4.2"#, r#""semi_apperture_mm": 4.2"#, "element 2: \"semi_app"),
        (gap, r#""thickness_mm": -1, "thickness_mm": 6.00755"#, "thickness_mm"),
        (r#""units": "mm""#, r#""name": 5"#, "name"),
        (r#""f_number": 5.0"#, r#""source": """#, "source"),
    ] {
        let error = changed(from, to);
        let named = matches!(&error, PrescriptionError::Text(text) if text.contains(name));
        assert!(named, "{to}: {error}");
    }
    let whole_stop = r#"{"is_stop": true, "thickness_mm": 4.75041, "semi_aperture_mm": 3.7},"#;
    assert_eq!(changed(whole_stop, ""), PrescriptionError::Stops(vec![]));
    let second = r#"{"is_stop": true, "thickness_mm": 0, "semi_aperture_mm": 4}, {"is_stop""#;
    assert_eq!(changed(r#"{"is_stop""#, second), PrescriptionError::Stops(vec![4, 5]));
    // A lens of negative power, and one with its focus inside.
    let diverging = changed(r#""radius_mm": -18.39533"#, r#""radius_mm": 18.39533"#);
    assert!(matches!(diverging, PrescriptionError::NoFocus(_, 6)), "{diverging}");
    for (from, to, length) in [
        (r#""thickness_mm": 42.20778"#, r#""thickness_mm": 52.20778"#, "the distance"),
        (r#""thickness_mm": 3.25896"#, r#""thickness_mm": 0"#, "the distance"),
        (r#""focal_length_mm": 50"#, r#""focal_length_mm": 60"#, "the focal length"),
    ] {
        let error = changed(from, to);
        let named = matches!(&error, PrescriptionError::Contradiction { what, .. } if what.starts_with(length));
        assert!(named, "{to}: {error}");
    }
    for text in
        ["", "{", "[]", "nul", "{\"schema\": \"lens-prescription/1\"}", "{\"elements\": []}"]
    {
        refused(text);
    }
    refused(&format!(
        "{{\"schema\": \"lens-prescription/1\", \"elements\": [{}]}}",
        vec!["1"; 500].join(",")
    ));
    refused(&"[".repeat(100_000));
    let nested = format!("{}1{}", "{\"notes\": ".repeat(5000), "}".repeat(5000));
    assert!(matches!(refused(&nested), PrescriptionError::Text(_)));
    // Planes alone leave parallel light parallel.
    let plane = "{\"radius_mm\": 0, \"thickness_mm\": 1, \"ior\": 1, \"semi_aperture_mm\": 5}";
    let stop = "{\"is_stop\": true, \"thickness_mm\": 1, \"semi_aperture_mm\": 5}";
    let flat = format!("{{\"schema\": \"lens-prescription/1\", \"elements\": [{plane}, {stop}]}}");
    assert!(matches!(refused(&flat), PrescriptionError::NoFocus(..)), "{}", refused(&flat));
    let unnamed = good.replacen("\"name\": \"", "\"name\": 5, \"notes\": \"", 1);
    let named = refused(&unnamed);
    assert!(
        matches!(&named, PrescriptionError::Value { what, value, .. } if what.contains("name") && value == "5"),
        "{named}"
    );
}

/// Terminals display names: control characters that move the cursor or set colors are stripped.
/// Some editors start files with a byte order mark.
#[test]
fn names_are_plain_and_marks_are_skipped() {
    let good = include_str!("../../assets/lenses/cooke-triplet-50-f5.json");
    let name = "\"name\": \"one\\u001b[31m\\ntwo";
    let read = Prescription::parse(&format!("\u{feff}{}", good.replacen("\"name\": \"", name, 1)))
        .unwrap();
    assert!(read.name().starts_with("one [31m two"), "{:?}", read.name());
    let long = good.replacen("\"name\": \"", &format!("\"name\": \"{}", "x".repeat(500_000)), 1);
    assert_eq!(Prescription::parse(&long).unwrap().name().len(), 1000);
}

/// Any single changed byte gives an error or a lens with finite numbers.
#[test]
fn damaged_text_is_refused_or_harmless() {
    let good = include_str!("../../assets/lenses/cooke-triplet-50-f5.json").as_bytes();
    let mut taken = 0;
    for i in 0..good.len() {
        for byte in [b'0', b'9', b'-', b'"', b'}'] {
            let mut bytes = good.to_vec();
            bytes[i] = byte;
            let Ok(prescription) = Prescription::parse(&String::from_utf8_lossy(&bytes)) else {
                continue;
            };
            let lens = Lens::new(&prescription, &LensSettings::default()).unwrap();
            let cardinal = lens.cardinal(Axis::Y, LINE_D);
            assert!(
                cardinal.focal_length.is_finite()
                    && cardinal.exit.radius.is_finite()
                    && lens.sensor().is_finite()
            );
            taken += 1;
        }
    }
    assert!(taken > 100, "{taken}");
}
