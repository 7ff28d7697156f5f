//! How a scene is exposed: by its dials, by what its meter reads, by a mode that turns one of them;
//! and its white balance.

use glam::{DVec2, DVec3, Mat3, Vec3};

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
    passes::{
        GpuScene, View, exposure_histogram::LuminanceHistogram, gbuffer_channel::GbufferChannel,
    },
    photometry::{Ev100, color},
    scene::{
        Projection,
        look::{
            Look, LookError,
            metering::{ExposureControl, ImagePosition, MeteringMode},
        },
    },
};

/// Luminances of a picture's pixels in nits.
#[must_use]
pub fn luminances(picture: &RenderedImage) -> Vec<f32> {
    picture.nits.iter().map(|c| color::luminance(Vec3::from_array(*c).as_dvec3()) as f32).collect()
}

/// The angle of view of a spot meter, if the look has none: a degree.
const SPOT_ANGLE: f64 = std::f64::consts::PI / 180.0;

impl Session {
    /// A mode of metering with its numbers for a picture of this size.
    ///
    /// # Errors
    /// A place outside of the picture; incident light, which is read at a place in the scene and
    /// not from a picture.
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
                let message = "camera.metering.mode = incident: a finished picture holds no incident light; set another mode";
                return Err(SessionError::InvalidRequest(message.into()));
            }
            MeteringMode::Spot => {
                let [x, y] = pixel(at, [width, height])?;
                let centre = [(x, width), (y, height)]
                    .map(|(at, size)| (f64::from(at) + 0.5) / f64::from(size));
                let half = self.look.metering.spot_angle.unwrap_or(SPOT_ANGLE) / 2.0;
                let radius = match self.camera.1 {
                    Projection::Perspective { vertical_fov, .. } => {
                        half.tan() / (2.0 * (f64::from(vertical_fov) / 2.0).tan())
                    }
                    // A parallel view has no angles: as much as on a normal lens.
                    Projection::Orthographic { .. } => 0.018 * half / (SPOT_ANGLE / 2.0),
                };
                MeterMode::Spot { centre, radius }
            }
        })
    }
}

/// The pixel of a place.
///
/// # Errors
/// It lies outside of the picture.
pub fn pixel(at: ImagePosition, [width, height]: [u32; 2]) -> Result<[u32; 2], SessionError> {
    at.pixel(width, height).ok_or_else(|| {
        let (x, y) = (width.saturating_sub(1), height.saturating_sub(1));
        SessionError::InvalidRequest(format!(
            "the place lies outside of the picture; its pixels are 0,0 to {x},{y}, or use percents such as 50%,50%"
        ))
    })
}

/// Point and normal of the surface that a pixel shows, in the world; none where it shows none. The
/// picture's first two further outputs are position and normal.
#[must_use]
pub fn surface(picture: &RenderedImage, [x, y]: [u32; 2]) -> Option<[DVec3; 2]> {
    let seen = |index: usize| {
        let (_, pixels) = picture.aovs.get(index)?;
        let &[a, b, c, there] = pixels.get(y as usize * picture.width + x as usize)?;
        (there > 0.0).then(|| Vec3::new(a, b, c).as_dvec3())
    };
    Some([seen(0)?, seen(1)?])
}

/// The pixel of the look's place.
fn metered_pixel(session: &Session, view: &View) -> Result<[u32; 2], SessionError> {
    pixel(session.look.metering.at.unwrap_or(ImagePosition::CENTER), [view.width, view.height])
}

/// Point and normal of the surface there.
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

/// What a meter with a flat receptor reads on the surface at the look's place, facing along its
/// normal; none where there is no light, or no surface.
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
    match incident::illuminance(renderer, &session.scene, point, normal, flat, session.shadows()) {
        Ok(lux) if lux.get() > 0.0 => {
            Ok(Some(Exposure::from_illuminance(lux, flat).map_err(LookError::from)?))
        }
        Ok(_) => Ok(None),
        Err(IncidentError::Gpu(error)) => Err(SessionError::Gpu(error)),
        Err(error) => Err(SessionError::InvalidRequest(error.to_string())),
    }
}

/// What the scene meters at through this view, whatever the camera's dials; none where nothing is
/// lit, or no surface is there to read incident light on.
///
/// # Errors
/// A place outside of the picture; whatever rendering meets.
pub fn meter(
    session: &Session,
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
) -> Result<Option<Exposure>, SessionError> {
    meter_from(session, renderer, scene, view, Exposure::default())
}

