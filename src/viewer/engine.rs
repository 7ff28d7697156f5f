//! The render thread: the window stays responsive however long a frame takes.
//!
//! The window puts a `RenderRequest` into an inbox that holds one: the newest request replaces an
//! older one. The engine updates the scene on the device, draws the picture's frames, and puts each
//! into the `Results`.

mod jobs;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use glam::{DMat4, Mat3};

pub use jobs::{Job, JobResult, LightContributions, Sequence};

use super::{
    ViewError,
    viewport::{LookChange, classify_change, relights},
};
use crate::{
    camera::ExposureMode,
    frame::{AntiAliasing, Aov, FrameSample, Readback, RenderSettings, RenderedImage, Renderer},
    gpu::{Gpu, shader::Replacement},
    passes::GpuScene,
    scene::{
        Projection, Scene,
        look::metering::{ExposureControl, MeteringMode},
    },
    session::{
        Session,
        expose::{self, ExposureState},
    },
};

/// A request of the window for pictures.
pub(super) struct RenderRequest {
    /// Unique and increasing.
    pub id: u64,
    /// The scene before any look; another pointer means another scene.
    pub base: Arc<Scene>,
    /// The scene with its look, camera and picture size.
    pub session: Session,
    /// Animation time (s), if the scene is animated.
    pub time: Option<f64>,
    /// The user's camera pose, which overrides the animated one.
    pub pose: Option<DMat4>,
    /// Time at which the view counts as still; until then each frame stands alone.
    pub still_at: Instant,
    /// True if the size is that of a still view.
    pub full: bool,
    /// Further outputs.
    pub aovs: Vec<Aov>,
}

/// A finished picture with the data for meters and scopes.
pub struct RenderedFrame {
    /// The picture in nits, with its exposure.
    pub image: RenderedImage,
    /// Origin of the exposure.
    pub exposed: ExposureState,
    /// White-balance matrix.
    pub white_balance: Mat3,
    /// Accumulated frames, and their target number.
    pub samples: [u32; 2],
    /// The request it answers.
    pub request_id: u64,
    /// True if the view was still.
    pub still: bool,
    /// The scene at the picture's time, for a still view.
    pub scene: Option<Arc<Scene>>,
    /// Camera pose and projection.
    pub camera: (DMat4, Projection),
    /// Frame time, from the first command to the last byte read back (ms).
    pub frame_ms: f64,
    /// Unique number of the picture.
    pub number: u64,
}

/// The engine's current task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Uploads the scene or its lights.
    Upload,
    /// Takes a meter reading.
    Meter,
    /// Draws.
    Draw,
    /// Draws several pictures: number done and total.
    DrawBatch(usize, usize),
}

#[derive(Default)]
struct Inbox {
    request: Option<RenderRequest>,
    /// Shader modules that replace the built ones from the next frame on.
    shaders: Option<Vec<Replacement>>,
    /// Each with its number and the first request of its scene.
    jobs: VecDeque<([u64; 2], Job)>,
    /// Jobs submitted so far.
    sent: u64,
}

/// The engine's output.
#[derive(Default)]
struct Results {
    finished: Option<Arc<RenderedFrame>>,
    /// Each with the first request of its scene.
    outcomes: Vec<(u64, JobResult)>,
    error: Option<ViewError>,
    /// The request that failed, or the last that ended without an error.
    answered: u64,
    task: Option<(Task, Instant)>,
}

