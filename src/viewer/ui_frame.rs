//! One frame of the window's content: input, panels, the newest picture, and when to redraw.

use std::time::{Duration, Instant};

use egui::{ColorImage, FullOutput, RawInput, TextureOptions};

use super::{
    action::SceneAction,
    app::{App, shaders::WATCH},
    governor::Level,
};
use crate::{frame::Aov, passes::gbuffer_channel::GbufferChannel};

/// Redraw interval while a result is pending.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Minimum interval of redraws by input alone, while a picture of a moving view is awaited in a
/// window that draws slowly. Pictures that come within it redraw the window, and take the newest
/// input.
const INPUT_INTERVAL: Duration = Duration::from_millis(100);

/// A window draws slowly if its own frames take longer (ms).
const SLOW_WINDOW_MS: f64 = 8.0;

impl App {
    /// Time until input redraws the window. It is zero unless the moving view awaits a picture, whose
    /// wake-up redraws the window at once: a software device would draw the window and not the
    /// picture.
    #[must_use]
    pub fn input_redraw_delay(&self) -> Duration {
        let waits = self.state.workspace.as_ref().is_some_and(|work| {
            let viewport = &work.viewport;
            viewport.moving() && viewport.level() != Level::FULL && !viewport.is_answered()
        });
        if waits && self.state.pacing.last_ms() > SLOW_WINDOW_MS {
            INPUT_INTERVAL.saturating_sub(self.last_frame.elapsed())
        } else {
            Duration::ZERO
        }
    }

