//! The scene on the device: updates it to requests, and draws its frames.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use glam::Mat3;

use super::{
    metering::MeterReading,
    shared::{EngineCounts, RenderRequest, RenderedFrame, Shared, Task, lock},
};
use crate::{
    frame::{AntiAliasing, Aov, FrameSample, Readback, RenderSettings, Renderer},
    gpu::Gpu,
    gpu_scene::GpuScene,
    scene::{Scene, look::metering::MeteringMode},
    session::{
        Session,
        expose::{self, ExposureState},
    },
    viewer::{
        error::ViewError,
        look_change::{LookChange, classify_change, meters_alike, relights},
        wake::Wake,
    },
};

/// Maximum time step of exposure adaptation in one frame (s), for a window that was hidden.
const LONGEST_STEP: f64 = 1.0;

/// A scene on the device.
pub(super) struct SceneState {
    pub base: Arc<Scene>,
    /// The request's scene, before the engine changed its time.
    pub source: Arc<Scene>,
    pub session: Session,
    pub gpu_scene: GpuScene,
    pub exposed: Option<ExposureState>,
    /// Time of the last frame: exposure adapts by wall-clock time while the view moves or
    /// the scene plays.
    pub drawn_at: Instant,
    pub white_balance: Mat3,
    pub request_id: u64,
    pub still_at: Instant,
    pub full: bool,
    pub aovs: Vec<Aov>,
    /// The exposure's settings have changed, but not the light that it is metered from.
    pub settings_changed: bool,
    /// The last rendered reading of the light meter.
    pub reading: Option<MeterReading>,
}

/// The render thread's device, scene and progress.
pub(super) struct Worker {
    pub gpu: Gpu,
    pub renderer: Option<Renderer>,
    pub scene_state: Option<SceneState>,
    /// Accumulated frames of the still view; 0 restarts.
    pub still: u32,
    /// The last request of which a frame was drawn.
    pub drawn: u64,
    pub number: u64,
    pub counts: EngineCounts,
    pub shared: Arc<Shared>,
    pub wake: Wake,
}

impl Worker {
    pub fn new(gpu: Gpu, shared: Arc<Shared>, wake: Wake) -> Self {
        Self {
            gpu,
            renderer: None,
            scene_state: None,
            still: 0,
            drawn: 0,
            number: 0,
            counts: EngineCounts::default(),
            shared,
            wake,
        }
    }

    /// Reports the current task.
    pub fn task(&self, task: Option<Task>) {
        let mut news = lock(&self.shared.results);
        if news.task.map(|(now, _)| now) != task {
            news.task = task.map(|task| (task, Instant::now()));
        }
    }

    /// Reports a new result.
    pub fn tell(&self) {
        self.shared.results_changed.notify_all();
        (self.wake)();
    }

