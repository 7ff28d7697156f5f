//! Every demo scene: it stays within its triangle budget, its look fits, its camera path passes no
//! surface, and it survives a GLB round trip. Scenes take seconds to make: each is made once.

use sunny16::{
    camera_control::{CollisionMesh, is_solid},
    scene::{Light, Scene, gltf, look::Look, procedural::demos::Demo, write_glb::write_glb},
    session::{self, OpenRequest},
};

use crate::camera_paths::assert_path_passes_no_surface;

/// Demos that are written as GLB: those with the most kinds of content. The animated one moves by a
/// formula, which no file holds.
const WRITTEN: [&str; 4] = ["courtyard", "lens", "light_room", "still_life"];

#[test]
fn demos_fit_their_budget_their_look_their_path_and_a_file() {
    for demo in Demo::ALL {
        let (scene, text) = demo.builtin().unwrap().make().unwrap();
        let triangles = scene.instanced_triangles();
        // Its subject is ten thousand petals.
        let most = if demo.name == "petals" { 2_000_000 } else { 400_000 };
        assert!(triangles < most, "{}: {triangles} triangles", demo.name);
        assert!(scene.notes.is_empty(), "{}: {:?}", demo.name, scene.notes);
        if WRITTEN.contains(&demo.name) {
            assert_glb_keeps(demo, &scene);
        }
        let mut look = Look::default();
        look.parse(demo.name, &text).unwrap_or_else(|error| panic!("{}: {error}", demo.name));
        assert!(look.notices().is_empty(), "{}: {:?}", demo.name, look.notices());
        let wanted = look.camera.name.clone();
        assert!(
            wanted.is_none_or(|name| scene.cameras.iter().any(|camera| camera.name == name)),
            "{}",
            demo.name
        );
        assert!(!scene.cameras.is_empty(), "{}", demo.name);
        let request = OpenRequest {
            scene: Some(format!("builtin:{}", demo.name).into()),
            time: demo.builtin().unwrap().animated.then_some(0.0),
            ..OpenRequest::default()
        };
        let opened = session::apply_look(&request, scene, look, Vec::new())
            .unwrap_or_else(|error| panic!("{}: {error}", demo.name));
        let walls = CollisionMesh::of(&opened.scene, is_solid);
        assert!(walls.is_ok(), "{}: {walls:?}", demo.name);
        assert_path_passes_no_surface(demo, &opened, &request);
    }
}

/// The file has the scene's content: the same number of triangles, lights of the same strength and
/// position; a scene that is made again gives the same bytes.
fn assert_glb_keeps(demo: Demo, scene: &Scene) {
    let name = demo.name;
    let glb = write_glb(scene).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(format!("{name}.glb"));
    std::fs::write(&file, &glb).unwrap();
    let read = gltf::load(&file).unwrap();
    assert_eq!(read.instanced_triangles(), scene.instanced_triangles(), "{name}");
    assert_eq!(read.lights.len(), scene.lights.len(), "{name}");
    for (a, b) in read.lights.iter().zip(&scene.lights) {
        // A file's color scales its candela; only their product is the light.
        let of = |light: &Light| light.candela().map_or(0.0, |c| c.get()) * light.color_luminance();
        let (a, b) = (of(a), of(b));
        assert!((a - b).abs() <= 1e-5 * b, "{name}: {a} and {b}");
    }
    let (low, high) = scene.bounds().unwrap();
    let (least, most) = read.bounds().unwrap();
    assert!(low.distance(least) < 1e-4 && high.distance(most) < 1e-4, "{name}");
    assert_eq!(write_glb(&demo.builtin().unwrap().make().unwrap().0).unwrap(), glb, "{name}");
}
