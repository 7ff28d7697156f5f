//! Draws of scene geometry: pipeline state, bindings and draw calls.

use std::sync::Arc;

use super::{formats::DEPTH, scene_frame::SceneFrame};
use crate::{
    gpu::{Bind, GpuResult, GraphicsPipeline, GraphicsState, Recorder, vk},
    gpu_scene::{Draw, RenderQueue, VERTEX_STRIDE, vertex_attributes},
};

/// Common state of all pipelines that draw scene geometry.
#[must_use]
pub fn geometry_state(colors: Vec<(vk::Format, bool)>, depth_write: bool) -> GraphicsState {
    GraphicsState {
        vertex_stride: VERTEX_STRIDE,
        attributes: vertex_attributes(),
        colors,
        depth: Some((DEPTH, depth_write, vk::CompareOp::GREATER)),
        textures_of: Some("gbuffer.frag"),
        ..GraphicsState::default()
    }
}

/// Draws a render queue with a pipeline and these bindings.
///
/// # Errors
/// `GpuError` if the bindings do not match the pipeline.
pub fn draw_layer(
    rec: &mut Recorder<'_>,
    frame: SceneFrame<'_>,
    layer: RenderQueue,
    pipeline: &Arc<GraphicsPipeline>,
    binds: &[(&str, Bind<'_>)],
) -> GpuResult<()> {
    let draws: Vec<_> =
        frame.data.draws.visible.draws.iter().filter(|draw| draw.queue == layer).collect();
    let sets = if layer == RenderQueue::Untextured { TextureSets::None } else { TextureSets::Core };
    draw_all(rec, frame, &draws, pipeline, sets, binds)
}

/// Material texture sets that a pipeline reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureSets {
    /// No textures.
    None,
    /// Set 1: core textures.
    Core,
    /// Set 1, and set 2 with the textures of extended materials.
    Layers,
}

/// Draws these with a pipeline and these bindings, in order.
///
/// # Errors
/// `GpuError` if the bindings do not match the pipeline.
pub fn draw_all(
    rec: &mut Recorder<'_>,
    SceneFrame { scene, data, .. }: SceneFrame<'_>,
    draws: &[&Draw],
    pipeline: &Arc<GraphicsPipeline>,
    sets: TextureSets,
    binds: &[(&str, Bind<'_>)],
) -> GpuResult<()> {
    if draws.is_empty() {
        return Ok(());
    }
    rec.bind_graphics(pipeline, binds)?;
    rec.keep(Arc::clone(&scene.textures) as _);
    let layers = scene.extended_materials.as_ref().filter(|_| sets == TextureSets::Layers);
    if let Some(layers) = layers {
        rec.keep(Arc::clone(&layers.textures) as _);
    }
    let mut material = None;
    let mut sorted = None;
    for draw in draws {
        if sorted != Some(draw.sorted) {
            sorted = Some(draw.sorted);
            rec.bind_geometry(
                &scene.vertices,
                if draw.sorted { &data.draws.sorted } else { &scene.indices },
            );
        }
        if material != Some(draw.material) {
            material = Some(draw.material);
            if sets != TextureSets::None {
                rec.bind_texture_set(pipeline, &scene.textures, draw.material as usize);
            }
            if let Some(layers) = layers
                && let Some(number) = layers.numbers.get(draw.material as usize).copied().flatten()
            {
                rec.bind_texture_set(pipeline, &layers.textures, number as usize);
            }
            rec.push_graphics(pipeline, &draw.material);
        }
        rec.set_culling(!draw.double_sided, draw.mirrored);
        rec.draw_indexed(
            draw.first_index,
            draw.index_count,
            draw.vertex_offset,
            draw.first_instance,
            draw.instance_count,
        );
    }
    Ok(())
}
