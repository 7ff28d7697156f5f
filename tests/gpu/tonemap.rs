//! Tone mappers on the device against the host, from black to the maximum of half floats.

use crate::common::{Place, exposed, parallel, renderer};
use glam::{DVec3, Vec2, Vec3};
use sunny16::{
    camera::ToneMapper,
    frame::RenderSettings,
    scene::{Material, build::SceneBuilder, procedural::shapes},
};

const HUES: [[f32; 3]; 8] = [
    [1.0, 1.0, 1.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.25, 0.05],
    [0.125, 0.05, 1.0],
    [0.9, 1.0, 0.4],
    [0.3, 1e-4, 0.7],
];

/// Exposed values: 0, then from 1e-4 to 6e4, and one beyond half floats.
fn levels() -> Vec<f32> {
    let mut all = vec![0.0];
    all.extend((0..26).map(|step| 1e-4 * 6e8f32.powf(step as f32 / 25.0)));
    all.push(1e9);
    all
}

/// IEC 61966-2-1.
fn srgb(x: f64) -> f64 {
    if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }
}

#[test]
fn gpu_tone_mapping_matches_cpu() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let levels = levels();
    let mut builder = SceneBuilder::new("ramp");
    for (row, hue) in HUES.iter().enumerate() {
        for (column, level) in levels.iter().enumerate() {
            let material =
                Material { emission: Vec3::from_array(*hue) * *level, ..Material::default() };
            let at =
                DVec3::new(column as f64 - levels.len() as f64 / 2.0 + 0.5, 0.0, row as f64 - 3.5);
            builder.place(shapes::plane(Vec2::ONE, 1, 1), material, at);
        }
    }
    let scene = builder.build().unwrap();
    let on_device = renderer.upload(&scene).unwrap();
    let size = (levels.len() as u32 * 4, HUES.len() as u32 * 4);
    let view = parallel(DVec3::Y * 5.0, DVec3::ZERO, 4.0, 10.0, size);
    for tone_mapper in ToneMapper::ALL {
        // White is 1 nit: exposed values are the emission itself.
        let settings = RenderSettings { tone_mapper, ..exposed(1.0, 1.0) };
        let picture = renderer.render(&on_device, &view, &settings).unwrap();
        let (mut worst, mut min, mut max) = (0f64, f32::MAX, 0f32);
        let mut seen = std::collections::BTreeSet::new();
        for (index, exposed) in picture.nits.iter().enumerate() {
            let exposed = Vec3::from_array(*exposed) * settings.exposure.multiplier() as f32;
            (min, max) = (min.min(exposed.max_element()), max.max(exposed.max_element()));
            let want = tone_mapper.apply(exposed);
            for channel in 0..3 {
                let got = f64::from(picture.display[index * 4 + channel]);
                worst = worst.max((got - srgb(f64::from(want[channel])) * 255.0).abs());
                seen.insert(picture.display[index * 4 + channel]);
            }
            assert_eq!(picture.display[index * 4 + 3], 255);
        }
        println!(
            "{}: {worst:.3} of 1/255, {} shades, from {min} to {max}",
            tone_mapper.name(),
            seen.len()
        );
        assert!(worst <= 1.0, "{}: {worst} of 255", tone_mapper.name());
        assert!(min == 0.0 && max == 65504.0 && seen.len() > 20, "the ramp is not in the picture");
    }
}
