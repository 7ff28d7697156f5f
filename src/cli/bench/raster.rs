//! `sunny16 bench --what raster`: frames on the device: passes, memory, start-up.

use std::time::Instant;

use serde_json::{Value, json};

use super::{
    args::BenchArgs,
    memory::Memory,
    record::Measurement,
    series::{Series, declared_json},
    timed_frame::{NOTHING, TimedFrame, keep_moving, timed_frame, warm_up},
    units::{elapsed_ms, mib},
    warm_up,
};
use crate::{
    cli::{error::CliError, warnings::warn_remarks},
    gpu::PassTime,
    session::{OpenScene, Session},
};

/// Excess over twice the usual time of a pass (ms) from which its first run counts as compilation.
const FIRST_USE_MS: f64 = 2.0;

/// Frames between the warm-up and the measured ones; animations advance in them.
const WARM_UP: u32 = 5;

/// Measures frames of a scene; `import_ms` is the time that its import took.
pub fn run(args: &BenchArgs, opened: &OpenScene, import_ms: f64) -> Result<Measurement, CliError> {
    let start = Instant::now();
    let (renderer, notice) = args.device.open_renderer()?;
    let gpu = renderer.gpu().clone();
    let device_ms = elapsed_ms(start);
    let start = Instant::now();
    let before_upload = gpu.memory_by_name();
    let mut session = Session::open(renderer, opened.clone())?;
    let upload_ms = elapsed_ms(start);
    let mut memory = Memory::new(&gpu, before_upload);
    let view = session.opened.view();
    let start = Instant::now();
    let exposed = session.determine_exposure(false)?;
    let exposure_ms = elapsed_ms(start);
    let exposure = exposed.exposure;
    let mut settings = session.opened.final_settings(&exposed, vec![])?;
    let mut motion = Series::new("poses and their upload (host clock)");
    keep_moving(&mut settings);

    // A frame of half the size first: the difference gives bytes a pixel.
    let small = view.resized(view.width.div_ceil(2), view.height.div_ceil(2));
    let (renderer, scene) = session.device();
    let first = timed_frame(renderer, scene, &small, &settings)?;
    let pipelines = gpu.pipeline_times();
    drop(notice);
    warn_remarks(&gpu);
    memory.small_frame(&gpu, &small);
    warm_up(renderer, scene, &view, &settings)?;
    let mut frame = Series::new("frame (host clock)");
    let mut passes: Vec<Series> = Vec::new();
    let mut lists = Default::default();
    for number in 0..WARM_UP + args.frames() {
        if let Some(time) = session.opened.time() {
            let start = Instant::now();
            session.seek(time + 1.0 / 60.0)?;
            session.set_motion(&mut settings);
            if number >= WARM_UP {
                motion.ms.push(elapsed_ms(start));
            }
        }
        let (renderer, scene) = session.device();
        let TimedFrame { picture, ms, .. } = timed_frame(renderer, scene, &view, &settings)?;
        lists = picture.clustered_light_stats;
        if number < WARM_UP {
            continue;
        }
        frame.ms.push(ms);
        Series::record_passes(&mut passes, &picture.times);
    }
    // Two frames in flight, as in the window.
    let start = Instant::now();
    let mut ahead = None;
    let (renderer, scene) = session.device();
    for _ in 0..args.frames() {
        let next = renderer.submit(scene, &view, &settings, NOTHING)?;
        if let Some(pending) = ahead.replace(next) {
            renderer.collect(pending)?;
        }
    }
    if let Some(pending) = ahead {
        renderer.collect(pending)?;
    }
    let in_flight_ms = elapsed_ms(start) / f64::from(args.frames());

    let (used, reserved) = gpu.memory_in_use();
    memory.frame(&gpu, &view);
    let info = gpu.info().clone();
    println!(
        "{} on {} ({}), {}x{}",
        args.scene.name(),
        info.name,
        info.driver,
        view.width,
        view.height
    );
    println!("{:>10} {:>10}", "median ms", "p95 ms");
    for series in
        [&frame].into_iter().chain(Some(&motion).filter(|m| !m.ms.is_empty())).chain(&passes)
    {
        println!(
            "{:>10.3} {:>10.3}  {}",
            series.percentile(0.5),
            series.percentile(0.95),
            series.name
        );
    }
    println!("{in_flight_ms:>10.3}             frame, two in flight (mean)");
    println!(
        "import {import_ms:.1} ms, device and common pipelines {device_ms:.1} ms, upload {upload_ms:.1} ms, exposure {exposure_ms:.1} ms, first frame (half the size) {:.1} ms",
        first.ms
    );
    let created_ms: f64 = pipelines.iter().map(|pipeline| pipeline.ms).sum();
    println!("pipelines: {}, created in {created_ms:.1} ms (sum of all threads)", pipelines.len());
    pipelines.iter().for_each(|pipeline| println!("{:>10.3} ms  {}", pipeline.ms, pipeline.name));
    println!("first frame: passes with shaders that the driver compiled at their first use");
    let compiled = |pass: &&PassTime| {
        let usual = passes.iter().find(|series| series.name == pass.name);
        pass.ms > FIRST_USE_MS + 2.0 * usual.map_or(0.0, |series| series.percentile(0.5))
    };
    let compiled: Vec<&PassTime> = first.picture.times.iter().filter(compiled).collect();
    compiled.iter().for_each(|pass| println!("{:>10.3} ms  {}", pass.ms, pass.name));
    println!("device memory: {:.1} MiB in use, {:.1} MiB reserved", mib(used), mib(reserved));
    memory.print();
    println!(
        "lights: {}, evaluated a cluster: {:.1}",
        lists.lights,
        lists.evaluated as f64 / f64::from(lists.clusters.max(1))
    );
    let declared = session.plan(&settings)?.declared_bytes();
    let triangles = session.opened.scene.instanced_triangles();
    session.close()?;
    let pipelines: Vec<Value> = pipelines
        .iter()
        .map(|pipeline| json!({"name": pipeline.name, "ms": pipeline.ms}))
        .collect();
    let compiled: Vec<Value> =
        compiled.iter().map(|pass| json!({"pass": pass.name, "ms": pass.ms})).collect();
    Ok(Measurement {
        device: Some(info),
        scene: Some(args.scene.name()),
        size: Some([view.width as usize, view.height as usize]),
        warm_up: warm_up::json(WARM_UP),
        result: json!({
            "frames": args.frames(), "ev100": exposure.ev100().get(),
            "triangles": triangles, "lights": lists.lights,
            "frame": frame.json(),
            "poses": (!motion.ms.is_empty()).then(|| motion.json()),
            "frame_in_flight_mean_ms": in_flight_ms,
            "passes": passes.iter().map(Series::json).collect::<Vec<_>>(),
            "declared_bytes": declared_json(&declared),
            "start_ms": {
                "import": import_ms, "device": device_ms, "upload": upload_ms,
                "exposure": exposure_ms, "first_frame": first.ms,
            },
            "pipelines": pipelines,
            "compiled_at_first_use": compiled,
            "memory_bytes": {"used": used, "reserved": reserved, "by_name": memory.json()},
        }),
    })
}
