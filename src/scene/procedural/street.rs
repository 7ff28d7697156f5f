//! A shopping street after rain, at the end of dusk: a wet road that reflects more than a hundred
//! lights.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DAffine3, DMat4, DVec3, Vec2, Vec3};

use super::{
    kit::{Kit, Weave, at, block, ground, joined, laid, moved, stick, turned, turned_on_lathe},
    random::{SplitMix64, fractal_noise, noise},
    shapes::{self, transformed},
    solids::plate,
    textures,
};
use crate::{
    photometry::{Lumen, color::LUMINANCE_WEIGHTS},
    scene::{
        Material, Sampler, Scene, Wrap,
        build::{MaterialId, MeshId, SceneBuilder, SceneError, dielectric},
    },
};

/// Look of the street: the last light of dusk, with exposure for a hand-held camera.
pub const LOOK: &str = include_str!("../../../assets/demos/street.look.toml");

/// Half of the roadway, curb to curb (m), and the distance from the center to the house fronts.
const ROAD: f32 = 3.0;
const FRONT: f64 = 5.6;
/// Height of the pavement (m).
const KERB: f32 = 0.12;
/// Heights of a shop's story and of the others (m).
const SHOP: f32 = 3.7;
const STOREY: f32 = 3.1;
/// Spacing of window columns, and width of a window (m).
const PITCH: f32 = 1.75;
const WINDOW: f32 = 0.98;

fn puddle(u: f32, v: f32) -> f32 {
    let lie = fractal_noise(u, v, [4, 4], 4, 3100);
    // Two wheel tracks, 1.7 m apart, hold standing water.
    let across = ((u - 0.5) * 6.0).abs();
    let track =
        (-((across - 0.95) / 0.35).powi(2)).exp().max((-((across - 2.75) / 0.22).powi(2)).exp());
    let level = (lie + 0.13 * track - 0.545) / 0.05;
    level.clamp(0.0, 1.0)
}

fn asphalt_color(u: f32, v: f32) -> Vec3 {
    let stone = noise(u * 300.0, v * 300.0, [300, 300], 3200);
    let patch = fractal_noise(u, v, [3, 3], 3, 3300);
    Vec3::new(1.0, 0.98, 0.95)
        * (0.016 + 0.022 * stone * stone + 0.012 * patch)
        * (1.0 - 0.55 * puddle(u, v))
}

fn asphalt_roughness(u: f32, v: f32) -> f32 {
    let damp = 0.34 + 0.16 * fractal_noise(u, v, [6, 6], 3, 3400);
    damp + (0.035 - damp) * puddle(u, v)
}

fn asphalt_relief(u: f32, v: f32) -> f32 {
    let stones = noise(u * 300.0, v * 300.0, [300, 300], 3200) * 0.002;
    let swells = fractal_noise(u, v, [16, 16], 2, 3500) * 0.006;
    (stones + swells) * (1.0 - puddle(u, v))
}

/// Slabs of 0.6 m x 0.4 m in a bond, over 2.4 m x 2.4 m: distance (m) to the nearest joint, and an
/// index of the slab.
fn slab(u: f32, v: f32) -> (f32, f32) {
    let row = (v * 6.0).floor();
    let x = u * 4.0 + if row as i64 % 2 == 0 { 0.0 } else { 0.5 };
    let joint = ((x - x.floor()).min(x.ceil() - x) * 0.6)
        .min((v * 6.0 - row).min(row + 1.0 - v * 6.0) * 0.4);
    (joint, noise((x.floor() % 4.0) + 0.5, row + 0.5, [4, 6], 3600))
}

fn slab_color(u: f32, v: f32) -> Vec3 {
    let (joint, tone) = slab(u, v);
    let grain = fractal_noise(u, v, [32, 32], 3, 3700);
    let wet = Vec3::new(0.105, 0.098, 0.088) * (0.75 + 0.4 * tone) * (0.8 + 0.4 * grain);
    wet * if joint < 0.006 { 0.4 } else { 1.0 }
}

fn slab_roughness(u: f32, v: f32) -> f32 {
    let (_, tone) = slab(u, v);
    0.16 + 0.22 * fractal_noise(u, v, [5, 5], 3, 3800) + 0.08 * tone
}

fn slab_relief(u: f32, v: f32) -> f32 {
    let (joint, tone) = slab(u, v);
    0.004 * (joint / 0.008).min(1.0)
        + 0.0015 * tone
        + 0.0004 * noise(u * 160.0, v * 160.0, [160, 160], 3900)
}

/// Bricks of 25 cm x 7.5 cm with their joints, over 2 m x 1.5 m.
fn brick(u: f32, v: f32) -> (f32, f32) {
    let row = (v * 20.0).floor();
    let x = u * 8.0 + if row as i64 % 2 == 0 { 0.0 } else { 0.5 };
    let joint = ((x - x.floor()).min(x.ceil() - x) * 0.25)
        .min((v * 20.0 - row).min(row + 1.0 - v * 20.0) * 0.075);
    (joint, noise((x.floor() % 8.0) + 0.5, row + 0.5, [8, 20], 4000))
}

