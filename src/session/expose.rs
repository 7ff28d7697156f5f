//! Exposure of a session by dials, meter or priority mode, its adaptation, and white balance.

use glam::{DVec2, DVec3, Mat3, Vec3};

pub use super::exposure_state::ExposureState;
use super::{Session, SessionError};
use crate::{
    camera::{
        Exposure, ExposureMode, MeterMode,
        exposure::Receptor,
        metering::{self, AutoExposure, MeterError, SolvedExposure},
    },
    frame::{
        Aov, RenderedImage, Renderer,
        incident::{self, IncidentError},
    },
    gpu_scene::{GpuScene, View},
    passes::{exposure_histogram::LuminanceHistogram, gbuffer_channel::GbufferChannel},
    photometry::{Ev100, color},
    scene::{
        Projection,
        look::{
            Look, LookError,
            metering::{ExposureControl, ImagePosition, MeteringMode},
        },
    },
};

/// Luminance of each pixel in nits.
#[must_use]
pub fn luminances(picture: &RenderedImage) -> Vec<f32> {
    picture.nits.iter().map(|c| color::luminance(Vec3::from_array(*c).as_dvec3()) as f32).collect()
}

/// Default full angle of the spot meter in rad: 1 degree.
const SPOT_ANGLE: f64 = std::f64::consts::PI / 180.0;

