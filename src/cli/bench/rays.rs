//! `sunny16 bench --what rays`: primary, shadow and diffuse rays a second, on host and device.

use rayon::prelude::*;
use serde_json::{Value, json};

use super::{
    args::BenchArgs,
    bandwidth::copy_bandwidth,
    host_rays::{Rates, Rays, camera_rays, small_camera},
    record::Measurement,
    series::median,
    warm_up::{self, WarmUp},
};
use crate::{
    bvh::{BvhNode, BvhTriangle, NONE, Ray, SceneBvh, SceneTlas, TraversalStats, casts_shadow},
    cli::error::CliError,
    gpu::{
        Gpu, RAY_QUERY, RayBackend,
        shader_structs::{
            frame::BvhInstance,
            rays::{TraceHit, TraceRay},
        },
        vk,
    },
    passes::rays::{DeviceTracer, MAX_RAYS, MAX_REPETITIONS},
    reference::{Receiver, World},
    session::{self, OpenScene},
};

/// Maximum pixels of the picture that gives the rays: 48 MiB of rays for each kind.
const PIXELS: f64 = 1_048_576.0;
/// Minimum rays of a timed submission; smaller sets are traced several times.
const MIN_RAYS: usize = 1_048_576;
/// Minimum number of timed submissions.
const MIN_SAMPLES: usize = 5;
/// Names of the kinds of rays.
const KINDS: [&str; 3] = ["primary", "shadow", "diffuse"];

/// The kinds of rays in the order of `KINDS`; true for any-hit rays.
fn kinds(rays: &Rays) -> [(&[Ray], bool); 3] {
    [(&rays.primary, false), (&rays.shadow, true), (&rays.diffuse, false)]
}

/// Rates on the device, and the fraction of rays whose hits equal those of the host.
fn measure_on_device(
    rays: &Rays,
    device: &mut DeviceTracer,
    (bvh, top): (&SceneBvh, &SceneTlas),
    (seconds, host_clock): (f64, bool),
) -> Result<(Rates, f64), CliError> {
    let (mut matching, mut all) = (0usize, 0usize);
    let mut rates = [None; 3];
    for ((rays, any), rate) in kinds(rays).into_iter().zip(&mut rates) {
        let rays = &rays[..rays.len().min(MAX_RAYS)];
        if rays.is_empty() {
            continue;
        }
        let sent = device.upload_rays(rays, any)?;
        let hits = device.trace(&sent)?;
        let same = |(ray, hit): (&Ray, &TraceHit)| {
            if any {
                bvh.occluded(top, ray) == (hit.instance != NONE)
            } else {
                bvh.closest(top, ray).map_or(NONE, |hit| hit.instance) == hit.instance
            }
        };
        matching += rays.par_iter().zip(&hits).filter(|pair| same(*pair)).count();
        all += rays.len();
        let repetitions =
            u32::try_from(MIN_RAYS.div_ceil(rays.len())).unwrap_or(1).min(MAX_REPETITIONS);
        let mut time = || -> Result<f64, CliError> {
            let time = device.time(&sent, repetitions)?;
            Ok(if host_clock { time.host } else { time.device })
        };
        let mut warm_up = WarmUp::default();
        while !warm_up.is_complete_after(time()?) {}
        let (mut samples, mut passed) = (Vec::new(), 0.0);
        while samples.len() < MIN_SAMPLES || passed < seconds {
            let sample = time()?;
            passed += f64::max(sample, 1e-6);
            samples.push(sample);
        }
        let traced = rays.len() as f64 * f64::from(repetitions);
        *rate = Some(traced / f64::max(median(&samples), 1e-9));
    }
    let [primary, shadow, diffuse] = rates;
    Ok((Rates { primary, shadow, diffuse }, matching as f64 / all.max(1) as f64))
}

/// Work of a kind of rays in the binary BVH, means per ray.
struct Traversal {
    nodes: f64,
    triangles: f64,
    instances: f64,
}

