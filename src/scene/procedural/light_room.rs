//! A light room: a meeting room with surfaces of known reflectance and lights of known flux, for
//! photometric checks.

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::{
    kit::{Kit, at, block, ground, joined, moved, stick, turned, turned_on_lathe},
    shapes,
    still_life::{COLOR_CHART, GRAY_CARD},
    textures::{self, from_srgb8},
};
use crate::scene::{
    Scene,
    build::{MaterialId, SceneError},
};

/// Look: six panels, with exposure for a lit office.
pub const LOOK: &str = include_str!("../../../assets/demos/light_room.look.toml");

/// Interior size of the room (m): along X, up, along Z.
pub const SIZE: Vec3 = Vec3::new(6.6, 2.8, 4.8);

/// Flux (lm) of each of the [`PANELS`] and their color temperature (K): an LED panel of 36 W.
pub const PANEL: (f64, f64) = (3600.0, 4000.0);

/// Positions of the panels (m along X and Z).
pub const PANELS: [(f64, f64); 6] =
    [(-2.2, -1.2), (0.0, -1.2), (2.2, -1.2), (-2.2, 1.2), (0.0, 1.2), (2.2, 1.2)];

/// A meeting room of 6.6 m x 4.8 m x 2.8 m. Floor, walls and ceiling have reflectances 0.20, 0.50
/// and 0.80 (the values of lighting design, within the ranges of EN 12464-1:2021, 5.2.3). It has a
/// table for eight with chairs, a white board, a gray card and a color chart. Six panels of 3,600
/// lm, and a lamp of 806 lm in a corner. Cameras: "Room", "Table".
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn light_room() -> Result<Scene, SceneError> {
    let mut kit = Kit::new("Light room");
    let walls = shell(&mut kit);
    panels(&mut kit);
    furniture(&mut kit);
    targets(&mut kit);
    corner(&mut kit, walls);
    let wide = Some(16.0 / 9.0);
    kit.builder.camera(
        "Room",
        DVec3::new(-2.95, 1.55, 2.05),
        DVec3::new(0.55, 0.95, -0.75),
        0.95,
        wide,
    );
    kit.builder.camera(
        "Table",
        DVec3::new(0.9, 1.25, 1.4),
        DVec3::new(0.15, 0.76, -0.15),
        0.6,
        wide,
    );
    kit.builder.build()
}

fn shell(kit: &mut Kit) -> MaterialId {
    let floor = kit.paint("Carpet, reflectance 0.20", [0.20, 0.20, 0.20], 1.0);
    let walls = kit.paint("Wall paint, reflectance 0.50", [0.515, 0.50, 0.46], 0.9);
    let ceiling = kit.paint("Ceiling tiles, reflectance 0.80", [0.80, 0.80, 0.80], 0.95);
    let Vec3 { x, y, z } = SIZE;
    kit.one("Floor", ground(Vec2::new(x, z), (6, 4)), floor, DMat4::IDENTITY);
    let slab = |w: f32, h: f32, d: f32| stick(w, h, d);
    let (hx, hy, hz) = (f64::from(x) * 0.5, f64::from(y) * 0.5, f64::from(z) * 0.5);
    for (name, part, place) in [
        ("North wall", slab(x + 0.4, y, 0.2), at(0.0, hy, -hz - 0.1)),
        ("South wall", slab(x + 0.4, y, 0.2), at(0.0, hy, hz + 0.1)),
        ("West wall", slab(0.2, y, z), at(-hx - 0.1, hy, 0.0)),
        ("East wall", slab(0.2, y, z), at(hx + 0.1, hy, 0.0)),
    ] {
        kit.one(name, part, walls, place);
    }
    // A grid of tiles of 0.6 m on T-bars, open where panels are.
    let bars = kit.paint("T-bars", [0.72, 0.72, 0.72], 0.4);
    let tile = kit.mesh("Ceiling tile", block(0.585, 0.02, 0.585), ceiling);
    let (columns, rows) = (11, 8);
    for column in 0..columns {
        for row in 0..rows {
            let (px, pz) = ((f64::from(column) - 5.0) * 0.6, (f64::from(row) - 3.5) * 0.6);
            let lamp = PANELS.iter().any(|(x, z)| (x - px).abs() < 0.29 && (z - pz).abs() < 0.31);
            if !lamp {
                kit.put("Ceiling tile", tile, at(px, f64::from(y) + 0.008, pz));
            }
        }
    }
    for column in 0..=columns {
        kit.one(
            "T-bar",
            stick(0.024, 0.03, z),
            bars,
            at((f64::from(column) - 5.5) * 0.6, f64::from(y) + 0.014, 0.0),
        );
    }
    for row in 0..=rows {
        kit.one(
            "T-bar",
            stick(x, 0.028, 0.024),
            bars,
            at(0.0, f64::from(y) + 0.0135, (f64::from(row) - 4.0) * 0.6),
        );
    }
    kit.one(
        "Above the ceiling",
        stick(x + 0.4, 0.1, z + 0.4),
        bars,
        at(0.0, f64::from(y) + 0.2, 0.0),
    );
    let skirting = kit.paint("Skirting", [0.62, 0.61, 0.58], 0.5);
    for side in [-1.0, 1.0] {
        kit.one("Skirting", block(x, 0.09, 0.02), skirting, at(0.0, 0.045, side * (hz - 0.008)));
        kit.one("Skirting", block(0.02, 0.088, z), skirting, at(side * (hx - 0.008), 0.044, 0.0));
    }
    walls
}

