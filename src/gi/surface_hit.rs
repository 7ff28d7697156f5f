//! Surface hits of photons: position, normals and material.

use glam::{DAffine3, DVec3, DVec4, Vec2, Vec3};

use crate::{
    bvh::{PreciseHit, SceneBvh, SceneTlas},
    photometry::color::luminance,
    scene::{
        AlphaMode, Material, Primitive, Scene,
        texture_lookup::{Coding, texel},
    },
};

/// A hit point on a surface, relative to the anchor.
pub(super) struct SurfaceHit {
    /// In the triangle's plane (m).
    pub position: DVec3,
    /// Unit normal of the triangle on the ray's side.
    pub geometric: DVec3,
    /// Interpolated unit normal of the mesh, on the ray's side and never facing away from it,
    /// without normal maps.
    pub normal: DVec3,
    /// Normal of the emitted VPL, and the weight of its flux. It is the triangle's normal where the
    /// mesh's deviates from it, see `UNBENT`.
    pub emission_normal: DVec3,
    pub emission_weight: f64,
    /// True if the ray hit the front face as glTF defines it.
    pub front: bool,
    /// Opacity, 0 to 1: the rest of the light passes straight through.
    pub opacity: f64,
    pub material: SurfaceMaterial,
}

/// Reflectance of a dielectric at normal incidence, by its index, specular tint and
/// `dielectric_f90` (KHR_materials_specular, "Implementation").
#[must_use]
pub fn dielectric_f0(ior: f64, tint: DVec3, f90: f64) -> DVec3 {
    (((ior - 1.0) / (ior + 1.0)).powi(2) * tint).clamp(DVec3::ZERO, DVec3::ONE) * f90
}

/// Reflectance of a dielectric at grazing incidence: its specular factor. An index of 1 reflects
/// nothing at any angle.
#[must_use]
pub fn dielectric_f90(ior: f64, factor: f64) -> f64 {
    if ior == 1.0 { 0.0 } else { factor.clamp(0.0, 1.0) }
}

/// Material parameters at a point.
#[derive(Clone, Copy)]
pub(super) struct SurfaceMaterial {
    /// Linear base color, 0 to 1.
    pub base: DVec3,
    pub metallic: f64,
    /// Alpha: roughness squared.
    pub alpha: f64,
    /// Reflectance of the dielectric at normal incidence, and at grazing angles.
    pub f0: DVec3,
    pub f90: f64,
    pub ior: f64,
    /// Fraction of the dielectric that is glass, and fraction of its diffuse light that is
    /// transmitted.
    pub transmission: f64,
    pub diffuse_transmission: f64,
    pub diffuse_transmission_color: DVec3,
    /// Weight of the clearcoat, and its alpha.
    pub coat: f64,
    pub coat_alpha: f64,
    /// Absorption (1/m) behind the surface if it bounds a volume.
    pub border: Option<DVec3>,
    /// Unlit material: light does not act on it.
    pub unlit: bool,
}

/// Cosine between a mesh's and a triangle's normal down to which they count as equal. Below it, a
/// photon reproduces the light of a path from the eye. Such a path weights incoming light by the
/// mesh's normal, with the projected area of the triangle. Photons arrive by the triangle's own
/// cosine, so the quotient of both cosines is the photon's weight. The photon leaves by the
/// triangle's normal (Veach 1997, "Robust Monte Carlo Methods for Light Transport Simulation",
/// section 5.3.2). For nearly flat facets the mean quotient is 1 over each facet, and omitting it
/// neither gains nor loses light.
const UNBENT: f64 = 0.999;
/// Maximum of that weight, for light at grazing angles to a triangle.
const MAX_EMISSION_WEIGHT: f64 = 16.0;

/// The BVH and TLAS relative to the anchor, with their scene.
#[derive(Clone, Copy)]
pub(super) struct TraceScene<'a> {
    pub scene: &'a Scene,
    pub bvh: &'a SceneBvh,
    pub tlas: &'a SceneTlas,
    /// Default material, for primitives without one.
    pub plain: &'a Material,
}

/// Attributes of a primitive at a point of a triangle.
pub(super) struct Attributes {
    pub normal: Vec3,
    pub uv: [Vec2; 2],
    pub color: DVec4,
}

