//! Updates of the uploaded scene to another pose.

use std::sync::{Arc, atomic::Ordering};

use glam::{DMat4, Vec3};

use super::{
    area_lights,
    buffers::uploaded_buffer,
    deform::moving_primitives,
    geometry::set_casters,
    ies_profiles::Profiles,
    light_tree,
    lights::{tree_over, world_lights},
    packed_materials::{all_materials, any_emitter, max_emission, pack_all},
    pose::{DeformPose, GpuScenePose, PrimitivePose},
    scene::{GpuScene, UPLOADS},
    water::PlacedWater,
};
use crate::{
    bvh::ShadowProperties,
    gpu::{Gpu, GpuResult, upload::Uploader},
    scene::{Scene, animation::AnimationTarget},
};

impl GpuScene {
    /// Pose of the uploaded scene after `Scene::apply`, for times other than the frame's own.
    #[must_use]
    pub fn pose(&self, scene: &Scene) -> Arc<GpuScenePose> {
        let mut places: Vec<Vec<DMat4>> = vec![Vec::new(); scene.meshes.len()];
        for placed in scene.walk() {
            if let Some(places) = placed.node.mesh.and_then(|mesh| places.get_mut(mesh)) {
                places.push(placed.world);
            }
        }
        let places: Vec<Arc<[DMat4]>> = places.into_iter().map(Arc::from).collect();
        let mut bodies = if self.groups.len() > self.own_groups {
            area_lights::light_bodies(scene)
        } else {
            Vec::new()
        }
        .into_iter()
        .map(|body| body.world);
        let mut groups: Vec<PrimitivePose> = self
            .groups
            .iter()
            .zip(&self.current_pose.groups)
            .map(|(group, now)| {
                let places = match group.source {
                    Some((mesh, _)) => places.get(mesh).cloned(),
                    None => bodies.next().map(|place| Arc::from([place])),
                };
                PrimitivePose {
                    world_transforms: places.unwrap_or_else(|| Arc::clone(&now.world_transforms)),
                    ..now.clone()
                }
            })
            .collect();
        let mut movers = DeformPose::default();
        if let Some(deformers) = &self.deformers {
            let worlds = scene.world_transforms();
            movers = deformers.movers(scene, &worlds);
            for part in &deformers.parts {
                if let Some(group) = groups.get_mut(part.group) {
                    (group.center, group.radius) = part.sphere(scene, &worlds);
                    group.half_size = Vec3::splat(group.radius);
                }
            }
        }
        Arc::new(GpuScenePose { groups, deform: movers })
    }

    /// Updates the uploaded scene to another pose: transforms, deformed vertices (on the device, in
    /// the next frame), lights, material factors with the shadows that they change, and the BVH of
    /// traced shadows. Does not need the vertices of `Scene::bake`.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn follow(&mut self, gpu: &Gpu, scene: &Scene) -> GpuResult<()> {
        let values = scene.animations.iter().flat_map(|animation| &animation.channels);
        let played =
            values.into_iter().any(|channel| matches!(channel.target, AnimationTarget::Value(_)));
        self.follow_all(gpu, scene, played)
    }

    /// Updates lights with new strengths, colors, cones and positions, and material factors. Shapes
    /// and profiles of the lights, the environment and textures must be those of the upload.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn relight(&mut self, gpu: &Gpu, scene: &Scene) -> GpuResult<()> {
        self.follow_all(gpu, scene, true)
    }

    fn follow_all(&mut self, gpu: &Gpu, scene: &Scene, materials: bool) -> GpuResult<()> {
        self.waters = PlacedWater::all(scene, &self.waters);
        let posed = self.pose(scene);
        let mut uploader = Uploader::new(gpu)?;
        let moved = *posed != *self.current_pose;
        if moved {
            let (first, bounds) = &self.uploaded;
            self.bounds = match *posed == **first {
                true => *bounds,
                false => posed.bounds(self.own_groups).unwrap_or_default(),
            };
            if let Some(gpu_bvh) = &mut self.bvh {
                let moving = moving_primitives(self.deformers.as_ref(), scene, &self.groups);
                gpu_bvh.follow(gpu, &mut uploader, scene, &moving)?;
            }
            self.current_pose = posed;
            self.pose_revision = UPLOADS.fetch_add(1, Ordering::Relaxed);
            self.place(gpu)?;
        }
        let drifted = self.volumes.follow(scene);
        let lights = world_lights(scene, &mut Profiles::default());
        let shine_alike = lights.len() == self.lights.len()
            && lights.iter().zip(&self.lights).all(|(a, b)| {
                a.position == b.position
                    && bytemuck::bytes_of(&a.shader) == bytemuck::bytes_of(&b.shader)
            });
        if !shine_alike {
            self.light_tree = tree_over(&lights);
            // The box of the upload: the lights may have changed in an earlier pose.
            let (_, (low, high)) = self.uploaded;
            let table = light_tree::loss_table(&self.light_tree, low, high);
            let bytes = bytemuck::cast_slice(&table);
            self.light_loss_table =
                uploaded_buffer(gpu, &mut uploader, ("light losses", 0), bytes)?;
            self.lights = lights;
        }
        let mut recast = false;
        if materials {
            let described = all_materials(scene, &area_lights::light_bodies(scene));
            let shadow_properties: Vec<_> = described.iter().map(ShadowProperties::of).collect();
            recast = shadow_properties != self.shadow_properties;
            if recast {
                set_casters(&mut self.groups, &shadow_properties);
                self.shadow_properties = shadow_properties;
                if let Some(gpu_bvh) = &mut self.bvh {
                    let moving = moving_primitives(self.deformers.as_ref(), scene, &self.groups);
                    gpu_bvh.follow_materials(gpu, &mut uploader, scene, &moving)?;
                }
            }
            let mut numbers: &[Option<u32>] = &[];
            if let Some(extended) = &mut self.extended_materials {
                extended.follow(gpu, &mut uploader, &described)?;
                numbers = &extended.numbers;
            }
            let packed = pack_all(scene, &described, scene.materials.len(), numbers);
            self.has_emitters = any_emitter(&packed);
            let shown = self.groups.iter().map(|group| group.material as usize);
            self.max_emission = max_emission(&packed, shown);
            let bytes = bytemuck::cast_slice(&packed);
            self.materials = uploaded_buffer(gpu, &mut uploader, ("materials", 0), bytes)?;
            if let Some(indirect) = &mut self.gi {
                indirect.follow_materials(gpu, &mut uploader, scene)?;
            }
        }
        if moved || drifted || !shine_alike || recast {
            self.revision = UPLOADS.fetch_add(1, Ordering::Relaxed);
        }
        uploader.finish()
    }
}
