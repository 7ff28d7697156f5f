//! Starbursts on the device against the aperture's own table and against energy conservation and
//! geometry.

use std::f64::consts::{PI, TAU};

use crate::common::{add_square, exposed, green, perspective, pixel_ray, renderer, squares, total};
use glam::{DMat4, DVec3, Vec3, dvec3};
use sunny16::{
    camera::{CameraEffects, Iris, effects::Starburst},
    frame::{RenderSettings, RenderedImage, Renderer},
    gpu_scene::View,
    optics::{aperture::Aperture, starburst},
    photometry::{Candela, Emitter, LightStrength, Lux, Nit, color::luminance, lights::Sides},
    scene::{
        Scene,
        build::{SceneBuilder, look_at_transform},
    },
};

const SIZE: (u32, u32) = (320, 240);
const GATE: f64 = 0.036;
const WHITE: f64 = 100.0;

/// Picture width over the image distance of a 50 mm lens at infinity.
fn camera() -> View {
    let fov = 2.0 * (GATE / 2.0 / 0.05 * f64::from(SIZE.1) / f64::from(SIZE.0)).atan();
    perspective(DVec3::ZERO, DVec3::NEG_Z, fov as f32, 0.01, SIZE)
}

/// Tangent of the angle of a pixel on the axis.
fn pitch() -> f64 {
    GATE / 0.05 / f64::from(SIZE.0)
}

fn burst(blades: u32, f_number: f64) -> Starburst {
    Starburst {
        iris: Iris { blades, curvature: 0.0, rotation: 0.3 },
        f_number,
        gate_width: GATE,
        squeeze: 1.0,
        dust: 0.0,
        scratches: 0.0,
        seed: 0,
        points: true,
    }
}

fn render(renderer: &mut Renderer, scene: &Scene, settings: Option<Starburst>) -> RenderedImage {
    let effects = CameraEffects { starburst: settings, ..CameraEffects::default() };
    let settings = RenderSettings { effects, ..exposed(WHITE, 1.0) };
    let mut on_device = renderer.upload_for(scene, &settings.shadows).unwrap();
    on_device.enable_offscreen_flares(renderer.gpu(), scene).unwrap();
    let picture = renderer.render(&on_device, &camera(), &settings).unwrap();
    assert!(picture.nits.iter().flatten().all(|value| value.is_finite() && *value >= 0.0));
    picture
}

/// A light of these candela at a position, and black squares (center, side).
fn lamp(candela: f64, place: DVec3, squares: &[(DVec3, f64)]) -> Scene {
    let mut builder = SceneBuilder::new("lamp");
    builder.point_light_candela("lamp", Candela(candela), Vec3::ONE, place);
    // The scene is not empty.
    add_square(&mut builder, dvec3(0.0, 0.0, 50.0), 1.0, Vec3::ZERO);
    for &(center, side) in squares {
        add_square(&mut builder, center, side, Vec3::ZERO);
    }
    builder.build().unwrap()
}

/// The center of a pixel, at a distance along the axis.
fn on_pixel(x: usize, y: usize, distance: f64) -> DVec3 {
    let (_, along) = pixel_ray(&camera(), x, y);
    along * (distance / -along.z)
}

#[test]
fn starburst_of_a_point_light_conserves_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (blades, f_number, x, y) in [(6, 16.0, 160, 120), (0, 8.0, 160, 120), (5, 2.8, 100, 170)] {
        let place = on_pixel(x, y, 4.0);
        let candela = 2.0 * WHITE * 1000.0 * 16.0 * pitch().powi(2);
        let picture =
            render(&mut renderer, &lamp(candela, place, &[]), Some(burst(blades, f_number)));
        // Illuminance at the lens over the solid angle of a pixel.
        let cosine = -place.z / place.length();
        let want = candela / place.length_squared() / (pitch().powi(2) * cosine.powi(3));
        let got = total(&picture);
        println!("{blades} blades, f/{f_number}: light {:+.3} %", (got / want - 1.0) * 100.0);
        assert!((got / want - 1.0).abs() < 0.01, "{got} for {want}");
        // Pixel by pixel as in the table.
        let aperture = Aperture { iris: burst(blades, f_number).iris, ..Aperture::default() };
        let table = starburst::StarburstPattern::new(&aperture).unwrap();
        let steps = starburst::steps(GATE / f64::from(SIZE.0), f_number);
        let values = green(&picture);
        let mut compared = 0;
        for (dx, dy) in [
            (0i32, 0i32),
            (1, 0),
            (0, -1),
            (2, 1),
            (5, -3),
            (-9, 4),
            (17, 17),
            (-30, 8),
            (3, 28),
            (40, -35),
        ] {
            let center = [f64::from(dx) * steps, f64::from(-dy) * steps];
            let want = want * table.on_square(center, steps).y;
            let got = values[(y as i32 + dy) as usize * 320 + (x as i32 + dx) as usize];
            // Error of half floats and of the light's sub-pixel position.
            if want > 1.5e-3 * WHITE {
                assert!((got / want - 1.0).abs() < 0.01, "{dx} {dy}: {got} for {want}");
                compared += 1;
            }
        }
        assert!(compared >= 4, "{compared}");
    }
}

