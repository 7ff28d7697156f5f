//! The window keeps pace with input, stays readable and responsive: latency in frames, layout at
//! each scale, no blocking on long work.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    sync::Mutex,
};

use crate::common::headless_viewer::{HeadlessViewer, request};
use egui::{
    Event, Key, Modifiers, MouseWheelUnit, PointerButton, Rect, Shape, TouchPhase, pos2, vec2,
};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    photometry::{
        Candela, Lumen, Lux,
        lights::{Cone, Emitter, LightStrength, Sides, SpotFlux},
    },
    scene::{
        build::{SceneBuilder, dielectric, look_at_transform},
        look::Look,
        procedural::shapes,
        write_glb::write_glb,
    },
    viewer::{
        MIN_WINDOW_SIZE, Options,
        panels::{choice, inspector::Selection, reference_view, viewport::Tool},
    },
};

const LOOK: &str = "quality = \"direct\"\n[passes.aa]\nsamples = 1\n";

const PANEL: &str =
    "[lights.Panel]\nshape = \"rectangle\"\nwidth = 0.4\nheight = 0.3\nlumens = 1200\n";

const ALL: &str = "[volumes.Fog]\nscattering = 0.25\ncenter = \"0 1 0\"\nsize = \"2 2 2\"\n[water.Pond]\nkind = \"coastal\"\nspeed = 0.25\n";

/// A spot over a floor with a sheet that can be water, and a panel if the look has more than
/// `LOOK`. With the spot alone, pictures are fast.
pub fn lights_scene(more: &str) -> (tempfile::TempDir, PathBuf) {
    let mut builder = SceneBuilder::new("lamps");
    let gray = builder.add_material(dielectric("Gray", Vec3::splat(0.4), 0.6));
    let mesh = builder.add_mesh("floor", shapes::plane(Vec2::splat(4.0), 1, 1), gray);
    builder.instance("floor", mesh, DMat4::IDENTITY);
    let sheet = builder.add_mesh("sheet", shapes::plane(Vec2::splat(0.5), 1, 1), gray);
    builder.instance("Pond", sheet, DMat4::from_translation(DVec3::new(0.0, 0.1, 0.0)));
    let pose = look_at_transform(DVec3::new(-0.5, 0.9, 0.2), DVec3::new(-0.3, 0.0, 0.0));
    builder.spot_light_lumens("Spot", Lumen(800.0), Vec3::ONE, (0.2, 0.5), pose);
    if !more.is_empty() {
        let panel = Emitter::Rectangle { width: 0.4, height: 0.3, sides: Sides::One };
        let pose = look_at_transform(DVec3::new(0.6, 0.8, 0.0), DVec3::new(0.5, 0.0, 0.3));
        builder.light("Panel", panel, LightStrength::Lumens(Lumen(1200.0)), Vec3::ONE, pose);
    }
    builder.camera("Eye", DVec3::new(1.2, 1.8, 3.4), DVec3::new(0.0, 0.5, 0.0), 0.7, None);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lamps.glb");
    fs::write(&file, write_glb(&builder.build().unwrap()).unwrap()).unwrap();
    fs::write(dir.path().join("lamps.look.toml"), format!("{LOOK}{more}")).unwrap();
    (dir, file)
}

fn text(bench: &HeadlessViewer) -> String {
    bench.workspace().document.text().to_owned()
}

fn says(bench: &HeadlessViewer, part: &str) -> bool {
    bench.texts.iter().any(|(text, _)| text.contains(part))
}

/// Types a line into the palette and presses Enter.
fn palette(bench: &mut HeadlessViewer, line: &str) {
    bench.press(Key::P, Modifiers::COMMAND);
    bench.frame(vec![Event::Text(line.into())]);
    bench.press(Key::Enter, Modifiers::NONE);
    bench.frame(vec![]);
}

