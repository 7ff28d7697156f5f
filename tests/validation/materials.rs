//! Material extensions: balls with one parameter varied across and another down, above tiles of the
//! first row's materials. The tiles have closed forms, written again from the extensions' texts;
//! one sun, direct light. Transmissive materials stand before stripes in a sky.

use std::f64::consts::PI;

use glam::{DMat4, DVec3, Vec2, Vec3, dvec3, vec3};
use sunny16::{
    photometry::Lux,
    scene::{
        Anisotropy, Clearcoat, DiffuseTransmission, Iridescence, Material, MaterialVolume, Scene,
        Sheen, Specular,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    },
};

use crate::case::{Case, bare, make_parallel, number};

const COLUMNS: usize = 4;
const LUX: f64 = 10_000.0;
/// Tilt of the tiles.
const LEAN: f64 = 35.0;
const RED: Vec3 = vec3(0.6, 0.08, 0.06);
const GOLD: Vec3 = vec3(1.0, 0.766, 0.336);

pub fn cases() -> Vec<Case> {
    vec![
        specular(),
        clearcoat(),
        sheen(),
        anisotropy(),
        iridescence(),
        diffuse_transmission(),
        transmission(),
        dispersion(),
    ]
}

/// Row, column, material; the fourth row repeats the first.
type Make<'a> = &'a dyn Fn(usize, usize) -> Material;

fn towards_sun() -> DVec3 {
    dvec3(0.35, 0.5, 0.8).normalize()
}

fn at(row: usize, column: usize) -> DVec3 {
    dvec3(column as f64 - 1.5, 1.5 - row as f64, 0.0)
}

fn pixels(row: usize, column: usize) -> [f64; 2] {
    [64.0 + 32.0 * (column as f64 - 1.5), 64.0 + 32.0 * (row as f64 - 1.5)]
}

fn lean() -> DMat4 {
    DMat4::from_rotation_x((90.0 - LEAN).to_radians())
}

/// In a tile's frame: x along the tangent, z along the normal.
fn in_tile(d: DVec3) -> DVec3 {
    let d = lean().transpose().transform_vector3(d);
    dvec3(d.x, -d.z, d.y)
}

fn sphere(smooth: bool) -> sunny16::scene::Primitive {
    // Anisotropic ones have tangents along the circles of latitude.
    bare(if smooth {
        shapes::icosphere(0.42, 3)
    } else {
        shapes::with_tangents(shapes::uv_sphere(0.42, 40, 20))
    })
}

fn scene(name: &str, make: Make<'_>, ball: impl Fn() -> sunny16::scene::Primitive) -> Scene {
    let mut builder = SceneBuilder::new(name);
    for row in 0..4 {
        for column in 0..COLUMNS {
            let name = format!("row {row}, column {column}");
            let material =
                builder.add_material(Material { name: name.clone(), ..make(row % 3, column) });
            let tile = row == 3;
            let part = if tile {
                bare(shapes::with_tangents(shapes::plane(Vec2::splat(0.8), 1, 1)))
            } else {
                ball()
            };
            let mesh = builder.add_mesh(&name, part, material);
            let turn = if tile { lean() } else { DMat4::IDENTITY };
            builder.instance(&name, mesh, DMat4::from_translation(at(row, column)) * turn);
        }
    }
    builder.sun("Sun", Lux(LUX), Vec3::ONE, -towards_sun());
    builder.camera("Camera", dvec3(0.0, 0.0, 6.0), DVec3::ZERO, 0.5, None);
    let mut scene = builder.build().unwrap();
    make_parallel(&mut scene, [2.0, 2.0]);
    scene
}

/// The raster renderer's layered pass beside the path tracer (docs/extended-materials.md).
fn raster_bounds(case: &mut Case) {
    let why = "the raster renderer within FLIP 0.03 of the path tracer, at the middles of pixels";
    case.bound(["raster", "path_pixel_centers"], "flip", "at_most = 0.03", "", why);
}

