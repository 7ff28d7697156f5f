//! Interaction in the window's picture by input events, against closed forms of the look's values.

use std::{
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use crate::{
    common::headless_viewer::{HeadlessViewer, WINDOW, request},
    governor::set_mode,
};
use egui::{Event, Key, Modifiers, PointerButton, Pos2, pos2};
use glam::{DMat3, DVec2, DVec3, Mat3, Vec2, Vec3};
use sunny16::{
    camera::DisplayEncoding,
    photometry::{
        Lumen, Lux, Nit,
        lights::{Emitter, LightStrength, Sides},
    },
    scene::{
        Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        look::Look,
        procedural::shapes,
        write_glb::write_glb,
    },
    session::{self, OpenRequest, Session},
    viewer::{
        App, Options,
        action::SelectionAction,
        flow::FlowBrush,
        panels::{inspector::Selection, reference_view},
    },
};

const SPOT: DVec3 = DVec3::new(-0.5, 0.9, 0.2);
const PANEL: DVec3 = DVec3::new(0.6, 0.8, 0.0);

const LOOK: &str = "quality = \"direct\"\n[passes.aa]\nsamples = 1\n[environment]\nrotation = 12.5\n[lights.Panel]\nshape = \"rectangle\"\nwidth = 0.4\nheight = 0.3\nlumens = 1200\n";

/// A spot and a panel over a floor.
pub fn lights_scene() -> (tempfile::TempDir, PathBuf) {
    let mut builder = SceneBuilder::new("lamps");
    let gray = builder.add_material(dielectric("Gray", Vec3::splat(0.4), 0.6));
    let mesh = builder.add_mesh("floor", shapes::plane(Vec2::splat(4.0), 1, 1), gray);
    builder.instance("floor", mesh, glam::DMat4::IDENTITY);
    let pose = look_at_transform(SPOT, DVec3::new(-0.3, 0.0, 0.0));
    builder.spot_light_lumens("Spot", Lumen(800.0), Vec3::ONE, (0.2, 0.5), pose);
    let panel = Emitter::Rectangle { width: 0.4, height: 0.3, sides: Sides::One };
    let pose = look_at_transform(PANEL, DVec3::new(0.5, 0.0, 0.3));
    builder.light("Panel", panel, LightStrength::Lumens(Lumen(1200.0)), Vec3::ONE, pose);
    builder.camera("Eye", DVec3::new(1.2, 1.8, 3.4), DVec3::new(0.0, 0.5, 0.0), 0.7, None);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lamps.glb");
    fs::write(&file, write_glb(&builder.build().unwrap()).unwrap()).unwrap();
    fs::write(dir.path().join("lamps.look.toml"), LOOK).unwrap();
    (dir, file)
}

/// Window position of a world position, by the camera's matrix alone.
fn seen(bench: &HeadlessViewer, place: DVec3) -> Pos2 {
    let view = bench.workspace().viewport.session.view();
    let clip = view.view_projection * (place - view.position).as_vec3().extend(1.0);
    let rect = bench.app.viewport_rect();
    let part = [clip.x, clip.y].map(|v| v / clip.w * 0.5 + 0.5);
    pos2(rect.left() + part[0] * rect.width(), rect.top() + part[1] * rect.height())
}

/// Size (m) of window points at a position, perpendicular to the view ray.
fn meters(bench: &HeadlessViewer, place: DVec3, points: f32) -> f64 {
    let right = bench.workspace().viewport.session.view().rotation.x_axis;
    let across = (seen(bench, place + right * 0.01) - seen(bench, place)).length();
    0.01 * f64::from(points / across)
}

fn look(bench: &HeadlessViewer) -> Look {
    bench.workspace().document.look().unwrap()
}

fn select(bench: &mut HeadlessViewer, name: &str, key: Key) {
    bench.workspace_mut().select(Selection::Light(name.into()));
    bench.press(key, Modifiers::NONE);
    bench.frame(vec![]);
}

#[test]
fn handles_move_turn_and_size_lights_and_each_drag_is_a_step() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    set_mode(&mut bench, "off");
    bench.frame(vec![]);
    let texts = |bench: &HeadlessViewer| bench.workspace().document.text().to_owned();
    let before = texts(&bench);

    // Arrows: half a meter along each axis, and nothing along the others.
    select(&mut bench, "Spot", Key::G);
    for (axis, name) in [(DVec3::X, "x"), (DVec3::Y, "y"), (DVec3::Z, "z")] {
        let hold = axis * meters(&bench, SPOT, 35.0);
        let (from, to) = (seen(&bench, SPOT + hold), seen(&bench, SPOT + hold + axis * 0.5));
        bench.drag(from, to, PointerButton::Primary);
        bench.keep(&format!("move_{name}.png"));
        let moved = look(&bench).lights["Spot"].position.expect("it was dragged") - SPOT;
        println!("{name}: moved by {moved}");
        assert!((moved - axis * 0.5).abs().max_element() < 0.005, "{name}: {moved}");
        // One drag is one undo step.
        bench.press(Key::Z, Modifiers::COMMAND);
        assert_eq!(texts(&bench), before, "{name}");
    }

    // The camera's target: the camera turns to it without moving.
    let pose = bench.workspace().viewport.pose();
    let eye = pose.w_axis.truncate();
    bench.workspace_mut().select(Selection::Camera);
    bench.frame(vec![]);
    bench.keep("target.png");
    let middle = bench.app.viewport_rect().center();
    let right = pose.x_axis.truncate();
    let target = {
        // Arrows are 80 points long. They start in the middle of the picture, at the depth of the
        // scene's center.
        let scene = &bench.workspace().viewport.session.scene;
        let (low, high) = scene.bounds().unwrap();
        eye - pose.z_axis.truncate() * ((low + high) / 2.0 - eye).dot(-pose.z_axis.truncate())
    };
    assert!((seen(&bench, target) - middle).length() < 0.5);
    let hold = DVec3::X * meters(&bench, target, 35.0) / right.x.abs();
    bench.drag(
        seen(&bench, target + hold),
        seen(&bench, target + hold + DVec3::X * 0.25),
        PointerButton::Primary,
    );
    let camera = look(&bench).camera;
    let (position, aimed) = (camera.position.unwrap(), camera.target.unwrap());
    println!("the target moved by {}", aimed - target);
    assert!(
        (aimed - target - DVec3::X * 0.25).abs().max_element() < 0.005
            && (position - eye).length() < 1e-4
    );
    assert!((seen(&bench, aimed) - middle).length() < 0.5, "it is in the middle again");
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(texts(&bench), before);
    select(&mut bench, "Spot", Key::R);

    // A ring about the vertical: 40 degrees.
    select(&mut bench, "Spot", Key::R);
    let radius = meters(&bench, SPOT, 80.0);
    let on =
        |degrees: f64| SPOT + DMat3::from_rotation_y(degrees.to_radians()) * (DVec3::X * radius);
    bench.drag(seen(&bench, on(-70.0)), seen(&bench, on(-30.0)), PointerButton::Primary);
    bench.keep("turn.png");
    let shone = (DVec3::new(-0.3, 0.0, 0.0) - SPOT).normalize();
    let aim = (look(&bench).lights["Spot"].aim.expect("it was turned") - SPOT).normalize();
    let want = DMat3::from_rotation_y(40f64.to_radians()) * shone;
    println!("turned: {:.3} degrees off", aim.angle_between(want).to_degrees());
    assert!(aim.angle_between(want).to_degrees() < 0.4, "{aim}, {want}");
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(texts(&bench), before);

    // The cone's rim: 10 degrees wider; lumens stay as written.
    select(&mut bench, "Spot", Key::T);
    let reach = meters(&bench, SPOT, 80.0);
    let side = shone.cross(DVec3::Y).normalize();
    let rim = |angle: f64| SPOT + (shone * angle.cos() + side * angle.sin()) * reach;
    bench.keep("size_spot.png");
    bench.drag(
        seen(&bench, rim(0.5)),
        seen(&bench, rim(0.5 + 10f64.to_radians())),
        PointerButton::Primary,
    );
    let outer = look(&bench).lights["Spot"].outer_half_angle.expect("it was opened");
    println!("opened to {:.3} degrees", outer.to_degrees());
    assert!((outer - 0.5 - 10f64.to_radians()).abs() < 0.01, "{}", outer.to_degrees());
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(texts(&bench), before);

    // A panel's width: 10 cm to one side make 20 in total, and its lumens stay as written.
    select(&mut bench, "Panel", Key::T);
    let x = look_at_transform(PANEL, DVec3::new(0.5, 0.0, 0.3)).x_axis.truncate();
    let (from, to) = (seen(&bench, PANEL + x * 0.2), seen(&bench, PANEL + x * 0.3));
    bench.drag(from, to, PointerButton::Primary);
    bench.keep("size_panel.png");
    let width = look(&bench).lights["Panel"].width.expect("it was widened");
    assert!((width - 0.6).abs() < 0.004, "{width}");
    let scene = &bench.workspace().viewport.session.scene;
    let panel = scene.lights.iter().rev().find(|light| light.name == "Panel").unwrap();
    assert_eq!(panel.source.authored(), LightStrength::Lumens(Lumen(1200.0)));
    // nits = lumens / (pi area) of one side.
    let nits = 1200.0 / (std::f64::consts::PI * width * 0.3);
    assert!((panel.source.nits().unwrap().get() / nits - 1.0).abs() < 1e-6);
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(texts(&bench), before);
}

