//! How far each pixel moves in the picture between two moments.

use std::sync::Arc;

use glam::{DMat4, DVec3};

use super::{FrameData, GpuScene, View, effects_shared::VelocityConstants, scene_data::Posed};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Access, Graph, ImageHandle},
};

/// Pixels right and down, from the first moment to the last.
pub const VELOCITY: vk::Format = vk::Format::R16G16_SFLOAT;

/// A moment that a motion begins or ends at: a camera, and where things are before it.
#[derive(Clone, Debug)]
pub struct Moment {
    /// From world axes, relative to where the frame's camera stands, to that moment's clip space.
    pub to_clip: DMat4,
    /// Where things are then; none: where they are in the frame.
    pub posed: Option<Arc<Posed>>,
}

impl Moment {
    /// As a view saw it. `eye` is where the frame's camera stands.
    #[must_use]
    pub fn seen_by(view: &View, eye: DVec3, posed: Option<Arc<Posed>>) -> Self {
        Self { to_clip: view.view_projection.as_dmat4() * DMat4::from_translation(eye - view.position), posed }
    }
}

/// The pipeline.
pub struct VelocityPass {
    pipeline: Arc<GraphicsPipeline>,
    enlarge: Arc<GraphicsPipeline>,
}

impl VelocityPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(VELOCITY, false)], ..GraphicsState::default() };
        let make = |name: &str, fragment: &str| GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state);
        Ok(Self {
            pipeline: make("velocity", "velocity.frag")?,
            enlarge: make("velocity enlarged", "velocity_enlarge.frag")?,
        })
    }

    /// Velocities of a picture of `from` pixels for one of `to`; as they are where that is the same.
    pub fn enlarged<'a>(
        &'a self,
        g: &mut Graph<'a>,
        velocity: ImageHandle,
        from: [u32; 2],
        to: [u32; 2],
    ) -> ImageHandle {
        if from == to {
            return velocity;
        }
        let out = g.image("velocity enlarged", to[0], to[1], VELOCITY);
        let size = to.map(|side| side as f32);
        g.pass("velocity enlarged").uses(velocity, Access::FragmentSampled).color_cleared(out, [0.0; 4]).record(
            move |cx| {
                let velocity = cx.image(velocity);
                cx.rec.bind_graphics(&self.enlarge, &[("velocity_image", Bind::Sampled(&velocity))])?;
                cx.rec.push_graphics(&self.enlarge, &size);
                cx.rec.draw_fullscreen();
                Ok(())
            },
        );
        out
    }

    /// Declares the pass: how far each pixel of the frame moves in the picture from the first moment to the last. Temporal
    /// passes ask from the last frame to this one, motion blur from the shutter's opening to its closing; `name` tells
    /// their images apart.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        _scene: &'a GpuScene,
        data: &'a FrameData,
        depth: ImageHandle,
        name: &str,
        [first, last]: &[Moment; 2],
    ) -> ImageHandle {
        let [width, height] = data.values.size;
        let out = g.image(name, width, height, VELOCITY);
        let constants = VelocityConstants { open: first.to_clip.as_mat4(), close: last.to_clip.as_mat4() };
        g.pass(name).uses(depth, Access::FragmentSampled).color_cleared(out, [0.0; 4]).record(move |cx| {
            let depth = cx.image(depth);
            cx.rec.bind_graphics(&self.pipeline, &[data.uniform(), ("depth_image", Bind::Sampled(&depth))])?;
            cx.rec.push_graphics(&self.pipeline, &constants);
            cx.rec.draw_fullscreen();
            Ok(())
        });
        out
    }
}
