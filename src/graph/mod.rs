//! The frame graph. Passes declare what they read and write. Planning (`plan.rs`, pure functions)
//! derives order, barriers, lifetimes and memory aliasing; `execute` records the passes. Pass
//! bodies contain no barriers.

pub mod access;
pub mod bound;
pub mod export;
pub mod plan;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use ash::vk;

pub use access::{Access, State};
pub use bound::{BoundPass, BufferSource, ImageSource};
pub use plan::{MemoryNeed, PassInfo, Plan, PlanError, ResourceInfo};

use crate::gpu::{
    Buffer, BufferKind, ColorTarget, DepthTarget, Gpu, GpuError, GpuResult, Image, ImageInfo,
    MemoryBlock, Recorder, commands::ImageBarrier,
};

/// Handle of an image in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageHandle(usize);

/// Handle of a buffer in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferHandle(usize);

/// A handle of an image or a buffer.
pub trait Handle: Copy {
    /// Index among the graph's resources.
    fn index(self) -> usize;
}

impl Handle for ImageHandle {
    fn index(self) -> usize {
        self.0
    }
}

impl Handle for BufferHandle {
    fn index(self) -> usize {
        self.0
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    /// An image that lives for a part of the frame and may share memory with others.
    Transient { width: u32, height: u32, format: vk::Format },
    /// One of the two ping-pong images of a history; `slot` selects it.
    History { key: String, slot: usize, width: u32, height: u32, format: vk::Format },
    /// An image that keeps its content from frame to frame.
    Persistent { width: u32, height: u32, format: vk::Format },
    /// A device buffer that is reused from frame to frame; its content at the frame's start is
    /// undefined.
    Storage { size: u64 },
    /// A buffer that the caller owns.
    External,
    /// An image that several graphs use in turn.
    Shared { width: u32, height: u32, format: vk::Format },
    /// A host buffer, the target of copies.
    Readback { size: u64 },
}

/// An image that several graphs use in turn, with the state after its last use.
pub struct SharedImage {
    image: Arc<Image>,
    state: Mutex<State>,
}

impl std::fmt::Debug for SharedImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedImage({}, {:?})", self.image.name(), self.image.info())
    }
}

impl SharedImage {
    /// Wraps an image that no graph has used yet; its content is undefined.
    #[must_use]
    pub fn new(image: Arc<Image>) -> Arc<Self> {
        Arc::new(Self { image, state: Mutex::new(State::NEW) })
    }

    /// The wrapped image.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_state(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

struct Resource {
    name: String,
    kind: Kind,
}

type Body<'a> = Box<dyn FnOnce(&mut PassContext<'_, '_>) -> GpuResult<()> + 'a>;

struct Pass<'a> {
    info: PassInfo,
    colors: Vec<(usize, Option<[f32; 4]>)>,
    depth: Option<(usize, Option<f32>, bool)>,
    body: Body<'a>,
}

/// Declarations of a frame's resources and passes.
#[derive(Default)]
pub struct Graph<'a> {
    resources: Vec<Resource>,
    passes: Vec<Pass<'a>>,
    outputs: Vec<usize>,
    externals: HashMap<usize, Arc<Buffer>>,
    shared: HashMap<usize, Arc<SharedImage>>,
    frame: u64,
}

/// Context of a pass body.
pub struct PassContext<'r, 'f> {
    /// Recorder of the pass's commands.
    pub rec: &'r mut Recorder<'f>,
    images: &'r [Option<Arc<Image>>],
    buffers: &'r [Option<Arc<Buffer>>],
}

impl PassContext<'_, '_> {
    /// The image of a handle.
    ///
    /// # Panics
    /// If the pass did not declare it, which is a programming error.
    #[must_use]
    pub fn image(&self, handle: ImageHandle) -> Arc<Image> {
        match self.images.get(handle.0) {
            Some(Some(image)) => Arc::clone(image),
            _ => panic!("an image that no pass declared"),
        }
    }

