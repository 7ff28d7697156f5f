//! The scene on the device: updates it to requests, and draws its frames.

use std::{sync::Arc, time::Instant};

use glam::Mat3;

use super::shared::{EngineCounts, EngineLink, RenderRequest, RenderedFrame, Task};
use crate::{
    camera::MeteringMode,
    frame::{Aov, Renderer},
    gpu::{Gpu, GpuError, Interrupt},
    scene::Scene,
    session::{
        DeviceWork, MeterReading, Session, SessionError,
        expose::{self, ExposureState},
        look_change::LookChange,
    },
    viewer::{error::ViewError, governor::Level},
};

/// Maximum time step of exposure adaptation in one frame (s), for a window that was hidden.
const LONGEST_STEP: f64 = 1.0;

/// A scene on the device.
pub(super) struct SceneState {
    pub base: Arc<Scene>,
    /// The request's scene, before the engine changed its time.
    pub source: Arc<Scene>,
    pub session: Session,
    pub exposed: Option<ExposureState>,
    /// Time of the last frame: exposure adapts by wall-clock time while the view moves or
    /// the scene plays.
    pub drawn_at: Instant,
    pub white_balance: Mat3,
    pub request_id: u64,
    pub still_at: Instant,
    pub level: Level,
    pub interruptible: bool,
    /// Time at which the request was taken, and the device's compilations until then.
    pub taken: (Instant, usize),
    pub aovs: Vec<Aov>,
    /// The exposure's settings have changed, but not the light that it is metered from.
    pub settings_changed: bool,
    /// The last rendered reading of the light meter.
    pub reading: Option<MeterReading>,
}

/// The render thread's device, scene and progress.
pub(super) struct RenderThread<'a> {
    pub gpu: Gpu,
    /// The renderer while no scene is open.
    pub renderer: Option<Renderer>,
    pub scene_state: Option<SceneState>,
    /// Accumulated frames of the still view; 0 restarts.
    pub still: u32,
    /// The last request of which a frame was drawn.
    pub drawn: u64,
    pub number: u64,
    /// Time at which the moving view counts as still, and another frame may be due.
    pub resumes_at: Option<Instant>,
    pub counts: EngineCounts,
    /// Interrupts long frames of a view at rest.
    pub interrupt: Option<Arc<Interrupt>>,
    pub link: &'a EngineLink,
}

impl<'a> RenderThread<'a> {
    pub fn new(gpu: Gpu, interrupt: Option<Arc<Interrupt>>, link: &'a EngineLink) -> Self {
        Self {
            gpu,
            renderer: None,
            scene_state: None,
            still: 0,
            drawn: 0,
            number: 0,
            resumes_at: None,
            counts: EngineCounts::default(),
            interrupt,
            link,
        }
    }

    /// Reports the current task.
    pub fn task(&self, task: Option<Task>) {
        self.link.note(|results| {
            if results.task.map(|(now, _)| now) != task {
                results.task = task.map(|task| (task, Instant::now()));
            }
        });
    }

    /// Releases the scene and the renderer.
    pub fn release_renderer(&mut self) {
        (self.scene_state, self.renderer) = (None, None);
    }

    /// Releases the scene, and keeps the renderer.
    fn release_scene(&mut self) {
        if let Some(there) = self.scene_state.take() {
            self.renderer = Some(there.session.into_renderer());
        }
    }

