//! Pictures of the rasterizer, and their pixels.

use glam::{DVec3, Vec3};
use sunny16::{
    frame::{Aov, RenderSettings, RenderedImage, Renderer},
    gpu_scene::{GpuScene, View},
    passes::gbuffer_channel::GbufferChannel,
    scene::Scene,
};

/// One picture of a scene.
pub fn picture(
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    settings: &RenderSettings,
) -> RenderedImage {
    let on_device = renderer.upload_for(scene, &settings.shadows).expect("upload");
    renderer.render(&on_device, view, settings).expect("render")
}

pub fn nits(picture: &RenderedImage, x: usize, y: usize) -> DVec3 {
    Vec3::from_array(picture.nits[y * picture.width + x]).as_dvec3()
}

/// A pixel of an AOV.
pub fn aov(picture: &RenderedImage, aov: Aov, x: usize, y: usize) -> [f32; 4] {
    let (_, pixels) = picture.aovs.iter().find(|(kind, _)| *kind == aov).expect("asked for");
    pixels[y * picture.width + x]
}

pub fn aov3(picture: &RenderedImage, kind: Aov, x: usize, y: usize) -> DVec3 {
    let [r, g, b, _] = aov(picture, kind, x, y);
    DVec3::new(f64::from(r), f64::from(g), f64::from(b))
}

/// Maximum difference of two pictures of one exposure, in units in the last place of the larger
/// value as a half float (11 significant bits). Light is stored pre-exposed in half floats: two
/// pipelines whose arithmetic differs by a rounding of single precision may store neighbors.
pub fn half_steps(one: &RenderedImage, other: &RenderedImage) -> f64 {
    const MIN_NORMAL: f64 = 1.0 / 16_384.0;
    assert_eq!(one.exposure, other.exposure);
    let multiplier = one.exposure.multiplier();
    let pairs = one.nits.iter().flatten().zip(other.nits.iter().flatten());
    let steps = pairs.map(|(a, b)| {
        let [a, b] = [a, b].map(|nits| f64::from(*nits) * multiplier);
        let larger = a.abs().max(b.abs()).max(MIN_NORMAL);
        (a - b).abs() / (larger.log2().floor() - 10.0).exp2()
    });
    steps.fold(0.0, f64::max)
}

pub const NORMAL: Aov = Aov::Channel(GbufferChannel::Normal);

/// Maximum relative difference of the channels.
pub fn relative(got: DVec3, want: DVec3) -> f64 {
    ((got - want) / want.abs().max(DVec3::splat(1e-300))).abs().max_element()
}

/// Green light of all pixels, in nits.
pub fn green(picture: &RenderedImage) -> Vec<f64> {
    picture.nits.iter().map(|light| f64::from(light[1])).collect()
}

/// Sum of the green light.
pub fn total(picture: &RenderedImage) -> f64 {
    green(picture).iter().sum()
}

/// The last frame of a still view, without earlier history.
pub fn after(
    renderer: &mut Renderer,
    scene: &GpuScene,
    view: &View,
    settings: &RenderSettings,
    frames: u32,
) -> RenderedImage {
    renderer.reset_history();
    for _ in 1..frames {
        renderer.render(scene, view, settings).unwrap();
    }
    renderer.render(scene, view, settings).unwrap()
}

/// Names of a frame's passes in their order, without those of limit counters, which may come
/// before or after passes that they do not depend on.
pub fn pass_names(prepared: &sunny16::graph::Prepared) -> Vec<String> {
    let names = prepared.plan.order.iter().map(|&pass| prepared.passes[pass].name.clone());
    names.filter(|name| !name.contains("limit counters")).collect()
}
