//! Blended surfaces in front of light: rays and shadow maps let the fraction 1 - opacity through.

use crate::common::{
    Place, aov3, even, exposed, half_steps, nits, perspective, picture, renderer, traced_shadows,
    unclustered,
};
use glam::{DMat4, DQuat, DVec3, Vec2, Vec3, Vec4};
use sunny16::{
    frame::{Aov, FrameSample, GiSettings, RenderSettings, Renderer, ShadowSettings},
    gpu_scene::View,
    photometry::{Candela, Lux, Nit, lights::Emitter, lights::LightStrength},
    scene::{
        AlphaMode, Material, Primitive, Sampler, Scene,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        look::ShadowMethod,
        procedural::{shapes, textures},
    },
};

const LAMP: DVec3 = DVec3::new(0.0, 2.0, 0.0);
const SIZE: (u32, u32) = (96, 64);

fn white() -> Material {
    Material { double_sided: true, ..dielectric("white", Vec3::splat(0.5), 1.0) }
}

fn blended(opacity: f32) -> Material {
    let material = white();
    Material {
        base_color: material.base_color * Vec4::new(1.0, 1.0, 1.0, opacity),
        ..blend(material)
    }
}

fn blend(material: Material) -> Material {
    Material { alpha: AlphaMode::Blend, ..material }
}

/// A floor under a sheet at a height of 1 m, seen from between them.
fn covered(sheet: Primitive, material: Material, light: impl FnOnce(&mut SceneBuilder)) -> Scene {
    let mut builder = SceneBuilder::new("covered");
    builder.floor(8.0, white());
    let material = builder.add_material(material);
    builder.place(sheet, material, DVec3::Y);
    light(&mut builder);
    builder.build().unwrap()
}

fn sheet() -> Primitive {
    shapes::plane(Vec2::splat(8.0), 2, 2)
}

fn bulb(builder: &mut SceneBuilder) {
    builder.point_light_candela("lamp", Candela(300.0), Vec3::ONE, LAMP);
}

fn below() -> View {
    perspective(DVec3::new(0.1, 0.8, 0.9), DVec3::new(0.0, 0.0, 0.1), 0.9, 0.01, SIZE)
}

fn settings(shadows: ShadowSettings) -> RenderSettings {
    RenderSettings {
        shadows,
        clustered_lights: unclustered(),
        aovs: vec![Aov::DirectDiffuse],
        ..exposed(20.0, 0.5)
    }
}

fn maps() -> ShadowSettings {
    ShadowSettings { method: ShadowMethod::Maps, ..ShadowSettings::default() }
}

/// Visibility of the light in each pixel of the floor.
fn visibility(renderer: &mut Renderer, scene: &Scene, settings: &RenderSettings) -> Vec<f64> {
    let unshadowed = RenderSettings {
        shadows: ShadowSettings { enabled: false, ..settings.shadows },
        ..settings.clone()
    };
    let with = picture(renderer, scene, &below(), settings);
    let without = picture(renderer, scene, &below(), &unshadowed);
    let (width, height) = (SIZE.0 as usize, SIZE.1 as usize);
    let at = |picture, i: usize| aov3(picture, Aov::DirectDiffuse, i % width, i / width).y;
    (0..width * height)
        .map(|i| {
            assert!(at(&without, i) > 0.0);
            at(&with, i) / at(&without, i)
        })
        .collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Four standard deviations of the mean of independent rays that pass with this probability.
fn bound(share: f64, rays: usize) -> f64 {
    4.0 * (share * (1.0 - share) / rays as f64).sqrt() + 1e-3
}

#[test]
fn blended_sheets_shadow_by_their_opacity() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let pixels = (SIZE.0 * SIZE.1) as usize;
    for opacity in [0.0f32, 0.25, 0.5, 0.75, 1.0] {
        let through = 1.0 - f64::from(opacity);
        let scene = covered(sheet(), blended(opacity), bulb);
        let rays = visibility(&mut renderer, &scene, &settings(traced_shadows(1)));
        // Each ray passes or is stopped.
        assert!(rays.iter().all(|&v| v < 2e-3 || (v - 1.0).abs() < 2e-3));
        let mapped = visibility(&mut renderer, &scene, &settings(maps()));
        let globe = covered(sheet(), blended(opacity), |b| {
            let emitter = Emitter::Sphere { radius: 0.2 };
            let strength = LightStrength::Nits(Nit(3000.0));
            _ = b.light("lamp", emitter, strength, Vec3::ONE, look_at_transform(LAMP, DVec3::ZERO));
        });
        let sized = visibility(&mut renderer, &globe, &settings(traced_shadows(16)));
        let [rays, mapped, sized] = [rays, mapped, sized].map(|values| mean(&values));
        println!("opacity {opacity}: rays {rays:.4}, maps {mapped:.4}, sphere {sized:.4}");
        assert!((rays - through).abs() < bound(through, pixels), "{opacity}: {rays}");
        assert!((sized - through).abs() < bound(through, pixels), "{opacity}: {sized}");
        // The texels of the map are larger than the pixels, and filtered.
        assert!((mapped - through).abs() < 4.0 * bound(through, pixels), "{opacity}: {mapped}");
    }
}

