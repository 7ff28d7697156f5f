//! The render thread: the window stays responsive however long a frame takes.
//!
//! The window puts a `RenderRequest` into an inbox that holds one: the newest request replaces an
//! older one. The engine updates the scene on the device, draws the picture's frames, and puts each
//! into the `Results`.

mod job;
mod job_runner;
mod render_thread;
mod shared;
mod worker;

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    thread::JoinHandle,
    time::{Duration, Instant},
};

pub use job::{Job, JobResult, LightContributions, Sequence};
pub(super) use shared::RenderRequest;
pub use shared::{EngineCounts, RenderedFrame, Task};

use self::shared::{GUARD, Shared, lock};
use super::{error::ViewError, wake::Wake};
use crate::gpu::{Gpu, shader::Replacement};

/// The render thread.
pub struct Engine {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(gpu: &Gpu, wake: Wake) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let thread = render_thread::spawn(gpu, Arc::clone(&shared), wake)?;
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
