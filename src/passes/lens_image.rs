//! Image through a lens prescription: distortion, lateral color and vignetting from rays traced
//! through its surfaces (`optics::imaging`).

use std::sync::{Arc, Mutex, PoisonError};

use glam::{Vec2, Vec4};

use super::formats::LIGHT;
use crate::{
    gpu::{
        Buffer, Gpu, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::effects::LensImageConstants,
    },
    gpu_scene::dynamic_buffer,
    graph::{Graph, ImageHandle},
    optics::{MountedLens, imaging::NODES},
};

/// Pipeline, and the grid of the last lens.
pub struct LensImagePass {
    pipeline: Arc<GraphicsPipeline>,
    grid: Mutex<Option<(Arc<MountedLens>, Arc<Buffer>)>>,
}

impl LensImagePass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(LIGHT, false)], ..GraphicsState::default() };
        let pipeline =
            GraphicsPipeline::new(gpu, "lens image", "fullscreen.vert", "lens_image.frag", &state)?;
        Ok(Self { pipeline, grid: Mutex::new(None) })
    }

    /// Uploads a lens's grid unless it is already on the device.
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn prepare(&self, gpu: &Gpu, lens: &Arc<MountedLens>) -> GpuResult<()> {
        let mut held = self.grid.lock().unwrap_or_else(PoisonError::into_inner);
        if held.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, lens)) {
            return Ok(());
        }
        let nodes: Vec<[Vec4; 2]> = lens
            .grid()
            .into_iter()
            .map(|node| {
                let [red, green, blue] = node.stretch.map(glam::DVec2::as_vec2);
                [
                    red.extend(green.x).extend(green.y),
                    blue.extend(node.relative_illumination as f32).extend(0.0),
                ]
            })
            .collect();
        *held =
            Some((Arc::clone(lens), dynamic_buffer(gpu, "lens image grid", nodes.as_flattened())?));
        Ok(())
    }

    /// Declares the pass. Maps the image of the pinhole `MountedLens::pinhole` to that on the
    /// sensor.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        [width, height]: [u32; 2],
        light: ImageHandle,
    ) -> ImageHandle {
        let grid = self
            .grid
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .map(|(_, grid)| Arc::clone(grid));
        let Some(grid) = grid else { return light };
        let size = Vec2::new(width as f32, height as f32);
        let constants =
            LensImageConstants { center: size * 0.5, last: (NODES - 1) as f32, pad0: 0 };
        let out = g.image("light through the lens", width, height, LIGHT);
        g.fullscreen("lens image", &self.pipeline)
            .sampled("light_image", light)
            .storage("grid_block", &grid)
            .push(&constants)
            .target(out)
            .draw();
        out
    }
}
