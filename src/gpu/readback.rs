//! Readback of images to the host.

use ash::vk;

/// Bytes per texel of the uncompressed formats that passes draw to or store; `None` for others.
#[must_use]
pub fn bytes_per_texel(format: vk::Format) -> Option<u64> {
    match format {
        vk::Format::R8_UNORM => Some(1),
        vk::Format::R8G8_UNORM | vk::Format::D16_UNORM => Some(2),
        vk::Format::R8G8B8A8_UNORM
        | vk::Format::R8G8B8A8_SRGB
        | vk::Format::B8G8R8A8_UNORM
        | vk::Format::A2B10G10R10_UNORM_PACK32
        | vk::Format::R32_UINT
        | vk::Format::R16G16_SFLOAT
        | vk::Format::D32_SFLOAT
        | vk::Format::R32_SFLOAT => Some(4),
        vk::Format::R16G16B16A16_SFLOAT
        | vk::Format::R16G16B16A16_SNORM
        | vk::Format::R32G32_SFLOAT
        | vk::Format::R32G32_UINT => Some(8),
        vk::Format::R32G32B32A32_SFLOAT | vk::Format::R32G32B32A32_UINT => Some(16),
        _ => None,
    }
}

/// Bytes per pixel of the formats that support readback.
///
/// # Panics
/// For a compressed format, which no pass reads back: a programming error.
#[must_use]
pub fn texel_size(format: vk::Format) -> u64 {
    match bytes_per_texel(format) {
        Some(bytes) => bytes,
        None => panic!("readback of format {format:?} is not implemented"),
    }
}
