//! Deformed meshes on the device: bind pose, joint influences and morph targets.

use std::{collections::HashMap, sync::Arc};

use glam::{DMat4, Vec3, Vec4};

use super::{buffers::uploaded_buffer, geometry::Group, pose::DeformPose};
use crate::{
    gpu::{
        Buffer, Gpu, GpuResult,
        shader_structs::skin::{
            BindPoseVertex, Influence, MorphOffset, SKIN_FLAT, SKIN_TANGENTS, SkinConstants,
        },
        upload::Uploader,
    },
    scene::{Scene, animation::Deform},
};

/// Primitive that the device deforms.
#[derive(Clone, Copy, Debug)]
pub struct DeformedPrimitive {
    /// Index into `Scene::meshes`.
    pub mesh: usize,
    /// Index into the mesh's primitives.
    pub primitive: usize,
    /// Index of its first vertex among the scene's.
    pub vertices: u32,
    /// Minimum corner of a box around all its vertices (m, mesh space).
    pub low: Vec3,
    /// Maximum corner.
    pub high: Vec3,
}

/// Primitive with skinning or morph targets.
pub(crate) struct DeformPart {
    /// Index of its group.
    pub group: usize,
    /// Dispatch constants; `target` is its first vertex among the scene's.
    pub constants: SkinConstants,
    /// Its first vertex among all deformed vertices.
    pub own: u32,
    /// Node whose skin and weights deform it.
    node: usize,
    /// Joints with a bounding sphere each of the vertices that they influence, in mesh space.
    spheres: Vec<(usize, Vec3, f32)>,
    /// Maximum displacement of any vertex per unit of each morph weight (m).
    reach: Vec<f32>,
}

/// All primitives with skinning or morph targets.
pub(crate) struct Deformers {
    pub parts: Vec<DeformPart>,
    pub rest: Arc<Buffer>,
    pub influences: Arc<Buffer>,
    pub morphs: Arc<Buffer>,
    /// Number of deformed vertices.
    pub vertices: u32,
    /// Deforming nodes with the offsets of their matrices and weights.
    nodes: Vec<(usize, u32, u32)>,
}

/// Bounds of each deformed primitive in a scene's pose; none without deformed ones.
pub(super) fn moving_primitives(
    deformers: Option<&Deformers>,
    scene: &Scene,
    groups: &[Group],
) -> Vec<DeformedPrimitive> {
    deformers.map_or_else(Vec::new, |deformers| deformers.moving(scene, groups))
}

impl Deformers {
    /// Uploads all deformed primitives; `None` if there are none.
    pub(super) fn new(
        gpu: &Gpu,
        uploader: &mut Uploader,
        scene: &Scene,
        groups: &[Group],
    ) -> GpuResult<Option<Self>> {
        let node_of: HashMap<usize, usize> =
            scene.deformed().into_iter().map(|(node, mesh)| (mesh, node)).collect();
        if node_of.is_empty() {
            return Ok(None);
        }
        let (mut rest, mut influences, mut morphs) = (Vec::new(), Vec::new(), Vec::new());
        let (mut parts, mut nodes): (Vec<DeformPart>, Vec<(usize, u32, u32)>) =
            (Vec::new(), Vec::new());
        let (mut joints, mut weights) = (0u32, 0u32);
        for (index, group) in groups.iter().enumerate() {
            let Some((mesh, primitive)) = group.source else { continue };
            let Some(&node) = node_of.get(&mesh) else { continue };
            let Some(deform) = scene.meshes[mesh].primitives[primitive].deform.as_deref() else {
                continue;
            };
            let (palette, weight) = match nodes.iter().find(|(of, ..)| *of == node) {
                Some(&(_, palette, weight)) => (palette, weight),
                None => {
                    let places = (joints, weights);
                    nodes.push((node, joints, weights));
                    let skin = scene.nodes[node].skin.and_then(|skin| scene.skins.get(skin));
                    joints += skin.map_or(0, |skin| skin.joints.len()) as u32;
                    weights += scene.nodes[node].weights.len() as u32;
                    places
                }
            };
            let mut flags = if deform.flat { SKIN_FLAT } else { 0 };
            flags |= if deform.tangents.is_empty() { 0 } else { SKIN_TANGENTS };
            let first = rest.len() as u32;
            let count = deform.positions.len() as u32;
            let targets = scene.nodes[node].weights.len();
            append(deform, targets, &mut rest, &mut influences, &mut morphs);
            parts.push(DeformPart {
                group: index,
                constants: SkinConstants {
                    count,
                    rest: first,
                    target: group.vertex_offset as u32,
                    palette,
                    weights: weight,
                    flags,
                },
                own: first,
                node,
                spheres: spheres(deform),
                reach: reach(deform, targets),
            });
        }
        let vertices = rest.len() as u32;
        let mut upload = |name: &str, bytes: &[u8]| -> GpuResult<Arc<Buffer>> {
            uploaded_buffer(gpu, uploader, (name, 0), bytes)
        };
        Ok(Some(Self {
            rest: upload("shapes as modeled", bytemuck::cast_slice(&rest))?,
            influences: upload("influences of joints", bytemuck::cast_slice(&influences))?,
            morphs: upload("offsets of morph targets", bytemuck::cast_slice(&morphs))?,
            parts,
            vertices,
            nodes,
        }))
    }

