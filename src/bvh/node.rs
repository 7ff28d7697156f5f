//! Boxes, nodes, the slab test, refit.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

/// Sentinel index for "none".
pub const NONE: u32 = u32::MAX;

/// Axis-aligned bounding box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Minimum corner.
    pub low: Vec3,
    /// Maximum corner.
    pub high: Vec3,
}

impl Aabb {
    /// The empty box, the identity of `union`.
    pub const EMPTY: Self = Self { low: Vec3::splat(f32::MAX), high: Vec3::splat(f32::MIN) };

    /// Smallest box that contains both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Smallest box that contains this one and a point.
    #[must_use]
    pub fn with(self, point: Vec3) -> Self {
        Self { low: self.low.min(point), high: self.high.max(point) }
    }

    /// Half of the surface area (m^2); 0 for the empty box.
    #[must_use]
    pub fn half_area(self) -> f32 {
        let size = (self.high - self.low).max(Vec3::ZERO);
        size.x * size.y + size.y * size.z + size.z * size.x
    }
}

/// A node of either level: 32 bytes, in the device's layout. The two children of an inner node are
/// adjacent, so one fetch of 64 bytes reads both; children come after their parent.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct BvhNode {
    /// Minimum corner.
    pub low: Vec3,
    /// Inner node: index of its first child (the second follows). Leaf: index of its first triangle
    /// or instance.
    pub first: u32,
    /// Maximum corner.
    pub high: Vec3,
    /// Triangles or instances of a leaf; 0 for an inner node.
    pub count: u32,
}

impl BvhNode {
    /// The root of an empty BVH; rays do not enter it.
    pub const EMPTY: Self =
        Self { low: Aabb::EMPTY.low, first: 0, high: Aabb::EMPTY.high, count: 0 };

    /// Bounding box of the node.
    #[must_use]
    pub const fn bounds(&self) -> Aabb {
        Aabb { low: self.low, high: self.high }
    }

    fn set_bounds(&mut self, bounds: Aabb) {
        (self.low, self.high) = (bounds.low, bounds.high);
    }
}

/// A ray's origin and inverse direction for the slab test, computed once per ray and level.
#[derive(Clone, Copy, Debug)]
pub struct Slabs {
    origin: Vec3,
    inverse: Vec3,
}

/// Minimum component of a direction, as a fraction of its greatest component: avoids division by
/// zero and hence 0 * inf = NaN in the slab test. Over a ray's whole length the clamp moves it by
/// far less than single precision resolves.
const MIN_SLOPE: f32 = 1e-12;

/// 1 + 2 ulp: T. Ize, "Robust BVH Ray Traversal", JCGT 2(2), 2013, section 3.
pub const ROBUST: f32 = 1.0 + 2.0 * f32::EPSILON;

impl Slabs {
    /// Prepares a ray; the direction must not be zero.
    #[must_use]
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        let min = MIN_SLOPE * direction.abs().max_element();
        let guard = |d: f32| if d.abs() < min { min.copysign(d) } else { d };
        Self {
            origin,
            inverse: Vec3::new(guard(direction.x), guard(direction.y), guard(direction.z)).recip(),
        }
    }

    /// Reciprocal of the direction per axis.
    #[must_use]
    pub const fn inverse(&self) -> Vec3 {
        self.inverse
    }

    /// Slab test (Kay and Kajiya 1986): the entry distance in the box between `t_min` (0 or more)
    /// and `t_max`. The exit is widened as Ize 2013 derives, so that rounding never misses a box.
    /// `t_max` is widened alike: triangles at the distance of a hit are tested in any traversal
    /// order.
    #[must_use]
    #[inline]
    pub fn enter(&self, low: Vec3, high: Vec3, t_min: f32, t_max: f32) -> Option<f32> {
        let a = (low - self.origin) * self.inverse;
        let b = (high - self.origin) * self.inverse;
        let near = a.min(b).max_element().max(t_min);
        let far = a.max(b).min_element().min(t_max) * ROBUST;
        (near <= far).then_some(near)
    }
}

/// Recomputes the boxes of all nodes after vertices have moved. Exact: each inner box is the union
/// of its children's boxes, each leaf's box the union of `content` over its items.
///
/// The topology is kept, so quality degrades as the shape departs from the one at build time;
/// `sah_cost` measures it.
pub fn refit(nodes: &mut [BvhNode], base: u32, content: impl Fn(u32) -> Aabb) {
    // Children come after their parent.
    for index in (0..nodes.len()).rev() {
        let node = nodes[index];
        let bounds = if node.count > 0 {
            (node.first..node.first + node.count).map(&content).fold(Aabb::EMPTY, Aabb::union)
        } else {
            let child = (node.first - base) as usize;
            match (nodes.get(child), nodes.get(child + 1)) {
                (Some(left), Some(right)) => left.bounds().union(right.bounds()),
                // The root of an empty BVH has no children.
                _ => continue,
            }
        };
        nodes[index].set_bounds(bounds);
    }
}

/// SAH cost: expected box tests of a random ray that hits the root, with a triangle test counted as
/// one (Goldsmith and Salmon 1987; MacDonald and Booth 1990). A refitted BVH whose cost has grown
/// by half is worth a rebuild.
#[must_use]
pub fn sah_cost(nodes: &[BvhNode]) -> f32 {
    let root = nodes.first().map_or(0.0, |root| root.bounds().half_area());
    if root <= 0.0 {
        return 0.0;
    }
    let sum: f64 = nodes
        .iter()
        .map(|node| {
            f64::from(node.bounds().half_area())
                * f64::from(if node.count > 0 { node.count } else { 2 })
        })
        .sum();
    (sum / f64::from(root)) as f32
}
