//! The frame: declares the passes of one image in execution order.

use super::{
    aov::Aov, frame_inputs::FrameInputs, limits::LimitReports, sampling::FrameSampling,
    settings::RenderSettings,
};
use crate::{
    gpu_scene::{GpuScene, View},
    graph::{BufferHandle, Graph, ImageHandle},
    optics::MountedLens,
    passes::{
        Passes, SceneFrame, ShadowInputs,
        anti_aliasing::{AntiAliasingInputs, Method},
        blend::{BlendInputs, BlendPass},
        clustered_lights::ClusteredLights,
        culling::CullingOutput,
        effects::{LensAndFilmInputs, MotionBlurInputs},
        formats::LIGHT,
        gbuffer::Gbuffer,
        gi::{GiInputs, GiOutput},
        gi_probes::ProbeInputs,
        lighting::{LightingInputs, LitImages},
        limit_counters, ray_query,
        shadow_maps::ShadowAtlasPlan,
        shadow_rays::ShadowDenoising,
        ssr::{self, SsrInputs},
        taa::TaaOutput,
        temporal::FrameVelocity,
        tonemap::DisplayTransform,
    },
};

/// Output images and buffers of a declared frame.
pub(super) struct FrameImages {
    pub(super) light: ImageHandle,
    /// The mean of the frames so far, if they are accumulated; effects and display follow it.
    pub(super) accumulated: Option<ImageHandle>,
    pub(super) display: ImageHandle,
    pub(super) aovs: Vec<(Aov, ImageHandle)>,
    pub(super) clustered_lights: ClusteredLights,
    pub(super) histogram: Option<BufferHandle>,
    pub(super) culled: Option<CullingOutput>,
    /// Costs of the refitted BVHs.
    pub(super) refitted: Option<BufferHandle>,
    /// Report of the lens flare ghosts.
    pub(super) ghosts: Option<BufferHandle>,
    pub(super) limits: LimitReports,
}

