//! The viewer window's content, driven by input events without a window system. Displayed pictures
//! equal those of the command line, changes reach the file, and errors lose nothing.

use std::{
    fs,
    time::{Duration, Instant},
};

use crate::common::{
    Guard,
    headless_viewer::{HANG, HeadlessViewer, WINDOW, project, request},
};
use egui::{Event, Key, Modifiers, PointerButton, RawInput, vec2};
use glam::{Mat3, Vec3, vec3};
use sunny16::{
    camera::{DisplayEncoding, display::tone_map_hdr, exposure::Receptor},
    frame::{RenderedImage, incident},
    gpu::{fault_injection::Fault, vk},
    session::{self, OpenRequest, Session, Size},
    viewer::{
        App,
        action::{CameraAction, Direction, DocumentAction, EngineAction, WindowAction},
        guides::FrameGuide,
        panels::{inspector::Selection, mixer::Fader, reference_view, viewport::Tool},
        shader_reload::ShaderSources,
        viewport::{Job, Sequence},
    },
};

/// The command line's picture of the same look, in this size.
pub fn by_command_line(guard: &Guard, scene: &std::path::Path, size: Size) -> RenderedImage {
    let opened = session::open(&OpenRequest { size: Some(size), ..request(scene) }).unwrap();
    let samples = opened.still_samples();
    let mut session = Session::open(guard.renderer(), opened).unwrap();
    let exposed = session.determine_exposure(true).unwrap();
    let white_balance = session.white_balance(exposed.exposure).unwrap();
    let settings = session.picture_settings(&exposed, white_balance, vec![]).unwrap();
    session.still(&settings, samples, &mut |_| Ok(())).unwrap()
}

#[test]
fn edited_saved_and_reopened_looks_match_the_command_line() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    bench.keep("session.png");
    let size = bench.size();
    let expected = by_command_line(&guard, &file, size);
    assert_eq!(bench.picture().display, expected.display, "bit for bit what `render` writes");
    assert_eq!(bench.picture().nits, expected.nits);

    // A camera setting, by the palette and the keyboard alone.
    let before = bench.picture().clone();
    bench.press(Key::P, Modifiers::COMMAND);
    bench.frame(vec![Event::Text("camera.lens.f_stop=4".into())]);
    bench.keep("palette.png");
    bench.press(Key::Enter, Modifiers::NONE);
    bench.rest();
    let stops = bench.picture().exposure.stops_above(before.exposure);
    let f_stop = bench.workspace().viewport.session.look.camera.dials.f_stop;
    assert_eq!(f_stop, Some(4.0));
    assert!(stops.abs() > 0.1, "the dial exposes: {stops}");
    bench.press(Key::Z, Modifiers::COMMAND);
    bench.rest();
    assert_eq!(bench.picture().display, before.display, "undo brings the very picture back");
    bench.press(Key::Y, Modifiers::COMMAND);

    // Aim a light by a click on a surface.
    let name = sunny16_lights(&bench)[0].clone();
    bench.workspace_mut().select(Selection::Light(name.clone()));
    bench.app.set_tool(Tool::Aim);
    let at = bench.middle();
    bench.rest();
    bench.click(at);
    bench.rest();
    let text = bench.workspace().document.text().to_owned();
    let aim = bench.workspace().viewport.session.look.lights[&name].aim.expect("aimed");
    let point = bench.workspace().surface().expect("a surface under the pointer").point;
    assert!(
        (aim - point).length() < 2e-5,
        "{aim} is where the click met the surface, {point}: {text}"
    );
    bench.keep("aimed.png");

    // The incident meter equals the command line's.
    bench.app.set_tool(Tool::Meter);
    bench.click(at);
    bench.rest();
    let surface = bench.workspace().surface().unwrap();
    let read = bench.workspace().incident().expect("a reading").to_owned();
    let session = session::open(&OpenRequest { size: Some(size), ..request(&file) }).unwrap();
    let mut scene = session::read(&request(&file)).unwrap().scene;
    bench.workspace().document.look().unwrap().apply(&mut scene).unwrap();
    let mut renderer = guard.renderer();
    let lux = incident::illuminance(
        &mut renderer,
        &scene,
        surface.point,
        surface.normal,
        Receptor::Flat,
        session.passes().shadows,
    );
    let value: f64 = read.split(' ').next().unwrap().parse().unwrap();
    assert!((value / lux.unwrap().get() - 1.0).abs() < 1e-4, "{read}");

    // Save, reopen, render: the same picture.
    bench.rest();
    let saved = bench.picture().clone();
    bench.press(Key::S, Modifiers::COMMAND);
    assert!(!bench.workspace().document.changed());
    drop(bench);
    let mut again = HeadlessViewer::new(&guard.gpu, request(&file));
    // The same panels, and so the same picture size.
    again.workspace_mut().select(Selection::Light(name));
    again.rest();
    let size = again.size();
    assert_eq!([size.width as usize, size.height as usize], [saved.width, saved.height]);
    assert_eq!(
        by_command_line(&guard, &file, size).display,
        again.picture().display,
        "what was saved is rendered"
    );
    assert_eq!(again.picture().display, saved.display);
}

