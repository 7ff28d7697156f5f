//! The scene's BVH on the device, for shadow, refraction, indirect and flare rays.

use std::sync::Arc;

use super::{
    acceleration::scene_structures, buffers::uploaded_buffer, deform::DeformedPrimitive,
    refit::Refit, world_light::WorldLight,
};
use crate::{
    bvh::{SceneBvh, casts_shadow},
    gpu::{
        BlasSet, Buffer, Gpu, GpuResult,
        shader_structs::frame::{LIGHT_KIND_BITS, LIGHT_POINT, LIGHT_SHADOW},
        upload::Uploader,
    },
    scene::{Material, Scene},
};

/// Lights with ray-traced shadows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RayTracedLights {
    /// No light.
    None,
    /// Lights with an extent.
    Sized,
    /// All lights.
    All,
}

impl RayTracedLights {
    /// True if these lights need a BVH.
    #[must_use]
    pub fn needs_bvh(self, lights: &[WorldLight]) -> bool {
        let sized = |light: &WorldLight| {
            let kind = light.shader.kind & LIGHT_KIND_BITS;
            let pointlike =
                kind == LIGHT_POINT || light.directional && light.shader.half_width == 0.0;
            light.shader.kind & LIGHT_SHADOW != 0 && !pointlike
        };
        self == Self::All || self == Self::Sized && lights.iter().any(sized)
    }
}

/// Ray types that use a scene's BVH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BvhUsage {
    /// Shadow rays.
    pub shadows: bool,
    /// Refraction rays: the BVH includes refractive surfaces, even panes that cast no shadow.
    pub refraction: bool,
    /// Rays of indirect light.
    pub indirect: bool,
}

impl BvhUsage {
    /// True if any ray type is used.
    #[must_use]
    pub const fn any(self) -> bool {
        self.shadows || self.refraction || self.indirect
    }

    fn takes(self, material: &Material) -> bool {
        casts_shadow(material) || self.refraction && material.transmits()
    }
}

/// BVH over all shadow casters, and refractive surfaces if used.
pub struct GpuBvh {
    pub(super) bvh: SceneBvh,
    /// Ray types of the BVH.
    pub usage: BvhUsage,
    pub(super) buffers: BvhBuffers,
    /// True if any surface has an alpha mask; the host data is dropped after upload.
    pub(super) masked: bool,
    /// Refit of deformed BLASes; `None` if nothing deforms.
    refit: Option<Refit>,
    /// Hardware BLASes over the same triangles; `None` if the device was opened without ray query.
    pub(super) structures: Option<Arc<BlasSet>>,
    /// Number of BLASes rebuilt since upload because they had degraded.
    rebuilt: u64,
}

impl GpuBvh {
    /// Builds and uploads the BVH; `moving`: primitives that the device deforms.
    ///
    /// # Errors
    /// `GpuError` if the triangles exceed the device's buffer size, memory runs out, or the device
    /// is lost.
    pub fn new(
        gpu: &Gpu,
        uploader: &mut Uploader,
        scene: &Scene,
        wanted: BvhUsage,
        moving: &[DeformedPrimitive],
    ) -> GpuResult<Self> {
        let mut bvh = SceneBvh::new(scene, |material| wanted.takes(material));
        let Uploaded { buffers, refit, structures } = upload(gpu, uploader, (&bvh, scene), moving)?;
        let masked = !bvh.masks.is_empty();
        if moving.is_empty() {
            // The host keeps instance data only; the device holds the triangles.
            bvh.drop_host_triangles();
        } else {
            enclose(&mut bvh, scene, moving);
        }
        Ok(Self { bvh, usage: wanted, buffers, masked, refit, structures, rebuilt: 0 })
    }

    /// True if some instances have alpha masks.
    #[must_use]
    pub const fn masked(&self) -> bool {
        self.masked
    }

