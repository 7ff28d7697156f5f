//! The scene's BVH with a TLAS for one frame's camera.

use std::{cell::OnceCell, sync::Arc};

use glam::DVec3;

use super::{
    acceleration::top_structure,
    scene::GpuScene,
    scene_bvh::{BvhBuffers, upload},
};
use crate::{
    bvh::SceneBvh,
    gpu::{Bind, BlasSet, Buffer, BufferKind, Gpu, GpuError, GpuResult, Tlas, upload::Uploader},
    scene::Scene,
};

/// BVH with the TLAS of one frame's camera.
#[derive(Clone)]
pub struct FrameBvh {
    scene: BvhBuffers,
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
    number: u32,
    made: OnceCell<Option<FrameBvh>>,
}

impl<'a> LazyFrameBvh<'a> {
    /// Wraps a scene and an eye position in the world (m). `number`: of the random numbers by which
    /// rays pass blended surfaces (`bvh::SceneTlas::reseed`).
    #[must_use]
    pub const fn new(gpu: &'a Gpu, scene: &'a GpuScene, eye: DVec3, number: u32) -> Self {
        Self { gpu, scene, eye, number, made: OnceCell::new() }
    }

    /// The BVH; `None` if it is empty.
    ///
    /// # Errors
    /// `GpuError` if memory runs out, or if the scene was uploaded without a BVH.
    pub fn get(&self) -> GpuResult<Option<FrameBvh>> {
        if let Some(made) = self.made.get() {
            return Ok(made.clone());
        }
        let made = FrameBvh::new(self.gpu, self.scene, self.eye, self.number)?;
        Ok(self.made.get_or_init(|| made).clone())
    }

    /// The BVH if it was created.
    #[must_use]
    pub fn made(self) -> Option<FrameBvh> {
        self.made.into_inner().flatten()
    }
}

impl FrameBvh {
    /// Creates the BVH of a frame; `None` if it is empty. `number`: as for `LazyFrameBvh`.
    ///
    /// # Errors
    /// `GpuError` if memory runs out, or if the scene was uploaded without a BVH.
    pub fn new(gpu: &Gpu, scene: &GpuScene, camera: DVec3, number: u32) -> GpuResult<Option<Self>> {
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
            (camera, number),
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
            (camera, 0),
        )
    }

    fn build(
        gpu: &Gpu,
        (bvh, masked): (&SceneBvh, bool),
        (buffers, structures): (&BvhBuffers, Option<&Arc<BlasSet>>),
        (camera, number): (DVec3, u32),
    ) -> GpuResult<Option<Self>> {
        let mut top = bvh.tlas_from(camera);
        if masked {
            top.reseed(number);
        }
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

    /// True if some instances have alpha masks (`bvh::Blas::masked`).
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
    pub fn force_software(&mut self) {
        self.structure = None;
    }

    /// Bindings of a pipeline that reads hits of rays but traces none: triangles and instances.
    #[must_use]
    pub fn hit_binds(&self) -> Vec<(&'static str, Bind<'_>)> {
        let mut binds = self.binds();
        binds.retain(|(name, _)| ["bvh_triangle_block", "bvh_instance_block"].contains(name));
        binds
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
