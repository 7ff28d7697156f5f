//! FLIP against the authors' programs: C++ (nv-flip 0.1.2, FLIP 1.2) run here, Python
//! (flip-evaluator 1.7) by its recorded values.

use crate::{
    compare::{
        error_colormap::{self, MAGMA},
        flip::{self, PIXELS_PER_DEGREE},
    },
    photometry::color::srgb_eotf,
};

const WIDTH: usize = 96;
const HEIGHT: usize = 64;

type Pixels = Vec<[f32; 3]>;

/// Waves, a checkerboard and noise, in sRGB codes 0 to 1: reference and test. The inputs of
/// flip-evaluator have the same formulas.
fn codes() -> (Vec<[f64; 3]>, Vec<[f64; 3]>) {
    (0..WIDTH * HEIGHT)
        .map(|i| {
            let (x, y) = ((i % WIDTH) as f64, (i / WIDTH) as f64);
            let checker = (i % WIDTH / 16 + i / WIDTH / 16).is_multiple_of(2);
            let scale = if checker { 0.25 } else { 1.0 };
            let reference = [0.11 * x + 0.07 * y, 0.05 * x - 0.13 * y + 1.0, 0.17 * x + 2.0]
                .map(|phase| (0.5 + 0.5 * phase.sin()) * scale);
            let noise = ((x * 1103.0 + y * 1699.0 + x * y * 7.0) % 64.0) / 64.0 - 0.5;
            let weights = [1.0, 0.5, -1.0];
            let test =
                std::array::from_fn(|c| (reference[c] + 0.2 * noise * weights[c]).clamp(0.0, 1.0));
            (reference, test)
        })
        .unzip()
}

/// The same as scene light, over twelve stops and with a bright light.
fn lights() -> (Pixels, Pixels) {
    let (reference, test) = codes();
    let both = reference.iter().zip(&test).enumerate().map(|(i, (reference, test))| {
        let (column, row) = (i % WIDTH, i / WIDTH);
        let (x, y) = (column as f64, row as f64);
        let gain = (6.0 * (0.09 * x).sin() * (0.06 * y).cos()).exp2() * 50.0;
        let shift = (0.3 * (0.03 * x + 0.02 * y).sin()).exp2();
        let lamp = (20..24).contains(&row) && (30..34).contains(&column);
        let reference = reference.map(|c| if lamp { 20_000.0 } else { (c * gain) as f32 });
        (reference, test.map(|c| (c * gain * shift) as f32))
    });
    both.unzip()
}

fn linear(codes: &[[f64; 3]]) -> Pixels {
    codes.iter().map(|pixel| pixel.map(|code| srgb_eotf(code) as f32)).collect()
}

fn mean(map: &[f32]) -> f64 {
    map.iter().map(|v| f64::from(*v)).sum::<f64>() / map.len() as f64
}

/// Compares the mean, and the errors at six pixels.
fn agrees(map: &[f32], mean_wanted: f64, wanted: [f64; 6]) {
    let found = mean(map);
    assert!((found - mean_wanted).abs() < 5e-6, "mean {found} for {mean_wanted}");
    for ((x, y), wanted) in
        [(0, 0), (10, 20), (33, 31), (47, 50), (95, 63), (31, 21)].into_iter().zip(wanted)
    {
        let found = f64::from(map[y * WIDTH + x]);
        assert!((found - wanted).abs() < 5e-5, "{found} for {wanted} at {x}, {y}");
    }
}

#[test]
fn ldr_is_that_of_flip_evaluator() {
    let (reference, test) = codes();
    let map = flip::ldr(&linear(&test), &linear(&reference), WIDTH, 67.0);
    agrees(
        &map,
        0.078_669_64,
        [0.190_241_93, 0.041_335_35, 0.077_228_64, 0.086_040_56, 0.152_621_45, 0.034_265_33],
    );
    let map = flip::ldr(&linear(&test), &linear(&reference), WIDTH, 40.0);
    agrees(
        &map,
        0.107_714_45,
        [0.223_596_78, 0.084_869_31, 0.089_076_52, 0.080_886_08, 0.159_762_31, 0.062_702_43],
    );
}

#[test]
fn hdr_is_that_of_flip_evaluator() {
    let (reference, test) = lights();
    let (map, exposures) = flip::hdr(&test, &reference, WIDTH, 67.0);
    agrees(
        &map,
        0.312_788_37,
        [0.451_069_8, 0.202_173_99, 0.467_051_03, 0.280_818_82, 0.324_328_96, 0.988_509_95],
    );
    let exposures = exposures.unwrap();
    assert!((exposures.start + 13.204_415).abs() < 1e-4, "{exposures:?}");
    assert!((exposures.stop + 2.127_062_3).abs() < 1e-4, "{exposures:?}");
    assert_eq!(exposures.count, 12);
    let (map, _) = flip::hdr(&test, &reference, WIDTH, 40.0);
    agrees(
        &map,
        0.346_155_12,
        [0.529_231_79, 0.324_443_55, 0.478_899_54, 0.305_397_93, 0.338_215_05, 0.993_821_8],
    );
}