/// The pattern keeps its millimeters on the sensor at any resolution and aspect: a point lamp's
/// light between two squares around it is that of the table.
#[test]
fn starbursts_keep_their_size_at_any_resolution() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let f_number = 16.0;
    let aperture = Aperture { iris: burst(6, f_number).iris, ..Aperture::default() };
    let table = starburst::StarburstPattern::new(&aperture).unwrap();
    let beyond = |mm: f64| table.beyond(starburst::steps(mm * 1e-3, f_number));
    let (candela, distance) = (800.0, 4.0);
    let scene = lamp(candela, dvec3(0.0, 0.0, -distance), &[]);
    for size in [(96, 64), (192, 128), (72, 128)] {
        let aspect = f64::from(size.0) / f64::from(size.1);
        let gate = f64::min(0.036, 0.024 * aspect);
        let pixel = gate / f64::from(size.0);
        let fov = 2.0 * (gate / aspect / 2.0 / 0.05).atan();
        let view = perspective(DVec3::ZERO, DVec3::NEG_Z, fov as f32, 0.01, size);
        let burst = Starburst { gate_width: gate, ..burst(6, f_number) };
        let effects = CameraEffects { starburst: Some(burst), ..CameraEffects::default() };
        let settings = RenderSettings { effects, ..exposed(WHITE, 1.0) };
        let on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
        let picture = renderer.render(&on_device, &view, &settings).unwrap();
        let light = candela / distance.powi(2) / (pixel / 0.05).powi(2);
        for (from, to) in [(1.5, 3.0), (3.0, 6.0)] {
            let ring = |index: usize| {
                let (x, y) = (index as u32 % size.0, index as u32 / size.0);
                let away = |at: u32, of: u32| {
                    (f64::from(at) + 0.5 - f64::from(of) / 2.0).abs() * pixel * 1e3
                };
                (from..to).contains(&away(x, size.0).max(away(y, size.1)))
            };
            let values = picture.nits.iter().enumerate().filter(|(index, _)| ring(*index));
            let got: f64 =
                values.map(|(_, p)| luminance(Vec3::from_array(*p).as_dvec3())).sum::<f64>();
            let want = light * (beyond(from) - beyond(to));
            println!("{size:?}, {from} to {to} mm: {got:.2} nit for {want:.2}");
            assert!((got / want - 1.0).abs() < 0.03, "{size:?}: {got}, not {want}");
        }
    }
}

#[test]
fn emissive_surfaces_conserve_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for side in [0.9, 9.0] {
        let scene = squares(&[(on_pixel(170, 110, 4.0), side * 4.0 * pitch(), Vec3::splat(2e6))]);
        let plain = render(&mut renderer, &scene, None);
        let spread = render(&mut renderer, &scene, Some(burst(6, 16.0)));
        let change = total(&spread) / total(&plain) - 1.0;
        let dark =
            |picture: &RenderedImage| green(picture).iter().filter(|&&value| value == 0.0).count();
        println!(
            "a square of {side} pixels: light {:+.3} %, dark pixels {} of {}",
            change * 100.0,
            dark(&spread),
            dark(&plain)
        );
        assert!(change.abs() < 0.01, "{change}");
        assert!(dark(&spread) < dark(&plain) / 2);
        // The redistributed light is subtracted at its source.
        let brightest =
            |picture: &RenderedImage| green(picture).iter().fold(0f64, |a, &b| a.max(b));
        assert!(brightest(&spread) < brightest(&plain));
    }
}

