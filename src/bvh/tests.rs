use std::sync::Arc;

use glam::{DMat4, DVec3, Vec2, Vec3};

use super::*;
use crate::scene::{
    AlphaMode, Image, Material, Mesh, Node as SceneNode, Primitive, Sampler, Scene, Texture,
    TextureRef, Wrap,
};

/// A small generator with a fixed sequence (Steele et al. 2014, SplitMix64).
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    pub(super) fn point(&mut self, size: f64) -> DVec3 {
        DVec3::new(self.within(-size, size), self.within(-size, size), self.within(-size, size))
    }

    pub(super) fn direction(&mut self) -> DVec3 {
        loop {
            let p = self.point(1.0);
            if (0.01..1.0).contains(&p.length_squared()) {
                return p.normalize();
            }
        }
    }
}

pub(super) fn soup(random: &mut Random, triangles: usize, size: f64, spread: f64) -> Primitive {
    let mut primitive = Primitive::default();
    for _ in 0..triangles {
        let middle = random.point(spread);
        for _ in 0..3 {
            primitive.indices.push(primitive.positions.len() as u32);
            primitive.positions.push((middle + random.point(size)).as_vec3());
            primitive.normals.push(Vec3::Y);
        }
    }
    primitive
}

pub(super) fn scene_of(primitive: Primitive, places: &[DMat4]) -> Scene {
    Scene {
        nodes: places
            .iter()
            .map(|&local| SceneNode { local, mesh: Some(0), ..SceneNode::default() })
            .collect(),
        roots: (0..places.len()).collect(),
        meshes: vec![Mesh { name: String::new(), primitives: vec![primitive] }],
        ..Scene::default()
    }
}

pub(super) fn ray(origin: DVec3, direction: DVec3) -> Ray {
    Ray {
        origin: origin.as_vec3(),
        direction: direction.as_vec3(),
        t_min: 0.0,
        t_max: f32::MAX,
        offset_normal: Vec3::ZERO,
    }
}

/// The nearest hit by testing every triangle in double precision in world space (Möller and
/// Trumbore 1997): distance, node and source triangle. Also returns its clearance: the minimum
/// barycentric weight of any triangle near its edge.
fn brute(scene: &Scene, ray: &Ray) -> (Option<(f64, usize, u32)>, f64) {
    let (o, d) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
    let (mut nearest, mut clear) = (None::<(f64, usize, u32)>, f64::MAX);
    for placed in scene.walk() {
        for primitive in &scene.meshes[placed.node.mesh.unwrap()].primitives {
            for (number, corner) in primitive.indices.chunks_exact(3).enumerate() {
                let [a, b, c] = [0, 1, 2].map(|i| {
                    placed
                        .world
                        .transform_point3(primitive.positions[corner[i] as usize].as_dvec3())
                });
                let (e1, e2) = (b - a, c - a);
                let p = d.cross(e2);
                let det = e1.dot(p);
                if det.abs() < 1e-14 * e1.length() * e2.length() * d.length() {
                    continue;
                }
                let u = (o - a).dot(p) / det;
                let q = (o - a).cross(e1);
                let (v, t) = (d.dot(q) / det, e2.dot(q) / det);
                let min = u.min(v).min(1.0 - u - v);
                if t > 0.0 {
                    clear = clear.min(min.abs());
                }
                if min >= 0.0 && t > 0.0 && nearest.is_none_or(|(best, ..)| t < best) {
                    nearest = Some((t, placed.index, number as u32));
                }
            }
        }
    }
    (nearest, clear)
}

/// The same BVH with wide nodes.
pub(super) fn widened(bvh: &SceneBvh, eye: DVec3) -> (SceneBvh, SceneTlas) {
    let mut wide = bvh.clone();
    wide.build_wide();
    let top = wide.tlas_from(eye);
    assert!(wide.wide_bytes() > 0 || bvh.nodes.is_empty());
    (wide, top)
}

