//! Reflected-light metering of pictures in nits, and automatic exposure with adaptation over time.

use super::exposure::{Exposure, ExposureError};
use crate::photometry::{Ev100, Nit};

/// Error of metering or automatic exposure. Each message states a remedy.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MeterError {
    /// No pixel under the meter is finite and above 0.
    #[error(
        "there is no light under the meter; light the scene, meter elsewhere or set the exposure by hand"
    )]
    Dark,
    /// The picture's extents do not fit its pixels.
    #[error(
        "a picture of {width} x {height} pixels has {pixels} values; expected width times height"
    )]
    Extents {
        /// Width in pixels.
        width: usize,
        /// Height in pixels.
        height: usize,
        /// Number of values.
        pixels: usize,
    },
    /// A setting is out of range.
    #[error("{what} is {value}; it must be {allowed}")]
    Setting {
        /// Name of the setting.
        what: &'static str,
        /// The invalid value.
        value: f64,
        /// The valid range.
        allowed: &'static str,
    },
    /// The reading is outside the range of exposures.
    #[error(transparent)]
    Exposure(#[from] ExposureError),
}

/// Mode of a reflected-light meter.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", tag = "mode")]
pub enum MeterMode {
    /// A disk; its mean luminance is what a spot meter reads.
    Spot {
        /// Center of the disk, as fractions of width and height from the upper left corner, 0 to 1.
        center: [f64; 2],
        /// Radius as a fraction of the height, above 0: 0.018 for a 1 degree meter on a 50 mm lens.
        radius: f64,
    },
    /// The mean luminance, weighted by a Gaussian around the middle whose standard deviation is a
    /// quarter of the height.
    CenterWeighted,
    /// Center-weighted mean of the exposure values of 5x5 zones, clamped to `MATRIX_LIMIT` stops
    /// from their median. See [`meter`].
    #[default]
    Matrix,
    /// The mean luminance of the whole picture.
    Average,
    /// The mean exposure value of all pixels that are not black: a light source in the picture does
    /// not outweigh the rest.
    LogAverage,
}

/// Clamp of a matrix metering zone around the median, in stops: about the range of a transparency
/// film.
pub const MATRIX_LIMIT: f64 = 3.0;

const MATRIX: usize = 5;