#[test]
fn starburst_of_an_area_light_conserves_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let sphere = Emitter::Sphere { radius: 0.05 };
    let panel = Emitter::Rectangle { width: 0.2, height: 0.05, sides: Sides::One };
    for (emitter, what) in [(sphere, "sphere"), (panel, "panel")] {
        let mut builder = SceneBuilder::new("body");
        let place = dvec3(0.1, 0.1, -4.0);
        builder.light(
            "lamp",
            emitter,
            LightStrength::Nits(Nit(1e6)),
            Vec3::ONE,
            look_at_transform(place, DVec3::ZERO),
        );
        let scene = builder.build().unwrap();
        let plain = render(&mut renderer, &scene, None);
        let spread = render(&mut renderer, &scene, Some(burst(6, 16.0)));
        let change = total(&spread) / total(&plain) - 1.0;
        println!("{what}: light {:+.3} %", change * 100.0);
        assert!(total(&plain) > 1e6 && change.abs() < 0.01, "{what}: {change}");
        let dark =
            |picture: &RenderedImage| green(picture).iter().filter(|&&value| value == 0.0).count();
        assert!(dark(&spread) < dark(&plain) / 2, "{what}");
    }
}

/// Directions in which a ring around a position has peaks.
fn spikes(picture: &RenderedImage, (x, y): (usize, usize), ring: std::ops::Range<f64>) -> usize {
    const BINS: usize = 120;
    let (mut light, mut count) = ([0f64; BINS], [0f64; BINS]);
    for (index, value) in green(picture).into_iter().enumerate() {
        let (dx, dy) = ((index % 320) as f64 - x as f64, y as f64 - (index / 320) as f64);
        if ring.contains(&dx.hypot(dy)) {
            let bin = (dy.atan2(dx).rem_euclid(TAU) / TAU * BINS as f64) as usize % BINS;
            light[bin] += value * (dx * dx + dy * dy);
            count[bin] += 1.0;
        }
    }
    let mean: Vec<f64> =
        light.iter().zip(&count).map(|(light, count)| light / count.max(1.0)).collect();
    let mut sorted = mean.clone();
    sorted.sort_by(f64::total_cmp);
    let threshold = 3.0 * sorted[BINS / 2];
    let peak = |bin: usize| {
        (1..=3).all(|d| {
            mean[bin] > mean[(bin + d) % BINS] && mean[bin] >= mean[(bin + BINS - d) % BINS]
        })
    };
    (0..BINS).filter(|&bin| mean[bin] > threshold && peak(bin)).count()
}

#[test]
fn spike_count_matches_blades() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = lamp(2.0 * WHITE * 3e4 * 16.0 * pitch().powi(2), on_pixel(160, 120, 4.0), &[]);
    for (blades, want) in [(5, 10), (6, 6), (8, 8)] {
        let picture = render(&mut renderer, &scene, Some(burst(blades, 16.0)));
        assert_eq!(spikes(&picture, (160, 120), 60.0..115.0), want, "{blades} blades");
    }
}

#[test]
fn occluded_lights_have_no_starburst() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let settings = Some(burst(6, 16.0));
    let candela = 2.0 * WHITE * 1000.0 * 16.0 * pitch().powi(2);
    // Between two columns of pixels.
    let place = dvec3(0.0, on_pixel(160, 120, 4.0).y, -4.0);
    let free = total(&render(&mut renderer, &lamp(candela, place, &[]), settings));
    // A square before the light, with its right edge left of it, on it, and far to its right.
    let edge = |right: f64| [(dvec3(place.x / 2.0 + right - 0.5, 0.0, -2.0), 1.0)];
    for (right, want) in [(-0.2, 1.0), (0.0, 0.5), (0.2, 0.0)] {
        let seen =
            total(&render(&mut renderer, &lamp(candela, place, &edge(right)), settings)) / free;
        println!("edge {right} m from the lamp: {seen:.3} of its light");
        assert!((seen - want).abs() < 0.02, "{right}: {seen}");
    }
    // The body of a light, half of it hidden.
    let sphere = |squares: &[(DVec3, f64)]| {
        let mut builder = SceneBuilder::new("sphere");
        let emitter = Emitter::Sphere { radius: 0.1 };
        builder.light(
            "lamp",
            emitter,
            LightStrength::Nits(Nit(1e6)),
            Vec3::ONE,
            DMat4::from_translation(place),
        );
        for &(center, side) in squares {
            add_square(&mut builder, center, side, Vec3::ZERO);
        }
        builder.build().unwrap()
    };
    // Far from the light, where only its spikes are.
    let spread = |picture: &RenderedImage| {
        let far = green(picture).into_iter().enumerate().filter(|(index, _)| {
            ((index % 320) as f64 - 160.0).hypot((index / 320) as f64 - 120.0) > 40.0
        });
        far.map(|(_, value)| value).sum::<f64>()
    };
    let all = spread(&render(&mut renderer, &sphere(&[]), settings));
    for (right, want) in [(-0.2, 1.0), (0.0, 0.5), (0.2, 0.0)] {
        let seen = spread(&render(&mut renderer, &sphere(&edge(right)), settings)) / all;
        println!("edge {right} m from the sphere's middle: {seen:.3} of its spikes");
        assert!((seen - want).abs() < 0.05, "{right}: {seen}");
    }
}

