//! Morphological anti-aliasing from edge shapes in a single frame (docs/anti-aliasing.md). It needs
//! no history and causes no ghosting, but does not recover subpixel detail.

use std::sync::Arc;

use super::gbuffer::LIGHT;
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Access, Graph, ImageHandle},
};

/// Edges to the left and above.
const EDGES: vk::Format = vk::Format::R8G8_UNORM;
/// Blend weights.
const WEIGHTS: vk::Format = vk::Format::R8G8B8A8_UNORM;

/// Pipelines of morphological anti-aliasing.
pub struct MorphologicalPass {
    edges: Arc<GraphicsPipeline>,
    weights: Arc<GraphicsPipeline>,
    blend: Arc<GraphicsPipeline>,
}

impl MorphologicalPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |name: &str, fragment: &str, format| {
            let state = GraphicsState { colors: vec![(format, false)], ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Ok(Self {
            edges: make("morphological edges", "morphological_edges.frag", EDGES)?,
            weights: make("morphological weights", "morphological_weights.frag", WEIGHTS)?,
            blend: make("morphological", "morphological.frag", LIGHT)?,
        })
    }

    /// Declares the passes.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        [width, height]: [u32; 2],
        light: ImageHandle,
    ) -> ImageHandle {
        let edges = g.image("edges", width, height, EDGES);
        let weights = g.image("mlaa weights", width, height, WEIGHTS);
        let out = g.image("light with mlaa", width, height, LIGHT);
        let mut pass = |name: &str,
                        pipeline: &'a Arc<GraphicsPipeline>,
                        from: Vec<(&'static str, ImageHandle)>,
                        to| {
            let reads = from
                .iter()
                .fold(g.pass(name), |pass, &(_, image)| pass.uses(image, Access::FragmentSampled));
            reads.color_cleared(to, [0.0; 4]).record(move |cx| {
                let images: Vec<_> =
                    from.iter().map(|&(name, image)| (name, cx.image(image))).collect();
                let binds: Vec<_> =
                    images.iter().map(|(name, image)| (*name, Bind::Sampled(image))).collect();
                cx.rec.bind_graphics(pipeline, &binds)?;
                cx.rec.draw_fullscreen();
                Ok(())
            });
        };
        pass("morphological edges", &self.edges, vec![("light_image", light)], edges);
        pass("morphological weights", &self.weights, vec![("edge_image", edges)], weights);
        pass(
            "morphological",
            &self.blend,
            vec![("light_image", light), ("weight_image", weights)],
            out,
        );
        out
    }
}
