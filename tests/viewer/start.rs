//! The start of the window: a preview and a progress line while the device compiles shaders.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use egui::{Pos2, RawInput, Rect, Shape, vec2};
use glam::{DMat4, DVec3};
use sunny16::{
    session::OpenRequest,
    viewer::{App, Options},
};

use crate::common::headless_viewer::HANG;

/// Compilation that takes longer must be shown: long enough for a busy machine to trace a preview.
const SLOW: Duration = Duration::from_secs(8);

/// True if a shape contains this text.
fn says(shape: &Shape, part: &str) -> bool {
    match shape {
        Shape::Text(text) => text.galley.text().contains(part),
        Shape::Vec(shapes) => shapes.iter().any(|shape| says(shape, part)),
        _ => false,
    }
}

/// The first picture on a device without pipelines. The view moves from the preview on, so that no
/// picture is of the newest request. Frames of the window are not painted: the window has a device
/// of its own.
#[test]
fn the_first_picture_is_path_traced_while_shaders_are_compiled() {
    let Some(guard) = crate::common::gpu_with(Vec::new()) else { return };
    let request =
        OpenRequest { scene: Some("builtin:still_life".into()), ..OpenRequest::default() };
    let options = Options { request, ..Options::default() };
    let mut app = App::new(&guard.gpu, options, Arc::new(|| {})).unwrap();
    let [mut opened, mut compiling, mut preview, mut drawn] = [None::<Instant>; 4];
    let mut slowest = Duration::ZERO;
    let started = Instant::now();
    let mut step = 0.0;
    while drawn.is_none() || preview.is_some() && app.displayed_picture().is_none() {
        assert!(started.elapsed() < HANG, "no picture of the device is displayed");
        if let Some(work) = app.state.workspace.as_mut().filter(|_| preview.is_some()) {
            step += 1e-4;
            let there = work.viewport.session.camera.0;
            work.viewport.set_pose(Some(DMat4::from_translation(DVec3::X * step) * there));
        }
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1180.0, 480.0))),
            time: Some(started.elapsed().as_secs_f64()),
            ..RawInput::default()
        };
        let begun = Instant::now();
        let mut output = app.frame(input);
        slowest = slowest.max(begun.elapsed());
        let now = Instant::now();
        let shows = |part| output.shapes.iter().any(|clipped| says(&clipped.shape, part));
        let note = |slot: &mut Option<Instant>, so: bool| {
            if so {
                slot.get_or_insert(now);
            }
        };
        let work = app.state.workspace.as_ref();
        note(&mut opened, work.is_some());
        note(&mut compiling, shows("compiling shaders"));
        note(&mut preview, shows("preview: path traced"));
        note(&mut drawn, work.is_some_and(|work| work.viewport.last_frame.is_some()));
        // No painter applies them.
        output.textures_delta.clear();
        std::thread::sleep(Duration::from_millis(20));
    }
    let since = |time: Option<Instant>| time.map(|time| time - opened.unwrap());
    println!(
        "after opening: compiling {:?}, preview {:?}, picture {:?}; slowest frame of the window \
         {slowest:?}",
        since(compiling),
        since(preview),
        since(drawn)
    );
    if since(drawn).unwrap() > SLOW {
        assert!(compiling.is_some(), "no progress is shown");
        assert!(preview.is_some(), "no preview is shown");
    }
    // The picture replaces the preview also in motion, and the line ends with the compilation.
    let viewport = &app.state.workspace.as_ref().unwrap().viewport;
    assert!(viewport.last_frame.is_some());
    app.shut_down().wait();
}
