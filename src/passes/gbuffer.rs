//! G-buffer pass: depth, surface, normal, emission, 24 bytes per pixel (docs/gbuffer.md).

use std::sync::Arc;

use super::{
    culling::{CullingOutput, draw_culled},
    formats::{DEPTH, LIGHT, NORMAL, SURFACE},
    scene_draws::{draw_layer, geometry_state},
    scene_frame::SceneFrame,
};
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    gpu_scene::RenderQueue,
    graph::{BoundPass, BufferHandle, Graph, ImageHandle},
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

/// Pipelines of surfaces without textures, with them, and with an alpha test.
pub(super) struct OpaquePipelines {
    pub(super) plain: Arc<GraphicsPipeline>,
    pub(super) opaque: Arc<GraphicsPipeline>,
    pub(super) mask: Arc<GraphicsPipeline>,
}

impl OpaquePipelines {
    /// Creates the pipelines of a pass. `fragments`: the variants for surfaces without textures,
    /// with them, and with an alpha test.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub(super) fn new(
        gpu: &Gpu,
        name: &str,
        vertex: &str,
        fragments: [&str; 3],
        state: &GraphicsState,
    ) -> GpuResult<Self> {
        let make = |what: &str, fragment: &str| {
            GraphicsPipeline::new(gpu, &format!("{name}{what}"), vertex, fragment, state)
        };
        let [plain, opaque, mask] = fragments;
        Ok(Self {
            plain: make(" plain", plain)?,
            opaque: make("", opaque)?,
            mask: make(" mask", mask)?,
        })
    }
}

/// Adds the draws of all opaque surfaces to a pass. `culled`: draws that the device selected;
/// `moved`: deformed vertices, if a pass deforms them.
pub(super) fn draw_opaque<'a>(
    pass: BoundPass<'_, 'a>,
    frame: SceneFrame<'a>,
    culled: Option<CullingOutput>,
    moved: Option<BufferHandle>,
    pipelines: &'a OpaquePipelines,
) {
    let SceneFrame { scene, data, .. } = frame;
    pass.vertices(moved)
        .binds([data.uniform()])
        .storage("material_block", &scene.materials)
        .group(HOST, |pass| pass.vertex_storage("instance_block", &data.draws.instances))
        .with(culled, |pass, culled| {
            pass.group(CULLED, |pass| pass.vertex_storage("instance_block", culled.instances))
                .commands(culled.commands)
        })
        .record(move |cx, bindings| {
            let layers = [
                (RenderQueue::Untextured, &pipelines.plain),
                (RenderQueue::Opaque, &pipelines.opaque),
                (RenderQueue::Mask, &pipelines.mask),
            ];
            for (layer, pipeline) in layers {
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
}

/// Pipelines of the G-buffer pass.
pub struct GbufferPass(OpaquePipelines);

impl GbufferPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = geometry_state(vec![(SURFACE, false), (NORMAL, false), (LIGHT, false)], true);
        let fragments = ["gbuffer.frag+UNTEXTURED", "gbuffer.frag", "gbuffer.frag+ALPHA_TEST"];
        OpaquePipelines::new(gpu, "gbuffer", "geometry.vert", fragments, &state).map(Self)
    }

    /// Pipeline without alpha test; its set 1 is the layout of material textures.
    #[must_use]
    pub const fn opaque(&self) -> &Arc<GraphicsPipeline> {
        &self.0.opaque
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
        let [width, height] = frame.data.uniforms.values.size;
        let out = Gbuffer {
            depth: g.image("depth", width, height, DEPTH),
            surface: g.image("gbuffer surface", width, height, SURFACE),
            normal: g.image("gbuffer normal", width, height, NORMAL),
            emission: g.image("gbuffer emission", width, height, LIGHT),
        };
        let pass = g
            .draws("gbuffer")
            .depth_cleared(out.depth)
            .target(out.surface)
            .target(out.normal)
            .target(out.emission);
        draw_opaque(pass, frame, culled, moved, &self.0);
        out
    }
}
