//! `sunny16 bench`: frame times, memory, path tracer throughput, BVH build and ray rates.

use std::{path::PathBuf, time::Instant};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::{
    CliError, DeviceArgs, bench_bvh, bench_effects, bench_gi, bench_instances,
    bench_memory::Memory, bench_path, bench_rays, scene_args,
};
use crate::{
    frame::{AntiAliasing, Readback, Renderer},
    gpu::{Gpu, PassTime},
    output,
    session::{self, expose},
};

/// Measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Benchmark {
    /// Frames on the device: each pass, memory, start-up.
    Raster,
    /// The path tracer on the CPU: samples and rays per second, by threads.
    Path,
    /// BVHs over generated shapes: build time, memory, quality, rays per second.
    Bvh,
    /// The same rays on the CPU and on the device.
    Rays,
    /// Cost of indirect light for several VPL counts, triangle counts and resolutions.
    Gi,
    /// Cost of culling and drawing many instances of a small mesh.
    Instances,
    /// Cost of each effect alone, relative to a frame without effects.
    Effects,
    /// Cost of 1 to 256 lights in one scene, with clustered lights on and off.
    Lights,
}

const NUMBERS: &str = "\
Example:
  sunny16 bench scene.glb --what raster,lights --size 1920x1080

Values (by the host's clock unless device timestamps are stated):
  --what raster
    median, p95 ms  measured frames; passes by the device's timestamps
    poses           time to compute and upload a frame's transforms; with motion
                    blur, also the transforms at shutter opening and closing. Only
                    for animations (with --time, or an animated demo): they start
                    at --time and advance 1/60 s per frame
    device memory   by buffer and image, for the scene and for frames; MB for each
                    additional megapixel: a frame of half the width and height is
                    rendered too, and the difference in memory is divided by the
                    difference in pixels
    two in flight   mean frame time when the next frame is recorded while the
                    device still draws one
  --what path, a row for each thread count: 1, 2, 4 ... and all threads
    samples/s       whole paths with light sampling and all bounces
    ratio           relative to the first row
    primary         closest-hit rays per second from the camera, in tiles of 16x16
                    pixels
    shadow          any-hit rays per second, from the camera rays' hit points to a
                    sampled light
    diffuse         closest-hit rays per second, from the same points in
                    cosine-distributed directions
  --what bvh, over a bumpy ball (rock) and a field of blocks (city)
    build           binary BVH of the device, by one thread and by all
    widen           conversion to the host's BVH: 4 children, 4 triangles a leaf
    refit           update of boxes and triangles after vertices moved
    SAH cost        expected box and triangle tests of a ray through the bounds
    device, host    MiB of nodes and triangles
    rays            primary, shadow and diffuse rays as in path, on all CPU threads:
                    through the host's BVH, then through the device's
  --what rays
    primary, shadow, diffuse  rays as in path: on the CPU by the 4-wide and by the
                    binary BVH, then on the device
    device          time from submission to completion; one ray per thread; also
                    by ray query if the device has it
  --what gi, medians by device timestamps, ray-traced direct light, moving view
    gi              the pass that samples VPLs
    rest            the other passes of indirect light: accumulation, denoising
    vpls            rows by number of VPLs; in row 'all', each pixel evaluates each
                    VPL without shadow rays
    resolution      rows with width and height scaled by 1/2, 1 and 3/2
    triangles       rows by triangle count of a bumpy ball in a closed room with one
                    light
  --what instances, over a field of stones and a field of houses
    geometry        culling and drawing, by device timestamps
    host            CPU time to record and submit a frame
    frame           time from the start of recording until the device has finished
    ratio           relative to the visible instances drawn as one mesh
  --what effects, through a 50 mm lens, each effect alone
    ratio           relative to the frame without effects
    its own         time and number of the passes that the effect adds
  --what lights, a generated hall with 1, 4, ... 256 lights
    lighting        lighting pass when each pixel evaluates all lights
    a light         the same time divided by the number of lights
    clustered       lighting pass with clustered lights
    clusters        the pass that assigns lights to clusters";

#[derive(Args, Debug)]
#[command(after_long_help = NUMBERS)]
pub struct BenchArgs {
    /// Measurements, comma-separated.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "raster")]
    what: Vec<Benchmark>,
    /// Duration of each measurement in seconds (--what path or bvh).
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = seconds)]
    pub seconds: f64,
    /// Maximum path length (path) [default: unlimited].
    #[arg(long, value_name = "N")]
    pub bounces: Option<u32>,
    /// Triangle counts of the generated shapes, e.g. 10000000; counts beyond available memory are
    /// skipped (bvh, gi).
    #[arg(long, value_delimiter = ',', default_value = "10000,100000,1000000",
          value_parser = clap::value_parser!(u32).range(100..=40_000_000))]
    pub triangles: Vec<u32>,
    /// VPL counts (gi).
    #[arg(long, value_delimiter = ',', default_value = "1024,32768,1000000",
          value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    pub vpls: Vec<u32>,
    /// Measured frames, after five warm-up frames (raster) or one (gi).
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
    /// Number of instances (instances).
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub instances: u32,
    /// Write the values as JSON too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    pub scene: scene_args::SceneArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
}

