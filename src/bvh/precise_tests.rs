//! Double-precision hits beside large triangles and far from the origin.
use glam::{DMat4, DQuat, DVec3, Vec3};

use super::{
    tests::{Random, ray, scene_of, soup},
    *,
};
use crate::scene::{Mesh, Node as SceneNode, Primitive, Scene};

/// A square in the xz plane.
fn square(half: f32) -> Primitive {
    Primitive {
        positions: [(-half, -half), (half, -half), (-half, half), (half, half)]
            .map(|(x, z)| Vec3::new(x, 0.0, z))
            .into(),
        normals: vec![Vec3::Y; 4],
        indices: vec![0, 2, 1, 1, 2, 3],
        ..Primitive::default()
    }
}

fn two(parts: [(Primitive, DMat4); 2]) -> Scene {
    let node = |mesh: usize, local| SceneNode { local, mesh: Some(mesh), ..SceneNode::default() };
    let [(a, at_a), (b, at_b)] = parts;
    let mesh = |part| Mesh { name: String::new(), primitives: vec![part] };
    Scene {
        nodes: vec![node(0, at_a), node(1, at_b)],
        roots: vec![0, 1],
        meshes: vec![mesh(a), mesh(b)],
        ..Scene::default()
    }
}

fn seen(scene: &Scene, eye: DVec3) -> (SceneBvh, SceneTlas) {
    let mut bvh = SceneBvh::new(scene, |_| true);
    bvh.build_wide();
    let top = bvh.tlas_from(eye);
    (bvh, top)
}

/// A direction about the y axis, as often towards the horizon as upwards.
fn upward(random: &mut Random) -> DVec3 {
    let (height, turn) =
        (10f64.powf(random.within(-2.5, 0.0)), random.within(0.0, std::f64::consts::TAU));
    DVec3::new(turn.cos(), height, turn.sin()).normalize()
}

/// A board lies a millimeter above a floor, at any floor size, position and orientation. Each point
/// of one that faces the other sees it, and no point hits its own plane.
#[test]
fn a_millimeter_stays_a_millimeter_over_floors_of_any_size() {
    let mut random = Random(31);
    let turned = DQuat::from_axis_angle(DVec3::new(0.3, 0.5, 0.8).normalize(), 0.7);
    let mut asked = 0;
    for half in [10.0, 100.0, 1e3, 1e4] {
        for (turn, away) in
            [(DQuat::IDENTITY, 0.0), (turned, 0.0), (DQuat::IDENTITY, 1e5), (turned, 1e5)]
        {
            let middle = DVec3::new(away, away * 0.3, -away);
            let at = |height: f64, x: f64, z: f64| middle + turn * DVec3::new(x, height, z);
            let (x, z) = (0.31 * half, -0.17 * half);
            let place = |p: DVec3| DMat4::from_rotation_translation(turn, p);
            let scene = two([
                (square(half as f32), place(at(0.0, 0.0, 0.0))),
                (square(0.5), place(at(1e-3, x, z))),
            ]);
            let eye = at(1.0, x + 2.0, z);
            let (bvh, top) = seen(&scene, eye);
            for _ in 0..400 {
                let (dx, dz) = (random.within(-0.3, 0.3), random.within(-0.3, 0.3));
                let up = upward(&mut random);
                for (from, to, side) in [(1e-3, 0.0, -1.0), (0.0, 1e-3, 1.0)] {
                    // Onto the surface, as a path arrives there, and on.
                    let start = at(from + 1e-4 * side, x + dx, z + dz) - eye;
                    let first = PreciseRay::new(start, turn * DVec3::NEG_Y * side, DVec3::ZERO);
                    let hit = bvh.closest_f64(&top, &first).unwrap();
                    let position = bvh
                        .to_eye(&top, hit.instance)
                        .unwrap()
                        .transform_point3(hit.inside(&bvh.triangles[hit.triangle as usize]));
                    let off = (turn.inverse() * (position + eye - middle)).y - from;
                    assert!(off.abs() < 1e-9, "{half} {away}: off its plane by {off:e}");
                    let direction = turn * (up * side);
                    let next = PreciseRay::new(position, direction, turn * DVec3::Y * side);
                    let other = bvh.closest_f64(&top, &next);
                    // Rays along the horizon leave from under the board.
                    let along = 1e-3 / up.y;
                    if along < 0.15 {
                        let other =
                            other.unwrap_or_else(|| panic!("a leak: {half} {away} {side} {up}"));
                        assert!(
                            (other.t / along - 1.0).abs() < 1e-5,
                            "{half} {away} {side}: {} {along}",
                            other.t
                        );
                        assert!(bvh.occluded_f64(&top, &next, |_| true));
                        let before = PreciseRay { t_max: along * 0.999, ..next };
                        assert!(
                            !bvh.occluded_f64(&top, &before, |_| true),
                            "{half} {away} {side} {to}"
                        );
                        asked += 1;
                    }
                }
            }
        }
    }
    assert!(asked > 8000, "{asked}");
}

