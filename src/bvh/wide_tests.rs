//! The host's wide nodes find the same hits as the device's binary nodes.
use glam::{DMat4, DVec3, Vec3};

use super::{
    tests::{Random, masked, ray, scene_of, sheet, soup, widened},
    *,
};
use crate::scene::{Primitive, Sampler, Scene};

/// Asserts that both kinds of nodes find the same hits, to the bit, and returns their number.
///
/// A wide leaf may hold several of the narrow ones, and its box is the union of theirs. Where a ray
/// touches a triangle's rim, rounding may make it miss the narrow leaf's box while the wide leaf
/// finds the triangle: see `touching`.
fn same(scene: &Scene, eye: DVec3, rays: impl IntoIterator<Item = Ray>) -> usize {
    let bvh = SceneBvh::new(scene, |_| true);
    let (wide, wide_top) = widened(&bvh, eye);
    same_hits(&bvh, &bvh.tlas_from(eye), &wide, &wide_top, rays)
}

fn same_hits(
    bvh: &SceneBvh,
    top: &SceneTlas,
    wide: &SceneBvh,
    wide_top: &SceneTlas,
    rays: impl IntoIterator<Item = Ray>,
) -> usize {
    let mut hits = 0;
    for ray in rays {
        let want = bvh.closest(top, &ray);
        assert_eq!(wide.closest(wide_top, &ray), want, "{ray:?}");
        assert_eq!(wide.occluded(wide_top, &ray), want.is_some(), "{ray:?}");
        hits += usize::from(want.is_some());
    }
    hits
}

/// Like `same`, for rays aimed at rims. Where the answers differ, the wide nodes found a triangle
/// that the ray touches at its rim, no farther than the narrow nodes' hit. Returns the numbers of
/// hits and of differences.
fn touching(scene: &Scene, eye: DVec3, rays: &[Ray]) -> (usize, usize) {
    let bvh = SceneBvh::new(scene, |_| true);
    let ((wide, wide_top), top) = (widened(&bvh, eye), bvh.tlas_from(eye));
    let (mut hits, mut differ) = (0, 0);
    for ray in rays {
        let (narrow, found) = (bvh.closest(&top, ray), wide.closest(&wide_top, ray));
        assert_eq!(wide.occluded(&wide_top, ray), found.is_some());
        if narrow != found {
            let found = found.unwrap();
            let [v, w] = found.barycentric.to_array();
            assert!(v.min(w).min(1.0 - v - w).abs() < 1e-6, "{ray:?} {found:?}");
            assert!(
                narrow.is_none_or(|narrow| found.t <= narrow.t),
                "{ray:?} {narrow:?} {found:?}"
            );
            differ += 1;
        }
        hits += usize::from(found.is_some());
    }
    (hits, differ)
}

