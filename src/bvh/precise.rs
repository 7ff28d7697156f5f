//! Rays with hits in double precision. Nodes and triangles are first tested in single precision,
//! widened by its rounding error; only the double-precision test decides the hit.

use glam::{DAffine3, DMat3, DVec2, DVec3, Vec3};

use super::{
    ray::{Hit, Ray},
    scene::{SLACK, SceneBvh, SceneInstance, SceneTlas},
    triangle::BvhTriangle,
    wide_traversal,
};

/// A ray in double precision, relative to the eye of the TLAS.
#[derive(Clone, Copy, Debug)]
pub struct PreciseRay {
    /// Origin (m).
    pub origin: DVec3,
    /// Unit direction.
    pub direction: DVec3,
    /// Minimum distance (m), exclusive; 0 or more.
    pub t_min: f64,
    /// Maximum distance (m), exclusive.
    pub t_max: f64,
    /// Unit normal of the surface that the ray leaves, on the side to which it leaves; zero in free
    /// space. The origin is offset along it by the error bound of a point of that surface (`FINE`;
    /// the purpose of Wächter and Binder 2019, "A Fast and Robust Method for Avoiding
    /// Self-Intersection", Ray Tracing Gems, chapter 6).
    pub offset_normal: DVec3,
}

/// A hit of a `PreciseRay`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreciseHit {
    /// Distance (m).
    pub t: f64,
    /// Barycentric weights of the second and third vertex, at least `INSET` inside the triangle.
    pub barycentric: DVec2,
    /// Index into `SceneTlas::instances`.
    pub instance: u32,
    /// Index into `SceneBvh::triangles`.
    pub triangle: u32,
}

/// Error bound of a point in double precision, as a fraction of the coordinates that enter its
/// computation: 64 units in the last place. `SLACK` is its counterpart for single precision.
const FINE: f64 = 1.0 / (1u64 << 46) as f64;

/// Minimum barycentric weight of a hit. A point exactly on the edge between two triangles lies on
/// both planes, so rounding would decide whether a ray from there hits the other one.
const INSET: f64 = 1e-9;

impl PreciseRay {
    /// A ray from a point to infinity.
    #[must_use]
    pub const fn new(origin: DVec3, direction: DVec3, away: DVec3) -> Self {
        Self { origin, direction, t_min: 0.0, t_max: f64::INFINITY, offset_normal: away }
    }

    /// The ray in single precision.
    pub(super) fn single(&self) -> Ray {
        Ray {
            origin: self.origin.as_vec3(),
            direction: self.direction.as_vec3(),
            t_min: self.t_min as f32,
            t_max: self.t_max as f32,
            offset_normal: self.offset_normal.as_vec3(),
        }
    }
}

impl PreciseHit {
    /// Barycentric weights of the three vertices.
    #[must_use]
    pub fn weights(&self) -> Vec3 {
        DVec3::new(
            1.0 - self.barycentric.x - self.barycentric.y,
            self.barycentric.x,
            self.barycentric.y,
        )
        .as_vec3()
    }

    /// The hit point in the triangle's plane, in mesh space.
    #[must_use]
    pub fn inside(&self, triangle: &BvhTriangle) -> DVec3 {
        let a = triangle.a.as_dvec3();
        a + (triangle.b.as_dvec3() - a) * self.barycentric.x
            + (triangle.c.as_dvec3() - a) * self.barycentric.y
    }

    fn comes_before(&self, found: Option<&Self>, t_max: f64) -> bool {
        let number = |hit: &Self| (hit.instance, hit.triangle);
        match found {
            None => self.t < t_max,
            Some(found) => self.t < found.t || (self.t == found.t && number(self) < number(found)),
        }
    }

    /// The hit in single precision.
    fn single(&self) -> Hit {
        Hit {
            t: self.t as f32,
            barycentric: self.barycentric.as_vec2(),
            instance: self.instance,
            triangle: self.triangle,
        }
    }
}

/// A ray in an instance's space, prepared for triangle tests: `ShearedRay` in double precision.
struct ObjectRay {
    origin: DVec3,
    direction: DVec3,
    axes: [usize; 3],
    shear: DVec2,
}

impl ObjectRay {
    fn new(place: &SceneInstance, eye: DVec3, slack: f32, ray: &PreciseRay) -> Self {
        let error = place.condition_number * f64::from(slack) / f64::from(SLACK)
            + ray.origin.abs().max_element();
        let origin = ray.origin + ray.offset_normal * (FINE * error);
        let direction = place.inverse * ray.direction;
        let z = direction.abs().max_position();
        let axes = [(z + 1) % 3, (z + 2) % 3, z];
        let shear = DVec2::new(direction[axes[0]], direction[axes[1]]) / direction[z];
        Self { origin: place.inverse * (eye - place.translation + origin), direction, axes, shear }
    }

