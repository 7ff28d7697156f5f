//! Pipelines, with descriptor layouts from shader reflection.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use ash::vk;

use super::{
    context::{Gpu, LiveEntry},
    descriptors::{Bind, Interface, write_set},
    error::{GpuError, GpuResult},
    fault_injection::FaultPoint,
    memory::{Buffer, Image},
    mutex::lock,
    reflect::Module,
    shader::Shader,
};

/// State that both kinds of pipeline share.
pub(super) struct Common {
    pub(super) handle: vk::Pipeline,
    pub(super) interface: Interface,
    /// True once a frame has bound the pipeline.
    used: AtomicBool,
    _live: LiveEntry,
}

impl Common {
    /// True on the first call: software drivers compile when the pipeline is first executed.
    pub(super) fn is_first_use(&self) -> bool {
        !self.used.swap(true, Ordering::Relaxed)
    }
}

impl Drop for Common {
    fn drop(&mut self) {
        // SAFETY: recorded frames hold the pipeline until the device has finished.
        unsafe { self.interface.gpu.device.destroy_pipeline(self.handle, None) };
    }
}

/// A graphics pipeline.
pub struct GraphicsPipeline(pub(super) Common);

/// A compute pipeline.
pub struct ComputePipeline {
    pub(super) common: Common,
    /// True if the shader gives the same in a dispatch in parts (`Recorder::dispatch_in_parts`).
    pub(super) runs_in_parts: bool,
}

/// Fixed state of a graphics pipeline; viewport, scissor, cull mode and front face are dynamic.
#[derive(Clone, Debug, Default)]
pub struct GraphicsState {
    /// Vertex stride in bytes; 0 if the vertex shader generates the vertices.
    pub vertex_stride: u32,
    /// Shader location, format and byte offset of each attribute.
    pub attributes: Vec<(u32, vk::Format, u32)>,
    /// Formats of the color attachments, and whether each is blended by `one, one - source alpha`.
    pub colors: Vec<(vk::Format, bool)>,
    /// Depth format, whether depth is written, and the compare operation.
    pub depth: Option<(vk::Format, bool, vk::CompareOp)>,
    /// Constant and slope factor of the depth bias.
    pub depth_bias: Option<(f32, f32)>,
    /// A shader whose complete texture sets (from set 1 on) the pipeline layout includes, so that
    /// one texture set fits several pipelines.
    pub textures_of: Option<&'static str>,
    /// Specialization constants of the shaders, by `constant_id` from 0. Shaders keep the defaults
    /// of absent ones.
    pub constants: Vec<u32>,
}

/// Specialization constants of four bytes each, with identifiers from 0.
fn constant_entries(constants: &[u32]) -> Vec<vk::SpecializationMapEntry> {
    let size = size_of::<u32>();
    (0..constants.len())
        .map(|id| vk::SpecializationMapEntry {
            constant_id: id as u32,
            offset: (id * size) as u32,
            size,
        })
        .collect()
}

/// SPIR-V words (four bytes each) of a shader that llvmpipe compiles for longer than some tenths of
/// a second.
const LARGE_SHADER_WORDS: usize = 8 << 10;

/// Blend-capable format of light (`passes::formats::LIGHT`).
const BLENDED_FORMAT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// True if blending by `one, zero`, which changes nothing, halves the compilation of a pipeline.
/// For opaque full-screen shaders, llvmpipe compiles a second variant, without the coverage mask,
/// for the inside of triangles (Mesa, `lp_state_fs.c`, `RAST_WHOLE`). Pipelines with blending have
/// one variant for both. The second saves a load of the target per pixel, which large shaders do
/// not notice. First picture of the still life at 64x36 with an empty driver cache (Mesa 22.3.6):
/// 6.6 s of processor time, 12.1 s without blending, and the same bits.
fn avoids_second_variant(gpu: &Gpu, state: &GraphicsState, fragment: &ShaderModule<'_>) -> bool {
    gpu.info().name.starts_with("llvmpipe")
        && state.depth.is_none()
        && fragment.words > LARGE_SHADER_WORDS
        && state.colors.iter().all(|&(format, blend)| format == BLENDED_FORMAT && !blend)
}

