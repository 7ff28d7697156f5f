//! The mesh that a ghost is: from the plane where light enters to the sensor.

use glam::DVec2;

use super::{Beam, GhostMethod, GhostSpot};
use crate::{
    camera::Iris,
    optics::{
        lens::Lens,
        paraxial::{Axis, ReflectionPair},
        trace::{Ray, TracedRay},
    },
};

/// A rectangle of the plane where light enters (m).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntranceWindow {
    /// Its least corner.
    pub min: DVec2,
    /// Its greatest corner.
    pub max: DVec2,
}

impl EntranceWindow {
    fn at(&self, part: DVec2) -> DVec2 {
        self.min + (self.max - self.min) * part
    }
}

/// A ray of the mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GhostMeshNode {
    /// Where it meets the sensor (m).
    pub place: DVec2,
    /// The part of its light that took this path.
    pub weight: f64,
    /// The farthest that it came toward a rim: 1 is the rim.
    pub rim: f64,
    /// Where it crossed the stop (over the radius of its corners).
    pub iris: [DVec2; 3],
    /// How often it did: once or three times.
    pub crossings: usize,
}

impl GhostMeshNode {
    /// The farthest that it came toward rims and blades: beyond 1 it was stopped.
    #[must_use]
    pub fn worst(&self, iris: Iris) -> f64 {
        let blades = |q: &DVec2| q.length() / iris.edge(q.y.atan2(q.x));
        self.iris[..self.crossings].iter().map(blades).fold(self.rim, f64::max)
    }

    /// Between three nodes of the same path.
    fn between(nodes: [&Self; 3], parts: [f64; 3]) -> Self {
        let sum =
            |f: fn(&Self) -> f64| nodes.iter().zip(parts).map(|(node, part)| f(node) * part).sum();
        let places = |f: &dyn Fn(&Self) -> DVec2| {
            nodes.iter().zip(parts).map(|(node, part)| f(node) * part).sum()
        };
        Self {
            place: places(&|node| node.place),
            weight: sum(|node| node.weight),
            rim: sum(|node| node.rim),
            iris: [0, 1, 2].map(|i| places(&|node| node.iris[i])),
            crossings: nodes[0].crossings,
        }
    }
}

/// A ghost as a mesh of squares, each of two triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct GhostMesh {
    cells: usize,
    /// Area (m2) across the beam of a cell.
    cell: f64,
    nodes: Vec<Option<GhostMeshNode>>,
    iris: Iris,
    /// Semi-axes (m) of the source's disc on the sensor.
    blur: DVec2,
}

/// Cells a side of the meshes that look for what of the entrance a ghost uses.
const PROBE: usize = 16;
/// Such meshes, each within what the last one found.
const PROBES: usize = 4;
/// How far from rims and blades nodes may lie, over the nearest of them, before enough pass.
/// Farther ones wander without order.
const REACH: f64 = 1.0;
/// Nodes of such a mesh by which it is found.
const ENOUGH: usize = 40;
/// Points a side at which a triangle is tested against rims and blades.
const POINTS: usize = 4;

/// All nodes of a mesh over a window.
fn nodes(
    window: EntranceWindow,
    cells: usize,
    node: &impl Fn(DVec2) -> Option<GhostMeshNode>,
) -> Vec<Option<GhostMeshNode>> {
    let part = |i: usize| i as f64 / cells as f64;
    let side = cells + 1;
    (0..side * side).map(|i| node(window.at(DVec2::new(part(i % side), part(i / side))))).collect()
}

