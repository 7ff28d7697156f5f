//! Barn doors, snoots, grids and gobos against closed forms.

use std::{
    f64::consts::{FRAC_PI_2, PI, TAU},
    path::Path,
};

use glam::{DVec3, Vec3, dvec3};
use sunny16::{
    photometry::{
        Candela,
        light_modifiers::{BarnDoors, Gobo, grid_transmittance, snoot_transmittance},
    },
    scene::{
        Light,
        build::SceneBuilder,
        look::{Look, LookError},
    },
};

/// Unit vector at an angle (rad) to the axis and an azimuth from +X to +Y.
fn towards(theta: f64, phi: f64) -> DVec3 {
    dvec3(theta.sin() * phi.cos(), theta.sin() * phi.sin(), -theta.cos())
}

#[test]
fn barn_doors_end_at_their_edges_with_the_penumbra_of_a_round_source() {
    let [left, right, top, bottom] = [10f64, 20.0, 30.0, -5.0].map(f64::to_radians);
    let doors = BarnDoors { edges: [left, right, top, bottom], penumbra: 4f64.to_radians() };
    // A direction by its angles to the right and up, as the flaps see it.
    let at = |right: f64, up: f64| {
        dvec3(right.to_radians().tan(), up.to_radians().tan(), -1.0).normalize()
    };
    for (across, up, part) in [
        (0.0, 10.0, 1.0),
        (-7.9, 10.0, 1.0),
        (-10.0, 10.0, 0.5),
        (-12.1, 10.0, 0.0),
        (20.0, 10.0, 0.5),
        (0.0, 30.0, 0.5),
        // The bottom flap crosses the axis.
        (0.0, 0.0, 0.0),
        (0.0, 5.0, 0.5),
        (20.0, 30.0, 0.25),
        // Half a radius inside: 1/2 + (sqrt 3 / 4 + pi / 6) / pi.
        (19.0, 10.0, 0.804_498_890_522_115),
    ] {
        let got = doors.transmittance(at(across, up));
        assert!((got - part).abs() < 1e-6, "{across} {up}: {got} for {part}");
    }
    assert_eq!(doors.transmittance(DVec3::Z), 0.0);
    let hard = BarnDoors { penumbra: 0.0, ..doors };
    assert_eq!([hard.transmittance(at(-9.9, 8.0)), hard.transmittance(at(-10.1, 8.0))], [1.0, 0.0]);
}

#[test]
fn a_snoot_and_a_grid_have_their_closed_forms() {
    for ratio in [0.5f64, 2.0, 8.0] {
        let end = (1.0 / ratio).atan();
        assert_eq!(snoot_transmittance(ratio, DVec3::NEG_Z), 1.0);
        assert!((grid_transmittance(ratio, DVec3::NEG_Z) - 1.0).abs() < 1e-12);
        assert!(snoot_transmittance(ratio, towards(end * 1.001, 1.0)) < 1e-12);
        for theta in [0.1 * end, 0.4 * end, 0.9 * end] {
            // The overlap of two circles of radius 1 at the distance 2 x, by strips.
            let x = ratio * theta.tan();
            let strips = 200_000;
            let area: f64 = (0..strips)
                .map(|i| {
                    let y = x + (1.0 - x) * (f64::from(i) + 0.5) / f64::from(strips);
                    4.0 * (1.0 - y * y).sqrt() * (1.0 - x) / f64::from(strips)
                })
                .sum();
            let got = snoot_transmittance(ratio, towards(theta, 0.3));
            assert!((got - area / PI).abs() < 1e-5, "{ratio} {theta}: {got} {}", area / PI);
            // A hexagon shifted across its flats, which are level: 2/3 (1 - s) + 1/3 (1 - s)^2.
            let got = grid_transmittance(ratio, towards(theta, FRAC_PI_2));
            let want = 2.0 / 3.0 * (1.0 - x) + (1.0 - x).powi(2) / 3.0;
            assert!((got - want).abs() < 1e-12, "{ratio} {theta}: {got} {want}");
            // The same in six directions.
            let sixth = grid_transmittance(ratio, towards(theta, FRAC_PI_2 + PI / 3.0));
            assert!((got - sixth).abs() < 1e-12);
        }
        assert!(grid_transmittance(ratio, towards(1.2 * end, 0.0)) < 1e-12);
    }
    assert_eq!([snoot_transmittance(1.0, DVec3::Z), grid_transmittance(1.0, DVec3::Z)], [0.0; 2]);
}

