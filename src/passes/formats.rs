//! Image formats that several passes share.

use crate::gpu::vk;

/// Reversed depth: 1 near, 0 far.
pub const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
/// Base color, metallic, roughness, occlusion (`shaders/lib/packing.glsl`).
pub const SURFACE: vk::Format = vk::Format::R32G32_UINT;
/// Octahedral normal.
pub const NORMAL: vk::Format = vk::Format::R32_UINT;
/// Pre-exposed light: emission, and light of all lit images.
pub const LIGHT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Velocity: pixels right and down, from the first time to the last.
pub const VELOCITY: vk::Format = vk::Format::R16G16_SFLOAT;

/// Targets of surfaces over the lit image with separate parts: light, direct diffuse and specular
/// light, emission, indirect diffuse and specular light.
pub const BLEND_TARGETS: usize = 6;