#[test]
fn input_is_displayed_in_the_same_frame() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    // A long wait: frames are counted, not time.
    bench.workspace_mut().viewport.set_max_wait(Some(std::time::Duration::from_secs(250)));
    let counted = |bench: &HeadlessViewer| bench.app.pacing().answered();
    let before = counted(&bench);
    let mut done = 0;
    let mut shown = |bench: &mut HeadlessViewer, what: &str, events: Vec<Event>| {
        let number =
            |bench: &HeadlessViewer| bench.workspace().viewport.last_frame.as_ref().unwrap().number;
        let order = |bench: &HeadlessViewer| bench.workspace().viewport.request_id();
        let (old, wished, pixels) = (number(bench), order(bench), bench.last.clone());
        bench.frame(events);
        assert_ne!(order(bench), wished, "{what} asks for another picture");
        let finished = bench.workspace().viewport.last_frame.clone().unwrap();
        assert_eq!(
            finished.request_id,
            order(bench),
            "{what}: this frame has the picture that was asked for in it"
        );
        assert_ne!(finished.number, old);
        // It is displayed: where pixels are drawn at full size, they are those of the window.
        let rect = bench.app.viewport_rect();
        let [width, height] = [finished.image.width, finished.image.height];
        let full = (rect.width() - width as f32).abs() < 0.5;
        let row = |y: usize| {
            let first =
                ((rect.top() as usize + y) * bench.window[0] as usize + rect.left() as usize) * 4;
            &bench.last[first..first + width * 4]
        };
        let same =
            |y: &usize| row(*y) == &finished.image.display[y * width * 4..(y + 1) * width * 4];
        // Handles cover some rows.
        assert!(
            !full || (0..height).filter(same).count() > height / 2,
            "{what}: the window shows another picture"
        );
        assert_ne!(bench.last, pixels, "{what} changes pixels");
        done += 1;
    };
    let at = bench.middle();
    bench.frame(vec![Event::PointerMoved(at)]);
    let wheel = |y: f32| Event::MouseWheel {
        unit: MouseWheelUnit::Point,
        delta: vec2(0.0, y),
        phase: TouchPhase::Move,
        modifiers: Modifiers::NONE,
    };
    shown(&mut bench, "the wheel", vec![wheel(120.0)]);
    bench.rest();
    let button = |pos, button, pressed| Event::PointerButton {
        pos,
        button,
        pressed,
        modifiers: Modifiers::NONE,
    };
    bench.frame(vec![button(at, PointerButton::Middle, true)]);
    for step in 1..4 {
        let to = at + vec2(12.0 * step as f32, 0.0);
        // The first that moves further than a click starts the drag.
        shown(&mut bench, "an orbit", vec![Event::PointerMoved(to)]);
    }
    bench.frame(vec![button(at, PointerButton::Middle, false)]);
    bench.rest();
    bench.press(Key::P, Modifiers::COMMAND);
    bench.frame(vec![Event::Text("camera.exposure.compensation=1".into())]);
    let enter = Event::Key {
        key: Key::Enter,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    shown(&mut bench, "a dial", vec![enter]);
    bench.rest();
    let undo = Event::Key {
        key: Key::Z,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::COMMAND,
    };
    shown(&mut bench, "undo", vec![undo]);
    bench.rest();
    // A light's switch: the frame in which the button is released.
    let tick = bench.text("Spot").expect("in the outliner") + vec2(-62.0, 8.0);
    bench.frame(vec![Event::PointerMoved(tick)]);
    bench.frame(vec![button(tick, PointerButton::Primary, true)]);
    shown(&mut bench, "a switch", vec![button(tick, PointerButton::Primary, false)]);
    assert!(text(&bench).contains("enabled = false"), "{}", text(&bench));
    let after = counted(&bench);
    println!(
        "by their own frame, the next, the third, later: {before:?}, then {after:?}; {done} looked at"
    );
    assert!(after[0] >= before[0] + done, "{after:?}");
    assert_eq!(after[1..], before[1..], "none took another frame");
}

