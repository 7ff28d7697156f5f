//! Indirect light (GI). Photons traced on the host deposit virtual point lights (VPLs, module
//! `gi`). Each pixel samples a few of them with shadow rays, followed by the denoiser
//! (docs/instant-radiosity.md).

use std::sync::Arc;

use super::{
    blended_gbuffer::{BlendedGbuffer, BlendedLight},
    denoiser::{Denoiser, DenoiserImages, DenoiserInputs, DenoiserSignal, HISTORY, SignalSettings},
    formats::{DEPTH, LIGHT},
    gbuffer::Gbuffer,
    gi_composite::{GiCompositeInputs, GiCompositePass},
    gi_fireflies::GiFirefliesPass,
    gi_upsample::GiUpsamplePass,
    lighting::LitImages,
    limit_counters, pixel_groups,
    ray_query::BvhDependencies,
    scene_frame::SceneFrame,
    temporal::{FrameMotion, HistoryFrame},
    variants::{Features, LightVariants, WantedVariant},
};
use crate::{
    gpu::{
        Buffer, ComputePipeline, Gpu, GpuError, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::{
            features::{
                FEATURE_ALPHA_MASKS, FEATURE_AREA_LIGHTS, FEATURE_ENVIRONMENT,
                FEATURE_IES_PROFILES, FEATURE_SUN_DISKS,
            },
            gi::{
                GI_ALL_VPLS, GI_CAUSTICS, GI_COMPENSATION, GI_FROZEN, GI_LOBE_SKY, GI_SKY,
                GI_SPECULAR_RAYS, GI_SPECULAR_VPLS, GI_VISIBILITY, GiConstants,
            },
        },
        vk,
    },
    gpu_scene::{FrameBvh, FrameData, GpuScene, LazyFrameBvh, View, dynamic_buffer},
    graph::{BufferHandle, Graph, ImageHandle},
    settings::{FinalGather, GiDebugView, GiSettings},
};

/// Features that the gathering of light reads.
const GATHER_FEATURES: u32 = FEATURE_ALPHA_MASKS
    | FEATURE_AREA_LIGHTS
    | FEATURE_ENVIRONMENT
    | FEATURE_IES_PROFILES
    | FEATURE_SUN_DISKS;
/// Minimum perceptual roughness of VPL specular highlights: if smoother surfaces trace reflection
/// rays, since narrow lobes hold few VPLs; and if neither these nor SSR show smoother reflections.
const RAYS_BELOW: f32 = 0.7;
const MIN_VPL_ROUGHNESS: f32 = 0.25;
/// Limits the history length to this many frames over the changed fraction of the flux. Stale light
/// is then at most 1.25 % of the mean after eight frames.
const STALE: f32 = 0.1;
/// Further limit on that history length: a small fraction of the flux may be all the light of one
/// room.
const MAX_STALE_HISTORY: f32 = 4.0;
/// Pixel of each 2x2 block that a frame gathers at half resolution, in turn: first a diagonal, so
/// that two frames have a sample in each row and column.
const PHASES: [[u32; 2]; 4] = [[0, 0], [1, 1], [1, 0], [0, 1]];

/// Pixel of each block of `stride` squared pixels that frame `number` gathers. `stride`: a power of
/// two. Blocks are divided in order of `PHASES` (Bayer 1973), so that pixels gathered in successive
/// frames are far apart.
fn gathered_phase(stride: u32, number: u32) -> [u32; 2] {
    let (mut pixel, mut side, mut turn) = ([0, 0], stride, number as usize);
    while side > 1 {
        side /= 2;
        let [x, y] = PHASES[turn % PHASES.len()];
        pixel = [pixel[0] + x * side, pixel[1] + y * side];
        turn /= PHASES.len();
    }
    pixel
}

/// State of the last frame that kept GI history.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GiHistory {
    /// Frame index since the history began.
    pub number: u32,
    /// Generation of the VPLs.
    pub generation: u64,
    /// Consecutive frames, up to it, in which nothing moved or changed.
    pub still: u32,
    /// Settings that produced the history.
    pub settings: GiSettings,
}