pub struct Series {
    pub name: String,
    pub ms: Vec<f64>,
}

impl Series {
    /// Appends a frame's pass times to the series of each pass.
    pub fn record_passes(passes: &mut Vec<Self>, times: &[PassTime]) {
        for time in times {
            match passes.iter_mut().find(|series| series.name == time.name) {
                Some(series) => series.ms.push(time.ms),
                None => passes.push(Self { name: time.name.clone(), ms: vec![time.ms] }),
            }
        }
    }

    pub fn percentile(&self, fraction: f64) -> f64 {
        let mut sorted = self.ms.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        sorted.get((fraction * last as f64).round() as usize).copied().unwrap_or(0.0)
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected seconds, e.g. 2".to_string())?;
    if (0.0..=600.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("expected 0 to 600 seconds".into())
    }
}

pub fn elapsed_ms(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

const WARM_UP: u32 = 5;

pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    if let Some(file) = &args.json {
        output::check_writable(file)?;
    }
    let wants = |what| args.what.contains(&what);
    let mut report = Map::new();
    if [Benchmark::Raster, Benchmark::Path, Benchmark::Rays, Benchmark::Gi, Benchmark::Effects]
        .into_iter()
        .any(wants)
    {
        let start = Instant::now();
        let mut session = scene_args::open_scene(&args.scene)?;
        let import_ms = elapsed_ms(start);
        if wants(Benchmark::Raster)
            && let Value::Object(raster) = raster(args, &mut session, import_ms)?
        {
            report = raster;
        }
        if wants(Benchmark::Path) {
            report.insert("path".into(), bench_path::run(args, &session)?);
        }
        if wants(Benchmark::Rays) {
            report.insert("rays".into(), bench_rays::run(args, &session)?);
        }
        if wants(Benchmark::Gi) {
            report.insert("gi".into(), bench_gi::run(args, &session)?);
        }
        if wants(Benchmark::Effects) {
            report.insert("effects".into(), bench_effects::effects(args, &mut session)?);
        }
    }
    if wants(Benchmark::Bvh) {
        report.insert("bvh".into(), bench_bvh::run(args)?);
    }
    if wants(Benchmark::Lights) {
        report.insert("lights".into(), bench_effects::clustered_lights(args)?);
    }
    if wants(Benchmark::Instances) {
        report.insert("instances".into(), bench_instances::run(args)?);
    }
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|error| CliError::Internal(error.to_string()))?;
        output::write_text(file, &(text + "\n"))?;
    }
    Ok(())
}

