//! `sunny16 bench --what rays`: primary, shadow and diffuse rays a second, on host and device.

use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    args::BenchArgs,
    host_rays::{Rates, Rays, camera_rays, small_camera},
};
use crate::{
    bvh::{NONE, Ray, SceneBvh, SceneTlas, casts_shadow},
    cli::error::CliError,
    gpu::{Gpu, RAY_QUERY, RayBackend, shader_structs::rays::TraceHit},
    passes::rays::{DeviceTracer, MAX_RAYS},
    reference::World,
    session::{self, OpenScene},
};

/// Rates on the device, and the fraction of rays whose hits equal those of the host.
fn measure_on_device(
    rays: &Rays,
    device: &mut DeviceTracer,
    (bvh, top): (&SceneBvh, &SceneTlas),
    seconds: f64,
) -> Result<(Rates, f64), CliError> {
    let (mut matching, mut all) = (0usize, 0usize);
    let mut of = |rays: &[Ray], any: bool| -> Result<Option<f64>, CliError> {
        let rays = &rays[..rays.len().min(MAX_RAYS)];
        if rays.is_empty() {
            return Ok(None);
        }
        let sent = device.upload_rays(rays, any)?;
        let (hit, _) = device.trace(&sent)?;
        let same = |(ray, hit): (&Ray, &TraceHit)| {
            if any {
                bvh.occluded(top, ray) == (hit.instance != NONE)
            } else {
                bvh.closest(top, ray).map_or(NONE, |hit| hit.instance) == hit.instance
            }
        };
        matching += rays.par_iter().zip(&hit).filter(|pair| same(*pair)).count();
        all += rays.len();
        let (mut traced, mut passed) = (0usize, 0.0);
        while passed < seconds || traced == 0 {
            passed += device.trace(&sent)?.1;
            traced += rays.len();
        }
        Ok(Some(traced as f64 / f64::max(passed, 1e-9)))
    };
    let rates = Rates {
        primary: of(&rays.primary, false)?,
        shadow: of(&rays.shadow, true)?,
        diffuse: of(&rays.diffuse, false)?,
    };
    Ok((rates, matching as f64 / all.max(1) as f64))
}

/// Measures the rays of a scene on the host and on the device.
pub fn run(args: &BenchArgs, opened: &OpenScene) -> Result<Value, CliError> {
    let (scene, eye) = (&opened.scene, opened.camera.0.w_axis.truncate());
    let mut bvh = SceneBvh::new(scene, casts_shadow);
    let mut options = args.device.options()?;
    if Gpu::open(&options)?.info().has(RAY_QUERY) {
        // Measured in addition to the software BVH.
        options.ray_backend = RayBackend::RayQuery;
    }
    let gpu = Gpu::open(&options)?;
    let info = gpu.info().clone();
    let Some(mut device) = DeviceTracer::new(&gpu, (scene, &bvh), eye, false)? else {
        println!("rays: {} has no triangles to hit", args.scene.name());
        return Ok(Value::Null);
    };
    let by_query =
        if gpu.ray_query() { DeviceTracer::new(&gpu, (scene, &bvh), eye, true)? } else { None };
    let top = bvh.tlas_from(eye);
    let world = World::new(scene, eye);
    let (camera, [width, height]) = small_camera(opened);
    let rays = Rays::new(
        &bvh,
        &top,
        camera_rays(width, height, |place| camera.ray(place)),
        &|from, numbers| {
            let light = world.lights.sample(from, numbers.next_1d(), numbers.next_2d())?;
            Some((light.direction, light.end(from)))
        },
    );
    let two = rays.measure(&bvh, &top, args.seconds);
    let (there, matching) = measure_on_device(&rays, &mut device, (&bvh, &top), args.seconds)?;
    let queried = by_query
        .map(|mut device| measure_on_device(&rays, &mut device, (&bvh, &top), args.seconds))
        .transpose()?;
    bvh.build_wide();
    let four = rays.measure(&bvh, &bvh.tlas_from(eye), args.seconds);
    let threads = rayon::current_num_threads();
    println!(
        "rays, {}, {width}x{height}, {} triangles; million a second",
        args.scene.name(),
        scene.instanced_triangles()
    );
    println!("                                        primary   shadow  diffuse");
    println!("{:<36}  {}", format!("host, {threads} threads, 4-wide BVH"), four.columns());
    println!("{:<36}  {}", format!("host, {threads} threads, binary BVH"), two.columns());
    println!("{:<36}  {}", info.name.chars().take(36).collect::<String>(), there.columns());
    if let Some((rates, _)) = &queried {
        println!("{:<36}  {}", "the same, by ray query", rates.columns());
    }
    println!("{:.4} % of the rays have the same hit on both", matching * 100.0);
    if let Some((_, matching)) = &queried {
        println!("{:.4} % by ray query", matching * 100.0);
    }
    drop(device);
    session::check_validation([&gpu])?;
    Ok(json!({
        "scene": args.scene.name(), "size": [width, height], "triangles": scene.instanced_triangles(),
        "device": info.name, "driver": info.driver, "threads": threads, "matching": matching,
        "rays_per_second": {"host": four.json(), "host_binary_bvh": two.json(), "device": there.json(),
            "device_ray_query": queried.as_ref().map(|(rates, _)| rates.json())},
        "matching_ray_query": queried.map(|(_, matching)| matching),
    }))
}
