//! Light tree over VPLs.
//!
//! Conty Estevez and Kulla, "Importance Sampling of Many Lights with Adaptive Tree Splitting" (HPG
//! 2018), section 4: top-down, by the surface-area-and-orientation heuristic over bins.

use glam::Vec3;
use rayon::prelude::*;

use super::vpl::{Vpl, VplNode};
use crate::{
    bvh::{pack_normal, unpack_normal},
    photometry::color::luminance,
};

/// Maximum depth of a leaf; the root has depth 0.
pub const MAX_DEPTH: u32 = 48;

/// Bins per axis, and per axis for `FEW` VPLs or fewer: most nodes are small, and their bins cost
/// more than their items.
const BINS: usize = 12;
const FEW_BINS: usize = 4;
const FEW: usize = 16;

/// Subtrees with fewer VPLs are built by one thread.
const PARALLEL: usize = 4096;

/// A VPL during the build.
#[derive(Clone, Copy)]
struct Item {
    position: Vec3,
    flux: f32,
    normal: Vec3,
    index: u32,
}

/// Aggregate of a group of items.
#[derive(Clone, Copy)]
struct Sum {
    low: Vec3,
    high: Vec3,
    normals: Vec3,
    flux: f32,
    count: u32,
}

impl Sum {
    const NONE: Self = Self {
        low: Vec3::INFINITY,
        high: Vec3::NEG_INFINITY,
        normals: Vec3::ZERO,
        flux: 0.0,
        count: 0,
    };

    fn add(&mut self, item: &Item) {
        self.low = self.low.min(item.position);
        self.high = self.high.max(item.position);
        self.normals += item.normal;
        self.flux += item.flux;
        self.count += 1;
    }

    fn join(&mut self, other: &Self) {
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
        self.normals += other.normals;
        self.flux += other.flux;
        self.count += other.count;
    }

    /// Flux times area times solid angle: section 4.4, equation 3. The cone is estimated from the
    /// length of the mean normal, which is `(1 + cos) / 2` for a spherical cap. The leaves' own
    /// cosine lobe adds a right angle to it.
    fn cost(&self, scale: f32) -> f32 {
        if self.count == 0 {
            return 0.0;
        }
        let size = (self.high - self.low).max(Vec3::splat(1e-4 * scale));
        let area = size.x * size.y + size.y * size.z + size.z * size.x;
        let mean = self.normals.length() / self.count as f32;
        // Section 4.1, with the lobe's own hemisphere: from pi for one direction to 4 pi for all.
        let angle = std::f32::consts::PI * (1.0 + 3.0 * 2.0 * (1.0 - mean).clamp(0.0, 0.5));
        self.flux * area * angle
    }
}

/// Builds the light tree, the root first; no nodes for no VPLs. Children are adjacent and come
/// after their parent. The same VPLs give the same bits for any number of threads. No leaf lies
/// deeper than `MAX_DEPTH`, for any positions.
#[must_use]
pub fn light_tree(vpls: &[Vpl]) -> Vec<VplNode> {
    if vpls.is_empty() {
        return Vec::new();
    }
    let mut items: Vec<Item> = vpls
        .iter()
        .enumerate()
        .map(|(index, vpl)| Item {
            position: vpl.position,
            flux: luminance(vpl.flux.as_dvec3()) as f32,
            normal: unpack_normal(vpl.normal),
            index: index as u32,
        })
        .collect();
    let mut nodes = vec![VplNode::default(); 2 * vpls.len() - 1];
    let (root, rest) = nodes.split_at_mut(1);
    grow(&mut items, &mut root[0], rest, 1, 0);
    nodes
}

