//! Pictures of sRGB bytes that scopes draw on.

use glam::DVec2;

use super::font;

/// sRGB red, green, blue.
pub type Rgb = [u8; 3];

/// A picture of sRGB bytes: red, green, blue, alpha (always 255); top row first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    width: usize,
    height: usize,
    rgba: Vec<u8>,
}

impl Raster {
    /// A picture of one color.
    #[must_use]
    pub fn new(width: usize, height: usize, color: Rgb) -> Self {
        let [r, g, b] = color;
        Self { width, height, rgba: [r, g, b, 255].repeat(width * height) }
    }

    /// Pixels across.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Pixels down.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// The bytes, four a pixel.
    #[must_use]
    pub fn rgba(&self) -> &[u8] {
        &self.rgba
    }

    /// The color of a pixel; `None` outside the picture.
    #[must_use]
    pub fn get(&self, x: usize, y: usize) -> Option<Rgb> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y * self.width + x) * 4;
        Some([*self.rgba.get(at)?, *self.rgba.get(at + 1)?, *self.rgba.get(at + 2)?])
    }

    /// Sets a pixel; no effect outside the picture.
    pub fn set(&mut self, x: usize, y: usize, [r, g, b]: Rgb) {
        if x < self.width
            && y < self.height
            && let Some(pixel) = self.rgba.get_mut((y * self.width + x) * 4..)
        {
            for (to, from) in pixel.iter_mut().zip([r, g, b]) {
                *to = from;
            }
        }
    }

    /// Fills the part of a rectangle that lies inside of the picture.
    pub fn fill(&mut self, [x, y]: [usize; 2], [width, height]: [usize; 2], color: Rgb) {
        for row in y..(y + height).min(self.height) {
            for column in x..(x + width).min(self.width) {
                self.set(column, row, color);
            }
        }
    }

    /// Draws connected lines; coordinates and `half_width` are in pixels. Coverage follows the
    /// distance of the pixel center from the edge, and overlaps at joints are blended once.
    pub fn polyline(&mut self, points: &[DVec2], half_width: f64, color: Rgb) {
        let mut covered = vec![0f64; self.width * self.height];
        let reach = half_width + 1.0;
        for pair in points.windows(2) {
            let &[a, b] = pair else { continue };
            if !(a.is_finite() && b.is_finite()) {
                continue;
            }
            let (low, high) = (a.min(b) - reach, a.max(b) + reach);
            let clamp = |x: f64, max: usize| x.clamp(0.0, max as f64) as usize;
            for y in clamp(low.y.floor(), self.height)..clamp(high.y.ceil(), self.height) {
                for x in clamp(low.x.floor(), self.width)..clamp(high.x.ceil(), self.width) {
                    let p = DVec2::new(x as f64 + 0.5, y as f64 + 0.5);
                    let along =
                        ((p - a).dot(b - a) / (b - a).length_squared().max(1e-12)).clamp(0.0, 1.0);
                    let distance = p.distance(a + (b - a) * along);
                    if let Some(part) = covered.get_mut(y * self.width + x) {
                        *part = part.max((half_width + 0.5 - distance).clamp(0.0, 1.0));
                    }
                }
            }
        }
        let pixels = self.rgba.as_chunks_mut::<4>().0.iter_mut();
        for (pixel, part) in pixels.zip(covered).filter(|(_, part)| *part > 0.0) {
            for (old, new) in pixel.iter_mut().zip(color) {
                *old = (f64::from(*old) + (f64::from(new) - f64::from(*old)) * part).round() as u8;
            }
        }
    }

    /// Copies another picture onto this one, its upper left corner at a position.
    pub fn paste(&mut self, [x, y]: [usize; 2], other: &Self) {
        for row in 0..other.height {
            for column in 0..other.width {
                if let Some(color) = other.get(column, row) {
                    self.set(x + column, y + row, color);
                }
            }
        }
    }

    /// Draws a line of text, its upper left corner at a position; each dot is `scale` x `scale`
    /// pixels.
    pub fn text(&mut self, [x, y]: [usize; 2], scale: usize, text: &str, color: Rgb) {
        for (index, character) in text.chars().enumerate() {
            for (row, bits) in font::glyph(character).into_iter().enumerate() {
                for column in
                    (0..font::WIDTH).filter(|column| bits >> (font::WIDTH - 1 - column) & 1 == 1)
                {
                    let at = [x + (index * font::ADVANCE + column) * scale, y + row * scale];
                    self.fill(at, [scale, scale], color);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_anti_aliased() {
        let mut raster = Raster::new(8, 5, [0; 3]);
        let row = |y: f64| [DVec2::new(-9.0, y), DVec2::new(4.0, y), DVec2::new(99.0, y)];
        raster.polyline(&row(2.5), 0.5, [200; 3]);
        assert_eq!(raster.get(4, 2), Some([200; 3]), "the joint is blended once");
        assert_eq!(raster.get(4, 1), Some([0; 3]));
        raster.polyline(&row(1.0), 0.5, [100; 3]);
        assert_eq!(raster.get(0, 0), Some([50; 3]), "half covered");
        raster.polyline(&[DVec2::NAN, DVec2::ONE], 9.0, [255; 3]);
        assert_eq!(raster.get(4, 4), Some([0; 3]));
    }

    #[test]
    fn a_raster_keeps_what_is_drawn_inside_of_it() {
        let mut raster = Raster::new(8, 8, [1, 2, 3]);
        raster.fill([6, 6], [9, 9], [9, 9, 9]);
        raster.set(100, 0, [5, 5, 5]);
        raster.text([0, 0], 1, "1", [255, 0, 0]);
        assert_eq!(raster.get(7, 7), Some([9, 9, 9]));
        assert_eq!(raster.get(5, 5), Some([1, 2, 3]));
        assert_eq!((raster.get(2, 0), raster.get(8, 0)), (Some([255, 0, 0]), None));
        assert_eq!(raster.rgba().len(), 8 * 8 * 4);
        assert!(raster.rgba().chunks_exact(4).all(|pixel| pixel[3] == 255));
        let mut onto = Raster::new(3, 3, [0; 3]);
        onto.paste([1, 1], &raster);
        assert_eq!(onto.get(1, 1), raster.get(0, 0));
    }
}
