//! The whole frame: which passes make a picture, in reading order; and the renderer that runs it.

pub mod anti_aliasing;
pub mod incident;
pub mod limits;
mod probes;

use std::sync::Arc;

use glam::{Mat3, Vec4};

pub use self::anti_aliasing::{AntiAliasing, Sample, Temporal};
use self::{
    anti_aliasing::{HistoryState, Sampling},
    limits::{EffectLimits, LimitReports},
};

use crate::{
    camera::{Effects, Exposure, ToneMapper},
    gpu::{Buffer, Frames, Gpu, GpuError, GpuResult, PassTime, commands::Ticket, vk},
    graph::{BufferHandle, Executed, Graph, GraphCache, ImageHandle, Prepared},
    optics::{Mounted, ghosts::LensGhosts},
    passes::{
        FrameData, GpuScene, LightWay, Passes, View,
        anti_aliasing::Method,
        caustics::{CausticSettings, FrameCaustics},
        culling::{self, Culled, CullingSettings, FrameCulling},
        dynamic_buffer,
        exposure_histogram::PixelCounts,
        gbuffer::{DEPTH, Gbuffer, LIGHT},
        gi::{Bounced, FrameGi, GiPass},
        layered,
        lens_ghosts::{self, GhostReport},
        light_lists::{self, LightLists, REPORT_WORDS, TILE},
        lighting::{LightingInputs, Lit},
        probes::probes_for,
        ray_query,
        refit::Costs,
        resolve::Channel,
        scene_data::{HiddenGain, LevelsFor, Posed},
        shadow_maps::{self, FrameShadows, MapPlan, MapSettings},
        shared::{self, FrameConstants},
        ssr::{self, FrameSsr, SsrInputs, SsrPass},
        taa::Resolved,
        tonemap::ToDisplay,
        traced::{EyeTrees, TreesFor},
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

/// One more output beside the picture, for `--aov`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aov {
    /// A channel of the G-buffer.
    Channel(Channel),
    /// Emitted luminance in nits.
    Emission,
    /// Luminance (nits by channel) of diffusely reflected light that came straight from a light or the environment.
    DirectDiffuse,
    /// The same, specularly.
    DirectSpecular,
    /// Luminance (nits by channel) of diffusely reflected light that came from other surfaces (`gi.enabled`).
    IndirectDiffuse,
    /// The same, specularly.
    IndirectSpecular,
    /// What a white surface lacks of it by the bound on near patches, before short rays bring it back.
    IndirectBound,
    /// Pixels right and down that what is seen has moved since the last frame of this scene and size: nothing in a first one.
    Velocity,
    /// What is known of reflections in the picture (docs/reflections.md); nothing where they are off.
    Reflection(ReflectionAov),
}

/// What is known of reflections in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReflectionAov {
    /// Shares of a pixel's rays that found a surface, that found the surroundings, and that found nothing.
    Hit,
    /// Length of the rays (m), at most 10^6, which is beyond all surfaces; 0 where nothing was found.
    Distance,
    /// Pixels right and down that the reflection has moved since the last frame, and by what that was found: 1 the
    /// surface's motion, 2 the mirror image's.
    Motion,
    /// Frames in the history, this one included.
    History,
    /// Why the history was not used: 0 it was, 1 nothing reflects here, 2 there was none, 3 it was outside of the picture, 4
    /// another surface was there, 5 turned another way, 6 the reflection lay nearer or farther, 7 what is reflected moved in
    /// another way.
    Rejection,
}

impl ReflectionAov {
    /// Which of `Reflected::debug` has it.
    const fn image(self) -> usize {
        match self {
            Self::Hit | Self::Distance | Self::Rejection => 0,
            Self::Motion | Self::History => 1,
        }
    }

    /// Of a pixel of that image.
    fn of(self, [a, b, c, d]: [f32; 4]) -> [f32; 4] {
        match self {
            Self::Hit => [a, b, if d == 1.0 { 0.0 } else { (1.0 - a - b).clamp(0.0, 1.0) }, 1.0],
            Self::Distance | Self::History => [c, c, c, 1.0],
            Self::Rejection => [d, d, d, 1.0],
            Self::Motion => [a, b, d, 1.0],
        }
    }
}

impl Aov {
    /// All, by the name used on the command line and for EXR layers.
    pub const ALL: [(&'static str, Self); 21] = [
        ("base_color", Self::Channel(Channel::BaseColor)),
        ("metallic", Self::Channel(Channel::Metallic)),
        ("roughness", Self::Channel(Channel::Roughness)),
        ("normal", Self::Channel(Channel::Normal)),
        ("depth", Self::Channel(Channel::Depth)),
        ("occlusion", Self::Channel(Channel::Occlusion)),
        ("position", Self::Channel(Channel::Position)),
        ("ambient_occlusion", Self::Channel(Channel::AmbientOcclusion)),
        ("bent_normal", Self::Channel(Channel::BentNormal)),
        ("emission", Self::Emission),
        ("direct_diffuse", Self::DirectDiffuse),
        ("direct_specular", Self::DirectSpecular),
        ("indirect_diffuse", Self::IndirectDiffuse),
        ("indirect_specular", Self::IndirectSpecular),
        ("indirect_bound", Self::IndirectBound),
        ("velocity", Self::Velocity),
        ("reflection_hit", Self::Reflection(ReflectionAov::Hit)),
        ("reflection_distance", Self::Reflection(ReflectionAov::Distance)),
        ("reflection_motion", Self::Reflection(ReflectionAov::Motion)),
        ("reflection_history", Self::Reflection(ReflectionAov::History)),
        ("reflection_rejection", Self::Reflection(ReflectionAov::Rejection)),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, aov)| *aov == self).map_or("", |(name, _)| name)
    }
}

