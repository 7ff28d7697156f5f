//! Subpixel sample positions of successive frames.

use glam::DVec2;

/// Radical inverse: the digits of a number in a base, mirrored at the radix point; 0 to 1.
///
/// Halton 1960, "On the efficiency of certain quasi-random sequences of points in evaluating
/// multi-dimensional integrals", Numerische Mathematik 2.
#[must_use]
fn radical_inverse(mut number: u32, base: u32) -> f64 {
    let (mut inverse, mut digit) = (0.0, 1.0 / f64::from(base));
    while number > 0 {
        inverse += f64::from(number % base) * digit;
        number /= base;
        digit /= f64::from(base);
    }
    inverse
}

/// Sample offset of a frame from the infinite Halton sequence in bases 2 and 3. Pixels from the
/// center, each from -1/2 to 1/2. Any prefix is evenly distributed.
#[must_use]
pub fn halton(frame: u32) -> DVec2 {
    let number = frame.wrapping_add(1);
    DVec2::new(radical_inverse(number, 2), radical_inverse(number, 3)) - 0.5
}

/// Sample offset from the Hammersley set for a known sample count `of`, in pixels from the center.
/// A count of 1 gives the center. For a power of two, each elementary interval (row, column or box)
/// holds one sample.
#[must_use]
pub fn hammersley(number: u32, of: u32) -> DVec2 {
    let of = of.max(1);
    let first = (f64::from(number % of) + 0.5) / f64::from(of);
    DVec2::new(radical_inverse(number % of, 2) + 0.5 / f64::from(of.next_power_of_two()), first)
        - 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_evenly_in_the_pixel() {
        assert_eq!(hammersley(0, 1), DVec2::ZERO);
        for of in [4u32, 16, 64] {
            // One sample in each elementary interval of area 1/of.
            for across in (0..=of.ilog2()).map(|bits| 1 << bits) {
                let down = of / across;
                let mut boxes = vec![0; of as usize];
                for number in 0..of {
                    let at = hammersley(number, of) + 0.5;
                    boxes[((at.x * f64::from(across)) as u32 * down
                        + (at.y * f64::from(down)) as u32) as usize] += 1;
                }
                assert!(boxes.iter().all(|&count| count == 1), "{of}: {across}x{down}");
            }
        }
    }

    #[test]
    fn the_sequence_covers_any_rectangle_as_its_area_says() {
        for (x, y) in [(0.5, 1.0), (0.3, 0.7), (0.9, 0.1), (1.0, 1.0 / 3.0)] {
            let inside = (0..1024)
                .filter(|&frame| (halton(frame) + 0.5).cmplt(DVec2::new(x, y)).all())
                .count();
            // Halton 1960: the discrepancy falls as ln(N)^2 / N.
            assert!((inside as f64 / 1024.0 - x * y).abs() < 0.006, "{x} {y}: {inside}");
        }
    }
}