/// A case under the sun; `closed` gives the BRDF times cosine of a column's tile.
fn sunny(
    name: &str,
    [title, text]: [&str; 2],
    scene: Scene,
    closed: Option<&dyn Fn(usize, DVec3, DVec3) -> DVec3>,
) -> Case {
    let mut case = Case {
        name: name.into(),
        title: title.into(),
        text: format!(
            "{text} The fourth row: tiles of the first row's materials. One sun of 10,000 lx."
        ),
        size: [128, 128],
        scene: Some(scene),
        bounces: 1,
        spp: 64,
        raster: true,
        ..Case::default()
    };
    raster_bounds(&mut case);
    let (v, l) = (in_tile(DVec3::Z), in_tile(towards_sun()));
    for column in 0..COLUMNS {
        let Some(closed) = closed else { continue };
        let region = format!("tile {column}");
        let [x, y] = pixels(3, column);
        case.rect(&region, [x - 9.0, y - 5.0, x + 9.0, y + 5.0].map(|v| v.round() as u32));
        let nits = closed(column, v, l) * LUX;
        // Zero has no relative bound.
        if nits == DVec3::ZERO {
            continue;
        }
        let value = format!("rgb = {:?}", nits.to_array().map(number));
        // Sheen's albedo is a table in the renderers and an integral here.
        let within = if name == "material_sheen" { 0.005 } else { 0.001 };
        let why = "10,000 lx times the extension's formula in double precision";
        case.expect("path", &region, &value, within, why, "");
        case.expect("raster", &region, &value, 2.0 * within + 0.002, why, "");
    }
    case
}

fn fifth(cos: f64) -> f64 {
    (1.0 - cos).powi(5)
}

/// D V of GGX, height-correlated, along two axes: formulas of KHR_materials_anisotropy.
fn ggx(v: DVec3, l: DVec3, along: f64, across: f64) -> f64 {
    let h = (v + l).normalize();
    let d = 1.0
        / (PI
            * along
            * across
            * ((h.x / along).powi(2) + (h.y / across).powi(2) + h.z * h.z).powi(2));
    let length = |w: DVec3| dvec3(along * w.x, across * w.y, w.z).length();
    d * 0.5 / (l.z * length(v) + v.z * length(l))
}

/// A dielectric of roughness `r` with the given F0 and F90.
fn base(v: DVec3, l: DVec3, color: Vec3, r: f64, f0: DVec3, f90: f64) -> DVec3 {
    let f = f0 + (f90 - f0) * fifth(v.dot((v + l).normalize()));
    color.as_dvec3() * ((1.0 - f.max_element()) / PI) + f * ggx(v, l, r * r, r * r)
}

/// A factor rounded as in the file.
fn f(x: f32) -> f64 {
    f64::from(x)
}

const FOURTHS: [f32; 4] = [0.0, 0.25, 0.5, 1.0];

fn specular() -> Case {
    let color = |row: usize| [Vec3::ONE, vec3(8.0, 2.0, 0.5), vec3(0.1, 1.0, 4.0)][row];
    let make = |row: usize, column: usize| Material {
        ior: if row == 2 { 1.8 } else { 1.5 },
        specular: Specular { factor: FOURTHS[column], color: color(row), ..Specular::default() },
        ..dielectric("", vec3(0.05, 0.1, 0.3), 0.4)
    };
    let closed = |column: usize, v: DVec3, l: DVec3| {
        let s = f(FOURTHS[column]);
        base(v, l, vec3(0.05, 0.1, 0.3), f(0.4), DVec3::splat(0.04 * s), s) * l.z
    };
    let text = "Specular 0, 0.25, 0.5, 1 across; color white, (8, 2, 0.5), and (0.1, 1, 4) at index 1.8 down.";
    let scene = scene("material_specular", &make, || sphere(true));
    sunny(
        "material_specular",
        ["KHR_materials_specular: strength and color", text],
        scene,
        Some(&closed),
    )
}

const COATS: [(f32, f32); 4] = [(0.0, 0.2), (0.5, 0.2), (1.0, 0.2), (1.0, 0.5)];

