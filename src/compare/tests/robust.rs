//! Numbers that single pixels cannot spoil, light that is missing, noise of the reference.

use crate::{
    camera::Exposure,
    compare::{
        LinearImage,
        metrics::ImagePair,
        missing_light::{MissingKind, MissingLight},
        rating::Rating,
        reference_noise::ReferenceNoise,
        summary::{self, CompareSettings},
    },
    image_io::LightPasses,
    photometry::Ev100,
};

const SIDE: usize = 64;

/// A gray picture of 64x64 pixels.
fn gray(value: impl Fn(usize) -> f32) -> LinearImage {
    let pixels = (0..SIDE * SIDE).map(|index| [value(index); 3]).collect();
    LinearImage::from_nits(SIDE, SIDE, pixels).unwrap()
}

/// A repeatable number from -1 to 1.
fn random(index: usize) -> f32 {
    let hash = (index as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5bd1_e995;
    let hash = (hash ^ (hash >> 29)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    (hash >> 40) as f32 / (1 << 23) as f32 - 1.0
}

fn settings() -> CompareSettings {
    // EV100 0 renders 1.2 nits as white.
    let exposure = Exposure::from_ev100(Ev100(0.0)).unwrap();
    CompareSettings { exposure, ..CompareSettings::default() }
}

#[test]
fn a_pixel_that_decides_the_bias_is_found() {
    let at = 20 * SIDE + 10;
    let (test, reference) = (gray(|_| 1.0), gray(|index| if index == at { 1000.0 } else { 1.0 }));
    let pair = ImagePair::new(&test, &reference).unwrap();
    let found = pair.dominant_pixels();
    assert_eq!((found.pixels.len(), found.pixels[0].at), (1, [10, 20]));
    let share = 1000.0 / ((SIDE * SIDE) as f64 + 999.0);
    assert!((found.pixels[0].reference_share - share).abs() < 1e-9);
    assert_eq!((found.bias_without, pair.trimmed_bias()), (Some(0.0), Some(0.0)));
    assert!(pair.bias().unwrap() < -0.1);
    let blocks = pair.blocks().unwrap();
    assert!(blocks.rms > 0.1 && blocks.trimmed_rms() == 0.0 && blocks.median() == 0.0);
    let worst = pair.worst_pixel().unwrap();
    assert_eq!((worst.at, worst.share), ([10, 20], 1.0));
    // A firefly of the test.
    let found = ImagePair::new(&reference, &test).unwrap().dominant_pixels();
    assert!((found.pixels[0].test_share - share).abs() < 1e-9 && found.pixels[0].bias > 0.0);
}

#[test]
fn noise_and_uniform_errors_have_no_dominant_pixel() {
    let reference = gray(|_| 1.0);
    for test in [gray(|_| 0.9), gray(|index| 1.0 + 0.5 * random(index)), gray(|_| 1.0)] {
        let pair = ImagePair::new(&test, &reference).unwrap();
        assert_eq!(pair.dominant_pixels().pixels, []);
        let gap = pair.trimmed_bias().unwrap() - pair.bias().unwrap();
        assert!(gap.abs() < 2e-3, "{gap}");
    }
    // Each of few pixels is a large part of the light.
    let few = |values: [f32; 2]| {
        LinearImage::from_nits(2, 1, values.map(|value| [value; 3]).into()).unwrap()
    };
    let pair = [few([1.0, 5.0]), few([1.0, 1.0])];
    let pair = ImagePair::new(&pair[0], &pair[1]).unwrap();
    assert!(pair.dominant_pixels().pixels.is_empty() && pair.trimmed_bias() == Some(0.0));
    let black = gray(|_| 0.0);
    let pair = ImagePair::new(&black, &black).unwrap();
    assert_eq!((pair.trimmed_bias(), pair.worst_pixel()), (Some(0.0), None));
}

#[test]
fn missing_light_is_measured_by_layers() {
    let passes = |indirect, specular, on_screen| LightPasses {
        indirect,
        indirect_specular: specular,
        screen_space_reflections: on_screen,
        ..LightPasses::default()
    };
    let (yes, no) = (Some(true), Some(false));
    for (light, kind) in [
        (passes(None, None, no), None),
        (passes(yes, yes, no), None),
        (passes(no, no, no), Some(MissingKind::Indirect)),
        (passes(no, no, yes), Some(MissingKind::IndirectDiffuse)),
        (passes(yes, no, no), Some(MissingKind::IndirectSpecular)),
        (passes(yes, no, yes), Some(MissingKind::OffScreenReflections)),
    ] {
        assert_eq!(MissingKind::of(&light), kind, "{light:?}");
    }
    let direct = |index: usize| 0.5 + 0.25 * random(index).abs();
    let (test, indirect) = (gray(direct), gray(|_| 0.125));
    let reference = gray(|index| direct(index) + 0.125);
    let pair = ImagePair::new(&test, &reference).unwrap();
    let layers = [indirect];
    let found = MissingLight::of(MissingKind::Indirect, &pair, &layers, &settings()).unwrap();
    let [tested, full] = pair.means().unwrap();
    assert!((found.share - (1.0 - tested / full)).abs() < 1e-6, "{found:?}");
    assert!(found.bias_without.unwrap().abs() < 1e-6 && found.flip_without.unwrap() < 1e-4);
    assert!(pair.bias().unwrap() < -0.1);
    assert_eq!(MissingLight::of(MissingKind::Indirect, &pair, &[], &settings()), None);
}

#[test]
fn noise_of_the_reference_is_that_of_another_seed() {
    let truth = gray(|_| 0.5);
    // Uniform noise of a width of 0.2 has a deviation of 0.2 / sqrt(3), and a median of 0.1.
    let width = 0.2f32;
    let noisy = gray(|index| 0.5 + width * random(index));
    let errors: Vec<f32> =
        (0..SIDE * SIDE).map(|index| width * random(index + SIDE * SIDE)).collect();
    let noise = ReferenceNoise::of(&noisy, &errors, &settings()).unwrap();
    let deviation = f64::from(width) / 3f64.sqrt() / 0.5;
    assert!((noise.pixel_rms / deviation - 1.0).abs() < 0.03, "{noise:?}");
    assert!((noise.pixel_median / (0.2 * 1.4826) - 1.0).abs() < 0.1, "{noise:?}");
    // The mean of 64 pixels is normal; 64 blocks tell its median to 20 %.
    assert!((noise.block_median / (deviation / 8.0) - 1.0).abs() < 0.4, "{noise:?}");
    let pair = ImagePair::new(&noisy, &truth).unwrap();
    let real = pair.mean(&summary::ldr_flip(&pair, &settings())).unwrap();
    assert!((noise.flip / real - 1.0).abs() < 0.2, "{} for {real}", noise.flip);
    for invalid in [vec![0.0; SIDE * SIDE], vec![1.0; 3], vec![f32::NAN; SIDE * SIDE]] {
        assert_eq!(ReferenceNoise::of(&noisy, &invalid, &settings()), None);
    }
}

#[test]
fn ratings_follow_flip() {
    let rated = [0.0, 1e-6, 0.02, 0.07, 0.3, 1.0].map(Rating::of);
    assert!(rated.is_sorted() && rated[0] == Rating::Identical && rated[1] != rated[2]);
}
