//! Rays near the axis: matrices, focal length, principal planes, pupils, ghosts.
//!
//! A ray is `(y, u)`, its height (m) and slope `dy/dz`. Refraction is `n' u' = n u - y (n' - n) /
//! R`, a mirror `u' = -u - 2 y / R`, a step along the axis `y' = y + z u`; u stays the slope in z
//! whichever way light travels, so that one set of matrices serves both ways (Hecht, "Optics", 5th
//! ed., section 6.2, there in `n u`).

use super::{
    coating::reflectance,
    lens::{Lens, LensSurface},
};

/// A plane through the axis. Only anamorphic lenses differ between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The level one.
    X = 0,
    /// The upright one.
    Y = 1,
}

/// What a stretch of a lens does to `(y, u)`: `y' = a y + b u`, `u' = c y + d u`; b in metres, c in
/// 1/m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayTransferMatrix {
    /// Height by height.
    pub a: f64,
    /// Height by slope (m).
    pub b: f64,
    /// Slope by height (1/m).
    pub c: f64,
    /// Slope by slope.
    pub d: f64,
}

impl RayTransferMatrix {
    /// Nothing happens.
    pub const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0 };

    /// This and then another.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            a: next.a * self.a + next.b * self.c,
            b: next.a * self.b + next.b * self.d,
            c: next.c * self.a + next.d * self.c,
            d: next.c * self.b + next.d * self.d,
        }
    }

    /// A step (m) along z, negative for light on its way back.
    #[must_use]
    pub const fn step(z: f64) -> Self {
        Self { b: z, ..Self::IDENTITY }
    }

    /// A border from one index to another, of that curvature (1/m).
    #[must_use]
    pub fn refraction(from: f64, to: f64, curvature: f64) -> Self {
        Self { c: -(to - from) / to * curvature, d: from / to, ..Self::IDENTITY }
    }

    /// A mirror of that curvature (1/m).
    #[must_use]
    pub const fn mirror(curvature: f64) -> Self {
        Self { c: -2.0 * curvature, d: -1.0, ..Self::IDENTITY }
    }

    /// `(y, u)` behind it.
    #[must_use]
    pub fn apply(self, y: f64, u: f64) -> (f64, f64) {
        (self.a * y + self.b * u, self.c * y + self.d * u)
    }

    /// Focal length (m) of a lens in air, by parallel light of height 1 leaving with slope `-1/f`.
    #[must_use]
    pub fn focal_length(self) -> f64 {
        -1.0 / self.c
    }

    /// From the last vertex to the focus of parallel light (m).
    #[must_use]
    pub fn back_focus(self) -> f64 {
        -self.a / self.c
    }
}

/// A pupil: the stop as it is seen from one side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pupil {
    /// z (m) of its plane.
    pub z: f64,
    /// Its radius (m), positive. Infinite where the stop lies in a focus.
    pub radius: f64,
}

/// A path of light that is reflected twice: first at `first` on its way to the sensor, then at
/// `second`, before it, on its way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReflectionPair {
    /// The surface that reflects first.
    pub first: usize,
    /// The surface that reflects second; less than `first`.
    pub second: usize,
}

/// What each surface does to a ray on its way through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SurfaceEvent {
    /// It is crossed toward the sensor.
    Onward(usize),
    /// It is crossed toward the scene.
    Back(usize),
    /// It reflects toward the scene.
    ReflectBack(usize),
    /// It reflects toward the sensor.
    ReflectOnward(usize),
}

impl SurfaceEvent {
    /// The surface.
    #[must_use]
    pub const fn surface(self) -> usize {
        match self {
            Self::Onward(i) | Self::Back(i) | Self::ReflectBack(i) | Self::ReflectOnward(i) => i,
        }
    }
}

