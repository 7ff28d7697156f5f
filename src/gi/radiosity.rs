//! Incremental update of the photons of all lights: only changed inputs are retraced.

use std::{collections::HashMap, sync::Arc};

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::{
    bounds::Extent,
    emission::{Key, PhotonSource, sources},
    fingerprints::Fingerprints,
    merge,
    photon_budget::{MAX_VPLS, photon_budget},
    photon_tracing::{self, PhotonResult, UnitVpl},
    sequence::Sequence,
    surface_hit::{TraceScene, strength},
    tree,
    vpl::{Vpl, VplSet, VplStats},
};
use crate::{
    bvh::SceneBvh,
    scene::{Material, Scene},
    settings::{Affects, GiSettings},
};

/// Photons per task.
const CHUNK: u32 = 256;
/// Chunks between two checks of the VPL limit.
const BATCH: usize = 16;
/// Approximate limit of VPLs of all lights before merging. Where surfaces are near white, a photon
/// leaves as many as its bounce limit; then fewer photons share the flux. A VPL takes 28 bytes
/// here, and 128 in a set without merging.
const MAX_UNIT_VPLS: usize = 2 * MAX_VPLS as usize;
/// Minimum number of photons of a light that is on, or an even share of an eighth of all where that
/// is less. A light in a sunlit room has little of the flux but much of the visible illumination.
const MIN_PHOTONS_PER_LIGHT: u32 = 64;

/// The photons of a scene's lights, cached across frames.
///
/// Each photon's path depends on the scene, its light's pose and shape, and the photon's index. It
/// does not depend on time, light strengths or other lights. So dimming a light scales its VPLs,
/// and moving it retraces only its own photons. Cached results equal a full retrace to the bit.
#[derive(Debug)]
pub struct Radiosity {
    /// `MAX_UNIT_VPLS`, or fewer for tests.
    pub(super) room: usize,
    fingerprints: Option<Fingerprints>,
    extent: Option<Extent>,
    anchor: DVec3,
    bounces: u32,
    /// Photons shared among the lights at the last allocation.
    budget: u32,
    light_photons: Vec<LightPhotons>,
    settings: Option<GiSettings>,
    /// Voxel size step of merging.
    voxels: Option<i32>,
    set: Arc<VplSet>,
}

impl Default for Radiosity {
    fn default() -> Self {
        Self {
            room: MAX_UNIT_VPLS,
            fingerprints: None,
            extent: None,
            anchor: DVec3::ZERO,
            bounces: 0,
            budget: 0,
            light_photons: Vec::new(),
            settings: None,
            voxels: None,
            set: Arc::default(),
        }
    }
}

/// A light with its photons.
#[derive(Debug)]
struct LightPhotons {
    source: PhotonSource,
    /// Photons allocated to it.
    requested: u32,
    /// Photons that share its flux: fewer where the VPL limit was reached.
    count: u32,
    paths: Paths,
    /// Flux of its VPLs (lm).
    stored: f64,
}

/// Results and VPLs of the photons, in photon order.
#[derive(Debug, Default, PartialEq)]
struct Paths {
    results: Vec<PhotonResult>,
    marks: Vec<UnitVpl>,
}

impl LightPhotons {
    /// Flux (lm per channel) of a photon of weight 1.
    fn share(&self) -> DVec3 {
        if self.count > 0 { self.source.flux / f64::from(self.count) } else { DVec3::ZERO }
    }

    fn is_on(&self) -> bool {
        strength(self.source.flux) > 0.0
    }
}

impl Radiosity {
    /// An empty cache: the first `update` traces all photons.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Drops only the cached paths: the next `update` retraces every photon and gives the same
    /// result.
    pub fn retrace(&mut self) {
        self.fingerprints = None;
        self.settings = None;
    }

