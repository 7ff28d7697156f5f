//! Area lights on the device: against Monte Carlo in double precision (`common::area`), closed
//! forms, and their flux.

use std::f64::consts::PI;

use crate::common::area::{self as reference, Body};
use crate::common::{
    Brdf, NORMAL, Place, aov3, dielectric_fresnel, exposed, hit_plane, nits, parallel, perspective,
    picture, renderer, unclustered, unshadowed,
};
use glam::{DMat4, DVec3, Vec2, Vec3, dvec3};
use rayon::prelude::*;
use sunny16::{
    frame::{Aov, RenderSettings, ShadowSettings},
    passes::gbuffer_channel::GbufferChannel,
    photometry::{
        Nit, Sides,
        lights::{Emitter, LightStrength},
    },
    scene::{
        AlphaMode, Clearcoat, Material, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        look::ShadowMethod,
        procedural::shapes,
    },
};

const ROUGHNESS: [f32; 5] = [0.2, 0.4, 0.6, 0.8, 1.0];
const ONE_NIT: LightStrength = LightStrength::Nits(Nit(1.0));

/// A light of one nit, for the scene and for the reference.
fn lamp(emitter: Emitter, position: DVec3, target: DVec3) -> (Emitter, DMat4, Body) {
    let pose = look_at_transform(position, target);
    let (right, front) = (pose.x_axis.truncate(), -pose.z_axis.truncate());
    let body = match emitter {
        Emitter::Sphere { radius } => Body::Sphere { center: position, radius },
        Emitter::Disk { radius, sides } => {
            Body::Disk { center: position, front, radius, two_sided: sides == Sides::Two }
        }
        Emitter::Rectangle { width, height, sides } => Body::Rectangle {
            center: position,
            front,
            right,
            half: [width / 2.0, height / 2.0],
            two_sided: sides == Sides::Two,
        },
        Emitter::Tube { radius, length } => Body::Tube {
            start: position - right * (length / 2.0),
            end: position + right * (length / 2.0),
            radius,
        },
        _ => unreachable!("shapes only"),
    };
    (emitter, pose, body)
}

fn shapes_around(position: DVec3, target: DVec3) -> Vec<(&'static str, Emitter, DMat4, Body)> {
    [
        ("rectangle", Emitter::Rectangle { width: 1.6, height: 0.6, sides: Sides::One }),
        ("disk", Emitter::Disk { radius: 0.6, sides: Sides::One }),
        ("sphere", Emitter::Sphere { radius: 0.5 }),
        ("tube", Emitter::Tube { radius: 0.12, length: 1.8 }),
    ]
    .into_iter()
    .map(|(name, emitter)| {
        let (emitter, pose, body) = lamp(emitter, position, target);
        (name, emitter, pose, body)
    })
    .collect()
}

fn settings(exposure: f64, aovs: Vec<Aov>) -> RenderSettings {
    RenderSettings {
        clustered_lights: unclustered(),
        // The reference has no occluders.
        shadows: unshadowed(),
        aovs,
        ..exposed(exposure, 0.95)
    }
}

fn add_light(builder: &mut SceneBuilder, emitter: Emitter, pose: DMat4) {
    builder.light("lamp", emitter, ONE_NIT, Vec3::ONE, pose);
}

fn unseen(mut scene: Scene) -> Scene {
    for light in &mut scene.lights {
        light.visible = false;
    }
    scene
}

