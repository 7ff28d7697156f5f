//! Wide BVH for host traversal: nodes with four children and leaves of four triangles, each four
//! side by side in one SIMD register. It is converted from the device's binary nodes and keeps
//! their boxes.
//!
//! Dammertz, Hanika and Keller, "Shallow Bounding Volume Hierarchies for Fast SIMD Ray Tracing of
//! Incoherent Rays" (2008), sections 3 and 4; Wald, Benthin and Boulos, "Getting Rid of Packets"
//! (2008), section 2.2.
//!
//! `glam::Vec4` is an SSE2 register on every x86-64 and a NEON register on ARM; elsewhere it is
//! four scalars.

use glam::{Vec3, Vec4};
use rayon::prelude::*;

use super::{
    node::{Aabb, BvhNode, NONE, ROBUST, Slabs},
    triangle::{BvhTriangle, ShearedRay, TriangleHit},
};

/// Children per node and triangles per leaf.
pub const WIDTH: usize = 4;

/// Sixteen units in the last place: more than the total rounding of a vertex transformed into a
/// ray's frame.
const ULPS: f32 = 16.0 * f32::EPSILON;

/// Flag of a leaf child; the other bits are the index of its packet, or in the TLAS of its
/// instance.
pub const LEAF: u32 = 1 << 31;

/// Four child boxes and their contents: two cache lines.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct WideNode {
    /// Minimum and maximum sides of the boxes, per axis.
    planes: [[Vec4; 2]; 3],
    /// Node indices, leaves (`LEAF`), or `NONE`.
    pub children: [u32; WIDTH],
    /// The binary nodes that these boxes come from, or `NONE`.
    from: [u32; WIDTH],
}

impl WideNode {
    /// A node without children: inverted boxes.
    const NOTHING: Self = Self {
        planes: [[Vec4::splat(f32::MAX), Vec4::splat(f32::MIN)]; 3],
        children: [NONE; WIDTH],
        from: [NONE; WIDTH],
    };

    fn set_bounds(&mut self, lane: usize, bounds: Aabb) {
        for axis in 0..3 {
            self.planes[axis][0][lane] = bounds.low[axis];
            self.planes[axis][1][lane] = bounds.high[axis];
        }
    }
}

/// Four triangles, as a structure of arrays by vertex and axis. Missing ones have no area.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub struct TrianglePacket {
    corners: [[Vec4; 3]; 3],
    /// Index of the first triangle; the others follow.
    pub first: u32,
    count: u32,
    /// Longest side of the packet's bounding box.
    extent: f32,
}

impl TrianglePacket {
    fn new(triangles: &[BvhTriangle], first: u32, count: u32) -> Self {
        let mut packet = Self { corners: [[Vec4::ZERO; 3]; 3], first, count, extent: 0.0 };
        let mut bounds = Aabb::EMPTY;
        for lane in 0..(count as usize).min(WIDTH) {
            let Some(triangle) = triangles.get(first as usize + lane) else { break };
            bounds = bounds.union(triangle.bounds());
            for (corner, vertex) in [triangle.a, triangle.b, triangle.c].into_iter().enumerate() {
                for axis in 0..3 {
                    packet.corners[corner][axis][lane] = vertex[axis];
                }
            }
        }
        packet.extent = (bounds.high - bounds.low).max_element();
        packet
    }

    /// Number of its triangles.
    pub const fn count(&self) -> u32 {
        self.count
    }
}

/// A ray prepared for slab tests of four boxes at a time.
pub struct WideSlabs {
    /// The ray's origin per axis, for the near side and for the far one; they differ where boxes
    /// are widened.
    origin: [[Vec4; 2]; 3],
    inverse: [Vec4; 3],
    /// Index of the near side per axis.
    first: [usize; 3],
    t_min: Vec4,
}

impl WideSlabs {
    pub fn new(origin: Vec3, direction: Vec3, t_min: f32) -> Self {
        Self::widened(origin, direction, t_min, Vec3::ZERO)
    }

