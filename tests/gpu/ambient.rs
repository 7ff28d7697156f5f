//! Ambient occlusion and local probes on the device.

use std::f64::consts::TAU;

use crate::common::traced::{centered, film};
use crate::common::{
    Brdf, Place, aov, aov3, even, exposed, hit_plane, long, nits, perspective, pixel_of, renderer,
};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    frame::{AoSettings, Aov, GiSettings, RenderSettings, RenderedImage, Renderer, SsrSettings},
    gpu_scene::View,
    passes::gbuffer_channel::GbufferChannel,
    photometry::environment::dfg::specular_scale_bias,
    reference::{
        PathSettings, Pinhole, World,
        aov::{AmbientOcclusionRays, PrimaryHitAov, primary_hit_aovs},
    },
    scene::{
        AlphaMode, Clearcoat, Material, Probe, Projection, Sampler, Scene,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        procedural::{shapes, textures},
    },
    settings::Resolution,
};

const OPEN: Aov = Aov::Channel(GbufferChannel::AmbientOcclusion);
const BENT: Aov = Aov::Channel(GbufferChannel::BentNormal);

fn settings(nits: f64, ao: AoSettings) -> RenderSettings {
    RenderSettings { ao, aovs: vec![OPEN, BENT, crate::common::NORMAL], ..exposed(nits, 0.9) }
}

fn wide(radius: f64) -> AoSettings {
    AoSettings {
        radius,
        falloff: 0.0,
        thickness: 0.0,
        slices: 4,
        steps: 32,
        ..AoSettings::default()
    }
}

const WALL: f64 = 2.0;
const HALF_WIDTH: f64 = 2.5;

/// A ground plane, and a wall of that height behind it at z = 0.
fn corner(material: Material) -> Scene {
    let mut builder = SceneBuilder::new("corner");
    let material = builder.add_material(Material { double_sided: true, ..material });
    let ground = shapes::quad(Vec3::new(-40.0, 0.0, 0.0), Vec3::X * 80.0, Vec3::Z * 40.0, 1, 1);
    let (width, height) = (2.0 * HALF_WIDTH as f32, WALL as f32);
    let wall = shapes::quad(
        Vec3::new(-0.5 * width, height, 0.0),
        Vec3::X * width,
        Vec3::NEG_Y * height,
        1,
        1,
    );
    for primitive in [ground, wall] {
        builder.place(primitive, material, DMat4::IDENTITY);
    }
    builder.build().unwrap()
}

/// Occlusion of a ground point by the wall: the view factor from an element to a perpendicular
/// rectangle at whose corner it lies (Howell, A Catalog of Radiation Heat Transfer Configuration
/// Factors, B-4), for both sides.
fn hidden_by_wall(p: DVec3) -> f64 {
    let slant = p.z.hypot(WALL);
    let part = |width: f64| {
        ((width / p.z).atan() - p.z / slant * (width / slant).atan()) / std::f64::consts::TAU
    };
    part(HALF_WIDTH - p.x) + part(HALF_WIDTH + p.x)
}

