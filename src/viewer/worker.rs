//! A worker thread: an inbox of work, results, cancellation by number, and its end.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use super::wake::Wake;
use crate::gpu::mutex::lock;

/// A worker thread that ended by a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {thread} thread crashed; see the terminal for the log")]
pub struct Crashed {
    /// Name of the thread.
    pub thread: &'static str,
}

/// A value that threads change under a lock, and wait for.
#[derive(Default)]
struct Watched<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T> Watched<T> {
    fn change<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let changed = change(&mut lock(&self.value));
        self.changed.notify_all();
        changed
    }

    /// Waits until `find` returns a value. `None` after the timeout, or if `end` is set.
    fn wait<R>(
        &self,
        timeout: Option<Duration>,
        end: &AtomicBool,
        mut find: impl FnMut(&mut T) -> Option<R>,
    ) -> Option<R> {
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut value = lock(&self.value);
        loop {
            if let Some(found) = find(&mut value) {
                return Some(found);
            }
            if end.load(Ordering::Relaxed) {
                return None;
            }
            value = match until {
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return None;
                    }
                    let waited = self.changed.wait_timeout(value, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(value).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

/// What a worker shares with its owner: the inbox `I` and the results `R`.
pub struct Link<I, R> {
    thread: &'static str,
    wake: Wake,
    inbox: Watched<I>,
    results: Watched<R>,
    /// Number of the last submission, and of the last canceled one.
    sent: AtomicU64,
    canceled: AtomicU64,
    /// The thread must end. Set under the inbox's lock.
    ends: AtomicBool,
    /// The thread has ended. Set under the lock of the results.
    over: AtomicBool,
    crashed: AtomicBool,
}

impl<I, R> Link<I, R> {
    /// Changes the inbox without waiting for work.
    pub fn inbox<T>(&self, change: impl FnOnce(&mut I) -> T) -> T {
        change(&mut lock(&self.inbox.value))
    }

    /// Waits until `take` finds work in the inbox. `None` after the timeout, or if the thread must
    /// end.
    pub fn next<T>(
        &self,
        timeout: Option<Duration>,
        mut take: impl FnMut(&mut I) -> Option<T>,
    ) -> Option<T> {
        self.inbox.wait(timeout, &self.ends, |inbox| if self.ends() { None } else { take(inbox) })
    }

    /// A number after those of all submissions so far, for work that does not start in their
    /// order. Call it under the inbox's lock.
    pub fn next_number(&self) -> u64 {
        self.sent.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Changes the results, and wakes the owner.
    pub fn publish(&self, change: impl FnOnce(&mut R)) {
        self.results.change(change);
        (self.wake)();
    }

    /// Changes the results without waking the owner.
    pub fn note(&self, change: impl FnOnce(&mut R)) {
        change(&mut lock(&self.results.value));
    }

    /// True if the thread must end.
    pub fn ends(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// True if a submission was canceled, or the thread must end.
    pub fn is_canceled(&self, number: u64) -> bool {
        self.canceled.load(Ordering::Relaxed) >= number || self.ends()
    }

    /// Ends the thread after its current step.
    pub fn end(&self) {
        // Set under the lock, so that the thread either sees it or is woken.
        self.inbox.change(|_| self.ends.store(true, Ordering::Relaxed));
    }
}

/// Reports the end of the thread when dropped, also after a panic.
struct End<I, R>(Arc<Link<I, R>>);

impl<I, R> Drop for End<I, R> {
    fn drop(&mut self) {
        let (link, crashed) = (&self.0, std::thread::panicking());
        link.crashed.store(crashed, Ordering::Relaxed);
        link.results.change(|_| link.over.store(true, Ordering::Relaxed));
        if crashed {
            (link.wake)();
        }
    }
}

/// A worker thread, which ends when this is dropped.
pub struct Worker<I, R> {
    link: Arc<Link<I, R>>,
    thread: Option<JoinHandle<()>>,
}

impl<I: Default + Send + 'static, R: Default + Send + 'static> Worker<I, R> {
    /// Starts a thread that runs `work`; `wake` is called for new results and after a panic.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(
        thread: &'static str,
        wake: Wake,
        work: impl FnOnce(&Link<I, R>) + Send + 'static,
    ) -> std::io::Result<Self> {
        let link = Arc::new(Link {
            thread,
            wake,
            inbox: Watched::default(),
            results: Watched::default(),
            sent: AtomicU64::new(0),
            canceled: AtomicU64::new(0),
            ends: AtomicBool::new(false),
            over: AtomicBool::new(false),
            crashed: AtomicBool::new(false),
        });
        let end = End(Arc::clone(&link));
        let thread = std::thread::Builder::new().name(thread.into()).spawn(move || work(&end.0))?;
        Ok(Self { link, thread: Some(thread) })
    }
}

impl<I, R> Worker<I, R> {
    /// Lets the thread end by itself: dropping the worker does not wait for it.
    #[must_use]
    pub fn detached(mut self) -> Self {
        self.thread = None;
        self
    }

    /// Adds work to the inbox, with its number. Numbers increase.
    pub fn submit(&self, change: impl FnOnce(&mut I, u64)) -> u64 {
        self.link.inbox.change(|inbox| {
            let number = self.link.next_number();
            change(inbox, number);
            number
        })
    }

    /// Cancels submissions up to a number.
    pub fn cancel(&self, number: u64) {
        self.link.canceled.fetch_max(number, Ordering::Relaxed);
    }

    /// Cancels all submissions so far, after `clear` has removed those that have not started.
    pub fn cancel_all(&self, clear: impl FnOnce(&mut I)) {
        self.link.inbox(|inbox| {
            clear(inbox);
            self.cancel(self.link.sent.load(Ordering::Relaxed));
        });
    }

    /// Reads or takes results.
    pub fn results<T>(&self, read: impl FnOnce(&mut R) -> T) -> T {
        read(&mut lock(&self.link.results.value))
    }

    /// Waits until `find` returns a value of the results. `None` after the timeout, or if the
    /// thread has ended.
    pub fn wait<T>(
        &self,
        timeout: Option<Duration>,
        find: impl FnMut(&mut R) -> Option<T>,
    ) -> Option<T> {
        self.link.results.wait(timeout, &self.link.over, find)
    }

    /// The thread's panic, once.
    pub fn crash(&self) -> Option<Crashed> {
        let crashed = self.link.crashed.swap(false, Ordering::Relaxed);
        crashed.then_some(Crashed { thread: self.link.thread })
    }

    /// Ends the thread after its current step.
    pub fn end(&self) {
        self.link.end();
    }
}

impl<I, R> Drop for Worker<I, R> {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            // A panic is ignored: no result can be lost here.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Echo = Worker<Vec<u64>, Vec<u64>>;

    fn echo() -> Echo {
        Worker::new("echo", Arc::new(|| {}), |link: &Link<Vec<u64>, Vec<u64>>| {
            while let Some(number) = link.next(None, Vec::pop) {
                assert!(number < 100, "this panic is part of the test");
                link.publish(|results| results.push(number * 2));
            }
        })
        .unwrap()
    }

    const LONG: Option<Duration> = Some(Duration::from_secs(60));

    #[test]
    fn work_is_done_and_a_panic_is_reported_once() {
        let worker = echo();
        worker.submit(|inbox, _| inbox.push(4));
        assert_eq!(worker.wait(LONG, Vec::pop), Some(8));
        assert_eq!(worker.crash(), None);
        worker.submit(|inbox, _| inbox.push(100));
        assert_eq!(worker.wait(LONG, Vec::pop), None, "the thread has ended");
        assert_eq!(worker.crash(), Some(Crashed { thread: "echo" }));
        assert_eq!(worker.crash(), None, "once");
    }

    #[test]
    fn submissions_are_canceled_by_number() {
        let worker = echo();
        let [first, second] = [1, 2].map(|value| worker.submit(|inbox, _| inbox.push(value)));
        assert!(second > first);
        worker.cancel(first);
        assert!(worker.link.is_canceled(first) && !worker.link.is_canceled(second));
        worker.cancel_all(Vec::clear);
        assert!(worker.link.is_canceled(second));
        worker.end();
        assert!(worker.link.is_canceled(u64::MAX), "the end cancels everything");
    }
}
