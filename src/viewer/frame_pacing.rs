//! Frame pacing of the window: frame count, input latency in frames, and stutters.
//!
//! Latency is counted in frames from an input to the picture that answers it, which does not depend
//! on the machine. Frame times of the window's thread are kept separately for frames with and
//! without the path tracer at work. A frame longer than twice the median is a stutter.

use std::{fmt, time::Duration};

/// Number of frame times kept of each kind; older ones are overwritten.
const KEPT: usize = 4096;

/// A frame longer than this many median frames is a stutter.
const STUTTER: f64 = 2.0;

/// Frame times of one kind.
#[derive(Clone, Debug, Default)]
struct Times {
    /// Newest frame times (ms), a ring buffer.
    ms: Vec<f64>,
    next: usize,
}

impl Times {
    fn push(&mut self, ms: f64) {
        if self.ms.len() < KEPT {
            self.ms.push(ms);
        } else if let Some(oldest) = self.ms.get_mut(self.next) {
            *oldest = ms;
        }
        self.next = (self.next + 1) % KEPT;
    }

    fn summary(&self) -> FrameTimes {
        let mut sorted = self.ms.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| {
            sorted.get(((sorted.len() as f64 * part) as usize).min(sorted.len().saturating_sub(1)))
        };
        FrameTimes {
            frames: sorted.len(),
            median_ms: at(0.5).copied().unwrap_or(0.0),
            p99_ms: at(0.99).copied().unwrap_or(0.0),
            longest_ms: sorted.last().copied().unwrap_or(0.0),
        }
    }
}

/// Frame times of one kind on the window's thread, from input to presentation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameTimes {
    /// Number of frames.
    pub frames: usize,
    /// Median (ms).
    pub median_ms: f64,
    /// 99th percentile (ms).
    pub p99_ms: f64,
    /// Maximum (ms).
    pub longest_ms: f64,
}

/// Frame-pacing counters of a window.
#[derive(Clone, Debug, Default)]
pub struct FramePacing {
    frames: u64,
    /// The oldest request from input that no frame has displayed yet, and the frame of that input.
    waits: Option<(u64, u64)>,
    /// Inputs that changed the request, by the number of frames until it was displayed: index 0 is
    /// the frame of the input, the last index counts all later ones.
    answered: [u64; 4],
    idle: Times,
    /// Time of the last frame (ms).
    last_ms: f64,
    /// Median of the idle times (ms), cached until the next one.
    usual_ms: Option<f64>,
    traced: Times,
    /// Frames with the path tracer at work that exceed `STUTTER` medians.
    stutters: u64,
}

impl FramePacing {
    /// Starts a frame: `wished` is the current request, `before` the one before this frame's input.
    pub fn begin_frame(&mut self, before: u64, wished: u64) {
        self.frames += 1;
        if before != wished && self.waits.is_none() {
            self.waits = Some((wished, self.frames));
        }
    }

    /// Records that the frame displays a picture that answers this request or a later one.
    pub fn record_displayed(&mut self, answers: u64) {
        if let Some((wished, since)) = self.waits
            && answers >= wished
        {
            let frames = (self.frames - since) as usize;
            if let Some(count) = self.answered.get_mut(frames.min(3)) {
                *count += 1;
            }
            self.waits = None;
        }
    }

    /// Records the frame's time on the window's thread; `traces` is whether the path tracer was at
    /// work.
    pub fn record_frame_time(&mut self, time: Duration, traces: bool) {
        let ms = time.as_secs_f64() * 1e3;
        self.last_ms = ms;
        if !traces {
            self.usual_ms = None;
            return self.idle.push(ms);
        }
        let usual = *self.usual_ms.get_or_insert_with(|| self.idle.summary().median_ms);
        if !self.idle.ms.is_empty() && ms > STUTTER * usual.max(DISPLAY_MS) {
            self.stutters += 1;
        }
        self.traced.push(ms);
    }

    /// Time of the last frame on the window's thread (ms); 0 before the first.
    #[must_use]
    pub const fn last_ms(&self) -> f64 {
        self.last_ms
    }