/// No ray that leaves an outward-facing sphere or box hits it again, at any scale and position.
#[test]
fn convex_shapes_do_not_shade_themselves_at_any_scale() {
    let mut random = Random(32);
    let ball = crate::scene::procedural::shapes::icosphere(1.0, 3);
    let turn = DQuat::from_axis_angle(random.direction(), 1.1);
    for scale in [1e-3, 1.0, 1e3] {
        for squash in [DVec3::ONE, DVec3::new(1.0, 1e-2, 3.0)] {
            for away in [0.0, 1e3, 1e5] {
                let middle = DVec3::splat(away);
                let place = DMat4::from_scale_rotation_translation(squash * scale, turn, middle);
                let scene = scene_of(ball.clone(), &[place]);
                let eye = middle + DVec3::new(0.0, 0.0, 4.0 * scale);
                let (bvh, top) = seen(&scene, eye);
                let mut left = 0;
                for _ in 0..1000 {
                    let start = random.direction() * 6.0 * scale;
                    let aim = turn * (random.point(0.7) * squash) * scale;
                    let (origin, direction) = (middle + start - eye, (aim - start).normalize());
                    let Some(hit) =
                        bvh.closest_f64(&top, &PreciseRay::new(origin, direction, DVec3::ZERO))
                    else {
                        continue;
                    };
                    let triangle = bvh.triangles[hit.triangle as usize];
                    let to_eye = bvh.to_eye(&top, hit.instance).unwrap();
                    let [a, b, c] = [triangle.a, triangle.b, triangle.c]
                        .map(|p| to_eye.transform_point3(p.as_dvec3()));
                    let normal = (b - a).cross(c - a).normalize();
                    let position = to_eye.transform_point3(hit.inside(&triangle));
                    let along = (position - origin).length();
                    assert!((along / hit.t - 1.0).abs() < 1e-6, "{along} {}", hit.t);
                    for _ in 0..4 {
                        let mut out = random.direction();
                        out = (out - normal * out.dot(normal)
                            + normal * 10f64.powf(random.within(-6.0, 1.0)))
                        .normalize();
                        let next = PreciseRay::new(position, out, normal);
                        assert!(
                            bvh.closest_f64(&top, &next).is_none(),
                            "{scale} {squash} {away}: {:?} from {hit:?}",
                            bvh.closest_f64(&top, &next)
                        );
                        assert!(!bvh.occluded_f64(&top, &next, |_| true));
                        // A ray through the shape hits its other side.
                        let through = PreciseRay::new(position, -out, -normal);
                        let other = bvh.closest_f64(&top, &through);
                        if out.dot(normal) > 1e-2 {
                            assert!(
                                other.is_some_and(|other| other.triangle != hit.triangle),
                                "{scale} {squash} {away}"
                            );
                        }
                        left += 1;
                    }
                }
                assert!(left > 1000, "{left}");
            }
        }
    }
}

/// Double-precision hits equal those of single precision up to its rounding.
#[test]
fn precise_hits_are_those_of_single_precision() {
    let mut random = Random(33);
    let places: Vec<DMat4> = (0..12)
        .map(|_| {
            let turn = DQuat::from_axis_angle(random.direction(), random.within(0.0, 3.0));
            let scale = DVec3::new(
                random.within(0.2, 1.0),
                random.within(0.2, 1.0),
                -random.within(0.2, 1.0),
            );
            DMat4::from_scale_rotation_translation(scale, turn, random.point(1.0))
        })
        .collect();
    let scene = scene_of(soup(&mut random, 150, 0.3, 1.0), &places);
    let (bvh, top) = seen(&scene, DVec3::ZERO);
    let (mut hits, mut differ) = (0, 0);
    for _ in 0..3000 {
        let from = random.point(3.0).as_vec3().as_dvec3();
        let direction = (random.point(1.0) - from).normalize().as_vec3().as_dvec3();
        let single = ray(from, direction);
        let precise = PreciseRay::new(from, direction, DVec3::ZERO);
        let (want, got) = (bvh.closest(&top, &single), bvh.closest_f64(&top, &precise));
        assert_eq!(got.is_some(), bvh.occluded_f64(&top, &precise, |_| true));
        let same = |got: Option<PreciseHit>| match (want, got) {
            (None, None) => true,
            (Some(want), Some(got)) => {
                (want.instance, want.triangle) == (got.instance, got.triangle)
                    && (got.t - f64::from(want.t)).abs() < 1e-5
                    && (got.barycentric.as_vec2() - want.barycentric).abs().max_element() < 1e-3
            }
            _ => false,
        };
        hits += usize::from(got.is_some());
        differ += usize::from(!same(got));
    }
    assert!(hits > 500 && differ <= 4, "{differ} of {hits}");
}

