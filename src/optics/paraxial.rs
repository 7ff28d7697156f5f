//! Paraxial optics: ray transfer matrices, focal length, principal planes, pupils, ghosts.
//!
//! A ray is `(y, u)`, its height (m) and slope `dy/dz`. Refraction is `n' u' = n u - y (n' - n) /
//! R`, a mirror `u' = -u - 2 y / R`, a step along the axis `y' = y + z u`. u is the slope in z for
//! both directions of travel, so that one set of matrices serves both (Hecht, "Optics", 5th ed.,
//! section 6.2, there in `n u`).

use super::{
    coating::reflectance,
    lens::{Axis, Lens, LensSurface},
};

/// Ray transfer (ABCD) matrix of `(y, u)`: `y' = a y + b u`, `u' = c y + d u`; b in m, c in 1/m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayTransferMatrix {
    /// Height per height.
    pub a: f64,
    /// Height per slope (m).
    pub b: f64,
    /// Slope per height (1/m).
    pub c: f64,
    /// Slope per slope.
    pub d: f64,
}

impl RayTransferMatrix {
    /// The identity matrix.
    pub const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0 };

    /// Composition: this matrix, then `next`.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            a: next.a * self.a + next.b * self.c,
            b: next.a * self.b + next.b * self.d,
            c: next.c * self.a + next.d * self.c,
            d: next.c * self.b + next.d * self.d,
        }
    }

    /// Free propagation (m) along z, negative for light that travels back.
    #[must_use]
    pub const fn step(z: f64) -> Self {
        Self { b: z, ..Self::IDENTITY }
    }

    /// Refraction from one index to another at a surface of a curvature (1/m).
    #[must_use]
    pub fn refraction(from: f64, to: f64, curvature: f64) -> Self {
        Self { c: -(to - from) / to * curvature, d: from / to, ..Self::IDENTITY }
    }

    /// Reflection at a surface of a curvature (1/m).
    #[must_use]
    pub const fn mirror(curvature: f64) -> Self {
        Self { c: -2.0 * curvature, d: -1.0, ..Self::IDENTITY }
    }

    /// Transforms a ray `(y, u)`.
    #[must_use]
    pub fn apply(self, y: f64, u: f64) -> (f64, f64) {
        (self.a * y + self.b * u, self.c * y + self.d * u)
    }

    /// Focal length (m) of a lens in air: parallel light of height 1 leaves with slope `-1/f`.
    #[must_use]
    pub fn focal_length(self) -> f64 {
        -1.0 / self.c
    }

    /// Distance (m) from the last vertex to the focus of parallel light.
    #[must_use]
    pub fn back_focus(self) -> f64 {
        -self.a / self.c
    }
}

/// A pupil: the image of the stop on one side of the lens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pupil {
    /// z (m) of its plane.
    pub z: f64,
    /// Radius (m), positive; infinite for a stop in a focal plane.
    pub radius: f64,
}

/// A path with two reflections: first at `first` on the way to the sensor, then at `second`, in
/// front of it, on the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReflectionPair {
    /// The surface that reflects first.
    pub first: usize,
    /// The surface that reflects second; less than `first`.
    pub second: usize,
}

/// Interaction of a ray with a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceEvent {
    /// Refracts toward the sensor.
    Onward(usize),
    /// Refracts toward the scene.
    Back(usize),
    /// Reflects toward the scene.
    ReflectBack(usize),
    /// Reflects toward the sensor.
    ReflectOnward(usize),
}

impl SurfaceEvent {
    /// Index of the surface.
    #[must_use]
    pub const fn surface(self) -> usize {
        match self {
            Self::Onward(i) | Self::Back(i) | Self::ReflectBack(i) | Self::ReflectOnward(i) => i,
        }
    }

    /// Matrix of the interaction with its surface, in a plane through the axis, at a wavelength
    /// (m).
    pub(super) fn matrix(
        self,
        surface: &LensSurface,
        axis: Axis,
        wavelength: f64,
    ) -> RayTransferMatrix {
        let curvature = surface.curvature_along(axis);
        let (before, after) = (surface.before.index(wavelength), surface.after.index(wavelength));
        match self {
            Self::Onward(_) => RayTransferMatrix::refraction(before, after, curvature),
            Self::Back(_) => RayTransferMatrix::refraction(after, before, curvature),
            Self::ReflectBack(_) | Self::ReflectOnward(_) => RayTransferMatrix::mirror(curvature),
        }
    }
}

