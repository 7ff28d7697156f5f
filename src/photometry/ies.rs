//! Photometric files, IES LM-63 of 1986 to 2019 and EULUMDAT: the luminous intensity distribution
//! of a luminaire in candela.
//!
//! ANSI/IESNA LM-63-2002 (and its editions of 1986, 1991, 1995, 2019) for the file, IES LM-75-01
//! for the coordinates; `eulumdat` has the other format. The parser takes bytes and does no I/O;
//! the content, not the file name, selects the format. Files are untrusted: every count is bounded,
//! nothing is allocated before it has been read, and every error states the line and a remedy.
//! Invalid fields that do not affect light give a note, not an error.
//!
//! In the light's space (it emits along -Z, +X to its right, +Y up):
//! - type C (most luminaires): vertical 0 is -Z ("down"), 180 is +Z; horizontal 0 is +X, 90 is +Y,
//!   counter-clockwise seen from +Z. The opening's length lies along X, its width along Y.
//! - type B (floodlights): both angles 0 is -Z; the planes turn around X by the vertical angle,
//!   towards +Y; the horizontal angle is measured from the middle of the plane towards +X.
//! - type A (vehicle lamps): both angles 0 is -Z; the planes turn around Y by the horizontal angle,
//!   towards +X; the vertical angle rises towards +Y.

mod eulumdat;
mod text;

use std::f64::consts::TAU;

use glam::DVec3;

use super::units::{Candela, Lumen};

/// Maximum file size in bytes.
pub const MAX_BYTES: usize = 64 << 20;
/// Maximum angles in a list: steps of 1/40 degree around the circle.
pub const MAX_ANGLES: usize = 14_401;
/// Maximum candela values in a file.
pub const MAX_VALUES: usize = 1 << 23;
/// Maximum lines before `TILT=` that are kept.
const MAX_HEAD_LINES: usize = 4096;
/// Maximum pairs of tilt angle and factor.
const MAX_TILT_PAIRS: usize = 3601;
/// Negative candela values count as 0 if within this fraction of the maximum: photometer noise or
/// rounding.
const NEGATIVE_TOLERANCE: f64 = 0.02;
/// Tolerance in degrees for angles at the end of a range, which snap to it: 180.01, or 89.99 for a
/// quadrant.
const ANGLE_SLACK: f64 = 0.1;

/// Error of a photometric file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum IesError {
    /// More than `MAX_BYTES`.
    #[error("the file has {0} bytes; expected a photometric file of at most {MAX_BYTES} bytes")]
    TooLarge(usize),
    /// An empty file.
    #[error("the file is empty; export it again")]
    Empty,
    /// Neither IES, whose numbers follow a line `TILT=`, nor EULUMDAT, with numbers in lines 2 to
    /// 7.
    #[error(
        "no line starts with TILT=, which an IES file needs before its numbers (such as TILT=NONE), and lines 2 to 7 are \
         not the numbers of a EULUMDAT (.ldt) file"
    )]
    NoTilt,
    /// A file of another kind.
    #[error("it is {0}; a photometric file is IES LM-63 (.ies) or EULUMDAT (.ldt)")]
    Foreign(&'static str),
    /// An error in a EULUMDAT file.
    #[error("EULUMDAT: {0}")]
    Eulumdat(Box<Self>),
    /// The file ends too early.
    #[error(
        "line {line}: the file ends where {what} should be; it is cut off, or a count before it is too large"
    )]
    Truncated {
        /// The last line, from 1.
        line: usize,
        /// The missing value.
        what: &'static str,
    },
    /// A token that is not a finite number.
    #[error("line {line}: \"{token}\" is no finite number; expected {what}")]
    Number {
        /// The line, from 1.
        line: usize,
        /// The token, at most 32 characters of it.
        token: String,
        /// The expected value.
        what: &'static str,
    },
    /// A number out of range.
    #[error("line {line}: {what} is {value}; it must be {allowed}")]
    Range {
        /// The line, from 1.
        line: usize,
        /// Name of the number.
        what: &'static str,
        /// The number.
        value: f64,
        /// The valid range.
        allowed: &'static str,
    },
    /// Angles that are not in ascending order.
    #[error("line {line}: {what} {value} follows {previous}; the angles must rise")]
    Unsorted {
        /// The line, from 1.
        line: usize,
        /// The list, by name.
        what: &'static str,
        /// The angle.
        value: f64,
        /// The one before it.
        previous: f64,
    },
    /// Horizontal angles that match no known symmetry.
    #[error(
        "line {line}: horizontal angles from {first} to {last} fit no symmetry of type {kind}; type C has 0 to 0, 90, \
         180 or up to 360, or 90 to 270, types A and B have 0 to 90 or -90 to 90"
    )]
    Symmetry {
        /// The line of the last angle, from 1.
        line: usize,
        /// The first angle.
        first: f64,
        /// The last angle.
        last: f64,
        /// The type.
        kind: PhotometricType,
    },
}

/// The format that a file follows: the edition of LM-63, from its first line, or EULUMDAT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IesVersion {
    /// LM-63-1986: no header line.
    Lm63_1986,
    /// LM-63-1991: `IESNA91`.
    Lm63_1991,
    /// LM-63-1995: `IESNA:LM-63-1995`.
    Lm63_1995,
    /// ANSI/IESNA LM-63-2002: `IESNA:LM-63-2002`.
    Lm63_2002,
    /// ANSI/IES LM-63-19: `IES:LM-63-2019`.
    Lm63_2019,
    /// EULUMDAT, which has no editions to tell apart (Stockmar 1990 and 1998).
    Eulumdat,
}

impl std::fmt::Display for IesVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Lm63_1986 => "LM-63-1986",
            Self::Lm63_1991 => "LM-63-1991",
            Self::Lm63_1995 => "LM-63-1995",
            Self::Lm63_2002 => "LM-63-2002",
            Self::Lm63_2019 => "LM-63-2019",
            Self::Eulumdat => "EULUMDAT",
        })
    }
}

/// The coordinates of a file (LM-75-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhotometricType {
    /// Vehicle lamps; file code 3.
    A,
    /// Floodlights; file code 2.
    B,
    /// All others; file code 1.
    C,
}

impl std::fmt::Display for PhotometricType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
        })
    }
}

/// Symmetry of the listed horizontal angles (LM-63-2002, horizontal angles).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// One plane: the same for every horizontal angle.
    Axial,
    /// Type C, 0 to 90: mirrored in both planes.
    Quadrant,
    /// Type C, 0 to 180: mirrored in the plane 0-180.
    Bilateral,
    /// Type C, 90 to 270: mirrored in the plane 90-270.
    Bilateral90,
    /// Type C, 0 to more than 180: all around; the last plane is joined to the first.
    Full,
    /// Types A and B, 0 to at most 90 (A: 180): mirrored in the plane 0.
    Mirrored,
    /// Types A and B from a negative angle: as listed, dark beyond.
    Listed,
}

impl std::fmt::Display for Symmetry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Axial => "around the axis",
            Self::Quadrant => "by quadrants",
            Self::Bilateral => "left and right of the plane 0-180",
            Self::Bilateral90 => "left and right of the plane 90-270",
            Self::Full => "none, all around",
            Self::Mirrored => "left and right of the plane 0",
            Self::Listed => "none, as listed",
        })
    }
}

