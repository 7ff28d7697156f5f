//! Geometry, pictures and whole scenes made in code.
pub mod meter;
pub mod random;
pub mod shapes;
pub mod still_life;
pub mod textures;

pub use still_life::still_life;
