//! Light of uniform emitters of a size, at a point: exact irradiance, and the glTF BRDF integrated over what is seen.
//!
//! A convex emitter of the same luminance everywhere looks, from a point, like a convex patch of sky. All that it does
//! to a surface follows from that patch: the *projected solid angle*, which times luminance is illuminance, and the
//! BRDF's integral over it. The shader `shaders/lib/area.glsl` is the twin of this module in single precision; tests
//! hold the two together.
//!
//! Everything is in the surface's frame: the point at the origin, `z` along the normal, and the direction to the
//! viewer in the `xz` half plane of positive `x`. Lengths are in any one unit.

pub mod brdf;
pub mod ltc;
pub mod outline;

use std::f64::consts::PI;

use glam::{DVec3, dvec3};

pub use brdf::BrdfWeights;
pub use ltc::Ltc;
pub use outline::Outline;

/// An emitting surface, placed in the surface's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A flat polygon of three or four corners, anticlockwise as seen from where it is looked at; for three corners the
    /// last two are the same.
    Polygon([DVec3; 4]),
    /// A flat disk.
    Disk {
        /// Where its middle is.
        center: DVec3,
        /// Its normal, unit; the sign does not matter.
        axis: DVec3,
        /// Its radius.
        radius: f64,
    },
    /// A sphere.
    Sphere {
        /// Where its middle is.
        center: DVec3,
        /// Its radius.
        radius: f64,
    },
    /// A tube with round ends: all points within the radius of a line.
    Tube {
        /// One end of the line.
        start: DVec3,
        /// The other.
        end: DVec3,
        /// The radius.
        radius: f64,
    },
}

impl Shape {
    /// A rectangle from its middle and the two half axes.
    #[must_use]
    pub fn rectangle(center: DVec3, right: DVec3, up: DVec3) -> Self {
        let corners = [center - right - up, center + right - up, center + right + up, center - right + up];
        // Seen from its back, its corners run the other way round.
        if right.cross(up).dot(center) > 0.0 {
            Self::Polygon([corners[0], corners[3], corners[2], corners[1]])
        } else {
            Self::Polygon(corners)
        }
    }
}

/// The projected solid angle (sr, up to pi) of what lies above the horizon: the integral of the cosine to the normal over
/// the directions in which the shape is seen. Luminance in nits times this is illuminance in lux.
///
/// Exact for polygons (Lambert 1760; Baum, Rushmeier and Winget 1989, equation 10), spheres, and disks and tubes that
/// the horizon does not cut; cut disks and tubes are polygons of `outline::STEPS` corners on each round.
#[must_use]
pub fn projected_solid_angle(shape: &Shape) -> f64 {
    match *shape {
        Shape::Sphere { center, radius } => sphere(center, radius),
        Shape::Disk { center, axis, radius } => {
            let lowest = center.z - radius * (1.0 - axis.z * axis.z).max(0.0).sqrt();
            if lowest >= 0.0 { disk_above_horizon(center, axis, radius) } else { by_outline(shape) }
        }
        Shape::Tube { start, end, radius } => {
            if start.z.min(end.z) >= radius {
                tube_above_horizon(start, end, radius)
            } else {
                by_outline(shape)
            }
        }
        Shape::Polygon(_) => by_outline(shape),
    }
}

fn by_outline(shape: &Shape) -> f64 {
    let mut outline = Outline::of(shape, DVec3::Z, 1.0);
    outline.clip();
    outline.normalize();
    outline.vector_irradiance().z.max(0.0)
}

/// The angle between the horizontal axis and a vector's part, without trouble at its ends.
fn acos_clamped(x: f64) -> f64 {
    x.clamp(-1.0, 1.0).acos()
}

/// Projected solid angle of a sphere that the horizon may cut; zero from within.
///
/// Stokes' theorem on the cone under which it is seen: the arc above the horizon, and the horizon between its ends. The
/// same as Snyder 1996, "Area light sources for real-time graphics", section 3.2, and as Lagarde and de Rousiers 2014,
/// equation 4.33, in another form.
fn sphere(center: DVec3, radius: f64) -> f64 {
    let d2 = center.length_squared();
    let sin2 = radius * radius / d2;
    if sin2 >= 1.0 || d2 <= 0.0 {
        return 0.0;
    }
    let (sin, cos) = (sin2.sqrt(), (1.0 - sin2).sqrt());
    let z = center.z / d2.sqrt();
    if z >= sin {
        return PI * sin2 * z;
    }
    if z <= -sin {
        return 0.0;
    }
    let slope = (1.0 - z * z).sqrt();
    let half = acos_clamped(-cos * z / (sin * slope));
    let along = cos * slope - sin * z * half.cos();
    (sin2 * half * z - sin * cos * slope * half.sin() + (sin * half.sin()).atan2(along)).max(0.0)
}

