//! Exposure on the device: histogram and adaptation, pre-exposure over a step, the range of half
//! floats, dither, white balance, and the incident-light meter against closed forms.

use std::f64::consts::PI;

use crate::common::{Brdf, Place, exposure_for, hit_plane, nits, parallel, renderer, unclustered};
use glam::{DMat4, DVec3, Vec2, Vec3};
use half::f16;
use sunny16::{
    camera::{
        AutoExposure, Exposure, MeterMode, ToneMapper, exposure::Receptor, metering::meter,
        tonemap::dithered,
    },
    frame::{
        Readback, RenderSettings, RenderedImage, Renderer, ShadowSettings,
        incident::{self, IncidentError},
    },
    gpu_scene::View,
    photometry::{
        Candela, Ev100, Kelvin, Lumen, Lux, Nit,
        color::{self, Adaptation, WhiteBalance, srgb_eotf, srgb_oetf},
        lights::{Emitter, LightStrength, Sides},
    },
    scene::{
        Material, Scene,
        build::{SceneBuilder, black_body, dielectric, look_at_transform},
        look::ShadowMethod,
        procedural::shapes,
    },
};

fn illuminance(
    renderer: &mut Renderer,
    scene: &Scene,
    point: DVec3,
    normal: DVec3,
    receptor: Receptor,
) -> Result<Lux, IncidentError> {
    incident::illuminance(renderer, scene, point, normal, receptor, ShadowSettings::default())
}

/// Emissive squares of a meter side by side, one level (nits) each, from left to right.
fn squares(levels: &[f32]) -> Scene {
    let mut builder = SceneBuilder::new("squares");
    for (column, level) in levels.iter().enumerate() {
        let at = DVec3::new(column as f64 - levels.len() as f64 / 2.0 + 0.5, 0.0, 0.0);
        builder.place(
            shapes::plane(Vec2::ONE, 1, 1),
            Material { emission: Vec3::splat(*level), ..Material::default() },
            at,
        );
    }
    builder.build().unwrap()
}

/// A view of the squares from above: `height` rows, of which only the middle meter shows them.
fn from_above(half_height: f32, size: (u32, u32)) -> View {
    parallel(DVec3::Y * 5.0, DVec3::ZERO, half_height, 10.0, size)
}

fn ev(value: f64) -> Exposure {
    Exposure::from_ev100(Ev100(value)).unwrap()
}

/// The exposed half floats of a picture, exactly as in the light buffer.
fn exposed(picture: &RenderedImage) -> impl Iterator<Item = [f32; 3]> + '_ {
    let multiplier = picture.exposure.multiplier();
    picture.nits.iter().map(move |c| c.map(|v| f16::from_f64(f64::from(v) * multiplier).to_f32()))
}

/// The shader's bins, independent of its code: eighths of a stop from 2^-16, found by comparison
/// with powers of two.
fn bin(luminance: f32) -> usize {
    if luminance.is_nan() || luminance <= 0.0 {
        return 0;
    }
    // Edges as the nearest single above the exact power: the test of the shader's table.
    let edge = |eighths: i32| {
        let exact = (f64::from(eighths) / 8.0).exp2();
        let near = exact as f32;
        if f64::from(near) < exact { f32::from_bits(near.to_bits() + 1) } else { near }
    };
    1 + (-127..127).filter(|&eighths| luminance >= edge(eighths)).count()
}

