//! The demo scene: a photographer's table-top still life at real scale, lit for a renderer of
//! direct light only.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::{DMat4, DQuat, DVec2, DVec3, Vec2, Vec3};

use super::{
    meter::{self, ExposureDials},
    random::SplitMix64,
    shapes::{self, CREASE},
    textures::{self, from_srgb8},
};
use crate::{
    photometry::{Kelvin, Lumen, Lux, Nit, color::srgb_oetf_f32},
    scene::{
        AlphaMode, Material, Primitive, Sampler, Scene, Wrap,
        build::{
            MaterialId, MeshId, NodeId, SceneBuilder, SceneError, black_body, dielectric,
            look_at_transform, metal,
        },
    },
};

/// Height (m) of the table top.
const TABLE: f64 = 0.74;

/// Reflectance of the gray card, in every channel.
pub const GRAY_CARD: f32 = 0.18;

/// Reflectance of metals at normal incidence, linear Rec. 709, from Adobe, "Metal material
/// references" (Substance 3D documentation, column "Linear (Rec 709), Base Color (F0)").
pub const GOLD: Vec3 = Vec3::new(1.0, 0.7099, 0.3148);
/// Copper; see `GOLD`.
const COPPER: Vec3 = Vec3::new(1.0, 0.6504, 0.5274);
/// Aluminum; see `GOLD`.
const ALUMINIUM: Vec3 = Vec3::new(0.9157, 0.9226, 0.9236);

/// The 24 patches of the ColorChecker, row by row, as 8-bit sRGB (D65): the chart maker's published
/// values, as given by D. Pascale, "RGB coordinates of the Macbeth ColorChecker" (BabelColor,
/// 2006), and by Wikipedia, "ColorChecker".
pub const COLOR_CHART: [(&str, [u8; 3]); 24] = [
    ("Dark skin", [115, 82, 68]),
    ("Light skin", [194, 150, 130]),
    ("Blue sky", [98, 122, 157]),
    ("Foliage", [87, 108, 67]),
    ("Blue flower", [133, 128, 177]),
    ("Bluish green", [103, 189, 170]),
    ("Orange", [214, 126, 44]),
    ("Purplish blue", [80, 91, 166]),
    ("Moderate red", [193, 90, 99]),
    ("Purple", [94, 60, 108]),
    ("Yellow green", [157, 188, 64]),
    ("Orange yellow", [224, 163, 46]),
    ("Blue", [56, 61, 150]),
    ("Green", [70, 148, 73]),
    ("Red", [175, 54, 60]),
    ("Yellow", [231, 199, 31]),
    ("Magenta", [187, 86, 149]),
    ("Cyan", [8, 133, 161]),
    ("White", [243, 243, 242]),
    ("Neutral 8", [200, 200, 200]),
    ("Neutral 6.5", [160, 160, 160]),
    ("Neutral 5", [122, 122, 121]),
    ("Neutral 3.5", [85, 85, 85]),
    ("Black", [52, 52, 52]),
];

/// Roughness of six spheres, from 0.05 to 1 in equal steps.
#[must_use]
fn roughness_of(sphere: usize) -> f32 {
    (0.05 + 0.19 * sphere as f32).min(1.0)
}

/// Center and normal of the gray card.
#[must_use]
pub fn gray_card() -> (DVec3, DVec3) {
    let pose = gray_card_pose();
    (pose.transform_point3(DVec3::new(0.0, 0.075, 0.001)), pose.transform_vector3(DVec3::Z))
}

fn gray_card_pose() -> DMat4 {
    on_table(-0.47, 0.08, 22.0, 10.0)
}

/// A pose on the table top: rotated by `turn` degrees about the vertical, then tilted back by
/// `lean` degrees.
fn on_table(x: f64, z: f64, turn: f64, lean: f64) -> DMat4 {
    DMat4::from_rotation_translation(
        DQuat::from_rotation_y(turn.to_radians()) * DQuat::from_rotation_x(-lean.to_radians()),
        DVec3::new(x, TABLE, z),
    )
}

/// The scene with light meter readings at its gray card.
#[derive(Clone, Debug)]
pub struct StillLife {
    /// The scene, with the cameras "Hero" and "Macro".
    pub scene: Scene,
    /// Illuminance of each light on the gray card.
    pub on_card: Vec<(String, Lux)>,
    /// Luminance of the gray card.
    pub card: Nit,
    /// Exposure that maps the gray card to 0.18 of the saturation, to the nearest third of a stop.
    pub dials: ExposureDials,
}

