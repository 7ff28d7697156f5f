//! Limits in shaders are counted where they act, and nowhere else.

use std::{
    f64::consts::{FRAC_PI_2, PI},
    sync::Arc,
};

use crate::common::{
    Place, add_square, emissive_material, exposed, perspective, renderer, squares, traced_shadows,
};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    camera::{CameraEffects, Iris, effects::Starburst},
    frame::{
        AntiAliasing, GiSettings, RenderSettings, RenderedImage, Renderer, ShadowSettings,
        limits::FrameLimits,
    },
    gpu_scene::View,
    optics::{
        Lens, LensSettings, Prescription,
        ghosts::{GhostMethod, LensGhosts},
    },
    photometry::{
        Candela, Lux, Nit,
        lights::{Cone, Emitter, LightStrength, SpotFlux},
    },
    scene::{
        AlphaMode, Clearcoat, Material, MediumCoefficients, ParticipatingVolume, Scene,
        VolumeShape,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        look::{ShadowMethod, ShadowSampling},
        procedural::shapes,
    },
    settings::{SsrSettings, TemporalSettings},
};

const SIZE: (u32, u32) = (32, 24);
/// Adds objects to a scene.
type Extend = Box<dyn Fn(&mut SceneBuilder)>;
/// Largest half float.
const MAX_HALF: f32 = 65504.0;

fn draw(
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    settings: &RenderSettings,
) -> RenderedImage {
    let mut on_device = renderer.upload_for(scene, &settings.shadows).unwrap();
    if settings.gi.enabled {
        on_device.update_gi(renderer.gpu(), scene, &settings.gi).unwrap();
    }
    renderer.reset_history();
    renderer.render(&on_device, view, settings).unwrap()
}

/// A square of 4 m that faces +Z, at this z.
fn wall(builder: &mut SceneBuilder, material: Material, z: f64) {
    let turn = DMat4::from_rotation_x(FRAC_PI_2);
    let at = DMat4::from_translation(DVec3::new(0.0, 0.0, z)) * turn;
    builder.place(shapes::plane(Vec2::splat(4.0), 1, 1), material, at);
}

fn pane() -> Material {
    Material { transmission: 1.0, double_sided: true, ..dielectric("pane", Vec3::ONE, 0.0) }
}

fn from_front() -> View {
    perspective(DVec3::new(0.1, 0.2, 3.0), DVec3::ZERO, 0.6, 0.01, SIZE)
}

