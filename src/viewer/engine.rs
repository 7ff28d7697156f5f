//! The renderer at work on a thread of its own: the window stays alive however long a frame takes.
//!
//! The window puts its wish, an `Order`, into a box that holds one: the newest wish is the one that counts. The engine brings
//! the scene on the device up to it, draws the frames of the picture, and puts each into the `News`.

mod errands;

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

pub use errands::{Errand, Mixed, Outcome, Sequence};

use super::{
    ViewError,
    stage::{Change, change, relights},
};
use crate::{
    camera::ExposureMode,
    frame::{AntiAliasing, Aov, Picture, Renderer, Sample, Settings, Wanted},
    gpu::{Gpu, shader::Replacement},
    passes::GpuScene,
    scene::{
        Projection, Scene,
        look::metering::{ExposureControl, Metering},
    },
    studio::{
        Opened,
        expose::{self, Exposed},
    },
};

/// What the window wants to see.
pub(super) struct Order {
    /// Another one for each wish.
    pub number: u64,
    /// The scene before any look: another one is another scene.
    pub base: Arc<Scene>,
    /// The scene with its look, from where the camera stands, in the size wanted.
    pub opened: Opened,
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
pub struct Finished {
    /// The picture in nits, with its exposure.
    pub picture: Picture,
    /// How it was exposed.
    pub exposed: Exposed,
    /// The matrix of its white balance.
    pub white_balance: Mat3,
    /// Frames that it is the mean of, and how many it will be.
    pub samples: [u32; 2],
    /// The wish that it answers.
    pub order: u64,
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
    Draws(usize, usize),
}

#[derive(Default)]
struct Inbox {
    order: Option<Order>,
    /// Modules in the place of the built ones, from the next frame on.
    shaders: Option<Vec<Replacement>>,
    /// Each with its number and that of its scene's first order.
    errands: VecDeque<([u64; 2], Errand)>,
    /// Errands so far.
    sent: u64,
}

/// What the engine has to say.
#[derive(Default)]
struct News {
    finished: Option<Arc<Finished>>,
    /// Each with the number of its scene's first order.
    outcomes: Vec<(u64, Outcome)>,
    error: Option<ViewError>,
    /// The wish that the error answers, or the last that has ended without one.
    answered: u64,
    task: Option<(Task, Instant)>,
}

#[derive(Default)]
struct Shared {
    inbox: Mutex<Inbox>,
    wake: Condvar,
    news: Mutex<News>,
    told: Condvar,
    ends: AtomicBool,
    /// The errand under way, and the last that is not wanted any more.
    running: AtomicU64,
    cancelled: AtomicU64,
    /// No more pictures will come.
    over: AtomicBool,
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
            let mut worker =
                Worker { gpu, renderer: None, there: None, still: 0, drawn: 0, number: 0, shared: own, wake };
            worker.run();
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// What is wanted from now on.
    pub(super) fn send(&self, order: Order) {
        lock(&self.shared.inbox).order = Some(order);
        self.shared.wake.notify_all();
    }

