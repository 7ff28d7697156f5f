//! The BLASes of a scene, and the TLAS relative to an eye.

use bytemuck::{Pod, Zeroable};
use glam::{DMat3, DMat4, DVec3, Vec3, Vec4};
use rayon::prelude::*;

use super::{
    build::{self, BuildItem},
    mask::{self, MaskFactors, MaskVertex},
    node::{self, Aabb, BvhNode, NONE},
    triangle::{BvhTriangle, pack_normal},
    wide::{self, WideBvh, WideNode},
};
use crate::scene::{AlphaMode, Material, Primitive, Scene};

/// Maximum number of triangles in a leaf.
const MAX_LEAF: usize = 4;

/// Offset of a ray's origin from the surface that it leaves, as a fraction of the coordinates that
/// enter its computation: eight units in the last place of single precision.
pub const SLACK: f32 = 1.0 / (1 << 20) as f32;

/// Bit of `BvhInstance::surface`: shadow rays pass through the instance.
pub const NO_SHADOW: u32 = 1 << 31;

/// An instance of a primitive, relative to the eye: 80 bytes, in the device's layout.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct BvhInstance {
    /// Rows of the transform from eye space to object space.
    pub rows: [Vec4; 3],
    /// Root node of its BLAS.
    pub root: u32,
    /// Offset of the header of its alpha mask, or `NONE`.
    pub mask: u32,
    /// Added (wrapping) to a triangle's index: index of its mask vertices in `SceneBvh::corners`.
    pub corners: u32,
    /// Distance (m) by which rounding in object space may displace a ray at this instance.
    pub slack: f32,
    /// Material index, possibly with `NO_SHADOW`. A primitive without a material has the index
    /// after the last one.
    pub surface: u32,
    /// Index of its BLAS's first triangle.
    pub first: u32,
    /// Seed of the random cutoffs of blended surfaces (`SceneTlas::reseed`).
    pub seed: u32,
    /// Added (wrapping) to the bits of those cutoffs (`mask::frame_seed`).
    pub phase: u32,
}

impl BvhInstance {
    /// Transforms a point from eye space to object space.
    #[must_use]
    pub fn point(&self, p: Vec3) -> Vec3 {
        Vec3::new(
            self.rows[0].dot(p.extend(1.0)),
            self.rows[1].dot(p.extend(1.0)),
            self.rows[2].dot(p.extend(1.0)),
        )
    }

    /// Transforms a vector from eye space to object space.
    #[must_use]
    pub fn vector(&self, v: Vec3) -> Vec3 {
        Vec3::new(
            self.rows[0].dot(v.extend(0.0)),
            self.rows[1].dot(v.extend(0.0)),
            self.rows[2].dot(v.extend(0.0)),
        )
    }

    /// Transforms a normal from object space to eye space by the inverse transpose; not of unit
    /// length.
    #[must_use]
    pub fn normal(&self, n: Vec3) -> Vec3 {
        self.rows[0].truncate() * n.x
            + self.rows[1].truncate() * n.y
            + self.rows[2].truncate() * n.z
    }
}

/// The BLAS of one primitive.
#[derive(Clone, Copy, Debug)]
pub struct Blas {
    /// Index into `Scene::meshes`.
    pub mesh: usize,
    /// Index into the mesh's primitives.
    pub primitive: usize,
    /// Its nodes, first and count; the root comes first.
    pub nodes: (u32, u32),
    /// Its triangles, first and count.
    pub triangles: (u32, u32),
    pub(super) mask: u32,
    pub(super) corners: u32,
    pub(super) surface: u32,
    /// Greatest absolute coordinate.
    pub(super) max_coordinate: f32,
    /// A singular transform, applied to the vertices instead of to rays.
    pub(super) baked: Option<DMat3>,
    /// Bounds that replace the root's box while the device moves the vertices
    /// (`SceneBvh::set_blas_bounds`).
    pub(super) bounds_override: Option<Aabb>,
}

impl Blas {
    /// True if its triangles have an alpha mask: masked surfaces, and blended ones that are not
    /// opaque everywhere.
    #[must_use]
    pub const fn masked(&self) -> bool {
        self.mask != NONE
    }

