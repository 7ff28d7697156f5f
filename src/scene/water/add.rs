//! Turns materials of a scene into water.

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec3, Vec4};

use super::{FlowMap, Water, WaterSettings, waves};
use crate::{
    photometry::water::{self, alpha_of_slopes},
    scene::{AlphaMode, Image, Material, MaterialVolume, Sampler, Scene, Texture, Wrap},
};

/// Maximum number of waters in a scene; `shaders/shared/frame.glsl` repeats it, and a build with
/// another value fails.
pub const MAX_WATERS: usize = 8;

impl Scene {
    /// Turns a material into water; an existing water is replaced. Keeps only the textures of
    /// water.
    ///
    /// # Errors
    /// A one-line message if the material does not exist, a number is out of range, no node has the
    /// name of the debris, or the scene has too many waters.
    pub fn add_water(&mut self, material: usize, settings: &WaterSettings) -> Result<(), String> {
        let waters = self
            .materials
            .iter()
            .enumerate()
            .filter(|(i, m)| *i != material && m.water.is_some())
            .count();
        if waters >= MAX_WATERS {
            return Err(format!("a scene has at most {MAX_WATERS} waters; remove some"));
        }
        settings.check()?;
        if self.materials.get(material).is_none() {
            return Err("the material does not exist in the scene".into());
        }
        let mut settings = settings.clone();
        if settings.rectangle.is_none() {
            let (low, high) = self.material_bounds(material).unwrap_or((DVec3::ZERO, DVec3::ONE));
            let size = DVec2::new(high.x - low.x, high.z - low.z).max(DVec2::splat(0.01));
            settings.rectangle = Some([DVec2::new(low.x, low.z), size]);
        }
        let flow_map = settings.flow.clone().unwrap_or_else(|| {
            Arc::new(FlowMap::even(settings.direction.normalize_or_zero().as_vec2()))
        });
        let mut water = Water { map: flow_map, textures: [0; 3], floating: Vec::new(), settings };
        if let Some(name) = &water.settings.debris {
            let extent = self.material_bounds(material).unwrap_or((DVec3::ZERO, DVec3::ONE));
            water.floating = self.find_floating_objects((name, material), &water, extent)?;
        }
        let flow_map = Arc::clone(&water.map);
        let (w, h) = (flow_map.width() as u32, flow_map.height() as u32);
        let flow = self.water_texture("water flow", (w, h), &flow_map.rgba8(), Wrap::Clamp);
        let side = (waves::SIZE as u32, waves::SIZE as u32);
        let ripples =
            self.water_texture("water ripples", side, &waves::slopes().normals(), Wrap::Repeat);
        let foam = self.water_texture("water foam", side, waves::foam(), Wrap::Repeat);
        water.textures = [flow, ripples, foam];
        if let Some(slot) = self.materials.get_mut(material) {
            *slot = described(&slot.name, water);
        }
        Ok(())
    }

    /// World bounding box of all visible geometry with a material: (minimum corner, maximum corner)
    /// in m.
    #[must_use]
    pub fn material_bounds(&self, material: usize) -> Option<(DVec3, DVec3)> {
        let mut bounds: Option<(DVec3, DVec3)> = None;
        for placed in self.walk() {
            let Some(mesh) = placed.node.mesh.and_then(|mesh| self.meshes.get(mesh)) else {
                continue;
            };
            for primitive in
                mesh.primitives.iter().filter(|primitive| primitive.material == Some(material))
            {
                for position in &primitive.positions {
                    let p = placed.world.transform_point3(position.as_dvec3());
                    bounds = Some(bounds.map_or((p, p), |(lo, hi)| (lo.min(p), hi.max(p))));
                }
            }
        }
        bounds
    }

    fn water_texture(
        &mut self,
        name: &str,
        (width, height): (u32, u32),
        rgba8: &[u8],
        wrap: Wrap,
    ) -> usize {
        // Waters share images with equal content.
        let same =
            |image: &Image| image.name == name && (image.width, image.height) == (width, height);
        let known = self.images.iter().position(|image| same(image) && *image.rgba8 == *rgba8);
        let image = known.unwrap_or_else(|| {
            self.images.push(Image {
                name: name.into(),
                width,
                height,
                rgba8: rgba8.into(),
                is_error_pattern: false,
                compressed: None,
            });
            self.images.len() - 1
        });
        let texture = Texture {
            image,
            sampler: Sampler { wrap_u: wrap, wrap_v: wrap, ..Sampler::default() },
        };
        self.textures.iter().position(|known| *known == texture).unwrap_or_else(|| {
            self.textures.push(texture);
            self.textures.len() - 1
        })
    }
}

