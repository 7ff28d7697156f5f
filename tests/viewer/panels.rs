//! Panels by input events and by their accessibility tree: units, sliders, list of keys, tour,
//! arrows to lights outside of the view.

use std::collections::BTreeSet;

use crate::{
    common::headless_viewer::{HeadlessViewer, request},
    interaction::lights_scene,
};
use egui::{Event, Key, Modifiers, PointerButton, Pos2, vec2};
use sunny16::{
    gpu::Gpu,
    photometry::{Candela, Lumen, lights::LightStrength},
    scene::look::Look,
    session::OpenRequest,
    viewer::{Options, panels::inspector::Selection},
};

/// A window without pictures, high enough for the whole inspector, with the accessibility tree.
fn window(gpu: &Gpu, scene: &std::path::Path, scale: f32) -> HeadlessViewer {
    let mut bench = HeadlessViewer::new(gpu, OpenRequest::default());
    (bench.window, bench.scale) = ([1280, 900].map(|side| (side as f32 * scale) as u32), scale);
    bench.paints = std::env::var_os("SUNNY16_VIEWER_PICTURES").is_some();
    bench.app.context().enable_accesskit();
    bench.app.state.fatal = Some("no pictures in this test".into());
    bench.app.open(&request(scene));
    bench.frame(vec![]);
    bench.frame(vec![]);
    bench
}

fn select(bench: &mut HeadlessViewer, selection: Selection) {
    bench.workspace_mut().select(selection);
    bench.frame(vec![]);
    bench.frame(vec![]);
}

fn look(bench: &HeadlessViewer) -> Look {
    bench.workspace().document.look().unwrap()
}

/// Drags a slider by points.
fn slide(bench: &mut HeadlessViewer, name: &str, by: f32) {
    // New rows settle the widths of their columns.
    bench.frame(vec![]);
    bench.frame(vec![]);
    let at = bench.control(name);
    bench.drag(at, at + vec2(by, 0.0), PointerButton::Primary);
    bench.frame(vec![]);
}

/// Types into the field of a name, and leaves it with Enter.
fn enter(bench: &mut HeadlessViewer, name: &str, text: &str) {
    let at = bench.control(name);
    bench.click(at);
    for letter in text.chars() {
        bench.frame(vec![Event::Text(letter.into())]);
    }
    bench.press(Key::Enter, Modifiers::NONE);
    bench.frame(vec![]);
}

fn error(bench: &HeadlessViewer) -> String {
    bench.app.error_message().unwrap_or_default().to_owned()
}

#[test]
fn fields_take_units_and_name_those_that_are_allowed() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = window(&guard.gpu, &file, 1.0);
    let panel = |bench: &HeadlessViewer| look(bench).lights["Panel"].clone();
    select(&mut bench, Selection::Light("Panel".into()));
    bench.keep("light.png");
    enter(&mut bench, "Strength", "1.5klm");
    assert_eq!(panel(&bench).strength(), Some(LightStrength::Lumens(Lumen(1500.0))));
    // Another unit of the light becomes its unit.
    enter(&mut bench, "Strength", "900 cd");
    assert_eq!(panel(&bench).strength(), Some(LightStrength::Candela(Candela(900.0))));
    enter(&mut bench, "Strength", "5kg");
    assert_eq!(panel(&bench).strength(), Some(LightStrength::Candela(Candela(900.0))));
    let said = error(&bench);
    assert!(said.contains("unknown unit 'kg', expected lm, klm, cd, kcd, nit, fL, EV"), "{said}");
    enter(&mut bench, "Width", "3ft");
    assert_eq!(panel(&bench).width, Some(0.9144));
    assert!(bench.workspace().document.text().contains("width = 0.9144\n"), "without quotes");
    enter(&mut bench, "Width", "2 lm");
    assert_eq!(panel(&bench).width, Some(0.9144));
    let said = error(&bench);
    assert!(said.contains("unknown unit 'lm', expected m, cm, mm, um, ft, in"), "{said}");
    enter(&mut bench, "Position x", "50cm");
    assert_eq!(panel(&bench).position.unwrap().x, 0.5);

    select(&mut bench, Selection::Camera);
    bench.keep("camera.png");
    enter(&mut bench, "Aperture", "f/2.8");
    enter(&mut bench, "Shutter", "1/125s");
    enter(&mut bench, "ISO", "ISO 200");
    let dials = look(&bench).camera.dials;
    assert_eq!((dials.f_stop, dials.shutter_s, dials.iso), (Some(2.8), Some(0.008), Some(200.0)));
    let text = bench.workspace().document.text().to_owned();
    for line in ["f_stop = 2.8\n", "shutter = \"1/125\"\n", "iso = 200\n"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(bench.text("f/2.8").is_some() && bench.text("1/125 s").is_some());
}