    /// The buffer of a handle.
    ///
    /// # Panics
    /// If the pass did not declare it, which is a programming error.
    #[must_use]
    pub fn buffer(&self, handle: BufferHandle) -> Arc<Buffer> {
        match self.buffers.get(handle.0) {
            Some(Some(buffer)) => Arc::clone(buffer),
            _ => panic!("a buffer that no pass declared"),
        }
    }
}

/// Builder of one pass.
pub struct PassBuilder<'g, 'a> {
    graph: &'g mut Graph<'a>,
    info: PassInfo,
    colors: Vec<(usize, Option<[f32; 4]>)>,
    depth: Option<(usize, Option<f32>, bool)>,
}

impl<'a> PassBuilder<'_, 'a> {
    /// Declares that the pass uses a resource with this access.
    #[must_use]
    pub fn uses(mut self, handle: impl Handle, access: Access) -> Self {
        self.info.uses.push((handle.index(), access));
        self
    }

    /// Declares a color attachment that is cleared first.
    #[must_use]
    pub fn color_cleared(mut self, image: ImageHandle, value: [f32; 4]) -> Self {
        self.colors.push((image.0, Some(value)));
        self.uses(image, Access::ColorWrite)
    }

    /// Declares a color attachment whose content is loaded.
    #[must_use]
    pub fn color_loaded(mut self, image: ImageHandle) -> Self {
        self.colors.push((image.0, None));
        self.uses(image, Access::ColorBlend)
    }

    /// Declares a depth attachment that is cleared (to 0, the far end of reversed depth), tested
    /// and written.
    #[must_use]
    pub fn depth_cleared(mut self, image: ImageHandle) -> Self {
        self.depth = Some((image.0, Some(0.0), true));
        self.uses(image, Access::DepthWrite)
    }

    /// Declares a depth attachment whose content is loaded, tested and written.
    #[must_use]
    pub fn depth_loaded(mut self, image: ImageHandle) -> Self {
        self.depth = Some((image.0, None, true));
        self.uses(image, Access::DepthLoad)
    }

    /// Declares a depth attachment that is tested, not written.
    #[must_use]
    pub fn depth_tested(mut self, image: ImageHandle) -> Self {
        self.depth = Some((image.0, None, false));
        self.uses(image, Access::DepthTest)
    }

    /// Ends the declaration with the body that records the pass.
    pub fn record(self, body: impl FnOnce(&mut PassContext<'_, '_>) -> GpuResult<()> + 'a) {
        self.graph.passes.push(Pass {
            info: self.info,
            colors: self.colors,
            depth: self.depth,
            body: Box::new(body),
        });
    }
}

impl<'a> Graph<'a> {
    /// Creates an empty graph. Histories swap their images by the parity of `frame`.
    #[must_use]
    pub fn new(frame: u64) -> Self {
        Self { frame, ..Self::default() }
    }

    fn add(&mut self, name: &str, kind: Kind) -> usize {
        self.resources.push(Resource { name: name.into(), kind });
        self.resources.len() - 1
    }

    /// Declares a transient image, which lives for a part of the frame.
    pub fn image(
        &mut self,
        name: &str,
        width: u32,
        height: u32,
        format: vk::Format,
    ) -> ImageHandle {
        ImageHandle(self.add(name, Kind::Transient { width, height, format }))
    }

    /// Declares a history and returns the images (previous frame, this frame). The first previous
    /// frame is zero.
    pub fn history(
        &mut self,
        name: &str,
        width: u32,
        height: u32,
        format: vk::Format,
    ) -> (ImageHandle, ImageHandle) {
        let (current, previous) = plan::history_slots(self.frame);
        let kind = |slot| Kind::History { key: name.into(), slot, width, height, format };
        let previous = ImageHandle(self.add(&format!("{name} (last frame)"), kind(previous)));
        (previous, ImageHandle(self.add(name, kind(current))))
    }

