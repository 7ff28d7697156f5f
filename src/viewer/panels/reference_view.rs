//! Comparison with a reference, the path tracer or a file: wipe, side by side, difference.

use std::{path::Path, sync::Arc};

use egui::{Color32, ColorImage, Rect, TextureHandle, TextureId, TextureOptions, Ui};
use glam::Vec3;

use crate::{
    camera::DisplayEncoding,
    compare::{
        error_colormap::{MAGMA, SIGNED, sample_colormap},
        flip, linear_image,
    },
    photometry::color,
    reference::{LensCamera, PathSettings},
    session::preview::ViewTransform,
    viewer::{
        app::App,
        background::BackgroundWorker,
        painter::HDR_IMAGE,
        tracer::{TraceJob, TracedImage, Tracer},
        viewport::RenderedFrame,
    },
};

/// Comparison modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompareMode {
    /// The rasterizer's picture.
    #[default]
    Raster,
    /// The reference.
    Reference,
    /// Picture left of a line, reference right of it.
    Wipe,
    /// Picture and reference side by side.
    SideBySide,
    /// Picture and reference in turns.
    Flicker,
    /// Signed difference in stops.
    Stops,
    /// FLIP (Andersson et al. 2020).
    Flip,
}

impl CompareMode {
    /// All modes, with their labels.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Raster, "Raster"),
        (Self::Reference, "Reference"),
        (Self::Wipe, "Wipe"),
        (Self::SideBySide, "Side by side"),
        (Self::Flicker, "Flicker"),
        (Self::Stops, "Stops"),
        (Self::Flip, "FLIP"),
    ];
}

/// Samples per pixel at which the path tracer stops.
const SAMPLES: u32 = 4096;

/// FLIP's pixels per degree at its default viewing distance (Andersson et al. 2020, section 4).
const PIXELS_PER_DEGREE: f32 = 67.0;

/// Stops at the ends of the signed color scale.
const MAX_STOPS: f32 = 2.0;

/// Width of list, tools and text in the bar (points).
const BESIDE: f32 = 96.0 + 70.0 + 160.0 + 30.0;

/// Period of each picture in flicker mode (s).
const FLICKER_S: f64 = 0.5;

/// Pixels (nit), their size, and a unique number.
type Pixels = (Arc<Vec<[f32; 3]>>, [usize; 2], u64);

/// A reference from a file.
struct Loaded {
    name: String,
    size: [usize; 2],
    /// Nits, or for display-referred files linear display light, 0 to 1.
    nits: Arc<Vec<[f32; 3]>>,
    encoding: linear_image::Encoding,
}

/// Inputs of a comparison.
struct Pair {
    finished: Arc<RenderedFrame>,
    nits: Arc<Vec<[f32; 3]>>,
    size: [usize; 2],
    encoding: linear_image::Encoding,
    development: ViewTransform,
    mode: CompareMode,
}

/// Result of a comparison.
struct Compared {
    /// The reference as displayed.
    shown: ColorImage,
    difference: Option<ColorImage>,
    verdict: String,
}

/// Compares picture and reference.
fn compared(pair: Pair) -> Compared {
    let Pair { finished, nits, size, encoding, development, mode } = pair;
    let picture = &finished.image;
    // A display-referred file is shown as it is, and compared with the displayed picture.
    let developed = encoding == linear_image::Encoding::Display;
    let bytes = if developed {
        encoded(&nits)
    } else {
        development.display(nits.iter().map(|c| Vec3::from_array(*c).as_dvec3()), size[0])
    };
    // Alpha is 1 everywhere.
    let shown = ColorImage::from_rgba_premultiplied(size, &bytes);
    if size != [picture.width, picture.height] {
        let [width, height] = size;
        let verdict = format!(
            "the reference has {width}x{height} pixels, the picture {}x{}",
            picture.width, picture.height
        );
        return Compared { shown, difference: None, verdict };
    }
    let luminance = |c: &[f32; 3]| color::luminance(Vec3::from_array(*c).as_dvec3());
    let mean = |pixels: &[[f32; 3]]| {
        pixels.iter().map(luminance).sum::<f64>() / pixels.len().max(1) as f64
    };
    let displayed = linear(&picture.display);
    let own = if developed { &displayed } else { &picture.nits };
    let bias = mean(own) / mean(&nits).max(1e-30) - 1.0;
    let mut verdict =
        format!("mean {:+.2} %{}", bias * 100.0, if developed { " as shown" } else { "" });
    let map: Option<Vec<[u8; 3]>> = match mode {
        CompareMode::Stops if developed => {
            verdict += "; stops need a scene-linear reference (EXR)";
            None
        }
        CompareMode::Stops => {
            let stops = |(a, b)| ((luminance(a).max(1e-9)) / luminance(b).max(1e-9)).log2() as f32;
            let place = |stops: f32| (stops / MAX_STOPS).clamp(-1.0, 1.0) * 0.5 + 0.5;
            Some(
                picture
                    .nits
                    .iter()
                    .zip(nits.iter())
                    .map(|pair| sample_colormap(&SIGNED, place(stops(pair))))
                    .collect(),
            )
        }
        CompareMode::Flip => {
            let errors = flip::ldr(&displayed, &linear(&bytes), picture.width, PIXELS_PER_DEGREE);
            let mean =
                errors.iter().map(|e| f64::from(*e)).sum::<f64>() / errors.len().max(1) as f64;
            verdict += &format!(", FLIP {mean:.4}");
            Some(errors.into_iter().map(|error| sample_colormap(&MAGMA, error)).collect())
        }
        _ => None,
    };
    let difference = map.map(|map| {
        let rgb: Vec<u8> = map.into_iter().flatten().collect();
        ColorImage::from_rgb(size, &rgb)
    });
    Compared { shown, difference, verdict }
}

