//! Participating volumes: ray marching along each view ray, and compositing over the image
//! (docs/volumes.md).

use std::sync::{Arc, OnceLock};

use super::{
    formats::LIGHT,
    gbuffer::Gbuffer,
    lighting::LitImages,
    ray_query::BvhDependencies,
    scene_frame::SceneFrame,
    variants::{Features, LightVariants, WantedVariant},
};
use crate::{
    gpu::{
        Gpu, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::features::{
            FEATURE_ALPHA_MASKS, FEATURE_AREA_LIGHTS, FEATURE_IES_PROFILES, FEATURE_SHADOW_MAPS,
            FEATURE_VOLUMES,
        },
    },
    gpu_scene::{FrameBvh, FrameData, GpuScene},
    graph::{Graph, ImageHandle, ImageSource},
    settings::VolumeSettings,
};

/// Features that the ray march reads.
const MARCH_FEATURES: u32 = FEATURE_ALPHA_MASKS
    | FEATURE_AREA_LIGHTS
    | FEATURE_IES_PROFILES
    | FEATURE_SHADOW_MAPS
    | FEATURE_VOLUMES;

/// Results of the volume passes.
#[derive(Clone, Copy)]
pub struct Volumetrics {
    /// Image with the volumes composited.
    pub light: ImageHandle,
    /// In-scattered and emitted light along the whole view ray, and transmittance.
    pub marched: [ImageHandle; 2],
}

/// Pipelines of the volume passes.
pub struct VolumesPass {
    march: LightVariants,
    composite: OnceLock<Arc<GraphicsPipeline>>,
}

impl VolumesPass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let make = |gpu: &Gpu, name: &str, fragment: &str, features: Features| {
            let state = GraphicsState {
                colors: vec![(LIGHT, false); 2],
                constants: vec![features.bits],
                ..Default::default()
            };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Self {
            march: LightVariants::new(gpu, "volumes.frag", MARCH_FEATURES, make),
            composite: OnceLock::new(),
        }
    }

    /// Creates the pipelines that a scene needs.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn prepare(&self, gpu: &Gpu, scene: &GpuScene, settings: &VolumeSettings) -> GpuResult<()> {
        if settings.enabled && !scene.volumes.is_empty() && self.composite.get().is_none() {
            let state = GraphicsState { colors: vec![(LIGHT, false)], ..Default::default() };
            let name = "volumes composite";
            let made = GraphicsPipeline::new(
                gpu,
                name,
                "fullscreen.vert",
                "volumes_composite.frag",
                &state,
            )?;
            // If another thread set it first, its pipeline is kept.
            let _ = self.composite.set(made);
        }
        Ok(())
    }

    /// The light pipeline that a frame needs; `None` without volumes.
    #[must_use]
    pub fn wanted(&self, data: &FrameData) -> Option<WantedVariant<'_>> {
        data.volumes.any.then(|| (&self.march, Features::of(data, false)))
    }

    /// Declares the passes; `None` without volumes.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'a>,
        gbuffer: Gbuffer,
        lit: LitImages,
        atlas: Option<ImageHandle>,
        gpu_bvh: BvhDependencies,
    ) -> Option<Volumetrics> {
        let composite = self.composite.get().filter(|_| data.volumes.any)?;
        let [width, height] = data.uniforms.values.size;
        let [across, down] = [width, height].map(|side| side.div_ceil(data.volumes.scale));
        let marched = [
            g.image("volume light", across, down, LIGHT),
            g.image("volume transmittance", across, down, LIGHT),
        ];
        let atlas = atlas.map_or_else(|| (&scene.white).into(), ImageSource::from);
        g.fullscreen_with("volumes", move || self.march.get(Features::of(data, false)))
            .binds([data.uniform()])
            .sampled("depth_image", gbuffer.depth)
            .storage("light_block", &data.lights)
            .storage("profile_block", &data.profiles)
            .storage("shadow_map_block", &data.shadow_maps)
            .target(marched[0])
            .target_cleared(marched[1], [1.0; 4])
            .sampled("shadow_atlas", atlas)
            .storage("volume_block", &data.volumes.block)
            .storage("volume_density_block", &data.volumes.densities)
            .storage("volume_environment_block", &data.volumes.environment)
            .also_uses(gpu_bvh.by_fragments())
            .binds(data.shadow_bvh.iter().flat_map(FrameBvh::binds))
            .draw();
        let light = g.image("light with volumes", width, height, LIGHT);
        g.fullscreen("volumes composite", composite)
            .binds([data.uniform()])
            .sampled("depth_image", gbuffer.depth)
            .sampled("light_image", lit.light)
            .sampled_each(marched_images(marched))
            .storage("volume_block", &data.volumes.block)
            .target(light)
            .draw();
        Some(Volumetrics { light, marched })
    }
}

/// Marched images with their names in shaders.
pub(super) fn marched_images<T>([light, transmittance]: [T; 2]) -> [(&'static str, T); 2] {
    [("volume_light_image", light), ("volume_transmittance_image", transmittance)]
}
