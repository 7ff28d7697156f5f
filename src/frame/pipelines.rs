//! Pipelines that a frame needs, created before it is recorded.

use rayon::prelude::*;

use super::{aov::Aov, frame_inputs::FrameInputs, settings::RenderSettings};
use crate::{
    gpu::{Gpu, GpuResult},
    gpu_scene::GpuScene,
    passes::{
        Passes, SceneFrame, effects::make, gi::GiPass, ssr::SsrPass, variants,
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
    scene: &GpuScene,
    settings: &RenderSettings,
) -> GpuResult<()> {
    passes.skin.prepare(gpu, scene)?;
    passes.refit.prepare(gpu, scene)?;
    passes.volumes.prepare(gpu, scene, &settings.volumes)?;
    passes.caustics.prepare(gpu, scene)?;
    let (lens, ghosts) = (settings.lens.as_ref(), settings.ghosts.as_ref());
    passes.effects.prepare(gpu, &settings.effects, lens, ghosts)?;
    let (ssr, gi) = (settings.ssr.enabled, settings.gi.enabled);
    let method = settings.anti_aliasing;
    let temporal = method == AntiAliasing::Temporal;
    let morphological = method == AntiAliasing::Morphological;
    let velocity = temporal
        || ssr
        || gi
        || settings.effects.motion_blur.is_some()
        || settings.aovs.contains(&Aov::Velocity);
    let jobs: [(bool, &(dyn Fn() -> GpuResult<()> + Sync)); 4] = [
        (ssr && passes.ssr.get().is_none(), &|| make(&passes.ssr, true, || SsrPass::new(gpu))),
        (gi && passes.gi.get().is_none(), &|| make(&passes.gi, true, || GiPass::new(gpu))),
        (velocity && passes.velocity.get().is_none(), &|| {
            make(&passes.velocity, true, || VelocityPass::new(gpu))
        }),
        (true, &|| passes.anti_aliasing.prepare(gpu, morphological, temporal)),
    ];
    let jobs: Vec<_> = jobs.into_iter().filter(|(wanted, _)| *wanted).collect();
    let done: Vec<GpuResult<()>> = match jobs.as_slice() {
        [(_, job)] => vec![job()],
        jobs => jobs.par_iter().map(|(_, job)| job()).collect(),
    };
    done.into_iter().collect()
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
    let gi = inputs.gi.as_ref().zip(passes.gi.get()).map(|(gi, pass)| pass.wanted(data, gi));
    let wanted = [Some(passes.lighting.wanted(data, split)), passes.forward.wanted(frame, split)]
        .into_iter()
        .chain([passes.volumes.wanted(data), gi])
        .flatten();
    let wanted: Vec<_> = wanted.chain(passes.blend.wanted(frame, split, &passes.forward)).collect();
    let (lighting, clustering) =
        rayon::join(|| variants::create_all(wanted), || passes.clustered_lights.prepare(gpu, data));
    lighting.and(clustering)
}