/// Builds the node over some items and its subtree: `rest` holds the subtree's nodes, `base` is the
/// index of the first.
fn grow(items: &mut [Item], node: &mut VplNode, rest: &mut [VplNode], base: u32, depth: u32) {
    let all = summed(items);
    *node = described(items, &all);
    let [first, ..] = items else { return };
    if all.count == 1 {
        (node.first, node.leaf) = (first.index, 1);
        return;
    }
    node.first = base;
    let at = split(items, &all, depth);
    let (left, right) = items.split_at_mut(at);
    // The two children, the subtree of the first, the subtree of the second.
    let (children, rest) = rest.split_at_mut(2);
    let below_left = 2 * (left.len() - 1);
    let (rest_left, rest_right) = rest.split_at_mut(below_left);
    let [child_left, child_right] = children else { return };
    let base_right = base + 2 + below_left as u32;
    if all.count as usize >= PARALLEL {
        rayon::join(
            || grow(left, child_left, rest_left, base + 2, depth + 1),
            || grow(right, child_right, rest_right, base_right, depth + 1),
        );
    } else {
        grow(left, child_left, rest_left, base + 2, depth + 1);
        grow(right, child_right, rest_right, base_right, depth + 1);
    }
}

fn summed(items: &[Item]) -> Sum {
    let mut all = Sum::NONE;
    for item in items {
        all.add(item);
    }
    all
}

/// A node with box, flux and cone. The axis is the mean of the normals, the cone the narrowest
/// around it that contains them all.
fn described(items: &[Item], all: &Sum) -> VplNode {
    let flux: f64 = items.iter().map(|item| f64::from(item.flux)).sum();
    let mut node =
        VplNode { low: all.low, high: all.high, flux: flux as f32, ..VplNode::default() };
    let axis = all.normals.try_normalize().unwrap_or(Vec3::Z);
    node.axis = pack_normal(axis);
    // As the device decodes it.
    let axis = unpack_normal(node.axis);
    let least = items.iter().map(|item| axis.dot(item.normal)).fold(1.0, f32::min);
    // Rounded outward; for a wide cone the exact width hardly matters.
    node.cos_spread = if least <= -0.99 { -1.0 } else { (least - 1e-6).max(-1.0) };
    node
}

/// Partitions the items into two nonempty groups and returns the size of the first.
fn split(items: &mut [Item], all: &Sum, depth: u32) -> usize {
    let middle = items.len() / 2;
    let size = all.high - all.low;
    // From here on only median splits stay within the maximum depth.
    let levels = usize::BITS - (items.len() - 1).leading_zeros();
    if items.len() == 2 {
        return 1;
    }
    if depth + levels >= MAX_DEPTH || !size.is_finite() || size.max_element() <= 0.0 {
        halve(items, size);
        return middle;
    }
    let few = items.len() <= FEW;
    let mut best: Option<(f32, usize, usize)> = None;
    let count = if few { FEW_BINS } else { BINS };
    let scale = Vec3::splat(count as f32) / size;
    let bin = |position: Vec3, axis: usize| {
        (((position[axis] - all.low[axis]) * scale[axis]) as usize).min(count - 1)
    };
    let longest = size.max_element();
    for axis in 0..3 {
        if size[axis] <= 0.0 {
            continue;
        }
        let found = if few {
            best_border::<FEW_BINS>(items, longest, |item| bin(item.position, axis))
        } else {
            best_border::<BINS>(items, longest, |item| bin(item.position, axis))
        };
        // Section 4.4: thin boxes are not split across their short side.
        let stretch = longest / size[axis];
        if let Some((cost, index)) = found
            && best.is_none_or(|(least, ..)| stretch * cost < least)
        {
            best = Some((stretch * cost, axis, index));
        }
    }
    let Some((_, axis, index)) = best else {
        halve(items, size);
        return middle;
    };
    let at = partition(items, |item| bin(item.position, axis) < index);
    if at == 0 || at == items.len() {
        halve(items, size);
        return middle;
    }
    at
}

/// The split plane of minimum total cost, as the first bin behind it; `None` where all items are in
/// one bin.
fn best_border<const N: usize>(
    items: &[Item],
    scale: f32,
    bin: impl Fn(&Item) -> usize,
) -> Option<(f32, usize)> {
    let mut bins = [Sum::NONE; N];
    // A sample of many items is enough to choose the split.
    for item in items.iter().step_by((items.len() / 8192).max(1)) {
        bins[bin(item)].add(item);
    }
    let mut after = [None; N];
    let mut sum = Sum::NONE;
    for index in (1..N).rev() {
        sum.join(&bins[index]);
        after[index] = (sum.count > 0).then(|| sum.cost(scale));
    }
    let mut best: Option<(f32, usize)> = None;
    let mut before = Sum::NONE;
    for index in 1..N {
        before.join(&bins[index - 1]);
        let Some(behind) = after[index].filter(|_| before.count > 0 && bins[index - 1].count > 0)
        else {
            continue;
        };
        let cost = before.cost(scale) + behind;
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, index));
        }
    }
    best
}