#[test]
fn color_and_environment_have_sliders() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = window(&guard.gpu, &file, 1.0);
    select(&mut bench, Selection::Light("Panel".into()));
    let kelvin = |bench: &HeadlessViewer| look(bench).lights["Panel"].kelvin;
    assert_eq!(kelvin(&bench), None);
    let text = bench.workspace().document.text().to_owned();
    // From the middle of a logarithmic scale of 1000 to 20000 K, and one undo step.
    slide(&mut bench, "Color temperature: slider", 30.0);
    let warm = kelvin(&bench).expect("it was moved");
    slide(&mut bench, "Color temperature: slider", -30.0);
    let warmer = kelvin(&bench).expect("it was moved");
    assert!(1000.0 < warmer && warmer < warm && warm < 20_000.0, "{warmer} {warm}");
    assert_eq!(warm % 10.0, 0.0);
    bench.press(Key::Z, Modifiers::COMMAND);
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(bench.workspace().document.text(), text);

    select(&mut bench, Selection::Environment);
    bench.keep("environment.png");
    // An azimuth sets an elevation too, without which there is no sun.
    slide(&mut bench, "Sun azimuth: slider", 10.0);
    let environment = look(&bench).environment;
    let [azimuth, elevation] =
        [environment.sun_azimuth, environment.sun_elevation].map(|angle| angle.unwrap());
    assert!((200.0..300.0).contains(&azimuth.to_degrees()), "{}", azimuth.to_degrees());
    assert!((elevation.to_degrees() - 35.0).abs() < 1e-9);
    assert_eq!(error(&bench), "");
    slide(&mut bench, "Haze (turbidity): slider", 0.0);
    let haze = look(&bench).environment.turbidity.expect("it was moved");
    assert!((5.0..6.0).contains(&haze), "the middle of 1 to 10: {haze}");
    let at = bench.control("Reset Haze (turbidity)");
    bench.click(at);
    assert_eq!(look(&bench).environment.turbidity, None);
    // A place and a time take the place of angles.
    let at = bench.control("Place and time");
    bench.click(at);
    (0..30).for_each(|_| bench.frame(vec![]));
    let at = bench.control("Sun by place and time");
    bench.click(at);
    let environment = look(&bench).environment;
    assert_eq!((environment.sun_azimuth, environment.clock.as_deref()), (None, Some("12:00")));
    assert_eq!(error(&bench), "");
    slide(&mut bench, "Time of day: slider", 10.0);
    let clock = look(&bench).environment.clock.unwrap();
    assert!(clock.as_str() > "12:00" && clock.len() == 5, "{clock}");
    bench.keep("place_and_time.png");
}

