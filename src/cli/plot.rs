//! Anti-aliased lines and digits on a small RGBA image.

use glam::DVec2;

/// An opaque 8-bit RGBA image.
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

/// Glyphs of 3x5 dots, one row per byte; the leftmost dot is the highest bit.
const GLYPHS: [(char, [u8; 5]); 15] = [
    ('0', [0b111, 0b101, 0b101, 0b101, 0b111]),
    ('1', [0b010, 0b110, 0b010, 0b010, 0b111]),
    ('2', [0b111, 0b001, 0b111, 0b100, 0b111]),
    ('3', [0b111, 0b001, 0b111, 0b001, 0b111]),
    ('4', [0b101, 0b101, 0b111, 0b001, 0b001]),
    ('5', [0b111, 0b100, 0b111, 0b001, 0b111]),
    ('6', [0b111, 0b100, 0b111, 0b101, 0b111]),
    ('7', [0b111, 0b001, 0b010, 0b010, 0b010]),
    ('8', [0b111, 0b101, 0b111, 0b101, 0b111]),
    ('9', [0b111, 0b101, 0b111, 0b001, 0b111]),
    ('.', [0, 0, 0, 0, 0b010]),
    ('-', [0, 0, 0b111, 0, 0]),
    ('c', [0, 0b111, 0b100, 0b100, 0b111]),
    ('C', [0b111, 0b100, 0b100, 0b100, 0b111]),
    ('d', [0b001, 0b001, 0b111, 0b101, 0b111]),
];

/// Size of a glyph dot in pixels.
const DOT: usize = 2;

impl Canvas {
    pub fn new(width: usize, height: usize, [r, g, b]: [u8; 3]) -> Self {
        Self { width, height, pixels: vec![[r, g, b, 255]; width * height] }
    }

    fn mix(&mut self, x: usize, y: usize, color: [u8; 3], part: f64) {
        if let Some(pixel) = self.pixels.get_mut(y * self.width + x) {
            for (old, new) in pixel.iter_mut().zip(color) {
                *old = (f64::from(*old) + (f64::from(new) - f64::from(*old)) * part).round() as u8;
            }
        }
    }

    /// Draws a line; coordinates and `half_width` are in pixels. Coverage follows the distance of
    /// the pixel center from the edge.
    pub fn line(&mut self, a: DVec2, b: DVec2, half_width: f64, color: [u8; 3]) {
        self.polyline(&[a, b], half_width, color);
    }

    /// Draws connected lines; overlaps at joints are blended once.
    pub fn polyline(&mut self, points: &[DVec2], half_width: f64, color: [u8; 3]) {
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
        for (i, part) in covered.into_iter().enumerate().filter(|(_, part)| *part > 0.0) {
            self.mix(i % self.width, i / self.width, color, part);
        }
    }

    /// Draws text from its upper left corner; a character without a glyph prints as a space.
    pub fn text(&mut self, at: DVec2, text: &str, color: [u8; 3]) {
        for (index, character) in text.chars().enumerate() {
            let Some((_, rows)) = GLYPHS.iter().find(|(glyph, _)| *glyph == character) else {
                continue;
            };
            for (row, dots) in rows.iter().enumerate() {
                for column in (0..3).filter(|column| dots >> (2 - column) & 1 != 0) {
                    for (i, j) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
                        let x = at.x.max(0.0) as usize + (index * 4 + column) * DOT + i;
                        let y = at.y.max(0.0) as usize + row * DOT + j;
                        if x < self.width {
                            self.mix(x, y, color, 1.0);
                        }
                    }
                }
            }
        }
    }

    /// The image as RGBA8, top row first.
    pub fn into_rgba(self) -> Vec<u8> {
        self.pixels.into_flattened()
    }
}