/// Declares one frame. `inputs` holds its host data. Order: G-buffer, clustered lights, lighting,
/// blended surfaces, camera effects in the order of the light path, and display transform. The
/// graph culls passes whose result is unused; disabled effects are not declared.
pub(super) fn declare_frame<'a>(
    g: &mut Graph<'a>,
    passes: &'a Passes,
    scene: &'a GpuScene,
    inputs: &'a FrameInputs,
    (view, sampling): (&View, &FrameSampling),
    settings: &RenderSettings,
    (cached_shadow_maps, moved): (Option<&ShadowAtlasPlan>, bool),
) -> FrameImages {
    let (data, after) = (&inputs.data, &inputs.output);
    let frame = SceneFrame { scene, data, output: after };
    let split = settings.splits_lighting();
    let vertices = passes.skin.declare(g, scene, moved);
    let refitted = passes.refit.declare(g, scene, vertices, moved);
    let bvh = ray_query::declare(g, scene, inputs.bvh.as_ref(), refitted);
    let culling = passes.culling.get();
    let culled = culling.and_then(|pass| pass.declare(g, frame, inputs.culling.as_ref(), vertices));
    let centered = passes.gbuffer.declare(g, frame, culled, vertices);
    let emission = passes.emission.get().filter(|_| data.supersamples_emission);
    let gbuffer =
        emission.map_or(centered, |pass| pass.declare(g, frame, culled, vertices, centered));
    let lists = passes.clustered_lights.declare(g, frame, gbuffer);
    let atlas = passes.shadow_maps.get().and_then(|pass| {
        let camera = data.uniforms.camera;
        pass.declare(g, scene, &inputs.shadows, camera, cached_shadow_maps, vertices)
    });
    let ao = passes.ao.get().filter(|_| needs_ao(settings, data.has_environment));
    let bent_normal_ao = ao.map(|pass| pass.declare(g, data, gbuffer, &settings.ao));
    let caustics = passes.caustics.declare(g, frame, inputs.caustics.as_ref(), bvh);
    let shadow_inputs = ShadowInputs { atlas, bvh, caustics };
    let limit_counters = limit_counters::declare(g, "limit counters");
    let lighting = LightingInputs {
        gbuffer,
        clustered_lights: lists,
        shadow_inputs,
        bent_normal_ao,
        limit_counters,
    };
    let mut velocity = FrameVelocity {
        pass: passes.velocity.get(),
        skin: &passes.skin,
        motion: &sampling.motion,
        frame,
        depth: gbuffer.depth,
        declared: None,
    };
    let denoising = inputs.shadow_signal.as_ref().map(|signal| ShadowDenoising {
        denoiser: &passes.denoiser,
        signal,
        velocity: velocity.image(g),
    });
    let lit = passes.lighting.declare(g, frame, lighting, split, denoising);
    passes.forward.declare(g, frame, lighting, lit);
    if let Some(background) = passes.background.get() {
        background.declare(g, data, (gbuffer, lit), limit_counters);
    }
    let layer = (inputs.blended_seed)
        .map(|seed| passes.blended_gbuffer.declare(g, frame, gbuffer.depth, seed));
    let (gi_output, blended_light) = match (&inputs.gi, passes.gi.get()) {
        (Some(gi), Some(pass)) => {
            let denoiser = &passes.denoiser;
            let velocity_image = velocity.image(g);
            let gi_inputs =
                GiInputs { gbuffer, bent_normal_ao, lit, velocity: velocity_image, bvh };
            let output = pass.declare(g, frame, (gi, denoiser), gi_inputs, split);
            let blended = layer.zip(output.limits).and_then(|(layer, (counters, _))| {
                let velocity_image = velocity.blended_image(g, layer.gbuffer.depth)?;
                let from = (layer, velocity_image);
                pass.declare_blended(g, data, (gi, denoiser), from, (bvh, counters))
            });
            (Some(output), blended)
        }
        _ => inputs.probes.as_ref().zip(passes.gi_probes.get()).map_or((None, None), |found| {
            let (probes, pass) = found;
            let images = pass.declare_updates(g, data, probes, bvh);
            let inputs = ProbeInputs { gbuffer, bent_normal_ao, lit, images };
            let output = pass.declare(g, frame, probes, inputs, split);
            let blended =
                layer.map(|layer| pass.declare_blended(g, frame, (probes, images), layer));
            (Some(output), blended)
        }),
    };
    let (rendered_size, size) = (data.uniforms.values.size, after.values.size);
    // Sums of blended passes, which their shaders cannot count, before other passes dim them.
    let count = |g: &mut Graph<'a>, stage: &str, size: [u32; 2], light: ImageHandle| {
        passes.limit_counters.count_clamped(g, stage, (size, light), limit_counters);
    };
    let watched = settings.aovs.iter().any(|aov| matches!(aov, Aov::Ssr(_)));
    let method = sampling.method();
    let is_temporal = matches!(method, Method::Temporal(_));
    let reflections = match (&inputs.ssr, passes.ssr.get()) {
        (Some(ssr), Some(pass)) => {
            let traced = gi_output.map(|gi_output| gi_output.specular);
            let ssr_inputs = SsrInputs {
                gbuffer,
                light: lit.light,
                bent_normal_ao,
                gi_specular: traced,
                velocity: velocity.image(g),
                limit_counters,
            };
            Some(pass.declare(g, frame, ssr, ssr_inputs, watched, is_temporal))
        }
        _ => None,
    };
    let lit = LitImages { light: reflections.map_or(lit.light, |r| r.light), ..lit };
    let volumetrics = passes.volumes.declare(g, frame, gbuffer, lit, atlas, bvh);
    let is_blended = BlendPass::is_needed(data);
    let is_summed =
        gi_output.is_some() || data.shadow_ray_budget.is_some() || reflections.is_some();
    if is_summed && (volumetrics.is_some() || is_blended) {
        count(g, "surfaces", rendered_size, lit.light);
    }
    let lit =
        LitImages { light: volumetrics.map_or(lit.light, |volumetrics| volumetrics.light), ..lit };
    let background = passes.refraction.declare(g, frame, gbuffer, lit);
    let blended = BlendInputs {
        gbuffer,
        lit,
        shadow_inputs,
        background,
        volumetrics,
        limit_counters,
        indirect: gi_output.and_then(|output| output.split),
        blended_light,
    };
    passes.blend.declare(g, frame, blended, &passes.forward);
    if is_summed || volumetrics.is_some() || is_blended {
        count(g, "scene", rendered_size, lit.light);
    }
    let (camera, effects) = (&passes.effects, &settings.effects);
    let anti_aliasing_inputs = AntiAliasingInputs {
        light: lit.light,
        depth: gbuffer.depth,
        velocity: match reflections {
            Some(reflections) => Some(reflections.velocity),
            None => is_temporal.then(|| velocity.image(g)),
        },
        limit_counters,
    };
    let TaaOutput { light, depth } =
        passes.anti_aliasing.declare(g, data, anti_aliasing_inputs, method);
    let sharp = light;
    let (light, coc) = camera.depth_of_field(g, after, depth, light, effects);
    if coc.is_some() {
        count(g, "depth of field", size, light);
    }
    let blurred = MotionBlurInputs {
        view,
        shutter: settings.shutter.as_ref(),
        rendered_depth: gbuffer.depth,
        depth,
        light,
    };
    let motion = (passes.velocity.get(), &passes.skin);
    let (light, blurs) = camera.motion_blur(g, frame, motion, blurred, effects);
    let accumulated = (settings.accumulated_frames.zip(passes.accumulate.get()))
        .map(|(frames, pass)| pass.declare(g, after, light, frames));
    let light = accumulated.unwrap_or(light);
    // The histogram excludes depth of field blur, unless frames are accumulated.
    let counted = if settings.accumulated_frames.is_some() { light } else { sharp };
    let histogram = passes.exposure_histogram.get().filter(|_| settings.histogram);
    let histogram = histogram.map(|pass| pass.declare(g, size, counted));
    let flares = effects.starburst.is_some() || settings.ghosts.is_some();
    let bright = camera.flare_sources(g, frame, depth, light, bvh, flares);
    let without = light;
    let limited = (bright, limit_counters);
    let light = camera.starburst(g, frame, (depth, light), limited, effects);
    if light != without {
        count(g, "starbursts", size, light);
    }
    let lens_and_film = LensAndFilmInputs {
        effects,
        has_aberrations: settings.lens.as_deref().is_some_and(MountedLens::has_aberrations),
        flare_sources: bright,
        ghosts: settings.ghosts.as_ref(),
        frame: settings.frame_number,
    };
    let (light, ghosts) = camera.lens_and_film(g, size, light, lens_and_film, |g, stage, light| {
        count(g, stage, size, light);
    });
    let to_display = DisplayTransform {
        mapper: settings.tone_mapper,
        white_balance: settings.white_balance,
        dither: settings.dither,
    };
    let display = passes.tonemap.declare(g, size, light, to_display);
    let aovs = settings
        .aovs
        .iter()
        .map(|&aov| {
            let image = match aov {
                Aov::Velocity => Some(velocity.image(g)),
                Aov::Ssr(what) => {
                    reflections.and_then(|r| r.debug).map(|debug| debug[what.debug_image_index()])
                }
                _ => None,
            };
            let make = |g| {
                declare_aov(
                    g,
                    passes,
                    frame,
                    AovInputs { gbuffer, bent_normal_ao, split: lit.split, gi_output },
                    aov,
                )
            };
            (aov, image.unwrap_or_else(|| make(g)))
        })
        .collect();
    let refitted = refitted.and_then(|gpu_bvh| gpu_bvh.costs);
    let counters = [Some((limit_counters, size)), gi_output.and_then(|gi_output| gi_output.limits)];
    let bright = bright.filter(|_| effects.starburst.is_some());
    let limits = LimitReports::declare(g, (blurs, coc), bright, counters);
    FrameImages {
        light,
        accumulated,
        display,
        aovs,
        clustered_lights: lists,
        histogram,
        culled,
        refitted,
        ghosts,
        limits,
    }
}

