//! Frame governor: chooses resolution and sampling budgets of a moving view by measured frame
//! times. It knows neither device nor window.
//!
//! A ladder of levels goes from full quality to the fastest pictures: resolution down to a half
//! along each side, then budgets, then resolution down to an eighth. The governor keeps a robust
//! frame time for each level and predicts those of the others. It chooses the best level that holds
//! the target.

use crate::{
    frame::RenderSettings,
    settings::{Resolution, ShadowSampling},
};

/// Target frame time (ms) where a device reaches it without reduced budgets.
pub const TARGET_MS: f64 = 1e3 / 30.0;

/// Longest frame time (ms) in motion: 10 pictures per second, with room for the window's thread.
pub const LIMIT_MS: f64 = 85.0;

/// A change is needed above this multiple of a target, and chosen below the second one: between
/// them, a level is kept.
const KEEPS: f64 = 1.15;
const CHOOSES: f64 = 0.85;

/// A level counts as no slower than the fastest one up to this ratio, and the current level up to
/// the second one. Where frames cost the same at each level, quality is kept.
const NO_GAIN: f64 = 1.15;
const KEEPS_NO_GAIN: f64 = 1.3;

/// Divisor of the budgets from which GI gathers one pixel of each 4x4 block.
const BLOCK_4X4_DIVISOR: u32 = 4;

/// Frame times kept of a level. Their median decides, of two the shorter one.
const WINDOW: usize = 3;

/// Frames of a level before a faster and before a better one may replace it.
const DWELL_DOWN: u32 = 2;
const DWELL_UP: u32 = 4;

/// Maximum frames of a level before a better one is tried, after it failed repeatedly.
const MAX_DWELL_UP: u32 = 128;

/// A measurement counts as outdated after this multiple of the dwell of better levels: the
/// proportional prediction replaces it if it is lower.
const OUTDATED: u32 = 8;

/// A better level that is left within this number of frames has failed.
const FAILED_WITHIN: u32 = 24;

/// Quality of a moving view: resolution and sampling budgets.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rung {
    /// Pixels along each side as a fraction of full resolution.
    scale: f64,
    /// Divisor of the sampling budgets.
    divisor: u32,
    /// Expected work relative to full quality, for levels that were not measured.
    work: f64,
}

const fn rung(scale: f64, divisor: u32, work: f64) -> Rung {
    Rung { scale, divisor, work }
}

/// The ladder. Few resolutions keep the number of image sizes small.
const LADDER: [Rung; Level::COUNT] = [
    rung(1.0, 1, 1.0),
    rung(0.75, 1, 0.5625),
    rung(0.5, 1, 0.25),
    rung(0.5, 2, 0.15),
    rung(0.5, 4, 0.1),
    rung(0.375, 4, 0.0563),
    rung(0.25, 4, 0.025),
    rung(0.25, 8, 0.0175),
    rung(0.1875, 16, 0.008),
    rung(0.125, 16, 0.0036),
];

/// A level of the ladder: 0 is full quality, higher ones are faster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(usize);

impl Level {
    /// Full resolution and budgets.
    pub const FULL: Self = Self(0);

    /// Number of levels.
    pub const COUNT: usize = 10;

    /// Half resolution with full budgets: the level of a moving view of unknown frame time, and the
    /// last that serves `TARGET_MS`.
    const HALF: Self = Self(2);

    /// All levels, from full quality.
    pub fn all() -> impl DoubleEndedIterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    fn rung(self) -> Rung {
        LADDER.get(self.0).copied().unwrap_or(LADDER[0])
    }

    /// Pixels along each side as a fraction of full resolution, 0.125 to 1.
    #[must_use]
    pub fn scale(self) -> f64 {
        self.rung().scale
    }

    /// Divisor of the sampling budgets, 1 to 16.
    #[must_use]
    pub fn divisor(self) -> u32 {
        self.rung().divisor
    }

