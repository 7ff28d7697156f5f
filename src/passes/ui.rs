//! User interface: textured triangles in one image, back to front, with premultiplied alpha.
//!
//! Colors are sRGB bytes and are blended as such, as user interfaces expect. The image's bytes pass
//! unchanged.

use std::{collections::HashMap, ops::Range, sync::Arc};

use crate::{
    gpu::{
        Bind, Buffer, BufferKind, Gpu, GpuResult, GraphicsPipeline, GraphicsState, Image,
        ImageInfo, SamplerInfo, vk,
    },
    gpu_scene::dynamic_buffer,
    graph::{Graph, ImageHandle, SharedImage},
};

/// Vertex of the user interface.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct UiVertex {
    /// Position in points, right and down from the window's upper left corner.
    pub position: [f32; 2],
    /// Texture coordinates, 0 to 1.
    pub uv: [f32; 2],
    /// sRGB bytes, premultiplied by alpha.
    pub color: [u8; 4],
}

/// Triangles with one texture and one clip rectangle.
#[derive(Clone, Debug)]
pub struct UiDraw {
    /// Clip rectangle: left, top, width, height (pixels), within the target.
    pub clip: [u32; 4],
    /// Range of indices.
    pub indices: Range<u32>,
    /// Vertex offset of the draw.
    pub first_vertex: u32,
    /// Texture number.
    pub texture: u64,
}

/// All triangles of a frame, in draw order.
#[derive(Clone, Debug, Default)]
pub struct UiShapes {
    /// Vertices.
    pub vertices: Vec<UiVertex>,
    /// Three indices per triangle, relative to a draw's first vertex.
    pub indices: Vec<u32>,
    /// Draws, in order.
    pub draws: Vec<UiDraw>,
    /// Pixels per point.
    pub scale: f32,
}

/// Pixels of a whole texture, or an update of a part.
#[derive(Clone, Debug)]
pub struct UiPixels {
    /// Texture number.
    pub texture: u64,
    /// Upper left corner of the update; `None` recreates the texture at this size.
    pub at: Option<[usize; 2]>,
    /// Width and height (pixels).
    pub size: [usize; 2],
    /// sRGB bytes, premultiplied by alpha.
    pub rgba: Vec<u8>,
    /// Nearest-neighbor instead of linear magnification.
    pub nearest: bool,
}

struct Texture {
    image: Arc<SharedImage>,
    /// Host copy of the pixels, if they came from the host.
    rgba: Vec<u8>,
    changed: bool,
    nearest: bool,
}

/// Push constants of the vertex shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Constants {
    /// Points to clip space, per axis.
    scale: [f32; 2],
}

/// Textures and pipeline of the user interface.
pub struct UiPass {
    pipeline: Arc<GraphicsPipeline>,
    textures: HashMap<u64, Texture>,
    gpu: Gpu,
}

/// Maximum texture size (pixels per side).
const LARGEST: usize = 16384;

fn pipeline(gpu: &Gpu, format: vk::Format) -> GpuResult<Arc<GraphicsPipeline>> {
    let state = GraphicsState {
        vertex_stride: size_of::<UiVertex>() as u32,
        attributes: vec![
            (0, vk::Format::R32G32_SFLOAT, 0),
            (1, vk::Format::R32G32_SFLOAT, 8),
            (2, vk::Format::R8G8B8A8_UNORM, 16),
        ],
        colors: vec![(format, true)],
        ..GraphicsState::default()
    };
    GraphicsPipeline::new(gpu, "user interface", "ui.vert", "ui.frag", &state)
}

