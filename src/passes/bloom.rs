//! Glare of the lens: a part of each pixel's light is spread by a function whose sum is 1, so that no light is made and
//! none is lost. A pyramid of B-splines stands for the function's rings.

use std::sync::Arc;

use super::{effects_shared::BloomConstants, gbuffer::LIGHT};
use crate::{
    camera::{chain::Bloom, effects::glare_within},
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, GraphicsState, vk},
    graph::{Access, Graph, ImageHandle},
};

/// Of the pyramid: full floats, so that a dozen roundings in a row take nothing from the light.
const PYRAMID: vk::Format = vk::Format::R32G32B32A32_SFLOAT;

/// The pipelines.
pub struct BloomPass {
    down: Arc<GraphicsPipeline>,
    up: Arc<GraphicsPipeline>,
    last: Arc<GraphicsPipeline>,
    whole: Arc<GraphicsPipeline>,
}

/// The part of the scattered light that each level spreads, finest (half the resolution) first; their sum is 1.
///
/// Level k's B-spline is about 2^k pixels in radius: it stands for the ring from half of that to that. Light that is
/// scattered by less than half a pixel has no ring of its own; what goes beyond the last ring goes to the last level.
#[must_use]
pub fn level_weights(bloom: &Bloom, width: u32, levels: u32) -> Vec<f64> {
    let angle = |pixels: f64| (pixels * bloom.width / f64::from(width)).atan();
    let within = |pixels: f64| glare_within(angle(pixels));
    let inner = within(0.5);
    let all = (1.0 - inner).max(f64::MIN_POSITIVE);
    (1..=levels)
        .map(|level| {
            let from = if level == 1 { inner } else { within(f64::from(level - 1).exp2()) };
            let to = if level == levels { 1.0 } else { within(f64::from(level).exp2()) };
            (to - from) / all
        })
        .collect()
}

/// Levels of a picture's pyramid: until the smaller side is 2 texels.
fn level_count([width, height]: [u32; 2]) -> u32 {
    width.min(height).max(4).ilog2() - 1
}

impl BloomPass {
    /// Makes the pipelines.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |name: &str, fragment: &str, format| {
            let state = GraphicsState { colors: vec![(format, false)], ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Ok(Self {
            down: make("bloom down", "bloom_down.frag", PYRAMID)?,
            up: make("bloom up", "bloom_up.frag", PYRAMID)?,
            last: make("bloom up last", "bloom_up.frag+LAST", PYRAMID)?,
            whole: make("bloom", "bloom.frag", LIGHT)?,
        })
    }

    /// Declares the passes.
    pub fn declare<'a>(&'a self, g: &mut Graph<'a>, size: [u32; 2], light: ImageHandle, bloom: &Bloom) -> ImageHandle {
        let levels = level_count(size);
        let weights = level_weights(bloom, size[0], levels);
        let of_level = |level: u32| size.map(|side| side.div_ceil(1 << level).max(1));
        let mut pyramid = Vec::new();
        let mut from = light;
        for level in 1..=levels {
            let [width, height] = of_level(level);
            let out = g.image(&format!("bloom level {level}"), width, height, PYRAMID);
            g.pass(&format!("bloom: down {level}"))
                .uses(from, Access::FragmentSampled)
                .color_cleared(out, [0.0; 4])
                .record(move |cx| {
                    let from = cx.image(from);
                    cx.rec.bind_graphics(&self.down, &[("light_image", Bind::Sampled(&from))])?;
                    cx.rec.draw_fullscreen();
                    Ok(())
                });
            pyramid.push(out);
            from = out;
        }
        let mut wider = None;
        for (index, (&image, &weight)) in pyramid.iter().zip(&weights).enumerate().rev() {
            let level = index as u32 + 1;
            let [width, height] = of_level(level);
            let out = g.image(&format!("bloom from {level}"), width, height, PYRAMID);
            let constants = BloomConstants { weight: weight as f32, direct: 0.0 };
            let pipeline = if wider.is_some() { &self.up } else { &self.last };
            let mut pass = g.pass(&format!("bloom: up {level}"));
            for from in [Some(image), wider].into_iter().flatten() {
                pass = pass.uses(from, Access::FragmentSampled);
            }
            let coarser = wider.replace(out);
            pass.color_cleared(out, [0.0; 4]).record(move |cx| {
                let image = cx.image(image);
                let coarser = coarser.map(|coarser| cx.image(coarser));
                let mut binds = vec![("level_image", Bind::Sampled(&image))];
                binds.extend(coarser.as_ref().map(|coarser| ("wider_image", Bind::Sampled(coarser))));
                cx.rec.bind_graphics(pipeline, &binds)?;
                cx.rec.push_graphics(pipeline, &constants);
                cx.rec.draw_fullscreen();
                Ok(())
            });
        }
        let out = g.image("light with bloom", size[0], size[1], LIGHT);
        let (weight, direct) = (bloom.fraction as f32, (1.0 - bloom.fraction) as f32);
        let scattered = wider.unwrap_or(light);
        g.pass("bloom")
            .uses(light, Access::FragmentSampled)
            .uses(scattered, Access::FragmentSampled)
            .color_cleared(out, [0.0; 4])
            .record(move |cx| {
                let (light, scattered) = (cx.image(light), cx.image(scattered));
                cx.rec.bind_graphics(
                    &self.whole,
                    &[("light_image", Bind::Sampled(&light)), ("wider_image", Bind::Sampled(&scattered))],
                )?;
                cx.rec.push_graphics(&self.whole, &BloomConstants { weight, direct });
                cx.rec.draw_fullscreen();
                Ok(())
            });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_sum_to_one() {
        for (width, levels) in [(64, 4), (640, 7), (3840, 10)] {
            let weights = level_weights(&Bloom { fraction: 0.01, width: 0.72 }, width, levels);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{weights:?}");
            assert!(weights.iter().all(|&weight| weight > 0.0), "{weights:?}");
        }
        assert_eq!((level_count([1, 1]), level_count([640, 360]), level_count([8, 200])), (1, 7, 2));
    }
}
