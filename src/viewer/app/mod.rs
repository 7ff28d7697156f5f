//! The window: its state, the engine and files, independent of its layout and of the window system.
//! Every change by the user is an action, which `apply.rs` carries out.

mod apply;
mod items;
mod look;
mod mix;
mod navigation;
mod opening;
mod picking;
mod readings;
pub(super) mod shaders;

use std::{
    path::PathBuf,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant, SystemTime},
};

use egui::{Context, Rect};

use super::{
    background::BackgroundWorker,
    engine::{Engine, RenderedFrame},
    error::ViewError,
    frame_pacing::FramePacing,
    governor::{GovernorMode, Level},
    painter::HdrImage,
    pointer::IncidentReading,
    recent::RecentScenes,
    settings::{SettingsStore, WindowSettings},
    shader_reload::ShaderSources,
    state::{Message, PanelState, PendingClose, ViewState},
    tour::Tour,
    viewport::JobResult,
    wake::Wake,
};
use crate::{
    camera::DisplayEncoding,
    frame::limits::ShownLimits,
    gpu::{Gpu, shader::Replacement},
    passes::tonemap::DisplayTransform,
    session::OpenRequest,
};

/// Options of the viewer window.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The scene to open, unless the gallery is shown.
    pub request: OpenRequest,
    /// True to start with the gallery.
    pub gallery: bool,
    /// Folder of the recent scenes and the window's settings; none keeps them for this run only.
    pub state: Option<PathBuf>,
    /// True if copied readings also go to standard output, one line each.
    pub print_readings: bool,
    /// True if frame-pacing statistics go to standard output at exit.
    pub pacing: bool,
    /// Quality in motion for this run; none is the setting `window.governor`.
    pub governor: Option<GovernorMode>,
}

/// The thread that finishes the work of a closed window.
#[must_use = "the device must outlive the thread: call wait()"]
pub struct ShutdownHandle(Option<JoinHandle<()>>);

impl ShutdownHandle {
    /// Waits until the last thread has ended.
    pub fn wait(self) {
        if let Some(thread) = self.0 {
            // A panic is ignored: nothing can be lost here.
            let _ = thread.join();
        }
    }
}

/// Outcome of a shader compilation.
type Compiled = Result<Vec<Replacement>, String>;

/// The whole window.
pub struct App {
    /// The state that panels show.
    pub state: ViewState,
    /// The state of the panels themselves.
    pub(super) panels: PanelState,
    pub(super) engine: Arc<Engine>,
    /// Number of the device's remarks that were shown.
    pub(super) shown_remarks: usize,
    /// Limits of pictures that were shown.
    pub(super) shown_limits: ShownLimits,
    pub(super) wake: Wake,
    pub(super) ctx: Context,
    pub(super) options: Options,
    /// Root folder for files beside scenes, from the command line.
    root: Option<PathBuf>,
    /// Shader sources, the compiling worker, and when the sources were last checked.
    shaders: Option<ShaderSources>,
    compiles: Option<BackgroundWorker<ShaderSources, Compiled>>,
    pub(super) watched: Option<(Instant, Option<SystemTime>)>,
    /// The HDR setting for which the display's encoding was last reported.
    said_of: bool,
    /// True if the window is about to close.
    pub closes: bool,
    /// Time of the last frame of the window.
    pub(super) last_frame: Instant,
}

impl App {
    /// Creates the window's content on a device and opens the requested scene. `wake` is called
    /// from other threads when there is a new result to show.
    ///
    /// # Errors
    /// The render thread cannot be started. A scene that cannot be opened is reported in the
    /// window.
    pub fn new(gpu: &Gpu, options: Options, wake: Wake) -> Result<Self, ViewError> {
        let ctx = Context::default();
        let (recent, notice) = RecentScenes::of(options.state.as_deref());
        let (kept, unread) = SettingsStore::of(options.state.as_deref());
        let settings = kept.now();
        style(&ctx, settings.high_contrast);
        let shaders = ShaderSources::of_build();
        let mut state = ViewState::new(recent, kept);
        (state.gallery, state.can_reload) = (options.gallery, shaders.is_some());
        let mut app = Self {
            state,
            panels: PanelState::default(),
            engine: Arc::new(Engine::new(gpu, Arc::clone(&wake))?),
            shown_remarks: 0,
            shown_limits: ShownLimits::default(),
            wake,
            ctx,
            root: options.request.root.clone(),
            options: options.clone(),
            shaders,
            compiles: None,
            watched: None,
            said_of: false,
            closes: false,
            last_frame: Instant::now(),
        };
        // Without a folder that remembers it, each start would be the first.
        if options.state.is_some() && !settings.toured {
            app.panels.tour.forward();
        }
        for notice in [notice, unread].into_iter().flatten() {
            app.error(notice);
        }
        if !options.gallery {
            app.open(&options.request);
        }
        Ok(app)
    }

