//! Reload of shaders while the window is open.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::App;
use crate::viewer::{background::BackgroundWorker, shader_reload::ShaderSources};

/// Interval at which shader sources are checked for changes.
pub(in crate::viewer) const WATCH: Duration = Duration::from_secs(1);

impl App {
    /// Sets the shader sources to compile.
    pub fn take_shaders(&mut self, sources: ShaderSources) {
        self.shaders = Some(sources);
        self.state.can_reload = true;
    }

    /// Recompiles the shaders and draws with them; from then on each saved change does so.
    pub(super) fn reload_shaders(&mut self) {
        let Some(sources) = self.shaders.clone() else {
            return self.error(
                "shader sources not found: build sunny16 on this machine to reload shaders".into(),
            );
        };
        self.watched = Some((Instant::now(), sources.written()));
        let compile = |sources: ShaderSources| sources.compile();
        let compiles = match &mut self.compiles {
            Some(compiles) => Ok(&*compiles),
            none @ None => BackgroundWorker::new("shaders", Arc::clone(&self.wake), compile)
                .map(|compiles| &*none.insert(compiles)),
        };
        match compiles {
            Ok(compiles) => {
                compiles.submit(sources);
                self.info("compiling shaders".into());
            }
            Err(error) => self.error(format!("cannot start the shader compiler's thread: {error}")),
        }
    }

    /// Applies compiled shaders, and checks the sources for changes.
    pub(in crate::viewer) fn follow_shaders(&mut self) {
        match self.compiles.as_ref().and_then(BackgroundWorker::result) {
            Some(Ok(modules)) => {
                self.info(match modules.len() {
                    0 => "shaders match the build".into(),
                    count => format!("{count} shaders differ from the build and are in use"),
                });
                self.engine.replace_shaders(modules);
                if let Some(work) = &mut self.state.workspace {
                    work.viewport.invalidate();
                }
            }
            Some(Err(error)) => self.error(error),
            None => {}
        }
        if let Some(crash) = self.compiles.as_ref().and_then(BackgroundWorker::crash) {
            self.compiles = None;
            self.error(crash.to_string());
        }
        let due = self.watched.filter(|(at, _)| at.elapsed() >= WATCH);
        if let (Some((_, before)), Some(sources)) = (due, &self.shaders) {
            let now = sources.written();
            self.watched = Some((Instant::now(), now));
            if now != before {
                self.reload_shaders();
            }
        }
    }
}