#[test]
fn the_histogram_counts_every_pixel_once() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let levels: Vec<f32> = (0..40).map(|step| 1e-6 * 1e12f32.powf(step as f32 / 39.0)).collect();
    let scene = squares(&levels);
    let on_device = renderer.upload(&scene).unwrap();
    // One pixel, less than a work group, exactly one, and several with a rest; half of the rows are
    // black.
    for size in [(1, 1), (7, 3), (64, 64), (161, 131)] {
        for exposure in [ev(-3.0), ev(6.5), ev(20.0)] {
            let view = from_above(size.1 as f32 / size.0 as f32 * 20.0, size);
            let settings =
                RenderSettings { exposure, histogram: true, ..RenderSettings::default() };
            let picture = renderer.render(&on_device, &view, &settings).unwrap();
            let mut want = vec![0u32; 256];
            for [r, g, b] in exposed(&picture) {
                want[bin(0.2126 * r + 0.7152 * g + 0.0722 * b)] += 1;
            }
            let counts = picture.histogram.as_ref().unwrap();
            assert_eq!(counts.pixels(), u64::from(size.0) * u64::from(size.1));
            assert_eq!(counts.bins(), want, "{size:?} at {exposure:?}");
            if size.0 > 100 {
                assert!(
                    counts.black() > 1000
                        && counts.bins().iter().filter(|count| **count > 0).count() > 14
                );
            }
        }
    }
    // Its cost, for docs/metering.md.
    let view = from_above(20.0 * 360.0 / 640.0, (640, 360));
    let mut least = std::collections::BTreeMap::new();
    let settings = RenderSettings {
        histogram: true,
        accumulated_frames: Some(0),
        ..RenderSettings::default()
    };
    for _ in 0..7 {
        let pending = renderer
            .submit(&on_device, &view, &settings, Readback { display: false, nits: false })
            .unwrap();
        for time in renderer.collect(pending).unwrap().times {
            let ms = least.entry(time.name).or_insert(f64::MAX);
            *ms = ms.min(time.ms);
        }
    }
    println!("640x360, least ms of 7 frames: {least:.3?}");
    assert!(least.contains_key("exposure histogram") && least.contains_key("accumulate"));
    let none =
        renderer.render(&on_device, &from_above(1.0, (8, 8)), &RenderSettings::default()).unwrap();
    assert!(none.histogram.is_none());
}

/// Log-average exposure value of the lit pixels, from the picture itself.
fn log_average(picture: &RenderedImage) -> f64 {
    let luminances: Vec<f32> =
        picture.nits.iter().map(|c| 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]).collect();
    let nits = meter(&luminances, picture.width, picture.height, MeterMode::LogAverage).unwrap();
    Exposure::from_luminance(nits).unwrap().ev100().get()
}

#[test]
fn automatic_exposure_matches_its_time_constants() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let dim: Vec<f32> = (0..24).map(|step| 0.5 * 1.3f32.powi(step)).collect();
    let bright: Vec<f32> = dim.iter().map(|level| level * 256.0).collect();
    let (dim, bright) = (squares(&dim), squares(&bright));
    let (dim, bright) = (renderer.upload(&dim).unwrap(), renderer.upload(&bright).unwrap());
    let view = from_above(0.5, (192, 8));
    let auto = AutoExposure {
        low_percentile: 0.0,
        high_percentile: 1.0,
        compensation: 0.5,
        ..AutoExposure::default()
    };
    let seconds = 1.0 / 24.0;
    // It starts ten stops off; after two seconds the light rises by eight stops, after four it
    // falls back.
    let mut exposure = ev(14.0);
    let mut closed = 14.0;
    let (mut worst, mut at_change) = (0f64, Vec::new());
    for frame in 0..6 * 24 {
        let scene = if (2 * 24..4 * 24).contains(&frame) { &bright } else { &dim };
        let settings = RenderSettings { exposure, histogram: true, ..RenderSettings::default() };
        let picture = renderer.render(scene, &view, &settings).unwrap();
        let histogram = picture.histogram.as_ref().unwrap().by_ev(picture.exposure).unwrap();
        exposure = auto.adapt_to_histogram(exposure, &histogram, seconds).unwrap();
        let target = log_average(&picture) - 0.5;
        let tau = if target > closed { auto.brighter_s } else { auto.darker_s };
        closed += (target - closed) * (1.0 - (-seconds / tau).exp());
        worst = worst.max((exposure.ev100().get() - closed).abs());
        if frame % 48 == 47 {
            at_change.push((exposure.ev100().get(), target));
        }
    }
    println!(
        "worst: {worst:.4} EV from the closed form; before each change: {at_change:.3?} (set, target)"
    );
    assert!(worst < 0.03, "{worst}");
    // Two seconds are six time constants towards bright light, and two towards dim light: e^-2 of
    // eight stops are left.
    let (set, target) = at_change[1];
    assert!((set - target).abs() < 0.05, "{set} for {target}");
    assert!((at_change[1].1 - at_change[0].1 - 8.0).abs() < 0.01);
    let (set, target) = at_change[2];
    assert!((set - target - 8.0 * (-2.0f64).exp()).abs() < 0.05, "{set} for {target}");
    // In the dark it is constant.
    let black = renderer.upload(&squares(&[0.0])).unwrap();
    let settings = RenderSettings { exposure, histogram: true, ..RenderSettings::default() };
    let picture = renderer.render(&black, &view, &settings).unwrap();
    let counts = picture.histogram.as_ref().unwrap();
    assert_eq!(u64::from(counts.black()), counts.pixels());
    assert_eq!(
        auto.adapt_to_histogram(exposure, &counts.by_ev(exposure).unwrap(), seconds).unwrap(),
        exposure
    );
}