#[test]
fn ldr_is_that_of_nv_flip() {
    // nv-flip takes bytes, so both sides are quantized.
    let (reference, test) = codes();
    let bytes = |codes: &[[f64; 3]]| -> Vec<u8> {
        codes.iter().flatten().map(|code| (code * 255.0).round() as u8).collect()
    };
    let (reference, test) = (bytes(&reference), bytes(&test));
    let picture =
        |bytes: &[u8]| nv_flip::FlipImageRgb8::with_data(WIDTH as u32, HEIGHT as u32, bytes);
    let theirs =
        nv_flip::flip(picture(&reference), picture(&test), nv_flip::DEFAULT_PIXELS_PER_DEGREE)
            .to_vec();
    let ours = |bytes: &[u8]| -> Pixels {
        bytes
            .chunks_exact(3)
            .map(|p| [0, 1, 2].map(|c| srgb_eotf(f64::from(p[c]) / 255.0) as f32))
            .collect()
    };
    let ours =
        flip::ldr(&ours(&test), &ours(&reference), WIDTH, nv_flip::DEFAULT_PIXELS_PER_DEGREE);
    let worst = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    println!("largest difference to nv-flip {worst}, means {} and {}", mean(&ours), mean(&theirs));
    assert!(worst < 5e-5, "{worst}");
    assert!((mean(&ours) - mean(&theirs)).abs() < 1e-6);
}

#[test]
fn alike_is_exactly_zero_and_either_way_round_is_the_same() {
    let (reference, test) = codes();
    let (reference, test) = (linear(&reference), linear(&test));
    assert!(flip::ldr(&test, &test, WIDTH, PIXELS_PER_DEGREE).iter().all(|error| *error == 0.0));
    let forth = flip::ldr(&test, &reference, WIDTH, PIXELS_PER_DEGREE);
    let back = flip::ldr(&reference, &test, WIDTH, PIXELS_PER_DEGREE);
    assert_eq!(forth, back);
    let (reference, _) = lights();
    assert!(
        flip::hdr(&reference, &reference, WIDTH, PIXELS_PER_DEGREE)
            .0
            .iter()
            .all(|error| *error == 0.0)
    );
}

#[test]
fn plain_colors_differ_by_the_closed_form() {
    // Constant images make the filters the identity: FLIP is the remapped HyAB difference of the
    // two colors.
    let plane = |color: [f32; 3]| vec![color; 32 * 32];
    let of = |a: [f32; 3], b: [f32; 3]| {
        flip::ldr(&plane(a), &plane(b), 32, PIXELS_PER_DEGREE)[16 * 32 + 16]
    };
    // Green to blue is the greatest distance: 1 by definition (section 4.1.3).
    assert!((of([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]) - 1.0).abs() < 1e-5);
    // CIELAB after Hunt of green (87.74, -75.61, 72.98) and blue (32.30, 25.58, -34.84): HyAB
    // 203.30, to the power of 0.7 41.28, the knee at 0.4 of that. Black against white: 100^0.7 =
    // 25.12, beyond the knee.
    let found = of([0.0; 3], [1.0; 3]);
    assert!((found - 0.967_38).abs() < 1e-5, "{found}");
    assert!(of([0.5; 3], [0.51; 3]) < of([0.5; 3], [0.55; 3]));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (reference, test) = lights();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| flip::hdr(&test, &reference, WIDTH, PIXELS_PER_DEGREE).0)
    };
    let bits = |map: Vec<f32>| map.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(run(1)), bits(run(5)));
}

#[test]
fn extreme_pictures_have_finite_errors() {
    let pictures: [Pixels; 6] = [
        vec![[0.0; 3]; 12],
        vec![[f32::MAX; 3]; 12],
        vec![[-f32::MAX; 3]; 12],
        vec![[f32::MIN_POSITIVE; 3]; 12],
        (0..12).map(|i| [if i == 0 { f32::MAX } else { 0.0 }, -1.0, 1e-38]).collect(),
        (0..12).map(|i| [i as f32, 1e30, 0.0]).collect(),
    ];
    for (index, a) in pictures.iter().enumerate() {
        for (other, b) in pictures.iter().enumerate() {
            for density in [f32::NAN, -1.0, 1.0, 67.0, 1e30] {
                // A density beyond the limits has the widest filters, for which one row is enough,
                // of each picture once as test and once as reference.
                let is_wide = density > 1e3;
                if is_wide && other != (index + 1) % pictures.len() {
                    continue;
                }
                let (a, b) = if is_wide { (&a[..4], &b[..4]) } else { (&a[..], &b[..]) };
                for map in [flip::ldr(a, b, 4, density), flip::hdr(a, b, 4, density).0] {
                    assert_eq!(map.len(), a.len());
                    assert!(map.iter().all(|error| (0.0..=1.0).contains(error)), "{map:?}");
                }
            }
        }
    }
    assert!(flip::ldr(&[], &[], 0, 67.0).is_empty());
    assert_eq!(flip::Exposures::of(&pictures[0]), None);
}

#[test]
fn exposures_that_do_not_reach_the_median_are_marked() {
    let limited = |median: f32| {
        let pixels = [[1.0; 3], [median; 3], [median; 3]];
        flip::Exposures::of(&pixels).map(|exposures| exposures.is_limited())
    };
    assert_eq!(limited(0.0), Some(true));
    assert_eq!(limited((-25f32).exp2()), Some(true));
    assert_eq!(limited((-23f32).exp2()), Some(false));
    assert_eq!(limited(1.0), Some(false));
}

#[test]
fn magma_is_that_of_nv_flip() {
    let lut = nv_flip::magma_lut().to_vec();
    let worst = (0..256)
        .flat_map(|i| {
            let ours = error_colormap::sample_colormap(&MAGMA, i as f32 / 255.0);
            let theirs = &lut[i * 3..i * 3 + 3];
            [0, 1, 2].map(|c| i32::from(ours[c]) - i32::from(theirs[c]))
        })
        .map(i32::abs)
        .max();
    assert!(worst <= Some(4), "{worst:?}");
    assert_eq!(error_colormap::sample_colormap(&MAGMA, f32::NAN), [0, 0, 4]);
}
