//! `timeline`: values of properties as functions of time, by keys and easing, in segments that
//! conditions start.

use std::path::PathBuf;

use super::{
    LookError,
    lights::light_of_strength,
    properties::property,
    timeline_error::TimelineError,
    timeline_value::{Numbers, TimelineSpace},
};
use crate::easing::Easing;

/// Times closer than this are one (s): times of frames are rounded.
pub const SAME_TIME: f64 = 1e-9;

/// Time of a key from the start of its segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyTime {
    /// Seconds, 0 to 1e9.
    Seconds(f64),
    /// Frames of a sequence.
    Frame(u32),
}

impl KeyTime {
    /// The time in s at a rate in frames per second.
    #[must_use]
    pub fn seconds(self, rate: f64) -> f64 {
        match self {
            Self::Seconds(seconds) => seconds,
            Self::Frame(frame) => f64::from(frame) / rate,
        }
    }
}

/// What follows the last key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimelineLoop {
    /// The last value.
    #[default]
    Once,
    /// The keys again, from the first one.
    Repeat,
    /// The keys backward, then forward again.
    PingPong,
}

impl TimelineLoop {
    /// The kinds of loops with their names.
    pub const ALL: [(&'static str, Self); 2] =
        [("repeat", Self::Repeat), ("ping-pong", Self::PingPong)];
}

/// A value at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineKey {
    /// Its time.
    pub time: KeyTime,
    /// The value as text.
    pub value: String,
    /// Its numbers; `None` for a value that holds.
    pub(super) numbers: Option<Numbers>,
    /// Easing up to the next key.
    pub ease: Easing,
}

/// The values of a property over time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineTrack {
    /// Path of the property.
    pub path: String,
    /// Keys in the order of their times, at least one.
    pub keys: Vec<TimelineKey>,
    /// What follows the last key.
    pub repeat: TimelineLoop,
    /// Space of interpolation.
    pub space: TimelineSpace,
    /// Folder that file names are relative to.
    pub(super) folder: PathBuf,
}

/// The event that starts a segment.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A time in s.
    After(f64),
    /// The camera is at most this far (m) from the origin of a node of this address.
    Within {
        /// Distance in m.
        distance: f64,
        /// Address of the node.
        node: String,
    },
    /// The value of a property reaches or crosses a number, upward or downward.
    Passes {
        /// Path of the property.
        path: String,
        /// The number, in the unit of the property.
        value: f64,
    },
}

/// Tracks that start together.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineSegment {
    /// Its name.
    pub name: String,
    /// The event that starts it.
    pub start: Condition,
    /// Its tracks; key times count from the start.
    pub tracks: Vec<TimelineTrack>,
}

/// The timeline of a look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// Tracks from 0 s.
    pub tracks: Vec<TimelineTrack>,
    /// Segments, in the order of the file.
    pub segments: Vec<TimelineSegment>,
}

impl TimelineTrack {
    /// Checks that times of keys increase at a rate in frames per second.
    pub(super) fn check_order(&self, rate: f64) -> Result<(), TimelineError> {
        let times = || self.keys.iter().map(|key| key.time.seconds(rate));
        match times().zip(times().skip(1)).find(|(before, time)| before >= time) {
            Some((before, time)) => {
                Err(TimelineError::KeyOrder { path: self.path.clone(), before, time })
            }
            None => Ok(()),
        }
    }

    /// The time within the keys, from the first to the last, of a time since the start (s). Where a
    /// repeated round ends the next one begins, with the first key.
    fn wrapped(&self, time: f64, rate: f64) -> f64 {
        let end = |key: Option<&TimelineKey>| key.map_or(0.0, |key| key.time.seconds(rate));
        let (first, last) = (end(self.keys.first()), end(self.keys.last()));
        let (period, since) = (last - first, time - first);
        if since < period - SAME_TIME || period <= 0.0 {
            return time.max(first).min(last.max(first));
        }
        match self.repeat {
            TimelineLoop::Once => last,
            TimelineLoop::Repeat => {
                let part = since.rem_euclid(period);
                // At the end of a round, rounded to either side, the next one begins.
                first + if part > period - SAME_TIME { 0.0 } else { part }
            }
            TimelineLoop::PingPong => {
                let there_and_back = since.rem_euclid(2.0 * period);
                first + there_and_back.min(2.0 * period - there_and_back)
            }
        }
    }