    /// True if shadow rays hit it.
    #[must_use]
    pub const fn casts_shadows(&self) -> bool {
        self.surface & NO_SHADOW == 0
    }

    /// The singular transform baked into its vertices, where there is one.
    #[must_use]
    pub const fn baked_transform(&self) -> Option<DMat3> {
        self.baked
    }
}

/// Maximum factor (a transform's condition number) by which the error bound of an instance's points
/// grows.
const MAX_STRAIN: f64 = (1u64 << 20) as f64;

/// An instance of a primitive in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct SceneInstance {
    node: usize,
    blas: usize,
    pub(super) linear: DMat3,
    pub(super) inverse: DMat3,
    pub(super) translation: DVec3,
    /// Factor by which the inverse transform amplifies rounding, 1 to `MAX_STRAIN`.
    pub(super) condition_number: f64,
    /// Bounds in world space.
    low: DVec3,
    high: DVec3,
}

/// The BVH of a scene: all BLASes, and the instances of the TLAS.
#[derive(Clone, Debug, Default)]
pub struct SceneBvh {
    /// Nodes of all BLASes.
    pub nodes: Vec<BvhNode>,
    /// All triangles, in leaf order.
    pub triangles: Vec<BvhTriangle>,
    /// Index of each triangle within its primitive.
    pub sources: Vec<u32>,
    /// Vertices of the masked triangles.
    pub corners: Vec<[MaskVertex; 3]>,
    /// Alpha masks: headers and texels (see `mask::append`).
    pub masks: Vec<u32>,
    /// One BLAS per primitive, and per singular transform of it.
    pub blases: Vec<Blas>,
    /// The BLASes in wide nodes, for traversal on the host.
    pub(super) wide: Option<WideBvh>,
    pub(super) instances: Vec<SceneInstance>,
    tlas_nodes: Vec<BvhNode>,
    /// Those of the scene's materials, as of the build or the last `update_masks`.
    shadow_properties: Vec<ShadowProperties>,
}

/// The TLAS, relative to an eye.
#[derive(Clone, Debug)]
pub struct SceneTlas {
    /// Nodes, the root first.
    pub nodes: Vec<BvhNode>,
    /// Instances that its leaves refer to.
    pub instances: Vec<BvhInstance>,
    /// BLAS of each instance: index into `SceneBvh::blases`.
    pub(super) blas_indices: Vec<u32>,
    /// The nodes in wide form, for traversal on the host.
    pub(super) wide: Vec<WideNode>,
    /// The origin of eye space, in the world (m).
    pub(super) eye: DVec3,
}

impl SceneTlas {
    /// Sets the random numbers by which rays pass blended surfaces: others for each `number`, such
    /// as that of a frame; those of successive numbers are evenly spread for a ray.
    /// `SceneBvh::tlas_from` sets those of 0.
    pub fn reseed(&mut self, number: u32) {
        let (first, phase) = mask::frame_seed(number);
        for (index, instance) in self.instances.iter_mut().enumerate() {
            // Only alpha tests read it.
            if instance.mask != NONE {
                instance.seed = mask::hash(first.wrapping_add(index as u32));
                instance.phase = phase;
            }
        }
    }
}

/// True if a material casts shadows. Thin walls that transmit most light straight do not, nor do
/// water and blended materials of opacity 0; they neither attenuate nor tint it. All others occlude
/// with both faces, masked ones where the mask is present, blended ones by their opacity.
#[must_use]
pub fn casts_shadow(material: &Material) -> bool {
    let pane = material.transmits()
        && !material.encloses_volume()
        && material.transmission_texture.is_none()
        && material.transmission * (1.0 - material.metallic) > 0.5;
    let absent = material.alpha == AlphaMode::Blend && material.base_color.w <= 0.0;
    !absent && !pane && material.water.is_none()
}

/// Properties of a material that decide its shadow and that animations may change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadowProperties {
    casts: bool,
    /// Blended, and opaque where neither texture nor vertices make it transparent.
    solid: bool,
    mask: Option<MaskFactors>,
}

