//! Outline of an emitter as a spherical polygon: corners, clipping at the horizon, integrals.

use std::f64::consts::{PI, TAU};

use glam::DVec3;

use super::shape::AreaShape;

/// Concentration of a circle's corners by its size over alpha, and its maximum.
const DENSITY: f64 = 0.25;
const MAX_DENSITY: f64 = 3.0;

/// Corners of a full circle.
pub const STEPS: usize = 16;

/// Corners of each half circle of a tube, both ends included.
const HALF_STEPS: usize = 9;

/// A convex spherical polygon; its corners are in either orientation.
#[derive(Clone, Debug, PartialEq)]
pub struct SphericalPolygon {
    corners: Vec<DVec3>,
}

/// Two unit vectors that complete one to a right-handed frame. Duff et al. 2017, "Building an
/// Orthonormal Basis, Revisited", listing 3.
fn orthonormal_basis(n: DVec3) -> (DVec3, DVec3) {
    let sign = if n.z >= 0.0 { 1.0 } else { -1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    (
        DVec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
        DVec3::new(b, sign + n.y * n.y * a, -n.y),
    )
}

/// An edge's term of the boundary integral, before its factor of 1/2: the angle between two unit
/// vectors times the unit vector along their cross product.
#[must_use]
pub fn edge(a: DVec3, b: DVec3) -> DVec3 {
    let c = a.cross(b);
    let sin = c.length();
    if sin <= 1e-300 { c } else { c * (sin.atan2(a.dot(b)) / sin) }
}

/// Outward normals of the two planes through the origin that are tangent to both spheres of a tube;
/// `None` if one sphere hides the other or the origin lies inside.
///
/// With unit directions `a`, `b` to the two middles at distances `da`, `db`: `n.a = -r / da`, `n.b
/// = -r / db`, `|n| = 1`.
pub(super) fn tube_sides(start: DVec3, end: DVec3, radius: f64) -> Option<[DVec3; 2]> {
    let (da, db) = (start.length(), end.length());
    if da <= radius || db <= radius {
        return None;
    }
    let (a, b) = (start / da, end / db);
    let (sa, sb) = (radius / da, radius / db);
    let cross = a.cross(b);
    let (s2, c) = (cross.length_squared(), a.dot(b));
    if s2 <= 1e-24 {
        return None;
    }
    let flat = (a * (sb * c - sa) + b * (sa * c - sb)) / s2;
    let rest = 1.0 - flat.length_squared();
    if rest <= 0.0 {
        return None;
    }
    let up = cross * (rest / s2).sqrt();
    Some([flat + up, flat - up])
}

/// Visible arc of a tube's end: the unit vector around the axis at its start, and the signed angle
/// (rad) to its end. `axis` is the unit direction to the center of this end, `other` to that of the
/// other end.
pub(super) fn tube_arc(axis: DVec3, other: DVec3, from: DVec3) -> (DVec3, f64) {
    let begin = (from - axis * from.dot(axis)).normalize_or(orthonormal_basis(axis).0);
    // By symmetry the arc's middle is away from the other end.
    let away = axis * other.dot(axis) - other;
    (begin, 2.0 * axis.cross(begin).dot(away).atan2(begin.dot(away)))
}

impl SphericalPolygon {
    /// The outline of a shape; empty if the origin lies inside.
    #[must_use]
    pub fn of(shape: &AreaShape, lobe: DVec3, alpha: f64) -> Self {
        let mut corners = Vec::with_capacity(2 * HALF_STEPS);
        // The wider the shape is than the lobe, the smaller the part of its edge within the lobe.
        let density = |size: f64| (size * DENSITY / alpha).min(MAX_DENSITY);
        match *shape {
            AreaShape::Polygon(c) => {
                corners.extend_from_slice(&c);
                if c[2] == c[3] {
                    corners.pop();
                }
            }
            AreaShape::Disk { center, axis, radius } => {
                // Towards the intersection of the lobe with the plane, or its nearest point.
                let height = center.dot(axis);
                let towards = lobe * height.abs() - center * (lobe.dot(axis) * height.signum());
                round(
                    center,
                    axis,
                    radius,
                    towards,
                    density(radius / center.length()),
                    &mut corners,
                );
            }
            AreaShape::Sphere { center, radius } => {
                cap(center, radius, lobe, density(radius / center.length()), &mut corners)
            }
            AreaShape::Tube { start, end, radius } => match tube_sides(start, end, radius) {
                None => {
                    let nearer =
                        if start.length_squared() < end.length_squared() { start } else { end };
                    cap(nearer, radius, lobe, density(radius / nearer.length()), &mut corners);
                }
                Some(sides) => {
                    half_circle(start, radius, sides[0], end, &mut corners);
                    half_circle(end, radius, sides[1], start, &mut corners);
                }
            },
        }
        Self { corners }
    }

    /// The number of corners.
    #[must_use]
    pub fn len(&self) -> usize {
        self.corners.len()
    }

    /// True if the outline is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.corners.len() < 3
    }

    /// Clips at the horizon. Sutherland and Hodgman 1974 with one plane.
    pub fn clip(&mut self) {
        let n = self.corners.len();
        let mut kept = Vec::with_capacity(n + 1);
        for i in 0..n {
            let (a, b) = (self.corners[i], self.corners[(i + 1) % n]);
            if a.z > 0.0 {
                kept.push(a);
            }
            if (a.z > 0.0) != (b.z > 0.0) {
                let mut cut = (b * a.z - a * b.z) / (a.z - b.z);
                cut.z = 0.0;
                kept.push(cut);
            }
        }
        self.corners = kept;
    }

    /// The outline under a linear map.
    #[must_use]
    pub fn mapped(&self, map: impl Fn(DVec3) -> DVec3) -> Self {
        Self { corners: self.corners.iter().map(|p| map(*p)).collect() }
    }

    /// Normalizes all corners.
    pub fn normalize(&mut self) {
        for p in &mut self.corners {
            *p = p.normalize_or(DVec3::Z);
        }
    }

    /// The integral of the unit direction over the polygon (sr), whose component along a normal is
    /// the projected solid angle if nothing lies below that normal's horizon. Corners must be unit
    /// vectors.
    #[must_use]
    pub fn vector_irradiance(&self) -> DVec3 {
        let n = self.corners.len();
        let sum: DVec3 = (0..n).map(|i| edge(self.corners[i], self.corners[(i + 1) % n])).sum();
        // The orientation is arbitrary: the integral must point towards the polygon.
        0.5 * if sum.dot(self.inside()) < 0.0 { -sum } else { sum }
    }

    /// A direction inside, of any length.
    #[must_use]
    pub fn inside(&self) -> DVec3 {
        self.corners.iter().sum()
    }

    /// Visits quadrature points of the polygon: `(point, volume)`, where `volume / |point|^3` is
    /// the point's solid angle. The polygon is a fan of triangles around an inner direction, each
    /// with a quadrature rule; wide ones are split in three.
    pub fn nodes(
        &self,
        inside: DVec3,
        wide: bool,
        rule: &[CubatureNode],
        mut visit: impl FnMut(DVec3, f64),
    ) {
        let middle = inside.normalize_or(DVec3::Z);
        let n = self.corners.len();
        let stride = n.div_ceil(SECTORS);
        for i in (0..n).step_by(stride) {
            let (a, b) = (self.corners[i], self.corners[(i + stride).min(n) % n]);
            // A long edge deviates from its chord: split in halves or quarters to keep the weights
            // accurate.
            let between = |x: DVec3, y: DVec3| (x + y).normalize_or(middle);
            let m = between(a, b);
            let d = a.dot(b);
            let ends = if d > 0.5 {
                vec![a, b]
            } else if d > -0.5 {
                vec![a, m, b]
            } else {
                vec![a, between(a, m), m, between(m, b), b]
            };
            for pair in ends.windows(2) {
                let (a, b) = (pair[0], pair[1]);
                let triangles = if wide {
                    let (inner_a, inner_b) = (between(middle, a), between(middle, b));
                    vec![[middle, inner_a, inner_b], [inner_a, a, b], [inner_a, b, inner_b]]
                } else {
                    vec![[middle, a, b]]
                };
                for [x, y, z] in triangles {
                    let volume = 0.5 * x.dot(y.cross(z)).abs();
                    for node in rule {
                        let p = x * (1.0 - node.u - node.v) + y * node.u + z * node.v;
                        visit(p, node.weight * volume);
                    }
                }
            }
        }
    }
}

