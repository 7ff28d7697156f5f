//! Passes that run one pipeline once. Each resource is named once: its binding declares the
//! access, and the frame graph resolves the object when the pass is recorded.

use std::sync::Arc;

use super::{
    access::Access,
    declaration::{Graph, PassBuilder, PassContext},
    resource::{BufferHandle, Handle, ImageHandle},
};
use crate::gpu::{
    Bind, Buffer, BufferKind, ComputePipeline, GpuResult, GraphicsPipeline, Image, SamplerInfo,
    Tlas,
};

/// Makes or finds a pipeline when the pass is recorded.
type PipelineSource<'a, T> = Box<dyn FnOnce() -> GpuResult<Arc<T>> + 'a>;

/// The pipeline of a bound pass.
enum Pipeline<'a> {
    Graphics(PipelineSource<'a, GraphicsPipeline>),
    Compute(PipelineSource<'a, ComputePipeline>),
}

/// A resource of the graph, or an object of the caller, for which the graph declares no access.
pub enum Source<H, T> {
    /// Resource of the graph.
    Graph(H),
    /// Object of the caller.
    Caller(Arc<T>),
}

/// An image to bind.
pub type ImageSource = Source<ImageHandle, Image>;
/// A buffer to bind.
pub type BufferSource = Source<BufferHandle, Buffer>;

impl<H: Handle, T> From<H> for Source<H, T> {
    fn from(handle: H) -> Self {
        Self::Graph(handle)
    }
}

impl<H, T> From<&Arc<T>> for Source<H, T> {
    fn from(object: &Arc<T>) -> Self {
        Self::Caller(Arc::clone(object))
    }
}

impl<H: Handle, T> Source<H, T> {
    /// The object, by `find` for a resource of the graph.
    fn resolve(&self, find: impl FnOnce(H) -> Arc<T>) -> Arc<T> {
        match self {
            Self::Graph(handle) => find(*handle),
            Self::Caller(object) => Arc::clone(object),
        }
    }
}

/// A binding with sources in place of objects.
enum Binding {
    Uniform(Arc<Buffer>),
    /// Name and bytes of a uniform buffer that is made when the pass is recorded.
    Constants(String, Vec<u8>),
    Storage(BufferSource),
    Sampled(ImageSource),
    Texture(ImageSource, SamplerInfo),
    StorageImage(ImageSource),
    Structure(Arc<Tlas>),
}

/// A binding with its object.
enum Resolved {
    Uniform(Arc<Buffer>),
    Storage(Arc<Buffer>),
    Sampled(Arc<Image>),
    Texture(Arc<Image>, SamplerInfo),
    StorageImage(Arc<Image>),
    Structure(Arc<Tlas>),
}

impl Binding {
    fn resolve(&self, cx: &PassContext<'_, '_>) -> GpuResult<Resolved> {
        Ok(match self {
            Self::Uniform(buffer) => Resolved::Uniform(Arc::clone(buffer)),
            Self::Constants(name, bytes) => {
                let buffer =
                    Buffer::new(cx.rec.gpu(), name, bytes.len() as u64, BufferKind::Dynamic)?;
                buffer.write(0, bytes);
                Resolved::Uniform(buffer)
            }
            Self::Storage(buffer) => Resolved::Storage(buffer.resolve(|handle| cx.buffer(handle))),
            Self::Sampled(image) => Resolved::Sampled(image.resolve(|handle| cx.image(handle))),
            Self::Texture(image, sampler) => {
                Resolved::Texture(image.resolve(|handle| cx.image(handle)), *sampler)
            }
            Self::StorageImage(image) => {
                Resolved::StorageImage(image.resolve(|handle| cx.image(handle)))
            }
            Self::Structure(tlas) => Resolved::Structure(Arc::clone(tlas)),
        })
    }
}

impl Resolved {
    fn bind(&self) -> Bind<'_> {
        match self {
            Self::Uniform(buffer) => Bind::Uniform(buffer),
            Self::Storage(buffer) => Bind::Storage(buffer),
            Self::Sampled(image) => Bind::Sampled(image),
            Self::Texture(image, sampler) => Bind::Texture(image, *sampler),
            Self::StorageImage(image) => Bind::StorageImage(image),
            Self::Structure(tlas) => Bind::Structure(tlas),
        }
    }
}

