//! Reflection and transmission of photons by a material, as directional albedos by the angle of
//! incidence.
//!
//! The material is that of `shaders/lib/brdf.glsl` and `docs/materials.md`; here its directional
//! albedos count, from the same table that probes use (`photometry::environment::dfg_table`).
//! Sheen, thin films, anisotropy and normal maps are left out.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};

use super::surface_hit::SurfaceMaterial;
use crate::photometry::{
    environment::{DFG_SIZE, dfg_table},
    fresnel::schlick_weight,
    water::fresnel,
};

/// Rough reflections count as diffuse above the second of these alphas and are traced as specular
/// below the first; between, they are blended. A traced reflection lights the VPLs of the next
/// surface but does not appear on the reflecting surface itself. A reflection counted as diffuse
/// lights all, with an approximate direction. GGX of alpha 0.05 holds half its light within 3
/// degrees of the mean normal of the microfacets, of 0.25 within 14.
const DIFFUSE_ALPHA_RANGE: [f64; 2] = [0.05, 0.25];

/// Minimum reflectance at normal incidence (greatest channel) of lobes that are traced from ray
/// hits: metals. No ray of a pixel finds the light that a weaker lobe reflects to its surface.
const MIN_TRACED_F0: f64 = 0.2;

/// The fraction of specular reflection that counts as diffuse and is stored in VPLs, by alpha
/// (roughness squared) and the reflectance at normal incidence (greatest channel). Below
/// `MIN_TRACED_F0` all does: the energy is right, the direction is not.
#[must_use]
pub fn diffuse_lobe_weight(alpha: f64, f0: f64) -> f64 {
    if f0 < MIN_TRACED_F0 {
        return 1.0;
    }
    ((alpha - DIFFUSE_ALPHA_RANGE[0]) / (DIFFUSE_ALPHA_RANGE[1] - DIFFUSE_ALPHA_RANGE[0]))
        .clamp(0.0, 1.0)
}

/// The fraction that the specular lobe of a dielectric leaves for diffuse reflection. `left` is
/// that of `dfg_lookup`, for an `f0` (greatest channel) of 0.04 and an `f90` of 1.
#[must_use]
pub fn diffuse_fraction(f0: f64, f90: f64, left: f64) -> f64 {
    // Diffuse loss to Schlick's fifth power: the table holds it for 0.04 and 1.
    let rise = ((0.96 - left) / 0.96).clamp(0.0, 1.0);
    let left = if f90 > 0.0 { 1.0 - f0 - (f90 - f0) * rise } else { 1.0 - f0 };
    left.max(0.0)
}

/// Below this alpha, specular reflection is a perfect mirror.
const MIRROR_ALPHA: f64 = 0.002;

/// Reflectance and transmittance of each lobe, per channel. The sum is at most 1, except for what
/// the blend of materials gains.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lobes {
    /// Lambertian reflection on the side of incidence: the flux of a VPL.
    pub diffuse: DVec3,
    /// Lambertian transmission to the other side.
    pub diffuse_transmission: DVec3,
    /// Specular reflection with the roughness `SurfaceMaterial::alpha`.
    pub specular: DVec3,
    /// Specular reflection of the clearcoat, with its own roughness.
    pub coat: DVec3,
    /// Specular transmission, straight or refracted.
    pub glass: DVec3,
}

/// Scale and bias of F0, and the fraction that a dielectric of 4 % leaves for diffuse reflection,
/// by the cosine to the normal and the perceptual roughness.
#[must_use]
pub fn dfg_lookup(cosine: f64, roughness: f64) -> DVec3 {
    let last = DFG_SIZE - 1;
    let place = |x: f64| {
        let x = x.clamp(0.0, 1.0) * last as f64;
        let whole = (x as usize).min(last - 1);
        (whole, x - whole as f64)
    };
    let ((x, fx), (y, fy)) = (place(cosine), place(roughness));
    let at = |x: usize, y: usize| {
        dfg_table().get(y * DFG_SIZE + x).map_or(DVec3::ZERO, |entry| entry.as_dvec3())
    };
    at(x, y).lerp(at(x + 1, y), fx).lerp(at(x, y + 1).lerp(at(x + 1, y + 1), fx), fy)
}