impl Attributes {
    /// Interpolates with barycentric `weights` of the triangle's vertices.
    pub fn new(primitive: &Primitive, triangle: u32, weights: Vec3) -> Self {
        let vertex = |corner: usize| {
            primitive
                .indices
                .get(triangle as usize * 3 + corner)
                .map_or(usize::MAX, |&v| v as usize)
        };
        let corners = [(vertex(0), weights.x), (vertex(1), weights.y), (vertex(2), weights.z)];
        let uv = |list: &[Vec2]| match list {
            [] => Vec2::ZERO,
            list => corners.iter().filter_map(|&(v, w)| Some(*list.get(v)? * w)).sum(),
        };
        let color = match primitive.colors.as_slice() {
            [] => DVec4::ONE,
            list => corners
                .iter()
                .filter_map(|&(v, w)| Some(list.get(v)?.as_dvec4() * f64::from(w)))
                .sum(),
        };
        let normal =
            corners.iter().filter_map(|&(v, w)| Some(*primitive.normals.get(v)? * w)).sum();
        Self { normal, uv: [uv(&primitive.uv0), uv(&primitive.uv1)], color }
    }
}

/// Transform from an instance's object space to anchor space.
pub(super) struct ToAnchor {
    rows: [DVec3; 3],
    back: DAffine3,
}

impl ToAnchor {
    pub fn new(stage: &TraceScene, instance: u32) -> Option<Self> {
        let inverse = stage.bvh.inverse_linear(instance)?;
        Some(Self {
            rows: [0, 1, 2].map(|row| inverse.row(row)),
            back: stage.bvh.to_eye(stage.tlas, instance)?,
        })
    }

    pub fn point(&self, p: DVec3) -> DVec3 {
        self.back.transform_point3(p)
    }

    /// Transforms a normal by the inverse transpose; zero for a degenerate one.
    pub fn normal(&self, n: DVec3) -> DVec3 {
        (self.rows[0] * n.x + self.rows[1] * n.y + self.rows[2] * n.z).normalize_or_zero()
    }

    /// Normal of a triangle's front face, which stays the front under mirroring (glTF 2.0, section
    /// 3.7.4: winding by the determinant).
    pub fn facing(&self, a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
        self.normal((b - a).cross(c - a))
    }
}