/// Compares with brute force over many rays: returns the number of hits and the maximum relative
/// error of t.
fn compare(scene: &Scene, random: &mut Random, rays: usize, size: f64) -> (usize, f64) {
    let bvh = SceneBvh::new(scene, |_| true);
    let top = bvh.tlas_from(DVec3::ZERO);
    let (wide, wide_top) = widened(&bvh, DVec3::ZERO);
    let (mut hits, mut worst) = (0, 0f64);
    for _ in 0..rays {
        let from = random.point(size);
        let ray = ray(from, (random.point(size * 0.5) - from) * random.within(0.1, 10.0));
        let (want, clear) = brute(scene, &ray);
        let got = bvh.closest(&top, &ray);
        assert_eq!(bvh.occluded(&top, &ray), got.is_some());
        assert_eq!(wide.closest(&wide_top, &ray), got, "{ray:?}");
        assert_eq!(wide.occluded(&wide_top, &ray), got.is_some());
        // Within rounding of an edge, either answer is right.
        if clear < 1e-5 {
            continue;
        }
        match (got, want) {
            (None, None) => {}
            (Some(hit), Some((t, node, triangle))) => {
                hits += 1;
                let error =
                    (f64::from(hit.t) - t).abs() / (t + size / ray.direction.as_dvec3().length());
                assert!(error < 1e-6, "{hit:?} for {t}");
                worst = worst.max(error);
                let at = bvh.instance_blas(hit.instance).unwrap().0;
                // Two triangles at the same distance within rounding: either is right.
                if (at, bvh.sources[hit.triangle as usize]) != (node, triangle) {
                    assert!(error < 1e-6);
                }
            }
            other => panic!("{other:?}, clear by {clear}"),
        }
    }
    (hits, worst)
}

#[test]
fn agrees_with_brute_force_on_soups_of_every_size() {
    let mut random = Random(1);
    for (count, size, spread) in
        [(1, 1.0, 0.5), (7, 1.0, 1.0), (60, 0.4, 1.0), (900, 0.1, 1.0), (300, 0.02, 0.2)]
    {
        let scene = scene_of(soup(&mut random, count, size, spread), &[DMat4::IDENTITY]);
        let (hits, worst) = compare(&scene, &mut random, 1500, 1.5);
        println!("{count} triangles: {hits} hits, t within {worst:.1e}");
        assert!(hits > 10);
    }
}

#[test]
fn instances_turned_mirrored_and_sheared_share_t() {
    let mut random = Random(2);
    let mut places = Vec::new();
    for index in 0..24 {
        let mut linear = [[0.0; 3]; 3];
        for value in linear.iter_mut().flatten() {
            *value = random.within(-1.0, 1.0);
        }
        let mut linear = glam::DMat3::from_cols_array_2d(&linear) + glam::DMat3::IDENTITY * 0.8;
        if index % 3 == 0 {
            linear.x_axis = -linear.x_axis;
        }
        places.push(DMat4::from_mat3_translation(linear * 0.4, random.point(2.0)));
    }
    assert!(
        places.iter().any(|place| place.determinant() < 0.0)
            && places.iter().any(|p| p.determinant() > 0.0)
    );
    let scene = scene_of(soup(&mut random, 120, 0.3, 1.0), &places);
    let (hits, worst) = compare(&scene, &mut random, 1500, 3.0);
    println!("{hits} hits, t within {worst:.1e}");
    assert!(hits > 500);
}

#[test]
fn a_flattened_instance_is_still_there() {
    let mut random = Random(3);
    let flat = DMat4::from_translation(DVec3::new(0.3, 0.0, 0.0))
        * DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0));
    let scene = scene_of(
        soup(&mut random, 160, 0.4, 1.0),
        &[flat, DMat4::from_translation(DVec3::Y * 3.0)],
    );
    let (hits, _) = compare(&scene, &mut random, 800, 2.0);
    assert!(hits > 60);
    let bvh = SceneBvh::new(&scene, |_| true);
    let down = ray(DVec3::new(0.3, 1.0, 0.0), -DVec3::Y);
    let mut below = 0;
    for index in 0..100 {
        let from = Vec3::new(index as f32 * 0.013 - 0.5, 0.0, 0.0);
        let hit =
            bvh.closest(&bvh.tlas_from(DVec3::ZERO), &Ray { origin: down.origin + from, ..down });
        below += usize::from(hit.is_some_and(|hit| (hit.t - 1.0).abs() < 1e-6));
    }
    assert!(below > 30);
}

