//! Lobes that the G-buffer does not hold, and refraction, against the path tracer.

use std::sync::Arc;

use crate::common::traced::{centered, clipped, doubles, film, mean_flip, save_ppm};
use crate::common::{Place, exposure_for, picture, renderer, traced_shadows};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    frame::{RenderSettings, Renderer},
    gpu_scene::View,
    photometry::{
        Candela, Lux, Nit, color,
        environment::{RadianceMap, RowMapping},
        lights::{Emitter, LightStrength, Sides},
    },
    reference::PathSettings,
    scene::{
        Anisotropy, Clearcoat, DiffuseTransmission, Environment, Iridescence, Material,
        MaterialVolume, Projection, Scene, Sheen, Specular,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        procedural::shapes,
    },
};

const SIZE: (usize, usize) = (160, 80);
const PROJECTION: Projection =
    Projection::Orthographic { half_width: 4.0, half_height: 2.0, near: 0.1, far: 2000.0 };

/// A ball per lobe, in two rows of four.
fn lobes() -> Vec<(&'static str, Material)> {
    let red = dielectric("red", Vec3::new(0.6, 0.12, 0.1), 0.5);
    let gold = metal("gold", Vec3::new(0.95, 0.7, 0.35), 0.35);
    vec![
        ("index 1.8", Material { ior: 1.8, roughness: 0.3, ..red.clone() }),
        (
            "specular",
            Material {
                roughness: 0.3,
                specular: Specular {
                    factor: 0.8,
                    color: Vec3::new(0.3, 1.5, 3.0),
                    ..Specular::default()
                },
                ..red.clone()
            },
        ),
        (
            "clearcoat",
            Material {
                clearcoat: Clearcoat { factor: 1.0, roughness: 0.15, ..Clearcoat::default() },
                ..gold.clone()
            },
        ),
        (
            "sheen",
            Material {
                roughness: 0.9,
                sheen: Sheen {
                    color: Vec3::new(0.2, 0.4, 0.9),
                    roughness: 0.4,
                    ..Sheen::default()
                },
                ..red.clone()
            },
        ),
        (
            "anisotropy",
            Material {
                roughness: 0.25,
                anisotropy: Anisotropy { strength: 0.7, rotation: 0.5, ..Anisotropy::default() },
                ..gold.clone()
            },
        ),
        (
            "iridescence",
            Material {
                roughness: 0.25,
                iridescence: Iridescence {
                    factor: 1.0,
                    thickness_maximum: 450.0,
                    ..Iridescence::default()
                },
                ..gold
            },
        ),
        (
            "diffuse transmission",
            Material {
                diffuse_transmission: DiffuseTransmission {
                    factor: 0.6,
                    color: Vec3::new(0.2, 0.7, 0.1),
                    ..DiffuseTransmission::default()
                },
                double_sided: true,
                ..red.clone()
            },
        ),
        (
            "all together",
            Material {
                ior: 1.7,
                clearcoat: Clearcoat { factor: 0.7, roughness: 0.1, ..Clearcoat::default() },
                sheen: Sheen { color: Vec3::splat(0.4), roughness: 0.6, ..Sheen::default() },
                anisotropy: Anisotropy { strength: 0.5, ..Anisotropy::default() },
                ..red
            },
        ),
    ]
}

/// Two rows of four, at depths where they hardly occlude the sky from each other. Transmissive
/// materials are leaves, since a ball would shadow itself.
fn balls_apart(materials: &[(&str, Material)]) -> SceneBuilder {
    let mut builder = SceneBuilder::new("lobes");
    for (index, (_, material)) in materials.iter().enumerate() {
        let leaf = material.diffuse_transmission.factor > 0.0;
        let part = if leaf {
            shapes::plane(Vec2::splat(1.4), 1, 1)
        } else {
            shapes::uv_sphere(0.85, 96, 48)
        };
        let at = DVec3::new(
            (index % 4) as f64 * 2.0 - 3.0,
            1.0 - (index / 4) as f64 * 2.0,
            index as f64 * -100.0,
        );
        let turn = if leaf { DMat4::from_rotation_x(0.9) } else { DMat4::IDENTITY };
        builder.place(
            shapes::with_tangents(part),
            material.clone(),
            DMat4::from_translation(at) * turn,
        );
    }
    builder
}

fn balls(materials: &[(&str, Material)]) -> SceneBuilder {
    let mut builder = SceneBuilder::new("lobes");
    for (index, (_, material)) in materials.iter().enumerate() {
        let at = DVec3::new((index % 4) as f64 * 2.0 - 3.0, 1.0 - (index / 4) as f64 * 2.0, 0.0);
        builder.place(shapes::with_tangents(shapes::uv_sphere(0.85, 96, 48)), material.clone(), at);
    }
    builder
}