/// Median split along the longest side; ties by index.
fn halve(items: &mut [Item], size: Vec3) {
    let axis = if size.is_finite() { size.max_position() } else { 0 };
    let middle = items.len() / 2;
    items.select_nth_unstable_by(middle, |a, b| {
        a.position[axis].total_cmp(&b.position[axis]).then(a.index.cmp(&b.index))
    });
}

/// Moves the items that satisfy `meant` to the front, in a deterministic order, and returns their
/// number.
fn partition(items: &mut [Item], meant: impl Fn(&Item) -> bool) -> usize {
    let mut at = 0;
    for index in 0..items.len() {
        if meant(&items[index]) {
            items.swap(at, index);
            at += 1;
        }
    }
    at
}

/// VPLs in leaf order: neighbors in space that face similar ways.
fn leaves(nodes: &[VplNode]) -> Vec<u32> {
    let mut order = Vec::with_capacity(nodes.len() / 2 + 1);
    let mut stack = vec![0u32];
    while let Some(node) = stack.pop().and_then(|index| nodes.get(index as usize)) {
        if node.leaf == 1 {
            order.push(node.first);
        } else {
            stack.extend([node.first + 1, node.first]);
        }
    }
    order
}

/// Neighbors in leaf order that are examined on each side.
const WINDOW: usize = 24;
/// Index of the neighbor that gives the size: as many VPLs share the area within its distance.
const NEAREST: usize = 4;