#[test]
fn recent_scenes_persist_and_invalid_files_are_reported() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let state = Some(dir.path().join("state"));
    let open = |request: OpenRequest| {
        let gallery = request.scene.is_none();
        HeadlessViewer::with(
            &guard.gpu,
            Options { request, gallery, state: state.clone(), ..Options::default() },
            WINDOW,
        )
    };
    let bench = open(request(&file));
    assert_eq!(bench.app.recent(), std::slice::from_ref(&file));
    drop(bench);
    fs::remove_file(&file).unwrap();
    let mut bench = open(OpenRequest::default());
    assert_eq!(bench.app.recent(), std::slice::from_ref(&file), "kept between runs");
    // Deleted: listed, but disabled.
    bench.click(pos2(20.0, 12.0));
    let entry = bench.text(&file.display().to_string()).expect("the file's name in the menu");
    bench.click(entry + egui::vec2(8.0, 4.0));
    assert!(bench.app.state.workspace.is_none() && bench.app.error_message().is_none());
    drop(bench);
    fs::write(dir.path().join("state/recent"), "scenes = {").unwrap();
    let bench = open(OpenRequest::default());
    assert!(bench.app.recent().is_empty());
    assert!(
        bench.app.error_message().is_some_and(|text| text.contains("recent")),
        "{:?}",
        bench.app.error_message()
    );
}

