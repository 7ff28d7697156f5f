//! Anti-aliasing measured against pictures of 64 samples a pixel, on the still life: what docs/anti-aliasing.md tells.
//!
//! `cargo run --release --example anti_aliasing -- [still] [moving] [sweep] [crops DIRECTORY]`
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{env, path::PathBuf};

use glam::{DMat4, DQuat, DVec3, Vec3};
use sunny16::{
    camera::{Exposure, ToneMapper},
    compare::flip,
    frame::{AntiAliasing, Renderer, Settings, Temporal},
    gpu::{Gpu, GpuOptions},
    output,
    passes::{GpuScene, View},
    photometry::Ev100,
    scene::{Scene, procedural::still_life},
};

type Nits = Vec<[f32; 3]>;

/// Samples on each side of a pixel of the reference.
const SIDE: u32 = 8;
/// Frames of the moving camera.
const FRAMES: u32 = 16;
/// The frame from which on the exposure is two stops lower.
const STEP: u32 = 8;

struct Bench {
    renderer: Renderer,
    scene: GpuScene,
    host: Scene,
    exposure: Exposure,
}

impl Bench {
    /// The hero view, gone some metres to the right and turned back.
    fn view(&self, aside: f64, (width, height): (u32, u32)) -> View {
        let placed = self.host.walk();
        let hero = placed.iter().find_map(|placed| {
            let camera = self.host.cameras.get(placed.node.camera?)?;
            (camera.name == "Hero").then_some((placed.world, camera.projection))
        });
        let (world, projection) = hero.unwrap();
        let moved = world * DMat4::from_rotation_translation(DQuat::from_rotation_y(0.3 * aside), DVec3::X * aside);
        View::new(moved, &projection, width, height)
    }

    fn settings(&self, stops: f64) -> Settings {
        let exposure = Exposure::from_ev100(Ev100(self.exposure.ev100().get() - stops)).unwrap();
        Settings { exposure, tone_mapper: ToneMapper::Agx, ..Settings::default() }
    }

    fn reference(&mut self, view: &View, settings: &Settings) -> Nits {
        let large = view.resized(view.width * SIDE, view.height * SIDE);
        let plain = Settings { anti_aliasing: AntiAliasing::None, ..settings.clone() };
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
    nits.iter().map(|p| ToneMapper::Agx.apply(Vec3::from_array(*p) * multiplier).to_array()).collect()
}

fn flip_of(test: &Nits, reference: &Nits, exposure: Exposure, width: u32) -> f64 {
    let (test, reference) = (shown(test, exposure), shown(reference, exposure));
    let map = flip::ldr(&test, &reference, width as usize, flip::PIXELS_PER_DEGREE);
    map.iter().map(|&v| f64::from(v)).sum::<f64>() / map.len() as f64
}

/// Methods by name; `more` has those that the defaults were chosen among.
fn methods(more: bool) -> Vec<(String, AntiAliasing)> {
    let default = Temporal::default();
    let mut list = vec![
        ("none".into(), AntiAliasing::None),
        ("morphological".into(), AntiAliasing::Morphological),
        ("taa".into(), AntiAliasing::Temporal(default)),
    ];
    for scale in [0.75, 0.667, 0.5] {
        list.push((format!("taa x{scale}"), AntiAliasing::Temporal(Temporal { scale, ..default })));
    }
    if more {
        for gamma in [0.75, 1.0, 1.5, 2.0] {
            list.push((format!("clip {gamma}"), AntiAliasing::Temporal(Temporal { gamma, ..default })));
        }
        for frames in [4.0, 8.0, 32.0] {
            list.push((format!("frames {frames}"), AntiAliasing::Temporal(Temporal { frames, ..default })));
        }
        for mip_bias in [0.0, -1.0, -1.5] {
            list.push((format!("bias {mip_bias}"), AntiAliasing::Temporal(Temporal { mip_bias, ..default })));
        }
    }
    list
}

fn still(bench: &mut Bench, more: bool) {
    let size = (160, 90);
    let (view, settings) = (bench.view(0.0, size), bench.settings(0.0));
    let want = bench.reference(&view, &settings);
    println!("still, FLIP to {} samples a pixel, {}x{}", SIDE * SIDE, size.0, size.1);
    for samples in [1, 4, 8, 16, 32, 64, 256] {
        let got = bench.renderer.render_still(&bench.scene, &view, &settings, samples).unwrap();
        println!("  mean of {samples:3}: {:.4}", flip_of(&got.nits, &want, settings.exposure, size.0));
    }
    for (name, anti_aliasing) in methods(more) {
        bench.renderer.cut();
        let with = Settings { anti_aliasing, ..settings.clone() };
        let last = if matches!(anti_aliasing, AntiAliasing::Temporal(_)) { 256u32 } else { 1 };
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

fn moving(bench: &mut Bench, more: bool) {
    let size = (160, 90);
    for (name, step) in [("slow, 2 mm a frame", 0.002), ("fast, 20 mm a frame", 0.02)] {
        let views: Vec<View> = (0..FRAMES).map(|frame| bench.view(step * f64::from(frame), size)).collect();
        let settings: Vec<Settings> =
            (0..FRAMES).map(|frame| bench.settings(if frame < STEP { 0.0 } else { -2.0 })).collect();
        let want: Vec<Nits> = views.iter().zip(&settings).map(|(v, s)| bench.reference(v, s)).collect();
        println!(
            "moving, {name}, two stops down from frame {STEP} on; FLIP a frame to that pose's {} samples",
            SIDE * SIDE
        );
        for (name, anti_aliasing) in methods(more) {
            bench.renderer.cut();
            let mut sum = 0.0;
            print!("  {name:14}");
            for ((view, settings), want) in views.iter().zip(&settings).zip(&want) {
                let with = Settings { anti_aliasing, ..settings.clone() };
                let got = bench.renderer.render(&bench.scene, view, &with).unwrap();
                let flip = flip_of(&got.nits, want, settings.exposure, size.0);
                print!(" {flip:.3}");
                sum += flip;
            }
            println!("  mean {:.4}", sum / f64::from(FRAMES));
        }
    }
}

/// Places that are shown large, of 480x270: wire and leaves, lamp, cards.
fn crops(bench: &mut Bench, directory: &std::path::Path) {
    let size = (480, 270);
    let step = 0.002;
    let settings = bench.settings(0.0);
    let last = bench.view(step * f64::from(FRAMES - 1), size);
    let mut columns: Vec<(String, Nits)> = Vec::new();
    for (name, anti_aliasing) in methods(false) {
        bench.renderer.cut();
        let with = Settings { anti_aliasing, ..settings.clone() };
        let mut nits = Vec::new();
        for frame in 0..FRAMES {
            let view = bench.view(step * f64::from(frame), size);
            nits = bench.renderer.render(&bench.scene, &view, &with).unwrap().nits;
        }
        columns.push((name, nits));
    }
    let mean = bench.renderer.render_still(&bench.scene, &last, &settings, 16).unwrap();
    columns.push(("mean of 16".into(), mean.nits));
    let want = bench.reference(&last, &settings);
    columns.push(("64 samples".into(), want));
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
    let mut bench = Bench { renderer, scene, host: made.scene, exposure };
    let more = args.iter().any(|arg| arg == "sweep");
    if wants("still") {
        still(&mut bench, more);
    }
    if wants("moving") {
        moving(&mut bench, more);
    }
    if let Some(at) = args.iter().position(|arg| arg == "crops") {
        crops(&mut bench, &PathBuf::from(args.get(at + 1).expect("a directory")));
    }
}
