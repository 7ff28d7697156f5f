//! Background where no surface is hit: the environment and the disks of suns.

use std::sync::Arc;

use super::{
    FrameData,
    gbuffer::{Gbuffer, LIGHT},
    lighting::LitImages,
};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    graph::{Access, Graph},
};

/// Pipeline of the background pass.
pub struct BackgroundPass {
    pipeline: Arc<GraphicsPipeline>,
}

impl BackgroundPass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(LIGHT, true)], ..GraphicsState::default() };
        Ok(Self {
            pipeline: GraphicsPipeline::new(
                gpu,
                "background",
                "fullscreen.vert",
                "background.frag",
                &state,
            )?,
        })
    }

    /// Declares the pass, unless the scene has neither an environment nor a sun with a disk.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        gbuffer: Gbuffer,
        lit: LitImages,
    ) {
        if !data.has_background {
            return;
        }
        g.pass("background")
            .uses(gbuffer.depth, Access::FragmentSampled)
            .color_loaded(lit.light)
            .record(move |cx| {
                let depth = cx.image(gbuffer.depth);
                cx.rec.bind_graphics(
                    &self.pipeline,
                    &[
                        data.uniform(),
                        ("depth_image", Bind::Sampled(&depth)),
                        ("light_block", Bind::Storage(&data.lights)),
                        ("environment_block", Bind::Storage(&data.environment)),
                    ],
                )?;
                cx.rec.draw_fullscreen();
                Ok(())
            });
    }
}
