//! Hardware ray query: acceleration structures over the triangles of the BVH, with the same
//! instances (docs/bvh.md).

use std::sync::Arc;

use glam::DVec3;

use super::{
    GpuScene,
    refit::{DeformedPrimitive, RefittedBvh},
    scene_bvh::FrameBvh,
};
use crate::{
    bvh::SceneBvh,
    gpu::{
        BlasSet, Buffer, BufferKind, Gpu, GpuResult, Tlas, TlasInstance, TriangleRange,
        upload::Uploader,
    },
    graph::{Access, BufferHandle, Graph},
};

/// Instance mask bit of shadow casters; shadow rays hit only these (`BVH_SHADOW_MASK` of
/// shaders/lib/bvh.glsl).
const MASK_CASTS: u8 = 1;
/// Instance mask bit of all instances, for rays that hit everything.
const MASK_ALL: u8 = 2;

/// BLASes over all primitives, built after their upload completes; `None` if the device was opened
/// without ray query.
///
/// # Errors
/// `GpuError` if memory runs out or the device is lost.
pub(super) fn scene_structures(
    gpu: &Gpu,
    uploader: &mut Uploader,
    bvh: &SceneBvh,
    triangles: &Arc<Buffer>,
    moving: &[DeformedPrimitive],
) -> GpuResult<Option<Arc<BlasSet>>> {
    if !gpu.ray_query() || bvh.blases.is_empty() {
        return Ok(None);
    }
    let ranges = bvh
        .blases
        .iter()
        .map(|blas| TriangleRange {
            first: blas.triangles.0,
            count: blas.triangles.1,
            opaque: !blas.masked(),
            moves: moving.iter().any(|of| (of.mesh, of.primitive) == (blas.mesh, blas.primitive)),
        })
        .collect();
    let blas_set = BlasSet::new(gpu, "ray query structures", triangles, ranges)?;
    let scratch =
        Buffer::new(gpu, "ray query scratch", blas_set.scratch(false), BufferKind::Storage)?;
    uploader.then("ray query: structures", |rec| rec.build_blas(&blas_set, false, &scratch))?;
    Ok(Some(blas_set))
}

/// TLAS relative to an eye position, not yet built.
///
/// # Errors
/// `GpuError` if memory runs out, or if there are more instances than the device supports.
pub(super) fn top_structure(
    gpu: &Gpu,
    (bvh, blas_set): (&SceneBvh, &Arc<BlasSet>),
    eye: DVec3,
) -> GpuResult<Arc<Tlas>> {
    let places: Vec<TlasInstance> = bvh
        .instance_transforms(eye)
        .into_iter()
        .map(|(blas, rows)| {
            let casts = bvh.blases.get(blas as usize).is_some_and(|blas| blas.casts_shadows());
            TlasInstance { rows, blas, mask: if casts { MASK_CASTS | MASK_ALL } else { MASK_ALL } }
        })
        .collect();
    Tlas::new(gpu, "ray query instances", blas_set, &places)
}

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
