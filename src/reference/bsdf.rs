//! The metallic/roughness BRDF of glTF 2.0 (Appendix B), as the raster renderer has it (`shaders/lib/brdf.glsl`), with its
//! sampling. Directions are in a frame whose z is the shading normal.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

/// Below this alpha a highlight of a point-like source is narrower than a pixel ever is (`shaders/lib/brdf.glsl`).
pub const MIN_ALPHA: f64 = 0.002;
/// Reflectance of a dielectric of index 1.5 at normal incidence.
const DIELECTRIC_F0: f64 = 0.04;

/// A point's reflection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bsdf {
    /// Linear base colour, 0 to 1.
    pub base_color: DVec3,
    /// 0 dielectric to 1 metal.
    pub metallic: f64,
    /// Roughness squared, at least `MIN_ALPHA`.
    pub alpha: f64,
}

/// Reflected radiance per irradiance on a plane facing the light, with the cosine (1/sr).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reflected {
    /// Diffusely.
    pub diffuse: DVec3,
    /// Specularly.
    pub specular: DVec3,
}

impl Reflected {
    /// Both.
    #[must_use]
    pub fn total(self) -> DVec3 {
        self.diffuse + self.specular
    }
}

/// Distribution of normals (1/sr). Walter et al. 2007, equation 33.
fn ggx(h: DVec3, alpha: f64) -> f64 {
    let k = alpha / ((h.x * h.x + h.y * h.y) + h.z * h.z * alpha * alpha);
    k * k / PI
}

/// Smith's Lambda of GGX. Heitz 2014, equation 72.
fn lambda(v: DVec3, alpha: f64) -> f64 {
    let tan2 = (v.x * v.x + v.y * v.y) / (v.z * v.z);
    0.5 * ((1.0 + alpha * alpha * tan2).sqrt() - 1.0)
}

/// Weight of F90 = 1. Schlick 1994, equation 15.
fn schlick(vh: f64) -> f64 {
    (1.0 - vh).clamp(0.0, 1.0).powi(5)
}

impl Bsdf {
    /// What leaves towards `v` of light from `l`; none below the surface. Both are unit vectors.
    #[must_use]
    pub fn evaluate(&self, v: DVec3, l: DVec3) -> Reflected {
        let sum = v + l;
        if l.z <= 0.0 || v.z <= 0.0 || sum.length_squared() < 1e-24 {
            return Reflected::default();
        }
        let h = sum.normalize();
        let w = schlick(v.dot(h));
        let fd = DIELECTRIC_F0 + (1.0 - DIELECTRIC_F0) * w;
        let fm = self.base_color.lerp(DVec3::ONE, w);
        let g = 1.0 / (1.0 + lambda(v, self.alpha) + lambda(l, self.alpha));
        // D G2 / (4 n.v n.l) times n.l.
        let dv = ggx(h, self.alpha) * g / (4.0 * v.z);
        Reflected {
            diffuse: (1.0 - self.metallic) * (1.0 - fd) / PI * l.z * self.base_color,
            specular: dv * DVec3::splat(fd).lerp(fm, self.metallic),
        }
    }

    /// How often the specular lobe is chosen.
    fn specular_chance(&self, v: DVec3) -> f64 {
        let w = schlick(v.z);
        let dielectric = DIELECTRIC_F0 + (1.0 - DIELECTRIC_F0) * w;
        let metal = self.base_color.lerp(DVec3::ONE, w).max_element();
        let specular = dielectric + (metal - dielectric) * self.metallic;
        let diffuse = (1.0 - self.metallic) * self.base_color.max_element() * (1.0 - dielectric);
        // Neither lobe may starve: what is chosen never weighs too much where it is strong.
        if diffuse <= 0.0 { 1.0 } else { (specular / (specular + diffuse)).clamp(0.1, 0.9) }
    }