/// Which lamps may be left out (docs/light-lists.md).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightListSettings {
    /// Off: every pixel evaluates every lamp.
    pub enabled: bool,
    /// All that left-out lamps could add to a pixel, together, stays below this fraction of white under the current
    /// exposure; 0 leaves none out.
    pub cull_bound: f32,
}

impl Default for LightListSettings {
    fn default() -> Self {
        Self { enabled: true, cull_bound: 1.0 / 1024.0 }
    }
}

/// How shadows are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadowSettings {
    /// Off: all light reaches everything.
    pub enabled: bool,
    /// By maps or by rays.
    pub method: ShadowMethod,
    /// Rays to a light with a surface.
    pub samples: u32,
    /// Texels across a sun's cascade or a spot's map; faces of points have half of it.
    pub resolution: u32,
}

impl Default for ShadowSettings {
    fn default() -> Self {
        Self { enabled: true, method: ShadowMethod::default(), samples: 16, resolution: 2048 }
    }
}

impl ShadowSettings {
    /// Which lights need trees for their rays.
    #[must_use]
    pub fn trees(&self) -> TreesFor {
        match self.method {
            ShadowMethod::Traced if self.enabled => TreesFor::All,
            ShadowMethod::Auto if self.enabled => TreesFor::Sized,
            _ => TreesFor::None,
        }
    }
}

/// What a picture is rendered with.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The camera's exposure; it is the pre-exposure of all buffers too.
    pub exposure: Exposure,
    /// To the display.
    pub tone_mapper: ToneMapper,
    /// On exposed linear Rec.709, before the tone mapper; the light that is read back is as the scene sent it
    /// (docs/white-balance.md).
    pub white_balance: Mat3,
    /// Dithers the display's eight bits.
    pub dither: bool,
    /// Counts pixels by luminance, for automatic exposure.
    pub histogram: bool,
    /// Puts the mean of this frame and the ones before it in this frame's place; the number is how many frames the
    /// mean already holds, 0 to start anew. For a view that stands still.
    pub accumulate: Option<u32>,
    /// Light lists.
    pub light_lists: LightListSettings,
    /// Shadows.
    pub shadows: ShadowSettings,
    /// What is not drawn, and how coarsely the rest.
    pub culling: CullingSettings,
    /// How edges are made smooth.
    pub anti_aliasing: AntiAliasing,
    /// This frame is one of those whose mean is the picture: where in its pixels it samples.
    pub sample: Option<Sample>,
    /// What hides light from all around.
    pub ao: AoSettings,
    /// Bounced light.
    pub gi: GiSettings,
    /// Reflections in the picture.
    pub ssr: SsrSettings,
    /// How participating volumes are drawn.
    pub volumes: VolumeSettings,
    /// How what lies behind refracting surfaces is found.
    pub refraction: RefractionMethod,
    /// What waters gather and scatter of a sun's light.
    pub caustics: CausticSettings,
    /// What the camera does to the picture; the picture in nits has them too, further outputs do not.
    pub effects: Effects,
    /// The lens of a prescription, whose pinhole (`Mounted::pinhole`) the view is; it bends the picture after the effects that
    /// light meets before it.
    pub lens: Option<Arc<Mounted>>,
    /// Reflections of bright sources within the lens.
    pub ghosts: Option<LensGhosts>,
    /// Where things are when the shutter opens and when it closes (`GpuScene::posed`); none: they stand still.
    pub shutter: Option<[Arc<Posed>; 2]>,
    /// Number of the picture in its sequence: grain differs by it.
    pub frame_number: u32,
    /// Leaves out lamps' bodies and suns' disks: a probe's picture, for lights light surfaces by themselves.
    pub capture: bool,
    /// Shows unlit surfaces black: a meter's picture, for they look the same at any exposure.
    pub metered: bool,
    /// Outputs beside the picture.
    pub aovs: Vec<Aov>,
}

/// The images that a frame's declaration ends in.
struct FrameImages {
    light: ImageHandle,
    display: ImageHandle,
    aovs: Vec<(Aov, ImageHandle)>,
    lists: LightLists,
    histogram: Option<BufferHandle>,
    culled: Option<Culled>,
    /// What the refitted trees cost.
    refitted: Option<BufferHandle>,
    /// What was drawn of reflections within the lens.
    ghosts: Option<BufferHandle>,
    limits: LimitReports,
}

