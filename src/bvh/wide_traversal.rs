//! Traversal of the wide nodes of both levels, near children first.

use glam::{Vec3, Vec4};

use super::{
    node::{NONE, ROBUST},
    ray::{Hit, Ray},
    scene::{SLACK, SceneBvh, SceneTlas},
    traversal_stats::TraversalCounter,
    wide::{LEAF, WideBvh, WideNode, WideShearedRay, WideSlabs},
};

/// Stack of pending children with their entry distances, for both levels: those of the BLAS lie
/// above. Few rays need more than the inline capacity.
struct Stack {
    inline: [(f32, u32); INLINE],
    count: usize,
    more: Vec<(f32, u32)>,
}

const INLINE: usize = 32;

impl Stack {
    const fn new() -> Self {
        Self { inline: [(0.0, 0); INLINE], count: 0, more: Vec::new() }
    }

    #[inline(always)]
    fn push(&mut self, child: (f32, u32)) {
        match self.inline.get_mut(self.count) {
            Some(slot) => *slot = child,
            None => self.more.push(child),
        }
        self.count += 1;
    }

    /// Pops the last entry, down to `floor`.
    #[inline(always)]
    fn pop(&mut self, floor: usize) -> Option<(f32, u32)> {
        if self.count <= floor {
            return None;
        }
        self.count -= 1;
        match self.inline.get(self.count) {
            Some(child) => Some(*child),
            None => self.more.pop(),
        }
    }
}

/// Visits the leaves whose boxes the ray hits until `leaf` returns `None`. Otherwise `leaf` returns
/// the new maximum distance.
#[inline(always)]
fn walk<const ANY: bool, T: TraversalCounter>(
    tally: &mut T,
    nodes: &[WideNode],
    root: u32,
    slabs: &WideSlabs,
    mut t_max: f32,
    stack: &mut Stack,
    mut leaf: impl FnMut(&mut T, &mut Stack, u32, f32) -> Option<f32>,
) {
    let floor = stack.count;
    let mut next = root;
    loop {
        let mut nearest = None;
        if next & LEAF != 0 {
            match leaf(tally, stack, next & !LEAF, t_max) {
                Some(nearer) => t_max = nearer,
                None => return,
            }
        } else if let Some(node) = nodes.get(next as usize) {
            tally.node();
            let (enter, hit_mask) = slabs.enter(node, t_max);
            nearest = nearest_of::<ANY>(node, enter, hit_mask, stack);
        }
        next = match nearest {
            Some(child) => child,
            None => loop {
                let Some((enter, child)) = stack.pop(floor) else { return };
                // A child on the stack may lie beyond a hit found since.
                if enter <= t_max * ROBUST {
                    break child;
                }
            },
        };
    }
}

/// The nearest child whose bit is set; pushes the others, far ones first. For any-hit rays the
/// order is arbitrary.
#[inline(always)]
fn nearest_of<const ANY: bool>(
    node: &WideNode,
    enter: Vec4,
    hit_mask: u32,
    stack: &mut Stack,
) -> Option<u32> {
    if hit_mask == 0 {
        return None;
    }
    let enter = enter.to_array();
    let child = |bits: u32| {
        let lane = (bits.trailing_zeros() & 3) as usize;
        (enter[lane], node.children[lane])
    };
    let first = child(hit_mask);
    let hit_mask = hit_mask & (hit_mask - 1);
    if hit_mask == 0 {
        return Some(first.1);
    }
    let second = child(hit_mask);
    let hit_mask = hit_mask & (hit_mask - 1);
    if ANY {
        stack.push(second);
        if hit_mask != 0 {
            stack.push(child(hit_mask));
            if hit_mask & (hit_mask - 1) != 0 {
                stack.push(child(hit_mask & (hit_mask - 1)));
            }
        }
        return Some(first.1);
    }
    let (first, second) = if second.0 < first.0 { (second, first) } else { (first, second) };
    if hit_mask == 0 {
        stack.push(second);
        return Some(first.1);
    }
    let mut sorted = [first, second, child(hit_mask), (f32::INFINITY, NONE)];
    let hit_mask = hit_mask & (hit_mask - 1);
    if hit_mask != 0 {
        sorted[3] = child(hit_mask);
    }
    let mut order = |a: usize, b: usize| {
        if sorted[b].0 < sorted[a].0 {
            sorted.swap(a, b);
        }
    };
    // Together with the first exchange above, a sorting network for four.
    order(2, 3);
    order(0, 2);
    order(1, 3);
    order(1, 2);
    if hit_mask != 0 {
        stack.push(sorted[3]);
    }
    stack.push(sorted[2]);
    stack.push(sorted[1]);
    Some(sorted[0].1)
}

