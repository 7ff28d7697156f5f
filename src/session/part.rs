//! Part files of the path tracer: the sums over a range of samples, which `merge` joins to the
//! picture of all samples.
//!
//! A part is an EXR. Its channels R, G, B show the mean of its samples in nits. For each aligned
//! block of samples (`reference::sample_blocks`), 27 sums a pixel are stored in double precision
//! (`image_io::double_exr`) as `sums.FIRST-LAST.NAME`. The attribute `sunny16_part` is JSON with
//! the fields of [`PartHeader`].

use std::{
    fs,
    path::{Path, PathBuf},
};

use glam::DVec3;
use serde::{Deserialize, Serialize};

use crate::{
    image_io::{
        ImageError,
        double_exr::{self, DoublePlanes},
        render_metadata::ascii_json,
    },
    message,
    output::{self, OutputError},
    reference::{Film, FilmSettings, Fingerprint, LightComponents, SampleRange},
};

/// Name of the attribute.
const NAME: &str = "sunny16_part";

/// Version of the format.
const FORMAT: u32 = 1;

/// Maximum size of a part in bytes.
const MAX_FILE: u64 = 1 << 36;

/// Maximum number of pixels of a part, that of the path tracer.
pub const MAX_PIXELS: u64 = 1 << 26;

/// Description of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartHeader {
    /// Version of the format.
    format: u32,
    /// Version of the program.
    pub version: String,
    /// Name of the scene, without its folder.
    pub scene: String,
    /// Name of the camera.
    pub camera: String,
    /// Numbers of the first and the last sample.
    samples: [u32; 2],
    /// Number of samples of the whole picture.
    pub of: u32,
    /// Fingerprint of scene, camera, settings and program, in hexadecimal.
    pub fingerprint: String,
    /// Paths that returned NaN or infinity.
    non_finite_paths: u64,
    /// Fingerprint of the sums, in hexadecimal.
    check: String,
    /// Arguments of `render` that open the scene and set the paths.
    pub arguments: Vec<String>,
}

/// Error of part files. No file is changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// The file cannot be read or is no part.
    #[error("{file}: {detail}")]
    Unusable {
        /// Path of the file.
        file: String,
        /// Cause and remedy.
        detail: String,
    },
    /// Bytes are missing or wrong.
    #[error("{file}: the part is damaged or truncated ({detail}); render samples {range} again")]
    Damaged {
        /// Path of the file.
        file: String,
        /// Samples of the part.
        range: SampleRange,
        /// Cause.
        detail: String,
    },
    /// Two parts have samples in common.
    #[error("{first} and {second} both have samples {range}; omit one of them")]
    Overlap {
        /// Path of a file.
        first: String,
        /// Path of the other file.
        second: String,
        /// The common samples.
        range: SampleRange,
    },
    /// Two parts belong to different pictures.
    #[error(
        "{first} and {second} are parts of different pictures: {difference}; merge parts of one \
         picture"
    )]
    Different {
        /// Path of a file.
        first: String,
        /// Path of the other file.
        second: String,
        /// What differs.
        difference: String,
    },
    /// The scene is not that of the parts.
    #[error(
        "{scene}: it is not the scene of {part}, or the look, the camera or a setting differs; use \
         the files and options with which the part was rendered"
    )]
    OtherScene {
        /// The scene that was opened.
        scene: String,
        /// Path of a part.
        part: String,
    },
}

/// A part file whose header was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartFile {
    /// Path of the file.
    pub file: PathBuf,
    /// Its description.
    pub header: PartHeader,
    /// Its samples.
    pub range: SampleRange,
    /// Width and height in pixels.
    pub size: [usize; 2],
}

fn hexadecimal(print: &Fingerprint) -> String {
    print.bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Fingerprint of all sums.
fn check_of(planes: &DoublePlanes) -> String {
    let mut check = Fingerprint::default();
    for (name, values) in planes {
        check.add(name.as_bytes());
        check.add(bytemuck::cast_slice(values));
    }
    hexadecimal(&check)
}

/// Name of a sum of a block of samples.
fn plane_name(block: SampleRange, name: &str) -> String {
    format!("sums.{block}.{name}")
}

fn check_size(width: u64, height: u64) -> Result<(), String> {
    let is_valid = (1..=MAX_PIXELS).contains(&width.saturating_mul(height));
    let message = || format!("{width}x{height} pixels; expected at most {MAX_PIXELS}");
    is_valid.then_some(()).ok_or_else(message)
}

/// What the header of a new part says beside its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartOrigin {
    /// Name of the scene, without its folder.
    pub scene: String,
    /// Name of the camera.
    pub camera: String,
    /// Number of samples of the whole picture.
    pub of: u32,
    /// Fingerprint of the inputs.
    pub print: Fingerprint,
    /// Arguments of `render` that open the scene and set the paths.
    pub arguments: Vec<String>,
}

