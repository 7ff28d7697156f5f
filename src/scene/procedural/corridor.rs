//! A lit corridor with a closed door to a dark room: a test scene for light leaks.

use glam::{DAffine3, DMat4, DVec3, Vec2, Vec3};

use super::{
    shapes::{self, append},
    solids::plate,
};
use crate::{
    photometry::{Kelvin, Lumen},
    scene::{
        Primitive, Scene,
        build::{MaterialId, SceneBuilder, SceneError, black_body, dielectric},
    },
};

/// Look of the corridor, with its exposure. The room is dark at any exposure.
pub const LOOK: &str = include_str!("../../../assets/demos/corridor.look.toml");

/// Flux of the corridor's light.
pub const LAMP: Lumen = Lumen(1500.0);

/// Thickness of every wall, of the floor and of the ceiling (m).
pub const WALL: f32 = 0.1;

/// A corridor of 8 m x 1.6 m and a room of 4 m x 4 m behind a closed door in the wall between them,
/// all walls 0.1 m thick, 2.5 m high. One point light of `LAMP` and 3,000 K is in the corridor,
/// none in the room.
///
/// No light passes: solids interpenetrate, and the leaf's rebate is 2 mm deep in the stop on all
/// sides. Cameras: "Corridor" and "Room", both toward the door, 1.3 m and 3.4 m from it. The wall
/// between is around z = 0, the corridor on its +Z side, and the door's center is the origin.
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn corridor() -> Result<Scene, SceneError> {
    let mut builder = SceneBuilder::new("Corridor");
    let mut matte =
        |name: &str, rgb: [f32; 3]| builder.add_material(dielectric(name, Vec3::from(rgb), 0.95));
    let paint = matte("Wall paint", [0.72, 0.70, 0.66]);
    let ceiling = matte("Ceiling paint", [0.78, 0.78, 0.77]);
    let boards = matte("Oak floor", [0.34, 0.21, 0.11]);
    let varnish = matte("Door paint", [0.12, 0.25, 0.32]);
    let white = matte("White gloss paint", [0.70, 0.69, 0.65]);
    let cloth = matte("Seat cloth", [0.45, 0.06, 0.04]);
    let (half, top) = (WALL * 0.5, 2.5);
    // Floor and ceiling extend beyond all walls, which are sunk into them by different depths.
    let mut block = |name: &str, low: [f32; 3], high: [f32; 3], material: MaterialId| {
        let mesh = builder.add_mesh(name, solid(low, high), material);
        builder.instance(name, mesh, DMat4::IDENTITY);
    };
    block("Floor", [-4.2, -WALL, -4.25], [4.2, 0.0, 1.85], boards);
    block("Ceiling", [-4.2, top, -4.25], [4.2, top + WALL, 1.85], ceiling);
    let (far, back) = (1.6 + half, -4.0 - half);
    block("Corridor wall", [-4.06, -0.05, far], [4.06, top + 0.05, far + WALL], paint);
    for side in [-1.0f32, 1.0] {
        let (a, b) = (side * 4.0, side * (4.0 + WALL));
        block("Corridor end", [a.min(b), -0.04, 0.02], [a.max(b), top + 0.04, far + 0.03], paint);
        let (a, b) = (side * 2.0, side * (2.0 + WALL));
        block("Room side", [a.min(b), -0.03, back - 0.03], [a.max(b), top + 0.03, -0.01], paint);
    }
    block("Room back", [-2.07, -0.06, back - WALL], [2.07, top + 0.06, back], paint);
    block("Bench", [1.2, 0.40, 1.18], [2.9, 0.46, 1.6], boards);
    block("Seat", [1.25, 0.45, 1.22], [2.85, 0.52, 1.58], cloth);
    block("Bench leg", [1.35, -0.01, 1.24], [1.43, 0.42, 1.56], boards);
    block("Bench leg", [2.67, -0.01, 1.24], [2.75, 0.42, 1.56], boards);
    block("Table", [-1.7, 0.70, -3.6], [-0.3, 0.74, -2.8], boards);
    for (x, z) in [(-1.65, -3.55), (-0.41, -3.55), (-1.65, -2.91), (-0.41, -2.91)] {
        block("Table leg", [x, -0.01, z], [x + 0.06, 0.71, z + 0.06], boards);
    }
    for (name, part, material) in [
        // From beyond one end of the corridor to beyond the other, with a cutout for the doorway.
        ("Wall between", wall_between(top), paint),
        ("Door frame", frame(0.41, 2.01, 0.5, 2.1, half + 0.015), white),
        ("Architrave", architrave(half), white),
        ("Stop", stop(), white),
        ("Door", leaf(), varnish),
    ] {
        let mesh = builder.add_mesh(name, part, material);
        builder.instance(name, mesh, DMat4::IDENTITY);
    }
    let skirting = builder.add_mesh(
        "Skirting",
        solid([-3.99, -0.01, far - 0.015], [3.99, 0.09, far + 0.02]),
        white,
    );
    builder.instance("Skirting", skirting, DMat4::IDENTITY);
    builder.point_light_lumens(
        "Lamp",
        LAMP,
        black_body(Kelvin(3000.0)),
        DVec3::new(-1.2, 2.25, 0.85),
    );
    builder.camera(
        "Corridor",
        DVec3::new(-3.4, 1.6, 1.25),
        DVec3::new(1.2, 1.15, 0.2),
        1.0,
        Some(4.0 / 3.0),
    );
    builder.camera(
        "Room",
        DVec3::new(1.3, 1.6, -3.4),
        DVec3::new(-0.1, 1.1, 0.0),
        1.0,
        Some(4.0 / 3.0),
    );
    builder.build()
}