fn brick_color(u: f32, v: f32) -> Vec3 {
    let (joint, tone) = brick(u, v);
    if joint < 0.005 {
        return Vec3::new(0.26, 0.24, 0.21);
    }
    let grain = fractal_noise(u, v, [40, 30], 3, 4100);
    Vec3::new(0.20, 0.075, 0.045).lerp(Vec3::new(0.31, 0.15, 0.085), tone) * (0.75 + 0.5 * grain)
}

fn brick_roughness(u: f32, v: f32) -> f32 {
    0.72 + 0.15 * brick(u, v).1
}

fn brick_relief(u: f32, v: f32) -> f32 {
    let (joint, tone) = brick(u, v);
    0.006 * (joint / 0.008).min(1.0)
        + 0.002 * tone
        + 0.0012 * fractal_noise(u, v, [40, 30], 2, 4200)
}

fn plaster_color(u: f32, v: f32) -> Vec3 {
    Vec3::splat(0.82 + 0.18 * fractal_noise(u, v, [3, 3], 5, 4300))
}

fn plaster_roughness(_: f32, _: f32) -> f32 {
    0.9
}

fn plaster_relief(u: f32, v: f32) -> f32 {
    0.004 * fractal_noise(u, v, [24, 24], 4, 4400)
}

/// Goods on the shelves of a shop, as an emission texture: linear, 0 to 1.
fn shelves(u: f32, v: f32, seed: u64) -> Vec3 {
    let row = (v * 4.0).floor();
    let down = v * 4.0 - row;
    let wall = Vec3::new(0.75, 0.62, 0.45) * (0.55 + 0.45 * (1.0 - (u - 0.5).abs()));
    if down > 0.93 {
        return Vec3::new(0.22, 0.13, 0.07);
    }
    let count = 9.0 + (seed % 4) as f32 + row;
    let column = (u * count).floor();
    let pick = |salt: u64| {
        noise(column + 0.5, row + 0.5, [16, 4], seed.wrapping_mul(31).wrapping_add(salt))
    };
    let (high, wide) = (0.3 + 0.5 * pick(1), 0.25 + 0.2 * pick(2));
    let inside = ((u * count - column) - 0.5).abs() < wide && down > 0.93 - high;
    if !inside {
        return wall * (0.55 + 0.45 * down);
    }
    let hue = pick(3) * std::f32::consts::TAU;
    let color = Vec3::new(
        0.5 + 0.4 * hue.cos(),
        0.42 + 0.35 * (hue - 2.1).cos(),
        0.4 + 0.38 * (hue + 2.1).cos(),
    );
    color * (0.35 + 0.65 * pick(4))
}

/// A lit room behind a window, with curtains on both sides.
fn lit_room(u: f32, v: f32) -> Vec3 {
    let curtain = ((u - 0.5).abs() - 0.26).max(0.0) / 0.24;
    let fold = 0.5 + 0.5 * (u * 70.0).sin();
    let room = Vec3::new(1.0, 0.78, 0.5) * (0.35 + 0.65 * (1.0 - v).powf(0.7));
    if curtain > 0.0 { room * Vec3::new(0.75, 0.5, 0.32) * (0.45 + 0.3 * fold) } else { room }
}

struct Street {
    kit: Kit,
    facades: Vec<MaterialId>,
    trim: MaterialId,
    iron: MaterialId,
    panes: [MaterialId; 3],
    pane: MeshId,
    frame: MeshId,
    sill: MeshId,
    random: SplitMix64,
    shops: u64,
}

/// A street of two rows of houses, 76 m long, with shops, street lamps, lamps at doors and in shop
/// windows, neon signs and strings of bulbs: 152 lights with lumens from common data sheets. The
/// road is wet and its puddles nearly smooth. Cameras: "Walker", "Puddle", "Balcony".
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn street() -> Result<Scene, SceneError> {
    let mut street = Street::new();
    street.ground();
    for (side, seed) in [(-1.0, 3), (1.0, 5)] {
        street.row(side, seed);
    }
    street.end();
    street.street_lamps();
    street.festoons();
    street.furniture();
    let builder = &mut street.kit.builder;
    let wide = Some(16.0 / 9.0);
    builder.camera(
        "Walker",
        DVec3::new(-0.9, 1.62, 5.0),
        DVec3::new(0.25, 2.15, -12.0),
        0.75,
        wide,
    );
    builder.camera("Puddle", DVec3::new(1.0, 0.34, -3.0), DVec3::new(0.2, 0.95, -14.0), 0.75, wide);
    builder.camera("Balcony", DVec3::new(4.6, 6.6, 2.0), DVec3::new(-1.0, 1.0, -16.0), 0.85, wide);
    street.kit.builder.build()
}

