//! A scene prepared for paths: trees, materials with their pictures in linear light, lights with their chances.

use glam::{DMat3, DVec3, DVec4, Vec2, Vec3};

use super::{
    bsdf::{Bsdf, MIN_ALPHA},
    lights::Lights,
};
use crate::{
    bvh::{Hit, Ray, SceneBvh, TopLevel},
    photometry::color::srgb_eotf,
    scene::{AlphaMode, Image, Material, Primitive, Sampler, Scene, TextureRef, Wrap},
};

/// A scene that paths walk through. Positions are relative to an eye.
pub struct World<'a> {
    scene: &'a Scene,
    bvh: SceneBvh,
    top: TopLevel,
    default_material: Material,
    /// What shines.
    pub lights: Lights,
}

/// A point of a surface that a ray has met.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint {
    /// Relative to the eye (m).
    pub position: DVec3,
    /// Unit normal of the triangle, on the side of the ray.
    pub geometric: DVec3,
    /// Unit shading normal, on the side of the ray.
    pub normal: DVec3,
    /// The side that glTF calls the front.
    pub front: bool,
    /// How it reflects.
    pub bsdf: Bsdf,
    /// What it emits towards the ray (nits by channel).
    pub emission: DVec3,
    /// How much of it is there.
    pub opacity: f64,
    /// It shows its base colour, and no light acts on it.
    pub unlit: Option<DVec3>,
    /// Which emissive triangle it lies on.
    pub emitter: Option<usize>,
    /// Distance (m).
    pub distance: f64,
}

impl<'a> World<'a> {
    /// Prepares a scene for paths from an eye.
    #[must_use]
    pub fn new(scene: &'a Scene, eye: DVec3) -> Self {
        let mut bvh = SceneBvh::new(scene, |_| true);
        bvh.widen();
        let top = bvh.seen_from(eye);
        let mut world = Self { scene, bvh, top, default_material: Material::default(), lights: Lights::default() };
        world.lights = Lights::new(scene, eye, &world.bvh, &world.top);
        world
    }

    /// The nearest surface along a ray, lifted off the surface it leaves.
    #[must_use]
    pub fn closest(&self, origin: DVec3, direction: DVec3, away: DVec3) -> Option<SurfacePoint> {
        let ray = Ray {
            origin: origin.as_vec3(),
            direction: direction.as_vec3(),
            t_min: 0.0,
            t_max: f32::INFINITY,
            away: away.as_vec3(),
        };
        let hit = self.bvh.closest(&self.top, &ray)?;
        Some(self.point(&ray, &hit))
    }

    /// How much of light gets from a point along a direction for a distance (m): what blended surfaces let through.
    #[must_use]
    pub fn transmittance(&self, origin: DVec3, direction: DVec3, distance: f64, away: DVec3) -> f64 {
        let mut ray = Ray {
            origin: origin.as_vec3(),
            direction: direction.as_vec3(),
            t_min: 0.0,
            // Trees lift the origin off its surface by some 1e-5 m: what lies at the ray's end must stay beyond it.
            t_max: (distance * (1.0 - 1e-4)) as f32,
            away: away.as_vec3(),
        };
        let mut through = 1.0;
        // Hundreds of layers let nothing through that counts.
        for _ in 0..256 {
            let Some(hit) = self.bvh.closest(&self.top, &ray) else { return through };
            let material = self.material_of(&hit);
            if material.alpha != AlphaMode::Blend {
                return 0.0;
            }
            through *= 1.0 - self.point(&ray, &hit).opacity;
            if through <= 0.0 {
                return 0.0;
            }
            ray.t_min = hit.t.next_up() * (1.0 + 1e-6);
        }
        0.0
    }

    fn primitive_of(&self, hit: &Hit) -> Option<(usize, &'a Primitive)> {
        let (node, bottom) = self.bvh.placed(hit.instance)?;
        let primitive = self.scene.meshes.get(bottom.mesh)?.primitives.get(bottom.primitive)?;
        Some((node, primitive))
    }

