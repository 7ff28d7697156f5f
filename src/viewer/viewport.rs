//! The window's scene, kept up to date with the look: changes are sent to the engine, and a still
//! view accumulates to the picture that `render` writes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use glam::{DMat4, Mat3};

pub use super::engine::{
    EngineCounts, Job, JobResult, LightContributions, RenderedFrame, Sequence, Task,
};
use super::{
    engine::{Engine, RenderRequest},
    error::ViewError,
    governor::{Governor, GovernorMode, LIMIT_MS, Level, Sample},
};
use crate::{
    frame::Aov,
    gpu::CompileProgress,
    gpu_scene::View,
    scene::{Projection, Scene, address::AddressTable, look::Look},
    session::{
        self, OpenRequest, OpenScene, Size,
        expose::ExposureState,
        look_change::{LookChange, classify_change},
    },
};

/// Time after the last movement at which a view counts as still; until then each frame stands
/// alone.
const STILL_AFTER: Duration = Duration::from_millis(150);

/// Maximum expected frame time (ms) of the first picture that is shown at rest before slow pictures
/// of full quality. Each further one takes at most `STEP_GROWTH` times as long as the one before.
const STEP_MS: f64 = 200.0;
const STEP_GROWTH: f64 = 5.0;

/// Maximum time of rest before a slow picture of full quality, which input has to wait for.
const MAX_REST: Duration = Duration::from_secs(1);

/// Below this frame time (ms), the window waits for the frame that the input requested.
const QUICK_MS: f64 = 40.0;

/// Tasks that take longer are reported.
const LONG: Duration = Duration::from_millis(400);

/// The window's scene; the engine draws it.
pub struct Viewport {
    engine: Arc<Engine>,
    base: Arc<Scene>,
    warnings: Vec<String>,
    /// The scene with the look applied.
    pub session: OpenScene,
    /// The user's camera pose; none is the look's.
    pose: Option<DMat4>,
    /// Full size, and size of requested pictures (pixels).
    full_size: [u32; 2],
    size: [u32; 2],
    /// Quality of requested pictures.
    level: Level,
    governor: Governor,
    governor_mode: GovernorMode,
    /// The size in pixels that the present look does not fit.
    refused_size: Option<[u32; 2]>,
    /// True while a pointer button is held: the hand may move on.
    held: bool,
    /// The newest picture.
    pub last_frame: Option<Arc<RenderedFrame>>,
    /// The current request, and the last one sent.
    request_id: u64,
    sent: u64,
    moved: Option<Instant>,
    /// Time of the last playback step; none while paused.
    playing: Option<Instant>,
    /// Animation time (s), if the scene is animated.
    time: Option<f64>,
    /// Time of the last frame, device and host (ms).
    pub frame_ms: f64,
    /// Maximum wait for the requested picture; none derives it from the frame time.
    max_wait: Option<Duration>,
    /// Further outputs of the next pictures.
    aovs: Vec<Aov>,
    /// Jobs in progress.
    pending_jobs: usize,
    /// The first request of this viewport: older pictures are of another scene.
    first_request_id: u64,
}

/// Requests are numbered across all scenes, so that no picture of another scene matches.
static ORDERS: AtomicU64 = AtomicU64::new(1);

/// A loaded scene with its look applied, not yet on a device.
pub struct PreparedScene {
    base: Arc<Scene>,
    session: OpenScene,
    warnings: Vec<String>,
}

impl PreparedScene {
    /// Applies the look to a loaded scene.
    ///
    /// # Errors
    /// A look that does not fit the scene.
    pub fn new(
        request: &OpenRequest,
        scene: Scene,
        look: Look,
        warnings: Vec<String>,
    ) -> Result<Self, ViewError> {
        // Animated scenes start at their beginning, unless a time was requested.
        let time = request.time.or(scene.is_animated().then_some(0.0));
        let request = OpenRequest { time, ..request.clone() };
        let session = session::open_read(&request, scene.clone(), look, warnings.clone())?;
        Ok(Self { base: Arc::new(scene), session, warnings })
    }
}

