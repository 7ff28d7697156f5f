//! Where in a pixel the frames of a picture sample it.

use glam::DVec2;

/// The radical inverse: the digits of a number in a base, mirrored at the point. From 0 to 1.
///
/// Halton 1960, "On the efficiency of certain quasi-random sequences of points in evaluating
/// multi-dimensional integrals", Numerische Mathematik 2.
#[must_use]
pub fn radical_inverse(mut number: u32, base: u32) -> f64 {
    let (mut inverse, mut digit) = (0.0, 1.0 / f64::from(base));
    while number > 0 {
        inverse += f64::from(number % base) * digit;
        number /= base;
        digit /= f64::from(base);
    }
    inverse
}

/// A frame's place in the pixel, of a sequence without end: Halton's in bases 2 and 3, in pixels
/// from the centre, each from -1/2 to 1/2. However many follow each other, they lie evenly.
#[must_use]
pub fn halton(frame: u32) -> DVec2 {
    let number = frame.wrapping_add(1);
    DVec2::new(radical_inverse(number, 2), radical_inverse(number, 3)) - 0.5
}

/// A sample's place in the pixel where it is known how many there will be: Hammersley's set, in
/// pixels from the centre. Of 1 it is the centre; a power of two lies in as many rows, columns and
/// boxes, one in each.
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
            // One in each of the boxes of 1/of, however they are cut.
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
