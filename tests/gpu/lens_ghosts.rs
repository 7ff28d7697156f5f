//! Lens flare ghosts on the device against rays counted on the host.

use std::sync::Arc;

use crate::common::{
    ghost_meshes::{Beam, ReferenceGhosts as _, SensorFilm},
    gpu,
};
use glam::{DVec2, DVec3, Vec3};
use half::f16;
use sunny16::{
    gpu::{
        Frames,
        shader_structs::{flare_sources::FlareSource, ghosts::GHOST_REPORT_WORDS},
        vk,
    },
    gpu_scene::dynamic_buffer,
    graph::{Graph, GraphCache},
    optics::Iris,
    optics::{
        Lens, LensSettings, Prescription,
        ghosts::{GhostMethod, LensGhosts},
        imaging::CHANNELS,
        trace::Losses,
    },
    passes::lens_ghosts::{GhostReport, LensGhostsPass},
};

const LIGHT: vk::Format = vk::Format::R16G16B16A16_SFLOAT;

fn lens(name: &str, dials: &LensSettings) -> Arc<Lens> {
    Arc::new(Lens::new(&Prescription::builtin(name).unwrap().unwrap(), dials).unwrap())
}

fn source(beam: &Beam, lux: f32) -> FlareSource {
    FlareSource {
        direction: -beam.direction().as_vec3(),
        angular_radius: beam.radius() as f32,
        illuminance: Vec3::splat(lux),
        visibility: 1.0,
        ..FlareSource::default()
    }
}

/// Renders ghosts on black; keeps its lens and state from one picture to the next.
struct Bench<'a> {
    pass: &'a LensGhostsPass,
    frames: Frames,
    cache: GraphCache,
    number: u64,
}

struct Seen {
    size: [u32; 2],
    gate: [f64; 2],
    light: Vec<[f64; 3]>,
    report: GhostReport,
}

impl Bench<'_> {
    fn run(
        &mut self,
        guard: &crate::common::Guard,
        size: [u32; 2],
        sources: &[FlareSource],
        settings: &LensGhosts,
    ) -> Seen {
        self.pass.prepare(&guard.gpu, settings).unwrap();
        let header = [sources.len() as u32, sources.len() as u32, 0, 0];
        let mut bytes: Vec<u8> = bytemuck::cast_slice(&header).to_vec();
        bytes.extend_from_slice(bytemuck::cast_slice(sources));
        bytes.resize(16 + 64 * size_of::<FlareSource>(), 0);
        let list = dynamic_buffer(&guard.gpu, "flare sources", &bytes).unwrap();
        let mut graph = Graph::new(self.number);
        self.number += 1;
        let light = graph.image("light", size[0], size[1], LIGHT);
        graph.pass("black").color_cleared(light, [0.0; 4]).record(|_| Ok(()));
        let list = graph.external(&list);
        let (out, report) = self.pass.declare(&mut graph, (size, light), list, settings).unwrap();
        let words = graph.readback("report", u64::from(GHOST_REPORT_WORDS) * 4);
        graph
            .pass("read report")
            .uses(report, sunny16::graph::Access::CopyFrom)
            .uses(words, sunny16::graph::Access::CopyTo)
            .record(move |cx| {
                let (from, to) = (cx.buffer(report), cx.buffer(words));
                cx.rec.copy_buffer(&from, &to, 0, 0, u64::from(GHOST_REPORT_WORDS) * 4);
                Ok(())
            });
        let back = graph.read_back("light", out);
        let mut rec = self.frames.begin().unwrap();
        let executed = graph.execute(&mut rec, &mut self.cache).unwrap();
        let ticket = rec.submit().unwrap();
        self.frames.wait(ticket).unwrap();
        let half = |bytes: &[u8]| f64::from(f16::from_le_bytes([bytes[0], bytes[1]]).to_f32());
        let light: Vec<[f64; 3]> = executed
            .buffer(back)
            .unwrap()
            .mapped()
            .chunks_exact(8)
            .map(|pixel| [half(pixel), half(&pixel[2..]), half(&pixel[4..])])
            .collect();
        assert!(light.iter().flatten().all(|value| value.is_finite()));
        let words: Vec<u32> = executed
            .buffer(words)
            .unwrap()
            .mapped()
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        Seen { size, gate: settings.gate, light, report: GhostReport::from_words(&words) }
    }
}

impl Seen {
    fn area(&self) -> f64 {
        self.gate[0] * self.gate[1] / f64::from(self.size[0] * self.size[1])
    }

