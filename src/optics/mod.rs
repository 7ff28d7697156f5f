//! Wave optics of the lens: the aperture as it is, and what light does at its edges. Pure: nothing here knows of a
//! device.

pub mod aperture;
pub mod diffraction;
pub mod starburst;