#[test]
fn ao_of_a_wall_matches_view_factor_and_path_tracer() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut scene = corner(dielectric("gray", Vec3::splat(0.5), 1.0));
    scene.environment = even(100.0);
    let (eye, at, size) = (DVec3::new(0.0, 5.0, 9.0), DVec3::new(0.0, 0.6, 1.0), (96, 64));
    let view = perspective(eye, at, 0.75, 0.01, size);
    let full = crate::common::picture(&mut renderer, &scene, &view, &settings(100.0, wide(12.0)));
    let half = AoSettings { resolution: Resolution::Half, ..wide(12.0) };
    let half = crate::common::picture(&mut renderer, &scene, &view, &settings(100.0, half));
    let without = AoSettings { enabled: false, ..wide(12.0) };
    let without = crate::common::picture(&mut renderer, &scene, &view, &settings(100.0, without));

    let world = World::new(&scene, eye);
    let projection =
        Projection::Perspective { vertical_fov: 0.75, aspect: None, near: 0.01, far: None };
    let pinhole =
        Pinhole::new(look_at_transform(eye, at), projection, size.0 as usize, size.1 as usize);
    let rays = AmbientOcclusionRays { radius: 12.0, count: 256 };
    let dims = (size.0 as usize, size.1 as usize);
    let both = [PrimaryHitAov::AmbientOcclusion(rays), PrimaryHitAov::BentNormal(rays)];
    let channels = primary_hit_aovs(&world, &pinhole, eye, dims, &both);
    let (traced, traced_bent) = (&channels[0], &channels[1]);
    let (mut worst, mut worst_half, mut worst_traced, mut worst_light, mut angle, mut pixels) =
        (0f64, 0f64, 0f64, 0f64, 0f64, 0);
    for y in (0..64).step_by(3) {
        for x in (36..60).step_by(4) {
            let p = hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
            if !(0.15..4.0).contains(&p.z) || aov3(&full, crate::common::NORMAL, x, y).y < 0.9 {
                continue;
            }
            pixels += 1;
            let want = 1.0 - hidden_by_wall(p);
            let of = |picture| f64::from(aov(picture, OPEN, x, y)[0]);
            worst = worst.max((of(&full) - want).abs());
            worst_half = worst_half.max((of(&half) - want).abs());
            worst_traced = worst_traced.max((f64::from(traced[y * 96 + x][0]) - want).abs());
            let bent = Vec3::from_slice(&traced_bent[y * 96 + x][..3]).as_dvec3();
            angle = angle.max(bent.angle_between(aov3(&full, BENT, x, y)).to_degrees());
            // A rough dielectric in uniform light: its ratio is the ambient visibility, but for the
            // small specular part.
            worst_light =
                worst_light.max((nits(&full, x, y).y / nits(&without, x, y).y - want).abs());
        }
    }
    println!(
        "{pixels} pixels: full {worst:.4}, half {worst_half:.4}, path tracer {worst_traced:.4}, light {worst_light:.4}, \
         bent normal {angle:.2} degrees"
    );
    assert!(pixels > 30);
    assert!(worst < 0.03 && worst_half < 0.06, "{worst} {worst_half}");
    assert!(worst_traced < 0.05 && angle < 6.0, "{worst_traced} {angle}");
    assert!(worst_light < 0.05, "{worst_light}");
}

#[test]
fn unoccluded_surfaces_have_no_ao() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for (name, primitive) in [
        ("ball", shapes::uv_sphere(1.0, 96, 48)),
        ("plane", shapes::plane(glam::Vec2::splat(20.0), 1, 1)),
    ] {
        let mut builder = SceneBuilder::new(name);
        builder.place(primitive, dielectric("gray", Vec3::splat(0.5), 0.3), DMat4::IDENTITY);
        let mut scene = builder.build().unwrap();
        scene.environment = even(100.0);
        let view = perspective(DVec3::new(0.0, 2.5, 5.0), DVec3::ZERO, 0.6, 0.01, (64, 48));
        let on = crate::common::picture(
            &mut renderer,
            &scene,
            &view,
            &settings(100.0, AoSettings::default()),
        );
        let off = AoSettings { enabled: false, ..AoSettings::default() };
        let off = crate::common::picture(&mut renderer, &scene, &view, &settings(100.0, off));
        let (mut open, mut light, mut turned) = (1f64, 0f64, 0f64);
        for y in 0..48 {
            for x in 0..64 {
                if aov(&on, OPEN, x, y)[3] > 0.0 {
                    open = open.min(f64::from(aov(&on, OPEN, x, y)[0]));
                    light = light.max((nits(&on, x, y).y / nits(&off, x, y).y - 1.0).abs());
                    turned = turned.max(
                        (aov3(&on, BENT, x, y) - aov3(&on, crate::common::NORMAL, x, y)).length(),
                    );
                }
            }
        }
        println!(
            "{name}: least {open:.4}, light changed by {light:.4}, bent normal by {turned:.4}"
        );
        assert!(open > 0.985 && light < 0.02 && turned < 0.03, "{name}: {open} {light} {turned}");
    }
}

