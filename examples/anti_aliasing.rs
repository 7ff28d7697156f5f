//! Anti-aliasing measured against pictures of 64 samples a pixel, on the still life: what
//! docs/anti-aliasing.md tells.
//!
//! `cargo run --release --example anti_aliasing -- [still] [moving] [flicker] [sweep] [crops
//! DIRECTORY [PATH]]`
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{env, path::PathBuf};

use glam::{DMat4, DQuat, DVec3, Vec3};
use sunny16::{
    camera::{Exposure, ToneMapper},
    compare::flip,
    frame::{AntiAliasing, RenderSettings, Renderer, TemporalSettings},
    gpu::{Gpu, GpuOptions},
    gpu_scene::{GpuScene, View},
    output,
    scene::{Scene, procedural::still_life},
};

type Nits = Vec<[f32; 3]>;

/// Samples on each side of a pixel of the reference.
const SIDE: u32 = 8;
/// Frames of the moving camera.
const FRAMES: u32 = 16;

struct Bench {
    gpu: Gpu,
    renderer: Renderer,
    scene: GpuScene,
    host: Scene,
    exposure: Exposure,
}

impl Bench {
    /// The hero view, gone some meters to the right and turned back.
    /// The hero view, gone to the right (m) and turned to the left (rad).
    fn view_by(&self, aside: f64, turn: f64, (width, height): (u32, u32)) -> View {
        let placed = self.host.walk();
        let hero = placed.iter().find_map(|placed| {
            let camera = self.host.cameras.get(placed.node.camera?)?;
            (camera.name == "Hero").then_some((placed.world, camera.projection))
        });
        let (world, projection) = hero.unwrap();
        let moved = world
            * DMat4::from_rotation_translation(DQuat::from_rotation_y(turn), DVec3::X * aside);
        View::new(moved, &projection, width, height)
    }

    fn settings(&self) -> RenderSettings {
        RenderSettings {
            exposure: self.exposure,
            tone_mapper: ToneMapper::Agx,
            ..RenderSettings::default()
        }
    }

    fn reference(&mut self, view: &View, settings: &RenderSettings) -> Nits {
        let large = view.resized(view.width * SIDE, view.height * SIDE);
        let plain = RenderSettings { anti_aliasing: AntiAliasing::None, ..settings.clone() };
        let picture = self.renderer.render(&self.scene, &large, &plain).unwrap();
        let (side, width) = (SIDE as usize, view.width as usize);
        (0..width * view.height as usize)
            .map(|index| {
                let (x, y) = (index % width * side, index / width * side);
                let mut sum = [0f64; 3];
                for row in y..y + side {
                    for pixel in &picture.nits[row * picture.width + x..][..side] {
                        for (sum, value) in sum.iter_mut().zip(pixel) {
                            *sum += f64::from(*value);
                        }
                    }
                }
                sum.map(|sum| (sum / f64::from(SIDE * SIDE)) as f32)
            })
            .collect()
    }
}

fn shown(nits: &Nits, exposure: Exposure) -> Nits {
    let multiplier = exposure.multiplier() as f32;
    nits.iter()
        .map(|p| ToneMapper::Agx.apply(Vec3::from_array(*p) * multiplier).to_array())
        .collect()
}

fn flip_of(test: &Nits, reference: &Nits, exposure: Exposure, width: u32) -> f64 {
    let (test, reference) = (shown(test, exposure), shown(reference, exposure));
    let map = flip::ldr(&test, &reference, width as usize, flip::PIXELS_PER_DEGREE);
    map.iter().map(|&v| f64::from(v)).sum::<f64>() / map.len() as f64
}

/// The settings with another's anti-aliasing.
fn with_method(settings: &RenderSettings, method: &RenderSettings) -> RenderSettings {
    RenderSettings { anti_aliasing: method.anti_aliasing, taa: method.taa, ..settings.clone() }
}

fn methods(more: bool) -> Vec<(String, RenderSettings)> {
    let default = TemporalSettings::default();
    let single = |anti_aliasing| RenderSettings { anti_aliasing, ..RenderSettings::default() };
    let temporal = |taa| RenderSettings { taa, ..single(AntiAliasing::Temporal) };
    let mut list = vec![
        ("none".into(), single(AntiAliasing::None)),
        ("morphological".into(), single(AntiAliasing::Morphological)),
        ("taa".into(), temporal(default)),
    ];
    for scale in [0.75, 0.667, 0.5] {
        list.push((
            format!("taa x{scale}"),
            temporal(TemporalSettings { render_scale: scale, ..default }),
        ));
    }
    if more {
        for gamma in [1.0, 1.5, 2.0, 4.0] {
            list.push((
                format!("clip {gamma}"),
                temporal(TemporalSettings { variance_gamma: gamma, ..default }),
            ));
        }
        for frames in [8, 32] {
            list.push((
                format!("frames {frames}"),
                temporal(TemporalSettings { max_history_frames: frames, ..default }),
            ));
        }
        for mip_bias in [-0.5, -1.5] {
            list.push((
                format!("bias {mip_bias}"),
                temporal(TemporalSettings { mip_bias, ..default }),
            ));
        }
    }
    list
}

