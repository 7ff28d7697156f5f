//! Scenes for the path tracer: BVH, camera, exposure before and after tracing.

use std::time::Instant;

use super::{
    error::SessionError,
    expose::{self, ExposureState, exposure_from_metering, meter_pixels},
    open_scene::OpenScene,
    part::MAX_PIXELS,
};
use crate::{
    camera::{
        CameraEffects, Exposure, ExposureControl, ExposureMode, MeteringMode, effects::MotionBlur,
    },
    frame::RenderSettings,
    reference::{CancelToken, Film, FilmSettings, Fingerprint, LensCamera, LightComponents, World},
};

/// Samples a pixel of the metering pre-render (see [`premeter`]).
const METER_SAMPLES: u32 = 16;

/// A scene that is ready to be path traced.
pub struct PathScene<'a> {
    /// The scene, its look and its camera.
    pub session: &'a OpenScene,
    /// The scene for the path tracer.
    pub world: World<'a>,
    /// Time of the construction of `world` in s.
    pub built: f64,
    /// Exposure of automatic dials, which are metered before tracing.
    metered: Option<ExposureState>,
    /// Camera effects.
    pub effects: CameraEffects,
    /// Animated motion during the exposure.
    pub motion: Option<MotionBlur>,
    /// The camera.
    pub camera: LensCamera,
    /// Settings of the film.
    pub settings: FilmSettings,
    /// Fingerprint of all inputs of the film.
    pub print: Fingerprint,
}

impl<'a> PathScene<'a> {
    /// Builds the BVH, and meters automatic dials.
    ///
    /// # Errors
    /// [`SessionError::InvalidRequest`] for a picture that is too large and for the incident light
    /// meter; [`SessionError::Look`] if the lens cannot be set; [`SessionError::Canceled`] by
    /// `cancel` while metering.
    pub fn new(
        session: &'a OpenScene,
        settings: FilmSettings,
        cancel: &impl CancelToken,
    ) -> Result<Self, SessionError> {
        let (width, height) = (session.size.width as usize, session.size.height as usize);
        if width as u64 * height as u64 > MAX_PIXELS {
            let message = format!(
                "--size {width}x{height} is too large: the path tracer supports at most {MAX_PIXELS} pixels"
            );
            return Err(SessionError::InvalidRequest(message));
        }
        let dials = &session.physical_camera.dials;
        if expose::is_adaptive(session) && dials.metering.mode == MeteringMode::Incident {
            let message = "camera.metering.mode = incident is not available with the path tracer, which renders no incident \
                           light; set camera.exposure.ev100 to the reading of `meter`, or use --set camera.metering.mode=spot, \
                           which meters the same place";
            return Err(SessionError::InvalidRequest(message.into()));
        }
        let started = Instant::now();
        let world = session.world();
        let built = started.elapsed().as_secs_f64();
        // Automatic dials change the aperture and shutter, so metering precedes tracing.
        let metered = match dials.control() {
            ExposureControl::Dials(mode) if mode != ExposureMode::Manual => {
                Some(exposure_from_metering(session, premeter(session, &world, cancel)?)?)
            }
            _ => None,
        };
        let (mut effects, mounted) = match &metered {
            Some(exposed) => {
                let RenderSettings { effects, lens, .. } =
                    session.final_settings(exposed, vec![])?;
                (effects, lens)
            }
            None => (session.effects, session.lens.clone()),
        };
        let motion = session.animated_motion_blur(&effects);
        effects.motion_blur = motion.or(effects.motion_blur);
        let camera = LensCamera::new(session.camera.0, session.camera.1, width, height, &effects)
            .with_lens(mounted.clone());
        let lens = (effects.depth_of_field, effects.motion_blur, effects.vignetting, &mounted);
        let print = Fingerprint::of(&session.scene, &(session.camera, lens, settings));
        Ok(Self { session, world, built, metered, effects, motion, camera, settings, print })
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn size(&self) -> (usize, usize) {
        (self.session.size.width as usize, self.session.size.height as usize)
    }

    /// Exposure of a film's picture. Metering excludes unlit surfaces: their luminance follows the
    /// exposure.
    ///
    /// # Errors
    /// [`SessionError::InvalidRequest`] if the position of a spot meter is outside of the picture.
    pub fn expose(&self, film: &Film) -> Result<ExposureState, SessionError> {
        if let Some(exposed) = self.metered {
            return Ok(exposed);
        }
        let light = film.mean(LightComponents::total);
        let falloff = |place| self.camera.falloff(place);
        let metered = meter_pixels(self.session, &light, self.size(), falloff)?;
        exposure_from_metering(self.session, metered)
    }
}

/// Meters the scene on a quarter-resolution pinhole render.
fn premeter(
    session: &OpenScene,
    world: &World<'_>,
    cancel: &impl CancelToken,
) -> Result<Option<Exposure>, SessionError> {
    let size = [session.size.width, session.size.height].map(|side| (side as usize / 4).max(1));
    let camera = LensCamera::new(
        session.camera.0,
        session.camera.1,
        size[0],
        size[1],
        &CameraEffects::default(),
    );
    let mut film = Film::new(size[0], size[1], FilmSettings::default());
    if !film.add(world, &camera, METER_SAMPLES, cancel) {
        return Err(SessionError::Canceled);
    }
    meter_pixels(session, &film.mean(LightComponents::total), (size[0], size[1]), |_| 1.0)
}
