//! Films: batches, stops, files, target errors; and the effects of a lens.

use std::{
    f64::consts::PI,
    fs,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

use glam::{DMat4, DVec2, DVec3, Vec2, Vec3};

use super::*;
use crate::{
    camera::{CameraEffects, CameraRig, Iris, ThinLens, body::SensorSize, effects::DepthOfField},
    optics::focus::circle_of_confusion,
    photometry::{color::luminance, units::Lumen},
    scene::{
        Material, Projection, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
};

const SIZE: (usize, usize) = (40, 20);
const EYE: DVec3 = DVec3::new(0.0, 1.0, 2.0);

/// A plane and a ball under a light; the left half of the picture is evenly lit.
fn scene() -> Scene {
    let mut builder = SceneBuilder::new("film");
    let material = builder.add_material(dielectric("matte", Vec3::splat(0.5), 1.0));
    let mesh = builder.add_mesh("plane", shapes::plane(Vec2::splat(8.0), 1, 1), material);
    builder.instance("plane", mesh, DMat4::IDENTITY);
    let ball = builder.add_mesh("ball", shapes::icosphere(0.3, 3), material);
    builder.instance("ball", ball, DMat4::from_translation(DVec3::new(0.4, 0.3, 0.3)));
    let glow = Material {
        emission: Vec3::splat(5000.0),
        double_sided: true,
        ..dielectric("glow", Vec3::ZERO, 1.0)
    };
    let glow = builder.add_material(glow);
    let mesh = builder.add_mesh("glow", shapes::plane(Vec2::splat(0.3), 1, 1), glow);
    builder.instance("glow", mesh, DMat4::from_translation(DVec3::new(1.0, 1.2, 0.3)));
    builder.point_light_lumens("lamp", Lumen(400.0), Vec3::ONE, DVec3::new(-0.5, 2.0, 0.5));
    Scene { emissive_lights: true, ..builder.build().unwrap() }
}

fn camera() -> Pinhole {
    let fov = Projection::Perspective { vertical_fov: 0.6, aspect: None, near: 0.01, far: None };
    Pinhole::new(look_at_transform(EYE, DVec3::ZERO), fov, SIZE.0, SIZE.1)
}

/// Stops or pauses after a number of checks.
struct After {
    questions: AtomicU32,
    at_once: bool,
}

impl After {
    fn new(questions: u32, at_once: bool) -> Self {
        Self { questions: AtomicU32::new(questions), at_once }
    }

    fn over(&self) -> bool {
        self.questions
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(1)))
            == Ok(0)
    }
}

impl CancelToken for After {
    fn should_stop(&self) -> bool {
        self.at_once && self.over()
    }

    fn pause(&self) -> bool {
        self.over()
    }
}

static NEVER: AtomicBool = AtomicBool::new(false);

#[test]
fn stops_files_and_threads_change_nothing() {
    let scene = scene();
    let world = World::new(&scene, EYE);
    let camera = camera();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("film");
    for target_error in [None, Some(0.05)] {
        let settings = FilmSettings { target_error, ..FilmSettings::default() };
        let print = Fingerprint::of(&scene, &settings);
        let mut whole = Film::new(SIZE.0, SIZE.1, settings);
        assert!(whole.advance(&world, &camera, 140, &NEVER));
        let mut parts = Film::new(SIZE.0, SIZE.1, settings);
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for step in 0.. {
            assert!(step < 10_000, "it never ends");
            let cancel_token = After::new(40 + 977 * (step % 7), step % 2 == 0);
            let complete = one.install(|| parts.advance(&world, &camera, 140, &cancel_token));
            parts.write(&print, &mut fs::File::create(&file).unwrap()).unwrap();
            parts = Film::read(&file, SIZE, settings, &print).unwrap();
            if complete {
                break;
            }
        }
        assert_eq!(whole, parts);
        assert_eq!(target_error.is_some(), whole.converged() > 0.0, "{}", whole.converged());
    }
}