#[test]
fn spheres_under_every_shape_match_monte_carlo() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let (mut worst, mut table) = (0f64, String::new());
    for (name, emitter, pose, body) in shapes_around(dvec3(0.8, 2.2, 1.5), dvec3(0.0, 0.3, 0.0)) {
        for metallic in [0.0f32, 1.0] {
            let mut builder = SceneBuilder::new("spheres");
            for (index, roughness) in ROUGHNESS.into_iter().enumerate() {
                let material = dielectric("ball", Vec3::new(0.9, 0.5, 0.2), roughness);
                let at = dvec3(index as f64 - 2.0, 0.0, 0.0);
                builder.place(
                    shapes::uv_sphere(0.4, 96, 48),
                    Material { metallic, ..material },
                    at,
                );
            }
            add_light(&mut builder, emitter, pose);
            let scene = unseen(builder.build().unwrap());
            let view = parallel(dvec3(0.0, 1.0, 8.0), DVec3::ZERO, 0.5, 20.0, (200, 40));
            let aovs = vec![
                Aov::DirectDiffuse,
                Aov::DirectSpecular,
                NORMAL,
                Aov::Channel(GbufferChannel::Position),
            ];
            let picture = picture(&mut renderer, &scene, &view, &settings(1.0, aovs));
            for (index, roughness) in ROUGHNESS.into_iter().enumerate() {
                let material = Material {
                    metallic,
                    ..dielectric("ball", Vec3::new(0.9, 0.5, 0.2), roughness)
                };
                let brdf = Brdf::of(&material);
                let pixels: Vec<(usize, usize)> = (index * 40..index * 40 + 40)
                    .step_by(3)
                    .flat_map(|x| (0..40).step_by(3).map(move |y| (x, y)))
                    .filter(|&(x, y)| aov3(&picture, NORMAL, x, y).length() > 0.5)
                    .collect();
                let sums: Vec<[DVec3; 4]> = pixels
                    .par_iter()
                    .map(|&(x, y)| {
                        let n = aov3(&picture, NORMAL, x, y).normalize();
                        let p = aov3(&picture, Aov::Channel(GbufferChannel::Position), x, y);
                        let v = -view.forward.as_dvec3().normalize();
                        let (d, s) = reference::shade(&body, &brdf, p, n, v, 3000);
                        [
                            aov3(&picture, Aov::DirectDiffuse, x, y),
                            aov3(&picture, Aov::DirectSpecular, x, y),
                            d,
                            s,
                        ]
                    })
                    .collect();
                assert!(pixels.len() > 60, "{}", pixels.len());
                let sum = |k: usize| sums.iter().map(|v| v[k].y).sum::<f64>();
                let squares: f64 = sums.iter().map(|v| (v[1].y - v[3].y).powi(2)).sum();
                let (diffuse, specular) = (sum(0) / sum(2).max(1e-30) - 1.0, sum(1) / sum(3) - 1.0);
                let total = (sum(0) + sum(1)) / (sum(2) + sum(3)) - 1.0;
                let rms = (squares * sums.len() as f64).sqrt() / sum(3);
                table += &format!(
                    "{name} metallic {metallic} roughness {roughness}: total {:+.2} %, diffuse {:+.2} %, specular {:+.2} % (rms {:.2} %)\n",
                    total * 100.0,
                    if metallic < 1.0 { diffuse * 100.0 } else { 0.0 },
                    specular * 100.0,
                    rms * 100.0
                );
                worst = worst.max(total.abs()).max(specular.abs());
            }
        }
    }
    println!("{table}worst mean of a sphere: {:.2} %", worst * 100.0);
    assert!(worst < 0.01, "{} %", worst * 100.0);
}

/// Irradiance of a diffuse plane under a light on the device: its diffuse part divided by the
/// Fresnel transmittance.
#[test]
fn irradiance_of_every_shape_is_exact() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let material = dielectric("matte", Vec3::splat(1.0), 1.0);
    let mut worst = 0f64;
    let mut compared = 0;
    for (position, target) in [
        (dvec3(0.1, 1.5, 0.0), DVec3::ZERO),
        (dvec3(0.4, 0.7, 0.2), dvec3(0.1, 0.0, 0.0)),
        (dvec3(1.5, 0.9, -1.0), dvec3(-1.0, 0.5, 0.0)),
        // Clipped by the horizon.
        (dvec3(0.9, 0.2, 0.3), dvec3(0.0, 0.15, 0.0)),
        (dvec3(0.9, -0.1, 0.3), dvec3(0.0, 0.1, 0.0)),
        (dvec3(3.0, 40.0, 0.0), DVec3::ZERO),
    ] {
        for (name, emitter, pose, body) in shapes_around(position, target) {
            let mut builder = SceneBuilder::new("plane");
            builder.floor(4.0, material.clone());
            add_light(&mut builder, emitter, pose);
            let scene = unseen(builder.build().unwrap());
            let view = parallel(dvec3(0.0, 5.0, 0.0), DVec3::ZERO, 1.0, 20.0, (12, 12));
            for (x, y) in [(5, 5), (1, 2), (9, 3), (3, 10), (10, 9)] {
                let p = hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
                let wanted = reference::irradiance_by_area(&body, p, DVec3::Y, 500);
                if wanted < 1e-7 {
                    continue;
                }
                let kept = reference::weighted_by_area(&body, p, DVec3::Y, 500, &|l| {
                    1.0 - dielectric_fresnel(l, DVec3::Y)
                }) / wanted;
                let picture = picture(
                    &mut renderer,
                    &scene,
                    &view,
                    &settings(wanted * kept / PI, vec![Aov::DirectDiffuse]),
                );
                let got = aov3(&picture, Aov::DirectDiffuse, x, y).y * PI / kept;
                // In units of the tolerance: 0.1 %, and 2e-6 lx per nit where hardly anything is
                // above the horizon.
                let error = (got - wanted).abs() / (1e-3 * wanted + 2e-6);
                if error > 1.0 {
                    println!("{name} at {position}, pixel {x} {y}: {got:.7} for {wanted:.7}");
                }
                worst = worst.max(error);
                compared += 1;
            }
        }
    }
    println!("irradiance: worst {worst:.3} of the bound, of {compared}");
    assert!(compared > 90 && worst < guard.slack(), "{worst}");
}

