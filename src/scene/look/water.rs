//! `water.NAME.*`: water surfaces, by the name of their material or of a node.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use glam::{DVec2, DVec3};

use super::{LookError, reader::Reader, suggestions::nearest};
use crate::{
    photometry::water::WaterKind,
    scene::{FlowMap, Scene, WaterSettings, address::AddressTable},
};

/// Every property of this section with its description; `*` stands for a material's or a node's
/// name.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    ("water.*.enabled", "true or false: false keeps the scene's own material"),
    (
        "water.*.kind",
        "water type, its absorption and scattering: clear, coastal or turbid [default: clear]",
    ),
    (
        "water.*.absorption",
        "absorption coefficients in 1/m, three numbers of 0 or more for red, green and blue; override the kind's",
    ),
    (
        "water.*.scattering",
        "scattering coefficients in 1/m, three numbers of 0 or more for red, green and blue (isotropic)",
    ),
    (
        "water.*.flow",
        "flow map, .png or .exr: velocity along x in red, along z in green, phase in alpha (made by sunny16 flow)",
    ),
    (
        "water.*.flow_origin",
        "minimum x and z of the flow map's rectangle in meters [default: of the covered area]",
    ),
    (
        "water.*.flow_size",
        "size of the flow map's rectangle along x and z in meters, above 0 [default: of the covered area]",
    ),
    (
        "water.*.direction",
        "flow direction along x and z without a flow map, two numbers; 0,0 is still",
    ),
    ("water.*.speed", "maximum flow speed in m/s, 0 to 100, e.g. 0.5"),
    ("water.*.period", "advection period of ripples in seconds, 0.01 to 10000, e.g. 3"),
    ("water.*.tile", "tile size of the ripples in meters, 0.001 to 10000, e.g. 2"),
    (
        "water.*.slope",
        "standard deviation of ripple slopes along each axis at full speed, 0 to 1, e.g. 0.06",
    ),
    (
        "water.*.slope_still",
        "standard deviation of ripple slopes in still water, 0 to 1, e.g. 0.02",
    ),
    (
        "water.*.slope_fine",
        "standard deviation of the slopes of waves finer than the ripples, 0 to 0.7; widens reflections",
    ),
    ("water.*.foam", "amount of foam, 0 to 1"),
    ("water.*.foam_tile", "tile size of the foam in meters, 0.001 to 10000, e.g. 1.5"),
    (
        "water.*.foam_depth",
        "water depth in meters below which foam forms at the shore, 0 (none) to 10000; flowing water has more",
    ),
    (
        "water.*.shore",
        "depth over which the surface fades in at the shore in meters, 0 to 10000, e.g. 0.02",
    ),
    ("water.*.debris", "name of nodes that float on it and drift with the flow"),
    (
        "water.*.caustics",
        "true or false: caustics of the strongest sun below the surface [default: false]",
    ),
];

/// Overrides of one water surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WaterLook {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// `kind`.
    pub kind: Option<WaterKind>,
    /// `absorption` (1/m).
    pub absorption: Option<DVec3>,
    /// `scattering` (1/m).
    pub scattering: Option<DVec3>,
    /// `flow`: a file.
    pub flow: Option<PathBuf>,
    /// A flow map in memory, in place of the file.
    pub map: Option<Arc<FlowMap>>,
    /// `flow_origin` (m).
    pub flow_origin: Option<DVec2>,
    /// `flow_size` (m).
    pub flow_size: Option<DVec2>,
    /// `direction`.
    pub direction: Option<DVec2>,
    /// `caustics`.
    pub caustics: Option<bool>,
    /// `debris`: name of the floating nodes.
    pub debris: Option<String>,
    /// Scalar properties by name.
    pub numbers: BTreeMap<&'static str, f64>,
}

