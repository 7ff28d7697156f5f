//! Ghost meshes against counted rays, and matrices against independently computed values.

use std::{fs, path::Path};

use glam::{DVec2, DVec3};
use serde_json::Value;
use sunny16::{
    optics::Iris,
    optics::{
        Axis, Lens, LensSettings, Prescription, ReflectionPair,
        ghosts::{GhostMethod, ParaxialGhost},
        glass::LINE_D,
        paraxial::RayTransferMatrix,
        trace::Losses,
    },
};

use crate::common::ghost_meshes::{
    Beam, GhostMeshes as _, GhostSpot, GhostSurvey as _, ParaxialTracing as _,
    ReferenceGhosts as _, SensorFilm,
};

const GREEN: f64 = 550e-9;

fn prescription(name: &str) -> Prescription {
    Prescription::builtin(name).unwrap().unwrap()
}

fn lens(name: &str, f_stop: Option<f64>) -> Lens {
    Lens::new(&prescription(name), &LensSettings { f_stop, ..LensSettings::default() }).unwrap()
}

/// A lens that behaves at the d line as the external tables' lens at 550 nm: shifted coatings, and
/// the sensor at the table's position.
fn as_tabled(name: &str) -> Lens {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/lenses/{name}.json"));
    let mut json: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    for element in json["elements"].as_array_mut().unwrap() {
        if let Some(nanometers) = element.get("coating_nm").and_then(Value::as_f64) {
            element["coating_nm"] = (nanometers * LINE_D / GREEN).into();
        }
    }
    let shifted = Prescription::parse(&json.to_string()).unwrap();
    let lens = Lens::new(&shifted, &LensSettings::default()).unwrap();
    let stated = shifted.gaps(None).last().unwrap() - (lens.sensor() - lens.last());
    lens.defocused(stated)
}

fn beam(degrees: f64, azimuth: f64) -> Beam {
    Beam::from_angles(degrees.to_radians(), azimuth.to_radians(), 0.0).unwrap()
}

fn near(got: f64, want: f64, tolerance: f64, what: &str) {
    assert!((got - want).abs() <= tolerance, "{what}: {got} is not {want} within {tolerance}");
}

#[test]
fn a_lens_of_27_surfaces_has_351_ghosts() {
    let lens = lens("nikon-28-75-f2.8-wide", None);
    let fast: Vec<ParaxialGhost> =
        lens.reflection_pairs().map(|bounces| lens.paraxial_ghost(bounces, GREEN)).collect();
    assert_eq!(fast.len(), 351);
    // From 14 surfaces in front of the iris and 13 behind it.
    assert_eq!(fast.iter().filter(|ghost| ghost.same_side()).count(), 91 + 78);
    for ghost in &fast {
        let crossings = ghost.crossings.iter().filter(|crossing| crossing.stop).count();
        assert_eq!(crossings, if ghost.same_side() { 1 } else { 3 }, "{:?}", ghost.bounces);
        for (matrix, axis) in ghost.matrices.iter().zip([Axis::X, Axis::Y]) {
            let want = lens.ghost_matrix(ghost.bounces, axis, GREEN);
            near(matrix.a, want.a, 1e-12 * want.a.abs(), "a");
            near(matrix.b, want.b, 1e-12 * want.b.abs(), "b");
        }
        for (crossing, (surface, matrix)) in ghost
            .crossings
            .iter()
            .zip(lens.ghost_crossings(ghost.bounces, Axis::Y, GREEN))
            .step_by(7)
        {
            assert_eq!(crossing.surface, surface);
            near(crossing.height.y, matrix.a, 1e-9 * matrix.a.abs(), "crossing");
        }
    }
}

/// Entrance radius, light and illuminance on the axis, computed independently of this program.
#[test]
fn known_ghosts_on_the_axis() {
    for (name, first, second, part, radius) in [
        ("cooke-triplet-50-f5", 6, 5, 0.002_223, 4.862_595),
        ("cooke-triplet-50-f5", 2, 1, 0.002_221, 4.143_947),
        ("dgauss-50-f2", 10, 9, 0.002_861, 12.143_708),
        ("dgauss-50-f2", 8, 4, 0.002_171, 12.143_708),
        ("nikon-28-75-f2.8-wide", 13, 8, 0.000_523, 6.799_153),
        ("nikon-28-75-f2.8-wide", 2, 0, 0.000_037, 24.043_426),
        ("takumar-100-f1.25", 10, 9, 0.002_314, 37.356_377),
    ] {
        let ghost = as_tabled(name).paraxial_ghost(ReflectionPair { first, second }, LINE_D);
        near(ghost.part, part, 6e-7, name);
        near(ghost.entering_radius() * 1e3, radius, 2e-4 * radius, name);
    }
}

