//! Clustered lights: for each cluster of pixels, the lights that it must evaluate. The light of the
//! dropped ones is bounded (docs/clustered-lights.md).

use std::sync::Arc;

use super::{FrameData, GpuScene, gbuffer::Gbuffer};
use crate::{
    gpu::{Bind, ComputePipeline, Gpu, GpuResult},
    graph::{Access, BufferHandle, Graph},
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
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        data: &'a FrameData,
        gbuffer: Gbuffer,
    ) -> ClusteredLights {
        let [across, down] = data.values.tiles;
        let tiles = u64::from(across) * u64::from(down);
        let out = ClusteredLights {
            tiles: g.storage("clustered lights tiles", tiles * 4),
            clusters: g.storage("clustered lights clusters", tiles * SLICES * 8),
            entries: g
                .storage("clustered lights entries", u64::from(data.values.list_capacity) * 4),
            report: g.storage("clustered lights report", REPORT_WORDS * 4),
        };
        g.pass("clear clustered lights report").uses(out.report, Access::Fill).record(move |cx| {
            let report = cx.buffer(out.report);
            cx.rec.fill(&report, 0);
            Ok(())
        });
        g.pass("clustered lights")
            .uses(gbuffer.depth, Access::ComputeSampled)
            .uses(gbuffer.surface, Access::ComputeSampled)
            .uses(gbuffer.normal, Access::ComputeSampled)
            .uses(gbuffer.emission, Access::ComputeSampled)
            .uses(out.tiles, Access::ComputeStorageWrite)
            .uses(out.clusters, Access::ComputeStorageWrite)
            .uses(out.entries, Access::ComputeStorageWrite)
            .uses(out.report, Access::ComputeStorageReadWrite)
            .record(move |cx| {
                let (depth, surface, normal) =
                    (cx.image(gbuffer.depth), cx.image(gbuffer.surface), cx.image(gbuffer.normal));
                let emission = cx.image(gbuffer.emission);
                let (tiles, clusters) = (cx.buffer(out.tiles), cx.buffer(out.clusters));
                let (entries, report) = (cx.buffer(out.entries), cx.buffer(out.report));
                cx.rec.bind_compute(
                    &self.pipeline,
                    &[
                        data.uniform(),
                        ("depth_image", Bind::Sampled(&depth)),
                        ("surface_image", Bind::Sampled(&surface)),
                        ("normal_image", Bind::Sampled(&normal)),
                        ("light_block", Bind::Storage(&data.lights)),
                        ("node_block", Bind::Storage(&data.nodes)),
                        ("loss_block", Bind::Storage(&scene.light_loss_table)),
                        ("tile_block", Bind::Storage(&tiles)),
                        ("cluster_block", Bind::Storage(&clusters)),
                        ("entry_block", Bind::Storage(&entries)),
                        ("report_block", Bind::Storage(&report)),
                        ("emission_image", Bind::Sampled(&emission)),
                    ],
                )?;
                cx.rec.dispatch(across, down, 1);
                Ok(())
            });
        out
    }
}