impl ShadowProperties {
    /// The properties of a material.
    #[must_use]
    pub fn of(material: &Material) -> Self {
        Self {
            casts: casts_shadow(material),
            solid: is_solid(material),
            mask: MaskFactors::of(material),
        }
    }

    /// True if the material casts shadows.
    #[must_use]
    pub const fn casts(&self) -> bool {
        self.casts
    }
}

fn is_solid(material: &Material) -> bool {
    material.alpha == AlphaMode::Blend && material.base_color.w >= 1.0
}

/// A BLAS with local indices, before it is appended to the others.
pub(super) struct Part {
    pub(super) mesh: usize,
    pub(super) primitive: usize,
    pub(super) baked: Option<DMat3>,
    pub(super) nodes: Vec<BvhNode>,
    pub(super) triangles: Vec<BvhTriangle>,
    pub(super) sources: Vec<u32>,
}

/// A transform is singular if its determinant is below this fraction of its norm cubed.
const FLAT: f64 = 1e-12;

fn is_singular(linear: &DMat3) -> bool {
    let volume = linear.determinant().abs();
    volume.is_nan() || volume <= FLAT * size(linear).powi(3)
}

/// Frobenius norm.
fn size(linear: &DMat3) -> f64 {
    linear.to_cols_array().iter().map(|v| v * v).sum::<f64>().sqrt()
}

impl SceneBvh {
    /// Builds the BLASes of all visible primitives whose material satisfies `wanted`, in parallel.
    /// The same scene gives the same bits. A primitive under a singular transform gets a BLAS of
    /// its own.
    #[must_use]
    pub fn new(scene: &Scene, wanted: impl Fn(&Material) -> bool + Sync) -> Self {
        let default = Material::default();
        let material = |part: &Primitive| {
            part.material.and_then(|m| scene.materials.get(m)).unwrap_or(&default).clone()
        };
        // Meshes that have instances, and their singular transforms.
        let mut shown = vec![false; scene.meshes.len()];
        let mut wishes: Vec<(usize, Option<DMat3>)> = Vec::new();
        for placed in scene.walk() {
            let Some(mesh) = placed.node.mesh.filter(|&mesh| mesh < shown.len()) else { continue };
            let linear = DMat3::from_mat4(placed.world);
            if is_singular(&linear) {
                wishes.push((mesh, Some(linear)));
            } else if !std::mem::replace(&mut shown[mesh], true) {
                wishes.push((mesh, None));
            }
        }
        let parts: Vec<Part> = wishes
            .par_iter()
            .flat_map_iter(|&(mesh, baked)| {
                let primitives = scene.meshes[mesh].primitives.iter().enumerate();
                let wanted = primitives
                    .filter(|(_, part)| part.indices.len() >= 3 && wanted(&material(part)));
                wanted
                    .map(move |(primitive, part)| (mesh, primitive, baked, part))
                    .collect::<Vec<_>>()
            })
            .map(|(mesh, primitive, baked, part)| build_blas(mesh, primitive, baked, part))
            .collect();
        let mut bvh = Self {
            shadow_properties: scene.materials.iter().map(ShadowProperties::of).collect(),
            ..Self::default()
        };
        let mut masks: Vec<Option<Option<u32>>> = vec![None; scene.materials.len()];
        // Materials that are opaque wherever their vertices are.
        let solid: Vec<bool> = (scene.materials.par_iter())
            .map(|material| is_solid(material) && mask::has_opaque_texture(scene, material))
            .collect();
        for part in parts {
            let source = &scene.meshes[part.mesh].primitives[part.primitive];
            let described = material(source);
            let mask = source.material.and_then(|index| {
                if solid.get(index) == Some(&true)
                    && source.colors.iter().all(|color| color.w >= 1.0)
                {
                    return None;
                }
                let known = masks.get_mut(index)?;
                *known.get_or_insert_with(|| mask::append(&mut bvh.masks, scene, &described))
            });
            let number = source.material.filter(|&index| index < scene.materials.len());
            let free = if casts_shadow(&described) { 0 } else { NO_SHADOW };
            let surface = number.unwrap_or(scene.materials.len()) as u32 | free;
            bvh.join(part, source, (&described, mask, surface));
        }
        bvh.rebuild_tlas(scene);
        bvh
    }

