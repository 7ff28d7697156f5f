//! Indirect light of whole scenes against the path tracer.

use crate::common::traced::{centered, film, of_bounces};
use crate::common::{
    exposed,
    gi_reference::{blocks, mean, print_map, reference, settings_from_env, write_reference},
    gpu, long, traced_shadows,
};
use glam::{DMat4, DVec2, DVec3, Vec3};
use sunny16::{
    frame::{Aov, GiSettings, RenderSettings, Renderer},
    gpu_scene::View,
    passes::gbuffer_channel::GbufferChannel,
    reference::{FilmSettings, LightComponents, Pinhole, World},
    scene::{Projection, Scene, look::Look, procedural::BuiltinScene},
};

/// A scene with its look, and one of its cameras.
struct TestScene {
    name: &'static str,
    size: (usize, usize),
    /// Samples per pixel of the reference.
    samples: u32,
    scene: Scene,
    camera: (DMat4, Projection),
}

impl TestScene {
    fn new(
        name: &'static str,
        scene: Scene,
        camera: &str,
        size: (usize, usize),
        samples: u32,
    ) -> Self {
        let camera = scene
            .walk()
            .into_iter()
            .find_map(|node| {
                let found = scene.cameras.get(node.node.camera?)?;
                (found.name == camera).then_some((node.world, found.projection))
            })
            .unwrap();
        Self { name, size, samples, scene, camera }
    }

    fn builtin(name: &'static str, camera: &str, size: (usize, usize), samples: u32) -> Self {
        let (mut scene, text) = BuiltinScene::named(name).unwrap().make().unwrap();
        let mut look = Look::default();
        look.parse("built-in", &text).unwrap();
        look.apply(&mut scene).unwrap();
        Self::new(name, scene, camera, size, samples)
    }

    fn eye(&self) -> DVec3 {
        self.camera.0.w_axis.truncate()
    }

    /// Pixels where the device shows another surface than the ray through their center hits, but
    /// one that a neighboring ray hits: an edge within rasterization error. Their light is not
    /// compared; all other mismatches are.
    fn at_edges(&self, depths: &[[f32; 4]], normals: &[[f32; 4]]) -> Vec<usize> {
        let world = World::new(&self.scene, self.eye());
        let camera = Pinhole::new(self.camera.0, self.camera.1, self.size.0, self.size.1);
        let shows = |pixel: usize, off: DVec2| {
            let middle =
                DVec2::new((pixel % self.size.0) as f64 + 0.5, (pixel / self.size.0) as f64 + 0.5);
            let (origin, direction) = camera.ray(middle + off);
            let (depth, normal) =
                (f64::from(depths[pixel][0]), Vec3::from_slice(&normals[pixel]).as_dvec3());
            world.closest_opaque(origin, direction).map_or(depth == 0.0, |solid| {
                let there = direction.dot(camera.forward()) * solid.point.distance;
                (depth / there - 1.0).abs() < 1e-3 && normal.dot(solid.point.normal) > 0.98
            })
        };
        // Vertices are placed to 1/256 of a pixel at best, twice for an edge.
        let around =
            (0..16).map(|i| DVec2::from_angle(f64::from(i) * std::f64::consts::TAU / 16.0) / 128.0);
        let list: Vec<usize> = (0..depths.len())
            .filter(|&pixel| {
                !shows(pixel, DVec2::ZERO) && around.clone().any(|off| shows(pixel, off))
            })
            .collect();
        assert!(
            list.len() <= depths.len() / 200,
            "edges through the middle of {} pixels",
            list.len()
        );
        if !list.is_empty() {
            println!("{}: edges through the middle of pixels {list:?}", self.name);
        }
        list
    }