    /// Prepares a ray for boxes enlarged by `margin` on each side.
    pub fn widened(origin: Vec3, direction: Vec3, t_min: f32, margin: Vec3) -> Self {
        let inverse = Slabs::new(origin, direction).inverse();
        let shift = margin * inverse.signum();
        let (near, far) = (origin + shift, origin - shift);
        Self {
            origin: std::array::from_fn(|axis| [Vec4::splat(near[axis]), Vec4::splat(far[axis])]),
            inverse: inverse.to_array().map(Vec4::splat),
            first: inverse.to_array().map(|slope| usize::from(slope < 0.0)),
            t_min: Vec4::splat(t_min),
        }
    }

    /// Entry distances of the four boxes, and a bit mask of the boxes hit before `t_max`. The
    /// arithmetic is that of `Slabs::enter`.
    #[inline(always)]
    pub fn enter(&self, node: &WideNode, t_max: f32) -> (Vec4, u32) {
        let at = |axis: usize, side: usize, end: usize| {
            (node.planes[axis][side & 1] - self.origin[axis][end]) * self.inverse[axis]
        };
        let near = |axis: usize| at(axis, self.first[axis], 0);
        let far = |axis: usize| at(axis, self.first[axis] ^ 1, 1);
        let enter = near(0).max(near(1)).max(near(2)).max(self.t_min);
        let leave = far(0).min(far(1)).min(far(2)).min(Vec4::splat(t_max)) * Vec4::splat(ROBUST);
        (enter, enter.cmple(leave).bitmask())
    }
}

/// Hits of a ray with four triangles.
pub struct TriangleHits {
    /// Bit mask of the triangles hit.
    pub lanes: u32,
    t: Vec4,
    second: Vec4,
    third: Vec4,
}

impl TriangleHits {
    pub fn at(&self, lane: usize) -> TriangleHit {
        TriangleHit {
            t: self.t[lane & 3],
            barycentric: glam::Vec2::new(self.second[lane & 3], self.third[lane & 3]),
        }
    }
}

/// A ray prepared for tests of four triangles at a time.
pub struct WideShearedRay {
    origin: [Vec4; 3],
    axes: [usize; 3],
    shear: [Vec4; 3],
}

impl WideShearedRay {
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        let (axes, shear) = ShearedRay::new(origin, direction).parts();
        let at = |axis: usize| Vec4::splat(origin[axis]);
        Self { origin: axes.map(at), axes, shear: shear.to_array().map(Vec4::splat) }
    }

    /// Edge functions of four triangles in the ray's frame, and the depths of their vertices. The
    /// arithmetic and its order are those of `ShearedRay::intersect`: the same bits.
    #[inline(always)]
    fn edges(&self, packet: &TrianglePacket) -> ([Vec4; 3], [Vec4; 3]) {
        let [x, y, z] = self.axes;
        let apply = |corner: &[Vec4; 3]| {
            let p = [
                corner[x] - self.origin[0],
                corner[y] - self.origin[1],
                corner[z] - self.origin[2],
            ];
            [p[0] - self.shear[0] * p[2], p[1] - self.shear[1] * p[2], self.shear[2] * p[2]]
        };
        let [a, b, c] =
            [apply(&packet.corners[0]), apply(&packet.corners[1]), apply(&packet.corners[2])];
        let u = c[0] * b[1] - c[1] * b[0];
        let v = a[0] * c[1] - a[1] * c[0];
        let w = b[0] * a[1] - b[1] * a[0];
        ([u, v, w], [a[2], b[2], c[2]])
    }

    /// The hits of `ShearedRay::intersect`, to the bit. Both ends are inclusive.
    #[inline(always)]
    pub fn intersect(
        &self,
        packet: &TrianglePacket,
        t_min: f32,
        t_max: f32,
    ) -> Option<TriangleHits> {
        let ([u, v, w], depths) = self.edges(packet);
        let zero = Vec4::ZERO;
        let outside = u.min(v).min(w).cmplt(zero) & u.max(v).max(w).cmpgt(zero);
        if outside.bitmask() == 0b1111 {
            return None;
        }
        let determinant = u + v + w;
        let inverse = Vec4::ONE / determinant;
        let t = (u * depths[0] + v * depths[1] + w * depths[2]) * inverse;
        // Also rejects NaN.
        let inside =
            t.cmpgt(Vec4::splat(t_min)) & t.cmple(Vec4::splat(t_max)) & determinant.cmpne(zero);
        let lanes = inside.bitmask() & !outside.bitmask();
        (lanes != 0).then(|| TriangleHits { lanes, t, second: v * inverse, third: w * inverse })
    }

    /// Bit mask of the triangles that the ray may hit between `t_min` and `t_max`: `intersect`,
    /// widened by rounding error. `margin` bounds the error of the ray's origin and of points along
    /// it, in object space.
    #[inline(always)]
    pub fn intersect_conservative(
        &self,
        packet: &TrianglePacket,
        margin: f32,
        t_min: f32,
        t_max: f32,
    ) -> u32 {
        // A hit is a point of the packet's box, and the ray's slopes are at most 1.
        let extent = packet.extent + 2.0 * margin;
        let across = 2.0 * extent;
        // Error of a sheared vertex: twice the margin for the ray, and as much for the vertex's
        // depth.
        let off = 4.0 * margin + ULPS * across;
        let area = 4.0 * off * (across + off);
        let ([u, v, w], depths) = self.edges(packet);
        let outside =
            u.min(v).min(w).cmplt(Vec4::splat(-area)) & u.max(v).max(w).cmpgt(Vec4::splat(area));
        let there = !outside.bitmask() & 0b1111;
        if there == 0 {
            return 0;
        }
        let inverse = Vec4::ONE / (u + v + w);
        let t = (u * depths[0] + v * depths[1] + w * depths[2]) * inverse;
        // Each weight has at most twice the area's error; the vertices' depths differ by at most
        // the extent.
        let scale = self.shear[2].x.abs();
        let error =
            Vec4::splat(scale * off) + Vec4::splat(8.0 * scale * extent * area) * inverse.abs();
        // NaN passes: edge-on, the distance is unknown.
        let beyond = (t + error).cmplt(Vec4::splat(t_min)) | (t - error).cmpgt(Vec4::splat(t_max));
        there & !beyond.bitmask()
    }
}