/// Neighbors leave no gap in double precision: no ray into a closed ball passes through it, and
/// none that starts inside escapes.
#[test]
fn precise_rays_pass_no_gap() {
    let mut random = Random(34);
    let ball = crate::scene::procedural::shapes::icosphere(1.0, 3);
    for (scale, away) in [(1.0, 0.0), (1e3, 1e5), (1e-3, 1e3)] {
        let turn = DQuat::from_axis_angle(random.direction(), 0.9);
        let middle = DVec3::splat(away);
        let place = DMat4::from_scale_rotation_translation(DVec3::splat(scale), turn, middle);
        let scene = scene_of(ball.clone(), &[place]);
        let eye = middle + DVec3::X * scale * 3.0;
        let (bvh, top) = seen(&scene, eye);
        for index in 0..3000 {
            // Targets at vertices, edges and centers of triangles, given in single and in double
            // precision.
            let triangle = bvh.triangles[index % bvh.triangles.len()];
            let [a, b, c] = [triangle.a, triangle.b, triangle.c].map(|p| p.as_dvec3());
            let at = match index % 3 {
                0 => a,
                1 => a + (b - a) * random.within(0.0, 1.0),
                _ => (a + b + c) / 3.0,
            };
            let aim = middle - eye + turn * (at * scale);
            let inside = middle - eye + turn * (random.direction() * 0.3 * scale);
            let direction = (aim - inside).normalize();
            let ray = PreciseRay::new(inside, direction, DVec3::ZERO);
            let hit = bvh.closest_f64(&top, &ray);
            assert!(hit.is_some(), "out of the ball: {scale} {away} {index}");
            let from = aim + direction * scale;
            let back = PreciseRay::new(from, -direction, DVec3::ZERO);
            let hit = bvh.closest_f64(&top, &back).unwrap();
            assert!((hit.t / scale - 1.0).abs() < 1e-6, "{scale} {away} {index}: {hit:?}");
        }
    }
}

/// Large triangles seen edge-on from far away: single precision cannot decide, double precision
/// hits them.
#[test]
fn rays_along_the_horizon_meet_the_floor() {
    let mut random = Random(35);
    for half in [10.0, 1e3, 1e4] {
        let scene = scene_of(square(half as f32), &[DMat4::IDENTITY]);
        for height in [1e-6, 1e-3, 1.0] {
            let (bvh, top) = seen(&scene, DVec3::new(0.0, height, 0.0));
            for _ in 0..500 {
                let turn = random.within(0.0, std::f64::consts::TAU);
                let distance = half * 10f64.powf(random.within(-3.0, -0.05));
                let down = DVec3::new(turn.cos() * distance, -height, turn.sin() * distance);
                let length = down.length();
                let hit = bvh
                    .closest_f64(&top, &PreciseRay::new(DVec3::ZERO, down / length, DVec3::ZERO));
                let hit = hit.unwrap_or_else(|| panic!("missed: {half} {height} {distance}"));
                assert!((hit.t / length - 1.0).abs() < 1e-6, "{half} {height}: {} {length}", hit.t);
                let up = DVec3::new(down.x, height, down.z) / length;
                assert!(
                    bvh.closest_f64(&top, &PreciseRay::new(DVec3::ZERO, up, DVec3::ZERO)).is_none()
                );
            }
        }
    }
}