fn clearcoat() -> Case {
    let make = |row: usize, column: usize| {
        let (factor, roughness) = COATS[column];
        let below = match row {
            0 => dielectric("", RED, 0.8),
            1 => Material { metallic: 1.0, ..dielectric("", GOLD, 0.5) },
            _ => dielectric("", Vec3::splat(0.02), 1.0),
        };
        Material { clearcoat: Clearcoat { factor, roughness, ..Clearcoat::default() }, ..below }
    };
    let closed = |column: usize, v: DVec3, l: DVec3| {
        let (factor, r) = COATS[column];
        let share = f(factor) * (0.04 + 0.96 * fifth(v.z));
        let alpha = f(r) * f(r);
        let below = base(v, l, RED, f(0.8), DVec3::splat(0.04), 1.0);
        (below * (1.0 - share) + share * ggx(v, l, alpha, alpha)) * l.z
    };
    let text = "Coat 0, 0.5, 1 of roughness 0.2, and 1 of roughness 0.5 across; over red paint, gold, and black down.";
    let scene = scene("material_clearcoat", &make, || sphere(true));
    sunny(
        "material_clearcoat",
        ["KHR_materials_clearcoat: how much, how rough", text],
        scene,
        Some(&closed),
    )
}

const SHEENS: [f32; 4] = [0.2, 0.4, 0.7, 1.0];

/// Estevez and Kulla's lobe times the light's cosine.
fn charlie(v: DVec3, l: DVec3, roughness: f64) -> f64 {
    let alpha = roughness * roughness;
    let h = (v + l).normalize();
    let d = (2.0 + 1.0 / alpha) * (1.0 - h.z * h.z).powf(0.5 / alpha) / (2.0 * PI);
    let t = (1.0 - alpha).powi(2);
    let p = |i: usize| {
        let rough = [21.5473, 3.82987, 0.19823, -1.97760, -4.32054][i];
        let smooth = [25.3245, 3.32435, 0.16801, -1.27393, -4.85967][i];
        rough * (1.0 - t) + smooth * t
    };
    let fit = |x: f64| p(0) / (1.0 + p(1) * x.powf(p(2))) + p(3) * x + p(4);
    let lambda =
        |x: f64| if x < 0.5 { fit(x).exp() } else { (2.0 * fit(0.5) - fit(1.0 - x)).exp() };
    d / ((1.0 + lambda(v.z) + lambda(l.z)) * 4.0 * v.z)
}

/// Albedo of the lobe, by Simpson's rule over the angle and uniform steps around.
fn charlie_albedo(cos: f64, roughness: f64) -> f64 {
    let v = dvec3((1.0 - cos * cos).sqrt(), 0.0, cos);
    let (rows, columns) = (400, 200);
    let mut sum = 0.0;
    for row in 1..rows {
        let tilt = f64::from(row) / f64::from(rows) * PI / 2.0;
        let weight = if row % 2 == 1 { 4.0 } else { 2.0 };
        for column in 0..columns {
            let turn = (f64::from(column) + 0.5) / f64::from(columns) * 2.0 * PI;
            let l = dvec3(tilt.sin() * turn.cos(), tilt.sin() * turn.sin(), tilt.cos());
            sum += weight * tilt.sin() * charlie(v, l, roughness);
        }
    }
    sum * (PI / 2.0 / f64::from(rows) / 3.0) * (2.0 * PI / f64::from(columns))
}

fn sheen() -> Case {
    let color = |row: usize| [vec3(0.9, 0.9, 0.9), vec3(0.2, 0.4, 0.9), vec3(0.5, 0.5, 0.5)][row];
    let below = |row: usize| [RED, vec3(0.1, 0.1, 0.1), Vec3::splat(0.8)][row];
    let make = |row: usize, column: usize| Material {
        sheen: Sheen { color: color(row), roughness: SHEENS[column], ..Sheen::default() },
        ..dielectric("", below(row), 0.8)
    };
    let closed = |column: usize, v: DVec3, l: DVec3| {
        let r = f(SHEENS[column]);
        let taken = f(0.9) * charlie_albedo(v.z, r).max(charlie_albedo(l.z, r));
        let below = base(v, l, RED, f(0.8), DVec3::splat(0.04), 1.0) * l.z;
        color(0).as_dvec3() * charlie(v, l, r) + below * (1.0 - taken)
    };
    let text = "Sheen of roughness 0.2, 0.4, 0.7, 1 across; of 0.9 on red, blue on black, 0.5 on white down.";
    let scene = scene("material_sheen", &make, || sphere(true));
    sunny(
        "material_sheen",
        ["KHR_materials_sheen: roughness and color", text],
        scene,
        Some(&closed),
    )
}

