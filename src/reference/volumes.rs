//! Participating media along rays: free flights, transmittance and emission (docs/volumes.md).
//!
//! A ray is split where volumes begin and end. Homogeneous segments use closed forms for distances
//! and transmittances; the others use tentative collisions by a majorant. Methods: Woodcock et al.
//! 1965 for flights, Novák, Selle and Jarosz, "Residual Ratio Tracking for Estimating Attenuation
//! in Participating Media" (2014, section 3) for transmittances, Kutz et al., "Spectral and
//! Decomposition Tracking for Rendering Heterogeneous Volumes" (2017, section 5) for colors. All of
//! them are unbiased.

use glam::{DAffine3, DMat4, DVec2, DVec3};

use super::sampler::Sampler;
use crate::{
    bvh::{Ray, SceneBvh, SceneTlas},
    scene::{
        MediumCoefficients, Node, Scene, VolumeShape,
        volume::{DensityGrid, PlacedVolume},
    },
};

/// Maximum number of face crossings of a mesh on a ray; beyond them the ray counts as outside.
const CROSSINGS: usize = 256;

/// Henyey-Greenstein phase function (1/sr; 1941), by the cosine between the directions of travel
/// before and after.
#[must_use]
pub fn henyey_greenstein(cosine: f64, g: f64) -> f64 {
    let k = 1.0 + g * g - 2.0 * g * cosine;
    (1.0 - g * g) / (4.0 * std::f64::consts::PI * k * k.sqrt())
}

/// Samples the direction of travel before scattering, given that after it (unit), with the density
/// of the phase function.
#[must_use]
pub fn sample_henyey_greenstein(along: DVec3, g: f64, u: DVec2) -> DVec3 {
    let cosine = if g.abs() < 1e-3 {
        1.0 - 2.0 * u.x
    } else {
        let k = (1.0 - g * g) / (1.0 + g - 2.0 * g * u.x);
        (1.0 + g * g - k * k) / (2.0 * g)
    };
    let cosine = cosine.clamp(-1.0, 1.0);
    let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
    let (x, y) = along.any_orthonormal_pair();
    let (sin, cos) = (std::f64::consts::TAU * u.y).sin_cos();
    (x * (sine * cos) + y * (sine * sin) + along * cosine).normalize()
}

/// Random numbers in [0, 1): the first two come from the path's sequence, the following ones from
/// an independent generator, without limit.
pub struct VolumeRng {
    first: [f64; 2],
    used: usize,
    state: u64,
}

impl VolumeRng {
    /// Takes three numbers from the path's sequence.
    pub fn new(sampler: &mut Sampler) -> Self {
        let first = sampler.next_2d().to_array();
        Self { first, used: 0, state: (sampler.next_1d() * 9_007_199_254_740_992.0) as u64 }
    }

    fn next(&mut self) -> f64 {
        if let Some(&number) = self.first.get(self.used) {
            self.used += 1;
            return number;
        }
        // Steele, Lea and Flood 2014, figure 15 (SplitMix).
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0
    }

    /// An exponentially distributed optical depth.
    fn next_depth(&mut self) -> f64 {
        -(1.0 - self.next()).ln()
    }
}

/// Result of a free flight along a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FreeFlight {
    /// The light reaches the end; weight per channel.
    Transmitted(DVec3),
    /// A volume scatters the light.
    Scattered {
        /// Distance along the ray (m).
        distance: f64,
        /// Weight per channel.
        weight: DVec3,
        /// Anisotropy of the phase function.
        anisotropy: f64,
    },
}

/// Inside test of a volume.
enum Inside {
    /// The unit cube around the origin.
    Cube,
    /// A mesh in its object space.
    Mesh { bvh: Box<SceneBvh>, top: SceneTlas },
}

struct Volume {
    /// Eye space to object space.
    to_local: DAffine3,
    inside: Inside,
    /// Bounds of the grid in object space: minimum corner, and reciprocal size.
    grid: (DVec3, DVec3),
    density: Option<DensityGrid>,
    max_density: f64,
    medium: MediumCoefficients,
}

/// All volumes of a scene, relative to an eye.
#[derive(Default)]
pub struct Volumes(Vec<Volume>);