#[test]
fn no_frame_waits_for_the_path_tracer() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    bench.app.state.reference_view.set_mode(reference_view::CompareMode::Wipe);
    bench.until("the path tracer is at work", |app| {
        app.state.reference_view.samples() > 0 && app.state.reference_view.is_tracing()
    });
    // A frame that waited for the tracer would get one of its pictures.
    let (mut frames, mut pictures, mut samples) = (0, 0, bench.app.state.reference_view.samples());
    while pictures < 6 {
        let line = bench.app.state.reference_view.wipe;
        let before = bench.last.clone();
        // The line moves back and forth, and each frame shows it at its position.
        let bracket = if frames / 16 % 2 == 0 { Key::OpenBracket } else { Key::CloseBracket };
        let event = |pressed| Event::Key {
            key: bracket,
            physical_key: None,
            pressed,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        bench.frame(vec![event(true)]);
        assert_ne!(bench.app.state.reference_view.wipe, line);
        assert_ne!(bench.last, before, "the line is shown where it is");
        bench.frame(vec![event(false)]);
        frames += 2;
        assert!(frames < 100_000, "the path tracer does not go on: {samples} samples");
        if bench.app.state.reference_view.samples() != samples {
            (pictures, samples) = (pictures + 1, bench.app.state.reference_view.samples());
        }
        if !bench.app.state.reference_view.is_tracing() {
            break;
        }
    }
    // Taps between two frames are all counted.
    let line = bench.app.state.reference_view.wipe;
    let tap = |pressed| Event::Key {
        key: Key::OpenBracket,
        physical_key: None,
        pressed,
        repeat: false,
        modifiers: Modifiers::NONE,
    };
    bench.frame(vec![tap(true), tap(false), tap(true), tap(false)]);
    assert!(
        (line - bench.app.state.reference_view.wipe - 0.04).abs() < 1e-6,
        "{line} to {}",
        bench.app.state.reference_view.wipe
    );
    println!(
        "{frames} frames of the window beside {pictures} pictures of the path tracer, {samples} samples"
    );
    assert!(pictures > 0 && frames >= 2 * pictures, "{frames} frames, {pictures} pictures");
    // Camera input does not wait either: the tracer cancels its work.
    bench.workspace_mut().viewport.set_max_wait(Some(std::time::Duration::from_secs(250)));
    let at = bench.middle() + vec2(60.0, 40.0);
    bench.drag(at, at + vec2(40.0, 0.0), PointerButton::Middle);
    let viewport = &bench.workspace().viewport;
    assert_eq!(viewport.last_frame.as_ref().unwrap().request_id, viewport.request_id());
    assert_eq!(bench.app.state.reference_view.samples(), 0, "another view");
}

#[test]
fn solo_changes_the_picture_and_not_the_look() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene(&format!("{PANEL}[lights.Spot]\nenabled = false\n"));
    let look = dir.path().join("lamps.look.toml");
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    let shines = |bench: &HeadlessViewer| {
        let work = bench.workspace();
        ["Spot", "Panel"].map(|name| {
            work.viewport.session.look.lights.get(name).and_then(|l| l.enabled) != Some(false)
        })
    };
    let before = text(&bench);
    assert_eq!(shines(&bench), [false, true]);
    let button = |bench: &HeadlessViewer, light: &str| {
        let row = bench.text(light).expect("in the outliner").y;
        let near = |(word, at): &&(String, egui::Pos2)| {
            (word == "solo" || word == "all") && (at.y - row).abs() < 8.0
        };
        bench.texts.iter().find(near).expect("its button").1 + vec2(4.0, 4.0)
    };
    let at = button(&bench, "Spot");
    bench.click(at);
    bench.frame(vec![]);
    assert_eq!(shines(&bench), [true, false], "alone, though the look has it off");
    assert!(says(&bench, "solo: Spot"), "it is said: {:?}", bench.texts);
    bench.keep("solo.png");
    assert_eq!(text(&bench), before);
    assert!(!bench.workspace().document.changed(), "there is nothing to save");
    // A change meanwhile goes to the look, and the light stays soloed.
    bench.app.set(&[("lights.Panel.lumens", Some("900"))]);
    assert_eq!(shines(&bench), [true, false]);
    bench.app.save();
    let saved = fs::read_to_string(&look).unwrap();
    assert_eq!(saved, before.replace("1200", "900"), "the saved look has the lights as they were");
    let at = button(&bench, "Spot");
    bench.click(at);
    bench.frame(vec![]);
    assert_eq!(shines(&bench), [false, true]);
    // By keys as well.
    palette(&mut bench, "view.solo=Panel");
    assert_eq!((shines(&bench), says(&bench, "solo: Panel")), ([false, true], true));
    palette(&mut bench, "view.solo=");
    assert!(!says(&bench, "solo:"));
    assert_eq!(text(&bench), saved);
}

#[test]
fn palette_actions_apply_and_report_accepted_values() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    palette(&mut bench, "view.tool=shadow");
    assert!(says(&bench, "select a light"), "{:?}", bench.texts);
    palette(&mut bench, "view.select=Spot");
    assert!(says(&bench, "click the occluder"), "before the first click: {:?}", bench.texts);
    bench.keep("shadow.png");
    palette(&mut bench, "view.tool=highlight");
    assert!(says(&bench, "where the highlight of Spot"), "{:?}", bench.texts);
    palette(&mut bench, "view.compare=side by side");
    assert_eq!(bench.app.state.reference_view.mode, reference_view::CompareMode::SideBySide);
    for (line, part) in [
        ("view.tool=hammer", "view.tool = hammer: expected point, move"),
        ("view.select=Missing", "view.select = Missing: expected camera"),
        ("view.solo=Gray", "view.solo = Gray"),
        ("view.compare=", "view.compare = : expected raster"),
        ("view.color=red", "expected view.select"),
    ] {
        palette(&mut bench, line);
        let said = bench.app.error_message().unwrap_or_default();
        assert!(said.contains(part), "{line}: {said}");
    }
    assert!(!bench.workspace().document.changed(), "none of it is the look's");
}

