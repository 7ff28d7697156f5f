//! Frame planning: pass culling, order, barriers, and memory aliasing of images. Pure functions of
//! the declarations, without a device.

use super::access::{Access, State};

/// A resource, as input of the planner.
#[derive(Clone, Debug)]
pub struct ResourceInfo {
    /// The resource's name.
    pub name: String,
    /// State at the frame's start; `None` for transient resources, which start without content.
    pub imported: Option<State>,
}

/// A pass, as input of the planner.
#[derive(Clone, Debug)]
pub struct PassInfo {
    /// The pass's name.
    pub name: String,
    /// Resource indices, each at most once, with their access.
    pub uses: Vec<(usize, Access)>,
}

/// A dependency of a scheduled pass on earlier work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// Index of the resource.
    pub resource: usize,
    /// State that must be complete.
    pub from: State,
    /// State that waits.
    pub to: State,
}

/// The plan of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Executed passes, as indices into the declarations, in execution order.
    pub order: Vec<usize>,
    /// Culled passes: no output depends on them.
    pub culled: Vec<usize>,
    /// Barriers before each scheduled pass, parallel to `order`.
    pub barriers: Vec<Vec<Barrier>>,
    /// First and last scheduled position at which each resource is used; `None` if unused.
    pub lifetimes: Vec<Option<(usize, usize)>>,
    /// State of each resource at the frame's end.
    pub last_states: Vec<State>,
}

/// Contradicting declarations, which are programming errors of passes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A pass reads content that no earlier pass writes.
    #[error("pass '{pass}' reads '{resource}', which no pass before it writes")]
    ReadBeforeWrite {
        /// Name of the pass.
        pass: String,
        /// Name of the resource.
        resource: String,
    },
    /// A pass declares two accesses to a resource.
    #[error("pass '{pass}' uses '{resource}' twice; merge the uses into one access")]
    UsedTwice {
        /// Name of the pass.
        pass: String,
        /// Name of the resource.
        resource: String,
    },
    /// A pass uses an undeclared resource.
    #[error("pass '{pass}' uses resource {resource}, which is not declared")]
    Unknown {
        /// Name of the pass.
        pass: String,
        /// Index of the resource.
        resource: usize,
    },
}

/// Plans a frame whose results are `outputs` (resource indices).
///
/// Order: the declaration order is valid. Among ready passes, the one whose newest dependency is
/// oldest goes first (ties: declaration order), so that the device can overlap neighbors.
///
/// # Errors
/// [`PlanError`] if declarations contradict each other.
pub fn plan(
    resources: &[ResourceInfo],
    passes: &[PassInfo],
    outputs: &[usize],
) -> Result<Plan, PlanError> {
    check(resources, passes)?;
    let dependencies = dependencies(resources.len(), passes);
    let needed = needed(resources.len(), passes, outputs);
    let order = schedule(&dependencies, &needed);
    let culled = (0..passes.len()).filter(|&pass| !needed[pass]).collect();

    let mut tracked: Vec<Tracked> =
        resources.iter().map(|r| Tracked::new(r.imported.unwrap_or(State::NEW))).collect();
    let mut lifetimes: Vec<Option<(usize, usize)>> = vec![None; resources.len()];
    let mut barriers = Vec::with_capacity(order.len());
    for (position, &pass) in order.iter().enumerate() {
        let mut before = Vec::new();
        for &(resource, access) in &passes[pass].uses {
            if let Some((from, to)) = tracked[resource].transition(access.state()) {
                before.push(Barrier { resource, from, to });
            }
            lifetimes[resource] = Some(
                lifetimes[resource].map_or((position, position), |(first, _)| (first, position)),
            );
        }
        barriers.push(before);
    }
    Ok(Plan {
        order,
        culled,
        barriers,
        lifetimes,
        last_states: tracked.iter().map(|t| t.current).collect(),
    })
}