/// Declares updates of the irradiance volume alone, without a picture.
pub(super) fn declare_probe_updates<'a>(
    g: &mut Graph<'a>,
    passes: &'a Passes,
    scene: &'a GpuScene,
    inputs: &'a FrameInputs,
    moved: bool,
) {
    let Some((probes, pass)) = inputs.probes.as_ref().zip(passes.gi_probes.get()) else { return };
    let vertices = passes.skin.declare(g, scene, moved);
    let refitted = passes.refit.declare(g, scene, vertices, moved);
    let bvh = ray_query::declare(g, scene, inputs.bvh.as_ref(), refitted);
    let images = pass.declare_updates(g, &inputs.data, probes, bvh);
    for image in [images.irradiance, images.visibility, images.states] {
        g.output(image);
    }
}

/// True if the ambient occlusion passes run: for lighting, or for an AOV.
pub(super) fn needs_ao(settings: &RenderSettings, has_environment: bool) -> bool {
    let wanted = |aov: &Aov| matches!(aov, Aov::Channel(channel) if channel.measured());
    settings.ao.enabled && has_environment || settings.aovs.iter().any(wanted)
}

/// Images of the frame from which AOVs are taken.
struct AovInputs {
    gbuffer: Gbuffer,
    bent_normal_ao: Option<ImageHandle>,
    split: Option<(ImageHandle, ImageHandle)>,
    gi_output: Option<GiOutput>,
}

fn declare_aov<'a>(
    g: &mut Graph<'a>,
    passes: &'a Passes,
    frame: SceneFrame<'a>,
    inputs: AovInputs,
    aov: Aov,
) -> ImageHandle {
    let AovInputs { gbuffer, bent_normal_ao, split, gi_output } = inputs;
    let data = frame.data;
    let [width, height] = data.uniforms.values.size;
    let nothing = |g: &mut Graph<'a>| g.black_image("no gi", width, height, LIGHT);
    let parts = gi_output.and_then(|gi_output| gi_output.split);
    match (aov, split) {
        (Aov::IndirectDiffuse, _) => parts.map_or_else(|| nothing(g), |(diffuse, _)| diffuse),
        (Aov::IndirectSpecular, _) => parts.map_or_else(|| nothing(g), |(_, specular)| specular),
        (Aov::VplClampLoss, _) => {
            gi_output.and_then(|output| output.unfiltered).unwrap_or_else(|| nothing(g))
        }
        (Aov::Ssr(_), _) => ssr::empty_debug_image(g, data.uniforms.values.size),
        (Aov::Channel(channel), _) => match passes.gbuffer_channel.get() {
            Some(pass) => pass.declare(g, data, gbuffer, bent_normal_ao, channel),
            None => nothing(g),
        },
        (Aov::DirectDiffuse, Some((diffuse, _))) => diffuse,
        (Aov::DirectSpecular, Some((_, specular))) => specular,
        (Aov::Emission | Aov::DirectDiffuse | Aov::DirectSpecular | Aov::Velocity, _) => {
            gbuffer.emission
        }
    }
}
