//! Animation on the device: skinned and morphed vertices against the host's, and motion blur
//! against its closed form.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use crate::common::{Place, exposed, perspective, renderer};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    camera::{CameraEffects, body::Shutter, effects::MotionBlur},
    compare::flip,
    frame::{Aov, RenderSettings, RenderedImage, Renderer, ShadowSettings},
    gpu_scene::View,
    passes::gbuffer_channel::GbufferChannel,
    photometry::{
        Candela, Lumen,
        lights::{Emitter, LightStrength},
    },
    reference::{
        Film, FilmSettings, LensCamera, LightComponents, ShutterInterval, World,
        shutter::samples_after,
    },
    scene::{
        AlphaMode, Material, Mesh, Node, Primitive, Projection, Scene,
        animation::{
            Animation, AnimationChannel as Row, AnimationSelection, AnimationTarget, Deform,
            Influences, Interpolation, Keyframes, MaterialValue, MorphTarget, Skin, Trs,
            ValueTarget,
        },
        build::{SceneBuilder, dielectric},
        gltf,
        look::ShadowMethod,
        procedural::shapes,
    },
};

const SIZE: (u32, u32) = (320, 240);

/// The same pose twice: vertices deformed by the device, and a scene with vertices deformed by the
/// host.
fn both(renderer: &mut Renderer, scene: &Scene, time: f64, view: &View) -> [RenderedImage; 2] {
    let settings = RenderSettings {
        aovs: vec![Aov::Channel(GbufferChannel::Position), Aov::Channel(GbufferChannel::Normal)],
        ..exposed(100.0, 0.5)
    };
    let mut moved = renderer.upload(scene).unwrap();
    let mut posed = scene.clone();
    posed.apply(&scene.pose(&AnimationSelection::Auto, time));
    moved.follow(renderer.gpu(), &posed).unwrap();
    let on_device = renderer.render(&moved, view, &settings).unwrap();
    let mut baked = scene.at(&AnimationSelection::Auto, time);
    for primitive in baked.meshes.iter_mut().flat_map(|mesh| &mut mesh.primitives) {
        primitive.deform = None;
    }
    let uploaded = renderer.upload(&baked).unwrap();
    [on_device, renderer.render(&uploaded, view, &settings).unwrap()]
}

/// Number of pixels where both show a surface, and the maximum difference of two outputs there.
fn differences([a, b]: &[RenderedImage; 2], output: usize) -> (usize, usize, f32) {
    let (mut seen, mut edges, mut max) = (0, 0, 0.0f32);
    for (p, q) in a.aovs[output].1.iter().zip(&b.aovs[output].1) {
        if (p[3] > 0.0) != (q[3] > 0.0) {
            edges += 1;
        } else if p[3] > 0.0 {
            seen += 1;
            let far = (0..3).map(|i| (p[i] - q[i]).abs()).fold(0.0, f32::max);
            // At an edge, either surface may be visible.
            if far > 0.02 {
                edges += 1;
            } else {
                max = max.max(far);
            }
        }
    }
    (seen, edges, max)
}

