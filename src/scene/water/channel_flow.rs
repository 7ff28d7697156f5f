//! Flow of water around obstacles: potential flow on a grid (Batchelor, "An Introduction to Fluid
//! Dynamics", 1967, section 6.2). It is irrotational and incompressible, tangential to walls, and
//! has equal flux through every section.
//!
//! The potential is stored at cell centers, and its differences give the fluxes through faces. Each
//! face is weighted by its open fraction, which keeps round columns round (Batty, Bertails and
//! Bridson, "A Fast Variational Framework for Accurate Solid-Fluid Coupling", SIGGRAPH 2007; Ng,
//! Min and Gibou, "An efficient fluid-solid coupling algorithm", 2009).

use std::fmt;

use glam::{DVec2, Vec2};

use super::flow_map::{FlowMap, MAX_SIDE};

/// An obstacle in the flow, seen from above: x and z in meters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Obstacle {
    /// A round column.
    Cylinder {
        /// Axis (x, z) in m.
        center: DVec2,
        /// Radius (m).
        radius: f64,
    },
    /// An axis-aligned block.
    Block {
        /// Minimum corner (x, z) in m.
        low: DVec2,
        /// Maximum corner (x, z) in m.
        high: DVec2,
    },
}

impl Obstacle {
    /// Signed distance (m) to the border; negative inside.
    #[must_use]
    pub fn distance(&self, place: DVec2) -> f64 {
        match *self {
            Self::Cylinder { center, radius } => place.distance(center) - radius,
            Self::Block { low, high } => {
                let beyond = (place - (low + high) / 2.0).abs() - (high - low) / 2.0;
                beyond.max(DVec2::ZERO).length() + beyond.max_element().min(0.0)
            }
        }
    }
}

impl Obstacle {
    /// Bounding rectangle: minimum and maximum corner (m).
    #[must_use]
    pub fn extent(&self) -> (DVec2, DVec2) {
        match *self {
            Self::Cylinder { center, radius } => (center - radius, center + radius),
            Self::Block { low, high } => (low, high),
        }
    }
}

/// Formats an obstacle as an argument of `sunny16 flow`.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cylinder { center, radius } => {
                write!(f, "cylinder {},{},{radius}", center.x, center.y)
            }
            Self::Block { low, high } => {
                write!(f, "block {},{},{},{}", low.x, low.y, high.x, high.y)
            }
        }
    }
}

/// Direction of the flow through a rectangle; the sides along it are walls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowDirection {
    /// Toward +x.
    #[default]
    X,
    /// Toward -x.
    MinusX,
    /// Toward +z.
    Z,
    /// Toward -z.
    MinusZ,
}

impl FlowDirection {
    /// All directions with their names.
    pub const ALL: [(&'static str, Self); 4] =
        [("x", Self::X), ("-x", Self::MinusX), ("z", Self::Z), ("-z", Self::MinusZ)];
}

/// A straight channel, seen from above.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Channel {
    /// Minimum x and z (m).
    pub origin: DVec2,
    /// Size along x and z (m).
    pub size: DVec2,
    /// Flow direction.
    pub along: FlowDirection,
    /// Obstacles in the channel.
    pub obstacles: Vec<Obstacle>,
    /// Flow map resolution (texels per meter); Vlachos 2010 has about 4.
    pub texels_per_meter: f64,
}

/// The flow through a channel.
#[derive(Clone, Debug)]
pub struct ChannelFlow {
    /// Flow map over the channel's rectangle.
    pub map: FlowMap,
    /// Speed of a component of 1 in the map, relative to the mean speed of the open channel.
    pub peak: f64,
    /// Mean flow through each section between texel columns, relative to the first: 1 up to
    /// rounding.
    pub sections: Vec<f64>,
    /// Maximum net flux into a cell, relative to the flux through a cell of the open channel.
    pub divergence: f64,
}

/// Error of a flow that cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FlowError {
    /// An invalid size, resolution or obstacle, or too many texels.
    #[error("{0}")]
    Size(String),
    /// The obstacles block the channel.
    #[error(
        "the obstacles close the channel: no water can flow through it; leave a gap of at least two texels"
    )]
    Closed,
}

