//! Direct light of all clustered lights with the glTF BRDF, pre-exposed. With a fixed ray budget it
//! chooses shadow rays, which `shadow_rays` traces.

use super::{
    clustered_lights::ClusteredLights,
    creation::PipelineJob,
    formats::LIGHT,
    gbuffer::Gbuffer,
    pixel_groups,
    scene_frame::SceneFrame,
    shadow_inputs::ShadowInputs,
    shadow_rays::{self, ShadowDenoising, ShadowRayFrame, ShadowRaysPass, band_name, bind_band},
    variants::{Features, LOBES, LightVariants, WantedVariant},
};
use crate::{
    gpu::{ComputePipeline, Gpu, shader_structs::rays::ShadowRayBandConstants},
    gpu_scene::{FrameBvh, FrameData, ShadowRayBudget},
    graph::{BoundPass, BufferHandle, Graph, ImageHandle, ImageSource},
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
    /// Counters of `passes::limit_counters`.
    pub limit_counters: BufferHandle,
}

/// Pipelines of the lighting pass.
pub struct LightingPass {
    variants: LightVariants<ComputePipeline>,
    shadow_rays: ShadowRaysPass,
}

/// Features of the lighting pass.
fn features(data: &FrameData, split: bool) -> Features {
    let [rays, light_samples] = data.shadow_ray_budget.map_or([0; 2], |budget| {
        let can_sample = budget.lights > 0;
        [budget.rays, if can_sample { budget.light_samples } else { 0 }]
    });
    Features { rays, light_samples, ..Features::of(data, split) }
}

/// The ray budget of a frame with the BVH of its rays, if it has one.
fn budget(data: &FrameData) -> Option<(ShadowRayBudget, &FrameBvh)> {
    data.shadow_ray_budget.zip(data.shadow_bvh.as_ref())
}