fn sunny16_lights(bench: &HeadlessViewer) -> Vec<String> {
    let work = bench.workspace();
    work.viewport
        .base()
        .lights
        .iter()
        .map(|light| light.name.clone())
        .filter(|name| !name.is_empty())
        .collect()
}

#[test]
fn window_shows_the_picture_pixel_for_pixel() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    bench.frame(vec![Event::PointerGone]);
    let picture = bench.picture();
    let (width, height) = (picture.width, picture.height);
    // The picture's rectangle shows its pixels, one to one.
    let row = |y: usize| &bench.last[y * WINDOW[0] as usize * 4..(y + 1) * WINDOW[0] as usize * 4];
    let first = &picture.display[height / 2 * width * 4..][..width * 4];
    let found = (0..WINDOW[1] as usize).find_map(|y| {
        row(y).windows(first.len()).step_by(4).position(|window| window == first).map(|x| (x, y))
    });
    let (x, y) = found.expect("the picture's middle row is in the window");
    let differing = (0..height)
        .filter(|line| {
            let top = y - height / 2;
            row(top + line)[x * 4..(x + width) * 4]
                != picture.display[line * width * 4..(line + 1) * width * 4]
        })
        .count();
    // Light handles cover some lines.
    assert!(differing < height / 2, "{differing} of {height} lines differ");

    // The same on an HDR display: the picture matches the host's encoding, panels are no brighter
    // than paper white.
    let light = bench.app.hdr_image().unwrap();
    let range = bench.app.settings().range;
    let codes = |nits: &[f32; 3]| {
        let exposed =
            light.to_display.white_balance * (Vec3::from_array(*nits) * light.multiplier as f32);
        DisplayEncoding::Hdr10
            .codes(tone_map_hdr(light.to_display.mapper, exposed, range.headroom()), range)
            * 1023.0
    };
    let wanted: Vec<Vec3> = light.nits.iter().map(codes).collect();
    bench.press(Key::N, Modifiers::NONE);
    assert!(bench.app.settings().hdr);
    bench.shown_by(vk::Format::A2B10G10R10_UNORM_PACK32, DisplayEncoding::Hdr10);
    bench.frame(vec![]);
    let pixel = |x: usize, y: usize| {
        let at = (y * WINDOW[0] as usize + x) * 4;
        let word = u32::from_le_bytes(bench.last[at..at + 4].try_into().unwrap());
        vec3((word & 1023) as f32, (word >> 10 & 1023) as f32, (word >> 20 & 1023) as f32)
    };
    let top = y - height / 2;
    // Arrows to lights outside of the view lie along the edge.
    const EDGE: usize = 24;
    let is_inside = |column: usize, line: usize| {
        (EDGE..width - EDGE).contains(&column) && (EDGE..height - EDGE).contains(&line)
    };
    let (mut differing, mut brightest) = (0, 0f32);
    for (i, want) in wanted.iter().enumerate() {
        let got = pixel(x + i % width, top + i / width);
        // A step of 1023, and half-float rounding before it.
        let differs = (got - *want).abs().max_element() > 2.0;
        differing += usize::from(differs && is_inside(i % width, i / width));
        brightest = brightest.max(got.max_element());
    }
    let white = 594.0;
    println!(
        "HDR10: {differing} of {} pixels differ, the brightest code is {brightest}",
        wanted.len()
    );
    // Light rings cover some.
    assert!(differing < wanted.len() / 100, "{differing} of {}", wanted.len());
    assert!(brightest > white + 20.0, "highlights are beyond white: {brightest}");
    let panels = (0..WINDOW[1] as usize).flat_map(|y| (0..x).map(move |x| (x, y)));
    let panels = panels.map(|(x, y)| pixel(x, y).max_element()).fold(0f32, f32::max);
    assert!(panels > 400.0 && panels <= white + 1.0, "panels are no brighter than paper: {panels}");
}

