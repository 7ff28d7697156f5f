//! Counters of limits that act in shaders: light beyond half floats, maximum numbers of rays, and
//! flare sources that are too large (docs/ARCHITECTURE.md).

use std::sync::{Arc, OnceLock};

use super::{creation::get_or_create, pixel_groups};
use crate::{
    gpu::{ComputePipeline, Gpu, shader_structs::limits::LimitCounters},
    graph::{BufferHandle, Graph, ImageHandle},
};

/// Size of the counters in bytes.
pub const SIZE: u64 = size_of::<LimitCounters>() as u64;

/// Declares counters that start at 0 in each frame. Passes that may overlap have counters of their
/// own: a common buffer would order them.
pub fn declare(g: &mut Graph<'_>, name: &str) -> BufferHandle {
    let counters = g.storage(name, SIZE);
    g.clear_buffers(&format!("clear {name}"), [counters]);
    counters
}

/// Pipeline of the pass that counts clamped light in an image; created on first use.
pub struct LimitCountersPass {
    gpu: Gpu,
    pipeline: OnceLock<Arc<ComputePipeline>>,
}

impl LimitCountersPass {
    /// Creates the pass without its pipeline.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self { gpu: gpu.clone(), pipeline: OnceLock::new() }
    }

    /// Declares the count of the pixels of `light`, of this size, beyond the half-float range: after
    /// passes that add light by blending, before passes that may dim it. `stage` names the light.
    pub fn count_clamped<'a>(
        &'a self,
        g: &mut Graph<'a>,
        stage: &str,
        (size, light): ([u32; 2], ImageHandle),
        counters: BufferHandle,
    ) {
        let pipeline = || {
            get_or_create(&self.pipeline, || {
                ComputePipeline::new(&self.gpu, "limit counters", "limit_counters.comp")
            })
        };
        g.compute_with(&format!("limit counters: {stage}"), pipeline)
            .sampled("light_image", light)
            .updated("limit_counter_block", counters)
            .dispatch(pixel_groups::dispatch(size));
    }
}