fn check(resources: &[ResourceInfo], passes: &[PassInfo]) -> Result<(), PlanError> {
    let mut has_content: Vec<bool> =
        resources.iter().map(|resource| resource.imported.is_some()).collect();
    for pass in passes {
        for (index, &(resource, access)) in pass.uses.iter().enumerate() {
            let Some(info) = resources.get(resource) else {
                return Err(PlanError::Unknown { pass: pass.name.clone(), resource });
            };
            if pass.uses[..index].iter().any(|&(other, _)| other == resource) {
                return Err(PlanError::UsedTwice {
                    pass: pass.name.clone(),
                    resource: info.name.clone(),
                });
            }
            if access.reads() && !has_content[resource] {
                return Err(PlanError::ReadBeforeWrite {
                    pass: pass.name.clone(),
                    resource: info.name.clone(),
                });
            }
        }
        for &(resource, access) in &pass.uses {
            has_content[resource] |= access.writes();
        }
    }
    Ok(())
}

/// For each pass, the earlier passes that it depends on: read after write, write after read, write
/// after write.
fn dependencies(resource_count: usize, passes: &[PassInfo]) -> Vec<Vec<usize>> {
    let mut writer: Vec<Option<usize>> = vec![None; resource_count];
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); resource_count];
    let mut all = Vec::with_capacity(passes.len());
    for (pass, info) in passes.iter().enumerate() {
        let mut needs = Vec::new();
        for &(resource, access) in &info.uses {
            needs.extend(writer[resource]);
            if access.writes() {
                needs.append(&mut readers[resource]);
                writer[resource] = Some(pass);
            } else {
                readers[resource].push(pass);
            }
        }
        needs.sort_unstable();
        needs.dedup();
        all.push(needs);
    }
    all
}

/// Marks passes as needed if they write an output or something that a later needed pass reads.
/// Walking backwards, a write that does not read ends the need for earlier content.
fn needed(resource_count: usize, passes: &[PassInfo], outputs: &[usize]) -> Vec<bool> {
    let mut wanted = vec![false; resource_count];
    for &output in outputs {
        if let Some(slot) = wanted.get_mut(output) {
            *slot = true;
        }
    }
    let mut needed = vec![false; passes.len()];
    for (pass, info) in passes.iter().enumerate().rev() {
        needed[pass] =
            info.uses.iter().any(|&(resource, access)| access.writes() && wanted[resource]);
        if !needed[pass] {
            continue;
        }
        for &(resource, access) in &info.uses {
            // Depth writes test against the previous content unless they clear, so the need
            // conservatively remains.
            if access.writes() && !access.reads() && access != Access::DepthWrite {
                wanted[resource] = false;
            }
        }
        for &(resource, access) in &info.uses {
            if access.reads() {
                wanted[resource] = true;
            }
        }
    }
    needed
}

fn schedule(dependencies: &[Vec<usize>], needed: &[bool]) -> Vec<usize> {
    let mut position: Vec<Option<usize>> = vec![None; dependencies.len()];
    let mut waiting: Vec<usize> = (0..dependencies.len()).filter(|&pass| needed[pass]).collect();
    let mut order = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        // Newest dependency of a ready pass; no dependency counts as oldest.
        let newest = |pass: usize| -> Option<Option<usize>> {
            let mut newest = None;
            for &dependency in dependencies[pass].iter().filter(|&&d| needed[d]) {
                newest = newest.max(Some(position[dependency]?));
            }
            Some(newest)
        };
        let best = (0..waiting.len())
            .filter_map(|slot| newest(waiting[slot]).map(|age| (age, waiting[slot], slot)))
            .min()
            .map_or(0, |(_, _, slot)| slot);
        let pass = waiting.remove(best);
        position[pass] = Some(order.len());
        order.push(pass);
    }
    order
}

/// Tracked state of a resource.
struct Tracked {
    /// State after the last write, or the initial state; readers wait for it.
    written: State,
    /// State at this point; readers in one layout are merged.
    current: State,
}

impl Tracked {
    fn new(initial: State) -> Self {
        Self { written: initial, current: initial }
    }

