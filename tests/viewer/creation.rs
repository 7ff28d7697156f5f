//! Lights and cameras that the window adds, copies, renames and deletes.

use std::fs;

use egui::{Event, Key, Modifiers, PointerButton, pos2, vec2};
use glam::DVec3;
use sunny16::{
    scene::look::{LightShape, Look},
    session::OpenRequest,
    settings::Choice,
    viewer::{
        action::{ItemAction, WindowAction},
        panels::inspector::Selection,
        rig::Rig,
        tool::Tool,
    },
};

use crate::{
    common::headless_viewer::{HeadlessViewer, project, request},
    interaction::lights_scene,
    window::by_command_line,
};

fn look(bench: &HeadlessViewer) -> Look {
    bench.workspace().document.look().unwrap()
}

fn text(bench: &HeadlessViewer) -> String {
    bench.workspace().document.text().to_owned()
}

/// Carries out an action, and shows its effect.
fn act(bench: &mut HeadlessViewer, action: ItemAction) {
    bench.app.apply(action);
    bench.frame(vec![]);
    bench.frame(vec![]);
}

/// The scene's light of this name: its world position, and its direction.
fn placed(bench: &HeadlessViewer, name: &str) -> Option<(DVec3, DVec3)> {
    let scene = &bench.workspace().viewport.session.scene;
    let walk = scene.walk();
    let found = walk.iter().find(|at| at.node.name == name && at.node.light.is_some())?;
    Some((found.world.w_axis.truncate(), -found.world.z_axis.truncate().normalize()))
}

#[test]
fn each_kind_of_light_is_added_in_the_view_as_one_step() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    let before = text(&bench);
    for name in LightShape::NAMES {
        act(&mut bench, ItemAction::AddLight(LightShape::from_name(name).unwrap()));
        let look = look(&bench);
        let (light, set) = look.lights.iter().find(|(_, light)| light.add()).unwrap();
        assert_eq!(set.shape.map(Choice::name), Some(*name));
        // It is selected and in the list, and its strength can be edited.
        assert!(bench.text(light).is_some() && bench.text("Strength").is_some(), "{name}");
        let (position, direction) = placed(&bench, light).unwrap();
        let view = bench.workspace().viewport.session.view();
        let clip = view.view_projection * (position - view.position).as_vec3().extend(1.0);
        let [x, y] = [clip.x / clip.w, clip.y / clip.w];
        assert!(clip.w > 0.0 && x.abs() < 1.0 && y.abs() < 1.0, "{name} is in the view: {x} {y}");
        let camera = bench.workspace().viewport.pose();
        let to_camera = (camera.w_axis.truncate() - position).normalize();
        assert!(direction.dot(to_camera) < 0.5, "{name} does not shine into the camera");
        bench.press(Key::Z, Modifiers::COMMAND);
        bench.frame(vec![]);
        assert_eq!(text(&bench), before, "{name}: one step");
        assert!(placed(&bench, light).is_none(), "{name} is gone");
        assert!(bench.text("Strength").is_none(), "{name} is not selected");
    }
}

#[test]
fn a_rig_is_one_step() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    let before = text(&bench);
    for (rig, names) in
        [(Rig::ThreePoint, vec!["Fill", "Key", "Rim"]), (Rig::RimPair, vec!["Rim", "Rim2"])]
    {
        act(&mut bench, ItemAction::AddRig(rig));
        let look = look(&bench);
        let added: Vec<&String> =
            look.lights.iter().filter(|(_, light)| light.add()).map(|(name, _)| name).collect();
        assert_eq!(added, names);
        assert!(names.iter().all(|name| placed(&bench, name).is_some()), "{names:?}");
        bench.press(Key::Z, Modifiers::COMMAND);
        bench.frame(vec![]);
        assert_eq!(text(&bench), before);
    }
}

