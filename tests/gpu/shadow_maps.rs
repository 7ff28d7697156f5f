//! Shadow maps against boxes whose shadows are known in closed form.

use crate::common::{Place, exposed, gpu, hit_plane, nits, perspective, picture, renderer};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    frame::{RenderSettings, RenderedImage, Renderer, ShadowSettings},
    gpu_scene::View,
    photometry::{Candela, Lux, units::Lumen},
    scene::{
        Material, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        look::ShadowMethod,
        procedural::shapes,
    },
};

const BOX: f64 = 0.4;
const CENTER: DVec3 = DVec3::new(0.2, 0.9, -0.1);

/// A box that floats over a plane.
fn boxed(offset: DVec3, light: impl FnOnce(&mut SceneBuilder)) -> Scene {
    let mut builder = SceneBuilder::new("box");
    let matte = builder.add_material(dielectric("matte", Vec3::splat(0.5), 1.0));
    builder.place(shapes::plane(Vec2::splat(20.0), 1, 1), matte, offset);
    builder.place(shapes::cuboid(Vec3::splat(BOX as f32)), matte, offset + CENTER);
    light(&mut builder);
    builder.build().unwrap()
}

/// True if the ray from a point hits the box enlarged by `more` on each side.
fn meets(from: DVec3, direction: DVec3, longest: f64, more: f64) -> bool {
    let half = DVec3::splat(BOX / 2.0 + more);
    let (mut near, mut far) = (0.0, longest);
    for axis in 0..3 {
        let (a, b) = (
            (CENTER[axis] - half[axis] - from[axis]) / direction[axis],
            (CENTER[axis] + half[axis] - from[axis]) / direction[axis],
        );
        near = f64::max(near, a.min(b));
        far = f64::min(far, a.max(b));
    }
    near < far
}

fn settings(enabled: bool) -> RenderSettings {
    let shadows =
        ShadowSettings { enabled, method: ShadowMethod::Maps, ..ShadowSettings::default() };
    RenderSettings { shadows, ..exposed(60.0, 0.5) }
}

