//! The metallic/roughness material of glTF 2.0 (Appendix B) with KHR_materials_ior, KHR_materials_transmission and
//! KHR_materials_volume, and its sampling. Directions are in a frame whose z is the shading normal on the side of the view.
//!
//! It is a mix of three materials: with weight `metallic` a metal; of the rest, `transmission` glass and else an opaque
//! dielectric. Metal and opaque dielectric are those of the raster renderer (`shaders/lib/brdf.glsl`), with Schlick's
//! approximation of Fresnel's equations. Glass has Fresnel's equations themselves: they alone agree with Snell's law about the
//! critical angle, and with themselves from both sides.
//!
//! Glass is either the border of a volume, where light is refracted (Walter et al. 2007), or a thin wall, where it goes
//! straight on and roughness spreads it as it spreads the reflection (KHR_materials_transmission). The base colour is a factor
//! at every crossing, as the extensions have it.

mod microfacet;

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

pub use self::microfacet::{cosine_hemisphere, fresnel, refract, visible_normal};
use self::microfacet::{ggx, lambda, refracting_normal, schlick, seen_normals};

/// Below this alpha a highlight of a point-like source is narrower than a pixel ever is (`shaders/lib/brdf.glsl`): reflection
/// from metal and opaque dielectrics is spread that wide at least, and glass is smooth.
pub const MIN_ALPHA: f64 = 0.002;
/// Where indices differ by less than this part, rough glass does not bend light visibly, and is taken for smooth.
const SAME_INDEX: f64 = 1e-3;

/// What lies beyond glass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wall {
    /// The same as on this side: nothing is bent.
    Thin {
        /// Index of refraction of the wall over that around it.
        eta: f64,
    },
    /// A volume, or the outside of one.
    Border {
        /// Index of refraction beyond over that on the side of the view.
        eta: f64,
    },
}

/// What light does at a point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bsdf {
    /// Linear base colour, 0 to 1.
    pub base_color: DVec3,
    /// 0 dielectric to 1 metal.
    pub metallic: f64,
    /// Roughness squared, 0 to 1.
    pub alpha: f64,
    /// Reflectance of the opaque dielectric along the normal: 0.04 for an index of 1.5. 0, for an index of 1, is no border
    /// at all: nothing is reflected at any angle, and what is left is Lambert's law.
    pub f0: f64,
    /// The part of the dielectric that is glass, 0 to 1.
    pub transmission: f64,
    /// What lies beyond the glass.
    pub wall: Wall,
}

impl Default for Bsdf {
    /// White, matte as can be, of index 1.5.
    fn default() -> Self {
        Self {
            base_color: DVec3::ONE,
            metallic: 0.0,
            alpha: 1.0,
            f0: 0.04,
            transmission: 0.0,
            wall: Wall::Thin { eta: 1.5 },
        }
    }
}

/// Radiance that leaves over irradiance on a plane facing the light, with the cosine (1/sr); or that over the density of a
/// sample (no unit).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scattered {
    /// Reflected diffusely.
    pub diffuse: DVec3,
    /// Reflected specularly.
    pub specular: DVec3,
    /// From the other side.
    pub transmitted: DVec3,
}

impl Scattered {
    /// All of it.
    #[must_use]
    pub fn total(self) -> DVec3 {
        self.diffuse + self.specular + self.transmitted
    }

    fn over(self, density: f64) -> Self {
        Self {
            diffuse: self.diffuse / density,
            specular: self.specular / density,
            transmitted: self.transmitted / density,
        }
    }
}

/// A chosen direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// Towards the light, a unit vector; below the surface (z < 0) where the light comes from the other side.
    pub l: DVec3,
    /// What leaves of the radiance from there, over the density.
    pub weight: Scattered,
    /// Density (1/sr); none for a direction that smooth glass dictates, which no other way finds.
    pub density: Option<f64>,
    /// Square of the ratio of indices by which radiance grew when it was bent: how little the weight says of what will come.
    pub bent: f64,
}

/// Chances of the lobes.
#[derive(Clone, Copy)]
struct Chances {
    glass: f64,
    specular: f64,
    diffuse: f64,
}

impl Bsdf {
    /// Alpha of metal and opaque dielectric.
    fn spread(&self) -> f64 {
        self.alpha.max(MIN_ALPHA)
    }

    /// How much of the whole is glass.
    fn glass(&self) -> f64 {
        (1.0 - self.metallic) * self.transmission
    }

    /// Whether glass sends light in two directions only.
    fn is_smooth(&self) -> bool {
        self.alpha < MIN_ALPHA || matches!(self.wall, Wall::Border { eta } if (eta - 1.0).abs() < SAME_INDEX)
    }

    /// Whether light from the other side arrives at more than one direction.
    #[must_use]
    pub fn spreads_through(&self) -> bool {
        self.glass() > 0.0 && !self.is_smooth()
    }

