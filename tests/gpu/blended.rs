//! Blended surfaces in front of light: rays and shadow maps let the fraction 1 - opacity through.

use crate::common::traced::film;
use crate::common::{
    Place, aov3, even, exposed, half_steps, nits, perspective, picture, renderer, traced_shadows,
    unclustered,
};
use glam::{DMat4, DQuat, DVec3, Vec2, Vec3, Vec4};
use sunny16::{
    frame::{
        Aov, FrameSample, GiSettings, RenderSettings, RenderedImage, Renderer, ShadowSettings,
    },
    gpu_scene::View,
    photometry::{Candela, Lux, Nit, color, lights::Emitter, lights::LightStrength},
    reference::{FilmSettings, LightComponents},
    scene::{
        AlphaMode, Material, Primitive, Projection, Sampler, Scene,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        look::ShadowMethod,
        procedural::{shapes, textures},
    },
    settings::GiMethod,
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

/// Direct light of the floor's pixels.
fn floor_light(renderer: &mut Renderer, scene: &Scene, settings: &RenderSettings) -> Vec<f64> {
    let picture = picture(renderer, scene, &below(), settings);
    let (width, height) = (SIZE.0 as usize, SIZE.1 as usize);
    (0..width * height)
        .map(|i| aov3(&picture, Aov::DirectDiffuse, i % width, i / width).y)
        .collect()
}

/// Light of the floor's pixels without shadows.
fn unshadowed(renderer: &mut Renderer, scene: &Scene, settings: &RenderSettings) -> Vec<f64> {
    let shadows = ShadowSettings { enabled: false, ..settings.shadows };
    let light = floor_light(renderer, scene, &RenderSettings { shadows, ..settings.clone() });
    assert!(light.iter().all(|light| *light > 0.0));
    light
}

/// Visibility of the light in each pixel of the floor.
fn visibility(renderer: &mut Renderer, scene: &Scene, settings: &RenderSettings) -> Vec<f64> {
    let all = unshadowed(renderer, scene, settings);
    shares(&floor_light(renderer, scene, settings), &all)
}

fn shares(light: &[f64], all: &[f64]) -> Vec<f64> {
    light.iter().zip(all).map(|(light, all)| light / all).collect()
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
    let globe = |builder: &mut SceneBuilder| {
        let emitter = Emitter::Sphere { radius: 0.2 };
        let strength = LightStrength::Nits(Nit(3000.0));
        _ = builder.light(
            "lamp",
            emitter,
            strength,
            Vec3::ONE,
            look_at_transform(LAMP, DVec3::ZERO),
        );
    };
    let under =
        |opacity: f32, light: &dyn Fn(&mut SceneBuilder)| covered(sheet(), blended(opacity), light);
    // The view does not show the sheet.
    let all = unshadowed(&mut renderer, &under(0.5, &bulb), &settings(traced_shadows(1)));
    let all_of_globe =
        unshadowed(&mut renderer, &under(0.5, &globe), &settings(traced_shadows(16)));
    for opacity in [0.0f32, 0.25, 0.5, 0.75, 1.0] {
        let through = 1.0 - f64::from(opacity);
        let [lit, lit_by_globe] = [under(opacity, &bulb), under(opacity, &globe)];
        let mut share = |scene: &Scene, settings: &RenderSettings, all: &[f64]| {
            shares(&floor_light(&mut renderer, scene, settings), all)
        };
        let rays = share(&lit, &settings(traced_shadows(1)), &all);
        // Each ray passes or is stopped.
        assert!(rays.iter().all(|&v| v < 2e-3 || (v - 1.0).abs() < 2e-3));
        let mapped = share(&lit, &settings(maps()), &all);
        let sized = share(&lit_by_globe, &settings(traced_shadows(16)), &all_of_globe);
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

/// Other rays pass in each sample of an accumulated picture, and none for the same number. Four
/// samples of a pixel pass about as often as the opacity says, and samples of other eight are
/// independent.
#[test]
fn samples_pass_evenly() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = covered(sheet(), blended(0.5), bulb);
    let all = unshadowed(&mut renderer, &scene, &settings(traced_shadows(1)));
    let mut sample = |number: u32| {
        let sample = Some(FrameSample { number, count: 16 });
        let settings = RenderSettings { sample, ..settings(traced_shadows(1)) };
        shares(&floor_light(&mut renderer, &scene, &settings), &all)
    };
    let [first, again, second, third, fourth, other] = [0, 0, 1, 2, 3, 8].map(&mut sample);
    assert_eq!(first, again);
    let same = (first.iter().zip(&other)).filter(|(a, b)| (*a - *b).abs() < 0.5).count();
    let share = same as f64 / first.len() as f64;
    let four = |i: usize| (first[i] + second[i] + third[i] + fourth[i]) / 4.0 - 0.5;
    let squares: Vec<f64> = (0..first.len()).map(|i| four(i).powi(2)).collect();
    println!("{share:.3} pass as in another sample; variance {:.4} of four", mean(&squares));
    assert!((share - 0.5).abs() < bound(0.5, first.len()), "{share}");
    // A sixteenth if independent.
    assert!(mean(&squares) < 0.4 / 16.0, "{}", mean(&squares));
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

/// Frames with random numbers of their own, none of which depends on those before.
fn samples(
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    settings: &RenderSettings,
    count: u32,
) -> Vec<RenderedImage> {
    let mut on_device = renderer.upload_for(scene, &settings.shadows).unwrap();
    on_device.update_gi(renderer.gpu(), scene, &settings.gi).unwrap();
    let sample = |number| {
        renderer.reset_history();
        let sample = Some(FrameSample { number, count });
        let settings = RenderSettings { sample, ..settings.clone() };
        renderer.render(&on_device, view, &settings).unwrap()
    };
    (0..count).map(sample).collect()
}

/// Mean luminance of blocks of 8 x 8 pixels over the frames, and its standard error.
fn block_means(frames: &[Vec<DVec3>], size: (u32, u32)) -> Vec<(f64, f64)> {
    let (width, height) = (size.0 as usize, size.1 as usize);
    let count = frames.len() as f64;
    let block = |place: usize| {
        let (left, top) = (place % (width / 8) * 8, place / (width / 8) * 8);
        let of = |frame: &Vec<DVec3>| {
            let pixels = (0..64).map(|i| frame[(top + i / 8) * width + left + i % 8]);
            pixels.map(color::luminance).sum::<f64>() / 64.0
        };
        let means: Vec<f64> = frames.iter().map(of).collect();
        let mean = mean(&means);
        let square = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>();
        (mean, (square / (count * (count - 1.0).max(1.0))).sqrt())
    };
    (0..width / 8 * (height / 8)).map(block).collect()
}

/// A closed room with a lamp below its ceiling, above two sheets, one of them textured.
fn room(opacity: [f32; 2]) -> (Scene, View) {
    let mut builder = SceneBuilder::new("room");
    let walls = builder.add_material(white());
    builder.place(shapes::cuboid(Vec3::new(4.0, 3.0, 4.0)), walls, DVec3::new(0.0, 1.5, 0.0));
    let nearest = Sampler { mag_linear: false, ..Sampler::default() };
    let halves = |u: f32, _| [1.0, 1.0, 1.0, if u < 0.5 { 1.0 } else { 0.5 }];
    let texture = builder.add_texture("halves", textures::picture(8, 8, halves), nearest);
    let with = |opacity: f32, color: Vec3| {
        blend(Material { base_color: color.extend(opacity), ..white() })
    };
    let upper = builder.add_material(with(opacity[0], Vec3::new(0.7, 0.3, 0.2)));
    let lower = builder.add_material(Material {
        base_color_texture: Some(SceneBuilder::texture_ref(texture)),
        ..with(opacity[1], Vec3::new(0.2, 0.4, 0.7))
    });
    builder.place(shapes::plane(Vec2::splat(1.8), 1, 1), upper, DVec3::new(0.0, 1.5, 0.0));
    builder.place(shapes::plane(Vec2::splat(1.6), 1, 1), lower, DVec3::new(0.2, 0.8, 0.1));
    builder.point_light_candela("lamp", Candela(300.0), Vec3::ONE, DVec3::new(0.1, 2.6, 0.0));
    let (eye, at) = (DVec3::new(-0.6, 2.4, 1.8), DVec3::new(0.1, 0.7, 0.0));
    (builder.build().unwrap(), perspective(eye, at, 0.9, 0.01, SIZE))
}

fn unfiltered_gi() -> GiSettings {
    GiSettings {
        enabled: true,
        denoise: false,
        vpls: 100_000,
        vpl_samples: 8,
        ..GiSettings::default()
    }
}

fn all_light(picture: &RenderedImage) -> Vec<DVec3> {
    picture.nits.iter().map(|p| Vec3::from_array(*p).as_dvec3()).collect()
}

/// The light of blended sheets, of what is seen through them and of what they shadow is that of the
/// path tracer.
#[test]
fn blended_sheets_match_the_path_tracer() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (name, opacity) in [("half", [0.5, 0.8]), ("thin over solid", [0.2, 1.0])] {
        let (scene, view) = room(opacity);
        let settings =
            RenderSettings { gi: unfiltered_gi(), aovs: Vec::new(), ..settings(traced_shadows(1)) };
        let frames = samples(&mut renderer, &scene, &view, &settings, 8);
        let got = block_means(&frames.iter().map(all_light).collect::<Vec<_>>(), SIZE);
        let (eye, at) = (DVec3::new(-0.6, 2.4, 1.8), DVec3::new(0.1, 0.7, 0.0));
        let projection =
            Projection::Perspective { vertical_fov: 0.9, aspect: None, near: 0.01, far: None };
        let size = (SIZE.0 as usize, SIZE.1 as usize);
        let films: Vec<Vec<DVec3>> = (0..4)
            .map(|seed| {
                let settings = FilmSettings { seed, ..FilmSettings::default() };
                film(&scene, (look_at_transform(eye, at), projection), size, settings, 32)
                    .mean(LightComponents::total)
            })
            .collect();
        let want = block_means(&films, SIZE);
        let (mut off, mut most) = (0.0, (0.0f64, 0));
        for (place, (a, b)) in got.iter().zip(&want).enumerate() {
            let difference = a.0 / b.0 - 1.0;
            off += difference / got.len() as f64;
            // Blocks differ by the VPL set, which all frames share.
            let noise = 4.0 * a.1.hypot(b.1) / b.0;
            let excess = difference.abs() - noise;
            most = if excess > most.0 { (excess, place) } else { most };
        }
        println!("{name}: mean {:+.2} %, worst block {most:?} beyond noise", off * 100.0);
        assert!(off.abs() < 0.02, "{name}: {off}");
        assert!(most.0 < 0.04, "{name}: {most:?}");
    }
}

/// A blended surface of opacity 1 has the indirect light of an opaque one: diffuse and specular, by
/// VPLs and by an irradiance volume, of a surface in the shadow and of a smooth metal.
#[test]
fn blended_surfaces_receive_indirect_light() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let size = (48, 32);
    let scene = |material: Material| {
        let mut builder = SceneBuilder::new("corner");
        builder.floor(8.0, white());
        let material = builder.add_material(material);
        builder.place(shapes::plane(Vec2::splat(8.0), 1, 1), material, DVec3::Y * 0.4);
        let wall = builder.add_material(white());
        let wall = builder.add_mesh("wall", shapes::plane(Vec2::splat(4.0), 1, 1), wall);
        let upright = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let behind = DVec3::new(0.0, 2.0, -0.6);
        builder.instance("wall", wall, DMat4::from_rotation_translation(upright, behind));
        let roof = builder.add_material(white());
        builder.place(shapes::plane(Vec2::splat(1.0), 1, 1), roof, DVec3::new(0.0, 2.5, 0.0));
        builder.sun("sun", Lux(500.0), Vec3::ONE, DVec3::new(0.0, -1.0, -0.4));
        builder.build().unwrap()
    };
    let view = perspective(DVec3::new(0.2, 1.2, 1.4), DVec3::new(0.0, 0.4, 0.0), 0.6, 0.01, size);
    let vpls = GiSettings { vpls: 20_000, ..unfiltered_gi() };
    // Converging the volume takes most of the time.
    let probes = GiSettings {
        enabled: true,
        method: GiMethod::Probes,
        probe_spacing: Some(1.0),
        probe_rays: 4096,
        ..GiSettings::default()
    };
    let kinds = [Aov::IndirectDiffuse, Aov::IndirectSpecular];
    for (method, gi) in [("VPLs", vpls), ("probes", probes)] {
        let metal = metal("metal", Vec3::ONE, 0.2);
        for (name, material) in [("white", white()), ("metal", metal)] {
            let settings = RenderSettings { gi, aovs: kinds.to_vec(), ..settings(maps()) };
            let mut show = |material| {
                let frames = samples(&mut renderer, &scene(material), &view, &settings, 1);
                kinds.map(|kind| {
                    let pixel =
                        |i| aov3(&frames[0], kind, i % size.0 as usize, i / size.0 as usize).y;
                    mean(&(0..(size.0 * size.1) as usize).map(pixel).collect::<Vec<_>>())
                })
            };
            let material = Material { double_sided: true, ..material };
            let [opaque, solid] = [material.clone(), blend(material)].map(&mut show);
            println!("{method}, {name}: opaque {opaque:.3?}, opacity 1 {solid:.3?}");
            assert!(opaque.iter().sum::<f64>() > 1.0);
            for (a, b) in opaque.iter().zip(&solid) {
                assert!((a - b).abs() < 0.01 * a + 1e-3, "{method}, {name}: {a} {b}");
            }
        }
    }
}

/// Where a surface hides those behind it, a frame gathers its light alone: the choice adds no
/// noise.
#[test]
fn hidden_blended_surfaces_take_no_samples() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = |layers: u32| {
        let mut builder = SceneBuilder::new("layers");
        builder.floor(8.0, white());
        let material = builder.add_material(blended(1.0));
        for layer in 0..layers {
            let height = 1.0 - 0.2 * f64::from(layer);
            builder.place(shapes::plane(Vec2::splat(8.0), 1, 1), material, DVec3::Y * height);
        }
        let mut scene = builder.build().unwrap();
        scene.environment = even(100.0);
        scene
    };
    let view = perspective(DVec3::new(0.2, 2.4, 1.4), DVec3::Y, 0.6, 0.01, SIZE);
    let gi = GiSettings { vpls: 1000, ..unfiltered_gi() };
    let settings = RenderSettings { gi, aovs: Vec::new(), ..settings(maps()) };
    let [one, four] = [1, 4].map(|layers| {
        let light = all_light(&samples(&mut renderer, &scene(layers), &view, &settings, 1)[0]);
        let green: Vec<f64> = light.iter().map(|light| light.y).collect();
        let mean = mean(&green);
        (mean, (green.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / green.len() as f64).sqrt())
    });
    println!("one layer {one:.3?}, four {four:.3?} nits");
    assert!((one.0 / four.0 - 1.0).abs() < 0.02 && four.1 < 1.1 * one.1 + 0.1, "{one:?} {four:?}");
}

