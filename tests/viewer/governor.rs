//! The frame governor in the window: quality falls in motion, and the picture at rest is the same.

use std::{
    fs,
    time::{Duration, Instant},
};

use egui::{Event, Key, Modifiers, PointerButton};
use glam::{DMat4, DVec3};
use sunny16::{
    gpu::{Interrupt, vk},
    scene::build::look_at_transform,
    viewer::{
        action::WindowAction,
        governor::{GovernorMode, LIMIT_MS, Level},
        settings::WindowSettings,
        viewport::{Job, JobResult},
    },
};

use crate::{
    common::headless_viewer::{HANG, HeadlessViewer, request},
    pace::lights_scene,
};

/// Sets the mode of the governor. Tests that count frames, or compare positions in pictures, turn it
/// off: its levels depend on the device's pace.
pub fn set_mode(bench: &mut HeadlessViewer, mode: &str) {
    let governor = GovernorMode::parse(mode).unwrap();
    let settings = WindowSettings { governor, ..bench.app.settings() };
    bench.app.apply(WindowAction::Settings(settings));
}

/// Moves the camera; the frame waits for its picture.
fn go_to(bench: &mut HeadlessViewer, pose: DMat4) {
    let viewport = &mut bench.workspace_mut().viewport;
    viewport.set_max_wait(Some(HANG));
    viewport.set_pose(Some(pose));
    bench.frame(vec![]);
    bench.workspace_mut().viewport.set_max_wait(None);
}

fn level(bench: &HeadlessViewer) -> Level {
    bench.workspace().viewport.last_frame.as_ref().unwrap().level
}

/// The surface under the pointer.
fn surface(bench: &HeadlessViewer) -> DVec3 {
    bench.workspace().reading().unwrap().surface.expect("a surface").point
}