/// A sheet of `n` times `n` squares in the xz plane whose inner vertices are jittered in all
/// directions.
pub(super) fn sheet(random: &mut Random, n: usize) -> Primitive {
    let mut sheet = Primitive::default();
    for z in 0..=n {
        for x in 0..=n {
            let inner = x > 0 && z > 0 && x < n && z < n;
            let shake = if inner { random.point(0.4) } else { DVec3::ZERO };
            sheet.positions.push((DVec3::new(x as f64, 0.0, z as f64) + shake).as_vec3() * 0.37);
            sheet.normals.push(Vec3::Y);
        }
    }
    let row = n as u32 + 1;
    for z in 0..n as u32 {
        for x in 0..n as u32 {
            let at = z * row + x;
            sheet.indices.extend([at, at + row, at + 1, at + 1, at + row, at + row + 1]);
        }
    }
    sheet
}

#[test]
fn no_ray_leaks_through_edges_and_vertices() {
    let mut random = Random(4);
    let n = 24;
    let primitive = sheet(&mut random, n);
    let place = DMat4::from_mat4_rotation(&mut random);
    let scene = scene_of(primitive.clone(), &[place]);
    let bvh = SceneBvh::new(&scene, |_| true);
    let top = bvh.tlas_from(DVec3::ZERO);
    let (wide, wide_top) = widened(&bvh, DVec3::ZERO);
    let mut aimed = 0;
    let row = n + 1;
    for z in 1..n {
        for x in 1..n {
            let at = |x: usize, z: usize| primitive.positions[z * row + x].as_dvec3();
            let here = at(x, z);
            let targets = (0..12).map(|i| match i {
                0 => here,
                1..=4 => here.lerp(at(x + 1, z), f64::from(i) / 5.0),
                5..=8 => here.lerp(at(x, z + 1), f64::from(i - 4) / 5.0),
                // The diagonal of a square.
                _ => at(x + 1, z).lerp(at(x, z + 1), f64::from(i - 8) / 4.0),
            });
            for target in targets {
                let target = place.transform_point3(target);
                // The sheet's rim is far from every target, so each ray crosses the sheet.
                for up in [1.0, -1.0] {
                    let normal = place.transform_vector3(DVec3::Y * up);
                    let from =
                        target + (normal + random.direction() * 0.3) * random.within(2.0, 200.0);
                    let shot = ray(from, target - from);
                    // The direction points from the rounded origin, as in single precision.
                    let shot = Ray { direction: target.as_vec3() - shot.origin, ..shot };
                    assert!(bvh.occluded(&top, &shot), "a leak at {x} {z}: {shot:?}");
                    assert!(
                        wide.occluded(&wide_top, &shot),
                        "a leak of wide nodes at {x} {z}: {shot:?}"
                    );
                    aimed += 1;
                }
            }
        }
    }
    println!("{aimed} rays at edges and vertices, none leaks");
}

trait RotationOf {
    fn from_mat4_rotation(random: &mut Random) -> DMat4;
}

impl RotationOf for DMat4 {
    fn from_mat4_rotation(random: &mut Random) -> DMat4 {
        let axis = random.direction();
        DMat4::from_rotation_translation(
            glam::DQuat::from_axis_angle(axis, random.within(0.5, 2.5)),
            random.point(3.0),
        )
    }
}

/// An inner box recomputed from all triangles below it.
fn recomputed(bvh: &SceneBvh, node: u32) -> Aabb {
    let n = bvh.nodes[node as usize];
    if n.count > 0 {
        return (n.first..n.first + n.count)
            .map(|i| bvh.triangles[i as usize].bounds())
            .fold(Aabb::EMPTY, Aabb::union);
    }
    recomputed(bvh, n.first).union(recomputed(bvh, n.first + 1))
}

