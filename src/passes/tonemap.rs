//! Tone mapping of exposed light to sRGB bytes: white balance, tone mapper, sRGB curve, dither.

use std::sync::{Arc, OnceLock};

use glam::Mat3;

use super::creation::get_or_create;
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
    white_balance: [f32; 9],
}

/// Pipelines of the tone mapping pass by operator and dither; created on first use.
pub struct TonemapPass {
    gpu: Gpu,
    pipelines: [OnceLock<Arc<GraphicsPipeline>>; ToneMapper::ALL.len() * 2],
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
    /// Creates the pipeline of the default tone mapper.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let pass = Self { gpu: gpu.clone(), pipelines: Default::default() };
        pass.pipeline(ToneMapper::default(), true)?;
        Ok(pass)
    }

    fn pipeline(&self, mapper: ToneMapper, dither: bool) -> GpuResult<Arc<GraphicsPipeline>> {
        let constants = vec![number(mapper), u32::from(dither)];
        let slot = &self.pipelines[number(mapper) as usize * 2 + usize::from(dither)];
        get_or_create(slot, || {
            let name = format!("tonemap {}{}", mapper.name(), if dither { " dither" } else { "" });
            let state = GraphicsState {
                colors: vec![(vk::Format::R8G8B8A8_UNORM, false)],
                constants,
                ..GraphicsState::default()
            };
            let shader = "tonemap.frag";
            GraphicsPipeline::new(&self.gpu, &name, "fullscreen.vert", shader, &state)
        })
    }

    /// Declares the pass.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        settings: DisplayTransform,
    ) -> ImageHandle {
        let constants = Constants { white_balance: settings.white_balance.to_cols_array() };
        let out = g.image("display", size[0], size[1], vk::Format::R8G8B8A8_UNORM);
        g.fullscreen_with("tonemap", move || self.pipeline(settings.mapper, settings.dither))
            .sampled("light_image", light)
            .push(&constants)
            .target(out)
            .draw();
        out
    }
}
