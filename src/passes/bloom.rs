//! Bloom (lens glare): a fraction of each pixel's light is spread by a function of the angle
//! (docs/camera-effects.md). A pyramid of B-splines approximates the function ring by ring.

use std::sync::Arc;

use super::formats::LIGHT;
use crate::{
    camera::{effect_models::glare_within, effects::Bloom},
    gpu::{
        Gpu, GpuResult, GraphicsPipeline, GraphicsState, shader_structs::effects::BloomConstants,
        vk,
    },
    graph::{Graph, ImageHandle},
};

/// Format of the pyramid: 32-bit floats, so that a dozen roundings in a row lose no light.
const PYRAMID: vk::Format = vk::Format::R32G32B32A32_SFLOAT;

/// Pipelines of the bloom passes.
pub struct BloomPass {
    first: Arc<GraphicsPipeline>,
    down: Arc<GraphicsPipeline>,
    up: Arc<GraphicsPipeline>,
    last: Arc<GraphicsPipeline>,
    whole: Arc<GraphicsPipeline>,
}

/// Texels of a level beyond the image, of both borders together (`MARGIN` in the shaders).
const MARGINS: u32 = 2;

/// Mean radius of a level's spline over its scale: that of a Gaussian of equal variance,
/// `Gamma(3/2)`.
///
/// A sum of such splines over all scales `s` is an inverse cube of the angle, as the glare is near
/// its source. There each spline has the energy of the ring at its mean radius.
const MEAN_RADIUS: f64 = 0.886_226_925_452_758;

/// Fraction of the scattered light that each level spreads; level 0 is the image itself. The sum is
/// below 1: the rest stays within a pixel or goes beyond the coarsest level.
///
/// Level k's spline has a variance of `4^k / 2` pixels^2 per axis. It represents the ring around
/// its mean radius, from 1/sqrt(2) to sqrt(2) times that radius. The energy of a ring is that of
/// its angles for light on the lens axis.
#[must_use]
pub fn level_weights(bloom: &Bloom, width: u32, levels: u32) -> Vec<f64> {
    let within = |level: f64| {
        let pixels = MEAN_RADIUS * (level - 0.5).exp2();
        glare_within((pixels * bloom.width / f64::from(width)).atan())
    };
    (0..=levels).map(f64::from).map(|level| within(level + 1.0) - within(level)).collect()
}

/// Number of pyramid levels besides level 0: until one texel is twice as wide as the image.
fn level_count([width, height]: [u32; 2]) -> u32 {
    width.max(height).max(1).next_power_of_two().ilog2() + 1
}

impl BloomPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |name: &str, fragment: &str, format| {
            let state = GraphicsState { colors: vec![(format, false)], ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Ok(Self {
            first: make("bloom down first", "bloom_downsample.frag+FIRST", PYRAMID)?,
            down: make("bloom down", "bloom_downsample.frag", PYRAMID)?,
            up: make("bloom up", "bloom_upsample.frag", PYRAMID)?,
            last: make("bloom up last", "bloom_upsample.frag+LAST", PYRAMID)?,
            whole: make("bloom", "bloom.frag", LIGHT)?,
        })
    }

    /// Declares the passes.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        size: [u32; 2],
        light: ImageHandle,
        bloom: &Bloom,
    ) -> ImageHandle {
        let levels = level_count(size);
        let weights = level_weights(bloom, size[0], levels);
        let of_level = |level: u32| size.map(|side| side.div_ceil(1 << level) + MARGINS);
        let mut pyramid = Vec::new();
        let mut from = light;
        for level in 1..=levels {
            let [width, height] = of_level(level);
            let out = g.image(&format!("bloom level {level}"), width, height, PYRAMID);
            let pipeline = if level == 1 { &self.first } else { &self.down };
            g.fullscreen(&format!("bloom: down {level}"), pipeline)
                .sampled("light_image", from)
                .target(out)
                .draw();
            pyramid.push(out);
            from = out;
        }
        let mut wider = None;
        for (index, (&image, &weight)) in pyramid.iter().zip(&weights[1..]).enumerate().rev() {
            let level = index as u32 + 1;
            let [width, height] = of_level(level);
            let out = g.image(&format!("bloom from {level}"), width, height, PYRAMID);
            let constants = BloomConstants { weight: weight as f32, fraction: 0.0 };
            let pipeline = if wider.is_some() { &self.up } else { &self.last };
            g.fullscreen(&format!("bloom: up {level}"), pipeline)
                .sampled("level_image", image)
                .with(wider, |pass, coarser| pass.sampled("coarser_image", coarser))
                .push(&constants)
                .target(out)
                .draw();
            wider = Some(out);
        }
        let out = g.image("light with bloom", size[0], size[1], LIGHT);
        let constants =
            BloomConstants { weight: weights[0] as f32, fraction: bloom.fraction as f32 };
        let scattered = wider.unwrap_or(light);
        g.fullscreen("bloom", &self.whole)
            .sampled("light_image", light)
            .sampled("coarser_image", scattered)
            .push(&constants)
            .target(out)
            .draw();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_the_energies_of_rings() {
        for (width, levels) in [(1, 1), (64, 7), (640, 11), (3840, 13)] {
            let bloom = Bloom { fraction: 0.01, width: 0.72 };
            let weights = level_weights(&bloom, width, levels);
            let at = |pixels: f64| glare_within((pixels * 0.72 / f64::from(width)).atan());
            let want = at(MEAN_RADIUS * f64::from(levels).exp2() * 2f64.sqrt())
                - at(MEAN_RADIUS / 2f64.sqrt());
            assert_eq!(weights.len(), levels as usize + 1);
            assert!((weights.iter().sum::<f64>() - want).abs() < 1e-12, "{weights:?}");
            assert!(weights.iter().all(|&weight| weight > 0.0), "{weights:?}");
        }
        // Equal angles have equal energy at any resolution: level k of an image is level k + 1 of
        // one twice as wide.
        let bloom = Bloom { fraction: 0.01, width: 0.72 };
        let (small, large) = (level_weights(&bloom, 64, 7), level_weights(&bloom, 128, 8));
        assert!(small.iter().zip(&large[1..]).all(|(a, b)| (a - b).abs() < 1e-12));
        assert_eq!([[1, 1], [640, 360], [8, 200], [64, 48]].map(level_count), [1, 11, 9, 7]);
    }
}
