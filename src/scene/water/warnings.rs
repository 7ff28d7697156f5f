//! Warnings about the waters of a scene: valid settings that are rarely intended.

use glam::{DVec2, DVec3};

use crate::scene::Scene;

/// Maximum height of a level sheet relative to its longer side; above it, the mesh has sides or a
/// slope.
const LEVEL: f64 = 0.02;
/// Maximum distance (m) of debris above or below the surface.
const AFLOAT: f64 = 0.3;

impl Scene {
    /// One line for each surface that is not level, flow map outside of its water, and debris away
    /// from the surface.
    #[must_use]
    pub fn water_warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (index, material) in self.materials.iter().enumerate() {
            let Some(water) = &material.water else { continue };
            let Some((low, high)) = self.material_bounds(index) else { continue };
            let name = &material.name;
            let size = high - low;
            if size.y > LEVEL * size.x.max(size.z) {
                warnings.push(format!(
                    "water '{name}' is {:.2} m high but is lit as a level sheet: model water as a level sheet without sides or bottom",
                    size.y
                ));
            }
            let [origin, extent] = water.rectangle();
            let flat = |v: DVec3| DVec2::new(v.x, v.z);
            if water.settings.flow.is_some()
                && (flat(high).cmplt(origin).any() || flat(low).cmpgt(origin + extent).any())
            {
                warnings.push(format!(
                    "water '{name}': its flow map covers {:.1} {:.1} to {:.1} {:.1} m and none of the water, which reaches from {:.1} {:.1} \
                     to {:.1} {:.1}; set flow_origin and flow_size",
                    origin.x, origin.y, origin.x + extent.x, origin.y + extent.y, low.x, low.z, high.x, high.z
                ));
            }
            let away = |height: f64| (low.y - height).max(height - high.y);
            let high_up = water
                .floating
                .iter()
                .map(|floating| away(floating.height()))
                .filter(|away| *away > AFLOAT)
                .count();
            if let (true, Some(debris)) = (high_up > 0, &water.settings.debris) {
                warnings.push(format!(
                    "water '{name}': {high_up} of {} nodes named '{debris}' lie more than {AFLOAT} m above or below its surface: move them to the surface",
                    water.floating.len()
                ));
            }
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::{DMat4, Vec2, Vec3};

    use super::*;
    use crate::scene::{
        FlowMap, WaterSettings,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    };

    #[test]
    fn what_is_seldom_meant_is_said() {
        let build = |solid: bool, leaf: f64, origin: f64| {
            let mut builder = SceneBuilder::new("pool");
            let sheet = builder.add_material(dielectric("sea", Vec3::ONE, 0.0));
            let shape = if solid {
                shapes::cuboid(Vec3::splat(2.0))
            } else {
                shapes::plane(Vec2::splat(2.0), 1, 1)
            };
            let surface = builder.add_mesh("surface", shape, sheet);
            builder.instance("surface", surface, DMat4::IDENTITY);
            let matte = builder.add_material(dielectric("leaf", Vec3::splat(0.3), 1.0));
            let mesh = builder.add_mesh("leaf", shapes::plane(Vec2::splat(0.1), 1, 1), matte);
            builder.instance("leaf", mesh, DMat4::from_translation(DVec3::Y * leaf));
            let mut scene = builder.build().unwrap();
            let settings = WaterSettings {
                flow: Some(Arc::new(FlowMap::even(Vec2::X))),
                rectangle: Some([DVec2::splat(origin), DVec2::splat(2.0)]),
                debris: Some("leaf".into()),
                ..WaterSettings::default()
            };
            scene.add_water(0, &settings).unwrap();
            scene.water_warnings()
        };
        assert!(build(false, 0.01, -1.0).is_empty(), "{:?}", build(false, 0.01, -1.0));
        for ((solid, leaf, origin), wanted) in [
            ((true, 0.01, -1.0), "2.00 m high"),
            ((false, 0.8, -1.0), "1 of 1 nodes"),
            ((false, 0.01, 50.0), "none of the water"),
        ] {
            let warnings = build(solid, leaf, origin);
            assert!(warnings.len() == 1 && warnings[0].contains(wanted), "{warnings:?}");
        }
    }
}