impl Street {
    fn new() -> Self {
        let mut kit = Kit::new("Night street");
        let mut facades = vec![kit.weave(
            "Brick",
            &Weave {
                size: Vec2::new(2.0, 1.5),
                texels: [512, 384],
                color: brick_color,
                roughness: brick_roughness,
                relief: brick_relief,
            },
        )];
        let plaster = Weave {
            size: Vec2::splat(2.4),
            texels: [256, 256],
            color: plaster_color,
            roughness: plaster_roughness,
            relief: plaster_relief,
        };
        let plaster = kit.woven_material("Plaster", &plaster);
        // The same textures in other paints.
        for (name, rgb) in [
            ("Ochre paint", [0.50, 0.33, 0.15]),
            ("Gray paint", [0.36, 0.36, 0.34]),
            ("Rose paint", [0.47, 0.27, 0.21]),
        ] {
            let paint = Material {
                name: name.into(),
                base_color: Vec3::from(rgb).extend(1.0),
                ..plaster.clone()
            };
            facades.push(kit.builder.add_material(paint));
        }
        let trim = kit.paint("Painted stone", [0.50, 0.47, 0.41], 0.7);
        let iron = kit.paint("Black iron", [0.022, 0.023, 0.024], 0.38);
        let wood = kit.paint("Window paint", [0.55, 0.53, 0.48], 0.5);
        let clamp = Sampler { wrap_u: Wrap::Clamp, wrap_v: Wrap::Clamp, ..Sampler::default() };
        let lit =
            kit.builder.add_texture("Lit room", textures::color_image(128, 160, lit_room), clamp);
        let dark = kit.paint("Dark pane", [0.006, 0.007, 0.009], 0.04);
        // 20 to 60 nits: typical of a room lit by a few thousand lumens.
        let lit = |kit: &mut Kit, name: &str, nits: f32| {
            kit.builder.add_material(Material {
                emission: Vec3::splat(nits),
                emissive_texture: Some(SceneBuilder::texture_ref(lit)),
                ..dielectric(name, Vec3::splat(0.02), 0.04)
            })
        };
        let panes = [
            dark,
            lit(&mut kit, "Lit pane, 60 nit", 60.0),
            lit(&mut kit, "Lit pane, 25 nit", 25.0),
        ];
        let (w, h) = (WINDOW, 1.62);
        let pane = shapes::quad(Vec3::new(-w * 0.5, h, 0.0), Vec3::X * w, Vec3::NEG_Y * h, 1, 1);
        let pane = kit.mesh("Pane", pane, panes[0]);
        let mut bars = vec![
            moved(&stick(w, 0.07, 0.07), 0.0, 0.035, 0.0),
            moved(&stick(w, 0.07, 0.07), 0.0, h - 0.035, 0.0),
        ];
        bars.push(moved(&stick(w, 0.045, 0.06), 0.0, 1.12, 0.0));
        for x in [-w * 0.5 + 0.035, 0.0, w * 0.5 - 0.035] {
            bars.push(moved(&stick(0.06, h, 0.065), x, h * 0.5, 0.0));
        }
        let frame = kit.mesh("Window frame", joined(&bars), wood);
        let lintel = moved(&stick(w + 0.3, 0.2, 0.1), 0.0, h + 0.1, 0.2);
        let ledge = moved(&block(w + 0.24, 0.09, 0.36), 0.0, -0.04, 0.12);
        let sill = kit.mesh("Sill and lintel", joined(&[lintel, ledge]), trim);
        Self {
            kit,
            facades,
            trim,
            iron,
            panes,
            pane,
            frame,
            sill,
            random: SplitMix64::new(1604),
            shops: 0,
        }
    }

    fn ground(&mut self) {
        let asphalt = Weave {
            size: Vec2::splat(6.0),
            texels: [1024, 1024],
            color: asphalt_color,
            roughness: asphalt_roughness,
            relief: asphalt_relief,
        };
        let asphalt = self.kit.weave("Wet asphalt", &asphalt);
        // The center of the tile is on the road's center line.
        let road = ground(Vec2::new(ROAD * 2.0, 84.0), (6, 84));
        self.kit.one_relief("Road", road, asphalt, at(0.0, 0.0, -32.0));
        let slabs = Weave {
            size: Vec2::splat(2.4),
            texels: [512, 512],
            color: slab_color,
            roughness: slab_roughness,
            relief: slab_relief,
        };
        let slabs = self.kit.weave("Wet slabs", &slabs);
        let granite = self.kit.paint("Wet granite", [0.13, 0.13, 0.135], 0.25);
        let width = FRONT as f32 + 0.4 - ROAD - 0.14;
        let pavement =
            self.kit.relief_mesh("Pavement", ground(Vec2::new(width, 84.0), (3, 42)), slabs);
        let kerb = self.kit.mesh("Kerb", block(0.16, 0.4, 1.19), granite);
        let cover = turned_on_lathe(
            &[(0.0, -0.02), (0.31, -0.02), (0.31, 0.006), (0.27, 0.006), (0.26, 0.0), (0.0, 0.002)],
            40,
        );
        for side in [-1.0, 1.0] {
            let x = side * (f64::from(ROAD) + 0.14 + f64::from(width) * 0.5);
            self.kit.put("Pavement", pavement, at(x, f64::from(KERB), -32.0));
            for stone in 0..70 {
                let z = 9.4 - 1.2 * f64::from(stone);
                self.kit.put(
                    "Kerb",
                    kerb,
                    at(side * (f64::from(ROAD) + 0.07), f64::from(KERB) - 0.197, z),
                );
            }
        }
        let cover = self.kit.mesh("Manhole cover", cover, self.iron);
        for (x, z) in [(0.9, -4.5), (-1.1, -19.0), (0.7, -37.0)] {
            self.kit.put("Manhole cover", cover, at(x, 0.0, z));
        }
    }

