//! Merging of nearby VPLs on one surface.
//!
//! VPLs are grouped in a voxel grid, as in hierarchical radiosity and the literature on merged
//! VPLs. A group also shares one direction, one plane and mutual visibility. So neither the sides
//! of a wall, nor floors of different height, nor rooms on both sides of a wall are merged. The
//! merged VPL lies on a surface at the flux-weighted centroid, not at the voxel's center. Its
//! normal is the flux-weighted mean, and the total flux is kept.

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{
    surface_hit::{TraceScene, strength},
    vpl::Vpl,
};
use crate::{
    bvh::{PreciseRay, Ray, pack_normal, unpack_normal},
    settings::GiSettings,
};

/// Voxel sizes per octave that are tried: 2^(step / 4) m.
const STEPS: i32 = 4;

/// Parallel surfaces count as one plane where no gap between them exceeds this fraction of a voxel.
const GAP: f32 = 1.0 / 16.0;

/// Maximum number of voxels across the scene.
const MAX_VOXELS: f64 = 65_536.0;

/// Voxel size (m) of a step; `STEPS` steps per octave.
fn cell_of(step: i32) -> f64 {
    (f64::from(step) / f64::from(STEPS)).exp2()
}

/// Members of a merged VPL, by ascending index.
type Group = Vec<u32>;

/// The result of merging.
pub(super) struct Merged {
    pub vpls: Vec<Vpl>,
    /// Voxel edge (m).
    pub cell: f64,
    /// The step that was found; `None` where the size was given.
    pub step: Option<i32>,
    /// Visibility rays that were traced.
    pub rays: u64,
}

/// VPLs with their unpacked normals and weights.
struct VplMerger<'a> {
    stage: &'a TraceScene<'a>,
    vpls: &'a [Vpl],
    normals: Vec<Vec3>,
    weights: Vec<f64>,
}

