//! Uniform area lights at a point: exact irradiance, and the glTF BRDF integrated over the emitter.
//!
//! From a point, a convex emitter of uniform luminance covers a convex spherical region. Its
//! *projected solid angle* times luminance is illuminance; the BRDF's integral over it is reflected
//! luminance. The shader `shaders/lib/area.glsl` is the single precision version of this module;
//! tests compare the two, and `examples/fit_ltc.rs` fits its table by it.
//!
//! Space: the surface's frame, with the point at the origin, `z` along the normal, and the
//! direction to the viewer in the `xz` half plane of positive `x`. Lengths are in any common unit.

#![allow(dead_code, unused_imports)]

pub mod brdf;
pub mod ltc;
mod shape;
pub mod spherical_polygon;

use std::f64::consts::PI;

use glam::DVec3;

pub use brdf::{BrdfWeights, view_direction};
pub use ltc::Ltc;
pub use shape::AreaShape;
pub use spherical_polygon::SphericalPolygon;

/// Projected solid angle (sr, up to pi) of the shape's part above the horizon: the integral of the
/// cosine to the normal over its directions. Luminance in nits times this is illuminance in lux.
///
/// Exact for polygons (Lambert 1760; Baum, Rushmeier and Winget 1989, equation 10), spheres, and
/// disks and tubes above the horizon. Disks and tubes cut by the horizon are approximated by
/// polygons.
#[must_use]
pub fn projected_solid_angle(shape: &AreaShape) -> f64 {
    match *shape {
        AreaShape::Sphere { center, radius } => sphere(center, radius),
        AreaShape::Disk { center, axis, radius } => {
            let lowest = center.z - radius * (1.0 - axis.z * axis.z).max(0.0).sqrt();
            if lowest >= 0.0 { disk_above_horizon(center, axis, radius) } else { by_outline(shape) }
        }
        AreaShape::Tube { start, end, radius } => {
            if start.z.min(end.z) >= radius {
                tube_above_horizon(start, end, radius)
            } else {
                by_outline(shape)
            }
        }
        AreaShape::Polygon(_) => by_outline(shape),
    }
}

fn by_outline(shape: &AreaShape) -> f64 {
    let mut outline = SphericalPolygon::of(shape, DVec3::Z, 1.0);
    outline.clip();
    outline.normalize();
    outline.vector_irradiance().z.max(0.0)
}

/// Arc cosine of a ratio, clamped to its domain.
fn acos_clamped(x: f64) -> f64 {
    x.clamp(-1.0, 1.0).acos()
}

/// Projected solid angle of a sphere that the horizon may cut; zero from within.
///
/// Stokes' theorem on the cone that it subtends: the arc above the horizon, and the horizon
/// between its ends. The same as Snyder 1996, "Area light sources for real-time graphics", section
/// 3.2, and as Lagarde and de Rousiers 2014, equation 4.33, in another form.
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
/// The boundary integral of Stokes' theorem in closed form: with `h` and `t` the distances of the
/// point to the disk's plane and axis, `u` the unit vector along `t`, `P = h^2 + t^2 + r^2`, `S =
/// sqrt(P^2 - 4 r^2 t^2)`, it is `pi r^2 / S |m - 2 t (t m - h u) / (S + P)| . n`.
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

/// Projected solid angle of a tube wholly above the horizon: two arcs of cones in closed form, two
/// straight edges.
fn tube_above_horizon(start: DVec3, end: DVec3, radius: f64) -> f64 {
    let Some(sides) = spherical_polygon::tube_sides(start, end, radius) else {
        let nearer = if start.length_squared() < end.length_squared() { start } else { end };
        return sphere(nearer, radius);
    };
    let mut sum = 0.0;
    for (center, other, from) in [(start, end, sides[0]), (end, start, sides[1])] {
        let d = center.length();
        let (axis, sin) = (center / d, radius / d);
        let cos = (1.0 - sin * sin).max(0.0).sqrt();
        let (begin, turn) = spherical_polygon::tube_arc(axis, other / other.length(), from);
        let side = axis.cross(begin);
        let finish = begin * turn.cos() + side * turn.sin();
        // The integral of a rotating unit vector is the difference of its perpendiculars.
        sum += sin * sin * turn * axis.z - sin * cos * (side - axis.cross(finish)).z;
    }
    let touch = |p: DVec3, n: DVec3| (p + n * radius).normalize_or(DVec3::Z);
    sum += spherical_polygon::edge(touch(start, sides[1]), touch(end, sides[1])).z;
    sum += spherical_polygon::edge(touch(end, sides[0]), touch(start, sides[0])).z;
    (0.5 * sum).abs()
}

