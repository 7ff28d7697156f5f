//! Building parts: closed solids with flat faces, and hanging cloth.
//!
//! Each function returns one closed surface that faces outward, with unit normals and texture
//! coordinates in meters along each face. Assemble parts by sinking one into another, never with
//! coplanar faces.

use std::f32::consts::{PI, TAU};

use glam::{DAffine3, Vec2, Vec3};

use super::shapes::{self, append};
use crate::scene::Primitive;

/// A flat quadrilateral, counter-clockwise seen from its front; `uv` in meters from its first
/// corner.
fn face(out: &mut Primitive, corners: [Vec3; 4]) {
    let [a, b, _, d] = corners;
    let normal = (corners[2] - a).cross(d - b).normalize_or(Vec3::Y);
    let right = (b - a).normalize_or(normal.any_orthonormal_vector());
    smooth_face(
        out,
        corners,
        [normal; 4],
        corners.map(|p| Vec2::new((p - a).dot(right), (p - a).dot(right.cross(normal)))),
    );
}

fn smooth_face(out: &mut Primitive, corners: [Vec3; 4], normals: [Vec3; 4], uv: [Vec2; 4]) {
    let first = out.positions.len() as u32;
    out.positions.extend(corners);
    out.normals.extend(normals);
    out.uv0.extend(uv);
    out.indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
}

/// A profile swept around the rectangle with half sides `half` (m, along X and Z), with mitered
/// corners. Profile points are (distance outward from the rectangle, height), counter-clockwise
/// with outward to the right. No distance extends inward beyond the center.
#[must_use]
pub fn ring(half: Vec2, profile: &[Vec2]) -> Primitive {
    let mut out = Primitive::default();
    let corner = |index: usize, point: Vec2| {
        let [x, z] = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]][index % 4];
        Vec3::new(x * (half.x + point.x), point.y, z * (half.y + point.x))
    };
    for (index, &from) in profile.iter().enumerate() {
        let to = profile[(index + 1) % profile.len()];
        for side in 0..4 {
            face(
                &mut out,
                [
                    corner(side, from),
                    corner(side + 1, from),
                    corner(side + 1, to),
                    corner(side, to),
                ],
            );
        }
    }
    out
}

/// A flat plate of cells between the lines `xs` and `ys` (m, increasing), from `zs.0` to `zs.1`;
/// `filled(column, row)` selects the cells. Avoid cells that touch at one corner only: they leave
/// an edge between four faces.
#[must_use]
pub fn plate(
    xs: &[f32],
    ys: &[f32],
    zs: (f32, f32),
    filled: impl Fn(usize, usize) -> bool,
) -> Primitive {
    let mut out = Primitive::default();
    let (columns, rows) = (xs.len().saturating_sub(1), ys.len().saturating_sub(1));
    let there = |column: isize, row: isize| {
        let inside = (0..columns as isize).contains(&column) && (0..rows as isize).contains(&row);
        inside && filled(column as usize, row as usize)
    };
    let (back, front) = zs;
    for row in 0..rows {
        for column in (0..columns).filter(|&column| filled(column, row)) {
            let ([l, r], [b, t]) = ([xs[column], xs[column + 1]], [ys[row], ys[row + 1]]);
            let at = Vec3::new;
            face(&mut out, [at(l, b, front), at(r, b, front), at(r, t, front), at(l, t, front)]);
            face(&mut out, [at(r, b, back), at(l, b, back), at(l, t, back), at(r, t, back)]);
            let (column, row) = (column as isize, row as isize);
            if !there(column - 1, row) {
                face(&mut out, [at(l, b, back), at(l, b, front), at(l, t, front), at(l, t, back)]);
            }
            if !there(column + 1, row) {
                face(&mut out, [at(r, b, front), at(r, b, back), at(r, t, back), at(r, t, front)]);
            }
            if !there(column, row - 1) {
                face(&mut out, [at(l, b, back), at(r, b, back), at(r, b, front), at(l, b, front)]);
            }
            if !there(column, row + 1) {
                face(&mut out, [at(l, t, front), at(r, t, front), at(r, t, back), at(l, t, back)]);
            }
        }
    }
    out
}

