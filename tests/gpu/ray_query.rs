//! Ray query against the software BVH, on devices with ray query: hits and pictures.

use crate::common::{
    Guard, Place,
    confetti::{confetti, pose},
    exposed, gpu, gpu_with_rays, perspective,
    random::Random,
};
use glam::{DMat4, DVec2, DVec3, Mat3, Vec2, Vec3};
use sunny16::{
    bvh::{NO_SHADOW, NONE, Ray, SLACK, SceneBvh, SceneTlas},
    frame::{GiSettings, RenderSettings, RenderedImage, ShadowSettings},
    gpu::{Gpu, GpuError, GpuOptions, RAY_QUERY, RayBackend, shader_structs::rays::TraceHit, vk},
    gpu_scene::View,
    passes::rays::DeviceTracer,
    photometry::{Candela, Lux},
    reference::{Receiver, World},
    scene::{
        AlphaMode, Material, Sampler, Scene,
        build::{SceneBuilder, dielectric},
        look::{ShadowMethod, ShadowSampling},
        procedural::{BuiltinScene, shapes, textures},
    },
};

const TRACED: ShadowSettings = ShadowSettings {
    enabled: true,
    method: ShadowMethod::Traced,
    samples: 4,
    sampling: ShadowSampling::Exact,
    rays: 2,
    lights: 16,
    light_samples: 4,
    denoise: true,
    resolution: 256,
};

/// A device with ray query; prints if there is none.
fn gpu_with_ray_query() -> Option<Guard> {
    let offered = gpu()?.gpu.info().has(RAY_QUERY);
    if !offered {
        println!("skipped: the device has no ray query");
        return None;
    }
    gpu_with_rays(RayBackend::RayQuery)
}

fn unit(random: &mut Random) -> f64 {
    random.below(1 << 30) as f64 / f64::from(1 << 30)
}

fn direction(random: &mut Random) -> DVec3 {
    let z = unit(random) * 2.0 - 1.0;
    let turn = unit(random) * std::f64::consts::TAU;
    let r = (1.0 - z * z).sqrt();
    DVec3::new(r * turn.cos(), r * turn.sin(), z)
}

/// Position of the whole scene, so that values not relative to the eye show up.
const FAR: DVec3 = DVec3::new(40_000.0, -300.0, 7_000.0);

/// Solids under many transforms over a floor of 40 m, masked leaves, blended sheets, and panes that
/// cast no shadow.
fn crowd(at: DVec3) -> Scene {
    let mut random = Random(5);
    let mut b = SceneBuilder::new("crowd");
    let matte = b.add_material(dielectric("matte", Vec3::splat(0.5), 1.0));
    let pane =
        b.add_material(Material { transmission: 1.0, ..dielectric("pane", Vec3::splat(0.9), 0.1) });
    let blended = b.add_material(Material {
        base_color: Vec3::splat(0.5).extend(0.6),
        alpha: AlphaMode::Blend,
        ..dielectric("blended", Vec3::ONE, 1.0)
    });
    let holes = textures::picture(32, 32, |u, v| {
        let (x, y) = (u * 2.0 - 1.0, v * 2.0 - 1.0);
        [
            0.2,
            0.6,
            0.1,
            (1.1 - (x * x + y * y) + 0.4 * (9.0 * x).sin() * (7.0 * y).cos()).clamp(0.0, 1.0),
        ]
    });
    let holes = b.add_texture("leaf", holes, Sampler::default());
    let leaf = b.add_material(Material {
        alpha: AlphaMode::Mask { cutoff: 0.5 },
        base_color_texture: Some(SceneBuilder::texture_ref(holes)),
        ..dielectric("leaf", Vec3::ONE, 1.0)
    });
    b.place(shapes::plane(Vec2::splat(40.0), 8, 8), matte, at);
    let meshes = [
        b.add_mesh("sphere", shapes::icosphere(0.5, 3), matte),
        b.add_mesh("torus", shapes::torus(0.5, 0.2, 40, 20), matte),
        b.add_mesh("box", shapes::bevelled_box(Vec3::ONE, 0.1), matte),
        b.add_mesh("leaf", shapes::plane(Vec2::splat(1.2), 3, 3), leaf),
        b.add_mesh("pane", shapes::plane(Vec2::splat(1.0), 2, 2), pane),
        b.add_mesh("blended", shapes::plane(Vec2::splat(1.1), 2, 2), blended),
    ];
    let scales = [
        DVec3::ONE,
        DVec3::new(-1.0, 1.0, 1.0),
        DVec3::new(0.2, 1.7, 0.6),
        DVec3::new(3.0, -0.01, 1.0),
        DVec3::splat(0.03),
        // Flattened instances have a BVH of their own. Only planes: both sides of a solid would
        // coincide.
        DVec3::new(1.0, 0.0, 1.0),
    ];
    for number in 0..180usize {
        let place = DVec3::new(
            unit(&mut random) * 12.0 - 6.0,
            0.3 + unit(&mut random) * 3.0,
            unit(&mut random) * 12.0 - 6.0,
        );
        let (axis, turn) = (direction(&mut random), unit(&mut random) * 6.0);
        let transform = DMat4::from_translation(at + place)
            * DMat4::from_axis_angle(axis, turn)
            * DMat4::from_scale(scales[number % scales.len()]);
        let flat = scales[number % scales.len()].y == 0.0;
        let mesh =
            if flat { 3 + number / scales.len() % 3 } else { number / scales.len() % meshes.len() };
        b.instance("solid", meshes[mesh], transform);
    }
    b.sun("sun", Lux(30_000.0), Vec3::ONE, DVec3::new(0.3, -1.0, -0.4));
    b.build().unwrap()
}

