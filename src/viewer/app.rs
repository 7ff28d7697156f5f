//! Window state and the operations on it, independent of its layout and of the window system.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant, SystemTime},
};

use egui::{Context, Rect, TextureHandle};
use glam::DVec3;

use super::{
    background::BackgroundWorker,
    engine::Engine,
    error::ViewError,
    flow::{FlowBrush, FlowCanvas, FlowStroke},
    frame_pacing::FramePacing,
    gallery::Gallery,
    handles::DragHandle,
    load::{self, LoadedScene, Loading},
    look_change::LookChange,
    mixer::Mixer,
    painter::HdrImage,
    palette::Palette,
    pointer::{IncidentReading, Pointer},
    recent::RecentScenes,
    reference_view::ReferenceView,
    scopes::Scopes,
    selection::Selection,
    settings::{SettingsStore, WindowSettings},
    shader_reload::ShaderSources,
    sun::SunDragHandle,
    tool::Tool,
    viewport::{JobResult, Viewport},
    wake::Wake,
    workspace::Workspace,
};
use crate::{
    camera::DisplayEncoding,
    camera_control::{CameraPose, CollisionMesh, Controller, Input, NavigationMode},
    gpu::{Gpu, shader::Replacement},
    image_io::Format,
    output,
    passes::tonemap::DisplayTransform,
    scene::{gltf, look::Look},
    session::OpenRequest,
};

/// Options of the viewer window.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The scene to open; none opens the gallery.
    pub request: OpenRequest,
    /// Starts with the gallery.
    pub gallery: bool,
    /// Folder of the recent scenes and the window's settings; none keeps them for this run only.
    pub state: Option<PathBuf>,
    /// Copied readings also go to standard output, one line each.
    pub print_readings: bool,
    /// Frame-pacing statistics go to standard output at exit.
    pub pacing: bool,
}

/// A message for the user, shown for a limited time.
pub(super) struct Message {
    pub text: String,
    pub is_error: bool,
    pub since: Instant,
}

impl Message {
    /// Display time: errors stay twice as long.
    pub(super) const fn stays(&self) -> Duration {
        if self.is_error { MESSAGE.saturating_mul(2) } else { MESSAGE }
    }
}

/// Display time of messages; errors stay twice as long.
const MESSAGE: Duration = Duration::from_secs(6);

/// Interval at which shader sources are checked for changes.
pub(super) const WATCH: Duration = Duration::from_secs(1);

/// Outcome of a shader compilation.
type Compiled = Result<Vec<Replacement>, String>;