struct ShaderModule<'a> {
    gpu: &'a Gpu,
    handle: vk::ShaderModule,
    /// Size of the SPIR-V in words.
    words: usize,
}

impl<'a> ShaderModule<'a> {
    fn new(gpu: &'a Gpu, pipeline: &str, shader: &str) -> GpuResult<(Self, Module)> {
        let found = Shader::find(shader).ok_or_else(|| GpuError::Pipeline {
            pipeline: pipeline.into(),
            detail: format!("shader '{shader}' not found"),
        })?;
        let replaced = lock(&gpu.replaced)
            .iter()
            .find(|module| module.name == shader)
            .map(|module| module.words.clone());
        // A replaced module declares no more than the built one, whose declarations determine the
        // layout.
        let words = replaced.unwrap_or_else(|| found.words());
        let create = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the words are SPIR-V from shaderc, compiled by the build or since.
        let handle = unsafe { gpu.device.create_shader_module(&create, None) }
            .map_err(|result| GpuError::from_vk("vkCreateShaderModule", shader, result))?;
        Ok((Self { gpu, handle, words: words.len() }, found.module()))
    }
}

impl Drop for ShaderModule<'_> {
    fn drop(&mut self) {
        // SAFETY: pipelines do not need their modules once made.
        unsafe { self.gpu.device.destroy_shader_module(self.handle, None) };
    }
}

impl GraphicsPipeline {
    /// Creates a pipeline from two built shaders.
    ///
    /// # Errors
    /// [`GpuError::Pipeline`]: a shader that is missing or does not match; an error of the driver.
    pub fn new(
        gpu: &Gpu,
        name: &str,
        vertex: &str,
        fragment: &str,
        state: &GraphicsState,
    ) -> GpuResult<Arc<Self>> {
        let _compiling = gpu.compiles.begin(name);
        let shaders = format!("{vertex}, {fragment}");
        let reject = |error| rejected(error, name, &shaders);
        gpu.fault(FaultPoint::Pipeline, name, "vkCreateGraphicsPipelines").map_err(reject)?;
        let (vertex, vertex_module) = ShaderModule::new(gpu, name, vertex)?;
        let (fragment, fragment_module) = ShaderModule::new(gpu, name, fragment)?;
        // The compiler drops unused bindings, on which the layout must not depend.
        let mut textures =
            state.textures_of.and_then(Shader::find).map(Shader::module).unwrap_or_default();
        textures.bindings.retain(|binding| binding.set >= 1);
        textures.push_constant_size = 0;
        let interface = Interface::new(gpu, name, &[&vertex_module, &fragment_module, &textures])?;
        let entries = constant_entries(&state.constants);
        let specialization = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(bytemuck::cast_slice(&state.constants));
        let stages = [
            (vk::ShaderStageFlags::VERTEX, vertex.handle),
            (vk::ShaderStageFlags::FRAGMENT, fragment.handle),
        ]
        .map(|(stage, module)| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(stage)
                .module(module)
                .name(c"main")
                .specialization_info(&specialization)
        });
        let bindings = [vk::VertexInputBindingDescription {
            binding: 0,
            stride: state.vertex_stride,
            ..Default::default()
        }];
        let attributes: Vec<_> = state
            .attributes
            .iter()
            .map(|&(location, format, offset)| vk::VertexInputAttributeDescription {
                location,
                binding: 0,
                format,
                offset,
            })
            .collect();
        let mut input = vk::PipelineVertexInputStateCreateInfo::default();
        if !attributes.is_empty() {
            input = input
                .vertex_binding_descriptions(&bindings)
                .vertex_attribute_descriptions(&attributes);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport =
            vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let (constant, slope) = state.depth_bias.unwrap_or_default();
        let raster = vk::PipelineRasterizationStateCreateInfo::default()
            .line_width(1.0)
            .depth_bias_enable(state.depth_bias.is_some())
            .depth_bias_constant_factor(constant)
            .depth_bias_slope_factor(slope);
        let samples = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let (_, depth_write, depth_test) = state.depth.unwrap_or_default();
        let depth = vk::PipelineDepthStencilStateCreateInfo::default()
            .depth_test_enable(state.depth.is_some())
            .depth_write_enable(depth_write)
            .depth_compare_op(depth_test);
        let replaces = avoids_second_variant(gpu, state, &fragment);
        let blends: Vec<_> = state
            .colors
            .iter()
            .map(|&(_, blend)| {
                let background = if replaces {
                    vk::BlendFactor::ZERO
                } else {
                    vk::BlendFactor::ONE_MINUS_SRC_ALPHA
                };
                vk::PipelineColorBlendAttachmentState::default()
                    .color_write_mask(vk::ColorComponentFlags::RGBA)
                    .blend_enable(blend || replaces)
                    .src_color_blend_factor(vk::BlendFactor::ONE)
                    .dst_color_blend_factor(background)
                    .src_alpha_blend_factor(vk::BlendFactor::ONE)
                    .dst_alpha_blend_factor(background)
            })
            .collect();
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let dynamic_states = [
            vk::DynamicState::VIEWPORT,
            vk::DynamicState::SCISSOR,
            vk::DynamicState::CULL_MODE,
            vk::DynamicState::FRONT_FACE,
        ];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&dynamic_states);
        let formats: Vec<_> = state.colors.iter().map(|&(format, _)| format).collect();
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .color_attachment_formats(&formats)
            .depth_attachment_format(
                state.depth.map_or(vk::Format::UNDEFINED, |(format, ..)| format),
            );
        let create = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .depth_stencil_state(&depth)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(interface.layout)
            .push_next(&mut rendering);
        // SAFETY: all that the create info points to lives through the call.
        let made =
            unsafe { gpu.device.create_graphics_pipelines(gpu.pipeline_cache, &[create], None) };
        let handle = first_pipeline(made, "vkCreateGraphicsPipelines", name).map_err(reject)?;
        let live = gpu.register(handle, "pipeline", name);
        Ok(Arc::new(Self(Common { handle, interface, used: AtomicBool::new(false), _live: live })))
    }
}

