//! Temporal passes of one frame share the velocity of its pixels.

use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    frame::{AntiAliasing, Aov, GiSettings, RenderSettings, SsrSettings},
    photometry::Lumen,
    scene::{
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    },
};

use crate::common::{gpu, perspective};

/// Any combination of GI, SSR, TAA and the velocity AOV declares the velocity once.
#[test]
fn velocity_since_the_last_frame_is_declared_once() {
    let Some(guard) = gpu() else { return };
    let mut renderer = guard.renderer();
    let mut builder = SceneBuilder::new("floor");
    let gray = builder.add_material(dielectric("gray", Vec3::splat(0.5), 0.3));
    let plane = builder.add_mesh("floor", shapes::plane(Vec2::splat(4.0), 1, 1), gray);
    builder.instance("floor", plane, DMat4::IDENTITY);
    builder.point_light_lumens("bulb", Lumen(800.0), Vec3::ONE, DVec3::Y * 2.0);
    let scene = builder.build().unwrap();
    let mut on_device = renderer.upload(&scene).unwrap();
    let gi = GiSettings { enabled: true, vpls: 64, bounces: 1, ..GiSettings::default() };
    on_device.update_gi(renderer.gpu(), &scene, &gi).unwrap();
    let view = perspective(DVec3::new(0.0, 2.0, 4.0), DVec3::ZERO, 0.8, 0.1, (32, 24));
    for combination in 0..16u32 {
        let on = |bit: u32| combination & 1 << bit != 0;
        let anti_aliasing = if on(2) { AntiAliasing::Temporal } else { AntiAliasing::None };
        let settings = RenderSettings {
            gi: GiSettings { enabled: on(0), ..gi },
            ssr: SsrSettings { enabled: on(1), ..SsrSettings::default() },
            anti_aliasing,
            aovs: if on(3) { vec![Aov::Velocity] } else { Vec::new() },
            ..RenderSettings::default()
        };
        let prepared = renderer.plan(&on_device, &view, &settings).unwrap();
        let velocity = "velocity from the last frame";
        let declared = prepared.passes.iter().filter(|pass| pass.name == velocity).count();
        assert_eq!(declared, usize::from(combination > 0), "combination {combination:04b}");
    }
}
