//! Ray traversal of both levels.

use super::{
    build::MAX_DEPTH,
    node::{BvhNode, Slabs},
    ray::{Hit, Ray},
    scene::{BvhInstance, SLACK, SceneBvh, SceneTlas},
    traversal_stats::{TraversalCounter, TraversalStats},
    triangle::ShearedRay,
    wide_traversal as wide_walk,
};

/// Traversal stack: at most one node per level.
struct Stack {
    nodes: [u32; MAX_DEPTH as usize + 1],
    count: usize,
}

impl Stack {
    const fn new() -> Self {
        Self { nodes: [0; MAX_DEPTH as usize + 1], count: 0 }
    }

    fn push(&mut self, node: u32) {
        debug_assert!(self.count < self.nodes.len());
        if let Some(slot) = self.nodes.get_mut(self.count) {
            *slot = node;
            self.count += 1;
        }
    }

    fn pop(&mut self) -> Option<u32> {
        self.count = self.count.checked_sub(1)?;
        self.nodes.get(self.count).copied()
    }
}

/// Visits the leaves whose boxes the ray hits, near ones first, until `leaf` returns `None`.
/// Otherwise `leaf` returns the new maximum distance.
fn walk<T: TraversalCounter>(
    tally: &mut T,
    nodes: &[BvhNode],
    root: u32,
    slabs: &Slabs,
    t_min: f32,
    t_max: f32,
    mut leaf: impl FnMut(&mut T, &BvhNode, f32) -> Option<f32>,
) {
    let mut t_max = t_max;
    let mut stack = Stack::new();
    let enter = |node: &BvhNode, t_max: f32| slabs.enter(node.low, node.high, t_min, t_max);
    let mut current = nodes.get(root as usize).filter(|node| enter(node, t_max).is_some());
    while let Some(node) = current {
        tally.node();
        if node.count > 0 {
            match leaf(tally, node, t_max) {
                Some(nearer) => t_max = nearer,
                None => return,
            }
        } else {
            let (left, right) =
                (nodes.get(node.first as usize), nodes.get(node.first as usize + 1));
            let near = left.and_then(|node| enter(node, t_max));
            let far = right.and_then(|node| enter(node, t_max));
            current = match (near, far) {
                (Some(a), Some(b)) => {
                    stack.push(node.first + u32::from(a <= b));
                    if a <= b { left } else { right }
                }
                (Some(_), None) => left,
                (None, Some(_)) => right,
                (None, None) => None,
            };
            if current.is_some() {
                continue;
            }
        }
        // A node on the stack may lie beyond a hit found since.
        current = loop {
            let Some(next) = stack.pop().and_then(|index| nodes.get(index as usize)) else {
                break None;
            };
            if enter(next, t_max).is_some() {
                break Some(next);
            }
        };
    }
}

impl SceneBvh {
    /// The nearest hit.
    #[must_use]
    pub fn closest(&self, top: &SceneTlas, ray: &Ray) -> Option<Hit> {
        self.trace::<false, _>(&mut (), top, ray, |_| true)
    }

    /// True if the ray hits anything.
    #[must_use]
    pub fn occluded(&self, top: &SceneTlas, ray: &Ray) -> bool {
        self.trace::<true, _>(&mut (), top, ray, |_| true).is_some()
    }

    /// True if the ray hits anything that `counts` accepts. `counts` is called with hits in any
    /// order, at most once each, until it accepts one.
    #[must_use]
    pub fn occluded_by(
        &self,
        top: &SceneTlas,
        ray: &Ray,
        counts: impl FnMut(&Hit) -> bool,
    ) -> bool {
        self.trace::<true, _>(&mut (), top, ray, counts).is_some()
    }

    /// Traversal cost of `closest` for a ray, as shown in the BVH heat map; zero for an invalid
    /// ray.
    #[must_use]
    pub fn traversal_stats(&self, top: &SceneTlas, ray: &Ray) -> TraversalStats {
        let mut visits = TraversalStats::default();
        let _ = self.trace::<false, _>(&mut visits, top, ray, |_| true);
        visits
    }

    /// Traversal cost of `occluded` for a ray, which ends at the first hit found; zero for an
    /// invalid ray.
    #[must_use]
    pub fn occlusion_stats(&self, top: &SceneTlas, ray: &Ray) -> TraversalStats {
        let mut visits = TraversalStats::default();
        let _ = self.trace::<true, _>(&mut visits, top, ray, |_| true);
        visits
    }

    fn trace<const ANY: bool, T: TraversalCounter>(
        &self,
        tally: &mut T,
        top: &SceneTlas,
        ray: &Ray,
        mut counts: impl FnMut(&Hit) -> bool,
    ) -> Option<Hit> {
        // A zero or NaN direction is no ray. The box of an empty BVH is inverted, which the slab
        // test does not detect.
        if top.instances.is_empty() {
            return None;
        }
        if !(ray.direction.abs().max_element() > 0.0
            && ray.origin.is_finite()
            && ray.direction.is_finite())
        {
            return None;
        }
        if let Some(wide) = self.wide.as_ref().filter(|_| !top.wide.is_empty()) {
            return wide_walk::trace::<ANY, T>(self, wide, top, tally, ray, counts);
        }
        let mut found = None;
        let slabs = Slabs::new(ray.origin, ray.direction);
        walk(tally, &top.nodes, 0, &slabs, ray.t_min, ray.t_max, |tally, leaf, t_max| {
            let mut t_max = t_max;
            for number in leaf.first..leaf.first + leaf.count {
                let instance = top.instances.get(number as usize)?;
                found = self.enter::<ANY, _>(tally, instance, number, ray, found, &mut counts);
                if let Some(hit) = found {
                    t_max = hit.t;
                    if ANY {
                        return None;
                    }
                }
            }
            Some(t_max)
        });
        found
    }

    fn enter<const ANY: bool, T: TraversalCounter>(
        &self,
        tally: &mut T,
        instance: &BvhInstance,
        number: u32,
        ray: &Ray,
        before: Option<Hit>,
        counts: &mut impl FnMut(&Hit) -> bool,
    ) -> Option<Hit> {
        tally.instance();
        let lift = instance.slack + SLACK * ray.origin.abs().max_element();
        let origin = instance.point(ray.origin + ray.offset_normal * lift);
        let direction = instance.vector(ray.direction);
        let (slabs, shear) = (Slabs::new(origin, direction), ShearedRay::new(origin, direction));
        let mut found = before;
        let t_max = before.map_or(ray.t_max, |hit| hit.t);
        walk(tally, &self.nodes, instance.root, &slabs, ray.t_min, t_max, |tally, leaf, t_max| {
            tally.triangles(leaf.count);
            let mut t_max = t_max;
            for triangle in leaf.first..leaf.first + leaf.count {
                let shape = self.triangles.get(triangle as usize)?;
                let Some(crossing) = shear.intersect(shape, ray.t_min, t_max) else { continue };
                let hit = Hit {
                    t: crossing.t,
                    barycentric: crossing.barycentric,
                    instance: number,
                    triangle,
                };
                if !self.accepts_hit(instance, &hit, found.as_ref(), ray, counts) {
                    continue;
                }
                (t_max, found) = (hit.t, Some(hit));
                if ANY {
                    return None;
                }
            }
            Some(t_max)
        });
        found
    }
}
