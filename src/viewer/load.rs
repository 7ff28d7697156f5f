//! Loading of scenes on their own thread; the window stays responsive and can cancel.

use std::{path::PathBuf, time::Instant};

use super::{
    background::BackgroundWorker,
    document::{Document, Recovered},
    error::ViewError,
    viewport::PreparedScene,
    wake::Wake,
    worker::Crashed,
};
use crate::{
    scene::look,
    session::{self, OpenRequest, SessionError},
};

/// A loaded scene with its look.
pub(super) struct LoadedScene {
    pub prepared: PreparedScene,
    pub document: Document,
    pub recovered: Option<Recovered>,
}

pub(super) type LoadResult = Result<Box<LoadedScene>, ViewError>;

/// A scene being loaded. Dropping it cancels: the thread ends after the file, and its result is
/// discarded.
pub(super) struct Loading {
    pub request: OpenRequest,
    pub since: Instant,
    /// Text of the look that was open when loading started.
    pub text: Option<String>,
    worker: BackgroundWorker<(OpenRequest, Option<PathBuf>), LoadResult>,
}

/// Name of the thread.
const THREAD: &str = "loading";

impl Loading {
    /// Starts loading; `wake` is called when it ends.
    pub fn begin(
        request: OpenRequest,
        state: Option<PathBuf>,
        text: Option<String>,
        wake: Wake,
    ) -> std::io::Result<Self> {
        let worker = BackgroundWorker::new(THREAD, wake, |(request, state)| {
            read(&request, state).map(Box::new)
        })?
        .detached();
        worker.submit((request.clone(), state));
        Ok(Self { request, since: Instant::now(), text, worker })
    }

    /// The result, once loading has ended.
    pub fn result(&self) -> Option<LoadResult> {
        let crash = || self.worker.crash().map(|crash| Err(crash.into()));
        self.worker.result().or_else(crash)
    }

    /// Waits for the result.
    pub fn wait(&self) -> LoadResult {
        self.worker.wait().unwrap_or_else(|| Err(Crashed { thread: THREAD }.into()))
    }
}

/// Reads the scene and the look, and combines them.
fn read(request: &OpenRequest, state: Option<PathBuf>) -> Result<LoadedScene, ViewError> {
    let source = session::read(request)?;
    let mut document = Document::new(&source.look, &source.look_name, saved_at(request, &source));
    if let (None, Some(state)) = (document.file(), state) {
        document = document
            .with_autosave(state.join("unsaved").join(format!("{}.autosave", source.look_name)));
    }
    look::check_assignments(&request.set).map_err(SessionError::from)?;
    for assignment in &request.set {
        // As in `Look::assign`: the command line's assignments can be undone.
        let (path, value) = look::split_assignment(assignment).unwrap_or((assignment, ""));
        let value = value_from_here(path, value);
        document.set(&[(path, Some(&value))]).map_err(SessionError::from)?;
    }
    let look = document.look().map_err(SessionError::from)?;
    let prepared = PreparedScene::new(request, source.scene, look, source.warnings)?;
    let recovered = document.recovered();
    Ok(LoadedScene { prepared, document, recovered })
}

/// A value from the command line: file names are relative to the working directory, not to the
/// look.
fn value_from_here(path: &str, value: &str) -> String {
    let bare = value.trim_matches('"');
    if !look::is_file_property(path, bare) {
        return value.into();
    }
    std::path::absolute(bare).map_or_else(|_| value.into(), |whole| whole.display().to_string())
}

/// Path that a look is saved to: its own file, else beside the scene.
fn saved_at(request: &OpenRequest, source: &session::SceneSource) -> Option<PathBuf> {
    let builtin =
        request.scene.as_ref().is_none_or(|scene| scene.to_string_lossy().starts_with("builtin:"));
    let beside = || {
        request.scene.as_ref().filter(|_| !builtin).map(|scene| session::default_look_path(scene))
    };
    source.look_file.clone().or_else(beside)
}
