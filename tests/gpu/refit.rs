//! BLAS refit on the device: boxes against unions of the device's own triangles, triangles against
//! the host's, shadows against a scene with vertices deformed by the host.

use std::{path::Path, sync::Arc};

use crate::common::{
    confetti::{confetti, pose},
    exposed, perspective, renderer,
};
use glam::{DVec3, Vec3};
use sunny16::{
    bvh::{self, BvhNode, BvhTriangle, SceneBvh, sah_cost, unpack_normal},
    frame::{RenderSettings, Renderer, ShadowSettings},
    gpu::{Buffer, Frames},
    gpu_scene::{GpuScene, View},
    graph::{Access, Graph, GraphCache},
    photometry::Lux,
    scene::{
        Scene,
        animation::AnimationSelection,
        build::SceneBuilder,
        gltf,
        look::{ShadowMethod, ShadowSampling},
    },
};

const TRACED: ShadowSettings = ShadowSettings {
    enabled: true,
    method: ShadowMethod::Traced,
    samples: 1,
    sampling: ShadowSampling::Exact,
    rays: 2,
    lights: 16,
    light_samples: 4,
    denoise: true,
    resolution: 256,
};

fn settings() -> RenderSettings {
    RenderSettings { shadows: TRACED, ..exposed(10_000.0, 0.5) }
}

/// Contents of two device buffers.
fn read(renderer: &Renderer, buffers: [&Arc<Buffer>; 2]) -> [Vec<u8>; 2] {
    let mut frames = Frames::new(renderer.gpu(), 1).unwrap();
    let mut cache = GraphCache::default();
    let mut graph = Graph::new(0);
    let handles = buffers.map(|buffer| {
        let (from, size) = (graph.external(buffer), buffer.size());
        let out = graph.readback(&format!("{} on the host", buffer.name()), size);
        graph.pass("read").uses(from, Access::CopyFrom).uses(out, Access::CopyTo).record(
            move |cx| {
                let (from, to) = (cx.buffer(from), cx.buffer(out));
                cx.rec.copy_buffer(&from, &to, 0, 0, size);
                Ok(())
            },
        );
        out
    });
    let mut rec = frames.begin().unwrap();
    let executed = graph.execute(&mut rec, &mut cache).unwrap();
    let ticket = rec.submit().unwrap();
    frames.wait(ticket).unwrap();
    handles.map(|handle| executed.buffer(handle).unwrap().mapped().to_vec())
}

/// The device's BLAS.
fn lower(renderer: &Renderer, scene: &GpuScene) -> (Vec<BvhNode>, Vec<BvhTriangle>) {
    let [nodes, triangles] = read(renderer, scene.bvh.as_ref().unwrap().blas_buffers());
    (bytemuck::pod_collect_to_vec(&nodes), bytemuck::pod_collect_to_vec(&triangles))
}

/// Checks all BLAS of a scene drawn in this pose; returns how many of them were deformed.
fn check(what: &str, renderer: &Renderer, on_device: &GpuScene, posed: &Scene) -> usize {
    let (nodes, triangles) = lower(renderer, on_device);
    let gpu_bvh = on_device.bvh.as_ref().unwrap();
    let host = gpu_bvh.host();
    let mut worst = 1.0f32;
    let mut moved = 0;
    for (index, blas) in host.blases.iter().enumerate() {
        let (first, count) = (blas.nodes.0 as usize, blas.nodes.1 as usize);
        let (range, theirs) = (first..first + count, &triangles[..]);
        let found = &nodes[range.clone()];
        // Topology and boxes: the union of the children, to the bit.
        let mut expected = host.nodes[range.clone()].to_vec();
        bvh::refit(&mut expected, blas.nodes.0, |index| theirs[index as usize].bounds());
        assert!(found == expected, "{what}: boxes of tree {index}");
        let places = blas.triangles.0 as usize..(blas.triangles.0 + blas.triangles.1) as usize;
        let Some(moved_part) = posed.baked(blas.mesh, blas.primitive) else {
            assert!(
                found == &host.nodes[range] && triangles[places.clone()] == host.triangles[places]
            );
            continue;
        };
        moved += 1;
        let root = found[0];
        let size = (root.high - root.low).max_element();
        let corners: Vec<[u32; 3]> = host.triangle_vertices(posed, index).collect();
        for (triangle, corners) in triangles[places].iter().zip(&corners) {
            let ours = [triangle.a, triangle.b, triangle.c];
            let normals = [triangle.normal_a, triangle.normal_b, triangle.normal_c];
            for ((place, normal), vertex) in ours.iter().zip(normals).zip(corners) {
                let far = place.distance(moved_part.positions[*vertex as usize]);
                assert!(far <= 2e-5 * size, "{what}: a vertex is off by {far} of {size}");
                let turn = unpack_normal(normal).distance(moved_part.normals[*vertex as usize]);
                // Two roundings to 16 bits; zero-length edges may have any direction.
                assert!(
                    turn < 2e-3 || moved_part.deform.as_ref().is_some_and(|deform| deform.flat),
                    "{what}: {turn}"
                );
            }
        }
        worst = worst.max(sah_cost(found) / sah_cost(&host.nodes[range]));
    }
    let drift = gpu_bvh.refit().map_or(1.0, sunny16::gpu_scene::refit::Refit::max_drift);
    assert!(
        (drift / worst - 1.0).abs() < 1e-3,
        "{what}: costs grew by {worst}, the device says {drift}"
    );
    moved
}

