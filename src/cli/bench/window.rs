//! `sunny16 bench --what window`: pictures per second of the look-dev window while a drag orbits.
//!
//! The window's content is driven as by a display at 60 Hz, on two devices as in `view`, and drawn
//! to an image in place of a swapchain.

use std::{
    path::PathBuf,
    sync::{Arc, Condvar, Mutex},
    time::{Duration, Instant},
};

use egui::{Event, Modifiers, PointerButton, Pos2, RawInput, Rect, pos2, vec2};
use serde_json::json;

use super::{args::BenchArgs, record::Measurement, series::Series};
use crate::{
    cli::error::CliError,
    gpu::{Gpu, GpuOptions, mutex::lock, vk},
    output, session,
    viewer::{App, Options, engine::RenderedFrame, governor::Level, painter::Painter},
};

/// Interval of the window's frames and of pointer input: a display at 60 Hz.
const TICK: Duration = Duration::from_micros(1_000_000 / 60);

/// Pictures in motion before the measured ones.
const WARM_UP: u32 = 10;

/// Maximum duration of the warm-up from its first picture on, and of the measurement (s).
const MAX_SECONDS: f64 = 12.0;

/// Maximum wait for the first still picture and for the first one in motion (s), with shader
/// compilation.
const FIRST_SECONDS: f64 = 600.0;

/// Window size in pixels without `--size`.
const SIZE: [u32; 2] = [1280, 800];

/// Movement of the pointer per frame of the window (points).
const STEP: f32 = 2.0;
/// Steps from the middle of the drag to its ends: cameras inside of a room stay inside.
const SWAY: u32 = 20;

/// Wake-ups of the window by its render thread.
#[derive(Default)]
struct WakeUps(Mutex<bool>, Condvar);

/// A window without a display.
struct Headless {
    app: App,
    painter: Painter,
    wakes: Arc<WakeUps>,
    size: [u32; 2],
    begun: Instant,
    /// Number of the last picture seen.
    seen: u64,
    /// Time of each frame on the window's thread (ms).
    own: Series,
    /// The last frame of the window: RGBA, 8 bits each.
    shown: Vec<u8>,
}

impl Headless {
    /// The window, and its devices: its own and that of the render thread.
    fn new(args: &BenchArgs, options: &GpuOptions) -> Result<(Self, [Gpu; 2]), CliError> {
        let gpu = Gpu::open(options)?;
        let named = Some(gpu.info().name.clone());
        let renders = Gpu::open(&GpuOptions { device: named, ..options.clone() })?;
        let wakes = Arc::new(WakeUps::default());
        let waker = Arc::clone(&wakes);
        let wake = move || {
            *lock(&waker.0) = true;
            waker.1.notify_all();
        };
        let request = args.scene.request();
        let size = request.size.map_or(SIZE, |size| [size.width, size.height]);
        let app = App::new(&renders, Options { request, ..Options::default() }, Arc::new(wake))?;
        let painter = Painter::new(&gpu, vk::Format::R8G8B8A8_UNORM)?;
        let (begun, own) = (Instant::now(), Series::new("window thread"));
        Ok((
            Self { app, painter, wakes, size, begun, seen: 0, own, shown: Vec::new() },
            [gpu, renders],
        ))
    }