/// One level in wide nodes.
#[derive(Clone, Debug, Default)]
pub struct WideLevel {
    pub nodes: Vec<WideNode>,
    /// Content of each leaf: first and count.
    pub leaves: Vec<(u32, u32)>,
}

/// Collapses a binary BVH to wide nodes, the root first. `base` is the index of its first node.
/// Starting from two children, the largest inner child is opened until there are four. A subtree of
/// at most `most` items becomes one leaf.
fn collapse(nodes: &[BvhNode], base: u32, most: u32) -> WideLevel {
    let mut level = WideLevel::default();
    let Some(root) = nodes.first() else { return level };
    if *root == BvhNode::EMPTY {
        return level;
    }
    let content = contents(nodes, base);
    level.nodes.push(WideNode::NOTHING);
    let mut open = vec![(0u32, 0u32)];
    while let Some((narrow, wide)) = open.pop() {
        let (lanes, count) = children_of(nodes, base, &content, narrow, most);
        let mut node = WideNode::NOTHING;
        let mut inner = [(0, 0); WIDTH];
        let mut inners = 0;
        for (lane, &from) in lanes[..count].iter().enumerate() {
            node.set_bounds(lane, nodes[from as usize].bounds());
            node.from[lane] = from + base;
            node.children[lane] = if content[from as usize].1 <= most {
                level.leaves.push(content[from as usize]);
                LEAF | (level.leaves.len() as u32 - 1)
            } else {
                let place = level.nodes.len() as u32;
                level.nodes.push(WideNode::NOTHING);
                inner[inners] = (from, place);
                inners += 1;
                place
            };
        }
        level.nodes[wide as usize] = node;
        open.extend(inner[..inners].iter().rev());
    }
    level
}

/// Content below each node: first and count. Leaves of a subtree are contiguous.
fn contents(nodes: &[BvhNode], base: u32) -> Vec<(u32, u32)> {
    let mut content = vec![(0, 0); nodes.len()];
    // Children come after their parent.
    for (index, node) in nodes.iter().enumerate().rev() {
        content[index] = if node.count > 0 {
            (node.first, node.count)
        } else {
            let child = (node.first - base) as usize;
            let (a, b) = (content[child], content[child + 1]);
            (a.0.min(b.0), a.1.saturating_add(b.1))
        };
    }
    content
}