#[test]
fn device_deformation_matches_host() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/gltf");
    for file in [
        "vulkan-assets/CesiumMan/glTF-Binary/CesiumMan.glb",
        "bevy/animated/Fox.glb",
        "bevy/SimpleSkin/SimpleSkin.gltf",
        "assimp/glTF2/AnimatedMorphCube/glTF/AnimatedMorphCube.gltf",
        "assimp/glTF2/MorphStressTest/glTF/MorphStressTest.gltf",
    ] {
        let path = folder.join(file);
        if !path.is_file() {
            println!("skipped: {file} is absent");
            continue;
        }
        let scene = gltf::load(&path).unwrap();
        assert!(scene.is_animated(), "{file}");
        for time in [0.0, 0.7] {
            let posed = scene.at(&AnimationSelection::Auto, time);
            let (low, high) = posed.bounds().unwrap();
            let (middle, size) = ((low + high) / 2.0, (high - low).length());
            let eye = middle + DVec3::new(0.4, 0.3, 1.0).normalize() * size * 1.3;
            let view = perspective(eye, middle, 0.8, (size * 0.05) as f32, SIZE);
            let pictures = both(&mut renderer, &scene, time, &view);
            let (seen, edges, place) = differences(&pictures, 0);
            let (_, _, normal) = differences(&pictures, 1);
            let place = f64::from(place) / size;
            println!(
                "{file} at {time} s: {seen} pixels, {edges} at edges, place {place:.1e} of the size, normal {normal:.1e}"
            );
            assert!(seen > 1000, "{file}: {seen}");
            assert!(edges * 50 < seen, "{file}: {edges} of {seen}");
            assert!(place < 1e-3 && normal < 0.02, "{file}: {place} {normal}");
        }
    }
}

/// A square of 5 m in the XY plane, with its right edge at x = 0.
fn square() -> Primitive {
    Primitive {
        positions: [(-5.0, -2.5), (0.0, -2.5), (0.0, 2.5), (-5.0, 2.5)]
            .map(|(x, y)| Vec3::new(x, y, 0.0))
            .into(),
        normals: vec![Vec3::Z; 4],
        indices: vec![0, 1, 2, 0, 2, 3],
        material: Some(0),
        ..Primitive::default()
    }
}

fn channel(target: AnimationTarget, width: usize, values: &[f32]) -> Vec<Animation> {
    let keys = Keyframes {
        interpolation: Interpolation::Linear,
        times: vec![0.0, 2.0],
        width,
        values: values.to_vec(),
    };
    vec![Animation {
        name: String::new(),
        duration: 2.0,
        channels: vec![Row { target, keys: Arc::new(keys) }],
        motion: None,
    }]
}

/// The scene, with a channel that changes a material of this name within 2 s.
fn changing(
    builder: SceneBuilder,
    material: &Material,
    value: MaterialValue,
    keys: &[f32],
) -> Scene {
    let mut scene = builder.build().unwrap();
    let number = scene.materials.iter().position(|of| of.name == material.name).unwrap();
    let target = AnimationTarget::Value(ValueTarget::Material(number, value));
    scene.animations = channel(target, keys.len() / 2, keys);
    scene
}

/// A lit ball before a wall, whose material a channel changes within 2 s.
fn changing_ball(material: &Material, value: MaterialValue, keys: &[f32]) -> Scene {
    let mut builder = SceneBuilder::new("ball");
    builder.place(shapes::uv_sphere(1.0, 32, 16), material.clone(), DVec3::ZERO);
    let turn = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let wall = dielectric("wall", Vec3::new(0.8, 0.4, 0.2), 0.6);
    let back = DMat4::from_translation(DVec3::new(0.0, 0.0, -2.0)) * turn;
    builder.place(shapes::plane(Vec2::splat(8.0), 1, 1), wall, back);
    for at in [DVec3::new(2.0, 2.0, 4.0), DVec3::new(0.5, 0.3, -1.6)] {
        builder.point_light_candela("lamp", Candela(500.0), Vec3::ONE, at);
    }
    changing(builder, material, value, keys)
}

