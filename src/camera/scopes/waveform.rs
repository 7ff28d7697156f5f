//! Waveforms and histograms: pixel counts by exposure value, per column and in total.

use super::{
    font,
    labels::short,
    luminances::{Luminances, ev_of, luminance_of},
    raster::{Raster, Rgb},
};
use crate::{
    camera::{
        Exposure,
        metering::{EvHistogram, MeterError},
    },
    photometry::{Ev100, Nit},
};

const PAPER: Rgb = [12, 12, 12];
const LINES: Rgb = [52, 52, 52];
const INK: Rgb = [200, 200, 200];
const GRAY_LINE: Rgb = [60, 160, 80];

/// Exposure value range of a scope, in bins of equal width.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EvRange {
    min: f64,
    max: f64,
    bins: usize,
}

impl EvRange {
    /// `bins` bins (1 to 4096) from `min` to `max`.
    ///
    /// # Errors
    /// Ends that are not finite or do not rise, or a number of bins out of range.
    pub fn new(min: Ev100, max: Ev100, bins: usize) -> Result<Self, MeterError> {
        let (min, max) = (min.0, max.0);
        if !(min.is_finite() && max.is_finite() && min < max) {
            let what = "the scope's maximum EV";
            return Err(MeterError::Setting {
                what,
                value: max,
                allowed: "finite and above its minimum",
            });
        }
        if !(1..=4096).contains(&bins) {
            let what = "the scope's number of bins";
            return Err(MeterError::Setting { what, value: bins as f64, allowed: "1 to 4096" });
        }
        Ok(Self { min, max, bins })
    }

    /// From ten stops below an exposure's gray to eight above it, sixteen bins a stop.
    #[must_use]
    pub fn centered_on(exposure: Exposure) -> Self {
        let gray = exposure.ev100().0.round();
        Self { min: gray - 10.0, max: gray + 8.0, bins: 288 }
    }

    /// The bin of a luminance in nits. Values beyond the ends go to the end bins, black and NaN to
    /// the first.
    #[must_use]
    pub fn bin(&self, nits: f64) -> usize {
        if nits == f64::INFINITY {
            return self.bins - 1;
        }
        // A negative place becomes 0 in the cast.
        let place = |ev: f64| ((ev - self.min) / (self.max - self.min) * self.bins as f64) as usize;
        ev_of(nits).map_or(0, place).min(self.bins - 1)
    }

    /// Stops a bin.
    #[must_use]
    pub fn step(&self) -> f64 {
        (self.max - self.min) / self.bins as f64
    }

    /// Whole exposure values at every second stop.
    fn marks(&self) -> impl Iterator<Item = i64> {
        (self.min.ceil() as i64..=self.max.floor() as i64).filter(|ev| ev % 2 == 0)
    }
}

/// Pixel counts by column and bin.
#[derive(Clone, Debug, PartialEq)]
pub struct Waveform {
    range: EvRange,
    columns: usize,
    counts: Vec<u32>,
}

impl Waveform {
    /// Waveform of luminances with `columns` columns, clamped to 1 to the picture's width. The
    /// counts sum to the number of pixels.
    #[must_use]
    pub fn new(picture: Luminances<'_>, range: EvRange, columns: usize) -> Self {
        let columns = columns.clamp(1, picture.width);
        let mut counts = vec![0u32; columns * range.bins];
        for (index, &nits) in picture.nits.iter().enumerate() {
            let column = index % picture.width * columns / picture.width;
            if let Some(count) = counts.get_mut(column * range.bins + range.bin(f64::from(nits))) {
                *count += 1;
            }
        }
        Self { range, columns, counts }
    }

    /// RGB parade: one waveform per channel of a picture in nits.
    ///
    /// # Errors
    /// A size that does not fit the pixels.
    pub fn parade(
        pixels: &[[f32; 3]],
        width: usize,
        height: usize,
        range: EvRange,
        columns: usize,
    ) -> Result<[Self; 3], MeterError> {
        let channel = |index: usize| -> Result<Self, MeterError> {
            let values: Vec<f32> = pixels.iter().map(|pixel| pixel[index]).collect();
            Ok(Self::new(Luminances::new(&values, width, height)?, range, columns))
        };
        Ok([channel(0)?, channel(1)?, channel(2)?])
    }

