//! The renderer at work on a thread of its own: the window stays alive however long a frame takes.
//!
//! The window puts its wish, an `Order`, into a box that holds one: the newest wish is the one that
//! counts. The engine brings the scene on the device up to it, draws the frames of the picture, and
//! puts each into the `Results`.

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

/// What the window wants to see.
pub(super) struct RenderRequest {
    /// Another one for each wish.
    pub id: u64,
    /// The scene before any look: another one is another scene.
    pub base: Arc<Scene>,
    /// The scene with its look, from where the camera stands, in the size wanted.
    pub session: Session,
    /// The time to go to (s), where the scene is played.
    pub time: Option<f64>,
    /// Where the user has taken the camera, whatever is played.
    pub pose: Option<DMat4>,
    /// When the view counts as still: until then frames are single ones.
    pub still_at: Instant,
    /// Whether the size is the one that a still view has.
    pub full: bool,
    /// Further outputs.
    pub aovs: Vec<Aov>,
}

/// A finished picture's further facts, for meters and scopes.
pub struct RenderedFrame {
    /// The picture in nits, with its exposure.
    pub picture: RenderedImage,
    /// How it was exposed.
    pub exposed: ExposureState,
    /// The matrix of its white balance.
    pub white_balance: Mat3,
    /// Frames that it is the mean of, and how many it will be.
    pub samples: [u32; 2],
    /// The wish that it answers.
    pub request_id: u64,
    /// Whether it is of a still view.
    pub still: bool,
    /// The scene at its moment, where it is of a still view.
    pub scene: Option<Arc<Scene>>,
    /// Where its camera stood, and what it sees.
    pub camera: (DMat4, Projection),
    /// How long its frame took, from the first command to the last byte (ms).
    pub frame_ms: f64,
    /// Its number: another one for each picture.
    pub number: u64,
}

/// What the engine does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Puts scene or lights on the device.
    Upload,
    /// Reads the meter.
    Meter,
    /// Draws.
    Draw,
    /// Draws several pictures: so many of how many are done.
    DrawBatch(usize, usize),
}

#[derive(Default)]
struct Inbox {
    request: Option<RenderRequest>,
    /// Modules in the place of the built ones, from the next frame on.
    shaders: Option<Vec<Replacement>>,
    /// Each with its number and that of its scene's first order.
    jobs: VecDeque<([u64; 2], Job)>,
    /// Errands so far.
    sent: u64,
}

