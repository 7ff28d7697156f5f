//! A walled court with orange trees, and a channel of water around a row of columns.

use std::{
    f32::consts::{PI, TAU},
    sync::Arc,
};

use glam::{DAffine3, DMat4, DQuat, DVec2, DVec3, Vec2, Vec3};

use super::{
    atrium_parts::column,
    kit::{Kit, Weave, at, block, ground, joined, moved, stick, turned, turned_on_lathe},
    random::{SplitMix64, fractal_noise, noise},
    shapes::{self, append},
    solids::{Arcade, archivolt, cloth, ring},
    textures,
};
use crate::{
    photometry::color::srgb_oetf_f32,
    scene::{
        AlphaMode, Material, Primitive, Sampler, Scene, WaterSettings, Wrap,
        build::{MaterialId, SceneBuilder, SceneError, dielectric},
        water::channel_flow::{Channel, FlowDirection, Obstacle, flow_around},
    },
};

/// Name of the water's material and node.
pub const WATER: &str = "Channel water";

/// Name of the leaves that float on it.
const FALLEN: &str = "Fallen leaf";

/// Look of the court: the morning sun from over the wall.
pub const LOOK: &str = include_str!("../../../assets/demos/courtyard.look.toml");

/// Half of the court (m), along X (the channel's direction) and along Z.
const HALF: Vec2 = Vec2::new(8.0, 5.5);
/// Half of the channel's width, its depth, and the water's depth below the rim (m).
const CHANNEL: f32 = 1.3;
const DEPTH: f32 = 0.55;
const FREEBOARD: f32 = 0.09;
/// Positions of the columns in the water (m along X).
pub const COLUMNS: [f32; 5] = [-5.6, -2.8, 0.0, 2.8, 5.6];
/// Radius of the columns' shafts (m).
const COLUMN: f32 = 0.19;

/// Herringbone bricks, 20 cm x 10 cm, over 0.8 m x 0.8 m: distance (m) to the joint, and an index
/// of the brick.
fn herringbone(u: f32, v: f32) -> (f32, f32) {
    let (x, y) = (u * 8.0, v * 8.0);
    let (column, row) = (x.floor() as i64, y.floor() as i64);
    // Along diagonals, each four cells hold a horizontal and a vertical brick.
    let phase = (column - row).rem_euclid(4);
    let (fx, fy) = (x - column as f32, y - row as f32);
    let (along, across, id) = match phase {
        0 => (fx, fy, (column, row)),
        1 => (1.0 + fx, fy, (column - 1, row)),
        2 => (1.0 + fy, fx, (column, row - 1)),
        _ => (fy, fx, (column, row)),
    };
    let joint = along.min(2.0 - along).min(across.min(1.0 - across)) * 0.1;
    let key = [id.0.rem_euclid(8) as f32 + 0.5, id.1.rem_euclid(8) as f32 + 0.5];
    (joint, noise(key[0], key[1], [8, 8], 5100 + phase.rem_euclid(2) as u64))
}

fn paving_color(u: f32, v: f32) -> Vec3 {
    let (joint, tone) = herringbone(u, v);
    if joint < 0.004 {
        return Vec3::new(0.34, 0.30, 0.24);
    }
    let grain = fractal_noise(u, v, [24, 24], 4, 5200);
    Vec3::new(0.40, 0.20, 0.11).lerp(Vec3::new(0.55, 0.33, 0.20), tone) * (0.75 + 0.5 * grain)
}

fn paving_roughness(u: f32, v: f32) -> f32 {
    0.68 + 0.2 * herringbone(u, v).1
}

fn paving_relief(u: f32, v: f32) -> f32 {
    let (joint, tone) = herringbone(u, v);
    0.004 * (joint / 0.007).min(1.0)
        + 0.0015 * tone
        + 0.0008 * fractal_noise(u, v, [24, 24], 2, 5300)
}

