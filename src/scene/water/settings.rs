//! User settings of waters, and their ranges.

use std::sync::Arc;

use glam::DVec2;

use super::FlowMap;
use crate::photometry::water::{WaterCoefficients, WaterKind};

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