/// Dependence of the output on the lamp's tilt.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Tilt {
    /// No dependence.
    #[default]
    None,
    /// By factors in the file, for the burning position of a lamp: `candela` and `lumens` are
    /// without them.
    Include {
        /// Lamp to luminaire geometry: 1 base up or down, 2 horizontal along 0-180, 3 horizontal
        /// along 90-270.
        geometry: u8,
        /// Tilt angles in degrees, rising, with the factor of each.
        factors: Vec<(f64, f64)>,
    },
    /// By a file of that name, which is not read.
    File(String),
}

impl Tilt {
    /// The factor of the candela at a tilt in degrees: linear between the listed angles, the
    /// nearest beyond; 1 where the file has none.
    #[must_use]
    pub fn factor(&self, degrees: f64) -> f64 {
        let Self::Include { factors, .. } = self else { return 1.0 };
        let after = factors.partition_point(|&(angle, _)| angle <= degrees);
        let before = after.checked_sub(1).and_then(|i| factors.get(i));
        match (before, factors.get(after)) {
            (Some(&(a, fa)), Some(&(b, fb))) => fa + (fb - fa) * (degrees - a) / (b - a),
            (Some(&(_, f)), None) | (None, Some(&(_, f))) => f,
            (None, None) => 1.0,
        }
    }
}

/// The luminous opening of a luminaire in meters; negative numbers mark round shapes (LM-63-2002,
/// table 1).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LuminousOpening {
    /// Along Y.
    pub width: f64,
    /// Along X.
    pub length: f64,
    /// Along Z.
    pub height: f64,
}

/// The shape of an opening (LM-63-2002, table 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OpeningShape {
    /// All zero.
    Point,
    /// Flat, from length (m) and width (m).
    Rectangle(f64, f64),
    /// Flat and round or elliptic, diameters (m) along X and Y.
    Ellipse(f64, f64),
    /// A box with luminous sides.
    Box,
    /// An upright cylinder.
    VerticalCylinder,
    /// A sphere or ellipsoid.
    Ellipsoid,
    /// Any other combination.
    Other,
}

impl LuminousOpening {
    /// The shape encoded by the signs.
    #[must_use]
    pub fn shape(self) -> OpeningShape {
        let sign = |x: f64| if x > 0.0 { 1 } else { -i32::from(x < 0.0) };
        match (sign(self.width), sign(self.length), sign(self.height)) {
            (0, 0, 0) => OpeningShape::Point,
            (1, 1, 0) => OpeningShape::Rectangle(self.length, self.width),
            (-1, -1, 0) => OpeningShape::Ellipse(-self.length, -self.width),
            // Editions before 2002 wrote a circle as a negative width alone.
            (-1, 0, 0) => OpeningShape::Ellipse(-self.width, -self.width),
            (1, 1, 1) => OpeningShape::Box,
            (-1, -1 | 0, 1) => OpeningShape::VerticalCylinder,
            (-1, -1, -1) => OpeningShape::Ellipsoid,
            _ => OpeningShape::Other,
        }
    }
}

/// Redundant ratios of a EULUMDAT file, which also follow from its intensities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedRatios {
    /// LORL: flux of the luminaire over that of its lamps, percent.
    pub light_output: f64,
    /// DFF: fraction of the luminaire's flux below the horizon, percent.
    pub downward: f64,
}

/// A parsed photometric file. All numbers are finite, angles rise, candela are at least 0.
#[derive(Clone, Debug, PartialEq)]
pub struct IesProfile {
    version: IesVersion,
    keywords: Vec<(String, String)>,
    labels: Vec<String>,
    tilt: Tilt,
    lamps: f64,
    lumens_per_lamp: Option<Lumen>,
    kind: PhotometricType,
    symmetry: Symmetry,
    opening: LuminousOpening,
    watts: f64,
    stated: Option<StatedRatios>,
    vertical: Vec<f64>,
    horizontal: Vec<f64>,
    /// By horizontal angle, then vertical; all factors applied.
    candela: Vec<f64>,
    notes: Vec<String>,
}

/// The numbers after `TILT=`, one after the other, each with its line.
struct Tokens<'a> {
    rest: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Tokens<'a> {
    fn new(body: &'a str, first_line: usize) -> Self {
        let words = move |(i, line): (usize, &'a str)| {
            let separators = |c: char| c.is_whitespace() || c == ',' || c == '\0' || c == '\u{1a}';
            line.split(separators)
                .filter(|word| !word.is_empty())
                .map(move |word| (first_line + i, word))
        };
        Self { rest: Box::new(body.split('\n').enumerate().flat_map(words)), line: first_line }
    }

    fn token(&mut self, what: &'static str) -> Result<&'a str, IesError> {
        let (line, token) =
            self.rest.next().ok_or(IesError::Truncated { line: self.line, what })?;
        self.line = line;
        Ok(token)
    }

    fn number(&mut self, what: &'static str) -> Result<f64, IesError> {
        let token = self.token(what)?;
        finite(token).ok_or_else(|| IesError::Number {
            line: self.line,
            token: token.chars().take(32).collect(),
            what,
        })
    }

    /// A number that does not affect the light: `instead`, with a note, if it is invalid.
    fn aside(
        &mut self,
        what: &'static str,
        instead: f64,
        ok: fn(f64) -> bool,
        notes: &mut Vec<String>,
    ) -> Result<f64, IesError> {
        let token = self.token(what)?;
        let good = finite(token).filter(|&value| ok(value));
        if good.is_none() {
            let token: String = token.chars().take(32).collect();
            notes.push(format!(
                "line {}: {what} is {token}, which is invalid; it does not affect the light",
                self.line
            ));
        }
        Ok(good.unwrap_or(instead))
    }

    fn checked(
        &mut self,
        what: &'static str,
        allowed: &'static str,
        ok: fn(f64) -> bool,
    ) -> Result<f64, IesError> {
        let value = self.number(what)?;
        if ok(value) {
            Ok(value)
        } else {
            Err(IesError::Range { line: self.line, what, value, allowed })
        }
    }

    fn count(&mut self, what: &'static str, least: usize, most: usize) -> Result<usize, IesError> {
        let value = self.number(what)?;
        if value.fract() == 0.0 && value >= least as f64 && value <= most as f64 {
            // In range, so the cast is exact.
            Ok(value as usize)
        } else {
            let allowed = match (least, most) {
                (2, MAX_ANGLES) => "a whole number from 2 to 14401",
                (1, MAX_ANGLES) => "a whole number from 1 to 14401",
                (1, MAX_TILT_PAIRS) => "a whole number from 1 to 3601",
                (1, 2) => "1 or 2",
                _ => "1, 2 or 3",
            };
            Err(IesError::Range { line: self.line, what, value, allowed })
        }
    }

    fn rising(&mut self, count: usize, what: &'static str) -> Result<Vec<f64>, IesError> {
        let mut angles: Vec<f64> = Vec::new();
        for _ in 0..count {
            let value = self.number(what)?;
            if let Some(&previous) = angles.last()
                && value <= previous
            {
                return Err(IesError::Unsorted { line: self.line, what, value, previous });
            }
            angles.push(value);
        }
        Ok(angles)
    }
}

/// Parses a finite number. Rust also parses "nan" and "inf", which no edition of the standard has.
fn finite(token: &str) -> Option<f64> {
    token.parse().ok().filter(|x: &f64| x.is_finite() && x.abs() < 1e15)
}

