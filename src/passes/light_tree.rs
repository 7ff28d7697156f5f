//! A tree over the lamps, and how much light those add that are left out (docs/light-lists.md).
//!
//! A lamp of `I` candela gives at most `I/d^2` lux. A cluster of pixels that leaves out every lamp
//! below `t` lux loses, at a point `x`, the sum of `I/d^2` over those lamps. `LossTable` bounds
//! that sum for every point of the scene and many `t`, once per scene; the shader takes the
//! greatest `t` whose loss stays below the bound under the current exposure and the cluster's own
//! BRDF.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::shared::LightNode;

/// A lamp of the tree.
#[derive(Clone, Copy, Debug)]
pub struct LightBound {
    /// In the world (m).
    pub position: DVec3,
    /// How far it reaches from there (m): 0 for points.
    pub radius: f64,
    /// Candela by channel, in the direction where it is strongest.
    pub intensity: Vec3,
}

/// A node with its centre in the world.
#[derive(Clone, Copy, Debug)]
pub struct LightTreeNode {
    /// Of a sphere that holds the node's lamps (m).
    pub center: DVec3,
    /// Candela, sum over lamps of the greatest channel.
    sum: f64,
    /// How many lamps.
    count: f64,
    /// The rest, with an empty centre.
    pub shader: LightNode,
}

/// Marks a node that is no leaf.
pub const NO_LIGHT: u32 = u32::MAX;

/// Builds the tree in depth-first order. `first` is the number of the first lamp among the frame's
/// lights.
#[must_use]
pub fn build(lamps: &[LightBound], first: u32) -> Vec<LightTreeNode> {
    let mut nodes = Vec::with_capacity(lamps.len() * 2);
    let mut order: Vec<usize> = (0..lamps.len()).collect();
    if !order.is_empty() {
        build_node(lamps, &mut order, first, &mut nodes);
    }
    nodes
}

/// Splits at the median of the longest side: the depth is the logarithm of the count, whatever the
/// lamps' places.
fn build_node(
    lamps: &[LightBound],
    order: &mut [usize],
    first: u32,
    nodes: &mut Vec<LightTreeNode>,
) {
    let (low, high) =
        order.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &lamp| {
            (low.min(lamps[lamp].position), high.max(lamps[lamp].position))
        });
    let here = nodes.len();
    nodes.push(summary(lamps, order, low * 0.5 + high * 0.5));
    if let &[lamp] = &*order {
        nodes[here].shader.light = first + lamp as u32;
    } else {
        let size = high - low;
        let axis =
            if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
        let middle = order.len() / 2;
        // By number where places are equal, so that the same lamps always give the same tree.
        order.select_nth_unstable_by(middle, |&a, &b| {
            lamps[a].position[axis].total_cmp(&lamps[b].position[axis]).then(a.cmp(&b))
        });
        let (left, right) = order.split_at_mut(middle);
        build_node(lamps, left, first, nodes);
        build_node(lamps, right, first, nodes);
    }
    nodes[here].shader.skip = nodes.len() as u32;
}

fn greatest(lamp: &LightBound) -> f64 {
    f64::from(lamp.intensity.max_element())
}

fn summary(lamps: &[LightBound], order: &[usize], center: DVec3) -> LightTreeNode {
    let radius = order
        .iter()
        .map(|&lamp| lamps[lamp].position.distance(center) + lamps[lamp].radius)
        .fold(0.0, f64::max);
    let strongest = order.iter().map(|&lamp| greatest(&lamps[lamp])).fold(0.0, f64::max);
    LightTreeNode {
        center,
        sum: order.iter().map(|&lamp| greatest(&lamps[lamp])).sum(),
        count: order.len() as f64,
        shader: LightNode {
            center: Vec3::ZERO,
            // Rounded up: no lamp is outside.
            radius: radius as f32 * 1.000_001,
            strongest: strongest as f32 * 1.000_001,
            skip: 0,
            light: NO_LIGHT,
            pad0: 0,
        },
    }
}

/// Thresholds of the table: half octaves of lux from 2^-30 on.
pub const STEPS: usize = 128;