/// Compares each pixel of the plane with the closed form; within `edge` (m) of the shadow's edge
/// any value may occur. Returns the number of pixels in shadow, in light and at the edge.
fn compare(
    scene: &Scene,
    view: &View,
    offset: DVec3,
    edge: f64,
    way: impl Fn(DVec3) -> (DVec3, f64),
) -> [usize; 3] {
    let Some(guard) = gpu() else { return [9999, 9999, 0] };
    let mut renderer = guard.renderer();
    let with = picture(&mut renderer, scene, view, &settings(true));
    let without = picture(&mut renderer, scene, view, &settings(false));
    let mut counts = [0; 3];
    let mut wrong = Vec::new();
    for y in 0..view.height as usize {
        for x in 0..view.width as usize {
            let point = hit_plane(view, x, y, offset, DVec3::Y) - offset;
            let eye = view.position - offset;
            let to_eye = eye - point;
            // Pixels that show the box itself.
            if meets(point, to_eye, 1.0, 0.02)
                || !point.is_finite()
                || point.length() > 9.0
                || to_eye.y < 0.0
            {
                continue;
            }
            let lit = nits(&without, x, y).y;
            if lit <= 0.0 {
                continue;
            }
            let got = nits(&with, x, y).y / lit;
            let (direction, longest) = way(point);
            let (inside, outside) =
                (meets(point, direction, longest, -edge), !meets(point, direction, longest, edge));
            if !inside && !outside {
                counts[2] += 1;
            } else {
                counts[usize::from(outside)] += 1;
                if (got - if outside { 1.0 } else { 0.0 }).abs() > 2e-3 {
                    wrong.push((x, y, point, got, outside));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong of {counts:?}, e.g. {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(5)]
    );
    counts
}

fn eye(offset: DVec3) -> View {
    perspective(
        offset + DVec3::new(1.5, 3.0, 3.5),
        offset + DVec3::new(0.0, 0.0, 0.2),
        0.9,
        0.05,
        (160, 100),
    )
}

#[test]
fn point_light_shadow_matches_closed_form() {
    for offset in [DVec3::ZERO, DVec3::new(12_000.0, 3.0, -7000.0)] {
        let lamp = DVec3::new(-0.6, 2.2, 0.5);
        let scene = boxed(offset, |builder| {
            builder.point_light_candela("lamp", Candela(900.0), Vec3::ONE, offset + lamp);
        });
        let counts = compare(&scene, &eye(offset), offset, 0.006, |p| {
            ((lamp - p).normalize(), (lamp - p).length())
        });
        assert!(counts[0] > 200 && counts[1] > 5000 && counts[2] < counts[0], "{counts:?}");
    }
}

#[test]
fn spot_shadow_matches_closed_form() {
    let lamp = DVec3::new(1.2, 2.6, 0.5);
    for half_angle in [0.5, 0.9] {
        let scene = boxed(DVec3::ZERO, |builder| {
            let pose = look_at_transform(lamp, CENTER);
            builder.spot_light_lumens(
                "lamp",
                Lumen(3000.0),
                Vec3::ONE,
                (half_angle * 0.8, half_angle),
                pose,
            );
        });
        let way = |p: DVec3| ((lamp - p).normalize(), (lamp - p).length());
        let counts = compare(&scene, &eye(DVec3::ZERO), DVec3::ZERO, 0.02, way);
        assert!(counts[0] > 100 && counts[1] > 400, "{counts:?}");
    }
}

#[test]
fn sun_shadow_matches_closed_form() {
    for offset in [DVec3::ZERO, DVec3::new(-40_000.0, 80.0, 9000.0)] {
        for direction in [DVec3::new(0.4, -1.0, -0.3), DVec3::new(-1.0, -0.35, 0.2), -DVec3::Y] {
            let direction = direction.normalize();
            let scene = boxed(offset, |builder| {
                builder.sun("sun", Lux(500.0), Vec3::ONE, direction);
            });
            let counts = compare(&scene, &eye(offset), offset, 0.012, |_| (-direction, 1e9));
            assert!(counts[0] > 30 && counts[1] > 5000, "{counts:?}");
        }
    }
}

#[test]
fn shadow_touches_the_box() {
    // A box on the ground: its shadow must touch it, without light leaking under it.
    let Some((_guard, mut renderer)) = renderer() else { return };
    let lamp = DVec3::new(-2.0, 1.5, 0.0);
    let mut builder = SceneBuilder::new("contact");
    let matte = builder.add_material(dielectric("matte", Vec3::splat(0.5), 1.0));
    builder.floor(20.0, matte);
    builder.place(shapes::cuboid(Vec3::ONE), matte, DVec3::Y * 0.5);
    builder.point_light_candela("lamp", Candela(900.0), Vec3::ONE, lamp);
    let scene = builder.build().unwrap();
    // Looking along Z at the foot of the far side, x = 0.5.
    let view =
        perspective(DVec3::new(1.2, 0.5, 0.0), DVec3::new(0.52, 0.0, 0.0), 0.1, 0.01, (64, 64));
    let with = picture(&mut renderer, &scene, &view, &settings(true));
    let mut dark = 0;
    for y in 0..64 {
        for x in 0..64 {
            let point = hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
            if point.x > 0.5 && point.x < 1.2 && nits(&with, x, y).y > 0.0 {
                panic!("light at {point} under the box: {}", nits(&with, x, y));
            }
            dark += usize::from(point.x > 0.5);
        }
    }
    assert!(dark > 1000, "{dark}");
}

/// Luminance of each pixel without shadows, with traced shadows and with maps.
fn three_ways(renderer: &mut Renderer, scene: &Scene, view: &View) -> [Vec<f64>; 3] {
    [(false, ShadowMethod::Maps), (true, ShadowMethod::Traced), (true, ShadowMethod::Maps)].map(
        |(enabled, method)| {
            let shadows = ShadowSettings { enabled, method, ..ShadowSettings::default() };
            let picture =
                picture(renderer, scene, view, &RenderSettings { shadows, ..settings(true) });
            let pixels = (0..view.height as usize)
                .flat_map(|y| (0..view.width as usize).map(move |x| (x, y)));
            pixels.map(|(x, y)| nits(&picture, x, y).y).collect()
        },
    )
}

/// Pixels whose neighborhood of half size `side` all satisfies a predicate.
fn around(view: &View, side: usize, holds: impl Fn(usize) -> bool) -> Vec<usize> {
    let (across, down) = (view.width as usize, view.height as usize);
    let middles = (side..down - side).flat_map(|y| (side..across - side).map(move |x| (x, y)));
    let all = |&(x, y): &(usize, usize)| {
        (y - side..=y + side).all(|y| (x - side..=x + side).all(|x| holds(y * across + x)))
    };
    middles.filter(all).map(|(x, y)| y * across + x).collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// A curled, infinitely thin sheet of paper on a table, as in the still life, under a wide spot
/// that grazes much of it. Its inside must be as dark as with traced rays, and lit parts must not
/// have acne.
#[test]
fn curled_sheet_does_not_leak() {
    let mut builder = SceneBuilder::new("curl");
    let paper = Material { double_sided: true, ..dielectric("paper", Vec3::splat(0.6), 0.9) };
    let paper = builder.add_material(paper);
    let curl = shapes::sheet(48, 4, |u, v| {
        let (angle, radius) = (4.6 * u, 0.042 + 0.028 * u);
        Vec3::new(radius * angle.sin(), 0.13 * (1.0 - v), radius * angle.cos())
    });
    builder.place(curl, paper, DMat4::from_rotation_y(100f64.to_radians()));
    builder.floor(2.0, paper);
    let lamp = look_at_transform(DVec3::new(1.37, 0.7, 1.57), DVec3::new(0.07, 0.07, 0.22));
    builder.spot_light_lumens("lamp", Lumen(1300.0), Vec3::ONE, (0.7, 1.08), lamp);
    let scene = builder.build().unwrap();
    let view =
        perspective(DVec3::new(0.0, 0.45, 1.5), DVec3::new(0.0, 0.06, 0.0), 0.16, 0.05, (192, 128));
    let Some(guard) = gpu() else { return };
    let [open, rays, maps] = three_ways(&mut guard.renderer(), &scene, &view);
    let dark = around(&view, 1, |i| open[i] > 0.5 && rays[i] < 1e-3 * open[i]);
    let lit = around(&view, 6, |i| open[i] > 0.5 && rays[i] > 0.999 * open[i]);
    let leak = mean(dark.iter().map(|&i| maps[i] / open[i]));
    let lost = mean(lit.iter().map(|&i| 1.0 - maps[i] / open[i]));
    let counts = (dark.len(), lit.len());
    println!("in shadow: {leak:.4} of the light; in light: {lost:.5} lost; pixels: {counts:?}");
    assert!(counts.0 > 500 && counts.1 > 500, "{counts:?}");
    assert!(leak < 0.05, "{leak}");
    assert!(lost < 1e-3, "{lost}");
}

/// A sun, a point or a spot by number, at `from` towards the center; the spot's flux and cone
/// angles (rad).
fn add_light(
    builder: &mut SceneBuilder,
    kind: usize,
    from: DVec3,
    (flux, cone): (Lumen, (f64, f64)),
) {
    match kind {
        0 => builder.sun("lamp", Lux(3000.0), Vec3::ONE, -from.normalize()),
        1 => builder.point_light_candela("lamp", Candela(9000.0), Vec3::ONE, from),
        _ => builder.spot_light_lumens(
            "lamp",
            flux,
            Vec3::ONE,
            cone,
            look_at_transform(from, DVec3::ZERO),
        ),
    };
}

/// A plane does not shadow itself at any grazing angle.
#[test]
fn tilted_planes_do_not_shade_themselves() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for kind in 0..3 {
        for degrees in [30.0, 60.0, 80.0, 86.0, 89.0f64] {
            let mut builder = SceneBuilder::new("tilt");
            let turn = DMat4::from_rotation_y(0.3) * DMat4::from_rotation_z(0.4);
            builder.place(
                shapes::plane(Vec2::splat(4.0), 1, 1),
                dielectric("matte", Vec3::splat(0.5), 1.0),
                turn,
            );
            let way = turn.transform_vector3(DVec3::new(
                degrees.to_radians().sin(),
                degrees.to_radians().cos(),
                0.0,
            ));
            add_light(&mut builder, kind, way * 3.0, (Lumen(20_000.0), (0.9, 1.1)));
            let scene = builder.build().unwrap();
            let above = turn.transform_vector3(DVec3::new(0.6, 2.0, 1.4));
            let view = perspective(above, DVec3::ZERO, 0.9, 0.05, (96, 64));
            let [with, without] = [true, false]
                .map(|enabled| picture(&mut renderer, &scene, &view, &settings(enabled)));
            let mut counts = [0; 2];
            for (x, y) in (0..64).flat_map(|y| (0..96).map(move |x| (x, y))) {
                let (got, lit) = (nits(&with, x, y).y, nits(&without, x, y).y);
                counts[0] += usize::from(lit > 0.0);
                counts[1] += usize::from(got < 0.998 * lit);
            }
            assert!(
                counts[0] > 2500 && counts[1] == 0,
                "lamp {kind} at {degrees} degrees: {counts:?}"
            );
        }
    }
}

/// A ball and the inside of a bowl, both faceted: parts lit by traced rays have no acne, up to the
/// terminator.
#[test]
fn round_surfaces_do_not_shade_themselves() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (name, hollow) in [("ball", false), ("bowl", true)] {
        for kind in 0..3 {
            let mut builder = SceneBuilder::new(name);
            let matte =
                Material { double_sided: true, ..dielectric("matte", Vec3::splat(0.5), 1.0) };
            let matte = builder.add_material(matte);
            let ball = shapes::sheet(48, 24, |u, v| {
                let (a, b) = (
                    std::f32::consts::TAU * u,
                    std::f32::consts::PI * if hollow { 0.5 * v } else { v },
                );
                let y = if hollow { -b.cos() } else { b.cos() };
                Vec3::new(b.sin() * a.cos(), y, b.sin() * a.sin()) * 0.3
            });
            builder.place(ball, matte, DMat4::IDENTITY);
            let way = DVec3::new(0.9, 0.8, 0.4).normalize();
            add_light(&mut builder, kind, way * 2.0, (Lumen(9000.0), (0.7, 0.9)));
            let scene = builder.build().unwrap();
            let view = perspective(DVec3::new(0.3, 1.4, 1.2), DVec3::ZERO, 0.42, 0.05, (96, 72));
            let [open, rays, maps] = three_ways(&mut renderer, &scene, &view);
            let brightest = open.iter().fold(0.0, |a: f64, b| a.max(*b));
            let lit = around(&view, 2, |i| open[i] > 0.02 * brightest && rays[i] > 0.999 * open[i]);
            let lost: Vec<f64> = lit.iter().map(|&i| (open[i] - maps[i]) / brightest).collect();
            let worst = lost.iter().fold(0.0, |a: f64, b| a.max(*b));
            let all = mean(lost.iter().copied());
            println!(
                "{name}, lamp {kind}: {} pixels lose {all:.6} of the brightest, at most {worst:.4}",
                lit.len()
            );
            assert!(lit.len() > 600, "{name} {kind}: {}", lit.len());
            assert!(all < 1e-3, "{name} {kind}: {all}");
        }
    }
}

#[test]
fn cached_maps_equal_redrawn_maps() {
    let Some(guard) = gpu() else { return };
    let scene = boxed(DVec3::ZERO, |builder| {
        builder.sun("sun", Lux(300.0), Vec3::ONE, DVec3::new(0.4, -1.0, -0.3));
        builder.point_light_candela("lamp", Candela(900.0), Vec3::ONE, DVec3::new(-0.6, 2.2, 0.5));
    });
    let views = [0.0, 0.02, 0.5, 6.0].map(|step| {
        perspective(
            DVec3::new(1.5 + step, 3.0, 3.5),
            DVec3::new(step, 0.0, 0.2),
            0.9,
            0.05,
            (96, 64),
        )
    });
    let mut renderer = guard.renderer();
    let uploaded = renderer.upload(&scene).unwrap();
    let other = renderer.upload(&boxed(DVec3::X, |_| {})).unwrap();
    for (index, step) in [0, 0, 1, 2, 3, 0, 2, 2, 1].into_iter().enumerate() {
        if index == 5 {
            renderer.render(&other, &views[step], &settings(true)).unwrap();
        }
        let kept = renderer.render(&uploaded, &views[step], &settings(true)).unwrap();
        let mut fresh = guard.renderer();
        let fresh = picture(&mut fresh, &scene, &views[step], &settings(true));
        assert_eq!(kept.nits, fresh.nits, "step {index}");
    }
}

/// In motion, lamps keep their maps, and cascades stay for small moves.
#[test]
fn maps_kept_in_motion_equal_redrawn_maps() {
    let Some(guard) = gpu() else { return };
    let lamps = |builder: &mut SceneBuilder| {
        for (x, z) in [(-0.8, 0.5), (0.9, 0.9), (0.1, -1.4)] {
            let at = DVec3::new(x, 2.2, z);
            builder.point_light_candela("lamp", Candela(400.0), Vec3::ONE, at);
        }
    };
    let sun = |builder: &mut SceneBuilder| {
        builder.sun("sun", Lux(300.0), Vec3::ONE, DVec3::new(0.4, -1.0, -0.3));
    };
    // An orbit by 38 degrees, which brings another lamp closest to the camera.
    let views: Vec<View> = (0..12)
        .map(|step| {
            let (sin, cos) = (f64::from(step - 8) * 0.06).sin_cos();
            perspective(DVec3::new(4.0 * sin, 2.6, 4.0 * cos), DVec3::Y * 0.4, 0.9, 0.05, (96, 64))
        })
        .collect();
    let moving = RenderSettings { shadow_maps_in_motion: true, ..settings(true) };
    let draws = |picture: &RenderedImage| {
        u32::from(picture.times.iter().any(|pass| pass.name == "shadow maps"))
    };
    for (name, scene) in [("lamps", boxed(DVec3::ZERO, lamps)), ("sun", boxed(DVec3::ZERO, sun))] {
        let [mut renderer, mut follows] = [(); 2].map(|()| guard.renderer());
        let uploaded = renderer.upload(&scene).unwrap();
        let (mut drawn, mut of_still) = (0, 0);
        for (index, view) in views.iter().enumerate() {
            let kept = renderer.render(&uploaded, view, &moving).unwrap();
            let plain = follows.render(&uploaded, view, &settings(true)).unwrap();
            // Of the first frame, clustered lights may need another one, which keeps its maps.
            if index > 0 {
                drawn += draws(&kept);
                of_still += draws(&plain);
            }
            let fresh = picture(&mut guard.renderer(), &scene, view, &moving);
            // Places in the atlas differ, and with them the rounding of texel positions.
            let off = |(a, b): (&[f32; 3], &[f32; 3])| (a[1] - b[1]).abs() / b[1].max(1.0);
            let most = kept.nits.iter().zip(&fresh.nits).map(off).fold(0.0, f32::max);
            assert!(most < 2e-3, "{name} {index}: {most}");
            // Cascades with a margin have larger texels, so that only shadow edges differ.
            let pairs = kept.nits.iter().zip(&plain.nits);
            let differ = pairs.filter(|pair| off(*pair) > 0.02).count();
            assert!(differ * 50 < kept.nits.len(), "{name} {index}: {differ} pixels");
        }
        println!("{name}: {drawn} frames of {} draw maps, {of_still} without", views.len() - 1);
        if name == "lamps" {
            assert!(drawn == 0 && of_still > 0, "{drawn} and {of_still}");
        }
    }
}

/// Beside the straight edge of a shadow that runs away from the camera, along the texels' grid.
/// Each cascade has its own level there, and they blend without a step.
#[test]
fn no_step_is_seen_between_cascades() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view =
        perspective(DVec3::new(0.0, 12.0, 6.0), DVec3::new(0.0, 0.0, -22.0), 0.8, 0.05, (9, 400));
    let mut jumps = 0;
    for edge in [0.05, 0.1] {
        let mut builder = SceneBuilder::new("edge");
        let matte = builder.add_material(dielectric("matte", Vec3::splat(0.5), 1.0));
        let plane = builder.add_mesh("plane", shapes::plane(Vec2::splat(200.0), 1, 1), matte);
        builder.instance("plane", plane, DMat4::IDENTITY);
        builder.place(
            shapes::cuboid(Vec3::new(4.0, 0.2, 180.0)),
            matte,
            DVec3::new(2.0 + edge, 1.0, 0.0),
        );
        builder.sun("sun", Lux(500.0), Vec3::ONE, DVec3::NEG_Y);
        let scene = builder.build().unwrap();
        let lit = |enabled: bool, renderer: &mut Renderer| {
            let plain = settings(enabled);
            let shadows = ShadowSettings { resolution: 256, ..plain.shadows };
            picture(renderer, &scene, &view, &RenderSettings { shadows, ..plain })
        };
        let (with, without) = (lit(true, &mut renderer), lit(false, &mut renderer));
        // The middle column is the plane at x = 0, out to 80 m.
        let levels: Vec<f64> = (0..400)
            .filter(|&y| (-80.0..0.0).contains(&hit_plane(&view, 4, y, DVec3::ZERO, DVec3::Y).z))
            .map(|y| nits(&with, 4, y).y / nits(&without, 4, y).y)
            .collect();
        let greatest = levels.iter().fold(0.0, |a, b| f64::max(a, *b));
        let least = levels.iter().fold(1.0, |a, b| f64::min(a, *b));
        let step = levels.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f64::max);
        println!(
            "{edge} m: {} rows, from {least:.3} to {greatest:.3}, greatest step {step:.3}",
            levels.len()
        );
        // Three transitions between four cascades: without blending, one of them has at least a
        // third of the range.
        if greatest - least > 0.2 {
            jumps += 1;
            assert!(step < (greatest - least) / 4.0, "{edge}: {step} of {}", greatest - least);
        }
    }
    assert_eq!(jumps, 2);
}