/// Boxes on a lattice: all faces are axis-aligned, so every node's box shares faces with its
/// triangles.
fn blocks(n: u32) -> Primitive {
    let mut shape = Primitive::default();
    for block in 0..n * n * n {
        let corner =
            Vec3::new((block % n) as f32, (block / n % n) as f32, (block / n / n) as f32) * 2.0;
        let base = shape.positions.len() as u32;
        for index in 0..8u32 {
            let bit = |bit: u32| (index >> bit & 1) as f32;
            shape.positions.push(corner + Vec3::new(bit(0), bit(1), bit(2)));
            shape.normals.push(Vec3::Y);
        }
        for [a, b, c, d] in
            [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
        {
            shape.indices.extend([a, b, c, a, c, d].map(|corner| base + corner));
        }
    }
    shape
}

#[test]
fn along_the_axes_and_along_faces_and_edges() {
    let mut random = Random(21);
    let scene = scene_of(blocks(4), &[DMat4::IDENTITY]);
    let half = |random: &mut Random| (random.within(-2.0, 18.0)).round() * 0.5;
    let mut rays = Vec::new();
    for index in 0..6000 {
        // On the lattice of the boxes' faces and centers: rays that run in faces and hit edges and
        // vertices.
        let from = DVec3::new(half(&mut random), half(&mut random), half(&mut random));
        let axis =
            [DVec3::X, DVec3::Y, DVec3::Z][index % 3] * if index % 2 == 0 { 1.0 } else { -1.0 };
        let to = DVec3::new(half(&mut random), half(&mut random), half(&mut random));
        rays.push(ray(from, axis));
        // Zeros of either sign.
        rays.push(Ray { direction: -(-axis).as_vec3(), ..ray(from, axis) });
        if to != from {
            rays.push(ray(from, to - from));
        }
    }
    // The second eye is off the origin, where the boxes' faces are rounded.
    for eye in [DVec3::ZERO, DVec3::new(0.1, 0.7, -0.3)] {
        let (hits, differ) = touching(&scene, eye, &rays);
        println!(
            "{hits} of {} rays hit; {differ} touch a rim that the narrow nodes miss",
            rays.len()
        );
        assert!(hits > 3000 && differ < hits / 10);
    }
    // A quarter off the lattice, still along the axes: no ray touches a rim, so all hits are equal.
    let inside: Vec<Ray> = rays
        .iter()
        .map(|ray| Ray { origin: ray.origin + Vec3::new(0.25, 0.21, 0.17), ..*ray })
        .collect();
    assert!(same(&scene, DVec3::ZERO, inside) > 3000);
}

#[test]
fn between_limits_and_lifted_off_surfaces() {
    let mut random = Random(22);
    let places = [
        DMat4::IDENTITY,
        DMat4::from_translation(DVec3::new(0.4, 0.0, 0.1)),
        DMat4::from_scale(DVec3::splat(0.7)),
    ];
    let scene = scene_of(soup(&mut random, 500, 0.2, 1.0), &places);
    let rays: Vec<Ray> = (0..4000)
        .map(|_| {
            let (from, to) = (random.point(1.5), random.point(1.5));
            Ray {
                t_min: random.within(0.0, 0.5) as f32,
                t_max: random.within(0.3, 2.0) as f32,
                offset_normal: random.direction().as_vec3(),
                ..ray(from, to - from)
            }
        })
        .collect();
    let hits = same(&scene, DVec3::ZERO, rays);
    println!("{hits} hits");
    assert!(hits > 1000);
}

#[test]
fn triangles_without_area_in_one_place_and_twice() {
    let mut random = Random(23);
    let mut shape = soup(&mut random, 300, 0.3, 1.0);
    // Duplicate triangles: both kinds of nodes return the hit with the lower index.
    shape.positions.extend_from_within(..);
    shape.normals.extend_from_within(..);
    shape.indices.extend(900..1800);
    // Points, and needles.
    for index in (0..300).step_by(9) {
        shape.positions[index + 1] = shape.positions[index];
        shape.positions[index + 2] = shape.positions[index + index % 2];
    }
    let twice = [DMat4::IDENTITY, DMat4::IDENTITY];
    let scene = scene_of(shape, &twice);
    let rays: Vec<Ray> = (0..3000).map(|_| ray(random.point(1.5), random.direction())).collect();
    assert!(same(&scene, DVec3::ZERO, rays) > 500);
}

#[test]
fn one_triangle_or_none() {
    let mut random = Random(24);
    for count in 0..10 {
        let scene = scene_of(soup(&mut random, count, 1.0, 0.3), &[DMat4::IDENTITY]);
        let rays: Vec<Ray> = (0..300).map(|_| ray(random.point(1.5), random.direction())).collect();
        assert_eq!(same(&scene, DVec3::ZERO, rays) > 0, count > 0);
    }
}

#[test]
fn invalid_rays_give_no_false_hit() {
    let mut random = Random(25);
    let mut wild = soup(&mut random, 50, 1.0, 1.0);
    wild.positions[0] = Vec3::splat(f32::MAX);
    wild.positions[10] = Vec3::new(f32::MIN, 1e30, 0.0);
    wild.positions[30] = Vec3::splat(f32::NAN);
    let places = [
        DMat4::IDENTITY,
        DMat4::from_scale(DVec3::splat(1e300)),
        DMat4::from_scale(DVec3::splat(1e-40)),
    ];
    let bvh = SceneBvh::new(&scene_of(wild, &places), |_| true);
    let (wide, top) = widened(&bvh, DVec3::new(1e12, 0.0, 0.0));
    let hostile = [0.0, 1.0, -0.0, 1e-40, f32::MAX, f32::MIN, f32::NAN, f32::INFINITY];
    let vector = |i: usize| Vec3::new(hostile[i % 8], hostile[i / 8 % 8], hostile[i / 64 % 8]);
    for i in 0..512 {
        for j in [i, 511 - i, i * 37 % 512] {
            let shot = Ray {
                origin: vector(j),
                direction: vector(i),
                t_max: f32::MAX,
                ..ray(DVec3::ZERO, DVec3::X)
            };
            if let Some(hit) = wide.closest(&top, &shot) {
                assert!(hit.t.is_finite() && hit.barycentric.is_finite(), "{shot:?} {hit:?}");
            }
            let _ = wide.occluded(&top, &shot);
        }
    }
}

#[test]
fn moved_vertices_and_masks() {
    let mut random = Random(26);
    let mut scene = scene_of(
        sheet(&mut random, 20),
        &[DMat4::IDENTITY, DMat4::from_translation(DVec3::Y * 2.0)],
    );
    let mut bvh = SceneBvh::new(&scene, |_| true);
    let (mut wide, _) = widened(&bvh, DVec3::ZERO);
    for position in &mut scene.meshes[0].primitives[0].positions {
        *position = (position.as_dvec3() * 1.2 + random.point(0.3)).as_vec3();
    }
    let moved = scene.meshes[0].primitives[0].clone();
    bvh.refit(0, 0, &moved);
    wide.refit(0, 0, &moved);
    let (top, wide_top) = (bvh.tlas_from(DVec3::ZERO), wide.tlas_from(DVec3::ZERO));
    let rays: Vec<Ray> = (0..3000)
        .map(|_| ray(random.point(4.0) + DVec3::new(4.0, 1.0, 4.0), random.direction()))
        .collect();
    assert!(same_hits(&bvh, &top, &wide, &wide_top, rays.iter().copied()) > 500);
    // A rebuilt BVH finds the same hits.
    let rebuilt = SceneBvh::new(&scene, |_| true);
    let rebuilt_tlas = rebuilt.tlas_from(DVec3::ZERO);
    for ray in &rays {
        assert_eq!(
            wide.closest(&wide_top, ray).map(|hit| hit.t),
            rebuilt.closest(&rebuilt_tlas, ray).map(|hit| hit.t)
        );
    }
    let holes = masked(Sampler::default(), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], 1.0);
    let down = (0..3000).map(|_| ray(DVec3::new(random.next(), 1.0, random.next()), -DVec3::Y));
    let hits = same(&holes, DVec3::ZERO, down.collect::<Vec<_>>());
    assert!((1000..2000).contains(&hits), "{hits} of 3000 hit a half-masked square");
}