/// Rays from an eye and from its hits: in all directions, and short ones to possibly hidden points.
fn rays(bvh: &SceneBvh, top: &SceneTlas, count: usize, spread: f64) -> [Vec<Ray>; 3] {
    let mut random = Random(77);
    let first: Vec<Ray> = (0..count)
        .map(|_| {
            let towards =
                DVec3::new(unit(&mut random) - 0.5, (unit(&mut random) - 0.7) * 0.5, -1.0) * spread;
            let towards = DVec3::new(towards.x, towards.y, -1.0);
            // Of any length, like shadow rays.
            let direction = (towards * (0.2 + 5.0 * unit(&mut random))).as_vec3();
            Ray {
                origin: Vec3::ZERO,
                direction,
                t_min: 0.0,
                t_max: f32::INFINITY,
                offset_normal: Vec3::ZERO,
            }
        })
        .collect();
    let [onward, to_lamps] = leaving(bvh, top, &first);
    [first, onward, to_lamps]
}

/// First hit of a ray: position, and unit normal on the ray's side.
fn hit_position_normal(bvh: &SceneBvh, top: &SceneTlas, ray: &Ray) -> Option<(Vec3, Vec3)> {
    let hit = bvh.closest(top, ray)?;
    let normal =
        top.instances[hit.instance as usize].normal(bvh.triangles[hit.triangle as usize].normal());
    let normal = normal.try_normalize()?;
    let away = if normal.dot(ray.direction) > 0.0 { -normal } else { normal };
    Some((ray.origin + ray.direction * hit.t, away))
}

/// Rays from these hits, in all directions and to lights.
fn leaving(bvh: &SceneBvh, top: &SceneTlas, first: &[Ray]) -> [Vec<Ray>; 2] {
    let mut random = Random(78);
    let (mut onward, mut to_lamps) = (Vec::new(), Vec::new());
    for ray in first {
        let Some((origin, away)) = hit_position_normal(bvh, top, ray) else { continue };
        let leave = |to: Vec3, t_max: f32| Ray {
            origin,
            direction: to,
            t_min: 0.0,
            t_max,
            offset_normal: away,
        };
        let side = direction(&mut random).as_vec3();
        onward.push(leave(if side.dot(away) < 0.0 { -side } else { side }, f32::INFINITY));
        let lamp = Vec3::new(2.0, 5.0, -4.0) + direction(&mut random).as_vec3() * 1.5;
        if (lamp - origin).dot(away) > 0.0 {
            to_lamps.push(leave(lamp - origin, 0.999));
        }
    }
    [onward, to_lamps]
}

