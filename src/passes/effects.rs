//! Camera effects. Their pipelines are created on first use, so that a camera without effects has
//! no cost.

use std::sync::{Arc, OnceLock};

use super::{
    bloom::BloomPass,
    chromatic_aberration::ChromaticAberrationPass,
    depth_of_field::{CocLimit, DepthOfFieldPass},
    flare_sources::{FlareSources, FlareSourcesPass},
    grain::GrainPass,
    lens_ghosts::LensGhostsPass,
    lens_image::LensImagePass,
    motion_blur::{MotionBlurLimit, MotionBlurPass},
    ray_query::BvhDependencies,
    scene_frame::SceneFrame,
    skin::SkinPass,
    starburst::StarburstPass,
    velocity::{MotionState, VelocityPass, VelocitySurfaces},
    vignetting::VignettingPass,
};
use crate::{
    camera::CameraEffects,
    gpu::{Gpu, GpuResult},
    gpu_scene::{FrameUniforms, GpuScenePose, View},
    graph::{BufferHandle, Graph, ImageHandle},
    optics::{MountedLens, ghosts::LensGhosts},
};

/// Effect passes created so far.
#[derive(Default)]
pub struct EffectPasses {
    depth_of_field: OnceLock<DepthOfFieldPass>,
    motion_blur: OnceLock<MotionBlurPass>,
    flare_sources: OnceLock<FlareSourcesPass>,
    starburst: OnceLock<StarburstPass>,
    ghosts: OnceLock<LensGhostsPass>,
    bloom: OnceLock<BloomPass>,
    chromatic_aberration: OnceLock<ChromaticAberrationPass>,
    vignetting: OnceLock<VignettingPass>,
    grain: OnceLock<GrainPass>,
    lens_image: OnceLock<LensImagePass>,
}

/// Creates a pass if it is wanted and does not exist.
///
/// # Errors
/// `GpuError` if the driver rejects a pipeline.
pub fn make<T>(
    slot: &OnceLock<T>,
    wanted: bool,
    new: impl FnOnce() -> GpuResult<T>,
) -> GpuResult<()> {
    if wanted && slot.get().is_none() {
        // If another thread set it first, its pass is kept.
        let _ = slot.set(new()?);
    }
    Ok(())
}

/// Inputs of motion blur.
pub struct MotionBlurInputs<'a> {
    /// View of the frame, at the middle of the exposure.
    pub view: &'a View,
    /// Poses of the scene at shutter opening and closing, if it moves.
    pub shutter: Option<&'a [Arc<GpuScenePose>; 2]>,
    /// Depth at render resolution.
    pub rendered_depth: ImageHandle,
    /// Depth at output resolution.
    pub depth: ImageHandle,
    /// Light at output resolution.
    pub light: ImageHandle,
}

/// Inputs of the effects of lens and film.
pub struct LensAndFilmInputs<'a> {
    /// The camera's effects.
    pub effects: &'a CameraEffects,
    /// True if the lens prescription distorts or darkens the image.
    pub has_aberrations: bool,
    /// Bright sources, of which ghosts are drawn.
    pub flare_sources: Option<FlareSources>,
    /// Lens ghosts, if they are drawn.
    pub ghosts: Option<&'a LensGhosts>,
    /// Number of the frame, the seed of the grain.
    pub frame: u32,
}

