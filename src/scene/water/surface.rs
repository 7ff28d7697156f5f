//! Flow, ripples and foam of a water's surface.

use std::sync::Arc;

use glam::DVec2;

use super::{FloatingObject, FlowMap, WaterSettings, flow, waves};

/// Reflectance of foam: Koepke, "Effective reflectance of oceanic whitecaps", Applied Optics 23,
/// 1984, gives 0.55 for fresh foam.
pub const FOAM_REFLECTANCE: f32 = 0.55;

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