fn framed(scene: &Scene) -> View {
    let (low, high) = scene.bounds().unwrap();
    let (middle, size) = ((low + high) / 2.0, (high - low).length());
    let eye = middle + DVec3::new(0.4, 0.3, 1.0).normalize() * size * 1.3;
    perspective(eye, middle, 0.8, (size * 0.05) as f32, (64, 48))
}

fn with_sun(mut scene: Scene) -> Scene {
    let mut builder = SceneBuilder::new("sun");
    builder.sun("sun", Lux(50_000.0), Vec3::ONE, DVec3::new(0.3, -1.0, -0.4));
    let sun = builder.build().unwrap();
    scene.lights.extend(sun.lights);
    let mut node = sun.nodes[0].clone();
    node.light = Some(scene.lights.len() - 1);
    scene.nodes.push(node);
    scene.roots.push(scene.nodes.len() - 1);
    scene
}

#[test]
fn refit_bounds_match_deformed_vertices() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/gltf");
    let mut scenes =
        vec![("confetti".to_string(), confetti(300), vec![pose(0.0), pose(0.4), pose(-0.2)])];
    for file in [
        "vulkan-assets/CesiumMan/glTF-Binary/CesiumMan.glb",
        "bevy/animated/Fox.glb",
        "assimp/glTF2/AnimatedMorphCube/glTF/AnimatedMorphCube.gltf",
        "assimp/glTF2/MorphStressTest/glTF/MorphStressTest.gltf",
    ] {
        let path = folder.join(file);
        if path.is_file() {
            let scene = with_sun(gltf::load(&path).unwrap());
            let poses =
                [0.0, 0.7, 0.3].map(|time| scene.pose(&AnimationSelection::Auto, time)).to_vec();
            scenes.push((file.into(), scene, poses));
        } else {
            println!("skipped: {file} is absent");
        }
    }
    for (name, scene, poses) in scenes {
        let mut on_device = renderer.upload_for(&scene, &TRACED).unwrap();
        let view = framed(&scene);
        // The first frame without a step, then each pose; nothing is precomputed.
        renderer.render(&on_device, &view, &settings()).unwrap();
        assert!(
            check(&format!("{name} at rest"), &renderer, &on_device, &scene) > 0,
            "{name}: nothing moves"
        );
        for (number, pose) in poses.iter().enumerate() {
            let mut posed = scene.clone();
            posed.apply(pose);
            on_device.follow(renderer.gpu(), &posed).unwrap();
            renderer.render(&on_device, &view, &settings()).unwrap();
            check(&format!("{name}, pose {number}"), &renderer, &on_device, &posed);
        }
    }
}

