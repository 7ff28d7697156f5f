//! `sunny16 bench`: what a frame costs.

use std::{path::PathBuf, time::Instant};

use clap::Args;
use serde_json::json;

use super::{CliError, DeviceArgs, open};
use crate::{
    frame::{Renderer, Wanted},
    gpu::Gpu,
    output,
};

#[derive(Args, Debug)]
pub struct BenchArgs {
    #[command(flatten)]
    scene: open::SceneArgs,
    /// Frames that are measured, after five that are not.
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    frames: u32,
    /// Write the figures to a file too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
}

struct Series {
    name: String,
    ms: Vec<f64>,
}

impl Series {
    fn at(&self, fraction: f64) -> f64 {
        let mut sorted = self.ms.clone();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        sorted.get((fraction * last as f64).round() as usize).copied().unwrap_or(0.0)
    }
}

fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

const WARM_UP: u32 = 5;

pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    if let Some(file) = &args.json {
        output::check_writable(file)?;
    }
    let start = Instant::now();
    let opened = open::open(&args.scene)?;
    let import_ms = since(start);
    let start = Instant::now();
    let gpu = Gpu::open(&args.device.options()?)?;
    let mut renderer = Renderer::new(&gpu)?;
    let device_ms = since(start);
    let start = Instant::now();
    let scene = renderer.upload_for(&opened.scene, &opened.shadows())?;
    let upload_ms = since(start);
    let view = opened.view();
    let exposed = open::exposure(&opened, &mut renderer, &scene, &view, false)?;
    let exposure = exposed.exposure;
    let settings = opened.picture_settings(&exposed, vec![])?;

    let nothing = Wanted { display: false, nits: false };
    let mut frame = Series { name: "frame (host clock)".into(), ms: Vec::new() };
    let mut passes: Vec<Series> = Vec::new();
    let mut lists = Default::default();
    for number in 0..WARM_UP + args.frames {
        let start = Instant::now();
        let pending = renderer.submit(&scene, &view, &settings, nothing)?;
        let picture = renderer.collect(pending)?;
        let ms = since(start);
        lists = picture.lists;
        if number < WARM_UP {
            continue;
        }
        frame.ms.push(ms);
        for time in &picture.times {
            match passes.iter_mut().find(|series| series.name == time.name) {
                Some(series) => series.ms.push(time.ms),
                None => passes.push(Series { name: time.name.clone(), ms: vec![time.ms] }),
            }
        }
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
    let info = gpu.info();
    println!("{} on {} ({}), {}x{}", args.scene.name(), info.name, info.driver, view.width, view.height);
    println!("{:>10} {:>10}", "median ms", "p95 ms");
    for series in std::iter::once(&frame).chain(&passes) {
        println!("{:>10.3} {:>10.3}  {}", series.at(0.5), series.at(0.95), series.name);
    }
    println!("{in_flight_ms:>10.3}             frame, two in flight (mean)");
    println!("import {import_ms:.1} ms, device and pipelines {device_ms:.1} ms, upload {upload_ms:.1} ms");
    println!("device memory: {:.1} MiB in use, {:.1} MiB reserved", mib(used), mib(reserved));
    println!(
        "lamps: {}, evaluated a cluster: {:.1}",
        lists.lamps,
        lists.evaluated as f64 / f64::from(lists.clusters.max(1))
    );
    if let Some(file) = &args.json {
        let describe =
            |series: &Series| json!({"name": series.name, "median_ms": series.at(0.5), "p95_ms": series.at(0.95)});
        let value = json!({
            "scene": args.scene.name(),
            "device": info.name, "driver": info.driver,
            "size": [view.width, view.height], "frames": args.frames, "ev100": exposure.ev100().get(),
            "triangles": opened.scene.shown_triangles(), "lamps": lists.lamps,
            "frame": describe(&frame), "frame_in_flight_mean_ms": in_flight_ms,
            "passes": passes.iter().map(describe).collect::<Vec<_>>(),
            "start_ms": {"import": import_ms, "device": device_ms, "upload": upload_ms},
            "memory_bytes": {"used": used, "reserved": reserved},
        });
        let text = serde_json::to_string_pretty(&value).map_err(|error| CliError::Internal(error.to_string()))?;
        output::write_text(file, &(text + "\n"))?;
    }
    Ok(())
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