#[test]
fn hdr_setting_persists_and_missing_support_is_reported() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let state = dir.path().join("state");
    let options = Options { gallery: true, state: Some(state.clone()), ..Options::default() };
    let mut bench = HeadlessViewer::with(&guard.gpu, options, WINDOW);
    bench.app.state.fatal = Some("no pictures in this test".into());
    bench.app.open(&request(&file));
    bench.frame(vec![]);
    assert!(!bench.app.settings().hdr, "off at first");
    bench.app.set_display_encoding(DisplayEncoding::Srgb);
    assert_eq!(bench.app.error_message(), None);
    bench.press(Key::N, Modifiers::NONE);
    assert!(bench.app.settings().hdr);
    bench.app.set_display_encoding(DisplayEncoding::Srgb);
    let said = bench.app.error_message().unwrap().to_owned();
    assert!(said.starts_with("no HDR output is offered for this window"), "{said}");
    // Reported once per request, not with every change of the window's size.
    bench.frame(vec![]);
    let times = |bench: &HeadlessViewer| {
        bench.texts.iter().filter(|(text, _)| text.starts_with("no HDR output")).count()
    };
    bench.app.set_display_encoding(DisplayEncoding::Srgb);
    bench.frame(vec![]);
    assert_eq!(times(&bench), 1);
    // The palette sets it too, and shows the accepted values.
    bench.press(Key::P, Modifiers::COMMAND);
    bench.frame(vec![Event::Text("window.paper_white=150".into())]);
    bench.press(Key::Enter, Modifiers::NONE);
    assert_eq!(bench.app.settings().range.paper_white(), Nit(150.0));
    bench.press(Key::P, Modifiers::COMMAND);
    bench.frame(vec![Event::Text("window.peak=5".into())]);
    bench.press(Key::Enter, Modifiers::NONE);
    assert!(
        bench.app.error_message().unwrap().contains("40 to 10000"),
        "{:?}",
        bench.app.error_message()
    );
    let text = fs::read_to_string(state.join("settings")).unwrap();
    assert!(
        text.contains(
            "[window]\nhdr = true\npaper_white = 150\npeak = 1000\ngovernor = \"auto\"\n"
        ),
        "{text}"
    );
    // The next run has it, and reports at once that it is not offered.
    let options = Options { gallery: true, state: Some(state), ..Options::default() };
    let mut next = HeadlessViewer::with(&guard.gpu, options, WINDOW);
    assert!(next.app.settings().hdr);
    next.app.set_display_encoding(DisplayEncoding::Srgb);
    assert!(next.app.error_message().is_some());
}

