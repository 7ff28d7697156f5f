//! False color: one color per stop above or below middle gray.

use super::{
    font,
    labels::{short, text_scale},
    luminances::{Luminances, luminance_of},
    raster::{Raster, Rgb},
};
use crate::{
    camera::{Exposure, ToneMapper},
    photometry::{Ev100, Nit, color::srgb_oetf},
};

/// Range of stops from gray that have their own color.
pub const STOPS: [i32; 2] = [-11, 8];

/// Colors of the stops, darkest first: blue to teal in the shadows, green for gray and pink one
/// stop above it, as cameras have it, then light gray, yellow, orange, brown. The colors are also
/// distinguishable with color vision deficiencies (a test below has the distances).
const COLORS: [Rgb; 20] = [
    [27, 10, 53],
    [39, 16, 84],
    [45, 15, 114],
    [58, 38, 159],
    [45, 62, 200],
    [14, 93, 225],
    [14, 126, 232],
    [2, 160, 224],
    [2, 187, 202],
    [18, 146, 135],
    [92, 103, 99],
    [48, 184, 64],
    [237, 146, 165],
    [180, 183, 183],
    [237, 234, 152],
    [252, 223, 32],
    [252, 176, 16],
    [237, 129, 12],
    [188, 96, 23],
    [137, 68, 30],
];

/// Color of pixels that the display shows as black.
pub const BLACK: Rgb = [128, 0, 128];
/// Color of pixels that the display shows as white.
pub const WHITE: Rgb = [255, 0, 32];

const PAPER: Rgb = [18, 18, 18];
const INK: Rgb = [230, 230, 230];

/// The scale of a false-color picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FalseColor {
    exposure: Exposure,
    /// Stops from gray at and below which a display shows black, and at and above which it shows
    /// white.
    clips: [f64; 2],
}

/// A band of the scale: a stop, or one of the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// The display shows black.
    Black,
    /// Within half a stop of this number of stops from gray.
    Stop(i32),
    /// The display shows white.
    White,
}

impl FalseColor {
    /// The scale for an exposure. Black and white bands are the grays that the mapper maps to the
    /// first and the last of 256 codes: an 8-bit picture clips them.
    #[must_use]
    pub fn new(exposure: Exposure, mapper: ToneMapper) -> Self {
        // Code (0 to 255, not rounded) of an exposed gray; monotonic, so that bisection works.
        let code = |stops: f64| {
            let exposed = exposure.metered_luminance().0 * exposure.multiplier() * stops.exp2();
            srgb_oetf(f64::from(mapper.apply(glam::Vec3::splat(exposed as f32)).y)) * 255.0
        };
        let [min, max] = STOPS.map(f64::from);
        let find = |wanted: f64| {
            let (mut low, mut high) = (min - 0.5, max + 0.5);
            for _ in 0..40 {
                let middle = (low + high) / 2.0;
                if code(middle) < wanted { low = middle } else { high = middle }
            }
            high
        };
        Self { exposure, clips: [find(0.5), find(254.5)] }
    }

    /// Stops from gray at which the display goes black and white.
    #[must_use]
    pub const fn clips(&self) -> [f64; 2] {
        self.clips
    }

    /// The band of a luminance in nits.
    #[must_use]
    pub fn band(&self, luminance: Nit) -> Band {
        let above = luminance.0 / self.exposure.metered_luminance().0;
        // Infinity is white; NaN, zero and less are black.
        if above.is_nan() || above <= 0.0 {
            return Band::Black;
        }
        let stops = above.log2();
        match self.clips {
            [black, _] if stops < black => Band::Black,
            [_, white] if stops >= white => Band::White,
            _ => Band::Stop(((stops + 0.5).floor() as i32).clamp(STOPS[0], STOPS[1])),
        }
    }

    /// The color of a band.
    #[must_use]
    pub fn color(band: Band) -> Rgb {
        match band {
            Band::Black => BLACK,
            Band::White => WHITE,
            Band::Stop(stop) => {
                let index = stop.clamp(STOPS[0], STOPS[1]) - STOPS[0];
                COLORS.get(index as usize).copied().unwrap_or(BLACK)
            }
        }
    }

    /// The bands that can occur, brightest first.
    #[must_use]
    pub fn bands(&self) -> Vec<Band> {
        let [first, last] =
            self.clips.map(|stops| ((stops + 0.5).floor() as i32).clamp(STOPS[0], STOPS[1]));
        let stops = (first..=last).rev().map(Band::Stop);
        [Band::White].into_iter().chain(stops).chain([Band::Black]).collect()
    }

