//! Render settings of a session: of each pass by the look, and of whole pictures.

use super::{
    camera::mount_camera, error::SessionError, exposure_state::ExposureState, open_scene::OpenScene,
};
use crate::{
    camera::{Exposure, SolvedExposure},
    frame::{Aov, RenderSettings},
    gpu_scene::LodGeneration,
    settings::{AntiAliasing, GiSettings, PassesSettings, SsrSettings},
};

/// Samples a pixel of a still picture with temporal anti-aliasing (docs/anti-aliasing.md has the
/// error by sample count).
const STILL_SAMPLES: f64 = 16.0;

impl OpenScene {
    /// Settings of the passes, by the look.
    #[must_use]
    pub fn passes(&self) -> PassesSettings {
        self.look.passes.resolve()
    }

    /// Settings of indirect light (GI), by the look.
    #[must_use]
    pub fn gi(&self) -> GiSettings {
        self.look.gi.resolve()
    }

    /// Meshes that get coarser levels of detail, by the look.
    #[must_use]
    pub fn levels(&self) -> LodGeneration {
        if self.passes().culling.max_error_pixels > 0.0 {
            LodGeneration::Large
        } else {
            LodGeneration::None
        }
    }

    /// Number of frames accumulated for a still picture: the look's `passes.aa.samples`, else 1.
    /// With temporal anti-aliasing or GI, each output pixel gets `STILL_SAMPLES` samples.
    #[must_use]
    pub fn still_samples(&self) -> u32 {
        let passes = self.passes();
        passes.aa.samples.unwrap_or_else(|| match passes.aa.method {
            AntiAliasing::Temporal => {
                (STILL_SAMPLES / passes.taa.render_scale.clamp(0.25, 1.0).powi(2)).ceil() as u32
            }
            AntiAliasing::None | AntiAliasing::Morphological if self.gi().enabled => {
                STILL_SAMPLES as u32
            }
            AntiAliasing::None | AntiAliasing::Morphological => 1,
        })
    }

    /// Number of frames accumulated for each picture of a sequence: the look's
    /// `passes.aa.samples`. `None` renders one frame for each, with histories; a tier's samples are
    /// those of stills.
    #[must_use]
    pub fn sequence_samples(&self) -> Option<u32> {
        let by_tier = self.look.quality.value("passes.aa.samples");
        self.look.passes.aa.samples.filter(|_| by_tier.is_none())
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
        let passes = self.passes();
        Ok(RenderSettings {
            effects,
            ghosts: self.physical_camera.ghosts(lens.as_deref())?,
            lens,
            anti_aliasing: passes.aa.method,
            ssr: passes.ssr,
            gi: self.gi(),
            ..self.settings(exposed.exposure, aovs)
        })
    }

    /// Render settings of the look at an exposure, without camera effects and history; meters use
    /// them.
    #[must_use]
    pub fn settings(&self, exposure: Exposure, aovs: Vec<Aov>) -> RenderSettings {
        let passes = self.passes();
        RenderSettings {
            exposure,
            tone_mapper: passes.tonemap.operator,
            dither: passes.tonemap.dither,
            taa: passes.taa,
            clustered_lights: passes.clustered_lights,
            shadows: passes.shadows,
            culling: passes.culling,
            ao: passes.ao,
            // Metering renders single frames without history.
            ssr: SsrSettings { max_history_frames: 0, ..passes.ssr },
            gi: GiSettings { max_history_frames: 0, ..self.gi() },
            volumes: passes.volumes,
            refraction: passes.refraction.method,
            caustics: passes.caustics,
            aovs,
            ..RenderSettings::default()
        }
    }
}
