//! Comparison of the picture with a reference, the path tracer or a file: its mode, textures and
//! result.

use std::{path::Path, sync::Arc};

use egui::{ColorImage, TextureHandle, TextureOptions};
use glam::Vec3;

use super::{
    background::BackgroundWorker,
    tracer::{TraceJob, TracedImage, Tracer},
    viewport::{RenderedFrame, Viewport},
    wake::Wake,
};
use crate::{
    compare::{
        error_colormap::{MAGMA, SIGNED, sample_colormap},
        flip, linear_image,
    },
    photometry::color,
    session::preview::ViewTransform,
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

/// Pixels (nit), their size, and a unique number.
pub(super) type Pixels = (Arc<Vec<[f32; 3]>>, [usize; 2], u64);

/// A reference from a file.
pub(super) struct Loaded {
    pub name: String,
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
    pub(super) loaded: Option<Loaded>,
    /// The pictures and the mode that the textures were made of.
    drawn: Option<(u64, u64, CompareMode)>,
    compares: Option<BackgroundWorker<Pair, Compared>>,
    pub(super) texture: Option<TextureHandle>,
    pub(super) difference: Option<TextureHandle>,
    /// Result of the comparison as text.
    pub summary: String,
    pub(super) bounces: Option<u32>,
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
    pub(super) fn reference(&self) -> Option<Pixels> {
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
    pub(super) fn scale(&self) -> String {
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

    /// Starts the path tracer on the current view, and receives its picture.
    fn trace(&mut self, viewport: &Viewport, wake: &Wake) -> Result<(), String> {
        if self.mode == CompareMode::Raster || self.loaded.is_some() {
            return Ok(());
        }
        let size = viewport.full_size();
        let tracer = match &mut self.tracer {
            Some(tracer) => tracer,
            none => none.insert(
                Tracer::new(Arc::clone(wake))
                    .map_err(|error| format!("cannot start the path tracer's thread: {error}"))?,
            ),
        };
        if self.job.is_none_or(|(_, of)| of != size) {
            // The still picture's own time, exposure and settings.
            let order = viewport.request_id();
            let seen = viewport.last_frame.as_ref().filter(|finished| finished.request_id == order);
            let Some((finished, scene)) =
                seen.and_then(|finished| Some((finished, finished.scene.as_ref()?)))
            else {
                self.job = None;
                return Ok(());
            };
            let (session, exposed, camera) =
                (&viewport.session, &finished.exposed, finished.camera);
            let settings =
                session.final_settings(exposed, vec![]).map_err(|error| error.to_string())?;
            let pixels = size.map(|side| side as usize);
            let mut job = TraceJob::new(Arc::clone(scene), camera, &settings, pixels, SAMPLES);
            job.path_settings.bounces = self.bounces.unwrap_or(u32::MAX);
            let job = tracer.begin(job);
            self.job = Some((job, size));
        }
        self.traced = tracer.traced();
        match tracer.crash() {
            Some(crash) => {
                (self.tracer, self.job) = (None, None);
                Err(crash.to_string())
            }
            None => Ok(()),
        }
    }

    /// Updates the textures to the newest pictures; an error, as text, ends the comparison.
    pub(super) fn compare(
        &mut self,
        ctx: &egui::Context,
        viewport: &Viewport,
        wake: &Wake,
    ) -> Result<(), String> {
        self.follow(ctx, viewport, wake).inspect_err(|_| {
            (self.mode, self.drawn) = (CompareMode::Raster, None);
        })
    }

    /// As [`ReferenceView::compare`], without ending the comparison after an error.
    fn follow(
        &mut self,
        ctx: &egui::Context,
        viewport: &Viewport,
        wake: &Wake,
    ) -> Result<(), String> {
        self.trace(viewport, wake)?;
        let Some(finished) = &viewport.last_frame else { return Ok(()) };
        if self.mode == CompareMode::Raster {
            return Ok(());
        }
        let Some((nits, size, number)) = self.reference() else {
            self.summary.clear();
            return Ok(());
        };
        if let Some(compared) = BackgroundWorker::take_result(&mut self.compares)? {
            self.summary = compared.verdict;
            self.texture =
                Some(ctx.load_texture("reference", compared.shown, TextureOptions::LINEAR));
            self.difference = compared
                .difference
                .map(|image| ctx.load_texture("difference", image, TextureOptions::LINEAR));
        }
        let key = (finished.number, number, self.mode);
        if self.drawn == Some(key) {
            return Ok(());
        }
        self.drawn = Some(key);
        let tonemap = viewport.session.passes().tonemap;
        let development = ViewTransform {
            exposure: finished.image.exposure,
            white_balance: finished.white_balance,
            mapper: tonemap.operator,
            dither: tonemap.dither,
        };
        let encoding =
            self.loaded.as_ref().map_or(linear_image::Encoding::Scene, |loaded| loaded.encoding);
        let pair = Pair {
            finished: Arc::clone(finished),
            nits,
            size,
            encoding,
            development,
            mode: self.mode,
        };
        BackgroundWorker::submit_to(&mut self.compares, "comparison", wake, compared, pair)
    }
}
