//! Clustered lights: for each cluster of pixels, the lights that it must evaluate. The light of the
//! dropped ones is bounded (docs/clustered-lights.md).

use std::sync::{Arc, OnceLock};

use super::{
    creation::{PipelineJob, get_or_create},
    gbuffer::Gbuffer,
    scene_frame::SceneFrame,
};
use crate::{
    gpu::{ComputePipeline, Gpu, GpuError, shader_structs::frame::FRAME_FORWARD},
    gpu_scene::FrameData,
    graph::{BoundPass, BufferHandle, Graph},
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

/// Capacity (entries) that lists of at most `max_lights` entries never exceed.
#[must_use]
pub fn cut_capacity(tiles: u32, max_lights: u32) -> u32 {
    tiles.saturating_mul(SLICES as u32).saturating_mul(max_lights)
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

impl ClusteredLights {
    /// Binds the lists to a pass that evaluates the lights of each pixel's cluster.
    pub(super) fn bind_to<'g, 'a>(self, pass: BoundPass<'g, 'a>) -> BoundPass<'g, 'a> {
        pass.storage("tile_block", self.tiles)
            .storage("cluster_block", self.clusters)
            .storage("entry_block", self.entries)
    }
}

/// Nodes up to which the shader tests all nodes of the light tree side by side: bits of its
/// `MASK_WORDS`. Trees of up to 64 lights have that many.
const MAX_TESTED_NODES: u32 = 128;

/// Specialization of the shader for a frame.
#[derive(Clone, Copy)]
struct Variant {
    few_lights: bool,
    has_forward: bool,
    has_cuts: bool,
}

impl Variant {
    fn of(data: &FrameData) -> Self {
        let values = &data.uniforms.values;
        Self {
            few_lights: values.node_count <= MAX_TESTED_NODES,
            has_forward: values.bits & FRAME_FORWARD != 0,
            has_cuts: cuts(data)[0] > 0,
        }
    }

    fn index(self) -> usize {
        usize::from(self.few_lights)
            | usize::from(self.has_forward) << 1
            | usize::from(self.has_cuts) << 2
    }
}

/// Maximum number of lights and nodes that a cluster lists, or 0, and lights that a pixel samples
/// from the nodes.
fn cuts(data: &FrameData) -> [u32; 2] {
    data.shadow_ray_budget.map_or([0; 2], |budget| [budget.lights, budget.light_samples])
}

/// Pipelines of the light clustering pass, by `Variant::index`; created on first use.
#[derive(Default)]
pub struct ClusteredLightsPass {
    pipelines: [OnceLock<Arc<ComputePipeline>>; 8],
}

impl ClusteredLightsPass {
    /// The job that creates the pipeline of a frame; `None` if it needs none or has it.
    pub fn job<'a>(&'a self, gpu: &'a Gpu, data: &FrameData) -> Option<PipelineJob<'a>> {
        let variant = Variant::of(data);
        let constants = [variant.few_lights, variant.has_forward, variant.has_cuts].map(u32::from);
        let slot = &self.pipelines[variant.index()];
        (has_local_lights(data) && slot.get().is_none()).then(|| {
            let create = move || {
                let shader = "clustered_lights.comp";
                ComputePipeline::specialized(gpu, "clustered lights", shader, &constants)
            };
            Box::new(move || get_or_create(slot, create).map(drop)) as _
        })
    }

    /// Declares the pass, or the clearing of its buffers if there is no local light.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'a>,
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
        if !has_local_lights(data) {
            // Lists of length 0.
            let all = [out.tiles, out.clusters, out.entries, out.report];
            g.clear_buffers("clear clustered lights", all);
            return out;
        }
        g.clear_buffers("clear clustered lights report", [out.report]);
        let pipeline = &self.pipelines[Variant::of(data).index()];
        let pipeline = move || {
            pipeline.get().cloned().ok_or_else(|| GpuError::Pipeline {
                pipeline: "clustered lights".into(),
                detail: "it was not created before the frame was recorded".into(),
            })
        };
        g.compute_with("clustered lights", pipeline)
            .binds([data.uniform()])
            .sampled_each(gbuffer.all())
            .storage("light_block", &data.lights)
            .storage("node_block", &data.nodes)
            .storage("loss_block", &scene.light_loss_table)
            .written("tile_block", out.tiles)
            .written("cluster_block", out.clusters)
            .written("entry_block", out.entries)
            .updated("report_block", out.report)
            .push(&cuts(data))
            .dispatch([across, down, 1]);
        out
    }
}

/// True if the frame has lights other than directional ones.
fn has_local_lights(data: &FrameData) -> bool {
    let values = &data.uniforms.values;
    values.light_count > values.directional_count
}