impl StillLife {
    /// The look file (TOML) of the scene.
    #[must_use]
    pub fn look(&self) -> String {
        let total: Lux = self.on_card.iter().map(|(_, lux)| *lux).sum();
        let metered = meter::metered(self.card);
        let ExposureDials { f_stop, shutter_denominator, iso } = self.dials;
        let mut out = String::from(
            "# The gray card (reflectance 0.18, matte) under the lamps, direct light only:\n",
        );
        for (name, lux) in &self.on_card {
            out += &format!("#   {name:<10} {:7.1} lx\n", lux.get());
        }
        out += &format!(
            "#   together   {:7.1} lx, so {:.1} nit = E * 0.18 / pi\n",
            total.get(),
            self.card.get()
        );
        out += &format!(
            "# A reflected-light meter (K = 12.5) on the card says EV100 {:.2}: 12.5 / 120 = 0.104 of the saturation\n\
             # luminance 1.2 * 2^EV100. To bring the card to 0.18 of it, open by log2(0.18 / 0.104) = 0.79 stops.\n\
             # These dials are EV100 {:.2}: the card comes to {:.3}, saturation is at {:.0} nit.\n",
            metered.get(),
            self.dials.ev100().get(),
            self.dials.exposed(self.card),
            1.2 * self.dials.ev100().get().exp2(),
        );
        out += &format!(
            "[camera]\nname = \"Hero\"\n\n[camera.body]\niso = {iso}\nshutter = \"1/{shutter_denominator}\"\n\n\
             [camera.lens]\nf_stop = {f_stop:?}\n\n\
             [passes.tonemap]\noperator = \"agx\" # linear | aces | agx | pbr-neutral\n"
        );
        out
    }
}

/// Builds the still life.
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn still_life() -> Result<StillLife, SceneError> {
    let mut stage = StillLifeBuilder { builder: SceneBuilder::new("Still life"), top: None };
    stage.room();
    stage.spheres();
    stage.cards();
    stage.pottery();
    stage.branch();
    stage.fruit();
    stage.papers();
    stage.monitor();
    stage.lamps();
    stage.builder.camera(
        "Hero",
        DVec3::new(0.06, 1.20, 1.72),
        DVec3::new(0.02, 0.866, -0.02),
        0.40,
        Some(16.0 / 9.0),
    );
    stage.builder.camera(
        "Macro",
        DVec3::new(0.10, 0.90, 0.80),
        DVec3::new(-0.01, 0.772, 0.24),
        0.34,
        Some(16.0 / 9.0),
    );
    let scene = stage.builder.build()?;
    let (position, normal) = gray_card();
    let on_card = meter::illuminance_by_light(&scene, position, normal);
    let card = meter::lambertian_luminance(
        on_card.iter().map(|(_, lux)| *lux).sum(),
        f64::from(GRAY_CARD),
    );
    let wanted = meter::metered(card).get() - (0.18_f64 * 120.0 / 12.5).log2();
    let dials = ExposureDials::nearest(crate::photometry::Ev100(wanted), 60, 400);
    Ok(StillLife { scene, on_card, card, dials })
}

/// A lathe profile in millimeters.
fn millimeters(points: &[(f32, f32)], steps: usize) -> Vec<Vec2> {
    let points: Vec<Vec2> = points.iter().map(|&(r, y)| Vec2::new(r, y) * 1e-3).collect();
    if steps > 1 { shapes::smooth_curve(&points, steps) } else { points }
}

struct StillLifeBuilder {
    builder: SceneBuilder,
    top: Option<NodeId>,
}

impl StillLifeBuilder {
    fn matte(&mut self, name: &str, rgb: Vec3, roughness: f32) -> MaterialId {
        self.builder.add_material(dielectric(name, rgb, roughness))
    }

    fn single(&mut self, name: &str, part: Primitive, material: MaterialId, pose: DMat4) -> NodeId {
        let mesh = self.builder.add_mesh(name, part, material);
        self.place(name, mesh, pose)
    }