impl Viewport {
    /// Shows a prepared scene; the engine uploads it.
    #[must_use]
    pub fn new(engine: &Arc<Engine>, prepared: PreparedScene) -> Self {
        let PreparedScene { base, session, warnings } = prepared;
        let size = [session.size.width, session.size.height];
        let order = ORDERS.fetch_add(1, Ordering::Relaxed);
        let time = session.time();
        Self {
            engine: Arc::clone(engine),
            base,
            warnings,
            session,
            pose: None,
            full_size: size,
            size,
            level: Level::FULL,
            governor: Governor::default(),
            governor_mode: GovernorMode::Auto,
            refused_size: None,
            held: false,
            last_frame: None,
            request_id: order,
            sent: 0,
            moved: None,
            playing: None,
            time,
            frame_ms: 0.0,
            max_wait: None,
            aovs: Vec::new(),
            pending_jobs: 0,
            first_request_id: order,
        }
    }

    /// The scene before any look.
    #[must_use]
    pub fn base(&self) -> &Scene {
        &self.base
    }

    /// The light nodes that an address of the look matches: of the file, else of the sky.
    #[must_use]
    pub fn light_nodes(&self, address: &str) -> Vec<usize> {
        let own = AddressTable::lights(&self.base).find(address);
        if own.is_empty() { AddressTable::lights(self.current_scene()).find(address) } else { own }
    }

    /// Exposure of the newest picture; none before the first.
    #[must_use]
    pub fn exposed(&self) -> Option<&ExposureState> {
        self.last_frame.as_ref().map(|finished| &finished.exposed)
    }

    /// The scene and camera of the newest picture, if the scene or the look is animated and that picture
    /// answers the current request with a still view.
    fn moment(&self) -> Option<(&Scene, (DMat4, Projection))> {
        self.session.time()?;
        let finished =
            self.last_frame.as_ref().filter(|finished| finished.request_id == self.request_id)?;
        Some((finished.scene.as_deref()?, finished.camera))
    }

    /// The scene at the displayed time.
    #[must_use]
    pub fn current_scene(&self) -> &Scene {
        self.moment().map_or(&self.session.scene, |(scene, _)| scene)
    }

    /// The camera pose.
    #[must_use]
    pub fn pose(&self) -> DMat4 {
        self.moment().map_or(self.session.camera.0, |(_, camera)| camera.0)
    }

    /// The camera's view.
    #[must_use]
    pub fn view(&self) -> View {
        let (pose, projection) = self.moment().map_or(self.session.camera, |(_, camera)| camera);
        View::new(pose, &projection, self.full_size[0], self.full_size[1])
    }

    /// Size of a still picture (pixels).
    #[must_use]
    pub fn full_size(&self) -> [u32; 2] {
        self.full_size
    }

    /// Quality of the requested picture.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// How the quality of a moving view is chosen.
    #[must_use]
    pub fn governor_mode(&self) -> GovernorMode {
        self.governor_mode
    }

    /// Sets how the quality of a moving view is chosen.
    pub fn set_governor_mode(&mut self, mode: GovernorMode) {
        self.governor_mode = mode;
    }

    /// Sets whether a pointer button is held, which postpones pictures that take long.
    pub fn set_held(&mut self, held: bool) {
        self.held = held;
    }

    /// Moves the camera; none returns to the look's.
    pub fn set_pose(&mut self, pose: Option<DMat4>) {
        match pose {
            Some(pose) if self.session.camera.0 != pose => {
                self.session.camera.0 = pose;
                self.mark_moving();
            }
            None if self.pose.is_some() => {
                // This look was applied before, so it fits.
                self.pose = None;
                if self.set_session_size(self.size).is_ok() {
                    self.mark_moving();
                }
            }
            _ => {}
        }
        self.pose = pose;
    }

    /// Something has changed: accumulation restarts.
    pub fn invalidate(&mut self) {
        self.request_id = ORDERS.fetch_add(1, Ordering::Relaxed);
    }

    /// Marks the view as moving: each frame stands alone until it is still.
    pub fn mark_moving(&mut self) {
        self.moved = Some(Instant::now());
        self.invalidate();
    }

    /// Applies a look.
    ///
    /// # Errors
    /// A look that does not fit the scene; nothing has changed then.
    pub fn apply_look(&mut self, look: Look) -> Result<LookChange, ViewError> {
        if self.session.timeline.is_some() || !look.timeline.is_empty() {
            return self.apply_timeline(look);
        }
        // The session's look has the values of its tier.
        let look = look.with_tier().map_err(session::SessionError::from)?;
        let change = classify_change(&self.session.look, &look);
        if change == LookChange::Nothing {
            return Ok(change);
        }
        let size = Size { width: self.size[0], height: self.size[1] };
        if change < LookChange::Scene {
            self.session.set_look(look, size)?;
        } else {
            let request = OpenRequest { size: Some(size), ..self.session.request.clone() };
            let mut session = session::apply_look(
                &request,
                Scene::clone(&self.base),
                look,
                self.warnings.clone(),
            )?;
            // The request keeps the user's size, not the window's.
            session.request = self.session.request.clone();
            self.session = session;
        }
        self.refused_size = None;
        self.adapt_session();
        self.mark_moving();
        Ok(change)
    }

