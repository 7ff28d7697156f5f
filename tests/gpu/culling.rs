//! Culling on the device draws what the host draws, bit for bit; visible objects are never culled
//! by occlusion.

use crate::common::{exposed, parallel, perspective, renderer, unshadowed};
use glam::{DMat4, DVec3, Vec3};
use sunny16::{
    compare::flip,
    frame::{RenderSettings, RenderedImage},
    gpu_scene::{LodGeneration, View},
    photometry::Lux,
    scene::{
        AlphaMode, Material, Scene,
        build::{SceneBuilder, dielectric, metal},
        procedural::{random::SplitMix64, shapes},
    },
    settings::CullingSettings,
};

const SIZE: (u32, u32) = (150, 93);

/// Culled on the host.
const HOST: CullingSettings = CullingSettings {
    enabled: false,
    occlusion: false,
    min_instances: 1,
    retry_interval: 0,
    max_error_pixels: 0.0,
};
/// Frustum-culled on the device.
const VIEW: CullingSettings = CullingSettings { enabled: true, ..HOST };
/// Occlusion-culled on the device.
const HIDDEN: CullingSettings = CullingSettings { occlusion: true, ..VIEW };

fn settings(culling: CullingSettings) -> RenderSettings {
    let shadows = unshadowed();
    RenderSettings { culling, shadows, ..exposed(20_000.0, 0.7) }
}

fn bits(picture: &RenderedImage) -> (Vec<u8>, Vec<u32>) {
    (picture.display.clone(), picture.nits.iter().flatten().map(|value| value.to_bits()).collect())
}

/// Three meshes and five materials, one of them masked, one double-sided, one blended. `count`
/// instances on all sides of the camera: some mirrored, some without volume, some duplicated.
fn crowd(count: usize, origin: DVec3) -> Scene {
    let mut builder = SceneBuilder::new("crowd");
    let gray = builder.add_material(dielectric("gray", Vec3::splat(0.4), 0.6));
    let gold = builder.add_material(metal("gold", Vec3::new(1.0, 0.71, 0.31), 0.3));
    let thin = builder.add_material(Material {
        double_sided: true,
        ..dielectric("thin", Vec3::new(0.2, 0.5, 0.1), 0.7)
    });
    let holes = builder.add_material(Material {
        alpha: AlphaMode::Mask { cutoff: 0.5 },
        ..dielectric("holes", Vec3::new(0.5, 0.1, 0.1), 0.7)
    });
    let glass = builder.add_material(Material {
        alpha: AlphaMode::Blend,
        base_color: glam::Vec4::new(0.2, 0.5, 0.9, 0.4),
        ..dielectric("glass", Vec3::ONE, 0.2)
    });
    let meshes = [
        builder.add_mesh("ball", shapes::icosphere(0.3, 1), gray),
        builder.add_mesh_of(
            "two",
            vec![(shapes::cuboid(Vec3::splat(0.5)), gold), (shapes::icosphere(0.35, 1), holes)],
        ),
        builder.add_mesh("leaf", shapes::plane(glam::Vec2::splat(0.6), 1, 1), thin),
        builder.add_mesh("pane", shapes::cuboid(Vec3::new(0.5, 0.5, 0.05)), glass),
    ];
    let mut random = SplitMix64::new(count as u64);
    let mut last = DMat4::IDENTITY;
    for index in 0..count {
        let mut at = || random.uniform(-8.0, 8.0);
        let place = DMat4::from_translation(origin + DVec3::new(at(), at(), at()));
        let turn = DMat4::from_rotation_y(random.uniform(0.0, 6.3))
            * DMat4::from_rotation_x(random.uniform(0.0, 6.3));
        let scale = match index % 11 {
            0 => DVec3::new(-1.0, 1.0, 1.0),
            1 => DVec3::new(1.0, 0.0, 1.0),
            2 => DVec3::ZERO,
            3 => DVec3::new(3.0, 0.2, 1.0),
            _ => DVec3::splat(random.uniform(0.3, 1.5)),
        };
        let place = if index % 17 == 16 { last } else { place * turn * DMat4::from_scale(scale) };
        last = place;
        builder.instance("one", meshes[if index % 29 == 28 { 3 } else { index % 3 }], place);
    }
    builder.sun("sun", Lux(60_000.0), Vec3::ONE, DVec3::new(0.3, -1.0, -0.2));
    builder.build().unwrap()
}

fn views(origin: DVec3) -> [View; 3] {
    [
        perspective(origin, origin + DVec3::new(1.0, 0.2, 0.3), 0.9, 0.05, SIZE),
        perspective(origin + DVec3::new(0.3, 9.0, 0.2), origin, 1.5, 0.01, SIZE),
        parallel(origin + DVec3::new(2.0, 1.0, 2.0), origin, 3.0, 12.0, SIZE),
    ]
}