impl Traversal {
    /// Counted on the host; `None` without rays.
    fn of((rays, any): (&[Ray], bool), bvh: &SceneBvh, top: &SceneTlas) -> Option<Self> {
        let count = |ray: &Ray| {
            let TraversalStats { nodes, triangles, instances } =
                if any { bvh.occlusion_stats(top, ray) } else { bvh.traversal_stats(top, ray) };
            [nodes, triangles, instances].map(u64::from)
        };
        let add = |a: [u64; 3], b: [u64; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
        let sums = rays.par_iter().map(count).reduce(|| [0; 3], add);
        let [nodes, triangles, instances] = sums.map(|sum| sum as f64 / rays.len() as f64);
        (!rays.is_empty()).then_some(Self { nodes, triangles, instances })
    }

    /// Bytes that a ray moves: its own record, the nodes, triangles and instances that it visits,
    /// each once per visit, and its hit. A lower bound of the loads: the boxes of children that it
    /// misses and alpha masks are not counted.
    fn bytes(&self) -> f64 {
        (size_of::<TraceRay>() + size_of::<TraceHit>()) as f64
            + self.nodes * size_of::<BvhNode>() as f64
            + self.triangles * size_of::<BvhTriangle>() as f64
            + self.instances * size_of::<BvhInstance>() as f64
    }
}

/// Measures the rays of a scene on the host and on the device.
pub fn run(args: &BenchArgs, opened: &OpenScene) -> Result<Measurement, CliError> {
    let (scene, eye) = (&opened.scene, opened.camera.0.w_axis.truncate());
    let mut bvh = SceneBvh::new(scene, casts_shadow);
    let mut options = args.device.options()?;
    if Gpu::open(&options)?.info().has(RAY_QUERY) {
        // Measured in addition to the software BVH.
        options.ray_backend = RayBackend::RayQuery;
    }
    let gpu = Gpu::open(&options)?;
    let info = gpu.info().clone();
    let (camera, [width, height]) = small_camera(opened, PIXELS);
    let measurement = |result: Value| Measurement {
        device: Some(info.clone()),
        scene: Some(args.scene.name()),
        size: Some([width, height]),
        warm_up: warm_up::json(0),
        result,
    };
    let Some(mut device) = DeviceTracer::new(&gpu, (scene, &bvh), eye, false)? else {
        println!("rays: {} has no triangles to hit", args.scene.name());
        return Ok(measurement(Value::Null));
    };
    let by_query =
        if gpu.ray_query() { DeviceTracer::new(&gpu, (scene, &bvh), eye, true)? } else { None };
    let top = bvh.tlas_from(eye);
    let world = World::new(scene, eye);
    let rays = Rays::new(
        &bvh,
        &top,
        camera_rays(width, height, |place| camera.ray(place)),
        &|from, numbers| {
            let choice = world.lights.choice_at(&Receiver::at(from));
            let light = world.lights.sample(&choice, numbers.next_2d())?;
            // Short of an emissive triangle, which the path tracer would recognize: both would hit
            // it or not by rounding.
            Some((light.direction, light.end(from) * (1.0 - 1e-4)))
        },
    );
    let two = rays.measure(&bvh, &top, args.seconds);
    // Software drivers time submissions without draws wrongly.
    let host_clock = info.kind == vk::PhysicalDeviceType::CPU;
    let timing = (args.seconds, host_clock);
    let (there, matching) = measure_on_device(&rays, &mut device, (&bvh, &top), timing)?;
    let queried = by_query
        .map(|mut device| measure_on_device(&rays, &mut device, (&bvh, &top), timing))
        .transpose()?;
    let bandwidth = copy_bandwidth(&gpu)?;
    let traversal = kinds(&rays).map(|kind| Traversal::of(kind, &bvh, &top));
    bvh.build_wide();
    let four = rays.measure(&bvh, &bvh.tlas_from(eye), args.seconds);
    let threads = rayon::current_num_threads();
    let clock = if host_clock { "host clock" } else { "device timestamps" };
    println!(
        "rays, {}, {width}x{height}, {} triangles; million a second, device by {clock}",
        args.scene.name(),
        scene.instanced_triangles()
    );
    let columns = |of: &dyn Fn(usize) -> Option<String>| {
        [0, 1, 2].map(|kind| format!("{:>8}", of(kind).unwrap_or("-".into()))).join(" ")
    };
    let row = |name: &str, values: String| println!("{name:<36}  {values}");
    row("", columns(&|kind| KINDS.get(kind).map(|&name| name.into())));
    row(&format!("host, {threads} threads, 4-wide BVH"), four.columns());
    row(&format!("host, {threads} threads, binary BVH"), two.columns());
    row(&info.name.chars().take(36).collect::<String>(), there.columns());
    if let Some((rates, _)) = &queried {
        row("the same, by ray query", rates.columns());
    }
    let bytes = |kind: usize| traversal.get(kind)?.as_ref().map(Traversal::bytes);
    // Fraction of the copy bandwidth that the bytes of the rays need.
    let share = |kind: usize| Some(there.get(kind)? * bytes(kind)? / bandwidth?);
    row("bytes a ray, binary BVH, at least", columns(&|kind| Some(format!("{:.0}", bytes(kind)?))));
    if let Some(bandwidth) = bandwidth {
        row(
            &format!("% of the copy bandwidth, {:.0} GB/s", bandwidth * 1e-9),
            columns(&|kind| Some(format!("{:.1}", share(kind)? * 100.0))),
        );
    }
    println!("{:.4} % of the rays have the same hit on both", matching * 100.0);
    if let Some((_, matching)) = &queried {
        println!("{:.4} % by ray query", matching * 100.0);
    }
    drop(device);
    session::check_validation([&gpu])?;
    let kinds: Vec<Value> = kinds(&rays)
        .iter()
        .zip(KINDS)
        .zip(&traversal)
        .enumerate()
        .map(|(kind, (((rays, _), name), traversal))| {
            json!({
                "kind": name, "rays": rays.len(),
                "host_per_second": four.get(kind), "host_binary_bvh_per_second": two.get(kind),
                "device_per_second": there.get(kind),
                "device_ray_query_per_second":
                    queried.as_ref().and_then(|(rates, _)| rates.get(kind)),
                "nodes": traversal.as_ref().map(|work| work.nodes),
                "triangles": traversal.as_ref().map(|work| work.triangles),
                "instances": traversal.as_ref().map(|work| work.instances),
                "bytes": bytes(kind), "bandwidth_share": share(kind),
            })
        })
        .collect();
    Ok(measurement(json!({
        "triangles": scene.instanced_triangles(), "clock": clock,
        "copy_bytes_per_second": bandwidth,
        "matching": matching, "matching_ray_query": queried.as_ref().map(|(_, matching)| matching),
        "kinds": kinds,
    })))
}