#[test]
fn lights_are_duplicated_copied_pasted_renamed_and_deleted() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    let before = text(&bench);
    let select = |bench: &mut HeadlessViewer, name: &str| {
        bench.workspace_mut().select(Selection::Light(name.into()));
        bench.frame(vec![]);
    };
    // A light of the file, with what the look sets of it.
    select(&mut bench, "Panel");
    bench.press(Key::D, Modifiers::COMMAND);
    bench.frame(vec![]);
    let copy = look(&bench).lights["Panel2"].clone();
    assert_eq!((copy.add, copy.width, copy.lumens), (Some(true), Some(0.4), Some(1200.0)));
    let [(old, to), (new, turned)] = ["Panel", "Panel2"].map(|name| placed(&bench, name).unwrap());
    let right = bench.workspace().viewport.pose().x_axis.truncate();
    assert!((new - old).normalize().dot(right) > 0.999, "beside it: {old} {new}");
    assert!((new - old).length() > 0.05 && turned.dot(to) < 1.0, "both aim at one point");

    // Renamed in its field, then deleted; each is a step.
    let (_, field) = bench.texts.iter().rfind(|(text, _)| text == "Panel2").cloned().unwrap();
    bench.click(field + vec2(4.0, 4.0));
    bench.press(Key::A, Modifiers::COMMAND);
    bench.frame(vec![Event::Text("Rim light".into())]);
    bench.press(Key::Enter, Modifiers::NONE);
    bench.frame(vec![]);
    assert!(look(&bench).lights.contains_key("Rim light"), "{}", text(&bench));
    assert!(bench.text("Rim light").is_some());
    act(&mut bench, ItemAction::Rename("Spot".into()));
    let said = bench.app.error_message().map(str::to_owned);
    assert!(said.is_some_and(|said| said.contains("'Spot' is taken")));
    bench.press(Key::Delete, Modifiers::NONE);
    bench.frame(vec![]);
    assert_eq!(text(&bench), before);
    assert!(placed(&bench, "Rim light").is_none());
    for name in ["Rim light", "Panel2"] {
        bench.press(Key::Z, Modifiers::COMMAND);
        bench.frame(vec![]);
        assert!(placed(&bench, name).is_some(), "{name} is back");
    }
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(text(&bench), before);

    // A light of the file is switched off, and its name is the file's.
    select(&mut bench, "Spot");
    act(&mut bench, ItemAction::Rename("Other".into()));
    let said = bench.app.error_message().map(str::to_owned);
    assert!(said.is_some_and(|said| said.contains("named by the scene file")));
    bench.press(Key::Delete, Modifiers::NONE);
    assert_eq!(look(&bench).lights["Spot"].enabled, Some(false));
    assert!(placed(&bench, "Spot").is_none());
    bench.press(Key::Z, Modifiers::COMMAND);
    bench.frame(vec![]);

    // Copied as text of a look, and pasted from one.
    select(&mut bench, "Spot");
    act(&mut bench, ItemAction::Copy);
    let copied = bench.copied.clone().expect("text");
    let mut parsed = Look::default();
    parsed.parse("copied", &copied).unwrap();
    assert_eq!(parsed.lights["Spot"].shape, Some(LightShape::Spot), "{copied}");
    assert_eq!(text(&bench), before, "copying changes nothing");
    bench.frame(vec![Event::Paste(copied)]);
    bench.frame(vec![]);
    let [(old, to), (new, turned)] = ["Spot", "Spot2"].map(|name| placed(&bench, name).unwrap());
    assert!((new - old).length() < 1e-4 && turned.dot(to) > 1.0 - 1e-6, "in its place");
    bench.frame(vec![Event::Paste("[camera.lens]\nf_stop = 2\n".into())]);
    let said = bench.app.error_message().map(str::to_owned);
    assert!(said.is_some_and(|said| said.contains("clipboard holds no lights")));
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(text(&bench), before);
}