/// Glazed tiles of 20 cm with an eight-pointed star, over 0.4 m x 0.4 m.
fn tile_color(u: f32, v: f32) -> Vec3 {
    let (column, row) = ((u * 2.0).floor(), (v * 2.0).floor());
    let p = Vec2::new(u * 2.0 - column - 0.5, v * 2.0 - row - 0.5);
    let joint = 0.5 - p.abs().max_element();
    if joint < 0.012 {
        return Vec3::new(0.42, 0.39, 0.33);
    }
    let blue = Vec3::new(0.025, 0.095, 0.30);
    let green = Vec3::new(0.03, 0.20, 0.15);
    let white = Vec3::new(0.70, 0.67, 0.58);
    let amber = Vec3::new(0.52, 0.27, 0.04);
    let diamond = (p.x.abs() + p.y.abs()) * std::f32::consts::FRAC_1_SQRT_2;
    let star = p.abs().max_element().min(diamond);
    let both = p.abs().max_element().max(diamond);
    let even = (column + row) as i64 % 2 == 0;
    let ground = if even { blue } else { green };
    let glaze = 0.85 + 0.3 * noise(u * 9.0, v * 9.0, [9, 9], 5400);
    let color = if p.length() < 0.09 {
        amber
    } else if both < 0.19 {
        if even { green } else { blue }
    } else if star < 0.27 {
        white
    } else if star < 0.29 {
        Vec3::splat(0.03)
    } else {
        ground
    };
    color * glaze
}

fn tile_roughness(u: f32, v: f32) -> f32 {
    0.16 + 0.1 * noise(u * 8.0, v * 8.0, [8, 8], 5500)
}

fn tile_relief(u: f32, v: f32) -> f32 {
    let p = Vec2::new((u * 2.0).fract() - 0.5, (v * 2.0).fract() - 0.5);
    let joint = (0.5 - p.abs().max_element()) * 0.2;
    0.0025 * (joint / 0.006).clamp(0.0, 1.0).sqrt() + 0.0006 * fractal_noise(u, v, [6, 6], 2, 5600)
}

fn wash_color(u: f32, v: f32) -> Vec3 {
    let blotch = fractal_noise(u, v, [3, 3], 5, 5700);
    Vec3::new(0.80, 0.76, 0.68) * (0.84 + 0.22 * blotch)
}

fn wash_roughness(_: f32, _: f32) -> f32 {
    0.92
}

fn wash_relief(u: f32, v: f32) -> f32 {
    0.012 * fractal_noise(u, v, [5, 5], 5, 5800)
}

/// A court of 16 m x 11 m behind walls of 4.6 m, with an arcade, orange trees in pots, benches, and
/// a channel of water 2.6 m wide and 0.46 m deep. Five columns in the channel carry a pergola. The
/// water is a level surface of the material [`WATER`] that flows around the columns. Cameras:
/// "Channel", "Across", "Arcade".
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn courtyard() -> Result<Scene, SceneError> {
    let mut court = Court::new();
    court.floor();
    court.water();
    court.walls();
    court.columns();
    court.trees();
    court.benches();
    let builder = &mut court.kit.builder;
    let wide = Some(16.0 / 9.0);
    builder.camera("Channel", DVec3::new(-7.4, 1.62, 2.9), DVec3::new(1.2, 0.75, -0.7), 0.8, wide);
    builder.camera("Across", DVec3::new(0.9, 1.3, 4.6), DVec3::new(-0.6, 0.75, -3.0), 0.8, wide);
    builder.camera("Arcade", DVec3::new(-6.9, 1.62, -4.6), DVec3::new(2.0, 1.3, 0.6), 0.85, wide);
    let mut scene = court.kit.builder.build()?;
    let_flow(&mut scene).map_err(|error| SceneError::Water { name: WATER.into(), error })?;
    Ok(scene)
}

/// Mean speed of the channel's water (m/s), as of a brook.
const SPEED: f64 = 0.35;

/// Sets the channel's water to flow along X, around the columns.
fn let_flow(scene: &mut Scene) -> Result<(), String> {
    let half = [HALF.x, CHANNEL].map(f64::from);
    let origin = DVec2::new(-half[0], -half[1]);
    let size = -2.0 * origin;
    // The plinths' corners extend beyond the shafts, below the surface.
    let radius = f64::from(COLUMN) * 1.2;
    let obstacles = COLUMNS
        .map(|x| Obstacle::Cylinder { center: DVec2::new(f64::from(x), 0.0), radius })
        .to_vec();
    let channel =
        Channel { origin, size, along: FlowDirection::X, obstacles, texels_per_meter: 16.0 };
    let flow = flow_around(&channel).map_err(|error| error.to_string())?;
    let settings = WaterSettings {
        flow: Some(Arc::new(flow.map)),
        rectangle: Some([origin, size]),
        speed: SPEED * flow.peak,
        slope: 0.045,
        slope_still: 0.012,
        tile: 1.6,
        caustics: true,
        debris: Some(FALLEN.into()),
        ..WaterSettings::default()
    };
    let material = scene.materials.iter().position(|material| material.name == WATER);
    scene.add_water(material.ok_or("no material has the water's name")?, &settings)
}

