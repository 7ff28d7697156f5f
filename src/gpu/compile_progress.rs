//! Shader compilation: creation time of each pipeline, progress, and remarks on failed pipelines.
//!
//! Drivers compile in `vkCreate*Pipelines` or, as llvmpipe, when a frame first executes the
//! pipeline. Both are covered: pipelines being created, and frames with pipelines that no earlier
//! frame has bound.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use super::mutex::lock;

/// Compilations further apart than this are counted separately.
const PAUSE: Duration = Duration::from_millis(500);

/// Host time of the creation of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct PipelineTime {
    /// Name of the pipeline.
    pub name: String,
    /// Duration of `vkCreate*Pipelines` and shader reflection in milliseconds.
    pub ms: f64,
}

/// Progress of shader compilation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileProgress {
    /// Number of pipelines created, or of passes begun in a frame with new pipelines.
    pub done: usize,
    /// Number of pipelines requested so far, or of passes of the frame.
    pub of: usize,
    /// Name of the pipeline or pass.
    pub name: String,
    /// Time since compilation began; pauses below half a second do not end it.
    pub elapsed: Duration,
}

impl std::fmt::Display for CompileProgress {
    /// The line of status displays: `compiling shaders 3/9 (lighting), 4 s`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { done, of, name, elapsed } = self;
        write!(f, "compiling shaders {done}/{of} ({name}), {:.0} s", elapsed.as_secs_f64())
    }
}

/// A submitted frame with pipelines that no earlier frame has bound.
pub(super) struct FirstUse {
    /// Identifies the frame among those in flight.
    pub key: usize,
    /// Names of the passes in order.
    pub passes: Vec<String>,
    /// Number of passes that have begun.
    pub begun: Box<dyn Fn() -> usize + Send>,
}

#[derive(Default)]
struct State {
    times: Vec<PipelineTime>,
    /// Names of the pipelines in creation.
    active: Vec<String>,
    /// Pipelines that were announced and have not begun.
    announced: usize,
    /// Pipelines begun and finished since compilation began.
    begun: usize,
    finished: usize,
    since: Option<Instant>,
    last: Option<Instant>,
    frame: Option<FirstUse>,
    /// Number of submitted frames with new pipelines.
    first_uses: usize,
    remarks: Vec<String>,
}

impl State {
    /// Notes that compilation goes on; after a pause, the counts start again.
    fn touch(&mut self) {
        let now = Instant::now();
        let idle = self.active.is_empty() && self.frame.is_none();
        if self.since.is_none() || idle && self.last.is_none_or(|last| now - last > PAUSE) {
            (self.announced, self.begun, self.finished, self.since) = (0, 0, 0, Some(now));
        }
        self.last = Some(now);
    }
}

/// Record of the compilations of a device.
#[derive(Default)]
pub(super) struct CompileLog(Mutex<State>);

/// A pipeline in creation, until dropped.
pub(super) struct Compiling<'a> {
    log: &'a CompileLog,
    name: &'a str,
    start: Instant,
}

impl Drop for Compiling<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.log.0);
        if let Some(index) = state.active.iter().position(|name| name == self.name) {
            state.active.swap_remove(index);
        }
        state.finished += 1;
        state.last = Some(Instant::now());
        let ms = self.start.elapsed().as_secs_f64() * 1e3;
        state.times.push(PipelineTime { name: self.name.to_owned(), ms });
    }
}

impl CompileLog {
    /// Announces pipelines that are about to be created, so that progress counts them.
    pub(super) fn announce(&self, count: usize) {
        let mut state = lock(&self.0);
        state.touch();
        state.announced += count;
    }

    /// Notes the creation of a pipeline.
    pub(super) fn begin<'a>(&'a self, name: &'a str) -> Compiling<'a> {
        let mut state = lock(&self.0);
        state.touch();
        state.begun += 1;
        state.announced = state.announced.saturating_sub(1);
        state.active.push(name.to_owned());
        Compiling { log: self, name, start: Instant::now() }
    }