fn children_of(
    nodes: &[BvhNode],
    base: u32,
    content: &[(u32, u32)],
    narrow: u32,
    most: u32,
) -> ([u32; WIDTH], usize) {
    let mut lanes = [narrow, 0, 0, 0];
    let mut count = 1;
    while count < WIDTH {
        let area = |lane: &usize| nodes[lanes[*lane] as usize].bounds().half_area();
        let widest = (0..count)
            .filter(|&lane| content[lanes[lane] as usize].1 > most)
            .max_by(|a, b| area(a).total_cmp(&area(b)).then(b.cmp(a)));
        let Some(lane) = widest else { break };
        let first = nodes[lanes[lane] as usize].first - base;
        (lanes[lane], lanes[count]) = (first, first + 1);
        count += 1;
    }
    (lanes, count)
}

/// The TLAS in wide nodes, whose leaves are single instances.
pub fn collapse_tlas(nodes: &[BvhNode]) -> Vec<WideNode> {
    let level = collapse(nodes, 0, 1);
    let mut wide = level.nodes;
    for child in
        wide.iter_mut().flat_map(|node| &mut node.children).filter(|child| **child & LEAF != 0)
    {
        *child =
            level.leaves.get((*child & !LEAF) as usize).map_or(NONE, |&(first, _)| LEAF | first);
    }
    wide
}

/// All BLASes in wide nodes.
#[derive(Clone, Debug, Default)]
pub struct WideBvh {
    pub nodes: Vec<WideNode>,
    pub packets: Vec<TrianglePacket>,
    /// Node and packet ranges of each BLAS.
    pub blas_ranges: Vec<BlasRange>,
}

/// Ranges of one BLAS.
#[derive(Clone, Copy, Debug)]
pub struct BlasRange {
    root: u32,
    /// Traversal entry: the root, or the only leaf (`LEAF`), where testing the triangles costs no
    /// more than testing a box.
    pub entry: u32,
    nodes: u32,
    packet: u32,
    packets: u32,
}

impl WideBvh {
    /// Converts the BLASes given by the ranges of their nodes.
    pub fn new(nodes: &[BvhNode], ranges: &[(u32, u32)], triangles: &[BvhTriangle]) -> Self {
        let levels: Vec<WideLevel> = ranges
            .par_iter()
            .map(|&(root, count)| {
                nodes
                    .get(root as usize..(root + count) as usize)
                    .map_or_else(WideLevel::default, |tree| collapse(tree, root, WIDTH as u32))
            })
            .collect();
        let mut all = Self::default();
        for level in levels {
            let (root, packet) = (all.nodes.len() as u32, all.packets.len() as u32);
            let (nodes, packets) = (level.nodes.len() as u32, level.leaves.len() as u32);
            let entry = if nodes == 1 && packets == 1 { LEAF | packet } else { root };
            let tree = BlasRange { root, entry, nodes, packet, packets };
            all.blas_ranges.push(tree);
            all.nodes.extend(level.nodes.into_iter().map(|mut node| {
                for child in node.children.iter_mut().filter(|child| **child != NONE) {
                    *child += if *child & LEAF == 0 { root } else { packet };
                }
                node
            }));
            let packets = level.leaves.par_iter().with_min_len(4096);
            all.packets.par_extend(
                packets.map(|&(first, count)| TrianglePacket::new(triangles, first, count)),
            );
        }
        all
    }

    /// Refits one BLAS to moved triangles and refitted boxes.
    pub fn refit(&mut self, tree: usize, nodes: &[BvhNode], triangles: &[BvhTriangle]) {
        let Some(&BlasRange { root, nodes: count, packet, packets, .. }) =
            self.blas_ranges.get(tree)
        else {
            return;
        };
        for node in self.nodes.iter_mut().skip(root as usize).take(count as usize) {
            for lane in 0..WIDTH {
                if let Some(from) = nodes.get(node.from[lane] as usize) {
                    node.set_bounds(lane, from.bounds());
                }
            }
        }
        for packet in self.packets.iter_mut().skip(packet as usize).take(packets as usize) {
            *packet = TrianglePacket::new(triangles, packet.first, packet.count);
        }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice()) + size_of_val(self.packets.as_slice())
    }
}
