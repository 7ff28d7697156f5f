//! Motion blur from per-pixel velocities over the exposure.

use std::sync::Arc;

use glam::Vec2;

use super::formats::{LIGHT, VELOCITY};
use crate::{
    camera::effects::MotionBlur,
    gpu::{
        Gpu, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::effects::MotionBlurConstants,
    },
    gpu_scene::FrameUniforms,
    graph::{Graph, ImageHandle},
};

/// Tile size, and with it the maximum half length of a blur, as a fraction of the image height.
const TILE_PART: f32 = 0.125;

/// Longest pixel motions of the frame, and the longest one drawn.
#[derive(Clone, Copy)]
pub struct MotionBlurLimit {
    /// Longest motion per tile (pixels over the exposure).
    pub longest: ImageHandle,
    /// Maximum drawn motion (pixels).
    pub drawn: f32,
}

/// Pipelines of the motion blur passes.
pub struct MotionBlurPass {
    rows: Arc<GraphicsPipeline>,
    columns: Arc<GraphicsPipeline>,
    neighborhood: Arc<GraphicsPipeline>,
    blur: Arc<GraphicsPipeline>,
}

impl MotionBlurPass {
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
            rows: make("motion blur rows", "motion_blur_tiles.frag", VELOCITY)?,
            columns: make("motion blur columns", "motion_blur_tiles.frag+COLUMN", VELOCITY)?,
            neighborhood: make(
                "motion blur around",
                "motion_blur_tiles.frag+NEIGHBORHOOD",
                VELOCITY,
            )?,
            blur: make("motion blur", "motion_blur.frag", LIGHT)?,
        })
    }

    /// Declares the passes; `velocity` is in pixels over the exposure. Returns the light and the
    /// motion limit.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        frame: &FrameUniforms,
        depth: ImageHandle,
        velocity: ImageHandle,
        light: ImageHandle,
        blur: &MotionBlur,
    ) -> (ImageHandle, MotionBlurLimit) {
        let [width, height] = frame.values.size;
        let tile = ((height as f32 * TILE_PART) as u32).max(4);
        let constants = MotionBlurConstants {
            size: Vec2::new(width as f32, height as f32),
            tile: tile as f32,
            curtain: blur.curtain() as f32,
        };
        let tiles = [width.div_ceil(tile), height.div_ceil(tile)];
        let rows = tile_pass(g, "rows", &self.rows, velocity, [tiles[0], height], Some(constants));
        let longest = tile_pass(g, "tiles", &self.columns, rows, tiles, Some(constants));
        let around = tile_pass(g, "around", &self.neighborhood, longest, tiles, None);
        let out = g.image("light with motion blur", width, height, LIGHT);
        g.fullscreen("motion blur", &self.blur)
            .binds([frame.uniform()])
            .sampled("light_image", light)
            .sampled("depth_image", depth)
            .sampled("velocity_image", velocity)
            .sampled("neighborhood_image", around)
            .push(&constants)
            .target(out)
            .draw();
        (out, MotionBlurLimit { longest, drawn: 2.0 * constants.tile })
    }
}

/// One step of the reduction from velocities to the longest of a tile and its neighbors.
fn tile_pass(
    g: &mut Graph<'_>,
    name: &str,
    pipeline: &Arc<GraphicsPipeline>,
    velocity: ImageHandle,
    [width, height]: [u32; 2],
    constants: Option<MotionBlurConstants>,
) -> ImageHandle {
    let out = g.image(&format!("max velocity, {name}"), width, height, VELOCITY);
    g.fullscreen(&format!("motion blur: {name}"), pipeline)
        .sampled("velocity_image", velocity)
        .with(constants, |pass, constants| pass.push(&constants))
        .target(out)
        .draw();
    out
}
