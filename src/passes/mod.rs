//! The passes: one file each, its shader of the same name in `shaders/passes/`.

pub mod accumulate;
pub mod alpha_coverage;
pub mod anti_aliasing;
pub mod ao;
pub mod area_lights;
pub mod background;
pub mod blend;
pub mod bloom;
pub mod caustics;
pub mod chromatic_aberration;
pub mod clustered_lights;
pub mod culling;
pub mod culling_shared;
pub mod depth_of_field;
pub mod effects;
pub mod effects_shared;
pub mod environment;
pub mod exposure_histogram;
pub mod flare_shared;
pub mod flare_sources;
pub mod forward;
mod fullscreen;
pub mod gbuffer;
pub mod gbuffer_channel;
pub mod gi;
pub mod grain;
pub mod hdr_display;
pub mod jitter;
pub mod layer_tables;
pub mod lens_ghosts;
pub mod lens_ghosts_shared;
pub mod lens_image;
pub mod light_tree;
pub mod lighting;
pub mod mips;
pub mod morphological;
pub mod motion_blur;
pub mod probes;
pub mod profiles;
pub mod ray_query;
pub mod rays;
pub mod refit;
pub mod refraction;
pub mod scene_bvh;
pub mod scene_data;
pub mod shadow_maps;
pub mod shared;
pub mod skin;
pub mod skin_shared;
pub mod ssr;
pub mod starburst;
pub mod taa;
pub mod tonemap;
pub mod ui;
pub mod variants;
pub mod velocity;
pub mod view;
pub mod vignetting;
pub mod volumes;
pub mod volumes_environment;
pub mod volumes_scene;
pub mod volumes_shared;

use std::sync::{Arc, OnceLock};

use crate::{
    gpu::{Bind, Buffer, BufferKind, Gpu, GpuError, GpuResult, Image, upload::Uploader},
    graph::{Access, BufferHandle, ImageHandle, PassBuilder, PassContext},
};

pub use scene_data::GpuScene;
pub use view::View;

/// The buffers that every pass of a frame reads: host memory, new for each frame.
#[derive(Clone)]
pub struct FrameData {
    /// `FrameConstants`.
    pub constants: Arc<Buffer>,
    /// `Instance`s that are seen.
    pub instances: Arc<Buffer>,
    /// `Light`s, directional ones first.
    pub lights: Arc<Buffer>,
    /// The linear maps of area lights (`photometry::area::ltc`); none where no light has a surface.
    pub ltc: Option<Arc<Buffer>>,
    /// `LightNode`s.
    pub nodes: Arc<Buffer>,
    /// Measured distributions of lamps (`profiles`); the scene's.
    pub profiles: Arc<Buffer>,
    /// Light from all around (`environment`); the scene's.
    pub environment: Arc<Buffer>,
    /// `Probe`s.
    pub probes: Arc<Buffer>,
    /// There is light from all around.
    pub has_environment: bool,
    /// There is something to see where no surface is.
    pub has_background: bool,
    /// The trees that shadow rays walk; none where shadows are not traced.
    pub shadow_bvh: Option<scene_bvh::FrameBvh>,
    /// What reflections in the picture need; none where they are off.
    pub ssr: Option<ssr::FrameSsr>,
    /// What bounced light needs; none where it is off.
    pub gi: Option<gi::FrameGi>,
    /// The trees that rays through refracting bodies walk; none where they are found on the
    /// picture.
    pub refraction_bvh: Option<scene_bvh::FrameBvh>,
    /// The trees that rays to bright sources beyond the picture's border walk; none where nothing
    /// flares or there are none.
    pub flare_bvh: Option<scene_bvh::FrameBvh>,
    /// The same trees, where any of these or of bounced light or caustics walks them: all have the
    /// same.
    pub bvh: Option<scene_bvh::FrameBvh>,
    /// Shadow maps.
    pub shadows: shadow_maps::FrameShadows,
    /// What waters gather and scatter of a sun's light; none where none does.
    pub caustics: Option<caustics::FrameCaustics>,
    /// Participating volumes.
    pub volumes: volumes_scene::FrameVolumes,
    /// Where the camera stands in the world (m).
    pub camera: glam::DVec3,
    /// Indices of blended triangles from back to front.
    pub sorted: Arc<Buffer>,
    /// What the device culls by; none where the host does.
    pub culling: Option<culling::FrameCulling>,
    /// What is seen; where the device culls, only of what is drawn back to front.
    pub visible: Arc<scene_data::Visible>,
    /// The constants as written.
    pub values: shared::FrameConstants,
}

