//! Modifiers of spots by direction: barn doors, snoot, grid and gobo.
//!
//! Directions are in the light's space: it emits along -Z, +X is to its right, +Y up. A
//! transmittance is the fraction of the light that passes, 0 to 1.

use std::f64::consts::PI;

use glam::{DVec2, DVec3, dvec2};

/// Barn doors: a flap at each side, seen from the light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarnDoors {
    /// Angles (rad) from the axis to the edges of the left, right, top and bottom flap; negative
    /// beyond the axis, infinite without a flap.
    pub edges: [f64; 4],
    /// Angular width (rad) of the penumbra of each edge, that of the source seen from the flap.
    pub penumbra: f64,
}

impl BarnDoors {
    /// Transmittance in a direction. The part of a round source that a straight edge leaves
    /// uncovered: `1/2 + (x sqrt(1 - x^2) + asin x) / pi` at `x` half penumbras from the edge.
    #[must_use]
    pub fn transmittance(&self, direction: DVec3) -> f64 {
        let across = direction.x.atan2(-direction.z);
        let up = direction.y.atan2(-direction.z);
        let sides = [-across, across, up, -up];
        let pairs = self.edges.iter().zip(sides);
        pairs.map(|(edge, angle)| uncovered((edge - angle) / (self.penumbra / 2.0))).product()
    }
}

/// Part of a round source beyond a straight edge at `x` radii from its middle.
fn uncovered(x: f64) -> f64 {
    if x.is_nan() {
        return 0.5;
    }
    let x = x.clamp(-1.0, 1.0);
    0.5 + (x * (1.0 - x * x).sqrt() + x.asin()) / PI
}

/// Transmittance of a black tube of a length over diameter, with a source as wide as the tube at
/// its end: the overlap of two circles, `2/pi (acos x - x sqrt(1 - x^2))` with `x = ratio tan
/// theta`.
#[must_use]
pub fn snoot_transmittance(ratio: f64, direction: DVec3) -> f64 {
    let Some(shift) = slope(direction) else { return 0.0 };
    let x = (ratio * shift.length()).min(1.0);
    2.0 / PI * (x.acos() - x * (1.0 - x * x).sqrt())
}

/// Transmittance of a black honeycomb with cells of a depth over width (across flats) and thin
/// walls: the overlap of a hexagon with itself, shifted by `ratio tan theta` widths. Two flats of
/// each cell are level.
#[must_use]
pub fn grid_transmittance(ratio: f64, direction: DVec3) -> f64 {
    let Some(slope) = slope(direction) else { return 0.0 };
    // The hexagon has the width 1: its corners lie at 1 / sqrt 3.
    let shift = slope * ratio;
    let corner = |k: u32| DVec2::from_angle(f64::from(k) * PI / 3.0) / 3f64.sqrt();
    let mut shape: Vec<DVec2> = (0..6).map(corner).collect();
    for k in 0..6 {
        let normal = DVec2::from_angle((f64::from(k) + 0.5) * PI / 3.0);
        let inside = |p: DVec2| 0.5 + normal.dot(shift - p);
        let mut cut = Vec::with_capacity(shape.len() + 1);
        for (i, &a) in shape.iter().enumerate() {
            let b = shape[(i + 1) % shape.len()];
            let (da, db) = (inside(a), inside(b));
            if da >= 0.0 {
                cut.push(a);
            }
            if (da > 0.0 && db < 0.0) || (da < 0.0 && db > 0.0) {
                cut.push(a.lerp(b, da / (da - db)));
            }
        }
        shape = cut;
    }
    let twice: f64 =
        (0..shape.len()).map(|i| shape[i].perp_dot(shape[(i + 1) % shape.len()])).sum();
    // Of the whole hexagon: sqrt 3 / 2.
    (twice / 2.0 / (3f64.sqrt() / 2.0)).clamp(0.0, 1.0)
}

/// Tangents of a direction to the axis; `None` behind the light.
fn slope(direction: DVec3) -> Option<DVec2> {
    (direction.z < 0.0).then(|| dvec2(direction.x, direction.y) / -direction.z)
}

/// A gobo: a picture in the beam, as its transmittance.
#[derive(Clone, Debug, PartialEq)]
pub struct Gobo {
    width: usize,
    height: usize,
    /// Sums of all texels above and left of each corner.
    sums: Vec<f64>,
}

impl Gobo {
    /// A picture of transmittances, row by row from the top; values are clamped to 0 to 1, NaN is
    /// 0. `None` unless there are `width` times `height` values, at least one.
    #[must_use]
    pub fn new(width: usize, height: usize, texels: &[f32]) -> Option<Self> {
        let count = width.checked_mul(height).filter(|&count| count > 0 && count == texels.len());
        count?;
        let mut sums = vec![0.0; (width + 1) * (height + 1)];
        for (y, row) in texels.chunks_exact(width).enumerate() {
            let mut sum = 0.0;
            for (x, &texel) in row.iter().enumerate() {
                // NaN is not above 0.
                sum += if texel > 0.0 { f64::from(texel).min(1.0) } else { 0.0 };
                sums[(y + 1) * (width + 1) + x + 1] = sums[y * (width + 1) + x + 1] + sum;
            }
        }
        Some(Self { width, height, sums })
    }

    /// Mean transmittance of the picture.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean_of([0.0, 1.0], [0.0, 1.0])
    }

    /// Mean transmittance over a part of the picture: ranges from left to right and from top to
    /// bottom, 0 to 1. Outside of the picture is black.
    fn mean_of(&self, across: [f64; 2], down: [f64; 2]) -> f64 {
        let [x0, x1] = across.map(|x| x * self.width as f64);
        let [y0, y1] = down.map(|y| y * self.height as f64);
        let sum = self.sum(x1, y1) - self.sum(x0, y1) - self.sum(x1, y0) + self.sum(x0, y0);
        (sum / ((x1 - x0) * (y1 - y0))).clamp(0.0, 1.0)
    }

    /// Sum of the texels above and left of a point, in texels; linear within a texel.
    fn sum(&self, x: f64, y: f64) -> f64 {
        let (x, y) = (x.clamp(0.0, self.width as f64), y.clamp(0.0, self.height as f64));
        let (left, top) =
            ((x.floor() as usize).min(self.width - 1), (y.floor() as usize).min(self.height - 1));
        let (fx, fy) = (x - left as f64, y - top as f64);
        let at = |x: usize, y: usize| self.sums[y * (self.width + 1) + x];
        let above = at(left, top) + (at(left + 1, top) - at(left, top)) * fx;
        let below = at(left, top + 1) + (at(left + 1, top + 1) - at(left, top + 1)) * fx;
        above + (below - above) * fy
    }

    /// Transmittance in a direction, if the picture spans the square around a cone of `half_angle`
    /// (rad): the mean over a square of `width`, in parts of the picture. Seen along the beam, left
    /// is -X and the top is +Y.
    #[must_use]
    pub fn transmittance(&self, direction: DVec3, half_angle: f64, width: f64) -> f64 {
        let Some(slope) = slope(direction) else { return 0.0 };
        let place = slope / half_angle.tan();
        let (x, y) = (0.5 + 0.5 * place.x, 0.5 - 0.5 * place.y);
        let half = width / 2.0;
        self.mean_of([x - half, x + half], [y - half, y + half])
    }
}