#[test]
fn camera_moves_and_returns_to_the_look() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    // By hand: the meter is read nevertheless.
    bench
        .app
        .set(&[("camera.exposure.mode", Some("manual")), ("camera.exposure.compensation", None)]);
    bench.rest();
    let metered = |bench: &HeadlessViewer| {
        bench.workspace().viewport.exposed().unwrap().metered.unwrap().ev100().get()
    };
    let (before, pose) = (bench.picture().display.clone(), bench.workspace().viewport.pose());
    let read = metered(&bench);
    let at = bench.middle();
    bench.drag(at, at + vec2(160.0, 60.0), PointerButton::Middle);
    bench.rest();
    assert!((metered(&bench) - read).abs() > 1e-3, "another view, another reading: {read}");
    let undone = bench.workspace_mut().document.undo();
    assert!(undone.is_some());
    let moved = bench.workspace().viewport.pose();
    assert!((moved.w_axis - pose.w_axis).length() > 1e-3, "the drag goes around the target");
    assert_ne!(bench.picture().display, before);
    assert!(!bench.workspace().document.changed(), "looking around is no change of the look");
    bench.press(Key::Home, Modifiers::NONE);
    bench.rest();
    assert!((bench.workspace().viewport.pose().w_axis - pose.w_axis).length() < 1e-9);
}

#[test]
fn the_reference_accumulates_beside_the_picture() {
    let Some(guard) = crate::common::gpu() else { return };
    let mut bench =
        HeadlessViewer::new(&guard.gpu, request(std::path::Path::new("builtin:cornell")));
    bench.rest();
    bench.app.state.reference_view.set_mode(reference_view::CompareMode::Wipe);
    bench.until("the path tracer begins", |app| {
        app.state.reference_view.samples() >= 4
            && app.state.reference_view.summary.starts_with("mean")
    });
    bench.frame(vec![]);
    bench.keep("wipe.png");
    bench.app.state.reference_view.set_mode(reference_view::CompareMode::Flip);
    bench.until("a difference is shown", |app| app.state.reference_view.summary.contains("FLIP"));
    bench.frame(vec![]);
    bench.keep("flip.png");
    // The displayed picture as a file: it is display-referred, and differs in nothing.
    let dir = tempfile::tempdir().unwrap();
    let png = dir.path().join("shown.png");
    let picture = bench.picture();
    sunny16::output::write_png(&png, picture.width, picture.height, &picture.display).unwrap();
    bench.app.open_file(&png);
    bench.app.state.reference_view.set_mode(reference_view::CompareMode::Flip);
    bench.until("the same picture", |app| {
        app.state.reference_view.summary == "mean +0.00 % as shown, FLIP 0.0000"
    });
    bench.app.state.reference_view.set_mode(reference_view::CompareMode::Stops);
    bench.until("no stops of bytes", |app| {
        app.state.reference_view.summary.contains("scene-linear reference")
    });
    bench.app.state.reference_view.use_path_tracer();
    bench.until("the path tracer again", |app| app.state.reference_view.samples() > 0);
    // Another view restarts the reference.
    let at = bench.middle();
    bench.drag(at, at + vec2(30.0, 0.0), PointerButton::Middle);
    assert_eq!(bench.app.state.reference_view.samples(), 0);
}