#[test]
fn copied_readings_match_the_picture() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    bench.frame(vec![Event::PointerGone]);
    bench.frame(vec![Event::Copy]);
    assert!(bench.app.error_message().is_some_and(|said| said.contains("point at the picture")));
    let bright = |nits: &[f32; 3]| nits.iter().sum::<f32>();
    let nits = &bench.picture().nits;
    let brightest =
        (0..nits.len()).max_by(|&a, &b| bright(&nits[a]).total_cmp(&bright(&nits[b]))).unwrap();
    let [x, y] = [brightest % bench.picture().width, brightest / bench.picture().width];
    let at = bench.app.viewport_rect().min + vec2(x as f32 + 0.5, y as f32 + 0.5);
    bench.frame(vec![Event::PointerMoved(at)]);
    bench.frame(vec![]);
    bench.frame(vec![Event::Copy]);
    let reading = bench.workspace().reading().expect("a reading");
    let picture = bench.picture();
    assert_eq!(reading.pixel, [x, y]);
    assert_eq!(reading.nits, picture.nits[y * picture.width + x]);
    let [r, g, b] = reading.nits.map(f64::from);
    let luminance = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    assert!((reading.luminance.get() / luminance - 1.0).abs() < 1e-3, "{luminance}, {reading}");
    // EV at ISO 100 of a reflected-light meter with K = 12.5: L = 2^EV / 8.
    assert!((reading.ev100.unwrap() - (luminance * 8.0).log2()).abs() < 2e-3, "{reading}");
    assert_eq!(bench.copied.as_deref(), Some(reading.to_string().as_str()));
    assert!(says(&bench, &format!("{x},{y}:")), "the last line has the same pixel");
}

/// Frames that a window draws by itself until it sleeps; as in its event loop, each follows when
/// the last one requested it.
fn frames_to_sleep(bench: &mut HeadlessViewer) -> u32 {
    let started = std::time::Instant::now();
    let mut frames = 0;
    while bench.again < std::time::Duration::from_secs(3600) {
        assert!(started.elapsed().as_secs() < 60 && frames < 200, "{frames} frames and no sleep");
        std::thread::sleep(bench.again.max(std::time::Duration::from_millis(10)));
        bench.frame(vec![]);
        frames += 1;
    }
    frames
}

#[test]
fn idle_window_sleeps() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    for change in [None, Some("taa"), Some("morphological")] {
        if let Some(method) = change {
            bench.app.set(&[("passes.aa.method", Some(method)), ("passes.aa.samples", Some("3"))]);
            bench.app.set(&[("camera.exposure.mode", Some("program"))]);
        }
        bench.rest();
        let frames = frames_to_sleep(&mut bench);
        println!("{change:?}: asleep after {frames} frames more");
        // Each message ends with a frame; the autosave is due some seconds after a change.
        assert!(frames < 30, "{change:?}: {frames}");
        let at = bench.middle();
        bench.frame(vec![Event::PointerMoved(at)]);
        assert!(frames_to_sleep(&mut bench) < 30, "the pointer wakes it for a while");
    }
}