#[test]
fn the_same_trees_give_the_same_wide_nodes() {
    let mut random = Random(27);
    let scene = scene_of(soup(&mut random, 3000, 0.1, 1.0), &[DMat4::IDENTITY]);
    let bvh = SceneBvh::new(&scene, |_| true);
    let (a, top) = widened(&bvh, DVec3::ZERO);
    let (b, _) = widened(&bvh, DVec3::ZERO);
    assert_eq!(format!("{:?}", a.wide), format!("{:?}", b.wide));
    // About half of the visits, and each triangle in exactly one packet.
    let rays: Vec<Ray> = (0..500).map(|_| ray(random.point(1.0), random.direction())).collect();
    let narrow_top = bvh.tlas_from(DVec3::ZERO);
    let nodes = |bvh: &SceneBvh, top: &SceneTlas| {
        rays.iter().map(|ray| bvh.traversal_stats(top, ray).nodes).sum::<u32>()
    };
    let (narrow, wide) = (nodes(&bvh, &narrow_top), nodes(&a, &top));
    println!("nodes visited: {narrow} of two children, {wide} of four");
    assert!(wide * 3 < narrow * 2);
    let mut seen = vec![false; bvh.triangles.len()];
    for packet in &a.wide.unwrap().packets {
        for triangle in packet.first..packet.first + packet.count() {
            assert!(!std::mem::replace(&mut seen[triangle as usize], true));
        }
    }
    assert!(seen.iter().all(|seen| *seen));
}

#[test]
fn rejected_hits_do_not_occlude() {
    let mut random = Random(28);
    let places = [DMat4::IDENTITY, DMat4::from_translation(DVec3::X * 0.3)];
    let scene = scene_of(soup(&mut random, 200, 0.4, 1.0), &places);
    let bvh = SceneBvh::new(&scene, |_| true);
    let ((wide, wide_top), top) = (widened(&bvh, DVec3::ZERO), bvh.tlas_from(DVec3::ZERO));
    let mut met = 0;
    for _ in 0..500 {
        let ray = ray(random.point(1.5), random.direction());
        let all = |bvh: &SceneBvh, top: &SceneTlas| {
            let mut list = Vec::new();
            assert!(!bvh.occluded_by(top, &ray, |hit| {
                list.push((hit.instance, hit.triangle, hit.t.to_bits()));
                false
            }));
            list.sort_unstable();
            list
        };
        let list = all(&bvh, &top);
        assert_eq!(all(&wide, &wide_top), list);
        assert!(list.windows(2).all(|pair| pair[0] != pair[1]), "each hit is reported once");
        let odd = list.iter().any(|(_, triangle, _)| triangle % 2 == 1);
        assert_eq!(bvh.occluded_by(&top, &ray, |hit| hit.triangle % 2 == 1), odd);
        assert_eq!(wide.occluded_by(&wide_top, &ray, |hit| hit.triangle % 2 == 1), odd);
        met += list.len();
    }
    println!("{met} triangles hit");
    assert!(met > 300);
}