#[test]
fn scopes_and_buffers_are_drawn() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("");
    let mut bench = HeadlessViewer::sized(&guard.gpu, request(&file), [1100, 430]);
    bench.press(Key::H, Modifiers::NONE);
    bench.rest();
    let plain = bench.last.clone();
    bench.keep("scopes.png");
    for name in ["histogram in EV", "waveform in EV", "vectorscope"] {
        assert!(bench.text(name).is_some(), "{name}");
    }
    let height = bench.app.viewport_rect().height();
    for overlay in ["false_color.png", "zones.png", "zebra.png", "peaking.png"] {
        bench.press(Key::C, Modifiers::NONE);
        bench.rest();
        bench.keep(overlay);
        assert_ne!(bench.last, plain, "{overlay}");
        assert!(
            bench.app.viewport_rect().height() >= height,
            "{overlay}: the panel keeps its size"
        );
    }
    // In reverse order: colors first, with their name and scale, then the scopes.
    bench.press(Key::H, Modifiers::NONE);
    bench.press(Key::C, Modifiers::NONE);
    bench.press(Key::C, Modifiers::NONE);
    bench.rest();
    assert!(bench.text("false color").is_some());
    bench.keep("false_color_alone.png");
    bench.press(Key::H, Modifiers::NONE);
    bench.rest();
    bench.keep("scopes_after.png");
    assert!(bench.app.viewport_rect().height() >= height, "the panel is no larger for its legend");
    assert!(bench.text("vectorscope").is_some());
}

/// A copy of the shaders to modify.
fn shaders() -> tempfile::TempDir {
    fn copy(from: &std::path::Path, to: &std::path::Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            let to = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &to);
            } else {
                fs::copy(entry.path(), to).unwrap();
            }
        }
    }
    let dir = tempfile::tempdir().unwrap();
    copy(
        &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders"),
        &dir.path().join("shaders"),
    );
    dir
}

/// Writes a file whose time of change is `later` seconds after the present, so that each differs.
fn write_at(file: &std::path::Path, text: &str, later: u64) {
    // Outside of the watched folder, and moved into it at once.
    let other = file.ancestors().nth(3).unwrap().join("written");
    fs::write(&other, text).unwrap();
    let time = std::time::SystemTime::now() + Duration::from_secs(later);
    fs::File::options().write(true).open(&other).unwrap().set_modified(time).unwrap();
    fs::rename(other, file).unwrap();
}

#[test]
fn shaders_reload_on_save_and_errors_are_shown() {
    let Some(guard) = crate::common::gpu() else { return };
    let mut bench =
        HeadlessViewer::new(&guard.gpu, request(std::path::Path::new("builtin:corridor")));
    bench.app.set(&[("passes.aa.samples", Some("1"))]);
    bench.rest();
    let before = bench.picture().clone();
    let dir = shaders();
    let file = dir.path().join("shaders/passes/tonemap.frag");
    let text = fs::read_to_string(&file).unwrap();
    bench.app.take_shaders(ShaderSources::below(dir.path()).expect("the build's compiler is here"));
    // Channels are swapped: red for blue.
    write_at(
        &file,
        &text.replace("out_color = vec4(code, 1.0);", "out_color = vec4(code.bgr, 1.0);"),
        0,
    );
    bench.press(Key::F5, Modifiers::NONE);
    let swapped: Vec<u8> =
        before.display.chunks_exact(4).flat_map(|p| [p[2], p[1], p[0], p[3]]).collect();
    assert_ne!(swapped, before.display);
    let shows = |app: &App, bytes: &[u8]| {
        app.state
            .workspace
            .as_ref()
            .and_then(|work| work.viewport.last_frame.as_ref())
            .is_some_and(|f| f.image.display == bytes)
    };
    bench.until("the picture by the other shader", |app| shows(app, &swapped));
    // An error is reported with its location, and the picture stays.
    let broken = text.replace("out_color = vec4(code, 1.0);", "out_color = vec4(cod, 1.0);");
    write_at(&file, &broken, 1);
    bench.until("the compiler's complaint", |app| {
        app.error_message().is_some_and(|said| said.contains("tonemap.frag:"))
    });
    assert!(
        bench.app.error_message().unwrap().contains("'cod'"),
        "{:?}",
        bench.app.error_message()
    );
    bench.rest();
    assert_eq!(bench.picture().display, swapped);
    // A binding that the program does not provide is rejected.
    let other = text.replace(
        "void main() {",
        "layout(set = 0, binding = 7) uniform texture2D other;\nvoid main() {",
    );
    let other =
        other.replace("vec4(code, 1.0)", "vec4(code + texelFetch(other, pixel, 0).rgb, 1.0)");
    write_at(&file, &other, 2);
    bench.until("what does not fit", |app| {
        app.error_message().is_some_and(|said| said.contains("resource 'other'"))
    });
    // Back to the build's shaders: exactly the first picture.
    write_at(&file, &text, 3);
    bench.until("the first picture", |app| shows(app, &before.display));
    assert!(bench.app.state.fatal.is_none());
}

