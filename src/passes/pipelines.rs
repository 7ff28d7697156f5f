//! Pipelines of all passes.

use std::sync::OnceLock;

use super::{
    accumulate, anti_aliasing, ao, background, blend, caustics, clustered_lights, culling, effects,
    exposure_histogram, forward, gbuffer, gbuffer_channel, gi, lighting, refit, refraction,
    shadow_maps, skin, ssr, tonemap, velocity, volumes,
};
use crate::gpu::{Gpu, GpuResult};

/// One set of pipelines for each pass; those of optional passes are created on first use.
pub struct Passes {
    /// Instance culling.
    pub culling: culling::CullingPass,
    /// Vertex skinning and morphing.
    pub skin: skin::SkinPass,
    /// BVH refit of deformed primitives.
    pub refit: refit::RefitPass,
    /// Geometry into the G-buffer.
    pub gbuffer: gbuffer::GbufferPass,
    /// Light lists per cluster; pipelines are created on first use.
    pub clustered_lights: clustered_lights::ClusteredLightsPass,
    /// Shadow maps.
    pub shadow_maps: shadow_maps::ShadowMapsPass,
    /// Water caustics.
    pub caustics: caustics::CausticsPass,
    /// Ambient occlusion.
    pub ao: ao::AoPass,
    /// Direct light.
    pub lighting: lighting::LightingPass,
    /// Environment and sun disks.
    pub background: background::BackgroundPass,
    /// Forward pass of extended materials.
    pub forward: forward::ForwardPass,
    /// Participating volumes.
    pub volumes: volumes::VolumesPass,
    /// Refraction background.
    pub refraction: refraction::RefractionPass,
    /// Alpha-blended surfaces.
    pub blend: blend::BlendPass,
    /// G-buffer channels as floats, for display.
    pub gbuffer_channel: gbuffer_channel::GbufferChannelPass,
    /// Camera effects.
    pub effects: effects::EffectPasses,
    /// Indirect light; created on first use.
    pub gi: OnceLock<gi::GiPass>,
    /// Screen-space reflections; created on first use.
    pub ssr: OnceLock<ssr::SsrPass>,
    /// Velocity since the last frame and during the exposure; created on first use.
    pub velocity: OnceLock<velocity::VelocityPass>,
    /// Anti-aliasing.
    pub anti_aliasing: anti_aliasing::AntiAliasingPasses,
    /// Progressive accumulation.
    pub accumulate: accumulate::AccumulatePass,
    /// Luminance histogram for automatic exposure.
    pub exposure_histogram: exposure_histogram::ExposureHistogramPass,
    /// Tone mapping to the display.
    pub tonemap: tonemap::TonemapPass,
}

impl Passes {
    /// Creates all pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        // Independent of each other, and slow if the driver compiles for the first time.
        let (geometry, display) = rayon::join(
            || Ok((gbuffer::GbufferPass::new(gpu)?, shadow_maps::ShadowMapsPass::new(gpu)?)),
            || {
                Ok((
                    gbuffer_channel::GbufferChannelPass::new(gpu)?,
                    tonemap::TonemapPass::new(gpu)?,
                    background::BackgroundPass::new(gpu)?,
                ))
            },
        );
        let (gbuffer, shadow_maps) = geometry?;
        let (gbuffer_channel, tonemap, background) = display?;
        Ok(Self {
            culling: culling::CullingPass::new(gpu)?,
            skin: skin::SkinPass::default(),
            refit: refit::RefitPass::default(),
            gbuffer,
            blend: blend::BlendPass::new(gpu),
            forward: forward::ForwardPass::new(gpu),
            volumes: volumes::VolumesPass::new(gpu),
            refraction: refraction::RefractionPass::new(gpu),
            shadow_maps,
            clustered_lights: clustered_lights::ClusteredLightsPass::default(),
            caustics: caustics::CausticsPass::default(),
            ao: ao::AoPass::new(gpu)?,
            lighting: lighting::LightingPass::new(gpu),
            gi: OnceLock::new(),
            ssr: OnceLock::new(),
            gbuffer_channel,
            effects: effects::EffectPasses::default(),
            velocity: OnceLock::new(),
            anti_aliasing: anti_aliasing::AntiAliasingPasses::default(),
            accumulate: accumulate::AccumulatePass::new(gpu)?,
            exposure_histogram: exposure_histogram::ExposureHistogramPass::new(gpu)?,
            tonemap,
            background,
        })
    }
}