#[test]
fn light_beyond_half_floats_is_counted() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // A nit is 1 in the pre-exposed images.
    let settings = exposed(1.0, 1.0);
    let view = from_front();
    let lit = |nits: f32, extend: &dyn Fn(&mut SceneBuilder)| {
        let mut builder = SceneBuilder::new("bright");
        add_square(&mut builder, DVec3::ZERO, 1.0, Vec3::splat(nits));
        extend(&mut builder);
        builder.build().unwrap()
    };
    // Through the G-buffer: each pixel, and no other.
    let picture = draw(&mut renderer, &lit(1e5, &|_| {}), &view, &settings);
    let clamped = picture.nits.iter().filter(|p| p[0] >= MAX_HALF * 0.9999).count();
    assert!(clamped > 20, "{clamped}");
    assert_eq!(picture.limits.counters.clamped_values as usize, clamped);
    let said = picture.limits.warnings();
    assert!(said.len() == 1 && said[0].starts_with("light range: "), "{said:?}");
    let picture = draw(&mut renderer, &lit(6e4, &|_| {}), &view, &settings);
    assert_eq!(picture.limits, FrameLimits::default());
    // A still has the greatest number of its frames.
    let scene = lit(1e5, &|_| {});
    let on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
    let still = renderer.render_still(&on_device, &view, &settings, 4).unwrap();
    assert!(still.limits.counters.clamped_values > 20, "{:?}", still.limits);

    // The passes that draw what the G-buffer does not hold: background, forward and blend pass.
    let sun = |lux: f64| {
        let sun = Emitter::Sun { angular_radius: 0.05 };
        let pose = look_at_transform(DVec3::ZERO, DVec3::new(0.1, 0.2, 3.0));
        move |builder: &mut SceneBuilder| {
            builder.light("sun", sun, LightStrength::Lux(Lux(lux)), Vec3::ONE, pose);
        }
    };
    // A disk of luminance E / (pi sin^2 r).
    let luminance = |lux: f64| lux / (PI * 0.05f64.sin().powi(2));
    let coated = |candela: f64| {
        move |builder: &mut SceneBuilder| {
            let coat = Clearcoat { factor: 1.0, roughness: 0.3, ..Clearcoat::default() };
            wall(builder, Material { clearcoat: coat, ..dielectric("coat", Vec3::ONE, 0.5) }, -0.1);
            let at = DVec3::new(0.1, 0.2, 3.0);
            builder.point_light_candela("lamp", Candela(candela), Vec3::ONE, at);
        }
    };
    let blended = |nits: f32| {
        move |builder: &mut SceneBuilder| {
            let glow = emissive_material(Vec3::splat(nits));
            wall(builder, Material { alpha: AlphaMode::Blend, ..glow }, 0.1);
        }
    };
    let scenes: [(&str, Extend, Extend); 3] = [
        ("background", Box::new(sun(1000.0)), Box::new(sun(400.0))),
        ("forward", Box::new(coated(1e7)), Box::new(coated(1e4))),
        ("blend", Box::new(blended(1e5)), Box::new(blended(6e4))),
    ];
    assert!(luminance(1000.0) > 7e4 && luminance(400.0) < 6e4);
    for (name, over, under) in scenes {
        for (extend, acts) in [(over, true), (under, false)] {
            let mut builder = SceneBuilder::new(name);
            builder.place(
                shapes::cuboid(Vec3::splat(0.01)),
                dielectric("speck", Vec3::splat(0.5), 1.0),
                DVec3::new(5.0, 0.0, 0.0),
            );
            extend(&mut builder);
            let scene = builder.build().unwrap();
            let limits = draw(&mut renderer, &scene, &view, &settings).limits;
            println!("{name}: {limits:?}");
            assert_eq!(limits.counters.clamped_values > 0, acts, "{name}");
            let mut others = limits;
            others.counters.clamped_values = 0;
            assert_eq!(others, FrameLimits::default(), "{name}");
        }
    }
}

/// A point lamp in the picture, and a speck out of it, so that the scene is not empty.
fn lamp_in_view(candela: f64) -> Scene {
    let mut builder = SceneBuilder::new("lamp");
    builder.point_light_candela("lamp", Candela(candela), Vec3::ONE, DVec3::ZERO);
    add_square(&mut builder, DVec3::new(0.0, 0.0, 50.0), 1.0, Vec3::ZERO);
    builder.build().unwrap()
}

/// A wall that a lamp lights from the front.
fn lit_wall(candela: f64) -> Scene {
    let mut builder = SceneBuilder::new("wall");
    wall(&mut builder, dielectric("wall", Vec3::splat(0.5), 1.0), 0.0);
    builder.point_light_candela("lamp", Candela(candela), Vec3::ONE, DVec3::new(0.1, 0.2, 3.0));
    builder.build().unwrap()
}

/// A wall that gets only light of another one, behind the camera, which a spot lights.
fn indirectly_lit_wall(candela: f64) -> Scene {
    let white = || Material { double_sided: true, ..dielectric("wall", Vec3::splat(0.5), 1.0) };
    let mut builder = SceneBuilder::new("walls");
    wall(&mut builder, white(), 0.0);
    wall(&mut builder, white(), 4.0);
    let cone = Cone::new(0.4, 0.6).unwrap();
    let spot = Emitter::Spot { cone, flux: SpotFlux::Exact };
    let pose = look_at_transform(DVec3::new(0.0, 0.0, 3.0), DVec3::new(0.0, 0.0, 4.0));
    builder.light("spot", spot, LightStrength::Candela(Candela(candela)), Vec3::ONE, pose);
    builder.build().unwrap()
}

