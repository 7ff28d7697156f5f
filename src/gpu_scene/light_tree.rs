//! Light tree, and an upper bound on the light of dropped lights (docs/clustered-lights.md).
//!
//! A light of `I` candela gives at most `I/d^2` lux. A cluster of pixels that drops every light
//! below `t` lux loses, at a point `x`, the sum of `I/d^2` over those lights. `loss_table` bounds
//! that sum for every point of the scene and many `t`, once per scene. The shader takes the largest
//! `t` whose loss stays below the bound under the current exposure and the cluster's own BRDF.

use std::f64::consts::PI;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::gpu::shader_structs::frame::LightNode;

/// Light of the tree.
#[derive(Clone, Copy, Debug)]
pub struct LightBound {
    /// World position (m).
    pub position: DVec3,
    /// Radius of the light around its position (m); 0 for points.
    pub radius: f64,
    /// Intensity in the strongest direction (cd by channel).
    pub intensity: Vec3,
    /// Directions into which the light emits.
    pub cone: EmissionCone,
}

/// Cone of directions.
#[derive(Clone, Copy, Debug)]
pub struct EmissionCone {
    /// Axis (unit).
    pub axis: DVec3,
    /// Half angle (rad), 0 to pi.
    pub spread: f64,
}

impl EmissionCone {
    /// All directions.
    pub const ALL: Self = Self { axis: DVec3::Y, spread: PI };

    /// A cone that contains both. Conty Estevez and Kulla 2018, "Importance Sampling of Many Lights
    /// with Adaptive Tree Splitting", algorithm 1.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        let (wide, narrow) =
            if self.spread >= other.spread { (self, other) } else { (other, self) };
        let between = wide.axis.angle_between(narrow.axis);
        if (between + narrow.spread).min(PI) <= wide.spread {
            return wide;
        }
        let spread = 0.5 * (wide.spread + between + narrow.spread);
        let across = (narrow.axis - wide.axis * wide.axis.dot(narrow.axis)).try_normalize();
        match across {
            Some(across) if spread < PI => {
                let (sine, cosine) = (spread - wide.spread).sin_cos();
                Self { axis: wide.axis * cosine + across * sine, spread }
            }
            _ => Self::ALL,
        }
    }
}

/// Node with its center in world space.
#[derive(Clone, Copy, Debug)]
pub struct LightTreeNode {
    /// Center of the bounding sphere of the node's lights (m).
    pub center: DVec3,
    /// Sum over lights of the largest channel (cd).
    sum: f64,
    /// Number of lights.
    count: f64,
    /// Remaining fields, with a zero center.
    pub shader: LightNode,
}

/// Marks an inner node.
pub const NO_LIGHT: u32 = u32::MAX;

/// Builds the tree in depth-first order. `first`: index of the first of these lights in the frame's
/// lights.
#[must_use]
pub fn build(local_lights: &[LightBound], first: u32) -> Vec<LightTreeNode> {
    let mut nodes = Vec::with_capacity(local_lights.len() * 2);
    let mut order: Vec<usize> = (0..local_lights.len()).collect();
    if !order.is_empty() {
        build_node(local_lights, &mut order, first, &mut nodes);
    }
    nodes
}

/// Splits at the median of the longest axis: the depth is logarithmic in the count, whatever the
/// positions.
fn build_node(
    local_lights: &[LightBound],
    order: &mut [usize],
    first: u32,
    nodes: &mut Vec<LightTreeNode>,
) {
    let (low, high) =
        order.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &light| {
            (low.min(local_lights[light].position), high.max(local_lights[light].position))
        });
    let here = nodes.len();
    nodes.push(summary(local_lights, order, low * 0.5 + high * 0.5));
    if let &[light] = &*order {
        nodes[here].shader.light = first + light as u32;
    } else {
        let size = high - low;
        let axis =
            if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
        let middle = order.len() / 2;
        // Ties are broken by index, so that equal lights give equal trees.
        order.select_nth_unstable_by(middle, |&a, &b| {
            local_lights[a].position[axis]
                .total_cmp(&local_lights[b].position[axis])
                .then(a.cmp(&b))
        });
        let (left, right) = order.split_at_mut(middle);
        build_node(local_lights, left, first, nodes);
        build_node(local_lights, right, first, nodes);
    }
    nodes[here].shader.skip = nodes.len() as u32;
}

