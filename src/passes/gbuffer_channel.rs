//! G-buffer channel as floats, for display or output.

use std::sync::Arc;

use super::gbuffer::Gbuffer;
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    gpu_scene::FrameData,
    graph::{Graph, ImageHandle},
};

/// Channel of the G-buffer; the values match the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum GbufferChannel {
    /// Linear base color.
    BaseColor = 0,
    /// Metallic, 0 to 1.
    Metallic = 1,
    /// Perceptual roughness, 0 to 1.
    Roughness = 2,
    /// Shading normal in world axes.
    Normal = 3,
    /// Distance along the view direction (m).
    Depth = 4,
    /// Material occlusion, 0 to 1.
    Occlusion = 5,
    /// Position relative to the camera (m).
    Position = 6,
    /// Cosine-weighted visibility of the environment, 0 to 1 (pass `ao`).
    AmbientOcclusion = 7,
    /// Mean unoccluded direction in world axes (pass `ao`).
    BentNormal = 8,
}

impl GbufferChannel {
    /// True if the channel comes from the pass `ao` instead of the G-buffer.
    #[must_use]
    pub const fn measured(self) -> bool {
        matches!(self, Self::AmbientOcclusion | Self::BentNormal)
    }
}

/// Pipeline of the channel pass.
pub struct GbufferChannelPass {
    pipeline: Arc<GraphicsPipeline>,
}

impl GbufferChannelPass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState {
            colors: vec![(vk::Format::R32G32B32A32_SFLOAT, false)],
            ..GraphicsState::default()
        };
        Ok(Self {
            pipeline: GraphicsPipeline::new(
                gpu,
                "gbuffer channel",
                "fullscreen.vert",
                "gbuffer_channel.frag",
                &state,
            )?,
        })
    }

    /// Declares the pass; alpha is 1 where a surface is hit.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        data: &FrameData,
        gbuffer: Gbuffer,
        bent_normal_ao: Option<ImageHandle>,
        channel: GbufferChannel,
    ) -> ImageHandle {
        let [width, height] = data.uniforms.values.size;
        let out = g.image(&format!("{channel:?}"), width, height, vk::Format::R32G32B32A32_SFLOAT);
        // Without AO the depth image is bound as a placeholder and not read.
        let open = bent_normal_ao.filter(|_| channel.measured()).unwrap_or(gbuffer.depth);
        g.fullscreen(&format!("gbuffer channel {channel:?}"), &self.pipeline)
            .binds([data.uniform()])
            .sampled_each(gbuffer.without_emission())
            .sampled("ao_image", open)
            .push(&(channel as u32))
            .target(out)
            .draw();
        out
    }
}