#[test]
fn refitted_boxes_are_the_unions_to_the_bit() {
    let mut random = Random(5);
    let before = soup(&mut random, 700, 0.1, 1.0);
    let mut scene = scene_of(
        before,
        &[DMat4::from_scale(DVec3::splat(2.0)), DMat4::from_translation(DVec3::X * 5.0)],
    );
    let mut bvh = SceneBvh::new(&scene, |_| true);
    let built = sah_cost(&bvh.nodes);
    for position in &mut scene.meshes[0].primitives[0].positions {
        *position = (position.as_dvec3() * 1.3 + random.point(0.2)).as_vec3();
    }
    let moved = scene.meshes[0].primitives[0].clone();
    bvh.refit(0, 0, &moved);
    for node in 0..bvh.nodes.len() as u32 {
        assert_eq!(bvh.nodes[node as usize].bounds(), recomputed(&bvh, node), "node {node}");
    }
    // Rays hit the moved triangles in both instances.
    let top = bvh.tlas_from(DVec3::ZERO);
    let mut hits = 0;
    for _ in 0..600 {
        let ray = ray(random.point(6.0), random.direction());
        let (want, clear) = brute(&scene, &ray);
        if clear > 1e-5 {
            assert_eq!(bvh.occluded(&top, &ray), want.is_some());
            hits += usize::from(want.is_some());
        }
    }
    assert!(hits > 50);
    // With the vertices restored, a refit is as good as the build; with moved ones it is worse.
    let torn = sah_cost(&bvh.nodes);
    println!("SAH cost: built {built:.1}, after moving {torn:.1}");
    assert!(torn > built);
}

#[test]
fn tree_is_valid_bounded_and_deterministic() {
    let mut random = Random(6);
    let mut lopsided = soup(&mut random, 20_000, 0.05, 1.0);
    // Sizes and distances over 30 powers of two: splits by area alone would give a linear list.
    for (index, position) in lopsided.positions.iter_mut().enumerate() {
        *position *= ((index / 3 % 100) as f32 * 0.3).exp2();
    }
    // Many coincident triangles, and some without area.
    for index in 0..3000 {
        lopsided.positions[index] = Vec3::splat(0.25);
    }
    let scene = scene_of(lopsided, &[DMat4::IDENTITY]);
    let bvh = SceneBvh::new(&scene, |_| true);
    let again = SceneBvh::new(&scene, |_| true);
    assert_eq!(bvh.nodes, again.nodes);
    assert_eq!(bvh.triangles, again.triangles);
    let mut seen = vec![false; bvh.triangles.len()];
    let mut open = vec![(0u32, 0u32)];
    let mut deepest = 0;
    while let Some((node, depth)) = open.pop() {
        deepest = deepest.max(depth);
        let n = bvh.nodes[node as usize];
        for triangle in n.first..n.first + n.count {
            assert!(!std::mem::replace(&mut seen[triangle as usize], true), "in two leaves");
        }
        if n.count == 0 {
            assert!(n.first > node, "children stand behind their parent");
            open.extend([(n.first, depth + 1), (n.first + 1, depth + 1)]);
        }
    }
    assert!(seen.iter().all(|&seen| seen));
    assert!(deepest <= MAX_DEPTH, "{deepest}");
    println!("{} nodes, {deepest} levels", bvh.nodes.len());
    let mut sources = bvh.sources.clone();
    sources.sort_unstable();
    assert!(sources.iter().enumerate().all(|(index, &source)| index as u32 == source));
}

