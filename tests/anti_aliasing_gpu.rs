//! Anti-aliasing against pictures of 64 samples a pixel: still views, moving cameras, steps of exposure, lower resolutions.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;

use glam::{DMat4, DQuat, DVec3, Vec2, Vec3};
use sunny16::{
    camera::{Exposure, ToneMapper},
    compare::flip,
    frame::{AntiAliasing, Picture, Renderer, Sample, Settings, Temporal},
    passes::{GpuScene, View},
    photometry::{Ev100, Lux},
    scene::{
        Projection, Scene,
        build::{SceneBuilder, dielectric, facing, metal},
        procedural::{shapes, still_life},
    },
};

use common::{exposure_for, gpu};

const SIZE: (u32, u32) = (160, 90);

/// A picture with so many pixels to a side of each of the view's, in nits, averaged to the view's pixels.
fn supersampled(renderer: &mut Renderer, scene: &GpuScene, view: &View, settings: &Settings, side: u32) -> Vec<[f32; 3]> {
    let large = view.resized(view.width * side, view.height * side);
    let plain = Settings { anti_aliasing: AntiAliasing::None, ..settings.clone() };
    let picture = renderer.render(scene, &large, &plain).unwrap();
    let (side, width) = (side as usize, view.width as usize);
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
            sum.map(|sum| (sum / (side * side) as f64) as f32)
        })
        .collect()
}

/// The mean FLIP of two pictures in nits as a display shows them.
fn flip_of(test: &[[f32; 3]], reference: &[[f32; 3]], exposure: Exposure) -> f64 {
    let shown = |nits: &[[f32; 3]]| -> Vec<[f32; 3]> {
        let multiplier = exposure.multiplier() as f32;
        nits.iter().map(|p| ToneMapper::Agx.apply(Vec3::from_array(*p) * multiplier).to_array()).collect()
    };
    let map = flip::ldr(&shown(test), &shown(reference), SIZE.0 as usize, flip::PIXELS_PER_DEGREE);
    map.iter().map(|&v| f64::from(v)).sum::<f64>() / map.len() as f64
}

fn temporal(temporal: Temporal) -> AntiAliasing {
    AntiAliasing::Temporal(temporal)
}

/// The still life's hero view, from a little beside it.
fn hero(scene: &Scene, aside: f64, size: (u32, u32)) -> View {
    let placed = scene.walk();
    let (world, projection) = placed
        .iter()
        .find_map(|placed| {
            let camera = scene.cameras.get(placed.node.camera?)?;
            (camera.name == "Hero").then_some((placed.world, camera.projection))
        })
        .unwrap();
    let moved = world * DMat4::from_rotation_translation(DQuat::from_rotation_y(-0.1 * aside), DVec3::X * aside);
    View::new(moved, &projection, size.0, size.1)
}

#[test]
fn a_still_view_converges_to_64_samples_a_pixel() {
    let Some(guard) = gpu() else { return };
    let mut renderer = guard.renderer();
    let made = still_life().unwrap();
    let scene = renderer.upload(&made.scene).unwrap();
    let view = hero(&made.scene, 0.0, SIZE);
    let exposure = Exposure::from_ev100(made.dials.ev100()).unwrap();
    let settings = Settings { exposure, ..Settings::default() };
    let want = supersampled(&mut renderer, &scene, &view, &settings, 8);
    let off = renderer.render(&scene, &view, &settings).unwrap();
    println!("none: {:.4}", flip_of(&off.nits, &want, exposure));
    for n in [4, 16, 64] {
        let mean = renderer.render_still(&scene, &view, &settings, n).unwrap();
        println!("mean of {n}: {:.4}", flip_of(&mean.nits, &want, exposure));
    }
    let m = Settings { anti_aliasing: AntiAliasing::Morphological, ..settings.clone() };
    let p = renderer.render(&scene, &view, &m).unwrap();
    println!("morphological: {:.4}", flip_of(&p.nits, &want, exposure));
    for (name, t) in [
        ("bias 0", Temporal { mip_bias: 0.0, ..Temporal::default() }),
        ("bias -0.5", Temporal::default()),
        ("bias -1", Temporal { mip_bias: -1.0, ..Temporal::default() }),
        ("bias -2", Temporal { mip_bias: -2.0, ..Temporal::default() }),
        ("clipped", Temporal { still: false, ..Temporal::default() }),
        ("half", Temporal { scale: 0.5, ..Temporal::default() }),
        ("two thirds", Temporal { scale: 0.667, ..Temporal::default() }),
    ] {
        renderer.cut();
        let s = Settings { anti_aliasing: temporal(t), ..settings.clone() };
        print!("{name}:");
        for n in 1..=256 {
            let p = renderer.render(&scene, &view, &s).unwrap();
            if n & (n - 1) == 0 {
                print!(" {n}: {:.4}", flip_of(&p.nits, &want, exposure));
            }
        }
        println!();
    }
}