    /// Updates the scene on the device to a request.
    pub fn follow(&mut self, order: RenderRequest) -> Result<(), ViewError> {
        let RenderRequest {
            id: number,
            base,
            session: mut next,
            time,
            pose,
            still_at,
            level,
            interruptible,
            aovs,
        } = order;
        let taken = (Instant::now(), self.gpu.compilations());
        let source = Arc::clone(&next.scene);
        if self.scene_state.as_ref().is_some_and(|there| !Arc::ptr_eq(&there.base, &base)) {
            self.release_scene();
        }
        let here = self.scene_state.as_mut();
        // A seek applies a look with a timeline to the scene again.
        let here = here.filter(|_| next.timeline.is_none());
        if let Some(there) = here.filter(|there| Arc::ptr_eq(&there.source, &source)) {
            // The engine's own copy, at its last time: only the first change of time copies the
            // scene.
            let own = &mut there.session.opened;
            next.scene = std::mem::take(&mut own.scene);
            if let (Some(animated), Some(was)) = (&mut next.playback, own.time()) {
                animated.time = was;
            }
        }
        if let Some(time) = time.filter(|time| next.time().is_some_and(|now| now != *time))
            && let Err(error) = next.seek(time)
        {
            self.release_scene();
            return Err(error.into());
        }
        if let Some(pose) = pose {
            next.camera.0 = pose;
        }
        self.still = 0;
        if let Some(there) = &mut self.scene_state {
            // An error here is a device error, which resets the scene.
            let applied = there.session.apply(next, &base)?;
            match applied.work {
                DeviceWork::None => {}
                DeviceWork::Update => self.counts.updates += 1,
                DeviceWork::Upload => self.counts.uploads += 1,
            }
            if applied.change == LookChange::Scene {
                // A default light depends on the camera of the upload.
                there.reading = None;
            }
            if applied.change != LookChange::Nothing && applied.keeps_reading {
                there.settings_changed = true;
            } else if applied.change != LookChange::Nothing {
                there.exposed = None;
            }
            (there.source, there.request_id) = (source, number);
            (there.still_at, there.level, there.aovs) = (still_at, level, aovs);
            there.interruptible = interruptible;
            there.taken = taken;
            return Ok(());
        }
        let renderer = match self.renderer.take() {
            Some(renderer) => renderer,
            None => Renderer::new(&self.gpu)?,
        };
        self.counts.uploads += 1;
        let mut session = Session::open(renderer, next)?;
        session.reset_history();
        self.scene_state = Some(SceneState {
            base,
            source,
            session,
            exposed: None,
            drawn_at: Instant::now(),
            white_balance: Mat3::IDENTITY,
            request_id: number,
            still_at,
            level,
            interruptible,
            taken,
            aovs,
            settings_changed: false,
            reading: None,
        });
        Ok(())
    }