/// Builder of a pass that runs one pipeline once. It begins with [`Graph::fullscreen`] or
/// [`Graph::compute`] (or their `_with` forms); an end method such as [`BoundPass::draw`] declares
/// the pass.
///
/// Names are those of the shader variables (of blocks, for buffers). Recording fails with
/// `GpuError::Pipeline` if the pipeline does not declare a name or declares another kind of
/// resource, or if a variable is left unbound.
#[must_use = "an end method such as `draw` or `dispatch` declares the pass"]
pub struct BoundPass<'g, 'a> {
    pass: PassBuilder<'g, 'a>,
    pipeline: Pipeline<'a>,
    bindings: Vec<(&'static str, Binding)>,
    constants: Vec<u8>,
}

impl<'a> Graph<'a> {
    /// Starts the declaration of a pass that draws with a graphics pipeline; the end method says
    /// what: [`BoundPass::draw`] covers the image.
    pub fn fullscreen(
        &mut self,
        name: &str,
        pipeline: &Arc<GraphicsPipeline>,
    ) -> BoundPass<'_, 'a> {
        let pipeline = Arc::clone(pipeline);
        self.fullscreen_with(name, move || Ok(pipeline))
    }

    /// [`Graph::fullscreen`] with a pipeline that is made or found when the pass is recorded, not
    /// if the pass is culled.
    pub fn fullscreen_with(
        &mut self,
        name: &str,
        pipeline: impl FnOnce() -> GpuResult<Arc<GraphicsPipeline>> + 'a,
    ) -> BoundPass<'_, 'a> {
        self.bound(name, Pipeline::Graphics(Box::new(pipeline)))
    }

    /// Starts the declaration of a pass that dispatches a compute pipeline.
    pub fn compute(&mut self, name: &str, pipeline: &Arc<ComputePipeline>) -> BoundPass<'_, 'a> {
        let pipeline = Arc::clone(pipeline);
        self.compute_with(name, move || Ok(pipeline))
    }

    /// [`Graph::compute`] with a pipeline that is made or found when the pass is recorded, not if
    /// the pass is culled.
    pub fn compute_with(
        &mut self,
        name: &str,
        pipeline: impl FnOnce() -> GpuResult<Arc<ComputePipeline>> + 'a,
    ) -> BoundPass<'_, 'a> {
        self.bound(name, Pipeline::Compute(Box::new(pipeline)))
    }

    fn bound(&mut self, name: &str, pipeline: Pipeline<'a>) -> BoundPass<'_, 'a> {
        BoundPass { pass: self.pass(name), pipeline, bindings: Vec::new(), constants: Vec::new() }
    }
}

impl BoundPass<'_, '_> {
    /// # Panics
    /// If the pass has a compute pipeline: a programming error.
    fn assert_graphics(&self) {
        assert!(
            matches!(self.pipeline, Pipeline::Graphics(_)),
            "'{}' computes",
            self.pass.info.name
        );
    }

    /// # Panics
    /// If the pass has a graphics pipeline: a programming error.
    fn assert_compute(&self) {
        assert!(matches!(self.pipeline, Pipeline::Compute(_)), "'{}' draws", self.pass.info.name);
    }

    /// The access of the pipeline's shader stage: `fragment` or `compute`.
    fn access(&self, fragment: Access, compute: Access) -> Access {
        match self.pipeline {
            Pipeline::Graphics(_) => fragment,
            Pipeline::Compute(_) => compute,
        }
    }

    /// Declares the access of a resource of the graph.
    fn source<H: Handle, T>(self, source: &Source<H, T>, access: Access) -> Self {
        match source {
            Source::Graph(handle) => self.uses(*handle, access),
            Source::Caller(_) => self,
        }
    }

    /// Declares an access; a read counts once, even if several variables are bound to the resource.
    fn uses(mut self, handle: impl Handle, access: Access) -> Self {
        if access.writes() || !self.pass.info.uses.contains(&(handle.index(), access)) {
            self.pass = self.pass.uses(handle, access);
        }
        self
    }

    fn binding(mut self, name: &'static str, binding: Binding) -> Self {
        self.bindings.push((name, binding));
        self
    }

    /// Binds an image that the shader reads by texel.
    pub fn sampled(self, name: &'static str, image: impl Into<ImageSource>) -> Self {
        let (image, access) =
            (image.into(), self.access(Access::FragmentSampled, Access::ComputeSampled));
        self.source(&image, access).binding(name, Binding::Sampled(image))
    }

