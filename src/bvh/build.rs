//! BVH construction: top-down SAH splits over bins, in parallel. The same input always gives the
//! same tree.

use glam::Vec3;
use rayon::prelude::*;

use super::node::{Aabb, BvhNode};

/// An input of the build: the bounds and the index of a triangle or an instance.
#[derive(Clone, Copy, Debug)]
pub struct BuildItem {
    /// Bounding box.
    pub bounds: Aabb,
    /// Index of the triangle or instance.
    pub index: u32,
}

impl BuildItem {
    /// Twice the center of the box, the key that splits compare.
    fn center(&self) -> Vec3 {
        self.bounds.low + self.bounds.high
    }
}

/// Maximum depth of a BVH. Balanced splits from this depth on would fit 2^`MAX_DEPTH` items; a
/// traversal stack holds at most one node per level.
pub const MAX_DEPTH: u32 = 30;

/// Bins per axis (Wald 2007, "On fast Construction of SAH-based Bounding Volume Hierarchies").
const BINS: usize = 16;

/// Subtrees with fewer items are built by one thread.
const PARALLEL: usize = 4096;

/// Builds a BVH over the items: the root first, no nodes for no items. Reorders `items` into leaf
/// order. A leaf holds at most `max_leaf` items and refers to them by their index in that order.
#[must_use]
pub fn build(items: &mut [BuildItem], max_leaf: usize) -> Vec<BvhNode> {
    if items.is_empty() {
        return vec![BvhNode::EMPTY];
    }
    // A subtree of n items has at most 2n - 2 nodes below its root: each call owns that many slots.
    let mut slots = vec![BvhNode::EMPTY; 2 * items.len()];
    let (root, below) = slots.split_at_mut(1);
    let builder = Builder { max_leaf: max_leaf.max(1) };
    builder.subtree(items, &mut root[0], below, Place { item: 0, slot: 1, depth: 0 });
    compact(&slots)
}

/// Item and slot range of a subtree.
#[derive(Clone, Copy)]
struct Place {
    /// First item, in the order of all items.
    item: u32,
    /// First slot that the subtree owns.
    slot: u32,
    depth: u32,
}

struct Builder {
    max_leaf: usize,
}

impl Builder {
    fn subtree(
        &self,
        items: &mut [BuildItem],
        root: &mut BvhNode,
        slots: &mut [BvhNode],
        at: Place,
    ) {
        let (bounds, centers) = extents(items);
        *root = BvhNode {
            low: bounds.low,
            high: bounds.high,
            first: at.item,
            count: items.len() as u32,
        };
        let Some(middle) = self.split(items, bounds, centers, at.depth) else { return };
        *root = BvhNode { first: at.slot, count: 0, ..*root };
        let (left, right) = items.split_at_mut(middle);
        let (children, slots) = slots.split_at_mut(2);
        let (first, second) = children.split_at_mut(1);
        let (left_slots, right_slots) = slots.split_at_mut(2 * left.len() - 2);
        let (slot, depth) = (at.slot + 2, at.depth + 1);
        let left_at = Place { slot, depth, ..at };
        let right_at =
            Place { item: at.item + middle as u32, slot: slot + left_slots.len() as u32, depth };
        let parallel = left.len().max(right.len()) > PARALLEL;
        let mut go_left = || self.subtree(left, &mut first[0], left_slots, left_at);
        let mut go_right = || self.subtree(right, &mut second[0], right_slots, right_at);
        if parallel {
            rayon::join(go_left, go_right);
        } else {
            go_left();
            go_right();
        }
    }

    /// Partitions the items and returns the size of the first side; `None` where a leaf is cheaper.
    fn split(
        &self,
        items: &mut [BuildItem],
        bounds: Aabb,
        centers: Aabb,
        depth: u32,
    ) -> Option<usize> {
        let count = items.len();
        if count <= 1 {
            return None;
        }
        let levels = usize::BITS - (count - 1).leading_zeros();
        let must_halve = depth + levels >= MAX_DEPTH;
        let best = if must_halve { None } else { best_split(items, centers) };
        let Some(split) = best else {
            // No plane separates the centers, or no depth is left for unbalanced splits.
            return (count > self.max_leaf).then(|| halve(items, centers));
        };
        let area = bounds.half_area();
        let as_leaf = count as f32 * area;
        // A split costs one box test more than a leaf; box and triangle tests cost the same.
        if count <= self.max_leaf && as_leaf <= split.cost + area {
            return None;
        }
        let middle = partition(items, |item| split.bin(item, centers) < split.bin);
        debug_assert!(middle > 0 && middle < count);
        Some(middle)
    }
}

