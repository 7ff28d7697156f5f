//! `sunny16 doctor`: Vulkan devices, validation layer and pipeline cache of this machine.

use super::{device_args::cache_dir, error::CliError};
use crate::gpu::{Gpu, GpuError, GpuOptions, RAY_QUERY, enumerate_devices};

pub fn run() -> Result<(), CliError> {
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
    Ok(())
}
