//! Anti-aliasing against pictures of 64 samples per pixel: still views, a moving camera with an
//! exposure step, lower resolutions; velocities against closed forms.

use glam::{DMat4, DQuat, DVec2, DVec3, Vec2, Vec3};
use sunny16::{
    camera::{Exposure, ToneMapper},
    frame::{AntiAliasing, Aov, RenderSettings, RenderedImage, Renderer, TemporalSettings},
    gpu_scene::{GpuScene, View},
    photometry::Ev100,
    scene::{
        Material, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::{shapes, still_life},
    },
};

use crate::common::traced::mean_flip;
use crate::common::{Place, after, aov, exposed, gpu, perspective, renderer};

/// Samples per side of a reference pixel.
const SIDE: usize = 8;
const FRAMES: u32 = 16;
/// The frame from which on the exposure is two stops lower.
const STEP: u32 = 8;

type Nits = Vec<[f32; 3]>;

/// Downsamples by the mean of blocks of this size.
fn supersampled(
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
    settings: &RenderSettings,
) -> Nits {
    let large = view.resized(view.width * SIDE as u32, view.height * SIDE as u32);
    let plain = RenderSettings { anti_aliasing: AntiAliasing::None, ..settings.clone() };
    let picture = renderer.render(scene, &large, &plain).unwrap();
    let width = view.width as usize;
    (0..width * view.height as usize)
        .map(|index| {
            let (x, y) = (index % width * SIDE, index / width * SIDE);
            let rows =
                (y..y + SIDE).flat_map(|row| &picture.nits[row * picture.width + x..][..SIDE]);
            let sum = rows.fold(DVec3::ZERO, |sum, p| sum + Vec3::from_array(*p).as_dvec3());
            (sum / (SIDE * SIDE) as f64).as_vec3().to_array()
        })
        .collect()
}

/// Mean FLIP of two pictures as displayed.
fn flip_of(test: &Nits, reference: &Nits, exposure: Exposure, width: u32) -> f64 {
    let shown = |nits: &Nits| -> Nits {
        let multiplier = exposure.multiplier() as f32;
        nits.iter()
            .map(|p| ToneMapper::Agx.apply(Vec3::from_array(*p) * multiplier).to_array())
            .collect()
    };
    mean_flip(&shown(test), &shown(reference), width as usize)
}

/// Temporal anti-aliasing of pictures rendered at a fraction of their resolution.
fn scaled(render_scale: f64, settings: &RenderSettings) -> RenderSettings {
    RenderSettings {
        anti_aliasing: AntiAliasing::Temporal,
        taa: TemporalSettings { render_scale, ..TemporalSettings::default() },
        ..settings.clone()
    }
}

/// Every method, and upscaling from a fraction of the resolution.
fn methods(render_scale: f64) -> [RenderSettings; 3] {
    let plain = RenderSettings::default();
    let morphological =
        RenderSettings { anti_aliasing: AntiAliasing::Morphological, ..plain.clone() };
    [morphological, scaled(1.0, &plain), scaled(render_scale, &plain)]
}

/// The still life's hero view, moved some meters to the right and turned back.
fn hero(scene: &Scene, aside: f64, (width, height): (u32, u32)) -> View {
    let placed = scene.walk();
    let (world, projection) = placed
        .iter()
        .find_map(|placed| {
            let camera = scene.cameras.get(placed.node.camera?)?;
            (camera.name == "Hero").then_some((placed.world, camera.projection))
        })
        .unwrap();
    let moved = world
        * DMat4::from_rotation_translation(DQuat::from_rotation_y(0.3 * aside), DVec3::X * aside);
    View::new(moved, &projection, width, height)
}

