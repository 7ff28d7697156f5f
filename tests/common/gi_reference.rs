//! Indirect light against references of the path tracer in `tests/data/gi`.

use std::path::{Path, PathBuf};

use glam::{DVec3, Vec3};
use sunny16::{frame::GiSettings, photometry::color};

/// Path of a reference.
pub fn reference_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/gi/{name}.exr"))
}

/// Reads a reference of `write_reference`.
pub fn reference(name: &str) -> Vec<DVec3> {
    let file = reference_file(name);
    let picture = sunny16::compare::LinearImage::load(file.to_str().unwrap()).unwrap();
    picture.pixels().iter().map(|p| Vec3::from_array(*p).as_dvec3()).collect()
}

/// Writes the mean of two halves, and prints the noise of its blocks.
pub fn write_reference(name: &str, size: (usize, usize), halves: &[Vec<DVec3>; 2]) {
    println!(
        "{name}: blocks are off by {:.2} % by chance",
        blocks(size, &halves[0], &halves[1], &[]).0 * 50.0
    );
    let mean = |x: usize, y: usize| {
        ((halves[0][y * size.0 + x] + halves[1][y * size.0 + x]) * 0.5).as_vec3()
    };
    let pixel = |x, y| (mean(x, y).x, mean(x, y).y, mean(x, y).z);
    exr::prelude::write_rgb_file(reference_file(name), size.0, size.1, pixel).unwrap();
}

/// Mean luminance.
pub fn mean(of: &[DVec3]) -> f64 {
    of.iter().map(|c| color::luminance(*c)).sum::<f64>() / of.len() as f64
}

/// Relative differences of 8x8 blocks, row by row; none where a pixel of either is black, because
/// lights hide their background in only one of them. Pixels of `left_out` are ignored in both.
pub fn block_differences(
    size: (usize, usize),
    test: &[DVec3],
    reference: &[DVec3],
    left_out: &[usize],
) -> Vec<Option<f64>> {
    assert!(test.iter().all(|light| light.is_finite()), "light that is no number");
    let mut list = Vec::new();
    for by in 0..size.1 / 8 {
        for bx in 0..size.0 / 8 {
            let at = |i: usize| (by * 8 + i / 8) * size.0 + bx * 8 + i % 8;
            let counted = || (0..64).map(at).filter(|pixel| !left_out.contains(pixel));
            let sum =
                |of: &[DVec3]| -> f64 { counted().map(|pixel| color::luminance(of[pixel])).sum() };
            let seen = counted().all(|pixel| test[pixel] != DVec3::ZERO);
            let (a, b) = (sum(test), sum(reference));
            list.push((b > 0.0 && seen).then(|| a / b - 1.0));
        }
    }
    list
}

/// Root mean square and mean of these.
pub fn blocks(
    size: (usize, usize),
    test: &[DVec3],
    reference: &[DVec3],
    left_out: &[usize],
) -> (f64, f64) {
    let list: Vec<f64> =
        block_differences(size, test, reference, left_out).into_iter().flatten().collect();
    let count = list.len() as f64;
    (
        (list.iter().map(|off| off * off).sum::<f64>() / count).sqrt(),
        list.iter().sum::<f64>() / count,
    )
}

/// Prints them in percent if `MAP` is set, and the pixels' luminances in both pictures for a block
/// it names (`MAP=1,0`: column, row).
pub fn print_map(size: (usize, usize), test: &[DVec3], reference: &[DVec3], left_out: &[usize]) {
    let Ok(map) = std::env::var("MAP") else { return };
    if let Some((x, y)) = map.split_once(',') {
        let (x, y): (usize, usize) = (x.parse().unwrap(), y.parse().unwrap());
        for row in y * 8..y * 8 + 8 {
            let pixels = (x * 8..x * 8 + 8).map(|column| row * size.0 + column);
            let pair = |i: usize| {
                format!("{:9.1} {:9.1}", color::luminance(test[i]), color::luminance(reference[i]))
            };
            println!("{}", pixels.map(pair).collect::<Vec<_>>().join(" |"));
        }
    }
    for row in block_differences(size, test, reference, left_out).chunks(size.0 / 8) {
        let row: Vec<String> = row
            .iter()
            .map(|off| off.map_or("     -".into(), |off| format!("{:+6.1}", off * 100.0)))
            .collect();
        println!("{}", row.join(" "));
    }
}

/// Settings and frame count, overridden by the environment variable `GI="vpls=20000 rays=8
/// frames=32 bound=1 ..."`.
pub fn settings_from_env(mut gi: GiSettings, mut frames: u32) -> (String, GiSettings, u32) {
    let asked = std::env::var("GI").unwrap_or_default();
    for word in asked.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap();
        let number: f64 = value.parse().unwrap();
        match key {
            "vpls" => gi.vpls = number as u32,
            "photons" => gi.photons = Some(number as u32),
            "rays" => gi.vpl_samples = number as u32,
            "frames" => frames = number as u32,
            "bound" => gi.clamp_radius = number,
            "compensation" => gi.bias_compensation = number > 0.0,
            "merge" => gi.merge = number > 0.0,
            "filter" => gi.denoise = number > 0.0,
            "visibility" => gi.vpl_visibility = number > 0.0,
            "sky" => gi.environment_visibility = number > 0.0,
            "glossy" => gi.specular = number > 0.0,
            "bounces" => gi.bounces = number as u32,
            _ => panic!("{key}"),
        }
    }
    (asked, gi, frames)
}
