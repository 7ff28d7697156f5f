//! The surface table of a lens: surfaces, glass, gaps, stop, coatings, and moving groups.

use super::{coating::Coating, glass::Glass};

/// Maximum number of elements in a table. Cinema and television zooms have some 60 surfaces.
pub const MAX_ELEMENTS: usize = 128;
/// Maximum number of zoom positions.
pub const MAX_ZOOMS: usize = 64;
/// Maximum length (m) in a prescription.
pub const LENGTH_LIMIT: f64 = 100.0;
/// Relative tolerance of stated focal length and back focus before a table counts as mistyped: 5 %.
/// Published tables are scaled and rounded; correct ones are within 4 %, known mistyped ones beyond
/// 7 %.
pub const TOLERANCE: f64 = 0.05;

/// Tolerance of a rounded number beyond its limit: 2 %, such as 0.82 for the rim of a surface of
/// radius 0.8146. It is clamped to the limit with a note; larger excess counts as mistyped.
pub const ROUNDING: f64 = 0.02;

/// Error of a rejected prescription. Elements count from 0, as in the file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrescriptionError {
    /// The text is not a prescription.
    #[error("{0}")]
    Text(String),
    /// An invalid value of an element.
    #[error("element {element}: {what} is {value}; it must be {allowed}")]
    Element {
        /// Index of the element, from 0.
        element: usize,
        /// Name of the value.
        what: &'static str,
        /// Value found.
        value: String,
        /// Expected values.
        allowed: &'static str,
    },
    /// An invalid top-level value.
    #[error("{what} is {value}; it must be {allowed}")]
    Value {
        /// Name of the value.
        what: &'static str,
        /// Value found.
        value: String,
        /// Expected values.
        allowed: &'static str,
    },
    /// No elements, or too many.
    #[error("there are {0} elements; a lens has 1 to {MAX_ELEMENTS}")]
    Count(usize),
    /// No stop, or several.
    #[error("{}; mark exactly one element with \"is_stop\": true", stops(.0))]
    Stops(Vec<usize>),
    /// Parallel light forms no real image behind the last element.
    #[error(
        "it does not focus: parallel light {0}; element {1}, the last with power, or a gap before it may be mistyped"
    )]
    NoFocus(String, usize),
    /// The elements contradict the stated focal length or back focus.
    #[error(
        "{what} is stated as {stated:.3} mm, but the elements give {found:.3} mm; one of them is mistyped"
    )]
    Contradiction {
        /// Focal length or back focus.
        what: String,
        /// Stated value (mm).
        stated: f64,
        /// Computed value (mm).
        found: f64,
    },
}

fn stops(found: &[usize]) -> String {
    match found {
        [] => "no element is the stop".into(),
        many => format!("elements {many:?} are all stops"),
    }
}

/// Shape of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SurfaceShape {
    /// Flat.
    Plane,
    /// A sphere of a radius (m), positive with its center on the sensor's side.
    Sphere(f64),
    /// A cylinder with a horizontal axis (x): it refracts vertically.
    CylinderX(f64),
    /// A cylinder with a vertical axis (y): it refracts horizontally, as in anamorphic lenses.
    CylinderY(f64),
}

impl SurfaceShape {
    /// Curvature (1/m), one over the radius; 0 for a plane.
    #[must_use]
    pub fn curvature(self) -> f64 {
        match self {
            Self::Plane => 0.0,
            Self::Sphere(radius) | Self::CylinderX(radius) | Self::CylinderY(radius) => {
                1.0 / radius
            }
        }
    }

    /// True if it is curved along x and along y.
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

/// Kind of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ElementKind {
    /// An interface between two media.
    Refracting {
        /// Shape of the surface.
        shape: SurfaceShape,
        /// Medium behind the surface.
        after: Glass,
        /// Thin-film coating; `None`: bare.
        coating: Option<Coating>,
    },
    /// The iris.
    Stop,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Element {
    /// Interface or stop.
    pub kind: ElementKind,
    /// Distance to the next vertex (m); of the last element, to the sensor at infinity focus.
    pub gap: f64,
    /// Clear radius (m).
    pub semi_aperture: f64,
}

/// A zoom position: gaps that differ from the table's.
#[derive(Clone, Debug, PartialEq)]
pub struct Zoom {
    /// Marked focal length (m).
    pub focal_length: f64,
    /// Element index and its gap (m).
    pub gaps: Vec<(usize, f64)>,
}

/// Focusing method of the lens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focusing {
    /// The whole lens moves away from the sensor.
    #[default]
    Unit,
    /// Only the elements from the first to the last index (inclusive) move.
    Group(usize, usize),
}

/// A lens prescription. All values are valid and the lens focuses.
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
    /// Name of the lens.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Source of the data.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Marked focal length (m), if any.
    #[must_use]
    pub const fn focal_length(&self) -> Option<f64> {
        self.focal_length
    }

    /// Marked f-number, if any.
    #[must_use]
    pub const fn f_number(&self) -> Option<f64> {
        self.f_number
    }

    /// The rows of the table.
    #[must_use]
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// Zoom positions by increasing focal length; empty for a prime lens.
    #[must_use]
    pub fn zooms(&self) -> &[Zoom] {
        &self.zooms
    }

    /// Focusing method of the lens.
    #[must_use]
    pub const fn focusing(&self) -> Focusing {
        self.focusing
    }

    /// Notes on adjusted numbers of the text, one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Number of refracting surfaces: all elements but the stop.
    #[must_use]
    pub fn refracting(&self) -> usize {
        self.elements.iter().filter(|element| element.kind != ElementKind::Stop).count()
    }

    /// Minimum and maximum focal length (m); equal for a prime lens, and `None` if no focal length
    /// is marked.
    #[must_use]
    pub fn zoom_range(&self) -> Option<[f64; 2]> {
        match (self.zooms.first(), self.zooms.last()) {
            (Some(short), Some(long)) => Some([short.focal_length, long.focal_length]),
            _ => self.focal_length.map(|f| [f, f]),
        }
    }

    /// Gaps (m) at a position of a zoom, given by its marks (m of focal length, clamped to the
    /// range; `None`: as in the table): linear between two marks. The focal length there differs
    /// (`Lens::new`).
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