#[derive(Default)]
struct Shared {
    inbox: Mutex<Inbox>,
    wake: Condvar,
    results: Mutex<Results>,
    results_changed: Condvar,
    ends: AtomicBool,
    /// The running job, and the last canceled one.
    running: AtomicU64,
    canceled: AtomicU64,
    /// The thread has ended: no more pictures will come.
    thread_ended: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called from other threads when there is a new result to show.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The render thread.
pub struct Engine {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Maximum wait, a guard against missed wake-ups.
const GUARD: Duration = Duration::from_millis(250);

impl Engine {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(gpu: &Gpu, wake: Wake) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (own, gpu) = (Arc::clone(&shared), gpu.clone());
        let thread = std::thread::Builder::new().name("renderer".into()).spawn(move || {
            // Reports the end of the thread to the window, even after a panic.
            let _over = Over(Arc::clone(&own), Arc::clone(&wake));
            let mut worker = Worker {
                gpu,
                renderer: None,
                scene_state: None,
                still: 0,
                drawn: 0,
                number: 0,
                shared: own,
                wake,
            };
            worker.run();
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Sets the current request.
    pub(super) fn send(&self, order: RenderRequest) {
        lock(&self.shared.inbox).request = Some(order);
        self.shared.wake.notify_all();
    }

    /// Submits a job for the scene of the last request.
    pub(super) fn submit_job(&self, scene: u64, job: Job) {
        {
            let mut inbox = lock(&self.shared.inbox);
            inbox.sent += 1;
            let number = inbox.sent;
            inbox.jobs.push_back(([number, scene], job));
        }
        self.shared.wake.notify_all();
    }

    /// Replaces shaders from the next request on.
    pub(super) fn replace_shaders(&self, modules: Vec<Replacement>) {
        lock(&self.shared.inbox).shaders = Some(modules);
        self.shared.wake.notify_all();
    }

    /// Cancels the running job.
    pub fn cancel(&self) {
        self.shared.canceled.store(self.shared.running.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Cancels all jobs of the open scene.
    pub(super) fn cancel_all_jobs(&self) {
        let last = {
            let mut inbox = lock(&self.shared.inbox);
            inbox.jobs.clear();
            inbox.sent
        };
        self.shared.canceled.store(last, Ordering::Relaxed);
    }

    /// Ends the thread after its current step.
    pub(super) fn end(&self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        self.shared.wake.notify_all();
    }

    /// Results of a scene's jobs, each once; results for earlier scenes are dropped.
    pub(super) fn job_results(&self, scene: u64) -> Vec<JobResult> {
        let outcomes = std::mem::take(&mut lock(&self.shared.results).outcomes);
        outcomes.into_iter().filter(|(of, _)| *of == scene).map(|(_, outcome)| outcome).collect()
    }

    /// The newest picture.
    pub(super) fn finished(&self) -> Option<Arc<RenderedFrame>> {
        lock(&self.shared.results).finished.clone()
    }

    /// The last error, once.
    pub(super) fn error(&self) -> Option<ViewError> {
        let error = lock(&self.shared.results).error.take();
        error.or_else(|| {
            self.shared
                .thread_ended
                .swap(false, Ordering::Relaxed)
                .then_some(ViewError::RenderThreadCrashed)
        })
    }

    /// The current task, and for how long it has run.
    #[must_use]
    pub fn task(&self) -> Option<(Task, Duration)> {
        lock(&self.shared.results).task.map(|(task, since)| (task, since.elapsed()))
    }

    /// True if a request has failed, so that no picture will come of it.
    pub(super) fn failed(&self, order: u64) -> bool {
        lock(&self.shared.results).answered == order
    }

    /// Waits until a predicate holds for the newest picture or the request has failed, at most
    /// `most`. True if it holds.
    pub(super) fn wait(
        &self,
        order: u64,
        holds: impl Fn(&RenderedFrame) -> bool,
        most: Duration,
    ) -> bool {
        let until = Instant::now() + most;
        let mut news = lock(&self.shared.results);
        loop {
            if news
                .finished
                .as_ref()
                .is_some_and(|finished| finished.request_id == order && holds(finished))
            {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero()
                || news.error.is_some()
                || news.answered == order
                || self.shared.thread_ended.load(Ordering::Relaxed)
            {
                return false;
            }
            news = self
                .shared
                .results_changed
                .wait_timeout(news, left.min(GUARD))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            // A panic is ignored: no picture can be lost here.
            let _ = thread.join();
        }
    }
}

/// Reports the end of the thread when dropped.
struct Over(Arc<Shared>, Wake);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.thread_ended.store(!self.0.ends.load(Ordering::Relaxed), Ordering::Relaxed);
        self.0.results_changed.notify_all();
        (self.1)();
    }
}

/// Maximum time step of exposure adaptation in one frame (s), for a window that was hidden.
const LONGEST_STEP: f64 = 1.0;

/// A scene on the device.
struct SceneState {
    base: Arc<Scene>,
    /// The request's scene, before the engine changed its time.
    source: Arc<Scene>,
    session: Session,
    gpu_scene: GpuScene,
    exposed: Option<ExposureState>,
    /// Time of the last frame: exposure adapts by wall-clock time while the view moves or
    /// the scene plays.
    drawn_at: Instant,
    white_balance: Mat3,
    request_id: u64,
    still_at: Instant,
    full: bool,
    aovs: Vec<Aov>,
    /// The view or the time has changed since the last meter reading.
    meter_stale: bool,
}

struct Worker {
    gpu: Gpu,
    renderer: Option<Renderer>,
    scene_state: Option<SceneState>,
    /// Accumulated frames of the still view; 0 restarts.
    still: u32,
    /// The last request of which a frame was drawn.
    drawn: u64,
    number: u64,
    shared: Arc<Shared>,
    wake: Wake,
}

impl Worker {
    fn run(&mut self) {
        while !self.shared.ends.load(Ordering::Relaxed) {
            let (order, job) = {
                let mut inbox = lock(&self.shared.inbox);
                if let Some(modules) = inbox.shaders.take() {
                    // Pipelines are recreated with everything that holds them.
                    (self.scene_state, self.renderer) = (None, None);
                    self.gpu.replace_shaders(modules);
                }
                let order = inbox.request.take();
                // One at a time: requests come before jobs.
                let job = if order.is_none() { inbox.jobs.pop_front() } else { None };
                (order, job)
            };
            let answers = order.as_ref().map(|order| order.id);
            let done = match (order, job) {
                (Some(order), _) => {
                    self.task(Some(Task::Upload));
                    self.follow(order).map(|()| true)
                }
                (None, Some(([number, scene], job))) => {
                    self.shared.running.store(number, Ordering::Relaxed);
                    let outcome = self.run_job(job);
                    // The job drew other pictures: restart accumulation, unless it is finished.
                    let of = self
                        .scene_state
                        .as_ref()
                        .map_or(0, |there| there.session.still_samples().max(1));
                    if self.still < of {
                        self.still = 0;
                    }
                    outcome.map(|outcome| {
                        lock(&self.shared.results).outcomes.push((scene, outcome));
                        self.tell();
                        true
                    })
                }
                (None, None) => Ok(false),
            };
            // A request is followed by its first frame at once.
            let done = match done {
                // The result is no longer needed.
                Ok(_) if self.shared.ends.load(Ordering::Relaxed) => return,
                Ok(done) => self.draw().map(|drew| drew || done),
                Err(error) => Err(error),
            };
            self.task(None);
            match done {
                Ok(true) => {}
                Ok(false) => self.wait(),
                Err(error) => {
                    let (lost, of_device) = (error.is_fatal(), error.of_device());
                    let wish = answers
                        .or(self.scene_state.as_ref().map(|there| there.request_id))
                        .unwrap_or_default();
                    {
                        let mut news = lock(&self.shared.results);
                        (news.error, news.answered) = (Some(error), wish);
                    }
                    self.tell();
                    // A failed picture is not retried until something changes.
                    self.drawn = wish;
                    self.still = u32::MAX;
                    if lost {
                        self.shared.ends.store(true, Ordering::Relaxed);
                    } else if of_device {
                        // Out of memory or a limit: the next request starts from empty.
                        (self.scene_state, self.renderer) = (None, None);
                    }
                }
            }
        }
    }

    fn task(&self, task: Option<Task>) {
        let mut news = lock(&self.shared.results);
        if news.task.map(|(now, _)| now) != task {
            news.task = task.map(|task| (task, Instant::now()));
        }
    }

    fn tell(&self) {
        self.shared.results_changed.notify_all();
        (self.wake)();
    }

    /// Sleeps until there is work.
    fn wait(&self) {
        let inbox = lock(&self.shared.inbox);
        let asked = inbox.request.is_some() || !inbox.jobs.is_empty();
        if asked || self.shared.ends.load(Ordering::Relaxed) {
            return;
        }
        let rests = self
            .scene_state
            .as_ref()
            .map(|there| there.still_at.saturating_duration_since(Instant::now()));
        let most = rests.filter(|left| !left.is_zero()).map_or(GUARD, |left| left.min(GUARD));
        // Woken spuriously or by timeout: the loop checks again.
        drop(self.shared.wake.wait_timeout(inbox, most).unwrap_or_else(PoisonError::into_inner));
    }

    /// Updates the scene on the device to a request.
    fn follow(&mut self, order: RenderRequest) -> Result<(), ViewError> {
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
                let followed = if change == LookChange::Scene {
                    if relights(&there.session.look, &session.look, &base) {
                        session.relight(&self.gpu, &mut there.gpu_scene)
                    } else {
                        session.upload(renderer).map(|on_device| there.gpu_scene = on_device)
                    }
                } else if was != played(&session) {
                    session.update_pose(&self.gpu, &mut there.gpu_scene)
                } else {
                    Ok(())
                };
                // An error here is a device error, which resets the scene.
                followed?;
                if change != LookChange::Nothing {
                    there.exposed = None;
                }
                let unread = there.meter_stale
                    || there.session.camera != session.camera
                    || was != played(&session);
                SceneState {
                    source,
                    session,
                    request_id: number,
                    still_at,
                    full,
                    aovs,
                    meter_stale: unread,
                    ..there
                }
            }
            None => {
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
                    meter_stale: false,
                }
            }
        };
        self.scene_state = Some(there);
        Ok(())
    }