#[test]
fn the_inspector_shows_set_values_and_the_bar_is_one_line_beside_the_reference() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = HeadlessViewer::sized(&guard.gpu, request(&file), [1280, 240]);
    bench.workspace_mut().viewport.resize([64, 48]).unwrap();
    bench.workspace_mut().select(Selection::Environment);
    bench.frame(vec![]);
    bench.frame(vec![]);
    bench.keep("listed.png");
    let shown = bench.text("12.5");
    assert!(shown.is_some(), "the field shows what the look has: {:?}", bench.texts);

    bench.app.state.reference_view.set_mode(reference_view::CompareMode::Flip);
    bench.until("a verdict", |app| {
        app.state.reference_view.summary.contains("FLIP") && app.state.reference_view.samples() >= 4
    });
    bench.frame(vec![]);
    bench.keep("reference_bar.png");
    let reading = bench.app.state.reference_view.status_text();
    assert!(
        bench.texts.iter().any(|(text, _)| text.contains("spp")
            && text.contains("FLIP")
            && !text.ends_with("..."))
    );
    let bar: Vec<_> =
        ["File", "Point", "Size", "Mixer", "FLIP", "direct"].map(|word| bench.text(word)).to_vec();
    let heights: Vec<f32> = bar.iter().map(|at| at.expect("in the bar").y).collect();
    assert!(
        heights.iter().all(|y| (y - heights[0]).abs() < 4.0),
        "one line: {heights:?} {reading}"
    );
}

/// Clicks an inspector field that shows a text, types into it and leaves it with Enter.
fn typed(bench: &mut HeadlessViewer, shown: &str, text: &str) {
    let at = bench.text(shown).unwrap_or_else(|| panic!("{shown} is not there: {:?}", bench.texts));
    bench.click(at + egui::vec2(4.0, 4.0));
    for letter in text.chars() {
        bench.frame(vec![Event::Text(letter.into())]);
    }
    bench.press(Key::Enter, Modifiers::NONE);
    bench.frame(vec![]);
}

