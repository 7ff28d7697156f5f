//! Pictures of the path tracer, and their comparison with the rasterizer's.

use std::{fs, path::Path, sync::atomic::AtomicBool};

use glam::{DMat4, DVec3, Vec3};
use sunny16::{
    camera::Exposure,
    compare::flip,
    photometry::color,
    reference::{Film, FilmSettings, PathSettings, Pinhole, World},
    scene::{Projection, Scene},
};

/// What a pinhole camera sees.
pub fn film(
    scene: &Scene,
    (pose, projection): (DMat4, Projection),
    (width, height): (usize, usize),
    settings: FilmSettings,
    samples: u32,
) -> Film {
    let world = World::new(scene, pose.w_axis.truncate());
    let camera = Pinhole::new(pose, projection, width, height);
    let mut film = Film::new(width, height, settings);
    assert!(film.add(&world, &camera, samples, &AtomicBool::new(false)));
    film
}

/// Rays through the centers of pixels, as the rasterizer's.
pub fn centered(path: PathSettings) -> FilmSettings {
    FilmSettings { path, pixel_jitter: false, ..FilmSettings::default() }
}

pub fn of_bounces(bounces: u32) -> PathSettings {
    PathSettings { bounces, ..PathSettings::default() }
}

pub fn floats(picture: &[DVec3]) -> Vec<[f32; 3]> {
    picture.iter().map(|light| light.as_vec3().to_array()).collect()
}

pub fn doubles(picture: &[[f32; 3]]) -> Vec<DVec3> {
    picture.iter().map(|light| Vec3::from_array(*light).as_dvec3()).collect()
}

/// Exposed light from 0 to 1.
pub fn clipped(picture: &[DVec3], exposure: Exposure) -> Vec<[f32; 3]> {
    let display = |light: &DVec3| (*light * exposure.multiplier()).clamp(DVec3::ZERO, DVec3::ONE);
    floats(&picture.iter().map(display).collect::<Vec<_>>())
}

/// Mean FLIP (Andersson et al. 2020) of pictures in linear display light.
pub fn mean_flip(test: &[[f32; 3]], reference: &[[f32; 3]], width: usize) -> f64 {
    let map = flip::ldr(test, reference, width, flip::PIXELS_PER_DEGREE);
    map.iter().map(|&error| f64::from(error)).sum::<f64>() / map.len() as f64
}

/// Writes linear display light as a PPM into the folder `SUNNY16_PICTURES`, if it is set.
pub fn save_ppm(name: &str, picture: &[[f32; 3]], width: usize) {
    let Some(folder) = std::env::var_os("SUNNY16_PICTURES") else { return };
    let code = |v: f32| (color::srgb_oetf(f64::from(v).clamp(0.0, 1.0)) * 255.0 + 0.5) as u8;
    let bytes: Vec<u8> = picture.iter().flat_map(|light| light.map(code)).collect();
    let head = format!("P6\n{width} {}\n255\n", picture.len() / width);
    let file = Path::new(&folder).join(format!("{name}.ppm"));
    fs::write(file, [head.into_bytes(), bytes].concat()).unwrap();
}