    /// Updates the BVH after nodes or vertices of the scene have moved. Rebuilds the TLAS; the
    /// device refits the BLASes in the next frame (`passes::refit`). A degraded BLAS is rebuilt
    /// here over the vertices as the host deforms them, and all BLASes are uploaded again.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn follow(
        &mut self,
        gpu: &Gpu,
        uploader: &mut Uploader,
        scene: &Scene,
        moving: &[DeformedPrimitive],
    ) -> GpuResult<()> {
        if !self.bvh.matches(scene) {
            *self = Self::new(gpu, uploader, scene, self.usage, moving)?;
            return Ok(());
        }
        let degraded_blases = self.refit.as_ref().map_or_else(Vec::new, Refit::degraded);
        for &blas in &degraded_blases {
            let Some((mesh, primitive)) =
                self.bvh.blases.get(blas).map(|of| (of.mesh, of.primitive))
            else {
                continue;
            };
            if let Some(moved) = scene.baked(mesh, primitive) {
                self.bvh.rebuild(scene, blas, &moved);
                self.rebuilt += 1;
            }
        }
        if !degraded_blases.is_empty() {
            // New buffers: a frame in flight reads the old ones.
            let made = upload(gpu, uploader, (&self.bvh, scene), moving)?;
            (self.buffers, self.refit, self.structures) =
                (made.buffers, made.refit, made.structures);
        }
        enclose(&mut self.bvh, scene, moving);
        Ok(())
    }

    /// Updates the BVH after material factors have changed: alpha masks, or, by a new build, which
    /// surfaces cast shadows.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn follow_materials(
        &mut self,
        gpu: &Gpu,
        uploader: &mut Uploader,
        scene: &Scene,
        moving: &[DeformedPrimitive],
    ) -> GpuResult<()> {
        if !self.bvh.casts_as(scene) {
            *self = Self::new(gpu, uploader, scene, self.usage, moving)?;
        } else if self.bvh.update_masks(scene) {
            // New buffers: a frame in flight reads the old ones.
            let [corners, masks] = mask_buffers(gpu, uploader, &self.bvh)?;
            [self.buffers[2], self.buffers[3]] = [corners, masks];
            if moving.is_empty() {
                self.bvh.drop_host_triangles();
            }
        }
        Ok(())
    }

    /// Refit of deformed BLASes, if any.
    #[must_use]
    pub const fn refit(&self) -> Option<&Refit> {
        self.refit.as_ref()
    }

    /// Hardware BLASes over the same triangles; `None` if the device was opened without ray query.
    #[must_use]
    pub const fn structures(&self) -> Option<&Arc<BlasSet>> {
        self.structures.as_ref()
    }

    /// Number of BLASes rebuilt since upload because they had degraded.
    #[must_use]
    pub const fn rebuild_count(&self) -> u64 {
        self.rebuilt
    }

    /// Device buffers of the nodes and triangles of all BLASes.
    #[must_use]
    pub const fn blas_buffers(&self) -> [&Arc<Buffer>; 2] {
        [&self.buffers[0].1, &self.buffers[1].1]
    }

    /// Host BVH. BLASes that the device refits have the bounds and triangles of their build.
    #[must_use]
    pub const fn host(&self) -> &SceneBvh {
        &self.bvh
    }
}

fn enclose(bvh: &mut SceneBvh, scene: &Scene, moving: &[DeformedPrimitive]) {
    for of in moving {
        bvh.set_blas_bounds(of.mesh, of.primitive, of.low, of.high);
    }
    bvh.rebuild_tlas(scene);
}

/// Storage buffers of a BVH with their binding names: nodes, triangles, mask corners, masks.
pub(super) type BvhBuffers = [(&'static str, Arc<Buffer>); 4];

/// Uploads mask corners and masks.
fn mask_buffers(
    gpu: &Gpu,
    uploader: &mut Uploader,
    bvh: &SceneBvh,
) -> GpuResult<[(&'static str, Arc<Buffer>); 2]> {
    let mut upload =
        |name: &str, bytes: &[u8], least: u64| uploaded_buffer(gpu, uploader, (name, least), bytes);
    // At least one element each; placeholders are not read.
    Ok([
        (
            "bvh_corner_block",
            upload("shadow mask corners", bytemuck::cast_slice(&bvh.corners), 36)?,
        ),
        ("bvh_mask_block", upload("shadow masks", bytemuck::cast_slice(&bvh.masks), 4)?),
    ])
}

/// BVH on the device.
pub(super) struct Uploaded {
    pub(super) buffers: BvhBuffers,
    refit: Option<Refit>,
    pub(super) structures: Option<Arc<BlasSet>>,
}

pub(super) fn upload(
    gpu: &Gpu,
    uploader: &mut Uploader,
    (bvh, scene): (&SceneBvh, &Scene),
    moving: &[DeformedPrimitive],
) -> GpuResult<Uploaded> {
    let mut upload =
        |name: &str, bytes: &[u8], least: u64| uploaded_buffer(gpu, uploader, (name, least), bytes);
    // At least one element each; placeholders are not read.
    let nodes = ("bvh_node_block", upload("shadow nodes", bytemuck::cast_slice(&bvh.nodes), 32)?);
    let triangles = (
        "bvh_triangle_block",
        upload("shadow triangles", bytemuck::cast_slice(&bvh.triangles), 48)?,
    );
    let [corners, masks] = mask_buffers(gpu, uploader, bvh)?;
    let buffers = [nodes, triangles, corners, masks];
    let refit = Refit::new(gpu, uploader, (bvh, scene), moving)?;
    let structures = scene_structures(gpu, uploader, bvh, &buffers[1].1, moving)?;
    Ok(Uploaded { buffers, refit, structures })
}

#[cfg(test)]
mod tests {
    use crate::{bvh, gpu::shader_structs::frame};

    #[test]
    fn bvh_layout_matches_the_shaders() {
        assert_eq!((bvh::NONE, bvh::NO_SHADOW), (frame::NONE, frame::BVH_NO_SHADOW));
        assert_eq!(size_of::<bvh::BvhNode>(), size_of::<frame::BvhNode>());
        assert_eq!(size_of::<bvh::BvhTriangle>(), size_of::<frame::BvhTriangle>());
        assert_eq!(size_of::<bvh::BvhInstance>(), size_of::<frame::BvhInstance>());
        macro_rules! same {
            ($a:ty, $b:ty: $($field:ident)*) => {
                $(assert_eq!(std::mem::offset_of!($a, $field), std::mem::offset_of!($b, $field));)*
            };
        }
        same!(bvh::BvhNode, frame::BvhNode: low first high count);
        same!(bvh::BvhTriangle, frame::BvhTriangle: a normal_a b normal_b c normal_c);
        same!(bvh::BvhInstance, frame::BvhInstance: rows root mask corners slack surface first seed phase);
    }
}