/// Published numbers of the 27-surface zoom: how many ghosts matter.
#[test]
fn few_ghosts_have_most_of_the_light() {
    let lens = as_tabled("nikon-28-75-f2.8-wide");
    let fast = lens.reflection_pairs().map(|bounces| lens.paraxial_ghost(bounces, LINE_D));
    let (mut bright, mut light): (Vec<f64>, Vec<f64>) = fast
        .map(|ghost| {
            (ghost.part / ghost.matrices[1].a.powi(2), ghost.part * ghost.entering_radius().powi(2))
        })
        .unzip();
    bright.sort_by(|a, b| b.total_cmp(a));
    light.sort_by(|a, b| b.total_cmp(a));
    let above = |part: f64| bright.iter().filter(|value| **value >= part * bright[0]).count();
    assert_eq!((above(0.01), above(0.001)), (15, 67));
    let all: f64 = light.iter().sum();
    let within = |part: f64| {
        let mut sum = 0.0;
        1 + light
            .iter()
            .position(|value| {
                sum += value;
                sum >= part * all
            })
            .unwrap()
    };
    assert_eq!((within(0.99), within(0.999)), (202, 289));
}

/// All ghosts of external tables, if available.
#[test]
fn tables_of_other_origin() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/lenses/ghosts");
    let mut checked = 0;
    for name in [
        "angenieux-100-f1.1",
        "cooke-triplet-50-f5",
        "dgauss-50-f2",
        "nikon-28-75-f2.8-wide",
        "takumar-100-f1.25",
    ] {
        let file = folder.join(format!("ghosts_{name}.json"));
        let Ok(text) = std::fs::read_to_string(&file) else {
            println!("skipped {name}: {} is not there", file.display());
            continue;
        };
        let lens = as_tabled(name);
        let table: Value = serde_json::from_str(&text).unwrap();
        let rows = table["ghosts"].as_array().unwrap();
        assert_eq!(rows.len(), lens.reflection_pairs().count());
        for row in rows {
            let number = |key: &str| row[key].as_f64().unwrap();
            let index = |key: &str| row[key].as_u64().unwrap() as usize;
            let ghost = lens
                .paraxial_ghost(ReflectionPair { first: index("j"), second: index("i") }, LINE_D);
            let what = format!("{name} {:?}", ghost.bounces);
            let RayTransferMatrix { a, b, c, d } = ghost.matrices[1];
            for (key, got, unit) in [("A", a, 1.0), ("B", b, 1e3), ("C", c, 1e-3), ("D", d, 1.0)] {
                let want = number(key);
                near(got * unit, want, 2e-5 * want.abs() + 2e-6, &format!("{what} {key}"));
            }
            near(ghost.part, number("W"), 6e-7, &what);
            let radius = ghost.entering_radius() * 1e3;
            near(radius, number("r_entr"), 2e-4 * number("r_entr"), &what);
            assert_eq!(ghost.same_side(), row["same_side"].as_bool().unwrap(), "{what}");
            // There, rounded from fractions of six digits.
            near(
                ghost.part * radius * radius,
                number("flux"),
                1e-3 * number("flux") + 6e-7 * (1.0 + radius * radius),
                &what,
            );
            near(
                ghost.part / (a * a),
                number("irr"),
                1e-3 * number("irr") + 6e-7 * (1.0 + 1.0 / (a * a)),
                &what,
            );
            checked += 1;
        }
    }
    println!("{checked} ghosts checked");
}

