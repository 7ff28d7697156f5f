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
use crate::gpu::{CompileProgress, Gpu, Interrupt, shader::Replacement};

/// The render thread.
pub struct Engine {
    worker: Worker<Inbox, Results>,
    gpu: Gpu,
    /// Interrupts long frames of a view at rest; none if the device cannot.
    interrupt: Option<Arc<Interrupt>>,
}

impl Engine {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(gpu: &Gpu, wake: Wake) -> std::io::Result<Self> {
        let (own, gpu) = (gpu.clone(), gpu.clone());
        // Without memory for it, frames run to their end.
        let interrupt = Interrupt::new(&own).ok().flatten();
        let interrupts = interrupt.clone();
        let work = move |link: &EngineLink| RenderThread::new(gpu, interrupts, link).run();
        Ok(Self { worker: Worker::new("render", wake, work)?, gpu: own, interrupt })
    }

    /// Sets the current request, and interrupts a frame that allows it.
    pub(super) fn send(&self, order: RenderRequest) {
        self.worker.submit(|inbox, _| {
            inbox.request = Some(order);
            // Under the inbox's lock: `RenderThread` clears it only while there is no request.
            if let Some(interrupt) = &self.interrupt {
                interrupt.raise();
            }
        });
    }

    /// True if a request interrupts long frames of a view at rest.
    pub(super) fn can_interrupt(&self) -> bool {
        self.interrupt.is_some()
    }

    /// Submits a job for the scene of the last request.
    pub(super) fn submit_job(&self, scene: u64, job: Job) {
        self.worker.submit(|inbox, _| inbox.jobs.push_back((scene, job)));
    }

    /// Replaces shaders from the next request on.
    pub(super) fn replace_shaders(&self, modules: Vec<Replacement>) {
        self.worker.submit(|inbox, _| inbox.shaders = Some(modules));
    }

    /// Cancels the running job.
    pub fn cancel(&self) {
        self.worker.cancel(self.worker.results(|results| results.running));
    }

    /// Cancels all jobs of the open scene.
    pub(super) fn cancel_all_jobs(&self) {
        self.worker.cancel_all(|inbox| inbox.jobs.clear());
    }

    /// Ends the thread after its current step.
    pub(super) fn end(&self) {
        self.worker.end();
        if let Some(interrupt) = &self.interrupt {
            interrupt.raise();
        }
    }

    /// Results of a scene's jobs, each once; results for earlier scenes are dropped.
    pub(super) fn job_results(&self, scene: u64) -> Vec<JobResult> {
        let outcomes = self.worker.results(|results| std::mem::take(&mut results.outcomes));
        outcomes.into_iter().filter(|(of, _)| *of == scene).map(|(_, outcome)| outcome).collect()
    }

    /// The newest picture.
    pub(super) fn finished(&self) -> Option<Arc<RenderedFrame>> {
        self.worker.results(|results| results.finished.clone())
    }

    /// The last error, once.
    pub(super) fn error(&self) -> Option<ViewError> {
        let error = self.worker.results(|results| results.error.take());
        error.or_else(|| self.worker.crash().map(ViewError::from))
    }

    /// The current task, and for how long it has run.
    #[must_use]
    pub fn task(&self) -> Option<(Task, Duration)> {
        self.worker.results(|results| results.task.map(|(task, since)| (task, since.elapsed())))
    }

    /// Progress of shader compilation; none while nothing is compiled.
    pub(super) fn compile_progress(&self) -> Option<CompileProgress> {
        self.gpu.compile_progress()
    }

    /// Remarks of the device, each once.
    pub(super) fn remarks(&self) -> Vec<String> {
        self.gpu.remarks()
    }

    /// True if a request has failed, so that no picture will come of it.
    pub(super) fn failed(&self, order: u64) -> bool {
        self.worker.results(|results| results.answered == order)
    }

    /// Waits until a predicate holds for the newest picture or the request has failed, at most
    /// `most`. True if it holds.
    pub(super) fn wait(
        &self,
        order: u64,
        holds: impl Fn(&RenderedFrame) -> bool,
        most: Duration,
    ) -> bool {
        let answered = self.worker.wait(Some(most), |results| {
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