fn raster(
    args: &BenchArgs,
    session: &mut session::Session,
    import_ms: f64,
) -> Result<Value, CliError> {
    let start = Instant::now();
    let gpu = Gpu::open(&args.device.options()?)?;
    let mut renderer = Renderer::new(&gpu)?;
    let device_ms = elapsed_ms(start);
    let start = Instant::now();
    let before_upload = gpu.memory_by_name();
    let mut scene = session.upload(&mut renderer)?;
    let upload_ms = elapsed_ms(start);
    let mut memory = Memory::new(&gpu, before_upload);
    let view = session.view();
    let exposed = expose::determine_exposure(session, &mut renderer, &scene, &view, false)?;
    let exposure = exposed.exposure;
    let mut settings = session.final_settings(&exposed, vec![])?;
    let mut motion = Series { name: "poses and their upload (host clock)".into(), ms: Vec::new() };
    // Still views freeze some passes: measure the more expensive moving case.
    if let AntiAliasing::Temporal(temporal) = &mut settings.anti_aliasing {
        temporal.still = false;
    }
    settings.gi.freeze_after = u32::MAX;
    settings.ssr.still = false;

    let nothing = Readback { display: false, nits: false };
    // A frame of half the size first: the difference gives bytes a pixel.
    let small = view.resized(view.width.div_ceil(2), view.height.div_ceil(2));
    let pending = renderer.submit(&scene, &small, &settings, nothing)?;
    renderer.collect(pending)?;
    memory.small_frame(&gpu, &small);
    let mut frame = Series { name: "frame (host clock)".into(), ms: Vec::new() };
    let mut passes: Vec<Series> = Vec::new();
    let mut lists = Default::default();
    for number in 0..WARM_UP + args.frames {
        if let Some(time) = session.playback.as_ref().map(|animated| animated.time) {
            let start = Instant::now();
            session.seek(time + 1.0 / 60.0)?;
            session.update_pose(&gpu, &mut scene)?;
            session.set_motion(&mut settings, &scene);
            if number >= WARM_UP {
                motion.ms.push(elapsed_ms(start));
            }
        }
        let start = Instant::now();
        let pending = renderer.submit(&scene, &view, &settings, nothing)?;
        let picture = renderer.collect(pending)?;
        let ms = elapsed_ms(start);
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
    for _ in 0..args.frames {
        let next = renderer.submit(&scene, &view, &settings, nothing)?;
        if let Some(pending) = ahead.replace(next) {
            renderer.collect(pending)?;
        }
    }
    if let Some(pending) = ahead {
        renderer.collect(pending)?;
    }
    let in_flight_ms = elapsed_ms(start) / f64::from(args.frames);

    let (used, reserved) = gpu.memory_in_use();
    memory.frame(&gpu, &view);
    let info = gpu.info();
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
        "import {import_ms:.1} ms, device and pipelines {device_ms:.1} ms, upload {upload_ms:.1} ms"
    );
    println!("device memory: {:.1} MiB in use, {:.1} MiB reserved", mib(used), mib(reserved));
    memory.print();
    println!(
        "lights: {}, evaluated a cluster: {:.1}",
        lists.lights,
        lists.evaluated as f64 / f64::from(lists.clusters.max(1))
    );
    let describe = |series: &Series| json!({"name": series.name, "median_ms": series.percentile(0.5), "p95_ms": series.percentile(0.95)});
    Ok(json!({
            "scene": args.scene.name(),
            "device": info.name, "driver": info.driver,
            "size": [view.width, view.height], "frames": args.frames, "ev100": exposure.ev100().get(),
            "triangles": session.scene.instanced_triangles(), "lights": lists.lights,
            "frame": describe(&frame), "poses": describe(&motion), "frame_in_flight_mean_ms": in_flight_ms,
            "passes": passes.iter().map(describe).collect::<Vec<_>>(),
            "start_ms": {"import": import_ms, "device": device_ms, "upload": upload_ms},
            "memory_bytes": {"used": used, "reserved": reserved, "by_name": memory.json()},
    }))
}

pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
