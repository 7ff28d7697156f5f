//! The whole frame: its outputs against closed-form geometry, and its invariants.

use crate::common::{
    Brdf, NORMAL, Place, aov, aov3, exposed, exposure_for, hit_plane, nits, parallel, perspective,
    picture, pixel_of, pixel_ray, relative, renderer, unshadowed,
};
use glam::{DAffine3, DMat3, DMat4, DVec3, EulerRot, Vec2, Vec3, Vec4};
use sunny16::{
    camera::Exposure,
    frame::{Aov, ClusteredLightSettings, Readback, RenderSettings, RenderedImage},
    gpu_scene::View,
    passes::gbuffer_channel::GbufferChannel,
    photometry::{Candela, Lux, units::Lumen},
    scene::{
        AlphaMode, Material, Primitive, Sampler, Scene, TextureRef,
        build::{MaterialId, SceneBuilder, dielectric, metal},
        procedural::{self, shapes},
    },
};

const DEPTH: Aov = Aov::Channel(GbufferChannel::Depth);
const POSITION: Aov = Aov::Channel(GbufferChannel::Position);

fn all_aovs() -> Vec<Aov> {
    Aov::ALL.map(|(_, aov)| aov).to_vec()
}

fn with(aovs: &[Aov]) -> RenderSettings {
    RenderSettings { aovs: aovs.to_vec(), ..RenderSettings::default() }
}

/// Many kinds of surfaces and lights in one small scene.
fn mixed(offset: DVec3) -> Scene {
    let mut builder = SceneBuilder::new("mixed");
    let floor = builder.add_material(dielectric("floor", Vec3::new(0.4, 0.3, 0.2), 0.8));
    let gold = builder.add_material(metal("gold", Vec3::new(1.0, 0.71, 0.31), 0.3));
    let glow = Material {
        emission: Vec3::new(300.0, 80.0, 20.0),
        ..dielectric("glow", Vec3::ONE * 0.1, 0.5)
    };
    let glow = builder.add_material(glow);
    let glass = Material {
        alpha: AlphaMode::Blend,
        base_color: Vec4::new(0.2, 0.5, 0.9, 0.4),
        ..dielectric("glass", Vec3::ONE, 0.2)
    };
    let glass = builder.add_material(glass);
    let plane = builder.add_mesh("floor", shapes::plane(Vec2::splat(12.0), 4, 4), floor);
    let sphere = |builder: &mut SceneBuilder, material: MaterialId| {
        builder.add_mesh("sphere", shapes::icosphere(0.5, 3), material)
    };
    let (golden, glowing) = (sphere(&mut builder, gold), sphere(&mut builder, glow));
    let pane = builder.add_mesh("pane", shapes::cuboid(Vec3::new(1.5, 1.0, 0.05)), glass);
    let at = |x: f64, y: f64, z: f64| DMat4::from_translation(offset + DVec3::new(x, y, z));
    builder.instance("floor", plane, at(0.0, 0.0, 0.0));
    builder.instance("gold", golden, at(-0.8, 0.5, 0.0));
    builder.instance("glow", glowing, at(0.9, 0.5, -0.6));
    builder.instance("pane", pane, at(0.0, 0.6, 1.0));
    builder.point_light_lumens(
        "bulb",
        Lumen(800.0),
        Vec3::new(1.1, 1.0, 0.7),
        offset + DVec3::new(1.0, 2.0, 1.0),
    );
    builder.point_light_lumens(
        "low",
        Lumen(200.0),
        Vec3::new(0.6, 1.0, 1.5),
        offset + DVec3::new(-1.6, 0.4, 0.9),
    );
    let pose =
        sunny16::scene::build::look_at_transform(offset + DVec3::new(-2.0, 2.5, 0.0), offset);
    builder.spot_light_lumens("spot", Lumen(600.0), Vec3::ONE, (0.2, 0.5), pose);
    builder.sun("moon", Lux(20.0), Vec3::ONE, DVec3::new(0.3, -1.0, -0.2));
    builder.build().unwrap()
}

fn mixed_view(offset: DVec3, size: (u32, u32)) -> View {
    perspective(
        offset + DVec3::new(0.3, 1.6, 3.5),
        offset + DVec3::new(0.0, 0.4, 0.0),
        0.8,
        0.01,
        size,
    )
}

fn indoor() -> RenderSettings {
    exposed(150.0, 0.7)
}

/// Every bit of a picture.
fn bits(picture: &RenderedImage) -> Vec<u32> {
    let mut all: Vec<u32> = picture.display.iter().map(|&byte| u32::from(byte)).collect();
    all.extend(picture.nits.iter().flatten().map(|value| value.to_bits()));
    all.extend(
        picture
            .aovs
            .iter()
            .flat_map(|(_, pixels)| pixels.iter().flatten().map(|value| value.to_bits())),
    );
    all
}

#[test]
fn frames_are_deterministic() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = renderer.upload(&mixed(DVec3::ZERO)).unwrap();
    let view = mixed_view(DVec3::ZERO, (160, 90));
    let settings = RenderSettings { aovs: all_aovs(), ..indoor() };
    let first = renderer.render(&scene, &view, &settings).unwrap();
    for _ in 0..3 {
        let again = renderer.render(&scene, &view, &settings).unwrap();
        assert!(bits(&first) == bits(&again));
    }
    // Requesting AOVs changes only the last bit of half floats.
    let alone = renderer.render(&scene, &view, &indoor()).unwrap();
    let difference =
        first.display.iter().zip(&alone.display).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
    assert!(difference <= 1, "{difference}");
    assert!(
        first.display.iter().collect::<std::collections::BTreeSet<_>>().len() > 100,
        "the picture shows nothing"
    );
}