#[test]
fn films_of_any_split_join_to_the_same_picture() {
    let scene = scene();
    let world = World::new(&scene, EYE);
    let camera = camera();
    let settings = FilmSettings::default();
    let part = |range: SampleRange| {
        let mut film = Film::starting_at(range.first, SIZE, settings);
        assert!(film.add(&world, &camera, range.count(), &NEVER));
        assert_eq!(film.ranges().unwrap(), [range]);
        film
    };
    let mut random = sampler::Sampler::new(SamplerKind::Independent, 5, 0, 0, 0);
    for samples in [1, 13, 32, 45] {
        let whole = part(SampleRange { first: 0, end: samples });
        for _ in 0..4 {
            let mut cuts: Vec<u32> =
                (0..5).map(|_| (random.next_1d() * f64::from(samples)) as u32).collect();
            cuts.extend([0, samples]);
            cuts.sort_unstable();
            cuts.dedup();
            let ranges: Vec<SampleRange> =
                cuts.windows(2).map(|cut| SampleRange { first: cut[0], end: cut[1] }).collect();
            let (mut joined, mut by_planes) =
                (Film::new(SIZE.0, SIZE.1, settings), Film::new(SIZE.0, SIZE.1, settings));
            for range in &ranges {
                let film = part(*range);
                for (index, block) in film.block_ranges().unwrap().into_iter().enumerate() {
                    by_planes.append_planes(block, &film.planes(index)).unwrap();
                }
                joined.append(film).unwrap();
            }
            assert!(joined == whole && by_planes == whole, "{samples}: {cuts:?}");
        }
    }
    // Samples have equal weights beside a gap.
    let [first, last] =
        [SampleRange { first: 0, end: 5 }, SampleRange { first: 8, end: 15 }].map(part);
    let mut gap = first.clone();
    gap.append(last.clone()).unwrap();
    let [all, a, b] = [&gap, &first, &last].map(|film| film.mean(LightComponents::total));
    for ((all, a), b) in all.iter().zip(a).zip(b) {
        let expected = (a * 5.0 + b * 7.0) / 12.0;
        assert!((*all - expected).length() <= 1e-12 * expected.length(), "{all} {expected}");
    }
    assert!(gap.counts().iter().all(|count| *count == 12) && gap.relative_error() > 0.0);
    // Earlier and common samples, and other sizes, are refused.
    assert_eq!(gap.append(first.clone()), Err(AppendError::Order));
    assert_eq!(gap.append(last), Err(AppendError::Order));
    assert_eq!(gap.append(Film::new(8, 8, settings)), Err(AppendError::Size));
    let mut planes = first.planes(0);
    let range = SampleRange { first: 16, end: 20 };
    assert_eq!(
        gap.append_planes(SampleRange { end: 19, ..range }, &planes),
        Err(AppendError::Size)
    );
    planes.pop();
    assert_eq!(gap.append_planes(range, &planes), Err(AppendError::Size));
}

/// A camera with infinite ray weights in some columns: their product with the light, black
/// included, is NaN or infinite.
struct Endless(Pinhole);

impl CameraModel for Endless {
    fn ray(&self, place: DVec2, lens: DVec2, time: f64) -> camera::CameraRay {
        let ray = CameraModel::ray(&self.0, place, lens, time);
        camera::CameraRay {
            weight: DVec3::splat(if place.x < 3.0 { f64::INFINITY } else { 1.0 }),
            ..ray
        }
    }
}

#[test]
fn nan_paths_are_counted_and_black() {
    let scene = scene();
    let world = World::new(&scene, EYE);
    let settings = FilmSettings::default();
    let mut film = Film::new(SIZE.0, SIZE.1, settings);
    assert!(film.add(&world, &camera(), 5, &NEVER));
    assert_eq!(film.non_finite_paths(), 0);
    let mut film = Film::new(SIZE.0, SIZE.1, settings);
    assert!(film.add(&world, &Endless(camera()), 5, &NEVER));
    assert_eq!(film.non_finite_paths(), 3 * SIZE.1 as u64 * 5);
    for (index, light) in film.mean(LightComponents::total).into_iter().enumerate() {
        assert!(
            light.is_finite() && (index % SIZE.0 >= 3 || light == DVec3::ZERO),
            "{index}: {light}"
        );
    }
    // The count survives a stop.
    let dir = tempfile::tempdir().unwrap();
    let (file, print) = (dir.path().join("film"), Fingerprint::default());
    film.write(&print, &mut fs::File::create(&file).unwrap()).unwrap();
    assert_eq!(Film::read(&file, SIZE, settings, &print).unwrap(), film);
}