/// Projected solid angle of a disk wholly above the horizon.
///
/// The boundary integral of Stokes' theorem in closed form: with `h` and `t` the distances of the point to the disk's
/// plane and axis, `u` the unit vector along `t`, `P = h^2 + t^2 + r^2`, `S = sqrt(P^2 - 4 r^2 t^2)`, it is
/// `pi r^2 / S |m - 2 t (t m - h u) / (S + P)| . n`.
fn disk_above_horizon(center: DVec3, axis: DVec3, radius: f64) -> f64 {
    let h = center.dot(axis);
    let (axis, h) = if h < 0.0 { (-axis, -h) } else { (axis, h) };
    let across = center - axis * h;
    let t = across.length();
    let p = h * h + t * t + radius * radius;
    let s = ((h * h + (t - radius).powi(2)) * (h * h + (t + radius).powi(2))).sqrt();
    if s <= 0.0 {
        return 0.0;
    }
    let inner = axis - (axis * (t * t) - across * h) * (2.0 / (s + p));
    (PI * radius * radius / s * inner.z).max(0.0)
}

/// Projected solid angle of a tube wholly above the horizon: two arcs of cones in closed form, two straight edges.
fn tube_above_horizon(start: DVec3, end: DVec3, radius: f64) -> f64 {
    let Some(sides) = outline::tube_sides(start, end, radius) else {
        let nearer = if start.length_squared() < end.length_squared() { start } else { end };
        return sphere(nearer, radius);
    };
    let mut sum = 0.0;
    for (center, other, from) in [(start, end, sides[0]), (end, start, sides[1])] {
        let d = center.length();
        let (axis, sin) = (center / d, radius / d);
        let cos = (1.0 - sin * sin).max(0.0).sqrt();
        let (begin, turn) = outline::tube_arc(axis, other / other.length(), from);
        let side = axis.cross(begin);
        let finish = begin * turn.cos() + side * turn.sin();
        // The integral of a unit vector that turns is the difference of its perpendiculars.
        sum += sin * sin * turn * axis.z - sin * cos * (side - axis.cross(finish)).z;
    }
    let touch = |p: DVec3, n: DVec3| (p + n * radius).normalize_or(DVec3::Z);
    sum += outline::edge(touch(start, sides[1]), touch(end, sides[1])).z;
    sum += outline::edge(touch(end, sides[0]), touch(start, sides[0])).z;
    (0.5 * sum).abs()
}

/// What a uniform emitter of one nit does to a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shaded {
    /// Projected solid angle (sr): illuminance in lux.
    pub irradiance: f64,
    /// The same weighted with Schlick's `(1 - v.h)^5`: what Fresnel reflection takes from a white diffuse base.
    pub irradiance_schlick: f64,
    /// Integral of `D V n.l`: what a mirror-white metal of this roughness reflects, in nits.
    pub specular: f64,
    /// The same weighted with Schlick's `(1 - v.h)^5`.
    pub specular_schlick: f64,
}

/// Integrates the BRDF over what is seen of a shape of one nit. `view` is the unit direction to the viewer with `y = 0`;
/// `alpha` is the square of roughness, above 0 and at most 1.
#[must_use]
pub fn shade(shape: &Shape, view: DVec3, alpha: f64, ltc: &Ltc) -> Shaded {
    let irradiance = projected_solid_angle(shape);
    let mut outline = Outline::of(shape, ltc.to_world(DVec3::Z), alpha);
    outline.clip();
    if irradiance <= 0.0 || outline.len() < 3 {
        return Shaded::default();
    }
    let mut warped = outline.mapped(|p| ltc.to_cosine(p));
    outline.normalize();
    warped.normalize();
    let mut sums = [0.0; 2];
    outline.nodes(outline.inside(), &outline::ONE, |p, volume| {
        let p2 = p.length_squared();
        let weight = volume * p.z.max(0.0) / (p2 * p2);
        sums[0] += weight;
        sums[1] += weight * brdf::schlick_weight(view, p / p2.sqrt());
    });
    let irradiance_schlick = if sums[0] > 0.0 { irradiance * sums[1] / sums[0] } else { 0.0 };
    let vector = warped.vector_irradiance();
    let rule = outline::rule_for(vector.length(), view.z);
    let mut sums = [0.0; 3];
    warped.nodes(vector, rule, |p, volume| {
        let l = ltc.to_world(p);
        let length = l.length();
        let f = brdf::specular(view, l / length, alpha);
        let p2 = p.length_squared();
        // What the map's lobe has in this cell, and what the BRDF has: the solid angle is volume / length^3.
        sums[0] += volume * p.z.max(0.0) / (p2 * p2);
        let share = volume * f.specular / (length * length * length * ltc.determinant());
        sums[1] += share;
        sums[2] += share * f.schlick;
    });
    let k = if sums[0] > 0.0 { vector.z.max(0.0) / sums[0] } else { 0.0 };
    Shaded { irradiance, irradiance_schlick, specular: k * sums[1], specular_schlick: k * sums[2] }
}

/// The direction to a viewer from the cosine of its angle to the normal.
#[must_use]
pub fn view_direction(cos: f64) -> DVec3 {
    dvec3((1.0 - cos * cos).max(0.0).sqrt(), 0.0, cos)
}
