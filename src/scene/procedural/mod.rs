//! Geometry, pictures and whole scenes made in code.
pub mod meter;
pub mod random;
pub mod shapes;
pub mod textures;

