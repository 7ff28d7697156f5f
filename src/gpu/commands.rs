//! Command recording and submission: a ring of frames in flight, each with its commands,
//! descriptors, timers and crash marker.

use std::{any::Any, ptr, sync::Arc};

use ash::vk;

use super::{
    compile_progress::FirstUse,
    context::{Gpu, LiveEntry, c_name},
    descriptors::{Bind, Interface, write_set},
    device_selection::MULTI_DRAW_INDIRECT,
    error::{GpuError, GpuResult},
    fault_injection::FaultPoint,
    interrupt::Interrupt,
    memory::{Buffer, BufferKind, Image},
    mutex::lock,
    pipeline::{ComputePipeline, GraphicsPipeline, TextureSet},
};

/// Maximum number of timed passes per frame; further passes run without timers.
const MAX_PASSES: u32 = 128;

/// Descriptor sets per pool; a frame that needs more gets more pools.
const SETS_PER_POOL: u32 = 64;

/// Bytes of an indirect draw (`VkDrawIndexedIndirectCommand`): index count, instance count, first
/// index, vertex offset, first instance.
pub const DRAW_COMMAND_BYTES: u64 = 20;

/// A color attachment of a pass.
#[derive(Clone, Copy)]
pub struct ColorTarget<'a> {
    /// The attached image.
    pub image: &'a Arc<Image>,
    /// Clear value; `None` keeps the content.
    pub clear: Option<[f32; 4]>,
    /// The image holds unsigned integers, and the clear value is converted to them.
    pub integer: bool,
}

/// The depth attachment of a pass.
#[derive(Clone, Copy)]
pub struct DepthTarget<'a> {
    /// The attached image.
    pub image: &'a Arc<Image>,
    /// Clear value; `None` keeps the content.
    pub clear: Option<f32>,
    /// True if the pass may write it.
    pub write: bool,
}

/// A barrier on an image.
#[derive(Clone, Copy)]
pub struct ImageBarrier<'a> {
    /// The image that the barrier applies to.
    pub image: &'a Arc<Image>,
    /// Accesses that must be complete.
    pub from: (vk::PipelineStageFlags2, vk::AccessFlags2, vk::ImageLayout),
    /// Accesses that wait.
    pub to: (vk::PipelineStageFlags2, vk::AccessFlags2, vk::ImageLayout),
}

/// GPU time of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassTime {
    /// Name of the pass.
    pub name: String,
    /// Duration in milliseconds.
    pub ms: f64,
    /// Start in milliseconds after the start of the frame's first pass.
    pub begin_ms: f64,
}

/// Identifies a submitted frame, to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    slot: usize,
    number: u64,
}

struct Slot {
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    queries: vk::QueryPool,
    descriptor_pools: Vec<vk::DescriptorPool>,
    sets_left: u32,
    pools_used: usize,
    markers: Arc<Buffer>,
    passes: Vec<String>,
    /// True if a pipeline is bound that no earlier frame has bound.
    first_use: bool,
    keep: Vec<Arc<dyn Any + Send + Sync>>,
    number: u64,
    pending: bool,
    times: Vec<PassTime>,
    _live: LiveEntry,
}

/// The ring of frames in flight.
pub struct Frames {
    gpu: Gpu,
    slots: Vec<Slot>,
    next: u64,
}

impl Frames {
    /// Creates a ring of `count` frames: the host records one while the device executes the others.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted.
    pub fn new(gpu: &Gpu, count: usize) -> GpuResult<Self> {
        let mut frames = Self { gpu: gpu.clone(), slots: Vec::new(), next: 0 };
        for index in 0..count.max(1) {
            let slot = frames.make_slot(index)?;
            frames.slots.push(slot);
        }
        Ok(frames)
    }

    fn make_slot(&self, index: usize) -> GpuResult<Slot> {
        let gpu = &self.gpu;
        let name = format!("frame slot {index}");
        let markers = Buffer::new(
            gpu,
            &format!("crash marker {index}"),
            u64::from(MAX_PASSES) * 4,
            BufferKind::Readback,
        )?;
        let oops = |call| {
            let name = name.clone();
            move |result| GpuError::from_vk(call, &name, result)
        };
        let create = vk::CommandPoolCreateInfo::default().queue_family_index(gpu.queue_family);
        // SAFETY: the device is alive; on an early return the objects made so far leak until the
        // caller drops the device.
        unsafe {
            let pool = gpu
                .device
                .create_command_pool(&create, None)
                .map_err(oops("vkCreateCommandPool"))?;
            let live = gpu.register(pool, "command pool", &name);
            let allocate =
                vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
            let made = gpu
                .device
                .allocate_command_buffers(&allocate)
                .map_err(oops("vkAllocateCommandBuffers"))?;
            let fence = gpu
                .device
                .create_fence(&vk::FenceCreateInfo::default(), None)
                .map_err(oops("vkCreateFence"))?;
            let create = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(2 * MAX_PASSES);
            let queries =
                gpu.device.create_query_pool(&create, None).map_err(oops("vkCreateQueryPool"))?;
            Ok(Slot {
                pool,
                commands: made.first().copied().unwrap_or_default(),
                fence,
                queries,
                descriptor_pools: Vec::new(),
                sets_left: 0,
                pools_used: 0,
                markers,
                passes: Vec::new(),
                first_use: false,
                keep: Vec::new(),
                number: 0,
                pending: false,
                times: Vec::new(),
                _live: live,
            })
        }
    }

