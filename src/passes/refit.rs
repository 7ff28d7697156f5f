//! BVH refit of deformed primitives, once per pose, before all passes that trace rays
//! (docs/bvh.md).

use std::sync::{Arc, OnceLock};

use crate::{
    gpu::{Bind, ComputePipeline, Gpu, GpuResult},
    gpu_scene::GpuScene,
    graph::{Access, BufferHandle, Graph},
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
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
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
        g.pass("clear refit counters")
            .uses(costs, Access::Fill)
            .uses(arrivals, Access::Fill)
            .record(move |cx| {
                for buffer in [costs, arrivals] {
                    let buffer = cx.buffer(buffer);
                    cx.rec.fill(&buffer, 0);
                }
                Ok(())
            });
        g.pass("refit")
            .uses(vertices, Access::ComputeStorageRead)
            .uses(arrivals, Access::ComputeStorageReadWrite)
            .uses(nodes, Access::ComputeStorageReadWrite)
            .uses(triangles, Access::ComputeStorageReadWrite)
            .uses(costs, Access::ComputeStorageReadWrite)
            .record(move |cx| {
                let (costs, arrivals) = (cx.buffer(costs), cx.buffer(arrivals));
                cx.rec.bind_compute(
                    pipeline,
                    &[
                        ("vertex_block", Bind::Storage(&scene.vertices)),
                        ("corner_block", Bind::Storage(&refit.corners)),
                        ("leaf_block", Bind::Storage(&refit.leaves)),
                        ("parent_block", Bind::Storage(&refit.parents)),
                        ("arrival_block", Bind::Storage(&arrivals)),
                        ("bvh_node_block", Bind::Storage(node_buffer)),
                        ("bvh_triangle_block", Bind::Storage(triangle_buffer)),
                        ("cost_block", Bind::Storage(&costs)),
                    ],
                )?;
                for tree in &refit.blases {
                    cx.rec.push_compute(pipeline, &tree.constants);
                    cx.rec.dispatch(tree.constants.leaf_count.div_ceil(GROUP), 1, 1);
                }
                Ok(())
            });
        Some(RefittedBvh { nodes, triangles, costs: Some(costs) })
    }
}