/// A box between two corners (m).
fn solid(low: [f32; 3], high: [f32; 3]) -> Primitive {
    let (low, high) = (Vec3::from(low), Vec3::from(high));
    let place = DAffine3::from_translation(((low + high) * 0.5).as_dvec3());
    shapes::transformed(&shapes::cuboid(high - low), &place)
}

fn wall_between(top: f32) -> Primitive {
    let half = WALL * 0.5;
    plate(&[-4.07, -0.45, 0.45, 4.07], &[-0.07, 2.05, top + 0.07], (-half, half), |x, y| {
        (x, y) != (1, 0)
    })
}

/// Three sides around the doorway, with half width `inner`; sunk into the floor.
fn frame(inner: f32, inner_top: f32, outer: f32, outer_top: f32, depth: f32) -> Primitive {
    plate(
        &[-outer, -inner, inner, outer],
        &[-0.03, inner_top, outer_top],
        (-depth, depth),
        |x, y| (x, y) != (1, 0),
    )
}

/// Boards around the doorway on both faces of the wall, slightly sunk into it.
fn architrave(half: f32) -> Primitive {
    let mut whole = Primitive::default();
    for (zs, foot) in [((half - 0.01, half + 0.022), -0.02), ((-half - 0.022, -half + 0.01), -0.02)]
    {
        let part =
            plate(&[-0.52, -0.425, 0.425, 0.52], &[foot, 2.025, 2.12], zs, |x, y| (x, y) != (1, 0));
        append(&mut whole, &part, &DAffine3::IDENTITY);
    }
    whole
}

/// The stop on all four sides of the leaf: the rebate of the frame, and the sill.
fn stop() -> Primitive {
    plate(&[-0.43, -0.39, 0.39, 0.43], &[-0.02, 0.02, 1.99, 2.03], (-0.005, 0.02), |x, y| {
        (x, y) != (1, 1)
    })
}

/// The leaf, 4 cm thick, 2 mm deep in the stop, with a handle on each side.
fn leaf() -> Primitive {
    let mut whole = solid([-0.405, 0.008, -0.043], [0.405, 2.003, -0.003]);
    let knob: Vec<Vec2> = [
        (0.0, 0.0),
        (0.02, 0.0),
        (0.02, 0.01),
        (0.01, 0.014),
        (0.01, 0.035),
        (0.026, 0.045),
        (0.026, 0.06),
        (0.0, 0.066),
    ]
    .map(|(r, y)| Vec2::new(r, y))
    .to_vec();
    let knob = shapes::lathe(&knob, shapes::CREASE, 24);
    for (z, turn) in [(-0.006, 1.0), (-0.04, -1.0)] {
        let pose = DAffine3::from_translation(DVec3::new(0.33, 1.02, z))
            * DAffine3::from_rotation_x(turn * std::f64::consts::FRAC_PI_2);
        append(&mut whole, &knob, &pose);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::procedural::shapes::checks::assert_closed;

    #[test]
    fn everything_is_closed() {
        for mesh in &corridor().unwrap().meshes {
            mesh.primitives.iter().for_each(assert_closed);
        }
    }
}
