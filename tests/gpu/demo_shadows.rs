//! Shadows of the demo scenes with their looks, against traced rays: no light leaks, and no false
//! shadows.

use std::sync::Arc;

use crate::common::{long, renderer, unclustered};
use glam::Vec3;
use sunny16::{
    camera::Exposure,
    frame::{AoSettings, Aov, GiSettings, RenderSettings, ShadowSettings, SsrSettings},
    photometry::{Nit, color},
    scene::{look::ShadowMethod, procedural::demos::Demo},
    session::{self, OpenRequest},
};

/// Differences from the reference, as fractions of all light.
struct Difference {
    /// Light where the reference has none in a block of pixels and all around it.
    leaks: f64,
    /// Missing light where the reference is unshadowed.
    gaps: f64,
    /// Root mean square over all blocks, edges included.
    rms: f64,
}

/// Luminances of blocks of 2x2 pixels, which halves the rays' noise.
fn blocks(nits: &[[f32; 4]], width: usize) -> Vec<f64> {
    let height = nits.len() / width;
    let of =
        |x: usize, y: usize| color::luminance(Vec3::from_slice(&nits[y * width + x]).as_dvec3());
    let block =
        |x: usize, y: usize| (of(x, y) + of(x + 1, y) + of(x, y + 1) + of(x + 1, y + 1)) / 4.0;
    (0..height / 2)
        .flat_map(|y| (0..width / 2).map(move |x| (x, y)))
        .map(|(x, y)| block(2 * x, 2 * y))
        .collect()
}

fn difference(got: &[f64], want: &[f64], open: &[f64], width: usize) -> Difference {
    let height = got.len() / width;
    // Shadow edges are excluded: ray noise, and the softness of maps.
    let around = |index: usize, is: &dyn Fn(usize) -> bool| {
        let (x, y) = (index % width, index / width);
        let [columns, rows] =
            [(x, width), (y, height)].map(|(at, size)| at.saturating_sub(1)..(at + 2).min(size));
        rows.flat_map(|y| columns.clone().map(move |x| y * width + x)).all(is)
    };
    let all: f64 = want.iter().sum();
    let (mut leaks, mut gaps, mut square, mut mean_square) = (0.0, 0.0, 0.0, 0.0);
    for index in 0..got.len() {
        let off = got[index] - want[index];
        if around(index, &|index| want[index] < 1e-3 * open[index]) {
            leaks += off.max(0.0);
        }
        if around(index, &|index| want[index] > 0.999 * open[index]) {
            gaps += (-off).max(0.0);
        }
        square += off * off;
        mean_square += want[index] * want[index];
    }
    Difference { leaks: leaks / all, gaps: gaps / all, rms: (square / mean_square).sqrt() }
}

#[test]
fn demo_shadows_have_no_leaks_and_no_false_shadows() {
    measure("64x36", 32, false);
}

#[test]
#[ignore = "prints the table of validation/measured/shadow-maps.md: minutes"]
fn methods_compared() {
    measure("128x72", 64, true);
}

/// Prints the differences of shadows from a reference with this many rays, and fails beyond the
/// bounds for the looks' own. Optionally also with shadow maps.
fn measure(size: &str, rays: u32, maps: bool) {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut broken = Vec::new();
    println!("{:<16} {:>10} {:>10} {:>10} {:>10}", "%", "", "leaks", "gaps", "rms");
    // Pipelines of water and glass take minutes on software drivers, petals seconds a ray; the lit
    // atrium has the geometry of the other.
    let left_out: &[&str] =
        if long() { &[] } else { &["atrium_lamps", "courtyard", "lens", "petals"] };
    for demo in Demo::ALL.iter().filter(|demo| !left_out.contains(&demo.name)) {
        let request = OpenRequest {
            scene: Some(format!("builtin:{}", demo.name).into()),
            size: Some(size.parse().unwrap()),
            set: vec!["quality=direct".into()],
            ..OpenRequest::default()
        };
        let mut session = session::open(&request).unwrap();
        // Direct light only.
        session.scene = Arc::new({
            let mut scene = (*session.scene).clone();
            scene.environment = None;
            scene.volumes.clear();
            scene
        });
        let view = session.view();
        let plain = RenderSettings {
            gi: GiSettings::default(),
            ssr: SsrSettings::default(),
            ao: AoSettings { enabled: false, ..AoSettings::default() },
            clustered_lights: unclustered(),
            aovs: vec![Aov::DirectDiffuse],
            ..session.settings(Exposure::default(), vec![])
        };
        let own = session.passes().shadows;
        let traced =
            ShadowSettings { enabled: true, method: ShadowMethod::Traced, samples: rays, ..own };
        // The BVHs for all rays serve every method.
        let scene = renderer.upload_for(&session.scene, &traced).unwrap();
        let mut light = |shadows: ShadowSettings, exposure: Exposure| {
            let picture = renderer
                .render(&scene, &view, &RenderSettings { shadows, exposure, ..plain.clone() })
                .unwrap();
            blocks(&picture.aovs[0].1, picture.width)
        };
        // Half floats hold about 30 stops: the exposure meters the mean without shadows.
        let unshadowed = ShadowSettings { enabled: false, ..own };
        let mut exposure = Exposure::default();
        let open = loop {
            let open = light(unshadowed, exposure);
            let mean = open.iter().sum::<f64>() / open.len() as f64;
            let read = Exposure::from_luminance(Nit(mean)).unwrap();
            if read.stops_above(exposure).abs() < 1.0 {
                break open;
            }
            exposure = read;
        };
        let want = light(traced, exposure);
        let methods =
            [("its own", own), ("maps", ShadowSettings { method: ShadowMethod::Maps, ..own })];
        for (name, shadows) in methods.into_iter().take(if maps { 2 } else { 1 }) {
            let width = view.width as usize / 2;
            let Difference { leaks, gaps, rms } =
                difference(&light(shadows, exposure), &want, &open, width);
            println!(
                "{:<16} {name:>10} {:>10.4} {:>10.4} {:>10.2}",
                demo.name,
                100.0 * leaks,
                100.0 * gaps,
                100.0 * rms
            );
            if name == "its own" && !(leaks < 1e-3 && gaps < 1e-3) {
                broken.push(format!("{}: leaks {leaks:.5}, gaps {gaps:.5}", demo.name));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:?}");
}