/// One frame. `data` is of the pixels that are rendered, `after` of those of the picture. Each line is a pass or an effect: geometry to the G-buffer, which lamps matter where, their light, what is
/// blended over it; then the camera in the order in which light passes it; and the way to the display. Passes whose result
/// nothing uses are not run, effects that are off are not declared.
fn frame<'a>(
    g: &mut Graph<'a>,
    passes: &'a Passes,
    scene: &'a GpuScene,
    data: &'a FrameData,
    (view, sampling, after): (&View, &Sampling, &'a FrameData),
    settings: &Settings,
    (kept_maps, moved): (Option<&MapPlan>, bool),
) -> FrameImages {
    let split = settings.aovs.iter().any(|aov| !matches!(aov, Aov::Channel(_) | Aov::Velocity | Aov::Reflection(_)));
    let vertices = passes.skin.declare(g, scene, moved);
    let refitted = passes.refit.declare(g, scene, vertices, moved);
    let trees = ray_query::declare(g, scene, data.trees.as_ref(), refitted);
    let culled = passes.culling.declare(g, scene, data, vertices);
    let gbuffer = passes.gbuffer.declare(g, scene, data, (culled, vertices));
    let lists = passes.light_lists.declare(g, scene, data, gbuffer);
    let atlas = passes.shadow_maps.declare(g, scene, data, kept_maps, vertices);
    let open = measures_ao(settings, data.has_environment).then(|| passes.ao.declare(g, data, gbuffer, &settings.ao));
    let caustics = passes.caustics.declare(g, scene, data, trees);
    let way = LightWay { atlas, trees, caustics };
    let inputs = LightingInputs { gbuffer, lists, way, open };
    let lit = passes.lighting.declare(g, scene, data, inputs, split);
    passes.layered.declare(g, scene, data, inputs, lit);
    passes.background.declare(g, data, gbuffer, lit);
    let velocity = (data.ssr.is_some() || data.gi.is_some())
        .then(|| passes.anti_aliasing.velocity(g, (scene, data, &passes.skin), gbuffer.depth, &sampling.motion));
    let bounced = match (&data.gi, velocity, passes.gi.get()) {
        (Some(gi), Some(velocity), Some(pass)) => {
            Some(pass.declare(g, (scene, data, gi), (gbuffer, open, lit, velocity), (trees, split)))
        }
        _ => None,
    };
    let watched = settings.aovs.iter().any(|aov| matches!(aov, Aov::Reflection(_)));
    let reflections = match (&data.ssr, velocity, passes.ssr.get()) {
        (Some(ssr), Some(velocity), Some(pass)) => {
            let traced = bounced.map(|bounced| bounced.reflected);
            let inputs = SsrInputs { gbuffer, light: lit.light, open, traced, velocity };
            let followed = matches!(sampling.method(), Method::Temporal(..));
            Some(pass.declare(g, (scene, data, ssr), inputs, (watched, followed)))
        }
        _ => None,
    };
    let lit = Lit { light: reflections.map_or(lit.light, |r| r.light), ..lit };
    let veil = passes.volumes.declare(g, (scene, data), (gbuffer, lit), (atlas, trees));
    let lit = Lit { light: veil.map_or(lit.light, |veil| veil.light), ..lit };
    let behind = passes.refraction.declare(g, scene, data, gbuffer, lit);
    passes.blend.declare(g, (scene, data), (gbuffer, lit), way, (&passes.layered, behind), veil);
    let (size, camera, effects) = (after.values.size, &passes.effects, &settings.effects);
    let Resolved { light, depth } = passes.anti_aliasing.declare(
        g,
        (scene, data, &passes.skin),
        (gbuffer.depth, reflections.map(|r| r.velocity)),
        lit.light,
        sampling.method(),
    );
    let sharp = light;
    let (light, circles) = camera.depth_of_field(g, after, depth, light, effects);
    let seen = (scene, [data, after], &passes.skin);
    let depths = [gbuffer.depth, depth];
    let (light, blurs) = camera.motion_blur(g, seen, (view, depths), light, effects, settings.shutter.as_ref());
    let light = match settings.accumulate {
        Some(frames) => passes.accumulate.declare(g, after, light, frames),
        None => light,
    };
    // Of what the scene sends, before depth of field spreads it, unless frames are gathered.
    let counted = if settings.accumulate.is_some() { light } else { sharp };
    let histogram = settings.histogram.then(|| passes.exposure_histogram.declare(g, size, counted));
    let flares = effects.starburst.is_some() || settings.ghosts.is_some();
    let bright = camera.bright_sources(g, after, (depth, light), trees, flares);
    let light = camera.starburst(g, after, (depth, light), bright, effects);
    let light = camera.bloom(g, size, light, effects);
    let light = camera.lens_image(g, size, light, settings.lens.as_deref().is_some_and(Mounted::has_faults));
    let light = camera.chromatic_aberration(g, size, light, effects);
    let light = camera.vignetting(g, size, light, effects);
    let (light, ghosts) = camera.ghosts(g, (size, light), bright, settings.ghosts.as_ref());
    let light = camera.grain(g, size, light, effects, settings.frame_number);
    let to_display =
        ToDisplay { mapper: settings.tone_mapper, white_balance: settings.white_balance, dither: settings.dither };
    let display = passes.tonemap.declare(g, size, light, to_display);
    let aovs = settings
        .aovs
        .iter()
        .map(|&aov| {
            let image = match aov {
                Aov::Velocity if velocity.is_some() => velocity,
                Aov::Reflection(what) => reflections.and_then(|r| r.debug).map(|debug| debug[what.image()]),
                _ => None,
            };
            let make = |g| declare_aov(g, passes, (scene, data, sampling), (gbuffer, open), (lit.split, bounced), aov);
            (aov, image.unwrap_or_else(|| make(g)))
        })
        .collect();
    let refitted = refitted.and_then(|trees| trees.costs);
    let limits = LimitReports::declare(g, blurs, circles, bright.filter(|_| effects.starburst.is_some()));
    FrameImages { light, display, aovs, lists, histogram, culled, refitted, ghosts, limits }
}

/// Whether the passes that measure ambient occlusion run: for light, or because someone wants to see it.
fn measures_ao(settings: &Settings, has_environment: bool) -> bool {
    let wanted = |aov: &Aov| matches!(aov, Aov::Channel(channel) if channel.measured());
    settings.ao.enabled && has_environment || settings.aovs.iter().any(wanted)
}

