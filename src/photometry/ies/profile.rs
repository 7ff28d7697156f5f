//! A photometric file as parsed: its edition, coordinates, symmetry and intensities, and its errors.

use std::f64::consts::TAU;

use glam::DVec3;

use super::{derived::Derived, numbers::TooLow};
use crate::photometry::units::{Candela, Lumen, Steradian};

/// Maximum file size in bytes.
pub const MAX_BYTES: usize = 64 << 20;
/// Maximum angles in a list: steps of 1/40 degree around the circle.
pub const MAX_ANGLES: usize = 14_401;
/// Maximum candela values in a file.
pub const MAX_VALUES: usize = 1 << 23;

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

impl From<TooLow> for IesError {
    fn from(low: TooLow) -> Self {
        Self::Range {
            line: low.line,
            what: "the candela value",
            value: low.value,
            allowed: "at least 0 (to -2 % of the strongest counts as 0)",
        }
    }
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
    pub(super) version: IesVersion,
    pub(super) keywords: Vec<(String, String)>,
    pub(super) tilt: Tilt,
    pub(super) lamps: f64,
    pub(super) lumens_per_lamp: Option<Lumen>,
    pub(super) kind: PhotometricType,
    pub(super) symmetry: Symmetry,
    pub(super) watts: f64,
    pub(super) stated: Option<StatedRatios>,
    pub(super) vertical: Vec<f64>,
    pub(super) horizontal: Vec<f64>,
    /// By horizontal angle, then vertical; all factors applied.
    pub(super) candela: Vec<f64>,
    pub(super) notes: Vec<String>,
    pub(super) is_computed: bool,
    pub(super) derived: Derived,
}

impl IesProfile {
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

    /// True if the table is computed (`from_directions`), not that of a file.
    #[must_use]
    pub const fn is_computed(&self) -> bool {
        self.is_computed
    }

    /// The maximum listed intensity.
    #[must_use]
    pub fn peak(&self) -> Candela {
        let peak = || Candela(self.candela.iter().copied().fold(0.0, f64::max));
        *self.derived.peak.get_or_init(peak)
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

    /// Luminous flux of the luminaire: the exact integral of the interpolation of `candela`.
    ///
    /// Solid angle is `sin V dV dH` in type C, `cos V dV dH` in A and `cos H dH dV` in B
    /// (LM-75-01).
    #[must_use]
    pub fn lumens(&self) -> Lumen {
        *self.derived.lumens.get_or_init(|| {
            let rows: Vec<Vec<f64>> = (0..self.horizontal.len())
                .map(|h| (0..self.vertical.len()).map(|v| self.listed(h, v)).collect())
                .collect();
            self.integral(&self.vertical, &rows)
        })
    }

    /// Flux over maximum intensity within a cone of these half angles (rad, inner and outer), which
    /// `integrate` computes. The profile keeps that of the last cone.
    pub(crate) fn flux_within(
        &self,
        half_angles: [f64; 2],
        integrate: impl FnOnce() -> Steradian,
    ) -> Steradian {
        self.derived.within(half_angles, integrate)
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
