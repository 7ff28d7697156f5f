//! Radiance in double precision by quadrature: glTF 2.0, appendix B, and the emitters, independent
//! of the library's code.

use std::f64::consts::{PI, TAU};

use glam::{DVec3, dvec3};

/// A surface: linear base color, metallic, roughness.
#[derive(Clone, Copy, Debug)]
pub struct Surface {
    pub base: DVec3,
    pub metallic: f64,
    pub roughness: f64,
}

impl Surface {
    pub fn gray(base: f64, metallic: f64, roughness: f64) -> Self {
        Self { base: DVec3::splat(base), metallic, roughness }
    }

    /// glTF 2.0 appendix B.2 and B.3: `mix(dielectric, metal, metallic)`, 1/sr. Unit vectors; the
    /// normal is z.
    pub fn brdf(&self, v: DVec3, l: DVec3) -> DVec3 {
        if v.z <= 0.0 || l.z <= 0.0 {
            return DVec3::ZERO;
        }
        let h = (v + l).normalize();
        let a2 = self.roughness.powi(4);
        let d = a2 / (PI * (h.z * h.z * (a2 - 1.0) + 1.0).powi(2));
        let root = |x: f64| (a2 + (1.0 - a2) * x * x).sqrt();
        let visibility = 0.5 / (l.z * root(v.z) + v.z * root(l.z));
        let w = (1.0 - v.dot(h)).powi(5);
        let fd = 0.04 + 0.96 * w;
        let dielectric = (1.0 - fd) * self.base / PI + fd * d * visibility;
        let metal = (self.base + (1.0 - self.base) * w) * d * visibility;
        dielectric.lerp(metal, self.metallic)
    }

    /// Directional albedo towards `v`, by quadrature over visible normals and cosine.
    pub fn albedo(&self, v: DVec3) -> f64 {
        let n = 512;
        let alpha = self.roughness * self.roughness;
        let (mut specular, mut diffuse) = (0.0, 0.0);
        for i in 0..n {
            for j in 0..n {
                let (x, y) =
                    ((f64::from(i) + 0.5) / f64::from(n), (f64::from(j) + 0.5) / f64::from(n));
                // Visible normals: Heitz 2018, listing 1. Weight of a reflection: F G2 / G1.
                let s = dvec3(alpha * v.x, alpha * v.y, v.z).normalize();
                let t1 = if s.z < 0.9999 { DVec3::Z.cross(s).normalize() } else { DVec3::X };
                let t2 = s.cross(t1);
                let (r, phi) = (x.sqrt(), TAU * y);
                let p1 = r * phi.cos();
                let k = 0.5 * (1.0 + s.z);
                let p2 = (1.0 - k) * (1.0 - p1 * p1).max(0.0).sqrt() + k * r * phi.sin();
                let h = t1 * p1 + t2 * p2 + s * (1.0 - p1 * p1 - p2 * p2).max(0.0).sqrt();
                let h = dvec3(alpha * h.x, alpha * h.y, h.z.max(1e-12)).normalize();
                let l = 2.0 * v.dot(h) * h - v;
                if l.z > 0.0 {
                    let lambda = |u: DVec3| {
                        0.5 * ((1.0 + alpha * alpha * (u.x * u.x + u.y * u.y) / (u.z * u.z)).sqrt()
                            - 1.0)
                    };
                    let g = (1.0 + lambda(v)) / (1.0 + lambda(v) + lambda(l));
                    let w = (1.0 - v.dot(h)).powi(5);
                    let f = (1.0 - self.metallic) * (0.04 + 0.96 * w)
                        + self.metallic * (self.base.x + (1.0 - self.base.x) * w);
                    specular += f * g;
                }
                let l = dvec3(r * phi.cos(), r * phi.sin(), (1.0 - x).sqrt());
                let w = (1.0 - v.dot((v + l).normalize())).powi(5);
                diffuse += (1.0 - self.metallic) * 0.96 * (1.0 - w) * self.base.x;
            }
        }
        (specular + diffuse) / f64::from(n * n)
    }
}