/// Distance (m) of a ray to the nearest edge of a triangle, and from its start to its plane, in
/// double precision and without origin offset.
fn rim(ray: &Ray, corners: [DVec3; 3]) -> (f64, f64) {
    let (o, d) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
    let [a, b, c] = corners;
    let normal = (b - a).cross(c - a);
    let t = (a - o).dot(normal) / d.dot(normal);
    let along = d.normalize();
    // The shortest segment between two lines is perpendicular to both; if it does not end on the
    // edge, it starts at a corner.
    let edge = |from: DVec3, to: DVec3| {
        let (side, start) = (to - from, from - o);
        let square = side.length_squared() - side.dot(along).powi(2);
        let at = if square > 0.0 {
            (start.dot(along) * side.dot(along) - start.dot(side)) / square
        } else {
            0.0
        };
        let place = from + side * at.clamp(0.0, 1.0) - o;
        (place - along * place.dot(along)).length()
    };
    (edge(a, b).min(edge(b, c)).min(edge(c, a)), t * d.length())
}

/// Corners of an instance's triangle, relative to the eye.
fn corners(bvh: &SceneBvh, standing: &[(u32, [[f32; 4]; 3])], met: &TraceHit) -> [DVec3; 3] {
    let rows = standing[met.instance as usize].1;
    let triangle = bvh.triangles[met.triangle as usize];
    [triangle.a, triangle.b, triangle.c].map(|v| {
        let v = v.as_dvec3();
        let row = |r: [f32; 4]| {
            f64::from(r[0]) * v.x + f64::from(r[1]) * v.y + f64::from(r[2]) * v.z + f64::from(r[3])
        };
        DVec3::new(row(rows[0]), row(rows[1]), row(rows[2]))
    })
}

/// Comparison of the hits of both backends.
#[derive(Debug, Default)]
struct TraceComparison {
    rays: usize,
    met: usize,
    same: usize,
    /// Both at one distance: surfaces that touch or intersect.
    tied: usize,
    /// Past an edge within rounding, or at the ray's end.
    rim: usize,
    /// Past an edge within the instance's origin offset, or behind the offset origin: the software
    /// BVH uses larger offsets for squashed instances.
    lift: usize,
    other: usize,
    worst_t: f32,
}

/// Distance (m) of a ray's start from a triangle's plane.
fn shallow(ray: &Ray, corners: [DVec3; 3]) -> f64 {
    let [a, b, c] = corners;
    (ray.origin.as_dvec3() - a).dot((b - a).cross(c - a).normalize()).abs()
}

fn compare_tracers(
    bvh: &SceneBvh,
    eye: DVec3,
    both: [&mut DeviceTracer; 2],
    rays: &[Ray],
    any: bool,
) -> TraceComparison {
    let [gpu_bvh, query] = both.map(|device| {
        let sent = device.upload_rays(rays, any).unwrap();
        device.trace(&sent).unwrap()
    });
    let (standing, top) = (bvh.instance_transforms(eye), bvh.tlas_from(eye));
    let mut found = TraceComparison { rays: rays.len(), ..TraceComparison::default() };
    assert_eq!([gpu_bvh.len(), query.len()], [rays.len(); 2]);
    for ((ray, a), b) in rays.iter().zip(&gpu_bvh).zip(&query) {
        found.met += usize::from(a.instance != NONE);
        let alike = if any {
            (a.instance == NONE) == (b.instance == NONE)
        } else {
            a.instance == b.instance && (a.instance == NONE || a.triangle == b.triangle)
        };
        if alike {
            found.same += 1;
            if !any && a.instance != NONE {
                found.worst_t = found.worst_t.max((a.t - b.t).abs() / a.t.abs());
                assert!((a.barycentric - b.barycentric).abs().max_element() < 1e-3, "{a:?} {b:?}");
            }
            continue;
        }
        // Of both hits, the one that the other backend missed.
        let (one, other) = match (a.instance, b.instance) {
            (NONE, _) => (b, a),
            (_, NONE) => (a, b),
            _ if a.t < b.t => (a, b),
            _ => (b, a),
        };
        if other.instance != NONE && (a.t - b.t).abs() <= 1e-5 * a.t.abs() {
            found.tied += 1;
            continue;
        }
        let (past, from_start) = rim(ray, corners(bvh, &standing, one));
        // Of the positions that enter the computation.
        let reach = f64::from(ray.origin.abs().max_element())
            .max(f64::from(one.t * ray.direction.length()));
        let rounding = f64::from(SLACK) * reach;
        let lift = f64::from(top.instances[one.instance as usize].slack) + f64::from(SLACK) * reach;
        let near_end = (f64::from(one.t) / f64::from(ray.t_max) - 1.0).abs() < 1e-5;
        // Intersecting surfaces: the offsets of both decide which comes first.
        let theirs = top
            .instances
            .get(other.instance as usize)
            .map_or(0.0, |instance| f64::from(instance.slack));
        let apart = f64::from((a.t - b.t).abs() * ray.direction.length());
        let crossing = other.instance != NONE && apart < lift + theirs;
        if past < rounding || near_end {
            found.rim += 1;
        } else if ray.offset_normal != Vec3::ZERO
            && (past < lift || crossing || shallow(ray, corners(bvh, &standing, one)) < lift)
        {
            found.lift += 1;
        } else {
            println!(
                "not explained: {past:e} m from an edge, {from_start} m from its start, lift {lift:e} m; {ray:?} {a:?} {b:?}"
            );
            found.other += 1;
        }
    }
    found
}

