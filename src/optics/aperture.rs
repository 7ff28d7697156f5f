//! Amplitude transmission of the aperture: blades, their curvature and rotation, anamorphic
//! squeeze, dust and scratches.
//!
//! Lengths are in radii of the circle through the iris' corners, angles in radians, y up.

use std::f64::consts::TAU;

use super::thin_lens::{Iris, LensError};

/// Number of dust specks at `dust` = 1.
const MAX_SPECKS: f64 = 160.0;
/// Number of scratches at `scratches` = 1.
const MAX_SCRATCHES: f64 = 24.0;
/// Straight segments of a round outline; they lie within 3 parts in 10 million of it.
const PIECES: u32 = 4096;
/// Minimum and maximum diameter of a raster, in samples.
const DIAMETERS: [usize; 2] = [16, 4096];

/// An aperture: iris shape, squeeze and contamination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aperture {
    /// Blades, curvature and rotation.
    pub iris: Iris,
    /// Ratio of the aperture's width to its width without cylinders in front, 0.25 to 1. A 2x
    /// anamorphic lens has 0.5.
    pub squeeze: f64,
    /// Dust, 0 (clean) to 1: up to 160 specks of 0.4 to 2 % of the radius.
    pub dust: f64,
    /// Scratches, 0 (none) to 1: up to 24 straight lines, 0.2 to 0.6 % of the radius wide.
    pub scratches: f64,
    /// Random seed of the positions of specks and scratches.
    pub seed: u32,
}

impl Default for Aperture {
    /// A clean circle.
    fn default() -> Self {
        Self { iris: Iris::default(), squeeze: 1.0, dust: 0.0, scratches: 0.0, seed: 0 }
    }
}

/// Amplitude transmission of the aperture on its bounding square: 0 closed, 1 open, partial
/// coverage at edges. Outside of the grid it is closed.
#[derive(Clone, Debug, PartialEq)]
pub struct ApertureMask {
    /// Samples along each side.
    pub diameter: usize,
    /// Row by row, the lowest first.
    pub values: Vec<f32>,
}

impl ApertureMask {
    /// Open area in samples: the sum of amplitudes.
    #[must_use]
    pub fn open(&self) -> f64 {
        self.values.iter().map(|&value| f64::from(value)).sum()
    }

    /// Transmitted light relative to one sample of an open grid: the sum of squared amplitudes.
    #[must_use]
    pub fn power(&self) -> f64 {
        self.values.iter().map(|&value| f64::from(value).powi(2)).sum()
    }
}

impl Aperture {
    /// Returns the aperture if its parameters are valid.
    ///
    /// # Errors
    /// `LensError` if the squeeze is not 0.25 to 1, dust, scratches or curvature are not 0 to 1, or
    /// the rotation is not finite.
    pub fn checked(self) -> Result<Self, LensError> {
        let check = |what, value: f64, [min, max]: [f64; 2], allowed| {
            if (min..=max).contains(&value) {
                Ok(())
            } else {
                Err(LensError::Value { what, value, allowed })
            }
        };
        check("the aperture's squeeze", self.squeeze, [0.25, 1.0], "0.25 to 1")?;
        check("the amount of dust", self.dust, [0.0, 1.0], "0 to 1")?;
        check("the amount of scratches", self.scratches, [0.0, 1.0], "0 to 1")?;
        check("the blades' curvature", self.iris.curvature, [0.0, 1.0], "0 to 1")?;
        check("the iris' rotation in rad", self.iris.rotation, [f64::MIN, f64::MAX], "finite")?;
        Ok(self)
    }

    /// Outline polygon, counter-clockwise.
    fn outline(&self) -> Vec<[f64; 2]> {
        let blades = if self.iris.blades < 3 { 1 } else { self.iris.blades };
        let straight = blades > 1 && self.iris.curvature <= 0.0;
        let pieces = if straight { 1 } else { PIECES.div_ceil(blades) };
        let start = if blades > 1 { self.iris.rotation } else { 0.0 };
        (0..blades * pieces)
            .map(|piece| {
                let angle = start + TAU * f64::from(piece) / f64::from(blades * pieces);
                let radius = self.iris.edge(angle);
                [radius * angle.cos() * self.squeeze, radius * angle.sin()]
            })
            .collect()
    }