    /// Applies a look in place of one with a timeline, or with a timeline of its own, at the
    /// present time.
    fn apply_timeline(&mut self, look: Look) -> Result<LookChange, ViewError> {
        if self.session.timeline.is_some() && *self.session.written_look() == look {
            return Ok(LookChange::Nothing);
        }
        let size = Size { width: self.size[0], height: self.size[1] };
        let own = self.session.request.clone();
        let time = self.time.or(own.time);
        let request = OpenRequest { size: Some(size), time, ..own.clone() };
        let mut session =
            session::apply_look(&request, Scene::clone(&self.base), look, self.warnings.clone())?;
        session.request = own;
        let change = classify_change(&self.session.look, &session.look);
        self.session = session;
        self.time = self.session.time();
        if self.time.is_none() {
            self.playing = None;
        }
        self.refused_size = None;
        self.adapt_session();
        self.mark_moving();
        Ok(change)
    }

    /// Sets what the look does not have: the user's pose, and metering positions in pixels of the
    /// full size.
    fn adapt_session(&mut self) {
        if let Some(pose) = self.pose {
            self.session.camera.0 = pose;
        }
        let full_size = (self.size != self.full_size).then_some(self.full_size);
        if let Some(timed) = &mut self.session.timeline {
            timed.full_size = full_size;
        }
        if let Some(size) = full_size {
            self.session.resize_positions(size);
        }
    }

    /// Applies the session's look at a picture size (pixels).
    fn set_session_size(&mut self, size: [u32; 2]) -> Result<(), ViewError> {
        let look = self.session.look.clone();
        self.session.set_look(look, Size { width: size[0], height: size[1] })?;
        self.size = size;
        self.adapt_session();
        Ok(())
    }

    /// The quality that the view needs: that of the governor while it moves, full quality at rest.
    /// On a slow device, quicker pictures come before the one of full quality. Where input cannot
    /// interrupt that one, it starts after a longer rest and not while a pointer button is held.
    fn needed_level(&self) -> Level {
        let auto = match self.governor_mode {
            GovernorMode::Auto => true,
            GovernorMode::Off => return Level::FULL,
            GovernorMode::Pinned(level) if self.moving() => return level,
            GovernorMode::Pinned(_) => false,
        };
        if auto && self.moving() {
            return self.governor.level();
        }
        let slow = self.slow_ms();
        if self.level == Level::FULL || slow.is_none() {
            return Level::FULL;
        }
        let expected = |level| self.governor.expected_ms(level);
        let last = expected(self.level).filter(|_| self.is_answered() && !self.postpones_full());
        let limit = last.map_or(STEP_MS, |ms| STEP_MS.max(STEP_GROWTH * ms));
        let quick = |level: &Level| expected(*level).is_some_and(|ms| ms <= limit);
        let step = Level::all().find(quick).filter(|level| *level < self.level);
        if auto && let Some(step) = step {
            step
        } else if !self.is_answered() || self.postpones_full() {
            self.level
        } else {
            Level::FULL
        }
    }

    /// True if a slow picture of full quality has to wait, because input could not interrupt it.
    fn postpones_full(&self) -> bool {
        !self.engine.can_interrupt() && (self.held || self.time_until_full().is_some())
    }

    /// Expected frame time of full quality (ms), if that takes long.
    fn slow_ms(&self) -> Option<f64> {
        self.governor.expected_ms(Level::FULL).filter(|ms| *ms > LIMIT_MS)
    }

    /// Time of rest that a slow picture of full quality still needs if it cannot be interrupted: a
    /// quarter of its own time.
    fn time_until_full(&self) -> Option<Duration> {
        if self.engine.can_interrupt() {
            return None;
        }
        let rest = Duration::from_secs_f64((self.slow_ms()? / 4e3).min(MAX_REST.as_secs_f64()));
        let left = rest.max(STILL_AFTER).saturating_sub(self.moved?.elapsed());
        (self.level != Level::FULL && !left.is_zero()).then_some(left)
    }

