//! HDR display output: tone mapping with headroom above white, and encoding of image and user
//! interface.
//!
//! The user interface is drawn and blended in half floats with the sRGB curve, as for 8-bit output.
//! The curve extends beyond 1 for the image.

use std::sync::Arc;

use super::tonemap::{self, DisplayTransform};
use crate::{
    camera::{DisplayEncoding, DisplayRange},
    gpu::{Buffer, Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Graph, ImageHandle},
};

/// Format of user interface and image before encoding.
pub const INTERFACE: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// Push constants: `hdr_tonemap_block` of the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct ToneMapConstants {
    operator: u32,
    headroom: f32,
    white_balance: [f32; 9],
}

/// Push constants: `hdr_display_block` of the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct DisplayConstants {
    encoding: u32,
    paper_white: f32,
}

/// Pipelines of HDR output.
pub struct HdrPass {
    picture: Arc<GraphicsPipeline>,
    codes: Arc<GraphicsPipeline>,
}

impl HdrPass {
    /// Creates the pipelines for windows of this format.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu, format: vk::Format) -> GpuResult<Self> {
        let made = |name: &str, shader: &str, format| {
            let state = GraphicsState { colors: vec![(format, false)], ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", shader, &state)
        };
        Ok(Self {
            picture: made("hdr tonemap", "hdr_tonemap.frag", INTERFACE)?,
            codes: made("hdr encode", "hdr_display.frag", format)?,
        })
    }

    /// Declares HDR tone mapping of exposed light (four floats per pixel, top row first) to an
    /// image of format `INTERFACE`. `dither` is ignored.
    pub fn declare_tonemap(
        &self,
        g: &mut Graph<'_>,
        (light, size): (Arc<Buffer>, [u32; 2]),
        out: ImageHandle,
        settings: DisplayTransform,
        range: DisplayRange,
    ) {
        let exposed = g.image("exposed picture", size[0], size[1], vk::Format::R32G32B32A32_SFLOAT);
        g.upload("exposed picture", light, exposed);
        let constants = ToneMapConstants {
            operator: tonemap::number(settings.mapper),
            headroom: range.headroom(),
            white_balance: settings.white_balance.to_cols_array(),
        };
        g.fullscreen("hdr tonemap", &self.picture)
            .sampled("light_image", exposed)
            .push(&constants)
            .target(out)
            .draw();
    }

    /// Declares the encoding of an image of format `INTERFACE` for the window.
    pub fn declare_encode(
        &self,
        g: &mut Graph<'_>,
        interface: ImageHandle,
        window: ImageHandle,
        encoding: DisplayEncoding,
        range: DisplayRange,
    ) {
        let constants = DisplayConstants {
            encoding: u32::from(encoding == DisplayEncoding::ScRgb),
            paper_white: range.paper_white().get() as f32,
        };
        g.fullscreen("hdr encode", &self.codes)
            .sampled("interface_image", interface)
            .push(&constants)
            .target_cleared(window, [0.0, 0.0, 0.0, 1.0])
            .draw();
    }
}