#[test]
fn invalid_values_change_nothing_and_unfit_ones_can_be_undone() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    let (before, text) =
        (bench.picture().display.clone(), bench.workspace().document.text().to_owned());
    bench.app.set(&[("camera.lens.f_stop", Some("0"))]);
    assert_eq!(bench.workspace().document.text(), text);
    // No light of this name: the text has it, and the picture shows the last look that fits.
    bench.app.set(&[("lights.Missing.lumens", Some("5"))]);
    bench.rest();
    assert_eq!(bench.picture().display, before);
    bench.press(Key::Z, Modifiers::COMMAND);
    bench.rest();
    assert_eq!(bench.workspace().document.text(), text);
    assert_eq!(bench.picture().display, before);
}

#[test]
fn lost_device_is_reported_and_the_look_is_kept() {
    let fault = Fault::parse("wait:frame 12=device-lost").unwrap();
    let Some(guard) = crate::common::gpu_with(vec![fault]) else { return };
    let (dir, file) = project("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    let mut iso = 100;
    let lost = |app: &App| app.state.fatal.is_some();
    bench.repeat_until("a lost device", lost, |bench| {
        iso += 1;
        bench.app.set(&[("camera.body.iso", Some(&format!("{iso}")))]);
        bench.app.frame(RawInput::default()).textures_delta.clear();
    });
    let fatal = bench.app.state.fatal.clone().expect("the fault was met");
    assert!(fatal.contains("lost"), "{fatal}");
    let copy = fs::read_to_string(dir.path().join("still_life.look.toml.autosave"))
        .expect("the copy for accidents");
    assert!(copy.contains("iso = "), "{copy}");
    drop(bench);
    // A lost device leaves its resources to the driver: the guard's leak check would report frames
    // of it.
    std::mem::forget(guard);
}

/// Resident memory of the process (kB), where the system reports it.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}

/// Asserts that equally spaced readings grew by less than 1 % from first to last.
fn flat(held: &[Option<u64>]) {
    if let (Some(Some(first)), Some(Some(last))) = (held.first(), held.last()) {
        assert!(*last as f64 <= *first as f64 * 1.01, "{held:?} kB");
    }
}

#[test]
fn resizing_does_not_grow_memory() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    let viewport = &mut bench.workspace_mut().viewport;
    for size in [[1, 1], [3, 200], [200, 3], [0, 0], [64, 48]] {
        viewport.resize(size).unwrap();
        viewport.settle(false).unwrap();
        let picture = &viewport.last_frame.as_ref().unwrap().image;
        assert_eq!([picture.width, picture.height], size.map(|side: u32| side.max(1) as usize));
    }
    for _ in 0..8 {
        viewport.invalidate();
        viewport.settle(false).unwrap();
    }
    // Frames that the device draws hold buffers: with a whole picture none is under way.
    viewport.settle(true).unwrap();
    let (objects, bytes) = (guard.gpu.live_objects(), guard.gpu.memory_in_use().0);
    // `SUNNY16_LONG=1` takes the time to find slow growth.
    let long = std::env::var_os("SUNNY16_LONG").is_some();
    let mut held = Vec::new();
    for frame in 0..if long { 10_000 } else { 60 } {
        viewport.invalidate();
        viewport.settle(false).unwrap();
        if frame % 2_000 == 1_999 {
            held.push(resident());
        }
    }
    viewport.settle(true).unwrap();
    println!("resident after every 2,000 frames, kB: {held:?}");
    flat(&held);
    assert_eq!(guard.gpu.live_objects(), objects, "objects after many frames");
    assert_eq!(guard.gpu.memory_in_use().0, bytes, "bytes after many frames");
    let mut held = Vec::new();
    for reload in 0..if long { 100 } else { 2 } {
        bench.app.open(&request(&file));
        bench.app.finish_opening();
        bench.workspace_mut().viewport.resize([64, 48]).unwrap();
        let viewport = &mut bench.workspace_mut().viewport;
        for _ in 0..9 {
            viewport.invalidate();
            viewport.settle(false).unwrap();
        }
        viewport.settle(true).unwrap();
        if reload % 20 == 19 {
            held.push(resident());
        }
    }
    println!("resident after every 20 reloads, kB: {held:?}");
    flat(&held);
    assert!(guard.gpu.live_objects().len() <= objects.len() + 8, "objects after reloads");
    let after = guard.gpu.memory_in_use().0;
    assert!(after as f64 <= bytes as f64 * 1.01, "{bytes} bytes before reloads, {after} after");
}

