//! Render passes: one file each, with the shader of the same name in `shaders/passes/`.

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
pub mod depth_of_field;
pub mod effects;
pub mod environment;
pub mod exposure_histogram;
pub mod flare_sources;
pub mod forward;
mod fullscreen;
pub mod gbuffer;
pub mod gbuffer_channel;
pub mod gi;
pub mod grain;
pub mod hdr_display;
pub mod ies_profiles;
pub mod jitter;
pub mod layer_tables;
pub mod lens_ghosts;
pub mod lens_image;
pub mod light_tree;
pub mod lighting;
pub mod mips;
pub mod morphological;
pub mod motion_blur;
pub mod probes;
pub mod ray_query;
pub mod rays;
pub mod refit;
pub mod refraction;
pub mod scene_bvh;
pub mod scene_data;
pub mod shadow_maps;
pub mod skin;
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

use std::sync::{Arc, OnceLock};

use crate::{
    gpu::{
        Bind, Buffer, BufferKind, Gpu, GpuError, GpuResult, Image, shader_structs::frame,
        upload::Uploader,
    },
    graph::{Access, BufferHandle, ImageHandle, PassBuilder, PassContext},
};

pub use scene_data::GpuScene;
pub use view::View;

/// Per-frame buffers that all passes read; host-visible, new for each frame.
#[derive(Clone)]
pub struct FrameData {
    /// `FrameConstants`.
    pub constants: Arc<Buffer>,
    /// Visible `Instance`s.
    pub instances: Arc<Buffer>,
    /// `Light`s, directional ones first.
    pub lights: Arc<Buffer>,
    /// Linearly transformed cosine (LTC) matrices of area lights (`photometry::area::ltc`).
    pub ltc: Arc<Buffer>,
    /// Features of the scene and the look, as `FEATURE_` bits (`variants`).
    pub features: u32,
    /// `LightNode`s of the light tree.
    pub nodes: Arc<Buffer>,
    /// IES profiles of the scene (`profiles`).
    pub profiles: Arc<Buffer>,
    /// Environment buffer of the scene (`environment`).
    pub environment: Arc<Buffer>,
    /// Local `Probe`s.
    pub probes: Arc<Buffer>,
    /// True if the scene has an environment.
    pub has_environment: bool,
    /// True if the background is visible: an environment or a sun disk.
    pub has_background: bool,
    /// BVH of shadow rays; `None` unless shadows are ray traced.
    pub shadow_bvh: Option<scene_bvh::FrameBvh>,
    /// Screen-space reflection data; `None` if SSR is off.
    pub ssr: Option<ssr::FrameSsr>,
    /// Indirect light data; `None` if GI is off.
    pub gi: Option<gi::FrameGi>,
    /// BVH of refraction rays; `None` if refraction is in screen space.
    pub refraction_bvh: Option<scene_bvh::FrameBvh>,
    /// BVH of rays to bright sources outside the image; `None` without flares or without a BVH.
    pub flare_bvh: Option<scene_bvh::FrameBvh>,
    /// BVH of the frame if any of these, GI or caustics traces rays; all share it.
    pub bvh: Option<scene_bvh::FrameBvh>,
    /// Shadow maps.
    pub shadows: shadow_maps::FrameShadows,
    /// Water caustics; `None` without any.
    pub caustics: Option<caustics::FrameCaustics>,
    /// Participating volumes.
    pub volumes: volumes_scene::FrameVolumes,
    /// Camera position in the world (m).
    pub camera: glam::DVec3,
    /// Indices of blended triangles, back to front.
    pub sorted: Arc<Buffer>,
    /// Device culling data; `None` if the host culls.
    pub culling: Option<culling::FrameCulling>,
    /// Visible draws; if the device culls, only the draws that the host sorts.
    pub visible: Arc<scene_data::Visible>,
    /// Host copy of the constants.
    pub values: frame::FrameConstants,
}

impl FrameData {
    /// True if the projection is orthographic, so that there is no lens.
    fn parallel(&self) -> bool {
        self.values.forward.w != 0.0
    }

    fn uniform(&self) -> (&'static str, Bind<'_>) {
        ("frame_block", Bind::Uniform(&self.constants))
    }

    /// Bindings of a `variants::LightVariants` pipeline beyond the lights: shadows and features,
    /// without caustics.
    fn light_binds<'a>(
        &'a self,
        shadow_inputs: &'a ShadowBindings,
    ) -> Vec<(&'static str, Bind<'a>)> {
        let mut binds = self.light_objects();
        binds.push(("shadow_atlas", Bind::Sampled(&shadow_inputs.atlas)));
        binds
    }

    /// [`Self::light_binds`] without the shadow atlas, which a pass of the frame draws.
    fn light_objects(&self) -> Vec<(&'static str, Bind<'_>)> {
        let mut binds = vec![
            ("profile_block", Bind::Storage(&self.profiles)),
            ("environment_block", Bind::Storage(&self.environment)),
            ("probe_block", Bind::Storage(&self.probes)),
            ("shadow_map_block", Bind::Storage(&self.shadows.maps)),
            ("ltc_block", Bind::Storage(&self.ltc)),
            ("volume_block", Bind::Storage(&self.volumes.block)),
            ("volume_density_block", Bind::Storage(&self.volumes.densities)),
        ];
        binds.extend(self.shadow_bvh.iter().flat_map(scene_bvh::FrameBvh::binds));
        binds
    }
}