/// Grid of open face fractions; the flow goes along its rows.
struct Grid {
    width: usize,
    height: usize,
    /// Open fraction of the left face of each cell and the right face of the last: width + 1 per
    /// row.
    across: Vec<f64>,
    /// Open fraction of the upper face of each cell and the lower face of the last row: width per
    /// row.
    down: Vec<f64>,
}

impl Grid {
    fn face_x(&self, x: usize, y: usize) -> f64 {
        self.across.get(y * (self.width + 1) + x).copied().unwrap_or(0.0)
    }

    fn face_y(&self, x: usize, y: usize) -> f64 {
        self.down.get(y * self.width + x).copied().unwrap_or(0.0)
    }

    /// Sum of the open fractions of a cell's faces. Faces at both ends of the channel count twice:
    /// the boundary potential is half a cell away.
    fn diagonal(&self, x: usize, y: usize) -> f64 {
        let (left, right) = (self.face_x(x, y), self.face_x(x + 1, y));
        let left = if x == 0 { 2.0 * left } else { left };
        let right = if x + 1 == self.width { 2.0 * right } else { right };
        left + right + self.face_y(x, y) + self.face_y(x, y + 1)
    }

    /// Net flux out of each cell for a potential that is 0 at both ends.
    fn apply(&self, p: &[f64], out: &mut [f64]) {
        let (w, h) = (self.width, self.height);
        for y in 0..h {
            for x in 0..w {
                let i = y * w + x;
                let mut sum = self.diagonal(x, y) * p[i];
                if x > 0 {
                    sum -= self.face_x(x, y) * p[i - 1];
                }
                if x + 1 < w {
                    sum -= self.face_x(x + 1, y) * p[i + 1];
                }
                if y > 0 {
                    sum -= self.face_y(x, y) * p[i - w];
                }
                if y + 1 < h {
                    sum -= self.face_y(x, y + 1) * p[i + w];
                }
                out[i] = sum;
            }
        }
    }

    /// Solves for the potential, which falls from `width` to 0 along the channel. Conjugate
    /// gradients (Hestenes and Stiefel 1952) with a diagonal (Jacobi) preconditioner. Cells without
    /// an open face keep 0.
    fn solve(&self) -> Vec<f64> {
        let n = self.width * self.height;
        let mut b = vec![0.0; n];
        for y in 0..self.height {
            b[y * self.width] = 2.0 * self.face_x(0, y) * self.width as f64;
        }
        let inverse: Vec<f64> = (0..n)
            .map(|i| self.diagonal(i % self.width, i / self.width))
            .map(|d| if d > 1e-9 { 1.0 / d } else { 0.0 })
            .collect();
        // Initial guess: the linear potential of an open channel.
        let mut p: Vec<f64> = (0..n)
            .map(|i| {
                if inverse[i] > 0.0 {
                    self.width as f64 - (i % self.width) as f64 - 0.5
                } else {
                    0.0
                }
            })
            .collect();
        let mut product = vec![0.0; n];
        self.apply(&p, &mut product);
        let mut residual: Vec<f64> = b.iter().zip(&product).map(|(b, a)| b - a).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut scaled: Vec<f64> = residual.iter().zip(&inverse).map(|(r, i)| r * i).collect();
        let mut step = scaled.clone();
        let mut size = dot(&residual, &scaled);
        for _ in 0..20 * (self.width + self.height) {
            if size < 1e-22 * n as f64 {
                break;
            }
            self.apply(&step, &mut product);
            let length = dot(&step, &product);
            if length <= 0.0 {
                break;
            }
            let factor = size / length;
            for i in 0..n {
                p[i] += factor * step[i];
                residual[i] -= factor * product[i];
                scaled[i] = residual[i] * inverse[i];
            }
            let next = dot(&residual, &scaled);
            let turn = next / size;
            size = next;
            for (step, scaled) in step.iter_mut().zip(&scaled) {
                *step = scaled + turn * *step;
            }
        }
        p
    }

    /// Fluxes through the left and the upper face of each cell.
    fn fluxes(&self, p: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (w, h) = (self.width, self.height);
        let mut across = vec![0.0; (w + 1) * h];
        let mut down = vec![0.0; w * (h + 1)];
        for y in 0..h {
            for x in 0..=w {
                let fall = match x {
                    0 => 2.0 * (w as f64 - p[y * w]),
                    _ if x == w => 2.0 * p[y * w + w - 1],
                    _ => p[y * w + x - 1] - p[y * w + x],
                };
                across[y * (w + 1) + x] = self.face_x(x, y) * fall;
            }
        }
        for y in 1..h {
            for x in 0..w {
                down[y * w + x] = self.face_y(x, y) * (p[(y - 1) * w + x] - p[y * w + x]);
            }
        }
        (across, down)
    }
}