#[test]
fn open_errors_are_reported_and_the_gallery_needs_no_scene() {
    let Some(guard) = crate::common::gpu() else { return };
    let mut bench = HeadlessViewer::new(&guard.gpu, OpenRequest::default());
    bench.frame(vec![]);
    bench.keep("gallery.png");
    assert!(bench.app.state.workspace.is_none());
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in
        [("a.glb", &b"glTF nonsense"[..]), ("b.ies", b"x"), ("c.txt", b""), ("d.exr", b"no")]
    {
        let file = dir.path().join(name);
        fs::write(&file, bytes).unwrap();
        bench.app.open_file(&file);
        bench.frame(vec![]);
        assert!(bench.app.state.workspace.is_none());
        assert!(bench.app.error_message().is_some_and(|text| !text.is_empty()), "{name}");
    }
    bench.app.open(&request(std::path::Path::new("builtin:cornell")));
    bench.rest();
    assert!(bench.app.state.workspace.is_some());
}

#[test]
fn window_stays_responsive_during_slow_pictures() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    // Frames of the window while the picture is redrawn continuously: each is as short as without
    // drawing. The software driver shares its processors with the picture, so most frames are
    // checked, not the worst.
    let alone = bench.workspace().viewport.frame_ms;
    let mut frames = 0;
    let number =
        |bench: &HeadlessViewer| bench.workspace().viewport.last_frame.as_ref().unwrap().number;
    let first = number(&bench);
    bench.workspace_mut().viewport.invalidate();
    let started = Instant::now();
    while number(&bench) == first {
        bench.app.frame(RawInput::default()).textures_delta.clear();
        frames += 1;
        std::thread::sleep(Duration::from_millis(2));
        assert!(started.elapsed() < HANG);
    }
    println!("{frames} frames of the window in one of the picture ({alone:.0} ms)");
    assert!(alone < 200.0 || frames > 3, "{frames} in {alone} ms");
}

#[test]
fn playback_and_paused_views_match_render() {
    let Some(guard) = crate::common::gpu() else { return };
    let request = OpenRequest {
        scene: Some("builtin:petals".into()),
        size: Some(Size { width: 64, height: 36 }),
        // VPLs that follow motion are not those that are traced from the start.
        set: vec!["quality=direct".into(), "passes.aa.samples=1".into()],
        ..OpenRequest::default()
    };
    let mut bench = HeadlessViewer::new(&guard.gpu, request.clone());
    let engine_time = |bench: &HeadlessViewer| bench.workspace().viewport.time();
    assert_eq!(engine_time(&bench), Some(0.0));
    bench.workspace_mut().viewport.resize([64, 36]).unwrap();
    let viewport = &mut bench.workspace_mut().viewport;
    viewport.settle(true).unwrap();
    let first = viewport.last_frame.as_ref().unwrap().image.display.clone();
    viewport.set_playing(true);
    let passed = |app: &App| app.state.workspace.as_ref().unwrap().viewport.time().unwrap() >= 0.3;
    bench.repeat_until("time to pass", passed, |bench| {
        bench.workspace_mut().viewport.draw().unwrap();
    });
    let viewport = &mut bench.workspace_mut().viewport;
    viewport.set_playing(false);
    viewport.seek(0.5);
    viewport.settle(true).unwrap();
    let shown = viewport.last_frame.as_ref().unwrap().image.display.clone();
    assert_ne!(shown, first, "things move");
    let opened = session::open(&OpenRequest { time: Some(0.5), ..request }).unwrap();
    let mut session = Session::open(guard.renderer(), opened).unwrap();
    let exposed = session.determine_exposure(true).unwrap();
    let settings = session.picture_settings(&exposed, Mat3::IDENTITY, vec![]).unwrap();
    let rendered = session.still(&settings, 1, &mut |_| Ok(())).unwrap();
    assert_eq!(rendered.display, shown, "bit for bit what `render --time 0.5` writes");

    // The same time as the second picture of a sequence.
    let dir = tempfile::tempdir().unwrap();
    let sequence = Sequence {
        file: dir.path().join("a.png"),
        first: 0.25,
        fps: 4.0,
        count: 2,
        size: bench.workspace().viewport.full_size(),
    };
    bench.workspace_mut().viewport.submit_job(Job::WriteSequence(sequence));
    bench.until("two pictures", |_| dir.path().join("a.0001.png").exists());
    bench.rest();
    let bytes = fs::read(dir.path().join("a.0001.png")).unwrap();
    let written = image::load_from_memory(&bytes).unwrap().into_rgba8();
    // A sequence's grain is numbered by frame.
    let differing =
        written.as_raw().iter().zip(&shown).filter(|(a, b)| a.abs_diff(**b) > 3).count();
    assert!(differing * 50 < shown.len(), "{differing} of {} bytes", shown.len());
}

