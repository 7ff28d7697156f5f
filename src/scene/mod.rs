//! The scene model and the import of files: the only room that reads untrusted bytes.
pub mod gltf;
pub mod inspect;
pub mod model;

pub use model::*;
