//! Metrics against closed forms.

use crate::compare::{
    linear_image::{Encoding, LinearImage},
    metrics::{self, CompareError, ImagePair},
};

const SIZE: usize = 32;

fn picture(value: impl Fn(usize, usize) -> [f32; 3]) -> LinearImage {
    LinearImage::from_nits(
        SIZE,
        SIZE,
        (0..SIZE * SIZE).map(|i| value(i % SIZE, i / SIZE)).collect(),
    )
    .unwrap()
}

fn display(value: impl Fn(usize, usize) -> f32) -> LinearImage {
    let pixels = (0..SIZE * SIZE).map(|i| [value(i % SIZE, i / SIZE); 3]).collect();
    LinearImage::new(SIZE, SIZE, pixels, Encoding::Display).unwrap()
}

fn near(found: Option<f64>, wanted: f64) {
    let found = found.unwrap();
    assert!((found - wanted).abs() < 1e-6 * wanted.abs().max(1.0), "{found} for {wanted}");
}

#[test]
fn twice_the_light_is_one_stop() {
    let reference = picture(|x, y| [1.0 + x as f32, 2.0 + y as f32, 3.0]);
    let test = picture(|x, y| [2.0 * (1.0 + x as f32), 2.0 * (2.0 + y as f32), 6.0]);
    let pair = ImagePair::new(&test, &reference).unwrap();
    near(pair.bias(), 1.0);
    let stops = pair.stops().unwrap();
    assert!(stops.map.iter().all(|stops| (stops - 1.0).abs() < 1e-6));
    near(Some(stops.mean), 1.0);
    // 2 |2r - r| / 3r.
    near(pair.smape(), 2.0 / 3.0);
    let blocks = pair.blocks().unwrap();
    assert_eq!((blocks.across, blocks.down), (4, 4));
    near(Some(blocks.rms), 1.0);
    let halved = ImagePair::new(&reference, &test).unwrap();
    near(halved.bias(), -0.5);
    near(Some(halved.stops().unwrap().mean), -1.0);
}

#[test]
fn an_offset_has_its_rmse() {
    let reference = picture(|_, _| [10.0; 3]);
    // One channel of three is 3 off.
    let test = picture(|_, _| [13.0, 10.0, 10.0]);
    let pair = ImagePair::new(&test, &reference).unwrap();
    near(pair.mse(), 3.0);
    near(pair.rmse(), 3f64.sqrt());
    near(pair.relative_rmse(), 3f64.sqrt() / 10.0);
    // 9 / (100 + 0.01 * 100), in one channel of three.
    near(pair.relative_mse(), 9.0 / 101.0 / 3.0);
    near(pair.bias(), 0.2126 * 0.3);
    // 10 log10(100^2 / 3).
    near(pair.psnr(100.0), 35.228_787_45);
    assert_eq!(pair.psnr(f64::NAN), None);
}

#[test]
fn codes_that_alternate_have_a_known_psnr() {
    // Half of the pixels are 10 codes of 255 brighter: a mean square of 50 codes, 20 log10(255) -
    // 10 log10(50).
    let linear = |code: f64| crate::photometry::color::srgb_eotf(code / 255.0) as f32;
    let reference = display(|_, _| linear(100.0));
    let test = display(|x, y| linear(if (x + y) % 2 == 0 { 100.0 } else { 110.0 }));
    let found = ImagePair::new(&test, &reference).unwrap().psnr(123.0).unwrap();
    let wanted = 20.0 * 255f64.log10() - 10.0 * 50f64.log10();
    assert!((found - wanted).abs() < 1e-4, "{found} for {wanted}");
}

