//! Vertex deformation: morph targets and skinning (glTF 2.0 sections 3.7.2.2 and 3.7.3).

use glam::{DMat3, DMat4, DVec3, Vec3, Vec4};
use rayon::prelude::*;

/// A primitive's rest shape with its morph targets and skin influences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deform {
    /// Rest positions (m) in mesh space.
    pub positions: Vec<Vec3>,
    /// Unit normals of the rest shape, one per vertex.
    pub normals: Vec<Vec3>,
    /// Unit tangents with handedness in `w`, one per vertex; empty without tangents.
    pub tangents: Vec<Vec4>,
    /// Morph targets, in the order of the morph weights.
    pub targets: Vec<MorphTarget>,
    /// Joint influences of each vertex; `None` without a skin.
    pub influences: Option<Influences>,
    /// The file gives no normals: triangles share no vertices, and each has its face normal.
    pub flat: bool,
}

/// Per-vertex offsets from the rest shape. A list is empty (no offsets) or as long as the
/// positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MorphTarget {
    /// Position offsets (m).
    pub positions: Vec<Vec3>,
    /// Normal offsets.
    pub normals: Vec<Vec3>,
    /// Tangent offsets.
    pub tangents: Vec<Vec3>,
}

/// Skin joints and weights in one list for all vertices. A vertex may have any number of entries;
/// its weights are above 0 and sum to 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    /// First entry of each vertex, followed by the number of entries: vertex count + 1 elements.
    pub first: Vec<u32>,
    /// Indices into [`super::Skin::joints`].
    pub joints: Vec<u32>,
    /// Skin weights, above 0.
    pub weights: Vec<f32>,
}

impl Influences {
    /// Joint index and weight of each influence of a vertex.
    pub fn of(&self, vertex: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let at = |index: usize| self.first.get(index).map_or(0, |&first| first as usize);
        let range = at(vertex)..at(vertex + 1);
        let joints = self.joints.get(range.clone()).unwrap_or_default();
        joints
            .iter()
            .map(|&joint| joint as usize)
            .zip(self.weights.get(range).unwrap_or_default().iter().copied())
    }
}

/// Vertices of a deformed primitive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeformedVertices {
    /// Positions (m).
    pub positions: Vec<Vec3>,
    /// Unit normals.
    pub normals: Vec<Vec3>,
    /// Unit tangents with handedness in `w`; empty without tangents.
    pub tangents: Vec<Vec4>,
}

/// Minimum number of vertices per parallel task.
const CHUNK: usize = 4096;

impl Deform {
    /// Deforms the rest shape by morph weights and, with a skin, by the joint palette (mesh space
    /// to node space). Computes in double precision; positions that overflow `f32` become zero and
    /// degenerate normals keep their rest value.
    #[must_use]
    pub fn shape(&self, weights: &[f32], palette: &[DMat4]) -> DeformedVertices {
        let active: Vec<(f64, &MorphTarget)> = weights
            .iter()
            .map(|&w| f64::from(w))
            .zip(&self.targets)
            .filter(|(w, _)| *w != 0.0)
            .collect();
        let moved: Vec<(Vec3, Vec3, Vec4)> = (0..self.positions.len())
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|vertex| self.vertex(vertex, &active, palette))
            .collect();
        let mut shape = DeformedVertices {
            positions: moved.iter().map(|v| v.0).collect(),
            normals: moved.iter().map(|v| v.1).collect(),
            tangents: if self.tangents.is_empty() {
                Vec::new()
            } else {
                moved.iter().map(|v| v.2).collect()
            },
        };
        if self.flat {
            for (corners, normals) in
                shape.positions.chunks_exact(3).zip(shape.normals.chunks_exact_mut(3))
            {
                if let [a, b, c] = *corners {
                    let (a, b, c) = (a.as_dvec3(), b.as_dvec3(), c.as_dvec3());
                    normals.fill((b - a).cross(c - a).normalize_or(DVec3::Y).as_vec3());
                }
            }
        }
        shape
    }

    fn vertex(
        &self,
        vertex: usize,
        active: &[(f64, &MorphTarget)],
        palette: &[DMat4],
    ) -> (Vec3, Vec3, Vec4) {
        let rest = |list: &[Vec3]| list.get(vertex).map_or(DVec3::ZERO, |v| v.as_dvec3());
        let (mut p, mut n) = (rest(&self.positions), rest(&self.normals));
        let tangent = self.tangents.get(vertex).copied().unwrap_or_default();
        let mut t = tangent.truncate().as_dvec3();
        for (weight, target) in active {
            p += rest(&target.positions) * *weight;
            n += rest(&target.normals) * *weight;
            t += rest(&target.tangents) * *weight;
        }
        if let Some(influences) = &self.influences {
            let mut blend = DMat4::ZERO;
            for (joint, weight) in influences.of(vertex) {
                blend += palette.get(joint).copied().unwrap_or(DMat4::IDENTITY) * f64::from(weight);
            }
            p = blend.transform_point3(p);
            let linear = DMat3::from_mat4(blend);
            n = cofactor(&linear) * n;
            t = linear * t;
        }
        let unit = |v: DVec3, other: Vec3| v.try_normalize().map_or(other, |v| v.as_vec3());
        let position = p.as_vec3();
        let was = |list: &[Vec3]| list.get(vertex).copied().unwrap_or(Vec3::Y);
        (
            if position.is_finite() { position } else { Vec3::ZERO },
            unit(n, was(&self.normals)),
            unit(t, tangent.truncate()).extend(tangent.w),
        )
    }
}

/// Normal matrix: the inverse transpose times the absolute determinant. Singular matrices have one
/// too.
fn cofactor(m: &DMat3) -> DMat3 {
    let sign = if m.determinant() < 0.0 { -1.0 } else { 1.0 };
    DMat3::from_cols(m.y_axis.cross(m.z_axis), m.z_axis.cross(m.x_axis), m.x_axis.cross(m.y_axis))
        * sign
}