#[test]
fn typed_values_apply_on_enter_as_one_undo_step() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    select(&mut bench, "Panel", Key::Escape);
    let text = bench.workspace().document.text().to_owned();
    let strength = |bench: &HeadlessViewer| look(bench).lights["Panel"].strength();
    for (shown, entry, lumens) in
        [("1200", "1500.25", 1500.25), ("1500.25", "12.5", 12.5), ("12.5", "2e3", 2000.0)]
    {
        typed(&mut bench, shown, entry);
        assert_eq!(strength(&bench), Some(LightStrength::Lumens(Lumen(lumens))), "{entry}");
    }
    // Invalid or empty text changes nothing; the look's error is shown.
    for entry in ["", "nan", "abc", "-5"] {
        typed(&mut bench, "2000", entry);
        assert_eq!(strength(&bench), Some(LightStrength::Lumens(Lumen(2000.0))), "'{entry}'");
        let said = bench.app.error_message().map(str::to_owned);
        assert_eq!(
            said.is_some_and(|said| said.contains("lights.Panel.lumens")),
            !entry.is_empty(),
            "'{entry}'"
        );
    }
    for _ in 0..3 {
        bench.press(Key::Z, Modifiers::COMMAND);
    }
    assert_eq!(bench.workspace().document.text(), text, "three entries, three steps");
}

/// The click that stores a look also takes the focus from the field, which applies its value.
#[test]
fn a_stored_look_has_the_value_that_was_typed_before() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    // High enough for the whole inspector.
    let mut bench = HeadlessViewer::sized(&guard.gpu, OpenRequest::default(), [1280, 1600]);
    bench.paints = false;
    bench.app.state.fatal = Some("no pictures in this test".into());
    bench.app.open(&request(&file));
    bench.frame(vec![]);
    select(&mut bench, "Panel", Key::Escape);
    let click = |bench: &mut HeadlessViewer, text: &str| {
        let at = bench.text(text).unwrap_or_else(|| panic!("no {text}: {:?}", bench.texts));
        bench.click(at + egui::vec2(4.0, 4.0));
        // Headers take some frames to open.
        (0..20).for_each(|_| bench.frame(vec![]));
    };
    let strength = |bench: &HeadlessViewer| look(bench).lights["Panel"].strength();
    let typed = Some(LightStrength::Lumens(Lumen(1500.25)));
    click(&mut bench, "Stored looks");
    click(&mut bench, "1200");
    for letter in "1500.25".chars() {
        bench.frame(vec![Event::Text(letter.into())]);
    }
    click(&mut bench, "Store this look");
    assert_eq!(strength(&bench), typed);
    bench.app.set(&[("lights.Panel.lumens", Some("900"))]);
    bench.frame(vec![]);
    click(&mut bench, "A");
    assert_eq!(strength(&bench), typed, "look A");
}

#[test]
fn shortcuts_do_not_move_the_camera_and_arrows_do() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    let pose = |bench: &HeadlessViewer| bench.workspace().viewport.pose();
    let before = pose(&bench);
    let key = |key, pressed, modifiers| Event::Key {
        key,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers,
    };
    // Ctrl is released before S, as users do.
    bench.frame(vec![key(Key::S, true, Modifiers::COMMAND)]);
    bench.frame(vec![]);
    bench.frame(vec![key(Key::S, false, Modifiers::NONE)]);
    assert_eq!(pose(&bench), before);
    for (arrow, modifiers) in [
        (Key::ArrowRight, Modifiers::NONE),
        (Key::ArrowUp, Modifiers::SHIFT),
        (Key::PageUp, Modifiers::NONE),
    ] {
        let before = pose(&bench);
        bench.frame(vec![key(arrow, true, modifiers)]);
        std::thread::sleep(Duration::from_millis(20));
        bench.frame(vec![]);
        bench.frame(vec![key(arrow, false, modifiers)]);
        assert_ne!(pose(&bench), before, "{arrow:?}");
    }
}

