//! A scene with skinned vertices.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3};
use sunny16::{
    photometry::Lux,
    scene::{
        Primitive, Scene,
        animation::{Deform, Influences, ScenePose, Skin},
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    },
};

/// Many small triangles along X over a floor, each carried by one of two joints regardless of its
/// position.
pub fn confetti(count: usize) -> Scene {
    let mut builder = SceneBuilder::new("confetti");
    let paper = builder.add_material(dielectric("paper", Vec3::splat(0.5), 1.0));
    let floor = builder.add_mesh("floor", shapes::plane(glam::Vec2::splat(8.0), 4, 4), paper);
    builder.instance("floor", floor, DMat4::IDENTITY);
    let joints = [builder.add_node("a", DMat4::IDENTITY), builder.add_node("b", DMat4::IDENTITY)];
    let mut part = Primitive::default();
    let (mut influences, mut number) =
        (Influences { first: vec![0], ..Influences::default() }, 1u32);
    for triangle in 0..count as u32 {
        number = number.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let middle = Vec3::new(
            triangle as f32 / count as f32 * 4.0 - 2.0,
            1.0 + (number >> 20) as f32 / 4096.0,
            0.0,
        );
        for corner in [Vec3::ZERO, Vec3::new(0.12, 0.0, 0.06), Vec3::new(0.0, 0.02, 0.12)] {
            part.indices.push(part.positions.len() as u32);
            part.positions.push(middle + corner);
            part.normals.push(Vec3::Y);
            influences.joints.push(number >> 13 & 1);
            influences.weights.push(1.0);
            influences.first.push(influences.joints.len() as u32);
        }
    }
    let deform = Deform {
        positions: part.positions.clone(),
        normals: part.normals.clone(),
        influences: Some(influences),
        ..Deform::default()
    };
    part.deform = Some(Arc::new(deform));
    let mesh = builder.add_mesh("confetti", part, paper);
    let node = builder.instance("confetti", mesh, DMat4::IDENTITY);
    builder.sun("sun", Lux(50_000.0), Vec3::ONE, DVec3::new(0.2, -1.0, -0.3));
    let mut scene = builder.build().unwrap();
    let joints: Vec<usize> = joints.iter().map(|joint| joint.index()).collect();
    scene.nodes[node.index()].skin = Some(0);
    scene.skins = vec![Skin {
        name: String::new(),
        inverse_bind: vec![DMat4::IDENTITY; joints.len()],
        joints,
    }];
    scene
}

/// A pose with one of the confetti's joints at `far` (m) along Z. The floor's node is the first.
pub fn pose(far: f64) -> ScenePose {
    ScenePose { locals: vec![(2, DMat4::from_translation(DVec3::Z * far))], ..ScenePose::default() }
}