    /// Reflectance of the opaque dielectric where Schlick's weight is `w`.
    fn dielectric(&self, w: f64) -> f64 {
        if self.f0 > 0.0 { self.f0 + (1.0 - self.f0) * w } else { 0.0 }
    }

    fn glass_fresnel(&self, cos: f64) -> f64 {
        let (Wall::Thin { eta } | Wall::Border { eta }) = self.wall;
        fresnel(cos, eta)
    }

    /// How much of light goes straight through a smooth thin wall. `evaluate` and `sample` leave it out: it is as if the
    /// surface were partly not there, for shadows too.
    #[must_use]
    pub fn straight_through(&self, v: DVec3) -> DVec3 {
        let glass = self.glass();
        if glass <= 0.0 || self.alpha >= MIN_ALPHA || !matches!(self.wall, Wall::Thin { .. }) {
            return DVec3::ZERO;
        }
        glass * (1.0 - self.glass_fresnel(v.z)) * self.base_color
    }

    /// What leaves towards `v` (z > 0) of light from `l`, but for what smooth glass does. Both are unit vectors.
    #[must_use]
    pub fn evaluate(&self, v: DVec3, l: DVec3) -> Scattered {
        if l.z <= 0.0 {
            return Scattered { transmitted: self.evaluate_through(v, l), ..Scattered::default() };
        }
        let sum = v + l;
        if v.z <= 0.0 || sum.length_squared() < 1e-24 {
            return Scattered::default();
        }
        let h = sum.normalize();
        let vh = v.dot(h);
        let w = schlick(vh);
        let fd = self.dielectric(w);
        let fm = self.base_color.lerp(DVec3::ONE, w);
        let opaque = (1.0 - self.metallic) * (1.0 - self.transmission);
        let mut f = opaque * fd + self.metallic * fm;
        if self.spreads_through() {
            f += self.glass() * self.glass_fresnel(vh);
        }
        let alpha = self.spread();
        let g = 1.0 / (1.0 + lambda(v, alpha) + lambda(l, alpha));
        Scattered {
            diffuse: opaque * (1.0 - fd) / PI * l.z * self.base_color,
            // D G2 / (4 n.v n.l) times n.l.
            specular: ggx(h, alpha) * g / (4.0 * v.z) * f,
            transmitted: DVec3::ZERO,
        }
    }

    /// From the other side, of rough glass.
    fn evaluate_through(&self, v: DVec3, l: DVec3) -> DVec3 {
        if v.z <= 0.0 || l.z >= 0.0 || !self.spreads_through() {
            return DVec3::ZERO;
        }
        let g = 1.0 / (1.0 + lambda(v, self.alpha) + lambda(l, self.alpha));
        let (h, shape) = match self.wall {
            // The reflection, mirrored to the other side.
            Wall::Thin { .. } => {
                let h = (v + l * DVec3::new(1.0, 1.0, -1.0)).normalize_or(DVec3::Z);
                (h, 0.25)
            }
            // Walter et al. 2007, equation 21, for light from beyond: radiance shrinks by the square of the ratio of indices.
            Wall::Border { eta } => {
                let Some(h) = refracting_normal(v, l, eta) else { return DVec3::ZERO };
                let (vh, lh) = (v.dot(h), l.dot(h));
                (h, vh * -lh / (eta * lh + vh).powi(2))
            }
        };
        let through = self.glass() * (1.0 - self.glass_fresnel(v.dot(h)));
        ggx(h, self.alpha) * g * shape / v.z * through * self.base_color
    }

    fn chances(&self, v: DVec3) -> Chances {
        let w = schlick(v.z);
        let dielectric = self.dielectric(w);
        let metal = self.base_color.lerp(DVec3::ONE, w).max_element();
        let most = self.base_color.max_element();
        let opaque = (1.0 - self.metallic) * (1.0 - self.transmission);
        let specular = dielectric * opaque + metal * self.metallic;
        let diffuse = opaque * most * (1.0 - dielectric);
        // No lobe may starve: what is chosen never weighs too much where it is strong.
        let share = if diffuse <= 0.0 {
            1.0
        } else if specular <= 0.0 {
            0.0
        } else {
            (specular / (specular + diffuse)).clamp(0.1, 0.9)
        };
        let glass = self.glass();
        let glass = if glass <= 0.0 {
            0.0
        } else if specular + diffuse <= 0.0 {
            1.0
        } else {
            let f = self.glass_fresnel(v.z);
            let through = if self.is_smooth() && matches!(self.wall, Wall::Thin { .. }) { 0.0 } else { most };
            let glass = glass * (f + (1.0 - f) * through);
            (glass / (glass + specular + diffuse)).clamp(0.1, 0.9)
        };
        Chances { glass, specular: (1.0 - glass) * share, diffuse: (1.0 - glass) * (1.0 - share) }
    }

