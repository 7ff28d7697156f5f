//! A two-story court under the open sky: a test scene for diffuse interreflection.

use std::f32::consts::PI;

use glam::{DAffine3, DMat4, DQuat, DVec3, Vec2, Vec3};

use super::{
    atrium_parts::{banner, column, curtain, door, flipped, keystone, pilaster, surround},
    atrium_plan::{ARCADE, BAYS, GALLERY, GROUND, HALF, PITCH, RADIUS, Storey, UPPER, WALL},
    kit::up,
    random::SplitMix64,
    shapes::{self, CREASE, append, transformed},
    solids::{Arcade, archivolt, cloth, ring},
};
use crate::{
    photometry::{
        Kelvin, Lumen, Lux,
        lights::{Emitter, LightStrength},
    },
    scene::{
        Material, Primitive, Scene,
        build::{
            MaterialId, MeshId, SceneBuilder, SceneError, black_body, dielectric,
            look_at_transform, metal,
        },
    },
};

/// Look of the atrium: a clear sky whose sun matches the scene's, and exposure for a sunny court.
pub const ATRIUM_LOOK: &str = include_str!("../../../assets/demos/atrium.look.toml");

/// Look of the atrium at night, lit by its lanterns only.
pub const LAMPS_LOOK: &str = include_str!("../../../assets/demos/atrium_lamps.look.toml");

/// A court of 19.2 m x 9.6 m with arcades and galleries around it in two stories, fluted columns,
/// balustrades, a fountain and hanging cloth: 246,860 triangles as instanced.
///
/// All surfaces are diffuse and rough, all are closed solids (walls 0.6 m thick), and no two faces
/// are coplanar. Reflectances are near measured ones: stone 0.52 to 0.65, plaster 0.62, terracotta
/// 0.3 (luminance), dyed cloth strongly colored. The sun, 90,000 lx from 52 degrees above the
/// horizon, lights part of the court's floor and the walls of one side. Cameras: "Court", "Arcade"
/// (in the shade of the ground floor) and "Gallery".
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn atrium() -> Result<Scene, SceneError> {
    let mut atrium = furnished("Atrium");
    let builder = &mut atrium.builder;
    let (azimuth, elevation) = (145f64.to_radians(), 52f64.to_radians());
    let to_sun = DVec3::new(
        azimuth.sin() * elevation.cos(),
        elevation.sin(),
        -azimuth.cos() * elevation.cos(),
    );
    let sun = LightStrength::Lux(Lux(90_000.0));
    builder.light(
        "Court sun",
        Emitter::SUN,
        sun,
        Vec3::new(1.04, 1.0, 0.90),
        look_at_transform(DVec3::ZERO, -to_sun),
    );
    atrium.cameras();
    atrium.builder.build()
}

/// The same court at night, lit by 36 lanterns of 470 lm (2,400 K, the replacement of a 40 W bulb),
/// one in each arch of both stories.
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn atrium_by_lamp_light() -> Result<Scene, SceneError> {
    let mut atrium = furnished("Atrium by lamp light");
    atrium.lanterns();
    atrium.cameras();
    atrium.builder.build()
}

/// The court without lights.
fn furnished(name: &str) -> Atrium {
    let mut atrium = Atrium::new(name);
    atrium.shell();
    atrium.floor();
    for storey in [&GROUND, &UPPER] {
        atrium.arcades(storey);
        atrium.walls(storey);
    }
    atrium.balustrade();
    atrium.hangings();
    atrium.fountain();
    atrium.pots();
    atrium
}

struct Atrium {
    builder: SceneBuilder,
    limestone: MaterialId,
    sandstone: MaterialId,
    marble: MaterialId,
    plaster: MaterialId,
    timber: MaterialId,
    terracotta: MaterialId,
    slate: MaterialId,
}

fn at(x: f32, y: f32, z: f32) -> DMat4 {
    DMat4::from_translation(Vec3::new(x, y, z).as_dvec3())
}

fn turned(x: f32, y: f32, z: f32, angle: f32) -> DMat4 {
    at(x, y, z) * DMat4::from_rotation_y(f64::from(angle))
}

/// A rectangular profile from outward distances and heights.
fn bar(out: (f32, f32), height: (f32, f32)) -> [Vec2; 4] {
    let (a, b, low, high) = (out.0, out.1, height.0, height.1);
    [Vec2::new(a, low), Vec2::new(b, low), Vec2::new(b, high), Vec2::new(a, high)]
}