#[test]
fn texture_and_vertices_make_the_opacity() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // The lamp projects the sheet's x = 0 to the floor's.
    let sides = |values: &[f64]| {
        let width = SIZE.0 as usize;
        let part = |holds: &dyn Fn(usize) -> bool| {
            let part: Vec<f64> = (values.iter().enumerate())
                .filter(|(i, _)| holds(i % width))
                .map(|(_, &v)| v)
                .collect();
            (mean(&part), part.len())
        };
        [part(&|x| x < width / 2 - 16), part(&|x| x > width / 2 + 16)]
    };
    let mut builder = SceneBuilder::new("textured");
    builder.floor(8.0, white());
    let nearest = Sampler { mag_linear: false, ..Sampler::default() };
    let picture = textures::picture(8, 8, |u, _| [1.0, 1.0, 1.0, if u < 0.5 { 0.8 } else { 0.2 }]);
    let texture = builder.add_texture("halves", picture, nearest);
    let reference = SceneBuilder::texture_ref(texture);
    let textured = Material { base_color_texture: Some(reference), ..blended(0.5) };
    let textured = builder.add_material(textured);
    builder.place(sheet(), textured, DVec3::Y);
    bulb(&mut builder);
    let textured = builder.build().unwrap();
    let mut colored = sheet();
    colored.colors = vec![Vec4::new(1.0, 1.0, 1.0, 0.3); colored.positions.len()];
    let colored = covered(colored, blended(1.0), bulb);
    for (name, scene, [left, right]) in
        [("texture", textured, [0.6, 0.9]), ("vertices", colored, [0.7, 0.7])]
    {
        let values = visibility(&mut renderer, &scene, &settings(traced_shadows(1)));
        for ((got, count), want) in sides(&values).into_iter().zip([left, right]) {
            println!("{name}: {got:.4}, closed form {want}");
            assert!((got - want).abs() < bound(want, count), "{name}: {got}, {want}");
        }
    }
}

/// Other rays pass in each sample of an accumulated picture, and none for the same number.
#[test]
fn samples_pass_independently() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = covered(sheet(), blended(0.5), bulb);
    let mut sample = |number: u32| {
        let sample = Some(FrameSample { number, count: 4 });
        let settings = RenderSettings { sample, ..settings(traced_shadows(1)) };
        visibility(&mut renderer, &scene, &settings)
    };
    let [first, again, second] = [0, 0, 1].map(&mut sample);
    assert_eq!(first, again);
    let same = (first.iter().zip(&second)).filter(|(a, b)| (*a - *b).abs() < 0.5).count();
    let share = same as f64 / first.len() as f64;
    println!("{share:.3} of the rays pass as in the sample before");
    assert!((share - 0.5).abs() < bound(0.5, first.len()), "{share}");
}

