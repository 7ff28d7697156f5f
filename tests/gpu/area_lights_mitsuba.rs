//! Area lights against Mitsuba 3: the pictures of `validation/area_lights/reference.py`, sphere by
//! sphere.

use std::path::Path;

use crate::common::{
    Place, exposed, exr_channel, nits, parallel, picture, pixel_ray, renderer, unclustered,
};
use glam::{DMat4, DVec3, Vec2, Vec3, dvec3};
use sunny16::{
    frame::RenderSettings,
    photometry::{
        Nit, Sides,
        lights::{Emitter, LightStrength},
    },
    scene::{
        Material,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
};

const ROUGHNESS: [f32; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
const SIZE: (u32, u32) = (300, 100);

/// Pixels here per side of a Mitsuba pixel, which is a mean over its area: the highlight of a metal
/// of roughness 0.2 is three of them wide.
const FINER: usize = 4;

/// True if a pixel's ray passes within `part` of a sphere's radius from its center.
fn on_ball(view: &sunny16::gpu_scene::View, x: usize, y: usize, center: DVec3, part: f64) -> bool {
    let (from, along) = pixel_ray(view, x, y);
    (from - center).cross(along).length() < 0.4 * part
}

#[test]
fn spheres_and_plane_match_mitsuba() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("validation/area_lights");
    let shapes_of_light = [
        ("rectangle", Emitter::Rectangle { width: 1.6, height: 0.6, sides: Sides::One }),
        ("disk", Emitter::Disk { radius: 0.6, sides: Sides::One }),
        ("sphere", Emitter::Sphere { radius: 0.5 }),
        ("tube", Emitter::Tube { radius: 0.12, length: 1.8 }),
    ];
    let (mut worst, mut worst_inner) = (0f64, 0f64);
    for (name, emitter) in shapes_of_light {
        for metallic in [0u8, 1] {
            let mut builder = SceneBuilder::new("row");
            builder.place(
                shapes::plane(Vec2::new(8.0, 4.0), 1, 1),
                dielectric("plane", Vec3::splat(0.5), 1.0),
                DMat4::IDENTITY,
            );
            let at = |index: usize| dvec3(index as f64 - 2.0, 0.4, 0.0);
            for (index, roughness) in ROUGHNESS.into_iter().enumerate() {
                let material = dielectric("ball", Vec3::new(0.9, 0.5, 0.2), roughness);
                builder.place(
                    shapes::uv_sphere(0.4, 192, 96),
                    Material { metallic: f32::from(metallic), ..material },
                    at(index),
                );
            }
            let pose = look_at_transform(dvec3(0.8, 2.2, 1.5), dvec3(0.0, 0.3, 0.0));
            builder.light("lamp", emitter, LightStrength::Nits(Nit(1000.0)), Vec3::ONE, pose);
            let mut scene = builder.build().unwrap();
            for light in &mut scene.lights {
                (light.visible, light.shadow) = (false, false);
            }
            let view = parallel(dvec3(0.0, 1.5, 8.0), dvec3(0.0, 0.2, 0.0), 1.0, 30.0, SIZE);
            let finer = parallel(
                dvec3(0.0, 1.5, 8.0),
                dvec3(0.0, 0.2, 0.0),
                1.0,
                30.0,
                (SIZE.0 * FINER as u32, SIZE.1 * FINER as u32),
            );
            let settings =
                RenderSettings { clustered_lights: unclustered(), ..exposed(200.0, 0.9) };
            let ours = picture(&mut renderer, &scene, &finer, &settings);
            let file = directory.join(format!("{name}_{metallic}.exr"));
            let theirs: Vec<Vec<f32>> =
                ["R", "G", "B"].iter().map(|c| exr_channel(&file, c)).collect();
            let mut line = format!("{name} metallic {metallic}:");
            // Pixels on the balls, or clearly beside them.
            let mut compare = |wanted: &dyn Fn(usize, usize) -> bool| {
                let (mut got, mut want, mut count) = (0.0, 0.0, 0);
                for y in 0..SIZE.1 as usize {
                    for x in (0..SIZE.0 as usize).filter(|&x| wanted(x, y)) {
                        for i in 0..FINER * FINER {
                            let (x, y) = (x * FINER + i % FINER, y * FINER + i / FINER);
                            got += nits(&ours, x, y).element_sum() / (FINER * FINER) as f64;
                        }
                        want += (0..3)
                            .map(|c| f64::from(theirs[c][y * SIZE.0 as usize + x]))
                            .sum::<f64>();
                        count += 1;
                    }
                }
                assert!(count > 500, "{count} pixels");
                let error = got / want - 1.0;
                line += &format!(" {:+.2}", error * 100.0);
                error.abs()
            };
            for index in 0..ROUGHNESS.len() {
                worst = worst.max(compare(&|x, y| on_ball(&view, x, y, at(index), 0.98)));
                worst_inner =
                    worst_inner.max(compare(&|x, y| on_ball(&view, x, y, at(index), 0.8)));
            }
            let beside = |x: usize, y: usize| {
                (0..5).all(|index| !on_ball(&view, x, y, at(index), 1.05)) && {
                    let p = crate::common::hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
                    p.z.abs() < 1.9 && p.x.abs() < 2.9
                }
            };
            worst = worst.max(compare(&beside));
            println!("{line} %");
        }
    }
    println!(
        "worst mean: whole sphere or plane {:.2} %, inner 0.8 {:.2} %",
        worst * 100.0,
        worst_inner * 100.0
    );
    assert!(worst < 0.01, "{} %", worst * 100.0);
}
