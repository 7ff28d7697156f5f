//! HDR displays: highlight range beyond paper white, and display encodings.
//!
//! Display-linear values are relative to paper white: 1 is the white of the user interface. The
//! host versions are the reference for the shaders (`shaders/passes/hdr_tonemap.frag`,
//! `hdr_display.frag`).

use glam::Vec3;

use super::tonemap::{self, REC709_TO_REC2020, ToneMapper};
use crate::photometry::{Nit, color, pq};

/// Encoding of the window's display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DisplayEncoding {
    /// sRGB: nothing is brighter than white.
    #[default]
    Srgb,
    /// Linear Rec.709 beyond 0 to 1, where 1 is 80 nit (IEC 61966-2-2).
    ScRgb,
    /// Rec.2020 by the perceptual quantizer.
    Hdr10,
}

/// The luminance of 1 in scRGB (IEC 61966-2-2: that of the reference display of sRGB).
pub const SCRGB_WHITE: Nit = Nit(80.0);

impl DisplayEncoding {
    /// Common name of the encoding.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Srgb => "sRGB",
            Self::ScRgb => "scRGB",
            Self::Hdr10 => "HDR10",
        }
    }

    /// Encodes a display-linear Rec.709 color, relative to paper white.
    #[must_use]
    pub fn codes(self, linear: Vec3, range: DisplayRange) -> Vec3 {
        match self {
            Self::Srgb => linear.map(|x| color::srgb_oetf(f64::from(x.clamp(0.0, 1.0))) as f32),
            Self::ScRgb => linear * (range.paper_white().get() / SCRGB_WHITE.get()) as f32,
            Self::Hdr10 => (REC709_TO_REC2020 * linear)
                .map(|x| pq::encode(Nit(f64::from(x) * range.paper_white().get())) as f32),
        }
    }
}

/// Luminance range of a display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisplayRange {
    paper_white: Nit,
    peak: Nit,
}

impl Default for DisplayRange {
    /// Paper at 203 nit (ITU-R BT.2408-7, section 2.2), the peak at 1000 nit.
    fn default() -> Self {
        Self { paper_white: Nit(203.0), peak: Nit(1000.0) }
    }
}

impl DisplayRange {
    /// Valid range of paper white in nits.
    pub const PAPER_WHITES: [f64; 2] = [40.0, 1000.0];
    /// Valid range of the peak in nits.
    pub const PEAKS: [f64; 2] = [40.0, 10_000.0];

    /// From paper white and peak; `None` if either is out of range. A peak below paper white counts
    /// as paper white.
    #[must_use]
    pub fn new(paper_white: Nit, peak: Nit) -> Option<Self> {
        let within = |value: Nit, [low, high]: [f64; 2]| (low..=high).contains(&value.get());
        let fits = within(paper_white, Self::PAPER_WHITES) && within(peak, Self::PEAKS);
        fits.then_some(Self { paper_white, peak })
    }

    /// The luminance of white in the interface and of a tone mapper's white.
    #[must_use]
    pub fn paper_white(self) -> Nit {
        self.paper_white
    }

    /// The greatest luminance.
    #[must_use]
    pub fn peak(self) -> Nit {
        self.peak
    }

    /// Peak over paper white, at least 1.
    #[must_use]
    pub fn headroom(self) -> f32 {
        (self.peak.get() / self.paper_white.get()).max(1.0) as f32
    }
}

/// Gain of a tone mapped color whose largest exposed channel is `most`: 1 up to sensor saturation
/// (1), and `headroom` far beyond it.
///
/// A curve of this renderer. With `u = most - 1` and `e = u^2 / (1 + u)`, `1 + (h - 1) (1 - exp(-e
/// / (h - 1)))`: it starts at 1 with slope 0, is linear in the light while small against the
/// headroom, and rolls off to the headroom.
#[must_use]
pub fn highlight_gain(most: f32, headroom: f32) -> f32 {
    let (u, room) = ((most - 1.0).max(0.0), headroom - 1.0);
    if room <= 0.0 {
        return 1.0;
    }
    1.0 + room * (1.0 - (-(u * u / (1.0 + u)) / room).exp())
}