/// Fraction of the edge from `a` to `b` outside of all obstacles, from the distances at both ends.
fn open(obstacles: &[Obstacle], a: DVec2, b: DVec2) -> f64 {
    let distance = |p: DVec2| obstacles.iter().map(|o| o.distance(p)).fold(f64::INFINITY, f64::min);
    let (da, db) = (distance(a), distance(b));
    let part = match (da > 0.0, db > 0.0) {
        (true, true) => 1.0,
        (false, false) => 0.0,
        (true, false) => da / (da - db),
        (false, true) => db / (db - da),
    };
    // Slivers would make the system stiff, and pass almost no flow.
    if part < 0.02 { 0.0 } else { part }
}

/// Computes the flow through a channel around its obstacles.
///
/// # Errors
/// `FlowError` if a size, resolution or obstacle is invalid, the map has too many texels, or the
/// obstacles close the channel.
pub fn flow_around(channel: &Channel) -> Result<ChannelFlow, FlowError> {
    let along_x = matches!(channel.along, FlowDirection::X | FlowDirection::MinusX);
    let reversed = matches!(channel.along, FlowDirection::MinusX | FlowDirection::MinusZ);
    check(channel)?;
    // Rows lie along the flow: swap axes if it goes along z.
    let turn = |v: DVec2| if along_x { v } else { DVec2::new(v.y, v.x) };
    let size = turn(channel.size);
    let texels = |length: f64| ((length * channel.texels_per_meter).round() as usize).max(4);
    let (w, h) = (texels(size.x), texels(size.y));
    let cell = size / DVec2::new(w as f64, h as f64);
    let corner =
        |x: usize, y: usize| turn(turn(channel.origin) + cell * DVec2::new(x as f64, y as f64));
    let mut grid =
        Grid { width: w, height: h, across: vec![0.0; (w + 1) * h], down: vec![0.0; w * (h + 1)] };
    for y in 0..h {
        for x in 0..=w {
            grid.across[y * (w + 1) + x] = open(&channel.obstacles, corner(x, y), corner(x, y + 1));
        }
    }
    for y in 1..h {
        for x in 0..w {
            grid.down[y * w + x] = open(&channel.obstacles, corner(x, y), corner(x + 1, y));
        }
    }
    // Cells need not be square: the side ratio scales fluxes along and across.
    let ratio = cell.y / cell.x;
    grid.across.iter_mut().for_each(|face| *face *= ratio);
    grid.down.iter_mut().for_each(|face| *face /= ratio);
    let potential = grid.solve();
    let (across, down) = grid.fluxes(&potential);
    let section = |x: usize| (0..h).map(|y| across[y * (w + 1) + x]).sum::<f64>();
    let through = section(0);
    let open_flux = ratio * h as f64;
    if through.is_nan() || through <= 1e-3 * open_flux {
        return Err(FlowError::Closed);
    }
    let mut divergence = 0f64;
    for y in 0..h {
        for x in 0..w {
            let sum = across[y * (w + 1) + x + 1] - across[y * (w + 1) + x] + down[(y + 1) * w + x]
                - down[y * w + x];
            divergence = divergence.max(sum.abs());
        }
    }
    // Speeds relative to the mean of the open channel: flux per open area of a face.
    let mean = through / open_flux;
    let speed = |flux: f64, face: f64| if face > 0.0 { flux / face / mean } else { 0.0 };
    let mut velocity = vec![DVec2::ZERO; w * h];
    for y in 0..h {
        for x in 0..w {
            let middle = corner(x, y).midpoint(corner(x + 1, y + 1));
            let faces_x = (grid.face_x(x, y), grid.face_x(x + 1, y));
            let faces_y = (grid.face_y(x, y), grid.face_y(x, y + 1));
            let of = |flux: (f64, f64), face: (f64, f64)| {
                // If one face is a wall, use the other one.
                let (a, b) = (speed(flux.0, face.0), speed(flux.1, face.1));
                match (face.0 > 0.0, face.1 > 0.0) {
                    (true, true) => (a * face.0 + b * face.1) / (face.0 + face.1),
                    (true, false) => a,
                    (false, true) => b,
                    (false, false) => 0.0,
                }
            };
            let u = of((across[y * (w + 1) + x], across[y * (w + 1) + x + 1]), faces_x);
            let v = if y == 0 || y + 1 == h {
                // In the row beside the channel's wall it is half of the inner flux.
                let inner = if y == 0 { down[w + x] } else { down[y * w + x] };
                0.5 * speed(inner, if y == 0 { faces_y.1 } else { faces_y.0 }) * cell.x / cell.y
            } else {
                of((down[y * w + x], down[(y + 1) * w + x]), faces_y) * cell.x / cell.y
            };
            let mut at = turn(DVec2::new(u, v));
            at = along_walls(&channel.obstacles, middle, at, cell.max_element());
            velocity[y * w + x] = if reversed { -at } else { at };
        }
    }
    let peak = velocity.iter().map(|v| v.abs().max_element()).fold(0.0, f64::max).max(1e-9);
    let (width, height) = if along_x { (w, h) } else { (h, w) };
    let texel = |i: usize| {
        let (x, z) = (i % width, i / width);
        let v = velocity[if along_x { z * w + x } else { x * w + z }] / peak;
        Vec2::new(v.x as f32, v.y as f32)
    };
    let too_large = || FlowError::Size("the flow map is too large; lower the resolution".into());
    let map = FlowMap::new(width, height, (0..width * height).map(texel).collect())
        .ok_or_else(too_large)?;
    let sections = (0..=w).map(|x| section(x) / through).collect();
    Ok(ChannelFlow { map, peak, sections, divergence: divergence / ratio })
}

