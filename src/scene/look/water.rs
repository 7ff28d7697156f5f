//! `water.NAME.*`: water surfaces, by the name of their material or of a node.

use std::{collections::BTreeMap, sync::Arc};

use glam::{DVec2, DVec3};

use super::{LookError, suggestions::nearest};
use crate::scene::{FlowMap, Scene, WaterSettings, address::AddressTable, water::WaterLook};

impl WaterLook {
    /// These overrides on top of existing settings.
    ///
    /// # Errors
    /// The cause, if the flow map's file cannot be used.
    pub fn over(&self, mut settings: WaterSettings) -> Result<WaterSettings, String> {
        if let Some(kind) = self.kind {
            settings.coefficients = kind.coefficients();
        }
        settings.coefficients.absorption =
            self.absorption.unwrap_or(settings.coefficients.absorption);
        settings.coefficients.scattering =
            self.scattering.unwrap_or(settings.coefficients.scattering);
        match (&self.map, &self.flow) {
            // The file may not exist yet.
            (Some(map), _) => settings.flow = Some(Arc::clone(map)),
            (None, Some(file)) => settings.flow = Some(Arc::new(FlowMap::read(file)?)),
            (None, None) => {}
        }
        if let Some(direction) = self.direction {
            settings.direction = direction;
            settings.flow = settings.flow.filter(|_| self.flow.is_some() || self.map.is_some());
        }
        settings.caustics = self.caustics.unwrap_or(settings.caustics);
        if let Some(debris) = &self.debris {
            settings.debris = Some(debris.clone()).filter(|name| !name.is_empty());
        }
        settings.speed = self.speed.unwrap_or(settings.speed);
        settings.period = self.period.unwrap_or(settings.period);
        settings.tile = self.tile.unwrap_or(settings.tile);
        settings.slope = self.slope.unwrap_or(settings.slope);
        settings.slope_still = self.slope_still.unwrap_or(settings.slope_still);
        settings.slope_fine = self.slope_fine.unwrap_or(settings.slope_fine);
        settings.foam = self.foam.unwrap_or(settings.foam);
        settings.foam_tile = self.foam_tile.unwrap_or(settings.foam_tile);
        settings.foam_depth = self.foam_depth.unwrap_or(settings.foam_depth);
        settings.shore = self.shore.unwrap_or(settings.shore);
        Ok(settings)
    }

    /// Makes a material water, or changes its water settings.
    ///
    /// # Errors
    /// The property's name and the cause.
    pub fn apply(&self, scene: &mut Scene, material: usize) -> Result<(), (&'static str, String)> {
        let before = scene.materials.get(material).and_then(|material| material.water.as_ref());
        let settings = before.map_or_else(WaterSettings::default, |water| water.settings.clone());
        let mut settings = self.over(settings).map_err(|error| ("flow", error))?;
        if self.flow_origin.is_some() || self.flow_size.is_some() {
            let covered = scene.material_bounds(material).unwrap_or((DVec3::ZERO, DVec3::ONE));
            let [low, high] = [covered.0, covered.1].map(|v| DVec2::new(v.x, v.z));
            let [origin, size] = settings.rectangle.unwrap_or([low, high - low]);
            settings.rectangle =
                Some([self.flow_origin.unwrap_or(origin), self.flow_size.unwrap_or(size)]);
        }
        let property =
            if self.debris.is_some() && settings.debris.is_some() { "debris" } else { "kind" };
        scene.add_water(material, &settings).map_err(|error| (property, error))
    }
}