/// The luminance that a reflected-light meter reads from a picture of luminances in nits, top row
/// first.
///
/// Negative and non-finite pixels are excluded. Spot, center-weighted and average readings are
/// arithmetic means, as of a photocell (ISO 2720:1974); log-average is the mean in stops. Matrix
/// metering takes the mean luminance of each of 5 x 5 zones as an exposure value. Values are
/// clamped to `MATRIX_LIMIT` from the median, so that neither the sun nor a black doorway decides.
/// The weights are 4 for the middle zone, 2 for its eight neighbors and 1 for the rest.
///
/// # Errors
/// Extents that do not fit; a spot with a radius that is not above 0; no light.
pub fn meter(
    luminance: &[f32],
    width: usize,
    height: usize,
    mode: MeterMode,
) -> Result<Nit, MeterError> {
    if width.checked_mul(height) != Some(luminance.len()) {
        return Err(MeterError::Extents { width, height, pixels: luminance.len() });
    }
    if let MeterMode::Spot { radius, center: [x, y] } = mode {
        let what = "the spot's radius, a part of the picture's height,";
        if !(radius > 0.0 && radius.is_finite()) {
            return Err(MeterError::Setting { what, value: radius, allowed: "above 0" });
        }
        for value in [x, y] {
            if !(0.0..=1.0).contains(&value) {
                return Err(MeterError::Setting {
                    what: "the spot's place",
                    value,
                    allowed: "0 to 1",
                });
            }
        }
    }
    let aspect = width as f64 / height.max(1) as f64;
    // Positions relative to the center, in picture heights.
    let place = |i: usize| {
        let (column, row) = (i % width, i / width);
        [
            ((column as f64 + 0.5) / width as f64 - 0.5) * aspect,
            (row as f64 + 0.5) / height as f64 - 0.5,
        ]
    };
    let lit = || {
        luminance
            .iter()
            .enumerate()
            .filter(|(_, l)| l.is_finite() && **l >= 0.0)
            .map(|(i, &l)| (i, f64::from(l)))
    };
    let mean = |weight: &dyn Fn(usize) -> f64| {
        let (sum, weights) = lit().fold((0.0, 0.0), |(sum, weights), (i, l)| {
            let w = weight(i);
            (sum + w * l, weights + w)
        });
        if sum > 0.0 && weights > 0.0 { Ok(Nit(sum / weights)) } else { Err(MeterError::Dark) }
    };
    match mode {
        MeterMode::Average => mean(&|_| 1.0),
        MeterMode::LogAverage => {
            let (sum, count) = lit()
                .filter(|(_, l)| *l > 0.0)
                .fold((0.0, 0.0), |(sum, count), (_, l)| (sum + l.log2(), count + 1.0));
            if count > 0.0 { Ok(Nit((sum / count).exp2())) } else { Err(MeterError::Dark) }
        }
        MeterMode::CenterWeighted => mean(&|i| {
            let [x, y] = place(i);
            (-(x * x + y * y) / (2.0 * 0.25 * 0.25)).exp()
        }),
        MeterMode::Spot { center, radius } => {
            let [cx, cy] = [(center[0] - 0.5) * aspect, center[1] - 0.5];
            // A disk smaller than a pixel reads the pixel at its center.
            let under = ((center[0] * width as f64) as usize).min(width.saturating_sub(1))
                + ((center[1] * height as f64) as usize).min(height.saturating_sub(1)) * width;
            mean(&|i| {
                let [x, y] = place(i);
                if i == under || (x - cx).hypot(y - cy) <= radius { 1.0 } else { 0.0 }
            })
        }
        MeterMode::Matrix => {
            let mut zones = [(0.0, 0.0); MATRIX * MATRIX];
            for (i, l) in lit() {
                let (column, row) = (i % width * MATRIX / width, i / width * MATRIX / height);
                if let Some(zone) = zones.get_mut(row * MATRIX + column) {
                    *zone = (zone.0 + l, zone.1 + 1.0);
                }
            }
            let weight = |zone: usize| {
                let ring =
                    (zone % MATRIX).abs_diff(MATRIX / 2).max((zone / MATRIX).abs_diff(MATRIX / 2));
                [4.0, 2.0, 1.0].get(ring).copied().unwrap_or(1.0)
            };
            let stops: Vec<(f64, f64)> = zones
                .iter()
                .enumerate()
                .filter(|(_, (sum, count))| *sum > 0.0 && *count > 0.0)
                .map(|(i, (sum, count))| ((sum / count).log2(), weight(i)))
                .collect();
            let mut sorted: Vec<f64> = stops.iter().map(|&(stop, _)| stop).collect();
            sorted.sort_by(f64::total_cmp);
            let median = *sorted.get(sorted.len() / 2).ok_or(MeterError::Dark)?;
            let (sum, weights) = stops.iter().fold((0.0, 0.0), |(sum, weights), &(stop, w)| {
                (sum + w * stop.clamp(median - MATRIX_LIMIT, median + MATRIX_LIMIT), weights + w)
            });
            Ok(Nit((sum / weights).exp2()))
        }
    }
}

/// The zone of a luminance under an exposure (Adams, "The Negative", 1981, chapter 4): V is the
/// metered luminance, each zone is a stop; negative infinity for a luminance of 0.
#[must_use]
pub fn zone(luminance: Nit, exposure: Exposure) -> f64 {
    5.0 + (luminance.0.max(0.0) / exposure.metered_luminance().0).log2()
}

/// Stops by which a camera's picture is brighter (above 0) or darker than metered; `None` within
/// `tolerance` stops.
#[must_use]
pub fn exposure_error(camera: Exposure, metered: Exposure, tolerance: f64) -> Option<f64> {
    let stops = camera.stops_above(metered);
    (stops.abs() > tolerance).then_some(stops)
}

/// A histogram of luminance in exposure values (EV100 of a metered luminance), with bins of equal
/// width.
#[derive(Clone, Debug, PartialEq)]
pub struct EvHistogram {
    least: f64,
    most: f64,
    counts: Vec<f64>,
}

impl EvHistogram {
    /// An empty histogram of `bins` bins (1 to 65 536) from `least` to `most` EV100.
    ///
    /// # Errors
    /// Bounds that are not finite or do not rise, or a number of bins out of range.
    pub fn new(least: Ev100, most: Ev100, bins: usize) -> Result<Self, MeterError> {
        let (least, most) = (least.0, most.0);
        if !(least.is_finite() && most.is_finite() && least < most) {
            let what = "the histogram's maximum EV";
            return Err(MeterError::Setting {
                what,
                value: most,
                allowed: "finite and above its minimum",
            });
        }
        if !(1..=65_536).contains(&bins) {
            let what = "the histogram's number of bins";
            return Err(MeterError::Setting { what, value: bins as f64, allowed: "1 to 65536" });
        }
        Ok(Self { least, most, counts: vec![0.0; bins] })
    }