    /// Adds a mesh to the table; the pose is in world space, the node a child of the table top.
    fn place(&mut self, name: &str, mesh: MeshId, pose: DMat4) -> NodeId {
        match self.top {
            Some(top) => {
                let local = DMat4::from_translation(DVec3::new(0.0, -TABLE, 0.0)) * pose;
                self.builder.instance_in(top, name, mesh, local)
            }
            None => self.builder.instance(name, mesh, pose),
        }
    }

    /// The paper sweep and the table.
    fn room(&mut self) {
        // Seamless paper in its standard width of 2.72 m: along the floor, up a curve, up the wall.
        let paper = Material {
            double_sided: true,
            ..dielectric("Paper sweep", Vec3::new(0.21, 0.235, 0.26), 0.95)
        };
        let paper = self.builder.add_material(paper);
        let (width, wall, radius, height, floor) =
            (2.72_f32, -1.35_f32, 0.45_f32, 2.5_f32, 1.3_f32);
        let (up, bend) = (height - radius, radius * std::f32::consts::FRAC_PI_2);
        let sweep = shapes::sheet(8, 60, |u, v| {
            let way = v * (up + bend + floor);
            let x = (u - 0.5) * width;
            if way < up {
                Vec3::new(x, height - way, wall)
            } else if way < up + bend {
                let angle = (way - up) / radius;
                Vec3::new(x, radius * (1.0 - angle.sin()), wall + radius * (1.0 - angle.cos()))
            } else {
                Vec3::new(x, 0.0, wall + radius + way - up - bend)
            }
        });
        self.single("Paper sweep", sweep, paper, DMat4::IDENTITY);

        let tile = 0.8_f32;
        let repeat = Sampler::default();
        let color = textures::color_image(768, 768, textures::wood_color);
        let relief = textures::normal_map_image(512, 512, Vec2::splat(tile), textures::wood_relief);
        let rough =
            textures::picture(256, 256, |u, v| [1.0, textures::wood_roughness(u, v), 0.0, 1.0]);
        let color = self.builder.add_texture("Wood color", color, repeat);
        let relief = self.builder.add_texture("Wood normals", relief, repeat);
        let rough = self.builder.add_texture("Wood roughness", rough, repeat);
        let wood = Material {
            base_color_texture: Some(SceneBuilder::texture_ref(color)),
            metallic_roughness_texture: Some(SceneBuilder::texture_ref(rough)),
            normal_texture: Some(SceneBuilder::texture_ref(relief)),
            ..dielectric("Wood", Vec3::ONE, 1.0)
        };
        let wood = self.builder.add_material(wood);
        let (size, thick) = (Vec2::new(1.76, 1.34), 0.035_f32);
        let top = shapes::with_tangents(shapes::tiled(shapes::plane(size, 8, 6), size / tile));
        let edge = shapes::bevelled_box(Vec3::new(size.x, thick, size.y), 0.002);
        let edge =
            shapes::with_tangents(shapes::tiled(edge, Vec2::new(size.x / tile, thick / tile)));
        let dark = self.matte("Table legs", Vec3::splat(0.02), 0.5);
        let table = self.builder.add_node("Table", DMat4::IDENTITY);
        let top = self.builder.add_mesh("Table top", top, wood);
        let edge = self.builder.add_mesh("Table edge", edge, wood);
        let leg = self.builder.add_mesh(
            "Table leg",
            shapes::cylinder(0.022, TABLE as f32 - thick, 24),
            dark,
        );
        // The upper face of the body is a tenth of a millimeter below the top.
        let below = DVec3::new(0.0, TABLE - 1e-4 - f64::from(thick) * 0.5, 0.0);
        self.builder.instance_in(table, "Table edge", edge, DMat4::from_translation(below));
        for (x, z) in [(-0.8, -0.6), (0.8, -0.6), (-0.8, 0.6), (0.8, 0.6)] {
            self.builder.instance_in(
                table,
                "Table leg",
                leg,
                DMat4::from_translation(DVec3::new(x, 0.0, z)),
            );
        }
        let top = self.builder.instance_in(
            table,
            "Table top",
            top,
            DMat4::from_translation(DVec3::Y * TABLE),
        );
        self.top = Some(top);
    }

