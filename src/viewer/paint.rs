//! What egui wants drawn, brought to the device: to a window, or to a file for tests and screenshots.

use egui::{
    TexturesDelta,
    epaint::{ClippedPrimitive, ImageData, Primitive},
};

use crate::{
    gpu::{
        Frames, Gpu, GpuResult, Image, ImageInfo, vk,
        window::{Shown, Swapchain},
    },
    graph::{Access, Graph, GraphCache, SharedImage},
    passes::ui::{UiDraw, UiPass, UiPixels, UiShapes, UiVertex},
};

/// The number of a texture: all are egui's own.
fn number(texture: egui::TextureId) -> u64 {
    match texture {
        egui::TextureId::Managed(number) | egui::TextureId::User(number) => number,
    }
}

/// Draws the interface.
pub struct Painter {
    gpu: Gpu,
    pass: UiPass,
    cache: GraphCache,
    frames: Frames,
    format: vk::Format,
    number: u64,
    free_next: Vec<u64>,
}

impl Painter {
    /// For targets of this format.
    ///
    /// # Errors
    /// A pipeline that the driver refuses; out of memory.
    pub fn new(gpu: &Gpu, format: vk::Format) -> GpuResult<Self> {
        Ok(Self {
            gpu: gpu.clone(),
            pass: UiPass::new(gpu, format)?,
            cache: GraphCache::default(),
            frames: Frames::new(gpu, 2)?,
            format,
            number: 0,
            free_next: Vec::new(),
        })
    }

    /// The format of its targets.
    #[must_use]
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// Takes the textures that have changed, and the shapes as triangles.
    ///
    /// # Errors
    /// Out of memory.
    pub fn take(
        &mut self,
        mut delta: TexturesDelta,
        primitives: &[ClippedPrimitive],
        scale: f32,
        size: [u32; 2],
    ) -> GpuResult<UiShapes> {
        for texture in self.free_next.drain(..) {
            self.pass.free(texture);
        }
        let changes =
            delta.set.iter().flat_map(|(texture, changes)| changes.iter().map(move |change| (texture, change)));
        let mut pixels = Vec::new();
        for (texture, change) in changes {
            let ImageData::Color(image) = &change.image;
            let rgba = image.as_raw().to_vec();
            let nearest = change.options.magnification == egui::TextureFilter::Nearest;
            pixels.push(UiPixels { texture: number(*texture), at: change.pos, size: image.size, rgba, nearest });
        }
        // What this frame still draws goes with the next.
        self.free_next.extend(delta.free.iter().map(|texture| number(*texture)));
        // egui wants to be told that all of it was taken.
        delta.clear();
        for pixels in &pixels {
            self.pass.set(pixels)?;
        }
        let mut shapes = UiShapes { scale, ..UiShapes::default() };
        for primitive in primitives {
            let Primitive::Mesh(mesh) = &primitive.primitive else { continue };
            let clip = primitive.clip_rect;
            let side = |low: f32, high: f32, most: u32| {
                let low = (low * scale).round().clamp(0.0, most as f32) as u32;
                let high = (high * scale).round().clamp(0.0, most as f32) as u32;
                (low, high.saturating_sub(low))
            };
            let (left, width) = side(clip.min.x, clip.max.x, size[0]);
            let (top, height) = side(clip.min.y, clip.max.y, size[1]);
            if width == 0 || height == 0 || mesh.indices.is_empty() {
                continue;
            }
            let first = shapes.indices.len() as u32;
            let first_vertex = shapes.vertices.len() as u32;
            shapes.indices.extend_from_slice(&mesh.indices);
            shapes.vertices.extend(mesh.vertices.iter().map(|vertex| UiVertex {
                position: [vertex.pos.x, vertex.pos.y],
                uv: [vertex.uv.x, vertex.uv.y],
                color: vertex.color.to_array(),
            }));
            shapes.draws.push(UiDraw {
                clip: [left, top, width, height],
                indices: first..shapes.indices.len() as u32,
                first_vertex,
                texture: number(mesh.texture_id),
            });
        }
        Ok(shapes)
    }

    /// Draws to the window and shows it.
    ///
    /// # Errors
    /// A lost device; out of memory.
    pub fn show(&mut self, swapchain: &Swapchain, shapes: &UiShapes) -> GpuResult<Shown> {
        let mut rec = self.frames.begin()?;
        let Some(acquired) = swapchain.acquire()? else { return Ok(Shown::Stale) };
        let mut graph = Graph::new(self.number);
        let window = graph.shared(&SharedImage::new(std::sync::Arc::clone(&acquired.image)));
        self.pass.declare(&mut graph, (window, swapchain.size()), shapes)?;
        graph.pass("present").uses(window, Access::Present).record(|_| Ok(()));
        graph.output(window);
        graph.execute(&mut rec, &mut self.cache)?;
        self.number += 1;
        let (_, shown) = swapchain.show(rec, &acquired)?;
        Ok(shown)
    }

    /// Draws to a picture of its own: display bytes, top row first.
    ///
    /// # Errors
    /// A lost device; out of memory.
    pub fn picture(&mut self, size: [u32; 2], shapes: &UiShapes) -> GpuResult<Vec<u8>> {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let info = ImageInfo { width: size[0], height: size[1], mips: 1, format: self.format, usage };
        let target = SharedImage::new(Image::new(&self.gpu, "interface to a file", info)?);
        let mut rec = self.frames.begin()?;
        let mut graph = Graph::new(self.number);
        let image = graph.shared(&target);
        self.pass.declare(&mut graph, (image, size), shapes)?;
        let bytes = graph.read_back("interface", image);
        let executed = graph.execute(&mut rec, &mut self.cache)?;
        self.number += 1;
        let ticket = rec.submit()?;
        self.frames.wait(ticket)?;
        let mut rgba = executed.buffer(bytes).map_or_else(Vec::new, |buffer| buffer.mapped().to_vec());
        rgba.truncate(size[0] as usize * size[1] as usize * 4);
        if self.format == vk::Format::B8G8R8A8_UNORM {
            rgba.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
        }
        Ok(rgba)
    }

    /// Waits for all that is on its way, as before the window's images go.
    ///
    /// # Errors
    /// A lost device.
    pub fn settle(&mut self) -> GpuResult<()> {
        self.frames.wait_all()
    }
}
