//! A prescription with its dials set: each surface in its place, the sensor where the picture is
//! sharp.

use glam::{DVec2, DVec3};

use super::{
    coating::Coating,
    glass::{Glass, LINE_D},
    paraxial::{self, Axis, RayTransferMatrix},
    prescription::{ElementKind, Focusing, Prescription, SurfaceShape},
    trace::{Losses, Ray},
};
use crate::camera::Iris;

/// What a lens can be set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LensSettings {
    /// The focal length (m) of a zoom; the table's own where `None`.
    pub focal_length: Option<f64>,
    /// What is sharp (m from the entrance pupil along the axis); may be infinite.
    pub focus: f64,
    /// The f-number; as far open as the stop goes where `None`.
    pub f_stop: Option<f64>,
    /// The shape of the stop.
    pub iris: Iris,
}

impl Default for LensSettings {
    /// Open, round and focused at infinity.
    fn default() -> Self {
        Self { focal_length: None, focus: f64::INFINITY, f_stop: None, iris: Iris::default() }
    }
}

/// Why a lens cannot be set so.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LensSettingsError {
    /// The focus distance cannot be reached.
    #[error("focused at {focus} m from its entrance pupil, this lens forms no image on the sensor; {}", reached(*.nearest))]
    Focus {
        /// What was asked (m).
        focus: f64,
        /// The nearest that can be (m), as found by halving; infinite where nothing nearer can be.
        nearest: f64,
    },
    /// The f-number is no number above 0.
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

/// A surface in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LensSurface {
    /// z (m) of its vertex.
    pub vertex: f64,
    /// One over its radius (1/m), positive with the centre on the sensor's side.
    pub curvature: f64,
    /// Whether it is curved along x and along y.
    pub curved: [bool; 2],
    /// The radius (m) of its clear opening; of the stop, to the corners of the iris as set.
    pub semi_aperture: f64,
    /// The medium on the scene's side.
    pub before: Glass,
    /// The medium on the sensor's side.
    pub after: Glass,
    /// The film on it.
    pub coating: Option<Coating>,
    /// Whether it is the iris, which neither refracts nor reflects.
    pub stop: bool,
}

impl LensSurface {
    /// Curvature (1/m) in a plane through the axis.
    #[must_use]
    pub fn curvature_along(&self, axis: Axis) -> f64 {
        if self.curved[axis as usize] { self.curvature } else { 0.0 }
    }
}

/// A lens as set.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    surfaces: Vec<LensSurface>,
    stop: usize,
    sensor: f64,
    focal_length: f64,
    f_number: f64,
    /// The part of the pupil's radius that light along the axis finds open.
    filled: f64,
    iris: Iris,
}

/// How far a lens moves at most to focus, in focal lengths: twice the object's size on the sensor.
const MAX_EXTENSION: f64 = 2.0;

impl Lens {
    /// Sets a lens. Focal length and f-number are moved into what it has; the f-number that results
    /// is `f_number`.
    ///
    /// Focused by moving the whole lens, or its group, so that the paraxial image at the d line
    /// falls on the sensor. An anamorphic lens is focused, and its f-number counted, in the upright
    /// plane.
    ///
    /// # Errors
    /// A distance that cannot be focused; an f-number that is none.
    pub fn new(
        prescription: &Prescription,
        dials: &LensSettings,
    ) -> Result<Self, LensSettingsError> {
        if let Some(n) = dials.f_stop.filter(|n| n.is_nan() || *n <= 0.0) {
            return Err(LensSettingsError::FStop(n));
        }
        let gaps = prescription.gaps(dials.focal_length);
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

    /// Radius (m) of the bundle of rays along the axis that gets through the open lens: that of the
    /// entrance pupil, unless a rim is narrower.
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
        // A lens that lets nothing through would have no f-number.
        if open > 0.0 { open } else { pupil }
    }

    /// The surfaces at their gaps, with the stop open and no sensor yet.
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

    /// The same lens with another thing in focus. `None` where that cannot be.
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
                    // Of a moved front, z is counted from its vertex again.
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

    /// The nearest focus (m) by halving, to a thousandth.
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

    /// From the last vertex to the image (m) of what lies at a distance (m) before the entrance
    /// pupil; `None` where that is within the lens or forms no real image.
    fn image_distance(&self, focus: f64) -> Option<f64> {
        let object = focus - self.entrance_pupil(Axis::Y, LINE_D).z;
        let m = self.matrix(Axis::Y, LINE_D);
        let image = -(m.a * object + m.b) / (m.c * object + m.d);
        (object > 0.0 && image.is_finite() && image > 0.0).then_some(image)
    }

    /// All surfaces from the scene to the sensor, the stop among them.
    #[must_use]
    pub fn surfaces(&self) -> &[LensSurface] {
        &self.surfaces
    }

