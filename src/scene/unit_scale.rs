//! `scene.scale`: files whose unit is not the meter.

use glam::{DMat4, DVec3};

use super::{Node, Projection, Scene, animation::ScenePose};

impl Scene {
    /// Scales the scene about its origin by `factor` (m per unit of the file): geometry, transforms
    /// of lights and cameras, clipping planes, ranges of lights, attenuation distances. Strengths
    /// of lights and their sizes stay: both have units of their own.
    pub fn scale(&mut self, factor: f64) {
        if factor == 1.0 {
            return;
        }
        // A carrier of a skin is in the space of its joints' worlds.
        let carriers: Vec<usize> = (self.roots.iter().copied())
            .filter(|&root| self.nodes.get(root).is_some_and(|node| node.skin.is_some()))
            .collect();
        let children: Vec<usize> =
            self.roots.iter().copied().filter(|root| !carriers.contains(root)).collect();
        let top = self.nodes.len();
        for &child in &children {
            if let Some(node) = self.nodes.get_mut(child) {
                node.parent = Some(top);
            }
        }
        let local = DMat4::from_scale(DVec3::splat(factor));
        self.nodes.push(Node { local, children, ..Node::default() });
        self.roots = std::iter::once(top).chain(carriers).collect();
        let by = |value: &mut f32| *value = (f64::from(*value) * factor) as f32;
        self.lights.iter_mut().filter_map(|light| light.range.as_mut()).for_each(by);
        for camera in &mut self.cameras {
            match &mut camera.projection {
                Projection::Perspective { near, far, .. } => {
                    by(near);
                    far.iter_mut().for_each(by);
                }
                Projection::Orthographic { half_width, half_height, near, far } => {
                    [half_width, half_height, near, far].into_iter().for_each(by);
                }
            }
        }
        self.materials.iter_mut().for_each(|of| by(&mut of.volume.attenuation_distance));
        self.apply(&ScenePose::default());
        self.bake();
    }
}

#[cfg(test)]
mod tests {
    use glam::{Vec2, Vec3};

    use super::*;
    use crate::{
        photometry::{
            Candela,
            lights::{Emitter, LightStrength, PhysicalLight},
        },
        scene::{
            Light, MaterialVolume,
            build::{SceneBuilder, dielectric},
            procedural::shapes,
        },
    };

    #[test]
    fn everything_with_a_length_scales() {
        let mut builder = SceneBuilder::new("room");
        let volume = MaterialVolume { attenuation_distance: 300.0, ..MaterialVolume::default() };
        let mut material = dielectric("glass", Vec3::ONE, 0.5);
        material.volume = volume;
        let material = builder.add_material(material);
        let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::splat(200.0), 1, 1), material);
        builder.instance("sheet", mesh, DMat4::from_translation(DVec3::Y * 100.0));
        builder.camera("Eye", DVec3::Z * 500.0, DVec3::ZERO, 0.6, None);
        let mut scene = builder.build().unwrap();
        let candela = LightStrength::Candela(Candela(100.0));
        let source = PhysicalLight::new(Emitter::Point, candela).unwrap();
        scene.lights.push(Light { range: Some(800.0), ..Light::new("Lamp", source) });
        let (low, high) = scene.bounds().unwrap();
        let near = |scene: &Scene| match scene.cameras[0].projection {
            Projection::Perspective { near, .. } => near,
            Projection::Orthographic { .. } => f32::NAN,
        };
        let before = near(&scene);
        scene.scale(0.01);
        let (small_low, small_high) = scene.bounds().unwrap();
        assert!(small_low.abs_diff_eq(low * 0.01, 1e-12), "{small_low}");
        assert!(small_high.abs_diff_eq(high * 0.01, 1e-12), "{small_high}");
        let camera = scene.walk().into_iter().find(|placed| placed.node.camera.is_some()).unwrap();
        assert!(camera.world.w_axis.truncate().abs_diff_eq(DVec3::Z * 5.0, 1e-12));
        assert_eq!(scene.lights[0].range, Some(8.0));
        assert_eq!(scene.lights[0].candela(), Some(Candela(100.0)));
        assert_eq!(scene.materials[0].volume.attenuation_distance, 3.0);
        assert!((near(&scene) / before - 0.01).abs() < 1e-6);
    }
}