    /// Declares an image that keeps its content from frame to frame. `GraphCache::holds` tells
    /// whether it has content yet.
    pub fn persistent(
        &mut self,
        name: &str,
        width: u32,
        height: u32,
        format: vk::Format,
    ) -> ImageHandle {
        ImageHandle(self.add(name, Kind::Persistent { width, height, format }))
    }

    /// Declares a storage buffer on the device, of `size` bytes.
    pub fn storage(&mut self, name: &str, size: u64) -> BufferHandle {
        BufferHandle(self.add(name, Kind::Storage { size }))
    }

    /// Declares a buffer that the caller owns, with its content: no pass of an earlier frame still
    /// uses it.
    pub fn external(&mut self, buffer: &Arc<Buffer>) -> BufferHandle {
        let index = self.add(buffer.name(), Kind::External);
        self.externals.insert(index, Arc::clone(buffer));
        BufferHandle(index)
    }

    /// Declares an image that other graphs use too.
    pub fn shared(&mut self, image: &Arc<SharedImage>) -> ImageHandle {
        let info = image.image.info();
        let kind = Kind::Shared { width: info.width, height: info.height, format: info.format };
        let index = self.add(image.image.name(), kind);
        self.shared.insert(index, Arc::clone(image));
        ImageHandle(index)
    }

    /// Declares a host buffer of `size` bytes as the target of copies; it is an output.
    pub fn readback(&mut self, name: &str, size: u64) -> BufferHandle {
        let index = self.add(name, Kind::Readback { size });
        self.outputs.push(index);
        BufferHandle(index)
    }

    /// Marks a resource as a result of the frame, so that the passes it depends on are not culled.
    pub fn output(&mut self, handle: impl Handle) {
        self.outputs.push(handle.index());
    }

    /// Starts the declaration of a pass.
    pub fn pass(&mut self, name: &str) -> PassBuilder<'_, 'a> {
        PassBuilder {
            graph: self,
            info: PassInfo { name: name.into(), uses: Vec::new() },
            colors: Vec::new(),
            depth: None,
        }
    }

    /// Declares a copy of an image, to draw over while passes read the original.
    pub fn copied(&mut self, name: &str, image: ImageHandle) -> ImageHandle {
        let (width, height, format) = self.shape(image).unwrap_or((1, 1, vk::Format::UNDEFINED));
        let copy = self.image(name, width, height, format);
        self.pass(&format!("copy to {name}"))
            .uses(image, Access::CopyFrom)
            .uses(copy, Access::CopyTo)
            .record(move |cx| {
                let (image, copy) = (cx.image(image), cx.image(copy));
                cx.rec.copy_image(&image, &copy);
                Ok(())
            });
        copy
    }

    /// Width, height and format of an image.
    fn shape(&self, image: ImageHandle) -> Option<(u32, u32, vk::Format)> {
        match self.resources.get(image.0).map(|resource| &resource.kind) {
            Some(
                &(Kind::Transient { width, height, format }
                | Kind::Persistent { width, height, format }
                | Kind::Shared { width, height, format }
                | Kind::History { width, height, format, .. }),
            ) => Some((width, height, format)),
            _ => None,
        }
    }

    /// Declares the copy of an image to a host buffer with packed rows.
    pub fn read_back(&mut self, name: &str, image: ImageHandle) -> BufferHandle {
        let size = self.shape(image).map_or(0, |(width, height, format)| {
            u64::from(width) * u64::from(height) * crate::gpu::readback::texel_size(format)
        });
        let buffer = self.readback(name, size);
        self.pass(&format!("read back {name}"))
            .uses(image, Access::CopyFrom)
            .uses(buffer, Access::CopyTo)
            .record(move |cx| {
                let (image, buffer) = (cx.image(image), cx.buffer(buffer));
                cx.rec.copy_image_to_buffer(&image, &buffer);
                Ok(())
            });
        buffer
    }

