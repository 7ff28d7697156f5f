//! Injected driver errors: the failing object is named, nothing panics, nothing leaks, no
//! validation messages.

use crate::common::{Guard, Place, gpu_with, parallel};
use glam::{DVec3, Vec3};
use sunny16::{
    camera::Exposure,
    frame::{Aov, Readback, RenderSettings, Renderer},
    gpu::{Gpu, GpuError, GpuOptions, GpuResult, fault_injection::Fault, vk},
    gpu_scene::View,
    passes::gbuffer_channel::GbufferChannel,
    photometry::{Ev100, Lumen},
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
        aovs: vec![Aov::DirectDiffuse, Aov::Emission, Aov::Channel(GbufferChannel::Normal)],
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
    for (pipeline, shader) in [
        ("gbuffer mask", "gbuffer.frag+ALPHA_TEST"),
        ("clustered lights", "clustered_lights.comp"),
        // All pipelines of the lighting pass, and so the general one too.
        ("lighting", "lighting.comp"),
        ("tonemap", "tonemap.frag"),
        ("gbuffer channel", "gbuffer_channel.frag"),
        ("shadow maps", "shadow_maps.frag"),
    ] {
        let Some(error) = failing(&format!("pipeline:{pipeline}=initialization-failed")) else {
            return;
        };
        println!("{error}");
        assert!(
            matches!(
                &error,
                GpuError::PipelineRejected { pipeline: name, shaders, result, .. }
                    if name.contains(pipeline)
                        && shaders.contains(shader)
                        && *result == vk::Result::ERROR_INITIALIZATION_FAILED
            ),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(text.contains(pipeline) && text.contains(shader), "{text}");
    }
    let Some(error) = failing("pipeline:lighting=out-of-device-memory") else { return };
    assert!(matches!(error, GpuError::OutOfMemory { .. }), "{error:?}");
}

/// The largest difference of two pictures' light, relative to the larger value.
fn difference(a: &[[f32; 3]], b: &[[f32; 3]]) -> f32 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(a, b)| (a - b).abs() / a.max(*b).max(1e-3)).fold(0.0, f32::max)
}

#[test]
fn the_general_pipeline_replaces_a_rejected_special_one() {
    // Light lists cull what is too dark for the exposure.
    let exposure = Exposure::from_ev100(Ev100(4.0)).unwrap();
    let settings = RenderSettings { exposure, ..RenderSettings::default() };
    let Some(guard) = gpu_with(Vec::new()) else { return };
    let mut renderer = Renderer::new(&guard.gpu).unwrap();
    let on_device = renderer.upload(&scene()).unwrap();
    let expected = renderer.render(&on_device, &view(), &settings).unwrap().nits;
    assert_eq!(guard.gpu.remarks(), Vec::<String>::new());
    let times = guard.gpu.pipeline_times();
    let special: Vec<_> = times.iter().filter(|time| time.name.starts_with("lighting")).collect();
    let [special] = special[..] else { panic!("{times:?}") };
    drop((on_device, renderer));

    let fault = format!("pipeline:{}=initialization-failed", special.name);
    let guard = gpu_with(vec![Fault::parse(&fault).unwrap()]).unwrap();
    let mut renderer = Renderer::new(&guard.gpu).unwrap();
    let on_device = renderer.upload(&scene()).unwrap();
    let picture = renderer.render(&on_device, &view(), &settings).unwrap().nits;
    assert!(expected.iter().flatten().any(|&light| light > 0.0));
    // Two steps of the half floats in which light is stored (tests/gpu/specialization.rs).
    let off = difference(&picture, &expected);
    assert!(off <= 2.0 / 1024.0, "{off}");
    let remarks = guard.gpu.remarks();
    println!("{remarks:?}");
    let [remark] = &remarks[..] else { panic!("{remarks:?}") };
    for part in [&*special.name, "lighting.comp", "general pipeline", "Initialization"] {
        assert!(remark.contains(part), "{remark}: no '{part}'");
    }
    // Later frames use it without another attempt.
    let created = guard.gpu.pipeline_times().len();
    renderer.render(&on_device, &view(), &settings).unwrap();
    assert_eq!(guard.gpu.pipeline_times().len(), created);
    assert_eq!(guard.gpu.remarks().len(), 1);
}

/// A frame creates no pipeline that it does not use; the status line has nothing to show after it.
#[test]
fn pipelines_are_created_when_a_frame_needs_them() {
    let Some(guard) = gpu_with(Vec::new()) else { return };
    let mut renderer = Renderer::new(&guard.gpu).unwrap();
    let on_device = renderer.upload(&scene()).unwrap();
    renderer.render(&on_device, &view(), &RenderSettings::default()).unwrap();
    let names = |gpu: &Gpu| -> Vec<String> {
        gpu.pipeline_times().into_iter().map(|time| time.name).collect()
    };
    let first = names(&guard.gpu);
    // Devices that draw indirectly cull every scene.
    for absent in ["ao", "background", "gbuffer channel", "accumulate", "velocity"] {
        assert!(!first.iter().any(|name| name.starts_with(absent)), "{absent}: {first:?}");
    }
    assert_eq!(guard.gpu.compile_progress(), None);
    let channel = RenderSettings {
        aovs: vec![Aov::Channel(GbufferChannel::Normal)],
        ..RenderSettings::default()
    };
    renderer.render(&on_device, &view(), &channel).unwrap();
    let second = names(&guard.gpu);
    assert_eq!(second[first.len()..], ["gbuffer channel"]);
}

/// No content of the cache file fails a start or changes a picture.
#[test]
fn a_damaged_pipeline_cache_is_ignored() {
    let settings = RenderSettings::default();
    let Some(guard) = gpu_with(Vec::new()) else { return };
    drop(guard);
    let folder = tempfile::tempdir().unwrap();
    let options = GpuOptions { cache_dir: Some(folder.path().into()), ..GpuOptions::default() };
    let picture = || {
        let gpu = Gpu::open(&options).unwrap();
        let mut renderer = Renderer::new(&gpu).unwrap();
        let on_device = renderer.upload(&scene()).unwrap();
        let picture = renderer.render(&on_device, &view(), &settings).unwrap().display;
        (picture, gpu.pipeline_cache_file().unwrap().to_owned(), gpu.remarks())
    };
    let (expected, file, remarks) = picture();
    assert_eq!(remarks, Vec::<String>::new());
    for bytes in [vec![], vec![0; 7], vec![0; 32], vec![0xff; 4096], b"S16PIPE1".repeat(9)] {
        std::fs::write(&file, &bytes).unwrap();
        assert_eq!(picture().0, expected, "{} bytes", bytes.len());
    }
    // A folder in its place cannot be read or replaced.
    let _ = std::fs::remove_file(&file);
    std::fs::create_dir(&file).unwrap();
    assert_eq!(picture().0, expected, "a folder");
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