/// State of the comparison.
#[derive(Default)]
pub struct ReferenceView {
    /// The comparison mode.
    pub mode: CompareMode,
    /// Position of the wipe's line, 0 to 1.
    pub wipe: f32,
    tracer: Option<Tracer>,
    /// The path tracer's job, and its size in pixels.
    job: Option<(u64, [u32; 2])>,
    traced: TracedImage,
    loaded: Option<Loaded>,
    /// The pictures and the mode that the textures were made of.
    drawn: Option<(u64, u64, CompareMode)>,
    compares: Option<BackgroundWorker<Pair, Compared>>,
    texture: Option<TextureHandle>,
    difference: Option<TextureHandle>,
    /// Result of the comparison as text.
    pub summary: String,
    bounces: Option<u32>,
    /// The bar is too narrow for the summary.
    compact: bool,
}

impl ReferenceView {
    /// The view or the scene has changed: restarts the path tracer.
    pub fn restart(&mut self) {
        self.job = None;
        if let Some(tracer) = &self.tracer {
            tracer.stop();
        }
    }

    /// Selects the next mode.
    pub fn next_mode(&mut self) {
        let now = CompareMode::ALL.iter().position(|(mode, _)| *mode == self.mode).unwrap_or(0);
        self.set_mode(CompareMode::ALL[(now + 1) % CompareMode::ALL.len()].0);
    }

    /// Sets the mode.
    pub fn set_mode(&mut self, mode: CompareMode) {
        if self.wipe <= 0.0 {
            self.wipe = 0.5;
        }
        self.mode = mode;
        if mode == CompareMode::Raster {
            self.restart();
        }
    }

    /// Moves the wipe's line by a fraction of the picture's width.
    pub fn move_wipe(&mut self, by: f32) {
        self.wipe = (self.wipe + by).clamp(0.0, 1.0);
    }

    /// True if the comparison needs redraws without input.
    #[must_use]
    pub fn needs_redraw(&self) -> bool {
        let waits = self.loaded.is_none() && self.traced.samples < SAMPLES;
        self.mode != CompareMode::Raster && (waits || self.mode == CompareMode::Flicker)
    }

    /// True if the path tracer is at work.
    #[must_use]
    pub fn is_tracing(&self) -> bool {
        self.mode != CompareMode::Raster
            && self.loaded.is_none()
            && self.job.is_some()
            && self.samples() < SAMPLES
    }

    /// Samples per pixel that the path tracer has of this view.
    #[must_use]
    pub fn samples(&self) -> u32 {
        let of_this = self.job.is_some_and(|(job, _)| job == self.traced.job);
        if of_this { self.traced.samples } else { 0 }
    }

    /// Uses a file as the reference.
    ///
    /// # Errors
    /// A file that cannot be read as a picture, as text.
    pub fn load(&mut self, file: &Path) -> Result<(), String> {
        let picture = linear_image::LinearImage::load(&file.to_string_lossy())
            .map_err(|error| error.to_string())?;
        let size = [picture.width(), picture.height()];
        let nits = Arc::new(picture.pixels().to_vec());
        let encoding = picture.encoding();
        self.loaded = Some(Loaded { name: file.display().to_string(), size, nits, encoding });
        self.drawn = None;
        self.set_mode(CompareMode::Wipe);
        Ok(())
    }

    /// Uses the path tracer as the reference again.
    pub fn use_path_tracer(&mut self) {
        (self.loaded, self.drawn) = (None, None);
    }

