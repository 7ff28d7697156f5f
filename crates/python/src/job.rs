//! Work without the interpreter's lock, with progress and cancellation.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use pyo3::prelude::*;
use sunny16::{cli::values::CliError, gpu::Interrupt, session::SessionError};

use crate::error::exception;

/// Interval between checks for signals, and between calls of the progress callback.
const INTERVAL: Duration = Duration::from_millis(50);

/// Work in progress, shared by the thread that does it and the one that waits for it.
#[derive(Default)]
pub struct Job {
    /// Set by a signal, and by a callback that raises or returns `False`.
    pub canceled: AtomicBool,
    /// Part that is done (0 to 1), and its text.
    progress: Mutex<Option<(f64, String)>>,
    interrupt: Mutex<Option<Arc<Interrupt>>>,
}

impl Job {
    /// # Errors
    /// [`SessionError::Canceled`] if the work is canceled.
    pub fn check(&self) -> Result<(), SessionError> {
        match self.canceled.load(Ordering::SeqCst) {
            true => Err(SessionError::Canceled),
            false => Ok(()),
        }
    }

    /// Sets the state that the next call of the callback receives.
    pub fn report(&self, done: f64, text: String) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some((done, text));
    }

    /// Sets the interrupt of the device, which a cancellation raises.
    pub fn set_interrupt(&self, interrupt: Option<Arc<Interrupt>>) {
        let mut own = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner);
        if self.canceled.load(Ordering::SeqCst) {
            interrupt.iter().for_each(|interrupt| interrupt.raise());
        }
        *own = interrupt;
    }

    fn cancel(&self) {
        let own = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner);
        self.canceled.store(true, Ordering::SeqCst);
        own.iter().for_each(|interrupt| interrupt.raise());
    }

    /// Calls the callback with new progress.
    fn call(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let news = self.progress.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some(progress), Some(news)) = (progress, news) else { return Ok(()) };
        let answer = progress.call1(py, news)?;
        match answer.extract::<bool>(py) {
            Ok(false) => Err(exception(py, &SessionError::Canceled.into())),
            _ => Ok(()),
        }
    }
}

/// Runs `work` on a thread of its own, without the interpreter's lock. Signals, and a progress
/// callback that raises or returns `False`, cancel it; the exception is raised when it has ended.
///
/// # Errors
/// The exception of the cancellation, else that of the work's error.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Job) -> Result<T, CliError> + Send,
) -> PyResult<T> {
    let job = Job::default();
    let (result, failure) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let worker = scope.spawn(|| {
                let sender = sender;
                let result = catch_unwind(AssertUnwindSafe(|| work(&job)));
                // The receiver waits for this.
                let _ = sender.send(());
                result
            });
            let mut failure = None;
            while receiver.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if failure.is_some() {
                    continue;
                }
                failure = Python::attach(|py| {
                    py.check_signals().and_then(|()| job.call(py, progress.as_ref())).err()
                });
                if failure.is_some() {
                    job.cancel();
                }
            }
            (worker.join(), failure)
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    match result {
        Ok(Ok(Ok(value))) => {
            job.call(py, progress.as_ref())?;
            Ok(value)
        }
        Ok(Ok(Err(error))) => Err(exception(py, &error)),
        Ok(Err(_)) | Err(_) => {
            let text = "the renderer crashed; standard error has the cause";
            Err(exception(py, &CliError::Internal(text.into())))
        }
    }
}