    /// One frame of the window; the new picture that it shows, if any.
    fn frame(&mut self, events: Vec<Event>) -> Result<Option<Arc<RenderedFrame>>, CliError> {
        let start = Instant::now();
        *lock(&self.wakes.0) = false;
        let [width, height] = self.size.map(|side| side as f32);
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(width, height))),
            time: Some(self.begun.elapsed().as_secs_f64()),
            focused: true,
            events,
            ..RawInput::default()
        };
        let output = self.app.frame(input);
        let scale = output.pixels_per_point;
        let primitives = self.app.context().tessellate(output.shapes, scale);
        let shapes = self.painter.take(output.textures_delta, &primitives, scale, self.size)?;
        self.shown = self.painter.render_to_bytes(self.size, &shapes)?;
        self.app.record_frame_time(start.elapsed());
        self.own.ms.push(start.elapsed().as_secs_f64() * 1e3);
        if let Some(error) = &self.app.state.fatal {
            return Err(CliError::Usage(error.clone()));
        }
        let workspace = self.app.state.workspace.as_ref();
        let newest = workspace.and_then(|work| work.viewport.last_frame.clone());
        let fresh = newest.filter(|picture| picture.number != self.seen);
        if let Some(picture) = &fresh {
            self.seen = picture.number;
        }
        Ok(fresh)
    }

    /// Shows the view at rest. Times (ms) since `since` of the first picture of full quality, and of
    /// the one with all its frames.
    fn rest(&mut self, since: Instant) -> Result<[f64; 2], CliError> {
        let mut first_ms = None;
        loop {
            let start = Instant::now();
            let still = self.frame(vec![])?.is_some_and(|picture| picture.still);
            let ms = since.elapsed().as_secs_f64() * 1e3;
            if still {
                first_ms.get_or_insert(ms);
            }
            let workspace = self.app.state.workspace.as_ref();
            let done = workspace.is_some_and(|work| !work.viewport.needs_frame());
            if done || ms > FIRST_SECONDS * 1e3 {
                return Ok([first_ms.unwrap_or(ms), ms]);
            }
            self.wait(start, false);
        }
    }

    /// Waits for a wake-up, at most until pointer input redraws the window, or without input for a
    /// tenth of a second; and for the next frame of the display since `start`.
    fn wait(&self, start: Instant, has_input: bool) {
        let most = if has_input { self.app.input_redraw_delay() } else { 6 * TICK };
        let pending = lock(&self.wakes.0);
        drop(self.wakes.1.wait_timeout_while(pending, most, |pending| !*pending));
        std::thread::sleep(TICK.saturating_sub(start.elapsed()));
    }
}

/// A drag that orbits back and forth in the picture.
struct Orbit {
    center: Pos2,
    step: u32,
}

impl Orbit {
    fn button(&self, pressed: bool) -> Event {
        let (button, modifiers) = (PointerButton::Middle, Modifiers::NONE);
        Event::PointerButton { pos: self.center, button, pressed, modifiers }
    }

    fn next(&mut self) -> Event {
        self.step += 1;
        let turn = (self.step % (4 * SWAY)) as f32;
        let sway = SWAY as f32;
        let offset = if turn < 2.0 * sway { turn } else { 4.0 * sway - turn };
        Event::PointerMoved(self.center + vec2((offset - sway) * STEP, 0.0))
    }
}

