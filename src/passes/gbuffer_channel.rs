//! A channel of the G-buffer as plain floats, to look at or to save.

use std::sync::Arc;

use super::{FrameData, gbuffer::Gbuffer};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Access, Graph, ImageHandle},
};

/// A channel of the G-buffer; the numbers are the shader's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum GbufferChannel {
    /// Linear.
    BaseColor = 0,
    /// 0 to 1.
    Metallic = 1,
    /// Perceptual, 0 to 1.
    Roughness = 2,
    /// Shading normal in world axes.
    Normal = 3,
    /// Distance along the line of sight (m).
    Depth = 4,
    /// 0 to 1.
    Occlusion = 5,
    /// Relative to the camera (m).
    Position = 6,
    /// Share of the surroundings that is seen, weighed with the cosine, 0 to 1 (`ao`).
    AmbientOcclusion = 7,
    /// Mean direction of what is seen of the surroundings, in world axes (`ao`).
    BentNormal = 8,
}

impl GbufferChannel {
    /// Whether it is one of the pass `ao`, not of the G-buffer.
    #[must_use]
    pub const fn measured(self) -> bool {
        matches!(self, Self::AmbientOcclusion | Self::BentNormal)
    }
}

/// The pipeline.
pub struct GbufferChannelPass {
    pipeline: Arc<GraphicsPipeline>,
}

impl GbufferChannelPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
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

    /// Declares the pass; alpha is 1 where there is a surface.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        (gbuffer, open): (Gbuffer, Option<ImageHandle>),
        channel: GbufferChannel,
    ) -> ImageHandle {
        let [width, height] = data.values.size;
        let out = g.image(&format!("{channel:?}"), width, height, vk::Format::R32G32B32A32_SFLOAT);
        let mut pass = g
            .pass(&format!("gbuffer channel {channel:?}"))
            .uses(gbuffer.depth, Access::FragmentSampled)
            .uses(gbuffer.surface, Access::FragmentSampled)
            .uses(gbuffer.normal, Access::FragmentSampled)
            .color_cleared(out, [0.0; 4]);
        // Where nothing was measured the depth stands in, and is not read.
        let open = open.filter(|_| channel.measured());
        if let Some(open) = open {
            pass = pass.uses(open, Access::FragmentSampled);
        }
        pass.record(move |cx| {
            let (depth, surface, normal) =
                (cx.image(gbuffer.depth), cx.image(gbuffer.surface), cx.image(gbuffer.normal));
            let open = open.map_or_else(|| Arc::clone(&depth), |open| cx.image(open));
            cx.rec.bind_graphics(
                &self.pipeline,
                &[
                    data.uniform(),
                    ("depth_image", Bind::Sampled(&depth)),
                    ("surface_image", Bind::Sampled(&surface)),
                    ("normal_image", Bind::Sampled(&normal)),
                    ("ao_image", Bind::Sampled(&open)),
                ],
            )?;
            cx.rec.push_graphics(&self.pipeline, &(channel as u32));
            cx.rec.draw_fullscreen();
            Ok(())
        });
        out
    }
}
