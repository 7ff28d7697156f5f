//! Tests of color temperatures, adaptation and transfer curves.
use super::*;

fn near(got: DVec3, want: [f64; 3], tolerance: f64) {
    let want = DVec3::from_array(want);
    assert!(
        (got - want).abs().max_element() <= tolerance,
        "{got} is not {want} within {tolerance}"
    );
}

fn near_xy(got: Chromaticity, x: f64, y: f64, tolerance: f64) {
    near(dvec3(got.x, got.y, 0.0), [x, y, 0.0], tolerance);
}

#[test]
fn the_observer_is_whole() {
    let table = observer();
    assert_eq!(table.len(), 471);
    for (i, row) in table.iter().enumerate() {
        assert!((row.0 * 1e9 - (360.0 + i as f64)).abs() < 1e-6);
    }
    near(spectrum_to_xyz(|_| 1.0), [106.865_469, 106.856_917, 106.892_251], 1e-6);
}

#[test]
fn planckian_locus() {
    for (t, x, y) in [
        (2000.0, 0.5267, 0.4133),
        (2700.0, 0.4599, 0.4106),
        (4000.0, 0.3804, 0.3767),
        (5000.0, 0.3451, 0.3516),
        (6500.0, 0.3135, 0.3236),
        (10_000.0, 0.2806, 0.2883),
    ] {
        near_xy(planckian(Kelvin(t)).unwrap(), x, y, 6e-5);
    }
    // CIE illuminant A is a black body of 2856 K: 0.44758, 0.40745 (CIE 15:2004).
    near_xy(planckian(Kelvin(2855.5)).unwrap(), 0.44758, 0.40745, 2e-5);
    near_xy(planckian(Kelvin(1e6)).unwrap(), 0.240_134, 0.234_419, 1e-6);
}

#[test]
fn kelvin_in_rgb() {
    // With the white (0.95047, 1, 1.08883) that many tables use: the published digits.
    let rounded = rgb_to_xyz_matrix(REC709_PRIMARIES, dvec3(0.95047, 1.0, 1.08883)).inverse();
    // With D65 = (0.3127, 0.3290) as BT.709 has it, computed by a separate script.
    for (t, published, exact) in [
        (2000.0, [2.5199, 0.6469, 0.0204], [2.520_271_6, 0.646_864_9, 0.020_424_3]),
        (2700.0, [1.9348, 0.8036, 0.1918], [1.935_100_1, 0.803_553_1, 0.191_796_3]),
        (4000.0, [1.4138, 0.9240, 0.5335], [1.413_998_3, 0.924_006_0, 0.533_417_4]),
        (6500.0, [1.0432, 0.9836, 1.0352], [1.043_383_4, 0.983_570_6, 1.034_972_6]),
        (10_000.0, [0.8718, 0.9946, 1.4310], [0.871_960_7, 0.994_595_6, 1.430_672_1]),
    ] {
        let rgb = kelvin_to_rgb(Kelvin(t)).unwrap();
        near(rgb, exact, 1e-6);
        near(rgb, published, 4e-4);
        near(rounded * planckian(Kelvin(t)).unwrap().to_xyz(1.0), published, 7e-5);
    }
}

#[test]
fn luminance_does_not_depend_on_kelvin() {
    for t in [500.0, 1000.0, 1500.0, 1850.0, 2700.0, 6504.0, 20_000.0, 1e6] {
        let rgb = kelvin_to_rgb(Kelvin(t)).unwrap();
        assert!(rgb.min_element() >= 0.0);
        assert!(((REC709_TO_XYZ * rgb).y - 1.0).abs() < 1e-12);
        assert!((luminance(rgb) - 1.0).abs() < 3e-4);
    }
    // The blue that is clamped at 1850 K.
    let raw = XYZ_TO_REC709 * planckian(Kelvin(1850.0)).unwrap().to_xyz(1.0);
    assert!((raw.z + 0.0098).abs() < 5e-5);
    assert_eq!(kelvin_to_rgb(Kelvin(1850.0)).unwrap().z, 0.0);
}

