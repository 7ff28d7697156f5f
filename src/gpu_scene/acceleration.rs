//! Acceleration structures of hardware ray query over the triangles of the BVH, with the same
//! instances (docs/bvh.md).

use std::sync::Arc;

use glam::DVec3;

use super::deform::DeformedPrimitive;
use crate::{
    bvh::SceneBvh,
    gpu::{
        BlasSet, Buffer, BufferKind, Gpu, GpuResult, Tlas, TlasInstance, TriangleRange,
        upload::Uploader,
    },
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