impl FrameData {
    /// Whether the projection is parallel, so that there is no lens.
    fn parallel(&self) -> bool {
        self.values.forward.w != 0.0
    }

    fn uniform(&self) -> (&'static str, Bind<'_>) {
        ("frame_block", Bind::Uniform(&self.constants))
    }

    /// What a pipeline of `variants::LightVariants` reads beyond the lights: what is in their way
    /// but for water, and what features need.
    fn light_binds<'a>(&'a self, way: &'a ShadowBindings) -> Vec<(&'static str, Bind<'a>)> {
        let mut binds = vec![
            ("profile_block", Bind::Storage(&self.profiles)),
            ("environment_block", Bind::Storage(&self.environment)),
            ("probe_block", Bind::Storage(&self.probes)),
            ("shadow_map_block", Bind::Storage(&self.shadows.maps)),
            ("shadow_atlas", Bind::Sampled(&way.atlas)),
            ("volume_block", Bind::Storage(&self.volumes.block)),
            ("volume_density_block", Bind::Storage(&self.volumes.densities)),
        ];
        binds.extend(self.ltc.as_ref().map(|ltc| ("ltc_block", Bind::Storage(ltc))));
        binds.extend(self.shadow_bvh.iter().flat_map(scene_bvh::FrameBvh::binds));
        binds
    }
}

/// What lies in the way of lights, as the frame's passes found it.
#[derive(Clone, Copy)]
pub struct ShadowInputs {
    /// The shadow maps, where there are any.
    pub atlas: Option<ImageHandle>,
    /// What rays read that the frame makes.
    pub bvh: ray_query::BvhDependencies,
    /// What waters gather and scatter of a sun's light, where any does.
    pub caustics: Option<BufferHandle>,
}

impl ShadowInputs {
    /// The pass with all of it read by its fragment shaders.
    fn read_by<'g, 'a>(&self, mut pass: PassBuilder<'g, 'a>) -> PassBuilder<'g, 'a> {
        if let Some(atlas) = self.atlas {
            pass = pass.uses(atlas, Access::FragmentSampled);
        }
        for (buffer, access) in self.bvh.by_fragments() {
            pass = pass.uses(buffer, access);
        }
        if let Some(caustics) = self.caustics {
            pass = pass.uses(caustics, Access::FragmentStorageRead);
        }
        pass
    }

    /// At record time; what is not there is stood in for by what shaders then do not read.
    fn objects(
        &self,
        cx: &PassContext<'_, '_>,
        scene: &GpuScene,
        data: &FrameData,
    ) -> ShadowBindings {
        ShadowBindings {
            atlas: self.atlas.map_or_else(|| Arc::clone(&scene.white), |atlas| cx.image(atlas)),
            caustics: self
                .caustics
                .map_or_else(|| Arc::clone(&data.profiles), |caustics| cx.buffer(caustics)),
        }
    }
}

/// The same, to bind.
struct ShadowBindings {
    atlas: Arc<Image>,
    caustics: Arc<Buffer>,
}

impl ShadowBindings {
    /// For shaders that light places in water: others have no name for it.
    fn caustics(&self) -> (&'static str, Bind<'_>) {
        ("caustic_block", Bind::Storage(&self.caustics))
    }
}

/// Host-visible memory with these elements, or room for one where there is none.
///
/// # Errors
/// Out of memory.
pub fn dynamic_buffer<T: bytemuck::Pod>(
    gpu: &Gpu,
    name: &str,
    elements: &[T],
) -> GpuResult<Arc<Buffer>> {
    let bytes: &[u8] = bytemuck::cast_slice(elements);
    let buffer =
        Buffer::new(gpu, name, bytes.len().max(size_of::<T>()) as u64, BufferKind::Dynamic)?;
    buffer.write(0, bytes);
    Ok(buffer)
}

/// Device memory with these bytes, or room for the least that a shader declares.
///
/// # Errors
/// More than a buffer of the device may hold, with what to do about it; out of memory; a lost
/// device.
fn storage_buffer(
    gpu: &Gpu,
    uploader: &mut Uploader,
    (name, least): (&str, u64),
    bytes: &[u8],
    remedy: &'static str,
) -> GpuResult<Arc<Buffer>> {
    let limit = gpu.limits().max_storage_buffer_range;
    if bytes.len() as u64 > u64::from(limit) {
        return Err(GpuError::TooLarge {
            what: name.into(),
            requested: format!("{} bytes", bytes.len()),
            limit: format!("{limit} bytes"),
            device: gpu.info().name.clone(),
            remedy,
        });
    }
    let buffer = Buffer::new(gpu, name, (bytes.len() as u64).max(least), BufferKind::Storage)?;
    uploader.buffer(&buffer, bytes)?;
    Ok(buffer)
}

