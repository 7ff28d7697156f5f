//! Windows on displays that show more than white: the picture with its highlights, and the
//! interface to the display's codes.
//!
//! The interface is drawn and blended in half floats by the sRGB curve, as it is in bytes, which
//! goes on beyond 1 for the picture.

use std::sync::Arc;

use super::tonemap::{self, DisplayTransform};
use crate::{
    camera::{DisplayEncoding, DisplayRange},
    gpu::{Bind, Buffer, Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Access, Graph, ImageHandle},
};

/// The format of interface and picture before the display's codes.
pub const INTERFACE: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// `hdr_picture_block` of the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct PictureConstants {
    operator: u32,
    headroom: f32,
    white_balance: [f32; 9],
}

/// `hdr_display_block` of the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct DisplayConstants {
    encoding: u32,
    paper_white: f32,
}

/// The pipelines.
pub struct HdrPass {
    picture: Arc<GraphicsPipeline>,
    codes: Arc<GraphicsPipeline>,
}

impl HdrPass {
    /// For windows of this format.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
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

    /// Declares the picture: exposed light (four floats a pixel, top row first) to an image of
    /// `INTERFACE`; `dither` does not count.
    pub fn declare_picture(
        &self,
        g: &mut Graph<'_>,
        (light, size): (Arc<Buffer>, [u32; 2]),
        out: ImageHandle,
        settings: DisplayTransform,
        range: DisplayRange,
    ) {
        let exposed = g.image("exposed picture", size[0], size[1], vk::Format::R32G32B32A32_SFLOAT);
        g.pass("exposed picture").uses(exposed, Access::CopyTo).record(move |cx| {
            let image = cx.image(exposed);
            cx.rec.copy_buffer_to_image(&light, 0, &image, 0);
            Ok(())
        });
        let constants = PictureConstants {
            operator: tonemap::number(settings.mapper),
            headroom: range.headroom(),
            white_balance: settings.white_balance.to_cols_array(),
        };
        let pipeline = Arc::clone(&self.picture);
        let pass = g.pass("hdr tonemap").uses(exposed, Access::FragmentSampled);
        pass.color_cleared(out, [0.0; 4]).record(move |cx| {
            let light = cx.image(exposed);
            cx.rec.bind_graphics(&pipeline, &[("light_image", Bind::Sampled(&light))])?;
            cx.rec.push_graphics(&pipeline, &constants);
            cx.rec.draw_fullscreen();
            Ok(())
        });
    }

    /// Declares the codes: an interface of `INTERFACE` to the window.
    pub fn declare_codes(
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
        let pipeline = Arc::clone(&self.codes);
        let pass = g.pass("hdr encode").uses(interface, Access::FragmentSampled);
        pass.color_cleared(window, [0.0, 0.0, 0.0, 1.0]).record(move |cx| {
            let interface = cx.image(interface);
            cx.rec.bind_graphics(&pipeline, &[("interface_image", Bind::Sampled(&interface))])?;
            cx.rec.push_graphics(&pipeline, &constants);
            cx.rec.draw_fullscreen();
            Ok(())
        });
    }
}
