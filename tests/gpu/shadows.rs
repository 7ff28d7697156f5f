//! Traced shadows on the device against the host's BVH and against closed forms.

use crate::common::{
    Guard, Place, aov3, exposed, exposure_for, gpu, half_steps, hit_plane, parallel, perspective,
    picture, pixel_ray, renderer, unclustered,
};
use glam::{DMat4, DQuat, DVec3, Vec2, Vec3};
use sunny16::{
    bvh::{Ray, SceneBvh, SceneTlas, casts_shadow},
    frame::{Aov, RenderSettings, Renderer, ShadowSettings},
    gpu::GpuError,
    gpu_scene::View,
    photometry::{
        Candela, Lux, Nit,
        lights::{Emitter, LightStrength, Sides},
        units::Lumen,
    },
    scene::{
        AlphaMode, Material, Sampler, Scene, Wrap,
        build::{SceneBuilder, dielectric, look_at_transform},
        look::ShadowMethod,
        procedural::{shapes, textures},
    },
};

fn settings(enabled: bool, samples: u32, nits: f64) -> RenderSettings {
    let shadows = ShadowSettings {
        enabled,
        method: ShadowMethod::Traced,
        samples,
        ..ShadowSettings::default()
    };
    let light_lists = unclustered();
    let aovs = vec![Aov::DirectDiffuse];
    // So bright that every light gets the requested number of rays.
    RenderSettings { shadows, clustered_lights: light_lists, aovs, ..exposed(nits, 64.0) }
}

/// Visibility of the light in each pixel; none where it is dark even without shadows. A ratio of
/// two half floats that the driver may truncate: accurate to 0.2 %.
fn visibility(
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    samples: u32,
    nits: f64,
) -> Vec<Option<f64>> {
    let with = picture(renderer, scene, view, &settings(true, samples, nits));
    let without = picture(renderer, scene, view, &settings(false, samples, nits));
    let (width, height) = (with.width, with.height);
    let at = |picture, x, y| aov3(picture, Aov::DirectDiffuse, x, y).y;
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    pixels
        .map(|(x, y)| {
            let lit = at(&without, x, y);
            (lit > 1e-4 * nits).then(|| at(&with, x, y) / lit)
        })
        .collect()
}

fn diffuse_material() -> Material {
    Material { double_sided: true, ..dielectric("matte", Vec3::splat(0.5), 1.0) }
}

/// The host's BVH, with the surface that a pixel shows and its visibility from a light.
struct Host {
    bvh: SceneBvh,
    top: SceneTlas,
    eye: DVec3,
}

impl Host {
    fn new(scene: &Scene, eye: DVec3) -> Self {
        let bvh = SceneBvh::new(scene, casts_shadow);
        let top = bvh.tlas_from(eye);
        Self { bvh, top, eye }
    }

    /// The point and the normal that a pixel shows.
    fn seen(&self, view: &View, x: usize, y: usize) -> Option<(DVec3, Vec3)> {
        let (from, along) = pixel_ray(view, x, y);
        let origin = (from - self.eye).as_vec3();
        let ray = Ray {
            origin,
            direction: along.as_vec3(),
            t_min: 0.0,
            t_max: f32::MAX,
            offset_normal: Vec3::ZERO,
        };
        let hit = self.bvh.closest(&self.top, &ray)?;
        let instance = &self.top.instances[hit.instance as usize];
        let normal =
            instance.normal(self.bvh.triangles[hit.triangle as usize].normal()).normalize();
        let normal = if normal.dot(along.as_vec3()) > 0.0 { -normal } else { normal };
        Some((from + along * f64::from(hit.t), normal))
    }

    /// True if a segment from a point is occluded.
    fn hidden(&self, point: DVec3, normal: Vec3, way: DVec3) -> bool {
        let origin = (point - self.eye).as_vec3();
        let ray = Ray {
            origin,
            direction: way.as_vec3(),
            t_min: 0.0,
            t_max: 0.9999,
            offset_normal: normal,
        };
        self.bvh.occluded(&self.top, &ray)
    }
}

