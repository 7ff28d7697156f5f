//! Tests of the look being edited.
use std::fs;

use super::*;

const TEXT: &str = "# The key light is a 1200 lm bulb.\n[lights.Key]\nlumens = 1200 # from its box\n\n[camera.lens]\nf_stop = 2.8\n";

#[test]
fn a_change_keeps_comments_and_order() {
    let mut document = Document::new(TEXT, "a.look.toml", None);
    document.set(&[("lights.Key.lumens", Some("800")), ("camera.body.iso", Some("400"))]).unwrap();
    let text = document.text();
    assert!(
        text.starts_with(
            "# The key light is a 1200 lm bulb.\n[lights.Key]\nlumens = 800 # from its box\n"
        ),
        "{text}"
    );
    assert!(text.contains("[camera.body]\niso = 400"), "{text}");
    let look = document.look().unwrap();
    assert_eq!(look.camera.dials.iso, Some(400.0));
    assert_eq!(look.camera.dials.f_stop, Some(2.8));
}

#[test]
fn what_the_text_sets_can_be_read_by_path() {
    let values =
        Document::new(&format!("{TEXT}[environment]\nlux = 500\nfile = \"a.hdr\"\n"), "a", None)
            .values();
    assert_eq!(values.get("environment.file").map(String::as_str), Some("a.hdr"));
    assert_eq!(values.get("environment.lux").map(String::as_str), Some("500"));
    assert_eq!(values.get("camera.lens.f_stop").map(String::as_str), Some("2.8"));
    assert_eq!(values.len(), 4);
}

#[test]
fn names_with_dots_and_spaces_are_one_key() {
    let mut document = Document::new("", "a.look.toml", None);
    document
        .set(&[("lights.Spot.001.lumens", Some("5")), ("lights.Big lamp.kelvin", Some("3000"))])
        .unwrap();
    let look = document.look().unwrap();
    assert_eq!(look.lights.keys().collect::<Vec<_>>(), ["Big lamp", "Spot.001"]);
    assert!(document.text().contains("[lights.\"Spot.001\"]"), "{}", document.text());
}

#[test]
fn what_the_look_refuses_changes_nothing() {
    let mut document = Document::new(TEXT, "a.look.toml", None);
    for (path, value) in
        [("camera.lens.f_stop", "-1"), ("camera.lens.fstop", "2"), ("camera.lens", "2")]
    {
        document.set(&[("camera.body.iso", Some("400")), (path, Some(value))]).unwrap_err();
    }
    assert_eq!(document.text(), TEXT);
    assert!(!document.changed() && document.undo().is_none());
}

#[test]
fn a_strength_replaces_those_in_other_units() {
    let text = "[lights.Key]\nlumens = 800 # by its data sheet\nkelvin = 3000\n\n\
                [lights.\"Key.001\"]\nlumens = 5\n";
    let mut document = Document::new(text, "a.look.toml", None);
    document.set(&[("lights.Key.candela", Some("90"))]).unwrap();
    let values = document.values();
    let has = |path: &str| values.get(path).map(String::as_str);
    assert_eq!((has("lights.Key.candela"), has("lights.Key.lumens")), (Some("90"), None));
    assert_eq!((has("lights.Key.kelvin"), has("lights.Key.001.lumens")), (Some("3000"), Some("5")));
    document.undo().unwrap();
    assert_eq!(document.text(), text);
}