/// Listed intensities; slightly negative ones count as 0.
#[derive(Default)]
struct Listed {
    values: Vec<f64>,
    below: usize,
    /// The lowest value and its line.
    lowest: f64,
    line: usize,
}

impl Listed {
    fn push(&mut self, value: f64, line: usize) {
        if value < self.lowest {
            (self.lowest, self.line) = (value, line);
        }
        self.below += usize::from(value < 0.0);
        self.values.push(value.max(0.0));
    }

    /// The values times a factor.
    fn times(self, factor: f64, notes: &mut Vec<String>) -> Result<Vec<f64>, IesError> {
        let peak = self.values.iter().copied().fold(0.0, f64::max);
        if -self.lowest > NEGATIVE_TOLERANCE * peak {
            let allowed = "at least 0 (to -2 % of the strongest counts as 0)";
            return Err(IesError::Range {
                line: self.line,
                what: "the candela value",
                value: self.lowest,
                allowed,
            });
        }
        if self.below > 0 {
            let (count, lowest, line) = (self.below, self.lowest, self.line);
            notes.push(format!("candela values below 0: {count}, the lowest {lowest} in line {line}; they count as 0"));
        }
        Ok(self.values.into_iter().map(|value| value * factor).collect())
    }
}

/// Snaps the ends of an ascending list to these angles, within the tolerance.
fn snapped(mut angles: Vec<f64>, ends: &[f64], what: &str, notes: &mut Vec<String>) -> Vec<f64> {
    let last = angles.len().saturating_sub(1);
    for at in [0, last] {
        let Some(&value) = angles.get(at) else { continue };
        let Some(&end) =
            ends.iter().find(|&&end| end != value && (end - value).abs() <= ANGLE_SLACK)
        else {
            continue;
        };
        let before = at
            .checked_sub(1)
            .and_then(|before| angles.get(before))
            .copied()
            .unwrap_or(f64::NEG_INFINITY);
        let after = angles.get(at + 1).copied().unwrap_or(f64::INFINITY);
        if before < end && end < after {
            notes.push(format!("{what} {value} counts as {end}"));
            angles[at] = end;
        }
    }
    angles
}

impl IesProfile {
    /// Parses the bytes of a file, IES or EULUMDAT by its content. Accepts UTF-8, Latin-1, UTF-16
    /// and UTF-32 (with a note), and all line endings.
    ///
    /// LM-63-2002. Candela are `value * multiplier * ballast factor`, in editions up to 1995 also
    /// times the ballast-lamp factor, whose field is "future use" in 2002 and the file's type in
    /// 2019.
    ///
    /// # Errors
    /// [`IesError`] with the line of the malformed part. Never panics; memory stays within a small
    /// multiple of the file size.
    pub fn parse(bytes: &[u8]) -> Result<Self, IesError> {
        if bytes.len() > MAX_BYTES {
            return Err(IesError::TooLarge(bytes.len()));
        }
        if let Some(kind) = text::foreign(bytes) {
            return Err(IesError::Foreign(kind));
        }
        let mut notes = Vec::new();
        let text = text::decode(bytes, &mut notes).replace("\r\n", "\n").replace('\r', "\n");
        if text.trim_matches(|c: char| c.is_whitespace() || c == '\0' || c == '\u{1a}').is_empty() {
            return Err(IesError::Empty);
        }
        let mut head_end = 0;
        let mut found = None;
        for (i, line) in text.split('\n').enumerate() {
            if let Some((start, value)) = line.split_once('=')
                && start.trim().eq_ignore_ascii_case("TILT")
            {
                let body = text.get(head_end + line.len() + 1..).unwrap_or("");
                found = Some((value.trim().to_owned(), Tokens::new(body, i + 2)));
                break;
            }
            head_end += line.len() + 1;
        }
        let Some((tilt_value, mut tokens)) = found else {
            return match eulumdat::parse(&text, notes) {
                Some(parsed) => parsed.map_err(|error| IesError::Eulumdat(Box::new(error))),
                None => Err(text::markup(&text).map_or(IesError::NoTilt, IesError::Foreign)),
            };
        };
        let (version, keywords, labels) = header(text.get(..head_end).unwrap_or(""), &mut notes);
        let tilt = if tilt_value.eq_ignore_ascii_case("NONE") {
            Tilt::None
        } else if tilt_value.eq_ignore_ascii_case("INCLUDE") {
            let known = |x: f64| [1.0, 2.0, 3.0].contains(&x);
            let geometry =
                tokens.aside("the lamp-to-luminaire geometry", 1.0, known, &mut notes)? as u8;
            let pairs = tokens.count("the number of tilt angles", 1, MAX_TILT_PAIRS)?;
            let angles = tokens.rising(pairs, "the tilt angle")?;
            let mut factors = Vec::new();
            for angle in angles {
                factors
                    .push((angle, tokens.checked("the tilt factor", "at least 0", |x| x >= 0.0)?));
            }
            Tilt::Include { geometry, factors }
        } else {
            notes
                .push(format!("the tilt file \"{tilt_value}\" is not read; the output is assumed independent of tilt"));
            Tilt::File(tilt_value)
        };

        let lamps = tokens.aside("the number of lamps", 1.0, |x| x >= 0.0, &mut notes)?;
        let rated =
            tokens.aside("the lumens per lamp", -1.0, |x| x >= 0.0 || x == -1.0, &mut notes)?;
        let multiplier = tokens.checked("the candela multiplier", "above 0", |x| x > 0.0)?;
        let vertical_count = tokens.count("the number of vertical angles", 2, MAX_ANGLES)?;
        let horizontal_count = tokens.count("the number of horizontal angles", 1, MAX_ANGLES)?;
        if vertical_count * horizontal_count > MAX_VALUES {
            let value = (vertical_count * horizontal_count) as f64;
            let allowed = "at most 8388608 in all";
            return Err(IesError::Range {
                line: tokens.line,
                what: "the number of candela values",
                value,
                allowed,
            });
        }
        let kind = match tokens.count("the photometric type", 1, 3)? {
            1 => PhotometricType::C,
            2 => PhotometricType::B,
            _ => PhotometricType::A,
        };
        let unit = tokens.aside("the unit of length", 2.0, |x| x == 1.0 || x == 2.0, &mut notes)?;
        let meters = if unit == 1.0 { 0.3048 } else { 1.0 };
        let mut side =
            |what| Ok::<f64, IesError>(tokens.aside(what, 0.0, |_| true, &mut notes)? * meters);
        let opening = LuminousOpening {
            width: side("the opening's width")?,
            length: side("the opening's length")?,
            height: side("the opening's height")?,
        };
        let ballast = tokens.checked("the ballast factor", "above 0", |x| x > 0.0)?;
        let ballast_lamp = match version {
            IesVersion::Lm63_1986 | IesVersion::Lm63_1991 | IesVersion::Lm63_1995 => {
                let factor = tokens.number("the ballast-lamp factor")?;
                if factor <= 0.0 {
                    notes.push(format!("the ballast-lamp factor {factor} is taken for 1"));
                }
                if factor > 0.0 { factor } else { 1.0 }
            }
            // In 2002 its field is "future use", in 2019 the file's type.
            _ => {
                tokens.aside("the field of future use", 1.0, |_| true, &mut notes)?;
                1.0
            }
        };
        let watts = tokens.aside("the input watts", 0.0, |x| x >= 0.0, &mut notes)?;

        let vertical = tokens.rising(vertical_count, "the vertical angle")?;
        let (least, most, allowed) = match kind {
            PhotometricType::C => (0.0, 180.0, "within 0 to 180 degrees"),
            PhotometricType::B => (-180.0, 180.0, "within -180 to 180 degrees"),
            PhotometricType::A => (-90.0, 90.0, "within -90 to 90 degrees"),
        };
        let beyond: Vec<f64> = [least, most]
            .into_iter()
            .filter(|_| vertical.iter().any(|&v| v < least || v > most))
            .collect();
        let vertical = snapped(vertical, &beyond, "the vertical angle", &mut notes);
        if let Some(&value) = vertical.iter().find(|&&v| v < least || v > most) {
            return Err(IesError::Range {
                line: tokens.line,
                what: "a vertical angle",
                value,
                allowed,
            });
        }
        let horizontal = tokens.rising(horizontal_count, "the horizontal angle")?;
        let ends: &[f64] = match kind {
            _ if horizontal_count == 1 => &[],
            PhotometricType::C => &[0.0, 90.0, 180.0, 270.0, 360.0],
            // A list from a negative angle has no mirror: its first angle does not snap to 0.
            _ if horizontal.first().is_some_and(|&first| first > 0.0) => &[0.0, 90.0, 180.0],
            _ => &[-180.0, -90.0, 90.0, 180.0],
        };
        let horizontal = snapped(horizontal, ends, "the horizontal angle", &mut notes);
        let symmetry = symmetry(kind, &horizontal, tokens.line)?;

        let factor = multiplier * ballast * ballast_lamp;
        let mut listed = Listed::default();
        for _ in 0..vertical_count * horizontal_count {
            let value = tokens.number("the candela value")?;
            listed.push(value, tokens.line);
        }
        let candela = listed.times(factor, &mut notes)?;
        if !candela.iter().all(|c| c.is_finite()) {
            let (what, allowed) =
                ("the product of all multipliers", "small enough for finite candela");
            return Err(IesError::Range { line: tokens.line, what, value: factor, allowed });
        }
        if let Some((line, _)) = tokens.rest.next() {
            notes.push(format!("line {line}: text after the last candela value is ignored"));
        }
        let lumens_per_lamp = (rated >= 0.0).then_some(Lumen(rated));
        Ok(Self {
            version,
            keywords,
            labels,
            tilt,
            lamps,
            lumens_per_lamp,
            kind,
            symmetry,
            opening,
            watts,
            stated: None,
            vertical,
            horizontal,
            candela,
            notes,
        })
    }