#[test]
fn volumes_have_an_inspector_page() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let look =
        format!("{LOOK}[volumes.Fog]\nscattering = 0.25\ncenter = \"0 1 0\"\nsize = \"2 2 2\"\n");
    fs::write(dir.path().join("lamps.look.toml"), look).unwrap();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    let at = bench.text("Fog").expect("in the outliner");
    bench.click(at + egui::vec2(4.0, 4.0));
    bench.frame(vec![]);
    for shown in ["scattering", "0.25", "anisotropy", "0 1 0"] {
        assert!(bench.text(shown).is_some(), "{shown}: {:?}", bench.texts);
    }
    typed(&mut bench, "0.25", "");
    // The palette offers it by name.
    bench.press(Key::P, Modifiers::COMMAND);
    bench.frame(vec![Event::Text("volumes.Fog.anisotropy=0.6".into())]);
    bench.frame(vec![]);
    assert!(bench.text("volumes.Fog.anisotropy").is_some(), "{:?}", bench.texts);
    bench.press(Key::Enter, Modifiers::NONE);
    assert_eq!(self::look(&bench).volumes["Fog"].anisotropy, Some(0.6));
}

#[test]
fn unsaved_changes_always_prompt() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let state = dir.path().join("state");
    let options = || Options { gallery: true, state: Some(state.clone()), ..Options::default() };
    let mut bench = HeadlessViewer::with(&guard.gpu, options(), WINDOW);
    bench.app.state.fatal = Some("no pictures in this test".into());
    let corridor = request(std::path::Path::new("builtin:corridor"));
    bench.app.open(&corridor);
    bench.frame(vec![]);
    bench.press(Key::P, Modifiers::COMMAND);
    bench.frame(vec![Event::Text("camera.lens.f_stop=11".into())]);
    bench.press(Key::Enter, Modifiers::NONE);
    assert_eq!(look(&bench).camera.dials.f_stop, Some(11.0));
    let opened = |bench: &HeadlessViewer| bench.workspace().viewport.session.request.scene.clone();
    bench.app.open(&request(&file));
    bench.frame(vec![]);
    bench.frame(vec![]);
    assert_eq!(opened(&bench), corridor.scene, "the question comes first");
    assert!(bench.text("The look has unsaved changes").is_some(), "{:?}", bench.texts);
    bench.press(Key::Escape, Modifiers::NONE);
    bench.frame(vec![]);
    assert_eq!(look(&bench).camera.dials.f_stop, Some(11.0));
    // After a forced close the next start offers the changes, also without a file.
    bench.app.close();
    bench.app.close();
    assert!(bench.app.closes);
    drop(bench);
    let mut next = HeadlessViewer::with(&guard.gpu, options(), WINDOW);
    next.app.state.fatal = Some("no pictures in this test".into());
    next.app.open(&corridor);
    next.frame(vec![]);
    next.frame(vec![]);
    let at = next.text("Restore").expect("an earlier run's changes");
    next.click(at + egui::vec2(4.0, 4.0));
    assert_eq!(look(&next).camera.dials.f_stop, Some(11.0));
    // After discarding them, nothing is offered again.
    next.app.open(&request(&file));
    next.frame(vec![]);
    next.frame(vec![]);
    let at = next.text("Open without saving").expect("a way on");
    next.click(at + egui::vec2(4.0, 4.0));
    next.frame(vec![]);
    assert_eq!(opened(&next), Some(file));
    next.app.open(&corridor);
    next.frame(vec![]);
    next.frame(vec![]);
    assert!(next.text("Restore").is_none());
}