/// Column positions (x, z) and the angle (rad) that turns +Z to the court's center: corners first,
/// then along the sides.
fn columns() -> Vec<(f32, f32)> {
    let mut places = Vec::new();
    for x in 0..=BAYS[0] {
        for z in 0..=BAYS[1] {
            if x == 0 || x == BAYS[0] || z == 0 || z == BAYS[1] {
                places.push((x as f32 * PITCH - HALF.x, z as f32 * PITCH - HALF.y));
            }
        }
    }
    places
}

/// Bay centers (x, z) and the angle (rad) that turns +Z away from the court.
fn bays() -> Vec<(f32, f32, f32)> {
    let mut places = Vec::new();
    for side in [-1.0f32, 1.0] {
        let angle = if side > 0.0 { 0.0 } else { PI };
        places.extend(
            (0..BAYS[0]).map(|bay| ((bay as f32 + 0.5) * PITCH - HALF.x, side * HALF.y, angle)),
        );
        places.extend(
            (0..BAYS[1])
                .map(|bay| (side * HALF.x, (bay as f32 + 0.5) * PITCH - HALF.y, side * PI * 0.5)),
        );
    }
    places
}

impl Atrium {
    fn new(name: &str) -> Self {
        let mut builder = SceneBuilder::new(name);
        let mut matte = |name: &str, rgb: [f32; 3]| {
            builder.add_material(dielectric(name, Vec3::from(rgb), 0.95))
        };
        let limestone = matte("Limestone", [0.66, 0.60, 0.50]);
        let sandstone = matte("Sandstone", [0.62, 0.50, 0.36]);
        let marble = matte("Marble", [0.67, 0.65, 0.61]);
        let plaster = matte("Plaster", [0.68, 0.62, 0.52]);
        let timber = matte("Timber", [0.20, 0.11, 0.055]);
        let terracotta = matte("Terracotta", [0.52, 0.24, 0.13]);
        let slate = matte("Slate", [0.20, 0.20, 0.21]);
        Self { builder, limestone, sandstone, marble, plaster, timber, terracotta, slate }
    }

    fn mesh(&mut self, name: &str, part: Primitive, material: MaterialId) -> MeshId {
        self.builder.add_mesh(name, part, material)
    }

    fn one(&mut self, name: &str, part: Primitive, material: MaterialId) {
        let mesh = self.mesh(name, part, material);
        self.builder.instance(name, mesh, DMat4::IDENTITY);
    }

    fn cameras(&mut self) {
        let (builder, wide) = (&mut self.builder, Some(16.0 / 9.0));
        builder.camera("Court", DVec3::new(-8.7, 1.7, 2.9), DVec3::new(3.0, 3.3, -1.2), 1.02, wide);
        builder.camera(
            "Arcade",
            DVec3::new(-10.9, 1.65, -6.7),
            DVec3::new(4.0, 2.1, -5.6),
            0.95,
            wide,
        );
        builder.camera(
            "Gallery",
            DVec3::new(7.9, 7.1, 5.4),
            DVec3::new(-2.0, 4.5, -4.5),
            1.0,
            wide,
        );
    }