impl Session {
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
                let half = self.look.metering.spot_angle.unwrap_or(SPOT_ANGLE) / 2.0;
                let radius = match self.camera.1 {
                    Projection::Perspective { vertical_fov, .. } => {
                        half.tan() / (2.0 * (f64::from(vertical_fov) / 2.0).tan())
                    }
                    // Orthographic: 1.8 % of the height, as with a normal lens.
                    Projection::Orthographic { .. } => 0.018 * half / (SPOT_ANGLE / 2.0),
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

/// The pixel of the look's metering position.
fn metered_pixel(session: &Session, view: &View) -> Result<[u32; 2], SessionError> {
    pixel(
        session.look.metering.position.unwrap_or(ImagePosition::CENTER),
        [view.width, view.height],
    )
}

/// Position and normal of the surface at the metered pixel.
fn metered_surface(
    session: &Session,
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
) -> Result<Option<[DVec3; 2]>, SessionError> {
    let at = metered_pixel(session, view)?;
    let aovs = vec![Aov::Channel(GbufferChannel::Position), Aov::Channel(GbufferChannel::Normal)];
    let picture = renderer.render(scene, view, &session.settings(Exposure::default(), aovs))?;
    Ok(surface(&picture, at))
}

/// Incident reading with a flat receptor on the surface at the metered pixel, along its normal;
/// `None` without light or surface.
fn meter_incident(
    session: &Session,
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
) -> Result<Option<Exposure>, SessionError> {
    let Some([point, normal]) = metered_surface(session, renderer, scene, view)? else {
        return Ok(None);
    };
    let flat = Receptor::Flat;
    match incident::illuminance(
        renderer,
        &session.scene,
        point,
        normal,
        flat,
        session.passes().shadows,
    ) {
        Ok(lux) if lux.get() > 0.0 => {
            Ok(Some(Exposure::from_illuminance(lux, flat).map_err(LookError::from)?))
        }
        Ok(_) => Ok(None),
        Err(IncidentError::Gpu(error)) => Err(SessionError::Gpu(error)),
        Err(error) => Err(SessionError::InvalidRequest(error.to_string())),
    }
}

/// Metered exposure of the scene in this view, independent of the dials; `None` if nothing is lit,
/// or if incident metering finds no surface.
///
/// # Errors
///
/// [`SessionError::InvalidRequest`] if the metering position is outside the picture,
/// [`SessionError::Gpu`] if rendering fails.
pub fn meter(
    session: &Session,
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
) -> Result<Option<Exposure>, SessionError> {
    meter_from(session, renderer, scene, view, Exposure::default())
}

/// As [`meter`], with an initial exposure.
fn meter_from(
    session: &Session,
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
    mut exposure: Exposure,
) -> Result<Option<Exposure>, SessionError> {
    let look = &session.look.metering;
    let mode = look.mode.unwrap_or_default();
    if mode == MeteringMode::Incident {
        return meter_incident(session, renderer, scene, view);
    }
    // A quarter of the size is enough for means, but not for a spot.
    let part = if mode == MeteringMode::Spot { 1 } else { 4 };
    let size = [view.width, view.height].map(|side| (side / part).max(1));
    let mode = session.meter_mode(mode, look.position.unwrap_or(ImagePosition::CENTER), size)?;
    let small = View::new(session.camera.0, &session.camera.1, size[0], size[1]);
    // Half floats hold about 30 stops, and light culling depends on the exposure. A reading is
    // accepted once it agrees with the exposure of the picture it was taken from.
    for _ in 0..METER_ROUNDS {
        let mut settings = session.settings(exposure, vec![]);
        settings.clustered_lights.cull_threshold /= 1024.0;
        settings.metered = true;
        let picture = renderer.render(scene, &small, &settings)?;
        let reading =
            match metering::meter(&luminances(&picture), picture.width, picture.height, mode) {
                Ok(nits) => Some(Exposure::from_luminance(nits).map_err(LookError::from)?),
                Err(MeterError::Dark) => None,
                Err(error) => return Err(SessionError::InvalidRequest(error.to_string())),
            };
        match reading {
            Some(read) if read.stops_above(exposure).abs() < 0.1 => return Ok(Some(read)),
            Some(read) => exposure = read,
            // Nothing brighter than the smallest half float: try twenty stops lower.
            None if exposure.ev100().get() > -40.0 => {
                exposure =
                    Exposure::from_ev100(Ev100(exposure.ev100().get() - 20.0)).unwrap_or_default();
            }
            None => return Ok(None),
        }
    }
    Ok(Some(exposure))
}

/// Maximum difference in stops between a picture's exposure and its histogram's reading: lights
/// below 1/1024 of white may be culled.
const HISTOGRAM_STOPS: f64 = 6.0;

/// A histogram is rejected if more than one in `BLACK_PART` pixels is black.
const BLACK_PART: u64 = 64;

/// Maximum iterations of [`meter`].
const METER_ROUNDS: u32 = 8;

/// Exposure mode of the look: `camera.exposure.mode`, else manual if it sets dials, else auto.
#[must_use]
pub fn control(look: &Look) -> ExposureControl {
    let manual = ExposureControl::Dials(ExposureMode::Manual);
    look.metering.control.unwrap_or(if look.camera.has_dials() {
        manual
    } else {
        ExposureControl::Auto
    })
}

/// Exposure by the look's mode. With manual dials the scene is metered only if `wanted`.
///
/// # Errors
///
/// [`SessionError::Look`] for dials out of range, [`SessionError::InvalidRequest`] if incident
/// metering sets the exposure and finds no surface, [`SessionError::Gpu`] if rendering fails.
pub fn determine_exposure(
    session: &Session,
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
    wanted: bool,
) -> Result<ExposureState, SessionError> {
    renderer.check_size(view)?;
    let by_hand = control(&session.look) == ExposureControl::Dials(ExposureMode::Manual);
    let metered = if wanted || !by_hand { meter(session, renderer, scene, view)? } else { None };
    if metered.is_none()
        && session.look.metering.mode == Some(MeteringMode::Incident)
        && !by_hand
        && metered_surface(session, renderer, scene, view)?.is_none()
    {
        let at = metered_pixel(session, view)?;
        return Err(SessionError::InvalidRequest(format!(
            "camera.metering.mode = incident: there is no surface at pixel {},{}; set camera.metering.position to one",
            at[0], at[1]
        )));
    }
    exposure_from_metering(session, metered)
}

/// The exposure with the look's compensation.
///
/// # Errors
///
/// [`SessionError::Look`] if the compensated exposure is out of range.
pub fn compensated(look: &Look, exposure: Exposure) -> Result<Exposure, SessionError> {
    Ok(exposure.compensated(look.camera.compensation.unwrap_or(0.0)).map_err(LookError::from)?)
}

/// Solves the dials of a mode for an exposure, from the look's dials and within its ranges.
///
/// # Errors
///
/// [`SessionError::Look`] for contradictory dials or ranges.
pub fn solve(
    look: &Look,
    mode: ExposureMode,
    requested: Exposure,
) -> Result<SolvedExposure, SessionError> {
    let auto_iso = look.metering.auto_iso.unwrap_or(false);
    Ok(mode
        .solve(look.camera.dials(), requested, look.dial_ranges()?, auto_iso)
        .map_err(LookError::from)?)
}

/// White balance matrix of the look, on linear Rec.709. A gray card is read from a picture rendered
/// without white balance.
///
/// # Errors
///
/// [`SessionError::InvalidRequest`] or [`SessionError::Look`] for a card outside the picture or
/// black, [`SessionError::Gpu`] if rendering fails.
pub fn white_balance(
    session: &Session,
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
    exposure: Exposure,
) -> Result<Mat3, SessionError> {
    let look = &session.look.metering;
    let picked = match look.gray_card {
        Some(at) => {
            let [x, y] = pixel(at, [view.width, view.height])?.map(|side| side as usize);
            let picture = renderer.render(scene, view, &session.settings(exposure, vec![]))?;
            let nits = picture.nits.get(y * picture.width + x).copied().unwrap_or_default();
            Some(Vec3::from_array(nits).as_dvec3())
        }
        None => None,
    };
    Ok(look.white_balance(picked)?.as_mat3())
}

/// Metered exposure of a path traced picture (nits, linear Rec.709). Luminance is divided by
/// `falloff` (vignetting, 0 to 1, by pixel position). `None` if nothing is lit, and for incident
/// metering.
///
/// # Errors
///
/// [`SessionError::InvalidRequest`] if the metering position is outside the picture.
pub fn meter_pixels(
    session: &Session,
    nits: &[DVec3],
    (width, height): (usize, usize),
    falloff: impl Fn(DVec2) -> f64,
) -> Result<Option<Exposure>, SessionError> {
    let look = &session.look.metering;
    let (mode, at) =
        (look.mode.unwrap_or_default(), look.position.unwrap_or(ImagePosition::CENTER));
    if mode == MeteringMode::Incident {
        return Ok(None);
    }
    let mode = session.meter_mode(mode, at, [width as u32, height as u32])?;
    let of = |(index, c): (usize, &DVec3)| {
        let place = DVec2::new((index % width) as f64, (index / width) as f64) + 0.5;
        (color::luminance(*c) / falloff(place).max(1e-9)) as f32
    };
    let luminances: Vec<f32> = nits.iter().enumerate().map(of).collect();
    match metering::meter(&luminances, width, height, mode) {
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
    session: &Session,
    metered: Option<Exposure>,
) -> Result<ExposureState, SessionError> {
    exposure_from_adaptation(session, metered, metered)
}

/// As [`exposure_from_metering`], with an adapted exposure that differs from the metered one.
fn exposure_from_adaptation(
    session: &Session,
    metered: Option<Exposure>,
    adapted: Option<Exposure>,
) -> Result<ExposureState, SessionError> {
    let look = &session.look;
    let control = control(look);
    if let ExposureControl::Dials(ExposureMode::Manual) = control {
        let exposure = match look.exposure()? {
            Some(exposure) => exposure,
            None => compensated(look, look.camera.dials().exposure().map_err(LookError::from)?)?,
        };
        return Ok(ExposureState { exposure, metered, adapted, control, solved: None });
    }
    let requested = compensated(look, adapted.unwrap_or_default())?;
    let ExposureControl::Dials(mode) = control else {
        return Ok(ExposureState { exposure: requested, metered, adapted, control, solved: None });
    };
    let solved = solve(look, mode, requested)?;
    Ok(ExposureState { exposure: solved.exposure, metered, adapted, control, solved: Some(solved) })
}

/// True if the exposure adapts over a sequence; [`adapt`] then uses the pictures' histograms
/// (`RenderSettings::histogram`).
#[must_use]
pub fn is_adaptive(look: &Look) -> bool {
    control(look) != ExposureControl::Dials(ExposureMode::Manual)
}

/// Exposure of the next picture of a sequence, `seconds` after `picture`, which was rendered with
/// `last`. The adapted exposure approaches the metered one with the time constants of
/// `camera.exposure.adaptation`. Manual dials and dark scenes keep the exposure; the first reading
/// is adopted at once.
///
/// Log-average metering uses the picture's histogram if the picture was exposed nearly correctly:
/// overexposure saturates half floats, underexposure culls lights. A small picture is metered
/// instead if the histogram is missing or rejected, with unlit surfaces in the scene, and in the
/// other metering modes.
///
/// # Errors
///
/// [`SessionError::Look`] for dials out of range, [`SessionError::Gpu`] if rendering fails.
pub fn adapt(
    session: &Session,
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
    (last, picture): (&ExposureState, &RenderedImage),
    seconds: f64,
) -> Result<ExposureState, SessionError> {
    let look = &session.look;
    if !is_adaptive(look) {
        return Ok(*last);
    }
    // Compensation is applied after adaptation, where the dials are solved.
    let auto = look.metering.auto_exposure(0.0);
    let whole = look.metering.mode.unwrap_or_default() == MeteringMode::LogAverage;
    let unlit = session.scene.materials.iter().any(|material| material.unlit);
    let counts = picture.histogram.as_ref().filter(|_| whole && !unlit);
    let counted =
        counts.map(|counts| read_histogram(&auto, counts, picture.exposure)).transpose()?.flatten();
    let read = match counted {
        Some(read) => Some(read),
        None => meter_from(session, renderer, scene, view, last.metered.unwrap_or(last.exposure))?,
    };
    let adapted = match (last.adapted, read) {
        (Some(from), Some(to)) => Some(auto.adapt(from, to, seconds)),
        (from, to) => from.or(to),
    };
    exposure_from_adaptation(session, read, adapted)
}

/// Reading of the histogram of a picture rendered at `exposure`; `None` if it is unreliable or
/// nothing is lit.
fn read_histogram(
    auto: &AutoExposure,
    counts: &LuminanceHistogram,
    exposure: Exposure,
) -> Result<Option<Exposure>, SessionError> {
    // Black pixels may have lost their lights to culling.
    if u64::from(counts.black()) * BLACK_PART > counts.pixels() {
        return Ok(None);
    }
    match counts.by_ev(exposure).and_then(|histogram| auto.target(&histogram)) {
        Ok(read) => {
            Ok(Some(read).filter(|read| read.stops_above(exposure).abs() < HISTOGRAM_STOPS))
        }
        Err(MeterError::Dark) => Ok(None),
        Err(error) => Err(SessionError::InvalidRequest(error.to_string())),
    }
}

/// White balance matrix of the look for a picture in nits, in rows of `width` pixels.
///
/// # Errors
///
/// [`SessionError::InvalidRequest`] or [`SessionError::Look`] for a card outside the picture or
/// black.
pub fn white_balance_from_pixels(
    session: &Session,
    nits: &[DVec3],
    width: usize,
) -> Result<Mat3, SessionError> {
    let look = &session.look.metering;
    let picked = match look.gray_card {
        Some(at) => {
            let [x, y] =
                pixel(at, [session.size.width, session.size.height])?.map(|side| side as usize);
            nits.get(y * width + x).copied()
        }
        None => None,
    };
    Ok(look.white_balance(picked)?.as_mat3())
}
