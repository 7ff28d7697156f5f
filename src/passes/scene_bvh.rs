//! What rays for shadows and through refracting bodies need on the device: the trees over the
//! scene, their upper level for each frame's camera, and the pipelines that walk them.

use std::{cell::OnceCell, sync::Arc};

use glam::DVec3;

use super::{
    GpuScene,
    ray_query::{scene_structures, top_structure},
    refit::{DeformedPrimitive, Refit},
    scene_data::WorldLight,
    shared,
};
use crate::{
    bvh::{SceneBvh, casts_shadow},
    gpu::{Bind, BlasSet, Buffer, BufferKind, Gpu, GpuError, GpuResult, Tlas, upload::Uploader},
    scene::{Material, Scene},
};

/// Which lights find their shadows by rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RayTracedLights {
    /// None does.
    None,
    /// Those with a size.
    Sized,
    /// All do.
    All,
}

impl RayTracedLights {
    /// Whether these lights need trees.
    #[must_use]
    pub fn needs_bvh(self, lights: &[WorldLight]) -> bool {
        let sized = |light: &WorldLight| {
            let kind = light.shader.kind & shared::LIGHT_KIND_BITS;
            let pointlike =
                kind == shared::LIGHT_POINT || light.directional && light.shader.half_width == 0.0;
            light.shader.kind & shared::LIGHT_SHADOW != 0 && !pointlike
        };
        self == Self::All || self == Self::Sized && lights.iter().any(sized)
    }
}

/// What the trees over a scene are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BvhUsage {
    /// Rays for shadows.
    pub shadows: bool,
    /// Rays that refract: the trees have what refracts too, panes that cast no shadow among it.
    pub refraction: bool,
    /// Rays for bounced light.
    pub indirect: bool,
}

impl BvhUsage {
    /// Whether any trees are wanted.
    #[must_use]
    pub const fn any(self) -> bool {
        self.shadows || self.refraction || self.indirect
    }

    fn takes(self, material: &Material) -> bool {
        casts_shadow(material) || self.refraction && material.transmits()
    }
}

/// The trees over all that casts shadows, or refracts.
pub struct GpuBvh {
    bvh: SceneBvh,
    /// What they are for.
    pub usage: BvhUsage,
    buffers: [(&'static str, Arc<Buffer>); 4],
    /// Whether rays pass through parts of surfaces: the host forgets what says so.
    masked: bool,
    /// What the device does for trees that move; none where none does.
    refit: Option<Refit>,
    /// The same triangles as rays by ray query find them; none where the device was opened without.
    structures: Option<Arc<BlasSet>>,
    /// Lower trees that were built anew since they were uploaded, because they had become too bad.
    rebuilt: u64,
}

impl GpuBvh {
    /// Builds and uploads them; `moving` are the primitives whose vertices the device moves.
    ///
    /// # Errors
    /// Out of memory; more triangles than the device's buffers hold; a lost device.
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
            // The host keeps what places need, not what the device has.
            bvh.drop_host_triangles();
        } else {
            enclose(&mut bvh, scene, moving);
        }
        Ok(Self { bvh, usage: wanted, buffers, masked, refit, structures, rebuilt: 0 })
    }

    /// Goes along with a scene whose nodes and vertices have moved. The upper level is made anew;
    /// lower trees are the device's to refit (`passes::refit`), in the next frame. One that has
    /// become too bad is built anew here, over the vertices as the host moves them, and all lower
    /// trees are uploaded once more.
    ///
    /// # Errors
    /// Out of memory; a lost device.
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
        let worn = self.refit.as_ref().map_or_else(Vec::new, Refit::degraded);
        for &bottom in &worn {
            let Some((mesh, primitive)) =
                self.bvh.blases.get(bottom).map(|of| (of.mesh, of.primitive))
            else {
                continue;
            };
            if let Some(moved) = scene.baked(mesh, primitive) {
                self.bvh.rebuild(scene, bottom, &moved);
                self.rebuilt += 1;
            }
        }
        if !worn.is_empty() {
            // New buffers: a frame that is under way reads the old ones.
            let made = upload(gpu, uploader, (&self.bvh, scene), moving)?;
            (self.buffers, self.refit, self.structures) =
                (made.buffers, made.refit, made.structures);
        }
        enclose(&mut self.bvh, scene, moving);
        Ok(())
    }

    /// What the device does for trees that move.
    #[must_use]
    pub const fn refit(&self) -> Option<&Refit> {
        self.refit.as_ref()
    }

    /// The same triangles as rays by ray query find them; none where the device was opened without.
    #[must_use]
    pub const fn structures(&self) -> Option<&Arc<BlasSet>> {
        self.structures.as_ref()
    }

    /// How often a lower tree was built anew since the scene was uploaded, because it had become
    /// too bad.
    #[must_use]
    pub const fn rebuild_count(&self) -> u64 {
        self.rebuilt
    }

    /// Nodes and triangles of all lower trees, on the device.
    #[must_use]
    pub const fn blas_buffers(&self) -> [&Arc<Buffer>; 2] {
        [&self.buffers[0].1, &self.buffers[1].1]
    }

    /// The trees as the host knows them: those that the device refits with boxes and triangles of
    /// their build.
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

/// Trees on the device.
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
    // At least one element each: nothing is read of what is not there.
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