    /// From counts of the GPU, bin by bin; negative or non-finite counts become 0.
    ///
    /// # Errors
    /// As `new`.
    pub fn from_counts(least: Ev100, most: Ev100, counts: &[f64]) -> Result<Self, MeterError> {
        let mut histogram = Self::new(least, most, counts.len())?;
        for (to, &from) in histogram.counts.iter_mut().zip(counts) {
            *to = if from.is_finite() && from > 0.0 { from } else { 0.0 };
        }
        Ok(histogram)
    }

    /// Adds a luminance with a weight. Values beyond the ends go to the end bins; a luminance or
    /// weight that is not finite and above 0 is ignored.
    pub fn add(&mut self, luminance: Nit, weight: f64) {
        let possible = luminance.0 > 0.0 && weight > 0.0 && weight.is_finite();
        let Ok(exposure) = Exposure::from_luminance(luminance) else { return };
        let part = (exposure.ev100().0 - self.least) / (self.most - self.least);
        // A negative part becomes bin 0 in the cast.
        let bin = ((part * self.counts.len() as f64) as usize).min(self.counts.len() - 1);
        if let (true, Some(count)) = (possible, self.counts.get_mut(bin)) {
            *count += weight;
        }
    }

    /// The counts, darkest bin first.
    #[must_use]
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// The exposure value in the middle of a bin.
    #[must_use]
    pub fn middle(&self, bin: usize) -> Ev100 {
        Ev100(self.least + (self.most - self.least) * (bin as f64 + 0.5) / self.counts.len() as f64)
    }

    /// The mean exposure value between two percentiles as fractions (0 to 1, rising): 0.1 and 0.9
    /// exclude a tenth at each end. Bins at the edges count in part.
    ///
    /// # Errors
    /// Parts that do not rise within 0 to 1, or an empty histogram.
    pub fn trimmed_mean(&self, low: f64, high: f64) -> Result<Ev100, MeterError> {
        if !(low >= 0.0 && low < high && high <= 1.0) {
            let what = "the percentile to which the histogram is read";
            return Err(MeterError::Setting {
                what,
                value: high,
                allowed: "above the lower one, both within 0 to 1",
            });
        }
        let total: f64 = self.counts.iter().sum();
        let (from, to) = (total * low, total * high);
        let (mut below, mut sum, mut weights) = (0.0_f64, 0.0, 0.0);
        for (bin, &count) in self.counts.iter().enumerate() {
            let inside = ((below + count).min(to) - below.max(from)).max(0.0);
            sum += inside * self.middle(bin).0;
            weights += inside;
            below += count;
        }
        if weights > 0.0 { Ok(Ev100(sum / weights)) } else { Err(MeterError::Dark) }
    }
}

/// Automatic exposure from the histogram of the scene's luminance.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AutoExposure {
    /// Lower percentile as a fraction, 0 to 1: darker pixels are excluded.
    pub low_percentile: f64,
    /// Upper percentile as a fraction, above `low_percentile`, up to 1: brighter pixels are
    /// excluded.
    pub high_percentile: f64,
    /// Compensation in stops; positive is a brighter picture.
    pub compensation: f64,
    /// Minimum and maximum exposure value.
    pub range: [Ev100; 2],
    /// Time constant (s) of adaptation to a brighter scene, at least 0; 0 is instant.
    pub brighter_s: f64,
    /// Time constant (s) of adaptation to a darker scene, at least 0; 0 is instant. Eyes adapt to
    /// the dark more slowly.
    pub darker_s: f64,
}

impl Default for AutoExposure {
    /// The middle 80 % of the picture, EV100 -6 to 20, 0.3 s to brighter and 1 s to darker scenes.
    fn default() -> Self {
        Self {
            low_percentile: 0.1,
            high_percentile: 0.9,
            compensation: 0.0,
            range: [Ev100(-6.0), Ev100(20.0)],
            brighter_s: 0.3,
            darker_s: 1.0,
        }
    }
}

impl AutoExposure {
    /// The fully adapted exposure for a histogram, with compensation, clamped to the range.
    ///
    /// # Errors
    /// An empty histogram, or settings that are out of range.
    pub fn target(&self, histogram: &EvHistogram) -> Result<Exposure, MeterError> {
        let [least, most] = self.range;
        if least.0.is_nan() || most.0.is_nan() || least.0 > most.0 {
            let what = "the minimum EV of automatic exposure";
            return Err(MeterError::Setting {
                what,
                value: least.0,
                allowed: "at most its maximum EV",
            });
        }
        let metered = Exposure::from_ev100(
            histogram.trimmed_mean(self.low_percentile, self.high_percentile)?,
        )?;
        let wanted = metered.compensated(self.compensation)?.ev100().0;
        Ok(Exposure::from_ev100(Ev100(wanted.clamp(least.0, most.0)))?)
    }

