//! The viewer window without a window system: input events in, shapes and pixels out.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::{
    fs,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, OnceLock},
    time::{Duration, Instant},
};

use egui::{
    Event, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape,
    accesskit::{Role, TreeUpdate},
    pos2, vec2,
};
use sunny16::{
    camera::DisplayEncoding,
    frame::RenderedImage,
    gpu::{Gpu, vk},
    session::{OpenRequest, Size},
    viewer::{App, Options, ShutdownHandle, painter::Painter, workspace::Workspace},
};

/// Window size in points; a point is a pixel.
pub const WINDOW: [u32; 2] = [780, 430];

/// Limit of waits for the engine. It only guards against a hang.
pub const HANG: Duration = Duration::from_secs(600);

/// Wake-ups of the window by other threads.
#[derive(Default)]
struct WakeUps {
    pending: Mutex<bool>,
    arrived: Condvar,
}

impl WakeUps {
    fn wake(&self) {
        *self.pending.lock().unwrap() = true;
        self.arrived.notify_all();
    }

    /// Waits for a wake-up, at most this long.
    fn wait(&self, most: Duration) {
        let pending = self.pending.lock().unwrap();
        let (mut pending, _) =
            self.arrived.wait_timeout_while(pending, most, |pending| !*pending).unwrap();
        *pending = false;
    }
}

/// A headless viewer window.
pub struct HeadlessViewer {
    pub app: App,
    painter: Painter,
    time: f64,
    /// Window size (pixels).
    pub window: [u32; 2],
    /// Pixels of the last frame.
    pub last: Vec<u8>,
    /// Texts of the last frame, and their positions.
    pub texts: Vec<(String, Pos2)>,
    /// Pixels per point.
    pub scale: f32,
    /// True if each frame first waits for scenes being loaded.
    pub patient: bool,
    /// True if frames are painted, not only laid out.
    pub paints: bool,
    /// Last copied text.
    pub copied: Option<String>,
    /// Shapes of the last frame, each with its clip rectangle.
    pub shapes: Vec<egui::epaint::ClippedShape>,
    /// Delay to the next frame that the last one requested.
    pub again: Duration,
    /// The accessibility tree of the last frame, if it is enabled.
    pub access: Option<TreeUpdate>,
    wake_ups: Arc<WakeUps>,
}

impl HeadlessViewer {
    pub fn new(gpu: &Gpu, request: OpenRequest) -> Self {
        Self::sized(gpu, request, WINDOW)
    }

    pub fn sized(gpu: &Gpu, request: OpenRequest, window: [u32; 2]) -> Self {
        let gallery = request.scene.is_none();
        Self::with(gpu, Options { request, gallery, ..Options::default() }, window)
    }

    pub fn with(gpu: &Gpu, options: Options, window: [u32; 2]) -> Self {
        let wake_ups = Arc::new(WakeUps::default());
        let wakes = Arc::clone(&wake_ups);
        let mut app = App::new(gpu, options, Arc::new(move || wakes.wake())).unwrap();
        // Tests wait for the device's pictures (`tests/viewer/start.rs` has the preview).
        app.disable_preview();
        let painter = Painter::new(gpu, vk::Format::R8G8B8A8_UNORM).unwrap();
        let mut bench = Self {
            app,
            painter,
            time: 0.0,
            window,
            last: Vec::new(),
            texts: Vec::new(),
            scale: 1.0,
            patient: true,
            paints: true,
            copied: None,
            shapes: vec![],
            again: Duration::ZERO,
            access: None,
            wake_ups,
        };
        bench.frame(vec![]);
        bench
    }

    /// A window that renders no pictures, which saves minutes of pipeline compilation on software
    /// drivers.
    pub fn undrawn(gpu: &Gpu, request: &OpenRequest) -> Self {
        let mut bench = Self::new(gpu, OpenRequest::default());
        bench.app.state.fatal = Some("no pictures in this test".into());
        bench.app.open(request);
        // The first frames settle the layout.
        bench.frame(vec![]);
        bench.frame(vec![]);
        bench
    }