/// Shadow and transmittance inputs of the lights, from this frame's passes.
#[derive(Clone, Copy)]
pub struct ShadowInputs {
    /// Shadow atlas, if any light has a shadow map.
    pub atlas: Option<ImageHandle>,
    /// BVH resources that passes of this frame write.
    pub bvh: ray_query::BvhDependencies,
    /// Water caustic maps, if any.
    pub caustics: Option<BufferHandle>,
}

impl ShadowInputs {
    /// Declares all inputs as read by the pass's fragment shaders.
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

    /// Resources at record time. Missing ones are replaced by placeholders that the shaders do not
    /// read.
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

/// Resources of `ShadowInputs` at record time.
struct ShadowBindings {
    atlas: Arc<Image>,
    caustics: Arc<Buffer>,
}

impl ShadowBindings {
    /// Caustics binding, for shaders that light points in water; other shaders do not declare it.
    fn caustics(&self) -> (&'static str, Bind<'_>) {
        ("caustic_block", Bind::Storage(&self.caustics))
    }
}

/// Host-visible buffer with these elements; at least one element in size.
///
/// # Errors
/// `GpuError` if memory runs out.
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

/// Device buffer with these bytes; at least the size that the shader declares.
///
/// # Errors
/// `GpuError::TooLarge` with `remedy` if the data exceeds the device's storage buffer range. Other
/// `GpuError`s if memory runs out or the device is lost.
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

/// Pipelines of all passes.
pub struct Passes {
    /// Instance culling.
    pub culling: culling::CullingPass,
    /// Vertex skinning and morphing.
    pub skin: skin::SkinPass,
    /// BVH refit of deformed primitives.
    pub refit: refit::RefitPass,
    /// Geometry into the G-buffer.
    pub gbuffer: gbuffer::GbufferPass,
    /// Light lists per cluster.
    pub clustered_lights: clustered_lights::ClusteredLightsPass,
    /// Shadow maps.
    pub shadow_maps: shadow_maps::ShadowMapsPass,
    /// Water caustics.
    pub caustics: caustics::CausticsPass,
    /// Ambient occlusion.
    pub ao: ao::AoPass,
    /// Direct light.
    pub lighting: lighting::LightingPass,
    /// Environment and sun disks.
    pub background: background::BackgroundPass,
    /// Forward pass of extended materials.
    pub forward: forward::ForwardPass,
    /// Participating volumes.
    pub volumes: volumes::VolumesPass,
    /// Refraction background.
    pub refraction: refraction::RefractionPass,
    /// Alpha-blended surfaces.
    pub blend: blend::BlendPass,
    /// G-buffer channels as floats, for display.
    pub gbuffer_channel: gbuffer_channel::GbufferChannelPass,
    /// Camera effects.
    pub effects: effects::EffectPasses,
    /// Indirect light; created on first use.
    pub gi: OnceLock<gi::GiPass>,
    /// Screen-space reflections; created on first use.
    pub ssr: OnceLock<ssr::SsrPass>,
    /// Anti-aliasing.
    pub anti_aliasing: anti_aliasing::AntiAliasingPasses,
    /// Progressive accumulation.
    pub accumulate: accumulate::AccumulatePass,
    /// Luminance histogram for automatic exposure.
    pub exposure_histogram: exposure_histogram::ExposureHistogramPass,
    /// Tone mapping to the display.
    pub tonemap: tonemap::TonemapPass,
}

impl Passes {
    /// Creates all pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        // Independent of each other, and slow if the driver compiles for the first time.
        let (geometry, display) = rayon::join(
            || Ok((gbuffer::GbufferPass::new(gpu)?, shadow_maps::ShadowMapsPass::new(gpu)?)),
            || {
                Ok((
                    clustered_lights::ClusteredLightsPass::new(gpu)?,
                    gbuffer_channel::GbufferChannelPass::new(gpu)?,
                    tonemap::TonemapPass::new(gpu)?,
                    background::BackgroundPass::new(gpu)?,
                ))
            },
        );
        let (gbuffer, shadow_maps) = geometry?;
        let (clustered_lights, gbuffer_channel, tonemap, background) = display?;
        Ok(Self {
            culling: culling::CullingPass::new(gpu)?,
            skin: skin::SkinPass::default(),
            refit: refit::RefitPass::default(),
            gbuffer,
            blend: blend::BlendPass::new(gpu),
            forward: forward::ForwardPass::new(gpu),
            volumes: volumes::VolumesPass::new(gpu),
            refraction: refraction::RefractionPass::new(gpu),
            shadow_maps,
            clustered_lights,
            caustics: caustics::CausticsPass::default(),
            ao: ao::AoPass::new(gpu)?,
            lighting: lighting::LightingPass::new(gpu),
            gi: OnceLock::new(),
            ssr: OnceLock::new(),
            gbuffer_channel,
            effects: effects::EffectPasses::default(),
            anti_aliasing: anti_aliasing::AntiAliasingPasses::default(),
            accumulate: accumulate::AccumulatePass::new(gpu)?,
            exposure_histogram: exposure_histogram::ExposureHistogramPass::new(gpu)?,
            tonemap,
            background,
        })
    }
}