/// A light of each kind. The file has points, a spot and a sun, tinted, so that their color affects
/// their strength; the look gives the others their shapes.
fn every_light() -> (tempfile::TempDir, PathBuf, Vec<&'static str>) {
    let lights = [
        ("Point", ""),
        ("Spot", ""),
        ("Parallel", ""),
        ("Measured", "ies = \"lamp.ies\"\n"),
        ("Sphere", "shape = \"sphere\"\nradius = 0.05\nlumens = 800\n"),
        ("Disk", "shape = \"disk\"\nradius = 0.05\nnits = 2000\n"),
        (
            "Rectangle",
            "shape = \"rectangle\"\nwidth = 0.4\nheight = 0.3\nsides = \"two\"\nev100 = 14\n",
        ),
        ("Tube", "shape = \"tube\"\nradius = 0.01\nlength = 1.0\ncandela = 120\n"),
        ("Sun", "angular_diameter = 0.533\n"),
        // Some 78 EV; the look's maximum is 64.
        ("Tiny", "shape = \"sphere\"\nradius = 0.000001\nlumens = 1000000000000\n"),
        // Zero has no EV.
        ("Dark", "shape = \"sphere\"\nradius = 0.05\nlumens = 0\n"),
    ];
    let mut builder = SceneBuilder::new("lights");
    let gray = builder.add_material(dielectric("Gray", Vec3::splat(0.4), 0.6));
    let mesh = builder.add_mesh("floor", shapes::plane(Vec2::splat(4.0), 1, 1), gray);
    builder.instance("floor", mesh, DMat4::IDENTITY);
    let mut look = LOOK.to_owned();
    for (index, (name, properties)) in lights.iter().enumerate() {
        let at = DVec3::new(index as f64 * 0.3 - 1.6, 1.0, 0.0);
        let (emitter, strength) = match *name {
            "Sun" | "Parallel" => (Emitter::PARALLEL, LightStrength::Lux(Lux(5000.0))),
            "Spot" => {
                let cone = Cone::new(0.2, 0.5).unwrap();
                (Emitter::Spot { cone, flux: SpotFlux::Exact }, LightStrength::Lumens(Lumen(800.0)))
            }
            _ => (Emitter::Point, LightStrength::Lumens(Lumen(800.0))),
        };
        builder.light(
            name,
            emitter,
            strength,
            Vec3::new(1.0, 0.6, 0.3),
            look_at_transform(at, at - DVec3::Y),
        );
        if !properties.is_empty() {
            look += &format!("[lights.{name}]\n{properties}");
        }
    }
    builder.camera("Eye", DVec3::new(1.2, 1.8, 3.4), DVec3::new(0.0, 0.5, 0.0), 0.7, None);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lights.glb");
    fs::write(&file, write_glb(&builder.build().unwrap()).unwrap()).unwrap();
    let ies = "IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 3 1 1 2 0 0 0\n1 1 10\n0 45 90\n0\n300 200 0\n";
    fs::write(dir.path().join("lamp.ies"), ies).unwrap();
    fs::write(dir.path().join("lights.look.toml"), look).unwrap();
    (dir, file, lights.map(|(name, _)| name).to_vec())
}

/// The entries that a page's lists offer.
fn offers_of(
    bench: &mut HeadlessViewer,
    watched: &Mutex<Vec<choice::Offer>>,
    page: Selection,
) -> BTreeSet<choice::Offer> {
    bench.workspace_mut().select(page);
    bench.frame(vec![]);
    watched.lock().unwrap().clear();
    bench.frame(vec![]);
    watched.lock().unwrap().drain(..).collect()
}

/// Restores a text of the look.
fn put_back(bench: &mut HeadlessViewer, text: &str) {
    bench.workspace_mut().document.replace(text.into(), "all of it");
    bench.app.set(&[]);
}

/// Chooses an entry: each value is parsed alone, and the whole step applied to the scene.
fn choose(bench: &mut HeadlessViewer, (list, changes): &choice::Offer) {
    for (path, value) in changes {
        if let Some(value) = value {
            Look::default().set(path, value).unwrap_or_else(|error| panic!("list {list}: {error}"));
        }
    }
    let step: Vec<_> =
        changes.iter().map(|(path, value)| (path.as_str(), value.as_deref())).collect();
    bench.app.set(&step);
    assert_eq!(bench.app.error_message(), None, "list {list}: {changes:?}");
    let values = bench.workspace().document.values();
    for (path, value) in changes {
        assert_eq!(
            values.contains_key(path),
            value.is_some(),
            "list {list}: {path} after {changes:?}"
        );
    }
}

#[test]
fn lists_offer_only_valid_values() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene(&format!("{PANEL}{ALL}"));
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    bench.paints = false;
    let watched = choice::watch(bench.app.context());
    let fresh = text(&bench);
    let name = |name: &str| name.to_owned();
    let mut counts = BTreeMap::<String, usize>::new();
    for page in [
        Selection::Camera,
        Selection::Light(name("Spot")),
        Selection::Light(name("Panel")),
        Selection::Environment,
        Selection::Material(name("Gray")),
        Selection::Water(name("Pond")),
        Selection::Volume(name("Fog")),
        Selection::Effects,
    ] {
        for offer in offers_of(&mut bench, &watched, page) {
            choose(&mut bench, &offer);
            put_back(&mut bench, &fresh);
            *counts.entry(offer.0).or_default() += 1;
        }
    }
    println!("offers of lists: {counts:?}");
    for list in [
        "camera.lens.f_stop",
        "camera.body.shutter",
        "camera.body.iso",
        "camera.exposure.mode",
        "unit",
        "passes.aa.method",
        "passes.tonemap.operator",
        "water.Pond.kind",
    ] {
        assert!(
            counts.get(list).is_some_and(|&count| count > 2),
            "{list} was not opened: {counts:?}"
        );
    }
}