    /// Draws the next frame, if it would change the picture; true if one was drawn.
    fn draw(&mut self) -> Result<bool, ViewError> {
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
        let by_hand =
            expose::control(&session.look) == ExposureControl::Dials(ExposureMode::Manual);
        let exposed = match there.exposed {
            // The meter is read when the view is still; in motion, exposure adapts to the frames.
            Some(exposed)
                if moving
                    || self.still > 0
                    || (by_hand && exposed.metered.is_some() && !there.meter_stale) =>
            {
                exposed
            }
            _ => {
                {
                    let mut news = lock(&self.shared.results);
                    news.task = Some((Task::Draw, Instant::now()));
                }
                let exposed = expose::determine_exposure(
                    session,
                    renderer,
                    &there.gpu_scene,
                    &view,
                    !moving,
                )?;
                there.meter_stale = moving;
                there.white_balance = expose::white_balance(
                    session,
                    renderer,
                    &there.gpu_scene,
                    &view,
                    exposed.exposure,
                )?;
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
        // An incident-light reading renders a scene with cards: too slow for every frame.
        let follows = moving
            && expose::is_adaptive(&session.look)
            && session.look.metering.mode != Some(MeteringMode::Incident);
        settings.histogram = follows;
        let scaled = matches!(settings.anti_aliasing, AntiAliasing::Temporal(temporal) if temporal.scale < 1.0);
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
        there.drawn_at = Instant::now();
        self.still = if moving { 0 } else { number + 1 };
        self.number += 1;
        let finished = RenderedFrame {
            image: picture,
            exposed,
            white_balance: there.white_balance,
            samples: [number + 1, of],
            request_id: there.request_id,
            still: !moving,
            scene: (!moving).then(|| Arc::clone(&session.scene)),
            camera: session.camera,
            frame_ms: begun.elapsed().as_secs_f64() * 1e3,
            number: self.number,
        };
        lock(&self.shared.results).finished = Some(Arc::new(finished));
        self.tell();
        Ok(true)
    }
}