#[test]
fn empty_scene_and_invalid_rays_give_no_hit() {
    let bvh = SceneBvh::new(&Scene::default(), |_| true);
    let top = bvh.tlas_from(DVec3::ZERO);
    assert!(bvh.closest(&top, &ray(DVec3::ZERO, DVec3::X)).is_none());
    let mut random = Random(7);
    let mut wild = soup(&mut random, 50, 1.0, 1.0);
    wild.positions[0] = Vec3::splat(f32::MAX);
    wild.positions[10] = Vec3::new(f32::MIN, 1e30, 0.0);
    wild.positions[20] = wild.positions[18];
    let places = [
        DMat4::IDENTITY,
        DMat4::from_scale(DVec3::splat(1e300)),
        DMat4::from_scale(DVec3::splat(1e-40)),
    ];
    let bvh = SceneBvh::new(&scene_of(wild, &places), |_| true);
    let top = bvh.tlas_from(DVec3::new(1e12, 0.0, 0.0));
    let hostile = [0.0, 1.0, -0.0, 1e-40, f32::MAX, f32::MIN, f32::NAN, f32::INFINITY];
    for &a in &hostile {
        for &b in &hostile {
            for &c in &hostile {
                let ray = Ray {
                    origin: Vec3::new(c, a, b),
                    direction: Vec3::new(a, b, c),
                    t_min: 0.0,
                    t_max: f32::MAX,
                    offset_normal: Vec3::ZERO,
                };
                if let Some(hit) = bvh.closest(&top, &ray) {
                    assert!(hit.t.is_finite() && hit.barycentric.is_finite(), "{ray:?} {hit:?}");
                }
            }
        }
    }
}

#[test]
fn rays_ten_kilometers_out_are_as_exact_as_at_home() {
    // A floor and a post of a decimeter that casts a shadow, near the origin and far from it.
    let mut random = Random(8);
    let primitive = soup(&mut random, 200, 0.05, 0.5);
    let home = scene_of(primitive.clone(), &[DMat4::IDENTITY]);
    let far_at = DVec3::new(10_000.3, 500.7, -9_999.1);
    let far = scene_of(primitive, &[DMat4::from_translation(far_at)]);
    let (here, there) = (SceneBvh::new(&home, |_| true), SceneBvh::new(&far, |_| true));
    let eye = DVec3::new(0.2, 0.3, 2.0);
    let (top_here, top_there) = (here.tlas_from(eye), there.tlas_from(eye + far_at));
    let mut hits = 0;
    for _ in 0..2000 {
        let from = random.point(2.0);
        let ray = ray(from, random.point(0.4) - eye - from);
        let (a, b) = (here.closest(&top_here, &ray), there.closest(&top_there, &ray));
        assert_eq!(a.map(|hit| hit.triangle), b.map(|hit| hit.triangle));
        if let (Some(a), Some(b)) = (a, b) {
            hits += 1;
            assert!((a.t - b.t).abs() < 2e-6, "{} {}", a.t, b.t);
        }
    }
    assert!(hits > 100);
}

/// A square whose texture has a hole, with a texture transform, a wrap mode and vertex alpha.
pub(super) fn masked(sampler: Sampler, transform: [[f32; 3]; 2], vertex_alpha: f32) -> Scene {
    let mut square = Primitive {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(1.0, 0.0, 1.0)],
        normals: vec![Vec3::Y; 4],
        uv0: vec![Vec2::ZERO, Vec2::X, Vec2::Y, Vec2::ONE],
        indices: vec![0, 2, 1, 1, 2, 3],
        material: Some(0),
        ..Primitive::default()
    };
    if vertex_alpha != 1.0 {
        square.colors = vec![Vec3::ONE.extend(vertex_alpha); 4];
    }
    // 8 x 4 texels: opaque on the left half, alpha 0.6 at the lower left quarter.
    let texels = (0..32).flat_map(|i| {
        [
            0,
            0,
            0,
            if i % 8 >= 4 {
                0
            } else if i / 8 >= 2 {
                153
            } else {
                255
            },
        ]
    });
    let image = Image {
        name: String::new(),
        width: 8,
        height: 4,
        rgba8: Arc::from(texels.collect::<Vec<u8>>()),
        is_error_pattern: false,
        compressed: None,
    };
    Scene {
        materials: vec![Material {
            alpha: AlphaMode::Mask { cutoff: 0.5 },
            base_color_texture: Some(TextureRef { texture: 0, uv_set: 0, transform }),
            ..Material::default()
        }],
        textures: vec![Texture { image: 0, sampler }],
        images: vec![image],
        ..scene_of(square, &[DMat4::IDENTITY])
    }
}

