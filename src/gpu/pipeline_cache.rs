//! Pipeline cache on disk, reused between runs.

use std::{fmt::Write as _, fs, io::Write as _, path::Path};

use ash::vk;

/// Maximum size in bytes of a cache file that is loaded; a larger one is not ours.
const MAX_BYTES: u64 = 256 << 20;

/// File name for a device and driver version, so that two drivers do not overwrite each other's
/// cache.
pub(super) fn file_name(instance: &ash::Instance, device: vk::PhysicalDevice) -> String {
    // SAFETY: the handle comes from this instance.
    let properties = unsafe { instance.get_physical_device_properties(device) };
    let mut name = String::from("pipelines-");
    for byte in properties.pipeline_cache_uuid {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    let _ = write!(name, "-{:x}-{:x}.bin", properties.device_id, properties.driver_version);
    name
}

/// Loads the cache file. An absent, unreadable or foreign file gives an empty cache; the driver
/// checks the header.
pub(super) fn load(device: &ash::Device, file: Option<&Path>) -> vk::PipelineCache {
    let data = file
        .filter(|file| fs::metadata(file).is_ok_and(|meta| meta.len() <= MAX_BYTES))
        .and_then(|file| fs::read(file).ok())
        .unwrap_or_default();
    for bytes in [data.as_slice(), &[]] {
        let create = vk::PipelineCacheCreateInfo::default().initial_data(bytes);
        // SAFETY: the device is alive and the bytes live through the call.
        if let Ok(cache) = unsafe { device.create_pipeline_cache(&create, None) } {
            return cache;
        }
    }
    vk::PipelineCache::null()
}

/// Saves the cache under a temporary name and renames it, so that readers never see a partial file.
pub(super) fn save(device: &ash::Device, cache: vk::PipelineCache, file: &Path) {
    if cache == vk::PipelineCache::null() {
        return;
    }
    // SAFETY: the cache belongs to this device.
    let Ok(data) = (unsafe { device.get_pipeline_cache_data(cache) }) else { return };
    if fs::metadata(file).is_ok_and(|meta| meta.len() == data.len() as u64) {
        return;
    }
    let Some(dir) = file.parent() else { return };
    let write = || {
        fs::create_dir_all(dir)?;
        let mut temporary = tempfile::NamedTempFile::new_in(dir)?;
        temporary.write_all(&data)?;
        temporary.persist(file)?;
        std::io::Result::Ok(())
    };
    if write().is_err() {
        log::warn!("the pipeline cache could not be written to {}", file.display());
    }
}
