//! The scene model and the import of files: the only module that reads untrusted bytes.
pub mod address;
mod addressable;
pub mod animation;
pub mod build;
pub mod defaults;
pub mod emissive;
mod emissive_light;
mod emissive_merge;
pub mod environment;
pub mod gltf;
pub mod inspect;
pub mod look;
mod mean_color;
pub mod model;
pub mod probe;
pub mod procedural;
pub mod texture_lookup;
mod unit_scale;
pub mod volume;
mod warnings;
pub mod water;
pub mod write_glb;

pub use model::{
    AlphaMode, Anisotropy, BlockFormat, Camera, Clearcoat, CompressedImage, DiffuseTransmission,
    Environment, Image, Iridescence, Light, MIN_SHEEN_ROUGHNESS, Material, MaterialVariant,
    MaterialVolume, Mesh, Node, Note, NoteKind, PlacedNode, Primitive, Projection, Sampler, Scene,
    Sheen, Specular, Texture, TextureRef, Wrap,
};
pub use probe::Probe;
pub use volume::{MediumCoefficients, ParticipatingVolume, VolumeShape};
pub use water::{FlowMap, Water, WaterSettings};