#[test]
fn still_view_converges_to_64_samples_per_pixel() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let made = still_life().unwrap();
    let scene = renderer.upload(&made.scene).unwrap();
    let (size, exposure) = ((160, 90), Exposure::from_ev100(made.dials.ev100()).unwrap());
    let view = hero(&made.scene, 0.0, size);
    let settings = RenderSettings { exposure, ..RenderSettings::default() };
    let want = supersampled(&mut renderer, &scene, &view, &settings);
    let flip = |picture: &RenderedImage| flip_of(&picture.nits, &want, exposure, size.0);
    let none = flip(&renderer.render(&scene, &view, &settings).unwrap());
    let means = [4, 16, 64]
        .map(|samples| flip(&renderer.render_still(&scene, &view, &settings, samples).unwrap()));
    let morphological =
        RenderSettings { anti_aliasing: AntiAliasing::Morphological, ..settings.clone() };
    let morphological = flip(&renderer.render(&scene, &view, &morphological).unwrap());
    let taa = flip(&after(&mut renderer, &scene, &view, &scaled(1.0, &settings), 64));
    let half = flip(&after(&mut renderer, &scene, &view, &scaled(0.5, &settings), 128));
    println!(
        "none {none:.4}, morphological {morphological:.4}, means of 4, 16, 64: {means:.4?}, taa {taa:.4}, half {half:.4}"
    );
    assert!(means[2] < 0.01 && taa < 0.01, "{means:?} {taa}");
    assert!(means[2] < means[1] && means[1] < means[0] && means[0] < none, "{means:?} {none}");
    // SMAA gains little here: the still life has more leaves and textures than edges.
    assert!(morphological < none, "{morphological} of {none}");
    // Half the resolution per side, the same number of samples in the end.
    assert!(half < 0.012, "{half}");
}

/// Lamps of a third of a pixel, hundreds of times as bright as white, in a still of four frames.
/// Closed form: the light of each is its area times its luminance.
#[test]
fn small_lamps_have_their_light_in_a_still_of_few_frames() {
    const LAMPS: usize = 8;
    const NITS: f64 = 1000.0;
    // Pixels.
    const SIDE: f64 = 0.55;
    const STEP: f64 = 7.37;
    let Some((_guard, mut renderer)) = renderer() else { return };
    let size = (64u32, 64u32);
    let (away, field_of_view) = (10.0, 0.5);
    let pixel = 2.0 * away * f64::tan(0.5 * field_of_view) / f64::from(size.1);
    let mut builder = SceneBuilder::new("lamps");
    let lamp = builder.add_material(Material {
        emission: Vec3::splat(NITS as f32),
        ..dielectric("lamp", Vec3::ZERO, 1.0)
    });
    let side = (SIDE * pixel) as f32;
    // The lower left corner of a lamp in pixels from the middle: at another place of its pixel each.
    let corner = |index: usize| {
        let (x, y) = ((index % LAMPS) as f64, (index / LAMPS) as f64);
        let middle = DVec2::splat(0.5 * LAMPS as f64);
        (DVec2::new(x, y) - middle) * STEP + 2.0 + DVec2::new(0.377 * y, 0.213 * x)
    };
    for index in 0..LAMPS * LAMPS {
        let at = corner(index).extend(0.0) * pixel;
        let quad = shapes::quad(Vec3::Y * side, Vec3::X * side, Vec3::NEG_Y * side, 1, 1);
        builder.place(quad, lamp, at);
    }
    let scene = Scene { emissive_lights: false, ..builder.build().unwrap() };
    let on_device = renderer.upload(&scene).unwrap();
    let view = perspective(DVec3::Z * away, DVec3::ZERO, field_of_view as f32, 0.1, size);
    let picture = renderer.render_still(&on_device, &view, &exposed(1.0, 0.18), 4).unwrap();
    let (mut sum, mut square) = (0.0, 0.0);
    for index in 0..LAMPS * LAMPS {
        // The middle of the lamp, in pixels from the top left corner.
        let DVec2 { x, y } =
            DVec2::new(32.0, 32.0) + (corner(index) + 0.5 * SIDE) * DVec2::new(1.0, -1.0);
        let around = |middle: f64| middle as usize - 2..middle as usize + 3;
        let light: f64 = around(y)
            .flat_map(|row| around(x).map(move |column| (row, column)))
            .map(|(row, column)| f64::from(picture.nits[row * size.0 as usize + column][1]))
            .sum();
        let ratio = light / (NITS * SIDE * SIDE);
        (sum, square) = (sum + ratio, square + (ratio - 1.0).powi(2));
    }
    let count = (LAMPS * LAMPS) as f64;
    let (mean, rms) = (sum / count, (square / count).sqrt());
    println!("small lamps: mean {mean:.3}, rms {rms:.3}");
    assert!((mean - 1.0).abs() < 0.03, "{mean}");
    assert!(rms < 0.25, "{rms}");
}