/// What the engine has to say.
#[derive(Default)]
struct Results {
    finished: Option<Arc<RenderedFrame>>,
    /// Each with the number of its scene's first order.
    outcomes: Vec<(u64, JobResult)>,
    error: Option<ViewError>,
    /// The wish that the error answers, or the last that has ended without one.
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
    /// The errand under way, and the last that is not wanted any more.
    running: AtomicU64,
    cancelled: AtomicU64,
    /// No more pictures will come.
    thread_ended: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called from other threads when there is something new to show.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The thread that draws.
pub struct Engine {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// A guard against wake-ups that are missed.
const GUARD: Duration = Duration::from_millis(250);

impl Engine {
    /// Starts the thread.
    ///
    /// # Errors
    /// No thread can be had.
    pub fn new(gpu: &Gpu, wake: Wake) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (own, gpu) = (Arc::clone(&shared), gpu.clone());
        let thread = std::thread::Builder::new().name("renderer".into()).spawn(move || {
            // Whatever ends the thread, even broken logic: the window is told.
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

    /// What is wanted from now on.
    pub(super) fn send(&self, order: RenderRequest) {
        lock(&self.shared.inbox).request = Some(order);
        self.shared.wake.notify_all();
    }

    /// Has something done beside the picture of the last order.
    pub(super) fn submit_job(&self, scene: u64, errand: Job) {
        {
            let mut inbox = lock(&self.shared.inbox);
            inbox.sent += 1;
            let number = inbox.sent;
            inbox.jobs.push_back(([number, scene], errand));
        }
        self.shared.wake.notify_all();
    }

    /// Draws by other shaders from the next order on.
    pub(super) fn replace_shaders(&self, modules: Vec<Replacement>) {
        lock(&self.shared.inbox).shaders = Some(modules);
        self.shared.wake.notify_all();
    }

    /// Ends the errand under way, soon.
    pub fn cancel(&self) {
        self.shared.cancelled.store(self.shared.running.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Nothing that was asked of the scene that is open is wanted any more.
    pub(super) fn cancel_all_jobs(&self) {
        let last = {
            let mut inbox = lock(&self.shared.inbox);
            inbox.jobs.clear();
            inbox.sent
        };
        self.shared.cancelled.store(last, Ordering::Relaxed);
    }

    /// Nothing more is wanted: the thread ends with the step that it is at.
    pub(super) fn end(&self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        self.shared.wake.notify_all();
    }

    /// What became of a scene's errands, each once; what became of those of scenes before it nobody
    /// asks.
    pub(super) fn job_results(&self, scene: u64) -> Vec<JobResult> {
        let outcomes = std::mem::take(&mut lock(&self.shared.results).outcomes);
        outcomes.into_iter().filter(|(of, _)| *of == scene).map(|(_, outcome)| outcome).collect()
    }

    /// The newest picture.
    pub(super) fn finished(&self) -> Option<Arc<RenderedFrame>> {
        lock(&self.shared.results).finished.clone()
    }

    /// What went wrong, once.
    pub(super) fn error(&self) -> Option<ViewError> {
        let error = lock(&self.shared.results).error.take();
        error.or_else(|| {
            self.shared
                .thread_ended
                .swap(false, Ordering::Relaxed)
                .then_some(ViewError::RenderThreadCrashed)
        })
    }

    /// What it does, and since when.
    #[must_use]
    pub fn task(&self) -> Option<(Task, Duration)> {
        lock(&self.shared.results).task.map(|(task, since)| (task, since.elapsed()))
    }

    /// Whether nothing more comes of an order by itself: it failed.
    pub(super) fn failed(&self, order: u64) -> bool {
        lock(&self.shared.results).answered == order
    }

    /// Waits until something holds of the newest picture, or an order has failed; at most this
    /// long. True where it holds.
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
            // It panicked: there is no picture to lose.
            let _ = thread.join();
        }
    }
}

/// Says that the thread is over, when it is let go.
struct Over(Arc<Shared>, Wake);

impl Drop for Over {
    fn drop(&mut self) {
        self.0.thread_ended.store(!self.0.ends.load(Ordering::Relaxed), Ordering::Relaxed);
        self.0.results_changed.notify_all();
        (self.1)();
    }
}

/// Seconds that exposure follows the light by in one frame at most: a window that was hidden has
/// not watched.
const LONGEST_STEP: f64 = 1.0;

/// A scene on the device.
struct SceneState {
    base: Arc<Scene>,
    /// The scene of the order, before the engine took it to another time.
    source: Arc<Scene>,
    session: Session,
    gpu_scene: GpuScene,
    exposed: Option<ExposureState>,
    /// When the last frame was drawn: exposure follows the light by the clock while the view moves
    /// or plays.
    drawn_at: Instant,
    white_balance: Mat3,
    request_id: u64,
    still_at: Instant,
    full: bool,
    aovs: Vec<Aov>,
    /// The view or the moment is another one than the meter has read.
    meter_stale: bool,
}

struct Worker {
    gpu: Gpu,
    renderer: Option<Renderer>,
    scene_state: Option<SceneState>,
    /// Frames of the still view so far; 0 begins anew.
    still: u32,
    /// The last wish of which a frame was drawn.
    drawn: u64,
    number: u64,
    shared: Arc<Shared>,
    wake: Wake,
}

impl Worker {
    fn run(&mut self) {
        while !self.shared.ends.load(Ordering::Relaxed) {
            let (order, errand) = {
                let mut inbox = lock(&self.shared.inbox);
                if let Some(modules) = inbox.shaders.take() {
                    // Pipelines are made anew with all that holds them.
                    (self.scene_state, self.renderer) = (None, None);
                    self.gpu.replace_shaders(modules);
                }
                let order = inbox.request.take();
                // One thing at a time: a wish first.
                let errand = if order.is_none() { inbox.jobs.pop_front() } else { None };
                (order, errand)
            };
            let answers = order.as_ref().map(|order| order.id);
            let done = match (order, errand) {
                (Some(order), _) => {
                    self.task(Some(Task::Upload));
                    self.follow(order).map(|()| true)
                }
                (None, Some(([number, scene], errand))) => {
                    self.shared.running.store(number, Ordering::Relaxed);
                    let outcome = self.run_job(errand);
                    // It drew other pictures: this one begins anew, unless it is finished.
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
            // A wish is followed by its first frame at once.
            let done = match done {
                // Nobody waits for it.
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
                    // What cannot be drawn is not tried again until something changes.
                    self.drawn = wish;
                    self.still = u32::MAX;
                    if lost {
                        self.shared.ends.store(true, Ordering::Relaxed);
                    } else if of_device {
                        // Memory that is full, a limit: the next wish begins with nothing of what
                        // failed.
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

    /// Sleeps until there is something to do.
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
        // Awake by chance or by time: the loop looks again.
        drop(self.shared.wake.wait_timeout(inbox, most).unwrap_or_else(PoisonError::into_inner));
    }

    /// Brings the scene on the device up to a wish.
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
            // The engine's own copy, at the time that it was last at: only the first change of time
            // copies the scene.
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
                // What fails here is the device's, which ends it.
                followed?;
                if change != LookChange::Nothing {
                    there.exposed = None;
                }
                let unread = there.meter_stale
                    || there.session.camera != session.camera
                    || was != played(&session);
                SceneState {
                    source,
                    session: session,
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
                    session: session,
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

    /// Draws the next frame, if another would change the picture; true where one was drawn.
    fn draw(&mut self) -> Result<bool, ViewError> {
        let (Some(renderer), Some(there)) = (&mut self.renderer, &mut self.scene_state) else {
            return Ok(false);
        };
        let of = there.session.still_samples().max(1);
        let moving = Instant::now() < there.still_at;
        let fresh = self.drawn != there.request_id;
        // One frame of a moving view; and a view of fewer pixels is moved, or soon wanted with all
        // of them.
        if !fresh && (moving || !there.full || self.still >= of) {
            return Ok(false);
        }
        // Broken dials are told, and not tried again.
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
            // A still's meter reads once the view has come to rest; on the way the exposure follows
            // what frames show.
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
            ..session.picture_settings(&exposed, there.aovs.clone())?
        };
        session.set_motion(&mut settings, &there.gpu_scene);
        // Incident light takes a scene with cards in it: too dear for each frame.
        let follows = moving
            && expose::is_adaptive(&session.look)
            && session.look.metering.mode != Some(MeteringMode::Incident);
        settings.histogram = follows;
        let scaled = matches!(settings.anti_aliasing, AntiAliasing::Temporal(temporal) if temporal.scale < 1.0);
        let number = if moving { 0 } else { self.still };
        if number == 0 && !moving {
            // A still picture is the same wherever the view has come from.
            renderer.reset_history();
        }
        // The frames that `Renderer::render_still` joins.
        let settings = if of > 1 && !scaled && !moving {
            let sample = Some(FrameSample { number, of });
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
            picture,
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
