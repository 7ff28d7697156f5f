//! Photometry: units of light, their conversions, colour temperature. Pure: no GPU, no I/O.
pub mod units;

pub use units::{Candela, Ev100, Kelvin, Lumen, Lux, Nit, Steradian};
