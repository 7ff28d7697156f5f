//! Hardware ray query: updates the acceleration structures of the scene's BVH for each frame
//! (docs/bvh.md).

use super::refit::RefittedBvh;
use crate::{
    gpu_scene::{FrameBvh, GpuScene},
    graph::{Access, BufferHandle, Graph},
};

/// Resources that this frame's passes write and its rays read.
#[derive(Clone, Copy, Default)]
pub struct BvhDependencies {
    refit: Option<RefittedBvh>,
    /// BLAS and TLAS handles.
    structures: Option<[BufferHandle; 2]>,
}

impl BvhDependencies {
    /// Accesses of fragment shaders.
    pub fn by_fragments(&self) -> impl Iterator<Item = (BufferHandle, Access)> + use<> {
        self.each(Access::FragmentStorageRead, Access::FragmentRayQuery)
    }

    /// Accesses of compute shaders.
    pub fn by_compute(&self) -> impl Iterator<Item = (BufferHandle, Access)> + use<> {
        self.each(Access::ComputeStorageRead, Access::ComputeRayQuery)
    }

    fn each(
        &self,
        storage: Access,
        query: Access,
    ) -> impl Iterator<Item = (BufferHandle, Access)> + use<> {
        let gpu_bvh = self.refit.map(|gpu_bvh| gpu_bvh.both().map(|buffer| (buffer, storage)));
        let structures = self.structures.map(|both| both.map(|buffer| (buffer, query)));
        gpu_bvh.into_iter().chain(structures).flatten()
    }
}

/// Declares the passes: BLASes refitted in this frame are updated, and the TLAS is built for the
/// frame's eye, if any pass of the frame traces rays.
pub fn declare<'a>(
    g: &mut Graph<'a>,
    scene: &'a GpuScene,
    gpu_bvh: Option<&'a FrameBvh>,
    refit: Option<RefittedBvh>,
) -> BvhDependencies {
    let Some(blas_set) = scene.bvh.as_ref().and_then(|gpu_bvh| gpu_bvh.structures()) else {
        return BvhDependencies { refit, structures: None };
    };
    let lower = g.external(blas_set.buffer());
    if let Some(refitted) = refit.filter(|gpu_bvh| gpu_bvh.costs.is_some()) {
        let scratch = g.storage("ray query scratch of updates", blas_set.scratch(true));
        g.pass("ray query: update")
            .uses(refitted.triangles, Access::AccelerationInput)
            .uses(lower, Access::AccelerationUpdate)
            .uses(scratch, Access::AccelerationBuild)
            .record(move |cx| {
                let scratch = cx.buffer(scratch);
                cx.rec.build_blas(blas_set, true, &scratch)
            });
        // Once per pose, like the refit: a later frame may trace even if this one does not.
        g.output(lower);
    }
    let structures = gpu_bvh.and_then(FrameBvh::structure).map(|top| {
        let upper = g.external(top.buffer());
        let scratch = g.storage("ray query scratch", top.scratch());
        g.pass("ray query: instances")
            .uses(lower, Access::AccelerationInput)
            .uses(upper, Access::AccelerationBuild)
            .uses(scratch, Access::AccelerationBuild)
            .record(move |cx| {
                let scratch = cx.buffer(scratch);
                cx.rec.build_tlas(top, &scratch)
            });
        [lower, upper]
    });
    BvhDependencies { refit, structures }
}