struct Compared {
    flip: f64,
    /// Relative error of the mean, by ball.
    balls: Vec<f64>,
}

/// Raster and path-traced pictures of the same scene from the front; PNGs go to `SUNNY16_PICTURES`.
fn compare(
    name: &str,
    renderer: &mut Renderer,
    scene: &Scene,
    walk: PathSettings,
    samples: u32,
) -> Compared {
    let pose = look_at_transform(DVec3::new(0.0, 0.0, 8.0), DVec3::ZERO);
    let view = View::new(pose, &PROJECTION, SIZE.0 as u32, SIZE.1 as u32);
    let reference =
        film(scene, (pose, PROJECTION), SIZE, centered(walk), samples).mean(|parts| parts.total());
    let y = |c: &DVec3| color::luminance(*c);
    let mean = reference.iter().map(y).sum::<f64>() / reference.len() as f64;
    let shadows = traced_shadows(64);
    let exposure = exposure_for(mean, 0.18);
    let settings = RenderSettings { exposure, shadows, ..RenderSettings::default() };
    let raster = picture(renderer, scene, &view, &settings);
    let raster = doubles(&raster.nits);
    let shown = |picture: &[DVec3]| clipped(picture, exposure);
    let flip = mean_flip(&shown(&raster), &shown(&reference), SIZE.0);
    let mut balls = Vec::new();
    for index in 0..8 {
        let (cx, cy) = ((index % 4) as f64 * 40.0 + 20.0, (index / 4) as f64 * 40.0 + 20.0);
        let (mut got, mut want) = (0.0, 0.0);
        for (at, (a, b)) in raster.iter().zip(&reference).enumerate() {
            let (dx, dy) = ((at % SIZE.0) as f64 + 0.5 - cx, (at / SIZE.0) as f64 + 0.5 - cy);
            if dx.hypot(dy) < 16.0 {
                got += y(a);
                want += y(b);
            }
        }
        balls.push(got / want - 1.0);
    }
    save_ppm(&format!("{name}-raster"), &shown(&raster), SIZE.0);
    save_ppm(&format!("{name}-path"), &shown(&reference), SIZE.0);
    let percent: Vec<String> = balls.iter().map(|b| format!("{:+.2}", b * 100.0)).collect();
    println!("{name}: FLIP {flip:.4}; means of the balls: {} %", percent.join(" "));
    Compared { flip, balls }
}

fn direct() -> PathSettings {
    PathSettings { bounces: 1, ..PathSettings::default() }
}

/// A map with a bright side and a dark floor.
fn sky() -> Environment {
    let (width, height) = (64, 32);
    let texels = (0..width * height)
        .map(|i| {
            let (x, y) = ((i % width) as f32 / width as f32, (i / width) as f32 / height as f32);
            let glow = (-((x - 0.35).powi(2) * 30.0 + (y - 0.3).powi(2) * 40.0)).exp() * 6.0;
            let sky = if y < 0.5 { Vec3::new(0.5, 0.7, 1.0) } else { Vec3::new(0.25, 0.2, 0.15) };
            (sky + glow) * 100.0
        })
        .collect();
    let map = RadianceMap::new(width, height, RowMapping::Linear, texels).unwrap();
    Environment { map: Arc::new(map), rotation: 0.0, origin: "test".into() }
}

fn lit(scene: SceneBuilder, multiscatter: bool) -> Scene {
    Scene { multiscatter, ..scene.build().unwrap() }
}

#[test]
fn lobes_match_path_tracer_under_punctual_light() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for multiscatter in [false, true] {
        let mut builder = balls(&lobes());
        builder.sun("sun", Lux(100.0), Vec3::ONE, DVec3::new(-0.5, -0.6, -1.0));
        builder.point_light_candela(
            "behind",
            Candela(400.0),
            Vec3::new(1.0, 0.8, 0.6),
            DVec3::new(1.0, 3.0, -2.0),
        );
        let scene = lit(builder, multiscatter);
        let name = if multiscatter { "punctual-multiscatter" } else { "punctual" };
        // Paths choose between the lights at random.
        let got = compare(name, &mut renderer, &scene, direct(), 64);
        assert!(got.flip < 0.01, "{}", got.flip);
        assert!(got.balls.iter().all(|error| error.abs() < 0.01), "{:?}", got.balls);
    }
}

