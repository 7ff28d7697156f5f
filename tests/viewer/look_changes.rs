//! Changes of the look cost only what they change: uploads, meter readings and frames are counted.

use crate::{
    common::headless_viewer::{HeadlessViewer, request},
    governor::set_mode,
    pace::lights_scene,
};
use sunny16::{session::expose::ExposureState, viewer::viewport::EngineCounts};

fn counts(bench: &HeadlessViewer) -> EngineCounts {
    bench.workspace().viewport.last_frame.as_ref().unwrap().counts
}

fn exposed(bench: &HeadlessViewer) -> ExposureState {
    *bench.workspace().viewport.exposed().unwrap()
}

fn mean_nits(bench: &HeadlessViewer) -> f64 {
    let nits = &bench.picture().nits;
    nits.iter().flatten().map(|&channel| f64::from(channel)).sum::<f64>() / nits.len() as f64
}

/// Sets properties, waits for the picture at rest, and counts the engine's work for it.
fn set(bench: &mut HeadlessViewer, changes: &[(&str, &str)]) -> EngineCounts {
    let before = counts(bench);
    let changes: Vec<_> = changes.iter().map(|&(path, value)| (path, Some(value))).collect();
    bench.app.set(&changes);
    bench.rest();
    assert_eq!(bench.app.error_message(), None, "{changes:?}");
    let after = counts(bench);
    EngineCounts {
        uploads: after.uploads - before.uploads,
        updates: after.updates - before.updates,
        meter_readings: after.meter_readings - before.meter_readings,
        adaptations: after.adaptations - before.adaptations,
        moving_frames: after.moving_frames - before.moving_frames,
        still_frames: after.still_frames - before.still_frames,
        interrupted_frames: after.interrupted_frames - before.interrupted_frames,
    }
}

#[test]
fn changes_with_manual_exposure_cost_what_they_change() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    set_mode(&mut bench, "off");
    bench.rest();
    let first = set(
        &mut bench,
        &[
            ("camera.exposure.mode", "manual"),
            ("camera.lens.f_stop", "2.8"),
            // A picture is a meter reading if its exposure is near its light.
            ("camera.body.shutter", "8"),
            ("camera.body.iso", "3200"),
            ("gi.enabled", "true"),
            ("gi.vpls", "256"),
        ],
    );
    assert_eq!((first.uploads, first.updates), (0, 1), "photons are traced: {first:?}");
    // The needle is read from the picture where the metered light changes.
    for (path, value, updates) in [
        ("passes.ssr.enabled", "true", 0),
        ("gi.denoise", "false", 0),
        ("camera.lens.f_stop", "4", 0),
        ("lights.Spot.lumens", "1200", 1),
    ] {
        let before = (exposed(&bench), mean_nits(&bench));
        let work = set(&mut bench, &[(path, value)]);
        let wanted = EngineCounts {
            updates,
            still_frames: 1,
            // A slow device is at rest before it draws.
            moving_frames: work.moving_frames.min(1),
            ..EngineCounts::default()
        };
        assert_eq!(work, wanted, "{path}");
        let after = (exposed(&bench), mean_nits(&bench));
        assert!(after.0.metered.is_some(), "{path}");
        let stops = after.0.exposure.stops_above(before.0.exposure);
        if path == "camera.lens.f_stop" {
            assert!((stops.abs() - 1.0).abs() < 0.05, "{stops} stops");
        } else {
            assert_eq!(stops, 0.0, "{path}");
        }
        if path == "lights.Spot.lumens" {
            assert!((after.1 / before.1 - 1.5).abs() < 0.05, "{before:?}, then {after:?}");
            let needle = after.0.metered.unwrap().stops_above(before.0.metered.unwrap());
            assert!((needle - 1.5_f64.log2().copysign(needle)).abs() < 0.1, "{needle} stops");
        }
    }
}

#[test]
fn indirect_light_is_switched_without_an_upload() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    bench.rest();
    set(&mut bench, &[("camera.exposure.ev100", "7"), ("gi.enabled", "true"), ("gi.vpls", "256")]);
    let lit = mean_nits(&bench);
    let off = set(&mut bench, &[("gi.enabled", "false")]);
    assert_eq!((off.uploads, off.updates), (0, 0), "{off:?}");
    let direct = mean_nits(&bench);
    set(&mut bench, &[("lights.Spot.lumens", "1600")]);
    // The VPLs are those of the present light, not of the light when they were last traced.
    let on = set(&mut bench, &[("gi.enabled", "true")]);
    assert_eq!((on.uploads, on.updates), (0, 1), "{on:?}");
    let ratio = mean_nits(&bench) / lit;
    assert!((ratio - 2.0).abs() < 0.02, "{direct} nits direct, {lit} in all, {ratio} times later");
}

/// The look of a picture has the values of its tier, the text that is edited has not.
#[test]
fn edits_under_a_tier_upload_nothing_and_keep_its_light() {
    let Some(guard) = crate::common::gpu() else { return };
    for own in ["", "[passes.shadows]\nmethod = \"traced\"\n"] {
        let (_dir, file) = lights_scene(own);
        let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
        bench.rest();
        set(&mut bench, &[("quality", "draft"), ("camera.exposure.ev100", "7")]);
        let lit = mean_nits(&bench);
        let edited = set(&mut bench, &[("camera.lens.f_stop", "4")]);
        assert_eq!((edited.uploads, edited.updates), (0, 0), "{own}: {edited:?}");
        let direct = set(&mut bench, &[("gi.enabled", "false")]);
        assert_eq!((direct.uploads, direct.updates), (0, 0), "{own}: {direct:?}");
        assert!(mean_nits(&bench) < lit, "the tier had indirect light");
    }
}

#[test]
fn automatic_exposure_meters_only_changed_light() {
    let Some(guard) = crate::common::gpu() else { return };
    let (_dir, file) = lights_scene("");
    let mut bench = HeadlessViewer::new(&guard.gpu, request(&file));
    set_mode(&mut bench, "off");
    bench.rest();
    set(&mut bench, &[("camera.exposure.mode", "auto")]);
    for (path, value) in [
        ("passes.tonemap.operator", "aces"),
        ("passes.aa.method", "morphological"),
        ("effects.bloom.enabled", "true"),
        ("camera.exposure.compensation", "1"),
    ] {
        let (before, display) = (exposed(&bench), bench.picture().display.clone());
        let work = set(&mut bench, &[(path, value)]);
        let wanted = EngineCounts {
            still_frames: 1,
            moving_frames: work.moving_frames.min(1),
            ..EngineCounts::default()
        };
        assert_eq!(work, wanted, "{path}");
        assert_eq!(exposed(&bench).metered, before.metered, "{path}");
        assert_ne!(bench.picture().display, display, "{path} changes the picture");
        let stops = exposed(&bench).exposure.stops_above(before.exposure);
        let wanted = if path == "camera.exposure.compensation" { 1.0 } else { 0.0 };
        assert!((stops - wanted).abs() < 1e-6, "{path}: {stops} stops");
    }
    let before = exposed(&bench).metered.unwrap();
    let work = set(&mut bench, &[("lights.Spot.lumens", "1600")]);
    assert_eq!(work.uploads, 0, "{work:?}");
    assert!(work.meter_readings > 0, "{work:?}");
    let stops = exposed(&bench).metered.unwrap().ev100().get() - before.ev100().get();
    assert!((stops - 1.0).abs() < 0.1, "twice the light: {stops} stops");
    // Reflections are metered light.
    assert!(set(&mut bench, &[("passes.ssr.enabled", "true")]).meter_readings > 0);
}