#[test]
fn light_units_convert_into_each_other() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file, lights) = every_light();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    bench.paints = false;
    let watched = choice::watch(bench.app.context());
    let fresh = text(&bench);
    let mut counts = Vec::new();
    for light in lights {
        let page = || Selection::Light(light.into());
        // Illuminance for a sun, intensity for all others, by any unit.
        let strength = |bench: &HeadlessViewer| {
            let viewport = &bench.workspace().viewport;
            let node = &viewport.current_scene().nodes[viewport.light_nodes(light)[0]];
            let light = &viewport.current_scene().lights[node.light.unwrap()];
            light.candela().map_or_else(|| light.source.lux(1.0).get(), Candela::get)
                * light.color_luminance()
        };
        let before = strength(&bench);
        let same = |bench: &HeadlessViewer, offer: &choice::Offer| {
            let now = strength(bench);
            // Seven digits; an EV of some tens has five decimals.
            assert!(
                (now - before).abs() <= 2e-5 * before,
                "{light}: {before} is {now} by {offer:?}"
            );
        };
        let firsts = offers_of(&mut bench, &watched, page());
        for first in &firsts {
            choose(&mut bench, first);
            same(&bench, first);
            let there = text(&bench);
            for second in offers_of(&mut bench, &watched, page()) {
                choose(&mut bench, &second);
                same(&bench, &second);
                put_back(&mut bench, &there);
            }
            put_back(&mut bench, &fresh);
        }
        counts.push((light, firsts.len()));
    }
    let units = [2, 2, 1, 2, 4, 4, 4, 4, 3, 3, 3];
    assert!(counts.iter().map(|(_, count)| *count).eq(units), "units: {counts:?}, not {units:?}");
}

#[test]
fn scenes_load_in_the_background() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    let opened = |bench: &HeadlessViewer| bench.workspace().viewport.session.request.scene.clone();
    bench.patient = false;
    // A quarter of a million triangles: not loaded by the next frame.
    let large = request(std::path::Path::new("builtin:atrium"));
    bench.app.open(&large);
    bench.frame(vec![]);
    bench.frame(vec![]);
    assert!(bench.app.opening() && says(&bench, "Opening"), "{:?}", bench.texts);
    bench.keep("opening.png");
    assert_eq!(opened(&bench), Some(file.clone()), "what was open is there until then");
    bench.press(Key::Escape, Modifiers::NONE);
    assert!(!bench.app.opening());
    // A newer request replaces an older one.
    bench.app.open(&large);
    let corridor = request(std::path::Path::new("builtin:corridor"));
    bench.app.open(&corridor);
    bench.app.finish_opening();
    assert_eq!(opened(&bench), corridor.scene);
    // Errors are reported, and the open scene stays.
    let broken = dir.path().join("broken.glb");
    fs::write(&broken, b"glTF nonsense").unwrap();
    bench.app.open(&request(&broken));
    bench.app.finish_opening();
    assert_eq!(opened(&bench), corridor.scene);
    assert!(
        bench.app.error_message().is_some_and(|said| said.contains("broken.glb")),
        "{:?}",
        bench.app.error_message()
    );
    // Changes made while a scene is loading are not lost.
    bench.app.open(&large);
    bench.app.set(&[("camera.lens.f_stop", Some("11"))]);
    bench.app.finish_opening();
    bench.frame(vec![]);
    bench.frame(vec![]);
    assert_eq!(opened(&bench), corridor.scene);
    assert!(says(&bench, "The look has unsaved changes"), "{:?}", bench.texts);
}

