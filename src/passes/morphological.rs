//! Morphological anti-aliasing from edge shapes in a single frame (docs/anti-aliasing.md). It needs
//! no history and causes no ghosting, but does not recover subpixel detail.

use std::sync::Arc;

use super::formats::LIGHT;
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Graph, ImageHandle},
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
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        [width, height]: [u32; 2],
        light: ImageHandle,
    ) -> ImageHandle {
        let edges = g.image("edges", width, height, EDGES);
        let weights = g.image("mlaa weights", width, height, WEIGHTS);
        let out = g.image("light with mlaa", width, height, LIGHT);
        g.fullscreen("morphological edges", &self.edges)
            .sampled("light_image", light)
            .target(edges)
            .draw();
        g.fullscreen("morphological weights", &self.weights)
            .sampled("edge_image", edges)
            .target(weights)
            .draw();
        g.fullscreen("morphological", &self.blend)
            .sampled("light_image", light)
            .sampled("weight_image", weights)
            .target(out)
            .draw();
        out
    }
}
