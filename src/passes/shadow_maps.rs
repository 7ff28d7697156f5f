//! Shadow maps of directional, spot and point lights, as depths in one atlas (docs/shadow-maps.md).

mod plan;
mod projections;

use std::sync::Arc;

use glam::{DVec3, Vec4};

use super::formats::DEPTH;
use crate::{
    gpu::{
        Buffer, Gpu, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::frame::{self, NONE},
        vk,
    },
    gpu_scene::{self, Casters, GpuScene, RenderQueue, View, dynamic_buffer},
    graph::{BufferHandle, Graph, ImageHandle},
};

pub use self::plan::{AtlasMap, Placement, ShadowAtlasPlan, ShadowMapSettings, plan};

/// Binding group of pipelines with alpha test.
const MASK: &str = "mask";

/// Name of the atlas among the images that the graph keeps.
pub const ATLAS: &str = "shadow atlas";

/// Packs the plan for the shaders.
fn packed(plan: &ShadowAtlasPlan, camera: DVec3) -> Vec<frame::ShadowMap> {
    let [width, height] = plan.atlas.map(|side| side as f32);
    plan.maps
        .iter()
        .map(|map| {
            let [x, y, w, h] = map.rect.map(|side| side as f32);
            frame::ShadowMap {
                to_clip: map.to_clip(camera).as_mat4(),
                rect: Vec4::new(x / width, y / height, w / width, h / height),
                size: w,
                count: map.count,
                pad0: 0,
                pad1: 0,
            }
        })
        .collect()
}

/// Pipelines of the shadow map pass.
pub struct ShadowMapsPass {
    opaque: Arc<GraphicsPipeline>,
    mask: Arc<GraphicsPipeline>,
}

/// Push constants of a draw.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Push {
    material: u32,
    map: u32,
}

impl ShadowMapsPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |name: &str, vertex: &str, fragment: &str, used: &[u32]| {
            let state = GraphicsState {
                vertex_stride: gpu_scene::VERTEX_STRIDE,
                attributes: gpu_scene::vertex_attributes()
                    .into_iter()
                    .filter(|a| used.contains(&a.0))
                    .collect(),
                depth: Some((DEPTH, true, vk::CompareOp::GREATER)),
                textures_of: Some("gbuffer.frag"),
                // Constant bias away from the light (depth is reversed), in units of rounding. The
                // lookup handles slopes: a bias by the caster's slope is unbounded, and leaks light
                // through thin walls at grazing angles.
                depth_bias: Some((-4.0, 0.0)),
                ..GraphicsState::default()
            };
            GraphicsPipeline::new(gpu, name, vertex, fragment, &state)
        };
        Ok(Self {
            opaque: make("shadow maps", "shadow_maps.vert", "shadow_maps.frag", &[0])?,
            mask: make(
                "shadow maps mask",
                "shadow_maps.vert+ALPHA_TEST",
                "shadow_maps.frag+ALPHA_TEST",
                &[0, 3, 4, 5],
            )?,
        })
    }

    /// Declares the pass, which draws each map that is not `kept` from an earlier frame. Does
    /// nothing without maps. `camera`: its position in the world (m); `moved`: deformed vertices,
    /// if a pass deforms them.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        shadows: &'a FrameShadows,
        camera: DVec3,
        kept: Option<&ShadowAtlasPlan>,
        moved: Option<BufferHandle>,
    ) -> Option<ImageHandle> {
        if shadows.plan.maps.is_empty() {
            return None;
        }
        let [width, height] = shadows.plan.atlas;
        let atlas = g.persistent(ATLAS, width, height, DEPTH);
        let drawn = shadows.plan.to_draw(kept);
        if drawn.is_empty() {
            return Some(atlas);
        }
        let over = kept.is_some();
        let pass = g
            .draws("shadow maps")
            .vertices(moved)
            .vertex_storage("instance_block", &shadows.instances)
            .vertex_storage("shadow_map_block", &shadows.maps)
            .group(MASK, |pass| pass.storage("material_block", &scene.materials));
        let pass = if over { pass.depth_loaded(atlas) } else { pass.depth_cleared(atlas) };
        pass.record(move |cx, bindings| {
            let maps =
                || drawn.iter().filter_map(|&index| Some((index, shadows.plan.maps.get(index)?)));
            for (_, map) in maps().filter(|_| over) {
                cx.rec.clear_depth(map.rect, 0.0);
            }
            for (layers, pipeline, textured) in [
                (&[RenderQueue::Untextured, RenderQueue::Opaque][..], &self.opaque, false),
                (&[RenderQueue::Mask][..], &self.mask, true),
            ] {
                if !shadows.casters.groups.iter().any(|group| layers.contains(&group.queue)) {
                    continue;
                }
                let binds = if textured { bindings.with_group(MASK) } else { bindings.common() };
                cx.rec.bind_graphics(pipeline, &binds)?;
                cx.rec.bind_geometry(&scene.vertices, &scene.indices);
                cx.rec.keep(Arc::clone(&scene.textures) as _);
                for (index, map) in maps() {
                    cx.rec.set_viewport(map.rect);
                    let to_clip = map.to_clip(camera).as_mat4();
                    for group in
                        shadows.casters.groups.iter().filter(|group| layers.contains(&group.queue))
                    {
                        if textured {
                            cx.rec.bind_texture_set(
                                pipeline,
                                &scene.textures,
                                group.material as usize,
                            );
                        }
                        cx.rec.push_graphics(
                            pipeline,
                            &Push { material: group.material, map: index as u32 },
                        );
                        for (first, count) in group.visible_ranges(&to_clip) {
                            let geometry =
                                (group.first_index, group.index_count, group.vertex_offset);
                            cx.rec.draw_indexed(geometry.0, geometry.1, geometry.2, first, count);
                        }
                    }
                }
            }
            Ok(())
        });
        Some(atlas)
    }
}