    /// Columns.
    #[must_use]
    pub const fn columns(&self) -> usize {
        self.columns
    }

    /// The counts of a column, darkest bin first; empty for a column out of range.
    #[must_use]
    pub fn column(&self, column: usize) -> &[u32] {
        let start = column.saturating_mul(self.range.bins);
        self.counts.get(start..start + self.range.bins).unwrap_or_default()
    }

    /// Draws waveforms side by side, with exposure values on the left, nits on the right, and a
    /// line at the exposure's gray. Each takes as many pixels across as it has columns and one
    /// pixel down for each bin.
    #[must_use]
    pub fn draw(parts: &[(&Self, Rgb)], exposure: Exposure) -> Raster {
        let Some((first, _)) = parts.first() else { return Raster::new(1, 1, PAPER) };
        let gap = 6;
        let columns: usize = parts.iter().map(|(part, _)| part.columns + gap).sum::<usize>() - gap;
        let frame = Frame::new(first.range, columns);
        let mut raster = frame.paper(exposure, true);
        let mut x = frame.left;
        for (part, color) in parts {
            for column in 0..part.columns {
                let counts = part.column(column);
                let pixels: u32 = counts.iter().sum();
                for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                    // An eighth of a column's pixels in one bin gives full brightness; a single
                    // pixel is still visible.
                    let share = (f64::from(count) / f64::from(pixels.max(1)) * 8.0).min(1.0).sqrt();
                    let part = 0.3 + 0.7 * share;
                    let y = frame.top + first.range.bins - 1 - bin.min(first.range.bins - 1);
                    raster.set(x + column, y, color.map(|c| (f64::from(c) * part) as u8));
                }
            }
            x += part.columns + gap;
        }
        raster
    }
}

/// The axes of a scope whose exposure values run upwards.
struct Frame {
    range: EvRange,
    columns: usize,
    left: usize,
    top: usize,
}

impl Frame {
    fn new(range: EvRange, columns: usize) -> Self {
        Self { range, columns, left: 6 * font::ADVANCE, top: font::HEIGHT + 8 }
    }

    fn paper(&self, exposure: Exposure, nits: bool) -> Raster {
        let right = if nits { 8 * font::ADVANCE } else { font::ADVANCE };
        let height = self.top + self.range.bins + font::HEIGHT;
        let mut raster = Raster::new(self.left + self.columns + right, height, PAPER);
        let y_of = |ev: f64| {
            let part = (self.range.max - ev) / (self.range.max - self.range.min);
            self.top + ((part * self.range.bins as f64) as usize).min(self.range.bins - 1)
        };
        raster.text([self.left - 4 * font::ADVANCE, 2], 1, "EV", INK);
        raster.text([self.left + self.columns + 6, 2], 1, "NIT", INK);
        for ev in self.range.marks() {
            let y = y_of(ev as f64);
            raster.fill([self.left, y], [self.columns, 1], LINES);
            raster.text([4, y.saturating_sub(3)], 1, &format!("{ev:>4}"), INK);
            let label = short(luminance_of(Ev100(ev as f64)).0);
            raster.text([self.left + self.columns + 6, y.saturating_sub(3)], 1, &label, INK);
        }
        let gray = exposure.ev100().0;
        if gray > self.range.min && gray < self.range.max {
            raster.fill([self.left, y_of(gray)], [self.columns, 1], GRAY_LINE);
            raster.text([self.left + 2, 2], 1, &format!("GRAY AT EV {gray:.2}"), GRAY_LINE);
        }
        raster
    }
}

/// The histogram of a picture, and its number of black pixels, which are in no bin.
///
/// # Errors
/// [`MeterError::Setting`] for an invalid range.
pub fn histogram(
    picture: Luminances<'_>,
    range: EvRange,
) -> Result<(EvHistogram, usize), MeterError> {
    let mut counts = vec![0.0; range.bins];
    let mut black = 0;
    for &nits in picture.nits {
        if nits > 0.0 {
            if let Some(count) = counts.get_mut(range.bin(f64::from(nits))) {
                *count += 1.0;
            }
        } else {
            black += 1;
        }
    }
    Ok((EvHistogram::from_counts(Ev100(range.min), Ev100(range.max), &counts)?, black))
}