#[test]
fn handles_move_an_added_light_in_its_parents_space() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let own = fs::read_to_string(dir.path().join("lamps.look.toml")).unwrap();
    // The panel's node is turned and moved.
    let added = "[lights.Child]\nadd = true\nparent = \"Panel\"\nposition = \"0.1 0.1 0.2\"\n";
    fs::write(dir.path().join("lamps.look.toml"), format!("{own}{added}")).unwrap();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    bench.workspace_mut().select(Selection::Light("Child".into()));
    bench.app.set_tool(Tool::Move);
    // The larger picture separates the arrows by more than their width.
    let mut settings = bench.app.settings();
    settings.guides.gate = false;
    bench.app.apply(WindowAction::Settings(settings));
    bench.frame(vec![]);
    bench.frame(vec![]);
    let (at, _) = placed(&bench, "Child").unwrap();
    let seen = |bench: &HeadlessViewer, place: DVec3| {
        let view = bench.workspace().viewport.session.view();
        let clip = view.view_projection * (place - view.position).as_vec3().extend(1.0);
        let rect = bench.app.viewport_rect();
        let part = [clip.x, clip.y].map(|v| v / clip.w * 0.5 + 0.5);
        pos2(rect.left() + part[0] * rect.width(), rect.top() + part[1] * rect.height())
    };
    let hold = seen(&bench, at + DVec3::X * 0.1);
    let to = seen(&bench, at + DVec3::X * 0.4);
    bench.drag(hold, to, PointerButton::Primary);
    let (moved, _) = placed(&bench, "Child").unwrap();
    let by = moved - at;
    assert!((by - DVec3::X * 0.3).abs().max_element() < 0.01, "{by} m in the world");
    let local = look(&bench).lights["Child"].position.unwrap();
    assert!((local - DVec3::new(0.1, 0.1, 0.2)).length() > 0.2, "{local}");
}

#[test]
fn an_added_camera_has_the_view_and_is_chosen_in_the_list() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    let before = text(&bench);
    let view = bench.workspace().viewport.session.view();
    bench.workspace_mut().select(Selection::Camera);
    bench.frame(vec![]);
    act(&mut bench, ItemAction::AddCamera("Hero".into()));
    let session = &bench.workspace().viewport.session;
    assert_eq!(session.camera_name, "Hero");
    let same = session.view();
    assert!((same.position - view.position).length() < 1e-4);
    assert!((same.forward - view.forward).length() < 1e-4);
    assert!(bench.text("Delete Hero").is_some());
    // Its dials are its own, and change nothing in the scene.
    bench.app.set(&[("cameras.Hero.f_stop", Some("2")), ("camera.lens.f_stop", Some("11"))]);
    bench.frame(vec![]);
    let dials = |bench: &HeadlessViewer| bench.workspace().viewport.session.physical_camera.dials;
    assert_eq!(dials(&bench).f_stop, Some(2.0));
    bench.app.set(&[("camera.name", Some("Eye"))]);
    bench.frame(vec![]);
    assert_eq!(dials(&bench).f_stop, Some(11.0));
    bench.app.set(&[("camera.name", Some("Hero"))]);
    bench.frame(vec![]);
    for _ in 0..3 {
        bench.press(Key::Z, Modifiers::COMMAND);
    }
    bench.frame(vec![]);
    act(&mut bench, ItemAction::AddCamera("Hero".into()));
    let said = bench.app.error_message().map(str::to_owned);
    assert!(said.is_some_and(|said| said.contains("'Hero' is taken")));
    act(&mut bench, ItemAction::Delete);
    assert_eq!(text(&bench), before);
    assert_eq!(bench.workspace().viewport.session.camera_name, "Eye");
}

/// The camera of `--camera` ends with its deletion, and returns once that is undone; an added
/// camera keeps the view with its roll and its sensor.
#[test]
fn a_requested_camera_is_deleted_and_copied_and_returns() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let own = fs::read_to_string(dir.path().join("lamps.look.toml")).unwrap();
    let top = "[cameras.Top]\nadd = true\nposition = \"0.5 2.1 1.7\"\ntarget = \"0.1 0.2 0\"\n\
               roll = 20\nfocal_length = 28\nsensor = \"25.6x14.4\"\n";
    fs::write(dir.path().join("lamps.look.toml"), format!("{own}{top}")).unwrap();
    let requested = OpenRequest { camera: Some("Top".into()), ..request(&file) };
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &requested);
    let name = |bench: &HeadlessViewer| bench.workspace().viewport.session.camera_name.clone();
    bench.workspace_mut().select(Selection::Camera);
    bench.frame(vec![]);
    assert_eq!(name(&bench), "Top");

    let matrix = |bench: &HeadlessViewer| bench.workspace().viewport.view().view_projection;
    let before = matrix(&bench);
    act(&mut bench, ItemAction::AddCamera("Copy".into()));
    assert_eq!(name(&bench), "Copy");
    assert_eq!(look(&bench).cameras["Copy"].sensor, look(&bench).cameras["Top"].sensor);
    let difference = (matrix(&bench) - before).to_cols_array().map(f32::abs);
    assert!(difference.iter().all(|difference| *difference < 1e-5), "{difference:?}");
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(name(&bench), "Top", "the command line's choice is back");

    act(&mut bench, ItemAction::Delete);
    assert_eq!(bench.app.error_message(), None);
    assert_eq!(name(&bench), "Eye");
    bench.press(Key::Z, Modifiers::COMMAND);
    assert_eq!(name(&bench), "Top");
    bench.press(Key::Y, Modifiers::COMMAND);
    assert_eq!(name(&bench), "Eye", "deleted again");
}