/// The threshold of a step (lx).
#[must_use]
pub fn threshold(step: usize) -> f64 {
    (step as f64 * 0.5 - 30.0).exp2()
}

/// Cells that the scene's box is divided into, about.
const CELLS: f64 = 4096.0;

/// How unequal the distances to a node's lamps may be for them to be summed at the least.
const UNEQUAL: f64 = 1.15;

/// For each threshold, an upper bound (lx) of what all lamps below it add at any point of the
/// scene's box.
#[must_use]
pub fn loss_table(nodes: &[LightTreeNode], low: DVec3, high: DVec3) -> Vec<f32> {
    // Pixels find their place again to a few digits less than the vertices had.
    let pad =
        (high - low).max_element() * 1e-5 + low.abs().max(high.abs()).max_element() * 1e-5 + 1e-3;
    let (low, high) = (low - pad, high + pad);
    let size = high - low;
    // Millions of lamps get fewer cells: the table is made while somebody waits.
    let cells = CELLS * (20_000.0 / nodes.len().max(1) as f64).clamp(0.01, 1.0);
    let edge = (size.x * size.y * size.z / cells).cbrt();
    // A flat box would get many cells along its short side.
    let counts = (size / edge).ceil().min(DVec3::splat(64.0)).max(DVec3::ONE).as_uvec3();
    let cell = size / counts.as_dvec3();
    let total = counts.x * counts.y * counts.z;
    let worst = (0..total)
        .into_par_iter()
        .map(|index| {
            let at = glam::uvec3(
                index % counts.x,
                index / counts.x % counts.y,
                index / (counts.x * counts.y),
            );
            let corner = low + at.as_dvec3() * cell;
            cell_losses(nodes, corner, corner + cell)
        })
        .reduce(
            || vec![0.0; STEPS],
            |mut a, b| {
                a.iter_mut().zip(b).for_each(|(a, b)| *a = f64::max(*a, b));
                a
            },
        );
    worst.into_iter().map(|loss| loss as f32 * 1.000_01).collect()
}