impl WaterLook {
    /// Sets one property; false if water has none of this name.
    pub(super) fn set(&mut self, property: &str, read: &Reader<'_>) -> Result<bool, LookError> {
        let pair = || -> Result<DVec2, LookError> {
            let v = Reader { value: &format!("{},0", read.value), ..*read }
                .vector()
                .map_err(|_| read.bad_value())?;
            if v.abs().max_element() <= 1e7 { Ok(v.truncate()) } else { Err(read.bad_value()) }
        };
        let rates = || {
            read.vector()
                .ok()
                .filter(|v| v.min_element() >= 0.0 && v.max_element() <= 1e6)
                .ok_or_else(|| read.bad_value())
        };
        match property {
            "enabled" => self.enabled = Some(read.boolean()?),
            "kind" => {
                let found = WaterKind::ALL.iter().find(|(name, _)| *name == read.value);
                self.kind = Some(found.ok_or_else(|| read.bad_value())?.1);
            }
            "absorption" => self.absorption = Some(rates()?),
            "scattering" => self.scattering = Some(rates()?),
            "flow" => self.flow = Some(read.file()?),
            "flow_origin" => self.flow_origin = Some(pair()?),
            "flow_size" => {
                self.flow_size = Some(
                    pair()
                        .ok()
                        .filter(|v| v.min_element() >= 1e-3)
                        .ok_or_else(|| read.bad_value())?,
                )
            }
            "direction" => self.direction = Some(pair()?),
            "caustics" => self.caustics = Some(read.boolean()?),
            "debris" => self.debris = Some(read.value.to_owned()),
            _ => {
                let mut names =
                    WaterSettings::default().numbers().into_iter().map(|(name, _)| name);
                let Some(name) = names.find(|name| *name == property) else { return Ok(false) };
                let value = read.number()?;
                let mut tried = WaterSettings::default();
                if let Some(slot) = number_of(&mut tried, name) {
                    *slot = value;
                }
                tried.check().map_err(|_| read.bad_value())?;
                self.numbers.insert(name, value);
            }
        }
        Ok(true)
    }

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
        for (name, value) in &self.numbers {
            if let Some(slot) = number_of(&mut settings, name) {
                *slot = *value;
            }
        }
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

fn number_of<'a>(settings: &'a mut WaterSettings, name: &str) -> Option<&'a mut f64> {
    Some(match name {
        "speed" => &mut settings.speed,
        "period" => &mut settings.period,
        "tile" => &mut settings.tile,
        "slope" => &mut settings.slope,
        "slope_still" => &mut settings.slope_still,
        "slope_fine" => &mut settings.slope_fine,
        "foam" => &mut settings.foam,
        "foam_tile" => &mut settings.foam_tile,
        "foam_depth" => &mut settings.foam_depth,
        "shore" => &mut settings.shore,
        _ => return None,
    })
}

/// Sets one property; false if water has none of this name.
pub(super) fn set(
    waters: &mut BTreeMap<String, WaterLook>,
    read: &Reader<'_>,
) -> Result<bool, LookError> {
    let parts = read.path.strip_prefix("water.").and_then(|rest| rest.rsplit_once('.'));
    let Some((name, property)) = parts.filter(|(name, _)| !name.is_empty()) else {
        return Ok(false);
    };
    let mut water = waters.get(name).cloned().unwrap_or_default();
    let set = water.set(property, read)?;
    if set {
        waters.insert(name.into(), water);
    }
    Ok(set)
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
    for (name, look) in waters.iter().filter(|(_, look)| look.enabled.unwrap_or(true)) {
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
#[allow(clippy::unwrap_used)]
mod tests {
    use glam::{DMat4, Vec2, Vec3};

    use super::*;
    use crate::scene::{
        build::{SceneBuilder, dielectric},
        look::Look,
        procedural::shapes,
    };

    fn with(assignments: &[&str]) -> Result<Scene, LookError> {
        let mut look = Look::default();
        for assignment in assignments {
            look.assign(assignment)?;
        }
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
            ("water.Sea.foam_dept=1", "water.*.foam_depth"),
            ("water.Sea.flow=none.png", "check the path"),
            ("water.Se.kind=clear", "Sea"),
        ] {
            let error = with(&[assignment]).unwrap_err().to_string();
            assert!(error.contains(named), "{assignment}: {error}");
        }
    }
}