    /// True if the scene's materials cast shadows, or not, and blended ones are opaque, or not, as
    /// at the build; otherwise a new `SceneBvh` is needed.
    #[must_use]
    pub fn casts_as(&self, scene: &Scene) -> bool {
        self.shadow_properties.len() == scene.materials.len()
            && self.shadow_properties.iter().zip(&scene.materials).all(|(known, material)| {
                known.casts == casts_shadow(material) && known.solid == is_solid(material)
            })
    }

    /// Recomputes the alpha masks if factors of masked materials have changed; true if any has.
    /// Materials, textures and triangles are those of the build.
    pub fn update_masks(&mut self, scene: &Scene) -> bool {
        let current: Vec<ShadowProperties> =
            scene.materials.iter().map(ShadowProperties::of).collect();
        let factors = |list: &[ShadowProperties]| -> Vec<_> {
            list.iter().map(|properties| properties.mask).collect()
        };
        if factors(&current) == factors(&self.shadow_properties) {
            return false;
        }
        self.shadow_properties = current;
        self.masks.clear();
        self.corners.clear();
        // The order of the build, so that all offsets stay.
        let mut appended = vec![false; scene.materials.len()];
        for blas in self.blases.iter().filter(|blas| blas.masked()) {
            let source =
                scene.meshes.get(blas.mesh).and_then(|mesh| mesh.primitives.get(blas.primitive));
            let Some((source, index)) = source.and_then(|part| part.material.map(|m| (part, m)))
            else {
                continue;
            };
            let (Some(material), Some(appended)) =
                (scene.materials.get(index), appended.get_mut(index))
            else {
                continue;
            };
            if !std::mem::replace(appended, true) {
                mask::append(&mut self.masks, scene, material);
            }
            let (first, count) = (blas.triangles.0 as usize, blas.triangles.1 as usize);
            let sources = self.sources.get(first..first + count).unwrap_or_default();
            self.corners.extend(sources.iter().map(|&index| {
                mask::corners(material, source, vertices_of(source, index as usize))
            }));
        }
        true
    }

    /// Prepares for many rays on the host: converts the device's nodes to wide nodes with four
    /// children, which find the same hits. Takes about as much memory again (`wide_bytes`). TLASes
    /// are built for it from then on (`tlas_from`).
    pub fn build_wide(&mut self) {
        let ranges: Vec<(u32, u32)> = self.blases.iter().map(|blas| blas.nodes).collect();
        self.wide = Some(WideBvh::new(&self.nodes, &ranges, &self.triangles));
    }

    fn join(
        &mut self,
        part: Part,
        source: &Primitive,
        (material, mask, surface): (&Material, Option<u32>, u32),
    ) {
        let (nodes, triangles) = (self.nodes.len() as u32, self.triangles.len() as u32);
        let corners = self.corners.len() as u32;
        if mask.is_some() {
            self.corners.extend(part.sources.iter().map(|&index| {
                mask::corners(material, source, vertices_of(source, index as usize))
            }));
        }
        self.blases.push(Blas {
            mesh: part.mesh,
            primitive: part.primitive,
            nodes: (nodes, part.nodes.len() as u32),
            triangles: (triangles, part.triangles.len() as u32),
            mask: mask.unwrap_or(NONE),
            corners: corners.wrapping_sub(triangles),
            surface,
            max_coordinate: max_coordinate(&part.nodes),
            baked: part.baked,
            bounds_override: None,
        });
        self.nodes.extend(part.nodes.into_iter().map(|node| BvhNode {
            first: node.first + if node.count > 0 { triangles } else { nodes },
            ..node
        }));
        self.triangles.extend(part.triangles);
        self.sources.extend(part.sources);
    }

