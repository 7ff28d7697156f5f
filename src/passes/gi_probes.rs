//! Indirect light by an irradiance volume (docs/irradiance-volumes.md): updates of its probes by
//! the ray passes, and the light of each pixel from the probes around it.

use std::sync::Arc;

use super::{
    blended_gbuffer::{BlendedGbuffer, BlendedLight},
    creation::PipelineJob,
    formats::LIGHT,
    gbuffer::Gbuffer,
    gi::GiOutput,
    gi_composite::{GiCompositeInputs, GiCompositePass},
    gi_probe_blend::GiProbeBlendPass,
    gi_probe_rays::{GiProbeRaysPass, ProbeBuffers, ProbeImages},
    gi_probe_shade::GiProbeShadePass,
    lighting::LitImages,
    pixel_groups,
    ray_query::BvhDependencies,
    rays::RayQuestion,
    scene_frame::SceneFrame,
    variants::{Features, LightVariants, WantedVariant},
};
use crate::{
    gpu::{
        Buffer, ComputePipeline, Gpu, GpuError, GpuResult,
        shader_structs::{
            features::{FEATURE_ENVIRONMENT, FEATURE_PROBES},
            gi::GiConstants,
            gi_probes::{PROBES_SKY, PROBES_SPECULAR, ProbeUpdateConstants, ProbeVolumeConstants},
        },
    },
    gpu_scene::{
        FrameBvh, FrameData, GpuScene, LazyFrameBvh, View, dynamic_buffer,
        irradiance_volume::IrradianceVolume,
    },
    graph::{Graph, ImageHandle, ImageSource},
    settings::GiSettings,
};

/// Features that the gathering of light reads.
const GATHER_FEATURES: u32 = FEATURE_ENVIRONMENT | FEATURE_PROBES;

/// Host data of the passes for one frame.
#[derive(Clone)]
pub struct FrameProbes {
    volume: Arc<IrradianceVolume>,
    constants: Arc<Buffer>,
    values: ProbeVolumeConstants,
    composite: Arc<Buffer>,
    hit_materials: Arc<Buffer>,
    bvh: FrameBvh,
    updates: Vec<ProbeUpdateConstants>,
}