/// Illuminance times area, summed over the sensor as drawn, equals the light that enters: `E_in
/// A_pupil W`.
#[test]
fn meshes_keep_the_light() {
    for (name, degrees) in
        [("dgauss-50-f2", 0.0), ("dgauss-50-f2", 12.0), ("cooke-triplet-50-f5", 8.0)]
    {
        let lens = lens(name, Some(5.6));
        let beam = beam(degrees, 30.0);
        let (mut entering, mut drawn) = (0.0, 0.0);
        for bounces in lens.reflection_pairs() {
            let Some(grid) = lens.ghost_mesh(GhostMethod::Traced, bounces, &beam, GREEN, 24) else {
                continue;
            };
            let (spot, flux) = (grid.spot(), grid.drawn_flux());
            near(flux, spot.flux, 0.05 * spot.flux, &format!("{name} {bounces:?}"));
            entering += spot.flux;
            drawn += flux;
        }
        assert!(entering > 0.0);
        near(drawn, entering, 0.01 * entering, name);
    }
    // Closed form: on the axis a round beam enters.
    let lens = lens("dgauss-50-f2", Some(8.0));
    for bounces in lens.reflection_pairs().step_by(5) {
        let fast = lens.paraxial_ghost(bounces, GREEN);
        let grid =
            lens.ghost_mesh(GhostMethod::Paraxial, bounces, &beam(0.0, 0.0), GREEN, 48).unwrap();
        let want = std::f64::consts::PI * fast.entering_radius().powi(2) * fast.part;
        near(grid.spot().flux, want, 0.005 * want, "round");
        near(grid.drawn_flux(), want, 0.005 * want, "round, drawn");
        let radius = fast.entering_radius() * fast.matrices[0].a.abs();
        near(grid.spot().extent.x, radius / 2.0, 0.005 * radius, "extent");
    }
}

/// Light, position and size against counted rays.
#[test]
fn meshes_agree_with_counted_rays() {
    let width = 0.036;
    for (name, degrees, azimuth, f_stop, blades, rays) in [
        ("dgauss-50-f2", 0.0, 0.0, None, 0, 4000),
        ("dgauss-50-f2", 15.0, 200.0, Some(4.0), 6, 6000),
        ("cooke-triplet-50-f5", 10.0, 90.0, None, 0, 6000),
    ] {
        let iris = Iris { blades, curvature: 0.2, rotation: 0.3 };
        let lens = Lens::new(
            &prescription(name),
            &LensSettings { f_stop, iris, ..LensSettings::default() },
        )
        .unwrap();
        let beam = beam(degrees, azimuth);
        let (mut meshed, mut counted) = (0.0, 0.0);
        for bounces in lens.reflection_pairs() {
            let grid = lens.adaptive_ghost_mesh(GhostMethod::Traced, bounces, &beam, GREEN);
            let spot = grid.map_or_else(GhostSpot::default, |grid| grid.spot());
            let other = lens.reference_ghost(bounces, &beam, GREEN, rays, None).spot;
            meshed += spot.flux;
            counted += other.flux;
            // Only ghosts of which the sensor receives enough rays.
            let what = format!("{name} {degrees} {bounces:?}: {spot:?} {other:?}");
            let hits = other.flux
                / (lens.front_radius().powi(2) * lens.ghost_transmittance(bounces, GREEN))
                * f64::from(rays);
            if hits > 400.0 && other.center.length() < width && other.extent.length() < width {
                near(spot.center.x, other.center.x, 0.01 * width, &what);
                near(spot.center.y, other.center.y, 0.01 * width, &what);
                near(spot.extent.x, other.extent.x, 0.01 * width, &what);
                near(spot.extent.y, other.extent.y, 0.01 * width, &what);
            }
        }
        println!("{name} {degrees}: {meshed:e} {counted:e} {:.4}", meshed / counted);
        near(meshed, counted, 0.02 * counted, name);
    }
}

/// The strongest ghosts of the 27-surface zoom in sum, for a source well off the axis.
#[test]
fn meshes_of_the_zoom_agree_with_counted_rays() {
    let lens = lens("nikon-28-75-f2.8-wide", Some(4.0));
    let beam = beam(20.0, 45.0);
    let (mut meshed, mut counted) = (0.0, 0.0);
    for bounces in lens
        .reflection_pairs()
        .filter(|bounces| lens.ghost_transmittance(*bounces, GREEN) > 2.2e-4)
        .step_by(2)
    {
        meshed += lens
            .adaptive_ghost_mesh(GhostMethod::Traced, bounces, &beam, GREEN)
            .map_or(0.0, |grid| grid.spot().flux);
        counted += lens.reference_ghost(bounces, &beam, GREEN, 3000, None).spot.flux;
    }
    println!("{meshed:e} {counted:e} {:.4}", meshed / counted);
    near(meshed, counted, 0.02 * counted, "light");
}

