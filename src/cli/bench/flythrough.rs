//! `sunny16 bench --what flythrough`: frames along a camera path, in which histories, culling,
//! shadow maps and light lists work as in motion.

use serde_json::json;

use super::{
    args::BenchArgs,
    record::Measurement,
    series::Series,
    timed_frame::{TimedFrame, keep_moving, timed_frame, warm_up},
    warm_up,
};
use crate::{
    cli::error::CliError,
    session::{self, CameraPath, OpenScene, Session},
};

/// Frames at the start of the path before the measured ones, after the warm-up.
const STILL_FRAMES: u32 = 5;
/// Frames per second of the path by default.
const FRAME_RATE: f64 = 60.0;

/// The slowest frame.
struct Worst {
    number: u32,
    time: f64,
    ms: f64,
    /// Name and time in ms of its most expensive pass.
    pass: Option<(String, f64)>,
}

/// Measures frames along the scene's camera path or that of `--camera-path`.
pub fn run(args: &BenchArgs, opened: &OpenScene) -> Result<Measurement, CliError> {
    let path = match &args.camera_path {
        Some(file) => CameraPath::read(file)?,
        None => CameraPath::of(&opened.request)?,
    };
    let frames = args.frames.unwrap_or((path.duration() * FRAME_RATE).round() as u32 + 1);
    let renderer = session::open_device(&args.device.options()?)?;
    let info = renderer.gpu().info().clone();
    let start = opened.time();
    let mut session = Session::open(renderer, opened.clone())?;
    session.opened.camera.0 = path.transform(0.0);
    let exposed = session.determine_exposure(false)?;
    let mut settings = session.opened.final_settings(&exposed, vec![])?;
    keep_moving(&mut settings);

    let view = session.opened.view();
    let (renderer, scene) = session.device();
    renderer.reset_history();
    warm_up(renderer, scene, &view, &settings)?;
    for _ in 0..STILL_FRAMES {
        timed_frame(renderer, scene, &view, &settings)?;
    }
    let mut frame = Series::new("frame (host clock)");
    let mut passes: Vec<Series> = Vec::new();
    let mut worst: Option<Worst> = None;
    for number in 0..frames {
        let time = path.duration() * f64::from(number) / f64::from(frames.max(2) - 1);
        if let Some(start) = start {
            session.seek(start + time)?;
            session.set_motion(&mut settings);
        }
        // After the seek, which places an animated camera.
        session.opened.camera.0 = path.transform(time);
        let view = session.opened.view();
        let (renderer, scene) = session.device();
        let TimedFrame { picture, ms, .. } = timed_frame(renderer, scene, &view, &settings)?;
        frame.ms.push(ms);
        Series::record_passes(&mut passes, &picture.times);
        if worst.as_ref().is_none_or(|worst| ms > worst.ms) {
            let pass = picture.times.iter().max_by(|a, b| a.ms.total_cmp(&b.ms));
            let pass = pass.map(|pass| (pass.name.clone(), pass.ms));
            worst = Some(Worst { number, time, ms, pass });
        }
    }
    println!(
        "{} along its camera path, {frames} frames over {} s, on {} ({}), {}x{}",
        args.scene.name(),
        path.duration(),
        info.name,
        info.driver,
        view.width,
        view.height
    );
    println!("{:>10} {:>10} {:>10}", "median ms", "p95 ms", "max ms");
    for series in [&frame].into_iter().chain(&passes) {
        println!(
            "{:>10.3} {:>10.3} {:>10.3}  {}",
            series.percentile(0.5),
            series.percentile(0.95),
            series.percentile(1.0),
            series.name
        );
    }
    if let Some(Worst { number, time, ms, pass }) = &worst {
        let pass = pass.as_ref().map_or_else(String::new, |(name, ms)| {
            format!("; its most expensive pass is {name} with {ms:.3} ms")
        });
        println!("slowest frame: number {number} at {time:.3} s with {ms:.3} ms{pass}");
    }
    let described = |series: &Series| {
        let mut described = series.json();
        described["max_ms"] = series.percentile(1.0).into();
        described
    };
    let result = json!({
        "frames": frames,
        "duration_s": path.duration(),
        "ev100": exposed.exposure.ev100().get(),
        "triangles": session.opened.scene.instanced_triangles(),
        "frame": described(&frame),
        "passes": passes.iter().map(described).collect::<Vec<_>>(),
        "worst": worst.map(|Worst { number, time, ms, pass }| json!({
            "frame": number, "time_s": time, "ms": ms,
            "pass": pass.as_ref().map(|(name, _)| name), "pass_ms": pass.as_ref().map(|(_, ms)| ms),
        })),
    });
    session.close()?;
    Ok(Measurement {
        device: Some(info),
        scene: Some(args.scene.name()),
        size: Some([view.width as usize, view.height as usize]),
        warm_up: warm_up::json(STILL_FRAMES),
        result,
    })
}
