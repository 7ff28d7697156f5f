//! Clustered lights: for each cluster of pixels, the lights that it must evaluate. The light of the
//! dropped ones is bounded (docs/clustered-lights.md).

use std::sync::Arc;

use super::{gbuffer::Gbuffer, scene_frame::SceneFrame};
use crate::{
    gpu::{ComputePipeline, Gpu, GpuResult},
    graph::{BufferHandle, Graph},
};

/// Tile size per axis (pixels).
pub const TILE: u32 = 16;

/// Depth slices of a tile (`SLICES` in the shader).
const SLICES: u64 = 32;

/// Words of the report.
pub const REPORT_WORDS: u64 = 12;

/// Initial capacity of a frame's lists (entries): three clusters per tile with 96 entries each, or
/// all lights if fewer. If it is too small, the frame's report states the required capacity.
#[must_use]
pub fn first_capacity(tiles: u32, local_lights: u32) -> u32 {
    tiles.saturating_mul(3).saturating_mul(local_lights.clamp(1, 96))
}

/// Buffers of the light lists.
#[derive(Clone, Copy)]
pub struct ClusteredLights {
    /// Nearest depth slice of each tile.
    pub tiles: BufferHandle,
    /// Offset and length of each cluster's list.
    pub clusters: BufferHandle,
    /// Lights and light tree nodes of all lists.
    pub entries: BufferHandle,
    /// Evaluation counters of the frame, `REPORT_WORDS` words.
    pub report: BufferHandle,
}

/// Pipeline of the light clustering pass.
pub struct ClusteredLightsPass {
    pipeline: Arc<ComputePipeline>,
}

impl ClusteredLightsPass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self {
            pipeline: ComputePipeline::new(gpu, "clustered lights", "clustered_lights.comp")?,
        })
    }

    /// Declares the pass.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        SceneFrame { scene, data, .. }: SceneFrame<'_>,
        gbuffer: Gbuffer,
    ) -> ClusteredLights {
        let [across, down] = data.uniforms.values.tiles;
        let tiles = u64::from(across) * u64::from(down);
        let out = ClusteredLights {
            tiles: g.storage("clustered lights tiles", tiles * 4),
            clusters: g.storage("clustered lights clusters", tiles * SLICES * 8),
            entries: g.storage(
                "clustered lights entries",
                u64::from(data.uniforms.values.list_capacity) * 4,
            ),
            report: g.storage("clustered lights report", REPORT_WORDS * 4),
        };
        g.clear_buffers("clear clustered lights report", [out.report]);
        g.compute("clustered lights", &self.pipeline)
            .binds([data.uniform()])
            .sampled_each(gbuffer.all())
            .storage("light_block", &data.lights)
            .storage("node_block", &data.nodes)
            .storage("loss_block", &scene.light_loss_table)
            .written("tile_block", out.tiles)
            .written("cluster_block", out.clusters)
            .written("entry_block", out.entries)
            .updated("report_block", out.report)
            .dispatch([across, down, 1]);
        out
    }
}