    /// Notes a submitted frame.
    pub(super) fn submitted(&self, frame: FirstUse) {
        let mut state = lock(&self.0);
        state.touch();
        state.first_uses += 1;
        let last = state.frame.replace(frame);
        // Dropped without the lock: it may hold the last object of the device.
        drop(state);
        drop(last);
    }

    /// Notes that the frame with this key has finished.
    pub(super) fn finished(&self, key: usize) {
        let mut state = lock(&self.0);
        if state.frame.as_ref().is_some_and(|frame| frame.key == key) {
            state.last = Some(Instant::now());
            let frame = state.frame.take();
            drop(state);
            drop(frame);
        }
    }

    pub(super) fn progress(&self) -> Option<CompileProgress> {
        let state = lock(&self.0);
        let elapsed = state.since?.elapsed();
        if let Some(name) = state.active.first() {
            let of = state.begun + state.announced;
            return Some(CompileProgress { done: state.finished, of, name: name.clone(), elapsed });
        }
        let frame = state.frame.as_ref()?;
        let of = frame.passes.len();
        let done = (frame.begun)().saturating_sub(1).min(of);
        let name = frame.passes.get(done).cloned().unwrap_or_default();
        Some(CompileProgress { done, of, name, elapsed })
    }

    pub(super) fn times(&self) -> Vec<PipelineTime> {
        lock(&self.0).times.clone()
    }

    pub(super) fn count(&self) -> usize {
        lock(&self.0).times.len()
    }

    /// Number of pipelines created and of frames with new pipelines.
    pub(super) fn compilations(&self) -> usize {
        let state = lock(&self.0);
        state.times.len() + state.first_uses
    }

    pub(super) fn remark(&self, text: String) {
        let mut state = lock(&self.0);
        if !state.remarks.contains(&text) {
            state.remarks.push(text);
        }
    }

    pub(super) fn remarks(&self) -> Vec<String> {
        lock(&self.0).remarks.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_announced_pipelines_and_ends_with_the_last() {
        let log = CompileLog::default();
        assert_eq!(log.progress(), None);
        log.announce(3);
        let lighting = log.begin("lighting");
        let gi = log.begin("gi");
        let progress = log.progress().unwrap();
        assert_eq!((progress.done, progress.of, &*progress.name), (0, 3, "lighting"));
        assert!(progress.to_string().starts_with("compiling shaders 0/3 (lighting), "));
        drop(lighting);
        let progress = log.progress().unwrap();
        assert_eq!((progress.done, progress.of, &*progress.name), (1, 3, "gi"));
        drop(gi);
        assert_eq!(log.progress(), None, "nothing is in creation");
        let third = log.begin("blend");
        assert_eq!(log.progress().map(|progress| (progress.done, progress.of)), Some((2, 3)));
        // A second announcement adds to the first.
        log.announce(2);
        log.announce(1);
        assert_eq!(log.progress().map(|progress| progress.of), Some(6));
        drop(third);
        let names: Vec<String> = log.times().into_iter().map(|time| time.name).collect();
        assert_eq!(names, ["lighting", "gi", "blend"]);
    }

    #[test]
    fn a_frame_with_new_pipelines_counts_passes() {
        let log = CompileLog::default();
        let passes = vec!["gbuffer".to_owned(), "lighting".to_owned()];
        let frame = |key| FirstUse { key, passes: passes.clone(), begun: Box::new(|| 2) };
        log.submitted(frame(7));
        let progress = log.progress().unwrap();
        assert_eq!((progress.done, progress.of, &*progress.name), (1, 2, "lighting"));
        log.finished(8);
        assert!(log.progress().is_some(), "another frame has finished");
        log.finished(7);
        assert_eq!(log.progress(), None);
    }

    #[test]
    fn remarks_are_kept_once() {
        let log = CompileLog::default();
        log.remark("a".into());
        log.remark("a".into());
        assert_eq!(log.remarks(), ["a"]);
    }
}
