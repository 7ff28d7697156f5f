//! Pictures that show the mean of frames: light that accumulates over frames counts each of them
//! alike.

use glam::{DMat4, DVec3, Vec3};
use sunny16::{
    frame::{GiSettings, RenderSettings, RenderedImage, Renderer, ShadowSettings, SsrSettings},
    gpu_scene::{GpuScene, View},
    photometry::{
        Candela, Lumen, Nit,
        lights::{Emitter, LightStrength, Sides},
    },
    scene::{
        Material,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        look::{ShadowMethod, ShadowSampling},
        procedural::shapes,
    },
    settings::AntiAliasing,
};

use crate::common::{Place, after, exposed, perspective, renderer};

const FRAMES: u32 = 16;

/// A floor and a wall with a block, whose edges samples of the picture cross.
fn corner(floor: Material) -> SceneBuilder {
    let mut builder = SceneBuilder::new("corner");
    let floor = builder.add_material(floor);
    let red = builder.add_material(dielectric("red", Vec3::new(0.6, 0.1, 0.1), 1.0));
    builder.floor(3.0, floor);
    for (size, at) in [
        (Vec3::new(3.0, 2.0, 0.1), DVec3::new(0.0, 1.0, -1.0)),
        (Vec3::new(0.5, 0.5, 0.5), DVec3::new(0.3, 0.4, -0.2)),
    ] {
        let mesh = builder.add_mesh("block", shapes::cuboid(size), red);
        builder.instance("block", mesh, DMat4::from_translation(at));
    }
    builder
}

fn view() -> View {
    perspective(DVec3::new(0.6, 1.4, 2.6), DVec3::new(0.0, 0.4, 0.0), 0.8, 0.05, (48, 32))
}

/// The last of `FRAMES` frames of a still view with temporal anti-aliasing.
fn temporal(renderer: &mut Renderer, scene: &GpuScene, settings: &RenderSettings) -> RenderedImage {
    let settings = RenderSettings { anti_aliasing: AntiAliasing::Temporal, ..settings.clone() };
    after(renderer, scene, &view(), &settings, FRAMES)
}

/// Root mean square of the differences over the mean.
fn difference(a: &RenderedImage, b: &RenderedImage) -> f64 {
    let pairs = || a.nits.iter().flatten().zip(b.nits.iter().flatten());
    let count = pairs().count() as f64;
    let square = pairs().map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>() / count;
    square.sqrt() / (pairs().map(|(_, b)| f64::from(*b)).sum::<f64>() / count)
}

/// Without a filter the mean of accumulated light is the mean of the samples of the frames, edges
/// included: as without a history.
#[test]
fn accumulated_light_is_the_mean_of_its_samples() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = corner(dielectric("gray", Vec3::splat(0.5), 1.0));
    builder.point_light_lumens("lamp", Lumen(800.0), Vec3::ONE, DVec3::new(-0.6, 1.2, 0.4));
    let scene = builder.build().unwrap();
    let gi = GiSettings {
        enabled: true,
        vpls: 1024,
        vpl_samples: 1,
        denoise: false,
        freeze_after: 4096,
        ..GiSettings::default()
    };
    let settings = |gi: GiSettings| RenderSettings { gi, ..exposed(20.0, 0.18) };
    let alone = settings(GiSettings { max_history_frames: 0, ..gi });
    let joined = settings(gi);
    let mut on_device = renderer.upload_for(&scene, &joined.shadows).unwrap();
    on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
    let mut still = |settings: &RenderSettings, frames| {
        renderer.render_still(&on_device, &view(), settings, frames).unwrap()
    };
    let right = still(&alone, FRAMES);
    let noise = difference(&right, &still(&alone, 4 * FRAMES));
    let stills = difference(&still(&joined, FRAMES), &right);
    let right = temporal(&mut renderer, &on_device, &alone);
    let moving = difference(&temporal(&mut renderer, &on_device, &joined), &right);
    println!("noise {noise:.5}; stills differ by {stills:.5}, temporal frames by {moving:.5}");
    // Rounding to half floats.
    assert!(noise > 0.01 && stills < 5e-4 && moving < 5e-4, "{noise} {stills} {moving}");
}

/// A glossy floor and soft shadows have the noise of as many independent frames: of a still, whose
/// shadows are not accumulated, and of temporal frames without a history of reflections.
#[test]
fn accumulated_shadows_and_reflections_have_the_noise_of_independent_frames() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let shadows = ShadowSettings {
        method: ShadowMethod::Traced,
        sampling: ShadowSampling::Budget,
        rays: 1,
        denoise: true,
        ..ShadowSettings::default()
    };
    let mut soft = corner(dielectric("gray", Vec3::splat(0.5), 1.0));
    for (x, color) in [(-0.8, Vec3::new(1.0, 0.6, 0.3)), (0.9, Vec3::new(0.4, 0.6, 1.0))] {
        let emitter = Emitter::Disk { radius: 0.4, sides: Sides::One };
        let at = look_at_transform(DVec3::new(x, 1.8, 0.8), DVec3::ZERO);
        soft.light("lamp", emitter, LightStrength::Nits(Nit(500.0)), color, at);
    }
    let mut glossy = corner(metal("metal", Vec3::splat(0.9), 0.35));
    glossy.point_light_candela("lamp", Candela(40.0), Vec3::ONE, DVec3::new(-0.6, 1.2, 0.4));
    let ssr = SsrSettings { enabled: true, taps: 1, ..SsrSettings::default() };
    let joined = [
        RenderSettings { shadows, ..exposed(60.0, 0.18) },
        RenderSettings { ssr, ..exposed(10.0, 0.18) },
    ];
    for (scene, settings) in [soft, glossy].map(|scene| scene.build().unwrap()).iter().zip(joined) {
        let on_device = renderer.upload_for(scene, &settings.shadows).unwrap();
        let right = renderer.render_still(&on_device, &view(), &settings, 512).unwrap();
        let alone = if settings.ssr.enabled {
            let ssr = SsrSettings { max_history_frames: 0, ..ssr };
            temporal(&mut renderer, &on_device, &RenderSettings { ssr, ..settings.clone() })
        } else {
            renderer.render_still(&on_device, &view(), &settings, FRAMES).unwrap()
        };
        let joined = temporal(&mut renderer, &on_device, &settings);
        let [alone, joined] = [alone, joined].map(|picture| difference(&picture, &right));
        println!("noise of independent frames {alone:.4}, of accumulated ones {joined:.4}");
        assert!(joined < 1.06 * alone, "{joined} {alone}");
    }
}
