//! What rays for shadows and through refracting bodies need on the device: the trees over the scene, their upper level for each frame's camera, and the
//! pipelines that walk them.

use std::sync::Arc;

use glam::DVec3;

use super::{GpuScene, scene_data::WorldLight, shared};
use crate::{
    bvh::{SceneBvh, casts_shadow},
    gpu::{Bind, Buffer, BufferKind, Gpu, GpuError, GpuResult, upload::Uploader},
    scene::{Material, Scene},
};

/// Which lights find their shadows by rays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreesFor {
    /// None does.
    None,
    /// Those with a size.
    Sized,
    /// All do.
    All,
}

impl TreesFor {
    /// Whether these lights need trees.
    #[must_use]
    pub fn wanted(self, lights: &[WorldLight]) -> bool {
        let sized = |light: &WorldLight| {
            let kind = light.shader.kind & shared::LIGHT_KIND_BITS;
            let pointlike = kind == shared::LIGHT_POINT || light.directional && light.shader.half_width == 0.0;
            light.shader.kind & shared::LIGHT_SHADOW != 0 && !pointlike
        };
        self == Self::All || self == Self::Sized && lights.iter().any(sized)
    }
}

/// What the trees over a scene are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeUse {
    /// Rays for shadows.
    pub shadows: bool,
    /// Rays that refract: the trees have what refracts too, panes that cast no shadow among it.
    pub refraction: bool,
    /// Rays for bounced light.
    pub indirect: bool,
}