    /// Six non-metal spheres in front of six metal ones on a step.
    fn spheres(&mut self) {
        let (radius, pitch, step) = (0.03_f64, 0.076_f64, 0.045_f64);
        let ball = shapes::uv_sphere(radius as f32, 48, 24);
        let stone = self.matte("Plaster step", Vec3::splat(0.62), 0.85);
        let size = Vec3::new(pitch as f32 * 6.2, step as f32, 0.085);
        let block = shapes::rounded_box(size, 0.004, 3);
        self.single(
            "Plaster step",
            block,
            stone,
            on_table(0.0, 0.14, 0.0, 0.0) * DMat4::from_translation(DVec3::Y * step * 0.5),
        );
        let metals = [("Gold", GOLD), ("Copper", COPPER), ("Aluminum", ALUMINIUM)];
        for index in 0..6 {
            let x = (index as f64 - 2.5) * pitch;
            let roughness = roughness_of(index);
            let (name, reflectance) = metals[index % 3];
            let name = format!("{name}, roughness {roughness:.2}");
            let material = self.builder.add_material(metal(&name, reflectance, roughness));
            let pose = DMat4::from_translation(DVec3::new(x, TABLE + step + radius, 0.14));
            self.single(&name, ball.clone(), material, pose);
            let name = format!("Glaze, roughness {roughness:.2}");
            let material = self.matte(&name, Vec3::new(0.36, 0.022, 0.026), roughness);
            let pose = DMat4::from_translation(DVec3::new(x, TABLE + radius, 0.30));
            self.single(&name, ball.clone(), material, pose);
        }
    }

    /// The gray card and the color chart.
    fn cards(&mut self) {
        let gray = self.matte("Gray card 18 %", Vec3::splat(GRAY_CARD), 1.0);
        let lift = |part: &Primitive, height: f64| {
            shapes::transformed(part, &glam::DAffine3::from_translation(DVec3::Y * height * 0.5))
        };
        let card = lift(&shapes::cuboid(Vec3::new(0.11, 0.15, 0.002)), 0.15);
        self.single("Gray card", card, gray, gray_card_pose());

        let frame = self.matte("Chart frame", Vec3::splat(0.025), 0.7);
        let (patch, gap) = (0.04_f32, 0.006_f32);
        let pitch = patch + gap;
        let (width, height) = (6.0 * pitch + gap, 4.0 * pitch + gap);
        let mut parts = vec![(
            lift(&shapes::cuboid(Vec3::new(width, height, 0.003)), f64::from(height)),
            frame,
        )];
        for (index, (name, code)) in COLOR_CHART.iter().enumerate() {
            let (column, row) = ((index % 6) as f32, (index / 6) as f32);
            let corner =
                Vec3::new(gap + column * pitch - width * 0.5, height - gap - row * pitch, 0.0019);
            let material = self.matte(&format!("Chart: {name}"), from_srgb8(*code), 1.0);
            parts
                .push((shapes::quad(corner, Vec3::X * patch, Vec3::NEG_Y * patch, 1, 1), material));
        }
        let chart = self.builder.add_mesh_of("Color chart", parts);
        self.place(
            "Color chart",
            chart,
            on_table(-0.27, -0.2, 10.0, 12.0) * DMat4::from_translation(DVec3::Y * 0.05),
        );
        // It stands on a block, so that the spheres in front do not hide its gray row.
        let oak = self.matte("Chart block", Vec3::new(0.30, 0.17, 0.085), 0.6);
        let block = shapes::rounded_box(Vec3::new(0.27, 0.049, 0.06), 0.003, 2);
        let pose = on_table(-0.27, -0.21, 10.0, 0.0) * DMat4::from_translation(DVec3::Y * 0.0245);
        self.single("Chart block", block, oak, pose);
    }