impl ComputePipeline {
    /// Creates a pipeline from one built shader.
    ///
    /// # Errors
    /// [`GpuError::Pipeline`]: a shader that is missing; an error of the driver.
    pub fn new(gpu: &Gpu, name: &str, shader: &str) -> GpuResult<Arc<Self>> {
        Self::specialized(gpu, name, shader, &[])
    }

    /// Creates a pipeline from one built shader with specialization constants, by `constant_id`
    /// from 0.
    ///
    /// # Errors
    /// As [`ComputePipeline::new`].
    pub fn specialized(
        gpu: &Gpu,
        name: &str,
        shader: &str,
        constants: &[u32],
    ) -> GpuResult<Arc<Self>> {
        let _compiling = gpu.compiles.begin(name);
        let reject = |error| rejected(error, name, shader);
        gpu.fault(FaultPoint::Pipeline, name, "vkCreateComputePipelines").map_err(reject)?;
        let (module, reflected) = ShaderModule::new(gpu, name, shader)?;
        let interface = Interface::new(gpu, name, &[&reflected])?;
        let entries = constant_entries(constants);
        let specialization = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(bytemuck::cast_slice(constants));
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.handle)
            .name(c"main")
            .specialization_info(&specialization);
        // For dispatches in parts (`Recorder::dispatch_in_parts`).
        let create = vk::ComputePipelineCreateInfo::default()
            .flags(vk::PipelineCreateFlags::DISPATCH_BASE)
            .stage(stage)
            .layout(interface.layout);
        // SAFETY: all that the create info points to lives through the call.
        let made =
            unsafe { gpu.device.create_compute_pipelines(gpu.pipeline_cache, &[create], None) };
        let handle = first_pipeline(made, "vkCreateComputePipelines", name).map_err(reject)?;
        let live = gpu.register(handle, "pipeline", name);
        let common = Common { handle, interface, used: AtomicBool::new(false), _live: live };
        Ok(Arc::new(Self { common, runs_in_parts: !reflected.reads_group_columns }))
    }
}

/// The error of a driver that rejects a pipeline, with the names of its shaders. Exhausted memory
/// and a lost device say nothing about the shaders.
fn rejected(error: GpuError, name: &str, shaders: &str) -> GpuError {
    match error {
        GpuError::Vulkan { call, result, .. } => GpuError::PipelineRejected {
            call,
            pipeline: name.into(),
            shaders: shaders.into(),
            result,
        },
        error => error,
    }
}

