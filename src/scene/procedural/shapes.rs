//! Solids and sheets: each function returns one `Primitive` with positions, smooth unit normals,
//! `uv0` and counter-clockwise triangles.
//!
//! Texture coordinates follow glTF: (0, 0) is the image's upper left corner, and `v` grows
//! downward. Round shapes have +Y as their axis; `u` starts at +Z and grows toward +X, to the right
//! as seen from outside.

use std::{
    collections::HashMap,
    f32::consts::{PI, TAU},
};

use glam::{DAffine3, DMat3, Vec2, Vec3, Vec4};

use crate::scene::Primitive;

/// Crease angle (rad) of this module's shapes: `lathe` keeps sharper profile edges.
pub const CREASE: f32 = 35.0 * PI / 180.0;

/// A vertex of a grid: position, unit normal and texture coordinates.
type Vertex = (Vec3, Vec3, Vec2);

/// A grid of `columns` x `rows` cells over the unit square; `vertex` computes each corner.
///
/// Seen from the front `u` grows to the right and `v` downward. Skips cells that collapse to a line
/// or a point.
fn grid(columns: usize, rows: usize, vertex: impl Fn(usize, usize) -> Vertex) -> Primitive {
    let mut out = Primitive::default();
    for row in 0..=rows {
        for column in 0..=columns {
            let (position, normal, uv) = vertex(column, row);
            out.positions.push(position);
            out.normals.push(normal);
            out.uv0.push(uv);
        }
    }
    let stride = columns + 1;
    for row in 0..rows {
        for column in 0..columns {
            let upper = row * stride + column;
            let lower = upper + stride;
            push_triangle(&mut out, upper, lower, upper + 1);
            push_triangle(&mut out, upper + 1, lower, lower + 1);
        }
    }
    out
}

fn push_triangle(out: &mut Primitive, a: usize, b: usize, c: usize) {
    let [pa, pb, pc] = [a, b, c].map(|index| out.positions[index]);
    if pa.distance(pb).min(pb.distance(pc)).min(pc.distance(pa)) > 1e-7 {
        out.indices.extend([a as u32, b as u32, c as u32]);
    }
}

/// Sine and cosine of `step` of `steps` equal parts of a full turn; the last equals the first
/// exactly.
fn turn(step: usize, steps: usize) -> Vec2 {
    let angle = TAU * (step % steps) as f32 / steps as f32;
    Vec2::new(angle.sin(), angle.cos())
}

fn fraction(step: usize, steps: usize) -> f32 {
    step as f32 / steps as f32
}

/// A flat parallelogram of `columns` x `rows` cells from its upper left `corner` along `right` and
/// `down`.
///
/// It faces `down` x `right`.
#[must_use]
pub fn quad(corner: Vec3, right: Vec3, down: Vec3, columns: usize, rows: usize) -> Primitive {
    let (columns, rows) = (columns.max(1), rows.max(1));
    let normal = down.cross(right).normalize_or(Vec3::Y);
    grid(columns, rows, |column, row| {
        let uv = Vec2::new(fraction(column, columns), fraction(row, rows));
        (corner + right * uv.x + down * uv.y, normal, uv)
    })
}

/// A horizontal plane that faces +Y, centered on the origin; `size` = (along X, along Z).
#[must_use]
pub fn plane(size: Vec2, columns: usize, rows: usize) -> Primitive {
    quad(Vec3::new(-size.x, 0.0, -size.y) * 0.5, Vec3::X * size.x, Vec3::Z * size.y, columns, rows)
}

/// A curved sheet: `surface` maps (u, v) of the unit square to space; normals are from finite
/// differences.
///
/// It faces `d/dv` x `d/du`.
#[must_use]
pub fn sheet(columns: usize, rows: usize, surface: impl Fn(f32, f32) -> Vec3) -> Primitive {
    let (columns, rows) = (columns.max(1), rows.max(1));
    let step = 1e-3;
    grid(columns, rows, |column, row| {
        let (u, v) = (fraction(column, columns), fraction(row, rows));
        let along_u = surface((u + step).min(1.0), v) - surface((u - step).max(0.0), v);
        let along_v = surface(u, (v + step).min(1.0)) - surface(u, (v - step).max(0.0));
        (surface(u, v), along_v.cross(along_u).normalize_or(Vec3::Y), Vec2::new(u, v))
    })
}