#[test]
fn history_is_invariant_to_an_exposure_step() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // Two scenes, so that the history holds content that this frame lacks.
    let bright: Vec<f32> = (0..24).map(|step| 1.7 * 1.4f32.powi(step)).collect();
    let other: Vec<f32> = bright.iter().rev().copied().collect();
    let scenes =
        [renderer.upload(&squares(&bright)).unwrap(), renderer.upload(&squares(&other)).unwrap()];
    let view = from_above(0.5, (192, 8));
    let mut run = |step: &dyn Fn(u32) -> f64| -> Vec<RenderedImage> {
        (0..8)
            .map(|frame| {
                let exposure = ev(9.0 + step(frame));
                let settings = RenderSettings {
                    exposure,
                    accumulated_frames: Some(frame),
                    histogram: true,
                    ..RenderSettings::default()
                };
                renderer.render(&scenes[frame as usize % 2], &view, &settings).unwrap()
            })
            .collect()
    };
    let still = run(&|_| 0.0);
    for (name, step) in [
        ("8 stops up", &(|frame: u32| if frame < 4 { 0.0 } else { 8.0 }) as &dyn Fn(u32) -> f64),
        ("8 stops down", &|frame| if frame < 4 { 0.0 } else { -8.0 }),
        ("there and back", &|frame| if frame == 4 { 8.0 } else { 0.0 }),
        ("every frame", &|frame| f64::from(frame % 3) * 4.0 - 4.0),
    ] {
        let stepped = run(step);
        let mut worst = 0f64;
        for (a, b) in still.iter().zip(&stepped) {
            for (a, b) in a.nits.iter().flatten().zip(b.nits.iter().flatten()) {
                assert!(a.is_finite() && b.is_finite() && *a > 0.0);
                worst = worst.max(f64::from((a - b).abs() / a));
            }
            let mean = |picture: &RenderedImage| {
                let counts = picture.histogram.as_ref().unwrap();
                counts.by_ev(picture.exposure).unwrap().trimmed_mean(0.0, 1.0).unwrap().get()
            };
            // Bins are an eighth of a stop: values at an edge may change bins.
            assert!((mean(a) - mean(b)).abs() < 0.01, "{name}: {} and {}", mean(a), mean(b));
        }
        println!("{name}: worst {:.3} of a half float's step", worst * 1024.0);
        assert!(worst <= 1.0 / 1024.0, "{name}: {worst}");
    }
    // The history is a mean: half of each scene, and neither alone.
    let last = still.last().unwrap();
    for x in 0..192 {
        let index = x / 8;
        let want = f64::from(bright[index] + other[index]) / 2.0;
        let got = nits(last, x, 4).x;
        assert!((got / want - 1.0).abs() < 2e-3, "{x}: {got} for {want}");
    }
}