fn declare_aov<'a>(
    g: &mut Graph<'a>,
    passes: &'a Passes,
    (scene, data, sampling): (&'a GpuScene, &'a FrameData, &Sampling),
    (gbuffer, open): (Gbuffer, Option<ImageHandle>),
    (split, bounced): (Option<(ImageHandle, ImageHandle)>, Option<Bounced>),
    aov: Aov,
) -> ImageHandle {
    let nothing = |g: &mut Graph<'a>| {
        let [width, height] = data.values.size;
        let image = g.image("no bounced light", width, height, LIGHT);
        g.pass("no bounced light").color_cleared(image, [0.0; 4]).record(|_| Ok(()));
        image
    };
    let parts = bounced.and_then(|bounced| bounced.split);
    match (aov, split) {
        (Aov::IndirectDiffuse, _) => parts.map_or_else(|| nothing(g), |(diffuse, _)| diffuse),
        (Aov::IndirectSpecular, _) => parts.map_or_else(|| nothing(g), |(_, specular)| specular),
        (Aov::IndirectBound, _) => bounced.map_or_else(|| nothing(g), |bounced| bounced.raw),
        (Aov::Velocity, _) => {
            passes.anti_aliasing.velocity(g, (scene, data, &passes.skin), gbuffer.depth, &sampling.motion)
        }
        (Aov::Reflection(_), _) => ssr::nothing(g, data.values.size),
        (Aov::Channel(channel), _) => passes.resolve.declare(g, data, (gbuffer, open), channel),
        (Aov::DirectDiffuse, Some((diffuse, _))) => diffuse,
        (Aov::DirectSpecular, Some((_, specular))) => specular,
        (Aov::Emission | Aov::DirectDiffuse | Aov::DirectSpecular, _) => gbuffer.emission,
    }
}

/// What the lists made pixels evaluate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LightListReport {
    /// Clusters of pixels that have a list.
    pub clusters: u32,
    /// Lamps (directional lights not counted).
    pub lamps: u32,
    /// Lamps in sum over clusters.
    pub evaluated: u64,
    /// Lamps of the cluster that has most.
    pub most: u32,
    /// Clusters whose list found no room and which evaluate all lamps.
    pub overflowed: u32,
    /// Room that all lists together take (entries).
    pub needed: u64,
    /// Greatest bound on what left-out lamps add in any cluster, of white.
    pub greatest_dropped: f32,
}

/// What a picture was drawn of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Draw calls.
    pub draws: usize,
    /// Meshes in their places that were drawn.
    pub instances: usize,
    /// Those that were not, being outside of the view.
    pub outside: usize,
    /// Those that were not, being behind others; which ones are known to be depends on the frames before.
    pub hidden: usize,
}

/// A finished picture on the host.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// Display bytes: red, green, blue, alpha; top row first.
    pub display: Vec<u8>,
    /// Scene-linear Rec.709 in nits; top row first.
    pub nits: Vec<[f32; 3]>,
    /// Further outputs in the order asked for; alpha is 1 where there is a surface.
    pub aovs: Vec<(Aov, Vec<[f32; 4]>)>,
    /// Time of each pass.
    pub times: Vec<PassTime>,
    /// What the light lists did.
    pub lists: LightListReport,
    /// Pixels by luminance, where the settings ask for them.
    pub histogram: Option<PixelCounts>,
    /// What was drawn and what was not.
    pub drawn: Drawn,
    /// What was drawn of reflections within the lens, where the settings ask for them.
    pub ghosts: Option<GhostReport>,
    /// Limits of the camera's effects that acted on it.
    pub limits: EffectLimits,
    /// The exposure it was made with.
    pub exposure: Exposure,
}

/// A frame on its way.
pub struct Pending {
    ticket: Ticket,
    executed: Executed,
    view: View,
    settings: Settings,
    display: Option<BufferHandle>,
    light: Option<BufferHandle>,
    aovs: Vec<(Aov, BufferHandle, bool)>,
    report: BufferHandle,
    histogram: Option<BufferHandle>,
    drawn: Drawn,
    culled: Option<BufferHandle>,
    refitted: Option<(BufferHandle, Costs)>,
    ghosts: Option<BufferHandle>,
    limits: LimitReports,
    gain: Option<Arc<HiddenGain>>,
    lamps: u32,
}

/// Which of a picture's parts are brought back to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The display bytes.
    pub display: bool,
    /// The light in nits.
    pub nits: bool,
}

impl Wanted {
    /// Both.
    pub const ALL: Self = Self { display: true, nits: true };
}

/// Frames in flight: the host records one while the device works on the other.
const FRAMES_IN_FLIGHT: usize = 2;

/// Room for light lists beyond which clusters evaluate all lamps instead (entries; 256 MiB).
const MAX_LIST_CAPACITY: u32 = 64 << 20;

/// Renders pictures of scenes.
pub struct Renderer {
    passes: Passes,
    cache: GraphCache,
    frames: Frames,
    /// Where the histories stand.
    history: HistoryState,
    /// Room that an earlier frame's lists were found to take.
    list_capacity: u32,
    /// Which maps of which scene the shadow atlas holds.
    kept_maps: Option<(u64, MapPlan)>,
    /// The pose whose vertices the device has.
    moved: Option<u64>,
    gpu: Gpu,
}