/// Measures the pictures of the window while a drag orbits.
pub fn run(args: &BenchArgs) -> Result<Measurement, CliError> {
    let (mut window, gpus) = Headless::new(args, &args.device.options()?)?;
    let info = gpus[1].info().clone();
    let window_size = window.size;
    window.app.finish_opening();
    // The second still picture, which has the final layout, and compiles little if anything.
    let mut pictures = 0;
    while window.begun.elapsed().as_secs_f64() < FIRST_SECONDS {
        let start = Instant::now();
        pictures += u32::from(window.frame(vec![])?.is_some());
        let workspace = window.app.state.workspace.as_ref();
        if pictures > 1 || workspace.is_some_and(|work| !work.viewport.needs_frame()) {
            break;
        }
        if let Some(error) = window.app.error_message() {
            return Err(CliError::Usage(error.to_owned()));
        }
        window.wait(start, false);
    }
    let center = window.app.viewport_rect().center();
    let mut orbit = Orbit { center: pos2(center.x.round(), center.y.round()), step: SWAY };
    window.frame(vec![Event::PointerMoved(orbit.center)])?;
    let pressed = Instant::now();
    window.frame(vec![orbit.button(true)])?;
    let mut first_ms = None;
    let mut gaps = Series::new("interval of pictures");
    let mut frame = Series::new("picture, device and host");
    let (mut passes, mut shown) = (Vec::<Series>::new(), None);
    let mut picture = Vec::new();
    for (count, measures) in [(WARM_UP, false), (args.frames(), true)] {
        let mut begun = Instant::now();
        let mut last = begun;
        let mut done = 0;
        window.own.ms.clear();
        // The first picture waits for the still frame under way.
        let most = |first: bool| if first { FIRST_SECONDS } else { MAX_SECONDS };
        while done < count && begun.elapsed().as_secs_f64() < most(first_ms.is_none()) {
            let start = Instant::now();
            let event = orbit.next();
            if let Some(motion) = window.frame(vec![event])?.filter(|picture| !picture.still) {
                if first_ms.is_none() {
                    first_ms = Some(pressed.elapsed().as_secs_f64() * 1e3);
                    begun = Instant::now();
                }
                done += 1;
                if measures {
                    gaps.ms.push(last.elapsed().as_secs_f64() * 1e3);
                    frame.ms.push(motion.request_ms);
                    Series::record_passes(&mut passes, &motion.image.times);
                    // Not the preview of a compilation.
                    if args.picture.is_some()
                        && window.app.displayed_picture() == Some(motion.number)
                    {
                        picture.clone_from(&window.shown);
                    }
                    shown = Some(motion);
                }
                last = Instant::now();
            }
            window.wait(start, true);
        }
    }
    let released = Instant::now();
    window.frame(vec![orbit.button(false)])?;
    let write = |file: &Option<PathBuf>, picture: &[u8]| -> Result<(), CliError> {
        let Some(file) = file else { return Ok(()) };
        if picture.is_empty() {
            return Err(CliError::Usage("--picture: no picture in motion was displayed".into()));
        }
        let [width, height] = window_size.map(|side| side as usize);
        Ok(output::write_png(file, width, height, picture)?)
    };
    write(&args.picture, &picture)?;
    let seconds = gaps.ms.iter().sum::<f64>() / 1e3;
    let rate = if seconds > 0.0 { gaps.ms.len() as f64 / seconds } else { 0.0 };
    let (size, level) = shown.map_or(([0; 2], Level::FULL), |picture| {
        ([picture.image.width, picture.image.height], picture.level)
    });
    println!(
        "window, {} on {} ({}), {}x{}: orbit with {rate:.1} pictures/s at {}x{} ({level})",
        args.scene.name(),
        info.name,
        info.driver,
        window.size[0],
        window.size[1],
        size[0],
        size[1]
    );
    println!("{:>10} {:>10} {:>10}", "median ms", "p95 ms", "max ms");
    passes.sort_by(|a, b| b.percentile(0.5).total_cmp(&a.percentile(0.5)));
    let series = [&gaps, &frame, &window.own];
    for series in series.into_iter().chain(passes.iter().take(12)) {
        let times = if series.ms.len() < gaps.ms.len() {
            format!(" ({} of {} pictures)", series.ms.len(), gaps.ms.len())
        } else {
            String::new()
        };
        println!(
            "{:>10.2} {:>10.2} {:>10.2}  {}{times}",
            series.percentile(0.5),
            series.percentile(0.95),
            series.percentile(1.0),
            series.name
        );
    }
    let first_ms = first_ms.unwrap_or_default();
    println!("first picture after the press: {first_ms:.0} ms");
    let [rest_ms, whole_ms] = window.rest(released)?;
    write(&args.picture_rest, &window.shown)?;
    println!("after the release: full quality {rest_ms:.0} ms, all its frames {whole_ms:.0} ms");
    let described = |series: &Series| {
        let mut described = series.json();
        described["max_ms"] = series.percentile(1.0).into();
        described
    };
    let result = json!({
        "pictures": gaps.ms.len(),
        "pictures_per_second": rate,
        "first_ms": first_ms,
        "rest_ms": rest_ms,
        "whole_ms": whole_ms,
        "picture_size": size,
        "level": level.to_string(),
        "interval": described(&gaps),
        "frame": described(&frame),
        "window_thread": described(&window.own),
        "passes": passes.iter().map(described).collect::<Vec<_>>(),
    });
    let Headless { app, painter, size, .. } = window;
    drop(painter);
    app.shut_down().wait();
    session::check_validation(gpus.iter())?;
    Ok(Measurement {
        device: Some(info),
        scene: Some(args.scene.name()),
        size: Some(size.map(|side| side as usize)),
        warm_up: serde_json::Value::Null,
        result,
    })
}
