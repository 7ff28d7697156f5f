//! The frame: declares the passes of one image in execution order, and the renderer that runs them.

pub mod anti_aliasing;
pub mod incident;
pub mod limits;
mod probes;

use std::sync::Arc;

use glam::{Mat3, Vec4};

pub use self::anti_aliasing::{AntiAliasing, FrameSample, TemporalSettings};
use self::{
    anti_aliasing::{FrameSampling, HistoryState},
    limits::{EffectLimits, LimitReports},
};

use crate::{
    camera::{CameraEffects, Exposure, ToneMapper},
    gpu::{
        Buffer, Frames, Gpu, GpuError, GpuResult, PassTime,
        commands::Ticket,
        shader_structs::{
            features::{
                FEATURE_ALPHA_MASKS, FEATURE_AREA_LIGHTS, FEATURE_ENVIRONMENT,
                FEATURE_IES_PROFILES, FEATURE_PROBES, FEATURE_SHADOW_MAPS, FEATURE_SUN_DISKS,
                FEATURE_VOLUMES, FEATURE_WATER,
            },
            frame::{
                FRAME_AO, FRAME_FORWARD, FRAME_GI_DIFFUSE, FRAME_GI_SPECULAR, FRAME_METERING,
                FRAME_MULTI_BOUNCE_AO, FRAME_PROBE_CAPTURE, FRAME_SSR, FrameConstants,
                LIGHT_DIRECTIONAL, LIGHT_KIND_BITS, Light, NONE, SHADOWS_MAPS, SHADOWS_OFF,
                SHADOWS_RAY_TRACED,
            },
            ghosts::GHOST_REPORT_WORDS,
        },
        vk,
    },
    graph::{BufferHandle, Executed, Graph, GraphCache, ImageHandle, Prepared},
    optics::{MountedLens, ghosts::LensGhosts},
    passes::{
        FrameData, GpuScene, Passes, ShadowInputs, View,
        anti_aliasing::Method,
        caustics::{CausticSettings, FrameCaustics},
        clustered_lights::{self, ClusteredLights, REPORT_WORDS, TILE},
        culling::{self, CullingOutput, CullingSettings, FrameCulling},
        dynamic_buffer,
        exposure_histogram::LuminanceHistogram,
        forward,
        gbuffer::{DEPTH, Gbuffer, LIGHT},
        gbuffer_channel::GbufferChannel,
        gi::{FrameGi, GiOutput, GiPass},
        lens_ghosts::GhostReport,
        lighting::{LightingInputs, LitImages},
        probes::probes_for,
        ray_query,
        refit::RefitCosts,
        scene_bvh::{FrameBvh, LazyFrameBvh, RayTracedLights},
        scene_data::{GpuScenePose, LodGeneration, OcclusionGain},
        shadow_maps::{self, FrameShadows, ShadowAtlasPlan, ShadowMapSettings},
        ssr::{self, FrameSsr, SsrInputs, SsrPass},
        taa::TaaOutput,
        tonemap::DisplayTransform,
        volumes_scene::FrameVolumes,
    },
    scene::{
        Scene,
        look::{RefractionMethod, ShadowMethod},
    },
};

pub use crate::passes::ao::AoSettings;
pub use crate::passes::gi::GiSettings;
pub use crate::passes::ssr::{Reprojection, SsrSettings};
pub use crate::passes::volumes_scene::VolumeSettings;

/// An arbitrary output variable (AOV), an extra output selected with `--aov`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aov {
    /// A G-buffer channel.
    Channel(GbufferChannel),
    /// Emitted luminance in nits.
    Emission,
    /// Direct diffuse light from lights and the environment, in nits per channel.
    DirectDiffuse,
    /// Direct specular light from lights and the environment, in nits per channel.
    DirectSpecular,
    /// Indirect diffuse light (`gi.enabled`), in nits per channel.
    IndirectDiffuse,
    /// Indirect specular light (`gi.enabled`), in nits per channel.
    IndirectSpecular,
    /// Luminance in nits that the clamp on near VPLs removes at a white surface, before short rays
    /// restore it.
    VplClampLoss,
    /// Screen-space motion since the previous frame of the same scene and size, in pixels (right,
    /// down). 0 in the first frame.
    Velocity,
    /// A debug output of screen-space reflections (docs/reflections.md); 0 where they are off.
    Ssr(SsrAov),
}

/// A debug output of screen-space reflections (SSR).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsrAov {
    /// Fractions of a pixel's rays that hit a surface, that reached the environment, and that found
    /// nothing.
    Hit,
    /// Ray length in meters, at most 10^6, which is beyond all surfaces; 0 where the rays found
    /// nothing.
    Distance,
    /// Motion of the reflection since the previous frame in pixels (right, down), and its source: 1
    /// surface motion, 2 motion of the mirror image.
    Motion,
    /// History length in frames, including this one.
    History,
    /// Reason for rejecting the history: 0 accepted, 1 no reflection here, 2 no history, 3 outside
    /// of the image, 4 another surface, 5 another normal, 6 another reflection distance, 7 another
    /// motion of the reflected surface.
    Rejection,
}

impl SsrAov {
    /// Index of the image in `SsrOutput::debug` that holds this output.
    const fn debug_image_index(self) -> usize {
        match self {
            Self::Hit | Self::Distance | Self::Rejection => 0,
            Self::Motion | Self::History => 1,
        }
    }

    /// Extracts this output from a pixel of that image.
    fn decode(self, [a, b, c, d]: [f32; 4]) -> [f32; 4] {
        match self {
            Self::Hit => [a, b, if d == 1.0 { 0.0 } else { (1.0 - a - b).clamp(0.0, 1.0) }, 1.0],
            Self::Distance | Self::History => [c, c, c, 1.0],
            Self::Rejection => [d, d, d, 1.0],
            Self::Motion => [a, b, d, 1.0],
        }
    }
}

