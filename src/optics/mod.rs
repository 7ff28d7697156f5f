//! Lenses: thin ones, and real ones from the surface tables of patents.
//!
//! A `Prescription` is the table. `Lens` applies settings (zoom, focus, aperture) and positions
//! each surface. It provides paraxial quantities (`paraxial`), exact rays (`trace`) and
//! reflectances (`coating`). `aperture`, `diffraction` and `starburst` compute the diffraction at
//! the iris. Pure: no device, no files.
//!
//! Lengths and wavelengths are meters, angles radians. Light travels along +Z from the scene to the
//! sensor, and z is 0 at the first surface's vertex. x is right and y up in the image's frame, seen
//! from behind the camera.

pub mod aperture;
pub mod coating;
pub mod diffraction;
pub mod focus;
pub mod ghosts;
pub mod glass;
pub mod imaging;
pub mod lens;
pub mod lens_settings;
pub mod library;
pub mod mounted_lens;
pub mod paraxial;
pub mod parse;
pub mod prescription;
pub mod starburst;
pub mod thin_lens;
pub mod trace;

pub use coating::Coating;
pub use glass::Glass;
pub use lens::{Axis, Lens, LensSurface};
pub use lens_settings::{LensSettings, LensSettingsError};
pub use mounted_lens::{LensAberrations, MountedLens};
pub use paraxial::ReflectionPair;
pub use prescription::{Element, ElementKind, Prescription, PrescriptionError, SurfaceShape};
pub use thin_lens::{Iris, LensError, Rim, ThinLens};

#[cfg(test)]
mod imaging_tests;
#[cfg(test)]
mod tests;
