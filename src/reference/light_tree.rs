//! Light tree for the choice of a local light by its contribution at a point.
//!
//! Conty Estevez and Kulla, "Importance Sampling of Many Lights with Adaptive Tree Splitting"
//! (2018): bounds of position, orientation and intensity (section 4.1), a build by the surface area
//! orientation heuristic (section 4.4), and splits of the nodes that matter most (section 5.4).
//! Their traversal takes a light from each of the split nodes; this one takes a single light, and
//! the split nodes refine its probability.

use std::f64::consts::PI;

use glam::DVec3;

use super::receiver::{Receiver, Subtended, nearest_cosine, sine_of};

/// Maximum number of nodes that share a choice. Scenes with fewer lights choose by each light's own
/// estimate.
const CUT: usize = 32;
/// A node is split if its share of the estimate is greater.
const MAX_SHARE: f64 = 1.0 / 64.0;
/// Split candidates on each axis.
const BINS: usize = 12;
/// Marks an inner node, and a light without a leaf.
const NONE: u32 = u32::MAX;

/// Bounds of a light or of a group of lights.
#[derive(Clone, Copy, Debug)]
pub(super) struct LightBounds {
    /// Corners of the box (m).
    pub(super) low: DVec3,
    pub(super) high: DVec3,
    /// Axis of the cone of the surfaces' normals (unit).
    pub(super) axis: DVec3,
    /// Half angle of that cone (rad), 0 to pi.
    pub(super) normals: f64,
    /// Maximum angle (rad) between a normal and a direction of emission.
    pub(super) spread: f64,
    /// True if the opposite directions emit too.
    pub(super) two_sided: bool,
    /// Luminous intensity in the strongest direction (cd).
    pub(super) intensity: f64,
}

impl LightBounds {
    /// Bounds of both.
    fn union(self, other: Self) -> Self {
        let (axis, normals) =
            union_of_cones((self.axis, self.normals), (other.axis, other.normals));
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            axis,
            normals,
            spread: self.spread.max(other.spread),
            two_sided: self.two_sided || other.two_sided,
            intensity: self.intensity + other.intensity,
        }
    }

    /// Measure of the heuristic: intensity times surface area times solid angle of emission
    /// (section 4.4, equation 1).
    fn measure(&self) -> f64 {
        let size = self.high - self.low;
        // A plane or a line has extent too; a point has none, and costs nothing.
        let area = size.length_squared();
        let (normals, end) = (self.normals, (self.normals + self.spread).min(PI));
        let solid_angle = 2.0 * PI * (1.0 - normals.cos())
            + PI / 2.0
                * (2.0 * end * normals.sin()
                    - (normals - 2.0 * end).cos()
                    - 2.0 * normals * normals.sin()
                    + normals.cos());
        self.intensity * area * solid_angle
    }
}

