//! Zone system overlay: Adams's zones 0 to X of a picture.

use super::{
    font,
    labels::{short, text_scale},
    luminances::{Luminances, luminance_of},
    raster::{Raster, Rgb},
};
use crate::{
    camera::{Exposure, metering::zone},
    photometry::{Ev100, Nit},
};

/// The names of the zones: Ansel Adams, "The Negative" (1981), chapter 4.
pub const NAMES: [&str; 11] = ["0", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"];

const OUTLINE: Rgb = [255, 170, 0];
const INK: Rgb = [255, 255, 255];
const SHADOW: Rgb = [0, 0, 0];
const PAPER: Rgb = [18, 18, 18];

/// The zone of each pixel under an exposure. A zone is a stop; V is half a stop below to half a
/// stop above gray; 0 includes everything darker than I, X everything brighter than IX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneMap {
    width: usize,
    height: usize,
    zones: Vec<u8>,
}

/// A connected area of a picture in one zone, with the position of its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneRegion {
    /// The zone, 0 to 10.
    pub zone: u8,
    /// Number of pixels.
    pub pixels: usize,
    /// The pixel farthest from the area's edge: column and row.
    pub label_position: [usize; 2],
    /// Chessboard distance of `place` from the edge: a square of `2 room - 1` pixels around it lies
    /// inside.
    pub room: usize,
}

impl ZoneMap {
    /// The zones of a picture.
    #[must_use]
    pub fn new(picture: Luminances<'_>, exposure: Exposure) -> Self {
        let of = |&nits: &f32| {
            let place = zone(Nit(f64::from(nits)), exposure);
            // The cast maps NaN and negative values to 0.
            (place + 0.5).floor().min(10.0) as u8
        };
        Self {
            width: picture.width,
            height: picture.height,
            zones: picture.nits.iter().map(of).collect(),
        }
    }

    /// The zone of a pixel, 0 to 10; `None` outside the picture.
    #[must_use]
    pub fn get(&self, x: usize, y: usize) -> Option<u8> {
        if x < self.width && y < self.height {
            self.zones.get(y * self.width + x).copied()
        } else {
            None
        }
    }

    /// Pixels in each zone.
    #[must_use]
    pub fn counts(&self) -> [usize; 11] {
        let mut counts = [0; 11];
        for &zone in &self.zones {
            if let Some(count) = counts.get_mut(usize::from(zone)) {
                *count += 1;
            }
        }
        counts
    }

    /// Chessboard distance of each pixel from the nearest pixel of another zone or outside the
    /// picture; 1 beside it. Rosenfeld and Pfaltz, "Sequential Operations in Digital
    /// Picture Processing", J. ACM 13 (1966), chessboard distance in two passes.
    fn distances(&self) -> Vec<u32> {
        let (w, h) = (self.width, self.height);
        let mut distance = vec![0u32; w * h];
        let near = |distance: &[u32], x: usize, y: usize, offsets: [(isize, isize); 4]| {
            let zone = self.zones.get(y * w + x);
            let of = |(dx, dy): (isize, isize)| {
                let (Some(nx), Some(ny)) = (x.checked_add_signed(dx), y.checked_add_signed(dy))
                else {
                    return 0;
                };
                if nx >= w || ny >= h || self.zones.get(ny * w + nx) != zone {
                    return 0;
                }
                distance.get(ny * w + nx).copied().unwrap_or(0)
            };
            offsets.map(of).into_iter().min().unwrap_or(0) + 1
        };
        for y in 0..h {
            for x in 0..w {
                let value = near(&distance, x, y, [(-1, 0), (-1, -1), (0, -1), (1, -1)]);
                if let Some(to) = distance.get_mut(y * w + x) {
                    *to = value;
                }
            }
        }
        for y in (0..h).rev() {
            for x in (0..w).rev() {
                let value = near(&distance, x, y, [(1, 0), (1, 1), (0, 1), (-1, 1)]);
                if let Some(to) = distance.get_mut(y * w + x) {
                    *to = value.min(*to);
                }
            }
        }
        distance
    }