impl TreeUse {
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
pub struct SceneTrees {
    bvh: SceneBvh,
    /// What they are for.
    pub wanted: TreeUse,
    buffers: [(&'static str, Arc<Buffer>); 4],
    masked: bool,
}

impl SceneTrees {
    /// Builds and uploads them.
    ///
    /// # Errors
    /// Out of memory; more triangles than the device's buffers hold; a lost device.
    pub fn new(gpu: &Gpu, uploader: &mut Uploader, scene: &Scene, wanted: TreeUse) -> GpuResult<Self> {
        let mut bvh = SceneBvh::new(scene, |material| wanted.takes(material));
        let mut upload = |name: &str, bytes: &[u8], least: usize| {
            let buffer = Buffer::new(gpu, name, bytes.len().max(least) as u64, BufferKind::Storage)?;
            uploader.buffer(&buffer, bytes)?;
            Ok(buffer)
        };
        // At least one element each: nothing is read of what is not there.
        let buffers = [
            ("bvh_node_block", upload("shadow nodes", bytemuck::cast_slice(&bvh.nodes), 32)?),
            ("bvh_triangle_block", upload("shadow triangles", bytemuck::cast_slice(&bvh.triangles), 48)?),
            ("bvh_corner_block", upload("shadow mask corners", bytemuck::cast_slice(&bvh.corners), 36)?),
            ("bvh_mask_block", upload("shadow masks", bytemuck::cast_slice(&bvh.masks), 4)?),
        ];
        // The host keeps what places need, not what the device has, unless vertices move.
        let masked = !bvh.masks.is_empty();
        if scene.deformed().is_empty() {
            bvh.forget_triangles();
        }
        Ok(Self { bvh, wanted, buffers, masked })
    }

    /// Goes along with a scene whose nodes and vertices have moved. Where nodes have moved the upper level is made anew;
    /// trees of moved vertices keep their shape, and all lower trees are uploaded again.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn follow(&mut self, gpu: &Gpu, uploader: &mut Uploader, scene: &Scene) -> GpuResult<()> {
        if !self.bvh.fits(scene) {
            *self = Self::new(gpu, uploader, scene, self.wanted)?;
            return Ok(());
        }
        let deformed = scene.deformed();
        for &(_, mesh) in &deformed {
            for (number, primitive) in scene.meshes[mesh].primitives.iter().enumerate() {
                if primitive.deform.is_some() {
                    self.bvh.refit(mesh, number, primitive);
                }
            }
        }
        self.bvh.place(scene);
        if !deformed.is_empty() {
            let [nodes, triangles, ..] = &mut self.buffers;
            for ((name, slot), bytes) in [
                (("shadow nodes", nodes), bytemuck::cast_slice(&self.bvh.nodes)),
                (("shadow triangles", triangles), bytemuck::cast_slice(&self.bvh.triangles)),
            ] {
                let bytes: &[u8] = bytes;
                // A frame that is under way reads the one before.
                slot.1 = Buffer::new(gpu, name, bytes.len().max(48) as u64, BufferKind::Storage)?;
                uploader.buffer(&slot.1, bytes)?;
            }
        }
        Ok(())
    }
}

/// The trees with their upper level for one frame's camera.
#[derive(Clone)]
pub struct FrameTrees {
    scene: [(&'static str, Arc<Buffer>); 4],
    top: Arc<Buffer>,
    instances: Arc<Buffer>,
    masked: bool,
}

impl FrameTrees {
    /// None where they hold nothing.
    ///
    /// # Errors
    /// Out of memory; a scene that was uploaded without trees.
    pub fn new(gpu: &Gpu, scene: &GpuScene, camera: DVec3) -> GpuResult<Option<Self>> {
        let Some(trees) = &scene.trees else {
            return Err(GpuError::Pipeline {
                pipeline: "traced shadows".into(),
                detail:
                    "the scene was uploaded without trees for shadows; Renderer::upload_for takes the shadow settings"
                        .into(),
            });
        };
        let top = trees.bvh.seen_from(camera);
        if top.instances.is_empty() {
            return Ok(None);
        }
        let upload = |name: &str, bytes: &[u8]| -> GpuResult<Arc<Buffer>> {
            let buffer = Buffer::new(gpu, name, bytes.len() as u64, BufferKind::Dynamic)?;
            buffer.write(0, bytes);
            Ok(buffer)
        };
        Ok(Some(Self {
            scene: trees.buffers.clone(),
            top: upload("shadow places", bytemuck::cast_slice(&top.nodes))?,
            instances: upload("shadow instances", bytemuck::cast_slice(&top.instances))?,
            masked: trees.masked,
        }))
    }

    /// Whether any of it has alpha masks.
    #[must_use]
    pub const fn masked(&self) -> bool {
        self.masked
    }

    /// The masks that `binds` leaves out where there are none, for shaders that always have names for them.
    #[must_use]
    pub fn empty_masks(&self) -> Vec<(&'static str, Bind<'_>)> {
        let rest = self.scene.iter().skip(if self.masked { 4 } else { 2 });
        rest.map(|(name, buffer)| (*name, Bind::Storage(buffer))).collect()
    }

    /// What a pipeline that traces binds. A shader without masks has no names for them.
    #[must_use]
    pub fn binds(&self) -> Vec<(&'static str, Bind<'_>)> {
        let of_scene = self.scene.iter().take(if self.masked { 4 } else { 2 });
        let mut binds: Vec<_> = of_scene.map(|(name, buffer)| (*name, Bind::Storage(buffer))).collect();
        binds.push(("bvh_top_block", Bind::Storage(&self.top)));
        binds.push(("bvh_instance_block", Bind::Storage(&self.instances)));
        binds
    }
}

#[cfg(test)]
mod tests {
    use crate::{bvh, passes::shared};

    #[test]
    fn the_trees_lie_in_memory_as_the_shaders_read_them() {
        assert_eq!(size_of::<bvh::Node>(), size_of::<shared::BvhNode>());
        assert_eq!(size_of::<bvh::Triangle>(), size_of::<shared::BvhTriangle>());
        assert_eq!(size_of::<bvh::Instance>(), size_of::<shared::BvhInstance>());
        macro_rules! same {
            ($a:ty, $b:ty: $($field:ident)*) => {
                $(assert_eq!(std::mem::offset_of!($a, $field), std::mem::offset_of!($b, $field));)*
            };
        }
        same!(bvh::Node, shared::BvhNode: low first high count);
        same!(bvh::Triangle, shared::BvhTriangle: a normal_a b normal_b c normal_c);
        same!(bvh::Instance, shared::BvhInstance: rows root mask corners slack surface);
    }
}