/// Texts that are truncated outside of scroll areas, and overlapping pairs of texts, with their
/// positions.
fn unreadable(bench: &HeadlessViewer) -> Vec<String> {
    fn texts(shape: &Shape, clip: Rect, found: &mut Vec<(String, Rect, Rect)>) {
        match shape {
            Shape::Text(text) if !text.galley.text().trim().is_empty() => {
                found.push((text.galley.text().to_owned(), text.visual_bounding_rect(), clip));
            }
            Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, clip, found)),
            _ => {}
        }
    }
    let [width, height] = bench.window.map(|side| side as f32 / bench.scale);
    let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(width, height));
    let panel = |name: &str| {
        egui::containers::panel::PanelState::load(bench.app.context(), egui::Id::new(name))
            .map(|state| state.outer_rect)
    };
    // These scroll.
    let scrolls: Vec<Rect> =
        ["outliner", "inspector", "scopes"].into_iter().filter_map(panel).collect();
    let mut found = Vec::new();
    bench.shapes.iter().for_each(|shape| texts(&shape.shape, shape.clip_rect, &mut found));
    let mut wrong = Vec::new();
    // Buttons, lists and fields have frames.
    for shape in &bench.shapes {
        let Shape::Rect(frame) = &shape.shape else { continue };
        let (rect, framed) =
            (frame.rect, frame.blur_width == 0.0 && frame.rect.width() < 0.9 * width);
        let scrolled = scrolls.iter().any(|panel| panel.expand(1.0).contains_rect(shape.clip_rect));
        if framed && !scrolled && rect.left() < width && rect.right() > width + 1.5 {
            wrong.push(format!("cut: a frame at {rect:?}"));
        }
    }
    let mut seen: Vec<(&str, Rect)> = Vec::new();
    for (text, rect, clip) in &found {
        let visible = rect.intersect(*clip).intersect(screen);
        let scrolled = scrolls.iter().any(|panel| panel.expand(1.0).contains_rect(*clip));
        if !scrolled && !visible.expand(1.5).contains_rect(*rect) {
            wrong.push(format!("cut: '{text}' at {rect:?} by {clip:?}"));
        }
        let over = |other: &Rect| {
            let both = other.intersect(visible);
            both.width() > 2.0 && both.height() > 2.0
        };
        for (other, _) in seen.iter().filter(|(other, there)| over(there) && other != text) {
            wrong.push(format!("over each other: '{text}' and '{other}' at {visible:?}"));
        }
        if visible.is_positive() {
            seen.push((text, visible));
        }
    }
    wrong
}

/// Scales, and sizes of the window in points.
fn windows() -> impl Iterator<Item = (f32, [f32; 2])> {
    let sizes = [
        [MIN_WINDOW_SIZE.width as f32, MIN_WINDOW_SIZE.height as f32],
        [960.0, 540.0],
        [1440.0, 900.0],
    ];
    [1.0, 1.25, 1.5, 2.0]
        .into_iter()
        .flat_map(move |scale| sizes.into_iter().map(move |size| (scale, size)))
}

fn sized(bench: &mut HeadlessViewer, (scale, size): (f32, [f32; 2])) {
    bench.scale = scale;
    bench.window = size.map(|side| (side * scale) as u32);
    // The first frames settle the layout.
    for _ in 0..4 {
        bench.frame(vec![]);
    }
}

