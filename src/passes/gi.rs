//! Bounced light: patches that the host's photons made (`gi`), asked by each pixel with rays,
//! joined over frames and over neighbours (docs/instant-radiosity.md).

use std::sync::Arc;

use glam::{DMat4, DVec3, Mat4, Vec2, Vec3};

use super::{
    FrameData, GpuScene, View, dynamic_buffer,
    gbuffer::{DEPTH, Gbuffer, LIGHT},
    lighting::LitImages,
    ray_query::BvhDependencies,
    scene_bvh::{FrameBvh, LazyFrameBvh},
    ssr::SsrFrame,
    storage_buffer,
    variants::{Features, LightVariants},
    velocity::MotionState,
};
use crate::{
    bvh::SceneBvh,
    gi::{Radiosity, RadiositySettings, Vpl, VplNode, VplSet, dfg_lookup, diffuse_lobe_weight},
    gpu::{
        Bind, Buffer, Gpu, GpuError, GpuResult, GraphicsPipeline, GraphicsState, upload::Uploader,
        vk,
    },
    graph::{Access, Graph, ImageHandle, PassBuilder},
    photometry::color::{luminance, srgb_eotf},
    scene::{Material, Scene, TextureRef},
    shader_struct,
};

/// Means of many frames need more than half floats' digits.
const HISTORY: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Depth and normal of the frame before.
const PAST: vk::Format = vk::Format::R32G32_UINT;
/// Frames that a history of a still view is the mean of at most.
const MAX_STATIC_FRAMES: f32 = 4096.0;
/// Perceptual roughness from which on surfaces show highlights of patches: where smoother ones send
/// rays, for their lobes hold few patches; where reflections in the picture show what is smoother,
/// over surroundings that no rays look for; and else.
const RAYS_BELOW: f32 = 0.7;
const MIRRORED: f32 = 0.6;
const MIN_VPL_ROUGHNESS: f32 = 0.25;
/// Pixels between neighbours of each pass of the filter.
const SPACINGS: [i32; 4] = [1, 2, 4, 8];
/// A history counts as so many frames over the share of the flux that has changed: what is stale is
/// in the mean at most a hundredth and a quarter of the light after eight frames.
const STALE: f32 = 0.1;
/// Frames of a still view after which the picture moves by no more than such a part of a step of
/// eight bits a frame.
const STABILIZE_AFTER: u32 = 8;
const STABILIZATION_STEP: f32 = 0.4;
/// Light in the picture, where steps of eight bits count.
const SHOWN: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// And at most so many, for a small share may be all the light of one room.
const MAX_STALE_HISTORY: f32 = 4.0;

shader_struct! {
    /// Of the passes of bounced light (`shaders/shared/gi.glsl`).
    pub struct GiConstants {
        /// From camera-relative places to the last frame's clip space, without its jitter.
        pub previous_to_clip: Mat4,
        /// To this frame's, without its jitter.
        pub to_clip: Mat4,
        /// From the last frame's clip space back.
        pub previous_from_clip: Mat4,
        /// Where the last frame's camera stood, relative to this one's.
        pub previous_eye: Vec3,
        /// Frames that a history is the mean of at most; 0 forgets it.
        pub max_history: f32,
        /// What patches are relative to, relative to the camera.
        pub anchor: Vec3,
        /// Nearer than this (m), facing patches' light is bounded.
        pub clamp_distance: f32,
        /// Of the last frame's samples from their pixels' centres (pixels).
        pub previous_jitter: Vec2,
        /// Of the picture (pixels).
        pub size: [u32; 2],
        /// Patches that a pixel asks.
        pub vpl_samples: u32,
        /// Patches that there are.
        pub vpl_count: u32,
        /// Of the frame, for noise.
        pub number: u32,
        /// `GI_` bits of the shaders.
        pub flags: u32,
        /// 1: nothing has moved since the last frame.
        pub static_view: u32,
        /// Least perceptual roughness that reflects patches.
        pub glossy: f32,
        /// Radius (m) of a patch of 1 lm where patches are shown as balls.
        pub ball: f32,
        /// Steps of eight bits that the picture may move since the last frame; 0: any.
        pub stabilization_step: f32,
    }
}

shader_struct! {
    /// What a material reflects at the ends of rays, in the mean over its pictures.
    pub struct HitMaterial {
        /// Diffusely, and by lobes so wide that photons take them for diffuse.
        pub diffuse: Vec3,
        /// Of the lobes that are left, roughness squared.
        pub alpha: f32,
        /// F0 of these, by their share.
        pub specular: Vec3,
        /// Padding.
        pub pad0: u32,
    }
}