    /// Updates the scene on the device to a request.
    pub fn follow(&mut self, order: RenderRequest) -> Result<(), ViewError> {
        let renderer = match &mut self.renderer {
            Some(renderer) => renderer,
            none => none.insert(Renderer::new(&self.gpu)?),
        };
        let RenderRequest { id: number, base, mut session, time, pose, still_at, full, aovs } =
            order;
        let source = Arc::clone(&session.scene);
        let mut before = self.scene_state.take().filter(|there| Arc::ptr_eq(&there.base, &base));
        let played = |session: &Session| session.playback.as_ref().map(|animated| animated.time);
        let was = before.as_ref().and_then(|there| played(&there.session));
        if let Some(there) = before.as_mut().filter(|there| Arc::ptr_eq(&there.source, &source)) {
            // The engine's own copy, at its last time: only the first change of time copies the
            // scene.
            session.scene = std::mem::take(&mut there.session.scene);
            if let (Some(animated), Some(was)) = (&mut session.playback, was) {
                animated.time = was;
            }
        }
        if let Some(time) = time.filter(|time| played(&session).is_some_and(|now| now != *time)) {
            session.seek(time)?;
        }
        if let Some(pose) = pose {
            session.camera.0 = pose;
        }
        self.still = 0;
        let there = match before {
            Some(mut there) => {
                let change = classify_change(&there.session.look, &session.look);
                let counts = &mut self.counts;
                let followed = if change == LookChange::Scene {
                    // A default light depends on the camera of the upload.
                    there.reading = None;
                    if relights(&there.session.look, &session.look, &base) {
                        counts.updates += 1;
                        session.relight(&self.gpu, &mut there.gpu_scene)
                    } else {
                        counts.uploads += 1;
                        session.upload(renderer).map(|on_device| there.gpu_scene = on_device)
                    }
                } else if change == LookChange::Vpls {
                    counts.updates += 1;
                    // Traced from the start, as after an upload: updated VPLs depend on the former.
                    there.gpu_scene.gi = None;
                    renderer.reset_history();
                    session.update_pose(&self.gpu, &mut there.gpu_scene)
                } else if was != played(&session) {
                    counts.updates += 1;
                    session.update_pose(&self.gpu, &mut there.gpu_scene)
                } else {
                    Ok(())
                };
                // An error here is a device error, which resets the scene.
                followed?;
                if change != LookChange::Nothing {
                    let (old, new) = (&there.session.look, &session.look);
                    let same_control = expose::is_adaptive(old) == expose::is_adaptive(new);
                    if same_control && meters_alike(old, new) {
                        there.settings_changed = true;
                    } else {
                        there.exposed = None;
                    }
                }
                SceneState { source, session, request_id: number, still_at, full, aovs, ..there }
            }
            None => {
                self.counts.uploads += 1;
                let on_device = session.upload(renderer)?;
                renderer.reset_history();
                let white_balance = Mat3::IDENTITY;
                SceneState {
                    base,
                    source,
                    session,
                    gpu_scene: on_device,
                    exposed: None,
                    drawn_at: Instant::now(),
                    white_balance,
                    request_id: number,
                    still_at,
                    full,
                    aovs,
                    settings_changed: false,
                    reading: None,
                }
            }
        };
        self.scene_state = Some(there);
        Ok(())
    }