    /// Light by channel (luminance times area), its centroid and its extents (m on the sensor) in
    /// green.
    fn moments(&self) -> ([f64; 3], DVec2, DVec2) {
        let (mut sum, mut first, mut second) = ([0.0; 3], DVec2::ZERO, DVec2::ZERO);
        let [width, height] = self.size.map(f64::from);
        for (index, pixel) in self.light.iter().enumerate() {
            let (x, y) = (index as u32 % self.size[0], index as u32 / self.size[0]);
            // The sensor's right is the picture's left, its up the picture's down.
            let place =
                DVec2::new(0.5 - (f64::from(x) + 0.5) / width, (f64::from(y) + 0.5) / height - 0.5)
                    * DVec2::from_array(self.gate);
            for (sum, value) in sum.iter_mut().zip(pixel) {
                *sum += value * self.area();
            }
            first += place * pixel[1];
            second += place * place * pixel[1];
        }
        let all = sum[1] / self.area();
        let middle = first / all;
        (sum, middle, (second / all - middle * middle).max(DVec2::ZERO).map(f64::sqrt))
    }
}

/// The same by counting rays: light, centroid and extents on the film.
fn counted(
    settings: &LensGhosts,
    beam: &Beam,
    lux: f64,
    channel: usize,
    rays: u32,
) -> (f64, DVec2, DVec2) {
    let (lens, wavelength) = (&settings.lens, CHANNELS[channel]);
    let mut film = SensorFilm::new(DVec2::from_array(settings.gate), [180, 120]);
    for bounces in lens.reflection_pairs() {
        lens.reference_ghost(bounces, beam, wavelength, rays, Some(&mut film));
    }
    let (mut sum, mut first, mut second) = (0.0, DVec2::ZERO, DVec2::ZERO);
    for (index, light) in film.light.iter().enumerate() {
        let at = DVec2::new((index % 180) as f64 + 0.5, (index / 180) as f64 + 0.5)
            / DVec2::new(180.0, 120.0)
            - 0.5;
        let place = at * film.size;
        sum += light;
        first += place * *light;
        second += place * place * *light;
    }
    let middle = first / sum;
    let extent = (second / sum - middle * middle).max(DVec2::ZERO).map(f64::sqrt);
    (
        sum * lux / lens.reference_illuminance(DVec2::ZERO, wavelength, Losses::Counted, 100_000),
        middle,
        extent,
    )
}

fn bench<'a>(guard: &crate::common::Guard, pass: &'a LensGhostsPass) -> Bench<'a> {
    Bench {
        pass,
        frames: Frames::new(&guard.gpu, 2).unwrap(),
        cache: GraphCache::default(),
        number: 0,
    }
}

/// All ghosts together: light within 2 %, centroid and size within 1 % of the sensor's width, for
/// points and disks.
#[test]
fn light_and_position_match_counted_rays() {
    let Some(guard) = gpu() else { return };
    let pass = LensGhostsPass::new(&guard.gpu).unwrap();
    let mut bench = bench(&guard, &pass);
    for (name, f_stop, (blades, curvature), degrees, radius, gate, rays) in [
        ("cooke-triplet-50-f5", Some(8.0), (0, 0.0), 10.0, 0.0, [0.036, 0.024], 6000),
        ("cooke-triplet-50-f5", Some(8.0), (6, 0.3), 6.0, 0.01, [0.09, 0.06], 6000),
        ("dgauss-50-f2", Some(4.0), (5, 0.3), 14.0, 0.004_65, [0.036, 0.024], 3000),
        // Open, with a rim that hides most of its straight blades.
        ("flektagon-100", None, (5, 0.0), 4.0, 0.004_65, [0.09, 0.06], 6000),
    ] {
        let iris = Iris { blades, curvature, rotation: 0.2 };
        let lens = lens(name, &LensSettings { f_stop, iris, ..LensSettings::default() });
        let settings = LensGhosts { lens, gate, method: GhostMethod::Traced, cull_threshold: 0.0 };
        let beam = Beam::from_angles(f64::to_radians(degrees), 0.6, radius).unwrap();
        let lux = 1000.0;
        let seen = bench.run(&guard, [480, 320], &[source(&beam, lux)], &settings);
        let (light, middle, extent) = seen.moments();
        println!("{name}: {:?}", seen.report);
        assert_eq!((seen.report.dropped, seen.report.over_capacity), (0, 0));
        for (channel, light) in light.into_iter().enumerate() {
            let (want, at, size) = counted(&settings, &beam, f64::from(lux), channel, rays);
            println!("{name} {channel}: {light:e} {want:e} {:.4}", light / want);
            assert!((light / want - 1.0).abs() < 0.02, "{name} {channel}: {light} {want}");
            if channel == 1 {
                println!("{middle} {at}, {extent} {size}");
                assert!((middle - at).abs().max_element() < 0.01 * gate[0], "{middle} {at}");
                assert!((extent - size).abs().max_element() < 0.01 * gate[0], "{extent} {size}");
            }
        }
    }
}

