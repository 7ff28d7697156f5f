//! A scene prepared for path tracing: BVH, materials with textures in linear light, lights with
//! sampling probabilities.

mod light_choice;
mod lobes;
mod smooth_surface;

use std::sync::atomic::{AtomicU64, Ordering};

use glam::{DAffine3, DVec2, DVec3, DVec4, Vec2, Vec3};

use smooth_surface::smooth_offset;

use super::{
    bsdf::{Bsdf, GlassInterface},
    kind_visibility::KindVisibility,
    lights::{LightSample, Lights, TrianglePoint},
    media::{MediaStack, Medium},
    shading::{ShadingFrame, view_in},
    volumes::Volumes,
};
use crate::{
    bvh::{PreciseHit, PreciseRay, Ray, SceneBvh, SceneTlas, TraversalStats},
    scene::{
        AlphaMode, Material, Primitive, Scene, TextureRef, Water,
        texture_lookup::{Coding, texel},
        water::FOAM_REFLECTANCE,
    },
};

/// A scene prepared for path tracing. Positions are relative to an eye.
pub struct World<'a> {
    scene: &'a Scene,
    bvh: SceneBvh,
    tlas: SceneTlas,
    /// Per-instance data.
    instances: Vec<Place<'a>>,
    default_material: Material,
    /// Medium that each material encloses; empty without volumes.
    media: Vec<Option<Medium>>,
    /// Media around the eye.
    eye_media: MediaStack,
    /// Position of the eye in the world (m).
    eye: DVec3,
    /// Number of traced rays.
    rays: RayCount,
    /// Cached visibility of the kinds of light sources.
    pub(super) kind_visibility: KindVisibility,
    /// Light sources.
    pub lights: Lights,
    /// Participating media.
    pub volumes: Volumes,
}

/// Data shared by all points of an instance.
struct Place<'a> {
    /// Object space to eye space.
    to_eye: DAffine3,
    /// Rows of the transform from eye space to object space; its transpose transforms normals back.
    rows: [DVec3; 3],
    /// -1 for a mirroring transform, else 1.
    handedness: f64,
    primitive: Option<&'a Primitive>,
    material: Option<&'a Material>,
    /// Material of the volume that its triangles enclose.
    boundary_material: Option<u32>,
}

impl Place<'_> {
    fn normal(&self, n: DVec3) -> DVec3 {
        (self.rows[0] * n.x + self.rows[1] * n.y + self.rows[2] * n.z).normalize_or(DVec3::Y)
    }
}

/// Maximum number of successive transmissive surfaces: hundreds of layers transmit no visible
/// light.
const LAYERS: usize = 256;

/// A point of the smooth surface that vertex normals describe, before a triangle: the origin of rays
/// that the triangle alone would block (docs/reference.md).
#[derive(Clone, Copy, Debug)]
pub struct SmoothPoint {
    /// Position relative to the eye (m).
    pub position: DVec3,
    /// Unit interpolated normal, without normal map, on the side of the ray.
    pub normal: DVec3,
}

/// A surface hit of a ray.
#[derive(Clone, Copy, Debug)]
pub struct SurfacePoint {
    /// Position relative to the eye (m).
    pub position: DVec3,
    /// The smooth surface of the vertex normals there, if it lies before the triangle.
    pub smooth: Option<SmoothPoint>,
    /// Unit normal of the triangle, on the side of the ray.
    pub geometric_normal: DVec3,
    /// Unit shading normal, on the side of the ray.
    pub normal: DVec3,
    /// Unit tangent along which highlights are stretched; `None` for isotropic ones.
    pub tangent: Option<DVec3>,
    /// True on the front side as glTF defines it.
    pub front: bool,
    /// Scattering of the surface.
    pub bsdf: Bsdf,
    /// Emission towards the ray (nits per channel).
    pub emission: DVec3,
    /// Opacity, 0 to 1.
    pub opacity: f64,
    /// Base color of an unlit surface, which light does not affect.
    pub unlit: Option<DVec3>,
    /// Index of its emissive triangle, if any.
    pub emitter: Option<usize>,
    /// Distance (m).
    pub distance: f64,
    /// Material of the volume that begins or ends here.
    pub boundary_material: Option<u32>,
}