#[test]
fn lobes_that_an_animation_turns_on_equal_those_of_a_new_upload() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = perspective(DVec3::new(0.4, 0.5, 4.0), DVec3::ZERO, 0.6, 0.1, (48, 36));
    let settings = exposed(100.0, 0.5);
    let plain = dielectric("ball", Vec3::new(0.3, 0.4, 0.6), 0.4);
    let metal = Material { metallic: 1.0, ..plain.clone() };
    for (material, value, keys) in [
        (&plain, MaterialValue::Clearcoat, &[0.0, 1.0][..]),
        (&plain, MaterialValue::SheenColor, &[0.0, 0.0, 0.0, 1.0, 0.5, 0.2]),
        (&metal, MaterialValue::Anisotropy, &[0.0, 0.9]),
        (&metal, MaterialValue::Iridescence, &[0.0, 1.0]),
        (&plain, MaterialValue::Transmission, &[0.0, 0.45]),
        (&plain, MaterialValue::Ior, &[1.5, 2.2]),
        (&plain, MaterialValue::Specular, &[1.0, 0.0]),
        (&plain, MaterialValue::DiffuseTransmission, &[0.0, 0.9]),
    ] {
        let scene = changing_ball(material, value, keys);
        let mut on_device = renderer.upload(&scene).unwrap();
        let first = renderer.render(&on_device, &view, &settings).unwrap();
        let mut posed = scene.clone();
        posed.apply(&scene.pose(&AnimationSelection::Auto, 2.0));
        on_device.follow(renderer.gpu(), &posed).unwrap();
        let last = renderer.render(&on_device, &view, &settings).unwrap();
        posed.animations.clear();
        let again = renderer.upload(&posed).unwrap();
        let want = renderer.render(&again, &view, &settings).unwrap();
        let worst = |a: &RenderedImage| {
            let pixels = a.nits.iter().flatten().zip(want.nits.iter().flatten());
            pixels.map(|(a, b)| (a - b).abs() / b.max(1.0)).fold(0.0f32, f32::max)
        };
        let (changed, off) = (worst(&first), worst(&last));
        println!("{value:?}: changed by {changed:.3}, off by {off:.1e}");
        assert!(changed > 0.02, "{value:?}: {changed}");
        assert!(off < 2e-3, "{value:?}: {off}");
    }
}

/// A sheet between two lamps and a wall; a channel changes the sheet's material within 2 s. A lamp
/// with a size casts ray-traced shadows, the other has a shadow map.
fn changing_shadow(sheet: &Material, value: MaterialValue, keys: &[f32]) -> Scene {
    let mut builder = SceneBuilder::new("sheet");
    let turn = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    let facing = |z: f64| DMat4::from_translation(DVec3::new(0.0, 0.0, z)) * turn;
    builder.place(shapes::plane(Vec2::splat(1.0), 1, 1), sheet.clone(), facing(0.0));
    let wall = dielectric("wall", Vec3::splat(0.5), 1.0);
    builder.place(shapes::plane(Vec2::splat(8.0), 1, 1), wall, facing(-1.0));
    builder.point_light_candela("lamp", Candela(50.0), Vec3::ONE, DVec3::new(-2.0, 0.5, 2.0));
    let at = DMat4::from_translation(DVec3::new(2.0, 0.5, 2.0));
    let globe = Emitter::Sphere { radius: 0.02 };
    builder.light("globe", globe, LightStrength::Lumens(Lumen(800.0)), Vec3::ONE, at);
    changing(builder, sheet, value, keys)
}

