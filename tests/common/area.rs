//! Monte Carlo reference for area lights in double precision, without closed forms or linear
//! transforms. Rays sample the BRDF and the cone of the light's bounding sphere, combined by the
//! balance heuristic (Veach 1997). Hits are found by intersection.
#![allow(dead_code)]

use std::f64::consts::TAU;

use glam::DVec3;

use crate::common::Brdf;

/// A shape in the world.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    Sphere { center: DVec3, radius: f64 },
    Disk { center: DVec3, front: DVec3, radius: f64, two_sided: bool },
    Rectangle { center: DVec3, front: DVec3, right: DVec3, half: [f64; 2], two_sided: bool },
    Tube { start: DVec3, end: DVec3, radius: f64 },
    Triangle { corners: [DVec3; 3], two_sided: bool },
}

impl Body {
    fn bounds(&self) -> (DVec3, f64) {
        match *self {
            Self::Sphere { center, radius } | Self::Disk { center, radius, .. } => (center, radius),
            Self::Rectangle { center, half, .. } => (center, half[0].hypot(half[1])),
            Self::Tube { start, end, radius } => {
                ((start + end) / 2.0, start.distance(end) / 2.0 + radius)
            }
            Self::Triangle { corners: [a, b, c], .. } => {
                let middle = (a + b + c) / 3.0;
                (middle, a.distance(middle).max(b.distance(middle)).max(c.distance(middle)))
            }
        }
    }

