//! Parts of the atrium: columns, pilasters, doors, stones, and the shapes of its cloth.

use std::f32::consts::{PI, TAU};

use glam::{DAffine3, DVec3, Vec2, Vec3};

use super::{
    atrium_plan::{ARCADE, RADIUS},
    kit::up,
    shapes::{self, CREASE, append, transformed},
    solids::fluted,
};
use crate::scene::Primitive;

/// Reverses a clockwise profile to counter-clockwise.
pub(super) fn flipped(profile: &[Vec2]) -> Vec<Vec2> {
    let next = profile.iter().cycle().skip(1);
    let area: f32 = profile.iter().zip(next).map(|(a, b)| a.perp_dot(*b)).sum();
    if area < 0.0 { profile.iter().rev().copied().collect() } else { profile.to_vec() }
}

/// A column with base and capital, up to a height (m). Its foot is sunk 2 cm; its abacus rises 1.5
/// cm above the springing line.
pub(super) fn column(height: f32, radius: f32) -> Primitive {
    let r = radius;
    let lathe = |points: &[(f32, f32)]| {
        let points: Vec<Vec2> = points.iter().map(|&(out, y)| Vec2::new(out * r, y * r)).collect();
        shapes::lathe(&points, CREASE, 24)
    };
    let torus = |out: f32, y: f32, size: f32| {
        (0..=4).map(move |step| {
            let p = Vec2::from_angle(PI * (step as f32 / 4.0 - 0.5)) * size;
            (out + p.x, y + p.y)
        })
    };
    let mut whole = Primitive::default();
    let plinth = shapes::bevelled_box(Vec3::new(r * 2.9, r * 0.5, r * 2.9), 0.012);
    append(&mut whole, &plinth, &up(r * 0.25 - 0.02));
    let mut foot = vec![(0.0, 0.35), (1.2, 0.35)];
    foot.extend(torus(1.2, 0.66, 0.2));
    foot.extend([(1.16, 0.9), (1.1, 1.0)]);
    foot.extend(torus(1.1, 1.12, 0.1));
    foot.extend([(1.03, 1.26), (0.0, 1.26)]);
    append(&mut whole, &lathe(&foot), &up(-0.02));
    let head = height / r;
    let (from, to) = (1.2 * r, height - 1.5 * r);
    // Tapers upward along a curve (entasis).
    let shaft = fluted(to - from + 0.06, 16, 0.06, 8, |up| r * (1.0 - 0.14 * up * up));
    append(&mut whole, &shaft, &up(from));
    let mut cap = vec![(0.0, head - 1.62), (0.88, head - 1.62)];
    cap.extend(torus(0.88, head - 1.5, 0.09));
    cap.extend([
        (0.88, head - 1.36),
        (0.88, head - 1.22),
        (0.94, head - 1.16),
        (1.06, head - 1.02),
        (1.2, head - 0.84),
        (1.28, head - 0.7),
    ]);
    cap.extend([(1.3, head - 0.62), (1.24, head - 0.56), (0.0, head - 0.56)]);
    append(&mut whole, &lathe(&cap), &DAffine3::IDENTITY);
    let abacus = (r * 2.75).max(ARCADE + 0.1);
    let block = shapes::bevelled_box(Vec3::new(abacus, r * 0.62, abacus), 0.014);
    append(&mut whole, &block, &up(height + 0.015 - r * 0.31));
    whole
}

/// A pilaster against a wall with its face at z = 0, the room toward -Z.
pub(super) fn pilaster(height: f32) -> Primitive {
    let mut whole = Primitive::default();
    for (width, depth, low, high) in [
        (0.52, 0.16, -0.04, height),
        (0.62, 0.24, -0.06, 0.5),
        (0.60, 0.22, height - 0.72, height - 0.58),
        (0.66, 0.28, height - 0.59, height - 0.46),
    ] {
        let size = Vec3::new(width, high - low, depth + 0.13);
        let place = DAffine3::from_translation(
            Vec3::new(0.0, (low + high) * 0.5, 0.13 - size.z * 0.5).as_dvec3(),
        );
        append(&mut whole, &shapes::cuboid(size), &place);
    }
    whole
}

/// A door of two paneled leaves in a wall with its face at z = 0, the room toward -Z.
pub(super) fn door() -> Primitive {
    let mut whole = Primitive::default();
    let mut block = |x: f32, y: f32, size: Vec3| {
        let place = DAffine3::from_translation(Vec3::new(x, y, 0.05 - size.z * 0.5).as_dvec3());
        append(&mut whole, &shapes::cuboid(size), &place);
    };
    for side in [-1.0, 1.0] {
        block(side * 0.354, 1.13, Vec3::new(0.7, 2.3, 0.08));
        for (y, height) in [(0.46, 0.6), (1.16, 0.6), (1.86, 0.6)] {
            block(side * 0.354, y, Vec3::new(0.46, height, 0.105));
        }
    }
    whole
}

/// The stone frame of a door, placed like it.
pub(super) fn surround() -> Primitive {
    let mut whole = Primitive::default();
    let mut block = |x: f32, y: f32, size: Vec3| {
        let place = DAffine3::from_translation(Vec3::new(x, y, 0.06 - size.z * 0.5).as_dvec3());
        append(&mut whole, &shapes::bevelled_box(size, 0.012), &place);
    };
    for side in [-1.0, 1.0] {
        block(side * 0.81, 1.17, Vec3::new(0.22, 2.42, 0.22));
    }
    block(0.0, 2.47, Vec3::new(1.98, 0.26, 0.24));
    block(0.0, 2.64, Vec3::new(2.2, 0.12, 0.34));
    whole
}

/// The keystone of an arch, its front on +Z.
pub(super) fn keystone() -> Primitive {
    let part = shapes::cuboid(Vec3::new(0.3, 0.36, 0.2));
    let mut part = transformed(
        &part,
        &DAffine3::from_translation(DVec3::new(0.0, f64::from(RADIUS) + 0.14, 0.22)),
    );
    for position in &mut part.positions {
        position.x *= position.y / (RADIUS + 0.14);
    }
    part
}

/// A banner, 1.7 m wide and 2.9 m long, hanging from y = 0, with folds that deepen downward and a
/// pointed end.
pub(super) fn banner(u: f32, v: f32, phase: f32) -> Vec3 {
    let length = 2.9 + 0.45 * (1.0 - (2.0 * u - 1.0).abs());
    let folds = (0.015 + 0.055 * v) * (TAU * 3.0 * u + phase + 0.9 * v).sin()
        + 0.02 * v * (TAU * 1.3 * u - phase).sin();
    let narrow = 1.0 - 0.05 * v;
    Vec3::new(
        (u - 0.5) * 1.7 * narrow + 0.03 * v * (3.0 * v + phase).sin(),
        -length * v,
        0.05 + folds,
    )
}

/// Left half of a curtain, gathered toward its side and tied at two fifths of its height; hangs
/// from y = 0.
pub(super) fn curtain(u: f32, v: f32, phase: f32) -> Vec3 {
    let tie = 0.62;
    // Width along the height: open at the top, narrow at the tie, wider below.
    let width = if v < tie {
        1.1 - 0.78 * (v / tie).powi(2)
    } else {
        0.32 + 0.14 * ((v - tie) / (1.0 - tie)).sqrt()
    };
    let depth = 0.055 + 0.035 * (v - tie).abs();
    let wave = (TAU * 8.0 * u + phase + 0.6 * (5.0 * v).sin()).sin();
    Vec3::new(-1.2 + width * u, -2.95 * v, depth * wave)
}