impl EffectPasses {
    /// Creates the pipelines of the enabled effects unless they exist.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn prepare(
        &self,
        gpu: &Gpu,
        effects: &CameraEffects,
        lens: Option<&Arc<MountedLens>>,
        ghosts: Option<&LensGhosts>,
    ) -> GpuResult<()> {
        make(&self.depth_of_field, effects.depth_of_field.is_some(), || {
            DepthOfFieldPass::new(gpu)
        })?;
        make(&self.motion_blur, effects.motion_blur.is_some(), || MotionBlurPass::new(gpu))?;
        make(&self.flare_sources, effects.starburst.is_some() || ghosts.is_some(), || {
            FlareSourcesPass::new(gpu)
        })?;
        make(&self.starburst, effects.starburst.is_some(), || StarburstPass::new(gpu))?;
        if let (Some(pass), Some(starburst)) = (self.starburst.get(), &effects.starburst) {
            pass.prepare(gpu, starburst)?;
        }
        make(&self.ghosts, ghosts.is_some(), || LensGhostsPass::new(gpu))?;
        if let (Some(pass), Some(ghosts)) = (self.ghosts.get(), ghosts) {
            pass.prepare(gpu, ghosts)?;
        }
        make(&self.bloom, effects.bloom.is_some(), || BloomPass::new(gpu))?;
        make(&self.chromatic_aberration, effects.chromatic_aberration.is_some(), || {
            ChromaticAberrationPass::new(gpu)
        })?;
        make(&self.vignetting, effects.vignetting.is_some(), || VignettingPass::new(gpu))?;
        make(&self.lens_image, lens.is_some(), || LensImagePass::new(gpu))?;
        if let (Some(pass), Some(lens)) = (self.lens_image.get(), lens) {
            pass.prepare(gpu, lens)?;
        }
        make(&self.grain, effects.grain.is_some(), || GrainPass::new(gpu))
    }

    /// Depth of field and its CoC limit; returns `light` unchanged if it is off.
    pub fn depth_of_field<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: &FrameUniforms,
        depth: ImageHandle,
        light: ImageHandle,
        effects: &CameraEffects,
    ) -> (ImageHandle, Option<CocLimit>) {
        match (self.depth_of_field.get(), &effects.depth_of_field) {
            (Some(pass), Some(field)) if !frame.parallel() => {
                let (light, bound) = pass.declare(g, frame, depth, light, field);
                (light, Some(bound))
            }
            _ => (light, None),
        }
    }

    /// Motion blur and its limit; returns the light unchanged if it is off.
    pub fn motion_blur<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        (velocity, skin): (Option<&'a VelocityPass>, &SkinPass),
        inputs: MotionBlurInputs<'_>,
        effects: &CameraEffects,
    ) -> (ImageHandle, Option<MotionBlurLimit>) {
        let MotionBlurInputs { view, shutter, rendered_depth, depth, light } = inputs;
        match (self.motion_blur.get(), velocity, &effects.motion_blur) {
            (Some(pass), Some(velocity), Some(blur)) => {
                let moment = |time: f64, index: usize| MotionState {
                    to_clip: view.moved(blur.pose(time * blur.exposure)),
                    posed: shutter.map(|poses| Arc::clone(&poses[index])),
                };
                let moments = [moment(-0.5, 0), moment(0.5, 1)];
                let moving = velocity.declare(
                    g,
                    frame,
                    skin,
                    VelocitySurfaces::Opaque(rendered_depth),
                    "velocity",
                    &moments,
                );
                let [from, to] = [&frame.data.uniforms, frame.output].map(|at| at.values.size);
                let moving = velocity.enlarged(g, moving, from, to);
                let (light, bound) = pass.declare(g, frame.output, depth, moving, light, blur);
                (light, Some(bound))
            }
            _ => (light, None),
        }
    }

    /// Flare sources, if any effect needs them. The images are at output resolution; the BVH is the
    /// one refitted in this frame.
    pub fn flare_sources<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        depth: ImageHandle,
        light: ImageHandle,
        gpu_bvh: BvhDependencies,
        wanted: bool,
    ) -> Option<FlareSources> {
        let pass = self.flare_sources.get().filter(|_| wanted && !frame.output.parallel())?;
        Some(pass.declare(g, frame, depth, light, gpu_bvh))
    }

    /// Starbursts; returns `light` unchanged if they are off. The images are at output resolution;
    /// `limit_counters`: of `passes::limit_counters`.
    pub fn starburst<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        (depth, light): (ImageHandle, ImageHandle),
        (bright, limit_counters): (Option<FlareSources>, BufferHandle),
        effects: &CameraEffects,
    ) -> ImageHandle {
        match (self.starburst.get(), &effects.starburst, bright) {
            (Some(pass), Some(starburst), Some(bright)) => {
                pass.declare(g, frame, (depth, light), (bright, limit_counters), starburst)
            }
            _ => light,
        }
    }

    /// Bloom, the image through the lens prescription, chromatic aberration, vignetting, lens ghosts
    /// and film grain, those that are on, in the order of the light's path; with the report of the
    /// ghosts. `count` counts the clamped values of a named stage after sums of light.
    pub fn lens_and_film<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        mut light: ImageHandle,
        inputs: LensAndFilmInputs<'_>,
        count: impl Fn(&mut Graph<'a>, &str, ImageHandle),
    ) -> (ImageHandle, Option<BufferHandle>) {
        let LensAndFilmInputs { effects, has_aberrations, flare_sources, ghosts, frame } = inputs;
        if let (Some(pass), Some(bloom)) = (self.bloom.get(), &effects.bloom) {
            light = pass.declare(g, size, light, bloom);
        }
        if let Some(pass) = self.lens_image.get().filter(|_| has_aberrations) {
            light = pass.declare(g, size, light);
            count(g, "lens image", light);
        }
        if let (Some(pass), Some(aberration)) =
            (self.chromatic_aberration.get(), &effects.chromatic_aberration)
        {
            light = pass.declare(g, size, light, aberration);
        }
        if let (Some(pass), Some(vignetting)) = (self.vignetting.get(), &effects.vignetting) {
            light = pass.declare(g, size, light, vignetting);
        }
        let mut report = None;
        if let (Some(pass), Some(ghosts), Some(sources)) =
            (self.ghosts.get(), ghosts, flare_sources)
            && let Some((with_ghosts, buffer)) =
                pass.declare(g, (size, light), sources.list, ghosts)
        {
            (light, report) = (with_ghosts, Some(buffer));
            count(g, "ghosts", light);
        }
        if let (Some(pass), Some(grain)) = (self.grain.get(), &effects.grain) {
            light = pass.declare(g, size, light, grain, frame);
        }
        (light, report)
    }
}