    /// Size in pixels of pictures of this level for a full size.
    #[must_use]
    pub fn size(self, full: [u32; 2]) -> [u32; 2] {
        full.map(|side| ((f64::from(side) * self.scale()).round() as u32).max(1))
    }

    /// Passes of GI's spatial filter. The tap spacings 1, 2, 4, 8 and 16 then span about as much of
    /// the view as at full resolution, and at least a block of 4x4 pixels.
    fn gi_filter_passes(self) -> u32 {
        if self.scale() >= 0.5 { 4 } else { 3 }
    }

    /// Divides the sampling budgets of a frame, each down to 1: shadow rays, VPL samples and
    /// gathered pixels of GI, AO slices and steps, steps of SSR and volumes. GI has fewer filter
    /// passes.
    pub fn reduce(self, settings: &mut RenderSettings) {
        let divisor = self.divisor();
        if divisor == 1 {
            return;
        }
        let divide = |budget: &mut u32, by: u32| *budget = (*budget / by).max(1);
        // Steps along a ray miss things: half the divisor.
        let steps = (divisor / 2).max(1);
        match settings.shadows.sampling {
            ShadowSampling::Exact => divide(&mut settings.shadows.samples, divisor),
            ShadowSampling::Budget => divide(&mut settings.shadows.rays, divisor),
        }
        divide(&mut settings.gi.vpl_samples, divisor);
        // Indirect light varies slowly over a surface: a pixel of each 2x2 or 4x4 block is gathered
        // in turn, and the picture keeps its resolution.
        settings.gi.resolution = Resolution::Half;
        settings.gi_divisor = if divisor >= BLOCK_4X4_DIVISOR { 2 } else { 1 };
        settings.gi_filter_passes = self.gi_filter_passes();
        divide(&mut settings.ao.slices, divisor);
        divide(&mut settings.ao.steps, steps);
        divide(&mut settings.ssr.steps, steps);
        divide(&mut settings.ssr.taps, steps);
        divide(&mut settings.volumes.steps, steps);
        divide(&mut settings.volumes.shadow_steps, steps);
    }
}

impl std::fmt::Display for Level {
    /// Resolution and budgets: `50 % resolution, 1/4 budgets`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} % resolution", self.scale() * 100.0)?;
        if self.divisor() > 1 {
            write!(f, ", 1/{} budgets", self.divisor())?;
        }
        Ok(())
    }
}

/// Mode of the governor: a setting of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GovernorMode {
    /// Levels by frame time.
    #[default]
    Auto,
    /// Full quality in motion.
    Off,
    /// This level in motion.
    Pinned(Level),
}

impl GovernorMode {
    /// Accepted values.
    pub const VALUES: &'static str = "auto, off (full quality in motion), or 0 to 9 to pin a level";

    /// Parses `auto`, `off` or the number of a level.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "off" => Some(Self::Off),
            _ => {
                let number = text.parse().ok().filter(|number| *number < Level::COUNT)?;
                Some(Self::Pinned(Level(number)))
            }
        }
    }
}

impl std::fmt::Display for GovernorMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Off => f.write_str("off"),
            Self::Pinned(level) => write!(f, "{}", level.0),
        }
    }
}

/// A measured frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Level of the frame.
    pub level: Level,
    /// Time of device and host, from request to picture (ms).
    pub ms: f64,
    /// True if pipelines were compiled: such frames are not counted.
    pub compiled: bool,
    /// True for a frame of a view at rest, whose settings differ from those in motion. It only
    /// predicts times of its level.
    pub still: bool,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Governor {
    level: Level,
    /// Frame time of each measured level (ms).
    estimates: [Option<f64>; Level::COUNT],
    /// Frames since the last measurement of each level.
    ages: [u32; Level::COUNT],
    /// Newest frame times of the current level (ms).
    window: Vec<f64>,
    /// Newest frame times of each level that did not come from frames of the current one (ms).
    others: [Vec<f64>; Level::COUNT],
    /// Frames since the level was chosen.
    frames: u32,
    /// Frames before a better level is tried.
    dwell_up: u32,
    /// True if the current level was reached from a faster one.
    went_up: bool,
}