    /// The edition that the file follows.
    #[must_use]
    pub const fn version(&self) -> IesVersion {
        self.version
    }

    /// Keywords (without brackets) and values, in order; `[MORE]` is appended to the previous one.
    #[must_use]
    pub fn keywords(&self) -> &[(String, String)] {
        &self.keywords
    }

    /// Header lines without a keyword, such as the labels of 1986.
    #[must_use]
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Dependence of the output on the lamp's tilt.
    #[must_use]
    pub const fn tilt(&self) -> &Tilt {
        &self.tilt
    }

    /// The rated lumens of all lamps; `None` for absolute photometry (`-1` in the file).
    #[must_use]
    pub fn rated_lumens(&self) -> Option<Lumen> {
        self.lumens_per_lamp.map(|lumens| lumens * self.lamps)
    }

    /// The coordinates in which the file lists its angles.
    #[must_use]
    pub const fn photometric_type(&self) -> PhotometricType {
        self.kind
    }

    /// Symmetry of the listed horizontal angles.
    #[must_use]
    pub const fn symmetry(&self) -> Symmetry {
        self.symmetry
    }

    /// The luminous opening.
    #[must_use]
    pub const fn opening(&self) -> LuminousOpening {
        self.opening
    }

    /// Input power in watts, at least 0.
    #[must_use]
    pub const fn watts(&self) -> f64 {
        self.watts
    }

    /// Redundant ratios of a EULUMDAT file; `None` for IES.
    #[must_use]
    pub const fn stated(&self) -> Option<StatedRatios> {
        self.stated
    }

    /// The listed vertical angles in degrees, rising, at least two.
    #[must_use]
    pub fn vertical_angles(&self) -> &[f64] {
        &self.vertical
    }

    /// The listed horizontal angles in degrees, rising, at least one.
    #[must_use]
    pub fn horizontal_angles(&self) -> &[f64] {
        &self.horizontal
    }

    /// Notes on ignored or assumed values, one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The maximum listed intensity.
    #[must_use]
    pub fn peak(&self) -> Candela {
        Candela(self.candela.iter().copied().fold(0.0, f64::max))
    }

    /// The listed value at indices of the lists; 0 beyond them.
    fn listed(&self, horizontal: usize, vertical: usize) -> f64 {
        self.candela.get(horizontal * self.vertical.len() + vertical).copied().unwrap_or(0.0)
    }

    /// Intensity at angles in degrees in the file's coordinates: bilinear between the listed
    /// angles, by the file's symmetry, 0 outside of its vertical range. Any horizontal angle is
    /// valid; NaN gives 0.
    ///
    /// LM-63-2002, horizontal angles, for the symmetries.
    #[must_use]
    pub fn candela(&self, vertical: f64, horizontal: f64) -> Candela {
        let Some((h0, h1, h)) = self.locate_horizontal(horizontal) else { return Candela(0.0) };
        let (a, b) = (self.along(h0, vertical), self.along(h1, vertical));
        Candela(a + (b - a) * h)
    }

    /// The intensity in a listed plane at a vertical angle; 0 outside of the list.
    fn along(&self, row: usize, vertical: f64) -> f64 {
        let Some((v0, v1, v)) = locate(&self.vertical, vertical) else { return 0.0 };
        let (a, b) = (self.listed(row, v0), self.listed(row, v1));
        a + (b - a) * v
    }

    /// Rows around a horizontal angle and the interpolation weight of the second.
    fn locate_horizontal(&self, degrees: f64) -> Option<(usize, usize, f64)> {
        if !degrees.is_finite() {
            return None;
        }
        let turn = degrees.rem_euclid(360.0);
        let signed = if turn > 180.0 { turn - 360.0 } else { turn };
        match self.symmetry {
            Symmetry::Axial => Some((0, 0, 0.0)),
            Symmetry::Quadrant => locate(&self.horizontal, 90.0 - (90.0 - signed.abs()).abs()),
            Symmetry::Bilateral | Symmetry::Mirrored => locate(&self.horizontal, signed.abs()),
            Symmetry::Bilateral90 => {
                let folded = if turn < 90.0 {
                    180.0 - turn
                } else if turn > 270.0 {
                    540.0 - turn
                } else {
                    turn
                };
                locate(&self.horizontal, folded)
            }
            Symmetry::Listed => locate(&self.horizontal, signed),
            Symmetry::Full => locate(&self.horizontal, turn).or_else(|| {
                // Between the last plane and the first plus 360 degrees.
                let (&first, &last) = (self.horizontal.first()?, self.horizontal.last()?);
                let after = if turn < first { turn + 360.0 } else { turn };
                Some((self.horizontal.len() - 1, 0, (after - last) / (first + 360.0 - last)))
            }),
        }
    }