    /// Rebuilds the TLAS after nodes have moved. Nodes that now show other meshes, or whose
    /// transforms became or ceased to be singular, need a new `SceneBvh`.
    pub fn rebuild_tlas(&mut self, scene: &Scene) {
        let mut of_mesh: Vec<Vec<usize>> = vec![Vec::new(); scene.meshes.len()];
        for (index, blas) in self.blases.iter().enumerate() {
            if let Some(list) = of_mesh.get_mut(blas.mesh) {
                list.push(index);
            }
        }
        let mut places = Vec::new();
        for placed in scene.walk() {
            let Some(blas_indices) = placed.node.mesh.and_then(|mesh| of_mesh.get(mesh)) else {
                continue;
            };
            let linear = DMat3::from_mat4(placed.world);
            let flat = is_singular(&linear);
            for &blas in blas_indices {
                let baked = self.blases[blas].baked;
                let fits = if flat { baked == Some(linear) } else { baked.is_none() };
                if fits {
                    places.extend(self.instance_at(
                        placed.index,
                        blas,
                        if flat { DMat3::IDENTITY } else { linear },
                        placed.world,
                    ));
                }
            }
        }
        let middle = match (places.first(), places.last()) {
            (Some(_), Some(_)) => {
                let low =
                    places.iter().fold(DVec3::MAX, |low, place: &SceneInstance| low.min(place.low));
                let high = places
                    .iter()
                    .fold(DVec3::MIN, |high, place: &SceneInstance| high.max(place.high));
                low * 0.5 + high * 0.5
            }
            _ => DVec3::ZERO,
        };
        let mut items: Vec<BuildItem> = places
            .iter()
            .enumerate()
            .map(|(index, place)| BuildItem {
                bounds: round_outward(place.low - middle, place.high - middle, 0.0),
                index: index as u32,
            })
            .collect();
        self.tlas_nodes = build::build(&mut items, 1);
        self.instances =
            items.iter().filter_map(|item| places.get(item.index as usize).copied()).collect();
    }

    /// True if the BLASes match the scene's meshes and transforms, so that `rebuild_tlas` finds
    /// each of them.
    #[must_use]
    pub fn matches(&self, scene: &Scene) -> bool {
        let mut plain = vec![None; scene.meshes.len()];
        for blas in &self.blases {
            if let Some(slot) = plain.get_mut(blas.mesh) {
                let (whole, flat): &mut (bool, Vec<DMat3>) = slot.get_or_insert_default();
                match blas.baked {
                    None => *whole = true,
                    Some(linear) => flat.push(linear),
                }
            }
        }
        scene.walk().iter().all(|placed| {
            // A mesh without a BLAS has no primitive with a wanted material.
            let Some(Some((whole, flat))) =
                placed.node.mesh.map(|mesh| plain.get(mesh).cloned().flatten())
            else {
                return true;
            };
            let linear = DMat3::from_mat4(placed.world);
            if is_singular(&linear) { flat.contains(&linear) } else { whole }
        })
    }

    /// `None` where the transform is beyond the range of single precision.
    fn instance_at(
        &self,
        node: usize,
        blas: usize,
        linear: DMat3,
        world: DMat4,
    ) -> Option<SceneInstance> {
        let of = &self.blases[blas];
        let root =
            of.bounds_override.or(self.nodes.get(of.nodes.0 as usize).map(BvhNode::bounds))?;
        let translation = world.w_axis.truncate();
        let (low, high) = (root.low.as_dvec3(), root.high.as_dvec3());
        // Arvo 1990, "Transforming Axis-Aligned Bounding Boxes", Graphics Gems.
        let middle = translation + linear * ((low + high) * 0.5);
        let half = (high - low) * 0.5;
        let extent = linear.x_axis.abs() * half.x
            + linear.y_axis.abs() * half.y
            + linear.z_axis.abs() * half.z;
        // One Newton step after the adjugate, which loses digits where a matrix is ill-conditioned.
        let inverse = linear.inverse();
        let inverse = inverse + (DMat3::IDENTITY - inverse * linear) * inverse;
        let place = SceneInstance {
            node,
            blas,
            linear,
            inverse,
            translation,
            // 3 for a uniform scale.
            condition_number: (size(&linear) * size(&inverse) / 3.0).clamp(1.0, MAX_STRAIN),
            low: middle - extent,
            high: middle + extent,
        };
        let most = f64::from(f32::MAX) * 0.25;
        let fits = place.low.abs().max_element() < most && place.high.abs().max_element() < most;
        let inverse = place.inverse.to_cols_array().iter().all(|v| v.abs() < most);
        (fits && inverse).then_some(place)
    }