#[test]
fn closing_does_not_wait_for_the_current_frame() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    // Many slow frames.
    bench.app.set(&[("passes.aa.samples", Some("64"))]);
    bench.workspace_mut().viewport.resize([1600, 1200]).unwrap();
    bench.app.draw();
    // The engine reports tasks that take long; a fast device may be done before.
    let drawing = |app: &App| {
        let viewport = &app.state.workspace.as_ref().unwrap().viewport;
        viewport.task().is_some() || !viewport.needs_frame()
    };
    bench.repeat_until("a slow frame", drawing, |bench| bench.app.draw());
    bench.app.save();
    let begun = Instant::now();
    let (leaving, painter) = bench.leave();
    let closed = begun.elapsed();
    leaving.wait();
    drop(painter);
    let over = begun.elapsed();
    println!("closed in {closed:?}, the last frame was over in {over:?}");
    assert!(closed < Duration::from_millis(50).max(over / 4), "{closed:?} of {over:?}");
    let saved = fs::read_to_string(dir.path().join("lamps.look.toml")).unwrap();
    assert!(saved.contains("samples = 64"), "{saved}");
}

/// A still pond without ripples over a floor: its picture is finished soon.
fn pond() -> (tempfile::TempDir, PathBuf) {
    let mut builder = SceneBuilder::new("pond");
    let gray = builder.add_material(dielectric("Gray", Vec3::splat(0.4), 0.6));
    let water = builder.add_material(dielectric("Water", Vec3::ONE, 0.1));
    let floor = builder.add_mesh("floor", shapes::plane(Vec2::splat(6.0), 1, 1), gray);
    builder.instance("floor", floor, glam::DMat4::from_translation(DVec3::Y * -0.3));
    let sheet = builder.add_mesh("sheet", shapes::plane(Vec2::new(4.0, 3.0), 1, 1), water);
    builder.instance("Pond", sheet, glam::DMat4::from_translation(DVec3::new(0.2, 0.1, -0.1)));
    builder.sun("Sun", Lux(20_000.0), Vec3::ONE, DVec3::new(0.3, -1.0, -0.4));
    builder.camera("Eye", DVec3::new(0.5, 4.5, 4.0), DVec3::new(0.2, 0.1, 0.0), 0.7, None);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pond.glb");
    fs::write(&file, write_glb(&builder.build().unwrap()).unwrap()).unwrap();
    let look =
        "[passes.aa]\nsamples = 1\n[water.Pond]\nkind = \"coastal\"\nspeed = 0.25\nslope = 0.1\n";
    fs::write(dir.path().join("pond.look.toml"), look).unwrap();
    (dir, file)
}