    /// Intensity towards a direction in the light's space (see the module); it need not have unit
    /// length. 0 for a zero or non-finite direction.
    ///
    /// LM-75-01: the coordinates of types A, B and C.
    #[must_use]
    pub fn candela_towards(&self, direction: DVec3) -> Candela {
        let Some(d) = direction.try_normalize() else { return Candela(0.0) };
        let (vertical, horizontal) = match self.kind {
            PhotometricType::C => ((d.x.hypot(d.y)).atan2(-d.z), d.y.atan2(d.x)),
            PhotometricType::B => (d.y.atan2(-d.z), d.x.atan2(d.y.hypot(d.z))),
            PhotometricType::A => (d.y.atan2(d.x.hypot(d.z)), d.x.atan2(-d.z)),
        };
        self.candela(vertical.to_degrees(), horizontal.to_degrees())
    }

    /// A table of intensities in candela for the GPU, in type C coordinates for all file types:
    /// `rows` of vertical angles from 0 to 180 degrees inclusive (at least 2), each of
    /// `columns` horizontal angles from 0 to 360 degrees exclusive (at least 1), row after row.
    ///
    /// The edge of the file's angular range is one row wide.
    #[must_use]
    pub fn to_table(&self, rows: usize, columns: usize) -> Vec<f32> {
        let (rows, columns) = (rows.max(2), columns.max(1));
        let mut table = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            let (sin, cos) = (std::f64::consts::PI * row as f64 / (rows - 1) as f64).sin_cos();
            for column in 0..columns {
                let (sin_h, cos_h) = (TAU * column as f64 / columns as f64).sin_cos();
                table.push(
                    self.candela_towards(DVec3::new(sin * cos_h, sin * sin_h, -cos)).0 as f32,
                );
            }
        }
        table
    }

    /// Luminous flux of the luminaire: the exact integral of the interpolation of `candela`.
    ///
    /// Solid angle is `sin V dV dH` in type C, `cos V dV dH` in A and `cos H dH dV` in B
    /// (LM-75-01).
    #[must_use]
    pub fn lumens(&self) -> Lumen {
        let rows: Vec<Vec<f64>> = (0..self.horizontal.len())
            .map(|h| (0..self.vertical.len()).map(|v| self.listed(h, v)).collect())
            .collect();
        self.integral(&self.vertical, &rows)
    }

    /// Fraction of the flux below the horizon, in type C coordinates (DFF of EULUMDAT); `None` for
    /// other types and for profiles without light.
    #[must_use]
    pub fn downward(&self) -> Option<f64> {
        let all = self.lumens().get();
        if self.kind != PhotometricType::C || all <= 0.0 {
            return None;
        }
        let mut below: Vec<f64> = self.vertical.iter().copied().filter(|&v| v < 90.0).collect();
        if self.vertical.last().is_some_and(|&last| last >= 90.0) {
            below.push(90.0);
        }
        let plane = |row: usize| below.iter().map(|&v| self.along(row, v)).collect();
        let rows: Vec<Vec<f64>> = (0..self.horizontal.len()).map(plane).collect();
        Some(self.integral(&below, &rows).get() / all)
    }

    /// The flux of rows of intensities at the listed horizontal angles and these vertical ones.
    fn integral(&self, vertical: &[f64], rows: &[Vec<f64>]) -> Lumen {
        if self.kind == PhotometricType::B {
            let planes: Vec<f64> = rows.iter().map(|row| trapezoids(vertical, row)).collect();
            return Lumen(match self.symmetry {
                Symmetry::Axial => 2.0 * planes.first().copied().unwrap_or(0.0),
                Symmetry::Mirrored => 2.0 * weighted(&self.horizontal, &planes, cos_segment),
                _ => weighted(&self.horizontal, &planes, cos_segment),
            });
        }
        let segment = if self.kind == PhotometricType::C { sin_segment } else { cos_segment };
        let planes: Vec<f64> = rows.iter().map(|row| weighted(vertical, row, segment)).collect();
        let listed = trapezoids(&self.horizontal, &planes);
        Lumen(match self.symmetry {
            Symmetry::Axial => TAU * planes.first().copied().unwrap_or(0.0),
            Symmetry::Quadrant => 4.0 * listed,
            Symmetry::Bilateral | Symmetry::Bilateral90 | Symmetry::Mirrored => 2.0 * listed,
            Symmetry::Listed => listed,
            Symmetry::Full => {
                let ends = (
                    self.horizontal.first(),
                    self.horizontal.last(),
                    planes.first(),
                    planes.last(),
                );
                let (Some(first), Some(last), Some(a), Some(b)) = ends else { return Lumen(0.0) };
                listed + (first + 360.0 - last).max(0.0).to_radians() * (a + b) / 2.0
            }
        })
    }
}

/// Edition, keywords and labels from the text before `TILT=`.
fn header(head: &str, notes: &mut Vec<String>) -> (IesVersion, Vec<(String, String)>, Vec<String>) {
    let first = head.split('\n').next().unwrap_or("").trim();
    let version = [
        ("IESNA:LM-63-2002", IesVersion::Lm63_2002),
        ("IES:LM-63-2019", IesVersion::Lm63_2019),
        ("IESNA:LM-63-2019", IesVersion::Lm63_2019),
        ("IESNA:LM-63-1995", IesVersion::Lm63_1995),
        ("IESNA91", IesVersion::Lm63_1991),
    ]
    .into_iter()
    .find(|(head, _)| first.get(..head.len()).is_some_and(|start| start.eq_ignore_ascii_case(head)))
    .map(|(_, version)| version);
    let mut keywords: Vec<(String, String)> = Vec::new();
    let mut labels = Vec::new();
    for (i, line) in head.split('\n').enumerate().skip(usize::from(version.is_some())) {
        if i >= MAX_HEAD_LINES {
            notes.push(format!("only the first {MAX_HEAD_LINES} lines before TILT= are kept"));
            break;
        }
        let line = line.trim();
        match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((key, value)) if key.eq_ignore_ascii_case("MORE") => {
                if let Some((_, before)) = keywords.last_mut() {
                    before.push('\n');
                    before.push_str(value.trim());
                }
            }
            Some((key, value)) => keywords.push((key.trim().to_owned(), value.trim().to_owned())),
            None if !line.is_empty() => labels.push(line.to_owned()),
            None => {}
        }
    }
    (version.unwrap_or(IesVersion::Lm63_1986), keywords, labels)
}

/// Symmetry of a list of horizontal angles: LM-63-2002, horizontal angles.
fn symmetry(kind: PhotometricType, horizontal: &[f64], line: usize) -> Result<Symmetry, IesError> {
    let (first, last) =
        (horizontal.first().copied().unwrap_or(0.0), horizontal.last().copied().unwrap_or(0.0));
    let refused = Err(IesError::Symmetry { line, first, last, kind });
    let farthest = if kind == PhotometricType::A { 180.0 } else { 90.0 };
    match kind {
        _ if horizontal.len() == 1 => Ok(Symmetry::Axial),
        PhotometricType::C => match (first, last) {
            (0.0, 90.0) => Ok(Symmetry::Quadrant),
            (0.0, 180.0) => Ok(Symmetry::Bilateral),
            (90.0, 270.0) => Ok(Symmetry::Bilateral90),
            (0.0, last) if last > 180.0 && last <= 360.0 => Ok(Symmetry::Full),
            _ => refused,
        },
        _ if first == 0.0 && last <= farthest => Ok(Symmetry::Mirrored),
        _ if first >= -farthest && first < 0.0 && last <= farthest => Ok(Symmetry::Listed),
        _ => refused,
    }
}