impl Aov {
    /// All AOVs with their names on the command line and as EXR layers.
    pub const ALL: [(&'static str, Self); 21] = [
        ("base_color", Self::Channel(GbufferChannel::BaseColor)),
        ("metallic", Self::Channel(GbufferChannel::Metallic)),
        ("roughness", Self::Channel(GbufferChannel::Roughness)),
        ("normal", Self::Channel(GbufferChannel::Normal)),
        ("depth", Self::Channel(GbufferChannel::Depth)),
        ("occlusion", Self::Channel(GbufferChannel::Occlusion)),
        ("position", Self::Channel(GbufferChannel::Position)),
        ("ambient_occlusion", Self::Channel(GbufferChannel::AmbientOcclusion)),
        ("bent_normal", Self::Channel(GbufferChannel::BentNormal)),
        ("emission", Self::Emission),
        ("direct_diffuse", Self::DirectDiffuse),
        ("direct_specular", Self::DirectSpecular),
        ("indirect_diffuse", Self::IndirectDiffuse),
        ("indirect_specular", Self::IndirectSpecular),
        ("vpl_clamp_loss", Self::VplClampLoss),
        ("velocity", Self::Velocity),
        ("ssr_hit", Self::Ssr(SsrAov::Hit)),
        ("ssr_distance", Self::Ssr(SsrAov::Distance)),
        ("ssr_motion", Self::Ssr(SsrAov::Motion)),
        ("ssr_history", Self::Ssr(SsrAov::History)),
        ("ssr_rejection", Self::Ssr(SsrAov::Rejection)),
    ];

    /// Name on the command line and as an EXR layer.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, aov)| *aov == self).map_or("", |(name, _)| name)
    }
}

/// Light culling by clusters (docs/clustered-lights.md).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusteredLightSettings {
    /// Cull lights per cluster; off: every pixel evaluates every light.
    pub enabled: bool,
    /// Upper bound on the summed contribution of culled lights to a pixel, as a fraction of display
    /// white under the current exposure; 0 culls none.
    pub cull_threshold: f32,
}

impl Default for ClusteredLightSettings {
    fn default() -> Self {
        Self { enabled: true, cull_threshold: 1.0 / 1024.0 }
    }
}

/// Shadow settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadowSettings {
    /// Render shadows; off: lights are never occluded.
    pub enabled: bool,
    /// Shadow maps or shadow rays.
    pub method: ShadowMethod,
    /// Shadow rays per area light.
    pub samples: u32,
    /// Resolution in texels of a sun's cascade or a spot light's map; cube faces of point lights
    /// have half of it.
    pub resolution: u32,
}

impl Default for ShadowSettings {
    fn default() -> Self {
        Self { enabled: true, method: ShadowMethod::default(), samples: 16, resolution: 2048 }
    }
}

impl ShadowSettings {
    /// The lights that need a BVH for shadow rays.
    #[must_use]
    pub fn required_bvh(&self) -> RayTracedLights {
        match self.method {
            ShadowMethod::Traced if self.enabled => RayTracedLights::All,
            ShadowMethod::Auto if self.enabled => RayTracedLights::Sized,
            _ => RayTracedLights::None,
        }
    }
}

/// All settings that an image is rendered with.
#[derive(Clone, Debug, Default)]
pub struct RenderSettings {
    /// The camera's exposure, which is also the pre-exposure of all buffers.
    pub exposure: Exposure,
    /// Tone mapper for the display.
    pub tone_mapper: ToneMapper,
    /// White balance matrix, applied to exposed linear Rec.709 before the tone mapper. Nits that
    /// are read back are not balanced (docs/white-balance.md).
    pub white_balance: Mat3,
    /// Dither the 8-bit display output.
    pub dither: bool,
    /// Compute the luminance histogram for automatic exposure.
    pub histogram: bool,
    /// Replace this frame by the mean of it and the frames before, for a static view. The value is
    /// the number of frames already accumulated; 0 restarts.
    pub accumulated_frames: Option<u32>,
    /// Clustered lights.
    pub clustered_lights: ClusteredLightSettings,
    /// Shadow settings.
    pub shadows: ShadowSettings,
    /// Culling and level of detail.
    pub culling: CullingSettings,
    /// Anti-aliasing method.
    pub anti_aliasing: AntiAliasing,
    /// Subpixel sample of this frame, if the image is the mean of several frames.
    pub sample: Option<FrameSample>,
    /// Ambient occlusion of the environment's light.
    pub ao: AoSettings,
    /// Indirect light.
    pub gi: GiSettings,
    /// Screen-space reflections.
    pub ssr: SsrSettings,
    /// Participating media.
    pub volumes: VolumeSettings,
    /// Method of the background of refractive surfaces.
    pub refraction: RefractionMethod,
    /// Water caustics: how they are gathered and scattered from a sun's light.
    pub caustics: CausticSettings,
    /// Camera effects. They apply to the nits image, not to AOVs.
    pub effects: CameraEffects,
    /// Lens prescription; the view is its pinhole (`MountedLens::pinhole`). Its distortion applies
    /// after the effects that precede it in the light path.
    pub lens: Option<Arc<MountedLens>>,
    /// Lens flare ghosts of bright sources.
    pub ghosts: Option<LensGhosts>,
    /// Scene poses at shutter opening and closing (`GpuScene::pose`); `None`: nothing moves.
    pub shutter: Option<[Arc<GpuScenePose>; 2]>,
    /// Frame number in the sequence, which seeds the film grain.
    pub frame_number: u32,
    /// Hide the bodies of lights and disks of suns, for probe captures: lights illuminate surfaces
    /// by themselves.
    pub capture: bool,
    /// Render unlit surfaces black, for metering: they look the same at any exposure.
    pub metered: bool,
    /// AOVs to output besides the image.
    pub aovs: Vec<Aov>,
}

/// Output images and buffers of a declared frame.
struct FrameImages {
    light: ImageHandle,
    display: ImageHandle,
    aovs: Vec<(Aov, ImageHandle)>,
    clustered_lights: ClusteredLights,
    histogram: Option<BufferHandle>,
    culled: Option<CullingOutput>,
    /// Costs of the refitted BVHs.
    refitted: Option<BufferHandle>,
    /// Report of the lens flare ghosts.
    ghosts: Option<BufferHandle>,
    limits: LimitReports,
}