    /// Starts a frame, after waiting for the previous user of its slot.
    ///
    /// # Errors
    /// [`GpuError`]: device loss; out of memory.
    pub fn begin(&mut self) -> GpuResult<Recorder<'_>> {
        let number = self.next;
        let index = (number % self.slots.len() as u64) as usize;
        self.wait(Ticket {
            slot: index,
            number: self.slots.get(index).map_or(0, |slot| slot.number),
        })?;
        let gpu = &self.gpu;
        let Some(slot) = self.slots.get_mut(index) else {
            return Err(GpuError::from_vk("begin", "frame", vk::Result::ERROR_UNKNOWN));
        };
        self.next += 1;
        slot.number = number;
        slot.passes.clear();
        slot.first_use = false;
        slot.markers_clear();
        // SAFETY: the slot's last frame is over, so that its pools and queries are free.
        unsafe {
            gpu.device
                .reset_command_pool(slot.pool, vk::CommandPoolResetFlags::empty())
                .map_err(|result| GpuError::from_vk("vkResetCommandPool", "frame", result))?;
            for &pool in &slot.descriptor_pools {
                // This call cannot fail (the specification gives it no error codes).
                let _ =
                    gpu.device.reset_descriptor_pool(pool, vk::DescriptorPoolResetFlags::empty());
            }
            slot.pools_used = 0;
            slot.sets_left = 0;
            gpu.device.reset_query_pool(slot.queries, 0, 2 * MAX_PASSES);
            let begin = vk::CommandBufferBeginInfo::default()
                .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            gpu.device
                .begin_command_buffer(slot.commands, &begin)
                .map_err(|result| GpuError::from_vk("vkBeginCommandBuffer", "frame", result))?;
        }
        let mut recorder = Recorder {
            gpu: gpu.clone(),
            slot,
            index,
            in_pass: false,
            interrupt: None,
            rendering: Rendering::default(),
            runs_in_parts: false,
        };
        // Frames share transient memory, so a frame starts after the previous one has finished.
        recorder.memory_barrier(
            (vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::MEMORY_WRITE),
            (
                vk::PipelineStageFlags2::ALL_COMMANDS,
                vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE,
            ),
        );
        Ok(recorder)
    }

    /// Waits for a frame to finish and releases what it kept alive.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`], with the last pass that had begun.
    pub fn wait(&mut self, ticket: Ticket) -> GpuResult<()> {
        let gpu = self.gpu.clone();
        let Some(slot) = self.slots.get_mut(ticket.slot) else { return Ok(()) };
        if !slot.pending || slot.number != ticket.number {
            return Ok(());
        }
        let faulted =
            gpu.fault(FaultPoint::Wait, &format!("frame {}", slot.number), "vkWaitForFences");
        // SAFETY: the fence was submitted with the frame.
        let waited = unsafe { gpu.device.wait_for_fences(&[slot.fence], true, u64::MAX) }.map_err(
            |result| {
                GpuError::from_vk("vkWaitForFences", &format!("frame {}", slot.number), result)
            },
        );
        slot.pending = false;
        gpu.compiles.finished(slot.key());
        if let Err(error) = faulted.and(waited) {
            // Objects of a lost frame stay alive as long as the ring.
            return Err(slot.with_last_pass(error));
        }
        // SAFETY: the fence is signalled and no longer in use.
        unsafe { gpu.device.reset_fences(&[slot.fence]) }
            .map_err(|result| GpuError::from_vk("vkResetFences", "frame", result))?;
        slot.read_times(&gpu);
        slot.keep.clear();
        Ok(())
    }

    /// Waits for all frames.
    ///
    /// # Errors
    /// [`GpuError`] if the device is lost.
    pub fn wait_all(&mut self) -> GpuResult<()> {
        for slot in 0..self.slots.len() {
            let number = self.slots.get(slot).map_or(0, |s| s.number);
            self.wait(Ticket { slot, number })?;
        }
        Ok(())
    }

    /// GPU times of the passes of a finished frame.
    #[must_use]
    pub fn times(&self, ticket: Ticket) -> &[PassTime] {
        self.slots
            .get(ticket.slot)
            .filter(|slot| slot.number == ticket.number)
            .map_or(&[], |slot| &slot.times)
    }
}

impl Drop for Frames {
    fn drop(&mut self) {
        self.gpu.wait_idle();
        for slot in &self.slots {
            self.gpu.compiles.finished(slot.key());
            // SAFETY: the device is idle; these objects belong to the slot alone.
            unsafe {
                for &pool in &slot.descriptor_pools {
                    self.gpu.device.destroy_descriptor_pool(pool, None);
                }
                self.gpu.device.destroy_query_pool(slot.queries, None);
                self.gpu.device.destroy_fence(slot.fence, None);
                // Destroying the pool frees the buffers too, but validation layers 1.3.239 leak the
                // state of buffers that are not freed explicitly.
                self.gpu.device.free_command_buffers(slot.pool, &[slot.commands]);
                self.gpu.device.destroy_command_pool(slot.pool, None);
            }
        }
    }
}