#[test]
fn lobes_match_path_tracer_under_area_light() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = balls(&lobes());
    let panel = Emitter::Rectangle { width: 3.0, height: 1.5, sides: Sides::One };
    let pose = look_at_transform(DVec3::new(-2.0, 3.0, 4.0), DVec3::ZERO);
    builder.light("panel", panel, LightStrength::Nits(Nit(100.0)), Vec3::ONE, pose);
    let got = compare("panel", &mut renderer, &lit(builder, false), direct(), 64);
    assert!(got.flip < 0.03, "{}", got.flip);
    assert!(got.balls.iter().all(|error| error.abs() < 0.03), "{:?}", got.balls);
}

#[test]
fn lobes_match_path_tracer_under_the_sky() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = Scene { environment: Some(sky()), ..lit(balls_apart(&lobes()), false) };
    let got = compare("sky", &mut renderer, &scene, direct(), 128);
    assert!(got.flip < 0.03, "{}", got.flip);
    assert!(got.balls.iter().all(|error| error.abs() < 0.06), "{:?}", got.balls);
}

#[test]
fn refraction_matches_path_tracer() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let glass = |roughness: f32, volume: MaterialVolume| Material {
        transmission: 1.0,
        volume,
        ..dielectric("glass", Vec3::ONE, roughness)
    };
    let solid = MaterialVolume { thickness: 1.0, ..MaterialVolume::default() };
    let amber = MaterialVolume {
        attenuation_distance: 1.0,
        attenuation_color: Vec3::new(0.8, 0.45, 0.1),
        ..solid
    };
    let mut builder = SceneBuilder::new("glass");
    for (index, color) in
        [(0.7, 0.2, 0.15), (0.75, 0.75, 0.7), (0.15, 0.35, 0.6), (0.8, 0.7, 0.2)].iter().enumerate()
    {
        // It is emissive and reflects nothing: shadows and caustics of glass are not compared.
        let glow = Vec3::new(color.0, color.1, color.2) * 100.0;
        let black = Material { emission: glow, ..metal("wall", Vec3::ZERO, 1.0) };
        let wall = builder.add_material(black);
        let stripe = builder.add_mesh("stripe", shapes::plane(Vec2::new(0.5, 6.0), 1, 1), wall);
        for turn in 0..5 {
            let at = DVec3::new(f64::from(turn) * 2.0 - 4.75 + index as f64 * 0.5, 0.0, -1.8);
            let upright = DMat4::from_translation(at) * DMat4::from_rotation_x(90f64.to_radians());
            builder.instance("stripe", stripe, upright);
        }
    }
    let plate = || shapes::cuboid(Vec3::new(1.5, 1.5, 0.2));
    let turned = DMat4::from_rotation_y(0.4);
    let thick = |thickness: f32, of: MaterialVolume| MaterialVolume { thickness, ..of };
    for (index, (_, part, material, turn)) in [
        ("ball", shapes::icosphere(0.85, 5), glass(0.0, thick(1.7, solid)), DMat4::IDENTITY),
        ("amber ball", shapes::icosphere(0.85, 5), glass(0.0, thick(1.7, amber)), DMat4::IDENTITY),
        ("plate", plate(), glass(0.0, thick(0.2, solid)), turned),
        ("rough plate", plate(), glass(0.3, thick(0.2, solid)), turned),
        (
            "pane",
            shapes::quad(Vec3::new(-0.8, 0.8, 0.0), Vec3::X * 1.6, Vec3::NEG_Y * 1.6, 1, 1),
            glass(0.0, MaterialVolume::default()),
            turned,
        ),
        (
            "rough pane",
            shapes::quad(Vec3::new(-0.8, 0.8, 0.0), Vec3::X * 1.6, Vec3::NEG_Y * 1.6, 1, 1),
            glass(0.3, MaterialVolume::default()),
            turned,
        ),
        (
            "tinted pane",
            shapes::quad(Vec3::new(-0.8, 0.8, 0.0), Vec3::X * 1.6, Vec3::NEG_Y * 1.6, 1, 1),
            Material {
                base_color: Vec3::new(0.3, 0.8, 0.4).extend(1.0),
                ..glass(0.1, MaterialVolume::default())
            },
            turned,
        ),
        (
            "dispersing ball",
            shapes::icosphere(0.85, 5),
            Material { dispersion: 2.0, ..glass(0.0, thick(1.7, solid)) },
            DMat4::IDENTITY,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let at = DVec3::new((index % 4) as f64 * 2.0 - 3.0, 1.0 - (index / 4) as f64 * 2.0, 0.0);
        builder.place(part, material, DMat4::from_translation(at) * turn);
    }
    let scene = Scene { environment: Some(sky()), ..lit(builder, false) };
    let walk = PathSettings { bounces: 8, ..PathSettings::default() };
    let got = compare("glass", &mut renderer, &scene, walk, 128);
    assert!(got.flip < 0.06, "{}", got.flip);
}