/// Draws a histogram: exposure values from left to right, four pixels a bin of a quarter stop or
/// so, the tallest bin to the top, a line at the exposure's gray.
#[must_use]
pub fn draw_histogram(histogram: &EvHistogram, exposure: Exposure) -> Raster {
    let counts = histogram.counts();
    let bar = (576 / counts.len().max(1)).clamp(1, 16);
    let (left, top, height) = (24, font::HEIGHT + 8, 160);
    let width = counts.len() * bar;
    let mut raster = Raster::new(
        width + 2 * left + 4 * font::ADVANCE,
        top + height + 2 * font::HEIGHT + 14,
        PAPER,
    );
    let (first, last) = (histogram.middle(0).0, histogram.middle(counts.len().saturating_sub(1)).0);
    let half =
        if counts.len() > 1 { (last - first) / (counts.len() - 1) as f64 / 2.0 } else { 0.5 };
    let (min, max) = (first - half, last + half);
    let x_of = |ev: f64| {
        left + ((ev - min) / (max - min) * width as f64).clamp(0.0, width as f64) as usize
    };
    let tallest = counts.iter().copied().fold(0.0, f64::max);
    for ev in (min.ceil() as i64..=max.floor() as i64).filter(|ev| ev % 2 == 0) {
        let x = x_of(ev as f64);
        raster.fill([x, top], [1, height], LINES);
        let label = ev.to_string();
        let start = x.saturating_sub(font::text_width(&label) / 2);
        raster.text([start, top + height + 4], 1, &label, INK);
        if ev % 4 == 0 {
            let label = short(luminance_of(Ev100(ev as f64)).0);
            let start = x.saturating_sub(font::text_width(&label) / 2);
            raster.text([start, top + height + font::HEIGHT + 8], 1, &label, INK);
        }
    }
    raster.text([left + width + 8, top + height + 4], 1, "EV", INK);
    raster.text([left + width + 8, top + height + font::HEIGHT + 8], 1, "NIT", INK);
    for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0.0) {
        // Every bin that is not empty is visible.
        let tall = ((count / tallest * height as f64) as usize).max(1);
        raster.fill([left + bin * bar, top + height - tall], [bar, tall], INK);
    }
    let gray = exposure.ev100().0;
    if gray > min && gray < max {
        raster.fill([x_of(gray), top], [1, height], GRAY_LINE);
        raster.text([left, 2], 1, &format!("GRAY AT EV {gray:.2}"), GRAY_LINE);
    }
    raster
}

/// A histogram as a line of text of `width` characters; their height shows the sum of their bins, a
/// space is empty.
#[must_use]
pub fn sparkline(histogram: &EvHistogram, characters: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let counts = histogram.counts();
    let characters = characters.clamp(1, counts.len().max(1));
    let mut sums = vec![0.0; characters];
    for (bin, count) in counts.iter().enumerate() {
        if let Some(sum) = sums.get_mut(bin * characters / counts.len()) {
            *sum += count;
        }
    }
    let max = sums.iter().copied().fold(0.0, f64::max);
    let bar = |sum: &f64| match *sum {
        sum if sum > 0.0 => BARS[((sum / max * 8.0).ceil() as usize).clamp(1, 8) - 1],
        _ => ' ',
    };
    sums.iter().map(bar).collect()
}

