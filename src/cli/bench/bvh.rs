//! `sunny16 bench --what bvh`: BVH build and traversal over generated shapes.

use std::time::Instant;

use glam::{DMat4, DVec2, DVec3};
use serde_json::{Value, json};

use super::{
    args::BenchArgs,
    host_rays::{Rays, camera_rays},
    record::Measurement,
    shapes::{city, out_of_memory_reason, rock},
    threads::on_threads,
    units::{elapsed_ms, mib},
};
use crate::{
    bvh::{SceneBvh, sah_cost},
    cli::error::CliError,
    scene::{Mesh, Node, Primitive, Scene},
};

/// Primary rays on each side of the picture.
const SIDE: usize = 512;

/// A named shape generator; its argument is the approximate triangle count.
type Shape = (&'static str, fn(u32) -> Primitive);

const SHAPES: [Shape; 2] = [("rock", rock), ("city", city)];

pub fn run(args: &BenchArgs) -> Result<Measurement, CliError> {
    println!("BVHs over generated shapes, {} threads", rayon::current_num_threads());
    println!(
        "                  build ms            widen  refit    SAH         MiB       million rays a second"
    );
    println!(
        "       triangles  1 thread      all      ms     ms   cost  device   host   primary   shadow  diffuse"
    );
    let mut rows = Vec::new();
    for &triangles in &args.triangles {
        for (name, shape) in SHAPES {
            if let Some(why) = out_of_memory_reason(triangles) {
                println!("{name} {triangles:>11}  skipped: {why}");
                rows.push(json!({"shape": name, "triangles": triangles, "left_out": why}));
                continue;
            }
            rows.push(measure(name, shape(triangles), args.seconds)?);
        }
    }
    Ok(Measurement { result: json!({"shapes": rows}), ..Measurement::default() })
}

fn measure(name: &str, shape: Primitive, seconds: f64) -> Result<Value, CliError> {
    let scene = scene_of(shape);
    let start = Instant::now();
    drop(on_threads(1, || SceneBvh::new(&scene, |_| true))?);
    let alone_ms = elapsed_ms(start);
    let start = Instant::now();
    let mut bvh = SceneBvh::new(&scene, |_| true);
    let build_ms = elapsed_ms(start);
    let eye = DVec3::new(0.3, 1.4, 3.2);
    let narrow = bvh.tlas_from(eye);
    let rays = Rays::new(&bvh, &narrow, primary(eye), &|from, numbers| {
        // A box light of 0.5 m.
        let at = DVec3::new(2.0, 3.0, 1.5)
            + DVec3::new(numbers.next_1d(), numbers.next_1d(), numbers.next_1d()) * 0.5;
        Some((at - eye - from, 1.0))
    });
    // Before build_wide, rays traverse the device's binary BVH.
    let two = rays.measure(&bvh, &narrow, seconds);
    let start = Instant::now();
    bvh.build_wide();
    let widen_ms = elapsed_ms(start);
    let four = rays.measure(&bvh, &bvh.tlas_from(eye), seconds);
    let moved =
        scene.meshes.first().and_then(|mesh| mesh.primitives.first()).cloned().unwrap_or_default();
    let start = Instant::now();
    bvh.refit(0, 0, &moved);
    let refit_ms = elapsed_ms(start);
    let (triangles, cost) = (bvh.triangles.len(), sah_cost(&bvh.nodes));
    println!(
        "{name} {triangles:>11} {alone_ms:>9.1} {build_ms:>8.1} {widen_ms:>7.1} {refit_ms:>6.1} {cost:>6.1} {:>7.1} {:>6.1}  {}",
        mib(bvh.bytes() as u64),
        mib(bvh.wide_bytes() as u64),
        four.columns()
    );
    println!("{:>78}  {}", "on the binary BVH", two.columns());
    Ok(json!({
        "shape": name, "triangles": triangles, "build_one_thread_ms": alone_ms, "build_ms": build_ms,
        "widen_ms": widen_ms, "refit_ms": refit_ms, "sah_cost": cost,
        "device_bytes": bvh.bytes(), "host_bytes": bvh.wide_bytes(),
        "rays_per_second": four.json(), "rays_per_second_binary_bvh": two.json(),
    }))
}

/// Primary rays from the eye towards the shape.
fn primary(eye: DVec3) -> Vec<crate::bvh::Ray> {
    let forward = (DVec3::new(0.0, -0.3, 0.0) - eye).normalize();
    let right = forward.cross(DVec3::Y).normalize();
    let up = right.cross(forward);
    camera_rays(SIDE, SIDE, |place: DVec2| {
        let p = (place / SIDE as f64 * 2.0 - 1.0) * 0.45;
        (DVec3::ZERO, (forward + right * p.x - up * p.y).normalize())
    })
}

fn scene_of(primitive: Primitive) -> Scene {
    Scene {
        nodes: vec![Node { local: DMat4::IDENTITY, mesh: Some(0), ..Node::default() }],
        roots: vec![0],
        meshes: vec![Mesh { name: String::new(), primitives: vec![primitive] }],
        ..Scene::default()
    }
}
