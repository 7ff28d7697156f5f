//! G-buffer pass: depth, surface, normal, emission, 24 bytes per pixel (docs/gbuffer.md).

use std::sync::Arc;

use super::{
    culling::{CullingOutput, draw_culled},
    formats::{DEPTH, LIGHT, NORMAL, SURFACE},
    scene_draws::{draw_layer, geometry_state},
    scene_frame::SceneFrame,
};
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline},
    gpu_scene::RenderQueue,
    graph::{BufferHandle, Graph, ImageHandle},
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

impl Gbuffer {
    /// Depth and normal, with their names in shaders.
    #[must_use]
    pub const fn depth_and_normal(&self) -> [(&'static str, ImageHandle); 2] {
        [("depth_image", self.depth), ("normal_image", self.normal)]
    }

    /// All but emission, with their names in shaders.
    #[must_use]
    pub const fn without_emission(&self) -> [(&'static str, ImageHandle); 3] {
        [
            ("depth_image", self.depth),
            ("surface_image", self.surface),
            ("normal_image", self.normal),
        ]
    }

    /// All images, with their names in shaders.
    #[must_use]
    pub const fn all(&self) -> [(&'static str, ImageHandle); 4] {
        [
            ("depth_image", self.depth),
            ("surface_image", self.surface),
            ("normal_image", self.normal),
            ("emission_image", self.emission),
        ]
    }
}

/// Binding groups of instances that the device culled, and of those that the host selected.
const CULLED: &str = "culled";
const HOST: &str = "host";

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
        frame: SceneFrame<'a>,
        culled: Option<CullingOutput>,
        moved: Option<BufferHandle>,
    ) -> Gbuffer {
        let SceneFrame { scene, data, .. } = frame;
        let [width, height] = data.uniforms.values.size;
        let out = Gbuffer {
            depth: g.image("depth", width, height, DEPTH),
            surface: g.image("gbuffer surface", width, height, SURFACE),
            normal: g.image("gbuffer normal", width, height, NORMAL),
            emission: g.image("gbuffer emission", width, height, LIGHT),
        };
        g.draws("gbuffer")
            .vertices(moved)
            .binds([data.uniform()])
            .storage("material_block", &scene.materials)
            .group(HOST, |pass| pass.vertex_storage("instance_block", &data.draws.instances))
            .with(culled, |pass, culled| {
                pass.group(CULLED, |pass| pass.vertex_storage("instance_block", culled.instances))
                    .commands(culled.commands)
            })
            .depth_cleared(out.depth)
            .target(out.surface)
            .target(out.normal)
            .target(out.emission)
            .record(move |cx, bindings| {
                let pipelines = [
                    (RenderQueue::Untextured, &self.plain),
                    (RenderQueue::Opaque, &self.opaque),
                    (RenderQueue::Mask, &self.mask),
                ];
                for (layer, pipeline) in pipelines {
                    if let Some(culled) = culled {
                        let commands = cx.buffer(culled.commands);
                        cx.rec.bind_graphics(pipeline, &bindings.with_group(CULLED))?;
                        cx.rec.bind_geometry(&scene.vertices, &scene.indices);
                        draw_culled(cx.rec, scene, &commands, culled.levels, layer, pipeline);
                    }
                    // All draws, or those that the device leaves to the host.
                    draw_layer(cx.rec, frame, layer, pipeline, &bindings.with_group(HOST))?;
                }
                Ok(())
            });
        out
    }
}
