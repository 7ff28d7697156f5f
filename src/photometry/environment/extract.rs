//! Extraction of the brightest areas of a luminance map as lights, so that they cast shadows.

use glam::{DVec3, Vec3};

use super::RadianceMap;
use crate::photometry::color::{LUMINANCE_WEIGHTS, luminance};

/// Luminances of an area over its peak down to which it reaches. Each further one narrows an area
/// that is too wide.
const LEVELS: [f64; 4] = [0.01, 0.03, 0.1, 0.3];
/// A peak is an area of its own if it is so many times as bright as the ridge to a higher one.
const PROMINENCE: f32 = 2.0;
/// Minimum angular radius of a light in rad.
const MIN_RADIUS: f64 = 1e-6;
/// Maximum rounds of the threshold, each over all texels.
const MAX_ROUNDS: usize = 64;
/// Area of a texel that belongs to none.
const NO_AREA: u32 = u32::MAX;

/// Limits of an extraction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtractionLimits {
    /// Maximum number of lights.
    pub max_lights: usize,
    /// Maximum angular radius of a light in rad, at most pi/2: wider areas stay in the map.
    pub max_radius: f64,
    /// Minimum luminance of an area over the mean luminance of the texels below this threshold;
    /// above 1.
    pub threshold: f64,
    /// Minimum part of the map's light in a light, above 0 and below 1.
    pub min_part: f64,
}

/// Light taken out of a map: a uniform disk at infinity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtractedLight {
    /// Unit vector to its center, in the map's axes.
    pub towards: DVec3,
    /// Illuminance in lx per channel on a plane that faces it.
    pub illuminance: DVec3,
    /// Angular radius in rad.
    pub angular_radius: f64,
    /// Part of the map's light, 0 to 1.
    pub part: f64,
}

/// A map and the lights taken out of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Extraction {
    /// The map without the lights.
    pub map: RadianceMap,
    /// The lights, strongest first.
    pub lights: Vec<ExtractedLight>,
    /// Number of areas that stay in the map since they are too wide.
    pub wide: usize,
}

/// Connected texels around one peak, brightest first.
struct Area {
    texels: Vec<usize>,
    peak: f32,
}

/// An area as a light, with the new values of its texels.
struct Candidate {
    light: ExtractedLight,
    lowered: Vec<(usize, Vec3)>,
}

impl RadianceMap {
    /// Takes the brightest areas out of the map as lights, strongest first. Deterministic.
    ///
    /// An area is lowered to the mean luminance of its border; what it loses is the light, so that
    /// map and lights together keep it exactly. The disk has the direction and length of the
    /// integral of luminance times direction, which keeps the illuminance of each plane that does
    /// not cut the area, and the radius `r` with the area's mean cosine to the center, `(1 + cos
    /// r) / 2` for a uniform disk, which keeps the integral of luminance.
    #[must_use]
    pub fn extract_lights(&self, limits: ExtractionLimits) -> Extraction {
        let work = Work::new(self);
        let floor = work.floor_luminance(limits.threshold);
        let total = work.flux_up_to(f64::INFINITY)[0];
        let is_enough = |found: &Candidate| found.light.part >= limits.min_part;
        let mut marks = vec![0; self.texels().len()];
        let mut mark = 0;
        let (mut candidates, mut wide) = (Vec::new(), 0);
        for area in work.areas(floor) {
            let mut is_wide = false;
            for level in LEVELS {
                mark += 2;
                let limit = (level * f64::from(area.peak)).max(floor);
                let found = work.candidate(&area, limit, total, &mut marks, mark);
                let Some(found) = found.filter(is_enough) else { break };
                is_wide = found.light.angular_radius > limits.max_radius;
                if !is_wide {
                    candidates.push(found);
                    break;
                }
            }
            wide += usize::from(is_wide);
        }
        let strength = |of: &Candidate| luminance(of.light.illuminance);
        candidates.sort_by(|a, b| strength(b).total_cmp(&strength(a)));
        candidates.truncate(limits.max_lights);
        let mut texels = self.texels().to_vec();
        for (index, texel) in candidates.iter().flat_map(|candidate| &candidate.lowered) {
            if let Some(place) = texels.get_mut(*index) {
                *place = *texel;
            }
        }
        let map = Self::new(self.width(), self.height(), self.rows(), texels);
        Extraction {
            map: map.unwrap_or_else(|_| self.clone()),
            lights: candidates.into_iter().map(|candidate| candidate.light).collect(),
            wide,
        }
    }
}

/// A map with the luminance of each texel and the solid angle of each row's.
struct Work<'a> {
    map: &'a RadianceMap,
    nits: Vec<f32>,
    angles: Vec<f64>,
}

impl<'a> Work<'a> {
    fn new(map: &'a RadianceMap) -> Self {
        let nits = map.texels().iter().map(|texel| luminance(texel.as_dvec3()) as f32).collect();
        let angles = (0..map.height()).map(|row| map.texel_solid_angle(row)).collect();
        Self { map, nits, angles }
    }