fn panels(kit: &mut Kit) {
    let frame = kit.paint("Panel frame", [0.75, 0.75, 0.75], 0.4);
    let rim = joined(&[
        moved(&block(0.596, 0.024, 0.02), 0.0, 0.0, 0.29),
        moved(&block(0.596, 0.024, 0.02), 0.0, 0.0, -0.29),
        moved(&block(0.02, 0.024, 0.56), 0.29, 0.0, 0.0),
        moved(&block(0.02, 0.024, 0.56), -0.29, 0.0, 0.0),
        moved(&stick(0.58, 0.01, 0.58), 0.0, 0.02, 0.0),
    ]);
    let rim = kit.mesh("Panel frame", rim, frame);
    // Emissive sheet for importers without area lights.
    let nits = PANEL.0 / (std::f64::consts::PI * 0.56 * 0.56);
    let glow = kit.glow("Panel, 3654 nit", nits as f32, PANEL.1);
    let sheet = shapes::transformed(
        &shapes::plane(Vec2::splat(0.56), 1, 1),
        &glam::DAffine3::from_rotation_x(std::f64::consts::PI),
    );
    let sheet = kit.mesh("Panel", sheet, glow);
    let y = f64::from(SIZE.y);
    for (x, z) in PANELS {
        // Snap to the grid.
        let (x, z) = ((x / 0.6).round() * 0.6, ((z / 0.6 - 0.5).round() + 0.5) * 0.6);
        kit.put("Panel frame", rim, at(x, y, z));
        kit.put("Panel", sheet, at(x, y + 0.004, z));
        // A cosine distribution of equal flux, from its center.
        let way = [DVec3::new(x, y - 0.004, z), DVec3::new(x, 0.0, z)];
        kit.spot("Panel", PANEL, (10.0, 85.0), way);
    }
}

