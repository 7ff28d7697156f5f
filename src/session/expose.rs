//! Exposure of a scene by dials or priority modes for a reading of the light meter, and readings of
//! finished pictures.

use glam::{DVec2, DVec3, Mat3, Vec3};

pub use super::exposure_state::ExposureState;
use super::{error::SessionError, open_scene::OpenScene};
use crate::{
    camera::{
        Exposure, ExposureControl, ExposureMode, ImagePosition, MeterMode, Metering, MeteringMode,
        metering::{self, MeterError},
    },
    frame::RenderedImage,
    photometry::color,
    scene::{Projection, look::LookError},
};

/// Luminance of each pixel in nits.
#[must_use]
pub fn luminances(picture: &RenderedImage) -> Vec<f32> {
    picture.nits.iter().map(|c| color::luminance(Vec3::from_array(*c).as_dvec3()) as f32).collect()
}

impl OpenScene {
    /// The metering mode with its parameters for a picture size in pixels.
    ///
    /// # Errors
    ///
    /// [`SessionError::InvalidRequest`] if `at` lies outside the picture, or for incident metering,
    /// which reads the scene and not a picture.
    pub fn meter_mode(
        &self,
        mode: MeteringMode,
        at: ImagePosition,
        [width, height]: [u32; 2],
    ) -> Result<MeterMode, SessionError> {
        Ok(match mode {
            MeteringMode::LogAverage => MeterMode::LogAverage,
            MeteringMode::Average => MeterMode::Average,
            MeteringMode::Center => MeterMode::CenterWeighted,
            MeteringMode::Matrix => MeterMode::Matrix,
            MeteringMode::Incident => {
                let message = "camera.metering.mode = incident is not available for a finished picture; set another mode";
                return Err(SessionError::InvalidRequest(message.into()));
            }
            MeteringMode::Spot => {
                let [x, y] = pixel(at, [width, height])?;
                let center = [(x, width), (y, height)]
                    .map(|(at, size)| (f64::from(at) + 0.5) / f64::from(size));
                let half = self.physical_camera.dials.metering.spot_angle / 2.0;
                let radius = match self.camera.1 {
                    Projection::Perspective { vertical_fov, .. } => {
                        half.tan() / (2.0 * (f64::from(vertical_fov) / 2.0).tan())
                    }
                    // Orthographic: 1.8 % of the height, as with a normal lens.
                    Projection::Orthographic { .. } => 0.018 * half / (Metering::SPOT_ANGLE / 2.0),
                };
                MeterMode::Spot { center, radius }
            }
        })
    }
}

/// Converts an image position to a pixel.
///
/// # Errors
///
/// [`SessionError::InvalidRequest`] if it lies outside the picture.
pub fn pixel(at: ImagePosition, [width, height]: [u32; 2]) -> Result<[u32; 2], SessionError> {
    at.pixel(width, height).ok_or_else(|| {
        let (x, y) = (width.saturating_sub(1), height.saturating_sub(1));
        SessionError::InvalidRequest(format!(
            "the position is outside of the picture: expected pixels 0,0 to {x},{y}, or percentages such as 50%,50%"
        ))
    })
}

/// World-space position (m) and normal of the surface at a pixel; `None` for background. The first
/// two AOVs of `picture` must be position and normal.
#[must_use]
pub fn surface(picture: &RenderedImage, [x, y]: [u32; 2]) -> Option<[DVec3; 2]> {
    let seen = |index: usize| {
        let (_, pixels) = picture.aovs.get(index)?;
        let &[a, b, c, there] = pixels.get(y as usize * picture.width + x as usize)?;
        (there > 0.0).then(|| Vec3::new(a, b, c).as_dvec3())
    };
    Some([seen(0)?, seen(1)?])
}