impl<'a> TraceScene<'a> {
    pub fn primitive(&self, instance: u32) -> Option<&'a Primitive> {
        let (_, blas) = self.bvh.instance_blas(instance)?;
        self.scene.meshes.get(blas.mesh)?.primitives.get(blas.primitive)
    }

    pub fn material(&self, primitive: &Primitive) -> &'a Material {
        primitive.material.and_then(|index| self.scene.materials.get(index)).unwrap_or(self.plain)
    }

    /// Surface at a hit; `None` where a triangle has no normal or an index is invalid.
    pub fn surface(&self, direction: DVec3, hit: &PreciseHit) -> Option<SurfaceHit> {
        let to_anchor = ToAnchor::new(self, hit.instance)?;
        let triangle = self.bvh.triangles.get(hit.triangle as usize)?;
        let source = *self.bvh.sources.get(hit.triangle as usize)?;
        let primitive = self.primitive(hit.instance)?;
        let material = self.material(primitive);
        let [a, b, c] = [triangle.a, triangle.b, triangle.c].map(|p| p.as_dvec3());
        let facing = to_anchor.facing(a, b, c);
        let front = facing.dot(direction) < 0.0;
        let side = if front { 1.0 } else { -1.0 };
        let geometric = facing * side;
        let at = Attributes::new(primitive, source, hit.weights());
        let mut normal = to_anchor.normal(at.normal.as_dvec3()) * side;
        let unbent = normal.dot(geometric) >= UNBENT || normal == DVec3::ZERO;
        let (shaded, met) = (-normal.dot(direction), -geometric.dot(direction));
        let lit =
            if unbent { 1.0 } else { (shaded.max(0.0) / met.max(1e-9)).min(MAX_EMISSION_WEIGHT) };
        if normal.dot(geometric) <= 0.0 || normal.dot(direction) >= 0.0 {
            normal = geometric;
        }
        let opaque = material.alpha != AlphaMode::Blend;
        let base = self.base(material, &at);
        let surface = SurfaceHit {
            position: to_anchor.point(hit.inside(triangle)),
            geometric,
            normal,
            emission_normal: if unbent { normal } else { geometric },
            emission_weight: lit,
            front,
            opacity: if opaque { 1.0 } else { base.w.clamp(0.0, 1.0) },
            material: self.matter(material, &at, base, front),
        };
        (surface.position.is_finite() && surface.normal.is_normalized()).then_some(surface)
    }

    fn base(&self, material: &Material, at: &Attributes) -> DVec4 {
        let texture = texel(self.scene, material.base_color_texture, at.uv, Coding::Srgb)
            .unwrap_or(DVec4::ONE);
        at.color * material.base_color.as_dvec4() * texture
    }

    fn matter(
        &self,
        material: &Material,
        at: &Attributes,
        base: DVec4,
        front: bool,
    ) -> SurfaceMaterial {
        let plain = |map| texel(self.scene, map, at.uv, Coding::Linear).unwrap_or(DVec4::ONE);
        let color =
            |map| texel(self.scene, map, at.uv, Coding::Srgb).unwrap_or(DVec4::ONE).truncate();
        let mixed = plain(material.metallic_roughness_texture);
        let ior = f64::from(material.ior);
        let specular = &material.specular;
        let factor = dielectric_f90(ior, f64::from(specular.factor) * plain(specular.texture).w);
        let tint = specular.color.as_dvec3() * color(specular.color_texture);
        let f0 = dielectric_f0(ior, tint, factor);
        let roughness = (f64::from(material.roughness) * mixed.y).clamp(0.0, 1.0);
        let part = |wanted: bool, factor: f32, texel: f64| {
            if wanted { (f64::from(factor) * texel).clamp(0.0, 1.0) } else { 0.0 }
        };
        let through = &material.diffuse_transmission;
        let spread = part(material.transmits_diffusely(), through.factor, plain(through.texture).w);
        let border = material.encloses_volume();
        // The clearcoat lies on the outside of a volume.
        let coat = &material.clearcoat;
        let coated = part(front || !border, coat.factor, plain(coat.texture).x);
        let coat_roughness =
            (f64::from(coat.roughness) * plain(coat.roughness_texture).y).clamp(0.0, 1.0);
        SurfaceMaterial {
            base: base.truncate().clamp(DVec3::ZERO, DVec3::ONE),
            metallic: (f64::from(material.metallic) * mixed.z).clamp(0.0, 1.0),
            alpha: roughness * roughness,
            f0,
            f90: factor,
            ior,
            transmission: part(
                material.transmits(),
                material.transmission,
                plain(material.transmission_texture).x,
            ),
            diffuse_transmission: spread,
            diffuse_transmission_color: (through.color.as_dvec3() * color(through.color_texture))
                .clamp(DVec3::ZERO, DVec3::ONE),
            coat: coated,
            coat_alpha: coat_roughness * coat_roughness,
            border: border.then(|| material.volume.absorption()),
            unlit: material.unlit,
        }
    }

    /// Factor of a material's emission at a point of a triangle: texture and opacity (0 to 1 per
    /// channel), and the weight of the clearcoat over it.
    pub fn glow(&self, primitive: &Primitive, triangle: u32, weights: Vec3) -> (DVec3, f64) {
        let material = self.material(primitive);
        let at = Attributes::new(primitive, triangle, weights);
        let texture =
            texel(self.scene, material.emissive_texture, at.uv, Coding::Srgb).unwrap_or(DVec4::ONE);
        let opacity = match material.alpha {
            AlphaMode::Opaque => 1.0,
            AlphaMode::Mask { cutoff } => {
                f64::from(u8::from(self.base(material, &at).w >= f64::from(cutoff)))
            }
            AlphaMode::Blend => self.base(material, &at).w.clamp(0.0, 1.0),
        };
        let coat = &material.clearcoat;
        let coat = if coat.factor > 0.0 {
            let texel =
                texel(self.scene, coat.texture, at.uv, Coding::Linear).unwrap_or(DVec4::ONE);
            (f64::from(coat.factor) * texel.x).clamp(0.0, 1.0)
        } else {
            0.0
        };
        (texture.truncate() * opacity, coat)
    }
}

/// Luminance of a flux; 0 if it is NaN.
pub(super) fn strength(flux: DVec3) -> f64 {
    let value = luminance(flux);
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}