/// The source's disk blurs a ghost as counted rays from the whole disk do.
#[test]
fn a_disc_spreads_its_ghosts() {
    let lens = lens("dgauss-50-f2", Some(8.0));
    let round = Beam::from_angles(0.05, 1.0, 0.02).unwrap();
    let bounces = ReflectionPair { first: 8, second: 4 };
    let spot = lens.ghost_mesh(GhostMethod::Traced, bounces, &round, GREEN, 24).unwrap().spot();
    let counted = lens.reference_ghost(bounces, &round, GREEN, 20_000, None).spot;
    near(spot.extent.x, counted.extent.x, 0.03 * counted.extent.x, "x");
    near(spot.extent.y, counted.extent.y, 0.03 * counted.extent.y, "y");
    let sharp =
        lens.ghost_mesh(GhostMethod::Traced, bounces, &beam(0.0, 0.0), GREEN, 24).unwrap().spot();
    assert!(
        spot.extent.x > 2.0 * sharp.extent.x && spot.peak < 0.2 * sharp.peak,
        "{spot:?} {sharp:?}"
    );
}

/// Both methods agree for small pupils near the axis, for every ghost with at least a thousandth of
/// the brightest one's light.
#[test]
fn matrices_agree_with_rays_near_the_axis() {
    for (name, f_stop) in
        [("dgauss-50-f2", 64.0), ("cooke-triplet-50-f5", 64.0), ("schneider-anamorphic-31", 64.0)]
    {
        let lens = lens(name, Some(f_stop));
        let beam = beam(0.3, 25.0);
        let light = |bounces| {
            lens.paraxial_ghost(bounces, GREEN).entering_radius().powi(2)
                * lens.ghost_transmittance(bounces, GREEN)
        };
        let brightest = lens.reflection_pairs().map(light).fold(0.0, f64::max);
        for bounces in lens.reflection_pairs().filter(|bounces| light(*bounces) > 1e-3 * brightest)
        {
            let of =
                |tier| lens.ghost_mesh(tier, bounces, &beam, GREEN, 16).map(|grid| grid.spot());
            let (Some(traced), Some(fast)) = (of(GhostMethod::Traced), of(GhostMethod::Paraxial))
            else {
                continue;
            };
            // A beam that is wide despite the small iris is not paraxial.
            let wide = lens.paraxial_ghost(bounces, GREEN).window(&beam).unwrap();
            if (wide.max - wide.min).max_element() > 0.04 * lens.focal_length() {
                continue;
            }
            let what = format!("{name} {bounces:?} {traced:?} {fast:?}");
            near(traced.flux, fast.flux, 0.02 * fast.flux, &what);
            let size = 0.02 * fast.extent.length() + 0.01 * fast.center.length() + 2e-6;
            near((traced.center - fast.center).length(), 0.0, size, &what);
            near((traced.extent - fast.extent).length(), 0.0, size, &what);
        }
    }
}

/// Ghosts of a rotationally symmetric lens lie on the line through the source's image and the image
/// center: within a thousandth of the image width, since triangles are not symmetric.
#[test]
fn chains_go_through_the_center() {
    let lens = lens("cooke-triplet-50-f5", Some(11.0));
    let (beam, azimuth) = (beam(10.0, 35.0), 35.0_f64.to_radians());
    let across = DVec2::new(-azimuth.sin(), azimuth.cos());
    let mut sides = [0, 0];
    for ghost in
        lens.survey(GhostMethod::Traced, &beam, GREEN).iter().filter(|ghost| ghost.spot.flux > 0.0)
    {
        near(ghost.spot.center.dot(across), 0.0, 3.6e-5, "off the line");
        sides[usize::from(ghost.spot.center.dot(beam.slope()) > 0.0)] += 1;
    }
    assert!(sides[0] > 0 && sides[1] > 0, "{sides:?}");
}