/// Compares lit and shadowed with the host's result in every pixel. The device may differ only
/// where the host's result differs among a pixel's neighbors. Returns the number of pixels lit, in
/// shadow, and excused.
fn agree(
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    way: impl Fn(DVec3) -> DVec3,
) -> [usize; 3] {
    let host = Host::new(scene, view.position);
    let got = visibility(renderer, scene, view, 1, 20.0);
    let (width, height) = (view.width as usize, view.height as usize);
    let want: Vec<Option<bool>> = (0..width * height)
        .map(|i| host.seen(view, i % width, i / width).map(|(p, n)| host.hidden(p, n, way(p))))
        .collect();
    let mut counts = [0; 3];
    for y in 1..height - 1 {
        for x in 1..width - 1 {
            let (Some(got), Some(hidden)) = (got[y * width + x], want[y * width + x]) else {
                continue;
            };
            let near = |dx: usize, dy: usize| want[(y + dy - 1) * width + x + dx - 1];
            let edge = (0..9).any(|i| near(i % 3, i / 3) != Some(hidden));
            let right = (got - if hidden { 0.0 } else { 1.0 }).abs() < 2e-3;
            assert!(right || edge, "pixel {x} {y}: {got}, the host says hidden: {hidden}");
            counts[if right { usize::from(hidden) } else { 2 }] += 1;
        }
    }
    counts
}

const LAMP: DVec3 = DVec3::new(-0.7, 2.1, 0.6);

/// Boxes on and over a floor; one stands on it, so that its shadow must start at the contact.
fn boxes(offset: DVec3, light: impl FnOnce(&mut SceneBuilder)) -> Scene {
    let mut builder = SceneBuilder::new("boxes");
    let matte = builder.add_material(diffuse_material());
    builder.place(shapes::plane(Vec2::splat(12.0), 1, 1), matte, offset);
    let cube = builder.add_mesh("cube", shapes::cuboid(Vec3::splat(0.5)), matte);
    let turned = |angle: f64, place: DVec3| {
        DMat4::from_rotation_translation(DQuat::from_rotation_y(angle), offset + place)
    };
    builder.instance("standing", cube, turned(0.4, DVec3::new(0.0, 0.25, 0.0)));
    let leaning = DQuat::from_rotation_x(0.7) * DQuat::from_rotation_z(0.5);
    builder.instance(
        "floating",
        cube,
        DMat4::from_rotation_translation(leaning, offset + DVec3::new(0.9, 0.8, -0.4)),
    );
    let mirrored =
        turned(1.0, DVec3::new(-0.9, 0.25, -0.7)) * DMat4::from_scale(DVec3::new(-0.6, 1.0, 1.4));
    builder.instance("mirrored", cube, mirrored);
    light(&mut builder);
    builder.build().unwrap()
}

fn over(offset: DVec3) -> View {
    perspective(
        offset + DVec3::new(1.2, 1.9, 2.4),
        offset + DVec3::new(0.1, 0.2, -0.2),
        0.8,
        0.01,
        (192, 120),
    )
}

#[test]
fn shadows_match_host_at_the_origin_and_ten_kilometers_away() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for offset in [DVec3::ZERO, DVec3::new(10_000.3, 40.0, -9_000.7)] {
        let scene = boxes(offset, |b| {
            b.point_light_candela("lamp", Candela(300.0), Vec3::ONE, offset + LAMP);
        });
        let point = agree(&mut renderer, &scene, &over(offset), |p| offset + LAMP - p);
        let scene = boxes(offset, |b| {
            let pose = look_at_transform(offset + LAMP, offset + DVec3::new(0.2, 0.0, 0.0));
            b.spot_light_lumens("lamp", Lumen(900.0), Vec3::ONE, (0.4, 0.6), pose);
        });
        let spot = agree(&mut renderer, &scene, &over(offset), |p| offset + LAMP - p);
        let towards = DVec3::new(-0.5, 0.35, 0.2);
        let scene = boxes(offset, |b| {
            b.sun("sun", Lux(150.0), Vec3::ONE, -towards);
        });
        let sun = agree(&mut renderer, &scene, &over(offset), |_| towards * 1e4);
        println!("lit, in shadow, let off at edges: point {point:?}, spot {spot:?}, sun {sun:?}");
        for [lit, dark, off] in [point, spot, sun] {
            assert!(lit > 2000 && dark > 500 && off < 200);
        }
    }
}