/// An unblended surface, with data that only the raster renderer uses.
#[derive(Clone, Copy, Debug)]
pub struct OpaqueHit {
    /// The surface hit.
    pub point: SurfacePoint,
    /// Occlusion of indirect light from the material's map, 0 (occluded) to 1. Paths do not use it:
    /// their rays find the occluders (docs/ambient-occlusion.md).
    pub occlusion: f64,
    /// Roughness from the material, 0 to 1.
    pub roughness: f64,
}

/// Ray counters, one cache line per thread to avoid contention.
struct RayCount([Line; 64]);

#[derive(Default)]
#[repr(align(64))]
struct Line(AtomicU64);

impl Default for RayCount {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Line::default()))
    }
}

impl RayCount {
    fn add(&self, count: u64) {
        let thread = rayon::current_thread_index().unwrap_or(0);
        self.0[thread % 64].0.fetch_add(count, Ordering::Relaxed);
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|line| line.0.load(Ordering::Relaxed)).sum()
    }
}

impl<'a> World<'a> {
    /// Prepares a scene for paths from an eye (m, world space).
    #[must_use]
    pub fn new(scene: &'a Scene, eye: DVec3) -> Self {
        let mut bvh = SceneBvh::new(scene, |_| true);
        bvh.build_wide();
        let top = bvh.tlas_from(eye);
        let mut media: Vec<_> = scene.materials.iter().map(Medium::of).collect();
        if media.iter().all(Option::is_none) {
            media.clear();
        }
        let places =
            (0..top.instances.len()).map(|index| place(scene, &bvh, &top, &media, index)).collect();
        let mut world = Self {
            scene,
            bvh,
            tlas: top,
            instances: places,
            default_material: Material::default(),
            media,
            eye_media: MediaStack::default(),
            eye,
            rays: RayCount::default(),
            kind_visibility: KindVisibility::default(),
            lights: Lights::default(),
            volumes: Volumes::new(scene, eye),
        };
        world.lights = Lights::new(scene, eye, &world.bvh, &world.tlas, |at, direction| {
            world.emission_coverage(at, direction)
        });
        world.eye_media = world.find_media_around_eye();
        world
    }

    /// The water settings of a material, if it is water.
    pub(super) fn water(&self, material: u32) -> Option<&Water> {
        self.scene.materials.get(material as usize)?.water.as_deref()
    }

    /// True if emissive surfaces illuminate others; otherwise they are only visible.
    pub(super) const fn emissive_surfaces_illuminate(&self) -> bool {
        self.scene.emissive_lights
    }

    /// The current medium of a stack; `None` for air.
    #[must_use]
    pub fn medium(&self, media: &MediaStack) -> Option<&Medium> {
        self.media.get(media.current()? as usize)?.as_ref()
    }

    /// Media around a position near the eye: those of the eye, changed by each boundary on the way.
    #[must_use]
    pub fn media_at(&self, place: DVec3) -> MediaStack {
        let distance = place.length();
        if self.media.is_empty() || distance == 0.0 {
            return self.eye_media;
        }
        let mut media = self.eye_media;
        self.borders(place / distance, distance, |material, front| {
            media =
                if front { media.enter(material) } else { media.exit(material).unwrap_or(media) };
        });
        media
    }

    /// Finds the media around the eye by a ray to the sky: it is inside each volume that the ray
    /// leaves without having entered it. The ray goes up, so that it works for the open surface
    /// mesh of a lake.
    fn find_media_around_eye(&self) -> MediaStack {
        let mut left = Vec::new();
        let mut on_the_way = MediaStack::default();
        if !self.media.is_empty() {
            self.borders(
                DVec3::new(0.093, 0.991, 0.097).normalize(),
                f64::INFINITY,
                |material, front| {
                    if front {
                        on_the_way = on_the_way.enter(material);
                    } else if let Some(before) = on_the_way.exit(material) {
                        on_the_way = before;
                    } else {
                        left.push(material);
                    }
                },
            );
        }
        // The volume left first was entered last.
        left.iter().rev().fold(MediaStack::default(), |media, &material| media.enter(material))
    }