fn still(bench: &mut Bench, more: bool) {
    let size = (160, 90);
    let (view, settings) = (bench.view_by(0.0, 0.0, size), bench.settings());
    let want = bench.reference(&view, &settings);
    println!("still, FLIP to {} samples a pixel, {}x{}", SIDE * SIDE, size.0, size.1);
    for samples in [1, 4, 8, 16, 32, 64, 256] {
        let got = bench.renderer.render_still(&bench.scene, &view, &settings, samples).unwrap();
        println!(
            "  mean of {samples:3}: {:.4}",
            flip_of(&got.nits, &want, settings.exposure, size.0)
        );
    }
    for (name, method) in methods(more) {
        bench.renderer.reset_history();
        let with = with_method(&settings, &method);
        let last = if method.anti_aliasing == AntiAliasing::Temporal { 256u32 } else { 1 };
        print!("  {name:14}");
        for frame in 1..=last {
            let got = bench.renderer.render(&bench.scene, &view, &with).unwrap();
            if frame.is_power_of_two() {
                print!(" {frame}: {:.4}", flip_of(&got.nits, &want, settings.exposure, size.0));
            }
        }
        println!();
    }
}

/// What moves in a sequence.
#[derive(Clone, Copy)]
struct Path {
    name: &'static str,
    /// The camera's way and turn a frame (m, rad).
    camera: (f64, f64),
    /// Way of the cup and of the branch a frame (m).
    things: f64,
}

const PATHS: [Path; 4] = [
    Path { name: "slide, 2 mm a frame", camera: (0.002, 0.0006), things: 0.0 },
    Path { name: "slide, 20 mm a frame", camera: (0.02, 0.006), things: 0.0 },
    Path { name: "turn, 0.3 degrees a frame", camera: (0.0, 0.005_236), things: 0.0 },
    Path { name: "cup and branch, 6 mm a frame", camera: (0.0, 0.0), things: 0.006 },
];

impl Bench {
    fn view_on(&self, path: Path, frame: u32, size: (u32, u32)) -> View {
        self.view_by(path.camera.0 * f64::from(frame), path.camera.1 * f64::from(frame), size)
    }

    /// Moves what moves to where it is at a frame.
    fn pose(&mut self, path: Path, frame: u32) {
        if path.things == 0.0 {
            return;
        }
        let way = DMat4::from_translation(
            DVec3::X * (path.things * (f64::from(frame) - f64::from(FRAMES) / 2.0)),
        );
        let moved = ["Cup", "Saucer", "Coffee", "Leaf", "Stem 1", "Stem 2", "Stem 3"];
        let mut host = self.host.clone();
        for node in host.nodes.iter_mut().filter(|node| moved.contains(&node.name.as_str())) {
            node.local = way * node.local;
        }
        self.scene.follow(&self.gpu, &host).unwrap();
    }
}

fn moving(bench: &mut Bench, more: bool) {
    let size = (160, 90);
    let settings = bench.settings();
    for path in PATHS {
        let mut want = Vec::new();
        for frame in 0..FRAMES {
            bench.pose(path, frame);
            want.push(bench.reference(&bench.view_on(path, frame, size), &settings));
        }
        println!(
            "{}; FLIP a frame to that pose's {} samples; mean from frame 4 on",
            path.name,
            SIDE * SIDE
        );
        for (name, method) in methods(more) {
            bench.renderer.reset_history();
            let mut sum = 0.0;
            print!("  {name:14}");
            for (frame, want) in (0..FRAMES).zip(&want) {
                bench.pose(path, frame);
                let with = with_method(&settings, &method);
                let got = bench
                    .renderer
                    .render(&bench.scene, &bench.view_on(path, frame, size), &with)
                    .unwrap();
                let flip = flip_of(&got.nits, want, settings.exposure, size.0);
                if frame % 3 == 0 {
                    print!(" {flip:.3}");
                }
                sum += if frame >= 4 { flip } else { 0.0 };
            }
            println!("  mean {:.4}", sum / f64::from(FRAMES - 4));
        }
        bench.scene.follow(&bench.gpu, &bench.host).unwrap();
    }
}