/// The action that waits until unsaved changes are resolved.
#[derive(Clone, Debug)]
pub(super) enum PendingClose {
    /// Close the window.
    Close,
    /// Open another scene.
    Open(Box<OpenRequest>),
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

/// State of the whole window.
pub struct App {
    engine: Arc<Engine>,
    pub(super) wake: Wake,
    pub(super) ctx: Context,
    /// Texture of the displayed picture, and its number.
    pub(super) displayed_frame: Option<(TextureHandle, u64)>,
    /// The open scene.
    pub workspace: Option<Workspace>,
    pub(super) options: Options,
    /// Root folder for files beside scenes, from the command line.
    root: Option<PathBuf>,
    pub(super) messages: Vec<Message>,
    pub(super) scopes: Scopes,
    /// Comparison with a reference.
    pub reference_view: ReferenceView,
    /// The light mixer.
    pub mixer: Mixer,
    pub(super) palette: Palette,
    pub(super) tool: Tool,
    pub(super) pacing: FramePacing,
    /// True if the outliner and the inspector are visible.
    pub(super) sides: bool,
    /// The handle being dragged.
    pub(super) drag_handle: Option<DragHandle>,
    pub(super) sun_drag_handle: Option<SunDragHandle>,
    pub(super) viewport_rect: Rect,
    /// Flow painting: brush, current stroke and canvas.
    pub(super) brush: FlowBrush,
    pub(super) stroke: Option<FlowStroke>,
    pub(super) canvas: Option<FlowCanvas>,
    pub(super) gallery: bool,
    pub(super) pictures: Gallery,
    /// The scene being loaded.
    pub(super) loading: Option<Loading>,
    /// The action that waits for an answer about unsaved changes.
    pub(super) pending_close: Option<PendingClose>,
    /// The existing file that the user has been warned will be replaced.
    pub(super) replaces: Option<PathBuf>,
    /// Shader sources, the compiling worker, and when the sources were last checked.
    shaders: Option<ShaderSources>,
    compiles: Option<BackgroundWorker<ShaderSources, Compiled>>,
    pub(super) watched: Option<(Instant, Option<SystemTime>)>,
    /// The keyboard pointer is active, at the middle of the picture.
    pub(super) by_keys: bool,
    pub(super) open_field: String,
    pub(super) save_field: Option<String>,
    /// The sequence to write: file name, start (s), duration (s), pictures per second.
    pub(super) sequence: Option<(String, f64, f64, f64)>,
    pub(super) recent: RecentScenes,
    pub(super) kept: SettingsStore,
    /// Encoding of the window's display, and the HDR setting for which it was last reported.
    pub(super) encoding: DisplayEncoding,
    said_of: bool,
    /// The window is about to close.
    pub closes: bool,
    /// A device error that ends rendering; the look is kept.
    pub fatal: Option<String>,
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
        style(&ctx);
        let (recent, notice) = RecentScenes::of(options.state.as_deref());
        let (kept, unread) = SettingsStore::of(options.state.as_deref());
        let mut app = Self {
            engine: Arc::new(Engine::new(gpu, Arc::clone(&wake))?),
            wake,
            ctx,
            displayed_frame: None,
            workspace: None,
            gallery: options.gallery,
            pictures: Gallery::default(),
            options: options.clone(),
            root: options.request.root.clone(),
            messages: Vec::new(),
            scopes: Scopes::default(),
            reference_view: ReferenceView::default(),
            mixer: Mixer::default(),
            palette: Palette::default(),
            tool: Tool::default(),
            pacing: FramePacing::default(),
            sides: true,
            drag_handle: None,
            sun_drag_handle: None,
            viewport_rect: Rect::ZERO,
            brush: FlowBrush::default(),
            stroke: None,
            canvas: None,
            loading: None,
            pending_close: None,
            replaces: None,
            by_keys: false,
            shaders: ShaderSources::of_build(),
            compiles: None,
            watched: None,
            open_field: String::new(),
            save_field: None,
            sequence: None,
            recent,
            kept,
            encoding: DisplayEncoding::Srgb,
            said_of: false,
            closes: false,
            fatal: None,
            last_frame: Instant::now(),
        };
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

    /// Opens a scene in place of the current one. Unsaved changes prompt first; if opening fails,
    /// the current scene stays. Loading is asynchronous: `opening` reports it, `finish_opening`
    /// waits.
    pub fn open(&mut self, request: &OpenRequest) {
        if self.unsaved() {
            self.pending_close = Some(PendingClose::Open(Box::new(request.clone())));
        } else {
            self.open_now(request);
        }
    }

    fn unsaved(&self) -> bool {
        self.workspace.as_ref().is_some_and(|work| work.document.changed())
    }

    /// Opens a scene without prompting for unsaved changes. It loads on its own thread; the current
    /// scene stays until then, and a newer request replaces this one.
    fn open_now(&mut self, request: &OpenRequest) {
        let request = whole_name(request);
        let text = self.workspace.as_ref().map(|work| work.document.text().to_owned());
        match Loading::begin(request, self.options.state.clone(), text, Arc::clone(&self.wake)) {
            Ok(loading) => self.loading = Some(loading),
            Err(error) => self.error(format!("cannot start the loading thread: {error}")),
        }
    }

    /// True if a scene is being loaded.
    #[must_use]
    pub const fn opening(&self) -> bool {
        self.loading.is_some()
    }

    /// Cancels the loading of a scene.
    pub fn cancel_opening(&mut self) {
        if let Some(loading) = self.loading.take() {
            self.gallery |= self.workspace.is_none();
            self.info(format!("opening of {} canceled", loading.request.name()));
        }
    }

    /// Waits for the scene being loaded, if any.
    pub fn finish_opening(&mut self) {
        while let Some(loading) = &self.loading {
            let read = loading.wait();
            self.take_read(read);
        }
    }

    /// Takes the loaded scene when it is ready.
    pub(super) fn take_opened(&mut self) {
        if let Some(read) = self.loading.as_ref().and_then(Loading::result) {
            self.take_read(read);
        }
    }

