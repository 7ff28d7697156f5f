//! Named buffers and images, freed when their last user drops them.

use std::sync::{Arc, atomic::AtomicU32};

use ash::vk;
use gpu_allocator::{
    MemoryLocation,
    vulkan::{Allocation, AllocationCreateDesc, AllocationScheme},
};

use super::{
    context::{Gpu, LiveEntry},
    error::{GpuError, GpuResult},
    fault_injection::FaultPoint,
};

/// Purpose of a buffer, which determines usage flags and memory location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferKind {
    /// Vertices and indices, written once by upload and read by the device.
    Geometry,
    /// Vertices written by shaders.
    DynamicGeometry,
    /// Storage that shaders read and write; filled by upload or by passes.
    Storage,
    /// Constants, storage, vertices or indices written by the host every frame; host memory.
    Dynamic,
    /// Storage of acceleration structures.
    Acceleration,
    /// Instances that the host writes for a TLAS build; host memory.
    AccelerationInstances,
    /// Source of uploads; host memory.
    Staging,
    /// Target of readback; cached host memory.
    Readback,
    /// A word on which draws and dispatches depend ([`super::Interrupt`]); host memory.
    Condition,
}

impl BufferKind {
    /// Usage flags. With `rays`, the device builds acceleration structures from storage buffers,
    /// and uses them as scratch memory.
    fn usage(self, rays: bool) -> vk::BufferUsageFlags {
        use vk::BufferUsageFlags as B;
        match self {
            Self::Geometry => B::VERTEX_BUFFER | B::INDEX_BUFFER | B::TRANSFER_DST,
            Self::DynamicGeometry => {
                B::VERTEX_BUFFER | B::STORAGE_BUFFER | B::TRANSFER_DST | B::TRANSFER_SRC
            }
            Self::Storage => {
                let built_from =
                    B::SHADER_DEVICE_ADDRESS | B::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
                B::STORAGE_BUFFER
                    | B::TRANSFER_DST
                    | B::TRANSFER_SRC
                    | B::INDIRECT_BUFFER
                    | if rays { built_from } else { B::empty() }
            }
            Self::Acceleration => B::ACCELERATION_STRUCTURE_STORAGE_KHR | B::SHADER_DEVICE_ADDRESS,
            Self::AccelerationInstances => {
                B::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR | B::SHADER_DEVICE_ADDRESS
            }
            Self::Dynamic => {
                B::UNIFORM_BUFFER | B::STORAGE_BUFFER | B::VERTEX_BUFFER | B::INDEX_BUFFER
            }
            Self::Staging => B::TRANSFER_SRC,
            Self::Readback => B::TRANSFER_DST,
            Self::Condition => B::CONDITIONAL_RENDERING_EXT,
        }
    }

    fn location(self) -> MemoryLocation {
        match self {
            Self::Geometry | Self::DynamicGeometry | Self::Storage | Self::Acceleration => {
                MemoryLocation::GpuOnly
            }
            Self::Dynamic | Self::AccelerationInstances | Self::Staging | Self::Condition => {
                MemoryLocation::CpuToGpu
            }
            Self::Readback => MemoryLocation::GpuToCpu,
        }
    }
}

/// A buffer with its memory.
pub struct Buffer {
    pub(super) handle: vk::Buffer,
    size: u64,
    name: String,
    memory: Option<Allocation>,
    gpu: Gpu,
    _live: LiveEntry,
}