    /// Integral of the luminance of the texels up to a luminance (nit sr), and their solid angle
    /// (sr).
    fn flux_up_to(&self, limit: f64) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for (row, angle) in self.nits.chunks_exact(self.map.width()).zip(&self.angles) {
            let (mut sum, mut count) = (0.0, 0u32);
            for nits in row.iter().map(|&nits| f64::from(nits)).filter(|&nits| nits <= limit) {
                sum += nits;
                count += 1;
            }
            sums[0] += sum * angle;
            sums[1] += f64::from(count) * angle;
        }
        sums
    }

    /// Luminance that areas exceed: a multiple of the mean of the texels up to this luminance
    /// (sigma clipping), so that one strong sun does not hide lamps.
    fn floor_luminance(&self, threshold: f64) -> f64 {
        let mut floor = f64::INFINITY;
        for _ in 0..MAX_ROUNDS {
            let [flux, angle] = self.flux_up_to(floor);
            let next = threshold * if angle > 0.0 { flux / angle } else { 0.0 };
            if next >= floor {
                break;
            }
            floor = next;
        }
        floor
    }

    /// The texels around a texel: across the seam, and over the poles.
    fn neighbors(&self, index: usize) -> impl Iterator<Item = usize> + use<> {
        let (width, height) = (self.map.width(), self.map.height());
        let (x, y) = (index % width, index / width);
        (0..9).filter(|&step| step != 4).map(move |step| {
            let across = x + width + step % 3 - 1;
            match (y + step / 3).checked_sub(1) {
                Some(row) if row < height => row * width + across % width,
                // The texel on the other side of the pole.
                _ => y * width + (across + width / 2) % width,
            }
        })
    }

    /// Areas above a luminance, by their peaks: the texels join from the brightest to the darkest
    /// (watershed by a disjoint-set forest).
    fn areas(&self, floor: f64) -> Vec<Area> {
        let texels = (0..self.nits.len()).filter(|&index| f64::from(self.nits[index]) > floor);
        let mut order: Vec<usize> = texels.collect();
        order.sort_unstable_by(|&a, &b| self.nits[b].total_cmp(&self.nits[a]).then(a.cmp(&b)));
        let mut area_of = vec![NO_AREA; self.nits.len()];
        let mut peaks: Vec<f32> = Vec::new();
        let mut parents: Vec<u32> = Vec::new();
        for &index in &order {
            let mut best = NO_AREA;
            let mut around = [NO_AREA; 8];
            for (place, neighbor) in around.iter_mut().zip(self.neighbors(index)) {
                *place = root(&mut parents, area_of[neighbor]);
                let is_higher = best == NO_AREA
                    || *place != NO_AREA && peaks[*place as usize] > peaks[best as usize];
                if is_higher {
                    best = *place;
                }
            }
            if best == NO_AREA {
                best = parents.len() as u32;
                parents.push(best);
                peaks.push(self.nits[index]);
            }
            for other in around.into_iter().filter(|&other| other != NO_AREA && other != best) {
                if peaks[other as usize] < PROMINENCE * self.nits[index] {
                    parents[other as usize] = best;
                }
            }
            area_of[index] = best;
        }
        let mut areas: Vec<Area> =
            peaks.iter().map(|&peak| Area { texels: Vec::new(), peak }).collect();
        for index in order {
            let area = root(&mut parents, area_of[index]);
            if let Some(area) = areas.get_mut(area as usize) {
                area.texels.push(index);
            }
        }
        areas.retain(|area| !area.texels.is_empty());
        areas
    }

    /// The texels of an area from a luminance on as a light; `None` if they are as bright as their
    /// border. `marks` has a value below `mark` for each texel.
    fn candidate(
        &self,
        area: &Area,
        limit: f64,
        total: f64,
        marks: &mut [u32],
        mark: u32,
    ) -> Option<Candidate> {
        let end = area.texels.partition_point(|&index| f64::from(self.nits[index]) >= limit);
        let inside = &area.texels[..end];
        let border = self.border(inside, limit, marks, mark);
        let texels = self.map.texels();
        let (mut flux, mut columns) = (0.0, [DVec3::ZERO; 3]);
        let mut lowered = Vec::with_capacity(inside.len());
        for &index in inside {
            let (x, y) = (index % self.map.width(), index / self.map.width());
            let texel = texels[index];
            let rest = texel.min(border);
            let light = texel.as_dvec3() - rest.as_dvec3();
            flux += luminance(light) * self.angles[y];
            let direction = self.map.texel_vector(x, y);
            for (column, light) in columns.iter_mut().zip(light.to_array()) {
                *column += direction * light;
            }
            lowered.push((index, rest));
        }
        let vector: DVec3 =
            columns.iter().zip(LUMINANCE_WEIGHTS.to_array()).map(|(column, w)| *column * w).sum();
        let towards = vector.try_normalize()?;
        // For a uniform disk, 1 minus the mean cosine to its center is sin^2 (r / 2).
        let spread = (1.0 - vector.length() / flux).clamp(0.0, 1.0);
        let light = ExtractedLight {
            towards,
            illuminance: DVec3::from_array(columns.map(|column| column.dot(towards).max(0.0))),
            angular_radius: (2.0 * spread.sqrt().asin()).max(MIN_RADIUS),
            part: flux / total,
        };
        Some(Candidate { light, lowered })
    }

    /// Mean luminance around an area, of texels that are not brighter than it.
    fn border(&self, inside: &[usize], limit: f64, marks: &mut [u32], mark: u32) -> Vec3 {
        for &index in inside {
            marks[index] = mark;
        }
        let (mut sum, mut angle) = (DVec3::ZERO, 0.0);
        for index in inside.iter().flat_map(|&index| self.neighbors(index)) {
            if marks[index] < mark && f64::from(self.nits[index]) <= limit {
                marks[index] = mark + 1;
                let weight = self.angles[index / self.map.width()];
                sum += self.map.texels()[index].as_dvec3() * weight;
                angle += weight;
            }
        }
        if angle > 0.0 { (sum / angle).as_vec3() } else { Vec3::ZERO }
    }
}

/// Root of an area in the forest; shortens the path to it.
fn root(parents: &mut [u32], area: u32) -> u32 {
    let mut at = area;
    while let Some(&parent) = parents.get(at as usize).filter(|&&parent| parent != at) {
        let above = parents.get(parent as usize).copied().unwrap_or(parent);
        if let Some(place) = parents.get_mut(at as usize) {
            *place = above;
        }
        at = above;
    }
    at
}