#[test]
fn small_lights_converge_to_point_lights() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut worst = 0f64;
    for roughness in [0.1f32, 0.3, 0.6, 1.0] {
        for radius in [1e-5, 1e-4, 1e-3, 3e-3, 1e-2] {
            let mut values = Vec::new();
            for emitter in [Emitter::Point, Emitter::Sphere { radius }] {
                let mut builder = SceneBuilder::new("plane");
                builder.floor(4.0, dielectric("m", Vec3::splat(0.5), roughness));
                let pose = DMat4::from_translation(dvec3(-0.5, 2.0, 0.0));
                let candela = LightStrength::Candela(sunny16::photometry::Candela(100.0));
                builder.light("lamp", emitter, candela, Vec3::ONE, pose);
                let view = perspective(dvec3(0.7, 2.0, 0.3), DVec3::ZERO, 0.8, 0.01, (8, 8));
                let picture = picture(
                    &mut renderer,
                    &unseen(builder.build().unwrap()),
                    &view,
                    &settings(20.0, vec![]),
                );
                values.push((0..64).map(|i| nits(&picture, i % 8, i / 8).y).collect::<Vec<f64>>());
            }
            let error = values[0]
                .iter()
                .zip(&values[1])
                .map(|(a, b)| (b / a - 1.0).abs())
                .fold(0.0, f64::max);
            println!("roughness {roughness} radius {radius}: {:.4} %", error * 100.0);
            // 1 cm is 0.3 degrees: a highlight of alpha 0.01 is no wider.
            if radius < 5e-3 || roughness > 0.2 {
                worst = worst.max(error);
            }
        }
    }
    assert!(worst < 5e-3, "{} %", worst * 100.0);
}

/// A light's lumens, from the illuminance on the six faces of a box around it on the device.
fn measured_flux(
    renderer: &mut sunny16::frame::Renderer,
    emitter: Emitter,
    strength: LightStrength,
) -> f64 {
    const SIDE: u32 = 48;
    let half = 1.0;
    let mut flux = 0.0;
    let material = dielectric("matte", Vec3::ONE, 1.0);
    for face in 0..6 {
        let sign = if face % 2 == 0 { 1.0 } else { -1.0 };
        let out = [DVec3::X, DVec3::Y, DVec3::Z][face / 2] * sign;
        let mut builder = SceneBuilder::new("box");
        // The plane faces +Y: turned to face inwards.
        let to_inside = glam::DQuat::from_rotation_arc(DVec3::Y, -out);
        builder.place(
            shapes::plane(Vec2::splat(2.2), 1, 1),
            material.clone(),
            DMat4::from_rotation_translation(to_inside, out * half),
        );
        builder.light(
            "lamp",
            emitter,
            strength,
            Vec3::ONE,
            look_at_transform(DVec3::ZERO, dvec3(0.3, -1.0, 0.2)),
        );
        let view = parallel(DVec3::ZERO, out, half as f32, 4.0, (SIDE, SIDE));
        let exposure = settings(200.0, vec![Aov::DirectDiffuse]);
        let picture = picture(renderer, &unseen(builder.build().unwrap()), &view, &exposure);
        for y in 0..SIDE as usize {
            for x in 0..SIDE as usize {
                let p = hit_plane(&view, x, y, out * half, -out);
                // Seen along the normal, where the Fresnel reflectance is small, and known for the
                // center of the light.
                let kept = 1.0 - dielectric_fresnel(-p.normalize(), -out);
                flux += aov3(&picture, Aov::DirectDiffuse, x, y).y * PI / kept;
            }
        }
    }
    flux * (2.0 * half / f64::from(SIDE)).powi(2)
}

