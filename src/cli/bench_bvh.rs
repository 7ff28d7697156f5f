//! `sunny16 bench --what bvh`: BVH build and traversal over generated shapes.

use std::{f64::consts::PI, time::Instant};

use glam::{DMat4, DVec2, DVec3, Vec3};
use serde_json::{Value, json};

use super::{
    CliError,
    bench::{BenchArgs, elapsed_ms, mib},
    bench_path::on_threads,
    bench_rays::{Rays, camera_rays},
};
use crate::{
    bvh::{SceneBvh, sah_cost},
    reference::{SamplerKind, sampler::Sampler},
    scene::{Mesh, Node, Primitive, Scene},
};

/// Primary rays on each side of the picture.
const SIDE: usize = 512;

/// Upper bound of memory per triangle during a build in bytes: the shape, the triangles twice, the
/// builder's items and slots, both kinds of nodes and the packets (measured: 310, with rays).
const BYTES_PER_TRIANGLE: u64 = 400;

/// A named shape generator; its argument is the approximate triangle count.
type Shape = (&'static str, fn(u32) -> Primitive);

const SHAPES: [Shape; 2] = [("rock", rock), ("city", city)];

pub fn run(args: &BenchArgs) -> Result<Value, CliError> {
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
    Ok(Value::Array(rows))
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

/// Message if a build of `triangles` triangles exceeds the available memory.
pub fn out_of_memory_reason(triangles: u32) -> Option<String> {
    let needed = u64::from(triangles) * BYTES_PER_TRIANGLE;
    let free = super::available_memory()?;
    (needed > free)
        .then(|| format!("needs about {:.0} MiB, {:.0} MiB are free", mib(needed), mib(free)))
}

fn scene_of(primitive: Primitive) -> Scene {
    Scene {
        nodes: vec![Node { local: DMat4::IDENTITY, mesh: Some(0), ..Node::default() }],
        roots: vec![0],
        meshes: vec![Mesh { name: String::new(), primitives: vec![primitive] }],
        ..Scene::default()
    }
}

/// Adds a grid of `across` times `down` quads; `at` maps the unit square to positions.
fn sheet(shape: &mut Primitive, across: u32, down: u32, at: impl Fn(f64, f64) -> DVec3) {
    let base = shape.positions.len() as u32;
    for y in 0..=down {
        for x in 0..=across {
            let place = at(f64::from(x) / f64::from(across), f64::from(y) / f64::from(down));
            shape.positions.push(place.as_vec3());
        }
    }
    let row = across + 1;
    for y in 0..down {
        for x in 0..across {
            let a = base + y * row + x;
            shape.indices.extend([a, a + 1, a + row, a + 1, a + row + 1, a + row]);
        }
    }
}

/// A ball with bumps of three sizes over a floor: triangles of similar size, as in scans and
/// subdivision surfaces.
pub fn rock(triangles: u32) -> Primitive {
    let mut shape = Primitive::default();
    let down = (f64::from(triangles) / 4.0).sqrt().round().max(2.0) as u32;
    sheet(&mut shape, 2 * down, down, |u, v| {
        let (phi, theta) = (u * 2.0 * PI, v * PI);
        let d = DVec3::new(theta.sin() * phi.cos(), theta.cos(), theta.sin() * phi.sin());
        let bumps = 0.1 * (9.0 * d.x).sin() * (11.0 * d.y).sin() * (7.0 * d.z).cos();
        d * (1.0 + bumps + 0.01 * (90.0 * d.x).sin() * (80.0 * d.z).sin())
    });
    sheet(&mut shape, 1, 1, |u, v| DVec3::new(u * 6.0 - 3.0, -1.2, 3.0 - v * 6.0));
    shape.normals = vec![Vec3::Y; shape.positions.len()];
    shape
}

/// Disconnected blocks of all heights on a floor: long triangles beside flat ones.
fn city(triangles: u32) -> Primitive {
    let mut shape = Primitive::default();
    let side = (f64::from(triangles) / 12.0).sqrt().round().max(1.0) as u32;
    let pitch = 6.0 / f64::from(side);
    for block in 0..side * side {
        let mut numbers = Sampler::new(SamplerKind::Independent, 5, block, 0, 0);
        let mut next = || numbers.next_1d();
        let size = DVec3::new(
            0.3 + 0.6 * next(),
            (0.2 + 2.0 * next().powi(4)) * (0.3 / pitch + 1.0),
            0.3 + 0.6 * next(),
        );
        let corner = DVec3::new(
            f64::from(block % side) * pitch - 3.0,
            -1.0,
            f64::from(block / side) * pitch - 3.0,
        );
        let base = shape.positions.len() as u32;
        for index in 0..8 {
            let bit = |bit: u32| f64::from(index >> bit & 1);
            shape
                .positions
                .push((corner + size * pitch * DVec3::new(bit(0), bit(1), bit(2))).as_vec3());
        }
        for [a, b, c, d] in
            [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
        {
            shape.indices.extend([a, b, c, a, c, d].map(|corner| base + corner));
        }
    }
    sheet(&mut shape, 1, 1, |u, v| DVec3::new(u * 8.0 - 4.0, -1.0, 4.0 - v * 8.0));
    shape.normals = vec![Vec3::Y; shape.positions.len()];
    shape
}