impl UiPass {
    /// Creates the pipeline for targets of this format.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu, format: vk::Format) -> GpuResult<Self> {
        Ok(Self { pipeline: pipeline(gpu, format)?, textures: HashMap::new(), gpu: gpu.clone() })
    }

    /// Switches to another target format. No frame with the old one may be in flight.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn set_format(&mut self, format: vk::Format) -> GpuResult<()> {
        self.pipeline = pipeline(&self.gpu, format)?;
        Ok(())
    }

    /// Stores pixels from the host; they are uploaded with the next frame.
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn set(&mut self, pixels: &UiPixels) -> GpuResult<()> {
        let [width, height] = pixels.size;
        if width == 0
            || height == 0
            || width > LARGEST
            || height > LARGEST
            || pixels.rgba.len() != width * height * 4
        {
            return Ok(());
        }
        match pixels.at {
            None => {
                let kept = self.textures.remove(&pixels.texture).filter(|texture| {
                    let info = texture.image.image().info();
                    !texture.rgba.is_empty()
                        && [info.width as usize, info.height as usize] == pixels.size
                });
                let image = match kept {
                    Some(texture) => texture.image,
                    None => SharedImage::new(Image::new(
                        &self.gpu,
                        "user interface texture",
                        ImageInfo {
                            width: width as u32,
                            height: height as u32,
                            mips: 1,
                            format: vk::Format::R8G8B8A8_UNORM,
                            usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
                        },
                    )?),
                };
                let texture = Texture {
                    image,
                    rgba: pixels.rgba.clone(),
                    changed: true,
                    nearest: pixels.nearest,
                };
                self.textures.insert(pixels.texture, texture);
            }
            Some([left, top]) => {
                let Some(texture) = self.textures.get_mut(&pixels.texture) else { return Ok(()) };
                let info = texture.image.image().info();
                if left + width > info.width as usize || top + height > info.height as usize {
                    return Ok(());
                }
                let stride = info.width as usize * 4;
                for (row, line) in pixels.rgba.chunks_exact(width * 4).enumerate() {
                    let start = (top + row) * stride + left * 4;
                    if let Some(place) = texture.rgba.get_mut(start..start + width * 4) {
                        place.copy_from_slice(line);
                    }
                }
                texture.changed = true;
            }
        }
        Ok(())
    }

    /// Releases a texture.
    pub fn free(&mut self, texture: u64) {
        self.textures.remove(&texture);
    }

    /// Declares the copies of changed textures and the pass, which clears the target first.
    /// `painted`: an image that another pass of the graph writes, with its texture number.
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn declare<'a>(
        &mut self,
        g: &mut Graph<'a>,
        (target, size): (ImageHandle, [u32; 2]),
        shapes: &UiShapes,
        painted: Option<(u64, ImageHandle)>,
    ) -> GpuResult<()> {
        let mut handles: HashMap<u64, ImageHandle> = painted.into_iter().collect();
        for (&number, texture) in &mut self.textures {
            let used = shapes.draws.iter().any(|draw| draw.texture == number);
            if !texture.changed && !used {
                continue;
            }
            let image = g.shared(&texture.image);
            handles.insert(number, image);
            if texture.changed {
                texture.changed = false;
                let bytes = texture.rgba.len() as u64;
                let staging =
                    Buffer::new(&self.gpu, "user interface pixels", bytes, BufferKind::Staging)?;
                staging.write(0, &texture.rgba);
                g.output(image);
                g.upload("user interface texture", staging, image);
            }
        }
        let vertices = dynamic_buffer(&self.gpu, "user interface vertices", &shapes.vertices)?;
        let indices = dynamic_buffer(&self.gpu, "user interface indices", &shapes.indices)?;
        let scale = size.map(|side| 2.0 * shapes.scale / side.max(1) as f32);
        let constants = Constants { scale };
        let draws: Vec<_> = shapes
            .draws
            .iter()
            .filter_map(|draw| {
                let [left, top, width, height] = draw.clip;
                let inside = left < size[0] && top < size[1] && width > 0 && height > 0;
                let clip = [
                    left,
                    top,
                    width.min(size[0] - left.min(size[0])),
                    height.min(size[1] - top.min(size[1])),
                ];
                let nearest =
                    self.textures.get(&draw.texture).is_some_and(|texture| texture.nearest);
                inside.then_some((
                    clip,
                    draw.indices.clone(),
                    draw.first_vertex,
                    *handles.get(&draw.texture)?,
                    nearest,
                ))
            })
            .collect();
        let pipeline = Arc::clone(&self.pipeline);
        let pass = g
            .draws("user interface")
            .target_cleared(target, [0.0, 0.0, 0.0, 1.0])
            .samples(draws.iter().map(|draw| draw.3));
        pass.record(move |cx, _| {
            cx.rec.bind_geometry(&vertices, &indices);
            let mut bound = None;
            for (clip, range, first_vertex, image, nearest) in draws {
                if bound != Some((image, nearest)) {
                    let texture = cx.image(image);
                    let sampler = if nearest { NEAREST } else { BETWEEN };
                    cx.rec.bind_graphics(
                        &pipeline,
                        &[("texture_image", Bind::Texture(&texture, sampler))],
                    )?;
                    cx.rec.push_graphics(&pipeline, &constants);
                    bound = Some((image, nearest));
                }
                cx.rec.set_scissor(clip);
                cx.rec.draw_indexed(
                    range.start,
                    range.end - range.start,
                    first_vertex as i32,
                    0,
                    1,
                );
            }
            Ok(())
        });
        Ok(())
    }
}

/// Linear filter, clamped at the borders.
const BETWEEN: SamplerInfo = SamplerInfo {
    wrap_u: vk::SamplerAddressMode::CLAMP_TO_EDGE,
    wrap_v: vk::SamplerAddressMode::CLAMP_TO_EDGE,
    ..SamplerInfo::LINEAR
};

/// Nearest-neighbor filter.
const NEAREST: SamplerInfo =
    SamplerInfo { mag: vk::Filter::NEAREST, min: vk::Filter::LINEAR, ..BETWEEN };