    /// One frame with these events.
    pub fn frame(&mut self, events: Vec<Event>) {
        self.time += 1.0 / 60.0;
        if self.patient {
            self.app.finish_opening();
        }
        let [width, height] = self.window.map(|side| side as f32 / self.scale);
        let viewport =
            egui::ViewportInfo { native_pixels_per_point: Some(self.scale), ..Default::default() };
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(width, height))),
            time: Some(self.time),
            focused: true,
            viewports: std::iter::once((egui::ViewportId::ROOT, viewport)).collect(),
            events,
            ..RawInput::default()
        };
        let output = self.app.frame(input);
        self.again = output
            .viewport_output
            .values()
            .map(|view| view.repaint_delay)
            .min()
            .unwrap_or(Duration::MAX);
        self.texts.clear();
        for shape in &output.shapes {
            texts(&shape.shape, &mut self.texts);
        }
        self.shapes.clone_from(&output.shapes);
        self.access = output.platform_output.accesskit_update;
        for command in output.platform_output.commands {
            if let egui::OutputCommand::CopyText(text) = command {
                self.copied = Some(text);
            }
        }
        let primitives = self.app.context().tessellate(output.shapes, output.pixels_per_point);
        let shapes = self
            .painter
            .take(output.textures_delta, &primitives, output.pixels_per_point, self.window)
            .unwrap();
        if !self.paints {
            return;
        }
        self.painter.set_hdr_image(self.app.hdr_image(), self.app.settings().range).unwrap();
        self.last = self.painter.render_to_bytes(self.window, &shapes).unwrap();
    }

    /// Changes the encoding of the window's display.
    pub fn shown_by(&mut self, format: vk::Format, encoding: DisplayEncoding) {
        self.painter.aim_at(format, encoding).unwrap();
        self.app.set_display_encoding(encoding);
    }

    /// Waits as the window does: for a wake-up, or for the redraw that the last frame requested.
    /// Conditions without a wake-up, such as a file, are seen after a quarter of a second.
    pub fn wait(&self) {
        let [least, most] = [1000 / 60, 250].map(Duration::from_millis);
        self.wake_ups.wait(self.again.clamp(least, most));
    }

    /// Runs frames until the picture is finished.
    pub fn rest(&mut self) {
        self.frame(vec![]);
        self.until("the picture at rest", |app| {
            let viewport = &app.state.workspace.as_ref().unwrap().viewport;
            let waits = viewport.needs_frame() || viewport.last_frame.is_none();
            !waits || app.state.fatal.is_some()
        });
        // Panels show the results of the last frame.
        self.frame(vec![]);
    }

    /// Runs frames until a condition holds.
    pub fn until(&mut self, what: &str, so: impl Fn(&App) -> bool) {
        self.repeat_until(what, so, |bench| bench.frame(vec![]));
    }

    /// Repeats a step, each time the window wakes, until a condition holds.
    pub fn repeat_until(
        &mut self,
        what: &str,
        so: impl Fn(&App) -> bool,
        mut step: impl FnMut(&mut Self),
    ) {
        let started = Instant::now();
        while !so(&self.app) {
            step(self);
            if !so(&self.app) {
                self.wait();
            }
            assert!(started.elapsed() < HANG, "waited in vain: {what}");
        }
    }

    pub fn press(&mut self, key: Key, modifiers: Modifiers) {
        for pressed in [true, false] {
            self.frame(vec![Event::Key {
                key,
                physical_key: None,
                pressed,
                repeat: false,
                modifiers,
            }]);
        }
    }

    pub fn click(&mut self, at: Pos2) {
        self.frame(vec![Event::PointerMoved(at)]);
        for pressed in [true, false] {
            let modifiers = Modifiers::default();
            self.frame(vec![Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed,
                modifiers,
            }]);
        }
        self.frame(vec![]);
    }

    pub fn drag(&mut self, from: Pos2, to: Pos2, button: PointerButton) {
        let event = |pos, pressed| Event::PointerButton {
            pos,
            button,
            pressed,
            modifiers: Modifiers::default(),
        };
        self.frame(vec![Event::PointerMoved(from)]);
        self.frame(vec![event(from, true)]);
        for step in 1..=4 {
            self.frame(vec![Event::PointerMoved(from + (to - from) * (step as f32 / 4.0))]);
        }
        self.frame(vec![event(to, false)]);
    }

    /// Closes the window as its close button does; the caller drops the painter.
    pub fn leave(self) -> (ShutdownHandle, Painter) {
        (self.app.shut_down(), self.painter)
    }

    /// The open scene.
    pub fn workspace(&self) -> &Workspace {
        self.app.state.workspace.as_ref().unwrap()
    }

    pub fn workspace_mut(&mut self) -> &mut Workspace {
        self.app.state.workspace.as_mut().unwrap()
    }

    /// Names of the accessible controls of the last frame, with their role and their center.
    pub fn controls(&self) -> Vec<(Role, String, Pos2)> {
        let tree = self.access.as_ref().expect("the accessibility tree is enabled");
        let is_control = |role| {
            matches!(
                role,
                Role::Button
                    | Role::CheckBox
                    | Role::ColorWell
                    | Role::ComboBox
                    | Role::Link
                    | Role::RadioButton
                    | Role::Slider
                    | Role::SpinButton
                    | Role::TextInput
                    | Role::MultilineTextInput
            )
        };
        let named = tree.nodes.iter().filter(|(_, node)| is_control(node.role()));
        named
            .map(|(_, node)| {
                let bounds = node.bounds().unwrap_or_default();
                let center = pos2(
                    (bounds.x0 + bounds.x1) as f32 / 2.0,
                    (bounds.y0 + bounds.y1) as f32 / 2.0,
                );
                (node.role(), node.label().unwrap_or_default().to_owned(), center)
            })
            .collect()
    }

    /// Center of the accessible control of a name (points).
    pub fn control(&self, name: &str) -> Pos2 {
        let all = self.controls();
        let found = all.iter().find(|(_, found, _)| found == name);
        found.unwrap_or_else(|| panic!("no control '{name}': {all:?}")).2
    }

    /// Position of a text of the last frame.
    pub fn text(&self, wanted: &str) -> Option<Pos2> {
        self.texts.iter().find(|(text, _)| text == wanted).map(|(_, at)| *at)
    }

    pub fn picture(&self) -> &RenderedImage {
        &self.workspace().viewport.last_frame.as_ref().unwrap().image
    }

    pub fn size(&self) -> Size {
        self.workspace().viewport.session.size
    }

    /// Window position of the picture's central part.
    pub fn middle(&self) -> Pos2 {
        // Between outliner and inspector.
        pos2((210.0 + self.window[0] as f32 - 300.0) / 2.0, self.window[1] as f32 / 2.0)
    }

    pub fn keep(&self, name: &str) {
        if let Some(dir) = std::env::var_os("SUNNY16_VIEWER_PICTURES") {
            let file = PathBuf::from(dir).join(name);
            sunny16::output::write_png(
                &file,
                self.window[0] as usize,
                self.window[1] as usize,
                &self.last,
            )
            .unwrap();
        }
    }
}