/// The part of a window in which light passes: nodes that do, and one cell around them. Until
/// enough nodes do, those count too that come as near as a cell's way from the nearest one can
/// bring it, so that nothing long and narrow is cut. `None` where nothing is found.
fn narrowed(
    mut window: EntranceWindow,
    iris: Iris,
    node: &impl Fn(DVec2) -> Option<GhostMeshNode>,
) -> Option<EntranceWindow> {
    const SIDE: usize = PROBE + 1;
    let whole = window;
    let mut any = false;
    for _ in 0..PROBES {
        let worst: Vec<f64> = nodes(window, PROBE, node)
            .iter()
            .map(|node| node.as_ref().map_or(f64::INFINITY, |node| node.worst(iris)))
            .collect();
        let (best, nearest) =
            worst.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
        if !nearest.is_finite() {
            return None;
        }
        let open = worst.iter().filter(|worst| **worst <= 1.0).count();
        any = open > 0;
        let (x, y) = (best % SIDE, best / SIDE);
        let around = [
            (x > 0, best.wrapping_sub(1)),
            (x < PROBE, best + 1),
            (y > 0, best.wrapping_sub(SIDE)),
            (y < PROBE, best + SIDE),
        ];
        let steps =
            around.iter().filter(|(inside, _)| *inside).map(|(_, i)| (worst[*i] - nearest).abs());
        let step = steps.filter(|step| step.is_finite()).fold(0.0, f64::max);
        let bound = if open >= ENOUGH {
            1.0
        } else {
            nearest.max(1.0) + step.min(REACH * nearest.max(1.0))
        };
        let kept = || {
            worst
                .iter()
                .enumerate()
                .filter(|(_, w)| **w <= bound)
                .map(|(i, _)| DVec2::new((i % SIDE) as f64, (i / SIDE) as f64))
        };
        let (least, most) = (kept().reduce(DVec2::min)?, kept().reduce(DVec2::max)?);
        let part = |index: DVec2| window.at(index / PROBE as f64);
        window = EntranceWindow {
            min: part(least - 1.0).max(whole.min),
            max: part(most + 1.0).min(whole.max),
        };
        if open >= ENOUGH {
            break;
        }
    }
    any.then_some(window)
}

impl Lens {
    /// The mesh of a ghost at a wavelength (m), of that many cells a side (at least 1). `None`
    /// where nothing of the beam gets through.
    #[must_use]
    pub fn ghost_mesh(
        &self,
        tier: GhostMethod,
        bounces: ReflectionPair,
        beam: &Beam,
        wavelength: f64,
        cells: usize,
    ) -> Option<GhostMesh> {
        let cells = cells.max(1);
        let b = |axis| self.ghost_matrix(bounces, axis, wavelength).b.abs();
        let blur = DVec2::new(b(Axis::X), b(Axis::Y)) * beam.radius().tan();
        let (window, nodes, facing) = match tier {
            GhostMethod::Paraxial => {
                let fast = self.paraxial_ghost(bounces, wavelength);
                let window = fast.window(beam)?;
                (window, nodes(window, cells, &|p| Some(fast.node(p, beam))), beam.direction().z)
            }
            GhostMethod::Traced => {
                let node = |p: DVec2| self.traced_node(bounces, beam, wavelength, p);
                let half = self.front_radius();
                let whole = EntranceWindow { min: DVec2::splat(-half), max: DVec2::splat(half) };
                let window = narrowed(whole, self.iris(), &node)?;
                (window, nodes(window, cells, &node), 1.0)
            }
        };
        let sides = window.max - window.min;
        let cell = sides.x * sides.y * facing / (cells * cells) as f64;
        Some(GhostMesh { cells, cell, nodes, iris: self.iris(), blur })
    }

    /// Radius (m) of a ball around the first surface, and z (m) of its middle.
    #[must_use]
    pub fn front(&self) -> (f64, f64) {
        let Some(first) = self.surfaces().first() else { return (0.0, 0.0) };
        let bent = (first.curvature * first.semi_aperture).clamp(-1.0, 1.0);
        let sag = first.semi_aperture * bent / (1.0 + (1.0 - bent * bent).sqrt());
        (first.semi_aperture.hypot(sag / 2.0), first.vertex + sag / 2.0)
    }