/// Shadows of the refitted BVHs equal those of BVHs over the same vertices deformed by the host.
#[test]
fn shadows_follow_deformation_and_degraded_bvhs_are_rebuilt() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = confetti(400);
    let view =
        perspective(DVec3::new(0.0, 4.0, 7.0), DVec3::new(0.0, 0.5, 0.0), 0.9, 0.1, (160, 120));
    let mut on_device = renderer.upload_for(&scene, &TRACED).unwrap();
    let rebuilt = |scene: &GpuScene| scene.bvh.as_ref().unwrap().rebuild_count();
    let drift = |scene: &GpuScene| scene.bvh.as_ref().unwrap().refit().unwrap().max_drift();
    let mut seen = Vec::new();
    for far in [0.0, 0.02, 3.0, 3.01, 3.0] {
        let mut posed = scene.clone();
        posed.apply(&pose(far));
        on_device.follow(renderer.gpu(), &posed).unwrap();
        let picture = renderer.render(&on_device, &view, &settings()).unwrap();
        check(&format!("{far} m"), &renderer, &on_device, &posed);
        seen.push((far, rebuilt(&on_device), drift(&on_device)));
        posed.bake();
        for primitive in posed.meshes.iter_mut().flat_map(|mesh| &mut mesh.primitives) {
            primitive.deform = None;
        }
        let fresh = renderer.upload_for(&posed, &TRACED).unwrap();
        let expected = renderer.render(&fresh, &view, &settings()).unwrap();
        let differ = picture
            .nits
            .iter()
            .zip(&expected.nits)
            .filter(|(a, b)| (a[1] - b[1]).abs() > 0.02 * b[1])
            .count();
        // Pixels at silhouettes, where the last bits of deformed vertices decide.
        println!("{far} m: {differ} pixels differ, {:?}", seen.last());
        assert!(differ <= 6, "{far} m: {differ} pixels differ");
    }
    println!("{seen:?}");
    // Small steps keep the BVH, the large one degrades it, and the next pose has a new one, which
    // lasts.
    assert_eq!(seen.iter().map(|seen| seen.1).collect::<Vec<_>>(), [0, 0, 0, 1, 1]);
    assert!(seen[1].2 < 1.2 && seen[2].2 > 1.75 && seen[3].2 < 1.1, "{seen:?}");
}

#[test]
fn rebuilt_blas_keeps_its_slot() {
    let scene = confetti(200);
    let mut bvh = SceneBvh::new(&scene, |_| true);
    let mut posed = scene.clone();
    posed.apply(&pose(3.0));
    let index = bvh
        .blases
        .iter()
        .position(|blas| posed.baked(blas.mesh, blas.primitive).is_some())
        .unwrap();
    let of = bvh.blases[index];
    let moved = posed.baked(of.mesh, of.primitive).unwrap();
    bvh.refit(of.mesh, of.primitive, &moved);
    let nodes = |bvh: &SceneBvh| {
        let (first, count) = bvh.blases[index].nodes;
        bvh.nodes[first as usize..(first + count) as usize].to_vec()
    };
    let degraded_blases = sah_cost(&nodes(&bvh));
    bvh.rebuild(&posed, index, &moved);
    bvh.rebuild_tlas(&posed);
    assert!(
        sah_cost(&nodes(&bvh)) < degraded_blases / 1.75,
        "{degraded_blases} and {}",
        sah_cost(&nodes(&bvh))
    );
    posed.bake();
    let fresh = SceneBvh::new(&posed, |_| true);
    let (ours, theirs) = (bvh.tlas_from(DVec3::ZERO), fresh.tlas_from(DVec3::ZERO));
    for step in 0..2000 {
        let angle = f64::from(step) * 0.37;
        let origin = Vec3::new((f64::from(step) * 0.011).sin() as f32 * 2.0, 3.0, 6.0);
        let direction = Vec3::new(
            angle.sin() as f32 * 0.4,
            -0.3 - (angle * 0.7).cos().abs() as f32 * 0.3,
            -1.0,
        );
        let ray = bvh::Ray {
            origin,
            direction,
            t_min: 0.0,
            t_max: f32::INFINITY,
            offset_normal: Vec3::ZERO,
        };
        let hits = [bvh.closest(&ours, &ray), fresh.closest(&theirs, &ray)]
            .map(|hit| hit.map(|hit| hit.t));
        assert_eq!(hits[0], hits[1], "{ray:?}");
    }
}
