//! Render settings of a session: of each pass by the look, and of whole pictures.

use super::{
    camera::mount_camera, error::SessionError, exposure_state::ExposureState, open_scene::OpenScene,
};
use crate::{
    camera::{Exposure, SolvedExposure},
    frame::{
        AntiAliasing, AoSettings, Aov, ClusteredLightSettings, GiSettings, RenderSettings,
        ShadowSettings, SsrSettings, TemporalSettings, VolumeSettings,
    },
    gpu_scene::LodGeneration,
    passes::{caustics::CausticSettings, culling::CullingSettings},
    scene::look::AaMethod,
};

/// Samples a pixel of a still picture with temporal anti-aliasing (docs/anti-aliasing.md has the
/// error by sample count).
const STILL_SAMPLES: f64 = 16.0;

impl OpenScene {
    /// Shadow settings of the look.
    #[must_use]
    pub fn shadows(&self) -> ShadowSettings {
        let shadows = ShadowSettings::default();
        ShadowSettings {
            enabled: self.look.passes.shadows.unwrap_or(shadows.enabled),
            method: self.look.passes.shadow_method.unwrap_or(shadows.method),
            samples: self.look.passes.shadow_samples.unwrap_or(shadows.samples),
            resolution: self.look.passes.shadow_resolution.unwrap_or(shadows.resolution),
        }
    }

    /// Culling and level-of-detail settings of the look.
    #[must_use]
    pub fn culling(&self) -> CullingSettings {
        let (look, culling) = (&self.look.passes, CullingSettings::default());
        CullingSettings {
            enabled: look.culling.unwrap_or(culling.enabled),
            occlusion: look.culling_occlusion.unwrap_or(culling.occlusion),
            min_instances: look.culling_min_instances.unwrap_or(culling.min_instances),
            max_error_pixels: look
                .lod_max_error_pixels
                .map_or(culling.max_error_pixels, |pixels| pixels as f32),
            ..culling
        }
    }

    /// Meshes that get coarser levels of detail, by the look.
    #[must_use]
    pub fn levels(&self) -> LodGeneration {
        if self.culling().max_error_pixels > 0.0 {
            LodGeneration::Large
        } else {
            LodGeneration::None
        }
    }

    /// Anti-aliasing settings of the look.
    #[must_use]
    pub fn anti_aliasing(&self) -> AntiAliasing {
        let (look, default) = (&self.look.passes, TemporalSettings::default());
        match look.aa_method.unwrap_or_default() {
            AaMethod::None => AntiAliasing::None,
            AaMethod::Morphological => AntiAliasing::Morphological,
            AaMethod::Temporal => AntiAliasing::Temporal(TemporalSettings {
                scale: look.taa_render_scale.unwrap_or(default.scale),
                variance_gamma: look
                    .taa_variance_gamma
                    .map_or(default.variance_gamma, |clip| clip as f32),
                max_history_frames: look
                    .taa_max_history_frames
                    .map_or(default.max_history_frames, |frames| frames as f32),
                mip_bias: look.taa_mip_bias.unwrap_or(default.mip_bias),
                ..default
            }),
        }
    }

    /// Number of frames accumulated for a still picture: the look's `passes.aa.samples`, else 1.
    /// With temporal anti-aliasing or GI, each output pixel gets `STILL_SAMPLES` samples.
    #[must_use]
    pub fn still_samples(&self) -> u32 {
        self.look.passes.aa_samples.unwrap_or_else(|| match self.anti_aliasing() {
            AntiAliasing::Temporal(temporal) => {
                (STILL_SAMPLES / temporal.scale.clamp(0.25, 1.0).powi(2)).ceil() as u32
            }
            AntiAliasing::None | AntiAliasing::Morphological if self.gi().enabled => {
                STILL_SAMPLES as u32
            }
            AntiAliasing::None | AntiAliasing::Morphological => 1,
        })
    }

    /// Ambient occlusion settings of the look.
    #[must_use]
    pub fn ao(&self) -> AoSettings {
        let (look, ao) = (&self.look.passes.ao, AoSettings::default());
        AoSettings {
            enabled: look.enabled.unwrap_or(ao.enabled),
            radius: look.radius.unwrap_or(ao.radius),
            falloff: look.falloff.unwrap_or(ao.falloff),
            thickness: look.thickness.unwrap_or(ao.thickness),
            slices: look.slices.unwrap_or(ao.slices),
            steps: look.steps.unwrap_or(ao.steps),
            half_resolution: look.half_resolution.unwrap_or(ao.half_resolution),
            filter: look.filter.unwrap_or(ao.filter),
            multi_bounce: look.multi_bounce.unwrap_or(ao.multi_bounce),
        }
    }