/// The minimum and maximum luminance above 0 of a picture; `None` if it is black.
#[must_use]
pub fn extremes(picture: Luminances<'_>) -> Option<(Nit, Nit)> {
    let lit = picture.nits.iter().map(|&l| f64::from(l)).filter(|l| ev_of(*l).is_some());
    lit.fold(None, |ends, l| match ends {
        None => Some((l, l)),
        Some((min, max)) => Some((f64::min(min, l), f64::max(max, l))),
    })
    .map(|(min, max)| (Nit(min), Nit(max)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range() -> EvRange {
        EvRange::new(Ev100(0.0), Ev100(16.0), 64).unwrap()
    }

    /// 64 columns that rise by a quarter stop each, in the middle of their bin; four rows.
    fn ramp() -> Vec<f32> {
        let row: Vec<f32> =
            (0..64).map(|x| luminance_of(Ev100((f64::from(x) + 0.5) / 4.0)).0 as f32).collect();
        row.repeat(4)
    }

    #[test]
    fn the_waveform_of_a_ramp_is_a_line() {
        let nits = ramp();
        let picture = Luminances::new(&nits, 64, 4).unwrap();
        let waveform = Waveform::new(picture, range(), 64);
        for x in 0..64 {
            for (bin, &count) in waveform.column(x).iter().enumerate() {
                assert_eq!(count, if bin == x { 4 } else { 0 }, "column {x}, bin {bin}");
            }
        }
        // Half as many columns: two bins a column.
        let coarse = Waveform::new(picture, range(), 32);
        assert_eq!(coarse.columns(), 32);
        for x in 0..32 {
            assert_eq!(coarse.column(x)[2 * x..2 * x + 2], [4, 4]);
            assert_eq!(coarse.column(x).iter().sum::<u32>(), 8);
        }
        assert!(waveform.column(64).is_empty());
        // The line is drawn: the brightest pixel of each column lies one lower than that of its
        // right neighbor.
        let exposure = Exposure::from_ev100(Ev100(8.1)).unwrap();
        let drawn = Waveform::draw(&[(&waveform, [255, 255, 255])], exposure);
        let frame = Frame::new(range(), 64);
        for x in 0..64 {
            assert_eq!(drawn.get(frame.left + x, frame.top + 63 - x), Some([255; 3]), "{x}");
        }
    }

    #[test]
    fn all_pixels_are_counted_whatever_they_hold() {
        let nits = [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30, 1e30, 4096.0, 1.0, 2.0];
        let picture = Luminances::new(&nits, 3, 3).unwrap();
        let waveform = Waveform::new(picture, range(), 3);
        let sum: u32 = (0..3).map(|x| waveform.column(x).iter().sum::<u32>()).sum();
        assert_eq!(sum, 9);
        let (histogram, black) = histogram(picture, range()).unwrap();
        assert_eq!((histogram.counts().iter().sum::<f64>(), black), (6.0, 3));
        assert_eq!((histogram.counts()[0], histogram.counts()[63]), (1.0, 2.0));
        assert_eq!(histogram.counts()[60], 1.0, "4096 nit is EV 15");
        let (min, max) = extremes(picture).unwrap();
        assert!(min.0 < 1e-29 && max.0 > 1e29);
        let pixels: Vec<[f32; 3]> = nits.iter().map(|&l| [l, l * 2.0, 0.0]).collect();
        let [red, green, blue] = Waveform::parade(&pixels, 3, 3, range(), 3).unwrap();
        assert_eq!(red, waveform);
        // The left column holds 0, infinity and 4096 nit; green is a stop brighter, blue black.
        assert_eq!((red.column(0)[0], red.column(0)[60], red.column(0)[63]), (1, 1, 1));
        assert_eq!((green.column(0)[0], green.column(0)[63], blue.column(0)[0]), (1, 2, 3));
        assert!(Waveform::parade(&pixels, 4, 3, range(), 3).is_err());
        assert!(
            EvRange::new(Ev100(1.0), Ev100(1.0), 4).is_err()
                && EvRange::new(Ev100(0.0), Ev100(1.0), 0).is_err()
        );
    }

    #[test]
    fn the_histogram_is_drawn_and_written_as_it_counts() {
        let nits = ramp();
        let (even, black) = histogram(Luminances::new(&nits, 64, 4).unwrap(), range()).unwrap();
        assert_eq!(black, 0);
        assert!(even.counts().iter().all(|&count| count == 4.0));
        assert_eq!(sparkline(&even, 8), "████████");
        let half: Vec<f32> = nits.iter().map(|&l| if l < 2.0 { 0.0 } else { l }).collect();
        let (half, black) = histogram(Luminances::new(&half, 64, 4).unwrap(), range()).unwrap();
        assert_eq!((half.counts().iter().sum::<f64>() as usize + black, black), (256, 64));
        assert_eq!(sparkline(&half, 8), "  ██████");
        assert_eq!(sparkline(&half, 0).chars().count(), 1);
        let drawn = draw_histogram(&half, Exposure::from_ev100(Ev100(2.0)).unwrap());
        // Bars of nine pixels; the first quarter is empty, the rest reaches the top.
        let at = |bin: usize| drawn.get(24 + bin * 9 + 4, font::HEIGHT + 8 + 1).unwrap();
        assert_eq!((at(3), at(20), at(63)), (PAPER, INK, INK));
    }
}
