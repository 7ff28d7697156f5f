//! The scene model and the import of files: the only module that reads untrusted bytes.
pub mod address;
pub mod animation;
pub mod build;
pub mod defaults;
pub mod emissive;
mod emissive_merge;
pub mod environment;
pub mod gltf;
pub mod inspect;
pub mod look;
mod mean_color;
pub mod model;
pub mod probe;
pub mod procedural;
pub mod volume;
pub mod water;
pub mod write_glb;

pub use model::*;
pub use probe::Probe;
pub use volume::{MediumCoefficients, ParticipatingVolume, VolumeShape};
pub use water::{FlowMap, Water, WaterSettings};