    fn infos(&self, cache: &GraphCache) -> (Vec<ResourceInfo>, Vec<PassInfo>) {
        let resources = self
            .resources
            .iter()
            .enumerate()
            .map(|(index, resource)| ResourceInfo {
                name: resource.name.clone(),
                imported: match &resource.kind {
                    Kind::History { key, slot, .. } => Some(
                        cache
                            .histories
                            .get(key)
                            .map_or(State::NEW, |history| history.states[*slot]),
                    ),
                    Kind::Persistent { .. } => {
                        Some(cache.kept_state(&resource.name, &resource.kind))
                    }
                    Kind::External => Some(State::NEW),
                    Kind::Shared { .. } => self.shared.get(&index).map(|image| image.state()),
                    _ => None,
                },
            })
            .collect();
        (resources, self.passes.iter().map(|pass| pass.info.clone()).collect())
    }

    /// Plans the frame and allocates its images, without recording.
    ///
    /// # Errors
    /// [`GpuError`]: contradicting declarations; out of memory.
    pub fn prepare(&self, gpu: &Gpu, cache: &mut GraphCache) -> GpuResult<Prepared> {
        cache.ensure_histories(gpu, &self.resources)?;
        let (resources, passes) = self.infos(cache);
        let mut plan = plan::plan(&resources, &passes, &self.outputs).map_err(|error| {
            GpuError::Pipeline { pipeline: "frame graph".into(), detail: error.to_string() }
        })?;
        let memory = cache.allocate(gpu, &self.resources, &passes, &mut plan)?;
        Ok(Prepared { resources, passes, plan, memory })
    }

    /// Records the frame. The result holds the readback buffers, which are valid when the frame is
    /// finished.
    ///
    /// # Errors
    /// [`GpuError`]: contradicting declarations; out of memory; errors of pass bodies.
    pub fn execute(self, rec: &mut Recorder<'_>, cache: &mut GraphCache) -> GpuResult<Executed> {
        let gpu = rec.gpu().clone();
        let prepared = self.prepare(&gpu, cache)?;
        let mut images: Vec<Option<Arc<Image>>> = Vec::new();
        let mut buffers: Vec<Option<Arc<Buffer>>> = Vec::new();
        for (index, resource) in self.resources.iter().enumerate() {
            let used = prepared.plan.lifetimes.get(index).is_some_and(Option::is_some);
            let (mut image, mut buffer) = (None, None);
            match &resource.kind {
                Kind::Transient { .. } => image = cache.transients.get(index).cloned().flatten(),
                Kind::History { key, slot, .. } => {
                    image =
                        cache.histories.get(key).map(|history| Arc::clone(&history.images[*slot]));
                }
                Kind::Persistent { width, height, format } if used => {
                    image = Some(cache.keep(&gpu, &resource.name, (*width, *height, *format))?);
                }
                Kind::Storage { size } if used => {
                    buffer = Some(cache.storage(&gpu, &resource.name, *size)?)
                }
                Kind::External => buffer = self.externals.get(&index).cloned(),
                Kind::Shared { .. } => {
                    image = self.shared.get(&index).map(|shared| Arc::clone(&shared.image))
                }
                Kind::Readback { size } if used => {
                    buffer = Some(Buffer::new(&gpu, &resource.name, *size, BufferKind::Readback)?);
                }
                _ => {}
            }
            images.push(image);
            buffers.push(buffer);
        }

        cache.clear_new_histories(rec);
        let mut bodies: Vec<Option<Pass<'a>>> = self.passes.into_iter().map(Some).collect();
        for (&index, barriers) in prepared.plan.order.iter().zip(&prepared.plan.barriers) {
            let Some(pass) = bodies.get_mut(index).and_then(Option::take) else { continue };
            record_barriers(rec, barriers, &images);
            rec.begin_pass(&pass.info.name);
            record_pass(rec, pass, &images, &buffers)?;
            rec.end_pass();
        }
        for (index, (resource, state)) in
            self.resources.iter().zip(&prepared.plan.last_states).enumerate()
        {
            if let Some(shared) = self.shared.get(&index) {
                shared.set_state(*state);
            }
            if let Kind::Persistent { .. } = &resource.kind
                && let Some(kept) = cache.kept.get_mut(&resource.name)
            {
                kept.state = *state;
            }
            if let Kind::History { key, slot, .. } = &resource.kind
                && let Some(history) = cache.histories.get_mut(key)
            {
                history.states[*slot] = *state;
            }
        }
        Ok(Executed { buffers, prepared })
    }
}