/// Writes a film of consecutive samples as a part.
///
/// # Errors
/// [`OutputError`] if the file cannot be written, or the film has no such samples.
pub fn write(file: &Path, film: &Film, origin: PartOrigin) -> Result<(), OutputError> {
    let (ranges, blocks) = (film.ranges().unwrap_or_default(), film.block_ranges());
    let ([range], Some(blocks)) = (ranges.as_slice(), blocks) else {
        let detail = "its pixels have different samples; render it again".into();
        return Err(OutputError { file: file.display().to_string(), detail });
    };
    let names = Film::plane_names();
    let mut planes = DoublePlanes::new();
    for (index, block) in blocks.into_iter().enumerate() {
        let named = names.iter().map(|name| plane_name(block, name));
        planes.extend(named.zip(film.planes(index)));
    }
    let header = PartHeader {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        scene: origin.scene,
        camera: origin.camera,
        samples: [range.first, range.end - 1],
        of: origin.of,
        fingerprint: hexadecimal(&origin.print),
        non_finite_paths: film.non_finite_paths(),
        check: check_of(&planes),
        arguments: origin.arguments,
    };
    let mean = film.mean(LightComponents::total);
    let preview: Vec<[f32; 3]> = mean.into_iter().map(|c: DVec3| c.as_vec3().to_array()).collect();
    let (width, height) = film.size();
    let attribute = (NAME, ascii_json(&header));
    output::write_with(file, |out| {
        let attribute = (attribute.0, attribute.1.as_str());
        double_exr::write(out, [width, height], &preview, &planes, attribute)
    })
}

impl PartFile {
    /// Reads the header of a part.
    ///
    /// # Errors
    /// [`PartError::Unusable`] if the file cannot be read or is no part.
    pub fn open(file: &Path) -> Result<Self, PartError> {
        let unusable =
            |detail: String| PartError::Unusable { file: file.display().to_string(), detail };
        let is_file = fs::metadata(file).map_err(|error| unusable(message::unreadable(&error)))?;
        if !is_file.is_file() {
            return Err(unusable("not a regular file; expected a part".into()));
        }
        let opened = fs::File::open(file).map_err(|error| unusable(message::unreadable(&error)))?;
        let expected = "expected a part, as `render --samples` writes it";
        let found = double_exr::read_header(std::io::BufReader::new(opened), NAME, &check_size)
            .map_err(|error| unusable(format!("{error}; {expected}")))?;
        let header: PartHeader = serde_json::from_str(&found.text)
            .map_err(|error| unusable(format!("invalid attribute {NAME}: {error}; {expected}")))?;
        if header.format != FORMAT {
            let text = format!(
                "it has format {} of parts; expected {FORMAT}; merge with version {} of sunny16",
                header.format, header.version
            );
            return Err(unusable(text));
        }
        let [first, last] = header.samples;
        if first > last || last == u32::MAX {
            return Err(unusable(format!("invalid samples {first}-{last}; {expected}")));
        }
        let range = SampleRange { first, end: last + 1 };
        Ok(Self { file: file.into(), header, range, size: found.size })
    }

    fn name(&self) -> String {
        self.file.display().to_string()
    }

    /// Checks that a part belongs to the same picture.
    ///
    /// # Errors
    /// [`PartError::Different`] with what differs.
    pub fn check_same_picture(&self, other: &Self) -> Result<(), PartError> {
        let (a, b) = (&self.header, &other.header);
        let texts = [
            ("program version", a.version.clone(), b.version.clone()),
            ("scene", a.scene.clone(), b.scene.clone()),
            ("size", format!("{:?}", self.size), format!("{:?}", other.size)),
            ("camera", a.camera.clone(), b.camera.clone()),
        ];
        let named = texts.into_iter().find(|(_, a, b)| a != b);
        let difference = match named {
            Some((what, a, b)) => format!("{what} {a} and {b}"),
            None if a.fingerprint != b.fingerprint => {
                "the contents of the scene, the camera or a setting".into()
            }
            None => return Ok(()),
        };
        Err(PartError::Different { first: self.name(), second: other.name(), difference })
    }

    /// True if the part was rendered from inputs with this fingerprint.
    #[must_use]
    pub fn is_of(&self, print: &Fingerprint) -> bool {
        self.header.fingerprint == hexadecimal(print)
    }

