//! Rays through both levels.

use glam::{Vec2, Vec3};

use super::{
    BvhNode, MAX_DEPTH, NONE, SceneBvh, SceneTlas, mask,
    node::Slabs,
    scene::{BvhInstance, SLACK},
    triangle::ShearedRay,
    wide_traversal as wide_walk,
};

/// A ray, relative to the eye that the upper level was made for.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Where it begins (m).
    pub origin: Vec3,
    /// Where it goes; of any length other than 0, the unit of `t`.
    pub direction: Vec3,
    /// Hits at or before this are none; 0 or more.
    pub t_min: f32,
    /// Hits at or beyond this are none.
    pub t_max: f32,
    /// The unit normal of the surface that it leaves, on the side to which it leaves; zero where it
    /// begins in free space. Before each instance the origin is lifted along it by what rounding
    /// can be there, so that a surface does not shade itself and no gap is left at a contact (the
    /// purpose of Wächter and Binder 2019, "A Fast and Robust Method for Avoiding
    /// Self-Intersection", Ray Tracing Gems, chapter 6; theirs knows world coordinates only).
    pub away: Vec3,
}

/// What a ray met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// In units of the ray's direction.
    pub t: f32,
    /// Barycentric weights of the second and third vertex.
    pub barycentric: Vec2,
    /// Index into `TopLevel::instances`.
    pub instance: u32,
    /// Index into `SceneBvh::triangles`.
    pub triangle: u32,
}

impl Hit {
    /// Whether it is the one to take: nearer, or, where triangles meet, of the lesser number, so
    /// that the answer does not depend on the order in which trees are walked.
    pub(super) fn comes_before(&self, found: Option<&Self>, t_max: f32) -> bool {
        let number = |hit: &Self| (hit.instance, hit.triangle);
        match found {
            None => self.t < t_max,
            Some(found) => self.t < found.t || (self.t == found.t && number(self) < number(found)),
        }
    }
}

/// What a ray's way through the trees costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraversalStats {
    /// Nodes of either level whose children (or, of a leaf, content) were looked at.
    pub nodes: u32,
    /// Triangles that were tested.
    pub triangles: u32,
    /// Instances into whose space the ray was carried.
    pub instances: u32,
}

/// What is done at each step of a ray: counting, or nothing, which leaves no trace in the code.
pub(super) trait TraversalCounter {
    fn node(&mut self) {}
    fn triangles(&mut self, _count: u32) {}
    fn instance(&mut self) {}
}

impl TraversalCounter for () {}

impl TraversalCounter for TraversalStats {
    fn node(&mut self) {
        self.nodes = self.nodes.saturating_add(1);
    }

    fn triangles(&mut self, count: u32) {
        self.triangles = self.triangles.saturating_add(count);
    }

    fn instance(&mut self) {
        self.instances = self.instances.saturating_add(1);
    }
}

/// Nodes that wait: one a level at most.
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

/// Visits the leaves of a tree whose boxes the ray meets, near ones first, until `leaf` says that
/// it is enough. `leaf` gives the distance from which on nothing matters any more.
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
        // What waited may lie behind what was found since.
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

impl BvhInstance {
    /// A point of the eye's space in the object's.
    #[must_use]
    pub fn point(&self, p: Vec3) -> Vec3 {
        Vec3::new(
            self.rows[0].dot(p.extend(1.0)),
            self.rows[1].dot(p.extend(1.0)),
            self.rows[2].dot(p.extend(1.0)),
        )
    }

    /// A vector of the eye's space in the object's.
    #[must_use]
    pub fn vector(&self, v: Vec3) -> Vec3 {
        Vec3::new(
            self.rows[0].dot(v.extend(0.0)),
            self.rows[1].dot(v.extend(0.0)),
            self.rows[2].dot(v.extend(0.0)),
        )
    }

    /// A normal of the object's space in the eye's: by the inverse transpose. Not of unit length.
    #[must_use]
    pub fn normal(&self, n: Vec3) -> Vec3 {
        self.rows[0].truncate() * n.x
            + self.rows[1].truncate() * n.y
            + self.rows[2].truncate() * n.z
    }
}

impl SceneBvh {
    /// The nearest hit.
    #[must_use]
    pub fn closest(&self, top: &SceneTlas, ray: &Ray) -> Option<Hit> {
        self.trace::<false, _>(&mut (), top, ray, |_| true)
    }

    /// Whether anything is in the way.
    #[must_use]
    pub fn occluded(&self, top: &SceneTlas, ray: &Ray) -> bool {
        self.trace::<true, _>(&mut (), top, ray, |_| true).is_some()
    }

    /// Whether anything is in the way that counts. `counts` is asked about hits in any order, about
    /// none twice, until one does.
    #[must_use]
    pub fn occluded_by(
        &self,
        top: &SceneTlas,
        ray: &Ray,
        counts: impl FnMut(&Hit) -> bool,
    ) -> bool {
        self.trace::<true, _>(&mut (), top, ray, counts).is_some()
    }

    /// What `closest` does for a ray: the heat map of a scene's trees. Nothing for a ray that is
    /// none.
    #[must_use]
    pub fn traversal_stats(&self, top: &SceneTlas, ray: &Ray) -> TraversalStats {
        let mut visits = TraversalStats::default();
        let _ = self.trace::<false, _>(&mut visits, top, ray, |_| true);
        visits
    }

    fn trace<const ANY: bool, T: TraversalCounter>(
        &self,
        tally: &mut T,
        top: &SceneTlas,
        ray: &Ray,
        mut counts: impl FnMut(&Hit) -> bool,
    ) -> Option<Hit> {
        // No direction, or not a number: no ray. The box of a tree over nothing is inside out,
        // which the slab test does not see.
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

    /// Whether a hit is the one to take now: it comes before the one found, it is there at that
    /// place (others than masked triangles always are), and it counts.
    #[inline(always)]
    pub(super) fn accepts_hit(
        &self,
        instance: &BvhInstance,
        hit: &Hit,
        found: Option<&Hit>,
        ray: &Ray,
        counts: &mut impl FnMut(&Hit) -> bool,
    ) -> bool {
        hit.comes_before(found, ray.t_max) && self.passes_alpha_test(instance, hit) && counts(hit)
    }

    pub(super) fn passes_alpha_test(&self, instance: &BvhInstance, hit: &Hit) -> bool {
        if instance.mask == NONE {
            return true;
        }
        let corners = self.corners.get(instance.corners.wrapping_add(hit.triangle) as usize);
        corners.is_none_or(|corners| {
            mask::alpha_test(&self.masks, instance.mask, corners, hit.barycentric)
        })
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
        let origin = instance.point(ray.origin + ray.away * lift);
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
