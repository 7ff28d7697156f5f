//! An asset without lights, lit in the window by input events alone: three lights by their data
//! sheets, a map, focus, exposure by the meter, frame, save, export. The saved look renders the
//! same picture.

use std::{fs, path::PathBuf};

use egui::{Event, Key, Modifiers, vec2};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    output::{ExrLayer, write_exr},
    photometry::{Candela, Lumen, lights::LightStrength},
    scene::{
        build::{SceneBuilder, dielectric},
        look::LightShape,
        procedural::shapes,
        write_glb::write_glb,
    },
    settings::Choice,
};

use crate::{
    common::headless_viewer::{HeadlessViewer, request},
    window::by_command_line,
};

/// A pear-shaped body on a table, without lights.
fn own_asset() -> (tempfile::TempDir, PathBuf) {
    let mut builder = SceneBuilder::new("own asset");
    let table = builder.add_material(dielectric("Table", Vec3::splat(0.4), 0.7));
    let body = builder.add_material(dielectric("Body", Vec3::new(0.6, 0.3, 0.1), 0.4));
    let floor = builder.add_mesh("top", shapes::plane(Vec2::splat(1.6), 1, 1), table);
    builder.instance("top", floor, DMat4::IDENTITY);
    let ball = builder.add_mesh("body", shapes::icosphere(0.12, 3), body);
    builder.instance("body", ball, DMat4::from_translation(DVec3::Y * 0.12));
    builder.camera("Eye", DVec3::new(0.3, 0.35, 0.9), DVec3::Y * 0.1, 0.5, None);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("own_asset.glb");
    fs::write(&file, write_glb(&builder.build().unwrap()).unwrap()).unwrap();
    let sky = [[60.0, 60.0, 70.0, 1.0]; 32 * 16];
    let layer = ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &sky };
    write_exr(&dir.path().join("studio.exr"), 32, 16, 1.0, &[layer]).unwrap();
    let profile = "IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 5 1 1 2 0 0 0\n1 1 0\n0 15 30 45 90\n0\n\
                   2000 1800 900 200 0\n";
    fs::write(dir.path().join("lamp.ies"), profile).unwrap();
    (dir, file)
}

/// The window, and the number of inputs that a person has made.
struct Artist {
    bench: HeadlessViewer,
    steps: u32,
}

impl Artist {
    fn click(&mut self, text: &str) {
        let at = self.bench.text(text);
        let at = at.unwrap_or_else(|| panic!("no {text}: {:?}", self.bench.texts));
        self.bench.click(at + vec2(4.0, 4.0));
        // Menus have their sizes in the frame after they open.
        (0..3).for_each(|_| self.bench.frame(vec![]));
        self.steps += 1;
    }

    fn press(&mut self, key: Key, modifiers: Modifiers) {
        self.bench.press(key, modifiers);
        self.bench.frame(vec![]);
        self.steps += 1;
    }

    /// Sets a property in the command palette.
    fn set(&mut self, assignment: &str) {
        self.press(Key::P, Modifiers::COMMAND);
        self.bench.frame(vec![Event::Text(assignment.into())]);
        self.steps += 1;
        self.press(Key::Enter, Modifiers::NONE);
        assert_eq!(self.bench.app.error_message(), None, "{assignment}");
    }

    /// Adds a light from the outliner; returns its name.
    fn add(&mut self, shape: LightShape) -> String {
        let names = |artist: &Self| -> Vec<String> {
            let look = artist.bench.workspace().document.look().unwrap();
            look.lights.keys().cloned().collect()
        };
        let before = names(self);
        self.click("Add");
        self.click(shape.name());
        names(self).into_iter().find(|name| !before.contains(name)).unwrap()
    }
}

#[test]
fn an_asset_is_lit_from_nothing() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = own_asset();
    let mut artist =
        Artist { bench: HeadlessViewer::sized(&guard.gpu, request(&file), [1280, 800]), steps: 0 };
    // No assertion is on the window's pixels.
    artist.bench.paints = false;
    artist.set("quality=direct");
    let softbox = artist.add(LightShape::Rectangle);
    artist.set(&format!("lights.{softbox}.lumens=3000"));
    artist.set(&format!("lights.{softbox}.kelvin=5600"));
    let spot = artist.add(LightShape::Spot);
    artist.set(&format!("lights.{spot}.ies=lamp.ies"));
    artist.set(&format!("lights.{spot}.candela=1500"));
    let bulb = artist.add(LightShape::Sphere);
    artist.set(&format!("lights.{bulb}.lumens=400"));
    artist.set(&format!("lights.{bulb}.kelvin=2700"));
    artist.set("environment.file=studio.exr");
    artist.set("environment.lux=120");
    artist.set("camera.lens.f_stop=4");
    artist.set("camera.exposure.mode=aperture");
    // Focus on the body, in the middle of the picture.
    artist.bench.rest();
    artist.press(Key::P, Modifiers::NONE);
    let middle = artist.bench.app.viewport_rect().center();
    artist.bench.click(middle);
    artist.steps += 1;
    artist.bench.rest();
    artist.press(Key::S, Modifiers::COMMAND);
    artist.press(Key::F12, Modifiers::NONE);
    println!("{} inputs from an asset without lights to files", artist.steps);
    assert!(artist.steps < 60, "a palette entry is three inputs: {}", artist.steps);

    let Artist { bench, .. } = &artist;
    assert!(!bench.workspace().document.changed(), "it is saved");
    let look = bench.workspace().document.look().unwrap();
    let strength = |name: &str| look.lights[name].strength();
    assert_eq!(strength(&softbox), Some(LightStrength::Lumens(Lumen(3000.0))));
    assert_eq!(strength(&spot), Some(LightStrength::Candela(Candela(1500.0))));
    let focus = look.camera.lens.focus;
    assert!(focus.is_some_and(|focus| (0.7..1.1).contains(&focus)), "{focus:?}");
    // No studio beside the lights, and the camera's frame.
    let opened = &bench.workspace().viewport.session;
    let lamps = opened.scene.walk().iter().filter(|at| at.node.light.is_some()).count();
    assert_eq!(lamps, 3);
    let size = bench.size();
    let aspect = f64::from(size.width) / f64::from(size.height);
    assert!((aspect / f64::from(opened.default_aspect_ratio) - 1.0).abs() < 0.01, "{aspect}");
    for name in ["own_asset.0000.png", "own_asset.0000.exr", "own_asset.look.toml"] {
        assert!(dir.path().join(name).is_file(), "{name}");
    }
    // The look alone gives the same picture.
    let alone = by_command_line(&guard, &file, size);
    let shown = bench.picture();
    assert!(alone.nits == shown.nits && alone.display == shown.display);
    assert!(alone.nits.iter().any(|pixel| pixel[1] > 50.0), "the asset is lit");
}