fn check(what: &str, found: &TraceComparison) {
    println!("{what}: {found:?}");
    assert!((found.same + found.lift) as f64 >= 0.999 * found.rays as f64, "{what}: {found:?}");
    assert!(found.lift as f64 <= 0.005 * found.rays as f64, "{what}: {found:?}");
    assert_eq!(found.other, 0, "{what}: {found:?}");
    assert!(found.worst_t <= 1e-5, "{what}: {found:?}");
}

#[test]
fn hits_match_between_ray_backends() {
    let Some(guard) = gpu_with_ray_query() else { return };
    for at in [DVec3::ZERO, FAR] {
        let scene = crowd(at);
        let eye = at + DVec3::new(0.4, 2.0, 9.0);
        let bvh = SceneBvh::new(&scene, |_| true);
        let top = bvh.tlas_from(eye);
        assert!(
            bvh.blases.iter().any(|blas| blas.masked())
                && bvh.blases.iter().any(|blas| !blas.casts_shadows())
        );
        assert!(bvh.blases.iter().any(|blas| blas.baked_transform().is_some()));
        let mirrored = |instance: &sunny16::bvh::BvhInstance| {
            Mat3::from_cols_array_2d(&instance.rows.map(|row| row.truncate().to_array()))
                .determinant()
                < 0.0
        };
        assert!(top.instances.iter().any(mirrored));
        let mut gpu_bvh =
            DeviceTracer::new(&guard.gpu, (&scene, &bvh), eye, false).unwrap().unwrap();
        let mut query = DeviceTracer::new(&guard.gpu, (&scene, &bvh), eye, true).unwrap().unwrap();
        let [first, onward, to_lamps] = rays(&bvh, &top, 60_000, 1.4);
        for (what, rays, any) in [
            ("from the eye", &first, false),
            ("onward", &onward, false),
            ("from the eye, any", &first, true),
            ("to a lamp, any", &to_lamps, true),
        ] {
            let found = compare_tracers(&bvh, eye, [&mut gpu_bvh, &mut query], rays, any);
            check(&format!("{what}, {:.0} m from the origin", at.length()), &found);
            assert!(found.met > found.rays / 10, "{what}: {found:?}");
        }
        // Hits include panes, which shadow rays pass, and partially transparent leaves.
        let sent = query.upload_rays(&first, false).unwrap();
        let nearest = query.trace(&sent).unwrap();
        let of = |met: &&TraceHit, test: &dyn Fn(&sunny16::bvh::BvhInstance) -> bool| {
            met.instance != NONE && test(&top.instances[met.instance as usize])
        };
        let panes = nearest.iter().filter(|met| of(met, &|i| i.surface & NO_SHADOW != 0)).count();
        let leaves = nearest.iter().filter(|met| of(met, &|i| i.mask != NONE)).count();
        let sent = query.upload_rays(&first, true).unwrap();
        let cast = query.trace(&sent).unwrap();
        println!("{panes} rays end at panes, {leaves} at leaves");
        assert!(panes > 500 && leaves > 500, "{panes} {leaves}");
        assert_eq!(cast.iter().filter(|met| of(met, &|i| i.surface & NO_SHADOW != 0)).count(), 0);
    }
}

