//! Applies settings (zoom, focus, aperture) to a prescription.

use glam::DVec3;

use super::{
    glass::{Glass, LINE_D},
    lens::{Axis, Lens, LensSurface},
    paraxial,
    prescription::{ElementKind, Focusing, Prescription, SurfaceShape},
    thin_lens::Iris,
    trace::{Losses, Ray},
};

/// Settings of a lens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LensSettings {
    /// Focal length (m) of a zoom; `None`: as in the table.
    pub focal_length: Option<f64>,
    /// Focus distance (m from the entrance pupil along the axis); may be infinite.
    pub focus: f64,
    /// F-number; `None`: fully open stop.
    pub f_stop: Option<f64>,
    /// Shape of the stop.
    pub iris: Iris,
}

impl Default for LensSettings {
    /// Fully open, round and focused at infinity.
    fn default() -> Self {
        Self { focal_length: None, focus: f64::INFINITY, f_stop: None, iris: Iris::default() }
    }
}

/// Error of settings that do not apply to a lens.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LensSettingsError {
    /// The focus distance cannot be reached.
    #[error("focused at {focus} m from its entrance pupil, this lens forms no image on the sensor; {}", reached(*.nearest))]
    Focus {
        /// Requested focus distance (m).
        focus: f64,
        /// Nearest possible focus distance (m), by bisection; infinite if the lens focuses at
        /// infinity only.
        nearest: f64,
    },
    /// The f-number is not above 0.
    #[error("the f-number is {0}; it must be above 0")]
    FStop(f64),
}

fn reached(nearest: f64) -> String {
    if nearest.is_finite() {
        format!("its nearest is some {nearest:.3} m")
    } else {
        "it focuses at infinity only".into()
    }
}

/// Maximum focusing extension in focal lengths: an image of twice the object's size.
const MAX_EXTENSION: f64 = 2.0;
/// Bisections that find the position of a zoom: below 1e-9 of the distance between two marks.
const ZOOM_STEPS: u32 = 32;

impl Lens {
    /// Applies settings to a prescription. Focal length and f-number are clamped to its range;
    /// `f_number` gives the resulting f-number.
    ///
    /// Focuses by moving the whole lens, or its focus group, so that the paraxial image at the d
    /// line is on the sensor. Focus and f-number of an anamorphic lens refer to the vertical plane.
    ///
    /// # Errors
    /// `LensSettingsError` if the focus distance cannot be reached or the f-number is not above 0.
    pub fn new(
        prescription: &Prescription,
        dials: &LensSettings,
    ) -> Result<Self, LensSettingsError> {
        if let Some(n) = dials.f_stop.filter(|n| n.is_nan() || *n <= 0.0) {
            return Err(LensSettingsError::FStop(n));
        }
        let gaps = prescription.gaps(Self::zoom_position(prescription, dials));
        let mut lens = Self::placed(prescription, &gaps, dials.iris);
        let matrix = lens.matrix(Axis::Y, LINE_D);
        lens.focal_length = matrix.focal_length();
        let open = lens.surfaces[lens.stop].semi_aperture;
        let before = paraxial::through(
            &lens.surfaces[..lens.stop],
            Axis::Y,
            LINE_D,
            lens.surfaces[lens.stop].vertex,
        );
        let height = before.a.abs();
        let found = lens.open_radius(open / height);
        let widest = lens.focal_length / (2.0 * found);
        lens.f_number = dials.f_stop.map_or(widest, |n| n.max(widest));
        let radius = lens.focal_length * height / (2.0 * lens.f_number);
        if lens.f_number > widest {
            lens.surfaces[lens.stop].semi_aperture = radius;
        } else {
            lens.filled = found / (open / height);
        }
        lens.sensor = lens.last() + matrix.back_focus();
        if dials.focus == f64::INFINITY {
            return Ok(lens);
        }
        let found = lens.focused(prescription.focusing(), &gaps, dials.focus);
        found.ok_or_else(|| LensSettingsError::Focus {
            focus: dials.focus,
            nearest: lens.nearest(prescription, &gaps),
        })
    }

