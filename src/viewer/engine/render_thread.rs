//! The loop of the render thread: requests come before jobs.

use std::time::Instant;

use super::{
    drawing::RenderThread,
    job::Job,
    shared::{Inbox, Task},
};
use crate::viewer::governor::Level;

impl RenderThread<'_> {
    /// Runs until the window ends the thread, or the device is lost.
    pub fn run(&mut self) {
        while !self.link.ends() {
            let (shaders, order, job) = self.link.inbox(|inbox| {
                let order = inbox.request.take();
                // One at a time: requests come before jobs.
                let job = if order.is_none() { self.next_job(inbox) } else { None };
                (inbox.shaders.take(), order, job)
            });
            if let Some(modules) = shaders {
                // Pipelines are recreated with everything that holds them.
                self.release_renderer();
                self.gpu.replace_shaders(modules);
            }
            let answers = order.as_ref().map(|order| order.id);
            let done = match (order, job) {
                (Some(order), _) => {
                    self.task(Some(Task::Upload));
                    self.follow(order).map(|()| true)
                }
                (None, Some(([number, scene], job))) => {
                    self.link.note(|results| results.running = number);
                    let outcome = self.run_job(number, job);
                    // The job drew other pictures: restart accumulation, unless it is finished.
                    let of = self
                        .scene_state
                        .as_ref()
                        .map_or(0, |there| there.session.opened.still_samples().max(1));
                    if self.still < of {
                        self.still = 0;
                    }
                    outcome.map(|outcome| {
                        self.link.publish(|results| results.outcomes.push((scene, outcome)));
                        true
                    })
                }
                (None, None) => Ok(false),
            };
            // A request is followed by its first frame at once.
            let done = match done {
                // The result is no longer needed.
                Ok(_) if self.link.ends() => return,
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
                    self.link.publish(|results| {
                        (results.error, results.answered) = (Some(error), wish);
                    });
                    // A failed picture is not retried until something changes.
                    self.drawn = wish;
                    self.still = u32::MAX;
                    if lost {
                        self.link.end();
                    } else if of_device {
                        // Out of memory or a limit: the next request starts from empty.
                        self.release_renderer();
                    }
                }
            }
        }
    }

    /// Takes the next job, and numbers it by its start, so that canceling it does not cancel one
    /// that waits.
    fn next_job(&self, inbox: &mut Inbox) -> Option<([u64; 2], Job)> {
        let (scene, job) = inbox.jobs.remove(self.startable_job(inbox)?)?;
        Some(([self.link.next_number(), scene], job))
    }

    /// The first job that can start. Those that need the full size wait while the view has reduced
    /// quality, and do not hold up others.
    fn startable_job(&self, inbox: &Inbox) -> Option<usize> {
        let is_full = self.scene_state.as_ref().is_none_or(|there| there.level == Level::FULL);
        inbox.jobs.iter().position(|(_, job)| is_full || !job.needs_full_size())
    }

    /// Sleeps until there is work, or until the view counts as still.
    fn wait(&self) {
        let left = self.resumes_at.map(|at| at.saturating_duration_since(Instant::now()));
        let _ = self.link.next(left, |inbox| {
            let has_job = self.startable_job(inbox).is_some();
            (inbox.request.is_some() || has_job || inbox.shaders.is_some()).then_some(())
        });
    }
}
