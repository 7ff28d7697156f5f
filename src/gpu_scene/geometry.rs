//! Vertices, indices and primitives on the device.

use std::sync::Arc;

use glam::{DMat4, Vec2, Vec3, Vec4};
use rayon::prelude::*;

use super::{
    draws::RenderQueue, extended_materials, lod::coarser, materials::texture_slots,
    pose::PrimitivePose,
};
use crate::{
    bvh::ShadowProperties,
    gpu::{Buffer, BufferKind, Gpu, GpuError, GpuResult, upload::Uploader, vk},
    scene::{self, AlphaMode, Scene},
};

/// Vertex layout of the pipelines.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(super) struct Vertex {
    position: Vec3,
    normal: [i16; 4],
    tangent: [i16; 4],
    uv0: Vec2,
    uv1: Vec2,
    color: [f32; 4],
}

/// Vertex stride (bytes).
pub const VERTEX_STRIDE: u32 = size_of::<Vertex>() as u32;

/// Location, format and offset of each vertex attribute.
#[must_use]
pub fn vertex_attributes() -> Vec<(u32, vk::Format, u32)> {
    let offset = |bytes: usize| bytes as u32;
    vec![
        (0, vk::Format::R32G32B32_SFLOAT, offset(std::mem::offset_of!(Vertex, position))),
        (1, vk::Format::R16G16B16A16_SNORM, offset(std::mem::offset_of!(Vertex, normal))),
        (2, vk::Format::R16G16B16A16_SNORM, offset(std::mem::offset_of!(Vertex, tangent))),
        (3, vk::Format::R32G32_SFLOAT, offset(std::mem::offset_of!(Vertex, uv0))),
        (4, vk::Format::R32G32_SFLOAT, offset(std::mem::offset_of!(Vertex, uv1))),
        (5, vk::Format::R32G32B32A32_SFLOAT, offset(std::mem::offset_of!(Vertex, color))),
    ]
}

/// Primitive; its transforms are in `PrimitivePose`.
pub(super) struct Group {
    pub(super) first_index: u32,
    pub(super) index_count: u32,
    pub(super) vertex_offset: i32,
    pub(super) material: u32,
    pub(super) queue: RenderQueue,
    pub(super) lobes: bool,
    pub(super) refracts: bool,
    /// Alpha mode BLEND.
    pub(super) blended: bool,
    /// It casts shadows: set by `set_casters`.
    pub(super) casts: bool,
    pub(super) double_sided: bool,
    /// Mesh and primitive of the scene; `None` for an emitting surface of a light.
    pub(super) source: Option<(usize, usize)>,
    /// Index ranges of coarser levels of detail, finest first.
    pub(super) coarser: Vec<Level>,
}

/// Sets which groups cast shadows, by the properties of all materials.
pub(super) fn set_casters(groups: &mut [Group], materials: &[ShadowProperties]) {
    for group in groups {
        group.casts = materials.get(group.material as usize).is_some_and(ShadowProperties::casts);
    }
}

/// Meshes for which coarser levels of detail are generated at upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LodGeneration {
    /// No mesh.
    #[default]
    None,
    /// Undeformed meshes with many triangles.
    Large,
}

/// Level of detail.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Level {
    /// First index in the scene's indices.
    pub first_index: u32,
    /// Number of indices.
    pub index_count: u32,
    /// Distance of its surface from the finest level's, in object space.
    pub error: f32,
}

impl Group {
    /// Level of detail; 0 is the finest. Clamped to the coarsest.
    pub(super) fn level(&self, level: usize) -> Level {
        let finest =
            Level { first_index: self.first_index, index_count: self.index_count, error: 0.0 };
        level
            .checked_sub(1)
            .and_then(|index| self.coarser.get(index).or(self.coarser.last()).copied())
            .unwrap_or(finest)
    }

    /// True if the device may cull it: the host does not sort it, and the forward pass does not
    /// draw it again.
    pub(super) fn culled_on_device(&self) -> bool {
        self.queue != RenderQueue::Blend && !self.lobes
    }

    /// Number of levels of detail.
    pub(super) fn levels(&self) -> usize {
        self.coarser.len() + 1
    }
}

/// Maximum number of primitive instances of a scene: 1.8 GB of instances on the host.
const MAX_INSTANCES: usize = 16 << 20;

pub(super) type Geometry = (Arc<Buffer>, Arc<Buffer>, Vec<Group>, Vec<PrimitivePose>);

/// Primitive with all its instance transforms.
pub(super) struct Part<'a> {
    pub(super) primitive: &'a scene::Primitive,
    pub(super) places: Arc<[DMat4]>,
    pub(super) material: usize,
    /// Mesh and primitive of the scene.
    pub(super) source: Option<(usize, usize)>,
}

/// All visible primitives of a scene.
pub(super) fn scene_parts(scene: &Scene, default_material: usize) -> Vec<Part<'_>> {
    let mut places: Vec<Vec<DMat4>> = vec![Vec::new(); scene.meshes.len()];
    for placed in scene.walk() {
        if let Some(places) = placed.node.mesh.and_then(|mesh| places.get_mut(mesh)) {
            places.push(placed.world);
        }
    }
    let mut parts = Vec::new();
    for (index, (mesh, places)) in
        scene.meshes.iter().zip(&places).enumerate().filter(|(_, of)| !of.1.is_empty())
    {
        let shared: Arc<[DMat4]> = places.as_slice().into();
        parts.extend(mesh.primitives.iter().enumerate().map(|(number, primitive)| Part {
            source: Some((index, number)),
            primitive,
            places: Arc::clone(&shared),
            material:
                primitive.material.filter(|&m| m < default_material).unwrap_or(default_material),
        }));
    }
    parts
}

