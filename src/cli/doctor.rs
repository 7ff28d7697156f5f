//! `sunny16 doctor`: Vulkan devices, validation layer and pipeline cache of this machine.

use std::time::Instant;

use clap::Args;

use super::{
    device_args::cache_dir,
    error::CliError,
    pace::{self, STANDARD_FLIP},
};
use crate::{
    compare::summary::CompareSettings,
    frame::Renderer,
    gpu::{Gpu, GpuError, GpuOptions, RAY_QUERY, enumerate_devices},
    session::{self, OpenRequest, Session, Size, pace::PathPace},
};

/// Size of the pictures of `--pace`.
const PACE_SIZE: Size = Size { width: 320, height: 180 };

/// Time that `--pace` traces.
const PACE_BUDGET: std::time::Duration = std::time::Duration::from_secs(1);

#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Measure the rasterizer and the path tracer on the built-in still life, at 320x180: seconds;
    /// at the first use a minute on a software device, which compiles shaders.
    #[arg(long)]
    pace: bool,
}

/// Renders the built-in still life twice and measures the path tracer on it.
fn measure_pace(gpu: &Gpu) -> Result<(), CliError> {
    let request = OpenRequest {
        set: vec!["quality=standard".into()],
        size: Some(PACE_SIZE),
        ..OpenRequest::default()
    };
    let opened = session::open(&request)?;
    let samples = opened.still_samples();
    let mut session = Session::open(Renderer::new(gpu)?, opened)?;
    let mut times = [0.0; 2];
    let exposed = session.determine_exposure(true)?;
    let white_balance = session.white_balance(exposed.exposure)?;
    // The first picture compiles pipelines.
    for time in &mut times {
        let settings = session.picture_settings(&exposed, white_balance, vec![])?;
        let begun = Instant::now();
        session.still(&settings, samples, &mut |_| Ok(()))?;
        *time = begun.elapsed().as_secs_f64();
    }
    let [first, second] = times;
    println!(
        "still life, {}x{}, --quality standard: first picture {first:.1} s, next ones {second:.1} s",
        PACE_SIZE.width, PACE_SIZE.height
    );
    let settings = CompareSettings {
        exposure: exposed.exposure,
        white_balance,
        mapper: session.opened.passes().tonemap.operator,
        ..CompareSettings::default()
    };
    match PathPace::measure(&session.opened, &settings, STANDARD_FLIP, PACE_BUDGET) {
        Some(pace) => println!("{}", pace::sentence(second, &pace, PACE_SIZE.pixels())),
        None => println!("the path tracer is too slow here to measure"),
    }
    Ok(session.close()?)
}

pub fn run(args: &DoctorArgs) -> Result<(), CliError> {
    println!("sunny16 {}", env!("CARGO_PKG_VERSION"));
    let devices = enumerate_devices()?;
    println!("Vulkan devices:");
    for (number, device) in devices.iter().enumerate() {
        println!(
            "  {number}: {} ({}, Vulkan {}.{}.{}, {} MiB)",
            device.name,
            device.kind_name(),
            device.api.0,
            device.api.1,
            device.api.2,
            device.memory >> 20
        );
        println!("     driver {}", device.driver);
        if device.missing.is_empty() {
            let offers: Vec<_> = device
                .optional
                .iter()
                .map(|(what, has)| format!("{what}: {}", if *has { "yes" } else { "no" }))
                .collect();
            println!("     usable; {}", offers.join(", "));
        } else {
            println!("     not usable: lacks {}", device.missing.join(", "));
        }
    }
    if devices.is_empty() {
        return Err(GpuError::NoDevice.into());
    }
    let gpu = Gpu::open(&GpuOptions::default())?;
    println!("default device: {} (choose another with --device)", gpu.info().name);
    let by = match (gpu.ray_query(), gpu.info().has(RAY_QUERY)) {
        (true, _) => "ray query (--rays software selects the software BVH)",
        (false, true) => "software BVH (--rays query selects ray query)",
        (false, false) => "software BVH (no ray query)",
    };
    println!("ray tracing: {by}");
    let is_software = pace::is_software(&gpu);
    drop(gpu);
    match Gpu::open(&GpuOptions { validation: true, ..Default::default() }) {
        Ok(_) => println!("validation layer: installed (enable it with --validation)"),
        Err(GpuError::NoValidationLayer) => {
            println!("validation layer: not installed; apt install vulkan-validationlayers");
        }
        Err(error) => println!("validation layer: {error}"),
    }
    match cache_dir() {
        Some(dir) => println!("pipeline cache: {}", dir.display()),
        None => println!("pipeline cache: none (neither XDG_CACHE_HOME nor HOME is set)"),
    }
    if args.pace {
        let options = GpuOptions { cache_dir: cache_dir(), ..GpuOptions::default() };
        measure_pace(&Gpu::open(&options)?)?;
    } else if is_software {
        println!(
            "software device: the path tracer may be faster; `sunny16 doctor --pace` measures both"
        );
    }
    Ok(())
}