impl ReflectionPair {
    /// Every surface on the way through a lens of that many surfaces, in the light's order.
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

/// The matrix of a sequence of events, from a place on the axis (m) to another.
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
        let curvature = surface.curvature_along(axis);
        let (before, after) = (surface.before.index(wavelength), surface.after.index(wavelength));
        matrix = matrix.then(match event {
            SurfaceEvent::Onward(_) => RayTransferMatrix::refraction(before, after, curvature),
            SurfaceEvent::Back(_) => RayTransferMatrix::refraction(after, before, curvature),
            SurfaceEvent::ReflectBack(_) | SurfaceEvent::ReflectOnward(_) => {
                RayTransferMatrix::mirror(curvature)
            }
        });
    }
    matrix.then(RayTransferMatrix::step(to - z))
}

/// From the first vertex through surfaces to a place on the axis (m).
pub(super) fn through(
    surfaces: &[LensSurface],
    axis: Axis,
    wavelength: f64,
    to: f64,
) -> RayTransferMatrix {
    let from = surfaces.first().map_or(to, |surface| surface.vertex);
    along(surfaces, (0..surfaces.len()).map(SurfaceEvent::Onward), axis, wavelength, [from, to])
}

/// What is known of a lens from its rays near the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardinalPoints {
    /// Focal length (m).
    pub focal_length: f64,
    /// From the last vertex to the focus of light from infinity (m).
    pub back_focus: f64,
    /// From the front focus to the first vertex (m).
    pub front_focus: f64,
    /// z (m) of the front and rear principal planes.
    pub principal: [f64; 2],
    /// The stop seen from the scene.
    pub entrance: Pupil,
    /// The stop seen from the sensor.
    pub exit: Pupil,
}

impl Lens {
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

    /// The stop as the scene sees it: rays toward the middle of the entrance pupil cross that of
    /// the stop.
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

    /// The stop as the sensor sees it.
    #[must_use]
    pub fn exit_pupil(&self, axis: Axis, wavelength: f64) -> Pupil {
        let stop = &self.surfaces()[self.stop()];
        let rest = (self.stop() + 1..self.surfaces().len()).map(SurfaceEvent::Onward);
        let m = along(self.surfaces(), rest, axis, wavelength, [stop.vertex, self.last()]);
        // The determinant is 1: the stop lies in air as the sensor does, or in a medium whose index
        // it then is.
        let size = m.a - m.b * m.c / m.d;
        Pupil { z: self.last() - m.b / m.d, radius: (stop.semi_aperture * size).abs() }
    }

    /// The illuminance of the middle of the sensor is `pi L / 4 N^2` with this f-number (no
    /// losses): that of the cone from the exit pupil, at whatever distance it is focused. Equals
    /// the f-number on the dial at infinity, for a lens free of coma (Abbe's sine condition); `N (1
    /// + m / p)` nearer, with p the ratio of exit to entrance pupil.
    #[must_use]
    pub fn working_f_number(&self, axis: Axis, wavelength: f64) -> f64 {
        let exit = self.exit_pupil(axis, wavelength);
        (self.sensor() - exit.z) / (2.0 * exit.radius * self.pupil_fill())
    }

    /// From the first vertex to the sensor along a path with two reflections, at a wavelength (m).
    /// Lee and Eisemann, "Practical Real-Time Lens-Flare Rendering", EGSR 2013, section 3.
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

    /// The part of the light along the axis that takes such a path, at a wavelength (m): the
    /// product of what each surface on it lets through and reflects at normal incidence.
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

    /// Every place of the path at which a ray meets the stop, and every rim: `(surface, matrix from
    /// the first vertex)`.
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

    /// All pairs of surfaces between which light is reflected on to the sensor: `n (n - 1) / 2` of
    /// n refracting surfaces. The stop reflects nothing. Hullin, Eisemann, Seidel and Lee,
    /// "Physically-Based Real-Time Lens Flare Rendering", SIGGRAPH 2011, section 3.
    pub fn reflection_pairs(&self) -> impl Iterator<Item = ReflectionPair> + '_ {
        let reflecting = move |i: &usize| !self.surfaces()[*i].stop;
        (0..self.surfaces().len()).filter(reflecting).flat_map(move |first| {
            (0..first).filter(reflecting).map(move |second| ReflectionPair { first, second })
        })
    }
}