/// Near the axis and with a small stop, matrices match traced rays.
#[test]
fn both_tiers_agree_near_the_axis() {
    let Some(guard) = gpu() else { return };
    let pass = LensGhostsPass::new(&guard.gpu).unwrap();
    let mut bench = bench(&guard, &pass);
    let lens =
        lens("dgauss-50-f2", &LensSettings { f_stop: Some(32.0), ..LensSettings::default() });
    let beam = Beam::from_angles(0.01, 2.0, 0.0).unwrap();
    let [fast, traced] = [GhostMethod::Paraxial, GhostMethod::Traced].map(|tier| {
        let settings = LensGhosts {
            lens: Arc::clone(&lens),
            gate: [0.012, 0.008],
            method: tier,
            cull_threshold: 0.0,
        };
        bench.run(&guard, [240, 160], &[source(&beam, 1e3)], &settings).moments()
    });
    for channel in 0..3 {
        let ratio = fast.0[channel] / traced.0[channel];
        assert!((ratio - 1.0).abs() < 0.02, "{channel}: {ratio}");
    }
    assert!((fast.1 - traced.1).length() < 1e-4, "{} {}", fast.1, traced.1);
}

/// Ghosts have sizes in millimeters on the sensor at any resolution and aspect: their light in the
/// middle of the sensor, and its position.
#[test]
fn ghosts_keep_their_size_at_any_resolution() {
    let Some(guard) = gpu() else { return };
    let pass = LensGhostsPass::new(&guard.gpu).unwrap();
    let mut bench = bench(&guard, &pass);
    let lens =
        lens("cooke-triplet-50-f5", &LensSettings { f_stop: Some(8.0), ..LensSettings::default() });
    let beam = Beam::from_angles(0.1, 1.2, 0.004_65).unwrap();
    let sums =
        [([96, 64], [0.036, 0.024]), ([192, 128], [0.036, 0.024]), ([72, 128], [0.0135, 0.024])]
            .map(|(size, gate): ([u32; 2], [f64; 2])| {
                let settings = LensGhosts {
                    lens: Arc::clone(&lens),
                    gate,
                    method: GhostMethod::Traced,
                    cull_threshold: 0.0,
                };
                let seen = bench.run(&guard, size, &[source(&beam, 1000.0)], &settings);
                let (mut light, mut height) = (0.0, 0.0);
                for (index, pixel) in seen.light.iter().enumerate() {
                    let (x, y) = (index as u32 % size[0], index as u32 / size[0]);
                    let at = |index: u32, side: usize| {
                        (f64::from(index) + 0.5) / f64::from(size[side]) - 0.5
                    };
                    if (at(x, 0) * gate[0]).abs() < 0.006_75 {
                        light += pixel[1] * seen.area();
                        height += pixel[1] * seen.area() * at(y, 1) * gate[1];
                    }
                }
                println!("{size:?}: light {light:e}, {:.3} mm down", height / light * 1e3);
                (light, height / light)
            });
    for (light, height) in sums {
        assert!((light / sums[1].0 - 1.0).abs() < 0.03, "{sums:?}");
        assert!((height - sums[1].1).abs() < 0.01 * 0.024, "{sums:?}");
    }
}

/// Ghosts lie on the line through the source's image and the picture's center.
#[test]
fn ghosts_lie_on_a_line_through_the_center() {
    let Some(guard) = gpu() else { return };
    let pass = LensGhostsPass::new(&guard.gpu).unwrap();
    let mut bench = bench(&guard, &pass);
    let lens = lens(
        "cooke-triplet-50-f5",
        &LensSettings { f_stop: Some(11.0), ..LensSettings::default() },
    );
    let settings =
        LensGhosts { lens, gate: [0.036, 0.024], method: GhostMethod::Traced, cull_threshold: 0.0 };
    let azimuth = 0.5_f64;
    let beam = Beam::from_angles(0.15, azimuth, 0.0).unwrap();
    let seen = bench.run(&guard, [360, 240], &[source(&beam, 1e3)], &settings);
    // Across the line on the sensor: both sides have the same light.
    let across = DVec2::new(-azimuth.sin(), azimuth.cos());
    let (mut sum, mut moment) = (0.0, 0.0);
    for (index, pixel) in seen.light.iter().enumerate() {
        let (x, y) = ((index % 360) as f64 + 0.5, (index / 360) as f64 + 0.5);
        let place = DVec2::new(0.5 - x / 360.0, y / 240.0 - 0.5) * DVec2::new(0.036, 0.024);
        sum += pixel[1];
        moment += pixel[1] * place.dot(across);
    }
    assert!(sum > 0.0 && (moment / sum).abs() < 0.003 * 0.036, "{}", moment / sum);
}