    /// The connected parts (four neighbors), in the order of their first pixel.
    #[must_use]
    pub fn areas(&self) -> Vec<ZoneRegion> {
        let distance = self.distances();
        let mut seen = vec![false; self.zones.len()];
        let mut areas = Vec::new();
        let mut open = Vec::new();
        for start in 0..self.zones.len() {
            if std::mem::replace(&mut seen[start], true) {
                continue;
            }
            let zone = self.zones[start];
            let mut area = ZoneRegion { zone, pixels: 0, label_position: [0, 0], room: 0 };
            open.push(start);
            while let Some(index) = open.pop() {
                let (x, y) = (index % self.width, index / self.width);
                area.pixels += 1;
                let room = distance[index] as usize;
                // Ties go to the first in reading order, independent of the traversal order.
                if (room, std::cmp::Reverse([y, x]))
                    > (
                        area.room,
                        std::cmp::Reverse([area.label_position[1], area.label_position[0]]),
                    )
                {
                    (area.room, area.label_position) = (room, [x, y]);
                }
                let mut visit = |next: usize| {
                    if self.zones[next] == zone && !std::mem::replace(&mut seen[next], true) {
                        open.push(next);
                    }
                };
                if x > 0 {
                    visit(index - 1);
                }
                if x + 1 < self.width {
                    visit(index + 1);
                }
                if y > 0 {
                    visit(index - self.width);
                }
                if y + 1 < self.height {
                    visit(index + self.width);
                }
            }
            areas.push(area);
        }
        areas
    }

    /// Draws the display picture (RGBA8) in grays, with zones outlined and labeled if the label
    /// fits, and a legend below. Without a display picture the zones are flat grays.
    #[must_use]
    pub fn draw(&self, display: Option<&[u8]>, exposure: Exposure) -> Raster {
        let scale = text_scale(self.height);
        let legend = legend(self.width, scale, exposure);
        let mut raster =
            Raster::new(self.width.max(legend.width()), self.height + legend.height(), PAPER);
        let background =
            |index: usize| match display.and_then(|bytes| bytes.get(index * 4..index * 4 + 3)) {
                Some(&[r, g, b]) => {
                    // Rec.709 weights on the codes: a gray background, not a measurement.
                    let gray =
                        (u32::from(r) * 2126 + u32::from(g) * 7152 + u32::from(b) * 722) / 10_000;
                    [gray as u8; 3]
                }
                _ => [swatch(self.zones.get(index).copied().unwrap_or(0)); 3],
            };
        for y in 0..self.height {
            for x in 0..self.width {
                let own = self.get(x, y);
                let edge = |x, y| self.get(x, y).is_some_and(|other| Some(other) != own);
                let color = if edge(x + 1, y) || edge(x, y + 1) {
                    OUTLINE
                } else {
                    background(y * self.width + x)
                };
                raster.set(x, y, color);
            }
        }
        for area in self.areas() {
            let name = NAMES.get(usize::from(area.zone)).copied().unwrap_or("");
            let (w, h) = (font::text_width(name) * scale, font::HEIGHT * scale);
            // With a margin of one dot.
            if (w.max(h) / 2 + 2 * scale) < area.room {
                let [x, y] = [area.label_position[0] - w / 2, area.label_position[1] - h / 2];
                raster.fill([x - scale, y - scale], [w + 2 * scale, h + 2 * scale], SHADOW);
                raster.text([x, y], scale, name, INK);
            }
        }
        raster.paste([0, self.height], &legend);
        raster
    }
}

/// Display code of a zone's gray: zone V is the code of 18 % gray, as on printed scales.
fn swatch(zone: u8) -> u8 {
    (f64::from(zone) / 10.0 * 236.0) as u8
}