/// Flat walls that meet, and a panel a millimeter below one of them.
#[test]
fn hits_in_a_box_match_between_ray_backends() {
    let Some(guard) = gpu_with_ray_query() else { return };
    let (scene, _) = BuiltinScene::named("cornell").unwrap().make().unwrap();
    for eye in [DVec3::new(2.78, 2.73, -8.0), DVec3::new(2.0, 2.0, 1.0)] {
        let bvh = SceneBvh::new(&scene, |_| true);
        let top = bvh.tlas_from(eye);
        let mut gpu_bvh =
            DeviceTracer::new(&guard.gpu, (&scene, &bvh), eye, false).unwrap().unwrap();
        let mut query = DeviceTracer::new(&guard.gpu, (&scene, &bvh), eye, true).unwrap().unwrap();
        let [mut first, ..] = rays(&bvh, &top, 60_000, 0.9);
        // Into the box.
        first.iter_mut().for_each(|ray| ray.direction.z = -ray.direction.z);
        let [onward, to_lamps] = leaving(&bvh, &top, &first);
        for (what, rays, any) in [
            ("from the eye", &first, false),
            ("onward", &onward, false),
            ("to a lamp, any", &to_lamps, true),
        ] {
            let found = compare_tracers(&bvh, eye, [&mut gpu_bvh, &mut query], rays, any);
            check(&format!("in a box, {what}"), &found);
        }
    }
}

/// The path tracer's rays to a light that is in the BVH end one slack before it. The software BVH
/// offsets their origin by the slack of each instance, which carries some past their end, onto the
/// light; ray query offsets it by less. The backends differ there and nowhere else, and not where
/// rays end earlier by that offset.
#[test]
fn rays_that_end_before_a_panel_differ_only_at_the_panel() {
    let Some(guard) = gpu_with_ray_query() else { return };
    let (mut scene, _) = BuiltinScene::named("cornell").unwrap().make().unwrap();
    scene.emissive_lights = true;
    let eye = DVec3::new(2.78, 2.73, -8.0);
    let bvh = SceneBvh::new(&scene, |_| true);
    let (top, world) = (bvh.tlas_from(eye), World::new(&scene, eye));
    let mut both = [false, true]
        .map(|query| DeviceTracer::new(&guard.gpu, (&scene, &bvh), eye, query).unwrap().unwrap());
    let mut random = Random(79);
    // From its own camera: 25 mm behind a lens of 35 mm. These are the rays of `bench --what rays`.
    let across = |random: &mut Random| ((unit(random) - 0.5) * 25.0 / 35.0) as f32;
    let seen: Vec<Ray> = (0..60_000)
        .map(|_| Vec3::new(across(&mut random), across(&mut random), 1.0))
        .map(|direction| Ray {
            origin: Vec3::ZERO,
            direction,
            t_min: 0.0,
            t_max: f32::INFINITY,
            offset_normal: Vec3::ZERO,
        })
        .collect();
    let (mut to_panel, mut panels, mut surfaces) = (Vec::new(), Vec::new(), 0);
    for ray in &seen {
        let Some((origin, away)) = hit_position_normal(&bvh, &top, ray) else { continue };
        surfaces += 1;
        let from = origin.as_dvec3();
        let place = DVec2::new(unit(&mut random), unit(&mut random));
        let choice = world.lights.choice_at(&Receiver::at(from));
        let Some(light) = world.lights.sample(&choice, place) else { continue };
        let Some(on) = light.triangle_point else { continue };
        let (towards, t_max) = (light.direction.as_vec3(), light.end(from) as f32);
        if towards.dot(away) > 0.0 {
            to_panel.push(Ray {
                origin,
                direction: towards,
                t_min: 0.0,
                t_max,
                offset_normal: away,
            });
            let facing = top.instances[on.instance as usize]
                .normal(bvh.triangles[on.triangle as usize].normal());
            panels.push((on.instance, facing.normalize().dot(towards).abs()));
        }
    }
    // Distance along a ray that the offset adds towards a panel hit at an angle of this cosine.
    let carried = |ray: &Ray, (instance, cosine): (u32, f32)| {
        (SLACK * ray.origin.abs().max_element() + top.instances[instance as usize].slack)
            / cosine.max(1e-9)
    };
    let [gpu_bvh, query] = both.each_mut().map(|device| {
        let sent = device.upload_rays(&to_panel, true).unwrap();
        device.trace(&sent).unwrap()
    });
    let (mut at_panel, mut elsewhere) = (0_u32, 0_u32);
    for ((ray, &panel), (a, b)) in to_panel.iter().zip(&panels).zip(gpu_bvh.iter().zip(&query)) {
        if (a.instance == NONE) == (b.instance == NONE) {
            continue;
        }
        let nearest = bvh.closest(&top, ray);
        let there = nearest
            .is_some_and(|hit| hit.instance == panel.0 && ray.t_max - hit.t <= carried(ray, panel));
        at_panel += u32::from(b.instance == NONE && there);
        elsewhere += u32::from(!(b.instance == NONE && there));
    }
    let shorter: Vec<Ray> = to_panel
        .iter()
        .zip(&panels)
        .map(|(ray, &panel)| Ray { t_max: ray.t_max - 2.0 * carried(ray, panel), ..*ray })
        .collect();
    let [gpu_bvh, query] = &mut both;
    check("where they end earlier", &compare_tracers(&bvh, eye, [gpu_bvh, query], &shorter, true));
    let all = to_panel.len();
    println!(
        "{all} rays to the panel: {at_panel} differ at it, {elsewhere} elsewhere; at it {:.4} % of \
         rays with as many from the eye, and one onward from each of {surfaces} surfaces",
        100.0 * f64::from(at_panel) / (seen.len() + all + surfaces) as f64
    );
    // Edges and contacts, within rounding and offset, as everywhere.
    assert!(
        at_panel as usize > all / 20 && elsewhere as usize <= all / 1000,
        "{all} {at_panel} {elsewhere}"
    );
}

