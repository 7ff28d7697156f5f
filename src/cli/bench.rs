//! `sunny16 bench`: frame times, memory, path tracer throughput, BVH build and ray rates.

mod args;
mod bench_scene;
mod bvh;
mod camera_view;
mod effects;
mod gi;
mod host_rays;
mod instances;
mod lights;
mod memory;
mod path;
mod raster;
mod rays;
mod series;
mod shapes;
mod threads;
mod timed_frame;
mod units;

use std::time::Instant;

use serde_json::{Map, Value};

pub use self::args::BenchArgs;
use self::{args::Benchmark, units::elapsed_ms};
use super::{error::CliError, scene_args};
use crate::output;

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
        if wants(Benchmark::Raster) {
            let measured;
            (measured, session) = raster::run(args, session, import_ms)?;
            if let Value::Object(raster) = measured {
                report = raster;
            }
        }
        if wants(Benchmark::Path) {
            report.insert("path".into(), path::run(args, &session)?);
        }
        if wants(Benchmark::Rays) {
            report.insert("rays".into(), rays::run(args, &session)?);
        }
        if wants(Benchmark::Gi) {
            report.insert("gi".into(), gi::run(args, &session)?);
        }
        if wants(Benchmark::Effects) {
            report.insert("effects".into(), effects::run(args, &session)?);
        }
    }
    if wants(Benchmark::Bvh) {
        report.insert("bvh".into(), bvh::run(args)?);
    }
    if wants(Benchmark::Lights) {
        report.insert("lights".into(), lights::run(args)?);
    }
    if wants(Benchmark::Instances) {
        report.insert("instances".into(), instances::run(args)?);
    }
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&report)
            .map_err(|error| CliError::Internal(error.to_string()))?;
        output::write_text(file, &(text + "\n"))?;
    }
    Ok(())
}