/// As `meter`, with a first guess.
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
    // A quarter of the size tells a mean as well, but not a spot.
    let part = if mode == MeteringMode::Spot { 1 } else { 4 };
    let size = [view.width, view.height].map(|side| (side / part).max(1));
    let mode = session.meter_mode(mode, look.at.unwrap_or(ImagePosition::CENTER), size)?;
    let small = View::new(session.camera.0, &session.camera.1, size[0], size[1]);
    // Half floats hold about 30 stops, and lamps are left out by the exposure of the picture: a
    // reading counts once the picture that it was taken from was exposed for it.
    for _ in 0..METER_ROUNDS {
        let mut settings = session.settings(exposure, vec![]);
        settings.clustered_lights.cull_bound /= 1024.0;
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

/// Stops that a picture may be off from what its histogram reads for that to count: lamps of a
/// 1024th of white may be missing.
const HISTOGRAM_STOPS: f64 = 6.0;

/// The part of a picture's pixels that may be black for its histogram to count: one in so many.
const BLACK_PART: u64 = 64;

/// Readings that `meter` takes at most.
const METER_ROUNDS: u32 = 8;

/// How a picture is exposed, and by whom.
#[derive(Clone, Copy, Debug)]
pub struct ExposureState {
    /// The camera's exposure.
    pub exposure: Exposure,
    /// What the scene meters at; none where it was not asked for or nothing is lit.
    pub metered: Option<Exposure>,
    /// What the camera has adapted to, which it is exposed for where it is not set by hand: over a
    /// sequence it follows what is metered (`follow`), before that it is the same.
    pub adapted: Option<Exposure>,
    /// Who set the exposure.
    pub control: ExposureControl,
    /// The dials as the camera turned them, in a priority mode.
    pub solved: Option<SolvedExposure>,
}

/// Who sets the exposure: the look's mode; without one the dials, where it names any.
#[must_use]
pub fn control(look: &Look) -> ExposureControl {
    let manual = ExposureControl::Dials(ExposureMode::Manual);
    look.metering.control.unwrap_or(if look.camera.has_dials() {
        manual
    } else {
        ExposureControl::Auto
    })
}

/// The exposure as the look's mode sets it; and what the scene meters at, which beside dials set by
/// hand is read only if it is `wanted`.
///
/// # Errors
/// Dials that are out of range; incident light that is to set the exposure where no surface is;
/// whatever rendering meets.
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
            "camera.metering.mode = incident: there is no surface at pixel {},{} to hold the meter to; set \
             camera.metering.at to one",
            at[0], at[1]
        )));
    }
    exposure_from_metering(session, metered)
}

/// An exposure with the look's compensation.
///
/// # Errors
/// A compensation beyond what exposures can be.
pub fn compensated(look: &Look, exposure: Exposure) -> Result<Exposure, SessionError> {
    Ok(exposure.compensated(look.camera.compensation.unwrap_or(0.0)).map_err(LookError::from)?)
}

/// The dials that a mode turns to reach an exposure, from the look's and within its ranges.
///
/// # Errors
/// Ranges or dials that contradict each other.
pub fn solve(
    look: &Look,
    mode: ExposureMode,
    asked: Exposure,
) -> Result<SolvedExposure, SessionError> {
    let auto_iso = look.metering.auto_iso.unwrap_or(false);
    Ok(mode
        .solve(look.camera.dials(), asked, look.dial_ranges()?, auto_iso)
        .map_err(LookError::from)?)
}

/// The matrix of the look's white balance. A grey card is looked up in the picture as it is without
/// one.
///
/// # Errors
/// A card outside of the picture or black; whatever rendering meets.
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

/// What a traced picture meters at by the camera's mode, without what vignetting takes; none where
/// nothing is lit, and of incident light, which no finished picture holds.
///
/// # Errors
/// A place outside of the picture.
pub fn meter_pixels(
    session: &Session,
    nits: &[DVec3],
    (width, height): (usize, usize),
    falloff: impl Fn(DVec2) -> f64,
) -> Result<Option<Exposure>, SessionError> {
    let look = &session.look.metering;
    let (mode, at) = (look.mode.unwrap_or_default(), look.at.unwrap_or(ImagePosition::CENTER));
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

/// How a picture is exposed for what was metered: by the dials, by the meter, or by dials that
/// follow the meter.
///
/// # Errors
/// Dials that are out of range.
pub fn exposure_from_metering(
    session: &Session,
    metered: Option<Exposure>,
) -> Result<ExposureState, SessionError> {
    exposure_from_adaptation(session, metered, metered)
}

/// As `exposure_from_metering`, for a camera that has adapted to something else than what is
/// metered now.
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
    let asked = compensated(look, adapted.unwrap_or_default())?;
    let ExposureControl::Dials(mode) = control else {
        return Ok(ExposureState { exposure: asked, metered, adapted, control, solved: None });
    };
    let solved = solve(look, mode, asked)?;
    Ok(ExposureState { exposure: solved.exposure, metered, adapted, control, solved: Some(solved) })
}

/// Whether the exposure follows what pictures show: `follow` then wants their histograms
/// (`Settings::histogram`).
#[must_use]
pub fn is_adaptive(look: &Look) -> bool {
    control(look) != ExposureControl::Dials(ExposureMode::Manual)
}

/// The exposure of the next picture of a sequence, `seconds` after the last one, which was made
/// with `last`: what the camera has adapted to comes nearer to what the last picture meters at,
/// with the time constants of `camera.exposure.adaptation`. Dials set by hand stay as they are; so
/// does everything in the dark, and a camera that has seen nothing yet adapts at once.
///
/// The mean in stops is that of the picture's histogram, as long as it was exposed nearly for what
/// it shows: far brighter than that, half floats are blown, and far darker, lamps were left out of
/// it. Otherwise, where there is none or unlit surfaces are in the scene, and in the other modes of
/// metering, which weigh places, a small picture is metered as a still's is.
///
/// # Errors
/// Dials that are out of range; whatever rendering meets.
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
    // Compensation comes after adaptation, for dials that are solved for need it there.
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

/// What the histogram of a picture made at an exposure reads; none where it is not to be trusted,
/// or nothing is lit.
fn read_histogram(
    auto: &AutoExposure,
    counts: &LuminanceHistogram,
    exposure: Exposure,
) -> Result<Option<Exposure>, SessionError> {
    // Black pixels may be those whose lamps were left out.
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

/// The matrix of the look's white balance for a picture in nits.
///
/// # Errors
/// A card outside of the picture, or black.
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