const ROOM: DVec3 = DVec3::new(6.0, 3.0, 4.0);
const CENTER: DVec3 = DVec3::new(0.0, 1.5, 0.0);

/// A closed room; walls by their outward axis: +X, -X, +Y, -Y, +Z, -Z.
fn room(walls: [Material; 6]) -> SceneBuilder {
    let mut builder = SceneBuilder::new("room");
    let axes = [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y, DVec3::Z, DVec3::NEG_Z];
    for (out, wall) in axes.into_iter().zip(walls) {
        let (u, v) = (
            DVec3::new(out.y.abs(), out.z.abs(), out.x.abs()),
            DVec3::new(out.z.abs(), out.x.abs(), out.y.abs()),
        );
        let corner = CENTER + (out - u - v) * ROOM / 2.0;
        let quad = shapes::quad(corner.as_vec3(), (u * ROOM).as_vec3(), (v * ROOM).as_vec3(), 1, 1);
        builder.place(quad, Material { double_sided: true, ..wall }, DMat4::IDENTITY);
    }
    builder
}

fn emissive_material(nits: f32) -> Material {
    Material { emission: Vec3::splat(nits), ..dielectric("emissive_material", Vec3::ZERO, 1.0) }
}

fn probe(position: DVec3) -> Probe {
    Probe {
        name: "room".into(),
        center: CENTER,
        size: ROOM,
        position,
        blend: 0.0,
        resolution: 128,
        bounces: 1,
        parallax: true,
    }
}

fn shot(renderer: &mut Renderer, scene: &Scene, view: &View, nits: f64) -> RenderedImage {
    crate::common::picture(renderer, scene, view, &settings(nits, AoSettings::default()))
}

/// In a room of uniform emission, every point sees a uniform environment.
#[test]
fn uniformly_emissive_room_is_a_uniform_environment() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let light = 250.0;
    for (metallic, roughness) in [(1.0, 0.0), (1.0, 0.4), (0.0, 0.2), (0.0, 1.0)] {
        let ball = |builder: &mut SceneBuilder| {
            let mut material = dielectric("ball", Vec3::splat(0.7), roughness);
            material.metallic = metallic;
            builder.place(shapes::uv_sphere(0.05, 96, 48), material, DVec3::new(1.5, 0.5, 0.8));
        };
        let mut inside = room(std::array::from_fn(|_| emissive_material(light as f32)));
        ball(&mut inside);
        let mut inside = inside.build().unwrap();
        inside.probes = vec![probe(DVec3::new(-1.0, 1.0, 0.3))];
        let mut alone = SceneBuilder::new("alone");
        ball(&mut alone);
        let mut alone = alone.build().unwrap();
        alone.environment = even(light);
        let view = perspective(
            DVec3::new(-1.5, 1.2, -0.5),
            DVec3::new(1.5, 0.5, 0.8),
            0.05,
            0.01,
            (64, 48),
        );
        let (inside, alone) =
            (shot(&mut renderer, &inside, &view, light), shot(&mut renderer, &alone, &view, light));
        let mut errors: Vec<f64> = Vec::new();
        for y in 0..48 {
            for x in 0..64 {
                if aov(&alone, OPEN, x, y)[3] > 0.0 {
                    errors.push((nits(&inside, x, y).y / nits(&alone, x, y).y - 1.0).abs());
                }
            }
        }
        errors.sort_by(f64::total_cmp);
        let (pixels, worst) = (errors.len(), errors[errors.len() - 1]);
        println!(
            "metallic {metallic} roughness {roughness}: {:.3} % at {pixels} pixels",
            worst * 100.0
        );
        // The probe captures the ball too, before anything lights it, so the ball is small.
        // Reflections of the wall behind it show the ball, the more the larger it is and the
        // blurrier the level.
        assert!(
            pixels > 100 && worst < 0.015,
            "{metallic} {roughness}: {worst} at {pixels} pixels"
        );
    }
}

