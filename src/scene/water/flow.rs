//! How a pattern is carried by a flow without being torn: two layers of it, half a cycle apart,
//! each carried for one cycle and then begun anew while nobody sees it (Vlachos, "Water Flow in
//! Portal 2", SIGGRAPH 2010, Advances in Real-Time Rendering).
//!
//! Three things differ from that talk. Each place has a phase of its own, so that not all of the
//! surface is between its layers at once; what is blended are slopes (dh/dx, dh/dz), whose sum is
//! divided by the root of the weights' squares, so that their variance is the same at all times, as
//! that of independent numbers is; and the pattern is carried from half a cycle before to half a
//! cycle after its place, which halves how much it is stretched.

use glam::DVec2;

/// What the second layer's pattern is shifted by, in tiles: to a place that has nothing in common
/// with the first.
pub const LAYER_SHIFT: DVec2 = DVec2::new(0.5, 0.5);
/// What each cycle's pattern is shifted by, in tiles: half a tile further one way or the other, so
/// that it has nothing in common with the cycle before nor with the other layer, which is at the
/// same cycle or at the next.
pub const JUMPS: [DVec2; 4] =
    [DVec2::ZERO, DVec2::new(0.5, 0.0), DVec2::new(0.5, 0.5), DVec2::new(0.0, 0.5)];
/// Cycles after which all is as it was.
pub const CYCLES: f64 = JUMPS.len() as f64;

/// One of the two layers at a place and a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLayer {
    /// Where in its cycle it is, 0 to 1.
    pub phase: f64,
    /// How much of it is seen, 0 to 1; both layers' weights sum to 1.
    pub weight: f64,
    /// Seconds for which the flow has carried it, from half a cycle before its place to half a
    /// cycle after.
    pub carried: f64,
    /// What its pattern is shifted by, in tiles.
    pub shift: DVec2,
}

/// Both layers. `cycles`: time over the period of a cycle; `noise`: the place's own phase, 0 to 1;
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

/// Where on the pattern's tile (tiles, from its corner) a layer has what is seen at a place (m);
/// `velocity` in m/s, `tile` in m.
#[must_use]
pub fn tile_place(layer: &FlowLayer, place: DVec2, velocity: DVec2, tile: f64) -> DVec2 {
    (place - velocity * layer.carried) / tile + layer.shift
}

/// Two layers' slopes as one: of the variance that each has, where they are independent.
#[must_use]
pub fn blend_slopes(layers: &[FlowLayer; 2], slopes: [DVec2; 2]) -> DVec2 {
    let [a, b] = layers.each_ref().map(|layer| layer.weight);
    (slopes[0] * a + slopes[1] * b) / a.hypot(b)
}

/// A component of a flow vector from eight bits: nothing flows at 128, which 127.5 would miss; -1
/// to 1.
#[must_use]
pub fn component(code: u8) -> f64 {
    ((f64::from(code) - 128.0) / 127.0).max(-1.0)
}

/// The eight bits of a component.
#[must_use]
pub fn code(component: f64) -> u8 {
    (component.clamp(-1.0, 1.0) * 127.0 + 128.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::water::waves;

    #[test]
    fn weights_sum_to_one_and_are_nothing_where_a_layer_begins_anew() {
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
        // Begun anew, it is another part of the pattern.
        let (before, after) = (layers(0.999_999, 0.0, 1.0)[0], layers(1.0, 0.0, 1.0)[0]);
        assert!(before.weight < 1e-5 && after.weight == 0.0 && before.shift != after.shift);
    }

    #[test]
    fn a_pattern_goes_as_fast_as_the_water() {
        // In 0.1 s at 3 m/s what was at x is at x + 0.3.
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
        // Formulas, section 8: with one phase for all, blending by weights alone keeps 1/2 to 1 of
        // the variance.
        let factor =
            |layers: &[FlowLayer; 2]| layers.iter().map(|layer| layer.weight.powi(2)).sum::<f64>();
        assert_eq!(factor(&layers(0.25, 0.0, 1.0)), 0.5);
        assert_eq!(factor(&layers(0.5, 0.0, 1.0)), 1.0);
        // With a phase for each place it keeps 2/3 of it; blended as slopes are, all.
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

    /// How bright a patch of still water looks whose facets send light on by the square of their
    /// slopes: means over the patch, through a cycle. `classic`: as in the talk, normals blended by
    /// their weights, with one phase for all.
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
            "temporal deviation of a patch's mean: {:.2} %, the classic way's {:.1} %",
            ours * 100.0,
            classic * 100.0
        );
        assert!(ours < 0.01 && classic > 0.15, "{ours} {classic}");
    }
}