#[test]
fn pictures_are_finite_from_sun_to_starlight() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let levels = [1e9f32, 1e6, 1e3, 1.0, 1e-3, 1e-6];
    let on_device = renderer.upload(&squares(&levels)).unwrap();
    let view = from_above(0.5, (48, 8));
    let mut seen = [false; 6];
    for exposure in [ev(64.0), ev(30.0), ev(14.644), ev(7.0), ev(-7.0), ev(-30.0), ev(-64.0)] {
        for tone_mapper in ToneMapper::ALL {
            let settings = RenderSettings {
                exposure,
                tone_mapper,
                histogram: true,
                ..RenderSettings::default()
            };
            let picture = renderer.render(&on_device, &view, &settings).unwrap();
            assert!(picture.nits.iter().flatten().all(|value| value.is_finite() && *value >= 0.0));
            for (index, &level) in levels.iter().enumerate() {
                let got = nits(&picture, index * 8 + 4, 4).x;
                let value = f64::from(level) * exposure.multiplier();
                // Within the normal half floats: accurate to a step. Beyond the upper end: clamped,
                // which is white.
                if (6.2e-5..65_000.0).contains(&value) {
                    assert!(
                        (got / f64::from(level) - 1.0).abs() < 1.0 / 1000.0,
                        "{level} at {exposure:?}: {got}"
                    );
                    seen[index] = true;
                } else if value > 66_000.0 {
                    assert!(
                        (got * exposure.multiplier() - 65_504.0).abs() < 1.0,
                        "{level} at {exposure:?}: {got}"
                    );
                    assert!(picture.display[(4 * 48 + index * 8 + 4) * 4] >= 254);
                }
            }
        }
    }
    assert!(seen.iter().all(|seen| *seen), "each level is seen under some exposure: {seen:?}");
}

#[test]
fn faint_gradients_have_no_banding() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // A diffuse plane under a faint light, seen from straight above.
    let material = dielectric("matte", Vec3::splat(0.5), 1.0);
    let brdf = Brdf::of(&material);
    let (height, candela) = (2.0, 0.03);
    let mut builder = SceneBuilder::new("night");
    builder.floor(20.0, material);
    let lamp = DVec3::new(0.0, height, 0.0);
    builder.point_light_candela("lamp", Candela(candela), Vec3::ONE, lamp);
    let on_device = renderer.upload(&builder.build().unwrap()).unwrap();
    let view = from_above(0.1, (512, 8));
    let lists = unclustered();
    let mut exposure = ev(-6.0);
    let mut picture = None;
    for _ in 0..3 {
        let settings =
            RenderSettings { exposure, clustered_lights: lists, ..RenderSettings::default() };
        let shown = renderer.render(&on_device, &view, &settings).unwrap();
        exposure = ev(log_average(&shown));
        picture = Some(shown);
    }
    let picture = picture.unwrap();
    let exact = |x: usize, y: usize| {
        let point = hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
        let away = lamp - point;
        let l = away.normalize();
        brdf.total(DVec3::Y, l, DVec3::Y).x * candela / away.length_squared()
    };
    let [bright, dark] = [exact(256, 4), exact(0, 4)];
    println!("{dark:.2e} to {bright:.2e} nit, at {:.2}", picture.exposure.ev100());
    assert!(bright < 2e-3 && dark < bright * 0.5);
    for mapper in ToneMapper::ALL {
        let code = |nits: f64| {
            let exposed = (nits * picture.exposure.multiplier()) as f32;
            srgb_oetf(f64::from(mapper.apply(Vec3::splat(exposed)).y)) * 1023.0
        };
        let (mut worst, mut levels) = (0f64, std::collections::BTreeSet::new());
        for y in 0..8 {
            for x in 0..512 {
                let got = nits(&picture, x, y).y;
                levels.insert(got.to_bits());
                worst = worst.max((code(got) - code(exact(x, y))).abs());
            }
        }
        println!("{}: {worst:.3} of a 10-bit step, {} levels", mapper.name(), levels.len());
        assert!(worst < 1.0, "{}: {worst}", mapper.name());
    }
}

