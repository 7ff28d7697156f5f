//! Reload of shaders while the window is open.

use std::time::{Duration, Instant};

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
        let (slot, wake) = (&mut self.compiles, &self.wake);
        match BackgroundWorker::submit_to(slot, "shader compiler", wake, compile, sources) {
            Ok(()) => self.info("compiling shaders".into()),
            Err(error) => self.error(error),
        }
    }

    /// Applies compiled shaders, and checks the sources for changes.
    pub(in crate::viewer) fn follow_shaders(&mut self) {
        match BackgroundWorker::take_result(&mut self.compiles) {
            Ok(Some(Ok(modules))) => {
                self.info(match modules.len() {
                    0 => "shaders match the build".into(),
                    count => format!("{count} shaders differ from the build and are in use"),
                });
                self.engine.replace_shaders(modules);
                if let Some(work) = &mut self.state.workspace {
                    work.viewport.invalidate();
                }
            }
            Ok(Some(Err(error))) | Err(error) => self.error(error),
            Ok(None) => {}
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