    /// The reference's pixels, size and number, if any.
    fn reference(&self) -> Option<Pixels> {
        if let Some(loaded) = &self.loaded {
            return Some((Arc::clone(&loaded.nits), loaded.size, u64::MAX));
        }
        (self.samples() > 0)
            .then(|| (Arc::clone(&self.traced.nits), self.traced.size, self.traced.number))
    }
}

/// Display light as sRGB bytes.
fn encoded(light: &[[f32; 3]]) -> Vec<u8> {
    let of =
        |light: f32| (color::srgb_oetf(f64::from(light).clamp(0.0, 1.0)) * 255.0).round() as u8;
    light.iter().flat_map(|&[r, g, b]| [of(r), of(g), of(b), 255]).collect()
}

/// sRGB bytes as linear light, FLIP's input.
fn linear(bytes: &[u8]) -> Vec<[f32; 3]> {
    let of = |byte: u8| color::srgb_eotf(f64::from(byte) / 255.0) as f32;
    bytes.chunks_exact(4).map(|pixel| [of(pixel[0]), of(pixel[1]), of(pixel[2])]).collect()
}

impl ReferenceView {
    /// Legend of the difference's colors.
    fn scale(&self) -> String {
        match self.mode {
            CompareMode::Stops => {
                format!("; blue: picture darker, orange: brighter; ends at {MAX_STOPS:.0} stops")
            }
            CompareMode::Flip => "; black: no visible difference; brighter: larger, up to 1".into(),
            _ => String::new(),
        }
    }

    /// Progress of the reference, and the result of the comparison.
    #[must_use]
    pub fn status_text(&self) -> String {
        if self.loaded.is_some() {
            return self.summary.clone();
        }
        let (spp, traced) = (self.samples(), &self.traced);
        format!(
            "{spp} spp, {:.0} s, error {:.1} %; {}",
            traced.seconds,
            traced.error * 100.0,
            self.summary
        )
    }
}

impl App {
    pub(super) fn reference_bar(&mut self, ui: &mut Ui) {
        let now = CompareMode::ALL
            .iter()
            .find(|(mode, _)| *mode == self.reference_view.mode)
            .map_or("", |(_, name)| name);
        let room = ui.available_size_before_wrap().x;
        // Without room in the bar, they go to the list and over the picture: a second line would
        // change the picture's size and restart its accumulation.
        self.reference_view.compact = room < BESIDE;
        egui::ComboBox::from_id_salt("reference_view").selected_text(now).width(96.0).show_ui(
            ui,
            |ui| {
                for (mode, name) in CompareMode::ALL {
                    if ui.selectable_label(self.reference_view.mode == mode, name).clicked() {
                        self.reference_view.set_mode(mode);
                    }
                }
                if self.reference_view.compact {
                    ui.separator();
                    self.reference_tools(ui);
                }
            },
        );
        if self.reference_view.mode == CompareMode::Raster || self.reference_view.compact {
            return;
        }
        self.reference_tools(ui);
        let reading = self.reference_view.status_text();
        // A fixed width, so that the layout does not depend on the text.
        let room = ui.available_size_before_wrap().x.clamp(160.0, 480.0);
        let size = egui::vec2(room, ui.spacing().interact_size.y);
        let scale = self.reference_view.scale();
        ui.add_sized(size, egui::Label::new(&reading).truncate())
            .on_hover_text(format!("{reading}{scale}"));
    }

    /// Controls of the reference.
    fn reference_tools(&mut self, ui: &mut Ui) {
        let direct = self.reference_view.bounces == Some(1);
        let mut wanted = direct;
        ui.checkbox(&mut wanted, "direct")
            .on_hover_text("direct light only, as the rasterizer without gi");
        if wanted != direct {
            self.reference_view.bounces = wanted.then_some(1);
            self.reference_view.restart();
        }
        let name = self.reference_view.loaded.as_ref().map(|loaded| loaded.name.clone());
        if let Some(name) = name
            && ui
                .button("path tracer")
                .on_hover_text(format!("replaces {name} as the reference"))
                .clicked()
        {
            self.reference_view.use_path_tracer();
        }
    }

