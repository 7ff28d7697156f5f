//! A large hall with thousands of small lights: the scene of the light-culling benchmark.

use glam::{DAffine3, DMat4, DQuat, DVec3, Vec2, Vec3};

use super::{
    random::SplitMix64,
    shapes::{self, CREASE},
};
use crate::{
    photometry::{Kelvin, Lumen, Lux},
    scene::{
        Primitive, Scene,
        build::{MaterialId, MeshId, SceneBuilder, SceneError, black_body, dielectric, metal},
    },
};

/// Interior size of the hall (m): along X, up, along Z.
pub const SIZE: DVec3 = DVec3::new(125.0, 14.0, 80.0);

/// Maximum number of lights in the hall.
const MAX_LUMINAIRES: usize = 10_000;

/// Bays across the hall, each with a row of racks and a row of tables.
const AISLES: usize = 8;

/// Illuminance through the roof, on a surface that faces it: a glass-roofed hall by day.
const ROOF_LIGHT: Lux = Lux(5000.0);

/// Name of the roof light, also in the look file.
const ROOF_LIGHT_NAME: &str = "Roof light";

/// Look of the hall: exposed for the roof's light. 5,000 lx on white walls (0.55) is 875 nit; white
/// is 3,686 nit.
pub const HALL_LOOK: &str = include_str!("../../../assets/demos/hall.look.toml");

/// A hall of 125 m x 80 m with trusses, columns, tables and shelves of goods. It has about
/// `triangles_about` triangles (at least 20,000) and `lamps` point lights (at most
/// `MAX_LUMINAIRES`) of 0.2 to 0.6 lm under 5,000 lx from the roof, with one camera, "Along".
///
/// Daylight matters for the benchmark: unoccluded lights spread over a plane add up to far more
/// from afar than from nearby. In a hall lit and exposed for them only, none could be culled
/// (docs/clustered-lights.md).
///
/// Equal arguments give equal scenes. Fewer lights are an evenly spread subset of the 10,000.
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn hall(lamps: usize, triangles_about: usize) -> Result<Scene, SceneError> {
    let mut hall = Hall { builder: SceneBuilder::new("Hall"), triangles: 0, meshes: Vec::new() };
    hall.shell();
    hall.trusses();
    hall.furniture();
    hall.goods(triangles_about);
    hall.lamps(lamps.min(MAX_LUMINAIRES));
    hall.builder.sun(ROOF_LIGHT_NAME, ROOF_LIGHT, Vec3::ONE, DVec3::new(0.35, -1.0, -0.5));
    let eye = DVec3::new(-SIZE.x * 0.5 + 3.0, 3.2, 4.6);
    hall.builder.camera("Along", eye, DVec3::new(20.0, 2.9, 2.5), 0.75, Some(16.0 / 9.0));
    let mut scene = hall.builder.build()?;
    // It represents light that has passed the roof: the roof casts no shadow.
    for light in scene.lights.iter_mut().filter(|light| light.name == ROOF_LIGHT_NAME) {
        light.shadow = false;
    }
    Ok(scene)
}

/// Center (z) of the rack and of the table row in a bay.
fn bay(index: usize) -> (f64, f64) {
    let pitch = SIZE.z / AISLES as f64;
    let start = -SIZE.z * 0.5 + pitch * index as f64;
    (start + 2.2, start + 6.6)
}

/// Heights (m) of the shelf boards.
const BOARDS: [f64; 4] = [0.25, 1.75, 3.25, 4.75];
/// Start of the racks along X (m), length of one (m), and number in a row.
const RACK: (f64, f64, usize) = (-54.0, 12.0, 9);
/// The same for tables; the length is the spacing.
const TABLES: (f64, f64, usize) = (-54.0, 9.0, 12);

struct Hall {
    builder: SceneBuilder,
    triangles: usize,
    /// Triangle count of each mesh.
    meshes: Vec<usize>,
}

impl Hall {
    fn mesh(&mut self, name: &str, part: Primitive, material: MaterialId) -> MeshId {
        self.meshes.push(part.indices.len() / 3);
        self.builder.add_mesh(name, part, material)
    }

    fn show(&mut self, name: &str, mesh: MeshId, pose: DMat4) {
        self.triangles += self.meshes[mesh.index()];
        self.builder.instance(name, mesh, pose);
    }