fn max_intensity(light: &LightBound) -> f64 {
    f64::from(light.intensity.max_element())
}

fn summary(local_lights: &[LightBound], order: &[usize], center: DVec3) -> LightTreeNode {
    let radius = order
        .iter()
        .map(|&light| local_lights[light].position.distance(center) + local_lights[light].radius)
        .fold(0.0, f64::max);
    let strongest =
        order.iter().map(|&light| max_intensity(&local_lights[light])).fold(0.0, f64::max);
    let cone = order
        .iter()
        .map(|&light| local_lights[light].cone)
        .reduce(EmissionCone::union)
        .unwrap_or(EmissionCone::ALL);
    LightTreeNode {
        center,
        sum: order.iter().map(|&light| max_intensity(&local_lights[light])).sum(),
        count: order.len() as f64,
        shader: LightNode {
            center: Vec3::ZERO,
            // Rounded up, so that the bounds are conservative.
            radius: radius as f32 * 1.000_001,
            strongest: strongest as f32 * 1.000_001,
            skip: 0,
            light: NO_LIGHT,
            intensity: order.iter().map(|&light| local_lights[light].intensity).sum(),
            axis: cone.axis.as_vec3(),
            // Widened by the rounding of single precision.
            cos_spread: if cone.spread < PI - 1e-3 {
                (cone.spread + 1e-3).cos() as f32
            } else {
                -1.0
            },
        },
    }
}

/// Number of thresholds of the table: half octaves of lux from 2^-30 on.
pub const STEPS: usize = 128;

/// Threshold of a step (lx).
#[must_use]
pub fn threshold(step: usize) -> f64 {
    (step as f64 * 0.5 - 30.0).exp2()
}

/// Approximate number of cells of the scene's box.
const CELLS: f64 = 4096.0;

/// Maximum ratio of far to near distance for which a node's lights are summed as a group.
const UNEQUAL: f64 = 1.15;

