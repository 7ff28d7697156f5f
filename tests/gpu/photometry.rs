//! Light in absolute units through the whole pipeline: read-back nits against closed forms.
//!
//! The picture has half floats (11 significant bits). A single value is accurate to 2^-11 = 0.05 %
//! where the driver rounds to nearest, and to 2^-10 = 0.1 % where it truncates, as Mesa's software
//! driver does. The bound of 0.1 % would leave nothing for the lighting where the significand is
//! small. Each check therefore exposes its pixel so that the significand lies in the upper half.

use std::f64::consts::PI;

use crate::common::{
    Brdf, Folder, Place, aov3, exposure_for, hit_plane, nits, perspective, picture, relative,
    renderer, unclustered,
};
use glam::{DVec3, Vec3};
use sunny16::{
    camera::Exposure,
    frame::{Aov, RenderSettings, Renderer},
    gpu_scene::View,
    photometry::{Candela, Lux},
    scene::{
        Material, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        write_glb::write_glb,
    },
};

/// A plane of a material with one light; the plane is `size` meters wide and faces +Y.
fn lit_plane(material: Material, size: f32, light: impl FnOnce(&mut SceneBuilder)) -> Scene {
    let mut builder = SceneBuilder::new("plane");
    builder.floor(size, material);
    light(&mut builder);
    builder.build().unwrap()
}

fn diffuse_material(reflectance: f32) -> Material {
    dielectric("matte", Vec3::splat(reflectance), 1.0)
}

/// A point on the plane: the intersection of a pixel's ray, and the unit vector to the camera.
fn on_plane(view: &View, x: usize, y: usize) -> (DVec3, DVec3) {
    let point = hit_plane(view, x, y, DVec3::ZERO, DVec3::Y);
    (point, (view.position - point).normalize())
}

/// Every pixel evaluates every light; culling by light lists has its own test in
/// `tests/gpu/frame.rs`.
fn every_lamp(exposure: Exposure) -> RenderSettings {
    let light_lists = unclustered();
    RenderSettings { exposure, clustered_lights: light_lists, ..RenderSettings::default() }
}

/// Measures one pixel at an exposure that puts it at 0.9 of white: read-back nits, and their
/// diffuse part.
fn measure(
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    at: (usize, usize),
    want: DVec3,
) -> (DVec3, DVec3) {
    let exposure = exposure_for(want.max_element(), 0.95);
    let settings = RenderSettings { aovs: vec![Aov::DirectDiffuse], ..every_lamp(exposure) };
    let picture = picture(renderer, scene, view, &settings);
    (nits(&picture, at.0, at.1), aov3(&picture, Aov::DirectDiffuse, at.0, at.1))
}

const SIZE: (u32, u32) = (48, 32);
const PIXELS: [(usize, usize); 6] = [(24, 16), (2, 2), (45, 3), (4, 29), (40, 28), (14, 22)];

#[test]
fn point_light_follows_the_inverse_square_law() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let (reflectance, candela) = (0.5, 1000.0);
    let material = diffuse_material(reflectance);
    let brdf = Brdf::of(&material);
    let (mut worst, mut worst_lambert, mut least_cos) = (0f64, 0f64, 1f64);
    for d in [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0] {
        let lamp = DVec3::new(0.0, d, 0.0);
        let scene = lit_plane(material.clone(), 40.0 * d as f32, |builder| {
            builder.point_light_candela("lamp", Candela(candela), Vec3::ONE, lamp);
        });
        let eye = DVec3::new(0.4 * d, 1.3 * d, 0.7 * d);
        let view = perspective(eye, DVec3::new(0.1 * d, 0.0, 0.0), 1.0, (0.01 * d) as f32, SIZE);
        for at in PIXELS {
            let (point, v) = on_plane(&view, at.0, at.1);
            let to = lamp - point;
            let (distance2, l) = (to.length_squared(), to.normalize());
            let illuminance = candela * l.y / distance2;
            let want = brdf.total(DVec3::Y, l, v) * candela / distance2;
            let (got, diffuse) = measure(&mut renderer, &scene, &view, at, want);
            worst = worst.max(relative(got, want));
            least_cos = least_cos.min(l.y);

            // Pure Lambert: rho I cos / (pi d^2). The glTF dielectric scales its diffuse part by (1
            // - F_d(v.h)), its Fresnel transmittance, and nothing else. That factor is known
            // exactly.
            let lambert = f64::from(reflectance) * illuminance / PI;
            let exposed = exposure_for(diffuse.y, 0.95);
            let settings = RenderSettings { aovs: vec![Aov::DirectDiffuse], ..every_lamp(exposed) };
            let again = picture(&mut renderer, &scene, &view, &settings);
            let diffuse = aov3(&again, Aov::DirectDiffuse, at.0, at.1).y;
            let without_fresnel = diffuse / (1.0 - crate::common::dielectric_fresnel(l, v));
            worst_lambert = worst_lambert.max((without_fresnel / lambert - 1.0).abs());
        }
    }
    println!(
        "point lamp: BRDF {:.4} %, Lambert {:.4} %, cosines down to {least_cos:.2}",
        worst * 100.0,
        worst_lambert * 100.0
    );
    assert!(least_cos < 0.8);
    assert!(worst < 1e-3 * guard.slack(), "glTF BRDF: {} %", worst * 100.0);
    assert!(worst_lambert < 1e-3 * guard.slack(), "Lambert: {} %", worst_lambert * 100.0);
}