    /// A lantern in each bay, on a chain from the gallery's ceiling: four bars between a ring and a
    /// cap, with a bulb in the center.
    fn lanterns(&mut self) {
        let brass = self.builder.add_material(metal("Brass", Vec3::new(0.89, 0.69, 0.34), 0.35));
        let glow = black_body(Kelvin(2400.0)) * 30_000.0;
        let bulb = Material { emission: glow, ..dielectric("Lantern bulb", Vec3::splat(0.5), 0.5) };
        let bulb = self.builder.add_material(bulb);
        let lathe = |points: &[(f32, f32)]| {
            let points: Vec<Vec2> = points.iter().map(|&(r, y)| Vec2::new(r, y)).collect();
            shapes::lathe(&points, CREASE, 12)
        };
        let mut frame = lathe(&[
            (0.0, 0.34),
            (0.13, 0.33),
            (0.15, 0.35),
            (0.06, 0.44),
            (0.02, 0.5),
            (0.0, 0.5),
        ]);
        let ring = lathe(&[(0.10, 0.0), (0.13, 0.0), (0.13, 0.025), (0.10, 0.025), (0.10, 0.0)]);
        append(&mut frame, &ring, &DAffine3::IDENTITY);
        for corner in 0..6 {
            let around = DAffine3::from_rotation_y(f64::from(corner) * std::f64::consts::FRAC_PI_3);
            let bar = DAffine3::from_translation(DVec3::new(0.0, 0.175, 0.118));
            append(&mut frame, &shapes::cuboid(Vec3::new(0.01, 0.34, 0.01)), &(around * bar));
        }
        append(&mut frame, &shapes::cylinder(0.006, 0.9, 8), &up(0.49));
        let frame = self.mesh("Lantern", frame, brass);
        let ball = self.mesh(
            "Lantern bulb",
            shapes::transformed(&shapes::uv_sphere(0.024, 16, 8), &up(0.25)),
            bulb,
        );
        for storey in [&GROUND, &UPPER] {
            for (x, z, angle) in bays() {
                let pose = turned(x, storey.floor + 2.55, z, angle) * at(0.0, 0.0, 1.1);
                self.builder.instance("Lantern", frame, pose);
                self.builder.instance("Lantern bulb", ball, pose);
                let place = pose.transform_point3(DVec3::new(0.0, 0.205, 0.0));
                self.builder.point_light_lumens(
                    "Lantern",
                    Lumen(470.0),
                    black_body(Kelvin(2400.0)),
                    place,
                );
            }
        }
    }