impl Buffer {
    /// Creates a buffer of `size` bytes (at least 4, since Vulkan has no empty buffers).
    ///
    /// # Errors
    /// [`GpuError`]: out of memory; a size above the device's limit.
    pub fn new(gpu: &Gpu, name: &str, size: u64, kind: BufferKind) -> GpuResult<Arc<Self>> {
        let size = size.max(4).next_multiple_of(4);
        gpu.fault(FaultPoint::Buffer, name, "vkCreateBuffer")?;
        let limit = u64::from(gpu.limits().max_storage_buffer_range);
        if matches!(kind, BufferKind::DynamicGeometry | BufferKind::Storage | BufferKind::Dynamic)
            && size > limit
        {
            return Err(GpuError::TooLarge {
                what: format!("buffer '{name}'"),
                requested: format!("{size} bytes"),
                limit: format!("{limit} bytes"),
                device: gpu.info().name.clone(),
                remedy: "use a simpler scene or a smaller --size",
            });
        }
        let create = vk::BufferCreateInfo::default().size(size).usage(kind.usage(gpu.ray_query()));
        // SAFETY: the device is alive.
        let handle = unsafe { gpu.device.create_buffer(&create, None) }
            .map_err(|result| GpuError::from_vk("vkCreateBuffer", name, result))?;
        let live = gpu.register(handle, "buffer", name);
        // From here on, dropping `buffer` frees what was allocated.
        let mut buffer =
            Self { handle, size, name: name.into(), memory: None, gpu: gpu.clone(), _live: live };
        // SAFETY: the buffer was made from this device.
        let requirements = unsafe { gpu.device.get_buffer_memory_requirements(handle) };
        let memory = allocate(gpu, name, requirements, kind.location(), true)?;
        // SAFETY: the memory was allocated for these requirements and is bound once.
        let bound =
            unsafe { gpu.device.bind_buffer_memory(handle, memory.memory(), memory.offset()) };
        buffer.memory = Some(memory);
        bound.map_err(|result| GpuError::from_vk("vkBindBufferMemory", name, result))?;
        Ok(Arc::new(buffer))
    }

    /// Size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Name of the buffer, for errors and debuggers.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The buffer's host memory; empty for buffers in device memory.
    ///
    /// The caller has waited for the device's writes, by the ticket of the frame.
    #[must_use]
    pub fn mapped(&self) -> &[u8] {
        self.memory
            .as_ref()
            .and_then(Allocation::mapped_slice)
            .map_or(&[], |slice| slice.get(..self.size as usize).unwrap_or(slice))
    }

    /// The first word of the buffer's host memory, for threads that change it while the device reads
    /// it; `None` for buffers in device memory.
    pub(super) fn shared_word(&self) -> Option<&AtomicU32> {
        let pointer = self.memory.as_ref().and_then(Allocation::mapped_ptr)?;
        // SAFETY: the mapping is at least 4 bytes, aligned, and lives as long as the buffer; the
        // host accesses this word by this function alone.
        Some(unsafe { AtomicU32::from_ptr(pointer.as_ptr().cast()) })
    }

    /// Copies bytes into host memory at an offset in bytes.
    ///
    /// # Panics
    /// If the buffer is not in host memory or the bytes do not fit, which is a programming error.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let pointer = self.memory.as_ref().and_then(Allocation::mapped_ptr);
        let fits = offset.checked_add(bytes.len()).is_some_and(|end| end as u64 <= self.size);
        assert!(
            fits,
            "write of {} bytes at {offset} into '{}' of {} bytes",
            bytes.len(),
            self.name,
            self.size
        );
        let Some(pointer) = pointer else { panic!("buffer '{}' is not in host memory", self.name) };
        // SAFETY: the range was checked against the mapping's size; the frame ring hands a buffer
        // out for writing only when the device has finished with it, and the source cannot overlap
        // device memory.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                pointer.as_ptr().cast::<u8>().add(offset),
                bytes.len(),
            );
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.gpu.forget_name(self.handle);
        // SAFETY: users hold an `Arc` until the device has finished with the buffer.
        unsafe { self.gpu.device.destroy_buffer(self.handle, None) };
        if let Some(memory) = self.memory.take() {
            let _ = self.gpu.with_allocator(&self.name, 0, |allocator| allocator.free(memory));
        }
    }
}