const STRENGTHS: [f32; 4] = [0.0, 0.3, 0.6, 1.0];

fn anisotropy() -> Case {
    let make = |row: usize, column: usize| Material {
        metallic: 1.0,
        anisotropy: Anisotropy {
            strength: STRENGTHS[column],
            rotation: [0.0, std::f32::consts::FRAC_PI_4, std::f32::consts::FRAC_PI_2][row],
            texture: None,
        },
        ..dielectric("", GOLD, 0.3)
    };
    let closed = |column: usize, v: DVec3, l: DVec3| {
        let (alpha, strength) = (f(0.3) * f(0.3), f(STRENGTHS[column]));
        let along = alpha + (1.0 - alpha) * strength * strength;
        let f = GOLD.as_dvec3() + (1.0 - GOLD.as_dvec3()) * fifth(v.dot((v + l).normalize()));
        f * ggx(v, l, along, alpha) * l.z
    };
    let text = "Strength 0, 0.3, 0.6, 1 across, turned by 0, 45 and 90 degrees down; gold of roughness 0.3.";
    let scene = scene("material_anisotropy", &make, || sphere(false));
    sunny(
        "material_anisotropy",
        ["KHR_materials_anisotropy: strength and direction", text],
        scene,
        Some(&closed),
    )
}

const FILMS: [f32; 4] = [150.0, 300.0, 500.0, 800.0];

/// A film of index 1.3 on a metal of reflectance 0.5: KHR_materials_iridescence, "Iridescence
/// Fresnel".
fn film(cos: f64, thickness: f64) -> DVec3 {
    let ior = f(1.3);
    let schlick = |r0: f64, cos: f64| r0 + (1.0 - r0) * fifth(cos);
    let cos2 = (1.0 - (1.0 - cos * cos) / (ior * ior)).sqrt();
    let base = (1.0 + 0.5f64.sqrt()) / (1.0 - 0.5f64.sqrt());
    let first = schlick(((ior - 1.0) / (ior + 1.0)).powi(2), cos);
    let second = schlick(((base - ior) / (base + ior)).powi(2), cos2);
    let left = 1.0 - first;
    let series = left * left * second / (1.0 - first * second);
    let mut sum = DVec3::splat(first + series);
    for order in 1..=2 {
        let m = f64::from(order);
        let phase = 2.0 * PI * m * 2.0 * ior * thickness * cos2 * 1e-9;
        // Reflection at the film's upper face from below shifts the phase by half a wave; at a
        // denser base it does not.
        let turned = m * PI;
        let gauss = |value: f64, place: f64, width: f64| {
            value
                * (2.0 * PI * width).sqrt()
                * (place * phase + turned).cos()
                * (-width * phase * phase).exp()
                / 1.0685e-7
        };
        let x = gauss(5.4856e-13, 1.6810e6, 4.3278e9) + gauss(9.7470e-14, 2.2399e6, 4.5282e9);
        let (y, z) = (gauss(4.4201e-13, 1.7953e6, 9.3046e9), gauss(5.2481e-13, 2.2084e6, 6.6121e9));
        let rgb = dvec3(
            3.2404542 * x - 1.5371385 * y - 0.4985314 * z,
            -0.9692660 * x + 1.8760108 * y + 0.0415560 * z,
            0.0556434 * x - 0.2040259 * y + 1.0572252 * z,
        );
        sum += rgb * (2.0 * (series - left) * (first * second).powf(m / 2.0));
    }
    sum.clamp(DVec3::ZERO, DVec3::ONE)
}