/// A wall on round arches.
#[derive(Clone, Copy, Debug)]
pub struct Arcade {
    /// Number of arches.
    pub bays: usize,
    /// Arch spacing (m), center to center.
    pub pitch: f32,
    /// Radius of an arch (m), less than half the spacing.
    pub radius: f32,
    /// Extension of the wall beyond half a spacing at each end (m).
    pub beyond: f32,
    /// Height from the springing line to the top of the wall (m), more than the radius.
    pub height: f32,
    /// Thickness of the wall (m).
    pub thickness: f32,
    /// Facets per arch.
    pub segments: usize,
}

impl Arcade {
    /// The wall: along X, centered, with arches springing at y = 0.
    #[must_use]
    pub fn wall(&self) -> Primitive {
        let mut out = Primitive::default();
        let (half, back, top) = (self.thickness * 0.5, -self.thickness * 0.5, self.height);
        let end = self.pitch * self.bays as f32 * 0.5 + self.beyond;
        let at = Vec3::new;
        // The lower outline: arches and the horizontal ends between them, from left to right.
        let mut line: Vec<(Vec2, Option<usize>)> = vec![(Vec2::new(-end, 0.0), None)];
        for bay in 0..self.bays {
            let middle = (bay as f32 + 0.5 - self.bays as f32 * 0.5) * self.pitch;
            for step in 0..=self.segments {
                line.push((self.arch(middle, step), Some(bay)));
            }
        }
        line.push((Vec2::new(end, 0.0), None));
        for pair in line.windows(2) {
            let [(a, of), (b, to)] = [pair[0], pair[1]];
            face(
                &mut out,
                [at(a.x, a.y, half), at(b.x, b.y, half), at(b.x, top, half), at(a.x, top, half)],
            );
            face(
                &mut out,
                [at(b.x, b.y, back), at(a.x, a.y, back), at(a.x, top, back), at(b.x, top, back)],
            );
            face(
                &mut out,
                [at(a.x, top, half), at(b.x, top, half), at(b.x, top, back), at(a.x, top, back)],
            );
            let below =
                [at(a.x, a.y, back), at(b.x, b.y, back), at(b.x, b.y, half), at(a.x, a.y, half)];
            match of {
                Some(bay) if of == to => {
                    let middle =
                        Vec2::new((bay as f32 + 0.5 - self.bays as f32 * 0.5) * self.pitch, 0.0);
                    let inward = |p: Vec2| {
                        ((middle - p) / self.radius).extend(0.0).normalize_or(Vec3::NEG_Y)
                    };
                    let way = |p: Vec2| (p - middle).to_angle() * self.radius;
                    smooth_face(
                        &mut out,
                        below,
                        [inward(a), inward(b), inward(b), inward(a)],
                        [(a, 0.0), (b, 0.0), (b, 1.0), (a, 1.0)]
                            .map(|(p, v)| Vec2::new(way(p), v * self.thickness)),
                    );
                }
                _ => face(&mut out, below),
            }
        }
        face(
            &mut out,
            [at(-end, 0.0, back), at(-end, 0.0, half), at(-end, top, half), at(-end, top, back)],
        );
        face(
            &mut out,
            [at(end, 0.0, half), at(end, 0.0, back), at(end, top, back), at(end, top, half)],
        );
        out
    }

    /// A point of the arch around `middle`, from its left end to its right.
    fn arch(&self, middle: f32, step: usize) -> Vec2 {
        // The ends are exactly on the springing line.
        let angle = match step {
            0 => return Vec2::new(middle - self.radius, 0.0),
            step if step == self.segments => return Vec2::new(middle + self.radius, 0.0),
            step => PI * (1.0 - step as f32 / self.segments as f32),
        };
        Vec2::new(middle, 0.0) + Vec2::from_angle(angle) * self.radius
    }
}

