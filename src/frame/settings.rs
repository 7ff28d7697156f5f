//! Settings of a rendered image and of its passes.

use std::sync::Arc;

use glam::Mat3;

use super::aov::Aov;
use crate::{
    camera::{CameraEffects, Exposure, ToneMapper},
    gpu_scene::{GpuScenePose, scene_bvh::RayTracedLights},
    optics::{MountedLens, ghosts::LensGhosts},
    passes::shadow_rays::MAX_REUSE_FRAMES,
    settings::{
        AntiAliasing, AoSettings, CausticSettings, ClusteredLightSettings, CullingSettings,
        GiSettings, RefractionMethod, ShadowMethod, ShadowSampling, ShadowSettings, SsrSettings,
        TemporalSettings, VolumeSettings,
    },
};

impl RayTracedLights {
    /// The lights that need a BVH for shadow rays.
    #[must_use]
    pub const fn of(settings: &ShadowSettings) -> Self {
        match settings.method {
            ShadowMethod::Traced if settings.enabled => Self::All,
            ShadowMethod::Auto if settings.enabled => Self::Sized,
            _ => Self::None,
        }
    }
}

/// Index of a frame among those whose mean is a still image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSample {
    /// Index, from 0.
    pub number: u32,
    /// Number of frames.
    pub count: u32,
}

impl FrameSample {
    /// The frame before it.
    #[must_use]
    pub fn before(self) -> Option<Self> {
        Some(Self { number: self.number.checked_sub(1)?, ..self })
    }
}

/// Minimum number of frames of a still whose frames show small lamps well enough with one sample of
/// emission each.
const MIN_FRAMES_WITHOUT_SUPERSAMPLING: u32 = 16;

/// Maximum number of pixels of a picture with more samples of emission, whose images take 48 bytes
/// a pixel: 201 MB.
const MAX_SUPERSAMPLED_PIXELS: u64 = 1 << 22;

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
    /// Few shadow maps are redrawn when the camera moves: maps keep their places of the atlas, and
    /// cascades are an eighth wider. Off: maps depend on this frame alone.
    pub shadow_maps_in_motion: bool,
    /// Maximum size of the buffer of shadow rays in bytes; `None`: 256 MiB. Larger frames are
    /// traced in bands of rows.
    pub max_ray_buffer_bytes: Option<u64>,
    /// Culling and level of detail.
    pub culling: CullingSettings,
    /// Anti-aliasing method.
    pub anti_aliasing: AntiAliasing,
    /// Temporal anti-aliasing.
    pub taa: TemporalSettings,
    /// Subpixel sample of this frame, if the image is the mean of several frames.
    pub sample: Option<FrameSample>,
    /// Ambient occlusion of the environment's light.
    pub ao: AoSettings,
    /// Indirect light.
    pub gi: GiSettings,
    /// Further divisor of the resolution along each side at which `gi` gathers light, for views in
    /// motion. A power of two; 0 counts as 1.
    pub gi_divisor: u32,
    /// Maximum number of passes of the spatial filter of `gi`, for views in motion; 0: all.
    pub gi_filter_passes: u32,
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
    /// Number that selects the subpixel offset and the noise of a frame with temporal histories;
    /// `None` counts from their start.
    pub history_number: Option<u32>,
    /// Hide the bodies of lights and disks of suns, for probe captures: lights illuminate surfaces
    /// by themselves.
    pub capture: bool,
    /// Render unlit surfaces black, for metering: they look the same at any exposure.
    pub metered: bool,
    /// Pipelines with all features instead of those of the scene and the look, to compare both
    /// (`passes::variants`).
    pub all_features: bool,
    /// AOVs to output besides the image.
    pub aovs: Vec<Aov>,
}

impl RenderSettings {
    /// True if the frame is averaged with others.
    #[must_use]
    pub const fn is_averaged(&self) -> bool {
        self.sample.is_some() || self.accumulated_frames.is_some()
    }