impl FrameProbes {
    /// Prepares a frame with these updates. Returns `None` with another method of indirect light,
    /// or if the BVH is empty.
    ///
    /// # Errors
    /// `GpuError` if memory runs out, or if the scene has no volume (`GpuScene::update_gi`).
    pub fn new(
        gpu: &Gpu,
        scene: &GpuScene,
        (view, gpu_bvh): (&View, &LazyFrameBvh<'_>),
        settings: &GiSettings,
        updates: &[ProbeUpdateConstants],
    ) -> GpuResult<Option<Self>> {
        if !settings.uses_probes() {
            return Ok(None);
        }
        let own = scene.gi.as_ref().and_then(|own| Some((own, own.volume.as_ref()?)));
        let Some((own, volume)) = own else {
            return Err(GpuError::Pipeline {
                pipeline: "gi probes".into(),
                detail: "the scene has no irradiance volume; call GpuScene::update_gi first".into(),
            });
        };
        let Some(bvh) = gpu_bvh.get()? else { return Ok(None) };
        let sky = settings.environment_visibility && scene.has_environment;
        // Where the environment is unoccluded, its reflections are those of the lighting pass.
        let specular = settings.specular && (sky || !scene.has_environment);
        let values = volume.constants(view.position, specular, sky);
        Ok(Some(Self {
            volume: Arc::clone(volume),
            constants: dynamic_buffer(gpu, "probe volume", &[values])?,
            values,
            composite: dynamic_buffer(gpu, "gi constants", &[GiConstants::default()])?,
            hit_materials: Arc::clone(&own.hit_materials),
            bvh,
            updates: updates.to_vec(),
        }))
    }

    /// True if the volume holds the environment's light, in place of the lighting pass.
    #[must_use]
    pub const fn has_sky(&self) -> bool {
        self.values.flags & PROBES_SKY != 0
    }

    /// True if the passes compute specular light, in place of the lighting pass.
    #[must_use]
    pub const fn has_specular(&self) -> bool {
        self.values.flags & PROBES_SPECULAR != 0
    }

    /// The volume.
    #[must_use]
    pub const fn volume(&self) -> &Arc<IrradianceVolume> {
        &self.volume
    }

    /// Rays of the largest update.
    fn rays(&self) -> u32 {
        self.updates.iter().map(|update| update.rays * update.count).max().unwrap_or(0)
    }
}

/// Inputs from this frame's passes.
#[derive(Clone, Copy)]
pub struct ProbeInputs {
    /// G-buffer of the visible surfaces.
    pub gbuffer: Gbuffer,
    /// Bent normal and ambient occlusion, if enabled.
    pub bent_normal_ao: Option<ImageHandle>,
    /// Lit image, to which indirect light is added.
    pub lit: LitImages,
    /// Images of the volume, updated in this frame.
    pub images: ProbeImages,
}

/// Pipelines of the passes.
pub struct GiProbesPass {
    rays: GiProbeRaysPass,
    shade: GiProbeShadePass,
    blend: GiProbeBlendPass,
    gather: LightVariants<ComputePipeline>,
    composite: GiCompositePass,
}

impl GiProbesPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |gpu: &Gpu, name: &str, shader: &str, features: Features| {
            ComputePipeline::specialized(gpu, name, shader, &[features.bits])
        };
        Ok(Self {
            rays: GiProbeRaysPass::new(gpu),
            shade: GiProbeShadePass::new(gpu),
            blend: GiProbeBlendPass::new(gpu),
            gather: LightVariants::new(gpu, "gi_probes.comp", GATHER_FEATURES, make),
            composite: GiCompositePass::new(gpu)?,
        })
    }

    /// The pipeline of the gathering that a frame needs.
    #[must_use]
    pub fn wanted(&self, data: &FrameData) -> WantedVariant<'_, ComputePipeline> {
        (&self.gather, Features { bits: data.features, ..Features::default() })
    }

    /// The jobs that create those pipelines of a frame that do not exist.
    pub fn jobs(&self, data: &FrameData) -> Vec<PipelineJob<'_>> {
        [self.wanted(data), self.shade.wanted(data)]
            .into_iter()
            .filter_map(|(variants, features)| variants.job(features))
            .collect()
    }

    /// Declares the frame's updates of the probes. Returns the volume's images.
    pub fn declare_updates<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        frame: &'a FrameProbes,
        bvh: BvhDependencies,
    ) -> ProbeImages {
        let images = ProbeImages {
            irradiance: g.shared(&frame.volume.irradiance),
            visibility: g.shared(&frame.volume.visibility),
            states: g.shared(&frame.volume.states),
        };
        if frame.updates.is_empty() {
            return images;
        }
        let buffers = ProbeBuffers::declare(g, frame.rays());
        let (volume, gpu_bvh) = (&frame.constants, (&frame.bvh, bvh));
        for update in &frame.updates {
            self.rays.declare(g, (volume, images.states), gpu_bvh, update, buffers.rays);
            let seen = (data, &frame.hit_materials);
            self.shade.declare(g, seen, (volume, images), &frame.bvh, (update, buffers));
            let shadows = (RayQuestion::Any, buffers.shadows);
            self.rays.declare_trace(g, gpu_bvh, update, shadows);
            self.blend.declare(g, (volume, images), (update, buffers));
        }
        images
    }

    /// Declares the passes that add the volume's light to the image. With `split`, its diffuse and
    /// specular parts are also returned.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'_>,
        frame: &FrameProbes,
        inputs: ProbeInputs,
        split: bool,
    ) -> GiOutput {
        let ProbeInputs { gbuffer, bent_normal_ao, lit, images } = inputs;
        let [width, height] = data.uniforms.values.size;
        let open =
            bent_normal_ao.map_or_else(|| ImageSource::from(&scene.white), ImageSource::from);
        let (diffuse, specular) =
            self.gather(g, data, (frame, images), ("gi probes", gbuffer), open);
        let displayed = g.image("gi probes displayed", width, height, LIGHT);
        let composite = GiCompositeInputs {
            gbuffer,
            bent_normal_ao,
            lit,
            diffuse,
            specular,
            displayed: (None, displayed),
        };
        let parts = self.composite.declare(g, (scene, data), &frame.composite, composite, split);
        GiOutput { split: parts, unfiltered: None, specular, limits: None }
    }

    /// Declares the pass that gathers the light of blended surfaces in the same way, without
    /// ambient occlusion, which is that of the opaque surfaces.
    pub fn declare_blended<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'_>,
        (frame, images): (&FrameProbes, ProbeImages),
        layer: BlendedGbuffer,
    ) -> BlendedLight {
        let source = ("gi probes blended", layer.gbuffer);
        let open = ImageSource::from(&scene.white);
        let (diffuse, specular) = self.gather(g, data, (frame, images), source, open);
        BlendedLight { layer, diffuse, specular }
    }

    /// Declares the pass that gathers the light of the surfaces of a G-buffer. Returns its diffuse
    /// and specular part. `name`: of the pass.
    fn gather<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        (frame, images): (&FrameProbes, ProbeImages),
        (name, gbuffer): (&str, Gbuffer),
        open: ImageSource,
    ) -> (ImageHandle, ImageHandle) {
        let [width, height] = data.uniforms.values.size;
        let [diffuse, specular] = ["diffuse", "specular"]
            .map(|what| g.image(&format!("{name} {what}"), width, height, LIGHT));
        let (gather, features) = self.wanted(data);
        g.compute_with(name, move || gather.get(features))
            .binds([data.uniform()])
            .uniform("probe_volume_block", &frame.constants)
            .sampled_each(gbuffer.all())
            .sampled("ao_image", open)
            .sampled("probe_irradiance_image", images.irradiance)
            .sampled("probe_visibility_image", images.visibility)
            .sampled("probe_state_image", images.states)
            .storage("environment_block", &data.environment)
            .storage("probe_block", &data.probes)
            .image_written("out_diffuse_image", diffuse)
            .image_written("out_specular_image", specular)
            .dispatch(pixel_groups::dispatch([width, height]));
        (diffuse, specular)
    }
}