/// A cone that contains two cones, each given by its axis and half angle (algorithm 1).
fn union_of_cones(a: (DVec3, f64), b: (DVec3, f64)) -> (DVec3, f64) {
    let (wide, narrow) = if a.1 >= b.1 { (a, b) } else { (b, a) };
    let between = wide.0.angle_between(narrow.0);
    if (between + narrow.1).min(PI) <= wide.1 {
        return wide;
    }
    let half_angle = 0.5 * (wide.1 + between + narrow.1);
    let across = (narrow.0 - wide.0 * wide.0.dot(narrow.0)).try_normalize();
    match across {
        Some(across) if half_angle < PI => {
            let (sine, cosine) = (half_angle - wide.1).sin_cos();
            (wide.0 * cosine + across * sine, half_angle)
        }
        _ => (wide.0, PI),
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// Bounding sphere (m).
    center: DVec3,
    radius: f64,
    axis: DVec3,
    /// Cone of normals.
    normals: Subtended,
    /// Cosine of the maximum angle of emission from a normal.
    spread_cosine: f64,
    two_sided: bool,
    intensity: f64,
    /// Index of the parent; `NONE` at the root.
    parent: u32,
    /// Index of the second child; the first follows its parent.
    second: u32,
    /// Index after the last node of the subtree.
    end: u32,
    /// Light of a leaf, else `NONE`.
    light: u32,
}

/// A binary tree over the local lights, in depth-first order.
#[derive(Clone, Debug, Default)]
pub(super) struct LightTree {
    nodes: Vec<Node>,
    /// Leaf of each light; `NONE` for lights outside of the tree.
    leaves: Vec<u32>,
}

/// Nodes among which a light is chosen at one point, in depth-first order. Together they contain
/// all lights.
#[derive(Clone, Copy, Debug)]
pub(super) struct LightCut {
    nodes: [(u32, f64); CUT],
    count: usize,
    /// Sum of the nodes' estimates.
    pub(super) sum: f64,
}

impl Default for LightCut {
    fn default() -> Self {
        Self { nodes: [(0, 0.0); CUT], count: 0, sum: 0.0 }
    }
}

impl LightTree {
    /// Builds the tree of lights by index; lights of no intensity have no leaf.
    pub(super) fn new(lights: &[Option<LightBounds>]) -> Self {
        let mut order: Vec<(u32, LightBounds)> = lights
            .iter()
            .enumerate()
            .filter_map(|(light, bounds)| {
                bounds
                    .filter(|b| b.intensity > 0.0 && b.intensity.is_finite())
                    .map(|b| (light as u32, b))
            })
            .collect();
        let mut tree =
            Self { nodes: Vec::with_capacity(order.len() * 2), leaves: vec![NONE; lights.len()] };
        if !order.is_empty() {
            tree.build(&mut order, NONE);
        }
        tree
    }

    /// True if there are no lights.
    pub(super) const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds the nodes of some lights in depth-first order.
    fn build(&mut self, order: &mut [(u32, LightBounds)], parent: u32) {
        let Some(bounds) = order.iter().map(|(_, b)| *b).reduce(LightBounds::union) else { return };
        let here = self.nodes.len();
        let size = bounds.high - bounds.low;
        self.nodes.push(Node {
            center: bounds.low + size * 0.5,
            radius: size.length() * 0.5,
            axis: bounds.axis,
            normals: if bounds.normals >= PI {
                Subtended::ALL
            } else {
                Subtended { sine: bounds.normals.sin(), cosine: bounds.normals.cos() }
            },
            spread_cosine: bounds.spread.cos(),
            two_sided: bounds.two_sided,
            intensity: bounds.intensity,
            parent,
            second: NONE,
            end: NONE,
            light: NONE,
        });
        if let [(light, _)] = order {
            self.nodes[here].light = *light;
            self.leaves[*light as usize] = here as u32;
        } else {
            let middle = split(order);
            let (first, second) = order.split_at_mut(middle);
            self.build(first, here as u32);
            self.nodes[here].second = self.nodes.len() as u32;
            self.build(second, here as u32);
        }
        self.nodes[here].end = self.nodes.len() as u32;
    }

    /// Estimate of what the lights of a node contribute at a receiver (nits). `exact` returns it
    /// for lights with a closed form. 0 only where none of them contributes.
    fn estimate(&self, node: u32, receiver: &Receiver, exact: &impl Fn(u32) -> Option<f64>) -> f64 {
        let Some(node) = self.nodes.get(node as usize) else { return 0.0 };
        if node.light != NONE
            && let Some(value) = exact(node.light)
        {
            return value;
        }
        let offset = node.center - receiver.position;
        let (square, radius2) = (offset.length_squared(), node.radius * node.radius);
        let (towards, cone) = if square > radius2 {
            let sine = node.radius / square.sqrt();
            (offset / square.sqrt(), Subtended { sine, cosine: sine_of(sine) })
        } else {
            (offset.normalize_or(DVec3::Y), Subtended::ALL)
        };
        let mut emission = 1.0;
        if node.normals.cosine > -1.0 {
            let cosine = -node.axis.dot(towards);
            let cosine = if node.two_sided { cosine.abs() } else { cosine }.clamp(-1.0, 1.0);
            emission = nearest_cosine(nearest_cosine(cosine, node.normals), cone);
            if emission < node.spread_cosine {
                return 0.0;
            }
        }
        let response = receiver.response(towards, cone);
        node.intensity * emission.max(1e-6) * response / square.max(radius2).max(1e-12)
    }

    /// The nodes among which to choose at a receiver.
    pub(super) fn cut(&self, receiver: &Receiver, exact: &impl Fn(u32) -> Option<f64>) -> LightCut {
        let mut cut = LightCut::default();
        if self.nodes.is_empty() {
            return cut;
        }
        let root = self.estimate(0, receiver, exact);
        (cut.nodes[0], cut.count, cut.sum) = ((0, root), 1, root);
        while cut.count < CUT {
            let mut widest = None;
            let mut most = MAX_SHARE * cut.sum;
            for (place, &(node, value)) in cut.nodes[..cut.count].iter().enumerate() {
                if value > most && self.nodes[node as usize].light == NONE {
                    (widest, most) = (Some(place), value);
                }
            }
            let Some(place) = widest else { break };
            let (node, _) = cut.nodes[place];
            let children = [node + 1, self.nodes[node as usize].second]
                .map(|child| (child, self.estimate(child, receiver, exact)));
            cut.nodes.copy_within(place + 1..cut.count, place + 2);
            (cut.nodes[place], cut.nodes[place + 1]) = (children[0], children[1]);
            cut.count += 1;
            // Summed again: differences would leave rounding errors of lights that dropped out.
            cut.sum = cut.nodes[..cut.count].iter().map(|(_, value)| value).sum();
        }
        cut
    }

    /// Chooses a light by a number in [0, 1). Returns the light, its probability, and the remainder
    /// of the number, uniform again; `None` where no light contributes.
    pub(super) fn sample(
        &self,
        cut: &LightCut,
        receiver: &Receiver,
        u: f64,
        exact: &impl Fn(u32) -> Option<f64>,
    ) -> Option<(u32, f64, f64)> {
        let mut left = u * cut.sum;
        let mut chosen = None;
        for &(node, value) in cut.nodes.get(..cut.count)? {
            if value > 0.0 {
                chosen = Some((node, value, left));
                if left < value {
                    break;
                }
                left -= value;
            }
        }
        let (mut node, value, left) = chosen?;
        let mut chance = value / cut.sum;
        let mut u = below_one(left / value);
        loop {
            let here = self.nodes.get(node as usize)?;
            if here.light != NONE {
                return Some((here.light, chance, u));
            }
            let children = [node + 1, here.second];
            let first = self.first_share(children, receiver, exact)?;
            if u < first {
                (node, chance, u) = (children[0], chance * first, below_one(u / first));
            } else {
                let second = 1.0 - first;
                (node, chance, u) = (children[1], chance * second, below_one((u - first) / second));
            }
        }
    }

    /// Probability of the first of two siblings; `None` if neither contributes.
    fn first_share(
        &self,
        children: [u32; 2],
        receiver: &Receiver,
        exact: &impl Fn(u32) -> Option<f64>,
    ) -> Option<f64> {
        let [a, b] = children.map(|child| self.estimate(child, receiver, exact));
        (a + b > 0.0).then(|| a / (a + b))
    }

    /// Probability with which `sample` chooses a light.
    pub(super) fn probability(
        &self,
        cut: &LightCut,
        receiver: &Receiver,
        light: u32,
        exact: &impl Fn(u32) -> Option<f64>,
    ) -> f64 {
        let Some(mut node) = self.leaves.get(light as usize).copied().filter(|&n| n != NONE) else {
            return 0.0;
        };
        let of_cut = cut.nodes[..cut.count].iter().find(|(above, _)| {
            self.nodes.get(*above as usize).is_some_and(|n| (*above..n.end).contains(&node))
        });
        let Some(&(above, value)) = of_cut.filter(|(_, value)| *value > 0.0) else { return 0.0 };
        let mut chance = value / cut.sum;
        while node != above {
            let parent = self.nodes[node as usize].parent;
            let children = [parent + 1, self.nodes[parent as usize].second];
            let Some(first) = self.first_share(children, receiver, exact) else { return 0.0 };
            chance *= if node == children[0] { first } else { 1.0 - first };
            node = parent;
        }
        chance
    }
}

/// Rounding may bring the remainder of a number to 1.
fn below_one(u: f64) -> f64 {
    u.clamp(0.0, 1.0 - f64::EPSILON)
}

/// Reorders lights so that a split between the returned number of them and the others has the least
/// cost over `BINS` planes on each axis.
fn split(order: &mut [(u32, LightBounds)]) -> usize {
    let center = |bounds: &LightBounds| bounds.low + (bounds.high - bounds.low) * 0.5;
    let (low, high) =
        order.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), (_, bounds)| {
            (low.min(center(bounds)), high.max(center(bounds)))
        });
    let size = high - low;
    let bin = |bounds: &LightBounds, axis: usize| {
        let place = (center(bounds)[axis] - low[axis]) / size[axis];
        ((place * BINS as f64) as usize).min(BINS - 1)
    };
    let mut best: Option<(f64, usize, usize)> = None;
    for axis in (0..3).filter(|&axis| size[axis] > 0.0) {
        let mut bins: [Option<LightBounds>; BINS] = [None; BINS];
        for (_, bounds) in &*order {
            let bin = &mut bins[bin(bounds, axis)];
            *bin = Some(bin.map_or(*bounds, |before| before.union(*bounds)));
        }
        let join = |a: Option<LightBounds>, b: &Option<LightBounds>| match (a, *b) {
            (Some(a), Some(b)) => Some(a.union(b)),
            (a, b) => a.or(b),
        };
        for plane in 1..BINS {
            let (below, above) = bins.split_at(plane);
            let (Some(below), Some(above)) =
                (below.iter().fold(None, join), above.iter().fold(None, join))
            else {
                continue;
            };
            // Thin boxes are penalized as in section 4.4.
            let cost = (below.measure() + above.measure()) * size.max_element() / size[axis];
            if best.is_none_or(|(least, _, _)| cost < least) {
                best = Some((cost, axis, plane));
            }
        }
    }
    let Some((_, axis, plane)) = best else {
        // All at one place.
        return order.len() / 2;
    };
    // A stable partition keeps the tree the same everywhere.
    order.sort_by_key(|(_, bounds)| bin(bounds, axis) >= plane);
    order.partition_point(|(_, bounds)| bin(bounds, axis) < plane)
}
