//! Color maps of errors, for written maps and reports.

use crate::camera::scopes::Raster;

/// An 8-bit sRGB color.
pub type Rgb = [u8; 3];

/// The magma color map, in which FLIP's errors are painted: black, through purple and orange, to
/// pale yellow.
///
/// Smith and van der Walt, "A Better Default Colormap for Matplotlib", SciPy 2015. These evenly
/// spaced points are interpolated linearly, which is within 4 codes of the whole map.
pub const MAGMA: [Rgb; 17] = [
    [0, 0, 4],
    [10, 8, 34],
    [29, 17, 71],
    [54, 16, 107],
    [81, 18, 124],
    [106, 28, 129],
    [131, 38, 129],
    [156, 46, 127],
    [183, 55, 121],
    [207, 64, 112],
    [229, 80, 100],
    [244, 105, 92],
    [251, 135, 97],
    [254, 165, 113],
    [254, 194, 135],
    [253, 224, 161],
    [252, 253, 191],
];

/// Color map for signed differences: blue below 0, black at 0, orange above.
pub const SIGNED: [Rgb; 9] = [
    [190, 240, 255],
    [70, 170, 255],
    [25, 80, 190],
    [10, 30, 80],
    [12, 12, 12],
    [85, 30, 8],
    [190, 75, 15],
    [255, 160, 50],
    [255, 240, 170],
];

/// Samples evenly spaced colors at `place`, 0 to 1. Beyond it the result is the first or last
/// color; NaN gives the first.
#[must_use]
pub fn sample_colormap<const N: usize>(points: &[Rgb; N], place: f32) -> Rgb {
    let place = if place > 0.0 { place.min(1.0) * (N - 1) as f32 } else { 0.0 };
    let index = (place as usize).min(N.saturating_sub(2));
    let part = place - index as f32;
    std::array::from_fn(|channel| {
        let (a, b) =
            (f32::from(points[index][channel]), f32::from(points[(index + 1).min(N - 1)][channel]));
        (a + (b - a) * part).round() as u8
    })
}

/// Paints a map of values as an image: values of 0 to 1 are colors of `points`.
#[must_use]
pub fn paint<const N: usize>(
    points: &[Rgb; N],
    width: usize,
    places: impl Iterator<Item = f32>,
) -> Raster {
    let colors: Vec<Rgb> = places.map(|place| sample_colormap(points, place)).collect();
    let mut raster = Raster::new(width, colors.len() / width.max(1), [0; 3]);
    for (index, color) in colors.into_iter().enumerate() {
        raster.set(index % width, index / width, color);
    }
    raster
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::scopes::color_vision::{ColorVision, difference};

    #[test]
    fn colormaps_are_readable_with_color_blindness() {
        for eye in ColorVision::ALL {
            let [magma, signed] = [MAGMA.as_slice(), SIGNED.as_slice()]
                .map(|map| map.iter().map(|color| eye.lab(*color)).collect::<Vec<_>>());
            let nearest = |map: &[[f64; 3]]| {
                map.windows(2).map(|w| difference(w[0], w[1])).fold(f64::INFINITY, f64::min)
            };
            println!("{eye:?}: magma {:.1}, signed {:.1}", nearest(&magma), nearest(&signed));
            assert!(nearest(&magma) >= 5.0 && nearest(&signed) >= 15.0, "{eye:?}");
            // Lightness increases with the error, so that color blindness does not matter.
            assert!(magma.windows(2).all(|w| w[0][0] < w[1][0]), "{eye:?}");
            // Lightness increases away from 0 on both sides, and hue distinguishes the sides.
            let middle = SIGNED.len() / 2;
            assert!(signed[..=middle].windows(2).all(|w| w[0][0] > w[1][0]), "{eye:?}");
            assert!(signed[middle..].windows(2).all(|w| w[0][0] < w[1][0]), "{eye:?}");
            for step in 1..=middle {
                let sides = difference(signed[middle - step], signed[middle + step]);
                assert!(sides >= 15.0, "{eye:?}: {step} steps off, {sides:.1}");
            }
        }
    }
}
