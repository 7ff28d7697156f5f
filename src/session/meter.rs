//! Readings that render the session's scene: the light meter, incident light, a gray card, and the
//! adaptation of the exposure over a sequence.

use glam::{DVec3, Mat3, Vec3};

use super::{
    error::SessionError,
    expose::{
        ExposureState, exposure_from_adaptation, exposure_from_metering, is_adaptive, luminances,
        metered_exposure, pixel, surface, white_balance_from_pixels,
    },
    open::Session,
    open_scene::OpenScene,
};
use crate::{
    camera::{
        Exposure, Metering, MeteringMode,
        exposure::Receptor,
        metering::{AutoExposure, MeterError},
    },
    frame::{
        Aov, RenderedImage, Renderer,
        incident::{self, IncidentError},
    },
    gpu_scene::View,
    passes::{exposure_histogram::LuminanceHistogram, gbuffer_channel::GbufferChannel},
    photometry::{Ev100, Lux},
    scene::look::LookError,
};

/// Maximum difference in stops between a picture's exposure and its histogram's reading: lights
/// below 1/1024 of white may be culled.
const HISTOGRAM_STOPS: f64 = 6.0;

/// A histogram is rejected if more than one in `BLACK_PART` pixels is black.
const BLACK_PART: u64 = 64;

/// Maximum iterations of [`Session::meter`].
const METER_ROUNDS: u32 = 8;

/// Illuminance in lx at a point (m) of a scene, on a receptor that faces along `normal`. The
/// measurement uploads its own copy of the scene.
///
/// # Errors
/// [`SessionError::InvalidRequest`] for a point outside of the scene or a normal without direction,
/// [`SessionError::Gpu`] if rendering fails.
pub fn illuminance(
    opened: &OpenScene,
    renderer: &mut Renderer,
    (point, normal): (DVec3, DVec3),
    receptor: Receptor,
) -> Result<Lux, SessionError> {
    incident::illuminance(renderer, &opened.scene, point, normal, receptor, opened.passes().shadows)
        .map_err(|error| match error {
            IncidentError::Gpu(error) => SessionError::Gpu(error),
            error => SessionError::InvalidRequest(error.to_string()),
        })
}

/// The pixel of the look's metering position.
fn metered_pixel(opened: &OpenScene) -> Result<[u32; 2], SessionError> {
    let at = opened.physical_camera.dials.metering.position;
    pixel(at, [opened.size.width, opened.size.height])
}

impl Session {
    /// Position and normal of the surface at the metered pixel.
    fn metered_surface(&mut self) -> Result<Option<[DVec3; 2]>, SessionError> {
        let at = metered_pixel(&self.opened)?;
        let aovs =
            vec![Aov::Channel(GbufferChannel::Position), Aov::Channel(GbufferChannel::Normal)];
        let picture = self.render(&self.opened.settings(Exposure::default(), aovs))?;
        Ok(surface(&picture, at))
    }

    /// [`illuminance`] in the session's scene.
    ///
    /// # Errors
    /// [`SessionError::InvalidRequest`] for a point outside of the scene or a normal without
    /// direction, [`SessionError::Gpu`] if rendering fails.
    pub fn illuminance(
        &mut self,
        point: DVec3,
        normal: DVec3,
        receptor: Receptor,
    ) -> Result<Lux, SessionError> {
        illuminance(&self.opened, &mut self.renderer, (point, normal), receptor)
    }

    /// Incident reading with a flat receptor on the surface at the metered pixel, along its normal;
    /// `None` without light or surface.
    fn meter_incident(&mut self) -> Result<Option<Exposure>, SessionError> {
        let Some([point, normal]) = self.metered_surface()? else { return Ok(None) };
        let flat = Receptor::Flat;
        let lux = self.illuminance(point, normal, flat)?;
        if lux.get() > 0.0 {
            Ok(Some(Exposure::from_illuminance(lux, flat).map_err(LookError::from)?))
        } else {
            Ok(None)
        }
    }

    /// Metered exposure of the scene, independent of the dials; `None` if nothing is lit, or if
    /// incident metering finds no surface.
    ///
    /// # Errors
    /// [`SessionError::InvalidRequest`] if the metering position is outside the picture,
    /// [`SessionError::Gpu`] if rendering fails.
    pub fn meter(&mut self) -> Result<Option<Exposure>, SessionError> {
        self.meter_from(Exposure::default())
    }

    /// As [`Session::meter`], with an initial exposure.
    fn meter_from(&mut self, mut exposure: Exposure) -> Result<Option<Exposure>, SessionError> {
        let Metering { mode, position, .. } = self.opened.physical_camera.dials.metering;
        if mode == MeteringMode::Incident {
            return self.meter_incident();
        }
        // A quarter of the size is enough for means, but not for a spot.
        let part = if mode == MeteringMode::Spot { 1 } else { 4 };
        let opened = &self.opened;
        let size = [opened.size.width, opened.size.height].map(|side| (side / part).max(1));
        let mode = opened.meter_mode(mode, position, size)?;
        let small = View::new(opened.camera.0, &opened.camera.1, size[0], size[1]);
        // Half floats hold about 30 stops, and light culling depends on the exposure. A reading is
        // accepted once it agrees with the exposure of the picture it was taken from.
        for _ in 0..METER_ROUNDS {
            let mut settings = self.opened.settings(exposure, vec![]);
            settings.clustered_lights.cull_threshold /= 1024.0;
            settings.metered = true;
            let picture = self.renderer.render(&self.gpu_scene, &small, &settings)?;
            let size = (picture.width, picture.height);
            let reading = metered_exposure(&luminances(&picture), size, mode)?;
            match reading {
                Some(read) if read.stops_above(exposure).abs() < 0.1 => return Ok(Some(read)),
                Some(read) => exposure = read,
                // Nothing brighter than the smallest half float: try twenty stops lower.
                None if exposure.ev100().get() > -40.0 => {
                    let ev100 = Ev100(exposure.ev100().get() - 20.0);
                    exposure = Exposure::from_ev100(ev100).unwrap_or_default();
                }
                None => return Ok(None),
            }
        }
        Ok(Some(exposure))
    }