/// NaN and infinite rays miss, and a ray of zero length ends where it starts.
#[test]
fn nan_rays_miss() {
    let Some(guard) = gpu_with_ray_query() else { return };
    let scene = crowd(DVec3::ZERO);
    let bvh = SceneBvh::new(&scene, |_| true);
    let eye = DVec3::new(0.0, 2.0, 9.0);
    let mut query = DeviceTracer::new(&guard.gpu, (&scene, &bvh), eye, true).unwrap().unwrap();
    let down = Ray {
        origin: Vec3::ZERO,
        direction: Vec3::NEG_Y,
        t_min: 0.0,
        t_max: f32::INFINITY,
        offset_normal: Vec3::ZERO,
    };
    let list = [
        down,
        Ray { direction: Vec3::NAN, ..down },
        Ray { origin: Vec3::new(0.0, f32::INFINITY, 0.0), ..down },
        Ray { t_max: 0.0, ..down },
        Ray { t_max: -1.0, ..down },
        Ray { t_max: f32::NAN, ..down },
    ];
    let sent = query.upload_rays(&list, false).unwrap();
    let met: Vec<bool> =
        query.trace(&sent).unwrap().iter().map(|met| met.instance != NONE).collect();
    // A NaN length becomes the maximum on its way to the device.
    assert_eq!(met, [true, false, false, false, false, true]);
}

/// After a pose, the acceleration structures hold the vertices that the device deformed; without
/// the update they would hold the last pose.
#[test]
fn acceleration_structures_follow_moved_vertices() {
    let Some(guard) = gpu_with_ray_query() else { return };
    let mut renderer = guard.renderer();
    let scene = confetti(400);
    let eye = DVec3::new(0.0, 3.0, 7.0);
    let view = perspective(eye, DVec3::new(0.0, 0.8, 0.0), 0.9, 0.1, (64, 48));
    let settings = RenderSettings { shadows: TRACED, ..exposed(10_000.0, 0.5) };
    let mut on_device = renderer.upload_for(&scene, &TRACED).unwrap();
    let mut last: Option<Vec<TraceHit>> = None;
    // The last pose but one degrades a BVH: the next one rebuilds it.
    for far in [0.0, 0.3, 0.9, 3.0, 3.1] {
        let mut posed = scene.clone();
        posed.apply(&pose(far));
        on_device.follow(renderer.gpu(), &posed).unwrap();
        // No rays are traced in this frame, yet deformed vertices are updated.
        let dark = RenderSettings {
            shadows: ShadowSettings { enabled: false, ..TRACED },
            ..settings.clone()
        };
        renderer.render(&on_device, &view, if far == 0.9 { &dark } else { &settings }).unwrap();
        let gpu_bvh = on_device.bvh.as_ref().unwrap();
        let mut host = gpu_bvh.host().clone();
        let blas_indices: Vec<_> =
            host.blases.iter().map(|blas| (blas.mesh, blas.primitive)).collect();
        for (mesh, primitive) in blas_indices {
            if let Some(moved) = posed.baked(mesh, primitive) {
                host.refit(mesh, primitive, &moved);
            }
        }
        let top = host.tlas_from(eye);
        let mut both = [false, true].map(|query| {
            DeviceTracer::of_scene(&guard.gpu, &on_device, eye, query).unwrap().unwrap()
        });
        let [first, onward, to_lamps] = rays(&host, &top, 40_000, 1.2);
        for (what, rays, any) in
            [("first", &first, false), ("onward", &onward, false), ("to a lamp", &to_lamps, true)]
        {
            let [gpu_bvh, query] = &mut both;
            let found = compare_tracers(&host, eye, [gpu_bvh, query], rays, any);
            check(&format!("{far} m, {what}"), &found);
        }
        let sent = both[1].upload_rays(&first, false).unwrap();
        let met = both[1].trace(&sent).unwrap();
        if let Some(last) = last.replace(met.clone()) {
            let other = met
                .iter()
                .zip(&last)
                .filter(|(a, b)| a.instance != b.instance || a.t != b.t)
                .count();
            println!("{far} m: {other} rays meet other things than in the last pose");
            assert!(other > 100, "{other}");
        }
    }
    assert!(on_device.bvh.as_ref().unwrap().rebuild_count() > 0);
}