#[test]
fn a_timeline_in_the_window_is_that_of_render() {
    let Some(guard) = crate::common::gpu() else { return };
    let dir = tempfile::tempdir().unwrap();
    let look = dir.path().join("shot.look.toml");
    let text = "[camera.exposure]\nev100 = 5\n\
        [lights.Key]\nadd = true\nposition = [2, 3, 1]\n\
        [timeline.\"camera.lens.focal_length\"]\n\
        keys = [{ time = 0, value = 24 }, { time = 1, value = 50 }]\n\
        [timeline.\"lights.Key.lumens\"]\n\
        keys = [{ time = 0, value = 900, ease = \"quad out\" }, { time = 1, value = 100 }]\n";
    fs::write(&look, text).unwrap();
    let request = OpenRequest {
        scene: Some("builtin:cornell".into()),
        look: Some(look),
        size: Some(Size { width: 48, height: 48 }),
        set: vec!["quality=direct".into(), "passes.aa.samples=1".into()],
        ..OpenRequest::default()
    };
    let mut bench = HeadlessViewer::new(&guard.gpu, request.clone());
    let viewport = &mut bench.workspace_mut().viewport;
    assert_eq!(viewport.time(), Some(0.0));
    viewport.resize([48, 48]).unwrap();
    for time in [0.0, 0.75, 0.25] {
        let viewport = &mut bench.workspace_mut().viewport;
        viewport.seek(time);
        viewport.settle(true).unwrap();
        let shown = viewport.last_frame.as_ref().unwrap().image.display.clone();
        let opened = session::open(&OpenRequest { time: Some(time), ..request.clone() }).unwrap();
        let mut session = Session::open(guard.renderer(), opened).unwrap();
        let exposed = session.determine_exposure(true).unwrap();
        let settings = session.picture_settings(&exposed, Mat3::IDENTITY, vec![]).unwrap();
        let rendered = session.still(&settings, 1, &mut |_| Ok(())).unwrap();
        assert_eq!(rendered.display, shown, "bit for bit what `render --time {time}` writes");
    }
    let uploads = bench.workspace().viewport.last_frame.as_ref().unwrap().counts.uploads;
    assert_eq!(uploads, 1, "a dimmed light is no upload");

    // Keys are set at the present time, as an undo step, and sought by the keyboard.
    let key = ("lights.Key.lumens".to_owned(), "500".to_owned());
    bench.app.apply(DocumentAction::SetKey(key.0, key.1));
    assert_eq!(bench.app.error_message(), None);
    let opened = |bench: &HeadlessViewer| bench.workspace().viewport.session.look.clone();
    assert_eq!(opened(&bench).lights["Key"].lumens, Some(500.0), "at 0.25 s");
    bench.app.apply(CameraAction::SeekKey(Direction::Forward));
    assert_eq!(bench.workspace().viewport.time(), Some(1.0));
    bench.app.apply(CameraAction::SeekKey(Direction::Backward));
    assert_eq!(bench.workspace().viewport.time(), Some(0.25));
    bench.app.apply(DocumentAction::Undo);
    let undone = opened(&bench).lights["Key"].lumens.unwrap();
    assert!((undone - (900.0 - 800.0 * (1.0 - 0.75 * 0.75))).abs() < 1e-9, "{undone}");
}