#[test]
fn two_frames_in_flight_give_the_same_bytes() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = renderer.upload(&mixed(DVec3::ZERO)).unwrap();
    let (here, there) = (mixed_view(DVec3::ZERO, (128, 72)), {
        perspective(DVec3::new(-2.0, 1.0, 2.0), DVec3::ZERO, 0.9, 0.01, (96, 80))
    });
    let aovs = RenderSettings { aovs: all_aovs(), ..indoor() };
    let one = renderer.render(&scene, &here, &indoor()).unwrap();
    let two = renderer.render(&scene, &there, &aovs).unwrap();
    for _ in 0..3 {
        let first = renderer.submit(&scene, &here, &indoor(), Readback::ALL).unwrap();
        let second = renderer.submit(&scene, &there, &aovs, Readback::ALL).unwrap();
        assert!(bits(&renderer.collect(first).unwrap()) == bits(&one));
        assert!(bits(&renderer.collect(second).unwrap()) == bits(&two));
    }
}

#[test]
fn light_aovs_add_up() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = mixed_view(DVec3::ZERO, (160, 90));
    let settings = RenderSettings {
        aovs: vec![Aov::DirectDiffuse, Aov::DirectSpecular, Aov::Emission],
        ..indoor()
    };
    let picture = picture(&mut renderer, &mixed(DVec3::ZERO), &view, &settings);
    let step = 1.0 / settings.exposure.multiplier();
    let mut worst = 0f64;
    for y in 0..90 {
        for x in 0..160 {
            let sum = aov3(&picture, Aov::DirectDiffuse, x, y)
                + aov3(&picture, Aov::DirectSpecular, x, y)
                + aov3(&picture, Aov::Emission, x, y);
            let light = nits(&picture, x, y);
            for channel in 0..3 {
                // Each of the four is rounded (2^-10 of its value), and again where the pane is
                // blended over it.
                let bound =
                    4.0 * f64::powi(2.0, -10) * light[channel].max(sum[channel]) + 4e-7 * step;
                worst = worst.max((sum[channel] - light[channel]).abs() / bound);
            }
        }
    }
    println!("parts: {worst:.3} of the rounding bound");
    assert!(worst < 1.0, "{worst} of the rounding bound");
}

#[test]
fn depth_and_position_match_the_plane() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let mut worst = 0f64;
    for scale in [0.1, 1.0, 100.0, 10_000.0] {
        let mut builder = SceneBuilder::new("plane");
        builder.floor(40.0 * scale as f32, dielectric("gray", Vec3::splat(0.18), 1.0));
        let scene = builder.build().unwrap();
        let eye = DVec3::new(0.2, 1.0, 0.4) * scale;
        for view in [
            perspective(eye, DVec3::new(0.0, 0.0, -0.6) * scale, 0.8, 0.01, (64, 40)),
            parallel(
                eye,
                DVec3::new(0.0, 0.0, -0.6) * scale,
                scale as f32,
                10.0 * scale as f32,
                (64, 40),
            ),
            parallel(DVec3::Y * scale, DVec3::ZERO, scale as f32, 10.0 * scale as f32, (64, 40)),
        ] {
            let picture = picture(&mut renderer, &scene, &view, &with(&[DEPTH, POSITION]));
            let depth_of = |point: DVec3| (point - view.position).dot(view.forward.as_dvec3());
            for (x, y) in [(0, 0), (63, 0), (32, 20), (5, 39), (60, 33)] {
                let point = hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
                let depth = depth_of(point);
                // The rasterizer may move vertices by half a step of its grid along each axis, and
                // the visible surface moves by as many pixels. A whole step covers both axes and
                // the obliquity of `POSITION`.
                let next = if y > 20 { y - 1 } else { y + 1 };
                let slope = (depth_of(hit_plane(&view, x, next, DVec3::ZERO, DVec3::Y)) / depth
                    - 1.0)
                    .abs();
                let allowed = 5e-6 + guard.snap() * slope;
                let [got, .., there] = aov(&picture, DEPTH, x, y);
                assert_eq!(there, 1.0);
                let off = (f64::from(got) / depth - 1.0).abs();
                worst = worst
                    .max(off.max(aov3(&picture, POSITION, x, y).distance(point) / depth) / allowed);
            }
        }
    }
    println!("depth: {worst:.2} of what the rasterizer's grid allows");
    assert!(worst < 1.0, "{worst} of what the rasterizer's grid allows");
}

