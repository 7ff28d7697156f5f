//! Geometry, pictures and whole scenes made in code.
pub mod field;
pub mod hall;
pub mod meter;
pub mod petals;
pub mod random;
pub mod shapes;
pub mod still_life;
pub mod textures;

pub use hall::{HALL_LOOK, hall};
pub use still_life::still_life;
