//! Prefiltered environment maps: irradiance by normal, and luminance blurred by roughness.

use std::f64::consts::PI;

use glam::{DVec3, Vec3, Vec4, dvec3};
use rayon::prelude::*;

use super::radiance_map::RadianceMap;

/// Sides of the octahedral maps: irradiance, then luminance at the roughnesses `1/7, 2/7 ... 1`.
pub const IRRADIANCE_SIZE: usize = 64;
/// See `IRRADIANCE_SIZE`. Roughness 0 is the map itself.
pub const SPECULAR_SIZES: [usize; 7] = [256, 128, 64, 64, 32, 32, 32];
/// Cells of the coarsest and of the finest grid of the light sums.
const COARSEST: [usize; 2] = [16, 8];
const FINEST: usize = 512;

/// Prefiltered irradiance and luminance of a map, for shading.
#[derive(Clone, Debug)]
pub struct PrefilteredEnvironment {
    /// Illuminance by channel (lx) on a plane of each normal: an octahedral map.
    pub irradiance: Vec<Vec3>,
    /// Luminance (nits) around each direction, weighted by GGX of each roughness at normal
    /// incidence.
    pub specular: Vec<Vec<Vec3>>,
}

/// Unit vector of a texel of an octahedral map; border texels lie on the edges, so that no
/// interpolation crosses them.
///
/// Cigolle et al., "A Survey of Efficient Representations for Independent Unit Vectors" (2014),
/// section 3.2, about +Y.
#[must_use]
pub fn octahedral_direction(x: usize, y: usize, size: usize) -> DVec3 {
    let e = |i: usize| 2.0 * i as f64 / (size - 1) as f64 - 1.0;
    let (mut a, mut b) = (e(x), e(y));
    let up = 1.0 - a.abs() - b.abs();
    if up < 0.0 {
        (a, b) = ((1.0 - b.abs()).copysign(a), (1.0 - a.abs()).copysign(b));
    }
    dvec3(a, up, b).normalize()
}

impl PrefilteredEnvironment {
    /// Filters a map. Deterministic.
    #[must_use]
    pub fn new(map: &RadianceMap) -> Self {
        let grids = Grid::pyramid(map);
        let count = SPECULAR_SIZES.len();
        let specular = SPECULAR_SIZES
            .iter()
            .enumerate()
            .map(|(level, &size)| blurred(&grids, size, (level + 1) as f64 / count as f64))
            .collect();
        Self { irradiance: irradiance(map), specular }
    }
}

fn over_sphere(size: usize, value: impl Fn(DVec3) -> Vec3 + Sync) -> Vec<Vec3> {
    (0..size * size)
        .into_par_iter()
        .map(|i| value(octahedral_direction(i % size, i / size, size)))
        .collect()
}

/// Illuminance by normal.
///
/// The map is divided into cells. A cell wholly above a plane's horizon contributes exactly the dot
/// product of the normal with its flux vector, the sum of luminance times solid angle times
/// direction (Lambert's law). Only cells across the horizon are approximated.
fn irradiance(map: &RadianceMap) -> Vec<Vec3> {
    let [across, down] = [64.min(map.width()), 32.min(map.height())];
    let mut cells = vec![[DVec3::ZERO; 3]; across * down];
    for y in 0..map.height() {
        let angle = map.texel_solid_angle(y);
        for x in 0..map.width() {
            let towards = map.texel_direction(x, y) * angle;
            let light = map.texels().get(y * map.width() + x).copied().unwrap_or_default();
            if let Some(cell) =
                cells.get_mut(y * down / map.height() * across + x * across / map.width())
            {
                for (cell, light) in cell.iter_mut().zip(light.to_array()) {
                    *cell += towards * f64::from(light);
                }
            }
        }
    }
    let channels = [0, 1, 2].map(|channel| {
        [0, 1, 2].map(|axis| cells.iter().map(|cell| cell[channel][axis]).collect::<Vec<f64>>())
    });
    over_sphere(IRRADIANCE_SIZE, |normal| {
        let [r, g, b] = channels.each_ref().map(|flux| above_plane(flux, normal));
        dvec3(r, g, b).as_vec3()
    })
}

