//! Every visible file of the corpus, rendered small, against a reviewed golden picture.
//!
//! `SUNNY16_WRITE=1 cargo test --test gpu corpus_goldens::` rewrites the pictures.

use std::{collections::BTreeSet, env, path::Path};

use crate::common::corpus::{corpus, files};
use sunny16::{
    camera::{Exposure, MeterMode, metering},
    compare::flip,
    frame::{RenderSettings, Renderer},
    gpu_scene::View,
    output,
    photometry::color,
    scene::{Projection, Scene, defaults, gltf},
    settings::DefaultLight,
};

const WIDTH: u32 = 160;
const HEIGHT: u32 = 120;

/// Maximum mean FLIP: drivers differ at edges and in the last bits, defects are ten times that.
const TOLERANCE: f32 = 0.02;

/// The first camera, else one framed on the scene; adds light if there is none: `render` without
/// options.
fn shot(scene: &mut Scene) -> View {
    scene.emissive_lights = true;
    let own = scene.walk().iter().find_map(|placed| {
        let camera = scene.cameras.get(placed.node.camera?)?;
        Some((placed.world, camera.projection))
    });
    let framed: (glam::DMat4, Projection) = own
        .unwrap_or_else(|| defaults::framing_camera(scene, f64::from(WIDTH) / f64::from(HEIGHT)));
    if defaults::has_no_light(scene) {
        defaults::add_lights(scene, DefaultLight::Sun, framed.0);
    }
    View::new(framed.0, &framed.1, WIDTH, HEIGHT)
}

fn render(renderer: &mut Renderer, scene: &mut Scene) -> Vec<u8> {
    let view = shot(scene);
    let mut settings = RenderSettings::default();
    let on_device = renderer.upload_for(scene, &settings.shadows).unwrap();
    for _ in 0..4 {
        let picture = renderer.render(&on_device, &view, &settings).unwrap();
        let luminances: Vec<f32> = picture
            .nits
            .iter()
            .map(|c| color::luminance(glam::Vec3::from_array(*c).as_dvec3()) as f32)
            .collect();
        let Ok(nits) =
            metering::meter(&luminances, picture.width, picture.height, MeterMode::LogAverage)
        else {
            break;
        };
        let metered = Exposure::from_luminance(nits).unwrap();
        // Exposed by its own meter: the second picture is the same.
        if (metered.multiplier() / settings.exposure.multiplier() - 1.0).abs() < 1e-3 {
            return picture.display;
        }
        settings.exposure = metered;
    }
    renderer.render(&on_device, &view, &settings).unwrap().display
}

fn floats(rgba: &[u8]) -> Vec<[f32; 3]> {
    let linear = |byte: u8| color::srgb_eotf(f64::from(byte) / 255.0) as f32;
    rgba.as_chunks::<4>().0.iter().map(|&[r, g, b, _]| [linear(r), linear(g), linear(b)]).collect()
}

#[test]
fn corpus_matches_goldens() {
    let Some(corpus) = corpus() else { return };
    let Some(device) = crate::common::gpu() else { return };
    let goldens = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/corpus");
    let write = env::var("SUNNY16_WRITE").is_ok_and(|value| value == "1");
    let mut renderer = device.renderer();
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for file in files(&corpus) {
        let Ok(mut scene) = gltf::load(&file) else { continue };
        if scene.instanced_triangles() == 0 {
            continue;
        }
        let relative = file.strip_prefix(&corpus).unwrap().with_extension("");
        let name = relative.to_string_lossy().replace(['/', '\\'], "-");
        let display = render(&mut renderer, &mut scene);
        let golden = goldens.join(format!("{name}.png"));
        assert!(seen.insert(name.clone()), "{name}: two files of one name");
        if write {
            std::fs::create_dir_all(&goldens).unwrap();
            output::write_png(&golden, WIDTH as usize, HEIGHT as usize, &display).unwrap();
            continue;
        }
        let Ok(known) = image::open(&golden) else {
            wrong.push(format!(
                "{name}: no picture to compare with; SUNNY16_WRITE=1 writes it, look at it then"
            ));
            continue;
        };
        let known = known.into_rgba8();
        if known.dimensions() != (WIDTH, HEIGHT) {
            wrong.push(format!("{name}: of another size"));
            continue;
        }
        let map = flip::ldr(
            &floats(&display),
            &floats(known.as_raw()),
            WIDTH as usize,
            flip::PIXELS_PER_DEGREE,
        );
        let mean = map.iter().sum::<f32>() / map.len() as f32;
        if mean > TOLERANCE {
            wrong.push(format!("{name}: FLIP {mean:.4}, at most {TOLERANCE}"));
        }
    }
    assert!(seen.len() > 40, "only {} files show anything", seen.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), seen.len(), wrong.join("\n"));
}
