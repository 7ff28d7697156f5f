//! Rays by ray query, where the device has it: acceleration structures over the triangles of the
//! trees, in the same places (docs/bvh.md).

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

/// A bit of an instance's mask: it casts shadows. Rays to lamps meet only these (`BVH_SHADOW_MASK`
/// of shaders/lib/bvh.glsl).
const MASK_CASTS: u8 = 1;
/// What rays meet that ask for all.
const MASK_ALL: u8 = 2;

/// Structures over all lower trees, built once what they hold has arrived; none where the device
/// was opened without ray query.
///
/// # Errors
/// Out of memory; a lost device.
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
        .map(|bottom| TriangleRange {
            first: bottom.triangles.0,
            count: bottom.triangles.1,
            opaque: !bottom.masked(),
            moves: moving
                .iter()
                .any(|of| (of.mesh, of.primitive) == (bottom.mesh, bottom.primitive)),
        })
        .collect();
    let bottoms = BlasSet::new(gpu, "ray query structures", triangles, ranges)?;
    let scratch =
        Buffer::new(gpu, "ray query scratch", bottoms.scratch(false), BufferKind::Storage)?;
    uploader.then("ray query: structures", |rec| rec.build_blas(&bottoms, false, &scratch))?;
    Ok(Some(bottoms))
}

/// The upper level for an eye, not yet built.
///
/// # Errors
/// Out of memory; more instances than the device takes.
pub(super) fn top_structure(
    gpu: &Gpu,
    (bvh, bottoms): (&SceneBvh, &Arc<BlasSet>),
    eye: DVec3,
) -> GpuResult<Arc<Tlas>> {
    let places: Vec<TlasInstance> = bvh
        .instance_transforms(eye)
        .into_iter()
        .map(|(bottom, rows)| {
            let casts =
                bvh.blases.get(bottom as usize).is_some_and(|bottom| bottom.casts_shadows());
            TlasInstance {
                rows,
                bottom,
                mask: if casts { MASK_CASTS | MASK_ALL } else { MASK_ALL },
            }
        })
        .collect();
    Tlas::new(gpu, "ray query places", bottoms, &places)
}

/// What rays of a frame read of what passes of the same frame make.
#[derive(Clone, Copy, Default)]
pub struct BvhDependencies {
    refit: Option<RefittedBvh>,
    /// Lower and upper level of acceleration structures.
    structures: Option<[BufferHandle; 2]>,
}

impl BvhDependencies {
    /// As fragment shaders read it.
    pub fn by_fragments(&self) -> impl Iterator<Item = (BufferHandle, Access)> + use<> {
        self.each(Access::FragmentStorageRead, Access::FragmentRayQuery)
    }

    /// As compute shaders read it.
    pub fn by_compute(&self) -> impl Iterator<Item = (BufferHandle, Access)> + use<> {
        self.each(Access::ComputeStorageRead, Access::ComputeRayQuery)
    }

    fn each(
        &self,
        storage: Access,
        query: Access,
    ) -> impl Iterator<Item = (BufferHandle, Access)> + use<> {
        let trees = self.refit.map(|trees| trees.both().map(|buffer| (buffer, storage)));
        let structures = self.structures.map(|both| both.map(|buffer| (buffer, query)));
        trees.into_iter().chain(structures).flatten()
    }
}

/// Declares the passes: structures whose triangles were refitted in this frame are updated, and the
/// upper level is built for the frame's eye, where any pass of the frame traces.
pub fn declare<'a>(
    g: &mut Graph<'a>,
    scene: &'a GpuScene,
    trees: Option<&'a FrameBvh>,
    refit: Option<RefittedBvh>,
) -> BvhDependencies {
    let Some(bottoms) = scene.bvh.as_ref().and_then(|trees| trees.structures()) else {
        return BvhDependencies { refit, structures: None };
    };
    let lower = g.external(bottoms.buffer());
    if let Some(refitted) = refit.filter(|trees| trees.costs.is_some()) {
        let scratch = g.storage("ray query scratch of updates", bottoms.scratch(true));
        g.pass("ray query: update")
            .uses(refitted.triangles, Access::AccelerationInput)
            .uses(lower, Access::AccelerationUpdate)
            .uses(scratch, Access::AccelerationBuild)
            .record(move |cx| {
                let scratch = cx.buffer(scratch);
                cx.rec.build_blas(bottoms, true, &scratch)
            });
        // Once a pose, as the refit is: a later frame may trace where this one does not.
        g.output(lower);
    }
    let structures = trees.and_then(FrameBvh::structure).map(|top| {
        let upper = g.external(top.buffer());
        let scratch = g.storage("ray query scratch", top.scratch());
        g.pass("ray query: places")
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