    /// Returns the VPLs of the current scene, and the fraction of their light that changed since
    /// the last call. Without a change it returns the previous set itself. `bvh` holds all of the
    /// scene's surfaces, with current instances and refitted (`SceneBvh::rebuild_tlas`, `refit`),
    /// and with wide nodes (`SceneBvh::build_wide`). A scene without surfaces or lights gives an
    /// empty set.
    ///
    /// Besides the paths, it keeps across calls whatever should not jump: the photon allocation
    /// among lights, the scene's bounds, the anchor and the voxel size.
    ///
    /// Vertices of shapes without deformation are assumed static: call `retrace` after editing
    /// them.
    pub fn update(
        &mut self,
        scene: &Scene,
        bvh: &SceneBvh,
        settings: &GiSettings,
    ) -> (Arc<VplSet>, ChangedFraction) {
        let settings = GiSettings {
            vpls: settings.vpls.clamp(1, MAX_VPLS),
            bounces: settings.bounces.min(64),
            ..*settings
        };
        let extent = Extent::new(bvh, self.extent);
        let anchor = extent.map_or(DVec3::ZERO, |extent| anchor(&extent, self.anchor));
        let top = bvh.tlas_from(anchor);
        let plain = Material::default();
        let stage = TraceScene { scene, bvh, tlas: &top, plain: &plain };
        let fingerprints = Fingerprints::new(scene, bvh, &top);
        let unmoved = self.fingerprints.as_ref() == Some(&fingerprints) && self.anchor == anchor;
        let bounds = extent.map(|extent| extent.relative_to(anchor));
        let found = match bounds {
            Some(bounds) => {
                let before: HashMap<Key, &PhotonSource> = self
                    .light_photons
                    .iter()
                    .map(|light_photons| (light_photons.source.key, &light_photons.source))
                    .collect();
                sources(&stage, anchor, &bounds, &before, unmoved)
            }
            None => Vec::new(),
        };
        let counts = self.allocate_photons(&found, photon_budget(&settings));
        let keep = unmoved && self.bounces == settings.bounces;
        let light_photons = std::mem::take(&mut self.light_photons);
        let mut before: HashMap<Key, LightPhotons> = light_photons
            .into_iter()
            .map(|light_photons| (light_photons.source.key, light_photons))
            .collect();
        let mut stats = VplStats::default();
        let mut change = Difference::default();
        let all = counts.iter().map(|&count| u64::from(count)).sum::<u64>().max(1);
        for (source, count) in found.into_iter().zip(counts) {
            let last = before.remove(&source.key);
            if let Some(last) = last
                .as_ref()
                .filter(|last| keep && last.source == source && last.requested == count)
            {
                change.all += 2.0 * last.stored;
            } else {
                let room = (self.room as u64 * u64::from(count) / all) as usize;
                let wanted = (count, settings.bounces, room);
                let light_photons = retrace_light(
                    &stage,
                    source,
                    wanted,
                    last.as_ref().filter(|_| keep),
                    &mut stats,
                );
                change.of(last.as_ref(), &light_photons);
                self.light_photons.push(light_photons);
                continue;
            }
            self.light_photons.extend(last);
        }
        // Removed lights; sorted, as sums depend on the order.
        let mut gone: Vec<f64> =
            before.values().map(|light_photons| light_photons.stored).collect();
        gone.sort_unstable_by(f64::total_cmp);
        change.gone += gone.iter().sum::<f64>();
        let same_vpls = |last: GiSettings| {
            !last.changed(&settings).iter().any(|changed| changed.affects == Affects::Vpls)
        };
        let same =
            change.is_none() && self.settings.is_some_and(same_vpls) && self.anchor == anchor;
        (self.fingerprints, self.extent, self.anchor) = (Some(fingerprints), extent, anchor);
        (self.bounces, self.settings) = (settings.bounces, Some(settings));
        if !same {
            let reach = bounds.map_or(1.0, |bounds| bounds.radius());
            self.set = Arc::new(self.assembled(&stage, &settings, stats, reach));
        }
        (self.set.clone(), change.whole())
    }

    /// Number of photons of each light, by its flux. The allocation is kept until a light has less
    /// than half of its share, or all together less than a quarter of the budget. So dimming one
    /// light does not immediately give others more photons.
    fn allocate_photons(&mut self, found: &[PhotonSource], budget: u32) -> Vec<u32> {
        let fluxes: Vec<f64> = found.iter().map(|source| strength(source.flux)).collect();
        let total: f64 = fluxes.iter().sum();
        let on = fluxes.iter().filter(|&&flux| flux > 0.0).count() as u64;
        let min =
            (u64::from(budget) / (8 * on.max(1))).clamp(1, u64::from(MIN_PHOTONS_PER_LIGHT)) as u32;
        let wanted = |flux: f64| {
            let even = f64::from(budget) * (flux / total.max(1e-300));
            if flux > 0.0 { (even.round() as u32).clamp(min, budget.max(min)) } else { 0 }
        };
        let fresh: Vec<u32> = fluxes.iter().map(|&flux| wanted(flux)).collect();
        let counts: HashMap<Key, u32> = self
            .light_photons
            .iter()
            .map(|light_photons| (light_photons.source.key, light_photons.requested))
            .collect();
        let kept: Option<Vec<u32>> =
            found.iter().map(|source| counts.get(&source.key).copied()).collect();
        let holds = |kept: &Vec<u32>| {
            let shining = kept
                .iter()
                .zip(&fluxes)
                .filter(|(_, flux)| **flux > 0.0)
                .map(|(count, _)| u64::from(*count));
            self.budget == budget
                && kept
                    .iter()
                    .zip(&fresh)
                    .all(|(&kept, &fresh)| u64::from(fresh) <= 2 * u64::from(kept))
                && (on == 0 || 4 * shining.sum::<u64>() >= u64::from(budget))
        };
        let kept = kept.filter(holds);
        self.budget = budget;
        kept.unwrap_or(fresh)
    }