/// Metered exposure of a path traced picture (nits, linear Rec.709). Luminance is divided by
/// `falloff` (vignetting, 0 to 1, by pixel position). `None` if nothing is lit, and for incident
/// metering.
///
/// # Errors
///
/// [`SessionError::InvalidRequest`] if the metering position is outside the picture.
pub fn meter_pixels(
    session: &OpenScene,
    nits: &[DVec3],
    (width, height): (usize, usize),
    falloff: impl Fn(DVec2) -> f64,
) -> Result<Option<Exposure>, SessionError> {
    let Metering { mode, position: at, .. } = session.physical_camera.dials.metering;
    if mode == MeteringMode::Incident {
        return Ok(None);
    }
    let mode = session.meter_mode(mode, at, [width as u32, height as u32])?;
    let of = |(index, c): (usize, &DVec3)| {
        let place = DVec2::new((index % width) as f64, (index / width) as f64) + 0.5;
        (color::luminance(*c) / falloff(place).max(1e-9)) as f32
    };
    let luminances: Vec<f32> = nits.iter().enumerate().map(of).collect();
    metered_exposure(&luminances, (width, height), mode)
}

/// Exposure by a reading of luminances in nits; `None` if nothing is lit.
pub(super) fn metered_exposure(
    luminances: &[f32],
    (width, height): (usize, usize),
    mode: MeterMode,
) -> Result<Option<Exposure>, SessionError> {
    match metering::meter(luminances, width, height, mode) {
        Ok(nits) => Ok(Some(Exposure::from_luminance(nits).map_err(LookError::from)?)),
        Err(MeterError::Dark) => Ok(None),
        Err(error) => Err(SessionError::InvalidRequest(error.to_string())),
    }
}

/// Exposure by the look's mode for a metered exposure.
///
/// # Errors
///
/// [`SessionError::Look`] for dials out of range.
pub fn exposure_from_metering(
    session: &OpenScene,
    metered: Option<Exposure>,
) -> Result<ExposureState, SessionError> {
    exposure_from_adaptation(session, metered, metered)
}

/// As [`exposure_from_metering`], with an adapted exposure that differs from the metered one.
pub(super) fn exposure_from_adaptation(
    session: &OpenScene,
    metered: Option<Exposure>,
    adapted: Option<Exposure>,
) -> Result<ExposureState, SessionError> {
    let camera = &session.physical_camera;
    let control = camera.dials.control();
    let ExposureControl::Dials(mode) = control else {
        let exposure = camera.dials.compensated(adapted.unwrap_or_default())?;
        return Ok(ExposureState { exposure, metered, adapted, control, solved: None });
    };
    if mode == ExposureMode::Manual {
        let exposure = camera.dials.exposure()?;
        return Ok(ExposureState { exposure, metered, adapted, control, solved: None });
    }
    let requested = camera.dials.compensated(adapted.unwrap_or_default())?;
    let solved = camera.solve(mode, requested)?;
    Ok(ExposureState { exposure: solved.exposure, metered, adapted, control, solved: Some(solved) })
}

/// True if the exposure adapts over a sequence; `Session::adapt` then uses the pictures' histograms
/// (`RenderSettings::histogram`).
#[must_use]
pub fn is_adaptive(session: &OpenScene) -> bool {
    session.physical_camera.dials.control() != ExposureControl::Dials(ExposureMode::Manual)
}

/// White balance matrix of the look for a picture in nits, in rows of `width` pixels.
///
/// # Errors
///
/// [`SessionError::InvalidRequest`] or [`SessionError::Look`] for a card outside the picture or
/// black.
pub fn white_balance_from_pixels(
    session: &OpenScene,
    nits: &[DVec3],
    width: usize,
) -> Result<Mat3, SessionError> {
    let balance = &session.physical_camera.dials.white_balance;
    let picked = match balance.gray_card {
        Some(at) => {
            let [x, y] =
                pixel(at, [session.size.width, session.size.height])?.map(|side| side as usize);
            nits.get(y * width + x).copied()
        }
        None => None,
    };
    Ok(balance.matrix(picked)?.as_mat3())
}