#[test]
fn d65_is_not_a_black_body() {
    near_xy(daylight(Kelvin(6504.0)).unwrap(), D65.x, D65.y, 1.5e-4);
    near(light_color(D65).unwrap(), [1.0; 3], 1e-12);
    let (cct, duv) = correlated_temperature(D65).unwrap();
    assert!((cct.0 - 6504.0).abs() < 3.0, "{cct}");
    assert!((duv - 0.0032).abs() < 1e-4, "{duv}");
    // D50 and D75 (CIE 15:2004); both halves of the locus meet at 7000 K.
    near_xy(daylight(Kelvin(5003.0)).unwrap(), 0.3457, 0.3585, 1e-4);
    near_xy(daylight(Kelvin(7504.0)).unwrap(), 0.2990, 0.3149, 1e-4);
    let (a, b) = (daylight(Kelvin(7000.0)).unwrap(), daylight(Kelvin(7000.001)).unwrap());
    near_xy(a, b.x, b.y, 1e-4);
}

#[test]
fn matrices() {
    let derived = rgb_to_xyz_matrix(REC709_PRIMARIES, D65.to_xyz(1.0));
    assert!(derived.abs_diff_eq(REC709_TO_XYZ, 1e-14));
    assert!((REC709_TO_XYZ * XYZ_TO_REC709).abs_diff_eq(DMat3::IDENTITY, 1e-14));
    assert!((luminance(DVec3::ONE) - 1.0).abs() < 1e-12);
    // The row of luminance to the digits of BT.709.
    near(REC709_TO_XYZ.row(1), [0.2126, 0.7152, 0.0722], 5e-5);
}

#[test]
fn transfer() {
    for i in -20..=1020 {
        let x = f64::from(i) / 1000.0;
        assert!((srgb_eotf(srgb_oetf(x)) - x).abs() < 1e-6, "{x}");
    }
    assert!((srgb_oetf(0.18) - 0.461_356).abs() < 1e-6);
    assert!((srgb_eotf(0.5) - 0.214_041).abs() < 1e-6);
    assert_eq!((srgb_oetf(0.0), srgb_eotf(0.0), srgb_eotf(1.0)), (0.0, 0.0, 1.0));
}

#[test]
fn tint() {
    for t in [2856.0, 4000.0, 6500.0, 15_000.0] {
        for duv in [-0.02, -0.005, 0.0, 0.005, 0.02] {
            let c = planckian_tinted(Kelvin(t), duv).unwrap();
            let (back, back_duv) = correlated_temperature(c).unwrap();
            assert!((back.0 / t - 1.0).abs() < 2e-3, "{t} {duv}: {back}");
            assert!((back_duv - duv).abs() < 2e-5, "{t} {duv}: {back_duv}");
        }
        let green = light_color(planckian_tinted(Kelvin(t), 0.01).unwrap()).unwrap();
        let plain = kelvin_to_rgb(Kelvin(t)).unwrap();
        assert!(green.y > plain.y && green.x < plain.x);
    }
    // So warm and so green that no light has that color.
    assert!(matches!(planckian_tinted(Kelvin(1500.0), 0.02), Err(ColorError::Chromaticity { .. })));
}

#[test]
fn adaptation() {
    // Lindbloom, "Chromatic Adaptation": Bradford from D65 to D50.
    let (d65, d50) = (dvec3(0.95047, 1.0, 1.08883), dvec3(0.96422, 1.0, 0.82521));
    let m = Adaptation::Bradford.adapt_xyz(d65, d50);
    near(m.row(0), [1.047_811_2, 0.022_886_6, -0.050_127_0], 1e-6);
    near(m.row(1), [0.029_542_4, 0.990_484_4, -0.017_049_1], 1e-6);
    near(m.row(2), [-0.009_234_5, 0.015_043_6, 0.752_131_6], 1e-6);
    let m = Adaptation::Cat16.adapt_xyz(d65, d50);
    near(m.row(0), [1.010_822_6, 0.040_599_1, -0.034_106_0], 1e-6);
    near(m.row(2), [0.000_250_8, -0.011_480_2, 0.768_211_5], 1e-6);
    for method in [Adaptation::Cat16, Adaptation::Bradford] {
        near(method.adapt_xyz(d65, d50) * d65, d50.to_array(), 1e-12);
        let there_and_back = method.adapt_xyz(d50, d65) * method.adapt_xyz(d65, d50);
        assert!(there_and_back.abs_diff_eq(DMat3::IDENTITY, 1e-12));
    }
}