impl LightingPass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let make = |gpu: &Gpu, name: &str, shader: &str, features: Features| {
            let budget = (features.rays > 0).then_some([features.rays, features.light_samples]);
            let constants: Vec<u32> =
                [features.bits].into_iter().chain(budget.into_iter().flatten()).collect();
            ComputePipeline::specialized(gpu, name, shader, &constants)
        };
        Self {
            variants: LightVariants::new(gpu, "lighting.comp", !LOBES, make),
            shadow_rays: ShadowRaysPass::new(gpu),
        }
    }

    /// The pipeline that a frame needs.
    #[must_use]
    pub fn wanted(&self, data: &FrameData, split: bool) -> WantedVariant<'_, ComputePipeline> {
        (&self.variants, features(data, split))
    }

    /// The jobs that create those pipelines of the ray budget that do not exist.
    pub fn jobs<'a>(&'a self, data: &'a FrameData, split: bool) -> Vec<PipelineJob<'a>> {
        budget(data).map_or_else(Vec::new, |traced| self.shadow_rays.jobs(traced, split))
    }

    /// Declares the pass, and with a ray budget the passes around it.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        inputs: LightingInputs,
        split: bool,
        denoising: Option<ShadowDenoising<'a>>,
    ) -> LitImages {
        let data = frame.data;
        let [width, height] = data.uniforms.values.size;
        let light = g.image("light", width, height, LIGHT);
        let parts = split.then(|| {
            (
                g.image("direct diffuse", width, height, LIGHT),
                g.image("direct specular", width, height, LIGHT),
            )
        });
        let lit = LitImages { light, split: parts };
        match budget(data) {
            Some((budget, gpu_bvh)) => {
                let rays = self.declare_budget(g, frame, inputs, lit, (budget, gpu_bvh));
                let lost = denoising.map_or(rays.lost, |with| {
                    shadow_rays::declare_denoised(g, data, inputs.gbuffer, &rays, with)
                });
                let counters = inputs.limit_counters;
                self.shadow_rays.declare_resolve(
                    g,
                    (&rays, lost),
                    budget,
                    (light, parts),
                    counters,
                );
            }
            None => {
                let pass = self.bound(g, "lighting", frame, inputs, split);
                let pass = inputs.shadow_inputs.bind_to(pass, frame);
                bind_lit_images(pass, lit, true)
                    .dispatch(pixel_groups::dispatch(data.uniforms.values.size));
            }
        }
        lit
    }

    /// Starts the pass with what it reads in any case.
    fn bound<'g, 'a>(
        &'a self,
        g: &'g mut Graph<'a>,
        name: &str,
        SceneFrame { scene, data, .. }: SceneFrame<'a>,
        inputs: LightingInputs,
        split: bool,
    ) -> BoundPass<'g, 'a> {
        let LightingInputs {
            gbuffer,
            clustered_lights: lists,
            shadow_inputs,
            bent_normal_ao: open,
            limit_counters,
        } = inputs;
        let open = open.map_or_else(|| (&scene.white).into(), ImageSource::from);
        let pass = g
            .compute_with(name, move || self.variants.get(features(data, split)))
            .binds([data.uniform()])
            .sampled_each(gbuffer.all())
            .storage("light_block", &data.lights);
        lists
            .bind_to(pass)
            .sampled("ao_image", open)
            .storage("caustic_block", shadow_inputs.caustics(data))
            .updated("limit_counter_block", limit_counters)
    }

    /// Declares the passes of a ray budget, up to the lost light.
    fn declare_budget<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        inputs: LightingInputs,
        lit: LitImages,
        (budget, gpu_bvh): (ShadowRayBudget, &'a FrameBvh),
    ) -> ShadowRayFrame {
        let reuse = budget.reuse.then_some(inputs.gbuffer);
        let traced = (gpu_bvh, inputs.shadow_inputs.bvh);
        let rays = ShadowRaysPass::begin(g, frame.data.uniforms.values.size, budget);
        for &band in &rays.bands {
            self.shadow_rays.declare_view_rays(
                g,
                frame.data,
                inputs.gbuffer,
                traced,
                (&rays, band),
            );
            self.declare_band(g, frame, inputs, lit, (&rays, band));
            self.shadow_rays.declare_lost_light(g, frame.data, traced, (&rays, band), reuse);
        }
        rays
    }

    /// Declares the pass for a band of rows.
    fn declare_band<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        inputs: LightingInputs,
        lit: LitImages,
        (rays, band): (&ShadowRayFrame, ShadowRayBandConstants),
    ) {
        let width = frame.data.uniforms.values.size[0];
        let name = band_name("lighting", rays, band);
        let pass = self.bound(g, &name, frame, inputs, lit.split.is_some());
        let pass = inputs
            .shadow_inputs
            .bind_without_traversal_to(pass, frame)
            .storage("node_block", &frame.data.nodes)
            .storage("view_hit_block", rays.view_hits)
            .written("ray_block", rays.rays)
            .written("loss_block", rays.losses)
            .push(&band);
        let first = band.first_row == 0;
        ["unshadowed_diffuse_image", "unshadowed_specular_image"]
            .into_iter()
            .zip(rays.unshadowed)
            .fold(bind_lit_images(pass, lit, first), |pass, (name, image)| {
                bind_band(pass, name, image, first)
            })
            .dispatch(pixel_groups::dispatch([width, band.rows]));
    }
}

/// Binds the lit images; without diffuse and specular parts, which the shader then does not write,
/// the image of all light stands for them.
fn bind_lit_images<'g, 'a>(
    pass: BoundPass<'g, 'a>,
    LitImages { light, split }: LitImages,
    first: bool,
) -> BoundPass<'g, 'a> {
    let pass = bind_band(pass, "light_image", light, first);
    let names = ["direct_diffuse_image", "direct_specular_image"];
    match split {
        Some((diffuse, specular)) => {
            let pass = bind_band(pass, names[0], diffuse, first);
            bind_band(pass, names[1], specular, first)
        }
        None => names.into_iter().fold(pass, |pass, name| pass.image_bound_again(name, light)),
    }
}
