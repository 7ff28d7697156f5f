//! For each 16x16 tile, the lamps that its pixels must evaluate; what the rest could add is bounded (docs/light-lists.md).

use std::sync::Arc;

use super::{FrameData, gbuffer::Gbuffer};
use crate::{
    gpu::{Bind, ComputePipeline, Gpu, GpuResult},
    graph::{Access, BufferHandle, Graph},
};

/// Pixels along a tile's edge.
pub const TILE: u32 = 16;

/// The most lamps that a tile lists; a tile with more evaluates all of them.
pub const MAX_LISTED: u32 = 1024;

/// Directions into which far lamps are merged (`BINS` in the shader).
const BINS: u64 = 64;

/// The lists.
#[derive(Clone, Copy)]
pub struct LightLists {
    /// Listed and merged lamps of each tile.
    pub counts: BufferHandle,
    /// Listed lamps by index.
    pub indices: BufferHandle,
    /// Merged lamps: place and strength.
    pub merged: BufferHandle,
    /// What was evaluated, for the report.
    pub report: BufferHandle,
}

/// The pipeline.
pub struct LightListsPass {
    pipeline: Arc<ComputePipeline>,
}

impl LightListsPass {
    /// Makes the pipeline.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self { pipeline: ComputePipeline::new(gpu, "light lists", "light_lists.comp")? })
    }

    /// Declares the pass.
    pub fn declare<'a>(&'a self, g: &mut Graph<'a>, data: &'a FrameData, gbuffer: Gbuffer) -> LightLists {
        let [across, down] = data.values.tiles;
        let tiles = u64::from(across) * u64::from(down);
        let out = LightLists {
            counts: g.storage("light list counts", tiles * 8),
            indices: g.storage("light list indices", tiles * u64::from(data.values.list_capacity) * 4),
            merged: g.storage("merged lights", tiles * BINS * 32),
            report: g.storage("light list report", 16),
        };
        g.pass("clear light report").uses(out.report, Access::Fill).record(move |cx| {
            let report = cx.buffer(out.report);
            cx.rec.fill(&report, 0);
            Ok(())
        });
        g.pass("light lists")
            .uses(gbuffer.depth, Access::ComputeSampled)
            .uses(gbuffer.surface, Access::ComputeSampled)
            .uses(gbuffer.normal, Access::ComputeSampled)
            .uses(out.counts, Access::ComputeStorageWrite)
            .uses(out.indices, Access::ComputeStorageWrite)
            .uses(out.merged, Access::ComputeStorageWrite)
            .uses(out.report, Access::ComputeStorageReadWrite)
            .record(move |cx| {
                let (depth, surface, normal) =
                    (cx.image(gbuffer.depth), cx.image(gbuffer.surface), cx.image(gbuffer.normal));
                let (counts, indices) = (cx.buffer(out.counts), cx.buffer(out.indices));
                let (merged, report) = (cx.buffer(out.merged), cx.buffer(out.report));
                cx.rec.bind_compute(
                    &self.pipeline,
                    &[
                        data.uniform(),
                        ("depth_image", Bind::Sampled(&depth)),
                        ("surface_image", Bind::Sampled(&surface)),
                        ("normal_image", Bind::Sampled(&normal)),
                        ("light_block", Bind::Storage(&data.lights)),
                        ("count_block", Bind::Storage(&counts)),
                        ("index_block", Bind::Storage(&indices)),
                        ("merged_block", Bind::Storage(&merged)),
                        ("report_block", Bind::Storage(&report)),
                    ],
                )?;
                cx.rec.dispatch(across, down, 1);
                Ok(())
            });
        out
    }
}