/// Declares one frame. `data` describes the render resolution, `after` the output resolution.
/// Order: G-buffer, clustered lights, lighting, blended surfaces, camera effects in the order of
/// the light path, and display transform. The graph culls passes whose result is unused; disabled
/// effects are not declared.
fn declare_frame<'a>(
    g: &mut Graph<'a>,
    passes: &'a Passes,
    scene: &'a GpuScene,
    data: &'a FrameData,
    (view, sampling, after): (&View, &FrameSampling, &'a FrameData),
    settings: &RenderSettings,
    (cached_shadow_maps, moved): (Option<&ShadowAtlasPlan>, bool),
) -> FrameImages {
    let split = settings
        .aovs
        .iter()
        .any(|aov| !matches!(aov, Aov::Channel(_) | Aov::Velocity | Aov::Ssr(_)));
    let vertices = passes.skin.declare(g, scene, moved);
    let refitted = passes.refit.declare(g, scene, vertices, moved);
    let bvh = ray_query::declare(g, scene, data.bvh.as_ref(), refitted);
    let culled = passes.culling.declare(g, scene, data, vertices);
    let gbuffer = passes.gbuffer.declare(g, scene, data, (culled, vertices));
    let lists = passes.clustered_lights.declare(g, scene, data, gbuffer);
    let atlas = passes.shadow_maps.declare(g, scene, data, cached_shadow_maps, vertices);
    let bent_normal_ao = needs_ao(settings, data.has_environment)
        .then(|| passes.ao.declare(g, data, gbuffer, &settings.ao));
    let caustics = passes.caustics.declare(g, scene, data, bvh);
    let shadow_inputs = ShadowInputs { atlas, bvh, caustics };
    let inputs = LightingInputs { gbuffer, clustered_lights: lists, shadow_inputs, bent_normal_ao };
    let lit = passes.lighting.declare(g, scene, data, inputs, split);
    passes.forward.declare(g, scene, data, inputs, lit);
    passes.background.declare(g, data, gbuffer, lit);
    let velocity = (data.ssr.is_some() || data.gi.is_some()).then(|| {
        passes.anti_aliasing.velocity(
            g,
            (scene, data, &passes.skin),
            gbuffer.depth,
            &sampling.motion,
        )
    });
    let gi_output = match (&data.gi, velocity, passes.gi.get()) {
        (Some(gi), Some(velocity), Some(pass)) => Some(pass.declare(
            g,
            (scene, data, gi),
            (gbuffer, bent_normal_ao, lit, velocity),
            (bvh, split),
        )),
        _ => None,
    };
    let watched = settings.aovs.iter().any(|aov| matches!(aov, Aov::Ssr(_)));
    let reflections = match (&data.ssr, velocity, passes.ssr.get()) {
        (Some(ssr), Some(velocity), Some(pass)) => {
            let traced = gi_output.map(|gi_output| gi_output.specular);
            let inputs = SsrInputs {
                gbuffer,
                light: lit.light,
                bent_normal_ao,
                gi_specular: traced,
                velocity,
            };
            let followed = matches!(sampling.method(), Method::Temporal(..));
            Some(pass.declare(g, (scene, data, ssr), inputs, (watched, followed)))
        }
        _ => None,
    };
    let lit = LitImages { light: reflections.map_or(lit.light, |r| r.light), ..lit };
    let volumetrics = passes.volumes.declare(g, (scene, data), (gbuffer, lit), (atlas, bvh));
    let lit =
        LitImages { light: volumetrics.map_or(lit.light, |volumetrics| volumetrics.light), ..lit };
    let refraction_background = passes.refraction.declare(g, scene, data, gbuffer, lit);
    passes.blend.declare(
        g,
        (scene, data),
        (gbuffer, lit),
        shadow_inputs,
        (&passes.forward, refraction_background),
        volumetrics,
    );
    let (size, camera, effects) = (after.values.size, &passes.effects, &settings.effects);
    let TaaOutput { light, depth } = passes.anti_aliasing.declare(
        g,
        (scene, data, &passes.skin),
        (gbuffer.depth, reflections.map(|r| r.velocity)),
        lit.light,
        sampling.method(),
    );
    let sharp = light;
    let (light, coc) = camera.depth_of_field(g, after, depth, light, effects);
    let seen = (scene, [data, after], &passes.skin);
    let depths = [gbuffer.depth, depth];
    let (light, blurs) =
        camera.motion_blur(g, seen, (view, depths), light, effects, settings.shutter.as_ref());
    let light = match settings.accumulated_frames {
        Some(frames) => passes.accumulate.declare(g, after, light, frames),
        None => light,
    };
    // The histogram excludes depth of field blur, unless frames are accumulated.
    let counted = if settings.accumulated_frames.is_some() { light } else { sharp };
    let histogram = settings.histogram.then(|| passes.exposure_histogram.declare(g, size, counted));
    let flares = effects.starburst.is_some() || settings.ghosts.is_some();
    let bright = camera.flare_sources(g, after, (depth, light), bvh, flares);
    let light = camera.starburst(g, after, (depth, light), bright, effects);
    let light = camera.bloom(g, size, light, effects);
    let light = camera.lens_image(
        g,
        size,
        light,
        settings.lens.as_deref().is_some_and(MountedLens::has_aberrations),
    );
    let light = camera.chromatic_aberration(g, size, light, effects);
    let light = camera.vignetting(g, size, light, effects);
    let (light, ghosts) = camera.ghosts(g, (size, light), bright, settings.ghosts.as_ref());
    let light = camera.grain(g, size, light, effects, settings.frame_number);
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
                Aov::Velocity if velocity.is_some() => velocity,
                Aov::Ssr(what) => {
                    reflections.and_then(|r| r.debug).map(|debug| debug[what.debug_image_index()])
                }
                _ => None,
            };
            let make = |g| {
                declare_aov(
                    g,
                    passes,
                    (scene, data, sampling),
                    (gbuffer, bent_normal_ao),
                    (lit.split, gi_output),
                    aov,
                )
            };
            (aov, image.unwrap_or_else(|| make(g)))
        })
        .collect();
    let refitted = refitted.and_then(|gpu_bvh| gpu_bvh.costs);
    let limits =
        LimitReports::declare(g, blurs, coc, bright.filter(|_| effects.starburst.is_some()));
    FrameImages {
        light,
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

/// True if the ambient occlusion passes run: for lighting, or for an AOV.
fn needs_ao(settings: &RenderSettings, has_environment: bool) -> bool {
    let wanted = |aov: &Aov| matches!(aov, Aov::Channel(channel) if channel.measured());
    settings.ao.enabled && has_environment || settings.aovs.iter().any(wanted)
}

fn declare_aov<'a>(
    g: &mut Graph<'a>,
    passes: &'a Passes,
    (scene, data, sampling): (&'a GpuScene, &'a FrameData, &FrameSampling),
    (gbuffer, bent_normal_ao): (Gbuffer, Option<ImageHandle>),
    (split, gi_output): (Option<(ImageHandle, ImageHandle)>, Option<GiOutput>),
    aov: Aov,
) -> ImageHandle {
    let nothing = |g: &mut Graph<'a>| {
        let [width, height] = data.values.size;
        let image = g.image("no gi", width, height, LIGHT);
        g.pass("no gi").color_cleared(image, [0.0; 4]).record(|_| Ok(()));
        image
    };
    let parts = gi_output.and_then(|gi_output| gi_output.split);
    match (aov, split) {
        (Aov::IndirectDiffuse, _) => parts.map_or_else(|| nothing(g), |(diffuse, _)| diffuse),
        (Aov::IndirectSpecular, _) => parts.map_or_else(|| nothing(g), |(_, specular)| specular),
        (Aov::VplClampLoss, _) => {
            gi_output.map_or_else(|| nothing(g), |gi_output| gi_output.unfiltered)
        }
        (Aov::Velocity, _) => passes.anti_aliasing.velocity(
            g,
            (scene, data, &passes.skin),
            gbuffer.depth,
            &sampling.motion,
        ),
        (Aov::Ssr(_), _) => ssr::empty_debug_image(g, data.values.size),
        (Aov::Channel(channel), _) => {
            passes.gbuffer_channel.declare(g, data, (gbuffer, bent_normal_ao), channel)
        }
        (Aov::DirectDiffuse, Some((diffuse, _))) => diffuse,
        (Aov::DirectSpecular, Some((_, specular))) => specular,
        (Aov::Emission | Aov::DirectDiffuse | Aov::DirectSpecular, _) => gbuffer.emission,
    }
}