    /// The TLAS relative to an eye (m, world space): transforms and boxes subtracted in double
    /// precision, boxes rounded outward.
    #[must_use]
    pub fn tlas_from(&self, eye: DVec3) -> SceneTlas {
        let of = |place: &SceneInstance| {
            let blas = &self.blases[place.blas];
            // Eye space to object space: p' = L^-1 (p + eye - T).
            let shift = place.inverse * (eye - place.translation);
            let slack = size(&place.linear)
                * f64::from(SLACK)
                * (shift.abs().max_element() + f64::from(blas.max_coordinate));
            let row = |index: usize| place.inverse.row(index).extend(shift[index]).as_vec4();
            let instance = BvhInstance {
                rows: [row(0), row(1), row(2)],
                root: blas.nodes.0,
                mask: blas.mask,
                corners: blas.corners,
                slack: slack as f32,
                surface: blas.surface,
                first: blas.triangles.0,
                seed: 0,
                phase: 0,
            };
            (instance, round_outward(place.low - eye, place.high - eye, slack))
        };
        let both: Vec<(BvhInstance, Aabb)> =
            self.instances.par_iter().with_min_len(1024).map(of).collect();
        let mut nodes = self.tlas_nodes.clone();
        node::refit(&mut nodes, 0, |index| {
            both.get(index as usize).map_or(Aabb::EMPTY, |(_, bounds)| *bounds)
        });
        let wide = if self.wide.is_some() { wide::collapse_tlas(&nodes) } else { Vec::new() };
        let blas_indices = self.instances.iter().map(|place| place.blas as u32).collect();
        let mut top = SceneTlas {
            nodes,
            instances: both.into_iter().map(|(instance, _)| instance).collect(),
            blas_indices,
            wide,
            eye,
        };
        if !self.masks.is_empty() {
            top.reseed(0);
        }
        top
    }

    /// BLAS index of each instance, and the rows of the transform from its object space to eye
    /// space, in order. Subtracted in double precision, as in `tlas_from`.
    #[must_use]
    pub fn instance_transforms(&self, eye: DVec3) -> Vec<(u32, [[f32; 4]; 3])> {
        let of = |place: &SceneInstance| {
            let shift = place.translation - eye;
            let row =
                |index: usize| place.linear.row(index).extend(shift[index]).as_vec4().to_array();
            (place.blas as u32, [row(0), row(1), row(2)])
        };
        self.instances.iter().map(of).collect()
    }

    /// Index into `Scene::nodes` of an instance of the TLAS.
    #[must_use]
    pub fn instance_node(&self, instance: u32) -> Option<usize> {
        self.instances.get(instance as usize).map(|place| place.node)
    }

    /// Refits a primitive's BLAS to moved vertices and normals; its triangles must be those of the
    /// build. The bounds of the BLAS and of its instances are exact again; the topology is kept.
    pub fn refit(&mut self, mesh: usize, primitive: usize, moved: &Primitive) {
        for index in 0..self.blases.len() {
            let blas = self.blases[index];
            if (blas.mesh, blas.primitive) != (mesh, primitive) {
                continue;
            }
            let range = blas.triangles.0 as usize..(blas.triangles.0 + blas.triangles.1) as usize;
            for place in range {
                self.triangles[place] =
                    triangle(moved, self.sources[place] as usize, blas.baked.as_ref());
            }
            let (root, count) = blas.nodes;
            let (triangles, nodes) =
                (&self.triangles, &mut self.nodes[root as usize..(root + count) as usize]);
            node::refit(nodes, root, |index| triangles[index as usize].bounds());
            self.blases[index].max_coordinate = max_coordinate(nodes);
            self.blases[index].bounds_override = None;
            if let Some(wide) = &mut self.wide {
                wide.refit(index, &self.nodes, &self.triangles);
            }
        }
        for index in 0..self.instances.len() {
            let SceneInstance { node, blas, linear, translation, .. } = self.instances[index];
            let of = &self.blases[blas];
            if (of.mesh, of.primitive) == (mesh, primitive) {
                let world = DMat4::from_mat3_translation(linear, translation);
                if let Some(place) = self.instance_at(node, blas, linear, world) {
                    self.instances[index] = place;
                }
            }
        }
    }