    fn take_read(&mut self, read: load::LoadResult) {
        let Some(loading) = self.loading.take() else { return };
        let begun_with = loading.text.as_deref();
        if self
            .workspace
            .as_ref()
            .is_some_and(|work| work.document.changed() && begun_with != Some(work.document.text()))
        {
            // The look changed during loading: prompt.
            self.pending_close = Some(PendingClose::Open(Box::new(loading.request)));
            return;
        }
        match read {
            Ok(ready) => self.take_its_place(loading.request, *ready),
            Err(error) => {
                self.error(error.to_string());
                self.gallery |= self.workspace.is_none();
            }
        }
    }

    fn take_its_place(&mut self, request: OpenRequest, ready: LoadedScene) {
        let LoadedScene { prepared, document, recovered } = ready;
        let viewport = Viewport::new(&self.engine, prepared);
        let pose = CameraPose::from_world(viewport.pose());
        let mut controller = Controller::new(pose, fov(&viewport));
        controller.set_mode(NavigationMode::Orbit);
        if let Some((low, high)) = viewport.session.scene.bounds() {
            // The target lies on the view axis, at the depth of the scene's center.
            let distance = ((low + high) / 2.0 - pose.position).dot(pose.forward()).max(0.1);
            controller.set_target(pose.position + pose.forward() * distance);
        }
        self.engine.cancel_all_jobs();
        self.mixer.forget();
        for warning in
            viewport.session.warnings.iter().cloned().chain(viewport.session.raster_limits())
        {
            self.info(warning);
        }
        if let Some(Err(error)) = request.scene.as_deref().map(|scene| self.recent.put(scene)) {
            self.error(format!("cannot save the list of recent scenes: {error}"));
        }
        self.workspace = Some(Workspace {
            viewport,
            document,
            controller,
            placed: pose,
            recovered,
            selected: Selection::default(),
            pointer: Pointer::default(),
            broken: None,
            trouble: None,
            misfit: None,
            walls: None,
            snapshots: Vec::new(),
            solo: None,
        });
        self.displayed_frame = None;
        self.reference_view.restart();
        self.scopes.forget();
        self.gallery = false;
        self.options.request = request;
    }

    /// Opens a scene file. The window's root folder applies if it contains the file.
    pub(super) fn open_scene(&mut self, file: &Path) {
        let root = self.root.clone().filter(|root| gltf::contains(root, file));
        self.open(&OpenRequest { scene: Some(file.into()), root, ..OpenRequest::default() });
    }

    /// Opens a file by its kind: scene, look, reference, photometric profile, lens or environment
    /// map.
    pub fn open_file(&mut self, file: &Path) {
        let name =
            file.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let ends = |ending: &str| name.ends_with(ending);
        let text = file.display().to_string();
        // An absolute path: the look may lie outside of the working directory.
        let whole = std::path::absolute(file)
            .map_or_else(|_| text.clone(), |whole| whole.display().to_string());
        if ends(".glb") || ends(".gltf") {
            self.open_scene(file);
        } else if ends(".look.toml") {
            let request = OpenRequest { look: Some(file.into()), ..self.options.request.clone() };
            self.open(&request);
        } else if ends(".ies") || ends(".ldt") {
            match self.workspace.as_ref().and_then(|work| work.selected.light_name()) {
                Some(light) => self.set(&[(&format!("lights.{light}.ies"), Some(&whole))]),
                None => self.error(
                    "no light selected: select the light for this profile, then drop the file again".into(),
                ),
            }
        } else if ends(".json") {
            self.set(&[("camera.lens.prescription", Some(&whole))]);
        } else {
            // Image formats are detected by their first bytes, not by their names.
            match Format::of_file(file) {
                Ok(Format::Radiance) => self.set(&[("environment.file", Some(&whole))]),
                Ok(Format::Exr | Format::Png | Format::Jpeg) => match self.reference_view.load(file) {
                    Ok(()) => self.info(format!("{text} is the reference; V shows it")),
                    Err(error) => self.error(error),
                },
                Err(error) => self.error(format!(
                    "{text}: {error}; drop a .glb or .gltf scene, a .look.toml, an .ies or .ldt profile, a .json lens, an .hdr \
                     map, or an EXR, PNG or JPEG reference"
                )),
            }
        }
    }

    /// Sets the action of clicks in the picture.
    pub fn set_tool(&mut self, tool: Tool) {
        if let Some(work) = self.workspace.as_mut().filter(|_| self.tool != tool) {
            // A half-made shadow placement is dropped.
            work.pointer.occluder = None;
        }
        self.tool = tool;
    }

    /// Frame-pacing statistics.
    #[must_use]
    pub const fn pacing(&self) -> &FramePacing {
        &self.pacing
    }