    /// Radius (m) of the disc across any beam through which all of it that meets the first surface
    /// passes.
    #[must_use]
    pub fn front_radius(&self) -> f64 {
        self.front().0
    }

    /// The ray of a beam at a place (m) of the plane across it through the middle of the front.
    #[must_use]
    pub fn entering(&self, beam: &Beam, p: DVec2) -> Ray {
        let [first, second] = beam.across(!self.is_round());
        let (radius, z) = self.front();
        let origin =
            glam::DVec3::Z * z + first * p.x + second * p.y - beam.direction() * (2.0 * radius);
        Ray { origin, direction: beam.direction() }
    }

    fn traced_node(
        &self,
        bounces: ReflectionPair,
        beam: &Beam,
        wavelength: f64,
        p: DVec2,
    ) -> Option<GhostMeshNode> {
        let traced =
            self.trace_ghost_unclipped(bounces, self.entering(beam, p), wavelength).ok()?;
        let place = traced.ray.at_plane(self.sensor());
        // Light that leaves the last surface away from the sensor meets it nowhere.
        let arrives = traced.ray.direction.z > 0.0 && place.is_finite();
        let TracedRay { weight, rim, iris, crossings, .. } = traced;
        arrives.then_some(GhostMeshNode { place, weight, rim, iris, crossings })
    }
}

/// Twice the area of a triangle, signed.
fn doubled_area([a, b, c]: [DVec2; 3]) -> f64 {
    (b - a).perp_dot(c - a)
}

/// Cells a side of an adapted mesh: of an even one, of one whose illuminance differs by less than
/// `UNEVEN`, and of others.
pub const CELLS: [usize; 3] = [16, 32, 64];
/// Greatest over least illuminance up to which each of the first two will do. Linear between nodes,
/// illuminance that differs by half from one side to the other is off by a hundredth.
pub const UNEVEN: [f64; 2] = [1.5, 4.0];

impl Lens {
    /// The mesh of a ghost at a wavelength (m), as fine as it must be. `None` where nothing of the
    /// beam gets through.
    #[must_use]
    pub fn adaptive_ghost_mesh(
        &self,
        tier: GhostMethod,
        bounces: ReflectionPair,
        beam: &Beam,
        wavelength: f64,
    ) -> Option<GhostMesh> {
        let grid = self.ghost_mesh(tier, bounces, beam, wavelength, CELLS[0])?;
        let uneven = grid.unevenness();
        let finer = UNEVEN.iter().filter(|bound| uneven.is_nan() || uneven > **bound).count();
        if finer == 0 {
            Some(grid)
        } else {
            self.ghost_mesh(tier, bounces, beam, wavelength, CELLS[finer])
        }
    }
}

impl GhostMesh {
    /// Cells a side.
    #[must_use]
    pub const fn cells(&self) -> usize {
        self.cells
    }

    /// The nodes by rows, `None` for rays that miss a surface or are totally reflected where they
    /// should pass.
    #[must_use]
    pub fn nodes(&self) -> &[Option<GhostMeshNode>] {
        &self.nodes
    }

