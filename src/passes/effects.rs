//! The passes of the camera's effects, whose pipelines are made when they are first used: a camera
//! without effects pays nothing, not even at the start.

use std::sync::{Arc, OnceLock};

use super::{
    FrameData, GpuScene, View,
    bloom::BloomPass,
    chromatic_aberration::ChromaticAberrationPass,
    depth_of_field::{CocLimit, DepthOfFieldPass},
    flare_sources::{FlareSources, FlareSourcesPass},
    grain::GrainPass,
    lens_ghosts::LensGhostsPass,
    lens_image::LensImagePass,
    motion_blur::{MotionBlurLimit, MotionBlurPass},
    ray_query::BvhDependencies,
    scene_data::GpuScenePose,
    skin::SkinPass,
    starburst::StarburstPass,
    velocity::{MotionState, VelocityPass},
    vignetting::VignettingPass,
};
use crate::{
    camera::CameraEffects,
    gpu::{Gpu, GpuResult},
    graph::{BufferHandle, Graph, ImageHandle},
    optics::{MountedLens, ghosts::LensGhosts},
};

/// The passes that have been asked for.
#[derive(Default)]
pub struct EffectPasses {
    depth_of_field: OnceLock<DepthOfFieldPass>,
    motion_blur: OnceLock<(VelocityPass, MotionBlurPass)>,
    flare_sources: OnceLock<FlareSourcesPass>,
    starburst: OnceLock<StarburstPass>,
    ghosts: OnceLock<LensGhostsPass>,
    bloom: OnceLock<BloomPass>,
    chromatic_aberration: OnceLock<ChromaticAberrationPass>,
    vignetting: OnceLock<VignettingPass>,
    grain: OnceLock<GrainPass>,
    lens_image: OnceLock<LensImagePass>,
}

pub(super) fn make<T>(
    slot: &OnceLock<T>,
    wanted: bool,
    new: impl FnOnce() -> GpuResult<T>,
) -> GpuResult<()> {
    if wanted && slot.get().is_none() {
        // Another thread may have been faster; its pass is as good.
        let _ = slot.set(new()?);
    }
    Ok(())
}

impl EffectPasses {
    /// Makes the pipelines of the effects that are on, where they are not there yet.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
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
        make(&self.motion_blur, effects.motion_blur.is_some(), || {
            Ok((VelocityPass::new(gpu)?, MotionBlurPass::new(gpu)?))
        })?;
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

    /// Blur by distance, and how great its circles are; light as it is where that is off.
    pub fn depth_of_field<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        depth: ImageHandle,
        light: ImageHandle,
        effects: &CameraEffects,
    ) -> (ImageHandle, Option<CocLimit>) {
        match (self.depth_of_field.get(), &effects.depth_of_field) {
            (Some(pass), Some(field)) if !data.parallel() => {
                let (light, bound) = pass.declare(g, data, depth, light, field);
                (light, Some(bound))
            }
            _ => (light, None),
        }
    }

    /// Blur by motion, and how long it is; light as it is where that is off. The first data and
    /// depth are of the pixels that were rendered, the second of those of the picture. `shutter` is
    /// where things are when it opens and when it closes.
    pub fn motion_blur<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (scene, [data, after], skin): (&'a GpuScene, [&'a FrameData; 2], &'a SkinPass),
        (view, [rendered, depth]): (&View, [ImageHandle; 2]),
        light: ImageHandle,
        effects: &CameraEffects,
        shutter: Option<&[Arc<GpuScenePose>; 2]>,
    ) -> (ImageHandle, Option<MotionBlurLimit>) {
        match (self.motion_blur.get(), &effects.motion_blur) {
            (Some((velocity, pass)), Some(blur)) => {
                let moment = |time: f64, index: usize| MotionState {
                    to_clip: view.moved(blur.pose(time * blur.exposure)),
                    posed: shutter.map(|poses| Arc::clone(&poses[index])),
                };
                let moments = [moment(-0.5, 0), moment(0.5, 1)];
                let moving =
                    velocity.declare(g, (scene, data, skin), rendered, "velocity", &moments);
                let moving = velocity.enlarged(g, moving, data.values.size, after.values.size);
                let (light, bound) = pass.declare(g, after, depth, moving, light, blur);
                (light, Some(bound))
            }
            _ => (light, None),
        }
    }

    /// The bright sources, where an effect asks for them. The data and depth are of the picture's
    /// pixels, the trees those that the frame refits.
    pub fn flare_sources<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        (depth, light): (ImageHandle, ImageHandle),
        trees: BvhDependencies,
        wanted: bool,
    ) -> Option<FlareSources> {
        let pass = self.flare_sources.get().filter(|_| wanted && !data.parallel())?;
        Some(pass.declare(g, data, (depth, light), trees))
    }

    /// Spikes of bright sources; light as it is where they are off. The data and depth are of the
    /// picture's pixels.
    pub fn starburst<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        (depth, light): (ImageHandle, ImageHandle),
        bright: Option<FlareSources>,
        effects: &CameraEffects,
    ) -> ImageHandle {
        match (self.starburst.get(), &effects.starburst, bright) {
            (Some(pass), Some(starburst), Some(bright)) => {
                pass.declare(g, data, (depth, light), bright, starburst)
            }
            _ => light,
        }
    }

    /// Reflections of bright sources within the lens, and what was drawn of them; light as it is
    /// where they are off.
    pub fn ghosts<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (size, light): ([u32; 2], ImageHandle),
        bright: Option<FlareSources>,
        ghosts: Option<&LensGhosts>,
    ) -> (ImageHandle, Option<BufferHandle>) {
        let drawn = match (self.ghosts.get(), ghosts, bright) {
            (Some(pass), Some(ghosts), Some(bright)) => {
                pass.declare(g, (size, light), bright.list, ghosts)
            }
            _ => None,
        };
        drawn.map_or((light, None), |(light, report)| (light, Some(report)))
    }

    /// Glare; light as it is where that is off.
    pub fn bloom<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        effects: &CameraEffects,
    ) -> ImageHandle {
        match (self.bloom.get(), &effects.bloom) {
            (Some(pass), Some(bloom)) => pass.declare(g, size, light, bloom),
            _ => light,
        }
    }

    /// Coloured edges; light as it is where that is off.
    pub fn chromatic_aberration<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        effects: &CameraEffects,
    ) -> ImageHandle {
        match (self.chromatic_aberration.get(), &effects.chromatic_aberration) {
            (Some(pass), Some(aberration)) => pass.declare(g, size, light, aberration),
            _ => light,
        }
    }

    /// The image that a prescription's lens forms; light as it is where there is none.
    pub fn lens_image<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        lens: bool,
    ) -> ImageHandle {
        match (self.lens_image.get(), lens) {
            (Some(pass), true) => pass.declare(g, size, light),
            _ => light,
        }
    }

    /// Dark corners; light as it is where that is off.
    pub fn vignetting<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        effects: &CameraEffects,
    ) -> ImageHandle {
        match (self.vignetting.get(), &effects.vignetting) {
            (Some(pass), Some(vignetting)) => pass.declare(g, size, light, vignetting),
            _ => light,
        }
    }

    /// Noise; light as it is where that is off.
    pub fn grain<'a>(
        &'a self,
        g: &mut Graph<'a>,
        size: [u32; 2],
        light: ImageHandle,
        effects: &CameraEffects,
        frame: u32,
    ) -> ImageHandle {
        match (self.grain.get(), &effects.grain) {
            (Some(pass), Some(grain)) => pass.declare(g, size, light, grain, frame),
            _ => light,
        }
    }
}