    /// Houses side by side along one side of the street.
    fn row(&mut self, side: f64, seed: u64) {
        self.random = SplitMix64::new(1600 + seed);
        let mut z = 10.0;
        let mut last = usize::MAX;
        while z > -68.0 {
            let columns = 4 + (self.random.unit() * 2.99) as usize;
            let width = columns as f32 * PITCH + 0.5;
            let storeys = 2 + (self.random.unit() * 2.99) as usize;
            let mut paint = (self.random.unit() * self.facades.len() as f64) as usize;
            if paint == last {
                paint = (paint + 1) % self.facades.len();
            }
            last = paint;
            let middle = z - f64::from(width) * 0.5;
            // Local axes of a front: X along it, Z out to the street.
            let pose = turned(side * FRONT, f64::from(KERB), middle, -side * FRAC_PI_2);
            self.house(pose, columns, storeys, self.facades[paint]);
            z -= f64::from(width) + 0.002;
        }
    }

    fn house(&mut self, pose: DMat4, columns: usize, storeys: usize, paint: MaterialId) {
        let width = columns as f32 * PITCH + 0.5;
        let half = width * 0.5;
        let top = SHOP + STOREY * storeys as f32 + 0.35;
        // Upper stories: a wall with windows.
        let mut xs = vec![-half];
        for column in 0..columns {
            let middle = (column as f32 + 0.5) * PITCH - half + 0.25;
            xs.extend([middle - WINDOW * 0.5, middle + WINDOW * 0.5]);
        }
        xs.push(half);
        let mut ys = vec![SHOP];
        for storey in 0..storeys {
            let floor = SHOP + STOREY * storey as f32;
            ys.extend([floor + 0.85, floor + 0.85 + 1.62]);
        }
        ys.push(top);
        let wall = plate(&xs, &ys, (-0.4, 0.0), |x, y| x % 2 == 0 || y % 2 == 0);
        self.kit.one_relief("Front", wall, paint, pose);
        let window = |column: usize, storey: usize| {
            let x = (column as f32 + 0.5) * PITCH - half + 0.25;
            pose * at(f64::from(x), f64::from(SHOP + STOREY * storey as f32 + 0.85), -0.2)
        };
        for column in 0..columns {
            for storey in 0..storeys {
                let lot = self.random.unit();
                let pane = if lot < 0.22 {
                    1
                } else if lot < 0.4 {
                    2
                } else {
                    0
                };
                let place = window(column, storey);
                let mesh = if pane == 0 {
                    self.pane
                } else {
                    let h = 1.62;
                    let part = shapes::quad(
                        Vec3::new(-WINDOW * 0.5, h, 0.0),
                        Vec3::X * WINDOW,
                        Vec3::NEG_Y * h,
                        1,
                        1,
                    );
                    self.kit.mesh("Lit pane", part, self.panes[pane])
                };
                self.kit.put("Pane", mesh, place);
                self.kit.put("Window frame", self.frame, place * at(0.0, 0.0, 0.03));
                self.kit.put("Sill and lintel", self.sill, place);
            }
        }
        // Moldings, roof, and a downpipe on the joint of two houses.
        let (w, end) = (width - 0.004, f64::from(top));
        let course = joined(&[
            moved(&block(w, 0.22, 0.6), 0.0, 0.0, -0.2),
            moved(&block(w, 0.07, 0.7), 0.0, 0.14, -0.2),
        ]);
        self.kit.one("String course", course, self.trim, pose * at(0.0, f64::from(SHOP), 0.0));
        let cornice = joined(&[
            moved(&block(w, 0.16, 0.72), 0.0, 0.0, -0.2),
            moved(&block(w, 0.1, 0.92), 0.0, 0.13, -0.2),
            moved(&block(w, 0.06, 1.08), 0.0, 0.21, -0.2),
        ]);
        self.kit.one("Cornice", cornice, self.trim, pose * at(0.0, end, 0.0));
        let lean = DMat4::from_rotation_x(-0.75);
        self.kit.one(
            "Roof",
            block(w, 0.12, 4.5),
            self.iron,
            pose * at(0.0, end + 1.6, -1.85) * lean,
        );
        let pipe =
            turned_on_lathe(&[(0.0, 0.0), (0.05, 0.0), (0.05, top - 0.3), (0.0, top - 0.3)], 12);
        self.kit.one("Downpipe", pipe, self.iron, pose * at(f64::from(half) - 0.12, 0.1, 0.07));
        self.shop(pose, half, paint);
        // A backing, so that no sky is visible through a shop.
        self.kit.one(
            "House",
            block(w, top - 0.2, 0.3),
            self.iron,
            pose * at(0.0, f64::from(top) * 0.5, -2.2),
        );
    }

