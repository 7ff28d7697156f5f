//! BVH refit of deformed primitives, once per pose, before all passes that trace rays
//! (docs/bvh.md).

use std::sync::{Arc, OnceLock};

use crate::{
    gpu::{ComputePipeline, Gpu, GpuResult},
    gpu_scene::GpuScene,
    graph::{BufferHandle, Graph},
};

/// Work group size.
const GROUP: u32 = 64;

/// BVH buffers of a frame with refitted BLASes.
#[derive(Clone, Copy)]
pub struct RefittedBvh {
    /// All nodes.
    pub nodes: BufferHandle,
    /// All triangles.
    pub triangles: BufferHandle,
    /// Costs of the refitted BLASes; `None` if nothing moved.
    pub costs: Option<BufferHandle>,
}

impl RefittedBvh {
    /// Buffers that rays read: nodes and triangles.
    #[must_use]
    pub const fn both(&self) -> [BufferHandle; 2] {
        [self.nodes, self.triangles]
    }
}

/// Pipeline of the refit pass, created when something first deforms.
#[derive(Default)]
pub struct RefitPass {
    pipeline: OnceLock<Arc<ComputePipeline>>,
}

impl RefitPass {
    /// Creates the pipeline if the scene needs it and it does not exist.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn prepare(&self, gpu: &Gpu, scene: &GpuScene) -> GpuResult<()> {
        if scene.bvh.as_ref().is_some_and(|trees| trees.refit().is_some())
            && self.pipeline.get().is_none()
        {
            let _ = self.pipeline.set(ComputePipeline::new(gpu, "refit", "refit.comp")?);
        }
        Ok(())
    }

    /// Declares the pass and returns the BVH for passes that trace rays; `None` if no BLAS deforms.
    /// If the vertices are already in this pose (`done`), the BVH is reused.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        scene: &GpuScene,
        vertices: Option<BufferHandle>,
        done: bool,
    ) -> Option<RefittedBvh> {
        let (trees, vertices, pipeline) = (scene.bvh.as_ref()?, vertices?, self.pipeline.get()?);
        let refit = trees.refit()?;
        let [node_buffer, triangle_buffer] = trees.blas_buffers();
        let (nodes, triangles) = (g.external(node_buffer), g.external(triangle_buffer));
        if done {
            return Some(RefittedBvh { nodes, triangles, costs: None });
        }
        let costs = g.storage("refit costs", refit.cost_words() * 4);
        let arrivals = g.storage("refit arrivals", refit.nodes * 4);
        g.clear_buffers("clear refit counters", [costs, arrivals]);
        let jobs = refit
            .blases
            .iter()
            .map(|blas| (blas.constants, [blas.constants.leaf_count.div_ceil(GROUP), 1, 1]));
        g.compute("refit", pipeline)
            .storage("vertex_block", vertices)
            .storage("corner_block", &refit.corners)
            .storage("leaf_block", &refit.leaves)
            .storage("parent_block", &refit.parents)
            .updated("arrival_block", arrivals)
            .updated("bvh_node_block", nodes)
            .updated("bvh_triangle_block", triangles)
            .updated("cost_block", costs)
            .dispatch_each(jobs);
        Some(RefittedBvh { nodes, triangles, costs: Some(costs) })
    }
}
