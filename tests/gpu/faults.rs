//! Injected driver errors: the failing object is named, nothing panics, nothing leaks, no
//! validation messages.

use crate::common::{Guard, Place, gpu_with, parallel};
use glam::{DVec3, Vec3};
use sunny16::{
    frame::{Aov, Readback, RenderSettings, Renderer},
    gpu::{GpuError, GpuResult, fault_injection::Fault},
    gpu_scene::View,
    photometry::Lumen,
    scene::{
        Sampler, Scene,
        build::{SceneBuilder, dielectric},
        procedural::textures::TextureImage,
    },
};

fn scene() -> Scene {
    let mut builder = SceneBuilder::new("small");
    let picture = TextureImage { width: 2, height: 2, rgba8: vec![200; 16] };
    let texture = builder.add_texture("checker", picture, Sampler::default());
    let mut material = dielectric("card", Vec3::splat(0.5), 0.5);
    material.base_color_texture = Some(SceneBuilder::texture_ref(texture));
    builder.floor(4.0, material);
    builder.point_light_lumens("bulb", Lumen(1000.0), Vec3::ONE, DVec3::Y);
    builder.build().unwrap()
}

fn view() -> View {
    parallel(DVec3::Y * 3.0, DVec3::ZERO, 1.0, 10.0, (32, 32))
}

/// The whole process from pipelines to pixels.
fn work(guard: &Guard) -> GpuResult<usize> {
    let mut renderer = Renderer::new(&guard.gpu)?;
    let on_device = renderer.upload(&scene())?;
    let settings = RenderSettings {
        aovs: vec![Aov::DirectDiffuse, Aov::Emission],
        ..RenderSettings::default()
    };
    let mut bytes = 0;
    for _ in 0..3 {
        bytes += renderer.render(&on_device, &view(), &settings)?.display.len();
    }
    Ok(bytes)
}

/// The error under a fault; the guard's drop checks leaks and validation.
fn failing(fault: &str) -> Option<GpuError> {
    let guard = gpu_with(vec![Fault::parse(fault).unwrap()])?;
    Some(work(&guard).expect_err(fault))
}

#[test]
fn without_a_fault_rendering_succeeds() {
    let Some(guard) = gpu_with(Vec::new()) else { return };
    assert_eq!(work(&guard).unwrap(), 3 * 32 * 32 * 4);
    // A fault for an object that is never created has no effect.
    drop(guard);
    let guard = gpu_with(vec![Fault::parse("image:no such image=device-lost").unwrap()]).unwrap();
    assert!(work(&guard).is_ok());
}

#[test]
fn out_of_memory_names_the_object() {
    for (fault, object) in [
        ("image:gbuffer normal=out-of-device-memory", "gbuffer normal"),
        ("image:depth=out-of-device-memory", "depth"),
        ("image:direct diffuse=out-of-device-memory", "direct diffuse"),
        ("image:texture checker=out-of-device-memory", "texture checker"),
        ("image:display=out-of-device-memory", "display"),
        ("buffer:vertices=out-of-device-memory", "vertices"),
        ("buffer:materials=out-of-device-memory", "materials"),
        ("buffer:frame constants=out-of-device-memory", "frame constants"),
        ("buffer:lights=out-of-device-memory", "lights"),
        ("buffer:emission=out-of-host-memory", "emission"),
        ("buffer:crash marker=out-of-device-memory", "crash marker"),
    ] {
        let Some(error) = failing(fault) else { return };
        let memory = if fault.ends_with("host-memory") { "host" } else { "device" };
        match &error {
            GpuError::OutOfMemory { what, memory: kind, .. } => {
                assert!(what.contains(object), "{fault}: {error}");
                assert_eq!(*kind, memory, "{fault}");
            }
            other => panic!("{fault}: {other:?}"),
        }
    }
}

#[test]
fn a_lost_device_names_the_last_pass() {
    // The device was not really lost, so all passes had begun: those of the upload, of the first
    // awaited frame, and of the renderer's second frame.
    for (fault, pass) in [("wait=device-lost", "upload"), ("wait:frame 1=device-lost", "read back")]
    {
        let Some(error) = failing(fault) else { return };
        match &error {
            GpuError::DeviceLost { during, last_pass } => {
                println!("{fault}: {error}");
                assert!(during.contains("frame"), "{during}");
                let last = last_pass.as_deref().unwrap_or("");
                assert!(last.contains(pass), "{fault}: last pass {last_pass:?}");
            }
            other => panic!("{fault}: {other:?}"),
        }
    }
    let Some(error) = failing("submit=device-lost") else { return };
    assert!(matches!(error, GpuError::DeviceLost { .. }), "{error:?}");
}

#[test]
fn rejected_pipelines_are_named() {
    for pipeline in [
        "gbuffer mask",
        "clustered lights",
        "lighting split_lighting",
        "tonemap",
        "gbuffer channel",
        "background",
    ] {
        let Some(error) = failing(&format!("pipeline:{pipeline}=initialization-failed")) else {
            return;
        };
        assert!(
            matches!(&error, GpuError::Vulkan { what, .. } if what.contains(pipeline)),
            "{error:?}"
        );
    }
    let Some(error) = failing("pipeline:lighting=out-of-device-memory") else { return };
    assert!(matches!(error, GpuError::OutOfMemory { .. }), "{error:?}");
}

/// A renderer whose frame failed still renders without the failing object, and leaks nothing.
#[test]
fn renderer_survives_a_failed_frame() {
    let Some(guard) =
        gpu_with(vec![Fault::parse("image:direct specular=out-of-device-memory").unwrap()])
    else {
        return;
    };
    let mut renderer = guard.renderer();
    let on_device = renderer.upload(&scene()).unwrap();
    let plain = RenderSettings::default();
    let split = RenderSettings { aovs: vec![Aov::DirectDiffuse], ..RenderSettings::default() };
    let good = renderer.render(&on_device, &view(), &plain).unwrap();
    for _ in 0..4 {
        assert!(matches!(
            renderer.render(&on_device, &view(), &split),
            Err(GpuError::OutOfMemory { .. })
        ));
        assert_eq!(renderer.render(&on_device, &view(), &plain).unwrap().display, good.display);
    }
    // With another frame in flight.
    let pending = renderer.submit(&on_device, &view(), &plain, Readback::ALL).unwrap();
    assert!(renderer.submit(&on_device, &view(), &split, Readback::ALL).is_err());
    assert_eq!(renderer.collect(pending).unwrap().display, good.display);
}