    /// Which of them is the stop.
    #[must_use]
    pub const fn stop(&self) -> usize {
        self.stop
    }

    /// z (m) of the last vertex.
    #[must_use]
    pub fn last(&self) -> f64 {
        self.surfaces.last().map_or(0.0, |surface| surface.vertex)
    }

    /// z (m) of the sensor.
    #[must_use]
    pub const fn sensor(&self) -> f64 {
        self.sensor
    }

    /// The same lens with its sensor moved (m) away from it, out of focus.
    #[must_use]
    pub fn defocused(self, by: f64) -> Self {
        Self { sensor: self.sensor + by, ..self }
    }

    /// The same lens with bare glass: no surface has a film.
    #[must_use]
    pub fn bare(mut self) -> Self {
        for surface in &mut self.surfaces {
            surface.coating = None;
        }
        self
    }

    /// The same lens with a quarter wave of magnesium fluoride for a wavelength (m) on every
    /// surface between glass and air that has no film: what most lenses have had since the 1950s,
    /// whatever their patents say.
    #[must_use]
    pub fn single_coated(mut self, wavelength: f64) -> Self {
        for surface in self
            .surfaces
            .iter_mut()
            .filter(|surface| surface.before.is_air() != surface.after.is_air())
        {
            surface.coating = surface.coating.or(Some(Coating::quarter_wave(wavelength)));
        }
        self
    }

    /// The same lens with a round iris through the corners of its own.
    #[must_use]
    pub fn rounded(&self) -> Self {
        Self { iris: Iris::default(), ..self.clone() }
    }

    /// Focal length (m) when focused at infinity.
    #[must_use]
    pub const fn focal_length(&self) -> f64 {
        self.focal_length
    }

    /// The f-number as set: focal length over the diameter of the pupil that light along the axis
    /// finds, to the corners of the iris. Of some open lenses that is the opening of a rim, and the
    /// stop's is wider.
    #[must_use]
    pub const fn f_number(&self) -> f64 {
        self.f_number
    }

    /// The part of the pupils' radius that light along the axis finds open: 1, or less where a rim
    /// is narrower than the open stop.
    #[must_use]
    pub const fn pupil_fill(&self) -> f64 {
        self.filled
    }

    /// The shape of the stop.
    #[must_use]
    pub const fn iris(&self) -> Iris {
        self.iris
    }

    /// The iris as the picture's middle sees it, through the corners of what is open: its own,
    /// unless a rim is narrower than the open stop. That rim hides the blades, and it is round; or
    /// their corners alone, and it has the same blades with as much more curvature as lets as much
    /// of the rim's light pass as rim and blades together, by rays.
    #[must_use]
    pub fn apparent_iris(&self) -> Iris {
        // Blades that take less of the light are not seen.
        const ROUND: f64 = 1e-3;
        let own = self.iris;
        if own.blades < 3 || self.filled >= 1.0 {
            return own;
        }
        let light = |lens: &Self| lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
        let open = light(self) / light(&self.rounded());
        if open.is_nan() || open > 1.0 - ROUND {
            return Iris::default();
        }
        // The more the blades are curved, the more is open.
        let (mut less, mut more) = (own.curvature.clamp(0.0, 1.0), 1.0);
        for _ in 0..50 {
            let curvature = 0.5 * (less + more);
            if (Iris { curvature, ..own }).relative_area() < open {
                less = curvature;
            } else {
                more = curvature;
            }
        }
        Iris { curvature: 0.5 * (less + more), ..own }
    }

    /// Whether it is round: no surface is a cylinder.
    #[must_use]
    pub fn is_round(&self) -> bool {
        self.surfaces
            .iter()
            .all(|surface| surface.curvature == 0.0 || surface.curved == [true, true])
    }

    /// From the first vertex to that of a surface, before it bends light, in a plane through the
    /// axis, at a wavelength (m).
    #[must_use]
    pub fn matrix_to(&self, surface: usize, axis: Axis, wavelength: f64) -> RayTransferMatrix {
        paraxial::through(
            &self.surfaces[..surface],
            axis,
            wavelength,
            self.surfaces[surface].vertex,
        )
    }

    /// From the first vertex to the last, in a plane through the axis, at a wavelength (m).
    #[must_use]
    pub fn matrix(&self, axis: Axis, wavelength: f64) -> RayTransferMatrix {
        paraxial::through(&self.surfaces, axis, wavelength, self.last())
    }
}

/// The root of a function that is nearest to 0 within a range, by 200 steps and halving. Where the
/// function has no value there is none.
fn nearest_root(f: impl Fn(f64) -> Option<f64>, least: f64, most: f64) -> Option<f64> {
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
    let found = [bracket(least), bracket(most)].into_iter().flatten();
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
