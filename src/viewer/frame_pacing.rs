//! The window's pulse: frames that it has shown, how soon they showed what hands did, and whether
//! any came late.
//!
//! Frames are counted where that is possible: how many it takes from an input to the picture that
//! answers it says how the window works, whatever the machine. How long a frame takes the window's
//! own thread is kept beside it, apart for frames while the path tracer works: one that takes more
//! than two of the usual kind stutters.

use std::{fmt, time::Duration};

/// Frames whose times are kept of each kind; older ones go.
const KEPT: usize = 4096;

/// A frame that takes longer than so many usual ones is a stutter.
pub const STUTTER: f64 = 2.0;

/// Times of frames of a kind.
#[derive(Clone, Debug, Default)]
struct Times {
    /// Of the newest frames (ms); where there is no room the oldest is overwritten.
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

/// How long the frames of a kind took the window's thread, from the input that they take to the
/// picture handed to the display.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameTimes {
    /// How many there were.
    pub frames: usize,
    /// Half of them were shorter (ms).
    pub median_ms: f64,
    /// Of a hundred, one was longer (ms).
    pub p99_ms: f64,
    /// The longest (ms).
    pub longest_ms: f64,
}

/// Counters of a window.
#[derive(Clone, Debug, Default)]
pub struct FramePacing {
    frames: u64,
    /// The wish that hands have changed and no frame has shown yet, and the frame that they did it
    /// in.
    waits: Option<(u64, u64)>,
    /// Inputs that changed what is wanted, by how many frames it took to show it: 1 is the frame
    /// that took the input, the last stands for all that took longer.
    answered: [u64; 4],
    idle: Times,
    /// The median of these (ms), until another comes.
    usual_ms: Option<f64>,
    traced: Times,
    /// Of frames while the path tracer works, those longer than `STUTTER` usual ones of before.
    stutters: u64,
}

impl FramePacing {
    /// A frame begins: `wished` is the wish that pictures answer now, of which hands have made
    /// another one than `before`.
    pub fn begin_frame(&mut self, before: u64, wished: u64) {
        self.frames += 1;
        if before != wished && self.waits.is_none() {
            self.waits = Some((wished, self.frames));
        }
    }

    /// The frame shows a picture that answers this wish, or one after it.
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

    /// The frame took the window's thread so long; `traces` is whether the path tracer was at work.
    pub fn record_frame_time(&mut self, time: Duration, traces: bool) {
        let ms = time.as_secs_f64() * 1e3;
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

    /// Frames shown so far.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// Inputs that another picture had to answer: by the frame that took them, by the one after it,
    /// by the third, later.
    #[must_use]
    pub const fn answered(&self) -> [u64; 4] {
        self.answered
    }

    /// Frames without the path tracer, and while it worked.
    #[must_use]
    pub fn frame_times(&self) -> [FrameTimes; 2] {
        [self.idle.summary(), self.traced.summary()]
    }

    /// Frames while the path tracer worked that took longer than two usual ones, of the display or
    /// of the window without it.
    #[must_use]
    pub const fn stutters(&self) -> u64 {
        self.stutters
    }
}

/// A frame of a display of 60 Hz (ms): nobody sees that one was shorter.
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn frames_from_input_to_picture_are_counted() {
        let mut pulse = FramePacing::default();
        // Nothing changes, and nothing waits.
        pulse.begin_frame(1, 1);
        pulse.record_displayed(1);
        assert_eq!(pulse.answered(), [0; 4]);
        // The frame that took the input shows it.
        pulse.begin_frame(1, 2);
        pulse.record_displayed(2);
        assert_eq!(pulse.answered(), [1, 0, 0, 0]);
        // Two frames on; meanwhile hands go on, and the first wish is what is waited for.
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
        // Where frames are quick, two of the display are meant.
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
