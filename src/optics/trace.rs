//! Exact ray tracing through a lens: forward to the sensor, backward to the scene, and along paths
//! with two reflections.

use glam::{DVec2, DVec3};

use super::{
    coating::reflectance,
    lens::{Lens, LensSurface},
    paraxial::{ReflectionPair, SurfaceEvent},
};

/// A ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Origin (m).
    pub origin: DVec3,
    /// Unit direction.
    pub direction: DVec3,
}

impl Ray {
    /// Intersection with the plane z = const (m).
    #[must_use]
    pub fn at_plane(&self, z: f64) -> DVec2 {
        (self.origin + self.direction * ((z - self.origin.z) / self.direction.z)).truncate()
    }
}

/// Reason for the end of a ray, with the index of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// It misses the sphere or cylinder.
    Missed(usize),
    /// It is totally reflected where it should refract.
    Reflected(usize),
    /// It hits the barrel outside of the clear radius.
    Rim(usize),
    /// It hits the blades.
    Iris,
}

/// A ray behind the lens, with its clearances. Rims and iris do not end it: ray bundles are clipped
/// between their rays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracedRay {
    /// The ray behind the last surface of its path.
    pub ray: Ray,
    /// Fraction of the light that takes this path: product of the transmittance of each interface
    /// crossed and the reflectance of each that reflects.
    pub weight: f64,
    /// Maximum distance from the axis relative to the clear radius: 1 is the rim.
    pub rim: f64,
    /// Index of the surface with that maximum.
    pub nearest_rim: usize,
    /// Maximum relative distance toward the blades: 1 is their edge.
    pub blades: f64,
    /// Positions in the stop (in radii of its corners), at most three.
    pub iris: [DVec2; 3],
    /// Number of stop crossings.
    pub crossings: usize,
}

impl TracedRay {
    /// Returns the ray if nothing blocks it.
    ///
    /// # Errors
    /// `Blocked` by the rim or the blades it hits.
    pub fn unblocked(self) -> Result<Self, Blocked> {
        if self.rim > 1.0 {
            Err(Blocked::Rim(self.nearest_rim))
        } else if self.blades > 1.0 {
            Err(Blocked::Iris)
        } else {
            Ok(self)
        }
    }
}

/// True if reflection and transmission losses count. Metered cameras compensate for the light lost
/// in glass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losses {
    /// Fresnel losses and coatings.
    Counted,
    /// Lossless glass.
    Ignored,
}

/// Relative rim distance of a ray that misses the whole sphere.
const MISSED_RIM: f64 = 1.05;

/// Treatment of rays that miss a surface or are totally reflected where they should refract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MissPolicy {
    /// The ray ends.
    Terminate,
    /// The ray continues as the nearest valid one: beyond every rim, or without light.
    Continue,
}

/// Intersects a ray with a surface: position, and unit normal toward +z at the vertex.
///
/// Welford, "Aberrations of Optical Systems", section 4.3: from the crossing with the vertex'
/// plane, the distance is `F / (G + sqrt(G^2 - c F))`, which is exact for planes too. Signs follow
/// the ray, which selects the intersection on the vertex' side in both directions. Cylinders use
/// only one of x and y.
fn intersect(surface: &LensSurface, ray: &Ray, lost: MissPolicy) -> Option<(DVec3, DVec3, bool)> {
    let d = ray.direction;
    let flat = ray.origin + d * ((surface.vertex - ray.origin.z) / d.z);
    if surface.curvature == 0.0 {
        return flat.is_finite().then_some((flat, DVec3::Z, true));
    }
    let c = surface.curvature;
    let [mx, my] = surface.curved.map(|curved| if curved { 1.0 } else { 0.0 });
    let f = c * (mx * flat.x * flat.x + my * flat.y * flat.y);
    let g = d.z - c * (mx * d.x * flat.x + my * d.y * flat.y);
    let k = mx * d.x * d.x + my * d.y * d.y + d.z * d.z;
    let root = g * g - c * f * k;
    if root.is_nan() || (root < 0.0 && lost == MissPolicy::Terminate) {
        return None;
    }
    let along = f / (g + root.max(0.0).sqrt().copysign(d.z));
    let place = flat + d * along;
    let normal =
        DVec3::new(-c * mx * place.x, -c * my * place.y, 1.0 - c * (place.z - surface.vertex));
    let is_hit = root >= 0.0 && normal.z > 0.0;
    (place.is_finite() && (is_hit || lost == MissPolicy::Continue))
        .then(|| (place, normal.normalize(), is_hit))
}

/// Snell's law in vector form, `n` toward the ray's origin; `None` at total reflection. Glassner
/// (ed.), "An Introduction to Ray Tracing", section 4.2.
fn refract(d: DVec3, n: DVec3, ratio: f64, lost: MissPolicy) -> Option<DVec3> {
    let cosine = -d.dot(n);
    let left = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
    let passes = left > 0.0 || lost == MissPolicy::Continue;
    passes.then(|| (d * ratio + n * (ratio * cosine - left.max(0.0).sqrt())).normalize())
}