#[test]
fn files_of_other_pictures_and_damaged_ones_are_refused() {
    let scene = scene();
    let settings = FilmSettings::default();
    let film = Film::new(8, 5, settings);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("film");
    let print = Fingerprint::of(&scene, &settings);
    let mut bytes = Vec::new();
    film.write(&print, &mut bytes).unwrap();
    let read = |bytes: &[u8], size, print: &Fingerprint| {
        fs::write(&file, bytes).unwrap();
        let result = Film::read(&file, size, settings, print);
        assert_eq!(fs::read(&file).unwrap(), bytes, "the file was touched");
        result.map_err(|error| error.cause)
    };
    assert_eq!(read(&bytes, (8, 5), &print).unwrap(), film);
    let other_size = ResumeErrorCause::Size { found: (8, 5), expected: (5, 8) };
    assert_eq!(read(&bytes, (5, 8), &print), Err(other_size));
    let other = Fingerprint::of(&Scene::default(), &settings);
    assert_eq!(read(&bytes, (8, 5), &other), Err(ResumeErrorCause::OtherInputs));
    let other = Fingerprint::of(&scene, &FilmSettings { seed: 1, ..settings });
    assert_eq!(read(&bytes, (8, 5), &other), Err(ResumeErrorCause::OtherInputs));
    for at in (0..bytes.len()).step_by(7).chain(bytes.len() - 16..bytes.len()) {
        let mut broken = bytes.clone();
        broken[at] ^= 0x10;
        assert!(read(&broken, (8, 5), &print).is_err(), "byte {at}");
        assert!(read(&bytes[..at], (8, 5), &print).is_err(), "cut at {at}");
    }
    let longer = read(&[&bytes[..], &[0]].concat(), (8, 5), &print);
    assert_eq!(longer, Err(ResumeErrorCause::Damaged));
    let missing = Film::read(&dir.path().join("none"), (8, 5), settings, &print).unwrap_err();
    assert!(matches!(missing.cause, ResumeErrorCause::Unreadable(_)), "{missing}");
}

#[test]
fn the_stated_error_is_near_the_true_one() {
    let scene = scene();
    let world = World::new(&scene, EYE);
    let camera = camera();
    let run = |seed, samples, target_error| {
        let mut film = Film::new(
            SIZE.0,
            SIZE.1,
            FilmSettings { seed, target_error, ..FilmSettings::default() },
        );
        assert!(film.advance(&world, &camera, samples, &NEVER));
        film
    };
    let luminances = |film: &Film| {
        film.mean(LightComponents::total).into_iter().map(luminance).collect::<Vec<_>>()
    };
    let truth = luminances(&run(99, 2048, None));
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    let error = |film: &Film| {
        let squares: f64 = luminances(film).iter().zip(&truth).map(|(a, b)| (a - b).powi(2)).sum();
        (squares / truth.len() as f64).sqrt() / mean
    };
    for samples in [16, 64, 100] {
        let film = run(1, samples, None);
        let (stated, real) = (film.relative_error(), error(&film));
        let independent = (film.variance().iter().sum::<f64>() / truth.len() as f64).sqrt() / mean;
        println!(
            "{samples}: stated {stated:.5}, real {real:.5}, as of independent samples {independent:.5}"
        );
        // Not below the true error beyond noise, and closer to it than the variance of samples.
        assert!(
            stated > 0.85 * real && stated < 2.2 * real && stated < independent,
            "{samples}: {stated} {real}"
        );
    }
    // The target is reached, with fewer samples where the picture is smooth.
    let film = run(2, 1 << 14, Some(0.03));
    let counts = film.counts();
    println!(
        "target 3 %: real {:.5}, samples {:?}..{:?}",
        error(&film),
        counts.iter().min(),
        counts.iter().max()
    );
    assert!(film.converged() == 1.0 && error(&film) < 0.03, "{}", error(&film));
    assert!(
        counts.iter().min() < counts.iter().max()
            && counts.iter().min() >= Some(&adaptive::MIN_SAMPLES)
    );
}

/// Sensor width of these 64x64 pixels (m).
const GATE: f64 = 0.008;

/// A small emissive square at a distance, in front of black, so many pixels wide, through 100 mm at
/// f/N focused at 2 m: total light and picture.
fn bokeh(f_stop: f64, distance: f64, iris: Iris, width: f64) -> (f64, Vec<DVec3>, DepthOfField) {
    let mut builder = SceneBuilder::new("bokeh");
    let glow = Material {
        emission: Vec3::splat(1e6),
        double_sided: true,
        ..dielectric("glow", Vec3::ZERO, 1.0)
    };
    let glow = builder.add_material(glow);
    let gate = SensorSize { width: GATE, height: GATE };
    let rig = CameraRig::with_lens(ThinLens::new(0.1, f_stop).unwrap(), 2.0, gate, true).unwrap();
    let side = width * rig.width() / 64.0 * distance;
    let mesh = builder.add_mesh("glow", shapes::plane(Vec2::splat(side as f32), 1, 1), glow);
    let pose = DMat4::from_translation(DVec3::Z * -distance) * DMat4::from_rotation_x(PI / 2.0);
    builder.instance("glow", mesh, pose);
    let scene = builder.build().unwrap();
    let field =
        DepthOfField { lens: rig.lens, focus: 2.0, gate_width: gate.width, iris, rim: None };
    let effects = CameraEffects { depth_of_field: Some(field), ..CameraEffects::default() };
    let fov = rig.vertical_fov() as f32;
    let projection =
        Projection::Perspective { vertical_fov: fov, aspect: None, near: 0.01, far: None };
    let camera = LensCamera::new(DMat4::IDENTITY, projection, 64, 64, &effects);
    let world = World::new(&scene, DVec3::ZERO);
    let walk = PathSettings { bounces: 0, ..PathSettings::default() };
    let mut film = Film::new(64, 64, FilmSettings { path: walk, ..FilmSettings::default() });
    assert!(film.advance(&world, &camera, 512, &NEVER));
    let pixels = film.mean(LightComponents::total);
    (pixels.iter().map(|p| luminance(*p)).sum(), pixels, field)
}

