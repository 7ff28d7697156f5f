//! The table of a lens: surfaces, glass, gaps, stop, coatings, and what moves.

use super::{coating::Coating, glass::Glass};

/// The most elements in a table. Zooms of cinema and television have some 60 surfaces.
pub const MAX_ELEMENTS: usize = 128;
/// The most positions of a zoom.
pub const MAX_ZOOMS: usize = 64;
/// Lengths (m) that a prescription may hold: nothing is larger than 100 m.
pub const LENGTH_LIMIT: f64 = 100.0;
/// How far the numbers of a table may be from what it says of itself (focal length, back focus)
/// before it is taken for mistyped: 5 %. Published tables are scaled and rounded by their makers;
/// those that are right lie within 4 %, known mistyped ones beyond 7 %.
pub const TOLERANCE: f64 = 0.05;

/// How far a rounded number may be beyond what it can be: 2 %, as 0.82 for the rim of a surface of
/// radius 0.8146. It is taken to the limit with a note; more is mistyped.
pub const ROUNDING: f64 = 0.02;

/// Why a prescription is refused. Elements are counted from 0, as in its file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrescriptionError {
    /// The text is no prescription at all.
    #[error("{0}")]
    Text(String),
    /// A value of an element.
    #[error("element {element}: {what} is {value}; it must be {allowed}")]
    Element {
        /// Which, from 0.
        element: usize,
        /// What of it.
        what: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// A value of the whole.
    #[error("{what} is {value}; it must be {allowed}")]
    Value {
        /// What.
        what: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        allowed: &'static str,
    },
    /// No elements, or too many.
    #[error("there are {0} elements; a lens has 1 to {MAX_ELEMENTS}")]
    Count(usize),
    /// No stop, or several.
    #[error("{}; mark exactly one element with \"is_stop\": true", stops(.0))]
    Stops(Vec<usize>),
    /// Rays of the axis do not meet behind the last element.
    #[error(
        "it does not focus: parallel light {0}; element {1}, the last with power, or a gap before it may be mistyped"
    )]
    NoFocus(String, usize),
    /// The numbers do not give what the table says of itself.
    #[error(
        "{what} is stated as {stated:.3} mm, but the elements give {found:.3} mm; one of them is mistyped"
    )]
    Contradiction {
        /// Focal length or back focus.
        what: String,
        /// As stated (mm).
        stated: f64,
        /// As computed (mm).
        found: f64,
    },
}

fn stops(found: &[usize]) -> String {
    match found {
        [] => "no element is the stop".into(),
        many => format!("elements {many:?} are all stops"),
    }
}

/// How a surface is curved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SurfaceShape {
    /// Flat.
    Plane,
    /// A sphere of a radius (m), positive with its centre on the sensor's side.
    Sphere(f64),
    /// A cylinder whose axis is level (x): it bends rays up and down.
    CylinderX(f64),
    /// A cylinder whose axis is upright (y): it bends rays left and right, as in anamorphic lenses.
    CylinderY(f64),
}

impl SurfaceShape {
    /// One over the radius (1/m), 0 of a plane.
    #[must_use]
    pub fn curvature(self) -> f64 {
        match self {
            Self::Plane => 0.0,
            Self::Sphere(radius) | Self::CylinderX(radius) | Self::CylinderY(radius) => {
                1.0 / radius
            }
        }
    }

    /// Whether it is curved along x and along y.
    #[must_use]
    pub const fn curved(self) -> [bool; 2] {
        match self {
            Self::Plane => [false, false],
            Self::Sphere(_) => [true, true],
            Self::CylinderX(_) => [false, true],
            Self::CylinderY(_) => [true, false],
        }
    }
}

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ElementKind {
    /// The border of two media.
    Refracting {
        /// Its form.
        shape: SurfaceShape,
        /// The medium behind it.
        after: Glass,
        /// The film on it.
        coating: Option<Coating>,
    },
    /// The iris.
    Stop,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// What it is.
    pub kind: ElementKind,
    /// From its vertex to the next one's (m); of the last, to the sensor when focused at infinity.
    pub gap: f64,
    /// The radius (m) of its clear opening.
    pub semi_aperture: f64,
}

/// A position of a zoom: gaps that differ from the table's.
#[derive(Clone, Debug, PartialEq)]
pub struct Zoom {
    /// The focal length (m) that it is marked with.
    pub focal_length: f64,
    /// Element and its gap (m).
    pub gaps: Vec<(usize, f64)>,
}

/// How the lens is focused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focusing {
    /// The whole lens moves away from the sensor.
    #[default]
    Unit,
    /// Only the elements from the first to the last named move, the others stay.
    Group(usize, usize),
}

/// A lens as its patent writes it. All values are possible ones and it focuses.
#[derive(Clone, Debug, PartialEq)]
pub struct Prescription {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) focal_length: Option<f64>,
    pub(super) f_number: Option<f64>,
    pub(super) elements: Vec<Element>,
    pub(super) zooms: Vec<Zoom>,
    pub(super) focusing: Focusing,
    pub(super) notes: Vec<String>,
}

impl Prescription {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its numbers are from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The focal length (m) as it is marked, where it is.
    #[must_use]
    pub const fn focal_length(&self) -> Option<f64> {
        self.focal_length
    }

    /// The f-number as it is marked, where it is.
    #[must_use]
    pub const fn f_number(&self) -> Option<f64> {
        self.f_number
    }

    /// The rows of the table.
    #[must_use]
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// The positions of the zoom by growing focal length; none for a prime lens.
    #[must_use]
    pub fn zooms(&self) -> &[Zoom] {
        &self.zooms
    }

    /// How it is focused.
    #[must_use]
    pub const fn focusing(&self) -> Focusing {
        self.focusing
    }

    /// Numbers of its text that are taken for others, one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Refracting surfaces: all elements but the stop.
    #[must_use]
    pub fn refracting(&self) -> usize {
        self.elements.iter().filter(|element| element.kind != ElementKind::Stop).count()
    }

    /// Least and greatest focal length (m) that can be set: one and the same for a prime lens, and
    /// `None` where nothing is marked.
    #[must_use]
    pub fn zoom_range(&self) -> Option<[f64; 2]> {
        match (self.zooms.first(), self.zooms.last()) {
            (Some(short), Some(long)) => Some([short.focal_length, long.focal_length]),
            _ => self.focal_length.map(|f| [f, f]),
        }
    }

    /// The gaps (m) at a focal length that is set (m; the nearest that can be where it cannot, and
    /// the table's where `None`). Between the marked positions they move linearly with it.
    #[must_use]
    pub fn gaps(&self, focal_length: Option<f64>) -> Vec<f64> {
        let at = |zoom: Option<&Zoom>| {
            let mut gaps: Vec<f64> = self.elements.iter().map(|element| element.gap).collect();
            for &(element, gap) in zoom.map_or(&[][..], |zoom| &zoom.gaps) {
                gaps[element] = gap;
            }
            gaps
        };
        let Some(f) = focal_length.filter(|f| f.is_finite()) else { return at(None) };
        let next = self.zooms.partition_point(|zoom| zoom.focal_length < f);
        let (Some(long), Some(short)) =
            (self.zooms.get(next), next.checked_sub(1).and_then(|i| self.zooms.get(i)))
        else {
            return at(self.zooms.get(next).or(self.zooms.last()));
        };
        let part = (f - short.focal_length) / (long.focal_length - short.focal_length);
        at(Some(short)).iter().zip(at(Some(long))).map(|(a, b)| a + (b - a) * part).collect()
    }
}