/// A glowing cloud, 1 m wide, before a black wall.
fn glowing_cloud(nits: f64) -> Scene {
    let mut builder = SceneBuilder::new("cloud");
    add_square(&mut builder, DVec3::new(0.0, 0.0, -1.0), 4.0, Vec3::ZERO);
    let mut scene = builder.build().unwrap();
    scene.volumes.push(ParticipatingVolume {
        name: "glow".into(),
        shape: VolumeShape::Box(DMat4::IDENTITY),
        node: None,
        medium: MediumCoefficients {
            absorption: DVec3::splat(10.0),
            emission: DVec3::splat(nits),
            ..MediumCoefficients::default()
        },
        density: None,
    });
    scene
}

fn starburst(f_number: f64) -> CameraEffects {
    let starburst = Starburst {
        iris: Iris::default(),
        f_number,
        gate_width: 0.036,
        squeeze: 1.0,
        dust: 0.0,
        scratches: 0.0,
        seed: 0,
        points: true,
    };
    CameraEffects { starburst: Some(starburst), ..CameraEffects::default() }
}

/// Name, settings, scene by the strength of its light, and strengths beyond and within half floats.
type Case = (&'static str, RenderSettings, fn(f64) -> Scene, [f64; 2]);

#[test]
fn light_beyond_half_floats_is_counted_after_blending() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // A nit is 1 in the pre-exposed images.
    let plain = exposed(1.0, 1.0);
    let budget = ShadowSettings {
        method: ShadowMethod::Traced,
        sampling: ShadowSampling::Budget,
        ..ShadowSettings::default()
    };
    let lens = Prescription::builtin("dgauss-50-f2").unwrap().unwrap();
    let ghosts = LensGhosts {
        lens: Arc::new(Lens::new(&lens, &LensSettings::default()).unwrap()),
        gate: [0.036, 0.027],
        method: GhostMethod::Paraxial,
        cull_threshold: 0.0,
    };
    let view = from_front();
    let cases: [Case; 5] = [
        (
            "fixed ray budget",
            RenderSettings { shadows: budget, ..plain.clone() },
            lit_wall,
            [1e7, 1e4],
        ),
        (
            "indirect light",
            RenderSettings { exposure: plain.exposure, ..gi_settings() },
            indirectly_lit_wall,
            [1e9, 1e4],
        ),
        ("volumes", plain.clone(), glowing_cloud, [1e6, 1e3]),
        (
            "starbursts",
            RenderSettings { effects: starburst(8.0), ..plain.clone() },
            lamp_in_view,
            [1e6, 10.0],
        ),
        (
            "ghosts",
            RenderSettings { ghosts: Some(ghosts), ..plain.clone() },
            lamp_in_view,
            [1e12, 10.0],
        ),
    ];
    for (name, settings, scene, [over, under]) in cases {
        let picture = draw(&mut renderer, &scene(over), &view, &settings);
        let counters = picture.limits.counters;
        let clamped = picture.nits.iter().filter(|p| p[0] >= MAX_HALF * 0.9999).count();
        println!("{name}: {counters:?}, {clamped} pixels");
        // Clamped indirect light is multiplied by the albedo: no pixel has the maximum.
        assert_eq!(clamped > 0, name != "indirect light", "{name}");
        assert!(counters.clamped_values as usize >= clamped.max(1), "{name}");
        let said = picture.limits.warnings();
        assert!(said.iter().any(|text| text.starts_with("light range: ")), "{name}: {said:?}");
        let picture = draw(&mut renderer, &scene(under), &view, &settings);
        assert_eq!(picture.limits, FrameLimits::default(), "{name}");
    }
}

/// After the exposure has changed by ten stops, the weights of TAA lag by eight: compressed light
/// then ends at 10 * 65,504 / 2^8 = 2,559 times white.
#[test]
fn light_that_a_lagging_exposure_clamps_is_counted() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = squares(&[(DVec3::ZERO, 1.0, Vec3::splat(20_000.0))]);
    let of = |nits: f64| {
        let taa = TemporalSettings { still: false, ..TemporalSettings::default() };
        RenderSettings { taa, anti_aliasing: AntiAliasing::Temporal, ..exposed(nits, 1.0) }
    };
    let on_device = renderer.upload_for(&scene, &of(1.0).shadows).unwrap();
    for (before, clamps) in [(1.0 / 1024.0, true), (1.0, false)] {
        renderer.reset_history();
        let mut last = |nits: f64| renderer.render(&on_device, &from_front(), &of(nits)).unwrap();
        last(before);
        let picture = last(1.0);
        let brightest = picture.nits.iter().map(|p| p[1]).fold(0.0, f32::max);
        println!("{before}: {:?}, at most {brightest} nit", picture.limits.counters);
        assert_eq!(picture.limits.counters.clamped_values > 0, clamps, "{before}");
        let want = if clamps { 2_559.0 } else { 20_000.0 };
        assert!((brightest / want - 1.0).abs() < 0.02, "{before}: {brightest}");
    }
}