/// Indices of the angles around `x` in an ascending list and the weight of the second; `None`
/// outside of the list.
fn locate(angles: &[f64], x: f64) -> Option<(usize, usize, f64)> {
    // Rounding of conversions to degrees and back.
    const SLACK: f64 = 1e-9;
    let (&first, &last) = (angles.first()?, angles.last()?);
    if !(x >= first - SLACK && x <= last + SLACK) {
        return None;
    }
    let after = angles.partition_point(|&angle| angle <= x).clamp(1, angles.len().max(2) - 1);
    let (a, b) = (*angles.get(after - 1)?, *angles.get(after)?);
    Some((after - 1, after, ((x - a) / (b - a)).clamp(0.0, 1.0)))
}

/// Integral of a piecewise linear function over angles in degrees.
fn trapezoids(angles: &[f64], values: &[f64]) -> f64 {
    weighted(angles, values, |a, b, fa, fb| (b - a) * (fa + fb) / 2.0)
}

/// Sum over the segments of a piecewise linear function of `segment(a, b, f(a), f(b))`, a and b in
/// radians.
fn weighted(angles: &[f64], values: &[f64], segment: fn(f64, f64, f64, f64) -> f64) -> f64 {
    let pairs = angles.windows(2).zip(values.windows(2));
    pairs
        .map(|(angle, value)| match (angle, value) {
            (&[a, b], &[fa, fb]) => segment(a.to_radians(), b.to_radians(), fa, fb),
            _ => 0.0,
        })
        .sum()
}

/// Integral of a linear function times the sine: `[-f cos x + f' sin x]` from a to b.
fn sin_segment(a: f64, b: f64, fa: f64, fb: f64) -> f64 {
    let slope = (fb - fa) / (b - a);
    (slope * b.sin() - fb * b.cos()) - (slope * a.sin() - fa * a.cos())
}