/// Bounds of the items and of their (doubled) centers.
fn extents(items: &[BuildItem]) -> (Aabb, Aabb) {
    let of = |items: &[BuildItem]| {
        items.iter().fold((Aabb::EMPTY, Aabb::EMPTY), |(bounds, centers), item| {
            (bounds.union(item.bounds), centers.with(item.center()))
        })
    };
    if items.len() <= PARALLEL {
        return of(items);
    }
    // Unions do not depend on the order, so thread scheduling does not change the tree.
    let join = |a: (Aabb, Aabb), b: (Aabb, Aabb)| (a.0.union(b.0), a.1.union(b.1));
    items.par_chunks(PARALLEL).map(of).reduce(|| (Aabb::EMPTY, Aabb::EMPTY), join)
}

/// A split plane between two bins of one axis.
#[derive(Clone, Copy)]
struct Split {
    axis: usize,
    /// Bins below this one are on the first side.
    bin: usize,
    /// SAH cost: items times half area, summed over both sides.
    cost: f32,
}

impl Split {
    fn bin(&self, item: &BuildItem, centers: Aabb) -> usize {
        bin_of(item.center()[self.axis], centers.low[self.axis], centers.high[self.axis])
    }
}

fn bin_of(center: f32, low: f32, high: f32) -> usize {
    let scale = BINS as f32 / (high - low);
    (((center - low) * scale) as usize).min(BINS - 1)
}

#[derive(Clone, Copy)]
struct Bin {
    bounds: Aabb,
    count: u32,
}

type Bins = [[Bin; BINS]; 3];
const NO_BINS: Bins = [[Bin { bounds: Aabb::EMPTY, count: 0 }; BINS]; 3];

fn fill(items: &[BuildItem], centers: Aabb) -> Bins {
    let mut bins = NO_BINS;
    for item in items {
        let center = item.center();
        for (axis, bins) in bins.iter_mut().enumerate() {
            let (low, high) = (centers.low[axis], centers.high[axis]);
            if high > low {
                let bin = &mut bins[bin_of(center[axis], low, high)];
                bin.bounds = bin.bounds.union(item.bounds);
                bin.count += 1;
            }
        }
    }
    bins
}

fn best_split(items: &[BuildItem], centers: Aabb) -> Option<Split> {
    let bins = if items.len() <= PARALLEL {
        fill(items, centers)
    } else {
        let join = |mut a: Bins, b: Bins| {
            for (a, b) in a.iter_mut().flatten().zip(b.iter().flatten()) {
                *a = Bin { bounds: a.bounds.union(b.bounds), count: a.count + b.count };
            }
            a
        };
        items.par_chunks(PARALLEL).map(|items| fill(items, centers)).reduce(|| NO_BINS, join)
    };
    let mut best: Option<Split> = None;
    for (axis, bins) in bins.iter().enumerate() {
        // Bounds above each plane, accumulated from the far end.
        let mut above = [0f32; BINS];
        let (mut bounds, mut count) = (Aabb::EMPTY, 0);
        for index in (1..BINS).rev() {
            bounds = bounds.union(bins[index].bounds);
            count += bins[index].count;
            above[index] = if count == 0 { f32::NAN } else { bounds.half_area() * count as f32 };
        }
        (bounds, count) = (Aabb::EMPTY, 0);
        for index in 1..BINS {
            bounds = bounds.union(bins[index - 1].bounds);
            count += bins[index - 1].count;
            let cost = bounds.half_area() * count as f32 + above[index];
            // NaN or infinite where a side is empty or where areas overflow.
            if count > 0 && cost.is_finite() && best.is_none_or(|best| cost < best.cost) {
                best = Some(Split { axis, bin: index, cost });
            }
        }
    }
    best
}

/// Moves the items that satisfy the condition to the front. The order of both sides is
/// deterministic.
fn partition(items: &mut [BuildItem], first: impl Fn(&BuildItem) -> bool) -> usize {
    let (mut low, mut high) = (0, items.len());
    while low < high {
        if first(&items[low]) {
            low += 1;
        } else {
            high -= 1;
            items.swap(low, high);
        }
    }
    low
}

/// Median split by the centers along the longest axis.
fn halve(items: &mut [BuildItem], centers: Aabb) -> usize {
    let axis = (centers.high - centers.low).max_position();
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, |a, b| {
        a.center()[axis].total_cmp(&b.center()[axis]).then(a.index.cmp(&b.index))
    });
    middle
}

/// Removes the slots that leaves of several items left free. Siblings stay adjacent and children
/// stay after their parents.
fn compact(slots: &[BvhNode]) -> Vec<BvhNode> {
    let mut nodes = Vec::with_capacity(slots.len());
    nodes.push(slots[0]);
    let mut open = vec![0];
    while let Some(index) = open.pop() {
        let node: BvhNode = nodes[index];
        if node.count > 0 {
            continue;
        }
        let (child, place) = (node.first as usize, nodes.len());
        nodes.extend_from_slice(&slots[child..child + 2]);
        nodes[index].first = place as u32;
        open.extend([place + 1, place]);
    }
    nodes.shrink_to_fit();
    nodes
}