#[test]
fn device_culling_matches_host_culling() {
    let Some((_device, mut renderer)) = renderer() else { return };
    let mut outside = 0;
    // Around a work group's 256 instances (a third of them counts twice), and more than a few
    // groups.
    for count in [1, 2, 5, 191, 192, 193, 194, 384, 385, 3000] {
        for origin in [DVec3::ZERO, DVec3::new(6.4e6, -123.456, 4.2e7 + 0.1)] {
            if origin != DVec3::ZERO && ![5, 385].contains(&count) {
                continue;
            }
            let scene = renderer.upload(&crowd(count, origin)).unwrap();
            for view in views(origin) {
                let host = renderer.render(&scene, &view, &settings(HOST)).unwrap();
                let ours = renderer.render(&scene, &view, &settings(VIEW)).unwrap();
                assert!(bits(&host) == bits(&ours), "{count} instances at {origin}");
                assert_eq!(
                    (host.draw_stats.instances, host.draw_stats.frustum_culled),
                    (ours.draw_stats.instances, ours.draw_stats.frustum_culled),
                    "{count} instances at {origin}"
                );
                assert!(ours.times.iter().any(|time| time.name == "cull: write") || count == 1);
                outside += ours.draw_stats.frustum_culled;
            }
        }
    }
    assert!(outside > 3000, "{outside}");
}

/// Walls with many small objects behind them, and a few before them.
fn rooms() -> Scene {
    let mut builder = SceneBuilder::new("rooms");
    let plaster = builder.add_material(dielectric("plaster", Vec3::splat(0.6), 0.9));
    let red = builder.add_material(dielectric("red", Vec3::new(0.6, 0.1, 0.1), 0.5));
    let one_side =
        builder.add_mesh("one side", shapes::plane(glam::Vec2::new(4.0, 4.0), 1, 1), plaster);
    let wall = builder.add_mesh("wall", shapes::cuboid(Vec3::new(3.6, 3.0, 0.1)), plaster);
    let ball = builder.add_mesh("ball", shapes::icosphere(0.1, 1), red);
    for z in 0..6 {
        for x in 0..6 {
            let at = DVec3::new(f64::from(x) * 4.0 - 10.0, 1.5, f64::from(z) * 4.0 - 12.0);
            builder.instance("wall", wall, DMat4::from_translation(at));
            let side = DMat4::from_translation(at + DVec3::new(1.9, 0.0, 2.0));
            builder.instance(
                "wall",
                wall,
                side * DMat4::from_rotation_y(std::f64::consts::FRAC_PI_2),
            );
            // One-sided, visible from above only: from below it is not drawn, so it occludes
            // nothing.
            builder.instance(
                "floor",
                one_side,
                DMat4::from_translation(at - DVec3::new(0.0, 1.5, 2.0)),
            );
        }
    }
    let mut random = SplitMix64::new(5);
    for _ in 0..1500 {
        let at = DVec3::new(
            random.uniform(-12.0, 12.0),
            random.uniform(-0.5, 3.2),
            random.uniform(-14.0, 12.0),
        );
        builder.instance("ball", ball, DMat4::from_translation(at));
    }
    builder.sun("sun", Lux(60_000.0), Vec3::ONE, DVec3::new(0.3, -1.0, -0.2));
    builder.build().unwrap()
}

#[test]
fn occlusion_culling_has_no_false_positives() {
    let Some((_device, mut renderer)) = renderer() else { return };
    let (reference, scene) =
        (renderer.upload(&rooms()).unwrap(), renderer.upload(&rooms()).unwrap());
    let (mut hidden, mut first) = (0, true);
    let mut compare = |view: &View, hidden: &mut usize| {
        let host = renderer.render(&reference, view, &settings(HOST)).unwrap();
        let ours = renderer.render(&scene, view, &settings(HIDDEN)).unwrap();
        assert!(bits(&host) == bits(&ours), "a hole, or something twice: {:?}", ours.draw_stats);
        let sum = |drawn: sunny16::frame::DrawStats| {
            drawn.instances + drawn.frustum_culled + drawn.occlusion_culled
        };
        assert_eq!(
            (sum(host.draw_stats), host.draw_stats.frustum_culled),
            (sum(ours.draw_stats), ours.draw_stats.frustum_culled)
        );
        assert!(
            !first || ours.draw_stats.occlusion_culled == 0,
            "nothing is known of a frame before the first"
        );
        first = false;
        *hidden += ours.draw_stats.occlusion_culled;
    };
    // Small steps; large jumps; through walls; from below, where floors are invisible; other sizes;
    // in parallel projection.
    for step in 0..8 {
        let angle = f64::from(step) * if step < 4 { 0.03 } else { 1.9 };
        let eye = DVec3::new(0.4, 1.6, -1.2 + f64::from(step) * 0.11);
        compare(
            &perspective(eye, eye + DVec3::new(angle.cos(), 0.02, angle.sin()), 1.0, 0.02, SIZE),
            &mut hidden,
        );
    }
    assert!(hidden > 500, "only {hidden} were found behind others");
    for size in [(64, 64), (33, 65), (129, 31), (1, 1), (300, 17)] {
        compare(
            &perspective(DVec3::new(5.0, 1.0, 3.0), DVec3::new(0.0, 1.2, 0.0), 1.2, 0.05, size),
            &mut hidden,
        );
    }
    let below = perspective(DVec3::new(1.0, -4.0, 1.0), DVec3::new(0.0, 1.0, 0.0), 1.2, 0.05, SIZE);
    let above = parallel(DVec3::new(1.0, 9.0, -14.0), DVec3::new(0.0, 0.0, 0.0), 4.0, 40.0, SIZE);
    for view in [below, below, above, above, below] {
        compare(&view, &mut hidden);
    }
}

