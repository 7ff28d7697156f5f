//! `sunny16 doctor`: what this machine offers.

use super::{CliError, cache_dir};
use crate::gpu::{Gpu, GpuError, GpuOptions, RAY_QUERY, survey};

pub fn run() -> Result<(), CliError> {
    println!("sunny16 {}", env!("CARGO_PKG_VERSION"));
    let devices = survey()?;
    println!("devices that the Vulkan loader offers:");
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
            println!("     not usable: it lacks {}", device.missing.join(", "));
        }
    }
    if devices.is_empty() {
        return Err(GpuError::NoDevice.into());
    }
    let gpu = Gpu::open(&GpuOptions::default())?;
    println!("used unless --device says otherwise: {}", gpu.info().name);
    let by = match (gpu.ray_query(), gpu.info().has(RAY_QUERY)) {
        (true, _) => "ray query; --rays trees asks for trees of our own",
        (false, true) => "trees of our own; --rays query asks for ray query",
        (false, false) => "trees of our own",
    };
    println!("rays go by {by}");
    drop(gpu);
    match Gpu::open(&GpuOptions { validation: true, ..Default::default() }) {
        Ok(_) => println!("validation layer: installed (--validation turns it on)"),
        Err(GpuError::NoValidationLayer) => {
            println!("validation layer: not installed; apt install vulkan-validationlayers");
        }
        Err(error) => println!("validation layer: {error}"),
    }
    match cache_dir() {
        Some(dir) => println!("compiled pipelines are kept in {}", dir.display()),
        None => println!("compiled pipelines are not kept: neither XDG_CACHE_HOME nor HOME is set"),
    }
    Ok(())
}
