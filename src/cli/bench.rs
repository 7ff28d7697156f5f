//! `sunny16 bench`: what a frame costs, and what the path tracer does in a second.

use std::{path::PathBuf, time::Instant};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::{
    CliError, DeviceArgs, bench_bvh, bench_effects, bench_gi, bench_instances, bench_memory::Memory, bench_path,
    bench_rays, open,
};
use crate::{
    frame::{AntiAliasing, Renderer, Wanted},
    gpu::{Gpu, PassTime},
    output,
    studio::{self, expose},
};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Frames on the device: each pass, memory, start-up.
    Raster,
    /// The path tracer on the host: samples and rays a second, by threads.
    Path,
    /// Trees for rays, over generated shapes: building, memory, quality, rays.
    Bvh,
    /// The same rays on the host and on the device.
    Rays,
    /// What bounced light costs, by patches, triangles and resolution.
    Gi,
    /// Very many instances of a small mesh, over generated fields: what finding and drawing them costs.
    Instances,
    /// Each effect of camera and renderer by itself, beside none of them.
    Effects,
    /// More and more lamps over the same scene, with light lists and without.
    Lamps,
}

const NUMBERS: &str = "\
What the numbers mean (all times by the host's clock unless a pass is named):
  --what raster
    median, p95 ms    of the frames measured; passes by the device's clock where it has one
    poses             where things are at the frame's time and when its shutter opens and closes, and what the device is
                      told of it; with --time, and for petals; one step is a 60th of a second
    device memory     what the scene took when it was uploaded and what frames took besides, by the names of buffers and
                      images; bytes a pixel from this size and half of it on each side
    two in flight     mean time a frame when the next is begun before one is done, as in a window
  --what path, a row for 1, 2, 4 ... threads and for all
    samples a second  whole paths with light sampling and all their bounces, on the scene given
    ratio             of those to the first row's
    primary           rays a second from the eye, nearest hit; one thread traces 16x16 pixels after another
    shadow            rays a second from what they met to a light chosen as the path tracer does, any hit
    diffuse           rays a second from what they met as a matte surface scatters, nearest hit
  --what bvh, over a bumpy ball (rock) and a field of blocks (city)
    build             of the trees that the device has, by one thread and by all
    widen             making of them what the host walks: four children a node, four triangles a leaf
    refit             boxes and triangles anew in the same trees, as for moved vertices
    SAH cost          box and triangle tests that a ray through the whole box can expect; less is better
    device, host MiB  trees and triangles of the device; what the host has besides
    rays              as above, on all threads, on the host's trees and below that on the device's
  --what rays, of the scene given
    primary, shadow, diffuse   as above; the host with its own trees of four children a node, and with the device's of two
    device            from when it has its commands until it is done, one ray a thread, in the rays' order; where it has
                      ray query, by that too (--rays trees leaves it out)
  --what gi, medians by the device's clock, direct light with rays, the view taken as though it moved
    gi                the pass that asks patches; rest: its histories and filter
    patches           of the scene given, at the size given; 'all' asks every patch without visibility, as the literature does
    resolution        of the scene given, sides times 1/2, 1 and 3/2
    triangles         a bumpy ball (rock) in a closed room with one lamp
  --what instances, over a field of stones and one of houses that hide each other
    geometry          the passes that find and draw what is seen, by the device's clock
    host              from the call until the device has its commands; frame: until it is done
    ratio             all instances to those that pixels see, drawn as one mesh
  --what effects, of the scene given through a lens of 50 mm, each effect alone
    ratio             of the frame to that with none of them
    its own           sum of the passes that a frame without it does not have, by the device's clock; how many they are
  --what lamps, over a generated hall with 1, 4, ... 256 lamps
    lighting          the pass with every pixel evaluating every lamp; a lamp: that over their number
    with lists        the same with lamps left out that cannot be seen; lists: what finding them takes";

