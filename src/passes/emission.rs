//! Emission at four samples a pixel (docs/anti-aliasing.md, "Small lamps"): lamps of a few pixels
//! are many times as bright as white, so that the few samples of a still show their shapes and
//! their light badly. A pass over the opaque surfaces finds the emission at twice the resolution;
//! its mean replaces that of the G-buffer.

use super::{
    creation::LazyPipeline,
    culling::CullingOutput,
    formats::{DEPTH, LIGHT},
    gbuffer::{Gbuffer, OpaquePipelines, draw_opaque},
    pixel_groups,
    scene_draws::geometry_state,
    scene_frame::SceneFrame,
};
use crate::{
    gpu::{Gpu, GpuResult},
    graph::{BufferHandle, Graph},
};

/// Samples of a pixel along each axis, as in the shaders.
const SAMPLES: u32 = 2;

/// Pipelines of the pass.
pub struct EmissionPass {
    pipelines: OpaquePipelines,
    downsample: LazyPipeline,
}

impl EmissionPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = geometry_state(vec![(LIGHT, false)], true);
        let vertex = "geometry.vert+SUPERSAMPLED";
        let fragments = ["emission.frag+UNTEXTURED", "emission.frag", "emission.frag+ALPHA_TEST"];
        Ok(Self {
            pipelines: OpaquePipelines::new(gpu, "emission", vertex, fragments, &state)?,
            downsample: LazyPipeline::new(gpu, "emission downsample", "emission_downsample.comp"),
        })
    }

    /// Declares the passes. `culled` and `moved`: as for the G-buffer. Returns the G-buffer with
    /// the mean emission.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        culled: Option<CullingOutput>,
        moved: Option<BufferHandle>,
        gbuffer: Gbuffer,
    ) -> Gbuffer {
        let [width, height] = frame.data.uniforms.values.size;
        let (fine_width, fine_height) = (width * SAMPLES, height * SAMPLES);
        let depth = g.image("fine depth", fine_width, fine_height, DEPTH);
        let fine = g.image("fine emission", fine_width, fine_height, LIGHT);
        let pass = g.draws("emission").depth_cleared(depth).target(fine);
        draw_opaque(pass, frame, culled, moved, &self.pipelines);
        let emission = g.image("mean emission", width, height, LIGHT);
        g.compute_with("emission downsample", move || self.downsample.get())
            .sampled("emission_image", gbuffer.emission)
            .sampled("fine_emission_image", fine)
            .image_written("out_emission_image", emission)
            .dispatch(pixel_groups::dispatch([width, height]));
        Gbuffer { emission, ..gbuffer }
    }
}
