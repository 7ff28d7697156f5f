//! The reference beside the picture: the path tracer of the same view, or a file; wiped, side by
//! side, as a difference.

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
        painter::PICTURE,
        tracer::{TraceJob, TracedImage, Tracer},
        viewport::RenderedFrame,
    },
};

/// How picture and reference are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompareMode {
    /// The raster renderer's picture alone.
    #[default]
    Raster,
    /// The reference alone.
    Reference,
    /// Picture left of a line, reference right of it.
    Wipe,
    /// Beside each other.
    SideBySide,
    /// One after the other, by turns.
    Flicker,
    /// Signed difference in stops.
    Stops,
    /// FLIP (Andersson et al. 2020).
    Flip,
}

impl CompareMode {
    /// All, with their names.
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

/// Samples a pixel after which the path tracer rests.
const SAMPLES: u32 = 4096;

/// FLIP's pixels a degree at its usual distance from a display (Andersson et al. 2020, section 4).
const PIXELS_PER_DEGREE: f32 = 67.0;

/// Stops at the ends of the signed scale.
const MAX_STOPS: f32 = 2.0;

/// Room that list, tools and reading take in the bar (points).
const BESIDE: f32 = 96.0 + 70.0 + 160.0 + 30.0;

/// Seconds of each picture while they take turns.
const FLICKER_S: f64 = 0.5;

/// Pixels in nits, their size, and another number for each picture.
type Pixels = (Arc<Vec<[f32; 3]>>, [usize; 2], u64);

/// A reference from a file.
struct Loaded {
    name: String,
    size: [usize; 2],
    /// Nits, or where it is a display's light, 0 to 1.
    nits: Arc<Vec<[f32; 3]>>,
    encoding: linear_image::Encoding,
}

/// What is to be compared.
struct Pair {
    finished: Arc<RenderedFrame>,
    nits: Arc<Vec<[f32; 3]>>,
    size: [usize; 2],
    encoding: linear_image::Encoding,
    development: ViewTransform,
    mode: CompareMode,
}

/// A comparison's outcome.
struct Compared {
    /// The reference as the display shows it.
    shown: ColorImage,
    difference: Option<ColorImage>,
    verdict: String,
}

/// Compares picture and reference.
fn compared(pair: Pair) -> Compared {
    let Pair { finished, nits, size, encoding, development, mode } = pair;
    let picture = &finished.picture;
    // What a display showed is shown as it is, and compared with what the display shows.
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
            verdict += "; stops take a reference in light, an EXR";
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

/// The comparison's state.
#[derive(Default)]
pub struct ReferenceView {
    /// What is shown.
    pub mode: CompareMode,
    /// Where the wipe's line stands, 0 to 1.
    pub wipe: f32,
    tracer: Option<Tracer>,
    /// The job under way, and the size that it is of.
    job: Option<(u64, [u32; 2])>,
    traced: TracedImage,
    loaded: Option<Loaded>,
    /// Which pictures the textures are of.
    drawn: Option<(u64, u64, CompareMode)>,
    compares: Option<BackgroundWorker<Pair, Compared>>,
    texture: Option<TextureHandle>,
    difference: Option<TextureHandle>,
    /// What the comparison says.
    pub summary: String,
    bounces: Option<u32>,
    /// The bar has no room for what the comparison says.
    compact: bool,
}

impl ReferenceView {
    /// The view or the scene has changed: the path tracer begins again.
    pub fn restart(&mut self) {
        self.job = None;
        if let Some(tracer) = &self.tracer {
            tracer.stop();
        }
    }

    /// The next way of showing.
    pub fn next_mode(&mut self) {
        let now = CompareMode::ALL.iter().position(|(mode, _)| *mode == self.mode).unwrap_or(0);
        self.set_mode(CompareMode::ALL[(now + 1) % CompareMode::ALL.len()].0);
    }

    /// Shows picture and reference in this way.
    pub fn set_mode(&mut self, mode: CompareMode) {
        if self.wipe <= 0.0 {
            self.wipe = 0.5;
        }
        self.mode = mode;
        if mode == CompareMode::Raster {
            self.restart();
        }
    }

    /// Moves the wipe's line by a part of the picture.
    pub fn move_wipe(&mut self, by: f32) {
        self.wipe = (self.wipe + by).clamp(0.0, 1.0);
    }

    /// Whether it changes by itself.
    #[must_use]
    pub fn needs_redraw(&self) -> bool {
        let waits = self.loaded.is_none() && self.traced.samples < SAMPLES;
        self.mode != CompareMode::Raster && (waits || self.mode == CompareMode::Flicker)
    }

    /// Whether the path tracer is at work.
    #[must_use]
    pub fn is_tracing(&self) -> bool {
        self.mode != CompareMode::Raster
            && self.loaded.is_none()
            && self.job.is_some()
            && self.samples() < SAMPLES
    }

    /// Samples a pixel that the path tracer has of this view.
    #[must_use]
    pub fn samples(&self) -> u32 {
        let of_this = self.job.is_some_and(|(job, _)| job == self.traced.job);
        if of_this { self.traced.samples } else { 0 }
    }

    /// Takes a file as the reference from now on.
    ///
    /// # Errors
    /// A file that cannot be read as a picture, in words.
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

    /// The path tracer is the reference again, not a file.
    pub fn use_path_tracer(&mut self) {
        (self.loaded, self.drawn) = (None, None);
    }

    /// The reference's pixels, size and number, where there is one.
    fn reference(&self) -> Option<Pixels> {
        if let Some(loaded) = &self.loaded {
            return Some((Arc::clone(&loaded.nits), loaded.size, u64::MAX));
        }
        (self.samples() > 0)
            .then(|| (Arc::clone(&self.traced.nits), self.traced.size, self.traced.number))
    }
}

/// A display's light as its bytes.
fn encoded(light: &[[f32; 3]]) -> Vec<u8> {
    let of =
        |light: f32| (color::srgb_oetf(f64::from(light).clamp(0.0, 1.0)) * 255.0).round() as u8;
    light.iter().flat_map(|&[r, g, b]| [of(r), of(g), of(b), 255]).collect()
}

/// sRGB bytes as FLIP takes them: linear.
fn linear(bytes: &[u8]) -> Vec<[f32; 3]> {
    let of = |byte: u8| color::srgb_eotf(f64::from(byte) / 255.0) as f32;
    bytes.chunks_exact(4).map(|pixel| [of(pixel[0]), of(pixel[1]), of(pixel[2])]).collect()
}

impl ReferenceView {
    /// What a difference's colours mean.
    fn scale(&self) -> String {
        match self.mode {
            CompareMode::Stops => {
                format!(
                    "; blue: the picture is darker, orange: brighter, the lightest by {MAX_STOPS:.0} stops"
                )
            }
            CompareMode::Flip => {
                "; black: no difference is seen, the lighter the more, up to 1".into()
            }
            _ => String::new(),
        }
    }

    /// How far the reference has come, and how the picture compares with it.
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
        // Where the bar has no room they stand in the list and over the picture: a bar that grew a
        // line would change the picture's size, and begin anew.
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
        // What there is room for; its width does not depend on what it says.
        let room = ui.available_size_before_wrap().x.clamp(160.0, 480.0);
        let size = egui::vec2(room, ui.spacing().interact_size.y);
        let scale = self.reference_view.scale();
        ui.add_sized(size, egui::Label::new(&reading).truncate())
            .on_hover_text(format!("{reading}{scale}"));
    }

    /// What the reference is.
    fn reference_tools(&mut self, ui: &mut Ui) {
        let direct = self.reference_view.bounces == Some(1);
        let mut wanted = direct;
        ui.checkbox(&mut wanted, "direct")
            .on_hover_text("one bounce, direct light: what the raster renderer has without gi");
        if wanted != direct {
            self.reference_view.bounces = wanted.then_some(1);
            self.reference_view.restart();
        }
        let name = self.reference_view.loaded.as_ref().map(|loaded| loaded.name.clone());
        if let Some(name) = name
            && ui.button("path tracer").on_hover_text(format!("instead of {name}")).clicked()
        {
            self.reference_view.use_path_tracer();
        }
    }

    /// Has the path tracer work on what is seen, and takes what it has.
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
                    .map_err(|error| format!("no thread for the path tracer: {error}"))?,
            ),
        };
        if reference_view.job.is_none_or(|(_, of)| of != size) {
            // What the picture at rest is of: its moment, its exposure and its dials.
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
                session.picture_settings(exposed, vec![]).map_err(|error| error.to_string())?;
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

    /// Brings the textures up to the pictures.
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
            exposure: finished.picture.exposure,
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
                self.error(format!("no thread for the comparison: {error}"));
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
        // Beside a reference both end at white: so they are compared.
        let alone = self.encoding != DisplayEncoding::Srgb
            && self.reference_view.mode == CompareMode::Raster;
        let raster = over
            .map(TextureHandle::id)
            .or(picture.map(|bytes| if alone { PICTURE } else { bytes }));
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
                // The same middle half of both, so that each keeps its shape.
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

    /// What the comparison says, on the lower edge of the picture.
    fn say_aside(&self, painter: &egui::Painter, rect: Rect) {
        let text = self.reference_view.status_text();
        let font = egui::FontId::proportional(12.0);
        let galley = painter.layout(text, font, Color32::WHITE, (rect.width() - 20.0).max(60.0));
        let place = egui::Align2::CENTER_BOTTOM
            .anchor_size(rect.center_bottom() - egui::vec2(0.0, 10.0), galley.size());
        painter.rect_filled(place.expand(3.0), 3.0, Color32::from_black_alpha(170));
        painter.galley(place.min, galley, Color32::WHITE);
    }

    /// The wipe's line is dragged; true while it is.
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