    /// Draws the next frame, if it would change the picture; true if one was drawn.
    pub fn draw(&mut self) -> Result<bool, ViewError> {
        self.resumes_at = None;
        let Some(there) = &mut self.scene_state else { return Ok(false) };
        let of = there.session.opened.still_samples().max(1);
        let moving = Instant::now() < there.still_at;
        let fresh = self.drawn != there.request_id;
        let full = there.level == Level::FULL;
        // A moving view needs one frame. A view of reduced quality is moving, or is soon requested
        // at full quality.
        if !fresh && (moving || !full || self.still >= of) {
            self.resumes_at = moving.then_some(there.still_at);
            return Ok(false);
        }
        // Invalid settings were reported, and are not retried.
        if !fresh && self.still == u32::MAX {
            return Ok(false);
        }
        self.drawn = there.request_id;
        let session = &mut there.session;
        session.check_size()?;
        let at_rest = !moving;
        let moving = moving || !full;
        let by_hand = !expose::is_adaptive(&session.opened);
        let last_reading = there.reading.as_ref();
        let last_reading = last_reading.filter(|last| last.holds(&session.opened, moving));
        let mut reading = last_reading.map(|last| last.metered);
        let mut exposed = match there.exposed {
            Some(exposed) if self.still > 0 || (moving && !there.settings_changed) => exposed,
            last => {
                self.link.note(|results| results.task = Some((Task::Draw, Instant::now())));
                let metered = match (reading, last) {
                    (Some(metered), _) => metered,
                    // In motion, exposure adapts to the frames. The exposure of manual dials does
                    // not depend on a reading: it is taken after the picture.
                    (None, last) if by_hand => last.and_then(|exposed| exposed.metered),
                    (None, Some(last)) if moving => last.metered,
                    (None, _) => {
                        self.counts.meter_readings += 1;
                        let metered = session.determine_exposure(true)?.metered;
                        there.reading = Some(MeterReading::new(&session.opened, metered));
                        reading = Some(metered);
                        metered
                    }
                };
                let exposed = expose::exposure_from_metering(&session.opened, metered)?;
                if session.opened.physical_camera.dials.white_balance.gray_card.is_some() {
                    self.counts.meter_readings += 1;
                }
                there.white_balance = session.white_balance(exposed.exposure)?;
                there.settings_changed = false;
                exposed
            }
        };
        there.exposed = Some(exposed);
        if self.link.ends() {
            return Ok(false);
        }
        let mut settings =
            session.picture_settings(&exposed, there.white_balance, there.aovs.clone())?;
        // Nothing to adapt to: the exposure is that of a reading which holds.
        let settled = reading.is_some_and(|metered| exposed.adapted == metered);
        // An incident-light reading renders a scene with cards: too slow for every frame.
        let follows = moving
            && !by_hand
            && !settled
            && session.opened.physical_camera.dials.metering.mode != MeteringMode::Incident;
        settings.histogram = follows;
        if moving {
            there.level.reduce(&mut settings);
            settings.shadow_maps_in_motion = true;
        }
        let number = if moving { 0 } else { self.still };
        self.link.note(|results| results.task = Some((Task::Draw, Instant::now())));
        let begun = Instant::now();
        let (since, compilations) =
            if fresh { there.taken } else { (begun, self.gpu.compilations()) };
        let interrupt = self.interrupt.as_ref().filter(|_| at_rest && there.interruptible);
        if let Some(interrupt) = interrupt {
            // A request that came before is answered instead.
            let is_newest = self.link.inbox(|inbox| {
                let is_newest = inbox.request.is_none();
                if is_newest && !self.link.ends() {
                    interrupt.clear();
                }
                is_newest
            });
            if !is_newest {
                self.still = 0;
                return Ok(true);
            }
        }
        session.set_interrupt(interrupt.cloned());
        let drawn = if moving {
            session.frame(&settings)
        } else {
            session.still_frame(&settings, number, of)
        };
        session.set_interrupt(None);
        let picture = match drawn {
            Err(SessionError::Gpu(GpuError::Interrupted)) => {
                self.counts.interrupted_frames += 1;
                self.still = 0;
                return Ok(true);
            }
            drawn => drawn?,
        };
        if follows {
            let seconds = there.drawn_at.elapsed().as_secs_f64().min(LONGEST_STEP);
            self.counts.adaptations += 1;
            there.exposed = Some(session.adapt((&exposed, &picture), seconds)?);
        }
        let frame_ms = begun.elapsed().as_secs_f64() * 1e3;
        // Other pictures of the renderer restart the accumulation.
        let mut restarts = moving;
        if by_hand && !moving && number == 0 {
            let seen = if reading.is_none() { session.meter_picture(&picture)? } else { None };
            let metered = match reading.or(seen.map(Some)) {
                Some(metered) => metered,
                None => {
                    self.counts.meter_readings += 1;
                    restarts |= of > 1;
                    let metered = session.meter()?;
                    there.reading = Some(MeterReading::new(&session.opened, metered));
                    metered
                }
            };
            exposed.metered = metered;
            exposed.adapted = metered;
            there.exposed = Some(exposed);
        }
        let request_ms = since.elapsed().as_secs_f64() * 1e3;
        there.drawn_at = Instant::now();
        self.still = if restarts { 0 } else { number + 1 };
        self.number += 1;
        let frames =
            if moving { &mut self.counts.moving_frames } else { &mut self.counts.still_frames };
        *frames += 1;
        let limits = if moving {
            Vec::new()
        } else {
            picture.limits.warnings().into_iter().chain(session.shadow_map_limit()).collect()
        };
        let finished = RenderedFrame {
            image: picture,
            exposed,
            white_balance: there.white_balance,
            samples: [number + 1, of],
            request_id: there.request_id,
            still: !moving,
            limits,
            scene: (!moving).then(|| Arc::clone(&session.opened.scene)),
            camera: session.opened.camera,
            frame_ms,
            request_ms,
            level: if moving { there.level } else { Level::FULL },
            compiled: self.gpu.compilations() != compilations,
            number: self.number,
            counts: self.counts,
        };
        self.link.publish(|results| results.finished = Some(Arc::new(finished)));
        Ok(true)
    }
}
