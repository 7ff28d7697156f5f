//! Advection of patterns by a flow without tearing: two layers half a cycle apart, each advected
//! for one cycle and restarted while its weight is zero (Vlachos, "Water Flow in Portal 2",
//! SIGGRAPH 2010, Advances in Real-Time Rendering).
//!
//! Three things differ from that talk. Each position has its own phase, so that the surface does
//! not blend between layers everywhere at once. Layers blend slopes (dh/dx, dh/dz) and divide by
//! the root of the sum of squared weights. That keeps the variance of independent layers constant.
//! Advection runs from half a cycle before to half a cycle after the pattern's rest position, which
//! halves its stretching.

use glam::DVec2;

/// Pattern offset of the second layer, in tiles: decorrelates it from the first.
const LAYER_SHIFT: DVec2 = DVec2::new(0.5, 0.5);
/// Pattern offset of each cycle, in tiles. Steps of half a tile decorrelate a cycle from the
/// previous one and from the other layer, which is in the same or the next cycle.
const JUMPS: [DVec2; 4] =
    [DVec2::ZERO, DVec2::new(0.5, 0.0), DVec2::new(0.5, 0.5), DVec2::new(0.0, 0.5)];
/// Number of cycles after which the pattern repeats.
pub const CYCLES: f64 = JUMPS.len() as f64;

/// One of the two layers at a position and a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLayer {
    /// Position in the cycle, 0 to 1.
    pub phase: f64,
    /// Blend weight, 0 to 1; the weights of both layers sum to 1.
    pub weight: f64,
    /// Advection time (s), from minus half to plus half of a cycle.
    pub carried: f64,
    /// Pattern offset, in tiles.
    pub shift: DVec2,
}

/// Both layers. `cycles`: time divided by the cycle period; `noise`: phase of the position, 0 to 1;
/// `period` in seconds.
#[must_use]
pub fn layers(cycles: f64, noise: f64, period: f64) -> [FlowLayer; 2] {
    [0.0, 1.0].map(|layer| {
        let turn = cycles + noise + 0.5 * layer;
        let phase = turn - turn.floor();
        FlowLayer {
            phase,
            weight: 1.0 - (2.0 * phase - 1.0).abs(),
            carried: (phase - 0.5) * period,
            shift: LAYER_SHIFT * layer
                + JUMPS[turn.floor().rem_euclid(CYCLES) as usize % JUMPS.len()],
        }
    })
}

/// Pattern coordinates (tiles) of a layer at a position (m); `velocity` in m/s, `tile` in m.
#[must_use]
pub fn tile_place(layer: &FlowLayer, place: DVec2, velocity: DVec2, tile: f64) -> DVec2 {
    (place - velocity * layer.carried) / tile + layer.shift
}

/// Blends the slopes of two layers and preserves the variance of independent slopes.
#[must_use]
pub fn blend_slopes(layers: &[FlowLayer; 2], slopes: [DVec2; 2]) -> DVec2 {
    let [a, b] = layers.each_ref().map(|layer| layer.weight);
    (slopes[0] * a + slopes[1] * b) / a.hypot(b)
}

/// Decodes a flow component, -1 to 1, from eight bits: 128 is exactly 0, which 127.5 would miss.
#[must_use]
pub fn component(code: u8) -> f64 {
    ((f64::from(code) - 128.0) / 127.0).max(-1.0)
}

