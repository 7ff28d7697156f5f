//! Pipelines that are created when a frame first needs them.

use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::gpu::{ComputePipeline, Gpu, GpuResult};

/// Creates a pipeline, or those of a pass.
pub type PipelineJob<'a> = Box<dyn Fn() -> GpuResult<()> + Send + Sync + 'a>;

/// Runs jobs in parallel: drivers take seconds for each. Frames that have all their pipelines have
/// no jobs, and wake no worker thread.
///
/// # Errors
/// `GpuError` if the driver rejects a pipeline; the first in the given order.
pub fn run_all(jobs: &[PipelineJob<'_>]) -> GpuResult<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let created: Vec<GpuResult<()>> = jobs.par_iter().map(|job| job()).collect();
    created.into_iter().collect()
}

/// The pipeline of a slot, created if absent.
///
/// # Errors
/// `GpuError` if the driver rejects the pipeline.
pub fn get_or_create<T>(
    slot: &OnceLock<Arc<T>>,
    create: impl FnOnce() -> GpuResult<Arc<T>>,
) -> GpuResult<Arc<T>> {
    if let Some(pipeline) = slot.get() {
        return Ok(Arc::clone(pipeline));
    }
    let created = create()?;
    // If another thread created it first, its pipeline is kept.
    Ok(Arc::clone(slot.get_or_init(|| created)))
}

/// A compute pipeline that is created when a frame first records a pass with it.
pub struct LazyPipeline {
    gpu: Gpu,
    name: &'static str,
    shader: &'static str,
    slot: OnceLock<Arc<ComputePipeline>>,
}

impl LazyPipeline {
    /// A pipeline of this shader, not yet created.
    pub fn new(gpu: &Gpu, name: &'static str, shader: &'static str) -> Self {
        Self { gpu: gpu.clone(), name, shader, slot: OnceLock::new() }
    }

    /// The pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects it.
    pub fn get(&self) -> GpuResult<Arc<ComputePipeline>> {
        get_or_create(&self.slot, || ComputePipeline::new(&self.gpu, self.name, self.shader))
    }

    /// True once it is created.
    pub fn exists(&self) -> bool {
        self.slot.get().is_some()
    }
}
