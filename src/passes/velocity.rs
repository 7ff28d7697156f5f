//! How far each pixel moves in the picture while the shutter is open.

use std::sync::Arc;

use super::{FrameData, View, effects_shared::VelocityConstants};
use crate::{
    camera::chain::MotionBlur,
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Access, Graph, ImageHandle},
};

/// Pixels over the exposure, right and down.
pub const VELOCITY: vk::Format = vk::Format::R16G16_SFLOAT;

/// The pipeline.
pub struct VelocityPass {
    pipeline: Arc<GraphicsPipeline>,
}

impl VelocityPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(VELOCITY, false)], ..GraphicsState::default() };
        Ok(Self { pipeline: GraphicsPipeline::new(gpu, "velocity", "fullscreen.vert", "velocity.frag", &state)? })
    }

    /// Declares the pass. Things stand still and the camera moves; a pass that knows how things move writes the same
    /// format, and all that follows stays as it is.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        view: &View,
        depth: ImageHandle,
        blur: &MotionBlur,
    ) -> ImageHandle {
        let [width, height] = data.values.size;
        let out = g.image("velocity", width, height, VELOCITY);
        let constants = VelocityConstants {
            open: view.moved(blur.pose(-0.5 * blur.exposure)),
            close: view.moved(blur.pose(0.5 * blur.exposure)),
        };
        g.pass("velocity").uses(depth, Access::FragmentSampled).color_cleared(out, [0.0; 4]).record(move |cx| {
            let depth = cx.image(depth);
            cx.rec.bind_graphics(&self.pipeline, &[data.uniform(), ("depth_image", Bind::Sampled(&depth))])?;
            cx.rec.push_graphics(&self.pipeline, &constants);
            cx.rec.draw_fullscreen();
            Ok(())
        });
        out
    }
}