impl FrameShadows {
    /// Plans the maps of a frame, assigns them to the lights and uploads the buffers. Shadow
    /// casters are collected only if a map is missing from the `kept` atlas. With `in_motion`, few
    /// are ([`Placement::InMotion`]).
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn new(
        gpu: &Gpu,
        scene: &GpuScene,
        view: &View,
        settings: Option<ShadowMapSettings>,
        lights: &mut [frame::Light],
        (kept, in_motion): (Option<&ShadowAtlasPlan>, bool),
    ) -> GpuResult<Self> {
        let plan = settings.map_or_else(ShadowAtlasPlan::default, |settings| {
            let max_side = gpu.limits().max_image_dimension2_d;
            let (lights, bounds) = (&scene.lights, scene.bounds);
            let placement = if in_motion { Placement::InMotion(kept) } else { Placement::Still };
            plan(placement, lights, bounds, view, settings, max_side)
        });
        for (light, first) in lights.iter_mut().zip(&plan.first_of_light) {
            light.shadow = first.unwrap_or(NONE);
        }
        let casters = Arc::new(if plan.to_draw(kept).is_empty() {
            Casters::default()
        } else {
            scene.casters(view.position)
        });
        let maps = packed(&plan, view.position);
        Ok(Self {
            instances: dynamic_buffer(gpu, "shadow instances", &casters.instances)?,
            maps: dynamic_buffer(gpu, "shadow maps", &maps)?,
            plan,
            casters,
        })
    }
}

/// Shadow map buffers of a frame.
#[derive(Clone)]
pub struct FrameShadows {
    /// Plan of the maps.
    pub plan: ShadowAtlasPlan,
    /// Shadow casters.
    pub casters: Arc<Casters>,
    /// Instances of all shadow casters.
    pub instances: Arc<Buffer>,
    /// `ShadowMap`s.
    pub maps: Arc<Buffer>,
}