#[test]
fn flux_of_every_light_matches_its_lumens() {
    use sunny16::photometry::{Cone, Lumen, SpotFlux};
    let Some((_guard, mut renderer)) = renderer() else { return };
    let cone = Cone::new(0.35, 0.6).unwrap();
    for (name, emitter) in [
        ("point", Emitter::Point),
        ("spot", Emitter::Spot { cone, flux: SpotFlux::Exact }),
        ("sphere", Emitter::Sphere { radius: 0.3 }),
        ("disk", Emitter::Disk { radius: 0.3, sides: Sides::One }),
        ("disk, two sides", Emitter::Disk { radius: 0.3, sides: Sides::Two }),
        ("rectangle", Emitter::Rectangle { width: 0.7, height: 0.3, sides: Sides::One }),
        ("rectangle, two sides", Emitter::Rectangle { width: 0.7, height: 0.3, sides: Sides::Two }),
        ("tube", Emitter::Tube { radius: 0.1, length: 0.8 }),
    ] {
        let flux = measured_flux(&mut renderer, emitter, LightStrength::Lumens(Lumen(1000.0)));
        println!("{name}: {flux:.2} lm of 1000");
        assert!((flux / 1000.0 - 1.0).abs() < 5e-3, "{name}: {flux} lm");
    }
}

/// An emissive ball of 1280 triangles in a box. Its walls receive all the light it emits, and each
/// point receives that of a sphere, though far fewer lights represent it.
#[test]
fn emissive_ball_of_many_triangles_conserves_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    const SIDE: u32 = 10;
    let (radius, nits, half) = (0.3f32, 100.0f32, 1.0);
    let ball = shapes::icosphere(radius, 3);
    let corner = |index: u32| ball.positions[index as usize].as_dvec3();
    let area: f64 = (ball.indices.chunks_exact(3))
        .map(|t| (corner(t[1]) - corner(t[0])).cross(corner(t[2]) - corner(t[0])).length() / 2.0)
        .sum();
    assert_eq!(ball.indices.len(), 3 * 1280);
    let sent = PI * f64::from(nits) * area;
    for budget in [None, Some(100)] {
        let (mut flux, mut worst) = (0.0, 0f64);
        for face in 0..6 {
            let sign = if face % 2 == 0 { 1.0 } else { -1.0 };
            let out = [DVec3::X, DVec3::Y, DVec3::Z][face / 2] * sign;
            let mut builder = SceneBuilder::new("box");
            let to_inside = glam::DQuat::from_rotation_arc(DVec3::Y, -out);
            builder.place(
                shapes::plane(Vec2::splat(2.2), 1, 1),
                dielectric("matte", Vec3::ONE, 1.0),
                DMat4::from_rotation_translation(to_inside, out * half),
            );
            let glow =
                Material { emission: Vec3::splat(nits), ..dielectric("glow", Vec3::ZERO, 1.0) };
            let glow = builder.add_material(glow);
            let mesh = builder.add_mesh("ball", ball.clone(), glow);
            builder.instance("ball", mesh, DMat4::IDENTITY);
            let mut scene = builder.build().unwrap();
            (scene.emissive_lights, scene.max_emissive_lights) = (true, budget);
            let view = parallel(out * 0.5, out, half as f32, 4.0, (SIDE, SIDE));
            let plain = settings(20.0, vec![Aov::DirectDiffuse]);
            // Its own mesh does not shadow it.
            let shadows =
                ShadowSettings { method: ShadowMethod::Traced, samples: 1, ..plain.shadows };
            let seen = picture(&mut renderer, &scene, &view, &RenderSettings { shadows, ..plain });
            for y in 0..SIDE as usize {
                for x in 0..SIDE as usize {
                    let p = hit_plane(&view, x, y, out * half, -out);
                    let kept = 1.0 - dielectric_fresnel(-p.normalize(), -out);
                    let got = aov3(&seen, Aov::DirectDiffuse, x, y).y * PI / kept;
                    let want = sent / (4.0 * PI * p.length_squared()) * out.dot(p.normalize());
                    worst = worst.max((got / want - 1.0).abs());
                    flux += got;
                }
            }
        }
        flux *= (2.0 * half / f64::from(SIDE)).powi(2);
        println!("{budget:?}: {flux:.3} lm of {sent:.3}, worst place {:.3} %", 100.0 * worst);
        assert!((flux / sent - 1.0).abs() < 5e-3, "{budget:?}: {flux} of {sent}");
        assert!(worst < 0.01, "{budget:?}: {worst}");
    }
}