#[test]
fn a_gobo_has_means_of_its_picture() {
    // White above, and a quarter at the lower right.
    let gobo = Gobo::new(2, 2, &[1.0, 1.0, f32::NAN, 0.25]).unwrap();
    assert_eq!(gobo.mean(), 2.25 / 4.0);
    let half = 30f64.to_radians();
    let at = |x: f64, y: f64| {
        gobo.transmittance(dvec3(x * half.tan(), y * half.tan(), -1.0).normalize(), half, 0.01)
    };
    for (x, y, part) in [
        (-0.5, 0.5, 1.0),
        (0.5, 0.5, 1.0),
        (-0.5, -0.5, 0.0),
        (0.5, -0.5, 0.25),
        (0.0, -0.5, 0.125),
    ] {
        assert!((at(x, y) - part).abs() < 1e-9, "{x} {y}: {}", at(x, y));
    }
    assert_eq!([at(1.5, 0.0), gobo.transmittance(DVec3::Z, half, 0.01)], [0.0; 2]);
    assert!(Gobo::new(2, 2, &[1.0; 3]).is_none() && Gobo::new(0, 0, &[]).is_none());
    assert!(Gobo::new(usize::MAX, 2, &[1.0; 3]).is_none());
}

/// A spot of 100 cd within a hard cone of this half angle (degrees), by a look.
fn spot(half_angle: f64, settings: &[&str]) -> Result<Light, LookError> {
    let mut builder = SceneBuilder::new("one lamp");
    builder.point_light_candela("Key", Candela(100.0), Vec3::ONE, DVec3::Y);
    let mut scene = builder.build().unwrap();
    let outer = format!("lights.Key.outer_half_angle={half_angle}");
    let inner = format!("lights.Key.inner_half_angle={half_angle}");
    let base = ["lights.Key.shape=spot", &outer, &inner];
    Look::of(base.iter().chain(settings))?.apply(&mut scene)?;
    Ok(scene.lights.last().unwrap().clone())
}

fn flux(light: &Light) -> f64 {
    light.lumens().unwrap().get()
}

#[test]
fn modifiers_leave_the_flux_of_their_closed_forms() {
    let tilted = |half_angle| spot(half_angle, &[]).unwrap();
    assert!(tilted(60.0).profile.is_none(), "a plain spot has no table");
    // A pyramid of the half angles a and b: 4 asin(sin a sin b).
    let doors = spot(
        60.0,
        &[
            "lights.Key.barn_door_left=20",
            "lights.Key.barn_door_right=20",
            "lights.Key.barn_door_top=30",
            "lights.Key.barn_door_bottom=30",
        ],
    )
    .unwrap();
    let pyramid = 4.0 * (20f64.to_radians().sin() * 30f64.to_radians().sin()).asin();
    let off = flux(&doors) / (100.0 * pyramid) - 1.0;
    assert!(off.abs() < 0.01, "barn doors: {off}");
    assert!((doors.candela().unwrap().get() - 100.0).abs() < 1e-9);
    assert!((doors.profile.as_ref().unwrap().peak().get() - 1.0).abs() < 1e-12, "relative");
    let bare = doors.bare();
    assert!(bare.profile.is_none() && bare.candela() == Some(Candela(100.0)));
    // The table is there for a strength to come.
    let dark = spot(60.0, &["lights.Key.candela=0", "lights.Key.barn_door_left=20"]).unwrap();
    assert_eq!(flux(&dark), 0.0);
    assert!((dark.profile.unwrap().peak().get() - 1.0).abs() < 1e-12);
    // A look that states lumens states those of the lamp.
    let stated = spot(60.0, &["lights.Key.lumens=1000", "lights.Key.barn_door_left=0"]).unwrap();
    let off = flux(&stated) / 500.0 - 1.0;
    assert!(off.abs() < 0.01, "half of the cone: {off}");
    // Rings of a snoot; all of it is inside of the cone.
    let snoot = spot(60.0, &["lights.Key.snoot=2"]).unwrap();
    let rings = 100_000;
    let ring = |i: i32| {
        let theta = (f64::from(i) + 0.5) / f64::from(rings) * FRAC_PI_2;
        snoot_transmittance(2.0, towards(theta, 0.0)) * theta.sin()
    };
    let want = 100.0 * TAU * (0..rings).map(ring).sum::<f64>() * FRAC_PI_2 / f64::from(rings);
    let off = flux(&snoot) / want - 1.0;
    assert!(off.abs() < 0.01, "snoot: {off}");
    // The overlaps of a cell with all of its shifts are its area, sqrt 3 / 2, by the slope over the
    // ratio; at small angles a slope is a solid angle.
    let grid = spot(10.0, &["lights.Key.grid=10"]).unwrap();
    let off = flux(&grid) / (100.0 * 3f64.sqrt() / 2.0 / 100.0) - 1.0;
    assert!(off.abs() < 0.01, "grid: {off}");
    // Modifiers multiply.
    let both = spot(60.0, &["lights.Key.snoot=2", "lights.Key.barn_door_top=0"]).unwrap();
    let off = flux(&both) / (want / 2.0) - 1.0;
    assert!(off.abs() < 0.01, "half a snoot: {off}");
    let offs = [
        flux(&doors) / (100.0 * pyramid),
        flux(&stated) / 500.0,
        flux(&snoot) / want,
        flux(&grid) / (3f64.sqrt() / 2.0),
    ];
    println!("flux over closed form: {offs:.4?}");
}