/// Maximum angle between the normals of a transformed ball and of the ellipsoid with these
/// semi-axes.
fn normal_error(turn: DMat3, semi_axes: DVec3, name: &str) {
    let Some((guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("ball");
    let center = DVec3::new(0.3, -0.2, 0.5);
    builder.place(
        shapes::icosphere(1.0, 5),
        dielectric("gray", Vec3::splat(0.18), 1.0),
        DMat4::from_translation(center) * DMat4::from_mat3(turn),
    );
    let scene = builder.build().unwrap();
    let eye = center + DVec3::new(1.0, 2.0, 5.0);
    let view = perspective(eye, center, 0.7, 0.01, (96, 96));
    let picture = picture(&mut renderer, &scene, &view, &with(&[NORMAL, POSITION, DEPTH]));
    let inverse = turn.inverse();
    let (mut worst, mut seen) = (0f64, 0);
    for y in 0..96 {
        for x in 0..96 {
            if aov(&picture, NORMAL, x, y)[3] == 0.0 {
                continue;
            }
            seen += 1;
            let n = aov3(&picture, NORMAL, x, y);
            let local = inverse * (aov3(&picture, POSITION, x, y) - center);
            // The front of the ball, not its inside: the nearer intersection of the ray.
            let (from, along) = pixel_ray(&view, x, y);
            let (o, d) = (inverse * (from - center), inverse * along);
            let (a, b, c) = (d.length_squared(), o.dot(d), o.length_squared() - 1.0);
            if b * b - a * c > 0.03 * a {
                let near = (-b - (b * b - a * c).sqrt()) / a;
                let far = (-b + (b * b - a * c).sqrt()) / a;
                let depth =
                    f64::from(aov(&picture, DEPTH, x, y)[0]) / along.dot(view.forward.as_dvec3());
                assert!(
                    (depth - near).abs() < 0.1 * (far - near),
                    "{name}: {depth} between {near} and {far}"
                );
            }
            // Normals of the faceted ball are interpolated like its positions: both point in the
            // same direction.
            let want = (inverse.transpose() * local.normalize()).normalize();
            worst = worst.max(n.angle_between(want));
            assert!(
                n.dot((view.position - aov3(&picture, POSITION, x, y)).normalize()) > -0.1,
                "{name}: inside out"
            );
        }
    }
    // Quantization of normals, plus vertices half a step of the rasterizer's grid off along both
    // axes: that shift turns the normal by this over the minimum radius of curvature.
    let pixel = 2.0 * (0.7f64 / 2.0).tan() / 96.0 * eye.distance(center);
    let axes = semi_axes.abs();
    let allowed = 1e-4 + guard.snap() * pixel * axes.max_element() / axes.min_element().powi(2);
    println!("{name}: normals within {worst:.2e} rad over {seen} pixels, {allowed:.2e} allowed");
    assert!(seen > 500, "{name}: {seen} pixels");
    assert!(worst < allowed, "{name}: {worst} rad of {allowed}");
}

#[test]
fn normals_of_a_ball() {
    normal_error(DMat3::IDENTITY, DVec3::ONE, "ball");
}

#[test]
fn normals_of_a_stretched_and_turned_ball() {
    let turn = DMat3::from_euler(EulerRot::YXZ, 0.4, 0.9, -0.3);
    let [flat, tall] = [DVec3::new(1.5, 0.6, 0.9), DVec3::new(0.5, 1.4, 0.8)];
    normal_error(DMat3::from_diagonal(flat) * turn, flat, "sheared");
    normal_error(turn * DMat3::from_diagonal(tall), tall, "stretched");
}

#[test]
fn mirrored_balls_are_not_inside_out() {
    normal_error(DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0)), DVec3::ONE, "mirrored");
    let turn = DMat3::from_euler(EulerRot::YXZ, 0.4, 0.9, -0.3);
    let thrice = DVec3::new(-0.7, -1.3, -0.9);
    normal_error(turn * DMat3::from_diagonal(thrice), thrice, "mirrored three times");
}

/// A wall of quads, one per material, seen perpendicularly: each quad is one meter wide.
fn wall(materials: &[Material]) -> Scene {
    let mut builder = SceneBuilder::new("wall");
    for (index, material) in materials.iter().enumerate() {
        builder.place(
            shapes::plane(Vec2::ONE, 1, 1),
            material.clone(),
            DVec3::X * (index as f64 + 0.5),
        );
    }
    builder.build().unwrap()
}

/// A view down on a `wall` of `count` quads, four pixels each.
fn wall_view(count: usize) -> View {
    let middle = DVec3::X * count as f64 * 0.5;
    parallel(middle + DVec3::Y * 5.0, middle, 0.5, 10.0, (count as u32 * 4, 4))
}

#[test]
fn gbuffer_surfaces_are_accurate_to_half_a_step() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let count = 64;
    let materials: Vec<Material> = (0..count)
        .map(|index| {
            let x = index as f32 / (count - 1) as f32;
            let base = Vec3::new(
                x,
                (1.0 - x) * (1.0 - x),
                (0.18 * (index as f32 * 0.77).fract()).min(1.0),
            );
            Material {
                metallic: 1.0 - x,
                ..dielectric("surface", base, (index as f32 * 0.37).fract())
            }
        })
        .collect();
    let channels = [
        GbufferChannel::BaseColor,
        GbufferChannel::Metallic,
        GbufferChannel::Roughness,
        GbufferChannel::Occlusion,
    ]
    .map(Aov::Channel);
    let picture = picture(&mut renderer, &wall(&materials), &wall_view(count), &with(&channels));
    let mut worst = 0f64;
    for (index, material) in materials.iter().enumerate() {
        let (x, y) = (index * 4 + 2, 2);
        let at = |channel: GbufferChannel| aov3(&picture, Aov::Channel(channel), x, y);
        let base = at(GbufferChannel::BaseColor);
        for channel in 0..3 {
            let asked = f64::from(material.base_color[channel]);
            let steps = (base[channel].sqrt() - asked.sqrt()).abs() * 4095.0;
            worst = worst.max(steps);
        }
        worst = worst
            .max((at(GbufferChannel::Metallic).x - f64::from(material.metallic)).abs() * 255.0);
        worst = worst
            .max((at(GbufferChannel::Roughness).x - f64::from(material.roughness)).abs() * 4095.0);
        assert_eq!(at(GbufferChannel::Occlusion).x, 1.0);
        assert!(
            relative(base + 1e-6, Brdf::of(material).base + 1e-6) < 1e-5,
            "another code than expected"
        );
    }
    println!("surface: {worst:.4} of a step");
    assert!(worst < 0.501, "{worst} of a step");
}

