//! Warnings about the lights and materials of a scene.

use std::{collections::BTreeSet, sync::Arc};

use super::{MIN_SHEEN_ROUGHNESS, Scene, Sheen, TextureRef, address::AddressTable};
use crate::photometry::{ies::IesProfile, lights::Emitter};

/// Minimum part of a profile's light in percent that a spot's cone removes with a warning.
const MIN_CUT_PERCENT: f64 = 1.0;

impl Scene {
    /// Warnings: one line for each thing that the parser of a photometric file ignored or assumed,
    /// and for each cone that cuts the light of a profile.
    #[must_use]
    pub fn profile_warnings(&self) -> Vec<String> {
        let mut told: Vec<(&str, &Arc<IesProfile>)> = Vec::new();
        for light in &self.lights {
            // A profile that several lights share is reported once.
            if let Some(profile) = &light.profile
                && !told.iter().any(|(_, other)| Arc::ptr_eq(other, profile))
            {
                told.push((&light.name, profile));
            }
        }
        let line =
            |name: &str, note: &String| format!("photometric file of light '{name}': {note}");
        let mut cones: Vec<(&Arc<IesProfile>, Emitter)> = Vec::new();
        let cut = self.lights.iter().filter_map(|light| {
            let (profile, emitter) = (light.profile.as_ref()?, light.emitter());
            // The integral is not cheap: lights that share profile and cone are reported once.
            if cones.iter().any(|(other, cone)| Arc::ptr_eq(other, profile) && *cone == emitter) {
                return None;
            }
            cones.push((profile, emitter));
            let percent = light.cut_fraction()? * 100.0;
            (percent >= MIN_CUT_PERCENT).then(|| {
                format!(
                    "the cone of spot '{}' removes {percent:.0} % of the light of its photometric \
                     file; widen it, or set the shape to point",
                    light.name
                )
            })
        });
        told.into_iter()
            .flat_map(|(name, profile)| profile.notes().iter().map(move |note| line(name, note)))
            .chain(cut)
            .collect()
    }

    /// Warning about shown materials whose sheen is narrower than [`MIN_SHEEN_ROUGHNESS`] and is
    /// clamped. Textures count by their minimum texel.
    #[must_use]
    pub fn material_warnings(&self) -> Option<String> {
        let meshes =
            self.walk().into_iter().filter_map(|placed| self.meshes.get(placed.node.mesh?));
        let used =
            meshes.flat_map(|mesh| &mesh.primitives).filter_map(|primitive| primitive.material);
        let used: BTreeSet<usize> = used.collect();
        let image = |of: TextureRef| self.images.get(self.textures.get(of.texture)?.image);
        let least = |sheen: &Sheen| {
            let texels = sheen
                .roughness_texture
                .and_then(image)
                .map(|image| image.rgba8.iter().skip(3).step_by(4));
            let texel =
                texels.and_then(Iterator::min).map_or(1.0, |&texel| f32::from(texel) / 255.0);
            f64::from(sheen.roughness * texel)
        };
        let narrow = |index: &usize| {
            let sheen = &self.materials.get(*index)?.sheen;
            let acts = sheen.color.max_element() > 0.0 && least(sheen) < MIN_SHEEN_ROUGHNESS;
            acts.then(|| AddressTable::materials(self).address(*index)).flatten()
        };
        let narrow: Vec<String> = used.iter().filter_map(narrow).collect();
        (!narrow.is_empty()).then(|| {
            let names = narrow.join(", ");
            format!(
                "materials {names}: sheen roughness below {MIN_SHEEN_ROUGHNESS} is clamped to it"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat4, Vec2, Vec3};

    use super::*;
    use crate::scene::{
        Image, Material, Sampler, Texture,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    };

    #[test]
    fn sheens_below_the_minimum_roughness_are_warned_about() {
        let shown = |roughness: f32, texel: u8, color: Vec3| {
            let mut builder = SceneBuilder::new("cloth");
            let sheen = Sheen { color, roughness, ..Sheen::default() };
            let cloth =
                builder.add_material(Material { sheen, ..dielectric("velvet", Vec3::ONE, 1.0) });
            // No primitive uses it.
            builder.add_material(Material {
                sheen: Sheen { roughness: 0.0, ..sheen },
                ..dielectric("idle", Vec3::ONE, 1.0)
            });
            let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::ONE, 1, 1), cloth);
            builder.instance("sheet", mesh, DMat4::IDENTITY);
            let mut scene = builder.build().unwrap();
            scene.images.push(Image {
                name: "texels".into(),
                width: 2,
                height: 1,
                rgba8: [0, 0, 0, 255, 0, 0, 0, texel].into(),
                is_error_pattern: false,
                compressed: None,
            });
            scene.textures.push(Texture { image: 0, sampler: Sampler::default() });
            scene.materials[0].sheen.roughness_texture =
                Some(TextureRef { texture: 0, uv_set: 0, transform: TextureRef::IDENTITY });
            scene.material_warnings()
        };
        assert_eq!(shown(0.07, 255, Vec3::ONE), None);
        assert_eq!(shown(0.01, 255, Vec3::ZERO), None);
        // 0.5 times 36 of 255 is 0.0706, times 35 0.0686.
        assert_eq!(shown(0.5, 36, Vec3::ONE), None);
        for (roughness, texel) in [(0.06, 255), (0.5, 35)] {
            let told = shown(roughness, texel, Vec3::ONE).unwrap();
            assert!(
                told.contains("velvet") && !told.contains("idle") && told.contains("0.07"),
                "{told}"
            );
        }
    }
}