/// Every direction gives finite results.
#[test]
fn beams_from_everywhere() {
    for direction in [DVec3::ZERO, DVec3::NEG_Z, DVec3::X, DVec3::NAN, DVec3::INFINITY] {
        assert_eq!(Beam::new(direction, 0.0), None);
    }
    assert_eq!(Beam::new(DVec3::Z, f64::NAN), None);
    for name in ["fisheye-10", "cooke-triplet-50-f5"] {
        let lens = lens(name, None);
        for degrees in [0.0, 45.0, 80.0, 89.0, 89.9] {
            for tier in [GhostMethod::Paraxial, GhostMethod::Traced] {
                for ghost in lens.survey(tier, &beam(degrees, 10.0), GREEN) {
                    let GhostSpot { flux, center, extent, peak } = ghost.spot;
                    assert!(
                        flux.is_finite()
                            && flux >= 0.0
                            && center.is_finite()
                            && extent.is_finite()
                            && !peak.is_nan()
                    );
                }
            }
        }
    }
}

/// Light of all ghosts relative to light on the direct path, within 2 % of counted rays. Covers
/// fully open lenses, where a rim may be narrower than the blades, and stopped-down ones; straight
/// and curved blades; on and off the axis.
#[test]
fn light_is_relative_to_the_direct_light() {
    for (name, f_stop, blades, curvature, degrees) in [
        // The rims pass 55, 85 and 88 % of the stop's radius: they hide five blades, hide seven,
        // and cut five.
        ("kreitzer-tele-400-f2.8", None, 5, 0.0, 1.0),
        ("flektagon-100", None, 7, 0.5, 4.0),
        ("canon-70-200-f2.8", None, 5, 0.0, 0.0),
        ("nikon-51.6-f1.25", None, 5, 0.0, 6.0),
        ("schneider-anamorphic-31", None, 6, 0.0, 5.0),
        // Pupil aberrations; the stop alone.
        ("angenieux-100-f1.1", None, 0, 0.0, 3.0),
        ("nikon-28-75-f2.8-wide", None, 7, 0.0, 0.0),
        ("flektagon-100", Some(4.0), 5, 0.0, 4.0),
        ("kreitzer-tele-400-f2.8", Some(11.0), 6, 0.3, 1.0),
        ("cooke-triplet-50-f5", Some(16.0), 9, 1.0, 8.0),
    ] {
        let what = format!("{name} {f_stop:?} {blades} {curvature}");
        let iris = Iris { blades, curvature, rotation: 0.2 };
        let lens = Lens::new(
            &prescription(name),
            &LensSettings { f_stop, iris, ..LensSettings::default() },
        )
        .unwrap();
        // Equal ray counts through the pupil, whatever its fraction of the rear element.
        let rays = if f_stop.is_some() { 300_000 } else { 40_000 };
        let direct = lens.luminance_per_illuminance(GREEN)
            * lens.reference_illuminance(DVec2::ZERO, GREEN, Losses::Counted, rays);
        near(direct, 1.0, 0.01, &what);
        // Rays are spent on the brightest ghosts.
        let part = |bounces: &ReflectionPair| lens.ghost_transmittance(*bounces, GREEN);
        let mut ghosts: Vec<ReflectionPair> = lens.reflection_pairs().collect();
        ghosts.sort_by(|a, b| part(b).total_cmp(&part(a)));
        let beam = beam(degrees, 35.0);
        let (mut meshed, mut counted) = (0.0, 0.0);
        for bounces in ghosts.into_iter().take(24) {
            meshed += lens
                .adaptive_ghost_mesh(GhostMethod::Traced, bounces, &beam, GREEN)
                .map_or(0.0, |grid| grid.spot().flux);
            counted += lens.reference_ghost(bounces, &beam, GREEN, 6000, None).spot.flux;
        }
        println!("{what}: {direct:.4} {:.4}", meshed / counted);
        near(meshed / counted * direct, 1.0, 0.02, &what);
    }
}

/// The film counts all light that reaches it.
#[test]
fn the_film_has_all_of_a_small_ghost() {
    let lens = lens("dgauss-50-f2", Some(8.0));
    let mut film = SensorFilm::new(DVec2::new(0.036, 0.024), [36, 24]);
    let all = lens.reference_ghost(
        ReflectionPair { first: 8, second: 4 },
        &beam(2.0, 0.0),
        GREEN,
        2000,
        Some(&mut film),
    );
    near(film.flux(), all.spot.flux, 1e-12, "all of it falls on the film");
}