#[test]
fn setting_a_property_removes_its_old_name() {
    let mut document = Document::new("[gi]\nrays = 8\n", "a.look.toml", None);
    assert_eq!(document.values()["gi.vpl_samples"], "8");
    document.set(&[("gi.vpl_samples", Some("4"))]).unwrap();
    assert_eq!(document.text(), "[gi]\nvpl_samples = 4\n");
    document.set(&[("gi.vpl_samples", None)]).unwrap();
    assert!(document.values().is_empty(), "{}", document.text());
    // By its old name too, with comments, and with dots in an address.
    document.set(&[("gi.rays", Some("2"))]).unwrap();
    assert_eq!(document.values()["gi.vpl_samples"], "2");
    let text = "[passes.light_lists]\nenabled = true # measured\n\n\
                [probes.\"Probe.001\"]\n# One meter.\nblend = 1\n";
    let mut document = Document::new(text, "a.look.toml", None);
    document.set(&[("probes.Probe.001.blend_distance", Some("2"))]).unwrap();
    document.set(&[("passes.clustered_lights.enabled", Some("false"))]).unwrap();
    let text = document.text();
    assert!(text.contains("# One meter.\nblend_distance = 2"), "{text}");
    assert!(text.contains("enabled = false # measured"), "{text}");
    assert!(!text.contains("light_lists") && !text.contains("blend ="), "{text}");
    document.look().unwrap();
}

#[test]
fn steps_are_taken_back_and_forth_and_a_drag_is_one() {
    let mut document = Document::new(TEXT, "a.look.toml", None);
    for stop in 1..50 {
        document.set(&[("camera.lens.f_stop", Some(&format!("{stop}")))]).unwrap();
    }
    document.end_gesture();
    document.set(&[("camera.lens.f_stop", Some("8"))]).unwrap();
    assert_eq!(document.undo().as_deref(), Some("camera.lens.f_stop"));
    assert_eq!(document.look().unwrap().camera.dials.f_stop, Some(49.0));
    document.undo().unwrap();
    assert_eq!(document.text(), TEXT);
    assert!(document.undo().is_none());
    document.redo().unwrap();
    document.redo().unwrap();
    assert_eq!(document.look().unwrap().camera.dials.f_stop, Some(8.0));
    assert!(document.redo().is_none());
    document.undo().unwrap();
    document.set(&[("camera.body.iso", Some("100"))]).unwrap();
    assert!(document.redo().is_none(), "a new change clears redo");
}

#[test]
fn painted_maps_are_undo_steps_saved_beside_the_look_and_autosaved() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.look.toml");
    let map = |x: f32| {
        let plain = FlowMap::new(8, 4, vec![glam::Vec2::ZERO; 32]).unwrap();
        Arc::new(plain.with_velocities(vec![glam::Vec2::new(x, 0.0); 32]).unwrap())
    };
    let [zero, one, two, three] = [0.0, 0.25, 0.5, 0.75].map(map);
    let rectangle = [DVec2::new(-2.0, 0.1), DVec2::new(4.0, 2.0)];
    let open = |text: &str| Document::new(text, &file.display().to_string(), Some(file.clone()));
    let flow = |document: &Document| document.look().unwrap().water["My pool"].map.clone();
    let mut document = open(TEXT);
    document.paint("My pool", &zero, Arc::clone(&one), rectangle, Some(2.0)).unwrap();
    document.paint("My pool", &one, Arc::clone(&two), rectangle, None).unwrap();
    assert!(document.text().contains("flow = \"a.My_pool.flow.png\""), "{}", document.text());
    assert_eq!(flow(&document), Some(Arc::clone(&two)));
    assert_eq!(document.undo().as_deref(), Some("flow of My pool"));
    assert_eq!(flow(&document), Some(Arc::clone(&one)));
    document.redo().unwrap();
    // A crash.
    document.autosave_now();
    assert!(!dir.path().join("a.My_pool.flow.png").exists(), "the file waits for a save");
    let mut next = open(TEXT);
    let recovered = next.recovered().unwrap();
    next.restore(recovered);
    assert_eq!(flow(&next).as_deref(), Some(&*two));
    // A save, and the files it leaves.
    document.save().unwrap();
    assert!(!document.changed());
    let mut names: Vec<String> = fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a.My_pool.flow.png", "a.look.toml"]);
    assert_eq!(FlowMap::read(&dir.path().join("a.My_pool.flow.png")).unwrap(), *two);
    // The next run continues painting: undo finds the old map, also after a save.
    let text = fs::read_to_string(&file).unwrap();
    let mut later = open(&text);
    assert!(later.recovered().is_none() && !later.changed());
    later.paint("My pool", &two, Arc::clone(&three), rectangle, None).unwrap();
    assert!(later.changed(), "the map differs, though the text is the same");
    assert_eq!(later.text(), text);
    later.save().unwrap();
    assert_eq!(FlowMap::read(&dir.path().join("a.My_pool.flow.png")).unwrap(), *three);
    later.undo().unwrap();
    assert!(later.changed());
    assert_eq!(flow(&later), Some(Arc::clone(&two)));
    // A file set by hand replaces the painted flow.
    later.set(&[("water.My pool.flow", Some("other.png"))]).unwrap();
    assert_eq!(flow(&later), None);
    later.paint("My pool", &zero, Arc::clone(&one), rectangle, None).unwrap();
    assert!(
        later.text().contains("a.My_pool.2.flow.png"),
        "the existing file is kept: {}",
        later.text()
    );
}