    /// Binds an image that the shader reads through a sampler.
    pub fn texture(
        self,
        name: &'static str,
        image: impl Into<ImageSource>,
        sampler: SamplerInfo,
    ) -> Self {
        let (image, access) =
            (image.into(), self.access(Access::FragmentSampled, Access::ComputeSampled));
        self.source(&image, access).binding(name, Binding::Texture(image, sampler))
    }

    /// Binds an image that a compute shader writes by texel; its previous content is discarded.
    pub fn image_written(self, name: &'static str, image: ImageHandle) -> Self {
        self.assert_compute();
        let image = image.into();
        self.source(&image, Access::ComputeStorageWrite).binding(name, Binding::StorageImage(image))
    }

    /// Binds an image that the shader loads by texel as a storage image.
    pub fn image_loaded(self, name: &'static str, image: ImageHandle) -> Self {
        let (image, access) =
            (image.into(), self.access(Access::FragmentStorageRead, Access::ComputeStorageRead));
        self.source(&image, access).binding(name, Binding::StorageImage(image))
    }

    /// Binds an image that a compute shader loads and stores by texel.
    pub fn image_updated(self, name: &'static str, image: ImageHandle) -> Self {
        self.assert_compute();
        let image = image.into();
        self.source(&image, Access::ComputeStorageReadWrite)
            .binding(name, Binding::StorageImage(image))
    }

    /// Binds a uniform buffer that holds this value; `label` names the buffer, which is made when the
    /// pass is recorded.
    pub fn uniform_value(
        self,
        name: &'static str,
        label: &str,
        value: &impl bytemuck::Pod,
    ) -> Self {
        self.binding(name, Binding::Constants(label.to_owned(), bytemuck::bytes_of(value).to_vec()))
    }

    /// Binds a storage buffer of the graph that the vertex shader reads.
    pub fn vertex_storage(self, name: &'static str, buffer: BufferHandle) -> Self {
        self.assert_graphics();
        self.uses(buffer, Access::VertexStorageRead).binding(name, Binding::Storage(buffer.into()))
    }

    /// Binds a uniform buffer of the caller.
    pub fn uniform(self, name: &'static str, buffer: &Arc<Buffer>) -> Self {
        self.binding(name, Binding::Uniform(Arc::clone(buffer)))
    }

    /// Binds a storage buffer that the shader reads.
    pub fn storage(self, name: &'static str, buffer: impl Into<BufferSource>) -> Self {
        let (buffer, access) =
            (buffer.into(), self.access(Access::FragmentStorageRead, Access::ComputeStorageRead));
        self.source(&buffer, access).binding(name, Binding::Storage(buffer))
    }

    /// Binds a storage buffer that a compute shader writes; its previous content is discarded.
    pub fn written(self, name: &'static str, buffer: BufferHandle) -> Self {
        self.assert_compute();
        let buffer = buffer.into();
        self.source(&buffer, Access::ComputeStorageWrite).binding(name, Binding::Storage(buffer))
    }

    /// Binds a storage buffer that a compute shader reads and writes.
    pub fn updated(self, name: &'static str, buffer: BufferHandle) -> Self {
        self.assert_compute();
        let buffer = buffer.into();
        self.source(&buffer, Access::ComputeStorageReadWrite)
            .binding(name, Binding::Storage(buffer))
    }

    /// Binds objects of the caller. This declares no access: if a pass of the frame writes an object,
    /// declare the access with [`BoundPass::also_uses`].
    pub fn binds<'b>(mut self, binds: impl IntoIterator<Item = (&'static str, Bind<'b>)>) -> Self {
        self.bindings.extend(binds.into_iter().map(|(name, bind)| {
            let binding = match bind {
                Bind::Uniform(buffer) => Binding::Uniform(Arc::clone(buffer)),
                Bind::Storage(buffer) => Binding::Storage(buffer.into()),
                Bind::Sampled(image) => Binding::Sampled(image.into()),
                Bind::Texture(image, sampler) => Binding::Texture(image.into(), sampler),
                Bind::StorageImage(image) => Binding::StorageImage(image.into()),
                Bind::Structure(tlas) => Binding::Structure(Arc::clone(tlas)),
            };
            (name, binding)
        }));
        self
    }

