//! Portrait of a lens that faces the sun: a real design with its glass and mount, on a garden wall
//! in the evening.

use std::f64::consts::FRAC_PI_2;

use glam::{DAffine3, DMat4, DQuat, DVec3, Vec2, Vec3};

use super::{
    kit::{Kit, at, block, joined, moved, turned, turned_on_lathe},
    random::{SplitMix64, fractal_noise},
    shapes::{self, append},
    textures,
};
use crate::{
    optics::{
        glass::LINE_D,
        prescription::{ElementKind, Prescription, SurfaceShape},
    },
    photometry::color::srgb_oetf_f32,
    scene::{
        AlphaMode, Material, MaterialVolume, Primitive, Sampler, Scene, Wrap,
        build::{SceneBuilder, SceneError, dielectric},
    },
};

/// Name of the lens design.
pub const DESIGN: &str = "dgauss-50-f2";

/// Look: the sun is in the picture's upper right and causes flare in the camera's own lens.
pub const LOOK: &str = include_str!("../../../assets/demos/lens.look.toml");

/// Outer outline of mount and barrel: (mm from the front rim toward the film, radius in mm).
const BARREL: [(f32, f32); 24] = [
    (0.0, 20.6),
    (0.0, 22.6),
    (0.6, 23.2),
    (4.2, 23.2),
    (4.8, 22.8),
    (5.2, 22.8),
    (5.4, 24.6),
    (6.0, 25.2),
    (10.4, 25.2),
    (11.0, 24.6),
    (11.2, 24.0),
    (13.4, 24.0),
    (13.8, 25.8),
    (14.4, 26.4),
    (26.2, 26.4),
    (26.8, 25.8),
    (27.0, 25.2),
    (33.0, 25.2),
    (34.0, 26.8),
    (38.6, 26.8),
    (39.2, 26.2),
    (39.4, 23.0),
    (43.6, 23.0),
    (44.0, 22.6),
];

/// A terrace wall with the lens, aimed past the camera into the sun, with leaves, and a low field
/// behind. The lens is the double Gauss of the built-in library, [`DESIGN`]. Each element has its
/// radii and thicknesses, cemented ones are 20 um apart, and the iris has ten blades at f/4.
/// Cameras: "Portrait", "Glass".
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn lens_portrait() -> Result<Scene, SceneError> {
    let mut kit = Kit::new("Portrait of a lens");
    terrace(&mut kit);
    // The axis points past the camera and slightly up: the lens's +Y points to its front.
    let turn = DQuat::from_rotation_y(0.62) * DQuat::from_rotation_x(FRAC_PI_2 - 0.10);
    let pose = DMat4::from_rotation_translation(turn, DVec3::new(-0.035, 0.9267, -0.03));
    lens(&mut kit, pose);
    cap(&mut kit);
    leaves(&mut kit);
    let wide = Some(16.0 / 9.0);
    let eye = DVec3::new(0.045, 0.985, 0.46);
    kit.builder.camera("Portrait", eye, DVec3::new(0.075, 0.985, -0.5), 0.6, wide);
    kit.builder.camera(
        "Glass",
        DVec3::new(0.09, 1.02, 0.22),
        DVec3::new(-0.02, 0.93, 0.0),
        0.42,
        wide,
    );
    kit.builder.build()
}

fn stone_color(u: f32, v: f32) -> Vec3 {
    let grain = fractal_noise(u, v, [6, 6], 6, 6100);
    let moss = ((fractal_noise(u, v, [3, 3], 4, 6200) - 0.58) / 0.1).clamp(0.0, 1.0);
    (Vec3::new(0.44, 0.39, 0.31) * (0.55 + 0.7 * grain))
        .lerp(Vec3::new(0.10, 0.13, 0.03), moss * 0.7)
}

fn stone_roughness(u: f32, v: f32) -> f32 {
    0.6 + 0.3 * fractal_noise(u, v, [6, 6], 3, 6300)
}

fn stone_relief(u: f32, v: f32) -> f32 {
    0.006 * fractal_noise(u, v, [10, 10], 6, 6400)
}