    /// Density (1/sr) with which `sample` gives `l`.
    #[must_use]
    pub fn density(&self, v: DVec3, l: DVec3) -> f64 {
        let sum = v + l;
        if l.z <= 0.0 || v.z <= 0.0 || sum.length_squared() < 1e-24 {
            return 0.0;
        }
        let h = sum.normalize();
        let chance = self.specular_chance(v);
        // Density of visible normals over the change from half vector to direction: Heitz 2018, equation 17.
        let specular = ggx(h, self.alpha) / (4.0 * v.z * (1.0 + lambda(v, self.alpha)));
        chance * specular + (1.0 - chance) * l.z / PI
    }

    /// A direction in proportion to the BRDF, about; none where it falls below the surface.
    #[must_use]
    pub fn sample(&self, v: DVec3, lobe: f64, u: DVec2) -> Option<DVec3> {
        if v.z <= 0.0 {
            return None;
        }
        let l = if lobe < self.specular_chance(v) {
            let h = visible_normal(v, self.alpha, u);
            2.0 * v.dot(h) * h - v
        } else {
            cosine_hemisphere(u)
        };
        (l.z > 0.0).then_some(l)
    }
}

/// A direction with density cos/pi: Malley's method.
#[must_use]
pub fn cosine_hemisphere(u: DVec2) -> DVec3 {
    let (r, phi) = (u.x.sqrt(), 2.0 * PI * u.y);
    DVec3::new(r * phi.cos(), r * phi.sin(), (1.0 - u.x).max(0.0).sqrt())
}