/// Merges VPLs of a scene that reaches `extent` (m) from the anchor. The voxel size is given, or
/// chosen so that at most `settings.vpls` remain. `last` is the previous step; it is kept while it
/// still fits. At least one VPL remains for each direction and plane.
pub(super) fn merged(
    stage: &TraceScene,
    vpls: &[Vpl],
    settings: &GiSettings,
    extent: f64,
    last: Option<i32>,
) -> Merged {
    let joiner = VplMerger {
        stage,
        vpls,
        normals: vpls.iter().map(|vpl| unpack_normal(vpl.normal)).collect(),
        weights: vpls.iter().map(|vpl| strength(vpl.flux.as_dvec3())).collect(),
    };
    let least = (extent / MAX_VOXELS).max(1e-6);
    if let Some(cell) = settings.merge_cell_size {
        let cell = if cell.is_finite() { cell.clamp(least, 1e6 * least) } else { least };
        let (groups, rays) = joiner.visible(joiner.grouped(cell), cell);
        return Merged { vpls: joiner.merge_group(&groups, cell), cell, step: None, rays };
    }
    let budget = settings.vpls as usize;
    let lowest = (least.log2() * f64::from(STEPS)).ceil() as i32;
    // At this size the whole scene is in one voxel.
    let highest = ((16.0 * extent).log2() * f64::from(STEPS)).ceil().max(f64::from(lowest)) as i32;
    if let Some(step) = last.filter(|step| (lowest..=highest).contains(step)) {
        let (groups, rays) = joiner.visible(joiner.grouped(cell_of(step)), cell_of(step));
        // Two steps finer would give about twice as many VPLs.
        if groups.len() <= budget && groups.len() * 5 / 2 > budget {
            let cell = cell_of(step);
            return Merged {
                vpls: joiner.merge_group(&groups, cell),
                cell,
                step: Some(step),
                rays,
            };
        }
    }
    let (mut low, mut high) = (lowest, highest);
    while low < high {
        let middle = low + (high - low) / 2;
        if joiner.grouped(cell_of(middle)).len() <= budget {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let mut all = 0;
    loop {
        let cell = cell_of(high);
        let (groups, rays) = joiner.visible(joiner.grouped(cell), cell);
        all += rays;
        if groups.len() <= budget || high >= highest {
            return Merged {
                vpls: joiner.merge_group(&groups, cell),
                cell,
                step: Some(high),
                rays: all,
            };
        }
        high += 1;
    }
}

/// Approximately the nearest of the 26 directions to the faces, edges and corners of a cube.
fn class_of(normal: Vec3) -> u64 {
    let most = normal.abs().max_element().max(1e-20);
    // Half of the angle between a face's direction and an edge's.
    let digit = |v: f32| {
        let part = v / most;
        if part > 0.414 { 2 } else { u64::from(part >= -0.414) }
    };
    digit(normal.x) * 9 + digit(normal.y) * 3 + digit(normal.z)
}

impl VplMerger<'_> {
    fn place(&self, index: u32) -> Vec3 {
        self.vpls[index as usize].position
    }

    /// Groups by voxel and direction, split by planes.
    fn grouped(&self, cell: f64) -> Vec<Group> {
        let inverse = 1.0 / cell;
        let key = |index: usize| {
            // Offset from the scene's middle and from voxels there, where walls often are.
            let voxel = (self.vpls[index].position.as_dvec3() * inverse + 0.561_8).floor();
            let word = |v: f64| (v as i64 + (1 << 18)).clamp(0, (1 << 19) - 1) as u64;
            word(voxel.x) << 43
                | word(voxel.y) << 24
                | word(voxel.z) << 5
                | class_of(self.normals[index])
        };
        let mut keys: Vec<(u64, u32)> = (0..self.vpls.len())
            .into_par_iter()
            .with_min_len(4096)
            .map(|index| (key(index), index as u32))
            .collect();
        keys.par_sort_unstable();
        let gap = cell as f32 * GAP;
        let mut groups = Vec::new();
        for members in keys.chunk_by(|a, b| a.0 == b.0) {
            self.by_planes(members, gap, &mut groups);
        }
        groups
    }

    /// Splits a group at gaps along its mean normal, so that each part lies in one plane.
    fn by_planes(&self, members: &[(u64, u32)], gap: f32, groups: &mut Vec<Group>) {
        let [(_, first), rest @ ..] = members else { return };
        let mut group: Group = members.iter().map(|&(_, index)| index).collect();
        if rest.is_empty() {
            groups.push(group);
            return;
        }
        let normal = self.mean_normal(&group);
        let along = |index: &u32| normal.dot(self.place(*index) - self.place(*first));
        group.sort_unstable_by(|a, b| along(a).total_cmp(&along(b)).then(a.cmp(b)));
        for part in group.chunk_by(|a, b| along(b) - along(a) <= gap) {
            let mut part = part.to_vec();
            part.sort_unstable();
            groups.push(part);
        }
    }

    fn mean_normal(&self, group: &[u32]) -> Vec3 {
        let sum: DVec3 = group
            .iter()
            .map(|&i| self.normals[i as usize].as_dvec3() * self.weights[i as usize].max(1e-300))
            .sum();
        sum.as_vec3()
            .try_normalize()
            .or(sum.try_normalize().map(|n| n.as_vec3()))
            .unwrap_or_else(|| group.first().map_or(Vec3::Z, |&first| self.normals[first as usize]))
    }

    /// Splits groups by visibility: each part is what its strongest member sees just above the
    /// surface. This separates two rooms whose floors are coplanar but have a wall between them.
    fn visible(&self, groups: Vec<Group>, cell: f64) -> (Vec<Group>, u64) {
        let lift = cell as f32 * GAP;
        let parts: Vec<(Vec<Group>, u64)> =
            groups.into_par_iter().with_min_len(64).map(|group| self.seen(group, lift)).collect();
        let rays = parts.iter().map(|(_, rays)| rays).sum();
        let mut groups: Vec<Group> = parts.into_iter().flat_map(|(groups, _)| groups).collect();
        // Sorted in the order of the VPLs, so that a merged one keeps its index.
        groups.sort_unstable_by_key(|group| group.first().copied());
        (groups, rays)
    }

    fn seen(&self, group: Group, lift: f32) -> (Vec<Group>, u64) {
        let mut found = Vec::new();
        let mut rays = 0;
        let mut rest = group;
        while rest.len() > 1 {
            let stronger = |a: &&u32, b: &&u32| {
                self.weights[**a as usize].total_cmp(&self.weights[**b as usize]).then(b.cmp(a))
            };
            let Some(&strongest) = rest.iter().max_by(stronger) else { break };
            let above = |index: u32| self.place(index) + self.normals[index as usize] * lift;
            let origin = above(strongest);
            let sees = |&index: &u32| {
                let direction = above(index) - origin;
                let ray =
                    Ray { origin, direction, t_min: 0.0, t_max: 1.0, offset_normal: Vec3::ZERO };
                index == strongest || !self.stage.bvh.occluded(self.stage.tlas, &ray)
            };
            rays += rest.len() as u64 - 1;
            let (near, hidden): (Group, Group) = rest.into_iter().partition(sees);
            found.push(near);
            rest = hidden;
        }
        if !rest.is_empty() {
            found.push(rest);
        }
        (found, rays)
    }

    fn merge_group(&self, groups: &[Group], cell: f64) -> Vec<Vpl> {
        groups.par_iter().with_min_len(64).map(|group| self.join(group, cell)).collect()
    }

    /// Merges a group into one VPL: the sum of flux, at the centroid, on a surface.
    fn join(&self, group: &[u32], cell: f64) -> Vpl {
        let Some((&first, rest)) = group.split_first() else { return Vpl::default() };
        if rest.is_empty() {
            return self.vpls[first as usize];
        }
        let (mut flux, mut place, mut weight) = (DVec3::ZERO, DVec3::ZERO, 0.0);
        for &index in group {
            let vpl = &self.vpls[index as usize];
            let share = self.weights[index as usize].max(1e-300);
            flux += vpl.flux.as_dvec3();
            place += vpl.position.as_dvec3() * share;
            weight += share;
        }
        let mean = (place / weight).as_vec3();
        let normal = self.mean_normal(group);
        let distance = |index: u32| self.place(index).distance_squared(mean);
        let nearest = group
            .iter()
            .copied()
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)))
            .unwrap_or(first);
        let (at, up) = (self.place(nearest), self.normals[nearest as usize]);
        // Projected onto the plane of the nearest member; its own position if there is no surface.
        let flat = mean - up * up.dot(mean - at);
        let position = self.on_surface(flat, up, cell as f32 * GAP / 4.0).unwrap_or(at);
        Vpl { position, normal: pack_normal(normal), flux: flux.as_vec3(), size: 0.0 }
    }

    /// The surface point just above or below a position, if the surface faces the normal.
    fn on_surface(&self, place: Vec3, normal: Vec3, reach: f32) -> Option<Vec3> {
        let (origin, direction) = ((place + normal * reach).as_dvec3(), -normal.as_dvec3());
        let ray = PreciseRay {
            t_max: 2.0 * f64::from(reach),
            ..PreciseRay::new(origin, direction, DVec3::ZERO)
        };
        let hit = self.stage.bvh.closest_f64(self.stage.tlas, &ray)?;
        let surface = self.stage.surface(direction, &hit)?;
        (surface.geometric.as_vec3().dot(normal) > 0.5).then(|| surface.position.as_vec3())
    }
}
