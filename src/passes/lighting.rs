//! Direct light of all clustered lights with the glTF BRDF, pre-exposed.

use std::sync::Arc;

use super::{
    FrameData, GpuScene, ShadowInputs,
    clustered_lights::ClusteredLights,
    gbuffer::{Gbuffer, LIGHT},
    variants::{Features, LightVariants},
};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    graph::{Access, Graph, ImageHandle},
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
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |gpu: &Gpu, name: &str, fragment: &str, features: Features| {
            let targets = if features.split { 3 } else { 1 };
            let state =
                GraphicsState { colors: vec![(LIGHT, false); targets], ..Default::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Ok(Self { variants: LightVariants::new(gpu, "lighting.frag", make)? })
    }

    /// Declares the pass.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        data: &'a FrameData,
        inputs: LightingInputs,
        split: bool,
    ) -> LitImages {
        let LightingInputs {
            gbuffer,
            clustered_lights: lists,
            shadow_inputs,
            bent_normal_ao: open,
        } = inputs;
        let [width, height] = data.values.size;
        let light = g.image("light", width, height, LIGHT);
        let parts = split.then(|| {
            (
                g.image("direct diffuse", width, height, LIGHT),
                g.image("direct specular", width, height, LIGHT),
            )
        });
        let mut pass = g
            .pass("lighting")
            .uses(gbuffer.depth, Access::FragmentSampled)
            .uses(gbuffer.surface, Access::FragmentSampled)
            .uses(gbuffer.normal, Access::FragmentSampled)
            .uses(gbuffer.emission, Access::FragmentSampled)
            .uses(lists.tiles, Access::FragmentStorageRead)
            .uses(lists.clusters, Access::FragmentStorageRead)
            .uses(lists.entries, Access::FragmentStorageRead)
            .color_cleared(light, [0.0; 4]);
        if let Some(open) = open {
            pass = pass.uses(open, Access::FragmentSampled);
        }
        pass = shadow_inputs.read_by(pass);
        if let Some((diffuse, specular)) = parts {
            pass = pass.color_cleared(diffuse, [0.0; 4]).color_cleared(specular, [0.0; 4]);
        }
        pass.record(move |cx| {
            let (depth, surface) = (cx.image(gbuffer.depth), cx.image(gbuffer.surface));
            let (normal, emission) = (cx.image(gbuffer.normal), cx.image(gbuffer.emission));
            let (tiles, clusters) = (cx.buffer(lists.tiles), cx.buffer(lists.clusters));
            let entries = cx.buffer(lists.entries);
            let shadow_inputs = shadow_inputs.objects(cx, scene, data);
            let open = open.map_or_else(|| Arc::clone(&scene.white), |open| cx.image(open));
            let pipeline = self.variants.get(Features::of(data, split))?;
            let mut binds = vec![
                data.uniform(),
                ("depth_image", Bind::Sampled(&depth)),
                ("surface_image", Bind::Sampled(&surface)),
                ("normal_image", Bind::Sampled(&normal)),
                ("emission_image", Bind::Sampled(&emission)),
                ("light_block", Bind::Storage(&data.lights)),
                ("tile_block", Bind::Storage(&tiles)),
                ("cluster_block", Bind::Storage(&clusters)),
                ("entry_block", Bind::Storage(&entries)),
                ("ao_image", Bind::Sampled(&open)),
            ];
            binds.extend(data.light_binds(&shadow_inputs));
            binds.push(shadow_inputs.caustics());
            cx.rec.bind_graphics(&pipeline, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        LitImages { light, split: parts }
    }
}