#[test]
fn dropped_scenes_leave_no_resources() {
    let Some(guard) = gpu_with_ray_query() else { return };
    let mut renderer = guard.renderer();
    let (scene, moving) = (crowd(DVec3::ZERO), confetti(100));
    let view = perspective(DVec3::new(0.0, 3.0, 9.0), DVec3::ZERO, 0.9, 0.1, (32, 24));
    let settings = RenderSettings { shadows: TRACED, ..exposed(10_000.0, 0.5) };
    let mut counts = Vec::new();
    for round in 0..4 {
        let mut on_device =
            renderer.upload_for(if round % 2 == 0 { &scene } else { &moving }, &TRACED).unwrap();
        renderer.render(&on_device, &view, &settings).unwrap();
        let of =
            |list: Vec<String>| list.iter().filter(|name| name.contains("acceleration")).count();
        let alive = of(guard.gpu.live_objects());
        if round % 2 == 1 {
            on_device.follow(renderer.gpu(), &moving).unwrap();
            renderer.render(&on_device, &view, &settings).unwrap();
        }
        drop(on_device);
        guard.gpu.wait_idle();
        let by_name = guard.gpu.memory_by_name();
        let bytes = |name: &str| by_name.get(name).copied().unwrap_or(0);
        counts.push((
            alive,
            of(guard.gpu.live_objects()),
            bytes("ray query structures"),
            bytes("ray query places"),
        ));
    }
    println!("{counts:?}");
    assert!(counts[0].0 > 3);
    assert_eq!(counts[0], counts[2]);
    assert_eq!(counts[1], counts[3]);
    assert!(counts.iter().all(|count| (count.1, count.2, count.3) == (0, 0, 0)), "{counts:?}");
}

/// The picture of a scene with one backend, after some frames.
fn seen(
    rays: RayBackend,
    scene: &Scene,
    view: &View,
    settings: &RenderSettings,
    frames: u32,
) -> RenderedImage {
    let guard = gpu_with_rays(rays).unwrap();
    assert_eq!(guard.gpu.ray_query(), rays == RayBackend::RayQuery);
    let mut renderer = guard.renderer();
    let mut on_device = renderer.upload_for(scene, &settings.shadows).unwrap();
    if settings.gi.enabled {
        on_device.update_gi(renderer.gpu(), scene, &settings.gi).unwrap();
    }
    for _ in 1..frames {
        renderer.render(&on_device, view, settings).unwrap();
    }
    renderer.render(&on_device, view, settings).unwrap()
}

