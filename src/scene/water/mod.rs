//! Water with a level surface: optical coefficients, flow and ripples (docs/water.md).
//!
//! A water material refracts as KHR_materials_transmission and KHR_materials_volume define, with
//! index 1.333; this module adds the rest. Model its mesh as a level sheet without sides or bottom:
//! everything below the sheet is under water.

mod bed;
pub mod channel_flow;
mod debris;
pub mod flow;
pub mod flow_map;
mod warnings;
pub mod waves;

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec3, Vec4};

pub use self::{debris::FloatingObject, flow_map::FlowMap};
use super::{AlphaMode, Image, Material, MaterialVolume, Sampler, Scene, Texture, Wrap};
use crate::photometry::water::{self, WaterCoefficients, WaterKind, alpha_of_slopes};

/// Maximum number of waters in a scene.
pub const MAX_WATERS: usize = 8;
/// Reflectance of foam: Koepke, "Effective reflectance of oceanic whitecaps", Applied Optics 23,
/// 1984, gives 0.55 for fresh foam.
pub const FOAM_REFLECTANCE: f32 = 0.55;

/// User settings of a water.
#[derive(Clone, Debug, PartialEq)]
pub struct WaterSettings {
    /// Absorption and scattering coefficients (1/m).
    pub coefficients: WaterCoefficients,
    /// Flow map; `None`: uniform flow along `direction`.
    pub flow: Option<Arc<FlowMap>>,
    /// Direction of uniform flow (x, z); zero: still water.
    pub direction: DVec2,
    /// Minimum x and z of the flow map's rectangle in the world, and its size (m); `None`: the
    /// extent of the water.
    pub rectangle: Option<[DVec2; 2]>,
    /// Speed (m/s) of a component of 1 in the flow map.
    pub speed: f64,
    /// Cycle time (s): how long the flow advects a pattern before it restarts.
    pub period: f64,
    /// Size of the ripple pattern (m).
    pub tile: f64,
    /// Standard deviation of the slope along each axis at full speed.
    pub slope: f64,
    /// Standard deviation of the slope along each axis in still water.
    pub slope_still: f64,
    /// Standard deviation along each axis of slopes finer than the pattern.
    pub slope_fine: f64,
    /// Foam coverage, 0 to 1.
    pub foam: f64,
    /// Size of the foam pattern (m).
    pub foam_tile: f64,
    /// Depth (m) below which flowing water has shore foam; 0: none.
    pub foam_depth: f64,
    /// Depth (m) over which the surface fades in at its shore; 0: a hard edge.
    pub shore: f64,
    /// Caustics in the rasterizer: ripples focus and scatter the light of the strongest sun
    /// (`passes::caustics`). Otherwise light enters as through a level surface. The path tracer
    /// always has caustics.
    pub caustics: bool,
    /// Name of nodes that float on the water and follow its flow.
    pub debris: Option<String>,
}

impl Default for WaterSettings {
    /// Clear, nearly still water.
    fn default() -> Self {
        Self {
            coefficients: WaterKind::Clear.coefficients(),
            flow: None,
            direction: DVec2::ZERO,
            rectangle: None,
            speed: 0.5,
            period: 3.0,
            tile: 2.0,
            slope: 0.06,
            slope_still: 0.02,
            slope_fine: 0.0,
            foam: 0.0,
            foam_tile: 1.5,
            foam_depth: 0.0,
            shore: 0.02,
            caustics: false,
            debris: None,
        }
    }
}

impl WaterSettings {
    /// Numeric settings with their names in look files.
    #[must_use]
    pub fn numbers(&self) -> [(&'static str, f64); 10] {
        [
            ("speed", self.speed),
            ("period", self.period),
            ("tile", self.tile),
            ("slope", self.slope),
            ("slope_still", self.slope_still),
            ("slope_fine", self.slope_fine),
            ("foam", self.foam),
            ("foam_tile", self.foam_tile),
            ("foam_depth", self.foam_depth),
            ("shore", self.shore),
        ]
    }
}

/// Water data of a material.
#[derive(Clone, Debug, PartialEq)]
pub struct Water {
    /// Settings, with `rectangle` resolved.
    pub settings: WaterSettings,
    /// Flow map.
    pub map: Arc<FlowMap>,
    /// Indices into `Scene::textures`: flow map, ripple normals, foam.
    pub textures: [usize; 3],
    /// Objects that float on the water.
    pub floating: Vec<FloatingObject>,
}

impl Water {
    /// Minimum corner (x, z) of the flow map's rectangle in the world, and its size (m).
    #[must_use]
    pub fn rectangle(&self) -> [DVec2; 2] {
        self.settings.rectangle.unwrap_or([DVec2::ZERO, DVec2::ONE])
    }