#[test]
fn area_lights_are_visible_at_their_luminance_from_the_front() {
    use sunny16::photometry::Lumen;
    let Some((_guard, mut renderer)) = renderer() else { return };
    // Luminance is flux over pi and area: 1000 lm from a sphere of 0.1 m are 2533.03 nit, from a
    // disk of 0.1 m 10132.1.
    for (emitter, want, back) in [
        (Emitter::Sphere { radius: 0.1 }, 2533.03, 2533.03),
        (Emitter::Disk { radius: 0.1, sides: Sides::One }, 10132.1, 0.0),
        (Emitter::Disk { radius: 0.1, sides: Sides::Two }, 5066.06, 5066.06),
        (Emitter::Rectangle { width: 1.0, height: 1.0, sides: Sides::One }, 318.31, 0.0),
        (Emitter::Tube { radius: 0.1, length: 0.5 }, 723.72, 723.72),
    ] {
        let mut builder = SceneBuilder::new("lamp");
        builder.light(
            "lamp",
            emitter,
            LightStrength::Lumens(Lumen(1000.0)),
            Vec3::ONE,
            DMat4::IDENTITY,
        );
        let scene = builder.build().unwrap();
        for (z, want) in [(-3.0, want), (3.0, back)] {
            let view = parallel(dvec3(0.0, 0.0, z), DVec3::ZERO, 0.6, 10.0, (241, 241));
            let seen = picture(&mut renderer, &scene, &view, &settings(3000.0, vec![]));
            let got = nits(&seen, 120, 120).y;
            assert!(
                (got - want).abs() <= 1.5e-3 * want,
                "{emitter:?} from {z}: {got} for {want} nit"
            );
            let area = (0..241 * 241).filter(|i| nits(&seen, i % 241, i / 241).y > 0.0).count()
                as f64
                * (1.2f64 / 241.0).powi(2);
            let projected = emitter.projected_area().unwrap();
            if want > 0.0 {
                assert!(
                    (area / projected - 1.0).abs() < 0.02,
                    "{emitter:?}: {area} m2 seen of {projected}"
                );
            }
        }
        let hidden = unseen(scene);
        let view = parallel(dvec3(0.0, 0.0, -3.0), DVec3::ZERO, 0.6, 10.0, (241, 241));
        assert_eq!(
            nits(&picture(&mut renderer, &hidden, &view, &settings(3000.0, vec![])), 120, 120).y,
            0.0
        );
    }
}

/// Nothing is NaN, infinite or negative at any size and position, and surfaces that face away stay
/// dark.
#[test]
fn extreme_lights_give_finite_pixels() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let sizes = [1e-6, 1e-3, 0.2, 3.0, 1e4, 1e9];
    let mut pictures = 0;
    for &a in &sizes {
        for emitter in [
            Emitter::Sphere { radius: a },
            Emitter::Disk { radius: a, sides: Sides::Two },
            Emitter::Rectangle { width: a, height: 1e-6, sides: Sides::Two },
            Emitter::Rectangle { width: a, height: a, sides: Sides::One },
            Emitter::Tube { radius: 1e-6, length: a },
            Emitter::Tube { radius: a, length: 0.3 },
        ] {
            let mut builder = SceneBuilder::new("extreme");
            for (index, roughness) in [0.0, 0.3, 1.0].into_iter().enumerate() {
                let material = dielectric("ball", Vec3::new(1.0, 0.5, 0.0), roughness);
                builder.place(
                    shapes::uv_sphere(0.4, 24, 12),
                    Material { metallic: index as f32 * 0.5, ..material },
                    dvec3(index as f64 - 1.0, 0.0, 0.0),
                );
            }
            let floor = builder.add_material(dielectric("floor", Vec3::splat(0.5), 0.2));
            let plane = builder.add_mesh("floor", shapes::plane(Vec2::splat(4.0), 1, 1), floor);
            builder.instance("floor", plane, DMat4::from_translation(dvec3(0.0, -0.4, 0.0)));
            // In the center of a ball, touching the floor, at the camera, in the floor's plane, far
            // away.
            for at in [
                DVec3::ZERO,
                dvec3(0.5, -0.4, 0.3),
                dvec3(0.0, 1.0, 3.0),
                dvec3(-5.0, -0.4, 0.0),
                dvec3(1e5, 1e6, 0.0),
            ] {
                add_light(&mut builder, emitter, look_at_transform(at, dvec3(0.1, -0.4, 0.2)));
            }
            let scene = unseen(builder.build().unwrap());
            let view = perspective(dvec3(0.0, 1.0, 3.0), DVec3::ZERO, 0.9, 0.01, (32, 20));
            let wanted = vec![Aov::DirectDiffuse, Aov::DirectSpecular];
            let seen = picture(&mut renderer, &scene, &view, &settings(3.0, wanted));
            for i in 0..32 * 20 {
                let (x, y) = (i % 32, i / 32);
                for value in [
                    nits(&seen, x, y),
                    aov3(&seen, Aov::DirectDiffuse, x, y),
                    aov3(&seen, Aov::DirectSpecular, x, y),
                ] {
                    // Five lights of a nit make no surface brighter than white under five full
                    // skies.
                    assert!(
                        value.is_finite() && value.min_element() >= 0.0,
                        "{emitter:?} at {x} {y}: {value}"
                    );
                    assert!(value.max_element() < 6.0, "{emitter:?} at {x} {y}: {value}");
                }
            }
            pictures += 1;
        }
    }
    assert_eq!(pictures, 36);
}