#[derive(Args, Debug)]
#[command(after_long_help = NUMBERS)]
pub struct BenchArgs {
    #[command(flatten)]
    pub scene: open::SceneArgs,
    /// What to measure; several may be given, separated by commas.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "raster")]
    what: Vec<What>,
    /// Time for each measurement in seconds (path, bvh).
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5, value_parser = seconds)]
    pub seconds: f64,
    /// Surfaces that a path may meet (path) [default: no limit].
    #[arg(long, value_name = "N")]
    pub bounces: Option<u32>,
    /// Triangles of the generated shapes; those that do not fit into memory are left out, e.g. 10000000 (bvh, gi).
    #[arg(long, value_delimiter = ',', default_value = "10000,100000,1000000",
          value_parser = clap::value_parser!(u32).range(100..=40_000_000))]
    pub triangles: Vec<u32>,
    /// Patches that bounced light is measured with (gi).
    #[arg(long, value_delimiter = ',', default_value = "1024,32768,1000000",
          value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    pub patches: Vec<u32>,
    /// Frames that are measured, after five that are not (raster; after one, gi).
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: u32,
    /// Instances of a field (instances).
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub instances: u32,
    /// Write the figures to a file too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    pub device: DeviceArgs,
}

pub struct Series {
    pub name: String,
    pub ms: Vec<f64>,
}

impl Series {
    /// Adds a frame's passes to those of the frames before.
    pub fn add(passes: &mut Vec<Self>, times: &[PassTime]) {
        for time in times {
            match passes.iter_mut().find(|series| series.name == time.name) {
                Some(series) => series.ms.push(time.ms),
                None => passes.push(Self { name: time.name.clone(), ms: vec![time.ms] }),
            }
        }
    }

    pub fn at(&self, fraction: f64) -> f64 {
        let mut sorted = self.ms.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        sorted.get((fraction * last as f64).round() as usize).copied().unwrap_or(0.0)
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "give seconds, e.g. 2".to_string())?;
    if (0.0..=600.0).contains(&seconds) { Ok(seconds) } else { Err("from 0 to 600 seconds".into()) }
}

pub fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

const WARM_UP: u32 = 5;

pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    if let Some(file) = &args.json {
        output::check_writable(file)?;
    }
    let wants = |what| args.what.contains(&what);
    let mut report = Map::new();
    if [What::Raster, What::Path, What::Rays, What::Gi, What::Effects].into_iter().any(wants) {
        let start = Instant::now();
        let mut opened = open::open(&args.scene)?;
        let import_ms = since(start);
        if wants(What::Raster)
            && let Value::Object(raster) = raster(args, &mut opened, import_ms)?
        {
            report = raster;
        }
        if wants(What::Path) {
            report.insert("path".into(), bench_path::run(args, &opened)?);
        }
        if wants(What::Rays) {
            report.insert("rays".into(), bench_rays::run(args, &opened)?);
        }
        if wants(What::Gi) {
            report.insert("gi".into(), bench_gi::run(args, &opened)?);
        }
        if wants(What::Effects) {
            report.insert("effects".into(), bench_effects::effects(args, &mut opened)?);
        }
    }
    if wants(What::Bvh) {
        report.insert("bvh".into(), bench_bvh::run(args)?);
    }
    if wants(What::Lamps) {
        report.insert("lamps".into(), bench_effects::lamps(args)?);
    }
    if wants(What::Instances) {
        report.insert("instances".into(), bench_instances::run(args)?);
    }
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&report).map_err(|error| CliError::Internal(error.to_string()))?;
        output::write_text(file, &(text + "\n"))?;
    }
    Ok(())
}