    fn material_of(&self, hit: &Hit) -> &Material {
        self.primitive_of(hit)
            .and_then(|(_, primitive)| self.scene.materials.get(primitive.material?))
            .unwrap_or(&self.default_material)
    }

    fn point(&self, ray: &Ray, hit: &Hit) -> SurfacePoint {
        let material = self.material_of(hit);
        let instance = self.top.instances[hit.instance as usize];
        let triangle = self.bvh.triangles[hit.triangle as usize];
        let weights = Vec3::new(1.0 - hit.barycentric.x - hit.barycentric.y, hit.barycentric.x, hit.barycentric.y);
        let direction = ray.direction.as_dvec3();
        // Rows go from the eye's space to the object's; a normal goes back by their transpose.
        let rows = [0, 1, 2].map(|i| instance.rows[i].truncate().as_dvec3());
        let to_eye = |n: DVec3| (rows[0] * n.x + rows[1] * n.y + rows[2] * n.z).normalize_or(DVec3::Y);
        let mirrored = DMat3::from_cols(rows[0], rows[1], rows[2]).determinant() < 0.0;
        let (a, b, c) = (triangle.a.as_dvec3(), triangle.b.as_dvec3(), triangle.c.as_dvec3());
        let sign = if mirrored { -1.0 } else { 1.0 };
        let geometric = to_eye((b - a).cross(c - a)) * sign;
        let front = geometric.dot(direction) < 0.0;

        let mut at = Interpolated { normal: Vec3::ZERO, tangent: DVec4::ZERO, uv: [Vec2::ZERO; 2], color: DVec4::ONE };
        if let Some((_, primitive)) = self.primitive_of(hit) {
            at = Interpolated::new(primitive, self.bvh.sources[hit.triangle as usize], weights);
        }
        let base = at.color
            * material.base_color.as_dvec4()
            * self.sample(material.base_color_texture, &at, true).unwrap_or(DVec4::ONE);
        let metallic_roughness = self.sample(material.metallic_roughness_texture, &at, false).unwrap_or(DVec4::ONE);
        let emissive = self.sample(material.emissive_texture, &at, true).unwrap_or(DVec4::ONE);

        let mut normal = to_eye(at.normal.as_dvec3());
        if let Some(bump) = self.sample(material.normal_texture, &at, false).filter(|_| at.tangent.w != 0.0) {
            // Columns of the object's transform are the rows' inverse.
            let to_world = DMat3::from_cols(rows[0], rows[1], rows[2]).transpose().inverse();
            let tangent = (to_world * at.tangent.truncate()).normalize_or(DVec3::X);
            let bitangent = normal.cross(tangent) * at.tangent.w * sign;
            let mut n = bump.truncate() * 2.0 - 1.0;
            n.x *= f64::from(material.normal_scale);
            n.y *= f64::from(material.normal_scale);
            normal = (tangent * n.x + bitangent * n.y + normal * n.z).normalize_or(normal);
        }
        let side = if front { 1.0 } else { -1.0 };
        let roughness = (f64::from(material.roughness) * metallic_roughness.y).clamp(0.0, 1.0);
        let emits = front || material.double_sided;
        let color = base.truncate().clamp(DVec3::ZERO, DVec3::ONE);
        SurfacePoint {
            position: (ray.origin.as_dvec3()) + direction * f64::from(hit.t),
            geometric: geometric * side,
            normal: normal * side,
            front,
            bsdf: Bsdf {
                base_color: color,
                metallic: (f64::from(material.metallic) * metallic_roughness.z).clamp(0.0, 1.0),
                alpha: (roughness * roughness).max(MIN_ALPHA),
            },
            emission: if emits { material.emission.as_dvec3() * emissive.truncate() } else { DVec3::ZERO },
            opacity: if material.alpha == AlphaMode::Blend { base.w.clamp(0.0, 1.0) } else { 1.0 },
            unlit: material.unlit.then_some(color),
            emitter: self.lights.emitter_at(hit.instance, hit.triangle),
            distance: f64::from(hit.t) * direction.length(),
        }
    }