    /// A vase, a cup with its saucer, a bottle.
    fn pottery(&mut self) {
        let celadon = self.matte("Celadon glaze", Vec3::new(0.20, 0.36, 0.30), 0.28);
        let outer = [
            (30.0, 2.0),
            (46.0, 30.0),
            (66.0, 90.0),
            (62.0, 150.0),
            (34.0, 205.0),
            (24.0, 235.0),
            (33.0, 262.0),
        ];
        let inner = [
            (30.0, 262.0),
            (21.0, 235.0),
            (30.0, 205.0),
            (58.0, 150.0),
            (62.0, 90.0),
            (42.0, 30.0),
            (0.0, 8.0),
        ];
        let mut profile = millimeters(&[(0.0, 3.0), (24.0, 3.0), (24.0, 0.0), (29.0, 0.0)], 1);
        profile.extend(millimeters(&outer, 4));
        profile.extend(millimeters(&inner, 4));
        self.single(
            "Vase",
            shapes::lathe(&profile, CREASE, 48),
            celadon,
            on_table(0.27, -0.20, 0.0, 0.0),
        );

        let china = self.matte("Bone china", Vec3::new(0.78, 0.76, 0.70), 0.16);
        let outer = [(24.0, 3.0), (36.0, 14.0), (40.5, 38.0), (43.0, 66.0)];
        let inner = [(41.2, 66.4), (38.6, 38.0), (34.0, 15.0), (0.0, 6.5)];
        let mut cup = millimeters(&[(0.0, 2.0), (20.0, 2.0), (21.0, 0.0), (23.5, 0.0)], 1);
        cup.extend(millimeters(&outer, 4));
        cup.extend(millimeters(&inner, 4));
        let mut cup = shapes::lathe(&cup, CREASE, 48);
        let handle = shapes::torus_arc(0.019, 0.0036, -0.15, PI as f32 + 0.3, 24, 12);
        // The ring's axis is horizontal, and its open side is inside the wall.
        let upright = DMat4::from_rotation_translation(
            DQuat::from_rotation_x(FRAC_PI_2),
            DVec3::new(0.0385, 0.038, 0.0),
        );
        shapes::append(&mut cup, &handle, &glam::DAffine3::from_mat4(upright));
        self.single(
            "Cup",
            cup,
            china,
            on_table(0.40, 0.16, -35.0, 0.0) * DMat4::from_translation(DVec3::Y * 0.0045),
        );
        let saucer = [
            (0.0, 1.0),
            (26.0, 1.0),
            (27.0, 0.0),
            (31.0, 0.0),
            (50.0, 6.0),
            (68.0, 13.0),
            (69.5, 14.5),
            (68.0, 15.0),
            (50.0, 8.6),
            (32.0, 4.6),
            (0.0, 4.4),
        ];
        let saucer = shapes::lathe(&millimeters(&saucer, 1), 0.9, 48);
        self.single("Saucer", saucer, china, on_table(0.40, 0.16, 0.0, 0.0));
        let coffee = self.matte("Coffee", Vec3::new(0.012, 0.006, 0.003), 0.08);
        let surface = shapes::lathe(&millimeters(&[(40.3, 0.0), (0.0, 0.0)], 1), CREASE, 48);
        self.single(
            "Coffee",
            surface,
            coffee,
            on_table(0.40, 0.16, 0.0, 0.0) * DMat4::from_translation(DVec3::Y * 0.058),
        );

        let ink = self.matte("Dark glazed stoneware", Vec3::new(0.018, 0.03, 0.06), 0.22);
        let outer =
            [(37.0, 1.0), (42.0, 20.0), (42.0, 90.0), (36.0, 125.0), (15.0, 150.0), (13.0, 185.0)];
        let mut bottle = millimeters(&[(0.0, 0.0), (36.0, 0.0)], 1);
        bottle.extend(millimeters(&outer, 4));
        bottle.extend(millimeters(
            &[(17.0, 185.5), (17.0, 193.0), (11.0, 194.0), (11.0, 150.0), (0.0, 148.0)],
            1,
        ));
        self.single(
            "Bottle",
            shapes::lathe(&bottle, CREASE, 48),
            ink,
            on_table(0.43, -0.27, 0.0, 0.0),
        );
    }