impl Renderer {
    /// A renderer on this device.
    ///
    /// # Errors
    /// A pipeline that the driver refuses; out of memory.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let passes = Passes::new(gpu)?;
        gpu.save_pipeline_cache();
        Ok(Self {
            passes,
            cache: GraphCache::default(),
            frames: Frames::new(gpu, FRAMES_IN_FLIGHT)?,
            history: HistoryState::default(),
            list_capacity: 0,
            kept_maps: None,
            moved: None,
            gpu: gpu.clone(),
        })
    }

    /// The device.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Uploads a scene with what shadows by default need (`upload_for`).
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn upload(&mut self, scene: &Scene) -> GpuResult<GpuScene> {
        self.upload_for(scene, &ShadowSettings::default())
    }

    /// Uploads a scene with what these shadows need: trees over its triangles, if they are traced; and captures its probes.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn upload_for(&mut self, scene: &Scene, shadows: &ShadowSettings) -> GpuResult<GpuScene> {
        self.upload_with(scene, shadows, LevelsFor::None)
    }

    /// Uploads a scene with what these shadows need and with coarser levels of detail, which `CullingSettings` chooses from.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn upload_with(&mut self, scene: &Scene, shadows: &ShadowSettings, detail: LevelsFor) -> GpuResult<GpuScene> {
        let (passes, wanted) = (&self.passes, (shadows.trees(), detail));
        let layered = || passes.layered.any_pipeline();
        let mut on_device = GpuScene::new(&self.gpu, scene, wanted, &passes.gbuffer.opaque, &layered)?;
        self.capture_probes(scene, &mut on_device, shadows)?;
        Ok(on_device)
    }

    /// Whether the device can make pictures of this size.
    ///
    /// # Errors
    /// It cannot.
    pub fn check_size(&self, view: &View) -> GpuResult<()> {
        let limit = self.gpu.limits().max_image_dimension2_d;
        if view.width.max(view.height) <= limit && view.width.min(view.height) > 0 {
            return Ok(());
        }
        Err(GpuError::TooLarge {
            what: "the picture".into(),
            asked: format!("{}x{}", view.width, view.height),
            limit: format!("1x1 to {limit}x{limit}"),
            device: self.gpu.info().name.clone(),
            remedy: "choose another --size",
        })
    }

    /// Renders one picture and waits for it.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn render(&mut self, scene: &GpuScene, view: &View, settings: &Settings) -> GpuResult<Picture> {
        let history = self.history.clone();
        let pending = self.submit(scene, view, settings, Wanted::ALL)?;
        let picture = self.collect(pending)?;
        if picture.lists.overflowed == 0 {
            return Ok(picture);
        }
        // The lists found no room: what they take is known now. The frame is made again, not one more.
        self.history = history.clone();
        let pending = self.submit(scene, view, settings, Wanted::ALL)?;
        let picture = self.collect(pending)?;
        if picture.lists.overflowed == 0 {
            return Ok(picture);
        }
        // More than the device can hold. Which clusters find room would be left to chance: none does.
        self.history = history;
        let off = LightListSettings { enabled: false, ..settings.light_lists };
        let pending = self.submit(scene, view, &Settings { light_lists: off, ..settings.clone() }, Wanted::ALL)?;
        self.collect(pending)
    }

    /// Which limit of the shadow atlas acted on the last frame: maps coarser than asked for, lights without a map; none where all
    /// was as asked for.
    #[must_use]
    pub fn shadow_map_limit(&self, asked: &ShadowSettings) -> Option<String> {
        let (_, plan) = self.kept_maps.as_ref().filter(|_| asked.enabled)?;
        plan.limit(asked.resolution)
    }

    /// Sends a frame off; `collect` waits for it. With two submitted before the first is collected, host and device
    /// work at the same time.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn submit(&mut self, scene: &GpuScene, view: &View, settings: &Settings, wanted: Wanted) -> GpuResult<Pending> {
        self.check_size(view)?;
        self.prepare(settings)?;
        self.passes.skin.prepare(&self.gpu, scene)?;
        self.passes.refit.prepare(&self.gpu, scene)?;
        self.passes.volumes.prepare(&self.gpu, scene, &settings.volumes)?;
        self.passes.caustics.prepare(&self.gpu, scene)?;
        let held = |[width, height]: [u32; 2]| self.cache.holds(shadow_maps::ATLAS, width, height, DEPTH);
        let kept_maps =
            self.kept_maps.take().filter(|(of, plan)| *of == scene.number && held(plan.atlas)).map(|(_, plan)| plan);
        let kept = (self.list_capacity, self.history.exposure, kept_maps.as_ref());
        let sampling = Sampling::new(&self.history, scene, view, settings);
        let data = frame_data(&self.gpu, scene, (view, &sampling), settings, kept)?;
        let after = picture_data(&self.gpu, &data, view)?;
        let mut graph = Graph::new(self.history.number);
        // An atlas of another size is made anew.
        let kept_maps = kept_maps.filter(|kept| kept.atlas == data.shadows.plan.atlas);
        let moved = self.moved.take() == Some(scene.number);
        let pictures = (view, &sampling, &after);
        let kept = (kept_maps.as_ref(), moved);
        let images = frame(&mut graph, &self.passes, scene, &data, pictures, settings, kept);
        let display = wanted.display.then(|| graph.read_back("display", images.display));
        let light = wanted.nits.then(|| graph.read_back("light", images.light));
        if !wanted.display {
            graph.output(images.display);
        }
        let aovs = images
            .aovs
            .iter()
            .map(|&(aov, image)| (aov, graph.read_back(aov.name(), image), !matches!(aov, Aov::Channel(_))))
            .collect();
        let report = read_report(&mut graph, ("light list report", REPORT_WORDS), images.lists.report);
        let culled = images
            .culled
            .map(|culled| read_report(&mut graph, ("culling report", culling::REPORT_WORDS), culled.report));
        let ghosts =
            images.ghosts.map(|ghosts| read_report(&mut graph, ("ghost report", lens_ghosts::REPORT_WORDS), ghosts));
        let refit = scene.trees.as_ref().and_then(|trees| trees.refit());
        let refitted = images.refitted.zip(refit).map(|(costs, refit)| {
            let words = ("costs of refitted trees", refit.cost_words());
            (read_report(&mut graph, words, costs), refit.costs())
        });
        let mut rec = self.frames.begin()?;
        let executed = graph.execute(&mut rec, &mut self.cache)?;
        let ticket = rec.submit()?;
        // Only once the device has the commands does the atlas hold what they draw.
        self.kept_maps = Some((scene.number, data.shadows.plan.clone()));
        self.moved = Some(scene.number);
        self.history.after(scene, view, settings);
        let on_device = data.culling.as_ref().and(scene.device_placements.as_ref());
        let drawn = Drawn {
            draws: data.visible.draws.len() + on_device.map_or(0, |p| p.runs.len()),
            instances: data.visible.instances.len(),
            outside: data.visible.culled + on_device.map_or(0, |p| p.count as usize),
            hidden: 0,
        };
        Ok(Pending {
            ticket,
            executed,
            view: *view,
            settings: settings.clone(),
            display,
            light,
            aovs,
            report,
            histogram: images.histogram,
            drawn,
            culled,
            refitted,
            ghosts,
            limits: images.limits,
            gain: data.culling.as_ref().filter(|culling| culling.looks).and(on_device).map(|p| Arc::clone(&p.gain)),
            lamps: data.values.light_count - data.values.directional_count,
        })
    }

    /// Waits for a frame and brings it to the host.
    ///
    /// # Errors
    /// A lost device.
    pub fn collect(&mut self, pending: Pending) -> GpuResult<Picture> {
        self.frames.wait(pending.ticket)?;
        let (width, height) = (pending.view.width as usize, pending.view.height as usize);
        let to_nits = 1.0 / pending.settings.exposure.multiplier();
        let buffer = |handle: BufferHandle| -> GpuResult<Arc<Buffer>> {
            pending.executed.buffer(handle).ok_or_else(|| GpuError::Pipeline {
                pipeline: "frame graph".into(),
                detail: "a read-back was not run".into(),
            })
        };
        let display = pending.display.map(&buffer).transpose()?.map_or_else(Vec::new, |b| b.mapped().to_vec());
        let nits = match pending.light {
            Some(handle) => halves(buffer(handle)?.mapped(), to_nits).map(|[r, g, b, _]| [r, g, b]).collect(),
            None => Vec::new(),
        };
        let mut aovs = Vec::new();
        for &(aov, handle, is_light) in &pending.aovs {
            let bytes = buffer(handle)?;
            let mut pixels: Vec<[f32; 4]> = if aov == Aov::IndirectBound {
                taken(bytes.mapped(), to_nits)
            } else if let Aov::Reflection(what) = aov {
                floats(bytes.mapped(), aov, &pending.view).into_iter().map(|pixel| what.of(pixel)).collect()
            } else if aov == Aov::Velocity {
                half_pairs(bytes.mapped()).collect()
            } else if is_light {
                halves(bytes.mapped(), to_nits).collect()
            } else {
                floats(bytes.mapped(), aov, &pending.view)
            };
            // Drivers are free about the sign of zero, and it differed from run to run.
            pixels.iter_mut().flatten().for_each(|value| *value += 0.0);
            aovs.push((aov, pixels));
        }
        let report = buffer(pending.report)?;
        let words: Vec<u32> = report.mapped().chunks_exact(4).map(word).collect();
        let at = |index: usize| words.get(index).copied().unwrap_or(0);
        let wide = |low: usize, high: usize| u64::from(at(low)) | u64::from(at(high)) << 32;
        let mut drawn = pending.drawn;
        if let Some(handle) = pending.culled {
            let words: Vec<usize> =
                buffer(handle)?.mapped().chunks_exact(4).map(|bytes| word(bytes) as usize).collect();
            let at = |index: usize| words.get(index).copied().unwrap_or(0);
            drawn.instances += at(0);
            drawn.hidden = at(1);
            drawn.outside = drawn.outside.saturating_sub(at(0) + at(1));
            if let Some(gain) = &pending.gain {
                gain.found(at(1), at(0), pending.settings.culling.patience);
            }
        }
        if let Some((handle, costs)) = &pending.refitted {
            let words: Vec<u32> = buffer(*handle)?.mapped().chunks_exact(4).map(word).collect();
            costs.found(&words);
        }
        // The next frame has room for as much, and some more for what comes into view.
        if at(2) > 0 {
            let needed = u32::try_from(wide(7, 8)).unwrap_or(u32::MAX);
            self.list_capacity = self.list_capacity.max(needed.saturating_add(needed / 4));
        }
        Ok(Picture {
            width,
            height,
            display,
            nits,
            aovs,
            times: self.frames.times(pending.ticket).to_vec(),
            lists: LightListReport {
                clusters: at(4),
                lamps: pending.lamps,
                evaluated: wide(0, 6),
                most: at(1),
                overflowed: at(2),
                needed: wide(7, 8),
                greatest_dropped: f32::from_bits(at(5)),
            },
            histogram: match pending.histogram {
                Some(handle) => Some(PixelCounts::from_bytes(buffer(handle)?.mapped())),
                None => None,
            },
            drawn,
            ghosts: match pending.ghosts {
                Some(handle) => {
                    let words: Vec<u32> = buffer(handle)?.mapped().chunks_exact(4).map(word).collect();
                    Some(GhostReport::from_words(&words))
                }
                None => None,
            },
            limits: pending.limits.read(|handle| Ok(buffer(handle)?.mapped().to_vec()))?,
            exposure: pending.settings.exposure,
        })
    }

    /// Makes the pipelines of what these settings switch on.
    fn prepare(&self, settings: &Settings) -> GpuResult<()> {
        let (lens, ghosts) = (settings.lens.as_ref(), settings.ghosts.as_ref());
        self.passes.effects.prepare(&self.gpu, &settings.effects, lens, ghosts)?;
        let method = settings.anti_aliasing;
        if settings.ssr.enabled && self.passes.ssr.get().is_none() {
            // Another thread may have been faster; its pass is as good.
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

    /// Forgets the frames before: what is seen next has nothing to do with them.
    pub fn cut(&mut self) {
        self.history.cut();
    }

    /// The planned frame, for `graph`.
    ///
    /// # Errors
    /// Out of memory.
    pub fn plan(&mut self, scene: &GpuScene, view: &View, settings: &Settings) -> GpuResult<Prepared> {
        self.prepare(settings)?;
        self.passes.skin.prepare(&self.gpu, scene)?;
        self.passes.refit.prepare(&self.gpu, scene)?;
        self.passes.volumes.prepare(&self.gpu, scene, &settings.volumes)?;
        self.passes.caustics.prepare(&self.gpu, scene)?;
        let kept = (self.list_capacity, self.history.exposure, None);
        let sampling = Sampling::new(&self.history, scene, view, settings);
        let data = frame_data(&self.gpu, scene, (view, &sampling), settings, kept)?;
        let after = picture_data(&self.gpu, &data, view)?;
        // It may make the kept images anew.
        self.kept_maps = None;
        let mut graph = Graph::new(self.history.number);
        let pictures = (view, &sampling, &after);
        let images = frame(&mut graph, &self.passes, scene, &data, pictures, settings, (None, false));
        graph.output(images.display);
        for (_, image) in images.aovs {
            graph.output(image);
        }
        graph.prepare(&self.gpu, &mut self.cache)
    }
}

/// Brings the words of a report to the host.
fn read_report(graph: &mut Graph<'_>, (name, words): (&str, u64), report: BufferHandle) -> BufferHandle {
    use crate::graph::Access;
    let out = graph.readback(&format!("{name} on the host"), words * 4);
    graph.pass(&format!("read back {name}")).uses(report, Access::CopyFrom).uses(out, Access::CopyTo).record(
        move |cx| {
            let (from, to) = (cx.buffer(report), cx.buffer(out));
            cx.rec.copy_buffer(&from, &to, 0, 0, words * 4);
            Ok(())
        },
    );
    out
}

fn frame_data(
    gpu: &Gpu,
    scene: &GpuScene,
    (whole, sampling): (&View, &Sampling),
    settings: &Settings,
    (list_capacity, last_exposure, kept_maps): (u32, Option<Exposure>, Option<&MapPlan>),
) -> GpuResult<FrameData> {
    let view = &sampling.input;
    // What has moved is drawn once more for its velocity, by the host's draws; probes do not see lamps' surfaces.
    let stands = settings.shutter.is_none() && sampling.motion.iter().all(|moment| moment.posed.is_none());
    let culling =
        if stands && !settings.capture { FrameCulling::new(gpu, scene, view, &settings.culling)? } else { None };
    let detail = settings.culling.detail(view);
    let visible = Arc::new(scene.visible(view, detail, (!settings.capture, culling.is_some())));
    let mut lights = scene.lights_for(view);
    let resolution = settings.shadows.resolution;
    let maps = match settings.shadows.trees() {
        _ if !settings.shadows.enabled => None,
        TreesFor::All => None,
        TreesFor::Sized => Some(MapSettings { resolution, sized_suns: !scene.traces_shadows() }),
        TreesFor::None => Some(MapSettings { resolution, sized_suns: true }),
    };
    // Of the view without its jitter: maps stay as they are while it stands still.
    let shadows = FrameShadows::new(gpu, scene, whole, maps, &mut lights, kept_maps)?;
    let directional_count = scene.directional_count();
    let lamps = lights.len() as u32 - directional_count;
    let nodes = scene.nodes_for(view);
    let tiles = [view.width.div_ceil(TILE), view.height.div_ceil(TILE)];
    let lists = settings.light_lists;
    let mut values = FrameConstants {
        view_projection: view.view_projection,
        inverse_projection: view.inverse,
        forward: view.forward.extend(if view.parallel { 1.0 } else { 0.0 }),
        size: [view.width, view.height],
        tiles,
        pre_exposure: settings.exposure.multiplier() as f32,
        directional_count,
        light_count: lights.len() as u32,
        list_capacity: if lists.enabled && lists.cull_bound > 0.0 {
            light_lists::first_capacity(tiles[0] * tiles[1], lamps)
                .max(list_capacity)
                .min(MAX_LIST_CAPACITY)
                .min(gpu.limits().max_storage_buffer_range / 4)
        } else {
            1
        },
        cull_bound: if lists.enabled { lists.cull_bound } else { 0.0 },
        node_count: nodes.len() as u32,
        shadow_method: match settings.shadows.method {
            _ if !settings.shadows.enabled => shared::SHADOWS_OFF,
            ShadowMethod::Auto | ShadowMethod::Maps => shared::SHADOWS_MAPS,
            ShadowMethod::Traced => shared::SHADOWS_TRACED,
        },
        shadow_samples: settings.shadows.samples,
        // Within what single floats hold, whatever the step.
        history_scale: settings.exposure.rescale_from(last_exposure.unwrap_or(settings.exposure)).clamp(1e-37, 1e37)
            as f32,
        judged_scale: sampling.judged.rescale_from(settings.exposure) as f32,
        texture_scale: sampling.texture_scale,
        noise_shift: sampling.noise_shift,
        multi_scatter: u32::from(scene.multiscatter),
        bits: frame_bits(scene, settings, visible.draws.iter().any(layered::marked)),
        probe_count: scene.probes.len() as u32,
        water_count: scene.waters.len() as u32,
        ..FrameConstants::default()
    };
    for (number, water) in scene.waters.iter().enumerate() {
        water.fill(number, view.position, &mut values);
    }
    let trees = EyeTrees::new(gpu, scene, view.position);
    let traced = match settings.shadows.trees() {
        TreesFor::All => trees.get()?,
        TreesFor::Sized if scene.traces_shadows() => trees.get()?,
        _ => None,
    };
    let refracts = settings.refraction == RefractionMethod::Traced && visible.draws.iter().any(|draw| draw.refracts);
    let through = if refracts { trees.get()? } else { None };
    let flares = settings.effects.starburst.is_some() || settings.ghosts.is_some();
    let flare = if flares && !view.parallel && scene.trees.is_some() { trees.get()? } else { None };
    let caustics = FrameCaustics::new(gpu, scene, &trees, settings.caustics, (&mut lights, &mut values))?;
    let single = settings.sample.is_none()
        && settings.accumulate.is_none()
        && !matches!(settings.anti_aliasing, AntiAliasing::Temporal(_));
    let gi = FrameGi::new(
        gpu,
        scene,
        (view, &sampling.motion, &trees),
        &settings.gi,
        (&sampling.bounced, sampling.bounced_before, [settings.ssr.enabled, single]),
    )?;
    let apart = gi.as_ref().is_some_and(FrameGi::finds_sky);
    if apart {
        values.bits |= shared::FRAME_DIFFUSE_APART;
    }
    if gi.as_ref().is_some_and(FrameGi::finds_reflections) {
        values.bits |= shared::FRAME_REFLECTED_BY_RAYS;
    }
    if gi.is_some() {
        values.bits &= !shared::FRAME_MANY_BOUNCES;
    }
    let found_by_rays = values.bits & shared::FRAME_REFLECTED_BY_RAYS != 0;
    let layered = values.bits & shared::FRAME_LAYERED != 0;
    let apart_from_light = scene.has_environment || scene.has_emitters || found_by_rays || layered;
    Ok(FrameData {
        constants: dynamic_buffer(gpu, "frame constants", &[values])?,
        instances: dynamic_buffer(gpu, "instances", &visible.instances)?,
        sorted: dynamic_buffer(gpu, "sorted indices", &visible.sorted)?,
        lights: dynamic_buffer(gpu, "lights", &lights)?,
        ltc: scene.has_area_lights().then(|| Arc::clone(&scene.ltc)),
        nodes: dynamic_buffer(gpu, "light tree", &nodes)?,
        shadows,
        caustics,
        volumes: FrameVolumes::new(gpu, &scene.volumes, view.position, &settings.volumes)?,
        traced,
        through,
        flare,
        trees: trees.made(),
        camera: view.position,
        profiles: Arc::clone(&scene.profiles),
        environment: Arc::clone(&scene.environment),
        probes: dynamic_buffer(gpu, "probes", &probes_for(scene, view.position))?,
        has_environment: scene.has_environment,
        has_background: scene.has_background,
        culling,
        ssr: FrameSsr::new(gpu, (view, &sampling.motion), &settings.ssr, &sampling.reflections, apart_from_light)?,
        gi,
        visible,
        values,
    })
}

/// The same for passes over the finished light: the picture's pixels, sampled at their centres.
fn picture_data(gpu: &Gpu, data: &FrameData, view: &View) -> GpuResult<FrameData> {
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

fn frame_bits(scene: &GpuScene, settings: &Settings, layered: bool) -> u32 {
    let measured = settings.ao.enabled && scene.has_environment;
    [
        (measured, shared::FRAME_MEASURED),
        (measured && settings.ao.many_bounces, shared::FRAME_MANY_BOUNCES),
        (settings.capture, shared::FRAME_CAPTURE),
        (settings.metered, shared::FRAME_METERED),
        (layered, shared::FRAME_LAYERED),
        (settings.ssr.enabled, shared::FRAME_REFLECTED_APART),
    ]
    .into_iter()
    .filter(|(on, _)| *on)
    .fold(0, |bits, (_, bit)| bits | bit)
}

fn word(bytes: &[u8]) -> u32 {
    bytes.try_into().map_or(0, u32::from_le_bytes)
}

/// Half-float pixels, scaled.
fn halves(bytes: &[u8], scale: f64) -> impl Iterator<Item = [f32; 4]> + '_ {
    debug_assert_eq!(LIGHT, vk::Format::R16G16B16A16_SFLOAT);
    bytes.chunks_exact(8).map(move |pixel| {
        let mut out = [0f32; 4];
        for (index, (out, half)) in out.iter_mut().zip(pixel.chunks_exact(2)).enumerate() {
            // The sum that blending makes of two values may be infinite: it counts as the greatest one.
            let value = half::f16::from_le_bytes(half.try_into().unwrap_or_default()).to_f64();
            let value = value.clamp(half::f16::MIN.to_f64(), half::f16::MAX.to_f64());
            // Emission's alpha tells more than whether a surface is there (`LAYER_MARK`).
            *out = if index < 3 { (value * scale) as f32 } else { value.min(1.0) as f32 };
        }
        out
    })
}

/// What alpha holds of half-float pixels, scaled.
fn taken(bytes: &[u8], scale: f64) -> Vec<[f32; 4]> {
    let alpha = |pixel: &[u8]| half::f16::from_le_bytes([pixel[6], pixel[7]]).to_f64();
    bytes.chunks_exact(8).map(|pixel| [(alpha(pixel) * scale) as f32; 3]).map(|[r, g, b]| [r, g, b, 1.0]).collect()
}

/// Pairs of half floats.
fn half_pairs(bytes: &[u8]) -> impl Iterator<Item = [f32; 4]> + '_ {
    let value = |bytes: &[u8]| half::f16::from_le_bytes(bytes.try_into().unwrap_or_default()).to_f32();
    bytes.chunks_exact(4).map(move |pixel| [value(&pixel[..2]), value(&pixel[2..]), 0.0, 1.0])
}

fn floats(bytes: &[u8], aov: Aov, view: &View) -> Vec<[f32; 4]> {
    let mut pixels: Vec<[f32; 4]> = vec![[0.0; 4]; bytes.len() / 16];
    bytemuck::cast_slice_mut::<_, u8>(&mut pixels).copy_from_slice(&bytes[..bytes.len() / 16 * 16]);
    if aov == Aov::Channel(Channel::Position) {
        // The device works relative to the camera; people think in the world.
        let camera = view.position.as_vec3().extend(0.0);
        for pixel in pixels.iter_mut().filter(|pixel| pixel[3] > 0.0) {
            *pixel = (Vec4::from_array(*pixel) + camera).to_array();
        }
    }
    pixels
}