#[test]
fn alpha_masks_shape_shadows() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let leaves = |alpha: AlphaMode, sampler: Sampler| {
        boxes(DVec3::ZERO, |b| {
            let picture = textures::picture(64, 64, |u, v| {
                let (x, y) = (u * 3.0 - 1.5, v * 3.0 - 1.5);
                [
                    0.2,
                    0.6,
                    0.1,
                    (1.4 - (x * x + y * y) * 2.0 + 0.3 * (8.0 * y.atan2(x)).sin()).clamp(0.0, 1.0),
                ]
            });
            let texture = b.add_texture("leaf", picture, sampler);
            let mut reference = SceneBuilder::texture_ref(texture);
            reference.transform = [[2.0, 0.3, 0.1], [-0.2, 2.0, 0.4]];
            let leaf =
                Material { alpha, base_color_texture: Some(reference), ..diffuse_material() };
            b.place(shapes::plane(Vec2::splat(1.2), 3, 3), leaf, DVec3::new(-0.3, 1.0, 0.3));
            b.point_light_candela("lamp", Candela(300.0), Vec3::ONE, LAMP);
        })
    };
    let view = over(DVec3::ZERO);
    for wrap in [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp] {
        for mag_linear in [false, true] {
            let sampler = Sampler { wrap_u: wrap, wrap_v: wrap, mag_linear, ..Sampler::default() };
            let scene = leaves(AlphaMode::Mask { cutoff: 0.5 }, sampler);
            let [lit, dark, off] = agree(&mut renderer, &scene, &view, |p| LAMP - p);
            println!("{wrap:?}, linear {mag_linear}: {lit} lit, {dark} in shadow, {off} let off");
            assert!(lit > 2000 && dark > 1200 && off < 200);
        }
    }
}

const HEIGHT: f64 = 2.0;
const EDGE: f64 = 0.5;

/// A half plane over a floor, its edge along z at x = 0, under a light at x = 0, seen from below it
/// around x = 0: mean visibility of each column, with the column's x.
fn penumbra(
    guard: &Guard,
    light: impl FnOnce(&mut SceneBuilder, DMat4),
    half_width: f64,
    samples: u32,
) -> Vec<(f64, f64)> {
    let mut builder = SceneBuilder::new("half plane");
    let matte = builder.add_material(diffuse_material());
    builder.floor(30.0, matte);
    builder.place(shapes::plane(Vec2::splat(20.0), 1, 1), matte, DVec3::new(-10.0, EDGE, 0.0));
    // Downward; the light's X is the world's.
    light(&mut builder, look_at_transform(DVec3::new(0.0, HEIGHT, 0.0), DVec3::ZERO));
    let scene = builder.build().unwrap();
    let (columns, rows) = (320, 10);
    let height = half_width * f64::from(rows) / f64::from(columns);
    let view = parallel(
        DVec3::new(0.0, EDGE * 0.9, 0.0),
        DVec3::ZERO,
        height as f32,
        1.0,
        (columns, rows),
    );
    let mut renderer = guard.renderer();
    let seen = visibility(&mut renderer, &scene, &view, samples, 20.0);
    (0..columns as usize)
        .map(|x| {
            let column = (0..rows as usize).map(|y| seen[y * columns as usize + x].unwrap());
            (hit_plane(&view, x, 5, DVec3::ZERO, DVec3::Y).x, column.sum::<f64>() / f64::from(rows))
        })
        .collect()
}