#[test]
fn shadows_follow_animated_masks_and_panes() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = perspective(DVec3::new(0.3, 1.5, 4.0), DVec3::ZERO, 0.9, 0.1, (64, 48));
    let sheet = dielectric("sheet", Vec3::splat(0.5), 1.0);
    let mask = Material { alpha: AlphaMode::Mask { cutoff: 0.5 }, ..sheet.clone() };
    let alpha = [0.5, 0.5, 0.5, 1.0, 0.5, 0.5, 0.5, 0.2];
    for (material, value, keys) in [
        (&mask, MaterialValue::BaseColor, &alpha[..]),
        (&mask, MaterialValue::AlphaCutoff, &[0.5, 1.5]),
        (&sheet, MaterialValue::Transmission, &[0.0, 0.9]),
        (&sheet, MaterialValue::Transmission, &[0.9, 0.0]),
    ] {
        for method in [ShadowMethod::Auto, ShadowMethod::Traced, ShadowMethod::Maps] {
            let shadows = ShadowSettings { method, ..ShadowSettings::default() };
            let settings = RenderSettings { shadows, ..exposed(100.0, 0.5) };
            let mut scene = changing_shadow(material, value, keys);
            let start = scene.pose(&AnimationSelection::Auto, 0.0);
            scene.apply(&start);
            let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
            let first = renderer.render(&on_device, &view, &settings).unwrap();
            let mut posed = scene.clone();
            posed.apply(&scene.pose(&AnimationSelection::Auto, 2.0));
            on_device.follow(renderer.gpu(), &posed).unwrap();
            let last = renderer.render(&on_device, &view, &settings).unwrap();
            // The next pose, without a change, and back to the first.
            on_device.follow(renderer.gpu(), &posed).unwrap();
            let same = renderer.render(&on_device, &view, &settings).unwrap();
            on_device.follow(renderer.gpu(), &scene).unwrap();
            let back = renderer.render(&on_device, &view, &settings).unwrap();
            posed.animations.clear();
            let again = renderer.upload_for(&posed, &settings.shadows).unwrap();
            let want = renderer.render(&again, &view, &settings).unwrap();
            let worst = |a: &RenderedImage, b: &RenderedImage| {
                let pixels = a.nits.iter().flatten().zip(b.nits.iter().flatten());
                pixels.map(|(a, b)| (a - b).abs() / b.max(1.0)).fold(0.0f32, f32::max)
            };
            let (changed, off) = (worst(&first, &want), worst(&last, &want));
            println!("{value:?}, {method:?}: changed by {changed:.3}, off by {off:.1e}");
            assert!(changed > 0.3, "{value:?}, {method:?}: {changed}");
            assert!(off < 2e-3, "{value:?}, {method:?}: {off}");
            assert_eq!(same.nits, last.nits, "{value:?}, {method:?}");
            assert_eq!(back.nits, first.nits, "{value:?}, {method:?}");
        }
    }
}