    fn shell(&mut self) {
        let concrete = self.builder.add_material(dielectric(
            "Brushed concrete",
            Vec3::new(0.30, 0.29, 0.27),
            0.75,
        ));
        let plaster =
            self.builder.add_material(dielectric("Wall paint", Vec3::new(0.55, 0.54, 0.50), 0.85));
        let sheet =
            self.builder.add_material(dielectric("Roof sheets", Vec3::new(0.35, 0.37, 0.40), 0.8));
        let (half, height) = ((SIZE * 0.5).as_vec3(), SIZE.y as f32);
        let floor = shapes::plane(Vec2::new(SIZE.x as f32, SIZE.z as f32), 25, 16);
        let floor = self.mesh("Floor", floor, concrete);
        self.show("Floor", floor, DMat4::IDENTITY);
        let roof = shapes::quad(
            Vec3::new(-half.x, height, half.z),
            Vec3::X * SIZE.x as f32,
            Vec3::NEG_Z * SIZE.z as f32,
            25,
            16,
        );
        let roof = self.mesh("Roof", roof, sheet);
        self.show("Roof", roof, DMat4::IDENTITY);
        for (name, corner, right, columns) in [
            ("North wall", Vec3::new(-half.x, height, -half.z), Vec3::X * SIZE.x as f32, 25),
            ("South wall", Vec3::new(half.x, height, half.z), Vec3::NEG_X * SIZE.x as f32, 25),
            ("West wall", Vec3::new(-half.x, height, half.z), Vec3::NEG_Z * SIZE.z as f32, 16),
            ("East wall", Vec3::new(half.x, height, -half.z), Vec3::Z * SIZE.z as f32, 16),
        ] {
            let wall = shapes::quad(corner, right, Vec3::NEG_Y * height, columns, 4);
            let wall = self.mesh(name, wall, plaster);
            self.show(name, wall, DMat4::IDENTITY);
        }
    }

    /// Columns and trusses.
    fn trusses(&mut self) {
        let steel =
            self.builder.add_material(metal("Galvanized steel", Vec3::new(0.56, 0.57, 0.58), 0.8));
        let paint =
            self.builder.add_material(dielectric("Column paint", Vec3::new(0.50, 0.33, 0.05), 0.7));
        let column = self.mesh("Column", shapes::cylinder(0.28, SIZE.y as f32 - 1.8, 14), paint);
        let mut truss = Primitive::default();
        let (low, high, cells) = (SIZE.y - 1.8, SIZE.y - 0.3, 20);
        let mut beam = |from: DVec3, to: DVec3, thick: f64| {
            let along = to - from;
            let turn = DQuat::from_rotation_arc(DVec3::X, along.normalize_or(DVec3::X));
            let size = DVec3::new(along.length(), thick, thick);
            let pose = DAffine3::from_scale_rotation_translation(size, turn, (from + to) * 0.5);
            shapes::append(&mut truss, &shapes::cuboid(Vec3::ONE), &pose);
        };
        let at = |cell: usize, y: f64| {
            DVec3::new(0.0, y, -SIZE.z * 0.5 + SIZE.z * cell as f64 / f64::from(cells))
        };
        beam(at(0, low), at(cells as usize, low), 0.18);
        beam(at(0, high), at(cells as usize, high), 0.18);
        for cell in 0..cells as usize {
            let (from, to) = if cell % 2 == 0 { (low, high) } else { (high, low) };
            beam(at(cell, from), at(cell + 1, to), 0.1);
        }
        let truss = self.mesh("Truss", truss, steel);
        for index in 0..12 {
            let x = -SIZE.x * 0.5 + SIZE.x * (f64::from(index) + 0.5) / 12.0;
            self.show("Truss", truss, DMat4::from_translation(DVec3::X * x));
            for z in [-30.0, -10.0, 10.0, 30.0] {
                // Beside the bays' aisles, in the gaps between racks.
                self.show("Column", column, DMat4::from_translation(DVec3::new(x, 0.0, z + 0.35)));
            }
        }
    }

    /// Racks and tables.
    fn furniture(&mut self) {
        let steel = self.builder.add_material(dielectric(
            "Powder-coated racks",
            Vec3::new(0.53, 0.52, 0.50),
            0.8,
        ));
        let board = self.builder.add_material(dielectric(
            "Birch plywood",
            Vec3::new(0.46, 0.33, 0.19),
            0.8,
        ));
        let mut rack = Primitive::default();
        let (_, length, count) = RACK;
        let place = |x: f64, y: f64, z: f64| DAffine3::from_translation(DVec3::new(x, y, z));
        for height in BOARDS {
            let shelf = shapes::cuboid(Vec3::new(length as f32 - 0.2, 0.06, 1.2));
            shapes::append(&mut rack, &shelf, &place(0.0, height, 0.0));
        }
        for x in [-0.5, 0.0, 0.5] {
            for z in [-0.56, 0.56] {
                let post = shapes::cuboid(Vec3::new(0.1, 6.2, 0.08));
                shapes::append(&mut rack, &post, &place(x * (length - 0.3), 3.1, z));
            }
        }
        let rack = self.mesh("Rack", rack, steel);
        let mut table =
            shapes::transformed(&shapes::cuboid(Vec3::new(3.2, 0.06, 1.1)), &place(0.0, 0.77, 0.0));
        for (x, z) in [(-1.45, -0.42), (1.45, -0.42), (-1.45, 0.42), (1.45, 0.42)] {
            shapes::append(
                &mut table,
                &shapes::cuboid(Vec3::new(0.08, 0.74, 0.08)),
                &place(x, 0.37, z),
            );
        }
        let table = self.mesh("Table", table, board);
        for index in 0..AISLES {
            let (rack_z, table_z) = bay(index);
            for step in 0..count {
                let x = RACK.0 + RACK.1 * step as f64 + length * 0.5;
                self.show("Rack", rack, DMat4::from_translation(DVec3::new(x, 0.0, rack_z)));
            }
            for step in 0..TABLES.2 {
                let x = TABLES.0 + TABLES.1 * (step as f64 + 0.5);
                self.show("Table", table, DMat4::from_translation(DVec3::new(x, 0.0, table_z)));
            }
        }
    }

