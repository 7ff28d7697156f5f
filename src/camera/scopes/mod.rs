//! Scopes: false color in stops, waveforms and histograms in exposure values, and Adams zones.
//! Input is luminance in nits, output is data or a picture with its legend. Deterministic: the same
//! picture gives the same bytes.
//!
//! The exposure value of a luminance is the reading of a reflected-light meter with K = 12.5,
//! `EV100 = log2(8 L)` (ISO 2720:1974). "Gray" is the luminance that the camera's exposure is set
//! for.

#[cfg(test)]
pub(crate) mod color_vision;
pub mod false_color;
pub mod font;
mod labels;
mod luminances;
mod raster;
pub mod waveform;
pub mod zones;

pub use false_color::FalseColor;
pub use labels::short;
pub use luminances::{Luminances, luminance_of};
pub use raster::{Raster, Rgb};
pub use waveform::{EvRange, Waveform};
pub use zones::ZoneMap;