fn furniture(kit: &mut Kit) {
    let oak = textures::color_image(512, 512, textures::wood_color);
    let oak = kit.woven("Oak: color", oak, Vec2::splat(0.9));
    let oak = crate::scene::Material {
        base_color_texture: Some(oak),
        ..crate::scene::build::dielectric("Oak", Vec3::ONE, 0.45)
    };
    let oak = kit.builder.add_material(oak);
    let steel = kit.metal("Brushed steel", Vec3::new(0.55, 0.55, 0.56), 0.35);
    let top = super::kit::woven_block(2.8, 0.032, 1.15);
    kit.one("Table top", top, oak, at(0.2, 0.734, -0.15));
    let leg = kit.mesh("Table leg", block(0.07, 0.718, 0.07), steel);
    for (x, z) in [(-1.1, -0.6), (1.5, -0.6), (-1.1, 0.3), (1.5, 0.3)] {
        kit.put("Table leg", leg, at(x, 0.359, z));
    }
    kit.one("Table rail", block(2.6, 0.06, 0.03), steel, at(0.2, 0.68, -0.15));
    // Chairs: a shell on four legs.
    let blue = kit.paint("Chair, blue", [0.05, 0.12, 0.24], 0.5);
    let shell = super::solids::cloth(24, 30, 0.012, |u, v| {
        let across = (u - 0.5) * 0.44;
        // From the top of the back downward, then along the seat to its front.
        let (y, z) = if v < 0.5 {
            let t = v / 0.5;
            (0.84 - 0.39 * t, -0.21 + 0.05 * t * t - 0.02 * (1.0 - t))
        } else {
            let t = (v - 0.5) / 0.5;
            (0.45 - 0.035 * (std::f32::consts::PI * t).sin() - 0.02 * t * t, -0.16 + 0.40 * t)
        };
        Vec3::new(
            across * (1.0 - 0.12 * (0.5 - v).max(0.0)),
            y + 0.22 * across * across,
            z + 0.5 * across * across * (0.5 - v).max(0.0),
        )
    });
    let shell = kit.mesh("Chair shell", shell, blue);
    let leg = turned_on_lathe(&[(0.0, 0.0), (0.011, 0.0), (0.011, 0.43), (0.0, 0.43)], 12);
    let legs: Vec<_> = [(-0.18, -0.16), (0.18, -0.16), (-0.18, 0.18), (0.18, 0.18)]
        .iter()
        .map(|&(x, z)| moved(&leg, x, 0.0, z))
        .collect();
    let legs = kit.mesh("Chair legs", joined(&legs), steel);
    for (x, z, angle) in [
        (-0.75, 0.85, 3.05),
        (0.15, 0.92, 3.2),
        (1.1, 0.82, 3.1),
        (-0.7, -1.15, 0.05),
        (0.2, -1.2, -0.08),
        (1.15, -1.12, 0.1),
        (2.05, -0.15, -1.5),
    ] {
        let pose = turned(x, 0.0, z, angle);
        kit.put("Chair shell", shell, pose);
        kit.put("Chair legs", legs, pose);
    }
    // A white board on the far wall, with frame and shelf.
    let z = -f64::from(SIZE.z) * 0.5;
    let board = kit.paint("White board", [0.78, 0.78, 0.77], 0.12);
    let alu = kit.metal("Aluminum", Vec3::new(0.91, 0.92, 0.92), 0.3);
    kit.one("White board", stick(2.0, 1.2, 0.02), board, at(0.4, 1.5, z + 0.02));
    let frame = joined(&[
        moved(&block(2.06, 0.03, 0.035), 0.0, 0.615, 0.0),
        moved(&block(2.06, 0.03, 0.09), 0.0, -0.615, 0.025),
        moved(&block(0.03, 1.2, 0.034), -1.015, 0.0, 0.0),
        moved(&block(0.03, 1.2, 0.034), 1.015, 0.0, 0.0),
    ]);
    kit.one("White board frame", frame, alu, at(0.4, 1.5, z + 0.02));
    let door = kit.paint("Door, reflectance 0.35", [0.40, 0.35, 0.28], 0.5);
    kit.one(
        "Door",
        joined(&[
            block(0.05, 2.1, 0.92),
            moved(&block(0.09, 2.14, 0.06), 0.0, 0.02, 0.49),
            moved(&block(0.09, 2.14, 0.06), 0.0, 0.02, -0.49),
            moved(&block(0.09, 0.06, 1.04), 0.0, 1.08, 0.0),
        ]),
        door,
        at(f64::from(SIZE.x) * 0.5 - 0.01, 1.05, 1.1),
    );
}

