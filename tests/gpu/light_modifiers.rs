//! Modifiers of spots in both renderers, against their closed forms.

use crate::common::{
    Brdf, Place, exposure_for, hit_plane, nits, perspective, picture, renderer,
    traced::{centered, film, of_bounces},
    unclustered,
};
use glam::{DVec3, Vec3, dvec3};
use sunny16::{
    frame::RenderSettings,
    photometry::{
        Candela, Cone, Emitter, LightStrength, SpotFlux,
        color::luminance,
        light_modifiers::{BarnDoors, grid_transmittance, snoot_transmittance},
    },
    scene::{
        Projection,
        build::{SceneBuilder, dielectric, look_at_transform},
        look::Look,
    },
};

const SIZE: (u32, u32) = (64, 48);

/// Name, settings and transmittance by direction of modifiers.
type Case<'a> = (&'a str, &'a [&'a str], &'a dyn Fn(DVec3) -> f64);

/// A floor below a spot of 1000 cd at 3 m that emits downward, with its top to the north (-Z).
#[test]
fn modified_spots_light_a_floor_as_their_closed_forms() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let doors = BarnDoors {
        edges: [f64::INFINITY, 10f64, f64::INFINITY, 5.0].map(|edge| edge.to_radians()),
        penumbra: 6f64.to_radians(),
    };
    let cases: [Case<'_>; 3] = [
        (
            "barn doors",
            &[
                "lights.Key.barn_door_right=10",
                "lights.Key.barn_door_bottom=5",
                "lights.Key.barn_door_penumbra=6",
            ],
            &|d| doors.transmittance(d),
        ),
        ("snoot", &["lights.Key.snoot=1.5"], &|d| snoot_transmittance(1.5, d)),
        ("grid", &["lights.Key.grid=1.2", "lights.Key.gel=CC30M"], &|d| grid_transmittance(1.2, d)),
    ];
    let lamp = dvec3(0.0, 3.0, 0.0);
    for (name, settings, transmittance) in cases {
        let material = dielectric("matte", Vec3::splat(0.5), 1.0);
        let brdf = Brdf::of(&material);
        let mut builder = SceneBuilder::new("floor");
        builder.floor(20.0, material);
        let cone = Cone::new(0.7, 0.7).unwrap();
        builder.light(
            "Key",
            Emitter::Spot { cone, flux: SpotFlux::Exact },
            LightStrength::Candela(Candela(1000.0)),
            Vec3::ONE,
            look_at_transform(lamp, DVec3::ZERO),
        );
        let mut scene = builder.build().unwrap();
        Look::of(settings).unwrap().apply(&mut scene).unwrap();
        let color = scene.lights.last().unwrap().color.as_dvec3();
        let eye = dvec3(0.5, 4.0, 2.0);
        let view = perspective(eye, DVec3::ZERO, 0.9, 0.01, SIZE);
        let exposure = exposure_for(1000.0 / 9.0 * 0.5 / std::f64::consts::PI, 0.9);
        let settings = RenderSettings {
            exposure,
            clustered_lights: unclustered(),
            ..RenderSettings::default()
        };
        let raster = picture(&mut renderer, &scene, &view, &settings);
        let projection =
            Projection::Perspective { vertical_fov: 0.9, aspect: None, near: 0.01, far: None };
        let pose = look_at_transform(eye, DVec3::ZERO);
        let traced = film(
            &scene,
            (pose, projection),
            (SIZE.0 as usize, SIZE.1 as usize),
            centered(of_bounces(1)),
            1,
        );
        let traced = traced.mean(|light| light.total());
        let (mut worst, mut peak) = ([0f64; 2], 0f64);
        for y in 0..SIZE.1 as usize {
            for x in 0..SIZE.0 as usize {
                let point = hit_plane(&view, x, y, DVec3::ZERO, DVec3::Y);
                let to = lamp - point;
                let l = to.normalize();
                // In the light's space: it looks down, and its top is north.
                let direction = dvec3(-l.x, l.z, -l.y);
                let inside = l.y > 0.7f64.cos() + 0.01;
                if !inside {
                    continue;
                }
                let candela = 1000.0 * transmittance(direction);
                let v = (view.position - point).normalize();
                let want = brdf.total(DVec3::Y, l, v) * color * candela / to.length_squared();
                let got = [nits(&raster, x, y), traced[y * SIZE.0 as usize + x]];
                for (worst, got) in worst.iter_mut().zip(got) {
                    *worst = worst.max((luminance(got) - luminance(want)).abs());
                }
                peak = peak.max(luminance(want));
            }
        }
        let worst = worst.map(|worst| worst / peak);
        println!("{name}: raster {:.4}, traced {:.4} of the maximum", worst[0], worst[1]);
        assert!(
            peak > 5.0 && worst[0] < 0.01 * guard.slack() && worst[1] < 0.01,
            "{name}: {worst:?}"
        );
    }
}