/// Sum of the dot products of a normal with vectors, by components, that lie above its plane.
fn above_plane([x, y, z]: &[Vec<f64>; 3], normal: DVec3) -> f64 {
    const LANES: usize = 4;
    let mut sums = [0.0; LANES];
    for ((x, y), z) in x.chunks(LANES).zip(y.chunks(LANES)).zip(z.chunks(LANES)) {
        for (((sum, x), y), z) in sums.iter_mut().zip(x).zip(y).zip(z) {
            *sum += (normal.x * x + normal.y * y + normal.z * z).max(0.0);
        }
    }
    sums.iter().sum()
}

/// A cell of the map: mean direction, radius around it (as a chord), solid angle, and luminance
/// times solid angle.
#[derive(Clone, Copy)]
struct Cell {
    direction: Vec3,
    reach: f32,
    angle: f32,
    light: Vec3,
}

struct Grid {
    across: usize,
    down: usize,
    cells: Vec<Cell>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    by_light: DVec3,
    plain: DVec3,
    angle: f64,
    light: DVec3,
}

impl Grid {
    /// Grids from the coarsest to the finest, each with twice as many cells on each side.
    fn pyramid(map: &RadianceMap) -> Vec<Self> {
        let mut size = [COARSEST[0].min(map.width()), COARSEST[1].min(map.height())];
        while size[0] * 2 <= map.width().min(FINEST) && size[1] * 2 <= map.height() {
            size = size.map(|side| side * 2);
        }
        let coarsest = COARSEST[0].min(map.width());
        let mut sums = Sum::of_map(map, size);
        let mut grids = vec![Self::new(size, &sums)];
        while size[0] > coarsest {
            sums = Sum::halved(&sums, size[0]);
            size = size.map(|side| side / 2);
            grids.push(Self::new(size, &sums));
        }
        grids.reverse();
        grids
    }

    fn new([across, down]: [usize; 2], sums: &[Sum]) -> Self {
        let cells = sums
            .iter()
            .map(|sum| {
                let middle = sum.plain.normalize_or(DVec3::Y);
                // A disk of twice the solid angle covers all but slivers.
                Cell {
                    direction: sum.by_light.normalize_or(middle).as_vec3(),
                    reach: (2.0 * sum.angle / PI).sqrt() as f32,
                    angle: sum.angle as f32,
                    light: sum.light.as_vec3(),
                }
            })
            .collect();
        Self { across, down, cells }
    }
}

impl Sum {
    /// Sums over the texels of each cell of a grid.
    fn of_map(map: &RadianceMap, [across, down]: [usize; 2]) -> Vec<Self> {
        let mut sums = vec![Self::default(); across * down];
        for y in 0..map.height() {
            let angle = map.texel_solid_angle(y);
            for x in 0..map.width() {
                let towards = map.texel_direction(x, y) * angle;
                let light =
                    map.texels().get(y * map.width() + x).copied().unwrap_or_default().as_dvec3();
                if let Some(sum) =
                    sums.get_mut(y * down / map.height() * across + x * across / map.width())
                {
                    sum.by_light += towards * light.element_sum();
                    sum.plain += towards;
                    sum.angle += angle;
                    sum.light += light * angle;
                }
            }
        }
        sums
    }

    /// Sums of a grid with half as many cells on each side: cells nest.
    fn halved(sums: &[Self], across: usize) -> Vec<Self> {
        let half = across / 2;
        let down = sums.len() / across.max(1) / 2;
        (0..half * down)
            .map(|i| {
                let first = i / half * 2 * across + i % half * 2;
                [first, first + 1, first + across, first + across + 1]
                    .into_iter()
                    .filter_map(|j| sums.get(j))
                    .fold(Self::default(), |a, b| Self {
                        by_light: a.by_light + b.by_light,
                        plain: a.plain + b.plain,
                        angle: a.angle + b.angle,
                        light: a.light + b.light,
                    })
            })
            .collect()
    }
}

/// Maximum ratio of a cell's radius to its distance to be used whole: for narrow lobes, and for
/// those that are as wide as many cells.
const ACCEPT: [f32; 2] = [0.6, 0.3];
/// Greatest alpha of a narrow lobe.
const NARROW: f32 = 0.1;
/// Texels whose directions share one list of cells: a square of at most this side.
const MAX_BLOCK: usize = 4;
/// Texels of the octahedral map across which a block may reach: its angle stays below 0.1 rad.
const BLOCKS_ACROSS: usize = 64;