/// Makes a scene's surfaces water.
///
/// # Errors
/// A name that neither a material nor a node with a mesh has; a flow map that cannot be used; too
/// many waters.
pub(super) fn apply(
    waters: &BTreeMap<String, WaterLook>,
    scene: &mut Scene,
) -> Result<(), LookError> {
    for (name, look) in waters.iter().filter(|(_, look)| look.enabled()) {
        let mut materials = AddressTable::materials(scene).find(name);
        if materials.is_empty() {
            let nodes = AddressTable::nodes(scene)
                .find(name)
                .into_iter()
                .filter_map(|node| scene.nodes.get(node));
            let meshes = nodes.filter_map(|node| scene.meshes.get(node.mesh?));
            materials = meshes
                .flat_map(|mesh| &mesh.primitives)
                .filter_map(|primitive| primitive.material)
                .collect();
            materials.sort_unstable();
            materials.dedup();
        }
        if materials.is_empty() {
            let names = [
                AddressTable::materials(scene).suggestions(),
                AddressTable::nodes(scene).suggestions(),
            ]
            .concat();
            let near = nearest(name, names.iter().map(String::as_str));
            let expected =
                format!("no material and no node with a mesh has this name; did you mean {near}?");
            return Err(LookError::BadValue {
                path: format!("water.{name}"),
                value: name.clone(),
                expected,
            });
        }
        for material in materials {
            look.apply(scene, material).map_err(|(property, detail)| {
                let property = format!("water.{name}.{property}");
                match (&look.flow, property.ends_with(".flow")) {
                    (Some(file), true) => {
                        LookError::Input { property, file: file.display().to_string(), detail }
                    }
                    _ => LookError::BadValue {
                        path: property,
                        value: String::new(),
                        expected: detail,
                    },
                }
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use glam::{DMat4, Vec2, Vec3};

    use super::*;
    use crate::{
        photometry::water::WaterKind,
        scene::{
            build::{SceneBuilder, dielectric},
            look::Look,
            procedural::shapes,
        },
    };

    fn with(assignments: &[&str]) -> Result<Scene, LookError> {
        let look = Look::of(assignments)?;
        let mut builder = SceneBuilder::new("pool");
        let sheet = builder.add_material(dielectric("Sea", Vec3::ONE, 0.5));
        let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::new(4.0, 2.0), 1, 1), sheet);
        builder.instance("pond", mesh, DMat4::IDENTITY);
        let mut scene = builder.build().unwrap();
        look.apply(&mut scene).map(|()| scene)
    }

    #[test]
    fn a_material_or_a_node_is_water() {
        for name in ["Sea", "pond"] {
            let kind = format!("water.{name}.kind=turbid");
            let scene = with(&[
                &kind,
                &format!("water.{name}.speed=0.7"),
                &format!("water.{name}.absorption=1,2,3"),
            ])
            .unwrap();
            let water = scene.materials[0].water.clone().unwrap();
            assert_eq!(water.settings.speed, 0.7);
            assert_eq!(water.settings.coefficients.absorption, DVec3::new(1.0, 2.0, 3.0));
            assert_eq!(
                water.settings.coefficients.scattering,
                WaterKind::Turbid.coefficients().scattering
            );
            assert_eq!(water.rectangle(), [DVec2::new(-2.0, -1.0), DVec2::new(4.0, 2.0)]);
        }
        assert!(with(&["water.Sea.enabled=false"]).unwrap().materials[0].water.is_none());
        let scene = with(&["water.Sea.flow_size=8,6", "water.Sea.direction=0,1"]).unwrap();
        let water = scene.materials[0].water.clone().unwrap();
        assert_eq!(water.rectangle(), [DVec2::new(-2.0, -1.0), DVec2::new(8.0, 6.0)]);
        assert_eq!(water.map.velocity(3, 3), Vec2::Y);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (assignment, named) in [
            ("water.Sea.kind=muddy", "clear, coastal or turbid"),
            ("water.Sea.absorption=1,-1,0", "water.Sea.absorption"),
            ("water.Sea.scattering=1,2", "water.Sea.scattering"),
            ("water.Sea.absorption=NaN,0,0", "water.Sea.absorption"),
            ("water.Sea.speed=inf", "water.Sea.speed"),
            ("water.Sea.tile=0", "water.Sea.tile"),
            ("water.Sea.slope=2", "0 to 1"),
            ("water.Sea.flow_size=0,1", "water.Sea.flow_size"),
            ("water.Sea.debris=leaf", "no node is named 'leaf'"),
            ("water.Sea.caustics=often", "water.Sea.caustics"),
            ("water.Sea.foam_dept=1", "water.Sea.foam_depth"),
            ("water.Sea.flow=none.png", "check the path"),
            ("water.Se.kind=clear", "Sea"),
        ] {
            let error = with(&[assignment]).unwrap_err().to_string();
            assert!(error.contains(named), "{assignment}: {error}");
        }
    }
}