#[test]
fn dither_matches_host_and_preserves_the_mean() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let levels = [0.0f32, 0.0001, 0.001, 0.0101, 0.1, 0.2017, 0.5003, 0.9, 0.9999, 1.0, 7.0];
    let on_device = renderer.upload(&squares(&levels)).unwrap();
    let view = from_above(0.5, (levels.len() as u32 * 96, 96));
    let settings =
        RenderSettings { tone_mapper: ToneMapper::Linear, ..crate::common::exposed(1.0, 1.0) };
    let plain = renderer.render(&on_device, &view, &settings).unwrap();
    let noisy = renderer
        .render(&on_device, &view, &RenderSettings { dither: true, ..settings.clone() })
        .unwrap();
    let again =
        renderer.render(&on_device, &view, &RenderSettings { dither: true, ..settings }).unwrap();
    assert_eq!(noisy.display, again.display, "the same every time");
    assert_eq!(plain.nits, noisy.nits, "the light is as it was");
    let codes: Vec<f64> =
        exposed(&plain).map(|c| srgb_oetf(f64::from(c[1]).clamp(0.0, 1.0)) * 255.0).collect();
    let (mut differ, mut means) = (0, vec![(0.0, 0.0, 0u32); levels.len()]);
    for (index, code) in codes.iter().enumerate() {
        let (x, y) = (index % noisy.width, index / noisy.width);
        let pixel = &noisy.display[index * 4..index * 4 + 4];
        assert!(pixel[0] == pixel[1] && pixel[1] == pixel[2] && pixel[3] == 255, "gray stays gray");
        assert!((f64::from(pixel[0]) - code).abs() <= 1.51, "{pixel:?} for {code}");
        differ += usize::from(pixel[0] != dithered(*code as f32, x as u32, y as u32));
        let (sum, want, count) = &mut means[x / 96];
        (*sum, *want, *count) = (*sum + f64::from(pixel[0]), *want + code, *count + 1);
    }
    // Where code plus noise is at a rounding edge, the last bit decides.
    assert!(differ * 1000 < codes.len(), "{differ} of {} pixels are not the host's", codes.len());
    for (level, (sum, want, count)) in levels.iter().zip(means) {
        let off = (sum - want) / f64::from(count);
        println!("{level}: {off:+.4} of a step off the mean");
        // 9216 samples with a standard deviation of half a step: 0.005; four times that.
        assert!(off.abs() < 0.021, "{level}: {off}");
        if *level == 0.0 || *level >= 1.0 {
            assert!(off.abs() < 1e-9, "{level} is black or white");
        }
    }
}

/// A diffuse gray card of a meter under a colored light, seen from straight above.
fn card(color: Vec3) -> Scene {
    let mut builder = SceneBuilder::new("card");
    builder.place(
        shapes::plane(Vec2::ONE, 1, 1),
        dielectric("gray", Vec3::splat(0.5), 1.0),
        DMat4::IDENTITY,
    );
    builder.point_light_lumens("lamp", Lumen(2000.0), color, DVec3::new(3.0, 40.0, 1.0));
    builder.build().unwrap()
}