/// A box with sharp edges, centered on the origin; each face has the whole texture.
#[must_use]
pub fn cuboid(size: Vec3) -> Primitive {
    let mut out = Primitive::default();
    for (right, up, normal) in FACES {
        let (right, up, normal) = (right * size, up * size, normal * size);
        append(&mut out, &quad((normal + up - right) * 0.5, right, -up, 1, 1), &DAffine3::IDENTITY);
    }
    out
}

/// Faces of a cube: right, up and outward, seen from outside.
const FACES: [(Vec3, Vec3, Vec3); 6] = [
    (Vec3::X, Vec3::Y, Vec3::Z),
    (Vec3::NEG_X, Vec3::Y, Vec3::NEG_Z),
    (Vec3::NEG_Z, Vec3::Y, Vec3::X),
    (Vec3::Z, Vec3::Y, Vec3::NEG_X),
    (Vec3::X, Vec3::NEG_Z, Vec3::Y),
    (Vec3::X, Vec3::Z, Vec3::NEG_Y),
];

/// A box with narrow bevels of two facets, which smooth normals make look round; centered on the
/// origin.
#[must_use]
pub fn bevelled_box(size: Vec3, bevel: f32) -> Primitive {
    rounded_box(size, bevel, 1)
}

/// A box with edges and corners rounded with `radius`, centered on the origin; `size` is the outer
/// size.
///
/// Each edge has `2 * segments` facets. The radius is at most half of the shortest side.
#[must_use]
pub fn rounded_box(size: Vec3, radius: f32, segments: usize) -> Primitive {
    let radius = radius.clamp(0.0, size.min_element() * 0.5);
    let segments = segments.max(1);
    let core = size * 0.5 - radius;
    // Along one axis of a face: the side of the core, and the slope of the direction from the
    // core's corner.
    let steps: Vec<(f32, f32)> = (0..=segments)
        .map(|step| (-1.0, (PI / 4.0 * (fraction(step, segments) - 1.0)).tan()))
        .chain((0..=segments).map(|step| (1.0, (PI / 4.0 * fraction(step, segments)).tan())))
        .collect();
    let cells = steps.len() - 1;
    let mut out = Primitive::default();
    for (right, up, outward) in FACES {
        let extent = Vec2::new((right * size).length(), (up * size).length());
        let face = grid(cells, cells, |column, row| {
            let (side_u, slope_u) = steps[column];
            let (side_v, slope_v) = steps[cells - row];
            let normal = (outward + right * slope_u + up * slope_v).normalize_or(outward);
            let position = (outward + right * side_u + up * side_v) * core + normal * radius;
            let across = Vec2::new(position.dot(right), -position.dot(up)) / extent + 0.5;
            (position, normal, across)
        });
        append(&mut out, &face, &DAffine3::IDENTITY);
    }
    out
}

/// A sphere of meridians and parallels, centered on the origin.
#[must_use]
pub fn uv_sphere(radius: f32, segments: usize, rings: usize) -> Primitive {
    let (segments, rings) = (segments.max(3), rings.max(2));
    grid(segments, rings, |column, row| {
        let around = turn(column, segments);
        let polar = PI * fraction(row, rings);
        let across = if row == 0 || row == rings { 0.0 } else { polar.sin() };
        let normal =
            Vec3::new(across * around.x, polar.cos(), across * around.y).normalize_or(Vec3::Y);
        (normal * radius, normal, Vec2::new(fraction(column, segments), fraction(row, rings)))
    })
}