    /// World-space bounds of all instances (m), as (minimum corner, maximum corner); `None` without
    /// instances.
    #[must_use]
    pub fn bounds(&self) -> Option<(DVec3, DVec3)> {
        self.instances
            .iter()
            .map(|place| (place.low, place.high))
            .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Scene node and BLAS of an instance of the TLAS.
    #[must_use]
    pub fn instance_blas(&self, instance: u32) -> Option<(usize, &Blas)> {
        let place = self.instances.get(instance as usize)?;
        Some((place.node, self.blases.get(place.blas)?))
    }

    /// Drops the data that only host rays need: triangles, masks and wide nodes. The rest serves
    /// `tlas_from`, `rebuild_tlas` and `update_masks`.
    pub fn drop_host_triangles(&mut self) {
        self.triangles = Vec::new();
        if !self.blases.iter().any(Blas::masked) {
            self.sources = Vec::new();
        }
        self.wide = None;
        self.corners = Vec::new();
        self.masks = Vec::new();
    }

    /// Bytes that `build_wide` adds.
    #[must_use]
    pub fn wide_bytes(&self) -> usize {
        self.wide.as_ref().map_or(0, WideBvh::bytes)
    }

    /// Bytes of all data that the device reads, without the TLAS.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice())
            + size_of_val(self.triangles.as_slice())
            + size_of_val(self.corners.as_slice())
            + size_of_val(self.masks.as_slice())
    }
}

pub(super) fn max_coordinate(nodes: &[BvhNode]) -> f32 {
    nodes.first().map_or(0.0, |root| root.low.abs().max(root.high.abs()).max_element())
}

/// The box in single precision, rounded outward and enlarged by `by`.
pub(super) fn round_outward(low: DVec3, high: DVec3, by: f64) -> Aabb {
    let down = |v: f64| {
        let single = v as f32;
        if f64::from(single) > v { single.next_down() } else { single }
    };
    let (low, high) = (low - by, high + by);
    Aabb {
        low: Vec3::new(down(low.x), down(low.y), down(low.z)),
        high: -Vec3::new(down(-high.x), down(-high.y), down(-high.z)),
    }
}

pub(super) fn vertices_of(primitive: &Primitive, triangle: usize) -> [u32; 3] {
    let at = |corner: usize| primitive.indices.get(triangle * 3 + corner).copied().unwrap_or(0);
    [at(0), at(1), at(2)]
}

fn triangle(primitive: &Primitive, index: usize, baked: Option<&DMat3>) -> BvhTriangle {
    let [a, b, c] = vertices_of(primitive, index).map(|vertex| {
        let vertex = vertex as usize;
        let position = primitive.positions.get(vertex).copied().unwrap_or_default();
        let normal = primitive.normals.get(vertex).copied().unwrap_or(Vec3::Y);
        (
            baked.map_or(position, |linear| (*linear * position.as_dvec3()).as_vec3()),
            pack_normal(normal),
        )
    });
    BvhTriangle { a: a.0, normal_a: a.1, b: b.0, normal_b: b.1, c: c.0, normal_c: c.1 }
}

pub(super) fn build_blas(
    mesh: usize,
    primitive: usize,
    baked: Option<DMat3>,
    part: &Primitive,
) -> Part {
    let count = part.indices.len() / 3;
    let triangles: Vec<BvhTriangle> = (0..count)
        .into_par_iter()
        .with_min_len(4096)
        .map(|index| triangle(part, index, baked.as_ref()))
        .collect();
    let mut items: Vec<BuildItem> = triangles
        .iter()
        .enumerate()
        .map(|(index, triangle)| BuildItem { bounds: triangle.bounds(), index: index as u32 })
        .collect();
    let nodes = build::build(&mut items, MAX_LEAF);
    let sources: Vec<u32> = items.iter().map(|item| item.index).collect();
    let triangles = sources.iter().map(|&index| triangles[index as usize]).collect();
    Part { mesh, primitive, baked, nodes, triangles, sources }
}
