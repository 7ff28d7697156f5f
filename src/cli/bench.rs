//! `sunny16 bench`: frame times, memory, path tracer throughput, BVH build and ray rates.

mod args;
mod bandwidth;
mod bench_scene;
mod bvh;
mod camera_view;
mod effects;
mod flythrough;
mod gi;
mod host_rays;
mod instances;
mod lights;
mod memory;
mod path;
mod raster;
mod rays;
mod record;
mod series;
mod shapes;
mod threads;
mod timed_frame;
mod units;
mod warm_up;
mod window;

use std::time::Instant;

use serde_json::{Map, Value};

pub use self::args::BenchArgs;
use self::{
    args::Benchmark,
    record::{append, differing_settings},
    units::elapsed_ms,
};
use super::error::CliError;
use crate::{
    output,
    scene::look::Look,
    session::{self, OpenScene},
};

/// Benchmarks of the scene, in the order in which they run.
const OF_SCENE: [Benchmark; 6] = [
    Benchmark::Raster,
    Benchmark::Flythrough,
    Benchmark::Path,
    Benchmark::Rays,
    Benchmark::Gi,
    Benchmark::Effects,
];

pub fn run(args: &BenchArgs) -> Result<(), CliError> {
    args.check()?;
    if let Some(file) = &args.json {
        output::check_writable(file)?;
    }
    let wants = |what: &Benchmark| args.what.contains(what);
    if OF_SCENE.iter().any(wants) {
        let start = Instant::now();
        let (opened, settings) = open(args)?;
        let import_ms = elapsed_ms(start);
        for what in OF_SCENE.into_iter().filter(wants) {
            let measured = match what {
                Benchmark::Raster => raster::run(args, &opened, import_ms)?,
                Benchmark::Flythrough => flythrough::run(args, &opened)?,
                Benchmark::Path => path::run(args, &opened)?,
                Benchmark::Rays => rays::run(args, &opened)?,
                Benchmark::Gi => gi::run(args, &opened)?,
                Benchmark::Effects => effects::run(args, &opened)?,
                Benchmark::Bvh | Benchmark::Lights | Benchmark::Instances | Benchmark::Window => {
                    continue;
                }
            };
            append(args, what, &settings, measured)?;
        }
    }
    let none = Map::new();
    if wants(&Benchmark::Bvh) {
        append(args, Benchmark::Bvh, &none, bvh::run(args)?)?;
    }
    if wants(&Benchmark::Lights) {
        append(args, Benchmark::Lights, &none, lights::run(args)?)?;
    }
    if wants(&Benchmark::Instances) {
        append(args, Benchmark::Instances, &none, instances::run(args)?)?;
    }
    if wants(&Benchmark::Window) {
        let (_, settings) = open(args)?;
        append(args, Benchmark::Window, &settings, window::run(args)?)?;
    }
    Ok(())
}

/// Opens the scene, prints its warnings, and returns it with the look properties that differ from
/// their defaults.
fn open(args: &BenchArgs) -> Result<(OpenScene, Map<String, Value>), CliError> {
    let request = args.scene.request();
    let source = session::read(&request)?;
    let settings = differing_settings(&source.look, &request.set);
    let mut look = Look::default();
    look.parse(&source.look_name, &source.look)?;
    look.assign_all(&request.set)?;
    let opened = session::open_read(&request, source.scene, look, source.warnings)?;
    for warning in &opened.warnings {
        eprintln!("{warning}");
    }
    Ok((opened, settings))
}