/// Weighted mean luminance around each direction of an octahedral map.
fn blurred(grids: &[Grid], size: usize, roughness: f64) -> Vec<Vec3> {
    let side = (size / BLOCKS_ACROSS).clamp(1, MAX_BLOCK);
    let across = size.div_ceil(side);
    let blocks: Vec<Vec<(usize, Vec3)>> = (0..across * across)
        .into_par_iter()
        .map(|block| {
            let [left, top] = [block % across * side, block / across * side];
            let texels: Vec<(usize, Vec3)> = (top..(top + side).min(size))
                .flat_map(|y| (left..(left + side).min(size)).map(move |x| (x, y)))
                .map(|(x, y)| (y * size + x, octahedral_direction(x, y, size).as_vec3()))
                .collect();
            let cells = CellList::around(grids, &texels, roughness);
            texels.into_iter().map(|(i, direction)| (i, cells.mean(direction, roughness))).collect()
        })
        .collect();
    let mut out = vec![Vec3::ZERO; size * size];
    for (i, light) in blocks.into_iter().flatten() {
        if let Some(out) = out.get_mut(i) {
            *out = light;
        }
    }
    out
}

/// Four cells side by side: one SIMD register for each number.
#[derive(Clone, Copy, Default)]
struct CellPack {
    direction: [Vec4; 3],
    /// Solid angle, and light of the three channels.
    sums: [Vec4; 4],
}

/// Cells that together cover the map; the last pack is filled up with black ones.
#[derive(Default)]
struct CellList {
    packs: Vec<CellPack>,
    count: usize,
}

impl CellList {
    /// Cells for some neighboring directions. One is used whole if the weight is nearly constant
    /// within it: if it is small against its distance from all of them or the lobe (the multipole
    /// acceptance of Barnes and Hut, "A Hierarchical O(N log N) Force-Calculation Algorithm", 1986).
    fn around(grids: &[Grid], directions: &[(usize, Vec3)], roughness: f64) -> Self {
        let alpha = roughness.powi(2) as f32;
        let accept = ACCEPT[usize::from(alpha > NARROW)];
        let mut list = Self::default();
        let Some(first) = grids.first() else { return list };
        let middle = directions.iter().map(|(_, d)| *d).sum::<Vec3>().normalize_or(Vec3::Y);
        let radius = directions.iter().map(|(_, d)| d.distance(middle)).fold(0.0, f32::max);
        let mut open: Vec<(usize, usize, usize)> = (0..first.across * first.down)
            .map(|i| (0, i % first.across, i / first.across))
            .collect();
        while let Some((level, x, y)) = open.pop() {
            let Some(grid) = grids.get(level) else { continue };
            let Some(cell) = grid.cells.get(y * grid.across + x) else { continue };
            let distance = middle.distance(cell.direction) - radius;
            if level + 1 < grids.len() && cell.reach > accept * (distance - cell.reach).max(alpha) {
                open.extend(
                    [(0, 0), (1, 0), (0, 1), (1, 1)]
                        .map(|(i, j)| (level + 1, 2 * x + i, 2 * y + j)),
                );
            } else if middle.dot(cell.direction) > -radius {
                list.push(cell);
            }
        }
        list
    }

    fn push(&mut self, cell: &Cell) {
        let lane = self.count % 4;
        if lane == 0 {
            self.packs.push(CellPack::default());
        }
        self.count += 1;
        let Some(pack) = self.packs.last_mut() else { return };
        for (axis, value) in pack.direction.iter_mut().zip(cell.direction.to_array()) {
            axis[lane] = value;
        }
        let sums = [cell.angle, cell.light.x, cell.light.y, cell.light.z];
        for (sum, value) in pack.sums.iter_mut().zip(sums) {
            sum[lane] = value;
        }
    }