    /// egui's context.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.ctx
    }

    /// Shows no path traced preview while the device compiles shaders: the path tracer leaves the
    /// processors to the compiler.
    pub fn disable_preview(&mut self) {
        self.state.preview.disable();
    }

    /// Frame-pacing statistics.
    #[must_use]
    pub const fn pacing(&self) -> &FramePacing {
        &self.state.pacing
    }

    /// Records how long the last frame took the window's thread, up to presentation.
    pub fn record_frame_time(&mut self, time: Duration) {
        self.state.pacing.record_frame_time(time, self.state.reference_view.is_tracing());
    }

    /// The picture's rectangle in the window (points), as of the last frame.
    #[must_use]
    pub const fn viewport_rect(&self) -> Rect {
        self.state.viewport_rect
    }

    /// The window's own settings.
    #[must_use]
    pub fn settings(&self) -> WindowSettings {
        self.state.settings()
    }

    /// Replaces the window's settings.
    pub(super) fn set_settings(&mut self, settings: WindowSettings) {
        if settings.governor != self.settings().governor {
            // The user's newer choice.
            self.options.governor = None;
        }
        if settings.high_contrast != self.settings().high_contrast {
            style(&self.ctx, settings.high_contrast);
        }
        if self.settings().toured && !settings.toured {
            self.panels.tour = Tour::default();
            self.panels.tour.forward();
        }
        self.state.kept.put(settings);
        self.ctx.request_repaint();
    }

    /// Sets the encoding of the window's display and reports whether it matches the HDR setting.
    pub fn set_display_encoding(&mut self, encoding: DisplayEncoding) {
        self.state.encoding = encoding;
        let WindowSettings { hdr, range, .. } = self.settings();
        if self.said_of == hdr {
            return;
        }
        self.said_of = hdr;
        match (hdr, encoding) {
            (false, _) => self.info("HDR is off: the window shows sRGB".into()),
            (true, DisplayEncoding::Srgb) => self.error(
                "no HDR output is offered for this window, neither scRGB nor HDR10: it shows sRGB, with highlights clipped at white"
                    .into(),
            ),
            (true, _) => self.info(format!(
                "{}: white at {} nit, highlights up to {} nit (File menu)",
                encoding.name(),
                range.paper_white().get(),
                range.peak().get()
            )),
        }
    }

    /// The picture in nits, for HDR displays; none without a picture.
    #[must_use]
    pub fn hdr_image(&self) -> Option<HdrImage<'_>> {
        let viewport = &self.state.workspace.as_ref()?.viewport;
        let finished = viewport.last_frame.as_ref()?;
        let picture = &finished.image;
        let mapper = viewport.session.passes().tonemap.operator;
        Some(HdrImage {
            number: finished.number,
            size: [picture.width, picture.height],
            nits: &picture.nits,
            multiplier: picture.exposure.multiplier(),
            to_display: DisplayTransform {
                mapper,
                white_balance: finished.white_balance,
                dither: false,
            },
        })
    }

    /// The last error, while it is displayed.
    #[must_use]
    pub fn error_message(&self) -> Option<&str> {
        self.state
            .messages
            .iter()
            .rev()
            .find(|message| message.is_error)
            .map(|message| message.text.as_str())
    }

    pub(super) fn info(&mut self, text: String) {
        self.state.messages.push(Message { text, is_error: false, since: Instant::now() });
    }

    pub(in crate::viewer) fn error(&mut self, text: String) {
        log::warn!("{text}");
        self.state.messages.push(Message { text, is_error: true, since: Instant::now() });
    }

    /// The device is lost: autosaves the look.
    pub(super) fn lost(&mut self, error: String) {
        if let Some(work) = &mut self.state.workspace {
            work.document.autosave_now();
        }
        self.error(error.clone());
        self.state.fatal = Some(error);
    }

    /// Handles the result of a job.
    fn take(&mut self, outcome: JobResult) {
        let Some(work) = &mut self.state.workspace else { return };
        match outcome {
            JobResult::Illuminance(point, Ok(lux)) => {
                let text = format!(
                    "{} at {:.2} {:.2} {:.2}",
                    lux_text(lux.get()),
                    point.x,
                    point.y,
                    point.z
                );
                work.pointer.incident = Some(IncidentReading { lux, text });
            }
            JobResult::LightContributions(Ok(mixed)) => self.state.mixer.take(Some(mixed)),
            JobResult::LightContributions(Err(error)) => {
                self.state.mixer.take(None);
                self.error(error);
            }
            JobResult::Written(Ok(count)) => self.info(format!("wrote {count} pictures")),
            JobResult::Illuminance(_, Err(error)) | JobResult::Written(Err(error)) => {
                self.error(error)
            }
        }
    }

    /// Requests the next frame and receives finished ones; errors are shown in the window.
    pub fn draw(&mut self) {
        if self.state.fatal.is_some() {
            return;
        }
        let governor = self.options.governor.unwrap_or(self.settings().governor);
        let Some(work) = &mut self.state.workspace else { return };
        work.viewport.set_governor_mode(governor);
        let drawn = work.viewport.draw();
        for outcome in work.viewport.job_results() {
            self.take(outcome);
        }
        let Some(work) = &mut self.state.workspace else { return };
        match drawn {
            Ok(another) => {
                let order = work.viewport.request_id();
                if work
                    .viewport
                    .last_frame
                    .as_ref()
                    .is_some_and(|finished| finished.request_id == order)
                {
                    work.trouble = None;
                }
                let newest = work.viewport.last_frame.as_ref();
                let is_whole = |finished: &RenderedFrame| {
                    let [number, of] = finished.samples;
                    finished.level == Level::FULL && finished.still && number == of
                };
                let is_due =
                    self.state.screenshot_due && newest.is_some_and(|newest| is_whole(newest));
                if another {
                    // The panels, which follow the pointer, were drawn before.
                    let position = work.pointer.image_position;
                    self.point(position);
                }
                if is_due {
                    self.screenshot();
                }
            }
            Err(error) if error.is_fatal() => self.lost(error.to_string()),
            Err(error) => {
                let text = error.to_string();
                if work.trouble.as_ref() != Some(&text) {
                    work.trouble = Some(text.clone());
                    self.error(text);
                }
            }
        }
    }

    /// Closes the window. Unsaved changes prompt first; a second request closes at once and keeps
    /// an autosave that the next start offers.
    pub fn close(&mut self) {
        if self.state.unsaved() && !matches!(self.state.pending_close, Some(PendingClose::Close)) {
            self.state.pending_close = Some(PendingClose::Close);
        } else {
            self.autosave_now();
            self.closes = true;
        }
    }

    /// Continues with the pending action.
    pub(super) fn proceed(&mut self) {
        match self.state.pending_close.take() {
            Some(PendingClose::Close) => self.closes = true,
            Some(PendingClose::Open(request)) => self.open_now(&request),
            None => {}
        }
    }

    /// Recent scenes, newest first.
    #[must_use]
    pub fn recent(&self) -> &[PathBuf] {
        self.state.recent.scenes()
    }

    /// Releases everything without waiting for the current frame, which ends on its own thread. The
    /// device must outlive that thread.
    pub fn shut_down(self) -> ShutdownHandle {
        self.engine.end();
        let left = std::thread::Builder::new().name("leaving".into()).spawn(move || drop(self));
        // Without a thread, everything was dropped here.
        ShutdownHandle(left.ok())
    }

    /// Autosaves the look before an unplanned exit.
    pub fn autosave_now(&mut self) {
        if let Some(work) = &mut self.state.workspace {
            work.document.autosave_now();
        }
    }
}