/// All structs that these shaders share, for the layout test: a patch and a node of their tree too.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 4] = [
    GiConstants::LAYOUT,
    HitMaterial::LAYOUT,
    crate::gpu::reflect::HostLayout {
        name: "Vpl",
        size: size_of::<Vpl>(),
        fields: &[
            ("position", std::mem::offset_of!(Vpl, position)),
            ("normal", std::mem::offset_of!(Vpl, normal)),
            ("flux", std::mem::offset_of!(Vpl, flux)),
            ("size", std::mem::offset_of!(Vpl, size)),
        ],
    },
    crate::gpu::reflect::HostLayout {
        name: "VplNode",
        size: size_of::<VplNode>(),
        fields: &[
            ("low", std::mem::offset_of!(VplNode, low)),
            ("flux", std::mem::offset_of!(VplNode, flux)),
            ("high", std::mem::offset_of!(VplNode, high)),
            ("axis", std::mem::offset_of!(VplNode, axis)),
            ("cos_spread", std::mem::offset_of!(VplNode, cos_spread)),
            ("first", std::mem::offset_of!(VplNode, first)),
            ("leaf", std::mem::offset_of!(VplNode, leaf)),
            ("pad0", std::mem::offset_of!(VplNode, pad)),
        ],
    },
];

const VISIBILITY: u32 = 1;
const COMPENSATION: u32 = 2;
const SKY: u32 = 4;
const GLOSSY: u32 = 8;
const FROZEN: u32 = 16;
const ALL: u32 = 32;
const MIRROR: u32 = 64;
const CAUSTIC: u32 = 128;
/// Least part of light from the front that a material has to reflect specularly for its narrow
/// lobes to be followed at the ends of rays: metals.
const CAUSTIC_FROM: f64 = 0.2;

/// How bounced light is found (`gi.*`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GiSettings {
    /// Off: lamps light what they see, and nothing else.
    pub enabled: bool,
    /// Patches that photons make at most.
    pub vpls: u32,
    /// Photons that all lights together send out; none: as the number of patches asks.
    pub photons: Option<u32>,
    /// Reflections that photons make at most.
    pub bounces: u32,
    /// Patches of one place and direction become one.
    pub merge: bool,
    /// Within such places (m); none: as the number of patches asks.
    pub cell: Option<f64>,
    /// Patches that a pixel asks in a frame, 1 to 256.
    pub vpl_samples: u32,
    /// Each pixel asks every patch, instead of some that a tree chooses: for comparison.
    pub all: bool,
    /// Walls hide patches.
    pub visibility: bool,
    /// Light of near patches is bounded, as though none were nearer than so many of their radii; 0:
    /// it is not.
    pub clamp_radius: f64,
    /// Short rays bring what the bound takes.
    pub compensation: bool,
    /// Rays find what hides light from all around.
    pub sky: bool,
    /// Rough surfaces show highlights of patches.
    pub glossy: bool,
    /// Means over neighbours.
    pub filter: bool,
    /// Frames that what moves is the mean of at most; 0: each frame by itself.
    pub max_history_frames: u32,
    /// Frames after which a view in which nothing moves is left as it is.
    pub freeze_after: u32,
    /// Patches are drawn into the picture as balls.
    pub show_vpls: bool,
}

impl Default for GiSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            vpls: 32_768,
            photons: None,
            bounces: 8,
            merge: false,
            cell: None,
            vpl_samples: 4,
            all: false,
            visibility: true,
            clamp_radius: 4.0,
            compensation: true,
            sky: true,
            glossy: true,
            filter: true,
            max_history_frames: 32,
            freeze_after: 64,
            show_vpls: false,
        }
    }
}

impl GiSettings {
    fn photons(&self) -> RadiositySettings {
        RadiositySettings {
            vpls: self.vpls,
            photons: self.photons,
            bounces: self.bounces,
            merge: self.merge,
            cell: self.cell,
        }
    }

    /// Whether frames keep a history.
    #[must_use]
    pub const fn has_history(&self) -> bool {
        self.enabled && self.max_history_frames > 0
    }
}