#[test]
fn sun_gives_its_lux_at_every_incidence() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let material = diffuse_material(0.18);
    let brdf = Brdf::of(&material);
    let view = perspective(DVec3::new(0.5, 3.0, 1.0), DVec3::ZERO, 0.9, 0.01, SIZE);
    let (mut worst, mut worst_lambert) = (0f64, 0f64);
    for lux in [100_000.0, 25_000.0, 0.25] {
        for degrees in [0f64, 20.0, 45.0, 60.0, 80.0, 87.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            // The light's node has its direction in double precision, the device in single.
            let l = DVec3::new(sin * 0.6, cos, sin * 0.8);
            let scene = lit_plane(material.clone(), 20.0, |builder| {
                builder.sun("sun", Lux(lux), Vec3::ONE, -l);
            });
            for at in [PIXELS[0], PIXELS[2], PIXELS[3]] {
                let (_, v) = on_plane(&view, at.0, at.1);
                let want = brdf.total(DVec3::Y, l, v) * lux;
                let (got, _) = measure(&mut renderer, &scene, &view, at, want);
                worst = worst.max(relative(got, want));
                let lambert = 0.18 * lux * cos / PI;
                let fresnel = 1.0 - crate::common::dielectric_fresnel(l, v);
                let settings = RenderSettings {
                    aovs: vec![Aov::DirectDiffuse],
                    ..every_lamp(exposure_for(lambert * fresnel, 0.95))
                };
                let picture = picture(&mut renderer, &scene, &view, &settings);
                let diffuse = aov3(&picture, Aov::DirectDiffuse, at.0, at.1).y;
                worst_lambert = worst_lambert.max((diffuse / fresnel / lambert - 1.0).abs());
            }
        }
    }
    println!("sun: BRDF {:.4} %, Lambert {:.4} %", worst * 100.0, worst_lambert * 100.0);
    assert!(worst < 1e-3 * guard.slack(), "glTF BRDF: {} %", worst * 100.0);
    // Of this, 0.042 % is the G-buffer's: 0.18 is stored as (1737/4095)^2.
    assert!(worst_lambert < 1e-3 * guard.slack(), "Lambert: {} %", worst_lambert * 100.0);
}