fn allocate(
    gpu: &Gpu,
    name: &str,
    requirements: vk::MemoryRequirements,
    location: MemoryLocation,
    linear: bool,
) -> GpuResult<Allocation> {
    gpu.with_allocator(name, requirements.size, |allocator| {
        allocator.allocate(&AllocationCreateDesc {
            name,
            requirements,
            location,
            linear,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        })
    })
}

/// Size, format and usage of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageInfo {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Mip levels, at least 1.
    pub mips: u32,
    /// Pixel format.
    pub format: vk::Format,
    /// Usage flags.
    pub usage: vk::ImageUsageFlags,
}

impl ImageInfo {
    /// Depth or color aspect, from the format.
    #[must_use]
    pub fn aspect(&self) -> vk::ImageAspectFlags {
        if matches!(self.format, vk::Format::D32_SFLOAT | vk::Format::D16_UNORM) {
            vk::ImageAspectFlags::DEPTH
        } else {
            vk::ImageAspectFlags::COLOR
        }
    }
}

/// A 2D image with a view of all its mip levels.
pub struct Image {
    pub(super) handle: vk::Image,
    pub(super) view: vk::ImageView,
    info: ImageInfo,
    name: String,
    memory: Option<Allocation>,
    block: Option<Arc<MemoryBlock>>,
    /// Owned by the swapchain, so not destroyed here.
    borrowed: bool,
    gpu: Gpu,
    _live: LiveEntry,
}

/// A block of device memory that several images share, by lifetime or by offset.
pub struct MemoryBlock {
    memory: Option<Allocation>,
    name: String,
    gpu: Gpu,
}

impl MemoryBlock {
    /// Allocates a block that meets the given requirements.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted.
    pub fn new(
        gpu: &Gpu,
        name: &str,
        size: u64,
        alignment: u64,
        type_bits: u32,
    ) -> GpuResult<Arc<Self>> {
        let requirements = vk::MemoryRequirements::default()
            .size(size.max(1))
            .alignment(alignment.max(1))
            .memory_type_bits(type_bits);
        let memory = allocate(gpu, name, requirements, MemoryLocation::GpuOnly, false)?;
        Ok(Arc::new(Self { memory: Some(memory), name: name.into(), gpu: gpu.clone() }))
    }
}

impl Drop for MemoryBlock {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            let _ = self.gpu.with_allocator(&self.name, 0, |allocator| allocator.free(memory));
        }
    }
}

impl Image {
    /// Creates an image with its own memory.
    ///
    /// # Errors
    /// [`GpuError`]: out of memory; a size above the device's limit; a format that does not support
    /// the usage.
    pub fn new(gpu: &Gpu, name: &str, info: ImageInfo) -> GpuResult<Arc<Self>> {
        let mut image = Self::unbound(gpu, name, info)?;
        let requirements = image.requirements();
        let memory = allocate(gpu, name, requirements, MemoryLocation::GpuOnly, false)?;
        // SAFETY: the memory was allocated for this image's requirements and is bound once.
        let bound =
            unsafe { gpu.device.bind_image_memory(image.handle, memory.memory(), memory.offset()) };
        image.memory = Some(memory);
        bound.map_err(|result| GpuError::from_vk("vkBindImageMemory", name, result))?;
        image.make_view()?;
        Ok(Arc::new(image))
    }