    /// Starts the path tracer on the current view, and receives its picture.
    fn trace(&mut self) -> Result<(), String> {
        let Some(work) = &self.workspace else { return Ok(()) };
        let reference_view = &mut self.reference_view;
        if reference_view.mode == CompareMode::Raster || reference_view.loaded.is_some() {
            return Ok(());
        }
        let size = [work.viewport.session.size.width, work.viewport.session.size.height];
        let tracer = match &mut reference_view.tracer {
            Some(tracer) => tracer,
            none => none.insert(
                Tracer::new(Arc::clone(&self.wake))
                    .map_err(|error| format!("cannot start the path tracer's thread: {error}"))?,
            ),
        };
        if reference_view.job.is_none_or(|(_, of)| of != size) {
            // The still picture's own time, exposure and settings.
            let order = work.viewport.request_id();
            let seen =
                work.viewport.last_frame.as_ref().filter(|finished| finished.request_id == order);
            let Some((finished, scene)) =
                seen.and_then(|finished| Some((finished, finished.scene.as_ref()?)))
            else {
                reference_view.job = None;
                return Ok(());
            };
            let (session, exposed, camera) =
                (&work.viewport.session, &finished.exposed, finished.camera);
            let settings =
                session.final_settings(exposed, vec![]).map_err(|error| error.to_string())?;
            let pixels = size.map(|side| side as usize);
            let lens = LensCamera::new(camera.0, camera.1, pixels[0], pixels[1], &settings.effects)
                .with_lens(settings.lens.clone());
            let job = tracer.begin(TraceJob {
                scene: Arc::clone(scene),
                camera: lens,
                eye: camera.0.w_axis.truncate(),
                size: pixels,
                path_settings: PathSettings {
                    bounces: reference_view.bounces.unwrap_or(u32::MAX),
                    ..PathSettings::default()
                },
                samples: SAMPLES,
                white: exposed.exposure.saturation_luminance(),
            });
            reference_view.job = Some((job, size));
        }
        reference_view.traced = tracer.traced();
        Ok(())
    }

    /// Updates the textures to the newest pictures.
    fn compare(&mut self, ctx: &egui::Context) {
        if let Err(error) = self.trace() {
            self.reference_view.mode = CompareMode::Raster;
            return self.error(error);
        }
        let Some(work) = &self.workspace else { return };
        let Some(finished) = &work.viewport.last_frame else { return };
        let reference_view = &mut self.reference_view;
        if reference_view.mode == CompareMode::Raster {
            return;
        }
        let Some((nits, size, number)) = reference_view.reference() else {
            reference_view.summary.clear();
            return;
        };
        if let Some(compared) = reference_view.compares.as_ref().and_then(BackgroundWorker::result)
        {
            reference_view.summary = compared.verdict;
            reference_view.texture =
                Some(ctx.load_texture("reference", compared.shown, TextureOptions::LINEAR));
            reference_view.difference = compared
                .difference
                .map(|image| ctx.load_texture("difference", image, TextureOptions::LINEAR));
        }
        let key = (finished.number, number, reference_view.mode);
        if reference_view.drawn == Some(key) {
            return;
        }
        reference_view.drawn = Some(key);
        let passes = &work.viewport.session.look.passes;
        let development = ViewTransform {
            exposure: finished.image.exposure,
            white_balance: finished.white_balance,
            mapper: passes.tone_mapper.unwrap_or_default(),
            dither: passes.dither.unwrap_or(true),
        };
        let encoding = reference_view
            .loaded
            .as_ref()
            .map_or(linear_image::Encoding::Scene, |loaded| loaded.encoding);
        let pair = Pair {
            finished: Arc::clone(finished),
            nits,
            size,
            encoding,
            development,
            mode: reference_view.mode,
        };
        let compares = match &mut reference_view.compares {
            Some(compares) => Ok(&*compares),
            none @ None => BackgroundWorker::new("comparison", Arc::clone(&self.wake), compared)
                .map(|new| &*none.insert(new)),
        };
        match compares {
            Ok(compares) => compares.submit(pair),
            Err(error) => {
                reference_view.mode = CompareMode::Raster;
                self.error(format!("cannot start the comparison's thread: {error}"));
            }
        }
    }