/// A mirror floor shows the wall that each ray hits.
#[test]
fn probe_reflections_are_parallax_corrected() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let glow = [100.0, 200.0, 300.0, 0.0, 400.0, 500.0];
    let mut walls = glow.map(emissive_material);
    walls[3] = metal("mirror", Vec3::ONE, 0.0);
    let mut scene = room(walls).build().unwrap();
    let view =
        perspective(DVec3::new(-2.5, 1.7, 1.5), DVec3::new(1.0, 0.0, -0.6), 0.9, 0.01, (96, 64));
    let mut right = |parallax: bool| {
        scene.probes = vec![Probe { parallax, ..probe(DVec3::new(0.5, 1.2, 0.4)) }];
        let picture = shot(&mut renderer, &scene, &view, 400.0);
        let (mut right, mut pixels) = (0, 0);
        for y in 0..64 {
            for x in 0..96 {
                let p = hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
                if aov3(&picture, crate::common::NORMAL, x, y).y.abs() < 0.9
                    || p.x.abs() > 2.9
                    || p.z.abs() > 1.9
                {
                    continue;
                }
                let d = (p - view.position) * DVec3::new(1.0, -1.0, 1.0);
                let faces = CENTER + d.signum() * ROOM / 2.0;
                let t = (faces - p) / d;
                let wall = if t.y < t.x.min(t.z) {
                    2
                } else if t.x < t.z {
                    usize::from(d.x < 0.0)
                } else {
                    4 + usize::from(d.z < 0.0)
                };
                pixels += 1;
                right += usize::from(
                    (nits(&picture, x, y).y / f64::from(glow[wall]) - 1.0).abs() < 0.05,
                );
            }
        }
        right as f64 / f64::from(pixels)
    };
    let (with, without) = (right(true), right(false));
    println!(
        "pixels that show the right wall: {:.1} % with parallax, {:.1} % without",
        with * 100.0,
        without * 100.0
    );
    assert!(with > 0.9, "{with}");
    assert!(without < 0.7, "{without}");
}

/// A box fades into the environment over its blend distance.
#[test]
fn probe_box_fades_within_blend_distance() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("ground");
    let white = Material { double_sided: true, ..dielectric("white", Vec3::ONE, 1.0) };
    builder.place(shapes::plane(glam::Vec2::splat(40.0), 1, 1), white, DMat4::IDENTITY);
    let mut scene = builder.build().unwrap();
    scene.environment = even(100.0);
    // Captured below the ground, whose underside is dark within the box: the sky is hardly visible.
    let size = DVec3::new(8.0, 4.0, 8.0);
    let place = DVec3::ZERO;
    scene.probes =
        vec![Probe { center: place, size, position: place - DVec3::Y, blend: 2.0, ..probe(place) }];
    let view = perspective(DVec3::new(0.0, 12.0, 0.1), place, 1.2, 0.01, (64, 64));
    let picture = shot(&mut renderer, &scene, &view, 100.0);
    let at = |x: f64| {
        let (px, py) = crate::common::pixel_of(&view, DVec3::new(x, 0.0, 0.0)).unwrap();
        nits(&picture, px, py).y
    };
    let (inside, border, outside) = (at(0.0), at(3.0), at(5.0));
    println!("inside {inside:.2}, half way {border:.2}, outside {outside:.2} nits");
    assert!(inside < 0.5 * outside, "{inside} {outside}");
    let share = (border - inside) / (outside - inside);
    assert!((share - 0.5).abs() < 0.12, "{share}");
}

/// Values of occlusion maps: exact steps of the G-buffer's seven bits, so that blended surfaces
/// have the same.
const LEFT: [f64; 3] = [1.0, 64.0 / 127.0, 0.0];