/// Measurement targets: a gray card and a chart on the table, white, black and chrome balls.
fn targets(kit: &mut Kit) {
    let gray = kit.paint("Gray card 18 %", [GRAY_CARD; 3], 1.0);
    kit.one("Gray card", stick(0.2, 0.003, 0.25), gray, turned(0.35, 0.7517, 0.05, 0.2));
    let frame = kit.paint("Chart frame", [0.025; 3], 0.7);
    kit.one("Color chart", stick(0.29, 0.004, 0.2), frame, turned(-0.05, 0.7522, -0.02, 0.12));
    for (index, (name, code)) in COLOR_CHART.iter().enumerate() {
        let rgb = from_srgb8(*code);
        let patch = kit.paint(&format!("Chart: {name}"), rgb.to_array(), 1.0);
        let (column, row) = ((index % 6) as f64, (index / 6) as f64);
        let place = turned(-0.05, 0.7548, -0.02, 0.12)
            * at((column - 2.5) * 0.046, 0.0, (row - 1.5) * 0.046);
        kit.one("Patch", shapes::plane(Vec2::splat(0.04), 1, 1), patch, place);
    }
    for (name, rgb, roughness, x) in
        [("White ball", [0.80; 3], 0.9, 0.62), ("Black ball", [0.04; 3], 0.15, 0.75)]
    {
        let paint = kit.paint(name, rgb, roughness);
        kit.one(name, shapes::uv_sphere(0.05, 48, 24), paint, at(x, 0.80, 0.0));
    }
    let chrome = kit.metal("Chrome ball", Vec3::splat(0.62), 0.03);
    kit.one("Chrome ball", shapes::uv_sphere(0.05, 48, 24), chrome, at(0.88, 0.80, 0.0));
}

/// A floor lamp with a metal shade, and a plant pot.
fn corner(kit: &mut Kit, walls: MaterialId) {
    let black = kit.paint("Lamp, black", [0.02; 3], 0.4);
    let stand = turned_on_lathe(
        &[
            (0.0, 0.0),
            (0.15, 0.0),
            (0.15, 0.015),
            (0.02, 0.03),
            (0.012, 0.05),
            (0.012, 1.5),
            (0.0, 1.5),
        ],
        32,
    );
    let shade = turned_on_lathe(
        &[(0.18, 1.42), (0.182, 1.42), (0.12, 1.68), (0.118, 1.68), (0.18, 1.42)],
        48,
    );
    let (x, z) = (2.85, -1.95);
    kit.one("Standing lamp", joined(&[stand, shade]), black, at(x, 0.0, z));
    let bulb = kit.glow("Bulb, 2700 K", 25_000.0, 2700.0);
    kit.one("Bulb", moved(&shapes::uv_sphere(0.03, 24, 12), 0.0, 1.535, 0.0), bulb, at(x, 0.0, z));
    // The replacement of a 60 W bulb, above its glass.
    kit.lamp("Standing lamp", (806.0, 2700.0), DVec3::new(x, 1.585, z));
    let pot = turned_on_lathe(
        &[
            (0.0, 0.0),
            (0.15, 0.0),
            (0.19, 0.32),
            (0.2, 0.36),
            (0.17, 0.36),
            (0.16, 0.3),
            (0.0, 0.3),
        ],
        40,
    );
    kit.one("Pot", pot, walls, at(-2.9, 0.0, -2.0));
    let leaf = kit.builder.add_material(crate::scene::Material {
        double_sided: true,
        ..crate::scene::build::dielectric("Rubber plant", Vec3::new(0.03, 0.10, 0.03), 0.3)
    });
    let blade = shapes::sheet(6, 12, |u, v| {
        let (s, t) = (u * 2.0 - 1.0, 1.0 - v);
        let width = 0.075 * (std::f32::consts::PI * t.powf(0.8)).sin().max(0.0) + 0.004;
        Vec3::new(s * width, 0.28 * t - 0.16 * t * t, 0.30 * t + 0.03 * s * s)
    });
    let blade = kit.mesh("Leaf", blade, leaf);
    let stem = kit.paint("Stem", [0.10, 0.08, 0.03], 0.7);
    kit.one(
        "Stem",
        turned_on_lathe(&[(0.0, 0.28), (0.014, 0.28), (0.008, 1.35), (0.0, 1.36)], 10),
        stem,
        at(-2.9, 0.0, -2.0),
    );
    for index in 0..22 {
        let up = 0.5 + 0.04 * f64::from(index);
        kit.put("Leaf", blade, turned(-2.9, up, -2.0, 2.399_963 * f64::from(index)));
    }
}