/// Statistics of clustered lights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClusteredLightStats {
    /// Clusters that have a light list.
    pub clusters: u32,
    /// Lights, without directional lights.
    pub lights: u32,
    /// Sum of list lengths over all clusters.
    pub evaluated: u64,
    /// Length of the longest list.
    pub max_per_cluster: u32,
    /// Clusters whose list did not fit, so that they evaluate all lights.
    pub overflowed: u32,
    /// Capacity that all lists together need, in entries.
    pub required_capacity: u64,
    /// Greatest bound on the contribution of culled lights in any cluster, as a fraction of display
    /// white.
    pub max_culled_contribution: f32,
}

/// Statistics of the drawn geometry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawStats {
    /// Draw calls.
    pub draws: usize,
    /// Mesh instances drawn.
    pub instances: usize,
    /// Instances culled outside of the view frustum.
    pub frustum_culled: usize,
    /// Instances culled behind others. The set of known occluders depends on the previous frames.
    pub occlusion_culled: usize,
}

/// A rendered image on the host.
#[derive(Clone, Debug)]
pub struct RenderedImage {
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Display-encoded RGBA bytes, top row first.
    pub display: Vec<u8>,
    /// Scene-linear Rec.709 in nits, top row first.
    pub nits: Vec<[f32; 3]>,
    /// AOVs in the requested order; alpha is 1 where there is a surface.
    pub aovs: Vec<(Aov, Vec<[f32; 4]>)>,
    /// GPU time of each pass.
    pub times: Vec<PassTime>,
    /// Statistics of clustered lights.
    pub clustered_light_stats: ClusteredLightStats,
    /// Luminance histogram, if `RenderSettings::histogram` is set.
    pub histogram: Option<LuminanceHistogram>,
    /// Statistics of the drawn geometry.
    pub draw_stats: DrawStats,
    /// Report of the lens flare ghosts, if `RenderSettings::ghosts` is set.
    pub ghosts: Option<GhostReport>,
    /// Limits of camera effects that took effect.
    pub limits: EffectLimits,
    /// The exposure of the frame.
    pub exposure: Exposure,
}

/// A submitted frame, for [`Renderer::collect`].
pub struct PendingFrame {
    ticket: Ticket,
    executed: Executed,
    view: View,
    settings: RenderSettings,
    display: Option<BufferHandle>,
    light: Option<BufferHandle>,
    aovs: Vec<(Aov, BufferHandle, bool)>,
    report: BufferHandle,
    histogram: Option<BufferHandle>,
    draw_stats: DrawStats,
    culled: Option<BufferHandle>,
    refitted: Option<(BufferHandle, RefitCosts)>,
    ghosts: Option<BufferHandle>,
    limits: LimitReports,
    gain: Option<Arc<OcclusionGain>>,
    light_count: u32,
}

/// Parts of an image that are read back to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readback {
    /// Read back the display bytes.
    pub display: bool,
    /// Read back the nits image.
    pub nits: bool,
}

impl Readback {
    /// Reads back both.
    pub const ALL: Self = Self { display: true, nits: true };
}

/// Frames in flight: the host records one while the device executes the other.
const FRAMES_IN_FLIGHT: usize = 2;

/// Maximum capacity of light lists in entries (256 MiB). Clusters beyond it evaluate all lights.
const MAX_LIST_CAPACITY: u32 = 64 << 20;

/// Renders images of scenes.
pub struct Renderer {
    passes: Passes,
    cache: GraphCache,
    frames: Frames,
    /// State of the temporal histories.
    history: HistoryState,
    /// Capacity that the light lists of an earlier frame needed, in entries.
    list_capacity: u32,
    /// Revision of the scene whose shadow maps the atlas holds, and their plan.
    cached_shadow_maps: Option<(u64, ShadowAtlasPlan)>,
    /// Revision of the scene whose skinned vertices are on the device.
    skinned_scene: Option<u64>,
    gpu: Gpu,
}

