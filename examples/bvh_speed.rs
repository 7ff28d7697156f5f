//! How fast the trees of `sunny16::bvh` are built and walked: `cargo run --release --example bvh_speed`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

use std::time::Instant;

use glam::{DMat4, DVec3, Vec3};
use rayon::prelude::*;
use sunny16::{
    bvh::{Ray, SceneBvh, sah_cost},
    scene::{Scene, build::SceneBuilder, build::dielectric, procedural::shapes},
};

/// A field of hills with about this many triangles.
fn hills(triangles: usize) -> Scene {
    let side = ((triangles / 2) as f64).sqrt().round() as usize;
    let mut builder = SceneBuilder::new("hills");
    let matte = builder.add_material(dielectric("matte", Vec3::splat(0.5), 1.0));
    let hills = shapes::sheet(side, side, |u, v| {
        let (x, z) = (f64::from(u) * 100.0 - 50.0, f64::from(v) * 100.0 - 50.0);
        let y = 4.0 * (x * 0.2).sin() * (z * 0.17).cos() + 0.6 * (x * 1.9 + z).sin() * (z * 1.3).sin();
        DVec3::new(x, y, z).as_vec3()
    });
    let mesh = builder.add_mesh("hills", hills, matte);
    builder.instance("hills", mesh, DMat4::IDENTITY);
    builder.build().expect("hills")
}

/// Points of the plane by the additive recurrence of Roberts 2018 (R2).
fn spread(index: u32) -> (f32, f32) {
    let at = |step: f64| (f64::from(index) * step).fract() as f32;
    (at(0.754_877_666_246_693), at(0.569_840_290_998_053))
}

fn main() {
    println!("{} threads", rayon::current_num_threads());
    println!("triangles  build ms  refit ms   MiB  SAH cost  from above Mray/s  to a lamp Mray/s");
    for triangles in [10_000, 100_000, 1_000_000] {
        let scene = hills(triangles);
        let start = Instant::now();
        let mut bvh = SceneBvh::new(&scene, |_| true);
        let build = start.elapsed().as_secs_f64() * 1e3;
        let moved = scene.meshes[0].primitives[0].clone();
        let start = Instant::now();
        bvh.refit(0, 0, &moved);
        let refit = start.elapsed().as_secs_f64() * 1e3;
        let top = bvh.seen_from(DVec3::ZERO);
        let free = |origin: Vec3, direction: Vec3| Ray { origin, direction, t_min: 0.0, t_max: 1.0, away: Vec3::ZERO };
        let count = 2_000_000u32;
        // In scan order, as a camera sends them.
        let start = Instant::now();
        let width = f64::from(count).sqrt() as u32;
        let hits: Vec<Vec3> = (0..width * width)
            .into_par_iter()
            .filter_map(|i| {
                let (x, z) =
                    ((i % width) as f32 / width as f32 * 98.0 - 49.0, (i / width) as f32 / width as f32 * 98.0 - 49.0);
                let ray = free(Vec3::new(0.0, 60.0, 0.0), Vec3::new(x, -80.0, z));
                bvh.closest(&top, &ray).map(|hit| ray.origin + ray.direction * hit.t)
            })
            .collect();
        let primary = f64::from(width * width) / start.elapsed().as_secs_f64() / 1e6;
        let start = Instant::now();
        let dark = (0..count)
            .into_par_iter()
            .filter(|&i| {
                let from = hits[(f64::from(i) / f64::from(count) * hits.len() as f64) as usize];
                let (u, v) = spread(i);
                let lamp = Vec3::new(30.0 + u, 12.0, 20.0 + v);
                bvh.occluded(&top, &Ray { away: Vec3::Y, ..free(from, lamp - from) })
            })
            .count();
        let shadow = f64::from(count) / start.elapsed().as_secs_f64() / 1e6;
        println!(
            "{:>9} {build:>9.1} {refit:>9.1} {:>5.0} {:>9.1} {primary:>18.2} {shadow:>17.2}   ({} of {count} dark)",
            scene.shown_triangles(),
            bvh.bytes() as f64 / f64::from(1 << 20),
            sah_cost(&bvh.nodes),
            dark
        );
    }
}