/// A sphere of 20 * 4^`subdivisions` nearly equal triangles, centered on the origin.
///
/// Texture coordinates are those of `uv_sphere`; `u` exceeds 1 in triangles across the seam.
#[must_use]
pub fn icosphere(radius: f32, subdivisions: u32) -> Primitive {
    let golden = (1.0 + 5.0_f32.sqrt()) * 0.5;
    let mut points: Vec<Vec3> = Vec::with_capacity(12);
    for (a, b) in [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)] {
        points.push(Vec3::new(a, b, 0.0).normalize());
        points.push(Vec3::new(0.0, a, b).normalize());
        points.push(Vec3::new(b, 0.0, a).normalize());
    }
    // Faces are triples of mutual neighbors: neighbors subtend 63.43 degrees, the next pair 116.57.
    let near = |a: usize, b: usize| points[a].dot(points[b]) > 0.4;
    let mut faces: Vec<[usize; 3]> = Vec::with_capacity(20);
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b) && near(b, c) && near(c, a) {
                    let outward =
                        (points[b] - points[a]).cross(points[c] - points[a]).dot(points[a]) > 0.0;
                    faces.push(if outward { [a, b, c] } else { [a, c, b] });
                }
            }
        }
    }
    for _ in 0..subdivisions {
        let mut middles: HashMap<(usize, usize), usize> = HashMap::new();
        let mut finer = Vec::with_capacity(faces.len() * 4);
        for [a, b, c] in faces {
            let [ab, bc, ca] = [(a, b), (b, c), (c, a)].map(|(from, to)| {
                *middles.entry((from.min(to), from.max(to))).or_insert_with(|| {
                    points.push((points[from] + points[to]).normalize());
                    points.len() - 1
                })
            });
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        faces = finer;
    }
    let mut out = Primitive::default();
    let mut known: HashMap<(usize, u32, u32), u32> = HashMap::new();
    for face in faces {
        let mut across =
            face.map(|index| (points[index].x.atan2(points[index].z) / TAU).rem_euclid(1.0));
        let max = across.iter().copied().fold(0.0, f32::max);
        for u in &mut across {
            if max - *u > 0.5 {
                *u += 1.0;
            }
        }
        for (corner, &index) in face.iter().enumerate() {
            let normal = points[index];
            // A pole has no meridian: it takes the mean of the other two.
            let u = if normal.x.hypot(normal.z) < 1e-6 {
                (across[(corner + 1) % 3] + across[(corner + 2) % 3]) * 0.5
            } else {
                across[corner]
            };
            let uv = Vec2::new(u, normal.y.clamp(-1.0, 1.0).acos() / PI);
            let vertex =
                *known.entry((index, uv.x.to_bits(), uv.y.to_bits())).or_insert_with(|| {
                    out.positions.push(normal * radius);
                    out.normals.push(normal);
                    out.uv0.push(uv);
                    (out.positions.len() - 1) as u32
                });
            out.indices.push(vertex);
        }
    }
    out
}

/// A cylinder with caps that stands on the plane y = 0.
#[must_use]
pub fn cylinder(radius: f32, height: f32, segments: usize) -> Primitive {
    let profile =
        [Vec2::ZERO, Vec2::new(radius, 0.0), Vec2::new(radius, height), Vec2::new(0.0, height)];
    lathe(&profile, CREASE, segments)
}

/// A cone that stands on the plane y = 0.
#[must_use]
pub fn cone(radius: f32, height: f32, segments: usize) -> Primitive {
    lathe(&[Vec2::ZERO, Vec2::new(radius, 0.0), Vec2::new(0.0, height)], CREASE, segments)
}

/// A torus around +Y, centered on the origin: a tube of radius `minor` at distance `major` from the
/// axis.
#[must_use]
pub fn torus(major: f32, minor: f32, segments: usize, sides: usize) -> Primitive {
    tube_ring(major, minor, segments.max(3), sides, turn)
}

/// An arc of a torus, `sweep` rad (below a full turn) to the right from `start`, seen from outside;
/// its ends are open.
#[must_use]
pub fn torus_arc(
    major: f32,
    minor: f32,
    start: f32,
    sweep: f32,
    segments: usize,
    sides: usize,
) -> Primitive {
    tube_ring(major, minor, segments.max(1), sides, |column, segments| {
        let angle = start + sweep * fraction(column, segments);
        Vec2::new(angle.sin(), angle.cos())
    })
}

fn tube_ring(
    major: f32,
    minor: f32,
    segments: usize,
    sides: usize,
    at: impl Fn(usize, usize) -> Vec2,
) -> Primitive {
    let sides = sides.max(3);
    grid(segments, sides, |column, row| {
        let around = at(column, segments);
        // From the innermost line over the top outward and back below.
        let tube = turn(row, sides);
        let normal =
            Vec3::new(around.x * -tube.y, tube.x, around.y * -tube.y).normalize_or(Vec3::Y);
        let middle = Vec3::new(around.x, 0.0, around.y) * major;
        (
            middle + normal * minor,
            normal,
            Vec2::new(fraction(column, segments), fraction(row, sides)),
        )
    })
}