#[test]
fn reflections_that_a_lagging_exposure_clamps_are_counted() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // A panel that a floor reflects: both are in the picture, as screen-space rays need.
    let mut builder = SceneBuilder::new("mirror");
    let mirror = metal("mirror", Vec3::splat(0.9), 0.0);
    builder.place(shapes::plane(Vec2::splat(4.0), 1, 1), mirror, DVec3::new(0.0, -0.5, 1.0));
    let panel = emissive_material(Vec3::splat(20_000.0));
    let at = DMat4::from_rotation_x(FRAC_PI_2);
    builder.place(shapes::plane(Vec2::splat(1.0), 1, 1), panel, at);
    let scene = builder.build().unwrap();
    let view = perspective(DVec3::new(0.3, 0.6, 3.0), DVec3::new(0.0, -0.3, 0.5), 0.8, 0.01, SIZE);
    let of = |nits: f64| {
        let ssr = SsrSettings { enabled: true, still: false, ..SsrSettings::default() };
        RenderSettings { ssr, ..exposed(nits, 1.0) }
    };
    let on_device = renderer.upload_for(&scene, &of(1.0).shadows).unwrap();
    for (before, clamps) in [(1.0 / 1024.0, true), (1.0, false)] {
        renderer.reset_history();
        renderer.render(&on_device, &view, &of(before)).unwrap();
        let picture = renderer.render(&on_device, &view, &of(1.0)).unwrap();
        println!("{before}: {:?}", picture.limits.counters);
        assert_eq!(picture.limits.counters.clamped_values > 0, clamps, "{before}");
    }
}

#[test]
fn sources_of_starbursts_beyond_the_list_are_counted() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = RenderSettings { effects: starburst(8.0), ..exposed(1.0, 1.0) };
    for (lamps, dropped) in [(64, 0), (70, 6)] {
        let mut builder = SceneBuilder::new("lamps");
        add_square(&mut builder, DVec3::new(0.0, 0.0, 50.0), 1.0, Vec3::ZERO);
        for lamp in 0..lamps {
            let at = DVec3::new(f64::from(lamp % 10) - 4.5, f64::from(lamp / 10) - 3.0, -2.0) * 0.1;
            builder.point_light_candela("lamp", Candela(10.0), Vec3::ONE, at);
        }
        let limits =
            draw(&mut renderer, &builder.build().unwrap(), &from_front(), &settings).limits;
        assert_eq!(limits, FrameLimits { starbursts_dropped: dropped, ..FrameLimits::default() });
    }
}

#[test]
fn large_sources_of_starbursts_are_counted() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = RenderSettings { effects: starburst(2.0), ..exposed(100.0, 1.0) };
    // At f/2 the greatest radius is 3.2 mm, here 2.8 pixels of 1.125 mm.
    let mut limits = |radius: f64, nits: f64| {
        let mut builder = SceneBuilder::new("globe");
        let strength = LightStrength::Nits(Nit(nits));
        builder.light("globe", Emitter::Sphere { radius }, strength, Vec3::ONE, DMat4::IDENTITY);
        add_square(&mut builder, DVec3::new(0.0, 0.0, 50.0), 1.0, Vec3::ZERO);
        draw(&mut renderer, &builder.build().unwrap(), &from_front(), &settings).limits
    };
    let large = limits(0.5, 1e6);
    println!("large: {large:?}");
    assert_eq!(large.counters.large_flare_sources, 1, "{large:?}");
    let said = large.warnings();
    assert!(said.len() == 1 && said[0].starts_with("large starbursts: 1 source "), "{said:?}");
    assert_eq!(limits(0.1, 1e6), FrameLimits::default());
    // Its spikes would not leave its disk.
    assert_eq!(limits(0.5, 110.0), FrameLimits::default());
}