    /// Volume boundaries on a straight line from the eye: the material, and whether the line enters
    /// it.
    fn borders(&self, direction: DVec3, distance: f64, mut on_hit: impl FnMut(u32, bool)) {
        let mut ray =
            PreciseRay { t_max: distance, ..PreciseRay::new(DVec3::ZERO, direction, DVec3::ZERO) };
        for _ in 0..LAYERS {
            let Some(hit) = self.bvh.closest_f64(&self.tlas, &ray) else { return };
            if let Some(material) = self.border_of(&hit) {
                on_hit(material, self.geometric(&hit).dot(ray.direction) < 0.0);
            }
            ray.t_min = beyond(hit.t);
        }
    }

    fn border_of(&self, hit: &PreciseHit) -> Option<u32> {
        self.place_of(hit).boundary_material
    }

    /// Unit normal of a triangle's front.
    fn geometric(&self, hit: &PreciseHit) -> DVec3 {
        let place = self.place_of(hit);
        let triangle = self.bvh.triangles[hit.triangle as usize];
        let (a, b, c) = (triangle.a.as_dvec3(), triangle.b.as_dvec3(), triangle.c.as_dvec3());
        place.normal((b - a).cross(c - a))
    }

    fn place_of(&self, hit: &PreciseHit) -> &Place<'a> {
        &self.instances[hit.instance as usize]
    }

    /// The nearest surface along a ray, whose origin is offset from the surface that it leaves.
    #[must_use]
    pub fn closest(&self, origin: DVec3, direction: DVec3, away: DVec3) -> Option<SurfacePoint> {
        let ray = PreciseRay::new(origin, direction, away);
        self.rays.add(1);
        let hit = self.bvh.closest_f64(&self.tlas, &ray)?;
        Some(self.point(&ray, &hit))
    }

    /// Number of rays traced so far.
    #[must_use]
    pub fn rays(&self) -> u64 {
        self.rays.sum()
    }

    /// The nearest unblended surface along a ray from the eye: the content of the raster renderer's
    /// G-buffer.
    #[must_use]
    pub fn closest_opaque(&self, origin: DVec3, direction: DVec3) -> Option<OpaqueHit> {
        let mut ray = PreciseRay::new(origin, direction, DVec3::ZERO);
        for _ in 0..LAYERS {
            let hit = self.bvh.closest_f64(&self.tlas, &ray)?;
            let material = self.material_of(&hit);
            if material.alpha == AlphaMode::Blend {
                ray.t_min = beyond(hit.t);
                continue;
            }
            let (mut occlusion, mut roughness) = (1.0, f64::from(material.roughness));
            if let Some(primitive) = self.place_of(&hit).primitive {
                let at = VertexAttributes::new(
                    primitive,
                    self.bvh.sources[hit.triangle as usize],
                    hit.weights(),
                );
                let texel = |texture| self.sample(texture, &at, false).unwrap_or(DVec4::ONE);
                occlusion += f64::from(material.occlusion_strength)
                    * (texel(material.occlusion_texture).x - 1.0);
                roughness *= texel(material.metallic_roughness_texture).y;
            }
            return Some(OpaqueHit {
                point: self.point(&ray, &hit),
                occlusion,
                roughness: roughness.clamp(0.0, 1.0),
            });
        }
        None
    }

    /// BVH traversal cost of a ray from the eye.
    #[must_use]
    pub fn cost(&self, origin: DVec3, direction: DVec3) -> TraversalStats {
        let ray = Ray {
            origin: origin.as_vec3(),
            direction: direction.as_vec3(),
            t_min: 0.0,
            t_max: f32::INFINITY,
            offset_normal: Vec3::ZERO,
        };
        self.bvh.traversal_stats(&self.tlas, &ray)
    }

    /// Transmittance of a shadow ray from a point, left on the side of `away`, to a light sample,
    /// through blended surfaces and smooth thin walls. Refracting surfaces block.
    #[must_use]
    pub fn transmittance(&self, origin: DVec3, away: DVec3, light: &LightSample) -> DVec3 {
        let direction = light.direction;
        let mut ray =
            PreciseRay { t_max: light.end(origin), ..PreciseRay::new(origin, direction, away) };
        let is_light = |hit: &PreciseHit| {
            light
                .triangle_point
                .is_some_and(|on| (on.instance, on.triangle) == (hit.instance, hit.triangle))
        };
        // Most rays hit an opaque surface or nothing: their hits need no order.
        let mut layered = false;
        let solid = |hit: &PreciseHit| {
            let solid = !lets_through(self.material_of(hit)) && !is_light(hit);
            layered |= !solid;
            solid
        };
        if self.bvh.occluded_f64(&self.tlas, &ray, solid) {
            return DVec3::ZERO;
        }
        if !layered {
            return DVec3::ONE;
        }
        let mut through = DVec3::ONE;
        self.rays.add(1);
        for _ in 0..LAYERS {
            let Some(hit) = self.bvh.closest_f64(&self.tlas, &ray) else { return through };
            if is_light(&hit) {
                return through;
            }
            if !lets_through(self.material_of(&hit)) {
                return DVec3::ZERO;
            }
            let point = self.point(&ray, &hit);
            through *= 1.0 - point.opacity + point.opacity * point.straight_through(direction);
            if through.max_element() <= 0.0 {
                return DVec3::ZERO;
            }
            ray.t_min = beyond(hit.t);
        }
        DVec3::ZERO
    }

    /// Emission factor of a point of an emissive triangle in the direction opposite to `direction`:
    /// texture, opacity and the coat over it.
    #[must_use]
    pub fn emission_coverage(&self, at: &TrianglePoint, direction: DVec3) -> DVec3 {
        let barycentric = at.barycentric.as_dvec2();
        let hit = PreciseHit { t: 0.0, instance: at.instance, triangle: at.triangle, barycentric };
        let material = self.material_of(&hit);
        let Some(primitive) = self.place_of(&hit).primitive else { return DVec3::ONE };
        let at = VertexAttributes::new(
            primitive,
            self.bvh.sources[hit.triangle as usize],
            hit.weights(),
        );
        let mut emissive =
            self.sample(material.emissive_texture, &at, true).map_or(DVec3::ONE, DVec4::truncate);
        if material.clearcoat.factor > 0.0 {
            emissive *= self.below_coat(material, &self.axes(&hit, &at), &at, -direction);
        }
        let opacity = || {
            let texture =
                self.sample(material.base_color_texture, &at, true).map_or(1.0, |texel| texel.w);
            at.color.w * f64::from(material.base_color.w) * texture
        };
        match material.alpha {
            AlphaMode::Opaque => emissive,
            AlphaMode::Mask { cutoff } if opacity() < f64::from(cutoff) => DVec3::ZERO,
            AlphaMode::Mask { .. } => emissive,
            AlphaMode::Blend => emissive * opacity().clamp(0.0, 1.0),
        }
    }

    fn material_of(&self, hit: &PreciseHit) -> &Material {
        self.place_of(hit).material.unwrap_or(&self.default_material)
    }

    fn point(&self, ray: &PreciseRay, hit: &PreciseHit) -> SurfacePoint {
        let place = self.place_of(hit);
        let material = place.material.unwrap_or(&self.default_material);
        let triangle = self.bvh.triangles[hit.triangle as usize];
        let weights = hit.weights();
        let direction = ray.direction;
        let (a, b, c) = (triangle.a.as_dvec3(), triangle.b.as_dvec3(), triangle.c.as_dvec3());
        // In the triangle's plane, from which the next ray is offset.
        let position = place.to_eye.transform_point3(hit.inside(&triangle));
        // The inverse transpose keeps the outer side under mirroring, while the winding flips.
        let geometric = place.normal((b - a).cross(c - a));
        let front = geometric.dot(direction) < 0.0;

        let mut at = VertexAttributes {
            normal: Vec3::ZERO,
            tangent: DVec4::ZERO,
            uv: [Vec2::ZERO; 2],
            color: DVec4::ONE,
        };
        if let Some(primitive) = place.primitive {
            at = VertexAttributes::new(primitive, self.bvh.sources[hit.triangle as usize], weights);
        }
        let base = at.color
            * material.base_color.as_dvec4()
            * self.sample(material.base_color_texture, &at, true).unwrap_or(DVec4::ONE);
        let metallic_roughness =
            self.sample(material.metallic_roughness_texture, &at, false).unwrap_or(DVec4::ONE);
        let emissive = self.sample(material.emissive_texture, &at, true).unwrap_or(DVec4::ONE);

        let axes = self.axes(hit, &at);
        let mut normal = self.bumped(&axes, material.normal_texture, material.normal_scale, &at);
        let side = if front { 1.0 } else { -1.0 };
        let roughness = (f64::from(material.roughness) * metallic_roughness.y).clamp(0.0, 1.0);
        let emits = front || material.double_sided;
        let mut color = base.truncate().clamp(DVec3::ZERO, DVec3::ONE);
        let mut foam = 0.0;
        if let Some(water) = &material.water {
            let place = DVec2::new(position.x + self.eye.x, position.z + self.eye.z);
            let slope = water.slope_at(place, self.scene.time);
            normal = (normal - DVec3::new(slope.x, 0.0, slope.y) * normal.y.signum())
                .normalize_or(normal);
            foam = water.foam_at(place, self.scene.time);
            // One color represents the reflection of foam and the transmission of the rest: a
            // linear blend.
            color *= 1.0 - foam * (1.0 - f64::from(FOAM_REFLECTANCE));
        }
        let ior = f64::from(material.ior);
        let mut transmission = f64::from(material.transmission);
        if !material.transmits() {
            transmission = 0.0;
        } else if material.water.is_some() {
            transmission *= 1.0 - foam;
        } else if material.transmission_texture.is_some() {
            transmission *=
                self.sample(material.transmission_texture, &at, false).map_or(1.0, |texel| texel.x);
        }
        let mut bsdf = Bsdf {
            base_color: color,
            metallic: (f64::from(material.metallic) * metallic_roughness.z).clamp(0.0, 1.0),
            alpha: roughness * roughness,
            f0: ((ior - 1.0) / (ior + 1.0)).powi(2),
            transmission: transmission.clamp(0.0, 1.0),
            interface: GlassInterface::ThinWalled { eta: ior },
            ..Bsdf::default()
        };
        let hit_side = HitSide {
            front,
            is_volume_boundary: place.boundary_material.is_some(),
            normal: normal * side,
        };
        let tangent = self.lobes(material, &axes, &at, &hit_side, &mut bsdf);
        let mut emission = DVec3::ZERO;
        if emits && !material.unlit && material.emission != Vec3::ZERO {
            emission = material.emission.as_dvec3() * emissive.truncate();
            emission *= self.below_coat(material, &axes, &at, -direction.normalize_or(DVec3::Z));
        }
        let smooth = place.primitive.and_then(|primitive| {
            let source = self.bvh.sources[hit.triangle as usize];
            let normals = vertex_normals(primitive, source)?;
            let offset = smooth_offset([a, b, c], normals, weights.as_dvec3(), !front)?;
            Some(SmoothPoint {
                position: position + place.to_eye.transform_vector3(offset),
                normal: place.normal(at.normal.as_dvec3()) * side,
            })
        });
        SurfacePoint {
            position,
            smooth,
            geometric_normal: geometric * side,
            normal: normal * side,
            tangent,
            front,
            bsdf,
            emission,
            opacity: if material.alpha == AlphaMode::Blend { base.w.clamp(0.0, 1.0) } else { 1.0 },
            unlit: material.unlit.then_some(color),
            emitter: (material.emission != Vec3::ZERO)
                .then(|| self.lights.emitter_at(hit.instance, hit.triangle))
                .flatten(),
            distance: (position - ray.origin).length(),
            boundary_material: place.boundary_material,
        }
    }

    /// Bilinear texture lookup at full resolution; colors (`srgb`) are linearized before filtering.
    fn sample(
        &self,
        reference: Option<TextureRef>,
        at: &VertexAttributes,
        srgb: bool,
    ) -> Option<DVec4> {
        let coding = if srgb { Coding::Srgb } else { Coding::Linear };
        texel(self.scene, reference, at.uv, coding)
    }
}