impl SurfaceMaterial {
    /// Lobes by the cosine between the light's direction and the normal. `multiscatter`: energy
    /// compensation for scattering between microfacets (Turquin 2019).
    pub fn lobes(&self, cosine: f64, front: bool, multiscatter: bool) -> Lobes {
        let cosine = cosine.clamp(0.0, 1.0);
        let roughness = self.alpha.sqrt();
        let dielectric = 1.0 - self.metallic;
        let glass = dielectric * self.transmission;
        let opaque = dielectric - glass;
        let reflects = self.metallic > 0.0 || self.f90 > 0.0;
        // The table takes a while to compute; Lambert's law does not need it.
        let entry = if reflects { dfg_lookup(cosine, roughness) } else { DVec3::Z };
        let (scale, bias) = (entry.x, entry.y);
        let whole = scale + bias;
        let specular = |f0: DVec3, f90: f64| {
            let once = f0 * scale + DVec3::splat(f90 * bias);
            if multiscatter && whole > 0.0 {
                once * (1.0 + f0 * (1.0 - whole) / whole)
            } else {
                once
            }
        };
        let mut lobes = Lobes::default();
        let (mut gloss, mut glass_gloss) = (DVec3::ZERO, DVec3::ZERO);
        if self.metallic > 0.0 {
            gloss += specular(self.base, 1.0) * self.metallic;
        }
        if opaque > 0.0 {
            gloss += specular(self.f0, self.f90) * opaque;
            let left = diffuse_fraction(self.f0.max_element(), self.f90, entry.z);
            let diffuse = self.base * (opaque * left);
            lobes.diffuse = diffuse * (1.0 - self.diffuse_transmission);
            if self.diffuse_transmission > 0.0 {
                lobes.diffuse_transmission =
                    self.diffuse_transmission_color * (opaque * left * self.diffuse_transmission);
            }
        }
        if glass > 0.0 {
            let reflected = self.glass_reflectance(cosine, front);
            glass_gloss = DVec3::splat(glass * reflected);
            lobes.glass = self.base * (glass * (1.0 - reflected));
        }
        let f0 = (self.base * self.metallic + self.f0 * opaque).max_element();
        // Photons follow the reflections of glass, whose lobes are mirrors or nearly so.
        for (gloss, f0) in [(gloss, f0), (glass_gloss, 1.0)] {
            let diffuse_weight = diffuse_lobe_weight(self.alpha, f0);
            lobes.diffuse += gloss * diffuse_weight;
            lobes.specular += gloss * (1.0 - diffuse_weight);
        }
        if self.coat > 0.0 {
            // KHR_materials_clearcoat, "Layering".
            let share = self.coat * (0.04 + 0.96 * schlick_weight(cosine));
            lobes = lobes.times(1.0 - share);
            lobes.coat = DVec3::splat(share);
        }
        lobes
    }

    /// Reflectance of smooth glass. Internal reflections of a thin wall add up: `R + T R T + ...`
    /// is `2 R / (1 + R)`.
    fn glass_reflectance(&self, cosine: f64, front: bool) -> f64 {
        if self.ior == 0.0 {
            return 1.0;
        }
        if self.border.is_none() {
            let once = fresnel(cosine, self.ior);
            return 2.0 * once / (1.0 + once);
        }
        fresnel(cosine, if front { self.ior } else { 1.0 / self.ior })
    }
}

impl Lobes {
    fn times(self, factor: f64) -> Self {
        Self {
            diffuse: self.diffuse * factor,
            diffuse_transmission: self.diffuse_transmission * factor,
            specular: self.specular * factor,
            coat: self.coat * factor,
            glass: self.glass * factor,
        }
    }
}

/// Cosine-weighted direction about a unit normal.
pub(super) fn sample_cosine_hemisphere(normal: DVec3, u: DVec2) -> DVec3 {
    let (x, y) = normal.any_orthonormal_pair();
    let (radius, (sin, cos)) = (u.x.sqrt(), (TAU * u.y).sin_cos());
    (x * (radius * cos) + y * (radius * sin) + normal * (1.0 - u.x).max(0.0).sqrt())
        .normalize_or(normal)
}

/// Mirrors directions into the surface back out of it, so that no light is lost where the mesh's
/// normal differs from the triangle's.
pub(super) fn outward(direction: DVec3, geometric: DVec3) -> DVec3 {
    let along = direction.dot(geometric);
    if along > 0.0 {
        direction
    } else {
        (direction - geometric * (2.0 * along - 1e-6)).normalize_or(geometric)
    }
}

/// Direction of GGX reflection of light from `direction`, about a sampled visible normal (Heitz,
/// "Sampling the GGX Distribution of Visible Normals", JCGT 7(4), 2018).
pub(super) fn sample_ggx_reflection(
    direction: DVec3,
    normal: DVec3,
    alpha: f64,
    u: DVec2,
) -> DVec3 {
    let mirror = |n: DVec3| direction - n * (2.0 * direction.dot(n));
    if alpha < MIRROR_ALPHA {
        return mirror(normal).normalize_or(normal);
    }
    let (x, y) = normal.any_orthonormal_pair();
    let from = -direction;
    let view = DVec3::new(from.dot(x), from.dot(y), from.dot(normal).max(1e-6));
    let stretched = DVec3::new(alpha * view.x, alpha * view.y, view.z).normalize_or(DVec3::Z);
    // Section 3.2: the projected disk, with its lower half foreshortened.
    let across = DVec3::new(-stretched.y, stretched.x, 0.0).try_normalize().unwrap_or(DVec3::X);
    let up = stretched.cross(across);
    let (radius, (sin, cos)) = (u.x.sqrt(), (TAU * u.y).sin_cos());
    let first = radius * cos;
    let half = f64::midpoint(1.0, stretched.z);
    let second = (1.0 - half) * (1.0 - first * first).max(0.0).sqrt() + half * radius * sin;
    let third = (1.0 - first * first - second * second).max(0.0).sqrt();
    let facet = across * first + up * second + stretched * third;
    let facet =
        DVec3::new(alpha * facet.x, alpha * facet.y, facet.z.max(0.0)).normalize_or(DVec3::Z);
    mirror(x * facet.x + y * facet.y + normal * facet.z).normalize_or(normal)
}

/// Snell's law at a smooth interface; `None` beyond the critical angle. `eta` is the index of the
/// far medium over that of the near one.
pub(super) fn refracted(direction: DVec3, normal: DVec3, eta: f64) -> Option<DVec3> {
    let cosine = -direction.dot(normal);
    let sin2 = (1.0 - cosine * cosine).max(0.0) / (eta * eta);
    let behind = 1.0 - sin2;
    (behind > 0.0).then(|| {
        (direction / eta + normal * (cosine / eta - behind.sqrt())).normalize_or(direction)
    })
}