    /// True if the current request has its first picture, or has failed.
    pub fn is_answered(&self) -> bool {
        self.last_frame.as_ref().is_some_and(|finished| finished.request_id == self.request_id)
            || (self.sent == self.request_id && self.engine.failed(self.request_id))
    }

    /// Requests pictures of another quality.
    fn set_level(&mut self, level: Level) -> Result<(), ViewError> {
        let size = level.size(self.full_size);
        if level == self.level || self.refused_size == Some(size) {
            return Ok(());
        }
        if size != self.size
            && let Err(error) = self.set_session_size(size)
        {
            // Reported once, not in each frame.
            self.refused_size = Some(size);
            return Err(error);
        }
        self.level = level;
        self.invalidate();
        Ok(())
    }

    /// What the governor does, as text: quality and time of the newest picture; none at full
    /// quality.
    #[must_use]
    pub fn governor_text(&self) -> Option<String> {
        let finished = self.last_frame.as_ref()?;
        (finished.level != Level::FULL)
            .then(|| format!("{}, {:.0} ms", finished.level, finished.request_ms))
    }

    /// True if the view or the scene has just moved.
    #[must_use]
    pub fn moving(&self) -> bool {
        self.playing.is_some() || self.moved.is_some_and(|moved| moved.elapsed() < STILL_AFTER)
    }

    /// Sets the full size of the picture (pixels).
    ///
    /// # Errors
    /// A lens that has no image of this shape.
    pub fn resize(&mut self, full_size: [u32; 2]) -> Result<(), ViewError> {
        let full_size = full_size.map(|side| side.max(1));
        if full_size == self.full_size {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.full_size, full_size);
        if let Err(error) = self.set_session_size(self.level.size(full_size)) {
            self.full_size = before;
            return Err(error);
        }
        let pixels = |[width, height]: [u32; 2]| f64::from(width) * f64::from(height);
        self.governor.resized(pixels(full_size) / pixels(before));
        self.invalidate();
        Ok(())
    }

    /// Sets the maximum wait per frame for the requested picture. None derives it from the frame
    /// time: fast devices show each input in its own frame, slow ones do not block the window.
    pub fn set_max_wait(&mut self, max_wait: Option<Duration>) {
        self.max_wait = max_wait;
    }

    /// Sets the further outputs of pictures.
    pub fn set_aovs(&mut self, aovs: Vec<Aov>) {
        if self.aovs != aovs {
            self.aovs = aovs;
            self.invalidate();
        }
    }

    /// Animation time (s); none for a static scene.
    #[must_use]
    pub fn time(&self) -> Option<f64> {
        self.time
    }

