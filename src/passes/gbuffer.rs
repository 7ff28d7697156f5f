//! G-buffer pass: depth, surface, normal, emission, 24 bytes per pixel (docs/gbuffer.md).

use std::sync::Arc;

use super::{
    culling::{CullingOutput, draw_culled},
    formats::{DEPTH, LIGHT, NORMAL, SURFACE},
    scene_draws::{bind_scene, draw_layer, geometry_state},
};
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline},
    gpu_scene::{FrameData, GpuScene, RenderQueue},
    graph::{Access, BufferHandle, Graph, ImageHandle},
};

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
        let [width, height] = data.uniforms.values.size;
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
                    (RenderQueue::Untextured, &self.plain),
                    (RenderQueue::Opaque, &self.opaque),
                    (RenderQueue::Mask, &self.mask),
                ];
                let culled = culled
                    .map(|out| (cx.buffer(out.instances), cx.buffer(out.commands), out.levels));
                for (layer, pipeline) in pipelines {
                    if let Some((instances, commands, levels)) = &culled {
                        bind_scene(cx.rec, scene, data, instances, pipeline, &[])?;
                        cx.rec.bind_geometry(&scene.vertices, &scene.indices);
                        draw_culled(cx.rec, scene, (commands, *levels), layer, pipeline);
                    }
                    // All draws, or those that the device leaves to the host.
                    draw_layer(cx.rec, scene, data, layer, pipeline, &[])?;
                }
                Ok(())
            });
        out
    }
}
