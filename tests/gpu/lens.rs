//! A real lens: both renderers against rays traced through its surfaces, and against each other.

use std::sync::{Arc, atomic::AtomicBool};

use crate::common::{exposed, pass_names, renderer, squares};
use glam::{DMat4, DVec2, DVec3, Vec3, dvec2};
use sunny16::{
    camera::CameraEffects,
    frame::{RenderSettings, Renderer},
    gpu_scene::View,
    optics::{
        MountedLens,
        glass::LINE_D,
        imaging::{CHANNELS, tangents},
        trace::Losses,
    },
    reference::{Film, FilmSettings, LensCamera, LightComponents, World},
    scene::{Projection, Scene, look::Look},
};

const SIZE: (u32, u32) = (1440, 960);

/// A look's lens for a picture: the camera's view, its effects and the lens.
struct Rigged {
    view: View,
    projection: Projection,
    effects: CameraEffects,
    lens: Arc<MountedLens>,
}

fn rigged(assignments: &[&str], size: (u32, u32)) -> Rigged {
    let look = Look::of(assignments).unwrap();
    let mounted = look.physical_camera().mount(Some(0.7), [size.0, size.1], None).unwrap();
    let effects = CameraEffects { bloom: None, ..mounted.effects };
    let vertical_fov = mounted.vertical_fov.unwrap() as f32;
    let lens = mounted.lens.unwrap();
    let projection = Projection::Perspective { vertical_fov, aspect: None, near: 0.01, far: None };
    let view = View::new(DMat4::IDENTITY, &projection, size.0, size.1);
    Rigged { view, projection, effects, lens }
}

fn raster(renderer: &mut Renderer, scene: &Scene, rigged: &Rigged) -> Vec<[f32; 3]> {
    let lens = Some(Arc::clone(&rigged.lens));
    let settings = RenderSettings { effects: rigged.effects, lens, ..exposed(100.0, 1.0) };
    let picture = crate::common::picture(renderer, scene, &rigged.view, &settings);
    assert!(picture.nits.iter().flatten().all(|value| value.is_finite()));
    picture.nits.iter().map(|c| [c[0], c[1], c[2]]).collect()
}

fn traced(scene: &Scene, rigged: &Rigged, size: (u32, u32), samples: u32) -> Vec<[f32; 3]> {
    let (width, height) = (size.0 as usize, size.1 as usize);
    let camera =
        LensCamera::new(DMat4::IDENTITY, rigged.projection, width, height, &rigged.effects)
            .with_lens(Some(Arc::clone(&rigged.lens)));
    let mut film = Film::new(width, height, FilmSettings::default());
    film.advance(&World::new(scene, DVec3::ZERO), &camera, samples, &AtomicBool::new(false));
    film.mean(LightComponents::total).iter().map(|c| c.as_vec3().to_array()).collect()
}

/// Sensor position (m) of a pixel's center, and back.
fn place_of(pixel: DVec2, gate: DVec2) -> DVec2 {
    dvec2(pixel.x / f64::from(SIZE.0) - 0.5, 0.5 - pixel.y / f64::from(SIZE.1)) * gate
}

fn pixel_of(place: DVec2, gate: DVec2) -> DVec2 {
    (place / gate * dvec2(1.0, -1.0) + 0.5) * dvec2(f64::from(SIZE.0), f64::from(SIZE.1))
}

/// Centroid of a channel's light within some pixels of a position.
fn middle(picture: &[[f32; 3]], around: DVec2, reach: f64, channel: usize) -> DVec2 {
    let (mut sum, mut weight) = (DVec2::ZERO, 0.0);
    for (index, light) in picture.iter().enumerate() {
        let at = dvec2((index % SIZE.0 as usize) as f64, (index / SIZE.0 as usize) as f64) + 0.5;
        if (at - around).abs().max_element() <= reach {
            let light = f64::from(light[channel]);
            sum += at * light;
            weight += light;
        }
    }
    assert!(weight > 0.0, "nothing near {around}");
    sum / weight
}