#[test]
fn discs_have_the_size_of_the_formula_and_light_does_not_depend_on_the_stop() {
    // formulas: c = f^2 / (N (S - f)) |Z - S| / Z.
    let mut lights = Vec::new();
    for (f_stop, distance) in [(1.4, 4.0), (2.0, 8.0), (2.8, 1.0), (4.0, 1.0)] {
        let (light, pixels, field) = bokeh(f_stop, distance, Iris::default(), 4.0);
        let want = circle_of_confusion(field.lens, 2.0, distance).unwrap().abs() * 64.0 / GATE;
        // The second moment of a disk about its center is r^2 / 4 per axis; the square and the
        // pixels add theirs.
        let (mut sum, mut second) = (0.0, 0.0);
        for (i, p) in pixels.iter().enumerate() {
            let at = DVec2::new((i % 64) as f64 + 0.5, (i / 64) as f64 + 0.5) - 32.0;
            sum += luminance(*p);
            second += luminance(*p) * at.length_squared();
        }
        let square = 4f64.powi(2) / 12.0;
        let diameter = (8.0 * (second / sum - 2.0 * square - 2.0 / 12.0)).sqrt();
        println!(
            "f/{f_stop}, {distance} m: diameter {diameter:.3} px for {want:.3}, light {light:.0}"
        );
        assert!((diameter / want - 1.0).abs() < 0.01, "f/{f_stop} {distance} m: {diameter} {want}");
        lights.push(light);
    }
    for light in &lights {
        assert!((light / lights[0] - 1.0).abs() < 0.01, "{lights:?}");
    }
}

#[test]
fn discs_have_the_irises_shape() {
    // A triangle with a vertex up: it points up behind the focus and down in front of it. With the
    // circumradius r, the mean of y^2 about its center is r^2 / 8. That of y^3 is a tenth of the
    // product of the vertices' y, r^3 / 40. The emissive square and the pixels add only to the
    // former.
    let iris = Iris { blades: 3, curvature: 0.0, rotation: PI / 2.0 };
    for (distance, up) in [(8.0, 1.0), (0.9, -1.0)] {
        let (_, pixels, field) = bokeh(1.4, distance, iris, 3.0);
        let radius = circle_of_confusion(field.lens, 2.0, distance).unwrap().abs() * 32.0 / GATE;
        let mean = |of: &dyn Fn(DVec2) -> f64| {
            let (mut sum, mut all) = (0.0, 0.0);
            for (i, p) in pixels.iter().enumerate() {
                let at = DVec2::new((i % 64) as f64 - 31.5, 31.5 - (i / 64) as f64);
                sum += luminance(*p) * of(at);
                all += luminance(*p);
            }
            sum / all
        };
        let (across, along) =
            (mean(&|p| p.x * p.x) - 10.0 / 12.0, mean(&|p| p.y * p.y) - 10.0 / 12.0);
        let (third, sideways) = (mean(&|p| p.y.powi(3)) * up, mean(&|p| p.x.powi(3)));
        println!(
            "{distance} m: {across:.3}, {along:.3} of {:.3}; {third:.2} of {:.2}",
            radius * radius / 8.0,
            radius.powi(3) / 40.0
        );
        for second in [across, along] {
            assert!((second / (radius * radius / 8.0) - 1.0).abs() < 0.02, "{second} {radius}");
        }
        assert!((third / (radius.powi(3) / 40.0) - 1.0).abs() < 0.05, "{third} {radius}");
        assert!(sideways.abs() < 0.03 * third, "{sideways} {third}");
    }
}