    /// The ground story: a shop window, a door with a lamp, a sign.
    fn shop(&mut self, pose: DMat4, half: f32, paint: MaterialId) {
        self.shops += 1;
        let seed = self.shops;
        let (left, right) = (-half + 0.45, half - 2.0);
        let (door, post) = (half - 1.6, half - 0.6);
        let xs = [-half, left, right, door, post, half];
        let ys = [-0.2, 0.5, 2.35, 2.85, SHOP + 0.01];
        let open = |x: usize, y: usize| match x {
            1 => y == 0 || y == 3,
            3 => y == 3,
            _ => true,
        };
        self.kit.one_relief("Shop front", plate(&xs, &ys, (-0.4, 0.0), open), paint, pose);
        let (width, middle) = (right - left, (left + right) * 0.5);
        let kit = &mut self.kit;
        // The display: a box of 1.1 m behind the opening, with shelves as its back texture.
        let clamp = Sampler { wrap_u: Wrap::Clamp, wrap_v: Wrap::Clamp, ..Sampler::default() };
        let picture = textures::color_image(192, 128, |u, v| shelves(u, v, seed * 7 + 3));
        let picture = kit.builder.add_texture("Shelves", picture, clamp);
        let nits = [140.0, 90.0, 200.0, 60.0][seed as usize % 4];
        let back = kit.builder.add_material(Material {
            emission: Vec3::splat(nits),
            emissive_texture: Some(SceneBuilder::texture_ref(picture)),
            ..dielectric(&format!("Shelves, {nits} nit"), Vec3::splat(0.3), 0.8)
        });
        let wall = shapes::quad(
            Vec3::new(left - 0.2, 2.9, -1.5),
            Vec3::X * (width + 0.4),
            Vec3::NEG_Y * 2.45,
            1,
            1,
        );
        kit.one("Shelves", wall, back, pose);
        let pale = kit.paint("Display boards", [0.42, 0.36, 0.28], 0.6);
        let boards = joined(&[
            moved(&block(width + 0.4, 0.05, 1.2), middle, 0.47, -0.95),
            moved(&block(width + 0.4, 0.05, 1.2), middle, 2.9, -0.95),
            moved(&block(0.05, 2.45, 1.2), left - 0.17, 1.68, -0.95),
            moved(&block(0.05, 2.45, 1.2), right + 0.17, 1.68, -0.95),
        ]);
        kit.one("Display", boards, pale, pose);
        let bars = joined(&[
            moved(&block(width, 0.09, 0.1), middle, 0.52, -0.16),
            moved(&block(width, 0.06, 0.08), middle, 2.35, -0.16),
            moved(&block(0.06, 2.35, 0.09), middle, 1.68, -0.16),
        ]);
        kit.one("Shop window frame", bars, self.iron, pose);
        for index in 0..5 {
            let x = left + width * (f32::from(index as u8) + 0.5) / 5.0;
            let tall = 0.25 + 0.5 * self.random.unit() as f32;
            let hue = self.random.uniform(0.0, std::f64::consts::TAU) as f32;
            let rgb = [
                0.35 + 0.3 * hue.cos(),
                0.3 + 0.25 * (hue - 2.1).cos(),
                0.3 + 0.25 * (hue + 2.1).cos(),
            ];
            let goods = kit.paint("Goods", rgb, 0.35);
            let part = if self.random.unit() < 0.5 {
                moved(&block(0.24, tall, 0.2), 0.0, tall * 0.5, 0.0)
            } else {
                turned_on_lathe(
                    &[
                        (0.0, 0.0),
                        (0.1, 0.0),
                        (0.14, tall * 0.4),
                        (0.06, tall * 0.8),
                        (0.09, tall),
                        (0.0, tall),
                    ],
                    20,
                )
            };
            kit.one("Goods", part, goods, pose * turned(f64::from(x), 0.494, -0.8, f64::from(hue)));
        }
        // Two LED spots of 10 W in cans under the display's ceiling.
        let kelvin = [3000.0, 4000.0, 2700.0][seed as usize % 3];
        let can = turned_on_lathe(
            &[(0.0, 0.12), (0.045, 0.12), (0.045, 0.0), (0.04, 0.0), (0.036, 0.05), (0.0, 0.05)],
            16,
        );
        let glowing = kit.glow("Spot's lens", 20_000.0, kelvin);
        let lens = shapes::transformed(
            &turned_on_lathe(&[(0.034, 0.0), (0.0, 0.0)], 16),
            &DAffine3::from_rotation_x(PI),
        );
        for x in [left + width * 0.28, left + width * 0.72] {
            let (x, y, z) = (f64::from(x), 2.72, -0.55);
            kit.one("Spot", can.clone(), self.iron, pose * at(x, y, z));
            kit.one("Spot's lens", lens.clone(), glowing, pose * at(x, y + 0.045, z));
            let way = [DVec3::new(x, y - 0.01, z), DVec3::new(x, 0.5, 0.35)]
                .map(|p| pose.transform_point3(p));
            kit.spot("Shop spot", (900.0, kelvin), (25.0, 48.0), way);
        }
        // The door with its panels, and a lamp above.
        let leaf = kit.paint(
            "Door",
            [[0.03, 0.09, 0.07], [0.12, 0.02, 0.02], [0.03, 0.04, 0.10]][seed as usize % 3],
            0.35,
        );
        let panels = joined(&[
            moved(&block(1.0, 2.8, 0.06), 0.0, 1.4, 0.0),
            moved(&block(0.7, 0.9, 0.09), 0.0, 0.65, 0.0),
            moved(&block(0.7, 1.1, 0.09), 0.0, 1.85, 0.0),
            moved(&shapes::uv_sphere(0.035, 16, 8), 0.38, 1.05, 0.07),
        ]);
        kit.one("Door", panels, leaf, pose * at(f64::from(door + 0.5), 0.0, -0.25));
        let bulb = kit.glow("Door bulb", 9_000.0, 2700.0);
        let (x, y) = (f64::from(door + 0.5), 3.12);
        let shade = turned_on_lathe(
            &[
                (0.115, 0.0),
                (0.12, 0.0),
                (0.05, 0.1),
                (0.03, 0.14),
                (0.0, 0.14),
                (0.0, 0.13),
                (0.045, 0.09),
            ],
            24,
        );
        let arm = laid(&shapes::cylinder(0.012, 0.22, 10));
        kit.one(
            "Door lamp",
            joined(&[shade, moved(&arm, 0.0, 0.13, -0.21)]),
            self.iron,
            pose * at(x, y, 0.2),
        );
        kit.one("Door bulb", shapes::uv_sphere(0.035, 16, 8), bulb, pose * at(x, y + 0.05, 0.2));
        // The replacement of a 40 W bulb: 470 lm.
        let way = [DVec3::new(x, y + 0.005, 0.2), DVec3::new(x, 0.0, 0.35)]
            .map(|p| pose.transform_point3(p));
        kit.spot("Door lamp", (470.0, 2700.0), (45.0, 78.0), way);
        self.sign(pose, right, seed);
        if seed % 3 != 1 {
            self.awning(pose, middle, width, seed);
        }
    }