    /// Bounds of each deformed primitive in a scene's pose.
    fn moving(&self, scene: &Scene, groups: &[Group]) -> Vec<DeformedPrimitive> {
        let worlds = scene.world_transforms();
        let of =
            |part: &DeformPart| Some(part.moving(scene, &worlds, groups.get(part.group)?.source?));
        self.parts.iter().filter_map(of).collect()
    }

    /// Joint matrices and morph weights of a scene's pose.
    pub fn movers(&self, scene: &Scene, worlds: &[DMat4]) -> DeformPose {
        let mut movers = DeformPose::default();
        for &(node, ..) in &self.nodes {
            movers.palette.extend(scene.palette(node, worlds).iter().map(rows));
            movers.weights.extend(scene.nodes.get(node).into_iter().flat_map(|node| &node.weights));
        }
        movers
    }
}

impl DeformPart {
    /// Spheres that together bound the vertices. Each joint carries a bounding sphere of its
    /// vertices, and a vertex of several joints is a convex combination of where each would carry
    /// it. Also returns the margin (m) for single-precision rounding.
    fn carried(&self, scene: &Scene, worlds: &[DMat4]) -> (Vec<(Vec3, f32)>, f32) {
        let weights =
            scene.nodes.get(self.node).map(|node| node.weights.as_slice()).unwrap_or_default();
        let morphed: f32 =
            self.reach.iter().zip(weights).map(|(reach, weight)| reach * weight.abs()).sum();
        let palette = scene.palette(self.node, worlds);
        let mut room = 0.0f32;
        let carried = self
            .spheres
            .iter()
            .map(|&(joint, center, radius)| {
                let far = center.length() + radius + morphed;
                let Some(matrix) = palette.get(joint) else {
                    room = room.max(far);
                    return (center, radius + morphed);
                };
                let linear = glam::DMat3::from_mat4(*matrix);
                let columns = [linear.x_axis, linear.y_axis, linear.z_axis];
                let stretch = columns.iter().map(|c| c.length_squared()).sum::<f64>().sqrt() as f32;
                room = room.max(far * stretch + matrix.w_axis.truncate().length() as f32);
                (matrix.transform_point3(center.as_dvec3()).as_vec3(), (radius + morphed) * stretch)
            })
            .collect();
        // About a hundred roundings of half a unit in the last place each.
        (carried, room * 1e-5)
    }