/// A surface of revolution around +Y. The profile is a list of (radius, height) with the outside on
/// the right: from the bottom of the axis outward, up the outer wall and, for a vessel, down the
/// inner one.
///
/// Profile corners that turn by more than `crease` (rad) stay sharp; all others are smooth.
#[must_use]
pub fn lathe(profile: &[Vec2], crease: f32, segments: usize) -> Primitive {
    let segments = segments.max(3);
    let mut points: Vec<Vec2> = Vec::with_capacity(profile.len());
    for &point in profile {
        let point = Vec2::new(point.x.max(0.0), point.y);
        if points.last().is_none_or(|last| last.distance(point) > 1e-7) {
            points.push(point);
        }
    }
    if points.len() < 2 {
        return Primitive::default();
    }
    let directions: Vec<Vec2> =
        points.windows(2).map(|pair| (pair[1] - pair[0]).normalize_or(Vec2::Y)).collect();
    let normals: Vec<Vec2> = directions.iter().map(|d| Vec2::new(d.y, -d.x)).collect();
    let lengths: Vec<f32> = points.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
    let total: f32 = lengths.iter().sum();
    let smooth =
        |before: usize, after: usize| directions[before].dot(directions[after]) >= crease.cos();
    let meeting = |before: usize, after: usize| {
        // Weighted by the other segment's length: exact for a circle through the three points.
        (normals[before] * lengths[after] + normals[after] * lengths[before])
            .normalize_or(normals[before])
    };
    // On the axis, a nearly horizontal profile closes smoothly.
    let end = |point: Vec2, normal: Vec2| {
        let level = Vec2::new(0.0, normal.y.signum());
        if point.x < 1e-6 && normal.dot(level) >= crease.cos() { level } else { normal }
    };
    // Runs of smooth segments, each a list of (point, normal, distance along the profile).
    let mut out = Primitive::default();
    let mut run: Vec<(Vec2, Vec2, f32)> = vec![(points[0], end(points[0], normals[0]), 0.0)];
    let mut way = 0.0;
    for segment in 0..lengths.len() {
        way += lengths[segment];
        let point = points[segment + 1];
        let last = segment + 1 == lengths.len();
        let go_on = !last && smooth(segment, segment + 1);
        let normal =
            if go_on { meeting(segment, segment + 1) } else { end(point, normals[segment]) };
        run.push((point, normal, way));
        if !go_on {
            append(&mut out, &revolve(&run, total, segments), &DAffine3::IDENTITY);
            if !last {
                run = vec![(point, normals[segment + 1], way)];
            }
        }
    }
    out
}

fn revolve(run: &[(Vec2, Vec2, f32)], total: f32, segments: usize) -> Primitive {
    let rows = run.len() - 1;
    grid(segments, rows, |column, row| {
        // The profile runs upward, the texture downward.
        let (point, normal, way) = run[rows - row];
        let around = turn(column, segments);
        let out = Vec3::new(around.x, 0.0, around.y);
        let normal = (out * normal.x + Vec3::Y * normal.y).normalize_or(Vec3::Y);
        (
            out * point.x + Vec3::Y * point.y,
            normal,
            Vec2::new(fraction(column, segments), 1.0 - way / total),
        )
    })
}

/// A Catmull-Rom curve through all `points` (ends repeated), with `steps` pieces between two
/// points.
#[must_use]
pub fn smooth_curve(points: &[Vec2], steps: usize) -> Vec<Vec2> {
    let steps = steps.max(1);
    let Some(&last) = points.last() else { return Vec::new() };
    let at = |index: isize| points[index.clamp(0, points.len() as isize - 1) as usize];
    let mut out = Vec::with_capacity(points.len() * steps);
    for index in 0..points.len() as isize - 1 {
        let [a, b, c, d] = [-1, 0, 1, 2].map(|offset| at(index + offset));
        for step in 0..steps {
            let t = fraction(step, steps);
            let value = b * 2.0
                + (c - a) * t
                + (a * 2.0 - b * 5.0 + c * 4.0 - d) * (t * t)
                + (b * 3.0 - a - c * 3.0 + d) * (t * t * t);
            out.push(value * 0.5);
        }
    }
    out.push(last);
    out
}