    /// Advances to the next use and returns the barrier it needs, if any.
    fn transition(&mut self, to: State) -> Option<(State, State)> {
        let from = self.current;
        let changes_layout = from.layout != to.layout;
        if !to.writes && !from.writes && !changes_layout {
            // A read after reads needs a barrier only for stages that have not waited for the
            // write.
            let covered = from.stages.contains(to.stages) && from.access.contains(to.access);
            let merged =
                State { stages: from.stages | to.stages, access: from.access | to.access, ..to };
            self.current = merged;
            return (!covered).then_some((self.written, to)).filter(|(written, _)| written.writes);
        }
        let first_use_in_place = from == State::NEW && to.layout == from.layout;
        self.current = to;
        self.written = match (to.writes, changes_layout) {
            (true, _) => to,
            // A layout transition is a write that later readers wait for.
            (false, true) => State { writes: true, ..to },
            (false, false) => from,
        };
        (!first_use_in_place).then_some((from, to))
    }
}

/// Memory requirement of a transient resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryNeed {
    /// First and last scheduled position at which it has content.
    pub lifetime: (usize, usize),
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes, a power of two.
    pub alignment: u64,
}

/// Placement of resources in one memory block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packing {
    /// Byte offset of each resource.
    pub offsets: Vec<u64>,
    /// Size of the block in bytes.
    pub total: u64,
    /// Bytes that separate allocations would take.
    pub unshared: u64,
    /// For each resource, those whose memory it reuses: their last use must precede its first.
    pub after: Vec<Vec<usize>>,
}

/// Places resources so that those with overlapping lifetimes do not overlap in memory: largest
/// first, each at the lowest free offset.
#[must_use]
pub fn pack(needs: &[MemoryNeed]) -> Packing {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|&index| (std::cmp::Reverse(needs[index].size), index));
    let mut packing = Packing {
        offsets: vec![0; needs.len()],
        after: vec![Vec::new(); needs.len()],
        ..Default::default()
    };
    let mut placed: Vec<usize> = Vec::new();
    for index in order {
        let need = needs[index];
        let mut busy: Vec<(u64, u64)> = placed
            .iter()
            .filter(|&&other| overlaps(needs[other].lifetime, need.lifetime))
            .map(|&other| (packing.offsets[other], packing.offsets[other] + needs[other].size))
            .collect();
        busy.sort_unstable();
        let mut offset = 0u64;
        for (start, end) in busy {
            if offset + need.size <= start {
                break;
            }
            offset = offset.max(end).next_multiple_of(need.alignment.max(1));
        }
        packing.offsets[index] = offset;
        packing.total = packing.total.max(offset + need.size);
        packing.unshared += need.size;
        placed.push(index);
    }
    for (index, after) in packing.after.iter_mut().enumerate() {
        let range = (packing.offsets[index], packing.offsets[index] + needs[index].size);
        *after = (0..needs.len())
            .filter(|&other| {
                let place = (packing.offsets[other], packing.offsets[other] + needs[other].size);
                other != index
                    && needs[other].lifetime.1 < needs[index].lifetime.0
                    && place.0 < range.1
                    && range.0 < place.1
            })
            .collect();
    }
    packing
}

fn overlaps(a: (usize, usize), b: (usize, usize)) -> bool {
    a.0 <= b.1 && b.0 <= a.1
}

