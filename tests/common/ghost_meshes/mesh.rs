//! Ghost meshes: ray bundles from the entrance plane to the sensor.

use glam::DVec2;

use sunny16::{
    optics::Iris,
    optics::{
        Axis, Lens,
        ghosts::GhostMethod,
        paraxial::ReflectionPair,
        trace::{Ray, TracedRay},
    },
};

use super::{
    beam::Beam,
    node::{EntranceWindow, GhostMeshNode},
    paraxial::ParaxialTracing as _,
    spot::GhostSpot,
};

/// A ghost as a grid of cells with two triangles each.
#[derive(Clone, Debug, PartialEq)]
pub struct GhostMesh {
    cells: usize,
    /// Area of a cell (m2), perpendicular to the beam.
    cell: f64,
    nodes: Vec<Option<GhostMeshNode>>,
    iris: Iris,
    /// Semi-axes (m) of the source's disk on the sensor.
    blur: DVec2,
}

/// Cells per side of the probe meshes that search for the entrance window of a ghost.
const PROBE: usize = 16;
/// Maximum number of probe meshes, each within the window of the previous one.
const PROBES: usize = 4;
/// Maximum distance of probe nodes beyond rims and blades, relative to the nearest node, before
/// enough pass. More distant nodes are chaotic.
const REACH: f64 = 1.0;
/// Number of open nodes that ends the search.
const ENOUGH: usize = 40;
/// Test points per side of a triangle against rims and blades.
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

/// Narrows a window to the region where light passes: open nodes and one cell around them. Until
/// enough nodes are open, nodes count that are about one cell from the nearest one, which preserves
/// thin regions. `None` if nothing is found.
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

/// Twice the signed area of a triangle.
fn doubled_area([a, b, c]: [DVec2; 3]) -> f64 {
    (b - a).perp_dot(c - a)
}

/// Cells per side of an adaptive mesh: for unevenness below the first threshold of `UNEVEN`, below
/// the second, and above.
pub const CELLS: [usize; 3] = [16, 32, 64];
/// Maximum ratio of largest to smallest illuminance for the first two cell counts. Linear
/// interpolation of illuminance that varies by half has an error of a hundredth.
const UNEVEN: [f64; 2] = [1.5, 4.0];

/// Meshes of a lens's ghosts.
pub trait GhostMeshes {
    /// The lens.
    fn lens(&self) -> &Lens;

    /// Traces a ghost at a wavelength (m) as a mesh with the given cells per side (at least 1).
    /// `None` if no light of the beam passes.
    fn ghost_mesh(
        &self,
        tier: GhostMethod,
        bounces: ReflectionPair,
        beam: &Beam,
        wavelength: f64,
        cells: usize,
    ) -> Option<GhostMesh> {
        let cells = cells.max(1);
        let b = |axis| self.lens().ghost_matrix(bounces, axis, wavelength).b.abs();
        let blur = DVec2::new(b(Axis::X), b(Axis::Y)) * beam.radius().tan();
        let (window, nodes, facing) = match tier {
            GhostMethod::Paraxial => {
                let fast = self.lens().paraxial_ghost(bounces, wavelength);
                let window = fast.window(beam)?;
                (window, nodes(window, cells, &|p| Some(fast.node(p, beam))), beam.direction().z)
            }
            GhostMethod::Traced => {
                let node = |p: DVec2| self.traced_node(bounces, beam, wavelength, p);
                let half = self.front_radius();
                let whole = EntranceWindow { min: DVec2::splat(-half), max: DVec2::splat(half) };
                let window = narrowed(whole, self.lens().iris(), &node)?;
                (window, nodes(window, cells, &node), 1.0)
            }
        };
        let sides = window.max - window.min;
        let cell = sides.x * sides.y * facing / (cells * cells) as f64;
        Some(GhostMesh { cells, cell, nodes, iris: self.lens().iris(), blur })
    }

    /// Radius (m) of a disk perpendicular to any beam that contains all rays that hit the first
    /// surface.
    fn front_radius(&self) -> f64 {
        self.lens().front().0
    }