struct Court {
    kit: Kit,
    wash: MaterialId,
    tiles: MaterialId,
    marble: MaterialId,
    timber: MaterialId,
    clay: MaterialId,
}

impl Court {
    fn new() -> Self {
        let mut kit = Kit::new("Courtyard");
        let weave = |size, texels, color, roughness, relief| Weave {
            size: Vec2::splat(size),
            texels: [texels, texels],
            color,
            roughness,
            relief,
        };
        let wash =
            kit.weave("Lime wash", &weave(3.0, 512, wash_color, wash_roughness, wash_relief));
        let tiles =
            kit.weave("Glazed tiles", &weave(0.4, 256, tile_color, tile_roughness, tile_relief));
        let marble = kit.paint("Marble", [0.62, 0.60, 0.56], 0.35);
        let timber = kit.paint("Cedar", [0.20, 0.10, 0.05], 0.7);
        let clay = kit.paint("Fired clay", [0.42, 0.19, 0.10], 0.8);
        Self { kit, wash, tiles, marble, timber, clay }
    }

    fn floor(&mut self) {
        let paving = Weave {
            size: Vec2::splat(0.8),
            texels: [512, 512],
            color: paving_color,
            roughness: paving_roughness,
            relief: paving_relief,
        };
        let paving = self.kit.weave("Herringbone bricks", &paving);
        let deep = HALF.y - CHANNEL;
        let half =
            self.kit.relief_mesh("Paving", ground(Vec2::new(HALF.x * 2.0, deep), (8, 3)), paving);
        for side in [-1.0, 1.0] {
            self.kit.put("Paving", half, at(0.0, 0.0, side * f64::from(CHANNEL + deep * 0.5)));
        }
        // The channel's tiled bed and sides, and its rim.
        let bed = ground(Vec2::new(HALF.x * 2.0, CHANNEL * 2.0), (16, 3));
        self.kit.one_relief("Channel bed", bed, self.tiles, at(0.0, -f64::from(DEPTH), 0.0));
        let side = shapes::quad(
            Vec3::new(-HALF.x, 0.0, 0.0),
            Vec3::X * HALF.x * 2.0,
            Vec3::NEG_Y * DEPTH,
            16,
            1,
        );
        let side = shapes::tiled(side, Vec2::new(HALF.x * 2.0, DEPTH));
        let side = self.kit.relief_mesh("Channel side", side, self.tiles);
        let rim = self.kit.mesh(
            "Channel rim",
            shapes::rounded_box(Vec3::new(1.98, 0.1, 0.34), 0.018, 3),
            self.marble,
        );
        for (z, angle) in [(-CHANNEL, 0.0), (CHANNEL, std::f64::consts::PI)] {
            self.kit.put("Channel side", side, turned(0.0, 0.0, f64::from(z), angle));
            for stone in 0..8 {
                let out = f64::from(z + z.signum() * 0.13);
                self.kit.put("Channel rim", rim, at(f64::from(stone) * 2.0 - 7.0, 0.0, out));
            }
        }
        // A bridge of one slab.
        let slab = shapes::rounded_box(Vec3::new(1.1, 0.14, CHANNEL * 2.0 + 0.9), 0.02, 3);
        self.kit.one("Bridge", slab, self.marble, at(4.2, 0.09, 0.0));
    }

    fn water(&mut self) {
        // `let_flow` sets its water properties once the scene is built.
        let water = self.kit.builder.add_material(dielectric(WATER, Vec3::ONE, 0.0));
        let surface = ground(Vec2::new(HALF.x * 2.0, CHANNEL * 2.0), (160, 26));
        self.kit.one_relief(WATER, surface, water, at(0.0, -f64::from(FREEBOARD), 0.0));
    }