#[test]
fn panels_are_readable_at_each_scale() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::sized(&guard.gpu, request(&file), [560, 200]);
    bench.rest();
    // The existing picture is shown in each size; no others are drawn.
    bench.app.state.fatal = Some("no more pictures".into());
    bench.paints = std::env::var_os("SUNNY16_VIEWER_PICTURES").is_some();
    let mut wrong = Vec::new();
    for window in windows() {
        let (scale, [width, height]) = window;
        let mut check = |bench: &mut HeadlessViewer, what: &str| {
            bench.keep(&format!("scale.{scale}.{width}x{height}.{what}.png"));
            wrong.extend(
                unreadable(bench)
                    .into_iter()
                    .map(|text| format!("{scale} {width}x{height} {what}: {text}")),
            );
        };
        sized(&mut bench, window);
        let at = bench.app.viewport_rect().center();
        bench.frame(vec![Event::PointerMoved(at)]);
        bench.frame(vec![]);
        check(&mut bench, "picture");
        assert!(
            bench.app.viewport_rect().width() >= 100.0,
            "there is a picture: {:?} at {window:?}",
            bench.app.viewport_rect()
        );
        for word in ["camera EV", "scene EV", " nit EV "] {
            let whole =
                bench.texts.iter().any(|(text, _)| text.contains(word) && !text.ends_with("..."));
            assert!(whole, "{word} at {window:?}: {:?}", bench.texts);
        }
        bench.workspace_mut().select(Selection::Light("Spot".into()));
        bench.app.set_tool(Tool::Shadow);
        bench.press(Key::H, Modifiers::NONE);
        bench.frame(vec![]);
        bench.frame(vec![]);
        check(&mut bench, "scopes");
        bench.press(Key::H, Modifiers::NONE);
        bench.press(Key::Escape, Modifiers::NONE);
        for (mode, name) in reference_view::CompareMode::ALL {
            bench.app.state.reference_view.set_mode(mode);
            bench.frame(vec![]);
            bench.frame(vec![]);
            check(&mut bench, name);
        }
        bench.app.state.reference_view.set_mode(reference_view::CompareMode::Raster);
        bench.frame(vec![]);
        // The picture alone, in the whole width.
        bench.press(Key::Space, Modifiers::COMMAND);
        bench.frame(vec![]);
        check(&mut bench, "alone");
        assert!(!says(&bench, "Lights ("), "{:?}", bench.texts);
        bench.press(Key::Space, Modifiers::COMMAND);
    }
    assert!(wrong.is_empty(), "{} cannot be read:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn pages_and_dialogs_are_readable_at_each_scale() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene(&format!("{PANEL}{ALL}"));
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    bench.paints = std::env::var_os("SUNNY16_VIEWER_PICTURES").is_some();
    let mut wrong = Vec::new();
    for window in windows() {
        let (scale, [width, height]) = window;
        // Floating windows may cover what is below, but are complete themselves.
        let mut check = |bench: &mut HeadlessViewer, what: &str, floats: bool| {
            bench.frame(vec![]);
            bench.frame(vec![]);
            bench.keep(&format!("scale.{scale}.{width}x{height}.{what}.png"));
            let found =
                unreadable(bench).into_iter().filter(|text| !floats || text.starts_with("cut"));
            wrong.extend(found.map(|text| format!("{scale} {width}x{height} {what}: {text}")));
        };
        sized(&mut bench, window);
        let pages = [
            ("camera", Selection::Camera),
            ("environment", Selection::Environment),
            ("effects", Selection::Effects),
            ("spot", Selection::Light("Spot".into())),
            ("panel", Selection::Light("Panel".into())),
            ("water", Selection::Water("Pond".into())),
            ("volume", Selection::Volume("Fog".into())),
            ("material", Selection::Material("Gray".into())),
        ];
        for (name, page) in pages {
            bench.workspace_mut().select(page);
            check(&mut bench, name, false);
        }
        bench.press(Key::X, Modifiers::NONE);
        check(&mut bench, "mixer", true);
        bench.press(Key::X, Modifiers::NONE);
        bench.press(Key::P, Modifiers::COMMAND);
        check(&mut bench, "palette", true);
        bench.press(Key::Escape, Modifiers::NONE);
        bench.app.set(&[("camera.lens.f_stop", Some("5.6"))]);
        bench.app.close();
        check(&mut bench, "leave", true);
        bench.press(Key::Escape, Modifiers::NONE);
        bench.click(pos2(20.0, 12.0));
        check(&mut bench, "file", true);
        bench.press(Key::Escape, Modifiers::NONE);
        bench.frame(vec![]);
    }
    assert!(wrong.is_empty(), "{} cannot be read:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn gallery_is_readable_at_each_scale() {
    let Some(guard) = crate::common::gpu() else { return };
    let mut bench = HeadlessViewer::with(
        &guard.gpu,
        Options { gallery: true, ..Options::default() },
        [640, 360],
    );
    bench.paints = std::env::var_os("SUNNY16_VIEWER_PICTURES").is_some();
    for window in windows() {
        sized(&mut bench, window);
        let (scale, [width, height]) = window;
        bench.keep(&format!("scale.{scale}.{width}x{height}.gallery.png"));
        // It scrolls vertically; content beyond the right edge would be unreachable.
        let beyond: Vec<_> =
            bench.shapes.iter().map(|shape| shape.shape.visual_bounding_rect()).collect();
        let right = beyond
            .iter()
            .filter(|rect| rect.is_finite())
            .map(|rect| rect.right())
            .fold(0.0, f32::max);
        assert!(right <= width + 2.0, "{right} at {window:?}");
    }
}

#[test]
fn panels_keep_their_widths_through_a_tiny_window() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    bench.paints = false;
    bench.press(Key::H, Modifiers::NONE);
    let full = (1.0, [1000.0, 640.0]);
    sized(&mut bench, full);
    let panels = |bench: &HeadlessViewer| {
        ["outliner", "inspector", "scopes"].map(|name| {
            egui::containers::panel::PanelState::load(bench.app.context(), egui::Id::new(name))
                .unwrap()
                .outer_rect
        })
    };
    let before = (panels(&bench), bench.app.viewport_rect());
    for tiny in [[1.0, 1.0], [40.0, 30.0], [200.0, 500.0], [900.0, 20.0]] {
        sized(&mut bench, (1.0, tiny));
        sized(&mut bench, full);
        assert_eq!((panels(&bench), bench.app.viewport_rect()), before, "after {tiny:?}");
    }
}
