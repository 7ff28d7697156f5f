//! Environment light inside volumes: the part that reaches the cells of a box past surfaces and
//! through all volumes. Computed on the host at scene upload (docs/volumes.md).

use std::f64::consts::PI;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use crate::{
    bvh::{Ray, SceneBvh, casts_shadow},
    gpu::shader_structs::volumes::VOLUME_ENVIRONMENT_SIZE,
    photometry::environment::RadianceMap,
    scene::{Environment, Scene},
};

use super::boxed_volume::BoxedVolume;

/// Width of the map that supplies ray directions (texels): one ray per texel from every cell.
const DIRECTIONS_ACROSS: usize = 16;
/// Width of the map projected onto spherical harmonics (texels): their squares are evaluated at
/// texel centers (1.5 % off with 16 across).
const HARMONICS_ACROSS: usize = 128;
/// Ray marching steps to the outside of a heterogeneous volume.
const STEPS: u32 = 12;

/// World direction, and luminance times solid angle around it (nit sr).
type Towards = (DVec3, DVec3);

/// Environment downsampled to the directions of a map of this width; preserves total light.
fn directions(environment: &Environment, across: usize) -> Vec<Towards> {
    let mut map: RadianceMap = (*environment.map).clone();
    while map.width() > across {
        let Some(half) = map.halved() else { break };
        map = half;
    }
    let (sin, cos) = (-environment.rotation).sin_cos();
    let texel = |(index, light): (usize, &Vec3)| {
        let (x, y) = (index % map.width(), index / map.width());
        let d = map.direction_in_texel(x, y, 0.5, 0.5);
        let world = DVec3::new(d.x * cos + d.z * sin, d.y, d.z * cos - d.x * sin);
        (world, light.as_dvec3() * map.texel_solid_angle(y))
    };
    map.texels().iter().enumerate().map(texel).collect()
}

/// Spherical harmonics of the environment to degree two, premultiplied by the factors of their
/// polynomials (`leaning` in shaders/passes/volumes.frag): Ramamoorthi and Hanrahan, "An Efficient
/// Representation for Irradiance Environment Maps" (2001, equation 3). The first is the mean
/// luminance.
fn harmonics(directions: &[Towards]) -> [Vec3; 9] {
    let mut sums = [DVec3::ZERO; 9];
    for &(d, light) in directions {
        let polynomials = [
            1.0,
            d.y,
            d.z,
            d.x,
            d.x * d.y,
            d.y * d.z,
            3.0 * d.z * d.z - 1.0,
            d.x * d.z,
            d.x * d.x - d.y * d.y,
        ];
        for (sum, polynomial) in sums.iter_mut().zip(polynomials) {
            *sum += light * polynomial;
        }
    }
    let squares = [1.0, 3.0, 3.0, 3.0, 15.0, 15.0, 1.25, 15.0, 3.75].map(|k| k / (4.0 * PI));
    std::array::from_fn(|i| (sums[i] * squares[i]).as_vec3())
}

/// Harmonics, followed by the cells of each volume: mean environment luminance that reaches the
/// cell.
#[must_use]
pub fn environment_cells(scene: &Scene, volumes: &[BoxedVolume]) -> Vec<Vec3> {
    let Some(environment) = &scene.environment else { return vec![Vec3::ZERO; 9] };
    let mut out = harmonics(&directions(environment, HARMONICS_ACROSS)).to_vec();
    let directions = directions(environment, DIRECTIONS_ACROSS);
    let bvh = SceneBvh::new(scene, casts_shadow);
    for volume in volumes {
        let from_box = volume.to_box.inverse();
        // Relative to the box, for precision.
        let eye = from_box.transform_point3(DVec3::splat(0.5));
        let top = bvh.tlas_from(eye);
        let cell = |index: u32| {
            let at = [
                index % VOLUME_ENVIRONMENT_SIZE,
                index / VOLUME_ENVIRONMENT_SIZE % VOLUME_ENVIRONMENT_SIZE,
                index / VOLUME_ENVIRONMENT_SIZE / VOLUME_ENVIRONMENT_SIZE,
            ];
            let place = DVec3::from_array(
                at.map(|i| (f64::from(i) + 0.5) / f64::from(VOLUME_ENVIRONMENT_SIZE)),
            );
            let place = from_box.transform_point3(place);
            let mut sum = DVec3::ZERO;
            for &(direction, light) in &directions {
                let ray = Ray {
                    origin: (place - eye).as_vec3(),
                    direction: direction.as_vec3(),
                    t_min: 0.0,
                    t_max: f32::INFINITY,
                    offset_normal: Vec3::ZERO,
                };
                if light != DVec3::ZERO && !bvh.occluded(&top, &ray) {
                    let depth: DVec3 =
                        volumes.iter().map(|v| v.depth(place, direction, STEPS)).sum();
                    sum += light * DVec3::from_array(depth.to_array().map(|x| (-x).exp()));
                }
            }
            (sum / (4.0 * PI)).as_vec3()
        };
        out.par_extend((0..VOLUME_ENVIRONMENT_SIZE.pow(3)).into_par_iter().map(cell));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::photometry::environment::RowMapping;

    #[test]
    fn harmonics_are_the_light_itself_where_it_is_smooth() {
        let (width, height) = (64, 32);
        let even =
            RadianceMap::new(width, height, RowMapping::Linear, vec![Vec3::ZERO; width * height])
                .unwrap();
        let of = |d: DVec3| (3.0 + d.y + 0.5 * d.x * d.z) as f32;
        let texels = (0..width * height)
            .map(|i| Vec3::splat(of(even.direction_in_texel(i % width, i / width, 0.5, 0.5))))
            .collect();
        let map = RadianceMap::new(width, height, RowMapping::Linear, texels).unwrap();
        let environment = Environment { map: Arc::new(map), rotation: 0.0, origin: String::new() };
        let [mean, y, z, x, xy, yz, zz, xz, xx] =
            harmonics(&directions(&environment, HARMONICS_ACROSS)).map(|v| v.x);
        println!("{mean} {y} {xz}");
        assert!((mean - 3.0).abs() < 0.005 && (y - 1.0).abs() < 0.005 && (xz - 0.5).abs() < 0.005);
        assert!([z, x, xy, yz, zz, xx].iter().all(|v| v.abs() < 0.02));
    }
}