/// Faint ghosts are culled and their light is counted; drawn ones stay for a while.
#[test]
fn culling_counts_light_and_has_hysteresis() {
    let Some(guard) = gpu() else { return };
    let pass = LensGhostsPass::new(&guard.gpu).unwrap();
    let mut bench = bench(&guard, &pass);
    let lens = lens("dgauss-50-f2", &LensSettings { f_stop: Some(8.0), ..LensSettings::default() });
    let beam = Beam::from_angles(0.1, 0.3, 0.004_65).unwrap();
    let at = |cull| LensGhosts {
        lens: Arc::clone(&lens),
        gate: [0.036, 0.024],
        method: GhostMethod::Traced,
        cull_threshold: cull,
    };
    let mut drawn =
        |cull: f64, lux: f32| bench.run(&guard, [96, 64], &[source(&beam, lux)], &at(cull)).report;
    let all = drawn(0.0, 1.0);
    assert_eq!((all.dropped, all.light_dropped, all.sources), (0, 0.0, 1));
    assert!(all.drawn > 20 && all.drawn + all.off_screen <= 45, "{all:?}");
    // Off: a picture without the source leaves no state.
    let unlit = bench.run(&guard, [96, 64], &[], &at(0.0)).report;
    assert_eq!((unlit.drawn, unlit.sources), (0, 0));
    let mut drawn =
        |cull: f64, lux: f32| bench.run(&guard, [96, 64], &[source(&beam, lux)], &at(cull)).report;
    let few = drawn(1e-3, 1.0);
    assert!(few.drawn < all.drawn && few.drawn + few.dropped == all.drawn, "{few:?}");
    assert!(few.light_dropped > 0.0 && few.light_dropped < 1.0, "{few:?}");
    // A little less light: all stay. Far less: some are culled, and return only at the light at
    // which they appeared.
    assert_eq!(drawn(1e-3, 0.6).drawn, few.drawn);
    let fewer = drawn(1e-3, 0.01);
    assert!(fewer.drawn < few.drawn, "{fewer:?}");
    let later = drawn(1e-3, 0.011);
    assert_eq!(later.drawn, fewer.drawn);
    assert_eq!(drawn(1e-3, 1.0).drawn, few.drawn);
    // A disk costs as much as a point: the same ghosts at the same resolution.
    let same = drawn(1e-3, 1.0);
    assert_eq!(same, few);
}

/// Sources from which no light enters, and NaN.
#[test]
fn extreme_sources_are_harmless() {
    let Some(guard) = gpu() else { return };
    let pass = LensGhostsPass::new(&guard.gpu).unwrap();
    let mut bench = bench(&guard, &pass);
    for name in ["cooke-triplet-50-f5", "fisheye-10", "schneider-anamorphic-31"] {
        let lens = lens(name, &LensSettings::default());
        let good = source(&Beam::from_angles(0.1, 1.0, 0.01).unwrap(), 1.0);
        let from = |degrees: f64| {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            FlareSource { direction: DVec3::new(sine, 0.0, -cosine).as_vec3(), ..good }
        };
        let sources = [
            from(0.0),
            from(89.0),
            from(90.0),
            from(180.0),
            FlareSource { direction: Vec3::NAN, ..good },
            FlareSource { direction: Vec3::ZERO, ..good },
            FlareSource { illuminance: Vec3::splat(f32::INFINITY), ..good },
            FlareSource { illuminance: Vec3::splat(f32::NAN), ..good },
            FlareSource { illuminance: Vec3::splat(-1.0), ..good },
            FlareSource { visibility: 0.0, ..good },
            FlareSource { angular_radius: 3.0, ..good },
            FlareSource { angular_radius: f32::NAN, ..good },
        ];
        for tier in [GhostMethod::Paraxial, GhostMethod::Traced] {
            let settings = LensGhosts {
                lens: Arc::clone(&lens),
                gate: [0.036, 0.024],
                method: tier,
                cull_threshold: 0.0,
            };
            let seen = bench.run(&guard, [48, 32], &sources, &settings);
            assert!(seen.report.drawn > 0, "{name}: {:?}", seen.report);
        }
    }
}

/// The same input gives the same picture, bit for bit.
#[test]
fn ghosts_are_deterministic() {
    let Some(guard) = gpu() else { return };
    let lens = lens("dgauss-50-f2", &LensSettings::default());
    let settings = LensGhosts {
        lens,
        gate: [0.036, 0.024],
        method: GhostMethod::Traced,
        cull_threshold: 1e-4,
    };
    let source = source(&Beam::from_angles(0.2, 1.0, 0.004_65).unwrap(), 1.0);
    let [a, b] = [0, 1].map(|_| {
        let pass = LensGhostsPass::new(&guard.gpu).unwrap();
        bench(&guard, &pass).run(&guard, [96, 64], &[source, source], &settings).light
    });
    assert_eq!(a, b);
}
