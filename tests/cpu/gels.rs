//! Gels against published conversions, and as properties of lights.

use glam::{DVec3, Vec3};
use sunny16::{
    photometry::{
        Candela, Chromaticity, Kelvin,
        color::{
            REC709_TO_XYZ, correlated_temperature, daylight, kelvin_to_rgb, light_color, luminance,
        },
        gel::Gel,
    },
    scene::{
        Scene,
        build::SceneBuilder,
        look::{Look, LookError},
    },
};

/// Luminance that a gel leaves of a color, and the mired shift.
fn filtered(gel: &str, color: DVec3) -> (f64, f64) {
    let mired = |color: DVec3| {
        let chromaticity = Chromaticity::from_xyz(REC709_TO_XYZ * color).unwrap();
        1e6 / correlated_temperature(chromaticity).unwrap().0.get()
    };
    let after = Gel::parse(gel).unwrap().filtered(color);
    (luminance(after) / luminance(color), mired(after) - mired(color))
}

#[test]
fn conversions_shift_the_temperature_and_transmit_what_is_published() {
    // LEE Filters: the conversions of the data sheets in K, and the transmittances of illuminants C
    // and A.
    for (gel, from, to, [daylight, tungsten]) in [
        ("CTO", 6500.0, 3200.0, [0.554, 0.628]),
        ("1/2 CTO", 6500.0, 3800.0, [0.708, 0.745]),
        ("1/4 CTO", 6500.0, 4600.0, [0.791, 0.826]),
        ("CTB", 3200.0, 5700.0, [0.340, 0.350]),
        ("1/2 CTB", 3200.0, 4300.0, [0.549, 0.532]),
        ("1/4 CTB", 3200.0, 3600.0, [0.693, 0.705]),
    ] {
        let (_, shift) = filtered(gel, kelvin_to_rgb(Kelvin(from)).unwrap());
        // The sheets round to a hundred kelvins: 2 mired.
        let wanted = 1e6 / to - 1e6 / from;
        assert!((shift - wanted).abs() < 2.5, "{gel}: {shift} for {wanted}");
        for (kelvin, transmittance) in [(6774.0, daylight), (2856.0, tungsten)] {
            let (part, _) = filtered(gel, kelvin_to_rgb(Kelvin(kelvin)).unwrap());
            assert!((part / transmittance - 1.0).abs() < 1e-3, "{gel} {kelvin}: {part}");
        }
        // Halfway between the sources in mired.
        let middle = 2e6 / (1e6 / 6774.0 + 1e6 / 2856.0);
        let (part, _) = filtered(gel, kelvin_to_rgb(Kelvin(middle)).unwrap());
        assert!((part / ((daylight + tungsten) / 2.0) - 1.0).abs() < 1e-3, "{gel}: {part}");
    }
}

#[test]
fn a_conversion_keeps_the_tint_of_daylight() {
    let day = light_color(daylight(Kelvin(5600.0)).unwrap()).unwrap();
    let of = |color: DVec3| {
        correlated_temperature(Chromaticity::from_xyz(REC709_TO_XYZ * color).unwrap()).unwrap()
    };
    let ((before, duv), (after, kept)) = (of(day), of(Gel::parse("CTO").unwrap().filtered(day)));
    assert!(duv > 0.002 && (kept - duv).abs() < 1e-4, "{duv} {kept}");
    assert!((1e6 / after.get() - 1e6 / before.get() - 159.0).abs() < 0.5, "{before} {after}");
}