    /// Records how long the last frame took the window's thread, up to presentation.
    pub fn record_frame_time(&mut self, time: Duration) {
        self.pacing.record_frame_time(time, self.reference_view.is_tracing());
    }

    /// Isolates a light in the picture, or with none shows all lights again. The look is unchanged.
    pub fn solo(&mut self, light: Option<String>) {
        if let Some(work) = &mut self.workspace {
            work.solo = light;
            self.apply_document();
        }
    }

    /// Copies the meter readings of the pixel under the pointer.
    pub fn copy_reading(&mut self) {
        let Some(reading) = self.workspace.as_ref().and_then(Workspace::reading) else {
            return self.error("no reading: point at the picture, then copy".into());
        };
        let text = reading.to_string();
        let [x, y] = reading.pixel;
        self.ctx.copy_text(text.clone());
        let frames = if self.options.pacing {
            format!(" window_frames={}", self.pacing.frames())
        } else {
            String::new()
        };
        let printed = if self.options.print_readings {
            writeln!(std::io::stdout(), "{text}{frames}")
        } else {
            Ok(())
        };
        match printed {
            Ok(()) => self.info(format!("copied the reading of pixel {x},{y}")),
            Err(error) => {
                // Standard output is closed: stop printing after one error.
                self.options.print_readings = false;
                self.error(format!(
                    "cannot print readings to standard output: {error}; they are still copied"
                ));
            }
        }
    }

    /// The picture's rectangle in the window (points), as of the last frame.
    #[must_use]
    pub const fn viewport_rect(&self) -> Rect {
        self.viewport_rect
    }

    /// The window's own settings.
    #[must_use]
    pub fn settings(&self) -> WindowSettings {
        self.kept.now()
    }

    /// Replaces the window's settings.
    pub fn set_settings(&mut self, settings: WindowSettings) {
        self.kept.put(settings);
        self.ctx.request_repaint();
    }