/// The material of a water.
fn described(name: &str, water: Water) -> Material {
    let extinction = water.settings.coefficients.extinction().as_vec3();
    Material {
        name: name.into(),
        base_color: Vec4::ONE,
        metallic: 0.0,
        // Alpha is the square of roughness.
        roughness: alpha_of_slopes(water.settings.slope_fine).sqrt() as f32,
        alpha: AlphaMode::Opaque,
        ior: water::IOR as f32,
        transmission: 1.0,
        volume: MaterialVolume {
            thickness: 1.0,
            attenuation_distance: 1.0,
            attenuation_color: Vec3::from_array(extinction.to_array().map(|c| (-c).exp())),
            ..MaterialVolume::default()
        },
        water: Some(Arc::new(water)),
        ..Material::default()
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat4, Vec2};

    use super::*;
    use crate::{
        photometry::water::{WaterCoefficients, WaterKind},
        scene::{
            build::{SceneBuilder, dielectric},
            procedural::shapes,
        },
    };

    fn pool() -> (Scene, usize) {
        let mut builder = SceneBuilder::new("pool");
        let material = builder.add_material(dielectric("water", Vec3::ONE, 0.5));
        let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::new(4.0, 2.0), 1, 1), material);
        builder.instance("sheet", mesh, DMat4::from_translation(DVec3::new(10.0, 1.0, -3.0)));
        (builder.build().unwrap(), 0)
    }

    #[test]
    fn a_material_becomes_water() {
        let (mut scene, material) = pool();
        scene.add_water(material, &WaterSettings::default()).unwrap();
        let made = &scene.materials[material];
        assert!(made.transmits() && made.encloses_volume() && made.ior == 1.333);
        let want = WaterKind::Clear.coefficients().extinction();
        assert!((made.volume.absorption() - want).abs().max_element() < 1e-6);
        let water = made.water.as_ref().unwrap();
        assert_eq!(water.rectangle(), [DVec2::new(8.0, -4.0), DVec2::new(4.0, 2.0)]);
        // A replaced water does not duplicate its ripple textures.
        let textures = scene.textures.len();
        scene
            .add_water(material, &WaterSettings { slope: 0.1, ..WaterSettings::default() })
            .unwrap();
        assert_eq!(scene.textures.len(), textures);
    }

    #[test]
    fn its_slopes_have_their_deviation_and_are_carried() {
        let (mut scene, material) = pool();
        let settings =
            WaterSettings { direction: DVec2::X, speed: 0.4, ..WaterSettings::default() };
        scene.add_water(material, &settings).unwrap();
        let water = scene.materials[material].water.clone().unwrap();
        for time in [0.0, 0.7, 100.3] {
            let mut square = DVec2::ZERO;
            for i in 0..4096 {
                let place =
                    DVec2::new(8.0 + f64::from(i % 64) / 16.0, -4.0 + f64::from(i / 64) / 32.0);
                let slope = water.slope_at(place, time);
                square += slope * slope / 4096.0;
            }
            let deviation = (square.element_sum() / 2.0).sqrt();
            assert!((deviation / 0.06 - 1.0).abs() < 0.06, "{time}: {deviation}");
        }
        assert!((water.deviation(DVec2::ZERO) - 0.02).abs() < 1e-12);
        assert_eq!(water.foam_at(DVec2::new(9.0, -3.0), 1.0), 0.0);
    }

    #[test]
    fn numbers_that_mean_nothing_are_named() {
        let (mut scene, material) = pool();
        let plain = WaterSettings::default;
        let negative =
            WaterCoefficients { absorption: DVec3::new(0.1, -0.1, 0.0), scattering: DVec3::ZERO };
        for (settings, named) in [
            (WaterSettings { coefficients: negative, ..plain() }, "absorption"),
            (WaterSettings { speed: f64::NAN, ..plain() }, "speed"),
            (WaterSettings { tile: 0.0, ..plain() }, "tile"),
            (WaterSettings { slope: 3.0, ..plain() }, "slope"),
            (WaterSettings { rectangle: Some([DVec2::ZERO, DVec2::ZERO]), ..plain() }, "flow_size"),
        ] {
            assert!(scene.add_water(material, &settings).unwrap_err().contains(named), "{named}");
        }
        assert!(scene.add_water(77, &plain()).unwrap_err().contains("material"));
    }
}