impl Lens {
    /// Traces a ray from the scene to the sensor.
    ///
    /// # Errors
    /// `Blocked` by a surface that it misses or that totally reflects it.
    pub fn trace_forward(
        &self,
        ray: Ray,
        wavelength: f64,
        losses: Losses,
    ) -> Result<TracedRay, Blocked> {
        self.follow(
            ray,
            (0..self.surfaces().len()).map(SurfaceEvent::Onward),
            wavelength,
            losses,
            |_| {},
        )
    }

    /// Traces a ray from the sensor to the scene.
    ///
    /// # Errors
    /// As `trace_forward`.
    pub fn trace_backward(
        &self,
        ray: Ray,
        wavelength: f64,
        losses: Losses,
    ) -> Result<TracedRay, Blocked> {
        self.follow(
            ray,
            (0..self.surfaces().len()).rev().map(SurfaceEvent::Back),
            wavelength,
            losses,
            |_| {},
        )
    }

    /// As `trace_backward`, with every intersection (m) in path order, for drawings.
    ///
    /// # Errors
    /// As `trace_forward`.
    pub fn trace_backward_path(
        &self,
        ray: Ray,
        wavelength: f64,
    ) -> Result<(TracedRay, Vec<DVec3>), Blocked> {
        let mut places = Vec::with_capacity(self.surfaces().len());
        let path = (0..self.surfaces().len()).rev().map(SurfaceEvent::Back);
        let traced =
            self.follow(ray, path, wavelength, Losses::Ignored, |place| places.push(place))?;
        Ok((traced, places))
    }

    /// Traces a ray from the scene along a path with two reflections.
    ///
    /// # Errors
    /// As `trace_forward`.
    pub fn trace_ghost(
        &self,
        bounces: ReflectionPair,
        ray: Ray,
        wavelength: f64,
    ) -> Result<TracedRay, Blocked> {
        self.follow(ray, bounces.path(self.surfaces().len()), wavelength, Losses::Counted, |_| {})
    }

    /// As `trace_ghost`, for meshes whose outermost rays lie outside of the open area. A ray that
    /// misses a surface continues with `rim` beyond 1, and a totally reflected one with a weight of
    /// 0.
    ///
    /// # Errors
    /// `Blocked` by a surface near which the ray is not finite.
    pub fn trace_ghost_unclipped(
        &self,
        bounces: ReflectionPair,
        ray: Ray,
        wavelength: f64,
    ) -> Result<TracedRay, Blocked> {
        let path = bounces.path(self.surfaces().len());
        self.walk(ray, path, wavelength, (Losses::Counted, MissPolicy::Continue), |_| {})
    }

    fn follow(
        &self,
        ray: Ray,
        path: impl Iterator<Item = SurfaceEvent>,
        wavelength: f64,
        losses: Losses,
        visit: impl FnMut(DVec3),
    ) -> Result<TracedRay, Blocked> {
        self.walk(ray, path, wavelength, (losses, MissPolicy::Terminate), visit)
    }

    fn walk(
        &self,
        mut ray: Ray,
        path: impl Iterator<Item = SurfaceEvent>,
        wavelength: f64,
        (losses, lost): (Losses, MissPolicy),
        mut visit: impl FnMut(DVec3),
    ) -> Result<TracedRay, Blocked> {
        let mut traced_ray = TracedRay {
            ray,
            weight: 1.0,
            rim: 0.0,
            nearest_rim: 0,
            blades: 0.0,
            iris: [DVec2::ZERO; 3],
            crossings: 0,
        };
        for event in path {
            let index = event.surface();
            let surface = &self.surfaces()[index];
            let (place, normal, found) =
                intersect(surface, &ray, lost).ok_or(Blocked::Missed(index))?;
            let far = place.truncate().length() / surface.semi_aperture;
            let far = if found { far } else { far.max(MISSED_RIM) };
            ray.origin = place;
            visit(place);
            if surface.stop {
                let relative = place.truncate() / surface.semi_aperture;
                traced_ray.blades =
                    traced_ray.blades.max(far / self.iris().edge(relative.y.atan2(relative.x)));
                if let Some(slot) = traced_ray.iris.get_mut(traced_ray.crossings) {
                    *slot = relative;
                    traced_ray.crossings += 1;
                }
                continue;
            }
            if far > traced_ray.rim {
                (traced_ray.rim, traced_ray.nearest_rim) = (far, index);
            }
            let toward_scene =
                matches!(event, SurfaceEvent::Back(_) | SurfaceEvent::ReflectOnward(_));
            let (from, to, normal) = if toward_scene {
                (surface.after, surface.before, normal)
            } else {
                (surface.before, surface.after, -normal)
            };
            let (from, to) = (from.index(wavelength), to.index(wavelength));
            let reflects =
                matches!(event, SurfaceEvent::ReflectBack(_) | SurfaceEvent::ReflectOnward(_));
            if reflects || losses == Losses::Counted {
                let cosine = -ray.direction.dot(normal);
                let reflected = reflectance(from, to, surface.coating, cosine, wavelength);
                traced_ray.weight *= if reflects { reflected } else { 1.0 - reflected };
            }
            ray.direction = if reflects {
                (ray.direction - normal * (2.0 * ray.direction.dot(normal))).normalize()
            } else {
                refract(ray.direction, normal, from / to, lost).ok_or(Blocked::Reflected(index))?
            };
        }
        traced_ray.ray = ray;
        Ok(traced_ray)
    }
}
