//! Real lenses: what a patent's table of surfaces does to light.
//!
//! A `Prescription` is the table; `Lens` is the same with its dials set (zoom, focus, aperture) and
//! each surface in its place. From it follow the paraxial numbers (`paraxial`), exact rays
//! (`trace`), and what each surface reflects (`coating`). Light is a wave too: `aperture`,
//! `diffraction` and `starburst` are what the iris's edges do to it. Pure: no device, no files.
//!
//! Lengths and wavelengths are metres, angles radians. Light travels along +Z from the scene to the
//! sensor, z is 0 at the first surface's vertex, x is right and y up in the picture's frame as seen
//! from behind the camera.

pub mod aperture;
pub mod coating;
pub mod diffraction;
pub mod ghosts;
pub mod glass;
pub mod imaging;
pub mod lens;
pub mod library;
pub mod mounted_lens;
pub mod paraxial;
pub mod parse;
pub mod prescription;
pub mod starburst;
pub mod trace;

pub use coating::Coating;
pub use glass::Glass;
pub use lens::{Lens, LensSettings, LensSurface};
pub use mounted_lens::{LensAberrations, MountedLens};
pub use paraxial::{Axis, ReflectionPair};
pub use prescription::{Element, ElementKind, Prescription, PrescriptionError, SurfaceShape};

#[cfg(test)]
mod imaging_tests;
#[cfg(test)]
mod tests;