    /// True if the frame has the mean emission of several samples of each pixel: in a still of few
    /// frames and at most `MAX_SUPERSAMPLED_PIXELS`, where lamps are brighter than white. Effects
    /// that blur by depth would give the part of a lamp in a pixel the depth of another surface.
    /// `max_emission`: greatest emission of a shown surface (nits). `size`: of the picture in
    /// pixels.
    #[must_use]
    pub fn supersamples_emission(&self, max_emission: f32, size: [u32; 2]) -> bool {
        let few = |sample: FrameSample| sample.count < MIN_FRAMES_WITHOUT_SUPERSAMPLING;
        self.sample.is_some_and(few)
            && f64::from(max_emission) * self.exposure.multiplier() > 1.0
            && size.map(u64::from).iter().product::<u64>() <= MAX_SUPERSAMPLED_PIXELS
            && self.effects.depth_of_field.is_none()
            && self.effects.motion_blur.is_none()
    }

    /// True if shadows have a fixed ray budget. Probes keep light of one frame, which must not be
    /// noisy.
    #[must_use]
    pub fn has_shadow_ray_budget(&self) -> bool {
        self.shadows.enabled
            && self.shadows.method != ShadowMethod::Maps
            && self.shadows.sampling == ShadowSampling::Budget
            && !self.capture
    }

    /// True if the shadows of a fixed ray budget are denoised.
    #[must_use]
    pub fn denoises_shadows(&self) -> bool {
        self.has_shadow_ray_budget() && self.shadows.denoise && !self.is_averaged()
    }

    /// True if estimates of shadows may use the rays of neighboring pixels in a frame after
    /// `still_frames` static ones. Few frames are averaged with them, many have little noise
    /// without.
    #[must_use]
    pub fn reuses_shadow_rays(&self, still_frames: u32) -> bool {
        let frames = self
            .sample
            .map(|sample| sample.count)
            .or(self.accumulated_frames)
            .unwrap_or(still_frames);
        self.has_shadow_ray_budget() && self.shadows.denoise && frames < MAX_REUSE_FRAMES
    }

    /// True if temporal anti-aliasing upscales the image: its history then collects the samples of
    /// a still image in place of a mean.
    #[must_use]
    pub fn is_upscaled(&self) -> bool {
        self.anti_aliasing == AntiAliasing::Temporal && self.taa.render_scale < 1.0
    }

    /// True if diffuse and specular light are separate images, for AOVs.
    #[must_use]
    pub fn splits_lighting(&self) -> bool {
        let whole = |aov: &Aov| matches!(aov, Aov::Channel(_) | Aov::Velocity | Aov::Ssr(_));
        !self.aovs.iter().all(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photometry::Ev100;

    #[test]
    fn emission_has_more_samples_in_small_stills_of_few_frames_with_bright_lamps() {
        let decides = |count: u32, nits: f32, size: [u32; 2]| {
            let settings = RenderSettings {
                exposure: Exposure::from_ev100(Ev100(10.0)).unwrap(),
                sample: Some(FrameSample { number: 0, count }),
                ..RenderSettings::default()
            };
            settings.supersamples_emission(nits, size)
        };
        // White is 1.2 * 2^10 nits.
        assert!(decides(4, 5000.0, [1920, 1080]) && decides(15, 5000.0, [1920, 1080]));
        assert!(!decides(16, 5000.0, [1920, 1080]), "many frames");
        assert!(!decides(4, 100.0, [1920, 1080]), "darker than white");
        assert!(!decides(4, 0.0, [1920, 1080]), "no lamp is shown");
        assert!(decides(4, 5000.0, [2048, 2048]) && !decides(4, 5000.0, [2049, 2048]));
        assert!(!decides(4, 5000.0, [3840, 2160]), "4K");
        let moving = RenderSettings { exposure: Exposure::default(), ..RenderSettings::default() };
        assert!(!moving.supersamples_emission(1e9, [64, 64]), "no still");
    }
}
