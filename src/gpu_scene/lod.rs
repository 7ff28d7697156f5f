//! Coarser levels of detail of a mesh: index ranges into the same vertices.

use crate::scene::Primitive;

/// Minimum triangle count for levels of detail; a smaller mesh costs little more than its draw
/// call.
const MIN_TRIANGLES: usize = 1024;

/// Maximum index count of a level as a fraction of the previous one; less reduction is not worth
/// the memory.
const MAX_KEPT_FRACTION: f64 = 0.75;

/// Triangle counts of the coarser levels as fractions of the finest.
const PARTS: [f64; 3] = [0.25, 0.0625, 0.015_625];

/// Maximum error of a level as a fraction of the mesh's extent.
const MAX_ERROR: f32 = 0.1;

/// Indices of each coarser level, finest first, and the distance (object space) of its surface from
/// the finest level's. The simplifier estimates it from plane quadrics (Garland and Heckbert 1997,
/// "Surface Simplification Using Quadric Error Metrics"); it is not a strict bound. Borders are
/// fixed, so that no gap opens to a neighboring primitive.
pub(super) fn coarser(primitive: &Primitive) -> Vec<(Vec<u32>, f32)> {
    let (positions, indices) = (&primitive.positions, &primitive.indices);
    let sound = positions.iter().all(|p| p.is_finite())
        && indices.len().is_multiple_of(3)
        && indices.iter().all(|&index| (index as usize) < positions.len());
    if indices.len() < MIN_TRIANGLES * 3 || !sound || primitive.deform.is_some() {
        return Vec::new();
    }
    let Ok(vertices) = meshopt::VertexDataAdapter::new(
        bytemuck::cast_slice(positions),
        size_of::<glam::Vec3>(),
        0,
    ) else {
        return Vec::new();
    };
    let scale = meshopt::simplify_scale(&vertices);
    let mut levels: Vec<(Vec<u32>, f32)> = Vec::new();
    let mut last = indices.len();
    for part in PARTS {
        let target = (indices.len() as f64 / 3.0 * part) as usize * 3;
        let mut error = 0.0;
        let options = meshopt::SimplifyOptions::LockBorder;
        let level =
            meshopt::simplify(indices, &vertices, target, MAX_ERROR, options, Some(&mut error));
        let gains = !level.is_empty() && (level.len() as f64) < last as f64 * MAX_KEPT_FRACTION;
        if !gains || !error.is_finite() {
            break;
        }
        last = level.len();
        // Errors increase monotonically with the level.
        let error = (error * scale).max(levels.last().map_or(0.0, |(_, error)| *error));
        levels.push((level, error));
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::procedural::shapes;

    #[test]
    fn coarser_levels_have_fewer_triangles_of_the_same_vertices_and_more_error() {
        let ball = shapes::icosphere(2.0, 5);
        let levels = coarser(&ball);
        assert_eq!(levels.len(), 3);
        let (mut count, mut before) = (ball.indices.len(), 0.0);
        for (indices, error) in levels {
            assert!(indices.len() * 2 < count, "{} of {count}", indices.len());
            assert!(error > before && error < 0.2, "error {error} m, sphere of 2 m");
            assert!(indices.iter().all(|&index| (index as usize) < ball.positions.len()));
            // The sagitta of the longest edge is the true distance: chords of a sphere lie inside
            // it.
            let edge =
                |a: u32, b: u32| ball.positions[a as usize].distance(ball.positions[b as usize]);
            let longest = indices
                .chunks_exact(3)
                .map(|t| edge(t[0], t[1]).max(edge(t[1], t[2])).max(edge(t[2], t[0])));
            let longest = longest.fold(0.0, f32::max);
            let sagitta = 2.0 - (4.0 - longest * longest / 3.0).sqrt();
            assert!(error > 0.1 * sagitta, "reported {error}, actual {sagitta}");
            println!("{} triangles: error {error}, sagitta {sagitta}", indices.len() / 3);
            (count, before) = (indices.len(), error);
        }
    }

    #[test]
    fn small_meshes_and_broken_ones_have_none() {
        assert!(coarser(&shapes::icosphere(1.0, 2)).is_empty());
        let mut broken = shapes::icosphere(1.0, 4);
        broken.indices[7] = u32::MAX;
        assert!(coarser(&broken).is_empty());
        let mut broken = shapes::icosphere(1.0, 4);
        broken.positions[3].x = f32::NAN;
        assert!(coarser(&broken).is_empty());
    }
}