#[test]
fn refracted_paths_beyond_the_rays_are_counted() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = exposed(100.0, 0.5);
    let limits = |renderer: &mut Renderer, panes: u32| {
        let mut builder = SceneBuilder::new("panes");
        wall(&mut builder, emissive_material(Vec3::splat(100.0)), -4.0);
        for number in 0..panes {
            wall(&mut builder, pane(), -0.05 * f64::from(number));
        }
        let scene = builder.build().unwrap();
        draw(renderer, &scene, &from_front(), &settings).limits
    };
    // Panes split each path in two: 40 of them exceed 32 rays, 2 do not.
    let many = limits(&mut renderer, 40);
    println!("40 panes: {many:?}");
    assert!(many.counters.refraction_points > SIZE.0 * SIZE.1 / 4, "{many:?}");
    let said = many.warnings();
    assert!(said.len() == 1 && said[0].starts_with("note: refraction: "), "{said:?}");
    assert_eq!(limits(&mut renderer, 2), FrameLimits::default());
}

/// A mirror that faces the camera; what it shows is behind the camera.
fn mirror_scene(behind: impl Fn(&mut SceneBuilder)) -> Scene {
    let mut builder = SceneBuilder::new("mirror");
    wall(
        &mut builder,
        Material { double_sided: true, ..metal("mirror", Vec3::splat(0.9), 0.0) },
        0.0,
    );
    behind(&mut builder);
    builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, DVec3::new(0.0, 1.0, 3.5));
    builder.build().unwrap()
}

fn gi_settings() -> RenderSettings {
    let gi = GiSettings { enabled: true, vpls: 256, denoise: false, ..GiSettings::default() };
    RenderSettings { gi, shadows: traced_shadows(1), ..exposed(10.0, 0.5) }
}

#[test]
fn mirror_paths_beyond_four_surfaces_are_counted() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = gi_settings();
    let facing = |of: Material| {
        mirror_scene(|builder| wall(builder, Material { double_sided: true, ..of.clone() }, 4.0))
    };
    let mirrors = facing(metal("other mirror", Vec3::splat(0.9), 0.0));
    let limits = draw(&mut renderer, &mirrors, &from_front(), &settings).limits;
    println!("two mirrors: {limits:?}");
    // Only paths near the axis meet both mirrors twice.
    assert!(limits.counters.mirror_paths > 30 && limits.counters.pane_rays == 0, "{limits:?}");
    let said = limits.warnings();
    assert!(said.len() == 1 && said[0].starts_with("note: mirror paths: "), "{said:?}");
    let limits = draw(&mut renderer, &mirror_scene(|_| {}), &from_front(), &settings).limits;
    assert_eq!(limits, FrameLimits::default());
    // Mirrors that reflect too little for a fifth surface to show.
    let dark = facing(metal("dark mirror", Vec3::splat(0.03), 0.0));
    let limits = draw(&mut renderer, &dark, &from_front(), &settings).limits;
    assert_eq!(limits, FrameLimits::default());
}

#[test]
fn rays_that_end_at_a_clear_pane_are_counted() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = gi_settings();
    let limits = |renderer: &mut Renderer, panes: u32| {
        let scene = mirror_scene(|builder| {
            for number in 0..panes {
                wall(builder, pane(), 4.0 + 0.05 * f64::from(number));
            }
            wall(
                builder,
                Material { double_sided: true, ..dielectric("wall", Vec3::ONE, 1.0) },
                6.0,
            );
        });
        draw(renderer, &scene, &from_front(), &settings).limits
    };
    let many = limits(&mut renderer, 5);
    println!("5 panes: {many:?}");
    assert!(many.counters.pane_rays > SIZE.0 * SIZE.1 / 4, "{many:?}");
    assert!(many.warnings().iter().any(|said| said.starts_with("note: clear panes: ")), "{many:?}");
    assert_eq!(limits(&mut renderer, 1), FrameLimits::default());
}