    /// By the path tracer: indirect diffuse light, including the environment's but not its sun's;
    /// and all light.
    fn traced(&self, seed: u32) -> [Vec<DVec3>; 2] {
        let film = |scene: &Scene, bounces: u32, samples: u32| {
            let settings = FilmSettings { seed, ..centered(of_bounces(bounces)) };
            film(scene, self.camera, self.size, settings, samples)
        };
        let film_of_all = film(&self.scene, u32::MAX, self.samples / 2);
        let whole = film_of_all.mean(LightComponents::total);
        if self.scene.environment.is_none() {
            return [film_of_all.mean(|parts| parts.indirect_diffuse), whole];
        }
        let lamps = Scene { environment: None, ..self.scene.clone() };
        let direct = film(&lamps, 1, (self.samples / 8).max(64)).mean(|parts| parts.direct_diffuse);
        let diffuse = film_of_all.mean(|parts| parts.direct_diffuse + parts.indirect_diffuse);
        [diffuse.iter().zip(&direct).map(|(all, lamps)| *all - *lamps).collect(), whole]
    }
}

/// The closed door's room is dark, with nothing to compare (`tests/gpu/gi.rs` covers it).
fn places() -> [TestScene; 3] {
    [atrium(), light_room(), corridor()]
}

fn light_room() -> TestScene {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("validation/cases/light_room/scene.glb");
    let mut scene = sunny16::scene::gltf::load(&file).unwrap();
    Look::default().apply(&mut scene).unwrap();
    TestScene::new("light_room", scene, "Camera", (72, 48), 4096)
}

fn atrium() -> TestScene {
    TestScene::builtin("atrium", "Court", (64, 40), 8192)
}

fn corridor() -> TestScene {
    TestScene::builtin("corridor", "Corridor", (64, 40), 16384)
}

/// Writes the references that the tests read.
#[test]
#[ignore = "traces the references again: minutes"]
fn references_are_made() {
    for place in places() {
        let start = std::time::Instant::now();
        let halves = [0, 1].map(|seed| place.traced(seed));
        let of = |part: usize| [0, 1].map(|half: usize| halves[half][part].clone());
        write_reference(place.name, place.size, &of(0));
        write_reference(&format!("{}_whole", place.name), place.size, &of(1));
        println!("{} s", start.elapsed().as_secs());
    }
}

fn settings(gi: GiSettings, nits: f64) -> RenderSettings {
    RenderSettings {
        shadows: traced_shadows(16),
        gi,
        aovs: vec![
            Aov::IndirectDiffuse,
            Aov::IndirectSpecular,
            Aov::DirectDiffuse,
            Aov::DirectSpecular,
            Aov::Emission,
            Aov::Channel(GbufferChannel::Depth),
            Aov::Channel(GbufferChannel::Normal),
        ],
        ..exposed(nits, 0.18)
    }
}

/// Indirect diffuse light and the whole picture after some frames of a still view; and the pixels
/// that are excluded.
fn rendered(
    renderer: &mut Renderer,
    place: &TestScene,
    gi: GiSettings,
    frames: u32,
) -> ([Vec<DVec3>; 2], Vec<usize>) {
    let view = View::new(place.camera.0, &place.camera.1, place.size.0 as u32, place.size.1 as u32);
    let settings = settings(gi, mean(&reference(place.name)));
    let mut scene = renderer.upload_for(&place.scene, &settings.shadows).unwrap();
    scene.update_gi(renderer.gpu(), &place.scene, &gi).unwrap();
    renderer.reset_history();
    for _ in 1..frames {
        renderer.render(&scene, &view, &settings).unwrap();
    }
    let picture = renderer.render(&scene, &view, &settings).unwrap();
    // Of its parts: their sum in the picture comes later.
    let part = |index: usize| {
        picture.aovs[index].1.iter().map(|p| Vec3::from_slice(p).as_dvec3()).collect()
    };
    let parts: [Vec<DVec3>; 5] = [0, 1, 2, 3, 4].map(part);
    let whole =
        (0..parts[0].len()).map(|pixel| parts.iter().map(|part| part[pixel]).sum()).collect();
    let [diffuse, ..] = parts;
    ([diffuse, whole], place.at_edges(&picture.aovs[5].1, &picture.aovs[6].1))
}

