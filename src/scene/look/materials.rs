//! `materials.NAME.*`: material factors that replace those of the file. A texture multiplies the
//! factor, as in glTF.

use std::collections::BTreeMap;

use glam::{DVec3, Vec4};

use super::{LookError, suggestions::unknown_address};
use crate::{
    scene::{Scene, address::AddressTable},
    settings::{Accepts, define::section},
};

section! {
    /// Overrides of one material, by its address.
    #[derive(Copy)]
    pub struct MaterialLook in "materials.*" {
        base_color: DVec3, accepts Accepts::Components { min: 0.0, max: 1.0, one: false },
            "base color as linear red, green and blue, 0 to 1, e.g. \"0.8 0.2 0.1\"; multiplied by the texture";
        metallic: f64, in 0.0..=1.0,
            "metallic, 0 (dielectric) to 1 (metal); multiplied by the texture";
        roughness: f64, in 0.0..=1.0, "perceptual roughness, 0 to 1; multiplied by the texture";
        emission: DVec3, accepts Accepts::Components { min: 0.0, max: MAX_NITS, one: false },
            unit "nit",
            "emission in nits as linear red, green and blue, 0 or more, e.g. \"200 180 150\"; multiplied by the texture";
        ior: f64, in 1.0..=5.0, "index of refraction, 1 to 5, e.g. 1.5";
    }
}

/// Maximum emission (nits): the sun's disk has 1.6e9.
const MAX_NITS: f64 = 1e12;

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
