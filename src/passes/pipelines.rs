//! Pipelines of all passes.

use std::sync::OnceLock;

use super::{
    accumulate, anti_aliasing, ao, background, blend, blended_gbuffer, caustics, clustered_lights,
    culling, denoiser, effects, emission, exposure_histogram, forward, gbuffer, gbuffer_channel,
    gi, gi_probes, lighting, limit_counters, refit, refraction, shadow_maps, skin, ssr, tonemap,
    velocity, volumes,
};
use crate::gpu::{Gpu, GpuResult};

/// One set of pipelines for each pass; those of optional passes are created on first use.
pub struct Passes {
    /// Instance culling; created on first use.
    pub culling: OnceLock<culling::CullingPass>,
    /// Vertex skinning and morphing.
    pub skin: skin::SkinPass,
    /// BVH refit of deformed primitives.
    pub refit: refit::RefitPass,
    /// Geometry into the G-buffer.
    pub gbuffer: gbuffer::GbufferPass,
    /// Emission at four samples a pixel; created on first use.
    pub emission: OnceLock<emission::EmissionPass>,
    /// Light lists per cluster; pipelines are created on first use.
    pub clustered_lights: clustered_lights::ClusteredLightsPass,
    /// Shadow maps; created on first use.
    pub shadow_maps: OnceLock<shadow_maps::ShadowMapsPass>,
    /// Water caustics.
    pub caustics: caustics::CausticsPass,
    /// Ambient occlusion; created on first use.
    pub ao: OnceLock<ao::AoPass>,
    /// Direct light.
    pub lighting: lighting::LightingPass,
    /// Environment and sun disks; created on first use.
    pub background: OnceLock<background::BackgroundPass>,
    /// Forward pass of extended materials.
    pub forward: forward::ForwardPass,
    /// Participating volumes.
    pub volumes: volumes::VolumesPass,
    /// Refraction background.
    pub refraction: refraction::RefractionPass,
    /// Alpha-blended surfaces.
    pub blend: blend::BlendPass,
    /// One blended surface per pixel, for indirect light.
    pub blended_gbuffer: blended_gbuffer::BlendedGbufferPass,
    /// G-buffer channels as floats, for display; created on first use.
    pub gbuffer_channel: OnceLock<gbuffer_channel::GbufferChannelPass>,
    /// Camera effects.
    pub effects: effects::EffectPasses,
    /// Denoiser of indirect light and of shadows.
    pub denoiser: denoiser::Denoiser,
    /// Indirect light; created on first use.
    pub gi: OnceLock<gi::GiPass>,
    /// Irradiance volume; created on first use.
    pub gi_probes: OnceLock<gi_probes::GiProbesPass>,
    /// Screen-space reflections; created on first use.
    pub ssr: OnceLock<ssr::SsrPass>,
    /// Velocity since the last frame and during the exposure; created on first use.
    pub velocity: OnceLock<velocity::VelocityPass>,
    /// Anti-aliasing.
    pub anti_aliasing: anti_aliasing::AntiAliasingPasses,
    /// Counts of clamped light.
    pub limit_counters: limit_counters::LimitCountersPass,
    /// Progressive accumulation; created on first use.
    pub accumulate: OnceLock<accumulate::AccumulatePass>,
    /// Luminance histogram for automatic exposure; created on first use.
    pub exposure_histogram: OnceLock<exposure_histogram::ExposureHistogramPass>,
    /// Tone mapping to the display.
    pub tonemap: tonemap::TonemapPass,
}

impl Passes {
    /// Creates the pipelines that every frame uses.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        // Independent of each other, and slow if the driver compiles for the first time.
        let (gbuffer, tonemap) =
            rayon::join(|| gbuffer::GbufferPass::new(gpu), || tonemap::TonemapPass::new(gpu));
        Ok(Self {
            culling: OnceLock::new(),
            skin: skin::SkinPass::default(),
            refit: refit::RefitPass::default(),
            gbuffer: gbuffer?,
            emission: OnceLock::new(),
            blend: blend::BlendPass::new(gpu),
            blended_gbuffer: blended_gbuffer::BlendedGbufferPass::new(gpu),
            forward: forward::ForwardPass::new(gpu),
            volumes: volumes::VolumesPass::new(gpu),
            refraction: refraction::RefractionPass::new(gpu),
            shadow_maps: OnceLock::new(),
            clustered_lights: clustered_lights::ClusteredLightsPass::default(),
            caustics: caustics::CausticsPass::default(),
            ao: OnceLock::new(),
            lighting: lighting::LightingPass::new(gpu),
            denoiser: denoiser::Denoiser::new(gpu),
            gi: OnceLock::new(),
            gi_probes: OnceLock::new(),
            ssr: OnceLock::new(),
            gbuffer_channel: OnceLock::new(),
            effects: effects::EffectPasses::default(),
            velocity: OnceLock::new(),
            anti_aliasing: anti_aliasing::AntiAliasingPasses::default(),
            limit_counters: limit_counters::LimitCountersPass::new(gpu),
            accumulate: OnceLock::new(),
            exposure_histogram: OnceLock::new(),
            tonemap: tonemap?,
            background: OnceLock::new(),
        })
    }
}