fn terrace(kit: &mut Kit) {
    let weave = super::kit::Weave {
        size: Vec2::splat(0.9),
        texels: [512, 512],
        color: stone_color,
        roughness: stone_roughness,
        relief: stone_relief,
    };
    let stone = kit.weave("Sandstone", &weave);
    for (index, x) in [-1.35, -0.45, 0.45, 1.35].into_iter().enumerate() {
        let wide = 0.893 - 0.004 * index as f32;
        let slab = super::kit::woven_block(wide, 0.07, 0.46);
        kit.one_relief("Coping", slab, stone, at(x, 0.865, -0.1));
    }
    kit.one_relief("Wall", super::kit::woven_block(3.7, 0.84, 0.38), stone, at(0.0, 0.42, -0.1));
    let grass = kit.paint("Field", [0.055, 0.085, 0.02], 0.9);
    let field = shapes::sheet(60, 60, |u, v| {
        let (x, z) = ((u - 0.5) * 160.0, -0.6 - (1.0 - v) * 120.0);
        let swell = fractal_noise(u, v, [5, 4], 4, 6500) * 3.2 - 1.9;
        Vec3::new(x, swell * (1.0 - v) - 0.3, z)
    });
    kit.one("Field", field, grass, DMat4::IDENTITY);
    // A distant line of poplars.
    let leaf = kit.paint("Poplar", [0.03, 0.055, 0.012], 0.9);
    let mut tree = shapes::transformed(
        &shapes::icosphere(1.0, 3),
        &DAffine3::from_scale(DVec3::new(1.1, 5.0, 1.1)),
    );
    for position in &mut tree.positions {
        let p = *position * 2.3;
        let bump = 1.0 + 0.16 * (p.x * 2.7 + p.y).sin() * (p.y * 1.9 - p.z).sin();
        *position *= Vec3::new(bump, 1.0, bump);
    }
    let tree = kit.mesh("Poplar", tree, leaf);
    let mut random = SplitMix64::new(61);
    for index in 0..18 {
        let x = -44.0 + 5.2 * f64::from(index) + random.uniform(-1.2, 1.2);
        let size = DVec3::splat(random.uniform(0.8, 1.15));
        let place = DVec3::new(x, 3.4, -72.0 + random.uniform(-5.0, 5.0));
        kit.put(
            "Poplar",
            tree,
            DMat4::from_scale_rotation_translation(size, DQuat::from_rotation_y(x), place),
        );
    }
}

/// An element between two surfaces: outlines as (radius, height), front upward, closed on the axis.
fn element(front: (f32, f32), back: (f32, f32), radius: f32) -> Primitive {
    let sag = |(vertex, curvature): (f32, f32), r: f32| {
        vertex - curvature * r * r / (1.0 + (1.0 - (curvature * r).powi(2)).max(0.0).sqrt())
    };
    let steps = 24;
    let along = |surface: (f32, f32), step: usize| {
        let r = radius * step as f32 / steps as f32;
        Vec2::new(r, sag(surface, r))
    };
    let mut profile: Vec<Vec2> = (0..=steps).map(|step| along(back, step)).collect();
    profile.extend((0..=steps).rev().map(|step| along(front, step)));
    shapes::lathe(&profile, shapes::CREASE, 72)
}