    /// True if a ray from `from` along the unit vector `l` hits a face that emits towards it.
    pub fn shines(&self, from: DVec3, l: DVec3) -> bool {
        let plane = |center: DVec3, front: DVec3, two_sided: bool| {
            let (height, along) = ((from - center).dot(front), l.dot(front));
            if !two_sided && height <= 0.0 || height * along >= 0.0 {
                return None;
            }
            Some(from - l * (height / along) - center)
        };
        let sphere = |center: DVec3, radius: f64| {
            let o = center - from;
            let t = o.dot(l);
            o.length_squared() > radius * radius
                && t > 0.0
                && o.length_squared() - t * t < radius * radius
        };
        match *self {
            Self::Sphere { center, radius } => sphere(center, radius),
            Self::Disk { center, front, radius, two_sided } => plane(center, front, two_sided)
                .is_some_and(|p| p.length_squared() < radius * radius),
            Self::Rectangle { center, front, right, half, two_sided } => {
                plane(center, front, two_sided).is_some_and(|p| {
                    p.dot(right).abs() < half[0] && p.dot(front.cross(right)).abs() < half[1]
                })
            }
            Self::Tube { start, end, radius } => {
                // Distance of the ray to the axis, as a segment.
                let axis = end - start;
                let o = start - from;
                if nearest_on_segment(from, start, end).distance(from) <= radius {
                    return false;
                }
                let (aa, al, ao, lo) = (axis.length_squared(), axis.dot(l), axis.dot(o), l.dot(o));
                let denominator = aa - al * al;
                let s = if denominator > 1e-15 {
                    ((al * lo - ao) / denominator).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let t = (lo + s * al).max(0.0);
                // Again for a ray that starts within.
                let s = ((l * t - o).dot(axis) / aa).clamp(0.0, 1.0);
                let t = (lo + s * al).max(0.0);
                (o + axis * s - l * t).length_squared() < radius * radius
            }
            Self::Triangle { corners: [a, b, c], two_sided } => {
                let normal = (b - a).cross(c - a).normalize();
                plane(a, normal, two_sided).is_some_and(|p| {
                    let p = p + a;
                    [(a, b), (b, c), (c, a)]
                        .iter()
                        .all(|&(x, y)| (y - x).cross(p - x).dot(normal) >= 0.0)
                })
            }
        }
    }
}

fn nearest_on_segment(p: DVec3, a: DVec3, b: DVec3) -> DVec3 {
    let axis = b - a;
    a + axis * ((p - a).dot(axis) / axis.length_squared()).clamp(0.0, 1.0)
}

fn frame(n: DVec3, x: f64, y: f64, z: f64) -> DVec3 {
    let (u, v) = n.any_orthonormal_pair();
    u * x + v * y + n * z
}

/// A direction in the light's cone (or the upper hemisphere if the point lies within its bounds)
/// for two numbers in 0 to 1: solid angle and direction.
fn cone(body: &Body, from: DVec3, n: DVec3) -> (f64, DVec3, f64) {
    let (center, radius) = body.bounds();
    let to = center - from;
    if to.length() <= radius * 1.02 {
        return (TAU, n, 0.0);
    }
    let sine = radius / to.length();
    let one_minus = sine * sine / (1.0 + (1.0 - sine * sine).sqrt()) * 1.000_001;
    (TAU * one_minus, to.normalize(), 1.0 - one_minus)
}

/// A low-discrepancy point in the unit square.
fn square(index: u32, seed: u32) -> (f64, f64) {
    let hash = |mut x: u32| {
        x ^= x >> 16;
        x = x.wrapping_mul(0x7feb_352d);
        x ^= x >> 15;
        x = x.wrapping_mul(0x846c_a68b);
        x ^ x >> 16
    };
    // Roberts' additive recurrence of the plastic number, with a random shift.
    let at = |step: f64, shift: u32| {
        (f64::from(index) * step + f64::from(hash(shift)) / 4_294_967_296.0).fract()
    };
    (at(0.754_877_666_246_692_8, seed), at(0.569_840_290_998_053_3, seed ^ 0x9e37_79b9))
}

/// Illuminance (lux per nit).
pub fn irradiance(body: &Body, from: DVec3, n: DVec3, samples: u32) -> f64 {
    let (solid_angle, axis, min) = cone(body, from, n);
    let mut sum = 0.0;
    for i in 0..samples {
        let (a, b) = square(i, 1);
        let z = 1.0 - a * (1.0 - min);
        let r = (1.0 - z * z).max(0.0).sqrt();
        let l = frame(axis, r * (TAU * b).cos(), r * (TAU * b).sin(), z);
        let cos = l.dot(n);
        if cos > 0.0 && body.shines(from, l) {
            sum += cos;
        }
    }
    sum * solid_angle / f64::from(samples)
}

/// Diffuse and specular luminance (nits per nit, by channel) of a surface towards `v`.
pub fn shade(
    body: &Body,
    brdf: &Brdf,
    from: DVec3,
    n: DVec3,
    v: DVec3,
    samples: u32,
) -> (DVec3, DVec3) {
    let (solid_angle, axis, min) = cone(body, from, n);
    let alpha = (brdf.roughness * brdf.roughness).max(0.002);
    let in_cone = |l: DVec3| if l.dot(axis) >= min { 1.0 / solid_angle } else { 0.0 };
    let by_lobe = |l: DVec3| {
        let h = (l + v).normalize();
        let nh = h.dot(n).max(0.0);
        crate::common::distribution(nh, alpha) * nh / (4.0 * v.dot(h)).max(1e-9)
    };
    let (mut diffuse, mut specular) = (DVec3::ZERO, DVec3::ZERO);
    for i in 0..samples {
        let (a, b) = square(i, 2);
        let z = 1.0 - a * (1.0 - min);
        let r = (1.0 - z * z).max(0.0).sqrt();
        let to_light = frame(axis, r * (TAU * b).cos(), r * (TAU * b).sin(), z);
        let (a, b) = square(i, 3);
        // Walter et al. 2007, equation 35.
        let tangent2 = alpha * alpha * a / (1.0 - a);
        let cos = 1.0 / (1.0 + tangent2).sqrt();
        let sin = (1.0 - cos * cos).max(0.0).sqrt();
        let h = frame(n, sin * (TAU * b).cos(), sin * (TAU * b).sin(), cos);
        let reflected = h * (2.0 * v.dot(h)) - v;
        for l in [to_light, reflected] {
            if l.dot(n) > 0.0 && body.shines(from, l) {
                let weight = 1.0 / (in_cone(l) + by_lobe(l));
                let (d, s) = brdf.evaluate(n, l, v);
                specular += s * weight;
                // The diffuse lobe is smooth: sample the cone only.
                if l == to_light {
                    diffuse += d * solid_angle;
                }
            }
        }
    }
    (diffuse / f64::from(samples), specular / f64::from(samples))
}

/// Illuminance (lux per nit) by the midpoint rule over the emitter's surface: both cosines over the
/// squared distance. Both cosines vanish at cut-offs, so the error falls with the square of the
/// steps.
pub fn irradiance_by_area(body: &Body, from: DVec3, n: DVec3, steps: usize) -> f64 {
    weighted_by_area(body, from, n, steps, &|_| 1.0)
}

/// The same, weighted by a function of the unit direction to the light.
pub fn weighted_by_area(
    body: &Body,
    from: DVec3,
    n: DVec3,
    steps: usize,
    weight: &dyn Fn(DVec3) -> f64,
) -> f64 {
    let middle = |i: usize, count: usize| (i as f64 + 0.5) / count as f64;
    let share = |p: DVec3, normal: DVec3, area: f64, two_sided: bool| {
        let to = p - from;
        let d2 = to.length_squared();
        let facing = -normal.dot(to);
        let facing = if two_sided { facing.abs() } else { facing.max(0.0) };
        let cosines = n.dot(to).max(0.0) * facing;
        if cosines > 0.0 { cosines * area / (d2 * d2) * weight(to / d2.sqrt()) } else { 0.0 }
    };
    let mut sum = 0.0;
    // A band of a surface of revolution: each step along its profile, all around.
    let mut around = |axis: DVec3, at: &dyn Fn(f64) -> (f64, f64, f64, f64), two_sided: bool| {
        let (u, v) = axis.any_orthonormal_pair();
        for i in 0..steps {
            // Distance from the axis, height, axial component of the normal, and length of the
            // step.
            let (radius, height, along, length) = at(middle(i, steps));
            for j in 0..steps {
                let (sin, cos) = (TAU * middle(j, steps)).sin_cos();
                let out = u * cos + v * sin;
                let normal = out * (1.0 - along * along).max(0.0).sqrt() + axis * along;
                let area = radius * TAU / steps as f64 * length / steps as f64;
                sum += share(out * radius + axis * height, normal, area, two_sided);
            }
        }
    };
    match *body {
        // Bands are relative to the center.
        Body::Sphere { .. } | Body::Tube { .. } | Body::Disk { .. } => {
            let shifted = |body: Body, by: DVec3| match body {
                Body::Sphere { center, radius } => Body::Sphere { center: center - by, radius },
                Body::Disk { center, front, radius, two_sided } => {
                    Body::Disk { center: center - by, front, radius, two_sided }
                }
                Body::Tube { start, end, radius } => {
                    Body::Tube { start: start - by, end: end - by, radius }
                }
                other => other,
            };
            let middle_point = body.bounds().0;
            if middle_point.length() > 1e-12 {
                return weighted_by_area(
                    &shifted(*body, middle_point),
                    from - middle_point,
                    n,
                    steps,
                    weight,
                );
            }
            match *body {
                Body::Disk { front, radius, two_sided, .. } => {
                    around(front, &|t| (radius * t, 0.0, 1.0, radius), two_sided);
                }
                Body::Sphere { radius, .. } => {
                    let polar = |t: f64| t * std::f64::consts::PI;
                    around(
                        DVec3::Y,
                        &|t| {
                            (
                                radius * polar(t).sin(),
                                radius * polar(t).cos(),
                                polar(t).cos(),
                                polar(radius),
                            )
                        },
                        false,
                    );
                }
                Body::Tube { start, end, radius } => {
                    let half = start.distance(end) / 2.0;
                    let axis = (end - start).normalize();
                    around(axis, &|t| (radius, half * (2.0 * t - 1.0), 0.0, 2.0 * half), false);
                    for side in [-1.0, 1.0] {
                        let quarter = std::f64::consts::FRAC_PI_2;
                        around(
                            axis,
                            &|t| {
                                let (sin, cos) = (t * quarter).sin_cos();
                                (
                                    radius * sin,
                                    side * (half + radius * cos),
                                    side * cos,
                                    radius * quarter,
                                )
                            },
                            false,
                        );
                    }
                }
                _ => {}
            }
        }
        Body::Rectangle { center, front, right, half, two_sided } => {
            let up = front.cross(right);
            let area = 4.0 * half[0] * half[1] / (steps * steps) as f64;
            for i in 0..steps {
                for j in 0..steps {
                    let (x, y) = (middle(i, steps) * 2.0 - 1.0, middle(j, steps) * 2.0 - 1.0);
                    sum += share(
                        center + right * (x * half[0]) + up * (y * half[1]),
                        front,
                        area,
                        two_sided,
                    );
                }
            }
        }
        Body::Triangle { corners: [a, b, c], two_sided } => {
            let cross = (b - a).cross(c - a);
            let area = cross.length() / 2.0 / (steps * steps) as f64;
            for i in 0..steps {
                for j in 0..steps - i {
                    for (third, inside) in [(1.0 / 3.0, true), (2.0 / 3.0, i + j + 1 < steps)] {
                        if inside {
                            let (x, y) = (
                                (i as f64 + third) / steps as f64,
                                (j as f64 + third) / steps as f64,
                            );
                            sum += share(
                                a + (b - a) * x + (c - a) * y,
                                cross.normalize(),
                                area,
                                two_sided,
                            );
                        }
                    }
                }
            }
        }
    }
    sum
}
