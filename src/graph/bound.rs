//! Passes that run one pipeline, or several with common resources. Each resource is named once: its
//! binding declares the access, and the frame graph resolves the object when the pass is recorded.

use std::sync::Arc;

use super::{
    access::Access,
    declaration::{Graph, Objects, PassBuilder, PassContext},
    resource::{BufferHandle, Handle, ImageHandle},
};
use crate::gpu::{
    Bind, Buffer, BufferKind, ComputePipeline, Gpu, GpuResult, GraphicsPipeline, Image,
    SamplerInfo, Tlas,
};

/// Makes or finds a pipeline when the pass is recorded.
type PipelineSource<'a, T> = Box<dyn FnOnce() -> GpuResult<Arc<T>> + 'a>;

/// The pipeline of a bound pass; `None`: the closure of [`BoundPass::record`] binds pipelines.
enum Pipeline<'a> {
    Graphics(Option<PipelineSource<'a, GraphicsPipeline>>),
    Compute(Option<PipelineSource<'a, ComputePipeline>>),
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
    fn object<'b>(&'b self, find: impl FnOnce(H) -> &'b Arc<T>) -> &'b Arc<T> {
        match self {
            Self::Graph(handle) => find(*handle),
            Self::Caller(object) => object,
        }
    }
}

/// A bound resource.
enum Binding {
    Uniform(Arc<Buffer>),
    Storage(BufferSource),
    /// Uniform or storage buffer that is made with these bytes when the pass is recorded.
    Values {
        label: String,
        bytes: Vec<u8>,
        into_binding: fn(Arc<Buffer>) -> Binding,
    },
    Sampled(ImageSource),
    Texture(ImageSource, SamplerInfo),
    StorageImage(ImageSource),
    Structure(Arc<Tlas>),
}

impl Binding {
    fn values<T: bytemuck::Pod>(
        label: &str,
        values: &[T],
        into_binding: fn(Arc<Buffer>) -> Self,
    ) -> Self {
        let mut bytes = bytemuck::cast_slice(values).to_vec();
        bytes.resize(bytes.len().max(size_of::<T>()), 0);
        Self::Values { label: label.to_owned(), bytes, into_binding }
    }

    /// Makes the buffer of values.
    fn make_buffer(&mut self, gpu: &Gpu) -> GpuResult<()> {
        if let Self::Values { label, bytes, into_binding } = self {
            let buffer = Buffer::new(gpu, label, bytes.len() as u64, BufferKind::Dynamic)?;
            buffer.write(0, bytes);
            *self = into_binding(buffer);
        }
        Ok(())
    }

    /// The binding with its object; `None` for values without a buffer.
    fn bind<'b>(&'b self, objects: Objects<'b>) -> Option<Bind<'b>> {
        let buffer = |source: &'b BufferSource| source.object(|handle| objects.buffer(handle));
        let image = |source: &'b ImageSource| source.object(|handle| objects.image(handle));
        Some(match self {
            Self::Uniform(buffer) => Bind::Uniform(buffer),
            Self::Storage(source) => Bind::Storage(buffer(source)),
            Self::Values { .. } => return None,
            Self::Sampled(source) => Bind::Sampled(image(source)),
            Self::Texture(source, sampler) => Bind::Texture(image(source), *sampler),
            Self::StorageImage(source) => Bind::StorageImage(image(source)),
            Self::Structure(tlas) => Bind::Structure(tlas),
        })
    }
}

/// A binding with the name of its shader variable.
struct NamedBinding {
    name: &'static str,
    /// Group of [`BoundPass::group`].
    group: Option<&'static str>,
    binding: Binding,
}

/// Bound resources of a pass when it is recorded, by the names of their shader variables.
pub struct Bindings<'b> {
    bindings: &'b [NamedBinding],
    objects: Objects<'b>,
}

impl<'b> Bindings<'b> {
    /// Resources of no group.
    #[must_use]
    pub fn common(&self) -> Vec<(&'static str, Bind<'b>)> {
        self.select(|group| group.is_none())
    }

    /// Resources of no group, and of this one.
    #[must_use]
    pub fn with_group(&self, name: &str) -> Vec<(&'static str, Bind<'b>)> {
        self.select(|group| group.is_none_or(|group| group == name))
    }