    /// Goods on tables and boards up to about the requested triangle count.
    fn goods(&mut self, triangles_about: usize) {
        let card =
            self.builder.add_material(dielectric("Cardboard", Vec3::new(0.38, 0.25, 0.13), 0.9));
        let blue =
            self.builder.add_material(dielectric("Blue plastic", Vec3::new(0.03, 0.11, 0.32), 0.6));
        let red =
            self.builder.add_material(dielectric("Red paint", Vec3::new(0.40, 0.03, 0.025), 0.6));
        let brass =
            self.builder.add_material(metal("Brushed brass", Vec3::new(0.89, 0.75, 0.43), 0.7));
        let jade =
            self.builder.add_material(dielectric("Green paint", Vec3::new(0.06, 0.26, 0.16), 0.6));
        let white =
            self.builder.add_material(dielectric("Plaster", Vec3::new(0.74, 0.72, 0.68), 0.6));
        let jar = [
            (0.0, 0.0),
            (0.14, 0.0),
            (0.2, 0.16),
            (0.18, 0.32),
            (0.1, 0.42),
            (0.12, 0.48),
            (0.0, 0.46),
        ];
        let jar: Vec<Vec2> = jar.iter().map(|&(r, y)| Vec2::new(r, y)).collect();
        let base = |part: Primitive, height: f64| {
            shapes::transformed(&part, &DAffine3::from_translation(DVec3::Y * height))
        };
        let kinds = [
            self.mesh("Box", base(shapes::cuboid(Vec3::new(0.8, 0.6, 0.7)), 0.3), card),
            self.mesh("Crate", base(shapes::cuboid(Vec3::new(0.9, 0.75, 0.8)), 0.375), blue),
            self.mesh("Ball", base(shapes::uv_sphere(0.2, 12, 7), 0.2), red),
            self.mesh("Jar", shapes::lathe(&jar, CREASE, 12), jade),
            self.mesh("Can", shapes::cylinder(0.16, 0.36, 14), brass),
            self.mesh("Ring", base(shapes::torus(0.2, 0.07, 14, 6), 0.07), white),
            self.mesh("Roll", shapes::cylinder(0.12, 0.7, 12), white),
        ];
        let mut random = SplitMix64::new(125);
        let mut places: Vec<DVec3> = Vec::new();
        for index in 0..AISLES {
            let (rack_z, table_z) = bay(index);
            for slot in 0..(RACK.1 * RACK.2 as f64) as usize {
                for height in BOARDS {
                    let x = RACK.0 + slot as f64 + random.uniform(0.46, 0.54);
                    places.push(DVec3::new(x, height + 0.03, rack_z + random.uniform(-0.2, 0.2)));
                }
            }
            for slot in 0..TABLES.2 * 3 {
                let x = TABLES.0 + TABLES.1 * ((slot / 3) as f64 + 0.5) + (slot % 3) as f64 - 1.0;
                places.push(DVec3::new(
                    x + random.uniform(-0.15, 0.15),
                    0.8,
                    table_z + random.uniform(-0.25, 0.25),
                ));
            }
        }
        // Random positions first, which also spreads the empty ones.
        for index in (1..places.len()).rev() {
            places.swap(index, (random.unit() * (index + 1) as f64) as usize);
        }
        for place in places {
            // Three of four goods are boxes or crates.
            let among = if random.unit() < 0.75 { 2 } else { kinds.len() };
            let kind = kinds[(random.unit() * among as f64) as usize];
            if self.triangles + self.meshes[kind.index()] > triangles_about {
                continue;
            }
            let pose = DMat4::from_rotation_translation(
                DQuat::from_rotation_y(random.uniform(-0.1, 0.1)),
                place,
            );
            self.show("Goods", kind, pose);
        }
    }