/// A texture rendered one texel per pixel, over triangles of two pixels. Each pixel shows its texel
/// at full resolution, also at triangle edges, with any coordinates and transform.
#[test]
fn textures_are_sharp_at_triangle_edges() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let texel =
        |x: usize, y: usize| if (x * 7 + y * 13 + x * y).is_multiple_of(3) { 255u8 } else { 0 };
    let rgba8 = (0..64 * 64)
        .flat_map(|i| [texel(i % 64, i / 64), 255 - texel(i % 64, i / 64), 128, 255])
        .collect();
    for (name, uv_set, transform) in [
        ("plain", 0, TextureRef::IDENTITY),
        ("second coordinates", 1, TextureRef::IDENTITY),
        ("scaled", 2, [[0.25, 0.0, -0.25], [0.0, 0.25, 0.5]]),
        ("turned", 3, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    ] {
        for mask in [false, true] {
            let mut builder = SceneBuilder::new("sharp");
            let texels = procedural::textures::TextureImage {
                width: 64,
                height: 64,
                rgba8: Vec::clone(&rgba8),
            };
            let texture = builder.add_texture("texels", texels, Sampler::default());
            let reference = TextureRef {
                uv_set: u8::from(uv_set == 1),
                transform,
                ..SceneBuilder::texture_ref(texture)
            };
            let alpha = if mask { AlphaMode::Mask { cutoff: 0.5 } } else { AlphaMode::Opaque };
            let white = dielectric("texels", Vec3::ONE, 1.0);
            let material = Material { base_color_texture: Some(reference), alpha, ..white };
            let material = builder.add_material(material);
            let mut part = shapes::plane(Vec2::splat(2.0), 32, 32);
            match uv_set {
                1 => {
                    part.uv1 = std::mem::replace(
                        &mut part.uv0,
                        vec![Vec2::splat(0.3); part.positions.len()],
                    )
                }
                2 => part
                    .uv0
                    .iter_mut()
                    .for_each(|uv| *uv = Vec2::new(uv.x * 4.0 + 1.0, uv.y * 4.0 - 2.0)),
                3 => part.uv0.iter_mut().for_each(|uv| *uv = Vec2::new(uv.y, uv.x)),
                _ => {}
            }
            builder.place(part, material, DMat4::IDENTITY);
            let view = parallel(DVec3::Y * 5.0, DVec3::ZERO, 1.0, 10.0, (64, 64));
            let base = Aov::Channel(GbufferChannel::BaseColor);
            let picture = picture(&mut renderer, &builder.build().unwrap(), &view, &with(&[base]));
            for (x, y) in (0..64 * 64).map(|i| (i % 64, i / 64)) {
                let [r, g, _, there] = aov(&picture, base, x, y);
                let want = f32::from(texel(x, y)) / 255.0;
                assert_eq!(there, 1.0, "{name}, mask {mask}: nothing at {x} {y}");
                assert!(
                    (r - want).abs() < 0.02 && (g - 1.0 + want).abs() < 0.02,
                    "{name}, mask {mask}, {x} {y}: {r} {g}"
                );
            }
        }
    }
}

fn gradient_quad() -> Primitive {
    let mut quad = shapes::plane(Vec2::splat(2.0), 1, 1);
    quad.colors =
        quad.positions.iter().map(|p| Vec4::new(1.0, 1.0, 1.0, p.x * 0.5 + 0.5)).collect();
    quad
}

#[test]
fn an_alpha_mask_cuts_at_its_cutoff() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for cutoff in [0.0, 0.25, 0.5, 0.8, 1.5] {
        let mut builder = SceneBuilder::new("mask");
        let base = dielectric("mask", Vec3::ONE, 1.0);
        builder.place(
            gradient_quad(),
            Material { alpha: AlphaMode::Mask { cutoff }, ..base },
            DMat4::IDENTITY,
        );
        let view = parallel(DVec3::Y * 5.0, DVec3::ZERO, 1.0, 10.0, (100, 100));
        let picture = picture(&mut renderer, &builder.build().unwrap(), &view, &with(&[DEPTH]));
        for x in 0..100 {
            // Opacity equals the pixel's position.
            let opacity = (x as f32 + 0.5) / 100.0;
            if (opacity - cutoff).abs() > 1e-4 {
                let there = aov(&picture, DEPTH, x, 50)[3] == 1.0;
                assert_eq!(there, opacity > cutoff, "cutoff {cutoff}, opacity {opacity}");
            }
        }
    }
}

