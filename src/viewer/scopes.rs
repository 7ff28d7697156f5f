//! Textures of the scopes and overlays of a picture: histogram, waveform, vectorscope, false color,
//! zones, zebra, focus peaking.

use egui::{ColorImage, TextureHandle, TextureOptions};
use glam::Vec3;

use super::viewport::RenderedFrame;
use crate::{
    camera::scopes::{EvRange, FalseColor, Luminances, Raster, Waveform, ZoneMap, waveform},
    frame::{Aov, RenderedImage},
    photometry::{Nit, color::LUMINANCE_WEIGHTS},
    session::{expose::luminances, preview::aov_preview},
};

/// Overlay on the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overlay {
    /// The picture itself.
    #[default]
    None,
    /// False color: stops from middle gray.
    FalseColor,
    /// Adams's zones.
    Zones,
    /// Stripes where the display shows white.
    Zebra,
    /// Focus peaking.
    Peaking,
}

impl Overlay {
    pub(super) const ALL: [(Self, &'static str); 5] = [
        (Self::None, "picture"),
        (Self::FalseColor, "false color"),
        (Self::Zones, "zones"),
        (Self::Zebra, "zebra"),
        (Self::Peaking, "focus peaking"),
    ];
}

/// State and textures of the scopes.
#[derive(Default)]
pub struct Scopes {
    /// True if their panel is open.
    pub open: bool,
    /// The overlay.
    pub overlay: Overlay,
    /// The AOV shown instead of the picture.
    pub aov: Option<Aov>,
    drawn: Option<(u64, Overlay, Option<Aov>, bool)>,
    pub(super) textures: Vec<(&'static str, TextureHandle)>,
    pub(super) legend: Option<TextureHandle>,
    /// Minimum nonzero and maximum luminance of the picture.
    pub(super) ends: Option<(Nit, Nit)>,
    /// Texture shown instead of the picture.
    pub(super) over: Option<TextureHandle>,
}

fn image(raster: &Raster) -> ColorImage {
    ColorImage::from_rgba_unmultiplied([raster.width(), raster.height()], raster.rgba())
}

/// The displayed picture, with the color of `mark` where it returns one.
fn marked(picture: &RenderedImage, mark: impl Fn(usize) -> Option<[u8; 3]>) -> ColorImage {
    let mut rgba = picture.display.clone();
    for (index, pixel) in rgba.chunks_exact_mut(4).enumerate() {
        if let Some(color) = mark(index) {
            pixel[..3].copy_from_slice(&color);
        }
    }
    ColorImage::from_rgba_unmultiplied([picture.width, picture.height], &rgba)
}

/// Chroma of all pixels in the plane of BT.709 Cb and Cr, with the six hues of 75 % bars marked
/// (ITU-R BT.709-6, section 4).
fn vectorscope(picture: &RenderedImage) -> Raster {
    const SIDE: usize = 160;
    let mut counts = vec![0u32; SIDE * SIDE];
    let place = |rgb: Vec3| {
        let y = rgb.dot(LUMINANCE_WEIGHTS.as_vec3());
        let [cb, cr] = [(rgb.z - y) / 1.8556, (rgb.x - y) / 1.5748];
        let at = |v: f32| {
            (((v + 0.5) * (SIDE - 1) as f32).round().clamp(0.0, (SIDE - 1) as f32)) as usize
        };
        [at(cb), SIDE - 1 - at(cr)]
    };
    for pixel in picture.display.chunks_exact(4) {
        let [x, y] =
            place(Vec3::new(f32::from(pixel[0]), f32::from(pixel[1]), f32::from(pixel[2])) / 255.0);
        counts[y * SIDE + x] += 1;
    }
    let max = (counts.iter().copied().max().unwrap_or(1).max(1) as f32).ln_1p();
    let mut raster = Raster::new(SIDE, SIDE, [18, 18, 18]);
    for (index, &count) in counts.iter().enumerate() {
        if count > 0 {
            let level = 60 + ((count as f32).ln_1p() / max * 195.0) as u8;
            raster.set(index % SIDE, index / SIDE, [level / 2, level, level / 2]);
        }
    }
    for hue in 1..7u8 {
        let on = |bit: u8| if hue >> bit & 1 == 1 { 0.75 } else { 0.0 };
        let rgb = Vec3::new(on(0), on(1), on(2));
        let [x, y] = place(rgb);
        let ink = (rgb * 255.0 / 0.75).to_array().map(|v| v as u8);
        raster.fill([x.saturating_sub(2), y.saturating_sub(2)], [5, 1], ink);
        raster.fill([x.saturating_sub(2), y + 2], [5, 1], ink);
    }
    raster
}

impl Scopes {
    /// Invalidates the scopes: the picture has changed.
    pub fn forget(&mut self) {
        self.drawn = None;
        self.over = None;
    }