fn record_barriers(
    rec: &mut Recorder<'_>,
    barriers: &[plan::Barrier],
    images: &[Option<Arc<Image>>],
) {
    let mut of_images = Vec::new();
    let mut memory: Option<(State, State)> = None;
    for barrier in barriers {
        match images.get(barrier.resource).and_then(Option::as_ref) {
            Some(image) => of_images.push(ImageBarrier {
                image,
                from: (barrier.from.stages, barrier.from.access, barrier.from.layout),
                to: (barrier.to.stages, barrier.to.access, barrier.to.layout),
            }),
            None => {
                let (from, to) = memory.get_or_insert((State::NEW, State::NEW));
                from.stages |= barrier.from.stages;
                from.access |= barrier.from.access;
                to.stages |= barrier.to.stages;
                to.access |= barrier.to.access;
            }
        }
    }
    rec.image_barriers(&of_images);
    if let Some((from, to)) = memory {
        rec.memory_barrier((from.stages, from.access), (to.stages, to.access));
    }
}

fn record_pass(
    rec: &mut Recorder<'_>,
    pass: Pass<'_>,
    images: &[Option<Arc<Image>>],
    buffers: &[Option<Arc<Buffer>>],
) -> GpuResult<()> {
    let target = |index: usize| images.get(index).and_then(Option::as_ref);
    let colors: Vec<_> = pass
        .colors
        .iter()
        .filter_map(|&(index, clear)| {
            let image = target(index)?;
            let integer = matches!(
                image.info().format,
                vk::Format::R32_UINT | vk::Format::R32G32_UINT | vk::Format::R32G32B32A32_UINT
            );
            Some(ColorTarget { image, clear, integer })
        })
        .collect();
    let depth = pass.depth.and_then(|(index, clear, write)| {
        target(index).map(|image| DepthTarget { image, clear, write })
    });
    let draws = !colors.is_empty() || depth.is_some();
    if draws {
        rec.begin_rendering(&colors, depth);
    }
    let result = (pass.body)(&mut PassContext { rec, images, buffers });
    if draws {
        rec.end_rendering();
    }
    result
}

/// A planned frame with allocated images.
pub struct Prepared {
    /// Resources as planned.
    pub resources: Vec<ResourceInfo>,
    /// Passes as planned.
    pub passes: Vec<PassInfo>,
    /// Order, barriers and lifetimes.
    pub plan: Plan,
    /// Memory of transient images.
    pub memory: MemoryUse,
}

/// A recorded frame.
pub struct Executed {
    buffers: Vec<Option<Arc<Buffer>>>,
    /// The planned frame.
    pub prepared: Prepared,
}

impl Executed {
    /// A readback buffer of the frame; `None` if the pass that fills it was culled.
    #[must_use]
    pub fn buffer(&self, handle: BufferHandle) -> Option<Arc<Buffer>> {
        self.buffers.get(handle.0).cloned().flatten()
    }
}

/// Memory of a frame's transient images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Allocated bytes, with aliasing.
    pub total: u64,
    /// Bytes that separate allocations would take.
    pub unshared: u64,
}

struct History {
    images: [Arc<Image>; 2],
    states: [State; 2],
    info: (u32, u32, vk::Format),
    fresh: bool,
}

struct Kept {
    image: Arc<Image>,
    state: State,
    info: (u32, u32, vk::Format),
}