#[test]
fn other_filters_act_on_channels_and_stack() {
    let gel = |text: &str, color: DVec3| Gel::parse(text).unwrap().filtered(color);
    let color = DVec3::new(2.0, 1.0, 0.5);
    let near = |a: DVec3, b: DVec3| assert!((a - b).abs().max_element() < 1e-12, "{a} {b}");
    near(gel("0.9 0.5 0.2", color), DVec3::new(1.8, 0.5, 0.1));
    near(gel("0.9,0.5,0.2", color), DVec3::new(1.8, 0.5, 0.1));
    let tenth = |density: f64| 10f64.powf(-density);
    near(gel("CC30M", color), DVec3::new(2.0, tenth(0.3), 0.5));
    near(gel("cc025y", color), DVec3::new(2.0, 1.0, 0.5 * tenth(0.025)));
    near(gel("CC50R", color), DVec3::new(2.0, tenth(0.5), 0.5 * tenth(0.5)));
    near(gel("CC05C", color), DVec3::new(2.0 * tenth(0.05), 1.0, 0.5));
    let white = kelvin_to_rgb(Kelvin(6774.0)).unwrap();
    near(gel("0.6 ND", white) / luminance(white), gel("0.6 nd", white) / luminance(white));
    let (part, shift) = filtered("0.6 ND", white);
    assert!((part - 0.235).abs() < 1e-4 && shift.abs() < 1e-3, "{part} {shift}");
    // The second filter of a stack acts on what the first one leaves: both halves at their own
    // temperature.
    let (part, shift) = filtered("1/2 CTO + CTO", white);
    assert!((shift - 268.0).abs() < 0.5, "{shift}");
    let second = 0.554 + (0.628 - 0.554) * 109.0 / (1e6 / 2856.0 - 1e6 / 6774.0);
    assert!((part / (0.708 * second) - 1.0).abs() < 1e-3, "{part}");
    // Light of one channel has no color temperature, and gains nothing.
    let red = gel("CTO", DVec3::X);
    assert!(red.x > 0.0 && red.x < 1.0 && red.y == 0.0 && red.z == 0.0, "{red}");
    assert_eq!(gel("CTB", DVec3::ZERO), DVec3::ZERO);
    // The bluest light there is stays finite.
    assert!(gel("CTB+CTB+CTB", kelvin_to_rgb(Kelvin(20_000.0)).unwrap()).is_finite());
    for bad in [
        "", "CTX", "1/3 CTO", "CC30", "CC3M", "CC3000M", "1.1 0 0", "-1 0 0", "NaN 0 0", "1 1",
        "CTO+", "0.5",
    ] {
        assert_eq!(Gel::parse(bad), None, "{bad}");
    }
}

fn lamp(settings: &[&str]) -> Result<Scene, LookError> {
    let mut builder = SceneBuilder::new("one lamp");
    builder.point_light_candela("Key", Candela(100.0), Vec3::ONE, DVec3::Y);
    let mut scene = builder.build().unwrap();
    Look::of(settings)?.apply(&mut scene)?;
    Ok(scene)
}

#[test]
fn a_gel_takes_light_from_the_stated_strength() {
    let flux = |settings: &[&str]| {
        let scene = lamp(settings).unwrap();
        let light = scene.lights.last().unwrap();
        light.lumens().unwrap().get() * light.color_luminance()
    };
    let base = ["lights.Key.lumens=1000", "lights.Key.kelvin=6774"];
    assert!((flux(&base) / 1000.0 - 1.0).abs() < 1e-5);
    let gelled = flux(&[base[0], base[1], "lights.Key.gel=CTO"]);
    assert!((gelled / 554.0 - 1.0).abs() < 1e-3, "{gelled}");
    // The look's order does not matter, and candela of the file stay the strength.
    let gelled = flux(&["lights.Key.gel=CTO", base[1], base[0]]);
    assert!((gelled / 554.0 - 1.0).abs() < 1e-3, "{gelled}");
    let scene = lamp(&["lights.Key.gel=0.5 0.5 0.5"]).unwrap();
    assert_eq!(scene.lights.last().unwrap().color, Vec3::splat(0.5));
    let error = lamp(&["lights.Key.gel=CTX"]).unwrap_err();
    assert!(
        matches!(&error, LookError::BadValue { path, .. } if path == "lights.Key.gel"),
        "{error}"
    );
    assert!(error.to_string().contains("1/2 CTO"), "{error}");
}