/// Maximum sectors of a fan.
const SECTORS: usize = 8;

/// A point of a quadrature rule over a triangle, in coordinates along two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubatureNode {
    /// Weight: fraction of the area.
    pub weight: f64,
    /// Coordinate along the first side.
    pub u: f64,
    /// Coordinate along the second side.
    pub v: f64,
}

const fn node(weight: f64, u: f64, v: f64) -> CubatureNode {
    CubatureNode { weight, u, v }
}

/// The centroid.
pub const ONE: [CubatureNode; 1] = [node(1.0, 1.0 / 3.0, 1.0 / 3.0)];

/// Exact for quadratics. Strang and Fix 1973, table 4.1.
const THREE: [CubatureNode; 3] = [
    node(1.0 / 3.0, 1.0 / 6.0, 1.0 / 6.0),
    node(1.0 / 3.0, 2.0 / 3.0, 1.0 / 6.0),
    node(1.0 / 3.0, 1.0 / 6.0, 2.0 / 3.0),
];

/// Exact for quartics. Dunavant 1985, degree 4.
pub const SIX: [CubatureNode; 6] = [
    node(0.223_381_589_678_011, 0.445_948_490_915_965, 0.445_948_490_915_965),
    node(0.223_381_589_678_011, 0.108_103_018_168_070, 0.445_948_490_915_965),
    node(0.223_381_589_678_011, 0.445_948_490_915_965, 0.108_103_018_168_070),
    node(0.109_951_743_655_322, 0.091_576_213_509_771, 0.091_576_213_509_771),
    node(0.109_951_743_655_322, 0.816_847_572_980_459, 0.091_576_213_509_771),
    node(0.109_951_743_655_322, 0.091_576_213_509_771, 0.816_847_572_980_459),
];

