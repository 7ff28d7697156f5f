//! Tangents by MikkTSpace (glTF 2.0 section 3.7.2.1), and the repair of a file's own.

use std::collections::HashMap;

use bevy_mikktspace::{Geometry, TangentSpace, generate_tangents};
use glam::{Vec2, Vec3, Vec4};

use super::Vertices;
use crate::scene::gltf::report::{At, ImportReport};

/// Maximum triangles at one vertex: beyond it MikkTSpace takes quadratic time and deep recursion.
const MAX_VALENCE: u32 = 1024;

/// An arbitrary unit tangent perpendicular to a normal.
pub(super) fn some_tangent(normal: Vec3) -> Vec4 {
    let tangent = normal.any_orthonormal_vector();
    if tangent.is_finite() { tangent.extend(1.0) } else { Vec4::new(1.0, 0.0, 0.0, 1.0) }
}

pub(super) fn repair(vertices: &mut Vertices, at: &At<'_>, report: &mut ImportReport) {
    let mut missing = 0usize;
    for (tangent, normal) in vertices.tangents.iter_mut().zip(&vertices.normals) {
        let sign = if tangent.w < 0.0 { -1.0 } else { 1.0 };
        *tangent = match tangent.truncate().as_dvec3().try_normalize() {
            Some(unit) => unit.as_vec3().normalize().extend(sign),
            None => {
                missing += 1;
                some_tangent(*normal)
            }
        };
    }
    if missing > 0 {
        report.repair(
            at,
            format!("{missing} tangents are zero or not finite; arbitrary ones are used"),
        );
    }
}

/// Adapter of the triangles for MikkTSpace.
struct Mikk<'a> {
    vertices: &'a Vertices,
    uvs: &'a [Vec2],
    faces: &'a [[u32; 3]],
    /// Keeps products of coordinates within range; tangents do not depend on scale.
    scale: f64,
    out: Vec<Option<[f32; 4]>>,
}

impl Mikk<'_> {
    fn corner(&self, face: usize, vert: usize) -> usize {
        self.faces.get(face).and_then(|face| face.get(vert)).map_or(0, |&i| i as usize)
    }
}

impl Geometry for Mikk<'_> {
    fn num_faces(&self) -> usize {
        self.faces.len()
    }

    fn num_vertices_of_face(&self, _: usize) -> usize {
        3
    }

    fn position(&self, face: usize, vert: usize) -> [f32; 3] {
        let position =
            self.vertices.positions.get(self.corner(face, vert)).copied().unwrap_or_default();
        if self.scale == 1.0 {
            position.to_array()
        } else {
            (position.as_dvec3() * self.scale).as_vec3().to_array()
        }
    }

    fn normal(&self, face: usize, vert: usize) -> [f32; 3] {
        self.vertices.normals.get(self.corner(face, vert)).copied().unwrap_or(Vec3::Y).to_array()
    }

    fn tex_coord(&self, face: usize, vert: usize) -> [f32; 2] {
        self.uvs.get(self.corner(face, vert)).copied().unwrap_or_default().to_array()
    }

    fn set_tangent(&mut self, space: Option<TangentSpace>, face: usize, vert: usize) {
        if let Some(slot) = self.out.get_mut(face * 3 + vert) {
            *slot = space.map(|space| space.tangent_encoded());
        }
    }
}

/// Maximum number of triangles at one point as MikkTSpace welds vertices: by position, normal and
/// texture coordinates.
fn valence(vertices: &Vertices, uvs: &[Vec2], faces: &[[u32; 3]]) -> u32 {
    let mut corners = vec![0u32; vertices.positions.len()];
    for &i in faces.iter().flatten() {
        if let Some(corners) = corners.get_mut(i as usize) {
            *corners += 1;
        }
    }
    let mut counts: HashMap<[u32; 8], u32> = HashMap::new();
    let mut max = 0;
    for (((p, n), uv), corners) in
        vertices.positions.iter().zip(&vertices.normals).zip(uvs).zip(corners)
    {
        // Adding zero turns -0 into +0.
        let key = [p.x, p.y, p.z, n.x, n.y, n.z, uv.x, uv.y].map(|x| (x + 0.0).to_bits());
        let count = counts.entry(key).or_insert(0);
        *count += corners;
        max = max.max(*count);
    }
    max
}

/// Generates tangents as section 3.7.2.1 specifies; corners with different tangents are split.
pub(super) fn generate(
    vertices: &mut Vertices,
    faces: &[[u32; 3]],
    set: u8,
    at: &At<'_>,
    report: &mut ImportReport,
) -> Vec<[u32; 3]> {
    let uvs = if set == 0 { &vertices.uv0 } else { &vertices.uv1 };
    let largest = vertices.positions.iter().fold(0.0f32, |max, p| max.max(p.abs().max_element()));
    let wild = uvs.iter().any(|uv| uv.abs().max_element() > 1e12);
    if wild || valence(vertices, uvs, faces) > MAX_VALENCE {
        report.info(
            at,
            "too many triangles share one point to generate tangents; arbitrary ones are used",
        );
        vertices.tangents = vertices.normals.iter().map(|&normal| some_tangent(normal)).collect();
        return faces.to_vec();
    }
    let scale = if largest > 1e9 { 1.0 / f64::from(largest) } else { 1.0 };
    let mut mikk = Mikk { vertices, uvs, faces, scale, out: vec![None; faces.len() * 3] };
    // The library asserts its own invariants; if a mesh violates one, the file must still load.
    let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        generate_tangents(&mut mikk).is_ok()
    }));
    let made = mikk.out;
    if !matches!(ran, Ok(true)) {
        report.info(at, "tangents could not be generated; arbitrary ones are used");
    }
    // The new vertices of one old vertex form a chain, nearly always of one or two.
    let mut heads = vec![u32::MAX; vertices.positions.len()];
    let (mut order, mut values, mut chain): (Vec<u32>, Vec<Vec4>, Vec<u32>) =
        (Vec::new(), Vec::new(), Vec::new());
    let mut out = Vec::with_capacity(faces.len());
    for (face, made) in faces.iter().zip(made.as_chunks::<3>().0) {
        let mut corner = [0u32; 3];
        for ((slot, &vertex), made) in corner.iter_mut().zip(face).zip(made) {
            let unit = made.and_then(|t| {
                let t = Vec4::from_array(t);
                // V runs down in glTF and up in MikkTSpace, so the handedness is the opposite.
                t.truncate()
                    .try_normalize()
                    .map(|unit| unit.extend(if t.w > 0.0 { -1.0 } else { 1.0 }))
            });
            let normal = vertices.normals.get(vertex as usize).copied().unwrap_or(Vec3::Y);
            let tangent = unit.filter(|t| t.is_finite()).unwrap_or_else(|| some_tangent(normal));
            let Some(head) = heads.get_mut(vertex as usize) else { continue };
            let mut link = *head;
            while let Some(value) = values.get(link as usize)
                && *value != tangent
            {
                link = chain.get(link as usize).copied().unwrap_or(u32::MAX);
            }
            if link == u32::MAX {
                link = u32::try_from(order.len()).unwrap_or(u32::MAX);
                order.push(vertex);
                values.push(tangent);
                chain.push(*head);
                *head = link;
            }
            *slot = link;
        }
        out.push(corner);
    }
    *vertices = vertices.gather(&order);
    vertices.tangents = values;
    out
}
