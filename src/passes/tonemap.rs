//! Tone mapping of exposed light to sRGB bytes: white balance, tone mapper, sRGB curve, dither.

use std::sync::Arc;

use glam::Mat3;

use crate::{
    camera::ToneMapper,
    gpu::{Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Graph, ImageHandle},
};

/// Transform from exposed light to the display.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DisplayTransform {
    /// Tone mapping curve.
    pub mapper: ToneMapper,
    /// White balance of exposed linear Rec.709, before the curve
    /// (`photometry::color::WhiteBalance::matrix`).
    pub white_balance: Mat3,
    /// Dither of one 8-bit step against banding.
    pub dither: bool,
}

/// Push constants: `tonemap_block` of the shader.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Constants {
    operator: u32,
    dither: u32,
    white_balance: [f32; 9],
}

/// Pipeline of the tone mapping pass.
pub struct TonemapPass {
    pipeline: Arc<GraphicsPipeline>,
}

/// Index of a tone mapper in the shader.
pub(super) fn number(mapper: ToneMapper) -> u32 {
    match mapper {
        ToneMapper::Linear => 0,
        ToneMapper::Aces => 1,
        ToneMapper::Agx => 2,
        ToneMapper::PbrNeutral => 3,
    }
}

impl TonemapPass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState {
            colors: vec![(vk::Format::R8G8B8A8_UNORM, false)],
            ..GraphicsState::default()
        };
        Ok(Self {
            pipeline: GraphicsPipeline::new(
                gpu,
                "tonemap",
                "fullscreen.vert",
                "tonemap.frag",
                &state,
            )?,
        })
    }

    /// Declares the pass.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        size: [u32; 2],
        light: ImageHandle,
        settings: DisplayTransform,
    ) -> ImageHandle {
        let constants = Constants {
            operator: number(settings.mapper),
            dither: u32::from(settings.dither),
            white_balance: settings.white_balance.to_cols_array(),
        };
        let out = g.image("display", size[0], size[1], vk::Format::R8G8B8A8_UNORM);
        g.fullscreen("tonemap", &self.pipeline)
            .sampled("light_image", light)
            .push(&constants)
            .target(out)
            .draw();
        out
    }
}