#[test]
fn mixer_matches_the_renderer() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    let small = |bench: &mut HeadlessViewer| {
        let viewport = &mut bench.workspace_mut().viewport;
        viewport.resize([96, 54]).unwrap();
        viewport.settle(true).unwrap();
    };
    small(&mut bench);
    bench.app.apply(EngineAction::SeparateLights);
    let order = bench.workspace().viewport.request_id();
    let ready = |app: &App| app.state.mixer.ready(order);
    bench.repeat_until("the separate lights", ready, |bench| bench.app.draw());
    let near = |sum: &[[f32; 3]], picture: &[[f32; 3]], most: f64| {
        let total =
            |pixels: &[[f32; 3]]| pixels.iter().flatten().map(|v| f64::from(*v)).sum::<f64>();
        let differs: f64 = sum
            .iter()
            .zip(picture)
            .flat_map(|(a, b)| (0..3).map(move |i| f64::from((a[i] - b[i]).abs())))
            .sum();
        let (mean, each) = (total(sum) / total(picture) - 1.0, differs / total(picture));
        println!("mean {:+.3} %, in each pixel {:.3} %", mean * 100.0, each * 100.0);
        assert!(mean.abs() < most && each < 4.0 * most, "{mean} {each}");
    };
    near(&bench.app.state.mixer.sum().unwrap(), &bench.picture().nits.clone(), 0.002);
    bench.app.state.mixer.open = true;
    // One light two stops down and another off: the same as rendering that.
    let names = sunny16_lights(&bench);
    assert!(bench.app.state.mixer.set(&names[0], Fader { stops: -2.0, off: false }));
    assert!(bench.app.state.mixer.set(&names[1], Fader { stops: 0.0, off: true }));
    let sum = bench.app.state.mixer.sum().unwrap();
    bench.app.apply(DocumentAction::ApplyMix);
    small(&mut bench);
    near(&sum, &bench.picture().nits.clone(), 0.002);
    let text = bench.workspace().document.text().to_owned();
    assert!(text.contains("enabled = false"), "{text}");
}

/// The light dims by twelve stops after a quarter of a second. Exposure adapts during playback, and
/// a paused view is exposed by its meter.
#[test]
fn exposure_adapts_during_playback() {
    let Some(guard) = crate::common::gpu() else { return };
    let dir = tempfile::tempdir().unwrap();
    crate::common::dimming_light::dimming_light_scene(dir.path(), 1000.0, false);
    let mut request = request(&dir.path().join("lamp.gltf"));
    request.time = Some(0.0);
    request.set = vec!["camera.exposure.adaptation=0.05".into()];
    let mut bench = HeadlessViewer::new(&guard.gpu, request);
    bench.rest();
    let ev = |app: &App| {
        app.state
            .workspace
            .as_ref()
            .unwrap()
            .viewport
            .last_frame
            .as_ref()
            .unwrap()
            .exposed
            .exposure
            .ev100()
            .get()
    };
    let near = ev(&bench.app);
    bench.workspace_mut().viewport.set_playing(true);
    bench.until("the exposure to follow the lamp", |app| near - ev(app) > 9.0);
    let playing = bench.workspace().viewport.moving();
    assert!(playing, "it followed while the scene was played");
    bench.workspace_mut().viewport.set_playing(false);
    bench.rest();
    let far = ev(&bench.app);
    assert!((10.0..13.0).contains(&(near - far)), "{near} and {far}");
}

#[test]
fn the_picture_is_the_cameras_frame() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = project("[camera.exposure]\nev100 = 8\n");
    let mut bench = HeadlessViewer::sized(&guard.gpu, request(&file), [1280, 900]);
    bench.rest();
    let aspect = |bench: &HeadlessViewer| {
        let [width, height] = bench.workspace().viewport.full_size().map(f64::from);
        width / height
    };
    let wanted = f64::from(bench.workspace().viewport.session.default_aspect_ratio);
    let height = f64::from(bench.workspace().viewport.full_size()[1]);
    assert!((aspect(&bench) / wanted - 1.0).abs() < 1.0 / height, "{} {wanted}", aspect(&bench));
    // Guides are not part of the picture.
    let before = bench.picture().display.clone();
    let mut settings = bench.app.settings();
    (settings.guides.thirds, settings.guides.safe, settings.guides.horizon) = (true, true, true);
    settings.guides.frame = FrameGuide::Scope;
    bench.app.apply(WindowAction::Settings(settings));
    bench.frame(vec![]);
    bench.keep("guides.png");
    assert!(bench.picture().display == before);
    settings.guides.gate = false;
    bench.app.apply(WindowAction::Settings(settings));
    bench.frame(vec![]);
    bench.rest();
    assert!(aspect(&bench) < 0.8 * wanted, "the picture fills the panel: {}", aspect(&bench));
}
