//! The glTF BRDF on the device against the double-precision formula in `common`, over roughness,
//! metallic and angles.
//!
//! The G-buffer quantizes: roughness to 12 bits (0.1 becomes 410/4095, which changes the peak of
//! its highlight, 1/alpha^2, by 0.5 %), metallic to 8 bits, base color to 12 bits of its square
//! root, normals to twice 16 bits. Storage is not part of the BRDF, so the expectation uses the
//! parameters as stored; `tests/gpu/frame.rs` bounds their error. What remains is single precision
//! and half floats (0.1 %).

use crate::common::{
    Brdf, NORMAL, Place, aov, aov3, distribution, exposed, gpu, nits, parallel, picture, pixel_of,
    schlick, visibility,
};
use glam::{DMat4, DQuat, DVec3, EulerRot, Vec2, Vec3};
use sunny16::{
    frame::{Aov, RenderSettings},
    passes::gbuffer_channel::GbufferChannel,
    photometry::Lux,
    scene::{
        Material,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    },
};

const ROUGHNESS: usize = 10;
const METALLIC: [f32; 3] = [0.0, 0.5, 1.0];

fn materials() -> Vec<Material> {
    let mut all = Vec::new();
    for metallic in METALLIC {
        for step in 1..=ROUGHNESS {
            let material = dielectric("grid", Vec3::new(0.9, 0.45, 0.08), step as f32 / 10.0);
            all.push(Material { metallic, ..material });
        }
    }
    all
}

/// Position of a tile of the grid before the rotation.
fn place(index: usize) -> DVec3 {
    DVec3::new((index % ROUGHNESS) as f64 - 4.5, 0.0, ((index / ROUGHNESS) as f64 - 1.0) * 3.0)
}

/// Renders the grid of tiles, rotated as a whole, at all pairs of angles; returns the maximum
/// relative error.
fn worst_error(turn: DQuat) -> (f64, usize) {
    let Some(guard) = gpu() else { return (0.0, usize::MAX) };
    let mut renderer = guard.renderer();
    let materials = materials();
    let (mut worst, mut compared) = (0f64, 0);
    let mut where_worst = String::new();
    for (light_tilt, around) in [
        (0.0f64, 0.0f64),
        (25.0, 180.0),
        (25.0, 0.0),
        (50.0, 180.0),
        (50.0, 75.0),
        (78.0, 180.0),
        (78.0, 10.0),
    ] {
        let spherical = |tilt: f64, around: f64| {
            let (sin, cos) = tilt.to_radians().sin_cos();
            turn * DVec3::new(sin * around.to_radians().cos(), cos, sin * around.to_radians().sin())
        };
        let l = spherical(light_tilt, around);
        let mut builder = SceneBuilder::new("grid");
        for (index, material) in materials.iter().enumerate() {
            builder.place(
                shapes::plane(Vec2::new(0.9, 2.9), 1, 1),
                material.clone(),
                DMat4::from_quat(turn) * DMat4::from_translation(place(index)),
            );
        }
        builder.sun("sun", Lux(1.0), Vec3::ONE, -l);
        let scene = builder.build().unwrap();
        for view_tilt in [0.0, 25.0, 50.0, 78.0] {
            let v = spherical(view_tilt, 0.0);
            let view = parallel(v * 20.0, DVec3::ZERO, 5.5, 40.0, (96, 96));
            // Highlights of roughness 0.1 reach 1/(4 pi alpha^2) = 800 nit and more, lobes at
            // grazing views fall to 1e-6. The exposure keeps both within normal half floats.
            let settings = RenderSettings {
                aovs: vec![
                    Aov::DirectDiffuse,
                    Aov::DirectSpecular,
                    Aov::Channel(GbufferChannel::Roughness),
                    NORMAL,
                ],
                ..exposed(1.0, 8.0)
            };
            let picture = picture(&mut renderer, &scene, &view, &settings);
            for (index, material) in materials.iter().enumerate() {
                let (x, y) = pixel_of(&view, turn * place(index)).unwrap();
                let stored = Brdf::of(material);
                let roughness = aov(&picture, Aov::Channel(GbufferChannel::Roughness), x, y)[0];
                assert!(
                    (f64::from(roughness) - stored.roughness).abs() < 1e-6,
                    "patch {index} is not at {x} {y}: {roughness} for {}",
                    stored.roughness
                );
                let n = aov3(&picture, NORMAL, x, y);
                assert!(n.angle_between(turn * DVec3::Y) < 1e-4, "{n}");
                // The device has the light's and the camera's direction in single precision.
                let (l, v) = (l.as_vec3().as_dvec3(), -view.forward.as_dvec3());
                let (diffuse, specular) = stored.evaluate(n, l, v);
                for (got, want) in [
                    (nits(&picture, x, y), diffuse + specular),
                    (aov3(&picture, Aov::DirectDiffuse, x, y), diffuse),
                    (aov3(&picture, Aov::DirectSpecular, x, y), specular),
                ] {
                    for channel in 0..3 {
                        compared += 1;
                        let (got, want) = (got[channel], want[channel]);
                        // Half floats below 6e-5 have a uniform spacing of 6e-8: 6e-8 / 8 in nits.
                        let error = ((got - want).abs() - 8e-9).max(0.0) / want.max(1e-30);
                        if error > worst {
                            worst = error;
                            where_worst = format!(
                                "light {light_tilt} {around} view {view_tilt} roughness {} metallic {}: {got} for {want}",
                                material.roughness, material.metallic
                            );
                        }
                    }
                }
            }
        }
    }
    println!("BRDF: {:.4} % over {compared} values; {where_worst}", worst * 100.0);
    (worst, compared)
}