impl Default for Governor {
    fn default() -> Self {
        Self {
            level: Level::HALF,
            estimates: [None; Level::COUNT],
            ages: [0; Level::COUNT],
            window: Vec::new(),
            others: std::array::from_fn(|_| Vec::new()),
            frames: 0,
            dwell_up: DWELL_UP,
            went_up: false,
        }
    }
}

/// Adds a frame time to the newest ones; their median, of an even number the shorter one.
fn push_median(newest: &mut Vec<f64>, ms: f64) -> f64 {
    if newest.len() == WINDOW {
        newest.remove(0);
    }
    newest.push(ms);
    let mut sorted = newest.clone();
    sorted.sort_by(f64::total_cmp);
    sorted.get((sorted.len() - 1) / 2).copied().unwrap_or(ms)
}

impl Governor {
    /// The level of the next frame in motion.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.level
    }

    /// Expected frame time of a level (ms); `None` before the first measurement.
    #[must_use]
    pub fn expected_ms(&self, level: Level) -> Option<f64> {
        let measured = |index: usize| Some((index, self.estimates.get(index).copied().flatten()?));
        let work = |index: usize| Level(index).rung().work;
        // Work of 0 costs nothing.
        let proportional = |(index, ms): (usize, f64)| ms * work(level.0) / work(index);
        if let Some((_, ms)) = measured(level.0) {
            let age = self.ages.get(level.0).copied().unwrap_or_default();
            let outdated = level < self.level && age > OUTDATED * self.dwell_up;
            let bound = measured(self.level.0).filter(|_| outdated).map(proportional);
            return Some(bound.map_or(ms, |bound| ms.min(bound)));
        }
        let better = (0..level.0).rev().find_map(measured);
        let faster = (level.0 + 1..Level::COUNT).find_map(measured);
        Some(match (better, faster) {
            (Some((a, slow)), Some((b, quick))) => {
                let part = (work(level.0) - work(b)) / (work(a) - work(b));
                quick + (slow - quick).max(0.0) * part
            }
            // Optimistic: a fixed cost shows by a measurement of the faster level.
            (Some(from), None) | (None, Some(from)) => proportional(from),
            (None, None) => return None,
        })
    }

    /// Takes a measured frame, and chooses the level of the next one.
    pub fn record(&mut self, sample: Sample) {
        if sample.compiled || !sample.ms.is_finite() || sample.ms <= 0.0 {
            return;
        }
        if sample.still || sample.level != self.level {
            self.record_other(sample);
            return;
        }
        let median = push_median(&mut self.window, sample.ms);
        self.ages.iter_mut().for_each(|age| *age = age.saturating_add(1));
        if let Some(age) = self.ages.get_mut(self.level.0) {
            *age = 0;
        }
        self.frames = self.frames.saturating_add(1);
        // The scene or the device became faster or slower: all levels did.
        if let Some(before) = self.estimates.get(self.level.0).copied().flatten()
            && self.window.len() == WINDOW
        {
            self.scale(median / before);
        }
        // Its own frames replace what other frames predicted.
        if let Some(others) = self.others.get_mut(self.level.0) {
            others.clear();
        }
        if let Some(own) = self.estimates.get_mut(self.level.0)
            && (own.is_none() || self.window.len() >= DWELL_DOWN as usize)
        {
            *own = Some(median);
        }
        if self.frames > FAILED_WITHIN && self.went_up {
            (self.went_up, self.dwell_up) = (false, DWELL_UP);
        }
        self.choose();
    }

    /// Takes a frame of a level that is not the current one, such as one under way at a change, or
    /// a still frame. The median of the newest ones counts, so that a single slow frame does not.
    fn record_other(&mut self, Sample { level, ms, still, .. }: Sample) {
        let index = level.0;
        // In motion, the current level is measured by its own frames.
        if still && level == self.level && self.frames > 0 {
            return;
        }
        let (Some(own), Some(age), Some(others)) =
            (self.estimates.get_mut(index), self.ages.get_mut(index), self.others.get_mut(index))
        else {
            return;
        };
        *age = 0;
        let known = own.replace(push_median(others, ms)).is_some() || self.frames > 0;
        if !known {
            // The first measurement, before any motion.
            self.go_to(self.best());
        }
    }

    /// Multiplies all measured times.
    fn scale(&mut self, ratio: f64) {
        let others = self.others.iter_mut().flatten();
        self.estimates.iter_mut().flatten().chain(others).for_each(|ms| *ms *= ratio);
    }

    fn choose(&mut self) {
        let best = self.best();
        if best > self.level && self.frames >= DWELL_DOWN {
            if self.went_up {
                self.dwell_up = (self.dwell_up * 2).min(MAX_DWELL_UP);
            }
            self.went_up = false;
            self.go_to(best);
        } else if best < self.level && self.frames >= self.dwell_up {
            // Of unmeasured levels only the next: a wrong prediction costs little there.
            let next = Level(self.level.0 - 1);
            let known = self.estimates.get(best.0).is_some_and(Option::is_some);
            self.went_up = true;
            self.go_to(if known { best } else { next });
        }
    }

    fn go_to(&mut self, level: Level) {
        if level != self.level {
            (self.level, self.frames) = (level, 0);
            self.window.clear();
        }
    }

    /// The best level by expected times: the first that holds the target, else the first that holds
    /// the limit, else the first that is about as fast as the fastest.
    fn best(&self) -> Level {
        let expected = |level: Level| self.expected_ms(level).unwrap_or(f64::INFINITY);
        let holds = |level: Level, limit: f64, [keeps, chooses]: [f64; 2]| {
            expected(level) <= limit * if level == self.level { keeps } else { chooses }
        };
        let first = |limit: f64, last: Level, factors: [f64; 2]| {
            Level::all().find(|level| *level <= last && holds(*level, limit, factors))
        };
        let last = Level(Level::COUNT - 1);
        let fastest = Level::all().map(expected).fold(f64::INFINITY, f64::min);
        first(TARGET_MS, Level::HALF, [KEEPS, CHOOSES])
            .or_else(|| first(LIMIT_MS, last, [KEEPS, CHOOSES]))
            .or_else(|| first(fastest, last, [KEEPS_NO_GAIN, NO_GAIN]))
            .unwrap_or(last)
    }

    /// Adapts the estimates to a change of the full size: pixels after it over pixels before.
    pub fn resized(&mut self, ratio: f64) {
        if ratio.is_finite() && ratio > 0.0 {
            self.scale(ratio);
            self.window.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device: a fixed time, and a time of full quality without it (ms).
    struct Device {
        fixed: f64,
        full: f64,
        /// Relative amplitude of noise.
        noise: f64,
        random: u32,
    }

    impl Device {
        fn new(fixed: f64, full: f64, noise: f64) -> Self {
            Self { fixed, full, noise, random: 12_345 }
        }

        fn exact(&self, level: Level) -> f64 {
            self.fixed + self.full * level.rung().work
        }

        /// Time of a frame. A linear congruential generator, for repeatable noise.
        fn ms(&mut self, level: Level) -> f64 {
            self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let part = f64::from(self.random >> 8) / f64::from(1_u32 << 24);
            self.exact(level) * (1.0 + self.noise * (2.0 * part - 1.0))
        }
    }

    fn sample(level: Level, ms: f64) -> Sample {
        Sample { level, ms, compiled: false, still: false }
    }

    /// A frame of full quality at rest.
    fn still(ms: f64) -> Sample {
        Sample { still: true, ..sample(Level::FULL, ms) }
    }

    /// Runs frames; returns the level of each.
    fn run(governor: &mut Governor, device: &mut Device, frames: usize) -> Vec<Level> {
        (0..frames)
            .map(|_| {
                let level = governor.level();
                let ms = device.ms(level);
                governor.record(sample(level, ms));
                level
            })
            .collect()
    }

    fn changes(levels: &[Level]) -> usize {
        levels.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// A governor that has seen a still frame of the device.
    fn at_rest(device: &Device) -> Governor {
        let mut governor = Governor::default();
        governor.record(still(device.exact(Level::FULL)));
        governor
    }

    #[test]
    fn a_fast_device_gets_full_quality_within_few_frames() {
        let mut device = Device::new(1.0, 6.0, 0.1);
        let mut governor = Governor::default();
        assert_eq!(governor.level(), Level::HALF, "before any measurement");
        let levels = run(&mut governor, &mut device, 40);
        assert!(levels[12..].iter().all(|level| *level == Level::FULL), "{levels:?}");
        // With a still frame before, from the first frame on.
        let mut governor = at_rest(&device);
        let levels = run(&mut governor, &mut device, 40);
        assert!(levels.iter().all(|level| *level == Level::FULL), "{levels:?}");
    }

    #[test]
    fn a_slow_device_holds_ten_pictures_a_second_from_the_first_frame() {
        for full in [200.0, 500.0, 1_000.0, 2_000.0, 3_500.0] {
            let mut device = Device::new(2.0, full, 0.0);
            let mut governor = at_rest(&device);
            let levels = run(&mut governor, &mut device, 200);
            assert!(levels.iter().all(|level| device.exact(*level) <= 100.0), "{full}: {levels:?}");
            let last = governor.level();
            // The best level that does: the next better one would break the limit.
            let better = Level(last.0 - 1);
            assert!(device.exact(better) > LIMIT_MS * CHOOSES, "{full}: {last}");
            assert!(changes(&levels) <= 2, "{full}: {levels:?}");
        }
    }

    #[test]
    fn the_target_is_held_where_half_the_resolution_reaches_it() {
        // 110 ms at full quality: 27.5 ms at half the resolution.
        let mut device = Device::new(0.0, 110.0, 0.05);
        let mut governor = at_rest(&device);
        let levels = run(&mut governor, &mut device, 100);
        assert!(levels.iter().all(|level| *level == Level::HALF), "{levels:?}");
        // 200 ms: 50 ms there. The limit of 85 ms decides.
        let mut device = Device::new(0.0, 200.0, 0.05);
        let mut governor = at_rest(&device);
        let levels = run(&mut governor, &mut device, 100);
        assert!(levels[20..].iter().all(|level| *level == Level::HALF), "{levels:?}");
    }

    #[test]
    fn noise_does_not_make_it_oscillate() {
        for full in [20.0, 40.0, 90.0, 130.0, 300.0, 340.0, 700.0, 900.0, 1_500.0, 4_000.0] {
            for noise in [0.1, 0.25] {
                let mut device = Device::new(3.0, full, noise);
                let mut governor = at_rest(&device);
                run(&mut governor, &mut device, 60);
                let levels = run(&mut governor, &mut device, 600);
                let most = if noise < 0.2 { 8 } else { 30 };
                assert!(changes(&levels) <= most, "{full} {noise}: {}", changes(&levels));
            }
        }
    }

    #[test]
    fn single_spikes_and_compiling_frames_change_nothing() {
        let mut device = Device::new(2.0, 20.0, 0.05);
        let mut governor = at_rest(&device);
        for number in 0..300 {
            let level = governor.level();
            assert_eq!(level, Level::FULL, "{number}");
            if number % 10 == 9 {
                governor.record(sample(level, 900.0));
            } else if number % 10 == 4 {
                governor.record(Sample { compiled: true, ..sample(level, 8_000.0) });
            } else {
                let ms = device.ms(level);
                governor.record(sample(level, ms));
            }
        }
        // Times that are none.
        for ms in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            governor.record(sample(Level::FULL, ms));
        }
        assert_eq!(governor.level(), Level::FULL);
    }

    #[test]
    fn single_slow_still_frames_replace_no_estimate() {
        let device = Device::new(2.0, 500.0, 0.0);
        let mut governor = at_rest(&device);
        let usual = governor.expected_ms(Level::FULL).unwrap();
        let level = governor.level();
        for _ in 0..2 {
            governor.record(still(usual));
        }
        governor.record(still(20.0 * usual));
        assert_eq!(governor.expected_ms(Level::FULL), Some(usual));
        assert_eq!(governor.level(), level);
        // Of a level that was left: a single slow frame after one measurement.
        let mut governor = at_rest(&device);
        governor.record(sample(Level(9), 30.0));
        governor.record(sample(Level(9), 900.0));
        assert_eq!(governor.expected_ms(Level(9)), Some(30.0));
        // The scene became slower: the second frame counts.
        governor.record(still(4.0 * usual));
        governor.record(still(4.0 * usual));
        assert_eq!(governor.expected_ms(Level::FULL), Some(4.0 * usual));
    }

    #[test]
    fn frames_before_a_level_was_measured_do_not_predict_it_later() {
        let mut governor = Governor::default();
        for _ in 0..WINDOW {
            governor.record(still(1_000.0));
        }
        // The device has become fast, and full quality is measured.
        let mut device = Device::new(1.0, 6.0, 0.0);
        run(&mut governor, &mut device, 1_000);
        assert_eq!(governor.level(), Level::FULL);
        // It becomes slow again: a frame of full quality under way at the change.
        let mut device = Device::new(1.0, 600.0, 0.0);
        run(&mut governor, &mut device, 20);
        assert_ne!(governor.level(), Level::FULL);
        governor.record(sample(Level::FULL, 200.0));
        assert_eq!(governor.expected_ms(Level::FULL), Some(200.0));
    }

    #[test]
    fn still_frames_do_not_change_a_level_in_motion() {
        let mut device = Device::new(1.0, 10.0, 0.0);
        let mut governor = at_rest(&device);
        run(&mut governor, &mut device, 20);
        assert_eq!(governor.level(), Level::FULL);
        let expected = governor.expected_ms(Level::FULL);
        // Still frames cost more, such as those with a meter reading.
        for _ in 0..50 {
            governor.record(still(400.0));
            assert_eq!(
                (governor.level(), governor.expected_ms(Level::FULL)),
                (Level::FULL, expected)
            );
        }
    }

    #[test]
    fn quality_is_kept_where_lower_levels_do_not_help() {
        for (fixed, full) in [(300.0, 20.0), (300.0, 1.0), (150.0, 10.0), (2_000.0, 100.0)] {
            let mut device = Device::new(fixed, full, 0.03);
            let mut governor = at_rest(&device);
            run(&mut governor, &mut device, 60);
            let level = governor.level();
            assert!(level <= Level::HALF, "{fixed} + {full}: {level}");
            let levels = run(&mut governor, &mut device, 200);
            assert!(levels.iter().all(|level| *level <= Level::HALF), "{fixed}: {levels:?}");
        }
        // A part of the time is fixed, and the limit is within reach.
        let mut device = Device::new(50.0, 400.0, 0.03);
        let mut governor = at_rest(&device);
        let levels = run(&mut governor, &mut device, 100);
        assert!(device.exact(governor.level()) < 100.0);
        assert!(changes(&levels[10..]) <= 2, "{levels:?}");
    }

    #[test]
    fn levels_that_save_less_than_expected_are_followed() {
        // Most of the work is that of pixels, not of samples.
        for full in [1_500.0, 3_000.0, 6_000.0] {
            let cost = |level: Level| {
                let part = 0.5 + 0.5 / f64::from(level.divisor());
                full * level.scale() * level.scale() * part
            };
            let mut governor = Governor::default();
            governor.record(still(full));
            let levels: Vec<_> = (0..60)
                .map(|_| {
                    let level = governor.level();
                    governor.record(sample(level, cost(level)));
                    level
                })
                .collect();
            assert!(levels[8..].iter().all(|level| cost(*level) <= 100.0), "{full}: {levels:?}");
            assert!(changes(&levels[20..]) <= 1, "{full}: {levels:?}");
        }
    }

    #[test]
    fn a_step_change_is_followed_both_ways() {
        let mut device = Device::new(2.0, 15.0, 0.1);
        let mut governor = at_rest(&device);
        run(&mut governor, &mut device, 50);
        assert_eq!(governor.level(), Level::FULL);
        // The scene becomes 60 times as expensive.
        device.full = 900.0;
        let levels = run(&mut governor, &mut device, 60);
        let slow = levels.iter().filter(|level| device.exact(**level) > 110.0).count();
        assert!(slow <= 4, "{levels:?}");
        assert!(device.exact(governor.level()) <= 100.0);
        // And cheap again.
        device.full = 15.0;
        let levels = run(&mut governor, &mut device, 60);
        let settled = levels.iter().rposition(|level| *level != Level::FULL).unwrap_or(0);
        assert!(settled < 45, "{levels:?}");
    }

    #[test]
    fn a_window_of_another_size_is_expected_to_cost_by_its_pixels() {
        let device = Device::new(0.0, 20.0, 0.0);
        let mut governor = at_rest(&device);
        governor.resized(4.0);
        assert_eq!(governor.expected_ms(Level::FULL), Some(80.0));
        governor.resized(f64::NAN);
        assert_eq!(governor.expected_ms(Level::FULL), Some(80.0));
    }

    #[test]
    fn levels_reduce_resolution_before_budgets_and_never_below_one_sample() {
        let ladder: Vec<_> = Level::all().collect();
        for pair in ladder.windows(2) {
            let [better, faster] = [pair[0].rung(), pair[1].rung()];
            assert!(faster.scale <= better.scale && faster.divisor >= better.divisor);
            assert!(faster.work < better.work);
        }
        assert_eq!(Level::FULL.size([771, 433]), [771, 433]);
        assert_eq!(Level(7).size([771, 1]), [193, 1]);
        let full = RenderSettings::default();
        let mut settings = full.clone();
        Level::HALF.reduce(&mut settings);
        assert_eq!(format!("{settings:?}"), format!("{full:?}"), "resolution alone");
        Level(7).reduce(&mut settings);
        assert_eq!((settings.shadows.samples, settings.gi.vpl_samples), (2, 1));
        assert_eq!((settings.gi.resolution, settings.gi_divisor), (Resolution::Half, 2));
        assert_eq!(settings.gi_filter_passes, 3);
        assert_eq!((settings.ao.slices, settings.ao.steps), (1, 2));
        assert_eq!((settings.volumes.steps, settings.volumes.shadow_steps), (8, 3));
        settings.shadows.sampling = ShadowSampling::Budget;
        Level(9).reduce(&mut settings);
        assert_eq!((settings.shadows.rays, settings.shadows.samples), (1, 2));
    }

    #[test]
    fn modes_are_written_as_they_are_read() {
        for text in ["auto", "off", "0", "3", "9"] {
            assert_eq!(GovernorMode::parse(text).unwrap().to_string(), text);
        }
        for text in ["10", "-1", "on", "", "50 %"] {
            assert_eq!(GovernorMode::parse(text), None, "{text}");
        }
        assert_eq!(Level(4).to_string(), "50 % resolution, 1/4 budgets");
        assert_eq!(Level::FULL.to_string(), "100 % resolution");
    }
}
