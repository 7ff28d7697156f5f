//! Ghosts by ray transfer matrices.

use glam::DVec2;

use super::{
    beam::Beam,
    node::{EntranceWindow, GhostMeshNode},
};
use crate::optics::{
    lens::{Axis, Lens},
    paraxial::{RayTransferMatrix, ReflectionPair},
};

/// A crossing of a ghost's path with a surface, at `height * p + slope * u` for light that crosses
/// the plane of the first vertex at p with slope u. Components are along x and y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// Index of the surface.
    pub surface: usize,
    /// Coefficient of the height at the first vertex.
    pub height: DVec2,
    /// Coefficient of the slope (m).
    pub slope: DVec2,
    /// Clear radius (m); of the stop, to the corners of the blades.
    pub radius: f64,
    /// True if the surface is the iris.
    pub stop: bool,
}

impl Crossing {
    /// Position of the crossing (m).
    #[must_use]
    pub fn at(&self, p: DVec2, u: DVec2) -> DVec2 {
        self.height * p + self.slope * u
    }
}

/// A paraxial ghost: a linear map from the entrance to the sensor, with its apertures.
#[derive(Clone, Debug, PartialEq)]
pub struct ParaxialGhost {
    /// Surfaces that reflect it.
    pub bounces: ReflectionPair,
    /// First vertex to sensor, along x and along y.
    pub matrices: [RayTransferMatrix; 2],
    /// Fraction of the light that takes this path, at normal incidence.
    pub part: f64,
    /// All surfaces in path order; the iris occurs once or three times.
    pub crossings: Vec<Crossing>,
}

impl Lens {
    /// Paraxial ghost of a path at a wavelength (m).
    #[must_use]
    pub fn paraxial_ghost(&self, bounces: ReflectionPair, wavelength: f64) -> ParaxialGhost {
        let surfaces = self.surfaces();
        let (mut matrices, mut z) = ([RayTransferMatrix::IDENTITY; 2], 0.0);
        let mut crossings = Vec::with_capacity(3 * surfaces.len());
        for event in bounces.path(surfaces.len()) {
            let index = event.surface();
            let surface = &surfaces[index];
            matrices =
                matrices.map(|matrix| matrix.then(RayTransferMatrix::step(surface.vertex - z)));
            z = surface.vertex;
            crossings.push(Crossing {
                surface: index,
                height: DVec2::new(matrices[0].a, matrices[1].a),
                slope: DVec2::new(matrices[0].b, matrices[1].b),
                radius: surface.semi_aperture,
                stop: surface.stop,
            });
            for (matrix, axis) in matrices.iter_mut().zip([Axis::X, Axis::Y]) {
                *matrix = matrix.then(event.matrix(surface, axis, wavelength));
            }
        }
        let matrices =
            matrices.map(|matrix| matrix.then(RayTransferMatrix::step(self.sensor() - z)));
        ParaxialGhost {
            bounces,
            matrices,
            part: self.ghost_transmittance(bounces, wavelength),
            crossings,
        }
    }
}

impl ParaxialGhost {
    /// Radius (m) at the first vertex of an axial beam that passes all rims and the corners of the
    /// iris.
    #[must_use]
    pub fn entering_radius(&self) -> f64 {
        let radius = |crossing: &Crossing| crossing.radius / crossing.height.abs().max_element();
        self.crossings.iter().map(radius).fold(f64::INFINITY, f64::min)
    }

    /// True if light crosses the iris only once: both reflections are on the same side of it.
    #[must_use]
    pub fn same_side(&self) -> bool {
        self.crossings.iter().filter(|crossing| crossing.stop).count() == 1
    }

    /// Rectangle at the first vertex outside of which no light of a beam passes all rims and the
    /// corners of the iris.
    #[must_use]
    pub fn window(&self, beam: &Beam) -> Option<EntranceWindow> {
        let u = beam.slope();
        let mut window = EntranceWindow { min: DVec2::NEG_INFINITY, max: DVec2::INFINITY };
        for crossing in &self.crossings {
            let middle = -crossing.slope * u;
            let (a, b) = (
                (middle - crossing.radius) / crossing.height,
                (middle + crossing.radius) / crossing.height,
            );
            // Light through a focus: all passes or none.
            let any = |value: DVec2, otherwise: f64| {
                value.map(|v| if v.is_nan() { otherwise } else { v })
            };
            window.min = window.min.max(any(a.min(b), f64::NEG_INFINITY));
            window.max = window.max.min(any(a.max(b), f64::INFINITY));
        }
        (window.min.cmplt(window.max).all() && window.min.is_finite() && window.max.is_finite())
            .then_some(window)
    }

    /// Traces light of a beam from a position (m, at the first vertex) to the sensor, rims and
    /// iris.
    #[must_use]
    pub fn node(&self, p: DVec2, beam: &Beam) -> GhostMeshNode {
        let u = beam.slope();
        let along = |axis: usize, p: f64, u: f64| self.matrices[axis].apply(p, u).0;
        let place = DVec2::new(along(0, p.x, u.x), along(1, p.y, u.y));
        let mut node = GhostMeshNode {
            sensor_position: place,
            weight: self.part,
            rim: 0.0,
            iris: [DVec2::ZERO; 3],
            crossings: 0,
        };
        for crossing in &self.crossings {
            let relative = crossing.at(p, u) / crossing.radius;
            if !crossing.stop {
                node.rim = node.rim.max(relative.length());
            } else if let Some(slot) = node.iris.get_mut(node.crossings) {
                *slot = relative;
                node.crossings += 1;
            }
        }
        node
    }
}
