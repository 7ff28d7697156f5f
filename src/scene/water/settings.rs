//! User settings of waters, and their ranges.

use std::{path::PathBuf, sync::Arc};

use glam::{DVec2, DVec3};

use super::FlowMap;
use crate::{
    photometry::water::{WaterCoefficients, WaterKind},
    settings::{Accepts, Property, define::section},
};

/// Coefficients for red, green and blue.
const COEFFICIENTS: Accepts = Accepts::Components { min: 0.0, max: 1e6, one: false };

const PAIR: Accepts = Accepts::Components { min: -1e7, max: 1e7, one: false };

section! {
    /// Overrides of one water surface, by the address of its material or of a node.
    pub struct WaterLook in "water.*" {
        enabled: bool = true, "true or false: false keeps the scene's own material";
        kind: WaterKind = WaterKind::Clear,
            "water type, its absorption and scattering: clear, coastal or turbid [default: clear]";
        absorption: DVec3, accepts COEFFICIENTS, unit "1/m",
            "absorption coefficients in 1/m, three numbers of 0 or more for red, green and blue; override the kind's";
        scattering: DVec3, accepts COEFFICIENTS, unit "1/m",
            "scattering coefficients in 1/m, three numbers of 0 or more for red, green and blue (isotropic)";
        flow: PathBuf,
            "flow map, .png or .exr: velocity along x in red, along z in green, phase in alpha (made by sunny16 flow)";
        flow_origin: DVec2, accepts PAIR, unit "m",
            "minimum x and z of the flow map's rectangle in meters [default: of the covered area]";
        flow_size: DVec2, accepts Accepts::Components { min: 1e-3, max: 1e7, one: false }, unit "m",
            "size of the flow map's rectangle along x and z in meters, above 0 [default: of the covered area]";
        direction: DVec2 = DVec2::ZERO, accepts PAIR,
            "flow direction along x and z without a flow map, two numbers; 0,0 is still";
        speed: f64 = 0.5, in 0.0..=100.0, unit "m/s",
            "maximum flow speed in m/s, 0 to 100, e.g. 0.5";
        period: f64 = 3.0, in 0.01..=1e4, unit "s",
            "advection period of ripples in seconds, 0.01 to 10000, e.g. 3";
        tile: f64 = 2.0, in 1e-3..=1e4, unit "m",
            "tile size of the ripples in meters, 0.001 to 10000, e.g. 2";
        slope: f64 = 0.06, in 0.0..=1.0,
            "standard deviation of ripple slopes along each axis at full speed, 0 to 1, e.g. 0.06";
        slope_still: f64 = 0.02, in 0.0..=1.0,
            "standard deviation of ripple slopes in still water, 0 to 1, e.g. 0.02";
        slope_fine: f64 = 0.0, in 0.0..=0.7,
            "standard deviation of the slopes of waves finer than the ripples, 0 to 0.7; widens reflections";
        foam: f64 = 0.0, in 0.0..=1.0, "amount of foam, 0 to 1";
        foam_tile: f64 = 1.5, in 1e-3..=1e4, unit "m",
            "tile size of the foam in meters, 0.001 to 10000, e.g. 1.5";
        foam_depth: f64 = 0.0, in 0.0..=1e4, unit "m",
            "water depth in meters below which foam forms at the shore, 0 (none) to 10000; flowing water has more";
        shore: f64 = 0.02, in 0.0..=1e4, unit "m",
            "depth over which the surface fades in at the shore in meters, 0 to 10000, e.g. 0.02";
        debris: String, "name of nodes that float on it and drift with the flow";
        caustics: bool = false,
            "true or false: caustics of the strongest sun below the surface [default: false]";
    }
    and {
        /// A flow map in memory, in place of the file.
        map: Option<Arc<FlowMap>>;
    }
}

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
        let look = WaterLook::default();
        Self {
            coefficients: look.kind().coefficients(),
            flow: None,
            direction: look.direction(),
            rectangle: None,
            speed: look.speed(),
            period: look.period(),
            tile: look.tile(),
            slope: look.slope(),
            slope_still: look.slope_still(),
            slope_fine: look.slope_fine(),
            foam: look.foam(),
            foam_tile: look.foam_tile(),
            foam_depth: look.foam_depth(),
            shore: look.shore(),
            caustics: look.caustics(),
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
        let range = |name| {
            let path = |known: &&Property| known.path.strip_prefix("water.*.") == Some(name);
            WaterLook::PROPERTIES.iter().find(path)?.accepts.range()
        };
        for (name, value) in self.numbers() {
            let Some([min, max]) = range(name) else { continue };
            if !(min..=max).contains(&value) {
                return Err(format!("{name} is {value}: expected a number from {min} to {max}"));
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