#[test]
fn emissive_meshes_match_rectangle_and_triangle_lights() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let screen = Material {
        emission: Vec3::new(2.0, 1.0, 0.5),
        ..dielectric("screen", Vec3::splat(0.5), 1.0)
    };
    let corners = [dvec3(-0.4, 0.8, -0.3), dvec3(0.6, 0.9, -0.5), dvec3(0.1, 1.3, 0.4)];
    let mut triangle = shapes::plane(Vec2::ONE, 1, 1);
    triangle.positions = corners.iter().map(|p| p.as_vec3()).collect();
    triangle.indices = vec![0, 1, 2];
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize().as_vec3();
    triangle.normals = vec![normal; 3];
    triangle.uv0.truncate(3);
    triangle.tangents.clear();
    triangle.uv1.clear();
    triangle.colors.clear();
    for (two_sided, body) in [
        (false, Body::Triangle { corners, two_sided: false }),
        (true, Body::Triangle { corners, two_sided: true }),
    ] {
        let mut builder = SceneBuilder::new("screen");
        builder.place(
            triangle.clone(),
            Material { double_sided: two_sided, ..screen.clone() },
            DMat4::IDENTITY,
        );
        let matte = builder.add_material(dielectric("matte", Vec3::ONE, 1.0));
        for (y, turn) in [(0.0, DMat4::IDENTITY), (2.5, DMat4::from_rotation_x(PI))] {
            builder.place(
                shapes::plane(Vec2::splat(3.0), 1, 1),
                matte,
                DMat4::from_translation(dvec3(0.0, y, 0.0)) * turn,
            );
        }
        let mut scene = builder.build().unwrap();
        scene.emissive_lights = true;
        let mut lit = 0;
        for (from, plane, facing_up) in
            [(dvec3(0.0, 0.4, 0.0), 0.0, 1.0), (dvec3(0.0, 2.2, 0.0), 2.5, -1.0)]
        {
            let view = parallel(from, dvec3(0.0, plane, 0.0), 1.0, 2.0, (8, 8));
            let seen =
                picture(&mut renderer, &scene, &view, &settings(0.2, vec![Aov::DirectDiffuse]));
            for i in 0..64 {
                let (x, y) = (i % 8, i / 8);
                let p = hit_plane(&view, x, y, DVec3::Y * plane, DVec3::Y);
                let want =
                    reference::irradiance_by_area(&body, p, DVec3::Y * facing_up, 60) / PI * 0.96;
                let got = aov3(&seen, Aov::DirectDiffuse, x, y);
                lit += usize::from(want > 0.0);
                for (got, emitted) in got.to_array().into_iter().zip([2.0, 1.0, 0.5]) {
                    // The Fresnel weight along the normal is below 0.2 %.
                    assert!(
                        (got - want * emitted).abs() < 4e-3 * want * emitted + 1e-6,
                        "{got} for {}",
                        want * emitted
                    );
                }
            }
        }
        assert_eq!(lit, if two_sided { 128 } else { 64 });
        // It does not light itself.
        let view = parallel(dvec3(0.1, 0.3, 0.0), dvec3(0.1, 1.0, -0.1), 0.2, 1.5, (8, 8));
        let wanted = vec![Aov::DirectDiffuse, Aov::Emission];
        let seen = picture(&mut renderer, &scene, &view, &settings(2.0, wanted));
        let of_screen: Vec<usize> =
            (0..64).filter(|i| aov3(&seen, Aov::Emission, i % 8, i / 8).x > 0.0).collect();
        assert!(of_screen.len() > 20, "{}", of_screen.len());
        assert!(
            of_screen.iter().all(|i| aov3(&seen, Aov::DirectDiffuse, i % 8, i / 8) == DVec3::ZERO)
        );
    }
}