    /// Position between the marked ones, as a focal length for [`Prescription::gaps`], at which the
    /// lens has the focal length of the settings: between two marks the focal length is not linear
    /// in the gaps.
    fn zoom_position(prescription: &Prescription, dials: &LensSettings) -> Option<f64> {
        let wanted = dials.focal_length?;
        let marks = prescription.zooms();
        let next = marks.partition_point(|zoom| zoom.focal_length < wanted);
        let (Some(long), Some(short)) =
            (marks.get(next), next.checked_sub(1).and_then(|before| marks.get(before)))
        else {
            return Some(wanted);
        };
        if long.focal_length == wanted {
            return Some(wanted);
        }
        let reached = |position: f64| {
            let gaps = prescription.gaps(Some(position));
            Self::placed(prescription, &gaps, dials.iris).matrix(Axis::Y, LINE_D).focal_length()
        };
        let [mut low, mut high] = [short.focal_length, long.focal_length];
        // Focal lengths at the marks differ from the marked ones by little; between them, by the
        // same part.
        let [least, greatest] = [reached(low), reached(high)];
        let target = least + (wanted - low) / (high - low) * (greatest - least);
        for _ in 0..ZOOM_STEPS {
            let middle = 0.5 * (low + high);
            if reached(middle) < target {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(0.5 * (low + high))
    }

    /// Radius (m) of the axial ray bundle that passes the open lens: that of the entrance pupil,
    /// unless a rim is narrower.
    fn open_radius(&self, pupil: f64) -> f64 {
        let passes = |y: f64| {
            let ray = Ray { origin: DVec3::new(0.0, y, 0.0), direction: DVec3::Z };
            self.trace_forward(ray, LINE_D, Losses::Ignored).is_ok_and(|traced| traced.rim <= 1.0)
        };
        if passes(pupil) {
            return pupil;
        }
        let (mut open, mut shut) = (0.0, pupil);
        for _ in 0..50 {
            let middle = 0.5 * (open + shut);
            if passes(middle) {
                open = middle;
            } else {
                shut = middle;
            }
        }
        // A lens that blocks all light would have no f-number.
        if open > 0.0 { open } else { pupil }
    }

    /// Surfaces at their gaps, with an open stop and no sensor yet.
    fn placed(prescription: &Prescription, gaps: &[f64], iris: Iris) -> Self {
        let (mut vertex, mut medium, mut stop) = (0.0, Glass::AIR, 0);
        let mut surfaces = Vec::with_capacity(gaps.len());
        for (i, (element, gap)) in prescription.elements().iter().zip(gaps).enumerate() {
            let (shape, after, coating) = match element.kind {
                ElementKind::Refracting { shape, after, coating } => (shape, after, coating),
                ElementKind::Stop => {
                    stop = i;
                    (SurfaceShape::Plane, medium, None)
                }
            };
            surfaces.push(LensSurface {
                vertex,
                curvature: shape.curvature(),
                curved: shape.curved(),
                semi_aperture: element.semi_aperture,
                before: medium,
                after,
                coating,
                stop: element.kind == ElementKind::Stop,
            });
            medium = after;
            vertex += gap;
        }
        Self { surfaces, stop, sensor: vertex, focal_length: 0.0, f_number: 0.0, filled: 1.0, iris }
    }

    /// The same lens at another focus distance; `None` if it cannot be reached.
    fn focused(&self, focusing: Focusing, gaps: &[f64], focus: f64) -> Option<Self> {
        match focusing {
            Focusing::Unit => {
                let image = self.image_distance(focus)?;
                let travel = image - (self.sensor - self.last());
                let possible = (0.0..=MAX_EXTENSION * self.focal_length).contains(&travel);
                possible.then(|| Self { sensor: self.last() + image, ..self.clone() })
            }
            Focusing::Group(first, last) => {
                let shifted = |travel: f64| {
                    let mut lens = self.clone();
                    for surface in &mut lens.surfaces[first..=last] {
                        surface.vertex += travel;
                    }
                    // If the front moved, count z from its vertex again.
                    let front = lens.surfaces[0].vertex;
                    for surface in &mut lens.surfaces {
                        surface.vertex -= front;
                    }
                    lens.sensor -= front;
                    lens
                };
                let miss = |travel: f64| {
                    let lens = shifted(travel);
                    Some(lens.last() + lens.image_distance(focus)? - lens.sensor)
                };
                let free = MAX_EXTENSION * self.focal_length;
                let toward_scene = first.checked_sub(1).map_or(free, |i| gaps[i]);
                let toward_sensor =
                    if last + 1 == gaps.len() { self.sensor - self.last() } else { gaps[last] };
                nearest_root(miss, -toward_scene, toward_sensor).map(shifted)
            }
        }
    }

    /// Nearest focus distance (m) by bisection, to a thousandth.
    fn nearest(&self, prescription: &Prescription, gaps: &[f64]) -> f64 {
        let reaches =
            |distance: f64| self.focused(prescription.focusing(), gaps, distance).is_some();
        let (mut near, mut far) = (0.0, 1e5 * self.focal_length);
        for _ in 0..60 {
            let middle = if near > 0.0 { f64::sqrt(near * far) } else { far * 0.1 };
            if reaches(middle) {
                far = middle;
            } else {
                near = middle;
            }
            if far < near * 1.001 {
                break;
            }
        }
        if reaches(far) { far } else { f64::INFINITY }
    }

    /// Distance (m) from the last vertex to the image of an object at a distance (m) in front of
    /// the entrance pupil; `None` if the object is within the lens or has no real image.
    fn image_distance(&self, focus: f64) -> Option<f64> {
        let object = focus - self.entrance_pupil(Axis::Y, LINE_D).z;
        let m = self.matrix(Axis::Y, LINE_D);
        let image = -(m.a * object + m.b) / (m.c * object + m.d);
        (object > 0.0 && image.is_finite() && image > 0.0).then_some(image)
    }
}

/// Root of a function nearest to 0 in an interval, by 200 steps and bisection. Ignores regions
/// where the function has no value.
fn nearest_root(f: impl Fn(f64) -> Option<f64>, min: f64, max: f64) -> Option<f64> {
    const STEPS: i32 = 200;
    let bracket = |end: f64| {
        let at = |i: i32| end * f64::from(i) / f64::from(STEPS);
        let mut value = f(0.0)?;
        for i in 1..=STEPS {
            let next = f(at(i))?;
            if value * next <= 0.0 {
                return Some((at(i - 1), at(i)));
            }
            value = next;
        }
        None
    };
    let found = [bracket(min), bracket(max)].into_iter().flatten();
    let (mut a, mut b) = found.min_by(|x, y| x.0.abs().total_cmp(&y.0.abs()))?;
    let sign = f(a)?;
    for _ in 0..80 {
        let middle = 0.5 * (a + b);
        if f(middle)? * sign > 0.0 {
            a = middle;
        } else {
            b = middle;
        }
    }
    Some(0.5 * (a + b))
}