    /// Draws the next frame, if it would change the picture; true if one was drawn.
    pub fn draw(&mut self) -> Result<bool, ViewError> {
        let (Some(renderer), Some(there)) = (&mut self.renderer, &mut self.scene_state) else {
            return Ok(false);
        };
        let of = there.session.still_samples().max(1);
        let moving = Instant::now() < there.still_at;
        let fresh = self.drawn != there.request_id;
        // A moving view needs one frame. A view at reduced size is moving, or is soon requested at
        // full size.
        if !fresh && (moving || !there.full || self.still >= of) {
            return Ok(false);
        }
        // Invalid settings were reported, and are not retried.
        if !fresh && self.still == u32::MAX {
            return Ok(false);
        }
        self.drawn = there.request_id;
        let session = &mut there.session;
        let view = session.view();
        renderer.check_size(&view)?;
        let moving = moving || !there.full;
        let by_hand = !expose::is_adaptive(&session.look);
        let last_reading = there.reading.as_ref().filter(|last| last.holds(session, moving));
        let mut reading = last_reading.map(|last| last.metered);
        let mut exposed = match there.exposed {
            Some(exposed) if self.still > 0 || (moving && !there.settings_changed) => exposed,
            last => {
                {
                    let mut news = lock(&self.shared.results);
                    news.task = Some((Task::Draw, Instant::now()));
                }
                let metered = match (reading, last) {
                    (Some(metered), _) => metered,
                    // In motion, exposure adapts to the frames. The exposure of manual dials does
                    // not depend on a reading: it is taken after the picture.
                    (None, last) if by_hand => last.and_then(|exposed| exposed.metered),
                    (None, Some(last)) if moving => last.metered,
                    (None, _) => {
                        self.counts.meter_readings += 1;
                        let metered = expose::determine_exposure(
                            session,
                            renderer,
                            &there.gpu_scene,
                            &view,
                            true,
                        )?
                        .metered;
                        there.reading = Some(MeterReading::new(session, metered));
                        reading = Some(metered);
                        metered
                    }
                };
                let exposed = expose::exposure_from_metering(session, metered)?;
                if session.look.metering.gray_card.is_some() {
                    self.counts.meter_readings += 1;
                }
                there.white_balance = expose::white_balance(
                    session,
                    renderer,
                    &there.gpu_scene,
                    &view,
                    exposed.exposure,
                )?;
                there.settings_changed = false;
                exposed
            }
        };
        there.exposed = Some(exposed);
        if self.shared.ends.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let mut settings = RenderSettings {
            white_balance: there.white_balance,
            ..session.final_settings(&exposed, there.aovs.clone())?
        };
        session.set_motion(&mut settings, &there.gpu_scene);
        // Nothing to adapt to: the exposure is that of a reading which holds.
        let settled = reading.is_some_and(|metered| exposed.adapted == metered);
        // An incident-light reading renders a scene with cards: too slow for every frame.
        let follows = moving
            && !by_hand
            && !settled
            && session.look.metering.mode != Some(MeteringMode::Incident);
        settings.histogram = follows;
        let scaled = settings.is_upscaled();
        let number = if moving { 0 } else { self.still };
        if number == 0 && !moving {
            // A still picture does not depend on earlier views.
            renderer.reset_history();
        }
        // The frames that `Renderer::render_still` accumulates.
        let settings = if of > 1 && !scaled && !moving {
            let sample = Some(FrameSample { number, count: of });
            RenderSettings {
                anti_aliasing: AntiAliasing::None,
                accumulated_frames: Some(number),
                sample,
                ..settings
            }
        } else {
            settings
        };
        {
            let mut news = lock(&self.shared.results);
            news.task = Some((Task::Draw, Instant::now()));
        }
        let begun = Instant::now();
        let pending = renderer.submit(&there.gpu_scene, &view, &settings, Readback::ALL)?;
        let picture = renderer.collect(pending)?;
        if follows {
            let seconds = there.drawn_at.elapsed().as_secs_f64().min(LONGEST_STEP);
            self.counts.adaptations += 1;
            let next = expose::adapt(
                session,
                renderer,
                &there.gpu_scene,
                &view,
                (&exposed, &picture),
                seconds,
            )?;
            there.exposed = Some(next);
        }
        let frame_ms = begun.elapsed().as_secs_f64() * 1e3;
        // Other pictures of the renderer restart the accumulation.
        let mut restarts = moving;
        if by_hand && !moving && number == 0 {
            let metered = match reading {
                Some(metered) => metered,
                None => {
                    self.counts.meter_readings += 1;
                    restarts |= of > 1;
                    let metered = expose::meter(session, renderer, &there.gpu_scene, &view)?;
                    there.reading = Some(MeterReading::new(session, metered));
                    metered
                }
            };
            exposed.metered = metered;
            exposed.adapted = metered;
            there.exposed = Some(exposed);
        }
        there.drawn_at = Instant::now();
        self.still = if restarts { 0 } else { number + 1 };
        self.number += 1;
        let frames =
            if moving { &mut self.counts.moving_frames } else { &mut self.counts.still_frames };
        *frames += 1;
        let finished = RenderedFrame {
            image: picture,
            exposed,
            white_balance: there.white_balance,
            samples: [number + 1, of],
            request_id: there.request_id,
            still: !moving,
            scene: (!moving).then(|| Arc::clone(&session.scene)),
            camera: session.camera,
            frame_ms,
            number: self.number,
            counts: self.counts,
        };
        lock(&self.shared.results).finished = Some(Arc::new(finished));
        self.tell();
        Ok(true)
    }
}