/// Width from fully occluded to fully visible.
fn width(profile: &[(f64, f64)]) -> (f64, f64) {
    let mut profile = profile.to_vec();
    profile.sort_by(|a, b| a.0.total_cmp(&b.0));
    let pixel = profile[1].0 - profile[0].0;
    let dark = profile.iter().rposition(|(_, v)| *v == 0.0).unwrap();
    let lit = profile.iter().position(|(_, v)| *v > 0.998).unwrap();
    assert!(dark > 10 && lit < profile.len() - 10 && dark < lit, "{dark} {lit}");
    (profile[lit].0 - profile[dark].0 - pixel, pixel)
}

#[test]
fn penumbra_widths_match_similar_triangles() {
    let Some(guard) = gpu() else { return };
    let far = HEIGHT - EDGE;
    let nits = LightStrength::Nits(Nit(400.0));
    let shape = |emitter: Emitter| {
        move |b: &mut SceneBuilder, pose| _ = b.light("l", emitter, nits, Vec3::ONE, pose)
    };
    let tangent = |r: f64| 2.0 * EDGE * (r / far).asin().tan();
    let sun = |radius: f64| {
        move |b: &mut SceneBuilder, pose| {
            b.light(
                "sun",
                Emitter::Sun { angular_radius: radius },
                LightStrength::Lux(Lux(100.0)),
                Vec3::ONE,
                pose,
            );
        }
    };
    let check = |name: &str, profile: Vec<(f64, f64)>, want: f64| {
        let (got, pixel) = width(&profile);
        println!(
            "{name}: {:.2} mm for {:.2} mm ({:+.2} %), a pixel is {:.2} %",
            got * 1e3,
            want * 1e3,
            (got / want - 1.0) * 100.0,
            pixel / want * 100.0
        );
        assert!((got / want - 1.0).abs() < 0.02, "{name}: {got} for {want}");
    };
    let rectangle = Emitter::Rectangle { width: 0.6, height: 0.3, sides: Sides::One };
    let want = 0.6 * EDGE / far;
    check("rectangle", penumbra(&guard, shape(rectangle), want * 0.62, 1024), want);
    let want = tangent(0.3);
    check(
        "sphere",
        penumbra(&guard, shape(Emitter::Sphere { radius: 0.3 }), want * 0.62, 1024),
        want,
    );
    let want = 0.6 * EDGE / far;
    let disk = Emitter::Disk { radius: 0.3, sides: Sides::One };
    check("disk", penumbra(&guard, shape(disk), want * 0.62, 1024), want);
    for radius in [0.533f64, 5.0].map(|degrees| degrees.to_radians() / 2.0) {
        let want = 2.0 * EDGE * radius.tan();
        check("sun", penumbra(&guard, sun(radius), want * 0.62, 1024), want);
    }
}

#[test]
fn rectangle_penumbra_matches_weighted_ramp() {
    let Some(guard) = gpu() else { return };
    let (wide, long) = (0.8, 0.4);
    let emitter = Emitter::Rectangle { width: wide, height: long, sides: Sides::One };
    let light = move |b: &mut SceneBuilder, pose| {
        b.light("panel", emitter, LightStrength::Nits(Nit(400.0)), Vec3::ONE, pose);
    };
    let profile = penumbra(&guard, light, 0.2, 64);
    // Both cosines over the squared distance, over the visible part of the panel.
    let reference = |x: f64| {
        let (mut all, mut free) = (0.0, 0.0);
        for i in 0..400 {
            let u = (f64::from(i) + 0.5) / 400.0 * wide - wide / 2.0;
            for j in 0..40 {
                let v = (f64::from(j) + 0.5) / 40.0 * long - long / 2.0;
                let d2 = (u - x).powi(2) + v * v + HEIGHT * HEIGHT;
                let weight = HEIGHT * HEIGHT / (d2 * d2);
                all += weight;
                free += if x + (u - x) * EDGE / HEIGHT > 0.0 { weight } else { 0.0 };
            }
        }
        free / all
    };
    let errors: Vec<f64> = profile.iter().map(|&(x, v)| v - reference(x)).collect();
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    let rms = (errors.iter().map(|e| e * e).sum::<f64>() / errors.len() as f64).sqrt();
    println!(
        "ramp: mean error {mean:+.5}, root mean square {rms:.5} over {} columns of ten pixels",
        errors.len()
    );
    assert!(profile.iter().any(|(_, v)| *v == 0.0) && profile.iter().any(|(_, v)| *v > 0.998));
    assert!(mean.abs() < 1e-3 && rms < 5e-3);
}

