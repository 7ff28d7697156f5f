//! Direct light of all clustered lights with the glTF BRDF, pre-exposed. With a fixed ray budget it
//! chooses shadow rays, which `shadow_rays` traces.

use super::{
    clustered_lights::ClusteredLights,
    creation::PipelineJob,
    formats::LIGHT,
    gbuffer::Gbuffer,
    scene_frame::SceneFrame,
    shadow_inputs::ShadowInputs,
    shadow_rays::{self, ShadowDenoising, ShadowRayFrame, ShadowRaysPass, band_name},
    variants::{Features, LOBES, LightVariants, WantedVariant},
};
use crate::{
    gpu::{Gpu, GraphicsPipeline, GraphicsState, shader_structs::rays::ShadowRayBandConstants},
    gpu_scene::{FrameBvh, FrameData, ShadowRayBudget},
    graph::{BoundPass, Graph, ImageHandle, ImageSource},
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
    shadow_rays: ShadowRaysPass,
}

/// Features of the lighting pass.
fn features(data: &FrameData, split: bool) -> Features {
    let rays = data.shadow_ray_budget.map_or(0, |budget| budget.rays);
    Features { rays, ..Features::of(data, split) }
}

/// The ray budget of a frame with the BVH of its rays, if it has one.
fn budget(data: &FrameData) -> Option<(ShadowRayBudget, &FrameBvh)> {
    data.shadow_ray_budget.zip(data.shadow_bvh.as_ref())
}

impl LightingPass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let make = |gpu: &Gpu, name: &str, fragment: &str, features: Features| {
            let budget = features.rays > 0;
            let targets = if features.split() { 3 } else { 1 } + if budget { 2 } else { 0 };
            let rays = budget.then_some(features.rays);
            let state = GraphicsState {
                colors: vec![(LIGHT, false); targets],
                constants: [features.bits].into_iter().chain(rays).collect(),
                ..Default::default()
            };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Self {
            variants: LightVariants::new(gpu, "lighting.frag", !LOBES, make),
            shadow_rays: ShadowRaysPass::new(gpu),
        }
    }

    /// The pipeline that a frame needs.
    #[must_use]
    pub fn wanted(&self, data: &FrameData, split: bool) -> WantedVariant<'_> {
        (&self.variants, features(data, split))
    }

    /// The jobs that create those pipelines of the ray budget that do not exist.
    pub fn jobs<'a>(&'a self, data: &'a FrameData, split: bool) -> Vec<PipelineJob<'a>> {
        budget(data).map_or_else(Vec::new, |(_, gpu_bvh)| self.shadow_rays.jobs(gpu_bvh, split))
    }

    /// Declares the pass, and with a ray budget the passes around it.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        inputs: LightingInputs,
        split: bool,
        denoising: Option<ShadowDenoising<'_>>,
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
                let reuse = denoising.as_ref().is_some_and(ShadowDenoising::reuses_neighbors);
                let rays = self.declare_budget(g, frame, inputs, lit, (budget, gpu_bvh, reuse));
                let lost = denoising.map_or(rays.lost, |with| {
                    shadow_rays::declare_denoised(g, data, inputs.gbuffer, &rays, with)
                });
                self.shadow_rays.declare_resolve(g, (&rays, lost), budget, light, parts);
            }
            None => {
                let pass = self.bound(g, "lighting", frame, inputs, split);
                inputs
                    .shadow_inputs
                    .bind_to(pass.target(light), frame)
                    .with(parts, |pass, (diffuse, specular)| pass.target(diffuse).target(specular))
                    .draw();
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
        } = inputs;
        let open = open.map_or_else(|| (&scene.white).into(), ImageSource::from);
        let pass = g
            .fullscreen_with(name, move || self.variants.get(features(data, split)))
            .binds([data.uniform()])
            .sampled_each(gbuffer.all())
            .storage("light_block", &data.lights);
        lists
            .bind_to(pass)
            .sampled("ao_image", open)
            .storage("caustic_block", shadow_inputs.caustics(data))
    }

    /// Declares the passes of a ray budget, up to the lost light.
    fn declare_budget<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        inputs: LightingInputs,
        lit: LitImages,
        (budget, gpu_bvh, reuse): (ShadowRayBudget, &'a FrameBvh, bool),
    ) -> ShadowRayFrame {
        let reuse = reuse.then_some(inputs.gbuffer);
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
        LitImages { light, split }: LitImages,
        (rays, band): (&ShadowRayFrame, ShadowRayBandConstants),
    ) {
        let width = frame.data.uniforms.values.size[0];
        let name = band_name("lighting", rays, band);
        let pass = self.bound(g, &name, frame, inputs, split.is_some());
        let parts = split.into_iter().flat_map(|(diffuse, specular)| [diffuse, specular]);
        [light]
            .into_iter()
            .chain(rays.unshadowed)
            .chain(parts)
            .fold(
                inputs
                    .shadow_inputs
                    .bind_without_traversal_to(pass, frame)
                    .storage("view_hit_block", rays.view_hits)
                    .written("ray_block", rays.rays)
                    .written("loss_block", rays.losses)
                    .push(&band),
                |pass, image| {
                    if band.first_row == 0 { pass.target(image) } else { pass.target_loaded(image) }
                },
            )
            .draw_rows(width, band.first_row, band.rows);
    }
}