/// An emitter over a plane, y up.
#[derive(Clone, Copy, Debug)]
pub enum Lamp {
    /// Point: candela.
    Point(f64),
    /// Spot: candela on the axis, half angles; downward.
    Spot(f64, f64, f64),
    /// Sun: lux, and the direction to it.
    Sun(f64, DVec3),
    /// Sphere: nits, radius.
    Sphere(f64, f64),
    /// Disk: nits, radius; downward.
    Disk(f64, f64),
    /// Rectangle: nits, width along x, height along z; downward.
    Rectangle(f64, f64, f64),
    /// Tube: nits, radius, length along x.
    Tube(f64, f64, f64),
    /// Profile: candela by angle from the axis at a fixed step in degrees, downward, linearly
    /// interpolated in the angle.
    Measured(f64, &'static [f64]),
}

impl Lamp {
    /// Luminance (nits) of a surface at `p` with normal y, towards `eye`, lit by the emitter at
    /// `at`.
    pub fn seen(&self, surface: &Surface, p: DVec3, eye: DVec3, at: DVec3) -> f64 {
        // y up to z up.
        let local = |d: DVec3| dvec3(d.x, -d.z, d.y);
        let towards = |d: DVec3| surface.brdf(local(eye), local(d)).x * d.y.max(0.0);
        let punctual = |candela: &dyn Fn(f64) -> f64| {
            let d = at - p;
            let l = d.normalize();
            candela(l.y) / d.length_squared() * towards(l)
        };
        // Elements of a surface: position, outward normal, area.
        let area = |nits: f64, parts: &mut dyn Iterator<Item = (DVec3, DVec3, f64)>| {
            let sum: f64 = parts
                .map(|(offset, normal, area)| {
                    let d = at + offset - p;
                    let l = d.normalize();
                    towards(l) * (-l.dot(normal)).max(0.0) / d.length_squared() * area
                })
                .sum();
            nits * sum
        };
        let middles = |n: usize| (0..n).map(move |i| (i as f64 + 0.5) / n as f64);
        match *self {
            Self::Point(candela) => punctual(&|_| candela),
            Self::Spot(candela, inner, outer) => punctual(&|cos| {
                let t = ((cos - outer.cos()) / (inner.cos() - outer.cos())).clamp(0.0, 1.0);
                candela * t * t
            }),
            Self::Measured(step, table) => punctual(&|cos| {
                let at = cos.clamp(-1.0, 1.0).acos().to_degrees() / step;
                let value = |i: usize| table.get(i).copied().unwrap_or(0.0);
                let i = at.floor() as usize;
                value(i) + (value(i + 1) - value(i)) * at.fract()
            }),
            Self::Sun(lux, direction) => lux * towards(direction),
            Self::Disk(nits, radius) => {
                let mut parts = middles(48).flat_map(|a| {
                    middles(96).map(move |b| {
                        let (r, (s, c)) = (radius * a.sqrt(), (TAU * b).sin_cos());
                        (dvec3(r * c, 0.0, r * s), DVec3::NEG_Y, PI * radius * radius / 4608.0)
                    })
                });
                area(nits, &mut parts)
            }
            Self::Rectangle(nits, width, height) => {
                let mut parts = middles(64).flat_map(|a| {
                    middles(64).map(move |b| {
                        (
                            dvec3((a - 0.5) * width, 0.0, (b - 0.5) * height),
                            DVec3::NEG_Y,
                            width * height / 4096.0,
                        )
                    })
                });
                area(nits, &mut parts)
            }
            Self::Sphere(nits, radius) => {
                let mut parts = middles(128).flat_map(|a| {
                    middles(64).map(move |b| {
                        let (y, (s, c)) = (1.0 - 2.0 * a, (TAU * b).sin_cos());
                        let r = (1.0 - y * y).sqrt();
                        let n = dvec3(r * c, y, r * s);
                        (n * radius, n, 4.0 * PI * radius * radius / 8192.0)
                    })
                });
                area(nits, &mut parts)
            }
            Self::Tube(nits, radius, length) => {
                let barrel = middles(96).flat_map(|a| {
                    middles(96).map(move |b| {
                        let (s, c) = (TAU * b).sin_cos();
                        let n = dvec3(0.0, s, c);
                        (
                            n * radius + DVec3::X * (a - 0.5) * length,
                            n,
                            TAU * radius * length / 9216.0,
                        )
                    })
                });
                let ends = middles(64).flat_map(|a| {
                    middles(64).map(move |b| {
                        let (x, (s, c)) = (1.0 - 2.0 * a, (TAU * b).sin_cos());
                        let r = (1.0 - x * x).sqrt();
                        let n = dvec3(x, r * s, r * c);
                        let end = DVec3::X * length / 2.0 * x.signum();
                        (n * radius + end, n, 4.0 * PI * radius * radius / 4096.0)
                    })
                });
                area(nits, &mut barrel.chain(ends))
            }
        }
    }
}

/// Luminance of a hollow sphere's wall towards the angle of cosine `mu`, where every wall emits
/// `glow` nits. By symmetry all its light depends on that angle alone: a chord meets the sphere at
/// the same angle at both ends. Hence `L(mu) = glow + integral of f L(mu') mu' over the
/// hemisphere`, solved here by iteration.
pub struct Hollow {
    nodes: Vec<f64>,
    light: Vec<f64>,
    surface: Surface,
    glow: f64,
}

impl Hollow {
    pub fn new(surface: Surface, glow: f64) -> Self {
        let nodes: Vec<f64> = (0..64).map(|i| (f64::from(i) + 0.5) / 64.0).collect();
        let mut hollow = Self { light: vec![glow; nodes.len()], nodes, surface, glow };
        let kernel: Vec<Vec<f64>> = hollow.nodes.iter().map(|&mu| hollow.kernel(mu)).collect();
        for _ in 0..200 {
            let dot =
                |row: &Vec<f64>| row.iter().zip(&hollow.light).map(|(k, l)| k * l).sum::<f64>();
            hollow.light = kernel.iter().map(|row| glow + dot(row)).collect();
        }
        hollow
    }

    fn kernel(&self, mu: f64) -> Vec<f64> {
        let v = dvec3((1.0 - mu * mu).sqrt(), 0.0, mu);
        let around = 64;
        let of = |&z: &f64| {
            let r = (1.0 - z * z).sqrt();
            let sum: f64 = (0..around)
                .map(|i| {
                    let (s, c) = (PI * (f64::from(i) + 0.5) / f64::from(around)).sin_cos();
                    self.surface.brdf(v, dvec3(r * c, r * s, z)).x
                })
                .sum();
            sum / f64::from(around) * TAU * z / self.nodes.len() as f64
        };
        self.nodes.iter().map(of).collect()
    }

    pub fn towards(&self, mu: f64) -> f64 {
        self.glow + self.kernel(mu).iter().zip(&self.light).map(|(k, l)| k * l).sum::<f64>()
    }
}