/// Appends a transformed copy of `part` to `whole`. Drops attributes that only one of the two has.
pub fn append(whole: &mut Primitive, part: &Primitive, transform: &DAffine3) {
    let first = whole.positions.len() as u32;
    let (was_empty, none_in_part) = (whole.positions.is_empty(), part.positions.is_empty());
    let linear = transform.matrix3;
    // Normals transform by the cofactors, which stay correct under mirroring; degenerate transforms
    // leave them unchanged.
    let cofactor = DMat3::from_cols(
        linear.y_axis.cross(linear.z_axis),
        linear.z_axis.cross(linear.x_axis),
        linear.x_axis.cross(linear.y_axis),
    );
    let mirrored = linear.determinant() < 0.0;
    let sign = if mirrored { -1.0 } else { 1.0 };
    whole
        .positions
        .extend(part.positions.iter().map(|p| transform.transform_point3(p.as_dvec3()).as_vec3()));
    whole.normals.extend(
        part.normals
            .iter()
            .map(|n| (cofactor * n.as_dvec3() * sign).normalize_or(n.as_dvec3()).as_vec3()),
    );
    let tangents = part.tangents.iter().map(|t| {
        let moved =
            (linear * t.truncate().as_dvec3()).normalize_or(t.truncate().as_dvec3()).as_vec3();
        moved.extend(if mirrored { -t.w } else { t.w })
    });
    join(&mut whole.tangents, tangents.collect(), was_empty, none_in_part);
    join(&mut whole.uv0, part.uv0.clone(), was_empty, none_in_part);
    join(&mut whole.uv1, part.uv1.clone(), was_empty, none_in_part);
    join(&mut whole.colors, part.colors.clone(), was_empty, none_in_part);
    for triangle in part.indices.chunks_exact(3) {
        let [a, b, c] = [triangle[0], triangle[1], triangle[2]].map(|index| index + first);
        whole.indices.extend(if mirrored { [a, c, b] } else { [a, b, c] });
    }
}

fn join<T>(whole: &mut Vec<T>, part: Vec<T>, was_empty: bool, none_in_part: bool) {
    if was_empty {
        *whole = part;
    } else if !none_in_part {
        if part.is_empty() || whole.is_empty() {
            whole.clear();
        } else {
            whole.extend(part);
        }
    }
}

/// The transformed primitive.
#[must_use]
pub fn transformed(part: &Primitive, transform: &DAffine3) -> Primitive {
    let mut out = Primitive { material: part.material, ..Primitive::default() };
    append(&mut out, part, transform);
    out
}

/// Scales the texture coordinates, so that a texture repeats.
#[must_use]
pub fn tiled(mut part: Primitive, times: Vec2) -> Primitive {
    for uv in &mut part.uv0 {
        *uv *= times;
    }
    part
}

/// Adds unit tangents that follow `uv0`: along growing `u`, with the bitangent toward smaller `v`.
///
/// Area-weighted gradients of `u` of each triangle (Lengyel, "Foundations of Game Engine
/// Development" 2, 7.5), orthogonalized to the normal. A primitive without `uv0` is returned
/// unchanged.
#[must_use]
pub fn with_tangents(mut part: Primitive) -> Primitive {
    if part.uv0.len() != part.positions.len() {
        return part;
    }
    let mut along_u = vec![Vec3::ZERO; part.positions.len()];
    let mut along_v = vec![Vec3::ZERO; part.positions.len()];
    for triangle in part.indices.chunks_exact(3) {
        let [a, b, c] = [triangle[0], triangle[1], triangle[2]].map(|index| index as usize);
        let (edge_b, edge_c) =
            (part.positions[b] - part.positions[a], part.positions[c] - part.positions[a]);
        let (uv_b, uv_c) = (part.uv0[b] - part.uv0[a], part.uv0[c] - part.uv0[a]);
        // Only the determinant's sign: its magnitude would weight by texture area.
        let sign = if uv_b.perp_dot(uv_c) < 0.0 { -1.0 } else { 1.0 };
        let area = edge_b.cross(edge_c).length();
        let u = (edge_b * uv_c.y - edge_c * uv_b.y).normalize_or_zero() * sign * area;
        let v = (edge_c * uv_b.x - edge_b * uv_c.x).normalize_or_zero() * sign * area;
        for vertex in [a, b, c] {
            along_u[vertex] += u;
            along_v[vertex] += v;
        }
    }
    part.tangents = part
        .normals
        .iter()
        .zip(along_u.iter().zip(&along_v))
        .map(|(&normal, (&u, &v))| {
            let tangent =
                (u - normal * normal.dot(u)).normalize_or(normal.any_orthonormal_vector());
            let sign: f32 = if normal.cross(tangent).dot(-v) < 0.0 { -1.0 } else { 1.0 };
            Vec4::from((tangent, sign))
        })
        .collect();
    part
}