/// What lamps below each threshold add to a point of the cell, at most.
///
/// A lamp whose distance to the cell's points is between `near` and `far` is left out somewhere in
/// the cell if `I/far^2 < t`, and where it is left out it adds less than both `t` and `I/near^2`.
fn cell_losses(nodes: &[LightTreeNode], low: DVec3, high: DVec3) -> Vec<f64> {
    // By step: how many lamps count with the threshold itself from here on, how many no longer do,
    // and how much those that count with their own light add from here on.
    let mut starts = vec![0.0; STEPS + 1];
    let mut ends = vec![0.0; STEPS + 1];
    let mut sums = vec![0.0; STEPS + 1];
    let first_above = |lux: f64| -> usize {
        // At or before the first step whose threshold is above: what counts too early is only
        // counted too much.
        ((lux.max(1e-300).log2() + 30.0) * 2.0 - 1e-9).floor().clamp(0.0, STEPS as f64) as usize
    };
    let mut index = 0;
    while let Some(node) = nodes.get(index) {
        let radius = f64::from(node.shader.radius);
        let gap = node.center - node.center.clamp(low, high);
        let near = (gap.length() - radius).max(0.0);
        let corner = (node.center - low).abs().max((node.center - high).abs());
        let far = corner.length() + radius;
        let leaf = node.shader.light != NO_LIGHT;
        if !leaf && (far > near * UNEQUAL) {
            index += 1;
            continue;
        }
        let own = node.sum / (near * near).max(1e-12);
        // Of a group some lamp may be below any threshold; of a single one it is known.
        let from = if leaf { first_above(node.sum / (far * far)).min(STEPS) } else { 0 };
        // From this step on its own light is less than its share of thresholds.
        let to = (first_above(own / node.count) + 1).clamp(from, STEPS);
        starts[from] += node.count;
        ends[to] += node.count;
        sums[to] += own;
        index = node.shader.skip as usize;
    }
    let (mut counted, mut sum) = (0.0, 0.0);
    (0..STEPS)
        .map(|step| {
            counted += starts[step] - ends[step];
            sum += sums[step];
            counted * threshold(step) + sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered(count: usize) -> Vec<LightBound> {
        let mut seed = 7u64;
        let mut next = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 40) as f64 / f64::from(1 << 24)
        };
        (0..count)
            .map(|_| LightBound {
                position: DVec3::new(next() * 40.0, next() * 5.0, next() * 30.0),
                radius: 0.0,
                intensity: Vec3::splat(0.1 + next() as f32 * 3.0),
            })
            .collect()
    }

    #[test]
    fn every_lamp_is_a_leaf_once_and_nodes_hold_what_is_below_them() {
        let lamps = scattered(81);
        let nodes = build(&lamps, 5);
        assert_eq!(nodes.len(), lamps.len() * 2 - 1);
        let mut leaves: Vec<u32> =
            nodes.iter().map(|n| n.shader.light).filter(|&l| l != NO_LIGHT).collect();
        leaves.sort_unstable();
        assert_eq!(leaves, (5..5 + lamps.len() as u32).collect::<Vec<_>>());
        for (index, node) in nodes.iter().enumerate() {
            let end = node.shader.skip as usize;
            assert!(end > index && end <= nodes.len());
            let leaves = nodes[index..end].iter().filter(|n| n.shader.light != NO_LIGHT);
            for lamp in leaves.map(|n| &lamps[n.shader.light as usize - 5]) {
                assert!(lamp.position.distance(node.center) <= f64::from(node.shader.radius));
                assert!(lamp.intensity.x <= node.shader.strongest);
            }
        }
    }

    #[test]
    fn all_lamps_at_one_place_do_not_break_the_tree() {
        let lamps =
            vec![LightBound { position: DVec3::ONE, radius: 0.0, intensity: Vec3::ONE }; 1000];
        let nodes = build(&lamps, 0);
        assert_eq!(nodes.len(), 1999);
        assert!(nodes[0].shader.radius < 1e-6);
    }

    #[test]
    fn faint_far_and_dark_lamps_are_counted() {
        for (candela, extent) in
            [(1.0, 600_000.0), (100.0, 5_000_000.0), (0.0, 10.0), (1e-30, 10.0)]
        {
            let lamps = [LightBound {
                position: DVec3::new(0.0, 1.0, 0.0),
                radius: 0.0,
                intensity: Vec3::splat(candela),
            }];
            let table = loss_table(&build(&lamps, 0), DVec3::splat(-extent), DVec3::splat(extent));
            for (step, &bound) in table.iter().enumerate() {
                // Somewhere in the box the lamp gives just less than the threshold.
                let most = threshold(step).min(f64::from(candela) * 1e9);
                let least = f64::from(candela) / (3.0 * extent * extent);
                if threshold(step) > 2.0 * least {
                    assert!(
                        f64::from(bound) >= most * 0.5,
                        "{candela} cd in {extent} m: {bound} at {step}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_table_is_never_below_what_is_lost_at_any_point() {
        let lamps = scattered(600);
        let nodes = build(&lamps, 0);
        let (low, high) = (DVec3::ZERO, DVec3::new(40.0, 5.0, 30.0));
        let table = loss_table(&nodes, low, high);
        let mut tightest = f64::INFINITY;
        for point in scattered(300).iter().map(|lamp| lamp.position) {
            for (step, &bound) in table.iter().enumerate() {
                let lost: f64 = lamps
                    .iter()
                    .map(|lamp| f64::from(lamp.intensity.x) / lamp.position.distance_squared(point))
                    .filter(|&lux| lux < threshold(step))
                    .sum();
                assert!(
                    lost <= f64::from(bound),
                    "{lost} lx are lost, {bound} stated, at step {step}"
                );
                if lost > 0.0 {
                    tightest = tightest.min(f64::from(bound) / lost);
                }
            }
        }
        assert!(tightest < 1.5, "the bound is nowhere closer than {tightest} times the loss");
        assert!(
            table.windows(2).all(|pair| pair[0] <= pair[1]),
            "a higher threshold loses no less"
        );
    }
}