#[test]
fn offscreen_lights_cast_starbursts_unless_occluded() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // 40 pixels to the right of the border, 2 m away.
    let place = dvec3(200.0 * pitch() * 2.0, 0.0, -2.0);
    let candela = WHITE * 1e5 * 4.0 * pitch().powi(2);
    let star = Some(Starburst {
        iris: Iris { blades: 6, curvature: 0.0, rotation: PI / 6.0 },
        ..burst(6, 16.0)
    });
    let free = total(&render(&mut renderer, &lamp(candela, place, &[]), star));
    let hidden = total(&render(&mut renderer, &lamp(candela, place, &[(place * 0.5, 0.05)]), star));
    println!("{free} nit over all pixels, {hidden} where it is hidden");
    assert!(free > 100.0 && hidden == 0.0, "{free} {hidden}");
    // Behind the camera there is no starburst.
    let behind = total(&render(&mut renderer, &lamp(candela, -place, &[]), star));
    assert_eq!(behind, 0.0);
}

#[test]
fn sun_disk_blurs_its_spikes_and_conserves_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("sun");
    let pose = look_at_transform(DVec3::ZERO, -on_pixel(150, 100, 1.0));
    // Large and dim: the disk's luminance stays within half floats.
    let radius = 0.02;
    let sun = Emitter::Sun { angular_radius: radius };
    builder.light("sun", sun, LightStrength::Lux(Lux(1e4)), Vec3::ONE, pose);
    add_square(&mut builder, dvec3(0.0, 0.0, 50.0), 1.0, Vec3::ZERO);
    let scene = builder.build().unwrap();
    let plain = render(&mut renderer, &scene, None);
    let spread = render(&mut renderer, &scene, Some(burst(6, 22.0)));
    let change = total(&spread) / total(&plain) - 1.0;
    println!("the sun's light {:+.3} %", change * 100.0);
    assert!(change.abs() < 0.01, "{change}");
    assert_eq!(spikes(&spread, (150, 100), 50.0..95.0), 6);
    // A second frame gives the same picture, bit for bit.
    assert_eq!(render(&mut renderer, &scene, Some(burst(6, 22.0))).nits, spread.nits);
}

#[test]
fn disabled_starbursts_have_no_passes_and_extreme_settings_are_harmless() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = lamp(1e4, on_pixel(160, 120, 4.0), &[]);
    let plain = render(&mut renderer, &scene, None);
    assert!(
        plain
            .times
            .iter()
            .all(|time| !time.name.contains("starburst") && !time.name.contains("flare sources"))
    );
    assert_eq!(total(&plain), 0.0);
    let hidden = render(&mut renderer, &scene, Some(Starburst { points: false, ..burst(6, 16.0) }));
    assert_eq!(total(&hidden), 0.0);
    // The extremes of f-numbers; a light at the limit of floats.
    for (f_number, candela) in [(0.5, 1e4), (1024.0, 1e4), (16.0, 1e30)] {
        let scene = lamp(candela, on_pixel(160, 120, 4.0), &[]);
        let soiled = Starburst { dust: 1.0, scratches: 1.0, squeeze: 0.25, ..burst(3, f_number) };
        render(&mut renderer, &scene, Some(soiled));
    }
}