fn lens(kit: &mut Kit, pose: DMat4) {
    let black = kit.paint("Black anodized", [0.018, 0.018, 0.019], 0.36);
    let inside = kit.paint("Matt black", [0.008, 0.008, 0.008], 0.85);
    let chrome = kit.metal("Satin chrome", Vec3::new(0.55, 0.555, 0.56), 0.28);
    let white = kit.paint("Engraving, white", [0.75, 0.75, 0.73], 0.6);
    let amber = kit.paint("Engraving, amber", [0.75, 0.35, 0.03], 0.6);
    // Outer wall downward, then inner wall upward; in meters, with the front rim at 0 and the film
    // below.
    let mut outline: Vec<(f32, f32)> =
        BARREL.iter().rev().map(|&(z, r)| (r * 1e-3, -z * 1e-3)).collect();
    outline.insert(0, (0.0185, -0.044));
    outline.extend([
        (0.0182, -0.0035),
        (0.0129, -0.0057),
        (0.0129, -0.0062),
        (0.0150, -0.0070),
        (0.0150, -0.042),
        (0.0185, -0.044),
    ]);
    kit.one("Barrel", turned_on_lathe(&outline, 120), black, pose);
    // Ribs of the focus ring and of the aperture ring.
    let mut ribs = Primitive::default();
    let mut rings = |count: usize, radius: f64, z: f64, size: Vec3, skip: usize| {
        let rib = shapes::cuboid(size);
        for index in (0..count).filter(|index| skip == 0 || index % skip != 0) {
            let around =
                DAffine3::from_rotation_y(std::f64::consts::TAU * index as f64 / count as f64);
            let place = DAffine3::from_translation(DVec3::new(0.0, z, radius));
            append(&mut ribs, &rib, &(around * place));
        }
    };
    rings(96, 0.0264, -0.0203, Vec3::new(0.0010, 0.0104, 0.0012), 8);
    rings(72, 0.0252, -0.0082, Vec3::new(0.0011, 0.0036, 0.0010), 6);
    kit.one("Knurling", ribs, black, pose);
    let ring = |low: f32, high: f32, r: f32| {
        turned_on_lathe(
            &[(r - 0.001, low), (r, low), (r, high), (r - 0.001, high), (r - 0.001, low)],
            96,
        )
    };
    kit.one(
        "Mount",
        joined(&[ring(-0.0436, -0.0396, 0.02306), ring(-0.0332, -0.0271, 0.02526)]),
        chrome,
        pose,
    );
    // Scale marks.
    let mut marks = Primitive::default();
    for index in 0..28 {
        let around = DAffine3::from_rotation_y(f64::from(index) * 0.224);
        let long = if index % 4 == 0 { 0.0022 } else { 0.0012 };
        let mark = shapes::cuboid(Vec3::new(0.0003, long, 0.0002));
        append(
            &mut marks,
            &mark,
            &(around * DAffine3::from_translation(DVec3::new(0.0, -0.0123, 0.02403))),
        );
    }
    kit.one("Scale", marks, white, pose);
    kit.one(
        "Index",
        moved(&shapes::cuboid(Vec3::new(0.0007, 0.004, 0.0003)), 0.0, -0.030, 0.02530),
        amber,
        pose,
    );
    kit.one("Name ring", ring(-0.0012, -0.0008, 0.0186), white, pose);
    glass(kit, pose);
    // The iris at f/4: ten blades.
    let stop = -0.0212 - 0.0022;
    let blade = |index: usize| {
        let angle = std::f32::consts::TAU * index as f32 / 10.0;
        let corner = |a: f32, r: f32| Vec3::new((angle + a).sin() * r, 0.0, (angle + a).cos() * r);
        let (half, step) = (std::f32::consts::PI / 10.0, 0.0148);
        let (a, b, c, d) =
            (corner(-half, step), corner(-half, 0.0048), corner(half, 0.0048), corner(half, step));
        let mut part = Primitive::default();
        part.positions.extend([a, b, c, d]);
        part.normals.extend([Vec3::Y; 4]);
        part.uv0.extend([Vec2::ZERO; 4]);
        part.indices.extend([0, 1, 2, 0, 2, 3]);
        part
    };
    let blades: Vec<Primitive> = (0..10).map(blade).collect();
    let steel =
        Material { double_sided: true, ..dielectric("Blued blades", Vec3::splat(0.02), 0.45) };
    let steel = kit.builder.add_material(steel);
    kit.one("Iris", joined(&blades), steel, pose * at(0.0, stop, 0.0));
    let tube = turned_on_lathe(
        &[
            (0.0148, -0.042),
            (0.0148, -0.0072),
            (0.0151, -0.0072),
            (0.0151, -0.042),
            (0.0148, -0.042),
        ],
        64,
    );
    kit.one("Inner tube", tube, inside, pose);
}