    /// A texture at a point: bilinear, of the full picture; colours (`srgb`) made linear before they are mixed.
    fn sample(&self, reference: Option<TextureRef>, at: &Interpolated, srgb: bool) -> Option<DVec4> {
        let reference = reference?;
        let texture = self.scene.textures.get(reference.texture)?;
        let image = self.scene.images.get(texture.image)?;
        let uv = at.uv[usize::from(reference.uv_set.min(1))].extend(1.0);
        let [row0, row1] = reference.transform.map(Vec3::from);
        Some(bilinear(image, texture.sampler, row0.dot(uv), row1.dot(uv), srgb))
    }
}

/// Attributes of a primitive at a point of a triangle.
struct Interpolated {
    normal: Vec3,
    tangent: DVec4,
    uv: [Vec2; 2],
    color: DVec4,
}

impl Interpolated {
    fn new(primitive: &Primitive, triangle: u32, weights: Vec3) -> Self {
        let corner = |i: usize| primitive.indices.get(triangle as usize * 3 + i).map_or(0, |&v| v as usize);
        let corners = [(corner(0), weights.x), (corner(1), weights.y), (corner(2), weights.z)];
        let uv =
            |list: &[Vec2]| corners.iter().map(|&(v, w)| list.get(v).copied().unwrap_or_default() * w).sum::<Vec2>();
        let normal = corners.iter().map(|&(v, w)| primitive.normals.get(v).copied().unwrap_or_default() * w).sum();
        let tangent: DVec4 = corners
            .iter()
            .map(|&(v, w)| primitive.tangents.get(v).map_or(DVec4::ZERO, |t| t.as_dvec4()) * f64::from(w))
            .sum();
        let handedness = if primitive.tangents.is_empty() { 0.0 } else { tangent.w.signum() };
        let color = if primitive.colors.is_empty() {
            DVec4::ONE
        } else {
            corners
                .iter()
                .map(|&(v, w)| primitive.colors.get(v).map_or(DVec4::ONE, |c| c.as_dvec4()) * f64::from(w))
                .sum()
        };
        Self {
            normal,
            tangent: tangent.truncate().extend(handedness),
            uv: [uv(&primitive.uv0), uv(&primitive.uv1)],
            color,
        }
    }
}

fn bilinear(image: &Image, sampler: Sampler, u: f32, v: f32, srgb: bool) -> DVec4 {
    let (width, height) = (i64::from(image.width), i64::from(image.height));
    let texel = |x: i64, y: i64| {
        let x = wrap(x, width, sampler.wrap_u);
        let y = wrap(y, height, sampler.wrap_v);
        let at = ((y * width + x) * 4) as usize;
        let byte = |i: usize| f64::from(image.rgba8.get(at + i).copied().unwrap_or(255)) / 255.0;
        let color = |i: usize| if srgb { srgb_eotf(byte(i)) } else { byte(i) };
        DVec4::new(color(0), color(1), color(2), byte(3))
    };
    let (x, y) = (f64::from(u) * width as f64, f64::from(v) * height as f64);
    if !sampler.mag_linear {
        return texel(x.floor() as i64, y.floor() as i64);
    }
    let (x, y) = (x - 0.5, y - 0.5);
    let (x0, y0) = (x.floor(), y.floor());
    let (fx, fy) = (x - x0, y - y0);
    let (x0, y0) = (x0 as i64, y0 as i64);
    let row = |y: i64| texel(x0, y).lerp(texel(x0 + 1, y), fx);
    row(y0).lerp(row(y0 + 1), fy)
}

fn wrap(index: i64, size: i64, mode: Wrap) -> i64 {
    match mode {
        Wrap::Repeat => index.rem_euclid(size),
        Wrap::Clamp => index.clamp(0, size - 1),
        Wrap::Mirror => {
            let folded = index.rem_euclid(2 * size);
            if folded < size { folded } else { 2 * size - 1 - folded }
        }
    }
}