/// A quad of an emissive material, centered at `height` over the origin.
fn emissive_material(builder: &mut SceneBuilder, nits: f32, opacity: Option<f32>, height: f64) {
    let material = Material {
        // A black dielectric; these scenes have no lights.
        base_color: Vec4::new(0.0, 0.0, 0.0, opacity.unwrap_or(1.0)),
        emission: Vec3::new(nits, nits * 0.5, nits * 0.25),
        alpha: if opacity.is_some() { AlphaMode::Blend } else { AlphaMode::Opaque },
        ..Material::default()
    };
    builder.place(shapes::plane(Vec2::splat(4.0), 1, 1), material, DVec3::Y * height);
}

#[test]
fn blending_is_back_to_front_over() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = RenderSettings { aovs: vec![Aov::Emission], ..exposed(300.0, 0.5) };
    let view = perspective(DVec3::Y * 5.0, DVec3::ZERO, 0.2, 0.01, (32, 32));
    let mut worst = 0f64;
    // (nits, opacity, height): declared in any order.
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
        let layers = [
            (300.0, None, 0.0),
            (100.0, Some(0.5), 0.4),
            (50.0, Some(0.25), 0.8),
            (1000.0, Some(0.5), -0.5),
        ];
        let mut builder = SceneBuilder::new("layers");
        for index in order {
            let (nits, opacity, height) = layers[index];
            emissive_material(&mut builder, nits, opacity, height);
        }
        let picture = picture(&mut renderer, &builder.build().unwrap(), &view, &settings);
        // The one below the opaque quad is hidden by it.
        let under = 0.5 * 100.0 + 0.5 * 300.0;
        let want = (0.25 * 50.0 + 0.75 * under) * DVec3::new(1.0, 0.5, 0.25);
        for (x, y) in [(16, 16), (1, 1), (30, 12)] {
            worst = worst.max(relative(nits(&picture, x, y), want));
            worst = worst.max(relative(aov3(&picture, Aov::Emission, x, y), want));
        }
    }
    println!("over: {:.4} %", worst * 100.0);
    assert!(worst < 2e-3, "{} %", worst * 100.0);
}

#[test]
fn back_faces_are_visible_if_double_sided() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (double_sided, above) in [(false, true), (false, false), (true, true), (true, false)] {
        let mut builder = SceneBuilder::new("sheet");
        let material = Material { double_sided, ..dielectric("sheet", Vec3::splat(0.5), 1.0) };
        builder.floor(4.0, material);
        // One light below: it lights the back.
        builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, DVec3::new(0.2, -2.0, 0.0));
        let side = if above { 1.0 } else { -1.0 };
        let view = perspective(DVec3::new(0.0, side * 3.0, 0.5), DVec3::ZERO, 0.4, 0.01, (32, 32));
        let settings = RenderSettings { exposure: exposure_for(4.0, 0.5), ..with(&[NORMAL]) };
        let picture = picture(&mut renderer, &builder.build().unwrap(), &view, &settings);
        let [x, y, z, there] = aov(&picture, NORMAL, 16, 16);
        assert_eq!(
            there == 1.0,
            double_sided || above,
            "double sided {double_sided}, from above {above}"
        );
        if there == 1.0 {
            assert!(Vec3::new(x, y, z).distance(Vec3::Y * side as f32) < 1e-4);
            let lit = nits(&picture, 16, 16).y;
            let point = hit_plane(&view, 16, 16, DVec3::ZERO, DVec3::Y);
            let to = DVec3::new(0.2, -2.0, 0.0) - point;
            let v = (view.position - point).normalize();
            let want = Brdf::diffuse(0.5).total(DVec3::Y * side, to.normalize(), v).y * 100.0
                / to.length_squared();
            assert!((lit - want).abs() <= 2e-3 * want, "{lit} for {want}");
        }
    }
}

#[test]
fn culled_objects_are_not_in_the_picture() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("many");
    let mut whole = SceneBuilder::new("one");
    let gray = dielectric("gray", Vec3::splat(0.4), 0.6);
    let (a, b) = (builder.add_material(gray.clone()), whole.add_material(gray));
    let ball = shapes::icosphere(0.3, 2);
    let mesh = builder.add_mesh("ball", ball.clone(), a);
    let mut all = Primitive::default();
    for index in 0..400 {
        let turn = f64::from(index) * 2.399_963;
        let at = DVec3::new(
            turn.cos() * (1.0 + f64::from(index % 23) * 0.4),
            f64::from(index % 11) - 5.0,
            turn.sin() * 6.0,
        );
        let stretch = DVec3::new(1.0 + f64::from(index % 3), 1.0, 1.0 + f64::from(index % 5));
        let place =
            DMat4::from_translation(at) * DMat4::from_rotation_y(turn) * DMat4::from_scale(stretch);
        builder.instance("ball", mesh, place);
        shapes::append(&mut all, &ball, &DAffine3::from_mat4(place));
    }
    // One mesh around the camera is never culled.
    whole.place(all, b, DMat4::IDENTITY);
    for builder in [&mut builder, &mut whole] {
        builder.sun("sun", Lux(100_000.0), Vec3::ONE, DVec3::new(0.3, -1.0, -0.2));
    }
    let (many, one) = (builder.build().unwrap(), whole.build().unwrap());
    let mut left_out = 0;
    for (eye, target) in [
        (DVec3::ZERO, DVec3::X),
        (DVec3::new(0.0, 0.0, 2.0), DVec3::new(-1.0, 0.3, 0.0)),
        (DVec3::new(3.0, 1.0, 0.0), DVec3::new(3.0, -5.0, 0.1)),
    ] {
        for view in [
            perspective(eye, target, 0.9, 0.05, (128, 96)),
            parallel(eye, target, 2.0, 20.0, (128, 96)),
        ] {
            let by_instance = picture(&mut renderer, &many, &view, &with(&[DEPTH]));
            let at_once = picture(&mut renderer, &one, &view, &with(&[DEPTH]));
            left_out += by_instance.draw_stats.frustum_culled;
            assert_eq!(
                by_instance.draw_stats.instances + by_instance.draw_stats.frustum_culled,
                400
            );
            assert_eq!(at_once.draw_stats.frustum_culled, 0);
            // A silhouette's pixel may change sides by rounding of the transform; a missing ball
            // may not occur.
            let pixels = by_instance.aovs[0].1.iter().zip(&at_once.aovs[0].1);
            let count =
                pixels.filter(|(a, b)| a[3] != b[3] || (a[0] - b[0]).abs() > 1e-3 * b[0]).count();
            let shown = at_once.aovs[0].1.iter().filter(|pixel| pixel[3] == 1.0).count();
            assert!(count <= 12, "{count} pixels differ");
            assert!(shown > 1000, "{shown} pixels show anything");
        }
    }
    assert!(left_out > 600, "only {left_out} instances were left out");
}