impl Renderer {
    /// Creates a renderer with its pipelines.
    ///
    /// # Errors
    /// [`GpuError`] if the driver rejects a pipeline or memory is exhausted.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let passes = Passes::new(gpu)?;
        gpu.save_pipeline_cache();
        Ok(Self {
            passes,
            cache: GraphCache::default(),
            frames: Frames::new(gpu, FRAMES_IN_FLIGHT)?,
            history: HistoryState::default(),
            list_capacity: 0,
            cached_shadow_maps: None,
            skinned_scene: None,
            gpu: gpu.clone(),
        })
    }

    /// The device that the renderer draws with.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Uploads a scene for the default shadow settings (see `upload_for`).
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn upload(&mut self, scene: &Scene) -> GpuResult<GpuScene> {
        self.upload_for(scene, &ShadowSettings::default())
    }

    /// Uploads a scene with the BVH that these shadow settings need, and captures its probes.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn upload_for(&mut self, scene: &Scene, shadows: &ShadowSettings) -> GpuResult<GpuScene> {
        self.upload_with(scene, shadows, LodGeneration::None)
    }

    /// Uploads a scene with the BVH that these shadow settings need, generates levels of detail for
    /// `CullingSettings`, and captures its probes.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn upload_with(
        &mut self,
        scene: &Scene,
        shadows: &ShadowSettings,
        detail: LodGeneration,
    ) -> GpuResult<GpuScene> {
        let (passes, wanted) = (&self.passes, (shadows.required_bvh(), detail));
        let forward = || passes.forward.any_pipeline();
        let mut on_device =
            GpuScene::new(&self.gpu, scene, wanted, &passes.gbuffer.opaque, &forward)?;
        self.capture_probes(scene, &mut on_device, shadows)?;
        Ok(on_device)
    }

    /// Checks that the device supports images of this size.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] if it does not.
    pub fn check_size(&self, view: &View) -> GpuResult<()> {
        let limit = self.gpu.limits().max_image_dimension2_d;
        if view.width.max(view.height) <= limit && view.width.min(view.height) > 0 {
            return Ok(());
        }
        Err(GpuError::TooLarge {
            what: "the picture".into(),
            requested: format!("{}x{}", view.width, view.height),
            limit: format!("1x1 to {limit}x{limit}"),
            device: self.gpu.info().name.clone(),
            remedy: "choose another --size",
        })
    }

    /// Renders one image and waits for it.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn render(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
    ) -> GpuResult<RenderedImage> {
        let history = self.history.clone();
        let pending = self.submit(scene, view, settings, Readback::ALL)?;
        let picture = self.collect(pending)?;
        if picture.clustered_light_stats.overflowed == 0 {
            return Ok(picture);
        }
        // The light lists overflowed, and their needed capacity is now known. The frame is repeated
        // without advancing the history.
        self.history = history.clone();
        let pending = self.submit(scene, view, settings, Readback::ALL)?;
        let picture = self.collect(pending)?;
        if picture.clustered_light_stats.overflowed == 0 {
            return Ok(picture);
        }
        // The lists exceed the device's limits. Which clusters fit depends on timing, so clustering
        // is switched off.
        self.history = history;
        let off = ClusteredLightSettings { enabled: false, ..settings.clustered_lights };
        let pending = self.submit(
            scene,
            view,
            &RenderSettings { clustered_lights: off, ..settings.clone() },
            Readback::ALL,
        )?;
        self.collect(pending)
    }

    /// Message about a shadow atlas limit in the last frame: reduced map resolution, or lights
    /// without a map. `None` if all maps are as requested.
    #[must_use]
    pub fn shadow_map_limit(&self, requested: &ShadowSettings) -> Option<String> {
        let (_, plan) = self.cached_shadow_maps.as_ref().filter(|_| requested.enabled)?;
        plan.limit(requested.resolution)
    }

    /// Submits a frame; `collect` waits for it. Submitting a second frame before the first is
    /// collected overlaps host and device work.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn submit(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
        wanted: Readback,
    ) -> GpuResult<PendingFrame> {
        self.check_size(view)?;
        self.prepare(settings)?;
        self.passes.skin.prepare(&self.gpu, scene)?;
        self.passes.refit.prepare(&self.gpu, scene)?;
        self.passes.volumes.prepare(&self.gpu, scene, &settings.volumes)?;
        self.passes.caustics.prepare(&self.gpu, scene)?;
        let held =
            |[width, height]: [u32; 2]| self.cache.holds(shadow_maps::ATLAS, width, height, DEPTH);
        let cached_shadow_maps = self
            .cached_shadow_maps
            .take()
            .filter(|(of, plan)| *of == scene.revision && held(plan.atlas))
            .map(|(_, plan)| plan);
        let kept = (self.list_capacity, self.history.exposure, cached_shadow_maps.as_ref());
        let sampling = FrameSampling::new(&self.history, scene, view, settings);
        let data = frame_data(&self.gpu, scene, (view, &sampling), settings, kept)?;
        let after = output_frame_data(&self.gpu, &data, view)?;
        let mut graph = Graph::new(self.history.number);
        // An atlas of another size is recreated.
        let cached_shadow_maps =
            cached_shadow_maps.filter(|kept| kept.atlas == data.shadows.plan.atlas);
        let moved = self.skinned_scene.take() == Some(scene.revision);
        let pictures = (view, &sampling, &after);
        let kept = (cached_shadow_maps.as_ref(), moved);
        let images =
            declare_frame(&mut graph, &self.passes, scene, &data, pictures, settings, kept);
        let display = wanted.display.then(|| graph.read_back("display", images.display));
        let light = wanted.nits.then(|| graph.read_back("light", images.light));
        if !wanted.display {
            graph.output(images.display);
        }
        let aovs = images
            .aovs
            .iter()
            .map(|&(aov, image)| {
                (aov, graph.read_back(aov.name(), image), !matches!(aov, Aov::Channel(_)))
            })
            .collect();
        let report = read_report(
            &mut graph,
            ("clustered lights report", REPORT_WORDS),
            images.clustered_lights.report,
        );
        let culled = images.culled.map(|culled| {
            read_report(&mut graph, ("culling report", culling::REPORT_WORDS), culled.report)
        });
        let ghosts = images.ghosts.map(|ghosts| {
            read_report(&mut graph, ("ghost report", u64::from(GHOST_REPORT_WORDS)), ghosts)
        });
        let refit = scene.bvh.as_ref().and_then(|gpu_bvh| gpu_bvh.refit());
        let refitted = images.refitted.zip(refit).map(|(costs, refit)| {
            let words = ("refit costs", refit.cost_words());
            (read_report(&mut graph, words, costs), refit.costs())
        });
        let mut rec = self.frames.begin()?;
        let executed = graph.execute(&mut rec, &mut self.cache)?;
        let ticket = rec.submit()?;
        // The atlas and the vertices are valid only after the commands are submitted.
        self.cached_shadow_maps = Some((scene.revision, data.shadows.plan.clone()));
        self.skinned_scene = Some(scene.revision);
        self.history.advance(scene, view, settings);
        let on_device = data.culling.as_ref().and(scene.gpu_instances.as_ref());
        let drawn = DrawStats {
            draws: data.visible.draws.len() + on_device.map_or(0, |p| p.runs.len()),
            instances: data.visible.instances.len(),
            frustum_culled: data.visible.culled + on_device.map_or(0, |p| p.count as usize),
            occlusion_culled: 0,
        };
        Ok(PendingFrame {
            ticket,
            executed,
            view: *view,
            settings: settings.clone(),
            display,
            light,
            aovs,
            report,
            histogram: images.histogram,
            draw_stats: drawn,
            culled,
            refitted,
            ghosts,
            limits: images.limits,
            gain: data
                .culling
                .as_ref()
                .filter(|culling| culling.occlusion)
                .and(on_device)
                .map(|p| Arc::clone(&p.gain)),
            light_count: data.values.light_count - data.values.directional_count,
        })
    }

    /// Waits for a frame and reads it back to the host.
    ///
    /// # Errors
    /// [`GpuError`] if the device is lost.
    pub fn collect(&mut self, pending: PendingFrame) -> GpuResult<RenderedImage> {
        self.frames.wait(pending.ticket)?;
        let (width, height) = (pending.view.width as usize, pending.view.height as usize);
        let to_nits = 1.0 / pending.settings.exposure.multiplier();
        let buffer = |handle: BufferHandle| -> GpuResult<Arc<Buffer>> {
            pending.executed.buffer(handle).ok_or_else(|| GpuError::Pipeline {
                pipeline: "frame graph".into(),
                detail: "a readback pass did not run".into(),
            })
        };
        let display = pending
            .display
            .map(&buffer)
            .transpose()?
            .map_or_else(Vec::new, |b| b.mapped().to_vec());
        let nits = match pending.light {
            Some(handle) => decode_half4(buffer(handle)?.mapped(), to_nits)
                .map(|[r, g, b, _]| [r, g, b])
                .collect(),
            None => Vec::new(),
        };
        let mut aovs = Vec::new();
        for &(aov, handle, is_light) in &pending.aovs {
            let bytes = buffer(handle)?;
            let mut pixels: Vec<[f32; 4]> = if aov == Aov::VplClampLoss {
                decode_half4_alpha(bytes.mapped(), to_nits)
            } else if let Aov::Ssr(what) = aov {
                decode_float4(bytes.mapped(), aov, &pending.view)
                    .into_iter()
                    .map(|pixel| what.decode(pixel))
                    .collect()
            } else if aov == Aov::Velocity {
                decode_half2(bytes.mapped()).collect()
            } else if is_light {
                decode_half4(bytes.mapped(), to_nits).collect()
            } else {
                decode_float4(bytes.mapped(), aov, &pending.view)
            };
            // Drivers may return either sign of zero, which differs between runs.
            pixels.iter_mut().flatten().for_each(|value| *value += 0.0);
            aovs.push((aov, pixels));
        }
        let report = buffer(pending.report)?;
        let words: Vec<u32> = report.mapped().chunks_exact(4).map(decode_u32).collect();
        let at = |index: usize| words.get(index).copied().unwrap_or(0);
        let wide = |low: usize, high: usize| u64::from(at(low)) | u64::from(at(high)) << 32;
        let mut drawn = pending.draw_stats;
        if let Some(handle) = pending.culled {
            let words: Vec<usize> = buffer(handle)?
                .mapped()
                .chunks_exact(4)
                .map(|bytes| decode_u32(bytes) as usize)
                .collect();
            let at = |index: usize| words.get(index).copied().unwrap_or(0);
            drawn.instances += at(0);
            drawn.occlusion_culled = at(1);
            drawn.frustum_culled = drawn.frustum_culled.saturating_sub(at(0) + at(1));
            if let Some(gain) = &pending.gain {
                gain.record(at(1), at(0), pending.settings.culling.retry_interval);
            }
        }
        if let Some((handle, costs)) = &pending.refitted {
            let words: Vec<u32> =
                buffer(*handle)?.mapped().chunks_exact(4).map(decode_u32).collect();
            costs.found(&words);
        }
        // Grows the capacity for the next frame, with a quarter of headroom for lights that come
        // into view.
        if at(2) > 0 {
            let needed = u32::try_from(wide(7, 8)).unwrap_or(u32::MAX);
            self.list_capacity = self.list_capacity.max(needed.saturating_add(needed / 4));
        }
        Ok(RenderedImage {
            width,
            height,
            display,
            nits,
            aovs,
            times: self.frames.times(pending.ticket).to_vec(),
            clustered_light_stats: ClusteredLightStats {
                clusters: at(4),
                lights: pending.light_count,
                evaluated: wide(0, 6),
                max_per_cluster: at(1),
                overflowed: at(2),
                required_capacity: wide(7, 8),
                max_culled_contribution: f32::from_bits(at(5)),
            },
            histogram: match pending.histogram {
                Some(handle) => Some(LuminanceHistogram::from_bytes(buffer(handle)?.mapped())),
                None => None,
            },
            draw_stats: drawn,
            ghosts: match pending.ghosts {
                Some(handle) => {
                    let words: Vec<u32> =
                        buffer(handle)?.mapped().chunks_exact(4).map(decode_u32).collect();
                    Some(GhostReport::from_words(&words))
                }
                None => None,
            },
            limits: pending.limits.read(|handle| Ok(buffer(handle)?.mapped().to_vec()))?,
            exposure: pending.settings.exposure,
        })
    }

    /// Creates the pipelines that these settings need.
    fn prepare(&self, settings: &RenderSettings) -> GpuResult<()> {
        let (lens, ghosts) = (settings.lens.as_ref(), settings.ghosts.as_ref());
        self.passes.effects.prepare(&self.gpu, &settings.effects, lens, ghosts)?;
        let method = settings.anti_aliasing;
        if settings.ssr.enabled && self.passes.ssr.get().is_none() {
            // Another thread may have set it first; its pass is equivalent.
            let _ = self.passes.ssr.set(SsrPass::new(&self.gpu)?);
        }
        if settings.gi.enabled && self.passes.gi.get().is_none() {
            let _ = self.passes.gi.set(GiPass::new(&self.gpu)?);
        }
        self.passes.anti_aliasing.prepare(
            &self.gpu,
            method == AntiAliasing::Morphological,
            matches!(method, AntiAliasing::Temporal(_)),
            settings.aovs.contains(&Aov::Velocity) || settings.ssr.enabled || settings.gi.enabled,
        )
    }

    /// Resets the temporal histories, for a cut to an unrelated view.
    pub fn reset_history(&mut self) {
        self.history.reset();
    }

    /// Plans a frame without running it, for `sunny16 graph`.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted.
    pub fn plan(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
    ) -> GpuResult<Prepared> {
        self.prepare(settings)?;
        self.passes.skin.prepare(&self.gpu, scene)?;
        self.passes.refit.prepare(&self.gpu, scene)?;
        self.passes.volumes.prepare(&self.gpu, scene, &settings.volumes)?;
        self.passes.caustics.prepare(&self.gpu, scene)?;
        let kept = (self.list_capacity, self.history.exposure, None);
        let sampling = FrameSampling::new(&self.history, scene, view, settings);
        let data = frame_data(&self.gpu, scene, (view, &sampling), settings, kept)?;
        let after = output_frame_data(&self.gpu, &data, view)?;
        // Planning may recreate the persistent images.
        self.cached_shadow_maps = None;
        let mut graph = Graph::new(self.history.number);
        let pictures = (view, &sampling, &after);
        let images = declare_frame(
            &mut graph,
            &self.passes,
            scene,
            &data,
            pictures,
            settings,
            (None, false),
        );
        graph.output(images.display);
        for (_, image) in images.aovs {
            graph.output(image);
        }
        graph.prepare(&self.gpu, &mut self.cache)
    }
}

