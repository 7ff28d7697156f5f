//! Device-side refit: the links from leaves to the root, bounds of moved vertices, and the rebuild
//! of one BLAS.

use glam::Vec3;

use super::{
    mask,
    node::{BvhNode, NONE},
    scene::{Blas, SceneBvh, build_blas, max_coordinate, round_outward, vertices_of},
};
use crate::scene::{Primitive, Scene};

/// The paths from a BLAS's leaves to its root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefitLinks {
    /// Leaves, as indices into all nodes.
    pub leaves: Vec<u32>,
    /// Parent of each node, in node order, as an index into all nodes; `NONE` for the root.
    pub parents: Vec<u32>,
    /// Nodes on the longest path to the root, both ends counted.
    pub levels: u32,
}

impl RefitLinks {
    /// Links of one BLAS; `base` is the index of its first node among all nodes.
    #[must_use]
    pub fn new(nodes: &[BvhNode], base: u32) -> Self {
        let mut climb = Self { leaves: Vec::new(), parents: vec![NONE; nodes.len()], levels: 0 };
        // Children come after their parent.
        let mut depth = vec![1u32; nodes.len()];
        for (index, node) in (base..).zip(nodes) {
            let own = depth.get((index - base) as usize).copied().unwrap_or(1);
            climb.levels = climb.levels.max(own);
            if node.count > 0 {
                climb.leaves.push(index);
                continue;
            }
            for child in [node.first, node.first.wrapping_add(1)] {
                let place = child.wrapping_sub(base) as usize;
                if let (Some(parent), Some(depth)) =
                    (climb.parents.get_mut(place), depth.get_mut(place))
                {
                    (*parent, *depth) = (index, own + 1);
                }
            }
        }
        climb
    }
}

impl SceneBvh {
    /// Refit links of one BLAS.
    #[must_use]
    pub fn refit_links(&self, blas: usize) -> RefitLinks {
        let Some(&(first, count)) = self.blases.get(blas).map(|blas| &blas.nodes) else {
            return RefitLinks::default();
        };
        let range = first as usize..(first + count) as usize;
        RefitLinks::new(self.nodes.get(range).unwrap_or_default(), first)
    }

    /// Overrides the bounds of a primitive whose vertices the device moves: all of them are within
    /// this box in mesh space (m). The box replaces the root's for all instances. Call
    /// `rebuild_tlas` afterwards.
    pub fn set_blas_bounds(&mut self, mesh: usize, primitive: usize, low: Vec3, high: Vec3) {
        for blas in self.blases.iter_mut().filter(|of| (of.mesh, of.primitive) == (mesh, primitive))
        {
            let (low, high) = (low.as_dvec3(), high.as_dvec3());
            let bounds = match blas.baked {
                None => round_outward(low, high, 0.0),
                Some(linear) => {
                    let (middle, half) = (linear * ((low + high) * 0.5), (high - low) * 0.5);
                    let size = linear.x_axis.abs() * half.x
                        + linear.y_axis.abs() * half.y
                        + linear.z_axis.abs() * half.z;
                    round_outward(middle - size, middle + size, 0.0)
                }
            };
            blas.max_coordinate = bounds.low.abs().max(bounds.high.abs()).max_element();
            blas.bounds_override = Some(bounds);
        }
    }

    /// Rebuilds one BLAS over a primitive's moved vertices; the triangles must be those of the
    /// first build. A BLAS that needs more nodes than before moves to the end of the nodes.
    pub fn rebuild(&mut self, scene: &Scene, blas: usize, moved: &Primitive) {
        let Some(old) = self.blases.get(blas).copied() else { return };
        let part = build_blas(old.mesh, old.primitive, old.baked, moved);
        let (first, count) = old.triangles;
        let range = first as usize..(first + count) as usize;
        if part.triangles.len() != range.len() || range.end > self.triangles.len() {
            return;
        }
        if old.mask != NONE {
            let material =
                moved.material.and_then(|m| scene.materials.get(m)).cloned().unwrap_or_default();
            let at = old.corners.wrapping_add(first) as usize;
            for (slot, &index) in self.corners.iter_mut().skip(at).zip(&part.sources) {
                *slot = mask::corners(&material, moved, vertices_of(moved, index as usize));
            }
        }
        let nodes = part.nodes.len() as u32;
        let root = if nodes <= old.nodes.1 { old.nodes.0 } else { self.nodes.len() as u32 };
        let node = |node: &BvhNode| BvhNode {
            first: node.first + if node.count > 0 { first } else { root },
            ..*node
        };
        let fitted: Vec<BvhNode> = part.nodes.iter().map(node).collect();
        if root == old.nodes.0 {
            self.nodes[root as usize..(root + nodes) as usize].copy_from_slice(&fitted);
        } else {
            self.nodes.extend(fitted);
        }
        self.triangles[range.clone()].copy_from_slice(&part.triangles);
        self.sources[range].copy_from_slice(&part.sources);
        let reach = max_coordinate(&part.nodes);
        self.blases[blas] =
            Blas { nodes: (root, nodes), max_coordinate: reach, bounds_override: None, ..old };
        if self.wide.is_some() {
            self.build_wide();
        }
    }

    /// Vertex indices of a BLAS's triangles within its primitive, in leaf order.
    pub fn triangle_vertices<'a>(
        &'a self,
        scene: &'a Scene,
        blas: usize,
    ) -> impl Iterator<Item = [u32; 3]> + 'a {
        let of = self.blases.get(blas);
        let (first, count) = of.map_or((0, 0), |blas| blas.triangles);
        let part = of.and_then(|blas| scene.meshes.get(blas.mesh)?.primitives.get(blas.primitive));
        let sources = self.sources.iter().skip(first as usize).take(count as usize);
        sources.filter_map(move |&index| part.map(|part| vertices_of(part, index as usize)))
    }
}