/// Host data of the GI passes for one frame.
#[derive(Clone)]
pub struct FrameGi {
    constants: Arc<Buffer>,
    values: GiConstants,
    vpls: Arc<Buffer>,
    nodes: Arc<Buffer>,
    hit_materials: Arc<Buffer>,
    bvh: FrameBvh,
    signal: DenoiserSignal,
    /// Constants and signal of the blended surfaces, if any is visible.
    blended: Option<(Arc<Buffer>, DenoiserSignal)>,
    denoised: bool,
    show: bool,
}

impl FrameGi {
    /// Prepares a frame. Returns `None` if GI is off or the BVH is empty. `divisor`: further divisor
    /// of the resolution along each side; `filter_passes`: maximum number of filter passes, 0 for
    /// all. `mirrored_below`: perceptual roughness below which SSR follows; `single`: the frame is
    /// displayed as is, not averaged with others; `blends`: blended surfaces are visible.
    ///
    /// # Errors
    /// `GpuError` if memory runs out, or if no photons were traced (`GpuScene::update_gi`).
    pub fn new(
        gpu: &Gpu,
        scene: &GpuScene,
        (view, motion, gpu_bvh): (&View, &FrameMotion, &LazyFrameBvh<'_>),
        (settings, divisor, filter_passes): (&GiSettings, u32, u32),
        (history, before): (HistoryFrame, Option<GiHistory>),
        mirrored_below: Option<f32>,
        (single, blends): (bool, bool),
    ) -> GpuResult<Option<Self>> {
        if !settings.uses_vpls() {
            return Ok(None);
        }
        let Some(own) = &scene.gi else {
            return Err(GpuError::Pipeline {
                pipeline: "gi".into(),
                detail: "no photons were traced for indirect light; call GpuScene::update_gi first"
                    .into(),
            });
        };
        let Some(gpu_bvh) = gpu_bvh.get()? else { return Ok(None) };
        // Changed light leaves the history at the rate of the change; changed settings reset it.
        let before = before.filter(|before| before.settings == *settings);
        let stays = match before {
            Some(before) if before.generation == own.generation => f32::MAX,
            Some(before) if before.generation + 1 == own.generation => {
                (STALE / own.changed_fraction.max(1e-6)).floor().min(MAX_STALE_HISTORY)
            }
            _ => 0.0,
        };
        let still_frames = before
            .filter(|before| before.generation == own.generation)
            .map_or(0, |before| before.still);
        let stride = settings.resolution.divisor() * divisor.max(1);
        // A pixel of a block is gathered in one of this many frames.
        let turns = stride * stride;
        let frozen =
            history.static_frames(still_frames) >= settings.freeze_after.saturating_mul(turns);
        let signal_settings = SignalSettings {
            name: "gi",
            history,
            max_history_frames: settings.max_history_frames as f32 / turns as f32,
            max_stale_frames: stays / turns as f32,
            still_frames,
            frozen,
            pre_exposed: true,
            clipped: false,
            weighted: stride > 1,
            chosen: false,
            filter: settings.denoise,
            max_filter_passes: filter_passes,
            stabilized: single,
        };
        let signal = DenoiserSignal::new(gpu, view, motion, signal_settings)?;
        // Traced reflections include the environment only if its occlusion is traced, or if there
        // is none.
        let sky = settings.environment_visibility && scene.has_environment;
        let mirrors = settings.specular && (sky || !scene.has_environment);
        let flags = [
            (settings.vpl_visibility, GI_VISIBILITY),
            (settings.bias_compensation && settings.clamp_radius > 0.0, GI_COMPENSATION),
            (sky, GI_SKY),
            (settings.specular, GI_SPECULAR_VPLS),
            (mirrors, GI_SPECULAR_RAYS),
            (own.caustics && settings.specular, GI_CAUSTICS),
            (sky && settings.denoise, GI_LOBE_SKY),
            (frozen, GI_FROZEN),
            (settings.final_gather == FinalGather::All, GI_ALL_VPLS),
        ];
        let values = GiConstants {
            history: signal.history(),
            anchor: (own.set.anchor - view.position).as_vec3(),
            clamp_distance: (own.radius * settings.clamp_radius) as f32,
            size: [view.width, view.height],
            gathered_size: [view.width, view.height].map(|pixels| pixels.div_ceil(stride)),
            phase: gathered_phase(stride, history.number),
            stride,
            round: history.number / turns,
            vpl_samples: settings.vpl_samples.max(1),
            vpl_count: own.set.vpls.len() as u32,
            flags: flags.iter().filter(|(on, _)| *on).fold(0, |bits, (_, bit)| bits | bit),
            min_specular_roughness: match (mirrors, mirrored_below) {
                (true, _) => RAYS_BELOW,
                (false, Some(roughness)) => roughness,
                (false, None) => MIN_VPL_ROUGHNESS,
            },
            ball: own.ball,
            stabilization_step: signal.stabilization_step(),
        };
        let blended_settings = SignalSettings {
            name: "gi blended",
            chosen: true,
            still_frames: 0,
            frozen: false,
            stabilized: false,
            ..signal_settings
        };
        let blended = blends.then(|| -> GpuResult<_> {
            let signal = DenoiserSignal::new(gpu, view, motion, blended_settings)?;
            let values = GiConstants {
                history: signal.history(),
                flags: values.flags & !GI_FROZEN,
                ..values
            };
            Ok((dynamic_buffer(gpu, "gi blended constants", &[values])?, signal))
        });
        Ok(Some(Self {
            blended: blended.transpose()?,
            constants: dynamic_buffer(gpu, "gi constants", &[values])?,
            values,
            vpls: Arc::clone(&own.vpls),
            nodes: Arc::clone(&own.nodes),
            hit_materials: Arc::clone(&own.hit_materials),
            bvh: gpu_bvh,
            signal,
            denoised: settings.denoise,
            show: settings.debug_view == GiDebugView::Vpls,
        }))
    }

    /// The signals of the indirect light.
    pub fn signals(&self) -> impl Iterator<Item = &DenoiserSignal> {
        std::iter::once(&self.signal).chain(self.blended.iter().map(|(_, signal)| signal))
    }

    /// True if GI traces environment occlusion, in place of the lighting pass.
    #[must_use]
    pub const fn traces_sky(&self) -> bool {
        self.values.flags & GI_SKY != 0
    }

    /// True if GI traces reflections, in place of the lighting pass.
    #[must_use]
    pub const fn traces_reflections(&self) -> bool {
        self.values.flags & (GI_SKY | GI_SPECULAR_RAYS) != 0
    }

    /// True if GI finds the mean light of smooth lobes with little noise.
    #[must_use]
    pub const fn denoises_reflections(&self) -> bool {
        self.values.flags & GI_SPECULAR_RAYS != 0 && self.denoised
    }
}

/// Indirect light of the image.
#[derive(Clone, Copy)]
pub struct GiOutput {
    /// Diffuse and specular parts, if requested.
    pub split: Option<(ImageHandle, ImageHandle)>,
    /// Unfiltered result of this frame for a white surface; alpha: VPL clamp loss. `None` without
    /// VPLs.
    pub unfiltered: Option<ImageHandle>,
    /// Specular luminance over the lobe's approximate albedo (`lib/brdf.glsl`).
    pub specular: ImageHandle,
    /// Counters of `passes::limit_counters`, and the size of the gathered images (pixels).
    pub limits: Option<(BufferHandle, [u32; 2])>,
}

/// Inputs from this frame's passes.
#[derive(Clone, Copy)]
pub struct GiInputs {
    /// G-buffer of the visible surfaces.
    pub gbuffer: Gbuffer,
    /// Bent normal and ambient occlusion, if enabled.
    pub bent_normal_ao: Option<ImageHandle>,
    /// Lit image, to which indirect light is added.
    pub lit: LitImages,
    /// Motion from the last frame to this one (pixels).
    pub velocity: ImageHandle,
    /// BVH resources that passes of this frame write.
    pub bvh: BvhDependencies,
}

/// Inputs of the gathering of light.
#[derive(Clone, Copy)]
struct Gathering {
    gbuffer: Gbuffer,
    velocity: ImageHandle,
    bvh: BvhDependencies,
    limit_counters: BufferHandle,
}

/// Pipelines of the GI passes.
pub struct GiPass {
    gather: LightVariants<ComputePipeline>,
    fireflies: GiFirefliesPass,
    upsample: GiUpsamplePass,
    composite: GiCompositePass,
    vpls: Arc<GraphicsPipeline>,
}

impl GiPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        // Rays without other features of the variants: the shader has its own names.
        let gather = |gpu: &Gpu, name: &str, _: &str, features: Features| {
            let (name, shader) = if features.query {
                (format!("{name} use_ray_query"), "gi.comp+USE_RAY_QUERY")
            } else {
                (name.to_owned(), "gi.comp")
            };
            ComputePipeline::specialized(gpu, &name, shader, &[features.bits])
        };
        Ok(Self {
            gather: LightVariants::new(gpu, "gi.comp", GATHER_FEATURES, gather),
            fireflies: GiFirefliesPass::new(gpu),
            upsample: GiUpsamplePass::new(gpu),
            composite: GiCompositePass::new(gpu)?,
            vpls: GraphicsPipeline::new(
                gpu,
                "gi vpls",
                "gi_vpls.vert",
                "gi_vpls.frag",
                &GraphicsState {
                    colors: vec![(LIGHT, false)],
                    depth: Some((DEPTH, false, vk::CompareOp::GREATER_OR_EQUAL)),
                    ..GraphicsState::default()
                },
            )?,
        })
    }

    /// The light pipeline that a frame needs.
    #[must_use]
    pub fn wanted(&self, data: &FrameData, frame: &FrameGi) -> WantedVariant<'_, ComputePipeline> {
        let query = frame.bvh.structure().is_some();
        (&self.gather, Features { bits: data.features, query, ..Features::default() })
    }

    /// Declares the passes, which add indirect light to the image, denoised by `denoiser`. With
    /// `split`, its diffuse and specular parts are also returned.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'_>,
        (frame, denoiser): (&FrameGi, &'a Denoiser),
        inputs: GiInputs,
        split: bool,
    ) -> GiOutput {
        let GiInputs { gbuffer, bent_normal_ao: open, lit, velocity, bvh } = inputs;
        let limit_counters = limit_counters::declare(g, "gi limit counters");
        let signal = (&frame.constants, &frame.signal);
        let gathering = Gathering { gbuffer, velocity, bvh, limit_counters };
        let (noisy, denoised) = self.gather(g, data, (frame, denoiser), signal, gathering);
        let (shown, out) = frame.signal.displayed_images(g);
        let composite = GiCompositeInputs {
            gbuffer,
            bent_normal_ao: open,
            lit,
            diffuse: denoised.diffuse,
            specular: denoised.specular,
            displayed: (shown, out),
        };
        let parts = self.composite.declare(g, (scene, data), &frame.constants, composite, split);
        if frame.show {
            g.fullscreen("gi vpls", &self.vpls)
                .binds([data.uniform()])
                .uniform("gi_block", &frame.constants)
                .storage("vpl_block", &frame.vpls)
                .target_loaded(lit.light)
                .depth_tested(gbuffer.depth)
                .draw_vertices(3, frame.values.vpl_count);
        }
        GiOutput {
            split: parts,
            unfiltered: Some(noisy.diffuse),
            specular: denoised.specular,
            limits: Some((limit_counters, frame.values.gathered_size)),
        }
    }

    /// Declares the passes that gather the light of blended surfaces, in the same way; `None`
    /// without any. `velocity`: motion of their points by the camera's; `limit_counters`: those of
    /// the opaque surfaces.
    pub fn declare_blended<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        (frame, denoiser): (&FrameGi, &'a Denoiser),
        (layer, velocity): (BlendedGbuffer, ImageHandle),
        (bvh, limit_counters): (BvhDependencies, BufferHandle),
    ) -> Option<BlendedLight> {
        let (constants, signal) = frame.blended.as_ref()?;
        let gathering = Gathering { gbuffer: layer.gbuffer, velocity, bvh, limit_counters };
        let (_, DenoiserImages { diffuse, specular }) =
            self.gather(g, data, (frame, denoiser), (constants, signal), gathering);
        Some(BlendedLight { layer, diffuse, specular })
    }

    /// Declares the passes that gather and denoise the light of the surfaces of a G-buffer. Returns
    /// it at full resolution, noisy and denoised.
    fn gather<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        (frame, denoiser): (&FrameGi, &'a Denoiser),
        (constants, signal): (&Arc<Buffer>, &DenoiserSignal),
        Gathering { gbuffer, velocity, bvh, limit_counters }: Gathering,
    ) -> (DenoiserImages, DenoiserImages) {
        let name = signal.name();
        let gathered_size = frame.values.gathered_size;
        let gathered = |g: &mut Graph<'a>, what: &str, format| {
            g.image(&format!("{name} {what}, rays"), gathered_size[0], gathered_size[1], format)
        };
        let diffuse_part = gathered(g, "diffuse", LIGHT);
        // 32-bit floats: one ray in hundreds exceeds the half float range at high exposure, and the
        // filter spreads it.
        let specular_part = gathered(g, "specular", HISTORY);
        let (gather, features) = self.wanted(data, frame);
        g.compute_with(name, move || gather.get(features))
            .binds([data.uniform()])
            .sampled_each(gbuffer.all())
            .uniform("gi_block", constants)
            .storage("light_block", &data.lights)
            .storage("node_block", &data.nodes)
            .storage("profile_block", &data.profiles)
            .storage("environment_block", &data.environment)
            .storage("hit_material_block", &frame.hit_materials)
            .storage("vpl_block", &frame.vpls)
            .storage("vpl_node_block", &frame.nodes)
            .storage("ltc_block", &data.ltc)
            .updated("limit_counter_block", limit_counters)
            .also_uses(bvh.by_compute())
            .binds(frame.bvh.binds())
            .image_written("diffuse_image", diffuse_part)
            .image_written("specular_image", specular_part)
            .dispatch(pixel_groups::dispatch(gathered_size));
        // Without the filter nothing spreads outliers, and the mean of many frames has no bias.
        let diffuse = if frame.denoised {
            self.fireflies.declare(g, name, gathered_size, diffuse_part)
        } else {
            diffuse_part
        };
        let all = DenoiserImages { diffuse, specular: specular_part };
        let (noisy, weights) = if frame.values.stride == 1 {
            (all, None)
        } else {
            let (noisy, weights) = self.upsample.declare(g, data, (name, constants), gbuffer, all);
            (noisy, Some(weights))
        };
        let denoiser_inputs = DenoiserInputs { gbuffer, velocity, noisy, weights };
        (noisy, denoiser.declare(g, data, signal, denoiser_inputs))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_pixel_of_a_block_is_gathered_once_in_its_turns() {
        for stride in [1, 2, 4, 8] {
            let turns = stride * stride;
            let pixels: BTreeSet<_> = (0..turns).map(|n| gathered_phase(stride, n)).collect();
            assert_eq!(pixels.len(), turns as usize);
            assert!(pixels.iter().flatten().all(|side| *side < stride));
            assert_eq!(gathered_phase(stride, turns + 3), gathered_phase(stride, 3));
        }
        // The first four are spread over the block.
        assert_eq!([0, 1, 2, 3].map(|n| gathered_phase(4, n)), [[0, 0], [2, 2], [2, 0], [0, 2]]);
    }
}