    /// Stems with alpha-masked leaves that stand in the vase.
    fn branch(&mut self) {
        let picture = textures::picture(256, 256, |u, v| {
            let (rgb, opacity) = textures::leaf(u, v);
            let [r, g, b] = rgb.to_array().map(srgb_oetf_f32);
            [r, g, b, opacity]
        });
        let clamp = Sampler { wrap_u: Wrap::Clamp, wrap_v: Wrap::Clamp, ..Sampler::default() };
        let leaf = self.builder.add_texture("Leaf", picture, clamp);
        let leaf = Material {
            base_color_texture: Some(SceneBuilder::texture_ref(leaf)),
            alpha: AlphaMode::Mask { cutoff: 0.5 },
            double_sided: true,
            ..dielectric("Leaf", Vec3::ONE, 0.5)
        };
        let leaf = self.builder.add_material(leaf);
        let blade = shapes::sheet(6, 10, |u, v| {
            let (across, along) = (u - 0.5, 1.0 - v);
            Vec3::new(
                across * 0.058,
                along * 0.105 - 0.02 * along * along,
                0.05 * across * across - 0.035 * along * along,
            )
        });
        let blade = self.builder.add_mesh("Leaf", blade, leaf);
        let bark = self.matte("Bark", Vec3::new(0.07, 0.045, 0.025), 0.8);
        let foot = DVec3::new(0.27, TABLE + 0.02, -0.20);
        let mut random = SplitMix64::new(16);
        for (stem, (turn, reach, rise)) in
            [(2.3_f64, 0.14, 0.39), (0.35, 0.11, 0.35), (-1.2, 0.06, 0.43)].into_iter().enumerate()
        {
            let aside = DVec3::new(turn.cos(), 0.0, turn.sin() * 0.5);
            let path = |t: f64| foot + DVec3::Y * rise * t + aside * reach * t.powf(2.6);
            let tube = shapes::sheet(8, 24, |u, v| {
                let t = 1.0 - f64::from(v);
                let around = DVec2::from_angle(2.0 * PI * f64::from(u)) * (0.0026 - 0.0014 * t);
                // u starts at +Z and grows toward +X, as for all round shapes.
                (path(t) - DVec3::Y * TABLE + DVec3::new(around.y, 0.0, around.x)).as_vec3()
            });
            self.single(
                &format!("Stem {}", stem + 1),
                tube,
                bark,
                DMat4::from_translation(DVec3::Y * TABLE),
            );
            for index in 0..7 {
                let t = 0.64 + 0.06 * f64::from(index);
                let side = if index % 2 == 0 { 1.0 } else { -1.0 };
                let lean = if index == 6 { 0.15 } else { random.uniform(0.7, 1.15) };
                let spin = if index == 6 { 0.3 } else { random.uniform(-0.6, 0.6) };
                let turn = DQuat::from_rotation_z(-side * lean) * DQuat::from_rotation_y(spin);
                let size = DVec3::splat(random.uniform(0.75, 1.05));
                let pose = DMat4::from_scale_rotation_translation(size, turn, path(t));
                self.place("Leaf", blade, pose);
            }
        }
    }

    /// Two apples, a pear, a lemon.
    fn fruit(&mut self) {
        let apple = [
            (0.0, 9.0),
            (7.0, 4.0),
            (16.0, 0.5),
            (27.0, 8.0),
            (36.0, 28.0),
            (38.5, 44.0),
            (34.0, 60.0),
            (22.0, 69.0),
            (11.0, 68.0),
            (4.0, 61.0),
            (0.0, 55.0),
        ];
        let mut apple = shapes::lathe(&millimeters(&apple, 4), 1.2, 40);
        let stalk = shapes::cylinder(0.0014, 0.022, 8);
        let red = self.matte("Apple skin", Vec3::new(0.42, 0.035, 0.022), 0.32);
        let green = self.matte("Green apple skin", Vec3::new(0.33, 0.42, 0.06), 0.34);
        let brown = self.matte("Stalk", Vec3::new(0.06, 0.035, 0.018), 0.8);
        let up = glam::DAffine3::from_translation(DVec3::Y * 0.054);
        let stalk = shapes::transformed(&stalk, &up);
        // Slightly out of round: five lobes, stronger at the bottom. Normals of the round shape are
        // accurate enough.
        for position in &mut apple.positions {
            let angle = position.x.atan2(position.z);
            let lobe = 1.0 + 0.018 * (5.0 * angle).cos() * (1.0 - position.y / 0.07);
            position.x *= lobe;
            position.z *= lobe;
        }
        for (name, skin, pose) in [
            ("Red apple", red, on_table(0.245, 0.02, 40.0, 0.0)),
            ("Green apple", green, on_table(0.335, 0.01, 200.0, 8.0)),
        ] {
            let mesh =
                self.builder.add_mesh_of(name, vec![(apple.clone(), skin), (stalk.clone(), brown)]);
            self.place(name, mesh, pose);
        }
        let pear = [
            (0.0, 4.0),
            (6.0, 1.0),
            (14.0, 0.0),
            (27.0, 8.0),
            (34.5, 28.0),
            (32.0, 48.0),
            (22.0, 68.0),
            (15.5, 84.0),
            (11.0, 96.0),
            (4.0, 101.0),
            (0.0, 100.0),
        ];
        let pear = shapes::lathe(&millimeters(&pear, 4), 1.2, 40);
        let skin = self.matte("Pear skin", Vec3::new(0.50, 0.43, 0.08), 0.42);
        let stalk = shapes::transformed(
            &shapes::cylinder(0.0016, 0.024, 8),
            &glam::DAffine3::from_translation(DVec3::Y * 0.098),
        );
        let mesh = self.builder.add_mesh_of("Pear", vec![(pear, skin), (stalk, brown)]);
        self.place("Pear", mesh, on_table(0.155, -0.06, 0.0, 3.0));
        let lemon = [
            (0.0, -41.0),
            (3.5, -39.0),
            (6.0, -34.0),
            (17.0, -24.0),
            (25.0, -9.0),
            (26.0, 4.0),
            (20.0, 21.0),
            (8.0, 32.0),
            (5.0, 37.0),
            (0.0, 40.0),
        ];
        let lemon = shapes::lathe(&millimeters(&lemon, 4), 1.2, 40);
        let skin = self.matte("Lemon peel", Vec3::new(0.72, 0.47, 0.03), 0.38);
        let lying = DMat4::from_translation(DVec3::new(0.30, TABLE + 0.0255, 0.105))
            * DMat4::from_quat(DQuat::from_rotation_y(0.5) * DQuat::from_rotation_z(FRAC_PI_2));
        self.single("Lemon", lemon, skin, lying);
    }

