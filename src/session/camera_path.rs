//! Camera paths: keyframes of position and target, read from `NAME.path.toml`, for benchmarks in
//! motion.

use std::path::Path;

use glam::{DMat4, DVec3};
use serde::Deserialize;

use super::{error::SessionError, request::OpenRequest};
use crate::{
    message::{read_file, utf8_text},
    scene::{
        build::look_at_transform,
        look::{LookError, syntax_error},
        procedural::demos::Demo,
    },
};

/// Maximum size of a path file (bytes).
const MAX_BYTES: u64 = 1 << 20;
/// Maximum time of a keyframe (s).
const MAX_SECONDS: f64 = 3600.0;
/// Maximum coordinate of a position (m).
const MAX_COORDINATE: f64 = 1e6;

/// A keyframe of a path file.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyframeEntry {
    /// Time in s, 0 to `MAX_SECONDS`; 0 for the first keyframe.
    time: f64,
    /// World position of the camera (m).
    position: [f64; 3],
    /// World position at the center of the picture (m).
    target: [f64; 3],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PathFile {
    keyframe: Vec<KeyframeEntry>,
}

/// A checked keyframe; the members are those of its entry.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Keyframe {
    time: f64,
    position: DVec3,
    target: DVec3,
}

impl From<KeyframeEntry> for Keyframe {
    fn from(entry: KeyframeEntry) -> Self {
        let KeyframeEntry { time, position, target } = entry;
        Self { time, position: position.into(), target: target.into() }
    }
}

/// A camera path through keyframes, at least two, sorted by time.
#[derive(Clone, Debug, PartialEq)]
pub struct CameraPath {
    keyframes: Vec<Keyframe>,
}

impl CameraPath {
    /// Parses the text of a path file.
    ///
    /// # Errors
    /// One line: the keyframe and what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: PathFile =
            toml_edit::de::from_str(text).map_err(|error| syntax_error(text, &error.into()))?;
        let keyframes: Vec<Keyframe> = file.keyframe.into_iter().map(Keyframe::from).collect();
        if keyframes.len() < 2 {
            return Err(format!(
                "{} keyframe; expected at least two sections [[keyframe]]",
                keyframes.len()
            ));
        }
        let mut before = None;
        for (number, keyframe) in keyframes.iter().enumerate() {
            let invalid = |what: String| Err(format!("keyframe {}: {what}", number + 1));
            let Keyframe { time, position, target } = *keyframe;
            let expected = match before {
                None => (time != 0.0).then(|| "expected 0 for the first keyframe".to_owned()),
                Some(before) => (!(time > before && time <= MAX_SECONDS))
                    .then(|| format!("expected more than {before}, at most {MAX_SECONDS} s")),
            };
            if let Some(expected) = expected {
                return invalid(format!("invalid time {time}: {expected}"));
            }
            before = Some(time);
            for (name, at) in [("position", position), ("target", target)] {
                // NaN fails the comparison.
                if !at.abs().cmple(DVec3::splat(MAX_COORDINATE)).all() {
                    return invalid(format!(
                        "invalid {name} [{}, {}, {}]: expected meters within +-{MAX_COORDINATE}",
                        at.x, at.y, at.z
                    ));
                }
            }
            if position == target {
                return invalid(
                    "target is the camera's own position; aim it at another point".into(),
                );
            }
        }
        Ok(Self { keyframes })
    }

    /// Reads a path file.
    ///
    /// # Errors
    /// [`SessionError::Look`] for an unreadable file or an invalid path; it names the file.
    pub fn read(file: &Path) -> Result<Self, SessionError> {
        let invalid = |detail: String| {
            SessionError::Look(LookError::Input {
                property: "camera path".into(),
                file: file.display().to_string(),
                detail,
            })
        };
        let bytes = read_file(file, MAX_BYTES, "a camera path (TOML)").map_err(invalid)?;
        let text = utf8_text(bytes, "a camera path (TOML)").map_err(invalid)?;
        Self::parse(&text).map_err(invalid)
    }

    /// The path of a scene: of a demo, or the file `NAME.path.toml` beside a scene file.
    ///
    /// # Errors
    /// [`SessionError::InvalidRequest`] if there is none, and as [`CameraPath::read`].
    pub fn of(request: &OpenRequest) -> Result<Self, SessionError> {
        if let Some(builtin) = request.builtin()? {
            let text = Demo::named(builtin.name).and_then(Demo::camera_path).ok_or_else(|| {
                SessionError::Internal(format!("demo {} has no camera path", builtin.name))
            })?;
            return Self::parse(text).map_err(|detail| {
                SessionError::Internal(format!("camera path of {}: {detail}", builtin.name))
            });
        }
        let scene = request.scene.as_deref().unwrap_or(Path::new(""));
        let beside = scene.with_extension("path.toml");
        if !beside.is_file() {
            return Err(SessionError::InvalidRequest(format!(
                "{} has no camera path: {} does not exist; write it (docs/bench.md) or name \
                 another with --camera-path",
                request.name(),
                beside.display()
            )));
        }
        Self::read(&beside)
    }

    /// Duration in s.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.keyframes.last().map_or(0.0, |last| last.time)
    }

    /// Position and target at a time in s, clamped to the path: cubic Hermite curves through the
    /// keyframes, each tangent the slope between the neighbors (Catmull and Rom 1974, with unequal
    /// intervals).
    #[must_use]
    pub fn at(&self, time: f64) -> (DVec3, DVec3) {
        let time = time.clamp(0.0, self.duration());
        let keys = &self.keyframes;
        let next = keys.partition_point(|key| key.time <= time).clamp(1, keys.len().max(2) - 1);
        let (Some(from), Some(to)) = (keys.get(next - 1), keys.get(next)) else {
            return keys.first().map_or((DVec3::ZERO, DVec3::NEG_Z), |k| (k.position, k.target));
        };
        let before = next.checked_sub(2).and_then(|index| keys.get(index)).unwrap_or(from);
        let after = keys.get(next + 1).unwrap_or(to);
        let span = to.time - from.time;
        let s = (time - from.time) / span;
        let curve = |of: fn(&Keyframe) -> DVec3| {
            let slope = |a: &Keyframe, b: &Keyframe| (of(b) - of(a)) / (b.time - a.time);
            let (m0, m1) = (slope(before, to) * span, slope(from, after) * span);
            let (s2, s3) = (s * s, s * s * s);
            of(from) * (2.0 * s3 - 3.0 * s2 + 1.0)
                + m0 * (s3 - 2.0 * s2 + s)
                + of(to) * (3.0 * s2 - 2.0 * s3)
                + m1 * (s3 - s2)
        };
        (curve(|key| key.position), curve(|key| key.target))
    }

    /// Camera-to-world transform at a time in s (the camera looks down -Z, its picture is level).
    #[must_use]
    pub fn transform(&self, time: f64) -> DMat4 {
        let (position, target) = self.at(time);
        look_at_transform(position, target)
    }
}