/// An illuminance as text: four decimals, or four significant digits below 0.01 lx.
fn lux_text(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.01 {
        format!("{value:.3e} lx")
    } else {
        format!("{value:.4} lx")
    }
}

/// A dark, neutral theme, because colors are judged here. Text is readable at arm's length.
///
/// High contrast has black panels, white text, and outlines around all controls, thicker and
/// yellow where the pointer or the focus is.
fn style(ctx: &Context, high_contrast: bool) {
    ctx.set_theme(egui::Theme::Dark);
    ctx.all_styles_mut(|style| {
        let gray = egui::Color32::from_gray;
        style.visuals = egui::Visuals::dark();
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
        if high_contrast {
            let (white, yellow) = (egui::Color32::WHITE, egui::Color32::YELLOW);
            let visuals = &mut style.visuals;
            visuals.panel_fill = egui::Color32::BLACK;
            visuals.window_fill = egui::Color32::BLACK;
            visuals.extreme_bg_color = egui::Color32::BLACK;
            visuals.faint_bg_color = gray(28);
            visuals.override_text_color = Some(white);
            visuals.weak_text_color = Some(gray(200));
            visuals.window_stroke = egui::Stroke::new(2.0, white);
            visuals.selection.bg_fill = egui::Color32::from_rgb(0, 70, 200);
            visuals.selection.stroke = egui::Stroke::new(2.0, yellow);
            let widgets = &mut visuals.widgets;
            for (widget, width, color) in [
                (&mut widgets.noninteractive, 1.0, white),
                (&mut widgets.inactive, 1.0, white),
                (&mut widgets.open, 1.0, white),
                (&mut widgets.hovered, 2.0, yellow),
                (&mut widgets.active, 2.0, yellow),
            ] {
                widget.bg_stroke = egui::Stroke::new(width, color);
                widget.fg_stroke = egui::Stroke::new(1.5, color);
                (widget.bg_fill, widget.weak_bg_fill) = (gray(20), egui::Color32::BLACK);
            }
            return;
        }
        style.visuals.panel_fill = gray(38);
        style.visuals.window_fill = gray(44);
        style.visuals.extreme_bg_color = gray(24);
        style.visuals.override_text_color = Some(gray(225));
    });
}