fn iridescence() -> Case {
    let make = |row: usize, column: usize| {
        let film = |ior| Iridescence {
            factor: 1.0,
            ior,
            thickness_maximum: FILMS[column],
            ..Iridescence::default()
        };
        match row {
            0 => Material {
                metallic: 1.0,
                iridescence: film(1.3),
                ..dielectric("", Vec3::splat(0.5), 0.4)
            },
            1 => Material { iridescence: film(1.8), ..dielectric("", Vec3::splat(0.02), 0.4) },
            _ => Material { metallic: 1.0, iridescence: film(2.0), ..dielectric("", GOLD, 0.4) },
        }
    };
    let closed = |column: usize, v: DVec3, l: DVec3| {
        let alpha = f(0.4) * f(0.4);
        film(v.dot((v + l).normalize()), f(FILMS[column])) * ggx(v, l, alpha, alpha) * l.z
    };
    let text = "Films of 150, 300, 500, 800 nm across; of index 1.3 on gray metal, 1.8 on black paint, 2 on gold down.";
    let scene = scene("material_iridescence", &make, || sphere(true));
    sunny(
        "material_iridescence",
        ["KHR_materials_iridescence: thickness and index", text],
        scene,
        Some(&closed),
    )
}

fn diffuse_transmission() -> Case {
    let color = |row: usize| [vec3(0.3, 0.8, 0.1), vec3(0.9, 0.3, 0.2), Vec3::ONE][row];
    let make = |row: usize, column: usize| Material {
        double_sided: true,
        diffuse_transmission: DiffuseTransmission {
            factor: FOURTHS[column],
            color: color(row),
            ..DiffuseTransmission::default()
        },
        ..dielectric("", vec3(0.2, 0.3, 0.1), 0.5)
    };
    let mut scene = scene("material_diffuse_transmission", &make, || {
        bare(shapes::with_tangents(shapes::plane(Vec2::splat(0.8), 1, 1)))
    });
    // Leaves: the first column faces away from the sun and the rows below further, so they are
    // backlit.
    for node in &mut scene.nodes {
        let Some(row) =
            node.name.strip_prefix("row ").and_then(|rest| rest[..1].parse::<usize>().ok())
        else {
            continue;
        };
        let column: usize = node.name[node.name.len() - 1..].parse().unwrap();
        if node.mesh.is_some() && row < 3 {
            let turn = DMat4::from_rotation_y(-(40.0 + 20.0 * row as f64).to_radians());
            let upright = DMat4::from_rotation_x(90f64.to_radians());
            node.local = DMat4::from_translation(at(row, column)) * turn * upright;
        }
    }
    // The sun is behind the leaves, which are seen against it; the tiles below are lit from the
    // front.
    let behind = dvec3(0.8, 0.35, -0.3).normalize();
    let tile = behind.dot(lean().transform_vector3(DVec3::Y)) > 0.0;
    assert!(!tile, "tiles are lit from behind too");
    for node in scene.nodes.iter_mut().filter(|node| node.light.is_some()) {
        node.local = sunny16::scene::build::look_at_transform(behind, DVec3::ZERO);
    }
    let closed = |column: usize, v: DVec3, _: DVec3| {
        let l = in_tile(behind);
        let mirrored = dvec3(l.x, l.y, -l.z);
        let fresnel = 0.04 + 0.96 * fifth(v.dot((v + mirrored).normalize()));
        color(0).as_dvec3() * (f(FOURTHS[column]) * (1.0 - fresnel) / PI * -l.z)
    };
    let text = "Leaves of factor 0, 0.25, 0.5, 1 across; green, red, white down, each row turned further; the sun behind them.";
    let title = "KHR_materials_diffuse_transmission: how much, which color";
    sunny("material_diffuse_transmission", [title, text], scene, Some(&closed))
}