    /// A curled sheet of colored paper, visible from both sides, and building blocks.
    fn papers(&mut self) {
        let paper = Material {
            double_sided: true,
            ..dielectric("Apricot paper", Vec3::new(0.62, 0.30, 0.12), 0.9)
        };
        let paper = self.builder.add_material(paper);
        // Part of a spiral, standing on its edge.
        let curl = shapes::sheet(48, 4, |u, v| {
            let angle = 4.6 * u;
            let radius = 0.042 + 0.028 * u;
            Vec3::new(radius * angle.sin(), 0.13 * (1.0 - v), radius * angle.cos())
        });
        self.single("Curled paper", curl, paper, on_table(-0.02, -0.22, 100.0, 0.0));
        let blocks = [
            (
                "Blue block",
                Vec3::new(0.035, 0.12, 0.36),
                Vec3::new(0.045, 0.045, 0.045),
                (-0.385, 0.25, 24.0),
                0.0,
            ),
            (
                "Yellow block",
                Vec3::new(0.68, 0.44, 0.035),
                Vec3::new(0.045, 0.045, 0.045),
                (-0.325, 0.215, -12.0),
                0.0,
            ),
            (
                "Teal block",
                Vec3::new(0.03, 0.26, 0.25),
                Vec3::new(0.07, 0.03, 0.035),
                (-0.352, 0.232, 14.0),
                0.045,
            ),
        ];
        for (name, color, size, (x, z, turn), height) in blocks {
            let paint = self.matte(name, color, 0.45);
            let pose = on_table(x, z, turn, 0.0)
                * DMat4::from_translation(DVec3::Y * (height + f64::from(size.y) * 0.5));
            self.single(name, shapes::rounded_box(size, 0.003, 3), paint, pose);
        }
    }

    /// A small field monitor; such screens have 500 to 1000 nits.
    fn monitor(&mut self) {
        let body = self.matte("Monitor body", Vec3::splat(0.022), 0.42);
        let clamp = Sampler { wrap_u: Wrap::Clamp, wrap_v: Wrap::Clamp, ..Sampler::default() };
        let picture = self.builder.add_texture(
            "Screen",
            textures::color_image(320, 180, textures::screen),
            clamp,
        );
        let screen = Material {
            emission: Vec3::splat(600.0),
            emissive_texture: Some(SceneBuilder::texture_ref(picture)),
            ..dielectric("Screen, 600 nit", Vec3::splat(0.01), 0.3)
        };
        let screen = self.builder.add_material(screen);
        let (width, height) = (0.124_f32, 0.0698_f32);
        let case = shapes::transformed(
            &shapes::rounded_box(Vec3::new(0.142, 0.088, 0.016), 0.006, 4),
            &glam::DAffine3::from_translation(DVec3::new(0.0, 0.044, -0.0082)),
        );
        let corner = Vec3::new(-width * 0.5, 0.044 + height * 0.5, 0.0004);
        let glass = shapes::quad(corner, Vec3::X * width, Vec3::NEG_Y * height, 1, 1);
        let monitor = self.builder.add_mesh_of("Monitor", vec![(case, body), (glass, screen)]);
        self.place("Monitor", monitor, on_table(0.52, -0.03, -24.0, 14.0));
    }