    /// VPLs of all lights with their light tree.
    fn assembled(
        &mut self,
        stage: &TraceScene,
        settings: &GiSettings,
        mut stats: VplStats,
        reach: f64,
    ) -> VplSet {
        let mut vpls = Vec::new();
        stats.dropped += self
            .light_photons
            .iter()
            .filter(|light_photons| !light_photons.source.flux.is_finite())
            .count() as u64;
        for light_photons in self.light_photons.iter().filter(|light_photons| light_photons.is_on())
        {
            let share = light_photons.share();
            stats.lights += 1;
            stats.photons += u64::from(light_photons.count);
            stats.allocated += u64::from(light_photons.requested);
            for photon_result in &light_photons.paths.results {
                stats.emitted += photon_result.emitted.as_dvec3() * share;
                stats.escaped += photon_result.escaped.as_dvec3() * share;
                stats.truncated += photon_result.cut.as_dvec3() * share;
                stats.dropped += u64::from(photon_result.dropped);
            }
            for mark in &light_photons.paths.marks {
                let flux = (mark.weight.as_dvec3() * share).as_vec3();
                if !flux.is_finite() {
                    stats.dropped += 1;
                } else if flux != Vec3::ZERO {
                    stats.stored += flux.as_dvec3();
                    vpls.push(Vpl {
                        position: mark.position,
                        normal: mark.normal,
                        flux,
                        size: 0.0,
                    });
                }
            }
        }
        stats.created = vpls.len() as u32;
        if settings.merge
            && (vpls.len() > settings.vpls as usize || settings.merge_cell_size.is_some())
            && !vpls.is_empty()
        {
            let merged = merge::merged(stage, &vpls, settings, reach, self.voxels);
            (vpls, self.voxels) = (merged.vpls, merged.step);
            (stats.merge_cell_size, stats.merge_rays) = (merged.cell, merged.rays);
        }
        stats.kept = vpls.len() as u32;
        let nodes = tree::light_tree(&vpls);
        tree::measure(&mut vpls, &nodes, reach as f32);
        VplSet { anchor: self.anchor, vpls, nodes, stats }
    }
}

/// A position near the scene's center, on a grid of an eighth to a quarter of its size, so that
/// nearby positions are exact in single precision. The last anchor is kept while the center is
/// within a cell of it: voxels start there and should not move.
fn anchor(extent: &Extent, last: DVec3) -> DVec3 {
    let step = (extent.relative_to(DVec3::ZERO).radius() / 4.0).log2().floor().exp2();
    let middle = extent.middle();
    if (middle - last).abs().max_element() <= step {
        return last;
    }
    let near = (middle / step).round() * step;
    if near.is_finite() { near } else { DVec3::ZERO }
}