    /// Bounding sphere of its vertices.
    pub fn sphere(&self, scene: &Scene, worlds: &[DMat4]) -> (Vec3, f32) {
        let (carried, _) = self.carried(scene, worlds);
        let (low, high) = around(&carried);
        let center = if carried.is_empty() { Vec3::ZERO } else { low * 0.5 + high * 0.5 };
        (
            center,
            carried.iter().map(|&(at, radius)| at.distance(center) + radius).fold(0.0, f32::max),
        )
    }

    /// Bounding box of its vertices as the device deforms them. `vertices`: its first vertex among
    /// the scene's.
    pub fn moving(
        &self,
        scene: &Scene,
        worlds: &[DMat4],
        (mesh, primitive): (usize, usize),
    ) -> DeformedPrimitive {
        let (carried, room) = self.carried(scene, worlds);
        let (low, high) =
            if carried.is_empty() { (Vec3::ZERO, Vec3::ZERO) } else { around(&carried) };
        DeformedPrimitive {
            mesh,
            primitive,
            vertices: self.constants.target,
            low: low - room,
            high: high + room,
        }
    }
}

fn around(spheres: &[(Vec3, f32)]) -> (Vec3, Vec3) {
    spheres.iter().fold((Vec3::MAX, Vec3::MIN), |(low, high), &(center, radius)| {
        (low.min(center - radius), high.max(center + radius))
    })
}

fn rows(matrix: &DMat4) -> [Vec4; 3] {
    [0, 1, 2].map(|row| matrix.row(row).as_vec4())
}

fn append(
    deform: &Deform,
    targets: usize,
    rest: &mut Vec<BindPoseVertex>,
    influences: &mut Vec<Influence>,
    morphs: &mut Vec<MorphOffset>,
) {
    for (vertex, &position) in deform.positions.iter().enumerate() {
        let (first_influence, first_morph) = (influences.len() as u32, morphs.len() as u32);
        if let Some(list) = &deform.influences {
            influences.extend(
                list.of(vertex).map(|(joint, weight)| Influence { joint: joint as u32, weight }),
            );
        }
        for (number, target) in deform.targets.iter().enumerate().take(targets) {
            let at = |list: &[Vec3]| list.get(vertex).copied().unwrap_or_default();
            let offset = MorphOffset {
                position: at(&target.positions),
                target: number as u32,
                normal: at(&target.normals),
                tangent: at(&target.tangents),
                ..Default::default()
            };
            if [offset.position, offset.normal, offset.tangent].iter().any(|v| *v != Vec3::ZERO) {
                morphs.push(offset);
            }
        }
        rest.push(BindPoseVertex {
            position,
            first_influence,
            normal: deform.normals.get(vertex).copied().unwrap_or(Vec3::Y),
            first_morph,
            tangent: deform.tangents.get(vertex).copied().unwrap_or_default(),
            influence_count: influences.len() as u32 - first_influence,
            morph_count: morphs.len() as u32 - first_morph,
            ..Default::default()
        });
    }
}

fn spheres(deform: &Deform) -> Vec<(usize, Vec3, f32)> {
    let mut boxes: HashMap<usize, (Vec3, Vec3)> = HashMap::new();
    for (vertex, &p) in deform.positions.iter().enumerate() {
        let mut add = |joint: usize| {
            let (low, high) = boxes.entry(joint).or_insert((p, p));
            (*low, *high) = (low.min(p), high.max(p));
        };
        match &deform.influences {
            Some(list) => list.of(vertex).for_each(|(joint, _)| add(joint)),
            None => add(usize::MAX),
        }
    }
    let mut out: Vec<_> = boxes
        .into_iter()
        .map(|(joint, (low, high))| {
            (joint, low * 0.5 + high * 0.5, (high * 0.5 - low * 0.5).length())
        })
        .collect();
    out.sort_by_key(|(joint, ..)| *joint);
    out
}

fn reach(deform: &Deform, targets: usize) -> Vec<f32> {
    let of = |list: &[Vec3]| list.iter().map(|v| v.length()).fold(0.0, f32::max);
    deform.targets.iter().take(targets).map(|target| of(&target.positions)).collect()
}