    /// Applies a change of the declaration if there is a value.
    pub fn with<T>(self, value: Option<T>, apply: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => apply(self, value),
            None => self,
        }
    }

    /// Declares accesses that no binding states, such as those of a BVH that earlier passes write.
    pub fn also_uses(mut self, uses: impl IntoIterator<Item = (BufferHandle, Access)>) -> Self {
        for (buffer, access) in uses {
            self = self.uses(buffer, access);
        }
        self
    }

    /// Sets the push constants.
    ///
    /// # Panics
    /// At recording, if the size differs from that of the shaders' block: a programming error.
    pub fn push(mut self, constants: &impl bytemuck::Pod) -> Self {
        self.constants = bytemuck::bytes_of(constants).to_vec();
        self
    }

    /// Adds a color attachment that is cleared to zero.
    pub fn target(self, image: ImageHandle) -> Self {
        self.target_cleared(image, [0.0; 4])
    }

    /// Adds a color attachment that is cleared to a value.
    pub fn target_cleared(mut self, image: ImageHandle, value: [f32; 4]) -> Self {
        self.assert_graphics();
        self.pass = self.pass.color_cleared(image, value);
        self
    }

    /// Adds a color attachment that keeps its content.
    pub fn target_loaded(mut self, image: ImageHandle) -> Self {
        self.assert_graphics();
        self.pass = self.pass.color_loaded(image);
        self
    }

    /// Adds the depth attachment, cleared (to 0, the far end of reversed depth), tested and
    /// written.
    pub fn depth_cleared(mut self, image: ImageHandle) -> Self {
        self.assert_graphics();
        self.pass = self.pass.depth_cleared(image);
        self
    }

    /// Adds the depth attachment, tested and not written.
    pub fn depth_tested(mut self, image: ImageHandle) -> Self {
        self.assert_graphics();
        self.pass = self.pass.depth_tested(image);
        self
    }

    /// Ends the declaration: draws one triangle that covers the image.
    pub fn draw(self) {
        self.assert_graphics();
        self.record(|cx| {
            cx.rec.draw_fullscreen();
            Ok(())
        });
    }

    /// Ends the declaration: draws vertices that the pipeline makes.
    pub fn draw_vertices(self, vertices: u32, instances: u32) {
        self.assert_graphics();
        self.record(move |cx| {
            cx.rec.draw(vertices, instances);
            Ok(())
        });
    }

    /// Ends the declaration: draws with the command at `offset` (bytes) of a buffer.
    pub fn draw_indirect(mut self, command: BufferHandle, offset: u64) {
        self.assert_graphics();
        self.pass = self.pass.uses(command, Access::Indirect);
        self.record(move |cx| {
            let command = cx.buffer(command);
            cx.rec.draw_indirect(&command, offset);
            Ok(())
        });
    }

    /// Ends the declaration: dispatches work groups.
    pub fn dispatch(self, [x, y, z]: [u32; 3]) {
        self.assert_compute();
        self.record(move |cx| {
            cx.rec.dispatch(x, y, z);
            Ok(())
        });
    }

    /// Ends the declaration: dispatches the work groups at `offset` (bytes) of a buffer.
    pub fn dispatch_indirect(mut self, groups: BufferHandle, offset: u64) {
        self.assert_compute();
        self.pass = self.pass.uses(groups, Access::Indirect);
        self.record(move |cx| {
            let groups = cx.buffer(groups);
            cx.rec.dispatch_indirect(&groups, offset);
            Ok(())
        });
    }

    fn record(self, run: impl FnOnce(&mut PassContext<'_, '_>) -> GpuResult<()> + 'static) {
        let Self { pass, pipeline, bindings, constants } = self;
        pass.record(move |cx| {
            let resolved = bindings
                .iter()
                .map(|(name, binding)| Ok((*name, binding.resolve(cx)?)))
                .collect::<GpuResult<Vec<_>>>()?;
            let binds: Vec<_> =
                resolved.iter().map(|(name, resolved)| (*name, resolved.bind())).collect();
            match pipeline {
                Pipeline::Graphics(pipeline) => {
                    let pipeline = pipeline()?;
                    cx.rec.bind_graphics(&pipeline, &binds)?;
                    if !constants.is_empty() {
                        cx.rec.push_graphics_bytes(&pipeline, &constants);
                    }
                }
                Pipeline::Compute(pipeline) => {
                    let pipeline = pipeline()?;
                    cx.rec.bind_compute(&pipeline, &binds)?;
                    if !constants.is_empty() {
                        cx.rec.push_compute_bytes(&pipeline, &constants);
                    }
                }
            }
            run(cx)
        });
    }
}