    /// Flow velocity (m/s) and phase (0 to 1) at a position in the world (m).
    #[must_use]
    pub fn flow_at(&self, place: DVec2) -> (DVec2, f64) {
        let [origin, size] = self.rectangle();
        let on = (place - origin) / size;
        (self.map.at(on) * self.settings.speed, self.map.phase_at(on))
    }

    /// Surface slope (dh/dx, dh/dz) at a position in the world (m) and a time (s).
    #[must_use]
    pub fn slope_at(&self, place: DVec2, time: f64) -> DVec2 {
        let (velocity, noise) = self.flow_at(place);
        let settings = &self.settings;
        let layers = flow::layers(time / settings.period, noise, settings.period);
        let slopes = layers.each_ref().map(|layer| {
            waves::slopes().at(flow::tile_place(layer, place, velocity, settings.tile))
        });
        flow::blend_slopes(&layers, slopes) * (self.deviation(velocity) / waves::DEVIATION)
    }

    /// Standard deviation of the slope along each axis at a flow velocity (m/s).
    #[must_use]
    pub fn deviation(&self, velocity: DVec2) -> f64 {
        let settings = &self.settings;
        let part =
            if settings.speed > 0.0 { (velocity.length() / settings.speed).min(1.0) } else { 0.0 };
        settings.slope_still + (settings.slope - settings.slope_still) * part
    }

    /// Foam coverage, 0 to 1, at a position in the world (m) and a time (s), without shore foam.
    #[must_use]
    pub fn foam_at(&self, place: DVec2, time: f64) -> f64 {
        let settings = &self.settings;
        if settings.foam <= 0.0 {
            return 0.0;
        }
        let (velocity, noise) = self.flow_at(place);
        let layers = flow::layers(time / settings.period, noise, settings.period);
        let pattern = layers.each_ref().map(|layer| {
            layer.weight
                * waves::foam_at(flow::tile_place(layer, place, velocity, settings.foam_tile))
        });
        settings.foam * pattern.iter().sum::<f64>()
    }
}

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

impl WaterSettings {
    /// Validates the range of each number.
    ///
    /// # Errors
    /// A message that names the invalid number and the expected range.
    pub fn check(&self) -> Result<(), String> {
        let c = &self.coefficients;
        for (name, value) in [("absorption", c.absorption), ("scattering", c.scattering)] {
            if !value.is_finite() || value.min_element() < 0.0 || value.max_element() > 1e6 {
                return Err(format!(
                    "{name} is {value}: expected three numbers from 0 to 1000000 per meter"
                ));
            }
        }
        for (name, value, least, most) in [
            ("speed", self.speed, 0.0, 100.0),
            ("period", self.period, 0.01, 1e4),
            ("tile", self.tile, 1e-3, 1e4),
            ("slope", self.slope, 0.0, 1.0),
            ("slope_still", self.slope_still, 0.0, 1.0),
            ("slope_fine", self.slope_fine, 0.0, 0.7),
            ("foam", self.foam, 0.0, 1.0),
            ("foam_tile", self.foam_tile, 1e-3, 1e4),
            ("foam_depth", self.foam_depth, 0.0, 1e4),
            ("shore", self.shore, 0.0, 1e4),
        ] {
            if !(least..=most).contains(&value) {
                return Err(format!("{name} is {value}: expected a number from {least} to {most}"));
            }
        }
        let finite = self.direction.is_finite();
        let placed = self.rectangle.is_none_or(|[origin, size]| {
            origin.is_finite()
                && origin.abs().max_element() <= 1e7
                && (1e-3..=1e7).contains(&size.min_element())
                && size.max_element() <= 1e7
        });
        if finite && placed {
            Ok(())
        } else {
            Err("direction, flow_origin and flow_size: expected two finite numbers each, the size above 0"
                .into())
        }
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
#[allow(clippy::unwrap_used)]
mod tests {
    use glam::{DMat4, Vec2};

    use super::*;
    use crate::scene::{
        build::{SceneBuilder, dielectric},
        procedural::shapes,
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