    fn walls(&mut self) {
        let bar = |a: f32, b: f32, low: f32, high: f32| {
            [Vec2::new(a, low), Vec2::new(b, low), Vec2::new(b, high), Vec2::new(a, high)]
        };
        self.kit.one_relief(
            "Walls",
            ring(HALF, &bar(0.0, 0.5, -0.9, 4.6)),
            self.wash,
            DMat4::IDENTITY,
        );
        self.kit.one_relief(
            "Tile band",
            ring(HALF, &bar(-0.03, 0.1, -0.02, 1.2)),
            self.tiles,
            DMat4::IDENTITY,
        );
        self.kit.one(
            "Tile band's edge",
            ring(HALF, &bar(-0.05, 0.1, 1.2, 1.26)),
            self.marble,
            DMat4::IDENTITY,
        );
        let coping = [
            Vec2::new(-0.14, 4.55),
            Vec2::new(0.64, 4.55),
            Vec2::new(0.64, 4.62),
            Vec2::new(0.25, 4.8),
            Vec2::new(-0.14, 4.62),
        ];
        self.kit.one("Coping", ring(HALF, &coping), self.clay, DMat4::IDENTITY);
        // Arcade in front of the far wall: a walk under a roof of beams.
        let arcade = Arcade {
            bays: 5,
            pitch: 3.1,
            radius: 1.15,
            beyond: 0.24,
            height: 1.95,
            thickness: 0.36,
            segments: 32,
        };
        let z = -f64::from(HALF.y) + 1.75;
        self.kit.one_relief("Arcade", arcade.wall(), self.wash, at(0.0, 2.15, z));
        let band = archivolt((1.18, 1.32), (0.16, 0.21), 24);
        let band = self.kit.mesh("Archivolt", band, self.marble);
        let shaft = self.kit.mesh("Column", column(2.15, 0.15), self.marble);
        let beam = self.kit.mesh("Rafter", block(0.12, 0.16, 2.3), self.timber);
        for bay in 0..6 {
            let x = (f64::from(bay) - 2.5) * 3.1;
            self.kit.put("Column", shaft, at(x.clamp(-7.72, 7.72), 0.0, z));
            if bay < 5 {
                self.kit.put("Archivolt", band, at(x + 1.55, 2.12, z));
            }
        }
        for index in 0..22 {
            self.kit.put("Rafter", beam, at(f64::from(index) * 0.74 - 7.77, 4.05, z - 0.75));
        }
        self.kit.one(
            "Arcade roof",
            block(HALF.x * 2.0 - 0.01, 0.1, 2.2),
            self.clay,
            at(0.0, 4.18, z - 0.72),
        );
        // Doors with a pointed panel each, under the arcade and in the side wall.
        let leaf = self.kit.paint("Door, blue paint", [0.035, 0.10, 0.22], 0.5);
        let door = joined(&[
            moved(&block(1.3, 2.4, 0.1), 0.0, 1.2, 0.0),
            moved(&block(0.42, 0.9, 0.15), -0.3, 0.62, 0.0),
            moved(&block(0.42, 0.9, 0.15), 0.3, 0.62, 0.0),
            moved(&block(0.42, 0.9, 0.15), -0.3, 1.72, 0.0),
            moved(&block(0.42, 0.9, 0.15), 0.3, 1.72, 0.0),
        ]);
        let door = self.kit.mesh("Door", door, leaf);
        let frame = joined(&[
            moved(&block(0.18, 2.5, 0.2), -0.74, 1.25, 0.0),
            moved(&block(0.18, 2.5, 0.2), 0.74, 1.25, 0.0),
            moved(&block(1.9, 0.22, 0.24), 0.0, 2.55, 0.0),
        ]);
        let frame = self.kit.mesh("Door frame", frame, self.marble);
        for pose in
            [at(-3.1, 0.0, -f64::from(HALF.y) + 0.02), at(3.1, 0.0, -f64::from(HALF.y) + 0.02)]
        {
            self.kit.put("Door", door, pose);
            self.kit.put("Door frame", frame, pose);
        }
        // A lantern over each door, unlit by day.
        let brass = self.kit.metal("Brass", Vec3::new(0.89, 0.69, 0.34), 0.3);
        let lantern = turned_on_lathe(
            &[
                (0.0, 0.42),
                (0.02, 0.4),
                (0.1, 0.32),
                (0.13, 0.3),
                (0.11, 0.28),
                (0.09, 0.05),
                (0.1, 0.03),
                (0.04, 0.0),
                (0.0, -0.03),
            ],
            8,
        );
        for x in [-3.1, 0.0, 3.1] {
            self.kit.one("Lantern", lantern.clone(), brass, at(x, 3.3, z - 0.8));
        }
    }