#[test]
fn autosaved_maps_that_are_not_restored_are_deleted_with_the_autosave() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.look.toml");
    fs::write(&file, TEXT).unwrap();
    let map = Arc::new(FlowMap::new(8, 4, vec![glam::Vec2::ZERO; 32]).unwrap());
    let painted = Arc::new(map.with_velocities(vec![glam::Vec2::new(0.5, 0.0); 32]).unwrap());
    let rectangle = [DVec2::ZERO, DVec2::ONE];
    let open = || Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
    let names = || {
        let mut names: Vec<String> = fs::read_dir(dir.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let accident = || {
        let mut document = open();
        document.paint("Pool", &map, Arc::clone(&painted), rectangle, Some(2.0)).unwrap();
        document.autosave_now();
    };
    let copies = ["a.Pool.flow.png.autosave", "a.look.toml", "a.look.toml.autosave"];
    accident();
    assert_eq!(names(), copies);
    // Not restored: they are kept for the next start, until a newer autosave.
    let mut next = open();
    assert!(next.recovered().is_some());
    assert_eq!(names(), copies);
    next.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
    next.autosave_now();
    assert_eq!(names(), copies[1..]);
    next.save().unwrap();
    assert_eq!(names(), copies[1..2]);
    // Saved before an autosave is due.
    fs::write(&file, TEXT).unwrap();
    accident();
    // A map in another folder is not part of the autosave.
    let copy = dir.path().join(copies[2]);
    let text = fs::read_to_string(&copy).unwrap();
    let elsewhere = dir.path().join("sub/b.png.autosave");
    fs::create_dir(dir.path().join("sub")).unwrap();
    fs::write(&elsewhere, b"x").unwrap();
    fs::write(&copy, format!("{text}[water.Other]\nflow = \"sub/b.png\"\n")).unwrap();
    let mut next = open();
    next.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
    next.save().unwrap();
    assert_eq!(names(), ["a.look.toml", "sub"]);
    assert!(elsewhere.exists());
}

fn maps() -> ([Arc<FlowMap>; 3], [DVec2; 2]) {
    let map = |x: f32| {
        let plain = FlowMap::new(8, 4, vec![glam::Vec2::ZERO; 32]).unwrap();
        Arc::new(plain.with_velocities(vec![glam::Vec2::new(x, 0.0); 32]).unwrap())
    };
    ([0.0, 0.25, 0.5].map(map), [DVec2::ZERO, DVec2::ONE])
}

#[test]
fn maps_of_several_waters_are_all_saved_and_undone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.look.toml");
    let open = |text: &str| Document::new(text, &file.display().to_string(), Some(file.clone()));
    let ([zero, one, two], rectangle) = maps();
    // An earlier run has painted both.
    let mut first = open(TEXT);
    for water in ["A", "B"] {
        first.paint(water, &zero, Arc::clone(&one), rectangle, None).unwrap();
    }
    first.save().unwrap();
    let mut next = open(&fs::read_to_string(&file).unwrap());
    next.set(&[("camera.lens.f_stop", Some("8"))]).unwrap();
    for water in ["A", "B"] {
        next.paint(water, &one, Arc::clone(&two), rectangle, None).unwrap();
    }
    next.save().unwrap();
    for water in ["A", "B"] {
        assert_eq!(
            FlowMap::read(&dir.path().join(format!("a.{water}.flow.png"))).unwrap(),
            *two,
            "{water}"
        );
    }
    // Undo past the strokes and the setting: the maps are those of the file then.
    for _ in 0..3 {
        next.undo().unwrap();
        let maps = next.look().unwrap().water;
        assert_eq!(maps["B"].map, Some(Arc::clone(&one)));
    }
    assert_eq!(next.look().unwrap().water["A"].map, Some(Arc::clone(&one)));
    assert!(next.changed());
}