/// The indirect light of a moving blended surface is averaged over frames as that of an opaque one.
#[test]
fn moving_blended_surfaces_keep_their_history() {
    const FRAMES: u32 = 8;
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = RenderSettings {
        gi: GiSettings { vpl_samples: 1, ..unfiltered_gi() },
        aovs: vec![Aov::IndirectDiffuse],
        ..settings(maps())
    };
    let view = perspective(DVec3::new(0.0, 0.8, 2.4), DVec3::new(0.0, 0.8, 0.0), 0.6, 0.01, SIZE);
    // The card comes nearer by more than the history's tolerance of places, and turns.
    let scene = |material: &Material, frame: u32| {
        let mut builder = SceneBuilder::new("card");
        builder.floor(8.0, white());
        let material = builder.add_material(material.clone());
        let card = builder.add_mesh("card", shapes::plane(Vec2::splat(1.6), 1, 1), material);
        let upright = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2 + 0.02 * f64::from(frame));
        let place = DVec3::new(0.0, 0.8, 0.06 * f64::from(frame));
        builder.instance("card", card, DMat4::from_rotation_translation(upright, place));
        builder.sun("sun", Lux(500.0), Vec3::ONE, DVec3::new(0.0, -1.0, -0.2));
        builder.build().unwrap()
    };
    // Differences between neighbors, relative to the mean.
    let mut noise = |material: Material| {
        let start = scene(&material, 0);
        let mut on_device = renderer.upload_for(&start, &settings.shadows).unwrap();
        on_device.update_gi(renderer.gpu(), &start, &settings.gi).unwrap();
        renderer.reset_history();
        let mut last = None;
        for frame in 0..FRAMES {
            on_device.follow(renderer.gpu(), &scene(&material, frame)).unwrap();
            last = Some(renderer.render(&on_device, &view, &settings).unwrap());
        }
        let last = last.unwrap();
        let at = |x, y| aov3(&last, Aov::IndirectDiffuse, x, y).y;
        let pixels = || (20..44).flat_map(|y| (36..60).map(move |x| (x, y)));
        let level = mean(&pixels().map(|(x, y)| at(x, y)).collect::<Vec<_>>());
        let steps: Vec<f64> = pixels().map(|(x, y)| (at(x + 1, y) - at(x, y)).powi(2)).collect();
        (mean(&steps) / 2.0).sqrt() / level
    };
    let [opaque, solid] = [white(), blend(white())].map(&mut noise);
    println!("noise of the last frame: opaque {opaque:.4}, blended {solid:.4}");
    assert!((solid / opaque - 1.0).abs() < 0.15, "{opaque} {solid}");
}
