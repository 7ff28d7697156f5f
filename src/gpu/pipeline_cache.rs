//! Pipeline cache on disk, reused between runs.
//!
//! The file holds the driver's data behind a checksum: drivers need not survive damaged data, and
//! some crash. A driver without data, such as llvmpipe, gets no file; llvmpipe keeps compiled
//! shaders in the Mesa shader cache.

use std::{fmt::Write as _, fs, io, io::Write as _, path::Path};

use ash::vk;

/// Maximum size in bytes of a cache file that is loaded; a larger one is not ours.
const MAX_BYTES: u64 = 256 << 20;

/// File name for a device, a driver version and a part of the program, which do not overwrite each
/// other's cache.
pub(super) fn file_name(
    instance: &ash::Instance,
    device: vk::PhysicalDevice,
    part: &str,
) -> String {
    // SAFETY: the handle comes from this instance.
    let properties = unsafe { instance.get_physical_device_properties(device) };
    let mut name = format!("pipelines-{part}");
    for byte in properties.pipeline_cache_uuid {
        // Writing to a string cannot fail.
        let _ = write!(name, "{byte:02x}");
    }
    let _ = write!(name, "-{:x}-{:x}.bin", properties.device_id, properties.driver_version);
    name
}

/// Start of a cache file.
const MAGIC: [u8; 8] = *b"S16PIPE1";

/// Bytes before the driver's data: magic, checksum.
const HEADER_BYTES: usize = 16;

/// Size in bytes of `VkPipelineCacheHeaderVersionOne`, with which the data of every driver begins.
const DRIVER_HEADER_BYTES: usize = 32;

/// FNV-1a over words of eight bytes, with the length.
fn checksum(data: &[u8]) -> u64 {
    let (words, rest) = data.as_chunks::<8>();
    let mut last = [0; 8];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    words
        .iter()
        .chain([&last, &(data.len() as u64).to_le_bytes()])
        .fold(0xcbf2_9ce4_8422_2325, |hash, word| {
            (hash ^ u64::from_le_bytes(*word)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// The file's bytes for the driver's data.
fn encode(data: &[u8]) -> Vec<u8> {
    [&MAGIC[..], &checksum(data).to_le_bytes(), data].concat()
}

/// The driver's data in a file; `None` if the file is damaged or of another program.
fn decode(file: &[u8]) -> Option<&[u8]> {
    let (header, data) = file.split_at_checked(HEADER_BYTES)?;
    (header == [&MAGIC[..], &checksum(data).to_le_bytes()].concat()).then_some(data)
}

/// Loads the cache file. An absent, unreadable, damaged or foreign file gives an empty cache; the
/// driver checks that the data is its own.
pub(super) fn load(device: &ash::Device, file: Option<&Path>) -> vk::PipelineCache {
    let file = file
        .filter(|file| fs::metadata(file).is_ok_and(|meta| meta.len() <= MAX_BYTES))
        .and_then(|file| fs::read(file).ok())
        .unwrap_or_default();
    let data = decode(&file).unwrap_or_default();
    for bytes in [data, &[]] {
        let create = vk::PipelineCacheCreateInfo::default().initial_data(bytes);
        // SAFETY: the device is alive and the bytes live through the call.
        if let Ok(cache) = unsafe { device.create_pipeline_cache(&create, None) } {
            return cache;
        }
    }
    vk::PipelineCache::null()
}

/// Saves the cache under a temporary name and renames it, so that readers never see a partial file.
///
/// # Errors
/// The folder or the file cannot be written.
pub(super) fn save(device: &ash::Device, cache: vk::PipelineCache, file: &Path) -> io::Result<()> {
    if cache == vk::PipelineCache::null() {
        return Ok(());
    }
    // SAFETY: the cache belongs to this device.
    let Ok(data) = (unsafe { device.get_pipeline_cache_data(cache) }) else { return Ok(()) };
    let length = (data.len() + HEADER_BYTES) as u64;
    if data.len() <= DRIVER_HEADER_BYTES
        || fs::metadata(file).is_ok_and(|meta| meta.len() == length)
    {
        return Ok(());
    }
    let Some(dir) = file.parent() else { return Ok(()) };
    fs::create_dir_all(dir)?;
    let mut temporary = tempfile::NamedTempFile::new_in(dir)?;
    temporary.write_all(&encode(&data))?;
    temporary.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_rejected() {
        for length in [0, 1, 8, 33, 1000] {
            let data: Vec<u8> = (0..length).map(|i| (i * 7 + 1) as u8).collect();
            let file = encode(&data);
            assert_eq!(decode(&file), Some(&data[..]), "{length} bytes");
            for at in 0..file.len() {
                let mut damaged = file.clone();
                damaged[at] ^= 0x10;
                assert_eq!(decode(&damaged), None, "byte {at} of {length}");
            }
            for cut in 0..file.len() {
                assert_eq!(decode(&file[..cut]), None, "{cut} bytes of {length}");
            }
            let longer = [&file[..], &[0]].concat();
            assert_eq!(decode(&longer), None, "{length} bytes and one more");
        }
        assert_eq!(decode(&[0; 32]), None, "a file of the driver alone");
    }
}