/// Declares the readback of a report of `words` 32-bit words.
fn read_report(
    graph: &mut Graph<'_>,
    (name, words): (&str, u64),
    report: BufferHandle,
) -> BufferHandle {
    use crate::graph::Access;
    let out = graph.readback(&format!("{name} on the host"), words * 4);
    graph
        .pass(&format!("read back {name}"))
        .uses(report, Access::CopyFrom)
        .uses(out, Access::CopyTo)
        .record(move |cx| {
            let (from, to) = (cx.buffer(report), cx.buffer(out));
            cx.rec.copy_buffer(&from, &to, 0, 0, words * 4);
            Ok(())
        });
    out
}

fn frame_data(
    gpu: &Gpu,
    scene: &GpuScene,
    (whole, sampling): (&View, &FrameSampling),
    settings: &RenderSettings,
    (list_capacity, last_exposure, cached_shadow_maps): (
        u32,
        Option<Exposure>,
        Option<&ShadowAtlasPlan>,
    ),
) -> GpuResult<FrameData> {
    let view = &sampling.input;
    // Dynamic instances are drawn a second time for their velocity, by host draws. Probes do not
    // see the surfaces of lights.
    let stands =
        settings.shutter.is_none() && sampling.motion.iter().all(|moment| moment.posed.is_none());
    let culling = if stands && !settings.capture {
        FrameCulling::new(gpu, scene, view, &settings.culling)?
    } else {
        None
    };
    let detail = settings.culling.lod_selection(view);
    let visible = Arc::new(scene.visible(view, detail, (!settings.capture, culling.is_some())));
    let mut lights = scene.lights_for(view);
    let resolution = settings.shadows.resolution;
    let maps = match settings.shadows.required_bvh() {
        _ if !settings.shadows.enabled => None,
        RayTracedLights::All => None,
        RayTracedLights::Sized => {
            Some(ShadowMapSettings { resolution, area_suns: !scene.traces_shadows() })
        }
        RayTracedLights::None => Some(ShadowMapSettings { resolution, area_suns: true }),
    };
    // Without jitter, so that shadow maps stay cached while the view is static.
    let shadows = FrameShadows::new(gpu, scene, whole, maps, &mut lights, cached_shadow_maps)?;
    let directional_count = scene.directional_count();
    let local_light_count = lights.len() as u32 - directional_count;
    let nodes = scene.nodes_for(view);
    let tiles = [view.width.div_ceil(TILE), view.height.div_ceil(TILE)];
    let lists = settings.clustered_lights;
    let mut values = FrameConstants {
        view_projection: view.view_projection,
        inverse_projection: view.inverse,
        forward: view.forward.extend(if view.parallel { 1.0 } else { 0.0 }),
        size: [view.width, view.height],
        tiles,
        pre_exposure: settings.exposure.multiplier() as f32,
        directional_count,
        light_count: lights.len() as u32,
        list_capacity: if lists.enabled && lists.cull_threshold > 0.0 {
            clustered_lights::first_capacity(tiles[0] * tiles[1], local_light_count)
                .max(list_capacity)
                .min(MAX_LIST_CAPACITY)
                .min(gpu.limits().max_storage_buffer_range / 4)
        } else {
            1
        },
        cull_threshold: if lists.enabled { lists.cull_threshold } else { 0.0 },
        node_count: nodes.len() as u32,
        shadow_method: match settings.shadows.method {
            _ if !settings.shadows.enabled => SHADOWS_OFF,
            ShadowMethod::Auto | ShadowMethod::Maps => SHADOWS_MAPS,
            ShadowMethod::Traced => SHADOWS_RAY_TRACED,
        },
        shadow_samples: settings.shadows.samples,
        // Clamped to the range of `f32`, for exposure steps of any size.
        history_scale: settings
            .exposure
            .rescale_from(last_exposure.unwrap_or(settings.exposure))
            .clamp(1e-37, 1e37) as f32,
        smoothed_exposure_scale: sampling.smoothed_exposure.rescale_from(settings.exposure) as f32,
        texture_scale: sampling.texture_scale,
        noise_shift: sampling.noise_shift,
        multi_scatter: u32::from(scene.multiscatter),
        bits: frame_flags(scene, settings, visible.draws.iter().any(forward::is_forward)),
        probe_count: scene.probes.len() as u32,
        water_count: scene.waters.len() as u32,
        ..FrameConstants::default()
    };
    for (number, water) in scene.waters.iter().enumerate() {
        water.fill(number, view.position, &mut values);
    }
    let eye_bvh = LazyFrameBvh::new(gpu, scene, view.position);
    let traced = match settings.shadows.required_bvh() {
        RayTracedLights::All => eye_bvh.get()?,
        RayTracedLights::Sized if scene.traces_shadows() => eye_bvh.get()?,
        _ => None,
    };
    let refracts = settings.refraction == RefractionMethod::Traced
        && visible.draws.iter().any(|draw| draw.refracts);
    let through = if refracts { eye_bvh.get()? } else { None };
    let flares = settings.effects.starburst.is_some() || settings.ghosts.is_some();
    let flare = if flares && !view.parallel && scene.bvh.is_some() { eye_bvh.get()? } else { None };
    let caustics =
        FrameCaustics::new(gpu, scene, &eye_bvh, settings.caustics, (&mut lights, &mut values))?;
    let single = settings.sample.is_none()
        && settings.accumulated_frames.is_none()
        && !matches!(settings.anti_aliasing, AntiAliasing::Temporal(_));
    let gi = FrameGi::new(
        gpu,
        scene,
        (view, &sampling.motion, &eye_bvh),
        &settings.gi,
        (&sampling.gi, sampling.previous_gi, [settings.ssr.enabled, single]),
    )?;
    let apart = gi.as_ref().is_some_and(FrameGi::traces_sky);
    if apart {
        values.bits |= FRAME_GI_DIFFUSE;
    }
    if gi.as_ref().is_some_and(FrameGi::traces_reflections) {
        values.bits |= FRAME_GI_SPECULAR;
    }
    if gi.is_some() {
        values.bits &= !FRAME_MULTI_BOUNCE_AO;
    }
    let found_by_rays = values.bits & FRAME_GI_SPECULAR != 0;
    let forward = values.bits & FRAME_FORWARD != 0;
    let apart_from_light = scene.has_environment || scene.has_emitters || found_by_rays || forward;
    let bvh = eye_bvh.made();
    let volumes = FrameVolumes::new(gpu, &scene.volumes, view.position, &settings.volumes)?;
    Ok(FrameData {
        constants: dynamic_buffer(gpu, "frame constants", &[values])?,
        instances: dynamic_buffer(gpu, "instances", &visible.instances)?,
        sorted: dynamic_buffer(gpu, "sorted indices", &visible.sorted)?,
        lights: dynamic_buffer(gpu, "lights", &lights)?,
        ltc: Arc::clone(&scene.ltc),
        features: features_of(scene, &lights, &volumes, bvh.as_ref()),
        nodes: dynamic_buffer(gpu, "light tree", &nodes)?,
        shadows,
        caustics,
        volumes,
        shadow_bvh: traced,
        refraction_bvh: through,
        flare_bvh: flare,
        bvh,
        camera: view.position,
        profiles: Arc::clone(&scene.profiles),
        environment: Arc::clone(&scene.environment),
        probes: dynamic_buffer(gpu, "probes", &probes_for(scene, view.position))?,
        has_environment: scene.has_environment,
        has_background: scene.has_background,
        culling,
        ssr: FrameSsr::new(
            gpu,
            (view, &sampling.motion),
            &settings.ssr,
            &sampling.ssr,
            apart_from_light,
        )?,
        gi,
        visible,
        values,
    })
}