fn place<'a>(
    scene: &'a Scene,
    bvh: &SceneBvh,
    top: &SceneTlas,
    media: &[Option<Medium>],
    instance: usize,
) -> Place<'a> {
    let to_eye = bvh.to_eye(top, instance as u32).unwrap_or_default();
    let inverse = bvh.inverse_linear(instance as u32).unwrap_or_default();
    let primitive = (bvh.instance_blas(instance as u32))
        .and_then(|(_, blas)| scene.meshes.get(blas.mesh)?.primitives.get(blas.primitive));
    let material = primitive.and_then(|primitive| primitive.material);
    Place {
        to_eye,
        rows: [0, 1, 2].map(|row| inverse.row(row)),
        handedness: if inverse.determinant() < 0.0 { -1.0 } else { 1.0 },
        primitive,
        material: material.and_then(|material| scene.materials.get(material)),
        boundary_material: material
            .filter(|&material| matches!(media.get(material), Some(Some(_))))
            .map(|m| m as u32),
    }
}

impl SurfacePoint {
    /// Fraction of light from a direction that passes straight through, as if the surface were
    /// absent.
    #[must_use]
    pub fn straight_through(&self, direction: DVec3) -> DVec3 {
        if self.bsdf.transmission <= 0.0 || self.boundary_material.is_some() {
            return DVec3::ZERO;
        }
        self.bsdf.straight_through(view_in(&self.frame(), -direction))
    }