/// Integral of a linear function times the cosine: `[f sin x + f' cos x]` from a to b.
fn cos_segment(a: f64, b: f64, fa: f64, fb: f64) -> f64 {
    let slope = (fb - fa) / (b - a);
    (fb * b.sin() + slope * b.cos()) - (fa * a.sin() + slope * a.cos())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "{got} is not {want} within {tolerance}");
    }

    fn parse(text: &str) -> Result<IesProfile, IesError> {
        IesProfile::parse(text.as_bytes())
    }

    /// A file of 2002 from its counts, type and numbers.
    fn file(counts_and_type: &str, numbers: &str) -> IesProfile {
        parse(&format!(
            "IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 {counts_and_type} 2 0 0 0\n1 1 10\n{numbers}\n"
        ))
        .unwrap()
    }

    /// Lumens by brute force over directions, through the whole chain of look-ups.
    fn brute_lumens(profile: &IesProfile) -> f64 {
        let (rows, columns) = (720, 1440);
        let mut sum = 0.0;
        for i in 0..rows {
            let cos = 1.0 - 2.0 * (i as f64 + 0.5) / rows as f64;
            let sin = (1.0 - cos * cos).sqrt();
            for j in 0..columns {
                let (s, c) = (TAU * (j as f64 + 0.5) / columns as f64).sin_cos();
                sum += profile.candela_towards(DVec3::new(sin * c, sin * s, cos)).0;
            }
        }
        sum * 2.0 * TAU / (rows * columns) as f64
    }

    #[test]
    fn factors_and_their_editions() {
        let with = |head: &str| {
            let text = format!(
                "{head}TILT=NONE\n1 1000 2 3 1 1 2 0 0 0\n0.9 0.5 10\n0 45 90\n0\n100 50 0\n"
            );
            parse(&text).unwrap()
        };
        let p = with("IESNA:LM-63-2002\n");
        assert_eq!((p.version(), p.peak()), (IesVersion::Lm63_2002, Candela(180.0)));
        near(p.candela(45.0, 123.0).0, 90.0, 1e-12);
        assert_eq!(with("IES:LM-63-2019\n").peak(), Candela(180.0));
        for (head, version) in [
            ("", IesVersion::Lm63_1986),
            ("IESNA91\n", IesVersion::Lm63_1991),
            ("IESNA:LM-63-1995\n", IesVersion::Lm63_1995),
        ] {
            assert_eq!((with(head).version(), with(head).peak()), (version, Candela(90.0)));
        }
    }

    #[test]
    fn symmetries_of_type_c() {
        let p =
            file("3 5 1", "0 45 90 0 90 180 270 360 100 80 0 100 60 0 100 40 0 100 20 0 100 80 0");
        assert_eq!(p.symmetry(), Symmetry::Full);
        for (h, want) in [
            (0.0, 80.0),
            (90.0, 60.0),
            (270.0, 20.0),
            (315.0, 50.0),
            (360.0, 80.0),
            (-90.0, 20.0),
            (450.0, 60.0),
        ] {
            near(p.candela(45.0, h).0, want, 1e-9);
        }
        near(p.candela(45.0, 359.999).0, 80.0, 1e-3);
        // Without the plane at 360 the last is joined to the first.
        let open = file("3 4 1", "0 45 90 0 90 180 270 100 80 0 100 60 0 100 40 0 100 20 0");
        for h in [0.0, 45.0, 300.0, 315.0, 359.0] {
            near(open.candela(45.0, h).0, p.candela(45.0, h).0, 1e-9);
        }
        near(open.lumens().0, p.lumens().0, 1e-9);
        let q = file("2 3 1", "0 90 0 45 90 100 100 80 40 60 10");
        for h in [30.0, 150.0, 210.0, 330.0, -30.0] {
            near(q.candela(90.0, h).0, q.candela(90.0, 30.0).0, 1e-9);
        }
        let b = file("2 3 1", "0 90 0 90 180 100 80 60 40 20 10");
        near(b.candela(90.0, 270.0).0, 40.0, 1e-9);
        near(b.candela(90.0, 225.0).0, 25.0, 1e-9);
        let side = file("2 3 1", "0 90 90 180 270 100 80 60 40 20 10");
        assert_eq!(side.symmetry(), Symmetry::Bilateral90);
        for (h, want) in
            [(90.0, 80.0), (180.0, 40.0), (0.0, 40.0), (270.0, 10.0), (225.0, 25.0), (315.0, 25.0)]
        {
            near(side.candela(90.0, h).0, want, 1e-9);
        }
        for p in [p, open, q, b, side] {
            near(brute_lumens(&p) / p.lumens().0, 1.0, 5e-3);
        }
    }

    #[test]
    fn outside_of_the_list_is_dark() {
        let p = file("3 1 1", "90 135 180 0 0 50 100");
        assert_eq!(p.candela(45.0, 0.0), Candela(0.0));
        near(p.candela(135.0, 77.0).0, 50.0, 1e-9);
        assert_eq!(p.candela_towards(DVec3::Z), Candela(100.0));
        assert_eq!(p.candela_towards(DVec3::NEG_Z), Candela(0.0));
        for odd in [f64::NAN, f64::INFINITY] {
            assert_eq!((p.candela(odd, 0.0), p.candela(135.0, odd)), (Candela(0.0), Candela(0.0)));
        }
        assert_eq!(p.candela_towards(DVec3::ZERO), Candela(0.0));
    }

    #[test]
    fn types_a_and_b() {
        let a = file("3 3 3", "-90 0 90 0 45 90 0 100 0 0 50 0 0 0 0");
        assert_eq!((a.photometric_type(), a.symmetry()), (PhotometricType::A, Symmetry::Mirrored));
        near(a.candela_towards(DVec3::NEG_Z).0, 100.0, 1e-9);
        near(a.candela_towards(DVec3::new(1.0, 0.0, -1.0)).0, 50.0, 1e-9);
        near(a.candela_towards(DVec3::new(-1.0, 0.0, -1.0)).0, 50.0, 1e-9);
        near(a.candela_towards(DVec3::new(0.0, 1.0, -1.0)).0, 50.0, 1e-9);
        assert_eq!(a.candela_towards(DVec3::Z), Candela(0.0));
        let b = file("5 3 2", "-90 -45 0 45 90 0 45 90 0 50 100 50 0 0 30 60 30 0 0 0 0 0 0");
        near(b.candela_towards(DVec3::NEG_Z).0, 100.0, 1e-9);
        near(b.candela_towards(DVec3::new(1.0, 0.0, -1.0)).0, 60.0, 1e-9);
        near(b.candela_towards(DVec3::new(0.0, 1.0, -1.0)).0, 50.0, 1e-9);
        near(b.candela(45.0, -45.0).0, 30.0, 1e-9);
        let listed = file("3 3 2", "-90 0 90 -90 0 90 0 0 0 0 100 0 0 40 0");
        near(listed.candela(0.0, 90.0).0, 40.0, 1e-9);
        assert_eq!(listed.symmetry(), Symmetry::Listed);
        for p in [a, b, listed] {
            near(brute_lumens(&p) / p.lumens().0, 1.0, 5e-3);
        }
        // The same everywhere is the same in any coordinates.
        let even = [file("2 2 3", "-90 90 -180 180 5 5 5 5"), file("2 1 1", "0 180 0 5 5")];
        for p in even {
            near(p.lumens().0, 5.0 * 2.0 * TAU, 1e-9);
        }
        near(file("2 2 2", "-180 180 -90 90 5 5 5 5").lumens().0, 5.0 * 2.0 * TAU, 1e-9);
        near(file("2 1 2", "-180 180 0 5 5").lumens().0, 5.0 * 2.0 * TAU, 1e-9);
    }

    #[test]
    fn a_lambertian_table_gives_its_lumens() {
        let angles: Vec<f64> = (0..=36).map(|i| f64::from(i) * 2.5).collect();
        let join =
            |values: Vec<f64>| values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        let candela = join(
            angles.iter().map(|a| 1000.0 / std::f64::consts::PI * a.to_radians().cos()).collect(),
        );
        let p = file("37 1 1", &format!("{} 0 {candela}", join(angles)));
        // Linear interpolation of a cosine loses h^2 / 12 of it.
        near(p.lumens().0, 1000.0 * (1.0 - 2.5_f64.to_radians().powi(2) / 12.0), 1e-3);
        let table = p.to_table(181, 4);
        assert_eq!(table.len(), 181 * 4);
        near(f64::from(table[0]), 318.31, 0.01);
        assert_eq!(table[100 * 4], 0.0);
    }

    #[test]
    fn head_tilt_and_wrapped_numbers() {
        let text = b"IESNA91\r\n[TEST] 1\r\n[OTHER] caf\xe9\r\n[MORE] and more\r\nplain\r\nTILT=INCLUDE\r\n2\r\n3\r\n0 45 90\r\n\
            1 .95 .9\r\n1,1000,1,3,1,1,1,-1,-1,0\r\n1,1,10\r\n0\r\n45\r\n90\r\n0\r\n100,50,\r\n0\r\n\x1a";
        let p = IesProfile::parse(text).unwrap();
        assert_eq!(p.keywords()[1], ("OTHER".to_owned(), "caf\u{e9}\nand more".to_owned()));
        assert_eq!(p.labels(), ["plain"]);
        near(p.tilt().factor(22.5), 0.975, 1e-12);
        assert_eq!(
            (p.tilt().factor(-5.0), p.tilt().factor(120.0), Tilt::None.factor(3.0)),
            (1.0, 0.9, 1.0)
        );
        assert_eq!(p.peak(), Candela(100.0));
        assert_eq!(p.opening().shape(), OpeningShape::Ellipse(0.3048, 0.3048));
        assert_eq!((p.rated_lumens(), p.watts()), (Some(Lumen(1000.0)), 10.0));
        assert!(p.notes().is_empty(), "{:?}", p.notes());
        let far =
            parse("TILT=lamp.tlt\n1 -1 1 2 1 1 2 0 0 0\n1 1 10\n0 90\n0\n100 0\nmore\n").unwrap();
        assert_eq!((far.tilt(), far.rated_lumens()), (&Tilt::File("lamp.tlt".to_owned()), None));
        assert!(far.notes()[0].contains("lamp.tlt") && far.notes()[1].contains("line 7"));
        assert_eq!(far.opening().shape(), OpeningShape::Point);
    }

    #[test]
    fn malformed_files_name_the_place() {
        let body =
            |numbers: &str| parse(&format!("IESNA:LM-63-2002\nTILT=NONE\n{numbers}")).unwrap_err();
        assert_eq!(parse("").unwrap_err(), IesError::Empty);
        assert_eq!(parse(" \r\n\t").unwrap_err(), IesError::Empty);
        assert_eq!(parse("IESNA:LM-63-2002\n1 2 3").unwrap_err(), IesError::NoTilt);
        assert_eq!(body(""), IesError::Truncated { line: 3, what: "the number of lamps" });
        let unsorted = body("1 1000 1 3 1 1 2 0 0 0\n1 1 10\n0 90 45\n0\n1 2 3");
        assert!(
            matches!(unsorted, IesError::Unsorted { line: 5, value: 45.0, previous: 90.0, .. }),
            "{unsorted}"
        );
        for bad in ["nan", "inf", "1e999", "x", "-inf", "1.2.3", "--1"] {
            let e = body(&format!("1 1000 1 2 1 1 2 0 0 0\n1 1 10\n0 90\n0\n1 {bad}"));
            assert!(matches!(&e, IesError::Number { line: 7, token, .. } if token == bad), "{e}");
        }
        for (counts, what) in [
            ("2000000000 2000000000 1", "the number of vertical angles"),
            ("-3 1 1", "the number of vertical angles"),
            ("2.5 1 1", "the number of vertical angles"),
            ("1 1 1", "the number of vertical angles"),
            ("14401 14401 1", "the number of candela values"),
            ("2 0 1", "the number of horizontal angles"),
            ("2 1 4", "the photometric type"),
        ] {
            let e = body(&format!("1 1000 1 {counts} 2 0 0 0\n1 1 10\n0 90\n0\n1 1"));
            assert!(matches!(&e, IesError::Range { line: 3, what: w, .. } if *w == what), "{e}");
        }
        let e = body("1 1000 1 2 2 1 2 0 0 0\n1 1 10\n0 90\n0 45\n1 1 1 1");
        assert!(matches!(e, IesError::Symmetry { line: 6, .. }), "{e}");
        let e = body("1 1000 1 2 1 1 2 0 0 0\n1 1 10\n0 190\n0\n1 1");
        assert!(matches!(e, IesError::Range { what: "a vertical angle", value: 190.0, .. }), "{e}");
        let e = body("1 1000 1 2 1 1 2 0 0 0\n1 1 10\n0 90\n0\n1 -1");
        assert!(e.to_string().contains("line 7: the candela value is -1"), "{e}");
        let e = parse("TILT=INCLUDE\n1\n999999999\n0").unwrap_err();
        assert!(matches!(e, IesError::Range { line: 3, .. }), "{e}");
        assert!(matches!(
            body("1 1000 1 5 1 1 2 0 0 0\n1 1 10\n0 1 2 3 4\n0\n1 2 3"),
            IesError::Truncated { line: 7, .. }
        ));
    }

    #[test]
    fn metadata_errors_do_not_reject_the_profile() {
        let body = "0 45 90\n0\n1000 1000 1000\n";
        for (head, counts, ballast) in [
            ("TILT=NONE", "-1 -1 1 3 1 1 2 0 0 0", "1 1 10"),
            ("TILT=NONE", "none 5000 1 3 1 1 2 0 0 0", "1 1 10"),
            ("TILT=NONE", "1 -1 1 3 1 1 2 0 0 0", "1 1 -1"),
            ("TILT=NONE", "1 -1 1 3 1 1 2 0 0 0", "1 1 n/a"),
            ("TILT=NONE", "1 -5 1 3 1 1 2 0 0 0", "1 1 10"),
            ("TILT=NONE", "1 nan 1 3 1 1 2 0 0 0", "1 1 1e99"),
            ("TILT=NONE", "1 1000 1 3 1 1 0 0 0 0", "1 x 10"),
            ("TILT=NONE", "1 1000 1 3 1 1 2 ? -? 1e30", "1 1 10"),
            ("TILT=INCLUDE\n9\n1\n0\n1", "1 -1 1 3 1 1 2 0 0 0", "1 1 10"),
        ] {
            let p =
                parse(&format!("IESNA:LM-63-2002\n{head}\n{counts}\n{ballast}\n{body}")).unwrap();
            near(p.lumens().0, TAU * 1000.0, 1e-6);
            assert!(
                !p.notes().is_empty() && p.notes()[0].contains("line"),
                "{counts} {ballast}: {:?}",
                p.notes()
            );
            assert!(p.watts() >= 0.0 && p.rated_lumens().is_none_or(|lumens| lumens.0 >= 0.0));
        }
    }

    #[test]
    fn last_digits_are_taken_to_what_they_round() {
        let dim = file("4 1 1", "0 45 90 180 0 1000 1000 1000 -0.01");
        assert_eq!(dim.candela(180.0, 0.0), Candela(0.0));
        assert!(dim.notes()[0].contains("-0.01 in line"), "{:?}", dim.notes());
        let refused = |numbers: &str| {
            let text =
                format!("IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 3 1 1 2 0 0 0\n1 1 10\n{numbers}\n");
            parse(&text).unwrap_err().to_string()
        };
        // 2 % of the strongest is the end.
        assert_eq!(file("3 1 1", "0 45 90 0 1000 -20 0").notes().len(), 1);
        assert!(refused("0 45 90 0 1000 -20.1 0").contains("-20.1"));
        for (counts, numbers, symmetry) in [
            ("2 3 1", "0 90 0 45 89.99 1 1 1 1 1 1", Symmetry::Quadrant),
            ("2 3 1", "0 90 0.01 45 90.05 1 1 1 1 1 1", Symmetry::Quadrant),
            ("2 3 1", "0 180.01 0 90 180.01 1 1 1 1 1 1", Symmetry::Bilateral),
            ("2 3 1", "-0.01 90 90.01 180 269.99 1 1 1 1 1 1", Symmetry::Bilateral90),
            ("2 5 1", "0 90 0 90 180 270 360.01 1 1 1 1 1 1 1 1 1 1", Symmetry::Full),
            ("2 2 2", "-90 90 0.004 90.02 1 1 1 1", Symmetry::Mirrored),
            ("2 2 3", "-90.01 90 -90.01 90.01 1 1 1 1", Symmetry::Listed),
        ] {
            let p = file(counts, numbers);
            assert_eq!(p.symmetry(), symmetry, "{numbers}");
            assert!(p.notes()[0].contains("counts as"), "{:?}", p.notes());
        }
        assert!(refused("0 45 180.2 0 1 1 1").contains("180.2"));
        // A fine list around the axis of type B stays as it is.
        assert_eq!(
            file("2 3 2", "-1 1 -0.05 0 0.05 1 1 1 1 1 1").horizontal_angles(),
            [-0.05, 0.0, 0.05]
        );
    }

    #[test]
    fn encodings_and_other_kinds_of_files() {
        let text =
            "IESNA:LM-63-2002\n  TILT = NONE \n1 1000 1 2 1 1 2 0 0 0\n1 0.5 10\n0 90\n0\n100 0\n";
        let wide: Vec<u8> =
            format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        let p = IesProfile::parse(&wide).unwrap();
        assert_eq!((p.version(), p.peak()), (IesVersion::Lm63_2002, Candela(100.0)));
        assert!(p.notes()[0].contains("UTF-16"));
        let marked =
            [&b"\xef\xbb\xbf"[..], text.replace("TILT", "[A] \u{e4}\nTILT").as_bytes()].concat();
        let latin: Vec<u8> = marked.into_iter().filter(|&byte| byte != 0xc3).collect();
        // The edition is detected despite the byte order mark: the field of future use is no
        // factor.
        let p = IesProfile::parse(&latin).unwrap();
        assert_eq!((p.version(), p.peak()), (IesVersion::Lm63_2002, Candela(100.0)));
        for (bytes, word) in [
            (&b"PK\x03\x04x"[..], "ZIP"),
            (&b"<html>"[..], "web page"),
            (&b"<IESTM33-22/>"[..], "TM-33"),
        ] {
            let error = IesProfile::parse(bytes).unwrap_err().to_string();
            assert!(error.contains(word) && error.contains("EULUMDAT"), "{error}");
        }
    }

    #[test]
    fn any_bytes_are_survived() {
        let good =
            b"IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 3 3 1 2 0 0 0\n1 1 10\n0 45 90\n0 45 90\n9 8 7 6 5 4 3 2 1\n";
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..20_000 {
            let mut bytes = good.to_vec();
            for _ in 0..1 + next() % 4 {
                let at = (next() % bytes.len() as u64) as usize;
                match next() % 3 {
                    0 => bytes[at] = next() as u8,
                    1 => bytes.truncate(at.max(1)),
                    _ => bytes[at] = b"0123456789-., \n\rTE="[(next() % 19) as usize],
                }
            }
            if let Ok(p) = IesProfile::parse(&bytes) {
                assert!(p.lumens().0.is_finite() && p.lumens().0 >= -1e-9);
                assert!(p.downward().is_none_or(|part| (-1e-9..=1.0 + 1e-9).contains(&part)));
                assert!(
                    p.candela((next() % 360) as f64 - 90.0, (next() % 720) as f64 - 360.0)
                        .0
                        .is_finite()
                );
            }
        }
    }
}