impl ReflectionPair {
    /// All surface events along the path through a lens with the given number of surfaces.
    pub fn path(self, surfaces: usize) -> impl Iterator<Item = SurfaceEvent> + Clone {
        let Self { first, second } = self;
        let back = (second + 1..first).rev().map(SurfaceEvent::Back);
        (0..first)
            .map(SurfaceEvent::Onward)
            .chain([SurfaceEvent::ReflectBack(first)])
            .chain(back)
            .chain([SurfaceEvent::ReflectOnward(second)])
            .chain((second + 1..surfaces).map(SurfaceEvent::Onward))
    }
}

/// Matrix of a sequence of events, from one position on the axis (m) to another.
fn along(
    surfaces: &[LensSurface],
    events: impl Iterator<Item = SurfaceEvent>,
    axis: Axis,
    wavelength: f64,
    [from, to]: [f64; 2],
) -> RayTransferMatrix {
    let (mut matrix, mut z) = (RayTransferMatrix::IDENTITY, from);
    for event in events {
        let surface = &surfaces[event.surface()];
        matrix = matrix.then(RayTransferMatrix::step(surface.vertex - z));
        z = surface.vertex;
        matrix = matrix.then(event.matrix(surface, axis, wavelength));
    }
    matrix.then(RayTransferMatrix::step(to - z))
}

/// Matrix from the first vertex through surfaces to a position on the axis (m).
pub(super) fn through(
    surfaces: &[LensSurface],
    axis: Axis,
    wavelength: f64,
    to: f64,
) -> RayTransferMatrix {
    let from = surfaces.first().map_or(to, |surface| surface.vertex);
    along(surfaces, (0..surfaces.len()).map(SurfaceEvent::Onward), axis, wavelength, [from, to])
}

/// Cardinal points of a lens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardinalPoints {
    /// Focal length (m).
    pub focal_length: f64,
    /// Distance from the last vertex to the rear focus (m).
    pub back_focus: f64,
    /// Distance from the front focus to the first vertex (m).
    pub front_focus: f64,
    /// z (m) of the front and rear principal planes.
    pub principal: [f64; 2],
    /// Image of the stop seen from the scene.
    pub entrance: Pupil,
    /// Image of the stop seen from the sensor.
    pub exit: Pupil,
}

impl Lens {
    /// Matrix from the first vertex to that of a surface, before refraction there, in a plane
    /// through the axis, at a wavelength (m).
    #[must_use]
    pub fn matrix_to(&self, surface: usize, axis: Axis, wavelength: f64) -> RayTransferMatrix {
        through(&self.surfaces[..surface], axis, wavelength, self.surfaces[surface].vertex)
    }

    /// Matrix from the first vertex to the last, in a plane through the axis, at a wavelength (m).
    #[must_use]
    pub fn matrix(&self, axis: Axis, wavelength: f64) -> RayTransferMatrix {
        through(&self.surfaces, axis, wavelength, self.last())
    }

    /// Focal length, foci, principal planes and pupils in a plane at a wavelength (m). Hecht,
    /// "Optics", 5th ed., section 6.2.1 (principal planes) and 5.3.2 (pupils).
    #[must_use]
    pub fn cardinal(&self, axis: Axis, wavelength: f64) -> CardinalPoints {
        let m = self.matrix(axis, wavelength);
        let f = m.focal_length();
        CardinalPoints {
            focal_length: f,
            back_focus: m.back_focus(),
            front_focus: -m.d / m.c,
            principal: [m.d / m.c + f, self.last() + m.back_focus() - f],
            entrance: self.entrance_pupil(axis, wavelength),
            exit: self.exit_pupil(axis, wavelength),
        }
    }

    /// Entrance pupil, the stop's image seen from the scene: rays toward its center cross the
    /// center of the stop.
    #[must_use]
    pub fn entrance_pupil(&self, axis: Axis, wavelength: f64) -> Pupil {
        let stop = &self.surfaces()[self.stop()];
        let m = along(
            self.surfaces(),
            (0..self.stop()).map(SurfaceEvent::Onward),
            axis,
            wavelength,
            [0.0, stop.vertex],
        );
        Pupil { z: m.b / m.a, radius: (stop.semi_aperture / m.a).abs() }
    }