/// Light lists cull lights by candela over the squared distance to their bounding sphere. No shape
/// may send more light than that to a point outside of the sphere, from any side and however near.
#[test]
fn no_shape_exceeds_the_bound_of_clustered_lights() {
    let mut tightest = 0f64;
    let mut state = 1u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    for _ in 0..60 {
        for emitter in [
            Emitter::Sphere { radius: 0.3 },
            Emitter::Disk { radius: 0.3 + next(), sides: Sides::Two },
            Emitter::Rectangle { width: 0.1 + next(), height: 0.1 + next(), sides: Sides::Two },
            Emitter::Tube { radius: 0.02 + 0.3 * next(), length: 0.05 + next() },
        ] {
            let direction = dvec3(next() - 0.5, next() - 0.5, next() - 0.5).normalize();
            let (emitter, _, body) = lamp(emitter, DVec3::ZERO, dvec3(0.2, -1.0, 0.3));
            let reach = emitter.bounding_radius();
            let distance = reach * (1.05 + 3.0 * next() * next());
            let from = direction * distance;
            // The solid angle: no part of the light is behind a plane that faces its center.
            let seen = reference::weighted_by_area(&body, from, -direction, 120, &|l| {
                1.0 / l.dot(-direction)
            });
            let bound = emitter.projected_area().unwrap() / (distance - reach).powi(2);
            assert!(seen <= bound, "{emitter:?} at {distance}: {seen} sr, bound {bound}");
            tightest = tightest.max(seen / bound);
        }
    }
    println!("at most {:.1} % of the bound", tightest * 100.0);
    assert!(tightest > 0.3);
}

/// Mean of D V n.l over a sun's disk (1/sr, of `E / (pi sin^2 r)`), by uniform solid angles; GGX of
/// `common` with the roughness.
fn mirrored(v: DVec3, middle: DVec3, radius: f64, roughness: f64) -> f64 {
    let (rings, around) = (160, 80);
    let whole = 2.0 * (radius / 2.0).sin().powi(2);
    let (x, y) = (middle.any_orthonormal_vector(), middle.cross(middle.any_orthonormal_vector()));
    let alpha = (roughness * roughness).max(0.002);
    let mut sum = 0.0;
    for i in 0..rings {
        let low = whole * (f64::from(i) + 0.5) / f64::from(rings);
        for j in 0..around {
            let (sin, cos) = (2.0 * PI * (f64::from(j) + 0.5) / f64::from(around)).sin_cos();
            let l = middle * (1.0 - low) + (x * cos + y * sin) * (low * (2.0 - low)).sqrt();
            let h = (l + v).normalize();
            if l.y > 0.0 {
                sum += crate::common::distribution(h.y, alpha)
                    * crate::common::visibility(l.y, v.y, alpha)
                    * l.y;
            }
        }
    }
    sum / f64::from(rings * around) * 2.0 * PI * whole
}