/// The trees with their upper level for one frame's camera.
#[derive(Clone)]
pub struct FrameBvh {
    scene: [(&'static str, Arc<Buffer>); 4],
    top: Arc<Buffer>,
    instances: Arc<Buffer>,
    masked: bool,
    /// The same by ray query.
    structure: Option<Arc<Tlas>>,
}

/// The trees of a frame for its eye, made when they are first asked for.
pub struct LazyFrameBvh<'a> {
    gpu: &'a Gpu,
    scene: &'a GpuScene,
    eye: DVec3,
    made: OnceCell<Option<FrameBvh>>,
}

impl<'a> LazyFrameBvh<'a> {
    /// Of a scene, for an eye in the world (m).
    #[must_use]
    pub const fn new(gpu: &'a Gpu, scene: &'a GpuScene, eye: DVec3) -> Self {
        Self { gpu, scene, eye, made: OnceCell::new() }
    }

    /// The trees; none where they hold nothing.
    ///
    /// # Errors
    /// Out of memory; a scene that was uploaded without trees.
    pub fn get(&self) -> GpuResult<Option<FrameBvh>> {
        if let Some(made) = self.made.get() {
            return Ok(made.clone());
        }
        let made = FrameBvh::new(self.gpu, self.scene, self.eye)?;
        Ok(self.made.get_or_init(|| made).clone())
    }

    /// What was made.
    #[must_use]
    pub fn made(self) -> Option<FrameBvh> {
        self.made.into_inner().flatten()
    }
}

impl FrameBvh {
    /// None where they hold nothing.
    ///
    /// # Errors
    /// Out of memory; a scene that was uploaded without trees.
    pub fn new(gpu: &Gpu, scene: &GpuScene, camera: DVec3) -> GpuResult<Option<Self>> {
        let Some(trees) = &scene.bvh else {
            return Err(GpuError::Pipeline {
                pipeline: "traced shadows".into(),
                detail:
                    "the scene was uploaded without trees for shadows; Renderer::upload_for takes the shadow settings"
                        .into(),
            });
        };
        Self::seen_from(
            gpu,
            (&trees.bvh, trees.masked),
            (&trees.buffers, trees.structures.as_ref()),
            camera,
        )
    }

    /// Of any trees, which are uploaded for it; none where they hold nothing.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn of(
        gpu: &Gpu,
        uploader: &mut Uploader,
        (bvh, scene): (&SceneBvh, &Scene),
        camera: DVec3,
    ) -> GpuResult<Option<Self>> {
        let made = upload(gpu, uploader, (bvh, scene), &[])?;
        Self::seen_from(
            gpu,
            (bvh, !bvh.masks.is_empty()),
            (&made.buffers, made.structures.as_ref()),
            camera,
        )
    }

    fn seen_from(
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
            structures.map(|bottoms| top_structure(gpu, (bvh, bottoms), camera)).transpose()?;
        Ok(Some(Self {
            structure,
            scene: buffers.clone(),
            top: upload("shadow places", bytemuck::cast_slice(&top.nodes))?,
            instances: upload("shadow instances", bytemuck::cast_slice(&top.instances))?,
            masked,
        }))
    }

    /// Whether shaders have to be told that it has alpha masks: by ray query they always know.
    #[must_use]
    pub const fn masked(&self) -> bool {
        self.masked && self.structure.is_none()
    }

    /// The upper level that rays by ray query go through, which is built in the frame; none where
    /// rays walk our own trees.
    #[must_use]
    pub const fn structure(&self) -> Option<&Arc<Tlas>> {
        self.structure.as_ref()
    }

    /// Makes rays walk our own trees, whatever the device offers.
    pub(super) fn force_software(&mut self) {
        self.structure = None;
    }

    /// The masks that `binds` leaves out where there are none, for shaders that always have names
    /// for them.
    #[must_use]
    pub fn unused_mask_binds(&self) -> Vec<(&'static str, Bind<'_>)> {
        let rest =
            self.scene.iter().skip(if self.masked || self.structure.is_some() { 4 } else { 2 });
        rest.map(|(name, buffer)| (*name, Bind::Storage(buffer))).collect()
    }

    /// What a pipeline that traces binds. A shader without masks has no names for them.
    #[must_use]
    pub fn binds(&self) -> Vec<(&'static str, Bind<'_>)> {
        // By ray query, all but the nodes.
        let range = match (&self.structure, self.masked) {
            (Some(_), _) => 1..4,
            (None, true) => 0..4,
            (None, false) => 0..2,
        };
        let of_scene = self.scene.get(range).unwrap_or_default().iter();
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
    use crate::{bvh, passes::shared};

    #[test]
    fn bvh_layout_matches_the_shaders() {
        assert_eq!(size_of::<bvh::BvhNode>(), size_of::<shared::BvhNode>());
        assert_eq!(size_of::<bvh::BvhTriangle>(), size_of::<shared::BvhTriangle>());
        assert_eq!(size_of::<bvh::BvhInstance>(), size_of::<shared::BvhInstance>());
        macro_rules! same {
            ($a:ty, $b:ty: $($field:ident)*) => {
                $(assert_eq!(std::mem::offset_of!($a, $field), std::mem::offset_of!($b, $field));)*
            };
        }
        same!(bvh::BvhNode, shared::BvhNode: low first high count);
        same!(bvh::BvhTriangle, shared::BvhTriangle: a normal_a b normal_b c normal_c);
        same!(bvh::BvhInstance, shared::BvhInstance: rows root mask corners slack surface first);
    }
}