    /// Exit pupil, the stop's image seen from the sensor.
    #[must_use]
    pub fn exit_pupil(&self, axis: Axis, wavelength: f64) -> Pupil {
        let stop = &self.surfaces()[self.stop()];
        let rest = (self.stop() + 1..self.surfaces().len()).map(SurfaceEvent::Onward);
        let m = along(self.surfaces(), rest, axis, wavelength, [stop.vertex, self.last()]);
        // The determinant is 1 if the stop is in air, as the sensor is; otherwise it is the index
        // of the medium.
        let size = m.a - m.b * m.c / m.d;
        Pupil { z: self.last() - m.b / m.d, radius: (stop.semi_aperture * size).abs() }
    }

    /// F-number of the cone from the exit pupil at the current focus: the illuminance of the
    /// sensor's center is `pi L / 4 N^2` (no losses). For a coma-free lens (Abbe's sine condition)
    /// it equals the set f-number at infinity. Nearer, it is `N (1 + m / p)`, with p the ratio of
    /// exit to entrance pupil.
    #[must_use]
    pub fn working_f_number(&self, axis: Axis, wavelength: f64) -> f64 {
        let exit = self.exit_pupil(axis, wavelength);
        (self.sensor() - exit.z) / (2.0 * exit.radius * self.pupil_fill())
    }

    /// Matrix from the first vertex to the sensor along a path with two reflections, at a
    /// wavelength (m). Lee and Eisemann, "Practical Real-Time Lens-Flare Rendering", EGSR 2013,
    /// section 3.
    #[must_use]
    pub fn ghost_matrix(
        &self,
        bounces: ReflectionPair,
        axis: Axis,
        wavelength: f64,
    ) -> RayTransferMatrix {
        let path = bounces.path(self.surfaces().len());
        along(self.surfaces(), path, axis, wavelength, [0.0, self.sensor()])
    }

    /// Fraction of axial light that takes such a path, at a wavelength (m): the product of
    /// transmittances and reflectances at normal incidence.
    #[must_use]
    pub fn ghost_transmittance(&self, bounces: ReflectionPair, wavelength: f64) -> f64 {
        let part = |event: SurfaceEvent| {
            let surface = &self.surfaces()[event.surface()];
            let (before, after) =
                (surface.before.index(wavelength), surface.after.index(wavelength));
            let reflected = match event {
                _ if surface.stop => return 1.0,
                SurfaceEvent::Onward(_) | SurfaceEvent::ReflectBack(_) => {
                    reflectance(before, after, surface.coating, 1.0, wavelength)
                }
                SurfaceEvent::Back(_) | SurfaceEvent::ReflectOnward(_) => {
                    reflectance(after, before, surface.coating, 1.0, wavelength)
                }
            };
            if matches!(event, SurfaceEvent::Onward(_) | SurfaceEvent::Back(_)) {
                1.0 - reflected
            } else {
                reflected
            }
        };
        bounces.path(self.surfaces().len()).map(part).product()
    }

    /// Every crossing of the path with the stop and with each rim: `(surface, matrix from the first
    /// vertex)`.
    pub fn ghost_crossings(
        &self,
        bounces: ReflectionPair,
        axis: Axis,
        wavelength: f64,
    ) -> impl Iterator<Item = (usize, RayTransferMatrix)> + '_ {
        let path = bounces.path(self.surfaces().len());
        path.clone().enumerate().map(move |(i, event)| {
            let surface = event.surface();
            let to = self.surfaces()[surface].vertex;
            (surface, along(self.surfaces(), path.clone().take(i), axis, wavelength, [0.0, to]))
        })
    }

    /// All pairs of surfaces that can reflect light to the sensor: `n (n - 1) / 2` of n refracting
    /// surfaces. The stop does not reflect. Hullin, Eisemann, Seidel and Lee, "Physically-Based
    /// Real-Time Lens Flare Rendering", SIGGRAPH 2011, section 3.
    pub fn reflection_pairs(&self) -> impl Iterator<Item = ReflectionPair> + '_ {
        let reflecting = move |i: &usize| !self.surfaces()[*i].stop;
        (0..self.surfaces().len()).filter(reflecting).flat_map(move |first| {
            (0..first).filter(reflecting).map(move |second| ReflectionPair { first, second })
        })
    }
}