    /// Has something done beside the picture of the last order.
    pub(super) fn send_on(&self, scene: u64, errand: Errand) {
        {
            let mut inbox = lock(&self.shared.inbox);
            inbox.sent += 1;
            let number = inbox.sent;
            inbox.errands.push_back(([number, scene], errand));
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
    pub(super) fn forget_errands(&self) {
        let last = {
            let mut inbox = lock(&self.shared.inbox);
            inbox.errands.clear();
            inbox.sent
        };
        self.shared.cancelled.store(last, Ordering::Relaxed);
    }

    /// Nothing more is wanted: the thread ends with the step that it is at.
    pub(super) fn end(&self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        self.shared.wake.notify_all();
    }

    /// What became of a scene's errands, each once; what became of those of scenes before it nobody asks.
    pub(super) fn outcomes(&self, scene: u64) -> Vec<Outcome> {
        let outcomes = std::mem::take(&mut lock(&self.shared.news).outcomes);
        outcomes.into_iter().filter(|(of, _)| *of == scene).map(|(_, outcome)| outcome).collect()
    }

    /// The newest picture.
    pub(super) fn finished(&self) -> Option<Arc<Finished>> {
        lock(&self.shared.news).finished.clone()
    }

    /// What went wrong, once.
    pub(super) fn error(&self) -> Option<ViewError> {
        let error = lock(&self.shared.news).error.take();
        error.or_else(|| self.shared.over.swap(false, Ordering::Relaxed).then_some(ViewError::Ended))
    }

    /// What it does, and since when.
    #[must_use]
    pub fn task(&self) -> Option<(Task, Duration)> {
        lock(&self.shared.news).task.map(|(task, since)| (task, since.elapsed()))
    }

    /// Whether nothing more comes of an order by itself: it failed.
    pub(super) fn given_up(&self, order: u64) -> bool {
        lock(&self.shared.news).answered == order
    }

    /// Waits until something holds of the newest picture, or an order has failed; at most this long. True where it holds.
    pub(super) fn wait(&self, order: u64, holds: impl Fn(&Finished) -> bool, most: Duration) -> bool {
        let until = Instant::now() + most;
        let mut news = lock(&self.shared.news);
        loop {
            if news.finished.as_ref().is_some_and(|finished| finished.order == order && holds(finished)) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero()
                || news.error.is_some()
                || news.answered == order
                || self.shared.over.load(Ordering::Relaxed)
            {
                return false;
            }
            news = self.shared.told.wait_timeout(news, left.min(GUARD)).unwrap_or_else(PoisonError::into_inner).0;
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
        self.0.over.store(!self.0.ends.load(Ordering::Relaxed), Ordering::Relaxed);
        self.0.told.notify_all();
        (self.1)();
    }
}

/// Seconds that exposure follows the light by in one frame at most: a window that was hidden has not watched.
const LONGEST_STEP: f64 = 1.0;

/// A scene on the device.
struct There {
    base: Arc<Scene>,
    /// The scene of the order, before the engine took it to another time.
    source: Arc<Scene>,
    opened: Opened,
    on_device: GpuScene,
    exposed: Option<Exposed>,
    /// When the last frame was drawn: exposure follows the light by the clock while the view moves or plays.
    drawn_at: Instant,
    white_balance: Mat3,
    order: u64,
    still_at: Instant,
    full: bool,
    aovs: Vec<Aov>,
    /// The view or the moment is another one than the meter has read.
    unread: bool,
}

struct Worker {
    gpu: Gpu,
    renderer: Option<Renderer>,
    there: Option<There>,
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
                    (self.there, self.renderer) = (None, None);
                    self.gpu.replace_shaders(modules);
                }
                let order = inbox.order.take();
                // One thing at a time: a wish first.
                let errand = if order.is_none() { inbox.errands.pop_front() } else { None };
                (order, errand)
            };
            let answers = order.as_ref().map(|order| order.number);
            let done = match (order, errand) {
                (Some(order), _) => {
                    self.task(Some(Task::Upload));
                    self.follow(order).map(|()| true)
                }
                (None, Some(([number, scene], errand))) => {
                    self.shared.running.store(number, Ordering::Relaxed);
                    let outcome = self.run_errand(errand);
                    // It drew other pictures: this one begins anew, unless it is finished.
                    let of = self.there.as_ref().map_or(0, |there| there.opened.still_samples().max(1));
                    if self.still < of {
                        self.still = 0;
                    }
                    outcome.map(|outcome| {
                        lock(&self.shared.news).outcomes.push((scene, outcome));
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
                    let (lost, of_device) = (error.ends(), error.of_device());
                    let wish = answers.or(self.there.as_ref().map(|there| there.order)).unwrap_or_default();
                    {
                        let mut news = lock(&self.shared.news);
                        (news.error, news.answered) = (Some(error), wish);
                    }
                    self.tell();
                    // What cannot be drawn is not tried again until something changes.
                    self.drawn = wish;
                    self.still = u32::MAX;
                    if lost {
                        self.shared.ends.store(true, Ordering::Relaxed);
                    } else if of_device {
                        // Memory that is full, a limit: the next wish begins with nothing of what failed.
                        (self.there, self.renderer) = (None, None);
                    }
                }
            }
        }
    }

    fn task(&self, task: Option<Task>) {
        let mut news = lock(&self.shared.news);
        if news.task.map(|(now, _)| now) != task {
            news.task = task.map(|task| (task, Instant::now()));
        }
    }

    fn tell(&self) {
        self.shared.told.notify_all();
        (self.wake)();
    }

    /// Sleeps until there is something to do.
    fn wait(&self) {
        let inbox = lock(&self.shared.inbox);
        let asked = inbox.order.is_some() || !inbox.errands.is_empty();
        if asked || self.shared.ends.load(Ordering::Relaxed) {
            return;
        }
        let rests = self.there.as_ref().map(|there| there.still_at.saturating_duration_since(Instant::now()));
        let most = rests.filter(|left| !left.is_zero()).map_or(GUARD, |left| left.min(GUARD));
        // Awake by chance or by time: the loop looks again.
        drop(self.shared.wake.wait_timeout(inbox, most).unwrap_or_else(PoisonError::into_inner));
    }

    /// Brings the scene on the device up to a wish.
    fn follow(&mut self, order: Order) -> Result<(), ViewError> {
        let renderer = match &mut self.renderer {
            Some(renderer) => renderer,
            none => none.insert(Renderer::new(&self.gpu)?),
        };
        let Order { number, base, mut opened, time, pose, still_at, full, aovs } = order;
        let source = Arc::clone(&opened.scene);
        let mut before = self.there.take().filter(|there| Arc::ptr_eq(&there.base, &base));
        let played = |opened: &Opened| opened.animated.as_ref().map(|animated| animated.time);
        let was = before.as_ref().and_then(|there| played(&there.opened));
        if let Some(there) = before.as_mut().filter(|there| Arc::ptr_eq(&there.source, &source)) {
            // The engine's own copy, at the time that it was last at: only the first change of time copies the scene.
            opened.scene = std::mem::take(&mut there.opened.scene);
            if let (Some(animated), Some(was)) = (&mut opened.animated, was) {
                animated.time = was;
            }
        }
        if let Some(time) = time.filter(|time| played(&opened).is_some_and(|now| now != *time)) {
            opened.go_to(time)?;
        }
        if let Some(pose) = pose {
            opened.camera.0 = pose;
        }
        self.still = 0;
        let there = match before {
            Some(mut there) => {
                let change = change(&there.opened.look, &opened.look);
                let followed = if change == Change::Scene {
                    if relights(&there.opened.look, &opened.look, &base) {
                        opened.relight(&self.gpu, &mut there.on_device)
                    } else {
                        opened.upload(renderer).map(|on_device| there.on_device = on_device)
                    }
                } else if was != played(&opened) {
                    opened.follow(&self.gpu, &mut there.on_device)
                } else {
                    Ok(())
                };
                // What fails here is the device's, which ends it.
                followed?;
                if change != Change::Nothing {
                    there.exposed = None;
                }
                let unread = there.unread || there.opened.camera != opened.camera || was != played(&opened);
                There { source, opened, order: number, still_at, full, aovs, unread, ..there }
            }
            None => {
                let on_device = opened.upload(renderer)?;
                renderer.cut();
                let white_balance = Mat3::IDENTITY;
                There {
                    base,
                    source,
                    opened,
                    on_device,
                    exposed: None,
                    drawn_at: Instant::now(),
                    white_balance,
                    order: number,
                    still_at,
                    full,
                    aovs,
                    unread: false,
                }
            }
        };
        self.there = Some(there);
        Ok(())
    }

    /// Draws the next frame, if another would change the picture; true where one was drawn.
    fn draw(&mut self) -> Result<bool, ViewError> {
        let (Some(renderer), Some(there)) = (&mut self.renderer, &mut self.there) else { return Ok(false) };
        let of = there.opened.still_samples().max(1);
        let moving = Instant::now() < there.still_at;
        let fresh = self.drawn != there.order;
        // One frame of a moving view; and a view of fewer pixels is moved, or soon wanted with all of them.
        if !fresh && (moving || !there.full || self.still >= of) {
            return Ok(false);
        }
        // Broken dials are told, and not tried again.
        if !fresh && self.still == u32::MAX {
            return Ok(false);
        }
        self.drawn = there.order;
        let opened = &mut there.opened;
        let view = opened.view();
        renderer.check_size(&view)?;
        let moving = moving || !there.full;
        let by_hand = expose::control(&opened.look) == ExposureControl::Dials(ExposureMode::Manual);
        let exposed = match there.exposed {
            // A still's meter reads once the view has come to rest; on the way the exposure follows what frames show.
            Some(exposed) if moving || self.still > 0 || (by_hand && exposed.metered.is_some() && !there.unread) => {
                exposed
            }
            _ => {
                {
                    let mut news = lock(&self.shared.news);
                    news.task = Some((Task::Draw, Instant::now()));
                }
                let exposed = expose::exposure(opened, renderer, &there.on_device, &view, !moving)?;
                there.unread = moving;
                there.white_balance =
                    expose::white_balance(opened, renderer, &there.on_device, &view, exposed.exposure)?;
                exposed
            }
        };
        there.exposed = Some(exposed);
        if self.shared.ends.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let mut settings =
            Settings { white_balance: there.white_balance, ..opened.picture_settings(&exposed, there.aovs.clone())? };
        opened.set_in_motion(&mut settings, &there.on_device);
        // Incident light takes a scene with cards in it: too dear for each frame.
        let follows = moving && expose::follows(&opened.look) && opened.look.metering.mode != Some(Metering::Incident);
        settings.histogram = follows;
        let scaled = matches!(settings.anti_aliasing, AntiAliasing::Temporal(temporal) if temporal.scale < 1.0);
        let number = if moving { 0 } else { self.still };
        if number == 0 && !moving {
            // A still picture is the same wherever the view has come from.
            renderer.cut();
        }
        // The frames that `Renderer::render_still` joins.
        let settings = if of > 1 && !scaled && !moving {
            let sample = Some(Sample { number, of });
            Settings { anti_aliasing: AntiAliasing::None, accumulate: Some(number), sample, ..settings }
        } else {
            settings
        };
        {
            let mut news = lock(&self.shared.news);
            news.task = Some((Task::Draw, Instant::now()));
        }
        let begun = Instant::now();
        let pending = renderer.submit(&there.on_device, &view, &settings, Wanted::ALL)?;
        let picture = renderer.collect(pending)?;
        if follows {
            let seconds = there.drawn_at.elapsed().as_secs_f64().min(LONGEST_STEP);
            let next = expose::follow(opened, renderer, &there.on_device, &view, (&exposed, &picture), seconds)?;
            there.exposed = Some(next);
        }
        there.drawn_at = Instant::now();
        self.still = if moving { 0 } else { number + 1 };
        self.number += 1;
        let finished = Finished {
            picture,
            exposed,
            white_balance: there.white_balance,
            samples: [number + 1, of],
            order: there.order,
            still: !moving,
            scene: (!moving).then(|| Arc::clone(&opened.scene)),
            camera: opened.camera,
            frame_ms: begun.elapsed().as_secs_f64() * 1e3,
            number: self.number,
        };
        lock(&self.shared.news).finished = Some(Arc::new(finished));
        self.tell();
        Ok(true)
    }
}