    /// Frames so far.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// Inputs that needed a new picture, by the frame that displayed it: the same, the next, the
    /// third, later.
    #[must_use]
    pub const fn answered(&self) -> [u64; 4] {
        self.answered
    }

    /// Frame times without and with the path tracer at work.
    #[must_use]
    pub fn frame_times(&self) -> [FrameTimes; 2] {
        [self.idle.summary(), self.traced.summary()]
    }

    /// Frames with the path tracer at work that took longer than two medians, or two display frames
    /// if those are longer.
    #[must_use]
    pub const fn stutters(&self) -> u64 {
        self.stutters
    }
}

/// Frame time of a 60 Hz display (ms); shorter frames count as this.
const DISPLAY_MS: f64 = 1e3 / 60.0;

impl fmt::Display for FramePacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third, later] = self.answered;
        write!(
            f,
            "window_frames={} input_shown_by_frame=1:{first},2:{second},3:{third},later:{later}",
            self.frames
        )?;
        for (kind, paced) in ["rest", "traced"].into_iter().zip(self.frame_times()) {
            let FrameTimes { frames, median_ms, p99_ms, longest_ms } = paced;
            write!(
                f,
                " {kind}_frames={frames} {kind}_ms={median_ms:.2},{p99_ms:.2},{longest_ms:.2}"
            )?;
        }
        write!(f, " stutters={}", self.stutters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_from_input_to_picture_are_counted() {
        let mut pulse = FramePacing::default();
        // Nothing changes, and nothing is pending.
        pulse.begin_frame(1, 1);
        pulse.record_displayed(1);
        assert_eq!(pulse.answered(), [0; 4]);
        // The frame of the input displays it.
        pulse.begin_frame(1, 2);
        pulse.record_displayed(2);
        assert_eq!(pulse.answered(), [1, 0, 0, 0]);
        // Two frames later; further input comes meanwhile, and the oldest request counts.
        pulse.begin_frame(2, 3);
        pulse.record_displayed(2);
        pulse.begin_frame(3, 4);
        pulse.record_displayed(2);
        pulse.begin_frame(4, 4);
        pulse.record_displayed(3);
        assert_eq!(pulse.answered(), [1, 0, 1, 0]);
        for wish in 5..30 {
            pulse.begin_frame(wish - 1, wish);
        }
        pulse.record_displayed(29);
        assert_eq!((pulse.answered(), pulse.frames()), ([1, 0, 1, 1], 30));
    }

    #[test]
    fn a_frame_longer_than_two_usual_ones_stutters() {
        let ms = Duration::from_millis;
        let mut pulse = FramePacing::default();
        (0..100).for_each(|_| pulse.record_frame_time(ms(20), false));
        for (time, stutters) in [(39, 0), (41, 1), (20, 1), (400, 2)] {
            pulse.record_frame_time(ms(time), true);
            assert_eq!(pulse.stutters(), stutters, "{time} ms");
        }
        let [rest, traced] = pulse.frame_times();
        assert_eq!((rest.frames, traced.frames), (100, 4));
        assert!((rest.median_ms - 20.0).abs() < 1e-9 && (traced.longest_ms - 400.0).abs() < 1e-9);
        // With short frames, the limit is two display frames.
        let mut pulse = FramePacing::default();
        pulse.record_frame_time(ms(1), false);
        pulse.record_frame_time(ms(30), true);
        assert_eq!(pulse.stutters(), 0);
        pulse.record_frame_time(ms(34), true);
        assert_eq!(pulse.stutters(), 1);
        assert!(pulse.to_string().ends_with(" stutters=1"), "{pulse}");
    }

    #[test]
    fn the_newest_frames_are_kept() {
        let mut pulse = FramePacing::default();
        (0..KEPT).for_each(|_| pulse.record_frame_time(Duration::from_millis(500), false));
        (0..KEPT).for_each(|_| pulse.record_frame_time(Duration::from_millis(10), false));
        let [rest, _] = pulse.frame_times();
        assert_eq!(rest.frames, KEPT);
        assert!((rest.longest_ms - 10.0).abs() < 1e-9);
    }
}
