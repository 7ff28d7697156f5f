//! A lens as set: positions of all surfaces, and the sensor at the image plane.

use super::{coating::Coating, glass::Glass, thin_lens::Iris};

/// A plane through the axis. Only anamorphic lenses differ between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The horizontal plane.
    X = 0,
    /// The vertical plane.
    Y = 1,
}

/// A positioned surface of a lens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LensSurface {
    /// z (m) of its vertex.
    pub vertex: f64,
    /// Curvature, one over the radius (1/m); positive with the center on the sensor's side.
    pub curvature: f64,
    /// True if it is curved along x and along y.
    pub curved: [bool; 2],
    /// Clear radius (m); of the stop, to the corners of the iris as set.
    pub semi_aperture: f64,
    /// Medium on the scene's side.
    pub before: Glass,
    /// Medium on the sensor's side.
    pub after: Glass,
    /// Thin-film coating; `None`: bare.
    pub coating: Option<Coating>,
    /// True if it is the iris, which neither refracts nor reflects.
    pub stop: bool,
}

impl LensSurface {
    /// Curvature (1/m) in a plane through the axis.
    #[must_use]
    pub fn curvature_along(&self, axis: Axis) -> f64 {
        if self.curved[axis as usize] { self.curvature } else { 0.0 }
    }
}

/// A lens with its settings applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    pub(super) surfaces: Vec<LensSurface>,
    pub(super) stop: usize,
    pub(super) sensor: f64,
    pub(super) focal_length: f64,
    pub(super) f_number: f64,
    /// Fraction of the pupil's radius open to axial light.
    pub(super) filled: f64,
    pub(super) iris: Iris,
}

impl Lens {
    /// All surfaces from the scene to the sensor, including the stop.
    #[must_use]
    pub fn surfaces(&self) -> &[LensSurface] {
        &self.surfaces
    }

    /// Index of the stop in `surfaces`.
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

    /// The same lens with its sensor moved away from it (m), out of focus.
    #[must_use]
    pub fn defocused(self, by: f64) -> Self {
        Self { sensor: self.sensor + by, ..self }
    }

    /// The same lens without coatings.
    #[must_use]
    pub fn bare(mut self) -> Self {
        for surface in &mut self.surfaces {
            surface.coating = None;
        }
        self
    }

    /// The same lens with quarter-wave magnesium fluoride for a wavelength (m) on every uncoated
    /// surface between glass and air. Most lenses since the 1950s have it, even if their patents do
    /// not say so.
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

    /// Focal length (m) at infinity focus.
    #[must_use]
    pub const fn focal_length(&self) -> f64 {
        self.focal_length
    }

    /// F-number as set: focal length over the diameter of the pupil for axial light, to the corners
    /// of the iris. In some open lenses, a rim is narrower than the stop and defines it.
    #[must_use]
    pub const fn f_number(&self) -> f64 {
        self.f_number
    }

    /// Fraction of the pupils' radius open to axial light: 1, or less if a rim is narrower than the
    /// open stop.
    #[must_use]
    pub const fn pupil_fill(&self) -> f64 {
        self.filled
    }

    /// Shape of the stop.
    #[must_use]
    pub const fn iris(&self) -> Iris {
        self.iris
    }

    /// True if the lens is rotationally symmetric: no surface is a cylinder.
    #[must_use]
    pub fn is_round(&self) -> bool {
        self.surfaces
            .iter()
            .all(|surface| surface.curvature == 0.0 || surface.curved == [true, true])
    }
}