/// A band around a round arch that springs at y = 0: between two radii (m), from z = `zs.0` to
/// `zs.1`.
#[must_use]
pub fn archivolt(radii: (f32, f32), zs: (f32, f32), segments: usize) -> Primitive {
    let mut out = Primitive::default();
    let segments = segments.max(2);
    let (inner, outer) = radii;
    let point = |radius: f32, step: usize, z: f32| {
        let direction = match step {
            0 => Vec2::NEG_X,
            step if step == segments => Vec2::X,
            step => Vec2::from_angle(PI * (1.0 - step as f32 / segments as f32)),
        };
        (direction * radius).extend(z)
    };
    let (back, front) = zs;
    for step in 0..segments {
        let (a, b) = (step, step + 1);
        let out_of = |step: usize| point(1.0, step, 0.0);
        let uv = [Vec2::ZERO, Vec2::X * 0.1, Vec2::new(0.1, 0.1), Vec2::Y * 0.1];
        face(
            &mut out,
            [
                point(inner, a, front),
                point(inner, b, front),
                point(outer, b, front),
                point(outer, a, front),
            ],
        );
        face(
            &mut out,
            [
                point(inner, b, back),
                point(inner, a, back),
                point(outer, a, back),
                point(outer, b, back),
            ],
        );
        let (na, nb) = (out_of(a), out_of(b));
        smooth_face(
            &mut out,
            [
                point(outer, a, front),
                point(outer, b, front),
                point(outer, b, back),
                point(outer, a, back),
            ],
            [na, nb, nb, na],
            uv,
        );
        smooth_face(
            &mut out,
            [
                point(inner, a, back),
                point(inner, b, back),
                point(inner, b, front),
                point(inner, a, front),
            ],
            [-na, -nb, -nb, -na],
            uv,
        );
    }
    let last = segments;
    face(
        &mut out,
        [
            point(inner, 0, back),
            point(inner, 0, front),
            point(outer, 0, front),
            point(outer, 0, back),
        ],
    );
    face(
        &mut out,
        [
            point(inner, last, front),
            point(inner, last, back),
            point(outer, last, back),
            point(outer, last, front),
        ],
    );
    out
}

/// A fluted round shaft that stands on y = 0, with flat ends. `radius` gives its outline (m) by
/// relative height; flutes are `depth` times that deep, with 4 facets each.
#[must_use]
pub fn fluted(
    height: f32,
    flutes: usize,
    depth: f32,
    rows: usize,
    radius: impl Fn(f32) -> f32,
) -> Primitive {
    let columns = flutes.max(3) * 4;
    let outline = |u: f32, up: f32| {
        let u = u.fract();
        // The edge between flutes is sharp; flutes fade out at both ends.
        let run_out = (up.min(1.0 - up) / 0.04).clamp(0.0, 1.0);
        let cut = (PI * (u * flutes as f32).fract()).sin() * depth * run_out;
        let around = TAU * u;
        Vec3::new(around.sin(), 0.0, around.cos()) * radius(up) * (1.0 - cut)
    };
    // Denser rows where the flutes begin and end.
    let place = |v: f32| v * v * (3.0 - 2.0 * v);
    let mut out = shapes::sheet(columns, rows, |u, v| {
        outline(u, 1.0 - place(v)) + Vec3::Y * height * (1.0 - place(v))
    });
    for (up, normal) in [(0.0, Vec3::NEG_Y), (1.0, Vec3::Y)] {
        let first = out.positions.len() as u32;
        out.positions.push(Vec3::Y * height * up);
        out.uv0.push(Vec2::ZERO);
        for column in 0..columns {
            let p = outline(column as f32 / columns as f32, up);
            out.positions.push(p + Vec3::Y * height * up);
            out.uv0.push(Vec2::new(p.x, p.z));
        }
        out.normals.resize(out.positions.len(), normal);
        for column in 0..columns as u32 {
            let (a, b) = (first + 1 + column, first + 1 + (column + 1) % columns as u32);
            out.indices.extend(if up > 0.5 { [first, a, b] } else { [first, b, a] });
        }
    }
    out
}

