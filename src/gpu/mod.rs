//! The device: instance, memory, shaders, pipelines, commands. The only room with `unsafe`; what it offers to the
//! floors above is safe to call, and keeps every object alive until the device has finished with it.
#![allow(unsafe_code)]

pub mod acceleration;
pub mod cache;
pub mod choose;
pub mod commands;
pub mod context;
pub mod error;
pub mod fault;
pub mod formats;
pub mod memory;
pub mod pipeline;
pub mod readback;
pub mod reflect;
pub mod shader;
pub mod upload;
pub mod window;

pub use acceleration::{BottomStructures, StructurePlace, TopStructure, TriangleRange};
pub use ash::vk;
pub use choose::{DeviceInfo, RAY_QUERY, survey};
pub use commands::{Bind, ColorTarget, DepthTarget, Frames, PassTime, Recorder};
pub use context::{Gpu, GpuOptions, RayMethod};
pub use error::{GpuError, GpuResult};
pub use memory::{Buffer, BufferKind, Image, ImageInfo, MemoryBlock};
pub use pipeline::{ComputePipeline, GraphicsPipeline, GraphicsState, SamplerInfo, TextureSet};