    /// A neon sign that projects over the pavement.
    fn sign(&mut self, pose: DMat4, x: f32, seed: u64) {
        let gases = [
            ("Neon red", Vec3::new(1.0, 0.09, 0.04)),
            ("Argon blue", Vec3::new(0.10, 0.30, 1.0)),
            ("Neon green", Vec3::new(0.10, 0.9, 0.30)),
            ("Neon amber", Vec3::new(1.0, 0.45, 0.06)),
            ("Neon pink", Vec3::new(1.0, 0.14, 0.42)),
        ];
        let (name, hue) = gases[seed as usize % gases.len()];
        let hue = hue / hue.dot(LUMINANCE_WEIGHTS.as_vec3());
        // Neon tubes have 1,500 nits and more, and some 250 lm per meter.
        let tube = self.kit.builder.add_material(Material {
            emission: hue * 1500.0,
            ..dielectric(name, Vec3::splat(0.1), 0.3)
        });
        let place = pose * at(f64::from(x) + 0.2, 3.15, 0.0);
        let board = joined(&[
            moved(&block(0.05, 0.78, 0.78), 0.0, 0.0, 0.62),
            moved(&block(0.03, 0.03, 0.3), 0.0, 0.3, 0.1),
            moved(&block(0.03, 0.03, 0.3), 0.0, -0.3, 0.1),
        ]);
        self.kit.one("Sign", board, self.iron, place);
        let upright = DAffine3::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let mut parts = Vec::new();
        for side in [-0.045, 0.045] {
            parts.push(moved(
                &transformed(&shapes::torus(0.3, 0.009, 48, 8), &upright),
                side,
                0.0,
                0.62,
            ));
            match seed % 3 {
                0 => parts.push(moved(
                    &transformed(&shapes::torus(0.16, 0.009, 40, 8), &upright),
                    side,
                    0.0,
                    0.62,
                )),
                1 => {
                    parts.push(moved(&laid(&shapes::cylinder(0.009, 0.36, 10)), side, 0.0, 0.44));
                    parts.push(moved(&shapes::cylinder(0.009, 0.36, 10), side, -0.18, 0.62));
                }
                _ => {
                    for y in [-0.12, 0.0, 0.12] {
                        parts.push(moved(&laid(&shapes::cylinder(0.009, 0.32, 10)), side, y, 0.46));
                    }
                }
            }
        }
        self.kit.one(name, joined(&parts), tube, place);
        for side in [-0.14, 0.14] {
            let spot = place.transform_point3(DVec3::new(side, 0.0, 0.62));
            self.kit.builder.point_light_lumens("Neon", Lumen(220.0), hue, spot);
        }
    }