/// Opacity 1 is opaque, bit by bit: in the shadow, in a mirror and in indirect light.
#[test]
fn opacity_one_equals_opaque() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = |material: Material| {
        let mut builder = SceneBuilder::new("room");
        builder.floor(8.0, white());
        let mirror = builder.add_material(metal("mirror", Vec3::splat(0.9), 0.05));
        builder.place(shapes::plane(Vec2::new(1.0, 3.0), 1, 1), mirror, DVec3::new(0.6, 0.01, 0.0));
        let material = builder.add_material(material);
        // A roof, and a wall in the light, neither of which the view shows.
        builder.place(shapes::plane(Vec2::splat(1.6), 1, 1), material, DVec3::Y);
        let wall = builder.add_mesh("wall", shapes::plane(Vec2::splat(4.0), 1, 1), material);
        let upright = DQuat::from_rotation_x(-std::f64::consts::FRAC_PI_2);
        builder.instance(
            "wall",
            wall,
            DMat4::from_rotation_translation(upright, DVec3::new(0.0, 1.5, 2.5)),
        );
        builder.sun("sun", Lux(500.0), Vec3::ONE, DVec3::new(0.2, -1.0, 0.5));
        builder.build().unwrap()
    };
    let view = perspective(DVec3::new(0.1, 0.8, 1.4), DVec3::new(0.2, 0.0, 0.1), 0.7, 0.01, SIZE);
    let gi = GiSettings { enabled: true, denoise: false, ..GiSettings::default() };
    let settings = RenderSettings {
        gi,
        aovs: vec![Aov::DirectDiffuse, Aov::IndirectDiffuse, Aov::IndirectSpecular],
        ..settings(traced_shadows(4))
    };
    let mut show = |material: Material| {
        let scene = scene(material);
        let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
        on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
        crate::common::after(&mut renderer, &on_device, &view, &settings, 1)
    };
    let opaque = show(white());
    let solid = show(blended(1.0));
    let absent = show(blended(0.0));
    assert_eq!(half_steps(&opaque, &solid), 0.0);
    let (width, height) = (SIZE.0 as usize, SIZE.1 as usize);
    for kind in [Aov::DirectDiffuse, Aov::IndirectDiffuse, Aov::IndirectSpecular] {
        let sum = |picture| -> f64 {
            (0..width * height).map(|i| aov3(picture, kind, i % width, i / width).y).sum()
        };
        let [a, b, none] = [&opaque, &solid, &absent].map(sum);
        println!("{kind:?}: opaque {a:.2}, opacity 1 {b:.2}, opacity 0 {none:.2}");
        assert_eq!(a, b, "{kind:?}");
        assert!((none / a - 1.0).abs() > 0.05, "{kind:?} {none} {a}");
    }
}

/// A blended surface does not shadow itself, near the origin and far from it.
#[test]
fn blended_surfaces_do_not_shadow_themselves() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for offset in [DVec3::ZERO, DVec3::new(10_000.3, 40.0, -9_000.7)] {
        for opacity in [0.3f32, 1.0] {
            let scene = |shadow: bool| {
                let mut builder = SceneBuilder::new("tilted");
                let material = builder.add_material(blended(opacity));
                let sheet = shapes::plane(Vec2::splat(6.0), 7, 7);
                let sheet = builder.add_mesh("sheet", sheet, material);
                let tilt = DQuat::from_rotation_z(0.35) * DQuat::from_rotation_x(0.2);
                builder.instance("sheet", sheet, DMat4::from_rotation_translation(tilt, offset));
                builder.sun("sun", Lux(500.0), Vec3::ONE, DVec3::new(0.9, -0.6, 0.2));
                let mut scene = builder.build().unwrap();
                scene.lights.iter_mut().for_each(|light| light.shadow = shadow);
                scene
            };
            let view = perspective(offset + DVec3::new(0.2, 1.6, 2.0), offset, 0.8, 0.01, SIZE);
            let settings = settings(traced_shadows(1));
            let [with, without] = [true, false]
                .map(|shadow| picture(&mut renderer, &scene(shadow), &view, &settings));
            assert!(nits(&without, 48, 32).y > 1.0);
            assert!(half_steps(&with, &without) <= 1.0, "opacity {opacity} at {offset}");
        }
    }
}

/// Under an even sky, the horizon of a normal-mapped surface hides as much light of a blended
/// surface as visibility rays find it to hide of an opaque one.
#[test]
fn horizon_of_normal_maps_hides_the_sky() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let show = |renderer: &mut Renderer, material: Material| {
        let mut builder = SceneBuilder::new("bent");
        let bent = textures::picture(2, 2, |_, _| [0.8, 0.5, 0.9, 1.0]);
        let texture = builder.add_texture("bent", bent, Sampler::default());
        let normal = Some(SceneBuilder::texture_ref(texture));
        builder.floor(8.0, Material { normal_texture: normal, ..material });
        let mut scene = builder.build().unwrap();
        scene.environment = even(100.0);
        let gi = GiSettings { enabled: true, ..GiSettings::default() };
        let settings = RenderSettings { gi, ..settings(traced_shadows(4)) };
        let mut on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
        on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
        let view = perspective(DVec3::new(-1.0, 2.0, 0.1), DVec3::ZERO, 0.3, 0.01, (32, 32));
        let picture = crate::common::after(renderer, &on_device, &view, &settings, 32);
        mean(&picture.nits.iter().map(|p| f64::from(p[1])).collect::<Vec<_>>())
    };
    for roughness in [0.3, 0.6, 1.0] {
        let material = Material { roughness, ..white() };
        let opaque = show(&mut renderer, material.clone());
        let got = show(&mut renderer, blend(material));
        println!("roughness {roughness}: opaque {opaque:.3} nits, blended {got:.3}");
        assert!((got / opaque - 1.0).abs() < 0.02, "{roughness}: {opaque} {got}");
    }
}
