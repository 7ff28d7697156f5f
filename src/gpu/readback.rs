//! Readback of images to the host.

use std::sync::Arc;

use ash::vk;

use super::{
    context::Gpu,
    error::GpuResult,
    memory::{Buffer, BufferKind, Image},
};

/// Bytes per pixel of the formats that support readback.
#[must_use]
pub fn texel_size(format: vk::Format) -> u64 {
    match format {
        vk::Format::R8G8B8A8_UNORM
        | vk::Format::A2B10G10R10_UNORM_PACK32
        | vk::Format::R32_UINT
        | vk::Format::R16G16_SFLOAT
        | vk::Format::D32_SFLOAT
        | vk::Format::R32_SFLOAT => 4,
        vk::Format::R16G16B16A16_SFLOAT | vk::Format::R32G32_UINT => 8,
        vk::Format::R32G32B32A32_SFLOAT => 16,
        other => panic!("readback of format {other:?} is not implemented"),
    }
}

/// Creates a host buffer for a whole image.
///
/// # Errors
/// [`GpuError`](super::GpuError) if memory is exhausted.
pub fn buffer_for(gpu: &Gpu, image: &Image) -> GpuResult<Arc<Buffer>> {
    let info = image.info();
    let size = u64::from(info.width) * u64::from(info.height) * texel_size(info.format);
    Buffer::new(gpu, &format!("read-back of {}", image.name()), size, BufferKind::Readback)
}