    /// Origin of rays that leave in a direction that is on the side of the shading normal; `None`
    /// if they would only meet the triangle itself.
    pub(super) fn reflection_origin(&self, direction: DVec3) -> Option<DVec3> {
        if direction.dot(self.geometric_normal) > 0.0 {
            return Some(self.position);
        }
        let smooth = self.smooth.filter(|smooth| direction.dot(smooth.normal) > 0.0)?;
        Some(smooth.position)
    }

    /// The shading frame.
    pub(super) fn frame(&self) -> ShadingFrame {
        ShadingFrame::with_tangent(self.normal, self.tangent)
    }
}

/// `t_min` with which a ray continues behind a hit.
fn beyond(t: f64) -> f64 {
    t.next_up() * (1.0 + 1e-10)
}

/// The side of a surface that a ray hits.
struct HitSide {
    /// True on the front side as glTF defines it.
    front: bool,
    /// True if the surface bounds a volume.
    is_volume_boundary: bool,
    /// Shading normal, on the side of the ray.
    normal: DVec3,
}

/// Attributes of a primitive at a point of a triangle.
struct VertexAttributes {
    normal: Vec3,
    tangent: DVec4,
    uv: [Vec2; 2],
    color: DVec4,
}

/// Unit vertex normals of a triangle of a primitive; `None` without normals.
fn vertex_normals(primitive: &Primitive, triangle: u32) -> Option<[DVec3; 3]> {
    let first = triangle as usize * 3;
    let corners = primitive.indices.get(first..first + 3)?;
    let mut normals = [DVec3::ZERO; 3];
    for (normal, &vertex) in normals.iter_mut().zip(corners) {
        *normal = primitive.normals.get(vertex as usize)?.as_dvec3().normalize_or_zero();
    }
    Some(normals)
}