/// Sets each VPL's disk radius. The farthest of `NEAREST` neighbors that face the same way (within
/// 60 degrees) is `r` away, so each VPL has `pi r^2 / NEAREST`. Only neighbors near in the tree are
/// examined: a missed one makes the size too large.
pub(super) fn measure(vpls: &mut [Vpl], nodes: &[VplNode], extent: f32) {
    let order = leaves(nodes);
    let places: Vec<(Vec3, Vec3)> = order
        .iter()
        .map(|&index| {
            vpls.get(index as usize)
                .map_or((Vec3::ZERO, Vec3::Z), |v| (v.position, unpack_normal(v.normal)))
        })
        .collect();
    let most = extent.max(1e-6);
    let size = |at: usize| {
        let (position, normal) = places[at];
        let mut nearest = [f32::INFINITY; NEAREST];
        let window = at.saturating_sub(WINDOW)..(at + WINDOW + 1).min(places.len());
        for (other, &(place, facing)) in places[window.clone()].iter().enumerate() {
            if other + window.start == at || normal.dot(facing) < 0.5 {
                continue;
            }
            let mut distance = place.distance_squared(position);
            for slot in &mut nearest {
                if distance < *slot {
                    std::mem::swap(slot, &mut distance);
                }
            }
        }
        let found = nearest.iter().filter(|d| d.is_finite()).count();
        let farthest = nearest.iter().rev().find(|d| d.is_finite()).map_or(most, |d| d.sqrt());
        (farthest / (found.max(1) as f32).sqrt()).clamp(1e-4 * most, most)
    };
    let sizes: Vec<f32> = (0..places.len()).into_par_iter().with_min_len(1024).map(size).collect();
    for (&index, size) in order.iter().zip(sizes) {
        if let Some(vpl) = vpls.get_mut(index as usize) {
            vpl.size = size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gi::sequence::mixed;

    fn number(seed: u32) -> f32 {
        mixed(seed) as f32 / u32::MAX as f32
    }

    fn vpls(count: u32, place: impl Fn(u32) -> Vec3) -> Vec<Vpl> {
        (0..count)
            .map(|i| {
                let n = Vec3::new(
                    number(7 * i + 1) - 0.5,
                    number(7 * i + 2) - 0.5,
                    number(7 * i + 3) - 0.5,
                );
                let flux = Vec3::new(number(7 * i + 4), number(7 * i + 5), number(7 * i + 6));
                Vpl {
                    position: place(i),
                    normal: pack_normal(n.normalize_or(Vec3::Z)),
                    flux,
                    size: 0.0,
                }
            })
            .collect()
    }

    /// Every VPL is in one leaf; boxes, cones and flux contain those below; the depth is bounded.
    fn check(vpls: &[Vpl]) -> u32 {
        let nodes = light_tree(vpls);
        assert_eq!(nodes.len(), 2 * vpls.len() - 1);
        let mut seen = vec![false; vpls.len()];
        let mut used = vec![false; nodes.len()];
        used[0] = true;
        let mut deepest = 0;
        let mut stack = vec![(0usize, 0u32, vec![])];
        while let Some((at, depth, above)) = stack.pop() {
            let node = nodes[at];
            deepest = deepest.max(depth);
            let mut above: Vec<usize> = above;
            above.push(at);
            if node.leaf == 1 {
                assert!(!std::mem::replace(&mut seen[node.first as usize], true));
                let vpl = vpls[node.first as usize];
                for &up in &above {
                    let up = nodes[up];
                    assert!(vpl.position.cmpge(up.low).all() && vpl.position.cmple(up.high).all());
                    assert!(unpack_normal(up.axis).dot(unpack_normal(vpl.normal)) >= up.cos_spread);
                }
            } else {
                assert!(node.first as usize > at);
                let flux = nodes[node.first as usize].flux + nodes[node.first as usize + 1].flux;
                assert!((flux - node.flux).abs() <= 1e-4 * flux.max(1e-20));
                for child in [node.first as usize, node.first as usize + 1] {
                    assert!(!std::mem::replace(&mut used[child], true));
                    stack.push((child, depth + 1, above.clone()));
                }
            }
        }
        assert!(seen.iter().all(|&seen| seen) && used.iter().all(|&used| used));
        deepest
    }

    #[test]
    fn holds_everything_and_is_not_deep() {
        assert!(light_tree(&[]).is_empty());
        assert_eq!(check(&vpls(1, |_| Vec3::ONE)), 0);
        assert_eq!(check(&vpls(2, |_| Vec3::ONE)), 1);
        let room =
            check(&vpls(3000, |i| Vec3::new(number(i), number(i + 9000), number(i + 18_000))));
        println!("3000 in a room: depth {room}");
        assert!(room < 24);
        // Coincident VPLs; positions that converge by halves, where every spatial split separates
        // one VPL.
        assert_eq!(check(&vpls(4096, |_| Vec3::splat(0.25))), 12);
        let halves = check(&vpls(3000, |i| Vec3::splat(0.5_f32.powi((i % 120) as i32))));
        let line = check(&vpls(3000, |i| Vec3::X * 1.01_f32.powi(i as i32 % 2000)));
        println!("halves: depth {halves}; a growing line: depth {line}");
        assert!(halves <= MAX_DEPTH && line <= MAX_DEPTH);
        let mut dark = vpls(500, |i| Vec3::splat(number(i)));
        dark.iter_mut().for_each(|vpl| vpl.flux = Vec3::ZERO);
        assert!(check(&dark) <= MAX_DEPTH);
    }

    #[test]
    fn threads_do_not_matter() {
        let vpls = vpls(20_000, |i| Vec3::new(number(i), number(i + 90_000), number(i + 180_000)));
        let one = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap()
            .install(|| light_tree(&vpls));
        assert_eq!(one, light_tree(&vpls));
    }

    /// On a plane of uniformly spread VPLs each represents its share of the area.
    #[test]
    fn sizes_are_of_the_area_that_each_stands_for() {
        let n = 64;
        let mut plane: Vec<Vpl> = (0..n * n)
            .map(|i| Vpl {
                position: Vec3::new((i % n) as f32 / n as f32, 0.0, (i / n) as f32 / n as f32),
                normal: pack_normal(Vec3::Y),
                flux: Vec3::ONE,
                size: 0.0,
            })
            .collect();
        let nodes = light_tree(&plane);
        measure(&mut plane, &nodes, 1.0);
        let area: f32 = plane.iter().map(|vpl| std::f32::consts::PI * vpl.size * vpl.size).sum();
        println!("area of all: {area}");
        assert!((0.7..1.6).contains(&area), "{area}");
    }
}