#[test]
fn a_spot_has_the_cone_of_khr_lights_punctual() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let material = diffuse_material(0.5);
    let brdf = Brdf::of(&material);
    let candela = 500.0;
    for (inner, outer, tilt) in [(0.2f64, 0.5f64, 0.0f64), (0.0, 0.7, 0.3), (0.45, 0.5, 0.1)] {
        let lamp = DVec3::new(0.2, 2.0, 0.0);
        let along = DVec3::new(tilt.sin(), -tilt.cos(), 0.0);
        let scene = lit_plane(material.clone(), 30.0, |builder| {
            let flux =
                candela * 2.0 * PI * ((1.0 - inner.cos()) + (inner.cos() - outer.cos()) / 3.0);
            let flux = sunny16::photometry::units::Lumen(flux);
            builder.spot_light_lumens(
                "spot",
                flux,
                Vec3::ONE,
                (inner, outer),
                look_at_transform(lamp, lamp + along),
            );
        });
        // The file's angles are single precision.
        let (inner, outer) = (f64::from(inner as f32), f64::from(outer as f32));
        let profile = |cos: f64| {
            let scale = 1.0 / (inner.cos() - outer.cos()).max(0.001);
            (cos * scale - outer.cos() * scale).clamp(0.0, 1.0).powi(2)
        };
        let view = perspective(
            DVec3::new(0.3, 6.0, 0.5),
            DVec3::new(0.5, 0.0, 0.0),
            0.9,
            0.01,
            (160, 100),
        );
        let settings = every_lamp(exposure_for(0.5 * candela / (4.0 * PI), 0.9));
        let picture = picture(&mut renderer, &scene, &view, &settings);
        let (mut inside, mut penumbra, mut outside) = (0, 0, 0);
        let mut worst = 0f64;
        let peak = 0.5 * candela / (4.0 * PI);
        for y in (0..100).step_by(2) {
            for x in (0..160).step_by(2) {
                let (point, v) = on_plane(&view, x, y);
                let to = lamp - point;
                let l = to.normalize();
                let cos = (-l).dot(along);
                let got = nits(&picture, x, y);
                let want =
                    brdf.total(DVec3::Y, l, v) * candela * profile(cos) / to.length_squared();
                if cos > inner.cos() {
                    inside += 1;
                } else if cos > outer.cos() {
                    penumbra += 1;
                } else if cos < outer.cos() - 1e-6 * guard.slack().powi(2) {
                    outside += 1;
                    assert_eq!(got, DVec3::ZERO, "light outside of the cone");
                }
                // Where the cone fades out, single precision of its cosine (6e-8) is amplified by
                // the slope. Below a thousandth of the beam, the bound is absolute: 5e-6 of the
                // beam.
                if want.y > 1e-3 * peak {
                    worst = worst.max(relative(got, want));
                } else {
                    assert!((got.y - want.y).abs() < 5e-6 * guard.slack() * peak, "{got} {want}");
                }
            }
        }
        println!(
            "spot {inner:.2} {outer:.2}: {:.4} % over {inside} inside, {penumbra} in the penumbra, {outside} outside",
            worst * 100.0
        );
        assert!(worst < 5e-3 * guard.slack(), "{} %", worst * 100.0);
        assert!((inside > 20 || inner == 0.0) && penumbra > 20 && outside > 200);
    }
}

#[test]
fn a_range_windows_by_the_specification() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let material = diffuse_material(0.5);
    let brdf = Brdf::of(&material);
    let (candela, range) = (100.0, 10.0);
    let mut worst = 0f64;
    for d in [1.0, 5.0, 8.0, 9.0, 9.9, 10.5] {
        let lamp = DVec3::new(0.0, d, 0.0);
        let mut scene = lit_plane(material.clone(), 30.0, |builder| {
            builder.point_light_candela("lamp", Candela(candela), Vec3::ONE, lamp);
        });
        scene.lights[0].range = Some(range as f32);
        let view = perspective(DVec3::new(0.1, 2.0, 0.0), DVec3::ZERO, 0.3, 0.01, SIZE);
        let at = PIXELS[0];
        let (point, v) = on_plane(&view, at.0, at.1);
        let to = lamp - point;
        let window = (1.0 - (to.length() / range).powi(4)).clamp(0.0, 1.0);
        let want = brdf.total(DVec3::Y, to.normalize(), v) * candela * window / to.length_squared();
        if window == 0.0 {
            let (got, _) = measure(&mut renderer, &scene, &view, at, DVec3::splat(1e-3));
            assert_eq!(got, DVec3::ZERO, "light beyond the range");
            continue;
        }
        let (got, _) = measure(&mut renderer, &scene, &view, at, want);
        worst = worst.max(relative(got, want));
        // A squared window, as in other renderers, would be this much off.
        if d == 8.0 {
            assert!(window > 0.58 && window < 0.6, "{window}");
        }
    }
    println!("range: {:.4} %", worst * 100.0);
    assert!(worst < 1e-3 * guard.slack(), "{} %", worst * 100.0);
}

#[test]
fn colored_light_on_colored_surfaces_by_channel() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let material = dielectric("paint", Vec3::new(0.8, 0.1, 0.4), 0.7);
    let brdf = Brdf::of(&material);
    let (lamp, color) = (DVec3::new(0.5, 2.0, -0.5), Vec3::new(0.5, 1.0, 0.2));
    let lux = (Vec3::new(1.0, 0.3, 0.6), 30.0);
    let l_sun = DVec3::new(0.48, 0.6, 0.64);
    let scene = lit_plane(material, 20.0, |builder| {
        builder.point_light_candela("lamp", Candela(300.0), color, lamp);
        builder.sun("sun", Lux(lux.1), lux.0, -l_sun);
    });
    let view = perspective(DVec3::new(0.5, 2.0, 1.5), DVec3::ZERO, 0.9, 0.01, SIZE);
    let mut worst = 0f64;
    for at in PIXELS {
        let (point, v) = on_plane(&view, at.0, at.1);
        let to = lamp - point;
        let by_lamp = brdf.total(DVec3::Y, to.normalize(), v) * 300.0 * color.as_dvec3()
            / to.length_squared();
        let by_sun = brdf.total(DVec3::Y, l_sun, v) * lux.1 * lux.0.as_dvec3();
        let want = by_lamp + by_sun;
        for channel in 0..3 {
            let settings = every_lamp(exposure_for(want[channel], 0.95));
            let got = nits(&picture(&mut renderer, &scene, &view, &settings), at.0, at.1);
            worst = worst.max((got[channel] / want[channel] - 1.0).abs());
        }
    }
    println!("colors: {:.4} %", worst * 100.0);
    assert!(worst < 1e-3 * guard.slack(), "{} %", worst * 100.0);
}