#[test]
fn light_that_moves_shows_in_blocks_and_not_in_the_mean() {
    // The left half is 1.5 times, the right half 0.5 times as bright: the mean is exact, and every
    // block is off by a half.
    let reference = picture(|_, _| [8.0; 3]);
    let test = picture(|x, _| [if x < SIZE / 2 { 12.0 } else { 4.0 }; 3]);
    let pair = ImagePair::new(&test, &reference).unwrap();
    near(pair.bias(), 0.0);
    let blocks = pair.blocks().unwrap();
    near(Some(blocks.rms), 0.5);
    assert!((blocks.worst.abs() - 0.5).abs() < 1e-6);
    // One wrong block is found and located.
    let test = picture(|x, y| [if x / 8 == 2 && y / 8 == 1 { 4.0 } else { 8.0 }; 3]);
    let blocks = ImagePair::new(&test, &reference).unwrap().blocks().unwrap();
    near(Some(blocks.worst), -0.5);
    assert_eq!(blocks.worst_at, [16, 8]);
    near(Some(blocks.rms), 0.5 / 4.0);
}

#[test]
fn alike_is_exactly_nothing() {
    let a = picture(|x, y| [x as f32 * 0.37, y as f32 * 1e-3, 1e5]);
    let pair = ImagePair::new(&a, &a).unwrap();
    for value in [pair.bias(), pair.rmse(), pair.relative_rmse(), pair.relative_mse(), pair.smape()]
    {
        assert_eq!(value, Some(0.0));
    }
    assert_eq!(pair.psnr(1.0), Some(f64::INFINITY));
    let (stops, blocks) = (pair.stops().unwrap(), pair.blocks().unwrap());
    assert_eq!((stops.mean, blocks.rms, blocks.worst), (0.0, 0.0, 0.0));
}

#[test]
fn a_mask_leaves_out() {
    let reference = picture(|_, _| [1.0; 3]);
    let test = picture(|x, _| [if x < 4 { 100.0 } else { 1.1 }; 3]);
    let mask: Vec<bool> = (0..SIZE * SIZE).map(|i| i % SIZE >= 8).collect();
    let pair = ImagePair::new(&test, &reference).unwrap().masked(&mask).unwrap();
    assert_eq!(pair.counted(), 24 * SIZE);
    near(pair.bias(), f64::from(1.1f32) - 1.0);
    near(pair.rmse(), f64::from(1.1f32) - 1.0);
    let blocks = pair.blocks().unwrap();
    assert_eq!(blocks.bias[0], None);
    assert!((blocks.worst - 0.1).abs() < 1e-5);
    near(
        pair.percentiles(&pair.stops().unwrap().map, [100.0]).map(|[p]| p),
        f64::from(1.1f32.log2()),
    );
    let nothing = vec![false; SIZE * SIZE];
    let pair = ImagePair::new(&test, &reference).unwrap().masked(&nothing).unwrap();
    assert_eq!((pair.bias(), pair.rmse(), pair.psnr(1.0)), (None, None, None));
    assert!(
        pair.stops().is_none()
            && pair.blocks().is_none()
            && pair.percentiles(&[], [50.0]).is_none()
    );
    assert!(matches!(pair.masked(&[true]), Err(CompareError::Mask { mask: 1, .. })));
}

#[test]
fn percentiles_are_linear_between_ranks() {
    let pixels = LinearImage::from_nits(5, 1, vec![[1.0; 3]; 5]).unwrap();
    let pair = ImagePair::new(&pixels, &pixels).unwrap();
    let found = pair.percentiles(&[40.0, 10.0, 0.0, 20.0, 30.0], [0.0, 50.0, 90.0, 100.0]).unwrap();
    assert_eq!(found, [0.0, 20.0, 36.0, 40.0]);
}

#[test]
fn what_does_not_fit_is_refused_with_a_remedy() {
    let (scene, shown) = (picture(|_, _| [1.0; 3]), display(|_, _| 1.0));
    let small = LinearImage::from_nits(2, 1, vec![[1.0; 3]; 2]).unwrap();
    let error = ImagePair::new(&scene, &small).unwrap_err();
    assert_eq!(error, CompareError::Size { test: [32, 32], reference: [2, 1] });
    let error = ImagePair::new(&scene, &shown).unwrap_err();
    assert_eq!(error, CompareError::Encoding { scene: "test", display: "reference" });
    assert!(LinearImage::from_nits(3, 1, vec![[1.0; 3]; 2]).is_err());
    assert!(LinearImage::from_nits(0, 0, vec![]).is_err());
}