#[test]
fn picture_is_the_same_ten_kilometers_from_the_origin() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // A sun's cascades are aligned to the world: far away their texels differ
    // (tests/gpu/shadow_maps.rs covers that).
    let shadows = unshadowed();
    let settings = RenderSettings { shadows, ..indoor() };
    let here =
        picture(&mut renderer, &mixed(DVec3::ZERO), &mixed_view(DVec3::ZERO, (160, 90)), &settings);
    for away in [DVec3::new(10_000.0, 300.0, -7_000.0), DVec3::new(-1e6, 0.0, 4e5)] {
        let there = picture(&mut renderer, &mixed(away), &mixed_view(away, (160, 90)), &settings);
        let max =
            here.display.iter().zip(&there.display).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        println!("{away}: {max} of 255");
        assert!(max <= 1, "{away}: {max} of 255");
    }
}

#[test]
fn pictures_are_finite() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("extremes");
    let mirror = builder.add_material(metal("mirror", Vec3::ONE, 0.0));
    let floor = builder.add_mesh("floor", shapes::plane(Vec2::splat(20.0), 1, 1), mirror);
    builder.instance("floor", floor, DMat4::IDENTITY);
    for (nits, at) in [(1e9, DVec3::new(-1.0, 0.5, 0.0)), (1e-3, DVec3::new(1.0, 0.5, 0.0))] {
        let glow = Material { emission: Vec3::splat(nits), ..dielectric("glow", Vec3::ZERO, 1.0) };
        builder.place(shapes::icosphere(0.4, 3), glow, at);
    }
    // A flattened ball: its transform is singular.
    let squashed = DMat4::from_translation(DVec3::new(0.0, 1.0, -1.0))
        * DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0));
    builder.place(shapes::icosphere(0.5, 2), dielectric("black", Vec3::ZERO, 0.0), squashed);
    let view =
        perspective(DVec3::new(0.0, 1.0, 4.0), DVec3::new(0.0, 0.5, 0.0), 0.8, 0.01, (160, 90));
    // Lights on the floor, one exactly where a pixel's ray hits it; one inside of a ball; one at
    // the camera.
    builder.point_light_candela(
        "on a pixel",
        Candela(1e6),
        Vec3::ONE,
        hit_plane(&view, 80, 70, DVec3::ZERO, DVec3::Y),
    );
    builder.point_light_candela("on the floor", Candela(1e6), Vec3::ONE, DVec3::new(0.5, 0.0, 1.0));
    builder.point_light_candela("in a ball", Candela(1e4), Vec3::ONE, DVec3::new(1.0, 0.5, 0.0));
    builder.point_light_candela("on the camera", Candela(1e4), Vec3::ONE, view.position);
    let down = sunny16::scene::build::look_at_transform(DVec3::new(0.0, 3.0, 0.0), DVec3::ZERO);
    builder.spot_light_lumens("needle", Lumen(1e5), Vec3::ONE, (0.0, 1e-3), down);
    builder.sun("along the floor", Lux(1e5), Vec3::ONE, DVec3::X);
    builder.sun("dark", Lux(0.0), Vec3::ZERO, DVec3::NEG_Y);
    let scene = builder.build().unwrap();
    for (white, by_lists) in [(1e-3, true), (30_000.0, true), (1e9, true), (30_000.0, false)] {
        let light_lists =
            ClusteredLightSettings { enabled: by_lists, ..ClusteredLightSettings::default() };
        let settings = RenderSettings {
            exposure: exposure_for(white, 1.0),
            clustered_lights: light_lists,
            ..with(&all_aovs())
        };
        let picture = picture(&mut renderer, &scene, &view, &settings);
        assert!(
            picture.nits.iter().flatten().all(|value| value.is_finite() && *value >= 0.0),
            "white at {white} nit"
        );
        for (aov, pixels) in &picture.aovs {
            assert!(
                pixels.iter().flatten().all(|value| value.is_finite()),
                "{aov:?}, white at {white} nit"
            );
        }
        let bright = pixel_of(&view, DVec3::new(-1.0, 0.5, 0.0)).unwrap();
        let dim = pixel_of(&view, DVec3::new(1.0, 0.5, 0.0)).unwrap();
        if white == 1e9 {
            assert!(
                relative(aov3(&picture, Aov::Emission, bright.0, bright.1), DVec3::splat(1e9))
                    < 1e-3
            );
        } else {
            let max = f64::min(65504.0 * white, 1e9);
            assert!(
                relative(nits(&picture, bright.0, bright.1), DVec3::splat(max)) < 2e-3,
                "white at {white} nit"
            );
        }
        if white == 1e-3 {
            assert!(
                relative(aov3(&picture, Aov::Emission, dim.0, dim.1), DVec3::splat(1e-3)) < 1e-3
            );
        }
    }
}

