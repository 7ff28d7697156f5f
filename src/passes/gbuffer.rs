//! G-buffer pass: depth, surface, normal, emission, 24 bytes per pixel (docs/gbuffer.md).

use std::sync::Arc;

use super::{
    FrameData, GpuScene,
    culling::{CullingOutput, draw_culled},
    scene_data,
};
use crate::{
    gpu::{Bind, Buffer, Gpu, GpuResult, GraphicsPipeline, GraphicsState, Recorder, vk},
    graph::{Access, BufferHandle, Graph, ImageHandle},
};

/// Reversed depth: 1 near, 0 far.
pub const DEPTH: vk::Format = vk::Format::D32_SFLOAT;
/// Base color, metallic, roughness, occlusion (`shaders/lib/packing.glsl`).
pub const SURFACE: vk::Format = vk::Format::R32G32_UINT;
/// Octahedral normal.
pub const NORMAL: vk::Format = vk::Format::R32_UINT;
/// Pre-exposed light: emission, and light of all lit images.
pub const LIGHT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

/// Images of the G-buffer.
#[derive(Clone, Copy)]
pub struct Gbuffer {
    /// Reversed depth (`DEPTH`).
    pub depth: ImageHandle,
    /// Packed surface parameters (`SURFACE`).
    pub surface: ImageHandle,
    /// Octahedral normal (`NORMAL`).
    pub normal: ImageHandle,
    /// Pre-exposed emission (`LIGHT`).
    pub emission: ImageHandle,
}

/// Pipelines of the G-buffer pass.
pub struct GbufferPass {
    /// Pipeline without alpha test; its set 1 is the layout of material textures.
    pub opaque: Arc<GraphicsPipeline>,
    plain: Arc<GraphicsPipeline>,
    mask: Arc<GraphicsPipeline>,
}

/// Common state of all pipelines that draw scene geometry.
#[must_use]
pub fn geometry_state(colors: Vec<(vk::Format, bool)>, depth_write: bool) -> GraphicsState {
    GraphicsState {
        vertex_stride: scene_data::VERTEX_STRIDE,
        attributes: scene_data::vertex_attributes(),
        colors,
        depth: Some((DEPTH, depth_write, vk::CompareOp::GREATER)),
        textures_of: Some("gbuffer.frag"),
        ..GraphicsState::default()
    }
}

impl GbufferPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = geometry_state(vec![(SURFACE, false), (NORMAL, false), (LIGHT, false)], true);
        let make = |name: &str, fragment: &str| {
            GraphicsPipeline::new(gpu, name, "geometry.vert", fragment, &state)
        };
        Ok(Self {
            opaque: make("gbuffer", "gbuffer.frag")?,
            plain: make("gbuffer plain", "gbuffer.frag+UNTEXTURED")?,
            mask: make("gbuffer mask", "gbuffer.frag+ALPHA_TEST")?,
        })
    }

    /// Declares the pass. `culled`: draws that the device selected; `moved`: deformed vertices, if
    /// a pass deforms them.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        data: &'a FrameData,
        (culled, moved): (Option<CullingOutput>, Option<BufferHandle>),
    ) -> Gbuffer {
        let [width, height] = data.values.size;
        let out = Gbuffer {
            depth: g.image("depth", width, height, DEPTH),
            surface: g.image("gbuffer surface", width, height, SURFACE),
            normal: g.image("gbuffer normal", width, height, NORMAL),
            emission: g.image("gbuffer emission", width, height, LIGHT),
        };
        let mut pass = g.pass("gbuffer");
        if let Some(vertices) = moved {
            pass = pass.uses(vertices, Access::VertexFetch);
        }
        if let Some(culled) = culled {
            pass = pass
                .uses(culled.instances, Access::VertexStorageRead)
                .uses(culled.commands, Access::Indirect);
        }
        pass.depth_cleared(out.depth)
            .color_cleared(out.surface, [0.0; 4])
            .color_cleared(out.normal, [0.0; 4])
            .color_cleared(out.emission, [0.0; 4])
            .record(move |cx| {
                let pipelines = [
                    (scene_data::RenderQueue::Untextured, &self.plain),
                    (scene_data::RenderQueue::Opaque, &self.opaque),
                    (scene_data::RenderQueue::Mask, &self.mask),
                ];
                let culled =
                    culled.map(|culled| (cx.buffer(culled.instances), cx.buffer(culled.commands)));
                for (layer, pipeline) in pipelines {
                    if let Some((instances, commands)) = &culled {
                        bind_scene(cx.rec, scene, data, instances, pipeline, &[])?;
                        cx.rec.bind_geometry(&scene.vertices, &scene.indices);
                        draw_culled(cx.rec, (scene, data), commands, layer, pipeline);
                    }
                    // All draws, or those that the device leaves to the host.
                    draw_layer(cx.rec, scene, data, layer, pipeline, &[])?;
                }
                Ok(())
            });
        out
    }
}

/// Binds a pipeline with the scene's geometry and these instances.
fn bind_scene(
    rec: &mut Recorder<'_>,
    scene: &GpuScene,
    data: &FrameData,
    instances: &Arc<Buffer>,
    pipeline: &Arc<GraphicsPipeline>,
    extra: &[(&str, Bind<'_>)],
) -> GpuResult<()> {
    let mut binds = vec![
        data.uniform(),
        ("instance_block", Bind::Storage(instances)),
        ("material_block", Bind::Storage(&scene.materials)),
    ];
    binds.extend_from_slice(extra);
    rec.bind_graphics(pipeline, &binds)?;
    rec.keep(Arc::clone(&scene.textures) as _);
    Ok(())
}

/// Draws a render queue with a pipeline; `extra`: bindings beyond those of all geometry.
///
/// # Errors
/// `GpuError` if the bindings do not match the pipeline.
pub fn draw_layer(
    rec: &mut Recorder<'_>,
    scene: &GpuScene,
    data: &FrameData,
    layer: scene_data::RenderQueue,
    pipeline: &Arc<GraphicsPipeline>,
    extra: &[(&str, Bind<'_>)],
) -> GpuResult<()> {
    let draws: Vec<_> = data.visible.draws.iter().filter(|draw| draw.queue == layer).collect();
    let sets = if layer == scene_data::RenderQueue::Untextured {
        TextureSets::None
    } else {
        TextureSets::Core
    };
    draw_all(rec, scene, data, &draws, (pipeline, sets), extra)
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

/// Draws these with a pipeline, in order.
///
/// # Errors
/// `GpuError` if the bindings do not match the pipeline.
pub fn draw_all(
    rec: &mut Recorder<'_>,
    scene: &GpuScene,
    data: &FrameData,
    draws: &[&scene_data::Draw],
    (pipeline, sets): (&Arc<GraphicsPipeline>, TextureSets),
    extra: &[(&str, Bind<'_>)],
) -> GpuResult<()> {
    if draws.is_empty() {
        return Ok(());
    }
    bind_scene(rec, scene, data, &data.instances, pipeline, extra)?;
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
                if draw.sorted { &data.sorted } else { &scene.indices },
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
