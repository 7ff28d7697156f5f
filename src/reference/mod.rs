//! The reference: an unbiased path tracer on the host. It shares the scene with the raster renderer and nothing of how
//! light is found.

pub mod bsdf;
pub mod film;
pub mod integrator;
pub mod lights;
pub mod media;
pub mod sampler;
mod shading;
pub mod world;

pub use film::{Film, FilmSettings, Pinhole};
pub use integrator::{Parts, Strategy, Walk};
pub use sampler::SamplerKind;
pub use world::World;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod chi_square;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests_glass;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests_lights;