#[test]
fn painted_maps_that_wait_to_be_undone_are_bounded() {
    let big = |x: f32| {
        let plain = FlowMap::new(2048, 2048, vec![glam::Vec2::ZERO; 2048 * 2048]).unwrap();
        Arc::new(plain.with_velocities(vec![glam::Vec2::new(x, 0.0); 2048 * 2048]).unwrap())
    };
    let mut document = Document::new(TEXT, "a.look.toml", None);
    let mut before = big(0.0);
    for stroke in 1..=8u8 {
        let map = big(f32::from(stroke) / 10.0);
        document.paint("A", &before, Arc::clone(&map), [DVec2::ZERO, DVec2::ONE], None).unwrap();
        before = map;
    }
    let steps = std::iter::from_fn(|| document.undo()).count();
    assert!((2..8).contains(&steps), "{steps} steps of 48 MiB each");
}

#[test]
fn saved_elsewhere_a_look_still_finds_its_files_and_takes_no_others() {
    let dir = tempfile::tempdir().unwrap();
    let [here, there] = ["here", "there"].map(|name| dir.path().join(name));
    fs::create_dir(&here).unwrap();
    fs::create_dir(&there).unwrap();
    let ([zero, one, _], rectangle) = maps();
    let file = here.join("a.look.toml");
    let text = "[lights.Key]\nies = \"lamps/key.ies\"\n[environment]\nfile = \"/sky.hdr\"\n";
    let mut document = Document::new(text, &file.display().to_string(), Some(file.clone()));
    document.paint("Pool", &zero, Arc::clone(&one), rectangle, None).unwrap();
    document.autosave_now();
    assert!(here.join("a.look.toml.autosave").exists());
    // An existing file has the name that the map would get there.
    fs::write(there.join("b.Pool.flow.png"), b"theirs").unwrap();
    document.save_as(there.join("b.look.toml")).unwrap();
    let values = document.values();
    assert_eq!(values["lights.Key.ies"], here.join("lamps/key.ies").display().to_string());
    assert_eq!(values["environment.file"], "/sky.hdr");
    assert_eq!(values["water.Pool.flow"], "b.Pool.2.flow.png");
    assert_eq!(FlowMap::read(&there.join("b.Pool.2.flow.png")).unwrap(), *one);
    assert_eq!(fs::read(there.join("b.Pool.flow.png")).unwrap(), b"theirs");
    assert_eq!(document.look().unwrap().water["Pool"].map, Some(Arc::clone(&one)));
    assert_eq!(fs::read_dir(&here).unwrap().count(), 0, "the autosave is deleted");
    document.undo().unwrap();
    assert_eq!(
        document.values()["lights.Key.ies"],
        here.join("lamps/key.ies").display().to_string()
    );
    assert!(!document.changed() || document.text() != document.saved.text);
}

#[test]
fn what_others_wrote_is_replaced_only_once_that_was_said() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.look.toml");
    fs::write(&file, TEXT).unwrap();
    let mut document = Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
    document.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
    let theirs = format!("{TEXT}# by hand\n");
    fs::write(&file, &theirs).unwrap();
    let said = document.save().unwrap_err().to_string();
    assert!(said.contains("another program has changed it"), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), theirs);
    assert!(document.changed());
    document.save().unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), document.text());
    // Changed by hand again: it warns again.
    fs::write(&file, &theirs).unwrap();
    document.set(&[("camera.lens.f_stop", Some("5.6"))]).unwrap();
    document.save().unwrap_err();
}