/// The patches of a scene on the device.
pub struct SceneGi {
    host: Radiosity,
    bvh: SceneBvh,
    /// What they are.
    pub set: Arc<VplSet>,
    vpls: Arc<Buffer>,
    nodes: Arc<Buffer>,
    hit_materials: Arc<Buffer>,
    /// Some material throws light on in one direction.
    caustics: bool,
    /// Radius (m) of the patches, in the mean by flux.
    radius: f64,
    /// Radius (m) of a patch of 1 lm where they are shown as balls.
    ball: f32,
    /// Another one for each change.
    pub generation: u64,
    /// Share of the flux that changed from the generation before, 0 to 1.
    pub changed_fraction: f32,
}

impl SceneGi {
    /// Traces photons through a scene and uploads what they made.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn new(gpu: &Gpu, scene: &Scene, settings: &GiSettings) -> GpuResult<Self> {
        let mut bvh = SceneBvh::new(scene, |_| true);
        bvh.build_wide();
        let mut host = Radiosity::default();
        let (set, _) = host.update(scene, &bvh, &settings.photons());
        Ok(Self { host, bvh, ..Self::from_vpls(gpu, scene, set)? })
    }

    /// Patches of one's own making, instead of a scene's photons.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn from_vpls(gpu: &Gpu, scene: &Scene, set: Arc<VplSet>) -> GpuResult<Self> {
        let mut uploader = Uploader::new(gpu)?;
        let plain = Material::default();
        let means: Vec<HitMaterial> = scene
            .materials
            .iter()
            .chain([&plain])
            .map(|material| hit_material(scene, material))
            .collect();
        let caustics = means.iter().any(|m| m.specular != Vec3::ZERO);
        let bytes = bytemuck::cast_slice(&means);
        let reflectances =
            upload(gpu, &mut uploader, "patches' reflectances", bytes, size_of::<HitMaterial>())?;
        let [patches, nodes] = upload_set(gpu, &mut uploader, &set)?;
        uploader.finish()?;
        let radius = mean_radius(&set);
        let ball = ball(&set, radius);
        let (host, bvh) = (Radiosity::default(), SceneBvh::default());
        Ok(Self {
            host,
            bvh,
            set,
            vpls: patches,
            nodes,
            hit_materials: reflectances,
            caustics,
            radius,
            ball,
            generation: 0,
            changed_fraction: 1.0,
        })
    }

    /// Goes along with a scene whose lights or nodes or vertices have moved.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn follow(&mut self, gpu: &Gpu, scene: &Scene, settings: &GiSettings) -> GpuResult<()> {
        if !self.bvh.matches(scene) || !scene.deformed().is_empty() {
            self.bvh = SceneBvh::new(scene, |_| true);
            self.bvh.build_wide();
        } else {
            self.bvh.rebuild_tlas(scene);
        }
        let (set, change) = self.host.update(scene, &self.bvh, &settings.photons());
        if Arc::ptr_eq(&set, &self.set) {
            return Ok(());
        }
        let mut uploader = Uploader::new(gpu)?;
        // A frame that is under way reads the ones before.
        [self.vpls, self.nodes] = upload_set(gpu, &mut uploader, &set)?;
        uploader.finish()?;
        self.radius = mean_radius(&set);
        self.ball = ball(&set, self.radius);
        self.set = set;
        self.generation += 1;
        self.changed_fraction = change.0;
        Ok(())
    }
}

fn upload(
    gpu: &Gpu,
    uploader: &mut Uploader,
    name: &str,
    bytes: &[u8],
    least: usize,
) -> GpuResult<Arc<Buffer>> {
    storage_buffer(gpu, uploader, (name, least as u64), bytes, "choose fewer, --set gi.vpls=...")
}

fn upload_set(gpu: &Gpu, uploader: &mut Uploader, set: &VplSet) -> GpuResult<[Arc<Buffer>; 2]> {
    Ok([
        upload(gpu, uploader, "patches", bytemuck::cast_slice(&set.vpls), size_of::<Vpl>())?,
        upload(
            gpu,
            uploader,
            "patch tree",
            bytemuck::cast_slice(&set.nodes),
            size_of::<VplNode>(),
        )?,
    ])
}

/// Radius (m) of the patches, in the mean by flux.
fn mean_radius(set: &VplSet) -> f64 {
    let (sum, flux) = set.vpls.iter().fold((0.0, 0.0), |(sum, flux), vpl| {
        let own = f64::from(vpl.flux.element_sum());
        (sum + own * f64::from(vpl.size), flux + own)
    });
    if flux > 0.0 { sum / flux } else { 0.0 }
}

