//! Voxelization of closed meshes, for passes that support only box volumes.

use glam::{DVec3, Vec3};

use super::DensityGrid;
use crate::scene::{Mesh, Primitive};

/// Voxels along the longest side of a mesh's grid.
pub const VOXELS_ACROSS: u32 = 96;
/// Sample rows per voxel along x and along y.
const ROWS: u32 = 3;

/// Fraction of each voxel inside of a mesh, 0 to 1, and the bounding box of the grid in mesh space.
/// The grid exceeds the mesh by half a voxel on each side. `None` for a mesh without extent.
///
/// Casts `ROWS` squared rows along z per voxel and integrates exactly along each. A point is inside
/// if more front faces than back faces precede it.
#[must_use]
pub fn voxelize_mesh(mesh: &Mesh, across: u32) -> Option<(DensityGrid, (DVec3, DVec3))> {
    let points = mesh.primitives.iter().flat_map(|part| &part.positions).map(|p| p.as_dvec3());
    let (low, high) = points.map(|p| (p, p)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
    let cell = (high - low).max_element() / f64::from(across.max(2) - 1);
    if !(cell > 0.0 && cell.is_finite()) {
        return None;
    }
    let size = ((high - low) / cell).to_array().map(|cells| (cells.ceil() as u32 + 1).min(across));
    let [nx, ny, nz] = size;
    let middle = (low + high) / 2.0;
    let half = DVec3::new(f64::from(nx), f64::from(ny), f64::from(nz)) * (cell / 2.0);
    let (low, high) = (middle - half, middle + half);
    let (columns, rows) = ((nx * ROWS) as usize, (ny * ROWS) as usize);
    let step = cell / f64::from(ROWS);
    // Crossings per row: z position (in cells) and entry (+1) or exit (-1).
    let mut crossings: Vec<Vec<(f64, i32)>> = vec![Vec::new(); columns * rows];
    for part in &mesh.primitives {
        for corners in part.indices.as_chunks::<3>().0 {
            let [a, b, c] = corners
                .map(|i| part.positions.get(i as usize).copied().unwrap_or(Vec3::ZERO).as_dvec3());
            cross_rows(
                ((a - low) / step, (b - low) / step, (c - low) / step),
                (columns, rows),
                &mut crossings,
            );
        }
    }
    let mut values = vec![0.0f32; (nx * ny * nz) as usize];
    let share = 1.0 / f64::from(ROWS * ROWS);
    for (index, row) in crossings.iter_mut().enumerate() {
        row.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (x, y) = (index % columns / ROWS as usize, index / columns / ROWS as usize);
        let (mut depth, mut from) = (0, 0.0);
        for &(z, way) in row.iter() {
            let z = z / f64::from(ROWS);
            if depth > 0 {
                add_between(from, z, nz, |k, part| {
                    values[(k as usize * ny as usize + y) * nx as usize + x] +=
                        (part * share) as f32;
                });
            }
            depth += way;
            from = z;
        }
    }
    values.iter_mut().for_each(|value| *value = value.clamp(0.0, 1.0));
    Some((DensityGrid::new(size, values).ok()?, (low, high)))
}

/// True if a mesh encloses a volume: the signed sum of tetrahedra from the box's center (theorem of
/// Gauss) exceeds rounding errors. Flat open meshes and inverted closed ones do not.
#[must_use]
pub fn encloses(mesh: &Mesh) -> bool {
    let points = || mesh.primitives.iter().flat_map(|part| &part.positions).map(|p| p.as_dvec3());
    let Some((low, high)) = points().map(|p| (p, p)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    else {
        return false;
    };
    let middle = (low + high) / 2.0;
    let six_times = |part: &Primitive| -> f64 {
        let corners = part.indices.as_chunks::<3>().0.iter();
        let at = |i: u32| {
            part.positions.get(i as usize).copied().unwrap_or(Vec3::ZERO).as_dvec3() - middle
        };
        corners.map(|&[a, b, c]| at(a).dot(at(b).cross(at(c)))).sum()
    };
    let volume = mesh.primitives.iter().map(six_times).sum::<f64>() / 6.0;
    volume > 1e-9 * (high - low).max_element().powi(3)
}

/// Adds the covered length of each cell between two positions (in cells).
fn add_between(from: f64, to: f64, cells: u32, mut add: impl FnMut(u32, f64)) {
    let (from, to) = (from.max(0.0), to.min(f64::from(cells)));
    let mut k = from as u32;
    while k < cells && f64::from(k) < to {
        add(k, (to.min(f64::from(k) + 1.0) - from.max(f64::from(k))).max(0.0));
        k += 1;
    }
}

/// Intersects rows along z with a triangle, in units of the row spacing; rows lie at half-integers.
fn cross_rows(
    (a, b, c): (DVec3, DVec3, DVec3),
    (columns, rows): (usize, usize),
    crossings: &mut [Vec<(f64, i32)>],
) {
    let doubled = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if doubled == 0.0 || !doubled.is_finite() {
        return;
    }
    let range = |p: f64, q: f64, r: f64, max: usize| {
        let first = (p.min(q).min(r) - 0.5).ceil().max(0.0) as usize;
        let last = ((p.max(q).max(r) - 0.5).floor() + 1.0).clamp(0.0, max as f64) as usize;
        first..last
    };
    // A shared edge belongs to exactly one of its two triangles: the one on its left, seen from a
    // fixed side.
    let edge = |p: DVec3, q: DVec3, x: f64, y: f64| {
        let (from, to, sign) = if (p.y, p.x) < (q.y, q.x) { (p, q, 1.0) } else { (q, p, -1.0) };
        let side = (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x);
        let side = if side == 0.0 { 1e-300 } else { side };
        side * sign * doubled.signum()
    };
    for row in range(a.y, b.y, c.y, rows) {
        let y = row as f64 + 0.5;
        for column in range(a.x, b.x, c.x, columns) {
            let x = column as f64 + 0.5;
            let (wa, wb, wc) = (edge(b, c, x, y), edge(c, a, x, y), edge(a, b, x, y));
            if wa > 0.0 && wb > 0.0 && wc > 0.0 {
                let z = (wa * a.z + wb * b.z + wc * c.z) / (wa + wb + wc);
                // The row exits where the normal's z is positive.
                crossings[row * columns + column].push((z, if doubled > 0.0 { -1 } else { 1 }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::procedural::shapes;

    #[test]
    fn what_is_open_or_inside_out_encloses_nothing() {
        let of = |primitives| encloses(&Mesh { name: String::new(), primitives });
        let ball = shapes::icosphere(0.3, 2);
        let mut out = ball.clone();
        out.indices.as_chunks_mut::<3>().0.iter_mut().for_each(|corners| corners.swap(0, 1));
        assert!(of(vec![ball]) && !of(vec![out]) && !of(Vec::new()));
        assert!(!of(vec![shapes::plane(glam::Vec2::new(3.0, 2.0), 4, 4)]));
        // Also far from the origin.
        let mut far = shapes::cuboid(Vec3::ONE);
        far.positions.iter_mut().for_each(|position| *position += Vec3::splat(1000.0));
        assert!(of(vec![far]));
    }

    fn volume_of(primitives: Vec<Primitive>) -> f64 {
        let mesh = Mesh { name: String::new(), primitives };
        let (grid, (low, high)) = voxelize_mesh(&mesh, 48).unwrap();
        let size = high - low;
        grid.values().iter().map(|&v| f64::from(v)).sum::<f64>() / grid.values().len() as f64
            * size.element_product()
    }

    #[test]
    fn a_grid_holds_as_much_as_its_mesh() {
        let cube = shapes::cuboid(Vec3::new(1.0, 2.0, 0.5));
        assert!((volume_of(vec![cube.clone()]) - 1.0).abs() < 0.01, "{}", volume_of(vec![cube]));
        let ball = volume_of(vec![shapes::icosphere(0.5, 4)]);
        let exact = std::f64::consts::PI / 6.0;
        assert!((ball / exact - 1.0).abs() < 0.01, "{ball} {exact}");
    }

    #[test]
    fn overlapping_parts_count_once() {
        let cube = shapes::cuboid(Vec3::ONE);
        let mut moved = cube.clone();
        moved.positions.iter_mut().for_each(|p| p.z += 0.5);
        let mut whole = shapes::cuboid(Vec3::new(1.0, 1.0, 1.5));
        whole.positions.iter_mut().for_each(|p| p.z += 0.25);
        let (two, one) = (volume_of(vec![cube, moved]), volume_of(vec![whole]));
        assert!((two - one).abs() < 1e-6, "{two} {one}");
    }

    #[test]
    fn nothing_has_no_grid() {
        assert!(voxelize_mesh(&Mesh::default(), 16).is_none());
    }
}