    /// Appends the sums to a film of earlier samples.
    ///
    /// # Errors
    /// [`PartError::Damaged`] if bytes are missing or wrong.
    pub fn append_to(&self, film: &mut Film) -> Result<(), PartError> {
        let damaged =
            |detail: String| PartError::Damaged { file: self.name(), range: self.range, detail };
        let bytes = message::read_file(&self.file, MAX_FILE, "a part")
            .map_err(|detail| PartError::Unusable { file: self.name(), detail })?;
        let (_, mut planes) = double_exr::read(&bytes, NAME, &check_size)
            .map_err(|error: ImageError| damaged(error.to_string()))?;
        drop(bytes);
        if check_of(&planes) != self.header.check {
            return Err(damaged("its check sum is wrong".into()));
        }
        let (width, height) = (self.size[0], self.size[1]);
        let mut own = Film::starting_at(self.range.first, (width, height), FilmSettings::default());
        let names = Film::plane_names();
        for block in self.range.blocks() {
            let taken: Option<Vec<Vec<f64>>> =
                names.iter().map(|name| planes.remove(&plane_name(block, name))).collect();
            let taken = taken.ok_or_else(|| damaged(format!("sums of {block} are missing")))?;
            own.append_planes(block, &taken).map_err(|error| damaged(error.to_string()))?;
        }
        own.add_non_finite_paths(self.header.non_finite_paths);
        film.append(own).map_err(|error| damaged(error.to_string()))
    }
}

/// Sorts parts of one picture by their samples.
///
/// # Errors
/// [`PartError::Different`] for parts of different pictures, [`PartError::Overlap`] for samples
/// that two parts have.
pub fn sort(mut parts: Vec<PartFile>) -> Result<Vec<PartFile>, PartError> {
    if let Some((first, rest)) = parts.split_first() {
        rest.iter().try_for_each(|other| first.check_same_picture(other))?;
    }
    parts.sort_by(|a, b| (a.range, &a.file).cmp(&(b.range, &b.file)));
    // Without an earlier overlap, the last part has the greatest end.
    let mut last: Option<&PartFile> = None;
    for part in &parts {
        if let Some(before) = last.filter(|before| before.range.overlaps(part.range)) {
            let end = before.range.end.min(part.range.end);
            return Err(PartError::Overlap {
                first: before.name(),
                second: part.name(),
                range: SampleRange { first: part.range.first, end },
            });
        }
        last = Some(part);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(file: &str, first: u32, end: u32) -> PartFile {
        let header = PartHeader {
            format: FORMAT,
            version: "0.1.0".into(),
            scene: "a.glb".into(),
            camera: "Hero".into(),
            samples: [first, end - 1],
            of: 64,
            fingerprint: "00".into(),
            non_finite_paths: 0,
            check: String::new(),
            arguments: Vec::new(),
        };
        let range = SampleRange { first, end };
        PartFile { file: file.into(), header, range, size: [8, 4] }
    }

    #[test]
    fn parts_are_sorted_and_overlaps_are_found() {
        let sorted = sort(vec![part("b", 32, 64), part("a", 0, 32)]).unwrap();
        assert_eq!(sorted.iter().map(|part| part.range.first).collect::<Vec<_>>(), [0, 32]);
        let error = sort(vec![part("b", 16, 64), part("a", 0, 32)]).unwrap_err();
        let range = SampleRange { first: 16, end: 32 };
        let expected = PartError::Overlap { first: "a".into(), second: "b".into(), range };
        assert_eq!(error, expected);
        assert_eq!(error.to_string(), "a and b both have samples 16-31; omit one of them");
        let twice = sort(vec![part("b", 0, 32), part("a", 0, 32)]);
        assert!(matches!(twice, Err(PartError::Overlap { .. })), "{twice:?}");
    }

    #[test]
    fn parts_of_other_pictures_are_refused() {
        let difference = |change: fn(&mut PartFile)| {
            let mut other = part("b", 32, 64);
            change(&mut other);
            match sort(vec![part("a", 0, 32), other]) {
                Err(PartError::Different { first, second, difference }) => {
                    assert_eq!((first.as_str(), second.as_str()), ("a", "b"));
                    difference
                }
                other => panic!("{other:?}"),
            }
        };
        let version = difference(|part| part.header.version = "0.2.0".into());
        assert_eq!(version, "program version 0.1.0 and 0.2.0");
        let scene = difference(|part| part.header.scene = "b.glb".into());
        assert_eq!(scene, "scene a.glb and b.glb");
        assert_eq!(difference(|part| part.size = [4, 8]), "size [8, 4] and [4, 8]");
        assert_eq!(difference(|part| part.header.camera = "B".into()), "camera Hero and B");
        let other = difference(|part| part.header.fingerprint = "01".into());
        assert!(other.contains("setting"), "{other}");
    }
}
