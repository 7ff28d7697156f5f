//! Descriptors: a pipeline's bindings by name, and the resources bound to them.

use std::sync::Arc;

use ash::vk;

use super::{
    acceleration::Tlas,
    context::Gpu,
    error::{GpuError, GpuResult},
    memory::{Buffer, Image},
    mutex::lock,
    reflect::{Binding, Module},
    shared_layouts::SamplerInfo,
};

/// A resource bound to a shader variable.
#[derive(Clone, Copy)]
pub enum Bind<'a> {
    /// A uniform buffer.
    Uniform(&'a Arc<Buffer>),
    /// A storage buffer.
    Storage(&'a Arc<Buffer>),
    /// An image read by texel, without a sampler.
    Sampled(&'a Arc<Image>),
    /// An image read through a sampler.
    Texture(&'a Arc<Image>, SamplerInfo),
    /// An image read and written by texel.
    StorageImage(&'a Arc<Image>),
    /// An acceleration structure for ray query.
    Structure(&'a Arc<Tlas>),
}

fn sampler(gpu: &Gpu, info: SamplerInfo) -> GpuResult<vk::Sampler> {
    let mut shared = lock(&gpu.layouts);
    if let Some(&sampler) = shared.samplers.get(&info) {
        return Ok(sampler);
    }
    // Anisotropic if the device supports it and the texture has trilinear minification.
    let anisotropic = gpu.anisotropy() && info.min == vk::Filter::LINEAR && info.mips;
    let create = vk::SamplerCreateInfo::default()
        .mag_filter(info.mag)
        .min_filter(info.min)
        .mipmap_mode(info.mip)
        .address_mode_u(info.wrap_u)
        .address_mode_v(info.wrap_v)
        .address_mode_w(vk::SamplerAddressMode::REPEAT)
        .anisotropy_enable(anisotropic)
        .max_anisotropy(if anisotropic {
            gpu.limits().max_sampler_anisotropy.min(8.0)
        } else {
            1.0
        })
        .max_lod(if info.mips { vk::LOD_CLAMP_NONE } else { 0.25 });
    // SAFETY: the device is alive.
    let sampler = unsafe { gpu.device.create_sampler(&create, None) }
        .map_err(|result| GpuError::from_vk("vkCreateSampler", "sampler", result))?;
    shared.samplers.insert(info, sampler);
    Ok(sampler)
}

fn set_layout(
    gpu: &Gpu,
    bindings: &[(u32, vk::DescriptorType)],
) -> GpuResult<vk::DescriptorSetLayout> {
    let mut shared = lock(&gpu.layouts);
    if let Some(&layout) = shared.sets.get(bindings) {
        return Ok(layout);
    }
    let described: Vec<_> = bindings
        .iter()
        .map(|&(binding, kind)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(
                    vk::ShaderStageFlags::VERTEX
                        | vk::ShaderStageFlags::FRAGMENT
                        | vk::ShaderStageFlags::COMPUTE,
                )
        })
        .collect();
    let create = vk::DescriptorSetLayoutCreateInfo::default().bindings(&described);
    // SAFETY: the device is alive.
    let layout = unsafe { gpu.device.create_descriptor_set_layout(&create, None) }
        .map_err(|result| GpuError::from_vk("vkCreateDescriptorSetLayout", "set", result))?;
    shared.sets.insert(bindings.to_vec(), layout);
    Ok(layout)
}

/// Combined declarations of a pipeline's shaders.
pub(super) struct Interface {
    pub(super) bindings: Vec<Binding>,
    pub(super) sets: Vec<vk::DescriptorSetLayout>,
    pub(super) layout: vk::PipelineLayout,
    pub(super) push_size: u32,
    pub(super) name: String,
    pub(super) gpu: Gpu,
}

impl Interface {
    pub(super) fn new(gpu: &Gpu, name: &str, modules: &[&Module]) -> GpuResult<Self> {
        let mut bindings: Vec<Binding> = Vec::new();
        for binding in modules.iter().flat_map(|module| &module.bindings) {
            match bindings.iter().find(|b| (b.set, b.binding) == (binding.set, binding.binding)) {
                None => bindings.push(binding.clone()),
                Some(known) if known.kind == binding.kind && known.name == binding.name => {}
                Some(known) => {
                    return Err(GpuError::Pipeline {
                        pipeline: name.into(),
                        detail: format!(
                            "its stages disagree at one binding: '{}' and '{}'",
                            known.name, binding.name
                        ),
                    });
                }
            }
        }
        bindings.sort_by_key(|binding| (binding.set, binding.binding));
        let set_count = bindings.iter().map(|binding| binding.set + 1).max().unwrap_or(0);
        let mut sets = Vec::new();
        for set in 0..set_count {
            let kinds: Vec<_> =
                bindings.iter().filter(|b| b.set == set).map(|b| (b.binding, b.kind)).collect();
            sets.push(set_layout(gpu, &kinds)?);
        }
        let push_size = modules.iter().map(|module| module.push_constant_size).max().unwrap_or(0);
        if push_size > 128 {
            return Err(GpuError::Pipeline {
                pipeline: name.into(),
                detail: format!(
                    "{push_size} bytes of push constants, more than the 128 that every device has"
                ),
            });
        }
        let ranges = [vk::PushConstantRange::default()
            .stage_flags(
                vk::ShaderStageFlags::VERTEX
                    | vk::ShaderStageFlags::FRAGMENT
                    | vk::ShaderStageFlags::COMPUTE,
            )
            .size(push_size)];
        let create = vk::PipelineLayoutCreateInfo::default()
            .set_layouts(&sets)
            .push_constant_ranges(if push_size > 0 { &ranges } else { &[] });
        // SAFETY: the set layouts live as long as the device.
        let layout = unsafe { gpu.device.create_pipeline_layout(&create, None) }
            .map_err(|result| GpuError::from_vk("vkCreatePipelineLayout", name, result))?;
        Ok(Self { bindings, sets, layout, push_size, name: name.into(), gpu: gpu.clone() })
    }

    /// Finds a binding by set and name.
    pub(super) fn find(&self, set: u32, name: &str) -> GpuResult<&Binding> {
        self.bindings.iter().find(|binding| binding.set == set && binding.name == name).ok_or_else(
            || GpuError::Pipeline {
                pipeline: self.name.clone(),
                detail: format!("no shader declares '{name}' in set {set}"),
            },
        )
    }
}

impl Drop for Interface {
    fn drop(&mut self) {
        // SAFETY: the pipeline that used it goes at the same time, and recorded frames hold the
        // pipeline.
        unsafe { self.gpu.device.destroy_pipeline_layout(self.layout, None) };
    }
}

/// Writes all bindings of a set; each must be bound exactly once.
pub(super) fn write_set(
    gpu: &Gpu,
    interface: &Interface,
    set: u32,
    handle: vk::DescriptorSet,
    binds: &[(&str, Bind<'_>)],
) -> GpuResult<()> {
    for binding in interface.bindings.iter().filter(|binding| binding.set == set) {
        if !binds.iter().any(|(name, _)| *name == binding.name) {
            return Err(GpuError::Pipeline {
                pipeline: binding.name.clone(),
                detail: "no resource is bound to it".into(),
            });
        }
    }
    for (name, bind) in binds {
        let binding = interface.find(set, name)?;
        let mut buffers = [vk::DescriptorBufferInfo::default().range(vk::WHOLE_SIZE)];
        let mut images = [vk::DescriptorImageInfo::default()
            .image_layout(vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL)];
        let mut structures = [vk::AccelerationStructureKHR::null()];
        let kind = match bind {
            Bind::Uniform(buffer) => {
                buffers[0].buffer = buffer.handle;
                vk::DescriptorType::UNIFORM_BUFFER
            }
            Bind::Storage(buffer) => {
                buffers[0].buffer = buffer.handle;
                vk::DescriptorType::STORAGE_BUFFER
            }
            Bind::Sampled(image) => {
                images[0].image_view = image.view;
                vk::DescriptorType::SAMPLED_IMAGE
            }
            Bind::Texture(image, info) => {
                images[0].image_view = image.view;
                images[0].sampler = sampler(gpu, *info)?;
                vk::DescriptorType::COMBINED_IMAGE_SAMPLER
            }
            Bind::StorageImage(image) => {
                images[0].image_view = image.view;
                images[0].image_layout = vk::ImageLayout::GENERAL;
                vk::DescriptorType::STORAGE_IMAGE
            }
            Bind::Structure(structure) => {
                structures[0] = structure.handle;
                vk::DescriptorType::ACCELERATION_STRUCTURE_KHR
            }
        };
        if kind != binding.kind {
            return Err(GpuError::Pipeline {
                pipeline: (*name).to_string(),
                detail: format!("bound as {kind:?}, declared as {:?}", binding.kind),
            });
        }
        let mut write = vk::WriteDescriptorSet::default()
            .dst_set(handle)
            .dst_binding(binding.binding)
            .descriptor_type(kind)
            .descriptor_count(1);
        let mut of_structures = vk::WriteDescriptorSetAccelerationStructureKHR::default()
            .acceleration_structures(&structures);
        write = match bind {
            Bind::Uniform(_) | Bind::Storage(_) => write.buffer_info(&buffers),
            Bind::Structure(_) => write.push_next(&mut of_structures),
            _ => write.image_info(&images),
        };
        // SAFETY: the set is not in use; the resource outlives it (the frame or the texture set
        // keeps it).
        unsafe { gpu.device.update_descriptor_sets(&[write], &[]) };
    }
    Ok(())
}
