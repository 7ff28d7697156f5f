//! Pipelines specialized for the features of a scene against those with all features.

use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    frame::{GiSettings, RenderSettings, ShadowSettings},
    photometry::{Lumen, Lux},
    scene::{
        AlphaMode, Material, Scene,
        build::{SceneBuilder, dielectric, metal},
        look::ShadowMethod,
        procedural::shapes,
    },
};

use crate::common::{exposure_for, gpu, half_steps, perspective};

/// Two units in the last place of half floats ([`half_steps`]), and the rounding of nits to single
/// precision.
const TOLERANCE: f64 = 2.01;

/// A floor, a ball and a blended pane under a point light and a parallel sun: no water, profile,
/// volume, environment, probe, area light, sun disk or alpha mask.
fn few_features() -> Scene {
    let mut builder = SceneBuilder::new("few features");
    let floor = builder.add_material(dielectric("floor", Vec3::new(0.5, 0.4, 0.3), 0.7));
    let gold = builder.add_material(metal("gold", Vec3::new(1.0, 0.7, 0.3), 0.4));
    // Of opacity 1: rays pass others by random numbers of their bits, which pipelines round apart.
    let pane =
        Material { alpha: AlphaMode::Blend, ..dielectric("pane", Vec3::new(0.2, 0.4, 0.8), 0.3) };
    let pane = builder.add_material(pane);
    let plane = builder.add_mesh("plane", shapes::plane(Vec2::splat(6.0), 1, 1), floor);
    let ball = builder.add_mesh("ball", shapes::icosphere(0.5, 3), gold);
    let slab = builder.add_mesh("slab", shapes::cuboid(Vec3::new(1.0, 1.0, 0.05)), pane);
    builder.instance("plane", plane, DMat4::IDENTITY);
    builder.instance("ball", ball, DMat4::from_translation(DVec3::Y * 0.5));
    builder.instance("pane", slab, DMat4::from_translation(DVec3::new(0.6, 0.5, 0.8)));
    builder.point_light_lumens("bulb", Lumen(800.0), Vec3::ONE, DVec3::new(1.0, 2.0, 1.0));
    builder.sun("sun", Lux(400.0), Vec3::ONE, DVec3::new(0.4, -1.0, -0.3));
    builder.build().unwrap()
}

#[test]
fn specialized_pipelines_match_the_general_ones() {
    let Some(guard) = gpu() else { return };
    let mut renderer = guard.renderer();
    let scene = few_features();
    let view = perspective(DVec3::new(0.5, 1.5, 3.0), DVec3::Y * 0.3, 0.7, 0.1, (96, 64));
    let gi = GiSettings {
        enabled: true,
        vpls: 256,
        max_history_frames: 0,
        denoise: false,
        ..GiSettings::default()
    };
    for method in [ShadowMethod::Maps, ShadowMethod::Traced] {
        let shadows = ShadowSettings { method, ..ShadowSettings::default() };
        let mut on_device = renderer.upload_for(&scene, &shadows).unwrap();
        on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
        let [specialized, general] = [false, true].map(|all_features| {
            let settings = RenderSettings {
                exposure: exposure_for(200.0, 1.0),
                shadows,
                gi,
                all_features,
                ..RenderSettings::default()
            };
            renderer.reset_history();
            renderer.render(&on_device, &view, &settings).unwrap()
        });
        let values = || specialized.nits.iter().flatten().zip(general.nits.iter().flatten());
        let lit = values().filter(|(a, _)| **a > 0.0).count();
        let identical = values().filter(|(a, b)| a == b).count();
        let (all, worst) = (values().count(), half_steps(&specialized, &general));
        println!("{method:?}: {identical} of {all} values are identical, worst {worst:.2} steps");
        assert!(lit > all / 2, "{method:?}: only {lit} of {all} values are lit");
        assert!(worst <= TOLERANCE, "{method:?}: {worst}");
    }
}