/// Radius (m) of a ball for 1 lm: a patch of mean flux gets half of the patches' radius.
fn ball(set: &VplSet, radius: f64) -> f32 {
    let flux: f64 = set.vpls.iter().map(|vpl| luminance(vpl.flux.as_dvec3())).sum();
    let mean = flux / set.vpls.len().max(1) as f64;
    if mean > 0.0 { (0.5 * radius / mean.sqrt()) as f32 } else { 0.0 }
}

/// Texels of a picture that its mean is taken of, about.
const MEAN_TEXELS: usize = 1 << 14;

/// What a material reflects in the mean over its pictures: at the ends of rays, where shaders reach
/// none. Parted as photons have it (`gi::diffuse_lobe_weight`).
fn hit_material(scene: &Scene, material: &Material) -> HitMaterial {
    let base = mean_of(scene, material.base_color_texture, true)
        * material.base_color.truncate().as_dvec3();
    let base = base.clamp(DVec3::ZERO, DVec3::ONE);
    let mixed = mean_of(scene, material.metallic_roughness_texture, false);
    let metallic = (f64::from(material.metallic) * mixed.z).clamp(0.0, 1.0);
    let roughness = (f64::from(material.roughness) * mixed.y).clamp(0.0, 1.0);
    if material.unlit {
        return HitMaterial::default();
    }
    let opaque = (1.0 - metallic) * f64::from(1.0 - material.transmission.clamp(0.0, 1.0));
    let f0 = DVec3::splat(0.04 * opaque) + base * metallic;
    let entry = dfg_lookup(0.7, roughness);
    let wide = diffuse_lobe_weight(roughness * roughness);
    let matte = base * (opaque * entry.z) + (f0 * entry.x + entry.y * (opaque + metallic)) * wide;
    let gloss = (f0 * (1.0 - wide)).as_vec3();
    HitMaterial {
        diffuse: matte.clamp(DVec3::ZERO, DVec3::ONE).as_vec3(),
        alpha: (roughness * roughness) as f32,
        specular: if f0.max_element() >= CAUSTIC_FROM { gloss } else { Vec3::ZERO },
        ..HitMaterial::default()
    }
}

/// The mean of a picture's texels, of colours (`srgb`) in linear light; 1 without one.
fn mean_of(scene: &Scene, texture: Option<TextureRef>, srgb: bool) -> DVec3 {
    texture
        .and_then(|reference| scene.textures.get(reference.texture))
        .and_then(|texture| scene.images.get(texture.image))
        .map_or(DVec3::ONE, |image| {
            let texels = image.rgba8.len() / 4;
            let step = (texels / MEAN_TEXELS).max(1);
            let value = |code: u8| f64::from(code) / 255.0;
            let linear: Vec<f64> = (0..=255)
                .map(|code| if srgb { srgb_eotf(value(code)) } else { value(code) })
                .collect();
            let (sum, count) = image.rgba8.chunks_exact(4).step_by(step).fold(
                (DVec3::ZERO, 0.0),
                |(sum, count), t| {
                    let of = |i: usize| linear[usize::from(t[i])];
                    (sum + DVec3::new(of(0), of(1), of(2)), count + 1.0)
                },
            );
            if count > 0.0 { sum / count } else { DVec3::ONE }
        })
}

/// What the last frame that kept bounced light was made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GiHistory {
    /// Its number since the history began.
    pub number: u32,
    /// Which patches.
    pub generation: u64,
    /// Frames in a row, up to it, in which nothing moved or changed.
    pub still: u32,
    /// How it was found.
    pub settings: GiSettings,
}

/// What the passes read of the host for one frame.
#[derive(Clone)]
pub struct FrameGi {
    constants: Arc<Buffer>,
    values: GiConstants,
    vpls: Arc<Buffer>,
    nodes: Arc<Buffer>,
    hit_materials: Arc<Buffer>,
    bvh: FrameBvh,
    history: bool,
    filter: bool,
    show: bool,
}