#[test]
fn reduced_pictures_are_picked_and_exported_like_those_at_rest() {
    let Some(guard) = crate::common::gpu() else { return };
    let (dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    let pose = |x| look_at_transform(DVec3::new(x, 1.6, 3.0), DVec3::new(0.0, 0.4, 0.0));
    let at = bench.middle();
    bench.frame(vec![Event::PointerMoved(at)]);
    set_mode(&mut bench, "off");
    go_to(&mut bench, pose(0.8));
    assert_eq!(level(&bench), Level::FULL, "in motion, without the governor");
    bench.rest();
    let seen = surface(&bench);
    let (still, rect) = (bench.picture().clone(), bench.app.viewport_rect());
    set_mode(&mut bench, "7");
    let exported = dir.path().join("lamps.0000.png");
    // A frame of the window may come so late that the view is at rest.
    let in_motion = (0..20).any(|_| {
        let _ = fs::remove_file(&exported);
        for x in [-0.8, 0.8] {
            go_to(&mut bench, pose(x));
        }
        bench.press(Key::F12, Modifiers::NONE);
        level(&bench) != Level::FULL
    });
    assert!(in_motion, "the view was always at rest");
    let fast = level(&bench);
    assert_eq!((fast.scale(), fast.divisor()), (0.25, 8));
    let picture = bench.picture();
    assert_eq!(
        [picture.width, picture.height],
        fast.size([still.width as u32, still.height as u32]).map(|side| side as usize)
    );
    // Picking, the frame of the picture and the export know the full size.
    assert!(!exported.exists(), "a reduced picture is not exported");
    let text = "25 % resolution, 1/8 budgets";
    assert!(bench.texts.iter().any(|(shown, _)| shown.contains(text)), "{:?}", bench.texts);
    let there = surface(&bench);
    assert!(there.distance(seen) < 0.15, "{there} and {seen}");
    assert_eq!(bench.app.viewport_rect(), rect);
    bench.rest();
    assert_eq!(level(&bench), Level::FULL);
    let picture = bench.picture();
    assert_eq!(picture.nits, still.nits, "bit for bit the picture without the governor");
    assert_eq!(picture.display, still.display);
    let written = image::load_from_memory(&fs::read(&exported).unwrap()).unwrap();
    assert_eq!([written.width() as usize, written.height() as usize], [still.width, still.height]);
}

#[test]
fn quality_falls_in_motion_and_returns_at_rest() {
    let Some(guard) = crate::common::gpu() else { return };
    // Slow at full quality on software devices.
    let (_dir, file) = lights_scene(
        "[passes.shadows]\nsamples = 64\n[lights.Panel]\nshape = \"rectangle\"\nwidth = 0.4\nheight = 0.3\nlumens = 1200\n",
    );
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    set_mode(&mut bench, "off");
    let pose = |x| look_at_transform(DVec3::new(x, 1.6, 3.0), DVec3::new(0.0, 0.4, 0.0));
    go_to(&mut bench, pose(0.5));
    bench.rest();
    let still = bench.picture().clone();
    let full_ms = bench.workspace().viewport.frame_ms;
    set_mode(&mut bench, "auto");
    let mut levels = Vec::new();
    for step in 0..12 {
        go_to(&mut bench, pose(-0.5 + f64::from(step) / 11.0));
        levels.push((level(&bench), bench.workspace().viewport.frame_ms));
    }
    println!("{full_ms:.0} ms at full quality, then {levels:?}");
    let is_slow = full_ms > 3.0 * LIMIT_MS;
    assert!(is_slow || guard.gpu.info().kind != vk::PhysicalDeviceType::CPU, "{full_ms} ms");
    if is_slow {
        let (last, ms) = levels[11];
        assert!(last > Level::FULL && ms < full_ms / 2.0, "{full_ms} ms: {levels:?}");
    }
    // Input interrupts a frame of full quality, also while a button is held.
    let at = bench.middle();
    let button = |pressed| {
        let (button, modifiers) = (PointerButton::Middle, Modifiers::NONE);
        Event::PointerButton { pos: at, button, pressed, modifiers }
    };
    bench.frame(vec![Event::PointerMoved(at), button(true)]);
    if is_slow && Interrupt::new(&guard.gpu).unwrap().is_some() {
        let counts = |bench: &HeadlessViewer| {
            bench.workspace().viewport.last_frame.as_ref().unwrap().counts.interrupted_frames
        };
        go_to(&mut bench, pose(0.2));
        let begun = Instant::now();
        while bench.workspace().viewport.level() != Level::FULL && begun.elapsed() < HANG {
            bench.wait();
            bench.frame(vec![]);
        }
        // Earlier motion may have interrupted a frame, too.
        let before = counts(&bench);
        std::thread::sleep(Duration::from_secs_f64(full_ms / 4e3));
        let begun = Instant::now();
        go_to(&mut bench, pose(0.3));
        println!("picture after {:?}, {full_ms:.0} ms at full quality", begun.elapsed());
        assert!(level(&bench) > Level::FULL);
        assert_eq!(counts(&bench), before + 1, "the frame under way was interrupted");
        go_to(&mut bench, pose(0.5));
    }
    bench.frame(vec![button(false)]);
    bench.rest();
    assert_eq!(level(&bench), Level::FULL);
    let picture = bench.picture();
    assert_eq!(picture.nits, still.nits, "bit for bit the picture without the governor");
    assert_eq!(picture.display, still.display);
}

/// A moving camera changes no light: photons, VPLs, lights and geometry stay on the device.
#[test]
fn a_moving_camera_updates_nothing_of_a_static_scene() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("[gi]\nenabled = true\nvpls = 512\n");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    set_mode(&mut bench, "7");
    bench.rest();
    let counts =
        |bench: &HeadlessViewer| bench.workspace().viewport.last_frame.as_ref().unwrap().counts;
    let before = counts(&bench);
    for step in 0..6 {
        let x = -0.5 + f64::from(step) / 5.0;
        go_to(&mut bench, look_at_transform(DVec3::new(x, 1.6, 3.0), DVec3::new(0.0, 0.4, 0.0)));
        // The window displays the device's picture.
        let newest = bench.workspace().viewport.last_frame.as_ref().unwrap().number;
        assert_eq!(bench.app.displayed_picture(), Some(newest));
    }
    let after = counts(&bench);
    // A frame of the window may come so late that the view is at rest.
    assert!(after.moving_frames > before.moving_frames, "{before:?} {after:?}");
    assert_eq!((after.uploads, after.updates), (before.uploads, before.updates));
}

/// A job that needs the full size waits while the view moves at reduced quality. Others do not wait
/// for it.
#[test]
fn separate_lights_wait_in_motion_and_hold_up_no_other_job() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    let viewport = &mut bench.workspace_mut().viewport;
    viewport.set_governor_mode(GovernorMode::parse("7").unwrap());
    viewport.set_max_wait(Some(HANG));
    let pose = |x| look_at_transform(DVec3::new(x, 1.6, 3.0), DVec3::new(0.0, 0.4, 0.0));
    let mut results = Vec::new();
    for step in 0..40 {
        viewport.set_pose(Some(pose(f64::from(step % 2) - 0.5)));
        viewport.draw().unwrap();
        assert_ne!(viewport.level(), Level::FULL);
        if step == 0 {
            viewport.submit_job(Job::SeparateLights(vec!["Spot".into()]));
            viewport.submit_job(Job::MeasureIlluminance(DVec3::ZERO, DVec3::Y));
        }
        // A frame follows a request at once; jobs start after it.
        std::thread::sleep(Duration::from_millis(10));
        results.extend(viewport.job_results());
        if !results.is_empty() {
            break;
        }
    }
    assert!(matches!(results[..], [JobResult::Illuminance(_, Ok(_))]), "{} results", results.len());
    let begun = Instant::now();
    let mut results = Vec::new();
    while results.is_empty() && begun.elapsed() < HANG {
        viewport.settle(true).unwrap();
        results = viewport.job_results();
    }
    let [JobResult::LightContributions(Ok(parts))] = &results[..] else {
        panic!("{} results", results.len())
    };
    assert_eq!(parts.size, viewport.full_size().map(|side| side as usize));
}
