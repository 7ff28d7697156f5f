//! Alpha-blended surfaces over the lit image, back to front.

use super::{
    formats::LIGHT,
    forward::{ForwardPass, RefractionBackgroundImages, background_handles},
    gbuffer::Gbuffer,
    lighting::LitImages,
    refraction::RefractionBackground,
    scene_draws::{TextureSets, draw_all, geometry_state},
    shadow_inputs::ShadowInputs,
    variants::{Features, LightVariants},
    volumes::{Volumetrics, VolumetricsImages},
};
use crate::{
    gpu::{Bind, Gpu, GraphicsPipeline},
    gpu_scene::{Draw, FrameData, GpuScene, RenderQueue},
    graph::{Access, Graph},
};

/// Pipelines of the blend pass.
pub struct BlendPass {
    variants: LightVariants,
}

impl BlendPass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let make = |gpu: &Gpu, name: &str, fragment: &str, features: Features| {
            let targets = if features.split { 4 } else { 1 };
            let mut state = geometry_state(vec![(LIGHT, true); targets], false);
            state.constants = vec![features.scene];
            GraphicsPipeline::new(gpu, name, "geometry.vert", fragment, &state)
        };
        Self { variants: LightVariants::new(gpu, "blend.frag", u32::MAX, make) }
    }

    /// Declares the pass, unless nothing is blended or refractive. `layered` draws extended
    /// materials in the same sorted order.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (scene, data): (&'a GpuScene, &'a FrameData),
        (gbuffer, lit): (Gbuffer, LitImages),
        shadow_inputs: ShadowInputs,
        (layered, background): (&'a ForwardPass, Option<RefractionBackground>),
        volumetrics: Option<Volumetrics>,
    ) {
        if !data.draws.visible.draws.iter().any(|draw| draw.queue == RenderQueue::Blend) {
            return;
        }
        let mut pass = g.pass("blend").depth_tested(gbuffer.depth).color_loaded(lit.light);
        if let Some((diffuse, specular)) = lit.split {
            pass = pass.color_loaded(diffuse).color_loaded(specular).color_loaded(gbuffer.emission);
        }
        let veils = volumetrics.iter().flat_map(|volumetrics| volumetrics.marched);
        for image in background.iter().flat_map(background_handles).chain(veils) {
            pass = pass.uses(image, Access::FragmentSampled);
        }
        pass = shadow_inputs.read_by(pass);
        pass.record(move |cx| {
            let shadow_inputs = shadow_inputs.objects(cx, scene, data);
            let split = lit.split.is_some();
            let mut binds = vec![("light_block", Bind::Storage(&data.lights))];
            binds.extend(shadow_inputs.light_binds(data));
            let volumetrics = VolumetricsImages::of(cx, volumetrics, scene);
            binds.extend(volumetrics.binds());
            let images = RefractionBackgroundImages::of(cx, background, scene);
            let draws: Vec<&Draw> = data
                .draws
                .visible
                .draws
                .iter()
                .filter(|draw| draw.queue == RenderQueue::Blend)
                .collect();
            for run in draws.chunk_by(|a, b| a.extended == b.extended) {
                if run.first().is_some_and(|draw| draw.extended) {
                    layered.draw_over(
                        cx.rec,
                        (scene, data),
                        (split, &shadow_inputs),
                        (&images, &volumetrics),
                        run,
                    )?;
                } else {
                    let pipeline = self.variants.get(Features::of(data, split))?;
                    draw_all(cx.rec, scene, data, run, (&pipeline, TextureSets::Core), &binds)?;
                }
            }
            Ok(())
        });
    }
}