#[test]
fn white_balanced_gray_card_is_gray() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = from_above(0.25, (64, 64));
    for kelvin in [2000.0, 2700.0, 4000.0, 10_000.0] {
        let on_device = renderer.upload(&card(black_body(Kelvin(kelvin)))).unwrap();
        let dim = RenderSettings { exposure: ev(-3.0), ..RenderSettings::default() };
        let plain = renderer.render(&on_device, &view, &dim).unwrap();
        let picked = nits(&plain, 32, 32);
        let warm = (picked.max_element() - picked.min_element()) / picked.y;
        assert!(warm > 0.3, "the lamp is colored: {picked}");
        let exposure = exposure_for(color::luminance(picked), 0.5);
        for method in [Adaptation::Cat16, Adaptation::Bradford] {
            let by_kelvin = WhiteBalance::Temperature { kelvin: Kelvin(kelvin), duv: 0.0 };
            for white in [by_kelvin, WhiteBalance::from_gray_card(picked).unwrap()] {
                let white_balance = white.matrix(method).unwrap().as_mat3();
                let settings = RenderSettings {
                    exposure,
                    white_balance,
                    dither: true,
                    ..RenderSettings::default()
                };
                // The mean of dithered codes resolves fractions of a step.
                let linear = RenderSettings { tone_mapper: ToneMapper::Linear, ..settings.clone() };
                let picture = renderer.render(&on_device, &view, &linear).unwrap();
                let mean = |channel: usize| {
                    let sum: f64 = picture
                        .display
                        .iter()
                        .skip(channel)
                        .step_by(4)
                        .map(|&b| f64::from(b))
                        .sum();
                    srgb_eotf(sum / (64.0 * 64.0) / 255.0)
                };
                let [r, g, b] = [mean(0), mean(1), mean(2)];
                let off = (r / g - 1.0).abs().max((b / g - 1.0).abs());
                println!(
                    "{kelvin} K, {method:?}, {white:?}: R/G and B/G within {:.3} %",
                    100.0 * off
                );
                assert!(off < 0.005, "{kelvin} {method:?}: {r} {g} {b}");
                // Luminance is preserved: half of white before and after.
                assert!((g / 0.5 - 1.0).abs() < 0.005, "{kelvin} {method:?}: {g}");
                // The read-back is scene light.
                assert!(crate::common::relative(nits(&picture, 32, 32), picked) < 2e-3);
                for tone_mapper in ToneMapper::ALL {
                    let settings =
                        RenderSettings { tone_mapper, dither: false, ..settings.clone() };
                    let picture = renderer.render(&on_device, &view, &settings).unwrap();
                    for pixel in picture.display.chunks_exact(4) {
                        assert!(
                            pixel[0].abs_diff(pixel[1]) <= 1 && pixel[2].abs_diff(pixel[1]) <= 1,
                            "{pixel:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn incident_meter_matches_closed_forms() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("room");
    let gray = builder.add_material(dielectric("gray", Vec3::splat(0.5), 0.4));
    builder.floor(6.0, gray);
    let (lamp, candela) = (DVec3::new(1.0, 2.0, 0.5), 400.0);
    builder.point_light_candela("lamp", Candela(candela), Vec3::ONE, lamp);
    let floor_and_lamp = builder.build().unwrap();
    let mut worst = 0f64;
    for (point, normal) in [
        (DVec3::ZERO, DVec3::Y),
        (DVec3::new(1.0, 0.0, 0.5), DVec3::Y * 3.0),
        (DVec3::new(-2.0, 0.0, -2.0), DVec3::Y),
        (DVec3::new(0.2, 1.1, 0.3), DVec3::new(1.0, 1.0, 0.2)),
        (DVec3::new(0.2, 1.1, 0.3), DVec3::new(0.1, 0.2, -1.0)),
    ] {
        let away = lamp - point;
        let want =
            candela * normal.normalize().dot(away.normalize()).max(0.0) / away.length_squared();
        let got = illuminance(&mut renderer, &floor_and_lamp, point, normal, Receptor::Flat)
            .unwrap()
            .get();
        println!("{point}: {got:.3} lx for {want:.3}");
        // Surfaces that face the light: at grazing light, the quantization of the stored normal is
        // visible.
        worst = worst.max((got - want).abs() * away.length_squared() / candela);
    }
    println!("flat receptor: {:.3} % at worst", worst * 100.0);
    assert!(worst < 0.001, "{worst}");
    let behind =
        illuminance(&mut renderer, &floor_and_lamp, DVec3::Y, DVec3::NEG_Y, Receptor::Flat)
            .unwrap();
    assert_eq!(behind, Lux(0.0));

    // A board between the light and the meter.
    let mut builder = SceneBuilder::new("shade");
    let gray = builder.add_material(dielectric("gray", Vec3::splat(0.5), 0.4));
    let floor = builder.add_mesh("floor", shapes::plane(Vec2::splat(6.0), 1, 1), gray);
    let board = builder.add_mesh("board", shapes::cuboid(Vec3::new(1.0, 0.1, 1.0)), gray);
    builder.instance("floor", floor, DMat4::IDENTITY);
    builder.instance("board", board, DMat4::from_translation(DVec3::new(1.0, 1.0, 0.5)));
    builder.point_light_candela("lamp", Candela(candela), Vec3::ONE, lamp);
    let shade = builder.build().unwrap();
    for (point, lit) in [
        (DVec3::new(1.0, 0.0, 0.5), 0.0),
        (DVec3::new(1.4, 0.0, 0.9), 0.0),
        (DVec3::new(-2.0, 0.0, -2.0), 1.0),
    ] {
        for receptor in [Receptor::Flat, Receptor::Dome] {
            let open = illuminance(&mut renderer, &floor_and_lamp, point, DVec3::Y, receptor)
                .unwrap()
                .get();
            let got = illuminance(&mut renderer, &shade, point, DVec3::Y, receptor).unwrap().get();
            println!("{point}, {receptor:?}: {got:.3} lx with the board, {open:.3} without");
            assert!((got / open - lit).abs() < 0.002, "{point}: {got} of {open}");
        }
    }

    // A sun: without a distance, only angle and receptor matter, over nine decades.
    for lux in [1e-4, 100_000.0] {
        let mut builder = SceneBuilder::new("sun");
        builder.place(
            shapes::icosphere(0.5, 1),
            dielectric("gray", Vec3::splat(0.5), 0.4),
            DVec3::NEG_Y,
        );
        builder.sun("sun", Lux(lux), Vec3::ONE, DVec3::NEG_Y);
        let scene = builder.build().unwrap();
        for degrees in [0.0f64, 40.0, 75.0, 110.0, 150.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let axis = DVec3::new(sin * 0.6, cos, sin * 0.8);
            let mut read = |receptor| {
                illuminance(&mut renderer, &scene, DVec3::Y, axis, receptor).unwrap().get() / lux
            };
            let flat = read(Receptor::Flat);
            assert!((flat - cos.max(0.0)).abs() < 0.002, "{degrees}: {flat}");
            // The same cards and exposures: the dome's sum needs only one sun.
            let dome = if lux > 1.0 { read(Receptor::Dome) } else { (1.0 + cos) / 2.0 };
            println!("{lux} lx at {degrees} degrees: flat {flat:.4}, dome {dome:.4}");
            assert!((dome - (1.0 + cos) / 2.0).abs() < 0.004, "{degrees}: {dome}");
        }
    }

    // Shapes: a sphere lights as a point at its center while it is wholly above the horizon; a disk
    // on its axis gives pi L r^2 / (r^2 + d^2) (Kelvin's circular source).
    let (radius, nits, d) = (0.4, 2000.0, 1.5);
    for (emitter, want) in [
        (Emitter::Sphere { radius }, nits * PI * radius * radius / (d * d)),
        (
            Emitter::Disk { radius, sides: Sides::One },
            PI * nits * radius * radius / (radius * radius + d * d),
        ),
    ] {
        let mut builder = SceneBuilder::new("shape");
        builder.floor(6.0, dielectric("gray", Vec3::splat(0.5), 0.4));
        let pose = look_at_transform(DVec3::Y * d, DVec3::ZERO);
        builder.light("shape", emitter, LightStrength::Nits(Nit(nits)), Vec3::ONE, pose);
        let scene = builder.build().unwrap();
        for method in [ShadowMethod::Maps, ShadowMethod::Traced] {
            let shadows = ShadowSettings { method, ..ShadowSettings::default() };
            let got = incident::illuminance(
                &mut renderer,
                &scene,
                DVec3::ZERO,
                DVec3::Y,
                Receptor::Flat,
                shadows,
            )
            .unwrap();
            println!("{emitter:?}, {method:?}: {got:.2} for {want:.2}");
            assert!((got.get() / want - 1.0).abs() < 0.002, "{emitter:?}: {got} for {want}");
        }
    }
    // A uniform environment: pi L on a plane, and on a dome 2 pi L, the cardioid over all
    // directions.
    let mut even = floor_and_lamp.clone();
    even.nodes.iter_mut().for_each(|node| node.light = None);
    even.environment = crate::common::even(50.0);
    for (receptor, want, bound) in
        [(Receptor::Flat, 50.0 * PI, 0.002), (Receptor::Dome, 100.0 * PI, 0.004)]
    {
        let got = illuminance(&mut renderer, &even, DVec3::Y, DVec3::new(0.3, 1.0, 0.2), receptor)
            .unwrap()
            .get();
        println!("even environment, {receptor:?}: {got:.2} lx for {want:.2}");
        assert!((got / want - 1.0).abs() < bound, "{receptor:?}: {got} for {want}");
    }
    let traced = ShadowSettings { method: ShadowMethod::Traced, ..ShadowSettings::default() };
    for receptor in [Receptor::Flat, Receptor::Dome] {
        let under = DVec3::new(1.0, 0.0, 0.5);
        let dark = incident::illuminance(&mut renderer, &shade, under, DVec3::Y, receptor, traced)
            .unwrap();
        assert_eq!(dark, Lux(0.0));
        let open = DVec3::new(-2.0, 0.0, -2.0);
        let got = incident::illuminance(&mut renderer, &shade, open, DVec3::Y, receptor, traced)
            .unwrap()
            .get();
        let want =
            illuminance(&mut renderer, &floor_and_lamp, open, DVec3::Y, receptor).unwrap().get();
        assert!((got / want - 1.0).abs() < 0.004, "{receptor:?}: {got} for {want}");
    }

    let mut read =
        |point, normal| illuminance(&mut renderer, &floor_and_lamp, point, normal, Receptor::Flat);
    assert!(matches!(read(DVec3::NAN, DVec3::Y), Err(IncidentError::Point(..))));
    assert!(matches!(read(DVec3::ZERO, DVec3::ZERO), Err(IncidentError::Normal(..))));
    assert!(matches!(read(DVec3::ZERO, DVec3::NAN), Err(IncidentError::Normal(..))));
    assert!(matches!(read(DVec3::splat(1e4), DVec3::Y), Err(IncidentError::Outside { .. })));
}

#[test]
fn spot_and_incident_readings_agree_over_a_card_of_known_reflectance() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = card(Vec3::ONE);
    let on_device = renderer.upload(&scene).unwrap();
    let dim = RenderSettings { exposure: ev(-3.0), ..RenderSettings::default() };
    let picture = renderer.render(&on_device, &from_above(0.25, (64, 64)), &dim).unwrap();
    let nits_of_card: Vec<f32> = picture.nits.iter().map(|c| c[1]).collect();
    let spot = MeterMode::Spot { center: [0.5, 0.5], radius: 0.1 };
    let luminance = meter(&nits_of_card, 64, 64, spot).unwrap();
    let lux = illuminance(&mut renderer, &scene, DVec3::ZERO, DVec3::Y, Receptor::Flat).unwrap();
    let brdf = Brdf::of(&dielectric("gray", Vec3::splat(0.5), 1.0));
    let l = DVec3::new(3.0, 40.0, 1.0).normalize();
    let reflectance = PI * brdf.total(DVec3::Y, l, DVec3::Y).x / l.y;
    let want = Nit(lux.get() * reflectance / PI);
    assert!((luminance.get() / want.get() - 1.0).abs() < 0.003, "{luminance} for {want}");
    // By ISO 2720 the two meters differ by the card's reflectance against pi K / C.
    let stops = Exposure::from_luminance(luminance)
        .unwrap()
        .stops_above(Exposure::from_illuminance(lux, Receptor::Flat).unwrap());
    assert!((stops + (reflectance / (PI * 12.5 / 250.0)).log2()).abs() < 0.01, "{stops}");
}