/// Checks shared by tests of solids.
#[cfg(test)]
pub(super) mod checks {
    use std::collections::HashMap;

    use crate::scene::Primitive;

    /// Signed volume (m3) enclosed by the triangles: positive for a closed surface that faces
    /// outward.
    fn signed_volume(part: &Primitive) -> f64 {
        part.indices
            .chunks_exact(3)
            .map(|triangle| {
                let [a, b, c] = [triangle[0], triangle[1], triangle[2]]
                    .map(|index| part.positions[index as usize].as_dvec3());
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }

    /// Every edge occurs once in each direction: closed, with consistent winding. Vertices with
    /// equal positions count as one.
    pub fn assert_closed(part: &Primitive) {
        let mut edges: HashMap<[[i64; 3]; 2], i32> = HashMap::new();
        let key = |index: u32| {
            part.positions[index as usize].to_array().map(|x| (f64::from(x) * 1e6).round() as i64)
        };
        for triangle in part.indices.chunks_exact(3) {
            for (from, to) in [(0, 1), (1, 2), (2, 0)] {
                let (from, to) = (key(triangle[from]), key(triangle[to]));
                *edges.entry([from, to]).or_default() += 1;
                *edges.entry([to, from]).or_default() -= 1;
            }
        }
        assert!(edges.values().all(|&count| count == 0), "open edges");
    }

    /// Normals and indices match the triangles.
    pub fn assert_sound(part: &Primitive) {
        assert!(!part.indices.is_empty() && part.indices.len().is_multiple_of(3));
        assert_eq!(part.normals.len(), part.positions.len());
        assert_eq!(part.uv0.len(), part.positions.len());
        assert!(part.indices.iter().all(|&index| (index as usize) < part.positions.len()));
        assert!(part.normals.iter().all(|normal| (normal.length() - 1.0).abs() < 1e-5));
        for triangle in part.indices.chunks_exact(3) {
            let [a, b, c] = [0, 1, 2].map(|corner| part.positions[triangle[corner] as usize]);
            let flat = (b - a).cross(c - a).normalize();
            for &vertex in triangle {
                assert!(
                    flat.dot(part.normals[vertex as usize]) > 0.5,
                    "a normal points away from its triangle's front"
                );
            }
        }
    }

    /// Sound, closed, and of this volume (m3).
    pub fn assert_solid(part: &Primitive, volume: f32, tolerance: f64) {
        assert_sound(part);
        assert_closed(part);
        let found = signed_volume(part);
        assert!(
            (found / f64::from(volume) - 1.0).abs() < tolerance,
            "volume {found}, expected {volume}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::{
        checks::{assert_solid, assert_sound},
        *,
    };
    use glam::DVec3;

    #[test]
    fn solids_face_outwards_and_have_their_volume() {
        assert_solid(&cuboid(Vec3::new(1.0, 2.0, 3.0)), 6.0, 1e-6);
        assert_solid(&uv_sphere(0.5, 96, 48), PI / 6.0, 4e-3);
        assert_solid(&icosphere(0.5, 4), PI / 6.0, 4e-3);
        assert_solid(&cylinder(0.3, 2.0, 96), PI * 0.18, 2e-3);
        assert_solid(&cone(0.3, 2.0, 96), PI * 0.06, 2e-3);
        assert_solid(&torus(1.0, 0.25, 96, 48), 2.0 * PI * PI * 0.0625, 5e-3);
        // Minkowski sum: core + faces * r + quarter cylinders + a ball.
        let (a, b, c, r) = (0.8_f32, 1.8_f32, 2.8_f32, 0.1_f32);
        let rounded = a * b * c
            + 2.0 * r * (a * b + b * c + c * a)
            + PI * r * r * (a + b + c)
            + 4.0 / 3.0 * PI * r.powi(3);
        assert_solid(&rounded_box(Vec3::new(1.0, 2.0, 3.0), r, 6), rounded, 1e-3);
        assert_solid(&bevelled_box(Vec3::new(1.0, 2.0, 3.0), r), rounded, 1e-2);
    }

    #[test]
    fn a_vessel_has_the_volume_of_its_wall() {
        let (outer, inner, height, floor) = (0.05_f32, 0.045_f32, 0.1_f32, 0.01_f32);
        let profile = [
            Vec2::ZERO,
            Vec2::new(outer, 0.0),
            Vec2::new(outer, height),
            Vec2::new(inner, height),
            Vec2::new(inner, floor),
            Vec2::new(0.0, floor),
        ];
        let volume = PI * (outer * outer * height - inner * inner * (height - floor));
        assert_solid(&lathe(&profile, CREASE, 128), volume, 2e-3);
    }

    #[test]
    fn a_lathed_circle_is_a_sphere() {
        let profile: Vec<Vec2> =
            (0..=64).map(|step| Vec2::from_angle(PI * (step as f32 / 64.0 - 0.5)) * 0.5).collect();
        let part = lathe(&profile, CREASE, 96);
        assert_solid(&part, PI / 6.0, 4e-3);
        for (position, normal) in part.positions.iter().zip(&part.normals) {
            assert!(position.normalize().dot(*normal) > 0.9999);
        }
    }

    #[test]
    fn a_plane_faces_up_and_its_tangents_follow_the_picture() {
        let part = with_tangents(plane(Vec2::new(2.0, 1.0), 4, 3));
        assert_sound(&part);
        assert!(part.normals.iter().all(|&normal| normal == Vec3::Y));
        assert!(
            part.tangents
                .iter()
                .all(|tangent| tangent.distance(Vec4::new(1.0, 0.0, 0.0, 1.0)) < 1e-6)
        );
        assert_eq!(part.uv0[0], Vec2::ZERO);
        assert!(part.positions[0].distance(Vec3::new(-1.0, 0.0, -0.5)) < 1e-6);
    }

    #[test]
    fn the_tangents_of_a_sphere_are_its_parallels() {
        let part = with_tangents(uv_sphere(1.0, 32, 16));
        for ((normal, tangent), position) in
            part.normals.iter().zip(&part.tangents).zip(&part.positions)
        {
            assert!((tangent.truncate().length() - 1.0).abs() < 1e-5);
            assert!(tangent.truncate().dot(*normal).abs() < 1e-5);
            assert_eq!(tangent.w, 1.0);
            if normal.y.abs() < 0.8 {
                let east = Vec3::new(position.z, 0.0, -position.x).normalize();
                assert!(tangent.truncate().dot(east) > 0.98);
            }
        }
    }

    #[test]
    fn a_mirrored_copy_still_faces_outwards() {
        let mirror = DAffine3::from_scale(DVec3::new(-1.0, 1.0, 2.0));
        let part = transformed(&cone(0.3, 1.0, 48), &mirror);
        assert_solid(&part, PI * 0.06, 4e-3);
    }

    #[test]
    fn a_sheet_has_the_normals_of_its_surface() {
        let part = sheet(16, 16, |u, v| Vec3::new(u - 0.5, 0.1 * (u * 3.0).sin(), v - 0.5));
        assert_sound(&part);
        assert!(part.normals.iter().all(|normal| normal.y > 0.9));
    }

    #[test]
    fn a_smooth_curve_meets_its_points() {
        let points = [Vec2::ZERO, Vec2::new(1.0, 0.5), Vec2::new(0.5, 2.0)];
        let curve = smooth_curve(&points, 8);
        assert_eq!(curve.len(), 17);
        assert_eq!((curve[0], curve[8], curve[16]), (points[0], points[1], points[2]));
    }
}