    /// Rasterizes the aperture on `diameter` by `diameter` samples (clamped to 16 to 4096).
    ///
    /// Edges have exact area coverage. The outline's transform is therefore that of the continuous
    /// aperture times the known transform of a sample (`Diffraction`).
    ///
    /// # Errors
    /// Invalid parameters (`checked`).
    pub fn raster(&self, diameter: usize) -> Result<ApertureMask, LensError> {
        let aperture = self.checked()?;
        let diameter = diameter.clamp(DIAMETERS[0], DIAMETERS[1]);
        let radius = diameter as f64 / 2.0;
        let mut cover = Coverage::new(diameter);
        let outline = aperture.outline();
        for (index, &[x, y]) in outline.iter().enumerate() {
            let [to_x, to_y] = outline[(index + 1) % outline.len()];
            cover
                .edge([x, y].map(|v| (v + 1.0) * radius), [to_x, to_y].map(|v| (v + 1.0) * radius));
        }
        let mut mask = ApertureMask { diameter, values: cover.finish() };
        aperture.apply_dust_and_scratches(&mut mask);
        Ok(mask)
    }

    /// Attenuates the mask by dust and scratches.
    fn apply_dust_and_scratches(&self, mask: &mut ApertureMask) {
        let radius = mask.diameter as f64 / 2.0;
        let mut random =
            Random(u64::from(self.seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5354_4152);
        for _ in 0..(self.dust * MAX_SPECKS).round() as u32 {
            let (far, angle) = (random.next().sqrt(), random.next() * TAU);
            let center = [far * angle.cos() * self.squeeze, far * angle.sin()];
            // Most specks are small.
            let size = 0.004 * 5f64.powf(random.next().powi(2));
            let opacity = 0.5 + 0.5 * random.next();
            darken(mask, center, center, size * radius, opacity);
        }
        for _ in 0..(self.scratches * MAX_SCRATCHES).round() as u32 {
            let (far, angle) = (random.next().sqrt(), random.next() * TAU);
            let turn = random.next() * TAU;
            let half = 0.1 + 0.5 * random.next();
            let center = [far * angle.cos(), far * angle.sin()];
            let end = |side: f64| {
                [(center[0] + side * turn.cos()) * self.squeeze, center[1] + side * turn.sin()]
            };
            let size = 0.001 + 0.002 * random.next();
            let opacity = 0.4 + 0.6 * random.next();
            darken(mask, end(-half), end(half), size * radius, opacity);
        }
    }
}

/// Darkens a capsule; `size` is half of its width in samples.
fn darken(mask: &mut ApertureMask, from: [f64; 2], to: [f64; 2], size: f64, opacity: f64) {
    let radius = mask.diameter as f64 / 2.0;
    let place = |p: [f64; 2]| p.map(|v| (v + 1.0) * radius);
    let (from, to) = (place(from), place(to));
    let along = [to[0] - from[0], to[1] - from[1]];
    let length2 = along[0] * along[0] + along[1] * along[1];
    let bound = |axis: usize| {
        let low = (from[axis].min(to[axis]) - size - 1.0).max(0.0) as usize;
        let high =
            (from[axis].max(to[axis]) + size + 2.0).clamp(0.0, mask.diameter as f64) as usize;
        low.min(high)..high
    };
    let (columns, rows) = (bound(0), bound(1));
    for y in rows {
        for x in columns.clone() {
            let at = [x as f64 + 0.5 - from[0], y as f64 + 0.5 - from[1]];
            let t = if length2 > 0.0 {
                ((at[0] * along[0] + at[1] * along[1]) / length2).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let distance = (at[0] - along[0] * t).hypot(at[1] - along[1] * t);
            // One sample of falloff: a line narrower than that keeps its area.
            let across = (size + 0.5 - distance).clamp(0.0, (2.0 * size).min(1.0));
            mask.values[y * mask.diameter + x] *= (1.0 - opacity * across) as f32;
        }
    }
}

/// Exact area coverage of a polygon on a grid. Each edge adds, to the samples it crosses, the
/// change of the area to its right; prefix sums along rows are the coverage.
struct Coverage {
    side: usize,
    /// Rows of `side` + 1 elements, for edges along the last border.
    changes: Vec<f32>,
}

impl Coverage {
    fn new(side: usize) -> Self {
        Self { side, changes: vec![0.0; side * (side + 1)] }
    }

    /// Adds an edge, in samples from the lower left corner; clamps points outside of the grid to
    /// its border.
    fn edge(&mut self, from: [f64; 2], to: [f64; 2]) {
        let limit = self.side as f64;
        let (low, high, sign) = if from[1] <= to[1] { (from, to, -1.0) } else { (to, from, 1.0) };
        let height = high[1] - low[1];
        if height <= 0.0 {
            return;
        }
        let slope = (high[0] - low[0]) / height;
        let at = |y: f64| (low[0] + (y - low[1]) * slope).clamp(0.0, limit);
        let mut y = low[1].clamp(0.0, limit);
        let end = high[1].clamp(0.0, limit);
        while y < end {
            let row = y.floor();
            let next = (row + 1.0).min(end);
            self.in_row(row as usize, [at(y), at(next)], sign * (next - y));
            y = next;
        }
    }

    /// Adds a piece within one row; `height` has the sign of its direction.
    fn in_row(&mut self, row: usize, ends: [f64; 2], height: f64) {
        let (left, right) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let changes = &mut self.changes[row * (self.side + 1)..][..self.side + 1];
        let mut x = left;
        loop {
            let column = (x.floor() as usize).min(self.side - 1);
            let end = right.min((column + 1) as f64);
            let part = if right > left { height * (end - x) / (right - left) } else { height };
            let inside = (x + end) / 2.0 - column as f64;
            changes[column] += (part * (1.0 - inside)) as f32;
            changes[column + 1] += (part * inside) as f32;
            if end >= right {
                return;
            }
            x = end;
        }
    }

    fn finish(self) -> Vec<f32> {
        let rows = self.changes.chunks_exact(self.side + 1).map(|row| {
            let mut sum = 0f64;
            row[..self.side].iter().map(move |&change| {
                sum += f64::from(change);
                sum.clamp(0.0, 1.0) as f32
            })
        });
        rows.flatten().collect()
    }
}

/// Uniform random numbers in 0 to 1. Steele, Lea and Flood 2014, "Fast Splittable Pseudorandom
/// Number Generators", section 5 (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    fn iris(blades: u32, curvature: f64, rotation: f64) -> Aperture {
        Aperture { iris: Iris { blades, curvature, rotation }, ..Aperture::default() }
    }

