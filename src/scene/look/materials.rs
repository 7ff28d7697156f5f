//! `materials.NAME.*`: material factors that replace those of the file. A texture multiplies the
//! factor, as in glTF.

use std::collections::BTreeMap;

use glam::{DVec3, Vec4};

use super::{LookError, reader::Reader, suggestions::unknown_address};
use crate::scene::{Scene, address::AddressTable};

/// Every property of this section with its description; `*` stands for a material's address.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    (
        "materials.*.base_color",
        "base color as linear red, green and blue, 0 to 1, e.g. \"0.8 0.2 0.1\"; multiplied by the texture",
    ),
    ("materials.*.metallic", "metallic, 0 (dielectric) to 1 (metal); multiplied by the texture"),
    ("materials.*.roughness", "perceptual roughness, 0 to 1; multiplied by the texture"),
    (
        "materials.*.emission",
        "emission in nits as linear red, green and blue, 0 or more, e.g. \"200 180 150\"; multiplied by the texture",
    ),
    ("materials.*.ior", "index of refraction, 1 to 5, e.g. 1.5"),
];

/// Maximum emission (nits): the sun's disk has 1.6e9.
const MOST_NITS: f64 = 1e12;

/// Overrides of one material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MaterialLook {
    /// `base_color`.
    pub base_color: Option<DVec3>,
    /// `metallic`.
    pub metallic: Option<f64>,
    /// `roughness`.
    pub roughness: Option<f64>,
    /// `emission` (nits per channel).
    pub emission: Option<DVec3>,
    /// `ior`.
    pub ior: Option<f64>,
}

/// Sets one property; false if materials have none of this name.
pub(super) fn set(
    materials: &mut BTreeMap<String, MaterialLook>,
    read: &Reader<'_>,
) -> Result<bool, LookError> {
    let parts = read.path.strip_prefix("materials.").and_then(|rest| rest.rsplit_once('.'));
    let Some((name, property)) = parts.filter(|(name, _)| !name.is_empty()) else {
        return Ok(false);
    };
    let within = |low: f64, high: f64| {
        let inside = |v: &DVec3| v.to_array().iter().all(|c| (low..=high).contains(c));
        read.vector().ok().filter(inside).ok_or_else(|| read.bad_value())
    };
    let mut look = materials.get(name).cloned().unwrap_or_default();
    match property {
        "base_color" => look.base_color = Some(within(0.0, 1.0)?),
        "metallic" => look.metallic = Some(read.fraction()?),
        "roughness" => look.roughness = Some(read.fraction()?),
        "emission" => look.emission = Some(within(0.0, MOST_NITS)?),
        "ior" => look.ior = Some(read.in_range(1.0, 5.0)?),
        _ => return Ok(false),
    }
    materials.insert(name.into(), look);
    Ok(true)
}

/// Applies the overrides to all materials of these addresses.
pub(super) fn apply(
    looks: &BTreeMap<String, MaterialLook>,
    scene: &mut Scene,
) -> Result<(), LookError> {
    for (name, look) in looks {
        let found = {
            let things = AddressTable::materials(scene);
            let found = things.find(name);
            if found.is_empty() {
                return Err(unknown_address("materials", name, &things));
            }
            found
        };
        for index in found {
            let Some(material) = scene.materials.get_mut(index) else { continue };
            if let Some(color) = look.base_color {
                let [r, g, b] = color.as_vec3().to_array();
                material.base_color = Vec4::new(r, g, b, material.base_color.w);
            }
            if let Some(metallic) = look.metallic {
                material.metallic = metallic as f32;
            }
            if let Some(roughness) = look.roughness {
                material.roughness = roughness as f32;
            }
            if let Some(emission) = look.emission {
                material.emission = emission.as_vec3();
            }
            if let Some(ior) = look.ior {
                material.ior = ior as f32;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::scene::{build::SceneBuilder, look::Look};

    #[test]
    fn factors_take_the_files_place_and_bad_ones_are_refused() {
        let mut scene = SceneBuilder::new("nothing").build().unwrap();
        scene
            .materials
            .push(crate::scene::Material { name: "Red.paint".into(), ..Default::default() });
        let mut look = Look::default();
        look.assign("materials.Red.paint.base_color=0.5 0.1 0").unwrap();
        look.assign("materials.Red.paint.roughness=0.3").unwrap();
        look.assign("materials.Red.paint.emission=100 50 0").unwrap();
        look.apply(&mut scene).unwrap();
        let paint = &scene.materials[0];
        assert_eq!(paint.base_color, Vec4::new(0.5, 0.1, 0.0, 1.0));
        assert_eq!((paint.roughness, paint.emission), (0.3, Vec3::new(100.0, 50.0, 0.0)));
        for bad in [
            "base_color=1.5 0 0",
            "base_color=0.5",
            "roughness=-1",
            "emission=-1 0 0",
            "ior=0.5",
            "emission=NaN 0 0",
        ] {
            look.assign(&format!("materials.Red.paint.{bad}")).unwrap_err();
        }
        scene.materials.push(crate::scene::Material::default());
        for address in ["#1", "1", "\"#1\""] {
            let mut look = Look::default();
            look.assign(&format!("materials.{address}.metallic=0.25")).unwrap();
            scene.materials[1].metallic = 1.0;
            look.apply(&mut scene).unwrap();
            assert_eq!(scene.materials[1].metallic, 0.25, "{address}");
        }
        look.assign("materials.Rad.paint.metallic=1").unwrap();
        let error = look.apply(&mut scene).unwrap_err().to_string();
        assert!(error.contains("materials.Red.paint"), "{error}");
    }
}
