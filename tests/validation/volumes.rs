//! Participating media: haze with light shafts through a grating, and a cloud from a grid; single
//! and multiple scattering.

use std::fmt::Write as _;

use glam::{DMat4, DVec3, Vec2, Vec3, dvec3, vec3};
use sunny16::{
    photometry::{Candela, Lumen, Lux},
    scene::{
        Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
};

use crate::case::{Case, Reference, bare, list, place};

/// Voxels along each side of the cloud.
const VOXELS: usize = 24;

fn floor(builder: &mut SceneBuilder) {
    let gray = builder.add_material(dielectric("floor", Vec3::splat(0.4), 1.0));
    place(builder, "floor", shapes::plane(Vec2::splat(8.0), 1, 1), gray, DVec3::ZERO);
}

/// A spot behind a grating, with haze before it and a ball in it. Nothing lies in the haze's faces,
/// where rounding would decide the side of a point.
fn haze() -> Scene {
    let mut builder = SceneBuilder::new("haze");
    floor(&mut builder);
    let gray = builder.add_material(dielectric("posts", Vec3::splat(0.2), 1.0));
    let posts = builder.add_mesh("post", bare(shapes::cuboid(vec3(0.24, 1.9, 0.1))), gray);
    for x in [-0.9, -0.3, 0.3, 0.9] {
        builder.instance("post", posts, DMat4::from_translation(dvec3(x, 0.95, -1.4)));
    }
    let red = builder.add_material(dielectric("ball", vec3(0.7, 0.15, 0.1), 1.0));
    place(&mut builder, "ball", shapes::icosphere(0.35, 3), red, dvec3(0.45, 0.75, 0.3));
    let pose = look_at_transform(dvec3(0.3, 2.6, -2.9), dvec3(0.0, 0.8, -0.4));
    builder.spot_light_lumens("Behind", Lumen(2500.0), Vec3::ONE, (0.25, 0.5), pose);
    builder.point_light_candela("Within", Candela(100.0), Vec3::ONE, dvec3(-0.6, 1.4, 0.5));
    builder.camera("Camera", dvec3(0.5, 1.9, 5.0), dvec3(0.0, 0.85, 0.0), 0.55, Some(1.0));
    builder.build().unwrap()
}

/// Under the sun, over a floor that receives its shadow.
fn cloud() -> Scene {
    let mut builder = SceneBuilder::new("cloud");
    floor(&mut builder);
    builder.sun("Sun", Lux(10_000.0), Vec3::ONE, dvec3(-0.6, -1.0, -0.3));
    builder.camera("Camera", dvec3(0.5, 1.9, 5.0), dvec3(-0.1, 0.9, 0.0), 0.6, Some(1.0));
    builder.build().unwrap()
}

/// A wavy ball that differs from its mirror images; x fastest. 0 in the corners, up to 1.
fn voxels() -> Vec<u8> {
    let at = |i: usize| (i as f64 + 0.5) / VOXELS as f64 * 2.0 - 1.0;
    let count = VOXELS * VOXELS * VOXELS;
    let value = |i: usize| {
        let (x, y, z) = (at(i % VOXELS), at(i / VOXELS % VOXELS), at(i / VOXELS / VOXELS));
        // Only polynomials: sines differ in the last bit between libraries.
        let waves = (4.0 * x * x * x - 3.0 * x) * (2.0 * z * z - 1.0)
            + 0.5 * (4.0 * y * y * y - 3.0 * y) * x;
        (1.3 - 1.5 * (x * x + 1.4 * y * y + z * z).sqrt() + 0.4 * waves).clamp(0.0, 1.0)
    };
    (0..count).map(|i| (255.0 * value(i)).round() as u8).collect()
}

/// A section `[volumes.NAME]` with these lines.
fn volume(name: &str, lines: &[(&str, &str)]) -> String {
    let mut out = format!("[volumes.{name}]\n");
    for (key, value) in lines {
        let _ = writeln!(out, "{key} = {value}");
    }
    out
}

pub fn cases() -> Vec<Case> {
    let mut out = Vec::new();
    let box_of_haze = volume(
        "haze",
        &[
            ("center", "[0.0, 1.05, 0.0]"),
            ("size", "[2.4, 2.0, 2.0]"),
            ("absorption", "[0.05, 0.1, 0.2]"),
            ("scattering", "[0.35, 0.3, 0.25]"),
            ("anisotropy", "0.6"),
        ],
    );
    let box_of_cloud = |file: &str| {
        volume(
            "cloud",
            &[
                ("center", "[0.0, 1.3, 0.0]"),
                ("size", "[2.0, 1.6, 1.8]"),
                ("rotation", "[20.0, 30.0, 10.0]"),
                ("absorption", "[0.5, 1.0, 2.0]"),
                ("scattering", "[7.5, 7.0, 6.0]"),
                ("anisotropy", "-0.35"),
                ("density", &format!("\"{file}\"")),
                ("dimensions", "[24, 24, 24]"),
                ("format", "\"u8\""),
            ],
        )
    };
    let once = "[lights.Within]\nenabled = false\n\n";
    let often = "[lights.Within]\nshape = \"sphere\"\nradius = 0.1\nlumens = 1500.0\n\n";
    for (name, full, samples, spp) in [
        // At 512 samples, means of regions differ by 0.4 % at most, of a bound of 1 %.
        ("haze", false, 4096, 512),
        ("haze", true, 4096, 1024),
        ("cloud", false, 4096, 512),
        ("cloud", true, 4096, 512),
    ] {
        let (what, look) = match (name, full) {
            ("haze", false) => (
                "haze that absorbs and scatters (g 0.6) before a grating and a spot",
                format!("{once}{box_of_haze}"),
            ),
            ("haze", true) => (
                "haze as in volume_haze; a sphere of 1500 lm glows within it",
                format!("{often}{}", box_of_haze.replace("[0.35, 0.3, 0.25]", "[1.4, 1.2, 1.0]")),
            ),
            (_, false) => (
                "a cloud from a grid (g -0.35), its box turned, under a sun of 10,000 lx",
                box_of_cloud("cloud.raw"),
            ),
            _ => ("the cloud of volume_cloud", box_of_cloud("../volume_cloud/cloud.raw")),
        };
        let how = if full { "all scattering" } else { "scattered once" };
        let mut case = Case {
            name: format!("volume_{name}{}", if full { "_full" } else { "" }),
            title: format!("A volume: {name}, {how}"),
            text: format!("Light in {what}; over a matte floor; {how}."),
            size: [64, 64],
            scene: (!full).then(if name == "haze" { haze } else { cloud }),
            scene_of: if name == "haze" { "volume_haze" } else { "volume_cloud" },
            look: format!(
                "[camera.exposure]\nev100 = {}\n\n[passes.volumes]\nfilter = false\n\n{look}",
                if name == "haze" { "4.0" } else { "9.5" }
            ),
            more: if name == "cloud" && !full {
                vec![("cloud.raw".into(), voxels())]
            } else {
                Vec::new()
            },
            bounces: if full { 64 } else { 1 },
            spp,
            raster: !full,
            references: vec![Reference::mitsuba(samples, "independent")],
            ..Case::default()
        };
        let regions: &[(&str, [u32; 4])] = if name == "haze" {
            &[
                ("shafts", [42, 10, 58, 28]),
                ("side", [8, 16, 20, 32]),
                ("floor through haze", [36, 48, 54, 60]),
            ]
        } else {
            &[("lit", [36, 14, 46, 28]), ("shaded", [23, 20, 33, 28]), ("shadow", [16, 42, 34, 50])]
        };
        for (region, rect) in regions {
            case.rect(region, *rect);
        }
        let names = list(&regions.iter().map(|region| region.0.to_owned()).collect::<Vec<_>>());
        let why = "one medium, two renderers";
        case.mean_of_mitsuba("0.005", "", why);
        case.mean_of_mitsuba("0.01", &names, why);
        // Standard errors from runs of two seeds: haze with a small light within it 1.6 % here and
        // 0.7 % in Mitsuba, the others at most 1.0 % and 0.5 %.
        let noise = if name == "haze" && full { "at_most = 0.025" } else { "at_most = 0.015" };
        case.bound(
            ["path", "mitsuba"],
            "block_rms",
            noise,
            "",
            "not farther than the noise of both",
        );
        if case.raster {
            let why = "scattered once, at the middles of pixels, without the means over neighboring pixels";
            case.bound(["raster", "path_pixel_centers"], "mean", "at_most = 0.005", "", why);
            case.bound(["raster", "path_pixel_centers"], "mean", "at_most = 0.01", &names, why);
            case.bound(["raster", "path_pixel_centers"], "block_rms", "at_most = 0.01", "", why);
            case.bound(["raster", "path_pixel_centers"], "flip", "at_most = 0.02", "", why);
        }
        out.push(case);
    }
    out
}