    /// Screen-space reflection settings of the look.
    #[must_use]
    pub fn ssr(&self) -> SsrSettings {
        let (look, ssr) = (&self.look.passes.ssr, SsrSettings::default());
        SsrSettings {
            enabled: look.enabled.unwrap_or(ssr.enabled),
            half_resolution: look.half_resolution.unwrap_or(ssr.half_resolution),
            max_roughness: look.max_roughness.unwrap_or(ssr.max_roughness),
            thickness: look.thickness.unwrap_or(ssr.thickness),
            taps: look.taps.unwrap_or(ssr.taps),
            steps: look.steps.unwrap_or(ssr.steps),
            max_history_frames: look.max_history_frames.unwrap_or(ssr.max_history_frames),
            reprojection: look.reprojection.map_or(ssr.reprojection, Into::into),
            still: ssr.still,
        }
    }

    /// Participating media settings of the look.
    #[must_use]
    pub fn volumes(&self) -> VolumeSettings {
        let (look, volumes) = (&self.look.passes.volumes, VolumeSettings::default());
        VolumeSettings {
            enabled: look.enabled.unwrap_or(volumes.enabled),
            half_resolution: look.half_resolution.unwrap_or(volumes.half_resolution),
            steps: look.steps.unwrap_or(volumes.steps),
            shadow_steps: look.shadow_steps.unwrap_or(volumes.shadow_steps),
            filter: look.filter.unwrap_or(volumes.filter),
        }
    }

    /// Indirect light (GI) settings of the look.
    #[must_use]
    pub fn gi(&self) -> GiSettings {
        let (look, gi) = (&self.look.gi, GiSettings::default());
        GiSettings {
            enabled: look.enabled.unwrap_or(gi.enabled),
            vpls: look.vpls.unwrap_or(gi.vpls),
            photons: look.photons.or(gi.photons),
            bounces: look.bounces.unwrap_or(gi.bounces),
            merge: look.merge.unwrap_or(gi.merge),
            merge_cell_size: look.merge_cell_size.or(gi.merge_cell_size),
            vpl_samples: look.vpl_samples.unwrap_or(gi.vpl_samples),
            all: look.all_vpls.unwrap_or(gi.all),
            vpl_visibility: look.vpl_visibility.unwrap_or(gi.vpl_visibility),
            clamp_radius: look.clamp_radius.unwrap_or(gi.clamp_radius),
            bias_compensation: look.bias_compensation.unwrap_or(gi.bias_compensation),
            environment_visibility: look
                .environment_visibility
                .unwrap_or(gi.environment_visibility),
            specular: look.specular.unwrap_or(gi.specular),
            denoise: look.denoise.unwrap_or(gi.denoise),
            max_history_frames: look.max_history_frames.unwrap_or(gi.max_history_frames),
            freeze_after: look.freeze_after.unwrap_or(gi.freeze_after),
            show_vpls: look.debug_view.unwrap_or(gi.show_vpls),
        }
    }

    /// Render settings of the final picture, with camera effects for the solved dials.
    ///
    /// # Errors
    ///
    /// [`SessionError::Look`] if the lens cannot be set to the dials.
    pub fn final_settings(
        &self,
        exposed: &ExposureState,
        aovs: Vec<Aov>,
    ) -> Result<RenderSettings, SessionError> {
        let (effects, lens) = match exposed.solved {
            Some(SolvedExposure { dials, .. }) => {
                let camera = self.physical_camera.with_dials(dials);
                let (_, effects, lens) = mount_camera(&camera, self.camera.1, self.size, None)?;
                (effects, lens)
            }
            None => (self.effects, self.lens.clone()),
        };
        Ok(RenderSettings {
            effects,
            ghosts: self.physical_camera.ghosts(lens.as_deref())?,
            lens,
            anti_aliasing: self.anti_aliasing(),
            ssr: self.ssr(),
            gi: self.gi(),
            ..self.settings(exposed.exposure, aovs)
        })
    }

    /// Render settings of the look at an exposure, without camera effects and history; meters use
    /// them.
    #[must_use]
    pub fn settings(&self, exposure: Exposure, aovs: Vec<Aov>) -> RenderSettings {
        let default = ClusteredLightSettings::default();
        RenderSettings {
            exposure,
            tone_mapper: self.look.passes.tone_mapper.unwrap_or_default(),
            clustered_lights: ClusteredLightSettings {
                enabled: self.look.passes.clustered_lights.unwrap_or(default.enabled),
                cull_threshold: self
                    .look
                    .passes
                    .cull_threshold
                    .map_or(default.cull_threshold, |bound| bound as f32),
            },
            dither: self.look.passes.dither.unwrap_or(true),
            shadows: self.shadows(),
            culling: self.culling(),
            ao: self.ao(),
            // Metering renders single frames without history.
            ssr: SsrSettings { max_history_frames: 0, ..self.ssr() },
            gi: GiSettings { max_history_frames: 0, ..self.gi() },
            volumes: self.volumes(),
            refraction: self.look.passes.refraction.unwrap_or_default(),
            caustics: self
                .look
                .passes
                .caustics_resolution
                .map_or_else(CausticSettings::default, |resolution| CausticSettings { resolution }),
            aovs,
            ..RenderSettings::default()
        }
    }
}
