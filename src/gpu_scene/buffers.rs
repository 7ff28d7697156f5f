//! Buffers filled from host data.

use std::sync::Arc;

use crate::gpu::{Buffer, BufferKind, Gpu, GpuError, GpuResult, upload::Uploader};

/// Host-visible buffer with these elements; at least one element in size.
///
/// # Errors
/// `GpuError` if memory runs out.
pub fn dynamic_buffer<T: bytemuck::Pod>(
    gpu: &Gpu,
    name: &str,
    elements: &[T],
) -> GpuResult<Arc<Buffer>> {
    let bytes: &[u8] = bytemuck::cast_slice(elements);
    let buffer =
        Buffer::new(gpu, name, bytes.len().max(size_of::<T>()) as u64, BufferKind::Dynamic)?;
    buffer.write(0, bytes);
    Ok(buffer)
}

/// Device buffer with these bytes; at least the size that the shader declares.
///
/// # Errors
/// `GpuError::TooLarge` with `remedy` if the data exceeds the device's storage buffer range. Other
/// `GpuError`s if memory runs out or the device is lost.
pub(crate) fn storage_buffer(
    gpu: &Gpu,
    uploader: &mut Uploader,
    (name, least): (&str, u64),
    bytes: &[u8],
    remedy: &'static str,
) -> GpuResult<Arc<Buffer>> {
    let limit = gpu.limits().max_storage_buffer_range;
    if bytes.len() as u64 > u64::from(limit) {
        return Err(GpuError::TooLarge {
            what: name.into(),
            requested: format!("{} bytes", bytes.len()),
            limit: format!("{limit} bytes"),
            device: gpu.info().name.clone(),
            remedy,
        });
    }
    uploaded_buffer(gpu, uploader, (name, least), bytes)
}

/// Device buffer with these bytes, which are known to be within the device's storage buffer range;
/// at least `least` bytes in size.
///
/// # Errors
/// `GpuError` if memory runs out or the device is lost.
pub(super) fn uploaded_buffer(
    gpu: &Gpu,
    uploader: &mut Uploader,
    (name, least): (&str, u64),
    bytes: &[u8],
) -> GpuResult<Arc<Buffer>> {
    let buffer = Buffer::new(gpu, name, (bytes.len() as u64).max(least), BufferKind::Storage)?;
    uploader.buffer(&buffer, bytes)?;
    Ok(buffer)
}