    /// Five lights: key, fill panel, fill bulb, rim and backdrop. They come from all sides, so that
    /// a renderer of direct light only leaves nothing black.
    fn lamps(&mut self) {
        // Name, lumens, kelvins, half angles in degrees, position, target.
        let lamps = [
            // A 20 W photographic LED spot with a lens.
            (
                "Key",
                2000.0,
                5600.0,
                (22.0, 36.0),
                DVec3::new(-1.25, 1.95, 1.05),
                DVec3::new(0.0, 0.78, 0.0),
            ),
            // An LED panel behind a diffuser, wide and weak.
            (
                "Fill panel",
                1300.0,
                5000.0,
                (40.0, 62.0),
                DVec3::new(1.35, 1.45, 1.35),
                DVec3::new(0.05, 0.82, 0.0),
            ),
            // A 10 W LED spot from behind.
            (
                "Rim",
                1000.0,
                7500.0,
                (24.0, 42.0),
                DVec3::new(0.75, 1.75, -1.05),
                DVec3::new(0.0, 0.78, 0.05),
            ),
            // On the floor behind the table, aimed at the paper.
            (
                "Backdrop",
                1100.0,
                4300.0,
                (40.0, 72.0),
                DVec3::new(-0.2, 0.45, -0.42),
                DVec3::new(-0.05, 1.02, -1.35),
            ),
        ];
        for (name, flux, kelvin, (inner, outer), position, target) in lamps {
            let (color, cone) =
                (black_body(Kelvin(kelvin)), (f64::to_radians(inner), f64::to_radians(outer)));
            self.builder.spot_light_lumens(
                name,
                Lumen(flux),
                color,
                cone,
                look_at_transform(position, target),
            );
        }
        // The LED replacement of a 60 W incandescent bulb: 806 lm, warm white.
        let warm = black_body(Kelvin(2700.0));
        self.builder.point_light_lumens(
            "Fill bulb",
            Lumen(806.0),
            warm,
            DVec3::new(0.95, 1.25, 0.35),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Projection, write_glb::write_glb};

    #[test]
    fn the_still_life_is_within_its_means() {
        let still = still_life().unwrap();
        assert!(
            still.scene.instanced_triangles() <= 60_000,
            "{}",
            still.scene.instanced_triangles()
        );
        let names: Vec<&str> =
            still.scene.cameras.iter().map(|camera| camera.name.as_str()).collect();
        assert_eq!(names, ["Hero", "Macro"]);
        let Projection::Perspective { aspect, .. } = still.scene.cameras[0].projection else {
            panic!()
        };
        assert_eq!(aspect, Some(16.0 / 9.0));
        let glb = write_glb(&still.scene).unwrap();
        assert!(glb.len() <= 4 << 20, "{}", glb.len());
        assert_eq!(glb, write_glb(&still_life().unwrap().scene).unwrap(), "not repeatable");
    }

    #[test]
    fn the_gray_card_is_exact_and_rightly_exposed() {
        let still = still_life().unwrap();
        let card = still
            .scene
            .materials
            .iter()
            .find(|material| material.name.starts_with("Gray card"))
            .unwrap();
        assert_eq!((card.base_color.x, card.roughness, card.metallic), (0.18, 1.0, 0.0));
        // Within half of a third-stop click.
        assert!((still.dials.exposed(still.card) / 0.18).log2().abs() < 0.18);
        assert!(still.look().contains("operator = \"agx\""));
    }

    #[test]
    fn the_card_stands_on_the_table_and_faces_the_front() {
        let (middle, normal) = gray_card();
        assert!(middle.y > TABLE && normal.z > 0.8 && normal.y > 0.0);
    }
}