/// All pipelines.
pub struct Passes {
    /// What is drawn.
    pub culling: culling::CullingPass,
    /// Moves vertices.
    pub skin: skin::SkinPass,
    /// Refits the trees of moved primitives.
    pub refit: refit::RefitPass,
    /// Geometry to the G-buffer.
    pub gbuffer: gbuffer::GbufferPass,
    /// Which lamps matter where.
    pub clustered_lights: clustered_lights::ClusteredLightsPass,
    /// Depths seen from lamps.
    pub shadow_maps: shadow_maps::ShadowMapsPass,
    /// A sun's light through rippled water.
    pub caustics: caustics::CausticsPass,
    /// What hides light from all around.
    pub ao: ao::AoPass,
    /// Direct light.
    pub lighting: lighting::LightingPass,
    /// What is seen where no surface is.
    pub background: background::BackgroundPass,
    /// Surfaces with further lobes.
    pub forward: forward::ForwardPass,
    /// Participating volumes.
    pub volumes: volumes::VolumesPass,
    /// What refracting surfaces look up.
    pub refraction: refraction::RefractionPass,
    /// Alpha-blended surfaces.
    pub blend: blend::BlendPass,
    /// G-buffer channels as floats.
    pub gbuffer_channel: gbuffer_channel::GbufferChannelPass,
    /// What the camera does to the picture.
    pub effects: effects::EffectPasses,
    /// Bounced light; made when it is first asked for.
    pub gi: OnceLock<gi::GiPass>,
    /// Reflections in the picture; made when they are first asked for.
    pub ssr: OnceLock<ssr::SsrPass>,
    /// Smooth edges.
    pub anti_aliasing: anti_aliasing::AntiAliasingPasses,
    /// Mean over frames.
    pub accumulate: accumulate::AccumulatePass,
    /// Pixels by luminance.
    pub exposure_histogram: exposure_histogram::ExposureHistogramPass,
    /// To the display.
    pub tonemap: tonemap::TonemapPass,
}

impl Passes {
    /// Makes all pipelines.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        // Independent of each other, and slow where the driver compiles for the first time.
        let (geometry, (clustered_lights, (lighting, (gbuffer_channel, (tonemap, background))))) =
            rayon::join(
                || {
                    let gbuffer = gbuffer::GbufferPass::new(gpu)?;
                    Ok((
                        gbuffer,
                        blend::BlendPass::new(gpu)?,
                        shadow_maps::ShadowMapsPass::new(gpu)?,
                    ))
                },
                || {
                    (
                        clustered_lights::ClusteredLightsPass::new(gpu),
                        (
                            lighting::LightingPass::new(gpu),
                            (
                                gbuffer_channel::GbufferChannelPass::new(gpu),
                                (
                                    tonemap::TonemapPass::new(gpu),
                                    background::BackgroundPass::new(gpu),
                                ),
                            ),
                        ),
                    )
                },
            );
        let (gbuffer, blend, shadow_maps) = geometry?;
        Ok(Self {
            culling: culling::CullingPass::new(gpu)?,
            skin: skin::SkinPass::default(),
            refit: refit::RefitPass::default(),
            gbuffer,
            blend,
            forward: forward::ForwardPass::new(gpu),
            volumes: volumes::VolumesPass::new(gpu),
            refraction: refraction::RefractionPass::new(gpu),
            shadow_maps,
            clustered_lights: clustered_lights?,
            caustics: caustics::CausticsPass::default(),
            ao: ao::AoPass::new(gpu)?,
            lighting: lighting?,
            gi: OnceLock::new(),
            ssr: OnceLock::new(),
            gbuffer_channel: gbuffer_channel?,
            effects: effects::EffectPasses::default(),
            anti_aliasing: anti_aliasing::AntiAliasingPasses::default(),
            accumulate: accumulate::AccumulatePass::new(gpu)?,
            exposure_histogram: exposure_histogram::ExposureHistogramPass::new(gpu)?,
            tonemap: tonemap?,
            background: background?,
        })
    }
}