/// A normal of those that are seen from `v`. Heitz, "Sampling the GGX Distribution of Visible Normals" (JCGT 7(4), 2018),
/// section 3.2, in the form of Dupuy and Benyoub, "Sampling Visible GGX Normals with Spherical Caps" (2023), section 3.
fn visible_normal(v: DVec3, alpha: f64, u: DVec2) -> DVec3 {
    let stretched = DVec3::new(alpha * v.x, alpha * v.y, v.z).normalize();
    let phi = 2.0 * PI * u.x;
    let z = (1.0 - u.y) * (1.0 + stretched.z) - stretched.z;
    let sin = (1.0 - z * z).max(0.0).sqrt();
    let h = DVec3::new(sin * phi.cos(), sin * phi.sin(), z) + stretched;
    DVec3::new(alpha * h.x, alpha * h.y, h.z).normalize_or(DVec3::Z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::sampler::{Sampler, SamplerKind};

    fn view(cos: f64) -> DVec3 {
        DVec3::new((1.0 - cos * cos).sqrt(), 0.0, cos)
    }

    fn all() -> Vec<(Bsdf, f64)> {
        let mut out = Vec::new();
        for roughness in [0.1f64, 0.3, 0.6, 1.0] {
            for metallic in [0.0, 0.5, 1.0] {
                for cos in [0.05, 0.4, 0.9, 1.0] {
                    let alpha = (roughness * roughness).max(MIN_ALPHA);
                    out.push((Bsdf { base_color: DVec3::new(0.9, 0.5, 0.2), metallic, alpha }, cos));
                }
            }
        }
        out
    }

    #[test]
    fn directional_albedo_of_a_white_metal_is_the_published_one() {
        // With F = 1 (a white metal): formulas of the single-scattering lobe, E(1) = 1 - ln 2 at roughness 1.
        for (roughness, cos, want) in [
            (1.0f64, 1.0, 1.0 - 2f64.ln()),
            (1.0, 0.5, 0.4507),
            (1.0, 0.1, 0.7604),
            (0.7, 1.0, 0.6977),
            (0.5, 0.5, 0.8573),
            (0.3, 0.1, 0.8843),
            (0.7, 0.1, 0.8619),
            (0.5, 0.1, 0.8916),
        ] {
            let bsdf = Bsdf { base_color: DVec3::ONE, metallic: 1.0, alpha: roughness * roughness };
            let v = view(cos);
            let count = 1 << 14;
            let sum: f64 = (0..count)
                .map(|i| {
                    let mut sampler = Sampler::new(SamplerKind::Sobol, 3, 0, 0, i);
                    let (lobe, u) = (sampler.next_1d(), sampler.next_2d());
                    bsdf.sample(v, lobe, u).map_or(0.0, |l| bsdf.evaluate(v, l).total().x / bsdf.density(v, l))
                })
                .sum();
            let got = sum / f64::from(count);
            assert!((got - want).abs() < 1e-3, "roughness {roughness} cos {cos}: {got}, {want}");
        }
    }

    #[test]
    fn the_density_is_that_of_the_samples() {
        // Chi-square over cells of equal solid angle; expected counts by integrating the density in each cell.
        for (bsdf, cos) in all() {
            // The quadrature cannot resolve narrower lobes; their energy is tested above.
            if bsdf.alpha < 0.3 && cos < 0.3 || bsdf.alpha < 0.05 {
                continue;
            }
            let v = view(cos);
            let (rows, columns, inside) = (12usize, 16usize, 24usize);
            let mut expected = vec![0.0; rows * columns];
            for row in 0..rows * inside {
                for column in 0..columns * inside {
                    // Finer near the mirror direction by quadrature in z^(1/2) would not change the cells.
                    let z = (row as f64 + 0.5) / (rows * inside) as f64;
                    let phi = 2.0 * PI * (column as f64 + 0.5) / (columns * inside) as f64;
                    let sin = (1.0 - z * z).sqrt();
                    let l = DVec3::new(sin * phi.cos(), sin * phi.sin(), z);
                    expected[row / inside * columns + column / inside] += bsdf.density(v, l);
                }
            }
            let area = 2.0 * PI / (rows * columns * inside * inside) as f64;
            let count = 20_000;
            let mut counts = vec![0.0; rows * columns];
            let mut missed = 0.0;
            for i in 0..count {
                let mut sampler = Sampler::new(SamplerKind::Independent, 11, 5, 0, i);
                let (lobe, u) = (sampler.next_1d(), sampler.next_2d());
                match bsdf.sample(v, lobe, u) {
                    None => missed += 1.0,
                    Some(l) => {
                        let phi = l.y.atan2(l.x).rem_euclid(2.0 * PI);
                        let row = ((l.z * rows as f64) as usize).min(rows - 1);
                        let column = ((phi / (2.0 * PI) * columns as f64) as usize).min(columns - 1);
                        counts[row * columns + column] += 1.0;
                    }
                }
            }
            let (mut chi2, mut cells) = (0.0, 0.0);
            let (mut rest_counted, mut rest_expected) = (missed, f64::from(count));
            for (counted, density) in counts.iter().zip(&expected) {
                let want = density * area * f64::from(count);
                rest_expected -= want;
                if want >= 5.0 {
                    chi2 += (counted - want).powi(2) / want;
                    cells += 1.0;
                } else {
                    rest_counted += counted;
                    rest_expected += want;
                }
            }
            if rest_expected >= 5.0 {
                chi2 += (rest_counted - rest_expected).powi(2) / rest_expected;
                cells += 1.0;
            }
            // Mean and deviation of chi-square: cells - 1, sqrt(2 (cells - 1)).
            let limit = cells - 1.0 + 5.0 * f64::sqrt(2.0 * (cells - 1.0f64).max(1.0)) + 5.0;
            assert!(chi2 < limit, "{bsdf:?} cos {cos}: chi2 {chi2} of {cells} cells");
        }
    }

    #[test]
    fn it_is_reciprocal() {
        for (bsdf, cos) in all() {
            let (v, l) = (view(cos), DVec3::new(-0.3, 0.5, 0.7).normalize());
            let there = bsdf.evaluate(v, l).total() / l.z;
            let back = bsdf.evaluate(l, v).total() / v.z;
            assert!((there - back).abs().max_element() < 1e-12 * (1.0 + there.max_element()));
        }
    }
}