/// A tile of a ground plane under a uniform, unoccluded sky.
struct Tile {
    name: String,
    material: Material,
    left: f64,
    center: DVec3,
}

fn tiles() -> (Scene, Vec<Tile>) {
    let mut builder = SceneBuilder::new("tiles");
    let black = textures::TextureImage { width: 1, height: 1, rgba8: vec![0, 0, 0, 255] };
    let black = builder.add_texture("black", black, Sampler::default());
    let coated = Material {
        clearcoat: Clearcoat { factor: 1.0, ..Clearcoat::default() },
        ..metal("coated metal", Vec3::splat(0.6), 0.3)
    };
    let kinds = [
        metal("mirror", Vec3::splat(0.9), 0.05),
        metal("rough metal", Vec3::splat(0.7), 0.6),
        dielectric("polished dielectric", Vec3::splat(0.2), 0.1),
        dielectric("matte dielectric", Vec3::splat(0.6), 1.0),
        coated,
    ];
    let modes = [
        ("opaque", AlphaMode::Opaque),
        ("mask", AlphaMode::Mask { cutoff: 0.5 }),
        ("blend", AlphaMode::Blend),
    ];
    let mut tiles = Vec::new();
    for (row, kind) in kinds.into_iter().enumerate() {
        for (column, (mode, alpha)) in modes.into_iter().enumerate() {
            for (step, left) in LEFT.into_iter().enumerate() {
                let material = Material {
                    alpha,
                    occlusion_texture: Some(SceneBuilder::texture_ref(black)),
                    occlusion_strength: (1.0 - left) as f32,
                    ..kind.clone()
                };
                let center =
                    DVec3::new((column * 3 + step) as f64 - 4.0, 0.0, 1.5 * (row as f64 - 2.0));
                builder.place(shapes::plane(Vec2::new(0.9, 1.35), 1, 1), material.clone(), center);
                tiles.push(Tile {
                    name: format!("{}, {mode}", material.name),
                    material,
                    left,
                    center,
                });
            }
        }
    }
    let mut scene = builder.build().unwrap();
    scene.environment = even(100.0);
    (scene, tiles)
}

/// Reflectance under a uniform sky: split sum, plus the Fresnel-weighted diffuse part.
fn reflected(material: &Material, nv: f64) -> f64 {
    let stored = Brdf::of(material);
    let v = DVec3::new((1.0 - nv * nv).sqrt(), 0.0, nv);
    let steps = 10_000;
    let enters: f64 = (0..steps)
        .map(|i| {
            let (u, a) = (
                (f64::from(i) + 0.5) / f64::from(steps),
                TAU * (f64::from(i) * 0.618_033_988_75).fract(),
            );
            let l = DVec3::new(u.sqrt() * a.cos(), u.sqrt() * a.sin(), (1.0 - u).sqrt());
            1.0 - crate::common::dielectric_fresnel(l, v)
        })
        .sum();
    let (scale, bias) = specular_scale_bias(nv, stored.roughness, 256);
    let f0 = 0.04 + (stored.base.x - 0.04) * stored.metallic;
    (1.0 - stored.metallic) * stored.base.x * enters / f64::from(steps) + f0 * scale + bias
}