    /// Columns in the water that carry a pergola.
    fn columns(&mut self) {
        let height = 2.7 + DEPTH;
        let shaft = self.kit.mesh("Channel column", column(height, COLUMN), self.marble);
        for x in COLUMNS {
            self.kit.put("Channel column", shaft, at(f64::from(x), -f64::from(DEPTH) + 0.02, 0.0));
        }
        self.kit.one("Pergola beam", block(12.6, 0.26, 0.3), self.timber, at(0.0, 2.84, 0.0));
        let slat = self.kit.mesh("Pergola slat", block(0.09, 0.14, 3.4), self.timber);
        for index in 0..25 {
            self.kit.put("Pergola slat", slat, at(f64::from(index) * 0.5 - 6.0, 3.03, 0.0));
        }
        // Cloth across the slats of two bays.
        let saffron = Material {
            double_sided: true,
            ..dielectric("Saffron cloth", Vec3::new(0.62, 0.25, 0.02), 0.95)
        };
        let saffron = self.kit.builder.add_material(saffron);
        let sail = cloth(40, 14, 0.004, |u, v| {
            let sag = -0.16 * (PI * (u * 5.0).fract()).sin();
            Vec3::new(u * 5.6 - 2.8, 3.13 + sag + 0.02 * (v * 9.0 + u * 4.0).sin(), (v - 0.5) * 2.7)
        });
        self.kit.one("Sail", sail, saffron, at(1.4, 0.0, 0.0));
    }

    /// Orange trees in pots, with leaves cut out of one texture.
    fn trees(&mut self) {
        let picture = textures::picture(128, 128, |u, v| {
            let (rgb, opacity) = textures::leaf(u, v);
            let [r, g, b] = (rgb * 0.8).to_array().map(srgb_oetf_f32);
            [r, g, b, opacity]
        });
        let clamp = Sampler { wrap_u: Wrap::Clamp, wrap_v: Wrap::Clamp, ..Sampler::default() };
        let leaf = self.kit.builder.add_texture("Orange leaf", picture, clamp);
        let leaf = Material {
            base_color_texture: Some(SceneBuilder::texture_ref(leaf)),
            alpha: AlphaMode::Mask { cutoff: 0.5 },
            double_sided: true,
            ..dielectric("Orange leaf", Vec3::ONE, 0.42)
        };
        self.fallen_leaves(&leaf);
        let leaf = self.kit.builder.add_material(leaf);
        let blade = shapes::sheet(2, 3, |u, v| {
            let (across, along) = (u - 0.5, 1.0 - v);
            Vec3::new(
                across * 0.085,
                along * 0.13,
                0.3 * across * across * 0.1 - 0.03 * along * along,
            )
        });
        let bark = self.kit.paint("Bark", [0.13, 0.09, 0.06], 0.85);
        let peel = self.kit.paint("Orange peel", [0.72, 0.24, 0.015], 0.38);
        let earth = self.kit.paint("Earth", [0.06, 0.04, 0.025], 1.0);
        let pot = turned_on_lathe(
            &[
                (0.0, 0.0),
                (0.24, 0.0),
                (0.25, 0.03),
                (0.34, 0.42),
                (0.38, 0.46),
                (0.38, 0.53),
                (0.35, 0.54),
                (0.32, 0.46),
                (0.0, 0.46),
            ],
            40,
        );
        let pot = self.kit.mesh("Pot", pot, self.clay);
        let soil = self.kit.mesh("Earth", turned_on_lathe(&[(0.33, 0.0), (0.0, 0.015)], 24), earth);
        let fruit = self.kit.mesh("Orange", shapes::uv_sphere(0.037, 16, 10), peel);
        let mut random = SplitMix64::new(90);
        let mut crowns = Vec::new();
        for kind in 0..2 {
            let mut crown = Primitive::default();
            for _ in 0..620 {
                let way = DVec3::new(
                    random.uniform(-1.0, 1.0),
                    random.uniform(-0.8, 1.0),
                    random.uniform(-1.0, 1.0),
                );
                let way = way.normalize_or(DVec3::Y);
                let place = way
                    * DVec3::new(0.56, 0.5, 0.56)
                    * random.uniform(0.55, 1.0)
                    * if kind == 0 { 1.0 } else { 0.9 };
                let turn = DQuat::from_rotation_arc(
                    DVec3::Z,
                    (way + DVec3::Y * 0.6).normalize_or(DVec3::Y),
                ) * DQuat::from_rotation_z(random.uniform(0.0, f64::from(TAU)));
                let size = DVec3::splat(random.uniform(0.75, 1.15));
                append(
                    &mut crown,
                    &blade,
                    &DAffine3::from_scale_rotation_translation(size, turn, place),
                );
            }
            crowns.push(self.kit.mesh("Crown", crown, leaf));
        }
        let trunk = shapes::sheet(10, 14, |u, v| {
            let up = 1.0 - v;
            let around = Vec2::from_angle(TAU * u) * (0.036 - 0.012 * up);
            Vec3::new(
                around.y + 0.03 * (up * 5.0).sin(),
                up * 1.15,
                around.x + 0.02 * (up * 7.0).cos(),
            )
        });
        let trunk = self.kit.mesh("Trunk", trunk, bark);
        for (index, (x, z)) in
            [(-6.2, 3.2), (-2.1, 3.6), (2.1, 3.6), (6.2, 3.2), (-6.3, -2.45), (6.3, -2.45)]
                .into_iter()
                .enumerate()
        {
            let turn = random.uniform(0.0, std::f64::consts::TAU);
            self.kit.put("Pot", pot, at(x, 0.0, z));
            self.kit.put("Earth", soil, at(x, 0.47, z));
            self.kit.put("Trunk", trunk, turned(x, 0.45, z, turn));
            self.kit.put("Crown", crowns[index % 2], turned(x, 1.95, z, turn));
            for _ in 0..14 {
                let way = DVec3::new(
                    random.uniform(-1.0, 1.0),
                    random.uniform(-0.7, 0.5),
                    random.uniform(-1.0, 1.0),
                );
                let place = DVec3::new(x, 1.93, z)
                    + way.normalize_or(DVec3::X) * DVec3::new(0.52, 0.46, 0.52);
                self.kit.put("Orange", fruit, DMat4::from_translation(place));
            }
        }
    }

