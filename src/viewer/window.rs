//! The window of the window system: winit, a swapchain, redraw on change.

use std::{
    io::Write,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use raw_window_handle::HasDisplayHandle;
use winit::{
    application::ApplicationHandler,
    dpi::{LogicalSize, PhysicalSize},
    event::WindowEvent,
    event_loop::{ActiveEventLoop, ControlFlow, EventLoop},
    window::{Window, WindowId},
};

use super::{
    app::{App, Options},
    clipboard::Clipboard,
    error::ViewError,
    painter::Painter,
    panels::layout::MIN_WINDOW_SIZE,
    wake::Wake,
};
use crate::{
    gpu::{
        Gpu, GpuOptions,
        mutex::lock,
        window::{PresentResult, Surface, Swapchain},
    },
    session,
};

/// Error of the window system, without the source location that winit puts before it.
fn oops(error: &dyn std::fmt::Display) -> ViewError {
    let text = error.to_string();
    let cause = text.strip_prefix("os error at ").and_then(|rest| rest.split_once(": "));
    let detail = cause.map_or(text.as_str(), |(_, cause)| cause).trim_end_matches('.').to_owned();
    ViewError::Window { detail }
}

/// Opens the window, and returns when it is closed.
///
/// # Errors
/// No display; no device that can present to it; a lost device, after the look was autosaved.
pub fn run(options: Options, gpu: GpuOptions) -> Result<(), ViewError> {
    let events = EventLoop::<WakeEvent>::with_user_event().build().map_err(|error| oops(&error))?;
    let proxy = Mutex::new(events.create_proxy());
    // Fails if the event loop has ended; then no wake-up is needed.
    let wake: Wake = Arc::new(move || drop(lock(&proxy).send_event(WakeEvent)));
    let mut handler = Handler { options, gpu_options: gpu, wake, open: None, failed: None };
    let ran = events.run_app(&mut handler);
    if let (Err(_), Some(open)) = (&ran, &mut handler.open) {
        // The display is gone.
        open.app.autosave_now();
    }
    ran.map_err(|error| oops(&error))?;
    // Open resources are released before the display.
    let failed = handler.failed.take();
    let gpus = handler.open.as_ref().map(|open| [open.gpu.clone(), open.renders.clone()]);
    let frame_pacing = handler
        .open
        .as_ref()
        .filter(|open| open.app.options.pacing)
        .map(|open| open.app.pacing().clone());
    if let Some(open) = handler.open.take() {
        open.close();
    }
    if let Some(pacing) = frame_pacing {
        // Standard output may be closed; that is no error here.
        drop(writeln!(std::io::stdout(), "{pacing}"));
    }
    drop(handler);
    match failed {
        Some(error) => Err(error),
        None => Ok(session::check_validation(gpus.iter().flatten())?),
    }
}

/// Maximum redraws per second while a picture accumulates.
const MAX_REDRAW_RATE: u64 = 60;

/// Another thread has a new result.
struct WakeEvent;

struct Handler {
    options: Options,
    gpu_options: GpuOptions,
    wake: Wake,
    open: Option<Open>,
    failed: Option<ViewError>,
}

/// All resources of an open window; dropped from top to bottom.
struct Open {
    app: App,
    painter: Painter,
    swapchain: Option<Swapchain>,
    surface: Arc<Surface>,
    input: egui_winit::State,
    clipboard: Clipboard,
    /// The window's device; the engine has its own.
    gpu: Gpu,
    renders: Gpu,
    window: Arc<Window>,
    /// True if an HDR swapchain was requested.
    hdr: bool,
    redraw_at: Option<Instant>,
}

/// Initial window size (points) without `--size`.
const FIRST_SIZE: LogicalSize<f64> = LogicalSize::new(1440.0, 900.0);

impl Handler {
    fn begin(&self, events: &ActiveEventLoop) -> Result<Open, ViewError> {
        let attributes =
            Window::default_attributes().with_title("sunny16").with_min_inner_size(MIN_WINDOW_SIZE);
        let attributes = match self.options.request.size {
            Some(size) => attributes.with_inner_size(PhysicalSize::new(size.width, size.height)),
            None => attributes.with_inner_size(FIRST_SIZE),
        };
        let window = Arc::new(events.create_window(attributes).map_err(|error| oops(&error))?);
        let display = window.display_handle().map_err(|error| oops(&error))?.as_raw();
        let gpu = Gpu::open(&GpuOptions { display: Some(display), ..self.gpu_options.clone() })?;
        let surface = Arc::new(Surface::new(&gpu, &window)?);
        let swapchain = Swapchain::new(&gpu, &surface, size_of(window.inner_size()), false, None)?;
        let format =
            swapchain.as_ref().map_or(crate::gpu::vk::Format::B8G8R8A8_UNORM, Swapchain::format);
        let painter = Painter::new(&gpu, format)?;
        let named = Some(gpu.info().name.clone());
        let renders =
            Gpu::open(&GpuOptions { display: None, device: named, ..self.gpu_options.clone() })?;
        let app = App::new(&renders, self.options.clone(), Arc::clone(&self.wake))?;
        let limit = gpu.limits().max_image_dimension2_d as usize;
        let input = egui_winit::State::new(
            app.context().clone(),
            egui::ViewportId::ROOT,
            &window,
            Some(window.scale_factor() as f32),
            None,
            Some(limit),
        );
        Ok(Open {
            app,
            painter,
            swapchain,
            surface,
            input,
            clipboard: Clipboard::new(),
            gpu,
            renders,
            window,
            hdr: false,
            redraw_at: None,
        })
    }
}

fn size_of(size: PhysicalSize<u32>) -> [u32; 2] {
    [size.width, size.height]
}

impl Open {
    /// Draws one frame of the window.
    fn draw(&mut self) -> Result<(), ViewError> {
        let begun = Instant::now();
        let size = size_of(self.window.inner_size());
        // Minimized: nothing is drawn, and nothing accumulates.
        if size.contains(&0) {
            return Ok(());
        }
        let stale = self.swapchain.as_ref().is_none_or(|swapchain| swapchain.size() != size);
        let settings = self.app.settings();
        if stale || settings.hdr != self.hdr {
            self.hdr = settings.hdr;
            self.rebuild(size)?;
        }
        let input = self.input.take_egui_input(&self.window);
        let output = self.app.frame(input);
        self.clipboard.copy(&output.platform_output);
        self.input.handle_platform_output(&self.window, output.platform_output);
        let scale = output.pixels_per_point;
        let primitives = self.app.context().tessellate(output.shapes, scale);
        let shapes = self.painter.take(output.textures_delta, &primitives, scale, size)?;
        self.painter.set_hdr_image(self.app.hdr_image(), self.app.settings().range)?;
        let repaint = output
            .viewport_output
            .values()
            .map(|view| view.repaint_delay)
            .min()
            .unwrap_or(Duration::MAX);
        self.redraw_at = Instant::now()
            .checked_add(repaint.max(Duration::from_micros(1_000_000 / MAX_REDRAW_RATE)));
        if repaint > Duration::from_secs(3600) {
            self.redraw_at = None;
        }
        let Some(swapchain) = &self.swapchain else { return Ok(()) };
        if self.painter.show(swapchain, &shapes)? == PresentResult::Stale {
            self.rebuild(size)?;
            self.redraw_at = Some(Instant::now());
        }
        self.app.record_frame_time(begun.elapsed());
        let title = self.app.state.workspace.as_ref().map_or_else(
            || "sunny16".to_owned(),
            |work| {
                let changed = if work.document.changed() { "*" } else { "" };
                format!("{}{changed} - sunny16", work.viewport.session.request.name())
            },
        );
        if self.window.title() != title {
            self.window.set_title(&title);
        }
        Ok(())
    }

    /// Closes the window at once; the current frame ends in the background.
    fn close(self) {
        let Self { app, painter, swapchain, surface, input, gpu, renders, window, .. } = self;
        window.set_visible(false);
        let leaving = app.shut_down();
        // In reverse order of creation.
        drop((painter, swapchain, surface, input, gpu, window));
        leaving.wait();
        drop(renders);
    }

    fn rebuild(&mut self, size: [u32; 2]) -> Result<(), ViewError> {
        self.painter.settle()?;
        let old = self.swapchain.take();
        self.swapchain = Swapchain::new(&self.gpu, &self.surface, size, self.hdr, old)?;
        if let Some(swapchain) = &self.swapchain {
            let (format, encoding) = (swapchain.format(), swapchain.encoding());
            if (format, encoding) != (self.painter.format(), self.painter.encoding()) {
                self.painter.aim_at(format, encoding)?;
            }
            self.app.set_display_encoding(encoding);
        }
        Ok(())
    }
}

/// True if an event needs a redraw. egui-winit answers a redraw event by requesting another, which
/// would keep an idle window awake; the frame's own output says when to redraw.
fn event_needs_redraw(event: &WindowEvent, asked: bool) -> bool {
    asked && !matches!(event, WindowEvent::RedrawRequested)
}

impl ApplicationHandler<WakeEvent> for Handler {
    fn user_event(&mut self, _: &ActiveEventLoop, _: WakeEvent) {
        if let Some(open) = &self.open {
            open.window.request_redraw();
        }
    }

    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.open.is_some() {
            return;
        }
        match self.begin(events) {
            Ok(open) => {
                open.window.request_redraw();
                self.open = Some(open);
            }
            Err(error) => {
                self.failed = Some(error);
                events.exit();
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(open) = &mut self.open else { return };
        open.clipboard.paste(&event, &mut open.input);
        let response = open.input.on_window_event(&open.window, &event);
        if event_needs_redraw(&event, response.repaint) {
            let delay = open.app.input_redraw_delay();
            if delay.is_zero() {
                open.window.request_redraw();
            } else {
                let at = Instant::now() + delay;
                open.redraw_at = Some(open.redraw_at.map_or(at, |earlier| earlier.min(at)));
            }
        }
        match event {
            WindowEvent::CloseRequested => {
                open.app.close();
                open.window.request_redraw();
            }
            WindowEvent::RedrawRequested => {
                if let Err(error) = open.draw() {
                    // Autosave first: the look matters more than the picture.
                    open.app.autosave_now();
                    self.failed = Some(error);
                    return events.exit();
                }
            }
            _ => {}
        }
        if open.app.closes {
            events.exit();
        }
    }

    fn about_to_wait(&mut self, events: &ActiveEventLoop) {
        let Some(open) = &mut self.open else { return };
        match open.redraw_at {
            Some(at) if at <= Instant::now() => {
                open.redraw_at = None;
                open.window.request_redraw();
            }
            Some(at) => events.set_control_flow(ControlFlow::WaitUntil(at)),
            None => events.set_control_flow(ControlFlow::Wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_error_has_no_source_location() {
        let error = oops(&"os error at /a/winit/mod.rs:765: no DISPLAY is set.").to_string();
        assert!(error.starts_with("cannot open a window: no DISPLAY is set; "), "{error}");
        assert!(oops(&"not supported").to_string().contains("window: not supported; "));
    }

    #[test]
    fn a_redraw_is_no_reason_for_another() {
        assert!(!event_needs_redraw(&WindowEvent::RedrawRequested, true));
        assert!(event_needs_redraw(&WindowEvent::Resized(PhysicalSize::new(1, 1)), true));
        assert!(!event_needs_redraw(&WindowEvent::Focused(true), false));
    }
}