/// The nearest hit, or any hit, that `counts` accepts. The ray must have a finite origin and
/// direction.
pub fn trace<const ANY: bool, T: TraversalCounter>(
    bvh: &SceneBvh,
    wide: &WideBvh,
    top: &SceneTlas,
    tally: &mut T,
    ray: &Ray,
    mut counts: impl FnMut(&Hit) -> bool,
) -> Option<Hit> {
    let mut found: Option<Hit> = None;
    let slabs = WideSlabs::new(ray.origin, ray.direction, ray.t_min);
    let mut stack = Stack::new();
    let reach = SLACK * ray.origin.abs().max_element();
    walk::<ANY, T>(
        tally,
        &top.wide,
        0,
        &slabs,
        ray.t_max,
        &mut stack,
        |tally, stack, place, t_max| {
            let (instance, blas) =
                (top.instances.get(place as usize)?, *top.blas_indices.get(place as usize)?);
            let entry = wide.blas_ranges.get(blas as usize)?.entry;
            tally.instance();
            let origin = instance.point(ray.origin + ray.offset_normal * (instance.slack + reach));
            let direction = instance.vector(ray.direction);
            // A single leaf has no boxes to test.
            let own = (entry & LEAF == 0).then(|| WideSlabs::new(origin, direction, ray.t_min));
            let slabs = own.as_ref().unwrap_or(&slabs);
            let shear = WideShearedRay::new(origin, direction);
            let mut t_max = t_max;
            walk::<ANY, T>(
                tally,
                &wide.nodes,
                entry,
                slabs,
                t_max,
                stack,
                |tally, _, number, limit| {
                    let packet = wide.packets.get(number as usize)?;
                    tally.triangles(packet.count());
                    let Some(crossings) = shear.intersect(packet, ray.t_min, limit) else {
                        return Some(limit);
                    };
                    let mut lanes = crossings.lanes;
                    while lanes != 0 {
                        let lane = lanes.trailing_zeros();
                        lanes &= lanes - 1;
                        let triangle = packet.first + lane;
                        let crossing = crossings.at(lane as usize);
                        let hit = Hit {
                            t: crossing.t,
                            barycentric: crossing.barycentric,
                            instance: place,
                            triangle,
                        };
                        if !bvh.accepts_hit(instance, &hit, found.as_ref(), ray, &mut counts) {
                            continue;
                        }
                        (t_max, found) = (hit.t, Some(hit));
                        if ANY {
                            return None;
                        }
                    }
                    Some(t_max)
                },
            );
            if ANY && found.is_some() { None } else { Some(t_max) }
        },
    );
    found
}

/// Like `trace`, for all candidate hits within single-precision rounding (`WideSlabs::widened`,
/// `WideShearedRay::intersect_conservative`). `meet` receives an instance and a triangle of it;
/// where it accepts the hit, it returns the new maximum distance. Candidates include triangles just
/// before the ray's origin and just beyond its end.
#[inline(always)]
pub fn trace_conservative<const ANY: bool>(
    wide: &WideBvh,
    top: &SceneTlas,
    ray: &Ray,
    mut meet: impl FnMut(u32, u32) -> Option<f32>,
) {
    let reach = SLACK * ray.origin.abs().max_element();
    let t_min = ray.t_min * (2.0 - ROBUST);
    let slabs = WideSlabs::widened(ray.origin, ray.direction, t_min, Vec3::splat(reach));
    let mut stack = Stack::new();
    let mut done = false;
    walk::<ANY, _>(
        &mut (),
        &top.wide,
        0,
        &slabs,
        ray.t_max,
        &mut stack,
        |tally, stack, place, t_max| {
            let (instance, blas) =
                (top.instances.get(place as usize)?, *top.blas_indices.get(place as usize)?);
            let entry = wide.blas_ranges.get(blas as usize)?.entry;
            let lift = instance.slack + reach;
            let (origin, direction) = (instance.point(ray.origin), instance.vector(ray.direction));
            let margin =
                Vec3::from(instance.rows.map(|row| row.truncate().abs().element_sum() * lift));
            // A single leaf has no boxes to test.
            let own =
                (entry & LEAF == 0).then(|| WideSlabs::widened(origin, direction, t_min, margin));
            let slabs = own.as_ref().unwrap_or(&slabs);
            let shear = WideShearedRay::new(origin, direction);
            let margin = margin.max_element();
            let mut t_max = t_max;
            walk::<ANY, _>(
                tally,
                &wide.nodes,
                entry,
                slabs,
                t_max,
                stack,
                |_, _, number, limit| {
                    let packet = wide.packets.get(number as usize)?;
                    let mut lanes = shear.intersect_conservative(packet, margin, t_min, limit);
                    while lanes != 0 {
                        let lane = lanes.trailing_zeros();
                        lanes &= lanes - 1;
                        // Missing lanes of a packet have no area, and triangles beyond its count
                        // belong to other packets.
                        if lane >= packet.count() {
                            break;
                        }
                        if let Some(nearer) = meet(place, packet.first + lane) {
                            (t_max, done) = (nearer, true);
                            if ANY {
                                return None;
                            }
                        }
                    }
                    Some(t_max)
                },
            );
            if ANY && done { None } else { Some(t_max) }
        },
    );
}
