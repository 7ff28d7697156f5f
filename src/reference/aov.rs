//! AOVs of the primary hit: the G-buffer channels of the rasterizer, ambient occlusion, BVH cost,
//! and the guides of a denoiser.

use std::f64::consts::TAU;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::{
    camera::{CameraModel, Pinhole},
    film_settings::FilmSettings,
    sampler::{Sampler, SamplerKind},
    shading::ShadingFrame,
    world::{SurfacePoint, World},
};

/// A channel of the surface seen at a pixel's center.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PrimaryHitAov {
    /// Linear base color, 0 to 1.
    BaseColor,
    /// Metallic, 0 to 1.
    Metallic,
    /// Roughness, 0 to 1.
    Roughness,
    /// Unit shading normal in world space.
    Normal,
    /// Depth (m) along the camera's forward axis.
    Depth,
    /// Occlusion from the material, 0 to 1.
    Occlusion,
    /// Position (m) in world space.
    Position,
    /// Ambient occlusion: cosine-weighted fraction of the hemisphere without a hit within the
    /// radius.
    AmbientOcclusion(AmbientOcclusionRays),
    /// Bent normal: cosine-weighted mean direction of the unoccluded part, a unit vector in world
    /// space.
    BentNormal(AmbientOcclusionRays),
    /// BVH nodes and triangles that the camera ray visits.
    BvhCost,
}

/// Rays of ambient occlusion and bent normals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmbientOcclusionRays {
    /// Occlusion radius (m).
    pub radius: f64,
    /// Number of rays.
    pub count: u32,
}

/// Mean direction of the cosine-weighted rays without a hit within the radius, and their fraction.
fn bent_normal_ao(
    world: &World<'_>,
    point: &SurfacePoint,
    rays: AmbientOcclusionRays,
    (x, y): (u32, u32),
) -> (DVec3, f64) {
    let frame = ShadingFrame::new(point.normal);
    let (mut sum, mut open) = (DVec3::ZERO, 0.0);
    let mut sampler = Sampler::new(SamplerKind::default(), 0, x, y, 0);
    for index in 0..rays.count {
        sampler.begin(x, y, index);
        let u = sampler.next_2d();
        // Malley's method: a disk, lifted onto the hemisphere.
        let (sin, cos) = (TAU * u.y).sin_cos();
        let local = DVec3::new(cos * u.x.sqrt(), sin * u.x.sqrt(), (1.0 - u.x).max(0.0).sqrt());
        let direction = frame.to_world(local);
        if direction.dot(point.geometric_normal) <= 0.0 {
            continue;
        }
        let hidden = world.closest(point.position, direction, point.geometric_normal);
        if hidden.is_none_or(|hit| hit.distance > rays.radius) {
            sum += direction;
            open += 1.0;
        }
    }
    (sum, open / f64::from(rays.count.max(1)))
}

/// Rows of pixels that are evaluated before they are sorted by channel.
const ROWS: usize = 16;

/// Evaluates channels for all pixels, row by row, through the pinhole at their centers, which
/// stands at the eye. The fourth component is 1 where there is a surface. One camera ray per pixel
/// serves all channels except BVH cost, which traces its own.
#[must_use]
pub fn primary_hit_aovs(
    world: &World<'_>,
    camera: &Pinhole,
    eye: DVec3,
    (width, height): (usize, usize),
    channels: &[PrimaryHitAov],
) -> Vec<Vec<[f32; 4]>> {
    let surface = channels.iter().any(|channel| *channel != PrimaryHitAov::BvhCost);
    let at = |index: usize| {
        let place = DVec2::new((index % width) as f64, (index / width) as f64) + 0.5;
        let (origin, direction) = camera.ray(place);
        let hit = surface.then(|| world.closest_opaque(origin, direction)).flatten();
        let pixel = ((index % width) as u32, (index / width) as u32);
        // Shared by ambient occlusion and bent normal.
        let mut known: Option<(AmbientOcclusionRays, (DVec3, f64))> = None;
        channels.iter().map(move |channel| {
            if *channel == PrimaryHitAov::BvhCost {
                let visits = world.cost(origin, direction);
                return [(visits.nodes + visits.triangles) as f32, 0.0, 0.0, 1.0];
            }
            let Some(hit) = hit else { return [0.0; 4] };
            let mut open = |rays: AmbientOcclusionRays| match known {
                Some((of, open)) if of == rays => open,
                _ => known.insert((rays, bent_normal_ao(world, &hit.point, rays, pixel))).1,
            };
            let value = match channel {
                PrimaryHitAov::BaseColor => hit.point.bsdf.base_color,
                PrimaryHitAov::Metallic => DVec3::splat(hit.point.bsdf.metallic),
                PrimaryHitAov::Roughness => DVec3::splat(hit.roughness),
                PrimaryHitAov::Normal => hit.point.normal,
                PrimaryHitAov::Depth => DVec3::splat(hit.point.position.dot(camera.forward())),
                PrimaryHitAov::Occlusion => DVec3::splat(hit.occlusion),
                PrimaryHitAov::Position => eye + hit.point.position,
                PrimaryHitAov::AmbientOcclusion(rays) => DVec3::splat(open(*rays).1),
                PrimaryHitAov::BentNormal(rays) => open(*rays).0.normalize_or(hit.point.normal),
                PrimaryHitAov::BvhCost => DVec3::ZERO,
            };
            value.as_vec3().extend(1.0).to_array()
        })
    };
    let pixels = width * height;
    let mut out: Vec<Vec<[f32; 4]>> = channels.iter().map(|_| Vec::with_capacity(pixels)).collect();
    for first in (0..pixels).step_by((width * ROWS).max(1)) {
        let last = pixels.min(first + width * ROWS);
        let band: Vec<[f32; 4]> = (first..last).into_par_iter().flat_map_iter(at).collect();
        for (channel, values) in out.iter_mut().enumerate() {
            values.extend(band.iter().skip(channel).step_by(channels.len()));
        }
    }
    out
}

/// Guides of a denoiser: means over a pixel's samples of albedo and normal at the primary hit, with
/// the blur of the picture. Without a hit the albedo is 1 (the sky is no surface) and the normal 0.
#[must_use]
pub fn denoiser_guides(
    world: &World<'_>,
    camera: &impl CameraModel,
    (width, height): (usize, usize),
    settings: &FilmSettings,
    samples: u32,
) -> [Vec<[f32; 3]>; 2] {
    let at = |index: usize| {
        let (x, y) = (index % width, index / width);
        let (mut albedo, mut normal) = (DVec3::ZERO, DVec3::ZERO);
        for index in 0..samples {
            let mut sampler =
                Sampler::new(settings.sampler, settings.seed, x as u32, y as u32, index);
            let place = DVec2::new(x as f64, y as f64) + sampler.next_2d();
            let (lens, time) = (sampler.next_2d(), sampler.next_1d());
            let ray = camera.ray(place, lens, time);
            match world.closest_opaque(ray.origin, ray.direction) {
                Some(hit) => {
                    albedo += hit.point.bsdf.base_color;
                    normal += hit.point.normal;
                }
                None => albedo += DVec3::ONE,
            }
        }
        let count = f64::from(samples.max(1));
        [(albedo / count).as_vec3().to_array(), (normal / count).as_vec3().to_array()]
    };
    let both: Vec<[[f32; 3]; 2]> = (0..width * height).into_par_iter().map(at).collect();
    [0, 1].map(|which| both.iter().map(|pair| pair[which]).collect())
}
