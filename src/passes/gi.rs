//! Indirect light (GI). Photons traced on the host deposit virtual point lights (VPLs, module
//! `gi`). Each pixel samples a few of them with shadow rays, followed by temporal accumulation and
//! a spatial filter (docs/instant-radiosity.md).

use std::sync::Arc;

use super::{
    formats::{DEPTH, LIGHT},
    gbuffer::Gbuffer,
    lighting::LitImages,
    ray_query::BvhDependencies,
    scene_frame::SceneFrame,
    temporal::{FrameMotion, HistoryFrame},
    variants::{Features, LightVariants, WantedVariant},
};
use crate::{
    gpu::{
        Buffer, Gpu, GpuError, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::{
            features::{
                FEATURE_ALPHA_MASKS, FEATURE_AREA_LIGHTS, FEATURE_ENVIRONMENT,
                FEATURE_IES_PROFILES, FEATURE_SUN_DISKS,
            },
            gi::{
                GI_ALL_VPLS, GI_CAUSTICS, GI_COMPENSATION, GI_FROZEN, GI_SKY, GI_SPECULAR_RAYS,
                GI_SPECULAR_VPLS, GI_VISIBILITY, GiConstants,
            },
            temporal::HistoryConstants,
        },
        vk,
    },
    gpu_scene::{FrameBvh, FrameData, GpuScene, LazyFrameBvh, View, dynamic_buffer},
    graph::{Graph, ImageHandle, ImageSource},
    settings::{FinalGather, GiDebugView, GiSettings},
};

/// Features that the gathering of light reads.
const GATHER_FEATURES: u32 = FEATURE_ALPHA_MASKS
    | FEATURE_AREA_LIGHTS
    | FEATURE_ENVIRONMENT
    | FEATURE_IES_PROFILES
    | FEATURE_SUN_DISKS;
/// 32-bit floats: the mean of many frames exceeds the precision of half floats.
const HISTORY: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Depth and normal of the last frame.
const HISTORY_DATA: vk::Format = vk::Format::R32G32_UINT;
/// Maximum history length of a static view (frames).
const MAX_STATIC_FRAMES: f32 = 4096.0;
/// Minimum perceptual roughness of VPL specular highlights, in order: if smoother surfaces trace
/// reflection rays, since narrow lobes hold few VPLs; if SSR shows smoother reflections over an
/// untraced environment; otherwise.
const RAYS_BELOW: f32 = 0.7;
const MIRRORED: f32 = 0.6;
const MIN_VPL_ROUGHNESS: f32 = 0.25;
/// Tap spacing of each filter pass (pixels).
const SPACINGS: [i32; 4] = [1, 2, 4, 8];
/// Limits the history length to this many frames over the changed fraction of the flux. Stale light
/// is then at most 1.25 % of the mean after eight frames.
const STALE: f32 = 0.1;
/// Temporal stabilization: after this many static frames, the image changes by at most
/// `STABILIZATION_STEP` 8-bit steps per frame.
const STABILIZE_AFTER: u32 = 8;
const STABILIZATION_STEP: f32 = 0.4;
/// Displayed light; half floats suffice for 8-bit steps.
const DISPLAYED: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Further limit on that history length: a small fraction of the flux may be all the light of one
/// room.
const MAX_STALE_HISTORY: f32 = 4.0;

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
    history: HistoryFrame,
    filter: bool,
    show: bool,
}

