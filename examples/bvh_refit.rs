//! What a pose of a skinned mesh costs where it moves in the atrium, with trees for traced shadows:
//! on the device, and as it was when the host refitted and uploaded all lower trees. `cargo run
//! --release --example bvh_refit -- FILE.glb [POSES]`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Instant;

use glam::DMat4;
use sunny16::{
    bvh::{SceneBvh, casts_shadow},
    frame::{RenderSettings, Renderer, ShadowSettings},
    gpu::{Buffer, BufferKind, Gpu, GpuOptions, upload::Uploader},
    gpu_scene::View,
    scene::{
        Node, Scene, animation::AnimationSelection, gltf, look::ShadowMethod, procedural::atrium,
    },
};

/// The file's scene with the atrium around it; what stands in the file is 1.2 m long.
fn scene(path: &str) -> Scene {
    let mut scene = gltf::load(std::path::Path::new(path)).expect("a scene file");
    let (low, high) = scene.bounds().expect("something is shown");
    let scale = 1.2 / (high - low).max_element();
    let roots = std::mem::take(&mut scene.roots);
    let over = scene.nodes.len();
    for &root in &roots {
        scene.nodes[root].parent = Some(over);
    }
    let local = DMat4::from_translation(glam::DVec3::new(2.5, 0.02, -1.5))
        * DMat4::from_scale(glam::DVec3::splat(scale));
    scene.nodes.push(Node { local, children: roots, ..Node::default() });
    scene.roots.push(over);
    let court = atrium().expect("the atrium");
    let (nodes, meshes, materials) = (scene.nodes.len(), scene.meshes.len(), scene.materials.len());
    let (lights, cameras) = (scene.lights.len(), scene.cameras.len());
    scene.roots.extend(court.roots.iter().map(|root| root + nodes));
    scene.nodes.extend(court.nodes.into_iter().map(|mut node| {
        node.mesh = node.mesh.map(|mesh| mesh + meshes);
        node.light = node.light.map(|light| light + lights);
        node.camera = node.camera.map(|camera| camera + cameras);
        node
    }));
    scene.meshes.extend(court.meshes.into_iter().map(|mut mesh| {
        for part in &mut mesh.primitives {
            part.material = part.material.map(|material| material + materials);
        }
        mesh
    }));
    scene.materials.extend(court.materials);
    scene.lights.extend(court.lights);
    scene.cameras.extend(court.cameras);
    scene
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().expect("a file with something that moves");
    let poses: u32 = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(9);
    let rest = scene(path);
    let gpu = Gpu::open(&GpuOptions::default()).expect("a device");
    let mut renderer = Renderer::new(&gpu).expect("pipelines");
    let shadows = ShadowSettings { method: ShadowMethod::Traced, ..ShadowSettings::default() };
    let mut on_device = renderer.upload_for(&rest, &shadows).expect("upload");
    let settings = RenderSettings { shadows, ..RenderSettings::default() };
    let placed = rest.walk();
    let camera = placed.iter().rfind(|placed| placed.node.camera.is_some()).expect("a camera");
    let projection = rest.cameras[camera.node.camera.unwrap_or_default()].projection;
    let view = View::new(camera.world, &projection, 64, 36);
    let mut before = SceneBvh::new(&rest, casts_shadow);
    let (mut follow, mut refit, mut skin) = (Vec::new(), Vec::new(), Vec::new());
    let (mut host, mut upload) = (Vec::new(), Vec::new());
    for step in 0..poses {
        let mut posed = rest.clone();
        posed.apply(&rest.pose(&AnimationSelection::Auto, f64::from(step) / 30.0));
        let began = Instant::now();
        on_device.follow(&gpu, &posed).expect("follow");
        follow.push(began.elapsed().as_secs_f64() * 1e3);
        let picture = renderer.render(&on_device, &view, &settings).expect("a frame");
        let of = |name: &str| {
            picture.times.iter().filter(|time| time.name == name).map(|time| time.ms).sum()
        };
        refit.push(of("refit"));
        skin.push(of("skin"));
        let began = Instant::now();
        posed.bake();
        for (_, mesh) in posed.deformed() {
            for (number, primitive) in posed.meshes[mesh].primitives.iter().enumerate() {
                before.refit(mesh, number, primitive);
            }
        }
        before.rebuild_tlas(&posed);
        host.push(began.elapsed().as_secs_f64() * 1e3);
        let began = Instant::now();
        let mut uploader = Uploader::new(&gpu).expect("an uploader");
        for bytes in
            [bytemuck::cast_slice::<_, u8>(&before.nodes), bytemuck::cast_slice(&before.triangles)]
        {
            let buffer = Buffer::new(&gpu, "trees", bytes.len() as u64, BufferKind::Storage)
                .expect("memory");
            uploader.buffer(&buffer, bytes).expect("memory");
        }
        uploader.finish().expect("the device");
        upload.push(began.elapsed().as_secs_f64() * 1e3);
    }
    let trees = on_device.bvh.as_ref().expect("trees");
    let bytes = before.nodes.len() * 32 + before.triangles.len() * 48;
    let moved: u32 = (before.blases.iter())
        .filter(|blas| rest.baked(blas.mesh, blas.primitive).is_some())
        .map(|blas| blas.triangles.1)
        .sum();
    println!(
        "{} triangles, {moved} of them move, {poses} poses; medians in ms",
        rest.instanced_triangles()
    );
    println!(
        "host: vertices, refit and places {:.3}, upload of {bytes} bytes {:.3}",
        median(host),
        median(upload)
    );
    println!(
        "device: follow (places, all of the scene's) {:.3}, pass refit {:.3}, pass skin {:.3}",
        median(follow),
        median(refit),
        median(skin)
    );
    let refit = trees.refit().expect("something moves");
    println!(
        "{} bytes more on the device, drift {:.3}, rebuilt {}",
        refit.bytes(),
        refit.max_drift(),
        trees.rebuild_count()
    );
}