/// Light through the whole program: nits and exposed values of a card under the noon sun.
fn card_through_the_program(base: f32, view_degrees: f64) -> (f64, f64, f64) {
    let dir = Folder::empty();
    let mut scene = lit_plane(diffuse_material(base), 4.0, |builder| {
        builder.sun("sun", Lux(100_000.0), Vec3::ONE, -DVec3::Y);
        let (sin, cos) = view_degrees.to_radians().sin_cos();
        builder.camera("camera", DVec3::new(0.0, cos, sin) * 3.0, DVec3::ZERO, 0.05, None);
    });
    scene.name = "card".into();
    assert!(scene.lights[0].is_directional());
    dir.write("card.glb", write_glb(&scene).unwrap());
    let dials =
        "--set camera.lens.f_stop=16 --set camera.body.shutter=1/100 --set camera.body.iso=100";
    for output in ["nits.exr", "exposed.exr --exposed"] {
        let picture = format!("-o {output} --size 33x33 --aov direct_diffuse --validation");
        dir.run(&format!("render card.glb {picture} {dials}")).ok().prints(&["EV100 14.64"]);
    }
    let center = 16 * 33 + 16;
    let read = |file: &str, channel: &str| f64::from(dir.channel(file, channel)[center]);
    (read("nits.exr", "G"), read("exposed.exr", "G"), read("nits.exr", "direct_diffuse.G"))
}

/// Sunny 16: the sun (100 klx) on an 18 % card gives rho E / pi = 5729.6 nit, which f/16, 1/100 s,
/// ISO 100 renders as 5729.6 / 30720 = 0.1865.
///
/// That card is Lambertian. A glTF dielectric of base color 0.18 is not: with roughness 1, seen and
/// lit from above, its surface reflects F D V pi = 0.04/4 and its base (1 - 0.04) of the base
/// color, in total 0.1828, 1.6 % more than the card. The check is therefore made three ways. First,
/// the diffuse part over the transmitted (1 - F), which is exactly the Lambertian card. Second, a
/// glTF card with a total reflectance factor of 0.18, from above (base 0.177083) and from 45
/// degrees as card makers measure it (base 0.175295). Third, the naive card against its formula.
#[test]
fn sunny_16() {
    if crate::common::no_gpu("sunny_16") {
        return;
    }
    let (nit, exposed) = (0.18 * 100_000.0 / PI, 0.18 * 100_000.0 / PI / 30_720.0);
    assert!((exposed - 0.1865).abs() < 1e-4);
    assert!((Exposure::default().saturation_luminance().get() - 30_720.0).abs() < 1e-6);
    let near = |what: &str, got: f64, want: f64| {
        println!("{what}: {got:.6} for {want:.6} ({:+.3} %)", (got / want - 1.0) * 100.0);
        assert!((got / want - 1.0).abs() < 5e-3, "{what}: {got} for {want}");
    };

    let (naive_nits, naive_exposed, diffuse) = card_through_the_program(0.18, 0.0);
    near("Lambertian part, nits", diffuse / 0.96, nit);
    near("Lambertian part, exposed", diffuse / 0.96 / 30_720.0, exposed);
    near("naive card, nits", naive_nits, (0.01 + 0.96 * 0.18) * 100_000.0 / PI);
    near("naive card, exposed", naive_exposed, (0.01 + 0.96 * 0.18) * 100_000.0 / PI / 30_720.0);
    assert!(naive_exposed > 1.01 * exposed, "the surface of the naive card reflects too");

    for (degrees, base) in [(0.0, 0.177_083), (45.0, 0.175_295)] {
        // The factor of these bases by the formula, for light from above.
        let v = DVec3::new(0.0, f64::to_radians(degrees).cos(), f64::to_radians(degrees).sin());
        let factor = Brdf::diffuse(base).total(DVec3::Y, DVec3::Y, v).x * PI;
        assert!((factor - 0.18).abs() < 1e-6, "{degrees}: {factor}");
        let (nits, value, _) = card_through_the_program(base as f32, degrees);
        near(&format!("18 % card from {degrees} degrees, nits"), nits, nit);
        near(&format!("18 % card from {degrees} degrees, exposed"), value, exposed);
    }
}