#[test]
fn lights_of_the_environment_are_in_the_list_and_stay_in_a_look_without_them() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene();
    let is_bright = |x: usize, y: usize| (100..102).contains(&x) && (30..32).contains(&y);
    let nits =
        |x: usize, y: usize| if is_bright(x, y) { (1e6_f32, 1e6, 1e6) } else { (10.0, 10.0, 10.0) };
    exr::prelude::write_rgb_file(dir.path().join("sky.exr"), 256, 128, nits).unwrap();
    let own = fs::read_to_string(dir.path().join("lamps.look.toml")).unwrap();
    let sky =
        own.replace("[environment]\n", "[environment]\nfile = \"sky.exr\"\nextract = \"sun\"\n");
    let sun = "[lights.\"environment.sun\"]\nshadow = false\n";
    fs::write(dir.path().join("lamps.look.toml"), format!("{sky}{sun}")).unwrap();
    let mut bench = HeadlessViewer::undrawn(&guard.gpu, &request(&file));
    bench.frame(vec![]);
    assert!(bench.text("environment.sun").is_some());
    // A light that is switched off can be switched on again.
    bench.app.set(&[("lights.environment.sun.enabled", Some("false"))]);
    bench.frame(vec![]);
    assert!(bench.text("environment.sun").is_some());
    bench.app.set(&[("environment.extract", Some("off"))]);
    bench.frame(vec![]);
    assert_eq!(bench.app.error_message(), None);
    assert!(bench.text("environment.sun").is_none());
}

#[test]
fn a_light_added_in_the_window_is_saved_and_rendered_alike() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    let before = bench.picture().display.clone();
    let at = bench.text("Add").expect("in the outliner");
    bench.click(at + vec2(4.0, 4.0));
    bench.frame(vec![]);
    let at = bench.text("rectangle").expect("in the menu");
    bench.click(at + vec2(4.0, 4.0));
    bench.rest();
    bench.keep("added.png");
    assert_ne!(bench.picture().display, before, "it shines");
    // Placed by its highlight; without a selected light the click adds another one.
    bench.app.set_tool(Tool::Highlight);
    let at = bench.middle();
    bench.click(at);
    bench.rest();
    bench.keep("highlight.png");
    let surface = bench.workspace().surface().unwrap();
    let eye = bench.workspace().viewport.pose().w_axis.truncate();
    let half_vector = |bench: &HeadlessViewer, name: &str| {
        let (position, _) = placed(bench, name).unwrap();
        let [to_eye, to_light] = [eye, position].map(|place| (place - surface.point).normalize());
        (to_eye + to_light).normalize()
    };
    assert!((half_vector(&bench, "Rectangle") - surface.normal).length() < 1e-3);
    bench.workspace_mut().select(Selection::Environment);
    bench.click(at);
    bench.frame(vec![]);
    assert!((half_vector(&bench, "Rectangle2") - surface.normal).length() < 1e-3);
    bench.press(Key::Z, Modifiers::COMMAND);
    bench.rest();
    let saved = bench.picture().clone();
    bench.press(Key::S, Modifiers::COMMAND);
    assert!(!bench.workspace().document.changed());
    let size = bench.size();
    assert_eq!(by_command_line(&guard, &file, size).display, saved.display);
}