impl VertexAttributes {
    fn new(primitive: &Primitive, triangle: u32, weights: Vec3) -> Self {
        let corner =
            |i: usize| primitive.indices.get(triangle as usize * 3 + i).map_or(0, |&v| v as usize);
        let corners = [(corner(0), weights.x), (corner(1), weights.y), (corner(2), weights.z)];
        // Most meshes lack some of them.
        let uv = |list: &[Vec2]| {
            if list.is_empty() {
                return Vec2::ZERO;
            }
            corners.iter().map(|&(v, w)| list.get(v).copied().unwrap_or_default() * w).sum()
        };
        let normal = corners
            .iter()
            .map(|&(v, w)| primitive.normals.get(v).copied().unwrap_or_default() * w)
            .sum();
        let mut tangent = DVec4::ZERO;
        if !primitive.tangents.is_empty() {
            let of = |v: usize| primitive.tangents.get(v).map_or(DVec4::ZERO, |t| t.as_dvec4());
            tangent = corners.iter().map(|&(v, w)| of(v) * f64::from(w)).sum();
        }
        let handedness = if primitive.tangents.is_empty() { 0.0 } else { tangent.w.signum() };
        let color = if primitive.colors.is_empty() {
            DVec4::ONE
        } else {
            corners
                .iter()
                .map(|&(v, w)| {
                    primitive.colors.get(v).map_or(DVec4::ONE, |c| c.as_dvec4()) * f64::from(w)
                })
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

/// True if light may pass straight through: blended surfaces and thin walls.
fn lets_through(material: &Material) -> bool {
    material.alpha == AlphaMode::Blend || (material.transmits() && !material.encloses_volume())
}