    /// The ray of a beam at a position (m) in the perpendicular plane through the center of the
    /// front sphere.
    fn entering(&self, beam: &Beam, p: DVec2) -> Ray {
        let [first, second] = beam.across(!self.lens().is_round());
        let (radius, z) = self.lens().front();
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
            self.lens().trace_ghost_unclipped(bounces, self.entering(beam, p), wavelength).ok()?;
        let place = traced.ray.at_plane(self.lens().sensor());
        // A ray that leaves the last surface away from the sensor never reaches it.
        let arrives = traced.ray.direction.z > 0.0 && place.is_finite();
        let TracedRay { weight, rim, iris, crossings, .. } = traced;
        arrives.then_some(GhostMeshNode { sensor_position: place, weight, rim, iris, crossings })
    }

    /// The mesh of a ghost at a wavelength (m), with adaptive resolution. `None` if no light of the
    /// beam passes.
    fn adaptive_ghost_mesh(
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

impl GhostMeshes for Lens {
    fn lens(&self) -> &Lens {
        self
    }
}

impl GhostMesh {
    /// Cells per side.
    #[must_use]
    pub const fn cells(&self) -> usize {
        self.cells
    }

    /// Nodes by rows; `None` for rays that miss a surface or are totally reflected where they
    /// should refract.
    #[must_use]
    pub fn nodes(&self) -> &[Option<GhostMeshNode>] {
        &self.nodes
    }

    /// Node indices of every triangle whose three rays reach the sensor.
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

    /// Calls `f` with the open area fraction of each part of a triangle and the interpolated node
    /// at its center.
    fn open(&self, nodes: [&GhostMeshNode; 3], mut f: impl FnMut(&GhostMeshNode, f64)) {
        let n = POINTS as f64;
        for i in 0..POINTS {
            // Centers of the upright sub-triangles and of the inverted ones between them.
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

    /// Moments of the ghost, weighted by the light that enters each triangle.
    #[must_use]
    pub fn spot(&self) -> GhostSpot {
        let (mut flux, mut first, mut second, mut peak) = (0.0, DVec2::ZERO, DVec2::ZERO, 0.0_f64);
        for (_, nodes) in self.triangles() {
            let mut lit = 0.0;
            self.open(nodes, |node, part| {
                let light = node.weight * part * 0.5 * self.cell;
                lit += light;
                flux += light;
                first += node.sensor_position * light;
                second += node.sensor_position * node.sensor_position * light;
            });
            if lit > 0.0 {
                let weight = nodes.iter().map(|node| node.weight).sum::<f64>() / 3.0;
                let area = doubled_area(nodes.map(|node| node.sensor_position)).abs();
                peak = peak.max(weight * self.cell / area);
            }
        }
        GhostSpot::of(flux, first, second, peak, self.blur)
    }

    /// Illuminance at every node as drawn, relative to that across the beam: light entering the
    /// adjacent triangles over their area on the sensor. With linear interpolation, the sum over
    /// all triangles is exactly the light that enters.
    #[must_use]
    fn illuminances(&self) -> Vec<f64> {
        let mut areas = vec![(0.0, 0.0); self.nodes.len()];
        for (indices, nodes) in self.triangles() {
            let area = doubled_area(nodes.map(|node| node.sensor_position)).abs();
            for i in indices {
                areas[i].0 += self.cell;
                areas[i].1 += area;
            }
        }
        let weight = |node: &Option<GhostMeshNode>| node.as_ref().map_or(0.0, |node| node.weight);
        let ratio = |(entering, area): &(f64, f64)| if *area > 0.0 { entering / area } else { 0.0 };
        self.nodes.iter().zip(&areas).map(|(node, area)| weight(node) * ratio(area)).collect()
    }

    /// Flux (lm per lx): illuminance integrated over the sensor area of each triangle, as drawn.
    #[must_use]
    pub fn drawn_flux(&self) -> f64 {
        let illuminances = self.illuminances();
        let mut flux = 0.0;
        for (indices, nodes) in self.triangles() {
            let area = 0.5 * doubled_area(nodes.map(|node| node.sensor_position)).abs();
            let mean = indices.map(|i| illuminances[i]).iter().sum::<f64>() / 3.0;
            self.open(nodes, |_, part| flux += mean * area * part);
        }
        flux
    }

    /// Ratio of the largest to the smallest illuminance of open triangles, which determines the
    /// resolution. Infinite for folded meshes.
    #[must_use]
    pub fn unevenness(&self) -> f64 {
        let (mut least, mut most, mut turned) = (f64::INFINITY, 0.0_f64, [false; 2]);
        for (_, nodes) in self.triangles() {
            if nodes.iter().any(|node| node.worst(self.iris) <= 1.0) {
                let area = doubled_area(nodes.map(|node| node.sensor_position));
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
