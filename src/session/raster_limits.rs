//! Limits of the rasterizer that a scene exceeds, as far as the host knows them before a frame.

use super::open_scene::OpenScene;
use crate::{
    gpu::shader_structs::frame::{MAX_WATER_SUNS, REFRACTION_LIGHTS},
    gpu_scene::{MAX_SORTED, needs_blend_pass},
    photometry::Emitter,
    scene::{
        Light, Material, Scene, VolumeShape,
        emissive::emissive_lights,
        volume::{PlacedVolume, VOXELS_ACROSS},
    },
    settings::{RefractionMethod, ShadowMethod, ShadowSettings},
};

impl OpenScene {
    /// One warning for each rasterizer limit that this scene exceeds. Limits: lights on off-screen
    /// refracted surfaces, suns scattered by water, suns that cast caustics, transparent triangles
    /// sorted one by one, voxels of volumes bounded by meshes, and cascades that end before a
    /// volume. The path tracer has none of these limits.
    #[must_use]
    pub fn raster_limits(&self) -> Vec<String> {
        let passes = self.passes();
        let mut warnings = limits(&self.scene, passes.refraction.method);
        if passes.volumes.enabled {
            warnings.extend(volume_limits(&self.scene, &passes.shadows));
        }
        warnings
    }
}

