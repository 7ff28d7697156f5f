//! Pipelines that a frame needs, created before it is recorded.

use std::sync::OnceLock;

use super::{aov::Aov, declare::needs_ao, frame_inputs::FrameInputs, settings::RenderSettings};
use crate::{
    gpu::{Gpu, GpuResult},
    gpu_scene::{GpuScene, View, scene_bvh::RayTracedLights},
    passes::{
        Passes, SceneFrame,
        accumulate::AccumulatePass,
        ao::AoPass,
        background::BackgroundPass,
        creation::{self, PipelineJob},
        culling::CullingPass,
        effects::make,
        emission::EmissionPass,
        exposure_histogram::ExposureHistogramPass,
        gbuffer_channel::GbufferChannelPass,
        gi::{FrameGi, GiPass},
        gi_probes::GiProbesPass,
        shadow_maps::ShadowMapsPass,
        ssr::SsrPass,
        velocity::VelocityPass,
    },
    settings::AntiAliasing,
};

/// Creates the pipelines that the scene and the settings need, except those that are specialized
/// for the features of a frame.
///
/// # Errors
/// `GpuError` if the driver rejects a pipeline.
pub(super) fn prepare(
    passes: &Passes,
    gpu: &Gpu,
    (scene, view): (&GpuScene, &View),
    settings: &RenderSettings,
) -> GpuResult<()> {
    passes.skin.prepare(gpu, scene)?;
    passes.refit.prepare(gpu, scene)?;
    passes.volumes.prepare(gpu, scene, &settings.volumes)?;
    passes.caustics.prepare(gpu, scene)?;
    let (lens, ghosts) = (settings.lens.as_ref(), settings.ghosts.as_ref());
    passes.effects.prepare(gpu, &settings.effects, lens, ghosts)?;
    let (ssr, gi) = (settings.ssr.enabled, settings.gi.uses_vpls());
    let shadows = settings.denoises_shadows();
    let method = settings.anti_aliasing;
    let temporal = method == AntiAliasing::Temporal;
    let morphological = method == AntiAliasing::Morphological;
    let velocity = temporal
        || ssr
        || gi
        || shadows
        || settings.effects.motion_blur.is_some()
        || settings.aovs.contains(&Aov::Velocity);
    let mapped = settings.shadows.enabled
        && !matches!(RayTracedLights::of(&settings.shadows), RayTracedLights::All);
    let culled = settings.culling.enabled && scene.gpu_instances.is_some();
    let accumulated = settings.accumulated_frames.is_some();
    let channels = settings.aovs.iter().any(|aov| matches!(aov, Aov::Channel(_)));
    let supersamples_emission =
        settings.supersamples_emission(scene.max_emission, [view.width, view.height]);
    let jobs: Vec<PipelineJob<'_>> = [
        job(gpu, &passes.shadow_maps, mapped, ShadowMapsPass::new),
        job(gpu, &passes.background, scene.has_background, BackgroundPass::new),
        job(gpu, &passes.emission, supersamples_emission, EmissionPass::new),
        job(gpu, &passes.ao, needs_ao(settings, scene.has_environment), AoPass::new),
        job(gpu, &passes.culling, culled, CullingPass::new),
        job(gpu, &passes.gi, gi, GiPass::new),
        job(gpu, &passes.gi_probes, settings.gi.uses_probes(), GiProbesPass::new),
        job(gpu, &passes.ssr, ssr, SsrPass::new),
        job(gpu, &passes.velocity, velocity, VelocityPass::new),
        job(gpu, &passes.accumulate, accumulated, AccumulatePass::new),
        job(gpu, &passes.exposure_histogram, settings.histogram, ExposureHistogramPass::new),
        job(gpu, &passes.gbuffer_channel, channels, GbufferChannelPass::new),
    ]
    .into_iter()
    .flatten()
    .collect();
    creation::run_all(&jobs)?;
    passes.anti_aliasing.prepare(gpu, morphological, temporal)
}

/// The job that creates a pass which is wanted and does not exist.
fn job<'a, T: Send + Sync>(
    gpu: &'a Gpu,
    slot: &'a OnceLock<T>,
    wanted: bool,
    new: fn(&Gpu) -> GpuResult<T>,
) -> Option<PipelineJob<'a>> {
    (wanted && slot.get().is_none()).then(|| Box::new(move || make(slot, true, || new(gpu))) as _)
}

/// Creates the pipelines that are specialized for the features of this frame, in parallel.
///
/// # Errors
/// `GpuError` if the driver rejects a pipeline.
pub(super) fn create_variants(
    passes: &Passes,
    gpu: &Gpu,
    scene: &GpuScene,
    inputs: &FrameInputs,
    settings: &RenderSettings,
) -> GpuResult<()> {
    let (data, split) = (&inputs.data, settings.splits_lighting());
    let frame = SceneFrame { scene, data, output: &inputs.output };
    let (lighting, lit_features) = passes.lighting.wanted(data, split);
    let lights = [passes.forward.wanted(frame, split), passes.volumes.wanted(data)]
        .into_iter()
        .flatten()
        .chain(passes.blend.wanted(frame, split, &passes.forward));
    let gi = inputs.gi.as_ref().zip(passes.gi.get()).map(|(gi, pass)| pass.wanted(data, gi));
    let probes = inputs.probes.as_ref().and(passes.gi_probes.get()).map(|pass| pass.jobs(data));
    let signals = (inputs.shadow_signal.iter()).chain(inputs.gi.iter().flat_map(FrameGi::signals));
    let jobs: Vec<PipelineJob<'_>> = lights
        .filter_map(|(variants, features)| variants.job(features))
        .chain(lighting.job(lit_features))
        .chain(gi.and_then(|(variants, features)| variants.job(features)))
        .chain(probes.into_iter().flatten())
        .chain(passes.lighting.jobs(data, split))
        .chain(passes.clustered_lights.job(gpu, data))
        .chain(passes.denoiser.jobs(signals))
        .collect();
    if !jobs.is_empty() {
        gpu.announce_pipelines(jobs.len());
    }
    creation::run_all(&jobs)
}
