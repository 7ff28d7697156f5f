//! Device data of shadow, refraction, indirect and flare rays: the scene's BVH and a TLAS for each
//! frame's camera.

use std::{cell::OnceCell, sync::Arc};

use glam::DVec3;

use super::{
    GpuScene,
    ray_query::{scene_structures, top_structure},
    refit::{DeformedPrimitive, Refit},
    scene_data::WorldLight,
};
use crate::{
    bvh::{SceneBvh, casts_shadow},
    gpu::{
        Bind, BlasSet, Buffer, BufferKind, Gpu, GpuError, GpuResult, Tlas,
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
    bvh: SceneBvh,
    /// Ray types of the BVH.
    pub usage: BvhUsage,
    buffers: [(&'static str, Arc<Buffer>); 4],
    /// True if any surface has an alpha mask; the host data is dropped after upload.
    masked: bool,
    /// Refit of deformed BLASes; `None` if nothing deforms.
    refit: Option<Refit>,
    /// Hardware BLASes over the same triangles; `None` if the device was opened without ray query.
    structures: Option<Arc<BlasSet>>,
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

type BvhBuffers = [(&'static str, Arc<Buffer>); 4];

/// BVH on the device.
struct Uploaded {
    buffers: BvhBuffers,
    refit: Option<Refit>,
    structures: Option<Arc<BlasSet>>,
}

fn upload(
    gpu: &Gpu,
    uploader: &mut Uploader,
    (bvh, scene): (&SceneBvh, &Scene),
    moving: &[DeformedPrimitive],
) -> GpuResult<Uploaded> {
    let mut upload = |name: &str, bytes: &[u8], least: usize| {
        let buffer = Buffer::new(gpu, name, bytes.len().max(least) as u64, BufferKind::Storage)?;
        uploader.buffer(&buffer, bytes)?;
        Ok(buffer)
    };
    // At least one element each; placeholders are not read.
    let buffers = [
        ("bvh_node_block", upload("shadow nodes", bytemuck::cast_slice(&bvh.nodes), 32)?),
        (
            "bvh_triangle_block",
            upload("shadow triangles", bytemuck::cast_slice(&bvh.triangles), 48)?,
        ),
        (
            "bvh_corner_block",
            upload("shadow mask corners", bytemuck::cast_slice(&bvh.corners), 36)?,
        ),
        ("bvh_mask_block", upload("shadow masks", bytemuck::cast_slice(&bvh.masks), 4)?),
    ];
    let refit = Refit::new(gpu, uploader, (bvh, scene), moving)?;
    let structures = scene_structures(gpu, uploader, bvh, &buffers[1].1, moving)?;
    Ok(Uploaded { buffers, refit, structures })
}

/// BVH with the TLAS of one frame's camera.
#[derive(Clone)]
pub struct FrameBvh {
    scene: [(&'static str, Arc<Buffer>); 4],
    top: Arc<Buffer>,
    instances: Arc<Buffer>,
    masked: bool,
    /// Hardware TLAS, for ray query.
    structure: Option<Arc<Tlas>>,
}

/// BVH of a frame for its eye, created on first use.
pub struct LazyFrameBvh<'a> {
    gpu: &'a Gpu,
    scene: &'a GpuScene,
    eye: DVec3,
    made: OnceCell<Option<FrameBvh>>,
}

impl<'a> LazyFrameBvh<'a> {
    /// Wraps a scene and an eye position in the world (m).
    #[must_use]
    pub const fn new(gpu: &'a Gpu, scene: &'a GpuScene, eye: DVec3) -> Self {
        Self { gpu, scene, eye, made: OnceCell::new() }
    }

    /// The BVH; `None` if it is empty.
    ///
    /// # Errors
    /// `GpuError` if memory runs out, or if the scene was uploaded without a BVH.
    pub fn get(&self) -> GpuResult<Option<FrameBvh>> {
        if let Some(made) = self.made.get() {
            return Ok(made.clone());
        }
        let made = FrameBvh::new(self.gpu, self.scene, self.eye)?;
        Ok(self.made.get_or_init(|| made).clone())
    }

    /// The BVH if it was created.
    #[must_use]
    pub fn made(self) -> Option<FrameBvh> {
        self.made.into_inner().flatten()
    }
}

impl FrameBvh {
    /// Creates the BVH of a frame; `None` if it is empty.
    ///
    /// # Errors
    /// `GpuError` if memory runs out, or if the scene was uploaded without a BVH.
    pub fn new(gpu: &Gpu, scene: &GpuScene, camera: DVec3) -> GpuResult<Option<Self>> {
        let Some(gpu_bvh) = &scene.bvh else {
            return Err(GpuError::Pipeline {
                pipeline: "traced shadows".into(),
                detail:
                    "the scene was uploaded without a BVH for shadow rays; pass the shadow settings to Renderer::upload_for"
                        .into(),
            });
        };
        Self::build(
            gpu,
            (&gpu_bvh.bvh, gpu_bvh.masked),
            (&gpu_bvh.buffers, gpu_bvh.structures.as_ref()),
            camera,
        )
    }

    /// Uploads any BVH for an eye; `None` if it is empty.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn of(
        gpu: &Gpu,
        uploader: &mut Uploader,
        (bvh, scene): (&SceneBvh, &Scene),
        camera: DVec3,
    ) -> GpuResult<Option<Self>> {
        let made = upload(gpu, uploader, (bvh, scene), &[])?;
        Self::build(
            gpu,
            (bvh, !bvh.masks.is_empty()),
            (&made.buffers, made.structures.as_ref()),
            camera,
        )
    }

    fn build(
        gpu: &Gpu,
        (bvh, masked): (&SceneBvh, bool),
        (buffers, structures): (&BvhBuffers, Option<&Arc<BlasSet>>),
        camera: DVec3,
    ) -> GpuResult<Option<Self>> {
        let top = bvh.tlas_from(camera);
        if top.instances.is_empty() {
            return Ok(None);
        }
        let upload = |name: &str, bytes: &[u8]| -> GpuResult<Arc<Buffer>> {
            let buffer = Buffer::new(gpu, name, bytes.len() as u64, BufferKind::Dynamic)?;
            buffer.write(0, bytes);
            Ok(buffer)
        };
        let structure =
            structures.map(|blas_set| top_structure(gpu, (bvh, blas_set), camera)).transpose()?;
        Ok(Some(Self {
            structure,
            scene: buffers.clone(),
            top: upload("tlas nodes", bytemuck::cast_slice(&top.nodes))?,
            instances: upload("shadow instances", bytemuck::cast_slice(&top.instances))?,
            masked,
        }))
    }

    /// True if some instances have alpha masks.
    #[must_use]
    pub const fn masked(&self) -> bool {
        self.masked
    }

    /// Hardware TLAS, built in the frame; `None` with the software BVH.
    #[must_use]
    pub const fn structure(&self) -> Option<&Arc<Tlas>> {
        self.structure.as_ref()
    }

    /// Selects the software BVH even if the device supports ray query.
    pub(super) fn force_software(&mut self) {
        self.structure = None;
    }

    /// Bindings of a pipeline that traces rays.
    #[must_use]
    pub fn binds(&self) -> Vec<(&'static str, Bind<'_>)> {
        // Ray query binds all but the nodes, which come first.
        let of_scene = self.scene.iter().skip(usize::from(self.structure.is_some()));
        let mut binds: Vec<_> =
            of_scene.map(|(name, buffer)| (*name, Bind::Storage(buffer))).collect();
        binds.push(("bvh_instance_block", Bind::Storage(&self.instances)));
        binds.push(match &self.structure {
            Some(structure) => ("bvh_structure", Bind::Structure(structure)),
            None => ("bvh_top_block", Bind::Storage(&self.top)),
        });
        binds
    }
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
        same!(bvh::BvhInstance, frame::BvhInstance: rows root mask corners slack surface first);
    }
}
