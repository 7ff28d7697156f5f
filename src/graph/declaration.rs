//! Declaration of a frame: resources, and passes with their accesses.

use std::{collections::HashMap, sync::Arc};

use ash::vk;

use super::{
    access::Access,
    plan::{self, PassInfo},
    resource::{BufferHandle, Handle, ImageHandle, Kind, Resource, SharedImage},
};
use crate::gpu::{Buffer, GpuResult, Image, Recorder};

pub(super) type Body<'a> = Box<dyn FnOnce(&mut PassContext<'_, '_>) -> GpuResult<()> + 'a>;

pub(super) struct Pass<'a> {
    pub(super) info: PassInfo,
    pub(super) colors: Vec<(usize, Option<[f32; 4]>)>,
    pub(super) depth: Option<(usize, Option<f32>, bool)>,
    pub(super) body: Body<'a>,
}

/// Declarations of a frame's resources and passes.
#[derive(Default)]
pub struct Graph<'a> {
    pub(super) resources: Vec<Resource>,
    pub(super) passes: Vec<Pass<'a>>,
    pub(super) outputs: Vec<usize>,
    pub(super) externals: HashMap<usize, Arc<Buffer>>,
    pub(super) shared: HashMap<usize, Arc<SharedImage>>,
    frame: u64,
}

/// Images and buffers of a frame, by the indices of their handles.
#[derive(Clone, Copy)]
pub(super) struct Objects<'r> {
    pub(super) images: &'r [Option<Arc<Image>>],
    pub(super) buffers: &'r [Option<Arc<Buffer>>],
}

impl<'r> Objects<'r> {
    /// # Panics
    /// If no pass declared the image, which is a programming error.
    pub(super) fn image(self, handle: ImageHandle) -> &'r Arc<Image> {
        match self.images.get(handle.0) {
            Some(Some(image)) => image,
            _ => panic!("an image that no pass declared"),
        }
    }

    /// # Panics
    /// If no pass declared the buffer, which is a programming error.
    pub(super) fn buffer(self, handle: BufferHandle) -> &'r Arc<Buffer> {
        match self.buffers.get(handle.0) {
            Some(Some(buffer)) => buffer,
            _ => panic!("a buffer that no pass declared"),
        }
    }
}

/// Context of a pass body.
pub struct PassContext<'r, 'f> {
    /// Recorder of the pass's commands.
    pub rec: &'r mut Recorder<'f>,
    pub(super) objects: Objects<'r>,
}

impl PassContext<'_, '_> {
    /// The image of a handle.
    ///
    /// # Panics
    /// If the pass did not declare it, which is a programming error.
    #[must_use]
    pub fn image(&self, handle: ImageHandle) -> Arc<Image> {
        Arc::clone(self.objects.image(handle))
    }

    /// The buffer of a handle.
    ///
    /// # Panics
    /// If the pass did not declare it, which is a programming error.
    #[must_use]
    pub fn buffer(&self, handle: BufferHandle) -> Arc<Buffer> {
        Arc::clone(self.objects.buffer(handle))
    }
}

/// Builder of one pass.
pub struct PassBuilder<'g, 'a> {
    graph: &'g mut Graph<'a>,
    pub(super) info: PassInfo,
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

    /// Declares an image of zeros.
    pub fn black_image(
        &mut self,
        name: &str,
        width: u32,
        height: u32,
        format: vk::Format,
    ) -> ImageHandle {
        let image = self.image(name, width, height, format);
        self.pass(name).color_cleared(image, [0.0; 4]).record(|_| Ok(()));
        image
    }

    /// Declares a pass that fills buffers with zeros.
    pub fn clear_buffers<const N: usize>(&mut self, name: &str, buffers: [BufferHandle; N]) {
        let pass =
            buffers.iter().fold(self.pass(name), |pass, &buffer| pass.uses(buffer, Access::Fill));
        pass.record(move |cx| {
            for buffer in buffers {
                let buffer = cx.buffer(buffer);
                cx.rec.fill(&buffer, 0);
            }
            Ok(())
        });
    }

    /// Declares the copy of a host buffer with packed rows to an image.
    pub fn upload(&mut self, name: &str, from: Arc<Buffer>, image: ImageHandle) {
        self.pass(name).uses(image, Access::CopyTo).record(move |cx| {
            let image = cx.image(image);
            cx.rec.copy_buffer_to_image(&from, 0, &image, 0);
            Ok(())
        });
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

    /// Declares the copy of `size` bytes of a buffer to a host buffer.
    pub fn read_back_buffer(&mut self, name: &str, from: BufferHandle, size: u64) -> BufferHandle {
        let out = self.readback(&format!("{name} on the host"), size);
        self.pass(&format!("read back {name}"))
            .uses(from, Access::CopyFrom)
            .uses(out, Access::CopyTo)
            .record(move |cx| {
                let (from, to) = (cx.buffer(from), cx.buffer(out));
                cx.rec.copy_buffer(&from, &to, 0, 0, size);
                Ok(())
            });
        out
    }
}