#[test]
fn the_table_follows_the_edge_of_a_barn_door() {
    let edge = 15f64.to_radians();
    for penumbra in [2.0, 5.0] {
        let setting = format!("lights.Key.barn_door_penumbra={penumbra}");
        let light = spot(40.0, &["lights.Key.barn_door_right=15", &setting]).unwrap();
        let profile = light.profile.unwrap();
        let doors = BarnDoors {
            edges: [f64::INFINITY, edge, f64::INFINITY, f64::INFINITY],
            penumbra: f64::to_radians(penumbra),
        };
        let mut worst = 0f64;
        for i in 0..400 {
            for up in [-0.4, 0.0, 0.23] {
                let across = edge + f64::to_radians(penumbra) * (f64::from(i) / 200.0 - 1.0);
                let direction = dvec3(across.tan(), up, -1.0).normalize();
                let got = profile.candela_towards(direction).get();
                worst = worst.max((got - doors.transmittance(direction)).abs());
            }
        }
        println!("penumbra {penumbra}: {worst:.4} of the intensity");
        assert!(worst < 0.02, "{penumbra}: {worst}");
    }
}

fn write(file: &Path, texels: [u8; 4]) {
    image::GrayImage::from_raw(2, 2, texels.to_vec()).unwrap().save(file).unwrap();
}

#[test]
fn a_gobo_of_a_file_is_linear_and_is_found_beside_the_look() {
    let dir = tempfile::tempdir().unwrap();
    // 188 is half of the light in sRGB.
    write(&dir.path().join("half.png"), [255, 188, 255, 188]);
    let file = dir.path().join("a.look.toml");
    let text =
        "[lights.Key]\nshape = \"spot\"\nouter_half_angle = 30\ninner_half_angle = 30\ngobo = ";
    let read = |gobo: &str| {
        std::fs::write(&file, format!("{text}\"{gobo}\"\n")).unwrap();
        let mut look = Look::default();
        look.read(&file)?;
        let mut builder = SceneBuilder::new("one lamp");
        builder.point_light_candela("Key", Candela(100.0), Vec3::ONE, DVec3::Y);
        let mut scene = builder.build().unwrap();
        look.apply(&mut scene)?;
        Ok::<Light, LookError>(scene.lights.last().unwrap().clone())
    };
    let light = read("half.png").unwrap();
    let cone = TAU * (1.0 - 30f64.to_radians().cos());
    let off = flux(&light) / (100.0 * cone * 0.751) - 1.0;
    assert!(off.abs() < 0.01, "{off}");
    let profile = light.profile.unwrap();
    let [left, right] = [-0.2, 0.2].map(|x| profile.candela_towards(dvec3(x, 0.1, -1.0)).get());
    assert!((left - 1.0).abs() < 1e-8 && (right - 0.502).abs() < 0.005, "{left} {right}");
    std::fs::write(dir.path().join("text.png"), "hello").unwrap();
    for bad in ["none.png", "text.png"] {
        let error = read(bad).unwrap_err();
        let is_input = matches!(&error, LookError::Input { property, file, .. }
            if property == "lights.Key.gobo" && file.ends_with(bad));
        assert!(is_input, "{error:?}");
    }
}

#[test]
fn other_lights_have_no_modifiers() {
    let refused = |half_angle: f64, settings: &[&str], path: &str, remedy: &str| {
        let error = spot(half_angle, settings).unwrap_err();
        assert!(matches!(&error, LookError::BadValue { path: at, .. } if at == path), "{error:?}");
        assert!(error.to_string().contains(remedy), "{error}");
    };
    let point = "lights.Key.shape=point";
    refused(30.0, &[point, "lights.Key.snoot=2"], "lights.Key.snoot", "shape to spot");
    refused(30.0, &[point, "lights.Key.barn_door_top=5"], "lights.Key.barn_door_top", "spot");
    let area = ["lights.Key.shape=disk", "lights.Key.radius=0.1", "lights.Key.grid=2"];
    refused(30.0, &area, "lights.Key.grid", "disk light");
    refused(85.0, &["lights.Key.grid=2"], "lights.Key.grid", "outer_half_angle");
    refused(30.0, &["lights.Key.snoot=0"], "lights.Key.snoot", "0.01 to 100");
}
