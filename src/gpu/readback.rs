//! Readback of images to the host.

use ash::vk;

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