const LENSES: [(&str, &[&str]); 4] = [
    ("nikon-28-75-f2.8-wide", &["camera.lens.f_stop=8"]),
    ("wide-22", &["camera.lens.f_stop=8"]),
    ("schneider-anamorphic-31", &["camera.lens.f_stop=8", "camera.body.sensor=22x18"]),
    ("canon-70-200-f2.8", &["camera.lens.f_stop=8", "camera.lens.focal_length=135"]),
];

fn assignments<'a>(name: &'a str, more: &[&'a str]) -> Vec<String> {
    [format!("camera.lens.prescription=builtin:{name}")]
        .into_iter()
        .chain(more.iter().map(|s| (*s).to_owned()))
        .collect()
}

fn of(name: &str, more: &[&str], size: (u32, u32)) -> Rigged {
    let all = assignments(name, more);
    rigged(&all.iter().map(String::as_str).collect::<Vec<_>>(), size)
}

/// Points of the scene land on the sensor where exact chief rays do, in each color.
#[test]
fn points_land_where_chief_rays_hit_the_sensor() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut worst = 0f64;
    for (name, more) in LENSES {
        let rigged = of(name, more, SIZE);
        let gate = rigged.lens.gate();
        let wanted = [
            dvec2(180.0, 150.0),
            dvec2(720.0, 120.0),
            dvec2(1200.0, 810.0),
            dvec2(390.0, 600.0),
            dvec2(750.0, 495.0),
        ];
        let distance = 2000.0;
        let seen: Vec<(DVec2, DVec3)> = wanted
            .iter()
            .filter_map(|pixel| {
                let ray = rigged.lens.lens().chief_ray(place_of(*pixel, gate), CHANNELS[1])?;
                let to = tangents(&ray)?;
                Some((*pixel, DVec3::new(to.x, to.y, -1.0) * distance))
            })
            .collect();
        // Some twelve pixels wide: edges are aliased, which leaves half a pixel of the pinhole's
        // picture, or one for the doubled axis of an anamorphic lens.
        let side = 12.0 * gate.x / f64::from(SIZE.0) / rigged.lens.pinhole_distance() * distance;
        let scene = squares(
            &seen.iter().map(|(_, at)| (*at, side, Vec3::splat(100.0))).collect::<Vec<_>>(),
        );
        let picture = raster(&mut renderer, &scene, &rigged);
        for (pixel, at) in &seen {
            let to = dvec2(at.x, at.y) / distance;
            for (channel, wavelength) in CHANNELS.into_iter().enumerate() {
                // Expected position in this color: the point whose chief ray arrives there, by
                // Newton's method.
                let mut place = place_of(*pixel, gate);
                for _ in 0..20 {
                    let miss = tangents(&rigged.lens.lens().chief_ray(place, wavelength).unwrap())
                        .unwrap()
                        - to;
                    let stretch = rigged.lens.imaging().at(place).stretch[1];
                    place -= miss * rigged.lens.imaging().image_distance() / stretch;
                }
                let want = pixel_of(place, gate);
                let got = middle(&picture, *pixel, 25.0, channel);
                worst = worst.max((got - want).length());
                assert!(
                    (got - want).length() < 1.1,
                    "{name}, channel {channel}: {got} is not {want}"
                );
            }
        }
        assert!(seen.len() >= 4, "{name}");
    }
    println!("points are {worst:.3} pixels off at worst");
}