fn lists(enabled: bool, exposure: Exposure) -> RenderSettings {
    RenderSettings {
        exposure,
        clustered_lights: ClusteredLightSettings { enabled, ..ClusteredLightSettings::default() },
        ..RenderSettings::default()
    }
}

/// The displayed value before rounding to bytes, in 255ths.
fn display(settings: &RenderSettings, nits: [f32; 3]) -> Vec3 {
    let exposed = Vec3::from_array(nits) * settings.exposure.multiplier() as f32;
    let mapped = settings.tone_mapper.apply(exposed);
    let encode =
        |c: f32| if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
    Vec3::new(encode(mapped.x), encode(mapped.y), encode(mapped.z)) * 255.0
}

#[test]
fn clustered_lights_change_no_pixel_by_an_eight_bit_step() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // Few lights are tested side by side, more are found by traversal.
    for (lamps, size, whites) in [
        (60, (160, 90), vec![100.0, 1000.0]),
        (200, (160, 90), vec![500.0, 1000.0, 4000.0]),
        (10_000, (80, 45), vec![3686.0]),
    ] {
        let scene = procedural::hall(lamps, 50_000).unwrap();
        let placed = scene.walk();
        let camera = placed.iter().find(|placed| placed.node.camera.is_some()).unwrap();
        let projection = scene.cameras[camera.node.camera.unwrap()].projection;
        let view = View::new(camera.world, &projection, size.0, size.1);
        let on_device = renderer.upload(&scene).unwrap();
        for white in whites {
            let settings = lists(true, exposure_for(white, 1.0));
            let all = renderer
                .render(&on_device, &view, &lists(false, exposure_for(white, 1.0)))
                .unwrap();
            let listed = renderer.render(&on_device, &view, &settings).unwrap();
            assert_eq!(
                all.clustered_light_stats.evaluated,
                u64::from(all.clustered_light_stats.clusters) * lamps as u64
            );
            assert_eq!(listed.clustered_light_stats.overflowed, 0);
            let (mut linear, mut shown) = (0f64, 0f32);
            for (&a, &b) in all.nits.iter().zip(&listed.nits) {
                for (a, b) in a.iter().zip(b) {
                    // Half floats round values around 1 by 2^-11 already.
                    linear = linear.max((f64::from(a - b).abs() - f64::from(*a) / 1024.0) / white);
                }
                shown =
                    shown.max((display(&settings, a) - display(&settings, b)).abs().max_element());
            }
            println!(
                "{lamps} lamps, white {white} nit: {shown:.3} of 255, {linear:.6} of white, {:?}",
                listed.clustered_light_stats
            );
            assert!(
                linear <= f64::from(settings.clustered_lights.cull_threshold),
                "{linear} of white"
            );
            assert!(shown < 1.0, "{shown} of 255");
            assert!(
                listed.clustered_light_stats.max_culled_contribution > 0.0
                    && listed.clustered_light_stats.max_culled_contribution
                        <= settings.clustered_lights.cull_threshold
            );
            assert!(
                listed.clustered_light_stats.evaluated < all.clustered_light_stats.evaluated / 2,
                "nothing was left out"
            );
        }
    }
}

/// Lists longer than the first frame's capacity of 288 entries per tile, different in each tile.
/// Tiles over capacity evaluate all lights; the next frame has room for all lists.
#[test]
fn overflowing_light_clusters_lose_no_light() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("crowd");
    builder.floor(30.0, dielectric("gray", Vec3::splat(0.5), 0.8));
    for lamp in 0..1600 {
        let place =
            DVec3::new(f64::from(lamp % 40) * 0.5 - 9.75, 2.0, f64::from(lamp / 40) * 0.5 - 9.75);
        builder.point_light_candela("lamp", Candela(1.0), Vec3::ONE, place);
    }
    let mut scene = builder.build().unwrap();
    scene.lights.iter_mut().for_each(|light| light.range = Some(6.0));
    let on_device = renderer.upload(&scene).unwrap();
    let view = perspective(DVec3::new(0.0, 3.0, 9.0), DVec3::ZERO, 0.7, 0.01, (96, 64));
    let exposure = exposure_for(10.0, 1.0);
    let all = renderer.render(&on_device, &view, &lists(false, exposure)).unwrap();
    let mut settings = lists(true, exposure);
    settings.clustered_lights.cull_threshold = 1e-7;
    let mut frame = || {
        let pending = renderer.submit(&on_device, &view, &settings, Readback::ALL).unwrap();
        renderer.collect(pending).unwrap()
    };
    let (first, second) = (frame(), frame());
    println!("{:?}\n{:?}", first.clustered_light_stats, second.clustered_light_stats);
    assert!(
        0 < first.clustered_light_stats.overflowed
            && first.clustered_light_stats.overflowed < first.clustered_light_stats.clusters
    );
    assert_eq!(second.clustered_light_stats.overflowed, 0);
    assert!(
        second.clustered_light_stats.evaluated <= second.clustered_light_stats.required_capacity
    );
    assert!(
        second.clustered_light_stats.evaluated
            < u64::from(second.clustered_light_stats.clusters) * 1600,
        "every cluster lists every light"
    );
    for picture in [&first, &second] {
        for (want, got) in all.nits.iter().flatten().zip(picture.nits.iter().flatten()) {
            assert!((want - got).abs() <= 2e-3 * want, "{got} for {want}");
        }
    }
}