fn raster(args: &BenchArgs, opened: &mut studio::Opened, import_ms: f64) -> Result<Value, CliError> {
    let start = Instant::now();
    let gpu = Gpu::open(&args.device.options()?)?;
    let mut renderer = Renderer::new(&gpu)?;
    let device_ms = since(start);
    let start = Instant::now();
    let before_upload = gpu.memory_by_name();
    let mut scene = opened.upload(&mut renderer)?;
    let upload_ms = since(start);
    let mut memory = Memory::new(&gpu, before_upload);
    let view = opened.view();
    let exposed = expose::exposure(opened, &mut renderer, &scene, &view, false)?;
    let exposure = exposed.exposure;
    let mut settings = opened.picture_settings(&exposed, vec![])?;
    let mut motion = Series { name: "poses, and the scene after them (host clock)".into(), ms: Vec::new() };
    // The view stands still, but what moves is the dearer case.
    if let AntiAliasing::Temporal(temporal) = &mut settings.anti_aliasing {
        temporal.still = false;
    }
    settings.gi.still = u32::MAX;
    settings.ssr.still = false;

    let nothing = Wanted { display: false, nits: false };
    // What a frame takes grows with its pixels: half of the size on each side first.
    let small = view.resized(view.width.div_ceil(2), view.height.div_ceil(2));
    let pending = renderer.submit(&scene, &small, &settings, nothing)?;
    renderer.collect(pending)?;
    memory.small_frame(&gpu, &small);
    let mut frame = Series { name: "frame (host clock)".into(), ms: Vec::new() };
    let mut passes: Vec<Series> = Vec::new();
    let mut lists = Default::default();
    for number in 0..WARM_UP + args.frames {
        if let Some(time) = opened.animated.as_ref().map(|animated| animated.time) {
            let start = Instant::now();
            opened.go_to(time + 1.0 / 60.0)?;
            opened.follow(&gpu, &mut scene)?;
            opened.set_in_motion(&mut settings, &scene);
            if number >= WARM_UP {
                motion.ms.push(since(start));
            }
        }
        let start = Instant::now();
        let pending = renderer.submit(&scene, &view, &settings, nothing)?;
        let picture = renderer.collect(pending)?;
        let ms = since(start);
        lists = picture.lists;
        if number < WARM_UP {
            continue;
        }
        frame.ms.push(ms);
        Series::add(&mut passes, &picture.times);
    }
    // With two frames in flight, as an interactive session runs.
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
    let in_flight_ms = since(start) / f64::from(args.frames);

    let (used, reserved) = gpu.memory_in_use();
    memory.frame(&gpu, &view);
    let info = gpu.info();
    println!("{} on {} ({}), {}x{}", args.scene.name(), info.name, info.driver, view.width, view.height);
    println!("{:>10} {:>10}", "median ms", "p95 ms");
    for series in [&frame].into_iter().chain(Some(&motion).filter(|m| !m.ms.is_empty())).chain(&passes) {
        println!("{:>10.3} {:>10.3}  {}", series.at(0.5), series.at(0.95), series.name);
    }
    println!("{in_flight_ms:>10.3}             frame, two in flight (mean)");
    println!("import {import_ms:.1} ms, device and pipelines {device_ms:.1} ms, upload {upload_ms:.1} ms");
    println!("device memory: {:.1} MiB in use, {:.1} MiB reserved", mib(used), mib(reserved));
    memory.print();
    println!(
        "lamps: {}, evaluated a cluster: {:.1}",
        lists.lamps,
        lists.evaluated as f64 / f64::from(lists.clusters.max(1))
    );
    let describe =
        |series: &Series| json!({"name": series.name, "median_ms": series.at(0.5), "p95_ms": series.at(0.95)});
    Ok(json!({
            "scene": args.scene.name(),
            "device": info.name, "driver": info.driver,
            "size": [view.width, view.height], "frames": args.frames, "ev100": exposure.ev100().get(),
            "triangles": opened.scene.shown_triangles(), "lamps": lists.lamps,
            "frame": describe(&frame), "poses": describe(&motion), "frame_in_flight_mean_ms": in_flight_ms,
            "passes": passes.iter().map(describe).collect::<Vec<_>>(),
            "start_ms": {"import": import_ms, "device": device_ms, "upload": upload_ms},
            "memory_bytes": {"used": used, "reserved": reserved, "by_name": memory.json()},
    }))
}

pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