    /// The value at a time since the start (s), as text. At the time of a key it is the key's.
    #[must_use]
    pub fn value(&self, time: f64, rate: f64) -> String {
        let time = self.wrapped(time, rate);
        // Times since a start are rounded: a key may be reached a little late.
        let is_reached = |key: &TimelineKey| key.time.seconds(rate) <= time + SAME_TIME;
        let next = self.keys.partition_point(is_reached).max(1);
        let Some(from) = self.keys.get(next - 1) else { return String::new() };
        let start = from.time.seconds(rate);
        let blend = || {
            let to = self.keys.get(next).filter(|_| time > start)?;
            let (before, after) = (from.numbers.as_ref()?, to.numbers.as_ref()?);
            let part = (time - start) / (to.time.seconds(rate) - start);
            let progress = from.ease.at(part);
            let known = property(&self.path).filter(|_| before.fits(after) && progress != 0.0)?;
            Some(before.mix(after, progress, self.space, &known))
        };
        blend().unwrap_or_else(|| from.value.clone())
    }

    /// The first number of the value at a time since the start (s); `None` for a name.
    fn number(&self, time: f64, rate: f64) -> Option<f64> {
        let value = Numbers::parse(&property(&self.path)?, &self.value(time, rate))?;
        value.values.first().copied()
    }
}

/// Times (s) at which the segments of a timeline start, in their order; `None` for one that has not
/// started.
pub type SegmentStarts = [Option<f64>];

impl Timeline {
    /// True if nothing is animated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all_tracks().next().is_none()
    }

    /// All tracks, those of segments included.
    pub fn all_tracks(&self) -> impl Iterator<Item = &TimelineTrack> {
        self.tracks.iter().chain(self.segments.iter().flat_map(|segment| &segment.tracks))
    }

    /// Removes the tracks of a property, and of those that it replaces: a light has one strength.
    pub(super) fn remove(&mut self, path: &str) {
        let light = light_of_strength(path);
        let stays = |track: &TimelineTrack| {
            track.path != path && (light.is_none() || light_of_strength(&track.path) != light)
        };
        self.tracks.retain(stays);
        for segment in &mut self.segments {
            segment.tracks.retain(stays);
        }
    }

    /// Checks the order of all keys at a rate in frames per second.
    ///
    /// # Errors
    /// [`TimelineError::KeyOrder`], with frames and seconds mixed.
    pub fn check_order(&self, rate: f64) -> Result<(), LookError> {
        for track in self.all_tracks() {
            track.check_order(rate)?;
        }
        Ok(())
    }

    /// Length in s at a rate in frames per second: the last key of all tracks, where segments start
    /// at 0 s or `after` a time.
    #[must_use]
    pub fn duration(&self, rate: f64) -> f64 {
        let end = |tracks: &[TimelineTrack]| {
            let last = tracks.iter().filter_map(|track| track.keys.last());
            last.map(|key| key.time.seconds(rate)).fold(0.0, f64::max)
        };
        let of_segment = |segment: &TimelineSegment| {
            let start = if let Condition::After(time) = segment.start { time } else { 0.0 };
            start + end(&segment.tracks)
        };
        self.segments.iter().map(of_segment).fold(end(&self.tracks), f64::max)
    }

    /// The track that sets each property at a time (s), with the time since its start. Of several
    /// started segments, the last one to start applies; of those that start together, the last
    /// of the file.
    fn current<'a>(
        &'a self,
        time: f64,
        starts: &SegmentStarts,
    ) -> impl Iterator<Item = (&'a TimelineTrack, f64)> {
        let mut current: Vec<(&TimelineTrack, f64)> =
            self.tracks.iter().map(|track| (track, 0.0)).collect();
        for (segment, start) in self.segments.iter().zip(starts) {
            let Some(start) = start.filter(|start| *start <= time) else { continue };
            for track in &segment.tracks {
                match current.iter_mut().find(|(other, _)| other.path == track.path) {
                    Some(other) if other.1 <= start => *other = (track, start),
                    Some(_) => {}
                    None => current.push((track, start)),
                }
            }
        }
        current.into_iter().map(move |(track, start)| (track, time - start))
    }

    /// The animated properties with their values at a time (s), at a rate in frames per second. A
    /// property of segments alone is absent before the first of them.
    #[must_use]
    pub fn values<'a>(
        &'a self,
        time: f64,
        rate: f64,
        starts: &SegmentStarts,
    ) -> Vec<(&'a TimelineTrack, String)> {
        let current = self.current(time, starts);
        current.map(|(track, since)| (track, track.value(since, rate))).collect()
    }

    /// The number of an animated property at a time (s); `None` before its first track.
    #[must_use]
    pub fn number(&self, path: &str, time: f64, rate: f64, starts: &SegmentStarts) -> Option<f64> {
        let (track, since) = self.current(time, starts).find(|(track, _)| track.path == path)?;
        track.number(since, rate)
    }
}

/// True if a number has passed a value: it was on one side of it, and is on it or on the other.
#[must_use]
pub fn passes(before: f64, now: f64, value: f64) -> bool {
    let (before, now) = (before - value, now - value);
    before != 0.0 && (now == 0.0 || before.is_sign_positive() != now.is_sign_positive())
}