    /// Distance and barycentric weights of a hit beyond `t_min` and up to `t_max`. The plane gives
    /// the distance: its sign depends on the side of the ray's origin, not on the angle. The edge
    /// functions test whether the ray passes inside, as in `ShearedRay::intersect`: neighbors leave
    /// no gap.
    fn meet(&self, triangle: &BvhTriangle, t_min: f64, t_max: f64) -> Option<(f64, DVec2)> {
        let [a, b, c] = [triangle.a, triangle.b, triangle.c].map(|corner| corner.as_dvec3());
        let (normal, corner) = plane(a, b, c);
        let t = normal.dot(corner - self.origin) / normal.dot(self.direction);
        // Also rejects NaN.
        if !(t > t_min && t <= t_max && t.is_finite()) {
            return None;
        }
        let [x, y, z] = self.axes;
        let apply = |corner: DVec3| {
            let p = corner - self.origin;
            DVec2::new(p[x] - self.shear.x * p[z], p[y] - self.shear.y * p[z])
        };
        let [p, q, r] = [a, b, c].map(apply);
        // Both triangles at an edge compute the same products, so the difference has the same bits
        // except for the sign.
        let (u, v, w) = (r.x * q.y - r.y * q.x, p.x * r.y - p.y * r.x, q.x * p.y - q.y * p.x);
        let determinant = u + v + w;
        if (u.min(v).min(w) < 0.0 && u.max(v).max(w) > 0.0) || determinant == 0.0 {
            return None;
        }
        let (v, w) = ((v / determinant).max(INSET), (w / determinant).max(INSET));
        let within = ((1.0 - INSET) / (v + w)).min(1.0);
        Some((t, DVec2::new(v, w) * within))
    }
}

/// A triangle's normal, of twice its area, and the vertex at which it is computed. That vertex lies
/// between the two shorter edges: its angle is the widest and loses the fewest digits.
fn plane(a: DVec3, b: DVec3, c: DVec3) -> (DVec3, DVec3) {
    let (ab, bc, ca) = (b - a, c - b, a - c);
    let (at_a, at_b, at_c) = (bc.length_squared(), ca.length_squared(), ab.length_squared());
    if at_a >= at_b && at_a >= at_c {
        (ca.cross(ab), a)
    } else if at_b >= at_c {
        (ab.cross(bc), b)
    } else {
        (bc.cross(ca), c)
    }
}

impl SceneBvh {
    /// The nearest hit, in double precision. Requires `SceneBvh::build_wide` before the TLAS is
    /// built.
    #[must_use]
    pub fn closest_f64(&self, top: &SceneTlas, ray: &PreciseRay) -> Option<PreciseHit> {
        self.trace_precisely::<false>(top, ray, |_| true)
    }

    /// The first hit found that `counts` accepts, in double precision. `counts` is called with hits
    /// in any order, at most once each, until it accepts one. Requires `SceneBvh::build_wide`
    /// before the TLAS is built.
    #[must_use]
    pub fn occluded_f64(
        &self,
        top: &SceneTlas,
        ray: &PreciseRay,
        counts: impl FnMut(&PreciseHit) -> bool,
    ) -> bool {
        self.trace_precisely::<true>(top, ray, counts).is_some()
    }

    /// Transform from the object space of an instance to the eye space of its TLAS.
    #[must_use]
    pub fn to_eye(&self, top: &SceneTlas, instance: u32) -> Option<DAffine3> {
        let place = self.instances.get(instance as usize)?;
        Some(DAffine3 { matrix3: place.linear, translation: place.translation - top.eye })
    }

    /// Inverse of the linear part of `to_eye`. Its rows transform an instance's normals to eye
    /// space.
    #[must_use]
    pub fn inverse_linear(&self, instance: u32) -> Option<DMat3> {
        self.instances.get(instance as usize).map(|place| place.inverse)
    }

    fn trace_precisely<const ANY: bool>(
        &self,
        top: &SceneTlas,
        ray: &PreciseRay,
        mut counts: impl FnMut(&PreciseHit) -> bool,
    ) -> Option<PreciseHit> {
        let single = ray.single();
        if top.instances.is_empty()
            || !(single.direction.abs().max_element() > 0.0
                && single.origin.is_finite()
                && single.direction.is_finite())
        {
            return None;
        }
        let wide = self.wide.as_ref().filter(|_| !top.wide.is_empty());
        assert!(
            wide.is_some(),
            "precise rays need SceneBvh::build_wide before SceneBvh::tlas_from"
        );
        let mut found = None::<PreciseHit>;
        let mut own = None::<(u32, ObjectRay)>;
        wide_traversal::trace_conservative::<ANY>(wide?, top, &single, |number, triangle| {
            let instance = top.instances.get(number as usize)?;
            if own.as_ref().is_none_or(|(of, _)| *of != number) {
                own = Some((
                    number,
                    ObjectRay::new(
                        self.instances.get(number as usize)?,
                        top.eye,
                        instance.slack,
                        ray,
                    ),
                ));
            }
            let (_, object) = own.as_ref()?;
            let nearest = found.as_ref().map_or(ray.t_max, |hit| hit.t);
            let (t, barycentric) =
                object.meet(self.triangles.get(triangle as usize)?, ray.t_min, nearest)?;
            let hit = PreciseHit { t, barycentric, instance: number, triangle };
            if !hit.comes_before(found.as_ref(), ray.t_max)
                || !self.passes_alpha_test(instance, &hit.single(), None)
                || !counts(&hit)
            {
                return None;
            }
            found = Some(hit);
            Some(t as f32)
        });
        found
    }
}
