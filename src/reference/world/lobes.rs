//! Parameters of the material extensions at a surface point.

use glam::{DVec3, DVec4};

use super::{HitSide, VertexAttributes, World};
use crate::{
    bvh::PreciseHit,
    reference::{
        bsdf::{Bsdf, Coat, Sheen, ThinFilm, coat_reflectance},
        shading::ShadingFrame,
    },
    scene::{Material, TextureRef},
};

/// Tangent frame of the mesh's texture maps, unit vectors from the front.
pub(super) struct TangentFrame {
    normal: DVec3,
    tangent: DVec3,
    bitangent: DVec3,
    /// True if the mesh has tangents.
    has_tangents: bool,
}

impl World<'_> {
    pub(super) fn axes(&self, hit: &PreciseHit, at: &VertexAttributes) -> TangentFrame {
        let place = self.place_of(hit);
        let normal = place.normal(at.normal.as_dvec3());
        if at.tangent.w == 0.0 {
            return TangentFrame {
                normal,
                tangent: DVec3::ZERO,
                bitangent: DVec3::ZERO,
                has_tangents: false,
            };
        }
        let tangent = (place.to_eye.matrix3 * at.tangent.truncate()).normalize_or(DVec3::X);
        TangentFrame {
            normal,
            tangent,
            bitangent: normal.cross(tangent) * at.tangent.w * place.handedness,
            has_tangents: true,
        }
    }

    /// Normal from a normal map; the mesh's normal without a map.
    pub(super) fn bumped(
        &self,
        axes: &TangentFrame,
        map: Option<TextureRef>,
        scale: f32,
        at: &VertexAttributes,
    ) -> DVec3 {
        let Some(bump) = self.sample(map, at, false).filter(|_| axes.has_tangents) else {
            return axes.normal;
        };
        let mut n = bump.truncate() * 2.0 - 1.0;
        n.x *= f64::from(scale);
        n.y *= f64::from(scale);
        (axes.tangent * n.x + axes.bitangent * n.y + axes.normal * n.z).normalize_or(axes.normal)
    }

    /// Transmittance of a clearcoat for emission below it, towards a direction
    /// (KHR_materials_clearcoat, "Emission").
    pub(super) fn below_coat(
        &self,
        material: &Material,
        axes: &TangentFrame,
        at: &VertexAttributes,
        towards: DVec3,
    ) -> f64 {
        let coat = &material.clearcoat;
        if coat.factor <= 0.0 {
            return 1.0;
        }
        let factor = f64::from(coat.factor)
            * self.sample(coat.texture, at, false).map_or(1.0, |texel| texel.x);
        let normal = self.bumped(axes, coat.normal_texture, coat.normal_scale, at);
        1.0 - coat_reflectance(factor, normal.dot(towards))
    }

    /// Sets the extension parameters; returns the direction of anisotropic highlights, if any.
    pub(super) fn lobes(
        &self,
        material: &Material,
        axes: &TangentFrame,
        at: &VertexAttributes,
        hit: &HitSide,
        bsdf: &mut Bsdf,
    ) -> Option<DVec3> {
        let texel = |map: Option<TextureRef>| self.sample(map, at, false).unwrap_or(DVec4::ONE);
        let color =
            |map: Option<TextureRef>| self.sample(map, at, true).unwrap_or(DVec4::ONE).truncate();
        bsdf.multiscatter = self.scene.multiscatter;
        let specular = &material.specular;
        bsdf.specular = (f64::from(specular.factor) * texel(specular.texture).w).clamp(0.0, 1.0);
        bsdf.specular_color =
            (specular.color.as_dvec3() * color(specular.color_texture)).max(DVec3::ZERO);
        if material.transmits_diffusely() {
            let through = &material.diffuse_transmission;
            bsdf.diffuse_transmission =
                (f64::from(through.factor) * texel(through.texture).w).clamp(0.0, 1.0);
            let tint = through.color.as_dvec3() * color(through.color_texture);
            bsdf.diffuse_transmission_color = tint.clamp(DVec3::ZERO, DVec3::ONE);
        }
        let inside = hit.is_volume_boundary && !hit.front;
        bsdf.thin_film = self.thin_film(material, at, inside);
        let tangent = self.stretched(material, axes, at, bsdf);
        // The clearcoat lies on the outside of a volume.
        if inside {
            return tangent;
        }
        let sheen = &material.sheen;
        if sheen.color.max_element() > 0.0 {
            let tint = (sheen.color.as_dvec3() * color(sheen.color_texture))
                .clamp(DVec3::ZERO, DVec3::ONE);
            let roughness = f64::from(sheen.roughness) * texel(sheen.roughness_texture).w;
            bsdf.sheen = (tint != DVec3::ZERO)
                .then_some(Sheen { color: tint, roughness: roughness.clamp(0.0, 1.0) });
        }
        let coat = &material.clearcoat;
        if coat.factor > 0.0 {
            let factor = (f64::from(coat.factor) * texel(coat.texture).x).clamp(0.0, 1.0);
            let roughness =
                (f64::from(coat.roughness) * texel(coat.roughness_texture).y).clamp(0.0, 1.0);
            let side = if hit.front { 1.0 } else { -1.0 };
            let normal = self.bumped(axes, coat.normal_texture, coat.normal_scale, at) * side;
            let normal = ShadingFrame::with_tangent(hit.normal, tangent)
                .to_local(normal)
                .normalize_or(DVec3::Z);
            bsdf.coat =
                (factor > 0.0).then_some(Coat { factor, alpha: roughness * roughness, normal });
        }
        tangent
    }

    fn thin_film(
        &self,
        material: &Material,
        at: &VertexAttributes,
        inside: bool,
    ) -> Option<ThinFilm> {
        let film = &material.iridescence;
        if film.factor <= 0.0 {
            return None;
        }
        let texel = |map: Option<TextureRef>| self.sample(map, at, false).unwrap_or(DVec4::ONE);
        let factor = (f64::from(film.factor) * texel(film.texture).x).clamp(0.0, 1.0);
        let (thin, thick) = (f64::from(film.thickness_minimum), f64::from(film.thickness_maximum));
        let thickness = thin + (thick - thin) * texel(film.thickness_texture).y;
        let ior = f64::from(film.ior).max(1.0);
        (factor > 0.0 && thickness > 0.0).then_some(ThinFilm { factor, ior, thickness, inside })
    }

    /// KHR_materials_anisotropy: strength, and the direction in world space.
    fn stretched(
        &self,
        material: &Material,
        axes: &TangentFrame,
        at: &VertexAttributes,
        bsdf: &mut Bsdf,
    ) -> Option<DVec3> {
        let anisotropy = &material.anisotropy;
        if anisotropy.strength <= 0.0 || !axes.has_tangents {
            return None;
        }
        let mut strength = f64::from(anisotropy.strength);
        let (mut x, mut y) = (1.0, 0.0);
        if let Some(texel) = self.sample(anisotropy.texture, at, false) {
            strength *= texel.z;
            (x, y) = (texel.x * 2.0 - 1.0, texel.y * 2.0 - 1.0);
        }
        let (sin, cos) = f64::from(anisotropy.rotation).sin_cos();
        let direction = axes.tangent * (cos * x - sin * y) + axes.bitangent * (sin * x + cos * y);
        // A zero direction in the texture leaves highlights isotropic.
        let direction = direction.try_normalize()?;
        bsdf.anisotropy = strength.clamp(0.0, 1.0);
        Some(direction)
    }
}