#[test]
fn moving_camera_has_no_ghosting_over_an_exposure_step() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let made = still_life().unwrap();
    let scene = renderer.upload(&made.scene).unwrap();
    let size = (96, 54);
    let exposure = |frame: u32, stops: f64| {
        let stops = if frame < STEP { 0.0 } else { stops };
        Exposure::from_ev100(Ev100(made.dials.ev100().get() + stops)).unwrap()
    };
    let views: Vec<View> =
        (0..FRAMES).map(|frame| hero(&made.scene, 0.002 * f64::from(frame), size)).collect();
    let settings = |frame: u32, stops: f64| RenderSettings {
        exposure: exposure(frame, stops),
        ..RenderSettings::default()
    };
    let want: Vec<Nits> = views
        .iter()
        .map(|view| supersampled(&mut renderer, &scene, view, &settings(0, 0.0)))
        .collect();
    let mut run = |anti_aliasing: AntiAliasing, stops: f64| -> Vec<f64> {
        renderer.reset_history();
        let frames = views.iter().zip(0..).zip(&want).map(|((view, frame), want)| {
            let with = RenderSettings { anti_aliasing, ..settings(frame, stops) };
            let got = renderer.render(&scene, view, &with).unwrap();
            assert!(got.nits.iter().flatten().all(|v| v.is_finite() && *v >= 0.0));
            // Developed at the first exposure, so that frames can be compared across the step.
            flip_of(&got.nits, want, exposure(0, 0.0), size.0)
        });
        frames.collect()
    };
    let (none, taa) = (run(AntiAliasing::None, 0.0), run(AntiAliasing::Temporal, 0.0));
    let (darker, brighter) = (run(AntiAliasing::Temporal, 2.0), run(AntiAliasing::Temporal, -2.0));
    for (name, flips) in
        [("none", &none), ("taa", &taa), ("2 stops down", &darker), ("2 stops up", &brighter)]
    {
        let shown: Vec<String> = flips.iter().map(|flip| format!("{flip:.3}")).collect();
        println!("{name:13} {}", shown.join(" "));
    }
    for (stepped, name) in [(&darker, "down"), (&brighter, "up")] {
        for (frame, (a, b)) in taa.iter().zip(stepped).enumerate() {
            assert!((a - b).abs() < 0.01, "two stops {name}, frame {frame}: {b} and {a} without");
        }
    }
    let mean = |flips: &[f64]| flips[4..].iter().sum::<f64>() / (flips.len() - 4) as f64;
    assert!(mean(&taa) < 0.8 * mean(&none), "{} of {}", mean(&taa), mean(&none));
    assert!(taa.iter().zip(&none).skip(4).all(|(taa, none)| taa < none), "better in each frame");
}

/// A wall across the picture, five meters away.
fn wall() -> Scene {
    let mut builder = SceneBuilder::new("wall");
    let mut glow = sunny16::scene::build::dielectric("wall", Vec3::splat(0.5), 1.0);
    glow.emission = Vec3::splat(100.0);
    builder.place(
        shapes::plane(Vec2::splat(40.0), 1, 1),
        glow,
        DMat4::from_translation(DVec3::Z * -5.0)
            * DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2),
    );
    builder.build().unwrap()
}

#[test]
fn velocities_match_the_pinhole_model() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = renderer.upload(&wall()).unwrap();
    let size = (64, 48);
    let at =
        |x: f64| perspective(DVec3::new(x, 0.0, 0.0), DVec3::new(x, 0.0, -1.0), 0.8, 0.1, size);
    let settings = RenderSettings { aovs: vec![Aov::Velocity], ..RenderSettings::default() };
    let first = renderer.render(&scene, &at(0.0), &settings).unwrap();
    assert!(first.aovs[0].1.iter().all(|v| v[0] == 0.0 && v[1] == 0.0), "nothing came before");
    let second = renderer.render(&scene, &at(0.25), &settings).unwrap();
    // The camera moves right by 0.25 m; a point 5 m away moves left.
    let pixels = f64::from(size.1) / 2.0 / (0.8f64 / 2.0).tan() * 0.25 / 5.0;
    for (x, y) in [(5, 5), (32, 24), (60, 40)] {
        let v = aov(&second, Aov::Velocity, x, y);
        assert!(
            (f64::from(v[0]) + pixels).abs() < 2e-3 * pixels && v[1].abs() < 1e-3,
            "{v:?} for {pixels}"
        );
    }
    renderer.reset_history();
    let after = renderer.render(&scene, &at(0.5), &settings).unwrap();
    assert!(after.aovs[0].1.iter().all(|v| v[0] == 0.0), "a cut forgets the frame before");
}

