//! Primary, shadow and diffuse rays of a scene, and their rates on the host.

use std::time::Instant;

use glam::{DVec2, DVec3, Vec3};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::{
    bvh::{Hit, Ray, SceneBvh, SceneTlas},
    reference::{Pinhole, SamplerKind, bsdf::sample_cosine_hemisphere, sampler::Sampler},
    session::OpenScene,
};

/// Maximum pixels of the picture that gives the rays of the path tracer: about 10 MB for each kind.
pub const PIXELS: f64 = 262_144.0;
/// Rays per parallel task.
const CHUNK: usize = 1024;

/// Rays by kind, in pixel order.
#[derive(Default)]
pub struct Rays {
    /// Camera rays.
    pub primary: Vec<Ray>,
    /// From primary hits to a sampled light.
    pub shadow: Vec<Ray>,
    /// From primary hits, cosine-distributed.
    pub diffuse: Vec<Ray>,
}

/// Rays a second by kind; `None` if the scene yields no such rays.
#[derive(Clone, Copy, Default)]
pub struct Rates {
    pub primary: Option<f64>,
    pub shadow: Option<f64>,
    pub diffuse: Option<f64>,
}

/// Samples a light from a position relative to the eye: the direction towards the light (of any
/// length) and the distance in units of it. `None` if no light is sampled.
pub type SampleLight<'a> = &'a dyn Fn(DVec3, &mut Sampler) -> Option<(DVec3, f64)>;

impl Rays {
    /// Derives shadow and diffuse rays from the hits of the primary rays.
    pub fn new(bvh: &SceneBvh, top: &SceneTlas, primary: Vec<Ray>, light: SampleLight<'_>) -> Self {
        let mut rays = Self::default();
        for (index, ray) in primary.iter().enumerate() {
            let Some((position, normal)) =
                bvh.closest(top, ray).and_then(|hit| surface(bvh, top, ray, &hit))
            else {
                continue;
            };
            let mut numbers = Sampler::new(SamplerKind::Independent, 0, index as u32, 0, 0);
            let leave = |direction: DVec3, distance: f64| Ray {
                origin: position.as_vec3(),
                direction: direction.as_vec3(),
                t_min: 0.0,
                t_max: distance as f32,
                offset_normal: normal.as_vec3(),
            };
            if let Some((direction, distance)) = light(position, &mut numbers)
                && direction.dot(normal) > 0.0
            {
                rays.shadow.push(leave(direction, distance));
            }
            let (x, y) = normal.any_orthonormal_pair();
            let local = sample_cosine_hemisphere(DVec2::new(numbers.next_1d(), numbers.next_1d()));
            rays.diffuse.push(leave(x * local.x + y * local.y + normal * local.z, f64::INFINITY));
        }
        rays.primary = primary;
        rays
    }

    /// Measures each kind for `seconds` on the current thread pool.
    pub fn measure(&self, bvh: &SceneBvh, top: &SceneTlas, seconds: f64) -> Rates {
        let closest = |ray: &Ray| bvh.closest(top, ray).is_some();
        Rates {
            primary: rate(&self.primary, seconds, closest),
            shadow: rate(&self.shadow, seconds, |ray| bvh.occluded(top, ray)),
            diffuse: rate(&self.diffuse, seconds, closest),
        }
    }
}

/// Position of a hit relative to the eye, and its unit geometric normal towards the ray's origin.
fn surface(bvh: &SceneBvh, top: &SceneTlas, ray: &Ray, hit: &Hit) -> Option<(DVec3, DVec3)> {
    let normal = top
        .instances
        .get(hit.instance as usize)?
        .normal(bvh.triangles.get(hit.triangle as usize)?.normal());
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
        // black_box keeps the traversal from being optimized out.
        let hit: usize =
            rays.par_chunks(CHUNK).map(|rays| rays.iter().filter(|ray| meets(ray)).count()).sum();
        std::hint::black_box(hit);
        traced += rays.len();
        let passed = start.elapsed().as_secs_f64();
        if passed >= seconds {
            return Some(traced as f64 / passed);
        }
    }
}

impl Rates {
    /// The rate of a kind by number: primary, shadow, diffuse.
    pub fn get(&self, kind: usize) -> Option<f64> {
        [self.primary, self.shadow, self.diffuse].get(kind).copied().flatten()
    }

    pub fn json(&self) -> Value {
        json!({"primary": self.primary, "shadow": self.shadow, "diffuse": self.diffuse})
    }

    /// Table columns, in million rays a second.
    pub fn columns(&self) -> String {
        let column =
            |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{:.2}", rate / 1e6));
        format!(
            "{:>8} {:>8} {:>8}",
            column(self.primary),
            column(self.shadow),
            column(self.diffuse)
        )
    }
}

/// Pinhole camera of the session with the picture's aspect and at most about `pixels` pixels, and
/// its width and height in pixels.
pub fn small_camera(session: &OpenScene, pixels: f64) -> (Pinhole, [usize; 2]) {
    let (width, height) = (f64::from(session.size.width), f64::from(session.size.height));
    let scale = (pixels / (width * height)).sqrt().min(1.0);
    let [width, height] = [width, height].map(|side| ((side * scale).round() as usize).max(1));
    (Pinhole::new(session.camera.0, session.camera.1, width, height), [width, height])
}

/// Camera rays in tiles of 16x16 pixels, one jittered ray a pixel.
pub fn camera_rays(
    width: usize,
    height: usize,
    through: impl Fn(DVec2) -> (DVec3, DVec3),
) -> Vec<Ray> {
    const SIDE: usize = 16;
    let across = width.div_ceil(SIDE).max(1);
    let tile = |tile: usize| {
        let (left, top) = (tile % across * SIDE, tile / across * SIDE);
        (top..(top + SIDE).min(height))
            .flat_map(move |y| (left..(left + SIDE).min(width)).map(move |x| (x, y)))
    };
    let ray = |(x, y): (usize, usize)| {
        let mut numbers = Sampler::new(SamplerKind::Independent, 0, x as u32, y as u32, 1);
        let (origin, direction) =
            through(DVec2::new(x as f64 + numbers.next_1d(), y as f64 + numbers.next_1d()));
        let (origin, direction) = (origin.as_vec3(), direction.as_vec3());
        Ray { origin, direction, t_min: 0.0, t_max: f32::INFINITY, offset_normal: Vec3::ZERO }
    };
    (0..across * height.div_ceil(SIDE)).flat_map(tile).map(ray).collect()
}