/// Quadrature rule for an outline's solid angle (sr) in cosine space and the cosine to the viewer:
/// wide outlines and grazing views need more points, because the BRDF differs more from the LTC.
#[must_use]
pub fn rule_for(solid_angle: f64, view_cosine: f64) -> &'static [CubatureNode] {
    if solid_angle < FEW {
        &ONE
    } else if view_cosine < GRAZING {
        &SIX
    } else {
        &THREE
    }
}

/// Solid angle (sr) in cosine space below which one point per sector is enough.
pub const FEW: f64 = 0.05;

/// Solid angle (sr) above which a sector is split in an inner and two outer triangles: a quarter
/// circle deviates too far from its chord.
pub const WIDE: f64 = 1.5;

/// Cosine to the viewer below which sectors use six points.
const GRAZING: f64 = 0.4;

/// The cone subtended by a sphere.
fn cap(center: DVec3, radius: f64, lobe: DVec3, density: f64, corners: &mut Vec<DVec3>) {
    let d = center.length();
    if d <= radius {
        return;
    }
    let axis = center / d;
    let sin = radius / d;
    let cos = (1.0 - sin * sin).sqrt();
    round(axis * cos, axis, sin, lobe, density, corners);
}

/// Corners of a polygon with a circle's area, denser towards the lobe's direction.
fn round(
    center: DVec3,
    axis: DVec3,
    radius: f64,
    lobe: DVec3,
    density: f64,
    corners: &mut Vec<DVec3>,
) {
    let (u, _) = orthonormal_basis(axis);
    let u = (lobe - axis * lobe.dot(axis)).normalize_or(u);
    let v = axis.cross(u);
    // An odd cubic of the step, steeper at the ends.
    let angle = |i: usize| {
        let t = 2.0 * (i as f64 + 0.5) / STEPS as f64 - 1.0;
        PI * t * (1.0 + density * t * t) / (1.0 + density)
    };
    for i in 0..STEPS {
        let here = angle(i);
        let before = if i == 0 { angle(STEPS - 1) - TAU } else { angle(i - 1) };
        let after = if i + 1 == STEPS { angle(0) + TAU } else { angle(i + 1) };
        // A regular polygon with this step has its circle's area: r^2 sin(step) = step.
        let step = 0.5 * (after - before);
        let grown = (step / step.sin()).sqrt();
        corners.push(center + (u * here.cos() + v * here.sin()) * (radius * grown));
    }
}

/// The arc of a tube's end, from one tangent plane to the other.
fn half_circle(center: DVec3, radius: f64, from: DVec3, other: DVec3, corners: &mut Vec<DVec3>) {
    let d = center.length();
    let axis = center / d;
    let sin = radius / d;
    let cos = (1.0 - sin * sin).max(0.0).sqrt();
    let (begin, turn) = tube_arc(axis, other.normalize_or(axis), from);
    let side = axis.cross(begin);
    let n = HALF_STEPS - 1;
    let step = turn.abs() / n as f64;
    // Corners between the ends move out until the area is the sector's: ((n - 2) k^2 + 2 k) sin
    // step = n step.
    let m = n as f64 - 2.0;
    let k = ((1.0 + m * n as f64 * step / step.sin()).sqrt() - 1.0) / m;
    for i in 0..=n {
        let (s, c) = (turn * i as f64 / n as f64).sin_cos();
        let r = if i == 0 || i == n { 1.0 } else { k };
        corners.push(axis * cos + (begin * c + side * s) * (sin * r));
    }
}