/// A point lands at the same millimeters on the sensor at any resolution and aspect.
#[test]
fn lens_images_keep_their_size_at_any_resolution() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let (name, more) = LENSES[0];
    let place = dvec2(4e-3, 8e-3);
    for size in [(360, 240), (720, 480), (135, 240)] {
        let rigged = of(name, more, size);
        let pixel = rigged.lens.gate().x / f64::from(size.0);
        let ray = rigged.lens.lens().chief_ray(place, CHANNELS[1]).unwrap();
        let (to, distance) = (tangents(&ray).unwrap(), 2000.0);
        let side = 1e-3 / rigged.lens.pinhole_distance() * distance;
        let at = DVec3::new(to.x, to.y, -1.0) * distance;
        let picture = raster(&mut renderer, &squares(&[(at, side, Vec3::splat(100.0))]), &rigged);
        let (mut sum, mut light) = (DVec2::ZERO, 0.0);
        for (index, value) in picture.iter().enumerate() {
            let (x, y) = (index as u32 % size.0, index as u32 / size.0);
            let from_middle = dvec2(f64::from(x) + 0.5, f64::from(size.1) - f64::from(y) - 0.5)
                - dvec2(f64::from(size.0), f64::from(size.1)) / 2.0;
            sum += from_middle * pixel * f64::from(value[1]);
            light += f64::from(value[1]);
        }
        let off = (sum / light - place) * 1e3;
        println!("{name}, {size:?}: off by {off:.4} mm, a pixel has {:.4} mm", pixel * 1e3);
        assert!(off.length() < 0.6 * pixel * 1e3, "{size:?}: {off}");
    }
}

/// Uniform light darkens toward the corners as the pupil closes, in both renderers.
#[test]
fn vignetting_matches_the_pupil_area() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (name, more) in [
        ("dgauss-50-f2", &["camera.lens.f_stop=2.1", "camera.lens.focus=infinity"][..]),
        ("nikon-28-75-f2.8-wide", &["camera.lens.f_stop=4", "camera.lens.focus=infinity"]),
        (
            "schneider-anamorphic-31",
            &["camera.lens.f_stop=4", "camera.body.sensor=18x15", "camera.lens.focus=infinity"],
        ),
    ] {
        let size = (96, 64);
        let rigged = of(name, more, size);
        let (gate, lens) = (rigged.lens.gate(), rigged.lens.lens());
        // A wall that fills the view.
        let scene = squares(&[(DVec3::new(0.0, 0.0, -1000.0), 20_000.0, Vec3::splat(100.0))]);
        let fast = raster(&mut renderer, &scene, &rigged);
        let slow = traced(&scene, &rigged, size, 16);
        let middle = lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
        let (mut worst_fast, mut sums) = (0f64, [0f64; 2]);
        for (index, (fast, slow)) in fast.iter().zip(&slow).enumerate() {
            if index % 37 != 0 {
                continue;
            }
            let pixel = dvec2((index % 96) as f64 + 0.5, (index / 96) as f64 + 0.5);
            let place = dvec2(pixel.x / 96.0 - 0.5, 0.5 - pixel.y / 64.0) * gate;
            let want = 100.0 * lens.illuminance(place, LINE_D, Losses::Ignored) / middle;
            worst_fast = worst_fast.max((f64::from(fast[1]) - want).abs());
            sums[0] += want;
            sums[1] += f64::from(slow[1]);
        }
        let mean = sums[1] / sums[0] - 1.0;
        println!(
            "{name}: raster {worst_fast:.2} % of the middle at worst, path tracer's mean {:+.2} %",
            mean * 100.0
        );
        // The numerical pupil area is accurate to a percent (its own test); rims fall in the grid's
        // cells.
        assert!(worst_fast < 2.5, "{name}: {worst_fast}");
        assert!(mean.abs() < 0.01, "{name}: {mean}");
    }
}