    /// True if the scene plays.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.playing.is_some()
    }

    /// Starts or pauses playback.
    pub fn set_playing(&mut self, plays: bool) {
        let plays = plays && self.time.is_some();
        self.playing = plays.then(Instant::now);
        self.invalidate();
    }

    /// Seeks to a time (s).
    pub fn seek(&mut self, time: f64) {
        if self.time.is_some_and(|now| now != time) {
            self.time = Some(time);
            self.mark_moving();
        }
    }

    /// True if another frame is pending or would change the picture.
    #[must_use]
    pub fn needs_frame(&self) -> bool {
        let whole = |finished: &Arc<RenderedFrame>| {
            finished.request_id == self.request_id
                && finished.still
                && finished.samples[0] == finished.samples[1]
        };
        let over = self.sent == self.request_id && self.engine.failed(self.request_id);
        self.playing.is_some()
            || self.pending_jobs > 0
            || !(over || self.last_frame.as_ref().is_some_and(whole))
    }

    /// Time until the view is still, or until it needs full quality, when the window must redraw
    /// without the engine's wake-up.
    #[must_use]
    pub fn time_until_still(&self) -> Option<Duration> {
        let left = STILL_AFTER.saturating_sub(self.moved?.elapsed());
        if left.is_zero() { self.time_until_full() } else { Some(left) }
    }

    /// The engine's task, if it takes long.
    #[must_use]
    pub fn task(&self) -> Option<(Task, Duration)> {
        self.engine.task().filter(|(_, since)| *since > LONG)
    }

    /// Progress of shader compilation, if it takes long.
    #[must_use]
    pub fn compile_progress(&self) -> Option<CompileProgress> {
        self.engine.compile_progress().filter(|progress| progress.elapsed > LONG)
    }

    /// True if the user has moved the camera from the look's pose.
    #[must_use]
    pub fn is_posed(&self) -> bool {
        self.pose.is_some()
    }

    /// Sends the request to the engine and receives its results; true if there is a new picture.
    ///
    /// # Errors
    /// Errors of the engine since the last call: settings without an exposure; out of memory; a
    /// lost device. A look that does not fit the size of the next picture: the last size is kept.
    pub fn draw(&mut self) -> Result<bool, ViewError> {
        if self.is_answered()
            && let (Some(since), Some(time)) = (self.playing, &mut self.time)
        {
            // The next time is requested when the last is shown: slow devices skip frames and do
            // not lag.
            *time += since.elapsed().as_secs_f64();
            self.playing = Some(Instant::now());
            self.invalidate();
        }
        let level = self.set_level(self.needed_level());
        if self.sent != self.request_id {
            let rest = if self.playing.is_some() { Some(Instant::now()) } else { self.moved };
            self.engine.send(RenderRequest {
                id: self.request_id,
                base: Arc::clone(&self.base),
                session: self.session.clone(),
                time: self.time,
                pose: self.pose,
                still_at: rest.map_or_else(Instant::now, |moved| moved + STILL_AFTER),
                level: self.level,
                interruptible: self.governor.expected_ms(self.level).is_none_or(|ms| ms > LIMIT_MS),
                aovs: self.aovs.clone(),
            });
            self.sent = self.request_id;
            // A fast device shows this frame's input in this frame.
            let quick = self.frame_ms < QUICK_MS;
            let most = quick.then(|| Duration::from_secs_f64((2.0 * self.frame_ms + 5.0) / 1e3));
            if let Some(most) = self.max_wait.or(most) {
                self.engine.wait(self.request_id, |_| true, most);
            }
        }
        let another = self.receive()?;
        level.map(|()| another)
    }

    /// Receives the engine's results.
    fn receive(&mut self) -> Result<bool, ViewError> {
        let news =
            self.engine.finished().filter(|finished| finished.request_id >= self.first_request_id);
        let old = self.last_frame.as_ref().map(|finished| finished.number);
        let another = news.as_ref().is_some_and(|finished| Some(finished.number) != old);
        if another && let Some(finished) = news {
            self.frame_ms = finished.frame_ms;
            let size = [finished.image.width, finished.image.height];
            // Not of a former size. A still view is metered and updated once, not in each frame.
            if size == finished.level.size(self.full_size).map(|side| side as usize) {
                let ms = if finished.still { finished.frame_ms } else { finished.request_ms };
                let (level, compiled) = (finished.level, finished.compiled);
                self.governor.record(Sample { level, ms, compiled, still: finished.still });
            }
            self.last_frame = Some(finished);
        }
        match self.engine.error() {
            Some(error) => Err(error),
            None => Ok(another),
        }
    }

    /// Waits for a picture of the request, or with `whole` for its last frame.
    ///
    /// # Errors
    /// Errors of the engine.
    pub fn settle(&mut self, whole: bool) -> Result<(), ViewError> {
        // A refused size is an error here, not a reason to wait.
        self.refused_size = None;
        loop {
            self.draw()?;
            let holds = |finished: &RenderedFrame| {
                !whole || (finished.still && finished.samples[0] == finished.samples[1])
            };
            let order = self.request_id;
            if self
                .last_frame
                .as_ref()
                .is_some_and(|finished| finished.request_id == order && holds(finished))
            {
                return Ok(());
            }
            if self.engine.failed(order) {
                return self.receive().map(|_| ());
            }
            // The level may change without a wake-up.
            let most = self.time_until_still().unwrap_or(Duration::from_secs(1));
            self.engine.wait(order, holds, most);
        }
    }

    /// Submits a job beside the picture; `job_results` returns its result.
    pub fn submit_job(&mut self, job: Job) {
        self.pending_jobs += 1;
        self.engine.submit_job(self.first_request_id, job);
    }

    /// Cancels the running job.
    pub fn cancel(&self) {
        self.engine.cancel();
    }

    /// Results of jobs, each once.
    pub fn job_results(&mut self) -> Vec<JobResult> {
        let outcomes = self.engine.job_results(self.first_request_id);
        self.pending_jobs = self.pending_jobs.saturating_sub(outcomes.len());
        outcomes
    }

    /// The current request.
    #[must_use]
    pub fn request_id(&self) -> u64 {
        self.request_id
    }

    /// White-balance matrix of the newest picture.
    #[must_use]
    pub fn white_balance(&self) -> Mat3 {
        self.last_frame.as_ref().map_or(Mat3::IDENTITY, |finished| finished.white_balance)
    }
}