/// Specular reflection of a sun of one nit by a horizontal surface, for a sun 5 degrees wide and
/// the real one. Compared with the lobe integrated over the disk, in the opaque, blended and coated
/// passes. A mirror shows the disk itself, and is nowhere brighter.
#[test]
fn sun_highlights_match_the_lobe_over_the_disk() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let middle = dvec3(0.0, 1.0, -1.0).normalize();
    for (pass, roughness) in [
        ("opaque", 0.0f32),
        ("opaque", 0.05),
        ("opaque", 0.3),
        ("blended", 0.05),
        ("coated", 0.0),
        ("coated", 0.3),
    ] {
        let mut material = Material { metallic: 1.0, ..dielectric("metal", Vec3::ONE, roughness) };
        let coated = pass == "coated";
        let mut stored = f64::from(roughness);
        match pass {
            "opaque" => stored = Brdf::of(&material).roughness,
            "blended" => material.alpha = AlphaMode::Blend,
            _ => {
                material = dielectric("coated", Vec3::ZERO, 1.0);
                material.clearcoat = Clearcoat { factor: 1.0, roughness, ..Clearcoat::default() };
            }
        }
        for radius in [2.5f64, 0.2666].map(f64::to_radians) {
            let mut builder = SceneBuilder::new("mirror");
            builder.floor(10.0, material.clone());
            let sun = Emitter::Sun { angular_radius: radius };
            builder.light("sun", sun, ONE_NIT, Vec3::ONE, look_at_transform(DVec3::ZERO, -middle));
            let scene = builder.build().unwrap();
            let size = 32;
            let view = perspective(
                dvec3(0.0, 2.0, 2.0),
                DVec3::ZERO,
                (8.0 * radius) as f32,
                0.01,
                (size, size),
            );
            let picture = picture(&mut renderer, &scene, &view, &settings(1.0, Vec::new()));
            let pixels: Vec<(usize, usize)> =
                (0..size as usize).flat_map(|x| (0..size as usize).map(move |y| (x, y))).collect();
            let wants: Vec<f64> = pixels
                .par_iter()
                .map(|&(x, y)| {
                    let v = -crate::common::pixel_ray(&view, x, y).1;
                    let lobe = mirrored(v, middle, radius, stored);
                    if !coated {
                        return lobe;
                    }
                    // KHR_materials_clearcoat: the coat's Fresnel term is at the view angle; the
                    // base below has roughness 1.
                    let coat = crate::common::schlick(0.04, v.y);
                    let base = crate::common::schlick(0.04, v.dot((v + middle).normalize()));
                    coat * lobe + (1.0 - coat) * base * mirrored(v, middle, radius, 1.0)
                })
                .collect();
            let gots: Vec<f64> = pixels.iter().map(|&(x, y)| nits(&picture, x, y).y).collect();
            // The coat's reflection at the upper edge of the picture, the most grazing view.
            let edge = -crate::common::pixel_ray(&view, size as usize / 2, 0).1;
            let reflects = if coated { crate::common::schlick(0.04, edge.y) } else { 1.0 };
            let peak = gots.iter().copied().fold(0.0, f64::max);
            let off =
                gots.iter().zip(&wants).map(|(got, want)| (got - want).abs()).fold(0.0, f64::max);
            let (sum, want) = (gots.iter().sum::<f64>(), wants.iter().sum::<f64>());
            println!(
                "{pass}, roughness {roughness}, {:.3} degrees: peak {peak:.4} nit, off by {off:.4} at most, sum {:+.2} %",
                2.0 * radius.to_degrees(),
                (sum / want - 1.0) * 100.0
            );
            assert!(peak < 1.001 * reflects, "brighter than what it mirrors: {peak}");
            assert!(off < 0.02 * reflects, "{pass} {roughness} {radius}: {off}");
            assert!(
                (sum / want - 1.0).abs() < 0.01,
                "{pass} {roughness} {radius}: {sum}, not {want}"
            );
            if roughness == 0.0 && radius > 0.01 {
                assert!(
                    peak > if coated { 0.04 } else { 0.985 },
                    "a mirror shows the disk: {peak}"
                );
            }
        }
    }
}

/// A floor towards a sun of 20 degrees on its horizon. Where the disk contains the direction away
/// from the viewer, its half vectors are all around. The lobe then has no closed form, only about
/// the same brightness.
#[test]
fn grazing_highlights_of_wide_suns_match_their_lobe() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let (radius, middle) = (10f64.to_radians(), DVec3::NEG_Z);
    for roughness in [0.5f32, 1.0] {
        let material = Material { metallic: 1.0, ..dielectric("metal", Vec3::ONE, roughness) };
        let stored = Brdf::of(&material).roughness;
        let mut builder = SceneBuilder::new("floor");
        builder.floor(10.0, material);
        let sun = Emitter::Sun { angular_radius: radius };
        builder.light("sun", sun, ONE_NIT, Vec3::ONE, look_at_transform(DVec3::ZERO, -middle));
        let scene = builder.build().unwrap();
        let view = perspective(dvec3(0.0, 0.1, 4.5), dvec3(0.0, 0.0, 3.4), 0.14, 0.01, (32, 32));
        let picture = picture(&mut renderer, &scene, &view, &settings(1.0, Vec::new()));
        let pixels: Vec<(usize, usize)> =
            (0..32).flat_map(|x| (0..32).map(move |y| (x, y))).collect();
        let wants: Vec<f64> = pixels
            .par_iter()
            .map(|&(x, y)| {
                mirrored(-crate::common::pixel_ray(&view, x, y).1, middle, radius, stored)
            })
            .collect();
        let gots: Vec<f64> = pixels.iter().map(|&(x, y)| nits(&picture, x, y).y).collect();
        let brightest = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
        let (peak, right) = (brightest(&gots), brightest(&wants));
        let ratio = gots.iter().sum::<f64>() / wants.iter().sum::<f64>();
        println!(
            "roughness {roughness}: peak {peak:.4} nit, right {right:.4}; sum {ratio:.3} of it"
        );
        assert!(
            peak < 2.0 * right && (0.6..1.4).contains(&ratio),
            "{roughness}: {peak} {right} {ratio}"
        );
    }
}