/// A ray segment with a constant set of volumes.
struct Piece {
    from: f64,
    to: f64,
    /// Bit mask of the volumes.
    members: u32,
}

/// Summed coefficients of several media.
#[derive(Clone, Copy)]
struct Sum {
    scattering: DVec3,
    extinction: DVec3,
    emission: DVec3,
}

impl Volume {
    fn new(scene: &Scene, placed: &PlacedVolume<'_>, eye: DVec3) -> Option<Self> {
        let inverse = placed.world.inverse();
        let to_own = DAffine3::from_mat4(inverse * DMat4::from_translation(eye));
        let (low, high) = placed.volume.bounds(scene)?;
        let inside = match placed.volume.shape {
            VolumeShape::Box(_) => Inside::Cube,
            VolumeShape::Mesh(mesh) => {
                let mut mesh = scene.meshes.get(mesh)?.clone();
                mesh.primitives.iter_mut().for_each(|part| part.material = None);
                let alone = Scene {
                    meshes: vec![mesh],
                    nodes: vec![Node { mesh: Some(0), ..Node::default() }],
                    roots: vec![0],
                    ..Scene::default()
                };
                let bvh = SceneBvh::new(&alone, |_| true);
                let top = bvh.tlas_from(DVec3::ZERO);
                Inside::Mesh { bvh: Box::new(bvh), top }
            }
        };
        let one_over = (high - low).max(DVec3::splat(1e-30)).recip();
        let (density, medium) = (placed.volume.density.clone(), placed.volume.medium);
        Some(Self {
            to_local: to_own,
            inside,
            grid: (low, one_over),
            density,
            max_density: placed.volume.max_density(),
            medium,
        })
    }

    /// Calls back for every ray segment inside.
    fn spans(&self, origin: DVec3, direction: DVec3, limit: f64, mut inside: impl FnMut(f64, f64)) {
        let (o, d) =
            (self.to_local.transform_point3(origin), self.to_local.transform_vector3(direction));
        match &self.inside {
            Inside::Cube => {
                // A ray along a face divides by zero: infinities of either sign, and NaN where it
                // lies in the face.
                let (a, b) = ((DVec3::splat(-0.5) - o) / d, (DVec3::splat(0.5) - o) / d);
                let near = a.min(b).max_element().max(0.0);
                let far = a.max(b).min_element().min(limit);
                let outside = (0..3).any(|i| d[i] == 0.0 && o[i].abs() > 0.5);
                if near < far && !outside {
                    inside(near, far);
                }
            }
            Inside::Mesh { bvh, top } => {
                let (origin, direction) = (o.as_vec3(), d.as_vec3());
                let mut ray = Ray {
                    origin,
                    direction,
                    t_min: 0.0,
                    t_max: f32::INFINITY,
                    offset_normal: glam::Vec3::ZERO,
                };
                let mut crossings: Vec<(f64, i32)> = Vec::new();
                while crossings.len() < CROSSINGS
                    && let Some(hit) = bvh.closest(top, &ray)
                {
                    let leaves = bvh.triangles[hit.triangle as usize].normal().dot(direction) > 0.0;
                    crossings.push((f64::from(hit.t), if leaves { -1 } else { 1 }));
                    ray.t_min = hit.t;
                }
                // More exits than entries mean that the origin is inside.
                let mut depth = -crossings.iter().map(|(_, way)| way).sum::<i32>();
                let mut from = 0.0;
                for (t, way) in crossings {
                    if depth > 0 && from < t.min(limit) {
                        inside(from, t.min(limit));
                    }
                    depth += way;
                    from = t;
                }
            }
        }
    }

    fn density_at(&self, place: DVec3) -> f64 {
        let Some(grid) = &self.density else { return 1.0 };
        grid.sample((self.to_local.transform_point3(place) - self.grid.0) * self.grid.1)
    }
}

impl Volumes {
    /// The volumes of a scene, relative to an eye (m, world space).
    #[must_use]
    pub fn new(scene: &Scene, eye: DVec3) -> Self {
        Self(
            scene
                .placed_volumes()
                .iter()
                .filter_map(|placed| Volume::new(scene, placed, eye))
                .collect(),
        )
    }

