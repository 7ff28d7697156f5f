//! Participating volumes: ray marching along each view ray, and compositing over the image
//! (docs/volumes.md).

use std::sync::{Arc, OnceLock};

use super::{
    FrameData, GpuScene,
    gbuffer::{Gbuffer, LIGHT},
    lighting::LitImages,
    ray_query::BvhDependencies,
    variants::{Features, LightVariants},
    volumes_scene::VolumeSettings,
};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState, Image},
    graph::{Access, Graph, ImageHandle, PassContext},
};

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
        let make = |gpu: &Gpu, name: &str, fragment: &str, _: Features| {
            let state = GraphicsState { colors: vec![(LIGHT, false); 2], ..Default::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Self { march: LightVariants::lazy(gpu, "volumes.frag", make), composite: OnceLock::new() }
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

    /// Declares the passes; `None` without volumes.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (scene, data): (&'a GpuScene, &'a FrameData),
        (gbuffer, lit): (Gbuffer, LitImages),
        (atlas, gpu_bvh): (Option<ImageHandle>, BvhDependencies),
    ) -> Option<Volumetrics> {
        let composite = self.composite.get().filter(|_| data.volumes.any)?;
        let [width, height] = data.values.size;
        let [across, down] = [width, height].map(|side| side.div_ceil(data.volumes.scale));
        let marched = [
            g.image("volume light", across, down, LIGHT),
            g.image("volume transmittance", across, down, LIGHT),
        ];
        let mut pass = g
            .pass("volumes")
            .uses(gbuffer.depth, Access::FragmentSampled)
            .color_cleared(marched[0], [0.0; 4])
            .color_cleared(marched[1], [1.0; 4]);
        if let Some(atlas) = atlas {
            pass = pass.uses(atlas, Access::FragmentSampled);
        }
        for (buffer, access) in gpu_bvh.by_fragments() {
            pass = pass.uses(buffer, access);
        }
        pass.record(move |cx| {
            let depth = cx.image(gbuffer.depth);
            let atlas = atlas.map_or_else(|| Arc::clone(&scene.white), |atlas| cx.image(atlas));
            let pipeline = self.march.get(Features::of(data, false))?;
            let mut binds = vec![
                data.uniform(),
                ("depth_image", Bind::Sampled(&depth)),
                ("light_block", Bind::Storage(&data.lights)),
                ("profile_block", Bind::Storage(&data.profiles)),
                ("shadow_map_block", Bind::Storage(&data.shadows.maps)),
                ("shadow_atlas", Bind::Sampled(&atlas)),
                ("volume_block", Bind::Storage(&data.volumes.block)),
                ("volume_density_block", Bind::Storage(&data.volumes.densities)),
                ("volume_environment_block", Bind::Storage(&data.volumes.environment)),
            ];
            binds.extend(data.shadow_bvh.iter().flat_map(super::scene_bvh::FrameBvh::binds));
            cx.rec.bind_graphics(&pipeline, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        let light = g.image("light with volumes", width, height, LIGHT);
        let inputs = [gbuffer.depth, lit.light, marched[0], marched[1]];
        let mut pass = g.pass("volumes composite").color_cleared(light, [0.0; 4]);
        for input in inputs {
            pass = pass.uses(input, Access::FragmentSampled);
        }
        pass.record(move |cx| {
            let [depth, below, added, through] = inputs.map(|input| cx.image(input));
            let binds = [
                data.uniform(),
                ("depth_image", Bind::Sampled(&depth)),
                ("light_image", Bind::Sampled(&below)),
                ("volume_light_image", Bind::Sampled(&added)),
                ("volume_transmittance_image", Bind::Sampled(&through)),
                ("volume_block", Bind::Storage(&data.volumes.block)),
            ];
            cx.rec.bind_graphics(composite, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        Some(Volumetrics { light, marched })
    }
}

/// Volume images for surfaces drawn over the image, at record time.
pub(super) struct VolumetricsImages([Arc<Image>; 2]);

impl VolumetricsImages {
    /// Images of this frame, or placeholders without volumes.
    pub(super) fn of(
        cx: &PassContext<'_, '_>,
        volumetrics: Option<Volumetrics>,
        scene: &GpuScene,
    ) -> Self {
        Self(volumetrics.map_or_else(
            || [Arc::clone(&scene.white), Arc::clone(&scene.white)],
            |volumetrics| volumetrics.marched.map(|image| cx.image(image)),
        ))
    }

    pub(super) fn binds(&self) -> [(&'static str, Bind<'_>); 2] {
        [
            ("volume_light_image", Bind::Sampled(&self.0[0])),
            ("volume_transmittance_image", Bind::Sampled(&self.0[1])),
        ]
    }
}
