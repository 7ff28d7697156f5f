//! Vulkan device layer: instance, memory, shaders, pipelines, commands. The only module with
//! `unsafe`. Its API is safe, and keeps every object alive until the device has finished with it.
#![allow(unsafe_code)]

pub mod acceleration;
pub mod commands;
pub mod compile_progress;
pub mod context;
pub mod descriptors;
pub mod device_selection;
pub mod error;
pub mod fault_injection;
mod heap;
pub mod interrupt;
mod interruptible;
pub mod memory;
pub mod mutex;
pub mod pipeline;
pub mod pipeline_cache;
pub mod readback;
pub mod reflect;
pub mod shader;
pub mod shader_structs;
pub mod shared_layouts;
pub mod surface_formats;
pub mod upload;
pub mod window;

pub use acceleration::{BlasSet, Tlas, TlasInstance, TriangleRange};
pub use ash::vk;
pub use commands::{ColorTarget, DepthTarget, Frames, PassTime, Recorder};
pub use compile_progress::{CompileProgress, PipelineTime};
pub use context::{Gpu, GpuOptions, RayBackend};
pub use descriptors::Bind;
pub use device_selection::{DeviceInfo, RAY_QUERY, enumerate_devices};
pub use error::{GpuError, GpuResult};
pub use interrupt::Interrupt;
pub use memory::{Buffer, BufferKind, Image, ImageInfo, MemoryBlock};
pub use pipeline::{ComputePipeline, GraphicsPipeline, GraphicsState, TextureSet};
pub use shared_layouts::SamplerInfo;