    /// True if there are no volumes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn members(&self, bits: u32) -> impl Iterator<Item = &Volume> {
        self.0
            .iter()
            .enumerate()
            .filter(move |(index, _)| bits & 1 << index != 0)
            .map(|(_, volume)| volume)
    }

    /// Ray segments within volumes, in order.
    fn segments(&self, origin: DVec3, direction: DVec3, limit: f64) -> Vec<Piece> {
        let mut borders: Vec<(f64, u32)> = Vec::new();
        for (index, volume) in self.0.iter().enumerate() {
            volume.spans(origin, direction, limit, |from, to| {
                borders.extend([(from, 1 << index), (to, 1 << index)])
            });
        }
        borders.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut pieces, mut members, mut from) = (Vec::new(), 0, 0.0);
        for (to, bit) in borders {
            if members != 0 && to > from {
                pieces.push(Piece { from, to, members });
            }
            members ^= bit;
            from = to;
        }
        pieces
    }

    /// Summed coefficients of these volumes at a position.
    fn coefficients_at(&self, members: u32, place: DVec3) -> Sum {
        let mut sum =
            Sum { scattering: DVec3::ZERO, extinction: DVec3::ZERO, emission: DVec3::ZERO };
        for volume in self.members(members) {
            let density = volume.density_at(place);
            sum.scattering += volume.medium.scattering * density;
            sum.extinction += volume.medium.extinction() * density;
            sum.emission += volume.medium.emission * density;
        }
        sum
    }

    /// Chooses the scattering volume at a position in proportion to its scattering of `carried`:
    /// its coefficients over the probability, and its anisotropy.
    fn scatterer(
        &self,
        members: u32,
        place: DVec3,
        carried: DVec3,
        numbers: &mut VolumeRng,
    ) -> (DVec3, f64) {
        let mut chosen = (DVec3::ZERO, 0.0);
        let mut all = 0.0;
        let single = members.is_power_of_two();
        for volume in self.members(members) {
            let scattering = volume.medium.scattering * volume.density_at(place);
            let chance = (scattering * carried).element_sum();
            all += chance;
            if single || (chance > 0.0 && numbers.next() * all < chance) {
                chosen = (scattering / if single { 1.0 } else { chance }, volume.medium.anisotropy);
            }
        }
        if single { chosen } else { (chosen.0 * all, chosen.1) }
    }

    /// Unbiased estimate of the transmittance along a ray.
    #[must_use]
    pub fn transmittance(
        &self,
        origin: DVec3,
        direction: DVec3,
        distance: f64,
        numbers: &mut VolumeRng,
    ) -> DVec3 {
        let mut through = DVec3::ONE;
        for Piece { from, to, members } in self.segments(origin, direction, distance) {
            for volume in self.members(members) {
                let extinction = volume.medium.extinction();
                if volume.density.is_none() {
                    through *= exp(-extinction * (to - from));
                    continue;
                }
                let majorant = extinction.max_element() * volume.max_density;
                if majorant <= 0.0 {
                    continue;
                }
                let mut t = from;
                loop {
                    t += numbers.next_depth() / majorant;
                    if t >= to {
                        break;
                    }
                    through *= DVec3::ONE
                        - extinction * (volume.density_at(origin + direction * t) / majorant);
                    if through.max_element() < 0.05 {
                        if numbers.next() >= 0.25 {
                            return DVec3::ZERO;
                        }
                        through *= 4.0;
                    }
                }
            }
        }
        through
    }

    /// Samples a free flight of light with the channel weights `carried`. Emission of the volumes
    /// towards the ray's origin, up to the end of the flight, is added to `emitted`.
    pub fn sample_free_flight(
        &self,
        (origin, direction): (DVec3, DVec3),
        limit: f64,
        carried: DVec3,
        numbers: &mut VolumeRng,
        emitted: &mut DVec3,
    ) -> FreeFlight {
        let mut weight = DVec3::ONE;
        for piece in self.segments(origin, direction, limit) {
            if (carried * weight).max_element() <= 0.0 {
                break;
            }
            let even = self.members(piece.members).all(|volume| volume.density.is_none());
            let step = if even { Self::sample_homogeneous } else { Self::sample_heterogeneous };
            let scattered =
                step(self, &piece, (origin, direction), carried, &mut weight, (numbers, emitted));
            if let Some((distance, anisotropy)) = scattered {
                return FreeFlight::Scattered { distance, weight, anisotropy };
            }
        }
        FreeFlight::Transmitted(weight)
    }

    /// A homogeneous segment, in closed form. Distances are sampled by scattering alone, for a
    /// channel chosen in proportion to `carried`; absorption is a weight. Balance over the
    /// channels: Wilkie et al., "Hero Wavelength Spectral Sampling" (2014, section 3.3).
    fn sample_homogeneous(
        &self,
        piece: &Piece,
        (origin, direction): (DVec3, DVec3),
        carried: DVec3,
        weight: &mut DVec3,
        (numbers, emitted): (&mut VolumeRng, &mut DVec3),
    ) -> Option<(f64, f64)> {
        let length = piece.to - piece.from;
        let sum = self.coefficients_at(piece.members, origin + direction * piece.from);
        let shown = DVec3::from_array(std::array::from_fn(|i| {
            let depth = sum.extinction[i] * length;
            length * if depth > 1e-6 { -(-depth).exp_m1() / depth } else { 1.0 - depth / 2.0 }
        }));
        *emitted += *weight * sum.emission * shown;
        if sum.scattering == DVec3::ZERO {
            *weight *= exp(-sum.extinction * length);
            return None;
        }
        let light = carried * *weight;
        let chances = light / light.element_sum();
        let u = numbers.next();
        let channel = if u < chances.x {
            0
        } else if u < chances.x + chances.y {
            1
        } else {
            2
        };
        let scattering = sum.scattering[channel];
        let distance =
            if scattering > 0.0 { numbers.next_depth() / scattering } else { f64::INFINITY };
        if distance >= length {
            let chance = (chances * exp(-sum.scattering * length)).element_sum();
            *weight *= exp(-sum.extinction * length) / chance.max(1e-300);
            return None;
        }
        let density = (chances * sum.scattering * exp(-sum.scattering * distance)).element_sum();
        let remaining = exp(-sum.extinction * distance) / density;
        let at = piece.from + distance;
        let (scattering, g) =
            self.scatterer(piece.members, origin + direction * at, light * remaining, numbers);
        *weight *= remaining * scattering;
        Some((at, g))
    }

    /// A heterogeneous segment, by tentative collisions.
    fn sample_heterogeneous(
        &self,
        piece: &Piece,
        (origin, direction): (DVec3, DVec3),
        carried: DVec3,
        weight: &mut DVec3,
        (numbers, emitted): (&mut VolumeRng, &mut DVec3),
    ) -> Option<(f64, f64)> {
        let majorant: f64 = self
            .members(piece.members)
            .map(|volume| volume.medium.extinction().max_element() * volume.max_density)
            .sum();
        if majorant <= 0.0 {
            // Emission without extinction, sampled at a uniform position.
            let length = piece.to - piece.from;
            let sum = self.coefficients_at(
                piece.members,
                origin + direction * (piece.from + length * numbers.next()),
            );
            *emitted += *weight * sum.emission * length;
            return None;
        }
        let mut t = piece.from;
        loop {
            t += numbers.next_depth() / majorant;
            if t >= piece.to {
                return None;
            }
            let place = origin + direction * t;
            let sum = self.coefficients_at(piece.members, place);
            *emitted += *weight * sum.emission / majorant;
            let nothing = (DVec3::splat(majorant) - sum.extinction).max(DVec3::ZERO);
            let light = carried * *weight;
            let (scatters, passes) =
                ((light * sum.scattering).element_sum(), (light * nothing).element_sum());
            if scatters + passes <= 0.0 {
                *weight = DVec3::ZERO;
                return None;
            }
            let chance = scatters / (scatters + passes);
            if numbers.next() < chance {
                let (scattering, g) = self.scatterer(piece.members, place, light, numbers);
                *weight *= scattering / (majorant * chance);
                return Some((t, g));
            }
            *weight *= nothing / (majorant * (1.0 - chance));
        }
    }
}

fn exp(v: DVec3) -> DVec3 {
    DVec3::from_array(v.to_array().map(f64::exp))
}
