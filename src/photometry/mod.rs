//! Photometry: units of light, their conversions, color temperature. No GPU and no I/O.
pub mod astronomy;
pub mod color;
pub mod environment;
pub mod fresnel;
pub mod gel;
pub mod ies;
pub mod light_modifiers;
pub mod lights;
pub mod ltc;
pub mod pq;
pub mod sky;
pub mod units;
pub mod water;

pub use color::{Adaptation, Chromaticity, ColorError, WhiteBalance};
pub use ies::{IesError, IesProfile};
pub use lights::{Cone, Emitter, LightError, LightStrength, PhysicalLight, Sides, SpotFlux};
pub use units::{Candela, Ev100, Kelvin, Lumen, Lux, Nit, Steradian};
