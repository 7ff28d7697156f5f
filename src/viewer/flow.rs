//! Painting of flow maps: strokes over a water surface and the resulting map.

use std::sync::Arc;

use glam::{DVec2, Vec2};

use crate::scene::FlowMap;

/// Texels across the brush: of a new map, and the minimum for painting on an existing map.
const TEXELS: [f64; 2] = [12.0, 4.0];
/// Minimum and maximum size (texels) of maps made for painting: the device and undo keep them
/// whole.
const SIDES: [f64; 2] = [16.0, 1024.0];

/// Brush settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowBrush {
    /// Flow speed along the stroke (m/s), 0 to 100; 0 stills the water.
    pub speed: f64,
    /// Radius (m): full strength up to half of it, then falling to 0.
    pub radius: f64,
}

impl Default for FlowBrush {
    fn default() -> Self {
        Self { speed: 0.5, radius: 0.25 }
    }
}

/// Brush strength at a distance in radii: 1 within 0.5, 0 beyond 1, smoothstep in between.
fn falloff(radii: f64) -> f64 {
    let t = ((1.0 - radii) * 2.0).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A map over a rectangle of this size (m) fine enough for a brush: the same map, or a resampled
/// one with the same flow. `made` means the map is new and may have any resolution.
#[must_use]
pub fn canvas(map: &Arc<FlowMap>, size: DVec2, radius: f64, made: bool) -> Arc<FlowMap> {
    let fewest = if made { TEXELS[0] } else { TEXELS[1] };
    let texel = 2.0 * radius.max(1e-3) / fewest;
    let own = DVec2::new(map.width() as f64, map.height() as f64);
    if !made && (size / own).max_element() <= texel {
        return Arc::clone(map);
    }
    let [min, max] = SIDES.map(DVec2::splat);
    let sides = (size / texel).ceil().clamp(min, max.max(own)).max(if made { min } else { own });
    let (width, height) = (sides.x as usize, sides.y as usize);
    let at = |i: usize| {
        let texel = DVec2::new((i % width) as f64 + 0.5, (i / width) as f64 + 0.5);
        map.at(texel / sides).as_vec2()
    };
    FlowMap::new(width, height, (0..width * height).map(at).collect())
        .map_or_else(|| Arc::clone(map), Arc::new)
}

/// A stroke in progress.
#[derive(Clone, Debug)]
pub struct FlowStroke {
    brush: FlowBrush,
    base: Arc<FlowMap>,
    /// Speed of a component of 1 in the map (m/s).
    speed: f64,
    /// The map's rectangle: minimum x and z, and size (m).
    rectangle: [DVec2; 2],
    /// Per texel: strength of the stroke and its direction.
    covered: Vec<(f32, Vec2)>,
    places: Vec<DVec2>,
    latest: Option<DVec2>,
}

impl FlowStroke {
    /// Starts a stroke on a map over a rectangle (minimum x and z, and size; m); `speed` is that of
    /// a component of 1 (m/s).
    #[must_use]
    pub fn new(base: Arc<FlowMap>, speed: f64, rectangle: [DVec2; 2], brush: FlowBrush) -> Self {
        let covered = vec![(0.0, Vec2::ZERO); base.width() * base.height()];
        Self { brush, base, speed, rectangle, covered, places: Vec::new(), latest: None }
    }

    /// The stroke's path (m, x and z).
    #[must_use]
    pub fn places(&self) -> &[DVec2] {
        &self.places
    }

    /// Continues to a position (m). Steps below a fifth of the radius are deferred, to ignore
    /// jitter.
    pub fn to(&mut self, place: DVec2) {
        self.latest = Some(place);
        match self.places.last() {
            None => self.places.push(place),
            Some(last) if last.distance(place) >= self.brush.radius * 0.2 => self.go(*last, place),
            Some(_) => {}
        }
    }

    /// Paints a segment.
    fn go(&mut self, from: DVec2, to: DVec2) {
        let [origin, size] = self.rectangle;
        let (width, height) = (self.base.width(), self.base.height());
        let texel = size / DVec2::new(width as f64, height as f64);
        let way = (to - from).normalize_or_zero();
        let radius = self.brush.radius.max(1e-6);
        let [low, high] =
            [from.min(to) - radius, from.max(to) + radius].map(|corner| (corner - origin) / texel);
        let range = |low: f64, high: f64, count: usize| {
            low.max(0.0) as usize..(high.max(0.0).ceil() as usize).min(count)
        };
        for z in range(low.y, high.y, height) {
            for x in range(low.x, high.x, width) {
                let place = origin + (DVec2::new(x as f64, z as f64) + 0.5) * texel;
                let along = (place - from).dot(way).clamp(0.0, from.distance(to));
                let part = falloff(place.distance(from + way * along) / radius) as f32;
                // The maximum strength wins, and of equal ones the latest: dabs do not add up.
                if let Some(covered) = self.covered.get_mut(z * width + x)
                    && part > 0.0
                    && part >= covered.0
                {
                    *covered = (part, way.as_vec2());
                }
            }
        }
        self.places.push(to);
    }

    /// The map with the stroke, quantized as in a file, and the speed of a component of 1 (m/s);
    /// none if the stroke missed the map.
    #[must_use]
    pub fn finished(mut self) -> Option<(FlowMap, f64)> {
        if let (Some(last), Some(latest)) = (self.places.last().copied(), self.latest)
            && last.distance(latest) > self.brush.radius * 1e-3
        {
            self.go(last, latest);
        }
        if self.covered.iter().all(|(part, _)| *part == 0.0) {
            return None;
        }
        let speed = self.speed.max(self.brush.speed).max(1e-6);
        let width = self.base.width();
        let velocity = self.covered.iter().enumerate().map(|(i, (part, way))| {
            let was = self.base.velocity(i % width, i / width) * self.speed as f32;
            was.lerp(*way * self.brush.speed as f32, *part) / speed as f32
        });
        Some((self.base.with_velocities(velocity.collect())?, speed))
    }
}

/// The canvas of flow painting: a surface's name, its height (m), and the address in memory of the
/// scene that it was found in.
pub struct FlowCanvas {
    pub(super) name: String,
    pub(super) height: f64,
    pub(super) scene: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECTANGLE: [DVec2; 2] = [DVec2::new(-2.0, -1.0), DVec2::new(4.0, 2.0)];

    fn still(width: usize, height: usize) -> Arc<FlowMap> {
        Arc::new(FlowMap::new(width, height, vec![Vec2::ZERO; width * height]).unwrap())
    }

    fn flow(map: &FlowMap, speed: f64, x: f64, z: f64) -> DVec2 {
        map.at((DVec2::new(x, z) - RECTANGLE[0]) / RECTANGLE[1]) * speed
    }

    #[test]
    fn a_stroke_has_its_way_and_speed_in_its_middle_and_less_beside_it() {
        let brush = FlowBrush { speed: 0.8, radius: 0.4 };
        let mut stroke = FlowStroke::new(still(160, 80), 0.5, RECTANGLE, brush);
        for step in 0..=40 {
            stroke.to(DVec2::new(-1.0 + f64::from(step) * 0.05, 0.2 - f64::from(step) * 0.0125));
        }
        let (map, speed) = stroke.finished().unwrap();
        assert_eq!(speed, 0.8, "the scale grows with what is faster");
        let want = DVec2::new(2.0, -0.5).normalize() * 0.8;
        assert!((flow(&map, speed, 0.0, -0.05) - want).length() < 0.8 / 127.0);
        // Across the stroke: full at 0.4 of the radius, half at 0.75 (middle of the smoothstep), 0
        // beyond.
        let side = DVec2::new(0.5, 2.0).normalize() * brush.radius;
        let beside =
            |part: f64| flow(&map, speed, side.x * part, -0.05 + side.y * part).length() / 0.8;
        assert!((beside(0.4) - 1.0).abs() < 0.02, "{}", beside(0.4));
        assert!((beside(0.75) - 0.5).abs() < 0.03, "{}", beside(0.75));
        assert_eq!(beside(1.15), 0.0);
        assert_eq!(flow(&map, speed, 1.8, 0.9), DVec2::ZERO);
    }

    #[test]
    fn what_was_there_keeps_its_meters_a_second() {
        let was = Arc::new(FlowMap::new(64, 32, vec![Vec2::new(0.5, -0.25); 64 * 32]).unwrap());
        let mut stroke =
            FlowStroke::new(was, 1.0, RECTANGLE, FlowBrush { speed: 4.0, radius: 0.3 });
        stroke.to(DVec2::new(-1.5, -0.5));
        stroke.to(DVec2::new(-1.0, -0.5));
        let (map, speed) = stroke.finished().unwrap();
        assert_eq!(speed, 4.0);
        let far = flow(&map, speed, 1.0, 0.5);
        assert!((far - DVec2::new(0.5, -0.25)).abs().max_element() < 0.6 * 4.0 / 127.0, "{far}");
        assert!((flow(&map, speed, -1.25, -0.5) - DVec2::new(4.0, 0.0)).length() < 0.04);
        // Speed 0 stills the water again.
        let mut stroke =
            FlowStroke::new(Arc::new(map), speed, RECTANGLE, FlowBrush { speed: 0.0, radius: 0.3 });
        stroke.to(DVec2::new(-1.6, -0.5));
        stroke.to(DVec2::new(-0.9, -0.5));
        let (map, speed) = stroke.finished().unwrap();
        assert_eq!(flow(&map, speed, -1.25, -0.5), DVec2::ZERO);
    }

    #[test]
    fn strokes_that_go_nowhere_or_beside_the_map_change_nothing() {
        let stroke = |places: &[DVec2]| {
            let mut stroke = FlowStroke::new(still(32, 16), 0.5, RECTANGLE, FlowBrush::default());
            places.iter().for_each(|place| stroke.to(*place));
            stroke.finished()
        };
        assert!(stroke(&[]).is_none() && stroke(&[DVec2::ZERO]).is_none());
        assert!(stroke(&[DVec2::new(50.0, 0.0), DVec2::new(52.0, 1.0)]).is_none());
        assert!(
            stroke(&[DVec2::new(-9e6, -9e6), DVec2::new(9e6, 9e6)]).is_some(),
            "it crosses the map"
        );
    }

    #[test]
    fn a_canvas_is_fine_enough_and_flows_as_before() {
        let even = Arc::new(FlowMap::even(Vec2::X));
        let made = canvas(&even, DVec2::new(4.0, 2.0), 0.25, true);
        assert_eq!((made.width(), made.height()), (96, 48));
        assert!((made.at(DVec2::splat(0.3)) - DVec2::X).length() < 1e-6);
        // An existing map is painted on as it is, unless it is too coarse for the brush.
        assert!(Arc::ptr_eq(&canvas(&made, DVec2::new(4.0, 2.0), 0.25, false), &made));
        let finer = canvas(&made, DVec2::new(4.0, 2.0), 0.02, false);
        assert_eq!((finer.width(), finer.height()), (400, 200));
        let large = canvas(&even, DVec2::new(4000.0, 2.0), 0.02, true);
        assert_eq!((large.width(), large.height()), (1024, 600));
    }
}
