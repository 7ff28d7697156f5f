//! Generated shapes, by number of triangles.

use std::f64::consts::PI;

use glam::{DVec3, Vec3};

use super::units::mib;
use crate::{
    cli::host_memory::available_memory,
    reference::{SamplerKind, sampler::Sampler},
    scene::Primitive,
};

/// Upper bound of memory per triangle during a build in bytes: the shape, the triangles twice, the
/// builder's items and slots, both kinds of nodes and the packets (measured: 310, with rays).
const BYTES_PER_TRIANGLE: u64 = 400;

/// Message if a build of `triangles` triangles exceeds the available memory.
pub fn out_of_memory_reason(triangles: u32) -> Option<String> {
    let needed = u64::from(triangles) * BYTES_PER_TRIANGLE;
    let free = available_memory()?;
    (needed > free)
        .then(|| format!("needs about {:.0} MiB, {:.0} MiB are free", mib(needed), mib(free)))
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
pub fn city(triangles: u32) -> Primitive {
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