impl FrameGi {
    /// Of a frame with these settings; none where they are off, or nothing could hide or reflect
    /// light. `mirrored`: reflections in the picture follow; `single`: the frame is the picture by
    /// itself, not part of a mean.
    ///
    /// # Errors
    /// Out of memory; a scene whose photons were not traced (`GpuScene::update_gi`).
    pub fn new(
        gpu: &Gpu,
        scene: &GpuScene,
        (view, motion, trees): (&View, &[MotionState; 2], &LazyFrameBvh<'_>),
        settings: &GiSettings,
        (frame, before, [mirrored, single]): (&SsrFrame, Option<GiHistory>, [bool; 2]),
    ) -> GpuResult<Option<Self>> {
        if !settings.enabled {
            return Ok(None);
        }
        let Some(own) = &scene.gi else {
            return Err(GpuError::Pipeline {
                pipeline: "bounced light".into(),
                detail: "no photons were traced through the scene; GpuScene::update_gi does".into(),
            });
        };
        let Some(trees) = trees.get()? else { return Ok(None) };
        let history = settings.max_history_frames > 0 && !frame.single_frame;
        // Light that has changed leaves the history as fast as it has changed; what is found
        // otherwise, at once.
        let before = before.filter(|before| before.settings == *settings);
        let stays = match before {
            Some(before) if before.generation == own.generation => f32::MAX,
            Some(before) if before.generation + 1 == own.generation => {
                (STALE / own.changed_fraction.max(1e-6)).floor().min(MAX_STALE_HISTORY)
            }
            _ => 0.0,
        };
        let held = before.is_some_and(|before| {
            let same = before.generation == own.generation;
            same && frame.still && history && before.still >= settings.freeze_after
        });
        let rests = before.is_some_and(|before| {
            before.still >= STABILIZE_AFTER && before.generation == own.generation
        });
        let quiet =
            if single && history && frame.still && rests { STABILIZATION_STEP } else { 0.0 };
        let most = match frame.has_history && history {
            false => 0.0,
            true if frame.still => MAX_STATIC_FRAMES,
            true => settings.max_history_frames as f32,
        };
        let back = DMat4::from_translation(frame.before.1) * frame.before.0.as_dmat4();
        let [before, now] = [&motion[0], &motion[1]].map(|moment| moment.to_clip.as_mat4());
        // The surroundings are reflected as far as nothing hides them, or there are none.
        let sky = settings.sky && scene.has_environment;
        let mirrors = settings.glossy && (sky || !scene.has_environment);
        let flags = [
            (settings.visibility, VISIBILITY),
            (settings.compensation && settings.clamp_radius > 0.0, COMPENSATION),
            (sky, SKY),
            (settings.glossy, GLOSSY),
            (mirrors, MIRROR),
            (own.caustics && settings.glossy, CAUSTIC),
            (held, FROZEN),
            (settings.all, ALL),
        ];
        let values = GiConstants {
            previous_to_clip: before,
            to_clip: now,
            previous_from_clip: back.as_mat4(),
            previous_eye: frame.before.1.as_vec3(),
            max_history: most.min(stays),
            anchor: (own.set.anchor - view.position).as_vec3(),
            clamp_distance: (own.radius * settings.clamp_radius) as f32,
            previous_jitter: frame.previous_jitter.as_vec2(),
            size: [view.width, view.height],
            vpl_samples: settings.vpl_samples.max(1),
            vpl_count: own.set.vpls.len() as u32,
            number: frame.number,
            flags: flags.iter().filter(|(on, _)| *on).fold(0, |bits, (_, bit)| bits | bit),
            static_view: u32::from(frame.still),
            glossy: match (mirrors, mirrored) {
                (true, _) => RAYS_BELOW,
                (false, true) => MIRRORED,
                (false, false) => MIN_VPL_ROUGHNESS,
            },
            ball: own.ball,
            stabilization_step: quiet,
        };
        Ok(Some(Self {
            constants: dynamic_buffer(gpu, "bounced light constants", &[values])?,
            values,
            vpls: Arc::clone(&own.vpls),
            nodes: Arc::clone(&own.nodes),
            hit_materials: Arc::clone(&own.hit_materials),
            bvh: trees,
            history,
            filter: settings.filter,
            show: settings.show_vpls,
        }))
    }

    /// Whether it finds light from all around, in place of the light pass.
    #[must_use]
    pub const fn traces_sky(&self) -> bool {
        self.values.flags & SKY != 0
    }

    /// Whether it finds what surfaces reflect, in place of the light pass.
    #[must_use]
    pub const fn traces_reflections(&self) -> bool {
        self.values.flags & (SKY | MIRROR) != 0
    }
}

/// Bounced light of the picture.
#[derive(Clone, Copy)]
pub struct GiOutput {
    /// Its diffuse and specular parts, where they were asked for.
    pub split: Option<(ImageHandle, ImageHandle)>,
    /// As this frame's rays found it on white; alpha: what the bound took.
    pub unfiltered: ImageHandle,
    /// What surfaces reflect specularly.
    pub specular: ImageHandle,
}

/// The pipelines.
pub struct GiPass {
    gather: LightVariants,
    temporal: Arc<GraphicsPipeline>,
    variance: Arc<GraphicsPipeline>,
    filter: Arc<GraphicsPipeline>,
    composite: Arc<GraphicsPipeline>,
    composite_split: Arc<GraphicsPipeline>,
    patches: Arc<GraphicsPipeline>,
}

impl GiPass {
    /// Makes the pipelines.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |name: &str, fragment: &str, colors: &[(vk::Format, bool)]| {
            let state = GraphicsState { colors: colors.to_vec(), ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        let gather = |gpu: &Gpu, name: &str, fragment: &str, _: Features| {
            let state = GraphicsState {
                colors: vec![(LIGHT, false), (HISTORY, false)],
                ..GraphicsState::default()
            };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        let both = [(HISTORY, false), (HISTORY, false)];
        Ok(Self {
            gather: LightVariants::lazy(gpu, "gi.frag", gather),
            temporal: make("gi temporal", "gi_temporal.frag", &[both[0], both[1], (PAST, false)])?,
            variance: make("gi variance", "gi_filter.frag+FIRST", &both)?,
            filter: make("gi filter", "gi_filter.frag", &both)?,
            composite: make("gi composite", "gi_composite.frag", &[(LIGHT, true), (SHOWN, false)])?,
            composite_split: make(
                "gi composite split",
                "gi_composite.frag+SPLIT_LIGHTING",
                &[(LIGHT, true), (SHOWN, false), (LIGHT, false), (LIGHT, false)],
            )?,
            patches: GraphicsPipeline::new(
                gpu,
                "gi patches",
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

    /// Declares the passes, which add bounced light to the picture's. With `split`, its parts apart
    /// too.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (scene, data, frame): (&'a GpuScene, &'a FrameData, &'a FrameGi),
        (gbuffer, open, lit, velocity): (Gbuffer, Option<ImageHandle>, LitImages, ImageHandle),
        (trees, split): (BvhDependencies, bool),
    ) -> GiOutput {
        let [width, height] = frame.values.size;
        let image = |g: &mut Graph<'a>, name: &str, format| g.image(name, width, height, format);
        let matte = image(g, "bounced light, rays", LIGHT);
        // A ray in hundreds finds more than half floats hold under a bright exposure, and the
        // filter spreads it.
        let glossy = image(g, "bounced highlights, rays", HISTORY);
        let mut pass = surfaces(g, "gi", gbuffer);
        for (buffer, access) in trees.by_fragments() {
            pass = pass.uses(buffer, access);
        }
        pass.uses(gbuffer.surface, Access::FragmentSampled)
            .uses(gbuffer.emission, Access::FragmentSampled)
            .color_cleared(matte, [0.0; 4])
            .color_cleared(glossy, [0.0; 4])
            .record(move |cx| {
                let [depth, surface, normal] =
                    [gbuffer.depth, gbuffer.surface, gbuffer.normal].map(|i| cx.image(i));
                let emission = cx.image(gbuffer.emission);
                let (masks, query) = (frame.bvh.masked(), frame.bvh.structure().is_some());
                let features = Features { traced: true, masks, query, ..Features::of(data, false) };
                let pipeline = self.gather.get(features)?;
                let mut binds = vec![
                    data.uniform(),
                    ("depth_image", Bind::Sampled(&depth)),
                    ("surface_image", Bind::Sampled(&surface)),
                    ("normal_image", Bind::Sampled(&normal)),
                    ("emission_image", Bind::Sampled(&emission)),
                    ("gi_block", Bind::Uniform(&frame.constants)),
                    ("light_block", Bind::Storage(&data.lights)),
                    ("profile_block", Bind::Storage(&data.profiles)),
                    ("environment_block", Bind::Storage(&data.environment)),
                    ("hit_material_block", Bind::Storage(&frame.hit_materials)),
                    ("vpl_block", Bind::Storage(&frame.vpls)),
                    ("vpl_node_block", Bind::Storage(&frame.nodes)),
                ];
                binds.extend(data.ltc.as_ref().map(|ltc| ("ltc_block", Bind::Storage(ltc))));
                binds.extend(frame.bvh.binds());
                cx.rec.bind_graphics(&pipeline, &binds)?;
                cx.rec.draw_fullscreen();
                Ok(())
            });
        let (mut light, mut shine) =
            self.declare_temporal(g, (data, frame), (gbuffer, velocity), (matte, glossy));
        if frame.filter {
            (light, shine) = self.declare_filter(g, data, gbuffer, None, (light, shine));
            for spacing in SPACINGS {
                (light, shine) =
                    self.declare_filter(g, data, gbuffer, Some(spacing), (light, shine));
            }
        }
        let parts = split.then(|| {
            let [diffuse, specular] =
                ["indirect diffuse", "indirect specular"].map(|name| image(g, name, LIGHT));
            (diffuse, specular)
        });
        let (shown, out) = if frame.history {
            g.history("bounced light shown", width, height, SHOWN)
        } else {
            (light, image(g, "bounced light shown by itself", SHOWN))
        };
        let mut pass = g.pass("gi composite").color_loaded(lit.light).color_cleared(out, [0.0; 4]);
        if frame.history {
            pass = pass.uses(shown, Access::FragmentSampled);
        }
        for image in
            [gbuffer.depth, gbuffer.surface, gbuffer.normal, light, shine].into_iter().chain(open)
        {
            pass = pass.uses(image, Access::FragmentSampled);
        }
        if let Some((diffuse, specular)) = parts {
            pass = pass.color_cleared(diffuse, [0.0; 4]).color_cleared(specular, [0.0; 4]);
        }
        pass.record(move |cx| {
            let [depth, surface, normal] =
                [gbuffer.depth, gbuffer.surface, gbuffer.normal].map(|image| cx.image(image));
            let [light, shine, shown] = [light, shine, shown].map(|image| cx.image(image));
            let open = open.map_or_else(|| Arc::clone(&scene.white), |open| cx.image(open));
            let binds = [
                data.uniform(),
                ("gi_block", Bind::Uniform(&frame.constants)),
                ("displayed_image", Bind::Sampled(&shown)),
                ("ao_image", Bind::Sampled(&open)),
                ("depth_image", Bind::Sampled(&depth)),
                ("surface_image", Bind::Sampled(&surface)),
                ("normal_image", Bind::Sampled(&normal)),
                ("diffuse_image", Bind::Sampled(&light)),
                ("specular_image", Bind::Sampled(&shine)),
            ];
            let pipeline = if parts.is_some() { &self.composite_split } else { &self.composite };
            cx.rec.bind_graphics(pipeline, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        if frame.show {
            g.pass("gi patches").color_loaded(lit.light).depth_tested(gbuffer.depth).record(
                move |cx| {
                    let binds = [
                        data.uniform(),
                        ("gi_block", Bind::Uniform(&frame.constants)),
                        ("vpl_block", Bind::Storage(&frame.vpls)),
                    ];
                    cx.rec.bind_graphics(&self.patches, &binds)?;
                    cx.rec.draw(3, frame.values.vpl_count);
                    Ok(())
                },
            );
        }
        GiOutput { split: parts, unfiltered: matte, specular: shine }
    }

    fn declare_temporal<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (data, frame): (&'a FrameData, &'a FrameGi),
        (gbuffer, velocity): (Gbuffer, ImageHandle),
        (matte, glossy): (ImageHandle, ImageHandle),
    ) -> (ImageHandle, ImageHandle) {
        let [width, height] = frame.values.size;
        // A frame by itself leaves the histories as they are, and reads nothing of what stands in
        // for them.
        let [light, shine, past] = if frame.history {
            [
                ("bounced light history", HISTORY),
                ("bounced highlights history", HISTORY),
                ("bounced light past", PAST),
            ]
            .map(|(name, format)| g.history(name, width, height, format))
        } else {
            [
                (matte, g.image("bounced light by itself", width, height, HISTORY)),
                (glossy, g.image("bounced highlights by itself", width, height, HISTORY)),
                (gbuffer.normal, g.image("bounced light past by itself", width, height, PAST)),
            ]
        };
        let mut pass = surfaces(g, "gi temporal", gbuffer);
        for image in [gbuffer.surface, matte, glossy, velocity] {
            pass = pass.uses(image, Access::FragmentSampled);
        }
        if frame.history {
            for (before, _) in [light, shine, past] {
                pass = pass.uses(before, Access::FragmentSampled);
            }
        }
        for (_, out) in [light, shine, past] {
            pass = pass.color_cleared(out, [0.0; 4]);
        }
        pass.record(move |cx| {
            let [depth, surface, normal] =
                [gbuffer.depth, gbuffer.surface, gbuffer.normal].map(|i| cx.image(i));
            let [matte, glossy, velocity] = [matte, glossy, velocity].map(|i| cx.image(i));
            let [before, shone, past] = [light.0, shine.0, past.0].map(|i| cx.image(i));
            let binds = [
                data.uniform(),
                ("gi_block", Bind::Uniform(&frame.constants)),
                ("depth_image", Bind::Sampled(&depth)),
                ("surface_image", Bind::Sampled(&surface)),
                ("normal_image", Bind::Sampled(&normal)),
                ("diffuse_image", Bind::Sampled(&matte)),
                ("specular_image", Bind::Sampled(&glossy)),
                ("velocity_image", Bind::Sampled(&velocity)),
                ("history_image", Bind::Sampled(&before)),
                ("history_specular_image", Bind::Sampled(&shone)),
                ("history_data_image", Bind::Sampled(&past)),
            ];
            cx.rec.bind_graphics(&self.temporal, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        (light.1, shine.1)
    }

    /// One pass of the filter; without a spacing the one that says how much light varies.
    fn declare_filter<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        gbuffer: Gbuffer,
        spacing: Option<i32>,
        (light, shine): (ImageHandle, ImageHandle),
    ) -> (ImageHandle, ImageHandle) {
        let [width, height] = data.values.size;
        let (name, pipeline) = match spacing {
            None => ("gi variance".to_owned(), &self.variance),
            Some(spacing) => (format!("gi filter {spacing}"), &self.filter),
        };
        let outs = ["light", "highlights"]
            .map(|what| g.image(&format!("{name}, {what}"), width, height, HISTORY));
        let mut pass = surfaces(g, &name, gbuffer);
        if spacing.is_some() {
            pass = pass.uses(gbuffer.surface, Access::FragmentSampled);
        }
        pass.uses(light, Access::FragmentSampled)
            .uses(shine, Access::FragmentSampled)
            .color_cleared(outs[0], [0.0; 4])
            .color_cleared(outs[1], [0.0; 4])
            .record(move |cx| {
                let [depth, surface, normal] =
                    [gbuffer.depth, gbuffer.surface, gbuffer.normal].map(|i| cx.image(i));
                let [light, shine] = [light, shine].map(|i| cx.image(i));
                let mut binds = vec![
                    data.uniform(),
                    ("depth_image", Bind::Sampled(&depth)),
                    ("normal_image", Bind::Sampled(&normal)),
                    ("diffuse_image", Bind::Sampled(&light)),
                    ("specular_image", Bind::Sampled(&shine)),
                ];
                if spacing.is_some() {
                    binds.push(("surface_image", Bind::Sampled(&surface)));
                }
                cx.rec.bind_graphics(pipeline, &binds)?;
                if let Some(spacing) = spacing {
                    cx.rec.push_graphics(pipeline, &spacing);
                }
                cx.rec.draw_fullscreen();
                Ok(())
            });
        (outs[0], outs[1])
    }
}

/// A pass that reads places and normals.
fn surfaces<'g, 'a>(g: &'g mut Graph<'a>, name: &str, gbuffer: Gbuffer) -> PassBuilder<'g, 'a> {
    [gbuffer.depth, gbuffer.normal]
        .into_iter()
        .fold(g.pass(name), |pass, image| pass.uses(image, Access::FragmentSampled))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::scene::build::{SceneBuilder, dielectric, metal};

    /// What lobes are told apart by must not lose light on the way from narrow to wide.
    #[test]
    fn metals_keep_their_light_at_every_roughness() {
        let scene = SceneBuilder::new("nothing").build().unwrap();
        let all = |roughness: f32| {
            let met = hit_material(&scene, &metal("metal", Vec3::splat(0.9), roughness));
            f64::from(met.diffuse.x + met.specular.x)
        };
        for step in 0..100u8 {
            let [here, next] = [step, step + 1].map(|step| all(f32::from(step) / 100.0));
            // Single scattering loses more and more, at roughness 1 some two thirds; never much
            // within a hundredth of roughness.
            assert!(here > 0.3 && (here - next).abs() < 0.04, "{step}: {here} and {next}");
        }
        let plastic = hit_material(&scene, &dielectric("plastic", Vec3::splat(0.5), 0.2));
        assert!(plastic.specular == Vec3::ZERO && plastic.diffuse.x > 0.4);
    }
}