    #[test]
    fn the_area_is_exact() {
        for (blades, curvature, rotation) in
            [(0, 0.0, 0.0), (5, 0.0, 0.3), (6, 0.0, 0.0), (8, 0.5, 1.0), (9, 1.0, 0.1)]
        {
            for squeeze in [1.0, 0.5] {
                let aperture = Aperture { squeeze, ..iris(blades, curvature, rotation) };
                let open = aperture.raster(256).unwrap().open();
                let want = aperture.iris.relative_area() * PI * 128.0 * 128.0 * squeeze;
                assert!(
                    (open / want - 1.0).abs() < 3e-5,
                    "{blades} {curvature} {squeeze}: {open}, expected {want}"
                );
            }
        }
    }

    #[test]
    fn samples_are_open_inside_and_closed_outside() {
        let square = iris(4, 0.0, std::f64::consts::FRAC_PI_4).raster(100).unwrap();
        // A square of 70.71 samples: its border is at 50 - 35.355 = 14.645.
        let at = |x: usize, y: usize| square.values[y * 100 + x];
        assert_eq!((at(50, 50), at(13, 50), at(50, 86)), (1.0, 0.0, 0.0));
        assert!((at(14, 50) - 0.35534).abs() < 1e-4, "{}", at(14, 50));
        assert!((at(14, 14) - 0.35534f32.powi(2)).abs() < 1e-4);
        // The corner at 30 degrees is up and to the right.
        let triangle = iris(3, 0.0, PI / 6.0).raster(100).unwrap();
        let (x, y) = (50.0 + 48.0 * (PI / 6.0).cos(), 50.0 + 48.0 * (PI / 6.0).sin());
        assert!(
            triangle.values[y as usize * 100 + x as usize] > 0.0
                && triangle.values[26 * 100 + 93] == 0.0
        );
    }

    #[test]
    fn dust_and_scratches_take_light_and_stay_where_they_are() {
        let clean = Aperture::default().raster(512).unwrap().power();
        let dusty = Aperture { dust: 1.0, ..Aperture::default() };
        let scratched = Aperture { scratches: 1.0, ..Aperture::default() };
        for soiled in [dusty, scratched] {
            let mask = soiled.raster(512).unwrap();
            let lost = 1.0 - mask.power() / clean;
            assert!((0.001..0.15).contains(&lost), "{lost}");
            assert_eq!(mask, soiled.raster(512).unwrap());
            assert_ne!(mask, Aperture { seed: 1, ..soiled }.raster(512).unwrap());
            assert!(mask.values.iter().all(|value| (0.0..=1.0).contains(value)));
            // Equal light at every resolution, up to soft edges.
            let finer = 1.0 - soiled.raster(1024).unwrap().power() / (4.0 * clean);
            assert!((finer / lost - 1.0).abs() < 0.2, "{finer} {lost}");
        }
    }

    #[test]
    fn impossible_apertures_are_refused() {
        let good = Aperture::default();
        for bad in [
            Aperture { squeeze: 0.0, ..good },
            Aperture { squeeze: f64::NAN, ..good },
            Aperture { dust: -1.0, ..good },
            Aperture { scratches: 2.0, ..good },
            iris(5, f64::NAN, 0.0),
            iris(5, 0.0, f64::INFINITY),
        ] {
            assert!(matches!(bad.raster(64), Err(LensError::Value { .. })), "{bad:?}");
        }
    }
}
