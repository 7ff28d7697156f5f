//! The loop of the render thread: requests come before jobs.

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    thread::JoinHandle,
    time::Instant,
};

use super::{
    shared::{GUARD, Shared, Task, lock},
    worker::Worker,
};
use crate::{gpu::Gpu, viewer::wake::Wake};

/// Starts the thread.
///
/// # Errors
/// The thread cannot be started.
pub(super) fn spawn(gpu: &Gpu, shared: Arc<Shared>, wake: Wake) -> std::io::Result<JoinHandle<()>> {
    let gpu = gpu.clone();
    std::thread::Builder::new().name("renderer".into()).spawn(move || {
        // Reports the end of the thread to the window, even after a panic.
        let _over = Over(Arc::clone(&shared), Arc::clone(&wake));
        Worker::new(gpu, shared, wake).run();
    })
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
                        .map_or(0, |there| there.session.opened.still_samples().max(1));
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
}
