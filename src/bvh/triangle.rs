//! Triangles and the watertight ray-triangle test.

use bytemuck::{Pod, Zeroable};
use glam::{Vec2, Vec3};

use super::node::Aabb;

/// A triangle in mesh space: 48 bytes, in the device's layout. It stores whole vertices, not edges:
/// neighbors share the bits of common vertices, which makes the test watertight.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct BvhTriangle {
    /// First vertex.
    pub a: Vec3,
    /// Its normal, encoded by `pack_normal`.
    pub normal_a: u32,
    /// Second vertex.
    pub b: Vec3,
    /// Its normal, encoded by `pack_normal`.
    pub normal_b: u32,
    /// Third vertex.
    pub c: Vec3,
    /// Its normal, encoded by `pack_normal`.
    pub normal_c: u32,
}

/// The hit of a ray with a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TriangleHit {
    /// Distance in units of the ray's direction.
    pub t: f32,
    /// Barycentric weights of the second and third vertex.
    pub barycentric: Vec2,
}

impl BvhTriangle {
    /// Bounding box.
    #[must_use]
    pub fn bounds(&self) -> Aabb {
        Aabb { low: self.a.min(self.b).min(self.c), high: self.a.max(self.b).max(self.c) }
    }

    /// Geometric normal by the right-hand rule; its length is twice the area.
    #[must_use]
    pub fn normal(&self) -> Vec3 {
        (self.b - self.a).cross(self.c - self.a)
    }
}

/// A ray prepared for triangle tests, in the frame where it runs along +z from the origin with
/// slope 0.
#[derive(Clone, Copy, Debug)]
pub struct ShearedRay {
    origin: Vec3,
    axes: [usize; 3],
    shear: Vec3,
}

impl ShearedRay {
    /// Prepares a ray; the direction must not be zero.
    #[must_use]
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        let z = direction.abs().max_position();
        let (mut x, mut y) = ((z + 1) % 3, (z + 2) % 3);
        if direction[z] < 0.0 {
            (x, y) = (y, x);
        }
        let shear = Vec3::new(direction[x], direction[y], 1.0) / direction[z];
        Self { origin, axes: [x, y, z], shear }
    }

    /// The axes that act as x, y and z, and the shear constants.
    #[must_use]
    pub const fn parts(&self) -> ([usize; 3], Vec3) {
        (self.axes, self.shear)
    }

    fn apply(&self, vertex: Vec3) -> Vec3 {
        let p = vertex - self.origin;
        let [x, y, z] = self.axes;
        Vec3::new(p[x] - self.shear.x * p[z], p[y] - self.shear.y * p[z], self.shear.z * p[z])
    }

    /// The hit of the ray beyond `t_min` and up to `t_max`; both faces count.
    ///
    /// Woop, Benthin and Wald 2013, "Watertight Ray/Triangle Intersection", JCGT 2(1). An edge
    /// function is the difference of two products. Rounding keeps their order, so its sign is right
    /// or it is zero, and neighbors get the same value with the opposite sign. Where the paper
    /// recomputes in double precision, zero counts as inside here: the ray hits at least one of two
    /// neighbors, at times both.
    #[must_use]
    #[inline]
    pub fn intersect(&self, triangle: &BvhTriangle, t_min: f32, t_max: f32) -> Option<TriangleHit> {
        let (a, b, c) = (self.apply(triangle.a), self.apply(triangle.b), self.apply(triangle.c));
        let u = c.x * b.y - c.y * b.x;
        let v = a.x * c.y - a.y * c.x;
        let w = b.x * a.y - b.y * a.x;
        if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
            return None;
        }
        let determinant = u + v + w;
        // Edge-on or without area.
        if determinant == 0.0 {
            return None;
        }
        let inverse = 1.0 / determinant;
        let t = (u * a.z + v * b.z + w * c.z) * inverse;
        // Also rejects NaN.
        if t > t_min && t <= t_max {
            Some(TriangleHit { t, barycentric: Vec2::new(v, w) * inverse })
        } else {
            None
        }
    }
}

/// Encodes a unit vector in two signed 16-bit numbers by the octahedral map (Cigolle et al. 2014,
/// "A Survey of Efficient Representations for Independent Unit Vectors", JCGT 3(2)).
#[must_use]
pub fn pack_normal(n: Vec3) -> u32 {
    let n = n / (n.x.abs() + n.y.abs() + n.z.abs()).max(1e-30);
    let sign = |v: f32| if v < 0.0 { -1.0 } else { 1.0 };
    let p = if n.z >= 0.0 {
        Vec2::new(n.x, n.y)
    } else {
        Vec2::new((1.0 - n.y.abs()) * sign(n.x), (1.0 - n.x.abs()) * sign(n.y))
    };
    let word = |v: f32| u32::from((v.clamp(-1.0, 1.0) * 32767.0).round() as i16 as u16);
    word(p.x) | word(p.y) << 16
}

/// Decodes the result of `pack_normal` to unit length, within 0.004 degrees.
#[must_use]
pub fn unpack_normal(packed: u32) -> Vec3 {
    let part = |bits: u32| (f32::from(bits as u16 as i16) / 32767.0).max(-1.0);
    let p = Vec2::new(part(packed & 0xffff), part(packed >> 16));
    let z = 1.0 - p.x.abs() - p.y.abs();
    let fold = (-z).max(0.0);
    let inward = |v: f32| if v < 0.0 { v + fold } else { v - fold };
    Vec3::new(inward(p.x), inward(p.y), z).normalize_or(Vec3::Z)
}