/// For each threshold, an upper bound (lx) of the light that all lights below it add at any point
/// of the scene's box.
#[must_use]
pub fn loss_table(nodes: &[LightTreeNode], low: DVec3, high: DVec3) -> Vec<f32> {
    // Positions reconstructed from depth have fewer digits than the vertices.
    let pad =
        (high - low).max_element() * 1e-5 + low.abs().max(high.abs()).max_element() * 1e-5 + 1e-3;
    let (low, high) = (low - pad, high + pad);
    let size = high - low;
    // Fewer cells for millions of lights: the table is built at load time.
    let cells = CELLS * (20_000.0 / nodes.len().max(1) as f64).clamp(0.01, 1.0);
    let edge = (size.x * size.y * size.z / cells).cbrt();
    // Limits the cell count along each axis of a flat box.
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

/// Upper bound per threshold on the light that lights below it add to any point of the cell.
///
/// A light at distances from `near` to `far` to the cell's points is dropped somewhere in the cell
/// if `I/far^2 < t`. Where it is dropped, it adds less than both `t` and `I/near^2`.
fn cell_losses(nodes: &[LightTreeNode], low: DVec3, high: DVec3) -> Vec<f64> {
    // Per step: lights that count with the threshold from here on, lights that no longer do, and
    // light added from here on by those that count with their own value.
    let mut starts = vec![0.0; STEPS + 1];
    let mut ends = vec![0.0; STEPS + 1];
    let mut sums = vec![0.0; STEPS + 1];
    let first_above = |lux: f64| -> usize {
        // At or before the first step whose threshold is larger: counting early only overestimates.
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
        // In a group, some light may be below any threshold; a single light's range is known.
        let from = if leaf { first_above(node.sum / (far * far)).min(STEPS) } else { 0 };
        // From this step on, the group's own light is below its count times the threshold.
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
                cone: EmissionCone {
                    axis: DVec3::new(next() - 0.5, -next() - 0.01, next() - 0.5).normalize(),
                    spread: next(),
                },
            })
            .collect()
    }

    #[test]
    fn every_lamp_is_a_leaf_once_and_nodes_hold_what_is_below_them() {
        let local_lights = scattered(81);
        let nodes = build(&local_lights, 5);
        assert_eq!(nodes.len(), local_lights.len() * 2 - 1);
        let mut leaves: Vec<u32> =
            nodes.iter().map(|n| n.shader.light).filter(|&l| l != NO_LIGHT).collect();
        leaves.sort_unstable();
        assert_eq!(leaves, (5..5 + local_lights.len() as u32).collect::<Vec<_>>());
        for (index, node) in nodes.iter().enumerate() {
            let end = node.shader.skip as usize;
            assert!(end > index && end <= nodes.len());
            let leaves = nodes[index..end].iter().filter(|n| n.shader.light != NO_LIGHT);
            for light in leaves.map(|n| &local_lights[n.shader.light as usize - 5]) {
                assert!(light.position.distance(node.center) <= f64::from(node.shader.radius));
                assert!(light.intensity.x <= node.shader.strongest);
                let turned = node.shader.axis.as_dvec3().angle_between(light.cone.axis);
                let half = f64::from(node.shader.cos_spread).acos();
                assert!(turned + light.cone.spread <= half, "{turned} in {half}");
            }
        }
    }

    #[test]
    fn all_lamps_at_one_place_do_not_break_the_tree() {
        let local_lights = vec![
            LightBound {
                position: DVec3::ONE,
                radius: 0.0,
                intensity: Vec3::ONE,
                cone: EmissionCone::ALL,
            };
            1000
        ];
        let nodes = build(&local_lights, 0);
        assert_eq!(nodes.len(), 1999);
        assert!(nodes[0].shader.radius < 1e-6);
    }

    #[test]
    fn faint_far_and_dark_lamps_are_counted() {
        for (candela, extent) in
            [(1.0, 600_000.0), (100.0, 5_000_000.0), (0.0, 10.0), (1e-30, 10.0)]
        {
            let local_lights = [LightBound {
                position: DVec3::new(0.0, 1.0, 0.0),
                radius: 0.0,
                intensity: Vec3::splat(candela),
                cone: EmissionCone::ALL,
            }];
            let table =
                loss_table(&build(&local_lights, 0), DVec3::splat(-extent), DVec3::splat(extent));
            for (step, &bound) in table.iter().enumerate() {
                // Somewhere in the box, the light gives just less than the threshold.
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
        let local_lights = scattered(600);
        let nodes = build(&local_lights, 0);
        let (low, high) = (DVec3::ZERO, DVec3::new(40.0, 5.0, 30.0));
        let table = loss_table(&nodes, low, high);
        let mut tightest = f64::INFINITY;
        for point in scattered(300).iter().map(|light| light.position) {
            for (step, &bound) in table.iter().enumerate() {
                let lost: f64 = local_lights
                    .iter()
                    .map(|light| {
                        f64::from(light.intensity.x) / light.position.distance_squared(point)
                    })
                    .filter(|&lux| lux < threshold(step))
                    .sum();
                assert!(
                    lost <= f64::from(bound),
                    "step {step}: {lost} lx lost, above the bound of {bound}"
                );
                if lost > 0.0 {
                    tightest = tightest.min(f64::from(bound) / lost);
                }
            }
        }
        assert!(
            tightest < 1.5,
            "the tightest bound is {tightest} times the loss, expected below 1.5"
        );
        assert!(
            table.windows(2).all(|pair| pair[0] <= pair[1]),
            "the loss must not decrease with the threshold"
        );
    }
}