/// Frame data at output resolution, for passes after anti-aliasing: pixels sampled at their
/// centers.
fn output_frame_data(gpu: &Gpu, data: &FrameData, view: &View) -> GpuResult<FrameData> {
    let values = FrameConstants {
        view_projection: view.view_projection,
        inverse_projection: view.inverse,
        size: [view.width, view.height],
        ..data.values
    };
    let constants = if values == data.values {
        Arc::clone(&data.constants)
    } else {
        dynamic_buffer(gpu, "picture constants", &[values])?
    };
    Ok(FrameData { constants, values, ..data.clone() })
}

/// Features that shaders are specialized for, as `FEATURE_` bits. `lights`: all lights of the frame.
fn features_of(
    scene: &GpuScene,
    lights: &[Light],
    volumes: &FrameVolumes,
    bvh: Option<&FrameBvh>,
) -> u32 {
    let is_sun_disk =
        |light: &Light| light.kind & LIGHT_KIND_BITS == LIGHT_DIRECTIONAL && light.half_width > 0.0;
    [
        (!scene.waters.is_empty(), FEATURE_WATER),
        (lights.iter().any(|light| light.profile != NONE), FEATURE_IES_PROFILES),
        (lights.iter().any(|light| light.shadow != NONE), FEATURE_SHADOW_MAPS),
        (volumes.any, FEATURE_VOLUMES),
        (scene.has_environment, FEATURE_ENVIRONMENT),
        (!scene.probes.is_empty(), FEATURE_PROBES),
        (lights.iter().any(is_sun_disk), FEATURE_SUN_DISKS),
        (scene.has_area_lights(), FEATURE_AREA_LIGHTS),
        (bvh.is_some_and(FrameBvh::masked), FEATURE_ALPHA_MASKS),
    ]
    .into_iter()
    .filter(|(on, _)| *on)
    .fold(0, |bits, (_, bit)| bits | bit)
}

