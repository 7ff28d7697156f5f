//! What a photon meets: the place, its normal, and the material there.

use glam::{DAffine3, DVec3, DVec4, Vec2, Vec3};

use super::texture::{Coding, texel};
use crate::{
    bvh::{PreciseHit, SceneBvh, SceneTlas},
    photometry::color::luminance,
    scene::{AlphaMode, Material, Primitive, Scene},
};

/// A point of a surface that a ray has met, relative to the anchor.
pub(super) struct SurfaceHit {
    /// In the triangle's plane (m).
    pub position: DVec3,
    /// Unit normal of the triangle on the ray's side.
    pub geometric: DVec3,
    /// Unit normal of the mesh, interpolated, on the ray's side and never turned away from it.
    /// Normal maps are not in it.
    pub normal: DVec3,
    /// The normal by which what is reflected diffusely leaves, and how much of it there is: the
    /// triangle's where the mesh's is another, see `UNBENT`.
    pub sends: DVec3,
    pub lit: f64,
    /// What glTF calls the front was met.
    pub front: bool,
    /// How much of it is there, 0 to 1: the rest of the light goes straight on.
    pub opacity: f64,
    pub material: SurfaceMaterial,
}

/// A material at a point.
#[derive(Clone, Copy)]
pub(super) struct SurfaceMaterial {
    /// Linear, 0 to 1.
    pub base: DVec3,
    pub metallic: f64,
    /// Roughness squared.
    pub alpha: f64,
    /// Reflectance of the dielectric along the normal, and at grazing angles.
    pub f0: DVec3,
    pub f90: f64,
    pub ior: f64,
    /// Parts of the dielectric that are glass, and of what it reflects diffusely that leaves on the
    /// other side.
    pub transmission: f64,
    pub diffuse_transmission: f64,
    pub through_color: DVec3,
    /// How much clear coat there is, and its roughness squared.
    pub coat: f64,
    pub coat_alpha: f64,
    /// Absorption (1/m) behind it where it is the border of a volume.
    pub border: Option<DVec3>,
    /// No light acts on it.
    pub unlit: bool,
}

/// Cosine between a mesh's and a triangle's normal down to which they count as one. Beyond it,
/// light is as a path from the eye finds it: that weighs what comes in by the mesh's normal, and
/// sees what the triangle shows of itself. A photon comes in as often as the triangle's own cosine
/// says, so it has the quotient of both as its weight, and leaves by the triangle's normal (Veach
/// 1997, "Robust Monte Carlo Methods for Light Transport Simulation", section 5.3.2). Of nearly
/// even facets the quotient is 1 on the mean over each of them, and where it is left out no light
/// is gained or lost at all.
const UNBENT: f64 = 0.999;
/// The greatest such weight: light that grazes a triangle.
const MOST_LIT: f64 = 16.0;

/// The trees as seen from the anchor, with the scene they are of.
#[derive(Clone, Copy)]
pub(super) struct TraceScene<'a> {
    pub scene: &'a Scene,
    pub bvh: &'a SceneBvh,
    pub top: &'a SceneTlas,
    /// Of primitives without one.
    pub plain: &'a Material,
}

/// Attributes of a primitive at a point of a triangle.
pub(super) struct Attributes {
    pub normal: Vec3,
    pub uv: [Vec2; 2],
    pub color: DVec4,
}

impl Attributes {
    /// `weights` of the corners of the primitive's triangle.
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

/// From an instance's space to that of the anchor.
pub(super) struct ToAnchor {
    rows: [DVec3; 3],
    back: DAffine3,
}

impl ToAnchor {
    pub fn new(stage: &TraceScene, instance: u32) -> Option<Self> {
        let inverse = stage.bvh.inverse_linear(instance)?;
        Some(Self {
            rows: [0, 1, 2].map(|row| inverse.row(row)),
            back: stage.bvh.to_eye(stage.top, instance)?,
        })
    }

    pub fn point(&self, p: DVec3) -> DVec3 {
        self.back.transform_point3(p)
    }

    /// By the inverse transpose of the way back; zero for what has no direction.
    pub fn normal(&self, n: DVec3) -> DVec3 {
        (self.rows[0] * n.x + self.rows[1] * n.y + self.rows[2] * n.z).normalize_or_zero()
    }

    /// The front of a triangle, which stays the front in a mirror (glTF 2.0, section 3.7.4: winding
    /// by the determinant).
    pub fn facing(&self, a: DVec3, b: DVec3, c: DVec3) -> DVec3 {
        self.normal((b - a).cross(c - a))
    }
}

impl<'a> TraceScene<'a> {
    pub fn primitive(&self, instance: u32) -> Option<&'a Primitive> {
        let (_, bottom) = self.bvh.instance_blas(instance)?;
        self.scene.meshes.get(bottom.mesh)?.primitives.get(bottom.primitive)
    }

    pub fn material(&self, primitive: &Primitive) -> &'a Material {
        primitive.material.and_then(|index| self.scene.materials.get(index)).unwrap_or(self.plain)
    }

    /// What a ray has met; none where a triangle has no normal or an index is wrong.
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
        let lit = if unbent { 1.0 } else { (shaded.max(0.0) / met.max(1e-9)).min(MOST_LIT) };
        if normal.dot(geometric) <= 0.0 || normal.dot(direction) >= 0.0 {
            normal = geometric;
        }
        let opaque = material.alpha != AlphaMode::Blend;
        let base = self.base(material, &at);
        let surface = SurfaceHit {
            position: to_anchor.point(hit.inside(triangle)),
            geometric,
            normal,
            sends: if unbent { normal } else { geometric },
            lit,
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
        let factor = (f64::from(specular.factor) * plain(specular.texture).w).clamp(0.0, 1.0);
        // KHR_materials_specular, "Implementation". An index of 1 reflects nothing at any angle.
        let factor = if ior == 1.0 { 0.0 } else { factor };
        let tint = specular.color.as_dvec3() * color(specular.color_texture);
        let f0 =
            (((ior - 1.0) / (ior + 1.0)).powi(2) * tint).clamp(DVec3::ZERO, DVec3::ONE) * factor;
        let roughness = (f64::from(material.roughness) * mixed.y).clamp(0.0, 1.0);
        let part = |wanted: bool, factor: f32, texel: f64| {
            if wanted { (f64::from(factor) * texel).clamp(0.0, 1.0) } else { 0.0 }
        };
        let through = &material.diffuse_transmission;
        let spread = part(material.transmits_diffusely(), through.factor, plain(through.texture).w);
        let border = material.encloses_volume();
        // What lies on a volume lies outside of it.
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
            through_color: (through.color.as_dvec3() * color(through.color_texture))
                .clamp(DVec3::ZERO, DVec3::ONE),
            coat: coated,
            coat_alpha: coat_roughness * coat_roughness,
            border: border.then(|| material.volume.absorption()),
            unlit: material.unlit,
        }
    }

    /// What a material's emission is multiplied by at a point of a triangle: texture and opacity (0
    /// to 1 by channel), and how much clear coat lies over it.
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

/// Luminance of what may be anything: 0 for what is not a number.
pub(super) fn strength(flux: DVec3) -> f64 {
    let value = luminance(flux);
    if value.is_finite() { value.max(0.0) } else { 0.0 }
}
