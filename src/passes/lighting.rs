//! Direct light of all clustered lights with the glTF BRDF, pre-exposed.

use super::{
    clustered_lights::ClusteredLights,
    formats::LIGHT,
    gbuffer::Gbuffer,
    scene_frame::SceneFrame,
    shadow_inputs::ShadowInputs,
    variants::{Features, LOBES, LightVariants, WantedVariant},
};
use crate::{
    gpu::{Gpu, GraphicsPipeline, GraphicsState},
    gpu_scene::FrameData,
    graph::{Graph, ImageHandle, ImageSource},
};

/// Pre-exposed light from the surfaces to the camera.
#[derive(Clone, Copy)]
pub struct LitImages {
    /// Total light.
    pub light: ImageHandle,
    /// Diffuse and specular parts, if requested.
    pub split: Option<(ImageHandle, ImageHandle)>,
}

/// Inputs from this frame's passes.
#[derive(Clone, Copy)]
pub struct LightingInputs {
    /// G-buffer of the visible surfaces.
    pub gbuffer: Gbuffer,
    /// Light lists per cluster.
    pub clustered_lights: ClusteredLights,
    /// Shadow inputs of the lights.
    pub shadow_inputs: ShadowInputs,
    /// Bent normal and ambient occlusion, if enabled.
    pub bent_normal_ao: Option<ImageHandle>,
}

/// Pipelines of the lighting pass.
pub struct LightingPass {
    variants: LightVariants,
}

impl LightingPass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let make = |gpu: &Gpu, name: &str, fragment: &str, features: Features| {
            let targets = if features.split() { 3 } else { 1 };
            let state = GraphicsState {
                colors: vec![(LIGHT, false); targets],
                constants: vec![features.bits],
                ..Default::default()
            };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Self { variants: LightVariants::new(gpu, "lighting.frag", !LOBES, make) }
    }

    /// The pipeline that a frame needs.
    #[must_use]
    pub fn wanted(&self, data: &FrameData, split: bool) -> WantedVariant<'_> {
        (&self.variants, Features::of(data, split))
    }

    /// Declares the pass.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        inputs: LightingInputs,
        split: bool,
    ) -> LitImages {
        let SceneFrame { scene, data, .. } = frame;
        let LightingInputs {
            gbuffer,
            clustered_lights: lists,
            shadow_inputs,
            bent_normal_ao: open,
        } = inputs;
        let [width, height] = data.uniforms.values.size;
        let light = g.image("light", width, height, LIGHT);
        let parts = split.then(|| {
            (
                g.image("direct diffuse", width, height, LIGHT),
                g.image("direct specular", width, height, LIGHT),
            )
        });
        let open = open.map_or_else(|| (&scene.white).into(), ImageSource::from);
        let pass = g
            .fullscreen_with("lighting", move || self.variants.get(Features::of(data, split)))
            .binds([data.uniform()])
            .sampled_each(gbuffer.all())
            .storage("light_block", &data.lights)
            .storage("tile_block", lists.tiles)
            .storage("cluster_block", lists.clusters)
            .storage("entry_block", lists.entries)
            .target(light)
            .sampled("ao_image", open);
        shadow_inputs
            .bind_to(pass, frame)
            .storage("caustic_block", shadow_inputs.caustics(data))
            .with(parts, |pass, (diffuse, specular)| pass.target(diffuse).target(specular))
            .draw();
        LitImages { light, split: parts }
    }
}
