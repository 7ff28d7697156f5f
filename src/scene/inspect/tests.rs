//! Tests of the text report.
use super::*;
use crate::{
    photometry::{
        Candela, Lumen, Lux,
        lights::{Cone, LightStrength, PhysicalLight},
    },
    scene::{Node, Note, look::Look},
};

#[test]
fn the_sun_has_the_solid_angle_of_its_disk() {
    let exact = 2.0 * PI * (1.0 - 0.2666f64.to_radians().cos());
    assert!((SUN_SOLID_ANGLE / exact - 1.0).abs() < 1e-4, "{exact}");
}

#[test]
fn an_overridden_light_is_listed_once_at_its_number() {
    let lamp = |name: &str| {
        let strength = LightStrength::Candela(Candela(100.0));
        Light::new(name, PhysicalLight::new(Emitter::Point, strength).unwrap())
    };
    let node =
        |name: &str, light| Node { name: name.into(), light: Some(light), ..Node::default() };
    let nodes = vec![node("a", 0), node("left", 1), node("right", 1), node("c", 2)];
    let lights = vec![lamp("Key"), lamp("Pair"), lamp("Back")];
    let mut scene = Scene { lights, roots: (0..nodes.len()).collect(), nodes, ..Scene::default() };
    let before = node_lights(&scene);
    let look =
        Look::of(["lights.Key.candela=7", "lights.right.candela=8", "lights.Back.enabled=false"])
            .unwrap();
    look.apply(&mut scene).unwrap();
    let text = report_with_original_lights(&scene, &before);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("  light ")).collect();
    let point = |line: &str, name: &str| line.starts_with(&format!("  light {name}: point"));
    assert!(text.contains("4 lights") && text.contains("Lights (4)"), "{text}");
    assert!(
        lines.len() == 4 && point(lines[0], "0 'Key'") && lines[0].ends_with("shown once"),
        "{lines:?}"
    );
    assert!(point(lines[1], "1 'Pair'") && point(lines[2], "1 'Pair'"), "{lines:?}");
    assert!(
        lines[3].starts_with("  light 2 'Back'") && lines[3].ends_with("not shown"),
        "{lines:?}"
    );
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} is not in\n{text}"));
    assert!(at(" 7 cd as the look sets it") < at("'Pair'"), "{text}");
    assert!(
        at("100 cd as its author wrote it") < at("8 cd as the look sets it"),
        "the rest of the pair, then the changed light: {text}"
    );
}

#[test]
fn lights_are_told_in_all_units() {
    let light = |color, emitter, strength| Light {
        color,
        ..Light::new("l", PhysicalLight::new(emitter, strength).unwrap())
    };
    let candela = LightStrength::Candela(Candela(100.0));
    let cone = Cone::new(0.0, PI / 3.0).unwrap();
    let red_sun = LightStrength::Lux(Lux(100_000.0));
    let panel = Emitter::Rectangle { width: 2.0, height: 0.5, sides: Sides::Two };
    let scene = Scene {
        lights: vec![
            light(Vec3::ONE, Emitter::Point, candela),
            light(Vec3::ONE, Emitter::Spot { cone, flux: SpotFlux::Exact }, candela),
            light(Vec3::new(1.0, 0.0, 0.0), Emitter::PARALLEL, red_sun),
            light(Vec3::ONE, panel, LightStrength::Lumens(Lumen(2000.0))),
        ],
        materials: vec![Material { emission: Vec3::splat(10.0), ..Material::default() }],
        notes: vec![Note { kind: NoteKind::Repaired, location: "/x".into(), message: "m".into() }],
        ..Scene::default()
    };
    let text = report(&scene);
    for wanted in [
        "100 cd in every direction",
        "1256.6 lm in all",
        // 2 pi / 3 * (1 - cos 60) * 100
        "104.7198 lm in all",
        // 2000 / (pi * 2 * 1 m2)
        "rectangle of 2 x 0.5 m, two-sided",
        "318.3099 nit",
        "314.1593 lm as pi times the intensity",
        "314.1593 lm by the solid angle of the outer cone",
        "21260.0 lx on a surface",
        "3.1256e8 nit as a sun",
        "= 0.2126",
        "emits 10 nit",
        "Repaired (1)",
        "  /x: m",
    ] {
        assert!(text.contains(wanted), "{wanted} in\n{text}");
    }
}

#[test]
fn a_light_behind_gel_and_modifiers_is_told_with_its_own_strength() {
    let strength = LightStrength::Lumens(Lumen(1000.0));
    let cone = Cone::new(0.5, 0.5).unwrap();
    let spot = Emitter::Spot { cone, flux: SpotFlux::Exact };
    let lights = vec![Light::new("Key", PhysicalLight::new(spot, strength).unwrap())];
    let nodes = vec![Node { name: "Key".into(), light: Some(0), ..Node::default() }];
    let mut scene = Scene { lights, nodes, roots: vec![0], ..Scene::default() };
    let before = node_lights(&scene);
    let look = Look::of(["lights.Key.gel=0.5 0.5 0.5", "lights.Key.barn_door_left=0"]).unwrap();
    look.apply(&mut scene).unwrap();
    let text = report_with_original_lights(&scene, &before);
    assert!(text.contains("1000.0 lm as its author wrote it, without gel and modifiers"), "{text}");
    assert!(!text.contains("IES profile"), "{text}");
    let report = json::report(&scene, &before);
    let light = &report["lights"][0];
    assert_eq!(light["authored"]["value"].as_f64(), Some(1000.0));
    assert_eq!(light["authored"]["unit"].as_str(), Some("lm"));
    assert_eq!(light["authored"]["by"].as_str(), Some("file"));
    assert!(light["profile"].is_null());
    // Half of the cone, behind a stop.
    let lumens = light["lumens"].as_f64().unwrap();
    assert!((lumens / 250.0 - 1.0).abs() < 0.02, "{lumens}");
}