    /// The indices of every triangle whose three rays arrive.
    fn triangles(&self) -> impl Iterator<Item = ([usize; 3], [&GhostMeshNode; 3])> + '_ {
        let (cells, side) = (self.cells, self.cells + 1);
        let corners = move |i: usize| {
            let at = i / cells * side + i % cells;
            [[at, at + 1, at + side], [at + side + 1, at + side, at + 1]]
        };
        (0..cells * cells).flat_map(corners).filter_map(|triangle| {
            let [a, b, c] = triangle.map(|i| self.nodes[i].as_ref());
            Some((triangle, [a?, b?, c?]))
        })
    }

    /// Calls with the part of a triangle's area that passes, and where: at the middles of equal
    /// parts of it.
    fn open(&self, nodes: [&GhostMeshNode; 3], mut f: impl FnMut(&GhostMeshNode, f64)) {
        let n = POINTS as f64;
        for i in 0..POINTS {
            // The middles of the upright parts and of the upside-down ones between them.
            for j in 0..2 * (POINTS - i) - 1 {
                let (row, shift) =
                    if j % 2 == 0 { (1.0 / 3.0, 1.0 / 3.0) } else { (2.0 / 3.0, -1.0 / 3.0) };
                let (x, y) = ((j.div_ceil(2) as f64 + shift) / n, (i as f64 + row) / n);
                let node = GhostMeshNode::between(nodes, [1.0 - x - y, x, y]);
                if node.worst(self.iris) <= 1.0 {
                    f(&node, 1.0 / (n * n));
                }
            }
        }
    }

    /// The ghost's moments, by the light that enters each triangle.
    #[must_use]
    pub fn spot(&self) -> GhostSpot {
        let (mut flux, mut first, mut second, mut peak) = (0.0, DVec2::ZERO, DVec2::ZERO, 0.0_f64);
        for (_, nodes) in self.triangles() {
            let mut lit = 0.0;
            self.open(nodes, |node, part| {
                let light = node.weight * part * 0.5 * self.cell;
                lit += light;
                flux += light;
                first += node.place * light;
                second += node.place * node.place * light;
            });
            if lit > 0.0 {
                let weight = nodes.iter().map(|node| node.weight).sum::<f64>() / 3.0;
                let area = doubled_area(nodes.map(|node| node.place)).abs();
                peak = peak.max(weight * self.cell / area);
            }
        }
        GhostSpot::of(flux, first, second, peak, self.blur)
    }

    /// Illuminance over that across the beam at every node, as the mesh is drawn: the light that
    /// enters the triangles around it over their area on the sensor. Between nodes it is linear;
    /// the sum over all triangles is the light that enters, exactly.
    #[must_use]
    pub fn illuminances(&self) -> Vec<f64> {
        let mut areas = vec![(0.0, 0.0); self.nodes.len()];
        for (indices, nodes) in self.triangles() {
            let area = doubled_area(nodes.map(|node| node.place)).abs();
            for i in indices {
                areas[i].0 += self.cell;
                areas[i].1 += area;
            }
        }
        let weight = |node: &Option<GhostMeshNode>| node.as_ref().map_or(0.0, |node| node.weight);
        let ratio = |(entering, area): &(f64, f64)| if *area > 0.0 { entering / area } else { 0.0 };
        self.nodes.iter().zip(&areas).map(|(node, area)| weight(node) * ratio(area)).collect()
    }

    /// Light (lm per lx) by summing illuminance over the area on the sensor, triangle by triangle,
    /// as it is drawn.
    #[must_use]
    pub fn drawn_flux(&self) -> f64 {
        let illuminances = self.illuminances();
        let mut flux = 0.0;
        for (indices, nodes) in self.triangles() {
            let area = 0.5 * doubled_area(nodes.map(|node| node.place)).abs();
            let mean = indices.map(|i| illuminances[i]).iter().sum::<f64>() / 3.0;
            self.open(nodes, |_, part| flux += mean * area * part);
        }
        flux
    }

    /// The greatest over the least illuminance of triangles that light passes: how finely the mesh
    /// must be made. Infinite where it is folded.
    #[must_use]
    pub fn unevenness(&self) -> f64 {
        let (mut least, mut most, mut turned) = (f64::INFINITY, 0.0_f64, [false; 2]);
        for (_, nodes) in self.triangles() {
            if nodes.iter().any(|node| node.worst(self.iris) <= 1.0) {
                let area = doubled_area(nodes.map(|node| node.place));
                turned[usize::from(area > 0.0)] = true;
                for node in nodes {
                    let illuminance = node.weight / area.abs();
                    (least, most) = (least.min(illuminance), most.max(illuminance));
                }
            }
        }
        if turned == [true; 2] { f64::INFINITY } else { most / least }
    }
}