#[test]
fn alpha_masks_follow_their_texture() {
    let nearest = Sampler { mag_linear: false, ..Sampler::default() };
    let identity = TextureRef::IDENTITY;
    let twice = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
    let clamp = Sampler { wrap_u: Wrap::Clamp, wrap_v: Wrap::Clamp, ..nearest };
    let mirror = Sampler { wrap_u: Wrap::Mirror, wrap_v: Wrap::Mirror, ..nearest };
    let there = |scene: &Scene, x: f64, z: f64| {
        let bvh = SceneBvh::new(scene, casts_shadow);
        let top = bvh.tlas_from(DVec3::new(0.1, 0.2, 0.3));
        bvh.occluded(&top, &ray(DVec3::new(x, 1.0, z) - DVec3::new(0.1, 0.2, 0.3), -DVec3::Y))
    };
    let mut asked = 0;
    for (sampler, transform, alpha, want) in [
        (nearest, identity, 1.0, (|x: f64, _: f64| x < 0.5) as fn(f64, f64) -> bool),
        (nearest, identity, 0.7, |x, z| x < 0.5 && z < 0.5),
        (nearest, twice, 1.0, |x, _| x.rem_euclid(0.5) < 0.25),
        (clamp, twice, 1.0, |x, _| x < 0.25),
        (mirror, twice, 1.0, |x, _| !(0.25..0.75).contains(&x)),
        (Sampler::default(), twice, 1.0, |x, _| x.rem_euclid(0.5) < 0.25),
    ] {
        let scene = masked(sampler, transform, alpha);
        for x in 0..20 {
            for z in 0..10 {
                let (x, z) = (f64::from(x) / 20.0 + 0.031, f64::from(z) / 10.0 + 0.03);
                // Interpolation may move the edge by half a texel.
                let near = sampler.mag_linear && (x % 0.25 < 0.04 || x % 0.25 > 0.21);
                if x < 0.98 && !near {
                    assert_eq!(there(&scene, x, z), want(x, z), "{sampler:?} {x} {z}");
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 900, "{asked}");
    let mut glass = masked(nearest, identity, 1.0);
    glass.materials[0].alpha = AlphaMode::Opaque;
    assert!(there(&glass, 0.8, 0.2));
}

/// Rays hit blended surfaces with the probability of their opacity, by random numbers of ray,
/// instance and seed. Precise rays always hit.
#[test]
fn blended_surfaces_are_hit_by_their_opacity() {
    let nearest = Sampler { mag_linear: false, ..Sampler::default() };
    let mut scene = masked(nearest, TextureRef::IDENTITY, 0.5);
    scene.materials[0].alpha = AlphaMode::Blend;
    let mut bvh = SceneBvh::new(&scene, casts_shadow);
    bvh.build_wide();
    let mut top = bvh.tlas_from(DVec3::ZERO);
    const RAYS: u32 = 4000;
    // Alpha of the texture: 255, 153 and 0.
    for (x, z, want) in [(0.2, 0.2, 0.5), (0.2, 0.7, 0.3), (0.8, 0.5, 0.0)] {
        let at = |i: u32| DVec3::new(x + 1e-5 * f64::from(i), 1.0, z);
        let hits = |top: &SceneTlas| -> Vec<bool> {
            (0..RAYS).map(|i| bvh.occluded(top, &ray(at(i), -DVec3::Y))).collect()
        };
        top.reseed(0);
        let first = hits(&top);
        assert_eq!(first, hits(&top));
        let share = first.iter().filter(|hit| **hit).count() as f64 / f64::from(RAYS);
        top.reseed(8);
        let second = hits(&top);
        let both = first.iter().zip(&second).filter(|(a, b)| **a && **b).count();
        let both = both as f64 / f64::from(RAYS);
        println!("opacity {want}: {share:.3} of the rays hit, {both:.3} with both seeds");
        assert!((share - want).abs() < 0.03 && (both - want * want).abs() < 0.03, "{share} {both}");
        // Four frames of a ray hit about as often as the opacity says: independent ones have the
        // variance o (1 - o) / 4.
        let four: Vec<Vec<bool>> = (0..4)
            .map(|number| {
                top.reseed(number);
                hits(&top)
            })
            .collect();
        let mean = |i: usize| four.iter().filter(|hits| hits[i]).count() as f64 / 4.0;
        let variance = (0..RAYS as usize).map(|i| (mean(i) - want).powi(2)).sum::<f64>();
        let variance = variance / f64::from(RAYS);
        println!("opacity {want}: variance {variance:.4} of four frames");
        assert!(variance <= 0.4 * want * (1.0 - want) / 4.0, "{variance}");
        let precise = PreciseRay::new(at(0), -DVec3::Y, DVec3::ZERO);
        assert!(bvh.closest_f64(&top, &precise).is_some());
    }
    // Opacity 1 needs no mask, and opacity 0 no surface.
    let mut plain = masked(nearest, TextureRef::IDENTITY, 1.0);
    plain.materials[0].alpha = AlphaMode::Blend;
    plain.materials[0].base_color_texture = None;
    let solid = SceneBvh::new(&plain, casts_shadow);
    assert!(solid.blases.len() == 1 && !solid.blases[0].masked() && solid.masks.is_empty());
    plain.materials[0].base_color.w = 0.5;
    assert!(!solid.casts_as(&plain));
    let half = SceneBvh::new(&plain, casts_shadow);
    assert!(half.blases[0].masked() && half.casts_as(&plain));
    plain.materials[0].base_color.w = 0.0;
    assert!(!half.casts_as(&plain) && SceneBvh::new(&plain, casts_shadow).blases.is_empty());
    // Animated opacity keeps the BVH and renews the mask.
    plain.materials[0].base_color.w = 0.25;
    let mut moved = half.clone();
    assert!(moved.casts_as(&plain) && moved.update_masks(&plain));
    assert_eq!(moved.corners, SceneBvh::new(&plain, casts_shadow).corners);
}

#[test]
fn normals_survive_packing() {
    let mut random = Random(9);
    let mut worst = 0f32;
    for _ in 0..5000 {
        let n = random.direction().as_vec3();
        let back = unpack_normal(pack_normal(n));
        worst = worst.max(n.distance(back));
    }
    println!("normals within {worst:.1e} rad");
    assert!(worst < 1e-4);
    for n in [Vec3::X, Vec3::Y, Vec3::Z, -Vec3::X, -Vec3::Y, -Vec3::Z] {
        assert!(unpack_normal(pack_normal(n)).distance(n) < 1e-6);
    }
}

#[test]
fn a_rays_cost_is_counted() {
    let mut random = Random(10);
    let n = 40;
    let primitive = sheet(&mut random, n);
    let scene = scene_of(primitive, &[DMat4::IDENTITY, DMat4::from_translation(DVec3::Y * -3.0)]);
    let bvh = SceneBvh::new(&scene, |_| true);
    let top = bvh.tlas_from(DVec3::ZERO);
    let middle = DVec3::new(0.5, 0.0, 0.5) * n as f64 * 0.37;
    let down = ray(middle + DVec3::Y * 5.0, -DVec3::Y);
    let hit = bvh.traversal_stats(&top, &down);
    println!("{hit:?}");
    // The ray hits the upper sheet first; the lower one lies behind it.
    assert!(bvh.closest(&top, &down).is_some());
    assert_eq!(hit.instances, 1);
    assert!((1..=40).contains(&hit.triangles) && (4..=80).contains(&hit.nodes), "{hit:?}");
    // Along both sheets, above them: no triangle is near.
    let past = bvh.traversal_stats(&top, &ray(middle + DVec3::Y * 5.0, DVec3::X));
    assert_eq!((past.triangles, past.instances), (0, 0));
    // Between the sheets, downwards: only the lower one.
    assert_eq!(bvh.traversal_stats(&top, &ray(middle - DVec3::Y * 1.5, -DVec3::Y)).instances, 1);
    assert_eq!(bvh.traversal_stats(&top, &ray(middle, DVec3::NAN)), TraversalStats::default());
    let none = SceneBvh::new(&Scene::default(), |_| true);
    assert_eq!(
        none.traversal_stats(&none.tlas_from(DVec3::ZERO), &down),
        TraversalStats::default()
    );
}
