//! A worker thread for jobs that take longer than a frame of the window.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
};

use super::wake::Wake;
use crate::gpu::mutex::lock;

struct Shared<J, R> {
    job: Mutex<Option<J>>,
    wake: Condvar,
    result: Mutex<Option<R>>,
    ends: AtomicBool,
}

/// Runs one job at a time; a newer job replaces one that has not started.
pub struct BackgroundWorker<J, R> {
    shared: Arc<Shared<J, R>>,
    thread: Option<JoinHandle<()>>,
}

impl<J: Send + 'static, R: Send + 'static> BackgroundWorker<J, R> {
    /// Starts the thread; `wake` is called when a result is ready.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(
        name: &str,
        wake: Wake,
        work: impl Fn(J) -> R + Send + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            job: Mutex::new(None),
            wake: Condvar::new(),
            result: Mutex::new(None),
            ends: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            while let Some(job) = next(&own) {
                let result = work(job);
                *lock(&own.result) = Some(result);
                wake();
            }
        })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Submits a job; it replaces one that has not started.
    pub fn submit(&self, job: J) {
        *lock(&self.shared.job) = Some(job);
        self.shared.wake.notify_all();
    }

    /// The newest result, once.
    #[must_use]
    pub fn result(&self) -> Option<R> {
        lock(&self.shared.result).take()
    }
}

/// The next job; none when the thread must end.
fn next<J, R>(shared: &Shared<J, R>) -> Option<J> {
    let mut job = lock(&shared.job);
    loop {
        if shared.ends.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(job) = job.take() {
            return Some(job);
        }
        job = shared.wake.wait(job).unwrap_or_else(PoisonError::into_inner);
    }
}

impl<J, R> Drop for BackgroundWorker<J, R> {
    fn drop(&mut self) {
        {
            // Set under the lock, so that the thread either sees it or is woken.
            let _job = lock(&self.shared.job);
            self.shared.ends.store(true, Ordering::Relaxed);
        }
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic is ignored: nothing can be lost here.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::mpsc;

    use super::*;

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