/// How much the pixels of a view that stands change from frame to frame: the standard deviation in
/// time, root mean square over pixels and channels, of what the display shows (linear, 0 to 1).
fn flicker(bench: &mut Bench, more: bool) {
    let size = (160, 90);
    let (view, settings) = (bench.view_by(0.0, 0.0, size), bench.settings());
    println!(
        "flicker of a still view in frames 33 to 64: rms over pixels of the deviation in time, most of a pixel"
    );
    for (name, method) in methods(more) {
        if method.anti_aliasing != AntiAliasing::Temporal {
            continue;
        }
        for still in [true, false] {
            bench.renderer.reset_history();
            let taa = TemporalSettings { still, ..method.taa };
            let with = RenderSettings { taa, ..with_method(&settings, &method) };
            let mut sums = vec![[0.0f64; 6]; (size.0 * size.1) as usize];
            for frame in 0..64 {
                let got = bench.renderer.render(&bench.scene, &view, &with).unwrap();
                if frame < 32 {
                    continue;
                }
                for (sum, pixel) in sums.iter_mut().zip(shown(&got.nits, settings.exposure)) {
                    for (channel, value) in pixel.into_iter().enumerate() {
                        sum[channel] += f64::from(value);
                        sum[channel + 3] += f64::from(value).powi(2);
                    }
                }
            }
            let variances: Vec<f64> = sums
                .iter()
                .flat_map(|s| {
                    (0..3).map(move |c| (s[c + 3] / 32.0 - (s[c] / 32.0).powi(2)).max(0.0))
                })
                .collect();
            let rms = (variances.iter().sum::<f64>() / variances.len() as f64).sqrt();
            let most = variances.iter().copied().fold(0.0, f64::max).sqrt();
            println!(
                "  {name:14} {}: {rms:.5}, {most:.4}",
                if still { "still" } else { "while other things move" }
            );
        }
    }
}

/// The last frame of a path by each method, beside the mean of 16 frames and 64 samples a pixel
/// there.
fn crops(bench: &mut Bench, directory: &std::path::Path, path: Path) {
    let size = (480, 270);
    let settings = bench.settings();
    let last = bench.view_on(path, FRAMES - 1, size);
    let mut columns: Vec<(String, Nits)> = Vec::new();
    for (name, method) in methods(false) {
        bench.renderer.reset_history();
        let with = with_method(&settings, &method);
        let mut nits = Vec::new();
        for frame in 0..FRAMES {
            bench.pose(path, frame);
            let view = bench.view_on(path, frame, size);
            nits = bench.renderer.render(&bench.scene, &view, &with).unwrap().nits;
        }
        columns.push((name, nits));
    }
    let mean = bench.renderer.render_still(&bench.scene, &last, &settings, 16).unwrap();
    columns.push(("mean of 16".into(), mean.nits));
    let want = bench.reference(&last, &settings);
    columns.push(("64 samples".into(), want));
    bench.scene.follow(&bench.gpu, &bench.host).unwrap();
    for (name, nits) in &columns {
        let bytes: Vec<u8> = shown(nits, settings.exposure)
            .iter()
            .flat_map(|p| p.map(|c| c.clamp(0.0, 1.0)).into_iter().chain([-1.0]))
            .map(|c| if c < 0.0 { 255 } else { (encode(c) * 255.0 + 0.5) as u8 })
            .collect();
        let file = directory.join(format!("{}.png", name.replace(' ', "_")));
        output::write_png(&file, size.0 as usize, size.1 as usize, &bytes).unwrap();
    }
}

fn encode(v: f32) -> f32 {
    if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

fn main() {
    let args: Vec<String> = env::args().skip(1).collect();
    let wants = |name: &str| args.is_empty() || args.iter().any(|arg| arg == name);
    let gpu = Gpu::open(&GpuOptions::default()).expect("a Vulkan device");
    let mut renderer = Renderer::new(&gpu).expect("pipelines");
    let made = still_life().expect("the still life");
    let scene = renderer.upload(&made.scene).expect("upload");
    let exposure = Exposure::from_ev100(made.dials.ev100()).unwrap();
    let mut bench = Bench { gpu, renderer, scene, host: made.scene, exposure };
    let more = args.iter().any(|arg| arg == "sweep");
    if wants("still") {
        still(&mut bench, more);
    }
    if wants("moving") {
        moving(&mut bench, more);
    }
    if wants("flicker") {
        flicker(&mut bench, more);
    }
    if let Some(at) = args.iter().position(|arg| arg == "crops") {
        let path: usize = args.get(at + 2).and_then(|path| path.parse().ok()).unwrap_or(0);
        crops(
            &mut bench,
            &PathBuf::from(args.get(at + 1).expect("a directory")),
            PATHS[path.min(PATHS.len() - 1)],
        );
    }
}