/// Maps an exposed scene-linear Rec.709 color to display-linear Rec.709 relative to paper white,
/// each channel in 0 to `headroom`.
///
/// Up to sensor saturation it equals the mapper's output; brighter light is scaled by
/// [`highlight_gain`].
#[must_use]
pub fn tone_map_hdr(mapper: ToneMapper, exposed: Vec3, headroom: f32) -> Vec3 {
    mapper.apply(exposed) * highlight_gain(tonemap::sanitize(exposed).max_element(), headroom)
}

#[cfg(test)]
mod tests {
    use glam::vec3;

    use super::*;

    #[test]
    fn white_and_colors_have_the_codes_of_the_standards() {
        let range = DisplayRange::default();
        let white = DisplayEncoding::Hdr10.codes(Vec3::ONE, range);
        assert!((white - Vec3::splat(0.5807)).abs().max_element() < 1e-4, "{white}");
        assert!(
            (DisplayEncoding::ScRgb.codes(Vec3::ONE, range) - Vec3::splat(203.0 / 80.0))
                .abs()
                .max_element()
                < 1e-6
        );
        assert_eq!(DisplayEncoding::Srgb.codes(Vec3::splat(3.0), range), Vec3::ONE);
        // ITU-R BT.2087-0: red of Rec.709 is 0.6274, 0.0691, 0.0164 in Rec.2020.
        let hundred = DisplayRange::new(Nit(100.0), Nit(1000.0)).unwrap();
        let red = DisplayEncoding::Hdr10.codes(Vec3::X, hundred);
        for (code, part) in red.to_array().into_iter().zip([0.6274, 0.0691, 0.0164]) {
            let nits = pq::decode(f64::from(code)).get();
            assert!((nits - part * 100.0).abs() < 0.01, "{nits}");
        }
        assert!(DisplayEncoding::Hdr10.codes(vec3(f32::NAN, -1.0, 1e9), range).is_finite());
    }

    #[test]
    fn sdr_is_unchanged_and_highlights_reach_peak() {
        let headroom = DisplayRange::default().headroom();
        assert!((headroom - 1000.0 / 203.0).abs() < 1e-6);
        for mapper in ToneMapper::ALL {
            for exposed in [
                vec3(0.104, 0.104, 0.104),
                vec3(1.0, 0.3, 0.0),
                Vec3::ONE,
                vec3(f32::NAN, -1.0, 0.5),
            ] {
                assert_eq!(
                    tone_map_hdr(mapper, exposed, headroom),
                    mapper.apply(exposed),
                    "{mapper:?}"
                );
            }
            let brightest = tone_map_hdr(mapper, Vec3::splat(65504.0), headroom).max_element();
            // The fit of AgX ends at 0.997, that of ACES at 1.
            assert!(
                brightest <= headroom && brightest > headroom * 0.99,
                "{mapper:?}: {brightest}"
            );
            // Without room it is the mapper alone.
            assert_eq!(tone_map_hdr(mapper, Vec3::splat(9.0), 1.0), mapper.apply(Vec3::splat(9.0)));
        }
    }

    #[test]
    fn grays_rise_without_a_kink() {
        let headroom = 1000.0 / 203.0;
        for mapper in ToneMapper::ALL {
            let mut last = -1.0;
            for step in 0..400 {
                let x = ((step as f32) * 0.05 - 10.0).exp2();
                let out = tone_map_hdr(mapper, Vec3::splat(x), headroom).y;
                assert!(out >= last - 1e-5, "{mapper:?} falls at {x}: {out} after {last}");
                last = out;
            }
        }
        let slope =
            |x: f32| (highlight_gain(x + 1e-3, headroom) - highlight_gain(x, headroom)) / 1e-3;
        assert!(slope(0.9).abs() < 1e-3 && slope(1.0) < 5e-3);
        assert!((1..4000).all(|i| highlight_gain(i as f32 * 0.01, headroom) <= headroom));
    }

    #[test]
    fn ranges_are_those_of_displays() {
        assert!(DisplayRange::new(Nit(203.0), Nit(20_000.0)).is_none());
        assert!(DisplayRange::new(Nit(0.0), Nit(1000.0)).is_none());
        assert!(DisplayRange::new(Nit(f64::NAN), Nit(1000.0)).is_none());
        assert_eq!(DisplayRange::new(Nit(500.0), Nit(400.0)).unwrap().headroom(), 1.0);
    }
}
