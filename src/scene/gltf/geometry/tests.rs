//! Tests of geometry import.
use super::*;

#[test]
fn strips_and_fans_keep_their_winding() {
    assert_eq!(triangles(4, &[0, 1, 2, 3, 4]), [[0, 1, 2]], "an incomplete triangle is left out");
    assert_eq!(triangles(5, &[0, 1, 2, 3, 4]), [[0, 1, 2], [1, 3, 2], [2, 3, 4]]);
    assert_eq!(triangles(6, &[0, 1, 2, 3]), [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(
        triangles(5, &[0, 1, 1, 2, 3]),
        [[1, 2, 3]],
        "a degenerate triangle still swaps the order"
    );
    for mode in 4..=6 {
        assert!(triangles(mode, &[]).is_empty() && triangles(mode, &[0, 1]).is_empty());
    }
}

fn quad() -> (Vertices, Vec<[u32; 3]>) {
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
    // The image is upright: v runs down.
    let uv0 = positions.iter().map(|p| Vec2::new(p.x, 1.0 - p.y)).collect();
    (
        Vertices { positions, uv0, normals: vec![Vec3::Z; 4], ..Vertices::default() },
        vec![[0, 1, 2], [0, 2, 3]],
    )
}

#[test]
fn tangents_of_a_quad_follow_u_and_bitangents_point_up_the_picture() {
    let (mut vertices, faces) = quad();
    let root = At::ROOT;
    let faces = tangents::generate(&mut vertices, &faces, 0, &root, &mut ImportReport::default());
    assert_eq!(vertices.positions.len(), 4, "equal corners are joined again");
    assert_eq!(faces, [[0, 1, 2], [0, 2, 3]]);
    for (tangent, normal) in vertices.tangents.iter().zip(&vertices.normals) {
        assert!((tangent.truncate() - Vec3::X).length() < 1e-6, "{tangent}");
        let bitangent = normal.cross(tangent.truncate()) * tangent.w;
        assert!((bitangent - Vec3::Y).length() < 1e-6, "{bitangent}");
    }
}

#[test]
fn a_mirrored_quad_has_the_opposite_handedness() {
    let (mut vertices, faces) = quad();
    for uv in &mut vertices.uv0 {
        uv.x = -uv.x;
    }
    let root = At::ROOT;
    tangents::generate(&mut vertices, &faces, 0, &root, &mut ImportReport::default());
    for tangent in &vertices.tangents {
        assert!((*tangent - Vec4::new(-1.0, 0.0, 0.0, -1.0)).length() < 1e-6, "{tangent}");
    }
}

#[test]
fn tangents_without_texture_area_are_still_unit_vectors() {
    let (mut vertices, faces) = quad();
    vertices.uv0 = vec![Vec2::ZERO; 4];
    vertices.positions[1] = Vec3::splat(3e38);
    let root = At::ROOT;
    tangents::generate(&mut vertices, &faces, 0, &root, &mut ImportReport::default());
    assert!(
        vertices
            .tangents
            .iter()
            .all(|t| (t.truncate().length() - 1.0).abs() < 1e-5 && t.w.abs() == 1.0)
    );
}

#[test]
fn a_hub_of_very_many_triangles_takes_no_time() {
    let (mut vertices, _) = quad();
    let faces = vec![[0u32, 1, 2]; 200_000];
    let root = At::ROOT;
    // Work by the square of their number, 4e10 steps, would not come to an end.
    tangents::generate(&mut vertices, &faces, 0, &root, &mut ImportReport::default());
    assert_eq!(vertices.tangents.len(), 4);
}

#[test]
fn flat_normals_split_the_corners() {
    let mut vertices =
        Vertices { positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z], ..Vertices::default() };
    let faces = flat(&mut vertices, &[[0, 1, 2], [0, 2, 3], [0, 1, 1]], false);
    assert_eq!(faces, [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(vertices.normals, [Vec3::Z, Vec3::Z, Vec3::Z, Vec3::X, Vec3::X, Vec3::X]);
    assert_eq!(vertices.positions.len(), 6);
}

#[test]
fn zero_normals_become_those_of_the_triangle() {
    let mut vertices = Vertices {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        normals: vec![Vec3::ZERO, Vec3::new(0.0, 0.0, 3.0), Vec3::NAN],
        ..Vertices::default()
    };
    let mut report = ImportReport::default();
    let root = At::ROOT;
    repair_normals(&mut vertices, &[[0, 1, 2]], &root, &mut report);
    assert_eq!(vertices.normals, [Vec3::Z; 3]);
    assert_eq!(report.into_notes().len(), 1);
}

#[test]
fn unused_vertices_are_left_out() {
    let mut vertices =
        Vertices { positions: vec![Vec3::NAN, Vec3::X, Vec3::Y, Vec3::Z], ..Vertices::default() };
    assert_eq!(compact(&mut vertices, vec![[3, 1, 2]]), [[2, 0, 1]]);
    assert_eq!(vertices.positions, [Vec3::X, Vec3::Y, Vec3::Z]);
}
