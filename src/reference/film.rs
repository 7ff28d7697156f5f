//! Pictures in the making: sums over samples, with their variance, in batches that can be stopped between.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::{DMat4, DVec2, DVec3};
use rayon::prelude::*;

use super::{
    integrator::{Parts, Walk},
    sampler::{Sampler, SamplerKind},
    world::World,
};
use crate::{photometry::color::luminance, scene::Projection};

/// Pixels on each side of a tile: what one core works on at a time.
const TILE: usize = 16;

/// A camera, relative to its own place.
#[derive(Clone, Copy, Debug)]
pub struct Pinhole {
    /// Across, up and back, unit vectors.
    axes: [DVec3; 3],
    projection: Projection,
    width: usize,
    height: usize,
}

impl Pinhole {
    /// The camera of a node with this transform, which looks along -Z.
    #[must_use]
    pub fn new(world: DMat4, projection: Projection, width: usize, height: usize) -> Self {
        let z = world.z_axis.truncate().normalize_or(DVec3::Z);
        let x = world.y_axis.truncate().cross(z).normalize_or(z.any_orthonormal_vector());
        Self { axes: [x, z.cross(x), z], projection, width, height }
    }

    /// The ray through a place of the picture (pixels from the upper left corner).
    #[must_use]
    pub fn ray(&self, place: DVec2) -> (DVec3, DVec3) {
        let aspect = self.width as f64 / self.height as f64;
        let x = (2.0 * place.x / self.width as f64 - 1.0) * aspect;
        let y = 1.0 - 2.0 * place.y / self.height as f64;
        let [right, up, back] = self.axes;
        match self.projection {
            Projection::Perspective { vertical_fov, .. } => {
                let tan = (f64::from(vertical_fov) / 2.0).tan();
                (DVec3::ZERO, (right * (x * tan) + up * (y * tan) - back).normalize())
            }
            Projection::Orthographic { half_height, near, .. } => {
                let half = f64::from(half_height);
                (right * (x * half) + up * (y * half) - back * f64::from(near), -back)
            }
        }
    }
}

/// One pixel's sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    parts: Parts,
    luminance: f64,
    squares: f64,
    count: u32,
}

/// How a picture is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmSettings {
    /// How paths are walked.
    pub walk: Walk,
    /// Which numbers.
    pub sampler: SamplerKind,
    /// Another seed, another noise.
    pub seed: u32,
    /// Rays through all of a pixel; else through its middle, as the raster renderer samples it.
    pub whole_pixels: bool,
}

impl Default for FilmSettings {
    fn default() -> Self {
        Self { walk: Walk::default(), sampler: SamplerKind::Sobol, seed: 0, whole_pixels: true }
    }
}

/// A picture in the making.
#[derive(Clone, Debug)]
pub struct Film {
    width: usize,
    height: usize,
    sums: Vec<Sum>,
    settings: FilmSettings,
}

impl Film {
    /// An empty one.
    #[must_use]
    pub fn new(width: usize, height: usize, settings: FilmSettings) -> Self {
        Self { width, height, sums: vec![Sum::default(); width * height], settings }
    }

    /// Samples that every pixel has.
    #[must_use]
    pub fn samples(&self) -> u32 {
        self.sums.iter().map(|sum| sum.count).min().unwrap_or(0)
    }

    /// Adds `count` samples to each pixel, on all cores. Returns whether all were added; where `stop` came first,
    /// the picture is as it was before.
    pub fn add(&mut self, world: &World<'_>, camera: &Pinhole, count: u32, stop: &AtomicBool) -> bool {
        let (width, height) = (self.width, self.height);
        let across = width.div_ceil(TILE);
        let (sums, settings) = (&self.sums, self.settings);
        let tiles: Vec<Vec<Sum>> = (0..across * height.div_ceil(TILE))
            .into_par_iter()
            .map(|tile| {
                let mut out = Vec::with_capacity(TILE * TILE);
                for (x, y) in pixels(tile, across, width, height) {
                    let mut sum = sums[y * width + x];
                    for index in sum.count..sum.count.saturating_add(count) {
                        if stop.load(Ordering::Relaxed) {
                            return Vec::new();
                        }
                        let mut sampler = Sampler::new(settings.sampler, settings.seed, x as u32, y as u32, index);
                        let place = sampler.next_2d();
                        let jitter = if settings.whole_pixels { place } else { DVec2::splat(0.5) };
                        let (origin, direction) = camera.ray(DVec2::new(x as f64, y as f64) + jitter);
                        let parts = world.path(origin, direction, &settings.walk, &mut sampler);
                        sum.include(&parts);
                    }
                    out.push(sum);
                }
                out
            })
            .collect();
        if tiles.iter().any(Vec::is_empty) {
            return false;
        }
        for (tile, values) in tiles.into_iter().enumerate() {
            for ((x, y), sum) in pixels(tile, across, width, height).zip(values) {
                self.sums[y * width + x] = sum;
            }
        }
        true
    }

    /// Mean luminance of each pixel (nits by channel), of one part or of the total.
    #[must_use]
    pub fn mean(&self, part: impl Fn(&Parts) -> DVec3) -> Vec<DVec3> {
        self.sums.iter().map(|sum| part(&sum.parts) / f64::from(sum.count.max(1))).collect()
    }

    /// The variance of each pixel's mean luminance (nits squared).
    #[must_use]
    pub fn variance(&self) -> Vec<f64> {
        self.sums
            .iter()
            .map(|sum| {
                let n = f64::from(sum.count.max(2));
                let mean = sum.luminance / n;
                ((sum.squares / n - mean * mean) / (n - 1.0)).max(0.0)
            })
            .collect()
    }

    /// The picture's relative error: the root of the mean variance over the mean luminance.
    #[must_use]
    pub fn relative_error(&self) -> f64 {
        let count = self.sums.len().max(1) as f64;
        let mean = self.sums.iter().map(|sum| sum.luminance / f64::from(sum.count.max(1))).sum::<f64>() / count;
        let variance = self.variance().iter().sum::<f64>() / count;
        if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
    }
}

impl Sum {
    fn include(&mut self, parts: &Parts) {
        // A path whose light is no number would make its pixel none: it counts as dark, and as counted.
        let total = parts.total();
        self.count += 1;
        if !total.is_finite() {
            return;
        }
        let l = luminance(total);
        self.luminance += l;
        self.squares += l * l;
        let sum = &mut self.parts;
        sum.emission += parts.emission;
        sum.direct_diffuse += parts.direct_diffuse;
        sum.direct_specular += parts.direct_specular;
        sum.direct_transmission += parts.direct_transmission;
        sum.indirect_diffuse += parts.indirect_diffuse;
        sum.indirect_specular += parts.indirect_specular;
        sum.indirect_transmission += parts.indirect_transmission;
    }
}

fn pixels(tile: usize, across: usize, width: usize, height: usize) -> impl Iterator<Item = (usize, usize)> {
    let (left, top) = (tile % across * TILE, tile / across * TILE);
    (top..(top + TILE).min(height)).flat_map(move |y| (left..(left + TILE).min(width)).map(move |x| (x, y)))
}
