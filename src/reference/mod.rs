//! Reference renderer: an unbiased path tracer on the host. It shares the scene with the raster
//! renderer but none of its light transport.

pub mod adaptive;
pub mod aov;
pub mod bsdf;
pub mod camera;
mod cancel_token;
mod environment_sampler;
pub mod film;
mod film_settings;
pub mod fingerprint;
pub mod integrator;
mod kind_visibility;
pub mod light_components;
mod light_tree;
pub mod lights;
pub mod media;
mod path_settings;
mod path_state;
mod receiver;
pub mod resume;
mod sample_blocks;
mod sample_range;
pub mod sampler;
mod shading;
pub mod shutter;
mod sun_guide;
mod tile;
pub mod volumes;
mod water;
pub mod world;

pub use camera::{CameraModel, LensCamera, Pinhole};
pub use cancel_token::CancelToken;
pub use film::{AppendError, Film};
pub use film_settings::FilmSettings;
pub use fingerprint::Fingerprint;
pub use light_components::LightComponents;
pub use path_settings::{PathSettings, SamplingStrategy};
pub use receiver::Receiver;
pub use resume::{ResumeError, ResumeErrorCause};
pub use sample_range::{SampleRange, missing_samples};
pub use sampler::SamplerKind;
pub use shutter::ShutterInterval;
pub use world::World;

#[cfg(test)]
mod chi_square;
#[cfg(test)]
mod tests;

#[cfg(test)]
mod tests_film;

#[cfg(test)]
mod tests_glass;
#[cfg(test)]
mod tests_lights;
#[cfg(test)]
mod tests_materials;
#[cfg(test)]
mod tests_offsets;
#[cfg(test)]
mod tests_volumes;