/// Functions that add a light at a position, facing another.
type AddLight = Box<dyn Fn(&mut SceneBuilder, DVec3, DVec3)>;

fn lamps() -> Vec<AddLight> {
    let nits = LightStrength::Nits(Nit(3000.0));
    let shape = move |emitter: Emitter| -> AddLight {
        Box::new(move |b, at, target| {
            _ = b.light("lamp", emitter, nits, Vec3::ONE, look_at_transform(at, target))
        })
    };
    vec![
        Box::new(|b, at, _| _ = b.point_light_candela("lamp", Candela(500.0), Vec3::ONE, at)),
        shape(Emitter::Sphere { radius: 0.2 }),
        shape(Emitter::Rectangle { width: 0.6, height: 0.4, sides: Sides::Two }),
        shape(Emitter::Disk { radius: 0.3, sides: Sides::Two }),
        shape(Emitter::Tube { radius: 0.03, length: 0.8 }),
    ]
}

#[test]
fn closed_boxes_do_not_leak() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut checked = 0;
    for lamp in lamps() {
        for (turn, inside) in [(0.0, false), (0.37, false), (0.0, true), (0.37, true)] {
            let mut builder = SceneBuilder::new("box");
            let matte = builder.add_material(diffuse_material());
            let pose = DQuat::from_rotation_y(turn) * DQuat::from_rotation_x(turn * 0.5);
            builder.place(shapes::cuboid(Vec3::new(3.0, 2.5, 4.0)), matte, DMat4::from_quat(pose));
            builder.place(shapes::plane(Vec2::splat(20.0), 1, 1), matte, DVec3::Y * -3.0);
            let (in_there, out_there) = (DVec3::new(0.4, 0.3, -0.5), DVec3::new(2.5, 3.0, 2.8));
            lamp(&mut builder, if inside { in_there } else { out_there }, DVec3::ZERO);
            let scene = builder.build().unwrap();
            let (eye, target) = if inside {
                (DVec3::new(4.0, 2.0, 5.0), DVec3::new(0.0, -1.0, 0.0))
            } else {
                (DVec3::new(-1.0, 0.5, 1.2), DVec3::new(0.3, -0.4, -0.6))
            };
            let view = perspective(eye, target, 1.5, 0.01, (128, 80));
            let seen = visibility(&mut renderer, &scene, &view, 8, 50.0);
            let lit = seen.iter().flatten().filter(|v| **v != 0.0).count();
            checked += seen.iter().flatten().count();
            assert_eq!(lit, 0, "turned {turn}, lamp inside: {inside}");
            // Exposed for brighter light, a light gets few rays, perhaps one.
            let dim =
                RenderSettings { exposure: exposure_for(50.0, 0.02), ..settings(true, 8, 50.0) };
            let dim = picture(&mut renderer, &scene, &view, &dim);
            let at = |i: usize| aov3(&dim, Aov::DirectDiffuse, i % 128, i / 128).y;
            let lit = seen.iter().enumerate().filter(|(i, v)| v.is_some() && at(*i) != 0.0).count();
            assert_eq!(lit, 0, "few rays, turned {turn}, lamp inside: {inside}");
        }
    }
    assert!(checked > 20_000, "{checked}");
    println!("{checked} pixels that would be lit are exactly dark");
}

