//! A worker thread for jobs that take longer than a frame of the window.

use std::sync::Arc;

use super::{
    wake::Wake,
    worker::{Crashed, Worker},
};

/// Runs one job at a time; a newer job replaces one that has not started.
pub struct BackgroundWorker<J, R>(Worker<Option<J>, Option<R>>);

impl<J: Send + 'static, R: Send + 'static> BackgroundWorker<J, R> {
    /// Starts the thread; `wake` is called when a result is ready.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(
        name: &'static str,
        wake: Wake,
        work: impl Fn(J) -> R + Send + 'static,
    ) -> std::io::Result<Self> {
        let worker = Worker::new(name, wake, move |link| {
            while let Some(job) = link.next(None, Option::take) {
                let result = work(job);
                link.publish(|slot| *slot = Some(result));
            }
        })?;
        Ok(Self(worker))
    }

    /// Lets the thread end by itself: dropping this does not wait for its job.
    #[must_use]
    pub fn detached(self) -> Self {
        Self(self.0.detached())
    }

    /// Submits a job; it replaces one that has not started.
    pub fn submit(&self, job: J) {
        self.0.submit(|slot, _| *slot = Some(job));
    }

    /// The newest result, once.
    #[must_use]
    pub fn result(&self) -> Option<R> {
        self.0.results(Option::take)
    }

    /// Waits for a result; `None` if the thread has crashed.
    #[must_use]
    pub fn wait(&self) -> Option<R> {
        self.0.wait(None, Option::take)
    }

    /// The crash of the thread, once.
    #[must_use]
    pub fn crash(&self) -> Option<Crashed> {
        self.0.crash()
    }

    /// Submits a job to the worker of a slot, which is started for the first job.
    ///
    /// # Errors
    /// The thread cannot be started, as text.
    pub fn submit_to(
        slot: &mut Option<Self>,
        thread: &'static str,
        wake: &Wake,
        work: impl Fn(J) -> R + Send + 'static,
        job: J,
    ) -> Result<(), String> {
        if slot.is_none() {
            let started = Self::new(thread, Arc::clone(wake), work);
            let failed = |error| format!("cannot start the {thread}'s thread: {error}");
            *slot = Some(started.map_err(failed)?);
        }
        if let Some(worker) = slot {
            worker.submit(job);
        }
        Ok(())
    }

    /// The newest result of the worker of a slot, once.
    ///
    /// # Errors
    /// The thread has crashed, as text; the slot is then empty, for another worker.
    pub fn take_result(slot: &mut Option<Self>) -> Result<Option<R>, String> {
        let Some(worker) = slot else { return Ok(None) };
        match worker.crash() {
            Some(crash) => {
                *slot = None;
                Err(crash.to_string())
            }
            None => Ok(worker.result()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use super::*;
    use crate::gpu::mutex::lock;

    #[test]
    fn jobs_are_done_and_the_newest_counts() {
        let (told, results) = mpsc::channel();
        let (go, gate) = mpsc::channel::<()>();
        let told = Mutex::new(told);
        let background = BackgroundWorker::new(
            "test",
            Arc::new(move || lock(&told).send(()).unwrap()),
            move |job: u32| {
                gate.recv().unwrap();
                job * 2
            },
        )
        .unwrap();
        background.submit(1);
        // The first may or may not have started; of the others only the last runs.
        background.submit(2);
        background.submit(3);
        let mut last = None;
        while last != Some(6) {
            go.send(()).unwrap();
            results.recv().unwrap();
            last = background.result();
            assert!(matches!(last, Some(2 | 4 | 6)), "{last:?}");
        }
        assert_eq!(background.result(), None, "once");
    }
}