/// Glass elements from the design's table.
fn glass(kit: &mut Kit, pose: DMat4) {
    let Some(Ok(design)) = Prescription::builtin(DESIGN) else { return };
    let elements = design.elements();
    // The front vertex is slightly behind the rim.
    let mut vertex = -0.0028_f32;
    let mut number = 0;
    for pair in elements.windows(2) {
        let [front, back] = pair else { continue };
        let gap = front.gap as f32;
        let (
            ElementKind::Refracting { shape: first, after, .. },
            ElementKind::Refracting { shape: second, .. },
        ) = (front.kind, back.kind)
        else {
            vertex -= gap;
            continue;
        };
        let index = after.index(LINE_D);
        if !after.is_air() {
            number += 1;
            let curvature = |shape: SurfaceShape| shape.curvature() as f32;
            let radius = (front.semi_aperture.min(back.semi_aperture) as f32).min(0.0146);
            // An inset of ten micrometers per face, so that cemented elements share none.
            let thin = 1e-5;
            let part = element(
                (vertex - thin, curvature(first)),
                (vertex - gap + thin, curvature(second)),
                radius,
            );
            let glass = Material {
                transmission: 1.0,
                ior: index as f32,
                volume: MaterialVolume { thickness: gap, ..MaterialVolume::default() },
                ..dielectric(&format!("Glass, n = {index:.3}"), Vec3::ONE, 0.0)
            };
            let glass = kit.builder.add_material(glass);
            kit.one(&format!("Element {number}"), part, glass, pose);
        }
        vertex -= gap;
    }
}

/// The detached lens cap, and a cable release.
fn cap(kit: &mut Kit) {
    let plastic = kit.paint("Cap", [0.02, 0.02, 0.021], 0.42);
    let cap = turned_on_lathe(
        &[
            (0.0, 0.0),
            (0.0242, 0.0),
            (0.0252, 0.001),
            (0.0252, 0.0068),
            (0.0246, 0.0074),
            (0.0225, 0.0074),
            (0.022, 0.0062),
            (0.0, 0.0058),
        ],
        96,
    );
    kit.one("Cap", cap, plastic, turned(0.105, 0.9003, 0.02, 0.3));
    kit.one("Cap's grip", block(0.012, 0.003, 0.004), plastic, turned(0.105, 0.9075, 0.036, 0.3));
}

/// Fallen leaves on the wall, and a twig with leaves at the picture's border.
fn leaves(kit: &mut Kit) {
    let picture = textures::picture(256, 256, |u, v| {
        let (rgb, opacity) = textures::leaf(u, v);
        let autumn = Vec3::new(rgb.y * 2.6, rgb.y * 0.95, rgb.z * 0.7);
        let [r, g, b] = autumn.to_array().map(srgb_oetf_f32);
        [r, g, b, opacity]
    });
    let clamp = Sampler { wrap_u: Wrap::Clamp, wrap_v: Wrap::Clamp, ..Sampler::default() };
    let leaf = kit.builder.add_texture("Autumn leaf", picture, clamp);
    let mut material = Material {
        base_color_texture: Some(SceneBuilder::texture_ref(leaf)),
        alpha: AlphaMode::Mask { cutoff: 0.5 },
        double_sided: true,
        ..dielectric("Autumn leaf", Vec3::ONE, 0.55)
    };
    // Sunlight passes through them.
    material.diffuse_transmission.factor = 0.45;
    material.diffuse_transmission.color = Vec3::new(0.75, 0.33, 0.05);
    let leaf = kit.builder.add_material(material);
    let blade = shapes::sheet(6, 10, |u, v| {
        let (across, along) = (u - 0.5, 1.0 - v);
        Vec3::new(
            across * 0.052,
            along * 0.085 - 0.02 * along * along,
            0.06 * across * across - 0.03 * along * along,
        )
    });
    let blade = kit.mesh("Autumn leaf", blade, leaf);
    let mut random = SplitMix64::new(62);
    for (x, z) in [
        (-0.16, 0.04),
        (-0.12, -0.14),
        (0.20, -0.06),
        (0.02, -0.18),
        (0.29, 0.05),
        (-0.30, -0.02),
        (0.16, -0.2),
    ] {
        let turn = DQuat::from_rotation_y(random.uniform(0.0, std::f64::consts::TAU))
            * DQuat::from_rotation_x(-FRAC_PI_2 + random.uniform(0.12, 0.35));
        let place = DVec3::new(x, 0.912, z);
        kit.put("Autumn leaf", blade, DMat4::from_rotation_translation(turn, place));
    }
}