/// The texts of a shape, and their positions.
fn texts(shape: &Shape, found: &mut Vec<(String, Pos2)>) {
    match shape {
        Shape::Text(text) => {
            // Truncated texts end with "...".
            let cut = if text.galley.elided { "..." } else { "" };
            found.push((format!("{}{cut}", text.galley.text()), text.pos));
        }
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, found)),
        _ => {}
    }
}

/// The still life as GLB, and its look.
fn still_life() -> &'static (Vec<u8>, String) {
    static MADE: OnceLock<(Vec<u8>, String)> = OnceLock::new();
    MADE.get_or_init(|| {
        let builtin = sunny16::scene::procedural::BuiltinScene::named("still_life").unwrap();
        let (scene, look) = builtin.make().unwrap();
        (sunny16::scene::write_glb::write_glb(&scene).unwrap(), look)
    })
}

/// The still life and a look in a folder: the scene's own look if it is empty, with few samples a
/// pixel, so that pictures at rest are soon finished. A look without a tier has the tier `direct`.
pub fn project(look: &str) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let (glb, own) = still_life();
    let file = dir.path().join("still_life.glb");
    fs::write(&file, glb).unwrap();
    let own = || format!("{own}\n[passes.aa]\nsamples = 4\n");
    let look = if look.is_empty() { own() } else { look.to_owned() };
    let tier = if look.contains("quality") { "" } else { "quality = \"direct\"\n" };
    fs::write(dir.path().join("still_life.look.toml"), format!("{tier}{look}")).unwrap();
    (dir, file)
}

pub fn request(scene: &std::path::Path) -> OpenRequest {
    OpenRequest { scene: Some(scene.into()), ..OpenRequest::default() }
}
