//! `sunny16 bench --what path`: samples and rays a second of the path tracer, by thread count.

use std::{sync::atomic::AtomicBool, time::Instant};

use serde_json::json;

use super::{
    args::BenchArgs,
    host_rays::{PIXELS, Rays, camera_rays, small_camera},
    record::Measurement,
    threads::on_threads,
    units::{elapsed_ms, mib},
};
use crate::{
    bvh::SceneBvh,
    cli::error::CliError,
    reference::{Film, FilmSettings, PathSettings, Pinhole, Receiver, World},
    session::OpenScene,
};

/// Thread counts to measure: powers of two, then all.
fn thread_counts() -> Vec<usize> {
    let all = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < all).collect();
    counts.push(all);
    counts
}

pub fn run(args: &BenchArgs, session: &OpenScene) -> Result<Measurement, CliError> {
    let scene = &session.scene;
    let eye = session.camera.0.w_axis.truncate();
    let start = Instant::now();
    let mut bvh = SceneBvh::new(scene, |_| true);
    let build_ms = elapsed_ms(start);
    let start = Instant::now();
    bvh.build_wide();
    let widen_ms = elapsed_ms(start);
    let top = bvh.tlas_from(eye);
    let world = World::new(scene, eye);
    let (camera, [width, height]) = small_camera(session, PIXELS);
    let primary = camera_rays(width, height, |place| camera.ray(place));
    let rays = Rays::new(&bvh, &top, primary, &|from, numbers| {
        let choice = world.lights.choice_at(&Receiver::at(from));
        let light = world.lights.sample(&choice, numbers.next_2d())?;
        // The path tracer's light sampling.
        Some((light.direction, light.end(from)))
    });
    let settings = FilmSettings {
        path: PathSettings { bounces: args.bounces.unwrap_or(u32::MAX), ..PathSettings::default() },
        ..FilmSettings::default()
    };

    println!(
        "path tracer, {}, {width}x{height}, {} triangles in {} instances; BVH built in {build_ms:.0} ms and widened in {widen_ms:.0} ms, {:.1} + {:.1} MiB",
        args.scene.name(),
        scene.instanced_triangles(),
        top.instances.len(),
        mib(bvh.bytes() as u64),
        mib(bvh.wide_bytes() as u64)
    );
    println!("         million samples          million rays a second");
    println!("threads  a second   ratio    primary   shadow  diffuse");
    let mut rows = Vec::new();
    let mut alone = None;
    for threads in thread_counts() {
        let (samples, rates) = on_threads(threads, || {
            let samples =
                samples(&world, &camera, Film::new(width, height, settings), args.seconds);
            (samples, rays.measure(&bvh, &top, args.seconds))
        })?;
        let ratio = samples / *alone.get_or_insert(samples);
        println!("{threads:>7}  {:>8.3}  {ratio:>6.2}   {}", samples / 1e6, rates.columns());
        rows.push(json!({
            "threads": threads, "samples_per_second": samples, "ratio": ratio, "rays_per_second": rates.json(),
        }));
    }
    Ok(Measurement {
        device: None,
        scene: Some(args.scene.name()),
        size: Some([width, height]),
        warm_up: serde_json::Value::Null,
        result: json!({
            "bounces": args.bounces,
            "triangles": scene.instanced_triangles(), "instances": top.instances.len(),
            "build_ms": build_ms, "widen_ms": widen_ms,
            "device_bytes": bvh.bytes(), "host_bytes": bvh.wide_bytes(),
            "threads": rows,
        }),
    })
}

/// Samples a second of whole pictures, after one warm-up sample a pixel.
fn samples(world: &World<'_>, camera: &Pinhole, mut film: Film, seconds: f64) -> f64 {
    let stop = AtomicBool::new(false);
    film.add(world, camera, 1, &stop);
    let before = film.total_samples();
    let start = Instant::now();
    loop {
        film.add(world, camera, 1, &stop);
        let passed = start.elapsed().as_secs_f64();
        if passed >= seconds {
            return (film.total_samples() - before) as f64 / passed;
        }
    }
}