    /// Creates an image without memory, to query its requirements.
    pub(crate) fn unbound(gpu: &Gpu, name: &str, info: ImageInfo) -> GpuResult<Self> {
        gpu.fault(FaultPoint::Image, name, "vkCreateImage")?;
        let limit = gpu.limits().max_image_dimension2_d;
        if info.width > limit || info.height > limit || info.width == 0 || info.height == 0 {
            return Err(GpuError::TooLarge {
                what: format!("image '{name}'"),
                requested: format!("{}x{}", info.width, info.height),
                limit: format!("1x1 to {limit}x{limit}"),
                device: gpu.info().name.clone(),
                remedy: "choose another --size",
            });
        }
        let create = vk::ImageCreateInfo::default()
            .image_type(vk::ImageType::TYPE_2D)
            .format(info.format)
            .extent(vk::Extent3D { width: info.width, height: info.height, depth: 1 })
            .mip_levels(info.mips)
            .array_layers(1)
            .samples(vk::SampleCountFlags::TYPE_1)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(info.usage);
        // SAFETY: the device is alive; size and mips were checked.
        let handle = unsafe { gpu.device.create_image(&create, None) }
            .map_err(|result| GpuError::from_vk("vkCreateImage", name, result))?;
        let live = gpu.register(handle, "image", name);
        Ok(Self {
            handle,
            view: vk::ImageView::null(),
            info,
            name: name.into(),
            memory: None,
            block: None,
            borrowed: false,
            gpu: gpu.clone(),
            _live: live,
        })
    }

    /// Wraps an image of a swapchain.
    pub(super) fn borrowed(
        gpu: &Gpu,
        name: &str,
        info: ImageInfo,
        handle: vk::Image,
    ) -> GpuResult<Arc<Self>> {
        let live = gpu.register(handle, "image", name);
        let (memory, block) = (None, None);
        let view = vk::ImageView::null();
        let mut image = Self {
            handle,
            view,
            info,
            name: name.into(),
            memory,
            block,
            borrowed: true,
            gpu: gpu.clone(),
            _live: live,
        };
        image.make_view()?;
        Ok(Arc::new(image))
    }

    /// Memory requirements of the image.
    pub(crate) fn requirements(&self) -> vk::MemoryRequirements {
        // SAFETY: the image was made from this device.
        unsafe { self.gpu.device.get_image_memory_requirements(self.handle) }
    }

    /// Binds an unbound image to a block at an offset in bytes.
    pub(crate) fn place(mut self, block: &Arc<MemoryBlock>, offset: u64) -> GpuResult<Arc<Self>> {
        let Some(memory) = &block.memory else {
            return Err(GpuError::from_vk(
                "vkBindImageMemory",
                &self.name,
                vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            ));
        };
        // SAFETY: the planner gave an offset inside of the block, aligned for the image; it is
        // bound once.
        unsafe {
            self.gpu.device.bind_image_memory(
                self.handle,
                memory.memory(),
                memory.offset() + offset,
            )
        }
        .map_err(|result| GpuError::from_vk("vkBindImageMemory", &self.name, result))?;
        self.block = Some(Arc::clone(block));
        self.make_view()?;
        Ok(Arc::new(self))
    }

    fn make_view(&mut self) -> GpuResult<()> {
        let create = vk::ImageViewCreateInfo::default()
            .image(self.handle)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(self.info.format)
            .subresource_range(self.range());
        // SAFETY: the image is bound, and the range is its whole.
        self.view = unsafe { self.gpu.device.create_image_view(&create, None) }
            .map_err(|result| GpuError::from_vk("vkCreateImageView", &self.name, result))?;
        Ok(())
    }

    pub(super) fn range(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: self.info.aspect(),
            base_mip_level: 0,
            level_count: self.info.mips,
            base_array_layer: 0,
            layer_count: 1,
        }
    }

    /// Size, format and usage.
    #[must_use]
    pub fn info(&self) -> &ImageInfo {
        &self.info
    }

    /// Name of the image, for errors and debuggers.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        if !self.borrowed {
            self.gpu.forget_name(self.handle);
        }
        // SAFETY: users hold an `Arc` until the device has finished with the image; a null view is
        // ignored.
        unsafe {
            self.gpu.device.destroy_image_view(self.view, None);
            if !self.borrowed {
                self.gpu.device.destroy_image(self.handle, None);
            }
        }
        if let Some(memory) = self.memory.take() {
            let _ = self.gpu.with_allocator(&self.name, 0, |allocator| allocator.free(memory));
        }
    }
}
