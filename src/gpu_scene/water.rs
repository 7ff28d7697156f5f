//! Waters of the scene, for the frame constants (docs/water.md).

use std::sync::Arc;

use glam::{DVec2, DVec3, Vec2, Vec3, Vec4};

use crate::{
    gpu::shader_structs::frame::{self, FrameConstants},
    scene::{
        Scene, Water,
        water::{MAX_WATERS, flow, waves},
    },
};

const _: () = assert!(frame::MAX_WATERS as usize == MAX_WATERS);

/// Water with its placement.
#[derive(Clone, Debug)]
pub struct PlacedWater {
    water: Arc<Water>,
    /// Bounding box of its surface (m).
    extent: (DVec3, DVec3),
    /// Mean diffuse reflectance of its bed.
    bed: Vec3,
    /// Material factors that `bed` was computed from, by material.
    factors: Arc<[Option<Vec4>]>,
    /// Time (s).
    time: f64,
}

impl PlacedWater {
    /// Waters of a scene in material order. `before`: those of the same scene in another pose, or
    /// empty. The bed search visits all triangles, so its result is kept while materials do not
    /// change.
    #[must_use]
    pub fn all(scene: &Scene, before: &[Self]) -> Vec<Self> {
        if scene.materials.iter().all(|material| material.water.is_none()) {
            return Vec::new();
        }
        let factors: Arc<[Option<Vec4>]> = scene.diffuse_factors().collect();
        let waters = scene
            .materials
            .iter()
            .enumerate()
            .filter_map(|(i, material)| Some((i, material.water.as_ref()?)));
        let of = |(number, (material, water)): (usize, (usize, &Arc<Water>))| {
            // A hidden water covers nothing.
            let extent = scene.material_bounds(material).unwrap_or((DVec3::MAX, DVec3::MIN));
            let same = before.get(number).filter(|before| before.factors == factors);
            let bed = same.map_or_else(|| scene.bed_reflectance(extent), |before| before.bed);
            Self {
                water: Arc::clone(water),
                extent,
                bed,
                factors: Arc::clone(&factors),
                time: scene.time,
            }
        };
        waters.enumerate().map(of).collect()
    }

    /// Extent of its caustics along x and z (m); `None` without caustics.
    #[must_use]
    pub fn caustics_over(&self) -> Option<[f64; 2]> {
        let (low, high) = self.extent;
        let size = [high.x - low.x, high.z - low.z];
        (self.water.settings.caustics && size.iter().all(|side| (1e-6..1e9).contains(side)))
            .then_some(size)
    }

    /// Writes its shader data, relative to an eye position.
    pub fn fill(&self, number: usize, eye: DVec3, values: &mut FrameConstants) {
        let settings = &self.water.settings;
        let (low, high) = self.extent;
        let flat = DVec2::new(eye.x, eye.z);
        let place = |v: DVec2| (v - flat).as_vec2();
        let four = |a: Vec2, b: Vec2| Vec4::new(a.x, a.y, b.x, b.y);
        let set = |slots: &mut [Vec4; MAX_WATERS], value: Vec4| {
            if let Some(slot) = slots.get_mut(number) {
                *slot = value;
            }
        };
        let (least, max) = (place(DVec2::new(low.x, low.z)), place(DVec2::new(high.x, high.z)));
        set(&mut values.water_extent, four(least, max));
        let coefficients = settings.coefficients;
        let height = (high.y - eye.y) as f32;
        set(&mut values.water_medium, coefficients.extinction().as_vec3().extend(height));
        set(&mut values.water_scatter, coefficients.scattering.as_vec3().extend(0.0));
        let [origin, size] = self.water.rectangle();
        set(
            &mut values.water_flow,
            four(((flat - origin) / size).as_vec2(), (1.0 / size).as_vec2()),
        );
        let offset = |tile: f64| (flat / tile - (flat / tile).floor()).as_vec2();
        let cycles = (self.time / settings.period).rem_euclid(flow::CYCLES);
        let tiles = |tile: f64| (1.0 / tile) as f32;
        set(
            &mut values.water_ripple,
            four(offset(settings.tile), Vec2::new(tiles(settings.tile), cycles as f32)),
        );
        let strength = |slope: f64| (slope / waves::DEVIATION) as f32;
        set(
            &mut values.water_motion,
            Vec4::new(
                settings.speed as f32,
                settings.period as f32,
                strength(settings.slope_still),
                strength(settings.slope),
            ),
        );
        let [foam, depth, shore] =
            [settings.foam, settings.foam_depth, settings.shore].map(|v| v as f32);
        set(&mut values.water_foam, Vec4::new(foam, depth, shore, 0.0));
        set(
            &mut values.water_foam_offset,
            four(offset(settings.foam_tile), Vec2::new(tiles(settings.foam_tile), 0.0)),
        );
        set(&mut values.water_bed, self.bed.extend(settings.slope_fine as f32));
    }
}

#[cfg(test)]
mod tests {
    use glam::DMat4;

    use super::*;
    use crate::scene::{
        WaterSettings,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    };

    #[test]
    fn a_bed_goes_along_with_its_material() {
        let mut builder = SceneBuilder::new("pool");
        for (name, color, height) in [("floor", 0.5, -1.0), ("water", 1.0, 0.0)] {
            let material = builder.add_material(dielectric(name, Vec3::splat(color), 1.0));
            let mesh = builder.add_mesh(name, shapes::plane(Vec2::splat(2.0), 1, 1), material);
            builder.instance(name, mesh, DMat4::from_translation(DVec3::Y * height));
        }
        let mut scene = builder.build().unwrap();
        scene.add_water(1, &WaterSettings::default()).unwrap();
        let first = PlacedWater::all(&scene, &[]);
        assert_eq!(first[0].bed, Vec3::splat(0.5));
        scene.time = 3.0;
        let later = PlacedWater::all(&scene, &first);
        assert_eq!((later[0].bed, later[0].time), (first[0].bed, 3.0));
        scene.materials[0].metallic = 0.5;
        assert_eq!(PlacedWater::all(&scene, &later)[0].bed, Vec3::splat(0.25));
    }
}