/// An occlusion map scales all ambient light, diffuse and specular (glTF 2.0, section 3.9.3), in
/// every pass. The path tracer does not read it: there the open tile's light is right whatever the
/// map says.
#[test]
fn occlusion_maps_attenuate_reflections() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let (scene, tiles) = tiles();
    let (eye, size) = (DVec3::new(0.0, 32.0, 24.0), (80, 64));
    let view = perspective(eye, DVec3::ZERO, 0.19, 0.01, size);
    let light = 100.0;
    let plain = exposed(light, 0.5);
    let off = AoSettings { enabled: false, ..AoSettings::default() };
    let ssr = SsrSettings { enabled: true, ..SsrSettings::default() };
    let gi = GiSettings { enabled: true, vpls: 1024, denoise: false, ..GiSettings::default() };
    // With the ray noise of the last ones.
    let ways = [
        ("occlusion measured", plain.clone(), 1, 0.003),
        ("occlusion not measured", RenderSettings { ao: off, ..plain.clone() }, 1, 0.003),
        (
            "rays in the picture alone",
            RenderSettings {
                ssr: SsrSettings { taps: 1, max_history_frames: 0, ..ssr },
                ..plain.clone()
            },
            1,
            0.01,
        ),
        ("reflections in the picture", RenderSettings { ssr, ..plain.clone() }, 4, 0.01),
        ("indirect light", RenderSettings { gi, ..plain.clone() }, 32, 0.03),
        ("indirect light and reflections", RenderSettings { gi, ssr, ao: off, ..plain }, 32, 0.03),
    ];
    // The last ones take minutes on software drivers.
    let ways = if long() { &ways[..] } else { &ways[..3] };
    let mut on_device = renderer.upload_for(&scene, &ways[0].1.shadows).unwrap();
    if long() {
        on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
    }
    // The middle of a tile, 3x3 pixels.
    let middle = |tile: &Tile, of: &dyn Fn(usize, usize) -> f64| {
        let (x, y) = pixel_of(&view, tile.center).unwrap();
        (0..9).map(|i| of(x + i % 3 - 1, y + i / 3 - 1)).sum::<f64>() / 9.0
    };
    let mut shown = Vec::new();
    for (name, settings, frames, bound) in ways {
        renderer.reset_history();
        for _ in 1..*frames {
            renderer.render(&on_device, &view, settings).unwrap();
        }
        let picture = renderer.render(&on_device, &view, settings).unwrap();
        let seen: Vec<f64> =
            tiles.iter().map(|tile| middle(tile, &|x, y| nits(&picture, x, y).y)).collect();
        let mut worst = (0.0, "");
        for (levels, all) in tiles.chunks_exact(3).zip(seen.chunks_exact(3)) {
            for (tile, got) in levels.iter().zip(all) {
                let error = (got - tile.left * all[0]).abs() / all[0];
                worst = if error > worst.0 { (error, &tile.name) } else { worst };
            }
        }
        println!("{name}: off by {:.3} % of the open tile, {}", worst.0 * 100.0, worst.1);
        assert!(worst.0 < *bound, "{name}: {worst:?}");
        shown.push(seen);
    }
    let (pose, projection) = (
        look_at_transform(eye, DVec3::ZERO),
        Projection::Perspective { vertical_fov: 0.19, aspect: None, near: 0.01, far: None },
    );
    let (width, height) = (size.0 as usize, size.1 as usize);
    let settings = centered(PathSettings::default());
    let film = film(&scene, (pose, projection), (width, height), settings, 64);
    let traced = film.mean(|parts| parts.total());
    let (mut closed, mut beside) = ((0.0, ""), (0.0, ""));
    for (i, tile) in tiles.iter().enumerate() {
        let path = middle(tile, &|x, y| traced[y * width + x].y);
        let uncoated = tile.material.clearcoat.factor == 0.0;
        let open =
            uncoated.then(|| light * reflected(&tile.material, (eye - tile.center).normalize().y));
        for seen in &shown[..2] {
            let error = (seen[i] - tile.left * path).abs() / path;
            beside = if error > beside.0 { (error, &tile.name) } else { beside };
            if let Some(open) = open {
                let error = (seen[i] - tile.left * open).abs() / open;
                closed = if error > closed.0 { (error, &tile.name) } else { closed };
            }
        }
    }
    println!("closed form: off by {:.3} %, {}", closed.0 * 100.0, closed.1);
    println!("path tracer: off by {:.3} %, {}", beside.0 * 100.0, beside.1);
    assert!(closed.0 < 0.01 * guard.slack(), "{closed:?}");
    assert!(beside.0 < 0.02, "{beside:?}");
}