    /// Outer walls, floors of the galleries, cornices and roof.
    fn shell(&mut self) {
        let (g, top) = (GALLERY, UPPER.floor + UPPER.top);
        self.one("Outer walls", ring(HALF, &bar((g, g + WALL), (-0.2, top + 1.4))), self.plaster);
        self.one(
            "Gallery floor",
            ring(HALF, &bar((-0.33, g + 0.1), (GROUND.top - 0.04, UPPER.floor - 0.06))),
            self.limestone,
        );
        let nosing = [
            Vec2::new(-0.2, GROUND.top + 0.05),
            Vec2::new(-0.2, UPPER.floor),
            Vec2::new(-0.46, UPPER.floor),
            Vec2::new(-0.46, UPPER.floor - 0.09),
            Vec2::new(-0.41, UPPER.floor - 0.14),
            Vec2::new(-0.37, UPPER.floor - 0.22),
            Vec2::new(-0.37, GROUND.top + 0.05),
        ];
        let nosing: Vec<Vec2> = nosing.into_iter().rev().collect();
        // Counter-clockwise, with outward to the right.
        self.one("Cornice", ring(HALF, &flipped(&nosing)), self.sandstone);
        self.one(
            "Gallery paving",
            ring(HALF, &bar((-0.19, g + 0.045), (UPPER.floor - 0.08, UPPER.floor - 0.01))),
            self.terracotta,
        );
        self.one(
            "Roof slab",
            ring(HALF, &bar((-0.30, g + 0.12), (top - 0.05, top + 0.22))),
            self.timber,
        );
        let gutter = [
            Vec2::new(-0.72, top + 0.16),
            Vec2::new(-0.55, top + 0.12),
            Vec2::new(-0.20, top + 0.15),
            Vec2::new(g + 0.2, top + 1.2),
            Vec2::new(g + 0.2, top + 1.34),
            Vec2::new(-0.72, top + 0.28),
        ];
        self.one("Roof", ring(HALF, &gutter), self.terracotta);
        // Rows of half-round tiles down to the court.
        let mut tiles = Primitive::default();
        let slope = (1.06f64 / (f64::from(g) + 0.92)).atan();
        let tile = shapes::cylinder(0.085, 0.9, 8);
        for (along, across, angle) in [(HALF.x, HALF.y, 0.0), (HALF.y, HALF.x, PI * 0.5)] {
            for side in [0.0, PI] {
                let count = (along * 2.0 / 0.32) as usize;
                for index in 0..count {
                    let x = (index as f32 + 0.5) * (2.0 * along / count as f32) - along;
                    // The lower end overhangs the eave; the tile lies on the slope.
                    let eave = Vec3::new(x, top + 0.255, across - 0.76).as_dvec3();
                    let lean = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2 - slope);
                    let pose = DAffine3::from_rotation_y(f64::from(angle + side))
                        * DAffine3::from_rotation_translation(lean, eave);
                    append(&mut tiles, &tile, &pose);
                }
            }
        }
        self.one("Eave tiles", tiles, self.terracotta);
        let base = bar((g - 0.06, g + 0.035), (-0.05, 0.42));
        self.one("Wall base", ring(HALF, &base), self.slate);
        let base = bar((g - 0.05, g + 0.025), (UPPER.floor - 0.045, UPPER.floor + 0.28));
        self.one("Gallery wall base", ring(HALF, &base), self.slate);
    }

    /// Paving of two kinds of stone on mortar; the arcades stand on a step.
    fn floor(&mut self) {
        let ground = Vec3::new((HALF.x + GALLERY + 0.1) * 2.0, 0.3, (HALF.y + GALLERY + 0.1) * 2.0);
        self.one("Mortar", transformed(&shapes::cuboid(ground), &up(-0.18)), self.slate);
        let side = 0.8;
        let tile = shapes::cuboid(Vec3::new(side - 0.012, 0.05, side - 0.012));
        let meshes = [
            self.mesh("Light paving", tile.clone(), self.marble),
            self.mesh("Red paving", tile, self.terracotta),
        ];
        let count = [(HALF.x * 2.0 / side) as usize, (HALF.y * 2.0 / side) as usize];
        for x in 0..count[0] {
            for z in 0..count[1] {
                let edge = x.min(count[0] - 1 - x).min(z).min(count[1] - 1 - z);
                let red = edge == 2 || edge > 2 && (x + z) % 4 == 0;
                let place = |index: usize, half: f32| (index as f32 + 0.5) * side - half;
                // Hidden under the step.
                if edge > 0 {
                    self.builder.instance(
                        "Paving",
                        meshes[usize::from(red)],
                        at(place(x, HALF.x), -0.037, place(z, HALF.y)),
                    );
                }
            }
        }
        let step = [
            Vec2::new(-0.62, -0.1),
            Vec2::new(GALLERY + 0.08, -0.1),
            Vec2::new(GALLERY + 0.08, 0.02),
            Vec2::new(-0.60, 0.02),
            Vec2::new(-0.62, 0.0),
        ];
        self.one("Arcade floor", ring(HALF, &step), self.limestone);
    }

    /// Columns and the walls on arches above them.
    fn arcades(&mut self, storey: &Storey) {
        let part = column(storey.spring, storey.shaft);
        let column = self.mesh("Column", part, self.marble);
        for (x, z) in columns() {
            self.builder.instance("Column", column, at(x, storey.floor, z));
        }
        let arcade = |bays, beyond| Arcade {
            bays,
            pitch: PITCH,
            radius: RADIUS,
            beyond,
            height: storey.top - storey.spring,
            thickness: ARCADE,
            segments: 32,
        };
        let spring = storey.floor + storey.spring;
        // Short sides end inside the long ones; slightly thinner and lower avoids coplanar faces.
        let long = self.mesh("Arcade", arcade(BAYS[0], ARCADE * 0.5 + 0.03).wall(), self.limestone);
        let short = Arcade { height: storey.top - storey.spring - 0.01, ..arcade(BAYS[1], -0.06) };
        let short = self.mesh("Arcade", transformed(&short.wall(), &up(-0.005)), self.limestone);
        let band = archivolt(
            (RADIUS + 0.035, RADIUS + 0.2),
            (ARCADE * 0.5 - 0.02, ARCADE * 0.5 + 0.035),
            16,
        );
        let band = self.mesh("Archivolt", band, self.sandstone);
        let stone = keystone();
        let stone = self.mesh("Keystone", stone, self.sandstone);
        for side in [-1.0f32, 1.0] {
            self.builder.instance("Arcade", long, at(0.0, spring, side * HALF.y));
            self.builder.instance("Arcade", short, turned(side * HALF.x, spring, 0.0, PI * 0.5));
        }
        for (x, z, angle) in bays() {
            for back in [0.0, PI] {
                // Above the capitals, so that no end is visible.
                self.builder.instance("Archivolt", band, turned(x, spring - 0.03, z, angle + back));
                self.builder.instance("Keystone", stone, turned(x, spring, z, angle + back));
            }
        }
    }

    /// Pilasters, gallery beams and doors along the outer walls of a story.
    fn walls(&mut self, storey: &Storey) {
        let pilaster = pilaster(storey.top + 0.1);
        let pilaster = self.mesh("Pilaster", pilaster, self.sandstone);
        let beam = shapes::cuboid(Vec3::new(0.26, 0.34, GALLERY));
        let beam = self.mesh("Beam", beam, self.timber);
        let joist = shapes::cuboid(Vec3::new(PITCH - 0.1, 0.12, 0.1));
        let joist = self.mesh("Joist", joist, self.timber);
        let door = self.mesh("Door", door(), self.timber);
        let surround = self.mesh("Door surround", surround(), self.limestone);
        let middle = storey.floor + storey.top - 0.1;
        for (x, z) in columns() {
            let along = |along: f32, half: f32| (along.abs() - half).abs() < 0.01;
            let (on_x, on_z) = (along(x, HALF.x), along(z, HALF.y));
            if on_z {
                let (out, angle) = (z.signum(), if z > 0.0 { 0.0 } else { PI });
                self.builder.instance(
                    "Pilaster",
                    pilaster,
                    turned(x, storey.floor, z + out * GALLERY, angle),
                );
                self.builder.instance(
                    "Beam",
                    beam,
                    turned(x, middle, z + out * GALLERY * 0.52, angle),
                );
            }
            if on_x {
                let (out, angle) = (x.signum(), x.signum() * PI * 0.5);
                self.builder.instance(
                    "Pilaster",
                    pilaster,
                    turned(x + out * GALLERY, storey.floor, z, angle),
                );
                // Slightly lower than what it crosses in the corners.
                self.builder.instance(
                    "Beam",
                    beam,
                    turned(x + out * GALLERY * 0.52, middle - 0.013, z, angle),
                );
            }
        }
        for (index, (x, z, angle)) in bays().into_iter().enumerate() {
            let pose = turned(x, storey.floor, z, angle);
            for row in 0..4 {
                let place = at(0.0, storey.top - 0.06, 0.62 + 0.72 * row as f32);
                self.builder.instance("Joist", joist, pose * place);
            }
            if index % 3 == 1 {
                let sill = if storey.floor > 0.0 { -0.02 } else { 0.0 };
                self.builder.instance("Door", door, pose * at(0.0, sill, GALLERY));
                self.builder.instance("Door surround", surround, pose * at(0.0, sill, GALLERY));
            }
        }
    }

    fn balustrade(&mut self) {
        let outline = [
            (0.0, 0.0),
            (0.062, 0.0),
            (0.062, 0.06),
            (0.045, 0.075),
            (0.05, 0.10),
            (0.072, 0.2),
            (0.078, 0.26),
            (0.066, 0.34),
            (0.042, 0.44),
            (0.03, 0.54),
            (0.028, 0.60),
            (0.04, 0.63),
            (0.04, 0.66),
            (0.03, 0.68),
            (0.055, 0.70),
            (0.055, 0.76),
            (0.0, 0.76),
        ];
        let outline: Vec<Vec2> = outline.iter().map(|&(r, y)| Vec2::new(r, y)).collect();
        let post = self.mesh("Baluster", shapes::lathe(&outline, CREASE, 8), self.marble);
        let low = shapes::bevelled_box(Vec3::new(PITCH - 0.3, 0.10, 0.24), 0.01);
        let low = self.mesh("Balustrade foot", low, self.limestone);
        let high = shapes::bevelled_box(Vec3::new(PITCH - 0.3, 0.10, 0.22), 0.015);
        let high = self.mesh("Handrail", high, self.marble);
        for (x, z, angle) in bays() {
            let pose = turned(x, UPPER.floor, z, angle);
            self.builder.instance("Balustrade foot", low, pose * at(0.0, 0.04, 0.0));
            self.builder.instance("Handrail", high, pose * at(0.0, 0.87, 0.0));
            for index in 0..10 {
                let along = (index as f32 - 4.5) * 0.253;
                self.builder.instance("Baluster", post, pose * at(along, 0.075, 0.0));
            }
        }
    }

    /// Banners from the upper arches, and curtains in some of the lower ones.
    fn hangings(&mut self) {
        let mut random = SplitMix64::new(7);
        let dyes: [(&str, [f32; 3]); 4] = [
            ("Red cloth", [0.50, 0.022, 0.020]),
            ("Blue cloth", [0.020, 0.070, 0.36]),
            ("Green cloth", [0.030, 0.24, 0.060]),
            ("Saffron cloth", [0.62, 0.25, 0.015]),
        ];
        let dyes = dyes.map(|(name, rgb)| {
            self.builder.add_material(Material {
                double_sided: false,
                ..dielectric(name, Vec3::from(rgb), 1.0)
            })
        });
        let rod = shapes::cylinder(0.022, 2.0, 12);
        let level = DAffine3::from_rotation_z(std::f64::consts::FRAC_PI_2) * up(-1.0);
        let rod = self.mesh("Rod", transformed(&rod, &level), self.timber);
        let sides: Vec<_> =
            bays().into_iter().filter(|(_, z, _)| (z.abs() - HALF.y).abs() < 0.01).collect();
        for (index, &(x, z, angle)) in sides.iter().enumerate() {
            let dye = dyes[(index * 3 + index / 6) % 4];
            let phase = random.uniform(0.0, 6.0) as f32;
            // On the court's side of the arcade, from above the rail to the top of the lower
            // arches.
            if index % 2 == 0 {
                let banner = cloth(28, 26, 0.004, |u, v| banner(u, v, phase));
                let banner = self.mesh("Banner", banner, dye);
                let pose = turned(x, UPPER.floor + 0.72, z, angle + PI) * at(0.0, 0.0, 0.56);
                self.builder.instance("Banner", banner, pose);
                self.builder.instance("Rod", rod, pose * at(0.0, 0.02, 0.0));
            } else {
                let curtain = cloth(48, 12, 0.004, |u, v| curtain(u, v, phase));
                let curtain = self.mesh("Curtain", curtain, dye);
                let mirrored = DMat4::from_scale(DVec3::new(-1.0, 1.0, 1.0));
                let pose = turned(x, GROUND.spring - 0.06, z, angle + PI) * at(0.0, 0.0, -0.02);
                self.builder.instance("Curtain", curtain, pose);
                self.builder.instance("Curtain", curtain, pose * mirrored);
            }
        }
        let iron = shapes::cylinder(0.02, PITCH - 0.4, 10);
        let iron = transformed(
            &iron,
            &(DAffine3::from_rotation_z(std::f64::consts::FRAC_PI_2) * up(-(PITCH - 0.4) * 0.5)),
        );
        let iron = self.mesh("Tie rod", iron, self.slate);
        for (x, z, angle) in bays() {
            self.builder.instance("Tie rod", iron, turned(x, GROUND.spring - 0.05, z, angle));
        }
    }

    /// Fountain in the center of the court: a basin on a foot within a round pool's rim.
    fn fountain(&mut self) {
        let lathe = |points: &[(f32, f32)], segments| {
            let points: Vec<Vec2> = points.iter().map(|&(r, y)| Vec2::new(r, y)).collect();
            shapes::lathe(&points, CREASE, segments)
        };
        let rim = lathe(
            &[
                (0.0, -0.05),
                (1.62, -0.05),
                (1.62, 0.06),
                (1.52, 0.10),
                (1.52, 0.40),
                (1.60, 0.46),
                (1.60, 0.52),
                (1.56, 0.55),
                (1.34, 0.55),
                (1.30, 0.52),
                (1.30, 0.16),
                (0.0, 0.16),
            ],
            64,
        );
        self.one("Pool", rim, self.limestone);
        let bowl = lathe(
            &[
                (0.0, 0.1),
                (0.36, 0.1),
                (0.36, 0.2),
                (0.28, 0.26),
                (0.16, 0.36),
                (0.13, 0.55),
                (0.15, 0.78),
                (0.2, 0.84),
                (0.16, 0.88),
                (0.3, 0.93),
                (0.62, 1.03),
                (0.82, 1.16),
                (0.86, 1.22),
                (0.84, 1.25),
                (0.80, 1.23),
                (0.6, 1.12),
                (0.3, 1.05),
                (0.1, 1.04),
                (0.07, 1.1),
                (0.08, 1.3),
                (0.12, 1.42),
                (0.06, 1.5),
                (0.0, 1.53),
            ],
            64,
        );
        self.one("Fountain", bowl, self.marble);
    }

    fn pots(&mut self) {
        let outline = [
            (0.0, 0.0),
            (0.2, 0.0),
            (0.22, 0.03),
            (0.26, 0.12),
            (0.33, 0.28),
            (0.36, 0.42),
            (0.34, 0.56),
            (0.29, 0.64),
            (0.30, 0.68),
            (0.35, 0.70),
            (0.35, 0.74),
            (0.31, 0.75),
            (0.29, 0.72),
            (0.26, 0.62),
            (0.0, 0.60),
        ];
        let outline: Vec<Vec2> = outline.iter().map(|&(r, y)| Vec2::new(r, y)).collect();
        let pot = self.mesh("Pot", shapes::lathe(&outline, CREASE, 32), self.terracotta);
        let leaf =
            self.builder.add_material(dielectric("Box leaves", Vec3::new(0.05, 0.13, 0.025), 0.9));
        let mut bush = shapes::icosphere(0.42, 3);
        for (position, normal) in bush.positions.iter_mut().zip(&bush.normals) {
            let p = *normal * 9.0;
            let bump = (p.x * 1.7 + p.y).sin() * (p.y * 1.9 - p.z).sin() * (p.z * 1.5 + p.x).sin();
            *position *= 1.0 + 0.12 * bump;
        }
        let bush = self.mesh("Box bush", bush, leaf);
        for (x, z) in [(-1.0f32, -1.0f32), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)] {
            let (x, z) = (x * (HALF.x - 1.9), z * (HALF.y - 1.5));
            self.builder.instance("Pot", pot, at(x, -0.02, z));
            self.builder.instance("Box bush", bush, at(x, 0.96, z));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::scene::procedural::shapes::checks::assert_closed;

    #[test]
    fn the_atrium_has_its_triangles_and_stays_diffuse() {
        let scene = atrium().unwrap();
        let triangles = scene.instanced_triangles();
        assert_eq!(triangles, 246_860);
        assert!((240_000..=260_000).contains(&triangles));
        assert_eq!(scene.cameras.len(), 3);
        assert!(
            scene
                .materials
                .iter()
                .all(|material| material.roughness >= 0.9 && material.metallic == 0.0)
        );
    }

    #[test]
    fn everything_is_closed() {
        for mesh in &atrium().unwrap().meshes {
            mesh.primitives.iter().for_each(assert_closed);
        }
    }

    /// No two large axis-aligned faces of different parts overlap in one plane.
    #[test]
    fn no_two_faces_lie_in_one_plane() {
        let scene = atrium().unwrap();
        /// A node's face: the corners of its box.
        type Face = (usize, [DVec3; 2]);
        let mut planes: HashMap<(usize, i64), Vec<Face>> = HashMap::new();
        for placed in scene.walk() {
            let Some(mesh) = placed.node.mesh else { continue };
            for part in &scene.meshes[mesh].primitives {
                for triangle in part.indices.chunks_exact(3) {
                    let [a, b, c] = [triangle[0], triangle[1], triangle[2]].map(|index| {
                        placed.world.transform_point3(part.positions[index as usize].as_dvec3())
                    });
                    let normal = (b - a).cross(c - a);
                    let axis = normal.abs().max_position();
                    // More than 0.01 m2 and along an axis to 1e-4.
                    if normal.length() < 0.02 || normal.abs()[axis] < normal.length() * (1.0 - 1e-8)
                    {
                        continue;
                    }
                    let side = if normal[axis] > 0.0 { 0 } else { 3 };
                    let plane = (a[axis] * 1e4).round() as i64;
                    planes
                        .entry((axis + side, plane))
                        .or_default()
                        .push((placed.index, [a.min(b).min(c), a.max(b).max(c)]));
                }
            }
        }
        let mut found = Vec::new();
        for ((axis, plane), faces) in planes {
            let axis = axis % 3;
            for (index, (of, [low, high])) in faces.iter().enumerate() {
                for (other, [min, max]) in &faces[..index] {
                    let both = high.min(*max) - low.max(*min);
                    let across = [(axis + 1) % 3, (axis + 2) % 3].map(|axis| both[axis]);
                    let names = [of, other].map(|node| scene.nodes[*node].name.as_str());
                    if of != other && across.iter().all(|&size| size > 0.01) {
                        found.push(format!("{names:?} at {plane} of axis {axis} by {both:.2}"));
                    }
                }
            }
        }
        found.sort();
        found.dedup();
        assert!(found.is_empty(), "{found:#?}");
    }
}