/// Resources that the graph keeps from frame to frame: images, buffers, histories.
#[derive(Default)]
pub struct GraphCache {
    key: Option<CacheKey>,
    transients: Vec<Option<Arc<Image>>>,
    after: Vec<Vec<usize>>,
    memory: MemoryUse,
    storages: HashMap<String, Arc<Buffer>>,
    histories: HashMap<String, History>,
    kept: HashMap<String, Kept>,
}

type CacheKey = (Vec<Kind>, Vec<Option<(usize, usize)>>, Vec<vk::ImageUsageFlags>);

impl GraphCache {
    fn storage(&mut self, gpu: &Gpu, name: &str, size: u64) -> GpuResult<Arc<Buffer>> {
        if let Some(buffer) = self.storages.get(name).filter(|buffer| buffer.size() >= size) {
            return Ok(Arc::clone(buffer));
        }
        let buffer = Buffer::new(gpu, name, size, BufferKind::Storage)?;
        self.storages.insert(name.into(), Arc::clone(&buffer));
        Ok(buffer)
    }

    /// True if a persistent image of this name, size and format has content from an earlier frame.
    #[must_use]
    pub fn holds(&self, name: &str, width: u32, height: u32, format: vk::Format) -> bool {
        self.kept.get(name).is_some_and(|kept| kept.info == (width, height, format))
    }

    fn kept_state(&self, name: &str, kind: &Kind) -> State {
        let Kind::Persistent { width, height, format } = *kind else { return State::NEW };
        self.kept
            .get(name)
            .filter(|kept| kept.info == (width, height, format))
            .map_or(State::NEW, |kept| kept.state)
    }

    fn keep(
        &mut self,
        gpu: &Gpu,
        name: &str,
        info: (u32, u32, vk::Format),
    ) -> GpuResult<Arc<Image>> {
        if let Some(kept) = self.kept.get(name).filter(|kept| kept.info == info) {
            return Ok(Arc::clone(&kept.image));
        }
        let (width, height, format) = info;
        let attachment = if format == vk::Format::D32_SFLOAT {
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        } else {
            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE
        };
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC | attachment;
        let image = Image::new(gpu, name, ImageInfo { width, height, mips: 1, format, usage })?;
        self.kept.insert(name.into(), Kept { image: Arc::clone(&image), state: State::NEW, info });
        Ok(image)
    }

    fn ensure_histories(&mut self, gpu: &Gpu, resources: &[Resource]) -> GpuResult<()> {
        for resource in resources {
            let Kind::History { key, width, height, format, .. } = &resource.kind else { continue };
            let info = (*width, *height, *format);
            if self.histories.get(key).is_some_and(|history| history.info == info) {
                continue;
            }
            let image = |slot: usize| {
                let usage = vk::ImageUsageFlags::SAMPLED
                    | vk::ImageUsageFlags::STORAGE
                    | vk::ImageUsageFlags::COLOR_ATTACHMENT
                    | vk::ImageUsageFlags::TRANSFER_SRC
                    | vk::ImageUsageFlags::TRANSFER_DST;
                let info =
                    ImageInfo { width: *width, height: *height, mips: 1, format: *format, usage };
                Image::new(gpu, &format!("{key} {slot}"), info)
            };
            let images = [image(0)?, image(1)?];
            // The state after `clear_new_histories`.
            let states = [Access::ColorWrite.state(); 2];
            self.histories.insert(key.clone(), History { images, states, info, fresh: true });
        }
        Ok(())
    }

    /// Clears new histories to zero, so that their first reader sees defined content.
    fn clear_new_histories(&mut self, rec: &mut Recorder<'_>) {
        for history in self.histories.values_mut().filter(|history| history.fresh) {
            history.fresh = false;
            for (image, state) in history.images.iter().zip(&history.states) {
                let write = Access::ColorWrite.state();
                let barrier = ImageBarrier {
                    image,
                    from: (write.stages, vk::AccessFlags2::NONE, vk::ImageLayout::UNDEFINED),
                    to: (write.stages, write.access, write.layout),
                };
                rec.image_barriers(&[barrier]);
                let target = ColorTarget { image, clear: Some([0.0; 4]), integer: false };
                rec.begin_rendering(&[target], None);
                rec.end_rendering();
                debug_assert_eq!(*state, write, "a history was planned before it was cleared");
            }
        }
    }