fn volume_limits(scene: &Scene, shadows: &ShadowSettings) -> Vec<String> {
    let placed = scene.placed_volumes();
    let named = |placed: &[&PlacedVolume<'_>]| {
        placed.iter().map(|placed| placed.volume.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut warnings = Vec::new();
    let meshes: Vec<_> = placed
        .iter()
        .filter(|placed| matches!(placed.volume.shape, VolumeShape::Mesh(_)))
        .collect();
    if !meshes.is_empty() {
        warnings.push(format!(
            "volumes: meshes that bound volumes are rounded to {VOXELS_ACROSS} voxels along their \
             longest side: {}",
            named(&meshes)
        ));
    }
    let by_maps = |light: &Light| {
        let Emitter::Sun { angular_radius } = light.emitter() else { return false };
        light.shadow
            && shadows.enabled
            && match shadows.method {
                ShadowMethod::Maps => true,
                ShadowMethod::Auto => angular_radius == 0.0,
                ShadowMethod::Traced => false,
            }
    };
    let walk = scene.walk();
    let mut lights = walk.iter().filter_map(|placed| scene.lights.get(placed.node.light?));
    if lights.any(by_maps)
        && let Some((low, high)) = scene.bounds()
    {
        let beyond: Vec<_> = placed
            .iter()
            .filter(|placed| {
                placed.corners(scene).is_some_and(|corners| {
                    corners.iter().any(|p| p.cmplt(low).any() || p.cmpgt(high).any())
                })
            })
            .collect();
        if !beyond.is_empty() {
            warnings.push(format!(
                "volumes: shadow maps of suns cover the bounding box of the surfaces; volumes \
                 beyond it may be unshadowed there: {} (passes.shadows.method=traced has no such \
                 limit)",
                named(&beyond)
            ));
        }
    }
    warnings
}

fn limits(scene: &Scene, refraction: RefractionMethod) -> Vec<String> {
    let walk = scene.walk();
    let meshes = || walk.iter().filter_map(|placed| scene.meshes.get(placed.node.mesh?));
    let shown: Vec<&Material> = meshes()
        .flat_map(|mesh| &mesh.primitives)
        .filter_map(|p| scene.materials.get(p.material?))
        .collect();
    let placed = walk.iter().filter_map(|placed| scene.lights.get(placed.node.light?));
    let (suns, local_lights): (Vec<_>, Vec<_>) = placed.partition(|light| light.is_directional());
    let mut warnings = Vec::new();
    if refraction == RefractionMethod::Traced && shown.iter().any(|material| material.transmits()) {
        let pieces = if scene.emissive_lights { emissive_lights(scene).lights.len() } else { 0 };
        let lights = suns.len() + local_lights.len() + pieces;
        if lights > REFRACTION_LIGHTS as usize {
            warnings.push(format!(
                "refraction: off-screen and occluded surfaces are lit by the first {REFRACTION_LIGHTS} of {lights} lights"
            ));
        }
    }
    let waters = || shown.iter().filter_map(|material| material.water.as_ref());
    if suns.len() > MAX_WATER_SUNS as usize && waters().next().is_some() {
        warnings.push(format!(
            "water: in-scattering uses the first {MAX_WATER_SUNS} of {} suns",
            suns.len()
        ));
    }
    if suns.len() > 1 && waters().any(|water| water.settings.caustics) {
        warnings.push(format!(
            "caustics: only the strongest of {} suns casts them (water.*.caustics)",
            suns.len()
        ));
    }
    let over = meshes()
        .flat_map(|mesh| &mesh.primitives)
        .filter(|p| {
            p.material
                .and_then(|material| scene.materials.get(material))
                .is_some_and(needs_blend_pass)
        })
        .map(|p| p.indices.len() / 3)
        .sum::<usize>();
    if over > MAX_SORTED {
        warnings.push(format!(
            "transparency: {over} blended and refracting triangles are sorted object by object if more than \
             {MAX_SORTED} are in view; interlocking objects then blend in the wrong order"
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use glam::{DMat4, DVec3, Vec2, Vec3};

    use super::*;
    use crate::{
        photometry::{Candela, Lux},
        scene::{
            AlphaMode, MediumCoefficients, ParticipatingVolume,
            build::{SceneBuilder, dielectric},
            procedural::shapes,
            water::WaterSettings,
        },
    };

    fn scene(local_lights: u32, suns: u32, transmission: f32) -> Scene {
        let mut builder = SceneBuilder::new("limits");
        let glass =
            builder.add_material(Material { transmission, ..dielectric("glass", Vec3::ONE, 0.0) });
        let pane = builder.add_mesh("pane", shapes::plane(Vec2::ONE, 1, 1), glass);
        builder.instance("pane", pane, DMat4::IDENTITY);
        for i in 0..local_lights {
            builder.point_light_candela(
                "lamp",
                Candela(10.0),
                Vec3::ONE,
                DVec3::new(f64::from(i), 2.0, 0.0),
            );
        }
        for _ in 0..suns {
            builder.sun("sun", Lux(100.0), Vec3::ONE, DVec3::NEG_Y);
        }
        builder.build().unwrap()
    }

    #[test]
    fn limits_are_reported_only_where_they_apply() {
        let told = |local_lights, suns, transmission, method| {
            limits(&scene(local_lights, suns, transmission), method)
        };
        assert!(told(16, 0, 1.0, RefractionMethod::Traced).is_empty());
        assert!(told(17, 0, 0.0, RefractionMethod::Traced).is_empty());
        assert!(told(17, 0, 1.0, RefractionMethod::Screen).is_empty());
        let warnings = told(17, 2, 1.0, RefractionMethod::Traced);
        assert!(
            warnings.len() == 1 && warnings[0].contains("first 16 of 19 lights"),
            "{warnings:?}"
        );
    }

    #[test]
    fn water_limits_are_reported_only_where_they_apply() {
        let told = |suns, caustics| {
            let mut scene = scene(0, suns, 0.0);
            scene.add_water(0, &WaterSettings { caustics, ..WaterSettings::default() }).unwrap();
            limits(&scene, RefractionMethod::Screen)
        };
        assert!(told(4, false).is_empty());
        assert!(told(1, true).is_empty());
        let warnings = told(5, false);
        assert!(warnings.len() == 1 && warnings[0].contains("first 4 of 5 suns"), "{warnings:?}");
        let warnings = told(2, true);
        assert!(warnings.len() == 1 && warnings[0].contains("strongest of 2 suns"), "{warnings:?}");
    }

    #[test]
    fn volume_limits_are_reported_only_where_they_apply() {
        let told = |side: f64, shape: Option<VolumeShape>, method| {
            // A pane of 1 m with a sun, and a volume in or around it.
            let mut scene = scene(0, 1, 0.0);
            let shape = shape.unwrap_or_else(|| {
                VolumeShape::Box(DMat4::from_scale(DVec3::new(side, 1e-3, side)))
            });
            scene.volumes = vec![ParticipatingVolume {
                name: "fog".into(),
                shape,
                node: None,
                medium: MediumCoefficients {
                    scattering: DVec3::ONE,
                    ..MediumCoefficients::default()
                },
                density: None,
            }];
            let bound = shapes::cuboid(Vec3::ONE);
            let pane = &mut scene.meshes[0];
            pane.primitives.push(bound);
            let shadows = ShadowSettings { method, ..ShadowSettings::default() };
            volume_limits(&scene, &shadows)
        };
        assert!(told(0.5, None, ShadowMethod::Maps).is_empty());
        assert!(told(5.0, None, ShadowMethod::Traced).is_empty());
        let warnings = told(5.0, None, ShadowMethod::Maps);
        assert!(warnings.len() == 1 && warnings[0].contains("beyond"), "{warnings:?}");
        assert!(warnings[0].contains("fog"), "{warnings:?}");
        let warnings = told(0.5, Some(VolumeShape::Mesh(0)), ShadowMethod::Traced);
        assert!(warnings.len() == 1 && warnings[0].contains("96 voxels"), "{warnings:?}");
    }

    #[test]
    fn too_many_transparent_triangles_are_said() {
        let told = |alpha: AlphaMode, copies: u32| {
            let mut builder = SceneBuilder::new("limits");
            let leaf =
                builder.add_material(Material { alpha, ..dielectric("leaf", Vec3::ONE, 0.5) });
            let sheet = builder.add_mesh("sheet", shapes::plane(Vec2::ONE, 128, 128), leaf);
            for _ in 0..copies {
                builder.instance("sheet", sheet, DMat4::IDENTITY);
            }
            limits(&builder.build().unwrap(), RefractionMethod::Traced)
        };
        // 32,768 triangles each.
        assert!(told(AlphaMode::Blend, 4).is_empty() && told(AlphaMode::Opaque, 5).is_empty());
        let warnings = told(AlphaMode::Blend, 5);
        assert!(
            warnings.len() == 1 && warnings[0].starts_with("transparency: 163840 "),
            "{warnings:?}"
        );
    }
}