    /// Strings of small LEDs, 1250 per bay and `MAX_LUMINAIRES` in total: along the tables, a few
    /// centimeters above the rack boards, and under the trusses. Real LED wires give 0.2 to 0.6 lm
    /// each.
    fn lamps(&mut self, count: usize) {
        let mut random = SplitMix64::new(10_000);
        let mut all: Vec<(DVec3, f64, f64)> = Vec::with_capacity(MAX_LUMINAIRES);
        let mut line =
            |start: DVec3, end: DVec3, bulbs: usize, sag: f64, flux: (f64, f64), kelvin: f64| {
                for bulb in 0..bulbs {
                    let t = (bulb as f64 + 0.5) / bulbs as f64;
                    // Each string hangs between supports every tenth of its length.
                    let span = (t * 10.0).fract();
                    let mut position =
                        start.lerp(end, t) - DVec3::Y * sag * 4.0 * span * (1.0 - span);
                    position += DVec3::new(
                        random.uniform(-0.1, 0.1),
                        random.uniform(-0.02, 0.02),
                        random.uniform(-0.06, 0.06),
                    );
                    all.push((
                        position,
                        random.uniform(flux.0, flux.1),
                        kelvin * random.uniform(0.93, 1.07),
                    ));
                }
            };
        let reach = 58.0;
        let across = |y: f64, z: f64| (DVec3::new(-reach, y, z), DVec3::new(reach, y, z));
        for index in 0..AISLES {
            let (rack_z, table_z) = bay(index);
            for (y, aside, bulbs, kelvin) in
                [(0.86, -0.35, 125, 2400.0), (0.86, 0.35, 125, 2700.0), (4.2, 0.0, 100, 2200.0)]
            {
                let (start, end) = across(y, table_z + aside);
                line(start, end, bulbs, 0.02, (0.2, 0.6), kelvin);
            }
            for board in BOARDS {
                for side in [-0.72, 0.72] {
                    let (start, end) = across(board + 0.04, rack_z + side);
                    line(
                        start,
                        end,
                        90,
                        0.02,
                        (0.2, 0.6),
                        if side < 0.0 { 4000.0 } else { 3000.0 },
                    );
                }
            }
            for aside in [-2.0, 2.0] {
                let (start, end) = across(11.6, (rack_z + table_z) * 0.5 + aside);
                line(start, end, 90, 0.4, (0.2, 0.6), 5000.0);
            }
        }
        // One bulb from each of `count` equal parts of the list, selected by multiples of the
        // golden ratio, which avoids aliasing with the strings.
        for index in 0..count {
            let step = all.len() as f64 / count as f64;
            let within = (index as f64 * 0.618_033_988_749_895).fract();
            let chosen = ((index as f64 + within) * step) as usize;
            let Some(&(position, flux, kelvin)) = all.get(chosen) else { continue };
            self.builder.point_light_lumens(
                "Bulb",
                Lumen(flux),
                black_body(Kelvin(kelvin)),
                position,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photometry::lights::Emitter;

    #[test]
    fn the_hall_has_the_triangles_and_the_lamps_that_are_asked_for() {
        for lamps in [16, 1000, 10_000] {
            let scene = hall(lamps, 50_000).unwrap();
            let triangles = scene.instanced_triangles();
            assert!((47_500..=52_500).contains(&triangles), "{triangles}");
            assert_eq!(scene.lights.len(), lamps + 1, "plus the roof light");
            assert_eq!(scene.cameras.len(), 1);
        }
    }

    #[test]
    fn the_lamps_are_inside_spread_and_small() {
        let scene = hall(256, 50_000).unwrap();
        let mut quarters = [0; 4];
        for placed in scene.walk() {
            let Some(light) = placed.node.light else { continue };
            if scene.lights[light].emitter() != Emitter::Point {
                continue;
            }
            let intensity = scene.lights[light].source.candela().unwrap();
            let position = placed.world.w_axis.truncate();
            assert!(position.x.abs() < SIZE.x * 0.5 && position.z.abs() < SIZE.z * 0.5);
            assert!(position.y > 0.1 && position.y < SIZE.y);
            quarters[usize::from(position.x > 0.0) + 2 * usize::from(position.z > 0.0)] += 1;
            let lumens = intensity.get() * 4.0 * std::f64::consts::PI;
            assert!((0.19..=0.61).contains(&lumens));
        }
        assert!(quarters.iter().all(|&count| count > 35), "{quarters:?}");
    }

    #[test]
    fn materials_are_rough_enough() {
        let scene = hall(16, 50_000).unwrap();
        assert!(scene.materials.iter().all(|material| (0.3..=1.0).contains(&material.roughness)));
    }
}