/// Number of passes whose crash marker is set, also while the device executes them.
fn passes_begun(markers: &Buffer) -> usize {
    let (words, _) = markers.mapped().as_chunks::<4>();
    let is_set = |word: &&[u8; 4]| {
        // SAFETY: mapped memory, which outlives the reference. The device may write it meanwhile;
        // a value read too early only shows the pass before.
        unsafe { ptr::read_volatile(*word) != [0; 4] }
    };
    words.iter().take_while(is_set).count()
}

impl Slot {
    /// Identifies the slot among those of all rings.
    fn key(&self) -> usize {
        Arc::as_ptr(&self.markers) as usize
    }

    fn markers_clear(&self) {
        let zeros = [0u8; MAX_PASSES as usize * 4];
        self.markers.write(0, &zeros);
    }

    /// Adds the last pass that the crash marker recorded to a device-loss error.
    fn with_last_pass(&self, error: GpuError) -> GpuError {
        let GpuError::DeviceLost { during, .. } = error else { return error };
        let begun = passes_begun(&self.markers);
        let last_pass = begun.checked_sub(1).and_then(|index| self.passes.get(index)).cloned();
        GpuError::DeviceLost { during, last_pass }
    }

    fn read_times(&mut self, gpu: &Gpu) {
        let count = self.passes.len().min(MAX_PASSES as usize);
        let mut stamps = vec![0u64; count * 2];
        self.times.clear();
        if count == 0 {
            return;
        }
        // SAFETY: the frame that wrote these queries is over.
        let read = unsafe {
            gpu.device.get_query_pool_results(
                self.queries,
                0,
                &mut stamps,
                vk::QueryResultFlags::TYPE_64,
            )
        };
        if read.is_err() {
            return;
        }
        let period = f64::from(gpu.limits().timestamp_period);
        let first = stamps.chunks_exact(2).map(|stamps| stamps[0]).min().unwrap_or(0);
        for (pass, stamps) in self.passes.iter().zip(stamps.chunks_exact(2)) {
            let ticks = stamps[1].saturating_sub(stamps[0]);
            let ms = |ticks: u64| ticks as f64 * period * 1e-6;
            let begin_ms = ms(stamps[0].saturating_sub(first));
            self.times.push(PassTime { name: pass.clone(), ms: ms(ticks), begin_ms });
        }
    }
}

/// A frame being recorded.
pub struct Recorder<'f> {
    gpu: Gpu,
    slot: &'f mut Slot,
    index: usize,
    in_pass: bool,
    /// Interrupt of the frame, if it can be interrupted.
    pub(super) interrupt: Option<Arc<Interrupt>>,
    /// The last rendering instance.
    pub(super) rendering: Rendering,
    /// True if the bound compute pipeline may be dispatched in parts.
    pub(super) runs_in_parts: bool,
}

/// Attachments of a rendering instance.
#[derive(Default)]
pub(super) struct Rendering {
    pub colors: Vec<vk::RenderingAttachmentInfo<'static>>,
    pub depth: Option<vk::RenderingAttachmentInfo<'static>>,
    pub area: vk::Rect2D,
}