    fn awning(&mut self, pose: DMat4, middle: f32, width: f32, seed: u64) {
        let dyes = [[0.30, 0.03, 0.03], [0.03, 0.13, 0.09], [0.05, 0.07, 0.20]];
        let dye = self.kit.paint("Awning", dyes[seed as usize % 3], 0.85);
        let pale = self.kit.paint("Awning, pale", [0.55, 0.52, 0.45], 0.85);
        let stripes = ((width / 0.3) as usize).max(4);
        let wide = (width + 0.3) / stripes as f32;
        for stripe in 0..stripes {
            let x = middle - (width + 0.3) * 0.5 + wide * stripe as f32;
            // A slack curve down and outward, then a scalloped border.
            let part = super::solids::cloth(2, 9, 0.004, |u, v| {
                let t = (v / 0.85).min(1.0);
                let hem = ((v - 0.85) / 0.15).max(0.0);
                let scallop = 1.0 - 0.4 * (2.0 * u - 1.0).powi(2);
                let y = 3.42
                    - 0.55 * t
                    - 0.06 * (std::f32::consts::PI * t).sin()
                    - 0.22 * hem * scallop;
                Vec3::new(x + wide * u, y, 0.02 + 1.15 * t + 0.015 * hem)
            });
            self.kit.one("Awning", part, if stripe % 2 == 0 { dye } else { pale }, pose);
        }
    }

    /// The end of the street: a front with an arch, lit from below.
    fn end(&mut self) {
        let stone = self.facades[2];
        let arch = super::solids::Arcade {
            bays: 3,
            pitch: 3.6,
            radius: 1.35,
            beyond: 1.2,
            height: 9.0,
            thickness: 0.8,
            segments: 24,
        };
        self.kit.one_relief("Gate", arch.wall(), stone, at(0.0, 3.0, -69.5));
        for x in [-5.4, -1.8, 1.8, 5.4] {
            let wide = if f64::abs(x) > 3.0 { 1.2 } else { 0.9 };
            self.kit.one("Pier", block(wide, 3.05, 0.85), self.trim, at(x, 1.5, -69.5));
            if f64::abs(x) < 3.0 {
                let way = [DVec3::new(x, 0.25, -68.6), DVec3::new(x, 7.0, -69.4)];
                let lamp = turned_on_lathe(
                    &[(0.0, 0.0), (0.12, 0.0), (0.12, 0.16), (0.1, 0.16), (0.1, 0.1), (0.0, 0.1)],
                    20,
                );
                self.kit.one("Flood lamp", lamp, self.iron, at(x, 0.02, -68.6));
                self.kit.spot("Flood lamp", (2200.0, 3000.0), (18.0, 38.0), way);
            }
        }
        self.kit.one("Gate cornice", block(15.0, 0.3, 1.3), self.trim, at(0.0, 12.0, -69.5));
        self.kit.one("Beyond", block(16.0, 11.0, 0.3), self.iron, at(0.0, 5.4, -72.5));
    }

    /// LED luminaires of 40 W on posts of 5 m, alternating.
    fn street_lamps(&mut self) {
        let post = turned_on_lathe(
            &[
                (0.0, 0.0),
                (0.13, 0.0),
                (0.13, 0.05),
                (0.1, 0.08),
                (0.095, 0.8),
                (0.075, 0.86),
                (0.06, 1.0),
                (0.045, 5.0),
                (0.055, 5.02),
                (0.0, 5.1),
            ],
            24,
        );
        let arm = moved(&laid(&shapes::cylinder(0.025, 1.05, 12)), 0.0, 4.95, 0.0);
        let head =
            moved(&shapes::rounded_box(Vec3::new(0.24, 0.075, 0.52), 0.03, 3), 0.0, 4.95, 1.25);
        let post = self.kit.mesh("Street lamp", joined(&[post, arm, head]), self.iron);
        // 4,800 lm from 0.18 m x 0.42 m with a cosine distribution: 20,000 nit.
        let glass = self.kit.glow("Luminaire", 20_000.0, 3000.0);
        let glass = self.kit.mesh(
            "Luminaire",
            moved(
                &shapes::quad(Vec3::new(-0.09, 0.0, -0.21), Vec3::X * 0.18, Vec3::Z * 0.42, 1, 1),
                0.0,
                4.911,
                1.25,
            ),
            glass,
        );
        let down =
            DMat4::from_translation(DVec3::new(0.0, 4.911 * 2.0, 2.5)) * DMat4::from_rotation_x(PI);
        for index in 0..10 {
            let side = if index % 2 == 0 { -1.0 } else { 1.0 };
            let pose = turned(
                side * 3.4,
                f64::from(KERB),
                -2.5 - 7.0 * f64::from(index),
                -side * FRAC_PI_2,
            );
            self.kit.put("Street lamp", post, pose);
            self.kit.put("Luminaire", glass, pose * down);
            let way = [DVec3::new(0.0, 4.9, 1.25), DVec3::new(0.0, 0.0, 1.45)]
                .map(|p| pose.transform_point3(p));
            self.kit.spot("Street lamp", (4800.0, 3000.0), (50.0, 76.0), way);
        }
    }