#[test]
fn balanced_whites_are_neutral() {
    for method in [Adaptation::Cat16, Adaptation::Bradford] {
        for (name, preset) in WhiteBalance::PRESETS {
            let light = XYZ_TO_REC709 * preset.white().unwrap().to_xyz(1.0);
            let seen = preset.matrix(method).unwrap() * light;
            assert!((seen - DVec3::ONE).abs().max_element() < 1e-9, "{name}: {seen}");
        }
        let custom = WhiteBalance::Temperature { kelvin: Kelvin(3200.0), duv: 0.004 };
        let light = light_color(custom.white().unwrap()).unwrap();
        near(custom.matrix(method).unwrap() * light, [1.0; 3], 1e-9);
        // A gray card under tungsten, at any exposure.
        let card = kelvin_to_rgb(Kelvin(2700.0)).unwrap() * 0.18 * 37.0;
        let seen = WhiteBalance::from_gray_card(card).unwrap().matrix(method).unwrap() * card;
        near(seen / (0.18 * 37.0), [1.0; 3], 1e-9);
    }
    assert_eq!(WhiteBalance::default().matrix(Adaptation::Cat16).unwrap(), DMat3::IDENTITY);
}

#[test]
fn presets_have_their_published_chromaticities() {
    // Planck: Wyszecki and Stiles, "Color Science", 2nd ed., table 1(3.11), 3000 K. F2: CIE
    // 15:2004, table T.6.1. The daylight locus: table 1(3.3.4) there, at 6000 and 8000 K; at
    // 5200 and 5400 K by the equations of CIE 15:2004, 3.1, with a pocket calculator.
    for (preset, x, y) in [
        (WhiteBalance::Neutral, 0.3127, 0.3290),
        (WhiteBalance::Incandescent, 0.4369, 0.4041),
        (WhiteBalance::Fluorescent, 0.3721, 0.3751),
        (WhiteBalance::Daylight, 0.3401, 0.3541),
        (WhiteBalance::Flash, 0.3349, 0.3497),
        (WhiteBalance::Cloudy, 0.3217, 0.3378),
        (WhiteBalance::Shade, 0.2938, 0.3092),
    ] {
        let white = preset.white().unwrap();
        assert!(
            (white.x - x).abs() < 1.5e-4 && (white.y - y).abs() < 1.5e-4,
            "{preset:?}: {white:?}"
        );
    }
}

#[test]
fn bad_input_is_named() {
    for bad in [0.0, -5.0, 499.0, 2e6, f64::NAN, f64::INFINITY] {
        assert!(matches!(planckian(Kelvin(bad)), Err(ColorError::Kelvin(_))));
        assert!(matches!(daylight(Kelvin(bad)), Err(ColorError::Daylight(_))));
    }
    assert!(matches!(planckian_tinted(Kelvin(4000.0), f64::NAN), Err(ColorError::Duv(_))));
    assert!(matches!(planckian_tinted(Kelvin(4000.0), 0.06), Err(ColorError::Duv(_))));
    for bad in [DVec3::ZERO, DVec3::NAN, -DVec3::ONE, DVec3::INFINITY] {
        assert!(WhiteBalance::from_gray_card(bad).is_err());
    }
    for (x, y) in [(0.0, 0.0), (f64::NAN, 0.3), (0.7, 0.7), (-0.1, 0.5)] {
        let white = Chromaticity { x, y };
        assert!(
            light_color(white).is_err()
                && WhiteBalance::White(white).matrix(Adaptation::Cat16).is_err()
        );
        assert!(correlated_temperature(white).is_err());
    }
    assert!(matches!(
        correlated_temperature(Chromaticity { x: 0.2, y: 0.7 }),
        Err(ColorError::Duv(_))
    ));
}