pub(super) fn upload_geometry(
    gpu: &Gpu,
    uploader: &mut Uploader,
    parts: &[Part<'_>],
    materials: &[scene::Material],
    multiscatter: bool,
    detail: LodGeneration,
) -> GpuResult<Geometry> {
    let levels: Vec<Vec<(Vec<u32>, f32)>> = match detail {
        LodGeneration::None => vec![Vec::new(); parts.len()],
        LodGeneration::Large => parts.par_iter().map(|part| coarser(part.primitive)).collect(),
    };
    let vertex_count: usize = parts.iter().map(|part| part.primitive.positions.len()).sum();
    let index_count: usize = parts.iter().map(|part| part.primitive.indices.len()).sum::<usize>()
        + levels.iter().flatten().map(|(indices, _)| indices.len()).sum::<usize>();
    let instance_count: usize = parts.iter().map(|part| part.places.len()).sum();
    for (what, count, limit) in [
        ("the number of vertices", vertex_count, i32::MAX as usize),
        ("the number of indices", index_count, u32::MAX as usize),
        ("the number of primitive instances", instance_count, MAX_INSTANCES),
    ] {
        if count > limit {
            return Err(GpuError::TooLarge {
                what: what.into(),
                requested: count.to_string(),
                limit: limit.to_string(),
                device: gpu.info().name.clone(),
                remedy: "use a simpler scene",
            });
        }
    }
    let moves = parts.iter().any(|part| part.primitive.deform.is_some());
    let kind = if moves { BufferKind::DynamicGeometry } else { BufferKind::Geometry };
    let vertices =
        Buffer::new(gpu, "vertices", vertex_count as u64 * u64::from(VERTEX_STRIDE), kind)?;
    let indices = Buffer::new(gpu, "indices", index_count as u64 * 4, BufferKind::Geometry)?;
    let mut vertex_data: Vec<Vertex> = Vec::with_capacity(vertex_count);
    let mut index_data: Vec<u32> = Vec::with_capacity(index_count);
    let (mut groups, mut posed) = (Vec::new(), Vec::new());
    for (&Part { primitive, ref places, material, source }, levels) in parts.iter().zip(&levels) {
        let described = materials.get(material).cloned().unwrap_or_default();
        let (center, radius, half_size) = bounding_sphere(&primitive.positions);
        let first_index = index_data.len() as u32;
        index_data.extend_from_slice(&primitive.indices);
        let mut coarser = Vec::with_capacity(levels.len());
        for (indices, error) in levels {
            let (first_index, index_count) = (index_data.len() as u32, indices.len() as u32);
            coarser.push(Level { first_index, index_count, error: *error });
            index_data.extend_from_slice(indices);
        }
        groups.push(Group {
            first_index,
            index_count: primitive.indices.len() as u32,
            vertex_offset: vertex_data.len() as i32,
            material: material as u32,
            queue: match described.alpha {
                _ if extended_materials::needs_blend_pass(&described) => RenderQueue::Blend,
                AlphaMode::Opaque if texture_slots(&described).iter().all(Option::is_none) => {
                    RenderQueue::Untextured
                }
                AlphaMode::Opaque => RenderQueue::Opaque,
                AlphaMode::Mask { .. } => RenderQueue::Mask,
                AlphaMode::Blend => RenderQueue::Blend,
            },
            lobes: extended_materials::is_extended(&described, multiscatter),
            refracts: extended_materials::refracts(&described),
            blended: described.alpha == AlphaMode::Blend,
            casts: false,
            double_sided: described.double_sided,
            source,
            coarser,
        });
        posed.push(PrimitivePose {
            center,
            radius,
            half_size,
            world_transforms: Arc::clone(places),
        });
        vertex_data.extend((0..primitive.positions.len()).map(|index| vertex(primitive, index)));
    }
    uploader.buffer(&vertices, bytemuck::cast_slice(&vertex_data))?;
    uploader.buffer(&indices, bytemuck::cast_slice(&index_data))?;
    Ok((vertices, indices, groups, posed))
}

pub(super) fn vertex(primitive: &scene::Primitive, index: usize) -> Vertex {
    let snorm = |v: Vec4| v.to_array().map(|x| (x.clamp(-1.0, 1.0) * 32767.0).round() as i16);
    let normal = primitive.normals.get(index).copied().unwrap_or(Vec3::Y);
    let tangent = primitive.tangents.get(index).copied().unwrap_or(Vec4::ZERO);
    Vertex {
        position: primitive.positions.get(index).copied().unwrap_or_default(),
        normal: snorm(normal.extend(0.0)),
        tangent: snorm(tangent),
        uv0: primitive.uv0.get(index).copied().unwrap_or_default(),
        uv1: primitive.uv1.get(index).copied().unwrap_or_default(),
        color: primitive.colors.get(index).copied().unwrap_or(Vec4::ONE).to_array(),
    }
}

/// Center and radius of a bounding sphere of points, and half extents of the bounding box with the
/// same center.
pub(super) fn bounding_sphere(positions: &[Vec3]) -> (Vec3, f32, Vec3) {
    let (low, high) =
        positions.iter().fold((Vec3::splat(f32::MAX), Vec3::splat(f32::MIN)), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
    let center = if positions.is_empty() { Vec3::ZERO } else { low * 0.5 + high * 0.5 };
    let radius = positions.iter().map(|p| p.distance(center)).fold(0.0, f32::max);
    let half_size = positions.iter().map(|&p| (p - center).abs()).fold(Vec3::ZERO, Vec3::max);
    (center, radius, half_size)
}