#[test]
fn keys_are_listed_and_the_tour_is_shown_once() {
    let Some(guard) = crate::common::gpu() else { return };
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let start = || {
        let options = Options { gallery: true, state: Some(state.clone()), ..Options::default() };
        HeadlessViewer::with(&guard.gpu, options, [900, 640])
    };
    let step = |bench: &HeadlessViewer| {
        let shown = bench.texts.iter().find(|(text, _)| text.contains(" of 6: "));
        shown.map(|(text, _)| text[..1].to_owned())
    };
    let mut bench = start();
    (0..30).for_each(|_| bench.frame(vec![]));
    assert_eq!(step(&bench).as_deref(), Some("1"));
    bench.keep("tour.png");
    bench.press(Key::F2, Modifiers::NONE);
    bench.press(Key::F2, Modifiers::NONE);
    bench.frame(vec![]);
    assert_eq!(step(&bench).as_deref(), Some("3"));
    bench.press(Key::F2, Modifiers::SHIFT);
    bench.frame(vec![]);
    assert_eq!(step(&bench).as_deref(), Some("2"));
    // The list of keys has its own Esc.
    bench.press(Key::F1, Modifiers::NONE);
    (0..30).for_each(|_| bench.frame(vec![]));
    bench.keep("keys.png");
    assert!(bench.text("start the tour; its next step").is_some(), "{:?}", bench.texts);
    assert_eq!(step(&bench), None, "under the list");
    bench.press(Key::Escape, Modifiers::NONE);
    (0..30).for_each(|_| bench.frame(vec![]));
    assert!(bench.text("start the tour; its next step").is_none());
    assert_eq!(step(&bench).as_deref(), Some("2"));
    bench.press(Key::Escape, Modifiers::NONE);
    (0..30).for_each(|_| bench.frame(vec![]));
    assert_eq!(step(&bench), None);
    assert!(bench.app.settings().toured);
    drop(bench);
    let mut next = start();
    next.frame(vec![]);
    assert_eq!(step(&next), None, "once");
    next.press(Key::F2, Modifiers::NONE);
    next.frame(vec![]);
    assert_eq!(step(&next).as_deref(), Some("1"), "again");
}

#[test]
fn lights_outside_of_the_view_have_arrows() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = window(&guard.gpu, &file, 1.0);
    let arrows = |bench: &HeadlessViewer| -> Vec<(String, Pos2)> {
        let outside = |(_, name, at): (_, String, _)| {
            name.strip_suffix(", outside of the view").map(|light| (light.to_owned(), at))
        };
        bench.controls().into_iter().filter_map(outside).collect()
    };
    assert_eq!(arrows(&bench), [], "both are in the view");
    // The camera turns to its right: the lights are on the left.
    bench.app.set(&[("camera.position", Some("1.2 1.8 3.4")), ("camera.target", Some("9 1 3"))]);
    bench.frame(vec![]);
    bench.frame(vec![]);
    bench.keep("arrows.png");
    let found = arrows(&bench);
    let names: BTreeSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["Panel", "Spot"]));
    let rect = bench.app.viewport_rect();
    for (name, at) in &found {
        assert!(rect.contains(*at) && at.x - rect.left() < 20.0, "{name}: {at:?} in {rect:?}");
    }
    for (name, _) in found {
        // In the outliner; a selected light also stands above its properties.
        let shown =
            |bench: &HeadlessViewer| bench.texts.iter().filter(|(text, _)| *text == name).count();
        assert_eq!(shown(&bench), 1, "{name}");
        let at = bench.control(&format!("{name}, outside of the view"));
        bench.click(at);
        bench.frame(vec![]);
        assert_eq!(shown(&bench), 2, "{name}");
    }
}

/// Controls whose names are missing or not unique.
fn badly_named(bench: &HeadlessViewer) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let bad = |(role, name, at): (_, String, Pos2)| {
        let control = format!("{role:?} '{name}'");
        let is_new = seen.insert(control.clone());
        (name.trim().is_empty() || !is_new).then(|| format!("{control} at {at:?}"))
    };
    bench.controls().into_iter().filter_map(bad).collect()
}