fn assert_same_images(
    what: &str,
    scene: &Scene,
    view: &View,
    settings: &RenderSettings,
    frames: u32,
) {
    let [gpu_bvh, query] = [RayBackend::Software, RayBackend::RayQuery]
        .map(|rays| seen(rays, scene, view, settings, frames));
    let sum = |picture: &RenderedImage| {
        picture.nits.iter().map(|p| f64::from(p[0] + p[1] + p[2])).sum::<f64>()
    };
    let off = |(a, b): (&[f32; 3], &[f32; 3])| {
        (0..3).map(|c| f64::from((a[c] - b[c]).abs())).sum::<f64>()
    };
    let apart: f64 = gpu_bvh.nits.iter().zip(&query.nits).map(off).sum();
    let pixels = gpu_bvh.nits.iter().zip(&query.nits).filter(|(a, b)| a != b).count();
    let mean = (sum(&query) / sum(&gpu_bvh) - 1.0).abs();
    println!(
        "{what}: means differ by {:.4} %, pixels by {:.4} % of the mean; {pixels} of {} are not the same to the bit",
        mean * 100.0,
        apart / sum(&gpu_bvh) * 100.0,
        gpu_bvh.nits.len()
    );
    assert!(mean < 1e-3 && apart < 1e-3 * sum(&gpu_bvh), "{what}: {mean} {apart}");
}

/// The crowd with a point light besides the sun, seen from near, and settings with traced shadows.
fn lit_crowd() -> (Scene, View, RenderSettings) {
    let mut scene = crowd(FAR);
    let mut lamps = SceneBuilder::new("lamps");
    lamps.point_light_candela("point", Candela(900.0), Vec3::ONE, FAR + DVec3::new(-2.0, 4.0, 1.0));
    let lamps = lamps.build().unwrap();
    for node in &lamps.nodes {
        let mut node = node.clone();
        node.light = node.light.map(|light| light + scene.lights.len());
        scene.nodes.push(node);
        scene.roots.push(scene.nodes.len() - 1);
    }
    scene.lights.extend(lamps.lights);
    let view = perspective(FAR + DVec3::new(0.4, 3.0, 10.0), FAR + DVec3::Y, 0.9, 0.1, (200, 140));
    (scene, view, RenderSettings { shadows: TRACED, ..exposed(6_000.0, 0.5) })
}

#[test]
fn shadows_match_between_ray_backends() {
    if gpu_with_ray_query().is_none() {
        return;
    }
    let (scene, view, settings) = lit_crowd();
    assert_same_images("traced shadows", &scene, &view, &settings, 1);
}

/// A box under a panel before an empty background. Where a driver clips the full-screen triangle
/// into two, helper invocations lie beside drawn pixels, some on the box and some beside it.
#[test]
fn area_light_shadows_match_between_ray_backends() {
    if gpu_with_ray_query().is_none() {
        return;
    }
    let (mut scene, _) = BuiltinScene::named("cornell").unwrap().make().unwrap();
    scene.emissive_lights = true;
    // The box's own camera, 25 mm behind a lens of 35 mm: the corners of its opening lie on the
    // picture's diagonal.
    let angle = 2.0 * (0.0125_f32 / 0.035).atan();
    let view = perspective(
        DVec3::new(2.78, 2.73, -8.0),
        DVec3::new(2.78, 2.73, 0.0),
        angle,
        0.1,
        (32, 32),
    );
    let settings = RenderSettings { shadows: TRACED, ..exposed(100.0, 0.5) };
    assert_same_images("a box under a wide lamp", &scene, &view, &settings, 1);
}

#[test]
fn gi_matches_between_ray_backends() {
    if gpu_with_ray_query().is_none() {
        return;
    }
    let (scene, view, settings) = lit_crowd();
    let gi = GiSettings { enabled: true, denoise: false, ..GiSettings::default() };
    assert_same_images("indirect light", &scene, &view, &RenderSettings { gi, ..settings }, 3);
}

/// Requested without support it is an error with a remedy; by default it is chosen where hardware
/// supports it.
#[test]
fn ray_backend_is_selected_at_device_creation() {
    let Some(guard) = gpu() else { return };
    let info = guard.gpu.info().clone();
    let offered = info.has(RAY_QUERY);
    assert_eq!(guard.gpu.ray_query(), offered && info.kind != vk::PhysicalDeviceType::CPU);
    drop(guard);
    let Some(guard) = gpu_with_rays(RayBackend::Software) else { return };
    assert!(!guard.gpu.ray_query());
    drop(guard);
    match Gpu::open(&GpuOptions { ray_backend: RayBackend::RayQuery, ..GpuOptions::default() }) {
        Ok(gpu) => assert!(offered && gpu.ray_query()),
        Err(GpuError::Unsuitable { missing, .. }) => {
            assert!(!offered && missing.contains("--rays"), "{missing}");
        }
        Err(error) => panic!("{error}"),
    }
}