    /// Pixel count of each band, brightest first; the counts sum to the number of pixels.
    #[must_use]
    pub fn counts(&self, picture: Luminances<'_>) -> Vec<(Band, usize)> {
        let mut counts: Vec<(Band, usize)> =
            self.bands().into_iter().map(|band| (band, 0)).collect();
        for &nits in picture.nits {
            let band = self.band(Nit(f64::from(nits)));
            if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == band) {
                *count += 1;
            }
        }
        counts
    }

    /// The picture in false colors, without a legend.
    #[must_use]
    pub fn paint(&self, picture: Luminances<'_>) -> Raster {
        let mut raster = Raster::new(picture.width, picture.height, PAPER);
        for (index, &nits) in picture.nits.iter().enumerate() {
            let color = Self::color(self.band(Nit(f64::from(nits))));
            raster.set(index % picture.width, index / picture.width, color);
        }
        raster
    }

    /// The legend: for each band its color, stops from gray, exposure value and luminance of its
    /// middle, brightest on top. `scale` is the size of a font dot in pixels.
    #[must_use]
    pub fn legend(&self, scale: usize) -> Raster {
        let bands = self.bands();
        let line = (font::HEIGHT + 4) * scale;
        let margin = 4 * scale;
        let swatch = 14 * scale;
        let texts: Vec<String> = bands.iter().map(|&band| self.label(band)).collect();
        let head = format!("{:>4} {:>6} {:>7}", "STOP", "EV", "NIT");
        let dots =
            texts.iter().chain([&head]).map(|text| font::text_width(text)).max().unwrap_or(0);
        let width = margin * 3 + swatch + dots * scale;
        let mut raster = Raster::new(width, margin * 2 + line * (bands.len() + 1), PAPER);
        let text_x = margin * 2 + swatch;
        raster.text([text_x, margin], scale, &head, INK);
        for (index, (&band, text)) in bands.iter().zip(&texts).enumerate() {
            let y = margin + line * (index + 1);
            raster.fill([margin, y - scale], [swatch, line - scale], Self::color(band));
            raster.text([text_x, y], scale, text, INK);
        }
        raster
    }

    fn label(&self, band: Band) -> String {
        let gray = self.exposure.ev100().0;
        let of = |stops: f64| (gray + stops, short(luminance_of(Ev100(gray + stops)).0));
        match band {
            Band::Stop(stop) => {
                let (ev, nits) = of(f64::from(stop));
                let sign = if stop == 0 { "GRAY".into() } else { format!("{stop:+}") };
                format!("{sign:>4} {ev:>6.2} {nits:>7}")
            }
            Band::White => {
                let (ev, nits) = of(self.clips[1]);
                format!("CLIP>{ev:>6.2} {nits:>7}")
            }
            Band::Black => {
                let (ev, nits) = of(self.clips[0]);
                format!("CLIP<{ev:>6.2} {nits:>7}")
            }
        }
    }

    /// The picture in false colors with the legend on its right.
    #[must_use]
    pub fn render(&self, picture: Luminances<'_>) -> Raster {
        let legend = self.legend(text_scale(picture.height));
        let height = picture.height.max(legend.height());
        let mut raster = Raster::new(picture.width + legend.width(), height, PAPER);
        raster.paste([0, 0], &self.paint(picture));
        raster.paste([picture.width, 0], &legend);
        raster
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::color_vision::{ColorVision, difference},
        *,
    };

    fn scale(mapper: ToneMapper) -> FalseColor {
        FalseColor::new(Exposure::from_ev100(Ev100(9.0)).unwrap(), mapper)
    }

    #[test]
    fn a_step_wedge_shows_exactly_its_steps() {
        // AgX holds from -6.4 to 7.3 stops. Each step is 10 pixels of two rows; gray at EV 9 is 64
        // nit.
        let scale = scale(ToneMapper::Agx);
        let stops: Vec<i32> = (-5..=6).collect();
        // Just inside of both edges of a band, and its middle.
        for offset in [-0.499, 0.0, 0.499] {
            let row =
                stops.iter().flat_map(|&s| [64.0 * (f64::from(s) + offset).exp2() as f32; 10]);
            let row: Vec<f32> = row.collect();
            let wedge = [row.clone(), row].concat();
            let picture = Luminances::new(&wedge, stops.len() * 10, 2).unwrap();
            let painted = scale.paint(picture);
            for y in 0..2 {
                for x in 0..stops.len() * 10 {
                    let want = FalseColor::color(Band::Stop(stops[x / 10]));
                    assert_eq!(painted.get(x, y), Some(want), "{offset} at {x}");
                }
            }
            let counts = scale.counts(picture);
            assert_eq!(counts.iter().map(|(_, count)| count).sum::<usize>(), wedge.len());
            for &(band, count) in &counts {
                let there = matches!(band, Band::Stop(stop) if stops.contains(&stop));
                assert_eq!(count, if there { 20 } else { 0 }, "{band:?}");
            }
        }
    }

    #[test]
    fn clipping_is_where_the_display_clips() {
        for mapper in ToneMapper::ALL {
            let scale = scale(mapper);
            let byte = |stops: f64| {
                let exposed = 12.5 / 120.0 * stops.exp2();
                (srgb_oetf(f64::from(mapper.apply(glam::Vec3::splat(exposed as f32)).y)) * 255.0)
                    .round()
            };
            let [black, white] = scale.clips();
            assert_eq!((byte(black - 0.01), byte(black + 0.01)), (0.0, 1.0), "{}", mapper.name());
            assert_eq!(
                (byte(white - 0.01), byte(white + 0.01)),
                (254.0, 255.0),
                "{}",
                mapper.name()
            );
            for (nits, band) in [
                (f64::INFINITY, Band::White),
                (64.0 * (white + 0.01).exp2(), Band::White),
                (64.0, Band::Stop(0)),
                (64.0 * (black - 0.01).exp2(), Band::Black),
                (0.0, Band::Black),
                (-1.0, Band::Black),
                (f64::NAN, Band::Black),
            ] {
                assert_eq!(scale.band(Nit(nits)), band, "{} {nits}", mapper.name());
            }
        }
        // Without a curve white is the saturation luminance, 3.26 stops above gray, less half a
        // code.
        let [_, white] = scale(ToneMapper::Linear).clips();
        assert!((white - 3.263).abs() < 0.01, "{white}");
    }

    #[test]
    fn eyes_that_lack_a_kind_of_cone_tell_the_steps_apart() {
        // The whole scale with its ends, as a legend has it: neighbors are 5 apart (CIE 1976),
        // here nearly 8, and nothing else is nearer than they are.
        let steps: Vec<Rgb> = [BLACK].into_iter().chain(COLORS).chain([WHITE]).collect();
        for eye in ColorVision::ALL {
            let seen: Vec<[f64; 3]> = steps.iter().map(|color| eye.lab(*color)).collect();
            let apart = |min: usize, max: usize| {
                let pairs = (0..seen.len())
                    .flat_map(|a| (a + min..seen.len().min(a + max + 1)).map(move |b| (a, b)));
                pairs.map(|(a, b)| difference(seen[a], seen[b])).fold(f64::INFINITY, f64::min)
            };
            let (neighbors, others) = (apart(1, 1), apart(2, seen.len()));
            println!("{eye:?}: neighbors {neighbors:.1} apart or more, others {others:.1}");
            assert!(neighbors >= 7.5, "{eye:?}: neighbors are {neighbors:.2} apart");
            assert!(others >= neighbors, "{eye:?}: {others:.2}, neighbors {neighbors:.2}");
        }
    }

    #[test]
    fn each_color_is_its_own_and_the_legend_shows_all_of_them_in_order() {
        let scale = scale(ToneMapper::Agx);
        let bands = scale.bands();
        for (index, &band) in bands.iter().enumerate() {
            for &other in &bands[index + 1..] {
                let apart = |i: usize| {
                    i32::from(FalseColor::color(band)[i]) - i32::from(FalseColor::color(other)[i])
                };
                assert!((0..3).map(apart).map(i32::abs).max() > Some(15), "{band:?} and {other:?}");
            }
        }
        let legend = scale.legend(2);
        let column: Vec<Rgb> = (0..legend.height()).map(|y| legend.get(12, y).unwrap()).collect();
        let mut seen: Vec<Rgb> = column.into_iter().filter(|color| *color != PAPER).collect();
        seen.dedup();
        assert_eq!(seen, bands.iter().map(|&band| FalseColor::color(band)).collect::<Vec<_>>());
        assert_eq!(scale.label(Band::Stop(0)), "GRAY   9.00    64.0");
        assert_eq!(scale.label(Band::Stop(3)), "  +3  12.00     512");
        let picture = scale.render(Luminances::new(&[64.0; 6], 3, 2).unwrap());
        assert_eq!(picture.get(2, 1), Some(FalseColor::color(Band::Stop(0))));
        assert_eq!(picture.height(), scale.legend(1).height());
    }
}