/// Traces a light's photons with given numbers of photons and bounces, up to about `room` VPLs.
/// Keeps the last paths where the emission is equal.
fn retrace_light(
    stage: &TraceScene,
    source: PhotonSource,
    (requested, bounces, room): (u32, u32, usize),
    last: Option<&LightPhotons>,
    stats: &mut VplStats,
) -> LightPhotons {
    let mut count = requested;
    let mut paths = Paths::default();
    if let Some(last) = last.filter(|last| last.source.emission == source.emission) {
        // A light that is off keeps its paths until it is on again.
        let max = if strength(source.flux) > 0.0 { count as usize } else { usize::MAX };
        let kept = last.paths.results.len().min(max);
        paths.results.extend_from_slice(&last.paths.results[..kept]);
        let marks: usize =
            paths.results.iter().map(|photon_result| photon_result.marks as usize).sum();
        paths.marks.extend_from_slice(&last.paths.marks[..marks]);
    }
    let sequence = Sequence::new(source.key.seed());
    let first = paths.results.len() as u32;
    // A light that is off keeps its index among the others, and traces nothing.
    let end = if strength(source.flux) > 0.0 { count } else { first };
    let begins: Vec<u32> = (first..end).step_by(CHUNK as usize).collect();
    for batch in begins.chunks(BATCH) {
        if paths.marks.len() >= room.max(1) && !paths.results.is_empty() {
            count = paths.results.len() as u32;
            break;
        }
        let chunks: Vec<Paths> = batch
            .par_iter()
            .map(|&begin| {
                let mut chunk = Paths::default();
                for number in begin..begin.saturating_add(CHUNK).min(end) {
                    chunk.results.push(photon_tracing::trace(
                        stage,
                        &source,
                        sequence,
                        number,
                        bounces,
                        &mut chunk.marks,
                    ));
                }
                chunk
            })
            .collect();
        for chunk in chunks {
            stats.traced += chunk.results.len() as u64;
            stats.rays += chunk
                .results
                .iter()
                .map(|photon_result| u64::from(photon_result.rays))
                .sum::<u64>();
            paths.results.extend(chunk.results);
            paths.marks.extend(chunk.marks);
        }
    }
    let mut light_photons = LightPhotons { source, requested, count, paths, stored: 0.0 };
    if light_photons.is_on() {
        let sum: DVec3 = light_photons.paths.marks.iter().map(|mark| mark.weight.as_dvec3()).sum();
        light_photons.stored = strength(sum * light_photons.share());
    }
    light_photons
}

/// Fraction of the light that has changed since the last set, 0 to 1. It is half the sum of the
/// flux differences over all VPLs by light, photon and bounce, over the mean of both total fluxes.
/// A VPL that has moved counts with its flux before and after. 0: no photon differs; 1: nothing is
/// the same. Merging settings change the set but not this value.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct ChangedFraction(pub f32);

/// Accumulator of `ChangedFraction`.
#[derive(Default)]
struct Difference {
    /// Differences of flux (lm).
    moved: f64,
    /// Flux of removed lights (lm).
    gone: f64,
    /// Sum of the flux before and after (lm).
    all: f64,
}

impl Difference {
    fn of(&mut self, last: Option<&LightPhotons>, now: &LightPhotons) {
        let (before, after) = (last.map_or(0.0, |last| last.stored), now.stored);
        self.all += before + after;
        let Some(last) = last.filter(|_| before > 0.0) else {
            self.moved += after;
            return;
        };
        let share = |light_photons: &LightPhotons| {
            if light_photons.is_on() { light_photons.share() } else { DVec3::ZERO }
        };
        let (old, new) = (share(last), share(now));
        if old == new && last.paths == now.paths {
            return;
        }
        let (mut a, mut b) = (0, 0);
        let photons = last.paths.results.len().max(now.paths.results.len());
        for photon in 0..photons {
            let marks = |light_photons: &LightPhotons, from: usize| {
                let count = light_photons
                    .paths
                    .results
                    .get(photon)
                    .map_or(0, |photon_result| photon_result.marks as usize);
                (from, from + count)
            };
            let ((from_a, to_a), (from_b, to_b)) = (marks(last, a), marks(now, b));
            (a, b) = (to_a, to_b);
            let (of_a, of_b) = (&last.paths.marks[from_a..to_a], &now.paths.marks[from_b..to_b]);
            for slot in 0..of_a.len().max(of_b.len()) {
                let (x, y) = (of_a.get(slot), of_b.get(slot));
                let light = |mark: Option<&UnitVpl>, share: DVec3| {
                    mark.map_or(DVec3::ZERO, |m| m.weight.as_dvec3() * share)
                };
                let (light_x, light_y) = (light(x, old), light(y, new));
                let same_place = matches!((x, y), (Some(x), Some(y)) if (x.position, x.normal) == (y.position, y.normal));
                self.moved += if same_place {
                    strength((light_x - light_y).abs())
                } else {
                    strength(light_x) + strength(light_y)
                };
            }
        }
    }

    fn is_none(&self) -> bool {
        self.moved <= 0.0 && self.gone <= 0.0
    }

    fn whole(&self) -> ChangedFraction {
        let all = self.all + self.gone;
        if all > 0.0 {
            ChangedFraction(((self.moved + self.gone) / all).clamp(0.0, 1.0) as f32)
        } else {
            ChangedFraction(0.0)
        }
    }
}