impl Recorder<'_> {
    /// The device that the frame is recorded for.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    pub(super) fn raw(&self) -> (&ash::Device, vk::CommandBuffer) {
        (&self.gpu.device, self.slot.commands)
    }

    /// Keeps an object alive until the frame has finished.
    pub fn keep(&mut self, object: Arc<dyn Any + Send + Sync>) {
        self.slot.keep.push(object);
    }

    /// Begins a pass: label, crash marker, timer.
    pub fn begin_pass(&mut self, name: &str) {
        debug_assert!(!self.in_pass, "pass '{name}' begins inside of another");
        self.in_pass = true;
        let index = self.slot.passes.len() as u32;
        self.slot.passes.push(name.into());
        if let Some(labels) = &self.gpu.labels {
            let text = c_name(name);
            let label = vk::DebugUtilsLabelEXT::default().label_name(&text);
            // SAFETY: recording; the text lives through the call.
            unsafe { labels.cmd_begin_debug_utils_label(self.slot.commands, &label) };
        }
        if index < MAX_PASSES {
            // The marker waits for earlier passes, so that its last value names the running pass.
            self.memory_barrier(
                (vk::PipelineStageFlags2::ALL_COMMANDS, vk::AccessFlags2::NONE),
                (vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::NONE),
            );
            let (device, commands) = self.raw();
            // SAFETY: recording outside of rendering; both indices are inside of their buffers.
            unsafe {
                device.cmd_fill_buffer(
                    commands,
                    self.slot.markers.handle,
                    u64::from(index) * 4,
                    4,
                    1,
                );
                device.cmd_write_timestamp2(
                    commands,
                    vk::PipelineStageFlags2::ALL_COMMANDS,
                    self.slot.queries,
                    index * 2,
                );
            }
        }
        self.begin_condition();
    }

    /// Ends the pass.
    pub fn end_pass(&mut self) {
        debug_assert!(self.in_pass);
        self.in_pass = false;
        self.end_condition();
        let index = self.slot.passes.len() as u32 - 1;
        let (device, commands) = self.raw();
        if index < MAX_PASSES {
            // SAFETY: recording outside of rendering.
            unsafe {
                device.cmd_write_timestamp2(
                    commands,
                    vk::PipelineStageFlags2::ALL_COMMANDS,
                    self.slot.queries,
                    index * 2 + 1,
                );
            }
        }
        if let Some(labels) = &self.gpu.labels {
            // SAFETY: recording; a label is open.
            unsafe { labels.cmd_end_debug_utils_label(self.slot.commands) };
        }
    }

    /// Memory barrier between two sets of stages and accesses.
    pub fn memory_barrier(
        &mut self,
        from: (vk::PipelineStageFlags2, vk::AccessFlags2),
        to: (vk::PipelineStageFlags2, vk::AccessFlags2),
    ) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(from.0)
            .src_access_mask(from.1)
            .dst_stage_mask(to.0)
            .dst_access_mask(to.1)];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering.
        unsafe { device.cmd_pipeline_barrier2(commands, &dependency) };
    }

    /// Image barriers with layout transitions.
    pub fn image_barriers(&mut self, barriers: &[ImageBarrier<'_>]) {
        if barriers.is_empty() {
            return;
        }
        let described: Vec<_> = barriers
            .iter()
            .map(|barrier| {
                vk::ImageMemoryBarrier2::default()
                    .image(barrier.image.handle)
                    .subresource_range(barrier.image.range())
                    .src_stage_mask(barrier.from.0)
                    .src_access_mask(barrier.from.1)
                    .old_layout(barrier.from.2)
                    .dst_stage_mask(barrier.to.0)
                    .dst_access_mask(barrier.to.1)
                    .new_layout(barrier.to.2)
            })
            .collect();
        for barrier in barriers {
            self.keep(Arc::clone(barrier.image) as _);
        }
        let dependency = vk::DependencyInfo::default().image_memory_barriers(&described);
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering; the images are kept until the frame is over.
        unsafe { device.cmd_pipeline_barrier2(commands, &dependency) };
    }

    /// Begins rendering to attachments of equal size, and sets viewport and scissor to it.
    pub fn begin_rendering(&mut self, colors: &[ColorTarget<'_>], depth: Option<DepthTarget<'_>>) {
        let attachments: Vec<_> = colors
            .iter()
            .map(|target| {
                let value = target.clear.unwrap_or_default();
                let color = if target.integer {
                    vk::ClearColorValue { uint32: value.map(|v| v as u32) }
                } else {
                    vk::ClearColorValue { float32: value }
                };
                vk::RenderingAttachmentInfo::default()
                    .image_view(target.image.view)
                    .image_layout(vk::ImageLayout::COLOR_ATTACHMENT_OPTIMAL)
                    .load_op(if target.clear.is_some() {
                        vk::AttachmentLoadOp::CLEAR
                    } else {
                        vk::AttachmentLoadOp::LOAD
                    })
                    .store_op(vk::AttachmentStoreOp::STORE)
                    .clear_value(vk::ClearValue { color })
            })
            .collect();
        let depth_attachment = depth.map(|target| {
            let layout = if target.write {
                vk::ImageLayout::DEPTH_ATTACHMENT_OPTIMAL
            } else {
                vk::ImageLayout::DEPTH_READ_ONLY_OPTIMAL
            };
            vk::RenderingAttachmentInfo::default()
                .image_view(target.image.view)
                .image_layout(layout)
                .load_op(if target.clear.is_some() {
                    vk::AttachmentLoadOp::CLEAR
                } else {
                    vk::AttachmentLoadOp::LOAD
                })
                .store_op(if target.write {
                    vk::AttachmentStoreOp::STORE
                } else {
                    vk::AttachmentStoreOp::NONE
                })
                .clear_value(vk::ClearValue {
                    depth_stencil: vk::ClearDepthStencilValue {
                        depth: target.clear.unwrap_or(0.0),
                        stencil: 0,
                    },
                })
        });
        for target in colors {
            self.keep(Arc::clone(target.image) as _);
        }
        if let Some(target) = depth {
            self.keep(Arc::clone(target.image) as _);
        }
        let size = colors.first().map(|target| target.image).or(depth.map(|target| target.image));
        let (width, height) =
            size.map_or((1, 1), |image| (image.info().width, image.info().height));
        let area =
            vk::Rect2D { offset: vk::Offset2D::default(), extent: vk::Extent2D { width, height } };
        let mut rendering = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .color_attachments(&attachments);
        if let Some(attachment) = &depth_attachment {
            rendering = rendering.depth_attachment(attachment);
        }
        let viewport = vk::Viewport {
            x: 0.0,
            y: 0.0,
            width: width as f32,
            height: height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering; the attachments are kept until the frame is over.
        unsafe {
            device.cmd_begin_rendering(commands, &rendering);
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[area]);
            device.cmd_set_cull_mode(commands, vk::CullModeFlags::NONE);
            device.cmd_set_front_face(commands, vk::FrontFace::COUNTER_CLOCKWISE);
        }
        self.rendering = Rendering { colors: attachments, depth: depth_attachment, area };
    }

    /// Ends rendering.
    pub fn end_rendering(&mut self) {
        let (device, commands) = self.raw();
        // SAFETY: rendering was begun.
        unsafe { device.cmd_end_rendering(commands) };
    }

    /// Sets viewport and scissor to a rectangle: left, top, width, height in pixels.
    pub fn set_viewport(&mut self, [x, y, width, height]: [u32; 4]) {
        let viewport = vk::Viewport {
            x: x as f32,
            y: y as f32,
            width: width as f32,
            height: height as f32,
            min_depth: 0.0,
            max_depth: 1.0,
        };
        let scissor = vk::Rect2D {
            offset: vk::Offset2D { x: x as i32, y: y as i32 },
            extent: vk::Extent2D { width, height },
        };
        let (device, commands) = self.raw();
        // SAFETY: recording inside of rendering.
        unsafe {
            device.cmd_set_viewport(commands, 0, &[viewport]);
            device.cmd_set_scissor(commands, 0, &[scissor]);
        }
    }

    /// Sets the scissor to a rectangle without changing the viewport: left, top, width, height in
    /// pixels.
    pub fn set_scissor(&mut self, [x, y, width, height]: [u32; 4]) {
        let scissor = vk::Rect2D {
            offset: vk::Offset2D { x: x as i32, y: y as i32 },
            extent: vk::Extent2D { width, height },
        };
        let (device, commands) = self.raw();
        // SAFETY: recording inside of rendering.
        unsafe { device.cmd_set_scissor(commands, 0, &[scissor]) };
    }

    /// Clears the depth in a rectangle: left, top, width, height in pixels.
    pub fn clear_depth(&mut self, [x, y, width, height]: [u32; 4], depth: f32) {
        let attachment = vk::ClearAttachment {
            aspect_mask: vk::ImageAspectFlags::DEPTH,
            color_attachment: 0,
            clear_value: vk::ClearValue {
                depth_stencil: vk::ClearDepthStencilValue { depth, stencil: 0 },
            },
        };
        let rect = vk::ClearRect {
            rect: vk::Rect2D {
                offset: vk::Offset2D { x: x as i32, y: y as i32 },
                extent: vk::Extent2D { width, height },
            },
            base_array_layer: 0,
            layer_count: 1,
        };
        let (device, commands) = self.raw();
        // SAFETY: recording inside of rendering to a depth target.
        unsafe { device.cmd_clear_attachments(commands, &[attachment], &[rect]) };
    }

    /// Sets back-face culling and the winding of front faces.
    pub fn set_culling(&mut self, cull_back: bool, front_is_clockwise: bool) {
        let (device, commands) = self.raw();
        // SAFETY: recording.
        unsafe {
            device.cmd_set_cull_mode(
                commands,
                if cull_back { vk::CullModeFlags::BACK } else { vk::CullModeFlags::NONE },
            );
            device.cmd_set_front_face(
                commands,
                if front_is_clockwise {
                    vk::FrontFace::CLOCKWISE
                } else {
                    vk::FrontFace::COUNTER_CLOCKWISE
                },
            );
        }
    }

    /// Binds a graphics pipeline and resources to the variables of its set 0, by name.
    ///
    /// # Errors
    /// [`GpuError::Pipeline`] if the shaders do not declare a name, or a variable is left unbound.
    pub fn bind_graphics(
        &mut self,
        pipeline: &Arc<GraphicsPipeline>,
        binds: &[(&str, Bind<'_>)],
    ) -> GpuResult<()> {
        self.keep(Arc::clone(pipeline) as _);
        self.slot.first_use |= pipeline.0.is_first_use();
        self.bind(vk::PipelineBindPoint::GRAPHICS, pipeline.0.handle, &pipeline.0.interface, binds)
    }

    /// Binds a compute pipeline and resources to the variables of its set 0, by name.
    ///
    /// # Errors
    /// [`GpuError::Pipeline`] if the shader does not declare a name, or a variable is left unbound.
    pub fn bind_compute(
        &mut self,
        pipeline: &Arc<ComputePipeline>,
        binds: &[(&str, Bind<'_>)],
    ) -> GpuResult<()> {
        self.keep(Arc::clone(pipeline) as _);
        let common = &pipeline.common;
        self.slot.first_use |= common.is_first_use();
        self.runs_in_parts = pipeline.runs_in_parts;
        self.bind(vk::PipelineBindPoint::COMPUTE, common.handle, &common.interface, binds)
    }

    fn bind(
        &mut self,
        point: vk::PipelineBindPoint,
        pipeline: vk::Pipeline,
        interface: &Interface,
        binds: &[(&str, Bind<'_>)],
    ) -> GpuResult<()> {
        let (device, commands) = self.raw();
        // SAFETY: recording; the pipeline is kept until the frame is over.
        unsafe { device.cmd_bind_pipeline(commands, point, pipeline) };
        let Some(&layout) = interface.sets.first() else { return Ok(()) };
        let set = self.slot.allocate_set(&self.gpu, layout)?;
        write_set(&self.gpu, interface, 0, set, binds)?;
        for (_, bind) in binds {
            match bind {
                Bind::Uniform(buffer) | Bind::Storage(buffer) => self.keep(Arc::clone(buffer) as _),
                Bind::Sampled(image) | Bind::Texture(image, _) | Bind::StorageImage(image) => {
                    self.keep(Arc::clone(image) as _);
                }
                Bind::Structure(structure) => self.keep(Arc::clone(structure) as _),
            }
        }
        let (device, commands) = self.raw();
        // SAFETY: recording; the set was written whole for this layout.
        unsafe {
            device.cmd_bind_descriptor_sets(commands, point, interface.layout, 0, &[set], &[])
        };
        Ok(())
    }

    /// Binds one of the prewritten sets at the set number that they were created for.
    pub fn bind_texture_set(
        &mut self,
        pipeline: &Arc<GraphicsPipeline>,
        sets: &Arc<TextureSet>,
        index: usize,
    ) {
        let Some(&set) = sets.sets.get(index) else { return };
        let (device, commands) = self.raw();
        // SAFETY: recording; the sets were made for a pipeline with the same set of this number,
        // and the frame's owner keeps them.
        unsafe {
            device.cmd_bind_descriptor_sets(
                commands,
                vk::PipelineBindPoint::GRAPHICS,
                pipeline.0.interface.layout,
                sets.number,
                &[set],
                &[],
            );
        }
    }

    /// Sets the pipeline's push constants.
    pub fn push_graphics<T: bytemuck::Pod>(
        &mut self,
        pipeline: &Arc<GraphicsPipeline>,
        constants: &T,
    ) {
        self.push_graphics_bytes(pipeline, bytemuck::bytes_of(constants));
    }

    /// Sets the pipeline's push constants, as bytes.
    pub fn push_graphics_bytes(&mut self, pipeline: &Arc<GraphicsPipeline>, constants: &[u8]) {
        self.push(&pipeline.0.interface, constants);
    }

    /// Sets the pipeline's push constants.
    pub fn push_compute<T: bytemuck::Pod>(
        &mut self,
        pipeline: &Arc<ComputePipeline>,
        constants: &T,
    ) {
        self.push_compute_bytes(pipeline, bytemuck::bytes_of(constants));
    }

    /// Sets the pipeline's push constants, as bytes.
    pub fn push_compute_bytes(&mut self, pipeline: &Arc<ComputePipeline>, constants: &[u8]) {
        self.push(&pipeline.common.interface, constants);
    }

    fn push(&mut self, interface: &Interface, bytes: &[u8]) {
        assert_eq!(
            bytes.len(),
            interface.push_size as usize,
            "push constants differ in size from those that the shaders declare"
        );
        let stages = vk::ShaderStageFlags::VERTEX
            | vk::ShaderStageFlags::FRAGMENT
            | vk::ShaderStageFlags::COMPUTE;
        let (device, commands) = self.raw();
        // SAFETY: recording; the size was compared with the layout's range.
        unsafe { device.cmd_push_constants(commands, interface.layout, stages, 0, bytes) };
    }

    /// Binds vertex and index buffers.
    pub fn bind_geometry(&mut self, vertices: &Arc<Buffer>, indices: &Arc<Buffer>) {
        self.keep(Arc::clone(vertices) as _);
        self.keep(Arc::clone(indices) as _);
        let (device, commands) = self.raw();
        // SAFETY: recording; both are kept until the frame is over.
        unsafe {
            device.cmd_bind_vertex_buffers(commands, 0, &[vertices.handle], &[0]);
            device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT32);
        }
    }

    /// Draws an index range of the bound geometry.
    pub fn draw_indexed(
        &mut self,
        first_index: u32,
        count: u32,
        vertex_offset: i32,
        first_instance: u32,
        instances: u32,
    ) {
        let (device, commands) = self.raw();
        // SAFETY: recording inside of rendering with pipeline and geometry bound; the scene's
        // upload checked the range.
        unsafe {
            device.cmd_draw_indexed(
                commands,
                count,
                instances,
                first_index,
                vertex_offset,
                first_instance,
            )
        };
    }

    /// Draws `count` indirect commands starting at number `first`, which the device has written
    /// (`DRAW_COMMAND_BYTES` each).
    ///
    /// # Panics
    /// If the commands exceed the buffer, which is a programming error.
    pub fn draw_indexed_indirect(&mut self, commands: &Arc<Buffer>, first: u32, count: u32) {
        let end = (u64::from(first) + u64::from(count)) * DRAW_COMMAND_BYTES;
        assert!(
            end <= commands.size(),
            "{count} commands from {first} on in '{}'",
            commands.name()
        );
        self.keep(Arc::clone(commands) as _);
        let at_once = if self.gpu.info().has(MULTI_DRAW_INDIRECT) {
            self.gpu.limits().max_draw_indirect_count.max(1)
        } else {
            1
        };
        let (device, buffer) = self.raw();
        let mut next = first;
        while next < first + count {
            let draws = (first + count - next).min(at_once);
            let offset = u64::from(next) * DRAW_COMMAND_BYTES;
            // SAFETY: recording inside of rendering with pipeline and geometry bound; the range was
            // checked; the pass that wrote the commands took ranges of the geometry that the
            // scene's upload checked.
            unsafe {
                device.cmd_draw_indexed_indirect(
                    buffer,
                    commands.handle,
                    offset,
                    draws,
                    DRAW_COMMAND_BYTES as u32,
                );
            }
            next += draws;
        }
    }

    /// Draws instances of vertices that the vertex shader generates.
    pub fn draw(&mut self, vertices: u32, instances: u32) {
        let (device, commands) = self.raw();
        // SAFETY: recording inside of rendering with a pipeline that makes its own vertices.
        unsafe { device.cmd_draw(commands, vertices, instances, 0, 0) };
    }

    /// Draws one triangle that covers the viewport.
    pub fn draw_fullscreen(&mut self) {
        let (device, commands) = self.raw();
        // SAFETY: recording inside of rendering with a pipeline that makes its own vertices.
        unsafe { device.cmd_draw(commands, 3, 1, 0, 0) };
    }

    /// Dispatches work groups of a compute pipeline.
    pub fn dispatch(&mut self, x: u32, y: u32, z: u32) {
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering with a compute pipeline bound.
        unsafe { device.cmd_dispatch(commands, x, y, z) };
    }

    /// Dispatches work groups with a count of three words that the device has written at `offset`
    /// (bytes).
    ///
    /// # Panics
    /// If the words exceed the buffer, which is a programming error.
    pub fn dispatch_indirect(&mut self, groups: &Arc<Buffer>, offset: u64) {
        assert!(
            offset.is_multiple_of(4) && offset + 12 <= groups.size(),
            "work groups at {offset} in '{}'",
            groups.name()
        );
        self.keep(Arc::clone(groups) as _);
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering with a compute pipeline bound; the range was
        // checked.
        unsafe { device.cmd_dispatch_indirect(commands, groups.handle, offset) };
    }

    /// Draws with four words that the device has written at `offset` (bytes): vertex count,
    /// instance count, and the first of each. The vertex shader generates the vertices.
    ///
    /// # Panics
    /// If the words exceed the buffer, which is a programming error.
    pub fn draw_indirect(&mut self, command: &Arc<Buffer>, offset: u64) {
        assert!(
            offset.is_multiple_of(4) && offset + 16 <= command.size(),
            "a draw at {offset} in '{}'",
            command.name()
        );
        self.keep(Arc::clone(command) as _);
        let (device, commands) = self.raw();
        // SAFETY: recording inside of rendering with a pipeline that makes its own vertices; the
        // range was checked.
        unsafe { device.cmd_draw_indirect(commands, command.handle, offset, 1, 16) };
    }

    /// Fills a whole buffer with a 32-bit word.
    pub fn fill(&mut self, buffer: &Arc<Buffer>, word: u32) {
        self.keep(Arc::clone(buffer) as _);
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering.
        unsafe { device.cmd_fill_buffer(commands, buffer.handle, 0, vk::WHOLE_SIZE, word) };
    }

    /// Copies an image's level 0 (in the transfer source layout) to a buffer with packed rows.
    pub fn copy_image_to_buffer(&mut self, image: &Arc<Image>, buffer: &Arc<Buffer>) {
        self.keep(Arc::clone(image) as _);
        self.keep(Arc::clone(buffer) as _);
        let region = whole_level(image, 0, 0);
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering; `readback` sized the buffer for the image.
        unsafe {
            device.cmd_copy_image_to_buffer(
                commands,
                image.handle,
                vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                buffer.handle,
                &[region],
            );
        }
    }

    /// Copies level 0 of an image to another image of the same size and format.
    pub fn copy_image(&mut self, from: &Arc<Image>, to: &Arc<Image>) {
        self.keep(Arc::clone(from) as _);
        self.keep(Arc::clone(to) as _);
        let ([a, b], region) = ([from.info(), to.info()], whole_level(from, 0, 0));
        assert!(
            (a.width, a.height, a.format) == (b.width, b.height, b.format),
            "a copy between images of different size or format"
        );
        let region = vk::ImageCopy::default()
            .src_subresource(region.image_subresource)
            .dst_subresource(region.image_subresource)
            .extent(region.image_extent);
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering; both images have equal size and format, and are
        // in transfer layouts.
        unsafe {
            device.cmd_copy_image(
                commands,
                from.handle,
                vk::ImageLayout::TRANSFER_SRC_OPTIMAL,
                to.handle,
                vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                &[region],
            );
        }
    }

    /// Copies between buffers, with offsets and size in bytes.
    pub fn copy_buffer(
        &mut self,
        from: &Arc<Buffer>,
        to: &Arc<Buffer>,
        from_offset: u64,
        to_offset: u64,
        size: u64,
    ) {
        self.keep(Arc::clone(from) as _);
        self.keep(Arc::clone(to) as _);
        assert!(
            from_offset + size <= from.size() && to_offset + size <= to.size(),
            "copy beyond a buffer's end"
        );
        let region = vk::BufferCopy { src_offset: from_offset, dst_offset: to_offset, size };
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering; the ranges were checked.
        unsafe { device.cmd_copy_buffer(commands, from.handle, to.handle, &[region]) };
    }

    /// Copies from a buffer with packed rows to a level of an image (in the transfer destination
    /// layout).
    pub fn copy_buffer_to_image(
        &mut self,
        from: &Arc<Buffer>,
        offset: u64,
        image: &Arc<Image>,
        mip: u32,
    ) {
        self.keep(Arc::clone(from) as _);
        self.keep(Arc::clone(image) as _);
        let region = whole_level(image, mip, offset);
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering; the uploader placed a whole level at the offset.
        unsafe {
            device.cmd_copy_buffer_to_image(
                commands,
                from.handle,
                image.handle,
                vk::ImageLayout::TRANSFER_DST_OPTIMAL,
                &[region],
            );
        }
    }

    /// Submits the frame to the device.
    ///
    /// # Errors
    /// [`GpuError`]: device loss; out of memory.
    pub fn submit(self) -> GpuResult<Ticket> {
        self.submit_between(None)
    }

    /// Submits the frame; color attachment output waits for the first semaphore, and the second is
    /// signaled at the end.
    pub(super) fn submit_between(
        mut self,
        semaphores: Option<(vk::Semaphore, vk::Semaphore)>,
    ) -> GpuResult<Ticket> {
        // Makes copies to host memory visible to the host once the fence is signaled.
        self.memory_barrier(
            (vk::PipelineStageFlags2::ALL_TRANSFER, vk::AccessFlags2::TRANSFER_WRITE),
            (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ),
        );
        let name = format!("frame {}", self.slot.number);
        let (device, commands) = self.raw();
        // SAFETY: recording.
        unsafe { device.end_command_buffer(commands) }
            .map_err(|result| GpuError::from_vk("vkEndCommandBuffer", &name, result))?;
        self.gpu
            .fault(FaultPoint::Submit, &name, "vkQueueSubmit2")
            .map_err(|error| self.slot.with_last_pass(error))?;
        let commands = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
        let (wait, signal) = semaphores.unwrap_or_default();
        let waits = [vk::SemaphoreSubmitInfo::default()
            .semaphore(wait)
            .stage_mask(vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT)];
        let signals = [vk::SemaphoreSubmitInfo::default()
            .semaphore(signal)
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let mut submit = vk::SubmitInfo2::default().command_buffer_infos(&commands);
        if semaphores.is_some() {
            submit = submit.wait_semaphore_infos(&waits).signal_semaphore_infos(&signals);
        }
        let submit = [submit];
        let queue = lock(&self.gpu.queue);
        // SAFETY: the queue is held; all that the commands use is kept in the slot until the fence
        // signals.
        unsafe { self.gpu.device.queue_submit2(*queue, &submit, self.slot.fence) }.map_err(
            |result| self.slot.with_last_pass(GpuError::from_vk("vkQueueSubmit2", &name, result)),
        )?;
        drop(queue);
        self.slot.pending = true;
        if self.slot.first_use {
            let markers = Arc::clone(&self.slot.markers);
            self.gpu.compiles.submitted(FirstUse {
                key: self.slot.key(),
                passes: self.slot.passes.clone(),
                begun: Box::new(move || passes_begun(&markers)),
            });
        }
        Ok(Ticket { slot: self.index, number: self.slot.number })
    }
}

fn whole_level(image: &Image, mip: u32, offset: u64) -> vk::BufferImageCopy {
    let info = image.info();
    vk::BufferImageCopy::default()
        .buffer_offset(offset)
        .image_subresource(vk::ImageSubresourceLayers {
            aspect_mask: info.aspect(),
            mip_level: mip,
            base_array_layer: 0,
            layer_count: 1,
        })
        .image_extent(vk::Extent3D {
            width: (info.width >> mip).max(1),
            height: (info.height >> mip).max(1),
            depth: 1,
        })
}

impl Slot {
    fn allocate_set(
        &mut self,
        gpu: &Gpu,
        layout: vk::DescriptorSetLayout,
    ) -> GpuResult<vk::DescriptorSet> {
        if self.sets_left == 0 {
            if self.pools_used == self.descriptor_pools.len() {
                let kinds = [
                    vk::DescriptorType::UNIFORM_BUFFER,
                    vk::DescriptorType::STORAGE_BUFFER,
                    vk::DescriptorType::SAMPLED_IMAGE,
                    vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
                    vk::DescriptorType::STORAGE_IMAGE,
                    vk::DescriptorType::ACCELERATION_STRUCTURE_KHR,
                ];
                // The last type exists only on devices with ray query.
                let kinds = if gpu.ray_query() { &kinds[..] } else { &kinds[..5] };
                let size = |&ty| vk::DescriptorPoolSize { ty, descriptor_count: SETS_PER_POOL * 8 };
                let sizes: Vec<_> = kinds.iter().map(size).collect();
                let create = vk::DescriptorPoolCreateInfo::default()
                    .max_sets(SETS_PER_POOL)
                    .pool_sizes(&sizes);
                // SAFETY: the device is alive.
                let pool = unsafe { gpu.device.create_descriptor_pool(&create, None) }.map_err(
                    |result| GpuError::from_vk("vkCreateDescriptorPool", "frame", result),
                )?;
                self.descriptor_pools.push(pool);
            }
            self.pools_used += 1;
            self.sets_left = SETS_PER_POOL;
        }
        self.sets_left -= 1;
        let pool = self.descriptor_pools.get(self.pools_used - 1).copied().unwrap_or_default();
        let layouts = [layout];
        let allocate =
            vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
        // SAFETY: the pool belongs to this slot, whose last frame is over.
        let sets = unsafe { gpu.device.allocate_descriptor_sets(&allocate) }
            .map_err(|result| GpuError::from_vk("vkAllocateDescriptorSets", "frame", result))?;
        Ok(sets.first().copied().unwrap_or_default())
    }
}