    fn allocate(
        &mut self,
        gpu: &Gpu,
        resources: &[Resource],
        passes: &[PassInfo],
        plan: &mut Plan,
    ) -> GpuResult<MemoryUse> {
        let mut usages = vec![vk::ImageUsageFlags::empty(); resources.len()];
        for &pass in &plan.order {
            for &(resource, access) in passes.get(pass).map_or(&[][..], |info| &info.uses) {
                usages[resource] |= access.usage();
            }
        }
        let kinds: Vec<Kind> = resources.iter().map(|resource| resource.kind.clone()).collect();
        let key = (kinds, plan.lifetimes.clone(), usages);
        if self.key.as_ref() != Some(&key) {
            self.key = None;
            self.place(gpu, resources, plan, &key.2)?;
            self.key = Some(key);
        }
        // The first use of an aliased image waits for the last uses of the images whose memory it
        // reuses. Otherwise it waits for the frame's start.
        for barriers in &mut plan.barriers {
            for barrier in barriers.iter_mut().filter(|barrier| barrier.from == State::NEW) {
                barrier.from.stages = barrier.to.stages;
                for &other in self.after.get(barrier.resource).map_or(&[][..], Vec::as_slice) {
                    let last = plan.last_states[other];
                    barrier.from.stages |= last.stages;
                    barrier.from.access |= last.access;
                }
            }
        }
        Ok(self.memory)
    }

    fn place(
        &mut self,
        gpu: &Gpu,
        resources: &[Resource],
        plan: &Plan,
        usages: &[vk::ImageUsageFlags],
    ) -> GpuResult<()> {
        self.transients = vec![None; resources.len()];
        self.after = vec![Vec::new(); resources.len()];
        let mut unbound = Vec::new();
        let mut needs = Vec::new();
        let mut type_bits = u32::MAX;
        let mut alignment = 1;
        for (index, resource) in resources.iter().enumerate() {
            let (Kind::Transient { width, height, format }, Some(lifetime)) =
                (&resource.kind, plan.lifetimes[index])
            else {
                continue;
            };
            let info = ImageInfo {
                width: *width,
                height: *height,
                mips: 1,
                format: *format,
                usage: usages[index],
            };
            let image = Image::unbound(gpu, &resource.name, info)?;
            let requirements = image.requirements();
            type_bits &= requirements.memory_type_bits;
            alignment = alignment.max(requirements.alignment);
            needs.push(MemoryNeed {
                lifetime,
                size: requirements.size,
                alignment: requirements.alignment,
            });
            unbound.push((index, image));
        }
        if unbound.is_empty() {
            self.memory = MemoryUse::default();
            return Ok(());
        }
        let packing = plan::pack(&needs);
        if packing.total > gpu.max_allocation() {
            // Larger than the maximum allocation: each image gets its own block, without aliasing.
            for ((index, image), need) in unbound.into_iter().zip(&needs) {
                let block =
                    MemoryBlock::new(gpu, image.name(), need.size, need.alignment, type_bits)?;
                self.transients[index] = Some(image.place(&block, 0)?);
            }
            self.memory = MemoryUse { total: packing.unshared, unshared: packing.unshared };
            return Ok(());
        }
        let block = MemoryBlock::new(gpu, "transient images", packing.total, alignment, type_bits)?;
        let indices: Vec<usize> = unbound.iter().map(|&(index, _)| index).collect();
        for (slot, (index, image)) in unbound.into_iter().enumerate() {
            self.transients[index] = Some(image.place(&block, packing.offsets[slot])?);
            self.after[index] = packing.after[slot].iter().map(|&other| indices[other]).collect();
        }
        self.memory = MemoryUse { total: packing.total, unshared: packing.unshared };
        Ok(())
    }
}