/// The square 5 m before the eye, moving to the right at a speed (m/s), at its rest position at 1
/// s: by its node, a morph target, or a joint.
fn movers(speed: f32) -> [(&'static str, Scene); 3] {
    let material = Material {
        emission: Vec3::splat(100.0),
        base_color: glam::Vec4::new(0.0, 0.0, 0.0, 1.0),
        ..Material::default()
    };
    let trs = Trs { translation: DVec3::new(0.0, 0.0, -5.0), ..Trs::default() };
    let scene = |primitive: Primitive, nodes: Vec<Node>| Scene {
        roots: (0..nodes.len()).collect(),
        nodes,
        meshes: vec![Mesh { name: String::new(), primitives: vec![primitive] }],
        materials: vec![material.clone()],
        ..Scene::default()
    };
    let node = Node { local: trs.matrix(), trs: Some(trs), mesh: Some(0), ..Node::default() };
    let along = [-speed, 0.0, -5.0, speed, 0.0, -5.0];

    let mut by_node = scene(square(), vec![node.clone()]);
    by_node.animations = channel(AnimationTarget::Translation(0), 3, &along);

    let deform =
        Deform { positions: square().positions, normals: square().normals, ..Deform::default() };
    let target = MorphTarget { positions: vec![Vec3::X; 4], ..MorphTarget::default() };
    let morphed = Deform { targets: vec![target], ..deform.clone() };
    let part = Primitive { deform: Some(Arc::new(morphed)), ..square() };
    let mut by_morph = scene(part, vec![Node { weights: vec![0.0], ..node.clone() }]);
    by_morph.animations = channel(AnimationTarget::Weights(0), 1, &[-speed, speed]);

    let influences =
        Influences { first: vec![0, 1, 2, 3, 4], joints: vec![0; 4], weights: vec![1.0; 4] };
    let skinned = Deform { influences: Some(influences), ..deform };
    let part = Primitive { deform: Some(Arc::new(skinned)), ..square() };
    let joint = Node { mesh: None, ..node };
    let mut by_joint =
        scene(part, vec![joint, Node { mesh: Some(0), skin: Some(0), ..Node::default() }]);
    by_joint.skins =
        vec![Skin { name: String::new(), joints: vec![0], inverse_bind: vec![DMat4::IDENTITY] }];
    by_joint.animations = channel(AnimationTarget::Translation(0), 3, &along);
    [("node", by_node), ("morph target", by_morph), ("joint", by_joint)]
}

/// Width of the right edge's ramp (pixels), and its center.
fn edge(row: &[[f32; 3]]) -> (f64, f64) {
    let at = |level: f32| {
        let x = row.iter().rposition(|c| c[1] >= level).unwrap();
        let (a, b) = (row[x][1], row[x + 1][1]);
        x as f64 + 0.5 + f64::from((a - level) / (a - b))
    };
    ((at(25.0) - at(75.0)) * 2.0, at(50.0))
}

#[test]
fn motion_blur_is_speed_times_shutter_time() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // 5 m high at 5 m: 48 pixels per meter.
    let view = perspective(DVec3::ZERO, DVec3::NEG_Z, 2.0 * 0.5f32.atan(), 0.1, SIZE);
    let shutter = 0.02;
    let blur = MotionBlur {
        exposure: shutter,
        shutter: Shutter::Global,
        velocity: DVec3::ZERO,
        rotation: DVec3::ZERO,
    };
    for speed in [5.0f32, 20.0] {
        for (what, scene) in movers(speed) {
            let mut on_device = renderer.upload(&scene).unwrap();
            let mut posed = scene.clone();
            let poses = [-0.5, 0.5].map(|end| {
                posed.apply(&scene.pose_at_offset(&AnimationSelection::Auto, 1.0, end * shutter));
                on_device.pose(&posed)
            });
            posed.apply(&scene.pose(&AnimationSelection::Auto, 1.0));
            on_device.follow(renderer.gpu(), &posed).unwrap();
            let settings = RenderSettings {
                effects: CameraEffects { motion_blur: Some(blur), ..CameraEffects::default() },
                shutter: Some(poses),
                ..exposed(100.0, 0.5)
            };
            let picture = renderer.render(&on_device, &view, &settings).unwrap();
            let (width, middle) = edge(&picture.nits[120 * 320..121 * 320]);
            let want = f64::from(speed) * shutter * 48.0;
            println!(
                "{what} at {speed} m/s: {want:.2} px, measured {width:.2}, middle {middle:.2}"
            );
            assert!(
                (width - want).abs() < 1.0 && (middle - 160.0).abs() < 0.6,
                "{what}: {width} {want} {middle}"
            );
            // Without a shutter time there is no motion blur.
            let still = RenderSettings { shutter: None, ..settings };
            let (width, _) = edge(
                &renderer.render(&on_device, &view, &still).unwrap().nits[120 * 320..121 * 320],
            );
            assert!(width <= 1.0, "{what}: {width}");
        }
    }
}

/// An emissive sphere of 0.5 m that slides before an emissive card, without reflections in either
/// renderer.
fn sphere_and_card(speed: f32) -> Scene {
    let glow = |nits: Vec3| Material {
        emission: nits,
        base_color: glam::Vec4::new(0.0, 0.0, 0.0, 1.0),
        ..Material::default()
    };
    let mut builder = SceneBuilder::new("sphere and card");
    let (far, near) = (
        builder.add_material(glow(Vec3::new(20.0, 25.0, 30.0))),
        builder.add_material(glow(Vec3::new(100.0, 60.0, 40.0))),
    );
    let card = Primitive {
        positions: [(-9.0, -6.0), (9.0, -6.0), (9.0, 6.0), (-9.0, 6.0)]
            .map(|(x, y)| Vec3::new(x, y, -8.0))
            .into(),
        ..square()
    };
    builder.place(card, far, DMat4::IDENTITY);
    let sphere = builder.add_mesh("sphere", shapes::icosphere(0.5, 4), near);
    let place = DMat4::from_translation(DVec3::new(0.0, 0.0, -5.0));
    let node = builder.instance("sphere", sphere, place).index();
    let mut scene = builder.build().unwrap();
    scene.animations =
        channel(AnimationTarget::Translation(node), 3, &[-speed, 0.0, -5.0, speed, 0.0, -5.0]);
    scene
}