/// Encodes a flow component as eight bits.
#[must_use]
pub fn code(component: f64) -> u8 {
    (component.clamp(-1.0, 1.0) * 127.0 + 128.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::water::waves;

    #[test]
    fn weights_sum_to_one_and_are_zero_where_a_layer_restarts() {
        for i in 0..1000 {
            let t = f64::from(i) * 0.0137;
            let [a, b] = layers(t, 0.31, 2.0);
            assert!((a.weight + b.weight - 1.0).abs() < 1e-12, "{t}");
            assert!((a.phase - b.phase).abs() - 0.5 < 1e-12);
            assert!(a.carried.abs() <= 1.0 && b.carried.abs() <= 1.0, "half a cycle of 2 s");
        }
        // Formulas, section 8: phi = 0, 1/4, 1/2 have weights 0, 1/2, 1.
        for (cycles, weight, carried) in
            [(0.0, 0.0, -2.0), (0.25, 0.5, -1.0), (0.5, 1.0, 0.0), (0.75, 0.5, 1.0)]
        {
            let [layer, other] = layers(cycles, 0.0, 4.0);
            assert_eq!((layer.weight, layer.carried), (weight, carried));
            assert_eq!(other.weight, 1.0 - weight);
        }
        // A restarted layer shows another part of the pattern.
        let (before, after) = (layers(0.999_999, 0.0, 1.0)[0], layers(1.0, 0.0, 1.0)[0]);
        assert!(before.weight < 1e-5 && after.weight == 0.0 && before.shift != after.shift);
    }

    #[test]
    fn a_pattern_goes_as_fast_as_the_water() {
        // In 0.1 s at 3 m/s the pattern moves from x to x + 0.3.
        let (place, velocity, tile) = (DVec2::new(1.0, 2.0), DVec2::new(3.0, -1.0), 2.0);
        let at =
            |t: f64, place: DVec2| tile_place(&layers(t / 4.0, 0.2, 4.0)[0], place, velocity, tile);
        let before = at(1.0, place);
        let after = at(1.1, place + velocity * 0.1);
        assert!((before - after).length() < 1e-12, "{before} {after}");
    }

    #[test]
    fn still_water_is_still() {
        assert_eq!(component(128), 0.0);
        assert_eq!((component(255), component(1), component(0)), (1.0, -1.0, -1.0));
        for i in 0..=255u8 {
            assert!(i == 0 || code(component(i)) == i, "{i}");
        }
        let [layer, _] = layers(0.1, 0.0, 4.0);
        assert_eq!(
            tile_place(&layer, DVec2::ZERO, DVec2::new(component(128), 0.0) * 9.0, 1.0),
            DVec2::ZERO
        );
    }

    #[test]
    fn the_variance_of_slopes_stays() {
        // Formulas, section 8: with one common phase, blending by weights alone keeps 1/2 to 1 of
        // the variance.
        let factor =
            |layers: &[FlowLayer; 2]| layers.iter().map(|layer| layer.weight.powi(2)).sum::<f64>();
        assert_eq!(factor(&layers(0.25, 0.0, 1.0)), 0.5);
        assert_eq!(factor(&layers(0.5, 0.0, 1.0)), 1.0);
        // With a phase per position it keeps 2/3; slope blending keeps all.
        let mean = (0..1000).map(|i| factor(&layers(0.3, f64::from(i) / 1000.0, 1.0))).sum::<f64>()
            / 1000.0;
        assert!((mean - 2.0 / 3.0).abs() < 1e-5, "{mean}");
        for i in 0..100 {
            let layers = layers(f64::from(i) / 100.0, 0.0, 1.0);
            let x = blend_slopes(&layers, [DVec2::X, DVec2::ZERO]).x;
            let y = blend_slopes(&layers, [DVec2::ZERO, DVec2::X]).x;
            assert!((x * x + y * y - 1.0).abs() < 1e-12);
        }
    }

    /// Temporal deviation of the mean squared slope of a region of still water, through a cycle.
    /// `classic`: normals blended by their weights with one common phase, as in the talk.
    fn pulse(classic: bool) -> f64 {
        let tile = waves::slopes();
        let noise =
            |x: usize, y: usize| f64::from(waves::phase_noise(x as f32 / 128.0, y as f32 / 128.0));
        let means: Vec<f64> = (0..32)
            .map(|step| {
                let mut sum = 0.0;
                for (x, y) in (0..128).flat_map(|y| (0..128).map(move |x| (x, y))) {
                    let place = DVec2::new(x as f64, y as f64) * (8.0 / 128.0);
                    let layers = layers(
                        f64::from(step) / 32.0,
                        if classic { 0.0 } else { noise(x, y) },
                        4.0,
                    );
                    let slopes =
                        layers.map(|layer| tile.at(tile_place(&layer, place, DVec2::ZERO, 1.0)));
                    let slope = if classic {
                        let normal = |s: DVec2| (-s).extend(1.0).normalize();
                        let n = normal(slopes[0]) * layers[0].weight
                            + normal(slopes[1]) * layers[1].weight;
                        n.truncate() / n.z
                    } else {
                        blend_slopes(&layers, slopes)
                    };
                    sum += slope.length_squared();
                }
                sum / 16384.0
            })
            .collect();
        let mean = means.iter().sum::<f64>() / 32.0;
        (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / 32.0).sqrt() / mean
    }

    #[test]
    fn still_water_does_not_pulse() {
        let (ours, classic) = (pulse(false), pulse(true));
        println!(
            "temporal deviation of a region's mean: {:.2} %, of the classic method {:.1} %",
            ours * 100.0,
            classic * 100.0
        );
        assert!(ours < 0.01 && classic > 0.15, "{ours} {classic}");
    }
}