#[test]
fn still_view_is_stable() {
    let Some((_device, mut renderer)) = renderer() else { return };
    let scene = renderer.upload(&rooms()).unwrap();
    let view = perspective(DVec3::new(0.4, 1.6, -1.2), DVec3::new(0.0, 1.5, -9.0), 1.0, 0.02, SIZE);
    let pictures: Vec<RenderedImage> =
        (0..4).map(|_| renderer.render(&scene, &view, &settings(HIDDEN)).unwrap()).collect();
    assert!(pictures.iter().all(|picture| bits(picture) == bits(&pictures[0])));
    let drawn: Vec<_> = pictures
        .iter()
        .map(|picture| (picture.draw_stats.instances, picture.draw_stats.occlusion_culled))
        .collect();
    assert_eq!(drawn[0].1, 0, "nothing is known of a frame before the first");
    assert!(drawn[1].1 > 50 && drawn[2] == drawn[3], "{drawn:?}");
}

/// Balls of 5,120 triangles from near to far.
fn balls() -> Scene {
    let mut builder = SceneBuilder::new("balls");
    let gray = builder.add_material(dielectric("gray", Vec3::splat(0.4), 0.6));
    let ball = builder.add_mesh("ball", shapes::icosphere(0.5, 4), gray);
    for index in 0..40 {
        let along = 1.5 * 1.12_f64.powi(index);
        let at = DVec3::new(
            along * 0.4 * f64::from(index % 5 - 2),
            0.3 * along * f64::from(index % 3 - 1),
            -along,
        );
        let scale = DVec3::splat(if index % 7 == 3 { -1.0 } else { 1.0 });
        builder.instance("ball", ball, DMat4::from_translation(at) * DMat4::from_scale(scale));
    }
    builder.sun("sun", Lux(60_000.0), Vec3::ONE, DVec3::new(0.3, -1.0, -0.6));
    builder.build().unwrap()
}

#[test]
fn levels_of_detail_match_between_host_and_device() {
    let Some((_device, mut renderer)) = renderer() else { return };
    let shadows = unshadowed();
    let scene = renderer.upload_with(&balls(), &shadows, LodGeneration::Large).unwrap();
    let views = [
        perspective(DVec3::ZERO, DVec3::NEG_Z, 0.8, 0.05, SIZE),
        parallel(DVec3::new(0.0, 0.0, 2.0), DVec3::NEG_Z, 6.0, 300.0, SIZE),
    ];
    for view in views {
        let mut with = |culling| renderer.render(&scene, &view, &settings(culling)).unwrap();
        let full = with(HOST);
        assert_eq!(full.draw_stats.draws, 2, "all of a handedness at once");
        for error_pixels in [0.25, 2.0] {
            let host = with(CullingSettings { max_error_pixels: error_pixels, ..HOST });
            let ours = with(CullingSettings { max_error_pixels: error_pixels, ..VIEW });
            // In a parallel projection all have the same level.
            assert!(
                view.parallel || host.draw_stats.draws > 3,
                "several levels: {:?}",
                host.draw_stats
            );
            assert!(bits(&host) == bits(&ours), "{error_pixels}");
            let hidden = with(CullingSettings { max_error_pixels: error_pixels, ..HIDDEN });
            assert!(bits(&host) == bits(&hidden), "{error_pixels}, with what hides");
            let srgb = |picture: &RenderedImage| -> Vec<[f32; 3]> {
                let linear =
                    |byte: u8| sunny16::photometry::color::srgb_eotf_f32(f32::from(byte) / 255.0);
                picture
                    .display
                    .chunks_exact(4)
                    .map(|p| [linear(p[0]), linear(p[1]), linear(p[2])])
                    .collect()
            };
            let map = flip::ldr(&srgb(&ours), &srgb(&full), ours.width, 67.0);
            let mean = map.iter().map(|&value| f64::from(value)).sum::<f64>() / map.len() as f64;
            println!("{error_pixels} px: FLIP {mean:.5}, {} draws", host.draw_stats.draws);
            assert!(mean < f64::from(error_pixels) * 0.02, "{error_pixels} px: FLIP {mean}");
        }
    }
}
