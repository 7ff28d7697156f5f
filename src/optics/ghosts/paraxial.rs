//! Ghosts by ray transfer matrices.

use glam::DVec2;

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
}
