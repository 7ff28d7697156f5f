//! Draws egui's output on the device: to a window, or to an image for tests and screenshots.

use std::sync::Arc;

use egui::{
    TextureId, TexturesDelta,
    epaint::{ClippedPrimitive, ImageData, Primitive},
};

use crate::{
    camera::{DisplayEncoding, DisplayRange},
    gpu::{
        Buffer, BufferKind, Frames, Gpu, GpuResult, Image, ImageInfo,
        readback::texel_size,
        vk,
        window::{PresentResult, Swapchain},
    },
    graph::{Access, Graph, GraphCache, ImageHandle, SharedImage},
    passes::{
        hdr_display::{HdrPass, INTERFACE},
        tonemap::DisplayTransform,
        ui::{UiDraw, UiPass, UiPixels, UiShapes, UiVertex},
    },
};

/// Texture id of the HDR picture; egui's own ids count up from 0.
pub const HDR_IMAGE: TextureId = TextureId::User(u64::MAX);

/// A picture in nits, for HDR displays.
#[derive(Clone, Copy, Debug)]
pub struct HdrImage<'a> {
    /// Unique number of the picture.
    pub number: u64,
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// Scene-linear Rec.709 (nit), top row first.
    pub nits: &'a [[f32; 3]],
    /// Multiplier from nits to exposed values.
    pub multiplier: f64,
    /// Transform to the display; its dither is ignored.
    pub to_display: DisplayTransform,
}

/// Resources for HDR displays.
struct Beyond {
    pass: HdrPass,
    encoding: DisplayEncoding,
    range: DisplayRange,
    picture: Option<Arc<SharedImage>>,
    /// The picture and display range that the image was made for.
    of: Option<(u64, DisplayRange)>,
    /// Pixels that the next frame uploads.
    fresh: Option<(Arc<Buffer>, DisplayTransform)>,
}

impl Beyond {
    /// The picture in the graph, with the newest pixels.
    fn picture(&mut self, graph: &mut Graph<'_>) -> Option<ImageHandle> {
        let shared = self.picture.as_ref()?;
        let handle = graph.shared(shared);
        if let Some((light, settings)) = self.fresh.take() {
            let info = shared.image().info();
            self.pass.declare_tonemap(
                graph,
                (light, [info.width, info.height]),
                handle,
                settings,
                self.range,
            );
            graph.output(handle);
        }
        Some(handle)
    }
}

/// The number of a texture; all but the HDR picture are egui's own.
fn number(texture: egui::TextureId) -> u64 {
    match texture {
        egui::TextureId::Managed(number) | egui::TextureId::User(number) => number,
    }
}

/// Declares the passes that draw to a target.
fn declare(
    (pass, beyond): (&mut UiPass, &mut Option<Beyond>),
    graph: &mut Graph<'_>,
    (target, size): (ImageHandle, [u32; 2]),
    shapes: &UiShapes,
) -> GpuResult<()> {
    let Some(beyond) = beyond else { return pass.declare(graph, (target, size), shapes, None) };
    let picture = beyond.picture(graph).map(|handle| (number(HDR_IMAGE), handle));
    let interface = graph.image("interface", size[0], size[1], INTERFACE);
    pass.declare(graph, (interface, size), shapes, picture)?;
    beyond.pass.declare_encode(graph, interface, target, beyond.encoding, beyond.range);
    Ok(())
}

/// Draws the interface.
pub struct Painter {
    gpu: Gpu,
    pass: UiPass,
    cache: GraphCache,
    frames: Frames,
    format: vk::Format,
    beyond: Option<Beyond>,
    number: u64,
    free_next: Vec<u64>,
}

impl Painter {
    /// A painter for targets of this format.
    ///
    /// # Errors
    /// A pipeline that the driver rejects; out of memory.
    pub fn new(gpu: &Gpu, format: vk::Format) -> GpuResult<Self> {
        Ok(Self {
            gpu: gpu.clone(),
            pass: UiPass::new(gpu, format)?,
            cache: GraphCache::default(),
            frames: Frames::new(gpu, 2)?,
            format,
            beyond: None,
            number: 0,
            free_next: Vec::new(),
        })
    }

    /// The format of its targets.
    #[must_use]
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// The encoding of its targets.
    #[must_use]
    pub fn encoding(&self) -> DisplayEncoding {
        self.beyond.as_ref().map_or(DisplayEncoding::Srgb, |beyond| beyond.encoding)
    }

    /// Changes the format and encoding of its targets.
    ///
    /// # Errors
    /// A pipeline that the driver rejects; a lost device.
    pub fn aim_at(&mut self, format: vk::Format, encoding: DisplayEncoding) -> GpuResult<()> {
        self.settle()?;
        self.beyond = match encoding {
            DisplayEncoding::Srgb => None,
            DisplayEncoding::ScRgb | DisplayEncoding::Hdr10 => {
                let pass = HdrPass::new(&self.gpu, format)?;
                Some(Beyond {
                    pass,
                    encoding,
                    range: DisplayRange::default(),
                    picture: None,
                    of: None,
                    fresh: None,
                })
            }
        };
        self.pass.set_format(if self.beyond.is_some() { INTERFACE } else { format })?;
        self.format = format;
        Ok(())
    }