    /// Selects the next overlay.
    pub fn next_overlay(&mut self) {
        let now =
            Overlay::ALL.iter().position(|(overlay, _)| *overlay == self.overlay).unwrap_or(0);
        self.overlay = Overlay::ALL[(now + 1) % Overlay::ALL.len()].0;
    }

    /// Updates the textures to a new picture.
    pub(super) fn follow(
        &mut self,
        ctx: &egui::Context,
        finished: &RenderedFrame,
        mapper: crate::camera::ToneMapper,
    ) {
        let key = (finished.number, self.overlay, self.aov, self.open);
        if self.drawn == Some(key) {
            return;
        }
        self.drawn = Some(key);
        if !self.open && self.overlay == Overlay::None && self.aov.is_none() {
            // Nothing is visible that would need them.
            (self.over, self.legend) = (None, None);
            return;
        }
        let picture = &finished.image;
        let nits = luminances(picture);
        let Ok(pixels) = Luminances::new(&nits, picture.width, picture.height) else { return };
        self.ends = waveform::extremes(pixels);
        let false_color = FalseColor::new(picture.exposure, mapper);
        let over = match self.aov {
            Some(aov) => {
                picture.aovs.iter().find(|(found, _)| *found == aov).map(|(aov, values)| {
                    let bytes = aov_preview(*aov, values, picture.exposure.multiplier() as f32);
                    ColorImage::from_rgba_unmultiplied([picture.width, picture.height], &bytes)
                })
            }
            None => match self.overlay {
                Overlay::None => None,
                Overlay::FalseColor => Some(image(&false_color.paint(pixels))),
                Overlay::Zones => {
                    // Its legend is omitted: the status line names the zones.
                    let drawn = ZoneMap::new(pixels, picture.exposure)
                        .draw(Some(&picture.display), picture.exposure);
                    let bytes = drawn.rgba().get(..picture.width * picture.height * 4);
                    bytes.filter(|_| drawn.width() == picture.width).map(|bytes| {
                        ColorImage::from_rgba_unmultiplied([picture.width, picture.height], bytes)
                    })
                }
                Overlay::Zebra => {
                    let [_, white] = false_color.clips();
                    let max = picture.exposure.metered_luminance().get() * white.exp2();
                    Some(marked(picture, |index| {
                        let [x, y] = [index % picture.width, index / picture.width];
                        let stripe = (x + y) / 4 % 2 == 0;
                        (f64::from(nits[index]) >= max && stripe).then_some([0, 0, 0])
                    }))
                }
                Overlay::Peaking => Some(peaking(picture)),
            },
        };
        self.over =
            over.map(|image| ctx.load_texture("over the picture", image, TextureOptions::LINEAR));
        self.legend = (self.overlay == Overlay::FalseColor && self.aov.is_none()).then(|| {
            ctx.load_texture("legend", image(&false_color.legend(1)), TextureOptions::NEAREST)
        });
        if !self.open {
            return;
        }
        let range = EvRange::centered_on(picture.exposure);
        let mut drawn: Vec<(&'static str, Raster)> = Vec::new();
        if let Ok((histogram, _)) = waveform::histogram(pixels, range) {
            drawn.push(("histogram in EV", waveform::draw_histogram(&histogram, picture.exposure)));
        }
        let waveform = Waveform::new(pixels, range, picture.width.clamp(1, 256));
        drawn.push((
            "waveform in EV",
            Waveform::draw(&[(&waveform, [210, 220, 210])], picture.exposure),
        ));
        drawn.push(("vectorscope", vectorscope(picture)));
        self.textures = drawn
            .into_iter()
            .map(|(name, raster)| {
                (name, ctx.load_texture(name, image(&raster), TextureOptions::LINEAR))
            })
            .collect();
    }
}

/// Green where the Laplacian is large relative to the luminance: edges in focus.
fn peaking(picture: &RenderedImage) -> ColorImage {
    let width = picture.width;
    let level = |index: usize| picture.display.get(index * 4 + 1).copied().map_or(0.0, f32::from);
    marked(picture, |index| {
        let [x, y] = [index % width, index / width];
        if x == 0 || y == 0 || x + 1 >= width || y + 1 >= picture.height {
            return None;
        }
        // The Laplacian is large only where the picture is sharp to the pixel.
        let sum = level(index - 1) + level(index + 1) + level(index - width) + level(index + width);
        ((sum - 4.0 * level(index)).abs() > 48.0).then_some([0, 255, 60])
    })
}