/// Reduces the velocity normal to nearby walls, in proportion to the distance within one cell.
fn along_walls(obstacles: &[Obstacle], place: DVec2, velocity: DVec2, cell: f64) -> DVec2 {
    let mut out = velocity;
    for obstacle in obstacles {
        let distance = obstacle.distance(place);
        if distance > cell {
            continue;
        }
        let step = 0.01 * cell;
        let slope = |d: DVec2| obstacle.distance(place + d) - obstacle.distance(place - d);
        let normal = DVec2::new(slope(DVec2::X * step), slope(DVec2::Y * step)).normalize_or_zero();
        out -= normal * out.dot(normal) * (1.0 - (distance / cell).clamp(0.0, 1.0));
    }
    out
}

fn check(channel: &Channel) -> Result<(), FlowError> {
    let wrong = |what: String| Err(FlowError::Size(what));
    let size = channel.size;
    if !channel.origin.is_finite()
        || !size.is_finite()
        || size.min_element() <= 0.0
        || size.max_element() > 1e5
    {
        return wrong(format!(
            "invalid channel size {} x {} m: expected sides above 0 and at most 100000 m",
            size.x, size.y
        ));
    }
    let fine = channel.texels_per_meter;
    let texels = size * fine;
    if fine.is_nan() || fine <= 0.0 {
        return wrong(format!(
            "invalid resolution of {fine} texels per meter: expected a number above 0, such as 8"
        ));
    }
    if !texels.is_finite() || texels.max_element() > f64::from(MAX_SIDE).min(2048.0) {
        return wrong(format!(
            "{fine} texels per meter exceed the flow map's 2048 texels per side; use fewer"
        ));
    }
    if channel.obstacles.len() > 1024 {
        return wrong(format!(
            "too many obstacles ({}): expected at most 1024",
            channel.obstacles.len()
        ));
    }
    for obstacle in &channel.obstacles {
        let fits = match *obstacle {
            Obstacle::Cylinder { center, radius } => {
                center.is_finite() && radius.is_finite() && radius > 0.0
            }
            Obstacle::Block { low, high } => {
                low.is_finite() && high.is_finite() && low.cmplt(high).all()
            }
        };
        if !fits {
            return wrong(format!(
                "invalid obstacle '{obstacle}': expected finite numbers, and a radius or sides above 0"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(obstacles: Vec<Obstacle>) -> Channel {
        Channel {
            origin: DVec2::new(-4.0, -4.0),
            size: DVec2::new(8.0, 8.0),
            along: FlowDirection::X,
            obstacles,
            texels_per_meter: 16.0,
        }
    }

    #[test]
    fn an_open_channel_flows_evenly() {
        for (_, along) in FlowDirection::ALL {
            let flow =
                flow_around(&Channel { along, size: DVec2::new(6.0, 3.0), ..channel(Vec::new()) })
                    .unwrap();
            assert!((flow.peak - 1.0).abs() < 1e-9 && flow.divergence < 1e-9);
            let want = match along {
                FlowDirection::X => Vec2::X,
                FlowDirection::MinusX => Vec2::NEG_X,
                FlowDirection::Z => Vec2::Y,
                FlowDirection::MinusZ => Vec2::NEG_Y,
            };
            assert_eq!((flow.map.width(), flow.map.height()), (96, 48));
            assert!((flow.map.velocity(50, 30) - want).length() < 1e-6);
        }
    }

    #[test]
    fn as_much_flows_through_each_section_and_nothing_is_lost() {
        let columns = [(-1.5, 0.6, 0.7), (1.2, -1.4, 0.5), (1.6, 1.7, 0.8)];
        let obstacles =
            columns.map(|(x, z, radius)| Obstacle::Cylinder { center: DVec2::new(x, z), radius });
        let flow = flow_around(&channel(obstacles.to_vec())).unwrap();
        let worst = flow.sections.iter().map(|s| (s - 1.0).abs()).fold(0.0, f64::max);
        println!("sections differ by {worst:.1e}, divergence {:.1e}", flow.divergence);
        assert!(worst < 1e-7 && flow.divergence < 1e-7);
        assert!(flow.peak > 1.2);
    }

    #[test]
    fn around_one_column_it_is_what_the_closed_form_says() {
        // In unbounded water: u = U (1 - a^2 (x^2 - z^2) / r^4), v = -2 U a^2 x z / r^4. The walls
        // of a channel 16 radii wide make it faster by a percent (the row of images: pi^2 a^2 / 3
        // W^2 at the column).
        let radius = 0.5;
        let flow = flow_around(&channel(vec![Obstacle::Cylinder { center: DVec2::ZERO, radius }]))
            .unwrap();
        let (mut worst, mut normal) = (0f64, 0f64);
        for z in 0..128 {
            for x in 0..128 {
                let p = (DVec2::new(f64::from(x), f64::from(z)) + 0.5) / 16.0 - 4.0;
                let (r2, a2) = (p.length_squared(), radius * radius);
                let got = flow.map.velocity(x as usize, z as usize).as_dvec2() * flow.peak;
                let want = DVec2::new(
                    1.0 - a2 * (p.x * p.x - p.y * p.y) / (r2 * r2),
                    -2.0 * a2 * p.x * p.y / (r2 * r2),
                );
                if r2.sqrt() > radius + 0.1 && r2.sqrt() < 3.0 {
                    worst = worst.max((got - want).length());
                }
                if (r2.sqrt() - radius).abs() < 1.0 / 32.0 {
                    normal = normal.max(got.dot(p / r2.sqrt()).abs());
                }
            }
        }
        println!(
            "around a column: error {worst:.3} of the speed, {normal:.3} through its wall, peak {:.3}",
            flow.peak
        );
        assert!(worst < 0.06 && normal < 0.06, "{worst} {normal}");
        // Twice the speed at its sides.
        assert!((flow.peak - 2.0).abs() < 0.12, "{}", flow.peak);
    }

    #[test]
    fn what_cannot_flow_is_said() {
        let wall = Obstacle::Block { low: DVec2::new(-0.5, -5.0), high: DVec2::new(0.5, 5.0) };
        assert_eq!(flow_around(&channel(vec![wall])).unwrap_err(), FlowError::Closed);
        for broken in [
            Channel { size: DVec2::new(0.0, 1.0), ..channel(Vec::new()) },
            Channel { size: DVec2::new(f64::NAN, 1.0), ..channel(Vec::new()) },
            Channel { texels_per_meter: 1e6, ..channel(Vec::new()) },
            Channel { texels_per_meter: -1.0, ..channel(Vec::new()) },
            channel(vec![Obstacle::Cylinder { center: DVec2::ZERO, radius: -1.0 }]),
            channel(vec![Obstacle::Block { low: DVec2::ONE, high: DVec2::ZERO }]),
        ] {
            assert!(matches!(flow_around(&broken), Err(FlowError::Size(_))), "{broken:?}");
        }
    }
}