#[test]
fn every_control_has_a_name_of_its_own_and_the_keyboard_reaches_it() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let text = std::fs::read_to_string(dir.path().join("lamps.look.toml")).unwrap();
    let volume = "[volumes.Fog]\nscattering = 0.25\ncenter = \"0 1 0\"\nsize = \"2 2 2\"\n";
    std::fs::write(dir.path().join("lamps.look.toml"), text + volume).unwrap();
    let mut bench = window(&guard.gpu, &file, 1.0);
    let open = |bench: &mut HeadlessViewer, name: &str| {
        let at = bench.control(name);
        bench.click(at);
        (0..30).for_each(|_| bench.frame(vec![]));
    };
    let mut count = 0;
    let mut check = |bench: &HeadlessViewer, of: &str| {
        assert_eq!(badly_named(bench), Vec::<String>::new(), "{of}");
        count += bench.controls().len();
    };
    for selection in [
        Selection::Camera,
        Selection::Light("Panel".into()),
        Selection::Light("Spot".into()),
        Selection::Material("Gray".into()),
        Selection::Volume("Fog".into()),
        Selection::Environment,
        Selection::Effects,
    ] {
        select(&mut bench, selection.clone());
        check(&bench, &format!("{selection:?}"));
    }
    for section in ["effects.*", "gi.*", "passes.*"] {
        open(&mut bench, section);
        check(&bench, section);
        open(&mut bench, section);
    }
    select(&mut bench, Selection::Environment);
    for menu in ["File", "Frame", "Add", "Tool of clicks", "View"] {
        open(&mut bench, menu);
        check(&bench, menu);
        bench.press(Key::Escape, Modifiers::NONE);
        bench.frame(vec![]);
    }
    for (key, modifiers) in [
        (Key::H, Modifiers::NONE),
        (Key::X, Modifiers::NONE),
        (Key::F1, Modifiers::NONE),
        (Key::P, Modifiers::COMMAND),
    ] {
        bench.press(key, modifiers);
        bench.frame(vec![]);
        bench.frame(vec![]);
        check(&bench, &format!("{key:?}"));
        bench.press(key, modifiers);
        bench.press(Key::Escape, Modifiers::NONE);
        bench.frame(vec![]);
    }
    assert!(count > 500, "{count}");

    // Tab visits every control that can be used.
    select(&mut bench, Selection::Light("Panel".into()));
    let tree = bench.access.as_ref().unwrap();
    let usable: BTreeSet<_> = tree
        .nodes
        .iter()
        .filter(|(_, node)| {
            let control = node.label().is_some_and(|label| !label.is_empty());
            control && node.supports_action(egui::accesskit::Action::Focus) && !node.is_disabled()
        })
        .map(|(id, _)| *id)
        .collect();
    let mut visited = BTreeSet::new();
    for _ in 0..usable.len() + 12 {
        bench.press(Key::Tab, Modifiers::NONE);
        visited.insert(bench.access.as_ref().unwrap().focus);
    }
    let missed: Vec<_> = bench
        .access
        .as_ref()
        .unwrap()
        .nodes
        .iter()
        .filter(|(id, _)| usable.contains(id) && !visited.contains(id))
        .map(|(_, node)| format!("{:?} {:?}", node.role(), node.label()))
        .collect();
    assert_eq!(missed, Vec::<String>::new());
    assert!(usable.len() > 40, "{}", usable.len());
}

#[test]
fn panels_are_readable_at_twice_the_scale() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = window(&guard.gpu, &file, 2.0);
    for (selection, name) in [
        (Selection::Light("Panel".into()), "light_200.png"),
        (Selection::Environment, "environment_200.png"),
        (Selection::Camera, "camera_200.png"),
    ] {
        select(&mut bench, selection);
        bench.keep(name);
        let cut: Vec<&String> = bench
            .texts
            .iter()
            .map(|(text, _)| text)
            .filter(|text| text.ends_with("...") && !text.starts_with("Save look as"))
            .collect();
        assert_eq!(cut, Vec::<&String>::new());
    }
    bench.app.state.fatal = None;
    bench.app.apply(sunny16::viewer::action::WindowAction::Settings(
        sunny16::viewer::settings::WindowSettings { high_contrast: true, ..bench.app.settings() },
    ));
    bench.app.state.fatal = Some("no pictures in this test".into());
    bench.frame(vec![]);
    bench.keep("high_contrast_200.png");
    let fill = bench.app.context().global_style().visuals.panel_fill;
    assert_eq!(fill, egui::Color32::BLACK);
}