/// A wall of squares, sharp and out of focus: blocks of 8x8 pixels in both renderers.
#[test]
fn rasterizer_matches_path_tracer_through_a_lens() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let size = (96, 64);
    for (name, more, bound) in [
        ("nikon-28-75-f2.8-wide", &["camera.lens.f_stop=16"][..], 0.03),
        ("wide-22", &["camera.lens.f_stop=16"], 0.03),
        ("dgauss-50-f2", &["camera.lens.f_stop=4", "camera.lens.focus=2"], 0.03),
        (
            "dgauss-50-f2",
            &[
                "camera.lens.f_stop=4",
                "camera.lens.focus=2",
                "effects.distortion.enabled=false",
                "effects.vignetting.enabled=false",
            ],
            0.03,
        ),
        (
            "nikon-28-75-f2.8-wide",
            &[
                "camera.lens.f_stop=16",
                "effects.distortion.enabled=false",
                "effects.chromatic_aberration.enabled=false",
            ],
            0.03,
        ),
    ] {
        let rigged = of(name, more, size);
        let reach = rigged.lens.imaging().reach() * 4.0;
        let step = reach.x / 5.5;
        let mut places = Vec::new();
        for y in -8..=8 {
            for x in -8..=8 {
                // Not aligned with the pixels.
                let moved = |by: f64| (f64::from(x * 17 + y) * by).rem_euclid(1.0) * 0.3;
                let nits = Vec3::new(100.0, 60.0 + 5.0 * x as f32, 60.0 + 5.0 * y as f32);
                places.push((
                    DVec3::new(
                        f64::from(x) + moved(0.618_034),
                        f64::from(y) + moved(0.754_878),
                        0.0,
                    ) * step
                        - DVec3::Z * 4.0,
                    step * 0.6,
                    nits,
                ));
            }
        }
        let scene = squares(&places);
        // Without anti-aliasing, the raster picture has eight times the resolution.
        let fine = of(name, more, (size.0 * 8, size.1 * 8));
        let fast = raster(&mut renderer, &scene, &fine);
        let slow = traced(&scene, &rigged, size, 160);
        let blocks = |picture: &[[f32; 3]], finer: usize| -> Vec<DVec3> {
            let (across, down, side) = (size.0 as usize / 8, size.1 as usize / 8, 8 * finer);
            let of = |block: usize| {
                let inside = (0..side * side).map(|i| {
                    let (x, y) =
                        (block % across * side + i % side, block / across * side + i / side);
                    Vec3::from(picture[y * size.0 as usize * finer + x]).as_dvec3()
                });
                inside.sum::<DVec3>() / (side * side) as f64
            };
            (0..across * down).map(of).collect()
        };
        let (fast, slow) = (blocks(&fast, 8), blocks(&slow, 1));
        let mean = slow.iter().sum::<DVec3>() / slow.len() as f64;
        let squares = fast.iter().zip(&slow).map(|(a, b)| (*a - *b).length_squared()).sum::<f64>()
            / fast.len() as f64;
        let error = squares.sqrt() / mean.length();
        println!(
            "{name} {more:?}: {:.2} % on blocks, the picture's mean {:+.2} %",
            error * 100.0,
            {
                let own = fast.iter().sum::<DVec3>() / fast.len() as f64;
                (own.length() / mean.length() - 1.0) * 100.0
            }
        );
        assert!(error < bound, "{name} {more:?}: {error}");
    }
}

#[test]
fn lens_adds_only_its_own_pass() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let rigged = of("dgauss-50-f2", &["camera.lens.f_stop=8"], (64, 48));
    let scene = squares(&[(DVec3::NEG_Z, 0.1, Vec3::ONE)]);
    let on_device = renderer.upload(&scene).unwrap();
    let mut names = |lens: Option<Arc<MountedLens>>| -> Vec<String> {
        let prepared = renderer
            .plan(&on_device, &rigged.view, &RenderSettings { lens, ..RenderSettings::default() })
            .unwrap();
        pass_names(&prepared)
    };
    let (without, with) = (names(None), names(Some(Arc::clone(&rigged.lens))));
    assert_eq!(
        with.iter().filter(|name| *name != "lens image").collect::<Vec<_>>(),
        without.iter().collect::<Vec<_>>()
    );
    assert_eq!(with.len(), without.len() + 1);
    // All its aberrations off: the pinhole's picture, at no cost.
    let off = ["distortion", "chromatic_aberration", "vignetting"]
        .map(|fault| format!("effects.{fault}.enabled=false"));
    let dials = [&["camera.lens.f_stop=8"][..], &off.each_ref().map(String::as_str)].concat();
    assert_eq!(names(Some(of("dgauss-50-f2", &dials, (64, 48)).lens)), without);
    drop(on_device);
}