    /// Time until the next redraw without input: while the scene plays or a result is pending.
    fn next_redraw_in(&self) -> Option<Duration> {
        let work = self.state.workspace.as_ref().filter(|_| self.state.fatal.is_none())?;
        if work.viewport.is_playing() {
            return Some(Duration::ZERO);
        }
        let waits = work.viewport.needs_frame() || self.state.reference_view.needs_redraw();
        [work.viewport.time_until_still(), waits.then_some(POLL_INTERVAL)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Number of the displayed picture of the device; `None` while the preview is displayed, or
    /// nothing.
    #[must_use]
    pub fn displayed_picture(&self) -> Option<u64> {
        let (_, number) = self.state.displayed_frame.as_ref()?;
        (*number > 0).then_some(*number)
    }

    /// Uploads the newest picture to the displayed texture; true if it is a new one.
    fn show_newest(&mut self) -> bool {
        let Some(viewport) = self.state.workspace.as_ref().map(|work| &work.viewport) else {
            return false;
        };
        let Some(finished) = viewport.last_frame.as_ref() else { return false };
        // The preview is of the current request, and this picture of an earlier one.
        let is_old = finished.request_id != viewport.request_id();
        if is_old && self.state.preview.samples().is_some() {
            return false;
        }
        if self.state.displayed_frame.as_ref().is_some_and(|(_, number)| *number == finished.number)
        {
            return false;
        }
        let picture = &finished.image;
        // Alpha is 1 everywhere.
        let image =
            ColorImage::from_rgba_premultiplied([picture.width, picture.height], &picture.display);
        match &mut self.state.displayed_frame {
            Some((texture, number)) => {
                texture.set(image, TextureOptions::LINEAR);
                *number = finished.number;
            }
            none => {
                let texture = self.ctx.load_texture("picture", image, TextureOptions::LINEAR);
                *none = Some((texture, finished.number));
                self.ctx.request_repaint();
            }
        }
        true
    }

    /// Shows a path traced preview while the requested picture waits for shaders; true if there is
    /// a new one.
    fn show_preview(&mut self) -> bool {
        if self.state.fatal.is_some() {
            return false;
        }
        let Some(work) = &self.state.workspace else { return false };
        let compiling = self.engine.compile_progress();
        let image = match self.state.preview.update(&work.viewport, compiling.as_ref(), &self.wake)
        {
            Ok(Some(image)) => image,
            Ok(None) => return false,
            Err(error) => {
                // The device's picture, or its error, follows.
                log::warn!("preview: {error}");
                self.state.preview.stop();
                return false;
            }
        };
        match &mut self.state.displayed_frame {
            Some((texture, number)) => {
                texture.set(image, TextureOptions::LINEAR);
                *number = 0;
            }
            none => {
                let texture = self.ctx.load_texture("picture", image, TextureOptions::LINEAR);
                *none = Some((texture, 0));
            }
        }
        true
    }

    /// Shows remarks of the device, and limits of the picture, each once.
    fn show_remarks(&mut self) {
        let remarks = self.engine.remarks();
        for remark in remarks.iter().skip(self.shown_remarks) {
            self.error(remark.clone());
        }
        self.shown_remarks = remarks.len();
        let newest =
            self.state.workspace.as_ref().and_then(|work| work.viewport.last_frame.as_ref());
        let limits = newest.map(|frame| frame.limits.clone()).unwrap_or_default();
        for limit in self.shown_limits.select(limits) {
            self.info(limit);
        }
    }

    /// Updates overlays and scopes to the picture.
    pub(super) fn update_scopes(&mut self) {
        let Some(work) = &mut self.state.workspace else { return };
        let channels = [GbufferChannel::Position, GbufferChannel::Normal];
        let mut aovs = channels.map(Aov::Channel).to_vec();
        aovs.extend(self.state.scopes.aov.filter(|aov| !aovs.contains(aov)));
        work.viewport.set_aovs(aovs);
        let mapper = work.viewport.session.passes().tonemap.operator;
        if let Some(finished) = &work.viewport.last_frame {
            self.state.scopes.follow(&self.ctx, finished, mapper);
        }
    }

    /// Updates the comparison to the newest pictures.
    pub(super) fn update_comparison(&mut self) {
        let Some(work) = &self.state.workspace else { return };
        let compared = self.state.reference_view.compare(&self.ctx, &work.viewport, &self.wake);
        if let Err(error) = compared {
            self.error(error);
        }
    }

    /// One frame: takes input, returns shapes and requests to the window system.
    pub fn frame(&mut self, input: RawInput) -> FullOutput {
        for file in input.dropped_files.clone() {
            self.apply(SceneAction::OpenFile(file.path().into()));
        }
        let ctx = self.ctx.clone();
        self.take_opened();
        let wish =
            |app: &Self| app.state.workspace.as_ref().map_or(0, |work| work.viewport.request_id());
        let before = wish(self);
        let mut output = ctx.run_ui(input, |ui| self.layout(ui));
        self.last_frame = Instant::now();
        let wished = wish(self);
        // A newly opened scene is not an input that an earlier picture could answer.
        self.state.pacing.begin_frame(if before == 0 { wished } else { before }, wished);
        self.draw();
        if let Some(work) = &self.state.workspace {
            let compiling = self.engine.compile_progress();
            self.state.preview.end_if_drawn(&work.viewport, compiling.as_ref());
        }
        let shown = self.show_newest() || self.show_preview();
        self.show_remarks();
        if let Some(finished) =
            self.state.workspace.as_ref().and_then(|work| work.viewport.last_frame.as_ref())
        {
            self.state.pacing.record_displayed(finished.request_id);
        }
        if shown {
            // This frame displays it.
            output.textures_delta.append(ctx.tex_manager().write().take_delta());
            // Panels were laid out before the picture came; the next frame updates them.
            ctx.request_repaint_after(self.input_redraw_delay());
        }
        if !ctx.input(|i| i.pointer.any_down())
            && let Err(error) = self.state.kept.keep()
        {
            self.error(format!("cannot save the window's settings: {error}"));
        }
        if let Some(work) = &mut self.state.workspace {
            work.document.autosave();
            if !ctx.input(|i| i.pointer.any_down()) {
                work.document.end_gesture();
            }
        }
        self.state.messages.retain(|message| message.since.elapsed() < message.stays());
        self.follow_shaders();
        if self.watched.is_some() {
            ctx.request_repaint_after(WATCH);
        }
        if self.state.loading.is_some() {
            ctx.request_repaint_after(POLL_INTERVAL);
        }
        if let Some(again) = self.next_redraw_in() {
            ctx.request_repaint_after(again);
        }
        // Redraw once when a message expires.
        if let Some(left) = self
            .state
            .messages
            .iter()
            .map(|message| message.stays().saturating_sub(message.since.elapsed()))
            .min()
        {
            ctx.request_repaint_after(left);
        }
        if let Some(due) =
            self.state.workspace.as_ref().and_then(|work| work.document.autosave_due())
        {
            ctx.request_repaint_after(due);
        }
        output
    }
}