    /// How often glass of reflectance `f` reflects when it is sampled.
    fn reflection_chance(&self, f: f64) -> f64 {
        let through = (1.0 - f) * self.base_color.max_element();
        if through > 0.0 { f / (f + through) } else { 1.0 }
    }

    /// Density (1/sr) with which `sample` gives `l`, but for the directions of smooth glass.
    #[must_use]
    pub fn density(&self, v: DVec3, l: DVec3) -> f64 {
        if v.z <= 0.0 {
            return 0.0;
        }
        let chances = self.chances(v);
        if l.z <= 0.0 {
            return self.density_through(v, l, chances.glass);
        }
        let sum = v + l;
        if sum.length_squared() < 1e-24 {
            return 0.0;
        }
        let h = sum.normalize();
        let mut specular = chances.specular;
        if self.spreads_through() {
            specular += chances.glass * self.reflection_chance(self.glass_fresnel(v.dot(h)));
        }
        // Density of visible normals over the change from half vector to direction: Heitz 2018, equation 17.
        specular * seen_normals(v, h, self.spread()) / 4.0 + chances.diffuse * l.z / PI
    }

    fn density_through(&self, v: DVec3, l: DVec3, glass: f64) -> f64 {
        if l.z >= 0.0 || glass <= 0.0 || !self.spreads_through() {
            return 0.0;
        }
        let (h, change) = match self.wall {
            Wall::Thin { .. } => ((v + l * DVec3::new(1.0, 1.0, -1.0)).normalize_or(DVec3::Z), 0.25),
            // Walter et al. 2007, equation 17.
            Wall::Border { eta } => {
                let Some(h) = refracting_normal(v, l, eta) else { return 0.0 };
                let (vh, lh) = (v.dot(h), l.dot(h));
                (h, vh * eta * eta * -lh / (eta * lh + vh).powi(2))
            }
        };
        let through = 1.0 - self.reflection_chance(self.glass_fresnel(v.dot(h)));
        glass * through * seen_normals(v, h, self.alpha) * change
    }

    /// A direction in proportion to the light that leaves towards `v`, about; none where it falls on the wrong side.
    #[must_use]
    pub fn sample(&self, v: DVec3, lobe: f64, u: DVec2) -> Option<Sampled> {
        if v.z <= 0.0 {
            return None;
        }
        let chances = self.chances(v);
        let l = if lobe < chances.glass {
            // The rest of the number is as even as the whole.
            let lobe = lobe / chances.glass;
            if self.is_smooth() {
                return self.sample_smooth(v, lobe, chances.glass);
            }
            let h = visible_normal(v, self.alpha, u);
            let reflects = lobe < self.reflection_chance(self.glass_fresnel(v.dot(h)));
            let mirrored = 2.0 * v.dot(h) * h - v;
            let l = match self.wall {
                _ if reflects => mirrored,
                Wall::Thin { .. } => mirrored * DVec3::new(1.0, 1.0, -1.0),
                Wall::Border { eta } => refract(v, h, eta)?,
            };
            if (l.z > 0.0) != reflects {
                return None;
            }
            l
        } else if lobe < chances.glass + chances.specular {
            let h = visible_normal(v, self.spread(), u);
            2.0 * v.dot(h) * h - v
        } else {
            cosine_hemisphere(u)
        };
        let through = l.z < 0.0;
        if l.z == 0.0 || through && lobe >= chances.glass {
            return None;
        }
        let density = self.density(v, l);
        let bent = match self.wall {
            Wall::Border { eta } if through => eta * eta,
            _ => 1.0,
        };
        (density > 0.0).then(|| Sampled { l, weight: self.evaluate(v, l).over(density), density: Some(density), bent })
    }

    /// One of the two directions of smooth glass.
    fn sample_smooth(&self, v: DVec3, lobe: f64, chance: f64) -> Option<Sampled> {
        let f = self.glass_fresnel(v.z);
        let glass = self.glass() / chance;
        let up = |weight: f64| Sampled {
            l: DVec3::new(-v.x, -v.y, v.z),
            weight: Scattered { specular: DVec3::splat(weight), ..Scattered::default() },
            density: None,
            bent: 1.0,
        };
        let Wall::Border { eta } = self.wall else {
            // What goes straight through is no scattering, see `straight_through`.
            return Some(up(glass * f));
        };
        let reflects = self.reflection_chance(f);
        if lobe < reflects {
            return Some(up(glass * f / reflects));
        }
        let l = refract(v, DVec3::Z, eta).filter(|l| l.z < 0.0)?;
        let bent = eta * eta;
        let transmitted = self.base_color * (glass * (1.0 - f) / ((1.0 - reflects) * bent));
        Some(Sampled { l, weight: Scattered { transmitted, ..Scattered::default() }, density: None, bent })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