#[test]
fn plane_does_not_shadow_itself_to_the_horizon() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // One plane of two triangles, from the camera's feet to two kilometers, under a low sun.
    for (size, low) in [(4000.0f32, 0.05), (4000.0, 1.0), (4.0, 0.02)] {
        let mut builder = SceneBuilder::new("plain");
        let turn = DQuat::from_rotation_y(0.4);
        builder.place(
            shapes::plane(Vec2::splat(size), 1, 1),
            diffuse_material(),
            DMat4::from_quat(turn),
        );
        builder.sun("sun", Lux(100.0 / low), Vec3::ONE, DVec3::new(1.0, -low, 0.3));
        let scene = builder.build().unwrap();
        for eye in [0.02, 1.7, 30.0] {
            let view = perspective(
                DVec3::new(0.0, eye, 0.0),
                DVec3::new(0.3, eye * 0.8, -1.0),
                1.0,
                0.01,
                (160, 100),
            );
            let seen = visibility(&mut renderer, &scene, &view, 1, 16.0);
            let shaded = seen.iter().flatten().filter(|v| **v < 0.99).count();
            let asked = seen.iter().flatten().count();
            println!("plain of {size} m, sun {low}, eye at {eye} m: {shaded} of {asked} shaded");
            assert!(asked > 100 && shaded == 0);
        }
    }
}

#[test]
fn smooth_balls_have_no_faceted_terminator() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("ball");
    let matte = builder.add_material(diffuse_material());
    let ball = builder.add_mesh("ball", shapes::uv_sphere(0.5, 24, 12), matte);
    builder.instance("ball", ball, DMat4::IDENTITY);
    builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, DVec3::new(2.0, 1.0, 0.5));
    let scene = builder.build().unwrap();
    let view = perspective(DVec3::new(0.3, 0.4, 2.0), DVec3::ZERO, 0.6, 0.01, (200, 200));
    let seen = visibility(&mut renderer, &scene, &view, 1, 5.0);
    let (asked, shaded) =
        (seen.iter().flatten().count(), seen.iter().flatten().filter(|v| **v < 0.99).count());
    println!("{shaded} of {asked} pixels of a ball of 24 by 12 facets shade themselves");
    assert!(asked > 3000 && shaded * 200 < asked);
}

#[test]
fn lights_without_shadows_match_disabled_shadows() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut scene = boxes(DVec3::ZERO, |b| {
        b.point_light_candela("lamp", Candela(300.0), Vec3::ONE, LAMP);
        b.sun("sun", Lux(30.0), Vec3::ONE, DVec3::new(0.3, -1.0, 0.1));
    });
    let view = over(DVec3::ZERO);
    let off = picture(&mut renderer, &scene, &view, &settings(false, 1, 20.0));
    let on = picture(&mut renderer, &scene, &view, &settings(true, 1, 20.0));
    let again = picture(&mut renderer, &scene, &view, &settings(true, 1, 20.0));
    assert_eq!(on.nits, again.nits);
    assert_ne!(on.nits, off.nits);
    for light in &mut scene.lights {
        light.shadow = false;
    }
    // Two pipelines: without shadows the shadow code is absent from one of them, and compilers
    // contract the arithmetic around it differently.
    let unshadowed = picture(&mut renderer, &scene, &view, &settings(true, 1, 20.0));
    let steps = half_steps(&unshadowed, &off);
    assert!(steps < 1.01, "{steps} steps of half floats");
    // Off: the pass reads no BVH, whatever else is requested.
    let shadows = settings(false, 1, 20.0).shadows;
    assert!(renderer.upload_for(&scene, &shadows).unwrap().bvh.is_none());
    // Rays without a BVH are an error, not a picture without shadows.
    let bare = renderer.upload(&scene).unwrap();
    let error = renderer.render(&bare, &view, &settings(true, 1, 20.0)).unwrap_err();
    assert!(
        matches!(&error, GpuError::Pipeline { pipeline, .. } if pipeline == "traced shadows"),
        "{error:?}"
    );
}