/// Legend of eleven swatches with names, exposure values and nits, wrapped to the width.
fn legend(width: usize, scale: usize, exposure: Exposure) -> Raster {
    let texts: Vec<[String; 3]> = NAMES
        .iter()
        .enumerate()
        .map(|(zone, name)| {
            let ev = exposure.ev100().0 + zone as f64 - 5.0;
            [(*name).into(), format!("EV {ev:.1}"), short(luminance_of(Ev100(ev)).0) + " NIT"]
        })
        .collect();
    let dots = texts.iter().flatten().map(|text| font::text_width(text)).max().unwrap_or(1);
    let (cell, line) = ((dots + 6) * scale, (font::HEIGHT + 3) * scale);
    let rows = NAMES.len().div_ceil((width / cell).clamp(1, NAMES.len()));
    let across = NAMES.len().div_ceil(rows);
    let tall = line * 3 + 4 * scale;
    let mut raster = Raster::new((across * cell).max(width), rows * tall + 2 * scale, PAPER);
    for (zone, lines) in texts.iter().enumerate() {
        let [x, y] = [zone % across * cell + 3 * scale, zone / across * tall + 3 * scale];
        let gray = swatch(zone as u8);
        raster.fill([x - 2 * scale, y - scale], [cell - 2 * scale, line], [gray; 3]);
        let ink = if gray > 110 { SHADOW } else { INK };
        for (row, text) in lines.iter().enumerate() {
            raster.text([x, y + row * line], scale, text, if row == 0 { ink } else { INK });
        }
    }
    raster
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ev9() -> Exposure {
        Exposure::from_ev100(Ev100(9.0)).unwrap()
    }

    #[test]
    fn a_step_wedge_is_zones_0_to_10() {
        // Gray at EV 9 is 64 nit. Zones of 40 x 30 pixels, beyond both ends one stop more.
        let row: Vec<f32> =
            (-1..=11).flat_map(|zone| [64.0 * f32::powi(2.0, zone - 5); 40]).collect();
        let nits = row.repeat(30);
        let picture = Luminances::new(&nits, 13 * 40, 30).unwrap();
        let map = ZoneMap::new(picture, ev9());
        for x in 0..13 * 40 {
            let want = (x as i32 / 40 - 1).clamp(0, 10);
            assert_eq!(map.get(x, 17), Some(want as u8), "{x}");
        }
        let counts = map.counts();
        assert_eq!(counts.iter().sum::<usize>(), nits.len());
        assert_eq!((counts[0], counts[5], counts[10]), (2400, 1200, 2400));
        let areas = map.areas();
        assert_eq!(
            areas.iter().map(|area| area.zone).collect::<Vec<_>>(),
            (0..=10).collect::<Vec<_>>()
        );
        assert_eq!(areas.iter().map(|area| area.pixels).sum::<usize>(), nits.len());
        // The first place that is 15 pixels from all edges.
        assert_eq!((areas[5].room, areas[5].label_position), (15, [6 * 40 + 14, 14]));
        let drawn = map.draw(None, ev9());
        assert_eq!(drawn.get(2 * 40 - 1, 3), Some(OUTLINE));
        assert_eq!(drawn.get(2 * 40, 3), Some([swatch(1); 3]));
        // Each zone is named once: the names' boxes hold white dots.
        for area in &areas {
            let [x, y] = area.label_position;
            let dots = |x: usize, y: usize| drawn.get(x, y) == Some(INK);
            assert!(
                (x - 9..x + 9).any(|x| (y - 4..y + 4).any(|y| dots(x, y))),
                "zone {} has no name",
                area.zone
            );
        }
    }

    #[test]
    fn the_edges_of_zones_are_half_stops_and_odd_values_are_zone_0() {
        let place = |stops: f64| 64.0 * stops.exp2() as f32;
        let nits = [
            place(-0.499),
            place(0.499),
            place(0.501),
            place(-0.501),
            0.0,
            -1.0,
            f32::NAN,
            f32::INFINITY,
        ];
        let map = ZoneMap::new(Luminances::new(&nits, 8, 1).unwrap(), ev9());
        assert_eq!(map.zones, [5, 5, 6, 4, 0, 0, 0, 10]);
        // Names fit in nothing here, and nothing breaks.
        let drawn = map.draw(Some(&[7; 32]), ev9());
        assert_eq!((drawn.get(0, 0), drawn.get(7, 0)), (Some([7; 3]), Some([7; 3])));
        assert_eq!(drawn.get(1, 0), Some(OUTLINE));
    }
}