    /// Mean luminance around a direction, weighted by D of the half vector times the cosine to the
    /// reflected view, at normal incidence. Karis 2013, equation 7.
    fn mean(&self, direction: Vec3, roughness: f64) -> Vec3 {
        let alpha2 = Vec4::splat(roughness.powi(4) as f32);
        let [dx, dy, dz] = direction.to_array().map(Vec4::splat);
        let mut sums = [Vec4::ZERO; 4];
        for pack in &self.packs {
            let [x, y, z] = pack.direction;
            let cosine = (dx * x + dy * y + dz * z).clamp(Vec4::ZERO, Vec4::ONE);
            // 1 - (n.h)^2 (1 - a^2) with (n.h)^2 = (1 + cosine) / 2, kept precise near the peak.
            let k = 0.5 * ((Vec4::ONE - cosine) + (Vec4::ONE + cosine) * alpha2);
            let weight = cosine / (k * k);
            for (sum, value) in sums.iter_mut().zip(pack.sums) {
                *sum += weight * value;
            }
        }
        let [whole, red, green, blue] =
            sums.map(|lanes| lanes.to_array().into_iter().map(f64::from).sum::<f64>());
        if whole > 0.0 { (dvec3(red, green, blue) / whole).as_vec3() } else { Vec3::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photometry::environment::RowMapping;

    /// A small bright source on a dim, colored gradient: the hardest case for a smooth basis.
    fn studio() -> RadianceMap {
        let lamp = dvec3(0.3, 0.7, -0.5).normalize();
        RadianceMap::from_fn(512, 256, RowMapping::Linear, |d| {
            let lit = if d.dot(lamp) > 0.999 { 2e6 } else { 0.0 };
            dvec3(100.0 + 80.0 * d.y + lit, 90.0 + lit, 120.0 - 60.0 * d.x + lit)
        })
        .unwrap()
    }

    #[test]
    fn irradiance_is_the_integral() {
        let map = studio();
        let table = irradiance(&map);
        let (mut worst, mut greatest) = (0.0_f64, 0.0_f64);
        for i in (0..IRRADIANCE_SIZE * IRRADIANCE_SIZE).step_by(37) {
            let normal =
                octahedral_direction(i % IRRADIANCE_SIZE, i / IRRADIANCE_SIZE, IRRADIANCE_SIZE);
            let mut sum = DVec3::ZERO;
            for y in 0..map.height() {
                for x in 0..map.width() {
                    let cosine = normal.dot(map.texel_direction(x, y)).max(0.0);
                    sum += map.texels()[y * map.width() + x].as_dvec3()
                        * (cosine * map.texel_solid_angle(y));
                }
            }
            worst = worst.max((table[i].as_dvec3() - sum).abs().max_element());
            greatest = greatest.max(sum.max_element());
        }
        println!("greatest error of irradiance: {:.4} % of the greatest", worst / greatest * 100.0);
        assert!(worst < 0.005 * greatest, "{worst} of {greatest}");
    }

    #[test]
    fn uniform_light_stays_uniform() {
        let map =
            RadianceMap::from_fn(64, 32, RowMapping::Linear, |_| DVec3::splat(250.0)).unwrap();
        let filtered = PrefilteredEnvironment::new(&map);
        for texel in filtered.specular.iter().flatten() {
            assert!((texel.x / 250.0 - 1.0).abs() < 1e-5, "{texel}");
        }
        for texel in &filtered.irradiance {
            assert!((f64::from(texel.x) / (250.0 * PI) - 1.0).abs() < 0.005, "{texel}");
        }
    }

    /// Blurred luminance against the integral over every texel with the same weights.
    #[test]
    fn blur_is_the_integral() {
        let map = studio();
        let filtered = PrefilteredEnvironment::new(&map);
        for (level, bound) in [(0, 0.03), (1, 0.02), (3, 0.01), (6, 0.01)] {
            let roughness = (level + 1) as f64 / 7.0;
            let alpha2 = roughness.powi(4);
            let size = SPECULAR_SIZES[level];
            let (mut error, mut total) = (0.0, 0.0);
            for i in (0..24).map(|i| i * (size * size - 1) / 23) {
                let axis = octahedral_direction(i % size, i / size, size);
                let (mut sum, mut weight) = (0.0, 0.0);
                for y in 0..map.height() {
                    for x in 0..map.width() {
                        let l = map.texel_direction(x, y);
                        let nl = axis.dot(l);
                        if nl > 0.0 {
                            let nh2 = (1.0 + nl) / 2.0;
                            let w = alpha2 / (nh2 * (alpha2 - 1.0) + 1.0).powi(2)
                                * nl
                                * map.texel_solid_angle(y);
                            sum += w * f64::from(map.texels()[y * map.width() + x].y);
                            weight += w;
                        }
                    }
                }
                let got = f64::from(filtered.specular[level][i].y);
                error += (got - sum / weight).abs();
                total += sum / weight;
            }
            println!("roughness {roughness:.3}: mean error {:.2} %", error / total * 100.0);
            assert!(error / total < bound, "{roughness}: {}", error / total);
        }
    }
}