    /// True if pictures show the light that the meter reads: it reads no unlit surface and no
    /// incident light.
    fn shows_metered_light(&self) -> bool {
        self.opened.physical_camera.dials.metering.mode != MeteringMode::Incident
            && !self.opened.scene.materials.iter().any(|material| material.unlit)
    }

    /// Metered exposure of a picture of the session's view, which needs no further render; `None`
    /// if the picture does not show what the meter reads: with vignetting, if nothing is lit, or if
    /// it is exposed too far off its reading.
    ///
    /// # Errors
    /// [`SessionError::InvalidRequest`] if the metering position is outside the picture.
    pub fn meter_picture(&self, picture: &RenderedImage) -> Result<Option<Exposure>, SessionError> {
        if !self.shows_metered_light() || self.opened.effects.vignetting.is_some() {
            return Ok(None);
        }
        let (Metering { mode, position, .. }, size) =
            (self.opened.physical_camera.dials.metering, (picture.width, picture.height));
        let mode = self.opened.meter_mode(mode, position, [size.0 as u32, size.1 as u32])?;
        let reading = metered_exposure(&luminances(picture), size, mode)?;
        let is_near = |read: &Exposure| read.stops_above(picture.exposure).abs() < HISTOGRAM_STOPS;
        Ok(reading.filter(is_near))
    }

    /// Exposure by the look's mode. With manual dials the scene is metered only if `wanted`.
    ///
    /// # Errors
    /// [`SessionError::Look`] for dials out of range, [`SessionError::InvalidRequest`] for a picture
    /// beyond the device's limits or if incident metering finds no surface, [`SessionError::Gpu`]
    /// if rendering fails.
    pub fn determine_exposure(&mut self, wanted: bool) -> Result<ExposureState, SessionError> {
        self.check_size()?;
        let by_hand = !is_adaptive(&self.opened);
        let metered = if wanted || !by_hand { self.meter()? } else { None };
        if metered.is_none()
            && self.opened.physical_camera.dials.metering.mode == MeteringMode::Incident
            && !by_hand
            && self.metered_surface()?.is_none()
        {
            let at = metered_pixel(&self.opened)?;
            return Err(SessionError::InvalidRequest(format!(
                "camera.metering.mode = incident: there is no surface at pixel {},{}; set camera.metering.position to one",
                at[0], at[1]
            )));
        }
        exposure_from_metering(&self.opened, metered)
    }

    /// White balance matrix of the look, on linear Rec.709. A gray card is read from a picture
    /// rendered without white balance.
    ///
    /// # Errors
    /// [`SessionError::InvalidRequest`] or [`SessionError::Look`] for a card outside the picture or
    /// black, [`SessionError::Gpu`] if rendering fails.
    pub fn white_balance(&mut self, exposure: Exposure) -> Result<Mat3, SessionError> {
        let nits: Vec<DVec3> =
            if self.opened.physical_camera.dials.white_balance.gray_card.is_some() {
                let picture = self.render(&self.opened.settings(exposure, vec![]))?;
                picture.nits.iter().map(|c| Vec3::from_array(*c).as_dvec3()).collect()
            } else {
                Vec::new()
            };
        white_balance_from_pixels(&self.opened, &nits, self.opened.size.width as usize)
    }

    /// Exposure of the next picture of a sequence, `seconds` after `picture`, which was rendered
    /// with `last`. The adapted exposure approaches the metered one with the time constants of
    /// `camera.exposure.adaptation`. Manual dials and dark scenes keep the exposure; the first
    /// reading is adopted at once.
    ///
    /// Log-average metering uses the picture's histogram if the picture was exposed nearly
    /// correctly: overexposure saturates half floats, underexposure culls lights. A small picture
    /// is metered instead if the histogram is missing or rejected, with unlit surfaces in the
    /// scene, and in the other metering modes.
    ///
    /// # Errors
    /// [`SessionError::Look`] for dials out of range, [`SessionError::Gpu`] if rendering fails.
    pub fn adapt(
        &mut self,
        (last, picture): (&ExposureState, &RenderedImage),
        seconds: f64,
    ) -> Result<ExposureState, SessionError> {
        if !is_adaptive(&self.opened) {
            return Ok(*last);
        }
        // Compensation is applied after adaptation, where the dials are solved.
        let dials = &self.opened.physical_camera.dials;
        let auto = dials.auto_exposure();
        let whole = dials.metering.mode == MeteringMode::LogAverage;
        let is_shown = whole && self.shows_metered_light();
        let counts = picture.histogram.as_ref().filter(|_| is_shown);
        let counted = counts
            .map(|counts| read_histogram(&auto, counts, picture.exposure))
            .transpose()?
            .flatten();
        let read = match counted {
            Some(read) => Some(read),
            None => self.meter_from(last.metered.unwrap_or(last.exposure))?,
        };
        let adapted = match (last.adapted, read) {
            (Some(from), Some(to)) => Some(auto.adapt(from, to, seconds)),
            (from, to) => from.or(to),
        };
        exposure_from_adaptation(&self.opened, read, adapted)
    }
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