/// Three rows before a wall of emissive, non-reflecting stripes, in the grid's sky: only
/// transmitted light is seen.
fn before_stripes(
    name: &str,
    [title, text]: [&str; 2],
    make: Make<'_>,
    part: &dyn Fn(usize) -> sunny16::scene::Primitive,
) -> Case {
    let mut builder = SceneBuilder::new(name);
    for stripe in 0..16 {
        let glow = if stripe % 2 == 0 { Vec3::splat(400.0) } else { Vec3::splat(25.0) };
        let black = Material { metallic: 1.0, base_color: glam::Vec4::W, ..Material::default() };
        let wall =
            builder.add_material(Material { name: "stripe".into(), emission: glow, ..black });
        let mesh =
            builder.add_mesh("stripe", bare(shapes::plane(Vec2::new(0.25, 4.0), 1, 1)), wall);
        let place = DMat4::from_translation(dvec3(f64::from(stripe) * 0.25 - 1.875, 0.0, -1.2));
        builder.instance("stripe", mesh, place * DMat4::from_rotation_x(90f64.to_radians()));
    }
    for row in 0..3 {
        for column in 0..COLUMNS {
            let name = format!("row {row}, column {column}");
            let material =
                builder.add_material(Material { name: name.clone(), ..make(row, column) });
            let mesh = builder.add_mesh(&name, bare(part(row)), material);
            let turn = DMat4::from_rotation_y(0.5) * DMat4::from_rotation_x(0.3);
            let place = dvec3(column as f64 - 1.5, 1.25 * (1.0 - row as f64), 0.0);
            builder.instance(&name, mesh, DMat4::from_translation(place) * turn);
        }
    }
    builder.camera("Camera", dvec3(0.0, 0.0, 6.0), DVec3::ZERO, 0.5, None);
    let mut scene = builder.build().unwrap();
    make_parallel(&mut scene, [2.0, 2.0]);
    let mut case = Case {
        name: name.into(),
        title: title.into(),
        text: text.into(),
        size: [128, 128],
        scene: Some(scene),
        look: "[environment]\nscale = 1.0\nfile = \"../grid_sky/sky.hdr\"\n".into(),
        bounces: 16,
        // With dispersion a path carries one color channel. The path tracer's noise alone, 256
        // samples against 1024, is FLIP 0.0147; the rasterizer has 0.0296 against 256 samples and
        // 0.0264 against 1024.
        spp: if name == "material_dispersion" { 512 } else { 128 },
        raster: true,
        ..Case::default()
    };
    // Lookups of the background are at the resolution of its pixels, which accumulation of jittered
    // frames improves.
    case.look += "[passes.aa]\nsamples = 8\n";
    let why = "the raster renderer's mean of 8 frames within FLIP 0.03 of the path tracer";
    case.bound(["raster", "path"], "flip", "at_most = 0.03", "", why);
    case.bound(["raster", "path"], "mean", "at_most = 0.02", "", "what comes through is as bright");
    case
}

const SOLID: MaterialVolume = MaterialVolume {
    thickness: 0.8,
    thickness_texture: None,
    attenuation_distance: f32::INFINITY,
    attenuation_color: Vec3::ONE,
};

fn transmission() -> Case {
    let make = |row: usize, column: usize| {
        let amber = MaterialVolume {
            attenuation_distance: 0.5,
            attenuation_color: vec3(0.8, 0.45, 0.1),
            ..SOLID
        };
        let volume = [MaterialVolume::default(), SOLID, amber][row];
        let roughness = [0.0, 0.15, 0.3, 0.5][column];
        let color = if row == 0 { vec3(0.6, 0.9, 0.7) } else { Vec3::ONE };
        Material { transmission: 1.0, volume, ..dielectric("", color, roughness) }
    };
    let text =
        "Roughness 0, 0.15, 0.3, 0.5 across; thin walls of a ball, clear balls, amber blocks down.";
    before_stripes(
        "material_transmission",
        ["KHR_materials_transmission and volume: roughness", text],
        &make,
        &|row| {
            if row == 2 { shapes::cuboid(Vec3::splat(0.55)) } else { shapes::icosphere(0.42, 4) }
        },
    )
}

fn dispersion() -> Case {
    let make = |row: usize, column: usize| Material {
        transmission: 1.0,
        volume: SOLID,
        ior: if row == 1 { 2.0 } else { 1.5 },
        dispersion: [0.0, 0.5, 2.0, 5.0][column],
        ..dielectric("", Vec3::ONE, if row == 2 { 0.15 } else { 0.0 })
    };
    let text = "Dispersion 0, 0.5, 2, 5 across (an Abbe number of 4 is beyond any glass); balls, blocks of index 2, rough balls down.";
    before_stripes("material_dispersion", ["KHR_materials_dispersion", text], &make, &|row| {
        if row == 1 { shapes::cuboid(Vec3::splat(0.55)) } else { shapes::icosphere(0.42, 4) }
    })
}