#[test]
fn gltf_brdf_matches_the_formula() {
    let (worst, compared) = worst_error(DQuat::IDENTITY);
    assert!(worst < 5e-3, "{} %", worst * 100.0);
    assert!(compared > 5000);
}

#[test]
fn gltf_brdf_is_independent_of_orientation() {
    let (worst, compared) = worst_error(DQuat::from_euler(EulerRot::YXZ, 0.7, 1.1, -0.4));
    assert!(worst < 5e-3, "{} %", worst * 100.0);
    assert!(compared > 5000);
}

/// Values of D, V and F computed by a separate script.
#[test]
fn the_host_formula_has_the_check_values() {
    let near = |got: f64, want: f64| {
        assert!((got - want).abs() < 1e-6 * want.max(1.0), "{got} for {want}")
    };
    near(distribution(1.0, 0.25), 5.092_958);
    assert!((distribution(0.9, 0.25) - 0.343_596).abs() < 1e-6);
    near(visibility(1.0, 1.0, 0.25), 0.25);
    near(visibility(0.5, 0.5, 0.25), 0.917_663);
    near(distribution(0.3, 1.0), std::f64::consts::FRAC_1_PI);
    near(schlick(0.04, 0.5), 0.07);
}

/// Numerical directional albedo of the specular lobe with F = 1 (metal of base 1, where F = 1 at
/// every angle).
#[test]
fn the_host_formula_has_the_albedo_and_is_reciprocal() {
    let albedo = |roughness: f64, mu: f64| {
        let brdf = Brdf { base: DVec3::ONE, metallic: 1.0, roughness };
        let v = DVec3::new((1.0 - mu * mu).sqrt(), mu, 0.0);
        let steps = 400;
        let mut sum = 0.0;
        for i in 0..steps {
            let cos = (f64::from(i) + 0.5) / f64::from(steps);
            let sin = (1.0 - cos * cos).sqrt();
            for j in 0..steps {
                let phi = (f64::from(j) + 0.5) / f64::from(steps) * std::f64::consts::TAU;
                let l = DVec3::new(sin * phi.cos(), cos, sin * phi.sin());
                sum += brdf.total(DVec3::Y, l, v).x;
            }
        }
        sum * std::f64::consts::TAU / f64::from(steps * steps)
    };
    for (roughness, at_1, at_half) in
        [(1.0, 1.0 - 2f64.ln(), 0.4507), (0.7, 0.6977, 0.7040), (0.5, 0.9158, 0.8573)]
    {
        assert!(
            (albedo(roughness, 1.0) - at_1).abs() < 1e-3,
            "{roughness}: {}",
            albedo(roughness, 1.0)
        );
        assert!(
            (albedo(roughness, 0.5) - at_half).abs() < 1e-3,
            "{roughness}: {}",
            albedo(roughness, 0.5)
        );
    }
    let brdf = Brdf { base: DVec3::new(0.8, 0.3, 0.1), metallic: 0.4, roughness: 0.4 };
    let (a, b) = (DVec3::new(0.3, 0.8, 0.1).normalize(), DVec3::new(-0.7, 0.4, 0.5).normalize());
    let there = brdf.total(DVec3::Y, a, b) / a.y;
    let back = brdf.total(DVec3::Y, b, a) / b.y;
    assert!((there - back).abs().max_element() < 1e-12);
}