#[test]
fn a_look_without_a_file_autosaves_to_the_given_path() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("unsaved/petals.look.toml.autosave");
    let open = || Document::new(TEXT, "petals.look.toml", None).with_autosave(copy.clone());
    let ([zero, one, _], rectangle) = maps();
    let mut document = open();
    document.paint("Pond", &zero, Arc::clone(&one), rectangle, None).unwrap();
    document.autosave_now();
    let mut next = open();
    next.restore(next.recovered().unwrap());
    assert_eq!(next.text(), document.text());
    assert_eq!(next.look().unwrap().water["Pond"].map.as_deref(), Some(&*one));
    // After discarding there is no autosave.
    document.discard();
    assert_eq!(fs::read_dir(dir.path().join("unsaved")).unwrap().count(), 0);
    assert!(open().recovered().is_none());
}

#[test]
fn a_property_can_be_taken_out() {
    let mut document = Document::new(TEXT, "a.look.toml", None);
    document.set(&[("lights.Key.lumens", None), ("lights.Missing.lumens", None)]).unwrap();
    assert!(
        document.look().unwrap().lights.get("Key").is_none_or(|light| light.strength().is_none())
    );
}

#[test]
fn saving_is_atomic_and_a_crash_leaves_an_autosave() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.look.toml");
    fs::write(&file, TEXT).unwrap();
    let mut document = Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
    assert!(document.recovered().is_none());
    document.set(&[("camera.lens.f_stop", Some("4"))]).unwrap();
    document.autosave_now();
    assert_eq!(fs::read_to_string(&file).unwrap(), TEXT, "the file waits for a save");
    // The program ends here; the next run finds the autosave.
    let next = Document::new(TEXT, &file.display().to_string(), Some(file.clone()));
    assert_eq!(next.recovered().unwrap().text, document.text());
    document.save().unwrap();
    assert!(!document.changed());
    assert!(next.recovered().is_none(), "a save deletes the autosave");
    assert_eq!(fs::read_to_string(&file).unwrap(), document.text());
    document.save_as(dir.path().join("no/such/folder/b.toml")).unwrap_err();
    assert_eq!(document.file(), Some(file.as_path()), "a failed save does not change the file");
}

#[test]
fn items_are_created_renamed_and_removed_as_single_steps() {
    let mut document = Document::new(TEXT, "a.look.toml", None);
    let [add, at] = ["lights.Rim.add", "lights.Rim.position"];
    document.create(&[(add, Some("true")), (at, Some("0 1 0"))], "new light Rim").unwrap();
    document.create(&[("lights.Rim.lumens", Some("5"))], "more").unwrap();
    assert_eq!(document.steps()[0], Some("more"));
    document.undo();
    assert_eq!(document.steps()[0], Some("new light Rim"));
    let whole = document.text().to_owned();
    assert!(whole.starts_with(TEXT.split("[camera").next().unwrap()), "{whole}");
    document.rename_item("lights", ["Key", "Main.001"]).unwrap();
    let renamed = "# The key light is a 1200 lm bulb.\n[lights.\"Main.001\"]\nlumens = 1200 # from";
    assert!(document.text().starts_with(renamed), "{}", document.text());
    assert_eq!(document.look().unwrap().lights["Main.001"].lumens, Some(1200.0));
    document.undo();
    assert_eq!(document.text(), whole, "one step");
    document.remove_item("lights", "Key").unwrap();
    let left = document.text();
    assert!(!left.contains("Key") && !left.contains("bulb"), "{left}");
    assert!(left.contains("[lights.Rim]") && left.contains("f_stop = 2.8"), "{left}");
    document.remove_item("lights", "Rim").unwrap();
    assert!(!document.text().contains("lights"), "{}", document.text());
    document.remove_item("lights", "Rim").unwrap();
    assert_eq!(document.steps()[0], Some("delete Rim"), "nothing more to remove");
    document.undo();
    document.undo();
    assert_eq!(document.text(), whole);
}