#[test]
fn painted_flow_is_saved_and_reloaded() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = pond();
    // `SUNNY16_LONG=1` takes the minutes that the water's pipelines take on software drivers, and
    // compares pictures too.
    let long = std::env::var_os("SUNNY16_LONG").is_some();
    let mut bench = if long {
        HeadlessViewer::new(&guard.gpu, request(&file))
    } else {
        HeadlessViewer::undrawn(&guard.gpu, &request(&file))
    };
    let shown = |bench: &mut HeadlessViewer| {
        long.then(|| {
            bench.rest();
            bench.picture().display.clone()
        })
    };
    bench.workspace_mut().select(Selection::Water("Pond".into()));
    bench.app.apply(SelectionAction::Brush(FlowBrush { speed: 0.8, radius: 0.3 }));
    bench.press(Key::B, Modifiers::NONE);
    bench.frame(vec![]);
    let (still, text) = (shown(&mut bench), bench.workspace().document.text().to_owned());
    let at = |x: f64, z: f64| DVec3::new(x, 0.1, z);
    let (from, to) = (at(-0.5, 0.5), at(0.7, -0.1));
    bench.drag(seen(&bench, from), seen(&bench, to), PointerButton::Primary);
    bench.frame(vec![]);
    bench.keep("flow.png");
    let painted = shown(&mut bench);
    let scene = bench.workspace().viewport.session.scene.clone();
    let water =
        |scene: &Scene| scene.materials.iter().find_map(|material| material.water.clone()).unwrap();
    assert!(!long || painted != still, "ripples go with the flow");
    // A stroke is one step of undo and redo.
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(bench.workspace().document.text(), text);
    assert_ne!(water(&bench.workspace().viewport.session.scene), water(&scene));
    assert_eq!(shown(&mut bench), still);
    bench.press(Key::Y, Modifiers::COMMAND);
    assert_eq!(shown(&mut bench), painted);
    assert!(!dir.path().join("pond.Pond.flow.png").exists(), "the file waits for a save");
    bench.press(Key::S, Modifiers::COMMAND);
    let size = bench.size();
    drop(bench);

    // Loaded by the product's own loader.
    let opened = session::open(&OpenRequest { size: Some(size), ..request(&file) }).unwrap();
    let bytes =
        |scene: &Scene| scene.images.iter().map(|image| image.rgba8.to_vec()).collect::<Vec<_>>();
    assert!(bytes(&opened.scene) == bytes(&scene), "to the bit what the device was given");
    let water = water(&opened.scene);
    let flow = |place: DVec3| water.flow_at(DVec2::new(place.x, place.z)).0;
    let way = DVec2::new(to.x - from.x, to.z - from.z).normalize();
    let middle = flow((from + to) / 2.0);
    println!("in the middle {middle} m/s, wanted {}", way * 0.8);
    assert!(middle.angle_to(way).abs().to_degrees() < 1.0, "{middle}, {way}");
    assert!((middle.length() / 0.8 - 1.0).abs() < 0.01, "{middle}");
    assert_eq!(flow(at(1.9, 1.1)), DVec2::ZERO);
    assert_eq!(
        flow((from + to) / 2.0 + DVec3::new(-way.y, 0.0, way.x) * 0.4),
        DVec2::ZERO,
        "beyond the brush"
    );
    // The picture is that of the painted flow.
    let Some(painted) = painted else { return };
    let mut session = Session::open(guard.renderer(), opened).unwrap();
    let exposed = session.determine_exposure(true).unwrap();
    let settings = session.picture_settings(&exposed, Mat3::IDENTITY, vec![]).unwrap();
    let rendered = session.still(&settings, 1, &mut |_| Ok(())).unwrap();
    assert_eq!(rendered.display, painted, "bit for bit what `render` writes of what was saved");
}

#[test]
fn sun_ring_sets_the_azimuth() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let sky = "[environment.sun]\nelevation = 30.0\nazimuth = 200.0\n";
    fs::write(dir.path().join("lamps.look.toml"), sky).unwrap();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    bench.workspace_mut().select(Selection::Environment);
    bench.press(Key::R, Modifiers::NONE);
    bench.frame(vec![]);
    bench.keep("sun.png");
    let text = bench.workspace().document.text().to_owned();
    // The ring's center is the orbit's center: the middle of the picture, at the depth of the
    // scene's center.
    let view = bench.workspace().viewport.session.view();
    let (low, high) = bench.workspace().viewport.session.scene.bounds().unwrap();
    let forward = view.forward.as_dvec3();
    let center = view.position + forward * ((low + high) / 2.0 - view.position).dot(forward);
    let radius = meters(&bench, center, 120.0);
    // Azimuth goes from north (-Z) over east (+X).
    let on = |degrees: f64| {
        center + DVec3::new(degrees.to_radians().sin(), 0.0, -degrees.to_radians().cos()) * radius
    };
    bench.drag(seen(&bench, on(120.0)), seen(&bench, on(155.0)), PointerButton::Primary);
    let environment = look(&bench).environment;
    let azimuth = environment.sun_azimuth.unwrap().to_degrees();
    println!("turned to {azimuth:.3} degrees");
    assert!((azimuth - 235.0).abs() < 0.4, "{azimuth}");
    assert!((environment.sun_elevation.unwrap().to_degrees() - 30.0).abs() < 1e-9);
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(bench.workspace().document.text(), text);
}