#[test]
fn uniform_picture_is_unchanged_at_any_exposure() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = renderer.upload(&wall()).unwrap();
    let view =
        |x: f64| perspective(DVec3::new(x, 0.0, 0.0), DVec3::new(x, 0.0, -1.0), 0.8, 0.1, (33, 17));
    for method in methods(0.5) {
        for (frame, value) in [0.18, 0.18, 1e-3, 40.0, 0.18, 3e4, 0.5].into_iter().enumerate() {
            let exposure = exposed(100.0, value).exposure;
            let settings = RenderSettings { exposure, ..method.clone() };
            let picture = renderer.render(&scene, &view(0.01 * frame as f64), &settings).unwrap();
            for pixel in &picture.nits {
                for got in pixel {
                    let off = (f64::from(*got) / 100.0 - 1.0).abs();
                    assert!(
                        off < 0.01,
                        "{:?}, frame {frame} at {value}: {got} nit for 100",
                        method.anti_aliasing
                    );
                }
            }
        }
    }
}

#[test]
fn pictures_are_finite_and_deterministic() {
    let Some(guard) = gpu() else { return };
    let made = still_life().unwrap();
    let scene = guard.renderer().upload(&made.scene).unwrap();
    for method in methods(0.6) {
        // The slots of history pairs are part of the initial state of a run.
        let runs: Vec<Vec<RenderedImage>> = (0..2)
            .map(|_| {
                let mut fresh = guard.renderer();
                [8.0, -40.0, 60.0, 8.0, 7.0, 30.0, 8.0]
                    .iter()
                    .zip(0..)
                    .map(|(&ev, frame)| {
                        let exposure = Exposure::from_ev100(Ev100(ev)).unwrap();
                        // Still for the first frames, then moving.
                        let view =
                            hero(&made.scene, 0.01 * f64::from((frame - 3i32).max(0)), (48, 27));
                        let settings = RenderSettings { exposure, ..method.clone() };
                        fresh.render(&scene, &view, &settings).unwrap()
                    })
                    .collect()
            })
            .collect();
        for (a, b) in runs[0].iter().zip(&runs[1]) {
            assert!(
                a.nits.iter().flatten().all(|value| value.is_finite() && *value >= 0.0),
                "{:?}",
                method.anti_aliasing
            );
            assert!(
                a.display == b.display && a.nits == b.nits,
                "{:?}: two runs differ",
                method.anti_aliasing
            );
        }
    }
    // A metering picture of another size in between changes nothing.
    let view = hero(&made.scene, 0.0, (48, 27));
    let exposure = Exposure::from_ev100(made.dials.ev100()).unwrap();
    let plain = RenderSettings { exposure, ..RenderSettings::default() };
    let taa = RenderSettings { anti_aliasing: AntiAliasing::Temporal, ..plain.clone() };
    let run = |meter: bool| -> Vec<Nits> {
        let mut fresh = guard.renderer();
        (0..4)
            .map(|_| {
                if meter {
                    fresh.render(&scene, &hero(&made.scene, 0.0, (12, 7)), &plain).unwrap();
                }
                fresh.render(&scene, &view, &taa).unwrap().nits
            })
            .collect()
    };
    assert!(run(true) == run(false));
}

