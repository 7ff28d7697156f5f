//! Pictures of sRGB bytes that scopes draw on.

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
