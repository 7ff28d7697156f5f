//! Adds indirect light to the image: diffuse times base color, and specular, with the materials'
//! occlusion maps (docs/instant-radiosity.md, docs/irradiance-volumes.md).

use std::sync::Arc;

use super::{formats::LIGHT, gbuffer::Gbuffer, lighting::LitImages, pixel_groups};
use crate::{
    gpu::{Buffer, ComputePipeline, Gpu, GpuResult},
    gpu_scene::{FrameData, GpuScene},
    graph::{Graph, ImageHandle, ImageSource},
};

/// Inputs from this frame's passes.
#[derive(Clone, Copy)]
pub struct GiCompositeInputs {
    /// G-buffer of the visible surfaces.
    pub gbuffer: Gbuffer,
    /// Bent normal and ambient occlusion, if enabled.
    pub bent_normal_ao: Option<ImageHandle>,
    /// Lit image, to which indirect light is added.
    pub lit: LitImages,
    /// Pre-exposed luminance of a white diffuse surface.
    pub diffuse: ImageHandle,
    /// Pre-exposed specular luminance over the lobe's approximate albedo.
    pub specular: ImageHandle,
    /// The last frame's added light, if there is any, and the image of this frame's.
    pub displayed: (Option<ImageHandle>, ImageHandle),
}

/// Pipelines of the pass.
pub struct GiCompositePass {
    whole: Arc<ComputePipeline>,
    split: Arc<ComputePipeline>,
}

impl GiCompositePass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self {
            whole: ComputePipeline::new(gpu, "gi composite", "gi_composite.comp")?,
            split: ComputePipeline::new(
                gpu,
                "gi composite split",
                "gi_composite.comp+SPLIT_LIGHTING",
            )?,
        })
    }

    /// Declares the pass. `constants`: `GiConstants`, of which it reads the stabilization. With
    /// `split`, returns the diffuse and specular parts.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (scene, data): (&GpuScene, &FrameData),
        constants: &Arc<Buffer>,
        inputs: GiCompositeInputs,
        split: bool,
    ) -> Option<(ImageHandle, ImageHandle)> {
        let [width, height] = data.uniforms.values.size;
        let parts = split.then(|| {
            let [diffuse, specular] = ["indirect diffuse", "indirect specular"]
                .map(|name| g.image(name, width, height, LIGHT));
            (diffuse, specular)
        });
        let pipeline = if split { &self.split } else { &self.whole };
        let open = inputs
            .bent_normal_ao
            .map_or_else(|| ImageSource::from(&scene.white), ImageSource::from);
        let (shown, out) = inputs.displayed;
        g.compute("gi composite", pipeline)
            .binds([data.uniform()])
            .uniform("gi_block", constants)
            .sampled("displayed_image", shown.unwrap_or(inputs.diffuse))
            .sampled("ao_image", open)
            .sampled_each(inputs.gbuffer.without_emission())
            .sampled("diffuse_image", inputs.diffuse)
            .sampled("specular_image", inputs.specular)
            .image_updated("light_image", inputs.lit.light)
            .image_written("out_displayed_image", out)
            .with(parts, |pass, (diffuse, specular)| {
                pass.image_written("out_diffuse_image", diffuse)
                    .image_written("out_specular_image", specular)
            })
            .dispatch(pixel_groups::dispatch([width, height]));
        parts
    }
}