    /// Sets the encoding of the window's display and reports whether it matches the HDR setting.
    pub fn set_display_encoding(&mut self, encoding: DisplayEncoding) {
        self.encoding = encoding;
        let WindowSettings { hdr, range } = self.settings();
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
        let viewport = &self.workspace.as_ref()?.viewport;
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

    /// Sets the brush for painting flow.
    pub fn set_brush(&mut self, brush: FlowBrush) {
        self.brush = brush;
    }

    /// The last error, while it is displayed.
    #[must_use]
    pub fn error_message(&self) -> Option<&str> {
        self.messages
            .iter()
            .rev()
            .find(|message| message.is_error)
            .map(|message| message.text.as_str())
    }

    pub(super) fn info(&mut self, text: String) {
        self.messages.push(Message { text, is_error: false, since: Instant::now() });
    }

    pub(super) fn error(&mut self, text: String) {
        log::warn!("{text}");
        self.messages.push(Message { text, is_error: true, since: Instant::now() });
    }

    /// Sets properties of the look as one undo step, and applies it.
    pub fn set(&mut self, changes: &[(&str, Option<&str>)]) {
        let Some(work) = &mut self.workspace else { return };
        if let Err(error) = work.document.set(changes) {
            return self.error(error.to_string());
        }
        self.apply_document();
    }

    /// Applies the document's look to the picture.
    pub(super) fn apply_document(&mut self) {
        let Some(work) = &mut self.workspace else { return };
        let old = work.viewport.session.look.camera.clone();
        let followed = work.shown_look().and_then(|look| {
            let moves = placed_elsewhere(&old, &look);
            if moves {
                work.viewport.set_pose(None);
            }
            work.viewport.apply_look(look).map(|change| (moves, change))
        });
        match followed {
            Ok((moved, change)) => {
                work.broken = None;
                if change == LookChange::Scene {
                    // The reading was taken in other light.
                    work.pointer.incident = None;
                }
                work.controller.set_fov(fov(&work.viewport));
                if moved {
                    work.placed = CameraPose::from_world(work.viewport.pose());
                    work.controller.place(work.placed);
                }
                self.reference_view.restart();
            }
            Err(error) if error.is_fatal() => self.lost(error.to_string()),
            Err(error) => {
                // An unknown light or missing sizes: the text stays, and undo reverts it.
                let text = error.to_string();
                work.broken = Some(text.clone());
                self.error(text);
            }
        }
    }

    /// The device is lost: autosaves the look.
    fn lost(&mut self, error: String) {
        if let Some(work) = &mut self.workspace {
            work.document.autosave_now();
        }
        self.error(error.clone());
        self.fatal = Some(error);
    }

    pub(super) fn undo(&mut self) {
        let done = self.workspace.as_mut().and_then(|work| work.document.undo());
        if let Some(what) = done {
            self.info(format!("undone: {what}"));
            self.apply_document();
        }
    }

    pub(super) fn redo(&mut self) {
        let done = self.workspace.as_mut().and_then(|work| work.document.redo());
        if let Some(what) = done {
            self.info(format!("redone: {what}"));
            self.apply_document();
        }
    }

    /// Saves the look; asks for a file if it has none.
    pub fn save(&mut self) {
        let Some(work) = &mut self.workspace else { return };
        if work.document.file().is_none() {
            self.save_field.get_or_insert_with(|| "scene.look.toml".into());
            return;
        }
        match work.document.save() {
            Ok(file) => self.info(format!("saved {}", file.display())),
            Err(error) => self.error(error.to_string()),
        }
    }

    /// Writes the camera's pose to the look, so that it is saved.
    pub(super) fn keep_camera(&mut self) {
        let Some(work) = &mut self.workspace else { return };
        let pose = work.controller.pose();
        let target = pose.position
            + pose.forward() * (work.controller.target() - pose.position).length().max(0.1);
        let text = |v: DVec3| format!("{:.6} {:.6} {:.6}", v.x, v.y, v.z);
        let (position, target) = (text(pose.position), text(target));
        let changes = [
            ("camera.position", Some(position.as_str())),
            ("camera.target", Some(target.as_str())),
        ];
        self.set(&changes);
    }

    /// Returns to the look's camera.
    pub(super) fn home(&mut self) {
        let Some(work) = &mut self.workspace else { return };
        work.controller.place(work.placed);
        work.viewport.set_pose(None);
        self.reference_view.restart();
    }

    /// True if shaders can be recompiled.
    pub(super) const fn can_reload(&self) -> bool {
        self.shaders.is_some()
    }

    /// Sets the shader sources to compile.
    pub fn take_shaders(&mut self, sources: ShaderSources) {
        self.shaders = Some(sources);
    }

    /// Recompiles the shaders and draws with them; from then on each saved change does so.
    pub fn reload_shaders(&mut self) {
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
    pub(super) fn follow_shaders(&mut self) {
        match self.compiles.as_ref().and_then(BackgroundWorker::result) {
            Some(Ok(modules)) => {
                self.info(match modules.len() {
                    0 => "shaders match the build".into(),
                    count => format!("{count} shaders differ from the build and are in use"),
                });
                self.engine.replace_shaders(modules);
                if let Some(work) = &mut self.workspace {
                    work.viewport.invalidate();
                }
            }
            Some(Err(error)) => self.error(error),
            None => {}
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

    /// Sets the navigation mode: walk, fly or orbit.
    pub(super) fn set_camera_mode(&mut self, mode: NavigationMode) {
        let Some(work) = &mut self.workspace else { return };
        if mode == NavigationMode::Walk && work.walls.is_none() {
            match CollisionMesh::of(&work.viewport.session.scene, crate::camera_control::is_solid) {
                Ok(walls) => {
                    let walls = Arc::new(walls);
                    work.controller.set_walls(Arc::clone(&walls));
                    work.walls = Some(walls);
                }
                Err(error) => return self.error(error.to_string()),
            }
        }
        if let Some(work) = &mut self.workspace {
            work.controller.set_mode(mode);
        }
    }

    /// Moves the camera by the user's input.
    pub(super) fn move_camera(&mut self, input: &Input) {
        let dt = self.last_frame.elapsed().as_secs_f64();
        let Some(work) = &mut self.workspace else { return };
        let before = work.controller.pose();
        let pose = work.controller.update(input, dt);
        if pose != before {
            work.viewport.set_pose(Some(pose.world()));
            self.reference_view.restart();
        }
    }

    /// Starts or pauses playback.
    pub(super) fn play(&mut self) {
        let Some(work) = &mut self.workspace else { return };
        if work.viewport.time().is_none() {
            return self.info("the scene has no animation".into());
        }
        work.viewport.set_playing(!work.viewport.is_playing());
        work.pointer.incident = None;
        self.reference_view.restart();
    }

    /// Writes the current picture beside the look, accumulated or not.
    pub(super) fn screenshot(&mut self) {
        let Some(work) = &self.workspace else { return };
        let Some(finished) = &work.viewport.last_frame else { return };
        let name = work.document.file().map_or_else(
            || PathBuf::from("picture"),
            |file| {
                // `name.look.toml` gives `name`, in any case.
                let less = |file: PathBuf, ending: &str| {
                    if output::has_extension(&file, ending) {
                        file.with_extension("")
                    } else {
                        file
                    }
                };
                less(less(file.to_owned(), "toml"), "look")
            },
        );
        let free = (0..10_000).find_map(|number| {
            let png = output::with_suffix(&name, &format!(".{number:04}.png"));
            (!png.exists()).then_some(png)
        });
        let Some(png) = free else {
            return self.error(format!(
                "{}: 10,000 numbered pictures exist; move some away",
                name.display()
            ));
        };
        let image = &finished.image;
        let nits: Vec<[f32; 4]> = image.nits.iter().map(|&[r, g, b]| [r, g, b, 1.0]).collect();
        let layers = [output::ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &nits }];
        let exr = png.with_extension("exr");
        let written = output::write_png(&png, image.width, image.height, &image.display)
            .and_then(|()| output::write_exr(&exr, image.width, image.height, 1.0, &layers));
        match written {
            Ok(()) => self.info(format!(
                "{} and .exr, {} of {} frames",
                png.display(),
                finished.samples[0],
                finished.samples[1]
            )),
            Err(error) => self.error(error.to_string()),
        }
    }

    /// Handles the result of a job.
    fn take(&mut self, outcome: JobResult) {
        let Some(work) = &mut self.workspace else { return };
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
            JobResult::LightContributions(Ok(mixed)) => self.mixer.take(Some(mixed)),
            JobResult::LightContributions(Err(error)) => {
                self.mixer.take(None);
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
        if self.fatal.is_some() {
            return;
        }
        let Some(work) = &mut self.workspace else { return };
        let drawn = work.viewport.draw();
        for outcome in work.viewport.job_results() {
            self.take(outcome);
        }
        let Some(work) = &mut self.workspace else { return };
        match drawn {
            Ok(_) => {
                let order = work.viewport.request_id();
                if work
                    .viewport
                    .last_frame
                    .as_ref()
                    .is_some_and(|finished| finished.request_id == order)
                {
                    work.trouble = None;
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
        if self.unsaved() && !matches!(self.pending_close, Some(PendingClose::Close)) {
            self.pending_close = Some(PendingClose::Close);
        } else {
            self.autosave_now();
            self.closes = true;
        }
    }

    /// Continues with the pending action.
    pub(super) fn proceed(&mut self) {
        match self.pending_close.take() {
            Some(PendingClose::Close) => self.closes = true,
            Some(PendingClose::Open(request)) => self.open_now(&request),
            None => {}
        }
    }

    /// Recent scenes, newest first.
    #[must_use]
    pub fn recent(&self) -> &[PathBuf] {
        self.recent.scenes()
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
        if let Some(work) = &mut self.workspace {
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

/// A request with the full name of a built-in scene.
fn whole_name(request: &OpenRequest) -> OpenRequest {
    match request.builtin() {
        Ok(Some(builtin)) => {
            let scene = format!("{}{}", crate::scene::procedural::PREFIX, builtin.name);
            OpenRequest { scene: Some(scene.into()), ..request.clone() }
        }
        _ => request.clone(),
    }
}

/// True if a look places the camera elsewhere than the previous look.
fn placed_elsewhere(old: &crate::scene::look::CameraLook, new: &Look) -> bool {
    let new = &new.camera;
    (&old.name, old.position, old.target, old.roll)
        != (&new.name, new.position, new.target, new.roll)
}

/// Vertical field of view (rad).
fn fov(viewport: &Viewport) -> f64 {
    match viewport.session.camera.1 {
        crate::scene::Projection::Perspective { vertical_fov, .. } => f64::from(vertical_fov),
        crate::scene::Projection::Orthographic { .. } => 0.5,
    }
}

/// A dark, neutral theme, because colors are judged here. Text is readable at arm's length.
fn style(ctx: &Context) {
    ctx.set_theme(egui::Theme::Dark);
    ctx.all_styles_mut(|style| {
        let gray = egui::Color32::from_gray;
        style.visuals.panel_fill = gray(38);
        style.visuals.window_fill = gray(44);
        style.visuals.extreme_bg_color = gray(24);
        style.visuals.override_text_color = Some(gray(225));
        style.spacing.item_spacing = egui::vec2(6.0, 4.0);
    });
}
