//! Interrupted frames: they end early, and later frames are the same.

use std::time::{Duration, Instant};

use glam::{DVec3, Vec2, Vec3};
use sunny16::{
    frame::{RenderSettings, ShadowSettings},
    gpu::{GpuError, Interrupt, vk},
    gpu_scene::View,
    photometry::{Candela, Lux},
    scene::{
        Scene,
        build::{SceneBuilder, dielectric},
        look::ShadowMethod,
        procedural::shapes,
    },
    settings::AntiAliasing,
};

use crate::common::{Place, exposed, gpu, perspective};

/// A sphere on a plane under a sun and 24 lamps.
fn scene() -> Scene {
    let mut builder = SceneBuilder::new("sphere");
    let matte = builder.add_material(dielectric("matte", Vec3::splat(0.5), 0.6));
    builder.place(shapes::plane(Vec2::splat(8.0), 1, 1), matte, DVec3::ZERO);
    builder.place(shapes::icosphere(0.5, 3), matte, DVec3::new(0.0, 0.5, 0.0));
    builder.sun("sun", Lux(300.0), Vec3::ONE, DVec3::new(0.4, -1.0, -0.3));
    for index in 0..24 {
        let (sin, cos) = (f64::from(index) * 0.26).sin_cos();
        let at = DVec3::new(2.0 * cos, 1.5, 2.0 * sin);
        builder.point_light_candela("lamp", Candela(20.0), Vec3::ONE, at);
    }
    builder.build().unwrap()
}

fn view() -> View {
    perspective(DVec3::new(0.4, 1.6, 3.0), DVec3::Y * 0.4, 0.9, 0.05, (240, 150))
}

/// Settings whose lighting pass takes long on software devices, with temporal histories.
fn settings(method: ShadowMethod) -> RenderSettings {
    let shadows = ShadowSettings { enabled: true, method, ..ShadowSettings::default() };
    let anti_aliasing = AntiAliasing::Temporal;
    RenderSettings { shadows, anti_aliasing, ..exposed(60.0, 0.5) }
}

#[test]
fn interrupted_frames_end_early_and_leave_no_trace() {
    let Some(guard) = gpu() else { return };
    let Some(interrupt) = Interrupt::new(&guard.gpu).unwrap() else {
        println!("SKIPPED: no conditional rendering");
        return;
    };
    let scene = scene();
    for method in [ShadowMethod::Auto, ShadowMethod::Maps, ShadowMethod::Traced] {
        let settings = settings(method);
        let mut renderer = guard.renderer();
        let uploaded = renderer.upload_for(&scene, &settings.shadows).unwrap();
        let first = renderer.render(&uploaded, &view(), &settings).unwrap();
        let second = renderer.render(&uploaded, &view(), &settings).unwrap();
        // In parts, a frame is the same.
        let mut renderer = guard.renderer();
        interrupt.clear();
        renderer.set_interrupt(Some(interrupt.clone()));
        let begun = Instant::now();
        let parts = renderer.render(&uploaded, &view(), &settings).unwrap();
        let whole_time = begun.elapsed();
        assert_eq!(parts.nits, first.nits, "{method:?}: in parts");
        let parts = renderer.render(&uploaded, &view(), &settings).unwrap();
        assert_eq!(parts.nits, second.nits, "{method:?}: in parts, with histories");
        // Interrupted before it starts, and while it runs.
        interrupt.raise();
        let begun = Instant::now();
        let ended = renderer.render(&uploaded, &view(), &settings);
        assert!(matches!(ended, Err(GpuError::Interrupted)), "{method:?}");
        let time = begun.elapsed();
        println!("{method:?}: {whole_time:?}, interrupted {time:?}");
        let is_software = guard.gpu.info().kind == vk::PhysicalDeviceType::CPU;
        if is_software && method == ShadowMethod::Traced {
            assert!(time * 3 < whole_time, "{time:?} of {whole_time:?}");
        }
        let mut ended = ended;
        for part in [8, 3] {
            interrupt.clear();
            ended = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep((whole_time / part).max(Duration::from_millis(1)));
                    interrupt.raise();
                });
                renderer.render(&uploaded, &view(), &settings)
            });
            assert!(!is_software || matches!(ended, Err(GpuError::Interrupted)), "{method:?}");
        }
        // An interrupted frame resets the histories by itself; one that a graphics card finished
        // before has written them.
        interrupt.clear();
        if ended.is_ok() {
            renderer.reset_history();
        }
        let again = renderer.render(&uploaded, &view(), &settings).unwrap();
        assert_eq!(again.nits, first.nits, "{method:?}: after interrupted frames");
        let again = renderer.render(&uploaded, &view(), &settings).unwrap();
        assert_eq!(again.nits, second.nits, "{method:?}: with histories after them");
    }
}