impl FrameGi {
    /// Prepares a frame. Returns `None` if GI is off or the BVH is empty. `mirrored`: SSR follows;
    /// `single`: the frame is displayed as is, not averaged with others.
    ///
    /// # Errors
    /// `GpuError` if memory runs out, or if no photons were traced (`GpuScene::update_gi`).
    pub fn new(
        gpu: &Gpu,
        scene: &GpuScene,
        (view, motion, gpu_bvh): (&View, &FrameMotion, &LazyFrameBvh<'_>),
        settings: &GiSettings,
        (history, before, [mirrored, single]): (HistoryFrame, Option<GiHistory>, [bool; 2]),
    ) -> GpuResult<Option<Self>> {
        if !settings.enabled {
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
        let frozen = before.is_some_and(|before| {
            let same = before.generation == own.generation;
            same && history.still && history.kept && before.still >= settings.freeze_after
        });
        let rests = before.is_some_and(|before| {
            before.still >= STABILIZE_AFTER && before.generation == own.generation
        });
        let stabilization =
            if single && history.kept && history.still && rests { STABILIZATION_STEP } else { 0.0 };
        let length = history.constants(settings.max_history_frames as f32, MAX_STATIC_FRAMES);
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
            (frozen, GI_FROZEN),
            (settings.final_gather == FinalGather::All, GI_ALL_VPLS),
        ];
        let values = GiConstants {
            motion: motion.constants(),
            history: HistoryConstants { max_frames: length.max_frames.min(stays), ..length },
            anchor: (own.set.anchor - view.position).as_vec3(),
            clamp_distance: (own.radius * settings.clamp_radius) as f32,
            size: [view.width, view.height],
            vpl_samples: settings.vpl_samples.max(1),
            vpl_count: own.set.vpls.len() as u32,
            flags: flags.iter().filter(|(on, _)| *on).fold(0, |bits, (_, bit)| bits | bit),
            min_specular_roughness: match (mirrors, mirrored) {
                (true, _) => RAYS_BELOW,
                (false, true) => MIRRORED,
                (false, false) => MIN_VPL_ROUGHNESS,
            },
            ball: own.ball,
            stabilization_step: stabilization,
            pad0: 0,
        };
        Ok(Some(Self {
            constants: dynamic_buffer(gpu, "gi constants", &[values])?,
            values,
            vpls: Arc::clone(&own.vpls),
            nodes: Arc::clone(&own.nodes),
            hit_materials: Arc::clone(&own.hit_materials),
            bvh: gpu_bvh,
            history,
            filter: settings.denoise,
            show: settings.debug_view == GiDebugView::Vpls,
        }))
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
}

/// Indirect light of the image.
#[derive(Clone, Copy)]
pub struct GiOutput {
    /// Diffuse and specular parts, if requested.
    pub split: Option<(ImageHandle, ImageHandle)>,
    /// Unfiltered result of this frame for a white surface; alpha: VPL clamp loss.
    pub unfiltered: ImageHandle,
    /// Traced specular reflections.
    pub specular: ImageHandle,
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

/// Pipelines of the GI passes.
pub struct GiPass {
    gather: LightVariants,
    temporal: Arc<GraphicsPipeline>,
    variance: Arc<GraphicsPipeline>,
    filter: Arc<GraphicsPipeline>,
    composite: Arc<GraphicsPipeline>,
    composite_split: Arc<GraphicsPipeline>,
    vpls: Arc<GraphicsPipeline>,
}

impl GiPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |name: &str, fragment: &str, colors: &[(vk::Format, bool)]| {
            let state = GraphicsState { colors: colors.to_vec(), ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        let gather = |gpu: &Gpu, name: &str, fragment: &str, features: Features| {
            let state = GraphicsState {
                colors: vec![(LIGHT, false), (HISTORY, false)],
                constants: vec![features.bits],
                ..GraphicsState::default()
            };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        let both = [(HISTORY, false), (HISTORY, false)];
        Ok(Self {
            gather: LightVariants::new(gpu, "gi.frag", GATHER_FEATURES, gather),
            temporal: make(
                "gi temporal",
                "gi_temporal.frag",
                &[both[0], both[1], (HISTORY_DATA, false)],
            )?,
            variance: make("gi variance", "gi_filter.frag+FIRST", &both)?,
            filter: make("gi filter", "gi_filter.frag", &both)?,
            composite: make(
                "gi composite",
                "gi_composite.frag",
                &[(LIGHT, true), (DISPLAYED, false)],
            )?,
            composite_split: make(
                "gi composite split",
                "gi_composite.frag+SPLIT_LIGHTING",
                &[(LIGHT, true), (DISPLAYED, false), (LIGHT, false), (LIGHT, false)],
            )?,
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
    pub fn wanted(&self, data: &FrameData, frame: &FrameGi) -> WantedVariant<'_> {
        let query = frame.bvh.structure().is_some();
        (&self.gather, Features { traced: true, query, ..Features::of(data, false) })
    }

    /// Declares the passes, which add indirect light to the image. With `split`, its diffuse and
    /// specular parts are also returned.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'_>,
        frame: &FrameGi,
        inputs: GiInputs,
        split: bool,
    ) -> GiOutput {
        let GiInputs { gbuffer, bent_normal_ao: open, lit, velocity, bvh } = inputs;
        let [width, height] = frame.values.size;
        let image = |g: &mut Graph<'a>, name: &str, format| g.image(name, width, height, format);
        let diffuse_part = image(g, "gi diffuse, rays", LIGHT);
        // 32-bit floats: one ray in hundreds exceeds the half float range at high exposure, and the
        // filter spreads it.
        let specular_part = image(g, "gi specular, rays", HISTORY);
        let (gather, features) = self.wanted(data, frame);
        g.fullscreen_with("gi", move || gather.get(features))
            .binds([data.uniform()])
            .sampled_each(gbuffer.all())
            .uniform("gi_block", &frame.constants)
            .storage("light_block", &data.lights)
            .storage("profile_block", &data.profiles)
            .storage("environment_block", &data.environment)
            .storage("hit_material_block", &frame.hit_materials)
            .storage("vpl_block", &frame.vpls)
            .storage("vpl_node_block", &frame.nodes)
            .storage("ltc_block", &data.ltc)
            .also_uses(bvh.by_fragments())
            .binds(frame.bvh.binds())
            .target(diffuse_part)
            .target(specular_part)
            .draw();
        let rays = [diffuse_part, specular_part];
        let mut filtered = self.declare_temporal(g, data, frame, gbuffer, velocity, rays);
        if frame.filter {
            filtered = self.declare_filter(g, data, gbuffer, None, filtered);
            for spacing in SPACINGS {
                filtered = self.declare_filter(g, data, gbuffer, Some(spacing), filtered);
            }
        }
        let [light, shine] = filtered;
        let parts = split.then(|| {
            let [diffuse, specular] =
                ["indirect diffuse", "indirect specular"].map(|name| image(g, name, LIGHT));
            (diffuse, specular)
        });
        let names = ["gi displayed", "gi displayed single frame"];
        let (shown, out) = frame.history.images(g, names, [width, height], DISPLAYED);
        let pipeline = if split { &self.composite_split } else { &self.composite };
        let open = open.map_or_else(|| ImageSource::from(&scene.white), ImageSource::from);
        g.fullscreen("gi composite", pipeline)
            .binds([data.uniform()])
            .uniform("gi_block", &frame.constants)
            .sampled("displayed_image", shown.unwrap_or(light))
            .sampled("ao_image", open)
            .sampled_each(gbuffer.without_emission())
            .sampled("diffuse_image", light)
            .sampled("specular_image", shine)
            .target_loaded(lit.light)
            .target(out)
            .with(parts, |pass, (diffuse, specular)| pass.target(diffuse).target(specular))
            .draw();
        if frame.show {
            g.fullscreen("gi vpls", &self.vpls)
                .binds([data.uniform()])
                .uniform("gi_block", &frame.constants)
                .storage("vpl_block", &frame.vpls)
                .target_loaded(lit.light)
                .depth_tested(gbuffer.depth)
                .draw_vertices(3, frame.values.vpl_count);
        }
        GiOutput { split: parts, unfiltered: diffuse_part, specular: shine }
    }

    fn declare_temporal(
        &self,
        g: &mut Graph<'_>,
        data: &FrameData,
        frame: &FrameGi,
        gbuffer: Gbuffer,
        velocity: ImageHandle,
        [diffuse_part, specular_part]: [ImageHandle; 2],
    ) -> [ImageHandle; 2] {
        // A single frame does not read the placeholders of its histories.
        let [light, shine, past] = [
            (["gi diffuse history", "gi diffuse single frame"], HISTORY, diffuse_part),
            (["gi specular history", "gi specular single frame"], HISTORY, specular_part),
            (["gi history data", "gi history data single frame"], HISTORY_DATA, gbuffer.normal),
        ]
        .map(|(names, format, placeholder)| {
            let (previous, current) = frame.history.images(g, names, frame.values.size, format);
            (previous.unwrap_or(placeholder), current)
        });
        g.fullscreen("gi temporal", &self.temporal)
            .binds([data.uniform()])
            .uniform("gi_block", &frame.constants)
            .sampled_each(gbuffer.without_emission())
            .sampled("diffuse_image", diffuse_part)
            .sampled("specular_image", specular_part)
            .sampled("velocity_image", velocity)
            .sampled("history_image", light.0)
            .sampled("history_specular_image", shine.0)
            .sampled("history_data_image", past.0)
            .target(light.1)
            .target(shine.1)
            .target(past.1)
            .draw();
        [light.1, shine.1]
    }

    /// One pass of the filter; without a spacing, the variance pass.
    fn declare_filter(
        &self,
        g: &mut Graph<'_>,
        data: &FrameData,
        gbuffer: Gbuffer,
        spacing: Option<i32>,
        [light, shine]: [ImageHandle; 2],
    ) -> [ImageHandle; 2] {
        let [width, height] = data.uniforms.values.size;
        let (name, pipeline) = match spacing {
            None => ("gi variance".to_owned(), &self.variance),
            Some(spacing) => (format!("gi filter {spacing}"), &self.filter),
        };
        let outs = ["light", "highlights"]
            .map(|what| g.image(&format!("{name}, {what}"), width, height, HISTORY));
        g.fullscreen(&name, pipeline)
            .binds([data.uniform()])
            .sampled_each(gbuffer.depth_and_normal())
            .sampled("diffuse_image", light)
            .sampled("specular_image", shine)
            .with(spacing, |pass, spacing| {
                pass.sampled("surface_image", gbuffer.surface).push(&spacing)
            })
            .target(outs[0])
            .target(outs[1])
            .draw();
        outs
    }
}