/// Response of a surface to a uniform emitter of 1 nit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AreaResponse {
    /// Projected solid angle (sr): illuminance in lux.
    pub irradiance: f64,
    /// The same weighted with Schlick's `(1 - v.h)^5`: the loss of a white diffuse base to Fresnel
    /// reflection.
    pub irradiance_schlick: f64,
    /// Integral of `D V n.l`: luminance in nits reflected by a white metal of this roughness.
    pub specular: f64,
    /// The same weighted with Schlick's `(1 - v.h)^5`.
    pub specular_schlick: f64,
}

/// Integrates the BRDF over the visible part of a shape of 1 nit. `view` is the unit direction to
/// the viewer with `y = 0`; `alpha` is the square of roughness, above 0 and at most 1.
#[must_use]
pub fn integrate_brdf(shape: &AreaShape, view: DVec3, alpha: f64, ltc: &Ltc) -> AreaResponse {
    let irradiance = projected_solid_angle(shape);
    let mut outline = SphericalPolygon::of(shape, ltc.to_world(DVec3::Z), alpha);
    outline.clip();
    if irradiance <= 0.0 || outline.len() < 3 {
        return AreaResponse::default();
    }
    let mut warped = outline.mapped(|p| ltc.to_cosine(p));
    outline.normalize();
    warped.normalize();
    let mut sums = [0.0; 2];
    outline.nodes(outline.inside(), false, &spherical_polygon::ONE, |p, volume| {
        let p2 = p.length_squared();
        let weight = volume * p.z.max(0.0) / (p2 * p2);
        sums[0] += weight;
        sums[1] += weight * brdf::schlick_weight_between(view, p / p2.sqrt());
    });
    let irradiance_schlick = if sums[0] > 0.0 { irradiance * sums[1] / sums[0] } else { 0.0 };
    let vector = warped.vector_irradiance();
    let rule = spherical_polygon::rule_for(vector.length(), view.z);
    let mut sums = [0.0; 3];
    warped.nodes(vector, vector.length() > spherical_polygon::WIDE, rule, |p, volume| {
        let l = ltc.to_world(p);
        let length = l.length();
        let f = brdf::specular(view, l / length, alpha);
        let p2 = p.length_squared();
        // Integrals of the LTC and of the BRDF over this cell, whose solid angle is volume /
        // length^3.
        sums[0] += volume * p.z.max(0.0) / (p2 * p2);
        let share = volume * f.specular / (length * length * length * ltc.determinant());
        sums[1] += share;
        sums[2] += share * f.schlick;
    });
    let k = if sums[0] > 0.0 { vector.z.max(0.0) / sums[0] } else { 0.0 };
    AreaResponse {
        irradiance,
        irradiance_schlick,
        specular: k * sums[1],
        specular_schlick: k * sums[2],
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use glam::dvec3;

    use super::*;

    fn near(got: f64, want: f64, relative: f64) {
        assert!((got - want).abs() <= relative * want.abs().max(1e-12), "{got} for {want}");
    }

    #[test]
    fn sources_on_the_axis_have_their_textbook_values() {
        let up = DVec3::Z;
        for (h, r) in [(1.0, 0.5), (0.1, 3.0), (100.0, 0.2)] {
            // A disk above a point: pi r^2 / (r^2 + h^2).
            let disk = AreaShape::Disk { center: up * h, axis: -up, radius: r };
            near(projected_solid_angle(&disk), PI * r * r / (r * r + h * h), 1e-12);
        }
        for (center, r) in [(dvec3(0.3, -0.4, 2.0), 0.7), (dvec3(1.0, 0.0, 0.71), 0.5)] {
            // A sphere above the horizon: pi r^2 cos / d^2.
            let want = PI * r * r * center.z / center.length().powi(3);
            near(projected_solid_angle(&AreaShape::Sphere { center, radius: r }), want, 1e-12);
        }
        // A quarter of the plane's factor to a parallel rectangle with a corner above the point:
        // Hamilton and Morgan 1952, configuration P-2, twice over pi.
        let (a, b, h) = (0.8, 0.5, 1.0f64);
        let corner = AreaShape::rectangle(
            dvec3(a / 2.0, b / 2.0, h),
            DVec3::X * (a / 2.0),
            DVec3::Y * (b / 2.0),
        );
        let (x, y) = (a / h, b / h);
        let side = |p: f64, q: f64| p / (1.0 + p * p).sqrt() * (q / (1.0 + p * p).sqrt()).atan();
        near(projected_solid_angle(&corner), 0.5 * (side(x, y) + side(y, x)), 1e-12);
        // A wall that rises from the horizon, infinitely wide and high: half of the sky.
        let wall = AreaShape::rectangle(dvec3(1.0, 0.0, 0.0), DVec3::Y * 1e6, DVec3::Z * 1e6);
        near(projected_solid_angle(&wall), PI / 2.0, 1e-5);
    }

    #[test]
    fn the_horizon_cuts_a_sphere_as_two_halves_and_smoothly() {
        let at = |z: f64| {
            projected_solid_angle(&AreaShape::Sphere {
                center: dvec3((4.0 - z * z).sqrt(), 0.0, z),
                radius: 1.0,
            })
        };
        // A half above the horizon: a - sin a cos a with a = 30 degrees.
        near(at(0.0), PI / 6.0 - 0.5 * 0.75f64.sqrt(), 1e-12);
        assert_eq!(at(-1.0), 0.0);
        near(at(0.999_999_9), at(1.000_000_1), 1e-6);
        assert!(at(-0.999) > 0.0 && at(-0.999) < 1e-4);
        // The parts above and below the horizon add up to the flipped cosine.
        for z in [0.1, 0.4, 0.8] {
            near(at(z) - at(-z), PI * 0.25 * z / 2.0, 1e-12);
        }
    }

    #[test]
    fn tubes_are_between_spheres_and_lines() {
        let tube = |half: f64, radius: f64, center: DVec3| {
            projected_solid_angle(&AreaShape::Tube {
                start: center - DVec3::X * half,
                end: center + DVec3::X * half,
                radius,
            })
        };
        let center = dvec3(0.0, 0.3, 1.0);
        near(
            tube(1e-7, 0.2, center),
            projected_solid_angle(&AreaShape::Sphere { center, radius: 0.2 }),
            1e-5,
        );
        // An infinite thin one above a point: 2 r / h, times pi / 2 / 2 for the cosine squared
        // along it... in closed form the integral of 2 r h / (x^2 + h^2)^1.5 * h / sqrt(x^2 + h^2)
        // over x is pi r / h.
        near(tube(1e4, 1e-4, DVec3::Z), PI * 1e-4, 1e-3);
        // Cut by the horizon and not: no jump.
        near(
            tube(0.5, 0.2, dvec3(0.0, 1.0, 0.2 + 1e-9)),
            tube(0.5, 0.2, dvec3(0.0, 1.0, 0.2 - 1e-9)),
            2e-3,
        );
    }

    #[test]
    fn nothing_shines_on_a_point_within() {
        let center = dvec3(0.1, 0.0, 0.1);
        assert_eq!(projected_solid_angle(&AreaShape::Sphere { center, radius: 0.5 }), 0.0);
        let ltc = Ltc::lookup(0.5, DVec3::Z);
        assert_eq!(
            integrate_brdf(&AreaShape::Sphere { center, radius: 0.5 }, DVec3::Z, 0.25, &ltc),
            AreaResponse::default()
        );
    }

    /// A uniform sky gives the directional albedo, with any map.
    #[test]
    fn a_full_sky_gives_the_albedo() {
        let sky = AreaShape::Disk { center: DVec3::Z * 1e-6, axis: DVec3::Z, radius: 1.0 };
        // By numeric integration: F = 1, roughness 1 at the normal 1 - ln 2; roughness 0.5 and 0.7
        // at the normal and at 60 degrees.
        for (roughness, cosine, albedo) in [
            (1.0, 1.0, 1.0 - 2f64.ln()),
            (1.0, 0.5, 0.4507),
            (0.7, 1.0, 0.6977),
            (0.7, 0.5, 0.7040),
            (0.5, 1.0, 0.9158),
        ] {
            let view = view_direction(cosine);
            let got =
                integrate_brdf(&sky, view, roughness * roughness, &Ltc::lookup(roughness, view));
            near(got.specular, albedo, 0.01);
            near(got.irradiance, PI, 1e-4);
        }
    }
}
