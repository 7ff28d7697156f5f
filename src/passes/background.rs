//! What is seen where no surface is: the environment, and the disks of suns.

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

/// The pipeline.
pub struct BackgroundPass {
    pipeline: Arc<GraphicsPipeline>,
}

impl BackgroundPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
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

    /// Declares the pass; nothing where the scene has neither an environment nor a sun with a disk.
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