    /// The exposure `seconds` after `current`, for a scene with this histogram. A black scene keeps
    /// the exposure.
    ///
    /// # Errors
    /// Settings that are out of range.
    pub fn adapt_to_histogram(
        &self,
        current: Exposure,
        histogram: &EvHistogram,
        seconds: f64,
    ) -> Result<Exposure, MeterError> {
        match self.target(histogram) {
            Ok(target) => Ok(self.adapt(current, target, seconds)),
            Err(MeterError::Dark) => Ok(current),
            Err(error) => Err(error),
        }
    }

    /// One step of adaptation from `current` towards `target`: the exposure `seconds` later.
    ///
    /// Exponential in stops, `EV + (target - EV)(1 - exp(-dt / tau))`, so that it does not depend
    /// on the frame rate (Pattanaik et al., "Time-dependent visual adaptation for fast realistic
    /// image display", SIGGRAPH 2000, in stops rather than in luminance). Negative or non-finite
    /// times and constants count as 0.
    #[must_use]
    pub fn adapt(&self, current: Exposure, target: Exposure, seconds: f64) -> Exposure {
        let (from, to) = (current.ev100().0, target.ev100().0);
        let tau = if to > from { self.brighter_s } else { self.darker_s };
        let seconds = if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
        let part = if tau > 0.0 && tau.is_finite() { -(-seconds / tau).exp_m1() } else { 1.0 };
        // Between two valid exposure values, hence valid.
        Exposure::from_ev100(Ev100(from + (to - from) * part)).unwrap_or(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::near;

    const ALL: [MeterMode; 5] = [
        MeterMode::Average,
        MeterMode::LogAverage,
        MeterMode::CenterWeighted,
        MeterMode::Matrix,
        MeterMode::Spot { center: [0.5, 0.5], radius: 0.05 },
    ];

    #[test]
    fn an_even_field_reads_the_same_in_all_modes() {
        for mode in ALL {
            near(meter(&[4096.0; 30 * 20], 30, 20, mode).unwrap().0, 4096.0, 1e-6);
            near(meter(&[7.0], 1, 1, mode).unwrap().0, 7.0, 1e-9);
        }
    }

    #[test]
    fn modes_look_where_they_say() {
        let (w, h) = (60, 40);
        // 1 nit with a middle of 100 nit, and a sun in the corner.
        let mut picture = vec![1.0_f32; w * h];
        for y in 16..24 {
            for x in 26..34 {
                picture[y * w + x] = 100.0;
            }
        }
        picture[0] = 1.6e9;
        picture[1] = f32::NAN;
        picture[2] = f32::INFINITY;
        picture[3] = -5.0;
        let read = |mode| meter(&picture, w, h, mode).unwrap().0;
        near(read(MeterMode::Spot { center: [0.5, 0.5], radius: 0.05 }), 100.0, 1e-6);
        near(read(MeterMode::Spot { center: [0.9, 0.9], radius: 1e-6 }), 1.0, 1e-6);
        assert!(read(MeterMode::Average) > 1e5);
        // 64 pixels of 100 nit and the sun among 2397 that are lit.
        let stops = (64.0 * 100.0_f64.log2() + 1.6e9_f64.log2()) / 2397.0;
        near(read(MeterMode::LogAverage), stops.exp2(), 1e-6);
        // The sun counts for no more than MATRIX_LIMIT stops in one of the outer zones.
        let matrix = read(MeterMode::Matrix).log2();
        let without = {
            picture[0] = 1.0;
            meter(&picture, w, h, MeterMode::Matrix).unwrap().0.log2()
        };
        near(matrix - without, MATRIX_LIMIT / (4.0 + 16.0 + 16.0), 1e-3);
        let center = meter(&picture, w, h, MeterMode::CenterWeighted).unwrap().0;
        assert!(center > meter(&picture, w, h, MeterMode::Average).unwrap().0 && center < 100.0);
    }

    #[test]
    fn dark_or_broken_pictures_are_errors() {
        for mode in ALL {
            assert_eq!(meter(&[0.0; 6], 3, 2, mode), Err(MeterError::Dark));
            assert_eq!(meter(&[f32::NAN; 6], 3, 2, mode), Err(MeterError::Dark));
            assert_eq!(meter(&[], 0, 0, mode), Err(MeterError::Dark));
            assert!(matches!(meter(&[1.0; 6], 3, 3, mode), Err(MeterError::Extents { .. })));
        }
        for (center, radius) in
            [([0.5, 0.5], 0.0), ([0.5, 0.5], f64::NAN), ([1.5, 0.5], 0.1), ([f64::NAN, 0.5], 0.1)]
        {
            let mode = MeterMode::Spot { center, radius };
            assert!(matches!(meter(&[1.0; 6], 3, 2, mode), Err(MeterError::Setting { .. })));
        }
    }

    #[test]
    fn zones_and_needle() {
        let ev15 = Exposure::from_ev100(Ev100(15.0)).unwrap();
        near(zone(Nit(4096.0), ev15), 5.0, 1e-12);
        near(zone(Nit(8192.0), ev15), 6.0, 1e-12);
        let darker = Exposure::from_ev100(Ev100(16.0)).unwrap();
        assert_eq!(exposure_error(darker, ev15, 0.5), Some(-1.0));
        assert_eq!(exposure_error(ev15, ev15, 0.5), None);
    }

    fn histogram(parts: &[(f64, f64)]) -> EvHistogram {
        let mut h = EvHistogram::new(Ev100(-10.0), Ev100(22.0), 320).unwrap();
        for &(ev, weight) in parts {
            h.add(Exposure::from_ev100(Ev100(ev)).unwrap().metered_luminance(), weight);
        }
        h
    }

    #[test]
    fn the_trimmed_mean_leaves_out_the_ends() {
        // Bins are a tenth of a stop wide, so readings are within half of that.
        let h = histogram(&[(5.05, 80.0), (20.0, 10.0), (-8.0, 10.0)]);
        near(h.trimmed_mean(0.1, 0.9).unwrap().0, 5.05, 1e-9);
        near(
            h.trimmed_mean(0.0, 1.0).unwrap().0,
            (80.0 * 5.05 + 10.0 * 20.05 - 10.0 * 7.95) / 100.0,
            0.02,
        );
        assert_eq!(histogram(&[]).trimmed_mean(0.1, 0.9), Err(MeterError::Dark));
        let mut odd = histogram(&[]);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            odd.add(Nit(bad), 1.0);
            odd.add(Nit(1.0), bad);
        }
        assert!(odd.counts().iter().all(|&c| c == 0.0));
        // Beyond the ends.
        odd.add(Nit(1e-9), 1.0);
        odd.add(Nit(1e9), 2.0);
        assert_eq!((odd.counts()[0], odd.counts()[319]), (1.0, 2.0));
        let same = EvHistogram::from_counts(Ev100(-10.0), Ev100(22.0), odd.counts()).unwrap();
        assert_eq!(same, odd);
        for (low, high) in [(0.5, 0.5), (-0.1, 0.9), (0.1, 1.1), (f64::NAN, 0.9)] {
            assert!(matches!(odd.trimmed_mean(low, high), Err(MeterError::Setting { .. })));
        }
        assert!(EvHistogram::new(Ev100(1.0), Ev100(1.0), 10).is_err());
        assert!(EvHistogram::new(Ev100(0.0), Ev100(1.0), 0).is_err());
    }

    #[test]
    fn automatic_exposure_adapts_alike_at_any_frame_rate() {
        let auto = AutoExposure { compensation: 1.0, ..AutoExposure::default() };
        near(auto.target(&histogram(&[(9.05, 1.0)])).unwrap().ev100().0, 8.05, 1e-9);
        near(auto.target(&histogram(&[(-9.95, 1.0)])).unwrap().ev100().0, -6.0, 1e-9);
        let ev = |x| Exposure::from_ev100(Ev100(x)).unwrap();
        near(auto.adapt(ev(4.0), ev(12.0), 0.3).ev100().0, 12.0 - 8.0 / std::f64::consts::E, 1e-12);
        near(auto.adapt(ev(12.0), ev(4.0), 1.0).ev100().0, 4.0 + 8.0 / std::f64::consts::E, 1e-12);
        let (mut fine, coarse) = (ev(4.0), auto.adapt(ev(4.0), ev(12.0), 0.5));
        for _ in 0..100 {
            fine = auto.adapt(fine, ev(12.0), 0.005);
        }
        near(fine.ev100().0, coarse.ev100().0, 1e-9);
        for odd in [0.0, -1.0, f64::NAN] {
            assert_eq!(auto.adapt(ev(4.0), ev(12.0), odd), ev(4.0));
            let at_once = AutoExposure { brighter_s: odd, ..auto };
            assert_eq!(at_once.adapt(ev(4.0), ev(12.0), 0.1), ev(12.0));
        }
    }
}