#[test]
fn motion_blur_of_a_sphere_matches_path_tracer() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let (width, height) = (160usize, 120usize);
    let projection = Projection::Perspective {
        vertical_fov: 2.0 * 0.5f32.atan(),
        aspect: None,
        near: 0.1,
        far: None,
    };
    let view = View::new(DMat4::IDENTITY, &projection, width as u32, height as u32);
    // 24 pixels per meter at the sphere: 9.6 pixels of motion.
    let scene = sphere_and_card(20.0);
    let blur = MotionBlur {
        exposure: 0.02,
        shutter: Shutter::Global,
        velocity: DVec3::ZERO,
        rotation: DVec3::ZERO,
    };
    let effects = CameraEffects { motion_blur: Some(blur), ..CameraEffects::default() };

    let on_device = {
        let mut on_device = renderer.upload(&scene).unwrap();
        on_device.follow(renderer.gpu(), &scene.at(&AnimationSelection::Auto, 1.0)).unwrap();
        on_device
    };
    let shutter = [-0.5, 0.5].map(|end| {
        let mut posed = scene.clone();
        posed.apply(&scene.pose_at_offset(&AnimationSelection::Auto, 1.0, end * blur.exposure));
        on_device.pose(&posed)
    });
    let settings = RenderSettings { effects, shutter: Some(shutter), ..exposed(100.0, 0.5) };
    let raster = renderer.render(&on_device, &view, &settings).unwrap().nits;

    let camera = LensCamera::new(DMat4::IDENTITY, projection, width, height, &effects);
    let (moments, samples) = (32, 64);
    let mut film = Film::new(width, height, FilmSettings::default());
    for moment in 0..moments {
        let part = ShutterInterval::new(&camera, moment, moments);
        let mut posed = scene.clone();
        posed.apply(&scene.pose_at_offset(
            &AnimationSelection::Auto,
            1.0,
            part.middle() * blur.exposure,
        ));
        let world = World::new(&posed, DVec3::ZERO);
        film.advance(
            &world,
            &part,
            samples_after(moment, moments, samples),
            &AtomicBool::new(false),
        );
    }
    let traced: Vec<[f32; 3]> =
        film.mean(LightComponents::total).iter().map(|c| c.as_vec3().to_array()).collect();

    // The motion length, on the row through the sphere's center: the light of the 1 m chord, spread
    // by the motion.
    let row = |picture: &[[f32; 3]]| picture[60 * width..61 * width].to_vec();
    for (who, picture) in [("raster", row(&raster)), ("path", row(&traced))] {
        let touched = picture.iter().filter(|c| c[0] > 20.0 + 0.02 * 80.0).count() as f64;
        let want = 24.0 + 20.0 * 0.02 * 24.0;
        println!("{who}: {touched} pixels are touched, {want:.1} by speed, shutter and size");
        assert!((touched - want).abs() <= 2.0, "{who}: {touched}");
    }
    let shown =
        |picture: &[[f32; 3]]| picture.iter().map(|c| c.map(|v| v / 110.0)).collect::<Vec<_>>();
    let error = flip::ldr(&shown(&raster), &shown(&traced), width, 67.0);
    let mean = error.iter().sum::<f32>() / error.len() as f32;
    println!("FLIP {mean:.4}");
    assert!(mean < 0.03, "{mean}");
}
