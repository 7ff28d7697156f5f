//! Device options, and the folder of the pipeline cache.

use std::path::PathBuf;

use clap::Args;

use super::{error::CliError, warnings::CompileNotice};
use crate::{
    frame::Renderer,
    gpu::{Gpu, GpuOptions, RayBackend, fault_injection::Fault},
};

/// Device options, shared by every command that opens a device.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Device")]
pub struct DeviceArgs {
    /// Vulkan device, by number or part of its name, as `sunny16 doctor` lists them [default: the
    /// best].
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Enable the Vulkan validation layer with synchronization validation; any message gives exit
    /// code 8.
    #[arg(long)]
    pub validation: bool,
    /// Ray tracing on the device: software BVH (software) or ray query (query). Pictures are equal
    /// but for rounding; auto uses ray query on hardware that has it (docs/bvh.md).
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = RayBackend::NAMES)]
    pub rays: String,
}

impl DeviceArgs {
    pub fn options(&self) -> Result<GpuOptions, CliError> {
        let faults = match std::env::var("SUNNY16_FAULT") {
            Ok(text) => vec![Fault::parse(&text).ok_or_else(|| {
                CliError::Usage(format!(
                    "invalid SUNNY16_FAULT={text}: expected POINT[:NAME]=ERROR, e.g. image:depth=out-of-device-memory"
                ))
            })?],
            Err(_) => Vec::new(),
        };
        Ok(GpuOptions {
            device: self.device.clone(),
            validation: self.validation,
            cache_dir: cache_dir(),
            faults,
            display: None,
            ray_backend: RayBackend::parse(&self.rays).unwrap_or_default(),
        })
    }

    /// Opens the device with a renderer, and shows the progress of shader compilation until the
    /// notice is dropped.
    pub fn open_renderer(&self) -> Result<(Renderer, CompileNotice), CliError> {
        let gpu = Gpu::open(&self.options()?)?;
        let notice = CompileNotice::new(&gpu);
        Ok((Renderer::new(&gpu)?, notice))
    }
}

/// Folder of the pipeline cache: `sunny16` in the XDG cache directory.
pub fn cache_dir() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("sunny16"))
}