/// Root mean square and mean of block differences, of diffuse light and of the picture.
fn compared(name: &str, place: &TestScene, gi: GiSettings, frames: u32) -> [(f64, f64); 2] {
    let Some(guard) = gpu() else { return Default::default() };
    let mut renderer = guard.renderer();
    let start = std::time::Instant::now();
    let (got, left_out) = rendered(&mut renderer, place, gi, frames);
    let mut list = [(0.0, 0.0); 2];
    for (index, part) in ["", "_whole"].into_iter().enumerate() {
        let want = reference(&format!("{}{part}", place.name));
        list[index] = blocks(place.size, &got[index], &want, &left_out);
        let (rms, bias) = list[index];
        println!(
            "{name} {}{part}: blocks {:.2} %, mean {:+.2} %, {:.1} s",
            place.name,
            rms * 100.0,
            bias * 100.0,
            start.elapsed().as_secs_f64()
        );
        print_map(place.size, &got[index], &want, &left_out);
    }
    list
}

fn unmerged() -> GiSettings {
    GiSettings {
        enabled: true,
        vpls: 300_000,
        bounces: 16,
        denoise: false,
        freeze_after: 4096,
        ..GiSettings::default()
    }
}

fn merged() -> GiSettings {
    GiSettings { vpls: 8192, photons: Some(100_000), merge: true, ..unmerged() }
}

/// Bounds: 8x8 blocks of indirect diffuse light below 1.5 % with all VPLs, below 3 % with merged
/// ones.
fn within(
    place: &TestScene,
    gi: GiSettings,
    frames: u32,
    [blocks, mean]: [f64; 2],
    whole: [f64; 2],
) {
    let of = compared(if gi.merge { "merged" } else { "unmerged" }, place, gi, frames);
    for ((rms, bias), [most, most_bias]) in of.into_iter().zip([[blocks, mean], whole]) {
        assert!(rms < most && bias.abs() < most_bias, "{}: {rms} {bias}", place.name);
    }
}

#[test]
fn corridor_matches_path_tracer() {
    let place = corridor();
    within(&place, unmerged(), 32, [0.015, 0.01], [0.01, 0.005]);
    if long() {
        within(&place, merged(), 32, [0.03, 0.01], [0.02, 0.01]);
    }
}

#[test]
fn light_room_matches_path_tracer() {
    let place = light_room();
    within(&place, unmerged(), 48, [0.015, 0.01], [0.01, 0.01]);
    // For merged VPLs in a small room see `gi::merged_vpls_match_path_tracer`.
    if long() {
        within(&place, merged(), 32, [0.02, 0.01], [0.02, 0.01]);
    }
}

#[test]
fn atrium_matches_path_tracer() {
    within(
        &atrium(),
        GiSettings { vpl_samples: 16, ..unmerged() },
        32,
        [0.03, 0.015],
        [0.03, 0.015],
    );
}

/// A sun that reaches few surfaces needs many photons for the bound of 1.5 %.
#[test]
#[ignore = "three million photons and 128 frames: minutes"]
fn atrium_with_many_photons_matches_path_tracer() {
    let gi = GiSettings { vpls: 3_000_000, vpl_samples: 16, ..unmerged() };
    within(&atrium(), gi, 128, [0.015, 0.01], [0.015, 0.01]);
}

/// `PLACE=atrium MERGED=1 GI="frames=64 rays=8"` configures a manual run.
#[test]
#[ignore = "prints what settings make of it"]
fn compare_gi_settings() {
    let wanted = std::env::var("PLACE").unwrap_or_default();
    for place in places().iter().filter(|place| place.name.contains(&wanted)) {
        let gi = if std::env::var_os("MERGED").is_some() { merged() } else { unmerged() };
        let (name, gi, frames) = settings_from_env(gi, 32);
        compared(&name, place, gi, frames);
    }
}