/// Cloth of a thickness (m): its mid-surface is `surface` over the unit square, u to the right and
/// v downward seen from the front.
#[must_use]
pub fn cloth(
    columns: usize,
    rows: usize,
    thickness: f32,
    surface: impl Fn(f32, f32) -> Vec3,
) -> Primitive {
    let middle = shapes::sheet(columns, rows, surface);
    let (columns, rows) = (columns.max(1), rows.max(1));
    let half = thickness * 0.5;
    let mut out = Primitive::default();
    for side in [1.0, -1.0] {
        let mut part = middle.clone();
        for (position, normal) in part.positions.iter_mut().zip(&mut part.normals) {
            *position += *normal * half * side;
            *normal *= side;
        }
        if side < 0.0 {
            part.indices.chunks_exact_mut(3).for_each(|triangle| triangle.swap(1, 2));
        }
        append(&mut out, &part, &DAffine3::IDENTITY);
    }
    // The rim, counter-clockwise seen from the front.
    let stride = columns + 1;
    let below = (0..columns).map(|column| (rows * stride + column, rows * stride + column + 1));
    let right = (0..rows).rev().map(|row| ((row + 1) * stride + columns, row * stride + columns));
    let above = (0..columns).rev().map(|column| (column + 1, column));
    let left = (0..rows).map(|row| (row * stride, (row + 1) * stride));
    for (a, b) in below.chain(right).chain(above).chain(left) {
        let at =
            |index: usize, side: f32| middle.positions[index] + middle.normals[index] * half * side;
        face(&mut out, [at(a, -1.0), at(b, -1.0), at(b, 1.0), at(a, 1.0)]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::procedural::shapes::checks::{assert_closed, assert_solid};

    #[test]
    fn parts_of_buildings_are_closed_and_have_their_volume() {
        let frame = [Vec2::ZERO, Vec2::new(0.5, 0.0), Vec2::new(0.5, 3.0), Vec2::new(0.0, 3.0)];
        assert_solid(&ring(Vec2::new(4.0, 2.0), &frame), (9.0 * 5.0 - 8.0 * 4.0) * 3.0, 1e-6);
        let wall =
            plate(&[0.0, 1.0, 2.0, 4.0], &[0.0, 2.0, 2.5], (-0.05, 0.05), |x, y| (x, y) != (1, 0));
        assert_solid(&wall, (4.0 * 2.5 - 2.0) * 0.1, 1e-5);
        let arcade = Arcade {
            bays: 3,
            pitch: 3.0,
            radius: 1.2,
            beyond: 0.2,
            height: 2.0,
            thickness: 0.4,
            segments: 64,
        };
        assert_solid(&arcade.wall(), (9.4 * 2.0 - 1.5 * PI * 1.44) * 0.4, 1e-3);
        assert_solid(&archivolt((1.0, 1.2), (0.0, 0.1), 64), 0.5 * PI * 0.44 * 0.1, 1e-3);
        assert_solid(&fluted(2.0, 20, 0.0, 12, |_| 0.3), PI * 0.09 * 2.0, 2e-3);
        let shaft = fluted(2.0, 20, 0.1, 12, |up| 0.3 - 0.05 * up);
        assert_closed(&shaft);
        let flag = cloth(8, 8, 0.01, |u, v| Vec3::new(u, 1.0 - v, 0.0));
        assert_solid(&flag, 0.01, 1e-4);
        assert_closed(&cloth(16, 8, 0.004, |u, v| {
            Vec3::new(u, 1.0 - v, 0.1 * v * (12.0 * u).sin())
        }));
    }
}
