//! Uniform light: flat tiles in a white furnace, a ball in an emissive ball, and a hollow ball that
//! lights itself.

use glam::{DMat4, DVec3, Vec2, Vec3, dvec3};
use sunny16::scene::{
    Material, Primitive,
    build::{SceneBuilder, dielectric, metal},
    procedural::shapes,
};

use crate::{
    case::{Case, Reference, bare, list, make_parallel, place},
    closed_forms::{Hollow, Surface},
    grid::hdr,
};

const ROUGHNESS: [f32; 6] = [0.05, 0.2, 0.4, 0.6, 0.8, 1.0];
const METALLIC: [f32; 3] = [0.0, 0.5, 1.0];
/// The furnaces' look: an environment of 1 nit.
const WHITE: &str = "[environment]\nscale = 1.0\nfile = \"white.hdr\"\n";

pub fn cases() -> Vec<Case> {
    let mut out: Vec<Case> = [0.0, 60.0, 84.0].into_iter().map(tiles).collect();
    out.extend([ball_in_ball(), hollow()]);
    out
}

/// Coplanar tiles, which neither shadow nor light each other, seen at one angle: each shows its
/// directional albedo.
fn tiles(degrees: f64) -> Case {
    let mut builder = SceneBuilder::new("furnace");
    for (row, metallic) in METALLIC.into_iter().enumerate() {
        for (column, roughness) in ROUGHNESS.into_iter().enumerate() {
            let name = format!("tile {row} {column}");
            let material = Material { metallic, ..dielectric(&name, Vec3::ONE, roughness) };
            let material = builder.add_material(material);
            let mesh =
                builder.add_mesh(&name, bare(shapes::plane(Vec2::splat(0.9), 1, 1)), material);
            let at = DMat4::from_translation(dvec3(column as f64 - 2.5, 1.0 - row as f64, 0.0));
            builder.instance(&name, mesh, at * DMat4::from_rotation_x(90f64.to_radians()));
        }
    }
    let (sin, cos) = degrees.to_radians().sin_cos();
    builder.camera("Camera", 10.0 * dvec3(0.0, sin, cos), DVec3::ZERO, 0.5, None);
    let mut scene = builder.build().unwrap();
    // An odd number of pixels per row, so that each has one in its middle.
    let width = if degrees > 80.0 { 540 } else { 180 };
    let rows = (f64::from(width) / 6.4 * cos).round() as u32 / 2 * 2 + 1;
    let size = [width, rows * 3];
    let half = [3.2, 3.2 * f64::from(size[1]) / f64::from(width)];
    make_parallel(&mut scene, half.map(|half| half as f32));
    let mut case = Case {
        name: format!("furnace_{degrees}"),
        title: format!("White furnace, seen at {degrees} degrees"),
        text: "White tiles, roughness 0.05, 0.2, 0.4, 0.6, 0.8, 1 across, metallic 0, 0.5, 1 down, in light of 1 nit from everywhere: what they lack to 1 is what single scattering loses."
            .into(),
        size,
        scene: Some(scene),
        look: WHITE.into(),
        more: vec![("white.hdr".into(), hdr(16, 8, |_| DVec3::ONE))],
        bounces: 1,
        spp: match degrees {
            60.0 => 4096,
            // At 256 samples, all tiles are within 0.06 %, of a bound of 0.1 %.
            _ => 256,
        },
        references: vec![Reference::mitsuba(1024, "multi-jittered")],
        ..Case::default()
    };
    let v = dvec3(sin, 0.0, cos);
    let scale = f64::from(size[0]) / (2.0 * half[0]);
    let mut names = Vec::new();
    for (row, metallic) in METALLIC.into_iter().enumerate() {
        for (column, roughness) in ROUGHNESS.into_iter().enumerate() {
            let name = format!("metallic {metallic}, roughness {roughness}");
            let (x, y) = ((column as f64 - 2.5) * scale, (row as f64 - 1.0) * cos * scale);
            let (x, y) = (x + f64::from(size[0]) / 2.0, y + f64::from(size[1]) / 2.0);
            let (across, down) =
                ((0.4 * scale).floor(), (0.4 * cos * scale - 0.5).floor().max(0.0));
            let rect = [x - across, y.floor() - down, x + across, y.floor() + down + 1.0]
                .map(|v| v.round() as u32);
            case.rect(&name, rect);
            let albedo = Surface::gray(1.0, f64::from(metallic), f64::from(roughness)).albedo(v);
            let why = "directional albedo of glTF's BRDF, quadrature over visible normals and over the cosine";
            case.expect_of_all(&name, albedo, [0.001, 0.002, 0.0], why);
            names.push(name);
        }
    }
    case.mean_of_mitsuba("0.003", &list(&names), "the same light by another renderer");
    case
}

