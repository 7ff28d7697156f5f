//! The render thread: the window stays responsive however long a frame takes.
//!
//! The window puts a `RenderRequest` into an inbox that holds one: the newest request replaces an
//! older one. The engine updates the scene on the device, draws the picture's frames, and puts each
//! into the `Results`.

mod drawing;
mod job;
mod job_runner;
mod render_thread;
mod shared;

use std::{sync::Arc, time::Duration};

pub use job::{Job, JobResult, LightContributions, Sequence};
pub(super) use shared::RenderRequest;
pub use shared::{EngineCounts, RenderedFrame, Task};

use self::{
    drawing::RenderThread,
    shared::{EngineLink, Inbox, Results},
};
use super::{error::ViewError, wake::Wake, worker::Worker};
use crate::gpu::{CompileProgress, Gpu, shader::Replacement};

/// The render thread.
pub struct Engine(Worker<Inbox, Results>, Gpu);

impl Engine {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(gpu: &Gpu, wake: Wake) -> std::io::Result<Self> {
        let (own, gpu) = (gpu.clone(), gpu.clone());
        let work = move |link: &EngineLink| RenderThread::new(gpu, link).run();
        Ok(Self(Worker::new("render", wake, work)?, own))
    }

    /// Sets the current request.
    pub(super) fn send(&self, order: RenderRequest) {
        self.0.submit(|inbox, _| inbox.request = Some(order));
    }

    /// Submits a job for the scene of the last request.
    pub(super) fn submit_job(&self, scene: u64, job: Job) {
        self.0.submit(|inbox, number| inbox.jobs.push_back(([number, scene], job)));
    }

    /// Replaces shaders from the next request on.
    pub(super) fn replace_shaders(&self, modules: Vec<Replacement>) {
        self.0.submit(|inbox, _| inbox.shaders = Some(modules));
    }

    /// Cancels the running job.
    pub fn cancel(&self) {
        self.0.cancel(self.0.results(|results| results.running));
    }

    /// Cancels all jobs of the open scene.
    pub(super) fn cancel_all_jobs(&self) {
        self.0.cancel_all(|inbox| inbox.jobs.clear());
    }

    /// Ends the thread after its current step.
    pub(super) fn end(&self) {
        self.0.end();
    }

    /// Results of a scene's jobs, each once; results for earlier scenes are dropped.
    pub(super) fn job_results(&self, scene: u64) -> Vec<JobResult> {
        let outcomes = self.0.results(|results| std::mem::take(&mut results.outcomes));
        outcomes.into_iter().filter(|(of, _)| *of == scene).map(|(_, outcome)| outcome).collect()
    }

    /// The newest picture.
    pub(super) fn finished(&self) -> Option<Arc<RenderedFrame>> {
        self.0.results(|results| results.finished.clone())
    }

    /// The last error, once.
    pub(super) fn error(&self) -> Option<ViewError> {
        let error = self.0.results(|results| results.error.take());
        error.or_else(|| self.0.crash().map(ViewError::from))
    }

    /// The current task, and for how long it has run.
    #[must_use]
    pub fn task(&self) -> Option<(Task, Duration)> {
        self.0.results(|results| results.task.map(|(task, since)| (task, since.elapsed())))
    }

    /// Progress of shader compilation; none while nothing is compiled.
    pub(super) fn compile_progress(&self) -> Option<CompileProgress> {
        self.1.compile_progress()
    }

    /// Remarks of the device, each once.
    pub(super) fn remarks(&self) -> Vec<String> {
        self.1.remarks()
    }

    /// True if a request has failed, so that no picture will come of it.
    pub(super) fn failed(&self, order: u64) -> bool {
        self.0.results(|results| results.answered == order)
    }

    /// Waits until a predicate holds for the newest picture or the request has failed, at most
    /// `most`. True if it holds.
    pub(super) fn wait(
        &self,
        order: u64,
        holds: impl Fn(&RenderedFrame) -> bool,
        most: Duration,
    ) -> bool {
        let answered = self.0.wait(Some(most), |results| {
            let finished = results.finished.as_ref();
            if finished.is_some_and(|finished| finished.request_id == order && holds(finished)) {
                Some(true)
            } else {
                (results.error.is_some() || results.answered == order).then_some(false)
            }
        });
        answered.unwrap_or(false)
    }
}