    /// Shows picture and reference in a rectangle.
    pub(super) fn show_reference_view(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        picture: Option<TextureId>,
    ) {
        let ctx = ui.ctx().clone();
        self.compare(&ctx);
        let order = self.workspace.as_ref().map_or(0, |work| work.viewport.request_id());
        let over = self.scopes.over.as_ref().or(self.mixer.shown(order));
        // Beside a reference both are limited to SDR, to be comparable.
        let alone = self.encoding != DisplayEncoding::Srgb
            && self.reference_view.mode == CompareMode::Raster;
        let raster = over
            .map(TextureHandle::id)
            .or(picture.map(|bytes| if alone { HDR_IMAGE } else { bytes }));
        let reference = self
            .reference_view
            .texture
            .as_ref()
            .filter(|_| self.reference_view.reference().is_some())
            .map(TextureHandle::id);
        let painter = ui.painter_at(rect);
        let all = Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
        let draw = |texture: Option<TextureId>, rect: Rect, uv: Rect| {
            if let Some(texture) = texture {
                painter.image(texture, rect, uv, Color32::WHITE);
            }
        };
        let label = |text: &str, at: egui::Pos2, anchor: egui::Align2| {
            painter.text(
                at + egui::vec2(1.0, 1.0),
                anchor,
                text,
                egui::FontId::proportional(13.0),
                Color32::BLACK,
            );
            painter.text(at, anchor, text, egui::FontId::proportional(13.0), Color32::WHITE);
        };
        match self.reference_view.mode {
            CompareMode::Raster => {
                draw(raster, rect, all);
                self.scopes.name(&painter, rect);
                return;
            }
            CompareMode::Reference => draw(reference.or(raster), rect, all),
            CompareMode::Stops | CompareMode::Flip => {
                let difference = self.reference_view.difference.as_ref().map(TextureHandle::id);
                draw(difference.or(raster), rect, all);
            }
            CompareMode::Flicker => {
                let turn = ctx.input(|input| input.time) / FLICKER_S;
                let second = (turn as u64) % 2 == 1;
                draw(if second { reference } else { raster }, rect, all);
                let name = if second { "reference" } else { "raster" };
                label(name, rect.left_top() + egui::vec2(8.0, 6.0), egui::Align2::LEFT_TOP);
                ctx.request_repaint_after(std::time::Duration::from_secs_f64(FLICKER_S / 4.0));
            }
            CompareMode::SideBySide => {
                // The central half of both, so that aspect ratios are kept.
                let half = Rect::from_min_max(egui::pos2(0.25, 0.0), egui::pos2(0.75, 1.0));
                let (left, right) = rect.split_left_right_at_fraction(0.5);
                draw(raster, left, half);
                draw(reference, right, half);
                painter.vline(
                    rect.center().x,
                    rect.y_range(),
                    egui::Stroke::new(1.0, Color32::WHITE),
                );
                label("raster", left.left_top() + egui::vec2(8.0, 6.0), egui::Align2::LEFT_TOP);
                label(
                    "reference",
                    right.right_top() + egui::vec2(-8.0, 6.0),
                    egui::Align2::RIGHT_TOP,
                );
            }
            CompareMode::Wipe => {
                draw(raster, rect, all);
                let part = self.reference_view.wipe.clamp(0.0, 1.0);
                let x = rect.left() + part * rect.width();
                let right = Rect::from_min_max(egui::pos2(x, rect.top()), rect.max);
                draw(
                    reference,
                    right,
                    Rect::from_min_max(egui::pos2(part, 0.0), egui::pos2(1.0, 1.0)),
                );
                painter.vline(x, rect.y_range(), egui::Stroke::new(2.0, Color32::WHITE));
                label("raster", egui::pos2(x - 8.0, rect.top() + 6.0), egui::Align2::RIGHT_TOP);
                label("reference", egui::pos2(x + 8.0, rect.top() + 6.0), egui::Align2::LEFT_TOP);
            }
        }
        if self.reference_view.compact {
            self.say_aside(&painter, rect);
        }
    }

    /// Shows the summary at the lower edge of the picture.
    fn say_aside(&self, painter: &egui::Painter, rect: Rect) {
        let text = self.reference_view.status_text();
        let font = egui::FontId::proportional(12.0);
        let galley = painter.layout(text, font, Color32::WHITE, (rect.width() - 20.0).max(60.0));
        let place = egui::Align2::CENTER_BOTTOM
            .anchor_size(rect.center_bottom() - egui::vec2(0.0, 10.0), galley.size());
        painter.rect_filled(place.expand(3.0), 3.0, Color32::from_black_alpha(170));
        painter.galley(place.min, galley, Color32::WHITE);
    }

    /// Drags the wipe's line; true while it is dragged.
    pub(super) fn drag_wipe(&mut self, ui: &mut Ui, rect: Rect) -> bool {
        if self.reference_view.mode != CompareMode::Wipe {
            return false;
        }
        let x = rect.left() + self.reference_view.wipe * rect.width();
        let area =
            Rect::from_center_size(egui::pos2(x, rect.center().y), egui::vec2(14.0, rect.height()));
        let line = ui.interact(area, ui.id().with("wipe"), egui::Sense::drag());
        if line.dragged() {
            self.reference_view.wipe = (self.reference_view.wipe
                + line.drag_delta().x / rect.width().max(1.0))
            .clamp(0.0, 1.0);
        }
        if line.hovered() || line.dragged() {
            ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
        }
        line.dragged()
    }
}