    /// Sets the picture that `PICTURE` refers to, and the display range. Without an HDR display it
    /// does nothing.
    ///
    /// # Errors
    /// Out of memory.
    pub fn set_hdr_image(
        &mut self,
        light: Option<HdrImage<'_>>,
        range: DisplayRange,
    ) -> GpuResult<()> {
        let Some(beyond) = &mut self.beyond else { return Ok(()) };
        beyond.range = range;
        let Some(light) = light else { return Ok(()) };
        let [width, height] = light.size;
        let pixels = width * height;
        if beyond.of == Some((light.number, range)) || pixels == 0 || light.nits.len() != pixels {
            return Ok(());
        }
        let exposed: Vec<[f32; 4]> = light
            .nits
            .iter()
            .map(|nits| {
                let [r, g, b] = nits.map(|nits| (f64::from(nits) * light.multiplier) as f32);
                [r, g, b, 1.0]
            })
            .collect();
        let bytes: &[u8] = bytemuck::cast_slice(&exposed);
        let staging =
            Buffer::new(&self.gpu, "exposed picture", bytes.len() as u64, BufferKind::Staging)?;
        staging.write(0, bytes);
        let fits = beyond.picture.as_ref().is_some_and(|picture| {
            let info = picture.image().info();
            [info.width as usize, info.height as usize] == light.size
        });
        if !fits {
            let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::COLOR_ATTACHMENT;
            let info = ImageInfo {
                width: width as u32,
                height: height as u32,
                mips: 1,
                format: INTERFACE,
                usage,
            };
            beyond.picture = Some(SharedImage::new(Image::new(&self.gpu, "hdr tonemap", info)?));
        }
        beyond.fresh = Some((staging, light.to_display));
        beyond.of = Some((light.number, range));
        Ok(())
    }

    /// Takes changed textures and the shapes as triangles.
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
        let changes = delta
            .set
            .iter()
            .flat_map(|(texture, changes)| changes.iter().map(move |change| (texture, change)));
        let mut pixels = Vec::new();
        for (texture, change) in changes {
            let ImageData::Color(image) = &change.image;
            let rgba = image.as_raw().to_vec();
            let nearest = change.options.magnification == egui::TextureFilter::Nearest;
            pixels.push(UiPixels {
                texture: number(*texture),
                at: change.pos,
                size: image.size,
                rgba,
                nearest,
            });
        }
        // This frame still draws them; they are freed with the next.
        self.free_next.extend(delta.free.iter().map(|texture| number(*texture)));
        // egui expects the delta to be cleared once it is applied.
        delta.clear();
        for pixels in &pixels {
            self.pass.set(pixels)?;
        }
        let mut shapes = UiShapes { scale, ..UiShapes::default() };
        for primitive in primitives {
            let Primitive::Mesh(mesh) = &primitive.primitive else { continue };
            let clip = primitive.clip_rect;
            let side = |low: f32, high: f32, max: u32| {
                let low = (low * scale).round().clamp(0.0, max as f32) as u32;
                let high = (high * scale).round().clamp(0.0, max as f32) as u32;
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

    /// Draws to the window and presents.
    ///
    /// # Errors
    /// A lost device; out of memory.
    pub fn show(&mut self, swapchain: &Swapchain, shapes: &UiShapes) -> GpuResult<PresentResult> {
        let mut rec = self.frames.begin()?;
        let Some(acquired) = swapchain.acquire()? else { return Ok(PresentResult::Stale) };
        let mut graph = Graph::new(self.number);
        let window = graph.shared(&SharedImage::new(Arc::clone(&acquired.image)));
        declare(
            (&mut self.pass, &mut self.beyond),
            &mut graph,
            (window, swapchain.size()),
            shapes,
        )?;
        graph.pass("present").uses(window, Access::Present).record(|_| Ok(()));
        graph.output(window);
        graph.execute(&mut rec, &mut self.cache)?;
        self.number += 1;
        let (_, shown) = swapchain.present(rec, &acquired)?;
        Ok(shown)
    }

    /// Draws to an image and reads it back: bytes of the target's format, red first for 8-bit
    /// formats, top row first.
    ///
    /// # Errors
    /// A lost device; out of memory.
    pub fn render_to_bytes(&mut self, size: [u32; 2], shapes: &UiShapes) -> GpuResult<Vec<u8>> {
        let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let info =
            ImageInfo { width: size[0], height: size[1], mips: 1, format: self.format, usage };
        let target = SharedImage::new(Image::new(&self.gpu, "interface to a file", info)?);
        let mut rec = self.frames.begin()?;
        let mut graph = Graph::new(self.number);
        let image = graph.shared(&target);
        declare((&mut self.pass, &mut self.beyond), &mut graph, (image, size), shapes)?;
        let bytes = graph.read_back("interface", image);
        let executed = graph.execute(&mut rec, &mut self.cache)?;
        self.number += 1;
        let ticket = rec.submit()?;
        self.frames.wait(ticket)?;
        let mut rgba =
            executed.buffer(bytes).map_or_else(Vec::new, |buffer| buffer.mapped().to_vec());
        rgba.truncate(size[0] as usize * size[1] as usize * texel_size(self.format) as usize);
        if self.format == vk::Format::B8G8R8A8_UNORM {
            rgba.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
        }
        Ok(rgba)
    }

    /// Waits for all submitted work, as before the window's images are destroyed.
    ///
    /// # Errors
    /// A lost device.
    pub fn settle(&mut self) -> GpuResult<()> {
        self.frames.wait_all()
    }
}