fn first_pipeline(
    made: Result<Vec<vk::Pipeline>, (Vec<vk::Pipeline>, vk::Result)>,
    call: &'static str,
    name: &str,
) -> GpuResult<vk::Pipeline> {
    let result = match made {
        Ok(pipelines) => {
            return pipelines
                .first()
                .copied()
                .ok_or_else(|| GpuError::from_vk(call, name, vk::Result::ERROR_UNKNOWN));
        }
        Err((_, result)) => result,
    };
    Err(GpuError::from_vk(call, name, result))
}

/// Prewritten descriptor sets, such as those of material textures.
pub struct TextureSet {
    pub(super) sets: Vec<vk::DescriptorSet>,
    /// Set number in the pipeline layout.
    pub(super) number: u32,
    pool: vk::DescriptorPool,
    _images: Vec<Arc<Image>>,
    _buffers: Vec<Arc<Buffer>>,
    gpu: Gpu,
    _live: LiveEntry,
}

impl TextureSet {
    /// Creates one set for each list of named bindings, for set `set` of `pipeline` and of
    /// pipelines with the same declarations.
    ///
    /// # Errors
    /// [`GpuError`]: a name that no shader declares; out of memory.
    pub fn new(
        gpu: &Gpu,
        name: &str,
        pipeline: &GraphicsPipeline,
        set: u32,
        lists: &[Vec<(&str, Bind<'_>)>],
    ) -> GpuResult<Arc<Self>> {
        let interface = &pipeline.0.interface;
        let layout = *interface.sets.get(set as usize).ok_or_else(|| GpuError::Pipeline {
            pipeline: interface.name.clone(),
            detail: format!("it has no set {set}"),
        })?;
        let per_set =
            interface.bindings.iter().filter(|binding| binding.set == set).count().max(1) as u32;
        let count = lists.len().max(1) as u32;
        let sizes = [
            vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            vk::DescriptorType::SAMPLED_IMAGE,
            vk::DescriptorType::UNIFORM_BUFFER,
            vk::DescriptorType::STORAGE_BUFFER,
        ]
        .map(|kind| vk::DescriptorPoolSize { ty: kind, descriptor_count: per_set * count });
        let create = vk::DescriptorPoolCreateInfo::default().max_sets(count).pool_sizes(&sizes);
        // SAFETY: the device is alive.
        let pool = unsafe { gpu.device.create_descriptor_pool(&create, None) }
            .map_err(|result| GpuError::from_vk("vkCreateDescriptorPool", name, result))?;
        let live = gpu.register(pool, "texture set", name);
        let mut this = Self {
            sets: Vec::new(),
            number: set,
            pool,
            _images: Vec::new(),
            _buffers: Vec::new(),
            gpu: gpu.clone(),
            _live: live,
        };
        for list in lists {
            let layouts = [layout];
            let allocate = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(pool)
                .set_layouts(&layouts);
            // SAFETY: the pool was made for this many sets.
            let made = unsafe { gpu.device.allocate_descriptor_sets(&allocate) }
                .map_err(|result| GpuError::from_vk("vkAllocateDescriptorSets", name, result))?;
            let handle = made.first().copied().unwrap_or_default();
            write_set(gpu, interface, set, handle, list)?;
            for (_, bind) in list {
                match bind {
                    Bind::Texture(image, _) | Bind::Sampled(image) | Bind::StorageImage(image) => {
                        this._images.push(Arc::clone(image));
                    }
                    Bind::Uniform(buffer) | Bind::Storage(buffer) => {
                        this._buffers.push(Arc::clone(buffer))
                    }
                    Bind::Structure(_) => {
                        return Err(GpuError::Pipeline {
                            pipeline: name.into(),
                            detail: "acceleration structures cannot be in a texture set".into(),
                        });
                    }
                }
            }
            this.sets.push(handle);
        }
        Ok(Arc::new(this))
    }
}

impl Drop for TextureSet {
    fn drop(&mut self) {
        // SAFETY: recorded frames hold the sets until the device has finished.
        unsafe { self.gpu.device.destroy_descriptor_pool(self.pool, None) };
    }
}
