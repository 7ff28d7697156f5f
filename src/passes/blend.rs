//! Alpha-blended surfaces over the lit image, back to front.

use super::{
    blended_gbuffer::{BlendedLight, CORE},
    formats::{BLEND_TARGETS, LIGHT},
    forward::ForwardPass,
    gbuffer::Gbuffer,
    lighting::LitImages,
    refraction::{RefractionBackground, back_face_image, level_images},
    scene_draws::{TextureSets, draw_all, geometry_state},
    scene_frame::SceneFrame,
    shadow_inputs::ShadowInputs,
    variants::{Features, LOBES, LightVariants, WantedVariant},
    volumes::{Volumetrics, marched_images},
};
use crate::{
    gpu::{Gpu, GraphicsPipeline},
    gpu_scene::{Draw, FrameBvh, FrameData, RenderQueue},
    graph::{BufferHandle, Graph, ImageHandle, ImageSource},
};

/// Binding group of pipelines for extended materials.
const EXTENDED: &str = "extended";

/// Inputs from this frame's passes.
#[derive(Clone, Copy)]
pub struct BlendInputs {
    /// G-buffer of the visible surfaces.
    pub gbuffer: Gbuffer,
    /// Lit image.
    pub lit: LitImages,
    /// Shadow inputs of the lights.
    pub shadow_inputs: ShadowInputs,
    /// Images that refractive surfaces sample, if any.
    pub background: Option<RefractionBackground>,
    /// Participating volumes, if any.
    pub volumetrics: Option<Volumetrics>,
    /// Counters of `passes::limit_counters`.
    pub limit_counters: BufferHandle,
    /// Diffuse and specular indirect light of the picture, if requested.
    pub indirect: Option<(ImageHandle, ImageHandle)>,
    /// Indirect light of the blended surfaces, if any.
    pub blended_light: Option<BlendedLight>,
}

/// Pipelines of the blend pass.
pub struct BlendPass {
    variants: LightVariants,
}

impl BlendPass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let make = |gpu: &Gpu, name: &str, fragment: &str, features: Features| {
            let targets = if features.split() { BLEND_TARGETS } else { 1 };
            let mut state = geometry_state(vec![(LIGHT, true); targets], false);
            state.constants = vec![features.bits];
            GraphicsPipeline::new(gpu, name, "geometry.vert", fragment, &state)
        };
        Self { variants: LightVariants::new(gpu, "blend.frag", !LOBES, make) }
    }

    /// The pipelines that a frame needs.
    #[must_use]
    pub fn wanted<'a>(
        &'a self,
        frame: SceneFrame<'_>,
        split: bool,
        forward: &'a ForwardPass,
    ) -> Vec<WantedVariant<'a>> {
        let SceneFrame { scene, data, .. } = frame;
        let draws_any = |extended: bool| {
            let mut draws = data.draws.visible.draws.iter();
            draws.any(|draw| draw.queue == RenderQueue::Blend && draw.extended == extended)
        };
        let core = draws_any(false).then(|| (&self.variants, Features::of(data, split)));
        let extended = (scene.extended_materials.is_some() && draws_any(true))
            .then(|| forward.blended(data, split));
        core.into_iter().chain(extended).collect()
    }

    /// True if something visible is blended or refractive.
    #[must_use]
    pub fn is_needed(data: &FrameData) -> bool {
        data.draws.visible.draws.iter().any(|draw| draw.queue == RenderQueue::Blend)
    }

    /// Declares the pass, unless nothing is blended or refractive. `forward` draws extended
    /// materials in the same sorted order.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        inputs: BlendInputs,
        forward: &'a ForwardPass,
    ) {
        let SceneFrame { scene, data, .. } = frame;
        let BlendInputs {
            gbuffer,
            lit,
            shadow_inputs,
            background,
            volumetrics,
            limit_counters,
            indirect,
            blended_light,
        } = inputs;
        if !Self::is_needed(data) {
            return;
        }
        let split = lit.split.is_some();
        let traced_refraction = data.refraction_bvh.is_some();
        let marched = volumetrics.map_or_else(
            || [&scene.white, &scene.white].map(ImageSource::from),
            |volumetrics| volumetrics.marched.map(ImageSource::from),
        );
        let parts = lit.split.map(|direct| {
            let [width, height] = data.uniforms.values.size;
            let mut absent = |what| g.black_image(what, width, height, LIGHT);
            let indirect = indirect
                .unwrap_or_else(|| (absent("no indirect diffuse"), absent("no indirect specular")));
            (direct, indirect)
        });
        let pass = g
            .draws("blend")
            .depth_tested(gbuffer.depth)
            .target_loaded(lit.light)
            .with(parts, |pass, ((diffuse, specular), indirect)| {
                pass.target_loaded(diffuse)
                    .target_loaded(specular)
                    .target_loaded(gbuffer.emission)
                    .target_loaded(indirect.0)
                    .target_loaded(indirect.1)
            })
            .binds(frame.geometry_binds())
            .storage("light_block", &data.lights)
            .updated("limit_counter_block", limit_counters)
            .group(EXTENDED, |pass| {
                pass.sampled_each(level_images(background, scene))
                    .bound_if(!traced_refraction, |pass| {
                        pass.sampled("back_face_image", back_face_image(background, scene))
                    })
                    .with(scene.extended_materials.as_ref(), |pass, layers| {
                        pass.storage("extended_material_block", &layers.materials)
                            .storage("extended_lut_block", &layers.tables)
                    })
            })
            .sampled_each(marched_images(marched));
        let pass = BlendedLight::bind_to(blended_light, pass, frame);
        shadow_inputs
            .bind_to(pass, frame)
            .group(EXTENDED, |pass| {
                pass.bound_if(traced_refraction, |pass| {
                    pass.storage("caustic_block", shadow_inputs.caustics(data))
                })
                .bound_if(data.shadow_bvh.is_none(), |pass| {
                    pass.binds(data.refraction_bvh.iter().flat_map(FrameBvh::binds))
                })
            })
            .record(move |cx, bindings| {
                let draws: Vec<&Draw> = data
                    .draws
                    .visible
                    .draws
                    .iter()
                    .filter(|draw| draw.queue == RenderQueue::Blend)
                    .collect();
                for run in draws.chunk_by(|a, b| a.extended == b.extended) {
                    if run.first().is_some_and(|draw| draw.extended) {
                        if scene.extended_materials.is_none() {
                            continue;
                        }
                        let (variants, features) = forward.blended(data, split);
                        let pipeline = variants.get(features)?;
                        let binds = bindings.with_group(EXTENDED);
                        draw_all(cx.rec, frame, run, &pipeline, TextureSets::Layers, &binds)?;
                    } else {
                        let pipeline = self.variants.get(Features::of(data, split))?;
                        let binds = bindings.with_group(CORE);
                        draw_all(cx.rec, frame, run, &pipeline, TextureSets::Core, &binds)?;
                    }
                }
                Ok(())
            });
    }
}