    fn select(
        &self,
        in_group: impl Fn(Option<&'static str>) -> bool,
    ) -> Vec<(&'static str, Bind<'b>)> {
        self.bindings
            .iter()
            .filter(|named| in_group(named.group))
            .filter_map(|named| Some((named.name, named.binding.bind(self.objects)?)))
            .collect()
    }
}

/// Builder of a pass whose resources are bound by name. It begins with [`Graph::fullscreen`] or
/// [`Graph::compute`] (or their `_with` forms) if it runs one pipeline, otherwise with
/// [`Graph::draws`] or [`Graph::dispatches`]. An end method such as [`BoundPass::draw`] or
/// [`BoundPass::record`] declares the pass.
///
/// Names are those of the shader variables (of blocks, for buffers). Recording fails with
/// `GpuError::Pipeline` if the pipeline does not declare a name or declares another kind of
/// resource, or if a variable is left unbound.
#[must_use = "an end method such as `draw`, `dispatch` or `record` declares the pass"]
pub struct BoundPass<'g, 'a> {
    pass: PassBuilder<'g, 'a>,
    pipeline: Pipeline<'a>,
    bindings: Vec<NamedBinding>,
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
        self.bound(name, Pipeline::Graphics(Some(Box::new(pipeline))))
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
        self.bound(name, Pipeline::Compute(Some(Box::new(pipeline))))
    }

    /// Starts the declaration of a pass that ends with [`BoundPass::record`], whose closure binds
    /// graphics pipelines and draws.
    pub fn draws(&mut self, name: &str) -> BoundPass<'_, 'a> {
        self.bound(name, Pipeline::Graphics(None))
    }

    /// Starts the declaration of a pass that ends with [`BoundPass::record`], whose closure binds
    /// compute pipelines and dispatches.
    pub fn dispatches(&mut self, name: &str) -> BoundPass<'_, 'a> {
        self.bound(name, Pipeline::Compute(None))
    }

    fn bound(&mut self, name: &str, pipeline: Pipeline<'a>) -> BoundPass<'_, 'a> {
        BoundPass { pass: self.pass(name), pipeline, bindings: Vec::new(), constants: Vec::new() }
    }
}