#[test]
fn slanted_edge_is_one_pixel_wide() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("edge");
    let mut glow = sunny16::scene::build::dielectric("card", Vec3::splat(0.0), 1.0);
    glow.emission = Vec3::splat(100.0);
    let stand =
        DMat4::from_translation(DVec3::new(-0.07, -1.0, -5.0)) * DMat4::from_rotation_z(0.12);
    builder.place(
        shapes::plane(Vec2::new(4.0, 2.0), 1, 1),
        glow,
        stand * DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2),
    );
    let scene = renderer.upload(&builder.build().unwrap()).unwrap();
    let view = View::new(
        look_at_transform(DVec3::ZERO, DVec3::NEG_Z),
        &sunny16::scene::Projection::Perspective {
            vertical_fov: 0.8,
            aspect: None,
            near: 0.1,
            far: None,
        },
        80,
        60,
    );
    let settings = exposed(100.0, 1.0);
    let want = supersampled(&mut renderer, &scene, &view, &settings);
    let mut error = |settings: &RenderSettings, samples: u32| {
        let got = renderer.render_still(&scene, &view, settings, samples).unwrap();
        let squares =
            got.nits.iter().zip(&want).map(|(a, b)| f64::from((a[1] - b[1]) / 100.0).powi(2));
        let on_edge = want.iter().filter(|p| p[1] > 0.5 && p[1] < 99.5).count();
        (squares.sum::<f64>() / on_edge as f64).sqrt()
    };
    let none = error(&settings, 1);
    let shapes = error(
        &RenderSettings { anti_aliasing: AntiAliasing::Morphological, ..settings.clone() },
        1,
    );
    let mean = error(&settings, 16);
    println!(
        "rms error of coverage at edge pixels: none {none:.3}, morphological {shapes:.3}, mean of 16 {mean:.3}"
    );
    // An aliased edge is off by a coverage between 0 and 1/2, uniformly: 1/sqrt(12).
    assert!((none - 0.289).abs() < 0.05, "{none}");
    assert!(shapes < 0.5 * none && mean < 0.04, "{shapes} {mean}");
}

#[test]
fn what_moves_leaves_no_trail() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let emissive_material = |name: &str, nits: f32| {
        let mut glow = sunny16::scene::build::dielectric(name, Vec3::ZERO, 1.0);
        glow.emission = Vec3::splat(nits);
        glow
    };
    let mut builder = SceneBuilder::new("passing card");
    let (gray, white) = (
        builder.add_material(emissive_material("wall", 20.0)),
        builder.add_material(emissive_material("card", 100.0)),
    );
    let stand = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let wall = builder.add_mesh("wall", shapes::plane(Vec2::splat(40.0), 1, 1), gray);
    let card = builder.add_mesh("card", shapes::plane(Vec2::splat(0.6), 1, 1), white);
    builder.instance("wall", wall, DMat4::from_translation(DVec3::Z * -5.0) * stand);
    let place = |frame: u32| {
        DMat4::from_translation(DVec3::new(-0.9 + 0.11 * f64::from(frame), 0.0, -4.0))
            * DMat4::from_rotation_z(0.3)
            * stand
    };
    builder.instance("card", card, place(0));
    let mut host = builder.build().unwrap();
    let node = host.nodes.iter().position(|node| node.name == "card").unwrap();
    let mut scene = renderer.upload(&host).unwrap();
    let size = (96, 54);
    let view = perspective(DVec3::ZERO, DVec3::NEG_Z, 0.6, 0.1, size);
    let plain = exposed(100.0, 0.6);
    let taa = RenderSettings {
        anti_aliasing: AntiAliasing::Temporal,
        aovs: vec![Aov::Velocity],
        ..plain.clone()
    };
    let mut last = None;
    for frame in 0..16 {
        host.nodes[node].local = place(frame);
        scene.follow(&guard.gpu, &host).unwrap();
        last = Some(renderer.render(&scene, &view, &taa).unwrap());
    }
    let last = last.unwrap();
    let want = supersampled(&mut renderer, &scene, &view, &plain);
    let none = renderer.render(&scene, &view, &plain).unwrap();
    // The card is at x = -0.9 + 0.11 * 15 = 0.75 m, four meters away; it moved 0.11 m.
    let focal = f64::from(size.1) / 2.0 / 0.3f64.tan();
    let at = (f64::from(size.0) / 2.0 + focal * 0.75 / 4.0) as usize;
    let v = aov(&last, Aov::Velocity, at, 27);
    assert!((f64::from(v[0]) - focal * 0.11 / 4.0).abs() < 0.01 && v[1].abs() < 0.01, "{v:?}");
    assert_eq!(aov(&last, Aov::Velocity, 5, 5)[..2], [0.0, 0.0], "the wall stands still");
    let trail = (0..at - 20)
        .map(|x| f64::from((last.nits[27 * 96 + x][1] - 20.0).abs()))
        .fold(0.0, f64::max);
    let flip = |picture: &RenderedImage| flip_of(&picture.nits, &want, plain.exposure, size.0);
    println!("none {:.4}, taa {:.4}; trail of {trail:.3} nit of 80", flip(&none), flip(&last));
    assert!(trail < 0.5, "{trail}");
    // Few pixels are edges. They are softer than a single frame's, whose aliased steps happen to be
    // closer to the reference here.
    assert!(flip(&last) < 0.01, "{}", flip(&last));
}