/// The mesh with its faces turned inward.
fn inside_out(mut part: Primitive) -> Primitive {
    for triangle in part.indices.chunks_exact_mut(3) {
        triangle.swap(1, 2);
    }
    part.normals.iter_mut().for_each(|normal| *normal = -*normal);
    part
}

/// A white mirror in a ball that emits 1 nit is invisible.
fn ball_in_ball() -> Case {
    let mut builder = SceneBuilder::new("sphere in sphere");
    let glow = Material { emission: Vec3::ONE, ..dielectric("glow", Vec3::ZERO, 1.0) };
    let glow = builder.add_material(glow);
    place(&mut builder, "outer", inside_out(shapes::icosphere(4.0, 4)), glow, DVec3::ZERO);
    let mirror = builder.add_material(metal("white mirror", Vec3::ONE, 0.0));
    place(&mut builder, "white mirror", shapes::icosphere(0.5, 4), mirror, DVec3::ZERO);
    builder.camera("Camera", dvec3(0.0, 0.0, 3.0), DVec3::ZERO, 0.5, None);
    let mut case = Case {
        name: "sphere_in_sphere".into(),
        title: "A white mirror in a glowing ball".into(),
        text: "The outer ball glows with 1 nit; the inner one reflects all light as a mirror and cannot be seen."
            .into(),
        size: [64, 64],
        scene: Some(builder.build().unwrap()),
        bounces: 1,
        // The standard error is 0.03 %, of a bound of 0.5 %.
        spp: 64,
        references: vec![Reference::mitsuba(528, "multi-jittered")],
        ..Case::default()
    };
    case.circle("white mirror", [32.0, 32.0], 0.5 * 32.0 / (0.25f64.tan() * 3.0) - 2.0);
    let one = "value = \"1\"";
    let why = "F = 1 and no loss: the environment's own luminance";
    case.expect("path", "white mirror", one, 0.005, why, "");
    case.expect("mitsuba", "white mirror", one, 0.005, why, "");
    case.mean_of_mitsuba("0.003", "", "the same light by another renderer");
    case
}

/// A hollow ball whose wall emits and reflects half: all bounces, in closed form.
fn hollow() -> Case {
    let surface = Surface::gray(0.5, 0.0, 1.0);
    let glow = 1.0 / Hollow::new(surface, 1.0).towards(1.0);
    let hollow = Hollow::new(surface, glow);
    let mut builder = SceneBuilder::new("hollow");
    let wall = Material {
        emission: Vec3::splat(glow as f32),
        ..dielectric("wall", Vec3::splat(0.5), 1.0)
    };
    let wall = builder.add_material(wall);
    place(&mut builder, "wall", inside_out(shapes::icosphere(2.0, 4)), wall, DVec3::ZERO);
    let eye = dvec3(1.5, 0.0, 0.0);
    builder.camera("Camera", eye, dvec3(1.0, 0.0, -2.0), 1.4, None);
    let mut case = Case {
        name: "hollow_sphere".into(),
        title: "Inside of a glowing ball that reflects half: all bounces".into(),
        text: format!(
            "Every wall (base color 0.5, roughness 1) glows with {} nit, so that straight on it shows 1 nit with all reflections.",
            crate::case::number(glow)
        ),
        size: [128, 64],
        scene: Some(builder.build().unwrap()),
        bounces: 64,
        // At 256 samples, the standard error of a region is below 0.1 %, of a bound of 0.5 %.
        spp: 64,
        references: vec![Reference::mitsuba(512, "independent")],
        ..Case::default()
    };
    let forward = (dvec3(1.0, 0.0, -2.0) - eye).normalize();
    let right = forward.cross(DVec3::Y).normalize();
    let up = right.cross(forward);
    for (name, rect) in
        [("left", [8, 24, 24, 40]), ("middle", [56, 24, 72, 40]), ("right", [104, 24, 120, 40])]
    {
        case.rect(name, rect);
        let (mut sum, mut count) = (0.0, 0.0);
        for y in rect[1]..rect[3] {
            for x in rect[0]..rect[2] {
                let tan = 0.7f64.tan();
                let sx = (2.0 * (f64::from(x) + 0.5) / 128.0 - 1.0) * tan * 2.0;
                let sy = (1.0 - 2.0 * (f64::from(y) + 0.5) / 64.0) * tan;
                let d = (forward + right * sx + up * sy).normalize();
                // The chord from within: its angle to the normal where it leaves the ball of radius
                // 2.
                let b = eye.dot(d);
                let t = -b + (b * b - eye.length_squared() + 4.0).sqrt();
                sum += hollow.towards((eye + d * t).normalize().dot(d));
                count += 1.0;
            }
        }
        let why =
            "light of a chord's angle alone: a Fredholm equation in one variable, by quadrature";
        case.expect_of_all(name, sum / count, [0.005, 0.005, 0.0], why);
    }
    case.mean_of_mitsuba("0.005", "", "the same light by another renderer");
    case
}