#[test]
fn a_black_reference_has_no_relative_numbers() {
    let (black, test) = (picture(|_, _| [0.0; 3]), picture(|_, _| [1.0; 3]));
    let pair = ImagePair::new(&test, &black).unwrap();
    assert_eq!(pair.bias(), None);
    assert_eq!(pair.relative_rmse(), None);
    assert_eq!(pair.relative_mse(), None);
    assert!(pair.stops().is_none() && pair.blocks().is_none());
    near(pair.rmse(), 1.0);
    near(pair.smape(), 2.0);
    assert_eq!(pair.means().map(|[_, reference]| reference), Some(0.0));
}

/// Equal images have an error of 0 in every metric: black, negative, tiny and huge values.
#[test]
fn equal_pictures_have_every_number() {
    for value in [0.0, -0.0, -3.0, 1e-44, f32::MAX, -f32::MAX] {
        let a = picture(|x, _| [value, if x % 2 == 0 { value } else { 0.0 }, 0.0]);
        let whole = ImagePair::new(&a, &a).unwrap();
        let mask = metrics::edge_free_mask(&picture(|_, _| [value; 3]));
        assert!(mask.iter().all(|counts| *counts), "{value}");
        for pair in [whole, whole.masked(&mask).unwrap()] {
            for number in
                [pair.bias(), pair.rmse(), pair.relative_rmse(), pair.relative_mse(), pair.smape()]
            {
                assert_eq!(number, Some(0.0), "{value}");
            }
            let (stops, blocks) = (pair.stops().unwrap(), pair.blocks().unwrap());
            assert_eq!((stops.mean, blocks.rms, blocks.worst), (0.0, 0.0, 0.0), "{value}");
            assert!(stops.map.iter().all(|stops| *stops == 0.0), "{value}");
        }
    }
    // Black where the mask is true, different elsewhere.
    let (test, reference) =
        (picture(|x, _| [if x < 8 { 5.0 } else { 0.0 }; 3]), picture(|_, _| [0.0; 3]));
    let mask: Vec<bool> = (0..SIZE * SIZE).map(|i| i % SIZE >= 8).collect();
    let pair = ImagePair::new(&test, &reference).unwrap().masked(&mask).unwrap();
    assert_eq!((pair.bias(), pair.relative_rmse()), (Some(0.0), Some(0.0)));
    let (stops, blocks) = (pair.stops().unwrap(), pair.blocks().unwrap());
    assert!(
        (stops.mean, blocks.rms) == (0.0, 0.0) && stops.map.iter().all(|stops| stops.is_finite())
    );
}

#[test]
fn extreme_pictures_have_finite_numbers() {
    for value in [f32::MAX, -f32::MAX, 1e-44, -1.0] {
        let test = picture(|x, _| [value, x as f32, -value]);
        let reference = picture(|x, y| if (x + y) % 3 == 0 { [f32::MAX; 3] } else { [1e-40; 3] });
        for pair in
            [ImagePair::new(&test, &reference).unwrap(), ImagePair::new(&reference, &test).unwrap()]
        {
            let numbers = [
                pair.bias(),
                pair.rmse(),
                pair.relative_rmse(),
                pair.relative_mse(),
                pair.smape(),
                pair.psnr(1.0),
                pair.stops().map(|stops| stops.mean),
                pair.blocks().map(|blocks| blocks.rms),
            ];
            assert!(numbers.iter().flatten().all(|number| number.is_finite()), "{numbers:?}");
        }
    }
}

#[test]
fn edges_are_left_out_with_their_neighbors() {
    let step = picture(|x, _| [if x < 10 { 1.0 } else { 2.0 }; 3]);
    let smooth = metrics::smooth_mask(&step, 1, 0.1);
    for y in 0..SIZE {
        for x in 0..SIZE {
            assert_eq!(smooth[y * SIZE + x], x != 9 && x != 10, "{x}, {y}");
        }
    }
    assert!(metrics::smooth_mask(&picture(|_, _| [0.0; 3]), 2, 0.1).iter().all(|smooth| *smooth));
}
