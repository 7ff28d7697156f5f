//! Rays of the kinds that a path tracer sends, and how many a second find what they meet.

use std::time::Instant;

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::{
    bvh::{Hit, Ray, SceneBvh, TopLevel},
    reference::{SamplerKind, bsdf::cosine_hemisphere, sampler::Sampler},
};

/// Pixels of the pictures that rays are taken from: some 10 MB for each kind.
pub const PIXELS: f64 = 262_144.0;
/// Rays that are handed to a thread at once.
const CHUNK: usize = 1024;

/// Rays, each kind in the order of the picture's pixels.
#[derive(Default)]
pub struct Rays {
    /// From the eye.
    pub primary: Vec<Ray>,
    /// From what they met towards a light.
    pub shadow: Vec<Ray>,
    /// From what they met, as a matte surface scatters.
    pub diffuse: Vec<Ray>,
}

/// Rays a second, by kind; none where the scene gives no such rays.
#[derive(Clone, Copy, Default)]
pub struct Rates {
    pub primary: Option<f64>,
    pub shadow: Option<f64>,
    pub diffuse: Option<f64>,
}

/// Of a surface that light may come to: where it is and its normal, both relative to the eye. Gives where a light lies and
/// how far; the light's direction need not be of unit length.
pub type TowardsLight<'a> = &'a dyn Fn(DVec3, &mut Sampler) -> Option<(DVec3, f64)>;

impl Rays {
    /// From rays of an eye, all others.
    pub fn new(bvh: &SceneBvh, top: &TopLevel, primary: Vec<Ray>, light: TowardsLight<'_>) -> Self {
        let mut rays = Self::default();
        for (index, ray) in primary.iter().enumerate() {
            let Some((position, normal)) = bvh.closest(top, ray).and_then(|hit| surface(bvh, top, ray, &hit)) else {
                continue;
            };
            let mut numbers = Sampler::new(SamplerKind::Independent, 0, index as u32, 0, 0);
            let leave = |direction: DVec3, distance: f64| Ray {
                origin: position.as_vec3(),
                direction: direction.as_vec3(),
                t_min: 0.0,
                t_max: distance as f32,
                away: normal.as_vec3(),
            };
            if let Some((direction, distance)) = light(position, &mut numbers)
                && direction.dot(normal) > 0.0
            {
                rays.shadow.push(leave(direction, distance));
            }
            let (x, y) = normal.any_orthonormal_pair();
            let local = cosine_hemisphere(DVec2::new(numbers.next_1d(), numbers.next_1d()));
            rays.diffuse.push(leave(x * local.x + y * local.y + normal * local.z, f64::INFINITY));
        }
        rays.primary = primary;
        rays
    }

    /// How fast each kind is, on the threads of the pool that this runs in, each measured for so many seconds.
    pub fn measure(&self, bvh: &SceneBvh, top: &TopLevel, seconds: f64) -> Rates {
        let closest = |ray: &Ray| bvh.closest(top, ray).is_some();
        Rates {
            primary: rate(&self.primary, seconds, closest),
            shadow: rate(&self.shadow, seconds, |ray| bvh.occluded(top, ray)),
            diffuse: rate(&self.diffuse, seconds, closest),
        }
    }
}

/// Where a ray met a triangle, and its unit normal on the side of the ray.
fn surface(bvh: &SceneBvh, top: &TopLevel, ray: &Ray, hit: &Hit) -> Option<(DVec3, DVec3)> {
    let normal = top.instances.get(hit.instance as usize)?.normal(bvh.triangles.get(hit.triangle as usize)?.normal());
    let normal = normal.as_dvec3().try_normalize()?;
    let direction = ray.direction.as_dvec3();
    let position = ray.origin.as_dvec3() + direction * f64::from(hit.t);
    Some((position, if normal.dot(direction) > 0.0 { -normal } else { normal }))
}

fn rate(rays: &[Ray], seconds: f64, meets: impl Fn(&Ray) -> bool + Sync) -> Option<f64> {
    if rays.is_empty() {
        return None;
    }
    let start = Instant::now();
    let mut traced = 0;
    loop {
        // What is found is used, so that it is looked for.
        let met: usize = rays.par_chunks(CHUNK).map(|rays| rays.iter().filter(|ray| meets(ray)).count()).sum();
        std::hint::black_box(met);
        traced += rays.len();
        let passed = start.elapsed().as_secs_f64();
        if passed >= seconds {
            return Some(traced as f64 / passed);
        }
    }
}

impl Rates {
    pub fn json(&self) -> Value {
        json!({"primary": self.primary, "shadow": self.shadow, "diffuse": self.diffuse})
    }

    /// Millions a second, in columns.
    pub fn columns(&self) -> String {
        let column = |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{:.2}", rate / 1e6));
        format!("{:>8} {:>8} {:>8}", column(self.primary), column(self.shadow), column(self.diffuse))
    }
}

/// The rays of a picture in squares of 16 by 16 pixels, one a pixel at a place of its own.
pub fn of_picture(width: usize, height: usize, through: impl Fn(DVec2) -> (DVec3, DVec3)) -> Vec<Ray> {
    const SIDE: usize = 16;
    let across = width.div_ceil(SIDE).max(1);
    let tile = |tile: usize| {
        let (left, top) = (tile % across * SIDE, tile / across * SIDE);
        (top..(top + SIDE).min(height)).flat_map(move |y| (left..(left + SIDE).min(width)).map(move |x| (x, y)))
    };
    let ray = |(x, y): (usize, usize)| {
        let mut numbers = Sampler::new(SamplerKind::Independent, 0, x as u32, y as u32, 1);
        let (origin, direction) = through(DVec2::new(x as f64 + numbers.next_1d(), y as f64 + numbers.next_1d()));
        let (origin, direction) = (origin.as_vec3(), direction.as_vec3());
        Ray { origin, direction, t_min: 0.0, t_max: f32::INFINITY, away: Vec3::ZERO }
    };
    (0..across * height.div_ceil(SIDE)).flat_map(tile).map(ray).collect()
}
