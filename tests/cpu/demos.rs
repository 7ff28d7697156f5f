//! Every demo scene: it stays within its triangle budget, its look fits, and it survives a GLB
//! round trip.

use sunny16::{
    camera_control::{CollisionMesh, is_solid},
    scene::{Light, gltf, look::Look, procedural::demos::Demo, write_glb::write_glb},
};

#[test]
fn demos_fit_their_budget_and_their_look() {
    for demo in Demo::ALL {
        let (mut scene, text) = demo.builtin().unwrap().make().unwrap();
        let triangles = scene.instanced_triangles();
        // Its subject is ten thousand petals.
        let most = if demo.name == "petals" { 2_000_000 } else { 400_000 };
        assert!(triangles < most, "{}: {triangles} triangles", demo.name);
        assert!(scene.notes.is_empty(), "{}: {:?}", demo.name, scene.notes);
        let mut look = Look::default();
        look.parse(demo.name, &text).unwrap_or_else(|error| panic!("{}: {error}", demo.name));
        look.apply(&mut scene).unwrap_or_else(|error| panic!("{}: {error}", demo.name));
        assert!(!scene.cameras.is_empty(), "{}", demo.name);
        let wanted = look.camera.name.as_deref();
        assert!(
            wanted.is_none_or(|name| scene.cameras.iter().any(|camera| camera.name == name)),
            "{}",
            demo.name
        );
        let walls = CollisionMesh::of(&scene, is_solid);
        assert!(walls.is_ok(), "{}: {walls:?}", demo.name);
    }
}

/// The file has the scene's content: the same number of triangles, lights of the same strength and
/// position; a second round trip is identical.
#[test]
fn demos_survive_a_glb_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    // Those with the most kinds of content; the animated one moves by a formula, which no file
    // holds.
    for name in ["courtyard", "lens", "light_room", "still_life"] {
        let (scene, _) = Demo::named(name).unwrap().builtin().unwrap().make().unwrap();
        let glb = write_glb(&scene).unwrap();
        let file = folder.path().join(format!("{name}.glb"));
        std::fs::write(&file, &glb).unwrap();
        let read = gltf::load(&file).unwrap();
        assert_eq!(read.instanced_triangles(), scene.instanced_triangles(), "{name}");
        assert_eq!(read.lights.len(), scene.lights.len(), "{name}");
        for (a, b) in read.lights.iter().zip(&scene.lights) {
            // A file's color scales its candela; only their product is the light.
            let of =
                |light: &Light| light.candela().map_or(0.0, |c| c.get()) * light.color_luminance();
            let (a, b) = (of(a), of(b));
            assert!((a - b).abs() <= 1e-5 * b, "{name}: {a} and {b}");
        }
        let (low, high) = scene.bounds().unwrap();
        let (least, most) = read.bounds().unwrap();
        assert!(low.distance(least) < 1e-4 && high.distance(most) < 1e-4, "{name}");
        assert_eq!(
            write_glb(&Demo::named(name).unwrap().builtin().unwrap().make().unwrap().0).unwrap(),
            glb,
            "{name}"
        );
    }
}