    /// Yellow leaves on the water.
    fn fallen_leaves(&mut self, leaf: &Material) {
        let yellow = Material {
            name: FALLEN.into(),
            base_color: Vec3::new(1.0, 0.75, 0.22).extend(1.0),
            ..leaf.clone()
        };
        let yellow = self.kit.builder.add_material(yellow);
        let blade = shapes::sheet(2, 3, |u, v| {
            let (across, along) = (u - 0.5, v - 0.5);
            Vec3::new(across * 0.085, 0.02 * (across * across + along * along), along * 0.13)
        });
        let blade = self.kit.mesh(FALLEN, blade, yellow);
        let mut random = SplitMix64::new(17);
        let half = [HALF.x, CHANNEL - 0.12].map(f64::from);
        let mut laid = 0;
        while laid < 30 {
            let [x, z] = half.map(|half| random.uniform(-half, half));
            let turn = random.uniform(0.0, std::f64::consts::TAU);
            let column =
                |at: &f32| DVec2::new(x - f64::from(*at), z).length() < f64::from(COLUMN) * 1.6;
            if !COLUMNS.iter().any(column) {
                self.kit.put(FALLEN, blade, turned(x, 0.004 - f64::from(FREEBOARD), z, turn));
                laid += 1;
            }
        }
    }

    fn benches(&mut self) {
        let slats: Vec<Primitive> = (0..5)
            .map(|slat| {
                moved(&stick(1.5, 0.03, 0.075), 0.0, 0.44, f32::from(slat as u8) * 0.09 - 0.18)
            })
            .collect();
        let seat = self.kit.mesh("Bench", joined(&slats), self.timber);
        let foot = self.kit.mesh("Bench foot", block(0.12, 0.43, 0.42), self.marble);
        for x in [-4.1, 4.1] {
            self.kit.put("Bench", seat, at(x, 0.0, 4.75));
            for side in [-0.6, 0.6] {
                self.kit.put("Bench foot", foot, at(x + side, 0.212, 4.75));
            }
        }
    }
}