/// Indices of a history's images: written in this frame, and written in the previous frame.
#[must_use]
pub fn history_slots(frame: u64) -> (usize, usize) {
    let current = (frame % 2) as usize;
    (current, 1 - current)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ash::vk;

    fn transient(name: &str) -> ResourceInfo {
        ResourceInfo { name: name.into(), imported: None }
    }

    fn pass(name: &str, uses: &[(usize, Access)]) -> PassInfo {
        PassInfo { name: name.into(), uses: uses.to_vec() }
    }

    #[test]
    fn unused_passes_are_culled_transitively() {
        let resources = [transient("a"), transient("b"), transient("out")];
        let passes = [
            pass("make a", &[(0, Access::ColorWrite)]),
            pass("make b from a", &[(0, Access::FragmentSampled), (1, Access::ColorWrite)]),
            pass("out", &[(2, Access::ColorWrite)]),
        ];
        let plan = plan(&resources, &passes, &[2]).unwrap();
        assert_eq!(plan.order, [2]);
        assert_eq!(plan.culled, [0, 1]);
    }

    #[test]
    fn an_overwritten_result_is_not_made() {
        let resources = [transient("out")];
        let passes =
            [pass("first", &[(0, Access::ColorWrite)]), pass("second", &[(0, Access::ColorWrite)])];
        assert_eq!(plan(&resources, &passes, &[0]).unwrap().order, [1]);
        let blended =
            [pass("first", &[(0, Access::ColorWrite)]), pass("second", &[(0, Access::ColorBlend)])];
        assert_eq!(plan(&resources, &blended, &[0]).unwrap().order, [0, 1]);
    }

    #[test]
    fn read_after_write_waits_for_the_writer_and_changes_layout() {
        let resources = [transient("a"), transient("out")];
        let passes = [
            pass("write", &[(0, Access::ColorWrite)]),
            pass("read", &[(0, Access::FragmentSampled), (1, Access::ColorWrite)]),
        ];
        let plan = plan(&resources, &passes, &[1]).unwrap();
        let barrier = plan.barriers[1].iter().find(|b| b.resource == 0).unwrap();
        assert_eq!(barrier.from, Access::ColorWrite.state());
        assert_eq!(barrier.to, Access::FragmentSampled.state());
    }

    #[test]
    fn write_after_read_waits_for_all_readers() {
        let resources = [transient("a"), transient("x"), transient("y")];
        let passes = [
            pass("write", &[(0, Access::ComputeStorageWrite)]),
            pass("read 1", &[(0, Access::ComputeStorageRead), (1, Access::ColorWrite)]),
            pass("read 2", &[(0, Access::FragmentStorageRead), (2, Access::ColorWrite)]),
            pass("write again", &[(0, Access::ComputeStorageReadWrite)]),
        ];
        let plan = plan(&resources, &passes, &[0, 1, 2]).unwrap();
        assert_eq!(plan.order.last(), Some(&3));
        let barrier = plan.barriers[3][0];
        assert!(barrier.from.stages.contains(vk::PipelineStageFlags2::COMPUTE_SHADER));
        assert!(barrier.from.stages.contains(vk::PipelineStageFlags2::FRAGMENT_SHADER));
    }

    #[test]
    fn a_second_reader_in_another_stage_waits_for_the_write_too() {
        let resources = [transient("a"), transient("x"), transient("y")];
        let passes = [
            pass("write", &[(0, Access::ComputeStorageWrite)]),
            pass("read 1", &[(0, Access::ComputeStorageRead), (1, Access::ComputeStorageWrite)]),
            pass("read 2", &[(0, Access::FragmentStorageRead), (2, Access::ColorWrite)]),
            pass("read 3", &[(0, Access::FragmentStorageRead), (2, Access::ColorBlend)]),
        ];
        let plan = plan(&resources, &passes, &[1, 2]).unwrap();
        let of =
            |position: usize| plan.barriers[position].iter().find(|b| b.resource == 0).copied();
        assert_eq!(of(2).unwrap().from, Access::ComputeStorageWrite.state());
        assert_eq!(of(3), None, "the stage has already waited");
    }

    #[test]
    fn write_after_write_waits() {
        let resources = [transient("a")];
        let passes = [
            pass("fill", &[(0, Access::Fill)]),
            pass("add", &[(0, Access::ComputeStorageReadWrite)]),
        ];
        let plan = plan(&resources, &passes, &[0]).unwrap();
        assert_eq!(plan.barriers[1][0].from, Access::Fill.state());
    }

    #[test]
    fn independent_passes_are_pulled_apart_from_their_dependants() {
        let resources = [transient("a"), transient("b"), transient("c"), transient("out")];
        let passes = [
            pass("a", &[(0, Access::ColorWrite)]),
            pass("b from a", &[(0, Access::FragmentSampled), (1, Access::ColorWrite)]),
            pass("c", &[(2, Access::ColorWrite)]),
            pass(
                "out",
                &[
                    (1, Access::FragmentSampled),
                    (2, Access::FragmentSampled),
                    (3, Access::ColorWrite),
                ],
            ),
        ];
        assert_eq!(plan(&resources, &passes, &[3]).unwrap().order, [0, 2, 1, 3]);
    }

    #[test]
    fn contradictions_are_named() {
        let resources = [transient("a")];
        let read = [pass("p", &[(0, Access::FragmentSampled)])];
        assert!(
            plan(&resources, &read, &[0]).is_err_and(|e| e.to_string().contains("'p' reads 'a'"))
        );
        let twice = [pass("p", &[(0, Access::ColorWrite), (0, Access::FragmentSampled)])];
        assert!(matches!(plan(&resources, &twice, &[0]), Err(PlanError::UsedTwice { .. })));
        let unknown = [pass("p", &[(7, Access::ColorWrite)])];
        assert!(matches!(
            plan(&resources, &unknown, &[0]),
            Err(PlanError::Unknown { resource: 7, .. })
        ));
    }

    #[test]
    fn imported_content_can_be_read_and_keeps_its_last_state() {
        let imported = Access::ColorWrite.state();
        let resources =
            [ResourceInfo { name: "history".into(), imported: Some(imported) }, transient("out")];
        let passes = [pass("use", &[(0, Access::FragmentSampled), (1, Access::ColorWrite)])];
        let plan = plan(&resources, &passes, &[1]).unwrap();
        assert_eq!(plan.barriers[0][0].from, imported);
        assert_eq!(plan.last_states[0].layout, vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL);
    }

    #[test]
    fn memory_aliases_only_disjoint_lifetimes() {
        let need = |first, last, size| MemoryNeed { lifetime: (first, last), size, alignment: 256 };
        let needs = [need(0, 1, 1000), need(1, 2, 500), need(2, 3, 1000), need(3, 4, 300)];
        let packing = pack(&needs);
        for a in 0..needs.len() {
            for b in 0..a {
                let apart = packing.offsets[a] + needs[a].size <= packing.offsets[b]
                    || packing.offsets[b] + needs[b].size <= packing.offsets[a];
                assert!(
                    apart || !overlaps(needs[a].lifetime, needs[b].lifetime),
                    "{a} and {b} collide"
                );
            }
            assert_eq!(packing.offsets[a] % 256, 0);
        }
        assert!(packing.total < packing.unshared);
        assert_eq!(packing.offsets[0], packing.offsets[2]);
        assert_eq!(packing.after[2], [0]);
    }

    #[test]
    fn packing_never_overlaps_for_many_random_needs() {
        let mut seed = 1u64;
        let mut next = |below: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let needs: Vec<MemoryNeed> = (0..12)
                .map(|_| {
                    let first = next(8) as usize;
                    MemoryNeed {
                        lifetime: (first, first + next(5) as usize),
                        size: 1 + next(5000),
                        alignment: 1 << next(9),
                    }
                })
                .collect();
            let packing = pack(&needs);
            for a in 0..needs.len() {
                assert_eq!(packing.offsets[a] % needs[a].alignment, 0);
                assert!(packing.offsets[a] + needs[a].size <= packing.total);
                for b in 0..a {
                    let apart = packing.offsets[a] + needs[a].size <= packing.offsets[b]
                        || packing.offsets[b] + needs[b].size <= packing.offsets[a];
                    assert!(apart || !overlaps(needs[a].lifetime, needs[b].lifetime));
                }
            }
        }
    }

    #[test]
    fn histories_swap() {
        assert_eq!(history_slots(0), (0, 1));
        assert_eq!(history_slots(1), (1, 0));
        assert_eq!(history_slots(2), history_slots(0));
    }
}
