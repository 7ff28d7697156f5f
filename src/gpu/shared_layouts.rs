//! Descriptor set layouts and samplers that the pipelines of a device share.

use std::collections::HashMap;

use ash::vk;

/// Descriptor set layouts and samplers that all pipelines of a device share. Equal ones are the
/// same object, so that sets fit every pipeline with the same bindings.
#[derive(Default)]
pub struct SharedLayouts {
    pub(super) sets: HashMap<Vec<(u32, vk::DescriptorType)>, vk::DescriptorSetLayout>,
    pub(super) samplers: HashMap<SamplerInfo, vk::Sampler>,
}

/// Sampler settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SamplerInfo {
    /// Magnification filter.
    pub mag: vk::Filter,
    /// Minification filter.
    pub min: vk::Filter,
    /// Filter between mip levels.
    pub mip: vk::SamplerMipmapMode,
    /// True if mip levels are used.
    pub mips: bool,
    /// Horizontal address mode.
    pub wrap_u: vk::SamplerAddressMode,
    /// Vertical address mode.
    pub wrap_v: vk::SamplerAddressMode,
}

impl SamplerInfo {
    /// Bilinear within one level, clamped to the edge.
    pub const LINEAR: Self = Self {
        mag: vk::Filter::LINEAR,
        min: vk::Filter::LINEAR,
        mip: vk::SamplerMipmapMode::NEAREST,
        mips: false,
        wrap_u: vk::SamplerAddressMode::CLAMP_TO_EDGE,
        wrap_v: vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    /// Nearest texel of one level, clamped to the edge.
    pub const NEAREST: Self =
        Self { mag: vk::Filter::NEAREST, min: vk::Filter::NEAREST, ..Self::LINEAR };
}

impl SharedLayouts {
    pub(super) fn destroy(&mut self, device: &ash::Device) {
        // SAFETY: called once when the last user of the device is gone.
        unsafe {
            for (_, layout) in self.sets.drain() {
                device.destroy_descriptor_set_layout(layout, None);
            }
            for (_, sampler) in self.samplers.drain() {
                device.destroy_sampler(sampler, None);
            }
        }
    }
}