impl<'a> BoundPass<'_, 'a> {
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

    /// # Panics
    /// If the pass has no graphics pipeline of its own: a programming error.
    fn assert_graphics_pipeline(&self) {
        let has_pipeline = matches!(self.pipeline, Pipeline::Graphics(Some(_)));
        assert!(has_pipeline, "'{}' has no graphics pipeline", self.pass.info.name);
    }

    /// # Panics
    /// If the pass has no compute pipeline of its own: a programming error.
    fn assert_compute_pipeline(&self) {
        let has_pipeline = matches!(self.pipeline, Pipeline::Compute(Some(_)));
        assert!(has_pipeline, "'{}' has no compute pipeline", self.pass.info.name);
    }

    /// True if the pass has a compute pipeline.
    #[must_use]
    pub const fn is_compute(&self) -> bool {
        matches!(self.pipeline, Pipeline::Compute(_))
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
        self.bindings.push(NamedBinding { name, group: None, binding });
        self
    }

    /// Binds an image that the shader reads by texel.
    pub fn sampled(self, name: &'static str, image: impl Into<ImageSource>) -> Self {
        let (image, access) =
            (image.into(), self.access(Access::FragmentSampled, Access::ComputeSampled));
        self.source(&image, access).binding(name, Binding::Sampled(image))
    }

    /// Binds images that the shader reads by texel.
    pub fn sampled_each<I: Into<ImageSource>>(
        self,
        images: impl IntoIterator<Item = (&'static str, I)>,
    ) -> Self {
        images.into_iter().fold(self, |pass, (name, image)| pass.sampled(name, image))
    }

    /// Declares images that the shader samples by bindings that the closure of
    /// [`BoundPass::record`] makes.
    pub fn samples(self, images: impl IntoIterator<Item = ImageHandle>) -> Self {
        let access = self.access(Access::FragmentSampled, Access::ComputeSampled);
        images.into_iter().fold(self, |pass, image| pass.uses(image, access))
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

    /// Binds a storage image, whose access another binding declares, under a further name.
    pub fn image_bound_again(self, name: &'static str, image: ImageHandle) -> Self {
        self.binding(name, Binding::StorageImage(image.into()))
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

    /// Binds a uniform buffer that holds this value; `label` names the buffer, which is made when
    /// the pass is recorded.
    pub fn uniform_value(
        self,
        name: &'static str,
        label: &str,
        value: &impl bytemuck::Pod,
    ) -> Self {
        let values = std::slice::from_ref(value);
        self.binding(name, Binding::values(label, values, Binding::Uniform))
    }

    /// Binds a storage buffer that holds these values; `label` names the buffer, which is made when
    /// the pass is recorded.
    pub fn storage_values<T: bytemuck::Pod>(
        self,
        name: &'static str,
        label: &str,
        values: &[T],
    ) -> Self {
        let into_binding = |buffer| Binding::Storage(BufferSource::Caller(buffer));
        self.binding(name, Binding::values(label, values, into_binding))
    }

    /// Binds a storage buffer that the vertex shader reads.
    pub fn vertex_storage(self, name: &'static str, buffer: impl Into<BufferSource>) -> Self {
        self.assert_graphics();
        let buffer = buffer.into();
        self.source(&buffer, Access::VertexStorageRead).binding(name, Binding::Storage(buffer))
    }

    /// Declares the vertex buffer, if a pass of the frame writes it.
    pub fn vertices(self, buffer: Option<BufferHandle>) -> Self {
        self.assert_graphics();
        self.with(buffer, |pass, buffer| pass.uses(buffer, Access::VertexFetch))
    }

    /// Declares a buffer of indirect draw or dispatch commands.
    pub fn commands(self, buffer: BufferHandle) -> Self {
        self.uses(buffer, Access::Indirect)
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

    /// Binds a storage buffer that the shader writes; its previous content is discarded.
    pub fn written(self, name: &'static str, buffer: BufferHandle) -> Self {
        let (buffer, access) =
            (buffer.into(), self.access(Access::FragmentStorageWrite, Access::ComputeStorageWrite));
        self.source(&buffer, access).binding(name, Binding::Storage(buffer))
    }

    /// Binds a storage buffer that the shader reads and writes.
    pub fn updated(self, name: &'static str, buffer: BufferHandle) -> Self {
        let (fragment, compute) =
            (Access::FragmentStorageReadWrite, Access::ComputeStorageReadWrite);
        let (buffer, access) = (buffer.into(), self.access(fragment, compute));
        self.source(&buffer, access).binding(name, Binding::Storage(buffer))
    }

    /// Binds objects of the caller. This declares no access: if a pass of the frame writes an
    /// object, declare the access with [`BoundPass::also_uses`].
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
            NamedBinding { name, group: None, binding }
        }));
        self
    }

    /// Collects the bindings that `declare` adds in a group, for those of the pass's pipelines that
    /// are bound with it ([`Bindings::with_group`]).
    pub fn group(self, name: &'static str, declare: impl FnOnce(Self) -> Self) -> Self {
        let first = self.bindings.len();
        let mut pass = declare(self);
        pass.bindings.iter_mut().skip(first).for_each(|named| named.group = Some(name));
        pass
    }

    /// Declares accesses in any case, but binds the resources that `declare` adds only on a
    /// condition, for variants of a pipeline that do not declare them.
    pub fn bound_if(self, condition: bool, declare: impl FnOnce(Self) -> Self) -> Self {
        let first = self.bindings.len();
        let mut pass = declare(self);
        if !condition {
            pass.bindings.truncate(first);
        }
        pass
    }

    /// Applies a change of the declaration if there is a value.
    pub fn with<T>(self, value: Option<T>, apply: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => apply(self, value),
            None => self,
        }
    }

    /// Declares accesses that no binding states, such as those of a BVH that earlier passes write.
    pub fn also_uses(self, uses: impl IntoIterator<Item = (BufferHandle, Access)>) -> Self {
        uses.into_iter().fold(self, |pass, (buffer, access)| pass.uses(buffer, access))
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

    /// Adds the depth attachment with its content, tested and written.
    pub fn depth_loaded(mut self, image: ImageHandle) -> Self {
        self.assert_graphics();
        self.pass = self.pass.depth_loaded(image);
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
        self.assert_graphics_pipeline();
        self.record(|cx, _| {
            cx.rec.draw_fullscreen_in_parts();
            Ok(())
        });
    }

    /// Ends the declaration: draws vertices that the pipeline makes.
    pub fn draw_vertices(self, vertices: u32, instances: u32) {
        self.assert_graphics_pipeline();
        self.record(move |cx, _| {
            cx.rec.draw(vertices, instances);
            Ok(())
        });
    }

    /// Ends the declaration: draws with the command at `offset` (bytes) of a buffer.
    pub fn draw_indirect(self, command: BufferHandle, offset: u64) {
        self.assert_graphics_pipeline();
        self.commands(command).record(move |cx, _| {
            let command = cx.buffer(command);
            cx.rec.draw_indirect(&command, offset);
            Ok(())
        });
    }

    /// Ends the declaration: dispatches work groups. In a frame that can be interrupted, they run
    /// in parts, unless the shader reads `gl_NumWorkGroups.x`.
    pub fn dispatch(self, [x, y, z]: [u32; 3]) {
        self.assert_compute_pipeline();
        self.record(move |cx, _| {
            cx.rec.dispatch_in_parts(x, y, z);
            Ok(())
        });
    }

    /// Ends the declaration: dispatches work groups at `offset` (bytes) of a buffer.
    pub fn dispatch_indirect(self, groups: BufferHandle, offset: u64) {
        self.assert_compute_pipeline();
        self.commands(groups).record(move |cx, _| {
            let groups = cx.buffer(groups);
            cx.rec.dispatch_indirect(&groups, offset);
            Ok(())
        });
    }

    /// Ends the declaration: dispatches work groups for each of these push constants, without
    /// barriers in between.
    ///
    /// # Panics
    /// If the pass has no compute pipeline: a programming error.
    pub fn dispatch_each<T: bytemuck::Pod>(
        mut self,
        jobs: impl IntoIterator<Item = (T, [u32; 3])>,
    ) {
        let Pipeline::Compute(Some(pipeline)) = self.pipeline else {
            panic!("'{}' has no compute pipeline", self.pass.info.name)
        };
        self.pipeline = Pipeline::Compute(None);
        let jobs: Vec<(T, [u32; 3])> = jobs.into_iter().collect();
        self.record(move |cx, bindings| {
            let pipeline = pipeline()?;
            cx.rec.bind_compute(&pipeline, &bindings.common())?;
            for (constants, [x, y, z]) in jobs {
                cx.rec.push_compute(&pipeline, &constants);
                cx.rec.dispatch(x, y, z);
            }
            Ok(())
        });
    }

    /// Ends the declaration: records the commands of a closure, with the pass's pipeline bound, if
    /// it has one.
    pub fn record(
        self,
        run: impl FnOnce(&mut PassContext<'_, '_>, &Bindings<'_>) -> GpuResult<()> + 'a,
    ) {
        let Self { pass, pipeline, mut bindings, constants } = self;
        pass.record(move |cx| {
            for named in &mut bindings {
                named.binding.make_buffer(cx.rec.gpu())?;
            }
            let bindings = Bindings { bindings: &bindings, objects: cx.objects };
            match pipeline {
                Pipeline::Graphics(Some(pipeline)) => {
                    let pipeline = pipeline()?;
                    cx.rec.bind_graphics(&pipeline, &bindings.common())?;
                    if !constants.is_empty() {
                        cx.rec.push_graphics_bytes(&pipeline, &constants);
                    }
                }
                Pipeline::Compute(Some(pipeline)) => {
                    let pipeline = pipeline()?;
                    cx.rec.bind_compute(&pipeline, &bindings.common())?;
                    if !constants.is_empty() {
                        cx.rec.push_compute_bytes(&pipeline, &constants);
                    }
                }
                Pipeline::Graphics(None) | Pipeline::Compute(None) => {}
            }
            run(cx, &bindings)
        });
    }
}