    /// Strings of small bulbs from front to front.
    fn festoons(&mut self) {
        let glass = self.kit.glow("Festoon bulb", 6000.0, 2200.0);
        let bulb = self.kit.mesh("Festoon bulb", shapes::uv_sphere(0.022, 14, 8), glass);
        let socket = self.kit.mesh(
            "Socket",
            turned_on_lathe(&[(0.0, 0.0), (0.016, 0.0), (0.016, 0.05), (0.0, 0.06)], 10),
            self.iron,
        );
        for (string, z) in [-6.0_f64, -13.0, -21.0, -30.0, -40.0].into_iter().enumerate() {
            let skew = if string % 2 == 0 { 1.6 } else { -1.6 };
            let line = |t: f64| {
                DVec3::new((2.0 * t - 1.0) * FRONT, 6.1 - 3.6 * t * (1.0 - t), z + skew * (t - 0.5))
            };
            let wire = shapes::sheet(6, 40, |u, v| {
                let around = Vec2::from_angle(std::f32::consts::TAU * u) * 0.006;
                line(f64::from(v)).as_vec3() + Vec3::new(0.0, around.x, around.y)
            });
            self.kit.one("Wire", wire, self.iron, DMat4::IDENTITY);
            for index in 0..10 {
                let place = line((f64::from(index) + 0.5) / 10.0);
                self.kit.put("Socket", socket, DMat4::from_translation(place - DVec3::Y * 0.055));
                self.kit.put(
                    "Festoon bulb",
                    bulb,
                    DMat4::from_translation(place - DVec3::Y * 0.075),
                );
                // LED filament bulbs of 1 W.
                self.kit.lamp("Festoon", (80.0, 2200.0), place - DVec3::Y * 0.105);
            }
        }
    }

    /// Bollards, planters with box trees, benches.
    fn furniture(&mut self) {
        let bollard = turned_on_lathe(
            &[
                (0.0, 0.0),
                (0.075, 0.0),
                (0.075, 0.04),
                (0.05, 0.06),
                (0.05, 0.72),
                (0.07, 0.76),
                (0.065, 0.84),
                (0.03, 0.9),
                (0.0, 0.91),
            ],
            20,
        );
        let bollard = self.kit.mesh("Bollard", bollard, self.iron);
        let clay = self.kit.paint("Glazed planter", [0.05, 0.07, 0.09], 0.25);
        let leaf = self.kit.paint("Wet box leaves", [0.025, 0.07, 0.015], 0.35);
        let pot = turned_on_lathe(
            &[
                (0.0, 0.0),
                (0.17, 0.0),
                (0.27, 0.5),
                (0.29, 0.52),
                (0.29, 0.56),
                (0.25, 0.56),
                (0.24, 0.5),
                (0.0, 0.5),
            ],
            32,
        );
        let pot = self.kit.mesh("Planter", pot, clay);
        let mut bush = shapes::icosphere(0.33, 4);
        for (position, normal) in bush.positions.iter_mut().zip(&bush.normals) {
            let p = *normal * 14.0;
            *position *= 1.0
                + 0.1 * (p.x * 1.7 + p.y).sin() * (p.y * 1.9 - p.z).sin() * (p.z * 1.5 + p.x).sin();
        }
        let bush = self.kit.mesh("Box tree", bush, leaf);
        for side in [-1.0, 1.0] {
            for index in 0..16 {
                let z = 3.0 - 4.2 * f64::from(index) + if side > 0.0 { 1.2 } else { 0.0 };
                self.kit.put("Bollard", bollard, at(side * 3.35, f64::from(KERB), z));
                if index % 4 == 1 {
                    self.kit.put("Planter", pot, at(side * 5.1, f64::from(KERB), z - 1.0));
                    self.kit.put("Box tree", bush, at(side * 5.1, f64::from(KERB) + 0.8, z - 1.0));
                }
            }
        }
    }
}