/// A ray aimed at a triangle hits it at its distance, for any size, transform and position: the
/// single-precision error bounds reject none. Limits just before and just behind the hit exclude
/// it.
#[test]
fn no_triangle_that_is_aimed_at_is_lost() {
    let mut random = Random(36);
    let power = |random: &mut Random, low: f64, high: f64| 10f64.powf(random.within(low, high));
    let mut asked = 0;
    for round in 0..60 {
        // A soup in its own unit box, or a few triangles without boxes.
        let size = power(&mut random, -5.0, 0.5);
        let count = if round % 3 == 0 { 3 } else { 150 };
        let shape = soup(&mut random, count, size, 1.0);
        let squash = DVec3::from_array(std::array::from_fn(|_| power(&mut random, -3.5, 0.0)));
        let scale = power(&mut random, -3.0, 3.0);
        let turn = |random: &mut Random| {
            DQuat::from_axis_angle(random.direction(), random.within(0.0, 3.0))
        };
        let (first, second) = (turn(&mut random), turn(&mut random));
        let middle = random.direction() * power(&mut random, -1.0, 5.0);
        let place = DMat4::from_translation(middle)
            * DMat4::from_quat(first)
            * DMat4::from_scale(squash * scale)
            * DMat4::from_quat(second);
        let eye = middle + random.direction() * scale * power(&mut random, -2.0, 2.0);
        let mut scene = scene_of(shape, &[place]);
        let mut bvh = SceneBvh::new(&scene, |_| true);
        bvh.build_wide();
        if round % 4 == 1 {
            for position in &mut scene.meshes[0].primitives[0].positions {
                *position = (position.as_dvec3() + random.point(0.1)).as_vec3();
            }
            bvh.refit(0, 0, &scene.meshes[0].primitives[0].clone());
        }
        let top = bvh.tlas_from(eye);
        let to_eye = bvh.to_eye(&top, 0).unwrap();
        let coordinates = (middle - eye).abs().max_element() + scale;
        for index in 0..300 {
            let number = index % bvh.triangles.len();
            let triangle = bvh.triangles[number];
            let [a, b, c] =
                [triangle.a, triangle.b, triangle.c].map(|p| to_eye.transform_point3(p.as_dvec3()));
            let (v, w) = (random.within(0.02, 0.49), random.within(0.02, 0.49));
            let at = a + (b - a) * v + (c - a) * w;
            let origin = at + random.direction() * scale * power(&mut random, -2.0, 2.0);
            let direction = (at - origin).normalize();
            let t = (at - origin).length();
            let slope = (b - a).cross(c - a).normalize_or_zero().dot(direction).abs();
            // Edge-on, the plane does not determine the distance; a triangle may also be too thin
            // for the precision of its vertices.
            let thin = (b - a).cross(c - a).length() / (b - a).length().max((c - a).length());
            let reach = coordinates + origin.abs().max_element();
            if slope < 1e-3 || thin < 1e-9 * reach {
                continue;
            }
            let window = 1e-9 * t + 1e-11 * reach / slope;
            let ray = PreciseRay {
                t_min: (t - window).max(0.0),
                t_max: t + window,
                ..PreciseRay::new(origin, direction, DVec3::ZERO)
            };
            let mut met = false;
            let _ = bvh.occluded_f64(&top, &ray, |hit| {
                met |= hit.triangle == number as u32;
                false
            });
            assert!(
                met,
                "round {round}, triangle {number}: size {size}, squash {squash}, scale {scale}, {middle}"
            );
            asked += 1;
        }
    }
    assert!(asked > 9000, "{asked}");
}

/// Slivers do not shade themselves: their planes are computed at the widest angle.
#[test]
fn slivers_do_not_shade_themselves() {
    let mut random = Random(37);
    for narrow in [1e-2, 3e-3, 1e-3] {
        for _ in 0..40 {
            let along = random.direction();
            let side = along.cross(random.direction()).normalize() * narrow;
            let corner = random.point(0.01);
            let corners = [corner, corner + along, corner + along * 0.97 + side];
            let sliver = Primitive {
                positions: corners.map(|p| p.as_vec3()).into(),
                normals: vec![Vec3::Y; 3],
                indices: vec![0, 1, 2],
                ..Primitive::default()
            };
            let (bvh, top) = seen(&scene_of(sliver, &[DMat4::IDENTITY]), random.point(1.0));
            let to_eye = bvh.to_eye(&top, 0).unwrap();
            let triangle = bvh.triangles[0];
            let [a, b, c] =
                [triangle.a, triangle.b, triangle.c].map(|p| to_eye.transform_point3(p.as_dvec3()));
            let normal = (c - b).cross(a - c).normalize();
            for _ in 0..40 {
                let (v, w) = (random.within(0.1, 0.4), random.within(0.1, 0.4));
                let barycentric = glam::DVec2::new(v, w);
                let hit = PreciseHit { t: 0.0, barycentric, instance: 0, triangle: 0 };
                let out = random.direction();
                let side = normal * normal.dot(out).signum();
                let ray =
                    PreciseRay::new(to_eye.transform_point3(hit.inside(&triangle)), out, side);
                assert!(bvh.closest_f64(&top, &ray).is_none(), "{narrow}");
            }
        }
    }
}