/// One light far from a small, brightly lit spot: lists must not drop or merge it anywhere.
#[test]
fn a_single_bright_light_survives_light_culling() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (distance, value) in
        [(5.0, 0.95), (8.0, 0.95), (8.0, 8.0), (50.0, 0.95), (50.0, 100.0), (3.0, 0.1)]
    {
        let mut builder = SceneBuilder::new("lone");
        builder.floor(30.0, dielectric("gray", Vec3::splat(0.5), 1.0));
        builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, DVec3::Y * distance);
        let scene = builder.build().unwrap();
        let view = perspective(DVec3::new(0.1, 2.0, 0.0), DVec3::ZERO, 0.3, 0.01, (48, 32));
        let exposure =
            exposure_for(0.5 * 100.0 / (distance * distance) / std::f64::consts::PI, value);
        let all = picture(&mut renderer, &scene, &view, &lists(false, exposure));
        let listed = picture(&mut renderer, &scene, &view, &lists(true, exposure));
        let (want, got) = (nits(&all, 24, 16).y, nits(&listed, 24, 16).y);
        assert!(
            (got - want).abs() < 2e-3 * want,
            "{distance} m at {value} of white: {got} for {want}"
        );
    }
}

#[test]
fn parallel_projections_are_in_meters() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("card");
    let gray = builder.add_material(dielectric("gray", Vec3::splat(0.5), 1.0));
    let mesh = builder.add_mesh("card", shapes::plane(Vec2::new(1.0, 0.5), 1, 1), gray);
    builder.instance("near", mesh, DMat4::from_translation(DVec3::new(-1.0, 1.0, 0.0)));
    builder.instance("far", mesh, DMat4::from_translation(DVec3::new(1.0, -3.0, 0.0)));
    builder.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::NEG_Y);
    let view = parallel(DVec3::Y * 5.0, DVec3::ZERO, 1.0, 10.0, (160, 80));
    let settings = RenderSettings { exposure: exposure_for(160.0, 0.9), ..with(&[DEPTH]) };
    let picture = picture(&mut renderer, &builder.build().unwrap(), &view, &settings);
    // 40 pixels per meter: both are 40 by 20 pixels, at any distance.
    for (left, depth) in [(20, 4.0), (100, 8.0)] {
        for y in 0..80 {
            for x in if left == 20 { 0..80 } else { 80..160 } {
                let inside = (left..left + 40).contains(&x) && (30..50).contains(&y);
                let [got, .., there] = aov(&picture, DEPTH, x, y);
                assert_eq!(there == 1.0, inside, "{x} {y}");
                if inside {
                    assert!((f64::from(got) - depth).abs() < 1e-5);
                    // All rays come from above: the angle between view and sun is zero everywhere.
                    let want = Brdf::diffuse(0.5).total(DVec3::Y, DVec3::Y, DVec3::Y).y * 1000.0;
                    assert!((nits(&picture, x, y).y / want - 1.0).abs() < 1e-3);
                }
            }
        }
    }
}

#[test]
fn spots_wider_than_a_hemisphere_light_behind_themselves() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for outer in [125.0f64, 150.0, 175.0] {
        let mut builder = SceneBuilder::new("upward");
        builder.floor(20.0, dielectric("floor", Vec3::splat(0.5), 1.0));
        let lamp = DVec3::new(0.0, 1.5, 0.0);
        let pose = sunny16::scene::build::look_at_transform(lamp, lamp + DVec3::Y);
        let half_angles = (outer.to_radians() * 0.9, outer.to_radians());
        builder.spot_light_lumens("lamp", Lumen(2000.0), Vec3::ONE, half_angles, pose);
        let scene = builder.build().unwrap();
        let view = perspective(DVec3::new(0.0, 3.0, 6.0), DVec3::ZERO, 1.0, 0.05, (96, 64));
        let mean = |enabled: bool, renderer: &mut sunny16::frame::Renderer| {
            let light_lists =
                ClusteredLightSettings { enabled, ..ClusteredLightSettings::default() };
            let settings = RenderSettings { clustered_lights: light_lists, ..exposed(10.0, 0.5) };
            let picture = picture(renderer, &scene, &view, &settings);
            picture.nits.iter().map(|n| f64::from(n[1])).sum::<f64>() / picture.nits.len() as f64
        };
        let (listed, all) = (mean(true, &mut renderer), mean(false, &mut renderer));
        assert!(
            all > 0.1 && (listed / all - 1.0).abs() < 1e-3,
            "{outer} degrees: {listed} of {all}"
        );
    }
}