fn frame_flags(scene: &GpuScene, settings: &RenderSettings, forward: bool) -> u32 {
    let measured = settings.ao.enabled && scene.has_environment;
    [
        (measured, FRAME_AO),
        (measured && settings.ao.multi_bounce, FRAME_MULTI_BOUNCE_AO),
        (settings.capture, FRAME_PROBE_CAPTURE),
        (settings.metered, FRAME_METERING),
        (forward, FRAME_FORWARD),
        (settings.ssr.enabled, FRAME_SSR),
    ]
    .into_iter()
    .filter(|(on, _)| *on)
    .fold(0, |bits, (_, bit)| bits | bit)
}

fn decode_u32(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

/// RGBA half-float pixels; color is multiplied by `scale`.
fn decode_half4(bytes: &[u8], scale: f64) -> impl Iterator<Item = [f32; 4]> + '_ {
    debug_assert_eq!(LIGHT, vk::Format::R16G16B16A16_SFLOAT);
    bytes.chunks_exact(8).map(move |pixel| {
        let mut out = [0f32; 4];
        for (index, (out, half)) in out.iter_mut().zip(pixel.chunks_exact(2)).enumerate() {
            // Additive blending may overflow to infinity, which is clamped to the greatest half
            // float.
            let value = half::f16::from_le_bytes(half.try_into().unwrap_or_default()).to_f64();
            let value = value.clamp(half::f16::MIN.to_f64(), half::f16::MAX.to_f64());
            // The alpha of emission also encodes `FORWARD_MARK`, which is above 1.
            *out = if index < 3 { (value * scale) as f32 } else { value.min(1.0) as f32 };
        }
        out
    })
}

/// The alpha channel of half-float pixels, multiplied by `scale`, as gray.
fn decode_half4_alpha(bytes: &[u8], scale: f64) -> Vec<[f32; 4]> {
    let alpha = |pixel: &[u8]| half::f16::from_le_bytes([pixel[6], pixel[7]]).to_f64();
    bytes
        .chunks_exact(8)
        .map(|pixel| [(alpha(pixel) * scale) as f32; 3])
        .map(|[r, g, b]| [r, g, b, 1.0])
        .collect()
}

/// Pairs of half floats as red and green.
fn decode_half2(bytes: &[u8]) -> impl Iterator<Item = [f32; 4]> + '_ {
    let value =
        |bytes: &[u8]| half::f16::from_le_bytes(bytes.try_into().unwrap_or_default()).to_f32();
    bytes.chunks_exact(4).map(move |pixel| [value(&pixel[..2]), value(&pixel[2..]), 0.0, 1.0])
}

fn decode_float4(bytes: &[u8], aov: Aov, view: &View) -> Vec<[f32; 4]> {
    let mut pixels: Vec<[f32; 4]> = vec![[0.0; 4]; bytes.len() / 16];
    bytemuck::cast_slice_mut::<_, u8>(&mut pixels).copy_from_slice(&bytes[..bytes.len() / 16 * 16]);
    if aov == Aov::Channel(GbufferChannel::Position) {
        // The device works in camera-relative coordinates; outputs are in world space.
        let camera = view.position.as_vec3().extend(0.0);
        for pixel in pixels.iter_mut().filter(|pixel| pixel[3] > 0.0) {
            *pixel = (Vec4::from_array(*pixel) + camera).to_array();
        }
    }
    pixels
}
