//! Draw lists of the uploaded scene: visible draws for a view, and shadow casters.

use glam::DVec3;

use super::{
    blend_order,
    draws::{CasterGroup, Casters, Draw, RenderQueue, Visible},
    geometry::Level,
    instances::{LodSelection, SplitPoint, in_view},
    scene::GpuScene,
    view::View,
};
use crate::gpu::shader_structs::culling::InstanceTransform;

impl GpuScene {
    /// Visible draws of this view in draw order. If the device culls (`on_device`), only draws that
    /// the host sorts, and those drawn twice at equal depth. Optionally includes the emitting
    /// surfaces of lights.
    #[must_use]
    pub fn visible(
        &self,
        view: &View,
        detail: LodSelection,
        (lamps, on_device): (bool, bool),
    ) -> Visible {
        let (camera, frustum) = (SplitPoint::new(view.position), view.frustum());
        let mut visible = Visible {
            draws: Vec::new(),
            instances: Vec::new(),
            sources: Vec::new(),
            culled: 0,
            sorted: Vec::new(),
            too_many_draws: false,
        };
        let mut blended: Vec<blend_order::Item<'_>> = Vec::new();
        let shown = if lamps { self.groups.len() } else { self.own_groups };
        for (number, (group, posed)) in
            self.groups.iter().zip(&self.current_pose.groups).take(shown).enumerate()
        {
            if on_device && group.culled_on_device()
                || self.only_material.is_some_and(|material| material != group.material)
            {
                continue;
            }
            // Sorted triangles always use the finest level.
            let levels = if group.queue == RenderQueue::Blend { 1 } else { group.levels() };
            let errors: Vec<f32> = (0..levels).map(|level| group.level(level).error).collect();
            for (mirrored, level) in
                [false, true].into_iter().flat_map(|m| (0..levels).map(move |level| (m, level)))
            {
                let first = visible.instances.len() as u32;
                let Level { first_index, index_count, .. } = group.level(level);
                let draw = |first_instance, instance_count| Draw {
                    first_index,
                    index_count,
                    vertex_offset: group.vertex_offset,
                    first_instance,
                    instance_count,
                    material: group.material,
                    double_sided: group.double_sided,
                    mirrored,
                    queue: group.queue,
                    extended: group.lobes,
                    refracts: group.refracts,
                    blended: group.blended,
                    sorted: false,
                };
                for (index, place) in posed.world_transforms.iter().enumerate() {
                    if (place.determinant() < 0.0) != mirrored {
                        continue;
                    }
                    let placement = InstanceTransform::new(place, posed, 0);
                    let (instance, center) = placement.relative_to(camera);
                    if !in_view(&frustum, center, placement.radius) {
                        visible.culled += usize::from(level == 0);
                        continue;
                    }
                    if detail.level(&errors, placement.stretch, center, placement.radius) != level {
                        continue;
                    }
                    if group.queue == RenderQueue::Blend {
                        blended.push(blend_order::Item {
                            distance: center.dot(view.forward),
                            draw: draw(visible.instances.len() as u32, 1),
                            world: *place,
                            triangles: self.blended.get(&number),
                        });
                    }
                    visible.instances.push(instance);
                    visible.sources.push((number as u32, index as u32));
                }
                let count = visible.instances.len() as u32 - first;
                if count > 0 && group.queue != RenderQueue::Blend {
                    visible.draws.push(draw(first, count));
                }
            }
        }
        visible.draws.sort_by_key(|draw| (draw.queue, draw.material));
        let order = blend_order::back_to_front(view, blended);
        visible.draws.extend(order.draws);
        visible.sorted = order.indices;
        visible.too_many_draws = order.too_many_draws;
        visible
    }

    /// All shadow casters: everything but water and transmissive thin walls (`bvh::casts_shadow`).
    #[must_use]
    pub fn casters(&self, camera: DVec3) -> Casters {
        let mut casters = Casters { instances: Vec::new(), groups: Vec::new() };
        let camera = SplitPoint::new(camera);
        let groups = self.groups.iter().zip(&self.current_pose.groups).take(self.own_groups);
        for (group, posed) in groups.filter(|(group, _)| group.casts) {
            let first_instance = casters.instances.len() as u32;
            let mut spheres = Vec::with_capacity(posed.world_transforms.len());
            for place in posed.world_transforms.iter() {
                let placement = InstanceTransform::new(place, posed, 0);
                let (instance, center) = placement.relative_to(camera);
                spheres.push((center, placement.radius));
                casters.instances.push(instance);
            }
            casters.groups.push(CasterGroup {
                first_index: group.first_index,
                index_count: group.index_count,
                vertex_offset: group.vertex_offset,
                material: group.material,
                // Refractive volumes cast opaque shadows, blended surfaces by their opacity.
                queue: match group.queue {
                    RenderQueue::Blend if group.blended => RenderQueue::Mask,
                    RenderQueue::Blend => RenderQueue::Opaque,
                    queue => queue,
                },
                first_instance,
                spheres,
            });
        }
        casters
    }
}
